//! The last thing that was seen, and what is different now.

use crate::cluster::{ClusterSnapshot, JobFact, JobKey, JobName, LicenceFact, NodeFact, RecordId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Changes from one look to the next.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Delta {
    /// The cluster's time at the second.
    pub time: i64,
    /// Records that are new or different.
    pub changed: Vec<JobFact>,
    /// Records that are not listed any more.
    pub gone: Vec<RecordId>,
    /// Nodes that are new or different.
    pub nodes: Vec<NodeFact>,
    /// Nodes that are not listed any more.
    pub nodes_gone: Vec<String>,
    /// All licences, where any is different.
    pub licences: Option<Vec<LicenceFact>>,
}

impl Delta {
    /// Returns whether only the time has changed.
    pub fn is_empty(&self) -> bool {
        let has_jobs = !self.changed.is_empty() || !self.gone.is_empty();
        let has_nodes = !self.nodes.is_empty() || !self.nodes_gone.is_empty();
        !has_jobs && !has_nodes && self.licences.is_none()
    }
}

/// Last state of the cluster.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Mirror {
    records: BTreeMap<RecordId, JobFact>,
    nodes: BTreeMap<String, NodeFact>,
    licences: Vec<LicenceFact>,
}

impl Mirror {
    pub fn diff_snapshot(&self, snapshot: &ClusterSnapshot) -> Delta {
        let mut delta = Delta { time: snapshot.time, ..Delta::default() };
        let mut listed_records = BTreeSet::new();
        for fact in &snapshot.jobs {
            let record = fact.record_id();
            // A record that is listed twice counts as it was listed first.
            if listed_records.insert(record) && self.records.get(&record) != Some(fact) {
                delta.changed.push(fact.clone());
            }
        }
        delta.gone = self.records.keys().filter(|record| !listed_records.contains(record)).copied().collect();
        let node_names: BTreeSet<&str> = snapshot.nodes.iter().map(|node| node.name.as_str()).collect();
        delta.nodes = snapshot.nodes.iter().filter(|node| self.nodes.get(&node.name) != Some(node)).cloned().collect();
        delta.nodes_gone = self.nodes.keys().filter(|name| !node_names.contains(name.as_str())).cloned().collect();
        delta.licences = (self.licences != snapshot.licences).then(|| snapshot.licences.clone());
        delta
    }

    /// Takes the difference in. Returns the jobs that it is about, in order.
    pub(crate) fn apply(&mut self, delta: &Delta) -> BTreeSet<JobKey> {
        let mut about = BTreeSet::new();
        let mut note = |fact: &JobFact| about.extend(fact.job_keys());
        for record in &delta.gone {
            self.records.remove(record).iter().for_each(&mut note);
        }
        for fact in &delta.changed {
            note(fact);
            self.records.insert(fact.record_id(), fact.clone()).iter().for_each(&mut note);
        }
        for name in &delta.nodes_gone {
            self.nodes.remove(name);
        }
        for node in &delta.nodes {
            self.nodes.insert(node.name.clone(), node.clone());
        }
        if let Some(licences) = &delta.licences {
            self.licences.clone_from(licences);
        }
        about
    }

    pub fn job_fact(&self, key: JobKey) -> Option<&JobFact> {
        let own = self.records.get(&RecordId { id: key.id, task: key.task, submit: key.submit });
        own.filter(|fact| fact.is_about(key)).or_else(|| {
            let folded_fact = self.records.get(&RecordId { id: key.id, task: None, submit: key.submit });
            folded_fact.filter(|fact| fact.is_about(key))
        })
    }

    pub fn records(&self) -> impl Iterator<Item = &JobFact> + Clone {
        self.records.values()
    }

    /// The jobs that a user means: a job, every task of an array, or one task.
    pub(crate) fn named_jobs(&self, name: JobName) -> impl Iterator<Item = JobKey> {
        let keys = self.of_array(name.id).flat_map(JobFact::job_keys);
        keys.filter(move |key| name.task.is_none() || key.task == name.task)
    }

    pub(crate) fn of_array(&self, id: u64) -> impl Iterator<Item = &JobFact> + Clone {
        let from = RecordId { id, task: None, submit: i64::MIN };
        self.records.range(from..).map(|(_, fact)| fact).take_while(move |fact| fact.id == id)
    }

    pub fn nodes(&self) -> impl Iterator<Item = &NodeFact> + Clone {
        self.nodes.values()
    }

    pub fn licences(&self) -> &[LicenceFact] {
        &self.licences
    }

    pub fn node_fact(&self, name: &str) -> Option<&NodeFact> {
        self.nodes.get(name)
    }
}
