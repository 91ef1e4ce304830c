//! Names of functions and local variables: a function is named by verb and noun, a local by what it
//! holds.

use crate::files::{self, SourceFile};
use std::collections::BTreeMap;

/// Largest share of functions whose name is one word: constructors, methods of the standard
/// library's traits, getters and common verbs of collections.
const ONE_WORD_SHARE: f64 = 0.15;

/// Largest share of locals that are named by a participle, a pronoun or an adverb.
const VAGUE_SHARE: f64 = 0.003;

/// Words that say nothing of what a function does or a variable holds, beside participles in `ed`.
const VAGUE: [&str; 53] = [
    "told", "found", "said", "gone", "given", "taken", "left", "held", "here", "there", "known", "kept", "seen",
    "done", "made", "put", "got", "met", "sent", "shown", "written", "begun", "drawn", "chosen", "lost", "built",
    "spent", "laid", "thought", "brought", "caught", "felt", "heard", "hung", "stood", "being", "having", "it", "them",
    "they", "these", "those", "this", "that", "all", "both", "one", "ones", "other", "others", "none", "theirs",
    "ours",
];

/// Words in `ed` that are nouns or verbs.
const NO_PARTICIPLES: [&str; 10] =
    ["need", "exceed", "speed", "seed", "feed", "embed", "proceed", "succeed", "deed", "sched"];

/// Counts of names, and the places of the vague ones.
#[derive(Default)]
struct NameCounts {
    functions: usize,
    one_word_functions: BTreeMap<String, usize>,
    locals: usize,
    vague_locals: Vec<String>,
}

fn is_vague(name: &str) -> bool {
    VAGUE.contains(&name) || (name.ends_with("ed") && !name.contains('_') && !NO_PARTICIPLES.contains(&name))
}

/// The identifier with which a text begins.
fn leading_name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The name of the function that a line declares.
fn function_name(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    let rest = match rest.strip_prefix("pub(") {
        Some(scope) => scope.split_once(") ")?.1,
        None => rest.strip_prefix("pub ").unwrap_or(rest),
    };
    let words = ["const ", "async ", "unsafe ", "extern \"C\" "];
    let rest = words.iter().fold(rest, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
    Some(leading_name(rest.strip_prefix("fn ")?))
}

/// Names of the variables that a line binds by `let`, alone or in a tuple.
fn local_names(line: &str) -> Vec<&str> {
    let Some((before, rest)) = line.split_once("let ") else { return Vec::new() };
    if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return Vec::new();
    }
    let parts: Vec<&str> = match rest.strip_prefix('(') {
        Some(tuple) => tuple.split(')').next().unwrap_or_default().split(", ").collect(),
        None => vec![rest],
    };
    let names = parts.into_iter().map(|part| leading_name(part.strip_prefix("mut ").unwrap_or(part)));
    names.filter(|name| name.starts_with(|c: char| c.is_lowercase())).collect()
}

fn count_names(sources: &[SourceFile]) -> NameCounts {
    let mut counts = NameCounts::default();
    for file in sources.iter().filter(|file| crate::names::is_of_a_crate(&file.path)) {
        let lines = file.text.lines().enumerate();
        // Tests stand at the end of a file.
        for (at, line) in lines.take_while(|(_, line)| *line != "#[cfg(test)]") {
            if line.trim_start().starts_with("//") {
                continue;
            }
            if let Some(name) = function_name(line) {
                counts.functions += 1;
                if !name.trim_matches('_').contains('_') {
                    *counts.one_word_functions.entry(name.to_string()).or_default() += 1;
                }
            }
            for name in local_names(line) {
                counts.locals += 1;
                if is_vague(name) {
                    counts.vague_locals.push(format!("{name}: {}:{}", file.path, at + 1));
                }
            }
        }
    }
    counts
}

#[test]
fn functions_have_a_verb_and_a_noun() {
    let counts = count_names(&files::all());
    let one_word: usize = counts.one_word_functions.values().sum();
    let share = one_word as f64 / counts.functions as f64;
    let mut most: Vec<(&String, &usize)> = counts.one_word_functions.iter().collect();
    most.sort_by_key(|(_, number)| std::cmp::Reverse(**number));
    most.truncate(40);
    assert!(
        share <= ONE_WORD_SHARE,
        "{one_word} of {} functions have a name of one word, most often: {most:?}",
        counts.functions
    );
}

#[test]
fn locals_are_named_for_what_they_hold() {
    let counts = count_names(&files::all());
    let share = counts.vague_locals.len() as f64 / counts.locals as f64;
    assert!(
        share <= VAGUE_SHARE,
        "{} of {} locals are participles, pronouns or adverbs:\n{}",
        counts.vague_locals.len(),
        counts.locals,
        counts.vague_locals.join("\n")
    );
}

#[test]
fn one_word_functions_and_vague_locals_are_counted() {
    let text = "pub(crate) const fn place(a: u8) {\n    let (mut told, row) = (1, 2);\n    if let Some(x) = b {}\n}\n\
                    // let found = 1\nfn read_log() {\n    let seed = 1;\n    let sorted =
                    // 2;\n}\n#[cfg(test)]\nfn take() {}\n";
    let counts = count_names(&[SourceFile { path: "crates/a/src/b.rs".into(), text: text.into() }]);
    assert_eq!((counts.functions, counts.locals), (2, 4));
    assert_eq!(counts.one_word_functions, BTreeMap::from([("place".to_string(), 1)]));
    assert_eq!(counts.vague_locals, ["told: crates/a/src/b.rs:2", "sorted: crates/a/src/b.rs:8"]);
}
