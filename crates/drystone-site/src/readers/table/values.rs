//! Values of a column: what they can be, row by row.

use crate::text::{RecordState, TimeForm, When, is_missing, parse_decimal, parse_span, split_state};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default)]
pub(super) struct ColumnProfile {
    /// Values that are there.
    pub(super) known: usize,
    pub(super) distinct: usize,
    /// Seconds since 1970, in UTC or local time.
    pub(super) moments: Vec<Option<f64>>,
    pub(super) numbers: Vec<Option<f64>>,
    /// Seconds of lengths such as `01:00:00`.
    pub(super) spans: Vec<Option<f64>>,
    /// Values that are words of states.
    pub(super) states: usize,
}

/// Returns whether a text is a number, a time or a length.
pub(super) fn is_typed(text: &str) -> bool {
    parse_number(text).is_some() || parse_moment(text, &TimeForm::default()).is_some() || parse_length(text).is_some()
}

fn parse_number(text: &str) -> Option<f64> {
    let plain = |text: &str| parse_decimal(text.as_bytes());
    plain(text).or_else(|| text.strip_prefix('-').and_then(plain).map(|value| -value))
}

fn parse_length(text: &str) -> Option<f64> {
    // `0:0` is an exit code.
    let clock = text.split(':').nth(1).is_some_and(|part| part.len() > 1);
    let has_length_form = clock || text.contains("day") || text.starts_with('P') || text.ends_with(" second(s)");
    has_length_form.then(|| parse_span(text.as_bytes())).flatten().map(f64::from)
}

/// A moment of these days: not any number that could be one.
pub(super) fn parse_moment(text: &str, form: &TimeForm) -> Option<f64> {
    let bytes = text.as_bytes();
    match form.read_time(bytes).ok()? {
        When::Civil(civil) => Some(civil as f64),
        When::Epoch(moment) => {
            let is_dated = bytes.iter().any(|b| matches!(b, b'-' | b':'));
            let recent = (700_000_000..4_100_000_000).contains(&moment);
            // A fraction of a second counts where run times are compared.
            let part = parse_number(text).filter(|value| *value < 1e11).map_or(0.0, f64::fract);
            (is_dated || recent).then_some(moment as f64 + part)
        }
        When::Unknown => None,
    }
}

impl ColumnProfile {
    pub(super) fn from_rows(rows: &[Vec<String>], at: usize, form: &TimeForm) -> ColumnProfile {
        let mut profile = ColumnProfile::default();
        let mut distinct = BTreeSet::new();
        for row in rows {
            let text = row.get(at).map_or("", String::as_str);
            let missing = is_missing(text.as_bytes());
            if !missing {
                profile.known += 1;
                distinct.insert(text);
                profile.states += usize::from(text.len() > 1 && split_state(text.as_bytes()).0 != RecordState::Other);
            }
            let unless_missing = |value: Option<f64>| value.filter(|_| !missing);
            profile.moments.push(unless_missing(parse_moment(text, form)));
            profile.numbers.push(unless_missing(parse_number(text)));
            profile.spans.push(unless_missing(parse_length(text)));
        }
        profile.distinct = distinct.len();
        profile
    }

    fn has_share(&self, values: &[Option<f64>], least: f64) -> bool {
        let value_count = values.iter().flatten().count();
        self.known > 0 && value_count as f64 >= least * self.known as f64
    }

    /// Returns whether its values are moments; 0 stands for one that is not known.
    pub(super) fn is_moment(&self) -> bool {
        let zeros = self.numbers.iter().flatten().filter(|value| **value == 0.0).count();
        let moment_count = self.moments.iter().flatten().count();
        moment_count > 0 && (moment_count + zeros) as f64 >= 0.9 * self.known as f64
    }

    pub(super) fn is_number(&self) -> bool {
        self.has_share(&self.numbers, 0.98)
    }

    /// Returns whether its values are lengths such as `01:00:00`.
    pub(super) fn is_span(&self) -> bool {
        self.has_share(&self.spans, 0.9) && !self.is_moment()
    }

    /// Returns whether its values could count things: small whole numbers, most of them not zero.
    pub(super) fn is_count(&self) -> bool {
        let whole = |value: &&f64| value.fract() == 0.0 && (0.0..=20_000_000.0).contains(*value);
        let numbers_present: Vec<&f64> = self.numbers.iter().flatten().collect();
        self.is_number() && numbers_present.iter().all(whole) && numbers_present.iter().any(|value| **value > 0.0)
    }

    /// Numbers or lengths in seconds, in units of so many.
    pub(super) fn lengths_in(&self, unit: f64) -> Vec<Option<f64>> {
        match self.is_span() {
            true => self.spans.clone(),
            false => self.numbers.iter().map(|value| value.map(|value| value * unit)).collect(),
        }
    }

    pub(super) fn is_word(&self) -> bool {
        self.known > 0 && !self.is_number() && !self.is_moment() && !self.is_span()
    }
}

/// The share of rows, of those that know both, in which a test holds; `None` where none does.
pub(super) fn share_of(a: &[Option<f64>], b: &[Option<f64>], test: impl Fn(f64, f64) -> bool) -> Option<f64> {
    let pairs: Vec<(f64, f64)> = a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
    let fit = pairs.iter().filter(|(a, b)| test(*a, *b)).count();
    (!pairs.is_empty()).then(|| fit as f64 / pairs.len() as f64)
}

/// Differences of two columns, row by row.
pub(super) fn subtract_columns(a: &[Option<f64>], b: &[Option<f64>]) -> Vec<Option<f64>> {
    a.iter().zip(b).map(|(a, b)| Some((*a)? - (*b)?)).collect()
}
