//! A scheduler at work, told of events one by one: the engine's `Session`.

use crate::error;
use crate::job_numbers::job_id;
use crate::objects::ObjectSlot;
use crate::view::PyJob;
use drystone::engine::{PolicyViolation, Session};
use drystone::model::{Job, JobId, Machine, Span, Time};
use drystone::policy::{Action, PolicySpec};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// A session, and why it is of no more use.
struct InnerSession {
    session: Session,
    broken: Option<PolicyViolation>,
}

/// A scheduler at work. Time is an argument of every call; it never goes back.
#[pyclass(frozen, name = "Session", module = "drystone._drystone")]
pub(crate) struct PySession {
    inner: Mutex<InnerSession>,
    slots: Vec<Py<ObjectSlot>>,
    #[pyo3(get)]
    policy: String,
}

impl PySession {
    /// The session, if it is of any use.
    fn usable_session(&self) -> PyResult<MutexGuard<'_, InnerSession>> {
        // A call that waited here would hold the interpreter's lock, which a policy at work may
        // need.
        let inner = match self.inner.try_lock() {
            Ok(inner) => inner,
            Err(TryLockError::Poisoned(poison)) => poison.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let problem = "the session is at work: its own policy, or another thread, uses it now";
                return Err(PyRuntimeError::new_err(problem));
            }
        };
        match &inner.broken {
            Some(broken) => {
                let message = format!(
                    "the policy broke its contract before ({broken}): this session is of no more use; begin a new one"
                );
                Err(error::violation_error(broken, &message))
            }
            None => Ok(inner),
        }
    }

    /// Raises what an object of Python has raised in a call.
    fn check_objects(&self) -> PyResult<()> {
        let failures: Vec<PyErr> =
            self.slots.iter().filter_map(|slot| slot.get().held_object().take_failure()).collect();
        failures.into_iter().next().map_or(Ok(()), Err)
    }
}

#[pymethods]
impl PySession {
    #[new]
    fn new(procs: u32, policy: &str, slots: Vec<Py<ObjectSlot>>) -> PyResult<PySession> {
        let spec: PolicySpec = policy.parse().map_err(|e| error::spec_error(&e))?;
        if procs == 0 {
            return Err(error::wrong_error("a machine needs at least one processor"));
        }
        let session = Session::new(Machine::new(procs), spec.build_scheduler());
        if session.is_clairvoyant() {
            return Err(error::wrong_error(format!(
                "policy {spec}: it has to know run times, which no session can tell it"
            )));
        }
        Ok(PySession {
            inner: Mutex::new(InnerSession { session, broken: None }),
            slots,
            policy: spec.text().to_string(),
        })
    }

    /// A job arrives; answers its id, in the order of arrival from 0.
    #[pyo3(signature = (now, *, procs, estimate, user=-1, group=-1, executable=-1, queue=-1, partition=-1, memory_kb=-1))]
    #[expect(clippy::too_many_arguments, reason = "each is an attribute of a job, given by name")]
    fn arrive(
        &self,
        now: i64,
        procs: u32,
        estimate: i64,
        user: i32,
        group: i32,
        executable: i32,
        queue: i32,
        partition: i32,
        memory_kb: i64,
    ) -> PyResult<u32> {
        let mut job = Job::new(Time(now), procs, Span(estimate)).with_user(user);
        (job.group, job.executable, job.queue) = (group, executable, queue);
        (job.partition, job.memory_kb) = (partition, memory_kb);
        let id = self.usable_session()?.session.note_arrival(Time(now), &job, None).map_err(error::wrong_error)?;
        self.check_objects()?;
        Ok(id.0)
    }

    /// A running job ends; answers whether there was such a job.
    fn end(&self, now: i64, job: &Bound<'_, PyAny>) -> PyResult<bool> {
        let end_result = self.usable_session()?.session.end_job(Time(now), job_id(job)?);
        self.check_objects()?;
        Ok(end_result)
    }

    /// Predictions that have expired by now are corrected, and the policy is woken if it asked for
    /// that.
    fn expire(&self, now: i64) -> PyResult<()> {
        self.usable_session()?.session.expire_due(Time(now));
        self.check_objects()
    }

    /// A waiting or suspended job is withdrawn; answers whether there was such a job.
    fn cancel(&self, now: i64, job: &Bound<'_, PyAny>) -> PyResult<bool> {
        let cancel_result = self.usable_session()?.session.withdraw_job(Time(now), job_id(job)?);
        self.check_objects()?;
        Ok(cancel_result)
    }

    /// One scheduling pass: what is to be carried out on the machine, in order, as (action, job,
    /// time) with the start that is announced as the time of a reservation.
    fn decide(&self, now: i64) -> PyResult<Vec<(&'static str, u32, Option<i64>)>> {
        let mut inner = self.usable_session()?;
        let decision = inner.session.decide(Time(now)).map(|actions| actions.list().to_vec());
        let actions = match decision {
            Ok(actions) => actions,
            Err(violation) => {
                let message = format!("policy {}: {violation}", self.policy);
                inner.broken = Some(violation.clone());
                drop(inner);
                self.check_objects()?;
                return Err(error::violation_error(&violation, &message));
            }
        };
        drop(inner);
        self.check_objects()?;
        let action_row = |action: &Action| match *action {
            Action::Start { job, .. } => Some(("start", job.0, None)),
            Action::Suspend(job) => Some(("suspend", job.0, None)),
            Action::Resume(job) | Action::ResumeOn { job, .. } | Action::ResumeWith { job, .. } => {
                Some(("resume", job.0, None))
            }
            Action::Kill(job) => Some(("kill", job.0, None)),
            Action::Reserve { job, start, .. } => Some(("reserve", job.0, Some(start.0))),
            Action::Repredict { job, prediction } => Some(("repredict", job.0, Some(prediction.0))),
            _ => None,
        };
        Ok(actions.iter().filter_map(action_row).collect())
    }

    /// Returns the next time at which something happens without an event from outside: a prediction
    /// expires, the policy wakes.
    #[getter]
    fn deadline(&self) -> PyResult<Option<i64>> {
        Ok(self.usable_session()?.session.next_due_time().map(|time| time.0))
    }

    /// Free processors.
    #[getter]
    fn free(&self) -> PyResult<u32> {
        Ok(self.usable_session()?.session.free_processors())
    }

    /// Ids of the waiting jobs, in the order of arrival.
    #[getter]
    fn waiting(&self) -> PyResult<Vec<u32>> {
        Ok(self.usable_session()?.session.view().waiting_jobs().map(|id| id.0).collect())
    }

    /// Ids of the running jobs, in the order of their predicted ends.
    #[getter]
    fn running(&self) -> PyResult<Vec<u32>> {
        Ok(self.usable_session()?.session.view().running_jobs().iter().map(|running| running.id.0).collect())
    }

    /// Returns the known facts of a job in the session.
    fn job(&self, job: &Bound<'_, PyAny>) -> PyResult<PyJob> {
        let id: JobId = job_id(job)?;
        let inner = self.usable_session()?;
        let view = inner.session.view();
        if !view.is_known(id) {
            return Err(PyKeyError::new_err(format!("there is no job {} here", id.0)));
        }
        Ok(PyJob::from_job(id, -1, view.job(id), Some(view.prediction(id))))
    }

    /// The whole state.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.usable_session()?.session.save().map_err(|e| error::snapshot_error(&e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Goes on from a saved state of a session with the same policy.
    fn load(&self, state: &[u8]) -> PyResult<()> {
        self.usable_session()?.session.load(state).map_err(|e| error::snapshot_error(&e))
    }
}
