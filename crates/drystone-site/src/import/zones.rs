//! A zone that cannot be: rows across a change of clocks tell another.

use crate::clock::{Local, Zone};

/// Fewer rows than this may be anything.
const LEAST: u64 = 3;
/// Zones that are tried, the most populous of each rule first.
const TRIED: [&str; 24] = [
    "UTC",
    "America/New_York",
    "America/Chicago",
    "America/Denver",
    "America/Los_Angeles",
    "America/Halifax",
    "America/St_Johns",
    "America/Havana",
    "America/Santiago",
    "America/Sao_Paulo",
    "America/Mexico_City",
    "Europe/London",
    "Europe/Berlin",
    "Europe/Helsinki",
    "Europe/Moscow",
    "Asia/Jerusalem",
    "Asia/Beirut",
    "Asia/Tehran",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Australia/Sydney",
    "Australia/Adelaide",
    "Pacific/Auckland",
    "Asia/Tokyo",
];

/// A sentence where times from start to end are an hour off the run times in many rows, or in some
/// that another zone explains.
pub(super) fn wrong_zone((off, known): (u64, u64), spans: &[(i64, i64, i64)], zone_name: &str) -> Option<String> {
    if off < LEAST {
        return None;
    }
    let explains = |zone: &&&str| {
        let Ok(zone) = Zone::from_name(zone) else { return false };
        let moments = |civil: i64| match zone.resolve_local(civil) {
            Local::Once(moment) | Local::Skipped(moment) => [moment; 2],
            Local::Twice(first, second) => [first, second],
        };
        let fits = |(start, end, ran): &&(i64, i64, i64)| {
            moments(*start).iter().any(|start| moments(*end).iter().any(|end| (end - start - ran).abs() <= 1))
        };
        spans.iter().filter(fits).count() * 10 >= spans.len() * 9
    };
    let other_zone = TRIED.iter().filter(|zone| **zone != zone_name).find(explains).filter(|_| !spans.is_empty());
    if let Some(zone) = other_zone {
        return Some(format!(
            "--timezone {zone_name} cannot be: {off} of {known} rows end an hour off their start and run time, and those across the change of clocks \
             say {zone}, or a zone that changes its clocks with it"
        ));
    }
    (off * 10 > known && off > 10).then(|| {
        format!("of {known} rows {off} have an end that is an hour off their start and run time: the time zone is wrong, or its summer time")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_across_a_change_of_clocks_tell_the_zone() {
        let civil = |text| crate::clock::parse_civil(text).expect("a time");
        // New York sets its clocks back on 2 November 2025 at two: eight hours last nine.
        let row = |minute: i64| {
            (civil("2025-11-01T23:00:00") + minute * 60, civil("2025-11-02T07:00:00") + minute * 60, 9 * 3_600)
        };
        let rows: Vec<_> = (0..5).map(row).collect();
        let sentence = wrong_zone((5, 1_000), &rows, "UTC").expect("a sentence");
        assert!(
            sentence.starts_with("--timezone UTC cannot be: 5 of 1000 rows") && sentence.contains("America/New_York"),
            "{sentence}"
        );
        // As many rows that no zone explains, of few and of many.
        let odd: Vec<_> = (0..12)
            .map(|at| (civil("2025-07-01T00:00:00") + at * 86_400, civil("2025-07-01T02:00:00") + at * 86_400, 3_600))
            .collect();
        assert_eq!(wrong_zone((12, 1_000), &odd, "UTC"), None);
        assert!(wrong_zone((12, 20), &odd, "UTC").is_some_and(|sentence| sentence.contains("of 20 rows 12")));
        assert_eq!(wrong_zone((2, 2), &rows, "UTC"), None);
    }
}
