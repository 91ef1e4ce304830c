//! Basis of a session: a policy, and its use of predictions.

use super::NewsError;
use crate::model::{Outages, Workload};
use crate::parts::predict::Forecast;
use crate::policy::{PassRule, Policy};

/// A policy together with how it plans with run times and how often it is asked.
///
/// ```
/// use drystone_core::engine::Scheduler;
/// use drystone_core::parts::predict::parse_forecast;
/// use drystone_core::policy::PolicySpec;
///
/// // A policy that plans with the mean run time of each user's last three jobs.
/// let policy: PolicySpec = "easy".parse()?;
/// let scheduler = Scheduler { forecast: parse_forecast("recent(3)")?, ..policy.build_scheduler() };
/// assert_eq!(scheduler.forecast.predictor.name(), "recent");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Scheduler {
    /// Decides.
    pub policy: Box<dyn Policy>,
    /// Predicts and corrects.
    pub forecast: Forecast,
    /// Number of passes at one instant.
    pub pass: PassRule,
}

impl Scheduler {
    /// A policy that plans with the users' estimates and makes one pass at each instant.
    #[must_use]
    pub fn new(policy: Box<dyn Policy>) -> Scheduler {
        Scheduler { policy, forecast: Forecast::default(), pass: PassRule::Instant }
    }

    /// Checks that it can take news: the policy [hears](crate::policy::Policy::can_hear_news) of
    /// it, and makes its passes as a live machine does.
    ///
    /// # Errors
    /// The reason.
    pub fn check_hears(&self) -> Result<(), NewsError> {
        match (self.policy.can_hear_news(), self.pass) {
            (false, _) => Err(NewsError::Unheard),
            (true, PassRule::Pyss) => Err(NewsError::Pyss),
            (true, PassRule::Instant | PassRule::Event) => Ok(()),
        }
    }

    /// Returns whether it places jobs on nodes.
    #[must_use]
    pub fn places_on_nodes(&self) -> bool {
        self.policy.places_on_nodes()
    }

    /// Checks that it can work where these processors are out for a time.
    ///
    /// # Errors
    /// Jobs are placed on nodes, and the policy places none where nodes go out and come back.
    pub fn check_outages(&self, workload: &Workload, outages: &Outages) -> Result<(), NewsError> {
        let on_nodes = workload.resources().is_some_and(|table| table.node_fill().is_some());
        match on_nodes && !outages.is_empty() && !self.policy.places_among_outages() {
            true => Err(NewsError::Outages),
            false => Ok(()),
        }
    }
}
