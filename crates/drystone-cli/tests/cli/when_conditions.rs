//! `drystone when` of jobs that wait for something else than room: limits, dependencies,
//! reservations.

use crate::common::Folder;
use crate::when::{nodes, state};
use serde_json::Value;

/// Each reason to wait for anything but processors has a sentence, and JSON has it as well.
#[test]
fn jobs_that_do_not_compete_are_named_with_their_reasons() {
    let folder = Folder::new();
    state(&folder);
    let job = |id: &str, reason: &str, start: &str| {
        format!("{id}|PENDING|({reason})|4|30:00|1699998200|{start}|500|ann|main||(null)\n")
    };
    let queue = [
        "11|RUNNING|None|8|1:00:00|1699990000|1699998200|900|ann|main|n[1-2]|(null)\n".to_string(),
        job("12", "Resources", "N/A"),
        job("13", "AssocGrpCpuLimit", "N/A"),
        job("14_[1-2]", "JobHeldUser", "N/A"),
        job("15", "JobHeldAdmin", "N/A"),
        job("16", "Dependency", "N/A"),
        job("17", "DependencyNeverSatisfied", "N/A"),
        job("18_[3-9%1]", "JobArrayTaskLimit", "N/A"),
        job("19", "PartitionDown", "N/A"),
        job("20", "PartitionInactive", "N/A"),
        job("21", "BeginTime", "1700036000"),
        job("22", "Resources", "N/A").replace("(null)", "course"),
    ];
    folder.write("now/squeue.txt", queue.concat());
    let text = folder.run(&["when", "--state", "now"]).ok();
    // Those of the array of which one may run at a time, one at a limit and one with a begin time
    // are answered.
    assert!(text.starts_with("10 jobs waiting, 1 running, 0 processors free; 8 held"), "{text}");
    // 1,700,036,000 is Wednesday, 08:13 UTC: to a quarter of an hour.
    for part in [
        "\n        waits for a limit that 1 running job holds (AssocGrpCpuLimit)\n",
        "\n        waits for other tasks of its array, 1 at a time (JobArrayTaskLimit)\n",
        "\n        may begin at Wed 08:13 (BeginTime)\n",
        "2 jobs are left out: each is held by its user (JobHeldUser).",
        "Job 15 is left out: it is held by an administrator (JobHeldAdmin).",
        "Job 16 is left out: it waits for other jobs that it depends on (Dependency).",
        "Job 19 is left out: it is in a partition that is down (PartitionDown).",
        "Job 20 is left out: it is in a partition that is inactive (PartitionInactive).",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let json = folder.run(&["when", "--state", "now", "--format", "json", "--quiet"]).json();
    let left_out: Vec<(&str, &str)> = json["left_out"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|entry| (entry["job"].as_str().expect("a name"), entry["reason"].as_str().expect("a word")))
        .collect();
    assert_eq!((left_out.len(), left_out[0], left_out[7]), (8, ("14_1", "JobHeldUser"), ("22", "course")));
    let limit_job = json["jobs"].as_array().expect("a list").iter().find(|job| job["job"] == "13").expect("answered");
    assert_eq!(limit_job["also_waits_for"]["reason"].as_str(), Some("AssocGrpCpuLimit"));
    assert_eq!(limit_job["also_waits_for"]["simulated"].as_bool(), Some(true));
    for (job, part) in [
        ("15", "is held by an administrator (JobHeldAdmin)"),
        ("17", "depends on a job that ended otherwise, so that it never starts"),
        ("22", "was submitted to a reservation"),
    ] {
        let error = folder.run(&["when", "--state", "now", "--job", job]).fails(2);
        assert!(error.contains(part), "{job}: {error}");
    }
    // All that is here is over by then: it starts as it may begin.
    let text = folder.run(&["when", "--state", "now", "--job", "21"]).ok();
    assert!(text.contains("it may begin at Wed 08:13 at the earliest (BeginTime)"), "{text}");
    let json = folder.run(&["when", "--state", "now", "--job", "21", "--format", "json"]).json();
    let start = json["start"]["p50"].as_i64().expect("a time");
    assert!((1_700_036_000..1_700_036_010).contains(&start), "{json}");
}

/// The plan of each answered job, in seconds from now.
fn plans_of(folder: &Folder) -> std::collections::BTreeMap<String, Option<i64>> {
    let json = folder.run(&["when", "--state", "now", "--format", "json", "--quiet"]).json();
    let of = |job: &Value| {
        let name = job["job"].as_str().expect("a name").to_string();
        (name, job["plan"].as_i64().map(|plan| plan - 1_700_000_000))
    };
    json["jobs"].as_array().expect("a list").iter().map(of).collect()
}

/// Sixteen processors, ten of them free. By hand, with plans of limits: user ann holds her limit of
/// two jobs until 1,800 s and 3,000 s from now, so that her next jobs come then, in their order;
/// what depends on the first of them comes 600 s later, and one whose begin time is 500 s ahead
/// then. None of them is at the next pass.
#[test]
fn jobs_at_a_limit_wait_for_the_jobs_that_hold_it() {
    let folder = Folder::new();
    state(&folder);
    folder.write("now/nodes.txt", nodes(&[("IDLE", 0), ("IDLE", 0), ("MIXED", 2), ("ALLOCATED", 4)]));
    let row = |id: &str, state: &str, reason: &str, procs: u32, limit: &str, start: &str, rest: &str| {
        format!("{id}|{state}|{reason}|{procs}|{limit}|1699990000|{start}|500|{rest}\n")
    };
    let queue = [
        row("1", "RUNNING", "None", 2, "1:00:00", "1699998200", "ann|main|n3|(null)|bio|normal||1|0|N/A"),
        row("2", "RUNNING", "None", 2, "1:20:00", "1699998200", "ann|main|n4|(null)|bio|normal||1|0|N/A"),
        row("3", "RUNNING", "None", 2, "10:00", "1699999800", "eve|main|n4|(null)|bio|normal||1|0|N/A"),
        row("4", "PENDING", "(QOSMaxJobsPerUserLimit)", 1, "10:00", "N/A", "ann|main||(null)|bio|normal||1|0|N/A"),
        row("5", "PENDING", "(QOSMaxJobsPerUserLimit)", 1, "10:00", "N/A", "ann|main||(null)|bio|normal||1|0|N/A"),
        row("6", "PENDING", "(Priority)", 1, "10:00", "N/A", "ann|main||(null)|bio|normal||1|0|N/A"),
        row(
            "7",
            "PENDING",
            "(Dependency)",
            1,
            "10:00",
            "N/A",
            "bob|main||(null)|bio|normal|afterok:4(unfulfilled)|1|0|N/A",
        ),
        row("8", "PENDING", "(BeginTime)", 1, "10:00", "1700000500", "bob|main||(null)|bio|normal||1|0|N/A"),
        row(
            "9",
            "PENDING",
            "(Dependency)",
            1,
            "10:00",
            "N/A",
            "bob|main||(null)|bio|normal|afterok:10(unfulfilled)|1|0|N/A",
        ),
        row("10", "PENDING", "(JobHeldUser)", 1, "10:00", "N/A", "bob|main||(null)|bio|normal||1|0|N/A"),
        row("11", "PENDING", "(QOSMaxJobsPerUserLimit)", 1, "10:00", "N/A", "joe|main||(null)|bio|normal||1|0|N/A"),
    ];
    folder.write("now/squeue.txt", queue.concat());
    let plans = plans_of(&folder);
    let plan = |name: &str| plans.get(name).copied().flatten().unwrap_or_else(|| panic!("{name}: {plans:?}"));
    // A pass follows the end within a second.
    for (job, expected) in [("4", 1_800), ("5", 2_400), ("6", 3_000), ("7", 2_400), ("8", 500)] {
        assert!((expected..=expected + 2).contains(&plan(job)), "{job}: {} instead of {expected}", plan(job));
    }
    assert!(!plans.contains_key("9") && !plans.contains_key("10") && !plans.contains_key("11"), "{plans:?}");
    let text = folder.run(&["when", "--state", "now"]).ok();
    assert!(!text.contains("at the next pass"), "{text}");
    for part in [
        "waits for a limit that 2 running jobs hold (QOSMaxJobsPerUserLimit)",
        "waits for job 4 to end (Dependency)",
        "Job 9 is left out: it depends on a job that has no start itself (Dependency).",
        "Job 11 is left out: it waits for a limit of its account or QOS that no running",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let text = folder.run(&["when", "--state", "now", "--job", "4"]).ok();
    assert!(text.contains("it waits for a limit that 2 running jobs hold (QOSMaxJobsPerUserLimit)"), "{text}");
    let error = folder.run(&["when", "--state", "now", "--job", "9"]).fails(2);
    assert!(error.contains("depends on a job that has no start itself"), "{error}");
}

/// By hand, with plans of limits: two of the four processors of a reservation are held until 600 s
/// from now; another begins in 3,000 s and lasts for 7,000. A job that is longer than that has no
/// answer, nor has one in a reservation that is not listed.
#[test]
fn jobs_in_reservations_are_answered() {
    let folder = Folder::new();
    state(&folder);
    folder.write("now/nodes.txt", nodes(&[("ALLOCATED", 4), ("MIXED+RESERVED", 2), ("IDLE", 0)]));
    folder.write(
        "now/reservations.txt",
        "ReservationName=course StartTime=1699999000 EndTime=1700020000 Nodes=n2 Flags=SPEC_NODES\n\
         ReservationName=later StartTime=1700003000 EndTime=1700010000 Nodes=n3 Flags=SPEC_NODES\n",
    );
    let row = |id: u32, reason: &str, limit: &str, of: &str| {
        format!("{id}|PENDING|({reason})|4|{limit}|1699998300|N/A|800|bob|main||{of}\n")
    };
    let queue = [
        "10|RUNNING|None|2|20:00|1699990000|1699999400|900|ann|main|n2|course\n".to_string(),
        "11|RUNNING|None|4|1:00:00|1699990000|1699998200|900|ann|main|n1|(null)\n".to_string(),
        row(22, "Resources", "10:00", "course"),
        row(23, "Reservation", "10:00", "later"),
        row(24, "Reservation", "3:00:00", "later"),
        row(25, "Reservation", "10:00", "gone"),
        row(26, "JobHeldUser", "10:00", "course"),
    ];
    folder.write("now/squeue.txt", queue.concat());
    let plans = plans_of(&folder);
    let names: Vec<&str> = plans.keys().map(String::as_str).collect();
    assert_eq!(names, ["22", "23"]);
    assert!(plans["22"].is_some_and(|plan| (600..=602).contains(&plan)), "{plans:?}");
    assert!(plans["23"].is_some_and(|plan| (3_000..=3_002).contains(&plan)), "{plans:?}");
    let text = folder.run(&["when", "--state", "now"]).ok();
    for part in [
        "waits for room in its reservation (course)",
        "Job 24 is left out: it asks for more processors or time than its reservation",
        "Job 25 is left out: it was submitted to a reservation of nodes that is not",
        "Job 26 is left out: it is held by its user",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let text = folder.run(&["when", "--state", "now", "--job", "23"]).ok();
    assert!(text.contains("it waits for room in its reservation (later)\n"), "{text}");
    let json = folder.run(&["when", "--state", "now", "--job", "23", "--format", "json", "--quiet"]).json();
    assert!(json["start"]["p05"].as_i64() >= Some(1_700_003_000), "{json}");
}

/// By hand: ann's running jobs have 6 processors, at her limit; her next asks for 4, so that both
/// have to end unless the first leaves as much. GPUs and memory likewise, in JSON as in the table.
#[test]
fn amounts_of_a_limit_are_counted() {
    let folder = Folder::new();
    state(&folder);
    folder.write("now/nodes.txt", nodes(&[("IDLE", 0), ("IDLE", 0), ("MIXED", 2), ("ALLOCATED", 4)]));
    let queue = |reason: &str| {
        format!(
            "1|RUNNING|None|2|1:00:00|1699990000|1699998200|500|ann|main|n3|(null)|bio|long||1|10G|gres/gpu:1\n\
             2|RUNNING|None|4|1:20:00|1699990000|1699998200|500|ann|main|n4|(null)|bio|long||1|4G|gres/gpu:3\n\
             4|PENDING|({reason})|4|10:00|1699990000|N/A|500|ann|main||(null)|bio|long||1|8G|gres/gpu:a100:1\n"
        )
    };
    for (reason, expected) in [
        // 6 held, 4 wanted: after the first 4 are, 2 too many; after the second 2.
        ("QOSMaxCpuPerUserLimit", 3_000),
        ("QOSMaxGRESPerUser", 1_800),
        // 14 GB held, 8 wanted: after the first 4 are held.
        ("QOSMaxMemoryPerUser", 1_800),
        ("QOSMaxJobsPerUserLimit", 1_800),
        ("AssocGrpCpuLimit", 3_000),
    ] {
        folder.write("now/squeue.txt", queue(reason));
        let plan = plans_of(&folder).get("4").copied().flatten();
        assert!(plan.is_some_and(|plan| (expected..=expected + 2).contains(&plan)), "{reason}: {plan:?} {expected}");
    }
    let json = r#"{"jobs":[
        {"job_id":1,"job_state":["RUNNING"],"cpus":2,"submit_time":1699990000,"start_time":1699998200,"time_limit":60,
         "priority":500,"user_name":"ann","partition":"main","account":"bio","qos":"long","nodes":"n3",
         "tres_req_str":"cpu=2,mem=10G,node=1,billing=2,gres/gpu=1"},
        {"job_id":2,"job_state":["RUNNING"],"cpus":4,"submit_time":1699990000,"start_time":1699998200,"time_limit":80,
         "priority":500,"user_name":"ann","partition":"main","account":"bio","qos":"long","nodes":"n4",
         "tres_req_str":"cpu=4,mem=4G,node=1,billing=4,gres/gpu=3"},
        {"job_id":4,"job_state":["PENDING"],"cpus":4,"submit_time":1699990000,"start_time":0,"time_limit":10,
         "priority":500,"user_name":"ann","partition":"main","account":"bio","qos":"long","nodes":"",
         "state_reason":"WHY","tres_req_str":"cpu=4,mem=8G,node=1,billing=4,gres/gpu=1"},
        {"job_id":5,"job_state":["PENDING"],"cpus":1,"submit_time":1699990000,"start_time":0,"time_limit":10,
         "priority":400,"user_name":"bob","partition":"main","account":"bio","qos":"long","nodes":"",
         "state_reason":"Dependency","dependency":"afterany:4(unfulfilled)"}]}"#;
    for (why, expected) in
        [("QOSMaxCpuPerUserLimit", 3_000), ("QOSMaxGRESPerUser", 1_800), ("QOSMaxMemoryPerUser", 1_800)]
    {
        folder.write("now/squeue.json", json.replace("WHY", why));
        let plans = plans_of(&folder);
        for (job, expected) in [("4", expected), ("5", expected + 600)] {
            let plan = plans.get(job).copied().flatten();
            assert!(plan.is_some_and(|plan| (expected..=expected + 3).contains(&plan)), "{why} {job}: {plan:?}");
        }
    }
}
