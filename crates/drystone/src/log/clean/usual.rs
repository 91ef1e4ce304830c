//! Usual run times of a user's jobs, as known when another one came.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Run time assumed before any job has ended, in seconds.
const UNKNOWN: i64 = 3_600;

/// Run times of the jobs that had ended, by user.
#[derive(Debug, Default)]
pub(super) struct UsualRuns {
    /// Ends of jobs not counted yet: end, user, run time.
    running: BinaryHeap<Reverse<(i64, i64, i64)>>,
    /// Sum and number, by user.
    users: HashMap<i64, (i64, i64)>,
    all: (i64, i64),
}

impl UsualRuns {
    /// A job of this user ends then, after this many seconds.
    pub(super) fn learn_run(&mut self, user: i64, end: i64, run: i64) {
        self.running.push(Reverse((end, user, run)));
    }

    /// The mean run time of the user's jobs that had ended by this time; at least a second.
    pub(super) fn mean_run(&mut self, user: i64, now: i64) -> i64 {
        while let Some(&Reverse((_, owner, run))) = self.running.peek().filter(|next| next.0.0 <= now) {
            self.running.pop();
            for (sum, count) in [self.users.entry(owner).or_default(), &mut self.all] {
                *sum = sum.saturating_add(run);
                *count += 1;
            }
        }
        let user_sum = self.users.get(&user).filter(|entry| entry.1 > 0 && user >= 0);
        let (sum, count) = user_sum.copied().unwrap_or(self.all);
        if count == 0 { UNKNOWN } else { (sum / count).max(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// User 1 ran for 100 and 300 s, ending at 100 and 400; user 2 for 50 s, ending at 1,000.
    #[test]
    fn only_what_had_ended_counts() {
        let mut usual = UsualRuns::default();
        assert_eq!(usual.mean_run(1, 0), UNKNOWN);
        usual.learn_run(1, 100, 100);
        usual.learn_run(1, 400, 300);
        usual.learn_run(2, 1_000, 50);
        assert_eq!(usual.mean_run(1, 99), UNKNOWN);
        assert_eq!(usual.mean_run(1, 100), 100);
        assert_eq!((usual.mean_run(1, 400), usual.mean_run(2, 400)), (200, 200));
        assert_eq!((usual.mean_run(2, 1_000), usual.mean_run(9, 1_000), usual.mean_run(-1, 1_000)), (50, 150, 150));
    }
}
