//! Lengths of time as Slurm writes them.

/// Seconds that stand for `UNLIMITED`: a year, with which Slurm's backfill plans a job without a
/// limit.
pub const UNLIMITED: i64 = 365 * DAY;

const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;

/// Reads a length of time as Slurm writes it, in seconds: `2-00:00:00`, `1-12:30`, `1-0`,
/// `12:00:00`, `30:00`, and [`UNLIMITED`] for `UNLIMITED` and `INFINITE`. `None` for any other
/// text.
///
/// ```
/// use drystone_core::clock_length::read_clock_length;
///
/// assert_eq!(read_clock_length("2-00:00:00"), Some(172_800));
/// assert_eq!(read_clock_length("30:00"), Some(1_800));
/// assert_eq!(read_clock_length("30"), None);
/// ```
pub fn read_clock_length(text: &str) -> Option<i64> {
    if ["unlimited", "infinite"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Some(UNLIMITED);
    }
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(parse_whole_number(days)?), rest),
        None => (None, text),
    };
    let parts: Vec<i64> = rest.split(':').map(parse_whole_number).collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match (days, &parts[..]) {
        (_, &[hours, minutes, seconds]) => (hours, minutes, seconds),
        (Some(_), &[hours, minutes]) => (hours, minutes, 0),
        (Some(_), &[hours]) => (hours, 0, 0),
        (None, &[minutes, seconds]) => (0, minutes, seconds),
        _ => return None,
    };
    let parts = [(days.unwrap_or(0), DAY), (hours, HOUR), (minutes, 60), (seconds, 1)];
    parts.into_iter().try_fold(0_i64, |sum, (number, unit)| sum.checked_add(number.checked_mul(unit)?))
}

/// A whole number of digits alone.
fn parse_whole_number(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}
