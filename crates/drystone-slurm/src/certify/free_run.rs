//! Free runs: the model simulates a whole recording by itself, over several phases of the clocks. Slurm does not reproduce itself
//! job by job, so distributions are compared.

use super::golden::{Golden, Happening};
use super::pass_by_pass::pending;
use crate::model::{Machine, Pending};
use crate::site::{Rules, Site, replay};

/// Mean waits in seconds: of the recording, and of the model over phases.
#[derive(Clone, PartialEq, Debug)]
pub struct FreeRun {
    /// Of the recording.
    pub real: f64,
    /// Of the model, one for each phase, ascending.
    pub model: Vec<f64>,
}

impl FreeRun {
    /// The mean over the phases.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.model.iter().sum::<f64>() / self.model.len().max(1) as f64
    }
}

/// Simulates the jobs of a recording with `phases` phases of the clocks.
#[must_use]
pub fn free_run(golden: &Golden, phases: u64) -> FreeRun {
    let mut jobs = Vec::new();
    let mut runs = Vec::new();
    let mut real = 0.0;
    for (_, happening) in &golden.events {
        let Happening::Submit(id, priority) = happening else { continue };
        let Some(job) = golden.jobs.get(id) else { continue };
        real += (job.start - job.submit) as f64;
        jobs.push(Pending { id: jobs.len() as u32, ..pending(job, *priority, golden) });
        runs.push(job.run);
    }
    let count = jobs.len().max(1) as f64;
    let mean = |phase| {
        // Recorded priorities have what was subtracted for being nice.
        let rules = Rules { phase, priority: None, ..Rules::from_conf(&golden.conf) };
        let mut site = Site::new(Machine::from_conf(&golden.conf), rules);
        let starts = replay(&mut site, &jobs, &runs, &mut ());
        let waits = starts.iter().zip(&jobs).filter_map(|(start, job)| start.map(|start| (start - job.submit) as f64));
        waits.sum::<f64>() / count
    };
    let mut model: Vec<f64> = (0..phases).map(mean).collect();
    model.sort_by(f64::total_cmp);
    FreeRun { real: real / count, model }
}
