//! The advice with all that determined it.

use super::recent::RecentPart;
use crate::commands::compare::replay::JobReplay;
use crate::meta::{ExperimentMeta, WorkloadMeta};
use crate::wait_conditions::HeldWaits;
use drystone_advise::{Advice, GoalFigure, PassCost, PeriodLength};
use drystone_site::waits::SiteWaits;
use drystone_whatif::ClassChange;
use serde::{Serialize, Serializer};

/// Everything that came of it, and what determined it.
#[derive(Serialize)]
pub(super) struct Advised {
    /// True if everything is printed, not the short form.
    #[serde(skip)]
    pub(super) whole: bool,
    pub(super) schema: &'static str,
    pub(super) drystone: &'static str,
    pub(super) workload: WorkloadMeta,
    pub(super) experiment: ExperimentMeta,
    pub(super) goal: String,
    pub(super) guards: Vec<String>,
    /// Seconds beyond which a wait is excessive, where the goal does not say so.
    pub(super) excess_beyond: Option<f64>,
    /// The site's `slurm.conf`; `None`: Slurm's defaults.
    pub(super) slurm: Option<String>,
    pub(super) cost: PassCost,
    /// True if passes were simulated as if they took no time, because so few jobs wait that it
    /// cannot matter.
    pub(super) instantaneous: bool,
    /// Jobs that wait at most, as it is.
    pub(super) most_waiting: u64,
    pub(super) period: PeriodLength,
    /// True if the first and the last period do not count.
    pub(super) edges_left_out: bool,
    pub(super) seed: u64,
    pub(super) splits: u16,
    pub(super) settings_tried: bool,
    pub(super) live_tried: bool,
    pub(super) limits_tried: bool,
    /// True if live policies count processors where Slurm gives jobs places on nodes.
    pub(super) counts_processors: bool,
    /// Live policies that would take long.
    pub(super) not_tried: Vec<String>,
    /// Parts of the waiting in which jobs are held back, where they share limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) held: Option<HeldWaits>,
    #[serde(skip)]
    pub(super) waits: Option<SiteWaits>,
    /// Settings that `--check` remarks on.
    #[serde(skip)]
    pub(super) to_look_at: Vec<&'static str>,
    /// The path of the site or log.
    #[serde(skip)]
    pub(super) path: String,
    pub(super) replay: Option<JobReplay>,
    pub(super) baseline: SiteBaseline,
    /// True if it was stopped before all was tried.
    pub(super) stopped: bool,
    /// The last part of a long log, where only this part was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recent: Option<RecentPart>,
    pub(super) advice: Advice,
    /// Classes of jobs that gain from what is recommended or pay for it.
    pub(super) pays: PayingClasses,
}

/// For each recommendation its classes of jobs, those with most node-hours of waiting gained or
/// lost first.
#[derive(Serialize, Default)]
pub(super) struct PayingClasses {
    pub(super) settings: Vec<ClassChange>,
    pub(super) live: Vec<ClassChange>,
    pub(super) limits: Vec<ClassChange>,
}

#[derive(Serialize)]
pub(super) struct SiteBaseline {
    pub(super) policy: String,
    /// Difference of its goal between clock phases.
    pub(super) spread: f64,
    /// Figures with their names and values, over all periods and phases.
    #[serde(serialize_with = "serialize_figures")]
    pub(super) figures: Vec<(String, GoalFigure, f64)>,
}

fn serialize_figures<S: Serializer>(figures: &[(String, GoalFigure, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct NamedAdvice<'a> {
        figure: &'a str,
        name: String,
        value: f64,
        /// True for a time in seconds.
        seconds: bool,
    }
    serializer.collect_seq(figures.iter().map(|(figure, of, value)| NamedAdvice {
        figure,
        name: of.name(),
        value: *value,
        seconds: of.unit() == drystone::metrics::MetricUnit::Seconds,
    }))
}
