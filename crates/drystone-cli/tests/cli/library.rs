//! The library of the command does what the command does: the same bytes, the same sentences.

use crate::common::{Folder, four};
use drystone_cli::library::{CommandFailure, LibraryComparison, LibraryRun, WorkloadInput, explain_start};
use std::sync::atomic::AtomicBool;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

fn input(folder: &Folder) -> WorkloadInput {
    WorkloadInput::load(&folder.path("log.swf"), &[], false).expect("a log").what
}

#[test]
fn a_run_in_memory_writes_what_the_command_writes() {
    let folder = Folder::new();
    let generate = ["workload", "generate", "--procs", "64", "--jobs", "400", "--load", "0.9", "--out", "log.swf"];
    folder.run(&generate).ok();
    let input = input(&folder);
    let never = AtomicBool::new(false);
    for policy in ["easy++", "conservative", "ss"] {
        let run =
            LibraryRun::from_input(&input, &words(&["--policy", policy]), &never).expect("sound").expect("whole").what;
        for ending in ["csv", "swf.zst", "parquet", "batsim.csv"] {
            run.write_schedule(&input, &folder.path(&format!("ours.{ending}"))).expect("written");
            let copy = format!("theirs.{ending}");
            folder.run(&["run", "-w", "log.swf", "-p", policy, "--jobs", &copy]).ok();
            let bytes = |name: &str| std::fs::read(folder.path(name)).expect(name);
            assert!(bytes(&format!("ours.{ending}")) == bytes(&copy), "{policy}, {ending}");
        }
        assert_eq!(run.rows().len(), 400);
    }
    let options = words(&["--policy=easy", "--policy=fcfs", "--confidence=0.9"]);
    let comparison = LibraryComparison::from_input(&input, &options, &never).expect("sound").expect("whole").what;
    let text = folder.run(&[
        "compare",
        "-w",
        "log.swf",
        "-p",
        "easy",
        "-p",
        "fcfs",
        "--confidence",
        "0.9",
        "--format",
        "json",
    ]);
    assert_eq!(comparison.results().expect("results").data, text.json());
}

#[test]
fn what_a_command_would_say_comes_back() {
    let folder = Folder::with("log.swf", four());
    let outcome = WorkloadInput::load(&folder.path("log.swf"), &[], false).expect("a log");
    let messages: Vec<&String> = outcome.messages.iter().collect();
    let command = folder.run(&["run", "-w", "log.swf", "-p", "easy"]).err;
    assert!(
        messages.iter().all(|message| command.contains(message.split(": ").last().unwrap_or("?"))),
        "{messages:?} {command}"
    );
    let input = outcome.what;
    let story = explain_start(&input, &words(&["--policy=easy", "--job=1"])).expect("a story").what;
    assert!(story.0.contains("job 1") && story.1.starts_with('{'), "{}", story.0);
}

#[test]
fn failures_know_their_reasons() {
    let folder = Folder::with("log.swf", four() + "5 x\n");
    let failure = WorkloadInput::load(&folder.path("log.swf"), &[], false).expect_err("malformed");
    let error = failure.find_error::<drystone::log::LogError>().expect("an error of a log");
    assert!(error.place().line.is_some() && failure.message().contains("log.swf"), "{error}");
    let folder = Folder::with("log.swf", four());
    let never = AtomicBool::new(false);
    let fails = |options: &[&str]| -> CommandFailure {
        LibraryRun::from_input(&input(&folder), &words(options), &never).err().expect("wrong options")
    };
    assert!(fails(&["--policy=esy"]).message().contains("Did you mean `easy`?"));
    assert!(fails(&["--policy=easy", "--trim=never"]).message().contains("--trim"));
    assert_eq!(fails(&["--policy=easy", "--nonsense"]).exit_code(), 2);
    // Told to stop, it answers nothing.
    let at_once = AtomicBool::new(true);
    assert!(LibraryRun::from_input(&input(&folder), &words(&["--policy=easy"]), &at_once).expect("sound").is_none());
}
