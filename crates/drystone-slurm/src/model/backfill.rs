//! The backfill scheduler: plans the queue in order, starts what fits now without touching a plan
//! made before it.

use super::bounds::{DemandBounds, LateDemand, StartProof};
use super::naive::takes_shortcuts;
use super::past_looks::PastLooks;
use super::place_try::{PlaceTry, SearchKind, place_search};
use super::preempting::Victim;
use super::table::PlanTable;
use super::table_window::{LikelyTry, RunningEnds};
use super::twins::{TwinRefusal, TwinRefusals, have_one_verdict};
use super::will_run::{Reach, Soonest, WillRunScratch, will_run};
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
    pub(super) began: i64,
    pub(super) tried: i64,
    started: i64,
    pub(super) of_user: BTreeMap<i32, i64>,
    pub(super) of_account: BTreeMap<u64, i64>,
    pub(super) of_part: BTreeMap<u16, i64>,
    pub(super) of_user_part: BTreeMap<(i32, u16), i64>,
    pub(super) plans_of_part: BTreeMap<u16, i64>,
    /// The array whose task was refused last, and in which partition.
    pub(super) refused: Option<(u32, u16)>,
    /// Plans of the array that was planned last.
    pub(super) array_plans: (u32, i64),
    /// Times up to which limits of a QOS block, with `assoc_limit_stop`.
    pub(super) blocked: BTreeMap<u32, i64>,
    /// Reason why the pass is over.
    pub(super) over: Option<Over>,
    /// Time up to which a pass would decide the same, as long as no job arrives, starts or ends:
    /// see [`BackfillPass::holds_until`].
    pub(super) holds_until: i64,
    /// True if a plan or a start of this pass can keep a job from starting now that could before.
    pub(super) changed: bool,
    /// A job that it has not done with.
    paused: Option<Paused>,
    /// Nodes that a job has left while the pass slept: it does not use them.
    ignored: Option<NodeSet>,
    /// True if a limit kept the last job from running; `None` where no limit was looked at.
    pub(super) limited: Option<bool>,
    /// Demands that cannot be met, as searches of this pass have shown.
    pub(super) bounds: DemandBounds,
    /// True if the verdict on each job is asked for.
    full: bool,
    /// Arrays of which tasks in several partitions have started, with the partition.
    begun_arrays: Vec<(u32, u16)>,
    /// Tasks that it has looked at of arrays in several partitions, in each partition.
    pub(super) array_looks: Vec<(u32, u16, i64)>,
    /// Jobs in several partitions that have a plan.
    pub(super) planned: BTreeSet<u32>,
    /// True if the jobs that it reaches may be others a second later.
    pub(super) loose: bool,
    /// Refusals of jobs for want of a place beside the present plans, or by a limit.
    #[serde(skip)]
    pub(super) twins: TwinRefusals,
    /// Verdicts that the next pass may repeat.
    #[serde(skip)]
    pub(super) past: PastLooks,
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
pub(super) enum Over {
    Depth,
    TableFull,
    Starts,
}

impl Over {
    fn parameter_name(self) -> &'static str {
        match self {
            Over::Depth => "bf_max_job_test",
            Over::TableFull => "bf_node_space_size",
            Over::Starts => "bf_max_job_start",
        }
    }
}

/// `t` on the grid of `bf_resolution`, rounded down.
pub(super) fn floor_time(t: i64, resolution: i64) -> i64 {
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
        pass.restart_pass(cluster, now, params);
        pass
    }

    /// Starts again, in its own memory.
    pub fn restart_pass(&mut self, cluster: &ModelCluster, now: i64, params: &SchedParams) {
        let (table, past) = (std::mem::take(&mut self.table), std::mem::take(&mut self.past));
        *self = BackfillPass { table, past, ..BackfillPass::default() };
        self.past.pause_repeats();
        self.window_end = now + params.bf_window * 60;
        self.began = now;
        self.holds_until = i64::MAX;
        let (begin, end) = (floor_time(now, params.bf_resolution), floor_time(self.window_end, params.bf_resolution));
        let plans_licences = params.bf_licenses != 0;
        let planned_licences = if plans_licences { &cluster.machine.resources.licences[..] } else { &[] };
        let licences: Vec<u64> = planned_licences.iter().map(|&(_, count)| u64::from(count)).collect();
        let parts = cluster.machine.parts.iter().map(|part| &part.nodes);
        self.table.reset_table((begin, end.max(begin + 1)), cluster.nodes_in_service(), &licences, parts);
        if plans_licences || params.bf_running_job_reserve != 0 {
            self.keep_running(cluster, params);
        }
    }

    /// Jobs that run with licences, or have nodes for themselves, are planned with up to their
    /// limits, in the order of submission.
    fn keep_running(&mut self, cluster: &ModelCluster, params: &SchedParams) {
        let mut order = cluster.end_order().to_vec();
        order.sort_shared_by_key(|&(_, rank, _)| rank);
        let no_nodes = NodeSet::empty(cluster.machine.node_count());
        for running in order.iter().filter_map(|&(.., slot)| cluster.job_at(slot)) {
            let licences = if params.bf_licenses != 0 { cluster.licences_of(&running.job) } else { &[] };
            let replaceable = cluster.preempting.mode_of(&cluster.machine, &running.job) != PreemptMode::Off;
            let whole = running.job.exclusive && !replaceable;
            if (whole || !licences.is_empty()) && self.table.record_count() < params.record_limit() {
                let begin = self.table.begin_time();
                let end = floor_time(running.end, params.bf_resolution).max(begin + params.bf_resolution);
                self.table.add_plan(begin, end, if whole { &running.alloc.nodes } else { &no_nodes }, licences);
            }
        }
    }

    /// A job has left these nodes while the pass slept. Jobs that it still looks at are not to have
    /// them before those that it has looked at.
    pub fn ignore_nodes(&mut self, nodes: &NodeSet) {
        match &mut self.ignored {
            Some(set) => set.unite(nodes),
            None => self.ignored = Some(nodes.clone()),
        }
    }

    /// After a yield the window begins at the present.
    pub fn resume_at(&mut self, now: i64, params: &SchedParams) {
        self.past.stop_repeats();
        self.window_end = now + params.bf_window * 60;
        self.bounds.clear();
        self.twins.clear();
    }

    /// Looks at a job at `now` seconds. What it starts then runs.
    pub fn look_at(
        &mut self,
        desk: &mut PassInputs<'_>,
        job: &Pending,
        now: i64,
        watch: &mut impl VerdictObserver,
    ) -> JobVerdict {
        watch.turn_to_job(desk.cluster, job);
        self.full = watch.wants_plans();
        if self.tried >= desk.params.bf_max_job_test {
            self.over = self.over.or(Some(Over::Depth));
        }
        if job.several && (desk.cluster.get(job.id).is_some() || self.is_of_begun_array(job)) {
            return JobVerdict::Waits;
        }
        let verdict = match self.over {
            Some(over) => JobResult::Verdict(PassVerdict::NotReached(over.parameter_name())),
            None if self.paused.is_some_and(|pause| pause.id == job.id) => self.find_place(desk, job, now),
            None => match self.repeat_look(desk, job, now) {
                Some(verdict) => JobResult::Verdict(verdict),
                None => self.look_anew(desk, job, now),
            },
        };
        if let Some(is_limited) = self.limited.take() {
            desk.cluster.note_limit(job.id, is_limited);
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
                desk.cluster.start_job(job, now, alloc.clone());
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
        watch.note_verdict(PassKind::Backfill, now, job.id, verdict);
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
        if self.over.is_none() && self.find_bar(desk.cluster, desk.params, job, now).is_none() {
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
        if (whole || !licences.is_empty()) && self.table.record_count() < desk.params.record_limit() {
            let no_nodes = NodeSet::empty(desk.cluster.machine.node_count());
            let nodes = if whole { &alloc.nodes } else { &no_nodes };
            let begin = self.table.begin_time();
            let end = floor_time(now.saturating_add(job.limit), desk.params.bf_resolution);
            self.table.add_plan(begin, end.max(begin + desk.params.bf_resolution), nodes, licences);
        }
    }

    /// Jobs that the select test has looked at.
    pub fn tried_jobs(&self) -> i64 {
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
    pub fn could_start(&mut self, cluster: &ModelCluster, job: &Pending, now: i64, free: &mut NodeSet) -> bool {
        let (number, need) = (usize::from(job.part), u64::from(job.cpus.max(job.min_nodes)));
        if let Some(could) = self.table.has_idle(number, (now, now.saturating_add(job.limit)), need, cluster) {
            return could;
        }
        free.copy_from(&cluster.machine.parts[usize::from(job.part)].nodes);
        self.table.narrow_nodes(free, now, now.saturating_add(job.limit));
        !cluster.idle.lacks_room(job, free)
    }

    /// Judges a job, and notes the verdict for the next pass.
    fn look_anew(&mut self, desk: &mut PassInputs<'_>, job: &Pending, now: i64) -> JobResult {
        let (tries_before, is_unplanned) = (self.tried, self.is_unplanned(job, now, desk.params));
        let before = std::mem::replace(&mut self.holds_until, i64::MAX);
        let result = self.judge_job(desk, job, now);
        match &result {
            JobResult::Verdict(verdict) => {
                let look = (is_unplanned, self.tried - tries_before, self.holds_until);
                self.note_look(desk.cluster, job, look, verdict);
            }
            _ => self.past.stop_repeats(),
        }
        self.holds_until = self.holds_until.min(before);
        result
    }

    fn judge_job(&mut self, desk: &mut PassInputs<'_>, job: &Pending, now: i64) -> JobResult {
        self.paused = None;
        match self.find_bar(desk.cluster, desk.params, job, now) {
            Some(verdict) => JobResult::Verdict(verdict),
            None => self.find_place(desk, job, now),
        }
    }

    fn find_place(&mut self, desk: &mut PassInputs<'_>, job: &Pending, now: i64) -> JobResult {
        let is_unplanned = self.is_unplanned(job, now, desk.params);
        let (look, params) = ((now, is_unplanned), desk.params);
        let is_plain = !desk.pauses && params.assoc_limit_stop == 0 && params.bf_licenses == 0;
        let is_shared = is_plain && self.paused.is_none() && have_one_verdict(desk.cluster, job);
        self.twins.keep_those_at(desk.cluster.machine.resources.bytes.change_count());
        if let Some(refusal) = self.twins.find_twin(job, look).filter(|_| is_shared) {
            self.tried += refusal.tried;
            return JobResult::Verdict(refusal.verdict.clone());
        }
        let tried_before = self.tried;
        let mut free = desk.scratch.take_free(desk.cluster.machine.node_count());
        let result = self.search_place(desk, job, now, is_unplanned, &mut free);
        desk.scratch.give_free(free);
        if let JobResult::Verdict(verdict) = &result
            && is_shared
        {
            self.twins.add_refusal(TwinRefusal::new(job, look, verdict, self.tried - tried_before));
        }
        result
    }

    /// Tries later and later, as long as there is something to be expected.
    fn search_place(
        &mut self,
        desk: &mut PassInputs<'_>,
        job: &Pending,
        now: i64,
        is_unplanned: bool,
        free: &mut NodeSet,
    ) -> JobResult {
        let whole = &desk.cluster.machine.parts[usize::from(job.part)].nodes;
        let remaining = self.without_ignored(whole);
        let skips =
            !desk.pauses && !is_unplanned && remaining.is_none() && self.may_skip(desk.cluster, desk.params, job);
        let from = self.first_from(desk.cluster, job, now);
        let is_bounded = skips && !self.full && from == now && now == self.began;
        let limit = if desk.cluster.no_reserve(job) { 60 } else { job.limit };
        let mut kind = SearchKind { unplanned: is_unplanned, skips, is_hopeless: false };
        if !is_bounded {
            self.loose = true;
            self.hold_until_reached(desk.cluster, desk.params, now, limit);
            let proof = &mut StartProof::empty_proof();
            return self.try_places(desk, job, (now, from, limit), kind, (free, remaining), proof);
        }
        kind.is_hopeless = self.is_excluded(desk.cluster, job, now);
        if kind.is_hopeless && self.counts_at_once(job, now) {
            return JobResult::Verdict(PassVerdict::NoRoom);
        }
        let ask = LateDemand::new(job, desk.cluster.fewest_nodes(job), now);
        let earliest = self.bounds.earliest_time(&ask);
        let mut proof = StartProof::new(desk.params.bf_resolution, earliest);
        let result = self.try_places(desk, job, (now, from, limit), kind, (free, remaining), &mut proof);
        if proof.from > earliest {
            let late = LateDemand::new(job, desk.cluster.fewest_nodes(job), proof.from);
            self.past.note_late(late);
            self.bounds.add_demand(late);
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
        let mut is_resumed = self.paused.is_some();
        let first_pause = Paused { id: job.id, from: begin, clock: now, first: true };
        let Paused { mut from, mut clock, mut first, .. } = self.paused.take().unwrap_or(first_pause);
        let mut opening = proof.from > i64::MIN;
        let mut search = place_search(desk.cluster, job, (now, limit), kind, proof.from);
        loop {
            let mut likely = None;
            if search.is_exact || (kind.skips && !first) {
                search.counted = !first;
                let next = self.table.likely_try(&mut search, from, proof, desk.scratch.running_ends(desk.cluster));
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
            if desk.pauses && !std::mem::take(&mut is_resumed) {
                self.paused = Some(Paused { id: job.id, from, clock, first });
                return JobResult::Paused;
            }
            let attempt = match likely {
                Some(likely) => Some(PlaceTry::of_likely(likely)),
                None => self.try_place(desk, job, (&mut from, clock, limit), (kind, first), (free, left.as_ref())),
            };
            let Some(PlaceTry { mut next, counts, fails }) = attempt else {
                return JobResult::Verdict(PassVerdict::Reserved);
            };
            if std::mem::take(&mut opening) {
                self.hold_first_try(desk.cluster, desk.params, job, (now, next.unwrap_or(0)), (counts, fails));
            }
            if let Some(later) = next.filter(|_| fails) {
                let until = from.max(clock).saturating_add(limit);
                proof.note_failure(from, later, self.table.begins_none(proof.bound_end(from, limit), until));
            }
            self.tried += i64::from(counts && std::mem::take(&mut first));
            clock = if counts { now } else { clock };
            let reach = if kind.unplanned { Reach::Now } else { next.map_or(Reach::All, Reach::Until) };
            let ranked_start = likely.and_then(|likely| likely.start);
            let futile = fails && (next.is_some() || !counts);
            let soonest = if futile { None } else { self.find_soonest(desk, job, likely, (now, reach), free) };
            let Some(mut soonest) = soonest else {
                match next {
                    Some(later) => from = later,
                    None => return JobResult::Verdict(PassVerdict::without_start(kind.unplanned && counts)),
                }
                continue;
            };
            let mut start = soonest.at.max(from);
            let PassInputs { cluster, params, scratch, .. } = desk;
            let licences = if params.bf_licenses != 0 { cluster.licences_of(job) } else { &[] };
            if start <= now {
                if ranked_start.is_some() {
                    self.table.spread_try(usize::from(job.part), free);
                }
                if soonest.meets_completing(cluster, job, free, scratch) {
                    start = now + 1;
                    next = None;
                } else {
                    match self.start_now(cluster, params, job, free, now, next) {
                        Start::Runs(run_alloc) => return JobResult::Now(run_alloc),
                        Start::Limited(reason) => return JobResult::Verdict(PassVerdict::Limit(reason)),
                        Start::Blocked(at) => start = at,
                        Start::Preempts(victims) => {
                            let alloc = soonest.alloc_at_start(cluster, job, free, scratch);
                            let verdict = self.plan_start(params, job, (now, limit), alloc, (licences, false));
                            return JobResult::Preempts(victims, verdict);
                        }
                    }
                }
            }
            if kind.unplanned && start > now {
                return JobResult::Verdict(PassVerdict::Unplanned { start: Some(start) });
            }
            if let Some(later) = next.filter(|&later| start > later) {
                // Perhaps earlier once a plan is over.
                from = later;
                continue;
            }
            let ends = scratch.running_ends(cluster);
            if search.is_exact && now < start && self.lacks_room(job, (start, soonest.at, limit), params, ends) {
                from = start;
                continue;
            }
            let alloc = match ranked_start.filter(|candidate| candidate.at.max(from) > now) {
                Some(candidate) => self.table.place_ranked(job, candidate.ends, free),
                None => {
                    self.table.eligible.clear();
                    soonest.alloc_at_start(cluster, job, free, scratch)
                }
            };
            match self.settle_plan(cluster, params, job, (now, start, limit), alloc, licences) {
                Some(verdict) => return JobResult::Verdict(verdict),
                // Classes may have been parted since the window was made.
                None => (search.slides, from) = (false, start),
            }
        }
    }

    /// Returns the earliest start of a job on the nodes of a try, or on `free` where only these are
    /// known.
    fn find_soonest(
        &self,
        desk: &mut PassInputs<'_>,
        job: &Pending,
        likely: Option<LikelyTry>,
        (now, reach): (i64, Reach),
        free: &mut NodeSet,
    ) -> Option<Soonest> {
        if let Some(candidate) = likely.and_then(|likely| likely.start) {
            desk.scratch.release_none();
            return Some(Soonest::unplaced_start(candidate.at));
        }
        if likely.is_some() {
            self.table.spread_try(usize::from(job.part), free);
        }
        will_run(desk.cluster, job, free, now, reach, desk.scratch)
    }

    /// Returns whether a plan from `start` on certainly meets others: without room for the whole
    /// plan, all nodes that could be chosen do.
    fn lacks_room(
        &mut self,
        job: &Pending,
        (start, at, limit): (i64, i64, i64),
        params: &SchedParams,
        ends: RunningEnds<'_>,
    ) -> bool {
        let span =
            (floor_time(start, params.bf_resolution), floor_time(start.saturating_add(limit), params.bf_resolution));
        let number = usize::from(job.part);
        start <= self.window_end && self.table.lacks_room(number, span, at, u64::from(job.cpus), ends)
    }

    /// Nodes of a partition that no job has left while the pass slept, where one has.
    fn without_ignored(&self, whole: &NodeSet) -> Option<NodeSet> {
        let mut remaining = whole.clone();
        remaining.subtract(self.ignored.as_ref()?);
        Some(remaining)
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
        let demand = cluster.machine.resources.known_demand(job.demand);
        takes_shortcuts()
            && params.bf_licenses == 0
            && !cluster.preempting.is_on()
            && job.reservation == NONE
            && cluster.reservations.is_empty()
            && cluster.machine.parts.iter().all(|part| !part.exclusive_user)
            && demand.is_none_or(|entry| entry.demand.gpus.is_none())
    }

    /// With `assoc_limit_stop`, jobs of a QOS that a limit blocks are planned behind the guess of
    /// when that ends.
    fn first_from(&self, cluster: &ModelCluster, job: &Pending, now: i64) -> i64 {
        let of_part = cluster.machine.parts[usize::from(job.part)].qos;
        let block_ends = [job.qos, of_part].into_iter().filter_map(|qos| self.blocked.get(&qos)).copied();
        block_ends.fold(now, i64::max)
    }
}

/// Result of a start.
pub(super) enum Start {
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
    let (mut all_victims, mut now) = (Vec::new(), now);
    for job in queue {
        now = now.max(when(job).unwrap_or(now));
        let mut desk = PassInputs { cluster, params, scratch: &mut scratch, pauses: false };
        if let JobVerdict::Preempts(victims) = pass.look_at(&mut desk, job, now, watch) {
            if !victims.is_empty() {
                cluster.note_preemption(job.id, now);
            }
            for victim in victims {
                if cluster.claim_place(&victim, now) {
                    drop(cluster.evict_job(victim.id));
                    all_victims.push(victim);
                }
            }
        }
    }
    all_victims
}
