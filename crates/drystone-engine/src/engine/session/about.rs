//! Settings of a session, and its facts about itself.

use super::Session;
use crate::model::{Job, JobId, ProcSet, Procs};
use crate::parts::predict::Propagation;
use crate::policy::{Actions, JobEntry, PassRule, Stopwatch, View};

impl Session {
    /// Announces a listener to the policy's notes ([`Action::Note`](crate::policy::Action::Note)):
    /// call it before the first event. Without it a policy may skip its notes.
    pub fn enable_notes(&mut self) {
        self.listened = true;
        self.scheduler.policy.enable_notes();
    }

    #[inline]
    pub(crate) fn is_listened_to(&self) -> bool {
        self.listened
    }

    /// Lets a policy that searches use this many threads within a decision; 1 by default. What it
    /// decides does not depend on it.
    pub fn set_threads(&mut self, threads: u32) {
        self.threads = threads.max(1);
        self.scheduler.policy.set_threads(self.threads);
    }

    /// Says that news may come: call it before the first event. Where news comes all the same, a
    /// policy takes it in; but one that places jobs then has to make do with where the machine has
    /// put those that it did not place.
    pub fn expect_news(&mut self) {
        self.scheduler.policy.expect_news();
    }

    /// Times decisions by another stopwatch than the wall clock, where the policy heeds a time
    /// limit.
    pub fn set_stopwatch(&mut self, stopwatch: Box<dyn Stopwatch>) {
        self.stopwatch = stopwatch;
    }

    /// Returns whether [`Session::note_arrival`] must be given true run times.
    #[must_use]
    pub fn is_clairvoyant(&self) -> bool {
        self.clairvoyant
    }

    /// Returns the number of passes that the policy wants at one instant.
    #[must_use]
    pub fn pass_rule(&self) -> PassRule {
        self.scheduler.pass
    }

    /// Free processors.
    #[must_use]
    pub fn free_processors(&self) -> Procs {
        self.s.world.free.max(0) as Procs
    }

    /// Number of waiting jobs.
    #[must_use]
    pub fn waiting_count(&self) -> u32 {
        self.s.waiting
    }

    /// Processors that the waiting jobs need.
    #[must_use]
    pub fn waiting_procs(&self) -> u64 {
        self.s.waiting_procs
    }

    /// Number of jobs that wait but are held back; [`Session::waiting_count`] does not count them.
    #[must_use]
    pub fn held_count(&self) -> u32 {
        self.s.held
    }

    /// Number of running jobs.
    #[must_use]
    pub fn running_count(&self) -> u32 {
        self.s.world.running.len() as u32
    }

    /// Number of suspended jobs.
    #[must_use]
    pub fn suspended_count(&self) -> u32 {
        self.s.suspended
    }

    /// Processors that the suspended jobs need.
    #[must_use]
    pub fn suspended_procs(&self) -> u64 {
        self.s.suspended_procs
    }

    /// The actions of the last decision, as they were carried out.
    #[must_use]
    pub fn actions(&self) -> &Actions {
        &self.actions
    }

    /// Returns the policy's view.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        self.s.view()
    }

    /// Returns whether a pass can do anything: a job waits to start or to resume, or the policy
    /// asked for it.
    #[inline]
    pub(crate) fn wants_pass(&self) -> bool {
        self.s.waiting > 0 || self.s.suspended > 0 || self.woken
    }

    /// Returns whether a job's end may change the predictions of running jobs.
    #[inline]
    pub(crate) fn repredicts_running(&self) -> bool {
        self.propagation == Propagation::Running
    }

    /// Processors of running jobs, as far as they have names.
    #[must_use]
    pub fn occupied_processors(&self) -> ProcSet {
        self.s.named_busy.to_set()
    }

    pub(crate) fn job(&self, id: JobId) -> &Job {
        &self.s.world.jobs[id].job
    }

    pub(crate) fn job_entry(&self, id: JobId) -> &JobEntry {
        self.s.world.job_entry(id)
    }

    /// The processors of a job that was started on named ones.
    pub(crate) fn named_processors(&self, id: JobId) -> Option<&ProcSet> {
        self.s.world.named.get(&id)
    }

    /// A job that the table still holds.
    pub(crate) fn known_entry(&self, id: JobId) -> Option<&JobEntry> {
        self.s.world.jobs.get(id).map(|record| &record.entry)
    }

    /// Returns whether the policy counts resources beyond processors.
    pub(crate) fn counts_resources(&self) -> bool {
        self.scheduler.policy.counts_resources()
    }

    pub(crate) fn places_on_nodes(&self) -> bool {
        self.scheduler.places_on_nodes()
    }

    /// Returns whether the policy makes reservations, as it says or as far as it has shown.
    #[inline]
    pub(crate) fn has_reservations(&self) -> bool {
        self.s.reserves || self.scheduler.policy.has_reservations()
    }

    /// Keeps what is predicted of jobs over their lives, so that [`Session::job_outcome`] can tell
    /// how accurate it was. Call it before the first job arrives.
    pub fn keep_accuracy(&mut self) {
        self.keeps_changes = true;
    }

    /// Does not keep what was predicted of jobs over their lives.
    pub(crate) fn forget_changes(&mut self) {
        self.keeps_changes = false;
    }

    #[inline]
    pub(crate) fn keeps_changes(&self) -> bool {
        self.keeps_changes
    }

    /// The number that the next job gets.
    #[must_use]
    pub fn next_id(&self) -> JobId {
        self.s.world.jobs.next_id()
    }
}
