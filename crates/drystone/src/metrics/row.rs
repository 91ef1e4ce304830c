//! Outcomes of jobs, in rows.

use crate::model::{EndedJob, How, JobId, Procs, Span, Time};
use serde::{Deserialize, Serialize};

/// Outcome of one job, in a row.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobRow {
    /// Position in the order of arrival.
    pub id: JobId,
    /// The log's number of the job (SWF field 1).
    pub number: i64,
    /// Arrival.
    pub submit: Time,
    /// First start.
    pub start: Time,
    /// End of the last run segment.
    pub end: Time,
    /// Run time received.
    pub ran: Span,
    /// Requested time.
    pub estimate: Span,
    /// Processors.
    pub procs: Procs,
    /// User, or −1.
    pub user: i32,
    /// Number of suspensions.
    pub suspensions: u32,
    /// Time spent suspended.
    pub suspended: Span,
    /// Cost of the suspensions on its processors.
    pub overhead: Span,
    /// Start first reserved for it.
    pub first_reservation: Option<Time>,
    /// Latest start that was first promised to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised: Option<Time>,
    /// Prediction of its run time at arrival.
    pub first_prediction: Span,
    /// Number of corrections of its prediction.
    pub corrections: u32,
    /// Accuracy of its predictions over its life.
    pub accuracy: Option<f64>,
    /// True if the selection counts it.
    pub counted: bool,
    /// Number of requeues; its start is that of the last attempt.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub requeues: u32,
    /// Time for which it was held back.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub held: Span,
    /// Way in which it ended. One that was lost with its processors is in
    /// [`Report::lost`](super::Report::lost).
    #[serde(default, skip_serializing_if = "is_completed")]
    pub ended: How,
}

fn is_completed(end_kind: &How) -> bool {
    *end_kind == How::Completed
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn is_nothing(span: &Span) -> bool {
    *span == Span::ZERO
}

impl JobRow {
    pub(super) fn new(job_end: &EndedJob<'_>, is_in_selection: bool) -> JobRow {
        let EndedJob { id, job, truth, outcome } = *job_end;
        JobRow {
            id,
            number: truth.number,
            submit: job.submit,
            start: outcome.start,
            end: outcome.end,
            ran: outcome.ran,
            estimate: job.estimate,
            procs: job.procs,
            user: job.user,
            suspensions: outcome.suspensions,
            suspended: outcome.suspended_time(),
            overhead: outcome.overhead,
            first_reservation: outcome.first_reservation,
            promised: None,
            first_prediction: outcome.first_prediction,
            corrections: outcome.corrections,
            accuracy: outcome.accuracy,
            counted: is_in_selection,
            requeues: outcome.requeues,
            held: outcome.held,
            ended: outcome.how,
        }
    }

    /// Time not running between submit and end.
    #[must_use]
    pub fn wait(&self) -> Span {
        self.response() - self.ran
    }

    /// End − submit.
    #[must_use]
    pub fn response(&self) -> Span {
        self.end - self.submit
    }
}
