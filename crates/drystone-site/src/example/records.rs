//! The records of the made-up site as `sacct` prints them, with steps.

use super::schedule::{ExampleRecord, PARTITIONS, node_name};
use std::fmt::Write;

const HEADER: &str = "JobIDRaw|JobID|Cluster|User|Account|Group|UID|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|Suspended|\
                      TimelimitRaw|State|ExitCode|Priority|Reason|Flags|Reservation|ReqNodes|NNodes|ReqCPUS|AllocCPUS|ReqMem|\
                      ReqTRES|AllocTRES|NodeList|TotalCPU|NTasks|MaxRSS|TRESUsageInAve|TRESUsageInTot|Constraints\n";

/// Number of the first job.
const FIRST: usize = 1_001;

/// The table of all jobs and their steps.
pub(super) fn render_records(records: &[ExampleRecord]) -> String {
    let mut text = HEADER.to_string();
    for (at, record) in records.iter().enumerate() {
        let raw = FIRST + at;
        let name = match record.job.task {
            Some((first, task)) => format!("{}_{task}", FIRST + first),
            None => raw.to_string(),
        };
        job_row(&mut text, raw, &name, record);
        if let (Some(start), Some(end)) = (record.start, record.end) {
            step_row(&mut text, raw, &name, record, end - start);
        }
    }
    text
}

fn job_row(text: &mut String, raw: usize, name: &str, record: &ExampleRecord) {
    let job = &record.job;
    let time = |time: Option<i64>| time.map_or("Unknown".to_string(), |time| time.to_string());
    let user = ["ada", "bela", "chen", "dara", "eke", "finn", "gita", "hugo", "ivo"];
    let uid = 1_001 + user.iter().position(|name| *name == job.user).unwrap_or(0);
    let qos = if job.partition == 2 { "debug" } else { "normal" };
    let ran = match (record.start, record.end) {
        (Some(start), Some(end)) => end - start,
        (Some(start), None) => super::END - start,
        _ => 0,
    };
    let exit = if record.state == "FAILED" { "1:0" } else { "0:0" };
    let flags = match (record.start, record.backfilled) {
        (None, _) => "",
        (_, true) => "SchedBackfill",
        (_, false) => "SchedMain",
    };
    let gpus = if job.gpus > 0 { format!("gres/gpu={},", job.gpus) } else { String::new() };
    let (cpus, nodes, memory) = (job.cpus, job.node_count(), job.memory_mb);
    let tres = format!("billing={cpus},cpu={cpus},{gpus}mem={memory}M,node={nodes}");
    let (held_nodes, held_cpus, held_tres) = match record.start {
        Some(_) => (nodes, cpus, tres.as_str()),
        None => (0, 0, ""),
    };
    let names: Vec<String> = record.nodes.iter().map(|&node| node_name(node)).collect();
    let list = if names.is_empty() { "None assigned".to_string() } else { names.join(",") };
    let cpu_usage = match record.end {
        Some(_) => cpu_time(ran * 10 * i64::from(cpus * job.use_of[0])),
        None => "00:00:00".to_string(),
    };
    let _ = writeln!(
        text,
        "{raw}|{name}|quarry|{user}|{account}|{account}|{uid}|{partition}|{qos}|{submit}|{eligible}|{start}|{end}|{ran}|00:00:00|\
         {limit}|{state}|{exit}|1|{reason}|{flags}||{nodes}|{held_nodes}|{cpus}|{held_cpus}|{memory}M|{tres}|{held_tres}|{list}|{cpu_usage}|||||",
        user = job.user,
        account = job.account,
        partition = PARTITIONS[job.partition].0,
        submit = job.submit,
        eligible = time(record.eligible),
        start = time(record.start),
        end = time(record.end),
        limit = job.limit / 60,
        state = record.state,
        reason = record.reason,
    );
}

/// The batch step, which has what the job used.
fn step_row(text: &mut String, raw: usize, name: &str, record: &ExampleRecord, ran: i64) {
    let job = &record.job;
    let [cpu, memory, gpu] = job.use_of;
    let cpu_usage = cpu_time(ran * 10 * i64::from(job.cpus * cpu));
    let kilobytes = u64::from(job.memory_mb) * 1_024 * u64::from(memory) / 100;
    let gpus = if job.gpus > 0 { format!(",gres/gpuutil={}", job.gpus * gpu) } else { String::new() };
    let usage = format!("mem={kilobytes}K{gpus}");
    let _ = writeln!(
        text,
        "{raw}.batch|{name}.batch|quarry||{account}||||||||||||{state}|0:0||||||{nodes}||{cpus}|||||{cpu_usage}|1|{kilobytes}K|{usage}|{usage}|",
        account = job.account,
        state = record.state,
        nodes = job.node_count(),
        cpus = job.cpus,
    );
}

/// Milliseconds as sacct prints processor time: `[D-]HH:MM:SS` from an hour on, else `MM:SS.mmm`.
fn cpu_time(milliseconds: i64) -> String {
    let (seconds, rest) = (milliseconds / 1_000, milliseconds % 1_000);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes:02}:{:02}.{rest:03}", seconds % 60),
        (0, _) => format!("{hours:02}:{minutes:02}:{:02}", seconds % 60),
        _ => format!("{days}-{hours:02}:{minutes:02}:{:02}", seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_as_sacct_prints_it() {
        for (milliseconds, text) in [(1_309_123, "21:49.123"), (3_600_000, "01:00:00"), (93_784_500, "1-02:03:04")] {
            assert_eq!(cpu_time(milliseconds), text);
        }
    }
}
