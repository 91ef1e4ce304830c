//! Selective suspension.

use super::{SeatedWorld, count_procs};
use crate::placed::{NaiveFloor, NaivePlacedJob, PlacedFill, PlacedSchedule, place_job};
use std::collections::BTreeSet;

/// Times that a job may be as wide as the fresh one that suspends it.
const WIDTH: i64 = 2;

struct SuspensionState<'a> {
    world: SeatedWorld<'a>,
    /// Processors of running and suspended jobs, node after node.
    sets: Vec<BTreeSet<i64>>,
    suspended: Vec<usize>,
    /// Time run in earlier segments.
    ran: Vec<i64>,
    /// Start of the current segment.
    since: Vec<i64>,
}

/// Runs the policy with this suspension factor; no fresh job may have a processor of a suspended
/// one but of its victims, and victims are the widest.
pub fn run(factor: i64, jobs: &[NaivePlacedJob], floor: &NaiveFloor, fill: PlacedFill) -> PlacedSchedule {
    let n = jobs.len();
    let mut s = SuspensionState {
        world: SeatedWorld::new(jobs, floor, fill),
        sets: vec![BTreeSet::new(); n],
        suspended: Vec::new(),
        ran: vec![0; n],
        since: vec![0; n],
    };
    loop {
        let idle = !(s.world.waiting.is_empty() && s.suspended.is_empty());
        let tick = idle.then(|| 60 * (s.world.now.div_euclid(60) + 1));
        if s.world.advance_time(tick.into_iter()).is_none() {
            return s.world.finish();
        }
        if s.world.now.rem_euclid(60) == 0 {
            s.preempt_jobs(factor);
        } else {
            for i in s.idle_in_order() {
                s.start_plainly(i);
            }
        }
    }
}

impl SuspensionState<'_> {
    fn executed_time(&self, j: usize) -> i64 {
        let runs = self.world.running.contains(&j);
        self.ran[j] + if runs { self.world.now - self.since[j] } else { 0 }
    }

    /// (wait + prediction) / prediction.
    fn job_priority(&self, j: usize) -> (i64, i64) {
        let job = &self.world.jobs[j];
        (self.world.now - job.submit - self.executed_time(j) + job.estimate, job.estimate)
    }

    fn idle_in_order(&self) -> Vec<usize> {
        let mut idle: Vec<usize> = self.world.waiting.iter().chain(&self.suspended).copied().collect();
        idle.sort_unstable();
        idle.sort_by(|&a, &b| {
            let (a, b) = (self.job_priority(a), self.job_priority(b));
            (b.0 * a.1).cmp(&(a.0 * b.1))
        });
        idle
    }

    /// The processors of a job now, if it has room when these have gone.
    fn pick_processors(&self, i: usize, victims: &[usize]) -> Option<BTreeSet<i64>> {
        let world = &self.world;
        let stay = |j: &usize| world.running.contains(j) && !victims.contains(j);
        let mut free = world.floor.clone();
        let mut used_procs: BTreeSet<i64> = BTreeSet::new();
        for j in (0..world.jobs.len()).filter(|j| stay(j)) {
            used_procs.extend(&self.sets[j]);
            for (node, amounts) in &world.seats[j] {
                free[*node].iter_mut().zip(amounts).for_each(|(free, ask)| *free -= ask);
            }
        }
        for j in self.suspended.iter().chain(victims).copied().filter(|&j| j != i) {
            world.seats[j].iter().for_each(|(node, amounts)| free[*node][1] -= amounts[1]);
        }
        if self.suspended.contains(&i) {
            let has_room = |(node, amounts): &(usize, Vec<i64>)| free[*node].iter().zip(amounts).all(|(f, a)| f >= a);
            let is_free = self.sets[i].is_disjoint(&used_procs) && world.seats[i].iter().all(has_room);
            return is_free.then(|| self.sets[i].clone());
        }
        // Those that suspended jobs own are not for it.
        let owned_procs: BTreeSet<i64> = self.suspended.iter().flat_map(|&j| self.sets[j].clone()).collect();
        let victim_procs: BTreeSet<i64> = victims.iter().flat_map(|&j| self.sets[j].clone()).collect();
        let mut first = 0;
        let mut pools: Vec<Vec<i64>> = Vec::new();
        for (node, free) in world.floor.iter().zip(&mut free) {
            let own = first..first + node[0];
            first += node[0];
            pools.push(
                own.filter(|p| !used_procs.contains(p) && (!owned_procs.contains(p) || victim_procs.contains(p)))
                    .collect(),
            );
            // Where a job has a node alone, no other is on the rest of its cores.
            free[0] = free[0].min(pools[pools.len() - 1].len() as i64);
        }
        let seat = place_job(&world.jobs[i], world.floor, &free, world.fill)?;
        let cores = self.cores_by_node(i, &seat);
        Some(cores.into_iter().flat_map(|(node, count)| pools[node].iter().copied().take(count as usize)).collect())
    }

    /// Cores of a job by node: its pieces, as many as a seat has, in order.
    fn cores_by_node(&self, i: usize, seat: &[(usize, Vec<i64>)]) -> Vec<(usize, i64)> {
        let job = &self.world.jobs[i];
        if !job.alone {
            return seat.iter().map(|(node, amounts)| (*node, amounts[0])).collect();
        }
        if job.apart && job.pieces.len() > 1 {
            return self.cores_by_size(i, seat);
        }
        // A seat of whole nodes does not say how many cores are its own.
        let plain = NaivePlacedJob { alone: false, ..job.clone() };
        let mut free: NaiveFloor = vec![vec![0; self.world.floor[0].len()]; self.world.floor.len()];
        seat.iter().for_each(|(node, _)| free[*node] = self.world.floor[*node].clone());
        let seat = place_job(&plain, self.world.floor, &free, self.world.fill).expect("it has these nodes");
        seat.into_iter().map(|(node, amounts)| (node, amounts[0])).collect()
    }

    /// Cores of a job with whole nodes to itself: the smallest node first, each has an equal part
    /// of what is left, or all that it has.
    fn cores_by_size(&self, i: usize, seat: &[(usize, Vec<i64>)]) -> Vec<(usize, i64)> {
        let mut nodes: Vec<usize> = seat.iter().map(|(node, _)| *node).collect();
        nodes.sort_by_key(|&node| (self.world.floor[node][0], node));
        let mut procs_left = count_procs(&self.world.jobs[i]);
        let mut cores = Vec::new();
        for (at, &node) in nodes.iter().enumerate() {
            let nodes_left = (nodes.len() - at) as i64;
            let count = self.world.floor[node][0].min((procs_left + nodes_left - 1) / nodes_left);
            procs_left -= count;
            cores.push((node, count));
        }
        cores.sort_unstable();
        cores
    }

    fn start_job(&mut self, i: usize, set: BTreeSet<i64>) {
        let now = self.world.now;
        if self.suspended.contains(&i) {
            self.suspended.retain(|&j| j != i);
            self.world.running.push(i);
        } else {
            let seat = self.seat_of(i, &set);
            self.world.start_job(i, seat);
        }
        self.sets[i] = set;
        self.since[i] = now;
        self.world.out[i].end = now + self.world.jobs[i].run - self.ran[i];
    }

    /// Amounts that a job takes on the nodes of its processors.
    fn seat_of(&self, i: usize, set: &BTreeSet<i64>) -> Vec<(usize, Vec<i64>)> {
        let (job, mut first, mut seat) = (&self.world.jobs[i], 0, Vec::new());
        let largest = &job.pieces[0];
        for (node, row) in self.world.floor.iter().enumerate() {
            let cores = set.range(first..first + row[0]).count() as i64;
            first += row[0];
            if cores > 0 {
                let count = if job.apart { 1 } else { cores / largest[0] };
                let amounts: Vec<i64> = largest.iter().map(|ask| ask * count).collect();
                let amounts = [vec![cores], amounts[1..].to_vec()].concat();
                seat.push((node, if job.alone { row.clone() } else { amounts }));
            }
        }
        seat
    }

    fn start_plainly(&mut self, i: usize) -> bool {
        let set = self.pick_processors(i, &[]);
        set.map(|set| self.start_job(i, set)).is_some()
    }

    fn suspend_job(&mut self, j: usize) {
        self.ran[j] = self.executed_time(j);
        self.world.running.retain(|&entry| entry != j);
        self.suspended.push(j);
    }

    fn preempt_jobs(&mut self, factor: i64) {
        let now = self.world.now;
        for i in self.idle_in_order() {
            if self.start_plainly(i) {
                continue;
            }
            let mut running_jobs: Vec<usize> =
                self.world.running.iter().copied().filter(|&j| self.since[j] < now).collect();
            running_jobs.sort_by(|&a, &b| {
                let (pa, pb) = (self.job_priority(a), self.job_priority(b));
                (pa.0 * pb.1).cmp(&(pb.0 * pa.1)).then(self.since[a].cmp(&self.since[b])).then(a.cmp(&b))
            });
            let tau = self.job_priority(i);
            let is_allowed = |j: usize| {
                let other_priority = self.job_priority(j);
                tau.0 * other_priority.1 >= factor * other_priority.0 * tau.1
            };
            let is_pinned = self.suspended.contains(&i);
            let on_own = |j: usize| is_pinned && !self.sets[j].is_disjoint(&self.sets[i]);
            let own: Vec<usize> = self.world.running.iter().copied().filter(|&j| on_own(j)).collect();
            if !own.iter().all(|&j| running_jobs.contains(&j) && is_allowed(j)) {
                continue;
            }
            let width = WIDTH * count_procs(&self.world.jobs[i]);
            let eligible = |&j: &usize| {
                is_allowed(j) && !own.contains(&j) && count_procs(&self.world.jobs[j]) <= width && self.may_meet(i, j)
            };
            let mut victims: Vec<usize> = running_jobs.iter().copied().filter(eligible).collect();
            victims.sort_by_key(|&j| std::cmp::Reverse(count_procs(&self.world.jobs[j])));
            let suffices = |victim_set: &[usize]| self.pick_processors(i, &[&own[..], victim_set].concat()).is_some();
            let Some(count) = (0..=victims.len()).find(|&count| suffices(&victims[..count])) else { continue };
            victims.truncate(count);
            for spare in (0..victims.len()).rev() {
                let mut without = victims.clone();
                without.remove(spare);
                if suffices(&without) {
                    victims = without;
                }
            }
            let jobs_to_suspend = [&own[..], &victims[..]].concat();
            let set = self.pick_processors(i, &jobs_to_suspend).expect("it has room then");
            jobs_to_suspend.iter().for_each(|&j| self.suspend_job(j));
            self.start_job(i, set);
        }
    }

    /// Returns whether a running job is on a node that is of use to an idle one.
    fn may_meet(&self, i: usize, j: usize) -> bool {
        let mine = |node: usize| match self.suspended.contains(&i) {
            true => self.world.seats[i].iter().any(|on| on.0 == node),
            false => true,
        };
        self.world.seats[j].iter().any(|on| mine(on.0))
    }
}
