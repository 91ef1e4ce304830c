//! Format of a file that is no log in Standard Workload Format, recognised by its first line.

/// Fewer fields than this may stand there by chance.
const FIELDS: usize = 4;

/// Format that a first line suggests, if it is no record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Foreign {
    /// Output of `sacct --parsable` or `--parsable2`: fields separated by `|`, or by the
    /// `--delimiter`.
    Sacct,
    /// Output of `sacct` without these options: columns of fixed width, in which long values are
    /// cut.
    SacctColumns,
    /// Output of `sacct --json`, or other JSON.
    Json,
    /// Records of PBS or Torque: `04/13/2026 08:00:00;E;123.server;…`.
    Pbs,
    /// Records of LSF: `"JOB_FINISH" …`.
    Lsf,
    /// Output of Slurm's job completion plugin and `scontrol show job`: `JobId=… UserId=…`.
    JobCompletion,
    /// A `slurm.conf`, or another file of keys and values.
    Configuration,
    /// Values separated by commas or semicolons.
    Csv,
    /// Bytes that are no text.
    Binary,
}

impl Foreign {
    /// Returns the name of the format.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Foreign::Sacct => "Slurm's accounting (sacct --parsable2)",
            Foreign::Json => "JSON, as sacct --json prints it",
            Foreign::Pbs => "accounting records of PBS or Torque",
            Foreign::Lsf => "accounting records of LSF",
            Foreign::SacctColumns => "output of sacct without --parsable2, in columns that cut long values",
            Foreign::JobCompletion => "Slurm's records of jobs (JobId=…)",
            Foreign::Configuration => "a configuration such as slurm.conf",
            Foreign::Csv => "a table of values separated by commas or semicolons",
            Foreign::Binary => "no text at all",
        }
    }

    /// Returns whether `drystone import` makes a workload of it.
    #[must_use]
    pub fn can_be_imported(self) -> bool {
        matches!(self, Foreign::Sacct | Foreign::Json | Foreign::Pbs | Foreign::Lsf | Foreign::JobCompletion)
    }

    /// Returns the format that this line suggests; `None` where it may be a record with a mistake.
    #[must_use]
    pub fn from_first_line(line: &[u8]) -> Option<Foreign> {
        let control = |b: &u8| (*b < b' ' && !matches!(b, b'\t' | b'\r')) || *b == 0x7f;
        // A letter of another alphabet may stand in a record by mistake; no text is full of them.
        let odd = line.iter().filter(|b| !b.is_ascii()).count();
        if line.iter().any(control) || 3 * odd > line.len() {
            return Some(Foreign::Binary);
        }
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        let is_separated = |by: char| text.split(by).count() >= FIELDS;
        if text.starts_with('{') || text.starts_with('[') {
            return Some(Foreign::Json);
        }
        if text.starts_with("\"JOB_FINISH\"") {
            return Some(Foreign::Lsf);
        }
        if text.starts_with("JobId=") {
            return Some(Foreign::JobCompletion);
        }
        if is_separated('|') || ['|', '\t', ',', ';'].into_iter().any(|by| text.contains(by) && names_jobs(text, by)) {
            return Some(Foreign::Sacct);
        }
        if is_separated(' ') && names_jobs(text, ' ') {
            return Some(Foreign::SacctColumns);
        }
        if is_setting(text) {
            return Some(Foreign::Configuration);
        }
        if is_pbs(text) {
            return Some(Foreign::Pbs);
        }
        let numbers = text.split_whitespace().all(|field| field.parse::<f64>().is_ok());
        (!numbers && (is_separated(',') || is_separated(';'))).then_some(Foreign::Csv)
    }
}

/// Returns whether one of the fields is the heading of sacct's column of jobs.
fn names_jobs(text: &str, by: char) -> bool {
    text.split(by).any(|field| ["jobid", "jobidraw"].contains(&field.trim().to_ascii_lowercase().as_str()))
}

/// `Key=value`.
fn is_setting(text: &str) -> bool {
    text.split_once('=')
        .is_some_and(|(key, _)| !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
}

/// `04/13/2026 08:00:00;E;…`.
fn is_pbs(text: &str) -> bool {
    let shape: String = text.chars().take(20).map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let kind = text.chars().nth(20);
    shape == "00/00/0000 00:00:00;" && kind.is_some_and(|c| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_known_by_its_first_line() {
        for (line, expected) in [
            ("JobID|User|Submit|Start|End", Some(Foreign::Sacct)),
            ("123|alice|2026-01-01T00:00:00|2026-01-01T00:10:00|COMPLETED|", Some(Foreign::Sacct)),
            ("Account\tAllocNodes\tJobIDRaw\tState", Some(Foreign::Sacct)),
            ("jobid,user,submit,start", Some(Foreign::Sacct)),
            ("JobID|User|State", Some(Foreign::Sacct)),
            ("JobIDRaw,Submit", Some(Foreign::Sacct)),
            (
                "       JobID    JobName  Partition    Account  AllocCPUS      State ExitCode",
                Some(Foreign::SacctColumns),
            ),
            ("ClusterName=discovery", Some(Foreign::Configuration)),
            ("{", Some(Foreign::Json)),
            ("03/01/2016 00:00:08;E;123.pbs;user=a group=b", Some(Foreign::Pbs)),
            ("\"JOB_FINISH\" \"9.1\" 1456790400", Some(Foreign::Lsf)),
            ("JobId=17 UserId=alice(1000) GroupId=a(1000)", Some(Foreign::JobCompletion)),
            ("job,submit,run,procs", Some(Foreign::Csv)),
            ("1;0;10;64;4", Some(Foreign::Csv)),
            // Records with a mistake, and prose.
            ("1 0 10 3600 64 -1 -1", None),
            ("1 0 10 36o0 64 -1 -1 64 7200 -1 1 5 1 -1 0 -1 -1 -1", None),
            ("hello", None),
            ("1 0 10 3600 64 é -1 64 7200 -1 1 5 1 -1 0 -1 -1 -1", None),
            ("", None),
        ] {
            assert_eq!(Foreign::from_first_line(line.as_bytes()), expected, "{line}");
        }
        assert_eq!(Foreign::from_first_line(b"\x7fELF\x02\x01\x00"), Some(Foreign::Binary));
        assert_eq!(Foreign::from_first_line(b"\xff\xfe1 0"), Some(Foreign::Binary));
    }
}
