//! Tracker and session together: what is seen goes in, orders come out. Pure, so that a journal of
//! what went in gives the same orders again, bit for bit.

use crate::cluster::{ClusterOrder, JobKey, OrderOutcome};
use crate::tracker::{
    DaemonMode, Delta, ExportedJob, HoldWords, HookMessage, LookResult, NodeLayout, Stamp, Tracker, TrackerNews,
    TrackerSettings, WakePosition, classify_ending,
};
use drystone::engine::{Adopted, NewsError, PolicyViolation, ProposalError, Session};
use drystone::model::{JobId, Machine, ProcSet, Procs, ResourceId, SizeSet, Span, Time};
use drystone::policy::{Action, Actions, KnownSupply, PassRule, Placement, PolicySpec, SnapshotError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Rounds of decisions at one look: a policy that only counts may choose jobs that no node has room
/// for, and chooses others then.
const ROUNDS: usize = 4;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum CoreInput {
    /// The cluster was looked at.
    Facts {
        /// Time of the look.
        stamp: Stamp,
        /// Difference to the look before.
        delta: Delta,
        /// Messages of the hook since the last look.
        told: Vec<HookMessage>,
        /// Position behind them in the wake file, from which a restart reads on.
        heard: WakePosition,
    },
    /// Something is due without anything having been seen: a prediction expires, the policy wanted
    /// to be woken. Told at that very time, or as soon after it as can be, before the next look.
    Tick(Stamp),
    Outcomes(Vec<OrderOutcome>),
    /// The daemon has been away.
    Restarted(Stamp),
    /// Jobs that ended before, for predictors to learn from, where no state was left that has
    /// learned from them. Times are the session's less `offset`.
    Taught {
        /// Offset to add to their times.
        offset: i64,
        /// In the order of their ends.
        jobs: Vec<ExportedJob>,
    },
    /// Jobs that an earlier daemon held and suspended, of which nothing else is known.
    Remembered {
        /// Held.
        taken: BTreeSet<JobKey>,
        /// Suspended.
        stopped: BTreeSet<JobKey>,
        /// Bound to nodes.
        pinned: BTreeSet<JobKey>,
    },
    /// Holds of users and operators from before.
    RememberedWords {
        /// Last words on holds that users may take back.
        users: HoldWords,
        /// Last words of operators.
        operators: HoldWords,
        /// True if everything has been given back since.
        given_back: bool,
        /// The cluster's time before the daemon first beat. The hook held for this daemon what it
        /// has marked since then.
        since: i64,
    },
}

/// Decision of a policy, with the jobs' own names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Decided {
    /// Job concerned, if any.
    pub key: Option<JobKey>,
    pub action: Action,
    /// Processors, where they are named.
    pub on: Option<ProcSet>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CoreOutput {
    /// Decisions of the policy; hypothetical in shadow mode.
    pub decided: Vec<Decided>,
    pub orders: Vec<ClusterOrder>,
    /// Reason to hand the cluster back, if any.
    pub doubt: Option<String>,
}

impl CoreOutput {
    pub fn is_empty(&self) -> bool {
        self.decided.is_empty() && self.orders.is_empty() && self.doubt.is_none()
    }
}

/// Reason why the core cannot continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoreError {
    #[error("the policy broke its contract: {0}")]
    Violation(#[from] PolicyViolation),
    #[error("the session refuses what happened: {0}")]
    News(#[from] NewsError),
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    #[error("saved state: {0}")]
    Unreadable(#[from] postcard::Error),
}

impl From<ProposalError> for CoreError {
    fn from(error: ProposalError) -> CoreError {
        match error {
            ProposalError::State(error) => CoreError::Snapshot(error),
            ProposalError::Violation(violation) => CoreError::Violation(violation),
        }
    }
}

/// Reason why a policy cannot work live.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unsuitable {
    #[error("policy {0} cannot work on a real cluster: {1}")]
    Deaf(String, NewsError),
    #[error("policy {0} resumes suspended jobs on other processors, which this cluster cannot; choose `migration=no`")]
    Migrates(String),
    #[error("policy {0} suspends jobs, which this cluster cannot")]
    Suspends(String),
    #[error(
        "policy {0} chooses the sizes of jobs or lets them grow, which this driver does not support; leave out `shape`, `cap`, \
         `drop` and every `resize` but `resize=shrink`, or take easy"
    )]
    Sizes(String),
    #[error("policy {0} changes the paces of jobs, which this driver does not support; leave out `drop=pace`")]
    Paces(String),
    #[error(
        "policy {0} takes nodes from running jobs whose users allow it; add `--shrink` to permit this, or leave out `resize`"
    )]
    Shrinks(String),
    #[error("policy {0} waits for low carbon intensity or prices, which no cluster reports; leave out `hold`")]
    Unpriced(String),
    #[error(
        "policy {0} sends running jobs back to wait, which loses their progress; this driver does not support that: \
         choose one that does not preempt"
    )]
    Requeues(String),
    #[error("policy {0} plans with true run times, which no cluster knows; choose another predictor")]
    Clairvoyant(String),
    #[error("policy {0} has a time limit, so that its decisions could not be replayed; limit it by nodes instead")]
    Timed(String),
    #[error(
        "policy {0} makes a pass after every event, and a real cluster is looked at once for all of them; leave out `pass=event`"
    )]
    EachEvent(String),
    #[error(
        "policy {0} relies on jobs ending within their limits, and on a real cluster they end a little later; choose another"
    )]
    Punctual(String),
}

/// News, and of which of the session's jobs, where it knows it.
type NamedNews = (Option<JobId>, TrackerNews);

#[derive(Serialize, Deserialize)]
struct SavedCore {
    tracker: Tracker,
    session: Vec<u8>,
    last: CoreOutput,
}

pub struct Core {
    tracker: Tracker,
    session: Session,
    policy: PolicySpec,
    /// The orders whose outcomes are due.
    last: CoreOutput,
}

impl Core {
    /// A core that has seen nothing yet.
    pub fn new(settings: TrackerSettings, layout: NodeLayout, policy: &PolicySpec) -> Core {
        let mut session = Session::new(Machine::new(layout.procs()), policy.build_scheduler());
        if settings.shrinks {
            session.expect_sizes();
        }
        let tracker = Tracker::new(settings, layout);
        if let Some(table) = tracker.resource_table() {
            session.set_resources(table);
        }
        Core { tracker, session, policy: policy.clone(), last: CoreOutput::default() }
    }

    /// Checks that a policy can work on a cluster with these capabilities.
    ///
    /// # Errors
    /// The reason.
    pub fn check_policy(policy: &PolicySpec, can: crate::cluster::Capabilities) -> Result<(), Unsuitable> {
        let name = || policy.canonical_text();
        let scheduler = policy.build_scheduler();
        let needs = scheduler.policy.needed_abilities();
        if scheduler.policy.time_limit().is_some() {
            return Err(Unsuitable::Timed(name()));
        }
        if scheduler.policy.requirement() != drystone::policy::Requirement::Nothing
            && scheduler.forecast.correction == drystone::parts::predict::Correction::None
        {
            return Err(Unsuitable::Punctual(name()));
        }
        if needs.migrate && !can.migrate {
            return Err(Unsuitable::Migrates(name()));
        }
        if needs.suspend && !can.suspend {
            return Err(Unsuitable::Suspends(name()));
        }
        if needs.pace {
            return Err(Unsuitable::Paces(name()));
        }
        if needs.shape || (needs.resize && !Core::may_shrink(policy)) {
            return Err(Unsuitable::Sizes(name()));
        }
        if needs.resize && !can.shrink {
            return Err(Unsuitable::Shrinks(name()));
        }
        if scheduler.policy.awaits_term().is_some() {
            return Err(Unsuitable::Unpriced(name()));
        }
        if needs.requeue {
            return Err(Unsuitable::Requeues(name()));
        }
        let session = Session::new(Machine::new(1), scheduler);
        if session.pass_rule() == PassRule::Event {
            return Err(Unsuitable::EachEvent(name()));
        }
        if session.is_clairvoyant() {
            return Err(Unsuitable::Clairvoyant(name()));
        }
        session.check_hears().map_err(|error| Unsuitable::Deaf(name(), error))
    }

    /// Returns whether a policy changes the sizes of jobs only by taking processors from running
    /// jobs.
    pub fn may_shrink(policy: &PolicySpec) -> bool {
        let has = |name: &str, value: &str| policy.parameters().iter().any(|(of, own)| *of == name && own == value);
        has("resize", "shrink") && has("drop", "none")
    }

    /// Returns whether a policy orders jobs by the priority that the site itself gives them.
    pub fn reads_priorities(policy: &PolicySpec) -> bool {
        let words = |text: &str| {
            text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| matches!(word, "site" | "priority"))
        };
        policy.parameters().iter().any(|(_, value)| words(value))
    }

    pub fn tracker(&self) -> &Tracker {
        &self.tracker
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    pub fn policy(&self) -> &PolicySpec {
        &self.policy
    }

    /// Returns the next time at which something is due without a look.
    pub fn next_deadline(&self) -> Option<Time> {
        [self.session.next_due_time(), self.tracker.next_deadline()].into_iter().flatten().min()
    }

    /// Returns the time of an [`CoreInput::Tick`] that is due by `now`, if any.
    pub fn tick_due(&self, now: Time) -> Option<Time> {
        let due = self.session.next_due_time().filter(|&due| due <= now)?;
        Some(due.max(self.session.view().current_time()).min(now))
    }

    /// Takes something in.
    ///
    /// # Errors
    /// The policy broke its contract, or the session does not take what happened: everything has to
    /// be given back then.
    pub fn take_input(&mut self, input: &CoreInput) -> Result<CoreOutput, CoreError> {
        match input {
            CoreInput::Facts { stamp, delta, told: messages, .. } => {
                let turn = self.tracker.take_observation(*stamp, delta, messages);
                let output = self.apply_turn(*stamp, turn)?;
                self.last.clone_from(&output);
                Ok(output)
            }
            CoreInput::Tick(stamp) => {
                self.tracker.note_tick(*stamp);
                let mut output = CoreOutput::default();
                if self.session.expire_due(stamp.session_time()) {
                    self.decide(stamp.session_time(), &mut output)?;
                }
                self.last.clone_from(&output);
                Ok(output)
            }
            CoreInput::Outcomes(outcomes) => {
                self.tracker.note_orders(&self.last.orders, outcomes);
                self.last = CoreOutput::default();
                Ok(CoreOutput::default())
            }
            CoreInput::Restarted(stamp) => {
                self.tracker.note_restart(*stamp);
                self.last = CoreOutput::default();
                Ok(CoreOutput::default())
            }
            CoreInput::Taught { offset, jobs } => {
                for past in jobs {
                    self.teach_past_job(past, *offset)?;
                }
                Ok(CoreOutput::default())
            }
            CoreInput::RememberedWords { users, operators, given_back, since } => {
                self.tracker.remember_words(users.clone(), operators.clone(), given_back.then_some(*since));
                Ok(CoreOutput::default())
            }
            CoreInput::Remembered { taken: holds, stopped, pinned } => {
                self.tracker.remember_jobs(holds.clone(), stopped.clone(), pinned.clone());
                Ok(CoreOutput::default())
            }
        }
    }

    /// Lets a job run and end that did so before.
    fn teach_past_job(&mut self, past: &ExportedJob, offset: i64) -> Result<(), CoreError> {
        let Some(start) = past.start else { return Ok(()) };
        let end = Time(past.end + offset);
        let job = self.tracker.job_of_past(past, offset);
        let since = Time(start + offset).min(end);
        // One that is wider than the machine is now teaches nothing.
        match self.session.adopt_job(end, &job, None, &Adopted::Running { since, on: None }) {
            Ok(id) => drop(self.session.note_end(end, id, classify_ending(past.ending), Some(Span(past.ran)))),
            Err(NewsError::Impossible(_)) => {}
            Err(error) => return Err(error.into()),
        }
        // What is done is forgotten at the next decision.
        self.session.decide(end)?;
        Ok(())
    }

    fn apply_turn(&mut self, stamp: Stamp, turn: LookResult) -> Result<CoreOutput, CoreError> {
        let LookResult { news, orders, doubt, .. } = turn;
        let now = stamp.session_time();
        let mut output = CoreOutput { orders, doubt, ..CoreOutput::default() };
        let due = self.session.next_due_time().is_some_and(|deadline| deadline <= now);
        let mut dirty = self.tracker.take_again() || due || !news.is_empty();
        let (ends, rest) = self.ends_first(news);
        self.tell_news(now, ends)?;
        dirty |= self.session.expire_due(now);
        let mut placed_jobs: BTreeSet<JobKey> = rest.iter().filter_map(|(_, entry)| entry.placed_job()).collect();
        let losses = rest
            .iter()
            .find_map(|(_, entry)| if let TrackerNews::Losses(losses) = entry { Some(losses.clone()) } else { None });
        let supply = rest
            .iter()
            .find_map(|(_, entry)| if let TrackerNews::Supply(supply) = entry { Some(supply.clone()) } else { None });
        self.tell_news(now, rest)?;
        if let Some(supply) = supply {
            let known_supply =
                |&(resource, amount): &(ResourceId, u64)| KnownSupply { from: Time::MIN, resource, amount };
            self.session.set_supply(now, &supply.iter().map(known_supply).collect::<Vec<_>>())?;
        }
        if !self.tracker.is_named() && !self.session.occupied_processors().is_empty() {
            // More runs than there is room for: the session has begun to name processors.
            placed_jobs.extend(self.tracker.name_all());
        }
        if self.tracker.is_named() {
            self.correct_places(now, &placed_jobs)?;
        }
        if let Some(losses) = losses {
            self.session.set_losses(now, &losses)?;
        }
        dirty |= self.learn_sizes(now);
        if dirty && output.doubt.is_none() {
            self.decide(now, &mut output)?;
        }
        Ok(output)
    }

    /// Sets the sizes that running jobs may be given in the session; a job has some from the look
    /// after its start on. Returns whether any are new.
    fn learn_sizes(&mut self, now: Time) -> bool {
        if !self.tracker.settings().shrinks {
            return false;
        }
        let (view, tracker) = (self.session.view(), &self.tracker);
        let sets = view.running_jobs().iter().filter_map(|job| view.job_processors(job.id));
        if sets.map(|set| u64::from(set.len())).sum::<u64>() > u64::from(self.session.occupied_processors().len()) {
            // Jobs share processors: those that one of the jobs gives may not be free.
            self.session.set_sizes([]);
            return false;
        }
        let mut is_early = false;
        let mut find_sizes = |id| {
            let job = tracker.find_key(id).and_then(|key| tracker.find_job(key))?;
            let sizes = tracker.find_sizes(job, view.job(id).procs)?;
            let has_begun = view.last_start(id) < now;
            is_early |= !has_begun;
            (has_begun && sizes.contains(view.job_size(id))).then_some((id, sizes))
        };
        let sizes: Vec<(JobId, SizeSet)> = view.running_jobs().iter().filter_map(|job| find_sizes(job.id)).collect();
        let is_new = |(id, sizes): &(JobId, SizeSet)| view.job_shape(*id).is_none_or(|shape| shape.sizes != *sizes);
        let are_new = sizes.iter().any(is_new);
        self.session.set_sizes(sizes);
        if is_early {
            self.tracker.decide_again();
        }
        are_new
    }

    /// Returns the time after which enough processors for a waiting job are free, by the predicted
    /// ends of the running jobs; `None` where they are never enough.
    pub fn predict_wait(&self, key: JobKey) -> Option<Span> {
        let view = self.session.view();
        let need = view.job(self.tracker.find_job(key)?.id?).procs;
        let mut running_ends: Vec<(Time, Procs)> = view.running_jobs().iter().map(|job| (job.end, job.procs)).collect();
        running_ends.sort_unstable();
        let mut free = i64::from(self.session.free_processors());
        let mut ends = running_ends.into_iter().map(|(end, procs)| {
            free += i64::from(procs);
            (end, free)
        });
        let (end, _) = ends.find(|(_, free)| *free >= i64::from(need))?;
        Some((end - view.current_time()).max(Span::ZERO))
    }

    /// News of jobs that have ended, lower numbers first; and the others: of known jobs, then of
    /// new jobs in the order of their submission.
    fn ends_first(&self, news: Vec<NamedNews>) -> (Vec<NamedNews>, Vec<NamedNews>) {
        let ends = |(_, entry): &NamedNews| if let TrackerNews::Ended { key, .. } = entry { Some(*key) } else { None };
        let ended_jobs: BTreeSet<JobKey> = news.iter().filter_map(ends).collect();
        let (mut ends, mut rest): (Vec<NamedNews>, Vec<NamedNews>) =
            news.into_iter().partition(|(_, entry)| entry.job_key().is_some_and(|key| ended_jobs.contains(&key)));
        ends.sort_by_key(|(id, _)| *id);
        rest.sort_by_key(|(id, entry)| match id {
            // What follows the news of a new job stays behind it.
            None => {
                let job = entry.job_key().and_then(|key| self.tracker.find_job(key)).and_then(|t| t.job.as_ref());
                (1, job.map_or(0, |job| job.submit.0), entry.job_key())
            }
            Some(_) => (0, 0, None),
        });
        (ends, rest)
    }

    fn tell_news(&mut self, now: Time, news: Vec<NamedNews>) -> Result<(), CoreError> {
        if let Some(table) = self.tracker.grown_resources() {
            self.session.extend_demands(table);
        }
        for (id, entry) in news {
            self.tell_one(now, id, &entry)?;
        }
        Ok(())
    }

    fn tell_one(&mut self, now: Time, id: Option<JobId>, news: &TrackerNews) -> Result<(), CoreError> {
        match news {
            TrackerNews::Arrive { key, job, held } => {
                let adoption = if *held { Adopted::Held } else { Adopted::Waiting };
                return self.adopt_job(now, *key, job, &adoption);
            }
            TrackerNews::AdoptRunning { key, job, since } => {
                let on = self.processor_numbers(*key);
                return self.adopt_job(now, *key, job, &Adopted::Running { since: *since, on });
            }
            TrackerNews::AdoptSuspended { key, job, ran } => {
                let on = self.processor_numbers(*key);
                return self.adopt_job(now, *key, job, &Adopted::Suspended { ran: *ran, on });
            }
            TrackerNews::Losses(_) | TrackerNews::Supply(_) | TrackerNews::Placed(_) => return Ok(()),
            _ => {}
        }
        let Some(key) = news.job_key() else { return Ok(()) };
        let Some(id) = id.or_else(|| self.tracker.find_job(key)?.id) else { return Ok(()) };
        let session = &mut self.session;
        match news {
            TrackerNews::Started { since, .. } => {
                let on = self.processor_numbers(key);
                self.session.note_start(now, id, *since, on.as_ref())?;
            }
            TrackerNews::Requeued(_) => drop(session.note_requeue(now, id)?),
            TrackerNews::Held(_) => drop(session.hold_job(now, id)?),
            TrackerNews::Released(_) => drop(session.release_job(now, id)?),
            TrackerNews::Updated { job, .. } => match session.update_job(now, id, job) {
                Err(NewsError::Impossible(_)) => {
                    session.withdraw_job(now, id);
                    self.tracker.note_impossible(key);
                }
                other => drop(other?),
            },
            TrackerNews::Interrupted(_) => drop(session.note_interruption(now, id)?),
            TrackerNews::Continued(_) => drop(session.note_continuation(now, id)?),
            TrackerNews::StaysSuspended(_) => drop(session.stays_suspended(now, id)?),
            TrackerNews::Ended { how, ran, .. } => drop(session.note_end(now, id, *how, *ran)),
            TrackerNews::Cancelled(_) => drop(session.withdraw_job(now, id)),
            _ => {}
        }
        Ok(())
    }

    fn adopt_job(
        &mut self,
        now: Time,
        key: JobKey,
        job: &drystone::model::Job,
        adoption: &Adopted,
    ) -> Result<(), CoreError> {
        match self.session.adopt_job(now, job, None, adoption) {
            Ok(id) => self.tracker.note_number(key, id),
            Err(NewsError::Impossible(_)) => self.tracker.note_impossible(key),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Numbers of the processors that a job has on its nodes, where they matter.
    fn processor_numbers(&self, key: JobKey) -> Option<ProcSet> {
        let fact = self.tracker.mirror().job_fact(key).filter(|fact| !fact.places.is_empty())?;
        if !self.tracker.is_named() {
            return None;
        }
        Some(self.tracker.layout().choose_numbers(&fact.places, fact.procs, &self.session.occupied_processors()))
    }

    /// Corrects where the session has running jobs, all that `moved` names and, where jobs share
    /// numbers, all there are: perhaps they need not.
    fn correct_places(&mut self, now: Time, keys: &BTreeSet<JobKey>) -> Result<(), CoreError> {
        let view = self.session.view();
        let ids: Vec<JobId> = view.running_jobs().iter().map(|job| job.id).collect();
        let held_procs: u64 =
            ids.iter().filter_map(|&id| view.job_processors(id)).map(|set| u64::from(set.len())).sum();
        let is_shared = held_procs > u64::from(self.session.occupied_processors().len());
        if keys.is_empty() && !is_shared {
            return Ok(());
        }
        let (layout, mirror) = (self.tracker.layout(), self.tracker.mirror());
        let mut wrong = Vec::new();
        for id in ids {
            let Some(key) = self.tracker.find_key(id).filter(|key| is_shared || keys.contains(key)) else { continue };
            let Some(fact) = mirror.job_fact(key).filter(|fact| !fact.places.is_empty()) else { continue };
            let own = view.job_processors(id).cloned().unwrap_or_default();
            if is_shared || layout.split_at(&own) != layout.counts_at(&fact.places, fact.procs) {
                wrong.push((id, own, fact));
            }
        }
        wrong.sort_by_key(|(id, _, _)| *id);
        let mut busy =
            self.session.occupied_processors().difference(&ProcSet::union_of(wrong.iter().map(|(_, own, _)| own)));
        let mut right = Vec::new();
        for (id, own, fact) in wrong {
            let set = layout.choose_numbers(&fact.places, fact.procs, &busy);
            busy = busy.union(&set);
            if set != own {
                right.push((id, view.segment_start(id), set));
            }
        }
        for (id, since, set) in right {
            self.session.note_start(now, id, since, Some(&set))?;
        }
        Ok(())
    }

    /// Asks the policy, and turns its answer into orders.
    fn decide(&mut self, now: Time, output: &mut CoreOutput) -> Result<(), CoreError> {
        if self.tracker.is_blind() {
            self.tracker.decide_again();
            return Ok(());
        }
        self.learn_sizes(now);
        if self.tracker.settings().mode == DaemonMode::Shadow {
            let (actions, wake) = self.session.propose_with_wake(now)?;
            if let Some(wake) = wake {
                self.session.wake_at(wake);
            }
            self.record_actions(&actions, output);
            self.tracker.note_proposal(&actions);
            return Ok(());
        }
        for _ in 0..ROUNDS {
            let actions = self.session.decide(now)?.clone();
            self.record_actions(&actions, output);
            let LookResult { news, orders, doubt, refused, kept: reservation } = self.tracker.note_decision(&actions);
            output.orders.extend(orders);
            output.doubt = output.doubt.take().or(doubt);
            if let Some((job, start)) = reservation {
                let action = Action::Reserve { job, start, latest: Time::MAX };
                output.decided.push(Decided { key: self.tracker.find_key(job), action, on: None });
            }
            self.tell_news(now, news)?;
            if !refused {
                return Ok(());
            }
        }
        // There may be more that have room; the next look goes on with them.
        self.tracker.decide_again();
        Ok(())
    }

    fn record_actions(&self, actions: &Actions, output: &mut CoreOutput) {
        let vain = self.tracker.find_vain(actions);
        for (at, &action) in actions.list().iter().enumerate() {
            if matches!(action, Action::Resize { .. }) && vain.contains(&at) {
                continue;
            }
            let (job, on) = match action {
                Action::Start { job, on, .. } | Action::ResumeOn { job, on } => (Some(job), Some(on)),
                Action::Suspend(job) | Action::Resume(job) | Action::Kill(job) => (Some(job), None),
                Action::Resize { job, .. } => (Some(job), None),
                Action::Reserve { job, .. } | Action::Repredict { job, .. } => (Some(job), None),
                _ => (None, None),
            };
            let on =
                on.and_then(
                    |on| if let Placement::Set(index) = on { actions.processor_set(index).cloned() } else { None },
                );
            output.decided.push(Decided { key: job.and_then(|job| self.tracker.find_key(job)), action, on });
        }
    }

    /// The whole state.
    ///
    /// # Errors
    /// A policy that cannot be saved.
    pub fn save(&self) -> Result<Vec<u8>, CoreError> {
        let saved_core =
            SavedCore { tracker: self.tracker.clone(), session: self.session.save()?, last: self.last.clone() };
        Ok(postcard::to_stdvec(&saved_core)?)
    }

    /// Goes on from a saved state under the same policy.
    ///
    /// # Errors
    /// It is damaged, of another version, or of another policy. The core is then unchanged.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), CoreError> {
        let saved_core: SavedCore = postcard::from_bytes(bytes)?;
        let mut session =
            Session::new(Machine::new(saved_core.tracker.layout().procs()), self.policy.build_scheduler());
        if saved_core.tracker.settings().shrinks {
            session.expect_sizes();
        }
        session.load(&saved_core.session)?;
        (self.tracker, self.session, self.last) = (saved_core.tracker, session, saved_core.last);
        Ok(())
    }
}
