//! Application models of ElastiSim: seconds of an application at a number of nodes.

use super::ElasticMachine;
use super::formula::{Names, evaluate_formula};
use serde_json::Value;
use std::collections::BTreeMap;

/// Greatest depth of nested sequences.
const DEEPEST: usize = 32;

/// A run of an application at a number of nodes.
pub(super) struct ModelRun<'a> {
    pub(super) machine: &'a ElasticMachine,
    pub(super) nodes: u32,
    pub(super) gpus_per_node: u32,
    /// Arguments of the job, and the names of its nodes and GPUs.
    pub(super) names: Names,
}

/// Parts that take no time here, counted.
pub(super) type LeftOutParts = BTreeMap<&'static str, u64>;

pub(super) fn leave_out(left_out: &mut LeftOutParts, part_name: &'static str) {
    *left_out.entry(part_name).or_insert(0) += 1;
}

/// Counts what an application model has and this reader leaves out.
pub(super) fn count_left_out(model: &Value, left_out: &mut LeftOutParts) {
    for key in ["on_reconfiguration", "on_expansion"] {
        if model.get(key).is_some_and(|part| !part.is_null()) {
            leave_out(left_out, "costs of a change of size (on_reconfiguration, on_expansion)");
        }
    }
    for phase in list_phases(model) {
        if phase.get("evolving_request").is_some_and(Value::is_string) {
            leave_out(left_out, "requests of evolving jobs");
        }
        count_tasks(list_tasks(phase), left_out, 0);
    }
    count_tasks(model.get("on_init").map_or(&[], list_tasks), left_out, 0);
}

fn count_tasks(tasks: &[Value], left_out: &mut LeftOutParts, depth: usize) {
    for task in tasks {
        match task_kind(task).as_str() {
            "pfs_read" | "pfs_write" | "bb_read" | "bb_write" => leave_out(left_out, "tasks of input and output"),
            "cpu" | "gpu" if task.get("bytes").is_some_and(|bytes| !bytes.is_null()) => {
                leave_out(left_out, "communications");
            }
            "sequence" if depth < DEEPEST => count_tasks(self::list_tasks(task), left_out, depth + 1),
            _ => {}
        }
    }
}

fn list_phases(model: &Value) -> &[Value] {
    model.get("phases").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The tasks of a phase or sequence; a list stands for itself.
fn list_tasks(part: &Value) -> &[Value] {
    part.as_array().or_else(|| part.get("tasks").and_then(Value::as_array)).map_or(&[], Vec::as_slice)
}

fn task_kind(task: &Value) -> String {
    task.get("type").and_then(Value::as_str).unwrap_or("").to_ascii_lowercase()
}

impl ModelRun<'_> {
    /// Seconds of an application, and the number of its phases' iterations at whose ends it may
    /// change.
    pub(super) fn application_seconds(&self, model: &Value) -> Result<(f64, u64), String> {
        if list_phases(model).is_empty() {
            return Err("its application model has no `phases`".into());
        }
        let mut seconds = self.tasks_seconds(model.get("on_init").map_or(&[], list_tasks), 0)?;
        let mut points = 0;
        for phase in list_phases(model) {
            let times = self.count_iterations(phase)?;
            seconds += times * self.tasks_seconds(list_tasks(phase), 0)?;
            if phase.get("scheduling_point").and_then(Value::as_bool).unwrap_or(true) {
                points = u64::saturating_add(points, times as u64);
            }
        }
        Ok((seconds, points))
    }

    fn tasks_seconds(&self, tasks: &[Value], depth: usize) -> Result<f64, String> {
        tasks.iter().map(|task| self.task_seconds(task, depth)).sum()
    }

    fn task_seconds(&self, task: &Value, depth: usize) -> Result<f64, String> {
        let gpus = self.nodes.saturating_mul(self.gpus_per_node);
        let seconds = match task_kind(task).as_str() {
            "cpu" => match task.get("flops") {
                None | Some(Value::Null) => 0.0,
                Some(_) => self.busiest_payload(task, "flops", "computation_pattern", self.nodes)? / self.machine.flops,
            },
            "gpu" => match (task.get("flops"), self.machine.gpu_flops) {
                (None | Some(Value::Null), _) => 0.0,
                (Some(_), Some(speed)) if gpus > 0 => {
                    self.busiest_payload(task, "flops", "computation_pattern", gpus)? / speed
                }
                (Some(_), Some(_)) => return Err("it computes on GPUs and has none (`num_gpus_per_node`)".into()),
                (Some(_), None) => return Err("it computes on GPUs; say how fast one is (`--gpu-flops`)".into()),
            },
            "idle" | "busy_wait" => self.busiest_payload(task, "delay", "pattern", self.nodes)?,
            "pfs_read" | "pfs_write" | "bb_read" | "bb_write" => 0.0,
            "sequence" if depth < DEEPEST => self.tasks_seconds(list_tasks(task), depth + 1)?,
            "sequence" => return Err(format!("its sequences are more than {DEEPEST} deep")),
            other => {
                return Err(format!(
                    "its application model has a task of type `{other}`; expected cpu, gpu, idle, busy_wait, pfs_read, \
                     pfs_write, bb_read, bb_write or sequence"
                ));
            }
        };
        Ok(seconds * self.count_iterations(task)?)
    }

    /// Number of times that a phase or task is repeated.
    fn count_iterations(&self, part: &Value) -> Result<f64, String> {
        match part.get("iterations") {
            None | Some(Value::Null) => Ok(1.0),
            Some(value) => Ok(self.evaluate_value(value, "iterations")?.trunc().max(0.0)),
        }
    }

    fn evaluate_value(&self, value: &Value, key: &str) -> Result<f64, String> {
        match value {
            Value::Number(number) => number.as_f64().ok_or_else(|| format!("`{key}` is {number}, which is too large")),
            Value::String(formula) => evaluate_formula(formula, &self.names),
            other => Err(format!("`{key}` is `{other}`; expected a number or a formula")),
        }
    }

    /// The share of the busiest of so many processors.
    fn busiest_payload(&self, task: &Value, key: &str, pattern: &str, ranks: u32) -> Result<f64, String> {
        let value = task.get(key).ok_or_else(|| format!("a task has no `{key}`"))?;
        let pattern = task.get(pattern).and_then(Value::as_str).unwrap_or("uniform").to_ascii_lowercase();
        if let ("vector", Value::Array(list)) = (pattern.as_str(), value) {
            let payloads =
                list.iter().map(|item| self.evaluate_value(item, key)).collect::<Result<Vec<f64>, String>>()?;
            return Ok(payloads.into_iter().fold(0.0, f64::max));
        }
        let whole = self.evaluate_value(value, key)?;
        let ranks = match pattern.as_str() {
            "uniform" | "root_only" => 1,
            "all_ranks" | "total" => ranks,
            "even_ranks" => ranks.div_ceil(2),
            "odd_ranks" => ranks / 2,
            other => {
                return Err(format!(
                    "`{key}` has the pattern `{other}`; expected uniform, all_ranks, root_only, even_ranks, odd_ranks or vector"
                ));
            }
        };
        // With one processor there is none of odd rank.
        Ok(if ranks == 0 { 0.0 } else { whole.max(0.0) / f64::from(ranks) })
    }
}
