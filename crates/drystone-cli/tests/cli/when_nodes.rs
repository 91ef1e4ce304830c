//! `drystone when` with a `slurm.conf`: nodes, what jobs ask of them, and limits of associations
//! and QOS count.

use crate::common::Folder;
use serde_json::Value;
use std::collections::BTreeMap;

const NOW: i64 = 1_700_000_000;

/// Two nodes of four processors and 8,000 MB in one partition, one with two GPUs in another.
const CONF: &str = "ClusterName=c\nSlurmctldHost=h\nSchedulerType=sched/backfill\nSelectType=select/cons_tres\n\
    SelectTypeParameters=CR_CPU_Memory\nAccountingStorageType=accounting_storage/slurmdbd\n\
    AccountingStorageEnforce=limits,qos\nGresTypes=gpu\n\
    NodeName=c[1-2] CPUs=4 RealMemory=8000\nNodeName=g1 CPUs=4 RealMemory=8000 Gres=gpu:2\n\
    PartitionName=cpu Nodes=c[1-2] Default=YES MaxTime=INFINITE\nPartitionName=gpu Nodes=g1 MaxTime=INFINITE\n";

/// A job of the queue: name, state, reason, processors, limit, start, user, partition, nodes, QOS,
/// memory of a node, GPUs of a node.
fn row(job: [&str; 12]) -> String {
    let [name, state, reason, procs, limit, start, user, partition, nodes, qos, memory, gpus] = job;
    format!(
        "{name}|{state}|{reason}|{procs}|{limit}|1699990000|{start}|500|{user}|{partition}|{nodes}|(null)|bio|{qos}|(null)|1|{memory}|{gpus}|(null)\n"
    )
}

fn state(folder: &Folder, queue: &[String], busy: [u32; 3]) {
    std::fs::create_dir_all(folder.path("now")).expect("made");
    folder.write("now/now.txt", format!("{NOW}\n"));
    folder.write("now/slurm.conf", CONF);
    folder.write("now/squeue.txt", queue.concat());
    let node = |(name, busy): (&str, u32)| {
        let word = if busy > 0 { "MIXED" } else { "IDLE" };
        let partition = if name == "g1" { "gpu" } else { "cpu" };
        format!("NodeName={name} CPUAlloc={busy} CPUTot=4 State={word} Partitions={partition}\n")
    };
    folder.write("now/nodes.txt", ["c1", "c2", "g1"].into_iter().zip(busy).map(node).collect::<String>());
}

/// The answers by job.
fn answers(folder: &Folder, more: &[&str]) -> BTreeMap<String, Value> {
    let args = [&["when", "--state", "now", "--format", "json", "--rehearse", "0", "--quiet"], more].concat();
    let json = folder.run(&args).json();
    let of = |job: &Value| (job["job"].as_str().expect("a name").to_string(), job.clone());
    json["jobs"].as_array().expect("a list").iter().map(of).collect()
}

/// The plan of a job in seconds from now; 0 at the next pass.
fn plan(answers: &BTreeMap<String, Value>, job: &str) -> i64 {
    let answer = answers.get(job).unwrap_or_else(|| panic!("no {job}: {answers:?}"));
    if answer["at_next_pass"] == true { 0 } else { answer["plan"].as_i64().map_or(-1, |plan| plan - NOW) }
}

/// By hand, with plans of limits. c1 has three idle processors and 2,000 MB, c2 neither: a job of
/// 4,000 MB waits for the end of the job on c1, in an hour, one of 1,000 MB for none. On g1 two
/// processors are idle, and one GPU: a job of one GPU starts, one of two waits for both that have
/// one, until two hours from now. Easy counts processors alone, and starts all of them.
#[test]
fn memory_partitions_and_gpus_count() {
    let folder = Folder::new();
    let queue = [
        row(["1", "RUNNING", "None", "1", "1:00:00", "1700000000", "ann", "cpu", "c1", "normal", "6000M", "N/A"]),
        row(["2", "RUNNING", "None", "4", "3:00:00", "1700000000", "ann", "cpu", "c2", "normal", "1000M", "N/A"]),
        row([
            "3",
            "RUNNING",
            "None",
            "2",
            "2:00:00",
            "1700000000",
            "ann",
            "gpu",
            "g1",
            "normal",
            "1000M",
            "gres/gpu:1",
        ]),
        row(["4", "PENDING", "(Resources)", "1", "10:00", "N/A", "bob", "cpu", "", "normal", "4000M", "N/A"]),
        row(["5", "PENDING", "(Priority)", "1", "10:00", "N/A", "bob", "cpu", "", "normal", "1000M", "N/A"]),
        row(["6", "PENDING", "(Priority)", "1", "10:00", "N/A", "bob", "gpu", "", "normal", "1000M", "gres/gpu:1"]),
        row(["7", "PENDING", "(Priority)", "1", "10:00", "N/A", "bob", "gpu", "", "normal", "1000M", "gres/gpu:2"]),
    ];
    state(&folder, &queue, [1, 4, 2]);
    let document = answers(&folder, &[]);
    // Slurm's scheduler looks every few seconds, and plans by minutes.
    for (job, expected) in [("4", 3_600), ("5", 0), ("6", 0), ("7", 7_200)] {
        let plan = plan(&document, job);
        assert!((expected..=expected + 90).contains(&plan), "{job}: {plan} instead of {expected}");
    }
    assert!(document["4"]["policy"].as_str().is_some_and(|policy| policy.contains("now/slurm.conf")), "{document:?}");
    let easy = answers(&folder, &["--policy", "easy"]);
    assert_eq!(["4", "5", "6", "7"].map(|job| plan(&easy, job)), [0; 4]);
    // One partition: the same answers for its jobs alone.
    let gpu = answers(&folder, &["--partition", "gpu"]);
    assert_eq!((gpu.len(), &gpu["7"]["start"]), (2, &document["7"]["start"]));
}

/// By hand: ann has four of the four processors that her QOS allows until an hour from now. Her
/// job waits for that, with its reason in the row, although a node is idle; that of another user
/// does not. What running jobs hold says less: were the limit eight, hers would start.
#[test]
fn limits_of_the_tables_are_kept() {
    let folder = Folder::new();
    let queue = [
        row(["1", "RUNNING", "None", "4", "1:00:00", "1700000000", "ann", "cpu", "c1", "normal", "1000M", "N/A"]),
        row([
            "2",
            "PENDING",
            "(QOSMaxCpuPerUserLimit)",
            "2",
            "10:00",
            "N/A",
            "ann",
            "cpu",
            "",
            "normal",
            "1000M",
            "N/A",
        ]),
        row(["3", "PENDING", "(Priority)", "2", "10:00", "N/A", "bob", "cpu", "", "normal", "1000M", "N/A"]),
    ];
    state(&folder, &queue, [4, 0, 0]);
    let tables = |most: u32| {
        folder.write("now/qos.txt", format!("Name|Priority|GrpTRES|MaxTRESPU\nnormal|0||cpu={most}\n"));
        let assoc = "Cluster|Account|User|Share|QOS|Def QOS\nc|root||1||\nc|root|root|1|normal|\nc| bio||1|normal|\n\
                     c|  bio|ann|1|normal|\nc|  bio|bob|1|normal|\n";
        folder.write("now/assoc.txt", assoc);
    };
    tables(4);
    let document = answers(&folder, &[]);
    let [ann, bob] = ["2", "3"].map(|job| plan(&document, job));
    // A pass that is asked for comes within three seconds.
    assert!((3_600..=3_690).contains(&ann) && (0..=5).contains(&bob), "{ann} {bob}");
    assert_eq!(document["2"]["also_waits_for"]["reason"], "QOSMaxCpuPerUserLimit");
    let text = folder.run(&["when", "--state", "now", "--rehearse", "0"]).ok();
    assert!(text.contains("waits for a limit of its account or QOS (QOSMaxCpuPerUserLimit)"), "{text}");
    tables(8);
    assert!((0..=5).contains(&plan(&answers(&folder, &[]), "2")));
    folder.write("now/qos.txt", "Name|Priority|MaxTRESPU\nnormal|0|cpu=many\n");
    let error = folder.run(&["when", "--state", "now"]).fails(2);
    assert!(error.contains("now/qos.txt:2"), "{error}");
}

/// A node that drains takes no job; the one that runs there goes on. Jobs of one priority stay in
/// their order whichever number they have.
#[test]
fn nodes_that_drain_and_the_order_of_the_queue_count() {
    let folder = Folder::new();
    let queue = [
        row(["1", "RUNNING", "None", "4", "1:00:00", "1700000000", "ann", "cpu", "c2", "normal", "1000M", "N/A"]),
        row(["2", "PENDING", "(Priority)", "4", "2:00:00", "N/A", "ann", "cpu", "", "normal", "1000M", "N/A"]),
        row(["3", "PENDING", "(Resources)", "4", "1:00:00", "N/A", "bob", "cpu", "", "normal", "1000M", "N/A"])
            .replace("|500|", "|900|"),
    ];
    state(&folder, &queue, [0, 4, 0]);
    let nodes =
        folder.read("now/nodes.txt").replace("c1 CPUAlloc=0 CPUTot=4 State=IDLE", "c1 CPUTot=4 State=IDLE+DRAIN");
    folder.write("now/nodes.txt", nodes);
    let document = answers(&folder, &[]);
    for (job, expected) in [("3", 3_600), ("2", 7_200)] {
        let plan = plan(&document, job);
        assert!((expected..=expected + 180).contains(&plan), "{job}: {plan} instead of {expected}");
    }
}

/// Each demand is tried with one more than any node has, and some with as much as a node has. Where
/// only a drained node meets a demand, the sentence says so.
#[test]
fn a_job_that_fits_no_node_is_left_out_with_the_demand_that_is_too_large() {
    let folder = Folder::new();
    let job = |name, procs, partition, memory, gpus| {
        row([name, "PENDING", "(Resources)", procs, "10:00", "N/A", "ann", partition, "", "normal", memory, gpus])
    };
    let queue = [
        job("11", "1", "gpu", "1000M", "gres/gpu:1").replace("|500|", "|900|"),
        job("1", "1", "cpu", "8001M", "N/A"),
        job("2", "1", "cpu", "8000M", "N/A"),
        job("3", "1", "gpu", "1000M", "gres/gpu:3"),
        job("4", "1", "cpu", "1000M", "gres/gpu:1"),
        job("5", "9", "cpu", "1000M", "N/A"),
        job("10", "5", "gpu", "1000M", "N/A"),
        job("6", "1", "gpu", "1000M", "gres/gpu:a100:1"),
        job("7", "1", "cpu,gpu", "1000M", "gres/gpu:2"),
        job("8", "1", "cpu", "1000M", "N/A").replace("|(null)\n", "|big\n"),
        job("9", "1", "cpu", "1000M", "N/A").replace("|1|1000M|", "|3|1000M|"),
        job("12", "5", "cpu", "3000Mc", "N/A"),
    ];
    state(&folder, &queue, [0, 0, 0]);
    let run = folder.run(&["when", "--state", "now", "--rehearse", "0", "--format", "json", "--quiet"]).json();
    let left_out = run["left_out"].as_array().expect("a list");
    let reason = |name: &str| {
        let own = left_out.iter().find(|entry| entry["job"] == name);
        own.map(|entry| entry["why"].as_str().expect("words").to_string())
    };
    for (name, words) in [
        (
            "1",
            "asks for 7.8 GB (8,001 MB) of memory on a node, but the nodes of partition cpu have 7.8 GB (8,000 MB) at most",
        ),
        ("3", "asks for 3 GPUs on a node, but the nodes of partition gpu have 2 at most"),
        ("4", "asks for 1 GPU on a node, but the nodes of partition cpu have 0 at most"),
        ("5", "asks for 9 processors, but the nodes of partition cpu have 8"),
        ("10", "asks for 5 processors, but the nodes of partition gpu have 4"),
        ("6", "asks for 1 GPU of type a100 on a node, but the nodes of partition gpu have 0 at most"),
        ("8", "asks for the feature big, but of the nodes of partition cpu none have it"),
        ("9", "asks for 3 nodes, but the nodes of partition cpu are only 2"),
        (
            "12",
            "asks for 5 processors with 2.9 GB (3,000 MB) of memory each, but the nodes of partition cpu have room for 4",
        ),
    ] {
        assert_eq!(reason(name).as_deref(), Some(words), "{left_out:?}");
    }
    assert_eq!(["2", "7", "11"].map(reason), [None, None, None]);
    // A job of two partitions starts in the one in which it fits: on both GPUs, after the ten
    // minutes for which job 11, which is before it, has one of them.
    let seven =
        run["jobs"].as_array().and_then(|jobs| jobs.iter().find(|entry| entry["job"] == "7")).expect("an answer");
    assert!(seven["plan"].as_i64().is_some_and(|plan| (600..=690).contains(&(plan - NOW))), "{seven}");
    let text = || {
        let text = folder.run(&["when", "--state", "now", "--rehearse", "0", "--quiet"]).ok();
        text.split_whitespace().collect::<Vec<&str>>().join(" ")
    };
    assert!(text().contains("Job 3 is left out: it asks for 3 GPUs on a node, but"), "{}", text());
    let error = folder.run(&["when", "--state", "now", "--job", "3"]).fails(2);
    assert!(error.contains("job 3 asks for 3 GPUs on a node") && error.contains("it cannot start"), "{error}");
    let nodes = folder.read("now/nodes.txt").replace("State=IDLE Partitions=gpu", "State=IDLE+DRAIN Partitions=gpu");
    folder.write("now/nodes.txt", nodes);
    let words = "asks for 1 processor, but the nodes of partition gpu that take new jobs now have 0";
    assert!(text().contains(words), "{}", text());
}

/// A node has the memory for two processors of the first job, and no GPU or two for the second,
/// which asks for four wherever they are: both start at once on two nodes.
#[test]
fn a_job_that_no_node_has_room_for_alone_has_several() {
    let folder = Folder::new();
    let row = row(["1", "PENDING", "(Resources)", "4", "10:00", "N/A", "ann", "cpu", "", "normal", "3000Mc", "N/A"]);
    state(&folder, &[row], [0; 3]);
    let plans = answers(&folder, &[]);
    assert!((0..=5).contains(&plan(&plans, "1")), "{plans:?}");
    let conf = CONF.replace("NodeName=g1 CPUs", "NodeName=g[1-2] CPUs").replace("Nodes=g1", "Nodes=g[1-2]");
    folder.write("now/slurm.conf", conf);
    let nodes = folder.read("now/nodes.txt") + "NodeName=g2 CPUAlloc=0 CPUTot=4 State=IDLE Partitions=gpu\n";
    folder.write("now/nodes.txt", nodes);
    let queue = serde_json::json!({ "jobs": [{
        "job_id": 2, "job_state": "PENDING", "state_reason": "Resources", "cpus": 4, "priority": 7, "node_count": 1,
        "user_name": "ann", "partition": "gpu", "time_limit": 10, "submit_time": NOW - 60, "account": "bio",
        "qos": "normal", "tres_req_str": "cpu=4,mem=1000M,node=1,gres/gpu=4", "tres_per_job": "gres:gpu:4"
    }] });
    folder.write("now/squeue.json", queue.to_string());
    let plans = answers(&folder, &[]);
    assert!((0..=5).contains(&plan(&plans, "2")), "{plans:?}");
}

/// A configuration that describes no machine is no reason to answer nothing.
#[test]
fn a_file_that_describes_no_nodes_is_told_and_left_out() {
    let folder = Folder::new();
    let queue =
        [row(["2", "PENDING", "(Priority)", "4", "2:00:00", "N/A", "ann", "cpu", "", "normal", "1000M", "N/A"])];
    state(&folder, &queue, [0, 0, 0]);
    folder.write("now/slurm.conf", "ClusterName=c\nInclude nodes.conf\n");
    let run = folder.run(&["when", "--state", "now", "--format", "json"]);
    assert_eq!(run.json()["policy"], "easy");
}
