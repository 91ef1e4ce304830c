//! Sweeps and their stores.

use crate::error;
use crate::objects::ObjectSlot;
use crate::table::{PyColumn, PythonTable};
use crate::work::{Halt, watched};
use drystone_sweep::analysis::{CandidateTable as Candidates, CaseSelection, Ranking};
use drystone_sweep::{DesignLevel, QueryCell, Store, SweepError, SweepPlan, SweepStudy, Threads, carry_out, query};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Progress of a sweep: simulations made now, those left, those that failed.
type SweepCounts = (u64, u64, u64);

#[expect(clippy::too_many_arguments, reason = "each is an argument of Python's `sweep` by name")]
/// Brings a store to completion. `watch` is called now and then with how many simulations are done,
/// and of how many.
#[pyfunction]
pub(crate) fn sweep(
    py: Python<'_>,
    study: PathBuf,
    text: Option<String>,
    store: Option<PathBuf>,
    logs: Option<PathBuf>,
    threads: usize,
    watch: Option<Py<PyAny>>,
    slots: Vec<Py<ObjectSlot>>,
) -> PyResult<(PathBuf, SweepCounts)> {
    let halt = Halt::new(&slots, None);
    let (all, done) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (total, count) = (Arc::clone(&all), Arc::clone(&done));
    let work = move |stop: &std::sync::atomic::AtomicBool| -> Result<(PathBuf, SweepCounts), SweepError> {
        let study = match text {
            Some(text) => SweepStudy::parse(&study, text)?,
            None => SweepStudy::read(&study)?,
        };
        let plan = SweepPlan::of(&study, logs.as_deref())?;
        total.store(plan.simulations.len() as u64, Ordering::Relaxed);
        let path = store.unwrap_or_else(|| study.store());
        let mut store = Store::open(&path, &plan, None)?;
        count.store(store.done(&plan)?.len() as u64, Ordering::Relaxed);
        let done = carry_out(&plan, &mut store, &Threads(threads), stop, &mut |_| {
            count.fetch_add(1, Ordering::Relaxed);
        })?;
        Ok((path, (done.simulated as u64, done.left as u64, done.failed as u64)))
    };
    let told = |py: Python<'_>| -> PyResult<()> {
        let all = all.load(Ordering::Relaxed);
        match &watch {
            Some(watch) if all > 0 => watch.call1(py, (done.load(Ordering::Relaxed), all)).map(drop),
            _ => Ok(()),
        }
    };
    let made = watched(py, &halt, told, work)?;
    let made = made.map_err(|e| error::sweep(&e))?;
    told(py)?;
    Ok(made)
}

/// The answer to a question in SQL, as a table.
#[pyfunction]
#[pyo3(name = "query")]
pub(crate) fn ask(py: Python<'_>, store: PathBuf, sql: String) -> PyResult<PythonTable> {
    let answer = py.detach(|| query(&store, &sql)).map_err(|e| error::sweep(&e))?;
    let column = |at: usize| {
        let cells = || answer.rows.iter().map(move |row| &row[at]);
        if cells().any(|cell| matches!(cell, QueryCell::Text(_))) {
            let text = |cell: &QueryCell| match cell {
                QueryCell::Null => None,
                QueryCell::Int(value) => Some(value.to_string()),
                QueryCell::Real(value) => Some(value.to_string()),
                QueryCell::Text(text) => Some(text.clone()),
            };
            return PyColumn::Text(cells().map(text).collect());
        }
        if cells().any(|cell| matches!(cell, QueryCell::Real(_))) {
            let real = |cell: &QueryCell| match cell {
                QueryCell::Int(value) => Some(*value as f64),
                QueryCell::Real(value) => Some(*value),
                _ => None,
            };
            return PyColumn::MaybeFloat(cells().map(real).collect());
        }
        PyColumn::MaybeInt(
            cells().map(|cell| if let QueryCell::Int(value) = cell { Some(*value) } else { None }).collect(),
        )
    };
    PythonTable::new(answer.columns.iter().cloned().enumerate().map(|(at, name)| (name, column(at))).collect())
}

/// The values of a study's parameters, as a column.
fn levels(values: Vec<Option<&DesignLevel>>) -> PyColumn {
    if values.iter().all(|value| value.is_none_or(|level| level.number().is_some())) {
        return PyColumn::MaybeFloat(values.into_iter().map(|value| value.and_then(DesignLevel::number)).collect());
    }
    PyColumn::Text(values.into_iter().map(|value| value.map(ToString::to_string)).collect())
}

/// Every configuration of a store with its values, as a table.
#[pyfunction]
pub(crate) fn configurations(py: Python<'_>, store: PathBuf) -> PyResult<PythonTable> {
    let read = py.detach(|| {
        let store = Store::look(&store)?;
        Ok::<_, SweepError>((store.parameters()?, store.metrics()?, store.rows()?))
    });
    let (parameters, metrics, rows) = read.map_err(|e| error::sweep(&e))?;
    let mut columns = vec![
        ("configuration".to_string(), PyColumn::Int(rows.iter().map(|row| row.configuration).collect())),
        ("case".to_string(), PyColumn::Text(rows.iter().map(|row| Some(row.case.clone())).collect())),
        ("name".to_string(), PyColumn::Text(rows.iter().map(|row| Some(row.name.clone())).collect())),
        ("policy".to_string(), PyColumn::Text(rows.iter().map(|row| Some(row.policy.clone())).collect())),
    ];
    for (at, name) in parameters.into_iter().enumerate() {
        columns.push((name, levels(rows.iter().map(|row| row.point[at].as_ref()).collect())));
    }
    for (at, metric) in metrics.iter().enumerate() {
        columns.push((metric.id(), PyColumn::MaybeFloat(rows.iter().map(|row| row.values[at]).collect())));
    }
    PythonTable::new(columns)
}

/// Candidates by their average degradation from the best of each test case.
#[pyfunction]
pub(crate) fn rank(
    py: Python<'_>,
    store: PathBuf,
    metrics: Vec<String>,
    workloads: Vec<String>,
) -> PyResult<PythonTable> {
    let read = py.detach(|| {
        let table = Candidates::of(&Store::look(&store)?, &CaseSelection { metrics, workloads })?;
        Ok::<_, SweepError>((Ranking::of(&table), table))
    });
    let (ranking, table) = read.map_err(|e| error::sweep(&e))?;
    let ranked = &ranking.ranked;
    let candidates: Vec<_> = ranked.iter().map(|one| &table.candidates[one.candidate]).collect();
    let mut columns = vec![
        ("rank".to_string(), PyColumn::Int(ranked.iter().map(|one| one.rank as i64).collect())),
        ("policy".to_string(), PyColumn::Text(candidates.iter().map(|one| Some(one.policy.clone())).collect())),
        ("degradation".to_string(), PyColumn::Float(ranked.iter().map(|one| one.average).collect())),
    ];
    for (at, name) in table.parameters.iter().enumerate() {
        columns.push((name.clone(), levels(candidates.iter().map(|one| one.point[at].as_ref()).collect())));
    }
    PythonTable::new(columns)
}
