//! Run times of a workload's profiles.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Profiles in profiles no deeper than this.
const DEEPEST: usize = 32;

/// Result of a profile.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct ProfileRun {
    /// Seconds.
    pub(super) seconds: f64,
    /// True if it returns 0.
    pub(super) succeeds: bool,
}

/// The profiles of a workload, worked out once each.
pub(super) struct Profiles<'a> {
    all: &'a Map<String, Value>,
    known: BTreeMap<String, ProfileRun>,
}

impl<'a> Profiles<'a> {
    pub(super) fn new(all: &'a Map<String, Value>) -> Profiles<'a> {
        Profiles { all, known: BTreeMap::new() }
    }

    /// Returns the run time of a profile, or the reason why it is unknown.
    pub(super) fn of(&mut self, name: &str) -> Result<ProfileRun, String> {
        self.within(name, 0)
    }

    fn within(&mut self, name: &str, depth: usize) -> Result<ProfileRun, String> {
        if let Some(known) = self.known.get(name) {
            return Ok(*known);
        }
        if depth > DEEPEST {
            return Err(format!("profile `{name}` holds itself, or profiles more than {DEEPEST} deep"));
        }
        let Some(profile) = self.all.get(name) else {
            return Err(format!("there is no profile `{name}` under `profiles`"));
        };
        let kind = profile.get("type").and_then(Value::as_str).unwrap_or("");
        let returned = profile.get("ret").and_then(Value::as_i64).unwrap_or(0);
        let ran = match kind {
            "delay" | "DelayProfile" => {
                let delay = profile.get("delay").and_then(Value::as_f64);
                let seconds = delay.filter(|delay| *delay >= 0.0);
                let seconds = seconds.ok_or_else(|| {
                    format!("profile `{name}` has no `delay` of seconds from 0 on, but {}", told(profile.get("delay")))
                })?;
                ProfileRun { seconds, succeeds: returned == 0 }
            }
            "composed" | "sequence" | "SequentialCompositionProfile" => {
                self.sequence(name, profile, returned, depth)?
            }
            "" => return Err(format!("profile `{name}` has no `type`")),
            other => {
                return Err(format!(
                    "profile `{name}` is of type `{other}`, which lasts as long as a platform makes of it; profiles of delays \
                     can be read (`delay`, `DelayProfile`, and sequences of them)"
                ));
            }
        };
        self.known.insert(name.to_string(), ran);
        Ok(ran)
    }

    fn sequence(&mut self, name: &str, profile: &Value, returned: i64, depth: usize) -> Result<ProfileRun, String> {
        let parts = profile.get("seq").and_then(Value::as_array);
        let parts = parts.ok_or_else(|| format!("profile `{name}` is a sequence without `seq`"))?;
        let repeat = match profile.get("repeat").or_else(|| profile.get("nb")) {
            None => 1.0,
            Some(times) => {
                let times = times.as_f64().filter(|times| *times >= 1.0);
                times.ok_or_else(|| format!("profile `{name}` is repeated {} times", told(profile.get("repeat"))))?
            }
        };
        let mut all = ProfileRun { seconds: 0.0, succeeds: returned == 0 };
        for part in parts {
            let Some(part) = part.as_str() else {
                return Err(format!("profile `{name}`: {part} in its `seq` is no name of a profile"));
            };
            let ran = self.within(part, depth + 1)?;
            all.seconds += ran.seconds;
            all.succeeds &= ran.succeeds;
        }
        all.seconds *= repeat;
        Ok(all)
    }
}

/// A value in a message.
pub(super) fn told(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_string(), |value| format!("`{value}`"))
}
