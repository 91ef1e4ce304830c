//! A small made-up site: the files that the commands of [`ask`](crate::ask) would fetch there.
//!
//! Nearly nine weeks of a cluster of three partitions, with a limit of a QOS that makes jobs wait,
//! GPUs, arrays, dependencies, a maintenance and two outages. Everything follows from a seed; no
//! number is taken from a real site.

mod jobs;
mod records;
mod schedule;

use self::schedule::{MAINTENANCE, OUTAGES};
use std::fmt::Write;

/// Beginning of the records, Monday 2026-03-02 in UTC, and their end on a Friday afternoon.
const BEGIN: i64 = 1_772_409_600;
const END: i64 = BEGIN + 60 * DAY + 15 * HOUR;
const DAY: i64 = 86_400;
const HOUR: i64 = 3_600;

/// Processors that a user may hold under the QOS `normal`.
const MOST_CPUS: u32 = 128;

const SLURM_CONF: &str = "\
ClusterName=quarry
SlurmctldHost=head
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
PriorityType=priority/basic
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations,limits,qos
AccountingStorageTRES=gres/gpu,gres/gpuutil
JobAcctGatherType=jobacct_gather/cgroup
GresTypes=gpu
DefMemPerCPU=2000
NodeName=q[01-16] CPUs=32 RealMemory=128000 State=UNKNOWN
NodeName=g[1-3] CPUs=32 RealMemory=256000 Gres=gpu:a100:4 State=UNKNOWN
NodeName=d1 CPUs=32 RealMemory=64000 State=UNKNOWN
PartitionName=main Nodes=q[01-16] Default=YES MaxTime=3-00:00:00 State=UP
PartitionName=gpu Nodes=g[1-3] MaxTime=2-00:00:00 State=UP
PartitionName=debug Nodes=d1 MaxTime=01:00:00 State=UP
";

const GRES_CONF: &str = "NodeName=g[1-3] Name=gpu Type=a100 File=/dev/nvidia[0-3]\n";

/// The accounts, each with its users.
const ACCOUNTS: [(&str, &[&str]); 3] = [
    ("physics", &["ada", "bela", "gita"]),
    ("biology", &["chen", "dara", "hugo"]),
    ("climate", &["eke", "finn", "ivo"]),
];

/// Returns the files of the site, each with its name.
pub fn example_files() -> Vec<(&'static str, String)> {
    let jobs = schedule::schedule_jobs(jobs::submitted_jobs());
    vec![
        ("jobs.psv", records::render_records(&jobs)),
        ("slurm.conf", SLURM_CONF.to_string()),
        ("gres.conf", GRES_CONF.to_string()),
        ("events.psv", render_events()),
        ("resv.psv", render_reservations()),
        ("assoc.txt", render_associations()),
        ("qos.txt", render_qos()),
    ]
}

fn render_events() -> String {
    let mut text = "Cluster|ClusterNodes|NodeName|Start|End|State|Reason|TRES\n".to_string();
    let _ =
        writeln!(text, "quarry|d1,g[1-3],q[01-16]||{BEGIN}|0|||cpu=640,mem=2880000M,billing=640,gres/gpu=12,node=20");
    for outage in OUTAGES {
        let [begin, end] = outage.hours.map(|hour| BEGIN + hour * HOUR);
        let _ = writeln!(text, "quarry||{}|{begin}|{end}|DOWN|{}|cpu=32", outage.node, outage.reason);
    }
    text
}

fn render_reservations() -> String {
    let [begin, end] = MAINTENANCE.map(|hour| BEGIN + hour * HOUR);
    format!(
        "Cluster|Name|TRES|Start|End|UnusedWall|Nodes\nquarry|service|cpu=640|{begin}|{end}|0.0|d1,g[1-3],q[01-16]\n"
    )
}

fn render_associations() -> String {
    let mut text =
        "Cluster|Account|User|Partition|Share|GrpJobs|GrpTRES|MaxJobs|MaxTRES|MaxSubmit|QOS|Def QOS\n".to_string();
    text.push_str("quarry|root|||1|||||||\nquarry|root|root||1||||||normal|\n");
    for (account, users) in ACCOUNTS {
        let _ = writeln!(text, "quarry| {account}|||1||||||debug,normal|");
        for user in users {
            let _ = writeln!(text, "quarry|  {account}|{user}||1||||||debug,normal|");
        }
    }
    text
}

fn render_qos() -> String {
    format!(
        "Name|Priority|GraceTime|UsageFactor|GrpTRES|MaxTRES|MaxWall|MaxTRESPU|MaxJobsPU|MaxSubmitPU\n\
         normal|0|00:00:00|1.000000||||cpu={MOST_CPUS}||\ndebug|0|00:00:00|1.000000||||cpu=16|4|\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_site_is_the_same_each_time() {
        let (files, again) = (example_files(), example_files());
        assert_eq!(files, again);
        let rows = files[0].1.lines().count();
        assert!((3_000..20_000).contains(&rows), "{rows} rows");
    }
}
