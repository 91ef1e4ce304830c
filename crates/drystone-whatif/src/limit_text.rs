//! Limits of QOS and accounts in the texts of changes: `vision: GrpTRES=gres/gpu=16`.

use super::scan::{Scan, SiteChangeError};
use drystone::text::find_nearest;
use drystone_slurm::accounts::Tres;

/// Limits of a QOS that the model of Slurm knows, as `sacctmgr` calls them.
pub(super) const QOS_LIMITS: [&str; 10] = [
    "MaxJobsPU",
    "MaxTRESPU",
    "MaxJobsPA",
    "MaxTRESPA",
    "MaxSubmitPU",
    "MaxSubmitPA",
    "GrpTRES",
    "GrpJobs",
    "MaxTRES",
    "Priority",
];

/// Limits of an account that the model of Slurm knows.
pub(super) const ACCOUNT_LIMITS: [&str; 4] = ["GrpTRES", "GrpJobs", "MaxTRES", "MaxJobs"];

/// Reads a name and its limits, which are among those that are known.
pub(super) fn read_limits(
    scan: &mut Scan<'_>,
    subject: &str,
    limit_names: &[&'static str],
) -> Result<(String, Vec<(String, String)>), SiteChangeError> {
    let name = scan.read_place(subject)?;
    let mut limits: Vec<(String, String)> = Vec::new();
    while !scan.is_done() {
        let (from, key) = scan.read_word(|c| c == '=');
        let Some(&limit) = limit_names.iter().find(|limit| limit.eq_ignore_ascii_case(&key)) else {
            let near = find_nearest(&key, limit_names.iter().copied())
                .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(
                scan.error_at(from, format!("expected a limit of {subject}, one of {}{near}", limit_names.join(", ")))
            );
        };
        if !scan.take_char('=') {
            return Err(scan.error_at(scan.position(), format!("expected `=` behind `{limit}`")));
        }
        let (from, value) = scan.read_word(|_| false);
        let fine = match limit.contains("TRES") {
            true => is_amount(limit, &value),
            false => value == "-1" || value.parse::<u32>().is_ok(),
        };
        if !fine {
            let shape = if limit.contains("TRES") { "resources such as cpu=64,node=4" } else { "a whole number" };
            return Err(scan.error_at(from, format!("expected {shape}")));
        }
        limits.push((limit.to_string(), value));
    }
    match limits.is_empty() {
        true => Err(scan.error_at(
            scan.position(),
            format!(
                "expected limits such as {}=10",
                limit_names.iter().find(|key| !key.contains("TRES")).unwrap_or(&limit_names[0])
            ),
        )),
        false => Ok((name, limits)),
    }
}

/// Returns whether a text gives amounts of resources that a limit bounds: `cpu=64,node=4`. Limits
/// of groups also bound devices of a type and licences.
fn is_amount(limit: &str, value: &str) -> bool {
    let has_name = |name: &String| {
        let name = name.to_ascii_lowercase();
        limit != "MaxTRES" && (name.starts_with("gres/") || name.starts_with("license/"))
    };
    let is_number = |amount: &str| {
        let parse_amount = || Tres::parse(&format!("cpu={amount}"));
        amount == "-1" || parse_amount().is_ok_and(|(tres, _)| tres.cpu.is_some())
    };
    let is_size = |amount: &str| {
        let parse_size = || Tres::parse(&format!("mem={amount}"));
        parse_size().is_ok_and(|(tres, _)| tres.mem.is_some())
    };
    let has_amount = |part: &str| match part.split_once('=') {
        Some((name, amount)) => is_number(amount) || name.trim().eq_ignore_ascii_case("mem") && is_size(amount),
        None => false,
    };
    let numbers = value.split(',').all(has_amount);
    numbers && Tres::parse(value).is_ok_and(|(_, rest)| rest.iter().all(has_name))
}
