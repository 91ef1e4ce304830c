//! Environments for learning, on arrays of numpy.

use crate::error;
use crate::log::PyLog;
use crate::objects::HeldObject;
use drystone::metrics::Measure;
use drystone::model::Workload;
use drystone::policy::{Policy, PolicySpec};
use drystone_env::{
    Agent, Buffers, EnvArrays, EnvError, EnvOptions, EpisodeResult, FeaturePreset, LearnedPolicy, MACHINE, Observation,
    ObservationShape, RowFeature, VecEnv,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

fn convert_error(error: EnvError) -> PyErr {
    match error {
        EnvError::Spec(spec) => error::spec_error(&spec),
        EnvError::Simulation(simulation) => error::simulation_error(&simulation, &simulation.to_string()),
        EnvError::Action { .. } | EnvError::Length { .. } => error::value_error(error),
        other => error::wrong_error(other),
    }
}

/// Options of an environment, from Python arguments.
#[pyclass(frozen, name = "EnvOptions", module = "drystone._drystone")]
pub(crate) struct PyOptions {
    options: EnvOptions,
}

#[pymethods]
impl PyOptions {
    #[new]
    #[pyo3(signature = (*, act, fill, jobs, window, order, obs, reward, dense, warm, predict, split, base, patience, rejections, autoreset))]
    #[expect(clippy::too_many_arguments, reason = "each is an argument of Python's environments by name")]
    fn new(
        act: &str,
        fill: &str,
        jobs: u32,
        window: u32,
        order: &str,
        obs: Vec<String>,
        reward: &str,
        dense: bool,
        warm: Option<&str>,
        predict: String,
        split: Vec<(u32, u32)>,
        base: &str,
        patience: u32,
        rejections: u32,
        autoreset: &str,
    ) -> PyResult<PyOptions> {
        let observation = match obs.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["default"] => Observation::from_preset(FeaturePreset::Default),
            ["rlscheduler"] => Observation::from_preset(FeaturePreset::RlScheduler),
            _ => {
                let features = obs.iter().map(|word| word.parse()).collect::<Result<Vec<RowFeature>, EnvError>>();
                Observation::from_features(&features.map_err(convert_error)?).map_err(convert_error)?
            }
        };
        let warm: Option<PolicySpec> = warm.map(str::parse).transpose().map_err(|e| error::spec_error(&e))?;
        let options = EnvOptions {
            act: act.parse().map_err(convert_error)?,
            fill: fill.parse().map_err(convert_error)?,
            jobs,
            window,
            rows: order.parse().map_err(convert_error)?,
            observation,
            reward: reward.parse().map_err(convert_error)?,
            dense,
            warm,
            predict,
            split: split.into_iter().map(|(start, stop)| Range { start, end: stop }).collect(),
            base: base.parse().map_err(|problem| error::wrong_error(format!("base: {problem}")))?,
            patience,
            rejections,
            autoreset: autoreset.parse().map_err(convert_error)?,
        };
        options.check_options().map_err(convert_error)?;
        Ok(PyOptions { options })
    }

    /// Number of actions.
    #[getter]
    fn actions(&self) -> usize {
        self.options.action_count()
    }

    /// Rows and features of an observation.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.options.window as usize, self.options.observation.row_width())
    }

    /// Numbers of the machine.
    #[getter]
    fn machine(&self) -> usize {
        MACHINE
    }

    /// Names of the features, in order.
    #[getter]
    fn features(&self) -> Vec<&'static str> {
        self.options.observation.features().iter().map(|feature| feature.name()).collect()
    }

    /// Returns whether the agent sees run times.
    #[getter]
    fn clairvoyant(&self) -> bool {
        self.options.is_clairvoyant()
    }
}

/// Environments, and what episodes that ended in the last step came to.
struct InnerEnv {
    envs: VecEnv,
    finished: Vec<Option<EpisodeResult>>,
    /// Arrays of an environment that is alone: what it shows is copied from here.
    own: Option<Buffers>,
}

/// Rows, machine and mask of an environment that is alone.
type ShownArrays<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<f32>>, Bound<'py, PyArray1<bool>>);

/// Result of a step of an environment that is alone: what is to be seen, reward, whether it is
/// terminated or truncated, and what the episode came to if it is over.
type SingleStep<'py> = (ShownArrays<'py>, f32, bool, bool, Option<Bound<'py, PyDict>>);

impl InnerEnv {
    /// Copies what there is to see.
    fn copy_shown<'py>(&self, py: Python<'py>) -> PyResult<ShownArrays<'py>> {
        let buffers = self.own.as_ref().ok_or_else(|| convert_error(EnvError::NotReset(0)))?;
        let options = self.envs.options();
        let shape = [options.window as usize, options.observation.row_width()];
        let jobs = PyArray1::from_slice(py, &buffers.jobs).reshape(shape)?;
        Ok((jobs, PyArray1::from_slice(py, &buffers.machine), PyArray1::from_slice(py, &buffers.mask)))
    }
}

/// Many environments at once. Arrays are given with every call and written in place, without the
/// interpreter's lock.
#[pyclass(frozen, name = "VecEnv", module = "drystone._drystone")]
pub(crate) struct PyVecEnv {
    inner: Mutex<InnerEnv>,
}

impl PyVecEnv {
    fn lock_env(&self) -> PyResult<MutexGuard<'_, InnerEnv>> {
        match self.inner.try_lock() {
            Ok(inner) => Ok(inner),
            Err(TryLockError::Poisoned(poison)) => Ok(poison.into_inner()),
            // A call that waited would hold the interpreter's lock, which a step at work needs in
            // the end.
            Err(TryLockError::WouldBlock) => {
                Err(PyRuntimeError::new_err("the environments are at work in another thread"))
            }
        }
    }
}

/// Arrays that environments write, flat.
#[derive(FromPyObject)]
struct FlatArrays<'py> {
    #[pyo3(item)]
    jobs: PyReadwriteArray1<'py, f32>,
    #[pyo3(item)]
    machine: PyReadwriteArray1<'py, f32>,
    #[pyo3(item)]
    mask: PyReadwriteArray1<'py, bool>,
    #[pyo3(item)]
    reward: PyReadwriteArray1<'py, f32>,
    #[pyo3(item)]
    terminated: PyReadwriteArray1<'py, bool>,
    #[pyo3(item)]
    truncated: PyReadwriteArray1<'py, bool>,
    #[pyo3(item)]
    final_jobs: PyReadwriteArray1<'py, f32>,
    #[pyo3(item)]
    final_machine: PyReadwriteArray1<'py, f32>,
}

impl FlatArrays<'_> {
    fn borrow_arrays<'a>(&'a mut self, results: &'a mut [Option<EpisodeResult>]) -> PyResult<EnvArrays<'a>> {
        Ok(EnvArrays {
            jobs: self.jobs.as_slice_mut()?,
            machine: self.machine.as_slice_mut()?,
            mask: self.mask.as_slice_mut()?,
            reward: self.reward.as_slice_mut()?,
            terminated: self.terminated.as_slice_mut()?,
            truncated: self.truncated.as_slice_mut()?,
            final_jobs: self.final_jobs.as_slice_mut()?,
            final_machine: self.final_machine.as_slice_mut()?,
            finished: results,
        })
    }
}

#[pymethods]
impl PyVecEnv {
    #[new]
    fn new(
        py: Python<'_>,
        logs: Vec<Py<PyLog>>,
        number: usize,
        options: &PyOptions,
        threads: usize,
    ) -> PyResult<PyVecEnv> {
        let workloads: Vec<Arc<Workload>> =
            logs.iter().map(|log| Arc::new(log.get().input.workload().clone())).collect();
        let envs = py.detach(|| VecEnv::new(&workloads, number, &options.options, threads)).map_err(convert_error)?;
        Ok(PyVecEnv { inner: Mutex::new(InnerEnv { envs, finished: vec![None; number], own: None }) })
    }

    /// The lengths of the arrays, by name.
    fn lengths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Buffers { jobs, machine, mask, reward, final_jobs, final_machine, .. } =
            self.lock_env()?.envs.make_buffers();
        let lengths = PyDict::new(py);
        for (name, length) in [
            ("jobs", jobs.len()),
            ("machine", machine.len()),
            ("mask", mask.len()),
            ("reward", reward.len()),
            ("terminated", reward.len()),
            ("truncated", reward.len()),
            ("final_jobs", final_jobs.len()),
            ("final_machine", final_machine.len()),
        ] {
            lengths.set_item(name, length)?;
        }
        Ok(lengths)
    }

    /// Begins a new episode everywhere, or where the mask says so.
    fn reset(
        &self,
        py: Python<'_>,
        mut arrays: FlatArrays<'_>,
        seed: Option<u64>,
        mask: Option<Vec<bool>>,
    ) -> PyResult<()> {
        let mut inner = self.lock_env()?;
        let InnerEnv { envs, finished, .. } = &mut *inner;
        let mut parts = arrays.borrow_arrays(finished)?;
        py.detach(|| envs.reset(seed, mask.as_deref(), &mut parts)).map_err(convert_error)
    }

    /// Takes an action in each environment. `fresh` says that the arrays are new: all rows are
    /// written.
    fn step(
        &self,
        py: Python<'_>,
        actions: PyReadonlyArray1<'_, i64>,
        mut arrays: FlatArrays<'_>,
        fresh: bool,
    ) -> PyResult<()> {
        let mut inner = self.lock_env()?;
        let InnerEnv { envs, finished, .. } = &mut *inner;
        let actions = actions.as_slice()?;
        let mut parts = arrays.borrow_arrays(finished)?;
        py.detach(|| {
            if fresh {
                envs.write_all();
            }
            envs.step(actions, &mut parts)
        })
        .map_err(convert_error)
    }

    /// Begins a new episode of an environment that is alone.
    fn reset_one<'py>(&self, py: Python<'py>, seed: Option<u64>) -> PyResult<ShownArrays<'py>> {
        let mut inner = self.lock_env()?;
        let InnerEnv { envs, own, .. } = &mut *inner;
        let buffers = own.get_or_insert_with(|| envs.make_buffers());
        py.detach(|| envs.reset(seed, None, &mut buffers.borrow_arrays())).map_err(convert_error)?;
        inner.copy_shown(py)
    }

    /// Takes an action in an environment that is alone. It takes microseconds, for which the
    /// interpreter's lock is not released.
    fn step_one<'py>(&self, py: Python<'py>, action: i64) -> PyResult<SingleStep<'py>> {
        let mut inner = self.lock_env()?;
        let InnerEnv { envs, own, .. } = &mut *inner;
        let buffers = own.as_mut().ok_or_else(|| convert_error(EnvError::NotReset(0)))?;
        envs.step(&[action], &mut buffers.borrow_arrays()).map_err(convert_error)?;
        let (reward, is_terminated, is_truncated) = (buffers.reward[0], buffers.terminated[0], buffers.truncated[0]);
        let episode_end = buffers.finished[0].as_ref().map(|result| episode_dict(py, result)).transpose()?;
        Ok((inner.copy_shown(py)?, reward, is_terminated, is_truncated, episode_end))
    }

    /// Mask of the possible actions of an environment that is alone.
    fn mask_one<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let inner = self.lock_env()?;
        let mask = inner.own.as_ref().map_or_else(|| inner.envs.make_buffers().mask, |buffers| buffers.mask.clone());
        Ok(PyArray1::from_vec(py, mask))
    }

    /// Returns the results of the episodes that ended in the last step, with the number of the
    /// environment; `None` where none ended.
    fn finished<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<EpisodeEnd<'py>>>> {
        let inner = self.lock_env()?;
        let mut episode_ends = Vec::new();
        for (env, slot) in inner.finished.iter().enumerate() {
            if let Some(result) = slot {
                episode_ends.push((env, episode_dict(py, result)?));
            }
        }
        Ok((!episode_ends.is_empty()).then_some(episode_ends))
    }
}

/// Number of an environment and the result of its episode.
type EpisodeEnd<'py> = (usize, Bound<'py, PyDict>);

fn episode_dict<'py>(py: Python<'py>, result: &EpisodeResult) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("r", result.reward)?;
    dict.set_item("l", result.steps)?;
    dict.set_item("first", result.first)?;
    dict.set_item("impossible", result.impossible)?;
    dict.set_item("utilisation", result.utilisation)?;
    for (measure, mean) in Measure::ALL.into_iter().zip(&result.means) {
        dict.set_item(format!("{measure}_mean"), mean)?;
    }
    Ok(dict)
}

/// Marks an object of Python as an agent: what it was trained in, and on which workload.
#[pyclass(frozen, name = "AgentSpec", module = "drystone._drystone")]
pub(crate) struct AgentSpec {
    options: EnvOptions,
    trained_on: Arc<Workload>,
}

#[pymethods]
impl AgentSpec {
    #[new]
    fn new(options: &PyOptions, trained_on: &PyLog) -> PyResult<AgentSpec> {
        let spec = AgentSpec { options: options.options.clone(), trained_on: Arc::new(trained_on.workload().clone()) };
        // What makes no policy is said now.
        struct IdleEnv;
        impl Agent for IdleEnv {
            fn choose_action(&mut self, _: ObservationShape<'_>) -> Option<usize> {
                None
            }
        }
        LearnedPolicy::new("agent", &spec.trained_on, &spec.options, Box::new(IdleEnv)).map_err(convert_error)?;
        Ok(spec)
    }

    fn __deepcopy__(slf: Py<AgentSpec>, _memo: &Bound<'_, PyAny>) -> Py<AgentSpec> {
        slf
    }
}

/// The name under which an object has it.
pub(crate) const AGENT: &str = "_drystone_agent";

/// An object that decides by arrays.
struct PyAgent {
    held: Arc<HeldObject>,
    live: Option<Py<PyAny>>,
}

impl PyAgent {
    fn ask_agent(&mut self, observation: ObservationShape<'_>) -> PyResult<usize> {
        let object = Arc::clone(&self.held);
        object.call_object(|py| {
            let live = match &mut self.live {
                Some(live) => live,
                empty => empty.insert(crate::objects::copy_object(py, &self.held)?),
            };
            let arrays = (
                PyArray1::from_slice(py, observation.jobs),
                PyArray1::from_slice(py, observation.machine),
                PyArray1::from_slice(py, observation.mask),
            );
            let answer = live.bind(py).call_method1("_act", arrays)?;
            answer.extract().map_err(|_| {
                let answer_text = answer.repr().map_or_else(|_| "this".to_string(), |text| text.to_string());
                if answer.is_none() {
                    PyTypeError::new_err("the agent answered None; expected the number of an action")
                } else {
                    PyValueError::new_err(format!("the agent answered {answer_text}; expected the number of an action"))
                }
            })
        })
    }
}

impl Agent for PyAgent {
    fn choose_action(&mut self, observation: ObservationShape<'_>) -> Option<usize> {
        if self.held.has_failed() {
            return None;
        }
        self.ask_agent(observation).map_err(|error| self.held.note_failure(error)).ok()
    }
}

/// The policy of an object that is an agent; `None` where it is none.
pub(crate) fn agent_policy(holder: &Arc<HeldObject>) -> Option<Result<Box<dyn Policy>, EnvError>> {
    let spec = Python::attach(|py| -> Option<Py<AgentSpec>> {
        holder.object.bind(py).getattr(AGENT).ok()?.cast_into::<AgentSpec>().ok().map(Bound::unbind)
    })?;
    let spec = spec.get();
    let agent = Box::new(PyAgent { held: Arc::clone(holder), live: None });
    let name = format!("agent: {}", holder.identity);
    Some(
        LearnedPolicy::new(name, &spec.trained_on, &spec.options, agent)
            .map(|policy| Box::new(policy) as Box<dyn Policy>),
    )
}
