//! Limits of QOS, accounts and users, as the jobs of a site share them.

use crate::jobs::JobMarks;
use crate::site::Site;
use crate::site_job::SiteJob;
use drystone::model::{JobId, JobLimits};
use drystone_slurm::accounts::{Accounts, JobLimitMaker, LimitedJob, NODE_PARTS};
use drystone_slurm::conf::{BilledAmounts, BillingSum, BillingWeights, SlurmConf};
use std::borrow::Cow;
use std::collections::BTreeMap;

impl Site {
    /// Returns its associations and QOS; `None` where none were given.
    pub fn accounts(&self) -> Option<Accounts> {
        Accounts::parse(self.accounts.as_deref()?, "accounts.txt").ok()
    }

    /// Returns the limits of the jobs at these places, which are numbered in their order; none
    /// where `slurm.conf` enforces none.
    pub fn limits_at(&self, places: &[u32]) -> JobLimits {
        if !self.keeps_limits || !self.enforces_limits() {
            return JobLimits::default();
        }
        let places = places.iter().zip(0..).map(|(&place, id)| (JobId(id), Some(place)));
        self.accounts().map_or_else(JobLimits::default, |accounts| self.limits_of(&accounts, places, |_, _| ()))
    }

    /// Returns a sentence for waits that records ascribe to limits, where none is known.
    pub(crate) fn unknown_limits(&self) -> Option<String> {
        if self.manifest.limits > 0 {
            return None;
        }
        let (mut total_wait, mut limit_wait, mut reasons) = (0.0, 0.0, BTreeMap::<String, f64>::new());
        for at in 0..self.len() {
            let job = self.bare_job(at);
            let wait = job.wait().unwrap_or(0).max(0) as f64;
            total_wait += wait;
            // Texts are looked up for the few jobs that waited for more than room.
            let reason = if job.marks.has_mark(JobMarks::CAUSE) { self.job_at(at).reason } else { Cow::Borrowed("") };
            if ["QOS", "Assoc"].iter().any(|word| reason.starts_with(word)) {
                limit_wait += wait;
                *reasons.entry(reason.into_owned()).or_default() += wait;
            }
        }
        let (most, _) = reasons.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(&a.0)))?;
        let because = match self.accounts.is_some() && !self.enforces_limits() {
            true => "and AccountingStorageEnforce of slurm.conf has no `limits`, so that none holds",
            false => {
                "and no limit is known that would hold: import with --accounts FILE, the output of `sacctmgr -P show qos` and `show assoc`"
            }
        };
        (limit_wait > 0.01 * total_wait).then(|| {
            format!(
                "{:.0} % of the recorded waiting was last for a limit of QOS, accounts or users, most of it {most}, {because}",
                100.0 * limit_wait / total_wait
            )
        })
    }

    /// Returns whether its limits are enforced: without a `slurm.conf` they are.
    pub fn enforces_limits(&self) -> bool {
        self.parse_conf().is_none_or(|conf| conf.enforces_limits())
    }

    pub(crate) fn parse_conf(&self) -> Option<SlurmConf> {
        SlurmConf::parse(self.slurm_conf.as_deref()?, "slurm.conf").ok()
    }

    /// Returns the limits that these accounts set for jobs, each with its place in the site if it
    /// has one. `adjust` changes what is otherwise than at the site.
    pub fn limits_of(
        &self,
        accounts: &Accounts,
        jobs: impl Iterator<Item = (JobId, Option<u32>)>,
        adjust: impl Fn(JobId, &mut LimitedJob),
    ) -> JobLimits {
        if !accounts.limits_anything() {
            return JobLimits::default();
        }
        let conf = self.parse_conf();
        let mut maker = JobLimitMaker::new(accounts, conf.as_ref());
        let parts = conf.iter().flat_map(|conf| &conf.partitions);
        let weights: BTreeMap<&str, &BillingWeights> =
            parts.filter_map(|part| Some((part.name.as_str(), part.billing.as_ref()?))).collect();
        let rule = conf.as_ref().map_or(BillingSum::All, |conf| BillingSum::from_priority(&conf.priority));
        for (id, place) in jobs {
            let mut limited_job = match place.map(|place| place as usize).filter(|&place| place < self.len()) {
                Some(place) => {
                    let job = self.job_at(place);
                    self.limited_job(&job, weights.get(job.partition.as_ref()).copied(), rule)
                }
                None => LimitedJob::default(),
            };
            adjust(id, &mut limited_job);
            maker.add_job(id, &limited_job);
        }
        maker.finish_limits()
    }

    fn limited_job(&self, job: &SiteJob<'_>, weights: Option<&BillingWeights>, rule: BillingSum) -> LimitedJob {
        let cpus_per_node = self.manifest.pools.get(usize::from(job.pool)).map_or(1.0, |pool| match pool.nodes {
            0 => 1.0,
            nodes => pool.cpus as f64 / f64::from(nodes),
        });
        let cpus = job.cpus.map_or(f64::from(job.units), f64::from);
        let nodes = job.nodes.or(job.asked_nodes).unwrap_or(1).max(1);
        let shares = nodes == 1 && !job.marks.has_mark(JobMarks::EXCLUSIVE) && cpus < cpus_per_node;
        let node_parts = match shares {
            true => ((cpus * NODE_PARTS as f64 / cpus_per_node).floor() as u64).max(1),
            false => u64::from(nodes) * NODE_PARTS,
        };
        let memory = job.memory_kb.filter(|&kb| kb < u64::MAX).unwrap_or(0) / 1024;
        let gpus = u64::from(job.gpus.unwrap_or(0));
        let billing = weights.map_or(cpus, |weights| {
            let devices = [("gpu", "", gpus as f64)];
            let amounts = BilledAmounts { cpus, nodes: f64::from(nodes), memory: memory as f64, devices: &devices };
            weights.compute_bill(&amounts, rule)
        });
        LimitedJob {
            user: match (job.user.as_ref(), job.uid) {
                ("", Some(uid)) => uid.to_string(),
                (user, _) => user.to_string(),
            },
            account: job.account.to_string(),
            partition: job.partition.to_string(),
            qos: job.qos.to_string(),
            cpus: cpus as u64,
            node_parts,
            memory,
            gpus,
            billing: billing.max(0.0) as u64,
            named: parse_named_amounts(&job.asks),
            seconds: u64::from(job.limit),
        }
    }
}

/// Parses the amounts of devices with a type, other devices and licences that a job asked for in
/// all.
fn parse_named_amounts(asks: &str) -> Vec<(String, u64)> {
    let part = |part: &str| {
        let (name, amount) = part.split_once('=')?;
        let has_name = name.starts_with("gres/") || name.starts_with("license/");
        Some((name.to_ascii_lowercase(), amount.parse().ok()?)).filter(|_| has_name)
    };
    asks.split(' ').filter_map(part).collect()
}
