//! Simulates every policy of a comparison, several at a time.

use super::policies;
use crate::args::CompareArgs;
use crate::exit::Failure;
use crate::input;
use crate::measuring::{config, details};
use crate::output::excess;
use crate::parallel;
use crate::progress::Progress;
use drystone::engine::Platform;
use drystone::experiment::{Experiment, Measured};
use drystone::model::{Span, Workload};
use drystone::policy::{PolicySpec, Priorities};
use drystone_report::{Details, Watcher};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

/// What every simulation of a comparison has in common.
#[derive(Clone, Copy)]
pub(super) struct Bench<'a> {
    pub(super) args: &'a CompareArgs,
    pub(super) priorities: Option<&'a Priorities>,
    pub(super) platform: Platform,
    /// Set when the work is to stop.
    pub(super) stop: &'a AtomicBool,
    /// Whether to measure what plots need.
    pub(super) detailed: bool,
}

/// What came out of a simulation, with what plots need.
pub(super) struct Watched {
    pub(super) measured: Measured,
    watcher: Option<Watcher>,
}

/// The policies that were simulated to the end with what came out, and the names of the others.
pub(super) struct Done {
    pub(super) specs: Vec<PolicySpec>,
    pub(super) watched: Vec<Watched>,
    pub(super) left_out: Vec<String>,
}

impl Done {
    fn of(specs: Vec<PolicySpec>, watched: Vec<Option<Watched>>) -> Done {
        let mut done = Done { specs: Vec::new(), watched: Vec::new(), left_out: Vec::new() };
        for (spec, watched) in specs.into_iter().zip(watched) {
            match watched {
                Some(watched) => {
                    done.specs.push(spec);
                    done.watched.push(watched);
                }
                None => done.left_out.push(spec.text().to_string()),
            }
        }
        done
    }
}

impl Bench<'_> {
    /// Simulates all policies as far as there is time; `None` where not one of them was done when it was told to stop.
    pub(super) fn simulate(
        &self,
        whole: &Workload,
        parts: &[Workload],
        specs: Vec<PolicySpec>,
    ) -> Result<Option<Done>, Failure> {
        let Some(excessive) = self.excessive(whole, parts, &specs)? else { return Ok(None) };
        let watched = self.simulate_all(whole, parts, &specs, &excessive)?;
        let done = Done::of(specs, watched);
        Ok((!done.specs.is_empty()).then_some(done))
    }

    /// Simulates every policy, several at a time. Which thread does what does not show in the results. `None` for those that are not
    /// done when it is told to stop.
    pub(super) fn simulate_all(
        &self,
        whole: &Workload,
        parts: &[Workload],
        specs: &[PolicySpec],
        excessive: &[Span],
    ) -> Result<Vec<Option<Watched>>, Failure> {
        let progress = Progress::new("simulating", "jobs", Some((specs.len() * whole.len()) as u64));
        let at_work = AtWork { names: Mutex::default(), progress: &progress };
        let one = |_: usize, spec: &PolicySpec| {
            at_work.change(|names| names.push(spec.text().to_string()));
            let mut watcher = self.detailed.then(|| Watcher::new(whole.machine().procs));
            let measured = Experiment::new(spec, whole)
                .in_parts(parts)
                .on(self.platform)
                .with(self.priorities.filter(|p| input::takes(spec, p, whole).is_ok()))
                .measuring(config(&self.args.common, excessive, false, self.detailed))
                .until(self.stop)
                .telling(&|jobs| progress.add(jobs))
                .run(&mut watcher);
            at_work.change(|names| names.retain(|name| name != spec.text()));
            // Months that are simulated apart overlap in time.
            let watcher = watcher.filter(|_| parts.len() == 1);
            let measured = measured.map_err(|e| Failure::experiment(spec.text(), e))?;
            Ok(measured.map(|measured| Watched { measured, watcher }))
        };
        parallel::map(specs.iter().collect(), self.threads(), one).into_iter().collect()
    }

    /// What waits are excessive beyond. Where that is a question of the baseline's waits, it is simulated for it; `None` where that
    /// was interrupted.
    fn excessive(
        &self,
        whole: &Workload,
        parts: &[Workload],
        specs: &[PolicySpec],
    ) -> Result<Option<Vec<Span>>, Failure> {
        let thresholds = &self.args.common.excess;
        if !excess::need_baseline(thresholds) {
            return Ok(Some(excess::beside(thresholds, None)));
        }
        let baseline = policies::baseline(self.args, specs)?;
        let alone: Vec<PolicySpec> = specs.iter().filter(|s| s.text() == baseline).cloned().collect();
        let bench = Bench { detailed: false, ..*self };
        let simulated = bench.simulate_all(whole, parts, &alone, &[])?.pop().flatten();
        Ok(simulated.map(|watched| excess::beside(thresholds, Some(&watched.measured.report))))
    }

    /// What plots need of every policy, nothing where that was not asked for. Which thread does what does not show.
    pub(super) fn details(&self, done: &mut Done, baseline: &str) -> Vec<Details> {
        if !self.detailed {
            return Vec::new();
        }
        let common = &self.args.common;
        let at = done.specs.iter().position(|s| s.text() == baseline);
        let rows = at.and_then(|at| done.watched[at].measured.report.jobs.take());
        let one = |i: usize, one: &mut Watched| {
            let report = &mut one.measured.report;
            if Some(i) == at {
                report.jobs.clone_from(&rows);
                return details(common, report, None, one.watcher.take());
            }
            let details = details(common, report, rows.as_deref(), one.watcher.take());
            report.jobs = None;
            details
        };
        parallel::map(done.watched.iter_mut().collect(), self.threads(), one)
    }

    /// As many threads as were asked for, else as there are processors.
    fn threads(&self) -> usize {
        let asked = self.args.threads.map(usize::from);
        asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}

/// The policies that are simulated now, said behind the progress bar: one may take a hundred times as long as another.
struct AtWork<'a> {
    names: Mutex<Vec<String>>,
    progress: &'a Progress,
}

impl AtWork<'_> {
    fn change(&self, change: impl FnOnce(&mut Vec<String>)) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut names);
        let told = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        self.progress.say(told);
    }
}
