//! Results as `drystone compare` and `drystone run` write them, read again.

use crate::details::PlotDetails;
use crate::meta::{ExperimentMeta, PolicyMeta, WorkloadMeta};
use crate::summary::ComparisonSummary;
use drystone::experiment::{ExperimentResult, PoolMeasured};
use drystone::metrics::{Categorised, Comparison, IntervalOptions, PromisesKept, Report};
use drystone::model::Procs;
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
    pub workload: WorkloadMeta,
    /// Other settings.
    pub experiment: ExperimentMeta,
    /// The policy that the others are compared with.
    pub baseline: String,
    /// Sentences for decision makers.
    pub verdict: Vec<String>,
    pub summary: Option<ComparisonSummary>,
    /// Changes against the baseline.
    pub comparison: Comparison,
    pub policies: Vec<PolicyResult>,
    /// Result of each policy at other loads, if asked for.
    pub loads: Vec<LoadPoint>,
    /// All of it, as it was read: what the page shows and holds.
    pub data: Value,
}

impl Results {
    /// True if a policy may lead a list. Results of versions that did not say have all that a
    /// machine can run without suspension.
    pub fn may_lead(&self, policy: &str) -> bool {
        if let Some(choices) = self.summary.as_ref().and_then(|summary| summary.choices.as_ref()) {
            return choices.iter().any(|choice| choice == policy);
        }
        let policy_result = self.policies.iter().find(|p| p.policy.text == policy);
        policy_result.is_some_and(|p| !p.policy.clairvoyant && !p.policy.preemptive)
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PolicyResult {
    pub policy: PolicyMeta,
    /// Other policies of the default set that make the same schedule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub equals: Vec<String>,
    /// Announced starts.
    pub promises: PromisesKept,
    /// Everything measured.
    pub report: Report,
    /// Results of each pool, if several are simulated side by side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolResult>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<PlotDetails>,
    /// Speed of the simulation, if asked for. Differs from run to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
}

/// Measures of a pool by itself.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PoolResult {
    pub name: String,
    /// Its processors, as its own policy counts them.
    pub procs: Procs,
    /// Everything measured.
    pub report: Report,
}

impl From<PoolMeasured> for PoolResult {
    fn from(PoolMeasured { name, procs, report, .. }: PoolMeasured) -> PoolResult {
        PoolResult { name, procs, report: report.without_jobs() }
    }
}

impl PolicyResult {
    /// Label of the policy in a table: its name, those that make the same schedule, and what keeps
    /// a machine from running it.
    pub fn table_label(&self) -> String {
        let equals: String = self.equals.iter().map(|twin| format!(" = {twin}")).collect();
        format!("{}{}", self.policy.marked_text(), equals)
    }
}

/// Speed of a simulation. Differs from run to run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Timing {
    pub seconds: f64,
    pub jobs_per_second: f64,
}

impl Timing {
    pub fn from_experiment(result: &ExperimentResult) -> Timing {
        let seconds = result.took.as_secs_f64();
        Timing { seconds, jobs_per_second: result.report.trimmed.seen as f64 / seconds.max(1e-9) }
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
    /// Mean response in seconds.
    #[serde(default)]
    pub response: Option<f64>,
    /// Mean bounded slowdown.
    pub bounded_slowdown: Option<f64>,
    /// Utilisation of the period, as in the table of policies.
    pub utilisation: Option<f64>,
    /// Measures by category, under each scheme that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<Categorised>,
}

/// Reasons why results cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    #[error(
        "not JSON, or cut short: {0}; expected the output of `drystone compare --format json` or `drystone run \
         --format json`"
    )]
    NotJson(serde_json::Error),
    #[error(
        "the schema is {found}; expected \"{COMPARE}\" or \"{RUN}\", as `drystone compare --format json` and `drystone run \
         --format json` write them"
    )]
    Schema {
        /// Value that was found.
        found: String,
    },
    #[error("the results are damaged or from another version: {0}")]
    Damaged(serde_json::Error),
}

#[derive(Deserialize)]
struct Compare {
    drystone: String,
    workload: WorkloadMeta,
    experiment: ExperimentMeta,
    baseline: String,
    verdict: Vec<String>,
    #[serde(default)]
    summary: Option<ComparisonSummary>,
    comparison: Comparison,
    results: Vec<PolicyResult>,
    #[serde(default)]
    loads: Vec<LoadPoint>,
}

#[derive(Deserialize)]
struct ResultRun {
    drystone: String,
    workload: WorkloadMeta,
    experiment: ExperimentMeta,
}

impl Results {
    /// Reads what `--format json` wrote.
    ///
    /// # Errors
    /// Text that is no JSON, of another schema, or not as that schema has it.
    pub fn read_json(json: &[u8]) -> Result<Results, ResultsError> {
        Results::from_data(serde_json::from_slice(json).map_err(ResultsError::NotJson)?)
    }

    /// From a value that was read.
    ///
    /// # Errors
    /// A value of another schema, or not as that schema has it.
    pub fn from_data(data: Value) -> Result<Results, ResultsError> {
        let schema = data.get("schema").map_or_else(|| "absent".to_string(), shorten_value);
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
                let run = ResultRun::deserialize(&data).map_err(ResultsError::Damaged)?;
                let only = PolicyResult::deserialize(&data).map_err(ResultsError::Damaged)?;
                Ok(Results::of_run(run.drystone, run.workload, run.experiment, only, data))
            }
            _ => Err(ResultsError::Schema { found: schema }),
        }
    }

    /// A single run as a comparison of one; `data` is all of it.
    pub fn of_run(
        drystone: String,
        workload: WorkloadMeta,
        experiment: ExperimentMeta,
        only: PolicyResult,
        data: Value,
    ) -> Results {
        let baseline = only.policy.text.clone();
        let (weeks, options) = (only.report.weeks.len(), IntervalOptions::default());
        Results {
            drystone,
            workload,
            experiment,
            verdict: Vec::new(),
            summary: None,
            comparison: Comparison { baseline: baseline.clone(), weeks, basis: None, options, policies: Vec::new() },
            baseline,
            policies: vec![only],
            loads: Vec::new(),
            data,
        }
    }

    /// Load factors at which policies were also simulated, in ascending order.
    fn load_factors(&self) -> Vec<f64> {
        let mut factors: Vec<f64> = Vec::new();
        for point in &self.loads {
            if !factors.contains(&point.factor) {
                factors.push(point.factor);
            }
        }
        factors
    }

    /// Inputs that determined the results, for plots to carry.
    pub fn determining_inputs(&self) -> Value {
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
            "loads": self.load_factors(),
        })
    }
}

fn shorten_value(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 { text } else { format!("{}…", text.chars().take(60).collect::<String>()) }
}
