//! Rules S6 to S8 where jobs are placed on nodes.
//!
//! A job has room where its nodes have all that it asks for. A fresh one is placed as the machine
//! fills nodes, among the processors that rule S6 leaves to it. As many jobs give way, in their
//! order, as it takes until it has room; of these the narrowest stay that need not go.

use super::SelectivePolicy;
use crate::model::{ProcSet, SharedSort, Time};
use crate::policy::suspension::amounts::LackedAmounts;
use crate::policy::suspension::pool::RangePool;
use crate::policy::suspension::ratio::DecimalRatio;
use crate::policy::suspension::seats::CandidatePool;
use crate::policy::suspension::settings::{FreshPlace, VictimRule};
use std::cmp::Reverse;

impl SelectivePolicy {
    /// Finds processors for an idle job when these running jobs are suspended; `preempting` says
    /// whether it may suspend jobs.
    pub(super) fn pick_processors(&self, at: usize, victims: &[usize], preempting: bool, now: Time) -> Option<ProcSet> {
        let task = &self.idle[at];
        let (processors, nodes) = (self.processors.as_ref()?, self.amounts.nodes.as_ref()?);
        let mut missing = self.amounts.missing_amounts(task)?;
        let leaving = || victims.iter().map(|&victim| &self.running[victim]);
        leaving().for_each(|victim| self.amounts.relieve_missing(&mut missing, victim));
        if !missing.is_none() {
            return None;
        }
        if self.is_pinned(task) {
            let mut free = processors.free_pool().clone();
            leaving().for_each(|victim| free.insert(&victim.set));
            let has_room = free.contains_set(&task.set) && nodes.can_resume(task, leaving());
            return has_room.then(|| task.set.clone());
        }
        self.candidate_pools(at, victims, preempting, now)
            .iter()
            .find_map(|pool| nodes.pick_processors(task, pool, leaving()))
    }

    /// Rule S6: the processors that a fresh job may have when these jobs are suspended, those first
    /// that it prefers.
    fn candidate_pools(&self, at: usize, victims: &[usize], preempting: bool, now: Time) -> Vec<CandidatePool> {
        let Some(processors) = &self.processors else { return Vec::new() };
        let with_victims = |pool: &RangePool| {
            let mut pool_with_victims = pool.clone();
            victims.iter().for_each(|&victim| pool_with_victims.insert(&self.running[victim].set));
            CandidatePool { all: pool_with_victims, behind: ProcSet::new() }
        };
        let place = self.settings.place;
        let by_priority = match place {
            FreshPlace::PrioritySf => self.factor,
            FreshPlace::Priority => DecimalRatio::from_whole(1),
            FreshPlace::Lowest | FreshPlace::Contiguous => return vec![with_victims(processors.free_pool())],
            _ => {
                let open = with_victims(processors.open_pool());
                let only_open = place == FreshPlace::Strict || place == FreshPlace::Never && !preempting;
                if only_open {
                    return vec![open];
                }
                let mut owned_free = processors.free_pool().clone();
                owned_free.remove_all(&open.all);
                let behind = ProcSet::union_of(
                    &owned_free.ranges().iter().cloned().map(ProcSet::from_range).collect::<Vec<_>>(),
                );
                let any_pool = CandidatePool { behind, ..with_victims(processors.free_pool()) };
                return vec![open, any_pool];
            }
        };
        let mine = self.idle[at].idle_priority(now);
        let mut pool = processors.free_pool().clone();
        for owner in self.idle.iter().filter(|task| task.has_run()).chain(&self.stopped) {
            if !mine.is_at_least(by_priority, owner.idle_priority(now)) {
                pool.remove(&owner.set);
            }
        }
        vec![with_victims(&pool)]
    }

    /// The jobs that are suspended, besides `own`, so that an idle job has room, if it may have it;
    /// they are `victims` then, and the processors are `picked`.
    pub(super) fn victims_on_nodes(&mut self, at: usize, own: Vec<usize>, now: Time) -> bool {
        self.victims.clear();
        let Some(missing) = self.amounts.missing_amounts(&self.idle[at]) else { return false };
        let mut other_victims = self.possible_victims(at, &missing, &own, now);
        let all_of = |candidates: &[usize]| [&own[..], candidates].concat();
        if self.pick_processors(at, &all_of(&other_victims), true, now).is_none() {
            return false;
        }
        let suffices = |candidates: &[usize]| self.pick_processors(at, &all_of(candidates), true, now).is_some();
        if self.settings.victims != VictimRule::Widest {
            other_victims.truncate(shortest_sufficient(&other_victims, suffices));
        }
        // Stable: of equally wide ones those of lower priority first.
        other_victims.sort_shared_by_key(|&victim| Reverse(self.running[victim].procs));
        other_victims.truncate(shortest_sufficient(&other_victims, suffices));
        for index in (0..other_victims.len()).rev() {
            let mut without = other_victims.clone();
            without.remove(index);
            if suffices(&without) {
                other_victims = without;
            }
        }
        let victims = all_of(&other_victims);
        self.picked = self.pick_processors(at, &victims, true, now);
        self.victims = victims;
        self.picked.is_some()
    }

    /// The jobs that an idle one may suspend to have room, in the order in which they give way:
    /// those that are where it may be, or have what it lacks.
    fn possible_victims(&self, at: usize, missing: &LackedAmounts, own: &[usize], now: Time) -> Vec<usize> {
        let task = &self.idle[at];
        let tau = task.idle_priority(now);
        let widest = self.widest_victim(task, self.is_relieved(tau));
        let is_pinned = self.is_pinned(task);
        let mut possible = Vec::new();
        for (victim, candidate) in self.running.iter().enumerate() {
            if !tau.is_at_least(self.factor, candidate.running_priority()) {
                break;
            }
            if candidate.since == now || own.contains(&victim) {
                continue;
            }
            if candidate.procs > widest || self.is_sheltered(candidate) || self.limits.is_forbidden(tau, candidate) {
                if self.settings.victims == VictimRule::Exit {
                    break;
                }
                continue;
            }
            let gives_room = self.amounts.nodes.as_ref().is_some_and(|nodes| match is_pinned {
                true => nodes.share_a_node(&task.set, candidate),
                false => nodes.may_meet(task, candidate),
            });
            if gives_room || self.amounts.can_help(missing, candidate) {
                possible.push(victim);
            }
        }
        possible
    }
}

/// The number of the first of them that suffice, as all of them do; more always do where fewer do.
fn shortest_sufficient(victims: &[usize], suffices: impl Fn(&[usize]) -> bool) -> usize {
    let (mut too_few, mut enough) = (0, victims.len());
    if suffices(&[]) {
        return 0;
    }
    while enough - too_few > 1 {
        let half = too_few + (enough - too_few) / 2;
        if suffices(&victims[..half]) {
            enough = half;
        } else {
            too_few = half;
        }
    }
    enough
}
