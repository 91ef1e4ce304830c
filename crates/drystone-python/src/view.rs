//! View of a policy. Views hold nothing: they look into the engine for the time of one
//! call, and raise afterwards.

use crate::actions::PyActions;
use crate::job_numbers::job_id;
use crate::waiting::PyWaiting;
use drystone::model::{Job, JobId, JobPace, JobShape, Span, Time};
use drystone::parts::{ExtraRule, RunningJob};
use drystone::policy::{Action, Actions, Outlook, PolicyEvent, PolicyWorld, StartRoom, View};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

scoped_tls::scoped_thread_local!(static WORLD: PolicyWorld);
scoped_tls::scoped_thread_local!(static WAITING: PyWaiting);

thread_local! {
    /// Number of the call that lends the two above.
    static CALLED: Cell<u64> = const { Cell::new(0) };
}

/// Numbers of views.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Data lent for one call.
pub(crate) struct ViewCall<'a> {
    pub(crate) world: &'a PolicyWorld,
    pub(crate) waiting: &'a PyWaiting,
}

impl ViewCall<'_> {
    /// Does something while this view shows what is lent.
    pub(crate) fn with_view<T>(&self, view: &PyView, work: impl FnOnce() -> T) -> T {
        view.lock_room().take();
        let before = CALLED.replace(view.number);
        let work_result = WORLD.set(self.world, || WAITING.set(self.waiting, work));
        CALLED.set(before);
        work_result
    }
}

/// Looks into what is lent to this view.
fn look_into<T>(number: u64, at: impl FnOnce(&View<'_>, &PyWaiting) -> T) -> PyResult<T> {
    if CALLED.get() != number || !WORLD.is_set() {
        return Err(PyRuntimeError::new_err(
            "a view is valid only inside the call that it was given to; keep numbers or copies of its columns, not the view",
        ));
    }
    Ok(WORLD.with(|world| WAITING.with(|waiting| at(&View::from_world(world), waiting))))
}

/// A job that the session knows.
fn known_job(view: &View<'_>, id: JobId) -> PyResult<JobId> {
    if view.is_known(id) { Ok(id) } else { Err(PyKeyError::new_err(format!("there is no job {} here", id.0))) }
}

/// An array that is not to be changed.
fn frozen_array<'py>(py: Python<'py>, values: &[i64]) -> Bound<'py, PyArray1<i64>> {
    let array = PyArray1::from_slice(py, values);
    if let Ok(array) = array.try_readwrite() {
        let _ = array.make_nonwriteable();
    }
    array
}

/// The world as a policy sees it at one instant.
#[pyclass(frozen, name = "View", module = "drystone._drystone")]
pub(crate) struct PyView {
    number: u64,
    actions: Py<PyActions>,
    /// Room of a call in which it was asked for, without the starts of the first requests, and
    /// their number.
    room: Mutex<Option<(StartRoom, usize)>>,
    waiting: Py<WaitingJobs>,
    running: Py<RunningJobs>,
}

impl PyView {
    pub(crate) fn new(py: Python<'_>, actions: Py<PyActions>) -> PyResult<PyView> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(PyView {
            number,
            actions,
            room: Mutex::default(),
            waiting: Py::new(py, WaitingJobs { number, kept: Mutex::default() })?,
            running: Py::new(py, RunningJobs { number })?,
        })
    }

    fn lock_room(&self) -> MutexGuard<'_, Option<(StartRoom, usize)>> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PyView {
    /// The present, in seconds.
    #[getter]
    fn now(&self) -> PyResult<i64> {
        look_into(self.number, |view, _| view.current_time().0)
    }

    /// Returns the submit time of the first job.
    #[getter]
    fn origin(&self) -> PyResult<i64> {
        look_into(self.number, |view, _| view.first_submit().0)
    }

    /// Free processors, before anything that is decided in this call.
    #[getter]
    fn free(&self) -> PyResult<u32> {
        look_into(self.number, |view, _| view.free_processors())
    }

    /// Processors of the machine.
    #[getter]
    fn procs(&self) -> PyResult<u32> {
        look_into(self.number, |view, _| view.machine().procs)
    }

    /// The waiting jobs in the order of their arrival.
    #[getter]
    fn waiting(&self, py: Python<'_>) -> PyResult<Py<WaitingJobs>> {
        look_into(self.number, |_, _| self.waiting.clone_ref(py))
    }

    /// The running jobs in the order of their predicted ends.
    #[getter]
    fn running(&self, py: Python<'_>) -> PyResult<Py<RunningJobs>> {
        look_into(self.number, |_, _| self.running.clone_ref(py))
    }

    /// Ids of the suspended jobs in the order of their arrival.
    #[getter]
    fn suspended<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let ids: Vec<i64> =
            look_into(self.number, |view, _| view.suspended_jobs().map(|id| i64::from(id.0)).collect())?;
        Ok(frozen_array(py, &ids))
    }

    /// Returns whether all that a job asks for is free beside the starts of this call: processors,
    /// memory, devices and licences, on nodes that it may have.
    fn fits_now(&self, job: &Bound<'_, PyAny>) -> PyResult<bool> {
        let id = job_id(job)?;
        look_into(self.number, |view, _| {
            let id = known_job(view, id)?;
            let mut held_room = self.lock_room();
            let (room, count) = held_room.get_or_insert_with(|| (StartRoom::of_now(view), 0));
            for request in self.actions.get().requests_behind(*count) {
                *count += 1;
                match request {
                    Action::Start { job, why, .. } if view.is_known(job) => {
                        room.start_job(job, why, view, &mut Actions::default());
                    }
                    Action::StartWith { procs, .. } => room.take_procs(procs),
                    _ => {}
                }
            }
            Ok(room.fits_job(id, view))
        })?
    }

    /// Returns the known facts of a job.
    fn job(&self, job: &Bound<'_, PyAny>) -> PyResult<PyJob> {
        let id = job_id(job)?;
        look_into(self.number, |view, waiting| {
            known_job(view, id)?;
            Ok(PyJob::from_job(id, waiting.job_number(id), view.job(id), Some(view.prediction(id))))
        })?
    }

    /// Returns the predicted total run time of a job, in seconds; of a waiting one at another size
    /// than the preferred, if one is given.
    #[pyo3(signature = (job, procs=None))]
    fn prediction(&self, job: &Bound<'_, PyAny>, procs: Option<u32>) -> PyResult<i64> {
        let id = job_id(job)?;
        look_into(self.number, |view, _| {
            let id = known_job(view, id)?;
            Ok(procs.map_or_else(|| view.prediction(id), |procs| view.prediction_at(id, procs)).0)
        })?
    }

    /// Returns the sizes that a job may have, ascending: one, unless it has several.
    fn sizes<'py>(&self, py: Python<'py>, job: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let id = job_id(job)?;
        let sizes: Vec<i64> = look_into(self.number, |view, _| {
            let id = known_job(view, id)?;
            let single_size = || vec![i64::from(view.job(id).procs)];
            let several = |shape: &JobShape| shape.sizes.iter().map(i64::from).collect();
            PyResult::Ok(view.job_shape(id).map_or_else(single_size, several))
        })??;
        Ok(frozen_array(py, &sizes))
    }

    /// Returns the present size of a running job; of a waiting one the preferred.
    fn size(&self, job: &Bound<'_, PyAny>) -> PyResult<u32> {
        let id = job_id(job)?;
        look_into(self.number, |view, _| Ok(view.job_size(known_job(view, id)?)))?
    }

    /// Returns the paces of a job, the full one first: pairs of a speed as a share of the full one
    /// and of watts of each processor.
    fn paces(&self, job: &Bound<'_, PyAny>) -> PyResult<Vec<(f64, u64)>> {
        let id = job_id(job)?;
        look_into(self.number, |view, _| {
            let shape = view.job_shape(known_job(view, id)?);
            let pace = |pace: JobPace| (pace.speed.as_f64(), pace.watts);
            let slower =
                |shape: &JobShape| shape.slower_paces().map(|number| pace(shape.numbered_pace(number))).collect();
            let mut paces = vec![pace(shape.map_or(JobPace::full_pace(0), |shape| shape.numbered_pace(0)))];
            paces.extend(shape.map_or_else(Vec::new, slower));
            Ok(paces)
        })?
    }

    /// Returns the number of the present pace of a running or suspended job, from 0, the full one;
    /// 0 of any other.
    fn pace(&self, job: &Bound<'_, PyAny>) -> PyResult<u8> {
        let id = job_id(job)?;
        look_into(self.number, |view, _| Ok(view.job_pace(known_job(view, id)?)))?
    }

    /// Returns the run time of a job so far, in seconds.
    fn ran(&self, job: &Bound<'_, PyAny>) -> PyResult<i64> {
        let id = job_id(job)?;
        look_into(self.number, |view, _| Ok(view.run_time_so_far(known_job(view, id)?).0))?
    }

    /// Returns the time that a job has spent here without running, in seconds.
    fn waited(&self, job: &Bound<'_, PyAny>) -> PyResult<i64> {
        let id = job_id(job)?;
        look_into(self.number, |view, _| Ok(view.wait_so_far(known_job(view, id)?).0))?
    }

    /// Returns the phase of a job: waiting, held, running, suspended, done.
    fn phase(&self, job: &Bound<'_, PyAny>) -> PyResult<String> {
        let id = job_id(job)?;
        look_into(self.number, |view, _| Ok(format!("{:?}", view.phase(known_job(view, id)?)).to_lowercase()))?
    }

    /// Returns the time at which this many processors are predicted to be free, and the number left
    /// over then: the reservation of a blocked job under EASY. A job that has outlived its
    /// prediction counts as ending now, and processors that are out count from when they are
    /// expected back. `started` are jobs that this call starts: they count as running, and their
    /// processors as taken.
    #[pyo3(signature = (procs, started=None))]
    fn shadow(&self, procs: u32, started: Option<Vec<Bound<'_, PyAny>>>) -> PyResult<Option<(i64, u32)>> {
        let started_jobs = started.unwrap_or_default().iter().map(job_id).collect::<PyResult<Vec<JobId>>>()?;
        look_into(self.number, |view, _| {
            let mut more = Vec::with_capacity(started_jobs.len());
            for id in started_jobs {
                let job = view.job(known_job(view, id)?);
                more.push(RunningJob { end: view.current_time() + view.prediction(id), id, procs: job.procs });
            }
            let free = i64::from(view.free_processors()) - more.iter().map(|job| i64::from(job.procs)).sum::<i64>();
            let missing = u32::try_from((i64::from(procs) - free).max(0)).unwrap_or(u32::MAX);
            if missing == 0 {
                return Ok(Some((view.current_time().0, u32::try_from(free - i64::from(procs)).unwrap_or(0))));
            }
            let soon = view.current_time() + Span(1);
            let back = view.outlook().map(Outlook::expected_returns).unwrap_or_default().iter();
            let back = back.filter(|back| back.0 < Time::MAX);
            more.extend(back.map(|&(at, procs)| RunningJob { end: at.max(soon), id: JobId(u32::MAX), procs }));
            more.sort_unstable_by_key(|job: &RunningJob| (job.end, job.id));
            let shadow = view.running_jobs().shadow_with(&more, missing, ExtraRule::All, view.current_time());
            Ok(shadow.map(|shadow| (shadow.time.0, shadow.extra)))
        })?
    }

    fn __repr__(&self) -> String {
        look_into(self.number, |view, waiting| {
            let (now, free, procs) = (view.current_time().0, view.free_processors(), view.machine().procs);
            let (waiting_count, running_count) = (waiting.id.len(), view.running_jobs().len());
            format!(
                "<View at {now} s: {free} of {procs} processors free, {waiting_count} jobs wait, {running_count} run>"
            )
        })
        .unwrap_or_else(|_| "<View, no longer valid>".to_string())
    }
}

/// Columns that were made of the waiting jobs, as long as these are the same.
#[derive(Default)]
struct Kept {
    version: u64,
    columns: [Option<Py<PyArray1<i64>>>; 5],
}

/// The waiting jobs in the order of their arrival: columns of numpy, made when they are asked for.
#[pyclass(frozen, module = "drystone._drystone")]
pub(crate) struct WaitingJobs {
    number: u64,
    kept: Mutex<Kept>,
}

impl WaitingJobs {
    fn lock_kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make_column(&self, py: Python<'_>, at: usize, of: fn(&PyWaiting) -> &[i64]) -> PyResult<Py<PyArray1<i64>>> {
        look_into(self.number, |_, waiting| {
            let known_column = {
                let mut kept_columns = self.lock_kept();
                if kept_columns.version != waiting.version {
                    *kept_columns = Kept { version: waiting.version, columns: Default::default() };
                }
                kept_columns.columns[at].as_ref().map(|column| column.clone_ref(py))
            };
            known_column.unwrap_or_else(|| {
                // Not under the lock: new memory may have Python clear up, which runs what it
                // likes.
                let column = frozen_array(py, of(waiting)).unbind();
                self.lock_kept().columns[at] = Some(column.clone_ref(py));
                column
            })
        })
    }

    fn gather_column<'py>(&self, py: Python<'py>, of: fn(&Job) -> i64) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let values: Vec<i64> = look_into(self.number, |view, waiting| {
            waiting.id.iter().map(|&id| of(view.job(JobId(id as u32)))).collect()
        })?;
        Ok(frozen_array(py, &values))
    }
}

#[pymethods]
impl WaitingJobs {
    /// Ids.
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<Py<PyArray1<i64>>> {
        self.make_column(py, 0, |waiting| &waiting.id)
    }

    /// The log's numbers; −1 where there is no log.
    #[getter]
    fn job_id<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let number = |waiting: &PyWaiting, id: i64| waiting.job_number(JobId(id as u32));
        let values: Vec<i64> =
            look_into(self.number, |_, waiting| waiting.id.iter().map(|&id| number(waiting, id)).collect())?;
        Ok(frozen_array(py, &values))
    }

    /// Submit times.
    #[getter]
    fn submit(&self, py: Python<'_>) -> PyResult<Py<PyArray1<i64>>> {
        self.make_column(py, 1, |waiting| &waiting.submit)
    }

    /// Processors that each needs.
    #[getter]
    fn procs(&self, py: Python<'_>) -> PyResult<Py<PyArray1<i64>>> {
        self.make_column(py, 2, |waiting| &waiting.procs)
    }

    /// The users' estimates.
    #[getter]
    fn estimate(&self, py: Python<'_>) -> PyResult<Py<PyArray1<i64>>> {
        self.make_column(py, 3, |waiting| &waiting.estimate)
    }

    /// Predicted run times.
    #[getter]
    fn prediction(&self, py: Python<'_>) -> PyResult<Py<PyArray1<i64>>> {
        self.make_column(py, 4, |waiting| &waiting.prediction)
    }

    /// Users.
    #[getter]
    fn user<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.gather_column(py, |job| i64::from(job.user))
    }

    /// Groups.
    #[getter]
    fn group<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.gather_column(py, |job| i64::from(job.group))
    }

    /// Programs.
    #[getter]
    fn executable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.gather_column(py, |job| i64::from(job.executable))
    }

    /// Queues.
    #[getter]
    fn queue<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.gather_column(py, |job| i64::from(job.queue))
    }

    /// Partitions.
    #[getter]
    fn partition<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.gather_column(py, |job| i64::from(job.partition))
    }

    /// Memory per processor in kilobytes.
    #[getter]
    fn memory_kb<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.gather_column(py, |job| job.memory_kb)
    }

    fn __len__(&self) -> PyResult<usize> {
        look_into(self.number, |_, waiting| waiting.id.len())
    }

    /// The job at a place in the order of arrival.
    fn __getitem__(&self, at: isize) -> PyResult<PyJob> {
        look_into(self.number, |view, waiting| {
            let place = if at < 0 { at + waiting.id.len() as isize } else { at };
            let id = usize::try_from(place).ok().and_then(|place| waiting.id.get(place));
            let id = *id.ok_or_else(|| PyIndexError::new_err(format!("{} jobs wait", waiting.id.len())))?;
            let id = JobId(id as u32);
            Ok(PyJob::from_job(id, waiting.job_number(id), view.job(id), Some(view.prediction(id))))
        })?
    }
}

/// The running jobs in the order of their predicted ends: columns of numpy, made when they are
/// asked for.
#[pyclass(frozen, module = "drystone._drystone")]
pub(crate) struct RunningJobs {
    number: u64,
}

impl RunningJobs {
    fn make_column<'py>(
        &self,
        py: Python<'py>,
        of: impl Fn(&View<'_>, &RunningJob) -> i64,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let values: Vec<i64> =
            look_into(self.number, |view, _| view.running_jobs().iter().map(|running| of(view, running)).collect())?;
        Ok(frozen_array(py, &values))
    }
}

#[pymethods]
impl RunningJobs {
    /// Ids.
    #[getter]
    fn id<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.make_column(py, |_, running| i64::from(running.id.0))
    }

    /// The log's numbers; −1 where there is no log.
    #[getter]
    fn job_id<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let values: Vec<i64> = look_into(self.number, |view, waiting| {
            view.running_jobs().iter().map(|running| waiting.job_number(running.id)).collect()
        })?;
        Ok(frozen_array(py, &values))
    }

    /// Predicted ends; may lie in the past.
    #[getter]
    fn end<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.make_column(py, |_, running| running.end.0)
    }

    /// Processors that each holds.
    #[getter]
    fn procs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.make_column(py, |_, running| i64::from(running.procs))
    }

    /// Start times of the current run.
    #[getter]
    fn start<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.make_column(py, |view, running| view.segment_start(running.id).0)
    }

    /// Users.
    #[getter]
    fn user<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.make_column(py, |view, running| i64::from(view.job(running.id).user))
    }

    /// The users' estimates.
    #[getter]
    fn estimate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        self.make_column(py, |view, running| view.job(running.id).estimate.0)
    }

    fn __len__(&self) -> PyResult<usize> {
        look_into(self.number, |view, _| view.running_jobs().len())
    }
}

/// Facts that a scheduler may know of a job. A copy: it stays valid. The run time is not in it.
#[pyclass(frozen, name = "Job", module = "drystone._drystone", get_all)]
pub(crate) struct PyJob {
    id: u32,
    /// The log's number of the job; −1 where there is no log.
    job_id: i64,
    submit: i64,
    procs: u32,
    estimate: i64,
    /// Predicted run time; `None` while it is being predicted.
    prediction: Option<i64>,
    user: i32,
    group: i32,
    executable: i32,
    queue: i32,
    partition: i32,
    memory_kb: i64,
}

impl PyJob {
    pub(crate) fn from_job(id: JobId, number: i64, job: &Job, prediction: Option<Span>) -> PyJob {
        PyJob {
            id: id.0,
            job_id: number,
            submit: job.submit.0,
            procs: job.procs,
            estimate: job.estimate.0,
            prediction: prediction.map(|span| span.0),
            user: job.user,
            group: job.group,
            executable: job.executable,
            queue: job.queue,
            partition: job.partition,
            memory_kb: job.memory_kb,
        }
    }
}

#[pymethods]
impl PyJob {
    fn __repr__(&self) -> String {
        let PyJob { id, job_id, submit, procs, estimate, .. } = self;
        let number = if *job_id < 0 { String::new() } else { format!(" (job_id {job_id})") };
        format!("<Job {id}{number}: submitted at {submit} s, {procs} processors, estimate {estimate} s>")
    }
}

/// Something that happened.
#[pyclass(frozen, name = "Event", module = "drystone._drystone", get_all)]
pub(crate) struct JobEvent {
    /// arrived, ended, repredicted, cancelled, woken, held, released, runs, stopped, parked,
    /// capacity.
    kind: &'static str,
    /// Job concerned, or `None`.
    job: Option<u32>,
}

impl JobEvent {
    pub(crate) fn from_event(event: PolicyEvent) -> JobEvent {
        let (kind, job) = match event {
            PolicyEvent::Arrived(job) => ("arrived", Some(job)),
            PolicyEvent::Ended { job, .. } => ("ended", Some(job)),
            PolicyEvent::Repredicted { job, .. } => ("repredicted", Some(job)),
            PolicyEvent::Cancelled(job) => ("cancelled", Some(job)),
            PolicyEvent::Woken => ("woken", None),
            PolicyEvent::Held(job) => ("held", Some(job)),
            PolicyEvent::Released(job) => ("released", Some(job)),
            PolicyEvent::Runs(job) => ("runs", Some(job)),
            PolicyEvent::Stopped { job, .. } => ("stopped", Some(job)),
            PolicyEvent::Parked(job) => ("parked", Some(job)),
            PolicyEvent::Capacity => ("capacity", None),
            PolicyEvent::Resized { job, .. } => ("resized", Some(job)),
            PolicyEvent::Asks { job, .. } => ("asks", Some(job)),
        };
        JobEvent { kind, job: job.map(|job| job.0) }
    }
}

#[pymethods]
impl JobEvent {
    fn __repr__(&self) -> String {
        match self.job {
            Some(job) => format!("<Event {}: job {job}>", self.kind),
            None => format!("<Event {}>", self.kind),
        }
    }
}
