//! Premises after a scenario.

use super::change::{ChangeList, SiteChange};
use super::places;
use super::premises::{ApplyError, Premises};
use drystone::model::{
    Adopted, Circumstances, DemandId, DependencyEffect, DependsOn, Job, JobId, Machine, ResourceTable, Span, Truth,
    Workload,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Jobs that a scenario leaves out.
#[derive(Clone, Copy, PartialEq, Debug, Default, serde::Serialize)]
pub struct LeftOutJobs {
    pub jobs: u64,
    /// Their nodes times hours.
    pub node_hours: f64,
}

/// Premises after a scenario, and what became of the jobs.
#[derive(Clone, Debug)]
pub struct Applied {
    pub premises: Premises,
    /// For each job its place among the jobs before; `None` for one that was added.
    pub origin: Vec<Option<u32>>,
    /// True if jobs arrive when others have ended.
    pub feeds_back: bool,
    /// Jobs that were split.
    pub split: u64,
    /// Jobs that were added.
    pub added: u64,
    pub left: LeftOutJobs,
    /// Those of them that could never run, so that their submission would be refused.
    pub refused: u64,
    /// Changes made, in words, with counts.
    pub notes: Vec<String>,
    /// Resources of the machine beside processors, and the demands of jobs.
    pub(super) table: Option<Arc<ResourceTable>>,
    /// Circumstances of the jobs from the next rebuilding on, where they have changed.
    pub(super) known: Option<Circumstances>,
}

/// A job while changes are made.
#[derive(Clone, Debug)]
pub(super) struct JobDraft {
    pub(super) job: Job,
    pub(super) truth: Truth,
    /// Its place among the jobs before the scenario.
    pub(super) origin: Option<u32>,
    /// Its place among the jobs before this change, where it keeps its circumstances.
    pub(super) place: Option<u32>,
    /// True if it arrives when the draft before it has ended.
    pub(super) follows: bool,
}

impl Applied {
    pub(super) fn add_note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Every job as a draft that changes nothing.
    pub(super) fn job_drafts(&self) -> Vec<JobDraft> {
        let workload = &self.premises.workload;
        let jobs_and_truths = workload.jobs().iter().zip(workload.truth()).zip(&self.origin);
        let follows = |at: usize| {
            let dependency =
                workload.circumstances().and_then(|circumstances| circumstances.after.get(&JobId(at as u32)));
            dependency.is_some_and(|after| after.then == DependencyEffect::Arrives && self.feeds_back)
        };
        jobs_and_truths
            .enumerate()
            .map(|(at, ((job, truth), origin))| JobDraft {
                job: job.clone(),
                truth: truth.clone(),
                origin: *origin,
                place: Some(at as u32),
                follows: follows(at),
            })
            .collect()
    }

    /// Returns whether a job is on the machine when the simulation begins: it stays as it is.
    pub(super) fn is_running(&self, place: u32) -> bool {
        let adopted_state =
            self.premises.workload.circumstances().and_then(|circumstances| circumstances.here.get(&JobId(place)));
        matches!(adopted_state, Some(Adopted::Running { .. } | Adopted::Suspended { .. }))
    }

    /// Returns whether a job leaves the queue without a start.
    pub(super) fn is_withdrawn(&self, place: u32) -> bool {
        self.premises
            .workload
            .circumstances()
            .is_some_and(|circumstances| circumstances.uncounted.contains(&JobId(place)))
    }

    /// Takes the totals off the demands of these jobs, which are to move to another partition.
    pub(super) fn drop_demand_totals(
        &mut self,
        change: &SiteChange,
        drafts: &mut [JobDraft],
        moves: impl Fn(&JobDraft) -> bool,
    ) -> Result<(), ApplyError> {
        let Some(table) = &self.table else { return Ok(()) };
        let demands: BTreeSet<DemandId> =
            drafts.iter().filter(|draft| moves(draft)).map(|draft| draft.job.demand).collect();
        let (table, new_ids) =
            places::drop_totals(table, &demands).map_err(|error| ApplyError::new(change, error.to_string()))?;
        for draft in drafts.iter_mut().filter(|draft| moves(draft)) {
            draft.job.demand = new_ids.get(&draft.job.demand).copied().unwrap_or(draft.job.demand);
        }
        self.table = Some(table);
        Ok(())
    }

    /// Gives the machine these amounts of its resources over time.
    pub(super) fn set_supply(&mut self, table: ResourceTable) {
        self.table = Some(Arc::new(table.clone()));
        self.premises.workload = self.premises.workload.clone().with_supply_of(table);
    }

    /// Puts drafts in the place of the jobs. Jobs that do not fit on the machine are left out.
    pub(super) fn rebuild_jobs(&mut self, change: &SiteChange, mut drafts: Vec<JobDraft>) -> Result<(), ApplyError> {
        let too_wide = self.drop_too_wide(&mut drafts);
        if too_wide.jobs > 0 {
            self.left.jobs += too_wide.jobs;
            self.left.node_hours += too_wide.node_hours;
            self.refused += too_wide.jobs;
            self.add_note(format!(
                "jobs that ask for more than the smaller machine has, and are refused since none can run: {}",
                too_wide.jobs
            ));
        }
        if drafts.is_empty() {
            return Err(ApplyError::new(change, "no job is left to simulate"));
        }
        self.rebuild_workload(drafts).map_err(|problem| ApplyError::new(change, problem))
    }

    /// Puts drafts in the place of the jobs.
    fn rebuild_workload(&mut self, drafts: Vec<JobDraft>) -> Result<(), String> {
        let procs = self.premises.procs();
        // In order of arrival; pieces of a job stay behind each other.
        let mut order: Vec<u32> = (0..drafts.len() as u32).collect();
        order.sort_by_key(|&at| drafts[at as usize].job.submit);
        let mut new_place = vec![u32::MAX; drafts.len()];
        order.iter().zip(0..).for_each(|(&at, place)| new_place[at as usize] = place);
        let old = self.premises.workload.len();
        let mut of_old = vec![None; old];
        for (draft, &place) in drafts.iter().zip(&new_place) {
            if let Some(was) = draft.place {
                of_old[was as usize] = Some(JobId(place));
            }
        }
        let circumstances =
            self.known.take().unwrap_or_else(|| self.premises.workload.circumstances().cloned().unwrap_or_default());
        let mut circumstances = circumstances.restrict_to(|id| of_old.get(id.index()).copied().flatten());
        circumstances.withdrawn.sort_by_key(|withdrawal| (withdrawal.at, withdrawal.job));
        for at in 1..drafts.len() {
            if drafts[at].follows {
                let before = JobId(new_place[at - 1]);
                let after = DependsOn { jobs: vec![before], think: Span::ZERO, then: DependencyEffect::Arrives };
                circumstances.after.insert(JobId(new_place[at]), after);
            }
        }
        self.origin = order.iter().map(|&at| drafts[at as usize].origin).collect();
        let provenance = self.premises.workload.provenance.clone();
        let (jobs, truth) = order
            .iter()
            .map(|&at| {
                let draft = &drafts[at as usize];
                (draft.job.clone(), draft.truth.clone())
            })
            .unzip();
        let table = self.table.clone();
        let workload = Workload::with_resources(Machine::new(procs), table, jobs, truth, provenance);
        self.premises.workload = workload
            .and_then(|workload| workload.with_circumstances(circumstances))
            .map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Returns the premises without these jobs, which can never run there; all pieces of a job that
    /// was split go with one of them.
    ///
    /// # Errors
    /// No job would be left.
    pub fn without_jobs(&self, never: &BTreeSet<JobId>, changes: &ChangeList) -> Result<Applied, ApplyError> {
        let origins: BTreeSet<u32> =
            never.iter().filter_map(|id| self.origin.get(id.index()).copied().flatten()).collect();
        let mut reduced_state = self.clone();
        let mut drafts = reduced_state.job_drafts();
        let (mut left_out, mut first) = (LeftOutJobs::default(), Vec::new());
        let mut dropped_jobs: BTreeSet<(bool, u32)> = BTreeSet::new();
        drafts.retain(|draft| {
            let place = draft.place.unwrap_or(u32::MAX);
            let of = draft.origin.filter(|origin| origins.contains(origin));
            if of.is_none() && !never.contains(&JobId(place)) {
                return true;
            }
            left_out.node_hours += node_hours(&self.premises, &draft.job, draft.truth.run);
            if dropped_jobs.insert(of.map_or((false, place), |origin| (true, origin))) {
                left_out.jobs += 1;
                if first.len() < SHOWN {
                    first.push(draft.truth.number.to_string());
                }
            }
            false
        });
        reduced_state.left.jobs += left_out.jobs;
        reduced_state.left.node_hours += left_out.node_hours;
        reduced_state.refused += left_out.jobs;
        reduced_state.add_note(describe_refused(&left_out, &first));
        if drafts.is_empty() {
            let problem = "no job could ever run".to_string();
            return Err(ApplyError { change: changes.to_string(), problem });
        }
        reduced_state
            .rebuild_workload(drafts)
            .map_err(|problem| ApplyError { change: changes.to_string(), problem })?;
        Ok(reduced_state)
    }

    fn drop_too_wide(&self, drafts: &mut Vec<JobDraft>) -> LeftOutJobs {
        let mut left_out = LeftOutJobs::default();
        let premises = &self.premises;
        let mut was_dropped = false;
        drafts.retain(|draft| {
            let pool = &premises.pools[premises.pool_of(&draft.job)];
            let is_served = self.table.as_ref().is_none_or(|table| table.demand_problem(draft.job.demand).is_none());
            let fits = is_served && draft.job.procs <= pool.procs.saturating_mul(pool.scale.max(1));
            // The pieces of a job that is gone go with it.
            let keep = fits && !(draft.follows && was_dropped);
            was_dropped = !keep;
            if !keep {
                left_out.jobs += 1;
                left_out.node_hours += node_hours(premises, &draft.job, draft.truth.run);
            }
            keep
        });
        left_out
    }
}

/// Jobs that can never run and are named one by one.
const SHOWN: usize = 3;

/// The sentence on jobs that can never run.
fn describe_refused(omissions: &LeftOutJobs, first: &[String]) -> String {
    let (jobs, submissions) =
        if omissions.jobs == 1 { ("job", "its submission") } else { ("jobs", "their submissions") };
    let more = if omissions.jobs as usize > first.len() { ", ..." } else { "" };
    format!(
        "{} {jobs} of {:.0} node-hours can never run after the change, and {submissions} would be refused (numbers {}{more})",
        omissions.jobs,
        omissions.node_hours,
        first.join(", ")
    )
}

pub(super) fn node_hours(premises: &Premises, job: &Job, run: Span) -> f64 {
    premises.nodes_of(job) * run.as_f64() / 3_600.0
}

/// The error of a change that only Slurm's own scheduler knows.
pub(super) fn needs_slurm(state: &Applied, change: &SiteChange, subject: &str) -> Result<(), ApplyError> {
    match state.premises.is_slurm && state.premises.pools.iter().all(|pool| pool.conf.is_some()) {
        true => Ok(()),
        false => Err(ApplyError::new(
            change,
            format!(
                "this policy knows no {subject}; Slurm's own scheduler does: leave --policy out on a site with a slurm.conf, or give --slurm FILE"
            ),
        )),
    }
}
