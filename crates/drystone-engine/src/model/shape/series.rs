//! Carbon intensity and price of electricity over time, as a scheduler knows them.

use crate::model::{Span, Time};
use serde::{Deserialize, Serialize};

crate::word_enum! {
    /// A quantity of [`PowerTerms`].
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
    pub enum PowerTerm {
        /// Carbon intensity.
        Carbon = "carbon",
        /// Price.
        Price = "price",
    }
}

/// Carbon intensity and price over time, in millionths of their units; each step holds until the
/// next, and the last for good.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PowerTerms {
    /// Beginnings of the steps, ascending.
    pub times: Vec<Time>,
    /// Carbon intensity of each step; empty where it is not known.
    pub carbon: Vec<i64>,
    /// Price of each step; empty where it is not known.
    pub price: Vec<i64>,
}

impl PowerTerms {
    /// Returns whether a quantity is known.
    #[must_use]
    pub fn has_term(&self, term: PowerTerm) -> bool {
        !self.term_values(term).is_empty()
    }

    fn term_values(&self, term: PowerTerm) -> &[i64] {
        match term {
            PowerTerm::Carbon => &self.carbon,
            PowerTerm::Price => &self.price,
        }
    }

    /// The step at a time; before the first, the first.
    fn step_at(&self, time: Time) -> usize {
        self.times.partition_point(|&begin| begin <= time).saturating_sub(1)
    }

    /// Returns a quantity at a time; before the first step, the value of that step.
    #[must_use]
    pub fn value_at(&self, term: PowerTerm, time: Time) -> i64 {
        self.term_values(term).get(self.step_at(time)).copied().unwrap_or(0)
    }

    /// Returns a quantity added up over all seconds between two times.
    #[must_use]
    pub fn sum(&self, term: PowerTerm, from: Time, until: Time) -> i128 {
        let values = self.term_values(term);
        let (mut sum, mut begin) = (0, from);
        for (at, &value) in values.iter().enumerate().skip(self.step_at(from)) {
            let end = self.times.get(at + 1).copied().unwrap_or(Time::MAX).min(until);
            sum += i128::from(value) * i128::from((end - begin).0.max(0));
            begin = begin.max(end);
            if end >= until {
                break;
            }
        }
        sum
    }

    /// The beginnings of steps after one time and up to another.
    pub fn step_times(&self, after: Time, until: Time) -> impl Iterator<Item = Time> + '_ {
        let first = self.times.partition_point(|&begin| begin <= after);
        self.times[first..].iter().copied().take_while(move |begin| *begin <= until)
    }

    /// Returns the seconds of a span from a time on in which a quantity is below its value there.
    #[must_use]
    pub fn seconds_below(&self, term: PowerTerm, from: Time, span: Span) -> Span {
        let (level, until) = (self.value_at(term, from), from + span);
        let turns: Vec<Time> =
            std::iter::once(from).chain(self.step_times(from, until - Span(1))).chain([until]).collect();
        let below = turns.windows(2).filter(|pair| self.value_at(term, pair[0]) < level);
        below.fold(Span::ZERO, |sum, pair| sum + (pair[1] - pair[0]))
    }

    #[must_use]
    pub(crate) fn shifted_earlier(&self, by: Span) -> PowerTerms {
        PowerTerms { times: self.times.iter().map(|time| *time - by).collect(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_shares_by_hand() {
        let terms = PowerTerms { times: [0, 10, 30].map(Time).to_vec(), carbon: vec![5, 1, 3], price: Vec::new() };
        assert!(terms.has_term(PowerTerm::Carbon) && !terms.has_term(PowerTerm::Price));
        // 5 s of 5, 20 s of 1, 7 s of 3.
        assert_eq!(terms.sum(PowerTerm::Carbon, Time(5), Time(37)), 25 + 20 + 21);
        assert_eq!(terms.sum(PowerTerm::Carbon, Time(12), Time(20)), 8);
        assert_eq!(terms.sum(PowerTerm::Carbon, Time(40), Time(40)), 0);
        assert_eq!(terms.step_times(Time(0), Time(30)).collect::<Vec<_>>(), [Time(10), Time(30)]);
        // From 5 on: 5 s of 5, then all is below; from 30 on nothing is.
        assert_eq!(terms.seconds_below(PowerTerm::Carbon, Time(5), Span(50)), Span(45));
        assert_eq!(terms.seconds_below(PowerTerm::Carbon, Time(30), Span(50)), Span(0));
        assert_eq!(terms.seconds_below(PowerTerm::Carbon, Time(0), Span(10)), Span(0));
    }
}
