//! From the bytes of one line to a record, quickly: one loop over the bytes, for lines as logs
//! write them.
//!
//! Everything out of the ordinary is left to the careful way ([`super::parse`]), and where this way
//! succeeds that one gives the same record: tests and fuzzing hold them to it. A variant that
//! classified eight bytes at a time and converted eight digits at once was measured to be slower:
//! numbers in logs are too short.

use super::decimal::{MAX_DECIMALS, SwfDecimal};
use super::parse::is_blank;
use super::record::{FIELDS, RecordField, SwfRecord};

/// Numbers of this many digits are below every limit there is, on times (2⁴⁰) as on 64 bits; longer
/// ones are read carefully.
const DIGITS: usize = 12;

/// Reads the record at the start of `bytes` up to and including its line end, and says how many
/// bytes that was.
///
/// Gives up (`None`) on comments, blank lines, long numbers, wrong fields, and lines whose end is
/// not in `bytes`.
#[inline]
pub(super) fn read_record(bytes: &[u8], line: u64) -> Option<(SwfRecord, usize)> {
    let mut values = [SwfDecimal::UNKNOWN; FIELDS];
    let mut at = 0;
    for (value, field) in values.iter_mut().zip(RecordField::ALL) {
        while is_blank(*bytes.get(at)?) {
            at += 1;
        }
        let negative = *bytes.get(at)? == b'-';
        at += usize::from(negative);
        let mut digits = 0;
        let first = at;
        at = read_digits(bytes, at, &mut digits)?;
        let mut length = at - first;
        if length == 0 {
            return None;
        }
        let mut decimals = 0;
        if *bytes.get(at)? == b'.' && field.is_decimal() {
            let point = at + 1;
            at = read_digits(bytes, point, &mut digits)?;
            decimals = at - point;
            length += decimals;
            if decimals == 0 || decimals > usize::from(MAX_DECIMALS) {
                return None;
            }
        }
        // Only now, for most numbers are short and wrapping does no harm.
        if length > DIGITS {
            return None;
        }
        *value = SwfDecimal::new(if negative { -digits } else { digits }, decimals as u8)?;
        // The line's end is found out below, and that it comes too soon by the next field without
        // digits.
        if *bytes.get(at)? > b' ' {
            return None;
        }
    }
    while is_blank(*bytes.get(at)?) {
        at += 1;
    }
    (*bytes.get(at)? == b'\n').then(|| (SwfRecord::from_values(&values, line), at + 1))
}

/// Appends the digits from `at` on to `digits`, wrapping, and says where they end.
#[inline]
fn read_digits(bytes: &[u8], mut at: usize, digits: &mut i64) -> Option<usize> {
    loop {
        let digit = bytes.get(at)?.wrapping_sub(b'0');
        if digit > 9 {
            return Some(at);
        }
        *digits = digits.wrapping_mul(10).wrapping_add(i64::from(digit));
        at += 1;
    }
}
