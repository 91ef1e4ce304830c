//! The rules of CONTRIBUTING.md on prose.

use crate::files::SourceFile;
use crate::lexer::{Kind, Piece, pieces};
use std::fmt;

/// Rule of CONTRIBUTING.md.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub name: &'static str,
    number: u32,
    advice: &'static str,
}

/// A place that breaks a rule.
#[derive(Debug)]
pub(crate) struct Finding {
    pub rule: &'static Rule,
    path: String,
    line: usize,
    text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rule { name, number, advice } = self.rule;
        write!(f, "{}:{}: {name} (rule {number}): {}\n    {advice}", self.path, self.line, self.text)
    }
}

static PERSON: Rule = Rule {
    name: "person",
    number: 2,
    advice: "Name the thing: a job that waits, no job, another scheduler, a reader.",
};
static TOLD: Rule = Rule { name: "told", number: 3, advice: "Use receives, learns, is reported, is announced." };
static ANEW: Rule = Rule { name: "again", number: 3, advice: "Use again, or a verb with re-." };
static TOO: Rule = Rule { name: "too", number: 3, advice: "Put also before the verb, or as well behind it." };
static QUESTION: Rule = Rule {
    name: "question word",
    number: 8,
    advice: "Begin with a noun or a verb: Number of jobs, Path of the log, Returns whether it fits, Print the status.",
};
static ANSWERS: Rule = Rule { name: "Answers", number: 8, advice: "Write Returns." };
static SAME: Rule = Rule { name: "same", number: 8, advice: "Say what it is, then the difference." };
static COLUMNS: Rule = Rule { name: "columns", number: 11, advice: "Wrap the comment at 100 columns." };

/// Width of a comment line.
const WIDTH: usize = 100;

/// Words that begin no doc comment and no help text.
const QUESTIONS: [&str; 8] = ["What", "How", "Who", "Whose", "Which", "Whether", "Where", "Why"];

/// Words before a question word that make a question of it: for how long, on which node.
const PREPOSITIONS: [&str; 11] = ["At", "By", "For", "From", "In", "Of", "On", "Since", "To", "Until", "With"];

/// Pronouns for people. A dot keeps the list itself from being found.
const PEOPLE: [&str; 6] = ["some.body", "no.body", "whoe.ver", "who.m", "every.body", "any.body"];

/// Nouns for people, which may be followed by a relative clause.
const NOUNS: [&str; 20] = [
    "user",
    "users",
    "people",
    "person",
    "administrator",
    "administrators",
    "operator",
    "operators",
    "author",
    "authors",
    "reader",
    "readers",
    "researcher",
    "researchers",
    "manager",
    "managers",
    "sites",
    "owner",
    "owners",
    "anyone",
];

/// Adds the places of a file that break a rule.
pub(crate) fn check(file: &SourceFile, findings: &mut Vec<Finding>) {
    let ending = file.path.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending {
        "rs" => rust(file, findings),
        "py" | "pyi" => python(file, findings),
        _ => plain(file, findings),
    }
}

fn rust(file: &SourceFile, findings: &mut Vec<Finding>) {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut in_fence = false;
    let mut before: Option<&Piece> = None;
    let piece_list = pieces(&file.text);
    for piece in &piece_list {
        let code = lines.get(piece.line - 1).copied().unwrap_or("");
        match piece.kind {
            Kind::Doc => {
                let goes_on = before.is_some_and(|b| b.kind == Kind::Doc && b.line + 1 == piece.line);
                in_fence = in_fence && goes_on;
                if piece.text.trim_start().starts_with("```") {
                    in_fence = !in_fence;
                } else if !in_fence {
                    let starts = !goes_on || before.is_some_and(|b| ends_paragraph(&b.text));
                    if starts {
                        opening(file, piece.line, piece.text.trim_start_matches(['-', '*', ' ']), findings);
                    } else {
                        let verb = piece.text.split(". ").any(answers);
                        add_if(verb, &ANSWERS, file, piece.line, &piece.text, findings);
                    }
                    words(file, piece.line, &without_code(&piece.text), findings);
                }
                columns(file, piece, code, in_fence, findings);
            }
            Kind::Comment => {
                words(file, piece.line, &without_code(&piece.text), findings);
                columns(file, piece, code, false, findings);
            }
            Kind::Text => {
                for (at, line) in piece.text.lines().enumerate() {
                    words(file, piece.line + at, line, findings);
                }
                add_if(is_clause(file, &piece.text), &QUESTION, file, piece.line, &piece.text, findings);
            }
        }
        before = Some(piece);
    }
}

/// Returns whether a string is a clause such as the meaning of a parameter, not a word, a question,
/// or part of a longer sentence. Tests look for parts of messages, which may begin with any word.
fn is_clause(file: &SourceFile, text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or("");
    let small = ["what", "how", "whether", "which", "why"].contains(&first) && !file.path.contains("tests/");
    let asks = QUESTIONS.contains(&first) || small;
    asks && text.split_whitespace().count() > 2 && !text.contains('?') && !text.starts_with("how to ")
}

/// Returns whether a paragraph begins behind this line: a blank one, a heading, the end of code.
fn ends_paragraph(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#') || line.starts_with("```")
}

/// Checks the first words of a doc comment, a docstring or a help text.
fn opening(file: &SourceFile, line: usize, text: &str, findings: &mut Vec<Finding>) {
    let text = text.trim_start_matches(|c: char| "#*- ".contains(c));
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let asks = QUESTIONS.contains(&first) || text.starts_with("When ");
    let is_inversion = PREPOSITIONS.contains(&first) && QUESTIONS.iter().any(|word| word.eq_ignore_ascii_case(second));
    add_if(asks || is_inversion, &QUESTION, file, line, text, findings);
    add_if(text.split(". ").any(answers), &ANSWERS, file, line, text, findings);
    add_if(text.starts_with("The same") && file.path.ends_with(".rs"), &SAME, file, line, text, findings);
}

/// Returns whether a sentence begins with `Answers` as a verb, not as the noun.
fn answers(sentence: &str) -> bool {
    const BEHIND_A_NOUN: [&str; 10] = ["are", "as", "at", "by", "for", "from", "in", "of", "that", "to"];
    let behind = sentence.strip_prefix("Answers ").and_then(|rest| rest.split(' ').next());
    behind.is_some_and(|word| !BEHIND_A_NOUN.contains(&word))
}

/// Checks the words of a line.
fn words(file: &SourceFile, line: usize, text: &str, findings: &mut Vec<Finding>) {
    let lower = text.to_lowercase();
    let all: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && !"'_".contains(c)).filter(|w| !w.is_empty()).collect();
    let pronoun = all.iter().any(|word| PEOPLE.iter().any(|pronoun| pronoun.replace('.', "") == *word));
    let clause = all.windows(2).any(|pair| {
        let headless = !NOUNS.contains(&pair[0]) && pair[1] == "who";
        headless && relates(&lower, pair[0])
    });
    add_if(pronoun || clause, &PERSON, file, line, text, findings);
    let is_passive = all.windows(2).any(|pair| {
        pair[1] == "told" && ["is", "are", "was", "were", "be", "been", "being", "not", "also"].contains(&pair[0])
    });
    add_if(is_passive, &TOLD, file, line, text, findings);
    add_if(all.contains(&concat!("an", "ew")), &ANEW, file, line, text, findings);
    let too = lower.match_indices(concat!(", ", "too")).any(|(at, _)| {
        let behind = &lower[at + 5..];
        behind.is_empty() || behind.starts_with(['.', ',', ';', ':', ')', '!']) || behind.starts_with(" |")
    });
    add_if(too, &TOO, file, line, text, findings);
}

/// Returns whether `who` behind this word begins a clause about a thing.
fn relates(lower: &str, word: &str) -> bool {
    const THINGS: [&str; 24] = [
        "job",
        "jobs",
        "those",
        "one",
        "ones",
        "policy",
        "policies",
        "scheduler",
        "schedulers",
        "daemon",
        "newcomer",
        "newcomers",
        "head",
        "pivot",
        "all",
        "others",
        "other",
        "task",
        "tasks",
        "node",
        "nodes",
        "process",
        "he",
        "queue",
    ];
    THINGS.contains(&word) && lower.contains(&format!("{word} who"))
}

/// Checks the width of a line that is only a comment and can be wrapped.
fn columns(file: &SourceFile, piece: &Piece, code: &str, in_fence: bool, findings: &mut Vec<Finding>) {
    let alone = code.trim_start().starts_with("//");
    let table = piece.text.starts_with('|');
    let breakable = piece.text.trim_end().contains(' ');
    let wide = code.chars().count() > WIDTH && alone && breakable && !table && !in_fence;
    add_if(wide, &COLUMNS, file, piece.line, &piece.text, findings);
}

fn python(file: &SourceFile, findings: &mut Vec<Finding>) {
    let mut lines = file.text.lines().enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        words(file, at + 1, &without_code(line), findings);
        let Some(text) = line.trim_start().strip_prefix("\"\"\"") else { continue };
        let text = if text.is_empty() { lines.peek().map_or("", |(_, next)| next.trim()) } else { text };
        opening(file, at + 1, text, findings);
    }
}

fn plain(file: &SourceFile, findings: &mut Vec<Finding>) {
    for (at, line) in file.text.lines().enumerate() {
        words(file, at + 1, &without_code(line), findings);
    }
}

/// Returns a line without the parts in backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

fn add_if(broken: bool, rule: &'static Rule, file: &SourceFile, line: usize, text: &str, findings: &mut Vec<Finding>) {
    if broken {
        let text = text.lines().next().unwrap_or("").trim().chars().take(120).collect();
        findings.push(Finding { rule, path: file.path.clone(), line, text });
    }
}
