//! Times from which recorded jobs may be considered: begin times, reservations, dependencies.

use super::golden::Golden;
use drystone_slurm::model::NONE;
use std::collections::BTreeMap;

/// Way in which a job has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct EndWay {
    /// Milliseconds.
    pub(super) at: i64,
    /// True if its nodes have finished cleaning up after it.
    pub(super) done: bool,
}

/// Reasons why jobs are not in the queue yet.
pub(super) struct Eligibility<'a> {
    golden: &'a Golden,
    /// Earliest second of each job.
    begins: Vec<i64>,
}

impl<'a> Eligibility<'a> {
    pub(super) fn new(golden: &'a Golden) -> Eligibility<'a> {
        let mut of_place: BTreeMap<i64, i64> = BTreeMap::new();
        for job in &golden.jobs {
            if let Some(eligible) = job.eligible {
                let first = of_place.entry(job.place).or_insert(eligible);
                *first = (*first).min(eligible);
            }
        }
        let held_jobs = super::site_commands::SiteCommand::held_jobs(golden);
        let begin = |(job, id): (&super::GoldenJob, u32)| {
            if held_jobs.contains(&id) {
                // It may be looked at whenever it is not held.
                return i64::MIN;
            }
            let depends = !job.dependency.is_empty() && !job.dependency.contains("singleton");
            if depends || !job.reservation.is_empty() || job.restarts > 0 {
                return i64::MIN;
            }
            let eligible = of_place.get(&job.place).copied().filter(|&at| at > job.submit);
            eligible.map_or(i64::MIN, |at| at + golden.base)
        };
        Eligibility { golden, begins: golden.jobs.iter().zip(0..).map(begin).collect() }
    }

    /// Returns whether a job that was submitted may be considered.
    pub(super) fn may_wait(&self, id: u32, now: i64, begins_at: Option<i64>, end_ways: &BTreeMap<u32, EndWay>) -> bool {
        let job = &self.golden.jobs[id as usize];
        if now < self.begins[id as usize] || begins_at.is_some_and(|begin| now < begin) {
            return false;
        }
        // `?` between conditions asks for one of them, `,` for all.
        let is_disjunction = job.dependency.contains('?');
        let mut conditions = job.dependency.split([',', '?']).filter(|part| !part.is_empty()).peekable();
        if conditions.peek().is_none() {
            return true;
        }
        let is_fulfilled = |condition: &str| self.is_fulfilled(id, condition, end_ways);
        if is_disjunction { conditions.any(is_fulfilled) } else { conditions.all(is_fulfilled) }
    }

    fn is_fulfilled(&self, id: u32, condition: &str, end_ways: &BTreeMap<u32, EndWay>) -> bool {
        let Some((kind, places)) = condition.split_once(':') else {
            // The recording does not name jobs: of a singleton it says when it was eligible.
            return true;
        };
        let own = &self.golden.jobs[id as usize];
        let places = places.split(['+', ':']).filter_map(|place| place.trim().parse::<i64>().ok());
        for place in places {
            let same = |(candidate, _): &(&super::GoldenJob, u32)| {
                candidate.place == place
                    && (kind != "aftercorr" || candidate.task.map(|(_, task)| task) == own.task.map(|(_, task)| task))
            };
            let of = || self.golden.jobs.iter().zip(0_u32..).filter(same);
            let over = of().all(|(_, job_id)| end_ways.get(&job_id).is_some_and(|way| way.done));
            let well = of().all(|(job, _)| job.completed);
            let is_met = match kind {
                "afterok" | "aftercorr" => over && well,
                "afternotok" => over && !well,
                _ => over,
            };
            if !is_met {
                return false;
            }
        }
        true
    }

    /// Returns whether a pass in this second may be before the one in which a singleton became
    /// eligible.
    pub(super) fn may_be_early(&self, id: u32, now: i64) -> bool {
        let job = &self.golden.jobs[id as usize];
        job.dependency == "singleton" && job.submit + self.golden.base < now && now == self.begins[id as usize]
    }

    pub(super) fn reservation_index(&self, id: u32, names: &[drystone_slurm::model::AdvanceReservation]) -> u32 {
        let name = &self.golden.jobs[id as usize].reservation;
        let position = names.iter().position(|own| !name.is_empty() && own.name == *name);
        position.map_or(NONE, |at| at as u32)
    }
}
