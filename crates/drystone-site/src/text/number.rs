//! Numbers, spans of time and limits.

/// A limit as a record says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RecordLimit {
    /// Nothing is said.
    Unknown,
    /// The partition's own.
    Partition,
    /// None.
    Unlimited,
    Seconds(u32),
}

/// A whole number of nothing but digits.
#[inline]
pub(crate) fn parse_digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    let mut value: u64 = 0;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// A whole number as tables write it: digits, also as a fraction or a power of ten that comes to a
/// whole number: `4`, `4.0`, `1.2e3`.
#[inline]
pub(crate) fn parse_whole(text: &[u8]) -> Option<u64> {
    parse_digits(text).or_else(|| parse_decimal(text).filter(|n| n.fract() == 0.0 && *n < EXACT).map(|n| n as u64))
}

/// Beyond this number not every whole one is a float.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A decimal number without a sign, perhaps with an exponent. A comma may stand for the point,
/// unless three digits follow: `1,440` is 1440 to some and 1.44 to others.
pub(crate) fn parse_decimal(text: &[u8]) -> Option<f64> {
    let plain = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-');
    if let Some(comma) = memchr::memchr(b',', text) {
        let (whole, rest) = (&text[..comma], &text[comma + 1..]);
        parse_digits(whole)?;
        parse_digits(rest).filter(|_| rest.len() != 3)?;
        return std::str::from_utf8(&[whole, b".", rest].concat()).ok()?.parse().ok();
    }
    if !text.first()?.is_ascii_digit() || !text.iter().all(plain) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok().filter(|n: &f64| n.is_finite())
}

/// A text that stands for a missing value, as schedulers, spreadsheets and data frames write it.
#[inline]
pub(crate) fn is_missing(text: &[u8]) -> bool {
    match text {
        b"" => true,
        // No number is one of these words.
        [b'0'..=b'9', ..] => false,
        b"Unknown" | b"unknown" | b"INVALID" | b"None" | b"none" | b"NONE" | b"N/A" | b"n/a" | b"NA" | b"nan"
        | b"NaN" | b"NAN" | b"NaT" | b"<NA>" | b"null" | b"NULL" | b"(null)" | b"None assigned" | b"undefined"
        | b"UNDEFINED" | b"-" | b"--" | b"-1" | b"nil" | b"\\N" => true,
        _ => false,
    }
}

/// The digits at the beginning, and what follows them.
pub(crate) fn split_leading(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    Some((parse_digits(&text[..end])?, &text[end..]))
}

/// `[D-]HH:MM:SS`, `MM:SS`, both perhaps with a fraction, or seconds, in whole seconds. Days may
/// have any number of digits.
#[inline]
pub(crate) fn parse_span(text: &[u8]) -> Option<u32> {
    // `HH:MM:SS`, as most are.
    if let [a, b, b':', c, d, b':', e, f] = text
        && [a, b, c, d, e, f].iter().all(|d| d.is_ascii_digit())
    {
        let two = |x: &u8, y: &u8| u32::from(x - b'0') * 10 + u32::from(y - b'0');
        return Some(two(a, b) * 3_600 + two(c, d) * 60 + two(e, f));
    }
    any_span(text)
}

fn any_span(text: &[u8]) -> Option<u32> {
    // As LSF writes run times.
    let text = text.strip_suffix(b" second(s)").unwrap_or(text);
    if let Some(rest) = text.strip_prefix(b"P") {
        return iso_span(rest);
    }
    let whole = match memchr::memchr(b'.', text) {
        Some(dot) if text[dot + 1..].iter().all(u8::is_ascii_digit) => &text[..dot],
        Some(_) => return None,
        None => text,
    };
    let (days, rest) = match memchr::memchr(b'-', whole) {
        Some(at) => (parse_digits(&whole[..at])?, &whole[at + 1..]),
        None => in_days(whole).unwrap_or((0, whole)),
    };
    let mut seconds: u64 = 0;
    let mut parts = 0;
    for part in rest.split(|&b| b == b':') {
        seconds = seconds.checked_mul(60)?.checked_add(parse_digits(part)?)?;
        parts += 1;
    }
    // After days hours come first, whatever follows.
    let seconds = match (days, parts) {
        (_, 4..) => return None,
        (1.., 1) => seconds.checked_mul(3_600)?,
        (1.., 2) => seconds.checked_mul(60)?,
        _ => seconds,
    };
    let seconds = days.checked_mul(86_400)?.checked_add(seconds)?;
    u32::try_from(seconds).ok().filter(|&s| s < u32::MAX - 8)
}

/// A length as [`parse_span`] reads it, in milliseconds.
pub(crate) fn parse_milliseconds(text: &[u8]) -> Option<u64> {
    let seconds = u64::from(parse_span(text)?);
    let Some(dot) = memchr::memchr(b'.', text) else { return seconds.checked_mul(1_000) };
    let digits = text[dot + 1..].iter().copied().chain(std::iter::repeat(b'0')).take(3);
    let part = digits.fold(0, |sum, digit| sum * 10 + u64::from(digit.saturating_sub(b'0').min(9)));
    seconds.checked_mul(1_000)?.checked_add(part)
}

/// `P1DT2H30M5.5S` behind its first letter, as JSON of data frames has lengths.
fn iso_span(text: &[u8]) -> Option<u32> {
    let (mut seconds, mut number, mut in_clock, mut parts) = (0.0, Vec::new(), false, 0);
    for &byte in text {
        let unit = match byte {
            b'0'..=b'9' | b'.' => {
                number.push(byte);
                continue;
            }
            b'T' if number.is_empty() && !in_clock => {
                in_clock = true;
                continue;
            }
            b'W' => 604_800.0,
            b'D' => 86_400.0,
            b'H' if in_clock => 3_600.0,
            b'M' if in_clock => 60.0,
            b'S' if in_clock => 1.0,
            _ => return None,
        };
        seconds += parse_decimal(&std::mem::take(&mut number))? * unit;
        parts += 1;
    }
    (parts > 0 && number.is_empty() && seconds < f64::from(u32::MAX - 8)).then_some(seconds as u32)
}

/// `0 days 01:00:00` of data frames, `1 day, 2:00:00` of Python: the days, and what follows them.
fn in_days(text: &[u8]) -> Option<(u64, &[u8])> {
    let (days, rest) = split_leading(text)?;
    let rest = rest.strip_prefix(b" day")?;
    let rest = rest.strip_prefix(b"s").unwrap_or(rest);
    let rest = rest.strip_prefix(b",").unwrap_or(rest).trim_ascii_start();
    Some((days, if rest.is_empty() { b"0" } else { rest }))
}

/// A limit in words, if it is one.
fn limit_word(text: &[u8]) -> Option<RecordLimit> {
    let is = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
    match text {
        b"" => Some(RecordLimit::Unknown),
        _ if is("partition_limit") => Some(RecordLimit::Partition),
        _ if is("unlimited") || is("infinite") => Some(RecordLimit::Unlimited),
        _ if is_missing(text) || is("invalid") || is("unknown") || is("none") => Some(RecordLimit::Unknown),
        _ => None,
    }
}

/// A limit in minutes, or a word for one.
#[inline]
pub(crate) fn limit_minutes(text: &[u8]) -> Option<RecordLimit> {
    if let Some(minutes) = parse_whole(text) {
        return Some(minutes_of(minutes));
    }
    // Part of a minute, as an average or a conversion leaves it.
    let seconds = parse_decimal(text).map(|minutes| (minutes * 60.0).round());
    match seconds.filter(|&s| s < f64::from(u32::MAX - 8)) {
        Some(seconds) => Some(RecordLimit::Seconds(seconds as u32)),
        None => limit_word(text),
    }
}

/// Slurm's number of minutes: 2³² − 1 is no limit, 2³² − 2 is none given.
pub(crate) fn minutes_of(minutes: u64) -> RecordLimit {
    match minutes {
        4_294_967_295 | 18_446_744_073_709_551_615 => RecordLimit::Unlimited,
        4_294_967_294 | 18_446_744_073_709_551_614 => RecordLimit::Unknown,
        // More than 136 years is no limit either.
        _ => u32::try_from(minutes.saturating_mul(60))
            .ok()
            .filter(|&s| s < u32::MAX - 8)
            .map_or(RecordLimit::Unlimited, RecordLimit::Seconds),
    }
}

/// A limit as a span, or a word for one.
pub(crate) fn limit_span(text: &[u8]) -> Option<RecordLimit> {
    limit_word(text).or_else(|| parse_span(text).map(RecordLimit::Seconds))
}

/// Memory with a unit, `4G`, `62.50G`, `3000Mc`, in kilobytes; a number without one is in units of
/// `plain` kilobytes. Also returns the rest of the text.
pub(crate) fn parse_kilobytes(text: &[u8], plain: f64) -> Option<(u64, &[u8])> {
    let end = text.iter().position(|b| !b.is_ascii_digit() && *b != b'.').unwrap_or(text.len());
    // What is whole and not huge needs no parser of fractions.
    let whole = parse_digits(&text[..end]).filter(|&n| n < 1 << 53).map(|n| n as f64);
    let number: f64 = match whole {
        Some(number) => number,
        None => std::str::from_utf8(&text[..end]).ok()?.parse().ok()?,
    };
    let (scale, rest) = match text.get(end) {
        Some(b'K' | b'k') => (1.0, &text[end + 1..]),
        Some(b'M' | b'm') => (1024.0, &text[end + 1..]),
        Some(b'G' | b'g') => (1024.0 * 1024.0, &text[end + 1..]),
        Some(b'T' | b't') => (1024.0 * 1024.0 * 1024.0, &text[end + 1..]),
        Some(b'P' | b'p') => (1024.0 * 1024.0 * 1024.0 * 1024.0, &text[end + 1..]),
        Some(b'E' | b'e') => (1024.0 * 1024.0 * 1024.0 * 1024.0 * 1024.0, &text[end + 1..]),
        _ => (plain, &text[end..]),
    };
    let kilobytes = (number * scale).round();
    (0.0..9.0e18).contains(&kilobytes).then_some((kilobytes as u64, rest))
}

/// Memory in kilobytes, of a number without a unit in megabytes; nothing may follow.
pub(crate) fn parse_megabytes(text: &[u8]) -> Option<u64> {
    parse_kilobytes(text, 1024.0).filter(|(_, rest)| rest.is_empty()).map(|(kilobytes, _)| kilobytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_many_forms() {
        for (text, expected) in [
            ("00:00:24", Some(24)),
            ("10-13:27:06", Some(10 * 86_400 + 13 * 3_600 + 27 * 60 + 6)),
            ("125-00:00:00", Some(125 * 86_400)),
            ("1-00", Some(86_400)),
            ("1-02:30", Some(86_400 + 2 * 3_600 + 30 * 60)),
            ("02:03", Some(123)),
            ("01:00.003", Some(60)),
            ("100:00:00", Some(360_000)),
            ("77", Some(77)),
            ("3600 second(s)", Some(3_600)),
            (" second(s)", None),
            ("0 days 01:00:00", Some(3_600)),
            ("2 days 00:30:00.5", Some(2 * 86_400 + 1_800)),
            ("1 day, 2:00:00", Some(86_400 + 7_200)),
            ("3 days", Some(3 * 86_400)),
            ("3 dogs", None),
            ("", None),
            ("INVALID", None),
            ("1:2:3:4", None),
            ("1-", None),
            ("-1", None),
            ("1.x", None),
            ("99999999999-00:00:00", None),
        ] {
            assert_eq!(parse_span(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn limits_have_words() {
        assert_eq!(limit_minutes(b"1440"), Some(RecordLimit::Seconds(86_400)));
        assert_eq!(limit_minutes(b"UNLIMITED"), Some(RecordLimit::Unlimited));
        assert_eq!(limit_minutes(b"Partition_Limit"), Some(RecordLimit::Partition));
        assert_eq!(limit_minutes(b"4294967295"), Some(RecordLimit::Unlimited));
        assert_eq!(limit_minutes(b""), Some(RecordLimit::Unknown));
        assert_eq!(limit_minutes(b"soon"), None);
        assert_eq!(limit_minutes(b"90.0"), Some(RecordLimit::Seconds(5_400)));
        assert_eq!(limit_minutes(b"7.25"), Some(RecordLimit::Seconds(435)));
        assert_eq!(limit_minutes(b"1.5e3"), Some(RecordLimit::Seconds(90_000)));
        assert_eq!(limit_minutes(b"nan"), Some(RecordLimit::Unknown));
        assert_eq!(limit_minutes(b"-5"), None);
        assert_eq!(limit_span(b"1-06:00:00"), Some(RecordLimit::Seconds(108_000)));
    }

    #[test]
    fn whole_numbers_may_look_like_fractions() {
        for (text, expected) in [
            ("4", Some(4)),
            ("4.0", Some(4)),
            ("12.", Some(12)),
            ("1.756108801e+09", Some(1_756_108_801)),
            ("4.5", None),
            ("1e-3", None),
            ("-4.0", None),
            ("4.0.0", None),
            ("0x10", None),
            ("inf", None),
            ("1e300", None),
            ("4,0", Some(4)),
            ("1024,00", Some(1_024)),
            ("1,024", None),
            ("4,5", None),
            ("4,,0", None),
            (",0", None),
            ("4,", None),
            ("", None),
        ] {
            assert_eq!(parse_whole(text.as_bytes()), expected, "{text}");
        }
        assert!(is_missing(b"NaT") && is_missing(b"") && !is_missing(b"0") && !is_missing(b"nano"));
    }

    #[test]
    fn memory_has_units() {
        assert_eq!(parse_megabytes(b"62.50G"), Some(65_536_000));
        assert_eq!(parse_megabytes(b"24000M"), Some(24_576_000));
        assert_eq!(parse_megabytes(b"7"), Some(7_168));
        assert_eq!(parse_megabytes(b"4Gn"), None);
        assert_eq!(parse_megabytes(b"G"), None);
        assert_eq!(parse_megabytes(b"1.2.3G"), None);
    }
}
