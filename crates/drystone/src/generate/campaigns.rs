//! Campaigns: series of similar jobs. Our own model; it decides how well history predicts.
//!
//! People run the same program again and again: the next job has nearly the size and run time of
//! the last, and the same estimate. Every job drawn by the workload model goes into exactly one
//! campaign, so that all marginals stay what they are:
//!
//! 1. Jobs are sorted by size class (each power of two for itself, the sizes between two powers
//!    together) and, within it, by the logarithm of the run time *plus noise*: little for most
//!    jobs, much for the odd ones, which end up in campaigns of jobs quite unlike them (the run
//!    that crashed at once, the run that was made ten times as large). The noise, not the density
//!    of jobs, decides how alike neighbours are: hence the same accuracy for ten thousand jobs and
//!    for ten million.
//! 2. The sorted list is cut into pieces of heavy-tailed length: the campaigns.
//! 3. Jobs within a campaign are put in random order.
//!
//! A campaign has one estimate, not below any of its jobs but the odd ones; an odd job that runs
//! longer has its own.

use super::estimates::EstimatePool;
use super::random::RandomStream;
use super::{Habits, TypeLane};
use crate::model::SharedSort;

/// Campaigns of one type of job, and the estimates of all its jobs.
pub(super) struct Campaigns {
    /// Jobs, campaign by campaign.
    pub(super) order: Vec<u32>,
    /// First index of each campaign in `order`; the last entry is its length.
    pub(super) starts: Vec<u32>,
    /// Flags of the odd jobs.
    odd: Vec<bool>,
}

/// Jobs that get one estimate.
pub(super) struct EstimateGroup {
    /// Run time of the longest.
    run: u32,
    /// The type of job.
    lane: u8,
    /// Members of the campaigns.
    members: GroupMembers,
}

enum GroupMembers {
    /// The jobs of a campaign that run no longer than `EstimateGroup::run`.
    Campaign(u32),
    /// An odd job.
    Job(u32),
}

impl Campaigns {
    /// Arranges the jobs of `lane` in campaigns.
    pub(super) fn new(lane: &TypeLane, habits: &Habits, stream: &mut RandomStream) -> Campaigns {
        let n = lane.run.len();
        let mut odd = vec![false; n];
        let mut keyed_jobs: Vec<(u64, u32)> = Vec::with_capacity(n);
        for (i, (&procs, &run)) in lane.procs.iter().zip(&lane.run).enumerate() {
            odd[i] = stream.draw_unit() < habits.odd_jobs;
            let noise = if odd[i] { habits.odd_scatter } else { habits.scatter };
            let log = libm::log(f64::from(run)) + noise * stream.draw_normal();
            keyed_jobs.push((sort_key(procs, log), i as u32));
        }
        keyed_jobs.sort_unstable();
        let mut order: Vec<u32> = keyed_jobs.iter().map(|&(_, i)| i).collect();
        let breadth = (habits.breadth * LEVELS) as u64;
        let mut starts = vec![0];
        let mut at = 0;
        while at < n {
            let length = stream.draw_heavy_tail(habits.campaign_tail, habits.longest_campaign) as usize;
            let most = (at + length).min(n);
            // The next size class is farther away than any breadth.
            let end = at + keyed_jobs[at..most].partition_point(|k| k.0 - keyed_jobs[at].0 <= breadth);
            stream.shuffle(&mut order[at..end]);
            starts.push(end as u32);
            at = end;
        }
        Campaigns { order, starts, odd }
    }

    /// Number of campaigns.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn campaign_jobs(&self, campaign: usize) -> &[u32] {
        &self.order[self.starts[campaign] as usize..self.starts[campaign + 1] as usize]
    }
}

/// Levels of the sort key per unit of the logarithm.
const LEVELS: f64 = 4_294_967_296.0;

/// Sorts by size class first, then by the logarithm of the run time.
fn sort_key(procs: u32, log_run: f64) -> u64 {
    let class = 2 * procs.ilog2() + u32::from(!procs.is_power_of_two());
    // 1024 keeps even the oddest job above zero.
    let level = ((log_run.clamp(-1000.0, 1000.0) + 1024.0) * LEVELS) as u64;
    u64::from(class) << 44 | level
}

/// Gives every job its estimate, from the longest group of jobs downwards.
///
/// Cost: O(n log n). Returns the estimates of each lane in seconds.
pub(super) fn give_estimates(
    lanes: &[TypeLane],
    campaigns: &[Campaigns],
    pool: &mut EstimatePool,
    care: u32,
    stream: &mut RandomStream,
) -> Vec<Vec<u32>> {
    let mut groups = Vec::new();
    for (l, (lane, camps)) in lanes.iter().zip(campaigns).enumerate() {
        for campaign in 0..camps.len() {
            groups_of(l as u8, lane, camps, campaign, &mut groups);
        }
    }
    // Stable, so that equal run times keep the order above.
    groups.sort_shared_by_key(|g| std::cmp::Reverse(g.run));
    let mut estimates: Vec<Vec<u32>> = lanes.iter().map(|l| vec![0; l.run.len()]).collect();
    for group in &groups {
        let l = usize::from(group.lane);
        match group.members {
            GroupMembers::Job(job) => {
                estimates[l][job as usize] = pool.take_estimate(group.run, 1, care, stream).0;
            }
            GroupMembers::Campaign(campaign) => {
                let members = campaigns[l].campaign_jobs(campaign as usize).iter();
                let run = &lanes[l].run;
                let members = members.filter(|&&j| run[j as usize] <= group.run);
                let mut wanted_count = members.clone().count() as u32;
                let (mut value, mut taken_count) = (0, 0);
                for &job in members {
                    if taken_count == 0 {
                        (value, taken_count) = pool.take_estimate(group.run, wanted_count, care, stream);
                        wanted_count -= taken_count;
                    }
                    estimates[l][job as usize] = value;
                    taken_count -= 1;
                }
            }
        }
    }
    estimates
}

fn groups_of(l: u8, lane: &TypeLane, camps: &Campaigns, campaign: usize, groups: &mut Vec<EstimateGroup>) {
    let run_of = |j: u32| lane.run[j as usize];
    let jobs = camps.campaign_jobs(campaign);
    let regular = jobs.iter().filter(|&&j| !camps.odd[j as usize]);
    let longest = regular.map(|&j| run_of(j)).max();
    if let Some(run) = longest {
        groups.push(EstimateGroup { run, lane: l, members: GroupMembers::Campaign(campaign as u32) });
    }
    let beyond = |j: &&u32| longest.is_none_or(|run| run_of(**j) > run);
    groups.extend(jobs.iter().filter(beyond).map(|&job| EstimateGroup {
        run: run_of(job),
        lane: l,
        members: GroupMembers::Job(job),
    }));
}
