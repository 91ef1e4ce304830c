//! `drystone evolve`, and orders by formula as the command line takes them.

use crate::common::{Folder, four};

const SMALL: [&str; 10] =
    ["evolve", "made.swf", "--evaluations", "8", "--population", "4", "--parts", "1", "--weeks", "1"];

#[test]
fn a_search_reports_on_weeks_that_it_has_not_seen_and_goes_on() {
    let folder = Folder::with_made();
    let args = [&SMALL[..], &["--state", "s.json", "--format", "json", "--quiet"]].concat();
    let result = folder.run(&args).json();
    assert_eq!(result["schema"], "drystone/evolve/1");
    let log = &result["logs"][0];
    assert_eq!(log["seen_weeks"], 1);
    assert!(log["unseen_weeks"].as_u64().is_some_and(|weeks| weeks > 5));
    let names: Vec<&str> =
        log["verdicts"].as_array().expect("some").iter().filter_map(|v| v["name"].as_str()).collect();
    for name in ["fcfs", "f1", "f4", "wfp3", "evolved", "best at random", "clairvoyant sjf"] {
        assert!(names.contains(&name), "{names:?}");
    }
    // Found already: the same command has nothing to search for any more, and says the same.
    assert_eq!(folder.run(&args).json(), result);
    let error = folder.run(&[&args[..], &["--seed", "2"]].concat()).fails(2);
    assert!(error.contains("of another search"), "{error}");
}

/// The text says of each order that is better on unseen weeks than what was found, and of a guard
/// that is broken there.
#[test]
fn what_does_not_hold_on_unseen_weeks_is_said() {
    let folder = Folder::with_made();
    let args = [&SMALL[..], &["--guard", "wait_max<=1*fcfs", "--quiet"]].concat();
    let result = folder.run(&[&args[..], &["--format", "json"]].concat()).json();
    let text = folder.run(&args).ok().split_whitespace().collect::<Vec<_>>().join(" ");
    let log = &result["logs"][0];
    let verdicts = log["verdicts"].as_array().expect("some");
    let best = verdicts.iter().find(|verdict| verdict["name"] == "evolved").expect("found");
    let unseen = |verdict: &serde_json::Value| verdict["unseen"].as_f64().expect("a number");
    let is_known = |verdict: &&serde_json::Value| {
        verdict["name"].as_str().is_some_and(|name| !name.starts_with("evolved") && !name.starts_with("clairvoyant"))
    };
    let better = verdicts.iter().filter(is_known).any(|verdict| unseen(verdict) < unseen(best));
    assert_eq!(better, text.contains("better there than what was found"), "{text}");
    let is_broken = best["unseen_guarded"].as_f64() > log["unseen_bound"].as_f64();
    assert_eq!(is_broken, text.contains("the guard wait_max<=1*fcfs is broken"), "{text}");
    assert!(better || is_broken, "the case shows something: {result}");
    assert!(!text.contains("--guard 'wait_max"), "a guard was given: {text}");
}

#[test]
fn a_regression_finds_the_published_forms() {
    let args = ["evolve", "--method", "regression", "--tuples", "3", "--trials", "200", "--format", "json", "--quiet"];
    let result = Folder::new().run(&args).json();
    let names: Vec<&str> =
        result["published"].as_array().expect("some").iter().filter_map(|f| f["name"].as_str()).collect();
    assert_eq!(names, ["F1", "F2", "F3", "F4"]);
    assert_eq!(result["samples"], 96);
}

#[test]
fn wrong_usage_says_what_is_right() {
    let folder = Folder::with("log.swf", four());
    for (args, part) in [
        (&["evolve", "--policy", "easy"][..], "no `?` in place of the formula"),
        (&["evolve", "--policy", "easy(ordr=?)"], "Did you mean `order`?"),
        (&["evolve", "--objective", "waits_mean"], "no objective"),
        (&["evolve", "--guard", "wait_max<=1.5*esy"], "Did you mean `easy`?"),
        (&["evolve", "--for", "10x"], "such as 10m"),
        (&["evolve", "--workload", "log.swf"], "two parts of 2 weeks"),
    ] {
        let error = folder.run(args).fails(2);
        assert!(error.contains(part), "{args:?}: {error}");
    }
}

/// The caret stands below the character that is wrong.
#[test]
fn wrong_formulas_are_pointed_at() {
    let folder = Folder::with("log.swf", four());
    for (policy, line, caret) in [
        ("easy(order=log10(q)*n)", "  log10(q)*n", "        ^"),
        ("easy(order=\"r*n)\")", "  r*n)", "     ^"),
        ("easy(order=(r*n)", "  easy(order=(r*n)", "             ^"),
        ("easy(backfill=r + wating)", "  r + wating", "      ^"),
        ("easy(order=actual*n)", "  actual*n", "  ^"),
    ] {
        let error = folder.run(&["compare", "-w", "log.swf", "-p", policy]).fails(2);
        let lines: Vec<&str> = error.lines().collect();
        let at = lines.iter().position(|l| *l == line).unwrap_or_else(|| panic!("{policy}: {error}"));
        assert_eq!(lines[at + 1], caret, "{policy}: {error}");
    }
    let long = format!("easy(order={}r)", "r+".repeat(5_000));
    let error = folder.run(&["compare", "-w", "log.swf", "-p", &long]).fails(2);
    assert!(error.contains("at most 4096 are read"), "{}", &error[error.len() - 400..]);
    let clairvoyant = ["compare", "-w", "log.swf", "-p", "easy(order=actual,predict=perfect)", "--quiet"];
    folder.run(&clairvoyant).ok();
}
