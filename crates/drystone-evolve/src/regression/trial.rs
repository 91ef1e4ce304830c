//! One queue on one machine, run in any order.

use drystone::model::{Span, Time, Workload};

/// A job of a queue and what trials said of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct QueueSample {
    /// Run time in seconds, at least 1.
    pub run: f64,
    pub procs: f64,
    /// Submit time in seconds since the first job of the tuple, at least 1.
    pub submit: f64,
    pub score: f64,
}

#[derive(Clone, Copy)]
struct TrialJob {
    submit: i64,
    run: i64,
    procs: u32,
}

/// A tuple: jobs that are started in the order of their arrival, and a queue.
pub struct QueueTrial {
    procs: u32,
    begin: i64,
    first: Vec<TrialJob>,
    queue: Vec<TrialJob>,
}

/// Run times below this count as this in bounded slowdowns, in seconds.
const SHORTEST: f64 = 10.0;

impl QueueTrial {
    /// The jobs of a workload from this place on.
    pub fn new(workload: &Workload, first: usize, running: usize, queue: usize) -> QueueTrial {
        let pairs = workload.jobs().iter().zip(workload.truth()).skip(first).take(running + queue);
        let jobs =
            pairs.map(|(job, truth)| TrialJob { submit: job.submit.0, run: truth.run.0.max(1), procs: job.procs });
        let mut first: Vec<TrialJob> = jobs.collect();
        let queue = first.split_off(running.min(first.len()));
        let begin = first.iter().chain(&queue).map(|job| job.submit).min().unwrap_or(0);
        QueueTrial { procs: workload.machine().procs, begin, first, queue }
    }

    pub fn len(&self) -> usize {
        self.queue.len()
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The mean bounded slowdown of the queue, started strictly in this order behind the first
    /// jobs. O(n²).
    pub fn simulate_order(&self, order: &[usize]) -> f64 {
        let mut machine = TrialMachine { free: self.procs, now: self.begin, ends: Vec::new() };
        self.first.iter().for_each(|job| _ = machine.start_job(job));
        let slowdown = |job: &TrialJob, start: i64| {
            let (wait, run) = (Span(start - job.submit).as_f64(), Span(job.run).as_f64());
            ((wait + run) / run.max(SHORTEST)).max(1.0)
        };
        let sum: f64 = order.iter().map(|&at| slowdown(&self.queue[at], machine.start_job(&self.queue[at]))).sum();
        sum / order.len().max(1) as f64
    }

    pub(super) fn scored_samples(&self, scores: impl Iterator<Item = f64>) -> Vec<QueueSample> {
        let sample = |(job, score): (&TrialJob, f64)| QueueSample {
            run: job.run as f64,
            procs: f64::from(job.procs),
            submit: (Time(job.submit) - Time(self.begin)).as_f64().max(1.0),
            score,
        };
        self.queue.iter().zip(scores).map(sample).collect()
    }
}

struct TrialMachine {
    free: u32,
    now: i64,
    /// Ends and processors of running jobs.
    ends: Vec<(i64, u32)>,
}

impl TrialMachine {
    /// Starts a job as soon as it has arrived and fits; later jobs start no earlier. Returns its
    /// start.
    fn start_job(&mut self, job: &TrialJob) -> i64 {
        self.come_to(self.now.max(job.submit));
        while self.free < job.procs {
            let Some(next) = self.ends.iter().map(|end| end.0).min() else { break };
            self.come_to(next);
        }
        self.free = self.free.saturating_sub(job.procs);
        self.ends.push((self.now + job.run, job.procs));
        self.now
    }

    fn come_to(&mut self, now: i64) {
        self.now = now;
        let free = &mut self.free;
        self.ends.retain(|&(end, procs)| {
            let runs = end > now;
            if !runs {
                *free += procs;
            }
            runs
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4 processors, one job of 2 for 10 s; then one of 4 for 20 s and one of 2 for 10 s, all at 0.
    /// The wide one first: it starts at 10, the other at 30. The narrow one first: it starts at 0,
    /// the wide one at 10.
    #[test]
    fn trials_are_those_computed_by_hand() {
        let job = |procs, run| TrialJob { submit: 0, run, procs };
        let trial = QueueTrial { procs: 4, begin: 0, first: vec![job(2, 10)], queue: vec![job(4, 20), job(2, 10)] };
        assert_eq!(trial.simulate_order(&[0, 1]), (30.0 / 20.0 + 40.0 / 10.0) / 2.0);
        assert_eq!(trial.simulate_order(&[1, 0]), (1.0 + 30.0 / 20.0) / 2.0);
    }
}
