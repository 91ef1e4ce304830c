//! Length of a plan.

use crate::clock_length::read_clock_length;
use crate::model::{Span, Time};
use drystone_engine::policy::{Args, SpecError, Takes, ValueForm};
use serde::{Deserialize, Serialize};

/// Waiting jobs that are planned and promised a start; the others wait without a promise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Horizon {
    /// All.
    #[default]
    All,
    /// So many of those that do not start at once: the first by arrival, and a job that takes the
    /// place of one that starts.
    Jobs(u32),
    /// Those that can start within so much time, asked in the order of their arrival.
    Time(Span),
}

impl Horizon {
    pub(crate) const TAKES: &'static [Takes] = &[
        Takes::Words(&["all"]),
        Takes::COUNT,
        Takes::Form(&ValueForm {
            name: "horizon",
            shape: "24h|90m",
            samples: &["24h", "90m", "1s"],
            check: |text| parse_horizon(text).is_some(),
        }),
    ];

    pub(crate) fn from_args(args: &Args<'_>) -> Result<Horizon, SpecError> {
        let text = args.text_value("horizon");
        if text == "all" {
            return Ok(Horizon::All);
        }
        match parse_horizon(text) {
            Some(time) => Ok(Horizon::Time(time)),
            None => args.get("horizon").map(Horizon::Jobs),
        }
    }

    /// Returns the time up to which a job must be able to start to be planned now, if this many are
    /// planned that do not start at once.
    pub(crate) fn latest_start(self, now: Time, count: usize) -> Option<Time> {
        match self {
            Horizon::All => Some(Time::MAX),
            Horizon::Jobs(most) => (count < most as usize).then_some(Time::MAX),
            Horizon::Time(time) => Some(now.saturating_add(time)),
        }
    }
}

/// A time with its unit, `24h`, `90m`, `3600s`, `2d`, or as Slurm writes it, `1-00:00:00`; from a
/// second to a century.
fn parse_horizon(text: &str) -> Option<Span> {
    let reach = 1..=36_500 * Span::DAY.0;
    if let Some(seconds) = read_clock_length(text) {
        return reach.contains(&seconds).then_some(Span(seconds));
    }
    let unit = [('s', Span(1)), ('m', Span::MINUTE), ('h', Span::HOUR), ('d', Span::DAY)];
    let (number, unit) = unit.iter().find_map(|&(letter, unit)| Some((text.strip_suffix(letter)?, unit)))?;
    let seconds = number.parse::<u32>().ok().map(|number| i64::from(number) * unit.0)?;
    reach.contains(&seconds).then_some(Span(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(parse_horizon("24h"), Some(Span(86_400)));
        assert_eq!(parse_horizon("90m"), Some(Span(5_400)));
        assert_eq!(parse_horizon("1-00:00:00"), Some(Span(86_400)));
        for wrong in ["", "24", "h", "0h", "-1h", "1.5h", "4000000d", "99999999999s"] {
            assert_eq!(parse_horizon(wrong), None, "{wrong}");
        }
    }
}
