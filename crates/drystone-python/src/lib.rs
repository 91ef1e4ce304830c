//! Drystone for Python: the extension module of the package `drystone`. It holds no logic of
//! scheduling: it passes workloads, policies and results on. What people call is in
//! `python/drystone`.

mod actions;
mod callback;
mod cells;
mod command_results;
mod env;
mod error;
mod failure;
mod job_numbers;
mod log;
mod names;
mod objects;
mod own_metric;
mod policy;
mod predictor;
mod registry;
mod run;
mod saved_log;
mod session;
mod sweep;
mod table;
mod table_workload;
mod texts;
mod view;
mod waiting;
mod work;

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command with these arguments, the program first, and answers its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    // The command has threads and signals of its own: the interpreter waits.
    py.detach(|| drystone_cli::library::main_with(arguments))
}

/// Around threads that simulate, where objects of Python may be called.
fn run_beside_python(work: &mut (dyn FnMut() + Send)) {
    if objects::has_any_object() { work::known_to_python(work) } else { work() }
}

/// The extension module.
#[pymodule]
fn _drystone(module: &Bound<'_, PyModule>) -> PyResult<()> {
    drystone_cli::library::register_policies().map_err(|failure| error::internal_error(failure.message()))?;
    drystone_cli::library::around_threads(run_beside_python);
    callback::register_kinds()?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(work::close_work, module)?)?;
    module.add_function(wrap_pyfunction!(run::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(run::compare, module)?)?;
    module.add_function(wrap_pyfunction!(run::gantt, module)?)?;
    module.add_function(wrap_pyfunction!(own_metric::judge_metric, module)?)?;
    module.add_function(wrap_pyfunction!(run::explain, module)?)?;
    module.add_function(wrap_pyfunction!(command_results::predict, module)?)?;
    module.add_function(wrap_pyfunction!(command_results::headroom, module)?)?;
    module.add_function(wrap_pyfunction!(command_results::foresee, module)?)?;
    module.add_function(wrap_pyfunction!(command_results::whatif, module)?)?;
    module.add_function(wrap_pyfunction!(command_results::when, module)?)?;
    module.add_function(wrap_pyfunction!(command_results::fidelity, module)?)?;
    module.add_function(wrap_pyfunction!(command_results::import, module)?)?;
    module.add_function(wrap_pyfunction!(command_results::advise, module)?)?;
    module.add_function(wrap_pyfunction!(command_results::waits, module)?)?;
    module.add_function(wrap_pyfunction!(command_results::evolve, module)?)?;
    module.add_function(wrap_pyfunction!(command_results::reproduce, module)?)?;
    module.add_function(wrap_pyfunction!(registry::policies, module)?)?;
    module.add_function(wrap_pyfunction!(registry::list_predictors, module)?)?;
    module.add_function(wrap_pyfunction!(registry::metrics, module)?)?;
    module.add_function(wrap_pyfunction!(registry::policy, module)?)?;
    module.add_function(wrap_pyfunction!(registry::with_parameter, module)?)?;
    module.add_function(wrap_pyfunction!(table::arrays, module)?)?;
    module.add_function(wrap_pyfunction!(table_workload::column_names, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::ask, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::configurations, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::rank, module)?)?;
    module.add_class::<env::PyOptions>()?;
    module.add_class::<env::PyVecEnv>()?;
    module.add_class::<env::AgentSpec>()?;
    module.add_class::<log::PyLog>()?;
    module.add_class::<table::PythonTable>()?;
    module.add_class::<run::PyOutcome>()?;
    module.add_class::<run::PyJudgement>()?;
    module.add_class::<run::Plot>()?;
    module.add_class::<command_results::PySaid>()?;
    module.add_class::<objects::ObjectSlot>()?;
    module.add_class::<view::PyView>()?;
    module.add_class::<view::WaitingJobs>()?;
    module.add_class::<view::RunningJobs>()?;
    module.add_class::<view::PyJob>()?;
    module.add_class::<view::JobEvent>()?;
    module.add_class::<actions::PyActions>()?;
    module.add_class::<session::PySession>()?;
    Ok(())
}
