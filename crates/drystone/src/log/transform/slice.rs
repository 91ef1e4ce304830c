//! Pieces of a workload: by time, by calendar month.

use crate::log::LogError;
use crate::metrics::Calendar;
use crate::model::{Provenance, Setting, Time, Workload, WorkloadError};
use std::ops::Range;

/// The places of the jobs submitted at or after `from` and before `until`; `None` is no limit.
///
/// Cost: O(log n).
#[must_use]
pub fn find_submitted(workload: &Workload, from: Option<Time>, until: Option<Time>) -> Range<usize> {
    let before = |limit: Time| workload.jobs().partition_point(|job| job.submit < limit);
    let start = from.map_or(0, before);
    let end = until.map_or(workload.len(), before);
    start..end.max(start)
}

/// The places of the jobs of each calendar month of submits, by name (`1997-03`), in order of time.
/// Months are those of the log's time zone, else UTC.
///
/// # Errors
/// The workload does not know its calendar.
///
/// Cost: O(n).
pub fn calendar_months(workload: &Workload) -> Result<Vec<(String, Range<usize>)>, LogError> {
    let calendar = build_calendar(&workload.provenance)?;
    let mut months: Vec<(i64, Range<usize>)> = Vec::new();
    for (at, job) in workload.jobs().iter().enumerate() {
        let month = calendar.month_number(job.submit);
        match months.last_mut() {
            Some((last, range)) if *last == month => range.end = at + 1,
            _ => months.push((month, at..at + 1)),
        }
    }
    Ok(months.into_iter().map(|(month, range)| (calendar.month_name(month), range)).collect())
}

/// Tells calendar months of submits, for logs that know theirs.
///
/// # Errors
/// The provenance has no `UnixStartTime`.
pub fn build_calendar(provenance: &Provenance) -> Result<Calendar, LogError> {
    if provenance.unix_start.is_none() {
        let missing = "UnixStartTime".to_string();
        return Err(LogError::NoCalendar { name: provenance.name.clone(), missing });
    }
    Ok(Calendar::new(Time::ZERO, provenance))
}

/// The jobs at these places as a workload of their own, with `setting` added to its provenance.
/// Times stay.
///
/// # Errors
/// None for places within the workload; places beyond are ignored.
pub fn cut_piece(workload: &Workload, places: Range<usize>, setting: Setting) -> Result<Workload, WorkloadError> {
    let end = places.end.min(workload.len());
    let places = places.start.min(end)..end;
    let mut provenance = workload.provenance.clone();
    provenance.settings.push(setting);
    let (jobs, truth) = (workload.jobs()[places.clone()].to_vec(), workload.truth()[places.clone()].to_vec());
    let resources = workload.resources().cloned();
    let piece = Workload::with_resources(workload.machine(), resources, jobs, truth, provenance)?;
    let shapes = workload.shapes().map(|shapes| std::sync::Arc::new(shapes.slice_jobs(places.clone())));
    let piece = piece.with_shapes(shapes);
    match workload.circumstances() {
        None => Ok(piece),
        Some(circumstances) => piece.with_circumstances(circumstances.slice_jobs(places.start, places.end)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, LogStatus, Machine, Span, Truth};

    /// Jobs at these submits. Time zero is 1996-09-23 14:00:31 in Stockholm, as in the KTH log.
    fn workload(submits: &[i64]) -> Workload {
        let jobs = submits.iter().map(|&s| Job::new(Time(s), 1, Span(1))).collect();
        let truth =
            (1..).take(submits.len()).map(|number| Truth { run: Span(1), number, status: LogStatus::Completed });
        let provenance = Provenance {
            unix_start: Some(843_480_031),
            time_zone: Some("Europe/Stockholm".to_string()),
            ..Provenance::default()
        };
        Workload::new(Machine::new(1), jobs, truth.collect(), provenance).expect("valid")
    }

    #[test]
    fn limits_are_from_inclusive_to_exclusive() {
        let w = workload(&[0, 5, 5, 9]);
        assert_eq!(find_submitted(&w, Some(Time(5)), Some(Time(9))), 1..3);
        assert_eq!(find_submitted(&w, None, Some(Time(5))), 0..1);
        assert_eq!(find_submitted(&w, Some(Time(6)), None), 3..4);
        assert_eq!(find_submitted(&w, Some(Time(9)), Some(Time(1))), 3..3);
    }

    #[test]
    fn months_begin_at_midnight_of_local_time() {
        // Midnight of 1 October 1996 in Stockholm (UTC+2) is 1996-09-30 22:00:00 UTC, Unix time
        // 844120800.
        let midnight = 844_120_800 - 843_480_031;
        let w = workload(&[0, midnight - 1, midnight, midnight + 1]);
        let months = calendar_months(&w).expect("has a calendar");
        assert_eq!(months, [("1996-09".to_string(), 0..2), ("1996-10".to_string(), 2..4)]);
    }

    #[test]
    fn a_piece_keeps_times_and_says_what_it_is() {
        let setting = Setting { name: "slice".to_string(), value: "5..9".to_string() };
        let p = cut_piece(&workload(&[0, 5, 5, 9]), 1..3, setting.clone()).expect("valid");
        assert_eq!(p.submit_range(), Some((Time(5), Time(5))));
        assert_eq!(p.provenance.settings, [setting]);
    }

    #[test]
    fn months_need_a_calendar() {
        let (machine, jobs, truth, _) = workload(&[0]).into_parts();
        let w = Workload::new(machine, jobs, truth, Provenance::default()).expect("valid");
        assert!(matches!(calendar_months(&w), Err(LogError::NoCalendar { .. })));
    }
}
