//! `scontrol show licenses`: numbers of licences in all and free, those of licence servers among
//! them.

use super::run::Runner;
use crate::cluster::{ClusterError, LicenceFact};

/// Reads the cluster's licences.
pub(super) fn read_licences(run: &Runner) -> Result<Vec<LicenceFact>, ClusterError> {
    parse(&run.read_output("scontrol", &["-o", "show", "licenses"])?)
}

/// Reads a listing. Slurm prints a sentence where there are none.
fn parse(listing: &str) -> Result<Vec<LicenceFact>, ClusterError> {
    let lines = (1..).zip(listing.lines()).filter(|(_, line)| line.starts_with("LicenseName="));
    lines.map(|(number, line)| self::parse_line(number, line)).collect()
}

fn parse_line(number: usize, line: &str) -> Result<LicenceFact, ClusterError> {
    let field = |name: &str| {
        let mut fields = line.split_whitespace().filter_map(|field| field.split_once('='));
        fields.find(|(own, _)| *own == name).map(|(_, value)| value)
    };
    let count = |name: &str| {
        let value = field(name).and_then(|value| value.parse::<i64>().ok());
        // Some releases show a negative number as free, where more are in use than there are.
        value.map(|value| value.max(0).unsigned_abs()).ok_or_else(|| {
            let text = format!("scontrol show licenses: line {number} has no number behind `{name}=`: `{line}`");
            ClusterError::Garbled(text)
        })
    };
    let name = field("LicenseName").unwrap_or_default().to_string();
    Ok(LicenceFact { name, total: count("Total")?, free: count("Free")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As 22.05 and 24.05 print them.
    #[test]
    fn licences_are_read_with_those_of_servers() {
        let old = "LicenseName=matlab Total=4 Used=1 Free=2 Reserved=1 Remote=no\n";
        let new = "LicenseName=cad@flex Total=10 Used=3 Free=-1 Reserved=0 Remote=yes LastConsumed=8 LastDeficit=8 \
                   LastUpdate=2026-11-30T08:00:00\n";
        let licences = parse(&(old.to_string() + new)).expect("sound");
        let licence = |name: &str, total, free| LicenceFact { name: name.into(), total, free };
        assert_eq!(licences, [licence("matlab", 4, 2), licence("cad@flex", 10, 0)]);
        assert_eq!(parse("No licenses configured in Slurm.\n"), Ok(Vec::new()));
        let error = parse("LicenseName=matlab Total=four Used=1 Free=2\n").expect_err("no number");
        assert!(error.to_string().contains("line 1 has no number behind `Total=`"), "{error}");
    }
}
