//! Goal-oriented scheduling (Chiang & Vasupongayya 2008): every permutation of the waiting jobs, in
//! the order in which LDS or DDS visit them, each scheduled from nothing and compared with the best
//! so far.

use crate::profile::NaiveProfile;
use crate::{JobIn, JobOut};

/// A waiting job.
#[derive(Clone, Copy, Debug, Default)]
pub struct NaiveSearchWaiting {
    pub submit: i64,
    pub procs: i64,
    /// Run time for which it is placed, at least 1.
    pub span: i64,
    /// Run time that counts in its slowdown, at least 1.
    pub run: i64,
    pub user: i64,
}

/// Jobs to be scheduled, and the present.
#[derive(Clone, Debug, Default)]
pub struct NaiveProblem {
    /// The present.
    pub now: i64,
    /// Processors of the machine.
    pub procs: i64,
    /// End, after the present, and processors of the running jobs.
    pub running: Vec<(i64, i64)>,
    /// The waiting jobs in the order of their arrival.
    pub waiting: Vec<NaiveSearchWaiting>,
    /// Users and the processor-seconds that each had within the window of the measure `Fair`.
    pub usage: Vec<(i64, i64)>,
    /// Waiting jobs in the order of the best path of the decision before.
    pub last: Vec<usize>,
}

/// A measure of a schedule of the waiting jobs. Averages are sums here: their number is the same in
/// all schedules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveMeasure {
    MaxWait,
    /// Total wait beyond the current wait of the oldest waiting job.
    Excess,
    /// Total wait beyond a fixed threshold.
    ExcessOver(i64),
    /// Maximum wait beyond the current wait of the oldest waiting job; 0 where no wait is longer.
    LargestExcess,
    /// Maximum wait beyond a fixed threshold; 0 where no wait is longer.
    LargestExcessOver(i64),
    /// Total wait.
    Wait,
    /// Total slowdown 1 + wait/max(run, 60), in units of 2⁻³²; what a second of wait adds is
    /// rounded to 2⁻⁶⁴, and differences that rounding could make are none.
    Slowdown,
    /// Processor-seconds unused until the last running or waiting job has ended.
    Unused,
    /// Jobs that wait longer than this.
    Late(i64),
    /// Total of wait × processors.
    Area,
    /// Total of wait × 1024·S/(S + U), rounded down, for users with U processor-seconds within this
    /// many seconds before the present. S is the mean of U, rounded down, over users with usage or
    /// waiting jobs.
    Fair(i64),
    /// Total wait of a user's jobs.
    Special(i64),
}

/// Lexical, or one of the three versions of Eq-Tradeoff.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum NaiveSearchModel {
    Lexical,
    A,
    B,
    C,
}

/// The order of paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum NaiveTraversal {
    Lds,
    Dds,
}

/// The order of branches, and of backfilling for the references of version C.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum NaiveBranching {
    Fcfs,
    Lxf,
}

/// Use of the best path of the previous decision; jobs not on it follow in the order of the
/// heuristic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub enum NaiveReuse {
    #[default]
    No,
    /// It is the order of branches.
    Branch,
    /// It is visited after the heuristic path, if it is another.
    Seed,
}

/// Comparison and order of schedules.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct NaiveGoal {
    pub model: NaiveSearchModel,
    pub measures: Vec<NaiveMeasure>,
    pub relaxed: bool,
    pub traversal: NaiveTraversal,
    pub branching: NaiveBranching,
    pub reuse: NaiveReuse,
    /// True if jobs are placed for their users' estimates, not for their predicted run times.
    pub by_estimate: bool,
}

/// The outcome of a search over all permutations.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct NaiveAnswer {
    pub path: Vec<usize>,
    /// Absolute starts by waiting job.
    pub starts: Vec<i64>,
    pub values: Vec<i64>,
    /// All paths in the order of their visits.
    pub visited: Vec<Vec<usize>>,
}

/// The permutations of 0..n from left to right in the tree: lexicographically.
pub fn list_permutations(n: usize) -> Vec<Vec<usize>> {
    fn extend_path(path: &mut Vec<usize>, n: usize, paths: &mut Vec<Vec<usize>>) {
        if path.len() == n {
            paths.push(path.clone());
        }
        for next in 0..n {
            if !path.contains(&next) {
                path.push(next);
                extend_path(path, n, paths);
                path.pop();
            }
        }
    }
    let mut paths = Vec::new();
    extend_path(&mut Vec::new(), n, &mut paths);
    paths
}

/// The depths, from 1, at which a path leaves the heuristic: takes another than the first job that
/// is left.
pub fn find_discrepancies(path: &[usize]) -> Vec<usize> {
    let first_left = |at: usize| path[at..].iter().min().copied();
    (0..path.len()).filter(|&at| Some(path[at]) != first_left(at)).map(|at| at + 1).collect()
}

/// Permutations of 0..n, 0 being the heuristic's first choice, per iteration and in the order of
/// their visits.
pub fn list_iterations(n: usize, traversal: NaiveTraversal) -> Vec<Vec<Vec<usize>>> {
    let iteration = |path: &Vec<usize>| match traversal {
        NaiveTraversal::Lds => find_discrepancies(path).len(),
        NaiveTraversal::Dds => find_discrepancies(path).last().copied().unwrap_or(0),
    };
    let paths = list_permutations(n);
    (0..n.max(1)).map(|i| paths.iter().filter(|path| iteration(path) == i).cloned().collect()).collect()
}

/// Nodes that are placed if consecutive paths share what they have in common at their beginning.
pub fn count_nodes(paths: &[Vec<usize>]) -> usize {
    let shared_length = |a: &[usize], b: &[usize]| a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let first = paths.first().map_or(0, Vec::len);
    first + paths.windows(2).map(|pair| pair[1].len() - shared_length(&pair[0], &pair[1])).sum::<usize>()
}

impl NaiveProblem {
    fn build_profile(&self) -> NaiveProfile {
        let mut profile = NaiveProfile::new(self.now, self.procs);
        for &(end, procs) in &self.running {
            profile.take_processors(self.now, end, procs);
        }
        profile
    }

    /// Starts by waiting job if they are placed in this order.
    pub fn schedule_order(&self, order: &[usize]) -> Vec<i64> {
        let mut profile = self.build_profile();
        let mut starts = vec![0; order.len()];
        for &at in order {
            let job = self.waiting[at];
            starts[at] = profile.earliest_start(self.now, job.span, job.procs);
            profile.take_processors(starts[at], starts[at] + job.span, job.procs);
        }
        starts
    }

    /// The waiting jobs in the order of the heuristic at some time; ties in the order of arrival.
    pub(crate) fn heuristic_order(&self, branching: NaiveBranching, now: i64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.waiting.len()).collect();
        if branching == NaiveBranching::Lxf {
            let factor = |&at: &usize| {
                let job = self.waiting[at];
                (now - job.submit) as f64 / job.run as f64
            };
            order.sort_by(|a, b| factor(b).total_cmp(&factor(a)));
        }
        order
    }

    /// Starts under backfilling with one reservation.
    pub fn backfill_starts(&self, branching: NaiveBranching) -> Vec<i64> {
        let mut running_jobs = self.running.clone();
        let mut starts: Vec<Option<i64>> = vec![None; self.waiting.len()];
        let mut now = self.now;
        while starts.contains(&None) {
            running_jobs.retain(|r| r.0 > now);
            let mut profile = NaiveProfile::new(now, self.procs);
            for &(end, procs) in &running_jobs {
                profile.take_processors(now, end, procs);
            }
            let mut has_reservation = false;
            for at in self.heuristic_order(branching, now) {
                let job = self.waiting[at];
                if starts[at].is_some() {
                } else if profile.fits_throughout(now, job.span, job.procs) {
                    starts[at] = Some(now);
                    running_jobs.push((now + job.span, job.procs));
                    profile.take_processors(now, now + job.span, job.procs);
                } else if !has_reservation {
                    let start = profile.earliest_start(now, job.span, job.procs);
                    profile.take_processors(start, start + job.span, job.procs);
                    has_reservation = true;
                }
            }
            now = running_jobs.iter().map(|r| r.0).min().unwrap_or(now);
        }
        starts.into_iter().map(|s| s.unwrap_or(now)).collect()
    }

    fn oldest_wait(&self) -> i64 {
        self.waiting.iter().map(|job| self.now - job.submit).max().unwrap_or(0)
    }

    pub fn measure_value(&self, measure: NaiveMeasure, starts: &[i64]) -> i64 {
        let jobs = || self.waiting.iter().zip(starts).map(|(job, start)| (job, start - job.submit));
        let excess = |threshold: i64| jobs().map(|(_, wait)| (wait - threshold).max(0)).sum();
        let largest = |threshold: i64| jobs().map(|(_, wait)| (wait - threshold).max(0)).max().unwrap_or(0);
        match measure {
            NaiveMeasure::MaxWait => jobs().map(|(_, wait)| wait).max().unwrap_or(0),
            NaiveMeasure::Excess => excess(self.oldest_wait()),
            NaiveMeasure::ExcessOver(threshold) => excess(threshold),
            NaiveMeasure::LargestExcess => largest(self.oldest_wait()),
            NaiveMeasure::LargestExcessOver(threshold) => largest(threshold),
            NaiveMeasure::Wait => jobs().map(|(_, wait)| wait).sum(),
            NaiveMeasure::Slowdown => {
                let pace = |run: i64| ((1_i128 << 65) / i128::from(run.max(60)) + 1) / 2;
                let of_wait =
                    |job: &NaiveSearchWaiting, wait: i64| (i128::from(wait) * pace(job.run) + (1 << 31)) >> 32;
                jobs().map(|(job, wait)| (1 << 32) + of_wait(job, wait) as i64).sum()
            }
            NaiveMeasure::Unused => {
                let of_waiting =
                    self.waiting.iter().zip(starts).map(|(job, start)| (job.span, start + job.span, job.procs));
                let of_running = self.running.iter().map(|&(end, procs)| (end - self.now, end, procs));
                let job_runs: Vec<_> = of_waiting.chain(of_running).collect();
                let end = job_runs.iter().map(|&(_, end, _)| end).max().unwrap_or(self.now);
                (end - self.now) * self.procs - job_runs.iter().map(|(run, _, procs)| run * procs).sum::<i64>()
            }
            NaiveMeasure::Late(threshold) => jobs().filter(|&(_, wait)| wait > threshold).count() as i64,
            NaiveMeasure::Area => jobs().map(|(job, wait)| wait * job.procs).sum(),
            NaiveMeasure::Fair(_) => jobs().map(|(job, wait)| wait * self.fair_weight(job.user)).sum(),
            NaiveMeasure::Special(user) => jobs().filter(|(job, _)| job.user == user).map(|(_, wait)| wait).sum(),
        }
    }

    fn fair_weight(&self, user: i64) -> i64 {
        let usage_of_user = |user: i64| self.usage.iter().filter(|u| u.0 == user).map(|u| u.1).sum::<i64>();
        let had_some = self.usage.iter().filter(|u| u.1 > 0).map(|u| u.0);
        let mut users: Vec<i64> = had_some.chain(self.waiting.iter().map(|job| job.user)).collect();
        users.sort_unstable();
        users.dedup();
        let share = users.iter().map(|&user| usage_of_user(user)).sum::<i64>() / users.len() as i64;
        if share + usage_of_user(user) == 0 { 1024 } else { 1024 * share / (share + usage_of_user(user)) }
    }

    /// The best path of the decision before, newcomers behind it.
    fn continued_path(&self, branching: NaiveBranching) -> Vec<usize> {
        let newcomers = self.heuristic_order(branching, self.now).into_iter().filter(|at| !self.last.contains(at));
        self.last.iter().copied().chain(newcomers).collect()
    }

    /// References of version C.
    pub fn reference_values(&self, measures: &[NaiveMeasure]) -> Vec<i64> {
        let favoured_value = |&measure: &NaiveMeasure| match measure {
            NaiveMeasure::Slowdown | NaiveMeasure::Wait | NaiveMeasure::Fair(_) | NaiveMeasure::Special(_) => {
                self.measure_value(measure, &self.backfill_starts(NaiveBranching::Lxf))
            }
            _ => self.measure_value(measure, &self.backfill_starts(NaiveBranching::Fcfs)),
        };
        measures.iter().map(favoured_value).collect()
    }

    /// Returns whether a schedule with values f is better than one with values g.
    pub fn is_better(&self, goal: &NaiveGoal, references: &[i64], f: &[i64], g: &[i64]) -> bool {
        let rounding =
            |m: usize| if goal.measures[m] == NaiveMeasure::Slowdown { 2 * self.waiting.len() as i64 } else { 0 };
        let conflict =
            (0..f.len()).any(|m| g[m] - f[m] > rounding(m)) && (0..f.len()).any(|m| f[m] - g[m] > rounding(m));
        let differences = (0..f.len()).map(|m| {
            let hundredfold = match goal.measures[m] {
                NaiveMeasure::Excess
                | NaiveMeasure::ExcessOver(_)
                | NaiveMeasure::LargestExcess
                | NaiveMeasure::LargestExcessOver(_) => self.oldest_wait(),
                _ => g[m],
            };
            let d = g[m] - f[m];
            if d.abs() <= rounding(m) || (goal.relaxed && conflict && 100 * d.abs() < hundredfold) { 0 } else { d }
        });
        let differences: Vec<i64> = differences.collect();
        if goal.model == NaiveSearchModel::Lexical {
            return differences.iter().find(|&&d| d != 0).is_some_and(|&d| d > 0);
        }
        let reference = |m: usize| match goal.model {
            NaiveSearchModel::B => g[m].min(f[m]),
            NaiveSearchModel::C => references[m],
            _ => g[m],
        };
        // A change relative to zero dominates whatever is finite.
        let changes = || differences.iter().enumerate().filter(|(_, d)| **d != 0);
        let dominant: i64 = changes().filter(|&(m, _)| reference(m) == 0).map(|(_, d)| d.signum()).sum();
        let finite = changes().filter(|&(m, _)| reference(m) != 0);
        let changes: Vec<f64> = finite.map(|(m, &d)| d as f64 / reference(m) as f64).collect();
        let size: f64 = changes.iter().map(|change| change.abs()).sum();
        dominant > 0 || (dominant == 0 && changes.iter().sum::<f64>() > 1e-12 * size)
    }

    /// Visits every permutation. O(n!·n·steps).
    pub fn search_permutations(&self, goal: &NaiveGoal) -> NaiveAnswer {
        let continued_path = self.continued_path(goal.branching);
        let ranked_jobs = match goal.reuse {
            NaiveReuse::Branch if !self.last.is_empty() => continued_path.clone(),
            _ => self.heuristic_order(goal.branching, self.now),
        };
        let references = self.reference_values(&goal.measures);
        let mut best: Option<NaiveAnswer> = None;
        let mut visited_paths = Vec::new();
        let mut paths = list_iterations(self.waiting.len(), goal.traversal).concat();
        paths.iter_mut().for_each(|path| path.iter_mut().for_each(|at| *at = ranked_jobs[*at]));
        if goal.reuse == NaiveReuse::Seed && !self.last.is_empty() && continued_path != ranked_jobs {
            paths.insert(1, continued_path);
        }
        for path in paths {
            let starts = self.schedule_order(&path);
            let values: Vec<i64> = goal.measures.iter().map(|&m| self.measure_value(m, &starts)).collect();
            if best.as_ref().is_none_or(|best| self.is_better(goal, &references, &values, &best.values)) {
                best = Some(NaiveAnswer { path: path.clone(), starts, values, visited: Vec::new() });
            }
            visited_paths.push(path);
        }
        let best = best.unwrap_or(NaiveAnswer { path: vec![], starts: vec![], values: vec![], visited: vec![] });
        NaiveAnswer { visited: visited_paths, ..best }
    }
}

/// Processor-seconds by user between `now − window` and now.
fn usage_by_user(jobs: &[JobIn], out: &[Option<JobOut>], now: i64, window: i64) -> Vec<(i64, i64)> {
    let had = jobs.iter().zip(out).filter_map(|(job, out)| {
        let out = (*out)?;
        Some((job.user, (out.end.min(now) - out.start.max(now - window)).max(0) * job.procs))
    });
    had.collect()
}

/// The schedule of a whole workload: a search at every arrival and every end at which a job fits
/// the free processors. Predictions are the true run times, at least 1 s in a plan, and no more
/// than a handful of jobs may wait at a time.
pub fn run(goal: &NaiveGoal, jobs: &[JobIn], procs: i64) -> Vec<JobOut> {
    let mut out: Vec<Option<JobOut>> = vec![None; jobs.len()];
    let mut times: Vec<i64> = jobs.iter().map(|job| job.submit).collect();
    let window =
        goal.measures.iter().find_map(|m| if let NaiveMeasure::Fair(window) = m { Some(*window) } else { None });
    let span = |job: &JobIn| if goal.by_estimate { job.estimate.max(job.run).max(1) } else { job.run.max(1) };
    let mut last: Vec<usize> = Vec::new();
    while let Some(now) = times.iter().copied().min() {
        times.retain(|&time| time > now);
        let submitted_jobs = (0..jobs.len()).filter(|&at| jobs[at].submit <= now);
        let (started_jobs, waiting_jobs): (Vec<usize>, Vec<usize>) = submitted_jobs.partition(|&at| out[at].is_some());
        let run_on = started_jobs.iter().filter_map(|&at| out[at].filter(|o| o.end > now).map(|o| (at, o.start)));
        let problem = NaiveProblem {
            now,
            procs,
            running: run_on.map(|(at, start)| (start + span(&jobs[at]), jobs[at].procs)).collect(),
            waiting: waiting_jobs
                .iter()
                .map(|&at| NaiveSearchWaiting {
                    submit: jobs[at].submit,
                    procs: jobs[at].procs,
                    span: span(&jobs[at]),
                    run: jobs[at].run.max(1),
                    user: jobs[at].user,
                })
                .collect(),
            usage: window.map(|window| usage_by_user(jobs, &out, now, window)).unwrap_or_default(),
            last: last.iter().filter_map(|job| waiting_jobs.iter().position(|at| at == job)).collect(),
        };
        let free = procs - problem.running.iter().map(|r| r.1).sum::<i64>();
        if !problem.waiting.iter().any(|job| job.procs <= free) {
            continue;
        }
        let answer = problem.search_permutations(goal);
        last = answer.path.iter().map(|&at| waiting_jobs[at]).collect();
        for (&at, start) in waiting_jobs.iter().zip(answer.starts) {
            if start == now {
                let end = now + jobs[at].run;
                out[at] = Some(JobOut { start: now, end });
                times.push(end);
            }
        }
    }
    out.into_iter().flatten().collect()
}

/// The end that a running job is believed to have, which has outlived its estimate: put off by a
/// minute, then by 15, 30, 60 minutes and so on, each time as soon as it has come.
fn put_off(start: i64, estimate: i64, now: i64) -> i64 {
    let (mut end, mut minutes) = (start + estimate, 1);
    while end <= now {
        end += 60 * minutes;
        minutes = if minutes == 1 { 15 } else { 2 * minutes };
    }
    end
}

/// The schedule of a whole workload whose jobs are planned for their estimates, which may be too
/// short: a search at every arrival, at every end, and whenever the end of a running job is put
/// off, if a job fits the free processors. Every estimate is at least 1 s, and nothing is carried
/// from search to search.
pub fn run_by_estimates(goal: &NaiveGoal, jobs: &[JobIn], procs: i64) -> Vec<JobOut> {
    let mut out: Vec<Option<JobOut>> = vec![None; jobs.len()];
    let mut time = i64::MIN;
    loop {
        let running_jobs: Vec<(usize, i64)> = out
            .iter()
            .enumerate()
            .filter_map(|(at, out)| out.filter(|o| o.end > time).map(|o| (at, o.start)))
            .collect();
        let arrivals = jobs.iter().map(|job| job.submit);
        let ends = out.iter().flatten().map(|out| out.end);
        let expiries = running_jobs.iter().map(|&(at, start)| put_off(start, jobs[at].estimate, time));
        let Some(now) = arrivals.chain(ends).chain(expiries).filter(|&event| event > time).min() else { break };
        time = now;
        let waiting_jobs: Vec<usize> =
            (0..jobs.len()).filter(|&at| jobs[at].submit <= now && out[at].is_none()).collect();
        let still = running_jobs.iter().filter(|(at, _)| out[*at].is_some_and(|o| o.end > now));
        let ends = still.map(|&(at, start)| (put_off(start, jobs[at].estimate, now), jobs[at].procs)).collect();
        let describe_job = |&at: &usize| {
            let JobIn { submit, procs, estimate, user, .. } = jobs[at];
            NaiveSearchWaiting { submit, procs, span: estimate, run: estimate, user }
        };
        let waits = waiting_jobs.iter().map(describe_job).collect();
        let problem = NaiveProblem { now, procs, running: ends, waiting: waits, ..NaiveProblem::default() };
        let free = procs - problem.running.iter().map(|r| r.1).sum::<i64>();
        if !problem.waiting.iter().any(|job| job.procs <= free) {
            continue;
        }
        for (&at, start) in waiting_jobs.iter().zip(problem.search_permutations(goal).starts) {
            if start == now {
                out[at] = Some(JobOut { start: now, end: now + jobs[at].run });
            }
        }
    }
    out.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "For 4 jobs LDS visits 1, 6, 11, … paths and DDS 1, 3, 8, 12."
    #[test]
    fn paths_per_iteration() {
        let count = |traversal| list_iterations(4, traversal).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(count(NaiveTraversal::Lds), [1, 6, 11, 6]);
        assert_eq!(count(NaiveTraversal::Dds), [1, 3, 8, 12]);
    }
}
