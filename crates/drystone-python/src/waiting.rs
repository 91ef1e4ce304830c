//! The waiting jobs in the order of their arrival, as columns that numpy can take whole.

use crate::job_numbers::{JobNumbers, number_of};
use drystone::model::JobId;
use drystone::policy::View;

/// Columns in the order of arrival.
#[derive(Default, Clone)]
pub(crate) struct PyWaiting {
    pub(crate) id: Vec<i64>,
    pub(crate) submit: Vec<i64>,
    pub(crate) procs: Vec<i64>,
    pub(crate) estimate: Vec<i64>,
    pub(crate) prediction: Vec<i64>,
    /// Raised with every change.
    pub(crate) version: u64,
    /// The log's numbers of all jobs, where there is a log.
    pub(crate) numbers: Option<JobNumbers>,
}

impl PyWaiting {
    /// Returns the log's number of a job; −1 where it is not known.
    pub(crate) fn job_number(&self, id: JobId) -> i64 {
        number_of(self.numbers.as_ref(), id)
    }

    /// Returns the position of a job, or the one at which to insert it.
    fn find_position(&self, id: JobId) -> Result<usize, usize> {
        self.id.binary_search(&i64::from(id.0))
    }

    pub(crate) fn add_job(&mut self, id: JobId, view: &View<'_>) {
        let (job, prediction) = (view.job(id), view.prediction(id));
        let at = match self.id.last() {
            Some(&last) if last >= i64::from(id.0) => match self.find_position(id) {
                Ok(_) => return,
                Err(at) => at,
            },
            _ => self.id.len(),
        };
        self.version += 1;
        self.id.insert(at, i64::from(id.0));
        self.submit.insert(at, job.submit.0);
        self.procs.insert(at, i64::from(job.procs));
        self.estimate.insert(at, job.estimate.0);
        self.prediction.insert(at, prediction.0);
    }

    pub(crate) fn remove(&mut self, id: JobId) {
        let Ok(at) = self.find_position(id) else { return };
        self.version += 1;
        for column in [&mut self.id, &mut self.submit, &mut self.procs, &mut self.estimate, &mut self.prediction] {
            column.remove(at);
        }
    }

    pub(crate) fn update_prediction(&mut self, id: JobId, view: &View<'_>) {
        if let Ok(at) = self.find_position(id) {
            self.version += 1;
            self.prediction[at] = view.prediction(id).0;
        }
    }
}
