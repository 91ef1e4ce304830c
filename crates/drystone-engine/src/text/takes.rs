//! The types of values that parameters take. Help, errors, checks and tests all follow from them.

use std::fmt;

/// A type of values. A parameter takes one of these or, as `auto|1 to 8`, one of several.
///
/// ```
/// use drystone_engine::text::Takes;
///
/// let depth = Takes::Whole { from: 1, to: 100 };
/// assert!(depth.accepts_text("50") && !depth.accepts_text("0"));
/// assert!(Takes::Words(&["wait", "size"]).accepts_text("size"));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Takes {
    /// One of a few words.
    Words(&'static [&'static str]),
    /// A whole number from `from` up to and including `to`.
    Whole {
        /// The least.
        from: u64,
        /// The most; what a type cannot exceed (`u32::MAX` and above) is not shown to people.
        to: u64,
    },
    /// A number from `from` up to and including `to`.
    Number {
        /// The least.
        from: f64,
        /// The most; 1e12 and above is not shown to people.
        to: f64,
    },
    /// A number above `above` up to and including `to`.
    Above {
        /// Bound that it must exceed.
        above: f64,
        /// The most; 1e12 and above is not shown to people.
        to: f64,
    },
    /// Whole seconds from `from` up to and including `to`.
    Seconds {
        /// The least.
        from: u64,
        /// The most; a century and above is not shown to people.
        to: u64,
    },
    /// Whole numbers from 1 to 2⁴⁰, each larger than the one before, separated by `/`.
    Ascending {
        /// Unit, for people: `seconds`, `processors`.
        unit: &'static str,
    },
    /// This many numbers from 0, separated by `/`.
    Numbers {
        /// Number of values.
        count: usize,
    },
    /// Text in a language of its own.
    Form(&'static ValueForm),
}

/// A type of values with a syntax of its own.
#[derive(Debug)]
pub struct ValueForm {
    /// Name for machines: `order`, `predictor`, `duration`.
    pub name: &'static str,
    /// Notation, for people.
    pub shape: &'static str,
    /// Values that are taken, for examples and tests.
    pub samples: &'static [&'static str],
    /// Check that a text is such a value.
    pub check: fn(&str) -> bool,
}

/// Bound that is hardly one to people: more seconds than a century has.
const CENTURY: u64 = 100 * 365 * 86_400;
/// Bound that is hardly one to people, for other numbers.
const HUGE: f64 = 1e12;

impl Takes {
    /// `no` or `yes`.
    pub const NO_YES: Takes = Takes::Words(&["no", "yes"]);
    /// A positive number of things, as large as is counted.
    pub const COUNT: Takes = Takes::Whole { from: 1, to: u32::MAX as u64 };

    /// Returns whether a text is such a value.
    #[must_use]
    pub fn accepts_text(&self, text: &str) -> bool {
        let whole = |from: u64, to: u64| text.parse::<u64>().is_ok_and(|n| (from..=to).contains(&n));
        match *self {
            Takes::Words(words) => words.contains(&text),
            Takes::Whole { from, to } | Takes::Seconds { from, to } => whole(from, to),
            Takes::Number { from, to } => text.parse::<f64>().is_ok_and(|n| n >= from && n <= to),
            Takes::Above { above, to } => text.parse::<f64>().is_ok_and(|n| n > above && n <= to),
            Takes::Ascending { .. } => {
                let numbers: Option<Vec<u64>> = text.split('/').map(|n| n.trim().parse().ok()).collect();
                numbers.is_some_and(|list| {
                    list.is_sorted_by(|a, b| a < b) && list.iter().all(|n| (1..=1 << 40).contains(n))
                })
            }
            Takes::Numbers { count } => {
                let number = |n: &str| n.trim().parse::<f64>().is_ok_and(|n| n.is_finite() && n >= 0.0);
                text.split('/').count() == count && text.split('/').all(number)
            }
            Takes::Form(form) => (form.check)(text),
        }
    }

    /// Returns the name of the type for machines.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Takes::Words(_) => "words",
            Takes::Whole { .. } => "whole",
            Takes::Number { .. } | Takes::Above { .. } => "number",
            Takes::Seconds { .. } => "seconds",
            Takes::Ascending { .. } => "ascending",
            Takes::Numbers { .. } => "numbers",
            Takes::Form(form) => form.name,
        }
    }

    /// Values to try: all words, the borders of numbers and some between. Each is accepted.
    #[must_use]
    pub fn sample_values(&self) -> Vec<String> {
        let candidates: Vec<String> = match *self {
            Takes::Words(words) => words.iter().map(ToString::to_string).collect(),
            Takes::Whole { from, to } | Takes::Seconds { from, to } => {
                [0, 1, 2, 4, 9, 99].iter().map(|more| from.saturating_add(*more).min(to).to_string()).collect()
            }
            Takes::Number { from, to } => [0.0, 0.5, 1.0, 2.0].iter().map(|m| (from + m).min(to).to_string()).collect(),
            Takes::Above { above, to } => {
                [0.01, 0.5, 1.0, 2.0].iter().map(|m| (above + m).min(to).to_string()).collect()
            }
            Takes::Ascending { .. } => ["1", "10/100", "1/4"].map(String::from).to_vec(),
            Takes::Numbers { count } => ["1", "2.5"].iter().map(|n| vec![*n; count].join("/")).collect(),
            Takes::Form(form) => form.samples.iter().map(ToString::to_string).collect(),
        };
        let mut values: Vec<String> = Vec::new();
        for value in candidates {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    /// Values just beyond what is accepted, as far as there are some of the same shape.
    #[must_use]
    pub fn refused_values(&self) -> Vec<String> {
        match *self {
            Takes::Whole { from, to } | Takes::Seconds { from, to } => {
                let below = i128::from(from) - 1;
                [below, i128::from(to) + 1].iter().map(ToString::to_string).collect()
            }
            Takes::Number { from, .. } => vec![(from - 0.01).to_string(), "nan".into(), "inf".into()],
            Takes::Above { above, .. } => vec![above.to_string(), (above - 0.01).to_string(), "inf".into()],
            Takes::Ascending { .. } => ["0", "2/1", "3/3", "-1/4"].map(String::from).to_vec(),
            Takes::Numbers { count } => vec![vec!["1"; count + 1].join("/"), vec!["-1"; count].join("/")],
            Takes::Words(_) => vec!["no-such-word".into()],
            Takes::Form(_) => Vec::new(),
        }
    }
}

/// For people.
impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Takes::Words(words) => f.write_str(&words.join("|")),
            Takes::Whole { from, to } if to >= u64::from(u32::MAX) => write!(f, "a whole number from {from}"),
            Takes::Whole { from, to } => write!(f, "a whole number from {from} to {to}"),
            Takes::Number { from, to } if to >= HUGE => write!(f, "a number from {from}"),
            Takes::Number { from, to } => write!(f, "a number from {from} to {to}"),
            Takes::Above { above, to } if to >= HUGE => write!(f, "a number above {above}"),
            Takes::Above { above, to } => write!(f, "a number above {above} up to {to}"),
            Takes::Seconds { from, to } if to >= CENTURY => write!(f, "seconds from {from}"),
            Takes::Seconds { from, to } => write!(f, "seconds from {from} to {to}"),
            Takes::Ascending { unit } => write!(f, "strictly ascending {unit} from 1 separated by `/`"),
            Takes::Numbers { count } => write!(f, "{count} numbers from 0 separated by `/`"),
            Takes::Form(form) => f.write_str(form.shape),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[Takes] = &[
        Takes::NO_YES,
        Takes::COUNT,
        Takes::Whole { from: 0, to: 100 },
        Takes::Number { from: 0.0, to: 1.0 },
        Takes::Number { from: 1.0, to: f64::MAX },
        Takes::Above { above: 0.0, to: 1e12 },
        Takes::Seconds { from: 1, to: 3_600 },
        Takes::Ascending { unit: "seconds" },
        Takes::Numbers { count: 3 },
    ];

    #[test]
    fn samples_are_accepted_and_what_lies_beyond_is_not() {
        for takes in ALL {
            assert!(!takes.sample_values().is_empty());
            for good in takes.sample_values() {
                assert!(takes.accepts_text(&good), "{takes}: {good}");
            }
            for bad in takes.refused_values().iter().map(String::as_str).chain(["", "x", "1,2"]) {
                assert!(!takes.accepts_text(bad), "{takes}: {bad}");
            }
        }
    }

    #[test]
    fn people_read_bounds_that_mean_something() {
        let texts: Vec<String> = ALL.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "no|yes",
                "a whole number from 1",
                "a whole number from 0 to 100",
                "a number from 0 to 1",
                "a number from 1",
                "a number above 0",
                "seconds from 1 to 3600",
                "strictly ascending seconds from 1 separated by `/`",
                "3 numbers from 0 separated by `/`",
            ]
        );
    }
}
