//! Audit of promised starts: announcements of a policy against its decisions.

use crate::engine::Observer;
use crate::model::{JobId, Procs, Span, Time, Workload};
use crate::policy::StartReason;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Watches a simulation for jobs that start later than the first promise made to them
/// ([`Action::Reserve`](crate::policy::Action::Reserve)).
///
/// A promise holds "as far as predictions hold": where jobs outlive theirs, any policy may break
/// it. Cost: O(log w) per announcement with w promised jobs waiting.
#[derive(Clone, Debug, Default)]
pub struct PromiseAudit {
    /// The first promise to each waiting job.
    waiting: BTreeMap<JobId, WaitingPromise>,
    kept: PromisesKept,
}

/// A promise to a waiting job.
#[derive(Clone, Copy, Debug)]
struct WaitingPromise {
    latest: Time,
    /// True if an event has happened since that no policy could foresee.
    excused: bool,
}

/// Summary of the promises.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PromisesKept {
    /// Jobs that were promised a start: an announced one with a bound.
    pub promised: u64,
    /// Jobs among them that started later, though nothing excuses it.
    pub broken: u64,
    /// Jobs among them that started later after processors had gone, or had been announced to go,
    /// that were not when the promise was made, or after a job came back into the queue that had
    /// been held or hit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub excused: u64,
    /// The largest delay, the first handled among equals; `None` where every promise was kept.
    pub worst: Option<BrokenPromise>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A job that started later than promised.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BrokenPromise {
    /// The job's position in the order of arrival.
    pub id: JobId,
    /// The log's own number of the job; `None` until it is looked up
    /// ([`PromisesKept::with_numbers`]).
    pub number: Option<i64>,
    /// The latest start that was first promised.
    pub promised: Time,
    /// Actual start.
    pub start: Time,
}

impl BrokenPromise {
    /// Returns its delay.
    #[must_use]
    pub fn delay(&self) -> Span {
        self.start - self.promised
    }
}

impl PromiseAudit {
    /// The account so far.
    #[must_use]
    pub fn kept_promises(&self) -> PromisesKept {
        self.kept
    }
}

impl PromisesKept {
    /// Returns the audit with the numbers that this workload gives to jobs.
    #[must_use]
    pub fn with_numbers(self, workload: &Workload) -> PromisesKept {
        let number = |id: JobId| workload.truth().get(id.index()).map(|truth| truth.number);
        PromisesKept { worst: self.worst.map(|w| BrokenPromise { number: number(w.id), ..w }), ..self }
    }

    /// Both accounts together; jobs of `later` are `offset` places further down the order of
    /// arrival.
    #[must_use]
    pub fn merge_with(self, later: PromisesKept, offset: u32) -> PromisesKept {
        let moved_worst = later.worst.map(|w| BrokenPromise { id: JobId(w.id.0 + offset), ..w });
        let worst = match (self.worst, moved_worst) {
            (Some(a), Some(b)) => Some(if b.delay() > a.delay() { b } else { a }),
            (a, b) => a.or(b),
        };
        PromisesKept {
            promised: self.promised + later.promised,
            broken: self.broken + later.broken,
            excused: self.excused + later.excused,
            worst,
        }
    }
}

impl Observer for PromiseAudit {
    const NOTES: bool = false;

    const ENDS: bool = false;

    fn note_reservation(&mut self, _now: Time, id: JobId, _start: Time, latest: Time) {
        // A start without a bound is an outlook, and nothing can break it.
        if latest == Time::MAX {
            return;
        }
        if let std::collections::btree_map::Entry::Vacant(entry) = self.waiting.entry(id) {
            entry.insert(WaitingPromise { latest, excused: false });
            self.kept.promised += 1;
        }
    }

    #[inline]
    fn note_start(&mut self, now: Time, id: JobId, _why: StartReason) {
        if self.waiting.is_empty() {
            return;
        }
        let Some(promise) = self.waiting.remove(&id).filter(|promise| now > promise.latest) else { return };
        if promise.excused {
            self.kept.excused += 1;
            return;
        }
        self.kept.broken += 1;
        let broken_promise = BrokenPromise { id, number: None, promised: promise.latest, start: now };
        if self.kept.worst.is_none_or(|worst| broken_promise.delay() > worst.delay()) {
            self.kept.worst = Some(broken_promise);
        }
    }

    fn note_withdrawal(&mut self, _now: Time, id: JobId) {
        self.waiting.remove(&id);
    }

    // What was promised to a job that may not start is void.
    fn note_hold(&mut self, _now: Time, id: JobId) {
        self.waiting.remove(&id);
    }

    fn note_release(&mut self, _now: Time, _id: JobId) {
        self.excuse_promises();
    }

    fn note_requeue(&mut self, _now: Time, id: JobId, _procs: Procs, _ran: Span) {
        self.waiting.remove(&id);
        self.excuse_promises();
    }

    fn note_capacity(&mut self, _now: Time, foreseen: bool) {
        if !foreseen {
            self.excuse_promises();
        }
    }
}

impl PromiseAudit {
    /// Something has happened that no promise made so far could know of.
    fn excuse_promises(&mut self) {
        self.waiting.values_mut().for_each(|promise| promise.excused = true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_starts_after_the_first_promise() {
        let mut audit = PromiseAudit::default();
        let id = JobId;
        audit.note_reservation(Time(0), id(0), Time(10), Time(10));
        // Put off later: the first promise counts.
        audit.note_reservation(Time(5), id(0), Time(20), Time(20));
        audit.note_reservation(Time(5), id(1), Time(10), Time(30));
        audit.note_reservation(Time(5), id(2), Time(50), Time(50));
        audit.note_reservation(Time(5), id(3), Time(6), Time(6));
        // Nothing is promised without a bound; the first bound is the first promise.
        audit.note_reservation(Time(5), id(5), Time(6), Time::MAX);
        audit.note_reservation(Time(5), id(6), Time(6), Time::MAX);
        audit.note_reservation(Time(6), id(6), Time(7), Time(8));
        audit.note_start(Time(6), id(5), StartReason::Head);
        audit.note_start(Time(7), id(6), StartReason::Head);
        audit.note_withdrawal(Time(7), id(3));
        audit.note_start(Time(20), id(0), StartReason::Head);
        audit.note_start(Time(30), id(1), StartReason::Head);
        audit.note_start(Time(31), id(4), StartReason::Head);
        audit.note_start(Time(53), id(2), StartReason::Head);
        let worst = BrokenPromise { id: id(0), number: None, promised: Time(10), start: Time(20) };
        assert_eq!(audit.kept_promises(), PromisesKept { promised: 5, broken: 2, excused: 0, worst: Some(worst) });
        assert_eq!(worst.delay(), Span(10));
    }

    /// An event after a promise excuses a broken promise; it does not excuse later promises.
    #[test]
    fn what_nobody_could_foresee_is_an_excuse() {
        for (news, excuses) in [(0, 0), (1, 0), (2, 1), (3, 1), (4, 1), (5, 1)] {
            let mut audit = PromiseAudit::default();
            audit.note_reservation(Time(0), JobId(0), Time(10), Time(10));
            match news {
                0 => {}
                1 => audit.note_capacity(Time(5), true),
                2 => audit.note_capacity(Time(5), false),
                3 => audit.note_release(Time(5), JobId(9)),
                _ => audit.note_requeue(Time(5), JobId(9), 1, Span(5)),
            }
            audit.note_reservation(Time(5), JobId(1), Time(10), Time(10));
            audit.note_start(Time(12), JobId(0), StartReason::Head);
            audit.note_start(Time(11), JobId(1), StartReason::Head);
            let kept_count = audit.kept_promises();
            assert_eq!(
                (kept_count.promised, kept_count.broken, kept_count.excused),
                (2, 2 - excuses, excuses),
                "{news}"
            );
        }
        let mut audit = PromiseAudit::default();
        audit.note_reservation(Time(0), JobId(0), Time(10), Time(10));
        audit.note_hold(Time(5), JobId(0));
        audit.note_start(Time(50), JobId(0), StartReason::Head);
        assert_eq!((audit.kept_promises().promised, audit.kept_promises().broken), (1, 0));
    }

    #[test]
    fn accounts_add_up() {
        let broken = |at: u32, delay| BrokenPromise {
            id: JobId(at),
            number: Some(i64::from(at) + 7),
            promised: Time(0),
            start: Time(delay),
        };
        let first = PromisesKept { promised: 3, broken: 1, excused: 1, worst: Some(broken(1, 5)) };
        let second = PromisesKept { promised: 2, broken: 2, excused: 2, worst: Some(broken(0, 7)) };
        // Its number is the log's, and stays.
        let worst = BrokenPromise { number: Some(7), ..broken(10, 7) };
        let total = PromisesKept { promised: 5, broken: 3, excused: 3, worst: Some(worst) };
        assert_eq!(first.merge_with(second, 10), total);
    }
}
