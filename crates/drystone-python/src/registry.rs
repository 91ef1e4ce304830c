//! Registered names.

use crate::error;
use drystone::metrics::{Better, Metric, MetricUnit};
use drystone::parts::predict::predictor_kinds;
use drystone::policy::{ALIASES, PolicySpec, policy_kinds};
use drystone_report::meta::PolicyMeta;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Every policy: name, what it does, source, what a short name stands for, parameters.
#[pyfunction]
pub(crate) fn policies<'py>(py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let mut policy_entries = Vec::new();
    for kind in policy_kinds() {
        let entry = registry_entry(py, kind.name, kind.summary, kind.source)?;
        let parameters = PyDict::new(py);
        for param in kind.params {
            parameters.set_item(param.name, (param.default, param.describe_values(), param.meaning))?;
        }
        entry.set_item("parameters", parameters)?;
        entry.set_item("variants", kind.variants.iter().map(|variant| variant.name).collect::<Vec<_>>())?;
        entry.set_item("means", py.None())?;
        policy_entries.push(entry);
    }
    for alias in ALIASES {
        let entry = registry_entry(py, alias.name, alias.summary, "")?;
        entry.set_item("parameters", PyDict::new(py))?;
        entry.set_item("variants", Vec::<String>::new())?;
        entry.set_item("means", alias.means)?;
        policy_entries.push(entry);
    }
    Ok(policy_entries)
}

/// Every predictor.
#[pyfunction]
#[pyo3(name = "predictors")]
pub(crate) fn list_predictors<'py>(py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let mut predictor_entries = Vec::new();
    for kind in predictor_kinds() {
        let entry = registry_entry(py, kind.name, kind.summary, kind.source)?;
        let parameters = PyDict::new(py);
        for param in kind.params {
            parameters.set_item(param.name, (param.default, param.describe_values(), param.meaning))?;
        }
        entry.set_item("parameters", parameters)?;
        predictor_entries.push(entry);
    }
    Ok(predictor_entries)
}

fn registry_entry<'py>(py: Python<'py>, name: &str, summary: &str, source: &str) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("name", name)?;
    entry.set_item("summary", summary)?;
    entry.set_item("source", source)?;
    Ok(entry)
}

/// Every metric: name, what people call it, unit, which values are better.
#[pyfunction]
pub(crate) fn metrics() -> Vec<(String, String, &'static str, &'static str)> {
    let unit = |unit| match unit {
        MetricUnit::Seconds => "seconds",
        MetricUnit::Ratio => "ratio",
        MetricUnit::Share => "share",
        _ => "count",
    };
    let better = |better| if better == Better::More { "more" } else { "less" };
    Metric::all_metrics()
        .map(|metric| (metric.id(), metric.name(), unit(metric.unit()), better(metric.better_direction())))
        .collect()
}

/// Canonical text, parameters in force, whether it knows run times, whether it suspends jobs.
type Meaning = (String, Vec<(String, String)>, bool, bool);

/// Returns the meaning of a policy text: canonical text, parameters in force, use of run times, use
/// of suspension.
#[pyfunction]
pub(crate) fn policy(text: &str) -> PyResult<Meaning> {
    let spec: PolicySpec = text.parse().map_err(|e| error::spec_error(&e))?;
    let meta = PolicyMeta::from_spec(&spec);
    let parameters = spec.parameters().into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    Ok((spec.canonical_text(), parameters, meta.clairvoyant, meta.preemptive))
}

/// The text of a policy with one more parameter; what was given before under this name is replaced.
#[pyfunction]
pub(crate) fn with_parameter(text: &str, name: &str, value: &str) -> PyResult<String> {
    let mut call = drystone::policy::NamedCall::parse(text).map_err(|e| error::spec_error(&e))?;
    call.args.retain(|(key, _)| key.as_deref() != Some(name));
    call.args.push((Some(name.to_string()), value.to_string()));
    Ok(call.to_string())
}
