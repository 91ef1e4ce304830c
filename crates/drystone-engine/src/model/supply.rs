//! Amounts of counted resources over time: licences that expire, bandwidth by night.

use super::{ResourceId, TIME_LIMIT, Time};
use serde::{Deserialize, Serialize};

/// A change in the amount of a resource, as the machine's operators know it afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SupplyStep {
    /// Resource concerned.
    pub resource: ResourceId,
    /// Time of the change.
    pub from: Time,
    /// Amount from then on, in the unit of the resource.
    pub amount: u64,
    /// Time of the announcement to the scheduler; `None` if it is known only when it happens.
    pub announced: Option<Time>,
}

impl SupplyStep {
    /// Returns the time at which the scheduler learns of it.
    #[must_use]
    pub fn known_time(&self) -> Time {
        self.announced.map_or(self.from, |notice| notice.min(self.from))
    }

    /// Returns the mistake that the step has on its own, if any: its field and a description.
    pub(crate) fn find_problem(&self) -> Option<(SupplyField, String)> {
        let far = |time: Time| time.0.unsigned_abs() > TIME_LIMIT.unsigned_abs();
        if far(self.from) && self.from > Time::MIN {
            return Some((SupplyField::From, format!("the time is beyond ±{TIME_LIMIT} s")));
        }
        let announced_time = self.announced?;
        if far(announced_time) {
            return Some((SupplyField::Announced, format!("the time is beyond ±{TIME_LIMIT} s")));
        }
        (announced_time > self.from).then(|| {
            let problem =
                format!("is announced after it happens at {}; leave that empty if it was not announced", self.from);
            (SupplyField::Announced, problem)
        })
    }
}

/// Field of a change of supply that has a mistake.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum SupplyField {
    /// [`SupplyStep::resource`].
    Resource,
    /// [`SupplyStep::from`].
    From,
    /// [`SupplyStep::amount`].
    Amount,
    /// [`SupplyStep::announced`].
    Announced,
}

/// Mistake in a list of changes of supply.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("change of supply {}: {problem}", .index + 1)]
pub struct SupplyError {
    /// Place of the change in the list, from 0.
    pub index: usize,
    /// Field with the mistake.
    pub field: SupplyField,
    /// Description of the failure.
    pub problem: String,
}
