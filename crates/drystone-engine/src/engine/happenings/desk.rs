//! Admission of a workload's jobs by the limits that they share: of a machine by itself, or of
//! several machines of one site.

use super::{Happenings, LIMIT};
use crate::engine::Admission;
use crate::model::{JobId, JobLimit, JobLimits, Time};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Limits that jobs of several machines share, each simulated by itself.
///
/// The jobs have the numbers of the site as a whole. The machines are stepped in the order of time,
/// and each takes the jobs that ends elsewhere have admitted: see
/// [`Simulation::catch_up`](crate::engine::Simulation::catch_up).
#[derive(Clone, Debug)]
pub struct SiteAdmission(Arc<Mutex<SiteState>>);

#[derive(Debug)]
struct SiteState {
    limits: JobLimits,
    admission: Admission,
    /// Jobs that are admitted and do not know it yet.
    admitted: Vec<JobId>,
}

/// A machine's part of a [`SiteAdmission`].
#[derive(Clone, Debug)]
pub struct AdmissionDesk {
    site: SiteAdmission,
    /// The number in the site of each job of the machine, ascending.
    ids: Vec<JobId>,
}

impl SiteAdmission {
    /// No job is admitted.
    #[must_use]
    pub fn new(limits: JobLimits) -> SiteAdmission {
        let admission = Admission::new(&limits);
        SiteAdmission(Arc::new(Mutex::new(SiteState { limits, admission, admitted: Vec::new() })))
    }

    /// The part of a machine whose jobs have these numbers in the site, ascending.
    #[must_use]
    pub fn desk_for(&self, ids: Vec<JobId>) -> AdmissionDesk {
        AdmissionDesk { site: self.clone(), ids }
    }

    fn lock_state(&self) -> MutexGuard<'_, SiteState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Numbers of a machine's jobs in the ledger of its limits.
#[derive(Clone, Copy)]
pub(super) struct DeskNumbers<'a> {
    /// `None` where the machine has the ledger for itself.
    ids: Option<&'a [JobId]>,
}

impl DeskNumbers<'_> {
    /// Returns the number of a job of the machine in the ledger.
    pub(super) fn site_number(self, job: JobId) -> JobId {
        self.ids.and_then(|ids| ids.get(job.index()).copied()).unwrap_or(job)
    }

    /// Returns the number on the machine of a job of the ledger; `None` for a job of another one.
    fn own_number(self, job: JobId) -> Option<JobId> {
        match self.ids {
            None => Some(job),
            Some(ids) => ids.binary_search(&job).ok().map(|at| JobId(at as u32)),
        }
    }

    pub(super) fn is_own(self, job: JobId) -> bool {
        self.own_number(job).is_some()
    }

    /// Returns the numbers on the machine of those that are of it.
    pub(super) fn own_jobs(self, jobs: &[JobId]) -> Vec<JobId> {
        jobs.iter().filter_map(|&job| self.own_number(job)).collect()
    }
}

impl AdmissionDesk {
    fn in_site(&self, job: JobId) -> JobId {
        self.ids.get(job.index()).copied().unwrap_or(job)
    }

    /// Takes those of the machine's jobs that have been admitted since the last call.
    fn take_admitted(&self) -> Vec<JobId> {
        let mut state = self.site.lock_state();
        let (mut own, mut foreign_jobs) = (Vec::new(), Vec::new());
        for job in state.admitted.drain(..) {
            match self.ids.binary_search(&job) {
                Ok(at) => own.push(JobId(at as u32)),
                Err(_) => foreign_jobs.push(job),
            }
        }
        state.admitted = foreign_jobs;
        own
    }
}

impl Happenings<'_> {
    /// Lets other machines of a site share the limits of the jobs.
    #[must_use]
    pub fn at_desk(mut self, desk: AdmissionDesk) -> Self {
        self.wears = desk.site.lock_state().limits.has_wear();
        self.desk = Some(desk);
        self.take_those_here();
        self
    }

    /// Jobs that run at the first instant count before any other is admitted.
    pub(super) fn take_those_here(&mut self) {
        use crate::model::Adopted::{Running, Suspended};
        let since = |adoption: &crate::model::Adopted| match adoption {
            Running { since, .. } => Some(Some(*since)),
            Suspended { .. } => Some(None),
            _ => None,
        };
        let runs = self.known.here.iter().filter_map(|(&job, adoption)| Some((job, since(adoption)?)));
        let jobs: Vec<(JobId, Option<Time>)> = runs.collect();
        let take = |admission: &mut Admission, limits: &JobLimits, job: JobId, since: Option<Time>| {
            admission.claim_limits(limits, job);
            since.into_iter().for_each(|since| admission.note_start(limits, job, since));
        };
        match &self.desk {
            None => {
                self.s.admission = Admission::new(&self.known.limits);
                jobs.into_iter().for_each(|(job, since)| take(&mut self.s.admission, &self.known.limits, job, since));
            }
            Some(desk) => {
                let mut state = desk.site.lock_state();
                let SiteState { limits, admission, .. } = &mut *state;
                jobs.into_iter().for_each(|(job, since)| take(admission, limits, desk.in_site(job), since));
            }
        }
    }

    /// Asks the ledger of the limits.
    pub(super) fn ask_admission<R>(&self, question: impl FnOnce(&Admission, &JobLimits, DeskNumbers<'_>) -> R) -> R {
        match &self.desk {
            None => question(&self.s.admission, &self.known.limits, DeskNumbers { ids: None }),
            Some(desk) => {
                let state = desk.site.lock_state();
                question(&state.admission, &state.limits, DeskNumbers { ids: Some(&desk.ids) })
            }
        }
    }

    /// Changes the ledger of the limits. Jobs that wait for them may have room then.
    pub(super) fn change_admission<R>(
        &mut self,
        now: Time,
        change: impl FnOnce(&mut Admission, &JobLimits, DeskNumbers<'_>) -> R,
    ) -> R {
        // Jobs that have room then are admitted at this time.
        self.s.now = self.s.now.max(now);
        let (result, is_due) = match &self.desk {
            None => {
                let result = change(&mut self.s.admission, &self.known.limits, DeskNumbers { ids: None });
                (result, self.s.admission.is_due())
            }
            Some(desk) => {
                let mut state = desk.site.lock_state();
                let SiteState { limits, admission, .. } = &mut *state;
                let result = change(admission, limits, DeskNumbers { ids: Some(&desk.ids) });
                (result, admission.is_due())
            }
        };
        self.s.freed |= is_due;
        self.look_for_room();
        result
    }

    /// A job may start by all other rules. Returns why it is held back.
    pub(super) fn ask_limits(&mut self, job: JobId) -> u8 {
        if self.known.limits.set_of(job).is_none() {
            return 0;
        }
        let is_admitted = match &self.desk {
            None => self.s.admission.admit_or_queue(&self.known.limits, job),
            Some(desk) => {
                let mut state = desk.site.lock_state();
                let SiteState { limits, admission, .. } = &mut *state;
                admission.admit_or_queue(limits, desk.in_site(job))
            }
        };
        self.look_for_room();
        if is_admitted { 0 } else { LIMIT }
    }

    /// Takes the present, for limits on time left.
    pub(super) fn advance_limits(&mut self, now: Time) {
        if !self.wears {
            return;
        }
        self.s.freed |= match &self.desk {
            None => {
                self.s.admission.advance_to(&self.known.limits, now);
                self.s.admission.is_due()
            }
            Some(desk) => {
                let mut state = desk.site.lock_state();
                let SiteState { limits, admission, .. } = &mut *state;
                admission.advance_to(limits, now);
                admission.is_due()
            }
        };
        self.look_for_room();
    }

    /// A job has started: what it takes of limits on time left wears off.
    pub(super) fn start_wearing(&mut self, job: JobId, now: Time) {
        match &self.desk {
            None => self.s.admission.note_start(&self.known.limits, job, now),
            Some(desk) => {
                let mut state = desk.site.lock_state();
                let SiteState { limits, admission, .. } = &mut *state;
                admission.note_start(limits, desk.in_site(job), now);
            }
        }
        self.look_for_room();
    }

    fn look_for_room(&mut self) {
        if self.wears && self.desk.is_none() {
            self.s.room = self.s.admission.next_room(&self.known.limits);
        }
    }

    /// Returns the time at which a job may be admitted because others have less time left.
    pub(super) fn next_room(&self) -> Option<Time> {
        match &self.desk {
            None => self.s.room,
            Some(desk) => {
                let state = desk.site.lock_state();
                state.admission.next_room(&state.limits)
            }
        }
    }

    /// A job that asked for admission has gone: others may be admitted in its place, when all that
    /// go in this instant have.
    pub(super) fn leave_limits(&mut self, job: JobId) {
        if self.known.limits.set_of(job).is_none() {
            return;
        }
        self.s.freed |= match &self.desk {
            None => {
                self.s.admission.note_departure(&self.known.limits, job);
                self.s.admission.is_due()
            }
            Some(desk) => {
                let mut state = desk.site.lock_state();
                let SiteState { limits, admission, .. } = &mut *state;
                admission.note_departure(limits, desk.in_site(job));
                admission.is_due()
            }
        };
        self.look_for_room();
    }

    /// Admits jobs in the place of those that have gone. Returns whether any could have been.
    pub(super) fn admit_waiting(&mut self) -> bool {
        if !std::mem::take(&mut self.s.freed) {
            return false;
        }
        let admitted_jobs = match &self.desk {
            None => self.s.admission.admit_fitting(&self.known.limits),
            Some(desk) => {
                let mut state = desk.site.lock_state();
                let SiteState { limits, admission, admitted } = &mut *state;
                admitted.extend(admission.admit_fitting(limits));
                drop(state);
                desk.take_admitted()
            }
        };
        self.look_for_room();
        self.release_jobs(admitted_jobs);
        true
    }

    /// Takes jobs that ends on other machines have admitted by now.
    pub(super) fn collect_admitted(&mut self, now: Time) {
        let Some(desk) = &self.desk else { return };
        let admitted_jobs = desk.take_admitted();
        if !admitted_jobs.is_empty() {
            self.s.now = self.s.now.max(now);
            self.release_jobs(admitted_jobs);
        }
    }

    fn release_jobs(&mut self, jobs: Vec<JobId>) {
        for job in jobs {
            self.s.held.remove(&job);
            self.s.at_once.push_back(self.simulated_id(job));
        }
    }

    /// Jobs that waited or were tried wait for a limit again, also those that do not know yet that
    /// they were admitted. Returns their numbers in the simulation.
    pub(super) fn hold_for_limits(&mut self, jobs: Vec<JobId>) -> Vec<JobId> {
        if let Some(desk) = &self.desk {
            let withdrawn: BTreeSet<JobId> = jobs.iter().map(|&job| desk.in_site(job)).collect();
            desk.site.lock_state().admitted.retain(|job| !withdrawn.contains(job));
        }
        jobs.iter().for_each(|&job| _ = self.s.held.insert(job, LIMIT));
        let ids: Vec<JobId> = jobs.into_iter().map(|job| self.simulated_id(job)).collect();
        self.s.at_once.retain(|id| !ids.contains(id));
        ids
    }

    pub(super) fn waits_for_limit(&self, job: JobId) -> bool {
        self.s.held.get(&job).is_some_and(|&reasons| reasons == LIMIT)
    }

    pub(super) fn limit_of_held(&self, job: JobId) -> Option<JobLimit> {
        if !self.waits_for_limit(job) {
            return None;
        }
        match &self.desk {
            None => {
                let limits = &self.known.limits;
                let limit = self.s.admission.limit_of(limits, job)?;
                limits.limits().get(limit as usize).cloned()
            }
            Some(desk) => {
                let state = desk.site.lock_state();
                let limit = state.admission.limit_of(&state.limits, desk.in_site(job))?;
                state.limits.limits().get(limit as usize).cloned()
            }
        }
    }
}
