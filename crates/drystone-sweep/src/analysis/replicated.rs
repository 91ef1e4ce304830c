//! Tables of a paper: candidates against loads, logs or metrics, over windows and seeds.
//!
//! Cases of one workload at one load that differ in window or seed alone are replications of it. A
//! value is the mean of theirs, each counting alike; its interval and the test against the best of
//! the column are those of [`drystone::inference`].

use super::CandidateTable;
use super::evidence::{CaseSums, TableEvidence};
use crate::error::SweepError;
use crate::store::CaseOrigin;
use crate::{Store, SweepMetric, WeekSums};
use drystone::inference::{LEAST_UNITS, PeriodSum, correct_among, mean_interval, positive_mean_interval};
use drystone::metrics::Better;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReplicationGroup {
    /// Name of the workload in the study.
    pub workload: String,
    /// Divisor of the submit times.
    pub load: f64,
    /// Change of the log, as a text.
    pub change: Option<String>,
    /// Places of the cases in the table.
    #[serde(skip)]
    pub cases: Vec<usize>,
}

/// One metric of all candidates on the replications of a workload.
#[derive(Clone, Debug)]
pub struct ReplicatedColumn {
    /// The place of its group.
    pub group: usize,
    pub metric: SweepMetric,
    /// One for each candidate of the table.
    pub cells: Vec<ReplicatedCell>,
}

/// A metric of one candidate over replications.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplicatedCell {
    /// The value of each replication.
    pub values: Vec<f64>,
    pub mean: f64,
    /// Interval of the mean; `None` where too little is known.
    pub interval: Option<(f64, f64)>,
    pub standing: CellStanding,
}

/// Standing of a candidate in its column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CellStanding {
    /// The best mean, or one equal to it.
    Best,
    /// No more than chance from the best.
    Tied,
    /// Worse than the best by a test.
    Behind,
    /// Behind the best, and too little is known for a test.
    Untested,
}

/// All columns that a store has.
#[derive(Clone, Debug)]
pub struct ReplicatedTable {
    pub groups: Vec<ReplicationGroup>,
    /// Group by group, and metric by metric in each.
    pub columns: Vec<ReplicatedColumn>,
    /// The probability that an interval holds the true mean, and that no column has a false
    /// difference.
    pub confidence: f64,
}

impl ReplicatedTable {
    /// Gathers the values of a table.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    ///
    /// Cost: O(candidates × test cases × weeks).
    pub fn from_store(store: &Store, table: &CandidateTable, confidence: f64) -> Result<ReplicatedTable, SweepError> {
        let origins = store.case_origins(&table.cases)?;
        let names: BTreeMap<String, String> = store.cases()?.into_iter().collect();
        let mut groups: Vec<ReplicationGroup> = Vec::new();
        for (case, (label, origin)) in table.cases.iter().zip(&origins).enumerate() {
            let workload = names.get(label).unwrap_or(label);
            let is_own = |group: &&mut ReplicationGroup| {
                group.workload == *workload && group.load == origin.load && group.change == origin.change
            };
            match groups.iter_mut().find(is_own) {
                Some(group) => group.cases.push(case),
                None => groups.push(ReplicationGroup {
                    workload: workload.clone(),
                    load: origin.load,
                    change: origin.change.clone(),
                    cases: vec![case],
                }),
            }
        }
        let mut columns = Vec::new();
        for (at, group) in groups.iter().enumerate() {
            for metric in 0..table.metrics.len() {
                let input = ColumnInput { store, table, origins: &origins, group, metric, confidence };
                columns.push(ReplicatedColumn {
                    group: at,
                    metric: table.metrics[metric].clone(),
                    cells: input.compute_cells()?,
                });
            }
        }
        Ok(ReplicatedTable { groups, columns, confidence })
    }
}

struct ColumnInput<'a> {
    store: &'a Store,
    table: &'a CandidateTable,
    origins: &'a [CaseOrigin],
    group: &'a ReplicationGroup,
    metric: usize,
    confidence: f64,
}

impl ColumnInput<'_> {
    fn compute_cells(&self) -> Result<Vec<ReplicatedCell>, SweepError> {
        let origins: Vec<CaseOrigin> = self.group.cases.iter().map(|&case| self.origins[case].clone()).collect();
        let evidence = TableEvidence::from_origins(&origins);
        let mut sums = Vec::with_capacity(self.table.candidates.len());
        let mut cells = Vec::with_capacity(self.table.candidates.len());
        for candidate in 0..self.table.candidates.len() {
            let values = self.candidate_values(candidate);
            let own = self.candidate_sums(candidate, &values)?;
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let units = evidence.mean_units(&own);
            let interval = units.and_then(|units| interval_of(&units, self.confidence));
            cells.push(ReplicatedCell { values, mean, interval, standing: CellStanding::Untested });
            sums.push(own);
        }
        self.rate_cells(&evidence, &sums, &mut cells);
        Ok(cells)
    }

    fn candidate_values(&self, candidate: usize) -> Vec<f64> {
        let own = &self.table.candidates[candidate].values;
        self.group.cases.iter().map(|case| own[case * self.table.metrics.len() + self.metric]).collect()
    }

    /// The value of each replication as a unit; of a log that was simulated once its weeks.
    fn candidate_sums(&self, candidate: usize, values: &[f64]) -> Result<CaseSums, SweepError> {
        let metric = &self.table.metrics[self.metric];
        if values.len() == 1 && metric.is_mean() {
            let simulation = self.table.candidates[candidate].simulations[self.group.cases[0]];
            return Ok(vec![vec![self.store.week_sums(simulation, &metric.to_string())?]]);
        }
        let unit = |&value: &f64| -> Vec<WeekSums> { vec![vec![(0, PeriodSum { sum: value, count: 1.0 })]] };
        Ok(values.iter().map(unit).collect())
    }

    /// Finds the best of the column, and tests the others against it. Any pair could have been
    /// that of the best, so every pair counts in the correction.
    fn rate_cells(&self, evidence: &TableEvidence, sums: &[CaseSums], cells: &mut [ReplicatedCell]) {
        let more = self.table.metrics[self.metric].better_direction() == Better::More;
        let is_better = |value: f64, rival: f64| if more { value > rival } else { value < rival };
        let best =
            (1..cells.len()).fold(0, |best, at| if is_better(cells[at].mean, cells[best].mean) { at } else { best });
        let Some(best_mean) = cells.get(best).map(|cell| cell.mean) else { return };
        let mut tests: Vec<(usize, f64)> = Vec::new();
        for (at, own) in sums.iter().enumerate().filter(|&(at, _)| at != best) {
            let estimate = evidence.estimate_change(&sums[best], own).estimate;
            tests.extend(estimate.ok().map(|estimate| (at, estimate.p_value())));
        }
        let p: Vec<f64> = tests.iter().map(|test| test.1).collect();
        let pairs = cells.len() * (cells.len() - 1) / 2;
        for (&(at, _), p) in tests.iter().zip(correct_among(&p, pairs)) {
            cells[at].standing = if p < 1.0 - self.confidence { CellStanding::Behind } else { CellStanding::Tied };
        }
        for cell in cells
            .iter_mut()
            .filter(|cell| super::table::round_digits(cell.mean) == super::table::round_digits(best_mean))
        {
            cell.standing = CellStanding::Best;
        }
    }
}

fn interval_of(units: &[PeriodSum], confidence: f64) -> Option<(f64, f64)> {
    if units.len() < LEAST_UNITS {
        return None;
    }
    match units.iter().any(|unit| unit.sum < 0.0) {
        true => mean_interval(units, confidence),
        false => positive_mean_interval(units, confidence),
    }
}
