//! Checkpoints, second by second.
//!
//! A job that has its processors reads its last checkpoint, if it has one, and then works. Whenever
//! it has worked for the interval since the last read or write and some work is left, it writes. A
//! write counts when its last second is over. A job that loses its processors goes on from the last
//! write that counts. Read and writes of an attempt are the price of checkpoints if a write of it
//! counted or the job ended, else they were in vain, as everything since the last write that
//! counts.

/// Checkpoints of every job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NaiveCheckpoints {
    /// Work between two.
    pub interval: i64,
    /// Seconds of a write.
    pub cost: i64,
    /// Seconds of a read.
    pub restart: i64,
}

/// Progress of an attempt of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NaiveAttempt {
    /// Seconds on its processors.
    pub elapsed: i64,
    /// Work that is in checkpoints, those of earlier attempts as well.
    pub kept: i64,
    /// Seconds of its read and of its writes that count, if one does or the job has ended.
    pub spent: i64,
    /// True if no work is left.
    pub done: bool,
}

impl NaiveCheckpoints {
    /// Runs an attempt of a job of so much work, so much of which is kept, for so long at most.
    #[must_use]
    pub fn run_attempt(&self, work: i64, progress: i64, most: i64) -> NaiveAttempt {
        let (mut work_done, mut since, mut elapsed_time) = (progress, 0, 0);
        let mut reading = if progress > 0 { self.restart } else { 0 };
        let mut writing = 0;
        let mut attempt = NaiveAttempt { elapsed: 0, kept: progress, spent: 0, done: false };
        let read_time = reading;
        loop {
            // A checkpoint that costs nothing is there at once.
            if writing == 0 && since == self.interval && work_done < work {
                since = 0;
                writing = self.cost;
                if writing == 0 {
                    (attempt.kept, attempt.spent) = (work_done, attempt.spent.max(read_time));
                }
            }
            if reading == 0 && writing == 0 && work_done == work {
                return NaiveAttempt {
                    elapsed: elapsed_time,
                    spent: attempt.spent.max(read_time),
                    done: true,
                    ..attempt
                };
            }
            if elapsed_time == most {
                return NaiveAttempt { elapsed: elapsed_time, ..attempt };
            }
            elapsed_time += 1;
            if reading > 0 {
                reading -= 1;
            } else if writing > 0 {
                writing -= 1;
                if writing == 0 {
                    (attempt.kept, attempt.spent) = (work_done, attempt.spent.max(read_time) + self.cost);
                }
            } else {
                work_done += 1;
                since += 1;
            }
        }
    }

    /// The time limit with room for the writes of so much work.
    #[must_use]
    pub fn limit_with_writes(&self, estimate: i64) -> i64 {
        self.run_attempt(estimate, 0, i64::MAX).elapsed
    }
}
