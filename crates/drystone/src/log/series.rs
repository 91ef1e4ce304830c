//! Carbon intensity and price of electricity over time.

use crate::model::{PowerTerms, Span, Time};
use serde::{Deserialize, Serialize};

/// A series of carbon intensities and prices; each line holds until the next.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PowerSeries {
    file: String,
    carbon: bool,
    price: bool,
    /// Time, grams per kilowatt-hour, money per megawatt-hour.
    rows: Vec<(Time, f64, f64)>,
    /// Line of the first row.
    line: usize,
}

/// A series that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}, line {line}: {problem}")]
pub struct PowerSeriesError {
    file: String,
    line: usize,
    problem: String,
}

const HEAD: &str =
    "expected a first line with `time` and any of carbon (g/kWh) and price (per MWh), such as `time,carbon,price`";

impl PowerSeries {
    /// Reads a table with the columns `time` and any of `carbon` and `price`.
    ///
    /// # Errors
    /// Another head, no line, times that do not ascend, cells that are no numbers.
    pub fn parse_table(file: &str, text: &str) -> Result<PowerSeries, PowerSeriesError> {
        let wrong = |line: usize, problem: String| PowerSeriesError { file: file.to_string(), line, problem };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let Some((at, first)) = lines.next() else { return Err(wrong(1, format!("the series is empty; {HEAD}"))) };
        let columns: Vec<&str> = first.split(',').map(str::trim).collect();
        let has = |name: &str| columns.contains(&name);
        let is_known = columns.iter().all(|column| ["time", "carbon", "price"].contains(column));
        if !is_known || !has("time") || columns.len() < 2 {
            return Err(wrong(at, format!("the first line is `{first}`; {HEAD}")));
        }
        let mut series = PowerSeries {
            file: file.to_string(),
            carbon: has("carbon"),
            price: has("price"),
            ..PowerSeries::default()
        };
        for (at, line) in lines {
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            if cells.len() != columns.len() {
                return Err(wrong(at, format!("{} cells for {} columns ({first})", cells.len(), columns.len())));
            }
            let mut row = (Time::ZERO, 0.0, 0.0);
            for (column, cell) in columns.iter().zip(&cells) {
                let number: f64 = cell
                    .parse()
                    .ok()
                    .filter(|number: &f64| number.is_finite())
                    .ok_or_else(|| wrong(at, format!("{column}: `{cell}` is no number")))?;
                match *column {
                    "carbon" => row.1 = number,
                    "price" => row.2 = number,
                    _ => {
                        let time = cell.parse().ok().filter(|time: &i64| time.unsigned_abs() <= 1 << 40);
                        let time =
                            time.ok_or_else(|| wrong(at, format!("time: `{cell}` is no whole number of seconds")))?;
                        row.0 = Time(time);
                    }
                }
            }
            if series.rows.last().is_some_and(|last| last.0 >= row.0) {
                return Err(wrong(
                    at,
                    format!("the time {} comes after a later or equal one; put the lines in order", row.0),
                ));
            }
            if series.rows.is_empty() {
                series.line = at;
            }
            series.rows.push(row);
        }
        match series.rows.is_empty() {
            true => Err(wrong(at, format!("the series has no line; {HEAD}"))),
            false => Ok(series),
        }
    }

    /// Its times, ascending.
    pub fn times(&self) -> impl Iterator<Item = Time> + '_ {
        self.rows.iter().map(|row| row.0)
    }

    /// Returns whether it says how much carbon there is.
    #[must_use]
    pub fn has_carbon(&self) -> bool {
        self.carbon
    }

    /// Returns whether it says prices.
    #[must_use]
    pub fn has_price(&self) -> bool {
        self.price
    }

    /// Returns carbon intensity and price at a time.
    ///
    /// # Errors
    /// A time before the first line.
    pub fn values_at(&self, time: Time) -> Result<(f64, f64), PowerSeriesError> {
        let after = self.rows.partition_point(|row| row.0 <= time);
        let row = after.checked_sub(1).and_then(|at| self.rows.get(at));
        row.map(|row| (row.1, row.2)).ok_or_else(|| self.late_error(time))
    }

    /// Checks that it is known from a time on.
    ///
    /// # Errors
    /// It begins later.
    pub fn check_from(&self, time: Time) -> Result<(), PowerSeriesError> {
        self.values_at(time).map(|_| ())
    }

    /// Returns what a scheduler knows of it, in millionths.
    #[must_use]
    pub fn power_terms(&self) -> PowerTerms {
        let millionths = |number: f64| (number * 1e6).round() as i64;
        let column = |is_known: bool, of: fn(&(Time, f64, f64)) -> f64| -> Vec<i64> {
            self.rows.iter().filter(|_| is_known).map(|row| millionths(of(row))).collect()
        };
        PowerTerms {
            times: self.times().collect(),
            carbon: column(self.carbon, |row| row.1),
            price: column(self.price, |row| row.2),
        }
    }

    /// Returns the same series, earlier by so much.
    #[must_use]
    pub fn shift_earlier(&self, by: Span) -> PowerSeries {
        let rows = self.rows.iter().map(|row| (row.0 - by, row.1, row.2)).collect();
        PowerSeries { rows, ..self.clone() }
    }

    fn late_error(&self, time: Time) -> PowerSeriesError {
        let begin = self.rows.first().map_or(Time::MAX, |row| row.0);
        PowerSeriesError {
            file: self.file.clone(),
            line: self.line,
            problem: format!(
                "the series begins at {begin}, and the first job is submitted at {time}; add a line for {time} or earlier"
            ),
        }
    }
}
