//! Moments as records write them.

use crate::clock::civil_bytes;

/// A moment, before its time zone is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    /// Not yet, or not known.
    Unknown,
    /// Seconds since 1970.
    Epoch(i64),
    /// Local time, in seconds as if it were UTC.
    Civil(i64),
}

/// Notation of moments, beside the forms that are known without being declared.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimeForm(pub(crate) Option<String>);

/// A text that is no moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoTime {
    /// Relative to the day on which it was printed.
    Relative,
    /// Anything else.
    Unreadable,
}

impl TimeForm {
    /// Reads one: `2026-01-31T12:00:00` with a blank or a `T`, perhaps a fraction and a distance
    /// from UTC; seconds since 1970; `Unknown`, `None`, nothing; or the form that was given.
    #[inline]
    pub(crate) fn read_time(&self, text: &[u8]) -> Result<When, NoTime> {
        if let Some(civil) = civil_bytes(text) {
            return Ok(When::Civil(civil));
        }
        // Ten digits are seconds since 1970, unless another form was given.
        if text.len() == 10
            && self.0.is_none()
            && let Some(seconds) = super::number::parse_digits(text)
        {
            return Ok(if is_no_moment(seconds) { When::Unknown } else { When::Epoch(seconds as i64) });
        }
        if super::number::is_missing(text) {
            return Ok(When::Unknown);
        }
        if let Some(form) = &self.0 {
            return parse_with_form(form, text);
        }
        if let Some(civil) = parse_compact(text) {
            return Ok(When::Civil(civil));
        }
        if let Some(seconds) = parse_epoch(text) {
            return Ok(if is_no_moment(seconds as u64) { When::Unknown } else { When::Epoch(seconds) });
        }
        parse_zoned(text).or_else(|| of_ctime(text)).ok_or(if is_relative(text) {
            NoTime::Relative
        } else {
            NoTime::Unreadable
        })
    }
}

/// Returns whether a number stands for a moment that is not known.
///
/// These are 0 and Slurm's own numbers for "none" and "no limit", which would be moments in 2106.
fn is_no_moment(seconds: u64) -> bool {
    matches!(seconds, 0 | 4_294_967_294 | 4_294_967_295)
}

/// `20220101`, `202201011230`, `20220101123005`: a date of digits alone, in seconds as if it were
/// UTC. As a number of seconds or thousandths it would lie before 1971, or be no time at all.
fn parse_compact(text: &[u8]) -> Option<i64> {
    let text = text.strip_suffix(b".0").unwrap_or(text);
    if !matches!(text.len(), 8 | 12 | 14) || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let part = |from: usize, to: usize| text.get(from..to).map_or("00".into(), String::from_utf8_lossy);
    let (year, month, day) = (part(0, 4), part(4, 6), part(6, 8));
    let clock = [(8, 10), (10, 12), (12, 14)].map(|(from, to)| part(from, to)).join(":");
    if !("1980".."2101").contains(&year.as_ref()) {
        return None;
    }
    civil_bytes(format!("{year}-{month}-{day}T{clock}").as_bytes())
}

/// Seconds since 1970; a fraction is cut. What lies beyond the year 5000 is in thousandths,
/// millionths or thousand-millionths of a second, as data frames and JavaScript count.
fn parse_epoch(text: &[u8]) -> Option<i64> {
    let seconds = |count: i64| match count {
        ..100_000_000_000 => count,
        100_000_000_000..100_000_000_000_000 => count / 1_000,
        100_000_000_000_000..100_000_000_000_000_000 => count / 1_000_000,
        _ => count / 1_000_000_000,
    };
    // `1.7561088e+09`, as data frames write columns with gaps.
    if text.contains(&b'e') || text.contains(&b'E') {
        return super::number::parse_decimal(text).filter(|&s| s < 9e18).map(|count| seconds(count as i64));
    }
    let whole = match memchr::memchr(b'.', text) {
        Some(dot) if text[dot + 1..].iter().all(u8::is_ascii_digit) => &text[..dot],
        Some(_) => return None,
        None => text,
    };
    super::number::parse_digits(whole).and_then(|count| i64::try_from(count).ok()).map(seconds)
}

/// `2026-01-31T12:00:00.5+01:00`, with any part behind the minutes.
fn parse_zoned(text: &[u8]) -> Option<When> {
    let (civil, mut rest) = match text.split_at_checked(19).and_then(|(head, rest)| Some((civil_bytes(head)?, rest))) {
        Some(moment) => moment,
        // `2026-01-31T12:00`.
        None => {
            let (head, rest) = text.split_at_checked(16)?;
            (civil_bytes(&[head, b":00"].concat())?, rest)
        }
    };
    if let Some(fraction) = rest.strip_prefix(b".") {
        let end = fraction.iter().position(|b| !b.is_ascii_digit()).unwrap_or(fraction.len());
        rest = &fraction[end..];
        if end == 0 {
            return None;
        }
    }
    let (sign, offset) = match rest.trim_ascii_start() {
        b"" if rest.is_empty() => return Some(When::Civil(civil)),
        b"Z" | b"z" | b"UTC" | b"GMT" => return Some(When::Epoch(civil)),
        [b'+', offset @ ..] => (1, offset),
        [b'-', offset @ ..] => (-1, offset),
        _ => return None,
    };
    let [a, b, c, d] = match offset {
        [a, b, b':', c, d] | [a, b, c, d] => [a, b, c, d],
        [a, b] => [a, b, &b'0', &b'0'],
        _ => return None,
    };
    let number = |x: &u8, y: &u8| super::number::parse_digits(&[*x, *y]).map(|n| n as i64);
    let seconds = number(a, b)? * 3_600 + number(c, d)? * 60;
    Some(When::Epoch(civil - sign * seconds))
}

/// `Mar  4 05:00:00 2022`, perhaps with the day of the week before it, as `ctime` writes it. Behind
/// it `bjobs` has a letter for what ends the job: a limit, an estimate, one that was exceeded.
fn of_ctime(text: &[u8]) -> Option<When> {
    let mut words = std::str::from_utf8(text).ok()?.split_ascii_whitespace().peekable();
    words.next_if(|word| DAYS.iter().any(|day| word.eq_ignore_ascii_case(day)));
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| month.eq_ignore_ascii_case(name))? + 1;
    let day: u8 = words.next()?.parse().ok()?;
    let clock = words.next()?;
    let seconds = if clock.len() == 5 { ":00" } else { "" };
    let utc = words.next_if(|word| matches!(*word, "UTC" | "GMT")).is_some();
    let year: u16 = words.next()?.parse().ok()?;
    words.next_if(|word| matches!(*word, "L" | "E" | "X"));
    let civil = civil_bytes(format!("{year:04}-{month:02}-{day:02}T{clock}{seconds}").as_bytes())?;
    words.next().is_none().then_some(if utc { When::Epoch(civil) } else { When::Civil(civil) })
}

fn parse_with_form(form: &str, text: &[u8]) -> Result<When, NoTime> {
    let text = std::str::from_utf8(text).map_err(|_| NoTime::Unreadable)?;
    let broken_down = jiff::fmt::strtime::parse(form, text).map_err(|_| NoTime::Unreadable)?;
    if let Ok(moment) = broken_down.to_timestamp() {
        return Ok(When::Epoch(moment.as_second()));
    }
    let local = broken_down.to_datetime().map_err(|_| NoTime::Unreadable)?;
    let date = local.date();
    let days = crate::clock::days_since_epoch(i64::from(date.year()), i64::from(date.month()), i64::from(date.day()));
    let time = local.time();
    let seconds = i64::from(time.hour()) * 3_600 + i64::from(time.minute()) * 60 + i64::from(time.second());
    Ok(When::Civil(days * 86_400 + seconds))
}

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The notations that a time may have, for advice: both where its month may be its day.
pub(crate) fn likely_forms(text: &str) -> String {
    match &guess_forms(&[text])[..] {
        [one, two] => {
            let reading = |form: &str| match form.find("%d") < form.find("%m") {
                true => "if the day comes before the month",
                false => "if the month comes before the day",
            };
            format!("--time-format '{one}' {}, --time-format '{two}' {}", reading(one), reading(two))
        }
        [one, ..] => format!("--time-format '{one}'"),
        [] => format!("--time-format '{}'", guess_form(text)),
    }
}

/// The notations in which all of these times can be read: two where a month may be a day.
pub(crate) fn guess_forms(texts: &[&str]) -> Vec<String> {
    let Some(first) = texts.first().map(|text| guess_form(text)) else { return Vec::new() };
    let swapped_form = first.replace("%d", "%_").replace("%m", "%d").replace("%_", "%m");
    let mut forms = vec![first, swapped_form];
    forms.dedup();
    forms.retain(|form| texts.iter().all(|text| parse_with_form(form, text.as_bytes()).is_ok()));
    forms
}

/// Returns a likely notation of a time, for advice: the day comes before the month, unless slashes
/// separate them.
fn guess_form(text: &str) -> String {
    let class = |c: char| (c.is_ascii_digit(), c.is_alphabetic());
    let chars: Vec<char> = text.chars().take(60).collect();
    let together = |a: &char, b: &char| class(*a) == class(*b) && class(*a) != (false, false);
    let runs: Vec<String> = chars.chunk_by(together).map(|run| run.iter().collect()).collect();
    let begins = |run: &str, words: &[&str]| words.iter().any(|word| run.to_lowercase().starts_with(word));
    let first = runs.iter().find(|run| run.starts_with(|c: char| c.is_ascii_digit()));
    let mut parts = match first.map_or(0, String::len) {
        4 => vec!["%Y", "%m", "%d"],
        _ if runs.iter().any(|run| begins(run, &MONTHS)) => vec!["%d", "%Y"],
        _ if text.contains('/') => vec!["%m", "%d", "%Y"],
        _ => vec!["%d", "%m", "%Y"],
    };
    let halves = runs.iter().any(|run| matches!(run.to_lowercase().as_str(), "am" | "pm"));
    parts.extend([if halves { "%I" } else { "%H" }, "%M", "%S"]);
    let mut form = String::new();
    for run in &runs {
        if run.starts_with(|c: char| c.is_ascii_digit()) && run.len() <= 4 && !parts.is_empty() {
            let year = parts.iter().position(|part| *part == "%Y").filter(|_| run.len() == 4);
            let part = parts.remove(year.unwrap_or(0));
            form.push_str(if part == "%Y" && run.len() == 2 { "%y" } else { part });
        } else if begins(run, &MONTHS) {
            form.push_str("%b");
        } else if begins(run, &DAYS) {
            form.push_str("%a");
        } else if matches!(run.to_lowercase().as_str(), "am" | "pm") {
            form.push_str("%p");
        } else {
            form.push_str(run);
        }
    }
    form
}

/// Returns the command that prints a time with its date, where only a part of that was printed:
/// `bjobs` leaves the year out.
pub(crate) fn dated_command(text: &str) -> &'static str {
    let mut words = text.split_ascii_whitespace();
    let month = words.next().is_some_and(|word| MONTHS.iter().any(|month| word.eq_ignore_ascii_case(month)));
    let day = words.next().is_some_and(|word| word.parse::<u8>().is_ok());
    if month && day { "LSB_DISPLAY_YEAR=Y bjobs …" } else { "SLURM_TIME_FORMAT=%s sacct …" }
}

/// Returns whether a time has a clock and no whole date, as with `SLURM_TIME_FORMAT=relative`:
/// `12:00:05`, `Ystday 10:11`, `Tomorr 09:00`, `Mon 12:00`, `19 Jan 07:30`, `Mar02-08:00:00`.
fn is_relative(text: &[u8]) -> bool {
    let in_clock = |b: &u8| b.is_ascii_digit() || *b == b':';
    let parts = text.chunk_by(|a, b| in_clock(a) == in_clock(b)).filter(|part| in_clock(&part[0]));
    let (mut clock, mut date) = (false, Vec::new());
    for part in parts {
        let numbers: Vec<&[u8]> = part.split(|&b| b == b':').collect();
        match numbers[..] {
            [one] => date.push(one.len()),
            [hours, minutes, ..] if hours.len() <= 2 && minutes.len() == 2 => clock = true,
            // `2026:12:00:00`, or nothing that is known.
            _ => return false,
        }
    }
    let month = text.windows(3).any(|word| MONTHS.iter().any(|month| word.eq_ignore_ascii_case(month.as_bytes())));
    // A day and a year beside the month's name, or three numbers, or one number of all.
    let whole = if month { date.len() > 1 } else { date.len() > 2 };
    clock && !whole && date.iter().all(|&digits| digits <= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<When, NoTime> {
        TimeForm::default().read_time(text.as_bytes())
    }

    #[test]
    fn moments_have_many_forms() {
        let noon = 1_769_860_800;
        assert_eq!(read("2026-01-31T12:00:00"), Ok(When::Civil(noon)));
        assert_eq!(read("2026-01-31 12:00:00"), Ok(When::Civil(noon)));
        assert_eq!(read("2026-01-31T12:00:00.123"), Ok(When::Civil(noon)));
        assert_eq!(read("2026-01-31T12:00:00Z"), Ok(When::Epoch(noon)));
        assert_eq!(read("2026-01-31T12:00:00+01:00"), Ok(When::Epoch(noon - 3_600)));
        assert_eq!(read("2026-01-31T12:00:00-0330"), Ok(When::Epoch(noon + 12_600)));
        assert_eq!(read("1769860800"), Ok(When::Epoch(noon)));
        assert_eq!(read("1769860800.75"), Ok(When::Epoch(noon)));
        assert_eq!(read("2026-01-31T12:00"), Ok(When::Civil(noon)));
        assert_eq!(read("2026-01-31 12:00+01:00"), Ok(When::Epoch(noon - 3_600)));
        assert_eq!(read("2026-01-31 12:00:00 UTC"), Ok(When::Epoch(noon)));
        assert_eq!(read("Sat Jan 31 12:00:00 2026"), Ok(When::Civil(noon)));
        assert_eq!(read("Sat Jan 31 12:00:00 UTC 2026"), Ok(When::Epoch(noon)));
        for text in ["Jan 31 12:00:00 2026", "Jan 31 12:00 2026 L", "Jan 31 12:00:00 2026 E", "jan 31 12:00:00 2026 X "]
        {
            assert_eq!(read(text), Ok(When::Civil(noon)), "{text}");
        }
        assert_eq!(read("Feb  1 00:00:00 2026"), Ok(When::Civil(noon + 43_200)));
        assert_eq!(read("2026-01-31 12:00:00.25 +0100"), Ok(When::Epoch(noon - 3_600)));
        for parts in ["1769860800123", "1769860800123456", "1769860800123456789", "1.7698608e+18"] {
            assert_eq!(read(parts), Ok(When::Epoch(noon)), "{parts}");
        }
        for text in ["", "Unknown", "None", "0", "unknown"] {
            assert_eq!(read(text), Ok(When::Unknown), "{text}");
        }
    }

    #[test]
    fn relative_moments_are_told_apart() {
        for text in [
            "12:00:05",
            "Ystday 10:11",
            "Tomorr 09:00",
            "Mon 12:00",
            "19 Jan 07:30",
            "Mar02-08:00:00",
            "03/02 08:00",
            "Jan 31 12:00",
        ] {
            assert_eq!(read(text), Err(NoTime::Relative), "{text}");
        }
        for text in [
            "soon",
            "31.01.2026 12:00",
            "1/31/26 12:00",
            "31/Jan/2026:12:00:00",
            "Sat Jan 32 12:00:00 2026",
            "Jan 31 12:00:00 2026 Q",
            "Jan 31 12:00:00 CET 2026",
            "20260131 12:00:00",
            "2026-02-30T00:00:00",
            "2026-01-31T12:00:00+1",
            "2026-01-31T12:00:00.Z",
        ] {
            assert_eq!(read(text), Err(NoTime::Unreadable), "{text}");
        }
    }

    #[test]
    fn a_time_without_its_year_is_of_lsf() {
        assert_eq!(dated_command("Mar 14 05:00"), "LSB_DISPLAY_YEAR=Y bjobs …");
        assert_eq!(dated_command("Mar  4 05:00 L"), "LSB_DISPLAY_YEAR=Y bjobs …");
        for text in ["14 Mar 05:00", "Mar02-08:00:00", "12:00:05", "Mon 12:00"] {
            assert_eq!(dated_command(text), "SLURM_TIME_FORMAT=%s sacct …", "{text}");
        }
    }

    #[test]
    fn advice_guesses_how_a_time_is_written() {
        for (text, form) in [
            ("31.01.2026 12:00", "%d.%m.%Y %H:%M"),
            ("01/31/2026 12:00:05", "%m/%d/%Y %H:%M:%S"),
            ("31-Jan-26 12:00", "%d-%b-%y %H:%M"),
            ("2026/01/31 12:00:00", "%Y/%m/%d %H:%M:%S"),
            ("Sat Jan 31 2026", "%a %b %d %Y"),
            ("01/31/2026 01:00:05 PM", "%m/%d/%Y %I:%M:%S %p"),
        ] {
            assert_eq!(guess_form(text), form, "{text}");
        }
    }

    #[test]
    fn a_month_that_may_be_a_day_has_two_readings() {
        for (text, message) in [
            (
                "03/04/2026 12:00",
                "--time-format '%m/%d/%Y %H:%M' if the month comes before the day, --time-format '%d/%m/%Y %H:%M' if the day comes before the month",
            ),
            ("13/04/2026 12:00", "--time-format '%d/%m/%Y %H:%M'"),
            ("31.01.2026 12:00", "--time-format '%d.%m.%Y %H:%M'"),
            ("2026/01/31 12:00:00", "--time-format '%Y/%m/%d %H:%M:%S'"),
        ] {
            assert_eq!(likely_forms(text), message, "{text}");
        }
    }

    #[test]
    fn all_times_of_a_column_have_one_form() {
        assert_eq!(guess_forms(&["03/04/2026 12:00", "04/14/2026 12:00"]), ["%m/%d/%Y %H:%M"]);
        assert_eq!(guess_forms(&["03/04/2026 12:00", "14/04/2026 12:00"]), ["%d/%m/%Y %H:%M"]);
        assert_eq!(guess_forms(&["03/04/2026 12:00"]).len(), 2);
        assert!(guess_forms(&["soon", "later"]).is_empty() && guess_forms(&[]).is_empty());
        let form = TimeForm(Some("%m/%d/%Y %I:%M:%S %p".to_string()));
        assert_eq!(form.read_time(b"01/31/2026 01:00:05 PM"), Ok(When::Civil(1_769_864_405)));
    }

    #[test]
    fn dates_may_be_digits_alone() {
        let day = 1_640_995_200;
        assert_eq!(read("20220101"), Ok(When::Civil(day)));
        assert_eq!(read("20220101.0"), Ok(When::Civil(day)));
        assert_eq!(read("202201010130"), Ok(When::Civil(day + 5_400)));
        assert_eq!(read("20220101013005"), Ok(When::Civil(day + 5_405)));
        // No date, and a number of seconds; thousandths; numbers for "none".
        assert_eq!(read("20221301"), Ok(When::Epoch(20_221_301)));
        assert_eq!(read("1640995200000"), Ok(When::Epoch(day)));
        for text in ["4294967294", "4294967295", "4294967294.0"] {
            assert_eq!(read(text), Ok(When::Unknown), "{text}");
        }
    }

    #[test]
    fn any_form_can_be_given() {
        let form = TimeForm(Some("%d.%m.%Y %H:%M".to_string()));
        assert_eq!(form.read_time(b"31.01.2026 12:00"), Ok(When::Civil(1_769_860_800)));
        assert_eq!(form.read_time(b"Unknown"), Ok(When::Unknown));
        let form = TimeForm(Some("%Y%m%d-%H%M%S%z".to_string()));
        assert_eq!(form.read_time(b"20260131-120000+0100"), Ok(When::Epoch(1_769_857_200)));
        assert_eq!(form.read_time(b"x"), Err(NoTime::Unreadable));
    }
}
