//! Jobs of ElastiSim.

use super::formula::{Names, evaluate_formula};
use super::model::{LeftOutParts, ModelRun, count_left_out};
use super::{ElasticJob, ElasticMachine};
use crate::log::swf::SwfDecimal;
use crate::model::{JobKind, Procs};
use serde_json::Value;
use std::collections::BTreeMap;

/// Most sizes of a job; a longer range is refused.
const MOST_SIZES: u64 = 100_000;

/// Reads all jobs, numbered in their order from 1.
pub(super) fn read_elastisim_jobs(
    jobs: &[Value],
    machine: &ElasticMachine,
    open: &mut dyn FnMut(&str) -> Result<String, String>,
    left_out: &mut LeftOutParts,
) -> Result<Vec<ElasticJob>, String> {
    let mut models: BTreeMap<String, Value> = BTreeMap::new();
    let mut list = Vec::with_capacity(jobs.len());
    for (job, number) in jobs.iter().zip(1..) {
        let job_problem = |problem: String| format!("the job in place {number} of `jobs`: {problem}");
        let file = job.get("application_model").and_then(Value::as_str);
        let file = file.ok_or_else(|| job_problem("`application_model` is no name of a file".into()))?;
        if !models.contains_key(file) {
            let text = open(file).map_err(&job_problem)?;
            let model = serde_json::from_str(&text).map_err(|e| job_problem(format!("{file}: no JSON ({e})")))?;
            count_left_out(&model, left_out);
            models.insert(file.to_string(), model);
        }
        list.push(read_job(job, number, &models[file], machine).map_err(&job_problem)?);
    }
    Ok(list)
}

fn read_job(job: &Value, number: i64, model: &Value, machine: &ElasticMachine) -> Result<ElasticJob, String> {
    let text = job.get("type").and_then(Value::as_str).unwrap_or("").to_ascii_lowercase();
    let kind = JobKind::ALL.into_iter().find(|kind| kind.name() == text);
    let names = JobKind::ALL.map(JobKind::name).join(", ");
    let kind = kind.ok_or_else(|| format!("`type` is `{text}`; expected {names}"))?;
    let whole = |key: &str| job.get(key).and_then(Value::as_u64);
    let nodes = |key: &str| -> Result<u64, String> {
        let nodes = whole(key).filter(|nodes| (1..=u64::from(Procs::MAX)).contains(nodes));
        nodes.ok_or_else(|| format!("`{key}` is no number of nodes above 0, which a {} job has", kind.name()))
    };
    let (min, max) = match kind {
        JobKind::Rigid => (nodes("num_nodes")?, nodes("num_nodes")?),
        _ => (nodes("num_nodes_min")?, nodes("num_nodes_max")?),
    };
    if min > max || max - min >= MOST_SIZES {
        return Err(format!("it has {min} to {max} nodes; expected an ascending range of at most {MOST_SIZES} sizes"));
    }
    let arguments = read_arguments(job.get("arguments"))?;
    let preferred_nodes = match arguments.get("num_nodes_pref") {
        Some(pref) if (min as f64..=max as f64).contains(pref) && pref.fract() == 0.0 => *pref as Procs,
        Some(pref) => return Err(format!("`num_nodes_pref` is {pref}, and it has {min} to {max} nodes")),
        None => max as Procs,
    };
    let gpus = whole("num_gpus_per_node").or(whole("num_gpus_per_node_min")).unwrap_or(0);
    let gpus_per_node = u32::try_from(gpus).map_err(|_| format!("{gpus} GPUs per node are too many"))?;
    let mut runs = Vec::new();
    let mut points = 1;
    for size in min as Procs..=max as Procs {
        let mut names = arguments.clone();
        names.insert("num_nodes".into(), f64::from(size));
        names.insert("num_gpus_per_node".into(), f64::from(gpus_per_node));
        names.insert("num_gpus".into(), f64::from(size) * f64::from(gpus_per_node));
        let run = ModelRun { machine, nodes: size, gpus_per_node, names };
        let (seconds, count) = run.application_seconds(model)?;
        runs.push((size, seconds));
        if size == preferred_nodes {
            points = count;
        }
    }
    let seconds = |key: &str| job.get(key).and_then(Value::as_f64).filter(|time| *time >= 0.0);
    let submit = seconds("submit_time").ok_or("`submit_time` is no number of seconds from 0 on")?;
    let limit = seconds("walltime").filter(|limit| *limit > 0.0);
    Ok(ElasticJob {
        number,
        submit: (submit as i64).into(),
        kind: kind.name(),
        runs,
        linear: None,
        preferred: preferred_nodes,
        limit: limit.map_or(SwfDecimal::UNKNOWN, |limit| (limit.ceil() as i64).into()),
        points,
    })
}

/// Arguments: numbers with six decimals, as ElastiSim keeps them, and formulas of those.
fn read_arguments(arguments: Option<&Value>) -> Result<Names, String> {
    let mut names = Names::new();
    let Some(Value::Object(map)) = arguments else { return Ok(names) };
    for (key, value) in map {
        match value {
            Value::Number(number) => {
                let number = number.as_f64().ok_or_else(|| format!("the argument `{key}` is too large"))?;
                let rounded_number = if number.fract() == 0.0 { number } else { (number * 1e6).round() / 1e6 };
                names.insert(key.clone(), rounded_number);
            }
            Value::String(_) => {}
            other => return Err(format!("the argument `{key}` is `{other}`; expected a number or a text")),
        }
    }
    let numbers = names.clone();
    for (key, value) in map {
        // A text that is no formula is of no use in one.
        if let Some(value) = value.as_str().and_then(|text| evaluate_formula(text, &numbers).ok()) {
            names.insert(key.clone(), value);
        }
    }
    Ok(names)
}
