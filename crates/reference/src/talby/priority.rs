//! The slack-based priority scheduler: every way to fit a new job in has a price (rules 10 to 18
//! and 20).

use super::NaiveTalbyWorld;
use crate::profile::NaiveProfile;

/// Parameters of the priority scheduler.
#[derive(Clone, PartialEq, Debug)]
pub struct NaivePriority {
    /// SF: how many average waits the slack of a job of no priority is.
    pub slack_factor: f64,
    /// AWT: the average wait of the system, in seconds.
    pub average_wait: f64,
    /// Exponents of the price.
    pub exponents: Exponents,
    /// Order in which displaced jobs are put back.
    pub heuristic: Heuristic,
    /// Procedure for a job that ends early.
    pub removal: NaiveRemoval,
    /// User and political priority of each job, in order of arrival; empty: zero for all.
    pub importance: Vec<NaiveImportance>,
}

impl Default for NaivePriority {
    /// The paper's setting: SF = 3, AWT = 2401 s, all exponents 1, order of start times, equal
    /// priorities of zero.
    fn default() -> NaivePriority {
        NaivePriority {
            slack_factor: 3.0,
            average_wait: 2_401.0,
            exponents: Exponents::default(),
            heuristic: Heuristic::StartTime,
            removal: NaiveRemoval::Compress,
            importance: Vec::new(),
        }
    }
}

/// Weights given to a job when it was submitted.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct NaiveImportance {
    /// UP, the user's own priority, 0 to 1.
    pub user: f64,
    /// PP, the political priority, 0 to 1; −∞ for a user beyond the quota ("absolute zero").
    pub political: f64,
}

/// Exponents of the four factors of a price: α_u, α_t, α_p, α_f.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Exponents {
    /// Of the number of processors.
    pub procs: f64,
    /// Of the delay.
    pub time: f64,
    /// Of the ratio of priorities.
    pub priority: f64,
    /// Of the share of slack that is left (fairness).
    pub fairness: f64,
}

impl Default for Exponents {
    fn default() -> Exponents {
        Exponents { procs: 1.0, time: 1.0, priority: 1.0, fairness: 1.0 }
    }
}

impl Exponents {
    /// The first term of a price: the newcomer's own wait, weighed as its utilisation.
    pub fn of_waiting(&self, procs: i64, wait: i64) -> f64 {
        if wait == 0 { 0.0 } else { raise_power(procs as f64, self.procs) * raise_power(wait as f64, self.time) }
    }
}

/// Rule 16: the order in which displaced jobs are put back; then order of arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heuristic {
    /// AST: planned start.
    StartTime,
    /// AAT: arrival.
    Arrival,
    /// DU: processors × estimate, largest first.
    Area,
    /// DC: price of a delay of one second, highest first.
    Cost,
    /// DP: priority, highest first.
    Priority,
}

/// Procedure for a job that ends early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveRemoval {
    /// Rule 15: the conservative compression; slacks and priorities stay. What the tables of the
    /// paper need.
    Compress,
    /// Rule 20: the text of the paper taken literally: the cheapest rearrangement, as if a job of
    /// no size were inserted.
    Priced,
}

/// A waiting job as planned.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NaiveTalbyWaiting {
    /// Index of the job.
    pub job: usize,
    /// Planned start; `None` under EASY.
    pub start: Option<i64>,
    /// p: the weighed priority.
    pub priority: f64,
    /// s: the slack that is left, in seconds.
    pub slack: f64,
    /// s0: the slack it had.
    pub first_slack: f64,
}

impl NaiveTalbyWaiting {
    pub(super) fn new(job: usize, start: Option<i64>) -> NaiveTalbyWaiting {
        NaiveTalbyWaiting { job, start, priority: 0.0, slack: 0.0, first_slack: 0.0 }
    }

    /// The latest start. Starts are whole, so that a fraction of a second of slack is worth
    /// nothing.
    pub(super) fn latest_start(&self) -> Option<i64> {
        let slack = Some(self.slack).filter(|slack| slack.is_finite())?;
        Some(self.start? + slack.floor() as i64)
    }
}

/// Rules 11c, 17 and 18: the price of moving a waiting job by `delay` seconds for the sake of one
/// of priority `for_priority`. `None` if the move is impossible.
pub fn move_cost(
    waiter: &NaiveTalbyWaiting,
    procs: i64,
    delay: i64,
    for_priority: f64,
    exponents: &Exponents,
) -> Option<f64> {
    if delay == 0 || waiter.priority == f64::NEG_INFINITY {
        return Some(0.0);
    }
    if delay as f64 > waiter.slack {
        return None;
    }
    if for_priority == f64::NEG_INFINITY {
        return if delay > 0 { None } else { Some(0.0) };
    }
    let ratio = waiter.priority / for_priority;
    let fairness = if waiter.first_slack == waiter.slack { 1.0 } else { waiter.first_slack / waiter.slack };
    let Exponents { procs: u, time: t, priority: p, fairness: f } = *exponents;
    let sign = if delay < 0 { -1.0 } else { 1.0 };
    let product = raise_power(procs as f64, u) * (sign * raise_power(delay.abs() as f64, t));
    Some(product * raise_power(ratio, p) * raise_power(fairness, p * f))
}

/// An exponent of 1 leaves the number as it is, to the last bit.
fn raise_power(base: f64, exponent: f64) -> f64 {
    if exponent == 1.0 { base } else { base.powf(exponent) }
}

/// One way to rearrange: the start of the new job, the moved jobs with their new starts, and the
/// price.
struct NaiveCandidate {
    start: i64,
    moves: Vec<(usize, i64)>,
    price: f64,
}

/// The newcomer: its size, and the priority that others' prices refer to.
#[derive(Clone, Copy)]
struct NaiveNewcomer {
    procs: i64,
    span: i64,
    priority: f64,
}

impl NaiveTalbyWorld<'_> {
    /// Rules 10, 13 and 14.
    pub(super) fn insert_by_price(&mut self, settings: &NaivePriority, j: usize) {
        let job = &self.jobs[j];
        let NaiveImportance { user, political } = settings.importance.get(j).copied().unwrap_or_default();
        let weigh = |scheduler: f64| (user + political + scheduler) / 3.0;
        let new = NaiveNewcomer { procs: job.procs, span: self.planned_run(j), priority: weigh(0.5) };
        // No job moves.
        let start = self.earliest_start(&self.build_plan(), j);
        let fallback = NaiveCandidate {
            start,
            moves: Vec::new(),
            price: settings.exponents.of_waiting(job.procs, start - self.now),
        };
        let best = self.cheapest_candidate(settings, new, fallback);
        self.apply_candidate(&best);
        let wait = (best.start - self.now) as f64;
        let priority = weigh((wait / (2.0 * settings.average_wait)).min(1.0));
        let slack = if priority == f64::NEG_INFINITY {
            f64::INFINITY
        } else {
            ((1.0 - priority) * settings.slack_factor) * settings.average_wait
        };
        self.admit_job(NaiveTalbyWaiting { job: j, start: Some(best.start), priority, slack, first_slack: slack });
    }

    /// Rule 20.
    pub(super) fn remove_by_price(&mut self, settings: &NaivePriority) {
        let dummy = NaiveNewcomer { procs: 0, span: 0, priority: 1.0 };
        let no_change = NaiveCandidate { start: self.now, moves: Vec::new(), price: 0.0 };
        let best = self.cheapest_candidate(settings, dummy, no_change);
        self.apply_candidate(&best);
    }

    /// Rules 11 and 12: the cheapest, then the one that moves fewest, then the earliest.
    fn cheapest_candidate(
        &self,
        settings: &NaivePriority,
        new: NaiveNewcomer,
        fallback: NaiveCandidate,
    ) -> NaiveCandidate {
        let mut best = fallback;
        for start in self.slot_starts() {
            let Some(candidate) = self.rearrange_plan(settings, new, start) else {
                continue;
            };
            let fewer = candidate.moves.len() < best.moves.len();
            if candidate.price < best.price || (candidate.price == best.price && fewer) {
                best = candidate;
            }
        }
        best
    }

    /// Returns the times at which the free processors may change, from now on.
    fn slot_starts(&self) -> Vec<i64> {
        let mut starts = vec![self.now];
        starts.extend(self.running.iter().map(|r| r.until));
        for w in &self.waiting {
            let start = w.start.unwrap_or(self.now);
            starts.extend([start, start + self.planned_run(w.job)]);
        }
        starts.retain(|&start| start >= self.now);
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// Rules 11a to 11d: what it takes to put the newcomer at `start`; `None` if that is
    /// impossible.
    fn rearrange_plan(&self, settings: &NaivePriority, new: NaiveNewcomer, start: i64) -> Option<NaiveCandidate> {
        let is_fixed = |w: &NaiveTalbyWaiting| w.start.is_some_and(|s| s < start);
        let mut plan = NaiveProfile::new(self.now, self.machine);
        for r in &self.running {
            plan.take_processors(r.start, r.until, self.jobs[r.job].procs);
        }
        for w in self.waiting.iter().filter(|w| is_fixed(w)) {
            let begin = w.start.unwrap_or(self.now);
            plan.take_processors(begin, begin + self.planned_run(w.job), self.jobs[w.job].procs);
        }
        if !plan.fits_throughout(start, new.span, new.procs) {
            return None;
        }
        plan.take_processors(start, start + new.span, new.procs);

        let mut displaced_jobs: Vec<NaiveTalbyWaiting> =
            self.waiting.iter().filter(|w| !is_fixed(w)).copied().collect();
        self.sort_displaced(settings, new, &mut displaced_jobs);
        let mut price = settings.exponents.of_waiting(new.procs, start - self.now);
        let mut moves = Vec::new();
        for w in displaced_jobs {
            let job = &self.jobs[w.job];
            let begin = self.earliest_start(&plan, w.job);
            plan.take_processors(begin, begin + self.planned_run(w.job), job.procs);
            let delay = begin - w.start.unwrap_or(self.now);
            price += move_cost(&w, job.procs, delay, new.priority, &settings.exponents)?;
            if delay != 0 {
                moves.push((w.job, begin));
            }
        }
        Some(NaiveCandidate { start, moves, price })
    }

    /// Rule 16.
    fn sort_displaced(&self, settings: &NaivePriority, new: NaiveNewcomer, movers: &mut [NaiveTalbyWaiting]) {
        movers.sort_by_key(|w| w.job);
        let area = |w: &NaiveTalbyWaiting| self.planned_run(w.job) * self.jobs[w.job].procs;
        let second = |w: &NaiveTalbyWaiting| {
            let procs = self.jobs[w.job].procs;
            move_cost(w, procs, 1, new.priority, &settings.exponents).unwrap_or(f64::INFINITY)
        };
        match settings.heuristic {
            Heuristic::Arrival => {}
            Heuristic::StartTime => movers.sort_by_key(|w| w.start),
            Heuristic::Area => movers.sort_by_key(|w| std::cmp::Reverse(area(w))),
            Heuristic::Cost => movers.sort_by(|a, b| second(b).total_cmp(&second(a))),
            Heuristic::Priority => movers.sort_by(|a, b| b.priority.total_cmp(&a.priority)),
        }
    }

    /// Rule 13: slack shrinks by a delay and grows by a move up, even beyond what it was.
    fn apply_candidate(&mut self, candidate: &NaiveCandidate) {
        for &(job, start) in &candidate.moves {
            for w in self.waiting.iter_mut().filter(|w| w.job == job) {
                w.slack -= (start - w.start.unwrap_or(start)) as f64;
                w.start = Some(start);
            }
            self.announce_start(job);
        }
    }
}
