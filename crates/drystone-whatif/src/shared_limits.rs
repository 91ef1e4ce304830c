//! Limits that jobs share: those of QOS and of accounts.

use super::change::SiteChange;
use super::conf_text::ConfText;
use super::premises::{ApplyError, PoolPremises, Premises};
use super::qos as table;
use super::state::{Applied, JobDraft, LeftOutJobs, needs_slurm, node_hours};
use super::words::count_things;
use drystone::model::{DeviceDemand, DevicePer, NodeShape};
use drystone_slurm::accounts::{AccountLimits, Accounts, Tres};
use std::collections::{BTreeMap, BTreeSet};

/// Gives every user an association: Slurm limits nothing of a job without one.
fn associate(premises: &Premises, accounts: &mut Accounts) {
    let by_number = |of: &BTreeMap<String, i32>| -> BTreeMap<i32, String> {
        of.iter().map(|(name, &number)| (number, name.clone())).collect()
    };
    let (users, groups) = (by_number(&premises.users), by_number(&premises.accounts));
    let name = |of: &BTreeMap<i32, String>, number: i32| of.get(&number).cloned().unwrap_or_else(|| number.to_string());
    let all: BTreeSet<(i32, i32)> = premises.workload.jobs().iter().map(|job| (job.group, job.user)).collect();
    for (group, user) in all {
        accounts.find_or_add(&name(&groups, group), &name(&users, user));
    }
}

/// Limits a QOS.
pub(super) fn qos(
    applied: &mut Applied,
    change: &SiteChange,
    name: &str,
    limits: &[(String, String)],
) -> Result<(), ApplyError> {
    if applied.premises.rules.is_none() {
        needs_slurm(applied, change, "QOS")?;
    }
    let mut accounts = known_accounts(&applied.premises);
    if accounts.find_qos(name).is_none() {
        let known: Vec<&str> = accounts.qos.iter().map(|qos| qos.name.as_str()).collect();
        return Err(ApplyError::unknown(change, "QOS", name, &known));
    }
    table::set(&mut accounts, name, limits).map_err(|problem| ApplyError::new(change, problem))?;
    let alone = accounts.find_qos(name).map(|at| (accounts.qos.len(), table::alone(&accounts.qos[at])));
    enforce(applied, change, accounts)?;
    let Some((known, most)) = alone.filter(|(_, most)| !most.is_empty()) else { return Ok(()) };
    let numbers: Vec<Option<i32>> = applied.premises.pools.iter().map(|pool| qos_number(pool, name)).collect();
    let is_of = |premises: &Premises, draft: &JobDraft| match numbers[premises.pool_of(&draft.job)] {
        Some(number) => draft.job.queue == number,
        None => known == 1,
    };
    refuse_beyond(applied, change, &is_of, (&format!("the QOS {name}"), &most))
}

/// Limits an account, and with it those below.
pub(super) fn account(
    applied: &mut Applied,
    change: &SiteChange,
    name: &str,
    limits: &[(String, String)],
) -> Result<(), ApplyError> {
    if applied.premises.rules.is_none() {
        needs_slurm(applied, change, "accounts")?;
    }
    let mut accounts = known_accounts(&applied.premises);
    associate(&applied.premises, &mut accounts);
    let Some(at) = accounts.find(name, "") else {
        let known: BTreeSet<&str> = accounts.assocs.iter().map(|assoc| assoc.account.as_str()).collect();
        return Err(ApplyError::unknown(change, "account", name, &known.into_iter().collect::<Vec<_>>()));
    };
    table::set_account(&mut accounts.assocs[at].limits, limits).map_err(|problem| ApplyError::new(change, problem))?;
    let AccountLimits { grp_tres, max_tres, .. } = &accounts.assocs[at].limits;
    let most = table::least([grp_tres, max_tres]);
    let mut below = BTreeSet::from([at]);
    for (number, assoc) in accounts.assocs.iter().enumerate() {
        if assoc.parent.is_some_and(|parent| below.contains(&parent)) {
            below.insert(number);
        }
    }
    let names = below.iter().map(|&number| accounts.assocs[number].account.as_str());
    let groups: BTreeSet<i32> = names.filter_map(|name| applied.premises.accounts.get(name).copied()).collect();
    enforce(applied, change, accounts)?;
    if most.is_empty() {
        return Ok(());
    }
    let is_of = |_: &Premises, draft: &JobDraft| groups.contains(&draft.job.group);
    refuse_beyond(applied, change, &is_of, (&format!("the account {name}"), &most))
}

/// The accounts and QOS of a site; where none are known, the QOS of its jobs without limits.
fn known_accounts(premises: &Premises) -> Accounts {
    premises.limits.clone().unwrap_or_else(|| {
        let mut accounts = Accounts::new();
        for name in premises.qos.keys().map(String::as_str).chain(["normal"]) {
            if accounts.find_qos(name).is_none() {
                accounts.qos.push(drystone_slurm::accounts::Qos { name: name.to_string(), ..Default::default() });
            }
        }
        accounts
    })
}

/// Puts accounts and QOS into force.
fn enforce(applied: &mut Applied, change: &SiteChange, mut accounts: Accounts) -> Result<(), ApplyError> {
    let premises = &mut applied.premises;
    associate(premises, &mut accounts);
    premises.limits = Some(accounts);
    let mut enforced = true;
    for pool in &mut premises.pools {
        let Some(conf) = &pool.conf else { continue };
        let mut text = ConfText::of(conf);
        let read = text.read().map_err(|problem| ApplyError::new(change, problem))?;
        if !read.enforces_limits() {
            enforced = false;
            let words: Vec<&str> = read.enforce.iter().map(String::as_str).chain(["limits"]).collect();
            text.set("AccountingStorageEnforce", &words.join(","));
            pool.conf = Some(text.text());
        }
    }
    if !enforced {
        applied.note("slurm.conf enforces no limits; AccountingStorageEnforce=limits is set with it".to_string());
    }
    Ok(())
}

/// The number of a QOS among the names of a pool.
fn qos_number(pool: &PoolPremises, name: &str) -> Option<i32> {
    let line = |line: &str| {
        let mut fields = line.splitn(3, ',');
        let number = (fields.next()? == "qos").then(|| fields.next())??.parse::<i32>().ok()?;
        (fields.next()? == name).then_some(number)
    };
    pool.names.as_deref().and_then(|names| names.lines().find_map(line))
}

/// The GPUs that a job asks for, at least.
fn gpus(shape: &NodeShape) -> u64 {
    let of = |device: &DeviceDemand| {
        let times = match device.per {
            DevicePer::Job => 1,
            DevicePer::Node => shape.nodes.0.max(1),
            _ => shape.tasks.max(1),
        };
        u64::from(device.count) * u64::from(times)
    };
    shape.devices.iter().filter(|device| device.name == "gpu").map(of).sum()
}

/// Leaves out jobs that ask for more, each by itself, than the limits of their QOS or account let
/// any job have: none of them would ever start.
fn refuse_beyond(
    applied: &mut Applied,
    change: &SiteChange,
    is_of: &dyn Fn(&Premises, &JobDraft) -> bool,
    (holder, most): (&str, &Tres),
) -> Result<(), ApplyError> {
    let premises = &applied.premises;
    let table = applied.table.clone();
    let beyond = |draft: &JobDraft| {
        let at = premises.pool_of(&draft.job);
        let cpus = u64::from(draft.job.procs.div_ceil(premises.pools[at].scale.max(1)));
        let nodes = premises.nodes_of(&draft.job).ceil() as u64;
        let gpus = table.as_ref().and_then(|table| table.shape(draft.job.demand)).map_or(0, gpus);
        let over = |asked: u64, most: Option<u64>| most.is_some_and(|most| asked > most);
        is_of(premises, draft) && (over(cpus, most.cpu) || over(nodes, most.node) || over(gpus, most.gpu))
    };
    let mut drafts = applied.drafts();
    let mut left = LeftOutJobs::default();
    drafts.retain(|draft| {
        let goes = beyond(draft) && !draft.place.is_some_and(|place| applied.is_running(place));
        if goes {
            left.jobs += 1;
            left.node_hours += node_hours(premises, &draft.job, draft.truth.run);
        }
        !goes
    });
    if left.jobs == 0 {
        return Ok(());
    }
    applied.left.jobs += left.jobs;
    applied.left.node_hours += left.node_hours;
    applied.refused += left.jobs;
    applied.note(format!(
        "{} of {:.0} node-hours {}, each by itself, for more than {holder} allows: none can run, and all are refused",
        count_things(left.jobs, "job", "jobs"),
        left.node_hours,
        if left.jobs == 1 { "asks" } else { "ask" }
    ));

    applied.rebuild(change, drafts)
}

impl Premises {
    /// Associations and QOS as tables that `sacctmgr` would print; `None` where nothing is limited.
    pub fn accounts_text(&self) -> Option<String> {
        self.limits.as_ref().map(table::table)
    }
}
