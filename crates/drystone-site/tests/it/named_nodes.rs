//! Jobs that name their nodes (`sbatch -w`, `-x`) or several partitions (`-p a,b`), by hand.

use crate::common::{Folder, imported, utc};
use crate::random_site::BEGIN;
use drystone::engine::Observer;
use drystone::experiment::Experiment;
use drystone::metrics::JobSelection;
use drystone::model::{JobId, NodeFill, Time};
use drystone::policy::{PolicySpec, StartReason};
use drystone_site::{AnonymousKey, Hide, ImportOptions, Site};
use std::collections::BTreeMap;

const HEADER: &str = "JobIDRaw|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|ReqCPUS|AllocCPUS|ReqNodes|NNodes|\
                      NodeList|SubmitLine";

const CONF: &str = "ClusterName=toy\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
                    NodeName=n[1-3] CPUs=4 RealMemory=16000\nPartitionName=p Nodes=n[1-2] Default=YES\nPartitionName=q Nodes=n3\n";

#[derive(Default)]
struct FirstStarts(BTreeMap<JobId, Time>);

impl Observer for FirstStarts {
    fn note_start(&mut self, now: Time, id: JobId, _: StartReason) {
        self.0.entry(id).or_insert(now);
    }
}

/// A record of a job of four processors on one node of the partition `p`.
fn row(id: i64, submit: i64, run: i64, command: &str) -> String {
    row_of("p", id, submit, run, command)
}

/// A record of a job of a partition, or of several while it waits.
fn row_of(partition: &str, id: i64, submit: i64, run: i64, command: &str) -> String {
    let begin = BEGIN + submit;
    let limit = (run + 59) / 60;
    let node = match partition {
        "q" => "n3",
        "r" => "n4",
        _ => "n1",
    };
    format!(
        "{id}|u|a|{partition}|{begin}|{begin}|{begin}|{}|{run}|{limit}|COMPLETED|4|4|1|1|{node}|sbatch {command} job.sh\n",
        begin + run
    )
}

fn site_of(folder: &Folder, rows: &[String], conf: &str) -> Site {
    let file = folder.write("jobs.psv", format!("{HEADER}\n{}", rows.concat()));
    let options = ImportOptions { machine: vec![folder.write("slurm.conf", conf)], ..utc() };
    drystone_site::write_folder(&imported(&[file], &options), &folder.path("site"), &|_| {}).expect("written");
    let mut site = drystone_site::open_folder(&folder.path("site")).expect("read");
    assert!(site.take_nodes(), "its nodes are described");
    site.place_jobs(NodeFill::Pack);
    site
}

/// Job 2 waits for the node that job 1 has. Job 3 excludes the other node, and waits for that of
/// job 2. Job 4 names no node, and has the free one at once. Job 5 names a node of another
/// partition, and job 6 nodes that do not exist: any node serves.
#[test]
fn jobs_wait_for_the_nodes_that_they_name() {
    let rows = [
        row(1, 0, 1_200, "-w n1"),
        row(2, 10, 120, "--nodelist=n1"),
        row(3, 20, 120, "-Q -x n2"),
        row(4, 30, 60, ""),
        row(5, 200, 60, "-wn3"),
        row(6, 400, 60, "--nodelist n[7-9]"),
    ];
    let folder = Folder::new();
    let site = site_of(&folder, &rows, CONF);
    let warnings = site.manifest.warnings.join("\n");
    for sentence in ["the node n3, such as 5: the partition lacks these nodes", "the node n7 and 2 more, such as 6"] {
        assert!(warnings.contains(sentence), "{warnings}");
    }
    assert_starts(&folder, &site, &PLACING, &[0, 1_200, 1_320, 30, 200, 400]);
}

/// Policies that place jobs on nodes.
pub(crate) const PLACING: [&str; 3] = ["easy", "conservative", "goal(nodes=50)"];

/// Starts under these policies are as expected, and under the site's own Slurm so or up to 70 s
/// later.
pub(crate) fn assert_starts(folder: &Folder, site: &Site, policies: &[&str], expected: &[i64]) {
    let pool = site.pool_workload(0).expect("a workload");
    let _ = drystone_slurm::policy::register_policy();
    let own = format!("slurm:{}", folder.path("site/slurm.conf").display());
    let rivals = policies.iter().map(|&policy| (policy, 0));
    for (policy, late) in rivals.chain([(own.as_str(), 70)]) {
        let spec: PolicySpec = policy.parse().expect("a policy");
        let spec = site.pool_policy(0, &spec).expect("the policy of the pool");
        let mut starts = FirstStarts::default();
        let experiment = Experiment::new(&spec, &pool.workload).for_metrics(&[], JobSelection::All);
        experiment.run(&mut starts).unwrap_or_else(|error| panic!("{policy}: {error}"));
        for (id, &expected) in expected.iter().enumerate() {
            let start = starts.0[&JobId(id as u32)].0;
            let in_time = (expected..=expected + late).contains(&start);
            assert!(in_time, "{policy}: job {} starts at {start}, expected {expected}", id + 1);
        }
    }
}

/// Of four nodes `p` has two, `q` one, and `r` that one and the last. Jobs 1 and 2 have `p` for
/// themselves. Job 3 may be in `q` as well, and starts there at once. Job 4 of `q` waits for it,
/// though the other node of `r` is idle. Job 5 names partitions of which its own is none, as after
/// a move to another partition: it waits in `p`. Job 6 is of `r`.
#[test]
fn jobs_start_in_any_of_their_partitions() {
    let conf = format!("{}PartitionName=r Nodes=n[3-4]\n", CONF.replace("n[1-3]", "n[1-4]"));
    let rows = [
        row(1, 0, 1_200, ""),
        row(2, 0, 2_400, ""),
        row(3, 20, 120, "--partition=p,q"),
        row_of("q", 4, 30, 60, "-pq"),
        row(5, 40, 60, "-p q,r"),
        row_of("r", 6, 60, 60, ""),
    ];
    let folder = Folder::new();
    let site = site_of(&folder, &rows, &conf);
    assert_eq!(site.manifest.pools.len(), 1, "a job of both makes one pool of partitions without a common node");
    assert_starts(&folder, &site, &PLACING, &[0, 0, 20, 140, 1_200, 60]);
}

/// Slurm starts no job in a partition with a shorter limit, or with too few nodes for it: jobs 3
/// and 4 wait for `p`, job 5 does not.
#[test]
fn partitions_that_do_not_allow_a_job_are_none_of_its() {
    let conf = CONF.replace("Nodes=n3", "Nodes=n3 MaxTime=30");
    let rows = [
        row(1, 0, 1_200, ""),
        row(2, 0, 1_800, ""),
        row(3, 20, 2_400, "-p p,q"),
        row(4, 30, 60, "-p q,p").replace("|4|4|1|1|n1|", "|8|8|2|2|n[1-2]|"),
        row(5, 40, 60, "-p q,p"),
    ];
    let folder = Folder::new();
    let site = site_of(&folder, &rows, &conf);
    assert_starts(&folder, &site, &[], &[0, 0, 1_200, 3_600, 40]);
}

/// Partitions that a job names are masked where partitions are.
#[test]
fn an_anonymised_site_masks_the_partitions_of_jobs() {
    let folder = Folder::new();
    let file = folder.write("jobs.psv", format!("{HEADER}\n{}", row(1, 0, 60, "-p p,secret")));
    let options = ImportOptions { machine: vec![folder.write("slurm.conf", CONF)], ..utc() };
    let key = AnonymousKey::from_text("k");
    let mut site = imported(std::slice::from_ref(&file), &options);
    site.anonymise_site(&key, Hide { partitions: true, ..Hide::default() }).expect("anonymised");
    let job = site.jobs().next().expect("a job");
    assert!(
        job.asks.starts_with(&format!("partitions={},", job.partition)) && !job.asks.contains("secret"),
        "{}",
        job.asks
    );
    let mut open = imported(&[file], &options);
    open.anonymise_site(&key, Hide::default()).expect("anonymised");
    assert!(open.jobs().all(|job| job.asks == "partitions=p,secret"));
}

/// Names of nodes are in no anonymised site.
#[test]
fn an_anonymised_site_names_no_nodes() {
    let folder = Folder::new();
    let file = folder.write("jobs.psv", format!("{HEADER}\n{}", row(1, 0, 60, "-w hidden1 -x hidden2")));
    let options = ImportOptions { machine: vec![folder.write("slurm.conf", CONF)], ..utc() };
    let mut site = imported(&[file], &options);
    let notes = site.anonymise_site(&AnonymousKey::from_text("k"), Hide::default()).expect("anonymised");
    assert!(!notes.join("\n").contains("hidden"), "{notes:?}");
    assert!(site.jobs().all(|job| !job.asks.contains("hidden")), "kept");
}
