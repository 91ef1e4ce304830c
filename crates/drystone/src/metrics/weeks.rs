//! Weeks of submits, as the log had them before its times were moved.

use super::keyed::Keyed;
use super::measures::{MEASURES, Measure};
use super::report::MeasuredWeek;
use crate::inference::MOST_BLOCKS;
use crate::model::{Provenance, Span, Time, TimeMove};

/// Numbers of the weeks of a log. A job keeps its week whatever its submit is divided by, so that
/// loads of one log are paired week by week. In a log of up to ten weeks, which are units by
/// themselves, a last week of under half a week joins the one before; in a longer one it is part of
/// a block.
#[derive(Clone, Debug)]
pub struct SubmitWeeks {
    /// Moves that divide times, and those before them, in the order applied.
    moves: Vec<TimeMove>,
    /// Beginning of week 0, in the log's own times.
    origin: Time,
    /// The week that joins the one before.
    joined: Option<i64>,
}

impl SubmitWeeks {
    /// The weeks of a workload between its first and its last submit.
    #[must_use]
    pub fn new(provenance: &Provenance, (first, last): (Time, Time)) -> SubmitWeeks {
        let is_divided = provenance.moves.iter().any(|step| matches!(step, TimeMove::Divided { .. }));
        let moves = if is_divided { provenance.moves.clone() } else { Vec::new() };
        let origin = earliest_time(&moves, first);
        SubmitWeeks { moves, origin, joined: None }.join_last_week(last)
    }

    /// Counts weeks from another time of the log, such as its first submit where only a slice of it
    /// is simulated.
    #[must_use]
    pub fn counted_from(self, origin: Time, last: Time) -> SubmitWeeks {
        SubmitWeeks { origin: earliest_time(&self.moves, origin), joined: None, ..self }.join_last_week(last)
    }

    fn join_last_week(mut self, last: Time) -> SubmitWeeks {
        let since = (latest_time(&self.moves, last) - self.origin).0;
        let (week, rest) = (since.div_euclid(Span::WEEK.0), since.rem_euclid(Span::WEEK.0));
        let alone = (1..=MOST_BLOCKS as i64).contains(&week);
        self.joined = (alone && rest < Span::WEEK.0 / 2).then_some(week);
        self
    }

    /// Number of the week of a submit, from 0.
    #[inline]
    #[must_use]
    pub fn week_number(&self, submit: Time) -> i64 {
        let submit = if self.moves.is_empty() { submit } else { latest_time(&self.moves, submit) };
        let week = (submit - self.origin).0.div_euclid(Span::WEEK.0);
        if self.joined == Some(week) { week - 1 } else { week }
    }
}

/// The earliest time that comes to lie here.
fn earliest_time(moves: &[TimeMove], time: Time) -> Time {
    moves.iter().rev().fold(time, |time, step| match *step {
        TimeMove::Earlier(by) => Time(time.0.saturating_add(by.0)),
        TimeMove::Divided { digits, decimals } => Time(times_up(time.0, digits, decimals)),
    })
}

/// The latest time that comes to lie here.
fn latest_time(moves: &[TimeMove], time: Time) -> Time {
    moves.iter().rev().fold(time, |time, step| match *step {
        TimeMove::Earlier(by) => Time(time.0.saturating_add(by.0)),
        TimeMove::Divided { digits, decimals } => Time(times_up(time.0.saturating_add(1), digits, decimals) - 1),
    })
}

/// ⌈time · digits / 10^decimals⌉.
fn times_up(time: i64, digits: u64, decimals: u32) -> i64 {
    let (scaled_time, ten) = (i128::from(time) * i128::from(digits), 10i128.pow(decimals));
    i64::try_from(-(-scaled_time).div_euclid(ten)).unwrap_or(if time < 0 { i64::MIN / 2 } else { i64::MAX / 2 })
}

/// Sums per week, or per window.
#[derive(Clone, Debug, Default)]
pub(super) struct UnitSums(Keyed<MeasuredWeek>);

impl UnitSums {
    #[inline]
    pub(super) fn take_values(&mut self, week: i64, values: &[f64; MEASURES]) {
        let fresh = || MeasuredWeek { week, jobs: 0, slowdown_jobs: 0, sums: [0.0; MEASURES] };
        let sums = self.0.value_at(week, fresh);
        sums.jobs += 1;
        sums.slowdown_jobs += u64::from(!values[Measure::Slowdown as usize].is_nan());
        for (sum, &value) in sums.sums.iter_mut().zip(values) {
            *sum += if value.is_nan() { 0.0 } else { value };
        }
    }

    pub(super) fn into_sorted(self) -> Vec<MeasuredWeek> {
        self.0.into_sorted().map(|(_, week)| week).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEEK: i64 = Span::WEEK.0;

    fn moved(moves: Vec<TimeMove>) -> Provenance {
        Provenance { moves, ..Provenance::default() }
    }

    /// Jobs on both sides of each border of four weeks keep their weeks at any load.
    #[test]
    fn a_job_keeps_its_week_at_any_load() {
        for (digits, decimals) in [(1, 0), (11, 1), (12, 1), (9, 1), (2, 0), (100_049, 5)] {
            let load = TimeMove::Divided { digits, decimals };
            let shift = TimeMove::Earlier(Span(1_000));
            let at = |time: i64| load.apply(shift.apply(Time(1_000 + time)));
            let weeks = SubmitWeeks::new(&moved(vec![shift, load]), (at(0), at(4 * WEEK - 1)));
            for week in 0..4 {
                for since in [0, 5, WEEK / 2, WEEK - 5] {
                    let number = weeks.week_number(at(week * WEEK + since));
                    assert_eq!(number, week, "load {digits}/10^{decimals}, {since} s into week {week}");
                }
            }
        }
    }

    #[test]
    fn a_short_last_week_joins_the_one_before() {
        let of = |last: i64| {
            let weeks = SubmitWeeks::new(&moved(Vec::new()), (Time(7), Time(7 + last)));
            [0, WEEK - 1, WEEK, last].map(|since| weeks.week_number(Time(7 + since)))
        };
        assert_eq!(of(3 * WEEK + WEEK / 2 - 1), [0, 0, 1, 2]);
        assert_eq!(of(3 * WEEK + WEEK / 2), [0, 0, 1, 3]);
        assert_eq!(of(100)[3], 0, "a log of one short week has one week");
        assert_eq!(of(10 * WEEK + 1)[3], 9);
        assert_eq!(of(11 * WEEK + 1)[3], 11, "a week of a block");
        // A slice of a log is counted from the log's beginning.
        let slice = SubmitWeeks::new(&moved(Vec::new()), (Time(5 * WEEK + 100), Time(6 * WEEK)));
        assert_eq!(slice.counted_from(Time(0), Time(6 * WEEK)).week_number(Time(5 * WEEK + 100)), 5);
    }
}
