//! A store that grows with its study: what was simulated keeps its results under new numbers.

use super::schema::{StoreHead, lay_out, quote_name};
use super::{Store, weeks, write};
use crate::error::SweepError;
use crate::{SimulationValues, SweepMetric, SweepPlan};
use rusqlite::Transaction;
use std::collections::{BTreeMap, BTreeSet};

/// Account of a store that was of a smaller study. A study grows by workloads, loads, months,
/// seeds, policies, parameters, values and metrics; their order and the names of entries are free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoreGrowth {
    /// Simulations of the plan whose results were here and count.
    pub kept: usize,
    /// Simulations that are made again, because a metric was added. Until then they have the values
    /// that were here.
    pub again: usize,
    /// Simulations that are new.
    pub added: usize,
}

/// Identity of a result: fingerprint of the jobs, what else was given, which jobs count, and the
/// policy in its canonical form.
type ResultKey = (String, String, String, String);

/// A simulation as it was recorded.
struct RecordedSimulation {
    simulation: i64,
    values: Vec<Option<f64>>,
    build: String,
}

/// The tables of a layout, which are rebuilt.
const TABLES: [&str; 6] = ["meta", "columns", "workload", "week", "again", "result"];

impl Store {
    /// Lays the store out for a larger plan, in one transaction.
    ///
    /// # Errors
    /// The plan leaves out results or metrics that are here; it is of other logs; the disk is full.
    /// The store stays as it was.
    pub(super) fn grow_for(&mut self, plan: &SweepPlan) -> Result<StoreGrowth, SweepError> {
        if !self.meta_value("chunk")?.is_empty() {
            return Err(self.other_study(plan, "a chunk has the numbers of its study and cannot grow")?);
        }
        let metrics = self.metrics()?;
        for old_metric in metrics.iter().filter(|metric| !plan.metrics.contains(metric)) {
            // A function that failed from the start leaves a column without values.
            if self.has_values(old_metric)? {
                return Err(self.lost_metric(plan, old_metric)?);
            }
        }
        let mut recorded_results = self.recorded_results(&metrics)?;
        let wanted_keys: BTreeSet<ResultKey> =
            (0..plan.simulations.len()).map(|place| result_key(plan, place)).collect();
        let lost_keys: Vec<&ResultKey> = recorded_results.keys().filter(|key| !wanted_keys.contains(*key)).collect();
        if let Some((_, _, _, policy)) = lost_keys.first() {
            let many = match lost_keys.len() {
                1 => "one simulation has".to_string(),
                n => format!("{n} simulations have"),
            };
            let reason = format!("{many} no place in it, the first of {policy}: keep the recorded parts in the study");
            return Err(self.other_study(plan, &reason)?);
        }
        // Where a metric came, values of it are lacking.
        let lacks = plan.metrics.iter().any(|metric| !metrics.contains(metric));
        let repeated_ids: BTreeSet<i64> = self.ids_to_repeat()?.into_iter().collect();
        let sums = self.all_weeks()?;
        let path = self.path.clone();
        let fail = |e| SweepError::database_error(path.display(), e);
        let transaction = self.db.transaction().map_err(fail)?;
        let mut growth = StoreGrowth { kept: 0, again: 0, added: 0 };
        let mut fill = || -> rusqlite::Result<()> {
            for table in TABLES {
                transaction.execute_batch(&format!("DROP TABLE IF EXISTS {table}"))?;
            }
            // Sessions stay: the work was done.
            transaction.execute_batch("ALTER TABLE session RENAME TO session_before")?;
            lay_out(&transaction, &StoreHead::from_plan(plan, None))?;
            transaction.execute_batch("INSERT INTO session SELECT * FROM session_before; DROP TABLE session_before")?;
            for place in 0..plan.simulations.len() {
                let Some(record) = recorded_results.remove(&result_key(plan, place)) else {
                    growth.added += 1;
                    continue;
                };
                let again = lacks || repeated_ids.contains(&record.simulation);
                put_result(&transaction, plan, place, &metrics, &record, sums.get(&record.simulation))?;
                if again {
                    let id = plan.simulations[place].id;
                    transaction.execute("INSERT INTO again VALUES (?)", [id])?;
                    growth.again += 1;
                } else {
                    growth.kept += 1;
                }
            }
            Ok(())
        };
        fill().and_then(|()| transaction.commit()).map_err(fail)?;
        Ok(growth)
    }

    fn has_values(&self, metric: &SweepMetric) -> Result<bool, SweepError> {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM result WHERE {} IS NOT NULL)", quote_name(&metric.id()));
        self.db.query_row(&sql, [], |row| row.get(0)).map_err(|e| self.database_error(e))
    }

    /// The error of a plan that lacks a metric that is here.
    fn lost_metric(&self, plan: &SweepPlan, old_metric: &SweepMetric) -> Result<SweepError, SweepError> {
        if let SweepMetric::Known(_) = old_metric {
            return self.other_study(plan, &format!("the metric {old_metric} would be lost: keep it in `metrics`"));
        }
        let problem = match plan.metrics.iter().any(|metric| metric.id() == old_metric.id()) {
            true => format!(
                "the metric `{old_metric}` was another function when it was recorded: its code or what it captures has changed; give \
                 the new one another name beside the old one, or begin another store"
            ),
            false => format!(
                "has the metric `{old_metric}`, which the program that made it found job by job: continue with that program, where \
                 `metrics` names it, or begin another store"
            ),
        };
        Ok(self.store_error(problem))
    }

    /// Every simulation that is recorded without failure.
    fn recorded_results(&self, metrics: &[SweepMetric]) -> Result<BTreeMap<ResultKey, RecordedSimulation>, SweepError> {
        let columns: String = metrics.iter().map(|metric| format!(", r.{}", quote_name(&metric.to_string()))).collect();
        let sql = format!(
            "WITH w AS (SELECT row_number() OVER (ORDER BY rowid) - 1 AS place, given FROM workload)
             SELECT r.workload_hash, w.given, r.trim, r.simulated, r.simulation, r.drystone{columns}
             FROM result AS r JOIN w ON w.place = (r.configuration - 1) % (SELECT count(*) FROM workload)
             WHERE r.error IS NULL"
        );
        let select_results = || -> rusqlite::Result<BTreeMap<ResultKey, RecordedSimulation>> {
            let mut statement = self.db.prepare(&sql)?;
            let rows = statement.query_map([], |row| {
                let key = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
                let values = (0..metrics.len()).map(|at| row.get(6 + at)).collect::<rusqlite::Result<_>>()?;
                Ok((key, RecordedSimulation { simulation: row.get(4)?, build: row.get(5)?, values }))
            })?;
            rows.collect()
        };
        select_results().map_err(|e| self.database_error(e))
    }

    /// The numbers of the simulations that are to be made again, because a metric was added.
    pub(super) fn ids_to_repeat(&self) -> Result<Vec<i64>, SweepError> {
        let select_ids = || -> rusqlite::Result<Vec<i64>> {
            self.db.prepare("SELECT simulation FROM again")?.query_map([], |row| row.get(0))?.collect()
        };
        select_ids().map_err(|e| self.database_error(e))
    }
}

fn result_key(plan: &SweepPlan, place: usize) -> ResultKey {
    let case = plan.case_of(place);
    let canonical = plan.simulations[place].canonical.clone();
    (case.hash.clone(), case.given.settings.clone(), case.trim.to_string(), canonical)
}

/// Records what is known of a simulation for every configuration that needs it.
fn put_result(
    transaction: &Transaction<'_>,
    plan: &SweepPlan,
    place: usize,
    metrics: &[SweepMetric],
    record: &RecordedSimulation,
    sums: Option<&BTreeMap<String, Vec<u8>>>,
) -> rusqlite::Result<()> {
    let value = |metric: &SweepMetric| {
        metrics.iter().position(|candidate| candidate == metric).and_then(|at| record.values[at])
    };
    let values = plan.metrics.iter().map(value).collect();
    let simulation_values = SimulationValues { values, weeks: Vec::new(), error: None };
    let simulation = &plan.simulations[place];
    for &configuration in &simulation.configurations {
        write::insert_row(
            transaction,
            &write::configuration_row(plan, configuration, &simulation_values, &record.build),
        )?;
    }
    for (metric, bytes) in sums.into_iter().flatten() {
        weeks::put_sums(transaction, simulation.id, metric, bytes)?;
    }
    Ok(())
}
