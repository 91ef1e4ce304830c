//! Jobs that wait for others (`sbatch -d`), by hand.

use crate::common::{Folder, imported, utc};
use crate::random_site::BEGIN;
use drystone::engine::Observer;
use drystone::experiment::Experiment;
use drystone::metrics::JobSelection;
use drystone::model::{JobId, Time};
use drystone::policy::{PolicySpec, StartReason};
use drystone_site::{ImportOptions, Site};
use std::collections::BTreeMap;

const HEADER: &str = "JobIDRaw|JobID|JobName|User|Partition|Submit|Eligible|Start|End|State|TimelimitRaw|ReqCPUS|AllocCPUS|NNodes|NodeList|SubmitLine\n";

/// A record with its number, name, submission, recorded start, run time and command.
fn row(id: &str, name: &str, [submit, start, run]: [i64; 3], command: &str) -> String {
    let [submit, start, end] = [submit, start, start + run].map(|after| BEGIN + after);
    let raw = id.replace('_', "0");
    format!(
        "{raw}|{id}|{name}|u|p|{submit}|{submit}|{start}|{end}|COMPLETED|{}|1|1|1|n1|sbatch {command} job.sh\n",
        run / 60
    )
}

#[derive(Default)]
struct FirstStarts(BTreeMap<JobId, Time>);

impl Observer for FirstStarts {
    fn note_start(&mut self, now: Time, id: JobId, _: StartReason) {
        self.0.entry(id).or_insert(now);
    }
}

/// Starts of all jobs in the order of their arrival, on a machine of eight processors.
fn starts_of(rows: &[String]) -> Vec<i64> {
    let folder = Folder::new();
    let file = folder.write("jobs.psv", HEADER.to_string() + &rows.concat());
    let conf = "ClusterName=toy\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n1 CPUs=8\nPartitionName=p Nodes=n1 Default=YES\n";
    let options = ImportOptions { machine: vec![folder.write("slurm.conf", conf)], ..utc() };
    drystone_site::write_folder(&imported(&[file], &options), &folder.path("site"), &|_| {}).expect("written");
    let site = drystone_site::open_folder(&folder.path("site")).expect("read");
    simulated_starts(&site)
}

fn simulated_starts(site: &Site) -> Vec<i64> {
    let pool = site.pool_workload(0).expect("a workload");
    let policy: PolicySpec = "fcfs".parse().expect("a policy");
    let mut starts = FirstStarts::default();
    let experiment = Experiment::new(&policy, &pool.workload).for_metrics(&[], JobSelection::All);
    experiment.run(&mut starts).expect("simulated");
    let first = pool.workload.jobs()[0].submit;
    starts.0.values().map(|start| (*start - first).0).collect()
}

/// All jobs fit at once, so that nothing but another job keeps one from its arrival. Job 2 runs
/// from 100 to 700, and job 3 from 100 to 400.
#[test]
fn jobs_wait_for_those_that_their_commands_name() {
    let first =
        [row("1", "a", [0, 0, 60], ""), row("2", "b", [100, 5_000, 600], ""), row("3", "c", [100, 5_000, 300], "")];
    // All were recorded when jobs 2 and 3 had ended.
    for (command, start) in [
        ("", 200),
        ("-d afterok:2", 700),
        ("--dependency=afterany:3", 400),
        ("-d 3", 400),
        ("-d afterok:2:3", 700),
        ("-d afterok:3,afterany:2", 700),
        // Job 3 ended first by the records.
        ("-d afterok:2?afterok:3", 400),
        // The start of a job, one that is not there, and a later one: nothing to wait for.
        ("-d after:2", 200),
        ("-d afterok:77", 200),
        ("-d afterok:9", 200),
    ] {
        let rows = [&first[..], &[row("4", "d", [200, 6_000, 60], command)]].concat();
        assert_eq!(starts_of(&rows)[3], start, "{command}");
    }
    // By the record it started before job 2 had ended: the dependency was taken back.
    let rows = [&first[..], &[row("4", "d", [200, 5_100, 60], "-d afterok:2")]].concat();
    assert_eq!(starts_of(&rows)[3], 200);
}

/// Job 5 waits for jobs 2 and 4 of its name, of which 4 waits for 2; job 6 of another name for
/// none.
#[test]
fn a_singleton_waits_for_earlier_jobs_of_its_name() {
    let rows = [
        row("1", "a", [0, 0, 60], ""),
        row("2", "s", [100, 100, 600], ""),
        row("4", "s", [110, 700, 300], "-d singleton"),
        row("5", "s", [120, 1_000, 60], "-d singleton"),
        row("6", "t", [130, 130, 60], "-d singleton"),
        row("7", "s", [140, 140, 60], ""),
    ];
    assert_eq!(starts_of(&rows), [0, 100, 700, 1_000, 130, 140]);
}

/// Tasks of array 8 wait for the tasks of the same number of array 7, job 9 for all of these.
#[test]
fn tasks_wait_for_tasks_and_jobs_for_whole_arrays() {
    let rows = [
        row("7_1", "a", [0, 0, 600], ""),
        row("7_2", "a", [0, 0, 1_200], ""),
        row("8_1", "b", [60, 600, 60], "-d aftercorr:7"),
        row("8_2", "b", [60, 1_200, 60], "-d aftercorr:7"),
        row("9", "c", [70, 1_200, 60], "-d afterok:7"),
        row("10", "d", [80, 600, 60], "-d afterok:7_1"),
    ];
    assert_eq!(starts_of(&rows), [0, 0, 600, 1_200, 1_200, 600]);
}
