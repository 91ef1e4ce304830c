//! Rules of CONTRIBUTING.md that a machine can check, over every file of the project. No file and
//! no line is exempt.

mod circles;
mod code_names;
mod files;
mod lexer;
mod map;
mod names;
mod prose;
mod recipes;
mod templates;

use prose::Finding;

#[test]
fn prose_follows_the_rules_of_contributing() {
    let mut findings: Vec<Finding> = Vec::new();
    let source_files = files::all();
    assert!(source_files.len() > 500, "only {} files: the tree is not where the test looks for it", source_files.len());
    for file in &source_files {
        prose::check(file, &mut findings);
    }
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{} places break a rule of CONTRIBUTING.md:\n{}", findings.len(), lines.join("\n"));
}

/// Each rule finds a sentence that breaks it, and nothing in one that keeps it.
#[test]
fn each_rule_can_fail() {
    let cases: [(&str, &str, &[&str]); 25] = [
        ("a.rs", "/// Whe·re the log is.\nfn a() {}\n", &["question word"]),
        ("a.rs", "/// Path of the log.\nfn a() {}\n", &[]),
        ("a.rs", "/// Path.\n///\n/// Ho·w it is read.\nfn a() {}\n", &["question word"]),
        ("a.rs", "/// On whi·ch node.\nfn a() {}\n", &["question word"]),
        ("a.rs", "/// On the node.\nfn a() {}\n", &[]),
        ("a.rs", "/// The path, and\n/// how it is read.\nfn a() {}\n", &[]),
        ("a.rs", "/// # Errors\n/// Wha·t is wrong.\nfn a() {}\n", &["question word"]),
        ("a.rs", "/// Ans·wers the path.\nfn a() {}\n", &["Answers"]),
        ("a.rs", "/// Reads it. Ans·wers the path.\nfn a() {}\n", &["Answers"]),
        ("a.rs", "/// Ans·wers to a question.\nfn a() {}\n", &[]),
        ("a.rs", "/// The sa·me from bytes.\nfn a() {}\n", &["same"]),
        ("a.rs", "// Some·body waits.\n", &["person"]),
        ("a.rs", "fn a() { b(); } // a job wh·o waits\n", &["person"]),
        ("a.rs", "// Users who have jobs, people who decide.\n", &[]),
        ("a.rs", "// It i·s told the end, and is begun ane·w.\n", &["told", "again"]),
        ("a.rs", "// It waits, to·o.\n", &["too"]),
        ("a.rs", "// Too wide, too long; much too wide.\n", &[]),
        ("a.rs", "fn a() { print(\"no·body waits\") }\n", &["person"]),
        ("a.rs", "fn a() { b(r#\"// they are to·ld \"ane·w\"\"#) }\n", &["told", "again"]),
        ("a.rs", "#[arg(help = \"Wha·t parts the columns\")]\n", &["question word"]),
        ("a.rs", "const A: &str = \"Which column?\"; const B: &str = \"https://a.b\";\n", &[]),
        ("a.md", "A job waits, to·o.\n\n```text\nand is begun\n```\n", &["too"]),
        ("a.md", "Never `some·body`.\n", &[]),
        ("a.py", "def a():\n    \"\"\"Wha·t it shows.\"\"\"\n", &["question word"]),
        ("a.toml", "# Whoe·ver waits.\na = 1\n", &["person"]),
    ];
    for (name, text, target) in cases {
        let text = text.replace('·', "");
        let mut findings = Vec::new();
        prose::check(&files::SourceFile { path: name.into(), text: text.clone() }, &mut findings);
        let rules: Vec<&str> = findings.iter().map(|f| f.rule.name).collect();
        assert_eq!(rules, target, "{text}");
    }
    let long = format!("// {}\n", "word ".repeat(25));
    let mut findings = Vec::new();
    prose::check(&files::SourceFile { path: "a.rs".into(), text: long }, &mut findings);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].rule.name, "columns");
}
