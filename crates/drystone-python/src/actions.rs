//! Requests of a policy written in Python, with the lines that made them.

use crate::error;
use crate::job_numbers::job_id;
use drystone::model::{JobId, Span, Time};
use drystone::policy::{Action, Placement, StartReason};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The line of Python that made requests.
struct RequestLine {
    /// Number of requests before it.
    before: usize,
    code: Py<PyAny>,
    line: i64,
}

/// Requests of one call.
#[derive(Default)]
struct RequestList {
    actions: Vec<Action>,
    lines: Vec<RequestLine>,
    /// True inside a call.
    open: bool,
}

/// Requests of a policy in one call, in order.
#[pyclass(frozen, name = "Actions", module = "drystone._drystone")]
#[derive(Default)]
pub(crate) struct PyActions {
    list: Mutex<RequestList>,
}

impl PyActions {
    fn lock_list(&self) -> MutexGuard<'_, RequestList> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes requests from now on.
    pub(crate) fn open(&self) {
        let mut list = self.lock_list();
        list.open = true;
        list.actions.clear();
        // Code may go with its last reference, and call this again.
        let lines = std::mem::take(&mut list.lines);
        drop(list);
        drop(lines);
    }

    /// Returns the requests and accepts no more.
    pub(crate) fn close(&self) -> Vec<Action> {
        let mut list = self.lock_list();
        list.open = false;
        list.actions.clone()
    }

    /// Returns the requests behind the first `count`, if any.
    pub(crate) fn requests_behind(&self, count: usize) -> Vec<Action> {
        self.lock_list().actions.get(count..).unwrap_or_default().to_vec()
    }

    /// Notes the line that calls, for the requests that follow.
    fn note_line(&self, py: Python<'_>) {
        static FRAME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let line = || -> PyResult<(Py<PyAny>, i64)> {
            let frame = FRAME.get_or_try_init(py, || py.import("sys")?.getattr("_getframe").map(Bound::unbind))?;
            let frame = frame.bind(py).call0()?;
            let code = frame.getattr(intern!(py, "f_code"))?.unbind();
            Ok((code, frame.getattr(intern!(py, "f_lineno"))?.extract()?))
        };
        if let Ok((code, line)) = line() {
            let mut list = self.lock_list();
            let before = list.actions.len();
            list.lines.push(RequestLine { before, code, line });
        }
    }

    /// File and line of the last request about a job in the last call.
    pub(crate) fn place_of(&self, py: Python<'_>, job: u32) -> Option<(String, i64)> {
        let (code, line) = {
            let list = self.lock_list();
            let about = |action: &Action| concerned_job(action) == Some(JobId(job));
            let at = list.actions.iter().rposition(about)?;
            let line = list.lines.iter().rfind(|entry| entry.before <= at)?;
            (line.code.clone_ref(py), line.line)
        };
        let file = code.bind(py).getattr(intern!(py, "co_filename")).ok()?.extract().ok()?;
        Some((file, line))
    }

    fn push(&self, action: Action) -> PyResult<()> {
        let mut list = self.lock_list();
        if !list.open {
            return Err(PyRuntimeError::new_err("actions are taken only inside the call that they were given to"));
        }
        list.actions.push(action);
        Ok(())
    }
}

/// The job that an action is about.
fn concerned_job(action: &Action) -> Option<JobId> {
    match *action {
        Action::Start { job, .. }
        | Action::StartWith { job, .. }
        | Action::Suspend(job)
        | Action::Resume(job)
        | Action::Reserve { job, .. }
        | Action::Repredict { job, .. } => Some(job),
        _ => None,
    }
}

/// A number of seconds, from Python or numpy.
fn parse_seconds(value: &Bound<'_, PyAny>, label: &str) -> PyResult<i64> {
    value.extract::<i64>().map_err(|_| PyTypeError::new_err(format!("{label} is a whole number of seconds")))
}

#[pymethods]
impl PyActions {
    /// Starts a waiting job, or each of several; with this size, if one is given and it is one of
    /// the job's, and then at one of its paces by number, 0 being the full one.
    #[pyo3(signature = (job, why="backfilled", procs=None, pace=0))]
    fn start(&self, job: &Bound<'_, PyAny>, why: &str, procs: Option<u32>, pace: u8) -> PyResult<()> {
        let reason = match why {
            "head" => StartReason::Head,
            "backfilled" => StartReason::Backfilled,
            "planned" => StartReason::Planned,
            "preempting" => StartReason::Preempting,
            other => {
                let problem = format!("why: there is no `{other}`; there are head, backfilled, planned, preempting");
                return Err(error::wrong_error(problem));
            }
        };
        self.note_line(job.py());
        if pace > 0 && procs.is_none() {
            return Err(error::wrong_error("pace goes with procs: start(job, procs=view.size(job), pace=1)"));
        }
        let start = |job| match procs {
            None => self.push(Action::Start { job, why: reason, on: Placement::Any }),
            Some(procs) => self.push(Action::StartWith { job, procs, pace, why: reason, on: Placement::Any }),
        };
        match job.extract::<u32>() {
            Ok(id) => start(JobId(id)),
            Err(_) if job.is_instance_of::<PyString>() => start(job_id(job)?),
            Err(_) => match job.try_iter() {
                Ok(several) => several.into_iter().try_for_each(|item| start(job_id(&item?)?)),
                Err(_) => start(job_id(job)?),
            },
        }
    }

    /// Takes a running job off its processors; it keeps its progress.
    fn suspend(&self, job: &Bound<'_, PyAny>) -> PyResult<()> {
        self.note_line(job.py());
        self.push(Action::Suspend(job_id(job)?))
    }

    /// Resumes a suspended job.
    fn resume(&self, job: &Bound<'_, PyAny>) -> PyResult<()> {
        self.note_line(job.py());
        self.push(Action::Resume(job_id(job)?))
    }

    /// Announces where a waiting job is planned to start, and the latest start that is promised:
    /// the same where it is left out, none where it is infinite.
    #[pyo3(signature = (job, start, latest=None))]
    fn reserve(
        &self,
        job: &Bound<'_, PyAny>,
        start: &Bound<'_, PyAny>,
        latest: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let start = Time(parse_seconds(start, "start")?);
        let latest = match latest {
            None => start,
            Some(value) if value.extract::<f64>().is_ok_and(f64::is_infinite) => Time::MAX,
            Some(value) => Time(parse_seconds(value, "latest")?),
        };
        self.note_line(job.py());
        self.push(Action::Reserve { job: job_id(job)?, start, latest })
    }

    /// Replaces the prediction of a job: its run time in total, in seconds.
    fn repredict(&self, job: &Bound<'_, PyAny>, prediction: &Bound<'_, PyAny>) -> PyResult<()> {
        let prediction = Span(parse_seconds(prediction, "prediction")?);
        self.note_line(job.py());
        self.push(Action::Repredict { job: job_id(job)?, prediction })
    }
}
