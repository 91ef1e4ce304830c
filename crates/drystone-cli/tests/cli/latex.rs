//! Tables of LaTeX, set by a real TeX in a plain `article`.
//!
//! Without `pdflatex` the test says so and passes; with `DRYSTONE_TEX_REQUIRED` set, as in
//! `.ci/run`, it fails.

use crate::common::Folder;
use std::process::{Command, Stdio};

const ARTICLE: &str = "\\documentclass{article}\n\\begin{document}\n\\input{t}\n\\end{document}\n";

/// Returns TeX's log of the article, or nothing without a TeX.
fn set_article(folder: &Folder) -> Option<String> {
    let mut tex = Command::new("pdflatex");
    tex.args(["-interaction=nonstopmode", "article.tex"]).current_dir(folder.path("."));
    let output = match tex.stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(error) => {
            assert!(
                std::env::var_os("DRYSTONE_TEX_REQUIRED").is_none(),
                "no pdflatex ({error}), and DRYSTONE_TEX_REQUIRED is set"
            );
            eprintln!("SKIPPED, not tested: there is no pdflatex");
            return None;
        }
    };
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// No error of TeX and no line beyond the margin: a log with names that LaTeX does not take as they
/// are, policies with long names, many columns.
#[test]
fn tables_of_papers_compile_in_a_plain_article() {
    let folder = Folder::with("a_b & 50%.swf", crate::common::four());
    folder.write("article.tex", ARTICLE);
    let long = "easy++(predict=recent(3,window=immediate),order=lxf)";
    folder.write(
        "study.toml",
        "windows = { jobs = 60, count = 5 }\nmetrics = [\"wait_mean\", \"bounded_slowdown_mean\", \"utilisation\"]\n[[workload]]\n\
         name = \"made_up & 5%\"\ngenerate = { procs = 32, jobs = 400, load = 0.9 }\nload = [0.9, 1.0, 1.1]\n[[policy]]\n\
         policy = \"easy(order={order})\"\nparameters = { order = [\"fcfs\", \"sjf\", \"lxf\", \"wfp3\", \"((1+s)/e)^3*n\"] }\n",
    );
    folder.run(&["sweep", "study.toml"]).ok();
    for args in [
        &["sweep", "table", "study.db"][..],
        &["sweep", "table", "study.db", "--by", "metric"],
        &["sweep", "rank", "study.db"],
        &["compare", "--details", "-p", "easy", "-p", long, "-p", "slack"],
        &["compare", "a_b & 50%.swf", "--details", "-p", "fcfs", "-p", "easy"],
        &["predict", "a_b & 50%.swf"],
    ] {
        let quiet: &[&str] = if args[0] == "sweep" { &[] } else { &["--quiet"] };
        let tables = folder.run(&[args, quiet, &["--format", "latex"]].concat()).ok();
        folder.write("t.tex", &tables);
        let Some(log) = set_article(&folder) else { return };
        let wrong: Vec<&str> =
            log.lines().filter(|line| line.starts_with('!') || line.starts_with("Overfull")).collect();
        assert!(wrong.is_empty() && log.contains("Output written"), "{args:?}: {wrong:?}\n{tables}");
    }
}
