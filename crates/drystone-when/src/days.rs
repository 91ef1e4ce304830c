//! Arrivals of the near future: whole days of the past, replayed.

use crate::draws::{DrawPurpose, Draws};
use crate::settings::ForecasterSettings;
use drystone_core::model::{Job, Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PastArrival {
    pub(crate) name: u64,
    pub(crate) job: Job,
    /// Run time, once it has ended.
    pub(crate) run: Option<i64>,
    /// True if it was withdrawn before it ran.
    pub(crate) withdrawn: bool,
}

/// Jobs that have arrived lately, in the order of arrival.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Days {
    jobs: VecDeque<PastArrival>,
    forgotten: u64,
    places: BTreeMap<u64, u64>,
    /// Arrival time of the very first one.
    began: Option<Time>,
}

/// Days without which no future arrivals are drawn.
const FEWEST: i64 = 7;

impl Days {
    pub(crate) fn note_arrival(&mut self, name: u64, job: &Job, settings: &ForecasterSettings) {
        self.began.get_or_insert(job.submit);
        self.places.insert(name, self.forgotten + self.jobs.len() as u64);
        self.jobs.push_back(PastArrival { name, job: job.clone(), run: None, withdrawn: false });
        let from = Time(job.submit.0 - (i64::from(settings.days) + 1) * Span::DAY.0);
        while self.jobs.front().is_some_and(|past| past.job.submit < from) {
            if let Some(past) = self.jobs.pop_front() {
                self.places.remove(&past.name);
                self.forgotten += 1;
            }
        }
    }

    fn get_mut(&mut self, name: u64) -> Option<&mut PastArrival> {
        let place = self.places.get(&name)?.checked_sub(self.forgotten)?;
        self.jobs.get_mut(usize::try_from(place).ok()?)
    }

    pub(crate) fn note_end(&mut self, name: u64, run: i64) {
        if let Some(past) = self.get_mut(name) {
            past.run = Some(run);
        }
    }

    pub(crate) fn note_withdrawal(&mut self, name: u64) {
        if let Some(past) = self.get_mut(name) {
            past.withdrawn = true;
        }
    }

    /// The days that can be replayed after `now`, and which of them are alike.
    pub(crate) fn plan_days(&self, now: Time, settings: &ForecasterSettings) -> DayPlan {
        let past = self.began.map_or(0, |began| (now - began).0 / Span::DAY.0);
        let mut plan = DayPlan { now, monday: settings.monday, alike: [Vec::new(), Vec::new()] };
        if past < FEWEST {
            return plan;
        }
        let place = |time: i64| self.jobs.partition_point(|past| past.job.submit.0 < time);
        for back in 1..=past.min(i64::from(settings.days)) {
            let begin = now.0 - back * Span::DAY.0;
            let day = PastDay { back, from: place(begin), until: place(begin + Span::DAY.0) };
            plan.alike[usize::from(is_weekend(begin, settings.monday))].push(day);
        }
        plan
    }
}

/// Returns whether a time lies on a Saturday or a Sunday.
fn is_weekend(time: i64, monday: i64) -> bool {
    (time - monday).div_euclid(Span::DAY.0).rem_euclid(7) >= 5
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PastDay {
    back: i64,
    from: usize,
    until: usize,
}

/// Days of the past by kind: working days, weekends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DayPlan {
    now: Time,
    monday: i64,
    alike: [Vec<PastDay>; 2],
}

impl DayPlan {
    pub(crate) fn without_arrivals(now: Time) -> DayPlan {
        DayPlan { now, monday: 0, alike: [Vec::new(), Vec::new()] }
    }

    /// Returns whether no job can arrive.
    pub(crate) fn is_empty(&self) -> bool {
        self.alike.iter().all(Vec::is_empty)
    }

    /// The day of the past that stands for the one that begins so many days after the present.
    fn draw_day(&self, ahead: i64, draws: Draws) -> Option<PastDay> {
        let kind = usize::from(is_weekend(self.now.0 + ahead * Span::DAY.0, self.monday));
        let days = if self.alike[kind].is_empty() { &self.alike[1 - kind] } else { &self.alike[kind] };
        let place = (draws.draw_uniform(DrawPurpose::Day, ahead as u64) * days.len() as f64) as usize;
        days.get(place.min(days.len().saturating_sub(1))).copied()
    }
}

/// The arrivals of one future, drawn a day at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FutureArrivals<'a> {
    days: &'a Days,
    plan: &'a DayPlan,
    draws: Draws,
    /// Days drawn so far, and the last day that is.
    drawn: i64,
    last: i64,
    /// Next job of the current day, and the shift of the day.
    next: usize,
    until: usize,
    shift: i64,
    /// A job that comes for sure, at this time.
    extra: Option<(Time, &'a PastArrival)>,
}

impl<'a> FutureArrivals<'a> {
    pub(crate) fn new(
        days: &'a Days,
        plan: &'a DayPlan,
        draws: Draws,
        settings: &ForecasterSettings,
    ) -> FutureArrivals<'a> {
        let last = if plan.is_empty() { 0 } else { settings.horizon.0 / Span::DAY.0 + 1 };
        let mut arrivals =
            FutureArrivals { days, plan, draws, drawn: 0, last, next: 0, until: 0, shift: 0, extra: None };
        arrivals.skip_empty_days();
        arrivals
    }

    /// Adds one more job, which comes for sure at this time.
    pub(crate) fn with_job(mut self, time: Time, job: &'a PastArrival) -> FutureArrivals<'a> {
        self.extra = Some((time, job));
        self
    }

    /// Returns whether the one more job is yet to come.
    pub(crate) fn has_extra(&self) -> bool {
        self.extra.is_some()
    }

    /// Returns whether the one more job comes next; with others of the same second it comes last.
    #[inline]
    pub(crate) fn is_extra_next(&self) -> bool {
        self.extra.is_some_and(|extra| self.next_of_days().is_none_or(|next| extra.0 < next.0))
    }

    /// Goes on to the next day while nothing is left of this one.
    fn skip_empty_days(&mut self) {
        loop {
            while self.next < self.until && self.days.jobs[self.next].withdrawn {
                self.next += 1;
            }
            if self.next < self.until || self.drawn >= self.last {
                return;
            }
            let Some(day) = self.plan.draw_day(self.drawn, self.draws) else { return self.drawn = self.last };
            self.shift = (day.back + self.drawn) * Span::DAY.0;
            (self.next, self.until) = (day.from, day.until);
            self.drawn += 1;
        }
    }

    /// Returns the time of the next job, and the past job that it repeats.
    #[inline]
    pub(crate) fn peek_next(&self) -> Option<(Time, &'a PastArrival)> {
        if self.is_extra_next() { self.extra } else { self.next_of_days() }
    }

    #[inline]
    fn next_of_days(&self) -> Option<(Time, &'a PastArrival)> {
        if self.next >= self.until {
            return None;
        }
        let past = &self.days.jobs[self.next];
        // Nothing comes at the very instant of the question: its pass has been made.
        Some((Time((past.job.submit.0 + self.shift).max(self.plan.now.0 + 1)), past))
    }

    #[inline]
    pub(crate) fn advance(&mut self) {
        if self.is_extra_next() {
            self.extra = None;
            return;
        }
        self.next += 1;
        self.skip_empty_days();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(days: &Days, now: i64, settings: &ForecasterSettings) -> Vec<(i64, u64)> {
        let plan = days.plan_days(Time(now), settings);
        let mut arrivals = FutureArrivals::new(days, &plan, Draws::new(1, 1).for_sample(0), settings);
        let mut list = Vec::new();
        while let Some((time, past)) = arrivals.peek_next() {
            list.push((time.0, past.name));
            arrivals.advance();
        }
        list
    }

    #[test]
    fn days_of_the_same_kind_are_replayed_at_the_same_time_of_day() {
        let settings = ForecasterSettings { horizon: Span(5 * Span::DAY.0), ..ForecasterSettings::default() };
        let mut days = Days::default();
        let day = Span::DAY.0;
        // One job at 09:00 of each day, from Monday on, for two weeks; its name says the day.
        for i in 0..14 {
            days.note_arrival(i as u64, &Job::new(Time(i * day + 9 * 3600), 1, Span(60)), &settings);
            if i == 5 {
                assert_eq!(arrivals(&days, 6 * day, &settings), [], "too short a past");
            }
        }
        // Asked on the third Monday at 08:00: today, Tuesday, … six days, the last a Saturday.
        let list = arrivals(&days, 14 * day + 8 * 3600, &settings);
        assert_eq!(list.len(), 6);
        for (at, (time, name)) in list.iter().enumerate() {
            assert_eq!(*time, (14 + at as i64) * day + 9 * 3600);
            assert_eq!(name % 7 >= 5, at == 5, "day {at} replays day {name}");
        }
    }

    #[test]
    fn nothing_comes_from_the_future_and_nothing_that_was_withdrawn() {
        let settings = ForecasterSettings::default();
        let mut days = Days::default();
        for i in 0..40 {
            days.note_arrival(i, &Job::new(Time(i as i64 * Span::DAY.0 / 2), 1, Span(60)), &settings);
        }
        days.note_withdrawal(30);
        let list = arrivals(&days, 19 * Span::DAY.0, &settings);
        assert!(
            !list.is_empty() && list.iter().all(|&(time, name)| time > 19 * Span::DAY.0 && name != 30 && name < 38)
        );
        assert!(list.is_sorted());
    }
}
