//! Drystone for Python.
use pyo3::prelude::*;
/// x
#[pymodule]
fn _drystone(_m: &Bound<'_, PyModule>) -> PyResult<()> { Ok(()) }
