//! Sums per week of simulations, from which intervals and tests are made.
//!
//! Sums of a metric are one value, for 20,000 simulations of 50 weeks are a million sums: for each
//! week its number, the number of jobs and the sum, as little-endian `i64`, `u64` and `f64`.

use super::Store;
use crate::WeekSums;
use crate::error::SweepError;
use drystone::inference::PeriodSum;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;

/// Bytes of a week.
const WIDTH: usize = 24;

pub(super) fn encode_sums(sums: &WeekSums) -> Vec<u8> {
    let of = |&(week, sum): &(i64, PeriodSum)| {
        [week.to_le_bytes(), (sum.count as u64).to_le_bytes(), sum.sum.to_le_bytes()].concat()
    };
    sums.iter().flat_map(of).collect()
}

/// Decodes stored sums; `None` if the bytes are not an encoding of any.
fn decode_sums(bytes: &[u8]) -> Option<WeekSums> {
    let eight = |week: &[u8], at: usize| -> Option<[u8; 8]> { week.get(at..at + 8)?.try_into().ok() };
    let decode_week = |week: &[u8]| {
        let (number, jobs) = (i64::from_le_bytes(eight(week, 0)?), u64::from_le_bytes(eight(week, 8)?));
        let sum = f64::from_le_bytes(eight(week, 16)?);
        sum.is_finite().then_some((number, PeriodSum { sum, count: jobs as f64 }))
    };
    bytes.chunks(WIDTH).map(decode_week).collect()
}

/// Keeps the sums of a simulation, in the place of older ones.
pub(super) fn put_sums(db: &Connection, simulation: i64, metric: &str, bytes: &[u8]) -> rusqlite::Result<()> {
    let insert = "INSERT OR REPLACE INTO week VALUES (?, ?, ?)";
    db.prepare_cached(insert)?.execute(params![simulation, metric, bytes]).map(drop)
}

impl Store {
    /// The sums per week of a simulation by a metric; nothing where the metric is no mean over
    /// jobs.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn week_sums(&self, simulation: i64, metric: &str) -> Result<WeekSums, SweepError> {
        let find = || -> rusqlite::Result<Option<Vec<u8>>> {
            let sql = "SELECT sums FROM week WHERE simulation = ? AND metric = ?";
            self.db.prepare_cached(sql)?.query_row(params![simulation, metric], |row| row.get(0)).optional()
        };
        let bytes = find().map_err(|e| self.database_error(e))?.unwrap_or_default();
        decode_sums(&bytes)
            .ok_or_else(|| self.store_error(format!("is damaged: sums per week of simulation {simulation}")))
    }

    /// The sums of all simulations, as they are kept, by metric.
    pub(super) fn all_weeks(&self) -> Result<BTreeMap<i64, BTreeMap<String, Vec<u8>>>, SweepError> {
        let mut sums_by_simulation: BTreeMap<i64, BTreeMap<String, Vec<u8>>> = BTreeMap::new();
        let mut select_sums = || -> rusqlite::Result<()> {
            let mut statement = self.db.prepare("SELECT simulation, metric, sums FROM week")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                sums_by_simulation.entry(row.get(0)?).or_default().insert(row.get(1)?, row.get(2)?);
            }
            Ok(())
        };
        select_sums().map_err(|e| self.database_error(e))?;
        Ok(sums_by_simulation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_come_back_as_they_were() {
        let sums: WeekSums = vec![
            (-3, PeriodSum { sum: 0.1, count: 7.0 }),
            (0, PeriodSum::default()),
            (9_999, PeriodSum { sum: 1e300, count: 4e9 }),
        ];
        assert_eq!(decode_sums(&encode_sums(&sums)), Some(sums.clone()));
        assert_eq!(decode_sums(&[]), Some(Vec::new()));
        assert_eq!(decode_sums(&encode_sums(&sums)[..WIDTH + 5]), None);
        let odd = vec![(0, PeriodSum { sum: f64::NAN, count: 1.0 })];
        assert_eq!(decode_sums(&encode_sums(&odd)), None);
    }
}
