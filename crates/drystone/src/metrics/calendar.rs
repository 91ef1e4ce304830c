//! Weeks and calendar months of a workload.

use crate::model::{Provenance, Span, Time};
use jiff::{Timestamp, Zoned, civil::Date, tz};
use std::cell::Cell;

/// Length of a month where the log does not say when it was recorded.
const NOMINAL_MONTH: i64 = 30 * Span::DAY.0;

/// Tells the week and the calendar month of a submit.
///
/// Weeks are counted from the first submit. Months are those of the log's time zone (else UTC)
/// where its header gives `UnixStartTime`; otherwise they are periods of 30 days counted from the
/// first submit.
#[derive(Clone, Debug)]
pub struct Calendar {
    first_submit: Time,
    unix_start: Option<i64>,
    zone: tz::TimeZone,
    /// The month found last with its first second and the first second after it: most submits fall
    /// into the same.
    last_month: Cell<Option<(i64, Time, Time)>>,
}

fn find_zone(zone: &str) -> Option<tz::TimeZone> {
    tz::TimeZone::get(zone.trim_start_matches(':')).ok()
}

impl Calendar {
    /// A calendar for a workload with this first submit and origin.
    #[must_use]
    pub fn new(first_submit: Time, provenance: &Provenance) -> Calendar {
        let zone = provenance
            .time_zone
            .as_deref()
            .and_then(find_zone)
            .or_else(|| {
                let offset = tz::Offset::from_seconds(provenance.utc_offset?).ok()?;
                Some(tz::TimeZone::fixed(offset))
            })
            .unwrap_or(tz::TimeZone::UTC);
        Calendar { first_submit, unix_start: provenance.unix_start, zone, last_month: Cell::new(None) }
    }

    /// The zone whose days and hours these are: its name, its distance from UTC (`+01:00`), or UTC
    /// where the log gives neither, or an unknown name.
    #[must_use]
    pub fn zone_name(&self) -> String {
        match (self.zone.iana_name(), self.zone.to_fixed_offset()) {
            (Some(name), _) => name.to_string(),
            (None, Ok(offset)) => {
                let (sign, seconds) = (if offset.is_negative() { '-' } else { '+' }, offset.seconds().abs());
                format!("UTC{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60)
            }
            (None, Err(_)) => "UTC".to_string(),
        }
    }

    pub(crate) fn time_zone(&self) -> &tz::TimeZone {
        &self.zone
    }

    /// The name of a log's time zone, if there is no such zone.
    #[must_use]
    pub fn unknown_zone(provenance: &Provenance) -> Option<&str> {
        provenance.time_zone.as_deref().filter(|name| find_zone(name).is_none())
    }

    /// Number of the week, from 0.
    #[must_use]
    pub fn week_number(&self, time: Time) -> i64 {
        (time - self.first_submit).0.div_euclid(Span::WEEK.0)
    }

    /// Number of the month: 12 · year + month − 1 where the date is known, else the number of the
    /// 30-day period, from 0.
    #[must_use]
    pub fn month_number(&self, time: Time) -> i64 {
        if let Some((month, from, until)) = self.last_month.get()
            && (from..until).contains(&time)
        {
            return month;
        }
        let Some(month) = self.find_month(time) else {
            // No date, or one beyond what calendars can tell.
            return (time - self.first_submit).0.div_euclid(NOMINAL_MONTH);
        };
        self.last_month.set(Some(month));
        month.0
    }

    /// Day of the week, 0 is Monday, and hour of the day, in the log's time zone (else UTC). Where
    /// the log does not say when it was recorded, days and hours are counted from its time zero.
    #[must_use]
    pub fn weekday_and_hour(&self, time: Time) -> (usize, usize) {
        let from_date = || {
            let unix = time.0.checked_add(self.unix_start?)?;
            let local = Zoned::new(Timestamp::from_second(unix).ok()?, self.zone.clone());
            let weekday = local.weekday().to_monday_zero_offset();
            Some((usize::try_from(weekday).ok()?, usize::try_from(local.hour()).ok()?))
        };
        from_date().unwrap_or_else(|| {
            let (days, second) = (time.0.div_euclid(Span::DAY.0), time.0.rem_euclid(Span::DAY.0));
            (days.rem_euclid(7) as usize, (second / Span::HOUR.0) as usize)
        })
    }

    /// The date and the time of day in the log's time zone (else UTC), such as 1996-12-04 02:13:50;
    /// `None` where the log does not say when it was recorded.
    #[must_use]
    pub fn local_time(&self, time: Time) -> Option<String> {
        let unix = time.0.checked_add(self.unix_start?)?;
        let local = Zoned::new(Timestamp::from_second(unix).ok()?, self.zone.clone());
        Some(local.strftime("%Y-%m-%d %H:%M:%S").to_string())
    }

    fn find_month(&self, time: Time) -> Option<(i64, Time, Time)> {
        let origin = self.unix_start?;
        let unix = time.0.checked_add(origin)?;
        let date = Zoned::new(Timestamp::from_second(unix).ok()?, self.zone.clone()).date();
        let first = date.first_of_month();
        let next = date.last_of_month().tomorrow().ok()?;
        let start_of = |day: Date| -> Option<Time> {
            let second = day.to_zoned(self.zone.clone()).ok()?.timestamp().as_second();
            Some(Time(second.checked_sub(origin)?))
        };
        let month = i64::from(date.year()) * 12 + i64::from(date.month()) - 1;
        Some((month, start_of(first)?, start_of(next)?))
    }

    /// Returns the name of the month with this number.
    #[must_use]
    pub fn month_name(&self, month: i64) -> String {
        if self.unix_start.is_some() {
            format!("{:04}-{:02}", month.div_euclid(12), month.rem_euclid(12) + 1)
        } else {
            format!("30 days {}", month + 1)
        }
    }
}
