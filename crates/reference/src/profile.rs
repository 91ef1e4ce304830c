//! Free processors over time: a list of steps, searched from the left.

/// Free processors from some `now` on. `steps[i] = (t, free)` holds from `t` until the next step;
/// the last one for ever.
#[derive(Clone, Debug)]
pub struct NaiveProfile {
    steps: Vec<(i64, i64)>,
}

impl NaiveProfile {
    /// `free` processors from `now` for ever.
    pub fn new(now: i64, free: i64) -> NaiveProfile {
        NaiveProfile { steps: vec![(now, free)] }
    }

    /// Takes `procs` processors away during `[from, to)`, as far as that lies after `now`.
    pub fn take_processors(&mut self, from: i64, to: i64, procs: i64) {
        let from = from.max(self.steps[0].0);
        if from >= to {
            return;
        }
        self.cut_step(from);
        self.cut_step(to);
        for (time, free) in &mut self.steps {
            if from <= *time && *time < to {
                *free -= procs;
            }
        }
    }

    /// Returns whether `procs` processors are free throughout `[from, from + span)`. `from` must
    /// not lie before `now`.
    pub fn fits_throughout(&self, from: i64, span: i64, procs: i64) -> bool {
        (0..self.steps.len()).all(|i| {
            let (begin, free) = self.steps[i];
            let end = self.steps.get(i + 1).map_or(i64::MAX, |next| next.0);
            free >= procs || end <= from || begin >= from + span
        })
    }

    /// The smallest `s >= from` with `procs` processors free throughout `[s, s + span)`: `from`
    /// itself or some later step.
    ///
    /// # Panics
    /// If the job never fits, i.e. is wider than the machine.
    pub fn earliest_start(&self, from: i64, span: i64, procs: i64) -> i64 {
        match self.earliest_if_any(from, span, procs) {
            Some(s) => s,
            None => panic!("{procs} processors are never free"),
        }
    }

    /// Returns the earliest such `s`, or `None` if there is none.
    pub fn earliest_if_any(&self, from: i64, span: i64, procs: i64) -> Option<i64> {
        // One walk to the right: a step without enough processors moves the candidate behind it.
        let mut candidate = Some(from);
        for (i, &(begin, free)) in self.steps.iter().enumerate() {
            let end = self.steps.get(i + 1).map_or(i64::MAX, |next| next.0);
            if end <= from {
                continue;
            }
            if candidate.is_some_and(|s| begin >= s + span) {
                break;
            }
            if free < procs {
                candidate = None;
            } else if candidate.is_none() {
                candidate = Some(begin);
            }
        }
        candidate
    }

    fn cut_step(&mut self, at: i64) {
        match self.steps.binary_search_by_key(&at, |step| step.0) {
            Ok(_) => {}
            Err(0) => unreachable!("steps begin at or before every cut"),
            Err(i) => self.steps.insert(i, (at, self.steps[i - 1].1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NaiveProfile;

    #[test]
    fn earliest_looks_for_the_first_hole_that_is_long_enough() {
        let mut p = NaiveProfile::new(10, 4);
        p.take_processors(0, 20, 3); // 1 free until 20
        p.take_processors(25, 40, 2); // 4 free in [20,25), 2 free in [25,40)
        assert_eq!(p.earliest_start(10, 5, 1), 10);
        assert_eq!(p.earliest_start(10, 5, 4), 20);
        assert_eq!(p.earliest_start(10, 6, 4), 40);
        assert_eq!(p.earliest_start(10, 6, 2), 20);
        assert_eq!(p.earliest_start(22, 3, 4), 22);
        assert!(
            p.fits_throughout(10, 100, 1)
                && !p.fits_throughout(10, 11, 2)
                && p.fits_throughout(20, 5, 4)
                && !p.fits_throughout(20, 6, 4)
        );
    }

    /// The answer equals that of a check second by second.
    #[test]
    fn earliest_agrees_with_counting_every_second() {
        let mut seed = 1_u64;
        let mut random = |n: i64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 33) as i64) % n
        };
        for _ in 0..2_000 {
            let mut p = NaiveProfile::new(5, 6);
            let mut free = vec![6_i64; 200];
            for _ in 0..random(8) {
                let (from, to, n) = (random(40), random(60), random(3));
                p.take_processors(from, to, n);
                for cell in free.iter_mut().take(to as usize).skip(from as usize) {
                    *cell -= n;
                }
            }
            let (from, span, n) = (5 + random(20), 1 + random(15), 1 + random(6));
            let holds = |s: i64| (s..s + span).all(|t| free[t as usize] >= n);
            let Some(expected) = (from..150).find(|&s| holds(s)) else {
                continue;
            };
            assert_eq!(p.earliest_start(from, span, n), expected);
            assert_eq!(p.fits_throughout(from, span, n), holds(from));
        }
    }
}
