//! Free processors between two times, as a short list of levels.

/// Free processors between two times.
#[derive(Default)]
pub(super) struct FreeRoom {
    /// Beginning of each level, in order of time.
    times: Vec<i64>,
    /// Free processors from then on.
    free: Vec<i64>,
    until: i64,
}

impl FreeRoom {
    /// So many are free from `from` on to `until`, as far as is known.
    pub(super) fn clear(&mut self, from: i64, until: i64, free: i64) {
        self.times.clear();
        self.free.clear();
        self.times.push(from);
        self.free.push(free);
        self.until = until;
    }

    /// From this time on so many are free. Times do not fall; what was before the beginning counts
    /// from there.
    #[inline]
    pub(super) fn push_level(&mut self, time: i64, free: i64) {
        let last = self.times.len() - 1;
        if time <= self.times[last] {
            self.free[last] = free;
        } else {
            self.times.push(time);
            self.free.push(free);
        }
    }

    #[inline]
    fn level_at(&self, time: i64) -> usize {
        self.times.partition_point(|&step_time| step_time <= time).saturating_sub(1)
    }

    /// A level begins at this time; answers which.
    #[inline]
    fn split_level(&mut self, time: i64) -> usize {
        let at = self.level_at(time);
        if self.times[at] >= time {
            return at;
        }
        self.times.insert(at + 1, time);
        self.free.insert(at + 1, self.free[at]);
        at + 1
    }

    /// So many more are free from one time to another.
    pub(super) fn change_free(&mut self, from: i64, until: i64, more: i64) {
        let first = self.split_level(from);
        let last = if until >= self.until { self.times.len() } else { self.split_level(until) };
        self.free[first..last].iter_mut().for_each(|free| *free += more);
    }

    /// The earliest second from `from` on at which so many processors are free for so long, with
    /// the levels that hold it; `None` where there is no such place before the end.
    #[inline]
    fn find_earliest(&self, from: i64, procs: i64, run: i64) -> Option<(i64, usize, usize)> {
        let mut at = self.level_at(from);
        let mut start = from.max(self.times[0]);
        let latest = self.until - run;
        let mut end = at;
        loop {
            if start > latest {
                return None;
            }
            if self.free[end] < procs {
                end += 1;
                start = *self.times.get(end)?;
                at = end;
                continue;
            }
            end += 1;
            match self.times.get(end) {
                Some(&next) if next < start + run => {}
                _ => return Some((start, at, end)),
            }
        }
    }

    /// The earliest second from `from` on at which so many processors are free for so long; `None`
    /// where there is no such place before the end.
    #[inline]
    pub(super) fn first_start(&self, from: i64, procs: i64, run: i64) -> Option<i64> {
        self.find_earliest(from, procs, run).map(|place| place.0)
    }

    /// Takes so many processors for so long at the earliest second from `from` on; `None` where
    /// there is no such place before the end.
    #[inline]
    pub(super) fn place_task(&mut self, from: i64, procs: i64, run: i64) -> Option<i64> {
        let (start, mut at, end) = self.find_earliest(from, procs, run)?;
        // Levels `at` to `end` hold it.
        let mut last = end;
        if self.times.get(end).copied().unwrap_or(self.until) > start + run {
            self.times.insert(end, start + run);
            self.free.insert(end, self.free[end - 1]);
        }
        if self.times[at] < start {
            self.times.insert(at + 1, start);
            self.free.insert(at + 1, self.free[at]);
            (at, last) = (at + 1, last + 1);
        }
        self.free[at..last].iter_mut().for_each(|free| *free -= procs);
        Some(start)
    }
}

impl Clone for FreeRoom {
    fn clone(&self) -> FreeRoom {
        FreeRoom { times: self.times.clone(), free: self.free.clone(), until: self.until }
    }

    /// Keeps the memory that it has.
    fn clone_from(&mut self, other: &FreeRoom) {
        self.times.clone_from(&other.times);
        self.free.clone_from(&other.free);
        self.until = other.until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against one count per second.
    #[test]
    fn places_are_the_earliest() {
        let mut seed = 7_u64;
        let mut draw = |most: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 33) % most) as i64
        };
        for _ in 0..500 {
            let (until, procs) = (20 + draw(60), 1 + draw(12));
            let mut room = FreeRoom::default();
            room.clear(0, until, procs);
            let mut seconds = vec![procs; until as usize];
            for _ in 0..20 {
                let (from, need, run) = (draw(until as u64), 1 + draw(procs as u64), 1 + draw(15));
                let fits =
                    |s: i64| s + run <= until && seconds[s as usize..(s + run) as usize].iter().all(|&f| f >= need);
                let earliest = (from..until).find(|&s| fits(s));
                assert_eq!(room.first_start(from, need, run), earliest);
                assert_eq!(room.place_task(from, need, run), earliest);
                if let Some(start) = earliest {
                    seconds[start as usize..(start + run) as usize].iter_mut().for_each(|free| *free -= need);
                    if draw(3) == 0 {
                        room.change_free(start, start + run, need);
                        seconds[start as usize..(start + run) as usize].iter_mut().for_each(|free| *free += need);
                    }
                }
                let levels: Vec<i64> = (0..until).map(|t| room.free[room.level_at(t)]).collect();
                assert_eq!(levels, seconds);
            }
        }
    }
}
