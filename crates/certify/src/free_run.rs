//! Free runs: the model simulates a whole recording by itself, over several phases of the clocks.
//! Slurm does not reproduce itself job by job, so distributions are compared.

use super::golden::Golden;
use super::pending::Makes;
use super::recorded::Happening;
use drystone_slurm::model::Pending;
use drystone_slurm::site::{JobPriorities, ModelSite, Multifactor, SchedulerRules, replay_jobs};

/// Mean waits in seconds: of the recording, and of the model over phases.
#[derive(Clone, PartialEq, Debug)]
pub struct FreeRun {
    /// Of the recording.
    pub real: f64,
    /// Of the model, one for each phase, ascending.
    pub model: Vec<f64>,
}

impl FreeRun {
    pub fn mean_over_phases(&self) -> f64 {
        self.model.iter().sum::<f64>() / self.model.len().max(1) as f64
    }
}

/// Simulates the jobs of a recording with `phases` phases of the clocks.
pub fn free_run(golden: &Golden, phases: u64) -> FreeRun {
    let makes = Makes::new(golden);
    let machine = makes.make_cluster().machine;
    let mut jobs: Vec<Vec<Pending>> = Vec::new();
    let (mut runs, mut real) = (Vec::new(), 0.0);
    // The order of submission in the log is that of the jobs.
    for (at, happening) in &golden.events {
        let Happening::Submit(name, priority) = happening else { continue };
        for place in golden.matching_jobs(*name) {
            let job = &golden.jobs[place as usize];
            if job.start < 0 {
                continue;
            }
            // Of a job that was sent back, its line has the last submission.
            let second = at.div_euclid(1000);
            let submit = if job.submit > second { second } else { job.submit };
            let (id, submit) = (jobs.len() as u32, submit + golden.base);
            let mut entries = makes.pending_entries(place, (*priority, None), None, &machine);
            entries.retain(|entry| !makes.exceeds_partition(place, entry.part, job.limit * 60));
            if entries.is_empty() {
                continue;
            }
            real += (job.start + golden.base - submit) as f64;
            jobs.push(entries.into_iter().map(|entry| Pending { id, submit, accrue: submit, ..entry }).collect());
            runs.push(job.run);
        }
    }
    let count = jobs.len().max(1) as f64;
    let mean = |phase| {
        let rules = SchedulerRules { phase, kills: true, ..SchedulerRules::from_conf(&golden.conf) };
        let rules = SchedulerRules { test_micros: i64::from(makes.yields_locks()), ..rules };
        let mut cluster = makes.make_cluster();
        cluster.preempting.suspends = false;
        let priorities = Multifactor::from_conf(&golden.conf).filter(|_| makes.has_factors());
        let priorities = priorities.map(|rules| JobPriorities::new(rules, golden.accounts.clone()));
        let mut site = ModelSite::new(cluster, rules, priorities);
        let starts = replay_jobs(&mut site, &jobs, &runs, &mut ());
        let waits =
            starts.iter().zip(&jobs).filter_map(|(start, job)| start.map(|start| (start - job[0].submit) as f64));
        waits.sum::<f64>() / count
    };
    let mut model: Vec<f64> = (0..phases).map(mean).collect();
    model.sort_by(f64::total_cmp);
    FreeRun { real: real / count, model }
}
