//! Processors over time.

/// Number of processors, as steps in time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapacitySteps {
    /// Before the first step.
    pub before: i64,
    /// From each time on, in order of time.
    steps: Vec<(i64, i64)>,
}

impl CapacitySteps {
    pub fn from_constant(procs: u32) -> CapacitySteps {
        CapacitySteps { before: i64::from(procs), steps: Vec::new() }
    }

    /// A machine of so many processors, less those that are taken: from, until, how many. What is
    /// taken beyond the machine is ignored.
    pub fn with_reductions(procs: u32, reductions: &[(i64, i64, u32)]) -> CapacitySteps {
        let mut changes: Vec<(i64, i64)> = reductions
            .iter()
            .filter(|(from, until, _)| from < until)
            .flat_map(|&(from, until, procs)| [(from, -i64::from(procs)), (until, i64::from(procs))])
            .collect();
        changes.sort_unstable();
        let mut level = i64::from(procs);
        let mut steps: Vec<(i64, i64)> = Vec::new();
        for (time, change) in changes {
            level += change;
            match steps.last_mut() {
                Some(last) if last.0 == time => last.1 = level,
                _ => steps.push((time, level)),
            }
        }
        steps.iter_mut().for_each(|(_, level)| *level = (*level).max(0));
        CapacitySteps { before: i64::from(procs), steps }
    }

    pub fn procs_at(&self, time: i64) -> i64 {
        let behind = self.steps.partition_point(|&(from, _)| from <= time);
        if behind == 0 { self.before } else { self.steps[behind - 1].1 }
    }

    /// The changes, in order of time: from when on how many.
    pub fn steps(&self) -> &[(i64, i64)] {
        &self.steps
    }

    pub(crate) fn max_procs(&self) -> i64 {
        self.steps.iter().map(|&(_, level)| level).fold(self.before, i64::max)
    }

    /// Processor-seconds in each of `cells` cells of `delta` seconds from `from` on.
    pub(crate) fn cell_areas(&self, from: i64, delta: i64, cells: usize) -> Vec<i64> {
        let mut areas = vec![0; cells];
        let mut at = self.steps.partition_point(|&(time, _)| time <= from);
        let mut level = if at == 0 { self.before } else { self.steps[at - 1].1 };
        let mut now = from;
        for (cell, area) in areas.iter_mut().enumerate() {
            let end = from + delta * (cell as i64 + 1);
            while let Some(&(time, next)) = self.steps.get(at).filter(|(time, _)| *time < end) {
                *area += level * (time - now);
                (now, level, at) = (time, next, at + 1);
            }
            *area += level * (end - now);
            now = end;
        }
        areas
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_those_of_the_seconds() {
        let capacity = CapacitySteps::with_reductions(10, &[(5, 12, 4), (7, 9, 6), (9, 9, 3), (20, 30, 10)]);
        for (from, delta) in [(0, 1), (0, 7), (-3, 5), (6, 4), (13, 60)] {
            let areas = capacity.cell_areas(from, delta, 9);
            for (cell, &area) in areas.iter().enumerate() {
                let begin = from + delta * cell as i64;
                assert_eq!(area, (begin..begin + delta).map(|t| capacity.procs_at(t)).sum::<i64>());
            }
        }
        assert_eq!([4, 5, 7, 9, 12, 25, 30].map(|t| capacity.procs_at(t)), [10, 6, 0, 6, 10, 0, 10]);
    }
}
