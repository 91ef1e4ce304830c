//! Runs and comparisons: those of the commands `run` and `compare`.

use crate::failure::WorkScene;
use crate::log::PyLog;
use crate::names::WorkloadNames;
use crate::table::{PyColumn, PythonTable};
use crate::work::{run_interruptible, with_objects};
use crate::{error, objects::ObjectSlot};
use drystone::metrics::{JobRow, Measure, Metric, MetricSource, SizedJob};
use drystone::model::Decimal;
use drystone_cli::library::{
    LibraryComparison, LibraryRun, WithNotes, WorkloadInput, draw_gantt as chart, explain_start as story,
};
use drystone_report::charts::{self, Drawing};
use drystone_report::{Colour, Results, render_page};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Error for work that stopped without a signal, which cannot happen.
fn stopped_error() -> PyErr {
    PyKeyboardInterrupt::new_err("stopped")
}

/// Outcome of one policy on one workload.
#[pyclass(frozen, name = "Outcome", module = "drystone._drystone")]
pub(crate) struct PyOutcome {
    run: Arc<LibraryRun>,
    input: Arc<WorkloadInput>,
    results: Arc<Results>,
    names: Arc<WorkloadNames>,
    messages: Vec<String>,
}

/// Simulates one policy; the options are those of the command `run`.
#[pyfunction]
pub(crate) fn simulate(
    py: Python<'_>,
    log: &PyLog,
    options: Vec<String>,
    slots: Vec<Py<ObjectSlot>>,
) -> PyResult<PyOutcome> {
    let input = Arc::clone(&log.input);
    let shared_input = Arc::clone(&input);
    let scene = WorkScene::new(log, slots);
    let outcome = with_objects(py, &scene.slots, &scene.numbers, move |stop| {
        LibraryRun::from_input(&shared_input, &options, stop)
    })?;
    let WithNotes { what, messages } =
        outcome.map_err(|failure| scene.convert_failure(py, &failure))?.ok_or_else(stopped_error)?;
    let results = what.results().map_err(|failure| error::command_error(&failure))?;
    let names = Arc::clone(&log.names);
    Ok(PyOutcome { run: Arc::new(what), input, results: Arc::new(results), names, messages })
}

#[pymethods]
impl PyOutcome {
    /// Notes and warnings.
    #[getter]
    fn messages(&self) -> Vec<String> {
        self.messages.clone()
    }

    /// A row per job.
    fn jobs(&self, py: Python<'_>) -> PyResult<PythonTable> {
        py.detach(|| job_table(self.run.rows(), self.run.job_sizes(), &self.names))
    }

    /// Every metric of the catalogue that was measured, by name.
    fn measures(&self) -> Vec<(String, f64)> {
        let Some(only) = self.results.policies.first() else { return Vec::new() };
        let source = MetricSource { report: &only.report, promises: Some(&only.promises) };
        Metric::all_metrics().filter_map(|metric| Some((metric.id(), metric.value_of(source)?))).collect()
    }

    /// Returns the command's output as JSON.
    fn json(&self) -> String {
        self.results.data.to_string()
    }

    /// Returns the command's output as text.
    fn text(&self) -> String {
        self.run.render_text()
    }

    /// A page with plots, whole.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        let results = Arc::clone(&self.results);
        run_interruptible(py, move |_| render_page(&results))
    }

    /// Every plot as SVG: name, title, drawing.
    fn plots(&self, py: Python<'_>, width: u32) -> PyResult<Vec<Plot>> {
        draw_plots(py, &self.results, width)
    }

    /// Writes the schedule, byte for byte as `drystone run --jobs` does.
    fn write_schedule(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let (run, input) = (Arc::clone(&self.run), Arc::clone(&self.input));
        run_interruptible(py, move |_| run.write_schedule(&input, &path))?
            .map_err(|failure| error::command_error(&failure))
    }

    /// Writes the result, as `drystone run --report` does.
    fn write_report(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let run = Arc::clone(&self.run);
        run_interruptible(py, move |_| run.write_report(&path))?.map_err(|failure| error::command_error(&failure))
    }
}

/// Comparison of several policies on one workload.
#[pyclass(frozen, name = "Judgement", module = "drystone._drystone")]
pub(crate) struct PyJudgement {
    compared: Arc<LibraryComparison>,
    results: Arc<Results>,
    messages: Vec<String>,
}

/// Compares policies; the options are those of the command `compare`.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    log: &PyLog,
    options: Vec<String>,
    slots: Vec<Py<ObjectSlot>>,
) -> PyResult<PyJudgement> {
    let input = Arc::clone(&log.input);
    let scene = WorkScene::new(log, slots);
    let outcome = with_objects(py, &scene.slots, &scene.numbers, move |stop| {
        LibraryComparison::from_input(&input, &options, stop)
    })?;
    let WithNotes { what, messages } =
        outcome.map_err(|failure| scene.convert_failure(py, &failure))?.ok_or_else(stopped_error)?;
    let results = what.results().map_err(|failure| error::command_error(&failure))?;
    Ok(PyJudgement { compared: Arc::new(what), results: Arc::new(results), messages })
}

#[pymethods]
impl PyJudgement {
    /// Notes and warnings.
    #[getter]
    fn messages(&self) -> Vec<String> {
        self.messages.clone()
    }

    /// The sentences of the verdict.
    #[getter]
    fn verdict(&self) -> Vec<String> {
        self.results.verdict.clone()
    }

    /// The policy that the others are compared with.
    #[getter]
    fn baseline(&self) -> &str {
        &self.results.baseline
    }

    /// A row per policy with every metric, its change against the baseline, the interval and what
    /// that says.
    fn table(&self) -> PyResult<PythonTable> {
        results_table(&self.results)
    }

    /// As [`PyOutcome::json`].
    fn json(&self) -> String {
        self.results.data.to_string()
    }

    /// Returns the command's output as text.
    fn text(&self) -> String {
        self.compared.render_text()
    }

    /// A page with plots, whole.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        let results = Arc::clone(&self.results);
        run_interruptible(py, move |_| render_page(&results))
    }

    /// Every plot as SVG: name, title, drawing.
    fn plots(&self, py: Python<'_>, width: u32) -> PyResult<Vec<Plot>> {
        draw_plots(py, &self.results, width)
    }

    /// Writes the result, as `drystone compare --report` does.
    fn write_report(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let comparison = Arc::clone(&self.compared);
        run_interruptible(py, move |_| comparison.write_report(&path))?
            .map_err(|failure| error::command_error(&failure))
    }
}

/// A drawing, as SVG, PDF and PNG.
#[pyclass(frozen, module = "drystone._drystone")]
pub(crate) struct Plot {
    drawing: Arc<Drawing>,
}

#[pymethods]
impl Plot {
    /// Returns the drawing as JSON, from which `restore` makes it.
    fn save(&self) -> String {
        let Drawing { id, title, note, svg, determined } = &*self.drawing;
        json!({ "drawing": { "id": id, "title": title, "note": note, "svg": svg }, "determined": determined })
            .to_string()
    }

    /// A drawing that was saved.
    #[staticmethod]
    fn restore(saved: &str) -> PyResult<Plot> {
        let mut saved_value: Value = serde_json::from_str(saved).map_err(error::value_error)?;
        let mut drawing: Drawing = serde_json::from_value(saved_value["drawing"].take()).map_err(error::value_error)?;
        drawing.determined = saved_value["determined"].take();
        Ok(Plot { drawing: Arc::new(drawing) })
    }

    #[getter]
    fn id(&self) -> &str {
        &self.drawing.id
    }

    #[getter]
    fn title(&self) -> &str {
        &self.drawing.title
    }

    /// The drawing with its title and what determined it.
    fn svg(&self) -> String {
        self.drawing.svg_file()
    }

    /// Returns the chart as PNG, with `scale` pixels to a unit.
    fn png(&self, py: Python<'_>, scale: f32) -> PyResult<Vec<u8>> {
        let drawing = Arc::clone(&self.drawing);
        run_interruptible(py, move |_| drawing.png_image(scale))?.map_err(error::value_error)
    }

    /// Returns the chart as PDF of one page.
    fn pdf(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let drawing = Arc::clone(&self.drawing);
        run_interruptible(py, move |_| drawing.pdf_page())?.map_err(error::value_error)
    }
}

fn draw_plots(py: Python<'_>, results: &Arc<Results>, width: u32) -> PyResult<Vec<Plot>> {
    let results = Arc::clone(results);
    let drawings =
        run_interruptible(py, move |_| charts::draw_plots(&results, width))?.map_err(error::internal_error)?;
    Ok(drawings.into_iter().map(|drawing| Plot { drawing: Arc::new(drawing) }).collect())
}

/// The schedule of a policy as a chart: a drawing, or a page where no size is given. The options
/// are those of the command `gantt`.
#[pyfunction]
#[pyo3(signature = (log, options, colour, size, slots))]
pub(crate) fn gantt(
    py: Python<'_>,
    log: &PyLog,
    options: Vec<String>,
    colour: &str,
    size: Option<(u32, u32)>,
    slots: Vec<Py<ObjectSlot>>,
) -> PyResult<(Option<Plot>, Option<String>)> {
    let colour = Colour::ALL.into_iter().find(|choice| choice.name() == colour).ok_or_else(|| {
        error::wrong_error(format!(
            "colour: there is no `{colour}`; there are {}",
            Colour::ALL.map(Colour::name).join(", ")
        ))
    })?;
    let input = Arc::clone(&log.input);
    let scene = WorkScene::new(log, slots);
    let chart_result = with_objects(py, &scene.slots, &scene.numbers, move |stop| {
        let chart = chart(&input, &options, stop)?;
        Ok(chart.map(|WithNotes { what: chart, .. }| match size {
            Some((width, height)) => (Some(chart.draw_chart(colour, width, height)), None),
            None => (None, Some(chart.render_page(colour))),
        }))
    })?;
    let (drawing, page) =
        chart_result.map_err(|failure| scene.convert_failure(py, &failure))?.ok_or_else(stopped_error)?;
    let drawing = drawing.transpose().map_err(error::internal_error)?;
    Ok((drawing.map(|drawing| Plot { drawing: Arc::new(drawing) }), page))
}

/// Explains the start of a job; the options are those of the command `explain`.
#[pyfunction]
pub(crate) fn explain(
    py: Python<'_>,
    log: &PyLog,
    options: Vec<String>,
    slots: Vec<Py<ObjectSlot>>,
) -> PyResult<(String, String)> {
    let input = Arc::clone(&log.input);
    let scene = WorkScene::new(log, slots);
    let biography = with_objects(py, &scene.slots, &scene.numbers, move |_| story(&input, &options))?;
    Ok(biography.map_err(|failure| scene.convert_failure(py, &failure))?.what)
}

/// A row per job, as `drystone run --jobs` writes it.
pub(crate) fn job_table(
    rows: &[JobRow],
    sizes: Option<&BTreeMap<i64, SizedJob>>,
    names: &WorkloadNames,
) -> PyResult<PythonTable> {
    let int = |get: fn(&JobRow) -> i64| PyColumn::Int(rows.iter().map(get).collect());
    let mut columns = vec![
        ("job_id", int(|row| row.number)),
        ("submit", int(|row| row.submit.0)),
        ("start", int(|row| row.start.0)),
        ("end", int(|row| row.end.0)),
        ("wait", int(|row| row.wait().0)),
        ("run", int(|row| row.ran.0)),
        ("procs", int(|row| i64::from(row.procs))),
        ("estimate", int(|row| row.estimate.0)),
        ("user", names.make_column("user", rows.iter().map(|row| row.user).collect())),
        (
            "bounded_slowdown",
            PyColumn::Float(rows.iter().map(|row| Measure::BoundedSlowdown.value_of(row.wait(), row.ran)).collect()),
        ),
        ("suspensions", int(|row| i64::from(row.suspensions))),
        ("suspended", int(|row| row.suspended.0)),
        ("overhead", int(|row| row.overhead.0)),
        (
            "first_reservation",
            PyColumn::MaybeInt(rows.iter().map(|row| row.first_reservation.map(|at| at.0)).collect()),
        ),
        ("first_prediction", int(|row| row.first_prediction.0)),
        ("corrections", int(|row| i64::from(row.corrections))),
        ("accuracy", PyColumn::MaybeFloat(rows.iter().map(|row| row.accuracy).collect())),
        ("counted", PyColumn::Bool(rows.iter().map(|row| row.counted).collect())),
        ("ended", PyColumn::Text(rows.iter().map(|row| Some(row.ended.name().to_string())).collect())),
        ("promised", PyColumn::MaybeInt(rows.iter().map(|row| row.promised.map(|at| at.0)).collect())),
    ];
    if let Some(sizes) = sizes {
        let of = |row: &JobRow| sizes.get(&row.number).copied().unwrap_or_default();
        let whole = |get: fn(SizedJob) -> i64| PyColumn::Int(rows.iter().map(|row| get(of(row))).collect());
        let float = |get: fn(SizedJob) -> f64| PyColumn::Float(rows.iter().map(|row| get(of(row))).collect());
        columns.extend([
            ("procs_first", whole(|size_row| i64::from(size_row.first))),
            ("procs_last", whole(|size_row| i64::from(size_row.last))),
            ("procs_mean", float(|size_row| size_row.mean)),
            ("grows", whole(|size_row| i64::from(size_row.grows))),
            ("shrinks", whole(|size_row| i64::from(size_row.shrinks))),
            ("reconfiguring", whole(|size_row| size_row.reconfiguring)),
            ("energy", float(|size_row| size_row.energy as f64)),
        ]);
        if sizes.values().any(|size_row| size_row.paces.is_some()) {
            let speed = |pace: Option<Decimal>| pace.unwrap_or(Decimal::ONE).as_f64();
            columns.extend([
                (
                    "pace_first",
                    PyColumn::Float(rows.iter().map(|row| speed(of(row).paces.map(|paces| paces.first))).collect()),
                ),
                (
                    "pace_last",
                    PyColumn::Float(rows.iter().map(|row| speed(of(row).paces.map(|paces| paces.last))).collect()),
                ),
                ("slowed", whole(|size_row| size_row.paces.map_or(0, |paces| paces.slowed))),
            ]);
        }
    }
    PythonTable::new(columns.into_iter().map(|(name, column)| (name.to_string(), column)).collect())
}

/// A row per policy.
fn results_table(results: &Results) -> PyResult<PythonTable> {
    let policies = &results.policies;
    let text = |get: &dyn Fn(usize) -> Option<String>| PyColumn::Text((0..policies.len()).map(get).collect());
    let mut columns = vec![("policy".to_string(), text(&|at| Some(policies[at].policy.text.clone())))];
    for metric in Metric::all_metrics() {
        let value = |at: usize| {
            metric.value_of(MetricSource { report: &policies[at].report, promises: Some(&policies[at].promises) })
        };
        let values: Vec<Option<f64>> = (0..policies.len()).map(value).collect();
        if values.iter().any(Option::is_some) {
            columns.push((metric.id(), PyColumn::MaybeFloat(values)));
        }
    }
    for metric in Metric::compared_metrics() {
        let change = |at: usize| {
            let policy =
                results.comparison.policies.iter().find(|candidate| candidate.name == policies[at].policy.text)?;
            policy.changes.iter().find(|change| change.metric == metric)
        };
        let float = |get: &dyn Fn(usize) -> Option<f64>| PyColumn::MaybeFloat((0..policies.len()).map(get).collect());
        let id = metric.id();
        columns.push((format!("{id}_change"), float(&|at| change(at)?.relative)));
        columns.push((format!("{id}_change_low"), float(&|at| Some(change(at)?.interval?.0))));
        columns.push((format!("{id}_change_high"), float(&|at| Some(change(at)?.interval?.1))));
        let word = |at: usize| {
            let verdict = serde_json::to_value(change(at)?.verdict).ok()?;
            verdict.as_str().map(ToString::to_string)
        };
        columns.push((format!("{id}_verdict"), text(&word)));
    }
    PythonTable::new(columns)
}
