//! Edges of windows as people give them.

use crate::clock::Zone;
use crate::error::SiteError;
use crate::text::{TimeForm, When};

/// The edge of a window: seconds since 1970, or a date or time of the site.
pub(crate) fn edge(text: &str, option: &str, zone: Option<&Zone>) -> Result<i64, SiteError> {
    let day = format!("{text}T00:00:00");
    let text = if text.len() == 10 && text.matches('-').count() == 2 { day.as_str() } else { text };
    match (TimeForm::default().read(text.as_bytes()), zone) {
        (Ok(When::Epoch(moment)), _) => Ok(moment),
        (Ok(When::Civil(civil)), zone) => Ok(match zone.cloned().unwrap_or_else(Zone::utc).local(civil) {
            crate::clock::Local::Once(at) | crate::clock::Local::Twice(at, _) | crate::clock::Local::Skipped(at) => at,
        }),
        _ => Err(SiteError::Option(format!(
            "{option} {text}: expected a date such as 2026-01-31, a time such as 2026-01-31T12:00:00, or seconds since 1970"
        ))),
    }
}
