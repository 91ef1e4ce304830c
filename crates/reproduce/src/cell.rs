//! One printed value and ours.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Published value: a number with its printed digits, a statement, or nothing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PublishedValue {
    /// Nothing was printed for this cell.
    Nothing,
    /// A number, and the text that was printed.
    Number {
        /// As printed.
        text: String,
        value: f64,
        /// Half a unit of its last digit: what rounding may hide.
        rounding: f64,
    },
    /// More than this was claimed: `> 0`.
    Above(f64),
    /// Less than this was claimed: `< 3`.
    Below(f64),
}

impl TryFrom<String> for PublishedValue {
    type Error = String;

    fn try_from(text: String) -> Result<PublishedValue, String> {
        let wrong = || format!("`{text}` is neither a number nor `> number`, `< number` or nothing");
        let number = |t: &str| t.trim().parse::<f64>().ok().filter(|v| v.is_finite()).ok_or_else(wrong);
        if text.is_empty() {
            return Ok(PublishedValue::Nothing);
        }
        if let Some(bound) = text.strip_prefix('>') {
            return number(bound).map(PublishedValue::Above);
        }
        if let Some(bound) = text.strip_prefix('<') {
            return number(bound).map(PublishedValue::Below);
        }
        let value = number(&text)?;
        let digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        Ok(PublishedValue::Number { value, rounding: 0.5 * 10f64.powi(-(digits as i32)), text })
    }
}

impl From<PublishedValue> for String {
    fn from(value: PublishedValue) -> String {
        value.to_string()
    }
}

impl fmt::Display for PublishedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PublishedValue::Nothing => f.pad(""),
            PublishedValue::Number { text, .. } => f.pad(text),
            PublishedValue::Above(bound) => f.pad(&format!("> {bound}")),
            PublishedValue::Below(bound) => f.pad(&format!("< {bound}")),
        }
    }
}

/// Result of the comparison of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CellVerdict {
    /// Ours rounds to what was printed, or the statement holds.
    Met,
    /// Not that, but within the tolerance.
    Within,
    /// Further away than the tolerance, or the statement does not hold.
    Out,
    /// Known not to be attainable, or nothing was printed: shown, not judged.
    Shown,
    Missing,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StudyCell {
    /// As printed.
    pub published: PublishedValue,
    /// Ours; `None` without the log, or where the measure has no value.
    pub ours: Option<f64>,
    /// Deviation from the printed value, in percent of it.
    pub deviation_percent: Option<f64>,
    /// Tolerance, in percent. `None` where it is not judged.
    pub tolerance_percent: Option<f64>,
    pub verdict: CellVerdict,
}

impl StudyCell {
    /// Compares. `measured` is `None` where the log is missing, and holds `None` where the measure
    /// has no value.
    pub fn new(paper_value: PublishedValue, measurement: Option<Option<f64>>, tolerance: Option<f64>) -> StudyCell {
        let our_value = measurement.flatten();
        let value = match &paper_value {
            PublishedValue::Number { value, .. } => Some(*value),
            _ => None,
        };
        let deviation = value.zip(our_value).filter(|(value, _)| *value != 0.0).map(|(v, own)| 100.0 * (own - v) / v);
        let verdict = match (&paper_value, measurement, our_value, tolerance) {
            (_, None, ..) => CellVerdict::Missing,
            (PublishedValue::Nothing, ..) | (_, _, _, None) => CellVerdict::Shown,
            (_, _, None, _) => CellVerdict::Out,
            (PublishedValue::Above(bound), _, Some(own), _) if own > *bound => CellVerdict::Met,
            (PublishedValue::Below(bound), _, Some(own), _) if own < *bound => CellVerdict::Met,
            (PublishedValue::Number { value, rounding, .. }, _, Some(own), Some(tolerance)) => {
                let off = (own - value).abs();
                // A last bit of a sum does not decide.
                if off <= rounding * (1.0 + 1e-9) {
                    CellVerdict::Met
                } else if off <= tolerance / 100.0 * value.abs() {
                    CellVerdict::Within
                } else {
                    CellVerdict::Out
                }
            }
            _ => CellVerdict::Out,
        };
        StudyCell {
            published: paper_value,
            ours: our_value,
            deviation_percent: deviation,
            tolerance_percent: tolerance,
            verdict,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str, own: f64, tolerance: Option<f64>) -> CellVerdict {
        let paper_value = PublishedValue::try_from(text.to_string()).expect("a published value");
        StudyCell::new(paper_value, Some(Some(own)), tolerance).verdict
    }

    #[test]
    fn printed_digits_and_tolerances_decide() {
        assert_eq!(verdict("21", 21.49, Some(0.0)), CellVerdict::Met);
        assert_eq!(verdict("21", 21.51, Some(0.0)), CellVerdict::Out);
        assert_eq!(verdict("21", 21.51, Some(2.5)), CellVerdict::Within);
        assert_eq!(verdict("21.0", 21.2, Some(0.5)), CellVerdict::Out);
        assert_eq!(verdict("4.6", 4.551, Some(0.0)), CellVerdict::Met);
        assert_eq!(verdict("-4.6", -4.7, Some(3.0)), CellVerdict::Within);
        assert_eq!(verdict("> 0", 0.1, Some(0.0)), CellVerdict::Met);
        assert_eq!(verdict("> 0", 0.0, Some(0.0)), CellVerdict::Out);
        assert_eq!(verdict("<3", 2.9, Some(0.0)), CellVerdict::Met);
        assert_eq!(verdict("<3", 3.0, Some(0.0)), CellVerdict::Out);
        assert_eq!(verdict("21", 90.0, None), CellVerdict::Shown);
        assert_eq!(verdict("", 90.0, Some(1.0)), CellVerdict::Shown);
    }

    #[test]
    fn what_is_missing_is_not_met() {
        let paper_value = PublishedValue::try_from("21".to_string()).expect("a number");
        assert_eq!(StudyCell::new(paper_value.clone(), None, Some(1.0)).verdict, CellVerdict::Missing);
        assert_eq!(StudyCell::new(paper_value, Some(None), Some(1.0)).verdict, CellVerdict::Out);
        for wrong in ["about 3", "> many", "NaN", "inf"] {
            assert!(PublishedValue::try_from(wrong.to_string()).is_err(), "{wrong}");
        }
    }
}
