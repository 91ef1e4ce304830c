//! The waiting jobs in the order of their arrival, with what observations have of each.

use drystone::model::{Job, JobId, Procs, Span};

/// A waiting job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeskJob {
    pub(crate) submit: i64,
    pub(crate) prediction: i64,
    pub(crate) id: u32,
    pub(crate) procs: Procs,
    /// Index of the fixed part of its row.
    slot: u32,
}

/// The queue in the order of arrival. A job is one entry, so that its removal moves one piece of
/// memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueRows {
    pub(crate) jobs: Vec<DeskJob>,
    rows: Vec<Fixed>,
    unused: Vec<u32>,
}

impl QueueRows {
    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        // The memory stays.
        self.jobs.clear();
        self.rows.clear();
        self.unused.clear();
    }

    #[inline]
    pub(crate) fn fixed_features(&self, job: &DeskJob) -> &Fixed {
        &self.rows[job.slot as usize]
    }

    /// A job arrives, or comes back, with the fixed part of its row.
    pub(crate) fn add_job(&mut self, id: JobId, job: &Job, prediction: Span, row: Fixed) {
        let at = match self.jobs.last() {
            Some(last) if last.id >= id.0 => match self.search_position(id) {
                Ok(_) => return,
                Err(at) => at,
            },
            _ => self.jobs.len(),
        };
        let slot = match self.unused.pop() {
            Some(slot) => {
                self.rows[slot as usize] = row;
                slot
            }
            None => {
                self.rows.push(row);
                self.rows.len() as u32 - 1
            }
        };
        let queued_job = DeskJob { submit: job.submit.0, prediction: prediction.0, id: id.0, procs: job.procs, slot };
        if at == self.jobs.len() {
            self.jobs.push(queued_job);
        } else {
            self.jobs.insert(at, queued_job);
        }
    }

    /// A job has another prediction, and with it another row.
    pub(crate) fn update_prediction(&mut self, id: JobId, prediction: Span, row: Fixed) {
        if let Some(at) = self.find_position(id) {
            self.jobs[at].prediction = prediction.0;
            self.rows[self.jobs[at].slot as usize] = row;
        }
    }

    fn search_position(&self, id: JobId) -> Result<usize, usize> {
        self.jobs.binary_search_by_key(&id.0, |job| job.id)
    }

    #[inline]
    pub(crate) fn find_position(&self, id: JobId) -> Option<usize> {
        self.search_position(id).ok()
    }

    pub(crate) fn remove(&mut self, at: usize) -> DeskJob {
        let job = self.jobs.remove(at);
        self.unused.push(job.slot);
        job
    }
}

/// Most features of a row.
pub(crate) const MOST: usize = 16;

/// The part of a row that stays the same while a job waits.
pub(crate) type Fixed = [f32; MOST];
