//! Coverage and power of inference: independent logs, each with its interval, and the true change,
//! which is that of the other logs of its cell.
//!
//! Each length has logs of its own, with the load of their cell: the first weeks of a longer log
//! have a different load.

use drystone::experiment::{Experiment, ExperimentError};
use drystone::generate::{Params, WorkloadLength, WorkloadModel, generate_workload};
use drystone::inference::{Estimate, MeanDifference, PairedSums, PeriodSum, log_mean_ratio};
use drystone::log::transform::{LoadFactor, scale_load};
use drystone::metrics::{Measure, MetricsConfig, Report};
use drystone::model::{Procs, Provenance, Span, Time, Workload};
use drystone::policy::PolicySpec;
use drystone::statistics::nearest_rank_quantile;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The measures of jobs whose means are judged.
pub const MEASURES: [Measure; 2] = [Measure::Wait, Measure::BoundedSlowdown];
/// Probability that an interval is to hold the true change.
pub const CONFIDENCE: f64 = 0.95;
/// A difference is true where it is as many standard errors of the cell from none.
const TRUE_FROM: f64 = 3.0;

/// Commands whose inference is tried: one case, a change of the log, three loads of one log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CoverageKind {
    Compare,
    WhatIf,
    Rank,
}

/// A comparison: pairs of simulations, old and new, that are cases of one log.
#[derive(Clone, Debug)]
pub struct CoverageComparison {
    pub name: &'static str,
    pub kind: CoverageKind,
    /// True if nothing differs: two seeds of random predictions.
    pub null: bool,
    cases: Vec<[Simulated; 2]>,
}

/// A policy at a load factor.
type Simulated = (&'static str, &'static str);

/// Policies against `easy`.
const POLICIES: [(&str, &str); 3] =
    [("easy-sjbf", "easy-sjbf"), ("easy++", "easy++"), ("f1", "easy(order=f1,backfill=f1)")];
/// Policies that plan every job.
const PLANNERS: [(&str, &str); 2] = [("conservative", "conservative"), ("slack", "slack")];
/// Two policies without a difference.
const NULL: [&str; 2] = ["easy(predict=random(5,seed=1))", "easy(predict=random(5,seed=2))"];
/// Load factors of a ranking.
const LOADS: [&str; 3] = ["0.9", "1", "1.1"];

/// Independent logs of a generator, at several loads.
#[derive(Clone, Debug)]
pub struct CoverageStudy {
    pub procs: Procs,
    pub model: WorkloadModel,
    pub loads: Vec<f64>,
    /// Lengths in weeks.
    pub weeks: Vec<usize>,
    /// Logs of each load and length.
    pub logs: usize,
    /// Seed of the first log.
    pub seed: u64,
    /// True to try `conservative` and `slack`, which take most of the time.
    pub planners: bool,
}

impl CoverageStudy {
    pub fn list_comparisons(&self) -> Vec<CoverageComparison> {
        let planners = PLANNERS.iter().filter(|_| self.planners);
        let against = POLICIES.iter().chain(planners).map(|&(name, policy)| CoverageComparison {
            name,
            kind: CoverageKind::Compare,
            null: false,
            cases: vec![[("easy", "1"), (policy, "1")]],
        });
        let mut list: Vec<CoverageComparison> = against.collect();
        let make_comparison = |name, kind, null, cases| CoverageComparison { name, kind, null, cases };
        list.push(make_comparison(
            "nothing differs",
            CoverageKind::Compare,
            true,
            vec![NULL.map(|policy| (policy, "1"))],
        ));
        for (name, load) in [("load 1.1", "1.1"), ("load 1.2", "1.2")] {
            list.push(make_comparison(name, CoverageKind::WhatIf, false, vec![[("easy", "1"), ("easy", load)]]));
        }
        let at_loads = |old, new| LOADS.map(|load| [(old, load), (new, load)]).to_vec();
        list.push(make_comparison("easy-sjbf, 3 loads", CoverageKind::Rank, false, at_loads("easy", "easy-sjbf")));
        list.push(make_comparison("nothing differs, 3 loads", CoverageKind::Rank, true, at_loads(NULL[0], NULL[1])));
        list
    }

    /// Parameters of a log; cells are numbered by load, and within a load by length.
    fn log_params(&self, cell: usize, log: usize) -> Params {
        let (load, weeks) = self.load_and_weeks(cell);
        Params {
            load: Some(load),
            seed: self.seed + 1_000 * cell as u64 + log as u64,
            model: self.model,
            length: WorkloadLength::Span(Span(weeks as i64 * Span::WEEK.0)),
            ..Params::new(self.procs, 1)
        }
    }

    fn load_and_weeks(&self, cell: usize) -> (f64, usize) {
        (self.loads[cell / self.weeks.len()], self.weeks[cell % self.weeks.len()])
    }
}

/// A cell: logs of one load and length, one comparison and one measure.
#[derive(Clone, PartialEq, Debug)]
pub struct CoverageCell {
    pub load: f64,
    pub weeks: usize,
    /// Place among the comparisons.
    pub comparison: usize,
    pub measure: Measure,
    /// The change over all logs: ratio of the totals less 1.
    pub change: f64,
    /// True if that is no accident of these logs.
    pub differs: bool,
    pub logs: usize,
    /// Logs that have an interval.
    pub intervals: usize,
    /// Intervals that hold the change of the other logs.
    pub holding: usize,
    /// Intervals without 0.
    pub telling: usize,
    /// Logs that are decided: by the interval or by the signs of their weeks.
    pub decided: usize,
    /// Median width of the intervals over that of the narrowest of one fixed width, in logarithms,
    /// which holds as often as it should.
    pub wider: f64,
}

impl CoverageCell {
    /// Share of the intervals that hold the truth.
    pub fn covered_share(&self) -> f64 {
        self.holding as f64 / self.intervals.max(1) as f64
    }
}

/// Reasons for which a study cannot be simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoverageError {
    #[error(transparent)]
    Generate(#[from] drystone::generate::GenerateError),
    #[error(transparent)]
    Workload(#[from] drystone::model::WorkloadError),
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    #[error("{0} has no whole week")]
    NoWeek(String),
}

/// The sums per week of one log: by comparison, by measure, by case.
type LogSums = Vec<[Vec<PairedSums>; 2]>;

/// Simulates the logs of a study, on as many threads as there are processors, and counts.
///
/// # Errors
/// A log cannot be made or simulated.
///
/// Cost: up to 18 simulations a log.
pub fn measure_coverage(study: &CoverageStudy) -> Result<Vec<CoverageCell>, CoverageError> {
    let comparisons = study.list_comparisons();
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let lock = || results.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= study.loads.len() * study.weeks.len() * study.logs {
                return;
            }
            let (cell, log) = (at / study.logs, at % study.logs);
            let sums = generate_workload(&study.log_params(cell, log))
                .map_err(CoverageError::from)
                .and_then(|workload| simulate_log(&workload, &comparisons, study.load_and_weeks(cell).1));
            lock().push((at, sums));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let mut numbered_sums = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    numbered_sums.sort_by_key(|entry| entry.0);
    let logs: Vec<LogSums> = numbered_sums.into_iter().map(|(_, sums)| sums).collect::<Result<_, _>>()?;
    let mut cells = Vec::new();
    for (cell, logs) in logs.chunks(study.logs.max(1)).enumerate() {
        let (load, weeks) = study.load_and_weeks(cell);
        for (at, comparison) in comparisons.iter().enumerate() {
            for (place, measure) in MEASURES.into_iter().enumerate() {
                let sums: Vec<Vec<PairedSums>> = logs.iter().map(|log| log[at][place].clone()).collect();
                let counts = count_logs(&sums, comparison.null);
                cells.push(CoverageCell { load, weeks, comparison: at, measure, ..counts });
            }
        }
    }
    Ok(cells)
}

/// Simulates what the comparisons need, each once.
fn simulate_log(
    workload: &Workload,
    comparisons: &[CoverageComparison],
    weeks: usize,
) -> Result<LogSums, CoverageError> {
    let mut known_sums: Vec<(Simulated, [Vec<PeriodSum>; 2])> = Vec::new();
    for simulation in comparisons.iter().flat_map(|comparison| comparison.cases.iter().flatten()) {
        if known_sums.iter().any(|(entry, _)| entry == simulation) {
            continue;
        }
        let (policy, load) = simulation;
        let (Ok(spec), Ok(factor)) = (policy.parse::<PolicySpec>(), load.parse::<LoadFactor>()) else { continue };
        let scaled_workload = if *load == "1" { workload.clone() } else { scale_load(workload.clone(), factor)? };
        let result =
            Experiment::new(&spec, &scaled_workload).with_metrics(MetricsConfig::light_config()).run(&mut ())?;
        let sums = result.map(|outcome| MEASURES.map(|measure| weekly_sums(&outcome.report, measure, weeks)));
        known_sums.push((*simulation, sums.unwrap_or_default()));
    }
    let of = |simulation: &Simulated, measure: usize| {
        known_sums
            .iter()
            .find(|(entry, _)| entry == simulation)
            .map(|(_, sums)| sums[measure].clone())
            .unwrap_or_default()
    };
    let case = |[old, new]: &[Simulated; 2], measure| PairedSums { old: of(old, measure), new: of(new, measure) };
    let pair_sums =
        |comparison: &CoverageComparison| [0, 1].map(|at| comparison.cases.iter().map(|pair| case(pair, at)).collect());
    Ok(comparisons.iter().map(pair_sums).collect())
}

fn weekly_sums(report: &Report, measure: Measure, weeks: usize) -> Vec<PeriodSum> {
    let mut sums = vec![PeriodSum::default(); weeks];
    for week in &report.weeks {
        let (sum, count) = week.sum(measure);
        let place = usize::try_from(week.week).unwrap_or(0).min(weeks.saturating_sub(1));
        if let Some(unit) = sums.get_mut(place) {
            unit.add(PeriodSum { sum, count: count as f64 });
        }
    }
    sums
}

fn count_logs(logs: &[Vec<PairedSums>], null: bool) -> CoverageCell {
    let truth_without = |omission: Option<usize>| {
        let cases = logs.first().map_or(0, Vec::len);
        let pooled_sums: Vec<PairedSums> = (0..cases)
            .map(|case| {
                let of = |pick: fn(&PairedSums) -> &Vec<PeriodSum>| {
                    let kept_logs = logs.iter().enumerate().filter(|(at, _)| Some(*at) != omission);
                    kept_logs.flat_map(|(_, log)| pick(&log[case]).clone()).collect()
                };
                PairedSums { old: of(|case| &case.old), new: of(|case| &case.new) }
            })
            .collect();
        log_mean_ratio(&pooled_sums).unwrap_or(f64::NAN)
    };
    let truth = truth_without(None);
    let partial_truths: Vec<f64> = (0..logs.len()).map(|log| truth_without(Some(log))).collect();
    let n = logs.len() as f64;
    let mean = partial_truths.iter().sum::<f64>() / n;
    let error =
        ((n - 1.0) / n * partial_truths.iter().map(|rest_truth| (rest_truth - mean).powi(2)).sum::<f64>()).sqrt();
    let estimates: Vec<Option<Estimate>> = logs.iter().map(|log| Estimate::of_log(log).ok()).collect();
    let halves = |estimate: &Estimate| {
        let (low, high) = estimate.change_interval(CONFIDENCE);
        (low.ln_1p(), high.ln_1p())
    };
    let intervals: Vec<((f64, f64), f64)> = estimates
        .iter()
        .zip(&partial_truths)
        .filter_map(|(estimate, &rest_truth)| Some((halves(estimate.as_ref()?), rest_truth)))
        .collect();
    let far = sort_values(logs.iter().filter_map(|log| log_mean_ratio(log)).map(|own| (own - truth).abs()).collect());
    let ideal = nearest_rank_quantile(&far, CONFIDENCE);
    let widths = sort_values(intervals.iter().map(|((low, high), _)| (high - low) / 2.0).collect());
    let is_decided = |log: &&Vec<PairedSums>| match log.as_slice() {
        [only] => {
            let difference = MeanDifference::compare_sums(only.old.clone(), only.new.clone());
            let p = difference.p_value().is_some_and(|p| p < 1.0 - CONFIDENCE);
            p || difference.decided_by_signs(CONFIDENCE, 1).is_some()
        }
        cases => Estimate::of_log(cases).is_ok_and(|estimate| estimate.p_value() < 1.0 - CONFIDENCE),
    };
    CoverageCell {
        load: 0.0,
        weeks: 0,
        comparison: 0,
        measure: Measure::Wait,
        change: truth.exp_m1(),
        differs: !null && truth.abs() > TRUE_FROM * error,
        logs: logs.len(),
        intervals: intervals.len(),
        holding: intervals.iter().filter(|((low, high), rest_truth)| low <= rest_truth && rest_truth <= high).count(),
        telling: intervals.iter().filter(|((low, high), _)| *low > 0.0 || *high < 0.0).count(),
        decided: logs.iter().filter(is_decided).count(),
        wider: widths.get(widths.len() / 2).copied().unwrap_or(f64::NAN) / ideal.unwrap_or(f64::NAN),
    }
}

fn sort_values(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Whole weeks of a workload, drawn with replacement, one behind the other.
pub(crate) fn draw_weeks(base: &Workload, weeks: u32, seed: u64) -> Result<Workload, CoverageError> {
    let (first, last) = base.submit_range().unwrap_or_default();
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
        for (job, job_truth) in base.jobs().iter().zip(base.truth()) {
            if job.submit >= begin && job.submit < begin + Span::WEEK {
                let mut job = job.clone();
                job.submit = Time(job.submit.0 + shift.0);
                jobs.push(job);
                truth.push(job_truth.clone());
            }
        }
    }
    Ok(Workload::new(base.machine(), jobs, truth, Provenance::default())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four weeks of a log are drawn from three, and a log of one job has none.
    #[test]
    fn weeks_are_drawn_from_a_log() {
        use drystone::model::{Job, LogStatus, Machine, Truth};
        let workload = |jobs: i64| {
            let job = |k: i64| Job::new(Time(k * Span::WEEK.0 / 200), 2, Span(3_000));
            let truth = |k: i64| Truth { run: Span(600), number: k, status: LogStatus::Completed };
            let job_list = (0..jobs).map(job).collect();
            Workload::new(Machine::new(4), job_list, (0..jobs).map(truth).collect(), Provenance::default())
                .expect("possible")
        };
        let weeks = draw_weeks(&workload(601), 4, 7).expect("three whole weeks");
        assert_eq!((weeks.len(), weeks.jobs()[200].submit), (800, Time(Span::WEEK.0)));
        let error = draw_weeks(&workload(1), 4, 7).expect_err("one job").to_string();
        assert!(error.contains("no whole week"), "{error}");
    }
}
