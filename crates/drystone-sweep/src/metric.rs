//! Metrics of sweeps: those of the catalogue, and means of the calling program's own.

use crate::case::SweepCase;
use crate::error::Cancelled;
use drystone::inference::PeriodSum;
use drystone::metrics::{Better, JobRow, Metric, MetricUnit, Scope, SizedJob};
use drystone::policy::PolicySpec;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Sums of a measure over the jobs that were submitted in each week of the log, with the week's
/// number, in ascending order.
pub type WeekSums = Vec<(i64, PeriodSum)>;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SweepMetric {
    Known(Metric),
    /// A metric of the calling program, which a study file cannot name.
    Own(OwnMetric),
}

/// Mean over jobs of a value that the calling program finds for each; less is better.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnMetric {
    /// Name of its column.
    pub name: String,
    /// Text that changes when the program finds other values. Results of different ones do not mix.
    pub identity: String,
}

/// One simulation, for [`JobMeasurer`].
#[derive(Clone, Copy, Debug)]
pub struct MeasuredSchedule<'a> {
    pub policy: &'a PolicySpec,
    pub case: &'a SweepCase,
    /// Every job that has ended, in order of arrival, counted or not.
    pub rows: &'a [JobRow],
    /// Sizes of each job over its life, by the log's numbers; `None` where every job has one.
    pub sizes: Option<&'a BTreeMap<i64, SizedJob>>,
}

/// Finds the values of a program's own metrics. Called from the threads that simulate.
pub trait JobMeasurer: Send + Sync + fmt::Debug {
    /// Returns the values of the metrics in their order, each with a finite number for every row,
    /// or NaN where a job has none.
    ///
    /// # Errors
    /// [`Cancelled`] where it fails: the sweep ends, and the program knows why.
    fn measure(&self, schedule: &MeasuredSchedule<'_>) -> Result<Vec<Vec<f64>>, Cancelled>;
}

impl SweepMetric {
    pub fn catalogue_metric(&self) -> Option<Metric> {
        match self {
            SweepMetric::Known(metric) => Some(*metric),
            SweepMetric::Own(_) => None,
        }
    }

    /// Returns whether it is a mean over jobs: these have intervals.
    pub fn is_mean(&self) -> bool {
        matches!(self, SweepMetric::Known(Metric::Mean(_)) | SweepMetric::Own(_))
    }

    /// Returns its name, which is that of its column.
    pub fn id(&self) -> String {
        match self {
            SweepMetric::Known(metric) => metric.id(),
            SweepMetric::Own(own) => own.name.clone(),
        }
    }

    pub fn better_direction(&self) -> Better {
        self.catalogue_metric().map_or(Better::Less, Metric::better_direction)
    }

    pub fn unit(&self) -> MetricUnit {
        self.catalogue_metric().map_or(MetricUnit::Ratio, Metric::unit)
    }
}

impl From<Metric> for SweepMetric {
    fn from(metric: Metric) -> SweepMetric {
        SweepMetric::Known(metric)
    }
}

impl fmt::Display for SweepMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.id())
    }
}

/// A program's own metrics, with what finds their values.
#[derive(Clone, Debug)]
pub(crate) struct OwnMeasures {
    count: usize,
    measurer: Arc<dyn JobMeasurer>,
}

type MeasuredMean = (Option<f64>, WeekSums);

impl OwnMeasures {
    pub(crate) fn new(count: usize, measurer: Arc<dyn JobMeasurer>) -> OwnMeasures {
        OwnMeasures { count, measurer }
    }

    /// The mean of each metric over the jobs that count, with its sums per week.
    pub(crate) fn measure_means(&self, schedule: &MeasuredSchedule<'_>) -> Result<Vec<MeasuredMean>, Cancelled> {
        let values = self.measurer.measure(schedule)?;
        debug_assert!(values.len() == self.count, "a list of values for each metric");
        let weeks = Scope::from_workload(&schedule.case.workload).counting_weeks_from(schedule.case.weeks_from).weeks;
        let of = |values: &Vec<f64>| {
            let mut sums: BTreeMap<i64, PeriodSum> = BTreeMap::new();
            let counted_rows = schedule.rows.iter().zip(values).filter(|(row, value)| row.counted && !value.is_nan());
            for (row, &value) in counted_rows {
                sums.entry(weeks.week_number(row.submit)).or_default().add(PeriodSum { sum: value, count: 1.0 });
            }
            let mut period_sum = PeriodSum::default();
            sums.values().for_each(|sum| period_sum.add(*sum));
            ((period_sum.count > 0.0).then(|| period_sum.sum / period_sum.count), sums.into_iter().collect())
        };
        Ok(values.iter().map(of).collect())
    }
}
