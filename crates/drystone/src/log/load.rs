//! From a file to a workload in one step.

use super::clean::{Audit, Cleaner, CleaningOptions};
use super::source::{self, LogFile};
use super::swf::{SwfHeader, SwfReader, SwfRecord};
use super::{LogError, batsim};
use crate::model::Workload;
use std::path::Path;

/// A log, read and cleaned.
#[derive(Clone, Debug)]
pub struct LoadedLog {
    /// The jobs.
    pub workload: Workload,
    /// The account of the cleaning.
    pub audit: Audit,
    /// The log's comments and header fields.
    pub header: SwfHeader,
    /// The original record of each job, in the order of the jobs; `None` unless
    /// [`CleaningOptions::records`] asked for them.
    pub records: Option<Vec<SwfRecord>>,
}

/// Reads and cleans a log: a file in Standard Workload Format, or a workload or `jobs.csv` of
/// Batsim, compressed with gzip, zstd, xz, bzip2 or not at all, or `-` for the standard input.
///
/// ```
/// use drystone::log::clean::{CleaningOptions, CleaningRule};
/// use drystone::log::load_log;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("two.swf");
/// // Number, submit, wait, run time, processors used, …, processors and time asked for, …
/// let job = |number: u32, run: i32| format!("{number} 0 0 {run} 4 -1 -1 4 600 -1 1 1 1 1 1 1 -1 -1\n");
/// std::fs::write(&path, format!("; MaxProcs: 8\n{}{}", job(1, 300), job(2, -1)))?;
///
/// let log = load_log(&path, &CleaningOptions::default())?;
/// assert_eq!((log.workload.len(), log.workload.machine().procs), (1, 8));
/// assert_eq!(log.audit.count_touched(CleaningRule::NegativeRun), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The file cannot be read, is damaged, is no log, holds no job, or breaks a rule that the options
/// made an error.
///
/// Cost: one pass; memory for the jobs, and for the records where the options keep them.
pub fn load_log(path: impl AsRef<Path>, options: &CleaningOptions) -> Result<LoadedLog, LogError> {
    let path = path.as_ref();
    load_from(source::open_log(path)?, &file_title(path), options)
}

/// Reads and cleans a log from an opened source. `title` becomes the workload's name.
///
/// # Errors
/// As for [`load_log`].
pub fn load_from(source: LogFile, title: &str, options: &CleaningOptions) -> Result<LoadedLog, LogError> {
    let LogFile { bytes, name } = source;
    let bytes = match batsim::read_batsim(bytes, &name)? {
        batsim::ReadLog::Else(bytes) => bytes,
        batsim::ReadLog::Log(batsim::BatsimSource { header, records }) => {
            let mut cleaner = Cleaner::new(&header, options.clone(), name, title)?;
            records.iter().try_for_each(|record| cleaner.push(record))?;
            let (workload, audit, records) = cleaner.finish()?;
            return Ok(LoadedLog { workload, audit, header, records });
        }
    };
    let mut reader = SwfReader::new(bytes, name)?.with_leniency(options.lenient);
    // The first record comes first, so that a file that is no log at all is called that, and not a
    // log without MaxProcs.
    let first = reader.read_record()?;
    let Some(first) = first else {
        return Err(LogError::Empty { file: reader.name().clone(), lines: reader.line_count() });
    };
    let mut cleaner = Cleaner::new(reader.header(), options.clone(), reader.name().clone(), title)?;
    cleaner.push(&first)?;
    while let Some(record) = reader.read_record()? {
        cleaner.push(&record)?;
    }
    let (count, kept_lines) = reader.malformed_lines();
    cleaner.note_malformed(count, kept_lines);
    cleaner.note_extra_data(reader.describe_extra_data());
    let (header, _) = reader.into_header();
    let (workload, audit, records) = cleaner.finish()?;
    Ok(LoadedLog { workload, audit, header, records })
}

/// The file's name without its directory and without `.swf`, `.json`, `.gz`, `.zst`, `.xz`, `.bz2`.
#[must_use]
pub fn file_title(path: &Path) -> String {
    if path.as_os_str() == source::STDIN {
        return "standard input".to_string();
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let pack_endings = [".gz", ".zst", ".xz", ".bz2"];
    let name = pack_endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    let name = name.strip_suffix(".swf").or_else(|| name.strip_suffix(".json")).unwrap_or(name);
    name.to_string()
}
