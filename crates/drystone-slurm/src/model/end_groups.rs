//! Groups of ends of running jobs that Slurm's search for a start takes together.

/// Seconds of the first group.
const FIRST_WINDOW: i64 = 30;
/// More releases in one group, and Slurm does not look whether the job fits after them.
const MOST_RELEASES: u32 = 201;

/// Groups of ends, one after the other, within windows that grow.
pub(super) struct EndGroups<'a> {
    /// End, rank and place of each running job, ascending.
    order: &'a [(i64, u64, u32)],
    now: i64,
    /// A group that begins later is not looked at.
    until: i64,
    /// Seconds by which the window grows each time; 0: it doubles.
    linear: i64,
    window: i64,
    /// Time from which windows count, from the first end on.
    mark: Option<i64>,
    next: usize,
}

/// Result of a group of ends.
enum EndGroup {
    /// No job was left that touches the allowed nodes.
    Nothing,
    /// So many that Slurm does not look.
    TooMany,
    /// Jobs up to this one.
    UpTo(usize),
}

impl<'a> EndGroups<'a> {
    /// Groups of the ends in this order, from `now` to `until`.
    pub(super) fn new(order: &'a [(i64, u64, u32)], (now, until): (i64, i64), linear: i64) -> EndGroups<'a> {
        EndGroups { order, now, until, linear, window: FIRST_WINDOW, mark: None, next: 0 }
    }

    /// Releases jobs up to the end of the next group after which Slurm looks whether the job fits.
    /// Returns the last of them, by its number in the order; `None` for no more.
    ///
    /// `release` takes a job away, and returns whether it has allowed nodes.
    pub(super) fn next(&mut self, mut release: impl FnMut(usize) -> bool) -> Option<usize> {
        while self.order.get(self.next).is_some_and(|&(end, ..)| end <= self.until) {
            match self.release_group(&mut release) {
                EndGroup::TooMany => {}
                EndGroup::Nothing => return None,
                EndGroup::UpTo(last) => {
                    let reach = self.mark.unwrap_or(self.now);
                    self.widen_window();
                    while self.order.get(self.next).is_some_and(|&(end, ..)| end > reach + self.window) {
                        self.widen_window();
                    }
                    return Some(last);
                }
            }
        }
        None
    }

    fn widen_window(&mut self) {
        let window = self.window;
        self.window = if self.linear > 0 { window + self.linear } else { window.saturating_mul(2) };
    }

    /// Releases the next jobs whose ends are taken together.
    fn release_group(&mut self, release: &mut impl FnMut(usize) -> bool) -> EndGroup {
        let (mut last, mut release_count) = (None, 0);
        while let Some(&(end, ..)) = self.order.get(self.next) {
            let place = self.next;
            self.next += 1;
            if !release(place) {
                continue;
            }
            let from = *self.mark.get_or_insert(end + FIRST_WINDOW - end.rem_euclid(FIRST_WINDOW));
            last = Some(place);
            if self.order.get(self.next).is_some_and(|&(end, ..)| end > from + self.window) {
                break;
            }
            release_count += 1;
            if release_count >= MOST_RELEASES && self.next < self.order.len() {
                return EndGroup::TooMany;
            }
        }
        last.map_or(EndGroup::Nothing, EndGroup::UpTo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of the jobs after which Slurm looks, where all but those in `without` have allowed
    /// nodes.
    fn looks(ends: &[i64], until: i64, linear: i64, without: &[usize]) -> Vec<usize> {
        let order: Vec<(i64, u64, u32)> = ends.iter().zip(0..).map(|(&end, slot)| (end, 0, slot)).collect();
        let mut groups = EndGroups::new(&order, (0, until), linear);
        std::iter::from_fn(|| groups.next(|place| !without.contains(&place))).collect()
    }

    /// Windows count from 120 s, the first half minute behind the first end. The first one is 30 s
    /// long: 100 and 150 s are together, 151 s is not. The second one is 60 s long, up to 180 s.
    /// Windows of 120, 240 and 480 s are too short for 1,000 s. One of 960 s, up to 1,080 s, is
    /// long enough.
    #[test]
    fn windows_double() {
        assert_eq!(looks(&[100, 150, 151, 180, 1_000], i64::MAX, 0, &[]), [1, 3, 4]);
        // A group that has begun goes on behind the time; none begins there.
        assert_eq!(looks(&[100, 150, 151, 180, 1_000], 120, 0, &[]), [1]);
        // The first that has allowed nodes is the one at 151 s: windows count from 180 s.
        assert_eq!(looks(&[100, 150, 151, 180, 1_000], i64::MAX, 0, &[0, 1]), [3, 4]);
        // The last one has none: nothing is left to look at.
        assert_eq!(looks(&[100, 150, 151, 180, 1_000], i64::MAX, 0, &[4]), [1, 3]);
    }

    /// With 45 s more each time the second window ends at 195 s, the third at 240 s.
    #[test]
    fn windows_grow_by_a_constant() {
        assert_eq!(looks(&[100, 150, 195, 196, 240, 241], i64::MAX, 45, &[]), [1, 2, 4, 5]);
    }

    /// Of 203 ends in one second Slurm releases 201 without a look, then the other two with one.
    #[test]
    fn a_group_of_too_many_is_not_looked_at() {
        assert_eq!(looks(&[100; 203], i64::MAX, 0, &[]), [202]);
        assert_eq!(looks(&[100; 201], i64::MAX, 0, &[]), [200]);
    }
}
