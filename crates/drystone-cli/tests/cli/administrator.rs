//! Questions of administrators on dumps that are computed by hand: use of what jobs hold, the queue
//! of squeue, the site that ships, tables that were misread.

use crate::common::Folder;
use serde_json::Value;

/// Three jobs that ended, with steps, and one that runs.
fn used_dump() -> String {
    let header = "JobIDRaw|JobID|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|ReqCPUS|AllocCPUS|NNodes|\
                  ReqMem|AllocTRES|NodeList|TotalCPU|NTasks|MaxRSS|TRESUsageInAve|TRESUsageInTot";
    let rows = [
        // Four processors for an hour, half of them used; of 8 GiB a step of two tasks holds 4.
        "1|1|ada|physics|p|1000000|1000000|1000000|1003600|3600|120|COMPLETED|4|4|1|8G|cpu=4,mem=8G,node=1|n1|02:00:00||||",
        "1.batch|1.batch||physics||1000000|1000000|1000000|1003600|3600||COMPLETED||4|1|||n1|00:00:10|1|1048576K|mem=1048576K|",
        "1.0|1.0||physics||1000000|1000000|1000000|1003600|3600||COMPLETED||4|1|||n1|01:59:50|2|2097152K|mem=2097152K|mem=4194304K",
        "2|2|bob|physics|p|1000100|1000100|1000100|1001900|1800|60|COMPLETED|2|2|1|2G|cpu=2,mem=2G,node=1|n1|30:00.500||||",
        "2.batch|2.batch||physics||1000100|1000100|1000100|1001900|1800||COMPLETED||2|1|||n1|30:00.500|1|512M||",
        // Without a limit of its own; a quarter of its processors and of its two GPUs.
        "3|3|ada|biology|p|1000200|1000200|1000200|1007400|7200|UNLIMITED|FAILED|8|8|1||cpu=8,gres/gpu=2,node=1|n1|04:00:00||||",
        "3.0|3.0||biology||1000200|1000200|1000200|1007400|7200||FAILED||8|1|||n1|04:00:00|1|||gres/gpuutil=50",
        "4|4|bob|biology|p|1000300|1000300|1000300|Unknown|9000|600|RUNNING|1|1|1||cpu=1,node=1|n1|00:00:00||||",
    ];
    format!("{header}\n{}\n", rows.join("\n"))
}

fn close(value: &Value, expected: f64) {
    let value = value.as_f64().expect("a number");
    assert!((value - expected).abs() < 1e-9 * expected.abs().max(1.0), "{value} is not {expected}");
}

#[test]
fn what_jobs_used_of_what_they_held_is_computed_by_hand() {
    let folder = Folder::with("jobs.psv", used_dump());
    folder.run(&["import", "jobs.psv", "--timezone", "UTC", "--out", "site", "--quiet"]).ok();
    let json = folder.run(&["waits", "site", "--efficiency", "--format", "json", "--quiet"]).json();
    let total = &json["all"];
    assert_eq!(total["jobs"], 3);
    // 4·1 + 2·½ + 8·2 processor-hours, of which 2 + 1,800.5 s + 4 were computed in.
    close(&total["processors"]["held"], 21.0);
    close(&total["processors"]["used"], 6.0 + 1_800.5 / 3_600.0);
    // 8 GiB for an hour and 2 for half an hour; 4 and a half of one were used.
    close(&total["memory"]["held"], 9.0);
    close(&total["memory"]["used"], 4.25);
    // 4 processors up to 2 hours and 2 up to one; the job without a limit is in neither.
    close(&total["limits"]["held"], 10.0);
    close(&total["limits"]["used"], 5.0);
    close(&total["gpus"]["held"], 4.0);
    close(&total["gpus"]["used"], 1.0);
    assert_eq!(json["missing"], Value::Array(Vec::new()));
    let names: Vec<&str> =
        json["groups"].as_array().expect("groups").iter().filter_map(|g| g["name"].as_str()).collect();
    // Of ada 14 processor-hours are idle, of bob less than one; of biology 12, of physics 2.5.
    assert_eq!(names, ["ada", "bob", "biology", "physics"]);
    insta::assert_snapshot!("efficiency", folder.run(&["waits", "site", "--efficiency", "--quiet"]).ok());
    let csv = folder.run(&["waits", "site", "--efficiency", "--by", "account", "--format", "csv", "--quiet"]).ok();
    assert!(
        csv.starts_with("site,by,group,jobs,processors_jobs,processors_held_h,processors_used_h,processors_share,"),
        "{csv}"
    );
    assert!(csv.contains("site,account,biology,1,1,16,4,0.25,"), "{csv}");
}

#[test]
fn what_is_not_recorded_is_said() {
    // As `sacct -X` prints it: no steps, and zeros.
    let dump = used_dump();
    let cut: String = dump.lines().filter(|line| !line.contains(".batch|") && !line.contains(".0|")).fold(
        String::new(),
        |text, line| {
            text + &line
                .replace("02:00:00", "00:00:00")
                .replace("30:00.500", "00:00:00")
                .replace("04:00:00", "00:00:00")
                + "\n"
        },
    );
    let folder = Folder::with("jobs.psv", cut);
    folder.run(&["import", "jobs.psv", "--timezone", "UTC", "--out", "site", "--quiet"]).ok();
    let text = folder.run(&["waits", "site", "--efficiency", "--quiet"]).ok();
    assert!(text.contains("TotalCPU is 0 for every job") && text.contains("leave out -X"), "{text}");
    assert!(text.contains("gres/gpuutil"), "{text}");
    assert!(text.contains("used 50% of 10 processor-hours up to their limits"), "{text}");
}

#[test]
fn the_queue_of_squeue_is_read() {
    let text = "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n\
                \x20     4711_[1-8%2]      main   my run      ada PD       0:00      2 (QOSMaxCpuPerUserLimit)\n\
                \x20             4700      main     wrap      bob  R    1:02:03      4 q[01-04]\n";
    let folder = Folder::with("squeue.txt", text);
    let overview = folder.run(&["waits", "--now", "squeue.txt"]).ok();
    assert!(overview.starts_with("8 jobs wait in squeue.txt; 1 run or end"), "{overview}");
    assert!(overview.contains("QOSMaxCpuPerUserLimit 8") && overview.contains("Since when jobs wait"), "{overview}");
    folder.write("bad.txt", "7 main ada PD\n");
    assert!(folder.run(&["waits", "--now", "bad.txt"]).fails(2).contains("bad.txt:1: expected the line of names"));
}

#[test]
fn the_site_that_ships_shows_everything() {
    let folder = Folder::new();
    folder.run(&["import", "--example", "dump"]).ok();
    // Again it changes nothing; beside another file of the name it stops.
    folder.run(&["import", "--example", "dump"]).ok();
    std::fs::create_dir(folder.path("other")).expect("a folder");
    folder.write("other/jobs.psv", "mine");
    assert!(folder.run(&["import", "--example", "other"]).fails(2).contains("is another file already"));
    folder.run(&["import", "dump", "--timezone", "UTC", "--out", "site", "--quiet"]).ok();
    let waits = folder.run(&["waits", "site", "--format", "json", "--quiet"]).json();
    let cause = |kind: &str| {
        waits["causes"]
            .as_array()
            .expect("causes")
            .iter()
            .find(|cause| cause["kind"] == kind)
            .is_some_and(|c| c["jobs"].as_u64() > Some(0))
    };
    for kind in ["qos-limit", "no-room", "nodes-out"] {
        assert!(cause(kind), "{kind}: {}", waits["causes"]);
    }
    let usage = folder.run(&["waits", "site", "--efficiency", "--format", "json", "--quiet"]).json();
    for kind in ["processors", "memory", "limits", "gpus"] {
        let share = usage["all"][kind]["share"].as_f64().expect("a share");
        assert!((0.05..0.99).contains(&share), "{kind}: {share}");
    }
    let now = folder.run(&["waits", "site", "--now", "--format", "json", "--quiet"]).json();
    assert!(now["jobs"].as_array().is_some_and(|jobs| !jobs.is_empty()), "no job waits at the end");
}

#[test]
fn a_window_may_begin_some_days_before_the_end_of_the_records() {
    let folder = Folder::new();
    folder.run(&["import", "--example", "dump", "--quiet"]).ok();
    let args =
        ["import", "dump", "--timezone", "UTC", "--out", "site", "--from", "now-7days", "--format", "json", "--quiet"];
    let window = folder.run(&args).json()["window"].clone();
    let (from, until) = (window["from"].as_i64().expect("from"), window["until"].as_i64().expect("until"));
    assert_eq!(until - from, 7 * 86_400, "{window}");
}

/// Six jobs of a user come at once on twelve nodes of 8 processors. Its limit of 8 lets one run at
/// a time for two hours, and no reason is recorded: the machine is not out, and the replay with the
/// limit is right.
#[test]
fn a_limit_explains_an_idle_machine() {
    let mut jobs = String::from(
        "JobIDRaw|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|Reason|ReqCPUS|AllocCPUS|NNodes|NodeList\n",
    );
    let begin = 1_767_225_600_i64;
    for number in 0..6 {
        let start = begin + 7_200 * number;
        let end = start + 7_200;
        jobs += &format!(
            "{}|ada|phys|p|normal|{begin}|{begin}|{start}|{end}|7200|120|COMPLETED|None|8|8|1|n1\n",
            number + 1
        );
    }
    let folder = Folder::with("jobs.psv", &jobs);
    folder.write("qos.txt", "Name|MaxTRESPU\nnormal|cpu=8\n");
    folder.write(
        "slurm.conf",
        "ClusterName=tiny\nSlurmctldHost=h\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
         AccountingStorageEnforce=limits,qos\nNodeName=n[1-12] CPUs=8 Sockets=1 CoresPerSocket=8 ThreadsPerCore=1\n\
         PartitionName=p Nodes=ALL Default=YES MaxTime=1440\n",
    );
    let args = [
        "import",
        "jobs.psv",
        "--machine",
        "slurm.conf",
        "--accounts",
        "qos.txt",
        "--timezone",
        "UTC",
        "--out",
        "site",
    ];
    folder.run(&args).ok();
    // As one line, wherever a terminal would wrap it.
    let judge = |site: &str| {
        let text = folder.run(&["fidelity", site, "--policy", "slurm"]).ok();
        text.split_whitespace().collect::<Vec<&str>>().join(" ")
    };
    let faithful = judge("site");
    assert!(!faithful.contains("an outage that is not recorded"), "{faithful}");
    assert!(!faithful.contains("is not a model of this site"), "{faithful}");
    // Without the limit something else has to explain it.
    let args = ["import", "jobs.psv", "--machine", "slurm.conf", "--timezone", "UTC", "--out", "unlimited"];
    folder.run(&args).ok();
    let doubtful = judge("unlimited");
    assert!(doubtful.contains("an outage that is not recorded"), "{doubtful}");
}

#[test]
fn short_tables_of_qos_and_xdmods_columns_are_known() {
    let jobs = "JobID|User|Submit|Start|End|State|AllocCPUS|QOS|Partition|TimelimitRaw\n\
                1|a|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|COMPLETED|4|normal|p|60\n";
    for names in [
        "Name|MaxTRESPU|MaxWall",
        "Name|Priority|MaxTRESPU",
        "Name|GrpTRES",
        "Name|Flags|MaxTRESPU",
        "Name|MaxJobsPU|MaxWall",
    ] {
        let folder = Folder::new();
        std::fs::create_dir(folder.path("dump")).expect("a folder");
        folder.write("dump/jobs.psv", jobs);
        let value = |name: &str| match name {
            "Name" => "normal",
            "MaxTRESPU" | "GrpTRES" => "cpu=8",
            "MaxWall" => "1-00:00:00",
            "Priority" | "MaxJobsPU" => "3",
            _ => "DenyOnLimit",
        };
        let values: Vec<&str> = names.split('|').map(value).collect();
        folder.write("dump/qos.txt", format!("{names}\n{}\n", values.join("|")));
        let ran = folder.run(&["import", "dump", "--timezone", "UTC", "--out", "site"]);
        assert!(!ran.err.contains("not read"), "{names}: {}", ran.err);
        folder
            .run(&["import", "dump/jobs.psv", "--accounts", "dump/qos.txt", "--timezone", "UTC", "--out", "site"])
            .ok();
    }
    let line = "7|7|c|p|q|a|g|5|u|6|2026-01-31T12:00:00|2026-01-31T12:00:00|2026-01-31T12:00:00|2026-01-31T13:00:00|01:00:00|0:0|COMPLETED|1|4|4|\
                4Gn|cpu=4|cpu=4|1-00:00:00|n1|a|b\n";
    let folder = Folder::with("xdmod.log", line);
    let error = folder.run(&["import", "xdmod.log", "--timezone", "UTC", "--out", "site"]).fails(2);
    assert!(error.contains("a dump of Open XDMoD") && error.contains("--columns 'xdmod'"), "{error}");
    folder.run(&["import", "xdmod.log", "--columns", "xdmod", "--timezone", "UTC", "--out", "site"]).ok();
}

/// Jobs of half of a machine for half an hour, every two hours, that start so many seconds after
/// their submission.
fn quiet_dump(wait: impl Fn(i64) -> i64) -> String {
    let mut text =
        "JobIDRaw|User|Partition|Submit|Eligible|Start|End|TimelimitRaw|State|AllocCPUS|NodeList\n".to_string();
    for at in 0..200_i64 {
        let submit = 1_772_409_600 + at * 7_200;
        let start = submit + wait(submit);
        text.push_str(&format!(
            "{}|u{}|p|{submit}|{submit}|{start}|{}|60|COMPLETED|4|n1\n",
            at + 1,
            at % 3,
            start + 1_800
        ));
    }
    text
}

fn told_of(dump: String) -> String {
    let folder = Folder::with("jobs.psv", dump);
    folder.write("slurm.conf", "ClusterName=c\nNodeName=n1 CPUs=8\nPartitionName=p Nodes=ALL MaxTime=1-0 State=UP\n");
    folder
        .run(&["import", "jobs.psv", "--machine", "slurm.conf", "--timezone", "UTC", "--out", "site", "--quiet"])
        .ok();
    folder.run(&["fidelity", "site", "--policy", "easy", "--seeds", "0", "--warm-up", "0", "--quiet"]).ok()
}

#[test]
fn faults_of_the_records_are_named() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = words(&told_of(quiet_dump(|_| 3_600)));
    assert!(text.contains("every job 60.0 min early in the replay (100% within a minute of that)"), "{text}");
    // From 2026-03-04 00:00 to 06:00 nothing starts, and three jobs come.
    let (from, until) = (1_772_582_400, 1_772_604_000);
    let out = words(&told_of(quiet_dump(|submit| if (from..until).contains(&submit) { until - submit } else { 0 })));
    assert!(out.contains("from 2026-03-04 00:00 to 2026-03-04 06:00 nothing starts"), "{out}");
    let sound = words(&told_of(quiet_dump(|_| 0)));
    assert!(!sound.contains("Caution") || !sound.contains("nothing starts") && !sound.contains("early"), "{sound}");
}

#[test]
fn a_perfect_replay_of_easy_needs_no_caution() {
    let folder = Folder::new();
    let made =
        ["workload", "generate", "--procs", "64", "--jobs", "800", "--load", "0.9", "--quiet", "--out", "made.swf"];
    folder.run(&made).ok();
    folder.run(&["run", "made.swf", "--policy", "easy", "--jobs", "easy.swf", "--quiet"]).ok();
    folder.run(&["import", "easy.swf", "--timezone", "UTC", "--out", "site", "--quiet"]).ok();
    let json = folder
        .run(&["fidelity", "site", "--policy", "easy", "--seeds", "0", "--warm-up", "0", "--format", "json", "--quiet"])
        .json();
    let pool = &json["pools"][0];
    assert_eq!(pool["errors"]["within_minute"], 1.0, "{}", pool["errors"]);
    let [recorded, replayed] =
        ["idle_while_queued", "idle_in_replay"].map(|key| pool["as_happened"][key].as_f64().expect(key));
    assert!(recorded > 1.0 && (recorded - replayed).abs() < 1e-9, "{recorded} and {replayed}");
    let text = folder.run(&["fidelity", "site", "--policy", "easy", "--seeds", "0", "--warm-up", "0", "--quiet"]).ok();
    assert!(!text.contains("idle processors"), "{text}");
}

/// Three jobs of an account that may have four processors at once, on two machines of four: they
/// run one after the other. A fourth job has a partition of its own.
const LIMITED: &str = "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|Timelimit|State|Reason|NNodes|ReqCPUS|AllocCPUS|NodeList\n\
    1|ada|red|main|normal|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T09:00:00|01:00:00|COMPLETED|None|1|4|4|n1\n\
    2|bela|red|main|normal|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T09:00:00|2026-03-02T10:00:00|01:00:00|COMPLETED|AssocGrpCpuLimit|1|4|4|n1\n\
    3|chen|red|main|normal|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T10:00:00|2026-03-02T11:00:00|01:00:00|COMPLETED|AssocGrpCpuLimit|1|4|4|n1\n\
    4|dora|blue|side|normal|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T08:10:00|01:00:00|COMPLETED|None|1|1|1|s1\n";
const LIMITED_CONF: &str = "ClusterName=tarn\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n\
    AccountingStorageEnforce=associations,limits,qos\nNodeName=n[1-2] CPUs=4\nNodeName=s1 CPUs=4\n\
    PartitionName=main Nodes=n[1-2] Default=YES MaxTime=1-0\nPartitionName=side Nodes=s1 MaxTime=1-0\n";
const LIMITED_ACCOUNTS: &str = "Account|User|ParentName|Share|GrpTRES|GrpJobs|Def QOS\nroot|||1|||normal\n\
    red||root|1|cpu=4|2|normal\nred|ada||1|||normal\nred|bela||1|||normal\nred|chen||1|||normal\n\
    blue||root|1|||normal\nblue|dora||1|||normal\n";

/// The site of [`LIMITED`], imported.
fn limited_site() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("dump")).expect("a folder");
    folder.write("dump/jobs.psv", LIMITED);
    folder.write("dump/slurm.conf", LIMITED_CONF);
    folder.write("dump/assoc.txt", LIMITED_ACCOUNTS);
    folder.write("dump/qos.txt", "Name|Priority\nnormal|0\n");
    folder.run(&["import", "dump", "--timezone", "UTC", "--out", "site", "--quiet"]).ok();
    folder
}

/// The waits are 0, 1 and 2 h; with eight processors two jobs start at once, and the third after an
/// hour. The other limit of the account, two jobs, stays.
#[test]
fn a_limit_of_an_account_is_named_and_raised() {
    let folder = limited_site();
    let waits = folder.run(&["waits", "site", "--quiet"]).ok();
    assert!(waits.contains("100% limit GrpTRES=cpu=4 of account red"), "{waits}");
    assert!(waits.contains("drystone whatif site --account-limit 'red: GrpTRES=cpu=8'"), "{waits}");
    let mean = |limit: &str| {
        let args = ["whatif", "site", "--account-limit", limit, "--remove", "user:dora", "--format", "json", "--quiet"];
        let json = folder.run(&args).json();
        let after = &json["alternatives"][0];
        after["after"]["wait_mean"].as_f64().unwrap_or_else(|| panic!("{after:#}"))
    };
    let near = |mean: f64, hours: f64| (mean / 3_600.0 - hours).abs() < 0.05;
    assert!(near(mean("red: GrpTRES=cpu=4"), 1.0));
    assert!(near(mean("red: GrpTRES=cpu=8"), 1.0 / 3.0));
    assert!(near(mean("red: GrpTRES=cpu=16"), 1.0 / 3.0), "two jobs at once are all that GrpJobs allows");
    assert!(near(mean("red: GrpTRES=cpu=-1 GrpJobs=-1"), 1.0 / 3.0), "there is room for two");
    // Less than a job asks for: none can run.
    let args = ["whatif", "site", "--account-limit", "red: GrpTRES=cpu=2", "--format", "json", "--quiet"];
    assert_eq!(folder.run(&args).json()["alternatives"][0]["refused"], 3);
    let wrong = folder.run(&["whatif", "site", "--account-limit", "rde: GrpJobs=2"]).fails(2);
    assert!(wrong.contains("no account is called `rde`"), "{wrong}");
}

/// A job is found in its pool, whichever has it.
#[test]
fn a_job_of_a_small_pool_is_explained() {
    let folder = limited_site();
    for (job, user) in [("2", "GrpTRES=cpu=4 of account red"), ("4", "starts")] {
        let text = folder.run(&["explain", "site", "--job", job, "--quiet"]).ok();
        assert!(text.contains(user), "{text}");
    }
    let error = folder.run(&["explain", "site", "--job", "99", "--quiet"]).fails(2);
    assert!(error.contains("99"), "{error}");
}

/// Ada may run one job at a time, whatever the account may: the limit is hers.
#[test]
fn a_limit_of_a_user_is_not_called_the_accounts() {
    let folder = Folder::new();
    let jobs = ["ada"; 3].iter().zip(8..).map(|(user, start)| {
        let reason = if start == 8 { "None" } else { "AssocMaxJobsLimit" };
        let times = format!(
            "2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T{start:02}:00:00|2026-03-02T{:02}:00:00",
            start + 1
        );
        format!("{start}|{user}|red|main|normal|{times}|01:00:00|COMPLETED|{reason}|1|4|4|n1\n")
    });
    let header = LIMITED.lines().next().expect("a header");
    folder.write("jobs.psv", format!("{header}\n{}", jobs.collect::<String>()));
    folder.write("slurm.conf", LIMITED_CONF);
    for (field, reason) in [("MaxJobs", "AssocMaxJobsLimit"), ("GrpTRES", "AssocGrpCpuLimit")] {
        let value = if field == "MaxJobs" { "1" } else { "cpu=4" };
        folder.write(
            "assoc.txt",
            format!(
                "Account|User|ParentName|Share|{field}|Def QOS\nroot|||1||normal\nred||root|1||normal\nred|ada||1|{value}|normal\n"
            ),
        );
        folder.write(
            "own.psv",
            std::fs::read_to_string(folder.path("jobs.psv")).expect("read").replace("AssocMaxJobsLimit", reason),
        );
        let accounts = ["--accounts", "assoc.txt", "--machine", "slurm.conf"];
        let import = [&["import", "own.psv", "--timezone", "UTC", "--out", field, "--quiet"][..], &accounts];
        folder.run(&import.concat()).ok();
        let waits = folder.run(&["waits", field, "--quiet"]).ok();
        let waits = waits.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(waits.contains(&format!("100% limit {field}={value} of user ada in account red")), "{waits}");
        assert!(!waits.contains("--account-limit"), "{waits}");
        let compared = folder.run(&["compare", field, "--policy", "easy", "--policy", "fcfs", "--quiet"]).ok();
        let words = compared.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("a limit of the user ada in the account red"), "{compared}");
    }
}

/// Node n1 is of the partition p, and n2, twice as large, of q. Job 2 waits for job 1 on n2 when q
/// drains at five, and no other node has its eight processors; job 4 comes later.
#[test]
fn jobs_that_a_drain_leaves_no_node_never_run() {
    let row = |id: u32, part: &str, cpus: u32, [submit, start, end]: [&str; 3]| {
        let at = |time: &str| format!("2026-01-0{time}:00:00");
        format!(
            "{id}|u|a|{part}|normal|{0}|{0}|{1}|{2}|10:00:00|COMPLETED|None|1|{cpus}|{cpus}|{3}\n",
            at(submit),
            at(start),
            at(end),
            if part == "p" { "n1" } else { "n2" }
        )
    };
    let rows = [
        row(1, "q", 8, ["1T00", "1T00", "1T10"]),
        row(2, "q", 8, ["1T01", "1T10", "1T11"]),
        row(3, "p", 4, ["1T02", "1T02", "1T03"]),
        row(4, "q", 4, ["1T12", "1T12", "1T13"]),
        row(5, "p", 4, ["1T20", "1T20", "1T21"]),
    ];
    let header = LIMITED.lines().next().expect("a header");
    let folder = Folder::with("jobs.psv", format!("{header}\n{}", rows.concat()));
    folder.write(
        "slurm.conf",
        "ClusterName=c\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nNodeName=n1 CPUs=4\nNodeName=n2 CPUs=8\n\
         PartitionName=p Nodes=n1 Default=YES MaxTime=1-0\nPartitionName=q Nodes=n2 MaxTime=1-0\n\
         PartitionName=all Nodes=n[1-2] MaxTime=1-0\n",
    );
    folder
        .run(&["import", "jobs.psv", "--machine", "slurm.conf", "--timezone", "UTC", "--out", "site", "--quiet"])
        .ok();
    for policy in [&[][..], &["--policy", "easy"]] {
        for place in ["q", "n[2]"] {
            let change = format!("drain {place} from 2026-01-01T05:00");
            let args = [&["whatif", "site", "--change", &change, "--format", "json", "--quiet"][..], policy].concat();
            let json = folder.run(&args).json();
            let drained = &json["alternatives"][0];
            assert_eq!(drained["refused"], 2, "{policy:?} {place}: {drained:#}");
            let notes = drained["notes"].to_string();
            assert!(notes.contains(&format!("1 node of {place} drains")), "{policy:?}: {notes}");
            assert!(notes.contains("(numbers 2") && notes.contains(" 4)"), "{policy:?} {place}: {notes}");
            // Those that are left wait for Slurm's next pass at most.
            assert!(drained["after"]["wait_mean"].as_f64().expect("a mean") < 60.0, "{drained:#}");
        }
    }
}
