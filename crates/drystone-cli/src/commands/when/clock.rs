//! Times as people read them: rounded, in their zone.

use crate::exit::CommandFailure;
use jiff::{Timestamp, Zoned, tz::TimeZone};

/// Hours and dates of a zone.
pub(super) struct ZoneClock {
    zone: TimeZone,
}

impl ZoneClock {
    pub(super) fn in_zone(name: Option<&str>) -> Result<ZoneClock, CommandFailure> {
        let zone = match name {
            None => TimeZone::UTC,
            Some(name) => TimeZone::get(name).map_err(|_| {
                CommandFailure::usage_error(format_args!(
                    "--timezone: there is no zone `{name}`; expected a name such as Europe/Berlin"
                ))
            })?,
        };
        Ok(ZoneClock { zone })
    }

    fn zoned_time(&self, time: i64) -> Option<Zoned> {
        Some(Zoned::new(Timestamp::from_second(time).ok()?, self.zone.clone()))
    }

    /// `Tue 14:20`, seen from `now`; with the date beyond six days.
    pub(super) fn day_and_hour(&self, now: i64, ahead: i64, rounding: TimeRounding) -> String {
        self.format_time(now, ahead, "%a %d %b %H:%M", rounding)
    }

    /// A time that is known, to the minute.
    pub(super) fn format_known(&self, now: i64, ahead: i64) -> String {
        let Some(at) = self.zoned_time(now + ahead) else { return "no date".to_string() };
        at.strftime(if ahead > 6 * 86_400 { "%a %d %b %H:%M" } else { "%a %H:%M" }).to_string()
    }

    /// Day and hour in ten columns: beyond six days the date only.
    pub(super) fn day_or_hour(&self, now: i64, ahead: i64, rounding: TimeRounding) -> String {
        self.format_time(now, ahead, "%a %d %b", rounding)
    }

    fn format_time(&self, now: i64, ahead: i64, far: &str, rounding: TimeRounding) -> String {
        let step = rounding_step(ahead);
        let time = (now + ahead + rounding.rounding_offset(step)).div_euclid(step) * step;
        let Some(at) = self.zoned_time(time) else { return "no date".to_string() };
        at.strftime(if ahead > 6 * 86_400 { far } else { "%a %H:%M" }).to_string()
    }
}

/// Direction in which a time is rounded: a bound stays one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TimeRounding {
    /// Of times before which nothing happens.
    Down,
    Nearest,
    /// Of times by which something has happened.
    Up,
}

impl TimeRounding {
    /// Seconds to be added before the rest of a step is dropped.
    fn rounding_offset(self, step: i64) -> i64 {
        match self {
            TimeRounding::Down => 0,
            TimeRounding::Nearest => step / 2,
            TimeRounding::Up => step - 1,
        }
    }
}

/// Returns the rounding step of times this far ahead, in seconds.
fn rounding_step(ahead: i64) -> i64 {
    match ahead {
        i64::MIN..1_800 => 60,
        1_800..7_200 => 300,
        7_200..86_400 => 900,
        _ => 3600,
    }
}

/// A span, rounded as finely as [`ZoneClock::day_and_hour`] rounds.
pub(super) fn format_span(seconds: i64) -> String {
    let step = rounding_step(seconds);
    let minutes = (seconds.max(0) + step / 2).div_euclid(step) * step / 60;
    match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
        (0, 0, 0) => "under a minute".to_string(),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, 0) => format!("{hours} h"),
        (0, hours, minutes) => format!("{hours} h {minutes:02} min"),
        (days, 0, _) => format!("{days} d"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

/// A limit: `12:00:00`, `1-00:00:00`.
pub(super) fn format_limit(seconds: i64) -> String {
    let clock = format!("{}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    if seconds >= 86_400 { format!("{}-{clock}", seconds / 86_400) } else { clock }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_further_ahead_is_told_less_finely() {
        assert_eq!(
            [20, 100, 200, 3500, 5000, 10_000, 100_000, 200_000].map(format_span),
            ["under a minute", "2 min", "3 min", "1 h", "1 h 25 min", "2 h 45 min", "1 d 4 h", "2 d 8 h"]
        );
        let clock = ZoneClock::in_zone(Some("Europe/Berlin")).map_err(|e| e.message().to_string()).expect("known");
        // 1,700,000,000 is Tuesday, 14 November 2023, 23:13:20 in Berlin.
        use TimeRounding::{Down, Nearest, Up};
        let at = |ahead: i64| [Down, Nearest, Up].map(|rounding| clock.day_and_hour(1_700_000_000, ahead, rounding));
        assert_eq!(at(0), ["Tue 23:13", "Tue 23:13", "Tue 23:14"]);
        assert_eq!(at(600), ["Tue 23:23", "Tue 23:23", "Tue 23:24"]);
        assert_eq!(at(3_600), ["Wed 00:10", "Wed 00:15", "Wed 00:15"]);
        assert_eq!(at(8 * 86_400), ["Wed 22 Nov 23:00", "Wed 22 Nov 23:00", "Thu 23 Nov 00:00"]);
        assert_eq!(clock.day_or_hour(1_700_000_000, 8 * 86_400, Nearest), "Wed 22 Nov");
        assert!(ZoneClock::in_zone(Some("Mars/Base")).is_err());
    }

    #[test]
    fn limits_are_written_as_slurm_writes_them() {
        assert_eq!([1800, 43_200, 90_061].map(format_limit), ["0:30:00", "12:00:00", "1-1:01:01"]);
    }
}
