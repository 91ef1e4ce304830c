//! The site as it is: its policy, and the premises that changes are made to.

use super::facts::{PoolNames, parse_names};
use crate::args::{SiteWorld, WhatifArgs};
use crate::exit::CommandFailure;
use crate::input::WorkloadInput;
use crate::site::SiteInput;
use drystone::model::{JobId, JobLimits, Outages};
use drystone::policy::PolicySpec;
use drystone_advise::quote_value;
use drystone_slurm::accounts::{Accounts, NODE_PARTS};
use drystone_slurm::conf::{SlurmConf, flatten_file};
use drystone_slurm::policy::SLURM;
use drystone_whatif::{LimitRules, PartitionPremises, PoolPremises, Premises};
use std::collections::BTreeMap;
use std::path::Path;

/// The policy before and after, and where its files are.
#[derive(Clone)]
pub(crate) struct WhatIfBaseline {
    /// As people call it.
    pub(crate) name: String,
    /// True if it is the site's own scheduler.
    pub(crate) own: bool,
    /// Name of a node for people: a processor where nodes are not known.
    pub(crate) unit: &'static str,
    /// The policy without what changes put into it.
    pub(crate) text: String,
    /// The path of `slurm.conf` in the text.
    pub(crate) conf: Option<String>,
    /// For each pool the configuration that it has unless it is changed.
    pub(crate) pool_confs: Vec<Option<String>>,
    /// The path of the names in the text.
    pub(crate) names: Option<String>,
    /// The path of the accounts in the text.
    pub(crate) accounts: Option<String>,
    pub(crate) premises: Premises,
}

/// A path as policies have it.
pub(crate) fn path_text(path: &Path) -> Result<String, CommandFailure> {
    let text = path.to_str().filter(|text| !text.contains('"'));
    text.map(String::from).ok_or_else(|| {
        CommandFailure::usage_error(format_args!(
            "{}: a path with a double quote or without UTF-8 cannot stand in a policy",
            path.display()
        ))
    })
}

/// The policy: as asked for, else the site's own Slurm, else EASY.
fn choose_policy(args: &WhatifArgs) -> Result<(PolicySpec, bool), CommandFailure> {
    let own = crate::site::own_policy(args.source.path())?;
    let asks_slurm = args.slurm.is_some() || args.cpus > 1 || args.accounts.is_some();
    if let Some(spec) = args.policy.as_ref().filter(|spec| spec.text() != SLURM.name) {
        if asks_slurm {
            return Err(CommandFailure::usage_error(
                "--slurm, --cpus and --accounts describe Slurm's own scheduler; leave --policy out",
            ));
        }
        let meant = match args.source.path() {
            Some(path) => crate::site::meant_policy(path, spec)?,
            None => spec.clone(),
        };
        return Ok((meant, false));
    }
    let conf = match &args.slurm {
        Some(path) => Some(path_text(path)?),
        None => own.as_ref().and_then(|own| find_parameter(own, "conf")),
    };
    if conf.is_none() && args.policy.is_none() && !asks_slurm {
        return Ok(("easy".parse()?, false));
    }
    let mut words = Vec::new();
    match &conf {
        Some(path) => {
            SlurmConf::read_file(path).map_err(CommandFailure::usage_error)?;
            words.push(format!("conf={}", quote_value(path)));
        }
        None => words.push(format!("cpus={}", args.cpus)),
    }
    if let Some(path) = &args.accounts {
        words.push(format!("accounts={}", quote_value(&path_text(path)?)));
    }
    let spec: PolicySpec = format!("slurm({})", words.join(",")).parse()?;
    Ok((spec, conf.is_some()))
}

fn find_parameter(spec: &PolicySpec, name: &str) -> Option<String> {
    let value = spec.parameters().into_iter().find(|(key, _)| *key == name)?.1.to_string();
    (!["none", "auto"].contains(&value.as_str())).then_some(value)
}

/// The text of a policy with its files by name: what stands beside a `slurm.conf` is found no
/// longer when that is changed elsewhere.
fn spell_policy(spec: &PolicySpec) -> String {
    let text = spec.text();
    match text.strip_prefix("slurm:") {
        Some(path) => format!("slurm(conf={})", quote_value(path)),
        None => text.to_string(),
    }
}

/// A file beside the `slurm.conf` of a pool of a site.
fn find_beside(conf: &str, name: &str) -> Option<String> {
    let path = Path::new(conf);
    let prefix = path.file_name()?.to_str()?.strip_suffix("slurm.conf")?.to_string();
    if !path.with_file_name("site.json").is_file() {
        return None;
    }
    let sibling = [format!("{prefix}{name}"), name.to_string()]
        .into_iter()
        .map(|file| path.with_file_name(file))
        .find(|file| file.is_file());
    sibling.and_then(|file| file.to_str().map(String::from))
}

impl WhatIfBaseline {
    pub(crate) fn from_args(
        args: &WhatifArgs,
        input: &mut WorkloadInput,
        outages: &Outages,
    ) -> Result<WhatIfBaseline, CommandFailure> {
        let (spec, own) = choose_policy(args)?;
        if let Some(site) = &mut input.site {
            site.localise_policies([&spec]);
        }
        input.check_fit([&spec])?;
        crate::site::tell_remarks([&spec]);
        let is_slurm = spec.kind().name == SLURM.name;
        let path = |name: &str| is_slurm.then(|| find_parameter(&spec, name)).flatten();
        let (conf, names) = (path("conf"), path("names"));
        let own_accounts = conf.as_deref().and_then(|conf| find_beside(conf, "accounts.txt"));
        let accounts = path("accounts");
        let limits = accounts
            .as_ref()
            .or(own_accounts.as_ref())
            .map(Accounts::read_file)
            .transpose()
            .map_err(CommandFailure::usage_error)?;
        let mut premises = build_premises(args, input, outages, names.as_deref())?;
        premises.is_slurm = is_slurm;
        premises.limits = limits.or_else(|| input.site.as_ref().filter(|_| !is_slurm)?.site.accounts());
        premises.rules = input.site.as_ref().and_then(|site| limit_rules(site, args));
        let mut pool_confs = Vec::new();
        for at in 0..premises.pools.len() {
            let text = if is_slurm {
                Some(pool_conf(args, input, &spec, (conf.as_deref(), at), &premises.pools[at])?)
            } else {
                None
            };
            pool_confs.push(text.as_ref().and_then(|(path, _)| path.clone()));
            let pool = &mut premises.pools[at];
            if let Some(file) =
                pool_confs[at].as_deref().and_then(|conf| find_beside(conf, "names.csv")).filter(|_| names.is_none())
            {
                let names_text = std::fs::read_to_string(&file);
                pool.names =
                    Some(names_text.map_err(|error| {
                        CommandFailure::usage_error(format_args!("{file}: cannot be read: {error}"))
                    })?);
            }
            if let Some((_, text)) = text {
                if let Ok(read) = SlurmConf::parse(&text, "slurm.conf") {
                    let total_cpus: u64 = read.nodes.iter().map(|node| u64::from(node.cpus)).sum();
                    pool.per_node = (total_cpus as f64 / read.nodes.len().max(1) as f64).max(1.0);
                    if input.site.is_none() {
                        name_partitions(pool, &read);
                    }
                }
                pool.conf = Some(text);
            }
        }
        let single = input.site.is_none() && premises.pools.iter().all(|pool| pool.per_node <= 1.0);
        let unit = if single { "processor" } else { "node" };
        let name = if own { format!("the site's own Slurm, {}", spec.text()) } else { spec.text().to_string() };
        Ok(WhatIfBaseline { name, own, unit, text: spell_policy(&spec), conf, pool_confs, names, accounts, premises })
    }
}

/// The rules by which the jobs of a site share limits under any policy.
fn limit_rules(site: &SiteInput, args: &WhatifArgs) -> Option<LimitRules> {
    if args.log.world == Some(SiteWorld::Counts) {
        return None;
    }
    let (own, places) = (site.site.clone(), site.places.clone());
    Some(LimitRules::new(move |premises, origin| {
        let Some(accounts) = &premises.limits else { return JobLimits::default() };
        // A change of limits brings their enforcement with it.
        if !own.enforces_limits() && own.accounts().as_ref() == Some(accounts) {
            return JobLimits::default();
        }
        let back = |names: &BTreeMap<String, i32>| -> BTreeMap<i32, String> {
            names.iter().map(|(name, &number)| (number, name.clone())).collect()
        };
        let (users, groups, qos) = (back(&premises.users), back(&premises.accounts), back(&premises.qos));
        let parts = premises.pools.iter().flat_map(|pool| &pool.partitions);
        let parts: BTreeMap<i32, &str> = parts.map(|part| (part.number, part.name.as_str())).collect();
        let jobs = premises.workload.jobs();
        let rules = (0..jobs.len()).map(|at| {
            let place = origin.get(at).copied().flatten().and_then(|origin| places.get(origin as usize).copied());
            (JobId(at as u32), place)
        });
        own.limits_of(accounts, rules, |id, limits| {
            let job = &jobs[id.index()];
            let named_limits = [
                (&mut limits.user, users.get(&job.user).map(String::as_str)),
                (&mut limits.account, groups.get(&job.group).map(String::as_str)),
                (&mut limits.qos, qos.get(&job.queue).map(String::as_str)),
                (&mut limits.partition, parts.get(&job.partition).copied()),
            ];
            for (text, name) in named_limits {
                name.into_iter().for_each(|name| *text = name.to_string());
            }
            limits.seconds = u64::try_from(job.estimate.0).unwrap_or(0);
            // A job that is added asks for its processors.
            if limits.cpus == 0 {
                limits.cpus = u64::from(job.procs);
                limits.billing = limits.cpus;
                limits.node_parts = NODE_PARTS;
            }
        })
    }))
}

/// The configuration of a pool: its path where a file has it, and its text.
fn pool_conf(
    args: &WhatifArgs,
    input: &WorkloadInput,
    spec: &PolicySpec,
    (conf, at): (Option<&str>, usize),
    pool: &PoolPremises,
) -> Result<(Option<String>, String), CommandFailure> {
    let Some(path) = conf else {
        let cpus = find_parameter(spec, "cpus").and_then(|text| text.parse().ok()).unwrap_or(args.cpus).max(1);
        return Ok((None, uniform_nodes(pool.procs, cpus, find_parameter(spec, "whole").as_deref() == Some("yes"))));
    };
    let texts = input.site.as_ref().and_then(|site| Some(site.site.policy_texts(*site.pools.get(at)?, spec)));
    let own = texts.unwrap_or_default().into_iter().find(|(from, _)| from == path).map(|(_, to)| to);
    let path = own.unwrap_or_else(|| path.to_string());
    let text = flatten_file(&path).map_err(CommandFailure::usage_error)?;
    Ok((Some(path), text))
}

/// Names the numbers of a log's partitions as Slurm's policy takes them: in the order of the
/// configuration.
fn name_partitions(pool: &mut PoolPremises, conf: &SlurmConf) {
    for (partition, number) in conf.partitions.iter().zip(1..) {
        match pool.partitions.iter_mut().find(|premises| premises.number == number) {
            Some(premises) => premises.name.clone_from(&partition.name),
            None => pool.partitions.push(PartitionPremises { name: partition.name.clone(), number, own: number }),
        }
    }
}

/// Equal nodes, the last one smaller where that is needed.
fn uniform_nodes(procs: u32, cpus: u32, whole: bool) -> String {
    let select =
        if whole { "SelectType=select/linear" } else { "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU" };
    let (full, rest) = (procs / cpus, procs % cpus);
    let mut text = format!("{select}\n");
    if full > 0 {
        text.push_str(&format!("NodeName=n[1-{full}] CPUs={cpus}\n"));
    }
    if rest > 0 {
        text.push_str(&format!("NodeName=rest CPUs={rest}\n"));
    }
    text + "PartitionName=batch Nodes=ALL Default=YES\n"
}

fn build_premises(
    args: &WhatifArgs,
    input: &WorkloadInput,
    outages: &Outages,
    own_names: Option<&str>,
) -> Result<Premises, CommandFailure> {
    let workload = input.workload.clone();
    let mut users = BTreeMap::new();
    let mut accounts = BTreeMap::new();
    let mut qos = BTreeMap::new();
    let mut pools = Vec::new();
    let machine = workload.machine().procs;
    match &input.site {
        Some(site) => {
            let numbering = drystone_site::Numbering::from_site(&site.site);
            for (at, &pool) in site.pools.iter().enumerate() {
                let pool_names = parse_names(&numbering.name_lines(pool));
                let summary = &site.site.manifest.pools[usize::from(pool)];
                let share = input.pool_division().map(|division| &division.shares()[at]);
                let numbers: Vec<(i32, i32)> = match share {
                    Some(share) => share.partitions.clone(),
                    None => pool_names.partitions.iter().map(|(_, own)| (*own, *own)).chain([(-1, -1)]).collect(),
                };
                let name_of = |own: i32| {
                    pool_names.partitions.iter().find(|(_, own_number)| *own_number == own).map_or("", |(name, _)| name)
                };
                pools.push(PoolPremises {
                    name: summary.name.clone(),
                    procs: share.map_or(machine, |share| share.procs),
                    scale: share.map_or(1, |share| share.scale),
                    per_node: if summary.nodes > 0 { f64::from(summary.units) / f64::from(summary.nodes) } else { 1.0 }
                        .max(1.0),
                    partitions: numbers
                        .into_iter()
                        .map(|(number, own)| PartitionPremises { name: name_of(own).to_string(), number, own })
                        .collect(),
                    outages: share.map_or_else(|| outages.list().to_vec(), |share| share.outages.clone()),
                    conf: None,
                    layout: site.site.nodes_conf(pool),
                    names: own_names.map(std::fs::read_to_string).transpose().map_err(|error| {
                        CommandFailure::usage_error(format_args!(
                            "{}: cannot be read: {error}",
                            own_names.unwrap_or_default()
                        ))
                    })?,
                });
                let PoolNames { users: more_users, accounts: more_accounts, qos: more_qos, .. } = pool_names;
                users.extend(more_users);
                accounts.extend(more_accounts);
                qos.extend(more_qos);
            }
        }
        None => return Ok(Premises::of_log(workload, outages.list().to_vec(), f64::from(args.cpus))),
    }
    Ok(Premises { workload, pools, users, accounts, qos, limits: None, is_slurm: false, rules: None })
}
