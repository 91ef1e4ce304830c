//! Choice of the jobs that make room for another.

use super::{Alloc, ModelCluster, NodeSet, Pending, Preempting, RunningModelJob, Victim};
use crate::conf::{PreemptMode, PreemptType};
use drystone_core::model::SharedSort;

impl Preempting {
    fn grace_of(&self, machine: &super::ModelMachine, victim: &Pending) -> i64 {
        match self.by {
            PreemptType::None => 0,
            PreemptType::Partition => machine.parts[usize::from(victim.part)].grace,
            PreemptType::Qos => self.qos.get(victim.qos as usize).map_or(0, |qos| qos.grace),
        }
    }

    fn may_replace(&self, machine: &super::ModelMachine, job: &Pending, victim: &RunningModelJob) -> bool {
        let is_allowed = match self.by {
            PreemptType::None => false,
            PreemptType::Partition => {
                let (of, by) = (&machine.parts[usize::from(victim.job.part)], &machine.parts[usize::from(job.part)]);
                of.tier < by.tier && of.preempt_mode != Some(PreemptMode::Off)
            }
            PreemptType::Qos if job.qos == victim.job.qos => {
                self.is_within(job.qos) && job.priority > victim.job.priority
            }
            PreemptType::Qos => self.qos_over(job.qos, victim.job.qos),
        };
        let higher = !self.by_priority || job.priority > victim.job.priority;
        let exempt = self.exempt_priority.is_some_and(|from| victim.job.priority >= from);
        is_allowed && higher && !exempt && victim.alloc.nodes.has_common(&machine.parts[usize::from(job.part)].nodes)
    }

    /// The priority by which victims are ordered: the lower, the earlier.
    fn order_of(&self, machine: &super::ModelMachine, victim: &RunningModelJob) -> u64 {
        let class = match self.by {
            PreemptType::Qos => self.qos.get(victim.job.qos as usize).map_or(0, |qos| qos.priority.min(0xffff)),
            _ => machine.parts[usize::from(victim.job.part)].tier,
        };
        (u64::from(class) << 16) + (victim.alloc.nodes.count_nodes() as u64).min(0xffff)
    }

    /// Places of the running jobs that the job may replace, those first that are replaced first.
    pub(super) fn find_candidates(&self, cluster: &ModelCluster, job: &Pending, now: i64) -> Vec<u32> {
        if !self.is_on() {
            return Vec::new();
        }
        let machine = &cluster.machine;
        let mut candidates: Vec<(u64, i64, u64, u32)> = Vec::new();
        for &(_, rank, slot) in cluster.end_order() {
            let Some(running) = cluster.job_at(slot) else { continue };
            let ripe = running.start.saturating_add(self.exempt_of(machine, &running.job)) <= now;
            if ripe
                && self.may_replace(machine, job, running)
                && self.mode_of(machine, &running.job) != PreemptMode::Off
            {
                candidates.push((self.order_of(machine, running), running.start, rank, slot));
            }
        }
        // Slurm sorts a list that is in the order of submission, and equal ones stay in it.
        candidates.sort_shared_by_key(|&(_, _, rank, _)| rank);
        if self.youngest_first {
            candidates.sort_shared_by_key(|&(_, start, ..)| std::cmp::Reverse(start));
        } else {
            candidates.sort_shared_by_key(|&(order, ..)| order);
        }
        candidates.into_iter().map(|(.., slot)| slot).collect()
    }

    /// Returns the next time at which a running job may be replaced that may not be at `now`.
    pub(crate) fn next_ripe(&self, cluster: &ModelCluster, now: i64) -> Option<i64> {
        if !self.is_on() || (self.exempt == 0 && self.qos.iter().all(|qos| qos.exempt.is_none())) {
            return None;
        }
        let machine = &cluster.machine;
        let ripe = |running: &RunningModelJob| running.start.saturating_add(self.exempt_of(machine, &running.job));
        cluster.running_jobs().map(ripe).filter(|&at| at > now).min()
    }

    /// The jobs that have to go so that `job` fits on the allowed nodes, and where it then fits.
    pub(super) fn find_victims(
        &self,
        cluster: &ModelCluster,
        job: &Pending,
        eligible: &NodeSet,
        now: i64,
    ) -> Option<(Vec<Victim>, Alloc)> {
        let machine = &cluster.machine;
        let removable = |slot: &u32| {
            let mode = cluster.job_at(*slot).map(|running| self.mode_of(machine, &running.job));
            matches!(mode, Some(PreemptMode::Requeue | PreemptMode::Cancel))
        };
        let mut list: Vec<u32> = self.find_candidates(cluster, job, now).into_iter().filter(removable).collect();
        let count = list.len() as u32;
        let mut passes = 0;
        loop {
            let mut idle = cluster.idle.clone();
            let mut placement = None;
            for (at, &slot) in list.iter().enumerate() {
                let running_job = cluster.job_at(slot)?;
                idle.give_back(&running_job.alloc, machine);
                if let Some(alloc) = idle.place_job(job, eligible, machine) {
                    placement = Some((at, alloc));
                    break;
                }
            }
            let (last, alloc) = placement?;
            passes += 1;
            if passes > self.reorder + 1 || count <= passes {
                let released_jobs = list[..=last].iter().filter_map(|&slot| cluster.job_at(slot));
                let needed_jobs = released_jobs.filter(|running| running.alloc.nodes.has_common(&alloc.nodes));
                let victim = |running: &RunningModelJob| Victim {
                    id: running.id,
                    mode: self.mode_of(machine, &running.job),
                    grace: self.grace_of(machine, &running.job),
                };
                return Some((needed_jobs.map(victim).collect(), alloc));
            }
            self.reorder_candidates(cluster, &mut list, last, &alloc);
        }
    }

    /// Those that give up most of what the job would use come first, the last one before all.
    fn reorder_candidates(&self, cluster: &ModelCluster, list: &mut Vec<u32>, last: usize, alloc: &Alloc) {
        if self.strict_order {
            let slot = list.remove(last);
            list.insert(0, slot);
            return;
        }
        let useful = |(at, &slot): (usize, &u32)| {
            let nodes = cluster.job_at(slot).map_or(0, |running| running.alloc.nodes.count_common(&alloc.nodes));
            let weight = match at.cmp(&last) {
                std::cmp::Ordering::Less => nodes as u64,
                std::cmp::Ordering::Equal => 99_999,
                std::cmp::Ordering::Greater => 0,
            };
            (weight, slot)
        };
        let mut weighted_slots: Vec<(u64, u32)> = list.iter().enumerate().map(useful).collect();
        weighted_slots.sort_shared_by_key(|&(weight, _)| std::cmp::Reverse(weight));
        *list = weighted_slots.into_iter().map(|(_, slot)| slot).collect();
    }
}
