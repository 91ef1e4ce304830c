//! Jobs in reservations: each reservation is a machine of its own, for its own jobs.

use super::state::{ClusterState, NodeTakes, QueueEntry};
use drystone::model::{DemandId, JobId, Machine, Span, Time};
use drystone::policy::{Phase, PolicySpec};
use drystone_when::{Adoption, Forecaster, FutureError, Observed, RunTimes, StartAnswer, StartGates, adopt_jobs};
use std::collections::BTreeMap;

/// A reservation that jobs wait for.
#[derive(Clone)]
pub(super) struct ReservedPool {
    procs: u32,
    from: i64,
    until: i64,
    /// Its jobs, and where those that wait are among the observed of the scene.
    jobs: Vec<(Observed, Option<usize>)>,
}

/// The answer for a job of a reservation, with the plan of limits.
pub(super) type ReservedAnswer = (usize, Option<(StartAnswer, Option<i64>)>);

impl ReservedPool {
    /// The reservations of a state, without jobs.
    pub(super) fn of_state(state: &ClusterState) -> BTreeMap<String, ReservedPool> {
        let pool = |(name, window): (&String, &drystone_slurm::conf::ReservedWindow)| {
            let is_of =
                |node: &&super::state::StateNode| node.takes != NodeTakes::None && window.nodes.contains(&node.name);
            let total_procs = state.nodes.iter().filter(is_of).fold(0u32, |sum, node| sum.saturating_add(node.procs));
            let procs = window.procs.map_or(total_procs, |procs| procs.min(total_procs));
            (name.clone(), ReservedPool { procs, from: window.from, until: window.until, jobs: Vec::new() })
        };
        state.reservations.iter().map(pool).collect()
    }

    /// Returns whether it can never hold a job: it has too few processors, or too little time.
    pub(super) fn is_too_small_for(&self, entry: &QueueEntry, now: i64) -> bool {
        let time = self.until - self.from.max(now);
        entry.procs > self.procs || entry.limit.is_none_or(|limit| limit > time)
    }

    pub(super) fn add_job(&mut self, entry: &QueueEntry, observation: &Observed, place: Option<usize>, now: i64) {
        let runs = observation.start.is_some();
        let is_held = !runs && self.from > now;
        let mut job =
            Observed { eligible: Time(entry.submit.min(now)), held: is_held, on: None, ..observation.clone() };
        // What it asks of nodes is not counted here.
        (job.job.demand, job.job.partition, job.job.queue, job.job.group) = (DemandId::NONE, -1, -1, -1);
        self.jobs.push((job, place.filter(|_| !runs)));
    }

    pub(super) fn waiting_jobs(&self) -> impl Iterator<Item = usize> + '_ {
        self.jobs.iter().filter_map(|(_, place)| *place)
    }

    /// Answers for its jobs that wait, those of the futures alone. No job comes but those that are
    /// here; one that cannot end within the reservation does not start.
    fn find_answers(
        &self,
        policy: &PolicySpec,
        forecaster: &mut Forecaster,
        now: i64,
    ) -> Result<Vec<ReservedAnswer>, FutureError> {
        let observed_jobs: Vec<Observed> = self.jobs.iter().map(|(job, _)| job.clone()).collect();
        let machine = Machine::new(self.procs.max(1));
        let Adoption { session, jobs, .. } =
            adopt_jobs(policy.build_scheduler(), machine, &observed_jobs, &[], Time(now))?;
        let begins = (0u32..).zip(&jobs).filter(|(_, at)| observed_jobs[**at].held);
        let eligible = begins.map(|(id, _)| (JobId(id), Time(self.from))).collect();
        forecaster.set_gates(StartGates { eligible, ..StartGates::default() });
        let ids: BTreeMap<usize, JobId> = (0u32..).zip(jobs).map(|(id, at)| (at, JobId(id))).collect();
        let mine: Vec<(usize, usize)> =
            self.jobs.iter().enumerate().filter_map(|(at, (_, place))| Some((at, (*place)?))).collect();
        let waits = |at: &usize| {
            let id = ids.get(at).copied()?;
            matches!(session.view().phase(id), Phase::Waiting | Phase::Held).then_some(id)
        };
        let open: Vec<JobId> = mine.iter().filter_map(|(at, _)| waits(at)).collect();
        let in_time = |id: JobId, start: &i64| now + start + session.view().job(id).estimate.0 <= self.until;
        let mut times = forecaster.start_times(&session, &open, 0, false)?;
        for starts in &mut times {
            starts.iter_mut().zip(&open).for_each(|(start, &id)| *start = start.filter(|start| in_time(id, start)));
        }
        let plans = forecaster.point_starts(&session, &open, RunTimes::Limits)?;
        let plans = open.iter().zip(plans).map(|(&id, plan)| plan.filter(|plan| in_time(id, plan)));
        let from = Span((self.from - now).max(0));
        let mut answers = forecaster.answers_of(&session, &open, &times)?.into_iter().zip(plans);
        let answer = |(at, place): (usize, usize)| {
            let answer = waits(&at).and_then(|_| answers.next());
            (place, answer.map(|(answer, plan)| (StartAnswer { not_before: from, ..answer }, plan)))
        };
        Ok(mine.into_iter().map(answer).collect())
    }
}

/// Answers for all jobs that wait in reservations, or for one of them.
pub(super) fn answer_reserved(
    policy: &PolicySpec,
    (pools, now): (&BTreeMap<String, ReservedPool>, i64),
    forecaster: &mut Forecaster,
    only: Option<usize>,
) -> Result<Vec<ReservedAnswer>, FutureError> {
    let mut answers = Vec::new();
    for pool in pools.values() {
        if pool.waiting_jobs().any(|job| only.is_none_or(|only| only == job)) {
            answers.extend(pool.find_answers(policy, forecaster, now)?);
        }
    }
    answers.retain(|(job, _)| only.is_none_or(|only| only == *job));
    Ok(answers)
}
