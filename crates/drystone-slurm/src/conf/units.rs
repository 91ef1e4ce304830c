//! Times and yes-or-no as slurm.conf writes them.

/// A time in seconds, `None` for no limit: `minutes`, `minutes:seconds`, `hours:minutes:seconds`,
/// `days-hours`, `days-hours:minutes`, `days-hours:minutes:seconds`, `UNLIMITED`, `INFINITE`.
///
/// # Errors
/// Any other text.
pub fn parse_seconds(text: &str) -> Result<Option<i64>, String> {
    if ["unlimited", "infinite", "-1"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Ok(None);
    }
    let wrong = || {
        format!("`{text}` is no time; expected minutes, hours:minutes:seconds, days-hours:minutes:seconds or UNLIMITED")
    };
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(parse_digits(days).ok_or_else(wrong)?), rest),
        None => (None, text),
    };
    let parts = rest.split(':').map(parse_digits).collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
    let (hours, minutes, seconds) = match (days.is_some(), parts.as_slice()) {
        (true, &[h]) => (h, 0, 0),
        (true, &[h, m]) => (h, m, 0),
        (false, &[m]) => (0, m, 0),
        (false, &[m, s]) => (0, m, s),
        (_, &[h, m, s]) => (h, m, s),
        _ => return Err(wrong()),
    };
    Ok(Some(((days.unwrap_or(0) * 24 + hours) * 60 + minutes) * 60 + seconds))
}

/// A time in whole minutes, rounded up, as Slurm keeps limits.
///
/// # Errors
/// As [`parse_seconds`].
pub fn parse_minutes(text: &str) -> Result<Option<i64>, String> {
    Ok(parse_seconds(text)?.map(|s| (s + 59) / 60))
}

/// `YES`, `NO` and the other words for them.
///
/// # Errors
/// Any other text.
pub(super) fn yes_no(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "up" | "true" | "1" => Ok(true),
        "no" | "down" | "false" | "0" => Ok(false),
        _ => Err(format!("`{text}` is neither YES nor NO")),
    }
}

/// A count: decimal, hexadecimal behind `0x`, octal behind `0`, in units of 1,024 before `k`.
///
/// # Errors
/// Any other text.
pub(super) fn parse_count(text: &str) -> Result<u32, String> {
    parse_whole(text)
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| format!("`{text}` is no count; expected a whole number from 0"))
}

/// A whole number as Slurm reads it; see [`parse_count`].
pub(super) fn parse_whole(text: &str) -> Option<u64> {
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1024),
        None => (text, 1),
    };
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let hexadecimal = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    let octal = digits.strip_prefix('0').and_then(|rest| u64::from_str_radix(rest, 8).ok());
    let number = match hexadecimal {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => octal.or_else(|| digits.parse().ok()),
    };
    number?.checked_mul(unit)
}

/// A count, `None` for no limit.
///
/// # Errors
/// Any other text.
pub(super) fn parse_limit(text: &str) -> Result<Option<u32>, String> {
    if text.eq_ignore_ascii_case("unlimited") || text.eq_ignore_ascii_case("infinite") {
        return Ok(None);
    }
    parse_count(text).map(Some)
}

/// At most ten digits, so that sums of days stay within 64 bits.
fn parse_digits(text: &str) -> Option<i64> {
    let digits = (1..=10).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_the_forms_of_a_c_number() {
        for (text, expected) in [("12", 12), ("0x1F", 31), ("010", 8), ("0", 0), ("2k", 2048), ("1K", 1024)] {
            assert_eq!(parse_count(text), Ok(expected), "{text}");
        }
        for text in ["", "k", "1G", "1.5", "-1", "0x", "x", "5000000000", "9000000k"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_have_six_forms() {
        let cases = [
            ("30", 1800),
            ("30:10", 1810),
            ("1:0:1", 3601),
            ("7-0", 7 * 86_400),
            ("1-1:1", 90_060),
            ("0-0:05:00", 300),
            ("48:00:00", 172_800),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_seconds(text), Ok(Some(expected)), "{text}");
        }
        assert_eq!(parse_seconds("Infinite"), Ok(None));
        assert_eq!(parse_minutes("0:01"), Ok(Some(1)));
        for text in ["", "x", "1-", "1:2:3:4", "1-2:3:4:5", "99999999999", "-5"] {
            assert!(parse_seconds(text).is_err(), "{text}");
        }
    }
}
