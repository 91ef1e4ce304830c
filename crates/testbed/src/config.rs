//! Description of the cluster, and its `slurm.conf`.

use crate::munge;
use std::fmt::Write;
use std::path::Path;

/// A cluster to be started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClusterOptions {
    /// Nodes, called `n1`, `n2`, ….
    pub nodes: u32,
    /// Processors that each node claims.
    pub cpus: u32,
    /// Processors of the single nodes, where they differ.
    pub node_cpus: Vec<u32>,
    /// Memory that each node claims, in MB.
    pub memory: u32,
    /// Generic resources of each node, as `gpu:a100:2`; with some, GPUs are known to the cluster.
    pub gres: Option<String>,
    /// More words for the line of each node, such as `CoreSpecCount=1`.
    pub node_words: String,
    /// `SchedulerType` without `sched/`: `builtin` or `backfill`.
    pub scheduler: String,
    /// `SchedulerParameters`. The default starts jobs within a second.
    pub parameters: String,
    /// Lines that define partitions; with none there is one, `main`, of all nodes.
    pub partitions: Vec<String>,
    /// More lines for `slurm.conf`; they override what stands before them.
    pub lines: Vec<String>,
    /// The text of `job_submit.lua`; with one, Slurm's lua plugin is used.
    pub job_submit: Option<String>,
    /// Lines for `sacctmgr -i`, such as `add account a`: the cluster then has a database, with them
    /// in it.
    pub accounts: Option<Vec<String>>,
    /// True for a munge of its own, with a key of its own, and a folder that its user alone enters;
    /// without, Slurm believes every user of this machine.
    pub munge: bool,
}

impl Default for ClusterOptions {
    /// Two nodes of four processors, as Slurm schedules them by default, but every second.
    fn default() -> ClusterOptions {
        ClusterOptions {
            nodes: 2,
            cpus: 4,
            node_cpus: Vec::new(),
            memory: 64_000,
            gres: None,
            node_words: String::new(),
            scheduler: "backfill".to_string(),
            parameters: "sched_interval=1,sched_min_interval=20000,batch_sched_delay=0,bf_interval=1".to_string(),
            partitions: Vec::new(),
            lines: Vec::new(),
            job_submit: None,
            accounts: None,
            munge: false,
        }
    }
}

/// Facts of this machine that the configuration must state.
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) user: String,
    /// Of the controller, of a default for nodes, then of each node.
    pub(crate) ports: Vec<u16>,
}

/// The settings that tests rarely change.
const FIXED: &str = "\
ClusterName=drystone
# Nothing listens on another address than 127.0.0.1.
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldDebug=info
SlurmdDebug=error
# Nodes may claim more processors than the host has; no cgroups, no root.
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
PriorityType=priority/basic
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MaxArraySize=100001
MaxJobCount=200000
MinJobAge=300
InactiveLimit=0
KillWait=2
Waittime=0
CompleteWait=0
SlurmctldTimeout=30
SlurmdTimeout=120
MessageTimeout=20
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
";

/// The whole `slurm.conf` of a cluster whose files are below `root`; `storage` are lines on its
/// database.
pub(crate) fn slurm_conf(options: &ClusterOptions, host: &Host, root: &Path, storage: &str) -> String {
    let mut text = FIXED.to_string();
    let mut line = |name: &str, value: &dyn std::fmt::Display| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name}={value}");
    };
    let auth = if options.munge { "munge" } else { "none" };
    line("AuthType", &format_args!("auth/{auth}"));
    line("CredType", &format_args!("cred/{auth}"));
    if options.munge {
        line("AuthInfo", &format_args!("socket={}", munge::socket_path(root).display()));
    }
    let root = root.display();
    line("SlurmctldHost", &format_args!("{}(127.0.0.1)", host.name));
    line("SlurmctldPort", &host.ports[0]);
    line("SlurmdPort", &host.ports[1]);
    line("SlurmUser", &host.user);
    line("SlurmdUser", &host.user);
    line("StateSaveLocation", &format_args!("{root}/state"));
    line("SlurmdSpoolDir", &format_args!("{root}/spool.%n"));
    line("SlurmctldPidFile", &format_args!("{root}/pid/slurmctld.pid"));
    line("SlurmdPidFile", &format_args!("{root}/pid/slurmd.%n.pid"));
    line("SlurmctldLogFile", &format_args!("{root}/log/slurmctld.log"));
    line("SlurmdLogFile", &format_args!("{root}/log/slurmd.%n.log"));
    line("SchedulerType", &format_args!("sched/{}", options.scheduler));
    line("SchedulerParameters", &options.parameters);
    if options.gres.is_some() {
        line("GresTypes", &"gpu");
    }
    if options.job_submit.is_some() {
        line("JobSubmitPlugins", &"lua");
    }
    text.push_str(storage);
    for extra in &options.lines {
        text.push_str(extra);
        text.push('\n');
    }
    for node in 1..=options.nodes {
        let (name, memory) = (&host.name, options.memory);
        let cpus = options.node_cpus.get(node as usize - 1).unwrap_or(&options.cpus);
        let port = host.ports[1 + node as usize];
        let words = &options.node_words;
        let gres = options.gres.as_ref().map_or(String::new(), |gres| format!(" Gres={gres}"));
        let _ = writeln!(
            text,
            "NodeName=n{node} NodeHostname={name} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} Sockets=1 \
             CoresPerSocket={cpus} ThreadsPerCore=1 RealMemory={memory}{gres} {words} State=UNKNOWN"
        );
    }
    if options.partitions.is_empty() {
        let _ = writeln!(
            text,
            "PartitionName=main Nodes={} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO",
            node_list(options.nodes)
        );
    }
    for partition in &options.partitions {
        text.push_str(partition);
        text.push('\n');
    }
    text
}

/// `n1` or `n[1-4]`.
fn node_list(nodes: u32) -> String {
    if nodes == 1 { "n1".to_string() } else { format!("n[1-{nodes}]") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_comes_last_and_so_counts() {
        let options = ClusterOptions { lines: vec!["KillWait=9".to_string()], ..ClusterOptions::default() };
        let host = Host { name: "host".to_string(), user: "me".to_string(), ports: vec![1, 2, 3, 4] };
        let text = slurm_conf(&options, &host, Path::new("/r"), "");
        assert!(text.find("KillWait=9") > text.find("KillWait=2"), "{text}");
        assert!(text.contains("NodeName=n2 NodeHostname=host NodeAddr=127.0.0.1 Port=4 CPUs=4 "), "{text}");
        assert!(text.contains("PartitionName=main Nodes=n[1-2] Default=YES"), "{text}");
        assert!(text.contains("AuthType=auth/none\n") && !text.contains("AuthInfo"), "{text}");
        let munge_text = slurm_conf(&ClusterOptions { munge: true, ..options.clone() }, &host, Path::new("/r"), "");
        for line in ["AuthType=auth/munge", "CredType=cred/munge", "AuthInfo=socket=/r/munge/socket"] {
            assert!(munge_text.contains(&format!("{line}\n")), "{munge_text}");
        }
        let own = ClusterOptions { nodes: 1, partitions: vec!["PartitionName=p Nodes=n1".to_string()], ..options };
        let text = slurm_conf(&own, &host, Path::new("/r"), "");
        assert!(text.ends_with("PartitionName=p Nodes=n1\n") && !text.contains("main"), "{text}");
    }
}
