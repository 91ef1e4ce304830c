//! Limits of QOS: in accounts, and as a table that `sacctmgr` would print.

use drystone_slurm::accounts::{AccountLimits, Accounts, Qos, Tres};
use std::fmt::Write;

/// Sets limits of a QOS, which is made where there is none.
pub(super) fn set(accounts: &mut Accounts, name: &str, limits: &[(String, String)]) -> Result<(), String> {
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
    let said = Accounts::parse(&format!("{head}\n{row}\n"), "the change").map_err(|error| error.to_string())?;
    let said = said.qos.into_iter().next().ok_or_else(|| "no QOS".to_string())?;
    let at = accounts.find_qos(name).unwrap_or_else(|| {
        accounts.qos.push(Qos { name: name.to_string(), ..Qos::default() });
        accounts.qos.len() - 1
    });
    let own = &mut accounts.qos[at];
    for (key, _) in limits {
        match key.as_str() {
            "MaxJobsPU" => own.max_jobs_user = said.max_jobs_user,
            "MaxTRESPU" => own.max_tres_user = said.max_tres_user,
            "MaxJobsPA" => own.max_jobs_account = said.max_jobs_account,
            "MaxTRESPA" => own.max_tres_account = said.max_tres_account,
            "MaxSubmitPU" => own.max_submit_user = said.max_submit_user,
            "MaxSubmitPA" => own.max_submit_account = said.max_submit_account,
            "GrpTRES" => own.limits.grp_tres = said.limits.grp_tres,
            "GrpJobs" => own.limits.grp_jobs = said.limits.grp_jobs,
            "MaxTRES" => own.limits.max_tres = said.limits.max_tres,
            "Priority" => own.priority = said.priority,
            other => return Err(format!("{other} is not modelled")),
        }
    }
    Ok(())
}

/// The most that a job may have by the limits of a QOS, alone on the machine.
pub(super) fn alone(qos: &Qos) -> Tres {
    let mut most = Tres::default();
    for limit in [&qos.limits.max_tres, &qos.limits.grp_tres, &qos.max_tres_user, &qos.max_tres_account] {
        most.cpu = most.cpu.into_iter().chain(limit.cpu).min();
        most.node = most.node.into_iter().chain(limit.node).min();
        most.gpu = most.gpu.into_iter().chain(limit.gpu).min();
    }
    most
}

fn count(value: Option<u32>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn tres(tres: &Tres) -> String {
    let parts = [("cpu", tres.cpu), ("node", tres.node), ("mem", tres.mem), ("gres/gpu", tres.gpu)];
    let words: Vec<String> = parts.iter().filter_map(|(name, n)| Some(format!("{name}={}", (*n)?))).collect();
    words.join(",")
}

/// Columns of limits that associations and QOS have in common.
const LIMITS: &str = "GrpTRES|GrpJobs|GrpSubmit|MaxTRES|MaxJobs|MaxSubmit|MaxWall";

fn common(limits: &AccountLimits) -> String {
    [
        tres(&limits.grp_tres),
        count(limits.grp_jobs),
        count(limits.grp_submit),
        tres(&limits.max_tres),
        count(limits.max_jobs),
        count(limits.max_submit),
        limits.max_wall.map_or(String::new(), |minutes| minutes.to_string()),
    ]
    .join("|")
}

/// As tables that [`Accounts::parse`] reads.
pub(super) fn table(accounts: &Accounts) -> String {
    let name = |at: usize| accounts.qos.get(at).map_or("", |qos| qos.name.as_str());
    let mut out = format!(
        "Name|Priority|GraceTime|UsageFactor|Flags|Preempt|PreemptMode|{LIMITS}|MaxTRESPU|MaxJobsPU|MaxSubmitPU|MaxTRESPA|MaxJobsPA|\
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
        let words = [
            qos.name.clone(),
            qos.priority.to_string(),
            qos.grace_seconds.to_string(),
            qos.usage_factor.to_string(),
            if qos.no_reserve { "NoReserve".to_string() } else { String::new() },
            over.join(","),
            mode.to_string(),
            common(&qos.limits),
            tres(&qos.max_tres_user),
            count(qos.max_jobs_user),
            count(qos.max_submit_user),
            tres(&qos.max_tres_account),
            count(qos.max_jobs_account),
            count(qos.max_submit_account),
        ];
        let _ = writeln!(out, "{}", words.join("|"));
    }
    let _ = writeln!(out, "Account|User|ParentName|Share|Priority|Def QOS|{LIMITS}");
    for assoc in &accounts.assocs {
        let parent = assoc.parent.and_then(|at| accounts.assocs.get(at)).map_or("", |parent| parent.account.as_str());
        let words = [
            assoc.account.clone(),
            assoc.user.clone(),
            if assoc.user.is_empty() { parent.to_string() } else { String::new() },
            assoc.shares.map_or("parent".to_string(), |shares| shares.to_string()),
            assoc.priority.to_string(),
            assoc.default_qos.map_or(String::new(), |at| name(at).to_string()),
            common(&assoc.limits),
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
        let text = "Account|User|ParentName|Share|GrpTRES|MaxJobs|Def QOS\nroot|||1|||\nphysics||root|3|cpu=64,mem=2000||\n\
                    physics|ada||1||4|long\nName|Priority|MaxTRESPU|MaxWall|Preempt|PreemptMode|Flags\nnormal|0|cpu=32||||\n\
                    long|7||3-0|normal|requeue|NoReserve\n";
        let accounts = Accounts::parse(text, "accounts").expect("valid");
        let again = Accounts::parse(&table(&accounts), "again").expect("valid");
        assert_eq!((&again.qos, &again.assocs), (&accounts.qos, &accounts.assocs));
    }

    #[test]
    fn a_limit_is_set_beside_those_that_there_are() {
        let mut accounts = Accounts::parse("Name|Priority|MaxTRESPU\nnormal|5|cpu=32\n", "accounts").expect("valid");
        set(&mut accounts, "normal", &[("MaxJobsPU".to_string(), "10".to_string())]).expect("known");
        let own = &accounts.qos[0];
        assert_eq!((own.priority, own.max_tres_user.cpu, own.max_jobs_user), (5, Some(32), Some(10)));
        set(&mut accounts, "long", &[("GrpTRES".to_string(), "cpu=8".to_string())]).expect("made");
        assert_eq!(accounts.qos[1].limits.grp_tres.cpu, Some(8));
    }
}
