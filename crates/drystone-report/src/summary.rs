//! Summary of a comparison, in words for decision makers.

use serde::{Deserialize, Serialize};

/// A comparison on one sheet.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ComparisonSummary {
    /// The policy that is recommended, as it can be given again; `None` where none is.
    pub recommended: Option<String>,
    /// The recommendation, or that there is none, in one sentence.
    pub headline: String,
    /// Reasons to doubt the recommendation, such as a gain that may be hardly any.
    #[serde(default)]
    pub doubts: Vec<String>,
    /// Costs of the recommendation: sentences.
    pub price: Vec<String>,
    /// Requirements to run it on a site's system.
    pub to_run_it: Option<String>,
    pub assumed: Vec<String>,
    /// Questions that the comparison cannot answer.
    pub open: Vec<String>,
    /// Description of each policy, in one sentence each.
    pub does: Vec<Does>,
    /// The policies that may lead a list: a site can choose them, and they have no price that a
    /// mean hides. `None` in results of versions that did not say.
    #[serde(default)]
    pub choices: Option<Vec<String>>,
}

/// Description of a policy.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Does {
    /// The policy's text.
    pub policy: String,
    /// The description.
    pub sentence: String,
    /// Availability: a setting of Slurm, the live scheduler, or none. Empty in results of versions
    /// that did not say.
    #[serde(default)]
    pub how: String,
}
