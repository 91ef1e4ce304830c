//! What is measured of a simulation, by name.

use drystone::metrics::{Config, Measure, Report, Selection, Summary};
use std::fmt;
use std::str::FromStr;

/// A number from a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Metric {
    /// A statistic of a measure over the jobs that count.
    Of(Measure, Statistic),
    /// Something else.
    Other(Other),
}

/// What is said of many values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Statistic {
    /// Their mean.
    Mean,
    /// Their standard deviation.
    Deviation,
    /// Their median.
    Median,
    /// Their 90th percentile.
    P90,
    /// Their 95th percentile.
    P95,
    /// Their 99th percentile.
    P99,
    /// The largest.
    Max,
}

/// A number that is no statistic of a measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Other {
    /// Share of the machine used between the first and the last submit.
    Utilisation,
    /// From the first submit to the last end, in seconds.
    Makespan,
    /// Share of the capacity lost while jobs waited.
    LossOfCapacity,
    /// Mean number of waiting jobs.
    WaitingJobs,
    /// Mean accuracy of predictions over jobs' lives.
    Accuracy,
    /// Mean number of corrections of a job's prediction.
    Corrections,
    /// Share of jobs whose first prediction was learned.
    PredictionRate,
    /// Mean difference between first reservation and start, in seconds.
    ReservationError,
    /// Suspensions of all jobs together.
    Suspensions,
    /// Jain's index of the mean bounded slowdowns of users.
    Fairness,
}

const MEASURES: [(Measure, &str); 6] = [
    (Measure::Wait, "wait"),
    (Measure::Response, "response"),
    (Measure::Slowdown, "slowdown"),
    (Measure::BoundedSlowdown, "bounded_slowdown"),
    (Measure::BoundedSlowdownKettimuthu, "bounded_slowdown_kettimuthu"),
    (Measure::BoundedSlowdownChiang, "bounded_slowdown_chiang"),
];

const STATISTICS: [(Statistic, &str); 7] = [
    (Statistic::Mean, "mean"),
    (Statistic::Deviation, "deviation"),
    (Statistic::Median, "median"),
    (Statistic::P90, "p90"),
    (Statistic::P95, "p95"),
    (Statistic::P99, "p99"),
    (Statistic::Max, "max"),
];

const OTHERS: [(Other, &str); 10] = [
    (Other::Utilisation, "utilisation"),
    (Other::Makespan, "makespan"),
    (Other::LossOfCapacity, "loss_of_capacity"),
    (Other::WaitingJobs, "waiting_jobs"),
    (Other::Accuracy, "accuracy"),
    (Other::Corrections, "corrections"),
    (Other::PredictionRate, "prediction_rate"),
    (Other::ReservationError, "reservation_error"),
    (Other::Suspensions, "suspensions"),
    (Other::Fairness, "fairness"),
];

/// What metrics are called, for people.
pub(crate) fn names() -> String {
    let measures = MEASURES.map(|m| m.1).join("|");
    let statistics = STATISTICS.map(|s| s.1).join("|");
    format!("({measures})_({statistics}), {}", OTHERS.map(|o| o.1).join(", "))
}

impl Metric {
    /// Whether more is better.
    #[must_use]
    pub fn more_is_better(self) -> bool {
        matches!(self, Metric::Other(Other::Utilisation | Other::Accuracy | Other::PredictionRate | Other::Fairness))
    }

    /// The value; `None` where there is none, e.g. without jobs that count.
    #[must_use]
    pub fn of(self, report: &Report) -> Option<f64> {
        let predictability = report.predictability.as_ref();
        match self {
            Metric::Of(measure, statistic) => statistic.of(report.measures.get(measure)),
            Metric::Other(other) => match other {
                Other::Utilisation => report.machine.period_utilisation,
                Other::Makespan => Some(report.machine.makespan.as_f64()),
                Other::LossOfCapacity => report.queue.as_ref()?.arriving.loss_of_capacity,
                Other::WaitingJobs => report.queue.as_ref()?.arriving.mean_waiting_jobs,
                Other::Accuracy => predictability?.accuracy.mean,
                Other::Corrections => predictability?.corrections.mean,
                Other::PredictionRate => predictability?.prediction_rate,
                Other::ReservationError => predictability?.difference.mean,
                Other::Suspensions => Some(report.suspensions.total as f64),
                Other::Fairness => report.fairness.as_ref()?.users,
            },
        }
    }

    fn needs_queue(self) -> bool {
        matches!(self, Metric::Other(Other::LossOfCapacity | Other::WaitingJobs))
    }
}

impl Statistic {
    fn of(self, summary: &Summary) -> Option<f64> {
        match self {
            Statistic::Mean => summary.mean,
            Statistic::Deviation => summary.deviation,
            Statistic::Median => summary.median,
            Statistic::P90 => summary.p90,
            Statistic::P95 => summary.p95,
            Statistic::P99 => summary.p99,
            Statistic::Max => summary.max,
        }
    }
}

/// What a collector must do to find these metrics, and no more; and whether it must watch the queue.
pub(crate) fn config(metrics: &[Metric], selection: Selection) -> (Config, bool) {
    let any = |test: &dyn Fn(Metric) -> bool| metrics.iter().any(|&m| test(m));
    let asked = |measure: &Measure| any(&|m| matches!(m, Metric::Of(of, _) if of == *measure));
    let config = Config {
        selection,
        measures: Measure::ALL.into_iter().filter(asked).collect(),
        percentiles: any(&|m| {
            matches!(m, Metric::Of(_, Statistic::Median | Statistic::P90 | Statistic::P95 | Statistic::P99))
        }),
        predictability: any(&|m| {
            matches!(
                m,
                Metric::Other(Other::Accuracy | Other::Corrections | Other::PredictionRate | Other::ReservationError)
            )
        }),
        fairness: any(&|m| m == Metric::Other(Other::Fairness)),
        weeks: false,
        ..Config::light()
    };
    (config, any(&Metric::needs_queue))
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn word<T: PartialEq>(words: &[(T, &'static str)], of: &T) -> &'static str {
            words.iter().find(|w| w.0 == *of).map_or("?", |w| w.1)
        }
        match self {
            Metric::Of(measure, statistic) => {
                write!(f, "{}_{}", word(&MEASURES, measure), word(&STATISTICS, statistic))
            }
            Metric::Other(other) => f.write_str(word(&OTHERS, other)),
        }
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Metric, String> {
        if let Some(&(other, _)) = OTHERS.iter().find(|o| o.1 == text) {
            return Ok(Metric::Other(other));
        }
        let of = || {
            let (measure, statistic) = text.rsplit_once('_')?;
            let measure = MEASURES.iter().find(|m| m.1 == measure)?.0;
            Some(Metric::Of(measure, STATISTICS.iter().find(|s| s.1 == statistic)?.0))
        };
        of().ok_or_else(|| format!("there is no metric `{text}`; expected {}", names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        let of = MEASURES.iter().flat_map(|&(m, _)| STATISTICS.iter().map(move |&(s, _)| Metric::Of(m, s)));
        for metric in of.chain(OTHERS.iter().map(|&(o, _)| Metric::Other(o))) {
            assert_eq!(metric.to_string().parse(), Ok(metric));
        }
        assert!("wait".parse::<Metric>().is_err_and(|e| e.contains("wait|response")));
    }
}
