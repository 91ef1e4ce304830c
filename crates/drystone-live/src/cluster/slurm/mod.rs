//! Slurm, by its commands: the one place that knows its words.
//!
//! Tested with release 22.05. Names of jobs and comments may contain anything: no names are read,
//! and of comments one word alone, by a reader of its own (`allowances.rs`). What is sent is made
//! of numbers and of node names that Slurm itself gave, never of what users wrote.

mod allowances;
mod details;
pub mod hook;
pub mod install;
mod jobs;
mod licences;
mod nodes;
mod orders;
mod priority;
mod privacy;
#[cfg(test)]
mod reasons;
pub mod record;
#[cfg(test)]
mod releases;
mod reservations;
mod run;
mod site;
mod texts;

pub use site::{Rights, SlurmSite};

use super::{
    Capabilities, Cluster, ClusterError, ClusterOrder, ClusterSnapshot, DrivenSet, JobFact, JobKey, JobName, JobState,
    NodeFact, OrderOutcome, RecordId, Want,
};
use allowances::ShrinkAllowances;
use details::RecordDetails;
use reservations::NodeReservations;
use run::Runner;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// Number of looks between two readings of the controller's clock.
const CLOCK_EVERY: u32 = 100;
/// slurmctld's own part in answering, beside the client's (measured: 0.2 to 0.5 of it).
const CONTROLLERS_PART: f64 = 1.4;

/// Portions of processors on a set of nodes.
#[derive(Clone, Copy, Debug)]
struct Grain {
    /// Processors come in multiples of this.
    unit: u32,
    /// True if jobs get whole nodes.
    whole: bool,
    /// Processors of the smallest and of the largest node.
    node: (u32, u32),
}

impl Grain {
    /// Gives a job all processors of its nodes, as far as these are alike; at least those of the
    /// smallest ones.
    fn take_whole_nodes(self, fact: &mut JobFact) {
        let (least, most) = self.node;
        if least > 0 && least == most {
            fact.nodes = fact.nodes.max(1).max(fact.procs.div_ceil(least));
        }
        fact.procs = fact.procs.max(fact.nodes.max(1).saturating_mul(least));
    }
}

#[derive(Debug)]
pub struct SlurmCli {
    run: Runner,
    partitions: Vec<String>,
    details: BTreeMap<RecordId, RecordDetails>,
    /// Processors of multi-node jobs by node, by record and start.
    places: BTreeMap<(RecordId, i64), Vec<super::NodeShare>>,
    /// Lead of the controller's clock over ours, in seconds.
    ahead: i64,
    looks: u32,
    /// The driven partitions by their nodes, and how processors come there.
    sets: Vec<(DrivenSet, Grain)>,
    /// Reservations of nodes, and the processors of these.
    reservations: NodeReservations,
    sizes: BTreeMap<String, u32>,
    /// True if memory is counted.
    memory: bool,
    /// True if there are licences; `None` before the first look.
    licensed: Option<bool>,
    /// Shares of jobs on nodes of which the system keeps a part.
    usable: BTreeMap<String, site::UsableShare>,
    /// True if the policy reads the site's priorities.
    ranks: bool,
    /// Nodes that running jobs may give, where the policy takes any.
    allowances: Option<ShrinkAllowances>,
    /// These priorities, where the site has any.
    priorities: Option<priority::PriorityReader>,
    /// The clock of this machine, in seconds since 1970.
    clock: fn() -> i64,
}

impl SlurmCli {
    /// Slurm as its commands on `PATH` reach it, or as `conf` says; these partitions are driven.
    pub fn new(conf: Option<PathBuf>, partitions: Vec<String>, clock: fn() -> i64) -> SlurmCli {
        SlurmCli {
            run: Runner::new(conf),
            partitions,
            details: BTreeMap::new(),
            places: BTreeMap::new(),
            ahead: 0,
            looks: 0,
            sets: Vec::new(),
            reservations: NodeReservations::default(),
            sizes: BTreeMap::new(),
            memory: false,
            licensed: None,
            usable: BTreeMap::new(),
            ranks: false,
            allowances: None,
            priorities: None,
            clock,
        }
    }

    /// Reads the site's configuration.
    ///
    /// # Errors
    /// Slurm does not answer, or is not there.
    pub fn read_site(&mut self) -> Result<SlurmSite, ClusterError> {
        let site = SlurmSite::read_site(&self.run)?;
        if self.partitions.is_empty() {
            self.partitions = site.default_partition.iter().cloned().collect();
        }
        let grain = |set: &DrivenSet| Grain {
            unit: site.allocation_unit(&set.partitions),
            whole: site.gives_whole_nodes(&set.partitions),
            node: site.node_sizes(&set.partitions),
        };
        self.sets = site.driven_sets(&self.partitions).into_iter().map(|set| (set.clone(), grain(&set))).collect();
        self.memory = site.counts_memory();
        self.sizes = site.procs_by_node();
        self.usable.clone_from(site.usable_shares());
        self.priorities = if self.ranks { priority::PriorityReader::for_site(&site) } else { None };
        Ok(site)
    }

    /// Reads the site's own priorities of jobs as well, for a policy that asks for them. Call it
    /// before [`SlurmCli::read_site`].
    #[must_use]
    pub fn with_priorities(mut self, ranks: bool) -> SlurmCli {
        self.ranks = ranks;
        self
    }

    /// Lets looks contain the nodes that running jobs may give, for a policy that takes them.
    #[must_use]
    pub fn with_allowances(mut self, shrinks: bool) -> SlurmCli {
        self.allowances = shrinks.then(ShrinkAllowances::default);
        self
    }

    /// The partitions that are driven: the default one where none were named, once
    /// [`SlurmCli::read_site`] was asked.
    pub fn partitions(&self) -> &[String] {
        &self.partitions
    }

    /// The driven partitions by their nodes, once [`SlurmCli::read_site`] was asked.
    pub fn driven_sets(&self) -> Vec<DrivenSet> {
        self.sets.iter().map(|(set, _)| set.clone()).collect()
    }

    /// Looks at the nodes of all partitions, whichever are driven.
    pub fn look_at_all(&mut self, site: &SlurmSite) {
        self.partitions = site.partitions.iter().map(|partition| partition.name.clone()).collect();
    }

    /// Gives a pending job as many processors as it will get, and marks one that has whole nodes,
    /// whether it waits or runs.
    fn round_up(&self, fact: &mut JobFact) {
        let own = self.sets.iter().find(|(set, _)| set.partitions.contains(&fact.partition));
        let Some((_, grain)) = own.or(self.sets.first()) else { return };
        fact.request.exclusive |= grain.whole;
        if fact.state != JobState::Pending {
            return;
        }
        fact.procs = fact.procs.div_ceil(grain.unit) * grain.unit;
        if fact.request.exclusive {
            grain.take_whole_nodes(fact);
        }
    }

    /// The controller's clock less ours, in seconds.
    ///
    /// # Errors
    /// It does not answer.
    pub fn clock_ahead(&mut self) -> Result<i64, ClusterError> {
        let before = (self.clock)();
        let output = self.run.read_output("sdiag", &[])?;
        let stamp = output.lines().find(|line| line.starts_with("sdiag output at")).and_then(|line| {
            line.rsplit_once('(').and_then(|(_, rest)| rest.split_once(')')).and_then(|(number, _)| number.parse().ok())
        });
        let stamp: i64 = stamp.ok_or_else(|| ClusterError::Garbled("sdiag does not say its time".into()))?;
        // Whole seconds: one more or less says nothing.
        let ahead = stamp - before;
        Ok(if ahead.abs() <= 1 { 0 } else { ahead })
    }

    /// Adds what the ordinary listing does not show of records that are new.
    fn complete_facts(&mut self, facts: &mut [JobFact]) -> Result<(), ClusterError> {
        let is_known = |details: &BTreeMap<RecordId, RecordDetails>, fact: &JobFact| {
            let own = fact.record_id();
            details.contains_key(&own) || details.contains_key(&RecordId { task: None, ..own })
        };
        let new: Vec<u64> = facts.iter().filter(|fact| !is_known(&self.details, fact)).map(|fact| fact.id).collect();
        if !new.is_empty() {
            let unique: BTreeSet<u64> = new.into_iter().collect();
            // One is looked up by the controller; several are picked out by the client, which has
            // to be sent all.
            let only = if unique.len() == 1 { unique.first().copied() } else { None };
            for (record, details) in details::read_details(&self.run, only)? {
                self.details.insert(record, details);
            }
        }
        let listed_records: BTreeSet<RecordId> = facts.iter().map(JobFact::record_id).collect();
        for fact in facts.iter_mut() {
            // One that came and went between the two calls has none.
            if let Some(details) = details::of_record(&self.details, fact.record_id()) {
                details.add_to(fact);
            }
        }
        // Details of a folded record serve its tasks as long as one of them is there.
        let ids: BTreeSet<(u64, i64)> = listed_records.iter().map(|record| (record.id, record.submit)).collect();
        self.details.retain(|record, _| {
            listed_records.contains(record) || (record.task.is_none() && ids.contains(&(record.id, record.submit)))
        });
        Ok(())
    }

    /// Adds where on each node jobs run that were asked for.
    fn place_jobs(&mut self, want: &Want, facts: &mut [JobFact]) -> Result<(), ClusterError> {
        let wanted_records: BTreeSet<RecordId> =
            want.places.iter().map(|key| RecordId { id: key.id, task: key.task, submit: key.submit }).collect();
        let is_spread =
            |fact: &&JobFact| matches!(fact.state, JobState::Running | JobState::Suspended) && fact.places.len() > 1;
        let name = |fact: &JobFact| (fact.record_id(), fact.start.unwrap_or(0));
        let missing: Vec<&JobFact> = facts
            .iter()
            .filter(is_spread)
            .filter(|fact| wanted_records.contains(&fact.record_id()))
            // A job that has given nodes back has other places than before.
            .filter(|fact| !self.places.get(&name(fact)).is_some_and(|places| details::are_sound(places, fact)))
            .collect();
        if !missing.is_empty() {
            let only = if missing.len() <= 8 { missing.iter().map(|fact| fact.number).collect() } else { Vec::new() };
            let shares = details::query_places(&self.run, &only)?;
            for fact in missing {
                if let Some(places) = shares.get(&fact.number).filter(|places| details::are_sound(places, fact)) {
                    self.places.insert(name(fact), places.clone());
                }
            }
        }
        let mut placed_jobs = BTreeSet::new();
        for fact in facts.iter_mut().filter(|fact| is_spread(&&**fact) && !fact.leaving) {
            if let Some(places) = self.places.get(&name(fact)).filter(|places| details::are_sound(places, fact)) {
                fact.places.clone_from(places);
                placed_jobs.insert(name(fact));
            }
        }
        self.places.retain(|name, _| placed_jobs.contains(name));
        Ok(())
    }
}

impl SlurmCli {
    /// Takes off what the system keeps of a node; some releases of `sinfo` have it counted with the
    /// rest.
    fn take_off(&self, node: &mut NodeFact) {
        let Some(share) = self.usable.get(&node.name) else { return };
        node.procs = node.procs.min(share.procs);
        if let (Some(free), Some(whole)) = (&mut node.memory, &mut node.whole_memory) {
            let reserve = whole.saturating_sub(share.memory);
            (*free, *whole) = (free.saturating_sub(reserve), *whole - reserve);
        }
    }
}

impl Cluster for SlurmCli {
    fn observe(&mut self, want: &Want) -> Result<ClusterSnapshot, ClusterError> {
        if self.looks.is_multiple_of(CLOCK_EVERY) {
            self.ahead = self.clock_ahead()?;
        }
        self.looks = self.looks.wrapping_add(1);
        let time = (self.clock)() + self.ahead;
        let mut jobs = jobs::read_jobs(&self.run)?;
        let licences = if self.licensed == Some(false) { Vec::new() } else { licences::read_licences(&self.run)? };
        self.licensed.get_or_insert(!licences.is_empty());
        jobs.iter_mut().for_each(|fact| self.round_up(fact));
        self.complete_facts(&mut jobs)?;
        self.place_jobs(want, &mut jobs)?;
        if let Some(allowances) = &mut self.allowances {
            allowances.add_to(&self.run, &mut jobs, time)?;
        }
        let mut nodes = nodes::read_nodes(&self.run, &self.partitions)?;
        nodes.iter_mut().for_each(|node| self.take_off(node));
        if self.reservations.is_old(time) {
            self.reservations = NodeReservations::read_reservations(&self.run, &self.sizes, time)?;
        }
        nodes.iter_mut().for_each(|node| self.reservations.add_to(node));
        if !self.memory {
            jobs.iter_mut().for_each(|fact| fact.memory = None);
            nodes.iter_mut().for_each(|node| (node.memory, node.whole_memory) = (None, None));
        }
        if let Some(priorities) = &mut self.priorities {
            priorities.add_to(&self.run, &mut jobs, time)?;
        }
        Ok(ClusterSnapshot { time, jobs, nodes, licences })
    }

    fn execute_orders(&mut self, orders: &[ClusterOrder], may: &mut dyn FnMut() -> bool) -> Vec<OrderOutcome> {
        orders::execute_orders(&self.run, orders, may)
    }

    fn write_remarks(&mut self, starts: &[(JobKey, String)], may: &mut dyn FnMut() -> bool) {
        orders::write_remarks(&self.run, starts, may);
    }

    fn remove_marks(&mut self, jobs: &[JobName]) {
        // A comment may have been overwritten since it was read.
        let Ok(records) = details::read_details(&self.run, None) else { return };
        let bare: BTreeSet<u64> =
            records.iter().filter(|(_, details)| !details.is_marked()).map(|(record, _)| record.id).collect();
        let marked_names: Vec<JobName> = jobs.iter().filter(|name| !bare.contains(&name.id)).copied().collect();
        orders::remove_marks(&self.run, &marked_names);
        self.details.clear();
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { suspend: true, migrate: false, pin: true, hold: true, shrink: self.allowances.is_some() }
    }

    fn take_call_cost(&mut self) -> Duration {
        self.run.take_spent_time().mul_f64(CONTROLLERS_PART)
    }

    fn name(&self) -> String {
        "Slurm".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On nodes that are alike a job has all of their processors; where they are not, only Slurm
    /// knows which it gets, and it has those of the smallest at least.
    #[test]
    fn a_job_for_whole_nodes_has_all_their_processors() {
        let whole_nodes = |node, procs, nodes| {
            let mut fact = JobFact { procs, nodes, ..jobs::sample_fact() };
            Grain { unit: 1, whole: true, node }.take_whole_nodes(&mut fact);
            (fact.procs, fact.nodes)
        };
        assert_eq!(whole_nodes((8, 8), 3, 1), (8, 1));
        assert_eq!(whole_nodes((8, 8), 10, 1), (16, 2));
        assert_eq!(whole_nodes((8, 8), 2, 2), (16, 2));
        assert_eq!(whole_nodes((8, 32), 3, 1), (8, 1));
        assert_eq!(whole_nodes((8, 32), 20, 1), (20, 1));
        assert_eq!(whole_nodes((0, 0), 3, 1), (3, 1), "nothing is known of the nodes");
    }

    /// A hold of jobs of one kind ends when one of them runs: it has to be known again.
    #[test]
    fn a_job_for_whole_nodes_is_known_again_when_it_runs() {
        let waits = jobs::sample_fact();
        let set = DrivenSet { partitions: vec![waits.partition.clone()], nodes: BTreeSet::new() };
        let mut slurm = SlurmCli::new(None, set.partitions.clone(), || 0);
        slurm.sets = vec![(set, Grain { unit: 1, whole: true, node: (8, 8) })];
        let mut runs = JobFact { state: JobState::Running, procs: 16, held: false, ..waits.clone() };
        let mut waits = waits;
        [&mut waits, &mut runs].into_iter().for_each(|fact| slurm.round_up(fact));
        assert_eq!((waits.procs, waits.nodes, waits.request), (runs.procs, runs.nodes, runs.request));
    }
}
