//! Run times of a workload's profiles.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Profiles in profiles no deeper than this.
const DEEPEST: usize = 32;

/// Result of a profile.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::log) struct ProfileRun {
    pub(in crate::log) seconds: f64,
    /// Processor-seconds that are divided among the processors, beyond these.
    pub(in crate::log) spread: f64,
    /// True if it returns 0.
    pub(super) succeeds: bool,
}

/// The profiles of a workload, worked out once each.
pub(in crate::log) struct Profiles<'a> {
    all: &'a Map<String, Value>,
    known: BTreeMap<String, ProfileRun>,
    /// Operations per second of a processor; without it computations are refused.
    flops: Option<f64>,
}

impl<'a> Profiles<'a> {
    pub(in crate::log) fn new(profiles: &'a Map<String, Value>) -> Profiles<'a> {
        Profiles { all: profiles, known: BTreeMap::new(), flops: None }
    }

    /// Profiles on processors of this speed, so that computations have a run time.
    pub(in crate::log) fn with_flops(self, flops: f64) -> Profiles<'a> {
        Profiles { flops: Some(flops), ..self }
    }

    /// Returns the run time of a profile, or the reason why it is unknown.
    pub(in crate::log) fn resolve_profile(&mut self, name: &str) -> Result<ProfileRun, String> {
        self.resolve_within(name, 0)
    }

    fn resolve_within(&mut self, name: &str, depth: usize) -> Result<ProfileRun, String> {
        if let Some(run) = self.known.get(name) {
            return Ok(*run);
        }
        if depth > DEEPEST {
            return Err(format!("profile `{name}` holds itself, or profiles more than {DEEPEST} deep"));
        }
        let Some(profile) = self.all.get(name) else {
            return Err(format!("there is no profile `{name}` under `profiles`"));
        };
        let kind = profile.get("type").and_then(Value::as_str).unwrap_or("");
        let return_code = profile.get("ret").and_then(Value::as_i64).unwrap_or(0);
        let ran = match kind {
            "delay" | "DelayProfile" => {
                let delay = profile.get("delay").and_then(Value::as_f64);
                let seconds = delay.filter(|delay| *delay >= 0.0);
                let seconds = seconds.ok_or_else(|| {
                    format!(
                        "profile `{name}` has no `delay` of seconds from 0 on, but {}",
                        format_value(profile.get("delay"))
                    )
                })?;
                ProfileRun { seconds, spread: 0.0, succeeds: return_code == 0 }
            }
            "composed" | "sequence" | "SequentialCompositionProfile" => {
                self.sequence_run(name, profile, return_code, depth)?
            }
            "ParallelTaskHomogeneousProfile"
            | "parallel_homogeneous"
            | "parallel_homogeneous_total"
            | "ptask_homogeneous"
            | "msg_par_hg"
            | "msg_par_hg_tot"
                if self.flops.is_some() =>
            {
                self.computation_run(name, kind, profile, return_code)?
            }
            "" => return Err(format!("profile `{name}` has no `type`")),
            other => {
                return Err(format!(
                    "profile `{name}` is of type `{other}`, which lasts as long as a platform makes of it; profiles of delays \
                     can be read (`delay`, `DelayProfile`, and sequences of them), and homogeneous computations with `drystone workload convert --shapes`"
                ));
            }
        };
        self.known.insert(name.to_string(), ran);
        Ok(ran)
    }

    /// A homogeneous computation; its communication takes no time.
    fn computation_run(&self, name: &str, kind: &str, profile: &Value, exit_code: i64) -> Result<ProfileRun, String> {
        let amount = profile.get("cpu").or_else(|| profile.get("computation_amount"));
        let operations = amount.map_or(Some(0.0), Value::as_f64).filter(|amount| *amount >= 0.0);
        let operations = operations.ok_or_else(|| {
            format!(
                "profile `{name}` computes {}; expected a number of operations from 0 on (`cpu`)",
                format_value(amount)
            )
        })?;
        let seconds = operations / self.flops.unwrap_or(1.0);
        let strategy = profile.get("generation_strategy").and_then(Value::as_str).unwrap_or("");
        let is_spread = match strategy {
            "DefinedAmountsSpreadUniformly" | "defined_amount_spread_uniformly" => true,
            "DefinedAmountsUsedForEachValue" | "defined_amount_used_for_each_value" => false,
            "" => matches!(kind, "parallel_homogeneous_total" | "msg_par_hg_tot"),
            other => {
                return Err(format!(
                    "profile `{name}` has the generation strategy `{other}`; expected DefinedAmountsUsedForEachValue or \
                     DefinedAmountsSpreadUniformly"
                ));
            }
        };
        let (seconds, spread_seconds) = if is_spread { (0.0, seconds) } else { (seconds, 0.0) };
        Ok(ProfileRun { seconds, spread: spread_seconds, succeeds: exit_code == 0 })
    }

    fn sequence_run(
        &mut self,
        name: &str,
        profile: &Value,
        exit_code: i64,
        depth: usize,
    ) -> Result<ProfileRun, String> {
        let parts = profile.get("seq").and_then(Value::as_array);
        let parts = parts.ok_or_else(|| format!("profile `{name}` is a sequence without `seq`"))?;
        let repeat = match profile.get("repeat").or_else(|| profile.get("nb")) {
            None => 1.0,
            Some(times) => {
                let times = times.as_f64().filter(|times| *times >= 1.0);
                times.ok_or_else(|| {
                    format!("profile `{name}` is repeated {} times", format_value(profile.get("repeat")))
                })?
            }
        };
        let mut total_run = ProfileRun { seconds: 0.0, spread: 0.0, succeeds: exit_code == 0 };
        for part in parts {
            let Some(part) = part.as_str() else {
                return Err(format!("profile `{name}`: {part} in its `seq` is no name of a profile"));
            };
            let ran = self.resolve_within(part, depth + 1)?;
            total_run.seconds += ran.seconds;
            total_run.spread += ran.spread;
            total_run.succeeds &= ran.succeeds;
        }
        total_run.seconds *= repeat;
        total_run.spread *= repeat;
        Ok(total_run)
    }
}

pub(super) fn format_value(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_string(), |value| format!("`{value}`"))
}
