//! `drystone whatif`.

use crate::common::{Folder, line};

/// Six weeks of a machine of 16 processors with jobs of two accounts: mornings at which more is
/// asked for than there is.
fn busy() -> String {
    let mut log = "; MaxProcs: 16\n; UnixStartTime: 1760313600\n".to_string();
    let mut number = 0;
    for day in 0..42_i64 {
        for job in 0..12 {
            number += 1;
            let (submit, run) =
                (day * 86_400 + job * 900, if job % 4 == 0 { 20_000 } else { 6_000 + 700 * ((day + job) % 5) });
            log += &line(number, submit, run, 2 + job % 5, 4 * run);
        }
    }
    log
}

/// Two nodes for the machine, with partitions on one each and on both.
const CONF: &str = "ClusterName=c\nSchedulerType=sched/backfill\nSchedulerParameters=bf_interval=60\nNodeName=n[1-4] CPUs=4\n\
                    PartitionName=all Nodes=ALL Default=YES MaxTime=2-0\n";

fn whatif<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["whatif", "log.swf", "--quiet"][..], more].concat()
}

fn folder() -> Folder {
    let folder = Folder::with("log.swf", busy());
    folder.write("slurm.conf", CONF);
    folder
}

/// Nothing changes, and so no number does: under a policy of processors and under Slurm's own, of
/// equal nodes and of a configuration.
#[test]
fn a_change_that_changes_nothing_gives_zero_exactly() {
    let folder = folder();
    let nothing = "nodes +0; load 1; limits x1; limit-max 30d split; limit-max 30d refuse; load 1 resampled";
    for policy in [&["--policy", "easy"][..], &["--slurm", "slurm.conf"], &["--cpus", "4"]] {
        let result = folder.run(&whatif(&[policy, &["--change", nothing, "--format", "json"]].concat())).json();
        let alternative = &result["alternatives"][0];
        assert_eq!(alternative["verdict"], "same", "{alternative}");
        assert_eq!(alternative["wait"]["difference"], 0.0);
        assert_eq!(alternative["wait"]["interval"], serde_json::json!([0.0, 0.0]));
        assert_eq!(alternative["after"], result["before"]);
        assert!(
            result["before"]["wait_mean"].as_f64().is_some_and(|wait| wait > 600.0),
            "there is something to change"
        );
    }
}

/// The mean waits are those that `run` finds on a log that was changed by other means.
#[test]
fn a_larger_machine_is_what_run_simulates_on_it() {
    let folder = folder();
    let result = folder.run(&whatif(&["--policy", "easy", "--procs-change", "+8", "--format", "json"])).json();
    let mean = |procs: &str| {
        let run =
            folder.run(&["run", "log.swf", "--policy", "easy", "--procs", procs, "--quiet", "--format", "json"]).json();
        run["report"]["measures"]["wait"]["mean"].as_f64().expect("a mean")
    };
    let near = |value: &serde_json::Value, expected: f64| {
        assert!(value.as_f64().is_some_and(|number| (number - expected).abs() < 1e-6), "{value} {expected}");
    };
    near(&result["before"]["wait_mean"], mean("16"));
    near(&result["alternatives"][0]["after"]["wait_mean"], mean("24"));
    // Load by compression is `--load` of other commands.
    let result = folder.run(&whatif(&["--policy", "easy", "--load", "1.25", "--format", "json"])).json();
    let run =
        folder.run(&["run", "log.swf", "--policy", "easy", "--load", "1.25", "--quiet", "--format", "json"]).json();
    near(
        &result["alternatives"][0]["after"]["wait_mean"],
        run["report"]["measures"]["wait"]["mean"].as_f64().expect("a mean"),
    );
}

/// Slurm's own scheduler takes nodes, queues, limits of QOS, whole nodes and maintenance.
#[test]
fn a_configuration_is_changed_with_the_machine() {
    let folder = folder();
    let changes = [
        "--nodes",
        "all:+2,-1",
        "--short-queue",
        "8h",
        "--format",
        "json",
        "--slurm",
        "slurm.conf",
        "--change",
        "qos normal: MaxJobsPU=1",
        "--change",
        "sharing whole",
        "--change",
        "maintenance 2025-10-29T00:00/12h",
    ];
    let result = folder.run(&whatif(&changes)).json();
    let difference = |at: usize| result["alternatives"][at]["wait"]["difference"].as_f64().expect("a number");
    let names: Vec<&str> = result["alternatives"]
        .as_array()
        .expect("all")
        .iter()
        .filter_map(|alternative| alternative["change"].as_str())
        .collect();
    assert_eq!(
        names,
        [
            "nodes all:+2; short-queue 8h",
            "nodes all:-1; short-queue 8h",
            "qos normal: MaxJobsPU=1",
            "sharing whole",
            "maintenance 2025-10-29T00:00/12h"
        ]
    );
    assert!(difference(0) < 0.0 && difference(1) > 0.0, "{} {}", difference(0), difference(1));
    assert!(difference(2) > difference(0), "one job of a user at a time");
    assert!(difference(3) > 0.0 && difference(4) > 0.0);
    assert!(result["clock_noise"].as_f64().is_some());
}

/// The overview fits a screen, the same on any number of threads, and a curve says where more stop
/// helping.
#[test]
fn a_curve_fits_a_screen() {
    let folder = folder();
    let args = whatif(&["--policy", "easy", "--procs-change", "+2,+4,+8,+64,+96", "--threads"]);
    let on = |threads: &'static str| folder.run(&[&args[..], &[threads]].concat()).ok();
    let text = on("1");
    assert_eq!(on("2"), text);
    assert!(text.lines().count() <= 30 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("More stop helping at `procs +"), "{text}");
    let result = folder.run(&[&args[..], &["2", "--format", "json", "--report", "page.html"]].concat()).json();
    let points = result["curve"]["points"].as_array().expect("points");
    assert_eq!(points.len(), 6, "with the machine as it is");
    let waits: Vec<f64> = points.iter().filter_map(|point| point["wait"].as_f64()).collect();
    assert!(waits.is_sorted_by(|a, b| a >= b), "{waits:?}");
    let page = folder.read("page.html");
    let titles = ["Mean wait against the site as it is", "Mean wait by size of the machine", "Winners and losers"];
    assert!(titles.iter().all(|title| page.contains(&format!("<figure><h3>{title}"))), "{}", page.len());
    let csv = folder.run(&[&args[..], &["2", "--format", "csv"]].concat()).ok();
    let row_count = csv.lines().filter(|line| line.contains(",all,")).count();
    assert_eq!(row_count, 5, "{csv}");
}

/// Four jobs a day that wait an hour together on three processors: the third needs all of them and
/// waits for the first, and the fourth runs meanwhile. On four processors the third starts at once,
/// and the fourth waits eight hours for it. Without backfilling the fourth waits nine hours on
/// three processors.
#[test]
fn more_processors_can_harm_and_are_warned_of() {
    const HOUR: i64 = 3_600;
    let mut log = "; MaxProcs: 3\n; UnixStartTime: 1760313600\n".to_string();
    for day in 0..42_i64 {
        for (at, (submit, procs, hours)) in [(0, 1, 2), (0, 1, 1), (1, 3, 8), (1, 2, 1)].into_iter().enumerate() {
            let run = hours * HOUR;
            log += &line(day * 4 + at as i64 + 1, day * 86_400 + submit * HOUR, run, procs, run);
        }
    }
    let folder = Folder::with("log.swf", log);
    let change_machine = |policy: &'static str, change: &'static str| {
        let args = ["--policy", policy, "--procs-change", change, "--format", "json"];
        folder.run(&whatif(&args)).json()["alternatives"][0].clone()
    };
    let alternative = change_machine("easy", "+1");
    assert_eq!((&alternative["wait"]["before"], &alternative["wait"]["after"]), (&900.0.into(), &7_200.0.into()));
    assert_eq!(alternative["verdict"], "more");
    assert_eq!(alternative["wait"]["job_hours"], 42.0 * 7.0);
    let warning = alternative["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("longer with more nodes") && warning.contains("anomaly"), "{warning}");
    let text = folder.run(&whatif(&["--policy", "easy", "--procs-change", "+1"])).ok();
    assert!(text.contains("jobs wait longer with more nodes"), "{text}");
    // Room for all harms no job, and first come, first served knows no such harm.
    for (policy, change, after) in [("easy", "+3", 0.0), ("fcfs", "+1", 8.0 * 900.0), ("fcfs", "+3", 0.0)] {
        let alternative = change_machine(policy, change);
        assert_eq!(
            (&alternative["wait"]["after"], &alternative["verdict"]),
            (&after.into(), &"less".into()),
            "{policy} {change}"
        );
        assert_eq!(alternative["warnings"], serde_json::json!([]), "{policy} {change}");
    }
}

/// A wide interval is no proof that more nodes are of no use, and a curve counts the nodes that
/// were asked for, whatever the nodes of other pools are.
#[test]
fn a_curve_claims_no_more_than_it_knows() {
    let folder = Folder::new();
    site(&folder);
    let result = folder.run(&["whatif", "site", "--nodes", "gpu:+1,+3", "--quiet", "--format", "json"]).json();
    let more: Vec<f64> = result["curve"]["points"]
        .as_array()
        .expect("points")
        .iter()
        .filter_map(|point| point["more"].as_f64())
        .collect();
    assert_eq!(more, [0.0, 1.0, 3.0]);
    // One week of six is busy: eight processors more take its queue away, no other week says so.
    let mut log = "; MaxProcs: 16\n; UnixStartTime: 1760313600\n".to_string();
    let mut number = 0;
    for day in 0..42_i64 {
        for job in 0..if (14..21).contains(&day) { 40 } else { 2 } {
            number += 1;
            log += &line(number, day * 86_400 + job * 900, 20_000, 8, 20_000);
        }
    }
    folder.write("rush.swf", log);
    let args = ["whatif", "rush.swf", "--policy", "easy", "--procs-change", "+8,+16", "--quiet"];
    let result = folder.run(&[&args[..], &["--format", "json"]].concat()).json();
    assert_eq!(
        (&result["alternatives"][1]["verdict"], &result["curve"]["enough"]),
        (&"unclear".into(), &"as it is".into())
    );
    let text = folder.run(&args).ok();
    assert!(text.contains("No number of them clearly shortens the mean wait: at `procs +16` -"), "{text}");
    assert!(!text.contains("stop helping"), "{text}");
    let single_text = folder.run(&["whatif", "rush.swf", "--policy", "easy", "--procs-change", "+16", "--quiet"]).ok();
    assert!(single_text.contains("of waiting, which may be chance."), "{single_text}");
    // Two days make no interval.
    let head = "; MaxProcs: 16\n; UnixStartTime: 1760313600\n".to_string();
    folder.write("short.swf", (0..40).fold(head, |log, job| log + &line(job + 1, job * 4_000, 20_000, 8, 20_000)));
    let args = ["whatif", "short.swf", "--policy", "easy", "--procs-change", "+8,+16", "--quiet"];
    let text = folder.run(&args).ok().replace('\n', " ");
    assert!(text.contains("and the log is too short to tell"), "{text}");
}

#[test]
fn wrong_usage_says_what_is_right() {
    let folder = folder();
    for (args, part) in [
        (&[][..], "nothing is to change"),
        (&["--nodes", "gpu:8x"], "expected a number such as +8"),
        (&["--nodes", "gpu:+8"], "no partition or pool is called `gpu`"),
        (&["--limits", "half"], "expected `x0.5`"),
        (&["--split", "--nodes", "+1"], "--limit-max"),
        (&["--change", "nods +1"], "did you mean `nodes`?"),
        (&["--maintenance", "thursday/10h"], "2026-12-03T08:00"),
        (&["--maintenance", "2025-02-30T08:00/10h"], "no date and time of a calendar"),
        (&["--short-queue", "1h"], "Slurm's own scheduler does"),
        (&["--policy", "easy", "--cpus", "4", "--nodes", "+1"], "leave --policy out"),
        (&["--slurm", "missing.conf", "--nodes", "+1"], "missing.conf"),
        (&["--slurm", "slurm.conf", "--qos-limit", "gold: MaxJobsPU=1"], "no QOS is called `gold`"),
        (&["--slurm", "slurm.conf", "--qos-limit", "normal: MaxJobsPU=0"], "MaxJobsPU=0 lets no job run"),
        (&["--remove", "user:77"], "changes"),
    ] {
        let ran = folder.run(&whatif(args));
        if args == ["--remove", "user:77"] {
            // A number that no job has leaves all jobs there.
            assert!(ran.ok().contains("0 jobs"));
            continue;
        }
        let error = ran.fails(2);
        assert!(error.contains(part), "{args:?}: {error}");
    }
}

/// Five weeks of a site with two pools: nodes of processors with two partitions that share one, and
/// nodes with GPUs.
fn site(folder: &Folder) {
    let head = "JobIDRaw|User|Account|Partition|QOS|Submit|Eligible|Start|End|State|TimelimitRaw|AllocCPUS|AllocNodes|ReqTRES|AllocTRES|NodeList\n";
    let mut text = head.to_string();
    for job in 0..560_i64 {
        let (day, k) = (job / 16, job % 16);
        let submit = 1_760_313_600 + day * 86_400 + k * 1_200;
        let gpu = k % 4 == 0;
        let (start, run) = (submit + 900 * (k % 7), if gpu { 9_000 } else { 7_200 } + 600 * ((day + k) % 5));
        let (cpus, node) = if gpu { (8, "g1".to_string()) } else { (16, format!("c{}", 1 + k % 4)) };
        let partition = if gpu {
            "gpu"
        } else if k % 3 == 0 {
            "small"
        } else {
            "cpu"
        };
        let devices = if gpu { ",gres/gpu=2" } else { "" };
        let tres = format!("billing={cpus},cpu={cpus},mem=8G,node=1{devices}");
        text += &format!(
            "{}|u{}|a{}|{partition}|normal|{submit}|{submit}|{start}|{}|COMPLETED|{}|{cpus}|1|{tres}|{tres}|{node}\n",
            job + 1,
            k % 5,
            k % 2,
            start + run,
            run * 3 / 60
        );
    }
    folder.write("jobs.psv", text);
    folder.write(
        "two.conf",
        "ClusterName=c\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nGresTypes=gpu\nNodeName=c[1-4] CPUs=16 \
         RealMemory=64000\nNodeName=g[1-2] CPUs=16 RealMemory=64000 Gres=gpu:4\nPartitionName=cpu Nodes=c[2-4] Default=YES \
         MaxTime=2-0\nPartitionName=small Nodes=c[1-2] MaxTime=2-0\nPartitionName=gpu Nodes=g[1-2] MaxTime=2-0\n",
    );
    folder.run(&["import", "jobs.psv", "--machine", "two.conf", "--out", "site"]).ok();
}

/// A site is simulated by its own Slurm on its own nodes, pool by pool; changes of one pool leave
/// the other as it is, and losers are named by partition, account and GPU.
#[test]
fn pools_of_a_site_change_one_by_one() {
    let folder = Folder::new();
    site(&folder);
    let changes = [
        "none",
        "nodes cpu:+1",
        "nodes gpu:-1",
        "border cpu: procs<=16 else gpu",
        "remove account:a0",
        "maintenance 2025-10-29T00:00/12h of gpu",
        "nodes small:-1",
    ];
    let mut args = vec!["whatif", "site", "--quiet", "--format", "json"];
    changes.iter().for_each(|change| args.extend(["--change", change]));
    let result = folder.run(&args).json();
    assert_eq!(result["own"], true);
    let alternative = |at: usize| result["alternatives"][at].clone();
    let class = |at: usize, by: &str, class: &str| {
        let classes = alternative(at)["classes"].as_array().expect("classes").clone();
        let entry = classes.into_iter().find(|entry| entry["by"] == by && entry["class"] == class);
        entry.unwrap_or_else(|| panic!("{at}: no {by} {class}"))["difference"].as_f64().expect("a number")
    };
    assert_eq!(
        (alternative(0)["verdict"].clone(), alternative(0)["after"].clone()),
        ("same".into(), result["before"].clone())
    );
    assert!(class(1, "partition", "cpu") < 0.0 && class(1, "GPU", "with GPUs") == 0.0);
    assert!(class(2, "GPU", "with GPUs") > 0.0 && class(2, "GPU", "without GPUs") == 0.0);
    // Jobs with GPUs find none in the other partition, and jobs of 16 processors are on their side.
    assert_eq!(alternative(3)["verdict"], "same", "{}", alternative(3)["notes"]);
    assert_eq!(alternative(4)["left_out"]["jobs"], 280);
    assert!(class(5, "partition", "gpu") > 0.0 && class(5, "partition", "cpu") == 0.0);
    assert!(class(6, "partition", "small") > 0.0);
    let error = folder.run(&["whatif", "site", "--quiet", "--nodes", "+1"]).fails(2);
    assert!(error.contains("several pools"), "{error}");
}

/// Two weeks of ten jobs a day: of the partition `gpu` every fifth on one node and every fifth on
/// both, of the partition `cpu` every fifth with the memory of a large node.
fn demanding(folder: &Folder) {
    let mut text =
        "JobIDRaw|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|TimelimitRaw|ReqTRES|AllocTRES|AllocNodes|AllocCPUs|NodeList\n"
            .to_string();
    for job in 0..140_i64 {
        let submit = 1_760_313_600 + job / 10 * 86_400 + job % 10 * 600;
        let (partition, cpus, nodes, mem, gpus, list) = match job % 5 {
            1 => ("gpu", 2, 1, 4_000, 2, "g1"),
            2 => ("gpu", 8, 2, 8_000, 4, "g[1-2]"),
            3 => ("cpu", 2, 1, 50_000, 0, "big2"),
            _ => ("cpu", 2, 1, 4_000, 0, "n1"),
        };
        let devices = if gpus > 0 { format!(",gres/gpu={gpus}") } else { String::new() };
        let tres = format!("billing={cpus},cpu={cpus},mem={mem}M,node={nodes}{devices}");
        let start = submit + 60;
        text += &format!(
            "{}|u{}|a{}|{partition}|normal|COMPLETED|{submit}|{submit}|{start}|{}|120|{tres}|{tres}|{nodes}|{cpus}|{list}\n",
            job + 1,
            job % 3,
            job % 2,
            start + 3_000
        );
    }
    folder.write("jobs.psv", text);
    folder.write(
        "demands.conf",
        "ClusterName=c\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nGresTypes=gpu\nNodeName=n[1-4] CPUs=4 \
         RealMemory=16000\nNodeName=big[1-2] CPUs=4 RealMemory=64000\nNodeName=g[1-2] CPUs=4 RealMemory=16000 Gres=gpu:2\n\
         PartitionName=cpu Nodes=n[1-4],big[1-2] Default=YES MaxTime=2-0\nPartitionName=gpu Nodes=g[1-2] MaxTime=2-0\n",
    );
    folder.run(&["import", "jobs.psv", "--machine", "demands.conf", "--out", "site"]).ok();
}

/// Jobs that find no nodes after a change are refused and counted: those of two nodes where one is
/// left, those of a memory that no node has any longer, those that a QOS allows no more. The others
/// run.
#[test]
fn jobs_that_can_never_run_are_refused_and_counted() {
    let folder = Folder::new();
    demanding(&folder);
    let cases = [
        ("nodes gpu:-1", 28),
        ("nodes cpu:-1", 0),
        // Both large nodes, which are the last ones, are gone.
        ("nodes cpu:-2", 28),
        ("nodes cpu:-5", 28),
        ("nodes cpu:-2; nodes gpu:-1", 56),
        ("nodes cpu:-2; limit-max 45min split", 28),
        ("qos normal: MaxTRES=cpu=4", 28),
        ("qos normal: MaxTRESPU=gres/gpu=1", 56),
        ("qos normal: GrpTRES=node=1", 28),
        ("qos normal: MaxTRES=cpu=8", 0),
    ];
    let mut args = vec!["whatif", "site", "--quiet", "--format", "json"];
    cases.iter().for_each(|(change, _)| args.extend(["--change", change]));
    let result = folder.run(&args).json();
    for (alternative, (change, refusal_count)) in result["alternatives"].as_array().expect("all").iter().zip(cases) {
        assert_eq!(
            (&alternative["refused"], &alternative["left_out"]["jobs"]),
            (&refusal_count.into(), &refusal_count.into()),
            "{change}"
        );
        let notes = alternative["notes"].as_array().expect("notes").iter().filter_map(|note| note.as_str());
        assert_eq!(
            notes.filter(|note| note.contains("refused")).count() > 0,
            refusal_count > 0,
            "{change}: {alternative}"
        );
        // All others have run; a few at the edges of the records do not count.
        assert!(alternative["wait"]["jobs"].as_u64().is_some_and(|jobs| jobs + refusal_count > 130), "{change}");
    }
    let text = folder.run(&["whatif", "site", "--quiet", "--nodes", "cpu:-2"]).ok();
    assert!(text.contains("28 jobs") && text.contains("can never run"), "{text}");
}

/// Memory of nodes, and memory of jobs for each processor. Of the 140 jobs 28 take 50,000 MB on two
/// processors, which two of the nodes have; the others take 2,000 or 1,000 MB a processor.
#[test]
fn memory_is_changed_on_nodes_and_for_processors() {
    let folder = Folder::new();
    demanding(&folder);
    let cases = [
        // No node has 50,000 MB any longer.
        ("memory cpu:32G", 28, "6 nodes have a memory of 32G"),
        ("memory +50%", 0, "8 nodes have a memory of +50% beside what there was"),
        // 50,000 MB cost four processors instead of two, which a large node has; five cost too
        // much.
        ("set MaxMemPerCPU=12500", 0, "28 jobs ask for more memory than their processors have: 56 processors more"),
        ("set MaxMemPerCPU=10000", 28, "28 jobs ask for more memory"),
        ("set MaxMemPerCPU=25000", 0, "0 jobs ask for more memory"),
        // No job had a default.
        ("set DefMemPerCPU=4000", 0, "0 jobs that got the old default"),
    ];
    let mut args = vec!["whatif", "site", "--quiet", "--format", "json"];
    cases.iter().for_each(|(change, ..)| args.extend(["--change", change]));
    let result = folder.run(&args).json();
    for (alternative, (change, refusal_count, note)) in
        result["alternatives"].as_array().expect("all").iter().zip(cases)
    {
        assert_eq!(alternative["refused"], refusal_count, "{change}: {alternative}");
        let notes = alternative["notes"].to_string();
        assert!(notes.contains(note), "{change}: {notes}");
    }
    // 84 jobs have 2,000 MB for each of two processors. At 20,000 MB those with GPUs find no node,
    // and the others wait for the two large ones.
    let conf = folder.read("demands.conf");
    folder.write("default.conf", format!("DefMemPerCPU=2000\n{conf}"));
    folder.run(&["import", "jobs.psv", "--machine", "default.conf", "--out", "other"]).ok();
    let args = ["whatif", "other", "--quiet", "--format", "json", "--change", "set DefMemPerCPU=20000"];
    let result = folder.run(&args).json();
    let alternative = &result["alternatives"][0];
    assert!(alternative["notes"].to_string().contains("84 jobs that got the old default"), "{}", alternative["notes"]);
    assert_eq!(alternative["refused"], 28);
    let classes = alternative["classes"].as_array().expect("classes");
    let of_cpu = classes.iter().find(|class| class["by"] == "partition" && class["class"] == "cpu").expect("a class");
    assert!(of_cpu["difference"].as_f64().is_some_and(|more| more > 0.0), "{of_cpu}");
    let error = folder.run(&["whatif", "site", "--quiet", "--memory", "cpu:-16000M"]).fails(2);
    assert!(error.contains("node n1 has 16000 MB, and some have to stay"), "{error}");
    folder.write("processors.conf", conf.replace("CR_Core_Memory", "CR_Core"));
    folder.run(&["import", "jobs.psv", "--machine", "processors.conf", "--out", "cores"]).ok();
    let error = folder.run(&["whatif", "cores", "--quiet", "--memory", "+1G"]).fails(2);
    assert!(error.contains("does not count memory"), "{error}");
}

/// Load by compression says which records neither side has.
#[test]
fn load_says_what_it_leaves_out() {
    let folder = Folder::new();
    demanding(&folder);
    let text = folder.run(&["whatif", "site", "--quiet", "--load", "1.2"]).ok().replace('\n', " ");
    assert!(text.contains("nodes that were out"), "{text}");
    for options in [&["--load", "1.2", "--arrivals", "resampled"][..], &["--nodes", "cpu:+1"]] {
        let args = [&["whatif", "site", "--quiet"][..], options].concat();
        assert!(!folder.run(&args).ok().contains("neither side has"), "{options:?}");
    }
}

/// A column has one unit, and an interval that has zero in it shows a negative and a positive end.
#[test]
fn a_column_has_one_unit() {
    let folder = folder();
    let text = folder.run(&whatif(&["--policy", "easy", "--procs-change", "+1,+16,-4", "--details"])).ok();
    let header = text.lines().find(|line| line.starts_with("change")).expect("a header");
    let unit = header.split("difference, ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a unit");
    assert!(header.contains(&format!("mean wait, {unit}")), "{header}");
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("procs ") && line.contains("(")).collect();
    assert_eq!(rows.len(), 3, "{text}");
    for row in rows {
        assert!(![" min", " h ", " s "].iter().any(|unit| row.contains(unit)), "{row}");
        let ends = row.split('(').nth(1).and_then(|rest| rest.split(')').next()).expect("an interval");
        let (low, high) = ends.split_once(" to ").expect("two ends");
        assert_eq!(row.contains("unclear"), low.starts_with('-') && high.starts_with('+'), "{row}");
    }
}

/// Limits of partitions and QOS are candidates of `advise`. A bound that no user reaches changes
/// nothing, in any figure: candidates are measured as the site as it is.
#[test]
fn advice_tries_limits() {
    let folder = Folder::new();
    demanding(&folder);
    let result = folder.run(&["advise", "site", "--only", "limits", "--quiet", "--format", "json"]).json();
    let trials = result["advice"]["tried"].as_array().expect("candidates").clone();
    let of = |name: &str| {
        trials.iter().find(|trial| trial["name"] == name).unwrap_or_else(|| panic!("no {name}: {trials:?}"))
    };
    // Half of the larger pool of 24 processors; five jobs of 50 minutes at most are there at once.
    let bound = of("qos normal: MaxTRESPU=cpu=12");
    assert_eq!((&bound["change"], &bound["values"]), (&0.0.into(), &of("as it is")["values"]));
    assert_eq!(result["limits_tried"], true);
    assert_eq!(result["advice"]["limits"]["reason"], "nothing_better");
}

/// The worth of a remark is the difference that `whatif` finds for its setting.
#[test]
fn a_remark_has_its_worth() {
    let folder = folder();
    folder.write("short.conf", CONF.replace("bf_interval=60", "bf_interval=60,bf_window=120"));
    let args = ["advise", "--check", "log.swf", "--slurm", "short.conf", "--worth", "--quiet", "--format", "json"];
    // Starts as a site would record them.
    folder.run(&["run", "log.swf", "--policy", "easy", "--jobs", "ran.swf", "--quiet"]).ok();
    let site_args: Vec<&str> = args.iter().map(|word| if *word == "log.swf" { "ran.swf" } else { word }).collect();
    let result = folder.run(&site_args).json();
    let worth = &result["worth"][0];
    assert_eq!(worth["change"], "set bf_window=1440", "{result}");
    let change = folder.run(&[
        "whatif",
        "ran.swf",
        "--slurm",
        "short.conf",
        "--change",
        "set bf_window=1440",
        "--quiet",
        "--format",
        "json",
    ]);
    assert_eq!(worth["wait"]["difference"], change.json()["alternatives"][0]["wait"]["difference"]);
}

/// A guard may bound the jobs of a partition or an account, by name.
#[test]
fn a_guard_names_a_class() {
    let folder = Folder::new();
    demanding(&folder);
    let advise = |guard: &'static str| {
        folder.run(&["advise", "site", "--only", "limits", "--quiet", "--guard", guard, "--format", "json"])
    };
    let result = advise("avgW(partition=gpu)<+10%").json();
    assert_eq!(result["guards"][0], "avgW(partition=gpu)<+10%");
    let figures = result["baseline"]["figures"].as_array().expect("figures").clone();
    let of = |name: &str| {
        let figure =
            figures.iter().find(|figure| figure["figure"] == name).unwrap_or_else(|| panic!("no {name}: {figures:?}"));
        figure["value"].as_f64().expect("a number")
    };
    // Jobs of both nodes make those of the partition wait; nothing waits for processors elsewhere.
    assert!(of("avgW(partition=gpu)") > of("avgW"), "{figures:?}");
    let error = advise("maxW(account=a7)<1h").fails(2);
    assert!(error.contains("no account is called `a7`") && error.contains("a0, a1"), "{error}");
}
