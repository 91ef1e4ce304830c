//! `drystone advise`.

use crate::common::{Folder, line};

/// Eight weeks of a machine of 16 processors: each day a job that takes all of it arrives while half of it is in use, and behind it come
/// short jobs that would fit beside what runs. Where backfill looks at one job only, they wait for the large one.
fn blocked() -> String {
    let mut log = "; MaxProcs: 16\n; UnixStartTime: 0\n".to_string();
    let mut number = 0;
    let mut put = |submit: i64, run: i64, procs: i64, estimate: i64| {
        number += 1;
        log += &line(number, submit, run, procs, estimate);
    };
    for day in 0..56 {
        for round in 0..4 {
            let at = day * 86_400 + round * 18_000 + 300 * (day % 7);
            put(at, 9_000, 8, 9_000);
            put(at + 10, 1_800, 16, 3_600);
            for short in 0..8 {
                put(at + 60 + 200 * short, 300 + 20 * short, 2, 900);
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
SchedulerParameters=kill_invalid_depend,bf_max_job_test=1,bf_interval=60
NodeName=n[1-16] CPUs=1
PartitionName=batch Nodes=ALL Default=YES MaxTime=1-00:00:00
";

const QUICK: [&str; 6] = ["--phases", "2", "--splits", "6", "--quiet", "--knobs"];

fn quick<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["advise", "log.swf"][..], &QUICK, &["2"], more].concat()
}

/// The setting that hurts is found, its line keeps what else it says, and neither depends on the number of threads.
#[test]
fn a_setting_that_hurts_is_found() {
    let folder = Folder::with("log.swf", blocked());
    folder.write("slurm.conf", CONF);
    let args = quick(&["--slurm", "slurm.conf", "--goal", "tradeoff(avgW:avgX)", "--guard", "maxW<+20%"]);
    let on = |threads: &str| {
        folder.run(&[&args[..], &["--threads", threads, "--format", "json", "--report", "advice.html"]].concat()).json()
    };
    let advised = on("2");
    assert_eq!(advised["schema"], "drystone/advise/1");
    let settings = &advised["advice"]["settings"];
    assert_eq!(settings["reason"], "recommended", "{settings}");
    let edit = &settings["edits"][0];
    let text = edit["line"].as_str().expect("a line");
    assert!(text.starts_with("SchedulerParameters=kill_invalid_depend,bf_max_job_test="), "{text}");
    assert!(!text.contains("bf_max_job_test=1,") && text.contains("bf_interval="), "{text}");
    assert_eq!(edit["replaces"], "slurm.conf:4");
    assert!(settings["judged"]["got"].as_f64().is_some_and(|got| got < -0.3), "{settings}");
    assert_eq!(settings["judged"]["better"], settings["judged"]["of"]);
    let live = advised["advice"]["live"]["reason"].as_str().expect("a word");
    assert_eq!(live, "recommended", "EASY backfills, too");
    let page = folder.read("advice.html");
    assert!(
        page.contains(text) && page.contains("<svg") && page.contains("# instead of slurm.conf:4"),
        "{}",
        page.len()
    );
    assert_eq!(on("1"), advised);
}

#[test]
fn where_nothing_is_gained_it_says_so() {
    let folder = Folder::with("log.swf", idle());
    let text = folder.run(&quick(&[])).ok();
    assert!(text.contains("Leave it as it is."), "{text}");
    assert!(text.contains("Keep Slurm's own scheduler."), "{text}");
    assert!(!text.contains("SchedulerParameters="), "{text}");
}

#[test]
fn two_days_tell_nothing() {
    let mut log = "; MaxProcs: 4\n; UnixStartTime: 0\n".to_string();
    (0..40).for_each(|job| log += &line(job + 1, job * 4_000, 6_000, 1 + job % 4, 7_000));
    let text = Folder::with("log.swf", log).run(&quick(&["--only", "live"])).ok();
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
