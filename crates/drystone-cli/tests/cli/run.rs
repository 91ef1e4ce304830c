//! `drystone run` on workloads small enough to work out by hand.

use crate::common::{Folder, four, line};
use crate::inputs::assert_says;

/// The first four columns of a schedule.
fn schedule(folder: &Folder, args: &[&str]) -> String {
    let mut words = vec!["run", "--workload", "log.swf", "--jobs", "out.csv", "--quiet"];
    words.extend(args);
    folder.run(&words).ok();
    let csv = folder.read("out.csv");
    let four = |line: &str| line.split(',').take(4).collect::<Vec<_>>().join(",");
    csv.lines().map(four).collect::<Vec<_>>().join("\n")
}

#[test]
fn fcfs_lets_no_job_overtake() {
    // Job 2 needs the whole machine: it waits for job 1, and jobs 3 and 4 for it.
    let folder = Folder::with("log.swf", four());
    let expected = "job_id,submit,start,end\n1,0,0,100\n2,10,100,150\n3,20,150,180\n4,30,150,250";
    assert_eq!(schedule(&folder, &["--policy", "fcfs"]), expected);
}

#[test]
fn easy_backfills_what_ends_before_the_reservation() {
    // Job 3 is believed to end at 80, before job 2's reservation at 100; job 4 would end at 130 or
    // later.
    let folder = Folder::with("log.swf", four());
    let expected = "job_id,submit,start,end\n1,0,0,100\n2,10,100,150\n3,20,20,50\n4,30,150,250";
    assert_eq!(schedule(&folder, &["--policy", "easy"]), expected);
}

#[test]
fn times_and_numbers_are_those_of_the_log() {
    // Out of order, with gaps in the numbers, late in the log.
    let log = format!("; MaxProcs: 4\n{}{}", line(70, 5_000, 10, 1, 10), line(3, 4_000, 20, 2, 20));
    let folder = Folder::with("log.swf", log);
    let expected = "job_id,submit,start,end\n3,4000,4000,4020\n70,5000,5000,5010";
    assert_eq!(schedule(&folder, &["--policy", "easy"]), expected);
    let expected = "job_id,submit,start,end\n3,2000,2000,2020\n70,2500,2500,2510";
    assert_eq!(schedule(&folder, &["--policy", "easy", "--load", "2"]), expected);
    let expected = "job_id,submit,start,end\n3,0,0,20\n70,1000,1000,1010";
    assert_eq!(schedule(&folder, &["--policy", "easy", "--shift"]), expected);
}

#[test]
fn overrun_decides_what_outliving_an_estimate_means() {
    let log = format!("; MaxProcs: 4\n{}", line(1, 0, 100, 4, 60));
    let folder = Folder::with("log.swf", log);
    let end = |mode| {
        let csv = schedule(&folder, &["--policy", "easy", "--overrun", mode]);
        csv.rsplit(',').next().map(str::to_string)
    };
    assert_eq!(end("run-on").as_deref(), Some("100"));
    assert_eq!(end("kill").as_deref(), Some("60"));
    assert_eq!(end("raise").as_deref(), Some("100"));
}

#[test]
fn a_study_sets_and_explicit_options_override() {
    // Field 5 (allocated) says 2, field 8 (requested) 4.
    let log = "; MaxProcs: 4\n1 0 -1 100 2 -1 -1 4 60 -1 1 5 1 -1 0 -1 -1 -1\n";
    let folder = Folder::with("log.swf", log);
    let run = |args: &[&str]| {
        let mut words = vec!["run", "--workload", "log.swf", "--policy", "easy", "--format", "json", "--trim", "all"];
        words.extend(args);
        folder.run(&words)
    };
    let plain = run(&[]).json();
    assert_eq!(plain["workload"]["settings"]["size"], "requested");
    assert_eq!(plain["policy"]["text"], "easy");
    assert_eq!(plain["experiment"]["study"], serde_json::Value::Null);
    let study = run(&["--as", "talby1999"]);
    assert!(study.err.contains("--as talby1999 sets size=allocated"), "{}", study.err);
    let study = study.json();
    assert_eq!(study["workload"]["settings"]["size"], "allocated");
    assert_eq!(study["workload"]["settings"]["overrun"], "kill");
    assert_eq!(study["policy"]["text"], "easy@talby1999");
    assert_eq!(study["report"]["machine"]["work"], 120.0);
    let overrides = run(&["--as", "talby1999", "--size", "requested", "--overrun", "run-on"]).json();
    assert_eq!(overrides["workload"]["settings"]["size"], "requested");
    assert_eq!(overrides["report"]["machine"]["work"], 400.0);
    assert_ne!(plain["workload"]["hash"], study["workload"]["hash"]);
}

#[test]
fn a_broken_promise_is_a_finding_where_it_is_asked_for() {
    // Job 1 outlives its estimate: job 2, promised second 50, starts at second 100.
    let log = format!("; MaxProcs: 4\n{}{}", line(1, 0, 100, 4, 50), line(2, 1, 10, 4, 10));
    let folder = Folder::with("log.swf", log);
    let run = |args: &[&str]| {
        let mut words = vec!["run", "--workload", "log.swf", "--policy", "conservative", "--format", "json"];
        words.extend(args);
        folder.run(&words)
    };
    let broken = run(&["--require-promises"]);
    assert_eq!(broken.code, 1, "{}", broken.err);
    assert!(broken.err.contains("broken promises: 1"), "{}", broken.err);
    let json: serde_json::Value = serde_json::from_str(&broken.out).expect("the results are there all the same");
    assert_eq!(json["promises"]["broken"], 1);
    assert_eq!(json["promises"]["worst"]["promised"], 50);
    assert_eq!(json["promises"]["worst"]["start"], 100);
    assert_eq!(run(&[]).code, 0);
    assert_eq!(run(&["--require-promises", "--overrun", "kill"]).code, 0);
}

#[test]
fn pieces_of_a_log() {
    // Unix time 0 is midnight; 2,678,400 s later February begins.
    let log = format!(
        "; MaxProcs: 4\n; UnixStartTime: 0\n{}{}{}",
        line(1, 2_678_390, 100, 4, 100),
        line(2, 2_678_400, 100, 4, 100),
        line(3, 2_678_500, 100, 4, 100),
    );
    let folder = Folder::with("log.swf", log);
    let whole =
        "job_id,submit,start,end\n1,2678390,2678390,2678490\n2,2678400,2678490,2678590\n3,2678500,2678590,2678690";
    assert_eq!(schedule(&folder, &["--policy", "easy"]), whole);
    let apart =
        "job_id,submit,start,end\n1,2678390,2678390,2678490\n2,2678400,2678400,2678500\n3,2678500,2678500,2678600";
    assert_eq!(schedule(&folder, &["--policy", "easy", "--each-month"]), apart);
    let february = "job_id,submit,start,end\n2,2678400,2678400,2678500\n3,2678500,2678500,2678600";
    assert_eq!(schedule(&folder, &["--policy", "easy", "--month", "1970-02"]), february);
    assert_eq!(schedule(&folder, &["--policy", "easy", "--slice", "2678400.."]), february);
    let first = "job_id,submit,start,end\n1,2678390,2678390,2678490";
    assert_eq!(schedule(&folder, &["--policy", "easy", "--slice", "..2678400"]), first);
    assert_eq!(schedule(&folder, &["--policy", "easy", "--take", "1"]), first);
    let error = folder.run(&["run", "-w", "log.swf", "-p", "easy", "--month", "1970-03"]).fails(2);
    assert!(error.contains("the log's months are 1970-01 to 1970-02"), "{error}");
}

#[test]
fn a_log_from_the_standard_input_is_the_same() {
    let folder = Folder::with("log.swf", four());
    let file = folder.run(&["run", "-w", "log.swf", "-p", "easy", "--format", "json"]).json();
    let pipe = folder.pipe(&["run", "-w", "-", "-p", "easy", "--format", "json"], four().as_bytes()).json();
    assert_eq!(file["report"], pipe["report"]);
    assert_eq!(file["workload"]["hash"], pipe["workload"]["hash"]);
    assert_eq!(pipe["workload"]["name"], "standard input");
}

#[test]
fn the_table_of_a_small_run() {
    let folder = Folder::with("log.swf", four());
    let args = ["run", "-w", "log.swf", "-p", "easy", "--by", "four"];
    insta::assert_snapshot!(folder.run(&[&args[..], &["--details"]].concat()).ok());
    insta::assert_snapshot!("the_overview_of_a_small_run", folder.run(&args).ok());
}

#[test]
fn markdown_and_csv_of_a_small_run() {
    let folder = Folder::with("log.swf", four());
    insta::assert_snapshot!(folder.run(&["run", "-w", "log.swf", "-p", "easy", "--format", "markdown"]).ok());
    let csv = folder.run(&["run", "-w", "log.swf", "-p", "easy", "--format", "csv"]).ok();
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 2);
    let column = |name: &str| {
        let at = rows[0].split(',').position(|c| c == name).expect(name);
        // Only texts are quoted, and they come first; numbers hold no comma.
        rows[1].rsplit(',').nth(rows[0].split(',').count() - 1 - at).map(str::to_string)
    };
    // Waits of 0, 90, 0 and 120 s; 4 processors for 250 s do 300 + 200 + 30 + 100
    // processor-seconds.
    assert_eq!(column("wait_mean").as_deref(), Some("52.5"));
    assert_eq!(column("wait_max").as_deref(), Some("120"));
    assert_eq!(column("utilisation").as_deref(), Some("0.63"));
}

/// A parameter that does nothing is not passed over in silence; one that a variant or a study gives
/// its meaning is.
#[test]
fn parameters_that_change_nothing_are_told() {
    let folder = Folder::with("log.swf", four());
    let notes = |command: &str, policy: &str, more: &[&str]| {
        let args = [&[command, "-w", "log.swf", "--policy", policy], more].concat();
        let ran = folder.run(&args);
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.err.lines().filter(|line| line.contains("changes nothing")).map(String::from).collect::<Vec<_>>()
    };
    let queues = "warning: multiqueue(queues=3): queues changes nothing here; it counts with bounds=auto";
    for (command, more) in
        [("run", &[][..]), ("compare", &[]), ("explain", &["--job", "1"]), ("gantt", &["--out", "x.json"])]
    {
        assert_eq!(notes(command, "multiqueue(queues=3)", more), [queues], "{command}");
        assert_eq!(notes(command, "multiqueue(queues=3,bounds=auto)", more), [""; 0]);
    }
    assert_eq!(notes("run", "multiqueue(queues=3)", &["--quiet"]), [queues; 0]);
    let guard = "warning: easy(guard=estimate): guard changes nothing here; it counts with predict other than estimate";
    assert_eq!(notes("run", "easy(guard=estimate)", &[]), [guard]);
    let ceiling = "warning: multiqueue(ceiling=3): ceiling changes nothing here; it counts with delay other than none";
    assert_eq!(notes("run", "multiqueue(ceiling=3)", &[]), [ceiling]);
    assert_eq!(notes("run", "multiqueue@lawson2002-delay(tolerance=1)", &[]), [""; 0]);
}

/// A month counts the same jobs whether it is simulated with the others or alone.
#[test]
fn months_are_trimmed_as_if_alone() {
    let folder = Folder::new();
    folder.run(&["workload", "generate", "--procs", "64", "--days", "75", "--out", "log.swf", "--quiet"]).ok();
    let run = |more: &[&str]| {
        let args =
            ["run", "-w", "log.swf", "--policy", "easy", "--trim", "tsafrir", "--format", "json", "--by", "month"];
        folder.run(&[&args[..], more].concat()).json()["report"].clone()
    };
    let together = run(&["--each-month"]);
    let months = together["categories"][0]["categories"].as_array().expect("months").clone();
    assert!(months.len() >= 2, "{months:?}");
    let (mut kept_count, mut early) = (0, 0);
    for month in &months {
        let alone = run(&["--month", month["name"].as_str().expect("a name")]);
        assert_eq!(alone["measures"]["wait"]["mean"], month["measures"]["wait"]["mean"]);
        kept_count += alone["trimmed"]["kept"].as_u64().expect("a number");
        early += alone["trimmed"]["dropped_early"].as_u64().expect("a number");
    }
    assert_eq!(
        (&together["trimmed"]["kept"], &together["trimmed"]["dropped_early"]),
        (&kept_count.into(), &early.into())
    );
    assert!(early >= 2 && kept_count > 1_000, "{early} {kept_count}");
}

/// The effects of cleaning stand with the result, not only in the audit.
#[test]
fn tables_say_what_cleaning_did() {
    // One has no estimate, one outlives its own.
    let log = format!("; MaxProcs: 4\n{}{}{}", line(1, 0, 100, 4, -1), line(2, 5, 90, 4, 60), line(3, 9, 10, 1, 60));
    let folder = Folder::with("log.swf", log);
    for command in ["run", "compare"] {
        let table = folder.run(&[command, "-w", "log.swf", "--policy", "easy", "--overrun", "kill", "--details"]).ok();
        let cleaning = "of the log's 3 records: guessed-estimate 1, killed 1; --audit lists them";
        assert!(table.lines().any(|line| line.starts_with("cleaning ") && line.ends_with(cleaning)), "{table}");
    }
}

/// A run time that stands for an estimate is known before: a comparison says so, where many jobs
/// have no estimate.
#[test]
fn estimates_that_were_guessed_are_told() {
    let text = "have no estimate, so their true run time replaces it";
    let log = |missing: i64| -> String {
        let jobs = (1..=40).map(|n| line(n, 10 * n, 30 + n % 7, 1, if n <= missing { -1 } else { 60 }));
        std::iter::once("; MaxProcs: 4\n".to_string()).chain(jobs).collect()
    };
    for (missing, option, wanted) in
        [(40, "run", true), (2, "run-min-1", true), (1, "run", false), (40, "60", false), (0, "run", false)]
    {
        let folder = Folder::with("log.swf", log(missing));
        for command in [&["run"][..], &["compare"], &["predict"]] {
            let input = if command[0] == "predict" { vec!["log.swf"] } else { vec!["-w", "log.swf", "-p", "easy"] };
            let note = if wanted { format!("{missing} of 40 jobs {text}") } else { text.to_string() };
            let run = folder.run(&[command, &["--missing-estimate", option], &input].concat());
            assert_eq!(run.err.contains(&note), wanted, "{command:?} {missing} {option}: {}", run.err);
        }
    }
}

/// A cleaned log does not say where its estimates are from; that this many are exact does.
#[test]
fn estimates_that_are_run_times_are_told_of() {
    let log = |exact: i64| -> String {
        let jobs = (1..=150).map(|n| line(n, 10 * n, 30, 1, if n <= exact { 30 } else { 60 }));
        std::iter::once("; MaxProcs: 4\n".to_string()).chain(jobs).collect()
    };
    for (exact, is_noted) in [(150, true), (50, true), (49, false), (0, false)] {
        let folder = Folder::with("log.swf", log(exact));
        let note = if is_noted {
            format!("{exact} of 150 jobs run exactly as long as their estimates")
        } else {
            "jobs run exactly as long".into()
        };
        let run = folder.run(&["run", "-w", "log.swf", "-p", "easy"]);
        assert_eq!(run.err.contains(&note), is_noted, "{exact}: {}", run.err);
        // Not where they are to be exact.
        let run = folder.run(&["run", "-w", "log.swf", "-p", "easy", "--overrun", "exact"]);
        assert!(!run.err.contains("jobs run exactly as long"), "{exact}: {}", run.err);
    }
}

/// 20 and 120 processor-seconds in 100 s on 4 processors are an offered load of 0.35: twice that is
/// 0.7, by submit times half as far apart.
#[test]
fn a_load_is_aimed_at() {
    let log = format!("; MaxProcs: 4\n{}{}", line(1, 0, 10, 2, 10), line(2, 100, 30, 4, 30));
    let folder = Folder::with("log.swf", log);
    for target in ["0.7", "70%"] {
        let json = folder.run(&["run", "log.swf", "-p", "easy", "--load-to", target, "--format", "json"]).json();
        assert_eq!(json["workload"]["load"], 0.7, "{json}");
    }
    let conflict = folder.run(&["run", "log.swf", "-p", "easy", "--load-to", "0.7", "--load", "2"]).fails(2);
    assert_says(&conflict, &["--load-to", "--load"]);
    for wrong in ["0", "-1", "11", "much"] {
        let error = folder.run(&["run", "log.swf", "-p", "easy", &format!("--load-to={wrong}")]).fails(2);
        assert_says(&error, &["such as 0.9 or 90%"]);
    }
    // Jobs that arrive at once have no offered load.
    let log = format!("; MaxProcs: 4\n{}{}", line(1, 0, 10, 2, 10), line(2, 0, 30, 4, 30));
    let folder = Folder::with("log.swf", log);
    assert_says(&folder.run(&["run", "log.swf", "-p", "easy", "--load-to", "0.7"]).fails(2), &["no offered load"]);
}

/// A month of 1970 with its surroundings: job 2 is of February, and waits for job 1, submitted
/// three days before; job 3 comes 33 days after it.
#[test]
fn a_month_is_simulated_with_what_is_around_it() {
    let day = 86_400;
    let jobs = [(1, 28 * day, 5 * day), (2, 31 * day, day), (3, 64 * day, day)];
    let lines: String = jobs.iter().map(|&(number, submit, run)| line(number, submit, run, 4, run)).collect();
    let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n; UnixStartTime: 0\n; TimeZoneString: UTC\n{lines}"));
    let of = |args: &[&str]| {
        let base_args = ["run", "-w", "log.swf", "-p", "fcfs", "--quiet", "--format", "json", "--month", "1970-02"];
        let report = folder.run(&[&base_args[..], args].concat()).json()["report"].clone();
        let number = |value: &serde_json::Value| value.as_f64().expect("a number");
        let trim = &report["trimmed"];
        [number(&trim["seen"]), number(&trim["kept"]), number(&report["measures"]["wait"]["mean"])]
    };
    assert_eq!(of(&[]), [1.0, 1.0, 0.0]);
    // Job 1 ends on day 33, two days after job 2 was submitted.
    let wait = 2.0 * day as f64;
    assert_eq!(of(&["--around", "4d"]), [2.0, 1.0, wait]);
    assert_eq!(of(&["--around", "33d"]), [3.0, 1.0, wait]);
    // The study takes a week of both; `--load 1` leaves the times.
    assert_eq!(of(&["--as", "chiang2008", "--load", "1"]), [2.0, 1.0, wait]);
    assert!(folder.run(&["run", "-w", "log.swf", "--around", "4d"]).err.contains("--month"));
    let conflict = ["compare", "log.swf", "-p", "easy", "--month", "1970-02", "--around", "4d", "--loads", "1,2"];
    assert!(folder.run(&conflict).err.contains("--around does not go with --loads"));
}

/// Under fcfs jobs 1 to 4 wait 0, 90, 130 and 120 s. The file has a priority for user 5 and one for
/// job 3.
#[test]
fn categories_of_ones_own() {
    let four = four();
    let (head, jobs): (Vec<&str>, Vec<&str>) = four.lines().partition(|line| line.starts_with(';'));
    let log: String = (jobs.iter().zip([3, 5, 3, 5]))
        .map(|(line, user)| {
            let mut fields: Vec<String> = line.split_whitespace().map(str::to_string).collect();
            fields[11] = user.to_string();
            fields.join(" ") + "\n"
        })
        .collect();
    let folder = Folder::with("log.swf", format!("{}\n{log}", head.join("\n")));
    folder.write("p.toml", "[[user]]\nid = 5\nup = 0.5\n[[job]]\nnumber = 3\npp = -inf\n");
    let of = |args: &[&str]| {
        let usual = ["run", "-w", "log.swf", "-p", "fcfs", "--quiet", "--format", "json"];
        let json = folder.run(&[&usual[..], args].concat()).json();
        let scheme = &json["report"]["categories"][0];
        let categories = scheme["categories"].as_array().expect("a list").iter();
        let text = |c: &serde_json::Value| {
            format!(
                "{}: {} {}",
                c["name"].as_str().expect("a name"),
                c["measures"]["wait"]["count"],
                c["measures"]["wait"]["mean"]
            )
        };
        (scheme["scheme"].as_str().expect("a scheme").to_string(), categories.map(text).collect::<Vec<_>>())
    };
    // They run for 100, 50, 30 and 100 s.
    let (scheme, classes) = of(&["--by", "classes(run=50s/1m)"]);
    assert_eq!(scheme, "classes(run=50/60)");
    assert_eq!(classes, ["≤50 s: 2 110.0", ">1 min: 2 60.0"]);
    let args = ["compare", "log.swf", "-p", "slack", "-p", "fcfs", "--baseline", "fcfs", "--quiet", "--format", "json"];
    let run_args = [&args[..], &["--by", "priority", "--priorities", "p.toml"]].concat();
    let json = folder.run(&run_args).json();
    let categories = json["results"][0]["report"]["categories"][0]["categories"].as_array().expect("a list").clone();
    let names: Vec<&str> = categories.iter().filter_map(|c| c["name"].as_str()).collect();
    assert_eq!(names, ["up 0, pp -inf", "up 0, pp 0", "up 0.5, pp 0"]);
    let jobs: Vec<u64> = categories.iter().filter_map(|c| c["measures"]["wait"]["count"].as_u64()).collect();
    assert_eq!(jobs, [1, 1, 2]);
    assert_says(
        &folder.run(&["run", "-w", "log.swf", "-p", "fcfs", "--by", "priority"]).fails(2),
        &["--priorities FILE"],
    );
    let wrong = folder.run(&["run", "-w", "log.swf", "-p", "fcfs", "--by", "classes(run=1h/1m)"]).fails(2);
    assert_says(&wrong, &["expected borders that rise, as classes(run=10m/1h/8h,procs=1/8/32)"]);
    assert_says(&folder.run(&["run", "--by", "colour"]).fails(2), &["sixteen, four", "classes("]);
}

/// Job 2 waits for job 1 until 100. Under `easy` that is its bound. Under `slack` the average wait
/// is by then the mean of an imaginary hour and of job 1, which did not wait: AWT = 1800. SP = 90 /
/// (2 AWT) = 0.025, p = SP / 3, and the slack (1 - p) 3 AWT = 5355.
#[test]
fn a_schedule_has_the_bounds_that_were_promised() {
    let folder = Folder::with("log.swf", four());
    let promises = |policy: &str| {
        folder.run(&["run", "-w", "log.swf", "-p", policy, "--jobs", "out.csv", "--quiet"]).ok();
        let csv = folder.read("out.csv");
        csv.lines().skip(1).map(|line| line.rsplit(',').next().unwrap_or_default().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(promises("fcfs"), ["", "", "", ""]);
    assert_eq!(promises("easy")[..2], ["", "100"]);
    assert_eq!(promises("conservative")[..2], ["", "100"]);
    assert_eq!(promises("slack")[1], "5455");
}
