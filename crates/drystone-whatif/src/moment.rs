//! Times of a site's clock.

use drystone::model::{Provenance, Time};
use drystone::times::{WrittenMoment, read_moment};
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

/// A text that is no time of a workload.
#[derive(Clone, Debug, thiserror::Error)]
pub enum MomentError {
    #[error("`{text}` is no second of the log")]
    NoSecond { text: String },
    #[error("the log does not say when its time 0 was (UnixStartTime); give a second of the log, such as @86400")]
    NoOrigin,
    #[error("`{text}` is no date and time of a calendar")]
    NoDate { text: String },
    #[error("`{text}`: {source}")]
    Calendar { text: String, source: jiff::Error },
}

/// A time of the workload: `@86400`, or a local time of its clock as Slurm's commands take it.
/// `now` is the end of the log.
///
/// # Errors
/// No time of a calendar, or a log that does not say when its time 0 was.
pub fn parse_moment(provenance: &Provenance, now: Time, text: &str) -> Result<Time, MomentError> {
    if let Some(second) = text.strip_prefix('@') {
        return second.parse().map(Time).map_err(|_| MomentError::NoSecond { text: text.to_string() });
    }
    let Some(start) = provenance.unix_start else {
        return Err(MomentError::NoOrigin);
    };
    let zone = match (&provenance.time_zone, provenance.utc_offset) {
        (Some(name), _) => TimeZone::get(name).unwrap_or(TimeZone::UTC),
        (None, Some(seconds)) => Offset::from_seconds(seconds).map_or(TimeZone::UTC, TimeZone::fixed),
        (None, None) => TimeZone::UTC,
    };
    let wrong = || MomentError::NoDate { text: text.to_string() };
    let present = Timestamp::from_second(start.saturating_add(now.0)).map_err(|_| wrong())?;
    let civil = zone.to_datetime(present);
    let local = read_moment(text, TimeZone::UTC.to_timestamp(civil).map_err(|_| wrong())?.as_second());
    match local.ok_or_else(wrong)? {
        WrittenMoment::FromNow(by) => Ok(Time(now.0.saturating_add(by))),
        WrittenMoment::Local(seconds) => {
            let local = Timestamp::from_second(seconds).map_err(|_| wrong())?;
            let zoned_time = TimeZone::UTC.to_datetime(local).to_zoned(zone);
            let zoned_time = zoned_time.map_err(|source| MomentError::Calendar { text: text.to_string(), source })?;
            Ok(Time(zoned_time.timestamp().as_second() - start))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_times_are_those_of_the_zone() {
        let provenance = Provenance {
            unix_start: Some(843_480_031),
            time_zone: Some("Europe/Stockholm".to_string()),
            ..Provenance::default()
        };
        // Midnight of 1 October 1996 in Stockholm is Unix time 844120800.
        let moment = |text: &str| parse_moment(&provenance, Time(86_400), text).ok();
        assert_eq!(moment("1996-10-01"), Some(Time(844_120_800 - 843_480_031)));
        assert_eq!(moment("@7"), Some(Time(7)));
        // A day after the start it is 1996-09-24, 12:00:31 UTC, and 14:00:31 in Stockholm.
        assert_eq!(moment("now-1hour"), Some(Time(82_800)));
        assert_eq!(moment("today"), Some(Time(86_400 - 50_431)));
        assert!(
            parse_moment(&provenance, Time(86_400), "1996-02-30T08:00")
                .is_err_and(|e| e.to_string().contains("calendar"))
        );
        assert!(
            parse_moment(&Provenance::default(), Time(0), "1996-10-01")
                .is_err_and(|e| e.to_string().contains("UnixStartTime"))
        );
    }
}
