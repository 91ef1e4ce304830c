//! Licences of a site whose partitions share no node: there once for all pools, and named as the
//! cause of waiting.

use crate::common::{Folder, imported, utc};
use crate::random_site::BEGIN;
use drystone::engine::Schedule;
use drystone::experiment::Experiment;
use drystone::log::clean::{Cleaner, CleaningOptions};
use drystone::model::NodeFill;
use drystone::policy::PolicySpec;
use drystone_site::waits::{WaitCauseKind, WaitsOptions, measure_waits};
use drystone_site::{ExportPurpose, ImportOptions, SiteScene};

const HEADER: &str = "JobIDRaw|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|ReqCPUS|AllocCPUS|ReqNodes|NNodes|\
                      ReqMem|ReqTRES|AllocTRES|Licenses|NodeList|Constraints|QOS";

/// A job of two processors: number, partition, node, submit, start, run time, licences.
fn row((id, part, node, submit, start, run, licences): (i64, &str, &str, i64, i64, i64, &str)) -> String {
    let (submit, start, end) = (BEGIN + submit, BEGIN + start, BEGIN + start + run);
    format!(
        "{id}|u|a|{part}|{submit}|{submit}|{start}|{end}|{run}|60|COMPLETED|2|2|1|1|0|cpu=2,node=1|cpu=2,node=1|{licences}|{node}||normal\n"
    )
}

/// Four licences, and two nodes of four processors for each of two partitions. Job 1 has three
/// licences until 600; job 2 of the other partition needs two. Job 3 takes the last one, and job 4
/// asks for none.
fn licensed_site(folder: &Folder) -> drystone_site::Site {
    let conf = "ClusterName=toy\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nLicenses=cad:4\n\
                NodeName=a[1-2] CPUs=4\nNodeName=b[1-2] CPUs=4\nPartitionName=pa Nodes=a[1-2] Default=YES\n\
                PartitionName=pb Nodes=b[1-2]\n";
    let jobs = [
        row((1, "pa", "a1", 0, 0, 600, "cad:3")),
        row((2, "pb", "b1", 10, 610, 300, "cad:2")),
        row((3, "pb", "b1", 20, 20, 100, "cad:1")),
        row((4, "pa", "a1", 30, 30, 200, "")),
    ];
    let file = folder.write("jobs.psv", format!("{HEADER}\n{}", jobs.concat()));
    let options = ImportOptions { machine: vec![folder.write("slurm.conf", conf)], ..utc() };
    drystone_site::write_folder(&imported(&[file], &options), &folder.path("site"), &|_| {}).expect("written");
    drystone_site::open_folder(&folder.path("site")).expect("read")
}

#[test]
fn licences_of_a_site_are_there_once_for_its_pools() {
    let folder = Folder::new();
    let mut site = licensed_site(&folder);
    assert_eq!(site.manifest.pools.len(), 2);
    assert!(site.take_nodes(), "its nodes are described");
    site.place_jobs(NodeFill::Pack);
    let scene = SiteScene::whole_site(&site);
    let options = CleaningOptions { records: true, ..Default::default() };
    let mut cleaner = Cleaner::new(&scene.header(), options, "site", "site").expect("a cleaner");
    scene.export_records(ExportPurpose::Simulation).for_each(|record| cleaner.push(&record).expect("a record"));
    let (whole, _, records) = cleaner.finish().expect("a workload");
    let stage = scene.stage_workload(whole, &records.unwrap_or_default()).expect("a stage");
    let resources = stage.workload.resources().expect("some").resources();
    let licences: Vec<(&str, u64)> = resources
        .iter()
        .filter(|resource| resource.name.contains("license"))
        .map(|resource| (resource.name.as_str(), resource.total))
        .collect();
    assert_eq!(licences, [("license:cad", 4)]);
    let _ = drystone_slurm::policy::register_policy();
    let own = format!("slurm:{}", folder.path("site/slurm.conf").display());
    // Passes of Slurm come up to a minute after what leads to them.
    for (policy, late) in [("easy", 0), ("conservative", 0), ("slack", 0), ("ss", 0), (own.as_str(), 70)] {
        let spec: PolicySpec = policy.parse().expect("a policy");
        let mut division = stage.division.clone().expect("several pools");
        for pool in 0..2 {
            division.replace_texts(usize::from(pool), site.policy_texts(pool, &spec));
        }
        let mut schedule = Schedule::default();
        let experiment = Experiment::new(&spec, &stage.workload).with_division(Some(&division));
        experiment.run(&mut schedule).unwrap_or_else(|error| panic!("{policy}: {error}"));
        for (span, expected) in schedule.spans.iter().zip([0, 600, 20, 30]) {
            let start = span.map(|span| span.0.0);
            let in_time = start.is_some_and(|start| (expected..=expected + late).contains(&start));
            assert!(in_time, "{policy}: a job starts at {start:?}, expected {expected}");
        }
    }
}

/// A pool alone has the licences that jobs of the other one left as they ran: one of four until 600
/// in the second, so that job 2 waits for two until then, and job 3 does not. In the first all that
/// job 1 asks for is there.
#[test]
fn a_pool_alone_has_the_licences_that_others_leave() {
    let folder = Folder::new();
    let mut site = licensed_site(&folder);
    assert!(site.take_nodes(), "its nodes are described");
    site.place_jobs(NodeFill::Pack);
    for (pool, expected) in [(0, [0, 30]), (1, [600, 20])] {
        let alone = site.pool_workload(pool).expect("a pool");
        for policy in ["easy", "conservative", "slack", "ss"] {
            let spec: PolicySpec = policy.parse().expect("a policy");
            let mut schedule = Schedule::default();
            Experiment::new(&spec, &alone.workload).run(&mut schedule).expect("simulated");
            let starts: Vec<Option<i64>> = schedule.spans.iter().map(|span| span.map(|span| span.0.0)).collect();
            assert_eq!(starts, expected.map(Some), "{policy}, {}", alone.name);
        }
    }
}

/// Job 2 waited 600 s as recorded, in the first 590 of which one licence was left at most.
#[test]
fn waits_for_licences_name_them() {
    let waits = measure_waits(&licensed_site(&Folder::new()), &WaitsOptions::default());
    let causes: Vec<(WaitCauseKind, &str, u64, f64)> =
        waits.causes.iter().map(|cause| (cause.kind, cause.of.as_str(), cause.jobs, cause.seconds)).collect();
    assert_eq!(causes, [(WaitCauseKind::Licences, "cad", 1, 590.0), (WaitCauseKind::RoomByCount, "", 1, 10.0)]);
}
