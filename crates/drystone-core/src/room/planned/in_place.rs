//! Compression in place, for plans of many jobs: only jobs that can move are looked for, and only
//! where room has been gained.
//!
//! F(t) is what is free beside the running jobs and *all* planned ones, G(t) what was free when the
//! plan was last compact: no job could be moved up with all others left where they are. While no
//! more is planned than there is (F ≥ 0), this is the same as taking all jobs out and putting them
//! back in the order of their starts:
//!
//! - At times before its start s, a job sees of those behind it nothing, and on its own place no
//!   job before it. So its earliest place r < s is the least with enough free on
//!   [r, min(r + d, s)).
//! - What it leaves when it moves from s to r lies at s or later, what it takes lies before s or
//!   was its own. So a job that was passed cannot move again, and in the end the plan is compact.
//! - By less than its span d a job can move only if enough is free just before s: then to the
//!   beginning of that time.
//! - Anywhere else there must be a t with G(t) < p ≤ F(t): else it would have been there before.
//! - A job that needs no fewer processors for no less time than one before starts no earlier
//!   ([`StartStairs`]).
//!
//! A newcomer at its earliest place, time that passes, and a start as planned leave a compact plan
//! compact.

use super::{PlannedJob, StartStairs, in_order_of_starts};
use crate::model::{Span, Time};
use crate::parts::{Chunked, StepSpot};

/// Number of moves after which the gain is computed again.
const LOOK_AGAIN: u32 = 8;

/// One pass over a plan, in the order of its starts.
struct Sweep<'a> {
    profile: &'a mut Chunked,
    now: Time,
    /// Position of the time just before the job's start, or of the end of the gain, if that is
    /// before.
    at: StepSpot,
    /// Jobs that need more than the first and no more than the second may find room that is gained,
    /// up to there.
    gains: (i32, i32),
    moves: u32,
    bounds: StartStairs,
}

impl Sweep<'_> {
    fn new(profile: &mut Chunked, now: Time) -> Sweep<'_> {
        let at = profile.find_step(now);
        let gains = profile.gain_range(0, at);
        Sweep { profile, now, at, gains, moves: 0, bounds: StartStairs::default() }
    }

    /// Returns whether no job can move that is planned behind one at `start`, which cannot: nothing
    /// is gained just before them, and no room anywhere.
    fn is_over(&self, start: Time) -> bool {
        start > self.profile.gained_until() && self.gains.1 <= self.gains.0
    }

    fn find_better_start(&mut self, job: &PlannedJob) -> Option<Time> {
        let procs = job.procs as i32;
        self.walk_to(job.start);
        // Just before its start …
        let just_before = job.start - Span(1);
        let slides = just_before < self.profile.gained_until() && self.profile.free_in(self.at) >= procs;
        let latest = if slides { self.profile.run_begins(procs, self.at, self.now) } else { job.start };
        // … or farther up.
        if self.gains.0 < procs && procs <= self.gains.1 && job.span <= latest - self.now {
            let bound = self.bounds.earliest_bound(job.procs, job.span, self.now);
            if job.span <= latest - bound {
                let jumps = self.profile.earliest_gained_start(procs, job.span, bound, latest);
                let start = jumps.unwrap_or(latest);
                self.bounds.learn_start(job.procs, job.span, start);
                return (start < job.start).then_some(start);
            }
        }
        slides.then_some(latest)
    }

    fn walk_to(&mut self, start: Time) {
        let from = self.at.chunk_index();
        self.at = self.profile.walk_to(self.at, (start - Span(1)).min(self.profile.gained_until()));
        if self.at.chunk_index() > from {
            let (least, most) = self.profile.gain_range(from + 1, self.at);
            self.gains = (self.gains.0.min(least), self.gains.1.max(most));
        }
    }

    fn move_up(&mut self, job: &PlannedJob, start: Time) {
        self.profile.move_up(job.procs as i32, job.start, job.span, start);
        self.at = self.profile.find_step(job.start - Span(1));
        self.moves += 1;
        // Before the job less is free than was; what has become free behind it may begin in the
        // same chunk. So what is known stays true, if roughly.
        let from = if self.moves.is_multiple_of(LOOK_AGAIN) { 0 } else { self.at.chunk_index() };
        let (least, most) = self.profile.gain_range(from, self.at);
        self.gains = if from == 0 { (least, most) } else { (self.gains.0.min(least), self.gains.1.max(most)) };
    }
}

/// Moves every job of a feasible plan to where [`compress`](super::compress) would put it.
/// `profile` holds running and planned jobs, and was settled when the plan was last compact.
/// `moved` receives each job that has moved, with its old start, in the order of the old plan.
/// `aside` is memory.
///
/// O(w) for w jobs, and for each that may move a look at the steps where room was gained.
pub(crate) fn compress_in_place<P: Copy + AsRef<PlannedJob> + AsMut<PlannedJob>>(
    plan: &mut Vec<P>,
    profile: &mut Chunked,
    now: Time,
    aside: &mut Vec<P>,
    mut on_move: impl FnMut(&mut P, Time),
) {
    aside.clear();
    let mut sweep = Sweep::new(profile, now);
    let mut kept_count = 0;
    for at in 0..plan.len() {
        let planned_job = *plan[at].as_ref();
        let better = if planned_job.start > now { sweep.find_better_start(&planned_job) } else { None };
        match better {
            Some(start) => {
                sweep.move_up(&planned_job, start);
                let mut job = plan[at];
                job.as_mut().start = start;
                on_move(&mut job, planned_job.start);
                aside.push(job);
            }
            None => {
                plan[kept_count] = plan[at];
                kept_count += 1;
                if sweep.is_over(planned_job.start) {
                    plan.copy_within(at + 1.., kept_count);
                    kept_count += plan.len() - (at + 1);
                    break;
                }
            }
        }
    }
    plan.truncate(kept_count);
    merge_back(plan, aside);
    profile.settle_all();
}

/// Puts jobs back into a plan that is in the order of its starts.
fn merge_back<P: Copy + AsRef<PlannedJob>>(plan: &mut Vec<P>, aside: &mut [P]) {
    in_order_of_starts(aside);
    let mut unmerged_count = plan.len();
    plan.extend_from_slice(aside);
    let mut to = plan.len();
    for job in aside.iter().rev() {
        while unmerged_count > 0 && plan[unmerged_count - 1].as_ref().plan_key() > job.as_ref().plan_key() {
            (unmerged_count, to) = (unmerged_count - 1, to - 1);
            plan[to] = plan[unmerged_count];
        }
        to -= 1;
        plan[to] = *job;
    }
}
