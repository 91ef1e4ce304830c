//! Load factors as exact decimal numbers.

use crate::log::clean::OptionError;
use crate::model::{Time, TimeMove};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A load factor: a positive decimal number, kept exactly. 1.1 is 10 % more load.
///
/// ```
/// use drystone::log::transform::LoadFactor;
/// use drystone::model::Time;
/// let factor: LoadFactor = "1.1".parse()?;
/// assert_eq!(factor.divide_time(Time(11)), Time(10)); // 11/1.1 is exactly 10, though not in binary fractions
/// # Ok::<(), drystone::log::clean::OptionError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LoadFactor {
    /// The factor is `digits / 10^decimals`.
    digits: u64,
    decimals: u32,
}

impl LoadFactor {
    /// `⌊time / factor⌋`, exactly.
    ///
    /// Kettimuthu et al. (2005) scale load so: submit times shrink, run times stay.
    #[must_use]
    pub fn divide_time(self, time: Time) -> Time {
        self.as_move().apply(time)
    }

    /// Returns it as a change of a log's times.
    #[must_use]
    pub fn as_move(self) -> TimeMove {
        TimeMove::Divided { digits: self.digits, decimals: self.decimals }
    }

    /// The nearest float.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.digits as f64 / 10f64.powi(self.decimals as i32)
    }
}

impl FromStr for LoadFactor {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<LoadFactor, OptionError> {
        let wrong = || OptionError {
            option: "load",
            given: text.to_string(),
            expected: "a positive decimal number with at most 9 decimals, such as 1.1".to_string(),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{whole}{fraction}");
        if whole.is_empty() || fraction.len() > 9 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(wrong());
        }
        match digits.parse() {
            Ok(digits) if digits > 0 => Ok(LoadFactor { digits, decimals: fraction.len() as u32 }),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for LoadFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let power = 10u64.pow(self.decimals);
        let (whole, fraction) = (self.digits / power, self.digits % power);
        let width = self.decimals as usize;
        match self.decimals {
            0 => f.pad(&whole.to_string()),
            _ => f.pad(&format!("{whole}.{fraction:0width$}")),
        }
    }
}

impl TryFrom<String> for LoadFactor {
    type Error = OptionError;
    fn try_from(text: String) -> Result<LoadFactor, OptionError> {
        text.parse()
    }
}

impl From<LoadFactor> for String {
    fn from(factor: LoadFactor) -> String {
        factor.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_exact_and_prints_back() {
        for (text, output) in [("1.1", "1.1"), ("2", "2"), ("0.50", "0.5"), ("10.050", "10.05"), ("03", "3")] {
            let factor: LoadFactor = text.parse().expect(text);
            assert_eq!(factor.to_string(), output);
        }
        let f: LoadFactor = "1.2".parse().expect("1.2");
        assert_eq!(f.divide_time(Time(599_850)), Time(499_875));
        assert_eq!(f.divide_time(Time(7)), Time(5));
        assert_eq!(f.divide_time(Time(-1)), Time(-1), "rounds down, not towards zero");
    }

    #[test]
    fn refuses_what_is_no_factor() {
        for text in ["", ".", ".5", "0", "0.0", "-1", "+1", "1e3", "1.0000000001", "nan", "1.2.3", " 1"] {
            assert!(text.parse::<LoadFactor>().is_err(), "{text}");
        }
    }
}
