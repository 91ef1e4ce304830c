//! Batches that run far shorter than the earlier jobs of their users, because they fail, say.
//!
//! The history of a user says nothing about a new batch until its first jobs end. Until then, the
//! batches of all users give the share of batches that are far shorter.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// User and limit of the jobs of a batch.
pub(crate) type BatchKey = (i32, i64);

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Batches {
    open: BTreeMap<BatchKey, Batch>,
    /// The first run times of batches as parts of those before, the newest last.
    ratios: VecDeque<f64>,
}

/// Jobs of one user and limit that came together.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Batch {
    began: i64,
    last: i64,
    jobs: u32,
    /// Median run time of such jobs of the user before.
    before: i64,
    /// The first run times.
    runs: Vec<i64>,
}

/// A batch that may be far shorter than its user's jobs before.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct BatchSurprise {
    /// Probability.
    pub(crate) share: f64,
    /// Run times as parts of the usual ones, ascending.
    pub(crate) ratios: Vec<f64>,
}

/// Seconds without a job that end a batch.
const GAP: i64 = 600;
/// Jobs of a batch at least.
const FEWEST: u32 = 10;
/// Run times that tell what a batch is like.
const FIRST: usize = 5;
/// A batch is far shorter if it runs for this part of the time.
const SHORT: f64 = 0.1;
/// Batches that are remembered.
const KEPT: usize = 200;
/// Users of which some are remembered.
const MOST_OPEN: usize = 20_000;
/// Batches that count before any is known, and how many of them are far shorter.
const PRIOR: (f64, f64) = (20.0, 1.0);

impl Batches {
    /// A job has arrived; `before` is what such jobs of the user have taken, where that is known.
    pub(crate) fn note_arrival(&mut self, key: BatchKey, time: i64, before: impl FnOnce() -> Option<i64>) {
        if key.0 < 0 {
            return;
        }
        if let Some(batch) = self.open.get_mut(&key).filter(|batch| time - batch.last <= GAP) {
            (batch.last, batch.jobs) = (time, batch.jobs + 1);
            return;
        }
        if self.open.len() > MOST_OPEN {
            self.open.clear();
        }
        match before().filter(|&before| before > 0) {
            Some(before) => {
                let batch = Batch { began: time, last: time, jobs: 1, before, runs: Vec::new() };
                _ = self.open.insert(key, batch);
            }
            None => _ = self.open.remove(&key),
        }
    }

    /// A job has ended that started then.
    pub(crate) fn note_end(&mut self, key: BatchKey, start: i64, run: i64) {
        let Some(batch) = self.open.get_mut(&key) else { return };
        if start < batch.began || batch.runs.len() >= FIRST {
            return;
        }
        batch.runs.push(run);
        if batch.runs.len() == FIRST && batch.jobs >= FEWEST {
            batch.runs.sort_unstable();
            self.ratios.push_back(batch.runs[FIRST / 2] as f64 / batch.before as f64);
            if self.ratios.len() > KEPT {
                self.ratios.pop_front();
            }
        }
    }

    /// Returns the surprise that a batch may be, of which nothing is known yet; `longest` is how
    /// long a job of it has run, by its start.
    pub(crate) fn find_surprise(&self, key: BatchKey, longest: impl Fn(i64) -> i64) -> Option<BatchSurprise> {
        let batch = self.open.get(&key).filter(|batch| batch.jobs >= FEWEST && batch.runs.is_empty())?;
        let ran = longest(batch.began) as f64 / batch.before as f64;
        let mut ratios: Vec<f64> = self.ratios.iter().copied().filter(|&ratio| ratio < SHORT && ratio > ran).collect();
        if ran >= SHORT {
            return None;
        }
        ratios.sort_unstable_by(f64::total_cmp);
        let share = (ratios.len() as f64 + PRIOR.1) / (self.ratios.len() as f64 + PRIOR.0);
        if ratios.is_empty() {
            ratios.push(SHORT / 2.0);
        }
        Some(BatchSurprise { share, ratios })
    }
}

impl BatchSurprise {
    /// The part of its usual run time that a job takes, in a future with this number.
    #[inline]
    pub(crate) fn run_share(&self, number: f64) -> f64 {
        if number >= self.share {
            return 1.0;
        }
        let place = (number / self.share * self.ratios.len() as f64) as usize;
        self.ratios[place.min(self.ratios.len() - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of four batches of users whose jobs took 1,000 s before one took 10 s: a new batch may be
    /// such a one, with (1 + 1) of (4 + 20), until a job of it has run for longer or ended.
    #[test]
    fn a_share_of_batches_fails_at_once() {
        let mut batches = Batches::default();
        for (user, run) in [(1, 900), (2, 10), (3, 1_200), (4, 1_000)] {
            (0..10).for_each(|at| batches.note_arrival((user, 3_600), at, || Some(1_000)));
            (0..5).for_each(|at| batches.note_end((user, 3_600), 20 + at, run));
        }
        (0..10).for_each(|at| batches.note_arrival((5, 3_600), 100 * at, || Some(2_000)));
        let surprise = batches.find_surprise((5, 3_600), |_| 0).expect("a new batch");
        assert_eq!(surprise, BatchSurprise { share: 2.0 / 24.0, ratios: vec![0.01] });
        assert_eq!((surprise.run_share(0.08), surprise.run_share(0.09)), (0.01, 1.0));
        // A job of it has run for longer than a hundredth, and then than a tenth.
        let surprise = batches.find_surprise((5, 3_600), |_| 21).expect("it may be another kind");
        assert_eq!((surprise.share, &surprise.ratios[..]), (1.0 / 24.0, &[0.05][..]));
        assert_eq!(batches.find_surprise((5, 3_600), |_| 200), None);
        batches.note_end((5, 3_600), 10, 700);
        assert_eq!(batches.find_surprise((5, 3_600), |_| 0), None);
    }

    /// Fewer jobs than ten are no batch, nor are jobs that come one by one, nor those of a user
    /// without a history.
    #[test]
    fn what_is_no_batch_is_no_surprise() {
        let mut batches = Batches::default();
        (0..9).for_each(|at| batches.note_arrival((1, 60), at, || Some(50)));
        (0..20).for_each(|at| batches.note_arrival((2, 60), 601 * at, || Some(50)));
        (0..20).for_each(|at| batches.note_arrival((3, 60), at, || None));
        (0..20).for_each(|at| batches.note_arrival((-1, 60), at, || Some(50)));
        for user in [1, 2, 3, -1] {
            assert_eq!(batches.find_surprise((user, 60), |_| 0), None, "{user}");
        }
    }
}
