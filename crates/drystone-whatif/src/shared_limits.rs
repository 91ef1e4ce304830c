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

/// Gives every user an association: Slurm enforces no limit on a job without one.
fn associate_users(premises: &Premises, accounts: &mut Accounts) {
    let names = PeopleNames::new(premises);
    let people: BTreeSet<(i32, i32)> = premises.workload.jobs().iter().map(|job| (job.group, job.user)).collect();
    for (group, user) in people {
        accounts.find_or_add(&names.account_name(group), &names.user_name(user));
    }
}

/// Names of users and accounts by their numbers in a log.
struct PeopleNames {
    users: BTreeMap<i32, String>,
    accounts: BTreeMap<i32, String>,
}

impl PeopleNames {
    fn new(premises: &Premises) -> PeopleNames {
        let by_number = |of: &BTreeMap<String, i32>| -> BTreeMap<i32, String> {
            of.iter().map(|(name, &number)| (number, name.clone())).collect()
        };
        PeopleNames { users: by_number(&premises.users), accounts: by_number(&premises.accounts) }
    }

    /// Returns the name of a user; its number where it has none.
    fn user_name(&self, number: i32) -> String {
        self.users.get(&number).cloned().unwrap_or_else(|| number.to_string())
    }

    /// Returns the name of an account; its number where it has none.
    fn account_name(&self, number: i32) -> String {
        self.accounts.get(&number).cloned().unwrap_or_else(|| number.to_string())
    }
}

pub(super) fn limit_qos(
    state: &mut Applied,
    change: &SiteChange,
    name: &str,
    limits: &[(String, String)],
) -> Result<(), ApplyError> {
    if state.premises.rules.is_none() {
        needs_slurm(state, change, "QOS")?;
    }
    let mut accounts = known_accounts(&state.premises);
    if accounts.find_qos(name).is_none() {
        let names: Vec<&str> = accounts.qos.iter().map(|qos| qos.name.as_str()).collect();
        return Err(ApplyError::unknown_name(change, "QOS", name, &names));
    }
    table::set_qos_limits(&mut accounts, name, limits).map_err(|problem| ApplyError::new(change, problem))?;
    let alone = accounts.find_qos(name).map(|at| (accounts.qos.len(), table::most_for_job(&accounts.qos[at])));
    enforce_limits(state, change, accounts)?;
    let Some((qos_count, most)) = alone.filter(|(_, most)| !most.is_empty()) else { return Ok(()) };
    let numbers: Vec<Option<i32>> = state.premises.pools.iter().map(|pool| qos_number(pool, name)).collect();
    let most = |premises: &Premises, draft: &JobDraft| {
        let is_of = match numbers[premises.pool_of(&draft.job)] {
            Some(number) => draft.job.queue == number,
            None => qos_count == 1,
        };
        is_of.then_some(most)
    };
    refuse_beyond(state, change, &most, &format!("the QOS {name}"))
}

/// Limits an account, and with it those below.
pub(super) fn limit_account(
    state: &mut Applied,
    change: &SiteChange,
    name: &str,
    limits: &[(String, String)],
) -> Result<(), ApplyError> {
    if state.premises.rules.is_none() {
        needs_slurm(state, change, "accounts")?;
    }
    let mut accounts = known_accounts(&state.premises);
    associate_users(&state.premises, &mut accounts);
    let Some(at) = accounts.find_assoc(name, "") else {
        let names: BTreeSet<&str> = accounts.assocs.iter().map(|assoc| assoc.account.as_str()).collect();
        return Err(ApplyError::unknown_name(change, "account", name, &names.into_iter().collect::<Vec<_>>()));
    };
    table::set_account(&mut accounts.assocs[at].limits, limits).map_err(|problem| ApplyError::new(change, problem))?;
    let bounds = list_bounds(&state.premises, &accounts, at);
    let of_qos: Vec<(Vec<Option<i32>>, AccountLimits)> = accounts
        .qos
        .iter()
        .map(|qos| (state.premises.pools.iter().map(|pool| qos_number(pool, &qos.name)).collect(), qos.limits.clone()))
        .collect();
    enforce_limits(state, change, accounts)?;
    // What the QOS of a job bounds in all or in each job, its accounts do not bound so.
    let most = |premises: &Premises, draft: &JobDraft| {
        let (group, job_limits) = bounds.get(&(draft.job.group, draft.job.user))?;
        let pool = premises.pool_of(&draft.job);
        let of_job = |(numbers, _): &&(Vec<Option<i32>>, AccountLimits)| numbers[pool] == Some(draft.job.queue);
        Some(match of_qos.iter().find(of_job) {
            Some((_, qos)) => {
                table::least_limits([&drop_bounded(*group, &qos.grp_tres), &drop_bounded(*job_limits, &qos.max_tres)])
            }
            None => table::least_limits([group, job_limits]),
        })
    };
    refuse_beyond(state, change, &most, &format!("the account {name}"))
}

/// Returns what the jobs of an account and those below it may have, by account and user of jobs: in
/// all, by the account's own limit, and each, by the limit that is nearest to the user.
fn list_bounds(premises: &Premises, accounts: &Accounts, at: usize) -> BTreeMap<(i32, i32), (Tres, Tres)> {
    let names = PeopleNames::new(premises);
    let people: BTreeSet<(i32, i32)> = premises.workload.jobs().iter().map(|job| (job.group, job.user)).collect();
    let bound = |(group, user): (i32, i32)| {
        let from = accounts.find_assoc(&names.account_name(group), &names.user_name(user))?;
        let chain = || std::iter::successors(Some(from), |&number| accounts.assocs[number].parent);
        let mut job_limits = Tres::default();
        for number in chain() {
            let own = accounts.assocs[number].limits.max_tres;
            job_limits = Tres {
                cpu: job_limits.cpu.or(own.cpu),
                node: job_limits.node.or(own.node),
                gpu: job_limits.gpu.or(own.gpu),
                ..job_limits
            };
        }
        chain().any(|number| number == at).then_some(((group, user), (accounts.assocs[at].limits.grp_tres, job_limits)))
    };
    people.into_iter().filter_map(bound).collect()
}

/// Returns limits without those of the resources that others bound.
fn drop_bounded(limits: Tres, bounds: &Tres) -> Tres {
    let keep = |own: Option<u64>, bound: Option<u64>| own.filter(|_| bound.is_none());
    Tres {
        cpu: keep(limits.cpu, bounds.cpu),
        node: keep(limits.node, bounds.node),
        gpu: keep(limits.gpu, bounds.gpu),
        ..limits
    }
}

/// Returns the accounts and QOS of a site; where none are known, the QOS of its jobs without
/// limits.
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
fn enforce_limits(state: &mut Applied, change: &SiteChange, mut accounts: Accounts) -> Result<(), ApplyError> {
    let premises = &mut state.premises;
    associate_users(premises, &mut accounts);
    premises.limits = Some(accounts);
    let mut is_enforced = true;
    for pool in &mut premises.pools {
        let Some(conf) = &pool.conf else { continue };
        let mut text = ConfText::from_text(conf);
        let slurm_conf = text.parse_conf().map_err(|problem| ApplyError::new(change, problem))?;
        if !slurm_conf.enforces_limits() {
            is_enforced = false;
            let words: Vec<&str> = slurm_conf.enforce.iter().map(String::as_str).chain(["limits"]).collect();
            text.replace_setting("AccountingStorageEnforce", &words.join(","));
            pool.conf = Some(text.render_text());
        }
    }
    if !is_enforced {
        state.add_note("slurm.conf enforces no limits; AccountingStorageEnforce=limits is set with it".to_string());
    }
    Ok(())
}

fn qos_number(pool: &PoolPremises, name: &str) -> Option<i32> {
    let line = |line: &str| {
        let mut fields = line.splitn(3, ',');
        let number = (fields.next()? == "qos").then(|| fields.next())??.parse::<i32>().ok()?;
        (fields.next()? == name).then_some(number)
    };
    pool.names.as_deref().and_then(|names| names.lines().find_map(line))
}

/// The GPUs that a job asks for, at least.
fn count_gpus(shape: &NodeShape) -> u64 {
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
/// any job have, as `most` says for a job that they bound: none of them would ever start.
fn refuse_beyond(
    state: &mut Applied,
    change: &SiteChange,
    most: &dyn Fn(&Premises, &JobDraft) -> Option<Tres>,
    holder: &str,
) -> Result<(), ApplyError> {
    let premises = &state.premises;
    let table = state.table.clone();
    let beyond = |draft: &JobDraft| {
        let Some(most) = most(premises, draft) else { return false };
        let at = premises.pool_of(&draft.job);
        let cpus = u64::from(draft.job.procs.div_ceil(premises.pools[at].scale.max(1)));
        let nodes = premises.nodes_of(&draft.job).ceil() as u64;
        let gpus = table.as_ref().and_then(|table| table.node_shape(draft.job.demand)).map_or(0, count_gpus);
        let over = |amount: u64, most: Option<u64>| most.is_some_and(|most| amount > most);
        over(cpus, most.cpu) || over(nodes, most.node) || over(gpus, most.gpu)
    };
    let mut drafts = state.job_drafts();
    let mut left_out = LeftOutJobs::default();
    drafts.retain(|draft| {
        let goes = beyond(draft) && !draft.place.is_some_and(|place| state.is_running(place));
        if goes {
            left_out.jobs += 1;
            left_out.node_hours += node_hours(premises, &draft.job, draft.truth.run);
        }
        !goes
    });
    if left_out.jobs == 0 {
        return Ok(());
    }
    state.left.jobs += left_out.jobs;
    state.left.node_hours += left_out.node_hours;
    state.refused += left_out.jobs;
    state.add_note(format!(
        "{} of {:.0} node-hours {}",
        count_things(left_out.jobs, "job", "jobs"),
        left_out.node_hours,
        match left_out.jobs {
            1 => format!("asks for more than {holder} allows: it cannot run, and is refused"),
            _ => format!("ask, each by itself, for more than {holder} allows: none can run, and all are refused"),
        }
    ));

    state.rebuild_jobs(change, drafts)
}

impl Premises {
    /// Associations and QOS as tables that `sacctmgr` would print; `None` where nothing is limited.
    pub fn accounts_text(&self) -> Option<String> {
        self.limits.as_ref().map(table::render_tables)
    }
}
