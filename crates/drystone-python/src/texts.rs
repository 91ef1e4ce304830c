//! Texts in tables that stand for numbers: spans of time, sizes of memory, states of jobs.

use drystone::model::LogStatus;
use drystone::times::read_duration;
use drystone_site::RecordState;

/// Reads a whole number or a fraction.
fn read_number(text: &str) -> Option<f64> {
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    // `inf` and `nan` are numbers to Rust.
    text.chars().all(plain).then(|| text.parse().ok())?.filter(|number: &f64| number.is_finite())
}

/// Reads a whole number, also one that is written as a fraction, such as `4.0`.
pub(crate) fn read_whole(text: &str) -> Option<i64> {
    let text = text.trim();
    let exact = |number: &f64| number.fract() == 0.0 && number.abs() < 9e15;
    text.parse().ok().or_else(|| read_number(text).filter(exact).map(|number| number as i64))
}

/// Reads a number as a whole one. Fractions are rounded, halves away from zero.
pub(crate) fn read_rounded(text: &str) -> Option<i64> {
    read_number(text.trim()).filter(|number| number.abs() < 9e15).map(|number| number.round() as i64)
}

/// Reads a span in whole seconds: a number of seconds, `HH:MM:SS`, `D-HH:MM:SS`, `MM:SS`,
/// `1 days 02:00:00`, `1d12h`, `90 min`, or `PT1H30M`. Fractions are rounded, halves away from
/// zero.
pub(crate) fn read_span(text: &str) -> Option<i64> {
    read_rounded(text).or_else(|| read_clock_span(text.trim())).or_else(|| read_units(text.trim()))
}

/// Reads a span of numbers with units, as people, polars and ISO 8601 write it.
fn read_units(text: &str) -> Option<i64> {
    let units = match text.strip_prefix('P') {
        Some(rest) => {
            let (date, time) = rest.split_once('T').unwrap_or((rest, ""));
            // Months and years have no length.
            date.chars().all(|c| c.is_ascii_digit() || matches!(c, 'D' | 'W' | '.')).then(|| format!("{date}{time}"))?
        }
        None => text.to_string(),
    };
    // Words such as UNLIMITED are no spans.
    let seconds = read_duration(&units).filter(|_| units.starts_with(|c: char| c.is_ascii_digit()))?;
    (seconds < 9e15).then_some(seconds.round() as i64)
}

fn read_clock_span(text: &str) -> Option<i64> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(read_digits(days)?), rest),
        None => match text.split_once(" day") {
            Some((days, rest)) => {
                let rest = rest.strip_prefix('s').unwrap_or(rest);
                let rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
                (Some(read_digits(days)?), if rest.is_empty() { "0" } else { rest })
            }
            None => (None, text),
        },
    };
    let (whole, fraction) = rest.split_once('.').unwrap_or((rest, "0"));
    read_digits(&fraction.chars().take(18).collect::<String>())?;
    let up = i64::from(fraction.starts_with(|c: char| ('5'..='9').contains(&c)));
    let parts = whole.split(':').map(read_digits).collect::<Option<Vec<i64>>>()?;
    // After days hours come first, whatever follows.
    let seconds = match (days, parts.as_slice()) {
        (_, &[h, m, s]) => h.checked_mul(3_600)?.checked_add(m.checked_mul(60)?)?.checked_add(s)?,
        (Some(_), &[h, m]) => h.checked_mul(3_600)?.checked_add(m.checked_mul(60)?)?,
        (Some(_), &[h]) => h.checked_mul(3_600)?,
        (None, &[m, s]) => m.checked_mul(60)?.checked_add(s)?,
        _ => return None,
    };
    days.unwrap_or(0).checked_mul(86_400)?.checked_add(seconds)?.checked_add(up)
}

fn read_digits(text: &str) -> Option<i64> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

/// Returns whether a text says that nothing is known.
pub(crate) fn is_missing(text: &str) -> bool {
    let words = ["", "unknown", "invalid", "none", "n/a", "na", "nan", "nat", "<na>", "null", "(null)"];
    words.iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}

/// Returns whether a text says that there is no limit of time.
pub(crate) fn is_no_limit(text: &str) -> bool {
    let words = ["unlimited", "infinite", "partition_limit", "inf", "infinity"];
    is_missing(text) || words.iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}

/// Reads memory per processor in kilobytes: a number of kilobytes, or one with a unit: `4G`,
/// `62.5M`, `4GB`, `4GiB`, `4Gc`.
pub(crate) fn read_kilobytes(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Some(number) = read_rounded(text) {
        return Some(number);
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let number = read_number(&text[..end])?;
    let mut rest = text[end..].trim_start().chars();
    let power = match rest.next()?.to_ascii_uppercase() {
        'K' => 0,
        'M' => 1,
        'G' => 2,
        'T' => 3,
        'P' => 4,
        _ => return None,
    };
    let unit = ["", "B", "iB", "c", "C"].contains(&rest.as_str());
    let kilobytes = (number * 1024f64.powi(power)).round();
    (unit && (0.0..9e15).contains(&kilobytes)).then_some(kilobytes as i64)
}

/// Reads the status of a job: a number of the Standard Workload Format, or a state of Slurm such as
/// `COMPLETED` or `CANCELLED by 1000`. LSF's `DONE` and `EXIT` are known as well.
pub(crate) fn read_status(text: &str) -> Option<i64> {
    if let Some(number) = read_whole(text) {
        return Some(number);
    }
    let word = text.split_ascii_whitespace().next().unwrap_or_default().trim_end_matches('+');
    let is = |name: &str| word.eq_ignore_ascii_case(name);
    if is_missing(text) {
        return Some(LogStatus::Unknown.to_swf());
    }
    if is("DONE") {
        return Some(LogStatus::Completed.to_swf());
    }
    if is("EXIT") {
        return Some(LogStatus::Failed.to_swf());
    }
    let state = if is("CANCELED") { Some(RecordState::Cancelled) } else { RecordState::find_state(word) };
    let status = match state? {
        RecordState::Completed | RecordState::Completing => LogStatus::Completed,
        RecordState::Cancelled | RecordState::Revoked => LogStatus::Cancelled,
        RecordState::Running
        | RecordState::Suspended
        | RecordState::Resizing
        | RecordState::Pending
        | RecordState::Configuring => LogStatus::Unknown,
        _ => LogStatus::Failed,
    };
    Some(status.to_swf())
}
