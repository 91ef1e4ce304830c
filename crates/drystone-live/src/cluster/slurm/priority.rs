//! Priorities that a site itself gives its jobs, for orders that read them.
//!
//! A held job has priority 0, and Slurm computes nothing for it. Its factors are there all the
//! same: the fair share of each association (`sshare`), priorities of QOS and partitions, size and
//! age, with the weights of the configuration. They are put together here as priority/multifactor
//! does it.
//!
//! The age of all jobs grows alike, so that the order of two jobs changes only when one of them has
//! reached `PriorityMaxAge`, or when fair shares change. A priority here therefore counts from a
//! fixed time instead of from the present: it stays the same as long as the order does.

use super::run::Runner;
use super::site::SlurmSite;
use crate::cluster::{ClusterError, JobFact};
use drystone_slurm::conf::SlurmConf;
use drystone_slurm::site::Multifactor;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Seconds between two readings of fair shares and QOS.
const EVERY: i64 = 60;

#[derive(Clone, Debug)]
pub(super) struct PriorityReader {
    rules: Multifactor,
    /// Factor of each partition.
    partitions: BTreeMap<String, f64>,
    /// Priority of each QOS.
    classes: BTreeMap<String, f64>,
    /// Fair share by account and user.
    shares: BTreeMap<(String, String), f64>,
    /// Processors and nodes of the cluster.
    machine: (f64, f64),
    /// Time of the last reading.
    read: Option<i64>,
}

impl PriorityReader {
    /// Priorities of a site; `None` where its queue is first come, first served.
    pub(super) fn for_site(site: &SlurmSite) -> Option<PriorityReader> {
        let mut text = String::from("ClusterName=site\n");
        for (name, value) in site.settings() {
            let is_wanted =
                name.starts_with("Priority") && name != "PriorityParameters" || name == "AccountingStorageType";
            if is_wanted && !value.starts_with('(') && !value.is_empty() {
                // Writing into a text cannot fail.
                let _ = writeln!(text, "{name}={value}");
            }
        }
        text.push_str("NodeName=n CPUs=1\nPartitionName=p Nodes=n\n");
        let conf = SlurmConf::parse(&text, "scontrol show config").ok()?;
        let rules = Multifactor::from_conf(&conf)?;
        let factors =
            site.partitions.iter().map(|partition| (partition.name.clone(), f64::from(partition.factor))).collect();
        Some(PriorityReader {
            rules,
            partitions: factors,
            classes: BTreeMap::new(),
            shares: BTreeMap::new(),
            machine: site.cluster_size(),
            read: None,
        })
    }

    /// Adds its priority to every pending job.
    ///
    /// # Errors
    /// Slurm's accounting does not answer.
    pub(super) fn add_to(&mut self, run: &Runner, facts: &mut [JobFact], now: i64) -> Result<(), ClusterError> {
        if self.read.is_none_or(|read| now - read >= EVERY) && self.needs_accounts() {
            self.shares =
                parse_shares(&run.read_output("sshare", &["-a", "-n", "-P", "-o", "Account,User,FairShare"])?);
            self.classes =
                parse_classes(&run.read_output("sacctmgr", &["-n", "-P", "show", "qos", "format=Name,Priority"])?);
            self.read = Some(now);
        }
        for fact in facts.iter_mut().filter(|fact| fact.state == crate::cluster::JobState::Pending) {
            fact.priority = self.job_priority(fact, now);
        }
        Ok(())
    }

    fn needs_accounts(&self) -> bool {
        self.rules.fair_share > 0.0 || self.rules.qos > 0.0
    }

    /// The priority of a job, counted from the year 1970 where its age still grows.
    fn job_priority(&self, fact: &JobFact, now: i64) -> i64 {
        let rules = &self.rules;
        let oldest = rules.max_age as f64;
        let largest = |factors: &BTreeMap<String, f64>| factors.values().copied().fold(1.0, f64::max);
        let part = |factors: &BTreeMap<String, f64>, name: &str, plain: bool| {
            let own = factors.get(name).copied().unwrap_or(0.0);
            if plain { own } else { own / largest(factors) }
        };
        let share = self.shares.get(&(fact.account.clone(), fact.user.clone())).copied().unwrap_or(0.0);
        let age = if now - fact.submit >= rules.max_age {
            // It grows no more, while that of others does.
            1.0 - now as f64 / oldest
        } else {
            -(fact.submit as f64) / oldest
        };
        // In steps of a minute, so that a job that is old enough changes no oftener.
        let age = if rules.age > 0.0 { (age * oldest / 60.0).round() * 60.0 / oldest } else { 0.0 };
        let sum = rules.age * age
            + rules.fair_share * share
            + rules.partition * part(&self.partitions, &fact.partition, rules.as_they_are[0])
            + rules.qos * part(&self.classes, &fact.class, rules.as_they_are[1])
            + rules.size * self.size_factor(fact);
        sum.round() as i64
    }

    fn size_factor(&self, fact: &JobFact) -> f64 {
        let (cpus, nodes) = self.machine;
        let (c, n) = (f64::from(fact.procs), f64::from(fact.nodes));
        let size = match (self.rules.size_by_time, self.rules.favor_small) {
            (true, small) => {
                let minutes = (fact.limit.unwrap_or(i64::MAX) / 60).max(1) as f64;
                let relative = (n * cpus / nodes).max(c) / minutes / cpus;
                if small { 1.0 - relative } else { relative }
            }
            (false, true) => ((nodes - n) / nodes + (cpus - c) / cpus) / 2.0,
            (false, false) => (n / nodes + c / cpus) / 2.0,
        };
        size.clamp(0.0, 1.0)
    }
}

/// Fair shares of users: `account|user|0.5`. Lines of accounts have no user.
fn parse_shares(listing: &str) -> BTreeMap<(String, String), f64> {
    let line = |line: &str| {
        let [account, user, share] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else { return None };
        let share: f64 = share.parse().ok()?;
        (!user.is_empty()).then(|| ((account.to_string(), user.to_string()), share))
    };
    listing.lines().filter_map(line).collect()
}

/// Priorities of QOS: `normal|0`.
fn parse_classes(listing: &str) -> BTreeMap<String, f64> {
    let line = |line: &str| {
        let (name, priority) = line.split_once('|')?;
        Some((name.trim().to_string(), priority.trim().parse().ok()?))
    };
    listing.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn priorities(conf: &str) -> PriorityReader {
        let text = format!(
            "ClusterName=c\nPriorityType=priority/multifactor\nAccountingStorageType=accounting_storage/slurmdbd\n{conf}\n\
             NodeName=n CPUs=1\nPartitionName=p Nodes=n\n"
        );
        let rules = Multifactor::from_conf(&SlurmConf::parse(&text, "c").expect("sound")).expect("multifactor");
        let map = |pairs: &[(&str, f64)]| pairs.iter().map(|(name, value)| ((*name).to_string(), *value)).collect();
        PriorityReader {
            rules,
            partitions: map(&[("main", 1.0), ("fast", 10.0)]),
            classes: map(&[("normal", 0.0), ("high", 20.0)]),
            shares: parse_shares("root||\nphys|anna|0.75\nphys|ben|0.25\nchem|anna|1\n"),
            machine: (100.0, 10.0),
            read: None,
        }
    }

    fn job(account: &str, user: &str, class: &str, partition: &str, submit: i64) -> JobFact {
        JobFact {
            account: account.into(),
            user: user.into(),
            class: class.into(),
            partition: partition.into(),
            submit,
            ..crate::cluster::slurm::jobs::sample_fact()
        }
    }

    /// The sums of the manual of priority/multifactor, by hand.
    #[test]
    fn factors_are_weighed_as_slurm_does() {
        let priority_config = priorities(
            "PriorityWeightFairshare=1000\nPriorityWeightQOS=500\nPriorityWeightPartition=100\nPriorityWeightJobSize=0",
        );
        // 1000 × 0.75, nothing for the QOS, 100 × 1/10.
        assert_eq!(priority_config.job_priority(&job("phys", "anna", "normal", "main", 0), 0), 760);
        // 1000 × 0.25, 500 × 20/20, 100 × 10/10.
        assert_eq!(priority_config.job_priority(&job("phys", "ben", "high", "fast", 0), 0), 850);
        assert_eq!(priority_config.job_priority(&job("chem", "anna", "normal", "main", 0), 0), 1_010);
        // One without an association has no share.
        assert_eq!(priority_config.job_priority(&job("none", "eve", "normal", "main", 0), 0), 10);
    }

    /// An hour of age is worth 100 points here; the oldest age is ten hours.
    #[test]
    fn the_older_job_leads_and_nothing_changes_while_both_grow_older() {
        let priority_config = priorities("PriorityWeightAge=1000\nPriorityMaxAge=0-10:00:00");
        let (old, new) = (job("a", "u", "normal", "main", 36_000), job("a", "u", "normal", "main", 39_600));
        let now = 40_000;
        assert_eq!(priority_config.job_priority(&old, now) - priority_config.job_priority(&new, now), 100);
        assert_eq!(
            priority_config.job_priority(&old, now),
            priority_config.job_priority(&old, now + 3_000),
            "no job overtakes, no value changes"
        );
        // Both have reached the oldest age: neither leads.
        let late = 39_600 + 36_000;
        assert_eq!(priority_config.job_priority(&old, late), priority_config.job_priority(&new, late));
    }
}
