//! The backfill scheduler: plans the queue in order, starts what fits now without touching a plan
//! made before it.

use super::bounds::{DemandBounds, LateDemand, StartProof};
use super::main_pass::BEYOND_PARTITION;
use super::place_try::{PlaceTry, SearchKind, place_search};
use super::preempting::Victim;
use super::table::{Licences, PlanTable};
use super::twins::{TwinRefusal, TwinRefusals, have_one_verdict};
use super::will_run::{Reach, WillRunScratch, will_run};
use super::{Alloc, ModelCluster, NONE, NodeSet, PassKind, PassVerdict, Pending, VerdictObserver};
use crate::conf::{PreemptMode, SchedParams};
use drystone_core::model::SharedSort;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A backfill pass. It can stop between two jobs and go on, which is what a yield is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BackfillPass {
    pub(super) table: PlanTable,
    /// The end of the window, exactly.
    pub(super) window_end: i64,
    /// Beginning of the pass, in seconds.
    began: i64,
    pub(super) tried: i64,
    started: i64,
    of_user: BTreeMap<i32, i64>,
    of_account: BTreeMap<u64, i64>,
    of_part: BTreeMap<u16, i64>,
    of_user_part: BTreeMap<(i32, u16), i64>,
    plans_of_part: BTreeMap<u16, i64>,
    /// The array whose task was refused last, and in which partition.
    refused: Option<(u32, u16)>,
    /// Plans of the array that was planned last.
    array_plans: (u32, i64),
    /// Times up to which limits of a QOS block, with `assoc_limit_stop`.
    blocked: BTreeMap<u32, i64>,
    /// Reason why the pass is over.
    over: Option<Over>,
    /// Time up to which a pass would decide the same, as long as no job arrives, starts or ends:
    /// see [`BackfillPass::holds_until`].
    pub(super) holds_until: i64,
    /// True if a plan or a start of this pass can keep a job from starting now that could before.
    changed: bool,
    /// A job that it has not done with.
    paused: Option<Paused>,
    /// Nodes that a job has left while the pass slept: it does not use them.
    ignored: Option<NodeSet>,
    /// True if a limit kept the last job from running; `None` where no limit was looked at.
    limited: Option<bool>,
    /// Demands that cannot be met, as searches of this pass have shown.
    pub(super) bounds: DemandBounds,
    /// True if the verdict on each job is asked for.
    full: bool,
    /// Arrays of which tasks in several partitions have started, with the partition.
    begun_arrays: Vec<(u32, u16)>,
    /// Tasks that it has looked at of arrays in several partitions, in each partition.
    array_looks: Vec<(u32, u16, i64)>,
    /// Jobs in several partitions that have a plan.
    planned: BTreeSet<u32>,
    /// True if the jobs that it reaches may be others a second later.
    loose: bool,
    /// Refusals of jobs for want of a place beside the present plans, or by a limit.
    #[serde(skip)]
    twins: TwinRefusals,
}

/// Position at which the search for a job's start continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Paused {
    id: u32,
    from: i64,
    /// The present as it was when the select test looked at the job last, or when the search began.
    clock: i64,
    /// True if the select test has not examined it yet.
    first: bool,
}

/// Reason why a pass ends before the queue does.
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

/// `t` on the grid of `bf_resolution`, rounded down.
fn floor(t: i64, resolution: i64) -> i64 {
    t.div_euclid(resolution) * resolution
}

/// Outcome of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JobVerdict {
    Waits,
    /// It runs now.
    Started,
    /// These are to go, so that it can start later.
    Preempts(Vec<Victim>),
    /// The pass lets go of the locks before it goes on with this job.
    Paused,
}

enum JobResult {
    Now(Alloc),
    Preempts(Vec<Victim>, PassVerdict),
    Verdict(PassVerdict),
    Paused,
}

pub struct PassInputs<'a> {
    /// State of the machine.
    pub cluster: &'a mut ModelCluster,
    /// The parameters.
    pub params: &'a SchedParams,
    /// Room.
    pub scratch: &'a mut WillRunScratch,
    /// True if it lets go of the locks before each try of a job.
    pub pauses: bool,
}

impl BackfillPass {
    /// A pass that begins at `now` seconds.
    pub fn new(cluster: &ModelCluster, now: i64, params: &SchedParams) -> BackfillPass {
        let mut pass = BackfillPass::default();
        pass.restart(cluster, now, params);
        pass
    }

    /// Starts again, in its own memory.
    pub fn restart(&mut self, cluster: &ModelCluster, now: i64, params: &SchedParams) {
        let table = std::mem::take(&mut self.table);
        *self = BackfillPass { table, ..BackfillPass::default() };
        self.window_end = now + params.bf_window * 60;
        self.began = now;
        self.holds_until = i64::MAX;
        let (begin, end) = (floor(now, params.bf_resolution), floor(self.window_end, params.bf_resolution));
        let plans_licences = params.bf_licenses != 0;
        let all = if plans_licences { &cluster.machine.resources.licences[..] } else { &[] };
        let licences: Vec<u64> = all.iter().map(|&(_, count)| u64::from(count)).collect();
        let parts = cluster.machine.parts.iter().map(|part| &part.nodes);
        self.table.reset((begin, end.max(begin + 1)), cluster.up(), &licences, parts);
        if plans_licences || params.bf_running_job_reserve != 0 {
            self.keep_running(cluster, params);
        }
    }

    /// Jobs that run with licences, or have nodes for themselves, are planned with up to their
    /// limits, in the order of submission.
    fn keep_running(&mut self, cluster: &ModelCluster, params: &SchedParams) {
        let mut order = cluster.order().to_vec();
        order.sort_shared_by_key(|&(_, rank, _)| rank);
        let none = NodeSet::empty(cluster.machine.nodes());
        for running in order.iter().filter_map(|&(.., slot)| cluster.at(slot)) {
            let licences = if params.bf_licenses != 0 { cluster.licences_of(&running.job) } else { &[] };
            let replaceable = cluster.preempting.mode_of(&cluster.machine, &running.job) != PreemptMode::Off;
            let whole = running.job.exclusive && !replaceable;
            if (whole || !licences.is_empty()) && self.table.made() < params.records() {
                let begin = self.table.begin();
                let end = floor(running.end, params.bf_resolution).max(begin + params.bf_resolution);
                self.table.add(begin, end, if whole { &running.alloc.nodes } else { &none }, licences);
            }
        }
    }

    /// A job has left these nodes while the pass slept. Jobs that it still looks at are not to have
    /// them before those that it has looked at.
    pub fn ignore(&mut self, nodes: &NodeSet) {
        match &mut self.ignored {
            Some(ignored) => ignored.unite(nodes),
            None => self.ignored = Some(nodes.clone()),
        }
    }

    /// After a yield the window begins at the present.
    pub fn resume(&mut self, now: i64, params: &SchedParams) {
        self.window_end = now + params.bf_window * 60;
        self.bounds.clear();
        self.twins.clear();
    }

    /// Looks at a job at `now` seconds. What it starts then runs.
    pub fn look(
        &mut self,
        desk: &mut PassInputs<'_>,
        job: &Pending,
        now: i64,
        watch: &mut impl VerdictObserver,
    ) -> JobVerdict {
        watch.about(desk.cluster, job);
        self.full = watch.wants_plans();
        if self.tried >= desk.params.bf_max_job_test {
            self.over = self.over.or(Some(Over::Depth));
        }
        if job.several && (desk.cluster.get(job.id).is_some() || self.is_of_begun_array(job)) {
            return JobVerdict::Waits;
        }
        let verdict = match self.over {
            Some(over) => JobResult::Verdict(PassVerdict::NotReached(over.parameter())),
            None if self.paused.is_some_and(|paused| paused.id == job.id) => self.find(desk, job, now),
            None => self.judge(desk, job, now),
        };
        if let Some(limited) = self.limited.take() {
            desk.cluster.note_limit(job.id, limited);
        }
        if let JobResult::Verdict(PassVerdict::Planned { .. }) | JobResult::Preempts(..) = verdict {
            self.refused = None;
        }
        if self.loose && (self.over.is_some() || self.tried >= desk.params.bf_max_job_test) {
            // Which jobs a pass reaches before it is over may change from second to second.
            self.holds_until = self.holds_until.min(self.began + 1);
        }
        let (outcome, verdict) = match verdict {
            JobResult::Paused => return JobVerdict::Paused,
            JobResult::Now(_) if desk.cluster.is_short(job.id) => {
                self.loose = true;
                (JobVerdict::Waits, PassVerdict::Resources)
            }
            JobResult::Now(alloc) => {
                desk.cluster.start(job, now, alloc.clone());
                self.twins.clear();
                if job.several && job.array != NONE {
                    self.begun_arrays.push((job.array, job.part));
                }
                self.keep_whole(desk, job, now, &alloc);
                self.refused = None;
                self.changed = true;
                self.started += 1;
                if desk.params.bf_max_job_start > 0 && self.started >= desk.params.bf_max_job_start {
                    self.over = Some(Over::Starts);
                }
                (JobVerdict::Started, PassVerdict::Started(alloc))
            }
            JobResult::Preempts(victims, verdict) => (JobVerdict::Preempts(victims), verdict),
            JobResult::Verdict(verdict) => (JobVerdict::Waits, verdict),
        };
        watch.verdict(PassKind::Backfill, now, job.id, verdict);
        outcome
    }

    /// Returns whether the pass has started a task of the job's array in another partition: Slurm
    /// takes the task for the whole array then, and looks at the rest in no further partition.
    fn is_of_begun_array(&self, job: &Pending) -> bool {
        job.array != NONE && self.begun_arrays.iter().any(|&(array, part)| array == job.array && part != job.part)
    }

    /// A job takes its time of the pass, but is not planned: none behind it, nor itself, can start.
    pub fn pass_over(&mut self, desk: &PassInputs<'_>, job: &Pending, now: i64) -> JobVerdict {
        if self.tried >= desk.params.bf_max_job_test {
            self.over = self.over.or(Some(Over::Depth));
        }
        if self.over.is_none() && self.bar(desk.cluster, desk.params, job, now).is_none() {
            self.tried += 1;
        }
        JobVerdict::Waits
    }

    /// A job that has its nodes for itself and was just started is planned with: those that ran
    /// before are not.
    fn keep_whole(&mut self, desk: &PassInputs<'_>, job: &Pending, now: i64, alloc: &Alloc) {
        let replaceable = desk.cluster.preempting.mode_of(&desk.cluster.machine, job) != PreemptMode::Off;
        let licences = if desk.params.bf_licenses != 0 { desk.cluster.licences_of(job) } else { &[] };
        let whole = job.exclusive && !replaceable;
        if (whole || !licences.is_empty()) && self.table.made() < desk.params.records() {
            let none = NodeSet::empty(desk.cluster.machine.nodes());
            let nodes = if whole { &alloc.nodes } else { &none };
            let begin = self.table.begin();
            let end = floor(now.saturating_add(job.limit), desk.params.bf_resolution);
            self.table.add(begin, end.max(begin + desk.params.bf_resolution), nodes, licences);
        }
    }

    /// Jobs that the select test has looked at.
    pub fn tried(&self) -> i64 {
        self.tried
    }

    /// Returns whether it considers no more jobs.
    pub fn is_over(&self) -> bool {
        self.over.is_some()
    }

    /// Returns the time up to which another pass would plan the same, and so start nothing that
    /// this one did not, as long as no job arrives, starts, ends or changes its priority.
    pub fn holds_until(&self) -> i64 {
        self.holds_until
    }

    /// Returns and clears the flag that a plan or a start has come.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Returns whether the job could start at `now`, if it was considered next: `free` is room. If
    /// it could not, it cannot for the rest of the pass.
    pub fn could_start(&self, cluster: &ModelCluster, job: &Pending, now: i64, free: &mut NodeSet) -> bool {
        free.assign(&cluster.machine.parts[usize::from(job.part)].nodes);
        self.table.narrow(free, now, now.saturating_add(job.limit));
        !cluster.idle.lacks(job, free)
    }

    fn judge(&mut self, desk: &mut PassInputs<'_>, job: &Pending, now: i64) -> JobResult {
        self.paused = None;
        match self.bar(desk.cluster, desk.params, job, now) {
            Some(verdict) => JobResult::Verdict(verdict),
            None => self.find(desk, job, now),
        }
    }

    /// Returns the reason why the pass does not even look for a start.
    fn bar(&mut self, cluster: &ModelCluster, params: &SchedParams, job: &Pending, now: i64) -> Option<PassVerdict> {
        if job.is_beyond_partition() {
            return Some(PassVerdict::Limit(BEYOND_PARTITION));
        }
        if self.array_is_done(job, params) {
            return Some(PassVerdict::Array);
        }
        let stop = params.assoc_limit_stop != 0;
        let before = cluster.ledger.as_ref().and_then(|ledger| ledger.before(job, &cluster.machine));
        if let Some(reason) = before.filter(|_| !stop) {
            return Some(PassVerdict::Limit(reason));
        }
        if job.array != NONE {
            if self.refused == Some((job.array, job.part)) {
                return Some(PassVerdict::Array);
            }
            self.refused = Some((job.array, job.part));
            if cluster.throttled(job) {
                return Some(PassVerdict::Array);
            }
        }
        if let Some(limit) = self.count(job, params) {
            return Some(PassVerdict::Skipped(limit));
        }
        if !cluster.machine.parts[usize::from(job.part)].up {
            return Some(PassVerdict::NoRoom);
        }
        if params.bf_licenses == 0 && !cluster.has_licences(job, now) {
            self.loose = true;
            return Some(PassVerdict::Licences);
        }
        None
    }

    /// Returns whether the job's array has as many plans as an array may have. Where it waits in
    /// several partitions, it has one more in each after the first once it has as many as tasks.
    fn array_is_done(&mut self, job: &Pending, params: &SchedParams) -> bool {
        if job.array == NONE {
            return false;
        }
        let plans = if self.array_plans.0 == job.array { self.array_plans.1 } else { 0 };
        if job.several {
            let of = self.array_looks.iter().position(|&(array, part, _)| (array, part) == (job.array, job.part));
            let tasks =
                self.array_looks.iter().find(|&&(array, ..)| array == job.array).map(|&(_, part, tasks)| (part, tasks));
            match of {
                Some(at) => self.array_looks[at].2 += 1,
                None => self.array_looks.push((job.array, job.part, 1)),
            }
            if of.is_some() && tasks.is_some_and(|(first, tasks)| first != job.part && plans >= tasks) {
                return true;
            }
        }
        plans >= params.bf_max_job_array_resv.max(1)
    }

    /// Counts the job with those of its user, partition and account. Returns the limit that skips
    /// it.
    fn count(&mut self, job: &Pending, params: &SchedParams) -> Option<&'static str> {
        let most =
            [params.bf_max_job_user_part, params.bf_max_job_part, params.bf_max_job_assoc, params.bf_max_job_user];
        if most == [0; 4] {
            return None;
        }
        let account = if job.assoc == NONE { u64::from(job.account as u32) << 32 } else { u64::from(job.assoc) };
        let counts = [
            self.of_user_part.get(&(job.user, job.part)),
            self.of_part.get(&job.part),
            self.of_account.get(&account),
            self.of_user.get(&job.user),
        ];
        let names = ["bf_max_job_user_part", "bf_max_job_part", "bf_max_job_assoc", "bf_max_job_user"];
        let full = |k: &usize| most[*k] > 0 && counts[*k].is_some_and(|&count| count >= most[*k]);
        if let Some(k) = (0..4).find(full) {
            return Some(names[k]);
        }
        // Only what has a limit is worth counting.
        if most[0] > 0 {
            bump(&mut self.of_user_part, (job.user, job.part));
        }
        if most[1] > 0 {
            bump(&mut self.of_part, job.part);
        }
        if most[2] > 0 {
            bump(&mut self.of_account, account);
        }
        if most[3] > 0 {
            bump(&mut self.of_user, job.user);
        }
        None
    }

    /// Returns whether nothing is to be kept for the job.
    fn unplanned(&mut self, job: &Pending, now: i64, params: &SchedParams) -> bool {
        let young = params.bf_min_age_reserve > 0 && now - job.submit < params.bf_min_age_reserve;
        if young {
            self.holds_until = self.holds_until.min(job.submit + params.bf_min_age_reserve);
        }
        let plans = *self.plans_of_part.get(&job.part).unwrap_or(&0);
        young
            || job.priority < params.bf_min_prio_reserve
            || (job.several && params.bf_one_resv_per_job != 0 && self.planned.contains(&job.id))
            || (params.bf_job_part_count_reserve > 0 && plans >= params.bf_job_part_count_reserve)
    }

    fn find(&mut self, desk: &mut PassInputs<'_>, job: &Pending, now: i64) -> JobResult {
        let unplanned = self.unplanned(job, now, desk.params);
        let (look, params) = ((now, unplanned), desk.params);
        let is_plain = !desk.pauses && params.assoc_limit_stop == 0 && params.bf_licenses == 0;
        let is_shared = is_plain && self.paused.is_none() && have_one_verdict(desk.cluster, job);
        self.twins.keep_those_at(desk.cluster.machine.resources.bytes.changes());
        if let Some(refusal) = self.twins.find(job, look).filter(|_| is_shared) {
            self.tried += refusal.tried;
            return JobResult::Verdict(refusal.verdict.clone());
        }
        let tried = self.tried;
        let mut free = desk.scratch.take_free(desk.cluster.machine.nodes());
        let found = self.search(desk, job, now, unplanned, &mut free);
        desk.scratch.give_free(free);
        if let JobResult::Verdict(verdict) = &found
            && is_shared
        {
            self.twins.add(TwinRefusal::new(job, look, verdict, self.tried - tried));
        }
        found
    }

    /// Tries later and later, as long as there is something to be expected.
    fn search(
        &mut self,
        desk: &mut PassInputs<'_>,
        job: &Pending,
        now: i64,
        unplanned: bool,
        free: &mut NodeSet,
    ) -> JobResult {
        let whole = &desk.cluster.machine.parts[usize::from(job.part)].nodes;
        let left = self.without_ignored(whole);
        let skips = !desk.pauses && !unplanned && left.is_none() && self.may_skip(desk.cluster, desk.params, job);
        let from = self.first_from(desk.cluster, job, now);
        let bounded = skips && !self.full && from == now && now == self.began;
        let limit = if desk.cluster.no_reserve(job) { 60 } else { job.limit };
        let mut kind = SearchKind { unplanned, skips, is_hopeless: false };
        if !bounded {
            self.loose = true;
            self.hold_until_reached(desk.cluster, desk.params, now, limit);
            let proof = &mut StartProof::none();
            return self.try_places(desk, job, (now, from, limit), kind, (free, left), proof);
        }
        kind.is_hopeless = self.is_excluded(desk.cluster, job, now);
        if kind.is_hopeless && self.counts_at_once(job, now) {
            return JobResult::Verdict(PassVerdict::NoRoom);
        }
        let ask = LateDemand::new(job, desk.cluster.fewest_nodes(job), now);
        let earliest = self.bounds.earliest(&ask);
        let mut proof = StartProof::new(desk.params.bf_resolution, earliest);
        let result = self.try_places(desk, job, (now, from, limit), kind, (free, left), &mut proof);
        if proof.from > earliest {
            self.bounds.add(LateDemand::new(job, desk.cluster.fewest_nodes(job), proof.from));
        }
        if let JobResult::Verdict(PassVerdict::NoRoom) = result
            && !kind.is_hopeless
        {
            self.show_never(desk, job, now, &proof);
        }
        result
    }

    /// Tries one place after the other.
    fn try_places(
        &mut self,
        desk: &mut PassInputs<'_>,
        job: &Pending,
        (now, begin, limit): (i64, i64, i64),
        kind: SearchKind,
        (free, left): (&mut NodeSet, Option<NodeSet>),
        proof: &mut StartProof,
    ) -> JobResult {
        let unplanned = kind.unplanned;
        let mut resumed = self.paused.is_some();
        let begun = Paused { id: job.id, from: begin, clock: now, first: true };
        let Paused { mut from, mut clock, mut first, .. } = self.paused.take().unwrap_or(begun);
        let mut opening = proof.from > i64::MIN;
        let mut search = place_search(desk.cluster, job, limit, kind, proof.from);
        loop {
            let mut likely = None;
            if search.is_exact || (kind.skips && !first) {
                search.counted = !first;
                let ends = desk.scratch.ends(desk.cluster);
                let next = self.table.likely_try(&mut search, from, proof, ends, free);
                self.tried += i64::from(search.counted && first);
                first = !search.counted;
                if let Some((later, counts, fails)) = search.first_try.take()
                    && std::mem::take(&mut opening)
                {
                    self.hold_first_try(desk.cluster, desk.params, job, (now, later), (counts, fails));
                }
                let Some(next) = next else { return JobResult::Verdict(PassVerdict::NoRoom) };
                from = next.from;
                likely = next.known.then_some(next);
            }
            if desk.pauses && !std::mem::take(&mut resumed) {
                self.paused = Some(Paused { id: job.id, from, clock, first });
                return JobResult::Paused;
            }
            let tried = match likely {
                Some(likely) => Some(PlaceTry::of_likely(likely)),
                None => self.try_place(desk, job, (&mut from, clock, limit), (kind, first), (free, left.as_ref())),
            };
            let Some(PlaceTry { mut next, counts, fails }) = tried else {
                return JobResult::Verdict(PassVerdict::Reserved);
            };
            if std::mem::take(&mut opening) {
                let later = next.unwrap_or(0);
                self.hold_first_try(desk.cluster, desk.params, job, (now, later), (counts, fails));
            }
            if let Some(later) = next.filter(|_| fails) {
                let until = from.max(clock).saturating_add(limit);
                proof.failed(from, later, self.table.begins_none(proof.bound(from, limit), until));
            }
            self.tried += i64::from(counts && std::mem::take(&mut first));
            clock = if counts { now } else { clock };
            let PassInputs { cluster, params, scratch, .. } = desk;
            let licences = if params.bf_licenses != 0 { cluster.licences_of(job) } else { &[] };
            let reach = if unplanned { Reach::Now } else { next.map_or(Reach::All, Reach::Until) };
            let futile = fails && (next.is_some() || !counts);
            let soonest = if futile { None } else { will_run(cluster, job, free, now, reach, scratch) };
            let Some(mut soonest) = soonest else {
                match next {
                    Some(later) => from = later,
                    None if unplanned && counts => return JobResult::Verdict(PassVerdict::Unplanned { start: None }),
                    None => return JobResult::Verdict(PassVerdict::NoRoom),
                }
                continue;
            };
            let mut start = soonest.at.max(from);
            if start <= now {
                if soonest.meets_completing(cluster, job, free, scratch) {
                    start = now + 1;
                    next = None;
                } else {
                    match self.start_now(cluster, params, job, free, now, next) {
                        Start::Runs(found) => return JobResult::Now(found),
                        Start::Limited(reason) => return JobResult::Verdict(PassVerdict::Limit(reason)),
                        Start::Blocked(at) => start = at,
                        Start::Preempts(victims) => {
                            let alloc = soonest.alloc(cluster, job, free, scratch);
                            let verdict = self.plan(params, job, (now, limit), alloc, licences);
                            return JobResult::Preempts(victims, verdict);
                        }
                    }
                }
            }
            if unplanned && start > now {
                return JobResult::Verdict(PassVerdict::Unplanned { start: Some(start) });
            }
            if let Some(later) = next.filter(|&later| start > later) {
                // Perhaps earlier once a plan is over.
                from = later;
                continue;
            }
            if search.is_exact && now < start && start <= self.window_end {
                // Without room for the whole plan, all nodes that could be chosen meet other plans.
                let span =
                    (floor(start, params.bf_resolution), floor(start.saturating_add(limit), params.bf_resolution));
                let (number, ends) = (usize::from(job.part), scratch.ends(cluster));
                if self.table.lacks_room(number, span, soonest.at, u64::from(job.cpus), ends) {
                    from = start;
                    continue;
                }
            }
            let alloc = soonest.alloc(cluster, job, free, scratch);
            match self.settle_plan(cluster, params, job, (now, start, limit), alloc, licences) {
                Some(verdict) => return JobResult::Verdict(verdict),
                None => from = start,
            }
        }
    }

    /// Plans the job at its start, or tells why not. Returns `None` where plans made before are in
    /// its way.
    fn settle_plan(
        &mut self,
        cluster: &ModelCluster,
        params: &SchedParams,
        job: &Pending,
        (now, start, limit): (i64, i64, i64),
        alloc: Alloc,
        licences: Licences<'_>,
    ) -> Option<PassVerdict> {
        let begin = floor(start, params.bf_resolution);
        let end = floor(start.saturating_add(limit), params.bf_resolution);
        if start > self.window_end {
            self.holds_until = self.holds_until.min(now + start - self.window_end);
            return Some(PassVerdict::BeyondWindow { start, end, alloc });
        }
        if start > now && self.table.overlaps(begin, end, &alloc.nodes, licences) {
            return None;
        }
        if let Some(reason) = self.limit_of_plan(cluster, params, job, &alloc) {
            return Some(PassVerdict::Limit(reason));
        }
        if cluster.no_reserve(job) {
            return Some(PassVerdict::Unplanned { start: Some(start) });
        }
        Some(self.plan(params, job, (start, limit), alloc, licences))
    }

    /// Nodes of a partition that no job has left while the pass slept, where one has.
    fn without_ignored(&self, whole: &NodeSet) -> Option<NodeSet> {
        let mut left = whole.clone();
        left.subtract(self.ignored.as_ref()?);
        Some(left)
    }

    /// Later a job reaches into plans that it does not reach into now, and is planned differently.
    pub(super) fn hold_until_reached(&mut self, cluster: &ModelCluster, params: &SchedParams, now: i64, limit: i64) {
        if let Some(begin) = self.table.next_begin(now.saturating_add(limit)) {
            self.holds_until = self.holds_until.min(begin - limit);
        }
        self.holds_until = self.holds_until.min(cluster.access_holds_until(now, limit, params.bf_window * 60));
    }

    /// Returns whether tries that must fail can be left out: nothing but plans and running jobs is
    /// in the job's way, and the test of nodes leaves no trace.
    fn may_skip(&self, cluster: &ModelCluster, params: &SchedParams, job: &Pending) -> bool {
        let demand = cluster.machine.resources.demand(job.demand);
        params.bf_licenses == 0
            && !cluster.preempting.is_on()
            && job.reservation == NONE
            && cluster.reservations.is_empty()
            && cluster.machine.parts.iter().all(|part| !part.exclusive_user)
            && demand.is_none_or(|known| known.demand.gpus.is_none())
    }

    /// With `assoc_limit_stop`, jobs of a QOS that a limit blocks are planned behind the guess of
    /// when that ends.
    fn first_from(&self, cluster: &ModelCluster, job: &Pending, now: i64) -> i64 {
        let of_part = cluster.machine.parts[usize::from(job.part)].qos;
        let blocked = [job.qos, of_part].into_iter().filter_map(|qos| self.blocked.get(&qos)).copied();
        blocked.fold(now, i64::max)
    }

    fn limit_of_plan(
        &self,
        cluster: &ModelCluster,
        params: &SchedParams,
        job: &Pending,
        alloc: &Alloc,
    ) -> Option<&'static str> {
        let ledger = cluster.ledger.as_ref().filter(|_| params.assoc_limit_stop == 0)?;
        ledger.after_plan(job, alloc, &cluster.machine)
    }

    /// Tries to start the job on any of the free nodes.
    fn start_now(
        &mut self,
        cluster: &ModelCluster,
        params: &SchedParams,
        job: &Pending,
        free: &NodeSet,
        now: i64,
        later: Option<i64>,
    ) -> Start {
        let machine = &cluster.machine;
        let limited = |alloc: Option<&Alloc>| {
            let ledger = cluster.ledger.as_ref()?;
            let gpus = cluster.gpus_counted(job, alloc);
            ledger.before(job, machine).or_else(|| ledger.after(job, alloc, gpus, machine))
        };
        cluster.reset_bytes(job);
        let alloc = cluster.idle.place(job, free, machine).or_else(|| cluster.place_over(job, free, now));
        let reason = limited(alloc.as_ref());
        if params.assoc_limit_stop != 0 {
            self.limited = Some(reason.is_some());
        }
        if let Some(reason) = reason {
            if params.assoc_limit_stop == 0 {
                return Start::Limited(reason);
            }
            // The time of that is not known: Slurm guesses, and guesses again in the next pass.
            self.holds_until = self.holds_until.min(now + 1);
            let at = later.unwrap_or(now + 500);
            if reason.starts_with("QOSGrp") {
                let qos = if job.qos == NONE { machine.parts[usize::from(job.part)].qos } else { job.qos };
                let until = self.blocked.entry(qos).or_insert(at);
                *until = (*until).max(at);
            }
            return Start::Blocked(at);
        }
        match alloc {
            Some(alloc) => Start::Runs(alloc),
            None if cluster.has_preempted(job.id, now) => Start::Preempts(Vec::new()),
            None => match cluster.preempting.victims(cluster, job, free, now) {
                Some((victims, _)) => Start::Preempts(victims),
                None => Start::Preempts(Vec::new()),
            },
        }
    }

    fn plan(
        &mut self,
        params: &SchedParams,
        job: &Pending,
        (start, limit): (i64, i64),
        alloc: Alloc,
        licences: Licences<'_>,
    ) -> PassVerdict {
        let begin = floor(start, params.bf_resolution);
        let end = floor(start.saturating_add(limit), params.bf_resolution);
        self.holds_until = self.holds_until.min(start);
        // What reaches over the table's end is cut there. Once the window reaches further, there is
        // more of it.
        for edge in [begin, end].into_iter().filter(|&edge| edge >= self.table.end()) {
            self.holds_until = self.holds_until.min(edge - params.bf_window * 60 + 1);
        }
        if job.several {
            self.planned.insert(job.id);
        }
        let plans = self.plans_of_part.entry(job.part).or_default();
        *plans += 1;
        if job.array != NONE {
            let same = self.array_plans.0 == job.array;
            self.array_plans = (job.array, if same { self.array_plans.1 + 1 } else { 1 });
        }
        if self.table.made() >= params.records() {
            self.over = Some(Over::TableFull);
        } else {
            let begin = begin.max(self.table.begin());
            let until = end.max(begin + params.bf_resolution);
            self.table.add(begin, until, &alloc.nodes, licences);
            self.twins.clear();
            self.changed = true;
        }
        PassVerdict::Planned { start, end, alloc }
    }
}

/// Counts one more.
fn bump<K: Ord>(counts: &mut BTreeMap<K, i64>, key: K) {
    *counts.entry(key).or_insert(0) += 1;
}

/// Result of a start.
enum Start {
    Runs(Alloc),
    Limited(&'static str),
    /// It is thought to be possible then.
    Blocked(i64),
    Preempts(Vec<Victim>),
}

/// The second at which the pass looks at a job, where that is known.
type NextLook<'a> = &'a dyn Fn(&Pending) -> Option<i64>;

/// A whole pass that begins at a second, and may look at single jobs in later ones. Returns the
/// jobs that had to go at once.
pub fn backfill_pass(
    cluster: &mut ModelCluster,
    queue: &[Pending],
    (now, when): (i64, NextLook<'_>),
    params: &SchedParams,
    watch: &mut impl VerdictObserver,
) -> Vec<Victim> {
    let (mut pass, mut scratch) = (BackfillPass::new(cluster, now, params), WillRunScratch::default());
    let (mut gone, mut now) = (Vec::new(), now);
    for job in queue {
        now = now.max(when(job).unwrap_or(now));
        let mut desk = PassInputs { cluster, params, scratch: &mut scratch, pauses: false };
        if let JobVerdict::Preempts(victims) = pass.look(&mut desk, job, now, watch) {
            if !victims.is_empty() {
                cluster.preempts(job.id, now);
            }
            for victim in victims {
                if cluster.claim(&victim, now) {
                    drop(cluster.evict(victim.id));
                    gone.push(victim);
                }
            }
        }
    }
    gone
}
