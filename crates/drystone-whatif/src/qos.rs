//! Limits of QOS and accounts: in accounts, and as a table that `sacctmgr` would print.

use drystone_slurm::accounts::{AccountLimits, Accounts, Qos, Tres};
use std::fmt::Write;

/// Limits of a group, or most of one user or account: of resources and of those with names.
type Amounts<'a> = (&'a mut Tres, &'a mut Vec<(String, u64)>);

/// Sets the amounts that a text names, as sacctmgr does: all others stay.
fn merge_amounts((own, own_named): Amounts<'_>, (new, new_named): (&Tres, &[(String, u64)]), text: &str) {
    for name in text.split(',').filter_map(|part| part.split_once('=')).map(|(name, _)| name.trim()) {
        match name.to_ascii_lowercase().as_str() {
            "cpu" => own.cpu = new.cpu,
            "mem" => own.mem = new.mem,
            "node" => own.node = new.node,
            "gres/gpu" => own.gpu = new.gpu,
            "billing" => own.billing = new.billing,
            name => {
                own_named.retain(|(key, _)| key != name);
                own_named.extend(new_named.iter().filter(|(key, _)| key == name).cloned());
            }
        }
    }
}

/// The limits that a change names, as those of a QOS.
fn read_limits(limits: &[(String, String)], name: &str) -> Result<Qos, String> {
    let (mut head, mut row) = ("Name".to_string(), name.to_string());
    if !limits.iter().any(|(key, _)| key == "Priority") {
        head.push_str("|Priority");
        row.push_str("|0");
    }
    for (key, value) in limits {
        if !key.contains("TRES") && key != "Priority" && value.trim() == "0" {
            return Err(format!("{key}=0 lets no job run; give 1 or more, or -1 for no limit"));
        }
        let _ = write!(head, "|{key}");
        let _ = write!(row, "|{value}");
    }
    let accounts = Accounts::parse(&format!("{head}\n{row}\n"), "the change").map_err(|error| error.to_string())?;
    accounts.qos.into_iter().next().ok_or_else(|| "no QOS".to_string())
}

pub(super) fn set_account(own: &mut AccountLimits, limits: &[(String, String)]) -> Result<(), String> {
    let new = read_limits(limits, "change")?.limits;
    for (key, value) in limits {
        match key.as_str() {
            "GrpTRES" => merge_amounts((&mut own.grp_tres, &mut own.grp_named), (&new.grp_tres, &new.grp_named), value),
            "GrpJobs" => own.grp_jobs = new.grp_jobs,
            "MaxTRES" => merge_amounts((&mut own.max_tres, &mut Vec::new()), (&new.max_tres, &[]), value),
            "MaxJobs" => own.max_jobs = new.max_jobs,
            other => return Err(format!("{other} is not modelled")),
        }
    }
    Ok(())
}

/// Sets limits of a QOS, which is made where there is none.
pub(super) fn set_qos_limits(accounts: &mut Accounts, name: &str, limits: &[(String, String)]) -> Result<(), String> {
    let new = read_limits(limits, name)?;
    let at = accounts.find_qos(name).unwrap_or_else(|| {
        accounts.qos.push(Qos { name: name.to_string(), ..Qos::default() });
        accounts.qos.len() - 1
    });
    let own = &mut accounts.qos[at];
    for limit in limits {
        let (key, value) = limit;
        match key.as_str() {
            "MaxJobsPU" => own.max_jobs_user = new.max_jobs_user,
            "MaxTRESPU" => {
                let amounts = (&mut own.max_tres_user, &mut own.max_named_user);
                merge_amounts(amounts, (&new.max_tres_user, &new.max_named_user), value);
            }
            "MaxJobsPA" => own.max_jobs_account = new.max_jobs_account,
            "MaxTRESPA" => {
                let amounts = (&mut own.max_tres_account, &mut own.max_named_account);
                merge_amounts(amounts, (&new.max_tres_account, &new.max_named_account), value);
            }
            "MaxSubmitPU" => own.max_submit_user = new.max_submit_user,
            "MaxSubmitPA" => own.max_submit_account = new.max_submit_account,
            "Priority" => own.priority = new.priority,
            _ => set_account(&mut own.limits, std::slice::from_ref(limit))?,
        }
    }
    Ok(())
}

/// The most that a job may have by the limits of a QOS, alone on the machine.
pub(super) fn most_for_job(qos: &Qos) -> Tres {
    least_limits([&qos.limits.max_tres, &qos.limits.grp_tres, &qos.max_tres_user, &qos.max_tres_account])
}

/// The least of several limits, resource by resource.
pub(super) fn least_limits<'a>(limits: impl IntoIterator<Item = &'a Tres>) -> Tres {
    let mut most = Tres::default();
    for limit in limits {
        most.cpu = most.cpu.into_iter().chain(limit.cpu).min();
        most.node = most.node.into_iter().chain(limit.node).min();
        most.gpu = most.gpu.into_iter().chain(limit.gpu).min();
    }
    most
}

fn format_count(value: Option<u32>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn format_tres(tres: &Tres, extras: &[(String, u64)]) -> String {
    let Tres { cpu, node, mem, gpu, billing } = *tres;
    let parts = [("cpu", cpu), ("node", node), ("mem", mem), ("gres/gpu", gpu), ("billing", billing)];
    let words = parts.iter().filter_map(|(name, n)| Some(format!("{name}={}", (*n)?)));
    words.chain(extras.iter().map(|(name, n)| format!("{name}={n}"))).collect::<Vec<_>>().join(",")
}

/// Columns of limits that associations and QOS have in common.
const LIMITS: &str = "GrpTRES|GrpTRESRunMins|GrpJobs|GrpSubmit|MaxTRES|MaxJobs|MaxSubmit|MaxWall";

fn format_common(limits: &AccountLimits) -> String {
    [
        format_tres(&limits.grp_tres, &limits.grp_named),
        format_tres(&limits.grp_run_mins, &[]),
        format_count(limits.grp_jobs),
        format_count(limits.grp_submit),
        format_tres(&limits.max_tres, &[]),
        format_count(limits.max_jobs),
        format_count(limits.max_submit),
        limits.max_wall.map_or(String::new(), |minutes| minutes.to_string()),
    ]
    .join("|")
}

/// As tables that [`Accounts::parse`] reads.
pub(super) fn render_tables(accounts: &Accounts) -> String {
    let name = |at: usize| accounts.qos.get(at).map_or("", |qos| qos.name.as_str());
    let mut out = format!(
        "Name|Priority|GraceTime|PreemptExemptTime|UsageFactor|Flags|Preempt|PreemptMode|{LIMITS}|MaxTRESPU|MaxJobsPU|MaxSubmitPU|MaxTRESPA|MaxJobsPA|\
         MaxSubmitPA\n"
    );
    for qos in &accounts.qos {
        let over: Vec<&str> = qos.preempt.iter().map(|&at| name(at)).collect();
        let mode = match qos.preempt_mode {
            None => "cluster",
            Some(drystone_slurm::conf::PreemptMode::Off) => "off",
            Some(drystone_slurm::conf::PreemptMode::Requeue) => "requeue",
            Some(drystone_slurm::conf::PreemptMode::Cancel) => "cancel",
            Some(drystone_slurm::conf::PreemptMode::Suspend) => "suspend",
        };
        let flags = [(qos.no_reserve, "NoReserve"), (qos.over_partition, "OverPartQOS")];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set);
        let words = [
            qos.name.clone(),
            qos.priority.to_string(),
            qos.grace_seconds.to_string(),
            qos.exempt_seconds.map_or(String::new(), |seconds| seconds.to_string()),
            qos.usage_factor.to_string(),
            flags.map(|(_, name)| name).collect::<Vec<_>>().join(","),
            over.join(","),
            match (mode, qos.preempts_within) {
                (mode, false) => mode.to_string(),
                ("cluster", true) => "within".to_string(),
                (mode, true) => format!("{mode},within"),
            },
            format_common(&qos.limits),
            format_tres(&qos.max_tres_user, &qos.max_named_user),
            format_count(qos.max_jobs_user),
            format_count(qos.max_submit_user),
            format_tres(&qos.max_tres_account, &qos.max_named_account),
            format_count(qos.max_jobs_account),
            format_count(qos.max_submit_account),
        ];
        let _ = writeln!(out, "{}", words.join("|"));
    }
    let _ = writeln!(out, "Account|User|Partition|ParentName|Share|Priority|Def QOS|{LIMITS}");
    for assoc in &accounts.assocs {
        let parent = assoc.parent.and_then(|at| accounts.assocs.get(at)).map_or("", |parent| parent.account.as_str());
        let words = [
            assoc.account.clone(),
            assoc.user.clone(),
            assoc.partition.clone(),
            if assoc.user.is_empty() { parent.to_string() } else { String::new() },
            assoc.shares.map_or("parent".to_string(), |shares| shares.to_string()),
            assoc.priority.to_string(),
            assoc.default_qos.map_or(String::new(), |at| name(at).to_string()),
            format_common(&assoc.limits),
        ];
        let _ = writeln!(out, "{}", words.join("|"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_come_back_from_their_table() {
        let text = "Account|User|Partition|ParentName|Share|GrpTRES|GrpTRESRunMins|MaxJobs|Def QOS\nroot||||1||||\n\
                    physics|||root|3|cpu=64,mem=2000,billing=9,gres/gpu:a100=2|cpu=900||\n\
                    physics|ada|gpu||1|||4|long\nName|Priority|MaxTRESPU|MaxTRESPA|MaxWall|Preempt|PreemptMode|Flags|PreemptExemptTime\n\
                    normal|0|cpu=32,license/x=3|gres/gpu:a100=1|||||\n\
                    long|7|||3-0|normal|requeue|NoReserve,OverPartQOS|60\n";
        let accounts = Accounts::parse(text, "accounts").expect("valid");
        let again = Accounts::parse(&render_tables(&accounts), "again").expect("valid");
        assert_eq!((&again.qos, &again.assocs), (&accounts.qos, &accounts.assocs));
    }

    #[test]
    fn a_limit_is_set_beside_those_that_there_are() {
        let mut accounts = Accounts::parse("Name|Priority|MaxTRESPU\nnormal|5|cpu=32\n", "accounts").expect("valid");
        set_qos_limits(&mut accounts, "normal", &[("MaxJobsPU".to_string(), "10".to_string())]).expect("known");
        let own = &accounts.qos[0];
        assert_eq!((own.priority, own.max_tres_user.cpu, own.max_jobs_user), (5, Some(32), Some(10)));
        // As sacctmgr does: amounts that are not named stay, and -1 lifts one.
        let tres = |text: &str| [("MaxTRESPU".to_string(), text.to_string())];
        set_qos_limits(&mut accounts, "normal", &tres("gres/gpu=4,gres/gpu:a100=2")).expect("known");
        let own = &accounts.qos[0];
        assert_eq!((own.max_tres_user.cpu, own.max_tres_user.gpu), (Some(32), Some(4)));
        assert_eq!(own.max_named_user, [("gres/gpu:a100".to_string(), 2)]);
        set_qos_limits(&mut accounts, "normal", &tres("cpu=-1")).expect("known");
        assert_eq!((accounts.qos[0].max_tres_user.cpu, accounts.qos[0].max_tres_user.gpu), (None, Some(4)));
        set_qos_limits(&mut accounts, "long", &[("GrpTRES".to_string(), "cpu=8".to_string())]).expect("made");
        assert_eq!(accounts.qos[1].limits.grp_tres.cpu, Some(8));
    }
}
