//! Starts of the jobs of the made-up site: first come, first served, with a place kept for the
//! first job of each partition that does not fit, and limits of a QOS.

use super::jobs::ExampleJob;
use super::{BEGIN, END, HOUR, MOST_CPUS};
use std::collections::{BTreeMap, BTreeSet};

/// Name, first node and last node of each partition, by their places among all nodes.
pub(super) const PARTITIONS: [(&str, usize, usize); 3] = [("main", 0, 15), ("gpu", 16, 18), ("debug", 19, 19)];

/// Hours since the beginning between which all nodes are in maintenance: a Tuesday, 8 to 18.
pub(super) const MAINTENANCE: [i64; 2] = [15 * 24 + 8, 15 * 24 + 18];

/// A node that was out unannounced.
pub(super) struct ExampleOutage {
    pub(super) node: &'static str,
    at: usize,
    pub(super) hours: [i64; 2],
    pub(super) reason: &'static str,
}

pub(super) const OUTAGES: [ExampleOutage; 2] = [
    ExampleOutage { node: "q07", at: 6, hours: [9 * 24 + 11, 11 * 24 + 3], reason: "memory errors" },
    ExampleOutage { node: "g2", at: 17, hours: [22 * 24 + 5, 23 * 24 + 14], reason: "GPU fell off the bus" },
];

/// A job with what became of it.
pub(super) struct ExampleRecord {
    pub(super) job: ExampleJob,
    pub(super) eligible: Option<i64>,
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
    pub(super) state: &'static str,
    pub(super) reason: &'static str,
    pub(super) nodes: Vec<usize>,
    pub(super) backfilled: bool,
}

/// Room of a node.
#[derive(Clone, Copy)]
struct ExampleRoom {
    cpus: u32,
    gpus: u32,
    memory_mb: u32,
    up: bool,
}

pub(super) fn node_name(at: usize) -> String {
    match at {
        0..=15 => format!("q{:02}", at + 1),
        16..=18 => format!("g{}", at - 15),
        _ => "d1".to_string(),
    }
}

/// A place that is kept for a job: its nodes, and the time from which on they are kept.
type ExampleReserve = (Vec<usize>, i64);

struct ExampleCluster {
    records: Vec<ExampleRecord>,
    rooms: Vec<ExampleRoom>,
    running: BTreeSet<usize>,
    queue: Vec<usize>,
    /// Processors that each user holds.
    held: BTreeMap<&'static str, u32>,
    /// Jobs that are over, by the time at which that is.
    ends: BTreeSet<(i64, usize)>,
}

/// Schedules the jobs, and returns them with their fates at the end of the records.
pub(super) fn schedule_jobs(jobs: Vec<ExampleJob>) -> Vec<ExampleRecord> {
    let node = |at: usize| match at {
        0..=15 => ExampleRoom { cpus: 32, gpus: 0, memory_mb: 128_000, up: true },
        16..=18 => ExampleRoom { cpus: 32, gpus: 4, memory_mb: 256_000, up: true },
        _ => ExampleRoom { cpus: 32, gpus: 0, memory_mb: 64_000, up: true },
    };
    let record = |job: ExampleJob| ExampleRecord {
        eligible: job.after.is_none().then_some(job.submit),
        job,
        start: None,
        end: None,
        state: "PENDING",
        reason: "None",
        nodes: Vec::new(),
        backfilled: false,
    };
    let records: Vec<ExampleRecord> = jobs.into_iter().map(record).collect();
    let mut times: BTreeSet<i64> = records.iter().map(|record| record.job.submit).collect();
    times.extend(MAINTENANCE.iter().chain(OUTAGES.iter().flat_map(|out| &out.hours)).map(|hour| BEGIN + hour * HOUR));
    let mut cluster = ExampleCluster {
        records,
        rooms: (0..20).map(node).collect(),
        running: BTreeSet::new(),
        queue: Vec::new(),
        held: BTreeMap::new(),
        ends: BTreeSet::new(),
    };
    let mut arrival_count = 0;
    while let Some(now) = times.pop_first().filter(|&now| now < END) {
        cluster.end_jobs(now);
        cluster.break_nodes(now);
        while cluster.records.get(arrival_count).is_some_and(|record| record.job.submit <= now) {
            cluster.queue.push(arrival_count);
            arrival_count += 1;
        }
        for at in cluster.run_pass(now) {
            times.insert(at);
        }
    }
    cluster.records.truncate(arrival_count);
    cluster.records
}

impl ExampleCluster {
    fn end_jobs(&mut self, now: i64) {
        while let Some(&(end, at)) = self.ends.first().filter(|(end, _)| *end <= now) {
            self.ends.pop_first();
            let record = &mut self.records[at];
            let cut = record.job.run >= record.job.limit;
            record.state = match (record.job.fails, cut) {
                (true, _) => "FAILED",
                (false, true) => "TIMEOUT",
                (false, false) => "COMPLETED",
            };
            self.release_nodes(at, end);
        }
    }

    /// Takes nodes out and back; what runs on one that breaks is lost.
    fn break_nodes(&mut self, now: i64) {
        for outage in &OUTAGES {
            let [begin, end] = outage.hours.map(|hour| BEGIN + hour * HOUR);
            self.rooms[outage.at].up = !(begin..end).contains(&now);
            if now != begin {
                continue;
            }
            let lost_jobs = self.running.iter().copied().filter(|&at| self.records[at].nodes.contains(&outage.at));
            for at in lost_jobs.collect::<Vec<_>>() {
                self.ends.retain(|&(_, job)| job != at);
                self.records[at].state = "NODE_FAIL";
                self.release_nodes(at, now);
            }
        }
    }

    fn release_nodes(&mut self, at: usize, end: i64) {
        self.running.remove(&at);
        self.records[at].end = Some(end);
        self.set_occupied(at, false);
        let follows = |record: &ExampleRecord| record.job.after == Some(at);
        for next in self.records.iter_mut().filter(|record| follows(record)) {
            next.eligible = Some(end);
        }
    }

    /// Takes a job's share of its nodes, or gives it back.
    fn set_occupied(&mut self, at: usize, is_taken: bool) {
        let ExampleRecord { job, nodes, .. } = &self.records[at];
        let parts = job.node_count();
        let change = |room: u32, part: u32| if is_taken { room - part } else { room + part };
        for &node in nodes {
            let room = &mut self.rooms[node];
            room.cpus = change(room.cpus, job.cpus / parts);
            room.gpus = change(room.gpus, job.gpus / parts);
            room.memory_mb = change(room.memory_mb, job.memory_mb / parts);
        }
        let user_usage = self.held.entry(job.user).or_default();
        *user_usage = change_held(*user_usage, job.cpus, is_taken);
    }

    /// Starts what can start, and returns the times at which these jobs end.
    fn run_pass(&mut self, now: i64) -> Vec<i64> {
        let mut reserves: [Option<ExampleReserve>; 3] = [None, None, None];
        let mut ends = Vec::new();
        for at in std::mem::take(&mut self.queue) {
            let partition = self.records[at].job.partition;
            match self.why_not(at, now, reserves[partition].as_ref()) {
                Ok(nodes) => ends.push(self.start_job(at, nodes, now, reserves[partition].is_some())),
                Err(reason) => {
                    if reason == "Resources" {
                        reserves[partition] = Some(self.kept_nodes(at, now));
                    }
                    self.records[at].reason = reason;
                    self.queue.push(at);
                }
            }
        }
        ends
    }

    fn start_job(&mut self, at: usize, nodes: Vec<usize>, now: i64, is_backfill: bool) -> i64 {
        let record = &mut self.records[at];
        record.nodes = nodes;
        (record.start, record.state, record.backfilled) = (Some(now), "RUNNING", is_backfill);
        let run = match record.job.fails {
            true => (record.job.run / 7).max(3),
            false => record.job.run.min(record.job.limit),
        };
        self.set_occupied(at, true);
        self.running.insert(at);
        self.ends.insert((now + run, at));
        now + run
    }

    /// Returns the nodes on which a job can start, or the reason why it cannot.
    fn why_not(&self, at: usize, now: i64, reserve: Option<&ExampleReserve>) -> Result<Vec<usize>, &'static str> {
        let ExampleRecord { job, eligible, .. } = &self.records[at];
        if eligible.is_none() {
            return Err("Dependency");
        }
        let most = if job.partition == 2 { 16 } else { MOST_CPUS };
        if self.held.get(job.user).copied().unwrap_or(0) + job.cpus > most {
            return Err("QOSMaxCpuPerUserLimit");
        }
        let [begin, end] = MAINTENANCE.map(|hour| BEGIN + hour * HOUR);
        if now < end && now + job.limit > begin {
            return Err("ReqNodeNotAvail, Reserved for maintenance");
        }
        let (_, first, last) = PARTITIONS[job.partition];
        let keeps = |node: usize| reserve.is_some_and(|(nodes, from)| nodes.contains(&node) && now + job.limit > *from);
        let mut nodes: Vec<usize> = (first..=last).filter(|&node| self.has_room(at, node) && !keeps(node)).collect();
        // The fullest first, as Slurm packs.
        nodes.sort_by_key(|&node| (self.rooms[node].cpus, node));
        let wanted_nodes = job.node_count() as usize;
        if nodes.len() >= wanted_nodes {
            nodes.truncate(wanted_nodes);
            nodes.sort_unstable();
            return Ok(nodes);
        }
        Err(if reserve.is_some() { "Priority" } else { "Resources" })
    }

    fn has_room(&self, at: usize, node: usize) -> bool {
        let (job, room) = (&self.records[at].job, &self.rooms[node]);
        let parts = job.node_count();
        room.up
            && room.cpus >= job.cpus / parts
            && room.gpus >= job.gpus / parts
            && room.memory_mb >= job.memory_mb / parts
    }

    /// The nodes on which a job will start first if all jobs run to their limits.
    fn kept_nodes(&self, at: usize, now: i64) -> ExampleReserve {
        let job = &self.records[at].job;
        let (_, first, last) = PARTITIONS[job.partition];
        let mut free: Vec<(i64, usize)> = (first..=last)
            .filter(|&node| self.rooms[node].up)
            .map(|node| (self.free_at(at, node, now), node))
            .collect();
        free.sort_unstable();
        free.truncate(job.node_count() as usize);
        let from = free.last().map_or(END, |(time, _)| *time);
        (free.into_iter().map(|(_, node)| node).collect(), from)
    }

    /// Returns when a node has room for a job's part.
    fn free_at(&self, at: usize, node: usize, now: i64) -> i64 {
        let job = &self.records[at].job;
        let parts = job.node_count();
        let mut room = self.rooms[node];
        let enough = |room: &ExampleRoom| {
            room.cpus >= job.cpus / parts && room.gpus >= job.gpus / parts && room.memory_mb >= job.memory_mb / parts
        };
        let on_it =
            self.running.iter().map(|&index| &self.records[index]).filter(|record| record.nodes.contains(&node));
        let mut ends: Vec<(i64, &ExampleJob)> =
            on_it.map(|record| (record.start.unwrap_or(now) + record.job.limit, &record.job)).collect();
        ends.sort_by_key(|(end, _)| *end);
        let mut time = now;
        for (end, neighbour) in ends {
            if enough(&room) {
                break;
            }
            let parts = neighbour.node_count();
            room.cpus += neighbour.cpus / parts;
            room.gpus += neighbour.gpus / parts;
            room.memory_mb += neighbour.memory_mb / parts;
            time = end;
        }
        time
    }
}

fn change_held(count: u32, cpus: u32, is_taken: bool) -> u32 {
    if is_taken { count + cpus } else { count - cpus }
}
