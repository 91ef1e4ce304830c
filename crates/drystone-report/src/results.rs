//! Results as `drystone compare` and `drystone run` write them, read again.

use crate::details::Details;
use crate::summary::Summary;
use drystone::metrics::{Comparison, Options, PromisesKept, Report};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The schema of a comparison.
pub const COMPARE: &str = "drystone/compare/1";
/// The schema of a single run.
pub const RUN: &str = "drystone/run/1";

/// The schema of what determined plots.
pub const PLOTS: &str = "drystone/plots/1";

/// A comparison of policies, or a single run as a comparison of one.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// Version of the program that simulated.
    pub drystone: String,
    /// The workload and what made it.
    pub workload: Value,
    /// Other settings.
    pub experiment: Value,
    /// The policy that the others are compared with.
    pub baseline: String,
    /// Sentences for people who have to decide.
    pub verdict: Vec<String>,
    /// What the comparison comes to, where that was written.
    pub summary: Option<Summary>,
    /// Changes against the baseline.
    pub comparison: Comparison,
    /// What became of each policy.
    pub policies: Vec<PolicyResult>,
    /// How each policy fares at other loads, where that was asked for.
    pub loads: Vec<LoadPoint>,
    /// All of it, as it was read: what the page shows and holds.
    pub data: Value,
}

/// The result of one policy.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct PolicyResult {
    /// Which policy.
    pub policy: Policy,
    /// Other policies that make the same schedule.
    #[serde(default)]
    pub equals: Vec<String>,
    /// Announced starts.
    pub promises: PromisesKept,
    /// Everything measured.
    pub report: Report,
    /// What plots need, where it was measured.
    #[serde(default)]
    pub details: Option<Details>,
}

/// A policy as it was simulated.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Policy {
    /// As it can be given again.
    pub text: String,
    /// Every parameter with its value in force.
    #[serde(default)]
    pub parameters: Value,
    /// Whether it knows true run times.
    #[serde(default)]
    pub clairvoyant: bool,
    /// Whether it suspends running jobs.
    #[serde(default)]
    pub preemptive: bool,
}

impl Policy {
    /// Its text, with what keeps a machine from running it.
    #[must_use]
    pub fn marked(&self) -> String {
        let mut marks = Vec::new();
        marks.extend(self.clairvoyant.then_some("knows run times"));
        marks.extend(self.preemptive.then_some("preemptive"));
        if marks.is_empty() { self.text.clone() } else { format!("{} ({})", self.text, marks.join(", ")) }
    }
}

/// One policy at one load.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LoadPoint {
    /// The factor by which interarrival times were divided.
    pub factor: f64,
    /// The offered load that this gives; `None` where all jobs arrive at once.
    pub load: Option<f64>,
    /// The policy's text.
    pub policy: String,
    /// Mean wait in seconds.
    pub wait: Option<f64>,
    /// Mean bounded slowdown.
    pub bounded_slowdown: Option<f64>,
    /// Utilisation of the period, as in the table of policies.
    pub utilisation: Option<f64>,
}

/// Why results cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// Not JSON at all.
    #[error(
        "not JSON, or cut short: {0}; expected what `drystone compare --format json` or `drystone run --format json` writes"
    )]
    NotJson(serde_json::Error),
    /// JSON of something else.
    #[error(
        "the schema is {found}; expected \"{COMPARE}\" or \"{RUN}\", as `drystone compare --format json` and `drystone run \
         --format json` write them"
    )]
    Schema {
        /// What stands there.
        found: String,
    },
    /// Of the right schema, but not as it should be.
    #[error("the results are damaged or from another version: {0}")]
    Damaged(serde_json::Error),
}

#[derive(Deserialize)]
struct Compare {
    drystone: String,
    workload: Value,
    experiment: Value,
    baseline: String,
    verdict: Vec<String>,
    #[serde(default)]
    summary: Option<Summary>,
    comparison: Comparison,
    results: Vec<PolicyResult>,
    #[serde(default)]
    loads: Vec<LoadPoint>,
}

#[derive(Deserialize)]
struct Run {
    drystone: String,
    workload: Value,
    experiment: Value,
}

impl Results {
    /// Reads what `--format json` wrote.
    ///
    /// # Errors
    /// Text that is no JSON, of another schema, or not as that schema has it.
    pub fn read(json: &[u8]) -> Result<Results, ResultsError> {
        Results::of(serde_json::from_slice(json).map_err(ResultsError::NotJson)?)
    }

    /// From a value that was read, or is about to be written.
    ///
    /// # Errors
    /// A value of another schema, or not as that schema has it.
    pub fn of(data: Value) -> Result<Results, ResultsError> {
        let schema = data.get("schema").map_or_else(|| "absent".to_string(), short);
        match data.get("schema").and_then(Value::as_str) {
            Some(COMPARE) => {
                let c = Compare::deserialize(&data).map_err(ResultsError::Damaged)?;
                Ok(Results {
                    drystone: c.drystone,
                    workload: c.workload,
                    experiment: c.experiment,
                    baseline: c.baseline,
                    verdict: c.verdict,
                    summary: c.summary,
                    comparison: c.comparison,
                    policies: c.results,
                    loads: c.loads,
                    data,
                })
            }
            Some(RUN) => {
                let run = Run::deserialize(&data).map_err(ResultsError::Damaged)?;
                let only = PolicyResult::deserialize(&data).map_err(ResultsError::Damaged)?;
                let baseline = only.policy.text.clone();
                let comparison = Comparison {
                    baseline: baseline.clone(),
                    weeks: only.report.weeks.len(),
                    options: Options::default(),
                    policies: Vec::new(),
                };
                Ok(Results {
                    drystone: run.drystone,
                    workload: run.workload,
                    experiment: run.experiment,
                    baseline,
                    verdict: Vec::new(),
                    summary: None,
                    comparison,
                    policies: vec![only],
                    loads: Vec::new(),
                    data,
                })
            }
            _ => Err(ResultsError::Schema { found: schema }),
        }
    }

    /// The load factors at which policies were simulated, too, in order.
    fn factors(&self) -> Vec<f64> {
        let mut factors: Vec<f64> = Vec::new();
        for point in &self.loads {
            if !factors.contains(&point.factor) {
                factors.push(point.factor);
            }
        }
        factors
    }

    /// What determined the results, without the results: for plots of them to carry.
    #[must_use]
    pub fn determined(&self) -> Value {
        let policies: Vec<&Value> = match self.data.get("results").and_then(Value::as_array) {
            Some(results) => results.iter().filter_map(|result| result.get("policy")).collect(),
            None => self.data.get("policy").into_iter().collect(),
        };
        json!({
            "schema": PLOTS,
            "drystone": self.drystone,
            "workload": self.workload,
            "experiment": self.experiment,
            "policies": policies,
            "baseline": self.baseline,
            "comparison": self.comparison.options,
            "loads": self.factors(),
        })
    }
}

/// A value in an error message.
fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 { text } else { format!("{}…", text.chars().take(60).collect::<String>()) }
}
