//! Days of the calendar on which past use is forgotten (`PriorityUsageResetPeriod`).

use serde::{Deserialize, Serialize};

const DAY: i64 = 86_400;

/// Interval after which use is forgotten, at midnight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ResetPeriod {
    /// Every day.
    Daily,
    /// Every Sunday.
    Weekly,
    /// The first day of every month.
    Monthly,
    /// The first day of every quarter.
    Quarterly,
    /// The first day of every year.
    Yearly,
}

impl ResetPeriod {
    /// Reads Slurm's word; `None` for one with which no use is forgotten after the beginning.
    pub fn parse_word(word: &str) -> Option<ResetPeriod> {
        match word.to_ascii_uppercase().as_str() {
            "DAILY" => Some(ResetPeriod::Daily),
            "WEEKLY" => Some(ResetPeriod::Weekly),
            "MONTHLY" => Some(ResetPeriod::Monthly),
            "QUARTERLY" => Some(ResetPeriod::Quarterly),
            "YEARLY" => Some(ResetPeriod::Yearly),
            _ => None,
        }
    }

    /// Returns the time after which use is forgotten next, if it was last forgotten at `last`.
    /// Times are seconds of the local clock since 1970. Of days or weeks that were missed, Slurm
    /// makes up for the last only.
    fn next_after(self, last: i64, now: i64) -> i64 {
        let day = last.div_euclid(DAY);
        let step = |first: i64, days: i64| first + ((now - first - 1).div_euclid(days * DAY)).max(0) * days * DAY;
        let (year, month) = month_of(day);
        let (year, month) = match self {
            ResetPeriod::Daily => return step((day + 1) * DAY, 1),
            // The first of January 1970 was a Thursday.
            ResetPeriod::Weekly => return step((day + 7 - (day + 4).rem_euclid(7)) * DAY, 7),
            ResetPeriod::Monthly => (year, month + 1),
            ResetPeriod::Quarterly => (year, (month - 1) / 3 * 3 + 4),
            ResetPeriod::Yearly => (year, 13),
        };
        first_day(year + (month - 1) / 12, (month - 1) % 12 + 1) * DAY
    }
}

/// Times of a simulation at which use is forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UsageReset {
    period: ResetPeriod,
    /// Local clock at time 0 of the simulation, in seconds since 1970.
    begins: i64,
    /// Next time, in seconds of the simulation.
    next: i64,
}

impl UsageReset {
    /// Returns the times of a simulation at whose time 0 the local clock shows `begins` seconds
    /// since 1970.
    pub fn new(period: ResetPeriod, begins: i64) -> UsageReset {
        UsageReset { period, begins, next: period.next_after(begins, begins) - begins }
    }

    /// Returns the next time at which use is forgotten.
    pub fn next(&self) -> i64 {
        self.next
    }

    /// Returns whether a calculation at `now` seconds forgets use. If so, the next time follows.
    pub(super) fn is_due(&mut self, now: i64) -> bool {
        let due = now >= self.next;
        if due {
            self.next = self.period.next_after(self.next + self.begins, now + self.begins) - self.begins;
        }
        due
    }
}

/// Reads a date, or a date and a time such as `2026-11-30T08:15`, as seconds since 1970.
pub fn read_date(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('T').unwrap_or((text, "00:00"));
    let digits = |text: &str, most: usize| -> Option<i64> {
        let plain = text.len() == most && text.bytes().all(|digit| digit.is_ascii_digit());
        text.parse().ok().filter(|_| plain)
    };
    let mut date = date.splitn(3, '-');
    let (year, month, day) = (digits(date.next()?, 4)?, digits(date.next()?, 2)?, digits(date.next()?, 2)?);
    let mut time = time.splitn(3, ':');
    let (hour, minute) = (digits(time.next()?, 2)?, digits(time.next()?, 2)?);
    let second = time.next().map_or(Some(0), |text| digits(text, 2))?;
    let first = (1..=12).contains(&month).then(|| first_day(year, month))?;
    let length = first_day(year + month / 12, month % 12 + 1) - first;
    let sound = (1..=length).contains(&day) && hour < 24 && minute < 60 && second < 60;
    sound.then_some((first + day - 1) * DAY + hour * 3600 + minute * 60 + second)
}

/// Returns the first day of a month, as a number of days since 1970.
fn first_day(year: i64, month: i64) -> i64 {
    const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    // A leap day counts from March on.
    let leaps = |year: i64| year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let leap_base_year = if month > 2 { year } else { year - 1 };
    (year - 1970) * 365 + leaps(leap_base_year) - leaps(1969) + BEFORE[(month - 1).clamp(0, 11) as usize]
}

/// Returns the year and the month of a day, a number of days since 1970.
fn month_of(day: i64) -> (i64, i64) {
    let guess = 1970 + day.div_euclid(if day < 0 { 365 } else { 366 });
    let year = (guess..).take_while(|&year| first_day(year, 1) <= day).last().unwrap_or(guess);
    let month = (1..=12).rev().find(|&month| first_day(year, month) <= day).unwrap_or(1);
    (year, month)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dates by `date -u +%s`.
    #[test]
    fn dates_are_seconds_since_1970() {
        for (text, expected) in [
            ("1970-01-01", Some(0)),
            ("2000-02-29", Some(951_782_400)),
            ("2000-03-01", Some(951_868_800)),
            ("2024-02-29T12:30", Some(1_709_209_800)),
            ("2026-11-30T08:15:07", Some(1_796_026_507)),
            ("1969-12-31", Some(-86_400)),
            ("2100-03-01", Some(4_107_542_400)),
            ("2026-02-29", None),
            ("2026-13-01", None),
            ("2026-11-30T24:00", None),
            ("26-11-30", None),
            ("2026-11-3x", None),
            ("", None),
        ] {
            assert_eq!(read_date(text), expected, "{text}");
        }
        for day in (-800_000..800_000).step_by(17) {
            let (year, month) = month_of(day);
            let next = if month == 12 { first_day(year + 1, 1) } else { first_day(year, month + 1) };
            assert!(first_day(year, month) <= day && day < next, "{day} {year} {month}");
        }
    }

    /// The man page: at midnight, on Sundays, on the first day of a month, a quarter, a year. The
    /// 30th of November 2026 is a Monday.
    #[test]
    fn use_is_forgotten_on_days_of_the_calendar() {
        let begins = read_date("2026-11-30T08:15").expect("a date");
        for (word, dates) in [
            ("daily", ["2026-12-01", "2026-12-02", "2026-12-03"]),
            ("weekly", ["2026-12-06", "2026-12-13", "2026-12-20"]),
            ("monthly", ["2026-12-01", "2027-01-01", "2027-02-01"]),
            ("quarterly", ["2027-01-01", "2027-04-01", "2027-07-01"]),
            ("yearly", ["2027-01-01", "2028-01-01", "2029-01-01"]),
        ] {
            let mut reset = UsageReset::new(ResetPeriod::parse_word(word).expect("a period"), begins);
            for date in dates {
                let next = read_date(date).expect("a date") - begins;
                assert_eq!(reset.next(), next, "{word} {date}");
                assert!(!reset.is_due(next - 1) && reset.is_due(next), "{word} {date}");
            }
        }
        assert_eq!(["NONE", "now"].map(ResetPeriod::parse_word), [None; 2]);
    }
}
