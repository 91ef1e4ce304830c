//! From the bytes of one line to a record, carefully: any blanks, any length, and a good word on
//! what is wrong.

use super::decimal::{MAX_DECIMALS, SwfDecimal};
use super::record::{FIELDS, RecordField, SwfRecord};
use crate::model::TIME_LIMIT;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;

/// Number of bytes of a wrong line shown.
const SHOWN: usize = 24;

/// A line that is not a record: where, what was expected, what was found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Malformed {
    /// The line, from 1.
    pub line: u64,
    /// The column in bytes, from 1.
    pub column: u64,
    /// Expected text.
    pub expected: String,
    /// Text found.
    pub found: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: expected {}, found {}", self.line, self.column, self.expected, self.found)
    }
}

/// Reads the record of one line, given without its line end.
///
/// # Errors
/// The first thing wrong with it.
pub(super) fn parse_carefully(
    text: &[u8],
    line: u64,
    names: &mut SwfNames,
) -> Result<(SwfRecord, LineRest), Malformed> {
    let wrong = |column: usize, expected: String, cell: String| Malformed {
        line,
        column: column as u64 + 1,
        expected,
        found: cell,
    };
    let mut values = [SwfDecimal::UNKNOWN; FIELDS];
    let mut beyond = LineRest::default();
    let mut at = 0;
    for field in RecordField::ALL {
        at = skip_blanks(text, at);
        let end = at + text[at..].iter().take_while(|b| !is_blank(**b)).count();
        let word = &text[at..end];
        if word.is_empty() {
            return Err(wrong(at, format!("{FIELDS} fields"), format!("the end of the line after {}", field.index())));
        }
        // A word there is as good as nothing: no policy and no measure needs the field.
        if matches!(parse_number(word, field), Err(LineProblem::NotANumber)) && may_be_a_word(field, word) {
            beyond.words += 1;
            at = end;
            continue;
        }
        if names_something(field, word) {
            values[field.index()] = names.name_number(field, word);
            beyond.names += 1;
            at = end;
            continue;
        }
        let value = parse_number(word, field).map_err(|problem| {
            wrong(
                at,
                match problem {
                    LineProblem::NotANumber if field.is_decimal() => {
                        format!("a number for {field}{}", describe_form(word, "`10.5`"))
                    }
                    LineProblem::NotANumber => format!("a whole number for {field}{}", describe_form(word, "`100`")),
                    LineProblem::TooLong => format!("a number of at most 64 bits for {field}"),
                    LineProblem::TooFar => format!("a time within ±{TIME_LIMIT} s for {field}"),
                },
                show_bytes(word),
            )
        })?;
        values[field.index()] = value;
        at = end;
    }
    beyond.fields = text[at..].split(|b| is_blank(*b)).filter(|word| !word.is_empty()).count() as u64;
    Ok((SwfRecord::from_values(&values, line), beyond))
}

/// Data of a line beyond a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct LineRest {
    /// Fields behind the eighteenth.
    pub(super) fields: u64,
    /// Words where numbers go, in fields that can be without.
    pub(super) words: u64,
    /// Names of users, groups, executables, queues and partitions.
    pub(super) names: u64,
}

/// Names that stand where the format has numbers, each with the number that it got.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct SwfNames {
    /// Of each field.
    known: [HashMap<Vec<u8>, i64>; FIELDS],
}

/// The number of the first name of a field: above the numbers that logs use.
const FIRST_NAME: i64 = 1_000_000_001;

impl SwfNames {
    /// Returns the number of a name: by first appearance in its field.
    fn name_number(&mut self, field: RecordField, word: &[u8]) -> SwfDecimal {
        let numbers = &mut self.known[field.index()];
        let next = FIRST_NAME + numbers.len() as i64;
        let number = *numbers.entry(word.to_vec()).or_insert(next);
        SwfDecimal::new(number, 0).unwrap_or(SwfDecimal::UNKNOWN)
    }
}

/// Returns whether a word is a name in a field that tells users, groups, executables, queues or
/// partitions apart.
fn names_something(field: RecordField, word: &[u8]) -> bool {
    let tells_apart = matches!(
        field,
        RecordField::User | RecordField::Group | RecordField::Executable | RecordField::Queue | RecordField::Partition
    );
    let plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'@' | b'/' | b'+');
    tells_apart && word.first().is_some_and(u8::is_ascii_alphabetic) && word.iter().all(plain)
}

/// Returns whether a word may stand in a field instead of a number: averages of use, memory, the
/// job before and the time after it. Numbers in another form are mistakes all the same.
fn may_be_a_word(field: RecordField, word: &[u8]) -> bool {
    let optional = matches!(
        field,
        RecordField::CpuTime
            | RecordField::UsedMemory
            | RecordField::RequestedMemory
            | RecordField::Preceding
            | RecordField::ThinkTime
    );
    let letters = word.first().is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'{' | b'[' | b'('));
    optional && letters && !word.contains(&0) && word.is_ascii()
}

/// The names of a first line that names fields, as some simulators write it.
pub(super) fn read_names(text: &[u8]) -> Option<Vec<String>> {
    let words: Vec<&[u8]> = text.split(|b| is_blank(*b)).filter(|word| !word.is_empty()).collect();
    let name = |word: &&[u8]| {
        word[0].is_ascii_alphabetic() && word.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    };
    let is_known = |word: &&[u8]| {
        ["submit", "submit_time", "wait", "run", "runtime", "run_time"]
            .iter()
            .any(|n| word.eq_ignore_ascii_case(n.as_bytes()))
    };
    let has_names = words.len() >= FIELDS && words.iter().all(name) && words.iter().any(is_known);
    has_names.then(|| words.into_iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect())
}

pub(super) enum LineProblem {
    NotANumber,
    TooLong,
    TooFar,
}

/// Reads `-?[0-9]+(\.[0-9]+)?`, the fraction only where the field may have one.
pub(super) fn parse_number(word: &[u8], field: RecordField) -> Result<SwfDecimal, LineProblem> {
    let (negative, magnitude) = match word {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, word),
    };
    let (whole, fraction) = match magnitude.iter().position(|b| *b == b'.') {
        Some(point) if field.is_decimal() => (&magnitude[..point], Some(&magnitude[point + 1..])),
        _ => (magnitude, None),
    };
    let all_digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    if !all_digits(whole) || fraction.is_some_and(|f| !all_digits(f)) {
        return Err(LineProblem::NotANumber);
    }
    // Downwards, because −2⁶³ has no positive counterpart.
    let push = |value: i64, digit: &u8| value.checked_mul(10)?.checked_sub(i64::from(*digit - b'0'));
    let apply_sign = |value: i64| {
        if negative { Some(value) } else { value.checked_neg() }
    };
    let mut value = whole.iter().try_fold(0, push).ok_or(LineProblem::TooLong)?;
    let mut places = 0;
    // A fraction is kept as far as it fits; what is cut off is below 10⁻⁹ or below the float's own
    // precision.
    for digit in fraction.unwrap_or_default().iter().take(usize::from(MAX_DECIMALS)) {
        match push(value, digit).filter(|longer| apply_sign(*longer).is_some()) {
            Some(longer) => value = longer,
            None => break,
        }
        places += 1;
    }
    let value = apply_sign(value).ok_or(LineProblem::TooLong)?;
    let decimal = SwfDecimal::new(value, places).ok_or(LineProblem::TooLong)?;
    if field.is_time() && decimal.round().unsigned_abs() > TIME_LIMIT.unsigned_abs() {
        return Err(LineProblem::TooFar);
    }
    Ok(decimal)
}

/// The form that is wanted, where the word is a number in another: `1e2` looks right to its author.
fn describe_form(word: &[u8], example: &str) -> String {
    let number_elsewhere = std::str::from_utf8(word).is_ok_and(|word| word.parse().is_ok_and(f64::is_finite));
    // A fraction where whole numbers go is of the right form.
    if number_elsewhere && matches!(parse_number(word, RecordField::Submit), Err(LineProblem::NotANumber)) {
        format!(" in plain digits, such as {example} or `-1`")
    } else {
        String::new()
    }
}

/// Returns whether a byte separates fields; a carriage return precedes the line end.
#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

pub(super) fn skip_blanks(text: &[u8], from: usize) -> usize {
    from + text[from..].iter().take_while(|b| is_blank(**b)).count()
}

/// A piece of a line for people: printable, and not long.
fn show_bytes(bytes: &[u8]) -> String {
    let piece = &bytes[..bytes.len().min(SHOWN)];
    let rest = if bytes.len() > SHOWN { "…" } else { "" };
    format!("`{}{rest}`", piece.escape_ascii())
}
