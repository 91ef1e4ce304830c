//! Slurm's model on the command line: messages about a `slurm.conf`, about passes, and about
//! recordings.

use crate::common::{Folder, line, shared};

/// With an include, a key and a word that nothing knows, a value that Slurm refuses, a window below
/// the longest limit, a partition that contradicts itself, and a plugin that is not modelled.
fn bad_conf() -> Folder {
    let folder = Folder::with("log.swf", format!("; MaxProcs: 2\n{}{}", line(1, 0, 10, 1, 60), line(2, 1, 10, 2, 60)));
    folder.write(
        "slurm.conf",
        "ClusterName=c\nSchedulerParamaters=bf_interval=9\nInclude more.conf\nTopologyPlugin=topology/tree\n\
         SchedulerParameters=bf_window=60,bf_resolution=0,bf_frobnicate=3,preempt_strict_order\n",
    );
    folder.write(
        "more.conf",
        "NodeName=n[1-2]\nCompleteWait=5\nPartitionName=p Nodes=n[1-2] MaxTime=120 DefaultTime=180\n",
    );
    folder
}

const TOLD: [&str; 7] = [
    "slurm.conf:2: unknown: Slurm has no key SchedulerParamaters",
    "slurm.conf:5: unknown: SchedulerParameters: bf_frobnicate is not known here, and changes nothing in the model",
    "slurm.conf:5: refused: SchedulerParameters: `bf_resolution=0`: bf_resolution takes 1 to 3600 (s); Slurm refuses it and uses 60",
    "slurm.conf:5: contradiction: bf_window=60 min is below MaxTime=120 min of the partition p: jobs planned beyond the window are \
     not protected",
    "slurm.conf:4: not modelled: TopologyPlugin=topology/tree; it may cost: the nodes of jobs, and plans",
    "more.conf:2: not modelled: CompleteWait=5; it may cost: starts in the seconds after an end, in which neither scheduler works",
    "more.conf:3: contradiction: p: DefaultTime is above MaxTime; Slurm refuses jobs without a limit of their own",
];

/// Each command tells all of it once, whatever the number of policies that name the file, and
/// nothing with `--quiet`.
#[test]
fn what_is_wrong_in_a_configuration_is_told_once() {
    let folder = bad_conf();
    let policy = ["--policy", "slurm:slurm.conf"];
    let log = ["--workload", "log.swf"];
    for args in [
        [&["run"], &log[..], &policy[..]].concat(),
        [&["compare"], &log[..], &policy[..], &["--policy", "slurm(slurm.conf,bf_interval=60)"]].concat(),
        [&["explain"], &log[..], &policy[..], &["--job", "2"]].concat(),
    ] {
        let ran = folder.run(&args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
        for told in TOLD {
            assert_eq!(ran.err.matches(told).count(), 1, "{args:?}: `{told}` in\n{}", ran.err);
        }
        assert!(!ran.err.contains("preempt_strict_order"), "it is modelled: {}", ran.err);
        let quiet = folder.run(&[&args[..], &["--quiet"]].concat());
        assert_eq!((quiet.code, quiet.err.as_str()), (0, ""), "{args:?}");
    }
}

#[test]
fn an_import_tells_what_is_wrong_in_the_configuration() {
    let folder = bad_conf();
    folder.write(
        "jobs.psv",
        "JobID|Submit|Start|End|State|NCPUS|NNodes|Timelimit|User|Account|Partition\n\
         1|2026-01-05T10:00:00|2026-01-05T10:00:10|2026-01-05T10:10:00|COMPLETED|1|1|00:30:00|u|a|p\n\
         2|2026-01-05T10:01:00|2026-01-05T10:10:10|2026-01-05T10:20:00|COMPLETED|2|2|00:30:00|u|a|p\n",
    );
    let ran = folder.run(&["import", "jobs.psv", "--machine", "slurm.conf", "--timezone", "UTC", "--out", "site"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for told in TOLD {
        assert_eq!(ran.err.matches(told).count(), 1, "`{told}` in\n{}", ran.err);
    }
}

#[test]
fn configurations_that_do_not_read_are_errors_with_their_place() {
    let folder = bad_conf();
    for (text, expected) in [
        ("NodeName=n[1-2\n", "slurm.conf:1: `[` without `]` in `n[1-2`"),
        ("Include nowhere.conf\n", "nowhere.conf: cannot be read"),
        ("NodeName=n1\nPartitionName=p Nodes=n2\n", "slurm.conf:2: no NodeName line has the node n2"),
        ("ClusterName=c\n", "slurm.conf: no nodes or no partitions, so no machine"),
    ] {
        folder.write("slurm.conf", text);
        let err = folder.run(&["run", "--workload", "log.swf", "--policy", "slurm:slurm.conf"]).fails(2);
        assert!(err.contains(expected), "{text}: {err}");
    }
}

/// Job 1 has one processor of two up to its limit of 600 s. Job 2 needs both: it is planned at that
/// limit. Job 3 would fit beside job 1, but would still run then.
#[test]
fn explain_tells_what_passes_said() {
    let jobs = [line(1, 0, 500, 1, 600), line(2, 1, 10, 2, 600), line(3, 2, 10, 1, 900)];
    let folder = Folder::with("log.swf", format!("; MaxProcs: 2\n{}", jobs.concat()));
    let explain = |job: &str, policy: &str, more: &[&str]| {
        let args = ["explain", "--workload", "log.swf", "--job", job, "--policy", policy, "--no-what-if"];
        folder.run(&[&args[..], more].concat())
    };
    let told = explain("2", "slurm", &[]).ok();
    for part in [
        "Passes of Slurm's schedulers that considered it:\n",
        "main passes: it did not fit, and kept its partition from the jobs behind it; too few nodes were idle\n",
        "backfill passes: planned to start 10.0 min after it came; too few nodes were idle\n",
        ": it started\n",
    ] {
        assert!(told.contains(part), "`{part}` is missing in:\n{told}");
    }
    let told = explain("3", "slurm(bf_max_job_test=1)", &[]).ok();
    assert!(told.contains("the pass ended before it, by bf_max_job_test; idle nodes would have been enough"), "{told}");
    let json = explain("3", "slurm(bf_max_job_user=1)", &["--format", "json"]).json();
    let passes = json["passes"].as_array().expect("passes");
    let skipped = passes.iter().find(|said| said["verdict"] == "skipped").expect("a pass that skips it");
    assert_eq!((&skipped["pass"], &skipped["by"]), (&"backfill".into(), &"bf_max_job_user".into()));
    // No other policy has such passes.
    assert!(explain("3", "easy", &["--format", "json"]).json().get("passes").is_none());
}

/// Events that lead to the start of job 3.
const LAST: &str = "14.583 sched_start 3 n1\n16.600 complete 3\n";

/// Two nodes. Job 1 has one, job 2 needs both and blocks job 3: a pass of the main scheduler starts
/// job 1 alone.
fn recording(second: &str, last: &str) -> Folder {
    let folder = Folder::with(
        "made.conf",
        "SchedulerType=sched/backfill\nSelectType=select/cons_tres\nSchedulerParameters=bf_interval=-1\n\
         NodeName=n1 CPUs=1\nNodeName=n2 CPUs=1\nPartitionName=main Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP\n",
    );
    folder.write(
        "made.rep1.csv",
        "job,slurm_id,submit,eligible,start,end,n,limit_min,run_s,partition,user,priority,nodes,state\n\
         0,1,0,0,2,5,1,1,3,main,root,30,n1,COMPLETED\n\
         1,2,0,0,8,12,2,1,4,main,root,29,\"n[1-2]\",COMPLETED\n\
         2,3,0,0,14,16,1,1,2,main,root,28,n1,COMPLETED\n",
    );
    let events = format!(
        "# base_epoch 1795481405\n0.324 submit 1 30\n0.436 submit 2 29\n0.452 submit 3 28\n2.564 sched_pass for default depth\n\
         2.564 sched_start 1 n1\n{second}5.620 complete 1\n8.575 sched_pass for default depth\n8.576 sched_start 2 n[1-2]\n\
         12.608 complete 2\n14.582 sched_pass for default depth\n{last}"
    );
    folder.write("made.rep1.events", events);
    folder
}

#[test]
fn a_recording_is_met_or_the_exit_code_says_that_it_is_not() {
    let args = ["reproduce", "slurm", "--logs", ".", "--table", "passes"];
    let out = recording("", LAST).run(&args).ok();
    assert!(out.contains("made  made.rep1"), "{out}");
    let json = recording("", LAST).run(&[&args[..], &["--format", "json"]].concat()).json();
    assert_eq!((&json["counts"]["out"], &json["studies"][0]["name"]), (&0.into(), &"slurm".into()));
    let cells = &json["studies"][0]["tables"][0]["rows"][0]["cells"];
    assert_eq!((&cells[1]["published"], &cells[1]["ours"]), (&"3".into(), &3.0.into()));
    // A start that the model does not make: job 3 would have gone before job 2.
    let wrong =
        recording("2.565 sched_start 3 n2\n4.700 complete 3\n", "").run(&[&args[..], &["--format", "csv"]].concat());
    assert_eq!(wrong.code, 1, "{}", wrong.err);
    assert!(wrong.out.contains(",starts,3,2,"), "{}", wrong.out);
    let err = Folder::new().run(&args).fails(2);
    assert!(err.contains(".: no recordings of a real Slurm; expected NAME.conf, NAME.repK.csv"), "{err}");
    let err = recording("", LAST).run(&["reproduce", "slurm", "--logs", ".", "--table", "9"]).fails(2);
    assert!(err.contains("there is no table `9`; slurm: passes, runs, priorities"), "{err}");
}

#[test]
fn recordings_that_do_not_read_are_errors_with_their_place() {
    let folder = recording("", LAST);
    folder.write("made.rep1.csv", folder.read("made.rep1.csv").replace("0,1,0,0,2,5,1,1,3", "0,1,0,0,2,5,1,x,3"));
    let err = folder.run(&["reproduce", "slurm", "--logs", "."]).fails(2);
    assert!(err.contains("made.rep1.csv:2: limit_min: `x` is no number"), "{err}");
}

/// The page that is in the documents is what the recordings give.
#[test]
fn the_page_of_the_recordings_is_up_to_date() {
    let (Some(dir), Some(page)) = (shared("golden/slurm"), page()) else { return };
    let folder = Folder::new();
    let dir = dir.display().to_string();
    folder.run(&["reproduce", "slurm", "--logs", &dir, "--report", "page.md", "--quiet"]).ok();
    assert_eq!(folder.read("page.md").lines().collect::<Vec<_>>(), page.lines().collect::<Vec<_>>());
}

/// The page, as far as the program wrote it.
fn page() -> Option<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/slurm-certification.md");
    std::fs::read_to_string(path).ok()
}

/// Two nodes of two GPUs each, and a node without. Job 3 asks for a GPU type in the words of
/// `sacct`, and for both nodes.
fn gpu_site() -> Folder {
    let folder = Folder::with(
        "slurm.conf",
        "ClusterName=toy\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nGresTypes=gpu\n\
         NodeName=c1 CPUs=8 RealMemory=16000\nNodeName=g[1-2] CPUs=8 RealMemory=16000 Gres=gpu:a100:2\n\
         PartitionName=main Nodes=c1,g[1-2] Default=YES MaxTime=1-0\nPartitionName=gpu Nodes=g[1-2] MaxTime=1-0\n",
    );
    let row = |id: u32, partition: &str, minute: u32, (nodes, cpus): (u32, u32), gres: &str| {
        let (hour, end) = (format!("2026-01-05T10:{minute:02}:00"), format!("2026-01-05T11:{minute:02}:00"));
        format!(
            "{id}|ada|lab|{partition}|{hour}|{hour}|{hour}|{end}|120|COMPLETED|{cpus}|{cpus}|{nodes}|{nodes}|\
             cpu={cpus},mem=2G,node={nodes}{gres}\n"
        )
    };
    folder.write(
        "jobs.psv",
        [
            "JobID|User|Account|Partition|Submit|Eligible|Start|End|TimelimitRaw|State|ReqCPUS|AllocCPUS|ReqNodes|NNodes|ReqTRES\n"
                .to_string(),
            row(1, "gpu", 0, (1, 1), ",gres/gpu=1,gres/gpu:a100=1"),
            row(2, "main", 1, (1, 2), ""),
            row(3, "gpu", 2, (2, 2), ",gres/gpu=4,gres/gpu:a100=4"),
            row(4, "main", 3, (1, 2), ""),
        ]
        .concat(),
    );
    let args = ["import", "jobs.psv", "--machine", "slurm.conf", "--timezone", "UTC", "--out", "site", "--quiet"];
    assert_eq!(folder.run(&args).code, 0);
    folder
}

/// The own Slurm of a site with a `slurm.conf` is the baseline of every command, without any
/// switch: job 3 waits for the GPU that job 1 has, 58 minutes, though 19 processors are idle.
#[test]
fn the_baseline_of_a_site_is_its_own_slurm() {
    let folder = gpu_site();
    let own = "slurm(site/slurm.conf)";
    let compared = folder.run(&["compare", "site", "--trim", "all", "--format", "json"]).json();
    assert_eq!(compared["baseline"], own);
    let result = &compared["results"][0];
    assert_eq!(result["policy"]["text"], own);
    let wait = result["report"]["measures"]["wait"]["max"].as_f64();
    assert!(wait.is_some_and(|wait| (3_450.0..3_560.0).contains(&wait)), "{}", result["report"]["measures"]["wait"]);
    let told = folder.run(&["fidelity", "site", "--warm-up", "0", "--seeds", "0"]).ok();
    assert!(told.starts_with("toy replayed under slurm(site/slurm.conf)\n"), "{told}");
    assert!(told.contains("baseline: easy"), "{told}");
    let told = folder.run(&["explain", "--workload", "site", "--job", "3", "--no-what-if"]).ok();
    assert!(told.contains("it did not fit, and kept its partition from the jobs behind it"), "{told}");
    let told = folder.run(&["explain", "--workload", "site", "--job", "3", "--why-not"]).ok();
    assert!(told.contains("but not with the memory, devices or nodes that it asks for"), "{told}");
}

/// Plain `slurm` on a site is its own Slurm: the same waits, and no job without nodes.
#[test]
fn plain_slurm_is_the_sites_own() {
    let folder = gpu_site();
    let waits = |policy: &str| {
        folder.run(&["run", "site", "-p", policy, "--format", "json"]).json()["report"]["measures"]["wait"].clone()
    };
    assert_eq!(waits("slurm"), waits("slurm:site/slurm.conf"));
    let found = |policy: &str| folder.run(&["fidelity", "site", "-p", policy, "--format", "json"]).json();
    assert_eq!(found("slurm")["policy"], found("slurm:site/slurm.conf")["policy"]);
}

/// Without a `slurm.conf` no policy is a site's own, and `explain` asks for one.
#[test]
fn a_site_without_its_slurm_has_no_policy_of_its_own() {
    let folder = gpu_site();
    let args = ["import", "jobs.psv", "--timezone", "UTC", "--out", "bare", "--quiet"];
    assert_eq!(folder.run(&args).code, 0);
    let err = folder.run(&["explain", "--workload", "bare", "--job", "3"]).fails(2);
    assert!(err.contains("--policy is missing"), "{err}");
    let told = folder.run(&["fidelity", "bare", "--warm-up", "0", "--seeds", "0"]).ok();
    assert!(told.contains("replayed under easy"), "{told}");
}

/// Slurm names an announced outage into which a limit reaches.
#[test]
fn explain_names_the_outage_that_a_limit_reaches_into() {
    let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n{}", line(1, 10, 60, 1, 7_200)));
    folder.write("out.csv", "begin,end,procs,announced\n3600,7200,4,0\n");
    let args = ["explain", "--workload", "log.swf", "--outages", "out.csv", "--job", "1", "--why-not"];
    for policy in ["slurm", "easy"] {
        let told = folder.run(&[&args[..], &["--policy", policy]].concat()).ok();
        let reason =
            "enough for its 1, but its limit reaches into the outage announced for 3600, 59.8 min after it came";
        assert!(told.contains(reason), "{policy}: {told}");
    }
}
