//! The slowdown ratio R of two schedules of the same jobs (Lawson & Smirni 2002).

use super::category::lawson_class;
use super::measures::{bounded_slowdown, job_slowdown, slowdown_ratio};
use super::row::JobRow;
use serde::{Deserialize, Serialize};

/// Submissions per point of the paper's figure 6.
pub const BATCH: usize = 1_000;

fn usual() -> usize {
    BATCH
}

/// R = (s1 − sm) / min(s1, sm) of mean slowdowns s = 1 + wait / run; positive where the second
/// schedule is better. `None` where there is no job. Jobs that ran for 0 s in either schedule are
/// left out, but not from R of bounded slowdowns.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SlowdownRatios {
    /// Over all jobs that count.
    pub overall: Option<f64>,
    /// Per class of run time in the first schedule: up to 100, 1,000, 10,000 s, more.
    pub classes: [Option<f64>; 4],
    /// Per batch of consecutive submissions; an incomplete last batch is left out.
    pub batches: Vec<Option<f64>>,
    /// Submissions per batch.
    #[serde(default = "usual")]
    pub batch: usize,
    /// Jobs left out because they ran for 0 s.
    pub excluded: u64,
    /// R of bounded slowdowns ([`bounded_slowdown`], 10 s), over all jobs that count.
    #[serde(default)]
    pub bounded: Option<f64>,
    /// R of bounded slowdowns per class of run time.
    #[serde(default)]
    pub bounded_classes: [Option<f64>; 4],
}

/// Reason why two schedules cannot be compared job by job.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RatioError {
    /// They hold different numbers of jobs.
    #[error("schedules of {0} and {1} jobs cannot be compared job by job")]
    Lengths(usize, usize),
    /// They hold different jobs.
    #[error("job {0} of one schedule is job {1} of the other")]
    Jobs(i64, i64),
}

/// R of schedule `multiple` relative to schedule `single`, rows in order of arrival; `batch`
/// submissions per batch ([`BATCH`] in the paper, whose R is over all submissions; 0 for none).
/// Jobs that either selection does not count are left out, though they have their places in the
/// batches.
///
/// # Errors
/// The schedules do not hold the same jobs.
pub fn slowdown_ratios(single: &[JobRow], multiple: &[JobRow], batch: usize) -> Result<SlowdownRatios, RatioError> {
    if single.len() != multiple.len() {
        return Err(RatioError::Lengths(single.len(), multiple.len()));
    }
    let mut overall = Pair::default();
    let mut classes = [Pair::default(); 4];
    let mut batches = vec![Pair::default(); single.len().checked_div(batch).unwrap_or(0)];
    let (mut bounded_pair, mut bounded_classes) = (Pair::default(), [Pair::default(); 4]);
    let mut excluded_count = 0;
    for (i, (s, m)) in single.iter().zip(multiple).enumerate() {
        if (s.id, s.number) != (m.id, m.number) {
            return Err(RatioError::Jobs(s.number, m.number));
        }
        if !(s.counted && m.counted) {
            continue;
        }
        let class = lawson_class(s.ran);
        let pair = (bounded_slowdown(s.wait(), s.ran), bounded_slowdown(m.wait(), m.ran));
        bounded_pair.add_pair(pair.0, pair.1);
        bounded_classes[class].add_pair(pair.0, pair.1);
        let (Some(single_slowdown), Some(many)) = (job_slowdown(s.wait(), s.ran), job_slowdown(m.wait(), m.ran)) else {
            excluded_count += 1;
            continue;
        };
        overall.add_pair(single_slowdown, many);
        classes[class].add_pair(single_slowdown, many);
        if let Some(batch) = i.checked_div(batch).and_then(|b| batches.get_mut(b)) {
            batch.add_pair(single_slowdown, many);
        }
    }
    Ok(SlowdownRatios {
        overall: overall.ratio(),
        classes: classes.map(|c| c.ratio()),
        batches: batches.iter().map(Pair::ratio).collect(),
        batch,
        excluded: excluded_count,
        bounded: bounded_pair.ratio(),
        bounded_classes: bounded_classes.map(|c| c.ratio()),
    })
}

/// Sums of slowdowns of the same jobs in both schedules; the number of jobs cancels in R.
#[derive(Clone, Copy, Default)]
struct Pair {
    single: f64,
    multiple: f64,
}

impl Pair {
    fn add_pair(&mut self, single: f64, multiple: f64) {
        self.single += single;
        self.multiple += multiple;
    }

    fn ratio(&self) -> Option<f64> {
        slowdown_ratio(self.single, self.multiple)
    }
}
