//! Failures of nodes as a parameter of a study: `failures = { mtbf = "30d", node = 8 }`.

use super::StudyReader;
use crate::error::SweepError;
use drystone::generate::{OutageParamError, OutageParams, outages};
use drystone::model::{OutageHit, Outages, Procs, Span, Workload};
use std::fmt;
use toml::{Spanned, Value};

/// Nodes that fail by themselves, with exponential times to a failure and to the end of a repair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NodeFailures {
    /// Mean time of a node from a repair to the next failure.
    mtbf: Span,
    /// Mean time of a repair.
    repair: Span,
    /// Processors of a node.
    node: Procs,
    /// Fate of jobs on it.
    hit: OutageHit,
    seed: u64,
}

impl fmt::Display for NodeFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NodeFailures { mtbf, repair, node, hit, seed } = self;
        write!(f, "failures(mtbf={}s,repair={}s,node={node},jobs={},seed={seed})", mtbf.0, repair.0, hit.word())
    }
}

impl NodeFailures {
    /// Draws the failures of a workload's time; parts of a log draw from streams of their own.
    pub(crate) fn draw(&self, workload: &Workload, part: usize) -> Result<Outages, OutageParamError> {
        let (from, until) = workload.submits().unwrap_or_default();
        let seed = self.seed.wrapping_add(part as u64);
        outages(&OutageParams {
            node: self.node,
            unavailable: self.repair.as_f64() / (self.repair.as_f64() + self.mtbf.as_f64()),
            repair: self.repair,
            hit: self.hit,
            maintenance: None,
            ..OutageParams::new(workload.machine(), from, until, seed)
        })
    }
}

impl StudyReader<'_> {
    /// Failures, each on its own; `"none"` is none.
    pub(super) fn failures(&self, raw: Option<&Spanned<Value>>) -> Result<Vec<Option<NodeFailures>>, SweepError> {
        let Some(raw) = raw else { return Ok(vec![None]) };
        let one = |value: &Value| match value {
            Value::String(text) if text == "none" => Ok(None),
            Value::Table(table) => read(table).map(Some),
            _ => Err(EXPECTED.to_string()),
        };
        let wrong = |problem: String| self.error(raw.span(), format!("`failures`: {problem}"));
        let all: Vec<Option<NodeFailures>> = match raw.as_ref() {
            Value::Array(values) if values.is_empty() => Err(EXPECTED.to_string()),
            Value::Array(values) => values.iter().map(one).collect(),
            value => one(value).map(|only| vec![only]),
        }
        .map_err(wrong)?;
        let text = |one: &Option<NodeFailures>| one.map_or("none".to_string(), |one| one.to_string());
        self.once("failures", raw.span(), all.iter().map(text).collect())?;
        Ok(all)
    }
}

const EXPECTED: &str = "expected { mtbf = \"30d\", repair = \"6h\", node = 8, jobs = \"requeue\", seed = 1 }, of which only `mtbf` \
                        must be there, or \"none\", or a list of such";

fn read(table: &toml::map::Map<String, Value>) -> Result<NodeFailures, String> {
    let mut failures =
        NodeFailures { mtbf: Span::ZERO, repair: Span(6 * 3600), node: 1, hit: OutageHit::Requeue, seed: 1 };
    for (key, value) in table {
        let wrong = || format!("`{key}` has no such value; {EXPECTED}");
        match key.as_str() {
            "mtbf" => failures.mtbf = time(value).ok_or_else(wrong)?,
            "repair" => failures.repair = time(value).ok_or_else(wrong)?,
            "node" => failures.node = whole(value).filter(|&procs| procs > 0).ok_or_else(wrong)?,
            "seed" => failures.seed = value.as_integer().and_then(|seed| seed.try_into().ok()).ok_or_else(wrong)?,
            "jobs" => {
                let word = value.as_str().unwrap_or_default();
                let hit = OutageHit::ALL.into_iter().find(|hit| hit.word() == word);
                failures.hit = hit.ok_or_else(wrong)?;
            }
            _ => return Err(wrong()),
        }
    }
    if failures.mtbf == Span::ZERO { Err(format!("`mtbf` is missing; {EXPECTED}")) } else { Ok(failures) }
}

fn whole(value: &Value) -> Option<Procs> {
    value.as_integer().and_then(|number| number.try_into().ok())
}

/// A time of at least a second: seconds, or a number with s, m, h or d.
fn time(value: &Value) -> Option<Span> {
    let seconds = match value {
        Value::Integer(seconds) => *seconds,
        Value::String(text) => {
            let units = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];
            let of = |(unit, length): (&str, i64)| {
                text.trim().strip_suffix(unit)?.trim().parse::<i64>().ok()?.checked_mul(length)
            };
            units.into_iter().find_map(of)?
        }
        _ => return None,
    };
    (seconds > 0 && seconds <= drystone::model::TIME_LIMIT).then_some(Span(seconds))
}
