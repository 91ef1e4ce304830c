//! Free processors over future time.

use crate::model::{Procs, Span, Time};
use serde::{Deserialize, Serialize};

/// Free processors over time, as a step function from a first instant to the end of time. It knows
/// no jobs.
///
/// The steps are two flat arrays, times and free processors. For s steps, of which r lie in the
/// range concerned:
///
/// | operation | cost |
/// |---|---|
/// | [`Profile::earliest_start`] | O(s) from the step at `not_before`, one pass |
/// | [`Profile::place_job`] | as [`Profile::earliest_start`], and a move of the later steps |
/// | [`Profile::reserve_procs`], [`Profile::release_procs`] | O(log s + r), and a move of the later steps when a step is inserted |
/// | [`Profile::free_at`] | O(log s) |
/// | [`Profile::set_mark`] | O(1) |
/// | [`Profile::roll_back_to`] | the cost of what is undone |
///
/// Reservations may exceed what is free only through [`Profile::reserve_procs`]'s own check: it
/// panics, since a plan that oversubscribes the machine is a bug of its planner.
///
/// A plan of conservative backfilling, on 4 processors of which a running job holds 3 until 100:
///
/// ```
/// use drystone_core::model::{Span, Time};
/// use drystone_core::parts::Profile;
///
/// let mut plan = Profile::new(Time(0), 4);
/// plan.reserve_procs(Time(0), Time(100), 3);
///
/// // The first waiting job needs the whole machine for 50 s: it starts when the running one ends.
/// assert_eq!(plan.place_job(4, Span(50), Time(0)), Some(Time(100)));
/// // The second fits beside the running job, and ends before the reservation begins.
/// assert_eq!(plan.place_job(1, Span(100), Time(0)), Some(Time(0)));
/// // A job of 101 s would delay the first: it starts behind it.
/// assert_eq!(plan.earliest_start(1, Span(101), Time(0)), Some(Time(150)));
///
/// // A trial is taken back without a copy of the plan.
/// let before = plan.set_mark();
/// plan.place_job(1, Span(101), Time(0));
/// plan.roll_back_to(before);
/// assert_eq!((plan.free_at(Time(149)), plan.free_at(Time(150))), (0, 4));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "SavedProfile")]
pub struct Profile {
    /// Start of each step; the last one has no end.
    times: Vec<Time>,
    /// Free processors in each step.
    free: Vec<Procs>,
    /// Changes since the oldest mark, newest last. Empty while nothing is marked.
    trail: Vec<ProfileEdit>,
    marks: u32,
}

/// A profile as it was saved, which may be no profile.
#[derive(Deserialize)]
struct SavedProfile {
    times: Vec<Time>,
    free: Vec<Procs>,
    trail: Vec<ProfileEdit>,
    marks: u32,
}

impl TryFrom<SavedProfile> for Profile {
    type Error = &'static str;

    fn try_from(saved: SavedProfile) -> Result<Profile, &'static str> {
        let SavedProfile { times, free, trail, marks } = saved;
        let rising = times.windows(2).all(|pair| pair[0] < pair[1]);
        if times.is_empty() || times.len() != free.len() || !rising {
            return Err("no profile of free processors");
        }
        Ok(Profile { times, free, trail, marks })
    }
}

/// One reservation or release, with what it takes to undo it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct ProfileEdit {
    from: Time,
    to: Time,
    procs: Procs,
    reserved: bool,
    /// True for each border at which a step was inserted.
    inserted: (bool, bool),
}

/// A state of a [`Profile`] that it can return to. Marks are left in the opposite order in which
/// they were made.
#[derive(PartialEq, Eq, Debug)]
#[must_use = "a mark that is never rolled back or dropped keeps the trail growing"]
pub struct ProfileMark {
    trail: usize,
}

impl Profile {
    /// All of `free` processors free from `start` on.
    #[must_use]
    pub fn new(start: Time, free: Procs) -> Profile {
        Profile { times: vec![start], free: vec![free], trail: Vec::new(), marks: 0 }
    }

    /// These steps, of which there is at least one, in ascending order of time.
    pub fn from_steps(steps: impl Iterator<Item = (Time, Procs)>) -> Profile {
        let (times, free): (Vec<Time>, Vec<Procs>) = steps.unzip();
        debug_assert!(!times.is_empty() && times.is_sorted_by(|a, b| a < b), "no profile");
        Profile { times, free, trail: Vec::new(), marks: 0 }
    }

    /// Makes this the profile of [`Profile::new`], keeping its memory. Must not be called while
    /// marks are held.
    pub fn reset_to(&mut self, start: Time, free: Procs) {
        debug_assert!(self.marks == 0, "reset of a marked profile");
        self.trail.clear();
        self.times.clear();
        self.free.clear();
        self.times.push(start);
        self.free.push(free);
    }

    /// Makes this a copy of `other`, keeping its memory. Marks of `other` are not copied. Must not
    /// be called while marks are held.
    pub fn copy_from(&mut self, source: &Profile) {
        debug_assert!(self.marks == 0, "copy into a marked profile");
        self.trail.clear();
        self.marks = 0;
        self.times.clone_from(&source.times);
        self.free.clone_from(&source.free);
    }

    /// Makes this the profile of running jobs: `free` processors at `now`, and more as each of
    /// `ends`, in ascending order of time, gives its processors back. Ends at or before `now` count
    /// as free already. O(number of ends).
    pub fn reset_to_running(&mut self, now: Time, free: Procs, ends: impl Iterator<Item = (Time, Procs)>) {
        self.reset_to(now, free);
        let mut sum = free;
        for (end, procs) in ends {
            sum += procs;
            let last = self.times.len() - 1;
            if end <= self.times[last] {
                self.free[last] = sum;
            } else {
                self.times.push(end);
                self.free.push(sum);
            }
        }
    }

    /// Makes this the profile of `free` processors at `now` and these changes, in ascending order
    /// of time: this many more or, below 0, fewer from then on. Where more are taken than there
    /// are, none are free until enough have come back. Changes at or before `now` count already.
    /// O(number of changes).
    pub fn reset_to_changes(&mut self, now: Time, free: Procs, changes: impl IntoIterator<Item = (Time, i64)>) {
        self.reset_to(now, free);
        let mut sum = i64::from(free);
        for (at, procs) in changes {
            sum += procs;
            let free = Procs::try_from(sum.max(0)).unwrap_or(Procs::MAX);
            let last = self.times.len() - 1;
            if at <= self.times[last] {
                self.free[last] = free;
            } else {
                self.times.push(at);
                self.free.push(free);
            }
        }
    }

    /// Returns the beginning of the profile.
    #[inline]
    #[must_use]
    pub fn start_time(&self) -> Time {
        self.times[0]
    }

    /// The steps: from when, and how many processors are free until the next.
    #[inline]
    pub fn steps(&self) -> impl ExactSizeIterator<Item = (Time, Procs)> + '_ {
        self.times.iter().copied().zip(self.free.iter().copied())
    }

    /// The times at which steps begin.
    #[must_use]
    pub fn step_times(&self) -> &[Time] {
        &self.times
    }

    /// Number of steps.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Never: a profile has at least one step.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Free processors at one instant; before the start of the profile, those at its start.
    #[inline]
    #[must_use]
    pub fn free_at(&self, time: Time) -> Procs {
        self.free[self.step_at(time)]
    }

    /// The smallest number of free processors during `[from, from + span)`; an empty span counts as
    /// an instant.
    #[must_use]
    pub fn least_free(&self, from: Time, span: Span) -> Procs {
        let to = from.saturating_add(span.max(Span(1)));
        let mut at = self.step_at(from);
        let mut least = self.free[at];
        at += 1;
        while at < self.times.len() && self.times[at] < to {
            least = least.min(self.free[at]);
            at += 1;
        }
        least
    }

    /// Returns whether `procs` processors are free during all of `[from, from + span)`; an empty
    /// span counts as an instant. Stops at the first step without them.
    #[must_use]
    pub fn fits_during(&self, from: Time, span: Span, procs: Procs) -> bool {
        let to = from.saturating_add(span.max(Span(1)));
        let mut at = self.step_at(from);
        loop {
            if self.free[at] < procs {
                return false;
            }
            at += 1;
            if at == self.times.len() || self.times[at] >= to {
                return true;
            }
        }
    }

    /// The earliest `s ≥ not_before` such that `procs` processors are free during all of
    /// `[s, s + span)`. A job without run time needs its processors for the instant of its start.
    /// `None` if this many are never free again.
    ///
    /// The answer is `not_before`, the start of the profile, or the start of one of its steps.
    #[must_use]
    pub fn earliest_start(&self, procs: Procs, span: Span, not_before: Time) -> Option<Time> {
        self.find_place(procs, span, not_before).map(|place| place.2)
    }

    /// The earliest place: the step in which it begins, the first that begins at its end or later,
    /// and its start.
    #[inline]
    fn find_place(&self, procs: Procs, span: Span, not_before: Time) -> Option<(usize, usize, Time)> {
        let span = span.max(Span(1));
        let mut at = self.step_at(not_before);
        let mut start = not_before.max(self.times[0]);
        'search: loop {
            // The next step with enough free processors is a candidate …
            while self.free[at] < procs {
                at += 1;
                if at == self.times.len() {
                    return None;
                }
                start = self.times[at];
            }
            // … and holds if every step up to its end also has enough.
            let first = at;
            let end = start.saturating_add(span);
            loop {
                at += 1;
                if at == self.times.len() || self.times[at] >= end {
                    return Some((first, at, start));
                }
                if self.free[at] < procs {
                    continue 'search;
                }
            }
        }
    }

    /// Finds [`Profile::earliest_start`] and reserves it, in one go.
    pub fn place_job(&mut self, procs: Procs, span: Span, not_before: Time) -> Option<Time> {
        let (mut from, mut to, start) = self.find_place(procs, span, not_before)?;
        let end = start.saturating_add(span.max(Span(1)));
        let new_to = end < Time::MAX && self.times.get(to) != Some(&end);
        if new_to {
            self.times.insert(to, end);
            self.free.insert(to, self.free[to - 1]);
        }
        let new_from = self.times[from] != start;
        if new_from {
            self.times.insert(from + 1, start);
            self.free.insert(from + 1, self.free[from]);
            (from, to) = (from + 1, to + 1);
        }
        self.free[from..to].iter_mut().for_each(|free| *free -= procs);
        if self.marks > 0 && procs > 0 {
            self.trail.push(ProfileEdit { from: start, to: end, procs, reserved: true, inserted: (new_from, new_to) });
        }
        Some(start)
    }

    /// Takes `procs` processors away during `[from, to)`. Nothing happens if that is empty.
    ///
    /// # Panics
    /// If fewer are free somewhere in it, or if it begins before the profile does: a bug of the
    /// caller.
    #[inline]
    pub fn reserve_procs(&mut self, from: Time, to: Time, procs: Procs) {
        self.apply_edit(from, to, procs, true);
    }

    /// Gives `procs` processors back during `[from, to)`. Nothing happens if that is empty.
    ///
    /// # Panics
    /// If it begins before the profile does, or if more processors are then free than a [`Procs`]
    /// counts.
    #[inline]
    pub fn release_procs(&mut self, from: Time, to: Time, procs: Procs) {
        self.apply_edit(from, to, procs, false);
    }

    /// Forgets everything before `now`. Must not be called while marks are held. O(steps forgotten
    /// + steps kept).
    pub fn advance_to(&mut self, now: Time) {
        debug_assert!(self.marks == 0, "the past of a marked profile is still needed");
        let at = self.step_at(now);
        if at > 0 {
            self.times.drain(..at);
            self.free.drain(..at);
        }
        self.times[0] = self.times[0].max(now);
    }

    /// Joins neighbouring steps with equally many free processors. Must not be called while marks
    /// are held. O(s).
    pub fn join_equal_steps(&mut self) {
        debug_assert!(self.marks == 0, "the steps of a marked profile are still needed");
        let mut last_kept = 0;
        for at in 1..self.times.len() {
            if self.free[at] != self.free[last_kept] {
                last_kept += 1;
                self.times[last_kept] = self.times[at];
                self.free[last_kept] = self.free[at];
            }
        }
        self.times.truncate(last_kept + 1);
        self.free.truncate(last_kept + 1);
    }

    /// Remembers this state.
    pub fn set_mark(&mut self) -> ProfileMark {
        self.marks += 1;
        ProfileMark { trail: self.trail.len() }
    }

    /// Returns to the state at `mark` and forgets the mark. Later marks must have been rolled back
    /// or dropped before.
    pub fn roll_back_to(&mut self, mark: ProfileMark) {
        while self.trail.len() > mark.trail {
            if let Some(edit) = self.trail.pop() {
                self.undo_edit(edit);
            }
        }
        self.drop_mark(mark);
    }

    /// Keeps what was done since `mark` and forgets the mark.
    pub fn drop_mark(&mut self, _mark: ProfileMark) {
        self.marks -= 1;
        if self.marks == 0 {
            self.trail.clear();
        }
    }

    fn step_at(&self, time: Time) -> usize {
        // Most questions are about the present, the first step.
        if self.times.len() == 1 || time < self.times[1] {
            return 0;
        }
        self.times.partition_point(|&t| t <= time) - 1
    }

    fn apply_edit(&mut self, from: Time, to: Time, procs: Procs, is_reservation: bool) {
        if from >= to || procs == 0 {
            return;
        }
        assert!(from >= self.times[0], "a change at {from} lies before the profile, which begins at {}", self.times[0]);
        let (first, new_from) = self.insert_border(from);
        let (last, new_to) = if to == Time::MAX { (self.times.len(), false) } else { self.insert_border(to) };
        for free in &mut self.free[first..last] {
            *free = if is_reservation {
                match free.checked_sub(procs) {
                    Some(rest) => rest,
                    None => {
                        panic!("{procs} processors reserved at {from} where only {free} are free")
                    }
                }
            } else {
                match free.checked_add(procs) {
                    Some(sum) => sum,
                    None => panic!("{procs} processors given back at {from} where {free} are free"),
                }
            };
        }
        if self.marks > 0 {
            self.trail.push(ProfileEdit { from, to, procs, reserved: is_reservation, inserted: (new_from, new_to) });
        }
    }

    /// The step that begins at `time`, inserted if there is none.
    fn insert_border(&mut self, time: Time) -> (usize, bool) {
        let at = self.step_at(time);
        if self.times[at] == time {
            return (at, false);
        }
        self.times.insert(at + 1, time);
        self.free.insert(at + 1, self.free[at]);
        (at + 1, true)
    }

    fn undo_edit(&mut self, edit: ProfileEdit) {
        let first = self.step_at(edit.from);
        let last = if edit.to == Time::MAX { self.times.len() } else { self.step_at(edit.to) };
        for free in &mut self.free[first..last] {
            if edit.reserved {
                *free += edit.procs;
            } else {
                *free -= edit.procs;
            }
        }
        if edit.inserted.1 {
            self.times.remove(last);
            self.free.remove(last);
        }
        if edit.inserted.0 {
            self.times.remove(first);
            self.free.remove(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One number per second: the obvious profile.
    #[derive(Clone, PartialEq, Debug)]
    struct Seconds(Vec<Procs>);

    const HORIZON: i64 = 120;

    impl Seconds {
        fn change(&mut self, from: i64, to: i64, by: i64) {
            for t in from.max(0)..to.min(HORIZON) {
                self.0[t as usize] = (i64::from(self.0[t as usize]) + by) as Procs;
            }
        }

        fn fits(&self, procs: Procs, from: i64, span: i64) -> bool {
            (from..from + span.max(1)).all(|t| self.0[t.min(HORIZON - 1) as usize] >= procs)
        }
    }

    fn same(profile: &Profile, seconds: &Seconds, from: i64) -> bool {
        (from..HORIZON).all(|t| profile.free_at(Time(t)) == seconds.0[t as usize])
    }

    proptest! {
        /// Any mix of reservations, releases, marks, rollbacks and passing time agrees with an
        /// array of seconds.
        #[test]
        fn agrees_with_an_array_of_seconds(
            ops in prop::collection::vec((0u8..8, 0i64..100, 1i64..30, 1u32..6), 1..80),
        ) {
            let mut profile = Profile::new(Time(0), 10);
            let mut seconds = Seconds(vec![10; HORIZON as usize]);
            let mut reservations: Vec<(i64, i64, Procs)> = Vec::new();
            let mut marks = Vec::new();
            let mut now = 0;
            for (op, at, span, procs) in ops {
                let at = at.max(now);
                match op {
                    0..=3 => if let Some(start) = profile.earliest_start(procs, Span(span), Time(at)) {
                        let expected = (at..HORIZON).find(|&t| seconds.fits(procs, t, span));
                        prop_assert_eq!(Some(start.0), expected);
                        if start.0 + span < HORIZON {
                            if op == 0 {
                                prop_assert_eq!(profile.place_job(procs, Span(span), Time(at)), Some(start));
                            } else {
                                profile.reserve_procs(start, start + Span(span), procs);
                            }
                            seconds.change(start.0, start.0 + span, -i64::from(procs));
                            reservations.push((start.0, start.0 + span, procs));
                        }
                    },
                    4 => if let Some((from, to, procs)) = reservations.pop() {
                        let from = from.max(now);
                        profile.release_procs(Time(from), Time(to), procs);
                        seconds.change(from, to, i64::from(procs));
                    },
                    5 => marks.push((profile.set_mark(), seconds.clone(), reservations.clone(), profile.clone())),
                    6 => if let Some((mark, s, h, before)) = marks.pop() {
                        profile.roll_back_to(mark);
                        prop_assert!(profile.steps().eq(before.steps()), "rollback restores every step");
                        (seconds, reservations) = (s, h);
                    },
                    _ => if marks.is_empty() {
                        now = at.min(now + 5);
                        profile.advance_to(Time(now));
                        if span % 2 == 0 { profile.join_equal_steps(); }
                        reservations.retain(|h| h.1 > now);
                    },
                }
                prop_assert!(same(&profile, &seconds, now));
                let least = profile.least_free(Time(at), Span(span));
                prop_assert_eq!(profile.fits_during(Time(at), Span(span), procs), least >= procs);
                prop_assert_eq!(least,
                    (at..at + span).map(|t| seconds.0[t.min(HORIZON - 1) as usize]).min().expect("not empty"));
            }
        }
    }

    #[test]
    fn a_job_without_run_time_needs_its_instant() {
        let mut p = Profile::new(Time(0), 4);
        p.reserve_procs(Time(0), Time(10), 4);
        assert_eq!(p.earliest_start(1, Span(0), Time(0)), Some(Time(10)));
        assert_eq!(p.earliest_start(5, Span(1), Time(0)), None);
    }

    #[test]
    #[should_panic(expected = "3 processors reserved at 2 where only 2 are free")]
    fn oversubscription_is_a_bug() {
        let mut p = Profile::new(Time(0), 2);
        p.reserve_procs(Time(2), Time(3), 3);
    }

    #[test]
    fn running_jobs_give_back_their_processors() {
        let mut p = Profile::new(Time(0), 1);
        p.reset_to_running(Time(5), 1, [(Time(3), 2), (Time(7), 1), (Time(7), 1), (Time(9), 3)].into_iter());
        assert!(p.steps().eq([(Time(5), 3), (Time(7), 5), (Time(9), 8)]));
    }
}
