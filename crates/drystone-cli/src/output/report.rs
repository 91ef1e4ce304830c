//! A report as tables, facts and columns: what `run` and `compare` print alike.

use super::columns::{self, OVERVIEW};
use super::document::{Document, DocumentTable};
use super::flat::FlatRow;
use super::message;
use super::number::{
    NONE, TimeUnit, fixed_or, format_count, format_duration, format_fixed, format_minutes, format_percent,
    format_plural, format_speed, in_unit,
};
use crate::meta::{ExperimentMeta, PolicyMeta, VERSION, WorkloadMeta};
use drystone::metrics::{
    Categorised, Disruptions, EXACT_LIMIT, Fairness, Kills, Measure, Metric, MetricNeeds, MetricUnit, Precision,
    PromisesKept, Report, ResourceUse, SearchEffort, Stalls, Summary,
};
use drystone::model::ResourceUnit;
use drystone_report::{PoolResult, Timing};
use std::fmt::Write;

pub(crate) fn input_columns(workload: &WorkloadMeta, policy: &PolicyMeta, experiment: &ExperimentMeta) -> FlatRow {
    let mut row = FlatRow::default();
    row.add_text("policy", &policy.text);
    row.add_text("parameters", policy.parameters.format_pairs());
    row.add_text("workload", &workload.name);
    row.add_text("workload_hash", &workload.hash);
    row.add_text("procs", workload.procs);
    row.add_text("settings", workload.settings.format_pairs());
    row.add_text("trim", &experiment.trim);
    row.add_text("each_month", experiment.each_month);
    row.add_text("seed", experiment.seed);
    if let Some(priorities) = &experiment.priorities {
        row.add_text("priorities", &priorities.hash);
    }
    if let Some(platform) = &experiment.platform {
        row.add_text("platform", &platform.hash);
    }
    if let Some(outages) = &experiment.outages {
        row.add_text("outages", &outages.hash);
    }
    if let Some(failures) = &experiment.failures {
        row.add_text("failures", failures);
    }
    if let Some(checkpoints) = &experiment.checkpoints {
        row.add_text("checkpoints", checkpoints);
    }
    if let Some(circumstances) = &experiment.circumstances {
        row.add_text("circumstances", &circumstances.hash);
    }
    if experiment.feedback {
        row.add_text("feedback", true);
    }
    row.add_text("drystone", VERSION);
    row
}

pub(crate) fn append_figures(row: &mut FlatRow, report: &Report, promises: PromisesKept) {
    row.add_text("jobs", report.trimmed.seen);
    row.add_text("jobs_counted", report.trimmed.kept);
    for resource in &report.resources {
        row.add_number(format!("utilisation_{}", resource.name), resource.utilisation);
    }
    let metric_inputs = (report, &promises);
    let add = |row: &mut FlatRow, metric: Metric| {
        if let Some(column) = metric.column_name() {
            row.add_number(column, metric.value_of(metric_inputs));
        }
    };
    for measure in Measure::ALL {
        Metric::STATISTICS.into_iter().for_each(|statistic| add(row, statistic(measure)));
    }
    if let Some(error) = largest_error(all_summaries(report)) {
        row.add_number("percentile_error", Some(error));
    }
    for (at, excess) in report.excessive.iter().enumerate() {
        let name = |suffix| format!("excess_{}_{suffix}", at + 1);
        row.add_number(name("threshold"), Some(excess.threshold.as_f64()));
        row.add_text(name("jobs"), excess.count);
        row.add_number(name("total"), Some(excess.total));
        row.add_number(name("mean"), excess.mean);
    }
    let is_measured = |metric: &Metric| {
        (report.disruptions.is_some() || !metric.needed_measurements().contains(&MetricNeeds::Disruptions))
            && (report.sizes.is_some() || !metric.needed_measurements().contains(&MetricNeeds::Sizes))
    };
    Metric::FIGURES.into_iter().filter(is_measured).for_each(|metric| add(row, metric));
}

/// The measures of each category as columns, a row each.
pub(crate) fn categories_as_rows(categories: &[Categorised]) -> impl Iterator<Item = FlatRow> + '_ {
    let category_pairs =
        categories.iter().flat_map(|scheme| scheme.categories.iter().map(move |category| (&scheme.scheme, category)));
    category_pairs.map(|(scheme, category)| {
        let mut row = FlatRow::default();
        row.add_text("scheme", scheme);
        row.add_text("category", &category.name);
        row.add_text("jobs_counted", category.measures.get(Measure::Wait).count);
        for measure in Measure::ALL {
            for metric in Metric::STATISTICS.map(|statistic| statistic(measure)) {
                if let Some(column) = metric.column_name() {
                    row.add_number(column, metric.of_measures(&category.measures));
                }
            }
        }
        row
    })
}

/// Returns the largest relative error of these summaries' percentiles and medians; `None` where all
/// are exact.
pub(crate) fn largest_error<'a>(summaries: impl IntoIterator<Item = &'a Summary>) -> Option<f64> {
    let error = |summary: &Summary| match summary.precision {
        Precision::Histogram { relative_error } => Some(relative_error),
        Precision::Exact | Precision::NotKept => None,
    };
    summaries.into_iter().filter_map(error).reduce(f64::max)
}

/// Adds a note under tables whose percentiles and medians are not exact.
pub(crate) fn say_if_inexact<'a>(document: &mut Document, summaries: impl IntoIterator<Item = &'a Summary>) {
    if let Some(error) = largest_error(summaries) {
        document.add_text(format!(
            "Medians and percentiles are within {} of the true ones where they are of more than {} values; the rest is exact.",
            format_percent(Some(error), 1),
            format_count(EXACT_LIMIT as u64)
        ));
    }
}

pub(crate) fn all_summaries(report: &Report) -> impl Iterator<Item = &Summary> {
    Measure::ALL.into_iter().map(|measure| report.measures.get(measure))
}

/// The metric that is one statistic of a measure.
type StatisticOf = fn(Measure) -> Metric;

/// The columns of [`measure_table`]: every statistic.
const STATISTICS: [(&str, StatisticOf); Metric::STATISTICS.len()] = [
    ("mean", Metric::Mean),
    ("median", Metric::Median),
    ("deviation", Metric::Deviation),
    ("p90", Metric::P90),
    ("p95", Metric::P95),
    ("p98", Metric::P98),
    ("p99", Metric::P99),
    ("max", Metric::Max),
];

/// The measures of a report, a row each.
pub(crate) fn measure_table(report: &Report) -> DocumentTable {
    let names = STATISTICS.iter().map(|(name, _)| *name);
    let mut table = DocumentTable::new([""].into_iter().chain(names).chain(["worst job"]));
    for measure in Measure::ALL {
        let in_minutes = measure.unit() == MetricUnit::Seconds;
        let name = if in_minutes { format!("{}, min", measure.name()) } else { measure.name().to_string() };
        let show = |value| if in_minutes { format_minutes(value) } else { fixed_or(value, 2) };
        let worst = report.worst.iter().find(|w| w.measure == measure);
        let mut row = vec![name];
        row.extend(STATISTICS.iter().map(|(_, statistic)| show(statistic(measure).value_of(report))));
        row.push(worst.map_or_else(|| NONE.to_string(), |w| w.number.to_string()));
        table.add_row(row.into_iter().map(Into::into).collect());
    }
    table
}

/// Waits, response times and slowdowns, a row each, with few columns.
pub(crate) fn main_measures(report: &Report) -> DocumentTable {
    let statistics: [(&str, StatisticOf); 4] =
        [("mean", Metric::Mean), ("median", Metric::Median), ("95% within", Metric::P95), ("longest", Metric::Max)];
    let mut table = DocumentTable::new([""].into_iter().chain(statistics.map(|(name, _)| name)));
    for measure in [Measure::Wait, Measure::Response, Measure::BoundedSlowdown] {
        let unit = TimeUnit::for_seconds(Metric::Mean(measure).value_of(report).unwrap_or(0.0));
        let in_time = measure.unit() == MetricUnit::Seconds;
        let name = if in_time { format!("{}, {}", measure.name(), unit.name()) } else { measure.name().to_string() };
        let show = |value| if in_time { unit.format_seconds(value) } else { fixed_or(value, 1) };
        let mut row = vec![name];
        row.extend(statistics.iter().map(|(_, statistic)| show(statistic(measure).value_of(report))));
        table.add_row(row.into_iter().map(Into::into).collect());
    }
    table
}

pub(crate) fn describe_search(search: &SearchEffort) -> Vec<(String, String)> {
    let per = |sum: u64| format_fixed(sum as f64 / search.searches as f64, 1);
    let facts = [
        ("searches", format_count(search.searches)),
        ("nodes per search", per(search.nodes)),
        ("paths per search", per(search.paths)),
        ("improvements per search", per(search.improvements)),
        (
            "exhausted: nothing better was left",
            format_percent(Some(search.exhausted as f64 / search.searches as f64), 1),
        ),
    ];
    facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

/// The other figures of a report, for people.
pub(crate) fn report_facts(
    report: &Report,
    promises: PromisesKept,
    stalls: Option<&Stalls>,
    timing: Option<Timing>,
) -> Vec<(String, String)> {
    let mut facts: Vec<(&str, String)> = vec![
        (
            "utilisation",
            format!(
                "{} over {}",
                format_percent(report.machine.utilisation, 1),
                format_duration(report.machine.busy_time().as_f64())
            ),
        ),
        ("utilisation in the period", format_percent(report.machine.period_utilisation, 1)),
    ];
    // Trimmed jobs wait in the queue like any other.
    let jobs_suffix = if report.trimmed.kept < report.trimmed.seen { ", of all jobs" } else { "" };
    if let Some(queue) = &report.queue {
        let q = &queue.arriving;
        facts.push((
            "waiting jobs",
            format!(
                "{} on average, {} at most{jobs_suffix}",
                fixed_or(q.mean_waiting_jobs, 1),
                format_count(q.max_waiting_jobs)
            ),
        ));
        facts.push(("loss of capacity", format_percent(q.loss_of_capacity, 1) + jobs_suffix));
    }
    if let Some(disruptions) = &report.disruptions {
        facts.extend(describe_disruptions(disruptions, report.machine.work));
    }
    if !report.kills.is_none() {
        facts.push(("jobs killed", describe_kills(&report.kills)));
    }
    if report.suspensions.total > 0 {
        facts.push((
            "suspensions",
            format!("{} of {}", format_count(report.suspensions.total), format_plural(report.suspensions.jobs, "job")),
        ));
    }
    facts.push(("promises", promises_text(promises) + jobs_suffix));
    if let Some(p) = &report.predictability {
        let reservations = if p.difference.count == 0 {
            "no job waited with one".to_string()
        } else {
            format!(
                "{} of jobs waited with one; |start - first reservation| {} on average, {} in the median",
                format_percent(p.reservation_rate, 1),
                p.difference.mean.map_or_else(|| "-".to_string(), format_duration),
                p.difference.median.map_or_else(|| "-".to_string(), format_duration),
            )
        };
        facts.push(("reservations", reservations));
        if let (Some(estimate), Some(procs)) = (p.reserved_estimate.mean, p.reserved_procs.mean) {
            facts.push((
                "jobs with a reservation",
                format!("estimate {} and {} processors on average", format_duration(estimate), format_fixed(procs, 1)),
            ));
        }
        facts.push(("prediction accuracy", format!(
            "{} over a job's life, {} at arrival; {} of jobs ran longer than first predicted; {} corrections per job",
            format_percent(p.accuracy.mean, 1),
            format_percent(p.first_accuracy.mean, 1),
            format_percent(p.under_predicted_rate, 1),
            fixed_or(p.corrections.mean, 2),
        )));
    }
    if let Some(stalls) = stalls {
        let mean = |value: Option<f64>| value.map_or_else(|| "-".to_string(), format_duration);
        facts.push((
            "heel and toe",
            format!(
                "{} of jobs with a reservation were stalled, {} on average, by {} thieves",
                format_percent(stalls.rate, 1),
                mean(stalls.stall.mean),
                fixed_or(stalls.thieves.mean, 1)
            ),
        ));
    }
    if let Some(f) = &report.fairness {
        facts.push(("fairness", fairness_text(f, !report.resources.is_empty())));
    }
    let extra_position = facts.len();
    if let Some(timing) = timing {
        facts.push(("simulation", format!("{} jobs/s", format_speed(timing.jobs_per_second))));
    }
    let mut facts: Vec<_> = facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    facts.splice(extra_position..extra_position, wordless_metrics(report, promises));
    // Beside that of processors.
    facts.splice(
        2..2,
        report.resources.iter().map(|resource| (format!("utilisation of {}", resource.name), format_usage(resource))),
    );
    facts
}

/// The use of a resource beyond processors, for people.
fn format_usage(resource: &ResourceUse) -> String {
    let total = match (resource.average, resource.unit) {
        (None, ResourceUnit::Count) => format_count(resource.total),
        (Some(average), ResourceUnit::Count) => format!("{} on average", format_fixed(average, 1)),
        (None, ResourceUnit::Kilobytes) => resource.unit.format_amount(resource.total),
        (Some(average), ResourceUnit::Kilobytes) => {
            format!("{} on average", resource.unit.format_amount(average as u64))
        }
    };
    format!(
        "{} of {total}; {} for some of it",
        format_percent(resource.utilisation, 1),
        format_plural(resource.jobs, "job") + if resource.jobs == 1 { " asks" } else { " ask" }
    )
}

/// Metrics that [`report_facts`] puts into words, or leaves to CSV and JSON.
const TOLD: [Metric; 45] = [
    Metric::ExcessJobs,
    Metric::ExcessTotal,
    Metric::ExcessMean,
    Metric::Killed,
    Metric::WorkKilled,
    Metric::MakespanUtilisation,
    Metric::Utilisation,
    Metric::Makespan,
    Metric::LossOfCapacity,
    Metric::WaitingJobs,
    Metric::Suspensions,
    Metric::Promised,
    Metric::BrokenPromises,
    Metric::WorstDelay,
    Metric::Accuracy,
    Metric::FirstAccuracy,
    Metric::PredictionRate,
    Metric::UnderPredictedRate,
    Metric::Corrections,
    Metric::CorrectionsDeviation,
    Metric::ReservationRate,
    Metric::ReservationError,
    Metric::ReservationErrorMedian,
    Metric::ReservationErrorDeviation,
    Metric::ReservedEstimate,
    Metric::ReservedProcs,
    Metric::CheckpointWork,
    Metric::Waste,
    Metric::DelayRate,
    Metric::Delay,
    Metric::DelayMedian,
    Metric::DelayDeviation,
    Metric::Fairness,
    Metric::JobFairness,
    Metric::DominantFairness,
    Metric::GpuUtilisation,
    Metric::MemoryUtilisation,
    Metric::EligibleWait,
    Metric::EligibleWaitP90,
    Metric::CapacityUp,
    Metric::Hits,
    Metric::Requeued,
    Metric::Lost,
    Metric::WorkLost,
    Metric::ExcusedPromises,
];

/// Metrics without words of their own: a new one is shown by its name until it has some.
fn wordless_metrics(report: &Report, promises: PromisesKept) -> Vec<(String, String)> {
    let has_words =
        |metric: &Metric| TOLD.contains(metric) || metric.needed_measurements().contains(&MetricNeeds::Sizes);
    let unworded_metrics = Metric::FIGURES.into_iter().filter(|metric| !has_words(metric));
    unworded_metrics
        .map(|metric| (metric.name(), in_unit(metric.value_of((report, &promises)), metric.unit())))
        .collect()
}

/// Describes jobs that were ended before their time, for people.
fn describe_kills(kills: &Kills) -> String {
    let mut causes = Vec::new();
    if kills.at_limit > 0 {
        causes.push(format!("{} at their limit", format_count(kills.at_limit)));
    }
    if kills.cancelled > 0 {
        causes.push(format!("{} cancelled", format_count(kills.cancelled)));
    }
    format!("{}; {} processor-hours of work thrown away", causes.join(", "), format_fixed(kills.work / 3_600.0, 1))
}

fn fairness_text(fairness: &Fairness, has_resources: bool) -> String {
    let mut text = format!(
        "Jain's index {} over jobs, {} over users' means",
        fixed_or(fairness.jobs, 3),
        fixed_or(fairness.users, 3)
    );
    if let Some(dominant) = fairness.dominant.filter(|_| has_resources) {
        let _ = write!(text, ", {} over users' dominant shares", format_fixed(dominant, 3));
    }
    if let (Some(user), Some(slowdown)) = (fairness.worst_user, fairness.worst_user_slowdown) {
        let _ = write!(text, "; worst off: user {user}, bounded slowdown {}", format_fixed(slowdown, 1));
    }
    if let Some(overtaken) = fairness.overtaken {
        let _ = write!(text, "; {} of jobs overtaken", format_percent(Some(overtaken), 1));
    }
    text
}

/// Describes the effects of outages and circumstances, for people.
fn describe_disruptions(disruptions: &Disruptions, work: f64) -> Vec<(&'static str, String)> {
    let d = disruptions;
    let mut facts = Vec::new();
    if d.down > 0.0 || d.hits > 0 {
        facts.push((
            "capacity that was up",
            format!("{}; utilisation is a share of it", format_percent(d.capacity_up, 2)),
        ));
        let hours = d.work_lost / 3_600.0;
        facts.push((
            "hits by outages",
            format!(
                "{}; {} waited again, {} ended for good; {} processor-hours of work lost",
                format_count(d.hits),
                format_plural(d.requeued, "job"),
                format_count(d.lost),
                format_fixed(hours, 1)
            ),
        ));
    }
    if d.checkpoint_work > 0.0 {
        facts.push((
            "checkpoint overhead",
            format!(
                "{} processor-hours; with the work lost {} of what jobs held",
                format_fixed(d.checkpoint_work / 3_600.0, 1),
                format_percent(d.wasted_share(work), 1)
            ),
        ));
    }
    if d.held > 0 {
        facts.push((
            "wait since eligible",
            format!(
                "{} on average; {} held back for some time",
                format_duration(d.eligible_wait.mean.unwrap_or(0.0)),
                format_plural(d.held, "job")
            ),
        ));
    }
    if d.found > 0 {
        facts.push(("running when it began", format_plural(d.found, "job")));
    }
    if d.left > 0 {
        facts.push(("never eligible", format_plural(d.left, "job")));
    }
    facts
}

fn promises_text(promises: PromisesKept) -> String {
    let PromisesKept { promised, broken, excused, worst } = promises;
    let excuse = match excused {
        0 => String::new(),
        _ => format!("; {} more not kept because of outages or of jobs that came back", format_count(excused)),
    };
    match worst {
        _ if promised == 0 => "none were made".to_string(),
        None if excused > 0 => format!("{} made, none broken by the policy{excuse}", format_count(promised)),
        None => format!("{} made, all kept", format_count(promised)),
        Some(worst) => format!(
            "{} made, {} broken, the worst by {}{excuse}",
            format_count(promised),
            format_count(broken),
            format_duration(worst.delay().as_f64())
        ),
    }
}

pub(crate) fn describe_counted_jobs(report: &Report) -> String {
    let t = report.trimmed;
    if t.kept == t.seen {
        return format!("all {}", format_count(t.seen));
    }
    let dropped_note = match t.dropped_found {
        0 => String::new(),
        job_count => format!(", {} running when it began", format_count(job_count)),
    };
    let unknown = match t.dropped_uncounted {
        0 => String::new(),
        jobs => format!(", {} of unknown run time", format_count(jobs)),
    };
    format!(
        "{} of {}; left out: {} early, {} late, {} by status{dropped_note}{unknown}",
        format_count(t.kept),
        format_count(t.seen),
        format_count(t.dropped_early),
        format_count(t.dropped_late),
        format_count(t.dropped_status)
    )
}

/// Warns where all jobs are trimmed away, so that nothing is measured. Quiet commands also warn:
/// their output may then be dashes alone.
pub(crate) fn warn_if_none_counts(report: &Report) {
    if report.trimmed.kept == 0 {
        message::print_loud_warning(&format!(
            "none of {} counts ({}): nothing is measured",
            format_plural(report.trimmed.seen, "job"),
            report.selection
        ));
    }
}

/// Lists the inputs of a result, for people.
pub(crate) fn determined_facts(workload: &WorkloadMeta, experiment: &ExperimentMeta) -> Vec<(String, String)> {
    let mut facts = vec![
        ("drystone", VERSION.to_string()),
        ("workload hash", workload.hash.clone()),
        ("settings", workload.settings.format_pairs()),
    ];
    if let Some(cleaning) = workload.cleaning.format_rules() {
        facts.push(("cleaning", cleaning));
    }
    if let Some(study) = &experiment.study {
        facts.push(("study", format!("{} sets {}; explicit options win", study.name, study.sets.format_pairs())));
    }
    facts.push(("trimming", experiment.trim.clone()));
    facts.push(("seed", experiment.seed.to_string()));
    if let Some(priorities) = &experiment.priorities {
        facts.push(("priorities", format!("{} ({})", priorities.file, priorities.hash)));
    }
    if let Some(platform) = &experiment.platform {
        facts.push(("platform", format!("{} ({})", platform.file, platform.hash)));
    }
    if let Some(outages) = &experiment.outages {
        facts.push(("outages", format!("{} ({})", outages.file, outages.hash)));
    }
    if let Some(failures) = &experiment.failures {
        facts.push(("failures", failures.clone()));
    }
    if let Some(checkpoints) = &experiment.checkpoints {
        facts.push(("checkpoints", checkpoints.clone()));
    }
    if let Some(circumstances) = &experiment.circumstances {
        facts.push(("circumstances", format!("{} ({})", circumstances.file, circumstances.hash)));
    }
    if experiment.feedback {
        facts.push((
            "feedback",
            "jobs arrive when those that they depend on have ended, and their users have thought".to_string(),
        ));
    }
    if experiment.each_month {
        facts.push(("months", "each simulated apart, from an empty machine, and trimmed by itself".to_string()));
    }
    facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

pub(crate) fn category_table(breakdown: &Categorised) -> DocumentTable {
    let (heads, beside) = columns::table_heads(&["category", "jobs"], &OVERVIEW);
    let mut table = DocumentTable::new(heads).with_beside_columns(&beside);
    for category in &breakdown.categories {
        let mut row = vec![category.name.clone(), format_count(category.measures.get(Measure::Wait).count)];
        row.extend(OVERVIEW.iter().map(|column| (column.show)(column.metric.of_measures(&category.measures))));
        table.add_row(row.into_iter().map(Into::into).collect());
    }
    table
}

pub(crate) fn pool_columns(pool: &PoolResult) -> FlatRow {
    let mut row = FlatRow::default();
    row.add_text("pool", &pool.name);
    row.add_text("pool_procs", pool.procs);
    append_figures(&mut row, &pool.report, PromisesKept::default());
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::flat::FlatRows;
    use drystone::metrics::{Collector, MetricsConfig, Scope};
    use drystone::model::{Machine, Provenance};

    fn folded(relative_error: f64) -> Summary {
        Summary { precision: Precision::Histogram { relative_error }, ..Summary::default() }
    }

    #[test]
    fn what_comes_from_a_histogram_says_so() {
        let render = |summaries: &[Summary]| {
            let mut document = Document::default();
            say_if_inexact(&mut document, summaries);
            document.render_plain()
        };
        assert_eq!(render(&[Summary::default(), Summary { precision: Precision::NotKept, ..Summary::default() }]), "");
        let text = render(&[folded(0.001), folded(0.0039), Summary::default()]);
        assert!(text.contains("within 0.4% of the true ones where they are of more than 1,048,576 values"), "{text}");
    }
    #[test]
    fn rows_say_so_in_a_column() {
        let scope = Scope::new(Machine::new(1), 0, Default::default(), &Provenance::default());
        let mut report = Collector::new(scope, MetricsConfig::default()).finish();
        let columns = |report: &Report| {
            let (mut row, mut rows) = (FlatRow::default(), FlatRows::default());
            append_figures(&mut row, report, PromisesKept::default());
            rows.push(row);
            String::from_utf8(rows.render_csv().expect("rows")).expect("text")
        };
        assert!(!columns(&report).contains("percentile_error"));
        report.measures.wait = folded(0.001);
        assert!(columns(&report).contains("max,percentile_error,utilisation"), "{}", columns(&report));
    }
}
