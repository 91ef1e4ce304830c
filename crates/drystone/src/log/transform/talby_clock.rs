//! Clock of Talby & Feitelson's study.

use crate::log::LogError;
use crate::log::swf::{SwfHeader, SwfRecord};
use crate::metrics::Calendar;
use crate::model::{Provenance, Time};
use jiff::{Timestamp, tz::TimeZone};

/// The clock on the wall by which Talby & Feitelson saw their log.
pub(in crate::log) struct TalbyClock {
    pub(super) calendar: Calendar,
    pub(super) zone: TimeZone,
    pub(super) start: i64,
    /// Seconds by which local time was ahead of UTC at the start.
    pub(super) at_start: i64,
    pub(super) name: String,
}

impl TalbyClock {
    pub(in crate::log) fn new(header: &SwfHeader, name: &str) -> Result<TalbyClock, LogError> {
        let missing = |missing: &str| LogError::NoCalendar { name: name.to_string(), missing: missing.to_string() };
        let start = header.unix_start().ok_or_else(|| missing("UnixStartTime"))?;
        let zone_name = header.time_zone();
        let zone = zone_name
            .as_deref()
            .and_then(|name| TimeZone::get(name).ok())
            .ok_or_else(|| missing("TimeZoneString with the name of a time zone"))?;
        let calendar = super::build_calendar(&Provenance {
            name: name.to_string(),
            unix_start: Some(start),
            time_zone: zone_name,
            ..Provenance::default()
        })?;
        let mut clock = TalbyClock { calendar, zone, start, at_start: 0, name: name.to_string() };
        clock.at_start = clock.seconds_ahead(0)?;
        Ok(clock)
    }

    /// Seconds by which local time is ahead of UTC. Times are within ±2⁴⁰ s, some of which are
    /// beyond all calendars.
    pub(super) fn seconds_ahead(&self, time: i64) -> Result<i64, LogError> {
        let unix = self.start.checked_add(time).and_then(|unix| Timestamp::from_second(unix).ok());
        unix.map(|unix| i64::from(self.zone.to_offset(unix).seconds())).ok_or_else(|| LogError::NoCalendar {
            name: self.name.clone(),
            missing: "UnixStartTime to give years up to 9999 for all times".to_string(),
        })
    }

    /// Returns the month of a record and the record as it was seen; `None` of a job that ended in
    /// another month than that of its submit.
    pub(in crate::log) fn read_record(&self, record: &SwfRecord) -> Result<Option<(i64, SwfRecord)>, LogError> {
        let submit = record.submit.round();
        let wait = record.wait.round().max(0);
        let (start, end) = (submit + wait, submit + wait + record.run.round().max(0));
        let month = self.calendar.month_number(Time(submit));
        if self.calendar.month_number(Time(end)) != month {
            return Ok(None);
        }
        let start_seen = start + self.seconds_ahead(start)? - self.at_start;
        let end_seen = end + self.seconds_ahead(end)? - self.at_start;
        let copy = SwfRecord { submit: (start_seen - wait).into(), run: (end_seen - start_seen).into(), ..*record };
        Ok(Some((month, copy)))
    }
}
