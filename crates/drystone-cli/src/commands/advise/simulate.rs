//! Simulates candidates, several at a time.

use super::inputs::AdviseInputs;
use super::limits::Changer;
use crate::commands::compare::simulate::mean_waiting_jobs;
use crate::exit::CommandFailure;
use crate::input::WorkloadInput;
use crate::output::message;
use crate::parallel;
use crate::progress::WorkProgress;
use drystone::experiment::Experiment;
use drystone::metrics::{JobRow, MetricsConfig};
use drystone::model::{Job, Span};
use drystone::policy::PolicySpec;
use drystone::statistics::nearest_rank_quantile;
use drystone_advise::{CandidateSimulator, EndedJobs, PeriodFigures, PeriodObserver, Thresholds};
use drystone_report::number::format_duration;
use drystone_whatif::ChangeList;

/// Facts of the unchanged site, found before anything is tried.
pub(super) struct First {
    waits: Vec<f64>,
    pub(super) rows: Vec<JobRow>,
    /// Jobs that count, with their waits and run times, in the order of their ends.
    pub(super) ended: Vec<(Job, Span, Span)>,
    /// Jobs that wait on average.
    pub(super) waiting: f64,
    /// Jobs that waited at most.
    pub(super) most_waiting: u64,
}

impl First {
    /// The waits of the site as it is, in words.
    pub(super) fn format_sentence(&self) -> String {
        let mean = self.waits.iter().sum::<f64>() / self.waits.len().max(1) as f64;
        let longest = self.waits.last().copied().unwrap_or(0.0);
        format!("as it is: mean wait {}, longest {}", format_duration(mean), format_duration(longest))
    }

    /// The wait that so large a share of the jobs does not exceed, in seconds.
    pub(super) fn wait_percentile(&self, share: f64) -> Option<f64> {
        nearest_rank_quantile(&self.waits, share)
    }
}

/// Simulates the site as it is, job by job; `None` on cancellation.
pub(super) fn simulate_first(
    ground: &AdviseInputs<'_>,
    input: &mut WorkloadInput,
    policy: &PolicySpec,
) -> Result<Option<First>, CommandFailure> {
    if let Some(site) = &mut input.site {
        site.localise_policies([policy]);
    }
    let local_policy = input.localised_policy(policy)?;
    let progress = WorkProgress::new("simulating", "jobs", Some(input.workload.len() as u64));
    let config =
        MetricsConfig { selection: ground.selection, keep_jobs: true, weeks: false, ..MetricsConfig::light_config() };
    let uncounted_jobs = input.workload.circumstances().map(|circumstances| &circumstances.uncounted);
    let mut ended_jobs = EndedJobs::new(ground.selection, uncounted_jobs);
    let measurement = Experiment::new(&local_policy, &input.workload)
        .with_outages(Some(ground.outages))
        .with_division(input.pool_division())
        .feeding_back(ground.feedback)
        .with_metrics(config)
        .with_stop(ground.stop)
        .with_progress(&|jobs| progress.add_done(jobs))
        .run(&mut ended_jobs);
    let Some(outcome) = measurement.map_err(|e| CommandFailure::experiment_error(policy.text(), e))? else {
        return Ok(None);
    };
    let mean_queue = mean_waiting_jobs(&input.workload, &outcome.report);
    let most_waiting = outcome.report.queue.as_ref().map_or(u64::MAX, |queue| queue.arriving.max_waiting_jobs);
    let rows = outcome.report.jobs.unwrap_or_default();
    let counted_rows = rows.iter().filter(|row| row.counted && ground.periods.find_period(row.submit).is_some());
    let mut waits: Vec<f64> = counted_rows.map(|row| row.wait().as_f64()).collect();
    waits.sort_unstable_by(f64::total_cmp);
    Ok(Some(First { waits, rows, ended: ended_jobs.into_jobs(), waiting: mean_queue, most_waiting }))
}

/// A policy, and the change of the site that is made before.
struct AdviseTrial {
    spec: PolicySpec,
    change: Option<ChangeList>,
}

impl AdviseTrial {
    /// Reads a policy with a change on its second line, where it has one.
    fn from_text(text: &str) -> Result<AdviseTrial, CommandFailure> {
        let (policy, change) = match text.split_once('\n') {
            Some((policy, change)) => (policy, Some(change.parse().map_err(CommandFailure::caused_by)?)),
            None => (text, None),
        };
        Ok(AdviseTrial { spec: policy.parse()?, change })
    }
}

/// Simulator of candidates.
pub(super) struct CliBench<'a> {
    pub(super) ground: AdviseInputs<'a>,
    pub(super) input: &'a mut WorkloadInput,
    pub(super) thresholds: Thresholds,
    pub(super) threads: usize,
    pub(super) changer: &'a Changer,
}

impl CandidateSimulator for CliBench<'_> {
    type Error = CommandFailure;

    fn simulate(&mut self, policies: &[String], stage: &str) -> Result<Vec<Option<PeriodFigures>>, CommandFailure> {
        let trials = policies
            .iter()
            .map(|text| AdviseTrial::from_text(text))
            .collect::<Result<Vec<AdviseTrial>, CommandFailure>>()?;
        let specs: Vec<PolicySpec> = trials.iter().map(|trial| trial.spec.clone()).collect();
        if let Some(site) = &mut self.input.site {
            site.localise_policies(&specs);
        }
        let CliBench { ground, input, thresholds, threads, changer } = self;
        let (ground, input) = (*ground, &**input);
        let workload = &input.workload;
        let uncounted_jobs = workload.circumstances().map(|circumstances| &circumstances.uncounted);
        let progress = WorkProgress::new(stage, "jobs", Some((specs.len() * workload.len()) as u64));
        progress.set_message(format!(", {} simulations", specs.len()));
        let simulate_trial = |_: usize, AdviseTrial { spec, change }: &AdviseTrial| {
            if let Some(list) = change {
                return changer.sum_periods((spec.text(), list), (&ground, *thresholds), &progress);
            }
            let local_policy = input.localised_policy(spec)?;
            let mut watch = PeriodObserver::new(ground.figures, *thresholds, ground.periods, ground.selection)
                .without_jobs(uncounted_jobs);
            let outcome = Experiment::new(&local_policy, workload)
                .with_outages(Some(ground.outages))
                .with_division(input.pool_division())
                .feeding_back(ground.feedback)
                .for_metrics(&[], ground.selection)
                .with_stop(ground.stop)
                .with_progress(&|jobs| progress.add_done(jobs))
                .run(&mut watch)
                .map_err(|e| CommandFailure::experiment_error(spec.text(), e))?;
            Ok(outcome.map(|_| watch.into_sums()))
        };
        parallel::map(trials.iter().collect(), *threads, simulate_trial).into_iter().collect()
    }

    fn report_progress(&mut self, text: &str) {
        message::print_note(text);
    }
}
