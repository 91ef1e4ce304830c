//! From local times to seconds since 1970, the hour that comes twice and the hour that is missing
//! included.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Times from here on are no accounting: the year 2106.
const END: i64 = u32::MAX as i64;

/// A stretch of time with one distance from UTC.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// Its beginning, in seconds since 1970.
    from: i64,
    /// Local time less UTC, in seconds.
    offset: i64,
}

/// Meaning of a local time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Local {
    /// One moment.
    Once(i64),
    /// Two moments: clocks were set back between them.
    Twice(i64, i64),
    /// None: clocks were set forward over it. The moment is what it would be had they not been yet.
    Skipped(i64),
}

/// A time zone, as a table of its changes from 1970 to 2106.
///
/// ```
/// use drystone_site::clock::{Local, Zone};
///
/// let zone = Zone::from_name("Europe/Berlin").expect("a zone");
/// let at = |text| zone.resolve_local(drystone_site::clock::parse_civil(text).expect("a time"));
/// assert_eq!(at("2026-01-01T01:00:00"), Local::Once(1_767_225_600));
/// // On 25 October 2026 clocks go back from three to two, on 29 March forward from two to three.
/// assert_eq!(at("2026-10-25T02:30:00"), Local::Twice(1_792_888_200, 1_792_891_800));
/// assert_eq!(at("2026-03-29T02:30:00"), Local::Skipped(1_774_747_800));
/// ```
#[derive(Clone, Debug)]
pub struct Zone {
    name: String,
    stretches: Vec<Stretch>,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no time zone; expected an IANA name such as Europe/Berlin, America/Toronto or UTC")]
pub struct UnknownZone(pub String);

impl Zone {
    /// The zone of an IANA name, or `UTC`.
    ///
    /// # Errors
    /// The name is not known.
    pub fn from_name(name: &str) -> Result<Zone, UnknownZone> {
        let zone = TimeZone::get(name).map_err(|_| UnknownZone(name.to_string()))?;
        let offset = |at: Timestamp| i64::from(zone.to_offset(at).seconds());
        let mut stretches = vec![Stretch { from: i64::MIN / 4, offset: offset(Timestamp::UNIX_EPOCH) }];
        for change in zone.following(Timestamp::UNIX_EPOCH) {
            let at = change.timestamp().as_second();
            if at > END {
                break;
            }
            let offset = i64::from(change.offset().seconds());
            if stretches.last().is_none_or(|last| last.offset != offset) {
                stretches.push(Stretch { from: at, offset });
            }
        }
        Ok(Zone { name: name.to_string(), stretches })
    }

    /// Coordinated universal time, which has no such hours.
    pub fn utc_zone() -> Zone {
        Zone { name: "UTC".to_string(), stretches: vec![Stretch { from: i64::MIN / 4, offset: 0 }] }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the meaning of a local time, given in seconds as if it were UTC. O(log n) for n
    /// changes.
    pub fn resolve_local(&self, civil: i64) -> Local {
        // Offsets are below a day, so only the stretches around it count.
        let near = self.stretches.partition_point(|s| s.from <= civil - 86_400).saturating_sub(1);
        let mut first_moment: Option<i64> = None;
        let mut before = self.stretches[near].offset;
        for (at, stretch) in self.stretches.iter().enumerate().skip(near) {
            if stretch.from > civil + 86_400 {
                break;
            }
            let until = self.stretches.get(at + 1).map_or(i64::MAX, |next| next.from);
            let moment = civil - stretch.offset;
            if stretch.from <= moment && moment < until {
                match first_moment {
                    Some(first) => return Local::Twice(first, moment),
                    None => first_moment = Some(moment),
                }
            } else if moment >= until {
                before = stretch.offset;
            }
        }
        first_moment.map_or(Local::Skipped(civil - before), Local::Once)
    }

    /// The local time of a moment, in seconds as if it were UTC.
    pub fn civil_time(&self, moment: i64) -> i64 {
        let at = self.stretches.partition_point(|s| s.from <= moment).saturating_sub(1);
        moment + self.stretches[at].offset
    }
}

/// Looks up local times that lie close together without a search for each.
#[derive(Debug)]
pub(crate) struct ZoneLookup {
    zone: Zone,
    /// Local times within mean this much less than they say, and nothing else.
    calm: std::ops::Range<i64>,
    offset: i64,
}

impl ZoneLookup {
    pub(crate) fn new(zone: Zone) -> ZoneLookup {
        ZoneLookup { zone, calm: 0..0, offset: 0 }
    }

    pub(crate) fn zone(&self) -> &Zone {
        &self.zone
    }

    #[inline]
    pub(crate) fn resolve_local(&mut self, civil: i64) -> Local {
        if self.calm.contains(&civil) {
            return Local::Once(civil - self.offset);
        }
        let local = self.zone.resolve_local(civil);
        if let Local::Once(moment) = local {
            let stretches = &self.zone.stretches;
            let at = stretches.partition_point(|s| s.from <= moment).saturating_sub(1);
            let until = stretches.get(at + 1).map_or(i64::MAX / 4, |next| next.from);
            self.offset = stretches[at].offset;
            self.calm = stretches[at].from + self.offset + 86_400..until + self.offset - 86_400;
        }
        local
    }
}

/// Seconds since 1970 of `YYYY-MM-DDTHH:MM:SS`, taken as UTC; `None` for any other text.
pub fn parse_civil(text: &str) -> Option<i64> {
    civil_bytes(text.as_bytes())
}

/// As [`civil`]; a blank may stand for the `T`.
#[inline]
pub(crate) fn civil_bytes(text: &[u8]) -> Option<i64> {
    let text: &[u8; 19] = text.try_into().ok()?;
    let ([_, _, _, _, b'-', _, _, b'-', _, _, b'T' | b' ', _, _, b':', _, _, b':', _, _], true) =
        (text, [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18].iter().all(|&i| text[i].is_ascii_digit()))
    else {
        return None;
    };
    let two = |at: usize| i64::from(text[at] - b'0') * 10 + i64::from(text[at + 1] - b'0');
    let (year, month, day) = (two(0) * 100 + two(2), two(5), two(8));
    let (hour, minute, second) = (two(11), two(14), two(17));
    let fits = (1..=12).contains(&month) && day >= 1 && day <= month_days(year, month);
    (fits && hour < 24 && minute < 60 && second < 61)
        .then(|| days_since_epoch(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second)
}

pub(crate) fn month_days(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar (Howard Hinnant's algorithm).
#[inline]
pub(crate) fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// A moment as `YYYY-MM-DDTHH:MM:SS` in UTC.
pub(crate) fn format_moment(moment: i64) -> String {
    let (days, second) = (moment.div_euclid(86_400), moment.rem_euclid(86_400));
    let shifted_days = days + 719_468;
    let era = shifted_days.div_euclid(146_097);
    let of_era = shifted_days - era * 146_097;
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let fifth = (5 * of_year + 2) / 153;
    let day = of_year - (153 * fifth + 2) / 5 + 1;
    let month = if fifth < 10 { fifth + 3 } else { fifth - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}", second % 60)
}

/// A local time for people, `2026-01-31 12:00`, of seconds as [`Zone::civil_time`] gives them.
pub fn format_minute(civil: i64) -> String {
    format_moment(civil)[..16].replace('T', " ")
}

/// As [`format_minute`], with seconds.
pub fn format_second(civil: i64) -> String {
    format_moment(civil).replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ZONES: [&str; 8] = [
        "UTC",
        "Europe/Berlin",
        "America/Toronto",
        "Australia/Lord_Howe",
        "Asia/Kolkata",
        "America/Sao_Paulo",
        "Africa/Casablanca",
        "Pacific/Apia",
    ];

    proptest! {
        #[test]
        fn every_moment_comes_back_from_its_local_time(zone in 0..ZONES.len(), moment in 0..END) {
            let zone = Zone::from_name(ZONES[zone]).expect("a zone");
            let mut lookup = ZoneLookup::new(zone.clone());
            for moment in [moment, moment + 3_600, moment + 40_000_000] {
                let local = lookup.resolve_local(zone.civil_time(moment));
                prop_assert_eq!(local, zone.resolve_local(zone.civil_time(moment)));
                prop_assert!(
                    local == Local::Once(moment) || matches!(local, Local::Twice(a, b) if a == moment || b == moment)
                );
            }
        }

        #[test]
        fn offsets_are_those_of_the_library(zone in 0..ZONES.len(), moment in 0..END) {
            let offset = Zone::from_name(ZONES[zone]).expect("a zone").civil_time(moment) - moment;
            let at = Timestamp::from_second(moment).expect("a time");
            let library_offset = TimeZone::get(ZONES[zone]).expect("a zone").to_offset(at).seconds();
            prop_assert_eq!(offset, i64::from(library_offset));
        }

        #[test]
        fn dates_come_back(moment in 0..END) {
            prop_assert_eq!(parse_civil(&format_moment(moment)), Some(moment));
        }
    }

    #[test]
    fn dates_that_are_none() {
        for text in ["2026-02-29T00:00:00", "2026-13-01T00:00:00", "2026-00-01T00:00:00", "2026-01-01T24:00:00", "x"] {
            assert_eq!(parse_civil(text), None, "{text}");
        }
        assert_eq!(parse_civil("2024-02-29 00:00:00"), Some(1_709_164_800));
    }
}
