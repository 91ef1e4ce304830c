//! Configurations against one of them, week by week: intervals, and tests corrected for their
//! number.

use super::{CandidateTable, StudyCandidate};
use crate::error::SweepError;
use crate::{Metric, Store, WeekSums};
use drystone::metrics::contrast::{Contrast, PairedSums, holm};
use drystone::metrics::interval::PeriodSum;
use serde::Serialize;
use std::collections::BTreeSet;

/// Every other configuration against one.
#[derive(Clone, Debug)]
pub struct PairedTests {
    /// The place in the table's candidates of the one that the others are held against.
    pub against: usize,
    /// The probability that an interval holds the true change.
    pub confidence: f64,
    /// Metrics that no test uses, because they are no means over jobs.
    pub unused: Vec<Metric>,
    /// One test for each candidate of the table; `None` for the one itself, and where nothing can
    /// be said: too few weeks, or a mean of 0.
    pub tests: Vec<Option<PairedTest>>,
}

/// One configuration against another.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PairedTest {
    /// The mean change over the test cases: the geometric mean of new / old, less 1.
    pub change: f64,
    /// Its interval; `None` where weeks are too unlike each other to tell.
    pub interval: Option<(f64, f64)>,
    /// The probability of a difference as large in either direction where there is none.
    pub p: f64,
    /// Probability corrected for the number of tests (Holm 1979).
    pub p_holm: f64,
}

impl PairedTests {
    /// Tests all candidates of a table against one. Sums per week are read from the store, one
    /// candidate at a time; weeks of a workload are paired, and the metrics of a workload count as
    /// evidence from the same weeks.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    ///
    /// Cost: O(candidates × test cases × weeks).
    pub fn of(
        store: &Store,
        table: &CandidateTable,
        against: usize,
        confidence: f64,
    ) -> Result<PairedTests, SweepError> {
        let is_mean = |metric: &Metric| matches!(metric, Metric::Mean(_));
        let unused = table.metrics.iter().copied().filter(|metric| !is_mean(metric)).collect();
        let read = |candidate: &StudyCandidate| -> Result<Vec<Vec<WeekSums>>, SweepError> {
            let of = |simulation: &i64| {
                let means = table.metrics.iter().filter(|metric| is_mean(metric));
                means.map(|metric| store.weeks(*simulation, &metric.to_string())).collect()
            };
            candidate.simulations.iter().map(of).collect()
        };
        let old = read(&table.candidates[against])?;
        let mut found = Vec::with_capacity(table.candidates.len());
        for (at, candidate) in table.candidates.iter().enumerate() {
            let contrast = if at == against { None } else { contrast(&old, &read(candidate)?) };
            found.push(contrast);
        }
        let p: Vec<f64> = found.iter().flatten().map(|contrast| contrast.p_value()).collect();
        let mut corrected = p.iter().zip(holm(&p));
        let tests = found.into_iter().map(|contrast| {
            let contrast = contrast?;
            let (&p, p_holm) = corrected.next()?;
            let interval = contrast.interval(confidence).interval();
            Some(PairedTest { change: contrast.logarithm.exp_m1(), interval, p, p_holm })
        });
        let tests = tests.collect();
        Ok(PairedTests { against, confidence, unused, tests })
    }

    /// Number of candidates that differ from the one by tests corrected for their number.
    pub fn told_apart(&self) -> usize {
        self.tests.iter().flatten().filter(|test| test.p_holm < 1.0 - self.confidence).count()
    }

    /// Number of candidates that were tested.
    pub fn tested(&self) -> usize {
        self.tests.iter().flatten().count()
    }
}

/// One candidate against another, from sums per week by workload and metric.
fn contrast(old: &[Vec<WeekSums>], new: &[Vec<WeekSums>]) -> Option<Contrast> {
    let workloads: Vec<Vec<PairedSums>> = old
        .iter()
        .zip(new)
        .map(|(old, new)| {
            let both = old.iter().chain(new).flatten();
            let weeks: Vec<i64> = both.map(|&(week, _)| week).collect::<BTreeSet<_>>().into_iter().collect();
            old.iter().zip(new).map(|(old, new)| (aligned(old, &weeks), aligned(new, &weeks))).collect()
        })
        .collect();
    Contrast::of(&workloads)
}

/// The sums of these weeks; those that are missing have no job.
fn aligned(sums: &WeekSums, weeks: &[i64]) -> Vec<PeriodSum> {
    let of = |week: &i64| sums.binary_search_by_key(week, |one| one.0).map_or(PeriodSum::default(), |at| sums[at].1);
    weeks.iter().map(of).collect()
}
