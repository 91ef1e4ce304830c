//! Jobs in several partitions. The queue has an entry for each, and the job starts by the first
//! that finds room.

use super::ModelSite;
use crate::model::Pending;

impl ModelSite {
    /// Notes the entries of a job that waits in several partitions.
    pub(super) fn note_partitions(&mut self, entries: &[Pending]) {
        if let [first, _, ..] = entries {
            self.several.insert(first.id, entries.to_vec());
        }
    }

    /// Returns the entries of a job: those of all its partitions.
    pub(super) fn entries_of(&self, job: &Pending) -> Vec<Pending> {
        let known_entries = self.several.get(&job.id).filter(|entries| job.several && !entries.is_empty());
        known_entries.cloned().unwrap_or_else(|| vec![job.clone()])
    }

    /// Removes the other entries of a job that has started by this one.
    pub(super) fn leave_other_partitions(&mut self, job: &Pending) {
        if !job.several {
            return;
        }
        self.drop_entries(job);
        if let Some(first) = self.several.get(&job.id).and_then(|entries| entries.first()).cloned() {
            self.move_submission(&first, job);
        }
    }

    /// Takes the entries of a job out of the queue.
    pub(super) fn drop_entries(&mut self, job: &Pending) {
        if job.several {
            self.queue.retain(|entry| entry.id != job.id);
        }
    }

    /// Returns whether a limit keeps a job from being submitted: one of the QOS of any of its
    /// partitions does.
    pub(super) fn is_refused(&self, entries: &[Pending]) -> bool {
        let Some(ledger) = &self.cluster.ledger else { return false };
        entries.iter().any(|entry| ledger.submission_reason(entry, &self.cluster.machine).is_some())
    }

    /// Moves the count of a submission from the partition of `from` to that of `to`: each
    /// partition may have a QOS with limits of its own.
    pub(super) fn move_submission(&mut self, from: &Pending, to: &Pending) {
        if let Some(ledger) = self.cluster.ledger.as_mut().filter(|_| from.part != to.part) {
            ledger.note_departure(from, &self.cluster.machine);
            ledger.submit(to, &self.cluster.machine);
        }
    }
}
