//! Looking into a store.

use super::Store;
use super::schema::{METRIC, MetricColumn, WorkloadRow, quote_name};
use crate::error::SweepError;
use crate::metric::{OwnMetric, SweepMetric};
use crate::{DesignLevel, PlanOutcome, SimulationValues, SweepChunk, SweepPlan, SweepStudy};
use drystone::metrics::{Metric, UnknownWord};
use rusqlite::OptionalExtension;
use rusqlite::types::ValueRef;
use std::path::Path;

/// Origin of a workload of the study: its log, and what was made of it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CaseOrigin {
    pub(crate) log: String,
    pub(crate) load: f64,
    pub(crate) month: Option<String>,
    pub(crate) slice: Option<String>,
    pub(crate) change: Option<String>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct SweepStatus {
    /// The study's name.
    pub study: String,
    /// Its file when the store was made.
    pub file: String,
    /// The chunk it holds, `K/N`; empty for the whole study.
    pub chunk: String,
    /// Version that made it.
    pub drystone: String,
    /// Simulations recorded, failures not counted.
    pub simulated: u64,
    /// Simulations there are to be.
    pub simulations: u64,
    /// Configurations recorded, failures not counted.
    pub recorded: u64,
    /// Configurations there are to be.
    pub configurations: u64,
    pub failed: u64,
    /// The first failures.
    pub failures: Vec<String>,
    /// Jobs of all simulations together.
    pub jobs: u64,
    /// Programs that worked on it to their end.
    pub sessions: u64,
    /// Total duration, in seconds.
    pub seconds: f64,
    /// Number of simulated jobs.
    pub session_jobs: u64,
}

/// A result, for analyses.
#[derive(Clone, PartialEq, Debug)]
pub struct StoreRow {
    /// Its number.
    pub configuration: i64,
    /// The simulation that it shares with equal ones.
    pub simulation: i64,
    /// Workload with its transformations.
    pub case: String,
    /// The name of the policy's entry in the study.
    pub name: String,
    pub policy: String,
    /// The values of the store's parameters.
    pub point: Vec<Option<DesignLevel>>,
    /// The values of the store's metrics.
    pub values: Vec<Option<f64>>,
}

impl Store {
    /// Returns the progress of the sweep.
    ///
    /// # Errors
    /// The store cannot be read, or was changed by hand.
    pub fn status(&self) -> Result<SweepStatus, SweepError> {
        self.check_results()?;
        let number = |sql: &str| -> Result<u64, SweepError> {
            self.db.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|n| n as u64).map_err(|e| self.database_error(e))
        };
        let count = |name: &str| -> Result<u64, SweepError> {
            self.meta_value(name)?
                .parse()
                .map_err(|_| self.store_error(format!("is damaged: meta `{name}` is no number")))
        };
        let failures = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT DISTINCT error FROM result WHERE error IS NOT NULL ORDER BY configuration LIMIT 5";
            self.db.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
        };
        let seconds: f64 = self
            .db
            .query_row("SELECT coalesce(sum(seconds), 0) FROM session", [], |row| row.get(0))
            .map_err(|e| self.database_error(e))?;
        Ok(SweepStatus {
            study: self.meta_value("study")?,
            file: self.meta_value("file")?,
            chunk: self.meta_value("chunk")?,
            drystone: self.meta_value("drystone")?,
            simulated: number(
                "SELECT count(DISTINCT simulation) FROM result \
                 WHERE error IS NULL AND simulation NOT IN (SELECT simulation FROM again)",
            )?,
            simulations: count("simulations")?,
            recorded: number("SELECT count(*) FROM result WHERE error IS NULL")?,
            configurations: count("configurations")?,
            failed: number("SELECT count(DISTINCT simulation) FROM result WHERE error IS NOT NULL")?,
            failures: failures().map_err(|e| self.database_error(e))?,
            jobs: count("jobs")?,
            sessions: number("SELECT count(*) FROM session")?,
            seconds,
            session_jobs: number("SELECT coalesce(sum(jobs), 0) FROM session")?,
        })
    }

    /// Checks that every result belongs to one of the study's configurations on the workload that
    /// its number names. Analyses rely on these numbers; a store edited by hand may have others.
    ///
    /// # Errors
    /// The store cannot be read, or it was changed.
    pub fn check_results(&self) -> Result<(), SweepError> {
        let configuration_count: i64 = self
            .meta_value("all_configurations")?
            .parse()
            .map_err(|_| self.store_error("is damaged: meta `all_configurations` is no number"))?;
        let cases = self.workloads()?.len() as i64;
        let damage_error = |damage: String| {
            self.store_error(format!(
                "is damaged: {damage}. Was it changed by hand? Bring back a copy, or begin another store"
            ))
        };
        if cases == 0 || configuration_count % cases != 0 {
            return Err(damage_error(format!(
                "its {configuration_count} configurations are not of {cases} workloads each"
            )));
        }
        // SQLite takes a quoted name that no column has for a text.
        let lost_column_sql =
            "SELECT name FROM columns WHERE name NOT IN (SELECT name FROM pragma_table_info('result')) LIMIT 1";
        if let Some(column) = self
            .db
            .query_row(lost_column_sql, [], |row| row.get::<_, String>(0))
            .optional()
            .map_err(|e| self.database_error(e))?
        {
            return Err(damage_error(format!("its table result has no column `{column}`")));
        }
        let strangers = "
            WITH w AS (SELECT row_number() OVER (ORDER BY rowid) - 1 AS place, * FROM workload)
            SELECT count(*), min(configuration) FROM result AS r LEFT JOIN w ON w.place = (r.configuration - 1) % ?1
            WHERE r.configuration NOT BETWEEN 1 AND ?2 OR w.name IS NOT r.workload OR w.hash IS NOT r.workload_hash
                OR w.load IS NOT r.load OR w.month IS NOT r.month OR w.slice IS NOT r.slice OR w.change IS NOT r.change OR w.seed IS NOT r.seed";
        let (strangers, first): (i64, Option<i64>) = self
            .db
            .query_row(strangers, [cases, configuration_count], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(|e| self.database_error(e))?;
        if let (1.., Some(first)) = (strangers, first) {
            return Err(damage_error(format!(
                "{strangers} of its results, configuration {first} first, do not match their numbers in a study of \
                 {configuration_count} \
                 configurations on {cases} workloads"
            )));
        }
        Ok(())
    }

    /// The study that the store was made for, and the chunk of it.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn study(&self) -> Result<(SweepStudy, Option<SweepChunk>), SweepError> {
        let study = SweepStudy::parse(Path::new(&self.meta_value("file")?), self.meta_value("text")?)?;
        let chunk = self.meta_value("chunk")?;
        let chunk = (!chunk.is_empty())
            .then(|| chunk.parse().map_err(|e: crate::ChunkError| self.store_error(e.to_string())))
            .transpose()?;
        Ok((study, chunk))
    }

    /// The names of the parameters, in the study's order.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn parameters(&self) -> Result<Vec<String>, SweepError> {
        self.column_names("parameter")
    }

    /// The metrics, in the study's order.
    ///
    /// # Errors
    /// The store cannot be read, or a later version made it.
    pub fn metrics(&self) -> Result<Vec<SweepMetric>, SweepError> {
        let metric = |MetricColumn { name, kind, of }: MetricColumn| match kind == METRIC {
            true => name
                .parse()
                .map(|metric: Metric| metric.into())
                .map_err(|e: UnknownWord| self.store_error(e.to_string())),
            false => Ok(SweepMetric::Own(OwnMetric { name, identity: of })),
        };
        self.metric_columns()?.into_iter().map(metric).collect()
    }

    /// The columns of metrics, in the study's order, whether this version knows them or not.
    pub(super) fn metric_columns(&self) -> Result<Vec<MetricColumn>, SweepError> {
        let select_columns = || -> rusqlite::Result<Vec<MetricColumn>> {
            let sql = "SELECT name, kind, type FROM columns WHERE kind <> 'parameter' ORDER BY place";
            let mut statement = self.db.prepare(sql)?;
            let rows = statement
                .query_map([], |row| Ok(MetricColumn { name: row.get(0)?, kind: row.get(1)?, of: row.get(2)? }))?;
            rows.collect()
        };
        select_columns().map_err(|e| self.database_error(e))
    }

    fn metric_names(&self) -> Result<Vec<String>, SweepError> {
        Ok(self.metric_columns()?.into_iter().map(|column| column.name).collect())
    }

    fn column_names(&self, kind: &str) -> Result<Vec<String>, SweepError> {
        let select_names = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.db.prepare("SELECT name FROM columns WHERE kind = ? ORDER BY place")?;
            statement.query_map([kind], |row| row.get(0))?.collect()
        };
        select_names().map_err(|e| self.database_error(e))
    }

    /// The workloads with their transformations, each with its name in the study, in the study's
    /// order.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn cases(&self) -> Result<Vec<(String, String)>, SweepError> {
        Ok(self.workloads()?.into_iter().map(|w| (w.label, w.name)).collect())
    }

    pub(crate) fn case_origins(&self, labels: &[String]) -> Result<Vec<CaseOrigin>, SweepError> {
        let rows = self.workloads()?;
        let of = |label: &String| {
            let row = rows.iter().find(|row| row.label == *label);
            let row = row.ok_or_else(|| self.store_error(format!("is damaged: it lacks the workload {label}")))?;
            let WorkloadRow { log, load, month, slice, change, .. } = row.clone();
            Ok(CaseOrigin { log, load, month, slice, change })
        };
        labels.iter().map(of).collect()
    }

    pub(super) fn workloads(&self) -> Result<Vec<WorkloadRow>, SweepError> {
        let select_workloads = || -> rusqlite::Result<Vec<WorkloadRow>> {
            let sql = "SELECT label, name, load, month, slice, change, seed, hash, jobs, procs, trim, cleaning, given, log FROM workload ORDER BY rowid";
            let mut statement = self.db.prepare(sql)?;
            let rows = statement.query_map([], |row| {
                Ok(WorkloadRow {
                    label: row.get(0)?,
                    name: row.get(1)?,
                    load: row.get(2)?,
                    month: row.get(3)?,
                    slice: row.get(4)?,
                    change: row.get(5)?,
                    seed: row.get(6)?,
                    hash: row.get(7)?,
                    jobs: row.get(8)?,
                    procs: row.get(9)?,
                    trim: row.get(10)?,
                    cleaning: row.get(11)?,
                    given: row.get(12)?,
                    log: row.get(13)?,
                })
            })?;
            rows.collect()
        };
        select_workloads().map_err(|e| self.database_error(e))
    }

    /// Every result, in the order of the plan, without failures.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn rows(&self) -> Result<Vec<StoreRow>, SweepError> {
        let (parameters, metrics) = (self.column_names("parameter")?, self.metric_names()?);
        let labels: Vec<String> = self.workloads()?.into_iter().map(|w| w.label).collect();
        let columns: Vec<String> = parameters.iter().chain(&metrics).map(|name| quote_name(name)).collect();
        let sql = format!(
            "SELECT configuration, simulation, name, policy, {} FROM result \
             WHERE error IS NULL ORDER BY configuration",
            columns.join(", ")
        );
        let select_rows = || -> rusqlite::Result<Vec<StoreRow>> {
            let mut statement = self.db.prepare(&sql)?;
            let rows = statement.query_map([], |row| {
                let configuration: i64 = row.get(0)?;
                let place = (configuration - 1).rem_euclid(labels.len().max(1) as i64) as usize;
                let point = (0..parameters.len()).map(|at| Ok(convert_level(row.get_ref(4 + at)?)));
                let values = (0..metrics.len()).map(|at| row.get(4 + parameters.len() + at));
                Ok(StoreRow {
                    configuration,
                    simulation: row.get(1)?,
                    case: labels.get(place).cloned().unwrap_or_default(),
                    name: row.get(2)?,
                    policy: row.get(3)?,
                    point: point.collect::<rusqlite::Result<_>>()?,
                    values: values.collect::<rusqlite::Result<_>>()?,
                })
            })?;
            rows.collect()
        };
        select_rows().map_err(|e| self.database_error(e))
    }

    /// Returns the recorded results as outcomes of a plan's simulations, in the plan's order.
    ///
    /// # Errors
    /// The store cannot be read or is not one of this plan.
    pub fn outcomes(&self, plan: &SweepPlan) -> Result<Vec<PlanOutcome>, SweepError> {
        if self.meta_value("plan")? != plan.hash {
            return Err(self.store_error("holds results of another plan"));
        }
        let rows = self.rows()?;
        let again = self.ids_to_repeat()?;
        let metrics = self.metric_names()?;
        let mut outcomes = Vec::new();
        for (place, simulation) in plan.simulations.iter().enumerate() {
            if let Ok(at) = rows.binary_search_by_key(&simulation.id, |row| row.configuration)
                && !again.contains(&simulation.id)
            {
                let weeks =
                    metrics.iter().map(|metric| self.week_sums(simulation.id, metric)).collect::<Result<_, _>>()?;
                let simulation_values = SimulationValues { values: rows[at].values.clone(), weeks, error: None };
                outcomes.push(PlanOutcome { place, measured: simulation_values });
            }
        }
        Ok(outcomes)
    }
}

fn convert_level(value: ValueRef<'_>) -> Option<DesignLevel> {
    match value {
        ValueRef::Null | ValueRef::Blob(_) => None,
        ValueRef::Integer(value) => Some(DesignLevel::Int(value)),
        ValueRef::Real(value) => Some(DesignLevel::Real(value)),
        ValueRef::Text(text) => Some(DesignLevel::Text(String::from_utf8_lossy(text).into_owned())),
    }
}
