//! The parts of the time that choices are made on and judged on.

use drystone::draw::RandomDraw;
use drystone::inference::{EstimateBasis, LEAST_UNITS, MOST_BLOCKS, blocks_of};
use drystone::model::{Span, Time};
use serde::Serialize;

/// Fewer periods than this cannot be divided into those to choose by and those to judge by.
pub const LEAST: usize = 4;
/// From so many periods on, the first and the last are left out where the simulation begins with an
/// empty machine.
const EDGES: usize = 8;

drystone::word_enum! {
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum PeriodLength {
        /// Seven days from the first submit that counts on, and so on.
        Week = "week",
        /// A day: where there are too few weeks.
        Day = "day",
    }
}

impl PeriodLength {
    fn span(self) -> Span {
        match self {
            PeriodLength::Week => Span::WEEK,
            PeriodLength::Day => Span::DAY,
        }
    }
}

/// The periods of a log, by submit.
#[derive(Clone, PartialEq, Debug)]
pub struct Periods {
    origin: Time,
    last: Time,
    pub length: PeriodLength,
    /// Number of periods.
    all: usize,
    /// Those that count, of all from 0 on.
    counted: std::ops::Range<usize>,
}

impl Periods {
    /// The periods from the first to the last submit that counts: weeks, or days where there are
    /// fewer than four weeks. Of up to ten, a last one of under half its length joins the one
    /// before. `cold`: the simulation begins with an empty machine and ends with an emptying one,
    /// so that the first and the last period are unlike the others and are left out where enough
    /// are left.
    pub fn from_submits((first, last): (Time, Time), cold: bool) -> Periods {
        let since = (last - first).0.max(0);
        let count = |length: PeriodLength| {
            let (whole, rest) = (since / length.span().0, since % length.span().0);
            let joins = (1..=MOST_BLOCKS as i64).contains(&whole) && rest < length.span().0 / 2;
            if joins { whole as usize } else { whole as usize + 1 }
        };
        let length = if count(PeriodLength::Week) >= LEAST { PeriodLength::Week } else { PeriodLength::Day };
        let period_count = count(length);
        let counted_periods = if cold && period_count >= EDGES { 1..period_count - 1 } else { 0..period_count };
        Periods { origin: first, last, length, all: period_count, counted: counted_periods }
    }

    /// The period of a submit; `None` where it does not count.
    pub fn find_period(&self, submit: Time) -> Option<usize> {
        if submit > self.last {
            return None;
        }
        let at = usize::try_from((submit - self.origin).0.div_euclid(self.length.span().0)).ok()?;
        let at = at.min(self.all - 1);
        self.counted.contains(&at).then(|| at - self.counted.start)
    }

    /// Returns the blocks that intervals are made from; `None` for days, which are no weeks, and
    /// for too few.
    pub fn estimate_basis(&self) -> Option<EstimateBasis> {
        let (units, blocks) = (self.period_count(), blocks_of(self.period_count()).len());
        (self.length == PeriodLength::Week && blocks >= LEAST_UNITS).then_some(EstimateBasis::Blocks { blocks, units })
    }

    pub fn period_count(&self) -> usize {
        self.counted.len()
    }

    /// Returns whether the first and the last were left out.
    pub fn leaves_out_edges(&self) -> bool {
        self.counted.start > 0
    }
}

/// So many divisions of periods into two halves, each of which is to choose by once and to judge by
/// once. The same seed gives the same ones. Divisions are all different where there are that many;
/// of few periods there may be fewer.
pub fn draw_halves(periods: &[usize], splits: usize, seed: u64) -> Vec<[Vec<usize>; 2]> {
    if periods.len() < LEAST {
        return Vec::new();
    }
    let mut draw = RandomDraw::new(seed, 0x0005_9117);
    let mut divisions: Vec<[Vec<usize>; 2]> = Vec::new();
    for _ in 0..20 * splits {
        if divisions.len() == splits {
            break;
        }
        let mut shuffled_periods = periods.to_vec();
        draw.shuffle(&mut shuffled_periods);
        let (first_half, second_half) = shuffled_periods.split_at(shuffled_periods.len() / 2);
        let (mut first_half, mut second_half) = (first_half.to_vec(), second_half.to_vec());
        first_half.sort_unstable();
        second_half.sort_unstable();
        let division = if first_half < second_half { [first_half, second_half] } else { [second_half, first_half] };
        if !divisions.contains(&division) {
            divisions.push(division);
        }
    }
    divisions
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

    #[test]
    fn weeks_where_there_are_enough_and_days_elsewhere() {
        let long = Periods::from_submits((Time(0), Time(100 * DAY)), true);
        assert_eq!((long.length, long.period_count(), long.leaves_out_edges()), (PeriodLength::Week, 13, true));
        assert_eq!(
            (long.find_period(Time(0)), long.find_period(Time(7 * DAY)), long.find_period(Time(99 * DAY))),
            (None, Some(0), None)
        );
        assert_eq!(
            Periods::from_submits((Time(0), Time(29 * DAY)), false).find_period(Time(29 * DAY + 1)),
            None,
            "beyond the last that counts"
        );
        let warm = Periods::from_submits((Time(5), Time(5 + 100 * DAY)), false);
        assert_eq!((warm.period_count(), warm.find_period(Time(5)), warm.find_period(Time(4))), (15, Some(0), None));
        let four = Periods::from_submits((Time(0), Time(30 * DAY)), true);
        assert_eq!(
            (four.length, four.period_count(), four.leaves_out_edges()),
            (PeriodLength::Week, 4, false),
            "two days join"
        );
        let short = Periods::from_submits((Time(0), Time(11 * DAY)), false);
        assert_eq!((short.length, short.period_count()), (PeriodLength::Day, 12));
        assert_eq!(Periods::from_submits((Time(7), Time(7)), true).period_count(), 1);
    }

    #[test]
    fn halves_divide_and_differ() {
        let periods: Vec<usize> = (0..9).collect();
        let halves = draw_halves(&periods, 20, 1);
        assert_eq!(halves.len(), 20);
        for [first_half, second_half] in &halves {
            let mut whole = [first_half.as_slice(), second_half].concat();
            whole.sort_unstable();
            assert_eq!(whole, periods);
            assert!(first_half.len().abs_diff(second_half.len()) <= 1);
        }
        assert_eq!(draw_halves(&periods, 20, 1), halves);
        assert_ne!(draw_halves(&periods, 20, 2), halves);
        assert_eq!(draw_halves(&[0, 1, 2, 3], 20, 1).len(), 3, "four periods have three divisions into halves");
        assert!(draw_halves(&[0, 1, 2], 20, 1).is_empty());
    }
}
