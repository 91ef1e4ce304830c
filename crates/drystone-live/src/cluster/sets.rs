//! Sets of nodes: partitions that share their nodes, and nothing with others. Each is scheduled by
//! itself.

use super::{ClusterSnapshot, DependencyCondition, HookMark, JobDependencies, JobFact};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Driven partitions with the same nodes, none of which a partition of another set has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DrivenSet {
    pub partitions: Vec<String>,
    /// Names of the nodes. They matter only where there are several sets.
    pub nodes: BTreeSet<String>,
}

impl DrivenSet {
    /// The only set of a daemon: it has all nodes that are looked at.
    pub fn single_set(partitions: Vec<String>) -> DrivenSet {
        DrivenSet { partitions, nodes: BTreeSet::new() }
    }

    /// Returns the name of the set: those of its partitions.
    pub fn name(&self) -> String {
        self.partitions.join(",")
    }

    fn owns_job(&self, fact: &JobFact) -> bool {
        self.partitions.contains(&fact.partition)
    }

    fn touches_job(&self, fact: &JobFact) -> bool {
        fact.places.iter().any(|place| self.nodes.contains(&place.node))
    }
}

/// Returns what concerns one of several sets: its nodes, the jobs of its partitions and on its
/// nodes, and jobs of other sets that its own wait for. The first one has what concerns no set.
pub fn seen_by<'a>(sets: &[DrivenSet], at: usize, snapshot: &'a ClusterSnapshot) -> Cow<'a, ClusterSnapshot> {
    if sets.len() < 2 {
        return Cow::Borrowed(snapshot);
    }
    let own = &sets[at];
    let mut numbers: BTreeSet<u64> = BTreeSet::new();
    let mut users: BTreeSet<&str> = BTreeSet::new();
    for fact in snapshot.jobs.iter().filter(|fact| own.owns_job(fact)) {
        let (JobDependencies::On(all) | JobDependencies::Any(all)) = &fact.depends else { continue };
        for condition in all {
            if condition.after == DependencyCondition::Alone {
                users.insert(&fact.user);
            } else {
                numbers.insert(condition.id);
            }
        }
    }
    let of_others = |fact: &JobFact| sets.iter().any(|set| set.owns_job(fact));
    let job = |fact: &JobFact| {
        if own.owns_job(fact) {
            return Some(fact.clone());
        }
        let is_others = of_others(fact);
        let is_awaited = numbers.contains(&fact.id) || users.contains(fact.user.as_str());
        let is_shown = own.touches_job(fact) || (is_others && is_awaited) || (!is_others && at == 0);
        // A job that another set holds is not this one's to let go.
        let mark = if is_others { HookMark::None } else { fact.mark };
        is_shown.then(|| JobFact { mark, ..fact.clone() })
    };
    Cow::Owned(ClusterSnapshot {
        time: snapshot.time,
        jobs: snapshot.jobs.iter().filter_map(job).collect(),
        nodes: snapshot.nodes.iter().filter(|node| own.nodes.contains(&node.name)).cloned().collect(),
        licences: snapshot.licences.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::StartCondition;
    use crate::cluster::fake::{FakeCluster, FakeRequest};

    fn set(partition: &str, nodes: &[&str]) -> DrivenSet {
        let nodes = nodes.iter().map(ToString::to_string).collect();
        DrivenSet { partitions: vec![partition.to_string()], nodes }
    }

    fn numbers(snapshot: &ClusterSnapshot) -> Vec<u64> {
        snapshot.jobs.iter().map(|fact| fact.id).collect()
    }

    #[test]
    fn each_set_sees_its_own_and_what_that_waits_for() {
        let mut cluster = FakeCluster::new(3, 4);
        for partition in ["main", "gpu", "gpu", "other", "main,gpu"] {
            cluster.submit(FakeRequest { partition: partition.into(), ..FakeRequest::new(1, 5, 9) });
        }
        let mut snapshot = cluster.true_snapshot();
        let sets = [set("main", &["n1", "n2"]), set("gpu", &["n3"])];
        let views = |snapshot: &ClusterSnapshot| [0, 1].map(|at| seen_by(&sets, at, snapshot).into_owned());
        let [main, gpu] = views(&snapshot);
        assert_eq!((numbers(&main), numbers(&gpu)), (vec![1, 4, 5], vec![2, 3]));
        assert_eq!((main.nodes.len(), gpu.nodes.len()), (2, 1));
        // A job of one set waits for one of the other, which is not let go here.
        snapshot.jobs[0].depends = JobDependencies::On(vec![StartCondition::new(3, None, DependencyCondition::End)]);
        let [main, _] = views(&snapshot);
        assert_eq!(numbers(&main), [1, 3, 4, 5]);
        assert_eq!(main.jobs.iter().map(|fact| fact.mark).collect::<Vec<_>>()[..2], [HookMark::Held, HookMark::None]);
        // One of no set runs on a node of the second.
        snapshot.jobs[3].places = vec![crate::cluster::NodeShare { node: "n3".into(), procs: Some(2) }];
        let [_, gpu] = views(&snapshot);
        assert_eq!(numbers(&gpu), [2, 3, 4]);
        assert_eq!(seen_by(&sets[..1], 0, &snapshot).jobs.len(), 5, "one set sees all");
    }
}
