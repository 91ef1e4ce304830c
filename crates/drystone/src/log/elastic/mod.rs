//! Workloads of other simulators whose jobs may have several sizes: those of ElastiSim, and those
//! of Batsim with computations. Each becomes a log and a table of sizes
//! ([`read_shapes`](super::shapes::read_shapes)).
//!
//! Both describe jobs by operations, so that run times need the speed of a processor (of a node, in
//! ElastiSim), which is part of neither. Input, output and communication take no time here, because
//! their time depends on a network that is not simulated. What is left out is counted.
//!
//! Sources: ElastiSim's documentation of jobs, application models and task types, and its
//! `Utility.cpp`; Batsim's documentation, `input-workload`.

mod batsim;
mod elastisim;
mod formula;
mod model;

use super::LogError;
use super::swf::{SwfDecimal, SwfHeader, SwfRecord};
use crate::model::{Procs, TIME_LIMIT};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Operations per second, and the width of the machine.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ElasticMachine {
    /// Operations per second of a processor; in ElastiSim of a node.
    pub flops: f64,
    /// Operations per second of a GPU, where jobs use some.
    pub gpu_flops: Option<f64>,
    /// Processors (nodes) of the machine, where the workload does not say how many there are.
    pub procs: Option<Procs>,
}

/// A workload as a log and a table of sizes.
#[derive(Clone, Debug)]
pub struct ElasticLog {
    /// Header of the log.
    pub header: SwfHeader,
    /// Its records, by submit.
    pub records: Vec<SwfRecord>,
    /// The table of sizes, for `--shapes`.
    pub table: String,
    /// Number of jobs in the table.
    pub sized: usize,
    /// Number of parts that are left out, by their names.
    pub left_out: BTreeMap<&'static str, u64>,
}

/// Sizes that [`ElasticLog::add_job`] leaves out.
const SLOWER: &str = "sizes that would take longer than smaller ones";

/// A job, before its run times are whole seconds.
struct ElasticJob {
    number: i64,
    submit: SwfDecimal,
    kind: &'static str,
    /// Sizes and seconds at each, ascending; of a rigid job one.
    runs: Vec<(Procs, f64)>,
    /// Largest size of a job that has all from 1 on, with a linear speedup; `runs` has the
    /// preferred one.
    linear: Option<Procs>,
    preferred: Procs,
    /// Limit in seconds.
    limit: SwfDecimal,
    /// Parts between points at which it may change.
    points: u64,
}

/// Returns whether a text may be a workload of ElastiSim: jobs with application models.
#[must_use]
pub fn is_elastisim(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let is_json = text.trim_start().starts_with('{');
    is_json && ["\"application_model\"", "\"submit_time\""].iter().all(|key| text.contains(key))
}

/// Reads a workload of ElastiSim or Batsim. `open` returns the text of another file that it names.
///
/// # Errors
/// No such workload; a job that is wrong, with its place and what to do.
pub fn read_elastic(
    name: &str,
    text: &[u8],
    machine: &ElasticMachine,
    open: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<ElasticLog, LogError> {
    let file: Arc<str> = name.into();
    let wrong = |line: usize, problem: String| LogError::Elastic { file: file.clone(), line: line as u64, problem };
    let whole: Value = serde_json::from_slice(text)
        .map_err(|e| wrong(e.line(), format!("no JSON ({e}); expected a workload of ElastiSim or Batsim")))?;
    let jobs = whole.get("jobs").and_then(Value::as_array).filter(|jobs| !jobs.is_empty());
    let jobs = jobs.ok_or_else(|| {
        wrong(0, "there is no list `jobs` with jobs in it; expected a workload of ElastiSim or Batsim".into())
    })?;
    let mut left_out = BTreeMap::new();
    // Batsim's name of the latter is `subtime`.
    let keys = ["application_model", "submit_time"];
    let is_elastisim = jobs.iter().any(|job| keys.iter().any(|key| job.get(key).is_some()));
    let (list, procs) = match is_elastisim {
        true => (elastisim::read_elastisim_jobs(jobs, machine, open, &mut left_out), None),
        false => {
            let procs = whole.get("nb_res").and_then(Value::as_u64).and_then(|procs| Procs::try_from(procs).ok());
            (batsim::read_batsim_jobs(&whole, jobs, machine, &mut left_out), procs)
        }
    };
    let mut list = list.map_err(|problem| wrong(0, problem))?;
    list.sort_by_key(|job| (job.submit.round(), job.number));
    let widest = list.iter().map(|job| job.preferred).max().unwrap_or(1);
    let width = machine.procs.or(procs).unwrap_or(widest);
    let mut header = SwfHeader::new();
    header.push("Version", "2.2");
    header.push("Conversion", if is_elastisim { "from a workload of ElastiSim" } else { "from a workload of Batsim" });
    header.push("MaxProcs", &width.to_string());
    let mut log = ElasticLog { header, records: Vec::new(), table: String::new(), sized: 0, left_out };
    log.table.push_str("job,kind,min,max,sizes,pref,speedup,every\n");
    for job in &list {
        log.add_job(job).map_err(|problem| wrong(0, format!("job {}: {problem}", job.number)))?;
    }
    Ok(log)
}

/// Rounds seconds up; rounding errors of floats, below a millionth, do not count.
fn rounded_up(seconds: f64) -> Result<i64, String> {
    match (0.0..TIME_LIMIT as f64).contains(&seconds) {
        true => Ok(((seconds * 1e6).round() / 1e6).ceil() as i64),
        false => Err(format!("it would run for {seconds} s; check the speed (`--flops`) and its formulas")),
    }
}

impl ElasticLog {
    fn add_job(&mut self, job: &ElasticJob) -> Result<(), String> {
        let mut runs: Vec<(Procs, i64)> = Vec::with_capacity(job.runs.len());
        for &(size, seconds) in &job.runs {
            let run = rounded_up(seconds)?;
            // More processors must not take longer: such sizes are of no use.
            match runs.last() {
                Some(&(_, before)) if run > before && size != job.preferred => {
                    *self.left_out.entry(SLOWER).or_insert(0) += 1;
                }
                _ => runs.push((size, run)),
            }
        }
        let at = runs
            .iter()
            .position(|(size, _)| *size == job.preferred)
            .ok_or("its preferred size is none of its sizes")?;
        let preferred_run = runs[at].1;
        let before = runs.len();
        runs.retain(|&(size, run)| size >= job.preferred || run >= preferred_run);
        if runs.len() < before {
            *self.left_out.entry(SLOWER).or_insert(0) += (before - runs.len()) as u64;
        }
        self.records.push(SwfRecord {
            number: job.number,
            submit: job.submit,
            run: preferred_run.into(),
            allocated: i64::from(job.preferred),
            requested: i64::from(job.preferred),
            requested_time: if job.limit == SwfDecimal::UNKNOWN { preferred_run.into() } else { job.limit },
            status: 1,
            ..SwfRecord::default()
        });
        if job.kind == "rigid" {
            return Ok(());
        }
        self.sized += 1;
        let (number, kind, pref) = (job.number, job.kind, job.preferred);
        if let Some(most) = job.linear {
            let _ = writeln!(self.table, "{number},{kind},1,{most},,{pref},linear,0");
            return Ok(());
        }
        let sizes: Vec<String> = runs.iter().map(|(size, _)| size.to_string()).collect();
        let table: Vec<String> = runs.iter().map(|(size, run)| format!("{size}={run}")).collect();
        let every =
            if job.kind == "moldable" { 0 } else { preferred_run / i64::try_from(job.points.max(1)).unwrap_or(1) };
        let (sizes, table) = (sizes.join(" "), table.join(";"));
        let _ = writeln!(self.table, "{number},{kind},,,{sizes},{pref},table:{table},{every}");
        Ok(())
    }
}

#[cfg(test)]
mod tests;
