//! Expansion factors and suspension factors as exact fractions.

use crate::policy::{Takes, ValueForm};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::str::FromStr;

/// A non-negative fraction of whole seconds. Comparisons are exact: integer cross products, no
/// rounding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ratio {
    pub(super) over: i64,
    /// May be 0: then the fraction is infinite.
    pub(super) under: i64,
}

impl Ratio {
    #[inline]
    pub(super) fn compare_with(self, ratio: Ratio) -> Ordering {
        let wide = i128::from;
        (wide(self.over) * wide(ratio.under)).cmp(&(wide(ratio.over) * wide(self.under)))
    }

    #[inline]
    pub(super) fn is_at_least(self, factor: DecimalRatio, ratio: Ratio) -> bool {
        let wide = i128::from;
        wide(self.over) * wide(ratio.under) * wide(factor.scale)
            >= wide(factor.digits) * wide(ratio.over) * wide(self.under)
    }

    /// The nearest float to the quotient of the nearest floats.
    pub(super) fn as_f64(self) -> f64 {
        self.over as f64 / self.under as f64
    }
}

/// A non-negative decimal number of at most 6 decimals, up to 1,000,000, kept exactly: small enough
/// that no product of two times and one of these overflows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DecimalRatio {
    /// The number is `digits / scale`.
    digits: i64,
    scale: i64,
}

impl DecimalRatio {
    /// Values of a parameter that is one.
    pub(super) const FROM_ZERO: Takes = Takes::Form(&ValueForm {
        name: "decimal",
        shape: "a decimal number",
        samples: &["0", "0.2", "1", "1.5", "2", "10"],
        check: |text| text.parse::<DecimalRatio>().is_ok(),
    });

    /// Values not below 1.
    pub(super) const FROM_ONE: Takes = Takes::Form(&ValueForm {
        name: "decimal",
        shape: "a decimal number from 1",
        samples: &["1", "1.5", "2", "3", "10"],
        check: |text| text.parse().is_ok_and(DecimalRatio::is_at_least_one),
    });

    /// A whole number.
    #[must_use]
    pub const fn from_whole(number: u32) -> DecimalRatio {
        DecimalRatio { digits: number as i64, scale: 1 }
    }

    #[must_use]
    pub(super) const fn from_thousandths(number: i64) -> DecimalRatio {
        DecimalRatio { digits: number, scale: 1_000 }
    }

    /// Returns whether it is at least 1.
    #[must_use]
    pub fn is_at_least_one(self) -> bool {
        self.digits >= self.scale
    }

    /// The nearest float.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.digits as f64 / self.scale as f64
    }

    /// The least `over` for which `over / under` is at least this many times `other`, whose `under`
    /// is not 0.
    pub(super) fn least_over(self, ratio: Ratio, under: i64) -> i128 {
        let wide = i128::from;
        let (product, divisor) =
            (wide(self.digits) * wide(ratio.over) * wide(under), wide(self.scale) * wide(ratio.under));
        match (u64::try_from(product), u64::try_from(divisor)) {
            // A division of 128 bits costs many of 64.
            (Ok(product), Ok(divisor)) => i128::from(product.div_ceil(divisor)),
            _ => (product + divisor - 1) / divisor,
        }
    }
}

impl FromStr for DecimalRatio {
    type Err = ();

    fn from_str(text: &str) -> Result<DecimalRatio, ()> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{fraction}");
        if whole.is_empty() || fraction.len() > 6 || digits.len() > 13 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(());
        }
        let scale = 10i64.pow(fraction.len() as u32);
        let digits = digits.parse().map_err(|_| ())?;
        if digits > 1_000_000 * scale { Err(()) } else { Ok(DecimalRatio { digits, scale }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_exact() {
        let half: DecimalRatio = "1.50".parse().expect("a number");
        let (a, b) = (Ratio { over: 3, under: 2 }, Ratio { over: 1, under: 1 });
        assert!(a.is_at_least(half, b) && !Ratio { over: 149, under: 100 }.is_at_least(half, b));
        assert!(half.is_at_least_one() && !"0.999999".parse::<DecimalRatio>().expect("a number").is_at_least_one());
        for wrong in ["", ".5", "-1", "1e3", "1.0000001", "1000000.1", "x"] {
            assert!(wrong.parse::<DecimalRatio>().is_err(), "{wrong}");
        }
    }

    proptest! {
        /// The least numerator is enough, and one less is not.
        #[test]
        fn least_over_is_least(
            digits in 1i64..10_000_000, over in 1i64..1 << 41, under in 1i64..1 << 40, other in 1i64..1 << 40,
        ) {
            let factor = DecimalRatio { digits, scale: 1_000 };
            let ratio = Ratio { over, under: other };
            let least = factor.least_over(ratio, under);
            if let Ok(least) = i64::try_from(least) {
                let exceeds = Ratio { over: least, under }.is_at_least(factor, ratio);
                let one_less = Ratio { over: least - 1, under }.is_at_least(factor, ratio);
                prop_assert!(exceeds && !one_less);
            }
        }
    }
}
