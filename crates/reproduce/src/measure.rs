//! Measures that can fill a column.

use drystone::experiment::ExperimentResult as Run;
use drystone::log::describe::{WorkloadDescription, describe_workload};
use drystone::metrics::{
    Categorised, JobRow, Measure, Measures, Metric, Report, Scheme, SlowdownRatios, Stalls, Summary, measures,
};
use drystone::model::Workload;
use drystone::statistics::arithmetic_mean;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A measure by name, in some cases of one class only: `bounded-slowdown-kettimuthu@sixteen/3`,
/// `ratio@4`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MeasureOfClass {
    name: MeasureName,
    class: Option<(Scheme, i64)>,
}

/// Name of a measure: as a study printed it, or as the catalogue of metrics has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MeasureName {
    /// Its place in [`ALL`].
    Printed(usize),
    Metric(Metric),
}

#[derive(Clone, Copy, Debug)]
enum MeasureSource {
    /// The workload itself.
    Log(fn(&WorkloadDescription) -> Option<f64>),
    /// The share of a class of jobs, in percent.
    Share,
    /// A schedule.
    Metric(Metric, In),
    /// A class of jobs of a schedule.
    Class(Metric),
    /// Job rows of a schedule, all of them.
    Rows(fn(&[JobRow]) -> Option<f64>),
    /// Job rows of the months of a log, each simulated apart; the number is a job's place in its
    /// month.
    Months(fn(usize) -> bool),
    /// Delays of queue heads by other jobs.
    Stalls(fn(&Stalls) -> Option<f64>),
    /// A schedule and that of the baseline, by the paper's ratio.
    Ratio(fn(&SlowdownRatios) -> Option<f64>),
    /// A schedule's value divided by that of the baseline.
    Relative(Metric),
    /// A metric of a class of jobs, relative to the baseline.
    RelativeClass(Metric),
    /// A price, of no log.
    Price,
}

/// Unit of a printed value, where it differs from that of the metric.
#[derive(Clone, Copy, Debug)]
enum In {
    Same,
    Minutes,
    Hours,
    Percent,
}

impl In {
    fn convert_value(self, value: f64) -> f64 {
        match self {
            In::Same => value,
            In::Minutes => value / 60.0,
            In::Hours => value / 3600.0,
            In::Percent => value * 100.0,
        }
    }
}

fn in_minutes(seconds: Option<f64>) -> Option<f64> {
    seconds.map(|s| In::Minutes.convert_value(s))
}

fn in_percent(share: Option<f64>) -> Option<f64> {
    share.map(|s| In::Percent.convert_value(s))
}

fn variation_coefficient(summary: &Summary) -> Option<f64> {
    Some(summary.deviation? / summary.mean?)
}

fn mean_of(rows: &[JobRow], of: impl Fn(&JobRow) -> f64) -> Option<f64> {
    arithmetic_mean(rows.iter().map(of))
}

fn row_slowdown(row: &JobRow) -> f64 {
    measures::bounded_slowdown(row.wait(), row.ran)
}

const ALL: &[(&str, MeasureSource)] = &[
    ("jobs", MeasureSource::Log(|d| Some(d.jobs as f64))),
    ("procs", MeasureSource::Log(|d| Some(f64::from(d.procs)))),
    ("load-percent", MeasureSource::Log(|d| in_percent(d.load))),
    ("runtime-mean-min", MeasureSource::Log(|d| in_minutes(d.run_times.summary.mean))),
    ("runtime-mean-s", MeasureSource::Log(|d| d.run_times.summary.mean)),
    ("runtime-median-s", MeasureSource::Log(|d| d.run_times.summary.median)),
    ("runtime-cv", MeasureSource::Log(|d| variation_coefficient(&d.run_times.summary))),
    ("procs-mean", MeasureSource::Log(|d| d.sizes.summary.mean)),
    ("procs-median", MeasureSource::Log(|d| d.sizes.summary.median)),
    ("procs-cv", MeasureSource::Log(|d| variation_coefficient(&d.sizes.summary))),
    ("share-percent", MeasureSource::Share),
    ("wait-mean-min", MeasureSource::Metric(Metric::Mean(Measure::Wait), In::Minutes)),
    ("wait-max-h", MeasureSource::Metric(Metric::Max(Measure::Wait), In::Hours)),
    ("response-mean-s", MeasureSource::Metric(Metric::Mean(Measure::Response), In::Same)),
    ("bounded-slowdown", MeasureSource::Metric(Metric::Mean(Measure::BoundedSlowdown), In::Same)),
    ("bounded-slowdown-kettimuthu", MeasureSource::Metric(Metric::Mean(Measure::BoundedSlowdownKettimuthu), In::Same)),
    ("utilisation-percent", MeasureSource::Metric(Metric::MakespanUtilisation, In::Percent)),
    ("suspensions", MeasureSource::Metric(Metric::Suspensions, In::Same)),
    ("accuracy-percent", MeasureSource::Metric(Metric::Accuracy, In::Percent)),
    ("corrections-mean", MeasureSource::Metric(Metric::Corrections, In::Same)),
    ("corrections-sd", MeasureSource::Metric(Metric::CorrectionsDeviation, In::Same)),
    ("prediction-rate-percent", MeasureSource::Metric(Metric::PredictionRate, In::Percent)),
    ("reservation-rate-percent", MeasureSource::Metric(Metric::ReservationRate, In::Percent)),
    ("difference-mean-min", MeasureSource::Metric(Metric::ReservationError, In::Minutes)),
    ("difference-median-min", MeasureSource::Metric(Metric::ReservationErrorMedian, In::Minutes)),
    ("difference-sd-min", MeasureSource::Metric(Metric::ReservationErrorDeviation, In::Minutes)),
    ("delay-rate-percent", MeasureSource::Metric(Metric::DelayRate, In::Percent)),
    ("delay-mean-min", MeasureSource::Metric(Metric::Delay, In::Minutes)),
    ("delay-median-min", MeasureSource::Metric(Metric::DelayMedian, In::Minutes)),
    ("delay-sd-min", MeasureSource::Metric(Metric::DelayDeviation, In::Minutes)),
    ("bounded-slowdown-kettimuthu", MeasureSource::Class(Metric::Mean(Measure::BoundedSlowdownKettimuthu))),
    ("flow-mean-s", MeasureSource::Rows(|rows| mean_of(rows, |r| r.response().as_f64()))),
    ("flow-max-s", MeasureSource::Rows(|rows| rows.iter().map(|r| r.response().as_f64()).reduce(f64::max))),
    ("bounded-slowdown-all", MeasureSource::Rows(|rows| mean_of(rows, row_slowdown))),
    ("bounded-slowdown-max", MeasureSource::Rows(|rows| rows.iter().map(row_slowdown).reduce(f64::max))),
    ("bounded-slowdown-rms", MeasureSource::Rows(|rows| mean_of(rows, |r| row_slowdown(r).powi(2)).map(f64::sqrt))),
    ("wait-mean-s", MeasureSource::Months(|_| true)),
    ("wait-mean-s-fifth", MeasureSource::Months(|at| at.is_multiple_of(5))),
    ("wait-mean-s-others", MeasureSource::Months(|at| !at.is_multiple_of(5))),
    ("stalled-rate-percent", MeasureSource::Stalls(|s| in_percent(s.rate))),
    ("stall-mean-min", MeasureSource::Stalls(|s| in_minutes(s.stall.mean))),
    ("thieves-mean", MeasureSource::Stalls(|s| s.thieves.mean)),
    ("ratio", MeasureSource::Ratio(|r| r.overall)),
    ("ratio@1", MeasureSource::Ratio(|r| r.classes[0])),
    ("ratio@2", MeasureSource::Ratio(|r| r.classes[1])),
    ("ratio@3", MeasureSource::Ratio(|r| r.classes[2])),
    ("ratio@4", MeasureSource::Ratio(|r| r.classes[3])),
    ("ratio-worse-batches-percent", MeasureSource::Ratio(worse_batches)),
    ("relative-wait", MeasureSource::Relative(Metric::Mean(Measure::Wait))),
    ("relative-wait-max", MeasureSource::Relative(Metric::Max(Measure::Wait))),
    ("relative-bounded-slowdown-chiang", MeasureSource::Relative(Metric::Mean(Measure::BoundedSlowdownChiang))),
    ("relative-bounded-slowdown-chiang-max", MeasureSource::Relative(Metric::Max(Measure::BoundedSlowdownChiang))),
    ("relative-response", MeasureSource::Relative(Metric::Mean(Measure::Response))),
    ("relative-bounded-slowdown", MeasureSource::Relative(Metric::Mean(Measure::BoundedSlowdown))),
    ("relative-bounded-slowdown-kettimuthu", MeasureSource::Relative(Metric::Mean(Measure::BoundedSlowdownKettimuthu))),
    ("relative-utilisation", MeasureSource::Relative(Metric::MakespanUtilisation)),
    (
        "relative-bounded-slowdown-kettimuthu",
        MeasureSource::RelativeClass(Metric::Mean(Measure::BoundedSlowdownKettimuthu)),
    ),
    (
        "relative-bounded-slowdown-kettimuthu-max",
        MeasureSource::RelativeClass(Metric::Max(Measure::BoundedSlowdownKettimuthu)),
    ),
    ("relative-response", MeasureSource::RelativeClass(Metric::Mean(Measure::Response))),
    ("relative-response-max", MeasureSource::RelativeClass(Metric::Max(Measure::Response))),
    ("slack-price", MeasureSource::Price),
];

fn value_quotient(own: f64, baseline: f64) -> Option<f64> {
    (baseline != 0.0).then(|| own / baseline)
}

/// Share of the batches of submissions in which the policy is worse than its baseline.
fn worse_batches(ratios: &SlowdownRatios) -> Option<f64> {
    let worse = ratios.batches.iter().flatten().filter(|&&r| r < 0.0).count();
    (!ratios.batches.is_empty()).then(|| 100.0 * worse as f64 / ratios.batches.len() as f64)
}

impl TryFrom<String> for MeasureOfClass {
    type Error = String;

    fn try_from(text: String) -> Result<MeasureOfClass, String> {
        let find = |name: &str, in_class: bool| {
            ALL.iter().position(|(n, of)| {
                *n == name
                    && in_class
                        == matches!(
                            of,
                            MeasureSource::Class(_) | MeasureSource::Share | MeasureSource::RelativeClass(_)
                        )
            })
        };
        if let Some(at) = find(&text, false) {
            return Ok(MeasureOfClass { name: MeasureName::Printed(at), class: None });
        }
        if let Ok(metric) = text.parse() {
            return Ok(MeasureOfClass { name: MeasureName::Metric(metric), class: None });
        }
        let of_class = || {
            let (name, class) = text.split_once('@')?;
            let (scheme, number) = class.rsplit_once('/')?;
            let known_name = find(name, true).map(MeasureName::Printed);
            let of_jobs = |metric: &Metric| metric.measure().is_some();
            let name = known_name.or_else(|| name.parse().ok().filter(of_jobs).map(MeasureName::Metric))?;
            let scheme: Scheme = scheme.parse().ok()?;
            let number: i64 = number.parse().ok()?;
            let is_known = scheme.fixed_count().is_some_and(|n| (0..n as i64).contains(&number));
            is_known.then_some(MeasureOfClass { name, class: Some((scheme, number)) })
        };
        of_class().ok_or_else(|| {
            let of_class = |of: &MeasureSource| matches!(of, MeasureSource::Class(_) | MeasureSource::Share | MeasureSource::RelativeClass(_));
            let names: Vec<String> = (ALL.iter())
                .map(|(name, of)| if of_class(of) { format!("{name}@SCHEME/N") } else { (*name).to_string() })
                .collect();
            format!(
                "`{text}` is no measure; expected one of {}, or of a class, as share-percent@four/0, or a metric of sweeps such as \
                 wait_mean, of all jobs or of a class, as wait_mean@four/0",
                names.join(", ")
            )
        })
    }
}

impl From<MeasureOfClass> for String {
    fn from(measure: MeasureOfClass) -> String {
        measure.to_string()
    }
}

impl fmt::Display for MeasureOfClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name, self.class) {
            (MeasureName::Metric(metric), None) => metric.fmt(f),
            (MeasureName::Metric(metric), Some((scheme, number))) => f.pad(&format!("{metric}@{scheme}/{number}")),
            (MeasureName::Printed(at), None) => f.pad(ALL[at].0),
            (MeasureName::Printed(at), Some((scheme, number))) => f.pad(&format!("{}@{scheme}/{number}", ALL[at].0)),
        }
    }
}

pub(crate) struct RowResults<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) run: Option<&'a Run>,
    pub(crate) stalls: Option<&'a Stalls>,
    pub(crate) ratios: Option<&'a SlowdownRatios>,
    pub(crate) baseline: Option<&'a Run>,
}

impl MeasureOfClass {
    fn measure_source(&self) -> MeasureSource {
        match self.name {
            MeasureName::Printed(at) => ALL[at].1,
            MeasureName::Metric(metric) if self.class.is_some() => MeasureSource::Class(metric),
            MeasureName::Metric(metric) => MeasureSource::Metric(metric, In::Same),
        }
    }

    /// Returns whether it is taken from a schedule, and so needs a policy.
    pub fn of_schedule(&self) -> bool {
        !matches!(self.measure_source(), MeasureSource::Log(_) | MeasureSource::Share | MeasureSource::Price)
    }

    /// Returns whether it is a price, of no log.
    pub fn of_price(&self) -> bool {
        matches!(self.measure_source(), MeasureSource::Price)
    }

    /// Returns whether it compares with a baseline.
    pub fn of_two(&self) -> bool {
        matches!(
            self.measure_source(),
            MeasureSource::Ratio(_) | MeasureSource::Relative(_) | MeasureSource::RelativeClass(_)
        )
    }

    /// Returns whether it can be taken from months that are simulated separately.
    pub fn of_months(&self) -> bool {
        matches!(self.measure_source(), MeasureSource::Months(_))
    }

    /// Returns whether thieves must be watched.
    pub(crate) fn of_stalls(&self) -> bool {
        matches!(self.measure_source(), MeasureSource::Stalls(_))
    }

    pub(crate) fn scheme(&self) -> Option<Scheme> {
        self.class.map(|(scheme, _)| scheme)
    }

    /// The value of one schedule.
    pub(crate) fn of_run(&self, results: &RowResults<'_>) -> Option<f64> {
        let rows = || results.run?.report.jobs.as_deref();
        match self.measure_source() {
            MeasureSource::Price => None,
            MeasureSource::Log(value) => value(&describe_workload(results.workload)),
            MeasureSource::Share => {
                let report = &results.run?.report;
                let (of_class, kept_count) = (self.class_measures(report)?.wait.count, report.trimmed.kept);
                (kept_count > 0).then(|| 100.0 * of_class as f64 / kept_count as f64)
            }
            MeasureSource::Metric(metric, unit) => metric.value_of(results.run?).map(|value| unit.convert_value(value)),
            MeasureSource::Class(metric) => metric.of_measures(self.class_measures(&results.run?.report)?),
            MeasureSource::Rows(value) => value(rows()?),
            MeasureSource::Months(counts) => mean_wait(std::iter::once(rows()?), counts),
            MeasureSource::Stalls(value) => value(results.stalls?),
            MeasureSource::Ratio(value) => value(results.ratios?),
            MeasureSource::Relative(metric) => {
                value_quotient(metric.value_of(results.run?)?, metric.value_of(results.baseline?)?)
            }
            MeasureSource::RelativeClass(metric) => {
                let of = |run: &Run| metric.of_measures(self.class_measures(&run.report)?);
                value_quotient(of(results.run?)?, of(results.baseline?)?)
            }
        }
    }

    /// The value over months that were simulated apart.
    pub(crate) fn of_parts(&self, months: &[&Report]) -> Option<f64> {
        let MeasureSource::Months(counts) = self.measure_source() else { return None };
        mean_wait(months.iter().filter_map(|report| report.jobs.as_deref()), counts)
    }

    fn class_measures<'r>(&self, report: &'r Report) -> Option<&'r Measures> {
        let (scheme, number) = self.class?;
        let of_scheme: &Categorised = report.categories.iter().find(|c| c.scheme == scheme)?;
        of_scheme.categories.iter().find(|c| c.key == number).map(|c| &c.measures)
    }
}

/// Mean wait in seconds over the jobs whose place in their part counts.
fn mean_wait<'r>(parts: impl Iterator<Item = &'r [JobRow]>, counts: fn(usize) -> bool) -> Option<f64> {
    let (mut sum, mut jobs) = (0.0, 0u64);
    for rows in parts {
        for (_, row) in rows.iter().enumerate().filter(|(at, _)| counts(*at)) {
            sum += row.wait().as_f64();
            jobs += 1;
        }
    }
    (jobs > 0).then(|| sum / jobs as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PaperStudy;

    /// `docs/studies.md` names every measure and every key of a study file, and its example is a
    /// study.
    #[test]
    fn the_documentation_is_complete() {
        let text = include_str!("../../../docs/studies.md");
        for (name, of) in ALL {
            let class = matches!(of, MeasureSource::Class(_) | MeasureSource::Share | MeasureSource::RelativeClass(_));
            let name = if class { format!("`{name}@SCHEME/N`") } else { format!("`{name}`") };
            assert!(text.contains(&name) || name.starts_with("`ratio@"), "{name}");
        }
        for scheme in Scheme::ALL.into_iter().filter(|scheme| scheme.fixed_count().is_some()) {
            assert!(text.contains(&format!("`{}`", scheme.id())), "{scheme:?}");
        }
        let (_, rest) = text.split_once("```toml\n").expect("an example");
        let example = rest.split_once("```").expect("its end").0;
        let study = PaperStudy::parse(example, "docs/studies.md").expect("a study");
        assert_eq!((study.tables[0].rows.len(), study.tables[0].columns.len()), (1, 2));
        // The error about a misspelt key lists all keys: each of them stands in the table.
        for (good, bad) in [
            ("source = ", "sauce = "),
            ("file = ", "fille = "),
            ("reason = ", "raison = "),
            ("measure = ", "mesure = "),
            ("label = ", "lable = "),
        ] {
            let error = PaperStudy::parse(&example.replace(good, bad), "x").expect_err("misspelt").to_string();
            let (_, keys) =
                error.split_once("expected one of ").or_else(|| error.split_once("expected ")).expect(&error);
            for key in keys.split('`').skip(1).step_by(2).filter(|key| !["log", "table", "column", "row"].contains(key))
            {
                assert!(text.contains(&format!("`{key}`")), "{key}");
            }
        }
    }
}
