//! Resources beyond processors on the command line, on schedules computed by hand.

use crate::common::Folder;
use serde_json::Value;

/// A gigabyte in kilobytes, as SWF has memory.
const GB: i64 = 1 << 20;

/// A job as a line of a log: number, submit, run time (also its estimate), processors, and
/// gigabytes for each of them; -1 where it does not say.
fn job([number, submit, run, procs, memory]: [i64; 5]) -> String {
    let memory = if memory < 0 { -1 } else { memory * GB };
    format!("{number} {submit} -1 {run} {procs} -1 -1 {procs} {run} {memory} 1 {number} -1 -1 1 {number} -1 -1\n")
}

/// Four processors. Job 1 holds 6 GB from 0 to 100. Job 2 asks for 4 GB, job 3 for 2 GB, job 4 does
/// not say.
fn folder() -> Folder {
    let rows = [[1, 0, 100, 2, 3], [2, 10, 50, 1, 4], [3, 20, 30, 1, 2], [4, 30, 200, 1, -1]];
    let log: String = rows.into_iter().map(job).collect();
    Folder::with("log.swf", format!("; MaxProcs: 4\n{log}"))
}

/// The start of each job, in order of their numbers.
fn starts(folder: &Folder, args: &[&str]) -> Vec<i64> {
    let mut words = vec!["run", "--workload", "log.swf", "--jobs", "out.csv", "--quiet"];
    words.extend(args);
    folder.run(&words).ok();
    let of = |line: &str| -> Vec<i64> { line.split(',').take(3).map(|cell| cell.parse().unwrap_or(-1)).collect() };
    let mut rows: Vec<Vec<i64>> = folder.read("out.csv").lines().skip(1).map(of).collect();
    rows.sort();
    rows.into_iter().map(|row| row[2]).collect()
}

/// Of 8 GB job 1 leaves 2: job 2 waits for its end at 100, though two processors are idle, and job
/// 3 passes. Job 4 needs no memory and one of the three processors that job 2 leaves over.
/// Processors alone keep job 4 back until job 3 has ended.
#[test]
fn memory_keeps_a_job_back() {
    let folder = folder();
    for policy in ["easy", "conservative", "easy(reserve=2)", "easy(plan=estimate)", "slack(sf=0)"] {
        assert_eq!(starts(&folder, &["--policy", policy]), [0, 10, 20, 50], "{policy}");
        let options = ["--policy", policy, "--resources", "mem=8GB"];
        assert_eq!(starts(&folder, &options), [0, 100, 20, 30], "{policy}");
        let each = ["--policy", policy, "--resources", "mem=2GiB/proc"];
        assert_eq!(starts(&folder, &each), [0, 100, 20, 30], "{policy}");
        // It never binds.
        let ample = ["--policy", policy, "--resources", "mem=12288MB"];
        assert_eq!(starts(&folder, &ample), [0, 10, 20, 50], "{policy}");
    }
}

/// 860 GB·s of 8 GB until job 4 ends at 230.
#[test]
fn the_use_of_each_resource_is_told() {
    let folder = folder();
    let args = ["run", "--workload", "log.swf", "--policy", "easy", "--resources", "mem=8GB"];
    let json = folder.run(&[&args[..], &["--quiet", "--format", "json"]].concat()).json();
    let memory = &json["report"]["resources"][0];
    assert_eq!((&memory["name"], &memory["jobs"]), (&Value::from("mem"), &Value::from(3)));
    assert_eq!(memory["utilisation"], 860.0 / 1_840.0);
    let ran = folder.run(&args);
    assert!(ran.err.contains("1 of 4 jobs does not say how much memory it needs"), "{}", ran.err);
    assert!(ran.ok().contains("46.7% of 8 GB; 3 jobs ask for some of it"));
    let comparison = folder.run(&["compare", "--workload", "log.swf", "--resources", "mem=8GB"]);
    assert!(!comparison.err.contains("left out"), "every usual candidate counts memory: {}", comparison.err);
    assert!(comparison.ok().contains("mem of 8 GB"));
    let comparison_of_all = folder.run(&["compare", "--workload", "log.swf", "--resources", "mem=8GB", "--all"]);
    assert!(!comparison_of_all.err.contains("left out"), "every family counts memory: {}", comparison_of_all.err);
}

/// Two partitions would have two processors each; job 1 takes all of its own until 100.
#[test]
fn partitions_are_pools() {
    let folder = folder();
    let log = folder.read("log.swf").replace("1 3 -1 -1 1 3 -1 -1", "1 3 -1 -1 1 1 -1 -1");
    folder.write("log.swf", log);
    // Jobs 1 and 3 are of partition 1.
    assert_eq!(starts(&folder, &["--policy", "easy", "--resources", "partition:1=2"]), [0, 10, 100, 30]);
}

/// Both GPUs are job 1's until 100; job 3 wants one of them. The licence goes from job 2 to job 4.
#[test]
fn a_table_names_any_resource() {
    let folder = folder();
    folder.write("demands.csv", "job,gpu,license:solver\ntotal,2,1\n1,2,\n2,,1\n3,1,\n4,,1\n9,1,\n");
    let args = ["--policy", "greedy", "--resources", "demands.csv"];
    assert_eq!(starts(&folder, &args), [0, 10, 100, 60]);
    let args_of_easy = ["run", "--workload", "log.swf", "--policy", "easy", "--resources", "demands.csv"];
    let warnings = folder.run(&args_of_easy).err;
    assert!(warnings.contains("for jobs that are not simulated, the first job 9"), "{warnings}");
    // Orders may ask for them.
    let order = ["--policy", "greedy(order=gpus)", "--resources", "demands.csv"];
    assert_eq!(starts(&folder, &order), [0, 10, 100, 60]);
}

#[test]
fn what_cannot_be_is_told() {
    let folder = folder();
    folder.write("short.csv", "job,gpu\ntotal,2\n1\n");
    for (args, problem) in [
        (["--resources", "mem=8"], "`8` has no unit"),
        (["--resources", "mem=8QB"], "`QB` in `8QB` is no unit of memory"),
        (["--resources", "gpu=2"], "a log says nothing of `gpu`"),
        (
            ["--resources", "mem=5GB"],
            "1 of 4 jobs ask for more than the machine has, first job 1, which asks for 6 GB of `mem`",
        ),
        (["--resources", "short.csv"], "short.csv, line 3: 0 amounts for 1 resources (gpu)"),
        (["--resources", "site"], "`drystone import` makes one"),
        (["--resources", "absent.csv"], "absent.csv: cannot be read"),
    ] {
        let error = folder.run(&[&["run", "--workload", "log.swf", "--policy", "easy"][..], &args].concat()).fails(2);
        assert!(error.contains(problem), "{args:?}: {error}");
    }
    for policy in ["easy@gaussier2015", "multiqueue(own=fig4)", "multiqueue(promise=arrival)"] {
        let run_args = ["run", "--workload", "log.swf", "--policy", policy, "--resources", "mem=8GB"];
        let error = folder.run(&run_args).fails(2);
        let problem = format!("policy {policy}: the workload has resources beyond processors");
        assert!(error.contains(&problem), "{error}");
    }
}

/// The jobs of the built-in example do not say how much memory they need.
#[test]
fn a_log_without_memory_is_told() {
    let folder = Folder::with("log.swf", crate::common::four());
    let error = folder.run(&["run", "--workload", "log.swf", "--policy", "easy", "--resources", "mem=8GB"]).fails(2);
    assert!(error.contains("no job of the log says how much memory it needs"), "{error}");
}

/// Two pools. Of the nodes of `cpu`, with 4 processors and 10 GB each, two jobs take 6 GB each:
/// of 20 GB 8 are left, but no node has 6. Of the node of `gpu` the first job takes both devices.
#[test]
fn each_pool_of_a_site_places_jobs_on_its_own_nodes() {
    let folder = Folder::new();
    let mut text =
        "JobIDRaw|User|Partition|State|Submit|Eligible|Start|End|TimelimitRaw|ReqTRES|AllocTRES|AllocNodes|AllocCPUs|NodeList\n"
            .to_string();
    let jobs = [
        (1, "cpu", 0, 300, 6, 0, "n1"),
        (2, "cpu", 0, 300, 6, 0, "n2"),
        (3, "cpu", 60, 120, 6, 0, "n1"),
        (4, "gpu", 60, 600, 4, 2, "g1"),
        (5, "gpu", 120, 60, 4, 1, "g1"),
    ];
    for (job, partition, submit, run, memory, gpus, node) in jobs {
        let devices = if gpus > 0 { format!(",gres/gpu={gpus}") } else { String::new() };
        let tres = format!("billing=1,cpu=1,mem={memory}G,node=1{devices}");
        let submit = 1_760_313_600 + submit;
        let start = if job == 5 { submit + 1_000 } else { submit };
        text += &format!(
            "{job}|ada|{partition}|COMPLETED|{submit}|{submit}|{start}|{}|60|{tres}|{tres}|1|1|{node}\n",
            start + run
        );
    }
    folder.write("jobs.psv", text);
    folder.write(
        "slurm.conf",
        "ClusterName=c\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nGresTypes=gpu\nNodeName=n[1-2] CPUs=4 \
         RealMemory=10240\nNodeName=g1 CPUs=8 RealMemory=20480 Gres=gpu:2\nPartitionName=cpu Nodes=n[1-2] Default=YES MaxTime=2-0\n\
         PartitionName=gpu Nodes=g1 MaxTime=2-0\n",
    );
    folder.run(&["import", "jobs.psv", "--machine", "slurm.conf", "--out", "site"]).ok();
    let waits = |site: &str, more: &[&str]| -> Vec<i64> {
        let args = ["run", "--workload", site, "--jobs", "out.csv", "--quiet", "--policy", "easy"];
        folder.run(&[&args[..], more].concat()).ok();
        let of = |line: &str| -> Vec<i64> { line.split(',').take(3).map(|cell| cell.parse().unwrap_or(-1)).collect() };
        let mut rows: Vec<Vec<i64>> = folder.read("out.csv").lines().skip(1).map(of).collect();
        rows.sort();
        rows.into_iter().map(|row| row[2] - row[1]).collect()
    };
    assert_eq!(waits("site", &["--on-nodes", "none"]), [0, 0, 0, 0, 540]);
    assert_eq!(waits("site", &[]), [0, 0, 240, 0, 540], "nodes are what a site has");
    for placement in ["pack", "spread"] {
        let placement_args = ["--on-nodes", "site", "--placement", placement];
        assert_eq!(waits("site", &placement_args), [0, 0, 240, 0, 540], "{placement}");
        assert_eq!(waits("site#cpu", &placement_args), [0, 0, 240], "{placement}");
        assert_eq!(waits("site#gpu", &placement_args), [0, 540], "{placement}");
    }
}

/// The mean waits under `easy` and `conservative` of a study of the folder's log, in its order.
fn swept(folder: &Folder, entry: &str) -> Vec<f64> {
    let policies = "[[policy]]\npolicy = \"easy\"\n[[policy]]\npolicy = \"conservative\"\n";
    folder.write("study.toml", format!("[[workload]]\nfile = \"log.swf\"\n{entry}{policies}"));
    let _ = std::fs::remove_file(folder.path("study.db"));
    folder.run(&["sweep", "study.toml", "--quiet"]).ok();
    let query = "SELECT wait_mean FROM result ORDER BY configuration";
    let rows = folder.run(&["sweep", "query", "study.db", query, "--format", "json"]).json();
    let list = rows["rows"].as_array().or(rows.as_array()).expect("rows").clone();
    list.iter().map(|row| row[0].as_f64().or(row["wait_mean"].as_f64()).expect("a wait")).collect()
}

/// Under `easy` with 8 GB job 2 waits 90 s and no other job waits: 22.5 s in the mean. With enough
/// memory job 4 waits 20 s. On two nodes of 6 GB jobs 2 and 3 share the second, and job 4 waits for
/// job 3; with nodes to themselves job 3 waits for job 2 until 60, and job 4 for job 3 until 90.
#[test]
fn studies_have_the_resources_of_commands() {
    let folder = folder();
    folder.write("demands.csv", "job,mem\ntotal,8GB\n1,6GB\n2,4GB\n3,2GB\n");
    folder.write("one.csv", "nodes,cores,mem\n1,4,8GB\n");
    folder.write("two.csv", "nodes,cores,mem\n2,2,6GB\n");
    for (entry, easy, options) in [
        ("resources = \"mem=8GB\"\n", 22.5, vec!["--resources", "mem=8GB"]),
        (
            "resources = [\"mem=2GB/proc\", \"partition:1=4\"]\n",
            22.5,
            vec!["--resources", "mem=2GB/proc,partition:1=4"],
        ),
        ("resources = \"mem=8GB,partition:1=4\"\n", 22.5, vec!["--resources", "mem=8GB,partition:1=4"]),
        ("resources = \"demands.csv\"\n", 22.5, vec!["--resources", "demands.csv"]),
        ("resources = \"none\"\n", 5.0, vec!["--resources", "none"]),
        ("resources = \"mem=12GB\"\n", 5.0, vec!["--resources", "mem=12GB"]),
        ("on-nodes = \"one.csv\"\n", 22.5, vec!["--on-nodes", "one.csv"]),
        ("on-nodes = \"two.csv\"\nplacement = \"pack\"\n", 5.0, vec!["--on-nodes", "two.csv", "--placement", "pack"]),
        (
            "on-nodes = \"two.csv\"\nplacement = \"whole\"\n",
            25.0,
            vec!["--on-nodes", "two.csv", "--placement", "whole"],
        ),
    ] {
        let waits = swept(&folder, entry);
        assert_eq!(waits[0], easy, "{entry}");
        for (policy, wait) in ["easy", "conservative"].into_iter().zip(&waits) {
            let args =
                [&["run", "--workload", "log.swf", "--policy", policy, "--format", "json"][..], &options].concat();
            let json = folder.run(&args).json();
            assert_eq!(json["report"]["measures"]["wait"]["mean"].as_f64(), Some(*wait), "{entry} {policy}");
        }
    }
    // The study's own go to each workload that names none.
    folder.write(
        "all.toml",
        "resources = \"mem=8GB\"\n[[workload]]\nfile = \"log.swf\"\n[[workload]]\nname = \"free\"\nfile = \"log.swf\"\n\
         resources = \"none\"\n[[policy]]\npolicy = \"easy\"\n",
    );
    let ran = folder.run(&["sweep", "all.toml", "--dry-run"]);
    assert!(ran.err.contains("workload log: 1 of 4 jobs does not say how much memory it needs"), "{}", ran.err);
    folder.run(&["sweep", "all.toml", "--quiet"]).ok();
    let query = "SELECT workload, wait_mean FROM result ORDER BY configuration";
    let csv = folder.run(&["sweep", "query", "all.db", query, "--format", "csv"]).ok();
    assert_eq!(csv.lines().skip(1).collect::<Vec<_>>(), ["log,22.5", "free,5"]);
    // 860 GB·s of 8 GB until 230, as for `run`; nothing is measured where memory is not counted.
    folder.write("all.toml", format!("metrics = [\"wait_mean\", \"utilisation_mem\"]\n{}", folder.read("all.toml")));
    std::fs::remove_file(folder.path("all.db")).expect("a store");
    folder.run(&["sweep", "all.toml", "--quiet"]).ok();
    let query = "SELECT workload, round(utilisation_mem, 6) FROM result ORDER BY configuration";
    let csv = folder.run(&["sweep", "query", "all.db", query, "--format", "csv"]).ok();
    assert_eq!(csv.lines().skip(1).collect::<Vec<_>>(), ["log,0.467391", "free,"]);
    // Another amount is another plan: a store of the first is refused.
    folder.write("all.toml", folder.read("all.toml").replace("mem=8GB", "mem=12GB"));
    assert!(folder.run(&["sweep", "all.toml"]).fails(2).contains("all.db"));
}

/// Mistakes of a study are reported with their line, in the words of the options.
#[test]
fn resources_of_studies_that_cannot_be_are_told() {
    let folder = folder();
    folder.write("short.csv", "job,gpu\ntotal,2\n1\n");
    folder.write("odd.csv", "nodes,mem\n1,8GB\n");
    folder.write("two.csv", "nodes,cores,mem\n2,2,6GB\n");
    for (entry, policy, line, problem) in [
        ("resources = \"mem=8\"", "easy", 3, "`8` has no unit"),
        ("resources = \"gpu=2\"", "easy", 3, "a log says nothing of `gpu`"),
        ("resources = 8", "easy", 3, "`resources` is a text such as \"mem=8GB\""),
        ("resources = []", "easy", 3, "`resources` is a text such as \"mem=8GB\""),
        ("resources = \"mem=8GB,none\"", "easy", 3, "none does not go with other resources"),
        ("resources = \"mem=5GB\"", "easy", 3, "first job 1, which asks for 6 GB of `mem`"),
        ("resources = \"short.csv\"", "easy", 3, "short.csv, line 3: 0 amounts for 1 resources (gpu)"),
        ("resources = \"absent.csv\"", "easy", 3, "absent.csv: cannot be read"),
        ("resources = \"site\"", "easy", 3, "`drystone import` makes one"),
        ("on-nodes = \"odd.csv\"", "easy", 3, "there is no column `cores`"),
        ("on-nodes = \"absent.csv\"", "easy", 3, "absent.csv: cannot be read"),
        ("on-nodes = \"site\"", "easy", 3, "a study takes of a site its jobs and processors"),
        ("on-nodes = \"nodes\"", "easy", 3, "expected a table FILE.csv or none"),
        ("placement = \"pack\"", "easy", 3, "`placement` needs nodes"),
        (
            "on-nodes = \"two.csv\"\nplacement = \"tight\"",
            "easy",
            4,
            "there is no rule `tight`; expected pack, spread, whole",
        ),
        ("on-nodes = \"two.csv\"", "multiqueue(promise=arrival)", 5, "counts processors only"),
    ] {
        let study = format!("[[workload]]\nfile = \"log.swf\"\n{entry}\n[[policy]]\npolicy = \"{policy}\"\n");
        folder.write("study.toml", &study);
        let error = folder.run(&["sweep", "study.toml"]).fails(2);
        assert!(error.contains(&format!("study.toml:{line}:")) && error.contains(problem), "{entry}: {error}");
    }
}

/// Under `easy` with 8 GB and two GPUs, both of which are job 1's until 100: job 2 waits for memory
/// until then, and job 3 for a GPU; job 4, which asks for neither, waits for nothing.
#[test]
fn jobs_are_told_apart_by_what_they_ask_for() {
    let folder = folder();
    folder.write("demands.csv", "job,mem,gpu\ntotal,8GB,2\n1,6GB,2\n2,4GB,\n3,,1\n");
    let args = ["run", "--workload", "log.swf", "--policy", "easy", "--by", "resources"];
    let json_args = [&args[..], &["--resources", "demands.csv", "--quiet", "--format", "json"]].concat();
    let json = folder.run(&json_args).json();
    let categories = json["report"]["categories"][0]["categories"].as_array().expect("categories").clone();
    let each = |c: &Value| (c["name"].as_str().unwrap_or("").to_string(), c["measures"]["wait"]["mean"].as_f64());
    let waits_by_class: Vec<(String, Option<f64>)> = categories.iter().map(each).collect();
    let waits = [("processors alone", 0.0), ("mem", 90.0), ("gpu", 80.0), ("mem, gpu", 0.0)];
    assert_eq!(waits_by_class, waits.map(|(name, wait)| (name.to_string(), Some(wait))));
    let error = folder.run(&args).fails(2);
    assert!(error.contains("--by resources needs jobs that ask for more than processors"), "{error}");
}

/// Two jobs that need the one GPU: no schedule of them waits for less than 500 s on average.
#[test]
fn bounds_count_what_the_policy_counts() {
    let row = |number: i64| job([number, 0, 1_000, 1, -1]);
    let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n{}{}", row(1), row(2)));
    folder.write("gpu.csv", "job,gpu\ntotal,1\n1,1\n2,1\n");
    let resource_args = ["--resources", "gpu.csv", "--quiet"];
    let bracket =
        folder.run(&[&["headroom", "log.swf", "--trials", "1000", "--format", "json"], &resource_args[..]].concat());
    assert_eq!(bracket.json()["bracket"]["found"]["value"], 500.0);
    let stalls = folder.run(&[&["run", "log.swf", "--policy", "easy", "--stalls"], &resource_args[..]].concat());
    assert!(stalls.fails(2).contains("--stalls asks whether processors were free"));
}

/// Jobs of one processor that all need the one GPU of two processors are as jobs on one processor.
#[test]
fn futures_count_what_the_policy_counts() {
    let rows = (0..120).map(|at| job([at + 1, at * 400, 100 + at * 7 % 600, 1, -1])).collect::<String>();
    let folder = Folder::with("one.swf", format!("; MaxProcs: 1\n{rows}"));
    folder.write("two.swf", format!("; MaxProcs: 2\n{rows}"));
    let gpus: String = (1..=120).map(|at| format!("{at},1\n")).collect();
    folder.write("gpu.csv", format!("job,gpu\ntotal,1\n{gpus}"));
    let scores = |args: &[&str]| {
        let result = folder.run(&[&["foresee"], args, &["-p", "easy", "--quiet", "--format", "json"]].concat()).json();
        let methods = result["found"]["methods"].as_array().expect("methods").clone();
        let of = |method: &Value| (method["method"].clone(), method["all"].clone());
        let names = ["limits", "last-two", "closed"];
        methods
            .iter()
            .map(of)
            .filter(|(name, _)| names.contains(&name.as_str().unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    let (single, two) = (scores(&["one.swf"]), scores(&["two.swf", "--resources", "gpu.csv"]));
    assert!(single.len() >= 2 && single[0].1["questions"].as_u64().is_some_and(|count| count > 20), "{single:?}");
    assert_eq!(single, two);
}

/// The example of docs/real-machines.md, which says how it comes about: of 4 licences there are 2
/// from 100 to 200.
fn licences() -> Folder {
    let rows = [[1, 0, 90], [2, 5, 60], [3, 10, 50], [4, 20, 120], [5, 30, 30], [6, 40, 500]];
    let log: String = rows.into_iter().map(|[number, submit, run]| job([number, submit, run, 1, -1])).collect();
    let folder = Folder::with("log.swf", format!("; MaxProcs: 8\n{log}"));
    folder.write("asks.csv", "job,license:cad\ntotal,4\n1,2\n2,3\n3,2\n4,2\n5,1\n");
    folder.write("known.csv", "resource,from,amount,announced\nlicense:cad,100,2,0\nlicense:cad,200,4,0\n");
    folder.write("news.csv", "resource,from,amount\ncad,100,2\ncad,200,4\n");
    folder.write("never.csv", "resource,from,amount\ncad,0,2\n");
    folder
}

#[test]
fn licences_change_over_time() {
    let folder = licences();
    let with = |policy: &str, supply: &str| {
        starts(&folder, &["--policy", policy, "--resources", "asks.csv", "--supply", supply])
    };
    for policy in ["easy", "conservative", "multiqueue", "slack(sf=0)"] {
        assert_eq!(with(policy, "known.csv"), [0, 200, 10, 60, 180, 40], "{policy}");
    }
    // Unannounced, job 2 is planned for 90, when job 1 ends, and takes 3 of 4 until 150; job 5 has
    // the last one at 60, and job 4, which needs two until 180, is planned behind job 2: at 150 for
    // both of what is left then.
    for policy in ["easy", "conservative", "slack(sf=0)"] {
        assert_eq!(with(policy, "news.csv"), [0, 90, 10, 150, 60, 40], "{policy}");
    }
    // 4 licences for 540 s, less 2 for 100 s, of which 730 licence-seconds are used.
    let args = ["run", "log.swf", "--policy", "easy", "--resources", "asks.csv", "--supply", "known.csv", "--quiet"];
    let json = folder.run(&[&args[..], &["--format", "json"]].concat()).json();
    let utilisation = json["report"]["resources"][0]["utilisation"].as_f64().expect("a share");
    assert!((utilisation - 730.0 / (4.0 * 540.0 - 200.0)).abs() < 1e-9, "{utilisation}");
    assert!(json["workload"]["settings"]["supply"].as_str().is_some_and(|text| text.starts_with("known.csv (blake3:")));
}

#[test]
fn a_supply_that_cannot_be_is_told() {
    let folder = licences();
    let error_of = |args: &[&str]| folder.run(&[&["run", "log.swf", "--policy", "easy"], args].concat()).fails(2);
    let asks = ["--resources", "asks.csv", "--supply"];
    let text = error_of(&[&asks[..], &["never.csv"]].concat());
    assert!(
        text.contains("in the end the machine has only 2 of `license:cad`: job 2, submitted at 5 s, asks for 3"),
        "{text}"
    );
    assert!(!text.contains("bug of the policy"), "{text}");
    let text = error_of(&["--supply", "never.csv"]);
    assert!(text.contains("the jobs ask for no resource beyond processors"), "{text}");
    folder.write("cat.csv", "resource,from,amount\ncat,0,2\n");
    let text = error_of(&[&asks[..], &["cat.csv"]].concat());
    assert!(text.contains("cat.csv:2: column 1 (resource): no resource is called `cat`"), "{text}");
}

/// A job that asks for more than there is, unannounced, waits outside of the queue, and its story
/// says for what.
#[test]
fn a_story_names_the_resource() {
    let folder = licences();
    folder.write("late.csv", "resource,from,amount\ncad,0,2\ncad,300,4\n");
    let args =
        ["explain", "log.swf", "--resources", "asks.csv", "--supply", "late.csv", "--policy", "easy", "--job", "2"];
    let text = folder.run(&args).ok();
    assert!(text.contains("asks for 3 of license:cad: there are 2"), "{text}");
    assert!(text.contains("300  starts"), "{text}");
}

/// A text in one line.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Job 2 asks for 3 licences. From 10 to 60 none is free, before that 2, and after it one: it waits
/// for these, beside processors. Held back, it waits for licences that are not there.
#[test]
fn the_obstacle_is_the_resource() {
    let folder = licences();
    folder.write("late.csv", "resource,from,amount\ncad,0,2\ncad,300,4\n");
    let obstacles = |more: &[&str]| {
        let args = ["explain", "log.swf", "--resources", "asks.csv", "--policy", "easy", "--job", "2", "--why-not"];
        unwrapped(&folder.run(&[&args[..], more].concat()).ok())
    };
    let text = obstacles(&[]);
    let expected = "enough for its 1, but of the 3 of license:cad that it asks for, only 0 to 2 were free";
    assert!(text.contains(expected), "{text}");
    let text = obstacles(&["--supply", "late.csv"]);
    assert!(text.contains("held back: it asks for 3 of license:cad, and there are 2;"), "{text}");
}

/// Under `easy` job 2 waits 295 s for licences that are not there; job 3 waits for job 1, which has
/// both until 90, job 4 until job 3 has ended at 140, and job 5 from 30 until job 4 has ended at
/// 260: all for licences, beside processors. The average amount is 4, less 2 for 300 of 540 s.
#[test]
fn waits_for_licences_are_named_first() {
    let folder = licences();
    folder.write("late.csv", "resource,from,amount\ncad,0,2\ncad,300,4\n");
    let with = |args: &[&str]| {
        let supply = ["--resources", "asks.csv", "--supply", "late.csv"];
        unwrapped(&folder.run(&[args, &supply[..]].concat()).ok())
    };
    let text = with(&["compare", "log.swf", "--policy", "easy", "--policy", "conservative"]);
    let expected = "100% of the waiting is for license:cad: try more of license:cad with";
    assert!(text.contains(expected), "{text}");
    let text = with(&["run", "log.swf", "--policy", "easy"]);
    assert!(text.contains("of 2.9 on average; 5 jobs ask for some of it"), "{text}");
}

/// A table that changes nothing for any job brings one warning: a resource that no job asks for,
/// times after the last job, an amount that is the machine's own.
#[test]
fn a_supply_without_effect_brings_a_warning() {
    let folder = licences();
    folder.write("more.csv", "job,license:cad,license:flow\ntotal,4,3\n1,2,0\n2,3,0\n");
    for (resources, supply, reason) in [
        ("more.csv", "flow,100,1", "none asks for license:flow"),
        ("more.csv", "cad,90000000,1", "no amount differs between the first submit, 0 s, and"),
        ("asks.csv", "cad,100,4", "no amount differs between the first submit, 0 s, and"),
    ] {
        folder.write("vain.csv", format!("resource,from,amount\n{supply}\n"));
        let args = ["run", "log.swf", "--policy", "easy", "--resources", resources, "--supply", "vain.csv"];
        let warnings = folder.run(&args).err;
        let lines: Vec<&str> = warnings.lines().filter(|line| line.contains("vain.csv")).collect();
        assert!(warnings.matches("no job is simulated differently").count() == 1, "{supply}: {lines:?}");
        assert!(warnings.replace("\n", " ").contains(reason), "{supply}: {warnings}");
    }
    let args = ["run", "log.swf", "--policy", "easy", "--resources", "asks.csv", "--supply", "known.csv"];
    assert!(!folder.run(&args).err.contains("no job is simulated differently"));
}
