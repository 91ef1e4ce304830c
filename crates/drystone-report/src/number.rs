//! Numbers as people read them.

use drystone::metrics::MetricUnit;

/// Placeholder for an absent value.
pub const NONE: &str = "-";

/// A count with separators: 28,476.
pub fn format_count(value: u64) -> String {
    separate_digits(&value.to_string())
}

/// A count of things whose plural ends in s: 1 job, 28,476 jobs.
pub fn format_plural(value: u64, singular: &str) -> String {
    format!("{} {singular}{}", format_count(value), if value == 1 { "" } else { "s" })
}

/// A number with this many decimals and separators: 1,234.5.
pub fn format_fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    // What rounds to zero has no sign.
    let sign = if value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) { "-" } else { "" };
    format!("{sign}{}{fraction}", separate_digits(whole))
}

/// [`format_fixed`], or a dash.
pub fn fixed_or(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| NONE.to_string(), |v| format_fixed(v, decimals))
}

/// Seconds as minutes with one decimal, or a dash.
pub fn format_minutes(seconds: Option<f64>) -> String {
    fixed_or(seconds.map(|s| s / 60.0), 1)
}

/// Seconds as hours with one decimal, or a dash.
pub fn format_hours(seconds: Option<f64>) -> String {
    fixed_or(seconds.map(|s| s / 3600.0), 1)
}

/// A share as per cent: 0.704 is 70.4 %.
pub fn format_percent(share: Option<f64>, decimals: usize) -> String {
    share.map_or_else(|| NONE.to_string(), |s| format!("{}%", format_fixed(s * 100.0, decimals)))
}

/// A share in per cent with as many decimals as it has, up to six: 0.95 is 95%, 0.9999 is 99.99%.
pub fn exact_percent(share: f64) -> String {
    let text = format!("{:.6}", share * 100.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A relative change with its sign: -0.321 is -32.1%.
pub fn format_change(relative: f64) -> String {
    format!("{}%", signed_percent(relative))
}

/// A relative change as per cent with its sign, without the unit.
fn signed_percent(relative: f64) -> String {
    let text = format_fixed(relative * 100.0, 1);
    let sign = if text.starts_with('-') || text == "0.0" { "" } else { "+" };
    format!("{sign}{text}")
}

/// An end of an interval of changes, with a sign also where it rounds to nothing: whether the
/// interval has zero in it is to be seen.
pub fn format_bound(relative: f64) -> String {
    match signed_percent(relative).as_str() {
        "0.0" if relative < 0.0 => "-0.0".to_string(),
        "0.0" if relative > 0.0 => "+0.0".to_string(),
        text => text.to_string(),
    }
}

/// A length of time in the unit that suits it: 42 s, 7.0 min, 3.2 h, 12.4 days.
pub fn format_duration(seconds: f64) -> String {
    match seconds.abs() {
        s if s < 120.0 => format!("{} s", format_fixed(seconds, 0)),
        s if s < 7_200.0 => format!("{} min", format_fixed(seconds / 60.0, 1)),
        s if s < 172_800.0 => format!("{} h", format_fixed(seconds / 3_600.0, 1)),
        _ => format!("{} days", format_fixed(seconds / 86_400.0, 1)),
    }
}

/// A relative change as per cent with its sign and this many decimals, without the unit; an end
/// that rounds to nothing keeps its sign.
pub fn whole_change(relative: f64, decimals: usize) -> String {
    let text = format_fixed(relative.abs() * 100.0, decimals);
    match relative {
        r if r < 0.0 => format!("-{text}"),
        r if r > 0.0 => format!("+{text}"),
        _ => text,
    }
}

drystone::word_enum! {
    /// The one unit of a column of times.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum TimeUnit {
        Seconds = "s",
        Minutes = "min",
        Hours = "h",
        Days = "days",
    }
}

impl TimeUnit {
    /// The unit that suits a typical value of the column, in seconds.
    pub fn for_seconds(seconds: f64) -> TimeUnit {
        match seconds.abs() {
            s if s < 120.0 => TimeUnit::Seconds,
            s if s < 5_400.0 => TimeUnit::Minutes,
            s if s < 172_800.0 => TimeUnit::Hours,
            _ => TimeUnit::Days,
        }
    }

    /// Seconds in this unit, without its name, or a dash.
    pub fn format_seconds(self, seconds: Option<f64>) -> String {
        let (per, decimals) = self.unit_scale();
        fixed_or(seconds.map(|s| s / per), decimals)
    }

    /// Its length in seconds, and the decimals that its values usually have.
    fn unit_scale(self) -> (f64, usize) {
        match self {
            TimeUnit::Seconds => (1.0, 0),
            TimeUnit::Minutes => (60.0, 1),
            TimeUnit::Hours => (3_600.0, 1),
            TimeUnit::Days => (86_400.0, 1),
        }
    }
}

/// One unit and one number of decimals for a column of times, or of their differences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeColumn {
    pub unit: TimeUnit,
    decimals: usize,
}

impl TimeColumn {
    /// The unit that suits the largest of these values, in seconds.
    pub fn for_values(values: &[f64]) -> TimeColumn {
        let unit = TimeUnit::for_seconds(values.iter().copied().map(f64::abs).fold(0.0, f64::max));
        TimeColumn::in_unit(unit, values)
    }

    /// A column of these values, in seconds, in a unit: with as many decimals as the smallest value
    /// that is not zero needs to be seen, at most two more than usual.
    pub fn in_unit(unit: TimeUnit, values: &[f64]) -> TimeColumn {
        let (per, usual) = unit.unit_scale();
        let reads = |value: f64, decimals: usize| {
            value == 0.0 || format_fixed(value.abs() / per, decimals) != format_fixed(0.0, decimals)
        };
        let enough = (usual..usual + 2).find(|&decimals| values.iter().all(|&value| reads(value, decimals)));
        TimeColumn { unit, decimals: enough.unwrap_or(usual + 2) }
    }

    /// A column of differences with their intervals, as [`TimeColumn::in_unit`], with decimals that
    /// also tell the ends of each interval apart.
    pub fn of_intervals(unit: TimeUnit, differences: &[(f64, Option<(f64, f64)>)]) -> TimeColumn {
        let values: Vec<f64> = differences
            .iter()
            .flat_map(|(value, interval)| {
                std::iter::once(*value).chain(interval.map(|(low, high)| [low, high]).into_iter().flatten())
            })
            .collect();
        let (per, usual) = unit.unit_scale();
        let apart = |decimals: usize, (low, high): (f64, f64)| {
            low == high || format_fixed(low / per, decimals) != format_fixed(high / per, decimals)
        };
        let intervals = || differences.iter().filter_map(|(_, interval)| *interval);
        let enough = (usual..usual + 2).find(|&decimals| intervals().all(|ends| apart(decimals, ends)));
        let column = TimeColumn::in_unit(unit, &values);
        TimeColumn { decimals: column.decimals.max(enough.unwrap_or(usual + 2)), ..column }
    }

    /// A time in seconds, without the unit.
    pub fn format_seconds(self, seconds: f64) -> String {
        format_fixed(seconds / self.unit.unit_scale().0, self.decimals)
    }

    /// A difference in seconds with its sign, without the unit. One that rounds to nothing keeps
    /// its sign: whether an interval has zero in it is to be seen.
    pub fn format_difference(self, seconds: f64) -> String {
        let text = self.format_seconds(seconds.abs());
        match seconds {
            s if s < 0.0 => format!("-{text}"),
            s if s > 0.0 => format!("+{text}"),
            _ => text,
        }
    }
}

/// A value in its unit, or a dash.
pub fn in_unit(value: Option<f64>, unit: MetricUnit) -> String {
    match (value, unit) {
        (None, _) => NONE.to_string(),
        (Some(value), MetricUnit::Seconds) => format_duration(value),
        (share, MetricUnit::Share) => format_percent(share, 1),
        (Some(value), MetricUnit::Ratio) => format_fixed(value, 2),
        (Some(value), MetricUnit::Count) => format_count(value as u64),
    }
}

/// Jobs per second: 5.3 M, 840 k.
pub fn format_speed(per_second: f64) -> String {
    match per_second {
        s if s >= 1e6 => format!("{:.1} M", s / 1e6),
        s if s >= 1e3 => format!("{:.0} k", s / 1e3),
        s => format!("{s:.0}"),
    }
}

fn separate_digits(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(format_count(0), "0");
        assert_eq!(format_count(999), "999");
        assert_eq!(format_count(1_234_567), "1,234,567");
        assert_eq!(format_fixed(-1234.56, 1), "-1,234.6");
        assert_eq!(format_fixed(-0.04, 1), "0.0");
        assert_eq!([0.95, 0.9999, 0.57, 0.5].map(exact_percent), ["95%", "99.99%", "57%", "50%"]);
        assert_eq!(format_change(-0.321), "-32.1%");
        assert_eq!(format_change(0.05), "+5.0%");
        assert_eq!(format_change(-0.0001), "0.0%");
        assert_eq!([-0.188, -0.0001, 0.0, 0.0001, 0.02].map(format_bound), ["-18.8", "-0.0", "0.0", "+0.0", "+2.0"]);
        assert_eq!(format_change(0.0), "0.0%");
        assert_eq!(format_duration(90.0), "90 s");
        assert_eq!(format_duration(86_400.0 * 12.4), "12.4 days");
        assert_eq!(format_speed(5_340_000.0), "5.3 M");
        assert_eq!(format_percent(Some(0.7042), 1), "70.4%");
        assert_eq!(format_minutes(None), "-");
        assert_eq!([-0.196, 0.0, 0.003].map(|r| whole_change(r, 0)), ["-20", "0", "+0"]);
        assert_eq!([90.0, 5_000.0, 6_000.0, 3e5].map(|s| TimeUnit::for_seconds(s).name()), ["s", "min", "h", "days"]);
        assert_eq!(TimeUnit::Hours.format_seconds(Some(5_400.0)), "1.5");
    }

    #[test]
    fn a_column_has_one_unit_and_shows_the_sign_of_its_ends() {
        // An end of 144 s in a column of hours: 0.04 of them.
        let column = TimeColumn::for_values(&[1_800.0, -144.0, 39_600.0, 0.0]);
        assert_eq!(column.unit, TimeUnit::Hours);
        assert_eq!(
            [1_800.0, -144.0, 39_600.0, 0.0].map(|s| column.format_difference(s)),
            ["+0.50", "-0.04", "+11.00", "0.00"]
        );
        assert_eq!(column.format_seconds(144.0), "0.04");
        // Where all are large, the usual decimals do. One that is hardly anything keeps its sign.
        assert_eq!(TimeColumn::for_values(&[7_200.0, -36_000.0]).format_difference(-36_000.0), "-10.0");
        assert_eq!(TimeColumn::for_values(&[36_000.0, -0.1]).format_difference(-0.1), "-0.000");
    }
}
