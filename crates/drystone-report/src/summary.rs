//! What a comparison comes to, in words for people who decide.

use serde::{Deserialize, Serialize};

/// A comparison on one sheet.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// The policy that is recommended, as it can be given again; `None` where none is.
    pub recommended: Option<String>,
    /// The recommendation, or that there is none, in one sentence.
    pub headline: String,
    /// What it costs: sentences.
    pub price: Vec<String>,
    /// What it takes to run it on a site's system.
    pub to_run_it: Option<String>,
    /// What was assumed.
    pub assumed: Vec<String>,
    /// What the comparison cannot say.
    pub open: Vec<String>,
    /// What each policy does, in one sentence each.
    pub does: Vec<Does>,
    /// The policies that may lead a list: a site can choose them, and they have no price that a
    /// mean hides. `None` in results of versions that did not say.
    #[serde(default)]
    pub choices: Option<Vec<String>>,
}

/// What a policy does.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Does {
    /// The policy's text.
    pub policy: String,
    /// What it does.
    pub sentence: String,
}
