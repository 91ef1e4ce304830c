//! Workloads and schedules of Batsim: its JSON of jobs and profiles, and the `jobs.csv` that it
//! writes and evalys reads.
//!
//! A job of a workload runs as long as its profile says: a delay, or a sequence of delays. Other
//! profiles (computations, communications, traces) last as long as a platform makes of them, which
//! a workload does not say: they are refused. Batsim ends a job at its wall time; reading with
//! `overrun=kill` does the same.
//!
//! Source: Batsim's documentation, `input-workload` and `output-jobs`, versions 4 and 5.

mod jobs;
mod profiles;
mod read;
mod write;

pub use jobs::{PlacedJob, place_jobs, write_jobs};
pub(super) use profiles::Profiles;
pub(super) use read::build_record as read_record;
pub use write::write_workload;

use super::LogError;
use super::elastic::is_elastisim;
use super::peek::peek_start;
use super::swf::{SwfHeader, SwfRecord};
use std::io;
use std::sync::Arc;

/// A log of Batsim as header and records.
pub(super) struct BatsimSource {
    pub(super) header: SwfHeader,
    pub(super) records: Vec<SwfRecord>,
}

/// Format at the beginning of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Begins {
    Json,
    Jobs,
    Else,
}

/// The first words of `jobs.csv`, in every version.
const JOBS: [&[u8]; 2] = [b"job_id,workload_name", b"jobID,workload_name"];

/// Returns whether the first line of a table is that of `jobs.csv`.
pub(super) fn is_jobs(line: &[u8]) -> bool {
    JOBS.iter().any(|begin| line.starts_with(begin))
}

/// A log of Batsim, or the source as it was.
pub(super) enum ReadLog {
    Log(BatsimSource),
    Else(Box<dyn io::Read>),
}

/// Reads a log of Batsim, where the source begins as one.
pub(super) fn read_batsim(bytes: Box<dyn io::Read>, name: &Arc<str>) -> Result<ReadLog, LogError> {
    let (start, bytes) = peek_start(bytes);
    if is_elastisim(&start) {
        let problem = "a workload of ElastiSim says no run times; `drystone workload convert FILE --flops SPEED --shapes shapes.csv \
                       --out LOG.swf` makes a log and a table of sizes of it";
        return Err(LogError::Elastic { file: name.clone(), line: 0, problem: problem.into() });
    }
    match detect_format(&start) {
        Begins::Else => Ok(ReadLog::Else(bytes)),
        Begins::Jobs => jobs::read_jobs_csv(&mut io::BufReader::new(bytes), name).map(ReadLog::Log),
        Begins::Json => {
            let (mut text, mut bytes) = (Vec::new(), bytes);
            let read_error = |source| LogError::Read { file: name.clone(), line: 0, source };
            io::Read::read_to_end(&mut bytes, &mut text).map_err(read_error)?;
            read::read_workload(&text, name).map(ReadLog::Log)
        }
    }
}

fn detect_format(start: &[u8]) -> Begins {
    if is_jobs(start) {
        return Begins::Jobs;
    }
    let first = start.iter().find(|byte| !byte.is_ascii_whitespace());
    // Accounting as JSON begins alike: only a workload has jobs with times of submission in
    // seconds, and profiles.
    let text = String::from_utf8_lossy(start);
    let batsim = ["\"profiles\"", "\"nb_res\"", "\"subtime\""].iter().any(|key| text.contains(key));
    if first == Some(&b'{') && batsim { Begins::Json } else { Begins::Else }
}

/// Something is wrong with a file of Batsim; a line of 0 is unknown.
fn batsim_error(name: &Arc<str>, line: u64, problem: impl Into<String>) -> LogError {
    LogError::Batsim { file: name.clone(), line, problem: problem.into() }
}
