//! Results of sweeps, read by pandas and DuckDB, as `docs/sweep.md` shows.
//!
//! Without a Python that has them this says so and passes; with `DRYSTONE_READERS` set to the path
//! of a Python, as in `.ci/run`, it fails.

use crate::common::{Folder, four};
use std::process::Command;

/// A Python with pandas, DuckDB and DuckDB's extension for SQLite.
fn python() -> Option<String> {
    if let Ok(interpreter) = std::env::var("DRYSTONE_READERS") {
        return Some(interpreter);
    }
    let imports =
        Command::new("python3").args(["-c", "import pandas, duckdb, duckdb_extension_sqlite_scanner"]).output();
    if imports.is_ok_and(|o| o.status.success()) {
        return Some("python3".to_string());
    }
    eprintln!(
        "SKIPPED: no Python with duckdb, duckdb-extensions, duckdb-extension-sqlite-scanner and pandas (set DRYSTONE_READERS)"
    );
    None
}

#[test]
fn pandas_and_duckdb_read_stores_and_exports_as_they_are() {
    let Some(python) = python() else { return };
    let folder = Folder::with("four.swf", four());
    // A column whose name is a word of SQL, one that is a number, one with gaps, one that is empty.
    folder.write(
        "study.toml",
        "metrics = [\"wait_mean\", \"slowdown_p90\", \"reservation_error\"]\n[[workload]]\nfile = \"four.swf\"\n[[policy]]\n\
         policy = \"easy(order={order},predict=recent({size}))\"\n[policy.parameters]\n\
         order = [\"fcfs\", \"sjf\"]\nsize = [1, 2, 3]\n",
    );
    folder.run(&["sweep", "study.toml", "--quiet"]).ok();
    for out in ["study.parquet", "study.csv"] {
        folder.run(&["sweep", "export", "study.db", "--out", out]).ok();
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/readers.py");
    let read = Command::new(python)
        .args([script, "study.db", "study.parquet", "study.csv"])
        .current_dir(folder.path("."))
        .output()
        .expect("Python runs");
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    assert_eq!(String::from_utf8_lossy(&read.stdout).trim(), "6 6 6 6 6");
}
