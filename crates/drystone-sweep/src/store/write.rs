//! Recording what came of simulations.

use super::{Store, weeks};
use crate::error::SweepError;
use crate::{DesignLevel, PlanOutcome, SimulationValues, SweepPlan, program_build};
use rusqlite::types::Value;
use rusqlite::{Transaction, params, params_from_iter};
use std::collections::{BTreeMap, BTreeSet};

impl Store {
    /// The places in the plan of the simulations that are recorded. Forgets failures, and what
    /// lacks some of the configurations that share its simulation, so that they are tried again.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub fn recorded_places(&mut self, plan: &SweepPlan) -> Result<BTreeSet<usize>, SweepError> {
        let count_recorded = || -> rusqlite::Result<BTreeMap<i64, usize>> {
            self.db.execute("DELETE FROM result WHERE error IS NOT NULL", [])?;
            let mut statement = self.db.prepare(
                "SELECT simulation, count(*) FROM result WHERE simulation NOT IN (SELECT simulation FROM again) \
                 GROUP BY simulation",
            )?;
            statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as usize)))?.collect()
        };
        let recorded_counts = count_recorded().map_err(|e| self.database_error(e))?;
        let mut places = BTreeSet::new();
        for (place, simulation) in plan.simulations.iter().enumerate() {
            match recorded_counts.get(&simulation.id) {
                None => {}
                Some(&rows) if rows == simulation.configurations.len() => drop(places.insert(place)),
                // One transaction records all of them: rows were deleted by hand.
                Some(_) => {
                    let forget = "DELETE FROM result WHERE simulation = ?";
                    self.db.execute(forget, [simulation.id]).map_err(|e| self.database_error(e))?;
                }
            }
        }
        Ok(places)
    }

    /// Records outcomes, all of them or none: one transaction.
    ///
    /// # Errors
    /// The disk is full, or a simulation was recorded before; nothing is recorded then.
    pub fn record_outcomes(&mut self, plan: &SweepPlan, outcomes: &[PlanOutcome]) -> Result<(), SweepError> {
        let mut write = || -> rusqlite::Result<()> {
            let transaction = self.db.transaction()?;
            for outcome in outcomes {
                let simulation = &plan.simulations[outcome.place];
                remove_simulation(&transaction, simulation.id)?;
                for &configuration in &simulation.configurations {
                    insert_row(
                        &transaction,
                        &configuration_row(plan, configuration, &outcome.measured, program_build()),
                    )?;
                }
                for (metric, sums) in plan.metrics.iter().zip(&outcome.measured.weeks) {
                    if !sums.is_empty() {
                        weeks::put_sums(&transaction, simulation.id, &metric.to_string(), &weeks::encode_sums(sums))?;
                    }
                }
            }
            transaction.commit()
        };
        write().map_err(|e| self.database_error(e))
    }

    /// Notes that this program worked on the store.
    ///
    /// # Errors
    /// The disk is full.
    pub fn note_session(
        &mut self,
        start: u64,
        seconds: f64,
        simulations: usize,
        jobs: u64,
        workers: &str,
    ) -> Result<(), SweepError> {
        let note =
            "INSERT INTO session (started, seconds, simulations, jobs, workers, drystone) VALUES (?, ?, ?, ?, ?, ?)";
        let values = params![start as i64, seconds, simulations as i64, jobs as i64, workers, program_build()];
        self.db.execute(note, values).map(drop).map_err(|e| self.database_error(e))
    }
}

/// Removes what is known of a simulation that is made again.
pub(super) fn remove_simulation(transaction: &Transaction<'_>, simulation: i64) -> rusqlite::Result<()> {
    if transaction.prepare_cached("DELETE FROM again WHERE simulation = ?")?.execute([simulation])? > 0 {
        for table in ["result", "week"] {
            let forget = format!("DELETE FROM {table} WHERE simulation = ?");
            transaction.prepare_cached(&forget)?.execute([simulation])?;
        }
    }
    Ok(())
}

pub(super) fn configuration_row(
    plan: &SweepPlan,
    place: usize,
    measurement: &SimulationValues,
    build: &str,
) -> Vec<Value> {
    let configuration = &plan.configurations[place];
    let simulation = &plan.simulations[configuration.simulation];
    let case = &plan.cases[configuration.case];
    let parameters: serde_json::Map<String, serde_json::Value> =
        configuration.policy.parameters().into_iter().map(|(name, value)| (name.to_string(), value.into())).collect();
    let mut row: Vec<Value> = vec![
        (place as i64 + 1).into(),
        simulation.id.into(),
        plan.name.clone().into(),
        case.name.clone().into(),
        case.hash.clone().into(),
        case.load_factor().into(),
        case.month.clone().into(),
        case.slice.clone().into(),
        case.change.clone().into(),
        case.seed.map(|s| s as i64).into(),
        case.trim.to_string().into(),
        configuration.name.clone().into(),
        configuration.policy.text().to_string().into(),
        simulation.canonical.clone().into(),
        serde_json::Value::Object(parameters).to_string().into(),
        build.to_string().into(),
    ];
    row.extend(configuration.point.iter().map(|level| match level {
        None => Value::Null,
        Some(DesignLevel::Int(value)) => Value::Integer(*value),
        Some(DesignLevel::Real(value)) => Value::Real(*value),
        Some(text @ (DesignLevel::Text(_) | DesignLevel::Bool(_))) => Value::Text(text.to_string()),
    }));
    row.extend(measurement.values.iter().map(|&value| Value::from(value)));
    row.push(measurement.error.clone().into());
    row
}

pub(super) fn insert_row(transaction: &Transaction<'_>, row: &[Value]) -> rusqlite::Result<()> {
    let insert = format!("INSERT INTO result VALUES ({})", vec!["?"; row.len()].join(", "));
    transaction.prepare_cached(&insert)?.execute(params_from_iter(row)).map(drop)
}
