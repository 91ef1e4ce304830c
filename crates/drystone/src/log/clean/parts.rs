//! Jobs that a log has in parts: a line for each execution between two checkpoints, or between
//! being swapped out and in.
//!
//! The Standard Workload Format gives the lines of one job one number, one after another. The first
//! may be the whole job (status 0 or 1), whose run time is the sum of the others; then the parts
//! must not count beside it. Where it is missing, the parts are all that there is of the job: they
//! are joined. A part has status 2 where another follows, else 3 (completed) or 4 (failed).

use crate::log::swf::{SwfDecimal, SwfRecord};

/// Role of a record in the job that it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RecordPart {
    /// A job by itself.
    Whole,
    /// A part of a job whose whole is a record before.
    OfWhole,
    /// The first part of a job that has no record of the whole.
    First,
    /// A further part of it.
    Further,
}

/// The parts of the job that is read at present.
#[derive(Default)]
pub(super) struct RecordParts {
    /// Number of the last record.
    last: Option<i64>,
    /// Sum of the parts so far of a job without a whole.
    joined: Option<SwfRecord>,
}

impl RecordParts {
    /// Returns the role of this record. A part is joined to those before it.
    pub(super) fn take_record(&mut self, record: &SwfRecord) -> RecordPart {
        let again = self.last.replace(record.number) == Some(record.number);
        if !matches!(record.status, 2..=4) {
            return RecordPart::Whole;
        }
        match &mut self.joined {
            Some(job) if again && job.number == record.number => {
                let whole_seconds = |time: SwfDecimal| time.round().max(0);
                if record.run.round() >= 0 {
                    job.run = SwfDecimal::from(whole_seconds(job.run).saturating_add(whole_seconds(record.run)));
                }
                job.status = whole_status(record.status);
                RecordPart::Further
            }
            _ if again => RecordPart::OfWhole,
            _ => RecordPart::First,
        }
    }

    /// Keeps the first part of a job.
    pub(super) fn begin_job(&mut self, record: &SwfRecord) {
        self.joined = Some(SwfRecord { status: whole_status(record.status), ..*record });
    }

    /// The job that is complete as soon as a record of another comes.
    pub(super) fn take_complete(&mut self) -> Option<SwfRecord> {
        self.joined.take()
    }
}

/// The status of a job whose last part so far has this one.
fn whole_status(status: i64) -> i64 {
    match status {
        3 => 1,
        4 => 0,
        other => other,
    }
}
