//! Output on a terminal, which `script` provides.

use crate::common::{Folder, line};
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The program on a terminal of this many columns, about to run; `None` with a loud line where
/// there is no `script`.
fn terminal(folder: &Folder, columns: usize, args: &[&str]) -> Option<Command> {
    let version = Command::new("script").arg("--version").output();
    if !version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("util-linux")) {
        eprintln!("SKIPPED: there is no `script` of util-linux to lend a terminal");
        return None;
    }
    let quote = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let words: Vec<String> = [env!("CARGO_BIN_EXE_drystone")].iter().chain(args).map(|word| quote(word)).collect();
    let mut command = folder.command(&[]);
    let environment: Vec<_> = command.get_envs().map(|(name, _)| name.to_os_string()).collect();
    command = Command::new("script");
    for name in environment {
        command.env_remove(name);
    }
    command.args(["-qec", &format!("stty cols {columns}; exec {}", words.join(" ")), "/dev/null"]);
    command.env("TERM", "xterm").current_dir(folder.path("")).stdin(Stdio::null()).stdout(Stdio::piped());
    Some(command)
}

/// Returns the screen, without colours.
fn seen(command: &mut Command) -> String {
    let output = command.output().expect("runs");
    let output_text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{output_text}");
    let mut text = String::new();
    for (at, part) in output_text.replace('\r', "").split('\u{1b}').enumerate() {
        text.push_str(if at == 0 { part } else { part.split_once('m').map_or("", |(_, rest)| rest) });
    }
    text.lines().map(|line| line.trim_end().to_string() + "\n").collect()
}

/// Numbers that are too many for the width stand below, whole, and so with and without colours.
#[test]
fn a_table_fits_and_no_number_is_in_pieces() {
    let jobs: String = (0..40).map(|i| line(i + 1, i * 10, 10_000, 3, 20_000)).collect();
    let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n{jobs}"));
    let args = ["compare", "-w", "log.swf", "-p", "fcfs", "-p", "easy", "--details"];
    let Some(mut command) = terminal(&folder, 80, &args) else { return };
    let screen = seen(&mut command);
    let whole = folder.run(&args).ok();
    let figures = whole.lines().find(|line| line.starts_with("fcfs ")).expect("a row");
    assert!(figures.len() > 80 && figures.contains(','), "{figures}");
    for number in figures.split_whitespace() {
        assert!(screen.split_whitespace().any(|word| word == number), "{number} in\n{screen}");
    }
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    assert_eq!(seen(terminal(&folder, 80, &args).expect("as before").env("NO_COLOR", "1")), screen);
}

#[test]
fn a_terminal_that_knows_no_width_has_whole_lines() {
    let folder = Folder::new();
    let Some(mut command) = terminal(&folder, 0, &["policies"]) else { return };
    assert_eq!(seen(&mut command), folder.run(&["policies"]).ok());
}

#[test]
fn the_overview_is_thirty_lines_of_eighty_columns() {
    let folder = Folder::new();
    let fits = |screen: &str, columns: usize, name: &str| {
        let most = columns.min(80);
        assert!(screen.lines().count() <= 30, "{name}:\n{screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= most), "{name}:\n{screen}");
    };
    for columns in [80, 140] {
        let Some(mut command) = terminal(&folder, columns, &["compare", "--quiet"]) else { return };
        let screen = seen(&mut command);
        fits(&screen, columns, "the example");
        assert!(screen.lines().filter(|line| line.contains(" better ")).count() >= 2, "{columns}:\n{screen}");
    }
    let output = folder.run(&["compare", "--all", "--take", "2000", "--quiet"]).ok();
    fits(&output, 80, "every policy");
    assert!(output.contains("more policies: --details") && output.contains("easy (baseline)"), "{output}");
    // Long names make sentences long and rows high.
    let long =
        ["easy(order=sjf,backfill=lxf,predict=double(recent(2)))", "easy(backfill=sjf,predict=recent(2))", "easy++"];
    let short = ["easy", "slack", "multiqueue(bounds=auto,queues=4,history=500)"];
    let policies: Vec<&str> = long.iter().chain(&short).flat_map(|policy| ["-p", policy]).collect();
    let Some(mut command) = terminal(&folder, 80, &[&["compare", "-q", "--take", "4000"], &policies[..]].concat())
    else {
        return;
    };
    fits(&seen(&mut command), 80, "long names");
}

/// Writing to a pipe that is read slowly takes long, and a bar says how far it is; none without a
/// terminal.
#[cfg(unix)]
#[test]
fn writing_that_takes_long_has_a_bar() {
    let folder = Folder::new();
    folder.run(&["workload", "generate", "--jobs", "30000", "--out", "log.swf"]).ok();
    for name in ["out.swf", "out.csv", "schedule.csv", "quiet.swf"] {
        let status = Command::new("mkfifo").arg(folder.path(name)).status().expect("runs");
        assert!(status.success());
    }
    let terminal_text = |args: &[&str], name: &str| -> Option<String> {
        let child = terminal(&folder, 80, &[args, &[name]].concat())?.spawn().expect("runs");
        let mut pipe = std::fs::File::open(folder.path(name)).expect("opened by both");
        for _ in 0..12 {
            pipe.read_exact(&mut [0; 50_000]).expect("it writes");
            std::thread::sleep(Duration::from_millis(300));
        }
        std::io::copy(&mut pipe, &mut std::io::sink()).expect("it writes");
        let output = child.wait_with_output().expect("ends");
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    std::thread::scope(|scope| {
        let terminal_text = &terminal_text;
        let bars = [
            scope.spawn(move || terminal_text(&["workload", "generate", "--jobs", "30000", "--out"], "out.swf")),
            scope.spawn(move || terminal_text(&["workload", "convert", "log.swf", "--out"], "out.csv")),
            scope.spawn(move || terminal_text(&["run", "-w", "log.swf", "-p", "easy", "--jobs"], "schedule.csv")),
        ];
        let quiet =
            scope.spawn(move || terminal_text(&["workload", "convert", "log.swf", "--quiet", "--out"], "quiet.swf"));
        for bar in bars {
            let Some(text) = bar.join().expect("ends") else { continue };
            assert!(text.contains("writing [") && text.contains("/30,000 records, "), "{text}");
        }
        let quiet = quiet.join().expect("ends");
        assert!(quiet.is_none_or(|text| text.is_empty()));
    });
}
