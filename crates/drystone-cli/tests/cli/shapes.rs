//! Jobs of several sizes, and power, in the commands that know them.

use crate::common::{Folder, line};

/// Case 07 of the definitions: eight processors until 40, four until 90, eight until 125.
fn folder() -> Folder {
    let jobs = [line(1, 0, 100, 8, 100), line(2, 40, 50, 4, 50)];
    let folder = Folder::with("log.swf", format!("; MaxProcs: 8\n{}", jobs.concat()));
    folder.write("shapes.csv", "job,kind,min,max,watts\n1,malleable,2,8,100\n");
    folder.write("caps.csv", "time,cap\n0,2000\n");
    folder.write("series.csv", "time,carbon,price\n0,360,3600\n");
    folder
}

const SHAPES: [&str; 3] = ["log.swf", "--shapes", "shapes.csv"];

#[test]
fn compare_knows_sizes_and_power() {
    let folder = folder();
    let more = ["--policy", "easy", "--policy", "easy(resize=both)", "--idle", "10", "--series", "series.csv"];
    let json = folder.run(&[&["compare"], &SHAPES[..], &more, &["--format", "json", "--quiet"]].concat()).json();
    let sizes = |at: usize| &json["results"][at]["report"]["sizes"];
    assert_eq!((sizes(0)["shrinks"].as_u64(), sizes(1)["shrinks"].as_u64()), (Some(0), Some(1)));
    // 80,000 J of job 1 and 125 s of 80 W.
    assert_eq!(sizes(1)["power"]["energy"].as_u64(), Some(90_000));
    assert_eq!(sizes(1)["kinds"][1]["kind"], "malleable");
    // A cluster runs the one and not the other.
    let availability = |at: usize| json["summary"]["does"][at]["how"].to_string();
    assert!(availability(0).contains("which starts the jobs of a Slurm cluster"), "{}", availability(0));
    assert!(availability(1).contains("chooses no sizes of jobs"), "{}", availability(1));
    let text = folder.run(&[&["compare"], &SHAPES[..], &more, &["--quiet"]].concat()).ok();
    assert!(text.contains("Sizes of jobs") && text.contains("Power"), "{text}");
    let csv = folder.run(&[&["compare"], &SHAPES[..], &more, &["--format", "csv", "--quiet"]].concat()).ok();
    let heads: Vec<&str> = csv.lines().next().expect("a head").split(',').collect();
    assert!(
        ["slowdown_ref", "useful", "grows", "rigid_wait", "energy", "carbon"].iter().all(|head| heads.contains(head))
    );
    // Without sizes there are no such columns.
    let csv = folder.run(&["compare", "log.swf", "--policy", "easy", "--format", "csv", "--quiet"]).ok();
    assert!(!csv.contains("slowdown_ref") && !csv.contains("rigid_wait"));
    // Unasked it tries what makes use of sizes, and leaves out what does not count power.
    let output = folder.run(&[&["compare"], &SHAPES[..], &["--power", "caps.csv"]].concat());
    assert!(
        output.out.contains("easy-keep") && output.err.contains("do not count power"),
        "{}\n{}",
        output.out,
        output.err
    );
    let error = folder.run(&[&["compare"], &SHAPES[..], &["--headroom"]].concat()).fails(2);
    assert!(error.contains("--headroom does not go with --shapes"), "{error}");
}

/// 500 W, and a job that draws 800 W at its preferred size and 400 W at four processors. Policies
/// that start jobs at that size only leave it waiting for ever: unasked they are left out, each
/// with a note. Asked for, or as baseline, such a policy is an error.
#[test]
fn compare_leaves_out_policies_under_which_a_job_waits_for_power_for_ever() {
    let folder = folder();
    folder.write("shapes.csv", "job,kind,min,max,watts\n1,moldable,2,8,100\n");
    folder.write("caps.csv", "time,cap\n0,500\n");
    let compare = |more: &[&str]| folder.run(&[&["compare"], &SHAPES[..], &["--power", "caps.csv"], more].concat());
    let output = compare(&["--baseline", "easy-keep"]);
    let left_out = |policy: &str| {
        let start = "left out, since under it a job would wait for ever for power (job 1 for 800 W of 500 W)";
        output.err.lines().any(|line| line.ends_with(&format!("{start}: {policy}")))
    };
    for policy in ["easy", "fcfs", "conservative", "easy++"] {
        assert!(left_out(policy), "{policy}: {}", output.err);
    }
    let rows = |policy: &str| output.out.lines().filter(|line| line.starts_with(policy)).count();
    assert!(!left_out("easy-keep") && rows("easy-keep (baseline)") == 1, "{}", output.out);
    assert_eq!((rows("fcfs"), rows("conservative")), (0, 0), "{}", output.out);
    for more in [&["--policy", "easy-keep", "--policy", "fcfs"][..], &[]] {
        let refused = compare(more).fails(2);
        assert!(refused.contains("job 1, submitted at 0 s, draws 800 W and waits for ever"), "{refused}");
    }
}

#[test]
fn a_page_shows_power_over_time() {
    let folder = folder();
    let options =
        ["--policy", "easy", "--power", "caps.csv", "--series", "series.csv", "--report", "page.html", "--quiet"];
    folder.run(&[&["run"], &SHAPES[..], &options].concat()).ok();
    let page = folder.read("page.html");
    assert!(page.contains("\"power\"") && page.contains("Power drawn over time"));
    folder.run(&[&["run"], &SHAPES[..], &options[..6], &["--plots", "plots", "--quiet"]].concat()).ok();
    let names = folder.names_in("plots");
    assert!(["power.svg", "intensity.svg"].iter().all(|name| names.contains(&(*name).to_string())), "{names:?}");
}

#[test]
fn explain_and_gantt_tell_sizes() {
    let folder = folder();
    let options = ["--policy", "easy(resize=both)"];
    let story = folder.run(&[&["explain"], &SHAPES[..], &options, &["--job", "1"]].concat()).ok();
    assert!(story.contains("shrinks from 8 to 4 processors") && story.contains("grows from 4 to 8"), "{story}");
    let error = folder.run(&[&["explain"], &SHAPES[..], &options, &["--job", "1", "--why-not"]].concat()).fails(2);
    assert!(error.contains("--why-not does not go with --shapes"), "{error}");
    folder.run(&[&["gantt"], &SHAPES[..], &options, &["--out", "chart.json", "--quiet"]].concat()).ok();
    let chart: serde_json::Value = serde_json::from_str(&folder.read("chart.json")).expect("JSON");
    let bars: Vec<i64> = chart["bars"].as_array().expect("bars").iter().filter_map(serde_json::Value::as_i64).collect();
    // Start, end and processors of each rectangle, by start.
    let mut rows: Vec<[i64; 3]> = bars.chunks(5).map(|bar| [bar[1], bar[2], bar[4] - bar[3]]).collect();
    rows.sort_unstable();
    assert_eq!(rows, [[0, 40, 8], [40, 90, 4], [40, 90, 4], [90, 125, 8]]);
}

/// 600 W have to go at 20: 560 of job 1 at half speed, 40 of job 2 at 0.9. At 110 job 2 is over,
/// and job 1 runs at its full pace until 145.
#[test]
fn schedules_and_stories_tell_paces() {
    let jobs = [line(1, 0, 100, 4, 100), line(2, 0, 100, 4, 100)];
    let folder = Folder::with("log.swf", format!("; MaxProcs: 8\n{}", jobs.concat()));
    folder.write("shapes.csv", "job,paces\n1,1:200 0.8:150 0.5:60\n2,1:200 0.9:190 0.8:170\n");
    folder.write("caps.csv", "time,cap,announced\n0,1600,0\n20,1000,20\n");
    let options = ["--power", "caps.csv", "--policy", "easy(drop=pace)"];
    let report = folder.run(&[&["run"], &SHAPES[..], &options, &["--jobs", "jobs.csv"]].concat()).ok();
    // 180 of 255 s.
    assert!(report.contains("running time below the full pace") && report.contains("70.6 %"), "{report}");
    let schedule = folder.read("jobs.csv");
    let rows: Vec<&str> = schedule.lines().collect();
    assert!(rows[0].ends_with(",energy,pace_first,pace_last,slowed"), "{}", rows[0]);
    // 800 W for 20 s, 240 W for 90 s, 800 W for 35 s; 800 W for 20 s, 760 W for 90 s.
    assert!(rows[1].ends_with(",65600,1,1,90") && rows[2].ends_with(",84400,1,0.9,90"), "{schedule}");
    let story = folder.run(&[&["explain"], &SHAPES[..], &options, &["--job", "1"]].concat()).ok();
    let sentences =
        ["at 0.5 of its full pace, with 60 W per processor", "at its full pace again, with 200 W per processor"];
    assert!(sentences.iter().all(|part| story.contains(part)), "{story}");
    // A job slows down only where its table permits it.
    folder.write("shapes.csv", "job,watts\n1,200\n2,200\n");
    folder.run(&[&["run"], &SHAPES[..], &options, &["--jobs", "jobs.csv", "--quiet"]].concat()).ok();
    let schedule = folder.read("jobs.csv");
    assert!(schedule.lines().next().is_some_and(|head| head.ends_with(",energy")), "{schedule}");
    folder.write("shapes.csv", "job,paces\n1,1:200 0.8:200\n");
    let error = folder.run(&[&["run"], &SHAPES[..], &options].concat()).fails(2);
    assert!(error.contains("line 2") && error.contains("leave it out"), "{error}");
}

#[test]
fn a_study_draws_shares_for_every_seed() {
    let folder = Folder::new();
    let args =
        ["workload", "generate", "--jobs", "300", "--procs", "64", "--load", "0.9", "--quiet", "--out", "log.swf"];
    folder.run(&args).ok();
    let study = "metrics = [\"response_mean\", \"grows\", \"rigid_response\", \"carbon\"]\nseeds = [1, 2]\n[[workload]]\n\
                 file = \"log.swf\"\nreshape = { share = [0, 50], watts = 100 }\nseries = \"series.csv\"\n[[policy]]\n\
                 policy = \"easy\"\n[[policy]]\npolicy = \"easy-keep\"\n";
    folder.write("study.toml", study);
    folder.write("series.csv", "time,carbon\n0,100\n");
    // At a share of 0 both seeds draw the same: six simulations, not eight.
    let output = folder.run(&["sweep", "study.toml", "--dry-run"]);
    assert!(output.err.contains('6') || output.out.contains('6'), "{}{}", output.out, output.err);
    folder.run(&["sweep", "study.toml", "--quiet"]).ok();
    let sql = "SELECT change, seed, policy, grows, rigid_response, carbon FROM result ORDER BY change, seed, policy";
    let rows = folder.run(&["sweep", "query", "study.db", sql, "--format", "csv"]).ok();
    assert_eq!(rows.lines().count(), 9, "{rows}");
    assert!(rows.contains("malleable 0%") && rows.contains("malleable 50%"), "{rows}");
    // The sweep measures what `run` measures of the same draw.
    let reshape =
        ["workload", "reshape", "log.swf", "--share", "50", "--watts", "100", "--seed", "2", "--out", "s.csv"];
    folder.run(&reshape).ok();
    let run =
        ["run", "log.swf", "--policy", "easy-keep", "--shapes", "s.csv", "--series", "series.csv", "--format", "json"];
    let json = folder.run(&run).json();
    let sizes = &json["report"]["sizes"];
    let expected = [sizes["grows"].to_string(), sizes["kinds"][0]["response"].to_string()];
    let row = rows.lines().find(|row| row.starts_with("malleable 50% watts 100-100,2,easy-keep,")).expect("a row");
    let cells: Vec<&str> = row.split(',').collect();
    let number = |text: &str| text.parse::<f64>().expect("a number");
    assert_eq!(number(cells[3]), number(&expected[0]));
    assert!((number(cells[4]) - number(&expected[1])).abs() < 1e-6 * number(&expected[1]), "{row} {expected:?}");
    let carbon = sizes["power"]["carbon"].as_f64().expect("carbon");
    assert!((number(cells[5]) - carbon).abs() < 1e-6 * carbon, "{row} {carbon}");
    let table = folder.run(&["sweep", "table", "study.db", "--by", "change", "--metric", "response_mean"]).ok();
    assert!(table.contains("malleable 0%") && table.contains("malleable 50%"), "{table}");
}

#[test]
fn what_is_wrong_has_a_place_and_a_remedy() {
    let folder = folder();
    let fails = |option: &str, text: &str, more: &[&str]| {
        folder.write("wrong.csv", text);
        let run_args = [&["compare", "log.swf", "--policy", "easy", option, "wrong.csv"], more].concat();
        folder.run(&run_args).fails(2)
    };
    for (option, text, more, parts) in [
        ("--shapes", "job,kind,min\n1,moldable,9\n", &[][..], &["wrong.csv, line 2", "job 1"][..]),
        (
            "--shapes",
            "job,kind,min,max,pref\n1,moldable,9,16,9\n",
            &[],
            &["line 2", "wider than the machine of 8", "leave the job out"],
        ),
        (
            "--shapes",
            "job,kind,sizes,speedup\n1,moldable,4 8,table:4=10;8=20\n",
            &[],
            &["line 2", "falls", "leave the larger size out"],
        ),
        (
            "--power",
            "time,cap\n0,900\n60,100\n",
            &["--idle", "20"],
            &["wrong.csv, line 3", "100 W", "160 W", "raise the cap"],
        ),
        (
            "--power",
            "time,cap\n0,300\n",
            &["--shapes", "shapes.csv", "--idle", "20"],
            &["wrong.csv", "job 1", "raise a cap"],
        ),
        ("--series", "time,price\n10,3\n", &[], &["wrong.csv, line 2", "begins at 10", "add a line for 0"]),
    ] {
        let output = fails(option, text, more);
        for part in parts {
            assert!(output.contains(part), "{text}: `{part}` is not in {output}");
        }
    }
    let study = |workload: &str| {
        let text = format!("[[workload]]\nfile = \"log.swf\"\n{workload}\n[[policy]]\npolicy = \"easy\"\n");
        folder.write("study.toml", text);
        folder.run(&["sweep", "study.toml", "--dry-run"]).fails(2)
    };
    for (workload, part) in [
        ("reshape = { share = 101 }", "`share` is 0 to 100 percent"),
        ("reshape = { kind = \"rigid\" }", "`kind` is moldable or malleable"),
        ("reshape = { by = \"magic\" }", "`magic` is no rule"),
        ("reshape = { share = [20, 20] }", "has malleable 20% twice"),
        ("reshape = { hours = 3 }", "there is no `hours`"),
        ("shapes = \"none.csv\"", "none.csv"),
        ("shapes = \"shapes.csv\"\nreshape = { share = 20 }", "leave one of them out"),
        ("idle = 20\npower = \"caps100.csv\"", "the idle machine draws 160 W"),
    ] {
        folder.write("caps100.csv", "time,cap\n0,100\n");
        let output = study(workload);
        assert!(output.contains("study.toml:") && output.contains(part), "{workload}: {output}");
    }
}

/// Two jobs of ElastiSim on an application of 800 operations, beside it in a folder of its own.
fn elastisim() -> Folder {
    let folder = Folder::new();
    let model = r#"{"phases": [{"iterations": "rounds", "tasks": [
        {"type": "cpu", "flops": "800", "computation_pattern": "all_ranks"}, {"type": "pfs_write", "bytes": 1}]}]}"#;
    folder.write("model.json", model);
    let job = |kind: &str, nodes: &str| {
        format!(
            r#"{{"type": "{kind}", "submit_time": 0, {nodes}, "application_model": "data/input/model.json",
            "arguments": {{"rounds": 2}}}}"#
        )
    };
    let jobs = [job("malleable", r#""num_nodes_min": 1, "num_nodes_max": 4"#), job("rigid", r#""num_nodes": 2"#)];
    folder.write("jobs.json", format!(r#"{{"jobs": [{}]}}"#, jobs.join(",")));
    folder
}

#[test]
fn workloads_of_elastisim_become_a_log_and_a_table() {
    let folder = elastisim();
    let convert = ["workload", "convert", "jobs.json", "--flops", "10", "--shapes", "s.csv", "--out", "l.swf"];
    let output = folder.run(&convert);
    assert!(
        output.err.contains("1 of 2 jobs have several sizes") && output.err.contains("input and output"),
        "{}",
        output.err
    );
    // 2 · 800 / (10 · n): 160, 80, 54 and 40 s.
    assert!(folder.read("s.csv").contains("1,malleable,,,1 2 3 4,4,table:1=160;2=80;3=54;4=40,20"));
    let run = ["run", "l.swf", "--policy", "easy(shape=min)", "--shapes", "s.csv", "--segments", "g.csv", "--quiet"];
    folder.run(&run).ok();
    let rows = folder.read("g.csv");
    assert!(rows.contains("1,0,160,1") && rows.contains("2,0,80,2"), "{rows}");
    // As a log it says nothing, and the message says what to do.
    let problem = folder.run(&["run", "jobs.json", "--policy", "easy"]).fails(2);
    assert!(problem.contains("ElastiSim") && problem.contains("workload convert"), "{problem}");
    folder.write("jobs.json", folder.read("jobs.json").replace("model.json", "other.json"));
    let problem = folder.run(&convert).fails(2);
    assert!(
        problem.contains("jobs.json") && problem.contains("place 1") && problem.contains("other.json"),
        "{problem}"
    );
}

#[test]
fn ranges_of_nodes_become_moldable_jobs() {
    let folder = Folder::new();
    let head = "JobIDRaw|User|Partition|Submit|Eligible|Start|End|State|TimelimitRaw|AllocCPUS|NNodes|SubmitLine\n";
    let row = |id: u32, cpus: u32, nodes: u32, line: &str| {
        format!("{id}|u|p|1700000000|1700000000|1700000100|1700000200|COMPLETED|60|{cpus}|{nodes}|{line}\n")
    };
    let rows = [
        row(7, 8, 2, "sbatch -N 1-4 job.sh"),
        row(8, 4, 1, "sbatch -N 1 job.sh -N 2-3"),
        row(9, 12, 3, "srun --nodes=2-3 --exclusive ./a.out"),
    ];
    folder.write("jobs.psv", format!("{head}{}", rows.concat()));
    let import = ["import", "jobs.psv", "--timezone", "UTC", "--out"];
    folder.run(&[&import[..], &["plain", "--quiet"]].concat()).ok();
    let output = folder.run(&[&import[..], &["site", "--shapes", "s.csv"]].concat());
    assert!(output.err.contains("2 jobs asked for a range of nodes"), "{}", output.err);
    let table = folder.read("s.csv");
    let each = if table.contains("7,moldable,1 2 3 4,2,none") { 1 } else { 4 };
    // In nodes, or in the four processors of each.
    let sizes = |of: &[u32]| of.iter().map(|n| (n * each).to_string()).collect::<Vec<_>>().join(" ");
    let expected = format!(
        "job,kind,sizes,pref,declared\n7,moldable,{},{},none\n9,moldable,{},{},none\n",
        sizes(&[1, 2, 3, 4]),
        2 * each,
        sizes(&[2, 3]),
        3 * each
    );
    assert_eq!(table, expected);
    // The site itself is the same as without the table.
    for name in folder.names_in("plain") {
        let bytes = |site: &str| std::fs::read(folder.path(&format!("{site}/{name}"))).expect("a file");
        assert_eq!(bytes("plain"), bytes("site"), "{name}");
    }
}

#[test]
fn rules_of_the_machine_and_waiting_for_low_prices() {
    let folder = folder();
    let more = ["--policy", "easy(resize=both)", "--overrun", "kill", "--segments", "g.csv", "--quiet"];
    let walls = ["--resizing", "limit=wall"];
    folder.run(&[&["run"], &SHAPES[..], &more, &walls].concat()).ok();
    // The limit of 100 s stays.
    let rows = folder.read("g.csv");
    assert!(rows.contains("1,40,100,4"), "{rows}");
    // So it does for a job that runs already when the simulation begins.
    let row = |number, submit, run, procs| {
        format!("{number} {submit} 0 {run} {procs} -1 -1 {procs} {run} -1 1 1 1 1 1 1 -1 -1\n")
    };
    folder.write("log.swf", format!("; MaxProcs: 8\n{}{}", row(1, 0, 100, 8), row(2, 40, 50, 4)));
    folder.run(&[&["run"], &SHAPES[..], &more, &walls, &["--warm-start", "20s"]].concat()).ok();
    assert_eq!(folder.read("g.csv"), rows);
    let problem = folder.run(&[&["run"], &SHAPES[..], &more, &["--resizing", "release=later"]].concat()).fails(2);
    assert!(problem.contains("limit=wall"), "{problem}");
    let problem = folder.run(&["run", "log.swf", "--policy", "easy(hold=price)"]).fails(2);
    assert!(problem.contains("--series"), "{problem}");
    folder.write("cheap.csv", "time,price\n0,9\n60,1\n");
    let hold =
        ["run", "log.swf", "--policy", "easy(hold=price,most=1h)", "--series", "cheap.csv", "--segments", "h.csv"];
    folder.run(&[&hold[..], &["--quiet"]].concat()).ok();
    assert!(folder.read("h.csv").contains("1,60,160,8"), "{}", folder.read("h.csv"));
}

/// Job 1 draws 400 W, job 2 200 W; from 30 to 90 there are 450 W.
#[test]
fn jobs_are_suspended_where_power_falls() {
    let jobs = [line(1, 0, 100, 4, 100), line(2, 10, 100, 4, 100), line(3, 40, 20, 2, 20)];
    let folder = Folder::with("log.swf", format!("; MaxProcs: 8\n{}", jobs.concat()));
    folder.write("shapes.csv", "job,watts\n1,100\n2,50\n");
    folder.write("caps.csv", "time,cap,announced\n0,600,0\n30,450,30\n90,600,90\n");
    let more = ["--power", "caps.csv", "--policy", "easy(drop=suspend)"];
    folder.run(&[&["run"], &SHAPES[..], &more, &["--segments", "segments.csv", "--quiet"]].concat()).ok();
    let segments = folder.read("segments.csv");
    assert_eq!(
        segments.lines().skip(1).collect::<Vec<_>>(),
        ["1,0,100,4,,ended", "2,10,30,4,,suspended", "2,90,170,4,,ended", "3,40,60,2,,ended"]
    );
    let story = folder.run(&[&["explain"], &SHAPES[..], &more, &["--job", "2"]].concat()).ok();
    assert!(story.contains("30  is suspended") && story.contains("90  resumes"), "{story}");
    folder.run(&[&["gantt"], &SHAPES[..], &more, &["--out", "chart.json", "--quiet"]].concat()).ok();
    let chart: serde_json::Value = serde_json::from_str(&folder.read("chart.json")).expect("JSON");
    let bars: Vec<i64> = chart["bars"].as_array().expect("bars").iter().filter_map(serde_json::Value::as_i64).collect();
    let mut rows: Vec<[i64; 3]> = bars.chunks(5).map(|bar| [bar[1], bar[2], bar[4] - bar[3]]).collect();
    rows.sort_unstable();
    assert_eq!(rows, [[0, 100, 4], [10, 30, 4], [40, 60, 2], [90, 170, 4]]);
    // It suspends, which few systems do, and a cap that stays low is said with its remedy.
    let policies = ["--policy", "easy", "--policy", "easy(drop=suspend)", "--format", "json", "--quiet"];
    let json = folder.run(&[&["compare"], &SHAPES[..], &more[..2], &policies].concat()).json();
    assert_eq!(json["results"][1]["policy"]["preemptive"], true);
    folder.write("caps.csv", "time,cap,announced\n0,600,0\n30,450,30\n90,150,90\n");
    let problem = folder.run(&[&["run"], &SHAPES[..], &more].concat()).fails(2);
    assert!(
        problem.contains("job 1, submitted at 0 s, draws 400 W") && problem.contains("raise the last cap"),
        "{problem}"
    );
    // Resumptions with another size are of jobs that are suspended.
    let warning = folder.run(&["run", "log.swf", "--policy", "easy(migration=yes)"]).err;
    assert!(warning.contains("migration changes nothing here; it counts with drop=suspend"), "{warning}");
}
