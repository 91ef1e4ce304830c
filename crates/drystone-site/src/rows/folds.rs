//! Local times of the hour that comes twice.
//!
//! A row's run time, and the order of its own times, settle most of them. A submission that could
//! still be in either hour is settled by the numbers of the jobs: they ascend while the clock goes
//! back.

use super::table::AccountingRows;
use drystone::model::SharedSort;
use std::cmp::Reverse;

/// The moments that a time may mean: one, or two.
pub(crate) type Candidates = [i64; 2];

/// The times of a row: submitted, eligible, started, ended. 0 is unknown.
pub(crate) type RowTimes = [i64; 4];

/// A row that was submitted within the hour that comes twice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenHour {
    pub(crate) row: u32,
    /// Set where its own times settle the hour; true for the second one. It then helps to settle
    /// the others.
    pub(crate) second: Option<bool>,
    /// The times if it was submitted in the first hour, and if in the second.
    pub(crate) choices: [RowTimes; 2],
}

/// Result of ordering a row's times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Settled {
    /// By themselves.
    Times(RowTimes),
    /// By the other rows.
    Open([RowTimes; 2]),
}

/// Chooses among the moments that each time may mean: first what keeps the order, then what agrees
/// with the run time, then the earlier.
pub(crate) fn settle_times(times: [Candidates; 4], ran: Option<i64>) -> Settled {
    let mut best: [Option<((u8, i64), RowTimes)>; 2] = [None, None];
    for choice in 0..16u8 {
        let pick = |at: usize| times[at][usize::from(choice >> at & 1)];
        // The second moment of a time that has one only is no choice.
        if (0..4).any(|at| choice >> at & 1 == 1 && times[at][0] == times[at][1]) {
            continue;
        }
        let candidate_times: RowTimes = [pick(0), pick(1), pick(2), pick(3)];
        let cost = compute_cost(&candidate_times, ran);
        let second = usize::from(choice & 1);
        // Ascending choices: of equals the earlier stays.
        let sum: i64 = candidate_times.iter().sum();
        if best[second].is_none_or(|(best_cost, best_times)| (cost, sum) < (best_cost, best_times.iter().sum())) {
            best[second] = Some((cost, candidate_times));
        }
    }
    match best {
        [Some((a, first)), Some((b, second))] if a == b => Settled::Open([first, second]),
        [Some((a, _)), Some((b, second))] if b < a => Settled::Times(second),
        [Some((_, first)), _] => Settled::Times(first),
        [None, Some((_, second))] => Settled::Times(second),
        [None, None] => Settled::Times(times.map(|t| t[0])),
    }
}

/// Returns the number of breaks of the order, and the distance of the length from the run time.
fn compute_cost(times: &RowTimes, ran: Option<i64>) -> (u8, i64) {
    let mut last = 0;
    let mut breaks = 0;
    for &time in times.iter().filter(|&&t| t > 0) {
        breaks += u8::from(time < last);
        last = time;
    }
    let length = ran.filter(|_| times[2] > 0 && times[3] > 0).map_or(0, |ran| (times[3] - times[2] - ran).abs());
    (breaks, length)
}

/// Settles what is open: within one change of the clocks, jobs in the order of their numbers were
/// submitted in the first hour up to some number and in the second from there on. The number is the
/// one that agrees with most rows that are settled, then the one that breaks the order least, the
/// highest of equals.
pub(crate) fn close_hours(mut open: Vec<OpenHour>, rows: &mut AccountingRows) {
    let number = |rows: &AccountingRows, o: &OpenHour| {
        let row = rows.get(o.row);
        let of_array = matches!(row.part(), super::RowPart::Task(_) | super::RowPart::Tasks(_));
        if of_array { row.of } else { row.id }
    };
    open.sort_shared_by_key(|o| (day_number(o), number(rows, o), o.row));
    for hour in open.chunk_by(|a, b| day_number(a) == day_number(b)) {
        let split = find_split(&hour.iter().map(|o| (o.choices[0][0], o.second)).collect::<Vec<_>>());
        for (at, open) in hour.iter().enumerate().filter(|(_, open)| open.second.is_none()) {
            set_times(rows, open.row, &open.choices[usize::from(at >= split)]);
        }
    }
}

/// Clocks are never set back twice within two days.
fn day_number(open: &OpenHour) -> i64 {
    (open.choices[0][0] + 43_200) / (2 * 86_400)
}

/// Returns the number of rows before the clock goes back, by the local times in the order of the
/// numbers and what is settled.
fn find_split(times: &[(i64, Option<bool>)]) -> usize {
    // Settled rows that a split after the first `at` rows contradicts.
    let mut wrong = times.iter().filter(|(_, second)| *second == Some(false)).count();
    let mut best = (usize::MAX, 0, 0);
    for at in 0..=times.len() {
        if at > 0 {
            match times[at - 1].1 {
                Some(false) => wrong -= 1,
                Some(true) => wrong += 1,
                None => {}
            }
        }
        // A split takes one break of the order away. Where there is none, all are in the first
        // hour.
        let fall = if at == 0 || at == times.len() { 0 } else { (times[at - 1].0 - times[at].0).max(0) };
        if (wrong, Reverse(fall)) <= (best.0, Reverse(best.1)) {
            best = (wrong, fall, at);
        }
    }
    best.2
}

fn set_times(rows: &mut AccountingRows, at: u32, times: &RowTimes) {
    let row = rows.get_mut(at);
    let stamp = |time: i64| u32::try_from(time).unwrap_or(0);
    (row.submit, row.eligible) = (stamp(times[0]), stamp(times[1]));
    (row.start, row.end) = (stamp(times[2]), stamp(times[3]));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An hour that comes twice, from 10,000 on.
    fn twice(at: i64) -> Candidates {
        [at, at + 3_600]
    }

    fn once(at: i64) -> Candidates {
        [at, at]
    }

    #[test]
    fn a_run_time_settles_start_and_end() {
        let times = [once(9_000), once(9_000), once(9_500), twice(10_500)];
        assert_eq!(settle_times(times, Some(1_000)), Settled::Times([9_000, 9_000, 9_500, 10_500]));
        assert_eq!(settle_times(times, Some(4_600)), Settled::Times([9_000, 9_000, 9_500, 14_100]));
    }

    #[test]
    fn order_settles_what_came_before_the_hour() {
        let times = [twice(10_500), twice(10_500), once(12_000), once(13_000)];
        assert_eq!(settle_times(times, Some(1_000)), Settled::Times([10_500, 10_500, 12_000, 13_000]));
    }

    #[test]
    fn a_job_within_the_hour_stays_open_as_a_whole() {
        let times = [twice(10_500), twice(10_500), twice(10_510), twice(10_610)];
        let expected = [[10_500, 10_500, 10_510, 10_610], [14_100, 14_100, 14_110, 14_210]];
        assert_eq!(settle_times(times, Some(100)), Settled::Open(expected));
    }

    #[test]
    fn the_clock_goes_back_where_times_fall_most() {
        let open = |times: &[i64]| find_split(&times.iter().map(|&time| (time, None)).collect::<Vec<_>>());
        assert_eq!(open(&[1, 5, 9, 2, 6]), 3);
        assert_eq!(open(&[1, 5, 4, 9, 2, 6]), 4);
        assert_eq!(open(&[1, 2, 3]), 3);
        assert_eq!(open(&[]), 0);
    }

    #[test]
    fn settled_rows_settle_their_neighbours() {
        let (first, second) = (Some(false), Some(true));
        // The second job comes at an earlier local time than the first, which is in the first hour.
        assert_eq!(find_split(&[(5, first), (1, None), (9, None)]), 1);
        // Without a fall of the times: up to the last that is in the first hour, or before the
        // first that is not.
        assert_eq!(find_split(&[(1, None), (2, second), (3, None)]), 1);
        assert_eq!(find_split(&[(1, None), (2, first), (3, None)]), 3);
        // A deeper fall elsewhere does not count against what is settled.
        assert_eq!(find_split(&[(9, None), (1, first), (5, None), (4, second)]), 3);
    }
}
