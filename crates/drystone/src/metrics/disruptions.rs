//! Effects of the machine on jobs, and waits that no policy chose: outages, holds, a busy
//! beginning.

use super::summary::{Distribution, Summary};
use crate::model::{EndedJob, JobId, Procs, Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Effects of outages and circumstances in one simulation.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Disruptions {
    /// Share of the machine's processor-seconds that were up, from the first instant to the last
    /// end. A processor that is drained counts as up until its job has ended. `None` where that
    /// takes no time.
    pub capacity_up: Option<f64>,
    /// Processor-seconds that were out in that time.
    pub down: f64,
    /// Number of times that a job lost its processors to an outage.
    pub hits: u64,
    /// Jobs that waited again upon that, at least once.
    pub requeued: u64,
    /// Jobs that ended upon that, for good. They are no part of any measure.
    pub lost: u64,
    /// Processor-seconds that jobs had run when they were hit: for nothing.
    pub work_lost: f64,
    /// Processor-seconds that checkpoints took: complete writes, and reads after which more was
    /// written or the job ended.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub checkpoint_work: f64,
    /// Jobs that count and were held back for some time: not eligible, or held.
    pub held: u64,
    /// Waits of the jobs that count without the time in which they were held back.
    pub eligible_wait: Summary,
    /// Jobs that ran or were suspended when the simulation began. They use the machine, and do not
    /// count.
    pub found: u64,
    /// Jobs that never became eligible, or never arrived.
    pub left: u64,
}

impl Disruptions {
    /// Share of the processor-seconds of jobs that were lost or went into checkpoints, where the
    /// jobs that ended did so much work.
    #[must_use]
    pub fn wasted_share(&self, work: f64) -> Option<f64> {
        let vain = self.work_lost + self.checkpoint_work;
        (vain + work > 0.0).then(|| vain / (vain + work))
    }
}

fn is_nothing(work: &f64) -> bool {
    *work == 0.0
}

#[derive(Clone, Debug)]
pub(super) struct DisruptionMeter {
    hits: u64,
    requeued: BTreeSet<JobId>,
    lost: u64,
    work_lost: f64,
    checkpoint_work: f64,
    held: u64,
    waits: Distribution,
    found: u64,
}

impl DisruptionMeter {
    pub(super) fn new(percentiles: bool) -> DisruptionMeter {
        DisruptionMeter {
            hits: 0,
            requeued: BTreeSet::new(),
            lost: 0,
            work_lost: 0.0,
            checkpoint_work: 0.0,
            held: 0,
            waits: Distribution::new(percentiles),
            found: 0,
        }
    }

    pub(super) fn note_requeue(&mut self, id: JobId, procs: Procs, ran: Span) {
        self.hits += 1;
        self.requeued.insert(id);
        self.work_lost += f64::from(procs) * ran.as_f64();
    }

    pub(super) fn note_checkpoint(&mut self, procs: Procs, cost: Span) {
        self.checkpoint_work += f64::from(procs) * cost.as_f64();
    }

    pub(super) fn note_loss(&mut self, job_end: &EndedJob<'_>) {
        self.hits += 1;
        self.lost += 1;
        self.work_lost += f64::from(job_end.job.procs) * job_end.outcome.ran.as_f64();
    }

    /// A job has ended that was running at the first instant.
    pub(super) fn note_adopted_end(&mut self) {
        self.found += 1;
    }

    pub(super) fn take_job(&mut self, job_end: &EndedJob<'_>) {
        self.held += u64::from(job_end.outcome.held > Span::ZERO);
        self.waits.push(job_end.eligible_wait().as_f64());
    }

    pub(super) fn finish(self, capacity_up: Option<f64>, down: f64) -> Disruptions {
        Disruptions {
            capacity_up,
            down,
            hits: self.hits,
            requeued: self.requeued.len() as u64,
            lost: self.lost,
            work_lost: self.work_lost,
            checkpoint_work: self.checkpoint_work,
            held: self.held,
            eligible_wait: self.waits.finish(),
            found: self.found,
            left: 0,
        }
    }
}

/// Processors out over time.
#[derive(Clone, Debug, Default)]
pub(super) struct Down {
    /// Number of processors out from each time on, in order of time.
    steps: Vec<(Time, Procs)>,
}

impl Down {
    #[inline]
    pub(super) fn note_down(&mut self, now: Time, down: Procs) {
        if down != self.steps.last().map_or(0, |step| step.1) {
            self.add_step(now, down);
        }
    }

    #[cold]
    fn add_step(&mut self, now: Time, down: Procs) {
        match self.steps.last_mut() {
            Some(last) if last.0 == now => last.1 = down,
            _ => self.steps.push((now, down)),
        }
    }

    /// Processor-seconds out between two times.
    pub(super) fn sum_between(&self, from: Time, until: Time) -> f64 {
        let ends = self.steps.iter().skip(1).map(|step| step.0).chain([Time::MAX]);
        let spans = self.steps.iter().zip(ends).map(|(&(begin, down), end)| {
            let (begin, end) = (begin.max(from), end.min(until));
            if end > begin { (end - begin).as_f64() * f64::from(down) } else { 0.0 }
        });
        spans.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_is_counted_within_limits() {
        let mut down = Down::default();
        for (time, procs) in [(5, 0), (10, 2), (20, 2), (20, 3), (30, 0), (40, 1)] {
            down.note_down(Time(time), procs);
        }
        assert_eq!(down.sum_between(Time(0), Time(100)), 20.0 + 30.0 + 60.0);
        assert_eq!(down.sum_between(Time(15), Time(25)), 10.0 + 15.0);
        assert_eq!(down.sum_between(Time(30), Time(40)), 0.0);
        assert_eq!(down.sum_between(Time(50), Time(45)), 0.0);
    }
}
