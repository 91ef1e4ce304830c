//! The waiting jobs of a policy in a fixed order, searchable for the next one that may be
//! backfilled.

use super::profile::Profile;
use super::tree::{Packed, Probe, Tree, TreeItem, pack_key};
use crate::model::{JobId, Procs, Span, Time};
use serde::{Deserialize, Serialize};
use std::hint::select_unpredictable;

/// A waiting job as its queue sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct WaitingJob {
    /// Its place in the queue: smallest first, ties by id. See `Order::queue_key`.
    pub key: i64,
    /// Predicted run time.
    pub prediction: Span,
    /// Arrival time.
    pub submit: Time,
    /// Identity of the job.
    pub id: JobId,
    /// Processors needed.
    pub procs: Procs,
}

impl WaitingJob {
    /// Returns the job's place in its queue.
    #[inline]
    #[must_use]
    pub fn queue_place(&self) -> QueuePlace {
        QueuePlace { key: self.key, id: self.id }
    }
}

/// A place in a queue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct QueuePlace {
    /// Smallest first.
    pub key: i64,
    /// Breaks ties.
    pub id: JobId,
}

/// Condition for a start beside a reservation: a job that fits the free processors and either ends
/// within the backfill window or uses no more than the extra processors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BackfillFit {
    /// Free processors.
    pub free: Procs,
    /// Backfill window: the time from now to the shadow time. Negative where the shadow time has
    /// passed.
    pub window: Span,
    /// Extra processors: those the reservation will leave over.
    pub extra: Procs,
}

impl BackfillFit {
    /// Whatever fits the free processors, however long it runs.
    #[inline]
    #[must_use]
    pub fn for_free_procs(free: Procs) -> BackfillFit {
        BackfillFit { free, window: Span::MAX, extra: 0 }
    }

    /// Returns whether a job of this size and prediction may start.
    #[inline]
    #[must_use]
    pub fn can_start(&self, procs: Procs, prediction: Span) -> bool {
        procs <= self.free && (prediction <= self.window || procs <= self.extra)
    }

    /// Accounts for a job that starts: one that may outlast the window uses extra processors.
    #[inline]
    pub fn account_start(&mut self, procs: Procs, longest: Span) {
        self.free -= procs;
        if longest > self.window {
            self.extra -= procs;
        }
    }
}

/// Condition for a start beside several reservations: the fewest processors left over, as a
/// staircase over the run time.
///
/// Free processors fall only where a reservation begins, so the fewest that are free during all of
/// a job's run are a falling function of its length with one step per reservation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FitStairs {
    /// Free processors now.
    pub free: Procs,
    /// Per reservation the time until it begins and what it leaves over: a job that runs longer may
    /// not use more.
    pub steps: Vec<(Span, Procs)>,
}

impl FitStairs {
    /// Computes the condition for a start now beside everything in this plan, on no more than
    /// `free` processors. O(steps).
    pub fn fill_beside(&mut self, plan: &Profile, now: Time, free: Procs) {
        self.free = free.min(plan.free_at(now));
        self.steps.clear();
        let mut least = self.free;
        for (from, room) in plan.steps().filter(|&(from, _)| from > now) {
            if room < least {
                least = room;
                self.steps.push((from - now, room));
            }
        }
    }

    /// Returns whether a job of this size and prediction disturbs nothing.
    #[inline]
    #[must_use]
    pub fn can_start(&self, procs: Procs, prediction: Span) -> bool {
        procs <= self.free && self.steps.iter().all(|&(window, room)| procs <= room || prediction <= window)
    }

    /// The longest prediction with which a job of this size disturbs nothing; `None` if it has to
    /// wait anyhow.
    #[must_use]
    fn longest_span(&self, procs: Procs) -> Option<Span> {
        let short = self.steps.iter().filter(|&&(_, room)| procs > room).map(|&(window, _)| window);
        (procs <= self.free).then(|| short.fold(Span::MAX, Span::min))
    }
}

/// Sizes are classed as 1, 2, 3, 4, 5–7, 8, 9–15, …: powers of two, most of every log, have classes
/// of their own.
const CLASSES: usize = 24;

fn size_class(procs: Procs) -> usize {
    let log = procs.max(1).ilog2() as usize;
    (2 * log + usize::from(!procs.is_power_of_two())).min(CLASSES - 1)
}

/// Smallest size of each class. (Class 1 holds no size: there is none between 1 and 2.)
const SMALLEST: [Procs; CLASSES] = {
    let mut sizes = [0; CLASSES];
    let mut c = 0;
    while c < CLASSES {
        sizes[c] = (1 << (c / 2)) + (c % 2) as Procs;
        c += 1;
    }
    sizes
};

/// Row n has all bits set in its first n entries: which classes hold a size that fits, if n of them
/// do.
const FIRST: [[i16; CLASSES]; CLASSES + 1] = {
    let mut rows = [[0; CLASSES]; CLASSES + 1];
    let mut n = 0;
    while n <= CLASSES {
        let mut c = 0;
        while c < n {
            rows[n][c] = -1;
            c += 1;
        }
        n += 1;
    }
    rows
};

/// The classes that hold a size up to this one.
#[inline]
fn classes_up_to(procs: Procs) -> &'static [i16; CLASSES] {
    if procs == 0 { &FIRST[0] } else { &FIRST[size_class(procs) + 1] }
}

fn smallest_in_class(class: usize) -> Procs {
    SMALLEST[class]
}

/// The shortest prediction per class of sizes, as [`coarsen_span`] as is good for pruning: with it,
/// both conditions of [`BackfillFit`] prune together.
#[derive(Clone)]
pub(crate) struct Shortest {
    by_class: [i16; CLASSES],
    /// A lower bound of the submits: jobs that have left may have been earlier.
    earliest: Time,
    /// True if the jobs are in the order of their predictions, as far as it is known: each is the
    /// key of its own place.
    ordered: bool,
}

/// Above every [`coarsen_span`] prediction.
const NONE: i16 = i16::MAX;

/// Predictions above some 34 years prune as if they were no longer.
fn cap_span(span: Span) -> i32 {
    span.0.clamp(0, 1 << 30) as i32
}

/// A span as its eight leading bits and their place: rising, and exact up to 255 seconds. Small
/// summaries are searched fast.
fn coarsen_span(span: i32) -> i16 {
    let shift = (span | 0xff).ilog2() - 7;
    // Shifted ones begin with 128, which is what each further shift adds.
    (shift as i16) * 128 + (span >> shift) as i16
}

fn shortest_span_of(coarse: i16) -> i32 {
    if coarse == NONE {
        return i32::MAX;
    }
    let shift = (i32::from(coarse) / 128 - 1).max(0);
    (i32::from(coarse) - 128 * shift) << shift
}

#[inline]
fn is_in(class: usize, procs: Procs) -> bool {
    let (least, most) = (smallest_in_class(class), SMALLEST.get(class + 1).map_or(Procs::MAX, |next| next - 1));
    procs.wrapping_sub(least) <= most - least
}

/// The shortest prediction in the class, or any as short as `enough`. Which jobs count cannot be
/// foretold: a job takes no branch, and only after some of them comes the question whether to go
/// on.
#[inline]
fn shortest_in(class: usize, jobs: &[WaitingJob], enough: i16) -> Option<i32> {
    let (mut has_any, mut shortest) = (false, Span::MAX);
    for some in jobs.chunks(16) {
        for job in some {
            let counts = is_in(class, job.procs);
            has_any |= counts;
            shortest = shortest.min(select_unpredictable(counts, job.prediction, Span::MAX));
        }
        if has_any && coarsen_span(cap_span(shortest)) <= enough {
            break;
        }
    }
    has_any.then(|| cap_span(shortest))
}

impl Default for Shortest {
    fn default() -> Self {
        Shortest { by_class: [NONE; CLASSES], earliest: Time::MAX, ordered: true }
    }
}

impl TreeItem for WaitingJob {
    type Summary = Shortest;

    #[inline]
    fn packed_key(&self) -> Packed {
        pack_key(self.key, self.id)
    }

    fn join_summary(&self, s: &mut Shortest) -> bool {
        let (min, mine) = (&mut s.by_class[size_class(self.procs)], coarsen_span(cap_span(self.prediction)));
        let is_ordered = s.ordered && self.key == self.prediction.0;
        let has_changed = mine < *min || self.submit < s.earliest || is_ordered != s.ordered;
        *min = mine.min(*min);
        s.earliest = s.earliest.min(self.submit);
        s.ordered = is_ordered;
        has_changed
    }

    fn merge_summary(s: &mut Shortest, child: &Shortest) {
        for (min, c) in s.by_class.iter_mut().zip(&child.by_class) {
            *min = (*min).min(*c);
        }
        s.earliest = s.earliest.min(child.earliest);
        s.ordered &= child.ordered;
    }

    fn leave_summary(&self, s: &mut Shortest, rest: &[WaitingJob]) -> bool {
        let class = size_class(self.procs);
        let before = s.by_class[class];
        if before != coarsen_span(cap_span(self.prediction)) {
            return false;
        }
        let shortest = if s.ordered {
            rest.iter().find(|j| is_in(class, j.procs)).map(|j| cap_span(j.prediction))
        } else {
            shortest_in(class, rest, before)
        };
        s.by_class[class] = shortest.map_or(NONE, coarsen_span);
        s.by_class[class] != before
    }

    fn part_summary(&self, s: &mut Shortest, children: &[Shortest]) -> bool {
        let class = size_class(self.procs);
        let before = s.by_class[class];
        s.by_class[class] = children.iter().map(|c| c.by_class[class]).min().unwrap_or(NONE);
        s.by_class[class] != before
    }
}

/// A [`BackfillFit`] translated to classes: a subtree is worth a visit if some class holds a
/// prediction below its limit. Of larger classes than the first `N` nothing fits.
struct FitProbe<const N: usize> {
    fit: BackfillFit,
    limit: [i16; N],
}

impl<const N: usize> FitProbe<N> {
    #[inline]
    fn new(fit: BackfillFit) -> FitProbe<N> {
        debug_assert!(size_class(fit.free) < N);
        let window = if fit.window < Span::ZERO { 0 } else { coarsen_span(cap_span(fit.window)) + 1 };
        let (fits, narrow) = (classes_up_to(fit.free), classes_up_to(fit.extra.min(fit.free)));
        // Without branches, so that it becomes a handful of vector instructions.
        let limit = std::array::from_fn(|c| fits[c] & (window | (narrow[c] & NONE)));
        FitProbe { fit, limit }
    }
}

/// [`FitStairs`] translated to classes.
struct StairsProbe<'a> {
    stairs: &'a FitStairs,
    limit: [i16; CLASSES],
}

impl StairsProbe<'_> {
    fn new(stairs: &FitStairs) -> StairsProbe<'_> {
        let limit = std::array::from_fn(|c| match stairs.longest_span(smallest_in_class(c)) {
            None => 0,
            Some(span) => coarsen_span(cap_span(span)) + 1,
        });
        StairsProbe { stairs, limit }
    }
}

impl Probe<WaitingJob> for StairsProbe<'_> {
    #[inline]
    fn can_enter(&mut self, s: &Shortest) -> bool {
        s.by_class.iter().zip(&self.limit).fold(false, |any, (have, limit)| any | (have < limit))
    }

    #[inline]
    fn is_match(&mut self, job: &WaitingJob) -> bool {
        self.stairs.can_start(job.procs, job.prediction)
    }
}

impl<const N: usize> Probe<WaitingJob> for FitProbe<N> {
    #[inline]
    fn can_enter(&mut self, s: &Shortest) -> bool {
        // Without branches, so that it becomes a handful of vector instructions.
        s.by_class[..N].iter().zip(&self.limit).fold(false, |any, (have, limit)| any | (have < limit))
    }

    #[inline]
    fn is_match(&mut self, job: &WaitingJob) -> bool {
        // As [`BackfillFit::can_start`], with one branch: in the leaf of a long queue three could
        // not be foretold.
        let fit = &self.fit;
        (job.procs <= fit.free) & ((job.prediction <= fit.window) | (job.procs <= fit.extra))
    }
}

/// The waiting jobs of a policy, in the order of their keys.
///
/// Cost for n jobs: insert and remove O(log n); [`WaitQueue::next_fit`] visits only groups of up to
/// 48 jobs in which some job of a fitting size class is short enough, so it is far below O(n)
/// unless many jobs just miss. Up to 192 jobs are one sorted array, which is scanned.
///
/// The backfilling of EASY, with 2 processors free, a backfill window of 60 s and 1 extra
/// processor:
///
/// ```
/// use drystone_core::model::{JobId, Procs, Span, Time};
/// use drystone_core::parts::{BackfillFit, WaitQueue, WaitingJob};
///
/// let mut queue = WaitQueue::default();
/// let jobs = [(3, 10), (2, 90), (1, 90), (2, 60)];
/// for (at, (procs, seconds)) in (0..).zip(jobs) {
///     let (submit, prediction) = (Time(i64::from(at)), Span(seconds));
///     queue.insert(WaitingJob { key: submit.0, prediction, submit, id: JobId(at), procs });
/// }
///
/// let head = queue.take_first().expect("a waiting job");
/// assert_eq!(head.id, JobId(0));
/// let fit = BackfillFit { free: 2, window: Span(60), extra: 1 };
/// // Job 1 is too long for the window and too wide for the extra processor; job 2 needs no more than that.
/// let next = queue.next_fit(None, fit).expect("a job to backfill");
/// assert_eq!(next.id, JobId(2));
/// // Behind it, job 3 ends with the window.
/// assert_eq!(queue.next_fit(Some(next.queue_place()), fit).map(|job| job.id), Some(JobId(3)));
/// ```
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WaitQueue {
    tree: Tree<WaitingJob>,
}

impl WaitQueue {
    /// Adds a job. Its place must not be taken: a job is in a queue at most once.
    #[inline]
    pub fn insert(&mut self, job: WaitingJob) {
        self.tree.insert(job);
    }

    /// Removes the job at this place; `None` if there is none.
    #[inline]
    pub fn remove(&mut self, place: QueuePlace) -> Option<WaitingJob> {
        self.tree.remove(&pack_key(place.key, place.id))
    }

    /// Puts a job in the place of another, or of its former self; `None`, and nothing is changed,
    /// if that is not there.
    #[inline]
    pub fn replace_job(&mut self, place: QueuePlace, job: WaitingJob) -> Option<WaitingJob> {
        self.tree.replace_item(&pack_key(place.key, place.id), job)
    }

    /// The head of the queue.
    #[inline]
    #[must_use]
    pub fn first_job(&self) -> Option<WaitingJob> {
        self.tree.first_item().copied()
    }

    /// Number of waiting jobs.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// Returns whether no job waits.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }

    /// The first job in queue order, behind `after` if given, that `fit` admits.
    #[inline]
    #[must_use]
    pub fn next_fit(&self, after: Option<QueuePlace>, fit: BackfillFit) -> Option<WaitingJob> {
        if fit.free == 0 {
            return None;
        }
        if let Some(jobs) = self.tree.flat_items() {
            return next_in(jobs, after, fit).map(|at| jobs[at]);
        }
        let after = after.map(|p| pack_key(p.key, p.id));
        match size_class(fit.free) {
            ..8 => self.tree.find_after(after, &mut FitProbe::<8>::new(fit)),
            8..16 => self.tree.find_after(after, &mut FitProbe::<16>::new(fit)),
            _ => self.tree.find_after(after, &mut FitProbe::<CLASSES>::new(fit)),
        }
    }

    /// As [`WaitQueue::next_fit`], and takes the job out of the queue: cheaper than both one after
    /// the other.
    #[inline]
    pub fn take_fit(&mut self, after: Option<QueuePlace>, fit: BackfillFit) -> Option<WaitingJob> {
        if fit.free == 0 {
            return None;
        }
        if let Some(jobs) = self.tree.flat_items() {
            let at = next_in(jobs, after, fit)?;
            return self.tree.take_flat(at);
        }
        let after = after.map(|p| pack_key(p.key, p.id));
        match size_class(fit.free) {
            ..8 => self.tree.take_after(after, &mut FitProbe::<8>::new(fit)),
            8..16 => self.tree.take_after(after, &mut FitProbe::<16>::new(fit)),
            _ => self.tree.take_after(after, &mut FitProbe::<CLASSES>::new(fit)),
        }
    }

    /// Takes out every job, in queue order, that `fit` admits at its turn, accounts for it and
    /// hands it to `starts`. Returns how many processors may be free for the jobs that are left to
    /// stay: with more, a job might be admitted by a fit that is no wider otherwise.
    #[inline]
    pub fn take_all(&mut self, fit: &mut BackfillFit, mut starts: impl FnMut(&WaitingJob)) -> Procs {
        let (mut at, mut larger) = (0, Procs::MAX);
        while fit.free > 0
            && let Some(jobs) = self.tree.flat_items()
        {
            let BackfillFit { free, window, extra } = *fit;
            let next = jobs[at..].iter().position(|job| {
                // So it is with most, as a rule: a job that is not has started.
                if job.procs > free {
                    larger = larger.min(job.procs);
                    return false;
                }
                job.prediction <= window || job.procs <= extra
            });
            let Some(next) = next else { return larger - 1 };
            at += next;
            if let Some(job) = self.tree.take_flat(at) {
                fit.account_start(job.procs, job.prediction);
                starts(&job);
            }
        }
        let mut after = None;
        while let Some(job) = self.take_fit(after, *fit) {
            after = Some(job.queue_place());
            fit.account_start(job.procs, job.prediction);
            starts(&job);
        }
        // Not every job was asked.
        fit.free
    }

    /// Takes the head out of the queue.
    #[inline]
    pub fn take_first(&mut self) -> Option<WaitingJob> {
        self.tree.take_first()
    }

    /// The first job in queue order, behind `after` if given, that `stairs` admits. Cost as for
    /// [`WaitQueue::next_fit`].
    #[inline]
    #[must_use]
    pub fn next_admitted(&self, after: Option<QueuePlace>, stairs: &FitStairs) -> Option<WaitingJob> {
        if stairs.free == 0 {
            return None;
        }
        if let Some(jobs) = self.tree.flat_items() {
            let from = after.map_or(0, |p| jobs.partition_point(|j| j.packed_key() <= pack_key(p.key, p.id)));
            return jobs[from..].iter().find(|j| stairs.can_start(j.procs, j.prediction)).copied();
        }
        self.tree.find_after(after.map(|p| pack_key(p.key, p.id)), &mut StairsProbe::new(stairs))
    }

    /// The job with the largest expansion factor (wait + prediction) / prediction at `now` among
    /// those that `fit` admits (all, if `None`); ties go to the smaller id. Predictions below 1 s
    /// count as 1 s.
    ///
    /// Branch and bound over the queue: a group is visited only if its oldest submit with its
    /// shortest prediction would beat the best found so far.
    #[must_use]
    pub fn most_expanded(&self, now: Time, fit: Option<BackfillFit>) -> Option<WaitingJob> {
        let mut probe = fit.map(FitProbe::<CLASSES>::new);
        let best: std::cell::Cell<Option<WaitingJob>> = std::cell::Cell::new(None);
        self.tree.walk_leaves(
            &mut |s| {
                let shortest = s.by_class.iter().copied().min().unwrap_or(NONE);
                let bound = WaitingJob {
                    submit: s.earliest,
                    prediction: Span(i64::from(shortest_span_of(shortest))),
                    id: JobId(0),
                    ..WaitingJob::default()
                };
                probe.as_mut().is_none_or(|p| p.can_enter(s))
                    && best.get().is_none_or(|b| more_expanded(&bound, &b, now))
            },
            &mut |job| {
                if fit.is_none_or(|f| f.can_start(job.procs, job.prediction))
                    && best.get().is_none_or(|b| more_expanded(job, &b, now))
                {
                    best.set(Some(*job));
                }
                true
            },
        );
        best.get()
    }

    /// All jobs in queue order. O(n).
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &WaitingJob> + '_ {
        self.tree.iter()
    }

    /// Forgets all jobs.
    pub fn clear(&mut self) {
        self.tree.clear();
    }
}

/// Returns the position in an ordered list of the first job, behind `after` if given, that `fit`
/// admits.
#[inline]
fn next_in(jobs: &[WaitingJob], after: Option<QueuePlace>, fit: BackfillFit) -> Option<usize> {
    let from = after.map_or(0, |p| jobs.partition_point(|j| j.packed_key() <= pack_key(p.key, p.id)));
    jobs[from..].iter().position(|j| fit.can_start(j.procs, j.prediction)).map(|at| from + at)
}

/// Returns whether `a` comes before `b` by expansion factor at `now`: larger first, then smaller
/// id. Exact, in integers.
#[must_use]
pub fn more_expanded(a: &WaitingJob, b: &WaitingJob, now: Time) -> bool {
    let wait = |j: &WaitingJob| i128::from((now - j.submit).0.max(0));
    let run = |j: &WaitingJob| i128::from(j.prediction.0.max(1));
    // (wait + run) / run compares as wait / run.
    let (left, right) = (wait(a) * run(b), wait(b) * run(a));
    left > right || (left == right && a.id < b.id)
}

#[cfg(test)]
mod tests;
