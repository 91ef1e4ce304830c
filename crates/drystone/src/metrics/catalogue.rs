//! The catalogue of metrics: every number of a report by name, with what it is in, which direction
//! is better, and where it is found.
//!
//! Tables, CSV, comparisons, pages, sweeps and reproduced studies take their numbers from here.

use super::collector::MetricsConfig;
use super::measures::{Measure, MetricUnit, UnknownWord};
use super::promises::PromisesKept;
use super::report::Report;
use super::resources::{gpus_in_use, memory_in_use};
use super::selection::JobSelection;
use super::summary::Summary;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Direction of better values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Better {
    /// Small ones.
    Less,
    /// Large ones.
    More,
}

/// Measurement that a metric needs beyond the basic ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricNeeds {
    /// Medians and percentiles.
    Percentiles,
    /// The queue over time.
    Queue,
    /// Predictions and reservations.
    Predictability,
    /// Spread of slowdowns.
    Fairness,
    /// Announced starts.
    Promises,
    /// Effects of outages and circumstances.
    Disruptions,
    /// A threshold of excessive waits.
    Threshold,
    /// Jobs of several sizes, or power.
    Sizes,
}

/// Source of metrics: a report, with an audit of promises where there is one.
#[derive(Clone, Copy, Debug)]
pub struct MetricSource<'a> {
    /// The report.
    pub report: &'a Report,
    /// Announced starts.
    pub promises: Option<&'a PromisesKept>,
}

impl<'a> From<&'a Report> for MetricSource<'a> {
    fn from(report: &'a Report) -> MetricSource<'a> {
        MetricSource { report, promises: None }
    }
}

impl<'a> From<(&'a Report, &'a PromisesKept)> for MetricSource<'a> {
    fn from((report, promises): (&'a Report, &'a PromisesKept)) -> MetricSource<'a> {
        MetricSource { report, promises: Some(promises) }
    }
}

struct MeasureStatistic {
    measure: Measure,
    id: &'static str,
    name: &'static str,
    of: fn(&Summary) -> Option<f64>,
    needs: &'static [MetricNeeds],
}

/// A metric that is no statistic of a measure.
struct CatalogueFigure {
    id: &'static str,
    column: Option<&'static str>,
    name: &'static str,
    unit: MetricUnit,
    better: Better,
    needs: &'static [MetricNeeds],
    of: fn(MetricSource<'_>) -> Option<f64>,
}

/// One of the two.
enum CatalogueEntry {
    Statistic(MeasureStatistic),
    Figure(CatalogueFigure),
}

/// Makes the tables below into [`Metric`]: a new line adds the metric everywhere.
macro_rules! catalogue {
    (
        statistics { $($(#[$of_statistic:meta])* $statistic:ident $field:ident $named:literal, $of_needs:expr;)* }
        figures {
            $($(#[$doc:meta])* $figure:ident $id:literal, $column:expr, $name:literal, $unit:ident, $better:ident, $needs:expr,
                $of:expr;)*
        }
    ) => {
        /// A number of a report. [`Metric::id`] is its name in comparisons, study files and stores.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Metric {
            $($(#[$of_statistic])* $statistic(Measure),)*
            $($(#[$doc])* #[serde(rename = $id)] $figure,)*
        }

        impl Metric {
            /// The statistics of a measure, in the order of the columns of CSV.
            pub const STATISTICS: [fn(Measure) -> Metric; [$(stringify!($statistic)),*].len()] = [$(Metric::$statistic),*];

            /// The metrics that are no statistic of a measure, in the order of the columns of CSV.
            pub const FIGURES: [Metric; [$(Metric::$figure),*].len()] = [$(Metric::$figure),*];

            fn catalogue_entry(self) -> CatalogueEntry {
                match self {
                    $(Metric::$statistic(measure) => CatalogueEntry::Statistic(MeasureStatistic {
                        measure,
                        id: stringify!($field),
                        name: $named,
                        of: |summary| summary.$field,
                        needs: $of_needs,
                    }),)*
                    $(Metric::$figure => CatalogueEntry::Figure(CatalogueFigure {
                        id: $id,
                        column: $column,
                        name: $name,
                        unit: MetricUnit::$unit,
                        better: Better::$better,
                        needs: $needs,
                        of: $of,
                    }),)*
                }
            }
        }
    };
}

/// A field of [`Disruptions`](super::Disruptions).
macro_rules! disrupted {
    ($field:ident) => {
        |found| Some(found.report.disruptions.as_ref()?.$field as f64)
    };
}

/// A value of a [`SizeReport`](super::SizeReport).
macro_rules! sized {
    (|$sizes:ident| $of:expr) => {
        |found| {
            let $sizes = found.report.sizes.as_ref()?;
            $of
        }
    };
}

/// A field of [`Predictability`](super::Predictability).
macro_rules! predicted {
    ($field:ident $(. $more:ident)*) => {
        |found| found.report.predictability.as_ref()?.$field$(.$more)*
    };
}

catalogue! {
    // Variant, field of a summary and end of the id, beginning of the name, what it needs.
    statistics {
        /// The mean of a measure. Has an interval in comparisons.
        Mean mean "mean", &[];
        /// The standard deviation of a measure.
        Deviation deviation "deviation of", &[];
        /// The median of a measure.
        Median median "median", &[MetricNeeds::Percentiles];
        /// The 90th percentile of a measure.
        P90 p90 "90th percentile of", &[MetricNeeds::Percentiles];
        /// The 95th percentile of a measure.
        P95 p95 "95th percentile of", &[MetricNeeds::Percentiles];
        /// The 98th percentile of a measure.
        P98 p98 "98th percentile of", &[MetricNeeds::Percentiles];
        /// The 99th percentile of a measure.
        P99 p99 "99th percentile of", &[MetricNeeds::Percentiles];
        /// The largest value of a measure.
        Max max "largest", &[];
    }
    // Variant, id, column of CSV (none: CSV has it not), name, unit, what is better, what it needs,
    // where it is found.
    figures {
        /// Share of the machine used from the first submit to the last end.
        MakespanUtilisation "makespan_utilisation", Some("utilisation"), "utilisation", Share, More, &[],
            |source| source.report.machine.utilisation;
        /// Share of the machine used in the period that counts.
        Utilisation "utilisation", Some("period_utilisation"), "period utilisation", Share, More, &[],
            |source| source.report.machine.period_utilisation;
        /// From the first submit to the last end.
        Makespan "makespan", Some("makespan"), "makespan", Seconds, Less, &[],
            |source| Some(source.report.machine.makespan.as_f64());
        /// Share of the capacity that was free while jobs waited that could have filled it, while
        /// jobs arrive.
        LossOfCapacity "loss_of_capacity", Some("loss_of_capacity"), "loss of capacity", Share, Less, &[MetricNeeds::Queue],
            |source| source.report.queue.as_ref()?.arriving.loss_of_capacity;
        /// Mean number of waiting jobs, while jobs arrive.
        WaitingJobs "waiting_jobs", Some("mean_waiting_jobs"), "mean queue length", Ratio, Less, &[MetricNeeds::Queue],
            |source| source.report.queue.as_ref()?.arriving.mean_waiting_jobs;
        /// Jobs that waited longer than the first threshold of excessive waits.
        ExcessJobs "excess_jobs", None, "jobs of excessive wait", Count, Less, &[MetricNeeds::Threshold],
            |source| Some(source.report.excessive.first()?.count as f64);
        /// Sum of their waits beyond it.
        ExcessTotal "excess_total", None, "total excessive wait", Seconds, Less, &[MetricNeeds::Threshold],
            |source| Some(source.report.excessive.first()?.total);
        /// Mean of these waits beyond it over the jobs that have one.
        ExcessMean "excess_mean", None, "mean excessive wait", Seconds, Less, &[MetricNeeds::Threshold],
            |source| source.report.excessive.first()?.mean;
        /// Jobs that were ended at their limit, by the policy or by people.
        Killed "jobs_killed", Some("jobs_killed"), "jobs killed", Count, Less, &[], |source| {
            Some((source.report.kills.at_limit + source.report.kills.cancelled) as f64)
        };
        /// Processor-seconds that these jobs had run.
        WorkKilled "work_killed", Some("work_killed"), "processor-seconds of jobs killed", Count, Less, &[],
            |source| Some(source.report.kills.work);
        /// Suspensions of all jobs that count.
        Suspensions "suspensions", Some("suspensions"), "suspensions", Count, Less, &[],
            |source| Some(source.report.suspensions.total as f64);
        /// Jobs to which a start was promised, of all jobs.
        Promised "promised", Some("promised"), "starts announced", Count, More, &[MetricNeeds::Promises],
            |source| Some(source.promises?.promised as f64);
        /// Jobs that started after the start promised to them, of all jobs.
        BrokenPromises "promises_broken", Some("promises_broken"), "starts not kept", Count, Less, &[MetricNeeds::Promises],
            |source| Some(source.promises?.broken as f64);
        /// The longest time by which a promise was broken; none where all were kept.
        WorstDelay "promise_worst_delay", Some("promise_worst_delay"), "worst delay", Seconds, Less, &[MetricNeeds::Promises],
            |source| Some(source.promises?.worst?.delay().as_f64());
        /// Mean accuracy of predictions over a job's life.
        Accuracy "accuracy", Some("accuracy_mean"), "mean prediction accuracy", Share, More, &[MetricNeeds::Predictability],
            predicted!(accuracy.mean);
        /// Mean accuracy of the predictions at arrival.
        FirstAccuracy "first_accuracy_mean", Some("first_accuracy_mean"), "mean prediction accuracy at arrival", Share, More,
            &[MetricNeeds::Predictability], predicted!(first_accuracy.mean);
        /// Share of jobs whose prediction at arrival was learned from other jobs.
        PredictionRate "prediction_rate", Some("prediction_rate"), "jobs with a learned prediction", Share, More,
            &[MetricNeeds::Predictability], predicted!(prediction_rate);
        /// Share of jobs that ran longer than predicted at arrival.
        UnderPredictedRate "under_predicted_rate", Some("under_predicted_rate"), "jobs predicted too short", Share, Less,
            &[MetricNeeds::Predictability], predicted!(under_predicted_rate);
        /// Mean number of corrections of a job's prediction.
        Corrections "corrections", Some("corrections_mean"), "corrections per job", Ratio, Less, &[MetricNeeds::Predictability],
            predicted!(corrections.mean);
        /// Standard deviation of the number of corrections of a job's prediction.
        CorrectionsDeviation "corrections_deviation", None, "deviation of corrections per job", Ratio, Less,
            &[MetricNeeds::Predictability], predicted!(corrections.deviation);
        /// Share of jobs that waited with a reservation.
        ReservationRate "reservation_rate", Some("reservation_rate"), "jobs that waited with a reservation", Share, Less,
            &[MetricNeeds::Predictability], predicted!(reservation_rate);
        /// Mean of |start − first reservation| of jobs that waited with one.
        ReservationError "reservation_error", Some("reservation_error_mean"), "mean reservation error", Seconds, Less,
            &[MetricNeeds::Predictability], predicted!(difference.mean);
        /// Median of |start − first reservation| of jobs that waited with one.
        ReservationErrorMedian "reservation_error_median", Some("reservation_error_median"), "median reservation error",
            Seconds, Less, &[MetricNeeds::Predictability, MetricNeeds::Percentiles], predicted!(difference.median);
        /// Standard deviation of |start − first reservation| of jobs that waited with one.
        ReservationErrorDeviation "reservation_error_deviation", None, "deviation of reservation errors", Seconds, Less,
            &[MetricNeeds::Predictability], predicted!(difference.deviation);
        /// Mean estimate of jobs that waited with a reservation.
        ReservedEstimate "reserved_estimate_mean", None, "mean estimate of jobs that waited with a reservation", Seconds, Less,
            &[MetricNeeds::Predictability], predicted!(reserved_estimate.mean);
        /// Mean number of processors of jobs that waited with a reservation.
        ReservedProcs "reserved_procs_mean", None, "mean processors of jobs that waited with a reservation", Count, Less,
            &[MetricNeeds::Predictability], predicted!(reserved_procs.mean);
        /// Share of jobs that waited with a reservation and started after it.
        DelayRate "delay_rate", Some("delay_rate"), "jobs that started after their reservation", Share, Less,
            &[MetricNeeds::Predictability], predicted!(delay_rate);
        /// Mean of start − first reservation of jobs that started after it.
        Delay "delay_mean", Some("delay_mean"), "mean delay after the reservation", Seconds, Less, &[MetricNeeds::Predictability],
            predicted!(delay.mean);
        /// Median of start − first reservation of jobs that started after it.
        DelayMedian "delay_median", None, "median delay after the reservation", Seconds, Less,
            &[MetricNeeds::Predictability, MetricNeeds::Percentiles], predicted!(delay.median);
        /// Standard deviation of start − first reservation of jobs that started after it.
        DelayDeviation "delay_deviation", None, "deviation of delays after the reservation", Seconds, Less,
            &[MetricNeeds::Predictability], predicted!(delay.deviation);
        /// Jain's index of the mean bounded slowdowns of users.
        Fairness "fairness", None, "fairness to users", Ratio, More, &[MetricNeeds::Fairness],
            |source| source.report.fairness.as_ref()?.users;
        /// Jain's index of the bounded slowdowns of jobs.
        JobFairness "job_fairness", None, "fairness to jobs", Ratio, More, &[MetricNeeds::Fairness],
            |source| source.report.fairness.as_ref()?.jobs;
        /// Jain's index of what users received of the dominant shares that they asked for.
        DominantFairness "dominant_fairness", None, "fairness of dominant shares", Ratio, More, &[MetricNeeds::Fairness],
            |source| source.report.fairness.as_ref()?.dominant;
        /// Share of the machine's GPUs in use until the last end.
        GpuUtilisation "utilisation_gpus", None, "utilisation of GPUs", Share, More, &[], |source| gpus_in_use(&source.report.resources);
        /// Share of the machine's memory in use until the last end.
        MemoryUtilisation "utilisation_mem", None, "utilisation of memory", Share, More, &[], |source| memory_in_use(&source.report.resources);
        /// Mean wait without the time in which jobs were held back.
        EligibleWait "eligible_wait_mean", Some("eligible_wait_mean"), "mean wait since eligible", Seconds, Less,
            &[MetricNeeds::Disruptions], |source| source.report.disruptions.as_ref()?.eligible_wait.mean;
        /// The 90th percentile of these waits.
        EligibleWaitP90 "eligible_wait_p90", Some("eligible_wait_p90"), "90th percentile of wait since eligible", Seconds, Less,
            &[MetricNeeds::Disruptions, MetricNeeds::Percentiles], |source| source.report.disruptions.as_ref()?.eligible_wait.p90;
        /// Share of the machine that was up.
        CapacityUp "capacity_up", Some("capacity_up"), "capacity that was up", Share, More, &[MetricNeeds::Disruptions],
            |source| source.report.disruptions.as_ref()?.capacity_up;
        /// Number of times that a job lost its processors to an outage.
        Hits "jobs_hit", Some("jobs_hit"), "jobs hit by outages", Count, Less, &[MetricNeeds::Disruptions], disrupted!(hits);
        /// Jobs that waited again upon that.
        Requeued "jobs_requeued", Some("jobs_requeued"), "jobs requeued", Count, Less, &[MetricNeeds::Disruptions],
            disrupted!(requeued);
        /// Jobs that ended upon that, for good.
        Lost "jobs_lost", Some("jobs_lost"), "jobs lost", Count, Less, &[MetricNeeds::Disruptions], disrupted!(lost);
        /// Processor-seconds that jobs had run when they were hit.
        WorkLost "work_lost", Some("work_lost"), "processor-seconds lost", Count, Less, &[MetricNeeds::Disruptions],
            disrupted!(work_lost);
        /// Processor-seconds that checkpoints took.
        CheckpointWork "checkpoint_work", Some("checkpoint_work"), "processor-seconds for checkpoints", Count, Less,
            &[MetricNeeds::Disruptions], disrupted!(checkpoint_work);
        /// Share of the processor-seconds of jobs that were lost or went into checkpoints.
        Waste "waste", Some("waste"), "work lost or for checkpoints", Share, Less, &[MetricNeeds::Disruptions],
            |source| source.report.disruptions.as_ref()?.wasted_share(source.report.machine.work);
        /// Jobs that started after the start promised to them, for reasons that came after the
        /// promise and that no policy could know.
        ExcusedPromises "promises_excused", Some("promises_excused"), "starts not kept because of outages", Count, Less,
            &[MetricNeeds::Promises, MetricNeeds::Disruptions],
            |source| source.report.disruptions.as_ref().and(Some(source.promises?.excused as f64));
        /// Mean slowdown against the run time at the preferred size.
        SlowdownRef "slowdown_ref", Some("slowdown_ref"), "mean slowdown at the preferred size", Ratio, Less,
            &[MetricNeeds::Sizes], sized!(|sizes| Some(sizes.slowdown_ref));
        /// Share of the machine that all jobs would use at their preferred sizes, until the last
        /// end.
        Useful "useful", Some("useful"), "useful utilisation", Share, More, &[MetricNeeds::Sizes],
            sized!(|sizes| Some(sizes.useful));
        /// Number of times that jobs grew.
        Grows "grows", Some("grows"), "times that jobs grew", Count, Less, &[MetricNeeds::Sizes],
            sized!(|sizes| Some(sizes.grows as f64));
        /// Number of times that jobs shrank.
        Shrinks "shrinks", Some("shrinks"), "times that jobs shrank", Count, Less, &[MetricNeeds::Sizes],
            sized!(|sizes| Some(sizes.shrinks as f64));
        /// Seconds without progress because of changes of size.
        Reconfiguring "reconfiguring", Some("reconfiguring"), "seconds of reconfiguring", Count, Less, &[MetricNeeds::Sizes],
            sized!(|sizes| Some(sizes.reconfiguring as f64));
        /// Mean of size over preferred size, weighted by time.
        MeanSize "mean_size", Some("mean_size"), "mean size over preferred size", Ratio, More, &[MetricNeeds::Sizes],
            sized!(|sizes| Some(sizes.mean_size));
        /// Mean wait of the jobs of one size.
        RigidWait "rigid_wait", Some("rigid_wait"), "mean wait of rigid jobs", Seconds, Less, &[MetricNeeds::Sizes],
            sized!(|sizes| Some(sizes.mean_waits(true)?.0));
        /// Mean response of the jobs of one size.
        RigidResponse "rigid_response", Some("rigid_response"), "mean response of rigid jobs", Seconds, Less,
            &[MetricNeeds::Sizes], sized!(|sizes| Some(sizes.mean_waits(true)?.1));
        /// Mean wait of the jobs of several sizes.
        ShapedWait "shaped_wait", Some("shaped_wait"), "mean wait of jobs of several sizes", Seconds, Less,
            &[MetricNeeds::Sizes], sized!(|sizes| Some(sizes.mean_waits(false)?.0));
        /// Mean response of the jobs of several sizes.
        ShapedResponse "shaped_response", Some("shaped_response"), "mean response of jobs of several sizes", Seconds, Less,
            &[MetricNeeds::Sizes], sized!(|sizes| Some(sizes.mean_waits(false)?.1));
        /// Joules drawn.
        Energy "energy", Some("energy"), "joules drawn", Count, Less, &[MetricNeeds::Sizes],
            sized!(|sizes| Some(sizes.power?.energy as f64));
        /// Largest draw in watts.
        PeakDraw "peak_draw", Some("peak_draw"), "largest draw in watts", Count, Less, &[MetricNeeds::Sizes],
            sized!(|sizes| Some(sizes.power?.peak as f64));
        /// Seconds in which more than the cap was drawn.
        AboveCap "above_cap", Some("above_cap"), "seconds above the cap", Count, Less, &[MetricNeeds::Sizes],
            sized!(|sizes| Some(sizes.power?.above_cap as f64));
        /// Grams of carbon dioxide.
        Carbon "carbon", Some("carbon"), "grams of carbon dioxide", Ratio, Less, &[MetricNeeds::Sizes],
            sized!(|sizes| sizes.power?.carbon);
        /// Cost of the energy.
        EnergyCost "energy_cost", Some("energy_cost"), "cost of the energy", Ratio, Less, &[MetricNeeds::Sizes],
            sized!(|sizes| sizes.power?.cost);
    }
}

impl Metric {
    /// Every metric: the statistics of all measures, then the others.
    pub fn all_metrics() -> impl Iterator<Item = Metric> {
        let of = |measure: Measure| Metric::STATISTICS.into_iter().map(move |statistic| statistic(measure));
        Measure::ALL.into_iter().flat_map(of).chain(Metric::FIGURES)
    }

    /// Metrics of comparisons: means of all measures, largest values of wait and bounded slowdown,
    /// utilisation, loss of capacity.
    #[must_use]
    pub fn compared_metrics() -> Vec<Metric> {
        let largest = [Metric::Max(Measure::Wait), Metric::Max(Measure::BoundedSlowdown)];
        let machine = [Metric::Utilisation, Metric::LossOfCapacity];
        Measure::ALL.into_iter().map(Metric::Mean).chain(largest).chain(machine).collect()
    }

    /// Its name in study files and stores, e.g. `wait_mean`.
    #[must_use]
    pub fn id(self) -> String {
        match self.catalogue_entry() {
            CatalogueEntry::Statistic(s) => format!("{}_{}", s.measure.id(), s.id),
            CatalogueEntry::Figure(figure) => figure.id.to_string(),
        }
    }

    /// Its column in CSV; `None` where CSV has none.
    #[must_use]
    pub fn column_name(self) -> Option<String> {
        match self.catalogue_entry() {
            CatalogueEntry::Statistic(_) => Some(self.id()),
            CatalogueEntry::Figure(figure) => figure.column.map(str::to_string),
        }
    }

    /// Returns the name for people, such as `mean wait`.
    #[must_use]
    pub fn name(self) -> String {
        match self.catalogue_entry() {
            CatalogueEntry::Statistic(MeasureStatistic { measure, id: "max", .. })
                if measure.unit() == MetricUnit::Seconds =>
            {
                format!("longest {}", measure.name())
            }
            CatalogueEntry::Statistic(s) => format!("{} {}", s.name, s.measure.name()),
            CatalogueEntry::Figure(figure) => figure.name.to_string(),
        }
    }

    /// Returns the unit.
    #[must_use]
    pub fn unit(self) -> MetricUnit {
        match self.catalogue_entry() {
            CatalogueEntry::Statistic(statistic) => statistic.measure.unit(),
            CatalogueEntry::Figure(figure) => figure.unit,
        }
    }

    /// Returns the direction of better values: of all measures, small ones.
    #[must_use]
    pub fn better_direction(self) -> Better {
        match self.catalogue_entry() {
            CatalogueEntry::Statistic(_) => Better::Less,
            CatalogueEntry::Figure(figure) => figure.better,
        }
    }

    /// Returns the measurements that it needs.
    #[must_use]
    pub fn needed_measurements(self) -> &'static [MetricNeeds] {
        match self.catalogue_entry() {
            CatalogueEntry::Statistic(statistic) => statistic.needs,
            CatalogueEntry::Figure(figure) => figure.needs,
        }
    }

    /// The measure that it is a statistic of.
    #[must_use]
    pub fn measure(self) -> Option<Measure> {
        match self.catalogue_entry() {
            CatalogueEntry::Statistic(statistic) => Some(statistic.measure),
            CatalogueEntry::Figure(_) => None,
        }
    }

    /// Its value; `None` where there is none, e.g. without jobs that count, or where it was not
    /// measured.
    #[must_use]
    pub fn value_of<'a>(self, input: impl Into<MetricSource<'a>>) -> Option<f64> {
        let source = input.into();
        match self.catalogue_entry() {
            CatalogueEntry::Statistic(statistic) => (statistic.of)(source.report.measures.get(statistic.measure)),
            CatalogueEntry::Figure(figure) => (figure.of)(source),
        }
    }

    /// Its value over a part of the jobs; `None` also where it is no statistic of a measure.
    #[must_use]
    pub fn of_measures(self, measures: &super::Measures) -> Option<f64> {
        match self.catalogue_entry() {
            CatalogueEntry::Statistic(statistic) => (statistic.of)(measures.get(statistic.measure)),
            CatalogueEntry::Figure(_) => None,
        }
    }
}

impl MetricsConfig {
    /// Measures what these metrics need, and no more.
    #[must_use]
    pub fn for_metrics(metrics: &[Metric], selection: JobSelection) -> MetricsConfig {
        let is_needed = |need: MetricNeeds| metrics.iter().any(|metric| metric.needed_measurements().contains(&need));
        let is_asked = |measure: &Measure| metrics.iter().any(|metric| metric.measure() == Some(*measure));
        MetricsConfig {
            selection,
            measures: Measure::ALL.into_iter().filter(is_asked).collect(),
            percentiles: is_needed(MetricNeeds::Percentiles),
            queue: is_needed(MetricNeeds::Queue),
            predictability: is_needed(MetricNeeds::Predictability),
            fairness: is_needed(MetricNeeds::Fairness),
            disruptions: is_needed(MetricNeeds::Disruptions),
            sizes: is_needed(MetricNeeds::Sizes),
            weeks: false,
            ..MetricsConfig::light_config()
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.id())
    }
}

impl FromStr for Metric {
    type Err = UnknownWord;

    /// Reads a name as [`Metric::id`] has it.
    fn from_str(word: &str) -> Result<Metric, UnknownWord> {
        Metric::all_metrics().find(|metric| metric.id() == word).ok_or_else(|| {
            let measures = Measure::ALL.map(Measure::id).join("|");
            let of = Metric::STATISTICS.map(|statistic| match statistic(Measure::Wait).catalogue_entry() {
                CatalogueEntry::Statistic(statistic) => statistic.id,
                CatalogueEntry::Figure(figure) => figure.id,
            });
            let figures = Metric::FIGURES.map(Metric::id).join(", ");
            UnknownWord {
                what: "metric",
                word: word.to_string(),
                expected: format!("({measures})_({}), {figures}", of.join("|")),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// No two metrics share a name, a column or what people call them, and names are read back.
    #[test]
    fn names_are_unique_and_read_back() {
        let ids: BTreeSet<String> = Metric::all_metrics().map(Metric::id).collect();
        let names: BTreeSet<String> = Metric::all_metrics().map(Metric::name).collect();
        let columns: Vec<String> = Metric::all_metrics().filter_map(Metric::column_name).collect();
        let metric_count = Metric::all_metrics().count();
        assert_eq!((ids.len(), names.len()), (metric_count, metric_count));
        assert_eq!(columns.iter().collect::<BTreeSet<_>>().len(), columns.len());
        for metric in Metric::all_metrics() {
            assert_eq!(metric.id().parse(), Ok(metric));
            let json = serde_json::to_string(&metric).expect("a name");
            assert_eq!(serde_json::from_str::<Metric>(&json).expect("read back"), metric, "{json}");
        }
        assert!("wait".parse::<Metric>().is_err_and(|e| e.to_string().contains("wait|response")));
    }

    /// Comparisons are read by others: their metrics are written so.
    #[test]
    fn metrics_are_written_as_ever() {
        let json = |metric: Metric| serde_json::to_string(&metric).expect("a name");
        assert_eq!(json(Metric::Mean(Measure::BoundedSlowdown)), r#"{"mean":"bounded_slowdown"}"#);
        assert_eq!(json(Metric::Max(Measure::Wait)), r#"{"max":"wait"}"#);
        assert_eq!(json(Metric::Utilisation), r#""utilisation""#);
        assert_eq!(json(Metric::LossOfCapacity), r#""loss_of_capacity""#);
        assert!(Measure::ALL.iter().all(|m| serde_json::to_string(m).ok() == Some(format!("\"{}\"", m.id()))));
    }

    /// `docs/measures.md` says what every metric is.
    #[test]
    fn every_metric_is_documented() {
        let text = include_str!("../../../../docs/measures.md");
        let assert_entry = |word: &str| assert!(text.contains(&format!("`{word}`")), "docs/measures.md lacks `{word}`");
        Measure::ALL.iter().for_each(|measure| assert_entry(measure.id()));
        for metric in Metric::FIGURES {
            assert_entry(&metric.id());
            metric.column_name().iter().for_each(|column| assert_entry(column));
        }
        for statistic in Metric::STATISTICS {
            let id = statistic(Measure::Wait).id();
            assert_entry(id.trim_start_matches("wait_"));
        }
    }
}
