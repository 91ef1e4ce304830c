//! Notes on nodes that running jobs give, or could give.

use super::Daemon;
use crate::clock::DaemonClock;
use crate::cluster::{Cluster, JobKey};
use crate::core::CoreOutput;
use crate::error::LiveError;
use crate::tracker::DaemonMode;
use drystone::policy::{Action, StartReason};

impl<C: Cluster, K: DaemonClock> Daemon<C, K> {
    /// Notes the running jobs that give nodes, and the job that starts on these; in a shadow the
    /// jobs that could give nodes, once.
    pub(super) fn note_given_nodes(&mut self, at: usize, output: &CoreOutput) -> Result<(), LiveError> {
        let mut givers: Vec<(JobKey, u32)> = Vec::new();
        for decision in &output.decided {
            match (decision.action, decision.key) {
                (Action::Resize { procs, .. }, Some(key)) => givers.push((key, procs)),
                (Action::Start { why: StartReason::Head, .. }, Some(head)) => {
                    for (giver, procs) in std::mem::take(&mut givers) {
                        self.note_giver(at, giver, procs, head)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Notes a running job that gives nodes, and the job that starts on them.
    fn note_giver(&mut self, at: usize, giver: JobKey, procs: u32, head: JobKey) -> Result<(), LiveError> {
        let desk = &mut self.desks[at];
        let Some(fact) = desk.core.tracker().mirror().job_fact(giver) else { return Ok(()) };
        let (nodes, procs_per_node) = (fact.nodes, fact.procs / fact.nodes.max(1));
        let nodes_left = procs / procs_per_node.max(1);
        let (name, receiver_name, count) = (giver.name(), head.name(), nodes.saturating_sub(nodes_left));
        if self.config.mode == DaemonMode::Drive {
            tracing::info!(job = name, nodes = count, starts = receiver_name, "gives nodes");
            return self.note_of(
                at,
                &format!("job {name} gives {count} of its {nodes} nodes, and job {receiver_name} starts"),
            );
        }
        // A shadow proposes it at each look until the cluster has room by itself.
        if !desk.givers.insert((giver, head)) {
            return Ok(());
        }
        let otherwise = match desk.core.predict_wait(head) {
            Some(wait) => format!("in {} min at the latest, as running jobs end", (wait.0 + 59) / 60),
            None => "never on these processors".to_string(),
        };
        tracing::info!(job = name, nodes = count, starts = receiver_name, "could give nodes");
        self.note_of(
            at,
            &format!(
                "job {name} could give {count} of its {nodes} nodes: job {receiver_name} would start now; otherwise {otherwise}"
            ),
        )
    }
}
