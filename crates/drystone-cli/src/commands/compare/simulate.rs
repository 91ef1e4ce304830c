//! Simulates every policy of a comparison, several at a time.

use super::bench::CompareInputs;
use super::{calibrate, candidates, policies};
use crate::exit::CommandFailure;
use crate::input;
use crate::measuring::{config, details};
use crate::output::number::{NONE, change, duration, fixed};
use crate::output::{excess, message};
use crate::parallel;
use crate::progress::WorkProgress;
use drystone::engine::SimulationError;
use drystone::experiment::{Experiment, ExperimentError, ExperimentResult};
use drystone::metrics::{MetricsConfig, Report};
use drystone::model::{Span, Workload};
use drystone::policy::PolicySpec;
use drystone_report::{PlotDetails, Watcher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Duration of the baseline below which everything is fast.
const WORTH_A_TRIAL: Duration = Duration::from_millis(100);

/// Results of a simulation, with the data of plots.
pub(super) struct WatchedPolicy {
    pub(super) measured: ExperimentResult,
    watcher: Option<Watcher>,
}

/// The policies that were simulated to the end with what came out, and the names of the others.
pub(super) struct FinishedPolicies {
    pub(super) specs: Vec<PolicySpec>,
    pub(super) watched: Vec<WatchedPolicy>,
    pub(super) left_out: Vec<String>,
    /// The other policies that make the same schedule as each.
    pub(super) equals: Vec<Vec<String>>,
    /// Policies that were not tried unasked, since they take long where so many jobs wait.
    pub(super) too_long: Vec<String>,
}

impl FinishedPolicies {
    fn of(specs: Vec<PolicySpec>, watched: Vec<Option<WatchedPolicy>>) -> FinishedPolicies {
        let mut done = FinishedPolicies {
            specs: Vec::new(),
            watched: Vec::new(),
            left_out: Vec::new(),
            equals: Vec::new(),
            too_long: Vec::new(),
        };
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

    /// Leaves one of each group of policies that make the same schedule, the first; the baseline
    /// stays by itself.
    pub(super) fn merge_equals(&mut self, baseline: &str) {
        let (mut specs, mut watched): (Vec<PolicySpec>, Vec<WatchedPolicy>) = (Vec::new(), Vec::new());
        let mut equals: Vec<Vec<String>> = Vec::new();
        for (spec, one) in std::mem::take(&mut self.specs).into_iter().zip(std::mem::take(&mut self.watched)) {
            let other = |(kept, other): (&PolicySpec, &WatchedPolicy)| {
                kept.text() != baseline && spec.text() != baseline && same_schedule(&other.measured, &one.measured)
            };
            match specs.iter().zip(&watched).position(other) {
                Some(at) => equals[at].push(spec.text().to_string()),
                None => {
                    specs.push(spec);
                    watched.push(one);
                    equals.push(Vec::new());
                }
            }
        }
        (self.specs, self.watched, self.equals) = (specs, watched, equals);
    }
}

/// Returns whether two simulations have equal results in every week and by every measure,
/// predictions aside.
fn same_schedule(a: &ExperimentResult, b: &ExperimentResult) -> bool {
    let (a, b) = (&a.report, &b.report);
    a.measures == b.measures && a.weeks == b.weeks && a.machine == b.machine && a.suspensions == b.suspensions
}

impl CompareInputs<'_> {
    /// Returns whether the policies were named by the user.
    pub(super) fn asked(&self) -> bool {
        !self.args.policy.is_empty()
    }

    /// Simulates the baseline and then the others, the cheapest first, as far as there is time;
    /// `None` if even the baseline was cancelled.
    pub(super) fn simulate(
        &self,
        whole: &Workload,
        parts: &[Workload],
        specs: Vec<PolicySpec>,
    ) -> Result<Option<FinishedPolicies>, CommandFailure> {
        let Some(excessive) = self.excessive(whole, parts, &specs)? else { return Ok(None) };
        let baseline = policies::baseline(self.args, &specs)?;
        let Some(first) = specs.iter().position(|spec| spec.text() == baseline) else { return Ok(None) };
        let mut told = PolicyReporter::new(&specs);
        let alone = std::slice::from_ref(&specs[first]);
        // A site's jobs are held against what was recorded of them.
        let keep = CompareInputs { keep: self.keep || self.input.site.is_some(), ..*self };
        let Some(base) = keep.simulate_all(whole, parts, alone, &excessive, Some(&told))?.pop().flatten() else {
            return Ok(None);
        };
        told.against(&baseline, &base.measured.report);
        let waiting = waiting(whole, &base.measured.report);
        let unasked = !self.asked() && !self.args.all;
        let long = |at: &usize| unasked && candidates::takes_long(&specs[*at], whole.len(), waiting);
        let (too_long, others): (Vec<usize>, Vec<usize>) = (0..specs.len()).filter(|&at| at != first).partition(long);
        let names = too_long.iter().map(|&at| specs[at].text().to_string()).collect();
        let (places, inexpensive) = self.in_order(whole, parts, &specs, &others, (&base.measured, waiting));
        let mut found: Vec<Option<WatchedPolicy>> = specs.iter().map(|_| None).collect();
        found[first] = Some(base);
        let others = CompareInputs { spares: !self.asked(), ..*self };
        for (at, watched) in
            places.iter().zip(others.simulate_all(whole, parts, &inexpensive, &excessive, Some(&told))?)
        {
            found[*at] = watched;
        }
        let tried = specs.into_iter().zip(found).enumerate().filter(|(at, _)| !too_long.contains(at));
        let (specs, found): (Vec<PolicySpec>, Vec<Option<WatchedPolicy>>) = tried.map(|(_, both)| both).unzip();
        Ok(Some(FinishedPolicies { too_long: names, ..FinishedPolicies::of(specs, found) }))
    }

    /// These policies, the cheapest first: by a short trial where the baseline says that it takes a
    /// while, else by what they are.
    fn in_order(
        &self,
        whole: &Workload,
        parts: &[Workload],
        specs: &[PolicySpec],
        places: &[usize],
        (baseline, waiting): (&ExperimentResult, f64),
    ) -> (Vec<usize>, Vec<PolicySpec>) {
        let all: Vec<PolicySpec> = places.iter().map(|&at| specs[at].clone()).collect();
        let estimates = if baseline.took < WORTH_A_TRIAL {
            all.iter().map(|spec| candidates::cost(spec, whole.len(), waiting)).collect()
        } else {
            let estimates = calibrate::estimates(self, parts, &all, waiting);
            calibrate::announce(&all, &estimates, self.threads());
            estimates
        };
        // What a site can run comes before what only shows bounds, unless it takes long: what is
        // stopped early has what matters.
        let early =
            |spec: &PolicySpec| candidates::is_candidate(spec) && !candidates::takes_long(spec, whole.len(), waiting);
        let (mut order, rest): (Vec<usize>, Vec<usize>) =
            calibrate::cheapest_first(&estimates).into_iter().partition(|&i| self.asked() || early(&all[i]));
        order.extend(rest);
        (order.iter().map(|&i| places[i]).collect(), order.iter().map(|&i| all[i].clone()).collect())
    }

    /// Simulates every policy, several at a time. The distribution over threads does not show in
    /// the results. `None` for those cancelled before their end.
    pub(super) fn simulate_all(
        &self,
        whole: &Workload,
        parts: &[Workload],
        specs: &[PolicySpec],
        excessive: &[Span],
        told: Option<&PolicyReporter>,
    ) -> Result<Vec<Option<WatchedPolicy>>, CommandFailure> {
        let common = &self.args.common;
        let progress = WorkProgress::new("simulating", "jobs", Some((specs.len() * whole.len()) as u64));
        let at_work = PoliciesAtWork { names: Mutex::default(), progress: &progress };
        let one = |_: usize, spec: &PolicySpec| {
            at_work.change(|names| names.push(spec.text().to_string()));
            let mut watcher = self.detailed.then(|| Watcher::new(whole.machine().procs));
            let here = self.input.policy(spec)?;
            let measured = Experiment::new(&here, whole)
                .in_parts(parts)
                .on(self.platform)
                .losing(Some(self.outages))
                .divided(self.input.division())
                .feeding_back(self.args.common.real.feedback)
                .with(self.priorities.filter(|p| input::takes(spec, p, whole).is_ok()))
                .grading(self.priorities)
                .pricing(self.input.series.as_deref())
                .measuring(MetricsConfig {
                    classes: true,
                    ..config(common, self.input.selection(common), excessive, self.keep, self.detailed)
                })
                .until(self.stop)
                .telling(&|jobs| progress.add(jobs))
                .run(&mut watcher);
            at_work.change(|names| names.retain(|name| name != spec.text()));
            // Months that are simulated apart overlap in time.
            let watcher = watcher.filter(|_| parts.len() == 1);
            if let Err(ExperimentError::Simulation(SimulationError::TooLittlePower { number, needs, left, .. })) =
                &measured
                && self.spares
            {
                message::note(&format!(
                    "left out, since under it a job would wait for ever for power (job {number} for {needs} W of {left} W): {}",
                    spec.text()
                ));
                return Ok(None);
            }
            let measured = measured.map_err(|e| CommandFailure::experiment(spec.text(), e))?;
            if let (Some(told), Some(measured)) = (told, &measured) {
                progress.tell(&told.line(spec.text(), &measured.report));
            }
            Ok(measured.map(|measured| WatchedPolicy { measured, watcher }))
        };
        parallel::map(specs.iter().collect(), self.threads(), one).into_iter().collect()
    }

    /// Returns the thresholds of excessive waits. Where that is a question of the baseline's waits,
    /// it is simulated for it; `None` where that was interrupted.
    fn excessive(
        &self,
        whole: &Workload,
        parts: &[Workload],
        specs: &[PolicySpec],
    ) -> Result<Option<Vec<Span>>, CommandFailure> {
        let thresholds = &self.args.common.excess;
        if !excess::need_baseline(thresholds) {
            return Ok(Some(excess::beside(thresholds, None)));
        }
        let baseline = policies::baseline(self.args, specs)?;
        let alone: Vec<PolicySpec> = specs.iter().filter(|s| s.text() == baseline).cloned().collect();
        let bench = CompareInputs { detailed: false, ..*self };
        let simulated = bench.simulate_all(whole, parts, &alone, &[], None)?.pop().flatten();
        Ok(simulated.map(|watched| excess::beside(thresholds, Some(&watched.measured.report))))
    }

    /// Returns the data of plots for every policy; empty unless requested. Which thread does what
    /// does not show.
    pub(super) fn details(&self, done: &mut FinishedPolicies, baseline: &str) -> Vec<PlotDetails> {
        if !self.detailed {
            return Vec::new();
        }
        let (common, batch) = (&self.args.common, self.args.batch as usize);
        let at = done.specs.iter().position(|s| s.text() == baseline);
        let rows = at.and_then(|at| done.watched[at].measured.report.jobs.take());
        let one = |i: usize, one: &mut WatchedPolicy| {
            let report = &mut one.measured.report;
            if Some(i) == at {
                report.jobs.clone_from(&rows);
                return details(common, report, (None, batch), one.watcher.take());
            }
            let details = details(common, report, (rows.as_deref(), batch), one.watcher.take());
            report.jobs = None;
            details
        };
        parallel::map(done.watched.iter_mut().collect(), self.threads(), one)
    }

    /// As many threads as were asked for, else as there are processors.
    pub(super) fn threads(&self) -> usize {
        let asked = self.args.threads.map(usize::from);
        asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}

/// Returns the mean number of waiting jobs while jobs arrive, by Little's law.
pub(crate) fn waiting(whole: &Workload, report: &Report) -> f64 {
    let (first, last) = whole.submits().unwrap_or_default();
    let span = (last - first).as_f64().max(1.0);
    report.measures.wait.mean.unwrap_or(0.0) * whole.len() as f64 / span
}

/// Report on each finished policy, for long comparisons.
pub(super) struct PolicyReporter {
    of: usize,
    done: AtomicUsize,
    /// The baseline with its mean wait and mean bounded slowdown.
    baseline: Option<(String, Option<f64>, Option<f64>)>,
}

impl PolicyReporter {
    fn new(specs: &[PolicySpec]) -> PolicyReporter {
        PolicyReporter { of: specs.len(), done: AtomicUsize::new(0), baseline: None }
    }

    fn against(&mut self, name: &str, report: &Report) {
        let measures = &report.measures;
        self.baseline = Some((name.to_string(), measures.wait.mean, measures.bounded_slowdown.mean));
    }

    fn line(&self, policy: &str, report: &Report) -> String {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let (wait, slowdown) = (report.measures.wait.mean, report.measures.bounded_slowdown.mean);
        let text = |value: Option<f64>, base: Option<f64>, show: &dyn Fn(f64) -> String| {
            let Some(value) = value else { return NONE.to_string() };
            match base.filter(|&base| base > 0.0) {
                Some(base) => format!("{} ({})", show(value), change(value / base - 1.0)),
                None => show(value),
            }
        };
        let (base_wait, base_slowdown) = self.baseline.as_ref().map_or((None, None), |base| (base.1, base.2));
        let wait = text(wait, base_wait, &duration);
        let slowdown = text(slowdown, base_slowdown, &|v| fixed(v, 2));
        let against = self.baseline.as_ref().map_or_else(String::new, |base| format!(", against {}", base.0));
        format!("{done} of {}: {policy}: mean wait {wait}, mean bounded slowdown {slowdown}{against}", self.of)
    }
}

/// The policies that are simulated now, said behind the progress bar: one may take a hundred times
/// as long as another.
struct PoliciesAtWork<'a> {
    names: Mutex<Vec<String>>,
    progress: &'a WorkProgress,
}

impl PoliciesAtWork<'_> {
    fn change(&self, change: impl FnOnce(&mut Vec<String>)) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut names);
        let told = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        self.progress.say(told);
    }
}
