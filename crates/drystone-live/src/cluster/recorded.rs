//! A cluster that was recorded: it shows what a journal says was seen, look by look, and takes
//! every order without doing anything. With it a policy can be tried in shadow mode on what a
//! cluster did before.

use super::{
    Capabilities, Cluster, ClusterError, ClusterOrder, ClusterSnapshot, JobFact, LicenceFact, NodeFact, OrderOutcome,
    RecordId, Want,
};
use crate::tracker::{Delta, HookMessage, Stamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// One look: when, what was different, and what the hook had said since the last one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Look {
    /// Time of the look, by the daemon that made it.
    pub stamp: Stamp,
    /// Difference to the look before.
    pub delta: Delta,
    pub told: Vec<HookMessage>,
}

#[derive(Clone, Debug)]
pub struct ReplayCluster {
    looks: std::vec::IntoIter<Look>,
    records: BTreeMap<RecordId, JobFact>,
    nodes: BTreeMap<String, NodeFact>,
    licences: Vec<LicenceFact>,
    last: Option<(Stamp, Vec<HookMessage>)>,
}

impl ReplayCluster {
    /// Replays these looks in order.
    pub fn new(looks: Vec<Look>) -> ReplayCluster {
        let (records, nodes, licences) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        ReplayCluster { looks: looks.into_iter(), records, nodes, licences, last: None }
    }

    /// Returns the time of the last look, and the hook's messages.
    pub fn last_look(&self) -> Option<&(Stamp, Vec<HookMessage>)> {
        self.last.as_ref()
    }
}

impl Cluster for ReplayCluster {
    /// The next look; `Broken` when there is none left.
    fn observe(&mut self, _want: &Want) -> Result<ClusterSnapshot, ClusterError> {
        let Some(Look { stamp, delta, told: messages }) = self.looks.next() else {
            return Err(ClusterError::Broken("the recording is over".into()));
        };
        self.last = Some((stamp, messages));
        for record in &delta.gone {
            self.records.remove(record);
        }
        for name in &delta.nodes_gone {
            self.nodes.remove(name);
        }
        self.records.extend(delta.changed.into_iter().map(|fact| (fact.record_id(), fact)));
        self.nodes.extend(delta.nodes.into_iter().map(|node| (node.name.clone(), node)));
        if let Some(licences) = delta.licences {
            self.licences = licences;
        }
        let (jobs, nodes) = (self.records.values().cloned().collect(), self.nodes.values().cloned().collect());
        Ok(ClusterSnapshot { time: delta.time, jobs, nodes, licences: self.licences.clone() })
    }

    fn execute_orders(&mut self, orders: &[ClusterOrder], _may: &mut dyn FnMut() -> bool) -> Vec<OrderOutcome> {
        vec![OrderOutcome::Refused("it is a recording".into()); orders.len()]
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { suspend: true, migrate: false, pin: true, hold: true, shrink: true }
    }

    fn take_call_cost(&mut self) -> Duration {
        Duration::ZERO
    }

    fn name(&self) -> String {
        "a recording".into()
    }
}
