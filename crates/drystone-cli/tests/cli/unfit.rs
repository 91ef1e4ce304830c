//! A policy that takes for granted what the log does not keep: wrong usage, said before anything is
//! simulated.

use crate::common::{Folder, line};

/// Job 2 runs for 90 s beyond its estimate.
fn overrun() -> Folder {
    let jobs = [line(1, 0, 100, 3, 100), line(2, 10, 150, 4, 60), line(3, 20, 30, 1, 60)];
    Folder::with("log.swf", format!("; MaxProcs: 4\n{}", jobs.concat()))
}

#[test]
fn overruns_where_none_are_allowed_are_wrong_usage() {
    let folder = overrun();
    let policy = "easy@gaussier2015";
    folder.write(
        "study.toml",
        format!("[[workload]]\nfile = \"log.swf\"\n[[policy]]\npolicy = \"{policy}\"\n[[policy]]\npolicy = \"easy\"\n"),
    );
    for arguments in [
        vec!["run", "-w", "log.swf", "-p", policy],
        vec!["compare", "-w", "log.swf", "-p", "easy", "-p", policy],
        vec!["explain", "-w", "log.swf", "-p", policy, "--job", "1"],
        vec!["sweep", "study.toml"],
        vec!["sweep", "study.toml", "--dry-run"],
    ] {
        let error = folder.run(&arguments).fails(2);
        // A sweep has no such option: its study has.
        let advice = if arguments[0] == "sweep" { "(write `overrun = \"kill\"` below" } else { "--overrun kill" };
        for part in [policy, "1 of 3 jobs outlive theirs", "first job 2,", "60 s and runs for 150 s", advice] {
            assert!(error.contains(part), "{arguments:?}: no `{part}` in {error}");
        }
        assert_eq!(folder.names(), ["log.swf", "study.toml"], "{arguments:?} left something behind");
    }
}

#[test]
fn what_the_message_advises_works() {
    let folder = overrun();
    let run = |more: &[&str]| folder.run(&[&["run", "-w", "log.swf", "--format", "json"], more].concat()).json();
    let policy = "easy@gaussier2015";
    for more in [["-p", policy, "--overrun", "kill"], ["-p", "easy", "--as", "gaussier2015"]] {
        assert!(run(&more)["report"].is_object());
    }
    // Corrected predictions are never outlived, and no job runs for three times its estimate.
    run(&["-p", "easy@gaussier2015(correct=estimate)"]);
    run(&["-p", "easy++@gaussier2015"]);
    run(&["-p", "easy@gaussier2015(predict=times(3,estimate))"]);
    folder.run(&["run", "-w", "log.swf", "-p", "easy@gaussier2015(predict=double(estimate))"]).fails(2);
    // Learned predictions without a correction may be outlived by any job: refused wherever such a
    // policy is named.
    let error =
        folder.run(&["run", "-w", "log.swf", "-p", "easy@gaussier2015(predict=recent(2),correct=none)"]).fails(2);
    assert!(error.contains("need a `correct` other than none"), "{error}");
}

/// Every published study compares, on a log with overruns, the usual candidates and all policies:
/// one that has no form in its variant is left out and told.
#[test]
fn every_study_compares_a_log_with_overruns() {
    let folder = overrun();
    let studies = drystone::log::clean::CleaningStudy::ALL.iter().map(|study| study.name());
    for study in studies {
        for more in [&[][..], &["--all"]] {
            let ran = folder.run(&[&["compare", "log.swf", "--procs", "4", "--as", study], more].concat());
            assert_eq!(ran.code, 0, "{study} {more:?}: {}", ran.err);
        }
    }
    let ran = folder.run(&["compare", "log.swf", "--as", "gaussier2015"]);
    assert!(ran.err.contains("easy-sjbf+ is left out: with --as gaussier2015 `plan=estimate`"), "{}", ran.err);
    assert!(ran.out.contains("easy@gaussier2015"), "{}", ran.out);
    // By name it is refused.
    folder.run(&["compare", "log.swf", "--as", "gaussier2015", "-p", "easy", "-p", "easy-sjbf+"]).fails(2);
}
