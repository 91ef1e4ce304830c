//! Jobs that name their nodes (`sbatch -w`, `-x`), by hand.

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
    fn started(&mut self, now: Time, id: JobId, _: StartReason) {
        self.0.entry(id).or_insert(now);
    }
}

/// A record of a job of four processors on one node of the partition `p`.
fn row(id: i64, submit: i64, run: i64, command: &str) -> String {
    let begin = BEGIN + submit;
    let limit = (run + 59) / 60;
    format!(
        "{id}|u|a|p|{begin}|{begin}|{begin}|{}|{run}|{limit}|COMPLETED|4|4|1|1|n1|sbatch {command} job.sh\n",
        begin + run
    )
}

fn site_of(folder: &Folder, rows: &[String]) -> Site {
    let file = folder.write("jobs.psv", format!("{HEADER}\n{}", rows.concat()));
    let options = ImportOptions { machine: vec![folder.write("slurm.conf", CONF)], ..utc() };
    drystone_site::write(&imported(&[file], &options), &folder.path("site"), &|_| {}).expect("written");
    let mut site = drystone_site::open(&folder.path("site")).expect("read");
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
    let site = site_of(&folder, &rows);
    let pool = site.pool_workload(0).expect("a workload");
    let warnings = site.manifest.warnings.join("\n");
    for sentence in ["the node n3, such as 5: the partition lacks these nodes", "the node n7 and 2 more, such as 6"] {
        assert!(warnings.contains(sentence), "{warnings}");
    }
    let _ = drystone_slurm::policy::register();
    let own = format!("slurm:{}", folder.path("site/slurm.conf").display());
    for (policy, late) in [("easy", 0), ("conservative", 0), ("goal(nodes=50)", 0), (own.as_str(), 70)] {
        let spec: PolicySpec = policy.parse().expect("a policy");
        let spec = site.policy(0, &spec).expect("the policy of the pool");
        let mut starts = FirstStarts::default();
        let experiment = Experiment::new(&spec, &pool.workload).finding(&[], JobSelection::All);
        experiment.run(&mut starts).unwrap_or_else(|error| panic!("{policy}: {error}"));
        for (id, expected) in [0, 1_200, 1_320, 30, 200, 400].into_iter().enumerate() {
            let start = starts.0[&JobId(id as u32)].0;
            let in_time = (expected..=expected + late).contains(&start);
            assert!(in_time, "{policy}: job {} starts at {start}, expected {expected}", id + 1);
        }
    }
}

/// Names of nodes are in no anonymised site.
#[test]
fn an_anonymised_site_names_no_nodes() {
    let folder = Folder::new();
    let file = folder.write("jobs.psv", format!("{HEADER}\n{}", row(1, 0, 60, "-w hidden1 -x hidden2")));
    let options = ImportOptions { machine: vec![folder.write("slurm.conf", CONF)], ..utc() };
    let mut site = imported(&[file], &options);
    let notes = site.anonymise(&AnonymousKey::given("k"), Hide::default()).expect("anonymised");
    assert!(!notes.join("\n").contains("hidden"), "{notes:?}");
    assert!(site.jobs().all(|job| !job.asks.contains("hidden")), "kept");
}
