//! Accounts and qualities of service of jobs that the associations lack.

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

    /// A sentence, where there is any; `what` are the names, and `so` is what is assumed.
    fn describe_names(self, label: &str, so: &str) -> Option<String> {
        let most = self.names.iter().max_by_key(|(name, jobs)| (**jobs, std::cmp::Reverse(name.as_str())))?.0;
        let (are, names) = match (self.jobs, self.names.len()) {
            (1, _) => ("job is".to_string(), format!("the {label} {most}")),
            (_, 1) => ("jobs are".to_string(), format!("the {label} {most}")),
            (_, count) => ("jobs are".to_string(), format!("{count} {label}s such as {most}")),
        };
        Some(format!("{} {are} of {names}, which --accounts lacks: {so}", self.jobs))
    }
}

/// Returns a sentence for the accounts that the associations lack, and one for the qualities of
/// service; none where no file of accounts was given.
pub(super) fn describe_strangers(site: &Site) -> Vec<String> {
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
    let no_account = lacking.describe_names("account", "none of its limits is known, and it has one share");
    let no_quality =
        qualities.describe_names("QOS", "the default QOS of the association counts instead, else `normal`");
    no_account.into_iter().chain(no_quality).collect()
}
