//! `drystone advise`.

use crate::common::{Folder, line};

/// Six weeks of a machine of 16 processors: by day narrow jobs of four hours follow each other, in
/// the morning a job comes that takes all of it. Where plans reach an hour ahead only, none holds
/// the machine for it, and it waits until the night.
fn starving() -> String {
    let mut log = "; MaxProcs: 16\n; UnixStartTime: 0\n".to_string();
    let mut number = 0;
    let mut add_job = |submit: i64, run: i64, procs: i64, estimate: i64| {
        number += 1;
        log += &line(number, submit, run, procs, estimate);
    };
    for day in 0..42 {
        let morning = day * 86_400 + 300 * (day % 5);
        for narrow in 0..14 {
            add_job(morning + 4_200 * narrow, 14_000 + 50 * (narrow % 3), 4, 18_000);
            if narrow == 3 {
                add_job(morning + 4_200 * narrow + 60, 3_000, 16, 3_600);
            }
        }
    }
    log
}

/// A machine on which no job ever waits for another.
fn idle() -> String {
    let mut log = "; MaxProcs: 64\n; UnixStartTime: 0\n".to_string();
    for job in 0..300 {
        log += &line(job + 1, job * 14_400, 3_000 + 10 * (job % 9), 1 + job % 16, 7_200);
    }
    log
}

const CONF: &str = "\
# A site that was warned of long passes.
ClusterName=c
SchedulerType=sched/backfill
SchedulerParameters=kill_invalid_depend,bf_window=60,bf_interval=60
NodeName=n[1-16] CPUs=1
PartitionName=batch Nodes=ALL Default=YES MaxTime=1-00:00:00
";

const QUICK: [&str; 6] = ["--phases", "2", "--splits", "6", "--quiet", "--knobs"];

fn quick<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["advise", "log.swf"][..], &QUICK, &["2"], more].concat()
}

/// The setting that hurts is found, its line keeps what else it says, and neither depends on the
/// number of threads.
#[test]
fn a_setting_that_hurts_is_found() {
    let folder = Folder::with("log.swf", starving());
    folder.write("slurm.conf", CONF);
    let args = quick(&["--slurm", "slurm.conf", "--goal", "maxW", "--guard", "avgW<+100%"]);
    let on = |threads: &str| {
        folder.run(&[&args[..], &["--threads", threads, "--format", "json", "--report", "advice.html"]].concat()).json()
    };
    let advice = on("2");
    assert_eq!(advice["schema"], "drystone/advise/1");
    let settings = &advice["advice"]["settings"];
    assert_eq!(settings["reason"], "recommended", "{settings}");
    let edit = &settings["edits"][0];
    let text = edit["line"].as_str().expect("a line");
    let window = text.strip_prefix("SchedulerParameters=kill_invalid_depend,bf_window=");
    let window = window.and_then(|rest| rest.strip_suffix(",bf_interval=60")?.parse::<i64>().ok());
    assert!(
        window.is_some_and(|minutes| minutes >= 300),
        "a window as long as the limits, and what else the line says: {text}"
    );
    assert_eq!(edit["replaces"], "slurm.conf:4");
    assert!(settings["judged"]["got"].as_f64().is_some_and(|gain| gain < -0.3), "{settings}");
    assert_eq!(settings["judged"]["better"], settings["judged"]["of"]);
    let live = advice["advice"]["live"]["reason"].as_str().expect("a word");
    assert_eq!(live, "recommended", "EASY also holds the machine for it");
    let page = folder.read("advice.html");
    assert!(
        page.contains(text) && page.contains("<svg") && page.contains("in place of slurm.conf:4"),
        "{}",
        page.len()
    );
    assert_eq!(on("1"), advice);
}

/// A recommendation below the longest limit of the configuration says that it contradicts the check
/// of that, who pays stands in a table of widths, and a guard of a class is kept.
#[test]
fn advice_names_those_that_pay_and_contradicts_no_check_in_silence() {
    let folder = Folder::with("log.swf", starving());
    folder.write("slurm.conf", CONF);
    let with = |more: &[&str]| {
        let args = quick(&["--slurm", "slurm.conf", "--goal", "maxW", "--only", "settings"]);
        folder.run(&[&args[..], more].concat()).ok()
    };
    let short = with(&["--guard", "avgW<+100%"]);
    for part in ["Settings  set bf_window=720: ", "Beware    bf_window=720 min is below", "Price     Longer waits: "] {
        assert!(short.contains(part), "`{part}` is missing in:\n{short}");
    }
    let with = |more: &[&str]| with(&[more, &["--details"]].concat());
    let text = with(&["--guard", "avgW<+100%", "--guard", "avgW(>8)<+10%"]);
    assert!(text.contains("Set bf_window=720:"), "{text}");
    assert!(text.contains("Beware: bf_window=720 min is below MaxTime=1440 min of the partition batch"), "{text}");
    assert!(text.contains("Longer waits: mean wait of jobs of 2 to 8 processors"), "{text}");
    for class in ["(avgW(<=1))", "(avgW(>1<=8))", "(avgW(>8<=32))", "(avgW(>32<=64))", "(avgW(>64))"] {
        assert!(text.contains(class), "{class} in {text}");
    }
    // The narrow jobs pay: a guard on them leaves nothing to recommend.
    let text = with(&["--guard", "avgW<+100%", "--guard", "avgW(<=8)<+10%"]);
    assert!(text.contains("Leave it as it is.") && !text.contains("Set bf_window"), "{text}");
}

/// Jobs of the whole machine that all come at the beginning wait longer than any later one. A
/// warm-up of two weeks leaves them out, of the longest wait and of the weeks.
#[test]
fn a_warm_up_is_in_no_figure() {
    let head = "; MaxProcs: 16\n; UnixStartTime: 0\n";
    let burst: String = (0..30).map(|job| line(10_000 + job, 0, 3_600, 16, 3_600)).collect();
    let folder = Folder::with("log.swf", starving().replacen(head, &format!("{head}{burst}"), 1));
    folder.write("slurm.conf", CONF);
    let with = |more: &[&'static str]| {
        let args = ["--slurm", "slurm.conf", "--goal", "maxW", "--only", "settings", "--format", "json"];
        let advice = folder.run(&[&quick(&args)[..], more].concat()).json();
        let figures = advice["baseline"]["figures"].as_array().expect("figures").clone();
        let longest = figures.iter().find(|figure| figure["figure"] == "maxW").expect("the goal")["value"].as_f64();
        (longest.expect("a number"), advice["advice"]["periods"].as_u64().expect("weeks"))
    };
    let (whole, warm) = (with(&[]), with(&["--warm-up", "14d"]));
    // The last of thirty waits for an hour behind each of the others.
    assert!(whole.0 >= 29.0 * 3_600.0 && warm.0 < whole.0, "{whole:?} {warm:?}");
    assert_eq!((whole.1, warm.1), (6, 4));
}

#[test]
fn where_nothing_is_gained_it_says_so() {
    let folder = Folder::with("log.swf", idle());
    let text = folder.run(&quick(&[])).ok();
    assert!(text.contains("leave slurm.conf as it is: nothing tried improves"), "{text}");
    let text = folder.run(&quick(&["--details"])).ok();
    assert!(text.contains("Leave it as it is."), "{text}");
    assert!(text.contains("Keep Slurm's own scheduler."), "{text}");
    assert!(!text.contains("SchedulerParameters="), "{text}");
}

#[test]
fn two_days_tell_nothing() {
    let mut log = "; MaxProcs: 4\n; UnixStartTime: 0\n".to_string();
    (0..40).for_each(|job| log += &line(job + 1, job * 4_000, 6_000, 1 + job % 4, 7_000));
    let text = Folder::with("log.swf", log).run(&quick(&["--only", "live", "--details"])).ok();
    assert!(text.contains("Nothing can be recommended: the log has 2 days"), "{text}");
}

#[test]
fn wrong_usage_says_what_is_right() {
    let folder = Folder::with("log.swf", idle());
    folder.write("sdiag.txt", "nothing of the kind\n");
    folder.write("idle.txt", "Backfilling stats\n\tTotal cycles: 0\n");
    folder.write("empty.conf", "ClusterName=c\n");
    folder.write("wrong.conf", "NodeName=n1 CPUs=many\nPartitionName=p Nodes=n1\n");
    for (args, part) in [
        (&["--goal", "tradeoff(Tw:avgXX)"][..], "Did you mean `avgX`?"),
        (&["--goal", "tradeof(Tw:avgX)"], "Did you mean `tradeoff`?"),
        (&["--guard", "maxV<+20%"], "Did you mean `maxW`?"),
        (&["--guard", "maxW"], "maxW<+20%"),
        (&["--slurm", "missing.conf"], "missing.conf"),
        (&["--slurm", "empty.conf"], "no nodes"),
        (&["--slurm", "wrong.conf"], "wrong.conf:1"),
        (&["--sdiag", "missing.txt"], "missing.txt: cannot be read"),
        (&["--sdiag", "sdiag.txt"], "sdiag.txt: no `Backfilling stats`"),
        (&["--sdiag", "idle.txt"], "tested no job"),
        (&["--report", "advice.xyz"], "the ending says how to write the report"),
    ] {
        let error = folder.run(&quick(args)).fails(2);
        assert!(error.contains(part), "{args:?}: {error}");
    }
}

/// The configuration reaches an hour ahead, and jobs ask for five: the check says so in numbers,
/// without a simulation, from the waits that a log records.
#[test]
fn a_check_names_settings_with_their_numbers() {
    // The recorded wait stands in field 3.
    let with_wait = |line: &str| match line.split_whitespace().collect::<Vec<_>>() {
        fields if fields.len() > 5 && !line.starts_with(';') => {
            let mut fields: Vec<String> = fields.into_iter().map(String::from).collect();
            fields[2] = "600".to_string();
            fields.join(" ") + "\n"
        }
        _ => format!("{line}\n"),
    };
    let folder = Folder::with("log.swf", starving().lines().map(with_wait).collect::<String>());
    folder.write("slurm.conf", CONF);
    let args = ["advise", "log.swf", "--check", "--slurm", "slurm.conf", "--quiet", "--format", "json"];
    let check = folder.run(&args).json();
    let remark = |setting: &str| {
        let remarks = check["remarks"].as_array().expect("remarks");
        remarks.iter().find(|remark| remark["setting"] == setting).expect(setting).clone()
    };
    let window = remark("bf_window");
    assert_eq!((&window["change"], &window["set"]), (&true.into(), &"bf_window=1440".into()), "{window}");
    // Fourteen of the fifteen jobs of a day ask for five hours, one for one.
    assert!((window["evidence"][0]["value"].as_f64().expect("a share") - 14.0 / 15.0).abs() < 1e-9);
    assert_eq!(remark("bf_max_job_test")["change"], false);
    let text = folder.run(&["advise", "log.swf", "--check", "--slurm", "slurm.conf", "--quiet"]).ok();
    assert!(text.contains("worth a try: bf_window=1440"), "{text}");
    let error = folder.run(&["advise", "log.swf", "--check", "--quiet"]).fails(2);
    assert!(error.contains("give --slurm FILE"), "{error}");
}
