//! Names of jobs that the descriptions lack: accounts and qualities of service, and partitions.

use crate::fleet::Fleet;
use crate::rows::Symbol;
use crate::site::Site;
use crate::site_job::JobSymbols;
use drystone_slurm::accounts::Accounts;
use std::collections::BTreeMap;

/// Jobs by the unknown name that they have.
#[derive(Default)]
struct Unknown {
    jobs: u64,
    names: BTreeMap<String, u64>,
}

impl Unknown {
    fn add_jobs(&mut self, name: &str, jobs: u64) {
        self.jobs += jobs;
        *self.names.entry(name.to_string()).or_default() += jobs;
    }

    /// A sentence, where there is any; `label` are the names, `file` lacks them, and `so` is what
    /// is assumed.
    fn describe_names(self, label: &str, file: &str, so: &str) -> Option<String> {
        let most = self.names.iter().max_by_key(|(name, jobs)| (**jobs, std::cmp::Reverse(name.as_str())))?.0;
        let (are, names) = match (self.jobs, self.names.len()) {
            (1, _) => ("job is".to_string(), format!("the {label} {most}")),
            (_, 1) => ("jobs are".to_string(), format!("the {label} {most}")),
            (_, count) => ("jobs are".to_string(), format!("{count} {label}s such as {most}")),
        };
        Some(format!("{} {are} of {names}, which {file} lacks: {so}", self.jobs))
    }
}

/// Returns a sentence for the partitions that the description of the nodes lacks, and those of
/// [`describe_members`].
pub(super) fn describe_strangers(site: &Site) -> Vec<String> {
    let mut lacking = Unknown::default();
    let mut pairs: BTreeMap<(Symbol, u16), (usize, u64)> = BTreeMap::new();
    for at in 0..site.len() {
        pairs.entry((site.symbols_at(at).partition, site.bare_job(at).pool)).or_insert((at, 0)).1 += 1;
    }
    let pools = 0..u16::try_from(site.manifest.pools.len()).unwrap_or(u16::MAX);
    let fleets: Vec<Option<Fleet>> = pools.map(|pool| Fleet::for_pool(site, pool)).collect();
    for ((_, pool), (at, jobs)) in pairs {
        let job = site.job_at(at);
        let Some(Some(fleet)) = fleets.get(usize::from(pool)) else { continue };
        let mut names = job.partition.split(',').filter(|name| !name.is_empty()).peekable();
        if names.peek().is_some() && !names.any(|name| fleet.has_part(name)) {
            lacking.add_jobs(&job.partition, jobs);
        }
    }
    let so = "they may have any nodes, and under slurm those of the default partition";
    let no_partition = lacking.describe_names("partition", "--machine", so);
    no_partition.into_iter().chain(describe_members(site)).collect()
}

/// Returns a sentence for the accounts that the associations lack, and one for the qualities of
/// service; none where no file of accounts was given.
fn describe_members(site: &Site) -> Vec<String> {
    let Some(text) = site.accounts.as_deref() else { return Vec::new() };
    let Ok(accounts) = Accounts::parse(text, "accounts.txt") else { return Vec::new() };
    let same = |first: &str, second: &str| first.eq_ignore_ascii_case(second);
    let (mut lacking, mut qualities) = (Unknown::default(), Unknown::default());
    // One look for each pair of names.
    let mut pairs: BTreeMap<(Symbol, Symbol), (usize, u64)> = BTreeMap::new();
    for at in 0..site.len() {
        let JobSymbols { account, qos, .. } = site.symbols_at(at);
        pairs.entry((account, qos)).or_insert((at, 0)).1 += 1;
    }
    for (at, jobs) in pairs.into_values() {
        let job = site.job_at(at);
        let (account, qos) = (job.account.as_ref(), job.qos.as_ref());
        let is_known = {
            let has_account = account.is_empty()
                || accounts.assocs.len() < 2
                || accounts.assocs.iter().any(|assoc| same(&assoc.account, account));
            let has_qos = qos.is_empty() || accounts.qos.is_empty() || accounts.find_qos(qos).is_some();
            (has_account, has_qos)
        };
        if !is_known.0 {
            lacking.add_jobs(account, jobs);
        }
        if !is_known.1 {
            qualities.add_jobs(qos, jobs);
        }
    }
    let no_account =
        lacking.describe_names("account", "--accounts", "none of its limits is known, and it has one share");
    let no_quality = qualities.describe_names(
        "QOS",
        "--accounts",
        "the default QOS of the association counts instead, else `normal`",
    );
    no_account.into_iter().chain(no_quality).collect()
}
