//! Configurations against one of them: intervals, and tests corrected for their number.

use super::evidence::{CaseSums, TableEvidence};
use super::{CandidateTable, StudyCandidate};
use crate::error::SweepError;
use crate::{Store, SweepMetric, WeekSums};
use drystone::inference::{EstimateBasis, WeekSigns, correct_among};
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
    pub unused: Vec<SweepMetric>,
    /// Workloads that some test does not use, because they are too short.
    pub too_short: Vec<String>,
    /// Units that tests are made from; `None` where nothing is tested.
    pub basis: Option<EstimateBasis>,
    /// Number of logs that the workloads come from.
    pub logs: usize,
    /// One test for each candidate of the table; `None` for the one itself, and where nothing can
    /// be said: too few weeks, or a mean of 0.
    pub tests: Vec<Option<PairedTest>>,
}

/// One configuration against another.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PairedTest {
    /// The mean change over the test cases: the geometric mean of new / old, less 1.
    pub change: f64,
    /// Its interval, of this test alone.
    pub interval: (f64, f64),
    /// The probability of a difference as large in either direction where there is none.
    pub p: f64,
    /// Probability corrected for the number of tests (Holm 1979).
    pub p_holm: f64,
    /// Weeks by the sign of their difference, where there is one case of one log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signs: Option<WeekSigns>,
    /// True if it differs: by the corrected probability, or in every one of at least eight weeks
    /// that differ.
    pub differs: bool,
}

impl PairedTests {
    /// Tests all candidates of a table against one. Sums per week are read from the store, one
    /// candidate at a time. Workloads that come from one log are cases of it and add no weeks.
    /// Where the one was not chosen beforehand but is the best of all, every pair of candidates
    /// counts in the correction, for it could have been any pair.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    ///
    /// Cost: O(candidates × test cases × weeks).
    pub fn test_table(
        store: &Store,
        table: &CandidateTable,
        (against, is_chosen): (usize, bool),
        confidence: f64,
    ) -> Result<PairedTests, SweepError> {
        let unused_metrics = table.metrics.iter().filter(|metric| !metric.is_mean()).cloned().collect();
        let read_sums = |candidate: &StudyCandidate| -> Result<CaseSums, SweepError> {
            let of = |simulation: &i64| -> Result<Vec<WeekSums>, SweepError> {
                let means = table.metrics.iter().filter(|metric| metric.is_mean());
                means.map(|metric| store.week_sums(*simulation, &metric.to_string())).collect()
            };
            candidate.simulations.iter().map(of).collect()
        };
        let evidence = TableEvidence::from_origins(&store.case_origins(&table.cases)?);
        let old = read_sums(&table.candidates[against])?;
        let mut too_short = BTreeSet::new();
        let mut basis = None;
        let mut tests: Vec<Option<PairedTest>> = Vec::with_capacity(table.candidates.len());
        for (at, candidate) in table.candidates.iter().enumerate() {
            if at == against || unused_all(&old) {
                tests.push(None);
                continue;
            }
            let own = evidence.estimate_change(&old, &read_sums(candidate)?);
            too_short.extend(own.left_out);
            let signs = own.only.map(|pair| WeekSigns::count_signs(&pair.old, &pair.new));
            let test = own.estimate.ok().map(|estimate| {
                basis = basis.or(Some(estimate.basis));
                let interval = estimate.change_interval(confidence);
                let p = estimate.p_value();
                PairedTest { change: estimate.relative_change(), interval, p, p_holm: p, signs, differs: false }
            });
            tests.push(test);
        }
        let p: Vec<f64> = tests.iter().flatten().map(|test| test.p).collect();
        let family = if is_chosen { p.len() } else { (p.len() + 1) * p.len() / 2 };
        for (test, p_holm) in tests.iter_mut().flatten().zip(correct_among(&p, family)) {
            test.p_holm = p_holm;
            test.differs =
                p_holm < 1.0 - confidence || test.signs.is_some_and(|signs| signs.decided_direction().is_some());
        }
        let too_short = too_short.into_iter().map(|case| table.cases[case].clone()).collect();
        Ok(PairedTests {
            against,
            confidence,
            unused: unused_metrics,
            too_short,
            basis,
            logs: evidence.log_count(),
            tests,
        })
    }

    /// Number of candidates that differ from the one.
    pub fn told_apart(&self) -> usize {
        self.tests.iter().flatten().filter(|test| test.differs).count()
    }

    /// Number of candidates that were tested.
    pub fn test_count(&self) -> usize {
        self.tests.iter().flatten().count()
    }
}

/// Returns whether no metric is a mean over jobs.
fn unused_all(sums: &CaseSums) -> bool {
    sums.iter().all(Vec::is_empty)
}
