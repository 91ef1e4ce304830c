//! `drystone when` and `drystone foresee`.

use crate::common::{Folder, shared};
use serde_json::Value;
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

/// A machine of two nodes of four processors; one job holds all of it, three wait, one of them
/// held.
pub(crate) fn state(folder: &Folder) {
    std::fs::create_dir_all(folder.path("now")).expect("made");
    let write = |name: &str, text: &str| std::fs::write(folder.path(&format!("now/{name}")), text).expect("written");
    write("now.txt", "1700000000\n");
    write(
        "squeue.txt",
        "11|RUNNING|None|8|1:00:00|1699990000|1699998200|900|ann|main\n\
         12|PENDING|(Resources)|8|2:00:00|1699998300|N/A|800|bob|main\n\
         13|PENDING|(Priority)|4|30:00|1699998200|N/A|700|ann|main\n\
         14_[1-2]|PENDING|(JobHeldUser)|4|30:00|1699998200|N/A|0|ann|main\n",
    );
    write(
        "nodes.txt",
        "NodeName=n1 CPUAlloc=4 CPUTot=4 State=ALLOCATED Partitions=main\n\
         NodeName=n2 CPUAlloc=4 CPUTot=4 State=ALLOCATED Partitions=main\n\
         NodeName=n3 CPUAlloc=0 CPUTot=4 State=DOWN* Partitions=main\n",
    );
}

#[test]
fn every_waiting_job_is_answered() {
    let folder = Folder::new();
    state(&folder);
    let text = folder.run(&["when", "--state", "now"]).ok();
    assert!(text.starts_with("2 jobs waiting, 1 running, 0 processors free; 2 held"), "{text}");
    let json: Value =
        serde_json::from_str(&folder.run(&["when", "--state", "now", "--format", "json"]).ok()).expect("JSON");
    let jobs = json["jobs"].as_array().expect("a list");
    assert_eq!(jobs.len(), 2);
    // It has run for half of its hour: the rest is as likely as any. The plan has it end at its
    // limit.
    let first = &jobs[0];
    assert_eq!((first["job"].as_str(), first["plan"].as_i64()), (Some("12"), Some(1_700_001_800)));
    let median = first["start"]["p50"].as_i64().expect("a time") - 1_700_000_000;
    assert!((500..1400).contains(&median), "{median}");
    // The second needs half of the machine behind it: not before the first has ended.
    assert_eq!(jobs[1]["plan"].as_i64(), Some(1_700_009_000));
    // The same again, to the byte.
    assert_eq!(text, folder.run(&["when", "--state", "now"]).ok());
}

/// A job that is wider than the machine cannot start, and the answer says so; a node that is out
/// and holds no job is no processor.
#[test]
fn a_job_that_is_too_wide_cannot_start() {
    let folder = Folder::new();
    state(&folder);
    let path = folder.path("now/squeue.txt");
    let queue = std::fs::read_to_string(&path).expect("read");
    std::fs::write(&path, queue.replace("(Resources)|8|", "(Resources)|12|")).expect("written");
    let text = folder.run(&["when", "--state", "now"]).ok();
    assert!(text.contains("cannot start: 8 processors for new jobs"), "{text}");
    let text = folder.run(&["when", "--state", "now", "--job", "12"]).ok();
    assert!(text.contains("cannot start: the nodes that take new jobs have 8 processors"), "{text}");
    let json = folder.run(&["when", "--state", "now", "--job", "12", "--format", "json"]).json();
    assert_eq!((json["cannot_start"].as_bool(), json["at_next_pass"].as_bool()), (Some(true), Some(false)));
    folder.write("now/squeue.txt", "13|PENDING|(Priority)|4|30:00|1699998200|N/A|700|ann|main\n");
    let nodes = folder.read("now/nodes.txt").replace("State=ALLOCATED", "State=DOWN*");
    folder.write("now/nodes.txt", nodes);
    let error = folder.run(&["when", "--state", "now"]).fails(2);
    assert!(error.contains("no node is up"), "{error}");
}

/// Nothing is wider than eighty columns, whatever the names; a row that has no room goes on below.
#[test]
fn answers_have_eighty_columns_in_a_pipe() {
    let folder = Folder::new();
    state(&folder);
    let narrow = |args: &[&str]| {
        let text = folder.run(args).ok();
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{args:?}: {} columns:\n{line}", line.chars().count());
        }
        text
    };
    let text = narrow(&["when", "--state", "now"]);
    let row = text.lines().find(|line| line.starts_with("12 ")).expect("a row");
    assert!(row.contains("bob") && row.ends_with("Tue 22:45"), "the plan of 1,700,001,800 stands last:\n{text}");
    narrow(&["when", "--state", "now", "--job", "12"]);
    narrow(&["when", "--state", "now", "--procs", "8", "--limit", "2d", "--user", "ann"]);
    let path = folder.path("now/squeue.txt");
    let queue = std::fs::read_to_string(&path).expect("read");
    let long =
        queue.replace("|bob|", "|a_user_with_a_name_of_forty_characters_here|").replace("12|P", "1234567_1234|P");
    std::fs::write(path, long).expect("written");
    let text = narrow(&["when", "--state", "now"]);
    let at = text.lines().position(|line| line.contains("forty")).expect("a row");
    assert!(text.lines().nth(at + 1).is_some_and(|times| times.ends_with("Tue 22:45")), "{text}");
    narrow(&["when", "--state", "now", "--job", "1234567_1234"]);
}

#[test]
fn one_job_is_told_with_what_would_change_it() {
    let folder = Folder::new();
    state(&folder);
    let text = folder.run(&["when", "--state", "now", "--job", "13", "--timezone", "Europe/Berlin"]).ok();
    for part in [
        "job 13 (4 procs, limit 0:30:00), 2nd in the queue, has waited 30 min",
        "likely start",
        "the plan with time limits",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = folder.run(&["when", "--state", "now", "--procs", "2", "--limit", "1h", "--user", "ann"]).ok();
    assert!(text.starts_with("the job (2 procs, limit 1:00:00), 3rd in the queue"), "{text}");
}

#[test]
fn states_that_cannot_be_are_refused() {
    let folder = Folder::new();
    state(&folder);
    for (args, part) in [
        (&["--job", "99"][..], "the queue has no job 99"),
        (&["--job", "11"], "job 11 runs already"),
        (&["--job", "14_2"], "is held by its user (JobHeldUser)"),
        (&["--procs", "64", "--limit", "1h"], "64 processors are more than the 8 of the nodes that take new jobs"),
        (&["--partition", "gpu"], "no node in now/nodes.txt is in `gpu`; expected one of main"),
        (&["--policy", "perfect"], "it knows true run times"),
        (&["--policy", "easy(hold=price)"], "leave out `hold`"),
        (&["--timezone", "Mars"], "there is no zone `Mars`"),
    ] {
        let error = folder.run(&[&["when", "--state", "now"], args].concat()).fails(2);
        assert!(error.contains(part), "{args:?}: {error}");
    }
    for (file, text, part) in [
        ("nodes.txt", "NodeName=n1 CPUTot=4 State=DOWN Partitions=main\n", "no node is up"),
        ("nodes.txt", "NodeName=n1 State=IDLE\n", "nodes.txt:1: has no `CPUTot=`"),
        ("now.txt", "yesterday\n", "now.txt:1: `yesterday` is no time"),
        ("now.txt", "1600000000\n", "was submitted"),
        ("squeue.json", "{\"jobs\":7}\n", "has no list `jobs`"),
        ("squeue.json", "{\"jobs\":[", "squeue.json:1: no JSON"),
    ] {
        state(&folder);
        std::fs::write(folder.path(&format!("now/{file}")), text).expect("written");
        let error = folder.run(&["when", "--state", "now"]).fails(2);
        assert!(error.contains(part), "{file}: {error}");
        let _ = std::fs::remove_file(folder.path("now/squeue.json"));
    }
    assert!(folder.run(&["when", "--state", "nowhere"]).fails(2).contains("nowhere: is not a folder"));
    assert!(folder.run(&["when", "--ask"]).ok().contains("squeue --json > squeue.json"));
}

#[test]
fn a_maintenance_that_is_announced_is_waited_for() {
    let folder = Folder::new();
    state(&folder);
    let window =
        "ReservationName=service StartTime=1700003600 EndTime=1700010800 Nodes=n[1-2] Flags=MAINT,SPEC_NODES\n";
    std::fs::write(folder.path("now/reservations.txt"), window).expect("written");
    let json: Value =
        serde_json::from_str(&folder.run(&["when", "--state", "now", "--format", "json"]).ok()).expect("JSON");
    // Job 12 needs all of the machine for two hours: it begins when the service is over.
    let start = &json["jobs"][0]["start"];
    assert!(start["p10"].as_i64() >= Some(1_700_010_000) && start["p90"].as_i64() <= Some(1_700_011_500), "{start}");
}

/// A job that waits for one which may run for 20 days, and of which nothing is known: in three
/// futures of ten it runs for longer than the 14 days that are simulated.
#[test]
fn a_start_that_some_futures_lack_is_told_as_such() {
    let folder = Folder::new();
    state(&folder);
    let queue = |limit: &str| {
        format!(
            "11|RUNNING|None|8|{limit}|1699999999|1700000000|900|ann|main\n\
             12|PENDING|(Resources)|8|2:00:00|1699998300|N/A|800|bob|main\n"
        )
    };
    folder.write("now/squeue.txt", queue("20-00:00:00"));
    let args = ["when", "--state", "now", "--job", "12", "--samples", "1000", "--quiet"];
    let text = folder.run(&args).ok();
    let line = text.lines().find(|line| line.contains("not within 14 days in")).expect("a sentence");
    let share: f64 = line.trim().split(' ').nth(5).and_then(|word| word.parse().ok()).expect("a share");
    // Three standard errors of 1,000 futures: 4.4 %.
    assert!((25.6..=34.4).contains(&share) && line.ends_with("% of futures"), "{text}");
    assert!(
        text.contains("likely start") && text.contains("– beyond 14 days") && !text.contains("by beyond"),
        "{text}"
    );
    let json = folder.run(&[&args[..], &["--format", "json"]].concat()).json();
    assert!(
        json["start"]["p50"].is_i64() && json["start"]["p75"].is_null() && json["start"]["p95"].is_null(),
        "{json}"
    );
    assert!(
        json["not_within_horizon"].as_f64().is_some_and(|fraction| (100.0 * fraction - share).abs() <= 0.5),
        "{json}"
    );
    assert_eq!(json["horizon"].as_i64(), Some(1_700_000_000 + 14 * 86_400));
    let row = |text: &str| text.lines().find(|line| line.starts_with("12 ")).map(str::to_string).expect("a row");
    let table_text = folder.run(&["when", "--state", "now", "--quiet"]).ok();
    assert!(row(&table_text).contains("> 14 days"), "{table_text}");
    // A node that is reserved for twenty days: in none.
    folder.write("now/nodes.txt", nodes(&[("IDLE", 0), ("IDLE+RESERVED", 0)]));
    folder.write(
        "now/reservations.txt",
        "ReservationName=r StartTime=1699999000 EndTime=1701728000 Nodes=n2 Flags=SPEC_NODES\n",
    );
    folder.write("now/squeue.txt", "12|PENDING|(Resources)|8|2:00:00|1699998300|N/A|800|bob|main\n");
    let text = folder.run(&args).ok();
    assert!(text.contains("not within 14 days in 100 % of futures") && !text.contains("likely start"), "{text}");
    let json = folder.run(&[&args[..], &["--format", "json"]].concat()).json();
    assert!(json["start"]["p05"].is_null() && json["not_within_horizon"].as_f64() == Some(1.0), "{json}");
}

/// Nodes, each of four processors, in these states with so many of them busy.
pub(crate) fn nodes(states: &[(&str, u32)]) -> String {
    let node = |(at, (state, busy)): (usize, &(&str, u32))| {
        format!("NodeName=n{} CPUAlloc={busy} CPUTot=4 State={state} Partitions=main\n", at + 1)
    };
    states.iter().enumerate().map(node).collect()
}

/// A job that holds two of the four processors of a draining node runs on; these do not come back
/// for others. By hand, with plans of limits: job 11 holds n1 until 1,800 s from now, and job 10
/// two processors of n2 until 600 s. Job 12 of four waits for n1, though four would be free at
/// 600 s if n2 took jobs.
#[test]
fn a_draining_node_takes_no_new_job() {
    let folder = Folder::new();
    state(&folder);
    let queue = |nodes: bool| {
        let on = |list: &str| if nodes { format!("|{list}|(null)") } else { String::new() };
        format!(
            "10|RUNNING|None|2|20:00|1699990000|1699999400|900|ann|main{}\n\
             11|RUNNING|None|4|1:00:00|1699990000|1699998200|900|ann|main{}\n\
             12|PENDING|(Resources)|4|2:00:00|1699998300|N/A|800|bob|main{}\n\
             13|PENDING|(Priority)|2|10:00|1699998300|N/A|700|bob|main{}\n",
            on("n2"),
            on("n1"),
            on(""),
            on("")
        )
    };
    let plans = || -> Vec<Option<i64>> {
        let json = folder.run(&["when", "--state", "now", "--format", "json", "--quiet"]).json();
        let jobs = json["jobs"].as_array().expect("a list").clone();
        jobs.iter().map(|job| job["plan"].as_i64().map(|plan| plan - 1_700_000_000)).collect()
    };
    for state in ["MIXED+DRAIN", "MIXED+NOT_RESPONDING", "DRAINING", "MIXED+FAIL", "MIXED*", "MIXED+MAINTENANCE"] {
        folder.write("now/nodes.txt", nodes(&[("ALLOCATED", 4), (state, 2)]));
        for has_nodes in [true, false] {
            folder.write("now/squeue.txt", queue(has_nodes));
            let text = folder.run(&["when", "--state", "now"]).ok();
            assert!(text.starts_with("2 jobs waiting, 2 running, 0 processors free"), "{state}: {text}");
            // Without lists of nodes job 10 is taken to run on n1, and two of its processors are
            // back at 600 s: still too few.
            assert_eq!(plans()[0], Some(1_800), "{state}");
        }
        // Wider than the node that takes jobs.
        folder.write("now/squeue.txt", queue(true).replace("12|PENDING|(Resources)|4", "12|PENDING|(Resources)|6"));
        let json = folder.run(&["when", "--state", "now", "--job", "12", "--format", "json"]).json();
        assert_eq!(json["cannot_start"].as_bool(), Some(true), "{state}: {json}");
    }
    // A node that takes jobs: job 13 starts at once on what is free of it, job 12 at 600 s.
    for state in ["MIXED", "MIXED+PLANNED", "MIXED+POWERING_UP"] {
        folder.write("now/nodes.txt", nodes(&[("ALLOCATED", 4), (state, 2)]));
        folder.write("now/squeue.txt", queue(true));
        let text = folder.run(&["when", "--state", "now"]).ok();
        assert!(text.starts_with("2 jobs waiting, 2 running, 2 processors free"), "{state}: {text}");
        assert_eq!(plans()[0], Some(600), "{state}: {text}");
    }
    // Idle nodes that take none, and one that Slurm would boot.
    folder.write("now/squeue.txt", queue(true));
    for state in [
        "IDLE+DRAIN",
        "DOWN*",
        "DOWN+NOT_RESPONDING",
        "FUTURE",
        "IDLE+INVALID_REG",
        "IDLE+RESERVED",
        "IDLE+REBOOT_ISSUED",
    ] {
        folder.write("now/nodes.txt", nodes(&[("ALLOCATED", 4), ("MIXED+DRAIN", 2), (state, 0)]));
        assert_eq!(plans()[0], Some(1_800), "{state}");
    }
    folder.write("now/nodes.txt", nodes(&[("ALLOCATED", 4), ("MIXED+DRAIN", 2), ("IDLE+CLOUD+POWERED_DOWN", 0)]));
    let text = folder.run(&["when", "--state", "now", "--job", "12"]).ok();
    assert!(text.contains("starts at the next scheduling pass"), "{text}");
}

/// A node in a reservation that has begun takes jobs of others when that is over.
#[test]
fn a_reserved_node_comes_back() {
    let folder = Folder::new();
    state(&folder);
    folder.write("now/squeue.txt", "12|PENDING|(Resources)|8|2:00:00|1699998300|N/A|800|bob|main\n");
    folder.write("now/nodes.txt", nodes(&[("IDLE", 0), ("IDLE+RESERVED", 0)]));
    let plan = || {
        let json = folder.run(&["when", "--state", "now", "--job", "12", "--format", "json", "--quiet"]).json();
        (json["cannot_start"].as_bool(), json["start"]["p50"].as_i64().map(|start| start - 1_700_000_000))
    };
    assert_eq!(plan(), (Some(true), None), "no one says until when");
    let window = "ReservationName=course StartTime=1699999000 EndTime=1700003000 Nodes=n2 NodeCnt=1 CoreCnt=4 Flags=SPEC_NODES TRES=cpu=4\n";
    folder.write("now/reservations.txt", window);
    let (never, start) = plan();
    assert!(never == Some(false) && start.is_some_and(|start| (2_900..3_100).contains(&start)), "{start:?}");
    // So does one in maintenance.
    folder.write("now/nodes.txt", nodes(&[("IDLE", 0), ("IDLE+MAINTENANCE", 0)]));
    folder.write("now/reservations.txt", window.replace("SPEC_NODES", "MAINT,SPEC_NODES"));
    assert!(plan().1.is_some_and(|start| (2_900..3_100).contains(&start)));
}

/// A line for each job in the site's words, and nothing else: for `squeue`'s comment, or a login
/// message.
#[test]
fn a_site_says_it_in_its_own_words() {
    let folder = Folder::new();
    state(&folder);
    let lines = |text: &str| folder.run(&["when", "--state", "now", "--quiet", "--text", text]).ok();
    let text = lines("JobId={job} {user}, {procs} cores: {early} to {by90}{why}");
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows.len() == 2 && rows[0].starts_with("JobId=12 bob, 8 cores: Tue 22:1"), "{text}");
    assert!(rows[1].starts_with("JobId=13 ann, 4 cores: ") && text.ends_with('\n'), "{text}");
    let queue = folder.read("now/squeue.txt").replace("(Priority)|4", "(QOSMaxJobsPerUserLimit)|4");
    folder.write("now/squeue.txt", queue);
    let text = lines("{job}: {why}");
    assert!(text.contains("13: waits for a limit that 1 running job holds (QOSMaxJobsPerUserLimit)\n"), "{text}");
    let error = folder.run(&["when", "--state", "now", "--text", "{job} {start}"]).fails(2);
    assert!(error.contains("`{start}` is none of {job}, {user}"), "{error}");
}

/// Listings of `squeue --json` of 22.05 and 23.11: words or lists of words, numbers or objects.
#[test]
fn listings_of_old_and_new_versions_name_the_nodes_of_jobs() {
    let folder = Folder::new();
    state(&folder);
    std::fs::remove_file(folder.path("now/squeue.txt")).expect("removed");
    folder.write("now/nodes.txt", nodes(&[("ALLOCATED", 4), ("MIXED+DRAIN", 2)]));
    let old = r#"{"jobs":[
        {"job_id":10,"job_state":"RUNNING","cpus":2,"submit_time":1699990000,"start_time":1699999400,"time_limit":20,
         "priority":900,"user_name":"ann","partition":"main","state_reason":"None","nodes":"n2"},
        {"job_id":11,"job_state":"RUNNING","cpus":4,"submit_time":1699990000,"start_time":1699998200,"time_limit":60,
         "priority":900,"user_name":"ann","partition":"main","state_reason":"None","nodes":"n1"},
        {"job_id":12,"job_state":"PENDING","cpus":4,"submit_time":1699998300,"start_time":0,"time_limit":120,
         "priority":800,"user_name":"bob","partition":"main","state_reason":"Resources","nodes":""},
        {"job_id":21,"job_state":"PENDING","cpus":4,"submit_time":1699998300,"start_time":0,"eligible_time":1700036000,
         "time_limit":120,"priority":800,"user_name":"bob","partition":"main","state_reason":"BeginTime","nodes":""}]}"#;
    let wrap = |text: &str, key: &str| {
        let mut out = String::new();
        let mut rest = text;
        let key = format!("\"{key}\":");
        while let Some(at) = rest.find(&key) {
            let (head, tail) = rest.split_at(at + key.len());
            let end = tail.find(|c: char| !c.is_ascii_digit()).expect("more");
            out += &format!("{head}{{\"set\":true,\"infinite\":false,\"number\":{}}}", &tail[..end]);
            rest = &tail[end..];
        }
        out + rest
    };
    let mut new = old.replace(r#""RUNNING""#, r#"["RUNNING"]"#).replace(r#""PENDING""#, r#"["PENDING"]"#);
    for key in ["cpus", "submit_time", "start_time", "eligible_time", "time_limit", "priority"] {
        new = wrap(&new, key);
    }
    for text in [old, &new] {
        folder.write("now/squeue.json", text);
        let json = folder.run(&["when", "--state", "now", "--format", "json", "--quiet"]).json();
        assert_eq!(json["jobs"][0]["plan"].as_i64(), Some(1_700_001_800), "{json}");
        let later = &json["jobs"][1];
        assert_eq!(
            (later["job"].as_str(), later["also_waits_for"]["begin"].as_i64()),
            (Some("21"), Some(1_700_036_000))
        );
        assert!(later["start"]["p05"].as_i64() >= Some(1_700_036_000), "{json}");
    }
}

/// Neither answers nor scores depend on the number of threads.
#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let folder = Folder::new();
    state(&folder);
    let conf = "ClusterName=c\nSlurmctldHost=h\nSchedulerType=sched/backfill\nSelectType=select/cons_tres\n\
                SelectTypeParameters=CR_Core\nSchedulerParameters=bf_interval=30\nNodeName=n[1-2] CPUs=4\n\
                PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE\n";
    folder.write("now/slurm.conf", conf);
    // A past of 60 jobs that waited for what ran before them.
    let past: String = (0..60)
        .map(|i| {
            let (submit, start) = (1_699_400_000 + i * 3_000, 1_699_400_000 + i * 3_100);
            let (end, run) = (start + 3_000 - i * 7, 3_000 - i * 7);
            format!("{}|ann|main|{submit}|{start}|{end}|{run}|60|8|8|COMPLETED\n", 1_000 + i)
        })
        .collect();
    let header = "JobIDRaw|User|Partition|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|AllocCPUS|State\n";
    std::fs::create_dir_all(folder.path("now/accounting")).expect("made");
    folder.write("now/accounting/jobs.psv", format!("{header}{past}"));
    folder
        .run(&["workload", "generate", "--procs", "32", "--jobs", "300", "--load", "1", "--out", "log.swf", "--quiet"])
        .ok();
    let same = |args: &[&str]| {
        let on = |threads: &str| folder.run(&[args, &["--threads", threads, "--quiet"]].concat()).ok();
        let output = on("1");
        assert!(!output.is_empty());
        for threads in ["2", "5"] {
            assert_eq!(output, on(threads), "{args:?} on {threads} threads");
        }
        output
    };
    for policy in ["easy", "conservative", "slurm"] {
        let args = ["when", "--state", "now", "--policy", policy, "--samples", "30", "--rehearse", "20", "--format"];
        let json_text = same(&[&args[..], &["json"]].concat());
        assert!(json_text.contains("\"p50\""), "{json_text}");
        same(&[&args[..], &["text", "--job", "12"]].concat());
        // As many past answers are rehearsed as are asked for.
        for rehearsals in [0_u64, 5] {
            let count = rehearsals.to_string();
            let args = ["when", "--state", "now", "--policy", policy, "--samples", "30", "--rehearse", &count];
            let json = folder.run(&[&args[..], &["--format", "json", "--quiet"]].concat()).json();
            let jobs = json["jobs"].as_array().expect("a list");
            let mut counts = jobs.iter().filter_map(|job| job["calibration"]["n"].as_u64()).peekable();
            assert!(counts.peek().is_some() && counts.all(|n| n == rehearsals), "{policy}, {rehearsals}: {json}");
        }
    }
    for (policy, every) in [("easy", "1"), ("conservative", "5"), ("slurm(bf_interval=30)", "50")] {
        same(&["foresee", "-w", "log.swf", "-p", policy, "--every", every, "--samples", "15", "--format", "json"]);
    }
}

#[test]
fn answers_on_a_log_are_scored() {
    let folder = Folder::new();
    folder
        .run(&["workload", "generate", "--procs", "32", "--jobs", "400", "--load", "1", "--out", "log.swf", "--quiet"])
        .ok();
    let args = ["foresee", "-w", "log.swf", "--samples", "20", "--quiet"];
    let text = folder.run(&[&args[..], &["--details", "--report", "out.html"]].concat()).ok();
    for part in ["method", "calibrated", "plan", "Verdict", "The best baseline is"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let page = std::fs::read_to_string(folder.path("out.html")).expect("written");
    assert!(page.starts_with("<!doctype html>") && page.matches("<figure>").count() == 2, "two plots");
    assert!(page.contains("Position of starts within the forecasts") && !page.contains("src="), "nothing is loaded");
    let json: Value =
        serde_json::from_str(&folder.run(&[&args[..], &["--format", "json"]].concat()).ok()).expect("JSON");
    assert_eq!(json["schema"], "drystone/foresee/1");
    assert_eq!(json["found"]["methods"].as_array().map(Vec::len), Some(11));
    let csv = folder.run(&[&args[..], &["--format", "csv", "--method", "plan"]].concat()).ok();
    // Two methods, each over all and by six states.
    assert_eq!(csv.lines().count(), 1 + 2 * 7, "{csv}");
    let error = folder.run(&["foresee", "-w", "log.swf", "--policy", "perfect"]).fails(2);
    assert!(error.contains("it knows true run times"), "{error}");
}

/// Questions that are asked again have a table and rows of their own, and leave the others as they
/// are. An interval of no length is refused.
#[test]
fn jobs_that_wait_are_asked_about_again() {
    let folder = Folder::new();
    folder
        .run(&["workload", "generate", "--procs", "32", "--jobs", "300", "--load", "1", "--out", "log.swf", "--quiet"])
        .ok();
    let args = ["foresee", "-w", "log.swf", "--samples", "20", "--quiet", "--method", "plan"];
    let run = |more: &[&str]| folder.run(&[&args[..], more].concat()).ok();
    let text = run(&["--again", "2h"]);
    for part in ["Forecasts every 2.0 h while jobs wait", "at arrival", "questions"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let [csv, without] = [&["--format", "csv", "--again", "2h"][..], &["--format", "csv"]].map(run);
    let (own, other_lines): (Vec<&str>, Vec<&str>) = csv.lines().partition(|line| line.contains("asked again"));
    assert_eq!((own.len(), other_lines), (4, without.lines().collect()));
    let error = folder.run(&["foresee", "-w", "log.swf", "--again", "0"]).fails(2);
    assert!(error.contains("expected a second at least"), "{error}");
}

#[test]
fn a_later_submission_is_told_for_a_job_that_is_not_submitted() {
    let folder = Folder::new();
    state(&folder);
    let args = ["when", "--state", "now", "--procs", "8", "--limit", "1h", "--user", "ann", "--format", "json"];
    let json = folder.run(&args).json();
    let later: Vec<(i64, i64)> = json["what_if"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|row| Some((row["change"]["submit_after"].as_i64()?, row["p50"].as_i64()? - 1_700_000_000)))
        .collect();
    assert_eq!(later.iter().map(|row| row.0).collect::<Vec<_>>(), [2 * 3600, 6 * 3600, 24 * 3600]);
    // All that is here is over after 4 h at the latest: the last two start as they come.
    assert!(later[1..].iter().all(|&(after, start)| (start - after).abs() <= 1), "{later:?}");
    assert!(later[0].1 >= later[0].0, "{later:?}");
    // A job that waits already is not submitted again.
    let json = folder.run(&["when", "--state", "now", "--job", "12", "--format", "json"]).json();
    assert!(!json["what_if"].to_string().contains("submit_after"), "{json}");
}

#[test]
fn slurm_takes_the_file_of_the_folder() {
    let folder = Folder::new();
    state(&folder);
    let conf = "ClusterName=c\nSlurmctldHost=h\nSchedulerType=sched/backfill\nSelectType=select/cons_tres\n\
                SelectTypeParameters=CR_Core\nSchedulerParameters=bf_interval=30\nNodeName=n[1-2] CPUs=4\n\
                PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE\n";
    std::fs::write(folder.path("now/slurm.conf"), conf).expect("written");
    let args = ["when", "--state", "now", "--policy", "slurm", "--format", "json"];
    let json = folder.run(&args).json();
    assert!(json["policy"].as_str().is_some_and(|policy| policy.contains("now/slurm.conf")), "{}", json["policy"]);
    // Job 12 needs all of the machine: the job that runs has 30 min left at most, and Slurm looks
    // every 30 s.
    let start = &json["jobs"][0]["start"];
    let within = |level: &str| (1_700_000_000..1_700_000_000 + 1_900).contains(&start[level].as_i64().expect("a time"));
    assert!(within("p05") && within("p50"), "{start}");
    std::fs::write(folder.path("now/slurm.conf"), "NodeName n1\n").expect("written");
    let error = folder.run(&args).fails(2);
    assert!(error.contains("slurm.conf"), "{error}");
}

#[test]
fn a_policy_that_promises_says_until_when() {
    let folder = Folder::new();
    state(&folder);
    let args = ["when", "--state", "now", "--policy", "conservative", "--job", "13"];
    let json = folder.run(&[&args[..], &["--format", "json"]].concat()).json();
    // The plan: job 12 behind the one that runs, job 13 behind both, or beside none of them.
    assert_eq!(json["promise"]["latest"].as_i64(), Some(1_700_009_000), "{json}");
    let text = folder.run(&args).ok();
    assert!(text.contains("conservative promises Wed 00:45 at the latest"), "{text}");
}

/// Writes the state of the KTH log at the arrival of this job, with the real starts of the 60 days
/// before, as a cluster of 100 nodes of one processor would print it.
fn state_of_log(folder: &Folder, log: &Path, arrival: i64) {
    let mut text = String::new();
    let file = std::fs::File::open(log).expect("opened");
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("read");
    let start = text.lines().find_map(|line| line.strip_prefix("; UnixStartTime:")).expect("a header");
    let zero: i64 = start.trim().parse().expect("a number");
    let fields = |line: &str| line.split_whitespace().map(|f| f.parse::<f64>().expect("a number") as i64).collect();
    let jobs: Vec<Vec<i64>> = text.lines().filter(|line| !line.starts_with(';')).map(fields).collect();
    let now = zero + jobs.iter().find(|job| job[0] == arrival).expect("the job")[1];
    let (mut queue, mut past, mut busy) = (String::new(), String::new(), 0);
    for job in &jobs {
        let (number, submit, limit, user) = (job[0], zero + job[1], job[8], job[11]);
        let procs = if job[4] > 0 { job[4] } else { job[7] };
        let (start, run) = (submit + job[2], job[3].max(0));
        let end = start + run;
        if submit > now || end <= now - 60 * 86_400 {
            continue;
        }
        if end <= now {
            let limit = (limit / 60).max(1);
            let _ =
                writeln!(past, "{number}|{user}|main|{submit}|{start}|{end}|{run}|{limit}|{procs}|{procs}|COMPLETED");
            continue;
        }
        let (days, hours, minutes) = (limit / 86_400, limit / 3600 % 24, limit / 60 % 60);
        let limit = format!("{days}-{hours:02}:{minutes:02}:{:02}", limit % 60);
        let runs = start <= now && !(submit == now && start == now);
        busy += if runs { procs } else { 0 };
        let (state, reason) = if runs { ("RUNNING", "None") } else { ("PENDING", "(Resources)") };
        let since = if runs { start.to_string() } else { "N/A".to_string() };
        let priority = 100_000 - number;
        let _ = writeln!(queue, "{number}|{state}|{reason}|{procs}|{limit}|{submit}|{since}|{priority}|{user}|main");
    }
    let node = |i| {
        let (busy, state) = if i < busy { (1, "ALLOCATED") } else { (0, "IDLE") };
        format!("NodeName=n{i:03} CPUAlloc={busy} CPUTot=1 State={state} Partitions=main\n")
    };
    std::fs::create_dir_all(folder.path("now/accounting")).expect("made");
    folder.write("now/now.txt", format!("{now}\n"));
    folder.write("now/squeue.txt", queue);
    folder.write("now/nodes.txt", (0..100).map(node).collect::<String>());
    let header = "JobIDRaw|User|Partition|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|AllocCPUS|State\n";
    folder.write("now/accounting/jobs.psv", format!("{header}{past}"));
}

/// Nothing says what ran when the jobs of a queue came: without accounting, with a table that has
/// no row yet, and where the accounting ends long before. Twenty jobs behind one that runs are then
/// foretold within its limit and theirs, none "in 14 days".
#[test]
fn a_queue_without_a_past_is_foretold_by_its_limits() {
    let folder = Folder::new();
    state(&folder);
    let mut queue = "11|RUNNING|None|8|1:00:00|1699990000|1699998200|900|ann|main\n".to_string();
    for i in 0..20 {
        let _ = writeln!(queue, "{}|PENDING|(Priority)|8|10:00|{}|N/A|{}|bob|main", 20 + i, 1_699_998_300 + i, 800 - i);
    }
    folder.write("now/squeue.txt", queue);
    let without = folder.run(&["when", "--state", "now"]).ok();
    // The last starts 190 minutes behind the first, which has the machine at 22:43.
    assert!(!without.contains("14 days") && without.contains("39 ") && without.contains("Wed 02:00"), "{without}");
    std::fs::create_dir_all(folder.path("now/accounting")).expect("made");
    let header = "JobIDRaw|User|Partition|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|AllocCPUS|State\n";
    folder.write("now/accounting/jobs.psv", header);
    assert_eq!(folder.run(&["when", "--state", "now"]).ok(), without);
    let old = "7|ann|main|1699500000|1699500000|1699500600|600|60|8|8|COMPLETED\n";
    folder.write("now/accounting/jobs.psv", format!("{header}{old}"));
    let stale = folder.run(&["when", "--state", "now"]);
    assert!(stale.err.contains("the accounting ends 5 days before the queue"), "{}", stale.err);
    assert!(!stale.ok().contains("14 days"));
}

/// Output on the page on start times is that of the program.
#[test]
fn the_page_shows_what_is_printed() {
    const LOG: &str = "KTH-SP2-1996-2.1-cln.swf.gz";
    let Some(log) = shared(&format!("traces/{LOG}")) else { return };
    let page = include_str!("../../../../docs/start-times.md");
    let mut rewritten = page.to_string();
    let folder = Folder::new();
    std::fs::copy(&log, folder.path(LOG)).expect("copied");
    state_of_log(&folder, &log, 14222);
    let mut paragraph_count = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        let (command, output) = block.split_once('\n').expect("a command and its output");
        let args: Vec<&str> = command.trim_start_matches("$ drystone ").split(' ').collect();
        let output_text = folder.run(&[&args[..], &["--quiet"]].concat()).ok();
        if args == ["when", "--ask"] {
            continue;
        }
        // The page leaves out whole paragraphs, and nothing within one.
        let lines = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        let whole = lines(&output_text);
        for paragraph in lines(output).split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
            let first = paragraph.trim_matches('\n').lines().next().unwrap_or_default();
            let own = whole.split("\n\n").find(|own| own.lines().next() == Some(first));
            if let (Some(own), Ok("always")) = (own, std::env::var("INSTA_UPDATE").as_deref()) {
                rewritten = rewritten.replace(paragraph.trim_matches('\n'), own.trim_matches('\n'));
                continue;
            }
            assert!(
                whole.contains(paragraph.trim_matches('\n')),
                "`{command}` prints\n{output_text}\nand the page shows\n{paragraph}"
            );
        }
        paragraph_count += 1;
    }
    assert!(paragraph_count >= 3, "{paragraph_count}");
    if rewritten != page {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/start-times.md");
        std::fs::write(path, rewritten).expect("the page is written");
    }
}

/// Node n1 is in both partitions, and a job of `a` holds it for another half an hour: `b` has no
/// other node. A job of `a` on n1 and n2 holds half of its processors there.
#[test]
fn jobs_of_other_partitions_hold_the_nodes_of_this_one() {
    let folder = Folder::new();
    state(&folder);
    folder.write(
        "now/nodes.txt",
        "NodeName=n1 CPUAlloc=4 CPUTot=4 State=ALLOCATED Partitions=a,b\n\
         NodeName=n2 CPUAlloc=0 CPUTot=4 State=IDLE Partitions=a\n",
    );
    for (procs, on) in [(4, "n1"), (8, "n[1-2]")] {
        let queue = format!(
            "1|RUNNING|None|{procs}|1:00:00|1699995000|1699998200|100|u|a|{on}|(null)\n\
             10|PENDING|(Resources)|4|1:00:00|1699999700|N/A|20|v|b||(null)\n"
        );
        folder.write("now/squeue.txt", queue);
        let text = folder.run(&["when", "--state", "now", "--partition", "b"]).ok();
        assert!(text.starts_with("1 job waiting, 1 running, 0 processors free"), "{on}: {text}");
        let json = folder.run(&["when", "--state", "now", "--partition", "b", "--format", "json", "--quiet"]).json();
        assert_eq!(json["jobs"][0]["plan"].as_i64(), Some(1_700_001_800), "{on}: {json}");
    }
}
