//! Identity of a scheduler, so that no other continues from its state.

use super::Scheduler;
use crate::parts::predict::Forecast;
use crate::snapshot::SnapshotError;
use serde::{Deserialize, Serialize};

/// A scheduler before its first event: policies and predictors have their choices in their state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct SchedulerOrigin {
    /// Name and layout of the policy, and of the predictor.
    names: [(String, u32); 2],
    /// Their states, pass, factor, correction.
    choices: Vec<u8>,
}

impl Scheduler {
    pub(super) fn scheduler_origin(&self) -> Result<SchedulerOrigin, SnapshotError> {
        let Forecast { predictor, factor, correction } = &self.forecast;
        let choices = (self.policy.save()?, predictor.save()?, self.pass, factor, correction);
        let policy = (self.policy.name().to_string(), self.policy.layout());
        let predictor = (predictor.name().to_string(), predictor.layout());
        Ok(SchedulerOrigin { names: [policy, predictor], choices: postcard::to_stdvec(&choices)? })
    }
}

impl SchedulerOrigin {
    /// Checks that a state saved under `saved` may be loaded here.
    pub(super) fn same_as(&self, origin: &SchedulerOrigin) -> Result<(), SnapshotError> {
        if self.names != origin.names {
            return Err(SnapshotError::OtherScheduler {
                saved: origin.describe_origin(),
                here: self.describe_origin(),
            });
        }
        if self.choices != origin.choices {
            return Err(SnapshotError::Foreign);
        }
        Ok(())
    }

    fn describe_origin(&self) -> String {
        let format_name = |(name, layout): &(String, u32)| match layout {
            1 => format!("`{name}`"),
            _ => format!("`{name}`, layout {layout}"),
        };
        let [policy, predictor] = &self.names;
        format!("policy {} with predictor {}", format_name(policy), format_name(predictor))
    }
}
