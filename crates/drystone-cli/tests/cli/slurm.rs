//! Slurm's model on the command line: messages about a `slurm.conf`, about passes, and about
//! recordings.

use crate::common::{Folder, line, says, shared};

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
    "slurm.conf:2: unknown: the key SchedulerParamaters is not known here, and changes nothing in the model",
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
        for remark in TOLD {
            assert_eq!(ran.err.matches(remark).count(), 1, "{args:?}: `{remark}` in\n{}", ran.err);
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
    for remark in TOLD {
        assert_eq!(ran.err.matches(remark).count(), 1, "`{remark}` in\n{}", ran.err);
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
    let story = explain("2", "slurm", &[]).ok();
    for part in [
        "Passes of Slurm's schedulers that considered it:\n",
        "main passes: it did not fit, and kept its partition from the jobs behind it; too few nodes were idle\n",
        "backfill passes: planned to start 10.0 min after it came; too few nodes were idle\n",
        ": it started\n",
    ] {
        assert!(says(&story, part), "`{part}` is missing in:\n{story}");
    }
    let story = explain("3", "slurm(bf_max_job_test=1)", &[]).ok();
    assert!(says(&story, "the pass ended before it, by bf_max_job_test; idle nodes would have been enough"), "{story}");
    let json = explain("3", "slurm(bf_max_job_user=1)", &["--format", "json"]).json();
    let passes = json["passes"].as_array().expect("passes");
    let pass = passes.iter().find(|pass| pass["verdict"] == "skipped").expect("a pass that skips it");
    assert_eq!((&pass["pass"], &pass["by"]), (&"backfill".into(), &"bf_max_job_user".into()));
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
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/slurm-certification.md");
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
    let comparison = folder.run(&["compare", "site", "--trim", "all", "--format", "json"]).json();
    assert_eq!(comparison["baseline"], own);
    let result = &comparison["results"][0];
    assert_eq!(result["policy"]["text"], own);
    let wait = result["report"]["measures"]["wait"]["max"].as_f64();
    assert!(wait.is_some_and(|wait| (3_450.0..3_560.0).contains(&wait)), "{}", result["report"]["measures"]["wait"]);
    let text = folder.run(&["fidelity", "site", "--warm-up", "0", "--seeds", "0"]).ok();
    assert!(text.starts_with("toy replayed under slurm(site/slurm.conf)\n"), "{text}");
    assert!(text.contains("baseline: easy"), "{text}");
    let story = folder.run(&["explain", "--workload", "site", "--job", "3", "--no-what-if"]).ok();
    assert!(says(&story, "it did not fit, and kept its partition from the jobs behind it"), "{story}");
    let story = folder.run(&["explain", "--workload", "site", "--job", "3", "--why-not"]).ok();
    assert!(says(&story, "but of the 4 of gpu that it asks for, only 3 were free"), "{story}");
}

/// Plain `slurm` on a site is its own Slurm: the same waits, and no job without nodes.
#[test]
fn plain_slurm_is_the_sites_own() {
    let folder = gpu_site();
    let waits = |policy: &str| {
        folder.run(&["run", "site", "-p", policy, "--format", "json"]).json()["report"]["measures"]["wait"].clone()
    };
    assert_eq!(waits("slurm"), waits("slurm:site/slurm.conf"));
    let fidelity = |policy: &str| folder.run(&["fidelity", "site", "-p", policy, "--format", "json"]).json();
    assert_eq!(fidelity("slurm")["policy"], fidelity("slurm:site/slurm.conf")["policy"]);
}

/// Without a `slurm.conf` no policy is a site's own, and `explain` asks for one.
#[test]
fn a_site_without_its_slurm_has_no_policy_of_its_own() {
    let folder = gpu_site();
    let args = ["import", "jobs.psv", "--timezone", "UTC", "--out", "bare", "--quiet"];
    assert_eq!(folder.run(&args).code, 0);
    let err = folder.run(&["explain", "--workload", "bare", "--job", "3"]).fails(2);
    assert!(err.contains("--policy is missing"), "{err}");
    let text = folder.run(&["fidelity", "bare", "--warm-up", "0", "--seeds", "0"]).ok();
    assert!(text.contains("replayed under easy"), "{text}");
}

/// Slurm names an announced outage into which a limit reaches.
#[test]
fn explain_names_the_outage_that_a_limit_reaches_into() {
    let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n{}", line(1, 10, 60, 1, 7_200)));
    folder.write("out.csv", "begin,end,procs,announced\n3600,7200,4,0\n");
    let args = ["explain", "--workload", "log.swf", "--outages", "out.csv", "--job", "1", "--why-not"];
    for policy in ["slurm", "easy"] {
        let story = folder.run(&[&args[..], &["--policy", policy]].concat()).ok();
        let reason =
            "enough for its 1, but its limit reaches into the outage announced for 3600, 59.8 min after it came";
        assert!(says(&story, reason), "{policy}: {story}");
    }
}

/// Columns of the small dumps below.
const COLUMNS: &str = "JobIDRaw|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|ReqCPUS|AllocCPUS|ReqNodes|NNodes|NodeList\n";

/// Beginning of the small dumps, seconds since 1970.
const BEGIN: i64 = 1_767_225_600;

/// A job of a small dump: times in seconds after the beginning, nodes and processors asked for.
struct Row {
    id: u32,
    partition: &'static str,
    submit: i64,
    start: Option<i64>,
    end: i64,
    asks: (u32, u32),
    nodes: &'static str,
}

impl Row {
    fn text(&self) -> String {
        let Row { id, partition, submit, start, end, asks: (nodes, cpus), nodes: list } = self;
        let submit = BEGIN + submit;
        let end = BEGIN + end;
        let (begin, ran, state, allocation) = match start {
            Some(start) => ((BEGIN + start).to_string(), end - BEGIN - start, "COMPLETED", (*cpus, *nodes)),
            None => ("Unknown".to_string(), 0, "CANCELLED by 1000", (0, *nodes)),
        };
        format!(
            "{id}|ada|lab|{partition}|{submit}|{submit}|{begin}|{end}|{ran}|60|{state}|{cpus}|{}|{nodes}|{}|{list}\n",
            allocation.0, allocation.1
        )
    }
}

/// Imports a dump, with what the options say, as `site`. Returns the warnings.
fn import(folder: &Folder, conf: &str, rows: &[Row], more: &[&str]) -> String {
    folder.write("slurm.conf", conf);
    folder.write("jobs.psv", COLUMNS.to_string() + &rows.iter().map(Row::text).collect::<String>());
    let args = ["import", "jobs.psv", "--machine", "slurm.conf", "--timezone", "UTC", "--out", "site"];
    let ran = folder.run(&[&args[..], more].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.err
}

/// The start of each job of the site under its own Slurm, in seconds after the first arrival.
fn starts(folder: &Folder, workload: &[&str]) -> Vec<(u64, i64)> {
    let args = [&["run"], workload, &["-p", "slurm", "--trim", "all", "--jobs", "jobs.csv", "--quiet"]].concat();
    folder.run(&args).ok();
    let rows = folder.read("jobs.csv");
    let columns: Vec<&str> = rows.lines().next().expect("a header").split(',').collect();
    let at = |name: &str| columns.iter().position(|column| *column == name).expect("a column");
    let (id, start) = (at("job_id"), at("start"));
    let of = |row: &str| {
        let cells: Vec<&str> = row.split(',').collect();
        Some((cells[id].parse().ok()?, cells[start].parse().ok()?))
    };
    rows.lines().skip(1).filter_map(of).collect()
}

/// Two nodes of four processors.
const PAIR: &str = "ClusterName=c\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSchedulerType=sched/backfill\n\
                    NodeName=n[1-2] CPUs=4 State=UNKNOWN\nPartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE\n";

/// Job 2 was cancelled after 190 s of waiting, while the record shows n1 busy and n2 empty. Slurm
/// gives it n2 at its first pass. Where n2 is said to be out, it waits, takes nothing, and job 3
/// follows job 1 on n1, as recorded.
#[test]
fn a_cancelled_job_waits_only_where_its_node_is_out() {
    let rows = [
        Row { id: 1, partition: "p", submit: 0, start: Some(5), end: 605, asks: (1, 4), nodes: "n1" },
        Row { id: 2, partition: "p", submit: 10, start: None, end: 200, asks: (1, 4), nodes: "None assigned" },
        Row { id: 3, partition: "p", submit: 20, start: Some(606), end: 666, asks: (1, 4), nodes: "n1" },
    ];
    let folder = Folder::new();
    import(&folder, PAIR, &rows, &[]);
    let start = |id: u64| starts(&folder, &["site"]).iter().find(|(job, _)| *job == id).map(|(_, start)| *start);
    assert!(start(2).is_some_and(|at| (10..=15).contains(&at)), "{:?}", start(2));
    folder.write(
        "events.psv",
        "Cluster|NodeName|TimeStart|TimeEnd|State|Reason\nc|n2|2025-12-31T00:00:00|2026-01-02T00:00:00|DOWN|bad\n",
    );
    import(&folder, PAIR, &rows, &["--events", "events.psv"]);
    assert_eq!(start(2), None);
    assert!(start(3).is_some_and(|at| (600..=610).contains(&at)), "{:?}", start(3));
    for command in ["fidelity", "advise", "compare"] {
        folder.run(&[command, "site", "--quiet"]).ok();
    }
}

/// Three nodes of 64 processors. Jobs 1 to 3 run on n1 and n2 when the window begins. Job 4 asks
/// for two nodes of 64; two are free when jobs 1 and 2 have left n1.
#[test]
fn jobs_that_run_at_the_start_keep_their_nodes() {
    let conf = PAIR.replace("n[1-2] CPUs=4", "n[1-3] CPUs=64");
    let rows = [
        Row { id: 1, partition: "p", submit: 0, start: Some(2), end: 5_000, asks: (1, 15), nodes: "n1" },
        Row { id: 2, partition: "p", submit: 0, start: Some(2), end: 6_000, asks: (1, 15), nodes: "n1" },
        Row { id: 3, partition: "p", submit: 0, start: Some(2), end: 9_000, asks: (1, 15), nodes: "n2" },
        Row { id: 4, partition: "p", submit: 3_700, start: Some(6_001), end: 8_000, asks: (2, 128), nodes: "n[1,3]" },
    ];
    let folder = Folder::new();
    import(&folder, &conf, &rows, &["--from", "2026-01-01T01:00:00"]);
    let story = folder.run(&["explain", "--workload", "site", "--job", "4", "--no-what-if"]).ok();
    // 01:40:00 is 6,000 s after the beginning of the dump.
    assert!(story.contains("2026-01-01 01:40:0"), "{story}");
}

/// Outages that `workload outages` draws, under the defaults of Slurm: no crash, every job starts,
/// and none while fewer processors are there than it needs.
#[test]
fn drawn_outages_leave_every_job_its_turn() {
    let jobs: Vec<String> = (0..200).map(|i| line(i + 1, i * 1_500, 900 + (i % 7) * 600, 1 + i % 16, 7_200)).collect();
    let folder = Folder::with("log.swf", format!("; MaxProcs: 16\n{}", jobs.concat()));
    for seed in ["1", "2", "3", "4", "5"] {
        let args = ["workload", "outages", "log.swf", "--node", "8", "--seed", seed, "--quiet"];
        folder.write("out.csv", folder.run(&args).ok());
        let rows = starts(&folder, &["--workload", "log.swf", "--outages", "out.csv"]);
        assert_eq!(rows.len(), 200, "seed {seed}");
    }
}

/// Two processors, one to a node. An outage of one of them until 500 began before the log; a job
/// of two waits until then.
#[test]
fn an_outage_that_reaches_into_the_log_is_waited_for() {
    let folder =
        Folder::with("log.swf", format!("; MaxProcs: 2\n{}{}", line(1, 100, 60, 2, 600), line(2, 900, 60, 1, 600)));
    folder.write("out.csv", "begin,end,processors\n50,500,1\n");
    let rows = starts(&folder, &["--workload", "log.swf", "--outages", "out.csv"]);
    assert!(matches!(rows[..], [(1, 500..=503), (2, 900..=903)]), "{rows:?}");
}

/// A maintenance of the whole machine that is announced from the start: jobs whose limits reach
/// into it start when it is over, and short ones at once.
#[test]
fn jobs_wait_for_an_announced_maintenance_that_their_limits_reach() {
    let jobs = [line(1, 10, 600, 1, 31_536_000), line(2, 20, 600, 1, 3_600), line(3, 603_000, 600, 1, 3_600)];
    let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n{}", jobs.concat()));
    folder.write("out.csv", "begin,end,procs,announced\n604800,691200,4,0\n");
    let mut rows = starts(&folder, &["--workload", "log.swf", "--outages", "out.csv"]);
    rows.sort_unstable();
    assert!(matches!(rows[..], [(1, 691_200..=691_262), (2, 20..=23), (3, 691_200..=691_262)]), "{rows:?}");
}

/// A job of more processors than its partition has, and a partition that is down by the file and
/// had a job all the same: one sentence each, and every job runs.
#[test]
fn a_partition_that_is_too_small_or_down_stops_nothing() {
    let conf = "ClusterName=c\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-4] CPUs=4\n\
                PartitionName=p Nodes=n[1-4] Default=YES\nPartitionName=half Nodes=n[1-2]\nPartitionName=off Nodes=n[1-2] State=DOWN\n";
    let rows = [
        Row { id: 1, partition: "half", submit: 0, start: Some(5), end: 605, asks: (4, 16), nodes: "n[1-4]" },
        Row { id: 2, partition: "off", submit: 700, start: Some(705), end: 800, asks: (1, 4), nodes: "n1" },
        Row { id: 3, partition: "p", submit: 900, start: Some(905), end: 1_000, asks: (1, 4), nodes: "n1" },
    ];
    let folder = Folder::new();
    let notes = import(&folder, conf, &rows, &[]);
    for sentence in [
        "1 job asks in the partition half for 16 processors, such as 1: the partition is smaller: another partition of the same nodes",
        "off: a State other than UP; in simulations its jobs start as if it was UP",
    ] {
        assert_eq!(notes.matches(sentence).count(), 1, "`{sentence}` in\n{notes}");
    }
    let mut job_starts = starts(&folder, &["site"]);
    job_starts.sort_unstable();
    assert!(matches!(job_starts[..], [(1, 0..=5), (2, 700..=705), (3, 900..=905)]), "{job_starts:?}");
    for command in ["fidelity", "advise", "compare"] {
        folder.run(&[command, "site", "--quiet"]).ok();
    }
}

/// Two partitions that share no node are two pools: plain `slurm` is in each that of its own nodes.
#[test]
fn plain_slurm_is_that_of_each_pool() {
    let conf = PAIR.replace("Nodes=ALL Default=YES", "Nodes=n1 Default=YES") + "PartitionName=q Nodes=n2\n";
    let rows = [
        Row { id: 1, partition: "p", submit: 0, start: Some(5), end: 605, asks: (1, 4), nodes: "n1" },
        Row { id: 2, partition: "q", submit: 10, start: Some(15), end: 700, asks: (1, 4), nodes: "n2" },
        Row { id: 3, partition: "q", submit: 20, start: Some(705), end: 800, asks: (1, 4), nodes: "n2" },
    ];
    let folder = Folder::new();
    import(&folder, &conf, &rows, &[]);
    let mut job_starts = starts(&folder, &["site"]);
    job_starts.sort_unstable();
    assert!(matches!(job_starts[..], [(1, 0..=5), (2, 10..=15), (3, 695..=705)]), "{job_starts:?}");
}

/// `gres.conf` in the folder of `slurm.conf` is read, as Slurm does.
#[test]
fn gres_conf_is_found_beside_slurm_conf() {
    let folder = Folder::with("gres.conf", "NodeName=n1 Name=gpu Type=k80 Count=2\n");
    let conf = PAIR.replace("CPUs=4", "CPUs=4 Gres=gpu:4");
    let rows = [Row { id: 1, partition: "p", submit: 0, start: Some(5), end: 605, asks: (1, 4), nodes: "n1" }];
    let notes = import(&folder, &conf, &rows, &[]);
    assert!(notes.contains("gres.conf: n1 has gpu:k80:2, and slurm.conf says gpu:4: slurm.conf counts"), "{notes}");
}

/// A reservation of `Nodes=ALL`, printed as a paragraph, takes the whole machine; one on nodes that
/// nothing names is left out with one sentence.
#[test]
fn a_reservation_of_all_nodes_is_of_all_nodes() {
    let rows = [
        Row { id: 1, partition: "p", submit: 0, start: Some(5), end: 105, asks: (1, 4), nodes: "n1" },
        Row { id: 2, partition: "p", submit: 3_700, start: Some(7_205), end: 7_300, asks: (1, 4), nodes: "n1" },
    ];
    let folder = Folder::with(
        "res.txt",
        "ReservationName=maint StartTime=2026-01-01T01:00:00 EndTime=2026-01-01T02:00:00 Duration=01:00:00\n   \
         Nodes=ALL NodeCnt=2 CoreCnt=8 Flags=MAINT\n   Users=root\n\n\
         ReservationName=ghost StartTime=2026-01-01T01:00:00 EndTime=2026-01-01T02:00:00 Duration=01:00:00\n   Nodes=zz1\n",
    );
    let notes = import(&folder, PAIR, &rows, &["--events", "res.txt"]);
    let sentence = "1 node of an event or reservation is named by no description and no job, such as zz1: left out";
    assert_eq!(notes.matches(sentence).count(), 1, "{notes}");
    let job_starts = starts(&folder, &["site"]);
    assert!(job_starts.iter().any(|(job, start)| *job == 2 && (7_200..=7_262).contains(start)), "{job_starts:?}");
}
