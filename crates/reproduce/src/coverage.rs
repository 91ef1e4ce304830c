//! Coverage of the intervals of `compare`: independent logs, each with its interval, and the true
//! change, which is that of the means over all of them.

use drystone::experiment::{Experiment, ExperimentError};
use drystone::generate::{Params, WorkloadModel, generate};
use drystone::log::{self, clean::CleaningOptions};
use drystone::metrics::interval::{PeriodSum, change_interval};
use drystone::metrics::{Measure, MetricsConfig, Report};
use drystone::model::{Provenance, Span, Time, Workload};
use drystone::policy::PolicySpec;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The baseline, and the policies whose changes from it are judged.
pub const POLICIES: [&str; 3] = ["easy", "easy-sjbf", "easy++"];
/// The measures of jobs whose means are judged.
pub const MEASURES: [Measure; 2] = [Measure::Wait, Measure::BoundedSlowdown];

/// A row: logs that have their law in common.
#[derive(Clone, Debug)]
pub struct CoverageRow {
    /// Description of the logs.
    pub name: String,
    pub source: LogSource,
    pub logs: usize,
}

/// A source of independent logs.
#[derive(Clone, Debug)]
pub enum LogSource {
    /// The generator with these parameters and seeds from this one on.
    Generated(Box<Params>),
    /// Whole weeks of a log, drawn with replacement and put one behind the other.
    Weeks {
        /// The log, in Standard Workload Format.
        file: PathBuf,
        /// Weeks of each log that is made of it.
        weeks: u32,
        /// The seed of the first.
        seed: u64,
    },
}

/// Coverage by the intervals of one policy and one measure.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct IntervalCoverage {
    /// The true change: mean of the policy / mean of the baseline − 1, over all logs.
    pub truth: f64,
    /// Logs whose interval holds it.
    pub holding: usize,
    /// Logs that have an interval.
    pub intervals: usize,
    /// Logs too short to tell.
    pub too_short: usize,
    /// Median width of the intervals, as a difference of relative changes.
    pub width: f64,
    /// Width of the ideal interval, as a difference of relative changes around the truth: the
    /// narrowest of one fixed width, in logarithms, that holds as often as its confidence says. It
    /// takes all logs of the row to know it.
    pub ideal: f64,
    /// Mean width of the intervals over that of the ideal one, in logarithms.
    pub wider: f64,
}

impl IntervalCoverage {
    /// Share of the intervals that hold the truth.
    pub fn share(&self) -> f64 {
        self.holding as f64 / self.intervals.max(1) as f64
    }
}

/// Result of a row: median weeks of its logs, and a [`IntervalCoverage`] for each policy but the
/// baseline and each measure, policy by policy.
#[derive(Clone, PartialEq, Debug)]
pub struct RowCoverage {
    /// Median number of weeks of the logs.
    pub weeks: usize,
    /// One for each policy and measure.
    pub cells: Vec<IntervalCoverage>,
}

/// Reasons for which a row cannot be simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoverageError {
    #[error(transparent)]
    Generate(#[from] drystone::generate::GenerateError),
    #[error(transparent)]
    Log(#[from] drystone::log::LogError),
    #[error(transparent)]
    Workload(#[from] drystone::model::WorkloadError),
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    #[error("{0} has no whole week")]
    NoWeek(String),
}

/// Rows on which the constants of the estimator were chosen: load, jobs, logs.
pub fn chosen_on() -> Vec<CoverageRow> {
    let rows = [(0.6, 20_000, 200), (0.7, 20_000, 200), (0.7, 5_000, 300), (0.9, 20_000, 150)];
    let row = |(at, (load, jobs, logs)): (usize, (f64, u32, usize))| CoverageRow {
        name: format!("load {load}, {jobs} jobs"),
        source: LogSource::Generated(Box::new(Params {
            load: Some(load),
            seed: 1_000 * at as u64 + 1,
            ..Params::new(128, jobs)
        })),
        logs,
    };
    rows.into_iter().enumerate().map(row).collect()
}

/// Rows that had no part in that: other arrivals, machines, loads and seeds.
pub fn held_out() -> Vec<CoverageRow> {
    let rows = [
        ("typed, 256 processors", WorkloadModel::Typed, 256, 0.65, 12_000, 18),
        ("typed, 256 processors", WorkloadModel::Typed, 256, 0.85, 12_000, 18),
        ("64 processors", WorkloadModel::Typeless, 64, 0.75, 10_000, 18),
        ("512 processors, jobs up to 3 days", WorkloadModel::Typeless, 512, 0.8, 20_000, 72),
    ];
    let row = |(at, (name, model, procs, load, jobs, hours)): (usize, (&str, WorkloadModel, u32, f64, u32, i64))| {
        CoverageRow {
            name: format!("{name}, load {load}, {jobs} jobs"),
            source: LogSource::Generated(Box::new(Params {
                load: Some(load),
                seed: 500_000 + 1_000 * at as u64,
                model,
                max_estimate: Span(hours * Span::HOUR.0),
                ..Params::new(procs, jobs)
            })),
            logs: 120,
        }
    };
    rows.into_iter().enumerate().map(row).collect()
}

/// A row of logs that are made of the weeks of a real one.
pub fn resampled(file: PathBuf, weeks: u32, logs: usize) -> CoverageRow {
    let name = format!("{weeks} weeks of {}", log::title(&file));
    CoverageRow { name, source: LogSource::Weeks { file, weeks, seed: 900_000 }, logs }
}

/// Sums of each week, by policy and measure.
type WeekMeasureSums = Vec<Vec<Vec<PeriodSum>>>;

/// Simulates the logs of a row, on as many threads as there are processors, and counts the
/// intervals at this confidence that hold the truth.
///
/// # Errors
/// A log cannot be made, read or simulated.
///
/// Cost: three simulations a log.
pub fn coverage(row: &CoverageRow, confidence: f64) -> Result<RowCoverage, CoverageError> {
    let base = match &row.source {
        LogSource::Generated(_) => None,
        LogSource::Weeks { file, .. } => Some(log::load(file, &CleaningOptions::default())?.workload),
    };
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let lock = || done.lock().unwrap_or_else(PoisonError::into_inner);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= row.logs {
                        return;
                    }
                    let sums = made(&row.source, base.as_ref(), at as u64).and_then(|log| simulated(&log));
                    lock().push((at, sums));
                }
            });
        }
    });
    let mut all = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by_key(|one| one.0);
    let logs: Vec<WeekMeasureSums> = all.into_iter().map(|(_, sums)| sums).collect::<Result<_, _>>()?;
    let mut weeks: Vec<usize> = logs.iter().map(|log| log[0][0].len()).collect();
    weeks.sort_unstable();
    let cells = (1..POLICIES.len()).flat_map(|policy| (0..MEASURES.len()).map(move |measure| (policy, measure)));
    Ok(RowCoverage {
        weeks: weeks.get(weeks.len() / 2).copied().unwrap_or(0),
        cells: cells.map(|cell| count(&logs, cell, confidence)).collect(),
    })
}

/// One log of a row.
fn made(source: &LogSource, base: Option<&Workload>, at: u64) -> Result<Workload, CoverageError> {
    match (source, base) {
        (LogSource::Generated(params), _) => Ok(generate(&Params { seed: params.seed + at, ..(**params).clone() })?),
        (LogSource::Weeks { weeks, seed, .. }, Some(base)) => drawn(base, *weeks, seed + at),
        (LogSource::Weeks { file, .. }, None) => Err(CoverageError::NoWeek(file.display().to_string())),
    }
}

/// Whole weeks of a workload, drawn with replacement, one behind the other.
pub(crate) fn drawn(base: &Workload, weeks: u32, seed: u64) -> Result<Workload, CoverageError> {
    let (first, last) = base.submits().unwrap_or_default();
    let whole = (last - first).0 / Span::WEEK.0;
    if whole < 1 {
        return Err(CoverageError::NoWeek(base.provenance.name.clone()));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut jobs, mut truth) = (Vec::new(), Vec::new());
    for week in 0..i64::from(weeks) {
        let from = (rng.next_u64() % whole as u64) as i64;
        let begin = first + Span(from * Span::WEEK.0);
        let shift = Span((week - from) * Span::WEEK.0 - first.0);
        for (job, known) in base.jobs().iter().zip(base.truth()) {
            if job.submit >= begin && job.submit < begin + Span::WEEK {
                let mut job = job.clone();
                job.submit = Time(job.submit.0 + shift.0);
                jobs.push(job);
                truth.push(known.clone());
            }
        }
    }
    Ok(Workload::new(base.machine(), jobs, truth, Provenance::default())?)
}

/// Sums per week of the log under each policy.
fn simulated(workload: &Workload) -> Result<WeekMeasureSums, CoverageError> {
    let mut reports: Vec<Report> = Vec::new();
    for policy in POLICIES {
        let Ok(spec) = policy.parse::<PolicySpec>() else { continue };
        let measured = Experiment::new(&spec, workload).measuring(MetricsConfig::light()).run(&mut ())?;
        reports.extend(measured.map(|measured| measured.report));
    }
    let last = reports.iter().flat_map(|report| &report.weeks).map(|week| week.week).max().unwrap_or(0);
    let sums = |report: &Report, measure: Measure| -> Vec<PeriodSum> {
        let mut sums = vec![PeriodSum::default(); usize::try_from(last).unwrap_or(0) + 1];
        for week in &report.weeks {
            let (sum, count) = week.sum(measure);
            sums[usize::try_from(week.week).unwrap_or(0)] = PeriodSum { sum, count: count as f64 };
        }
        sums
    };
    Ok(reports.iter().map(|report| MEASURES.map(|measure| sums(report, measure)).to_vec()).collect())
}

fn count(logs: &[WeekMeasureSums], (policy, measure): (usize, usize), confidence: f64) -> IntervalCoverage {
    let mean = |of: usize| {
        let sums = logs.iter().flat_map(|log| &log[of][measure]);
        let (sum, count) = sums.fold((0.0, 0.0), |all, week| (all.0 + week.sum, all.1 + week.count));
        sum / count
    };
    let truth = mean(policy) / mean(0) - 1.0;
    let found: Vec<(f64, f64)> = logs
        .iter()
        .filter_map(|log| change_interval(&log[0][measure], &log[policy][measure], confidence).interval())
        .collect();
    let widths: Vec<f64> = sorted(found.iter().map(|(low, high)| high - low).collect());
    let logarithmic: Vec<f64> = found.iter().map(|(low, high)| high.ln_1p() - low.ln_1p()).collect();
    let half = ideal_half_width(logs, (policy, measure), truth, confidence);
    IntervalCoverage {
        truth,
        holding: found.iter().filter(|(low, high)| *low <= truth && truth <= *high).count(),
        intervals: found.len(),
        too_short: logs.len() - found.len(),
        width: widths.get(widths.len() / 2).copied().unwrap_or(f64::NAN),
        ideal: (1.0 + truth) * (half.exp() - (-half).exp()),
        wider: logarithmic.iter().sum::<f64>() / logarithmic.len() as f64 / (2.0 * half),
    }
}

/// Distance, in logarithms, from the true change within which the changes of this share of all
/// logs lie, those that are too short to tell included.
fn ideal_half_width(logs: &[WeekMeasureSums], (policy, measure): (usize, usize), truth: f64, confidence: f64) -> f64 {
    let mean = |weeks: &[PeriodSum]| {
        let (sum, count) = weeks.iter().fold((0.0, 0.0), |all, week| (all.0 + week.sum, all.1 + week.count));
        sum / count
    };
    let change = |log: &WeekMeasureSums| (mean(&log[policy][measure]) / mean(&log[0][measure])).ln();
    let far =
        sorted(logs.iter().map(|log| (change(log) - truth.ln_1p()).abs()).filter(|far| far.is_finite()).collect());
    let at = (confidence * far.len() as f64).ceil() as usize;
    far.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values
}
