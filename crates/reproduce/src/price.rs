//! Prices of delays under slack-based backfilling, for the worked example of Talby & Feitelson
//! 1999.

use drystone::model::{Procs, Span};
use drystone::policy::slack::{DelayedJob, Weights};
use serde::Deserialize;

/// A delay of one job in favour of another, or the wait of the newcomer itself.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PricedDelay {
    /// α_u, α_t, α_p, α_f.
    pub weights: [f64; 4],
    /// Processors of the job that waits.
    pub procs: Procs,
    /// Seconds that it waits.
    pub delay: u32,
    /// Its promise; none where it is the newcomer.
    pub promised: Option<PricedPromise>,
}

/// Promise to a planned job, and its importance beside that of the newcomer.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PricedPromise {
    /// Slack that is left, in seconds.
    pub slack: f64,
    pub first_slack: f64,
    pub priority: f64,
    pub newcomer: f64,
}

impl PricedDelay {
    /// The price; infinite beyond the slack.
    pub(crate) fn compute_price(&self) -> f64 {
        let [utilisation, time, priority, fairness] = self.weights;
        let weights = Weights { utilisation, time, priority, fairness };
        let delay = Span(i64::from(self.delay));
        match self.promised {
            None => weights.of_waiting(self.procs, delay),
            Some(PricedPromise { slack, first_slack, priority, newcomer }) => {
                DelayedJob { procs: self.procs, slack, first_slack, priority }.delay_price(delay, newcomer, &weights)
            }
        }
    }
}
