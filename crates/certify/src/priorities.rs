//! Priorities held to those that Slurm calculated, given the real starts and ends.

use super::golden::Golden;
use super::pending::Makes;
use super::recorded::{Happening, LineJob};
use drystone_slurm::model::Pending;
use drystone_slurm::site::{Charged, JobPriorities, Multifactor};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PriorityAgreement {
    /// Priorities that Slurm calculated.
    pub all: usize,
    /// Those that the model calculates the same.
    pub same: usize,
    /// The largest difference.
    pub largest: i64,
}

/// Compares every priority of a recording; `None` where they are first come, first served, or where
/// the recording does not say what they depend on.
pub fn compare_priorities(golden: &Golden) -> Option<PriorityAgreement> {
    let makes = Makes::new(golden);
    let rules = Multifactor::from_conf(&golden.conf).filter(|_| makes.has_factors())?;
    let machine = makes.make_cluster().machine;
    let mut model = JobPriorities::new(rules, golden.accounts.clone());
    let second = |at: i64| at.div_euclid(1000) + golden.base;
    let is_calculated = |h: &(i64, Happening)| matches!(h.1, Happening::Priority(..));
    let mut next = golden.events.iter().find(|h| is_calculated(h)).map(|h| second(h.0));
    let period = model.rules.period;
    // Calculations were made before the first one that was reported.
    if let (Some(first), Some((start, _))) = (&mut next, golden.events.first()) {
        *first -= (*first - second(*start)).div_euclid(period) * period;
    }
    // Newer recordings say when that was.
    let has_calculations = golden.events.iter().any(|h| h.1 == Happening::Calculation);
    let mut last = None;
    if has_calculations {
        next = None;
    }
    let (mut agreement, mut running_jobs) = (PriorityAgreement::default(), BTreeMap::<u32, Charged>::new());
    let (mut waiting_assocs, mut unseen) = (BTreeMap::<u32, u32>::new(), BTreeSet::<u32>::new());
    let pending = |id: u32| -> Pending { makes.pending_job(id, 0, &machine) };
    for (at, happening) in &golden.events {
        let now = second(*at);
        while let Some(when) =
            next.filter(|&next_time| next_time < now || (next_time == now && is_calculated(&(*at, happening.clone()))))
        {
            let (runs, waits) = (
                running_jobs.values().copied().collect::<Vec<_>>(),
                waiting_assocs.iter().map(|(&id, &assoc)| (id, assoc)),
            );
            model.calculate_use(when, &runs, &waits.collect::<Vec<_>>());
            next = Some(when + period);
        }
        match happening {
            // The log tells of one more than once, the second time perhaps in the midst of it.
            Happening::Calculation if last.is_some_and(|last| now - last < 2) => {}
            Happening::Calculation => {
                let runs = running_jobs.values().copied().collect::<Vec<_>>();
                let waits = waiting_assocs.iter().map(|(&id, &assoc)| (id, assoc)).collect::<Vec<_>>();
                model.calculate_use(now, &runs, &waits);
                last = Some(now);
            }
            Happening::MainPass(_) | Happening::BackfillPass => unseen.clear(),
            Happening::Submit(LineJob::Job(id), recorded_priority) => {
                let job = pending(*id);
                unseen.insert(*id);
                // One that is submitted held has none yet.
                if *recorded_priority > 0 {
                    compare_priority(&mut agreement, model.priority_of(&job, now, &machine), *recorded_priority);
                }
                waiting_assocs.insert(*id, job.assoc);
            }
            Happening::Priority(LineJob::Job(id), recorded_priority) => {
                let calculation_time = last.or(next.map(|next| next - period)).unwrap_or(now);
                let mut job = pending(*id);
                job.weighed = !unseen.contains(id);
                if !job.weighed {
                    // A job has no age before a pass has looked at it.
                    job.accrue = calculation_time;
                }
                compare_priority(
                    &mut agreement,
                    model.priority_of(&job, calculation_time, &machine),
                    *recorded_priority,
                );
            }
            Happening::MainStart(LineJob::Job(id), nodes) | Happening::BackfillStart(LineJob::Job(id), nodes) => {
                let job = pending(*id);
                let cpus = if machine.cpus.iter().all(|&c| c == 1) { nodes.len() as u32 } else { job.cpus };
                let requested_job = Pending { cpus, ..job.clone() };
                let billing =
                    machine.billed_as_asked(&requested_job, nodes.len() as u64) as f64 * model.usage_factor(job.qos);
                waiting_assocs.remove(id);
                // The log may tell of a start in the second after it.
                let recorded_start = golden.jobs[*id as usize].start + golden.base;
                let start = if recorded_start == now - 1 { recorded_start } else { now };
                running_jobs.insert(*id, Charged { id: *id, assoc: job.assoc, billed: billing, start });
            }
            Happening::Complete(LineJob::Job(id)) | Happening::Timeout(LineJob::Job(id)) => {
                if let Some(job) = running_jobs.remove(id).filter(|_| model.rules.charges_ends) {
                    model.fair.charge_use(job.assoc as usize, job.billed, job.start, now);
                }
            }
            _ => {}
        }
    }
    Some(agreement)
}

fn compare_priority(agreement: &mut PriorityAgreement, model: i64, real: i64) {
    agreement.all += 1;
    agreement.same += usize::from(model == real);
    agreement.largest = agreement.largest.max((model - real).abs());
}
