//! The parameters of goal-oriented scheduling and how texts give them.

use super::measures::GoalMeasure;
use super::objective::{Differences, GoalObjective, ObjectiveModel, Version};
use crate::parts::Order;
use crate::parts::ranking;
use crate::policy::{Args, SpecError, Takes, ValueForm};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Order in which the children of a node are tried: first the job that the heuristic would take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Branching {
    /// By arrival.
    Fcfs,
    /// Largest current slowdown, (wait + run time) / run time, first.
    #[default]
    Lxf,
}

/// Order in which paths are visited. A branch other than the heuristic's is a discrepancy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Traversal {
    /// Limited discrepancy search: iteration k visits the paths with exactly k discrepancies.
    Lds,
    /// Depth-bounded discrepancy search: iteration i visits the paths whose last discrepancy is at
    /// depth i.
    #[default]
    Dds,
}

/// Criterion for giving up a subtree as no better than the best path found so far. The result of a
/// search to the end is the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Prune {
    /// Never.
    Never,
    /// By the jobs placed so far, as in the paper.
    Placed,
    /// By the jobs placed so far, and for the others by the earliest start they would have if no
    /// other job waited.
    #[default]
    Earliest,
    /// As `Earliest`, and at every branching by the earliest start that the others would have
    /// beside the jobs placed so far.
    Beside,
}

/// Use of the best path of the decision before, without the jobs that have started and with
/// newcomers behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum PathReuse {
    /// Nothing.
    #[default]
    No,
    /// It is the heuristic path: branches are tried in its order.
    Branch,
    /// It is tried right after the heuristic path.
    Seed,
}

/// Run time for which jobs are placed. Slowdowns always count the prediction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum PlanRunTime {
    /// The predicted one.
    #[default]
    Prediction,
    /// The user's estimate, or the prediction if that is larger.
    Estimate,
}

/// All parameters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GoalSettings {
    /// Objective to minimise.
    pub objective: GoalObjective,
    /// The order of paths.
    pub traversal: Traversal,
    /// The order of branches.
    pub branching: Branching,
    /// Another order of branches in its place.
    pub order: Option<Order>,
    /// L: most nodes placed per decision; `None` is no limit.
    pub nodes: Option<u64>,
    /// Most time per decision, for live use. Results then depend on the speed of the machine.
    pub budget: Option<Duration>,
    /// Criterion for giving up a subtree.
    pub prune: Prune,
    /// Use of the best path of the decision before.
    pub reuse: PathReuse,
    /// Percent of the nodes that are kept for a local search from the best path of the tree.
    /// Without a limit of nodes there is none.
    pub local: u32,
    /// Run time for which jobs are placed.
    pub plan: PlanRunTime,
    /// So many of the waiting jobs are searched, the first in the order of branches; the others
    /// follow in that order behind the best path. `None`: all.
    pub horizon: Option<u32>,
    /// Number of waiting jobs considered, the first by arrival; `None` for all.
    pub depth: Option<u32>,
    /// Threads that search; results do not depend on it. How it works, not what it is: no part of
    /// the saved state.
    #[serde(skip, default = "default_threads")]
    pub threads: u32,
}

/// L where nothing else is said.
const NODES: u64 = 4_000;
pub(super) const MOST_THREADS: u32 = 1_024;

fn default_threads() -> u32 {
    1
}

impl Default for GoalSettings {
    fn default() -> GoalSettings {
        GoalSettings {
            objective: GoalObjective::default(),
            traversal: Traversal::Dds,
            branching: Branching::Lxf,
            order: None,
            nodes: Some(NODES),
            budget: None,
            prune: Prune::Earliest,
            reuse: PathReuse::No,
            local: 0,
            plan: PlanRunTime::Prediction,
            horizon: None,
            depth: None,
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

impl GoalSettings {
    pub(super) fn from_args(args: &Args<'_>) -> Result<GoalSettings, SpecError> {
        let versions = [("a", Version::A), ("b", Version::B), ("c", Version::C)];
        let differences = [("relaxed", Differences::Relaxed), ("strict", Differences::Strict)];
        let prunes = [
            ("never", Prune::Never),
            ("placed", Prune::Placed),
            ("earliest", Prune::Earliest),
            ("beside", Prune::Beside),
        ];
        let reuses = [("no", PathReuse::No), ("branch", PathReuse::Branch), ("seed", PathReuse::Seed)];
        let objective = GoalObjective::parse(args.text_value("objective"))
            .map_err(|e| args.spec_error(format!("objective: {e}")))?;
        let objective = GoalObjective {
            version: args.choose_value("version", &versions)?,
            differences: args.choose_value("diff", &differences)?,
            ..objective
        };
        let leads =
            objective.model == ObjectiveModel::Lexical && objective.measures.first() == Some(&GoalMeasure::MaxWait);
        // Section 5.2: the LXF heuristic is at odds with an objective that the longest wait leads.
        let auto = (Traversal::Dds, if leads { Branching::Fcfs } else { Branching::Lxf });
        let (traversal, branching) = args.choose_value("search", SEARCHES)?.unwrap_or(auto);
        let budget = parse_budget(args)?;
        let nodes = match (args.text_value("nodes"), budget) {
            ("auto", None) => Some(NODES),
            ("auto", Some(_)) | ("all", _) => None,
            _ => Some(args.get("nodes")?),
        };
        let local = args.get("local")?;
        if local > 0 && nodes.is_none() {
            return Err(args.spec_error("local is a share of the nodes: give their number, e.g. nodes=4000".into()));
        }
        let (prune, reuse) = (args.choose_value("prune", &prunes)?, args.choose_value("reuse", &reuses)?);
        let plan =
            args.choose_value("plan", &[("prediction", PlanRunTime::Prediction), ("estimate", PlanRunTime::Estimate)])?;
        let order = if args.has_value("order", "auto") { None } else { Some(ranking::parse_order(args, "order")?) };
        let horizon = args.parse_unless("all", "horizon")?;
        Ok(GoalSettings {
            objective,
            traversal,
            branching,
            order,
            nodes,
            budget,
            prune,
            reuse,
            local,
            plan,
            horizon,
            depth: args.parse_unless("all", "depth")?,
            threads: 1,
        })
    }
}

/// `none`, or a time.
fn parse_budget(args: &Args<'_>) -> Result<Option<Duration>, SpecError> {
    match args.text_value("budget") {
        "none" => Ok(None),
        text => parse_duration(text).map(Some).ok_or_else(|| args.value_error("budget")),
    }
}

/// Values of a parameter that is a time for a decision.
pub(super) const DURATION: Takes = Takes::Form(&ValueForm {
    name: "duration",
    shape: "50ms|2s",
    samples: &["50ms", "2s", "0.5s"],
    check: |text| parse_duration(text).is_some(),
});

/// A number of milliseconds or seconds: `50ms`, `2s`, `0.5s`.
fn parse_duration(text: &str) -> Option<Duration> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s')?, 1.0),
    };
    let seconds = number.trim().parse::<f64>().ok()? * unit;
    // A day is more than any decision may take, and no time is too short to differ from zero.
    (1e-6..=86_400.0).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}
