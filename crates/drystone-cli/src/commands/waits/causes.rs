//! Causes of recorded waits for people, each with the command that answers to it.

use crate::output::document::{DocumentTable, TableValue};
use crate::output::number::{NONE, format_duration, format_percent, format_plural};
use drystone_site::Site;
use drystone_site::waits::{SiteWaits, WaitCause, WaitCauseKind};
use std::fmt::Write;
use std::path::Path;

/// Causes of a smaller share of all waiting are shown together.
const SMALL: f64 = 0.005;
/// Causes of at least this share of all waiting have a sentence on the page.
const LARGE: f64 = 0.05;
/// Most causes of the short form, and most commands.
const SHOWN: usize = 5;
const STEPS: usize = 4;
/// Nodes to add where the machine has fewer than ten.
const FEW_NODES: u32 = 10;

/// A command for one of the causes, by its number in the table.
#[derive(PartialEq)]
pub(crate) struct CauseStep {
    number: usize,
    command: StepCommand,
}

/// Words of a command of this program, and a remark behind them.
#[derive(PartialEq)]
struct StepCommand {
    words: Vec<String>,
    remark: &'static str,
}

impl StepCommand {
    fn new<const N: usize>(words: [&str; N]) -> StepCommand {
        StepCommand { words: words.map(str::to_string).to_vec(), remark: "" }
    }

    fn with_remark(self, remark: &'static str) -> StepCommand {
        StepCommand { remark, ..self }
    }
}

impl CauseStep {
    /// Returns the number of the cause in the table.
    #[cfg(all(unix, feature = "live"))]
    pub(crate) fn cause_number(&self) -> usize {
        self.number
    }

    /// Returns the words behind the program's name.
    #[cfg(all(unix, feature = "live"))]
    pub(crate) fn command_words(&self) -> &[String] {
        &self.command.words
    }

    pub(crate) fn shell_command(&self) -> String {
        let StepCommand { words, remark } = &self.command;
        let words: Vec<String> = words.iter().map(|word| shell_quoted(word)).collect();
        let remark = if remark.is_empty() { String::new() } else { format!("     # {remark}") };
        format!("drystone {}{remark}", words.join(" "))
    }

    fn format_line(&self) -> String {
        format!("{}  {}", self.number, self.shell_command())
    }
}

pub(crate) fn cause_words(cause: &WaitCause) -> String {
    let WaitCause { of, limit, reason, .. } = cause;
    let holder = |holder_kind: &str| match (of.as_str(), limit.as_str()) {
        ("", "") => format!("limit of a {holder_kind} ({reason})"),
        (of, "") => format!("limit of {holder_kind} {of} ({reason})"),
        (of, limit) => format!("limit {limit} of {holder_kind} {of}"),
    };
    let beside = |words: &str| format!("{words} ({reason})");
    match cause.kind {
        WaitCauseKind::QosLimit => holder("QOS"),
        WaitCauseKind::AssocLimit if !cause.of_user.is_empty() => {
            holder("account").replacen(&format!("account {of}"), &format!("user {} in account {of}", cause.of_user), 1)
        }
        WaitCauseKind::AssocLimit => holder("account"),
        WaitCauseKind::Partition => format!("partition {of} ({reason})"),
        WaitCauseKind::NoRoom => "no room (too little is free)".to_string(),
        WaitCauseKind::RoomByCount => "order or layout (enough is free)".to_string(),
        WaitCauseKind::Dependency => beside("other jobs"),
        WaitCauseKind::Hold => beside("held"),
        WaitCauseKind::BeginTime => beside("a later time"),
        WaitCauseKind::ArrayLimit => beside("own limit of arrays"),
        WaitCauseKind::Licences if of.is_empty() => beside("licences"),
        WaitCauseKind::Licences => beside(&format!("licence {of}")),
        WaitCauseKind::NodesOut => beside("nodes out or reserved"),
        WaitCauseKind::Other => reason.clone(),
    }
}

/// One sentence before the causes.
pub(crate) fn format_headline(waits: &SiteWaits) -> Option<String> {
    let first = waits.causes.first()?;
    let mut text = format!(
        "{} of waiting in all by {}: {} {}",
        format_duration(waits.seconds),
        format_plural(waits.all.jobs, "job"),
        format_percent(Some(first.share), 0),
        cause_words(first)
    );
    if first.free_seconds > 0.0 && first.kind != WaitCauseKind::RoomByCount {
        let share = format_percent(Some(first.free_seconds / first.seconds), 0);
        let _ = write!(text, ", {share} of it while enough is free");
    }
    text.push('.');
    if !waits.has_reasons {
        text.push_str(" No reasons are recorded (column Reason of sacct): causes follow from what ran.");
    }
    Some(text)
}

/// The sentences that a page begins with: the first cause, and each other one that is large.
pub(super) fn page_sentences(waits: &SiteWaits) -> Vec<String> {
    let large = waits.causes.iter().take(SHOWN).skip(1).filter(|cause| cause.share >= LARGE);
    let other_causes = large.map(|cause| {
        let (share, jobs) = (format_percent(Some(cause.share), 0), format_plural(cause.jobs, "job"));
        format!("{share} {}: {jobs}, {} on average.", cause_words(cause), format_duration(cause.mean))
    });
    format_headline(waits).into_iter().chain(other_causes).collect()
}

/// Causes, numbered, the largest first.
pub(crate) fn causes_table(waits: &SiteWaits, whole: bool) -> DocumentTable {
    let mut table = DocumentTable::new(["", "waits for", "of all", "jobs", "mean", "median", "95%", "most by"])
        .with_text_columns(&[0, 1, 7]);
    let worth = waits.causes.iter().take_while(|cause| whole || cause.share >= SMALL).count();
    let shown_count = if whole { worth } else { worth.clamp(1, SHOWN) };
    for (at, cause) in waits.causes.iter().take(shown_count).enumerate() {
        let user = match cause.user.as_str() {
            "" => NONE.to_string(),
            user => format!("{user} {}", format_percent(Some(cause.user_share), 0)),
        };
        table.add_row(vec![
            (at + 1).to_string().into(),
            cause_words(cause).into(),
            TableValue::from_number(Some(cause.share), |share| format_percent(Some(share), 0)),
            TableValue::from_count(cause.jobs),
            TableValue::from_number(Some(cause.mean), format_duration),
            TableValue::from_number(Some(cause.median), format_duration),
            TableValue::from_number(Some(cause.p95), format_duration),
            user.into(),
        ]);
    }
    let rest = waits.causes.get(shown_count..).unwrap_or_default();
    if !rest.is_empty() {
        let share: f64 = rest.iter().map(|cause| cause.share).sum();
        let jobs = rest.iter().map(|cause| cause.jobs).sum();
        let words = format!("{} more", rest.len());
        let share = TableValue::from_number(Some(share), |share| format_percent(Some(share), 1));
        table.add_row(vec!["".into(), words.into(), share, TableValue::from_count(jobs)]);
    }
    table
}

/// The commands for the first causes, each on a line of its own with the number of its cause.
pub(crate) fn steps_text(steps: &[CauseStep]) -> String {
    let lines: Vec<String> = steps.iter().map(CauseStep::format_line).collect();
    format!("Next, by cause:\n{}", lines.join("\n"))
}

/// Returns the command that answers to each of the first causes; equal ones once.
pub(crate) fn cause_steps(waits: &SiteWaits, site: &Site, path: &Path) -> Vec<CauseStep> {
    let mut steps: Vec<CauseStep> = Vec::new();
    for (at, cause) in waits.causes.iter().enumerate().take(SHOWN) {
        if at > 0 && cause.share < 2.0 * SMALL {
            break;
        }
        let command = command_for(cause, site, &path.display().to_string());
        if steps.len() < STEPS && steps.iter().all(|step| step.command != command) {
            steps.push(CauseStep { number: at + 1, command });
        }
    }
    steps
}

fn command_for(cause: &WaitCause, site: &Site, path: &str) -> StepCommand {
    let explain = || match site.slurm_conf() {
        Some(_) => StepCommand::new(["explain", path, "--job", &cause.job]),
        None => StepCommand::new(["explain", path, "--job", &cause.job, "--policy", "easy"]),
    };
    let larger = |option: &str| {
        let limit = double_limit(&cause.limit)?;
        Some(StepCommand::new(["whatif", path, option, &format!("{}: {limit}", cause.of)]))
    };
    match cause.kind {
        WaitCauseKind::QosLimit | WaitCauseKind::AssocLimit if site.manifest.limits == 0 => {
            StepCommand::new(["import", "--ask"]).with_remark("QOS and associations are not imported")
        }
        WaitCauseKind::QosLimit => {
            larger("--qos-limit").unwrap_or_else(|| StepCommand::new(["advise", path, "--only", "limits"]))
        }
        WaitCauseKind::AssocLimit if is_of_account(cause, site) => larger("--account-limit").unwrap_or_else(explain),
        WaitCauseKind::NoRoom => more_nodes(cause.pool, site, path),
        WaitCauseKind::RoomByCount if site.slurm_conf().is_some() => StepCommand::new(["advise", path, "--check"]),
        WaitCauseKind::Dependency | WaitCauseKind::Hold | WaitCauseKind::BeginTime | WaitCauseKind::ArrayLimit => {
            StepCommand::new(["waits", path, "--by", "user,reason"]).with_remark("their users decide")
        }
        WaitCauseKind::NodesOut if site.losses.is_empty() => {
            StepCommand::new(["import", "--ask"]).with_remark("events and reservations are not imported")
        }
        _ => explain(),
    }
}

/// Returns whether the account of a cause has limits of its own, beside those of its users.
fn is_of_account(cause: &WaitCause, site: &Site) -> bool {
    let accounts = site.accounts().filter(|_| cause.of_user.is_empty());
    let own = accounts
        .as_ref()
        .and_then(|site_accounts| Some(&site_accounts.assocs[site_accounts.find_assoc(&cause.of, "")?].limits));
    own.is_some_and(|own| match cause.limit.split_once('=').map(|(field, _)| field) {
        Some("GrpTRES") => !own.grp_tres.is_empty() || !own.grp_named.is_empty(),
        Some("GrpJobs") => own.grp_jobs.is_some(),
        _ => false,
    })
}

/// A limit of a QOS or an account that `whatif` can change, twice as large.
fn double_limit(limit: &str) -> Option<String> {
    if ["MaxWall", "MaxJobs=", "MaxSubmit=", "GrpSubmit"].iter().any(|field| limit.starts_with(field)) {
        return None;
    }
    let (field, value) = limit.rsplit_once('=')?;
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number = digits.parse::<u64>().ok()?.checked_mul(2)?;
    Some(format!("{field}={number}{}", &value[digits.len()..]))
}

/// A tenth more nodes of the pool, at least one.
fn more_nodes(pool: u16, site: &Site, path: &str) -> StepCommand {
    let pools = &site.manifest.pools;
    let Some(pool) = pools.get(usize::from(pool)) else { return StepCommand::new(["whatif", path, "--nodes", "+10%"]) };
    let nodes = if pool.nodes > 0 { pool.nodes } else { pool.units };
    let amount = if nodes < FEW_NODES { "+1" } else { "+10%" };
    if pools.len() == 1 || path.contains('#') {
        return StepCommand::new(["whatif", path, "--nodes", amount]);
    }
    let plain = !pool.name.contains(|c: char| c.is_whitespace() || ":;,/=<>".contains(c));
    let name = if plain { pool.name.clone() } else { format!("\"{}\"", pool.name) };
    StepCommand::new(["whatif", path, "--change", &format!("nodes {name}:{amount}")])
}

pub(super) fn shell_quoted(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "/._-+%:#@,=~".contains(c));
    if plain { word.to_string() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_doubled_as_sacctmgr_writes_them() {
        for (limit, double) in [
            ("MaxTRESPU=cpu=12", Some("MaxTRESPU=cpu=24")),
            ("GrpTRES=gres/gpu=4", Some("GrpTRES=gres/gpu=8")),
            ("MaxTRESPA=mem=64000M", Some("MaxTRESPA=mem=128000M")),
            ("MaxJobsPU=10", Some("MaxJobsPU=20")),
            ("MaxJobs=10", None),
            ("", None),
        ] {
            assert_eq!(double_limit(limit).as_deref(), double, "{limit}");
        }
    }

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(shell_quoted("site/#gpu"), "site/#gpu");
        assert_eq!(shell_quoted("normal: MaxJobsPU=2"), "'normal: MaxJobsPU=2'");
        assert_eq!(shell_quoted("it's"), "'it'\\''s'");
    }
}
