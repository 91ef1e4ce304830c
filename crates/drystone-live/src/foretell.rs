//! Starts of the waiting jobs as distributions, for people. Nothing decides by them: they are no
//! part of the core, and a daemon without them gives the same orders.

use crate::clock::{DaemonClock, MachineClock, processor_time};
use drystone::engine::Session;
use drystone::model::{JobId, Time};
use drystone::policy::PolicySpec;
use drystone_when::{Follower, Forecaster, ForecasterSettings};
use std::collections::BTreeMap;
use std::time::Duration;

/// Futures per answer.
const SAMPLES: u32 = 100;
/// Waiting jobs that are answered, the first ones of the queue.
const ROWS: usize = 300;
/// Processor time of answers, as one part in so many of the time that passes.
const SHARE: u32 = 50;
/// Age after which answers are renewed, even if nothing has happened.
const RENEW: Duration = Duration::from_secs(60);
/// Processor time that one round of answers may take, and half of its time on a busy machine: heart
/// and looks wait for it. An answer comes from fewer futures then.
const LONGEST: Duration = Duration::from_secs(2);
/// Number of waiting jobs with which a first round is tried.
const FIRST: u32 = 5_000;
/// Fewer waiting jobs than this cost no less, as far as is known.
const LEAST: u32 = 1_000;
/// Waiting jobs from which the cost of a round tells that of another.
const TELLING: u32 = 100;
/// No second try before this, where answers failed.
const RETRY: Duration = Duration::from_secs(300);

/// Reason why starts are not foretold.
fn too_many(waiting: u32) -> String {
    format!("{waiting} jobs wait: foretelling their starts would hold the daemon for too long")
}

/// Start of a waiting job, in the session's time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForetoldStart {
    /// One start in twenty is earlier; nothing where more than nineteen futures in twenty have no
    /// start in 14 days.
    pub early: Option<Time>,
    /// One in two is earlier; nothing where more than half have no start in 14 days.
    pub likely: Option<Time>,
    /// Nine in ten are earlier; nothing where more than one future in ten has no start in 14 days.
    pub late: Option<Time>,
}

/// Forecasts beside a daemon.
#[derive(Default)]
pub struct Foretell {
    follower: Option<Follower>,
    starts: BTreeMap<JobId, ForetoldStart>,
    stale: bool,
    /// Time of the last answers, and of the next at the earliest.
    at: Duration,
    next: Duration,
    /// Cost of the last round, and the number of jobs that waited.
    last: Option<(Duration, u32)>,
    problem: Option<String>,
    /// Number of sets of nodes that share the time of a round.
    sets: u32,
}

impl Foretell {
    /// Forecasts under this policy; `offset` is the session's time less that of the machine.
    pub fn new(policy: &PolicySpec, offset: i64) -> Foretell {
        // 5 January 1970 was a Monday.
        let settings =
            ForecasterSettings { samples: SAMPLES, monday: 4 * 86_400 + offset, ..ForecasterSettings::default() };
        match Forecaster::new(policy, settings) {
            Ok(forecaster) => Foretell { follower: Some(Follower::new(forecaster)), ..Foretell::default() },
            Err(error) => Foretell { problem: Some(error.to_string()), ..Foretell::default() },
        }
    }

    /// As one of so many, each with its part of the time that a round may take.
    pub fn among_sets(self, sets: usize) -> Foretell {
        Foretell { sets: u32::try_from(sets).unwrap_or(u32::MAX), ..self }
    }

    /// Learns from what has happened and, if something has and it may take the processor, answers
    /// again. `steady` is the daemon's time. Returns the processor time that this took.
    pub fn update_forecasts(&mut self, session: &Session, steady: Duration) -> Duration {
        let Some(follower) = &mut self.follower else { return Duration::ZERO };
        let before = processor_time();
        self.stale |= follower.follow_session(session);
        if steady < self.next || !(self.stale || steady.saturating_sub(self.at) >= RENEW) {
            return processor_time().saturating_sub(before);
        }
        let waiting_count = session.waiting_count();
        self.starts.clear();
        if self.expected_cost(waiting_count).is_none_or(|cost| cost > 2 * LONGEST / self.sets.max(1)) {
            self.problem = Some(too_many(waiting_count));
            (self.stale, self.at, self.next) = (false, steady, steady + RENEW);
            return processor_time().saturating_sub(before);
        }
        let Some(follower) = &mut self.follower else { return Duration::ZERO };
        let jobs: Vec<JobId> = session.view().waiting_jobs().take(ROWS).collect();
        let (clock, longest) = (MachineClock::default(), LONGEST / self.sets.max(1));
        let begin_time = clock.steady_time();
        let stop = || {
            processor_time().saturating_sub(before) > longest
                || clock.steady_time().saturating_sub(begin_time) > longest * 2
        };
        let answers = if jobs.is_empty() { Ok(Some(Vec::new())) } else { follower.answer_until(session, &jobs, &stop) };
        let too_few = matches!(answers, Ok(None));
        self.problem = match &answers {
            Ok(Some(_)) => None,
            Ok(None) => Some(too_many(waiting_count)),
            Err(error) => Some(error.to_string()),
        };
        for answer in answers.ok().flatten().into_iter().flatten() {
            // Futures without a start end at their horizon, which is no start.
            let at = |level: f64| {
                let is_known = answer.sample.share_beyond() <= 1.0 - level + 1e-9;
                is_known.then(|| Time(answer.asked.0.saturating_add(answer.quantile(level) as i64)))
            };
            self.starts.insert(answer.job, ForetoldStart { early: at(0.05), likely: at(0.5), late: at(0.9) });
        }
        let cost = processor_time().saturating_sub(before);
        (self.stale, self.at) = (false, steady);
        // Where not even a few futures were done, it is not tried again soon.
        let least = if too_few { longest * 4 } else { Duration::ZERO };
        self.learn_cost(cost.max(least), waiting_count);
        self.next = steady + if self.problem.is_some() { RETRY } else { cost * SHARE * self.sets.max(1) };
        cost
    }

    /// Notes the cost of a round. One with few jobs says nothing of thousands.
    fn learn_cost(&mut self, cost: Duration, waiting: u32) {
        if waiting >= TELLING {
            self.last = Some((cost, waiting));
        }
    }

    /// Expected cost of a round with so many waiting jobs, by the last round; a few are always
    /// tried. The cost of a future that plans every job grows with the square of their number.
    fn expected_cost(&self, waiting: u32) -> Option<Duration> {
        match self.last {
            Some((cost, before)) => {
                let ratio = f64::from(waiting) / f64::from(before.max(LEAST));
                Some(cost.mul_f64(ratio * ratio.max(1.0)))
            }
            None if waiting <= FIRST => Some(Duration::ZERO),
            None => None,
        }
    }

    pub fn job_forecast(&self, job: JobId) -> Option<ForetoldStart> {
        self.starts.get(&job).copied()
    }

    /// Reason why there are no answers, if there is one.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A single future of tens of thousands of jobs may take seconds, in which the heart does not
    /// beat: it is tried only where a round of many jobs says that it is quick.
    #[test]
    fn a_round_with_few_jobs_says_nothing_of_thousands() {
        let mut foretell = Foretell::new(&"conservative".parse().expect("a policy"), 0);
        let milliseconds = Duration::from_millis;
        foretell.learn_cost(Duration::ZERO, 0);
        foretell.learn_cost(milliseconds(1), 1);
        assert_eq!([5_000, 50_000].map(|waiting| foretell.expected_cost(waiting)), [Some(Duration::ZERO), None]);
        // With the square of 50,000 / 1,000.
        foretell.learn_cost(milliseconds(100), 1_000);
        assert_eq!(foretell.expected_cost(50_000), Some(milliseconds(250_000)));
        foretell.learn_cost(milliseconds(1), 1);
        assert_eq!(foretell.expected_cost(1_000), Some(milliseconds(100)));
    }
}
