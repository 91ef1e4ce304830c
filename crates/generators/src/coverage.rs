//! Coverage of the intervals of `compare`, as a table in Markdown, from independent logs. The true
//! change is that of the means over all logs of a row.
//!
//! ```text
//! cargo run --release -p drystone-generators --features all -- coverage                 # the rows that constants were chosen on
//! cargo run --release -p drystone-generators --features all -- coverage --held-out   # other arrivals, machines, loads, seeds
//! cargo run --release -p drystone-generators --features all -- coverage --weeks 30 LOG.swf.gz …   # weeks of real logs, drawn
//! … -- --logs 20                                                               # 20 logs in each row
//! ```

use drystone_reproduce::coverage::{CoverageRow, IntervalCoverage, chosen_on, coverage, held_out, resampled};
use std::path::PathBuf;
use std::process::ExitCode;

const CONFIDENCE: f64 = 0.95;
/// Logs that are made of the weeks of a real one.
const RESAMPLED: usize = 120;

pub(crate) fn main(args: Vec<String>) -> ExitCode {
    let Some(rows) = rows(args.into_iter()) else {
        eprintln!("usage: coverage [--logs N] [--held-out] [--weeks N LOG.swf.gz …]");
        return ExitCode::from(2);
    };
    println!(
        "| logs | weeks | sjbf wait | sjbf bounded slowdown | easy++ wait | easy++ bounded slowdown |\n|---|---|---|---|---|---|"
    );
    for row in rows {
        match coverage(&row, CONFIDENCE) {
            Ok(found) => {
                let cells: Vec<String> = found.cells.iter().map(cell).collect();
                println!("| {}, {} logs | {} | {} |", row.name, row.logs, found.weeks, cells.join(" | "));
            }
            Err(error) => {
                eprintln!("error: {}: {error}", row.name);
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}

/// Rows that are asked for; `None` for what cannot be read.
fn rows(mut args: impl Iterator<Item = String>) -> Option<Vec<CoverageRow>> {
    let (mut logs, mut weeks, mut files, mut others) = (None, None, Vec::new(), false);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--logs" => logs = Some(args.next()?.parse::<usize>().ok()?),
            "--weeks" => weeks = Some(args.next()?.parse::<u32>().ok()?),
            "--held-out" => others = true,
            option if option.starts_with("--") => return None,
            file => files.push(PathBuf::from(file)),
        }
    }
    let mut rows = match (weeks, others) {
        (Some(weeks), _) if !files.is_empty() => {
            files.into_iter().map(|file| resampled(file, weeks, RESAMPLED)).collect()
        }
        (None, true) if files.is_empty() => held_out(),
        (None, false) if files.is_empty() => chosen_on(),
        _ => return None,
    };
    if let Some(logs) = logs {
        rows.iter_mut().for_each(|row| row.logs = logs);
    }
    Some(rows)
}

fn cell(found: &IntervalCoverage) -> String {
    let short = match found.too_short {
        0 => String::new(),
        short => format!(", {short} too short"),
    };
    format!(
        "{:.3} (truth {:+.0} %, width {:.0}, ideal {:.0}: {:.2} times{short})",
        found.share(),
        found.truth * 100.0,
        found.width * 100.0,
        found.ideal * 100.0,
        found.wider
    )
}
