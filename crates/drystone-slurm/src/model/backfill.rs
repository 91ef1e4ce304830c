//! The backfill scheduler: plans the queue in order, starts what fits now without touching a plan made before it.

use super::table::Table;
use super::{Alloc, Cluster, Idle, NodeSet, Pass, Pending, Verdict, Watch};
use crate::conf::SchedParams;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A backfill pass. It can stop between two jobs and go on, which is what a yield is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Backfill {
    table: Table,
    /// The end of the window, exactly.
    window_end: i64,
    tried: i64,
    started: i64,
    of_user: BTreeMap<i32, i64>,
    of_account: BTreeMap<i32, i64>,
    of_part: BTreeMap<u16, i64>,
    of_user_part: BTreeMap<(i32, u16), i64>,
    plans_of_part: BTreeMap<u16, i64>,
    /// Why the pass is over.
    over: Option<Over>,
    /// Up to when a pass would say the same, as long as no job arrives, starts or ends: see [`Backfill::holds_until`].
    holds_until: i64,
}

/// Why a pass ends before the queue does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Over {
    Depth,
    TableFull,
    Starts,
}

impl Over {
    fn parameter(self) -> &'static str {
        match self {
            Over::Depth => "bf_max_job_test",
            Over::TableFull => "bf_node_space_size",
            Over::Starts => "bf_max_job_start",
        }
    }
}

/// Room that passes reuse.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    ends: Vec<(i64, u32)>,
    idle: Option<Idle>,
}

/// `t` on the grid of `bf_resolution`, rounded down.
fn floor(t: i64, resolution: i64) -> i64 {
    t.div_euclid(resolution) * resolution
}

/// What one job comes to.
enum Found {
    Now(Alloc),
    Verdict(Verdict),
}

impl Backfill {
    /// A pass that begins at `now` seconds.
    #[must_use]
    pub fn new(cluster: &Cluster, now: i64, params: &SchedParams) -> Backfill {
        let window_end = now + params.bf_window * 60;
        let (begin, end) = (floor(now, params.bf_resolution), floor(window_end, params.bf_resolution));
        let up = NodeSet::full(cluster.machine.nodes());
        Backfill {
            table: Table::new(begin, end.max(begin + 1), up),
            window_end,
            tried: 0,
            started: 0,
            of_user: BTreeMap::new(),
            of_account: BTreeMap::new(),
            of_part: BTreeMap::new(),
            of_user_part: BTreeMap::new(),
            plans_of_part: BTreeMap::new(),
            over: None,
            holds_until: i64::MAX,
        }
    }

    /// Looks at a job at `now` seconds. Answers where it starts, if it does; it then runs.
    pub fn look(
        &mut self,
        cluster: &mut Cluster,
        job: &Pending,
        now: i64,
        params: &SchedParams,
        scratch: &mut Scratch,
        watch: &mut impl Watch,
    ) -> Option<Alloc> {
        if self.tried >= params.bf_max_job_test {
            self.over = self.over.or(Some(Over::Depth));
        }
        if let Some(over) = self.over {
            watch.verdict(Pass::Backfill, now, job.id, Verdict::NotReached(over.parameter()));
            return None;
        }
        if let Some(limit) = self.count(job, params) {
            watch.verdict(Pass::Backfill, now, job.id, Verdict::Skipped(limit));
            return None;
        }
        if !cluster.machine.parts[usize::from(job.part)].up {
            watch.verdict(Pass::Backfill, now, job.id, Verdict::NoRoom);
            return None;
        }
        match self.find(cluster, job, now, params, scratch) {
            Found::Now(alloc) => {
                cluster.start(job.id, now + job.limit, alloc.clone());
                scratch.ends.clear();
                self.started += 1;
                if params.bf_max_job_start > 0 && self.started >= params.bf_max_job_start {
                    self.over = Some(Over::Starts);
                }
                watch.verdict(Pass::Backfill, now, job.id, Verdict::Started(alloc.clone()));
                Some(alloc)
            }
            Found::Verdict(verdict) => {
                watch.verdict(Pass::Backfill, now, job.id, verdict);
                None
            }
        }
    }

    /// Jobs that the select test has looked at.
    #[must_use]
    pub fn tried(&self) -> i64 {
        self.tried
    }

    /// Whether it looks at no more jobs.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over.is_some()
    }

    /// Up to when another pass would plan the same, and so start nothing that this one did not, as long as no job arrives, starts,
    /// ends or changes its priority.
    #[must_use]
    pub fn holds_until(&self) -> i64 {
        self.holds_until
    }

    /// Counts the job with those of its user, partition and account. Answers the limit that skips it.
    fn count(&mut self, job: &Pending, params: &SchedParams) -> Option<&'static str> {
        let user_part = *self.of_user_part.get(&(job.user, job.part)).unwrap_or(&0);
        let part = *self.of_part.get(&job.part).unwrap_or(&0);
        let user = *self.of_user.get(&job.user).unwrap_or(&0);
        let account = *self.of_account.get(&job.account).unwrap_or(&0);
        let limits = [
            (params.bf_max_job_user_part, user_part, "bf_max_job_user_part"),
            (params.bf_max_job_part, part, "bf_max_job_part"),
            (params.bf_max_job_user, user, "bf_max_job_user"),
            (params.bf_max_job_assoc, account, "bf_max_job_assoc"),
        ];
        if let Some((.., name)) = limits.into_iter().find(|&(limit, count, _)| limit > 0 && count >= limit) {
            return Some(name);
        }
        // Only what has a limit is worth counting.
        if params.bf_max_job_user_part > 0 {
            self.of_user_part.insert((job.user, job.part), user_part + 1);
        }
        if params.bf_max_job_part > 0 {
            self.of_part.insert(job.part, part + 1);
        }
        if params.bf_max_job_user > 0 {
            self.of_user.insert(job.user, user + 1);
        }
        if params.bf_max_job_assoc > 0 {
            self.of_account.insert(job.account, account + 1);
        }
        None
    }

    /// Whether nothing is to be kept for the job.
    fn unplanned(&mut self, job: &Pending, now: i64, params: &SchedParams) -> bool {
        let young = params.bf_min_age_reserve > 0 && now - job.submit < params.bf_min_age_reserve;
        if young {
            self.holds_until = self.holds_until.min(job.submit + params.bf_min_age_reserve);
        }
        let plans = *self.plans_of_part.get(&job.part).unwrap_or(&0);
        young
            || job.priority < params.bf_min_prio_reserve
            || (params.bf_job_part_count_reserve > 0 && plans >= params.bf_job_part_count_reserve)
    }

    fn find(
        &mut self,
        cluster: &Cluster,
        job: &Pending,
        now: i64,
        params: &SchedParams,
        scratch: &mut Scratch,
    ) -> Found {
        let part = &cluster.machine.parts[usize::from(job.part)].nodes;
        let unplanned = self.unplanned(job, now, params);
        let (mut from, mut first) = (now, true);
        let mut free = part.clone();
        // Later the job reaches into plans that it does not reach into now, and is planned differently.
        if let Some(begin) = self.table.next_begin(now + job.limit) {
            self.holds_until = self.holds_until.min(begin - job.limit);
        }
        loop {
            free.assign(part);
            let later = self.table.search(&mut free, part, from, from.max(now) + job.limit);
            let mut next = (later > 0 && !unplanned).then_some(later);
            if (free.count() as u64) < u64::from(job.min_nodes) {
                match next {
                    Some(later) => from = later,
                    None => return Found::Verdict(Verdict::NoRoom),
                }
                continue;
            }
            if first {
                self.tried += 1;
                first = false;
            }
            let Some((soonest, alloc)) = will_run(cluster, job, &free, now, unplanned, scratch) else {
                match next {
                    Some(later) => from = later,
                    None if unplanned => return Found::Verdict(Verdict::Unplanned { start: None }),
                    None => return Found::Verdict(Verdict::NoRoom),
                }
                continue;
            };
            let mut start = soonest.max(from);
            if start <= now {
                if !alloc.nodes.meets(&cluster.completing) {
                    return Found::Now(alloc);
                }
                start = now + 1;
                next = None;
            }
            if unplanned {
                return Found::Verdict(Verdict::Unplanned { start: Some(start) });
            }
            if let Some(later) = next.filter(|&later| start > later) {
                // Perhaps earlier once a plan is over.
                from = later;
                continue;
            }
            let begin = floor(start, params.bf_resolution);
            let end = floor(start + job.limit, params.bf_resolution);
            if start > self.window_end {
                self.holds_until = self.holds_until.min(now + start - self.window_end);
                return Found::Verdict(Verdict::BeyondWindow { start, end, alloc });
            }
            if self.table.overlaps(begin, end, &alloc.nodes) {
                from = start;
                continue;
            }
            return Found::Verdict(self.plan(job, start, begin, end, alloc, params));
        }
    }

    fn plan(&mut self, job: &Pending, start: i64, begin: i64, end: i64, alloc: Alloc, params: &SchedParams) -> Verdict {
        self.holds_until = self.holds_until.min(start);
        // What reaches over the table's end is cut there. Once the window reaches further, there is more of it.
        for edge in [begin, end].into_iter().filter(|&edge| edge >= self.table.end()) {
            self.holds_until = self.holds_until.min(edge - params.bf_window * 60 + 1);
        }
        if self.table.len() >= params.records() {
            self.over = Some(Over::TableFull);
            return Verdict::NotReached(Over::TableFull.parameter());
        }
        *self.plans_of_part.entry(job.part).or_default() += 1;
        let until = end.max(begin + params.bf_resolution);
        self.table.add(begin.max(self.table.begin()), until, &alloc.nodes);
        Verdict::Planned { start, end: until, alloc }
    }
}

fn will_run(
    cluster: &Cluster,
    job: &Pending,
    free: &NodeSet,
    now: i64,
    unplanned: bool,
    scratch: &mut Scratch,
) -> Option<(i64, Alloc)> {
    if unplanned {
        return cluster.idle.place(job, free).map(|alloc| (now, alloc));
    }
    if scratch.ends.len() != cluster.running().len() {
        cluster.ends(now, &mut scratch.ends);
    }
    let idle = scratch.idle.get_or_insert_with(|| cluster.idle.clone());
    cluster.will_run(job, free, now, &scratch.ends, idle)
}

impl Scratch {
    /// Forgets what a pass at another instant, or of another state, has left.
    pub fn clear(&mut self) {
        self.ends.clear();
    }
}

/// A whole pass at `now` seconds. Answers the places in `queue` of the jobs that it has started, ascending, and the pass.
pub fn backfill_pass(
    cluster: &mut Cluster,
    queue: &[Pending],
    now: i64,
    params: &SchedParams,
    watch: &mut impl Watch,
) -> (Vec<(usize, Alloc)>, Backfill) {
    let (mut pass, mut scratch) = (Backfill::new(cluster, now, params), Scratch::default());
    let mut starts = Vec::new();
    for (index, job) in queue.iter().enumerate() {
        if let Some(alloc) = pass.look(cluster, job, now, params, &mut scratch, watch) {
            starts.push((index, alloc));
        }
    }
    (starts, pass)
}
