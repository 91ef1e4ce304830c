//! A predictor written in Python. It learns a run time when the job has ended, never before.

use crate::job_numbers::{JobNumbers, number_of};
use crate::objects::{HeldObject, copy_object, pickle_object, unpickle_object};
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
    pub(crate) fn new(holder: Arc<HeldObject>) -> PyPredictor {
        let learns = holder.call_object(|py| holder.object.bind(py).hasattr("learn")).unwrap_or_else(|error| {
            holder.note_failure(error);
            false
        });
        PyPredictor {
            name: format!("python: {}", holder.identity),
            numbers: holder.job_numbers(),
            held: holder,
            learns,
            live: None,
        }
    }

    fn live_object<'a>(
        live: &'a mut Option<Py<PyAny>>,
        holder: &HeldObject,
        py: Python<'_>,
    ) -> PyResult<&'a Py<PyAny>> {
        match live {
            Some(live) => Ok(live),
            empty => Ok(empty.insert(copy_object(py, holder)?)),
        }
    }

    fn predict_run(&mut self, id: JobId, job: &Job) -> PyResult<Prediction> {
        let object = Arc::clone(&self.held);
        object.call_object(|py| {
            let live = PyPredictor::live_object(&mut self.live, &self.held, py)?;
            let python_job = Py::new(py, PyJob::from_job(id, number_of(self.numbers.as_ref(), id), job, None))?;
            let answer = live.call_method1(py, intern!(py, "predict"), (python_job,))?;
            let answer = answer.bind(py);
            if answer.is_none() {
                return Ok(Prediction::from_given(job.estimate));
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
            Ok(Prediction::from_learned(Span(seconds.round().clamp(0.0, TIME_LIMIT as f64) as i64)))
        })
    }

    fn learn_run(&mut self, id: JobId, job: &Job, ran: Span, now: Time) -> PyResult<()> {
        let object = Arc::clone(&self.held);
        object.call_object(|py| {
            let live = PyPredictor::live_object(&mut self.live, &self.held, py)?;
            let python_job = Py::new(py, PyJob::from_job(id, number_of(self.numbers.as_ref(), id), job, None))?;
            live.call_method1(py, intern!(py, "learn"), (python_job, ran.0, now.0)).map(drop)
        })
    }
}

impl Predictor for PyPredictor {
    fn name(&self) -> &str {
        &self.name
    }

    fn predict(&mut self, id: JobId, job: &Job, _oracle: Option<Span>) -> Prediction {
        if self.held.has_failed() {
            return Prediction::from_given(job.estimate);
        }
        self.predict_run(id, job).unwrap_or_else(|error| {
            self.held.note_failure(error);
            Prediction::from_given(job.estimate)
        })
    }

    fn is_learning(&self) -> bool {
        self.learns
    }

    fn learn_from_end(&mut self, id: JobId, job: &Job, ran: Span, now: Time) {
        if self.learns
            && !self.held.has_failed()
            && let Err(error) = self.learn_run(id, job, ran, now)
        {
            self.held.note_failure(error);
        }
    }
}

impl Snapshot for PyPredictor {
    fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        (pickle_object(&self.held, self.live.as_ref())?, self.live.is_some()).save()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let mut saved_state: (Vec<u8>, bool) = (Vec::new(), false);
        saved_state.load(bytes)?;
        let object = unpickle_object(&self.held, &saved_state.0)?;
        self.live = saved_state.1.then_some(object);
        Ok(())
    }
}
