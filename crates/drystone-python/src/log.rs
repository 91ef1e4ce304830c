//! Workloads.

use crate::error;
use crate::job_numbers::{JobNumbers, job_numbers};
use crate::names::WorkloadNames;
use crate::saved_log::{LogOrigin, ORIGIN, load_log, origin_text, read_origin, save_log};
use crate::table::{PyColumn, PythonTable};
use crate::table_workload::{TableWorkload, table_workload};
use crate::work::run_interruptible;
use arrow_array::RecordBatch;
use drystone::generate::{Habits, Params, WorkloadLength, WorkloadModel, generate_workload};
use drystone::log::source;
use drystone::log::swf::SwfRecord;
use drystone::log::transform::{self, LoadFactor, WindowError, WindowRule};
use drystone::model::{Job, Setting, Span, Time, Truth, Workload};
use drystone_cli::library::{WithNotes, WorkloadInput};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use pyo3_arrow::input::AnyRecordBatch;
use std::collections::{BTreeMap, HashMap};
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Jobs on a machine, with all that is known of where they come from. Shared, never changed.
#[pyclass(frozen, name = "Log", module = "drystone._drystone")]
pub(crate) struct PyLog {
    pub(crate) input: Arc<WorkloadInput>,
    hash: OnceLock<String>,
    numbers: OnceLock<JobNumbers>,
    pub(crate) names: Arc<WorkloadNames>,
}

impl PyLog {
    fn from_input(input: WorkloadInput) -> PyLog {
        PyLog::with_names(input, WorkloadNames::default())
    }

    /// A workload whose users, groups, programs, queues or partitions have names.
    pub(crate) fn with_names(input: WorkloadInput, names: WorkloadNames) -> PyLog {
        let (hash, numbers) = (OnceLock::new(), OnceLock::new());
        PyLog { input: Arc::new(input), hash, numbers, names: Arc::new(names) }
    }

    /// Another workload with the same names.
    fn with_input(&self, input: WorkloadInput) -> PyLog {
        PyLog { names: Arc::clone(&self.names), ..PyLog::from_input(input) }
    }

    /// The log's numbers of the jobs, in the order of arrival.
    pub(crate) fn job_numbers(&self) -> JobNumbers {
        Arc::clone(self.numbers.get_or_init(|| job_numbers(self.workload())))
    }

    pub(crate) fn workload(&self) -> &Workload {
        self.input.workload()
    }

    fn moved_log(&self, workload: Workload, records: Option<Vec<SwfRecord>>) -> PyResult<PyLog> {
        self.input
            .with_moved_jobs(workload, records)
            .map(|input| self.with_input(input))
            .map_err(|failure| error::command_error(&failure))
    }
}

/// A log and what people should hear of it.
fn open_log(
    outcome: Result<WithNotes<WorkloadInput>, drystone_cli::library::CommandFailure>,
) -> PyResult<(PyLog, Vec<String>)> {
    let WithNotes { what, messages } = outcome.map_err(|failure| error::command_error(&failure))?;
    Ok((PyLog::from_input(what), messages))
}

#[pymethods]
impl PyLog {
    /// Reads and cleans a log from a file, or a site from a folder.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, options: Vec<String>, plain: bool) -> PyResult<(PyLog, Vec<String>)> {
        open_log(run_interruptible(py, move |_| WorkloadInput::load(&path, &options, plain))?)
    }

    /// Reads a log from bytes.
    #[staticmethod]
    fn read_bytes(
        py: Python<'_>,
        bytes: Vec<u8>,
        title: String,
        options: Vec<String>,
    ) -> PyResult<(PyLog, Vec<String>)> {
        open_log(run_interruptible(py, move |_| {
            let reader = source::decompress_log(Box::new(Cursor::new(bytes)), title.as_str().into());
            WorkloadInput::load_from(reader?, &title, &options)
        })?)
    }

    /// A workload from a table of another library, and how many jobs have no estimate. A table that
    /// a workload made tells of the machine and of its origin.
    #[staticmethod]
    fn from_arrow(
        table: AnyRecordBatch,
        procs: Option<u32>,
        columns: BTreeMap<String, String>,
        name: Option<String>,
    ) -> PyResult<(PyLog, usize)> {
        let (batches, schema) = table.into_table().map_err(PyErr::from)?.into_inner();
        let batches: Vec<RecordBatch> = batches;
        let origin = schema.metadata().get(ORIGIN).and_then(|text| read_origin(text));
        let procs = procs.or_else(|| origin.as_ref()?.procs).ok_or_else(|| {
            error::wrong_error("procs: the table does not say how many processors the machine has; expected procs=...")
        })?;
        let provenance = origin.as_ref().map(|origin| origin.provenance.clone()).unwrap_or_default();
        let earlier = origin.as_ref().map(|origin| origin.names.clone()).unwrap_or_default();
        let TableWorkload { mut workload, names, unlimited } =
            table_workload(&batches, &schema, procs, &columns, &earlier, provenance)?;
        if let Some(LogOrigin { hash, header, .. }) = origin
            && drystone_sweep::compute_fingerprint(&workload) == hash
        {
            if let Some(name) = name {
                workload.provenance.name = name;
            }
            let records = workload.jobs().iter().zip(workload.truth());
            let records = records.map(|(job, truth)| SwfRecord::from_job(job, truth)).collect();
            let audit = WorkloadInput::from_workload(workload.clone()).audit().clone();
            return Ok((
                PyLog::with_names(WorkloadInput::of_parts(workload, audit, header, Some(records)), names),
                unlimited,
            ));
        }
        workload.provenance.name = name.unwrap_or_else(|| "table".to_string());
        workload.provenance.settings = vec![Setting { name: "from".to_string(), value: "a table".to_string() }];
        Ok((PyLog::with_names(WorkloadInput::from_workload(workload), names), unlimited))
    }

    /// A workload that was saved.
    #[staticmethod]
    fn restore(py: Python<'_>, bytes: Vec<u8>) -> PyResult<PyLog> {
        let (input, names) = py.detach(|| load_log(&bytes))?;
        Ok(PyLog::with_names(input, names))
    }

    /// The whole workload as bytes; `None` for a site, which is more than its jobs.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let hash = self.hash(py);
        let log_bytes = py.detach(|| save_log(&self.input, &self.names, hash))?;
        Ok(log_bytes.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// Names that the numbers of a column are places of; empty where it holds numbers.
    fn column_names(&self, column: &str) -> PyResult<Vec<String>> {
        if !WorkloadNames::COLUMNS.contains(&column) {
            let columns = WorkloadNames::COLUMNS.join(", ");
            return Err(error::wrong_error(format!(
                "names: there are none of `{column}`; there may be names of {columns}"
            )));
        }
        Ok(self.names.column_names(column).map(|names| names.words().to_vec()).unwrap_or_default())
    }

    /// A synthetic workload.
    #[staticmethod]
    #[pyo3(signature = (*, procs, jobs, days, load, seed, model, max_estimate, users))]
    #[expect(clippy::too_many_arguments, reason = "each is an argument of Python's `generate` by name")]
    fn generate(
        py: Python<'_>,
        procs: u32,
        jobs: Option<u32>,
        days: Option<u32>,
        load: Option<f64>,
        seed: u64,
        model: &str,
        max_estimate: i64,
        users: Option<u32>,
    ) -> PyResult<PyLog> {
        let length = match (jobs, days) {
            (Some(jobs), None) => WorkloadLength::Jobs(jobs),
            (None, Some(days)) => WorkloadLength::Span(Span(i64::from(days) * Span::DAY.0)),
            _ => return Err(error::wrong_error("generate: give either jobs or days")),
        };
        let model = match model {
            "lublin" | "typeless" => WorkloadModel::Typeless,
            "lublin-typed" | "typed" => WorkloadModel::Typed,
            other => {
                let problem = format!("generate: there is no model `{other}`; there are lublin, lublin-typed");
                return Err(error::wrong_error(problem));
            }
        };
        let habits = Habits { users, ..Habits::default() };
        let params = Params { procs, length, load, seed, model, max_estimate: Span(max_estimate), habits };
        let workload = run_interruptible(py, move |_| generate_workload(&params))?;
        Ok(PyLog::from_input(WorkloadInput::from_workload(workload.map_err(error::wrong_error)?)))
    }

    fn __len__(&self) -> usize {
        self.workload().len()
    }

    #[getter]
    fn procs(&self) -> u32 {
        self.workload().machine().procs
    }

    #[getter]
    fn name(&self) -> &str {
        &self.workload().provenance.name
    }

    /// Fingerprint of everything that can influence a result.
    #[getter]
    fn hash(&self, py: Python<'_>) -> &str {
        self.hash.get_or_init(|| py.detach(|| drystone_sweep::compute_fingerprint(self.workload())))
    }

    #[getter]
    fn load(&self) -> Option<f64> {
        self.workload().offered_load()
    }

    /// First and last submit, in seconds.
    #[getter]
    fn submits(&self) -> Option<(i64, i64)> {
        self.workload().submit_range().map(|(first, last)| (first.0, last.0))
    }

    /// Unix time of second 0, where it is known.
    #[getter]
    fn unix_start(&self) -> Option<i64> {
        self.workload().provenance.unix_start
    }

    /// Returns the settings that shaped the workload, in the order in which they were applied.
    #[getter]
    fn settings(&self) -> Vec<(String, String)> {
        let settings = self.workload().provenance.settings.iter();
        settings.map(|setting| (setting.name.clone(), setting.value.clone())).collect()
    }

    /// Fields of the log's header, in order.
    #[getter]
    fn header(&self) -> Vec<(String, String)> {
        self.input.header().fields().collect()
    }

    /// Names the data besides the jobs, where the jobs alone are not the whole workload.
    #[getter]
    fn beyond_jobs(&self) -> Option<&'static str> {
        self.input.beyond_jobs()
    }

    /// Returns the audit of cleaning: records, jobs, and the number of records that each rule
    /// touched.
    #[getter]
    fn audit<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (audit, rules, audit_dict) = (self.input.audit(), PyDict::new(py), PyDict::new(py));
        for (rule, records) in audit.rule_counts() {
            rules.set_item(rule.name(), records)?;
        }
        audit_dict.set_item("records", audit.records)?;
        audit_dict.set_item("jobs", audit.jobs)?;
        audit_dict.set_item("rules", rules)?;
        audit_dict.set_item("text", audit.to_string())?;
        Ok(audit_dict)
    }

    /// The jobs as a table.
    fn table(&self, py: Python<'_>) -> PyResult<PythonTable> {
        let hash = self.hash(py);
        py.detach(|| build_table(self, hash))
    }

    /// The jobs at these places in the order of arrival.
    fn piece(&self, start: usize, stop: usize, name: &str, value: &str) -> PyResult<PyLog> {
        if start >= stop {
            return Err(error::wrong_error(format!("no job is left of the {name} {value}")));
        }
        let setting = Setting { name: name.to_string(), value: value.to_string() };
        let workload = transform::cut_piece(self.workload(), start..stop, setting).map_err(error::wrong_error)?;
        let records: Option<Vec<SwfRecord>> =
            self.input.records().and_then(|list| Some(list.get(start..stop)?.to_vec()));
        Ok(self.with_input(self.input.with_some_jobs(workload, records)))
    }

    /// Places of the jobs that were submitted from one second up to but not including another.
    #[pyo3(signature = (start, stop))]
    fn submitted(&self, start: Option<i64>, stop: Option<i64>) -> (usize, usize) {
        let places = transform::find_submitted(self.workload(), start.map(Time), stop.map(Time));
        (places.start, places.end)
    }

    /// Calendar months with the places of their jobs.
    fn months(&self) -> PyResult<Vec<(String, usize, usize)>> {
        let months = transform::calendar_months(self.workload()).map_err(|e| error::log_error(&e))?;
        Ok(months.into_iter().map(|(name, places)| (name, places.start, places.end)).collect())
    }

    /// Windows of a rule, each as its limits and the places of its jobs.
    fn windows(&self, rule: &str) -> PyResult<Vec<(String, usize, usize)>> {
        let rule: WindowRule = rule.parse().map_err(|e: WindowError| error::wrong_error(e))?;
        if rule.has_margins() {
            return Err(error::wrong_error("warm-up and cool-down are of studies: `sweep` takes them as `windows`"));
        }
        let windows = rule.find_windows(self.workload()).map_err(error::wrong_error)?;
        Ok(windows.into_iter().map(|window| (window.name, window.counted.start, window.counted.end)).collect())
    }

    /// Submit times divided by a factor, written in decimal.
    fn scale(&self, factor: &str) -> PyResult<PyLog> {
        let factor: LoadFactor = factor.parse().map_err(error::wrong_error)?;
        let workload = transform::scale_load(self.workload().clone(), factor).map_err(error::wrong_error)?;
        // The waits that the log recorded are those of another load.
        self.moved_log(workload, None)
    }

    /// Times shifted so that the first submit is 0.
    fn shift(&self) -> PyResult<PyLog> {
        let workload = transform::shift_workload(self.workload().clone()).map_err(error::wrong_error)?;
        self.moved_log(workload, self.input.records().map(<[SwfRecord]>::to_vec))
    }

    /// Returns these jobs with several sizes, drawn as `drystone workload reshape` draws them.
    fn reshape(&self, py: Python<'_>, options: Vec<String>) -> PyResult<(PyLog, Vec<String>)> {
        let input = Arc::clone(&self.input);
        let reshaped_input = run_interruptible(py, move |_| input.with_drawn_sizes(&options))?;
        let WithNotes { what, messages } = reshaped_input.map_err(|failure| error::command_error(&failure))?;
        Ok((self.with_input(what), messages))
    }

    /// Writes the jobs as a log, as the path's ending says.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let input = Arc::clone(&self.input);
        run_interruptible(py, move |_| input.write_log(&path))?.map_err(|failure| error::command_error(&failure))
    }
}

/// The jobs as a table: its columns are those that `from_arrow` reads.
fn build_table(log: &PyLog, hash: &str) -> PyResult<PythonTable> {
    let workload = log.workload();
    let jobs = |get: fn(&Job) -> i64| PyColumn::Int(workload.jobs().iter().map(get).collect());
    let truth = |get: fn(&Truth) -> i64| PyColumn::Int(workload.truth().iter().map(get).collect());
    let attribute = |column: &'static str, get: fn(&Job) -> i32| {
        (column, log.names.make_column(column, workload.jobs().iter().map(get).collect()))
    };
    let columns = vec![
        ("job_id", truth(|truth| truth.number)),
        ("submit", jobs(|job| job.submit.0)),
        ("run", truth(|truth| truth.run.0)),
        ("procs", jobs(|job| i64::from(job.procs))),
        ("estimate", jobs(|job| job.estimate.0)),
        attribute("user", |job| job.user),
        attribute("group", |job| job.group),
        attribute("executable", |job| job.executable),
        attribute("queue", |job| job.queue),
        attribute("partition", |job| job.partition),
        ("memory_kb", jobs(|job| job.memory_kb)),
        ("status", truth(|truth| truth.status.to_swf())),
    ];
    let columns = columns.into_iter().map(|(name, column)| (name.to_string(), column)).collect();
    PythonTable::with_metadata(
        columns,
        HashMap::from([(ORIGIN.to_string(), origin_text(&log.input, &log.names, hash))]),
    )
}
