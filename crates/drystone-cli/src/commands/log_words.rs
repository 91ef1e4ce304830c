//! A story of a job of a log in the words of people: dates where the log has them, else days of the
//! log, and spans in the units that suit them.

use crate::output::number::format_duration;
use drystone::engine::explain::StoryWords;
use drystone::metrics::Calendar;
use drystone::model::{JobId, Span, Time, Workload};

/// Words of a log that lasts for more than a day.
pub(super) struct LogWords {
    /// Dates, where the log says when it was recorded.
    calendar: Option<Calendar>,
}

impl LogWords {
    /// Returns the words of this log, or `None` where seconds say it best: it has no dates and
    /// lasts for a day or less.
    pub(super) fn for_workload(workload: &Workload) -> Option<LogWords> {
        let (first, last) = (workload.jobs().first()?.submit, workload.jobs().last()?.submit);
        // Generators write 0: nothing was recorded in 1970.
        let has_dates = workload.provenance.unix_start.is_some_and(|start| start > 0);
        let calendar = has_dates.then(|| Calendar::new(first, &workload.provenance));
        (calendar.is_some() || last - first > Span::DAY).then_some(LogWords { calendar })
    }
}

pub(super) fn format_signed(by: Span) -> String {
    format!("{}{}", if by.0 < 0 { "\u{2212}" } else { "+" }, format_duration(by.0.unsigned_abs() as f64))
}

/// A moment as the day of the log, from 0, and the time of that day.
fn format_day(at: Time) -> String {
    let (day, second) = (at.0.div_euclid(Span::DAY.0), at.0.rem_euclid(Span::DAY.0));
    format!("day {day} {:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)
}

impl StoryWords for LogWords {
    fn format_moment(&self, at: Time) -> String {
        self.calendar.as_ref().and_then(|calendar| calendar.local_time(at)).unwrap_or_else(|| format_day(at))
    }

    fn format_span(&self, span: Span) -> String {
        format_duration(span.0 as f64)
    }

    fn format_change(&self, by: Span) -> String {
        format_signed(by)
    }

    fn format_job(&self, _: JobId, number: i64) -> String {
        number.to_string()
    }

    fn lines_beside(&self, _: JobId) -> String {
        match &self.calendar {
            Some(calendar) => format!("dates in {}:", calendar.zone_name()),
            None => "days since time 0 of the log:".to_string(),
        }
    }
}
