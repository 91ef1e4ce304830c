//! The waiting jobs in the order of their arrival, as columns, with what observations have of each.

use drystone::model::{Job, JobId, Procs, Span};

/// Columns in the order of arrival.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueColumns {
    pub(crate) id: Vec<u32>,
    pub(crate) submit: Vec<i64>,
    pub(crate) procs: Vec<Procs>,
    pub(crate) prediction: Vec<i64>,
    /// Index of the fixed part of each job's row.
    slot: Vec<u32>,
    rows: Vec<Fixed>,
    unused: Vec<u32>,
}

impl QueueColumns {
    pub(crate) fn len(&self) -> usize {
        self.id.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        // The memory stays.
        self.id.clear();
        self.submit.clear();
        self.procs.clear();
        self.prediction.clear();
        self.slot.clear();
        self.rows.clear();
        self.unused.clear();
    }

    /// The fixed part of the row of the job at a place.
    #[inline]
    pub(crate) fn fixed(&self, at: usize) -> &Fixed {
        &self.rows[self.slot[at] as usize]
    }

    /// A job arrives, or comes back, with the fixed part of its row.
    pub(crate) fn add(&mut self, id: JobId, job: &Job, prediction: Span, fixed: Fixed) {
        let at = match self.id.last() {
            Some(&last) if last >= id.0 => match self.id.binary_search(&id.0) {
                Ok(_) => return,
                Err(at) => at,
            },
            _ => self.id.len(),
        };
        let slot = match self.unused.pop() {
            Some(slot) => {
                self.rows[slot as usize] = fixed;
                slot
            }
            None => {
                self.rows.push(fixed);
                self.rows.len() as u32 - 1
            }
        };
        self.id.insert(at, id.0);
        self.submit.insert(at, job.submit.0);
        self.procs.insert(at, job.procs);
        self.prediction.insert(at, prediction.0);
        self.slot.insert(at, slot);
    }

    /// A job has another prediction, and with it another row.
    pub(crate) fn repredict(&mut self, id: JobId, prediction: Span, fixed: Fixed) {
        if let Some(at) = self.place(id) {
            self.prediction[at] = prediction.0;
            self.rows[self.slot[at] as usize] = fixed;
        }
    }

    /// Returns the position of a job in the queue.
    #[inline]
    pub(crate) fn place(&self, id: JobId) -> Option<usize> {
        self.id.binary_search(&id.0).ok()
    }

    /// The job at a place leaves.
    pub(crate) fn take(&mut self, at: usize) -> JobId {
        self.submit.remove(at);
        self.procs.remove(at);
        self.prediction.remove(at);
        self.unused.push(self.slot.remove(at));
        JobId(self.id.remove(at))
    }
}

/// Most features of a row.
pub(crate) const MOST: usize = 16;

/// The part of a row that stays the same while a job waits.
pub(crate) type Fixed = [f32; MOST];
