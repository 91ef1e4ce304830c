//! Keys and values of associations and QOS.

use super::{AccountLimits, Accounts, Assoc, Qos, Tres};
use crate::conf::{PreemptWords, parse_minutes, parse_seconds};
use std::collections::BTreeMap;

type FieldKeys = BTreeMap<String, String>;

/// The value of the first of these keys that has one.
fn field_text<'a>(keys: &'a FieldKeys, names: &[&str]) -> Option<&'a str> {
    let first_value = names.iter().find_map(|name| keys.get(*name));
    first_value.map(|value| value.trim().trim_matches('\'').trim_matches('"')).filter(|value| !value.is_empty())
}

/// A count; `-1` is none.
fn parse_count(keys: &FieldKeys, names: &[&str]) -> Result<Option<u32>, String> {
    match field_text(keys, names) {
        None | Some("-1") => Ok(None),
        Some(value) => {
            value.parse().map(Some).map_err(|_| format!("{}: `{value}` is no count; expected a whole number", names[0]))
        }
    }
}

/// Resources; what the model does not know goes to `left_out`.
fn parse_tres(keys: &FieldKeys, names: &[&str], line: usize, left_out: &mut Vec<String>) -> Result<Tres, String> {
    let Some(value) = field_text(keys, names) else { return Ok(Tres::default()) };
    let (tres, leftovers) = Tres::parse(value).map_err(|problem| format!("{}: {problem}", names[0]))?;
    leftovers.iter().for_each(|resource| leave_out(&format!("{}={resource}", names[0]), line, left_out));
    Ok(tres)
}

/// Resources of a limit that jobs share, and those of them that have names of their own.
fn shared_tres(
    keys: &FieldKeys,
    names: &[&str],
    line: usize,
    left_out: &mut Vec<String>,
) -> Result<(Tres, Vec<(String, u64)>), String> {
    let Some(value) = field_text(keys, names) else { return Ok((Tres::default(), Vec::new())) };
    let (tres, leftovers) = Tres::parse(value).map_err(|problem| format!("{}: {problem}", names[0]))?;
    let named_resources = Tres::parse_named(value);
    let is_named = |resource: &String| named_resources.iter().any(|(name, _)| name.eq_ignore_ascii_case(resource));
    let is_unlimited =
        |resource: &String| value.to_ascii_lowercase().contains(&format!("{}=-1", resource.to_ascii_lowercase()));
    for resource in leftovers.iter().filter(|resource| !is_named(resource) && !is_unlimited(resource)) {
        leave_out(&format!("{}={resource}", names[0]), line, left_out);
    }
    Ok((tres, named_resources))
}

/// Notes what is not modelled, once for all lines that have it.
fn leave_out(subject: &str, line: usize, left_out: &mut Vec<String>) {
    let remark = format!(": {subject}: not modelled");
    if !left_out.iter().any(|own| own.ends_with(&remark)) {
        left_out.push(format!("line {line}{remark}"));
    }
}

/// Older names of limits on processors and nodes beside the new one.
fn with_old(mut tres: Tres, keys: &FieldKeys, cpus: &[&str], nodes: &[&str]) -> Result<Tres, String> {
    tres.cpu = tres.cpu.or(parse_count(keys, cpus)?.map(u64::from));
    tres.node = tres.node.or(parse_count(keys, nodes)?.map(u64::from));
    Ok(tres)
}

fn parse_limits(keys: &FieldKeys, line: usize, left_out: &mut Vec<String>) -> Result<AccountLimits, String> {
    for name in LEFT_OUT.iter().filter(|name| field_text(keys, &[name]).is_some_and(|value| value != "-1")) {
        leave_out(name, line, left_out);
    }
    let wall = field_text(keys, &["maxwall", "maxwalldurationperjob", "maxwalldurationperjo", "maxwallduration"]);
    let max_wall = match wall {
        None | Some("-1") => None,
        Some(value) => parse_minutes(value).map_err(|problem| format!("MaxWall: {problem}"))?,
    };
    let (grp, grp_named) = shared_tres(keys, &["grptres"], line, left_out)?;
    let mut grp_run_mins = parse_tres(keys, &["grptresrunmins"], line, left_out)?;
    grp_run_mins.cpu = grp_run_mins.cpu.or(parse_count(keys, &["grpcpurunmins"])?.map(u64::from));
    let max = parse_tres(keys, &["maxtres", "maxtresperjob", "maxtrespj"], line, left_out)?;
    Ok(AccountLimits {
        grp_tres: with_old(grp, keys, &["grpcpus"], &["grpnodes"])?,
        grp_named,
        grp_run_mins,
        grp_jobs: parse_count(keys, &["grpjobs"])?,
        grp_submit: parse_count(keys, &["grpsubmit", "grpsubmitjobs"])?,
        max_tres: with_old(max, keys, &["maxcpus", "maxcpusperjob"], &["maxnodes", "maxnodesperjob"])?,
        max_jobs: parse_count(keys, &["maxjobs"])?,
        max_submit: parse_count(keys, &["maxsubmit", "maxsubmitjobs"])?,
        max_wall,
    })
}

/// Limits that change what runs and are not modelled. `MaxTRESRunMins` of users and accounts is
/// not among them: Slurm stores it and enforces nothing.
const LEFT_OUT: &[&str] = &[
    "grpwall",
    "grptresmins",
    "grpcpumins",
    "maxtresmins",
    "maxcpumins",
    "maxtrespernode",
    "mintres",
    "maxjobsaccrue",
    "grpjobsaccrue",
    "minpriothreshold",
    "minpriothresh",
    "limitfactor",
    "maxjobsaccruepu",
    "maxjobsaccrueperuser",
    "maxjobsaccruepa",
    "maxjobsaccrueperaccount",
    "usagethres",
    "usagethreshold",
];

/// Flags of a QOS that change what runs and are not modelled.
const FLAGS_LEFT_OUT: &[&str] = &[
    "nodecay",
    "enforceusagethreshold",
    "partitionminnodes",
    "partitionmaxnodes",
    "partitiontimelimit",
    "requiresreservation",
];

pub(super) fn parse_assoc(keys: &FieldKeys, line: usize, accounts: &mut Accounts) -> Result<Assoc, String> {
    let shares = match field_text(keys, &["share", "fairshare", "shares"]) {
        None => Some(1),
        Some(word) if word.eq_ignore_ascii_case("parent") => None,
        Some(number) => {
            Some(number.parse().map_err(|_| format!("Fairshare: `{number}` is neither a whole number nor `parent`"))?)
        }
    };
    let default_qos = match field_text(keys, &["def qos", "defaultqos"]) {
        None => None,
        Some(name) => match accounts.find_qos(name) {
            // A table of associations alone: of QOS nothing is known.
            None if accounts.qos.is_empty() => {
                let remark = format!("the default QOS {name}: no table of QOS is here, so it counts without limits");
                if !accounts.left_out.contains(&remark) {
                    accounts.left_out.push(remark);
                }
                None
            }
            position => Some(position.ok_or_else(|| format!("the QOS {name} is nowhere in this file"))?),
        },
    };
    let limits = parse_limits(keys, line, &mut accounts.left_out)?;
    let priority = parse_count(keys, &["priority"])?.unwrap_or(0);
    Ok(Assoc { shares, priority, limits, default_qos, ..Assoc::default() })
}

/// The QOS without its limits of resources, which count per cent and not processors.
fn without_amounts(qos: Qos) -> Qos {
    let AccountLimits { grp_jobs, grp_submit, max_jobs, max_submit, max_wall, .. } = qos.limits;
    let limits = AccountLimits { grp_jobs, grp_submit, max_jobs, max_submit, max_wall, ..AccountLimits::default() };
    let (max_named_user, max_named_account) = (Vec::new(), Vec::new());
    let (max_tres_user, max_tres_account) = (Tres::default(), Tres::default());
    Qos { limits, max_tres_user, max_named_user, max_tres_account, max_named_account, ..qos }
}

/// A QOS, and the names of those that it may preempt.
pub(super) fn parse_qos(
    keys: &FieldKeys,
    line: usize,
    left_out: &mut Vec<String>,
) -> Result<(Qos, Vec<String>), String> {
    let flags = field_text(keys, &["flags"]).unwrap_or_default().to_ascii_lowercase();
    let flag = |name: &str| flags.split(',').any(|flag| flag.trim() == name);
    for name in FLAGS_LEFT_OUT.iter().filter(|name| flag(name)) {
        leave_out(&format!("flags={name}"), line, left_out);
    }
    let relative = flag("relative");
    if relative {
        leave_out("flags=relative, limits in per cent of the resources", line, left_out);
    }
    let words = match field_text(keys, &["preemptmode"]) {
        None => PreemptWords::default(),
        Some(word) if word.eq_ignore_ascii_case("cluster") => PreemptWords::default(),
        Some(word) => PreemptWords::parse_words(word).map_err(|problem| format!("PreemptMode: {problem}"))?,
    };
    // A number alone counts seconds here.
    let time = |key: &str, name: &str| -> Result<Option<i64>, String> {
        match field_text(keys, &[key]) {
            None | Some("-1") => Ok(None),
            Some(value) => match value.parse::<i64>() {
                Ok(number) => Ok(Some(number)),
                Err(_) => {
                    let parsed_seconds = parse_seconds(value).map_err(|problem| format!("{name}: {problem}"))?;
                    Ok(Some(parsed_seconds.unwrap_or(i64::from(u32::MAX))))
                }
            },
        }
    };
    let grace = time("gracetime", "GraceTime")?.unwrap_or(0);
    let is_limited = |value: &i64| *value != i64::from(u32::MAX);
    let exempt_seconds = time("preemptexempttime", "PreemptExemptTime")?.filter(is_limited);
    let factor = field_text(keys, &["usagefactor"]).map_or(Ok(1.0), str::parse);
    let factor: f64 = factor.map_err(|_| "UsageFactor: no number".to_string())?;
    let preempt = field_text(keys, &["preempt"]).unwrap_or_default();
    let (per_user, max_named_user) = shared_tres(keys, &["maxtrespu", "maxtresperuser"], line, left_out)?;
    let (max_tres_account, max_named_account) = shared_tres(keys, &["maxtrespa", "maxtresperaccount"], line, left_out)?;
    let qos = Qos {
        name: field_text(keys, &["name"]).unwrap_or_default().to_string(),
        priority: parse_count(keys, &["priority"])?.unwrap_or(0),
        limits: parse_limits(keys, line, left_out)?,
        max_tres_user: with_old(per_user, keys, &["maxcpusperuser"], &["maxnodesperuser"])?,
        max_named_user,
        max_jobs_user: parse_count(keys, &["maxjobspu", "maxjobsperuser"])?,
        max_submit_user: parse_count(keys, &["maxsubmitpu", "maxsubmitjobsperuser", "maxsubmitjobspu"])?,
        max_tres_account,
        max_named_account,
        max_jobs_account: parse_count(keys, &["maxjobspa", "maxjobsperaccount"])?,
        max_submit_account: parse_count(keys, &["maxsubmitpa", "maxsubmitjobsperaccount", "maxsubmitjobspa"])?,
        preempt: Vec::new(),
        preempt_mode: words.job_fate(),
        grace_seconds: grace,
        usage_factor: if factor < 0.0 { 1.0 } else { factor },
        no_reserve: flag("noreserve"),
        over_partition: flag("overpartqos"),
        exempt_seconds,
        preempts_within: words.within,
    };
    let qos = if relative { without_amounts(qos) } else { qos };
    let list = preempt.split(',').map(str::trim).filter(|name| !name.is_empty());
    Ok((qos, list.map(String::from).collect()))
}
