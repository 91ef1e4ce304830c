//! The commands that tutorials show, run as a reader would run them.

use crate::common::Folder;
use std::path::{Path, PathBuf};

/// Commands that need what a test has not, with what that is.
const NOT_HERE: [(&str, &str); 14] = [
    ("curl ", "a network"),
    ("drystone live ", "Slurm; the tests `live` try it"),
    ("drystone when --state now", "Slurm; `when` tries it on texts of one"),
    ("drystone reproduce ", "published logs"),
    ("cargo ", "a Rust toolchain"),
    ("drystone workload convert jobs.json", "a workload of ElastiSim; `shapes` tries it"),
    ("drystone sweep slurm ", "Slurm; the tests `live` try it"),
    ("drystone sweep recipe parallel ", "GNU parallel; `cluster` tries it"),
    ("drystone sweep gather ", "tasks; `cluster` tries it"),
    ("drystone sweep status study.db --follow", "tasks; `cluster` tries it"),
    ("drystone sweep rank study.db                 #", "results that tasks gathered; `cluster` tries it"),
    ("drystone sweep studies/", "published logs"),
    ("drystone sweep rank section7.db", "published logs"),
    ("drystone sweep table windows.db", "published logs"),
];

/// The documents, by their path in the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn page(name: &str) -> (PathBuf, String) {
    let path = root().join(format!("docs/start/{name}.md"));
    let text = read(&path);
    (path, text)
}

fn is_not_here(line: &str) -> bool {
    NOT_HERE.iter().any(|(begin, _)| line.starts_with(begin))
}

/// The fenced blocks of a page: language and lines.
fn blocks(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, Vec<&str>)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(language), None) => open = Some((language, Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// Runs a line by a shell in which `drystone` is the program under test.
fn run(folder: &Folder, line: &str) -> std::process::Output {
    let program = Path::new(env!("CARGO_BIN_EXE_drystone")).parent().expect("a directory").to_owned();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    std::process::Command::new("sh")
        .args(["-ec", line])
        .current_dir(folder.path(""))
        .env("PATH", path)
        .env("COLUMNS", "80")
        .output()
        .expect("a shell")
}

/// Checks that a page shows what the command before it prints; a line `…` stands for any number of
/// lines. With `INSTA_UPDATE=always` a page without such lines is corrected.
fn shows(path: &Path, page_text: &str, output: &str) {
    let parts: Vec<&str> = page_text.split("…").map(|part| part.trim_matches('\n')).collect();
    if let [whole] = parts[..] {
        if whole != output && std::env::var("INSTA_UPDATE").is_ok_and(|mode| mode == "always") {
            std::fs::write(path, read(path).replace(whole, output)).expect("the page is written");
            return;
        }
        assert_eq!(whole, output, "{}: the page shows another output", path.display());
        return;
    }
    let mut rest = output;
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        let Some(at) = rest.find(part) else {
            panic!("{}: not in what is printed:\n{part}\n--- printed:\n{output}", path.display());
        };
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn every_command_for_administrators_runs() {
    tutorial("administrator");
}

#[test]
fn every_command_of_the_way_to_the_boss_runs() {
    tutorial("../administrator");
}

#[test]
fn every_command_on_accounting_runs() {
    tutorial("accounting");
}

#[test]
fn every_command_on_changes_runs() {
    tutorial("changes");
}

#[test]
fn every_command_on_gpus_runs() {
    tutorial("gpus");
}

#[test]
fn every_command_for_researchers_runs() {
    tutorial("researcher");
}

#[test]
fn every_command_for_authors_runs() {
    tutorial("author");
}

/// Runs the commands of a page from the first to the last in one folder.
fn tutorial(name: &str) {
    let (path, text) = page(name);
    let folder = Folder::new();
    // Outputs of the page on accounting are those of a recorded workload, of two others those
    // of a published log.
    let has_log = match name {
        "accounting" => recorded_site(&folder),
        "administrator" | "researcher" => published_log(&folder),
        "changes" => published_log(&folder) && recorded_site(&folder),
        _ => true,
    };
    if !has_log {
        site(&folder);
        // Under the name that the recorded machine gives to its partition.
        let conf = folder.read("slurm.conf").replace("PartitionName=p ", "PartitionName=epyc-64 ");
        folder.write("slurm.conf", conf);
    }
    let mut ran = 0;
    // The output of the block before this one, if its last command was run.
    let mut last_output: Option<String> = None;
    for (language, lines) in blocks(&text) {
        let is_file = ["toml", "awk", "ini"].contains(&language);
        if let Some(file) = lines.first().and_then(|l| l.strip_prefix("# ")).filter(|_| is_file) {
            folder.write(file, lines.join("\n"));
        }
        if let Some(output) = last_output.take().filter(|_| language == "text" && has_log) {
            shows(&path, &lines.join("\n"), output.trim_end());
        }
        if language != "sh" {
            continue;
        }
        for line in lines.iter() {
            last_output = None;
            if is_not_here(line) {
                continue;
            }
            let output = run(&folder, line);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: `{line}`\n{errors}", path.display());
            last_output = Some(String::from_utf8_lossy(&output.stdout).into_owned());
            ran += 1;
        }
    }
    assert!(ran >= 2, "{}: {ran} commands ran", path.display());
}

/// Files used by the commands of a page: a log in which job 4711 waits, under every name that pages
/// use, a study, a configuration.
fn fixtures() -> Folder {
    let folder = Folder::new();
    let args =
        ["workload", "generate", "--procs", "64", "--jobs", "400", "--load", "0.95", "--quiet", "--out", "made.swf"];
    folder.run(&args).ok();
    let renumber = |line: &str| match line.trim_start().split_once(char::is_whitespace) {
        Some((number, rest)) if !line.starts_with(';') => {
            let number: i64 = number.parse().expect("a number");
            format!("{} {rest}\n", number + 4_500)
        }
        _ => format!("{line}\n"),
    };
    folder.write("log.swf", folder.read("made.swf").lines().map(renumber).collect::<String>());
    for name in ["LOG.swf.gz", LOG] {
        folder.run(&["workload", "convert", "log.swf", "--out", name, "--quiet"]).ok();
    }
    site(&folder);
    folder.write("circumstances.csv", "job,eligible,after\n4511,90000,\n4512,,4511\n");
    let study = "metrics = [\"wait_mean\", \"bounded_slowdown_mean\", \"bounded_slowdown_max\"]\n[[workload]]\n\
                 file = \"LOG.swf.gz\"\n[[policy]]\npolicy = \"easy(predict=recent({size},window={window}))\"\n\
                 [policy.parameters]\nsize = [1, 2]\nwindow = [\"all\", \"immediate\"]\n";
    folder.write("study.toml", study);
    folder.write("demands.csv", "job,gpu,mem,license:solver\ntotal,8,1TB,2\n1,2,64GB,\n4,,500MB,1\n");
    let licensed =
        "; MaxProcs: 8\n1 0 -1 90 1 -1 -1 1 90 -1 1 1 -1 -1 1 1 -1 -1\n2 5 -1 60 1 -1 -1 1 60 -1 1 2 -1 -1 1 2 -1 -1\n";
    folder.write("licences.swf", licensed);
    folder.write("asks.csv", "job,license:cad\ntotal,4\n1,2\n2,3\n");
    folder.write("supply.csv", "resource,from,amount,announced\nlicense:cad,100,2,0\nlicense:cad,200,4,0\n");
    let job = |number: i64, memory: i64| format!("{number} 0 -1 9 1 -1 -1 1 9 {memory} 1 1 -1 -1 1 1 -1 -1\n");
    folder.write("nodes.csv", "nodes,cores,mem,gpu:a100\n1,2,6GB,\n1,2,6GB,1\n");
    folder.write("memory.swf", format!("; MaxProcs: 4\n{}{}", job(1, 1 << 20), job(2, -1)));
    folder
}

/// The log that pages are about.
const LOG: &str = "KTH-SP2-1996-2.1-cln.swf.gz";

/// Adds the log that pages are about, or another under its name. Returns whether it is the log.
fn published_log(folder: &Folder) -> bool {
    match crate::common::shared(&format!("traces/{LOG}")) {
        Some(log) => run(folder, &format!("cp '{}' {LOG}", log.display())).status.success(),
        None => {
            let small =
                ["workload", "generate", "--procs", "100", "--jobs", "6000", "--load", "0.9", "--quiet", "--out", LOG];
            folder.run(&small).ok();
            false
        }
    }
}

/// Adds the accounting and the `slurm.conf` of a workload that was run through Slurm. Returns
/// whether it is here.
fn recorded_site(folder: &Folder) -> bool {
    let files = ["accounting/simulated-by-slurm/usc-job1.sacct.gz", "accounting/machine/usc-epyc.slurm.conf"];
    let [Some(jobs), Some(conf)] = files.map(crate::common::shared) else { return false };
    let line = format!("gzip -dc '{}' > jobs.psv; cp '{}' slurm.conf", jobs.display(), conf.display());
    run(folder, &line).status.success()
}

/// Adds the files of a site.
fn site(folder: &Folder) {
    folder.write("jobs.psv", accounting());
    folder.write("slurm.conf", "ClusterName=c\nNodeName=n[1-16] CPUs=4\nPartitionName=p Nodes=ALL Default=YES\n");
    folder.write("assoc.txt", "Account|User|ParentName|Share\nroot|||1\na||root|1\na|u0||1\n");
    folder.write(
        "qos.txt",
        "Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageFactor\nnormal|0|00:00:00||cluster||1.000000\n",
    );
    folder.write(
        "events.psv",
        "Cluster|NodeName|TimeStart|TimeEnd|State|Reason\nc|n16|1700000000|1700003600|DOWN|a fan\n",
    );
    folder.write(
        "sdiag.txt",
        "Backfilling stats\n\tTotal cycles: 100\n\tMean cycle: 60000\n\tDepth Mean (try depth): 100\n",
    );
}

/// Sixty hours of a site, as `sacct --parsable2` prints them: a job an hour on half of the machine,
/// for three hours.
fn accounting() -> String {
    let head = "JobIDRaw|User|Partition|Submit|Eligible|Start|End|State|TimelimitRaw|AllocCPUS\n";
    let begin = 1_700_000_000;
    let row = |i: i64| {
        let (submit, start) = (begin + i * 3_600, begin + i * 5_400);
        format!("{i}|u{}|p|{submit}|{submit}|{start}|{}|COMPLETED|240|32\n", i % 3, start + 10_800)
    };
    (1..60).map(row).fold(head.to_string(), |text, row| text + &row)
}

/// The commands of a block: lines that begin with the program, with those that continue them, and
/// files that are written as here-documents or by a group.
fn commands(lines: &[&str]) -> Vec<String> {
    let mut command_lines: Vec<String> = Vec::new();
    let (mut open, mut file) = (false, false);
    for line in lines {
        if file || (line.starts_with("cat > ") && line.ends_with("<<END")) || line.starts_with("{ ") {
            match (file, command_lines.last_mut()) {
                (true, Some(last)) => last.push_str(&format!("\n{line}")),
                _ => command_lines.push((*line).to_string()),
            }
            file = *line != "END" && !line.contains("} > ");
            continue;
        }
        match (open, command_lines.last_mut()) {
            (true, Some(last)) => last.push_str(&format!("\n{line}")),
            // A line of facts in shown output names the version.
            _ if line.starts_with("drystone ") && !line.starts_with("drystone  ") => {
                command_lines.push((*line).to_string())
            }
            _ => continue,
        }
        open = line.ends_with('|') || line.ends_with('\\');
    }
    command_lines
}

/// Every command that a document shows does what it is said to do, on a small log: a page that is
/// out of date fails here.
#[test]
fn every_command_of_a_document_runs() {
    let mut pages: Vec<PathBuf> = std::fs::read_dir(root().join("docs"))
        .expect("documents")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .chain([root().join("README.md"), root().join("CONTRIBUTING.md")])
        .collect();
    pages.sort();
    let fixtures = fixtures();
    let jq = std::process::Command::new("jq").arg("--version").output().is_ok();
    let mut ran = 0;
    for path in pages {
        let text = read(&path);
        let lines_to_run: Vec<String> = blocks(&text)
            .iter()
            .filter(|(language, _)| ["sh", "text"].contains(language))
            .flat_map(|(_, lines)| commands(lines))
            .filter(|line| !is_not_here(line) && (jq || !line.contains("jq ")))
            .collect();
        if lines_to_run.is_empty() {
            continue;
        }
        let folder = Folder::new();
        for name in fixtures.names() {
            std::fs::copy(fixtures.path(&name), folder.path(&name)).expect("copied");
        }
        // A file that the page shows is the one that its commands take.
        for (language, lines) in blocks(&text) {
            if let Some(file) = lines.first().and_then(|l| l.strip_prefix("# ")).filter(|_| language == "toml")
                && Path::new(file).extension().is_some_and(|ending| ending == "toml")
            {
                folder.write(file, lines.join("\n"));
            }
        }
        for line in lines_to_run {
            let output = run(&folder, &line);
            let errors = String::from_utf8_lossy(&output.stderr);
            let advice = "fix the page; what a test cannot have is in NOT_HERE, with the reason";
            assert!(output.status.success(), "{}: `{line}`: {advice}\n{errors}", path.display());
            ran += 1;
        }
    }
    assert!(ran > 30, "{ran} commands ran");
}
