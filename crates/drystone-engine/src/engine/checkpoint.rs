//! Checkpoints: what a job keeps when its processors fail, and what that costs.

use crate::model::{Job, Procs, Span};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Checkpoints of every job on a machine.
///
/// A job works for its interval, writes for `cost` seconds, and so on until its work is done; it
/// writes none at its end. When it loses its processors it goes on from the last checkpoint that
/// was complete, and first reads it for `restart` seconds. Writes and reads hold processors and are
/// no run time, as those of suspensions. Time limits have room for the writes of a run without
/// failures: estimates are longer by them.
///
/// ```
/// use drystone_core::engine::Checkpoints;
/// use drystone_core::model::{Job, Span, Time};
///
/// let daly: Checkpoints = "daly,cost=5m,mtbf=30d,node=8".parse()?;
/// // 16 nodes fail every 45 hours: √(2 · 300 · 162,000) = 9,859, corrected by + 100 + 1 - 300.
/// assert_eq!(daly.job_interval(&Job::new(Time(0), 128, Span(86_400))), Span(9_660));
/// let young: Checkpoints = "young,cost=5m,mtbf=30d,node=8".parse()?;
/// assert_eq!(young.job_interval(&Job::new(Time(0), 128, Span(86_400))), Span(9_859));
/// # Ok::<(), drystone_core::engine::CheckpointError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Checkpoints {
    /// Choice of the interval.
    pub rule: CheckpointRule,
    /// Time to write one.
    pub cost: Span,
    /// Time to read one.
    pub restart: Span,
    /// Mean time of a node from a repair to its next failure; `None` where it is not known.
    pub mtbf: Option<Span>,
    /// Processors of a node.
    pub node: Option<Procs>,
}

/// Choice of the time between checkpoints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum CheckpointRule {
    /// So much work.
    Every(Span),
    /// √(2 C M) for a cost C and a mean time M between failures of the job's nodes (Young 1974).
    Young,
    /// The estimate of higher order (Daly 2006).
    Daly,
}

/// Reason why a text names no checkpoints.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct CheckpointError(String);

/// Forms of the text.
const EXPECTED: &str = "expected an interval (young, daly, or a time such as 1h) and then any of cost=5m, restart=5m, mtbf=30d, \
                        node=8, separated by commas";

impl FromStr for Checkpoints {
    type Err = CheckpointError;

    fn from_str(text: &str) -> Result<Checkpoints, CheckpointError> {
        let wrong = |part: &str| CheckpointError(format!("`{part}` is not possible; {EXPECTED}"));
        let (mut rule, mut restart) = (None, None);
        let mut checkpoints =
            Checkpoints { rule: CheckpointRule::Young, cost: Span(300), restart: Span(300), mtbf: None, node: None };
        for part in text.split(',').map(str::trim) {
            let (key, value) = part.split_once('=').unwrap_or(("interval", part));
            let (key, value) = (key.trim(), value.trim());
            let time = || read_length(value).ok_or_else(|| wrong(part));
            match key {
                "interval" if rule.is_none() => rule = Some(read_rule(value).ok_or_else(|| wrong(part))?),
                "cost" => checkpoints.cost = time()?,
                "restart" => restart = Some(time()?),
                "mtbf" => {
                    checkpoints.mtbf = Some(time().ok().filter(|&span| span > Span::ZERO).ok_or_else(|| wrong(part))?)
                }
                "node" => {
                    checkpoints.node = Some(value.parse().ok().filter(|&procs| procs > 0).ok_or_else(|| wrong(part))?)
                }
                _ => return Err(wrong(part)),
            }
        }
        checkpoints.rule = rule.ok_or_else(|| wrong(text))?;
        checkpoints.restart = restart.unwrap_or(checkpoints.cost);
        Ok(checkpoints)
    }
}

impl fmt::Display for Checkpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rule {
            CheckpointRule::Every(time) => write!(f, "{}s", time.0)?,
            CheckpointRule::Young => f.write_str("young")?,
            CheckpointRule::Daly => f.write_str("daly")?,
        }
        write!(f, ",cost={}s,restart={}s", self.cost.0, self.restart.0)?;
        if let Some(mtbf) = self.mtbf {
            write!(f, ",mtbf={}s", mtbf.0)?;
        }
        self.node.map_or(Ok(()), |node| write!(f, ",node={node}"))
    }
}

fn read_rule(text: &str) -> Option<CheckpointRule> {
    match text {
        "young" => Some(CheckpointRule::Young),
        "daly" => Some(CheckpointRule::Daly),
        time => read_length(time).filter(|&span| span > Span::ZERO).map(CheckpointRule::Every),
    }
}

/// Reads a length: seconds, or a number with s, m, h or d.
#[must_use]
pub fn read_length(text: &str) -> Option<Span> {
    let units = [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)];
    let with_unit = units.into_iter().find_map(|(unit, length)| Some((text.strip_suffix(unit)?, length)));
    let (number, length) = with_unit.unwrap_or((text, 1));
    let seconds = number.trim().parse::<i64>().ok()?.checked_mul(length)?;
    (0..=crate::model::TIME_LIMIT).contains(&seconds).then_some(Span(seconds))
}

/// Worth of an attempt of a job that was cut off.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct AttemptWorth {
    /// Work in checkpoints that this attempt wrote.
    pub(super) kept: Span,
    /// Time of those writes, and of the read before them; zero where nothing was kept.
    pub(super) spent: Span,
    /// All work done, kept or not.
    pub(super) done: Span,
}

impl Checkpoints {
    /// Fills in what is known of the machine's failures, where the text does not say it.
    #[must_use]
    pub fn on_nodes(self, mtbf: Option<Span>, node: Option<Procs>) -> Checkpoints {
        // A time between failures is that of nodes of its own size.
        match self.mtbf {
            Some(_) => Checkpoints { node: self.node.or(node), ..self },
            None => Checkpoints { mtbf, node: node.or(self.node), ..self },
        }
    }

    /// Checks that every interval can be chosen.
    ///
    /// # Errors
    /// Young's and Daly's choices without a time between failures.
    pub fn check_intervals(&self) -> Result<(), CheckpointError> {
        match (self.rule, self.mtbf) {
            (CheckpointRule::Young | CheckpointRule::Daly, None) => Err(CheckpointError(format!(
                "`{self}` chooses an interval by the mean time between failures of a node, which is not known: add mtbf=30d, or give \
                 failures, or outages of which some are not announced"
            ))),
            _ => Ok(()),
        }
    }

    /// The work of a job between two checkpoints.
    #[must_use]
    pub fn job_interval(&self, job: &Job) -> Span {
        let mtbf = |mtbf: Span| mtbf.as_f64() / f64::from(job.procs.div_ceil(self.node.unwrap_or(1)).max(1));
        let cost = self.cost.as_f64();
        let seconds = match (self.rule, self.mtbf.map(mtbf)) {
            (CheckpointRule::Every(time), _) => return time,
            (_, None) => return Span(crate::model::TIME_LIMIT),
            (CheckpointRule::Young, Some(mtbf)) => (2.0 * cost * mtbf).sqrt(),
            (CheckpointRule::Daly, Some(mtbf)) if cost < 2.0 * mtbf => {
                let ratio = cost / (2.0 * mtbf);
                (2.0 * cost * mtbf).sqrt() * (1.0 + ratio.sqrt() / 3.0 + ratio / 9.0) - cost
            }
            (CheckpointRule::Daly, Some(mtbf)) => mtbf,
        };
        Span((seconds.round() as i64).max(1))
    }

    /// Number of checkpoints that a job writes during so much work.
    fn count_writes(&self, job: &Job, work: Span) -> i64 {
        let interval = self.job_interval(job).0;
        (work.0.max(0) as u64).div_ceil(interval as u64).saturating_sub(1) as i64
    }

    /// Time of all writes during so much work.
    pub(super) fn write_time(&self, job: &Job, work: Span) -> Span {
        Span(self.cost.0.saturating_mul(self.count_writes(job, work)).min(crate::model::TIME_LIMIT))
    }

    /// The job with a time limit that has room for its writes.
    pub(super) fn give_room(&self, job: &Job) -> Job {
        let mut roomy = job.clone();
        roomy.estimate = Span((job.estimate + self.write_time(job, job.estimate)).0.min(crate::model::TIME_LIMIT));
        roomy
    }

    /// Time of the writes and of a read in an attempt that goes on from so much kept work and has
    /// so much left.
    pub(super) fn attempt_overhead(&self, job: &Job, progress: Span, remainder: Span) -> Span {
        self.write_time(job, remainder) + self.read_time(progress)
    }

    fn read_time(&self, progress: Span) -> Span {
        if progress > Span::ZERO { self.restart } else { Span::ZERO }
    }

    /// Divides an attempt that was cut off after so long.
    pub(super) fn divide_attempt(&self, job: &Job, progress: Span, remainder: Span, duration: Span) -> AttemptWorth {
        let (interval, reading) = (self.job_interval(job), self.read_time(progress));
        let working = (duration - reading).max(Span::ZERO);
        let period = interval + self.cost;
        let writes = self.count_writes(job, remainder);
        let complete = (working.0 / period.0).min(writes);
        let rest = Span(working.0 - complete * period.0);
        let begun_work = if complete < writes { rest.min(interval) } else { rest };
        let kept_work = Span(complete * interval.0);
        let spent_time = if complete > 0 { reading + Span(complete * self.cost.0) } else { Span::ZERO };
        AttemptWorth { kept: kept_work, spent: spent_time, done: (kept_work + begun_work).min(remainder) }
    }
}

impl AttemptWorth {
    /// Time of the attempt that was not in vain.
    pub(super) fn saved_time(&self) -> Span {
        self.kept + self.spent
    }
}

/// Work of earlier attempts in checkpoints, and the time of their writes and reads.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub(super) struct KeptWork {
    pub(super) work: Span,
    pub(super) spent: Span,
}

impl KeptWork {
    /// Time of earlier attempts that was not in vain.
    pub(super) fn saved_time(&self) -> Span {
        self.work + self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;

    fn job(procs: Procs) -> Job {
        Job::new(Time(0), procs, Span(1_000))
    }

    /// Daly 2006, equation 37, by hand: C = 5 min, M = 24 h / 4 nodes = 6 h:
    /// √(2 · 300 · 21,600) = 3,600; C / 2M = 1 / 144, its root 1 / 12:
    /// 3,600 (1 + 1/36 + 1/1296) - 300 = 3,402.8. Young: 3,600.
    #[test]
    fn intervals_are_young_s_and_daly_s() {
        let daly: Checkpoints = "daly,cost=5m,mtbf=24h,node=2".parse().expect("valid");
        assert_eq!(daly.job_interval(&job(8)), Span(3_403));
        assert_eq!(daly.job_interval(&job(7)), Span(3_403));
        let young = Checkpoints { rule: CheckpointRule::Young, ..daly };
        assert_eq!(young.job_interval(&job(8)), Span(3_600));
        // A cost beyond twice the time between failures: the time itself.
        let costly = Checkpoints { cost: Span(50_000), ..daly };
        assert_eq!(costly.job_interval(&job(8)), Span(21_600));
        assert_eq!("90m".parse::<Checkpoints>().expect("valid").job_interval(&job(8)), Span(5_400));
    }

    /// 100 s of work, an interval of 30, a cost of 5: checkpoints at 30, 60 and 90 s of work, at
    /// 35, 70 and 105 s of time.
    #[test]
    fn attempts_are_divided() {
        let every: Checkpoints = "30s,cost=5s,restart=7s".parse().expect("valid");
        let (job, work) = (job(1), Span(100));
        assert_eq!(every.write_time(&job, work), Span(15));
        // Exactly three intervals: none is written at the end.
        assert_eq!(every.write_time(&job, Span(90)), Span(10));
        let worth = |progress, duration| {
            let worth = every.divide_attempt(&job, Span(progress), work - Span(progress), Span(duration));
            (worth.kept.0, worth.spent.0, worth.done.0)
        };
        assert_eq!(worth(0, 34), (0, 0, 30));
        assert_eq!(worth(0, 35), (30, 5, 30));
        assert_eq!(worth(0, 71), (60, 10, 61));
        assert_eq!(worth(0, 110), (90, 15, 95));
        // With 60 s kept it reads for 7 s, works for 30, writes for 5, and works for 10.
        assert_eq!(worth(60, 6), (0, 0, 0));
        assert_eq!(worth(60, 41), (0, 0, 30));
        assert_eq!(worth(60, 42), (30, 12, 30));
    }

    #[test]
    fn texts_are_read_and_mistakes_named() {
        let young: Checkpoints = "young , cost=2m,node=4".parse().expect("valid");
        assert_eq!(young.to_string(), "young,cost=120s,restart=120s,node=4");
        assert_eq!(young.to_string().parse(), Ok(young));
        assert!(young.check_intervals().expect_err("no mtbf").to_string().contains("add mtbf=30d"));
        // The time that is filled in is that of nodes of two processors.
        assert_eq!(young.on_nodes(Some(Span(9)), Some(2)).node, Some(2));
        assert_eq!(Checkpoints { mtbf: Some(Span(7)), ..young }.on_nodes(Some(Span(9)), Some(2)).node, Some(4));
        for text in ["", "daly,mtbf=0", "soon", "young,cost", "young,cost=-1", "young,price=3", "0s", "daly,node=0"] {
            assert!(
                text.parse::<Checkpoints>().expect_err(text).to_string().contains("expected an interval"),
                "{text}"
            );
        }
    }
}
