//! Actions of a pass: starts, plans, victims.

use drystone_slurm::conf::ConfNode;
use drystone_slurm::model::{NodeSet, PassKind, PassVerdict, VerdictObserver};
use std::collections::{BTreeMap, BTreeSet};

/// By job.
#[derive(Default, Debug)]
pub(super) struct Deeds {
    pub(super) starts: BTreeMap<u32, NodeSet>,
    /// Of a job in several partitions, one for each in their order.
    pub(super) plans: BTreeMap<(u32, usize), (i64, i64, NodeSet)>,
    pub(super) victims: BTreeSet<u32>,
}

impl VerdictObserver for Deeds {
    fn note_verdict(&mut self, _: PassKind, _: i64, id: u32, verdict: PassVerdict) {
        match verdict {
            PassVerdict::Started(alloc) => drop(self.starts.insert(id, alloc.nodes)),
            // Slurm tells of a plan before it sees that it is beyond the window.
            PassVerdict::Planned { start, end, alloc } | PassVerdict::BeyondWindow { start, end, alloc } => {
                self.add_plan(id, (start, end, alloc.nodes));
            }
            _ => {}
        }
    }

    fn wants_plans(&self) -> bool {
        true
    }
}

impl Deeds {
    pub(super) fn add_plan(&mut self, id: u32, plan: (i64, i64, NodeSet)) {
        let before = self.plans_of(id).count();
        self.plans.insert((id, before), plan);
    }

    pub(super) fn plans_of(&self, id: u32) -> impl Iterator<Item = &(i64, i64, NodeSet)> + '_ {
        self.plans.range((id, 0)..(id + 1, 0)).map(|(_, plan)| plan)
    }

    /// The jobs that anything was done about.
    pub(super) fn affected_jobs(&self) -> impl Iterator<Item = u32> + '_ {
        let plan_ids = self.plans.keys().map(|&(id, _)| id);
        self.starts.keys().chain(&self.victims).copied().chain(plan_ids)
    }

    /// Describes the actions on a job, in words; times from `base`.
    pub(super) fn describe_job(&self, id: u32, base: i64, names: &[ConfNode]) -> String {
        let name = |node: usize| names.get(node).map_or_else(|| node.to_string(), |node| node.name.clone());
        let list = |nodes: &NodeSet| nodes.iter().map(name).collect::<Vec<_>>().join(",");
        if let Some(nodes) = self.starts.get(&id) {
            return format!("starts it on {}", list(nodes));
        }
        if self.victims.contains(&id) {
            return "makes it go".to_string();
        }
        let tell = |(start, end, nodes): &(i64, i64, NodeSet)| {
            format!("plans it from {} to {} on {}", start - base, end - base, list(nodes))
        };
        let plans: Vec<String> = self.plans_of(id).map(tell).collect();
        if plans.is_empty() { "does nothing".to_string() } else { plans.join(" and ") }
    }
}
