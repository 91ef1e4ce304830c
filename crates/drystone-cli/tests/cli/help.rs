//! Help, for every command, with examples.

use crate::common::Folder;

const COMMANDS: &[&[&str]] = &[
    &[],
    &["compare"],
    &["run"],
    &["report"],
    &["explain"],
    &["advise"],
    &["whatif"],
    &["evolve"],
    &["gantt"],
    &["headroom"],
    &["reproduce"],
    &["predict"],
    &["foresee"],
    &["when"],
    &["cite"],
    &["policies"],
    &["workload"],
    &["workload", "info"],
    &["workload", "clean"],
    &["workload", "scale"],
    &["workload", "slice"],
    &["workload", "convert"],
    &["workload", "reshape"],
    &["workload", "generate"],
    &["workload", "outages"],
    &["sweep"],
    &["sweep", "status"],
    &["sweep", "resume"],
    &["sweep", "export"],
    &["sweep", "query"],
    &["sweep", "rank"],
    &["sweep", "table"],
    &["sweep", "pareto"],
    &["sweep", "chunk"],
    &["sweep", "headroom"],
    &["sweep", "merge"],
    &["sweep", "slurm"],
    &["sweep", "recipe"],
    &["sweep", "gather"],
    &["sweep", "cancel"],
    &["sweep", "task"],
    &["import"],
    &["fidelity"],
    &["waits"],
    &["serve"],
    &["live"],
    &["live", "shadow"],
    &["live", "drive"],
    &["live", "hand-back"],
    &["live", "status"],
    &["live", "journal"],
    &["live", "journal", "list"],
    &["live", "journal", "show"],
    &["live", "journal", "replay"],
    &["live", "journal", "export"],
    &["live", "report"],
    &["live", "install"],
    &["live", "playground"],
    &["live", "record"],
    &["completions"],
    &["man"],
];

/// A command that is added to the program is added here, and its help is read.
#[test]
fn every_command_is_listed() {
    let folder = Folder::new();
    for above in [&[][..], &["workload"], &["sweep"], &["live"], &["live", "journal"]] {
        let help = folder.run(&[above, &["--help-all"]].concat()).ok();
        // Commands stand two columns from the margin, their description two or more behind them.
        let command_names = help.lines().filter_map(|line| {
            let (name, about) = line.strip_prefix("  ")?.split_once("  ")?;
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            (is_name && name != "help" && !name.starts_with('-') && !about.trim().is_empty()).then_some(name)
        });
        for name in command_names {
            let command = [above, &[name]].concat();
            assert!(COMMANDS.iter().any(|entry| **entry == *command), "{command:?} is missing in COMMANDS");
        }
    }
}

#[test]
fn help_texts() {
    let folder = Folder::new();
    for &command in COMMANDS {
        let help = folder.run(&[command, &["--help"]].concat()).ok();
        assert!(command == ["workload"] || help.contains("Example"), "{command:?} has no example: {help}");
        let name = [&["drystone"], command].concat().join("_");
        insta::assert_snapshot!(name, help);
    }
}

/// Help texts begin with a noun or an imperative, and avoid words that do not read as English.
#[test]
fn help_texts_are_plain() {
    let folder = Folder::new();
    let question = ["What", "How", "Who", "Which", "Whether", "Where", "Why", "When", "Whose", "Those"];
    let words = ["some-body", "no-body", "whoe-ver", " who-m ", "those wh-o", "is to-ld", "are to-ld", "an-ew"];
    for &command in COMMANDS {
        let help = folder.run(&[command, &["--help-all"]].concat()).ok();
        let mut before = "";
        for line in help.lines() {
            // The description of an option stands below it, that of a command or value behind it.
            let has_description = before.trim_start().starts_with('-') || before.is_empty();
            let text = line.trim_start();
            let text = text.split_once("  ").map_or(text, |(_, text)| text.trim_start());
            let asks = question.iter().any(|word| text.split(' ').next() == Some(word));
            assert!(!(has_description && asks), "{command:?}: begins with a question word: {line}");
            let bare_word = words.iter().find(|word| text.contains(&word.replace('-', "")));
            assert_eq!(bare_word, None, "{command:?}: {line}");
            before = line;
        }
    }
}

#[test]
fn short_help_fits_on_a_screen() {
    let folder = Folder::new();
    for &command in COMMANDS {
        let help = folder.run(&[command, &["-h"]].concat()).ok();
        assert!(help.lines().count() <= 50, "{command:?}: {}\n{help}", help.lines().count());
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{command:?}:\n{help}");
    }
}

/// Each line under "Examples" is one command, or ends in a continuation: nothing is wrapped, and
/// nothing breaks when it is pasted.
#[test]
fn examples_can_be_pasted() {
    let folder = Folder::new();
    for &command in COMMANDS {
        let help = folder.run(&[command, &["--help"]].concat()).ok();
        let examples = help.lines().skip_while(|line| !line.starts_with("Example")).skip(1);
        let mut goes_on = false;
        for line in examples.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("  # ")) {
            let begins =
                ["  drystone ", "  zcat ", "  sacct ", "  until drystone "].iter().any(|start| line.starts_with(start));
            assert!(begins != goes_on, "{command:?}: {line}");
            goes_on = line.ends_with(" \\") || line.ends_with(" |");
            let has_explanation = line.split_once("   ").is_some_and(|(_, rest)| !rest.trim_start().starts_with('#'));
            assert!(goes_on || !begins || !has_explanation, "{command:?}: what is no command needs a #: {line}");
        }
        assert!(!goes_on, "{command:?}");
    }
}

#[test]
fn versions_completions_and_pages() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["--version"]).ok(), format!("drystone {}\n", env!("CARGO_PKG_VERSION")));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.run(&["completions", shell]).ok();
        assert!(
            script.contains("drystone") && script.contains("conservative") || script.contains("kettimuthu2005"),
            "{shell}"
        );
    }
    assert!(folder.run(&["man"]).ok().contains(".TH drystone 1"));
    folder.run(&["man", "--dir", "pages"]).ok();
    let page = folder.read("pages/drystone-workload-info.1");
    assert!(page.contains("drystone workload info"), "{page}");
}

#[test]
fn policies_are_listed_with_all_there_is_to_know() {
    let folder = Folder::new();
    let details = folder.run(&["policies", "--details"]).ok();
    let names = folder.run(&["policies"]).ok();
    assert!(names.lines().all(|line| line.chars().count() <= 80), "{names}");
    assert!(drystone::policy::policy_kinds().iter().all(|kind| names.contains(kind.name)), "{names}");
    for kind in drystone::policy::policy_kinds() {
        assert!(
            details.contains(kind.name) && details.contains(kind.summary) && details.contains(kind.source),
            "{}",
            kind.name
        );
        let short = folder.run(&["policies", kind.name]).ok();
        assert!(short.contains(kind.name), "{short}");
        let text = folder.run(&["policies", kind.name, "--details"]).ok();
        for param in kind.params.iter().chain(drystone::policy::COMMON) {
            assert!(
                text.contains(param.name) && text.contains(param.meaning) && text.contains(&param.describe_values()),
                "{}",
                param.name
            );
        }
    }
    let families = folder.run(&["policies", "--certified"]).ok();
    assert!(families.contains("easy@tsafrir2007") && !families.contains("fcfs"), "{families}");
    // Each with the published tables that check it.
    let line = families.lines().find(|l| l.starts_with("slack@talby1999 ") && l.contains("talby-1999:"));
    assert!(line.is_some_and(|l| l.contains("1, 2, 3")), "{families}");
    // A short name and a policy with parameters find their family.
    assert!(folder.run(&["policies", "easy-sjbf"]).ok().starts_with("easy:"));
}
