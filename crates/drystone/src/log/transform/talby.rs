//! The job set of Talby & Feitelson (1999).

use crate::log::LogError;
use crate::log::clean::{Cleaner, CleaningStudy};
use crate::log::swf::{SwfHeader, SwfRecord};
use crate::model::{Provenance, Time, Workload};
use jiff::{Timestamp, tz::TimeZone};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The jobs that best explain the tables of Talby & Feitelson (1999), by month (`1996-10`), from
/// the records of the uncleaned KTH log.
///
/// They simulated each month on its own and counted the jobs that were both submitted and ended in
/// it, by local time. Their time stamps were those of a clock on the wall, taken for seconds of an
/// even flow: a job that runs while the clocks are set back seems an hour shorter. So every start
/// and end is moved by what local time has gained on UTC since the log's start; the submit keeps
/// its distance to the start. Cleaning is that of [`CleaningStudy::Talby1999`].
///
/// # Errors
/// The header gives no calendar, or no machine.
pub fn talby1999_months(
    header: &SwfHeader,
    records: &[SwfRecord],
    name: &str,
) -> Result<Vec<(String, Workload)>, LogError> {
    let missing = |missing: &str| LogError::NoCalendar { name: name.to_string(), missing: missing.to_string() };
    let start = header.unix_start().ok_or_else(|| missing("UnixStartTime"))?;
    let zone_name = header.time_zone();
    let zone = zone_name
        .as_deref()
        .and_then(|name| TimeZone::get(name).ok())
        .ok_or_else(|| missing("TimeZoneString with the name of a time zone"))?;
    let calendar = super::calendar(&Provenance {
        name: name.to_string(),
        unix_start: Some(start),
        time_zone: zone_name,
        ..Provenance::default()
    })?;
    // Seconds by which local time is ahead of UTC. Times are within ±2⁴⁰ s, some of which are
    // beyond all calendars.
    let ahead = |time: i64| {
        let unix = start.checked_add(time).and_then(|unix| Timestamp::from_second(unix).ok());
        unix.map(|unix| i64::from(zone.to_offset(unix).seconds()))
            .ok_or_else(|| missing("UnixStartTime to give years up to 9999 for all times"))
    };
    let at_start = ahead(0)?;
    let mut months: BTreeMap<i64, Cleaner> = BTreeMap::new();
    for record in records {
        let submit = record.submit.round();
        let wait = record.wait.round().max(0);
        let (start, end) = (submit + wait, submit + wait + record.run.round().max(0));
        let month = calendar.month(Time(submit));
        if calendar.month(Time(end)) != month {
            continue;
        }
        let start_seen = start + ahead(start)? - at_start;
        let end_seen = end + ahead(end)? - at_start;
        let seen = SwfRecord { submit: (start_seen - wait).into(), run: (end_seen - start_seen).into(), ..*record };
        let cleaner = match months.entry(month) {
            Entry::Occupied(cleaner) => cleaner.into_mut(),
            Entry::Vacant(place) => {
                let title = format!("{name} {}", calendar.month_name(month));
                place.insert(Cleaner::new(header, CleaningStudy::Talby1999.options(), name, &title)?)
            }
        };
        cleaner.push(&seen)?;
    }
    months.into_iter().map(|(month, cleaner)| Ok((calendar.month_name(month), cleaner.finish()?.0))).collect()
}
