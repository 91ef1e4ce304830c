//! The tasks of a job array: `5-9,11%2`.

use super::number::split_leading;
use std::ops::RangeInclusive;

/// No array of Slurm's has more tasks.
const MOST: u64 = 4_000_001;

/// Some tasks of an array, as a row of accounting names them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TaskSet {
    /// Ranges with their step, in the order of the text.
    ranges: Vec<(RangeInclusive<u32>, u32)>,
    /// At most so many at once, from `%N`.
    pub(crate) throttle: Option<u32>,
    /// True if the text was cut, so that some tasks are not named.
    pub(crate) cut: bool,
}

impl TaskSet {
    pub(crate) fn len(&self) -> u64 {
        self.ranges.iter().map(|(range, step)| u64::from((range.end() - range.start()) / step) + 1).sum()
    }

    /// Each task, ascending within a range.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.ranges.iter().flat_map(|(range, step)| range.clone().step_by(*step as usize))
    }
}

/// Reads what stands between the brackets. `None` where that is no set of tasks.
///
/// Slurm cuts long texts: what ends in `...` names only some of the tasks. A number that the cut
/// may have shortened is left out.
pub(crate) fn parse_tasks(text: &[u8]) -> Option<TaskSet> {
    let mut set = TaskSet::default();
    let mut rest = text;
    if let Some(whole) = rest.strip_suffix(b"...") {
        set.cut = true;
        // `1,2,3...`: the 3 may be the beginning of 35. `1,2,...` is cut behind a comma.
        rest = &whole[..whole.iter().rposition(|&b| b == b',').unwrap_or(0)];
        if rest.is_empty() {
            return Some(set);
        }
    }
    if let Some(at) = memchr::memchr(b'%', rest) {
        let (limit, behind) = split_leading(&rest[at + 1..])?;
        if !behind.is_empty() {
            return None;
        }
        set.throttle = u32::try_from(limit).ok().filter(|&n| n > 0);
        rest = &rest[..at];
    }
    if let Some(digits) = rest.strip_prefix(b"0x") {
        set.ranges = parse_mask(digits)?;
        return Some(set);
    }
    let mut count = 0;
    for part in rest.split(|&b| b == b',') {
        let (from, mut behind) = split_leading(part)?;
        let (mut to, mut step) = (from, 1);
        if let Some(more) = behind.strip_prefix(b"-") {
            (to, behind) = split_leading(more)?;
        }
        if let Some(more) = behind.strip_prefix(b":") {
            (step, behind) = split_leading(more)?;
        }
        if !behind.is_empty() || to < from || step == 0 || to >= MOST {
            return None;
        }
        count += (to - from) / step + 1;
        if count > MOST {
            return None;
        }
        set.ranges.push((from as u32..=to as u32, u32::try_from(step).ok()?));
    }
    Some(set)
}

/// Tasks of a mask in hexadecimal digits: the last bit is task 0. `None` where that is none.
fn parse_mask(digits: &[u8]) -> Option<Vec<(RangeInclusive<u32>, u32)>> {
    if digits.is_empty() || digits.len() as u64 * 4 > MOST {
        return None;
    }
    let mut ranges: Vec<(RangeInclusive<u32>, u32)> = Vec::new();
    for (digit, first) in digits.iter().rev().zip((0_u32..).step_by(4)) {
        let bits = char::from(*digit).to_digit(16)?;
        for task in (0..4).filter(|bit| bits >> bit & 1 == 1).map(|bit| first + bit) {
            match ranges.last_mut() {
                Some((range, _)) if range.end() + 1 == task => *range = *range.start()..=task,
                _ => ranges.push((task..=task, 1)),
            }
        }
    }
    Some(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<(Vec<u32>, Option<u32>, bool)> {
        parse_tasks(text.as_bytes()).map(|set| {
            let numbers: Vec<u32> = set.iter().collect();
            assert_eq!(numbers.len() as u64, set.len());
            (numbers, set.throttle, set.cut)
        })
    }

    #[test]
    fn sets_have_ranges_steps_and_a_throttle() {
        assert_eq!(of("5-9,11%2"), Some((vec![5, 6, 7, 8, 9, 11], Some(2), false)));
        assert_eq!(of("1-7:3"), Some((vec![1, 4, 7], None, false)));
        assert_eq!(of("91,100-102"), Some((vec![91, 100, 101, 102], None, false)));
        assert_eq!(of("7"), Some((vec![7], None, false)));
    }

    #[test]
    fn a_cut_set_names_what_is_certain() {
        assert_eq!(of("1-3..."), Some((vec![], None, true)));
        assert_eq!(of("1-3,5,7,1..."), Some((vec![1, 2, 3, 5, 7], None, true)));
        assert_eq!(of("1,2,..."), Some((vec![1, 2], None, true)));
        assert_eq!(of("..."), Some((vec![], None, true)));
    }

    #[test]
    fn what_is_no_set() {
        for text in ["", "a", "3-1", "1-", "1--2", "1,,2", "1%x", "1-2:0", "0-99999999", "99999999999999999999999"] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
