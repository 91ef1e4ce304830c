//! Options on nodes that fail at random, and on checkpoints.

use clap::Args;
use drystone::engine::Checkpoints;
use drystone::generate::NodeFailures;

/// Failures of nodes, and what jobs keep of their work; see docs/real-machines.md.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct FailureArgs {
    /// Nodes that fail at random, beside --outages: mtbf=30d (mean time of a node to its next
    /// failure) and any of repair=6h, node=8 (processors), jobs=requeue (or lose, drain),
    /// shape=0.7 (of a Weibull distribution; 1 is exponential), seed=1.
    #[arg(long, value_name = "TEXT", help_heading = "Machine", value_parser = str::parse::<NodeFailures>)]
    pub(crate) failures: Option<NodeFailures>,

    /// Checkpoints, from which jobs go on that lost their processors: an interval (1h, or young or
    /// daly, chosen by the failures) and any of cost=5m (of a write), restart=5m (of a read),
    /// mtbf=30d and node=8 (where --failures or --outages do not say them).
    #[arg(long, value_name = "TEXT", help_heading = "Machine", value_parser = str::parse::<Checkpoints>)]
    pub(crate) checkpoints: Option<Checkpoints>,
}
