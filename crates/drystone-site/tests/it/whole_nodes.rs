//! Jobs on one node and jobs of whole nodes, where nodes have several sizes, by hand.

use crate::common::{Folder, imported, utc};
use crate::named_nodes::{PLACING, assert_starts};
use crate::random_site::BEGIN;
use drystone::model::NodeFill;
use drystone_site::{ImportOptions, Site};

const HEADER: &str = "JobIDRaw|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|ReqNodes|NNodes|ReqCPUS|AllocCPUS|\
                      ReqMem|NodeList|Constraints|SubmitLine";

/// Nodes of 16, 4 and 8 processors, and more lines of the configuration.
fn conf(select: &str) -> String {
    format!(
        "ClusterName=toy\nSelectType=select/cons_tres\nSelectTypeParameters={select}\nNodeName=n1 CPUs=16 RealMemory=64000\n\
         NodeName=g[1-4] CPUs=4 RealMemory=64000\nNodeName=c1 CPUs=8 RealMemory=64000\nPartitionName=p Nodes=ALL Default=YES\n"
    )
}

/// A record of a job of an hour that ran on these nodes.
struct Ran<'a> {
    submit: i64,
    start: i64,
    asked_nodes: u32,
    nodes: (u32, &'a str),
    /// Processors that it asked for, and that it had.
    cpus: (u32, u32),
    memory: &'a str,
    feature: &'a str,
    command: &'a str,
}

impl Ran<'_> {
    fn row(&self, id: usize) -> String {
        let [submit, start, end] = [self.submit, self.start, self.start + 3_600].map(|time| BEGIN + time);
        let Ran { asked_nodes, nodes: (count, list), cpus: (asked, held), memory, feature, command, .. } = self;
        format!(
            "{id}|u|a|p|{submit}|{submit}|{start}|{end}|3600|60|TIMEOUT|{asked_nodes}|{count}|{asked}|{held}|{memory}|{list}|{feature}|\
             sbatch {command} job.sh\n"
        )
    }
}

/// A job on one node.
fn on_one_node<'a>(submit: i64, start: i64, node: &'a str, cpus: u32, command: &'a str) -> Ran<'a> {
    let (memory, feature) = ("", "");
    Ran { submit, start, asked_nodes: 1, nodes: (1, node), cpus: (cpus, cpus), memory, feature, command }
}

fn site_of(folder: &Folder, jobs: &[Ran<'_>], conf: &str) -> Site {
    let rows: String = jobs.iter().zip(1..).map(|(job, id)| job.row(id)).collect();
    let file = folder.write("jobs.psv", format!("{HEADER}\n{rows}"));
    let options = ImportOptions { machine: vec![folder.write("slurm.conf", conf)], ..utc() };
    drystone_site::write_folder(&imported(&[file], &options), &folder.path("site"), &|_| {}).expect("written");
    let mut site = drystone_site::open_folder(&folder.path("site")).expect("read");
    assert!(site.take_nodes(), "its nodes are described");
    site.place_jobs(NodeFill::Pack);
    site
}

/// Policies of each family that place jobs and do not keep them behind the head of the queue.
fn families() -> Vec<&'static str> {
    PLACING.into_iter().chain(["slack", "multiqueue", "ss", "tss"]).collect()
}

/// Job 1 has 12 of the 16 processors of the largest node. Job 2 needs all of them on one node, and
/// waits for that, whatever is said of memory; 24 are idle on the other nodes.
#[test]
fn a_job_of_one_node_waits_for_a_node_that_is_large_enough() {
    for (select, memory) in
        [("CR_Core", ""), ("CR_Core", "1000Mc"), ("CR_Core_Memory", "1000Mc"), ("CR_Core_Memory", "0")]
    {
        for command in ["-N 1 -n 1 -c 16", "-N 1 -n 1 -c 16 --exclusive"] {
            let first = Ran { memory, ..on_one_node(0, 0, "n1", 12, "-N 1 -n 1 -c 12") };
            let second = Ran { memory, ..on_one_node(10, 3_600, "n1", 16, command) };
            // Beside job 1 there is no room for it.
            let third = on_one_node(20, 20, "c1", 8, "-N 1 -n 1 -c 8");
            let folder = Folder::new();
            let site = site_of(&folder, &[first, second, third], &conf(select));
            assert_starts(&folder, &site, &families(), &[0, 3_600, 20]);
        }
    }
}

/// A job that was spread over several nodes, though it asked for one, may be spread again: n1 is
/// taken, and the other nodes have 24 processors.
#[test]
fn a_job_that_was_spread_may_be_spread() {
    let first = on_one_node(0, 0, "n1", 12, "-N 1 -n 1 -c 12");
    let second = Ran { nodes: (3, "g[1-2],c1"), ..on_one_node(10, 10, "", 16, "-n 16") };
    let folder = Folder::new();
    let site = site_of(&folder, &[first, second], &conf("CR_Core"));
    assert_starts(&folder, &site, &families(), &[0, 10]);
}

/// An exclusive partition gives a job of 16 processors the node that has them, not four of 4.
#[test]
fn a_job_of_one_node_of_an_exclusive_partition_waits_for_it() {
    let jobs = [on_one_node(0, 0, "n1", 16, "-N 1 -n 12"), on_one_node(10, 3_600, "n1", 16, "-N 1 -n 16")];
    let folder = Folder::new();
    let conf = conf("CR_Core").replace("Default=YES", "Default=YES OverSubscribe=EXCLUSIVE");
    let site = site_of(&folder, &jobs, &conf);
    assert_starts(&folder, &site, &families(), &[0, 3_600]);
}

/// Of three nodes of 8 processors and two of 16, job 1 has four whole ones with 40 processors: the
/// three small ones and a large one. Jobs 2 and 3 need 6 processors of a small node each, and wait.
/// Job 4 has the large node that is left.
#[test]
fn no_job_is_beside_one_that_has_nodes_of_several_sizes_to_itself() {
    let conf = "ClusterName=toy\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-3] CPUs=8 Feature=old\n\
                NodeName=g[1-2] CPUs=16\nPartitionName=p Nodes=ALL Default=YES\n";
    let whole = Ran {
        asked_nodes: 4,
        nodes: (4, "n[1-3],g1"),
        cpus: (4, 40),
        ..on_one_node(0, 0, "", 40, "-N 4 -n 4 --exclusive")
    };
    let old = |node| Ran { feature: "old", ..on_one_node(100, 3_600, node, 6, "-N 1 -n 1 -c 6 -C old") };
    let jobs = [whole, old("n1"), old("n2"), on_one_node(200, 200, "g2", 16, "-N 1 -n 1 -c 16")];
    let folder = Folder::new();
    let site = site_of(&folder, &jobs, conf);
    assert!(!site.manifest.warnings.join("\n").contains("no nodes"), "{:?}", site.manifest.warnings);
    assert_starts(&folder, &site, &families(), &[0, 3_600, 3_600, 200]);
}

/// A whole node of 8 processors and two of 4 are the machine: 16 processors, not 6 on each. The job
/// waits for all of them, with or without all their memory as its own.
#[test]
fn whole_nodes_of_several_sizes_are_no_more_than_the_pool() {
    let conf = "ClusterName=toy\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nNodeName=n1 CPUs=8 RealMemory=16000\n\
                NodeName=g[1-2] CPUs=4 RealMemory=16000\nPartitionName=p Nodes=ALL Default=YES\n";
    for (memory, command) in
        [("", "-N 3 -n 3 --exclusive"), ("0", "-N 3 -n 3 --exclusive"), ("16000Mn", "-N 3 -n 3 --exclusive")]
    {
        let first = on_one_node(0, 0, "n1", 4, "-N 1 -n 4");
        let wide = Ran {
            asked_nodes: 3,
            nodes: (3, "n1,g[1-2]"),
            cpus: (3, 16),
            memory,
            ..on_one_node(10, 3_600, "", 16, command)
        };
        let folder = Folder::new();
        let site = site_of(&folder, &[first, wide], conf);
        assert_eq!(site.len(), 2, "{memory}: a job is lost");
        assert_starts(&folder, &site, &families(), &[0, 3_600]);
    }
}
