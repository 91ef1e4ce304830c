//! Obstacle to the jobs of the queue, and its known duration.

use super::OverdueRule;
use crate::model::{Procs, Span, Time};
use crate::parts::{BackfillFit, ExtraRule, QueuePlace, RunningJob, WaitingJob};
use serde::{Deserialize, Serialize};

/// The end of a pass: no other job could start because of this. As long as only time passes and
/// jobs arrive, that stays so; where a job ends that was to end before the shadow time, the
/// reservation stays, but others may start in its shade.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct BlockedPass {
    pub(super) head: QueuePlace,
    /// Processors that the head needs.
    pub(super) procs: Procs,
    /// The shadow time, not clamped to the present.
    pub(super) shadow: Time,
    pub(super) extra: Procs,
    /// As long as no more processors than these are free, no job in the queue can start.
    pub(super) room: Procs,
    /// True if processors were given back since.
    pub(super) freed: bool,
    /// After this another job heads the queue, for it has waited too long.
    pub(super) until: Time,
}

impl BlockedPass {
    /// Returns whether the job that the shadow waits for is overdue by now: it and others count as
    /// ending now then. Or whether another job heads the queue by now.
    #[inline]
    pub(super) fn out_of_date(&self, now: Time, overdue: OverdueRule) -> bool {
        now > self.until || (now > self.shadow && overdue == OverdueRule::Now)
    }

    /// Returns the condition for a start beside the reservation while this many processors are
    /// free.
    #[inline]
    pub(super) fn backfill_fit(&self, free: Procs, now: Time) -> BackfillFit {
        // The present may lie before the origin: nothing is taken from the end of all times.
        let window = if self.shadow == Time::MAX { Span::MAX } else { self.shadow - now };
        BackfillFit { free, window, extra: self.extra }
    }

    /// The room there is with another job in the queue, which cannot start while this many are
    /// free.
    #[inline]
    pub(super) fn room_beside(&self, job: &WaitingJob, free: Procs) -> Procs {
        // A job that fits, but runs too long, will not have more time than now.
        if job.procs > free { self.room.min(job.procs - 1) } else { self.room }
    }

    /// Returns the obstacle after a running job's predicted end has moved to a later time; `None`
    /// where the reservation must be recomputed. The shadow time and the processors free then are
    /// counted over the ends up to it: a later end among these changes nothing, nor does any end
    /// behind it. One that leaves them takes its processors with it: where there were as many left
    /// over, the shadow time stays, because the processors free before were too few with them.
    #[inline]
    pub(super) fn with_moved_end(self, job: &RunningJob, to: Time, extra: ExtraRule) -> Option<BlockedPass> {
        let (among, stays) = match extra {
            ExtraRule::All => (job.end <= self.shadow, to <= self.shadow),
            // Of the ends at the shadow time itself only some were counted.
            ExtraRule::First => (job.end < self.shadow, to < self.shadow),
        };
        if to < job.end {
            None
        } else if stays || job.end > self.shadow {
            Some(self)
        } else if among && to > self.shadow && job.procs <= self.extra {
            Some(BlockedPass { extra: self.extra - job.procs, ..self })
        } else {
            None
        }
    }
}
