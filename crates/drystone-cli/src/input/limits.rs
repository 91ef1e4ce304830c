//! Limits in time, as options give them.

use crate::exit::CommandFailure;
use drystone::model::Time;

/// Reads `FROM..UNTIL`, given with this option.
pub(crate) fn parse_time_range(option: &str, text: &str) -> Result<(Option<Time>, Option<Time>), CommandFailure> {
    let wrong = || {
        CommandFailure::usage_error(format_args!(
            "{option} {text}: expected FROM..UNTIL in seconds, e.g. 0..604800 or 86400.."
        ))
    };
    let (from, until) = text.split_once("..").ok_or_else(wrong)?;
    let limit = |text: &str| -> Result<Option<Time>, CommandFailure> {
        let text = text.trim();
        if text.is_empty() { Ok(None) } else { Ok(Some(Time(text.parse().map_err(|_| wrong())?))) }
    };
    let (from, until) = (limit(from)?, limit(until)?);
    if let (Some(from), Some(until)) = (from, until)
        && from >= until
    {
        return Err(CommandFailure::usage_error(format_args!("{option} {from}..{until}: it ends before it begins")));
    }
    Ok((from, until))
}
