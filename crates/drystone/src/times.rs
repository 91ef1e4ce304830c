//! Lengths and points of time as people and Slurm write them.

use drystone_core::clock_length::read_clock_length;
use jiff::civil::{Date, DateTime, Time as TimeOfDay};

const HOUR: f64 = 3_600.0;
const DAY: f64 = 86_400.0;

/// Units of a length of time, with their words.
const UNITS: [(f64, &[&str]); 5] = [
    (1.0, &["s", "sec", "secs", "second", "seconds"]),
    (60.0, &["m", "min", "mins", "minute", "minutes"]),
    (HOUR, &["h", "hr", "hour", "hours"]),
    (DAY, &["d", "day", "days"]),
    (7.0 * DAY, &["w", "week", "weeks"]),
];

/// Reads a length of time in seconds: numbers with units (`90min`, `1.5h`, `1d12h`, `2 days`), or
/// as Slurm writes it (`2-00:00:00`, `1-0`, `12:00:00`, `30:00`, `UNLIMITED` for 365 days). `None`
/// for any other text, a number without a unit among them: it is minutes to Slurm and seconds to
/// others.
///
/// ```
/// use drystone::times::read_duration;
///
/// assert_eq!(read_duration("2-12:00:00"), Some(216_000.0));
/// assert_eq!(read_duration("1d12h"), read_duration("1-12"));
/// assert_eq!(read_duration("30:00"), read_duration("30min"));
/// assert_eq!(read_duration("30"), None);
/// ```
pub fn read_duration(text: &str) -> Option<f64> {
    let text = text.trim();
    let seconds = read_clock_length(text).map(|seconds| seconds as f64).or_else(|| unit_length(text))?;
    seconds.is_finite().then_some(seconds)
}

/// A whole number of digits alone.
fn parse_digits(text: &str) -> Option<f64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse::<f64>().ok().filter(|_| digits)
}

/// `1d12h30m`, each number with a unit, the larger units first.
fn unit_length(text: &str) -> Option<f64> {
    let (mut rest, mut sum, mut last) = (text, 0.0, f64::INFINITY);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, behind) = rest.split_at(digits);
        let behind = behind.trim_start();
        let letters = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (word, next) = behind.split_at(letters);
        let word = word.to_ascii_lowercase();
        let (unit, _) = UNITS.into_iter().find(|(_, words)| words.contains(&word.as_str()))?;
        if unit >= last || number.is_empty() {
            return None;
        }
        sum += number.parse::<f64>().ok()? * unit;
        (rest, last) = (next.trim_start(), unit);
    }
    (last < f64::INFINITY).then_some(sum)
}

/// A point of time as people write it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WrittenMoment {
    /// So many seconds after now, or before.
    FromNow(i64),
    /// A local time, in seconds as if it were UTC.
    Local(i64),
}

/// Reads a point of time as Slurm's commands take it: `2026-12-03`, `2026-12-03T08:00`,
/// `12/03/26`, `08:00` (of the day of now), `noon`, `midnight`, `today`, `yesterday`, `tomorrow`,
/// `now`, `now-1hour`, `now+2days`, `yesterday+08:00`. `now` is the present local time, in seconds
/// as if it were UTC.
pub fn read_moment(text: &str, now: i64) -> Option<WrittenMoment> {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    let today = now - now.rem_euclid(DAY as i64);
    let words = [
        ("today", today),
        ("midnight", today),
        ("yesterday", today - DAY as i64),
        ("tomorrow", today + DAY as i64),
        ("noon", today + 12 * HOUR as i64),
        ("teatime", today + 16 * HOUR as i64),
    ];
    if let Some(rest) = lower.strip_prefix("now") {
        return parse_offset(rest).map(WrittenMoment::FromNow);
    }
    for (word, at) in words {
        if let Some(rest) = lower.strip_prefix(word) {
            return parse_offset(rest).map(|by| WrittenMoment::Local(at + by));
        }
    }
    let (date, time) = match text.split_once(['T', 't']) {
        Some((date, time)) => (written_date(date, today)?, clock_time(time)?),
        None if text.contains(':') => (today, clock_time(text)?),
        None => (written_date(text, today)?, 0),
    };
    Some(WrittenMoment::Local(date + time))
}

/// `+1hour`, `-2days`, `+90` seconds, or nothing.
fn parse_offset(text: &str) -> Option<i64> {
    let text = text.trim();
    let (sign, length) = match text.chars().next() {
        None => return Some(0),
        Some('+') => (1, &text[1..]),
        Some('-') => (-1, &text[1..]),
        Some(_) => return None,
    };
    let seconds = read_duration(length).or_else(|| parse_digits(length.trim()))?.round();
    (seconds < 1e12).then_some(sign * seconds as i64)
}

/// `08:00`, `8:00:30`, `8:00pm`: seconds of the day.
fn clock_time(text: &str) -> Option<i64> {
    let lower = text.to_ascii_lowercase();
    let (clock, half) = match (lower.strip_suffix("am"), lower.strip_suffix("pm")) {
        (Some(clock), _) => (clock.trim_end(), Some(0)),
        (_, Some(clock)) => (clock.trim_end(), Some(12)),
        _ => (lower.as_str(), None),
    };
    let parts: Vec<i8> = clock.split(':').map(|part| parse_digits(part).map(|n| n as i8)).collect::<Option<_>>()?;
    let (hour, minute, second) = match parts[..] {
        [hour, minute] => (hour, minute, 0),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    let hour = match half {
        None => hour,
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(half) => hour % 12 + half,
    };
    let time = TimeOfDay::new(hour, minute, second, 0).ok()?;
    Some(i64::from(time.hour()) * 3_600 + i64::from(time.minute()) * 60 + i64::from(time.second()))
}

/// `2026-12-03`, `12/03/26`, `12/03/2026`, or `12/03` of this year: the seconds of its midnight.
fn written_date(text: &str, today: i64) -> Option<i64> {
    let parts = |sign: char| -> Option<Vec<i16>> { text.split(sign).map(|part| part.parse().ok()).collect() };
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'/');
    let (year, month, day) = match (parts('-').filter(|_| plain), parts('/').filter(|_| plain)) {
        (Some(numbers), _) if numbers.len() == 3 && text.find('-') == Some(4) => (numbers[0], numbers[1], numbers[2]),
        (_, Some(numbers)) if numbers.len() == 3 => {
            (if numbers[2] < 100 { numbers[2] + 2_000 } else { numbers[2] }, numbers[0], numbers[1])
        }
        (_, Some(numbers)) if numbers.len() == 2 => (year_of(today)?, numbers[0], numbers[1]),
        _ => return None,
    };
    let date = Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    let days = date.since(Date::new(1970, 1, 1).ok()?).ok()?.get_days();
    Some(i64::from(days) * DAY as i64)
}

fn year_of(civil: i64) -> Option<i16> {
    let date: DateTime = Date::new(1970, 1, 1).ok()?.to_datetime(TimeOfDay::midnight());
    date.checked_add(jiff::SignedDuration::from_secs(civil)).ok().map(|date| date.year())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units_or_are_those_of_slurm() {
        for (text, seconds) in [
            ("90s", 90.0),
            ("1.5h", 5_400.0),
            ("90min", 5_400.0),
            ("2 days", 172_800.0),
            ("1d12h", 129_600.0),
            ("1h30m5s", 5_405.0),
            ("1w", 604_800.0),
            ("0h", 0.0),
            ("2H", 7_200.0),
            // As `sbatch --time` documents them.
            ("30:00", 1_800.0),
            ("12:00:00", 43_200.0),
            ("1-0", 86_400.0),
            ("1-12", 129_600.0),
            ("1-12:30", 131_400.0),
            ("2-00:00:00", 172_800.0),
            (" 0-00:00:30 ", 30.0),
            // A year, as `bf_window` and the imputed limits have it.
            ("UNLIMITED", 31_536_000.0),
            ("infinite", 31_536_000.0),
        ] {
            assert_eq!(read_duration(text), Some(seconds), "{text}");
        }
        let wrong = ["", "30", "h", "1x", "1h2d", "1h1h", "-1h", "1-", "-1", "1:2:3:4", "1-2-3", "1..5h", "1d 2", "٣h"];
        for text in wrong {
            assert_eq!(read_duration(text), None, "{text}");
        }
    }

    #[test]
    fn points_of_time_are_those_of_slurm() {
        // Thursday 2026-12-03, 09:30.
        let (day, now) = (1_796_256_000, 1_796_256_000 + 34_200);
        for (text, moment) in [
            ("now", WrittenMoment::FromNow(0)),
            ("now-1hour", WrittenMoment::FromNow(-3_600)),
            ("NOW+2days", WrittenMoment::FromNow(172_800)),
            ("now-90", WrittenMoment::FromNow(-90)),
            ("now-1-00:00:00", WrittenMoment::FromNow(-86_400)),
            ("today", WrittenMoment::Local(day)),
            ("midnight", WrittenMoment::Local(day)),
            ("yesterday", WrittenMoment::Local(day - 86_400)),
            ("tomorrow", WrittenMoment::Local(day + 86_400)),
            ("noon", WrittenMoment::Local(day + 43_200)),
            ("yesterday+8hours", WrittenMoment::Local(day - 57_600)),
            ("08:00", WrittenMoment::Local(day + 28_800)),
            ("8:00pm", WrittenMoment::Local(day + 72_000)),
            ("2026-12-03", WrittenMoment::Local(day)),
            ("2026-12-03T08:00", WrittenMoment::Local(day + 28_800)),
            ("2026-12-03T08:00:05", WrittenMoment::Local(day + 28_805)),
            ("12/03/26", WrittenMoment::Local(day)),
            ("12/03", WrittenMoment::Local(day)),
        ] {
            assert_eq!(read_moment(text, now), Some(moment), "{text}");
        }
        for text in [
            "",
            "soon",
            "nowhere",
            "2026-13-03",
            "2026-02-30",
            "25:00",
            "13:00pm",
            "now-",
            "now-1x",
            "2026-12-03T",
            "1796256000",
            "-4-3",
        ] {
            assert_eq!(read_moment(text, now), None, "{text}");
        }
    }
}
