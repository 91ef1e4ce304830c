//! Sweeps and their stores.

use crate::error;
use crate::objects::ObjectSlot;
use crate::own_metric::PythonMeasurer;
use crate::table::{PyColumn, PythonTable};
use crate::work::{Halt, run_watched};
use drystone_sweep::analysis::{CandidateTable as Candidates, CaseSelection, PairedTest, PairedTests, Ranking};
use drystone_sweep::{
    DesignLevel, OwnMetric, QueryCell, Store, SweepError, SweepPlan, SweepStudy, Threads, carry_out, query_store,
};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Progress of a sweep: simulations made now, those left, those that failed.
type SweepCounts = (u64, u64, u64);

/// The programs of Python that policies of a plan call, as texts name them.
fn called_programs(plan: &SweepPlan, programs: Vec<(String, String)>) -> BTreeMap<String, String> {
    let calls = |name: &str| {
        let ends = [')', ','].map(|end| format!("python(object={name}{end}"));
        plan.simulations.iter().any(|simulation| ends.iter().any(|call| simulation.canonical.contains(call)))
    };
    programs.into_iter().filter(|(name, _)| calls(name)).collect()
}

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
    programs: Vec<(Py<ObjectSlot>, String)>,
    metrics: Vec<(String, String, Py<ObjectSlot>)>,
) -> PyResult<(PathBuf, SweepCounts)> {
    let slots = programs.iter().map(|program| &program.0).chain(metrics.iter().map(|metric| &metric.2));
    let slots: Vec<Py<ObjectSlot>> = slots.map(|slot| slot.clone_ref(py)).collect();
    let halt = Halt::new(&slots, None);
    let programs: Vec<(String, String)> =
        programs.into_iter().map(|(slot, identity)| (slot.get().name().to_string(), identity)).collect();
    let measurer = Arc::new(PythonMeasurer::new(&metrics));
    let own: Vec<OwnMetric> = metrics
        .iter()
        .map(|(name, identity, _)| OwnMetric { name: name.clone(), identity: identity.clone() })
        .collect();
    let (shared_total, shared_done) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (total, count) = (Arc::clone(&shared_total), Arc::clone(&shared_done));
    let work = move |stop: &std::sync::atomic::AtomicBool| -> Result<(PathBuf, SweepCounts), SweepError> {
        let study = match text {
            Some(text) => SweepStudy::parse(&study, text)?,
            None => SweepStudy::read_file(&study)?,
        };
        let plan = SweepPlan::from_study(&study, logs.as_deref())?.with_own_metrics(own, measurer)?;
        let programs = called_programs(&plan, programs);
        let plan = plan.with_programs(programs);
        total.store(plan.simulations.len() as u64, Ordering::Relaxed);
        let path = store.unwrap_or_else(|| study.store_path());
        let mut store = Store::open(&path, &plan, None)?;
        count.store(store.recorded_places(&plan)?.len() as u64, Ordering::Relaxed);
        let outcome = carry_out(&plan, &mut store, &Threads(threads), stop, &mut |_| {
            count.fetch_add(1, Ordering::Relaxed);
        })?;
        Ok((path, (outcome.simulated as u64, outcome.left as u64, outcome.failed as u64)))
    };
    let report_progress = |py: Python<'_>| -> PyResult<()> {
        let simulation_count = shared_total.load(Ordering::Relaxed);
        match &watch {
            Some(watch) if simulation_count > 0 => {
                watch.call1(py, (shared_done.load(Ordering::Relaxed), simulation_count)).map(drop)
            }
            _ => Ok(()),
        }
    };
    let work_result = run_watched(py, &halt, report_progress, work)?;
    let sweep_result = work_result.map_err(|e| error::sweep_error(&e))?;
    report_progress(py)?;
    Ok(sweep_result)
}

/// The answer to a question in SQL, as a table.
#[pyfunction]
#[pyo3(name = "query")]
pub(crate) fn ask(py: Python<'_>, store: PathBuf, sql: String) -> PyResult<PythonTable> {
    let answer = py.detach(|| query_store(&store, &sql)).map_err(|e| error::sweep_error(&e))?;
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
fn level_column(values: Vec<Option<&DesignLevel>>) -> PyColumn {
    if values.iter().all(|value| value.is_none_or(|level| level.as_number().is_some())) {
        return PyColumn::MaybeFloat(values.into_iter().map(|value| value.and_then(DesignLevel::as_number)).collect());
    }
    PyColumn::Text(values.into_iter().map(|value| value.map(ToString::to_string)).collect())
}

/// Every configuration of a store with its values, as a table.
#[pyfunction]
pub(crate) fn configurations(py: Python<'_>, store: PathBuf) -> PyResult<PythonTable> {
    let contents = py.detach(|| {
        let store = Store::open_to_read(&store)?;
        Ok::<_, SweepError>((store.parameters()?, store.metrics()?, store.rows()?))
    });
    let (parameters, metrics, rows) = contents.map_err(|e| error::sweep_error(&e))?;
    let mut columns = vec![
        ("configuration".to_string(), PyColumn::Int(rows.iter().map(|row| row.configuration).collect())),
        ("case".to_string(), PyColumn::Text(rows.iter().map(|row| Some(row.case.clone())).collect())),
        ("name".to_string(), PyColumn::Text(rows.iter().map(|row| Some(row.name.clone())).collect())),
        ("policy".to_string(), PyColumn::Text(rows.iter().map(|row| Some(row.policy.clone())).collect())),
    ];
    for (at, name) in parameters.into_iter().enumerate() {
        columns.push((name, level_column(rows.iter().map(|row| row.point[at].as_ref()).collect())));
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
    against: Option<&str>,
    confidence: f64,
) -> PyResult<PythonTable> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(error::wrong_error(format!("confidence: expected a number between 0 and 1, not {confidence}")));
    }
    let contents = py.detach(|| {
        let store = Store::open_to_read(&store)?;
        let table = Candidates::from_store(&store, &CaseSelection { metrics, workloads })?;
        let ranking = Ranking::from_table(&table);
        let base = match against {
            Some(text) => match table.find_candidate(text) {
                Ok(base) => base,
                Err(problem) => return Ok(Err(format!("against: {text}: {problem}"))),
            },
            None => ranking.ranked.first().map_or(0, |first| first.candidate),
        };
        let paired_tests = PairedTests::test_table(&store, &table, (base, against.is_some()), confidence)?;
        Ok::<_, SweepError>(Ok((ranking, table, paired_tests)))
    });
    let (ranking, table, paired_tests) = contents.map_err(|e| error::sweep_error(&e))?.map_err(error::wrong_error)?;
    let ranked_rows = &ranking.ranked;
    let candidates: Vec<_> = ranked_rows.iter().map(|row| &table.candidates[row.candidate]).collect();
    let mut columns = vec![
        ("rank".to_string(), PyColumn::Int(ranked_rows.iter().map(|row| row.rank as i64).collect())),
        (
            "policy".to_string(),
            PyColumn::Text(candidates.iter().map(|candidate| Some(candidate.policy.clone())).collect()),
        ),
        ("degradation".to_string(), PyColumn::Float(ranked_rows.iter().map(|row| row.average).collect())),
    ];
    for (at, name) in table.parameters.iter().enumerate() {
        columns.push((
            name.clone(),
            level_column(candidates.iter().map(|candidate| candidate.point[at].as_ref()).collect()),
        ));
    }
    let tests: Vec<_> = ranked_rows.iter().map(|row| paired_tests.tests[row.candidate].as_ref()).collect();
    let float = |get: fn(&PairedTest) -> f64| PyColumn::MaybeFloat(tests.iter().map(|test| test.map(get)).collect());
    let verdicts = ranked_rows.iter().zip(&tests).map(|(row, test)| match test {
        _ if row.candidate == paired_tests.against => None,
        None => Some("untested"),
        Some(test) if !test.differs => Some("unclear"),
        Some(test) => Some(if test.change < 0.0 { "better" } else { "worse" }),
    });
    columns.extend([
        ("test_change".to_string(), float(|test| test.change)),
        ("test_low".to_string(), float(|test| test.interval.0)),
        ("test_high".to_string(), float(|test| test.interval.1)),
        ("test_p_holm".to_string(), float(|test| test.p_holm)),
        ("test_verdict".to_string(), PyColumn::Text(verdicts.map(|word| word.map(String::from)).collect())),
    ]);
    PythonTable::new(columns)
}
