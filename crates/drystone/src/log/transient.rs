//! Change of a workload over time: the characterisation of Lawson, Smirni & Puiu 2002, section 2.

use crate::model::{Span, Time, Workload};
use serde::{Deserialize, Serialize};

/// Jobs per batch in the paper.
pub const BATCH: usize = 1_000;
/// Upper borders of the paper's classes of run times, inclusive, in seconds.
const BORDERS: [i64; 3] = [100, 1_000, 10_000];

/// Statistics of many values.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ValueMoments {
    /// Number of jobs.
    pub jobs: u64,
    /// Mean; `None` without values.
    pub mean: Option<f64>,
    /// Median, the mean of the two middle ones if there are two; `None` without values.
    pub median: Option<f64>,
    /// Coefficient of variation: standard deviation over mean; `None` without values or where all
    /// are 0.
    pub variation: Option<f64>,
}

/// Jobs submitted one after the other.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobBatch {
    /// Submit of the first.
    pub from: Time,
    /// Run times of all, in seconds.
    pub all: ValueMoments,
    /// Run times of those of each class: up to 100, 1,000, 10,000 s, more.
    pub classes: [ValueMoments; 4],
}

impl JobBatch {
    /// Share of the batch's jobs in a class.
    #[must_use]
    pub fn class_share(&self, class: usize) -> f64 {
        self.classes[class].jobs as f64 / self.all.jobs as f64
    }
}

/// A workload over time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Transient {
    /// Run times, in seconds (table 1).
    pub run_times: ValueMoments,
    /// Processors per job (table 1).
    pub procs: ValueMoments,
    /// Run times of the jobs of each class.
    pub classes: [ValueMoments; 4],
    /// Correlation (Pearson's) of run time and processors; `None` where one does not vary.
    pub correlation: Option<f64>,
    /// Jobs submitted per week (figure 1), from the first submit on.
    pub weeks: Vec<u64>,
    /// Jobs per batch.
    pub batch: usize,
    /// Batches of consecutive submissions (figure 2); an incomplete last one is left out.
    pub batches: Vec<JobBatch>,
}

/// The class of a run time, 0 to 3.
fn run_class(run: Span) -> usize {
    BORDERS.iter().take_while(|&&b| run.0 > b).count()
}

/// Describes a workload over time, in batches of this many jobs ([`BATCH`] in the paper; 0 for
/// none). O(n log n).
#[must_use]
pub fn describe_transient(workload: &Workload, batch: usize) -> Transient {
    let runs: Vec<Span> = workload.truth().iter().map(|t| t.run).collect();
    let (run_times, classes) = by_class(&runs);
    let mut weeks = Vec::new();
    if let Some((first, _)) = workload.submit_range() {
        for job in workload.jobs() {
            let week = ((job.submit - first).0 / Span::WEEK.0) as usize;
            weeks.resize(weeks.len().max(week + 1), 0);
            weeks[week] += 1;
        }
    }
    let batches = match batch {
        0 => Vec::new(),
        _ => {
            let pairs = runs.chunks_exact(batch).zip(workload.jobs().iter().step_by(batch));
            pairs
                .map(|(runs, first)| {
                    let (overall_moments, classes) = by_class(runs);
                    JobBatch { from: first.submit, all: overall_moments, classes }
                })
                .collect()
        }
    };
    Transient {
        run_times,
        procs: compute_moments(workload.jobs().iter().map(|j| f64::from(j.procs)).collect()),
        classes,
        correlation: compute_correlation(workload),
        weeks,
        batch,
        batches,
    }
}

fn by_class(runs: &[Span]) -> (ValueMoments, [ValueMoments; 4]) {
    let of = |class: usize| runs.iter().filter(|&&r| run_class(r) == class).map(|r| r.as_f64()).collect();
    (compute_moments(runs.iter().map(|r| r.as_f64()).collect()), std::array::from_fn(|c| compute_moments(of(c))))
}

fn compute_moments(mut values: Vec<f64>) -> ValueMoments {
    if values.is_empty() {
        return ValueMoments::default();
    }
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let median = f64::midpoint(values[(n - 1) / 2], values[n / 2]);
    let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
    let variation = (mean > 0.0).then(|| square.sqrt() / mean);
    ValueMoments { jobs: n as u64, mean: Some(mean), median: Some(median), variation }
}

fn compute_correlation(workload: &Workload) -> Option<f64> {
    let pairs = || workload.jobs().iter().zip(workload.truth()).map(|(j, t)| (f64::from(j.procs), t.run.as_f64()));
    let n = workload.len() as f64;
    let (x, y) = pairs().fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / n, sum.1 + p.1 / n));
    let (xx, xy, yy) = pairs().fold((0.0, 0.0, 0.0), |s, p| {
        let (dx, dy) = (p.0 - x, p.1 - y);
        (s.0 + dx * dx, s.1 + dx * dy, s.2 + dy * dy)
    });
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, LogStatus, Machine, Provenance, Truth};

    fn workload(jobs: &[(i64, u32, i64)]) -> Workload {
        let truth = jobs.iter().map(|j| Truth { run: Span(j.2), number: 0, status: LogStatus::Completed }).collect();
        let jobs = jobs.iter().map(|j| Job::new(Time(j.0), j.1, Span(j.2))).collect();
        Workload::new(Machine::new(8), jobs, truth, Provenance::default()).expect("sound")
    }

    #[test]
    fn batches_by_hand() {
        let w = workload(&[
            (0, 1, 100),
            (10, 2, 300),
            (Span::WEEK.0, 3, 500),
            (Span::WEEK.0 + 9, 4, 20_000),
            (9_999_999, 5, 1),
        ]);
        let t = describe_transient(&w, 2);
        assert_eq!(t.weeks[..2], [2, 2]);
        assert_eq!((t.weeks.len(), t.weeks.iter().sum::<u64>()), (17, 5));
        assert_eq!(t.batches.len(), 2);
        // 100 and 300 s: mean 200, deviation 100.
        assert_eq!(
            (t.batches[0].from, t.batches[0].all.mean, t.batches[0].all.variation),
            (Time(0), Some(200.0), Some(0.5))
        );
        assert_eq!([0, 1, 2, 3].map(|c| t.batches[0].class_share(c)), [0.5, 0.5, 0.0, 0.0]);
        assert_eq!([0, 1, 2, 3].map(|c| t.batches[1].class_share(c)), [0.0, 0.5, 0.0, 0.5]);
        assert_eq!((t.procs.mean, t.procs.median, t.run_times.median), (Some(3.0), Some(3.0), Some(300.0)));
        assert_eq!(t.classes.map(|c| c.jobs), [2, 2, 0, 1]);
        assert!(describe_transient(&w, 0).batches.is_empty());
    }

    #[test]
    fn run_time_and_width_correlate() {
        let t = describe_transient(&workload(&[(0, 1, 10), (0, 2, 20), (0, 3, 30)]), BATCH);
        assert!((t.correlation.expect("both vary") - 1.0).abs() < 1e-12);
        let t = describe_transient(&workload(&[(0, 1, 30), (0, 2, 20), (0, 3, 10)]), BATCH);
        assert!((t.correlation.expect("both vary") + 1.0).abs() < 1e-12);
        assert_eq!(describe_transient(&workload(&[(0, 2, 30), (0, 2, 20)]), BATCH).correlation, None);
    }
}
