//! Simulates every policy of a comparison, several at a time.

use super::bench::CompareInputs;
use super::{calibrate, candidates, policies};
use crate::exit::CommandFailure;
use crate::input;
use crate::measuring::{metrics_config, plot_details};
use crate::output::number::{NONE, format_change, format_duration, format_fixed};
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
    fn from_watched(specs: Vec<PolicySpec>, runs: Vec<Option<WatchedPolicy>>) -> FinishedPolicies {
        let mut finished_policies = FinishedPolicies {
            specs: Vec::new(),
            watched: Vec::new(),
            left_out: Vec::new(),
            equals: Vec::new(),
            too_long: Vec::new(),
        };
        for (spec, run) in specs.into_iter().zip(runs) {
            match run {
                Some(run) => {
                    finished_policies.specs.push(spec);
                    finished_policies.watched.push(run);
                }
                None => finished_policies.left_out.push(spec.text().to_string()),
            }
        }
        finished_policies
    }

    /// Leaves one of each group of policies that make the same schedule, the first; the baseline
    /// stays by itself.
    pub(super) fn merge_equals(&mut self, baseline: &str) {
        let (mut specs, mut distinct_watched): (Vec<PolicySpec>, Vec<WatchedPolicy>) = (Vec::new(), Vec::new());
        let mut equals: Vec<Vec<String>> = Vec::new();
        for (spec, run) in std::mem::take(&mut self.specs).into_iter().zip(std::mem::take(&mut self.watched)) {
            let is_same_schedule = |(kept_spec, kept_run): (&PolicySpec, &WatchedPolicy)| {
                kept_spec.text() != baseline
                    && spec.text() != baseline
                    && same_schedule(&kept_run.measured, &run.measured)
            };
            match specs.iter().zip(&distinct_watched).position(is_same_schedule) {
                Some(at) => equals[at].push(spec.text().to_string()),
                None => {
                    specs.push(spec);
                    distinct_watched.push(run);
                    equals.push(Vec::new());
                }
            }
        }
        (self.specs, self.watched, self.equals) = (specs, distinct_watched, equals);
    }
}

/// Returns whether two simulations have equal results in every week and by every measure,
/// predictions aside.
fn same_schedule(a: &ExperimentResult, b: &ExperimentResult) -> bool {
    let (a, b) = (&a.report, &b.report);
    a.measures == b.measures && a.weeks == b.weeks && a.machine == b.machine && a.suspensions == b.suspensions
}

impl CompareInputs<'_> {
    pub(super) fn has_named_policies(&self) -> bool {
        !self.args.policy.is_empty()
    }

    /// Simulates the baseline and then the others, the cheapest first, as far as there is time;
    /// `None` if even the baseline was cancelled.
    pub(super) fn simulate_policies(
        &self,
        whole: &Workload,
        parts: &[Workload],
        specs: Vec<PolicySpec>,
    ) -> Result<Option<FinishedPolicies>, CommandFailure> {
        let Some(excessive) = self.excessive_thresholds(whole, parts, &specs)? else { return Ok(None) };
        let baseline = policies::baseline_text(self.args, &specs)?;
        let Some(first) = specs.iter().position(|spec| spec.text() == baseline) else { return Ok(None) };
        let mut reporter = PolicyReporter::new(&specs);
        let alone = std::slice::from_ref(&specs[first]);
        // A site's jobs are held against what was recorded of them.
        let keep = CompareInputs { keep: self.keep || self.input.site.is_some(), ..*self };
        let Some(base) = keep.simulate_all(whole, parts, alone, &excessive, Some(&reporter))?.pop().flatten() else {
            return Ok(None);
        };
        reporter.set_baseline(&baseline, &base.measured.report);
        let mean_queue = mean_waiting_jobs(whole, &base.measured.report);
        let is_unasked = !self.has_named_policies() && !self.args.all;
        let long = |at: &usize| is_unasked && candidates::takes_long(&specs[*at], whole.len(), mean_queue);
        let (too_long, other_places): (Vec<usize>, Vec<usize>) =
            (0..specs.len()).filter(|&at| at != first).partition(long);
        let names = too_long.iter().map(|&at| specs[at].text().to_string()).collect();
        let (places, inexpensive) = self.in_order(whole, parts, &specs, &other_places, (&base.measured, mean_queue));
        let mut watched_policies: Vec<Option<WatchedPolicy>> = specs.iter().map(|_| None).collect();
        watched_policies[first] = Some(base);
        let other_places = CompareInputs { spares: !self.has_named_policies(), ..*self };
        for (at, watched) in
            places.iter().zip(other_places.simulate_all(whole, parts, &inexpensive, &excessive, Some(&reporter))?)
        {
            watched_policies[*at] = watched;
        }
        let tried_policies =
            specs.into_iter().zip(watched_policies).enumerate().filter(|(at, _)| !too_long.contains(at));
        let (specs, watched_policies): (Vec<PolicySpec>, Vec<Option<WatchedPolicy>>) =
            tried_policies.map(|(_, pair)| pair).unzip();
        Ok(Some(FinishedPolicies { too_long: names, ..FinishedPolicies::from_watched(specs, watched_policies) }))
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
        let ordered_specs: Vec<PolicySpec> = places.iter().map(|&at| specs[at].clone()).collect();
        let estimates = if baseline.took < WORTH_A_TRIAL {
            ordered_specs.iter().map(|spec| candidates::estimate_cost(spec, whole.len(), waiting)).collect()
        } else {
            let estimates = calibrate::estimate_costs(self, parts, &ordered_specs, waiting);
            calibrate::announce_duration(&ordered_specs, &estimates, self.thread_count());
            estimates
        };
        // What a site can run comes before what only shows bounds, unless it takes long: what is
        // stopped early has what matters.
        let early =
            |spec: &PolicySpec| candidates::is_candidate(spec) && !candidates::takes_long(spec, whole.len(), waiting);
        let (mut order, rest): (Vec<usize>, Vec<usize>) = calibrate::cheapest_first(&estimates)
            .into_iter()
            .partition(|&i| self.has_named_policies() || early(&ordered_specs[i]));
        order.extend(rest);
        (order.iter().map(|&i| places[i]).collect(), order.iter().map(|&i| ordered_specs[i].clone()).collect())
    }

    /// Simulates every policy, several at a time. The distribution over threads does not show in
    /// the results. `None` for those cancelled before their end.
    pub(super) fn simulate_all(
        &self,
        whole: &Workload,
        parts: &[Workload],
        specs: &[PolicySpec],
        excessive: &[Span],
        reporter: Option<&PolicyReporter>,
    ) -> Result<Vec<Option<WatchedPolicy>>, CommandFailure> {
        let common = &self.args.common;
        let progress = WorkProgress::new("simulating", "jobs", Some((specs.len() * whole.len()) as u64));
        let at_work = PoliciesAtWork { names: Mutex::default(), progress: &progress };
        let simulate_spec = |_: usize, spec: &PolicySpec| {
            at_work.update_names(|names| names.push(spec.text().to_string()));
            let mut watcher = self.detailed.then(|| Watcher::new(whole.machine().procs));
            let local_policy = self.input.localised_policy(spec)?;
            let measurement = Experiment::new(&local_policy, whole)
                .in_parts(parts)
                .on_platform(self.platform)
                .with_outages(Some(self.outages))
                .with_division(self.input.pool_division())
                .feeding_back(self.args.common.real.feedback)
                .with_priorities(self.priorities.filter(|p| input::check_priorities(spec, p, whole).is_ok()))
                .with_grades(self.priorities)
                .with_power_series(self.input.series.as_deref())
                .with_metrics(MetricsConfig {
                    classes: true,
                    ..metrics_config(common, self.input.job_selection(common), excessive, self.keep, self.detailed)
                })
                .with_stop(self.stop)
                .with_progress(&|jobs| progress.add_done(jobs))
                .run(&mut watcher);
            at_work.update_names(|names| names.retain(|name| name != spec.text()));
            // Months that are simulated apart overlap in time.
            let watcher = watcher.filter(|_| parts.len() == 1);
            if let Err(ExperimentError::Simulation(SimulationError::TooLittlePower { number, needs, left, .. })) =
                &measurement
                && self.spares
            {
                message::print_note(&format!(
                    "left out, since under it a job would wait for ever for power (job {number} for {needs} W of {left} W): {}",
                    spec.text()
                ));
                return Ok(None);
            }
            let measurement = measurement.map_err(|e| CommandFailure::experiment_error(spec.text(), e))?;
            if let (Some(scale_report), Some(simulation)) = (reporter, &measurement) {
                progress.print_notice(&scale_report.format_line(spec.text(), &simulation.report));
            }
            Ok(measurement.map(|simulation| WatchedPolicy { measured: simulation, watcher }))
        };
        parallel::map(specs.iter().collect(), self.thread_count(), simulate_spec).into_iter().collect()
    }

    /// Returns the thresholds of excessive waits. Where that is a question of the baseline's waits,
    /// it is simulated for it; `None` where that was interrupted.
    fn excessive_thresholds(
        &self,
        whole: &Workload,
        parts: &[Workload],
        specs: &[PolicySpec],
    ) -> Result<Option<Vec<Span>>, CommandFailure> {
        let thresholds = &self.args.common.excess;
        if !excess::need_baseline(thresholds) {
            return Ok(Some(excess::relative_thresholds(thresholds, None)));
        }
        let baseline = policies::baseline_text(self.args, specs)?;
        let alone: Vec<PolicySpec> = specs.iter().filter(|s| s.text() == baseline).cloned().collect();
        let bench = CompareInputs { detailed: false, ..*self };
        let baseline_result = bench.simulate_all(whole, parts, &alone, &[], None)?.pop().flatten();
        Ok(baseline_result.map(|run| excess::relative_thresholds(thresholds, Some(&run.measured.report))))
    }

    /// Returns the data of plots for every policy; empty unless requested. Which thread does what
    /// does not show.
    pub(super) fn plot_details(&self, simulations: &mut FinishedPolicies, baseline: &str) -> Vec<PlotDetails> {
        if !self.detailed {
            return Vec::new();
        }
        let (common, batch) = (&self.args.common, self.args.batch as usize);
        let at = simulations.specs.iter().position(|s| s.text() == baseline);
        let rows = at.and_then(|at| simulations.watched[at].measured.report.jobs.take());
        let policy_details = |i: usize, run: &mut WatchedPolicy| {
            let report = &mut run.measured.report;
            if Some(i) == at {
                report.jobs.clone_from(&rows);
                return plot_details(common, report, (None, batch), run.watcher.take());
            }
            let details = plot_details(common, report, (rows.as_deref(), batch), run.watcher.take());
            report.jobs = None;
            details
        };
        parallel::map(simulations.watched.iter_mut().collect(), self.thread_count(), policy_details)
    }

    /// As many threads as were asked for, else as there are processors.
    pub(super) fn thread_count(&self) -> usize {
        let asked_threads = self.args.threads.map(usize::from);
        asked_threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}

/// Returns the mean number of waiting jobs while jobs arrive, by Little's law.
pub(crate) fn mean_waiting_jobs(whole: &Workload, report: &Report) -> f64 {
    let (first, last) = whole.submit_range().unwrap_or_default();
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

    fn set_baseline(&mut self, name: &str, report: &Report) {
        let measures = &report.measures;
        self.baseline = Some((name.to_string(), measures.wait.mean, measures.bounded_slowdown.mean));
    }

    fn format_line(&self, policy: &str, report: &Report) -> String {
        let done_count = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let (wait, slowdown) = (report.measures.wait.mean, report.measures.bounded_slowdown.mean);
        let text = |value: Option<f64>, base: Option<f64>, show: &dyn Fn(f64) -> String| {
            let Some(value) = value else { return NONE.to_string() };
            match base.filter(|&base| base > 0.0) {
                Some(base) => format!("{} ({})", show(value), format_change(value / base - 1.0)),
                None => show(value),
            }
        };
        let (base_wait, base_slowdown) = self.baseline.as_ref().map_or((None, None), |base| (base.1, base.2));
        let wait = text(wait, base_wait, &format_duration);
        let slowdown = text(slowdown, base_slowdown, &|v| format_fixed(v, 2));
        let against = self.baseline.as_ref().map_or_else(String::new, |base| format!(", against {}", base.0));
        format!("{done_count} of {}: {policy}: mean wait {wait}, mean bounded slowdown {slowdown}{against}", self.of)
    }
}

/// The policies that are simulated now, said behind the progress bar: one may take a hundred times
/// as long as another.
struct PoliciesAtWork<'a> {
    names: Mutex<Vec<String>>,
    progress: &'a WorkProgress,
}

impl PoliciesAtWork<'_> {
    fn update_names(&self, change: impl FnOnce(&mut Vec<String>)) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut names);
        let name_list = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        self.progress.set_message(name_list);
    }
}
