//! Conditions of jobs that do not wait for room, from what the queue says: limits that running jobs
//! hold, other jobs, tasks of an array, times.

use super::reasons::{Condition, LimitMeasure, ReasonScope, WaitEffect};
use super::state::QueueEntry;
use drystone::model::{JobId, JobLimit, JobLimits, LimitClaim, Time};
use drystone_when::{StartGates, UserClaim};
use std::collections::{BTreeMap, BTreeSet};

/// Conditions by the places of jobs in the queue.
#[derive(Default)]
pub(super) struct QueueConditions {
    limits: Vec<JobLimit>,
    claims: BTreeMap<usize, BTreeMap<u32, LimitClaim>>,
    after: BTreeMap<usize, BTreeSet<usize>>,
    begins: BTreeMap<usize, i64>,
    of_user: BTreeMap<String, Vec<UserClaim>>,
}

type LimitGroup = (ReasonScope, Vec<String>);

const SCOPES: [ReasonScope; 6] = [
    ReasonScope::User,
    ReasonScope::Account,
    ReasonScope::Own,
    ReasonScope::Qos,
    ReasonScope::QosUser,
    ReasonScope::QosAccount,
];

/// Jobs by what they have in common: where they are in the queue.
struct QueueIndex {
    groups: BTreeMap<LimitGroup, Vec<usize>>,
    /// By name, and all tasks by that of their array.
    names: BTreeMap<String, Vec<usize>>,
}

impl QueueIndex {
    fn new(jobs: &[QueueEntry]) -> QueueIndex {
        let mut index = QueueIndex { groups: BTreeMap::new(), names: BTreeMap::new() };
        for (at, job) in jobs.iter().enumerate() {
            for group in SCOPES.iter().filter_map(|&scope| job_group(scope, job)) {
                index.groups.entry(group).or_default().push(at);
            }
            let names = [Some(&job.name), job.array.as_ref().map(|array| &array.0)];
            names.into_iter().flatten().for_each(|name| index.names.entry(name.clone()).or_default().push(at));
        }
        index
    }

    /// The group of a job's limit in which jobs run.
    fn holding_group(&self, jobs: &[QueueEntry], at: usize, scope: ReasonScope) -> Option<LimitGroup> {
        let runs = |group: &LimitGroup| {
            self.groups.get(group).is_some_and(|members| members.iter().any(|&at| jobs[at].since.is_some()))
        };
        let scopes = std::iter::once(scope).chain(stand_ins(scope).iter().copied());
        scopes.filter_map(|scope| job_group(scope, &jobs[at])).find(runs)
    }

    fn places_of_name(&self, name: &str) -> &[usize] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }
}

fn job_group(scope: ReasonScope, job: &QueueEntry) -> Option<LimitGroup> {
    let group_of = |parts: &[&String]| {
        let parts: Vec<String> = parts.iter().map(|part| (*part).clone()).collect();
        parts.iter().all(|part| !part.is_empty()).then_some((scope, parts))
    };
    match scope {
        ReasonScope::User => group_of(&[&job.user]),
        ReasonScope::Account => group_of(&[&job.account]),
        ReasonScope::Own => group_of(&[&job.account, &job.user]),
        ReasonScope::Qos => group_of(&[&job.qos]),
        ReasonScope::QosUser => group_of(&[&job.qos, &job.user]),
        ReasonScope::QosAccount => group_of(&[&job.qos, &job.account]),
    }
}

/// Scopes that stand in for one whose jobs are not known, or of whose jobs none runs: a limit of
/// the partition's QOS holds for jobs of any QOS.
fn stand_ins(scope: ReasonScope) -> &'static [ReasonScope] {
    match scope {
        ReasonScope::QosUser | ReasonScope::Own => &[ReasonScope::User],
        ReasonScope::QosAccount => &[ReasonScope::Account, ReasonScope::User],
        ReasonScope::Qos | ReasonScope::Account => &[ReasonScope::User],
        ReasonScope::User => &[],
    }
}

fn measure_amount(measure: LimitMeasure, job: &QueueEntry) -> u64 {
    match measure {
        LimitMeasure::Jobs => 1,
        LimitMeasure::Processors => u64::from(job.procs),
        LimitMeasure::Memory => job.memory,
        LimitMeasure::Nodes => u64::from(job.node_count),
        LimitMeasure::Gpus => job.gpus,
    }
}

/// Returns whether a limit is one that the model of Slurm does not keep: of minutes that running
/// jobs have left, or of licences.
fn is_beyond_model(job: &QueueEntry) -> bool {
    job.reason.as_ref().is_some_and(|reason| reason.word.contains("RunMin") || reason.word.contains("License"))
}

impl QueueConditions {
    /// Finds what each job waits for first. A job whose condition is not among these jobs has no
    /// answer, and its reason says why from then on. A policy that keeps limits by itself needs no
    /// condition for them.
    pub(super) fn resolve_queue(jobs: &mut [QueueEntry], now: i64, keeps_limits: bool) -> QueueConditions {
        let mut conditions = QueueConditions::default();
        let index = QueueIndex::new(jobs);
        let mut limited_jobs: BTreeMap<(LimitGroup, LimitMeasure), BTreeSet<usize>> = BTreeMap::new();
        let mut arrays: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for at in 0..jobs.len() {
            match jobs[at].reason.as_ref().and_then(super::reasons::WaitReason::condition) {
                Some(Condition::Limit(..)) if keeps_limits && !is_beyond_model(&jobs[at]) => {}
                Some(Condition::Limit(scope, measure)) => match index.holding_group(jobs, at, scope) {
                    Some(group) => _ = limited_jobs.entry((group, measure)).or_default().insert(at),
                    None => bar_job(jobs, at, "waits for a limit of its account or QOS that no running job here holds"),
                },
                Some(Condition::Tasks) => {
                    let array = jobs[at].array.clone().map(|(array, _)| array).unwrap_or_default();
                    arrays.entry(array).or_default().push(at);
                }
                Some(Condition::Begin) => {
                    let begin = jobs[at].reason.as_ref().and_then(|reason| reason.begin).unwrap_or(now);
                    conditions.begins.insert(at, begin);
                }
                Some(Condition::Jobs) => conditions.add_parents(jobs, &index, at),
                Some(Condition::Reservation) | None => {}
            }
        }
        for ((group, measure), waiting) in limited_jobs {
            let members = index.groups.get(&group).map_or(&[][..], Vec::as_slice);
            conditions.add_limit(jobs, (&group, members), measure, &waiting);
        }
        for (array, waiting) in arrays {
            conditions.add_array(jobs, (&array, index.places_of_name(&array)), &waiting);
        }
        conditions.bar_orphans(jobs);
        conditions
    }

    /// The limit of a group, as far as the queue tells: its running jobs fill it, and none of those
    /// that wait for it fits beside them.
    fn add_limit(
        &mut self,
        jobs: &mut [QueueEntry],
        (group, members): (&LimitGroup, &[usize]),
        measure: LimitMeasure,
        waiting: &BTreeSet<usize>,
    ) {
        let Some(first) = waiting.first().map(|&at| jobs[at].clone()) else { return };
        // Where amounts are not known, jobs count.
        let has_amounts = waiting.iter().all(|&at| measure_amount(measure, &jobs[at]) > 0);
        let measure = if has_amounts { measure } else { LimitMeasure::Jobs };
        let running_jobs: Vec<usize> = members.iter().copied().filter(|&at| jobs[at].since.is_some()).collect();
        let usage: u64 = running_jobs.iter().map(|&at| measure_amount(measure, &jobs[at])).sum();
        let of_waiting = || waiting.iter().map(|&at| measure_amount(measure, &jobs[at]));
        let (least, largest) = (of_waiting().min().unwrap_or(1), of_waiting().max().unwrap_or(1));
        // Used, and less than would let the least of them in.
        let most = largest.max(usage).min((usage + least).saturating_sub(1)).max(1);
        let word = first.reason.as_ref().map(|reason| reason.word.clone()).unwrap_or_default();
        let limit = self.push_limit(word, group.1.join(", "), most);
        let explanation = match running_jobs.len() {
            1 => "waits for a limit that 1 running job holds".to_string(),
            n => format!("waits for a limit that {n} running jobs hold"),
        };
        for &at in members {
            let amount = measure_amount(measure, &jobs[at]);
            let waits = waiting.contains(&at);
            // One that asks for as much as those that wait does not fit either.
            let binds = waits || jobs[at].since.is_none() && amount >= least;
            self.add_claim(at, LimitClaim { limit, amount: amount.min(most), binds });
            if let Some(reason) = jobs[at].reason.as_mut().filter(|_| waits) {
                reason.why = explanation.clone().into();
            }
        }
        let of_users = matches!(group.0, ReasonScope::User | ReasonScope::QosUser | ReasonScope::Own);
        if of_users && matches!(measure, LimitMeasure::Jobs | LimitMeasure::Processors) {
            let claim = UserClaim { limit, processors: measure == LimitMeasure::Processors, least };
            self.of_user.entry(first.user).or_default().push(claim);
        }
    }

    /// Tasks of an array of which so many may run at a time.
    fn add_array(&mut self, jobs: &mut [QueueEntry], (array, tasks): (&str, &[usize]), waiting: &[usize]) {
        let running_count = tasks.iter().filter(|&&at| jobs[at].since.is_some()).count() as u64;
        let most = tasks.iter().find_map(|&at| jobs[at].array.as_ref()?.1).map_or(running_count, u64::from);
        if most == 0 {
            waiting
                .iter()
                .for_each(|&at| bar_job(jobs, at, "waits for other tasks of its array, of which none runs here"));
            return;
        }
        let limit = self.push_limit("JobArrayTaskLimit".to_string(), format!("array {array}"), most);
        for &at in tasks {
            self.add_claim(at, LimitClaim { limit, amount: 1, binds: jobs[at].since.is_none() });
            let waits = jobs[at].reason.as_mut().filter(|reason| reason.condition() == Some(Condition::Tasks));
            if let Some(reason) = waits {
                reason.why = format!("waits for other tasks of its array, {most} at a time").into();
            }
        }
    }

    fn push_limit(&mut self, reason: String, of: String, most: u64) -> u32 {
        self.limits.push(JobLimit { reason, family: of.clone(), of, most });
        (self.limits.len() - 1) as u32
    }

    fn add_claim(&mut self, job: usize, claim: LimitClaim) {
        self.claims.entry(job).or_default().insert(claim.limit, claim);
    }

    /// The jobs that a job depends on, as far as they are here: those that are not have ended.
    fn add_parents(&mut self, jobs: &mut [QueueEntry], index: &QueueIndex, at: usize) {
        let Some(names) = jobs[at].parents.clone() else {
            return bar_job(jobs, at, "waits for other jobs that it depends on");
        };
        let task = jobs[at].name.split_once('_').map_or("", |(_, task)| task).to_string();
        let parent_places = names.iter().flat_map(|name| match name.strip_suffix("_@") {
            Some(array) => index.places_of_name(&format!("{array}_{task}")),
            None => index.places_of_name(name.strip_suffix("_*").unwrap_or(name)),
        });
        let parents: BTreeSet<usize> = parent_places.copied().filter(|&parent| parent != at).collect();
        let explanation = match (parents.len(), parents.first()) {
            (0, _) | (_, None) => return bar_job(jobs, at, "waits for jobs that it depends on, none of which is here"),
            (1, Some(&parent)) => format!("waits for job {} to end", jobs[parent].name),
            (n, _) => format!("waits for {n} jobs to end"),
        };
        self.after.insert(at, parents);
        if let Some(reason) = &mut jobs[at].reason {
            reason.why = explanation.into();
        }
    }

    /// Bars jobs that depend on one without an answer.
    fn bar_orphans(&mut self, jobs: &mut [QueueEntry]) {
        loop {
            let is_barred = |at: &usize| jobs[*at].barring_reason().is_some();
            let orphans: Vec<usize> =
                self.after.iter().filter(|(_, parents)| parents.iter().any(is_barred)).map(|(&at, _)| at).collect();
            if orphans.is_empty() {
                break;
            }
            for at in orphans {
                self.after.remove(&at);
                bar_job(jobs, at, "depends on a job that has no start itself");
            }
        }
        let is_barred = |at: &usize| jobs[*at].barring_reason().is_some();
        self.claims.retain(|at, _| !is_barred(at));
    }

    /// Returns whether a job is held back at first.
    pub(super) fn is_held(&self, job: usize) -> bool {
        let is_limited = self.claims.get(&job).is_some_and(|claims| claims.values().any(|claim| claim.binds));
        is_limited || self.after.contains_key(&job) || self.begins.contains_key(&job)
    }

    /// The conditions by the session's numbers of jobs and users.
    pub(super) fn start_gates(
        &self,
        id: impl Fn(usize) -> Option<JobId>,
        user: impl Fn(&str) -> Option<i32>,
    ) -> StartGates {
        let mut limits = JobLimits::default();
        for limit in &self.limits {
            limits.add_limit(limit.clone());
        }
        let mut sets: BTreeMap<Vec<LimitClaim>, u32> = BTreeMap::new();
        for (&job, claims) in &self.claims {
            let Some(id) = id(job) else { continue };
            let claims: Vec<LimitClaim> = claims.values().copied().collect();
            let set = *sets.entry(claims).or_insert_with_key(|claims| limits.intern_claims(claims.clone()));
            limits.bind_job(id, set);
        }
        let parents = |of: &BTreeSet<usize>| of.iter().filter_map(|&parent| id(parent)).collect();
        StartGates {
            limits,
            eligible: self.begins.iter().filter_map(|(&job, &begin)| Some((id(job)?, Time(begin)))).collect(),
            after: self.after.iter().filter_map(|(&job, of)| Some((id(job)?, parents(of)))).collect(),
            of_user: self.of_user.iter().filter_map(|(name, claims)| Some((user(name)?, claims.clone()))).collect(),
        }
    }
}

fn bar_job(jobs: &mut [QueueEntry], at: usize, explanation: &'static str) {
    if let Some(reason) = &mut jobs[at].reason {
        debug_assert!(reason.effect != WaitEffect::Bars);
        reason.bar_start(explanation);
    }
}
