//! A predictor written in Python. It learns a run time when the job has ended, never before.

use crate::job_numbers::{JobNumbers, number_of};
use crate::objects::{HeldObject, fresh, pickled, unpickled};
use crate::view::PyJob;
use drystone::model::{Job, JobId, Span, TIME_LIMIT, Time};
use drystone::parts::predict::{Prediction, Predictor};
use drystone::policy::{Snapshot, SnapshotError};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::Arc;

/// The adapter.
pub(crate) struct PyPredictor {
    held: Arc<HeldObject>,
    name: String,
    learns: bool,
    numbers: Option<JobNumbers>,
    live: Option<Py<PyAny>>,
}

impl PyPredictor {
    pub(crate) fn new(held: Arc<HeldObject>) -> PyPredictor {
        let learns = held.call(|py| held.object.bind(py).hasattr("learn")).unwrap_or_else(|error| {
            held.fail(error);
            false
        });
        PyPredictor { name: format!("python: {}", held.identity), numbers: held.numbers(), held, learns, live: None }
    }

    fn live<'a>(live: &'a mut Option<Py<PyAny>>, held: &HeldObject, py: Python<'_>) -> PyResult<&'a Py<PyAny>> {
        match live {
            Some(live) => Ok(live),
            empty => Ok(empty.insert(fresh(py, held)?)),
        }
    }

    fn predicted(&mut self, id: JobId, job: &Job) -> PyResult<Prediction> {
        let held = Arc::clone(&self.held);
        held.call(|py| {
            let live = PyPredictor::live(&mut self.live, &self.held, py)?;
            let told = Py::new(py, PyJob::of(id, number_of(self.numbers.as_ref(), id), job, None))?;
            let answer = live.call_method1(py, intern!(py, "predict"), (told,))?;
            let answer = answer.bind(py);
            if answer.is_none() {
                return Ok(Prediction::given(job.estimate));
            }
            let seconds: f64 = answer.extract().map_err(|_| {
                PyTypeError::new_err(format!(
                    "predict answers a number of seconds or None (for the estimate), not {}",
                    answer.repr().map_or_else(|_| "this".to_string(), |text| text.to_string())
                ))
            })?;
            if seconds.is_nan() {
                return Err(PyValueError::new_err(format!("predict answered NaN for job {}", id.0)));
            }
            Ok(Prediction::learned(Span(seconds.round().clamp(0.0, TIME_LIMIT as f64) as i64)))
        })
    }

    fn learned(&mut self, id: JobId, job: &Job, ran: Span, now: Time) -> PyResult<()> {
        let held = Arc::clone(&self.held);
        held.call(|py| {
            let live = PyPredictor::live(&mut self.live, &self.held, py)?;
            let told = Py::new(py, PyJob::of(id, number_of(self.numbers.as_ref(), id), job, None))?;
            live.call_method1(py, intern!(py, "learn"), (told, ran.0, now.0)).map(drop)
        })
    }
}

impl Predictor for PyPredictor {
    fn name(&self) -> &str {
        &self.name
    }

    fn predict(&mut self, id: JobId, job: &Job, _oracle: Option<Span>) -> Prediction {
        if self.held.has_failed() {
            return Prediction::given(job.estimate);
        }
        self.predicted(id, job).unwrap_or_else(|error| {
            self.held.fail(error);
            Prediction::given(job.estimate)
        })
    }

    fn learns(&self) -> bool {
        self.learns
    }

    fn learn(&mut self, id: JobId, job: &Job, ran: Span, now: Time) {
        if self.learns
            && !self.held.has_failed()
            && let Err(error) = self.learned(id, job, ran, now)
        {
            self.held.fail(error);
        }
    }
}

impl Snapshot for PyPredictor {
    fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        (pickled(&self.held, self.live.as_ref())?, self.live.is_some()).save()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let mut saved: (Vec<u8>, bool) = (Vec::new(), false);
        saved.load(bytes)?;
        let object = unpickled(&self.held, &saved.0)?;
        self.live = saved.1.then_some(object);
        Ok(())
    }
}
