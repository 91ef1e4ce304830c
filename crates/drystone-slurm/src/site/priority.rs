//! Priorities: first come first served, or several factors.

use super::fair::{FairShare, PriorityFormula};
use super::usage_reset::UsageReset;
use crate::accounts::Accounts;
use crate::conf;
use crate::model::{ModelMachine, NONE, Pending};
use serde::{Deserialize, Serialize};

/// The weights of priority/multifactor and what they need.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Multifactor {
    /// Weight of the age.
    pub age: f64,
    /// Weight of the fair share.
    pub fair_share: f64,
    /// Weight of the size.
    pub size: f64,
    /// Weight of the partition.
    pub partition: f64,
    /// Weight of the QOS.
    pub qos: f64,
    /// Weight of the association.
    pub assoc: f64,
    /// Weights of resources by name, such as `cpu` and `gres/gpu`.
    pub tres: Vec<(String, f64)>,
    /// Seconds after which the age counts in full.
    pub max_age: i64,
    /// Seconds between two calculations.
    pub period: i64,
    /// True if small jobs are favoured.
    pub favor_small: bool,
    /// True if size counts relative to the limit.
    pub size_by_time: bool,
    /// True for each factor that counts as it is, of partitions, QOS, associations and resources:
    /// `NO_NORMAL_ALL` and its parts.
    pub as_they_are: [bool; 4],
    /// True if priorities only grow.
    pub only_grows: bool,
    /// Seconds after which use counts half; 0: it counts for ever.
    pub half_life: i64,
    /// Divides effective use in the classic formula.
    pub dampening: f64,
    pub formula: PriorityFormula,
    /// True if a job that ends is charged for its use since the last calculation. Slurm does so
    /// only where it enforces limits.
    pub charges_ends: bool,
    /// Times at which use is forgotten.
    pub reset: Option<UsageReset>,
}

impl Multifactor {
    /// Of a configuration; `None` where the queue is first come, first served. Without slurmdbd
    /// Slurm ignores the weights of age and fair share.
    pub fn from_conf(conf: &conf::SlurmConf) -> Option<Multifactor> {
        let rules = Multifactor::new(&conf.priority, conf.has_database())?;
        Some(Multifactor { charges_ends: conf.enforces_limits(), ..rules })
    }

    /// Of its settings; `accounts`: whether there is a database, without which age and fair share
    /// do not count.
    pub fn new(p: &conf::PriorityType, accounts: bool) -> Option<Multifactor> {
        if !p.multifactor {
            return None;
        }
        let account_factor = if accounts { 1.0 } else { 0.0 };
        let for_all_factors = p.has_flag("NO_NORMAL_ALL");
        let flag = |name| for_all_factors || p.has_flag(name);
        Some(Multifactor {
            age: p.age * account_factor,
            fair_share: p.fair_share * account_factor,
            size: p.size,
            partition: p.partition,
            qos: p.qos,
            assoc: p.assoc,
            tres: p.tres.iter().filter(|&(_, &w)| w > 0.0).map(|(name, &weight)| (name.clone(), weight)).collect(),
            max_age: p.max_age.max(1),
            period: p.calc_period.max(1),
            favor_small: p.favor_small,
            size_by_time: p.has_flag("SMALL_RELATIVE_TO_TIME"),
            as_they_are: [
                flag("NO_NORMAL_PART"),
                flag("NO_NORMAL_QOS"),
                flag("NO_NORMAL_ASSOC"),
                flag("NO_NORMAL_TRES"),
            ],
            only_grows: p.has_flag("INCR_ONLY"),
            half_life: p.half_life,
            dampening: p.dampening,
            formula: match () {
                () if p.has_flag("DEPTH_OBLIVIOUS") => PriorityFormula::DepthOblivious,
                () if p.has_flag("NO_FAIR_TREE") => PriorityFormula::Classic,
                () => PriorityFormula::Tree,
            },
            charges_ends: true,
            reset: None,
        })
    }

    /// Returns whether priorities change while jobs wait.
    pub fn is_time_dependent(&self) -> bool {
        self.age > 0.0 || self.fair_share > 0.0
    }
}

/// A running job, as its use is charged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Charged {
    /// The job.
    pub id: u32,
    /// Its association.
    pub assoc: u32,
    /// Amount billed in a second: its processors unless its partition has weights, times what
    /// its QOS counts it.
    pub billed: f64,
    /// Start, in seconds.
    pub start: i64,
}

/// Priorities of jobs, with the use of associations.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobPriorities {
    /// The weights.
    pub rules: Multifactor,
    /// Use and its decay.
    pub fair: FairShare,
    accounts: Accounts,
    /// The largest priority of a QOS, and of an association.
    largest: (f64, f64),
}

impl JobPriorities {
    /// Without any use.
    pub fn new(rules: Multifactor, accounts: Accounts) -> JobPriorities {
        let mut fair = FairShare::new(rules.formula, rules.half_life, rules.dampening, &accounts);
        fair.set_reset(rules.reset);
        let qos = accounts.qos.iter().map(|qos| qos.priority).max().unwrap_or(0);
        let assoc = accounts.assocs.iter().map(|assoc| assoc.priority).max().unwrap_or(0);
        JobPriorities { rules, fair, accounts, largest: (f64::from(qos), f64::from(assoc)) }
    }

    /// The association of an account's user, made if there is none.
    pub fn intern_assoc(&mut self, account: &str, user: &str) -> u32 {
        let index = self.accounts.find_or_add(account, user);
        self.fair.add_assocs(&self.accounts);
        index as u32
    }

    /// Returns the factor of use of a QOS.
    pub fn usage_factor(&self, qos: u32) -> f64 {
        self.accounts.qos.get(qos as usize).map_or(1.0, |qos| qos.usage_factor)
    }

    /// Use is charged and decays at `now` seconds. `running` are the running jobs with the
    /// processors that count, `waiting` the waiting ones with their associations, both in the order
    /// of submission. In that order Slurm goes through both: with the classic formula the use of a
    /// user is what was charged when the first job of the user is met that waits.
    pub fn calculate_use(&mut self, now: i64, running: &[Charged], waiting: &[(u32, u32)]) {
        self.fair.begin_calculation(now);
        let classic = self.rules.formula != PriorityFormula::Tree;
        let mut next = waiting.iter().filter(|_| classic).peekable();
        for job in running {
            while let Some(&(_, assoc)) = next.next_if(|&&(id, _)| id < job.id) {
                self.fair.share_factor(assoc as usize);
            }
            self.fair.charge_use(job.assoc as usize, job.billed, job.start, now);
        }
        for &(_, assoc) in next {
            self.fair.share_factor(assoc as usize);
        }
        self.fair.finish_calculation(now);
        self.fair.rank_users();
    }

    /// The priority of a job at `now` seconds.
    pub fn priority_of(&mut self, job: &Pending, now: i64, machine: &ModelMachine) -> i64 {
        let fair = if self.rules.fair_share > 0.0 && job.assoc != NONE {
            self.fair.share_factor(job.assoc as usize)
        } else {
            0.0
        };
        let rules = &self.rules;
        let age = (now - job.accrue).max(0) as f64 / rules.max_age as f64;
        let sum = rules.age * age.min(1.0)
            + rules.assoc * self.assoc_factor(job)
            + rules.fair_share * fair
            + rules.size * self.size_of(job, machine)
            + rules.partition * self.partition_factor(job, machine)
            + rules.qos * self.qos_factor(job)
            + self.tres_of(job, machine)
            - job.nice as f64;
        (sum as i64).clamp(1, i64::from(u32::MAX))
    }

    fn assoc_factor(&self, job: &Pending) -> f64 {
        let own = self.accounts.assocs.get(job.assoc as usize).map_or(0.0, |assoc| f64::from(assoc.priority));
        if self.rules.as_they_are[2] { own } else { own / self.largest.1.max(1.0) }
    }

    fn qos_factor(&self, job: &Pending) -> f64 {
        let own = self.accounts.qos.get(job.qos as usize).map_or(0.0, |qos| f64::from(qos.priority));
        if self.rules.as_they_are[1] { own } else { own / self.largest.0.max(1.0) }
    }

    fn partition_factor(&self, job: &Pending, machine: &ModelMachine) -> f64 {
        let own = f64::from(machine.parts[usize::from(job.part)].job_factor);
        let largest = machine.parts.iter().map(|p| p.job_factor).max().unwrap_or(1).max(1);
        if self.rules.as_they_are[0] { own } else { own / f64::from(largest) }
    }

    fn tres_of(&self, job: &Pending, machine: &ModelMachine) -> f64 {
        let of = |(name, weight): &(String, f64)| {
            let asked_weight = weight * machine.asked_of(job, name);
            if self.rules.as_they_are[3] || asked_weight == 0.0 {
                return asked_weight;
            }
            asked_weight / machine.amount_of(job.part, name).max(1.0)
        };
        self.rules.tres.iter().map(of).sum()
    }

    fn size_of(&self, job: &Pending, machine: &ModelMachine) -> f64 {
        if self.rules.size == 0.0 {
            return 0.0;
        }
        let (nodes, cpus) = (machine.node_count().max(1) as f64, machine.total_cpus().max(1) as f64);
        let (n, c) = (f64::from(job.min_nodes), f64::from(cpus_in_size(job, machine)));
        let size = match (self.rules.size_by_time, self.rules.favor_small) {
            (true, small) => {
                let minutes = (job.limit / 60).max(1) as f64;
                let relative = (n * cpus / nodes).max(c) / minutes / cpus;
                if small { 1.0 - relative } else { relative }
            }
            (false, true) => ((nodes - n) / nodes + (cpus - c) / cpus) / 2.0,
            (false, false) => (n / nodes + c / cpus) / 2.0,
        };
        size.clamp(0.0, 1.0)
    }
}

/// Returns the processors that count in the size of a job.
fn cpus_in_size(job: &Pending, machine: &ModelMachine) -> u32 {
    if job.whole && job.weighed { machine.whole_cpus(job) } else { job.cpus }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conf::PriorityType;

    /// Two processors on two of four nodes of eight, each node for the job alone.
    ///
    /// As recorded, the job has 5,625 of 20,000 at its submission, and 10,000 once Slurm has looked
    /// for its nodes.
    #[test]
    fn whole_nodes_count_in_the_size_once_they_are_looked_for() {
        let machine = ModelMachine::with_equal_nodes(4, 8);
        let priority = PriorityType { multifactor: true, size: 20_000.0, ..PriorityType::default() };
        let rules = Multifactor::new(&priority, true).expect("weights");
        let mut priorities = JobPriorities::new(rules, Accounts::new());
        let first = Pending { min_nodes: 2, max_nodes: 2, whole: true, ..Pending::new(0, 2, 60) };
        assert_eq!(priorities.priority_of(&first, 0, &machine), 5_625);
        assert_eq!(priorities.priority_of(&Pending { weighed: true, ..first }, 0, &machine), 10_000);
    }
}
