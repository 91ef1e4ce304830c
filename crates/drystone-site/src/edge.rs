//! Edges of windows as people give them.

use crate::clock::Zone;
use crate::error::SiteError;
use crate::text::{TimeForm, When};
use drystone::times::{WrittenMoment, read_moment};

/// The edge of a window: seconds since 1970, or a date or time of the site, also as Slurm's
/// commands take it. `now` is the end of the records, where they are known.
pub(crate) fn parse_edge(text: &str, option: &str, zone: Option<&Zone>, now: Option<i64>) -> Result<i64, SiteError> {
    let zone = zone.cloned().unwrap_or_else(Zone::utc_zone);
    let day = format!("{text}T00:00:00");
    let whole = if text.len() == 10 && text.matches('-').count() == 2 { day.as_str() } else { text };
    let local = |civil: i64| match zone.resolve_local(civil) {
        crate::clock::Local::Once(at) | crate::clock::Local::Twice(at, _) | crate::clock::Local::Skipped(at) => at,
    };
    match TimeForm::default().read_time(whole.as_bytes()) {
        Ok(When::Epoch(moment)) => return Ok(moment),
        Ok(When::Civil(civil)) => return Ok(local(civil)),
        _ => {}
    }
    let relative = now.and_then(|now| Some((now, read_moment(text, zone.civil_time(now))?)));
    match relative {
        Some((now, WrittenMoment::FromNow(by))) => Ok(now.saturating_add(by)),
        Some((_, WrittenMoment::Local(civil))) => Ok(local(civil)),
        None => Err(SiteError::Option(format!(
            "{option} {text}: expected a date such as 2026-01-31, a time such as 2026-01-31T12:00:00{}, or seconds since 1970",
            if now.is_some() { ", yesterday, now-12hours" } else { "" }
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_times_of_slurm() {
        let zone = Zone::from_name("Europe/Berlin").expect("a zone");
        // The records end at 2026-01-31, 12:00 UTC: 13:00 in Berlin.
        let now = 1_769_860_800;
        let day = now - 13 * 3_600;
        for (text, moment) in [
            ("2026-01-31", day),
            ("2026-01-31T06:00", day + 6 * 3_600),
            ("1769860800", now),
            ("yesterday", day - 86_400),
            ("today", day),
            ("now-1hour", now - 3_600),
            ("now-7-00:00:00", now - 7 * 86_400),
            ("06:00", day + 6 * 3_600),
            ("01/31/26", day),
        ] {
            assert_eq!(parse_edge(text, "--since", Some(&zone), Some(now)).ok(), Some(moment), "{text}");
        }
        assert!(parse_edge("soon", "--since", Some(&zone), Some(now)).is_err());
        assert!(parse_edge("yesterday", "--from", Some(&zone), None).is_err());
    }
}
