//! Writes a workload.

use crate::log::swf::{SwfDecimal, SwfRecord};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes records as a workload of Batsim for a machine of this many resources: one delay profile
/// for each run time. Users, groups and queues go along as fields of jobs that Batsim passes on.
///
/// # Errors
/// Those of the writer; a record without size, submit or run time, which Batsim has no form for.
pub fn write_workload<'r>(
    out: &mut impl Write,
    procs: u32,
    description: &str,
    records: impl Iterator<Item = &'r SwfRecord>,
) -> io::Result<()> {
    let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
    writeln!(out, "{{")?;
    writeln!(out, "  \"nb_res\": {procs},")?;
    writeln!(out, "  \"description\": {},", text(description))?;
    writeln!(out, "  \"jobs\": [")?;
    let mut profiles: BTreeMap<(i64, String), bool> = BTreeMap::new();
    let mut first = true;
    for record in records {
        let SwfRecord { number, submit, run, requested_time, status, .. } = *record;
        let size = if record.requested > 0 { record.requested } else { record.allocated };
        if size <= 0 || run.as_f64() < 0.0 {
            let lacks = if size <= 0 { "no number of processors" } else { "no run time" };
            let problem = format!("job {number} has {lacks}, which a workload of Batsim needs; clean the log first");
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        let fails = status == 0;
        let profile = profile_name(run, fails);
        profiles.insert((run.round(), profile.clone()), fails);
        let comma = if std::mem::take(&mut first) { "" } else { ",\n" };
        write!(out, "{comma}    {{\"id\": \"{number}\", \"subtime\": {submit}, \"res\": {size}")?;
        if requested_time.as_f64() > 0.0 {
            write!(out, ", \"walltime\": {requested_time}")?;
        }
        write!(out, ", \"profile\": {}", text(&profile))?;
        let attributes = [
            ("user", record.user),
            ("group", record.group),
            ("executable", record.executable),
            ("queue", record.queue),
            ("partition", record.partition),
        ];
        for (key, value) in attributes.into_iter().filter(|(_, value)| *value >= 0) {
            write!(out, ", \"{key}\": {value}")?;
        }
        write!(out, "}}")?;
    }
    writeln!(out, "\n  ],")?;
    writeln!(out, "  \"profiles\": {{")?;
    let count = profiles.len();
    for (at, ((_, name), fails)) in profiles.iter().enumerate() {
        let (comma, ret) = (if at + 1 < count { "," } else { "" }, if *fails { ", \"ret\": 1" } else { "" });
        let delay = name.trim_start_matches("delay-").trim_end_matches("-fails");
        writeln!(out, "    {}: {{\"type\": \"delay\", \"delay\": {delay}{ret}}}{comma}", text(name))?;
    }
    writeln!(out, "  }}")?;
    writeln!(out, "}}")
}

/// The name of the profile of this run time.
fn profile_name(run: SwfDecimal, fails: bool) -> String {
    format!("delay-{run}{}", if fails { "-fails" } else { "" })
}
