//! Default output of the commands with a short form: thirty lines of eighty columns, in a pipe and
//! without colours.

use crate::accounting::site;
use crate::common::Folder;

/// Most lines and columns of a short form.
const LINES: usize = 30;
const COLUMNS: usize = 80;

/// Checks the layout of what a command prints, and returns it.
fn short(folder: &Folder, args: &[&str]) -> String {
    let text = folder.run(args).ok();
    let lines = text.lines().count();
    assert!(lines <= LINES, "{args:?} prints {lines} lines:\n{text}");
    if let Some(line) = text.lines().find(|line| line.chars().count() > COLUMNS) {
        panic!("{args:?} prints a line of {} columns:\n{line}", line.chars().count());
    }
    assert!(!text.contains('\u{1b}'), "{args:?} colours a pipe");
    assert!(text.contains("--details"), "{args:?} does not say where the rest is:\n{text}");
    text
}

/// A log of 64 processors in which jobs wait, by users with habits.
fn log() -> Folder {
    let folder = Folder::new();
    let args = ["workload", "generate", "--procs", "64", "--jobs", "1500", "--load", "0.9", "--seed", "3", "--quiet"];
    folder.run(&[&args[..], &["--out", "log.swf"]].concat()).ok();
    folder
}

#[test]
fn short_forms_of_a_log() {
    let folder = log();
    insta::assert_snapshot!("overview_compare", short(&folder, &["compare", "log.swf", "--quiet"]));
    insta::assert_snapshot!("overview_run", short(&folder, &["run", "log.swf", "--policy", "easy", "--quiet"]));
    insta::assert_snapshot!("overview_info", short(&folder, &["workload", "info", "log.swf", "--quiet"]));
    insta::assert_snapshot!("overview_predict", short(&folder, &["predict", "log.swf", "--quiet"]));
    insta::assert_snapshot!("overview_foresee", short(&folder, &["foresee", "log.swf", "--samples", "20", "--quiet"]));
    // The time of the search is the machine's.
    let bracket = short(&folder, &["headroom", "log.swf", "--trials", "2000", "--quiet"]);
    for part in ["mean wait, min   easy ", "no non-preemptive schedule is below", "best found (knows all run times"] {
        assert!(bracket.contains(part), "`{part}` is missing in:\n{bracket}");
    }
}

#[test]
fn short_forms_of_a_site() {
    let folder = site();
    let again = ["import", "jobs.psv", "--machine", "slurm.conf", "--timezone", "Europe/Berlin", "--out", "again"];
    let text = short(&folder, &again);
    insta::assert_snapshot!("overview_import", text);
    short(&folder, &["fidelity", "site", "--seeds", "1", "--quiet"]);
    insta::assert_snapshot!("overview_waits", short(&folder, &["waits", "site", "--quiet"]));
    short(&folder, &["compare", "site", "--quiet"]);
    short(&folder, &["whatif", "site", "--nodes", "+1", "--quiet"]);
}

#[test]
fn a_short_form_of_advice() {
    let folder = log();
    let quick = ["--splits", "2", "--phases", "1", "--quiet"];
    let text = short(&folder, &[&["advise", "log.swf"][..], &quick].concat());
    for part in ["Settings     ", "Limits       ", "Live policy  ", "Goal         "] {
        assert!(text.contains(part), "`{part}` is missing in:\n{text}");
    }
    let whole = folder.run(&[&["advise", "log.swf", "--details"][..], &quick].concat()).ok();
    assert!(whole.contains("Candidates over all periods, best first"), "{whole}");
}

/// Checks the columns of what a command prints in a pipe.
fn narrow(folder: &Folder, args: &[&str]) -> String {
    let text = folder.run(args).ok();
    if let Some(line) = text.lines().find(|line| line.chars().count() > COLUMNS) {
        panic!("{args:?} prints a line of {} columns:\n{line}", line.chars().count());
    }
    assert!(!text.contains('\u{1b}'), "{args:?} colours a pipe");
    text
}

#[test]
fn searches_stories_and_checks_have_eighty_columns() {
    let folder = log();
    let search = ["evolve", "log.swf", "--evaluations", "20", "--weeks", "1", "--quiet"];
    insta::assert_snapshot!("overview_evolve", short(&folder, &search));
    insta::assert_snapshot!(
        "overview_explain",
        narrow(&folder, &["explain", "log.swf", "--job", "700", "--policy", "easy", "--why-not", "--quiet"])
    );
    narrow(&folder, &["evolve", "--method", "regression", "--trials", "200", "--tuples", "2", "--quiet"]);
    narrow(&folder, &["policies"]);
    narrow(&folder, &["policies", "slack"]);
    let study = "metrics = [\"wait_mean\", \"bounded_slowdown_mean\"]\n[[workload]]\nfile = \"log.swf\"\n[[policy]]\n\
                 policy = \"easy(predict=recent({size},window={window}))\"\n[policy.parameters]\nsize = [1, 2]\n\
                 window = [\"all\", \"immediate\"]\n";
    folder.write("study.toml", study);
    narrow(&folder, &["sweep", "study.toml", "--quiet"]);
    for command in ["rank", "pareto", "status", "headroom"] {
        narrow(&folder, &["sweep", command, "study.db"]);
    }
    let folder = site();
    let text = narrow(&folder, &["advise", "--check", "site", "--quiet"]);
    assert!(text.contains("bf_interval"), "{text}");
    narrow(&folder, &["explain", "site", "--job", "1000", "--quiet"]);
}
