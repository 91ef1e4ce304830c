//! Real machines on the command line: outages, busy beginnings, dependent jobs, on schedules
//! computed by hand.

use crate::common::{Folder, Ran, four, line};
use serde_json::Value;

/// The columns that say when each job ran.
fn schedule(folder: &Folder, args: &[&str]) -> Vec<String> {
    let mut words = vec!["run", "--workload", "log.swf", "--jobs", "out.csv", "--quiet"];
    words.extend(args);
    folder.run(&words).ok();
    let four = |line: &str| line.split(',').take(4).collect::<Vec<_>>().join(",");
    folder.read("out.csv").lines().skip(1).map(four).collect()
}

fn outages(rows: &str) -> Folder {
    let folder = Folder::with("log.swf", four());
    folder.write("outages.csv", rows);
    folder
}

fn report(folder: &Folder, args: &[&str]) -> Value {
    let mut words = vec!["run", "--workload", "log.swf", "--quiet", "--format", "json", "--policy", "easy"];
    words.extend(args);
    folder.run(&words).json()
}

const OUTAGES: [&str; 2] = ["--outages", "outages.csv"];

/// The only job comes with the outage of the whole machine, at 12,000, and waits until 12,500. At
/// twice the load it comes at 6,000 and waits until 6,250, with `--shift` at 0 and until 250.
#[test]
fn outages_move_with_the_submits() {
    let folder = outages("begin,end,procs\n12000,12500,4\n");
    folder.write("log.swf", "; MaxProcs: 4\n1 12000 -1 100 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1\n");
    let at = |more: &[&str]| schedule(&folder, &[&["--policy", "easy", "--outages", "outages.csv"], more].concat());
    assert_eq!(at(&[]), ["1,12000,12500,12600"]);
    assert_eq!(at(&["--load", "2"]), ["1,6000,6250,6350"]);
    assert_eq!(at(&["--shift"]), ["1,0,500,600"]);
    assert_eq!(at(&["--load", "2", "--shift"]), ["1,0,250,350"]);
    let args = ["compare", "-w", "log.swf", "-p", "easy", "-p", "fcfs", "--loads", "1,2", "--outages", "outages.csv"];
    let comparison = folder.run(&[&args[..], &["--format", "json", "--quiet"]].concat()).json();
    let waits: Vec<Option<f64>> =
        comparison["loads"].as_array().expect("points").iter().map(|point| point["wait"].as_f64()).collect();
    assert_eq!(waits, [500.0, 500.0, 250.0, 250.0].map(Some));
}

/// A table of outages with a fault is said before a policy that is missing.
#[test]
fn a_table_with_a_fault_is_said_without_a_policy() {
    let folder = outages("begin,end,processors\n15,x,3\n");
    for more in [&[][..], &["--policy", "easy"]] {
        let refused = folder.run(&[&["run", "log.swf"], &OUTAGES[..], more].concat()).fails(2);
        assert!(refused.contains("outages.csv:2: column 2 (end): `x` is no point in time"), "{refused}");
    }
    folder.write("outages.csv", "begin,end,processors\n15,200,3\n");
    let refused = folder.run(&[&["run", "log.swf"], &OUTAGES[..]].concat()).fails(2);
    assert!(refused.contains("--policy is missing"), "{refused}");
}

/// Processor 3 is out from 15 to 200, and nothing is known of its return. Job 2, which needs all
/// four, holds back no other: jobs 3 and 4 start as soon as job 1 has ended. Of 1,000
/// processor-seconds until 250 as many as 815 were up, and jobs ran for 630.
#[test]
fn a_processor_is_out() {
    let folder = outages("begin,end,processors\n15,200,3\n");
    let expected = ["1,0,0,100", "2,10,200,250", "3,20,100,130", "4,30,100,200"];
    assert_eq!(schedule(&folder, &["--policy", "easy", "--outages", "outages.csv"]), expected);
    let result = report(&folder, &OUTAGES);
    assert_eq!(result["report"]["disruptions"]["capacity_up"], 0.815);
    assert_eq!(result["report"]["disruptions"]["down"], 185.0);
    assert_eq!(result["report"]["disruptions"]["hits"], 0);
    assert_eq!(result["report"]["machine"]["utilisation"], 630.0 / 815.0);
    assert_eq!(result["experiment"]["outages"]["file"], "outages.csv");
}

/// The machine fails at 40, when job 1 has run for 40 s on three processors and job 3 for 20 s on
/// one. Both wait again, in the order of their submission. Job 2 was promised 100 and starts at
/// 160: the machine's doing.
#[test]
fn jobs_that_a_failure_hits_wait_again() {
    let folder = outages("begin,end,procs,jobs\n40,60,4,requeue\n");
    let expected = ["1,0,60,160", "2,10,160,210", "3,20,60,90", "4,30,210,310"];
    let args = ["--policy", "easy", "--outages", "outages.csv"];
    let mut rows = schedule(&folder, &args);
    rows.sort();
    assert_eq!(rows, expected);
    let result = report(&folder, &OUTAGES);
    let d = &result["report"]["disruptions"];
    let figures = [&d["hits"], &d["requeued"], &d["lost"], &d["work_lost"]].map(Value::as_f64);
    assert_eq!(figures, [Some(2.0), Some(2.0), Some(0.0), Some(140.0)]);
    let promises = &result["promises"];
    let counts = [&promises["promised"], &promises["broken"], &promises["excused"]].map(Value::as_u64);
    assert_eq!(counts, [Some(2), Some(0), Some(1)], "{promises}");
    let text =
        folder.run(&["run", "--workload", "log.swf", "--policy", "easy", "--outages", "outages.csv", "--details"]).ok();
    assert!(
        text.contains("hits by outages            2; 2 jobs waited again, 0 ended for good; 0.0 processor-hours"),
        "{text}"
    );
    assert!(text.contains("2 made, none broken by the policy; 1 more not kept because of outages"), "{text}");
}

/// Jobs that a failure ends are gone: in the schedule until the machine failed, and in no measure.
#[test]
fn jobs_that_a_failure_ends_are_counted() {
    let folder = outages("begin,end,procs,jobs\n40,60,4,lose\n");
    let args = ["--policy", "easy", "--outages", "outages.csv"];
    assert_eq!(schedule(&folder, &args), ["1,0,0,40", "2,10,60,110", "3,20,20,40", "4,30,110,210"]);
    let csv = folder.read("out.csv");
    let column =
        csv.lines().next().and_then(|head| head.split(',').position(|name| name == "ended")).expect("a column");
    let outcomes: Vec<_> = csv.lines().map(|line| line.split(',').nth(column).unwrap_or_default()).collect();
    assert_eq!(outcomes, ["ended", "machine-failed", "completed", "machine-failed", "completed"]);
    assert!(csv.contains("\n3,20,20,40,0,20,1,"), "it had run for 20 s on a processor: {csv}");
    let mut as_log = vec!["run", "--workload", "log.swf", "--jobs", "out.swf", "--quiet"];
    as_log.extend(args);
    folder.run(&as_log).ok();
    // Number, submit, wait, run time, processors; the status is field 11, 0 for a job that failed.
    let log = folder.read("out.swf");
    let fields = |line: &str| line.split_whitespace().map(String::from).collect::<Vec<_>>();
    let lines = log.lines().filter(|line| !line.starts_with(';')).map(fields);
    let records: Vec<_> = lines.map(|f| [f[..5].to_vec(), vec![f[10].clone()]].concat().join(" ")).collect();
    assert_eq!(records[0], "1 0 0 40 3 0");
    assert_eq!(records[1][..12], *"2 10 50 50 4");
    assert_eq!(records[2], "3 20 0 20 1 0");
    let result = report(&folder, &OUTAGES);
    assert_eq!(
        (&result["report"]["disruptions"]["lost"], &result["report"]["disruptions"]["requeued"]),
        (&2.into(), &0.into())
    );
}

/// Announced from the beginning: job 2 would run from 100 to 150 and job 4 from 50 to 150 or
/// longer, into it.
#[test]
fn an_announced_window_is_kept_free() {
    let folder = outages("begin,end,procs,announced\n120,180,4,0\n");
    for policy in ["easy", "conservative", "slack", "multiqueue", "goal(nodes=100)"] {
        let rows = schedule(&folder, &["--policy", policy, "--outages", "outages.csv"]);
        assert!(rows.contains(&"1,0,0,100".to_string()), "{policy}: {rows:?}");
        assert!(rows.contains(&"3,20,20,50".to_string()), "{policy}: {rows:?}");
        let begins = |row: &String| row.split(',').nth(2).and_then(|t| t.parse::<i64>().ok());
        assert!(rows.iter().filter(|row| begins(row) >= Some(180)).count() == 2, "{policy}: {rows:?}");
    }
    assert_eq!(schedule(&folder, &["--policy", "easy", "--outages", "outages.csv"])[1], "2,10,180,230");
}

/// Job 2 is held until 120: job 4 takes the free processor at 50, and job 2 the machine after it,
/// 140 s after it was submitted, 30 s after it was eligible.
#[test]
fn held_jobs_wait_from_when_they_are_eligible() {
    let folder = Folder::with("log.swf", four());
    folder.write("jobs.csv", "job,eligible\n2,120\n");
    let args = ["--circumstances", "jobs.csv"];
    let mut options = vec!["--policy", "easy"];
    options.extend(args);
    assert_eq!(schedule(&folder, &options), ["1,0,0,100", "2,10,150,200", "3,20,20,50", "4,30,50,150"]);
    let result = report(&folder, &args);
    let wait = &result["report"]["measures"]["wait"]["mean"];
    let d = &result["report"]["disruptions"];
    assert_eq!(
        (wait.as_f64(), d["eligible_wait"]["mean"].as_f64(), d["held"].as_u64()),
        (Some(40.0), Some(12.5), Some(1))
    );
}

/// Three jobs, of which the last depends on the second; waits as recorded.
fn chained() -> Folder {
    let with_wait = |line: String, wait: i64| line.replacen(" -1 ", &format!(" {wait} "), 1);
    let last = line(3, 300, 40, 2, 40).replace(" -1 -1\n", " 2 10\n");
    let jobs = [with_wait(line(1, 0, 100, 4, 100), 0), with_wait(line(2, 50, 60, 4, 60), 50), with_wait(last, 0)];
    Folder::with("log.swf", format!("; MaxProcs: 4\n{}", jobs.concat()))
}

/// Job 2 ends at 160, and its user thinks for 10 s.
#[test]
fn with_feedback_jobs_follow_each_other() {
    let folder = chained();
    let rows = schedule(&folder, &["--policy", "easy", "--feedback"]);
    assert_eq!(rows, ["1,0,0,100", "2,50,100,160", "3,170,170,210"]);
    let folder = Folder::with("log.swf", four());
    let err = folder.run(&["run", "--workload", "log.swf", "--policy", "easy", "--feedback"]).fails(2);
    assert!(err.contains("log.swf: --feedback needs jobs that depend on others"), "{err}");
}

/// A simulation that begins at 60, with job 1 running and job 2 waiting, goes on as the whole one
/// does.
#[test]
fn a_warm_start_goes_on_as_the_log() {
    let folder = chained();
    let whole = schedule(&folder, &["--policy", "easy"]);
    assert_eq!(schedule(&folder, &["--policy", "easy", "--warm-start", "60s"]), whole);
    let ran = folder.run(&["run", "--workload", "log.swf", "--policy", "easy", "--warm-start", "60s", "--details"]);
    assert!(
        ran.err.contains("begins 60 s after the log's first submit, with 1 job running and 1 waiting"),
        "{}",
        ran.err
    );
    assert!(ran.out.contains("jobs that count    2 of 3"), "{}", ran.out);
    let err = folder.run(&["run", "--workload", "log.swf", "--policy", "easy", "--warm-start", "9d"]).fails(2);
    assert!(err.contains("the last job is submitted at 300 s"), "{err}");
}

fn with_table(option: &str, table: &str) -> Ran {
    let folder = Folder::with("log.swf", four());
    folder.write("bad.csv", table);
    folder.run(&["run", "--workload", "log.swf", "--policy", "easy", option, "bad.csv"])
}

/// Every mistake is shown with its line and column.
#[test]
fn bad_tables_are_shown_where_they_are_wrong() {
    let outages = [
        ("begin,procs\n0,5\n", ":2: column 2 (procs): takes 5 processors of a machine of 4"),
        ("begin,end,procs\n10,5,1\n", ":2: column 2 (end): ends at 5, but begins at 10"),
        (
            "begin,end,processors\n0,10,0-2\n5,20,2\n",
            ":3: column 3 (processors): takes processors 2 at 5, which are out already (line 2",
        ),
        (
            "begin,end,procs\n0,10,3\n5,20,2\n",
            ":3: column 3 (procs): takes 2 processors at 5, when 3 of the machine of 4 are out already",
        ),
        ("begin,procs\nsoon,1\n", ":2: column 1 (begin): `soon` is no point in time"),
        (
            "begin,procs,jobs\n5,1,boom\n",
            ":2: column 3 (jobs): `boom` is unknown; expected one of drain, requeue, lose",
        ),
        ("begin,procs,announced\n5,1,7\n", ":2: column 3 (announced): is announced after it begins at 5"),
        ("begin,size\n1,2\n", ":1: column 2 (size): no such column"),
        ("begin,procs\n1\n", ":2: 1 field"),
        ("", ":1: the first line must name `begin`"),
    ];
    let jobs = [
        ("job,after\n1,2\n2,1\n", ":2: column 2 (after): job 1 waits for itself"),
        (
            "job,at,state,since\n1,50,running,0\n1,50,running,0\n",
            ":3: column 1 (job): job 1 has a row already, in line 2",
        ),
        ("job,at,state\n1,50,running\n", ":2: `since` is empty or missing"),
        ("job,state\n1,running\n", ":2: a row with a `state` says in `at` when that is"),
        ("job,eligible\n1,late\n", ":2: column 2 (eligible): `late` is no point in time"),
    ];
    for (option, tables) in [("--outages", &outages[..]), ("--circumstances", &jobs[..])] {
        for (table, expected) in tables {
            let err = with_table(option, table).fails(2);
            assert!(err.contains(&format!("bad.csv{expected}")), "{table:?}: {err}");
        }
    }
}

/// That is no mistake of the policy.
#[test]
fn a_machine_too_small_in_the_end_is_said() {
    let err = with_table("--outages", "begin,procs\n0,1\n").fails(2);
    assert!(err.contains("only 3 of 4 processors are up in the end: job 2, submitted at 10 s, needs 4"), "{err}");
    assert!(!err.contains("bug"), "{err}");
}

/// Output of `compare` in every format: the machine's effects on each policy, beside the policy's
/// own.
#[test]
fn comparisons_say_what_was_the_machines_doing() {
    let folder = outages("begin,end,procs,jobs\n40,60,4,requeue\n");
    let args = [
        "compare",
        "--workload",
        "log.swf",
        "--outages",
        "outages.csv",
        "--policy",
        "easy",
        "--policy",
        "conservative",
    ];
    let with = |more: &[&str]| {
        let mut words = args.to_vec();
        words.extend(more);
        folder.run(&words)
    };
    let text = with(&[]).ok();
    assert!(text.contains("Outages and holds"), "{text}");
    let row = |line: &&str| line.starts_with("easy") && line.split_whitespace().nth(2) == Some("2");
    assert!(text.lines().filter(row).count() >= 1, "{text}");
    let csv = with(&["--format", "csv"]).ok();
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let heads = rows.headers().expect("heads").clone();
    let first = rows.records().next().expect("a row").expect("sound");
    let value =
        |name: &str| heads.iter().position(|head| head == name).and_then(|at| first.get(at)).map(str::to_string);
    let names = ["jobs_hit", "jobs_requeued", "jobs_lost", "work_lost", "promises_broken", "promises_excused"];
    assert_eq!(names.map(|name| value(name).unwrap_or_default()), ["2", "2", "0", "140", "0", "1"]);
    with(&["--report", "page.html"]).ok();
    let page = folder.read("page.html");
    assert!(page.contains("<table id=\"disruptions\">"), "no table");
    assert!(page.contains("Processors are out as outages.csv says, whatever the policy does."), "no assumption");
    assert!(!page.contains("outages or limits of users"), "an assumption that is not made");
    let plain = folder.run(&["compare", "--workload", "log.swf", "--policy", "easy", "--format", "csv"]).ok();
    assert!(!plain.contains("jobs_hit"), "columns without outages");
}

/// A job of 100 s on all four processors writes for 5 s after each 30 s of work. It is hit at 71,
/// a second after its second checkpoint was complete: 60 s are kept, 10 s went into checkpoints, 1
/// s is lost. From 80 on it reads for 7 s, works to 117, writes to 122, and works its last 10 s to
/// 132.
#[test]
fn a_job_goes_on_from_its_last_checkpoint() {
    let folder = outages("begin,end,procs,jobs\n71,80,4,requeue\n");
    folder.write("log.swf", "; MaxProcs: 4\n1 0 -1 100 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1\n");
    let args = ["--policy", "easy", "--outages", "outages.csv", "--checkpoints", "30s,cost=5s,restart=7s"];
    assert_eq!(schedule(&folder, &args), ["1,0,80,132"]);
    assert_eq!(schedule(&folder, &args[..4]), ["1,0,80,180"]);
    let document = report(&folder, &args[2..]);
    let d = &document["report"]["disruptions"];
    let figures = [&d["work_lost"], &d["checkpoint_work"], &document["report"]["machine"]["work"]].map(Value::as_f64);
    assert_eq!(figures, [Some(4.0), Some(4.0 * (10.0 + 12.0)), Some(400.0)]);
    assert_eq!(document["experiment"]["checkpoints"], "30s,cost=5s,restart=7s");
    let csv = folder
        .run(
            &["run", "--workload", "log.swf", "--quiet", "--format", "csv"]
                .iter()
                .chain(&args)
                .copied()
                .collect::<Vec<_>>(),
        )
        .ok();
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let heads = rows.headers().expect("heads").clone();
    let row = rows.records().next().expect("a row").expect("sound");
    let value = |name: &str| heads.iter().position(|head| head == name).and_then(|at| row.get(at)).map(str::to_string);
    assert_eq!(value("waste").and_then(|waste| waste.parse().ok()), Some(92.0 / 492.0), "{csv}");
    // Without outages, the writes alone: at 35, 70 and 105 s; the limit of 100 s has room for them.
    let alone = ["--policy", "conservative", "--checkpoints", "30s,cost=5s", "--require-promises"];
    assert_eq!(schedule(&folder, &alone), ["1,0,0,115"]);
    for (text, part) in [
        ("soon", "expected an interval (young, daly, or a time such as 1h)"),
        ("daly", "add mtbf=30d, or give failures"),
    ] {
        let err = folder.run(&["run", "--workload", "log.swf", "--policy", "easy", "--checkpoints", text]).fails(2);
        assert!(err.contains(part), "{err}");
    }
}

/// Failures drawn for a log are those of a table with the same mean times: compared with and
/// without checkpoints, every policy meets the same ones.
#[test]
fn nodes_fail_at_random() {
    let folder = Folder::new();
    let log =
        ["workload", "generate", "--procs", "64", "--jobs", "400", "--load", "0.8", "--seed", "3", "--out", "log.swf"];
    folder.run(&log).ok();
    let base = ["compare", "log.swf", "--policy", "easy", "--policy", "fcfs", "--format", "csv", "--quiet"];
    let failures = ["--failures", "mtbf=2d,repair=1h,node=8,shape=0.7"];
    let column = |more: &[&str], name: &str| -> Vec<f64> {
        let csv = folder.run(&[&base[..], &failures, more].concat()).ok();
        let mut rows = csv::Reader::from_reader(csv.as_bytes());
        let at = rows.headers().expect("heads").iter().position(|head| head == name).expect(name);
        rows.records().map(|row| row.expect("sound")[at].parse().expect("a number")).collect()
    };
    let work_lost = |more: &[&str]| column(more, "work_lost");
    let (without, with) = (work_lost(&[]), work_lost(&["--checkpoints", "daly,cost=1m"]));
    assert!(without.iter().zip(&with).all(|(without, with)| *with < without / 2.0), "{without:?} {with:?}");
    assert!(column(&["--checkpoints", "daly,cost=1m"], "checkpoint_work").iter().all(|work| *work > 0.0));
    assert!(column(&[], "checkpoint_work").iter().all(|work| *work == 0.0));
    let checkpoints = ["--checkpoints", "daly,cost=1m"];
    let text = folder.run(&[&base[..6], &failures, &checkpoints, &["--details"]].concat()).ok();
    let choice = "daly,cost=60s,restart=60s,mtbf=172800s,node=8";
    assert!(text.lines().any(|line| line.starts_with("checkpoints ") && line.ends_with(choice)), "{text}");
    folder.run(&[&base[..], &failures, &checkpoints, &["--report", "page.html"]].concat()).ok();
    assert!(folder.read("page.html").contains(&format!("Jobs write checkpoints and go on from the last: {choice}")));
    let err = folder.run(&[&base[..], &["--failures", "mtbf=1h,repair=2h"]].concat()).fails(2);
    assert!(err.contains("--failures: nodes cannot be out"), "{err}");
}

/// Users 1 and 2 run 4 x 50 and 2 x 100 processor-seconds; user 2 has paid for half of the highest
/// priority, and is charged once and a half for them.
#[test]
fn users_are_charged_for_their_priorities() {
    let folder = Folder::new();
    folder.write(
        "log.swf",
        "; MaxProcs: 4\n1 0 -1 50 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1\n2 0 -1 100 2 -1 -1 2 100 -1 1 2 1 1 1 1 -1 -1\n",
    );
    folder.write("priorities.toml", "[[user]]\nid = 2\nup = 0.5\n");
    let args = [
        "run",
        "-w",
        "log.swf",
        "-p",
        "slack",
        "--priorities",
        "priorities.toml",
        "--charges",
        "charges.csv",
        "--quiet",
    ];
    folder.run(&args).ok();
    let rows: Vec<Vec<f64>> = folder
        .read("charges.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|value| value.parse().expect("a number")).collect())
        .collect();
    let hours = 200.0 / 3_600.0;
    assert_eq!(rows.iter().map(|row| row[..3].to_vec()).collect::<Vec<_>>(), [[1.0, 1.0, hours], [2.0, 1.0, hours]]);
    assert!((rows[0][3] - hours).abs() < 1e-12 && (rows[1][3] - 1.5 * hours).abs() < 1e-12, "{rows:?}");
}

/// Sweeps take outages and circumstances, and show what is wrong with either.
#[test]
fn sweeps_take_outages() {
    let folder = outages("begin,end,procs,jobs\n40,60,4,requeue\n");
    let study = "metrics = [\"jobs_hit\", \"promises_excused\", \"capacity_up\"]\n[[workload]]\nfile = \"log.swf\"\n\
                 outages = \"outages.csv\"\n[[policy]]\npolicy = \"easy\"\n";
    folder.write("study.toml", study);
    folder.run(&["sweep", "study.toml", "--quiet"]).ok();
    let query = "SELECT jobs_hit, promises_excused FROM result";
    let table = folder.run(&["sweep", "query", "study.db", query, "--format", "csv"]).ok();
    assert_eq!(table.lines().nth(1), Some("2,1"), "{table}");
    folder.write("outages.csv", "begin,procs\n0,5\n");
    folder.write("other.toml", study);
    let err = folder.run(&["sweep", "other.toml", "--quiet"]).fails(2);
    assert!(err.contains("other.toml:4:") && err.contains("outages.csv:2: column 2 (procs)"), "{err}");
}

/// Equal seeds give equal outages; they are those of the machine and the time of a log.
#[test]
fn outages_are_made_up() {
    let folder = Folder::with("log.swf", four());
    let generate = |seed: &str| {
        let args = ["workload", "outages", "--procs", "64", "--days", "90", "--node", "8", "--seed", seed, "--quiet"];
        folder.run(&args).ok()
    };
    assert_eq!(generate("3"), generate("3"));
    assert_ne!(generate("3"), generate("4"));
    let windows = generate("3").lines().filter(|row| row.contains(",drain,")).count();
    assert_eq!(windows, 2, "after 30 and 60 days of 90");
    for (args, expected) in [
        (&["--procs", "64", "--unavailable", "90%"][..], "expected a share from 0 to 0.5"),
        (&["--procs", "64", "--node", "65"], "a node of 65 processors is impossible on a machine of 64"),
        (&["--procs", "64", "--maintenance", "2d", "--every", "1d"], "it would not be over when the next begins"),
        (&[], "give a log, whose machine and time are taken, or --procs N"),
    ] {
        let mut words = vec!["workload", "outages"];
        words.extend(args);
        let err = folder.run(&words).fails(2);
        assert!(err.contains(expected), "{args:?}: {err}");
    }
}
