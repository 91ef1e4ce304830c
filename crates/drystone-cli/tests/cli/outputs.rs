//! Written files: whole or absent, no colours in pipes, every result with its inputs.

use crate::common::{Folder, four, holds_while_at_work, line, send};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Stdio;

#[test]
fn no_escape_codes_in_pipes_unless_asked_for() {
    let folder = Folder::with("log.swf", four());
    let args = ["compare", "-w", "log.swf", "-p", "fcfs", "-p", "easy"];
    let plain = folder.run(&args);
    assert!(!plain.out.contains('\x1b') && !plain.err.contains('\x1b'));
    assert!(!folder.run(&["run", "-p", "esy"]).err.contains('\x1b'));
    let colours = folder.run(&[&args[..], &["--color", "always"]].concat()).ok();
    assert!(colours.contains('\x1b'));
    assert!(folder.run(&["--color=always", "run", "-p", "esy"]).err.contains('\x1b'));
    assert!(folder.run(&["--color=always", "run", "-p", "easy", "-w", "nowhere"]).err.contains('\x1b'));
}

/// No file is written twice by one command, or over what it reads; nothing is simulated then, and
/// nothing written.
#[test]
fn every_output_is_a_file_of_its_own() {
    let folder = Folder::with("log.swf", four());
    let run = ["run", "-w", "log.swf", "--policy", "easy"];
    for (args, part) in [
        (&["--jobs", "a.csv", "--segments", "./a.csv"][..], "--segments ./a.csv: --jobs also writes that file"),
        (&["--jobs", "a.csv", "--report", "a.csv.meta.json"], "--report a.csv.meta.json: --jobs also writes that file"),
        (&["--jobs", "log.swf"], "--jobs log.swf: this command reads that file"),
        (&["--audit", "log.swf"], "--audit log.swf: this command reads that file"),
        (&["--jobs", "-", "--weeks", "-"], "--weeks -: --jobs also writes that file"),
    ] {
        let error = folder.run(&[&run[..], args].concat()).fails(2);
        assert!(error.contains(part), "{error}");
    }
    let error = folder.run(&["compare", "-w", "log.swf", "-p", "easy", "--report", "r.md", "--audit", "r.md"]).fails(2);
    assert!(error.contains("--report r.md: --audit also writes that file"), "{error}");
    for args in [
        &["workload", "slice", "log.swf", "--first", "3", "--out", "log.swf"][..],
        &["workload", "scale", "log.swf", "--load", "2", "--out", "./log.swf"],
        &["workload", "convert", "log.swf", "--out", "log.swf"],
        &["workload", "clean", "log.swf", "--out", "log.swf"],
        &["workload", "clean", "log.swf", "--audit", "log.swf", "--out", "x.swf"],
        &["workload", "clean", "log.swf", "--audit", "x.swf", "--out", "x.swf"],
        &["workload", "info", "log.swf", "--audit", "log.swf"],
        &["predict", "log.swf", "--audit", "log.swf"],
        &["predict", "log.swf", "--report", "q.md", "--audit", "q.md"],
        &["gantt", "-w", "log.swf", "-p", "easy", "--out", "o.svg", "--audit", "log.swf"],
        &["explain", "-w", "log.swf", "-p", "easy", "--job", "1", "--audit", "log.swf"],
    ] {
        let error = folder.run(args).fails(2);
        assert!(error.contains("; give another name"), "{args:?}: {error}");
    }
    assert_eq!((folder.names(), folder.read("log.swf")), (vec!["log.swf".to_string()], four()));
    folder.run(&[&run[..], &["--weeks", "/dev/null", "--segments", "/dev/null"]].concat()).ok();
    // A schedule on the standard output is all that is there.
    let schedule = folder.run(&[&run[..], &["--jobs", "-"]].concat());
    assert!(
        schedule.err.contains("--jobs has the standard output, so the results are not printed"),
        "{}",
        schedule.err
    );
    folder.write("schedule.swf", schedule.ok());
    folder.run(&["workload", "info", "schedule.swf"]).ok();
    let error = folder.run(&["report", "log.swf", "--out", "page.pdf"]).fails(2);
    assert!(error.contains("a page is HTML"), "{error}");
}

#[test]
fn a_reader_that_has_seen_enough_is_a_success() {
    let folder = Folder::new();
    for args in [&["workload", "generate"][..], &["compare", "-p", "fcfs", "--format", "json"], &["policies"]] {
        let mut child = folder.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ends");
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error() {
    let folder = Folder::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = folder.command(&["policies"]).stdout(full).stderr(Stdio::piped()).output().expect("runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output: cannot be written"));
    assert_eq!(folder.run(&["workload", "generate", "--jobs", "10", "--out", "/dev/full"]).code, 2);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_half_file() {
    let folder = Folder::new();
    // It waits for its input with the output open.
    let mut child = folder
        .command(&["workload", "convert", "-", "--out", "out.swf"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    assert!(holds_while_at_work(&mut child, || !folder.names().is_empty()), "the output is never opened");
    // `wait` closes an input it still holds, and the end of the input would race with the signal.
    let input = child.stdin.take();
    send(&child, "INT");
    let status = child.wait().expect("ends");
    drop(input);
    assert_eq!(status.code(), Some(130));
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn a_failure_keeps_the_old_file() {
    let folder = Folder::with("log.swf", "; MaxProcs: 4\nno log\n");
    folder.write("out.csv", "old");
    folder.run(&["run", "-p", "easy", "-w", "log.swf", "--jobs", "out.csv"]).fails(2);
    assert_eq!(folder.read("out.csv"), "old");
    assert_eq!(folder.names(), ["log.swf", "out.csv"]);
}

#[test]
fn schedules_say_what_determined_them() {
    let folder = Folder::with("log.swf", format!("; Note: kept\n{}", four()));
    let run = |name: &str| {
        folder.run(&["run", "-p", "easy", "-w", "log.swf", "--quiet", "--jobs", name]).ok();
    };
    run("out.csv");
    let meta: Value = serde_json::from_str(&folder.read("out.csv.meta.json")).expect("JSON");
    assert_eq!(meta["policy"]["text"], "easy");
    assert_eq!(meta["workload"]["name"], "log");
    run("out.swf");
    let log = folder.read("out.swf");
    assert!(log.contains("; Note: kept\n"), "{log}");
    assert!(log.contains("\"hash\":\"blake3:"), "{log}");
    // Job 2 waits from 10 to 100.
    assert!(log.contains("\n    2       10     90     50    4 "), "{log}");
    run("out.parquet");
    let bytes = std::fs::read(folder.path("out.parquet")).expect("written");
    assert_eq!((&bytes[..4], &bytes[bytes.len() - 4..]), (&b"PAR1"[..], &b"PAR1"[..]));
    assert!(String::from_utf8_lossy(&bytes).contains("blake3:"));
    // Where it is one of a part of the log, the times of the whole are notes.
    folder.write("log.swf", format!("; StartTime: then\n; EndTime: later\n{}", four()));
    let part = ["run", "-p", "easy", "-w", "log.swf", "--quiet", "--slice", "5..", "--jobs", "part.swf"];
    folder.run(&part).ok();
    assert!(folder.read("part.swf").starts_with("; StartTime: then\n; Note: EndTime of the whole log: later\n"));
    // A schedule as a log is a log again; each job in it waited as it says.
    let again = folder.run(&["workload", "info", "out.swf", "--format", "json"]).json();
    assert_eq!(again["description"]["jobs"], 4);
}

/// Whatever is written beside a result says the same of its origin.
#[test]
fn what_goes_beside_a_result_says_what_determined_it() {
    let folder = Folder::with("log.swf", four());
    let options = ["-w", "log.swf", "--quiet", "--overrun", "kill", "--policy", "easy"];
    let files = ["--trace", "t.csv", "--weeks", "w.csv", "--segments", "s.csv", "--plots", "plots"];
    let run = folder.run(&[&["run", "--format", "json"], &options[..], &files[..]].concat()).json();
    let settings = |kind: &str, json: &Value| {
        assert_eq!(json["schema"], format!("drystone/{kind}/1"));
        for key in ["drystone", "workload", "experiment"] {
            assert_eq!(json[key], run[key], "{kind}: {key}");
        }
    };
    for (file, kind) in [("t.csv", "trace"), ("w.csv", "weeks"), ("s.csv", "segments")] {
        let meta: Value = serde_json::from_str(&folder.read(&format!("{file}.meta.json"))).expect("JSON");
        settings(kind, &meta);
        assert_eq!(meta["policy"], run["policy"]);
    }
    let metadata = |svg: &str| -> Value {
        let (_, rest) = svg.split_once("<metadata>").expect("metadata");
        let text = rest.split_once("</metadata>").expect("closed").0.replace("&quot;", "\"").replace("&amp;", "&");
        serde_json::from_str(&text).expect("JSON")
    };
    let plot = metadata(&folder.read("plots/utilisation.svg"));
    settings("plots", &plot);
    assert_eq!(plot["policies"], serde_json::json!([run["policy"]]));
    let png = std::fs::read(folder.path("plots/utilisation.png")).expect("written");
    let hash = run["workload"]["hash"].as_str().expect("a hash");
    assert!(String::from_utf8_lossy(&png).contains(hash));
    // A schedule that is drawn says so in its data and in its drawing.
    for name in ["chart.json", "chart.svg"] {
        folder.run(&[&["gantt", "--out", name], &options[..]].concat()).ok();
    }
    let data: Value = serde_json::from_str(&folder.read("chart.json")).expect("JSON");
    settings("schedule", &data["determined"]);
    assert_eq!(data["determined"]["chart"]["colour"], "user");
    assert_eq!(metadata(&folder.read("chart.svg")), data["determined"]);
    // Nothing stands beside the standard output, or what is no file.
    let names = folder.names();
    folder.run(&[&["run", "--trace", "-"], &options[..]].concat()).ok();
    folder.run(&[&["run", "--trace", "/dev/null"], &options[..]].concat()).ok();
    assert_eq!(folder.names(), names);
    let refusal = folder.run(&[&["run", "--trace", "x.csv", "--weeks", "x.csv.meta.json"], &options[..]].concat());
    assert!(refusal.fails(2).contains("--weeks x.csv.meta.json: --trace also writes that file"));
}

#[test]
fn parquet_holds_what_csv_holds() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let folder = Folder::with("log.swf", four());
    for name in ["out.csv", "out.parquet"] {
        folder.run(&["run", "-p", "easy", "-w", "log.swf", "--quiet", "--jobs", name]).ok();
    }
    let file = std::fs::File::open(folder.path("out.parquet")).expect("opens");
    let reader = SerializedFileReader::new(file).expect("is Parquet");
    let csv = folder.read("out.csv");
    let mut lines = csv.lines();
    let columns: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let schema = reader.metadata().file_metadata().schema().clone();
    assert_eq!(schema.get_fields().iter().map(|f| f.name().to_string()).collect::<Vec<_>>(), columns);
    let mut rows = 0;
    for (row, line) in reader.get_row_iter(None).expect("rows").zip(lines) {
        let row = row.expect("a row");
        let values: Vec<String> = row
            .get_column_iter()
            .map(|(_, field)| match field {
                parquet::record::Field::Null => String::new(),
                parquet::record::Field::Bool(b) => u8::from(*b).to_string(),
                parquet::record::Field::Double(d) => d.to_string(),
                parquet::record::Field::Str(text) => text.clone(),
                other => other.to_string(),
            })
            .collect();
        assert_eq!(values.join(","), line);
        rows += 1;
    }
    assert_eq!(rows, 4);
}

#[test]
fn a_report_file_is_what_a_pipe_gets() {
    let folder = Folder::with("log.swf", four());
    for (format, name) in [("json", "r.json"), ("csv", "r.csv"), ("markdown", "r.md"), ("table", "r.txt")] {
        let args = ["compare", "-w", "log.swf", "-p", "fcfs", "-p", "easy", "--format", format, "--report", name];
        assert_eq!(folder.run(&args).ok(), folder.read(name), "{format}");
    }
}

/// All paths of keys in a JSON value; every element of a list counts as one.
fn keys(value: &Value, at: &str, paths: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                keys(value, &format!("{at}.{key}"), paths);
            }
        }
        Value::Array(list) => {
            for value in list {
                keys(value, &format!("{at}[]"), paths);
            }
        }
        _ => {
            paths.insert(at.to_string());
        }
    }
}

#[test]
fn the_schemas_of_json_are_stable() {
    let folder = Folder::with("log.swf", four());
    for (name, args) in [
        ("run", &["run", "-p", "conservative", "-w", "log.swf", "--format", "json", "--as", "talby1999"][..]),
        ("compare", &["compare", "-p", "fcfs", "-p", "easy", "-w", "log.swf", "--format", "json"]),
        ("predict", &["predict", "log.swf", "-p", "recent(2)", "--format", "json"]),
        ("info", &["workload", "info", "log.swf", "--format", "json"]),
        ("policies", &["policies", "--format", "json"]),
        ("explain", &["explain", "-p", "slack", "-j", "3", "-w", "log.swf", "--format", "json"]),
    ] {
        let mut paths = BTreeSet::new();
        keys(&folder.run(args).json(), "", &mut paths);
        insta::assert_snapshot!(format!("schema_{name}"), paths.into_iter().collect::<Vec<_>>().join("\n"));
    }
}

/// A window before or behind the log is an error, not an empty chart.
#[test]
fn a_window_outside_the_log_is_refused() {
    let jobs: String = (1..=4).map(|n| line(n, 10 * n, 30, 1, 60)).collect();
    let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n{jobs}"));
    let gantt = |window| folder.run(&["gantt", "-w", "log.swf", "-p", "easy", "--window", window, "-o", "g.svg"]);
    assert!(
        gantt("90000..99000").fails(2).contains("nothing ran then; jobs are submitted from second 10 to second 40")
    );
    gantt("0..60").ok();
}

/// A table for a paper: every line is one of LaTeX, on the standard output and in a file.
#[test]
fn results_are_tables_of_latex() {
    let folder = Folder::with("log.swf", four());
    let args = ["compare", "log.swf", "-p", "easy", "-p", "fcfs", "--quiet"];
    let latex_text = folder.run(&[&args[..], &["--format", "latex", "--report", "out.tex"]].concat()).ok();
    assert_eq!(latex_text, folder.read("out.tex"));
    assert!(latex_text.contains("\\begin{tabular}{l") && latex_text.contains("\\end{tabular}"), "{latex_text}");
    assert_eq!(latex_text.matches("\\begin{tabular}").count(), latex_text.matches("\\end{tabular}").count());
    let bare = |c: char| latex_text.replace(&format!("\\{c}"), "").contains(c);
    assert!(!bare('%') && !bare('#') && !bare('_'), "{latex_text}");
    // Every cell of the rows in Markdown; a table too wide for a page is divided, and repeats its
    // first column.
    let markdown = folder.run(&[&args[..], &["--format", "markdown"]].concat()).ok();
    let rows: Vec<&str> = markdown.lines().filter(|line| line.starts_with("| easy")).collect();
    let cells = |rows: &[&str], bar: &str| -> Vec<String> {
        let texts = rows.iter().flat_map(|row| row.split(bar).skip(1));
        let plain = |text: &str| {
            text.replace(['*', '$', '\\'], "").replace("textbf{", "").replace('}', "").replace("tabularnewline", "")
        };
        let mut cells: Vec<String> = texts
            .map(|text| plain(text).trim().to_string())
            .filter(|text| !text.is_empty() && text != "easy")
            .collect();
        cells.sort();
        cells
    };
    let latex: Vec<&str> = latex_text.lines().filter(|line| line.starts_with("easy")).collect();
    assert!(latex.len() >= rows.len() && !rows.is_empty(), "{latex_text}");
    assert_eq!(cells(&latex, " & "), cells(&rows, "|"));
}

#[test]
fn the_program_says_how_to_cite_it() {
    let folder = Folder::with("log.swf", four());
    let bibtex = folder.run(&["cite"]).ok();
    let version = folder.run(&["--version"]).ok();
    let version = version.trim().strip_prefix("drystone ").expect("a version");
    assert!(
        bibtex.starts_with("@software{drystone,") && bibtex.contains(&format!("version = {{{version}}}")),
        "{bibtex}"
    );
    assert!(folder.run(&["cite", "--format", "text"]).ok().contains(version));
}
