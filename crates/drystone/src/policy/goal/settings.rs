//! The parameters of goal-oriented scheduling and how texts give them.

use super::measures::Measure;
use super::objective::{Differences, Model, Objective, Version};
use crate::policy::{Args, SpecError};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// In which order the children of a node are tried: first the job that the heuristic would take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Branching {
    /// By arrival.
    Fcfs,
    /// Largest current slowdown, (wait + run time) / run time, first.
    #[default]
    Lxf,
}

/// In which order paths are visited. A branch other than the heuristic's is a discrepancy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Traversal {
    /// Limited discrepancy search: iteration k visits the paths with exactly k discrepancies.
    Lds,
    /// Depth-bounded discrepancy search: iteration i visits the paths whose last discrepancy is at depth i.
    #[default]
    Dds,
}

/// When a subtree is given up as no better than the best path found so far. The result of a search to the end is the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Prune {
    /// Never.
    Never,
    /// By the jobs placed so far, as in the paper.
    Placed,
    /// By the jobs placed so far, and for the others by the earliest start they would have if nobody else waited.
    #[default]
    Earliest,
}

/// All parameters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// What is minimised.
    pub objective: Objective,
    /// The order of paths.
    pub traversal: Traversal,
    /// The order of branches.
    pub branching: Branching,
    /// L: most nodes placed per decision; `None` is no limit.
    pub nodes: Option<u64>,
    /// Most time per decision, for live use. Results then depend on the speed of the machine.
    pub budget: Option<Duration>,
    /// When a subtree is given up.
    pub prune: Prune,
    /// Threads that search; results do not depend on it.
    pub threads: u32,
}

/// L where nothing else is said.
const NODES: u64 = 4_000;
/// Most threads.
const MOST_THREADS: u32 = 1_024;

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            objective: Objective::default(),
            traversal: Traversal::Dds,
            branching: Branching::Lxf,
            nodes: Some(NODES),
            budget: None,
            prune: Prune::Earliest,
            threads: 1,
        }
    }
}

/// The four algorithms of the paper.
const SEARCHES: &[(&str, Option<(Traversal, Branching)>)] = &[
    ("auto", None),
    ("dds-lxf", Some((Traversal::Dds, Branching::Lxf))),
    ("dds-fcfs", Some((Traversal::Dds, Branching::Fcfs))),
    ("lds-lxf", Some((Traversal::Lds, Branching::Lxf))),
    ("lds-fcfs", Some((Traversal::Lds, Branching::Fcfs))),
];

impl Settings {
    pub(super) fn build(args: &Args<'_>) -> Result<Settings, SpecError> {
        let versions = [("a", Version::A), ("b", Version::B), ("c", Version::C)];
        let differences = [("relaxed", Differences::Relaxed), ("strict", Differences::Strict)];
        let prunes = [("never", Prune::Never), ("placed", Prune::Placed), ("earliest", Prune::Earliest)];
        let objective = Objective::parse(args.text("objective")).map_err(|e| args.error(format!("objective: {e}")))?;
        let objective = Objective {
            version: args.choose("version", &versions)?,
            differences: args.choose("diff", &differences)?,
            ..objective
        };
        let leads = objective.model == Model::Lexical && objective.measures.first() == Some(&Measure::MaxWait);
        // Section 5.2: the LXF heuristic is at odds with an objective that the longest wait leads.
        let auto = (Traversal::Dds, if leads { Branching::Fcfs } else { Branching::Lxf });
        let (traversal, branching) = args.choose("search", SEARCHES)?.unwrap_or(auto);
        let budget = budget(args)?;
        let nodes = match (args.text("nodes"), budget) {
            ("auto", None) => Some(NODES),
            ("auto", Some(_)) | ("all", _) => None,
            _ => Some(args.get("nodes")?),
        };
        let threads = args.get("threads")?;
        if !(1..=MOST_THREADS).contains(&threads) {
            return Err(args.wrong("threads"));
        }
        Ok(Settings { objective, traversal, branching, nodes, budget, prune: args.choose("prune", &prunes)?, threads })
    }
}

/// `none`, or a number of milliseconds or seconds: `50ms`, `2s`, `0.5s`.
fn budget(args: &Args<'_>) -> Result<Option<Duration>, SpecError> {
    let text = args.text("budget");
    if text == "none" {
        return Ok(None);
    }
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s').ok_or_else(|| args.wrong("budget"))?, 1.0),
    };
    let seconds = number.trim().parse::<f64>().map_err(|_| args.wrong("budget"))? * unit;
    // A day is more than any decision may take, and nothing is too short to be told from nothing.
    if !(1e-6..=86_400.0).contains(&seconds) {
        return Err(args.wrong("budget"));
    }
    Ok(Some(Duration::from_secs_f64(seconds)))
}
