//! Failures of nodes as one text, `mtbf=30d,repair=6h,node=8`, and what a table of outages says of
//! them.

use super::{OutageParamError, OutageParams, draw_outages};
use crate::engine::read_length;
use crate::model::{OutageHit, Outages, Procs, Span, Workload};
use std::fmt;
use std::str::FromStr;

/// Nodes that fail by themselves after exponential or Weibull times, and are repaired within
/// exponential ones.
///
/// ```
/// use drystone::generate::NodeFailures;
/// let failures: NodeFailures = "mtbf=30d,node=8,shape=0.7,jobs=lose".parse()?;
/// assert_eq!(failures.to_string(), "failures(mtbf=2592000s,repair=21600s,node=8,jobs=lose,seed=1,shape=0.7)");
/// assert_eq!(failures.to_string().parse(), Ok(failures));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NodeFailures {
    /// Mean time of a node from a repair to the next failure.
    pub mtbf: Span,
    /// Mean time of a repair.
    pub repair: Span,
    /// Processors of a node.
    pub node: Procs,
    /// Fate of jobs on it.
    pub hit: OutageHit,
    /// Seed; equal seeds give equal failures.
    pub seed: u64,
    /// Shape of the times to a failure: 1 is exponential.
    pub shape: f64,
}

/// Forms of the text.
const EXPECTED: &str = "expected mtbf=30d and then any of repair=6h, node=8, jobs=requeue (or lose, drain), shape=0.7 (of a Weibull \
                        distribution; 1 is exponential), seed=1, separated by commas; times are seconds or have s, m, h or d";

impl FromStr for NodeFailures {
    type Err = String;

    fn from_str(text: &str) -> Result<NodeFailures, String> {
        let text = text.trim();
        let inner = text.strip_prefix("failures(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(text);
        let mut failures = NodeFailures {
            mtbf: Span::ZERO,
            repair: Span(6 * 3_600),
            node: 1,
            hit: OutageHit::Requeue,
            seed: 1,
            shape: 1.0,
        };
        for part in inner.split(',').map(str::trim) {
            let (key, value) = part.split_once('=').map_or((part, ""), |(key, value)| (key.trim(), value.trim()));
            let wrong = || format!("`{key}` has no such value; {EXPECTED}");
            let time = || read_length(value).filter(|&time| time > Span::ZERO).ok_or_else(wrong);
            match key {
                "mtbf" => failures.mtbf = time()?,
                "repair" => failures.repair = time()?,
                "node" => failures.node = value.parse().ok().filter(|&procs| procs > 0).ok_or_else(wrong)?,
                "seed" => failures.seed = value.parse().map_err(|_| wrong())?,
                "shape" => failures.shape = value.parse().map_err(|_| wrong())?,
                "jobs" => {
                    let hit = OutageHit::ALL.into_iter().find(|hit| hit.name() == value);
                    failures.hit = hit.ok_or_else(wrong)?;
                }
                _ => return Err(format!("`{part}` is not possible; {EXPECTED}")),
            }
        }
        if failures.mtbf == Span::ZERO { Err(format!("`mtbf` is missing; {EXPECTED}")) } else { Ok(failures) }
    }
}

impl fmt::Display for NodeFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NodeFailures { mtbf, repair, node, hit, seed, shape } = self;
        write!(f, "failures(mtbf={}s,repair={}s,node={node},jobs={},seed={seed}", mtbf.0, repair.0, hit.name())?;
        if *shape == 1.0 { f.write_str(")") } else { write!(f, ",shape={shape})") }
    }
}

impl NodeFailures {
    /// Draws the failures of a workload's time; parts of a log draw from streams of their own.
    ///
    /// # Errors
    /// See [`OutageParamError`].
    pub fn draw_outages(&self, workload: &Workload, part: usize) -> Result<Outages, OutageParamError> {
        let (from, until) = workload.submit_range().unwrap_or_default();
        let seed = self.seed.wrapping_add(part as u64);
        draw_outages(&OutageParams {
            node: self.node,
            unavailable: self.repair.as_f64() / (self.repair.as_f64() + self.mtbf.as_f64()),
            repair: self.repair,
            shape: self.shape,
            hit: self.hit,
            maintenance: None,
            ..OutageParams::new(workload.machine(), from, until, seed)
        })
    }
}

/// Returns the mean time from one failure of a node to its next, and the mean size of a node, by a
/// table of outages: those that were not announced and hit jobs, between the first submit and the
/// last. `None` where there are none.
#[must_use]
pub fn measure_failures(table: &Outages, workload: &Workload) -> Option<(Span, Procs)> {
    let (from, until) = workload.submit_range()?;
    let is_failure =
        |begin, notice: Option<_>, hit| (from..=until).contains(&begin) && notice.is_none() && hit != OutageHit::Drain;
    let failures = table.list().iter().filter(|outage| is_failure(outage.begin, outage.announced, outage.hit));
    let (count, procs) = failures.fold((0_u64, 0_u64), |sum, outage| (sum.0 + 1, sum.1 + u64::from(outage.procs())));
    if count == 0 {
        return None;
    }
    let node = (procs as f64 / count as f64).round().max(1.0);
    let nodes = f64::from(workload.machine().procs) / node;
    let mtbf = (until - from).as_f64() * nodes / count as f64;
    Some((Span(mtbf as i64).max(Span(1)), node as Procs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Params, WorkloadLength, generate_workload};

    /// Failures that were drawn are measured: 64 processors in nodes of 8 that fail every 20 days.
    #[test]
    fn failures_are_measured_as_they_were_drawn() {
        let params =
            Params { length: WorkloadLength::Span(Span(2_000 * 86_400)), load: Some(0.02), ..Params::new(64, 1) };
        let workload = generate_workload(&params).expect("valid");
        for text in ["mtbf=20d,repair=1d,node=8", "mtbf=20d,repair=1d,node=8,shape=0.6"] {
            let failures: NodeFailures = text.parse().expect("valid");
            let (mtbf, node) =
                measure_failures(&failures.draw_outages(&workload, 0).expect("valid"), &workload).expect("some");
            // About 760 failures, each after 20 days and a repair; the deviation of their number is
            // 4 %, and 6 % with the shape.
            assert_eq!(node, 8);
            assert!((mtbf.as_f64() / 86_400.0 / 21.0 - 1.0).abs() < 0.25, "{text}: {mtbf}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("", "`` is not possible; expected mtbf"),
            ("repair=1h", "`mtbf` is missing"),
            ("mtbf=0", "`mtbf` has no such value"),
            ("mtbf=1d,jobs=vanish", "`jobs` has no such value"),
            ("mtbf=1d,age=3", "`age=3` is not possible"),
        ] {
            assert!(text.parse::<NodeFailures>().expect_err(text).contains(part), "{text}");
        }
    }
}
