//! A story of a job of a log that says when it was recorded: its dates, and spans in the units that
//! suit them.

use crate::output::number::duration;
use drystone::engine::explain::Words;
use drystone::metrics::Calendar;
use drystone::model::{JobId, Span, Time, Workload};

/// Words of a log with dates.
pub(super) struct LogWords {
    calendar: Calendar,
}

impl LogWords {
    /// Returns the words of this log, or `None` where its header has no `UnixStartTime`.
    pub(super) fn of(workload: &Workload) -> Option<LogWords> {
        let first = workload.jobs().first()?.submit;
        let calendar = Calendar::new(first, &workload.provenance);
        calendar.local(first)?;
        Some(LogWords { calendar })
    }
}

/// A span with its sign.
pub(super) fn signed(by: Span) -> String {
    format!("{}{}", if by.0 < 0 { "\u{2212}" } else { "+" }, duration(by.0.unsigned_abs() as f64))
}

impl Words for LogWords {
    fn moment(&self, at: Time) -> String {
        self.calendar.local(at).unwrap_or_else(|| at.to_string())
    }

    fn span(&self, span: Span) -> String {
        duration(span.0 as f64)
    }

    fn change(&self, by: Span) -> String {
        signed(by)
    }

    fn job(&self, _: JobId, number: i64) -> String {
        number.to_string()
    }

    fn beside(&self, _: JobId) -> String {
        format!("dates in {}:", self.calendar.zone())
    }
}
