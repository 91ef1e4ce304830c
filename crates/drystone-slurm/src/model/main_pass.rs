//! The main scheduler: strict order, with a stop for each partition.

use super::{Alloc, Cluster, NodeSet, Pass, Pending, Verdict, Watch};
use crate::conf::SchedParams;

/// Starts jobs in the order of `queue` until each partition has one that does not fit. Answers the places in `queue` of those
/// that it has started, ascending. A `full` pass looks at all jobs.
pub fn main_pass(
    cluster: &mut Cluster,
    queue: &[Pending],
    now: i64,
    full: bool,
    params: &SchedParams,
    watch: &mut impl Watch,
) -> Vec<(usize, Alloc)> {
    let parts = cluster.machine.parts.len();
    let mut pass = MainPass {
        failed: vec![false; parts],
        looked_at: vec![0; parts],
        blocked: cluster.completing.clone(),
        starts: Vec::new(),
    };
    let mut depth = 0;
    for (index, job) in queue.iter().enumerate() {
        if params.sched_max_job_start > 0 && pass.starts.len() as i64 >= params.sched_max_job_start {
            break;
        }
        let part = usize::from(job.part);
        pass.looked_at[part] += 1;
        if params.partition_job_depth > 0 && pass.looked_at[part] > params.partition_job_depth {
            continue;
        }
        if !full {
            // One more than the parameter says.
            if depth > params.default_queue_depth {
                break;
            }
            depth += 1;
        }
        let verdict = pass.look(cluster, index, job, now, params);
        watch.verdict(Pass::Main, now, job.id, verdict);
        if pass.failed.iter().all(|&failed| failed) && !watch.wants_plans() {
            break;
        }
    }
    pass.starts
}

struct MainPass {
    /// Partitions with a job that does not fit.
    failed: Vec<bool>,
    looked_at: Vec<i64>,
    /// Nodes that such a job keeps from all others.
    blocked: NodeSet,
    starts: Vec<(usize, Alloc)>,
}

impl MainPass {
    fn look(&mut self, cluster: &mut Cluster, index: usize, job: &Pending, now: i64, params: &SchedParams) -> Verdict {
        let part = usize::from(job.part);
        if self.failed[part] {
            return Verdict::BehindBlocked;
        }
        if !cluster.machine.parts[part].up {
            self.failed[part] = true;
            return Verdict::Blocked;
        }
        let mut usable = cluster.machine.parts[part].nodes.clone();
        usable.subtract(&self.blocked);
        if let Some(alloc) = cluster.idle.place(job, &usable) {
            cluster.start(job.id, now + job.limit, alloc.clone());
            self.starts.push((index, alloc.clone()));
            return Verdict::Started(alloc);
        }
        let young = now - job.submit < params.bf_min_age_reserve;
        if !young && job.priority >= params.bf_min_prio_reserve {
            self.failed[part] = true;
            self.blocked.unite(&cluster.machine.parts[part].nodes);
        }
        Verdict::Blocked
    }
}
