//! A recording and its files.

use std::fmt::Write;
use std::path::Path;

/// One run of a scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct Recording {
    pub name: String,
    /// The `slurm.conf` that ran, with the folder and the host replaced.
    pub conf: String,
    /// A line per job, with a header.
    pub jobs: String,
    /// A line per happening: seconds, what, and about what.
    pub events: String,
    /// Associations and QOS as `sacctmgr -P show` prints them; empty without a database.
    pub accounts: String,
    /// slurmctld's log, whole.
    pub log: String,
}

impl Recording {
    /// Writes its files into a folder, as repetition `rep`.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write_files(&self, dir: &Path, rep: u32) -> std::io::Result<()> {
        std::fs::create_dir_all(dir)?;
        let file = |end: &str| dir.join(format!("{}.{end}", self.name));
        std::fs::write(file("conf"), &self.conf)?;
        std::fs::write(file(&format!("rep{rep}.csv")), &self.jobs)?;
        std::fs::write(file(&format!("rep{rep}.events")), &self.events)?;
        if !self.accounts.is_empty() {
            std::fs::write(file("accounts"), &self.accounts)?;
        }
        Ok(())
    }
}

/// A line of comma-separated values; those with a comma in quotes.
pub(super) fn write_csv_line(values: &[String], out: &mut String) {
    let quote_value = |value: &String| if value.contains(',') { format!("\"{value}\"") } else { value.clone() };
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}", values.iter().map(quote_value).collect::<Vec<_>>().join(","));
}
