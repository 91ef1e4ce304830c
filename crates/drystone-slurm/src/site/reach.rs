//! Places of the queue that a backfill pass can reach before it has tested as many jobs as it may.

use crate::conf::SchedParams;
use crate::model::{ModelCluster, Pending, is_plain_job, is_plain_site};
use std::collections::VecDeque;

/// Seconds for which a job has to be sure to count. A shorter time would make the next pass
/// necessary soon.
const LEAST: i64 = 300;

/// Places that a pass may still come to.
///
/// A job counts as tested at its first try if as many nodes as it needs have no plan that begins
/// before its end. Nodes of a running job have no plan before the end of its limit. So some jobs
/// are sure to count, whatever is planned before them. A pass ends once it has tested as many as it
/// may.
pub(super) struct PassReach {
    /// For each place up to the last one, the time before which the job there is sure to count;
    /// [`i64::MIN`]: it is not.
    sure: Vec<i64>,
    /// Number of jobs that are sure to count, behind the present place and before the end.
    ahead: i64,
    /// Largest number of jobs that the pass tests.
    most: i64,
    /// First place that the pass does not reach.
    end: usize,
}

impl PassReach {
    /// Returns the places up to `last` that a pass at `now` seconds may reach.
    pub(super) fn new(
        cluster: &ModelCluster,
        queue: &VecDeque<Pending>,
        (now, last): (i64, usize),
        params: &SchedParams,
    ) -> PassReach {
        let most = params.bf_max_job_test;
        let mut reach = PassReach { sure: Vec::new(), ahead: 0, most, end: last + 1 };
        if (last as i64) < most || !is_plain_site(cluster, params) {
            return reach;
        }
        let holds: Vec<HoldsByEnd> =
            (0..cluster.machine.parts.len()).map(|part| HoldsByEnd::new(cluster, part, params.bf_resolution)).collect();
        for job in queue.range(..=last) {
            if reach.ahead >= most {
                break;
            }
            let until = holds[usize::from(job.part)].suffice_until(job);
            let sure = is_plain_job(cluster, job) && until > now + LEAST;
            reach.sure.push(if sure { until } else { i64::MIN });
            reach.ahead += i64::from(sure);
        }
        reach.end = if reach.ahead >= most { reach.sure.len() } else { last + 1 };
        reach
    }

    /// Returns the first place that the pass does not reach.
    pub(super) fn end_place(&self) -> usize {
        self.end
    }

    /// Notes that the pass is done with the job at `place` and has tested `tried` jobs. Returns
    /// whether it can now reach fewer places.
    pub(super) fn note_tested(&mut self, place: usize, try_count: i64) -> bool {
        if place >= self.end.min(self.sure.len()) {
            return false;
        }
        self.ahead -= i64::from(self.is_sure(place));
        let before = self.end;
        while self.end > place + 1 && try_count + self.ahead - i64::from(self.is_sure(self.end - 1)) >= self.most {
            self.end -= 1;
            self.ahead -= i64::from(self.is_sure(self.end));
        }
        self.end < before
    }

    fn is_sure(&self, place: usize) -> bool {
        self.sure[place] > i64::MIN
    }

    /// Returns the time before which the jobs behind `place` and before the end are still sure to
    /// count.
    pub(super) fn holds_until(&self, place: usize) -> i64 {
        let ahead = self.sure.get(place + 1..self.end).unwrap_or_default();
        ahead.iter().copied().filter(|&until| until > i64::MIN).min().unwrap_or(i64::MAX)
    }
}

/// Nodes of a partition that running jobs hold, by the earliest begin of a plan there, descending.
struct HoldsByEnd(Vec<(i64, u32)>);

impl HoldsByEnd {
    fn new(cluster: &ModelCluster, part: usize, resolution: i64) -> HoldsByEnd {
        let (nodes, mut sum) = (&cluster.machine.parts[part].nodes, 0);
        let mut ends: Vec<(i64, u32)> =
            cluster.running_jobs().map(|running| (running.end, running.count_on(nodes))).collect();
        ends.reverse();
        for (end, node_count) in &mut ends {
            sum += *node_count;
            (*end, *node_count) = (end.div_euclid(resolution) * resolution, sum);
        }
        HoldsByEnd(ends)
    }

    /// Returns the time before which a job may begin so that as many nodes as it needs have no plan
    /// up to its end.
    fn suffice_until(&self, job: &Pending) -> i64 {
        let first = self.0.partition_point(|&(_, sum)| sum < job.min_nodes);
        self.0.get(first).map_or(i64::MIN, |&(begin, _)| begin.saturating_sub(job.limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Alloc, ModelMachine, NodeSet};

    /// Of eight nodes four are held up to 1,000 s, two up to 100 s, and two are idle. A pass tests
    /// two jobs. The first may not count, since it wants five nodes. The third may not, since it is
    /// too long. The second and the fourth are sure to count, so the pass reaches the fourth at
    /// most.
    #[test]
    fn a_pass_ends_once_those_that_are_sure_to_count_have() {
        let mut cluster = ModelCluster::new(ModelMachine::with_equal_nodes(8, 1));
        for (id, (nodes, limit)) in (0..).zip([(0..4, 1_000), (4..6, 100)]) {
            let alloc = Alloc { nodes: NodeSet::from_members(8, nodes), ..Alloc::default() };
            cluster.start_job(&Pending { limit, ..Pending::new(id, 4, limit) }, 0, alloc);
        }
        let job = |id: u32, nodes: u32, limit: i64| Pending {
            min_nodes: nodes,
            max_nodes: nodes,
            ..Pending::new(id, nodes, limit)
        };
        // The limit of the first running job is over at 1,000 s, and a plan may begin at 960 s.
        let queue: VecDeque<Pending> =
            [job(10, 5, 60), job(11, 4, 659), job(12, 1, 660), job(13, 4, 60), job(14, 1, 60), job(15, 1, 60)].into();
        let params = SchedParams { bf_max_job_test: 2, ..SchedParams::default() };
        let new = |last| PassReach::new(&cluster, &queue, (0, last), &params);
        assert_eq!([new(5).end_place(), new(2).end_place(), new(1).end_place()], [4, 3, 2]);
        // The first counts after all: with the second that makes two.
        let mut reach = new(5);
        assert!(reach.note_tested(0, 1));
        assert_eq!(reach.end_place(), 2);
        // The first does not count, and the third does: the fourth is not reached.
        let mut reach = new(5);
        assert!(!reach.note_tested(0, 0));
        assert_eq!(reach.holds_until(0), 301, "at 301 s the second would end at 960 s");
        assert!(!reach.note_tested(1, 1));
        assert!(reach.note_tested(2, 2));
        assert_eq!(reach.end_place(), 3);
        // Where the pass may test more jobs than wait, all places are reached.
        let params = SchedParams::default();
        assert_eq!(PassReach::new(&cluster, &queue, (0, 5), &params).end_place(), 6);
    }
}
