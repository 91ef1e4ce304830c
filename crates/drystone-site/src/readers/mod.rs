//! Readers of accounting: each takes a file and gives rows to the intake.

mod grid_engine;
mod jobcomp;
pub(crate) mod json;
pub(crate) mod lines;
mod lsf;
mod parquet_table;
pub(crate) mod pbs;
pub(crate) mod sacct;
pub(crate) mod table;

pub(crate) use sacct::TextLayout;

use self::lines::{InputLine, InputLines};
use crate::error::SiteError;
use crate::options::ImportEffort;
use crate::rows::{FilePlace, RowIntake};
use crate::watch::ImportObserver;
use std::collections::BTreeSet;
use std::io::{self, Read};

/// Returns whether a line is one of `reporting` of Grid Engine.
pub(crate) fn is_reported(line: &[u8]) -> bool {
    grid_engine::split_reported(line).is_some()
}

drystone::word_enum! {
    /// A kind of accounting that holds jobs.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    #[non_exhaustive]
    pub enum Carrier {
        /// Output of `sacct` as text, or a table with its columns.
        Sacct = "text of sacct",
        /// Output of `sacct --json`.
        Json = "JSON of sacct",
        /// Output of Slurm's plugin `jobcomp/filetxt`.
        JobCompletion = "Slurm's job completion records",
        /// Accounting records of PBS Professional, OpenPBS or Torque.
        Pbs = "accounting records of PBS or Torque",
        /// `lsb.acct` of LSF.
        Lsf = "accounting records of LSF",
        /// `accounting` or `reporting` of Grid Engine.
        GridEngine = "accounting of Grid Engine",
        /// A table of jobs whose columns are not those of `sacct`.
        Table = "a table of jobs",
        /// Records of jobs as JSON that is not that of `sacct`.
        Records = "records of jobs in JSON",
        /// A table of jobs in Parquet.
        Parquet = "a table of jobs in Parquet",
        /// The Standard Workload Format.
        Swf = "a log in Standard Workload Format",
    }
}

impl Carrier {
    /// The command that gives it again, from a day on.
    pub(crate) fn renewal_command(self, since: &str, file: &str) -> String {
        match self {
            Carrier::Sacct => format!("sacct -a -X -D -P --noconvert -S {since} -E … --format=… > {file}"),
            Carrier::Json => format!("sacct -a -D --json -S {since} -E … > {file}"),
            Carrier::Pbs => "the files of $PBS_HOME/server_priv/accounting, one a day".to_string(),
            Carrier::JobCompletion => "the file that JobCompLoc in slurm.conf names".to_string(),
            Carrier::Lsf => "$LSB_SHAREDIR/CLUSTER/logdir/lsb.acct and its numbered predecessors".to_string(),
            Carrier::GridEngine => "$SGE_ROOT/CELL/common/accounting".to_string(),
            Carrier::Table | Carrier::Records | Carrier::Parquet => "the table".to_string(),
            Carrier::Swf => "the log".to_string(),
        }
    }
}

/// Memory from file to file.
#[derive(Default)]
pub(crate) struct ReaderMemory {
    /// Columns that no file needed.
    pub(crate) ignored: BTreeSet<String>,
    /// Version of Slurm that wrote JSON.
    pub(crate) versions: BTreeSet<String>,
    /// Kinds of accounting that were read.
    pub(crate) carriers: BTreeSet<Carrier>,
    /// Files that end in their middle.
    pub(crate) cut: Vec<String>,
    /// Files without a column of job numbers.
    pub(crate) numbered: Vec<String>,
    /// PBS jobs that have not ended yet.
    pub(crate) pbs: pbs::OpenRecords,
}

impl ReaderMemory {
    /// Returns whether the input is that of `sacct`.
    pub(crate) fn is_slurm(&self) -> bool {
        self.carriers.iter().any(|carrier| matches!(carrier, Carrier::Sacct | Carrier::Json))
    }
}

/// One file at work.
pub(crate) struct FileReading<'a> {
    pub(crate) intake: &'a mut RowIntake,
    pub(crate) memory: &'a mut ReaderMemory,
    pub(crate) watch: &'a ImportObserver<'a>,
    pub(crate) effort: ImportEffort,
    /// Takes what is there of files that end in their middle.
    pub(crate) partial: bool,
    pub(crate) carrier: Carrier,
    pub(crate) name: &'a str,
    pub(crate) file: u16,
}

/// Rows between two looks at whether to stop.
const STRIDE: u32 = 1 << 12;

impl FileReading<'_> {
    pub(crate) fn read_input(&mut self, input: impl Read, layout: &TextLayout) -> Result<(), SiteError> {
        self.memory.carriers.insert(self.carrier);
        match self.carrier {
            Carrier::Sacct | Carrier::Table => sacct::read_sacct(input, self, layout),
            Carrier::Records => table::read_records(input, self, layout),
            Carrier::Json => json::read_json(input, self),
            Carrier::JobCompletion => jobcomp::read_jobcomp(input, self),
            Carrier::Pbs => pbs::read_pbs(input, self),
            Carrier::Lsf => lsf::read_lsf(input, self),
            Carrier::GridEngine => grid_engine::read_grid_engine(input, self),
            Carrier::Parquet => parquet_table::read_parquet(input, self, layout),
            // Read by the log's own reader.
            Carrier::Swf => Ok(()),
        }
    }

    /// So many lines or records were read.
    ///
    /// # Errors
    /// It is to stop.
    #[inline]
    pub(crate) fn note_lines(&self, number: u32) -> Result<(), SiteError> {
        if !number.is_multiple_of(STRIDE) {
            return Ok(());
        }
        self.intake.check_troubles()?;
        self.watch.check_stop()
    }

    /// Passes on the lines of a file with their places, as long as `take` returns true.
    pub(crate) fn each_line(
        &mut self,
        input: impl Read,
        mut take: impl FnMut(&mut Self, &InputLine<'_>, FilePlace) -> Result<bool, SiteError>,
    ) -> Result<(), SiteError> {
        let mut lines = InputLines::new(input);
        let mut last = 0;
        loop {
            let line = match lines.next() {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(()),
                Err(error) => return self.note_broken(error, last),
            };
            self.note_lines(line.number)?;
            last = line.number;
            let place = self.place_of(line.number);
            if !take(self, &line, place)? {
                return Ok(());
            }
        }
    }

    pub(crate) fn place_of(&self, line: u32) -> FilePlace {
        FilePlace { file: self.file, line }
    }

    pub(crate) fn note_ignored(&mut self, names: &[String]) {
        self.memory.ignored.extend(names.iter().cloned());
    }

    /// The file ends in the middle of this row.
    pub(crate) fn note_cut(&mut self, place: FilePlace) -> Result<(), SiteError> {
        let text = self.intake.table.files.format_place(place);
        self.memory.cut.push(text.clone());
        if self.partial { Ok(()) } else { Err(SiteError::CutOff { place: text, command: self.renewal_command() }) }
    }

    /// Reading failed behind this line: the data is cut off or damaged, or the system failed.
    pub(crate) fn note_broken(&mut self, error: io::Error, line: u32) -> Result<(), SiteError> {
        match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => self.note_cut(self.place_of(line)),
            _ => Err(SiteError::Unreadable { file: self.name.to_string(), source: error }),
        }
    }

    /// The command that gives what is missing.
    pub(crate) fn renewal_command(&self) -> String {
        let rows = &self.intake.table.rows;
        let last = (rows.len() > 0).then(|| rows.get(rows.len() as u32 - 1).submit);
        let since =
            last.map_or("…".to_string(), |submit| crate::clock::format_moment(i64::from(submit))[..10].to_string());
        self.carrier.renewal_command(&since, self.name)
    }
}
