//! Decimal numbers exactly as logs write them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The most digits kept after the point; further digits are cut off.
pub const MAX_DECIMALS: u8 = 9;

const POWERS: [i64; MAX_DECIMALS as usize + 1] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// A decimal number with its digits after the point, so that `142.00` is written back as `142.00`.
///
/// Two numbers are equal when they are written alike: `1.0` and `1.00` differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(try_from = "(i64, u8)", into = "(i64, u8)")]
pub struct SwfDecimal {
    digits: i64,
    decimals: u8,
}

impl SwfDecimal {
    /// −1, which logs write for "unknown".
    pub const UNKNOWN: SwfDecimal = SwfDecimal { digits: -1, decimals: 0 };

    /// `digits / 10^decimals`; `None` with more than [`MAX_DECIMALS`] decimals.
    #[must_use]
    pub fn new(digits: i64, decimals: u8) -> Option<SwfDecimal> {
        (decimals <= MAX_DECIMALS).then_some(SwfDecimal { digits, decimals })
    }

    /// All digits, without the point.
    #[must_use]
    pub fn digits(self) -> i64 {
        self.digits
    }

    /// Returns the number of digits after the point.
    #[must_use]
    pub fn decimals(self) -> u8 {
        self.decimals
    }

    /// The nearest whole number, halves away from zero.
    #[must_use]
    pub fn round(self) -> i64 {
        if self.decimals == 0 {
            return self.digits;
        }
        let power = self.power_of_ten();
        let (whole, rest) = (self.digits / power, self.digits % power);
        // |rest| < power <= 10^9, so doubling cannot overflow.
        if 2 * rest.abs() >= power { whole + rest.signum() } else { whole }
    }

    /// Returns whether it is a whole number.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.digits % self.power_of_ten() == 0
    }

    /// The nearest float.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.digits as f64 / self.power_of_ten() as f64
    }

    fn power_of_ten(self) -> i64 {
        POWERS[usize::from(self.decimals)]
    }
}

impl TryFrom<(i64, u8)> for SwfDecimal {
    type Error = String;
    fn try_from((digits, decimals): (i64, u8)) -> Result<SwfDecimal, String> {
        SwfDecimal::new(digits, decimals).ok_or_else(|| format!("{decimals} decimals are more than {MAX_DECIMALS}"))
    }
}

impl From<SwfDecimal> for (i64, u8) {
    fn from(decimal: SwfDecimal) -> (i64, u8) {
        (decimal.digits, decimal.decimals)
    }
}

impl From<i64> for SwfDecimal {
    fn from(whole: i64) -> SwfDecimal {
        SwfDecimal { digits: whole, decimals: 0 }
    }
}

impl fmt::Display for SwfDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.decimals == 0 {
            return self.digits.fmt(f);
        }
        let (size, power) = (self.digits.unsigned_abs(), self.power_of_ten().unsigned_abs());
        let width = usize::from(self.decimals);
        let text = format!("{}.{:0width$}", size / power, size % power);
        f.pad_integral(self.digits >= 0, "", &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(digits: i64, decimals: u8) -> SwfDecimal {
        SwfDecimal::new(digits, decimals).expect("few decimals")
    }

    #[test]
    fn rounds_halves_away_from_zero() {
        for (digits, decimals, whole) in [
            (14_200, 2, 142),
            (1425, 1, 143),
            (1424, 1, 142),
            (-15, 1, -2),
            (-14, 1, -1),
            (-1, 0, -1),
            (49, 2, 0),
            (i64::MAX, 9, 9_223_372_037),
        ] {
            assert_eq!(decimal(digits, decimals).round(), whole, "{digits} {decimals}");
        }
    }

    #[test]
    fn is_written_as_it_was_read() {
        assert_eq!(decimal(14_200, 2).to_string(), "142.00");
        assert_eq!(decimal(-5, 1).to_string(), "-0.5");
        assert_eq!(decimal(7, 3).to_string(), "0.007");
        assert_eq!(format!("{:>7}", decimal(-5, 1)), "   -0.5");
        assert_eq!(decimal(i64::MIN, 0).to_string(), i64::MIN.to_string());
        assert!(SwfDecimal::new(1, MAX_DECIMALS + 1).is_none());
    }
}
