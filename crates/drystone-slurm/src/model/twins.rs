//! Jobs that ask for the same as a job that a pass has just refused: they are refused likewise.

use super::{ModelCluster, NONE, PassVerdict, Pending};

/// Number of refusals that are remembered at once.
const MOST: usize = 64;

/// Refusals of a pass since it last started or planned a job.
#[derive(Clone, Debug, Default)]
pub(super) struct TwinRefusals {
    list: Vec<TwinRefusal>,
    /// Changes of the weights of nodes before them.
    changes: u64,
}

/// Refusal of a job.
#[derive(Clone, Debug)]
pub(super) struct TwinRefusal {
    /// The job, without the fields on which no verdict depends.
    job: Pending,
    /// Time at which the pass looked at it, and whether it was to have no plan.
    look: (i64, bool),
    pub(super) verdict: PassVerdict,
    /// Number of jobs that the look added to those that the pass has tried.
    pub(super) tried: i64,
}

impl TwinRefusal {
    /// The refusal of a job; `None` where its twins do not share it.
    pub(super) fn new(job: &Pending, look: (i64, bool), verdict: &PassVerdict, try_count: i64) -> Option<TwinRefusal> {
        let is_shared = matches!(verdict, PassVerdict::Limit(_) | PassVerdict::NoRoom);
        let refusal = || TwinRefusal { job: strip_identity(job), look, verdict: verdict.clone(), tried: try_count };
        is_shared.then(refusal)
    }
}

impl TwinRefusals {
    /// Returns the refusal of a twin of this job.
    pub(super) fn find_twin(&self, job: &Pending, look: (i64, bool)) -> Option<&TwinRefusal> {
        if self.list.is_empty() {
            return None;
        }
        let job = strip_identity(job);
        self.list.iter().find(|refusal| refusal.look == look && refusal.job == job)
    }

    /// Remembers a refusal.
    pub(super) fn add_refusal(&mut self, refusal: Option<TwinRefusal>) {
        self.list.extend(refusal.filter(|_| self.list.len() < MOST));
    }

    /// Forgets all refusals: a job has started, or has a plan.
    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    /// Forgets refusals with other weights of nodes than there are after so many `changes`: nodes
    /// in another order may have room.
    pub(super) fn keep_those_at(&mut self, changes: u64) {
        if std::mem::replace(&mut self.changes, changes) != changes {
            self.clear();
        }
    }
}

/// Returns a job without its number, age, priority and array: no verdict depends on these once a
/// pass looks for nodes.
fn strip_identity(job: &Pending) -> Pending {
    let (id, priority, submit, accrue, nice) = (0, 0, 0, 0, 0);
    let (array, throttle, is_weighed) = (NONE, 0, false);
    Pending { id, priority, submit, accrue, nice, array, throttle, weighed: is_weighed, ..job.clone() }
}

/// Returns whether the verdict on a job holds for its twins: the look for nodes gives them no
/// weights, and no job is preempted for another.
pub(super) fn have_one_verdict(cluster: &ModelCluster, job: &Pending) -> bool {
    let demand = cluster.machine.resources.known_demand(job.demand);
    !cluster.preempting.is_on() && demand.is_none_or(|entry| entry.demand.gpus.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_asks_for_the_same_is_refused_likewise() {
        let mut twins = TwinRefusals::default();
        let limit = PassVerdict::Limit("QOSMaxCpuPerUserLimit");
        twins.add_refusal(TwinRefusal::new(&Pending::new(1, 4, 600), (7, false), &limit, 1));
        let twin = Pending { submit: 5, array: 2, ..Pending::new(2, 4, 600) };
        let verdict = |twins: &TwinRefusals, job: &Pending, look| {
            twins.find_twin(job, look).map(|refusal| refusal.verdict.clone())
        };
        assert_eq!(verdict(&twins, &twin, (7, false)), Some(limit));
        assert_eq!(verdict(&twins, &twin, (8, false)), None, "later");
        assert_eq!(verdict(&twins, &twin, (7, true)), None, "without a plan");
        for unlike in [
            Pending { cpus: 5, ..twin.clone() },
            Pending { limit: 660, ..twin.clone() },
            Pending { user: 3, ..twin.clone() },
            Pending { qos: 1, ..twin.clone() },
            Pending { part: 1, ..twin.clone() },
            Pending { several: true, ..twin.clone() },
        ] {
            assert_eq!(verdict(&twins, &unlike, (7, false)), None);
        }
        twins.keep_those_at(0);
        assert!(twins.find_twin(&twin, (7, false)).is_some());
        twins.keep_those_at(1);
        assert!(twins.find_twin(&twin, (7, false)).is_none(), "nodes have other weights");
        assert!(TwinRefusal::new(&twin, (7, false), &PassVerdict::Reserved, 1).is_none());
    }
}
