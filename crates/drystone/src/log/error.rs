//! Errors of logs, each with its correction.

use super::foreign::Foreign;
use super::swf::Malformed;
use crate::model::{CircumstanceError, WorkloadError};
use std::io;
use std::sync::Arc;

/// Reason why a log could not be read, cleaned, transformed or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file could not be opened.
    #[error("{file}: cannot be opened: {source}")]
    Open {
        /// The path as given.
        file: String,
        /// The system's reason.
        source: io::Error,
    },
    /// Reading stopped before the end.
    #[error("{}: {source}", describe_stop(file, *line))]
    Read {
        /// The log's name.
        file: Arc<str>,
        /// The last line that was read whole; 0 before the first.
        line: u64,
        /// The system's reason.
        source: io::Error,
    },
    /// The compressed file ends too soon.
    #[error(
        "{file}:{line}: the compressed data ends too soon (read up to this line); \
         the file is truncated: fetch it again"
    )]
    Truncated {
        /// The log's name.
        file: Arc<str>,
        /// The last line that was read whole; 0 before the first.
        line: u64,
    },
    /// The compressed data is damaged.
    #[error("{file}:{line}: the compressed data is damaged after this line ({source}); fetch it again")]
    Damaged {
        /// The log's name.
        file: Arc<str>,
        /// The last line that was read whole; 0 before the first.
        line: u64,
        /// The decoder's reason.
        source: io::Error,
    },
    /// Behind the compressed data stands something else.
    #[error(
        "{file}:{line}: the compressed data ends after this line and is followed by data that is not gzip; if \
         nothing is missing, unpack the file (`gzip -dc` drops the rest) and read that, else fetch it again"
    )]
    Trailing {
        /// The log's name.
        file: Arc<str>,
        /// The last line that was read whole; 0 before the first.
        line: u64,
    },
    /// A compression that this build or this program cannot undo.
    #[error("{file}: the data is compressed with {format}, which {why}")]
    Compression {
        /// The log's name.
        file: Arc<str>,
        /// The format's name.
        format: &'static str,
        /// Reason why it cannot be read, and the remedy.
        why: &'static str,
    },
    /// A table that was made for other programs.
    #[error(
        "{file}: a table ({format}), as it is written for other programs, and no log; expected the Standard Workload Format \
         (.swf, .swf.gz, .swf.zst)"
    )]
    Table {
        /// The file's name.
        file: Arc<str>,
        /// The format's name.
        format: &'static str,
    },
    /// A line that is not a record.
    #[error("{file}:{malformed}; fix the line, or read leniently (--lenient) to skip and count such lines")]
    Malformed {
        /// The log's name.
        file: Arc<str>,
        /// Position and description of the mistake.
        malformed: Malformed,
    },
    /// The first record is none, and the file looks like something else.
    #[error("{file}:{line}: this looks like {}, and is no log in Standard Workload Format; {}", foreign.name(), import_hint(*foreign, file))]
    Foreign {
        /// The log's name.
        file: Arc<str>,
        /// The line's number, from 1.
        line: u64,
        /// Likely format.
        foreign: Foreign,
    },
    /// A workload or a schedule of Batsim that says something impossible.
    #[error("{}: {problem}", at_line(file, *line))]
    Batsim {
        /// The file's name.
        file: Arc<str>,
        /// The line, from 1; 0 where it is unknown.
        line: u64,
        /// Description of the mistake and its correction.
        problem: String,
    },
    /// A workload of ElastiSim or Batsim whose jobs cannot be given sizes.
    #[error("{}: {problem}", at_line(file, *line))]
    Elastic {
        /// The file's name.
        file: Arc<str>,
        /// The line, from 1; 0 where it is unknown.
        line: u64,
        /// Description of the mistake and its correction.
        problem: String,
    },
    /// A line too long to be text of a log.
    #[error("{file}:{line}: the line is longer than {limit} bytes; this is not a log in Standard Workload Format")]
    LongLine {
        /// The log's name.
        file: Arc<str>,
        /// The line's number, from 1.
        line: u64,
        /// The longest line allowed.
        limit: usize,
    },
    /// No record at all.
    #[error("{file}: no record in {lines} line{}; expected a log in Standard Workload Format, 18 numbers a line", plural_ending(*lines))]
    Empty {
        /// The log's name.
        file: Arc<str>,
        /// Number of lines.
        lines: u64,
    },
    /// Every record was dropped in cleaning.
    #[error("{file}: none of {records} records became a job ({dropped}); choose other cleaning options")]
    NothingLeft {
        /// The log's name.
        file: Arc<str>,
        /// Number of records.
        records: u64,
        /// Rules that dropped records, with counts.
        dropped: String,
    },
    /// The machine's size is unknown.
    #[error(
        "{file}: the header gives neither MaxProcs nor MaxNodes above 0{}, so the machine's size is unknown; \
         give it (--procs N)",
        join_fields(fields)
    )]
    NoMachine {
        /// The log's name.
        file: Arc<str>,
        /// Those of the two that the header has all the same, and what they say.
        fields: Vec<(&'static str, String)>,
    },
    /// A machine of no processors, or of more than can be counted.
    #[error("{file}: a machine of {procs} processors is not possible; expected 1 to {max}", max = u32::MAX)]
    BadMachine {
        /// The log's name.
        file: Arc<str>,
        /// The size given.
        procs: i64,
    },
    /// A job wider than the machine, where that is an error by choice.
    #[error(
        "{file}:{line}: job {number} needs {procs} processors of a machine of {machine}; \
         give the machine's true size (--procs N), or drop such jobs"
    )]
    TooWide {
        /// The log's name.
        file: Arc<str>,
        /// The record's line.
        line: u64,
        /// The log's number of the job.
        number: i64,
        /// Processors needed.
        procs: i64,
        /// Processors there are.
        machine: u32,
    },
    /// A job number used twice, where that is an error by choice.
    #[error("{file}:{line}: job number {number} was used before; keep or drop repeated numbers, or fix the log")]
    Duplicate {
        /// The log's name.
        file: Arc<str>,
        /// The second record's line.
        line: u64,
        /// The number.
        number: i64,
    },
    /// Jobs that form no workload.
    #[error("{file}: {source}")]
    Workload {
        /// The log's name.
        file: Arc<str>,
        /// Cause.
        source: WorkloadError,
    },
    /// The dependencies that the log records are impossible.
    #[error(
        "{file}:{line}: column 17 (preceding job): {source}; correct the log, or replay its submit times (without --feedback)"
    )]
    Circumstance {
        /// The log's name.
        file: Arc<str>,
        /// The line of one of the jobs.
        line: u64,
        /// Cause.
        source: CircumstanceError,
    },
    /// A calendar month was asked of a log that does not know its calendar.
    #[error("{name}: months need the header's {missing}; slice by seconds instead, or add it to the header")]
    NoCalendar {
        /// The workload's name.
        name: String,
        /// The missing or wrong header field.
        missing: String,
    },
    /// Writing failed.
    #[error("{file}: cannot be written: {source}")]
    Write {
        /// The file's name.
        file: String,
        /// The system's reason.
        source: io::Error,
    },
}

/// Position of a mistake in a log, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogPlace<'a> {
    /// The log's name.
    pub file: Option<&'a str>,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The column in bytes, from 1.
    pub column: Option<u64>,
}

impl LogError {
    /// Returns the position of the mistake, for programs that point there.
    #[must_use]
    pub fn place(&self) -> LogPlace<'_> {
        let of = |file, line| LogPlace { file: Some(file), line: (line > 0).then_some(line), column: None };
        match self {
            LogError::Open { file, .. } | LogError::Write { file, .. } => of(file, 0),
            LogError::Read { file, line, .. }
            | LogError::Truncated { file, line }
            | LogError::Damaged { file, line, .. }
            | LogError::Trailing { file, line }
            | LogError::Foreign { file, line, .. }
            | LogError::Batsim { file, line, .. }
            | LogError::Elastic { file, line, .. }
            | LogError::Circumstance { file, line, .. }
            | LogError::LongLine { file, line, .. }
            | LogError::TooWide { file, line, .. }
            | LogError::Duplicate { file, line, .. } => of(file, *line),
            LogError::Malformed { file, malformed } => {
                LogPlace { column: Some(malformed.column), ..of(file, malformed.line) }
            }
            LogError::Compression { file, .. }
            | LogError::Table { file, .. }
            | LogError::Empty { file, .. }
            | LogError::NothingLeft { file, .. }
            | LogError::NoMachine { file, .. }
            | LogError::BadMachine { file, .. }
            | LogError::Workload { file, .. } => of(file, 0),
            LogError::NoCalendar { .. } => LogPlace::default(),
        }
    }
}

/// Returns the way to import a file of another format.
fn import_hint(foreign: Foreign, file: &str) -> String {
    match foreign {
        _ if foreign.can_be_imported() => format!("`drystone import {file} --out site/` makes a workload of it"),
        Foreign::Binary => "expected text, 18 numbers a line, plain or compressed with gzip, zstd, xz or bzip2".to_string(),
        Foreign::SacctColumns => {
            "run it again with `sacct --parsable2`, and `drystone import FILE --out site/` makes a workload of that".to_string()
        }
        Foreign::Configuration => {
            format!("expected 18 numbers a line; a slurm.conf is the setting of a policy: `--policy slurm:{file}`")
        }
        _ => {
            "expected 18 numbers a line; where it is accounting, export it with `sacct --parsable2` or as PBS records, and \
             `drystone import FILE --out site/` makes a workload of that"
                .to_string()
        }
    }
}

fn plural_ending(number: u64) -> &'static str {
    if number == 1 { "" } else { "s" }
}

/// Joins header fields for a message.
fn join_fields(fields: &[(&str, String)]) -> String {
    let phrases: Vec<String> = fields.iter().map(|(key, text)| format!("{key} is `{text}`")).collect();
    if phrases.is_empty() { String::new() } else { format!(" in plain digits ({})", phrases.join(", ")) }
}

/// A file, and a line of it where that is known.
fn at_line(file: &str, line: u64) -> String {
    if line == 0 { file.to_string() } else { format!("{file}:{line}") }
}

/// Returns the position at which reading stopped.
fn describe_stop(file: &str, line: u64) -> String {
    if line == 0 { format!("{file}: cannot be read") } else { format!("{file}:{line}: reading failed after this line") }
}
