//! One printed value and ours.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Published value: a number with its printed digits, a statement, or nothing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Published {
    /// Nothing was printed for this cell.
    Nothing,
    /// A number, and the text that was printed.
    Number {
        /// As printed.
        text: String,
        /// Its value.
        value: f64,
        /// Half a unit of its last digit: what rounding may hide.
        rounding: f64,
    },
    /// More than this was claimed: `> 0`.
    Above(f64),
    /// Less than this was claimed: `< 3`.
    Below(f64),
}

impl TryFrom<String> for Published {
    type Error = String;

    fn try_from(text: String) -> Result<Published, String> {
        let wrong = || format!("`{text}` is neither a number nor `> number`, `< number` or nothing");
        let number = |t: &str| t.trim().parse::<f64>().ok().filter(|v| v.is_finite()).ok_or_else(wrong);
        if text.is_empty() {
            return Ok(Published::Nothing);
        }
        if let Some(bound) = text.strip_prefix('>') {
            return number(bound).map(Published::Above);
        }
        if let Some(bound) = text.strip_prefix('<') {
            return number(bound).map(Published::Below);
        }
        let value = number(&text)?;
        let digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        Ok(Published::Number { value, rounding: 0.5 * 10f64.powi(-(digits as i32)), text })
    }
}

impl From<Published> for String {
    fn from(published: Published) -> String {
        published.to_string()
    }
}

impl fmt::Display for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Published::Nothing => f.pad(""),
            Published::Number { text, .. } => f.pad(text),
            Published::Above(bound) => f.pad(&format!("> {bound}")),
            Published::Below(bound) => f.pad(&format!("< {bound}")),
        }
    }
}

/// Result of the comparison of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Ours rounds to what was printed, or the statement holds.
    Met,
    /// Not that, but within the tolerance.
    Within,
    /// Further away than the tolerance, or the statement does not hold.
    Out,
    /// Known not to be attainable, or nothing was printed: shown, not judged.
    Shown,
    /// The log is not there.
    Missing,
}

/// A cell of a table.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cell {
    /// As printed.
    pub published: Published,
    /// Ours; `None` without the log, or where the measure has no value.
    pub ours: Option<f64>,
    /// Deviation from the printed value, in percent of it.
    pub deviation_percent: Option<f64>,
    /// Tolerance, in percent. `None` where it is not judged.
    pub tolerance_percent: Option<f64>,
    /// The outcome.
    pub verdict: Verdict,
}

impl Cell {
    /// Compares. `measured` is `None` where the log is missing, and holds `None` where the measure
    /// has no value.
    #[must_use]
    pub fn new(published: Published, measured: Option<Option<f64>>, tolerance: Option<f64>) -> Cell {
        let ours = measured.flatten();
        let value = match &published {
            Published::Number { value, .. } => Some(*value),
            _ => None,
        };
        let deviation = value.zip(ours).filter(|(value, _)| *value != 0.0).map(|(v, ours)| 100.0 * (ours - v) / v);
        let verdict = match (&published, measured, ours, tolerance) {
            (_, None, ..) => Verdict::Missing,
            (Published::Nothing, ..) | (_, _, _, None) => Verdict::Shown,
            (_, _, None, _) => Verdict::Out,
            (Published::Above(bound), _, Some(ours), _) if ours > *bound => Verdict::Met,
            (Published::Below(bound), _, Some(ours), _) if ours < *bound => Verdict::Met,
            (Published::Number { value, rounding, .. }, _, Some(ours), Some(tolerance)) => {
                let off = (ours - value).abs();
                // A last bit of a sum does not decide.
                if off <= rounding * (1.0 + 1e-9) {
                    Verdict::Met
                } else if off <= tolerance / 100.0 * value.abs() {
                    Verdict::Within
                } else {
                    Verdict::Out
                }
            }
            _ => Verdict::Out,
        };
        Cell { published, ours, deviation_percent: deviation, tolerance_percent: tolerance, verdict }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(published: &str, ours: f64, tolerance: Option<f64>) -> Verdict {
        let published = Published::try_from(published.to_string()).expect("a published value");
        Cell::new(published, Some(Some(ours)), tolerance).verdict
    }

    #[test]
    fn printed_digits_and_tolerances_decide() {
        assert_eq!(verdict("21", 21.49, Some(0.0)), Verdict::Met);
        assert_eq!(verdict("21", 21.51, Some(0.0)), Verdict::Out);
        assert_eq!(verdict("21", 21.51, Some(2.5)), Verdict::Within);
        assert_eq!(verdict("21.0", 21.2, Some(0.5)), Verdict::Out);
        assert_eq!(verdict("4.6", 4.551, Some(0.0)), Verdict::Met);
        assert_eq!(verdict("-4.6", -4.7, Some(3.0)), Verdict::Within);
        assert_eq!(verdict("> 0", 0.1, Some(0.0)), Verdict::Met);
        assert_eq!(verdict("> 0", 0.0, Some(0.0)), Verdict::Out);
        assert_eq!(verdict("<3", 2.9, Some(0.0)), Verdict::Met);
        assert_eq!(verdict("<3", 3.0, Some(0.0)), Verdict::Out);
        assert_eq!(verdict("21", 90.0, None), Verdict::Shown);
        assert_eq!(verdict("", 90.0, Some(1.0)), Verdict::Shown);
    }

    #[test]
    fn what_is_missing_is_not_met() {
        let published = Published::try_from("21".to_string()).expect("a number");
        assert_eq!(Cell::new(published.clone(), None, Some(1.0)).verdict, Verdict::Missing);
        assert_eq!(Cell::new(published, Some(None), Some(1.0)).verdict, Verdict::Out);
        for wrong in ["about 3", "> many", "NaN", "inf"] {
            assert!(Published::try_from(wrong.to_string()).is_err(), "{wrong}");
        }
    }
}
