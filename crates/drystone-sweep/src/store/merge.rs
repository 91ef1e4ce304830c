//! Making one store of several.

use super::schema::{self, PROGRAMS, StoreHead, quote_name};
use super::{Store, weeks, write};
use crate::error::SweepError;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Transaction};
use std::path::{Path, PathBuf};

/// Summary of a merge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Merged {
    /// Results that were new.
    pub added: u64,
    /// Results that were there already, and equal.
    pub equal: u64,
    /// Configurations of the study that no store has.
    pub missing: u64,
}

/// Adds the results of stores of one study to a store, which is made where there is none. All or
/// nothing.
///
/// # Errors
/// A store is of another plan or version, or in use, or two disagree about a result; the target
/// stays as it was.
pub fn merge_stores(into: impl AsRef<Path>, from: &[PathBuf]) -> Result<Merged, SweepError> {
    let into = into.as_ref();
    let same = |path: &PathBuf| {
        std::fs::canonicalize(path).ok().zip(std::fs::canonicalize(into).ok()).is_some_and(|(a, b)| a == b)
    };
    if let Some(path) = from.iter().find(|path| same(path)) {
        return Err(SweepError::store_error(path.display(), "cannot be merged into itself"));
    }
    let mut sources = Vec::with_capacity(from.len());
    let mut files = Vec::with_capacity(from.len());
    for path in from {
        Store::open_to_read(path)?;
        let file = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        if files.contains(&file) {
            return Err(SweepError::store_error(path.display(), "is given twice"));
        }
        files.push(file);
        // Locked, so that no process adds to it meanwhile.
        let source = Store::open_locked(path)?;
        source.check_version()?;
        sources.push(source);
    }
    let Some(first) = sources.first() else { return Ok(Merged::default()) };
    for source in &sources[1..] {
        same_plan(first, source)?;
    }
    let lock = schema::lock_file(into);
    let (fresh, is_unlocked) = (!into.exists(), !lock.exists());
    let mut target = Store::open_locked(into)?;
    let merge_result = fill_target(&mut target, &sources);
    if fresh && merge_result.is_err() {
        // Closed first, but still locked.
        let Store { db, _lock, .. } = target;
        drop(db);
        let _ = std::fs::remove_file(into);
        // No process waits for a lock: one that found it held has been refused.
        if is_unlocked {
            let _ = std::fs::remove_file(lock);
        }
    }
    merge_result
}

/// Adds sources of one plan to a target, which may be new.
fn fill_target(target: &mut Store, sources: &[Store]) -> Result<Merged, SweepError> {
    let Some(first) = sources.first() else { return Ok(Merged::default()) };
    let mut intake = MergeIntake::begin_merge(target, first)?;
    for source in sources {
        intake.add_store(source)?;
    }
    intake.commit()
}

/// A transaction that adds the results of stores to a store of the whole study. Dropped before its
/// end, it leaves the target as it was.
pub(super) struct MergeIntake<'t> {
    target: &'t Store,
    transaction: Transaction<'t>,
    merged: Merged,
    conflicts: Vec<String>,
}

impl<'t> MergeIntake<'t> {
    /// Begins to add; the target may be new, and then is made like the source.
    pub(super) fn begin_merge(target: &'t Store, like: &Store) -> Result<MergeIntake<'t>, SweepError> {
        if target.is_new()? {
            target.create_tables(&derive_head(like)?)?;
        }
        target.check_version()?;
        if !target.meta_value("chunk")?.is_empty() {
            return Err(target.store_error("holds a single chunk; merge into another store"));
        }
        target.check_results()?;
        let transaction = target.db.unchecked_transaction().map_err(|e| target.database_error(e))?;
        Ok(MergeIntake { target, transaction, merged: Merged::default(), conflicts: Vec::new() })
    }

    pub(super) fn add_store(&mut self, source: &Store) -> Result<(), SweepError> {
        same_plan(self.target, source)?;
        source.check_results()?;
        // Whose fault it is, the target's or the source's, SQLite does not say.
        add_rows(&self.transaction, source, &mut self.merged, &mut self.conflicts)
            .and_then(|()| add_sessions(&self.transaction, source))
            .map_err(|e| self.target.database_error(e))
    }

    /// Ends it: all of it is added, or nothing where results differ.
    pub(super) fn commit(self) -> Result<Merged, SweepError> {
        let MergeIntake { target, transaction, merged: mut tally, conflicts } = self;
        if !conflicts.is_empty() {
            let examples: Vec<&str> = conflicts.iter().take(5).map(String::as_str).collect();
            let more = conflicts.len() - examples.len();
            let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
            let problem = format!(
                "{} results differ between the stores; nothing was merged:\n  {}{more}",
                conflicts.len(),
                examples.join("\n  ")
            );
            return Err(SweepError::Conflict { problem });
        }
        transaction.commit().map_err(|e| target.database_error(e))?;
        let status = target.status()?;
        tally.missing = status.configurations.saturating_sub(status.recorded);
        Ok(tally)
    }
}

fn same_plan(first: &Store, second: &Store) -> Result<(), SweepError> {
    if first.meta_value("plan")? == second.meta_value("plan")? && first.metric_columns()? == second.metric_columns()? {
        return Ok(());
    }
    let of = |store: &Store| -> Result<String, SweepError> {
        Ok(format!("`{}` with {} configurations", store.meta_value("study")?, store.meta_value("all_configurations")?))
    };
    Err(second.store_error(format!(
        "holds another study or other logs ({}) than {} ({}); only chunks of one study merge",
        of(second)?,
        first.path.display(),
        of(first)?
    )))
}

/// Returns the head of a store of the whole study, derived from that of a chunk.
fn derive_head(chunk: &Store) -> Result<StoreHead, SweepError> {
    let mut meta = Vec::new();
    for name in ["study", "file", "text", "plan", "drystone", "all_simulations", "all_configurations", "all_jobs"] {
        meta.push((name, chunk.meta_value(name)?));
    }
    meta.push(("chunk", String::new()));
    meta.push((PROGRAMS, serde_json::json!(chunk.programs()?).to_string()));
    for (name, all) in
        [("simulations", "all_simulations"), ("configurations", "all_configurations"), ("jobs", "all_jobs")]
    {
        meta.push((name, chunk.meta_value(all)?));
    }
    let columns = || -> rusqlite::Result<Vec<(String, String, String)>> {
        let mut statement = chunk.db.prepare("SELECT name, kind, type FROM columns ORDER BY place")?;
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
    };
    let columns = columns().map_err(|e| chunk.database_error(e))?;
    let of = |kind: &'static str| columns.iter().filter(move |c| c.1 == kind);
    Ok(StoreHead {
        meta,
        parameters: of("parameter").map(|c| (c.0.clone(), c.2.clone())).collect(),
        metrics: chunk.metric_columns()?,
        workloads: chunk.workloads()?,
    })
}

/// Adds the runs that a store is from, those that came with an earlier merge not again.
fn add_sessions(target: &Transaction<'_>, source: &Store) -> rusqlite::Result<()> {
    const COLUMNS: &str = "started, seconds, simulations, jobs, workers, drystone";
    let mut statement = source.db.prepare(&format!("SELECT {COLUMNS} FROM session ORDER BY id"))?;
    let mut insert = target.prepare(&format!(
        "INSERT INTO session ({COLUMNS}) SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE NOT EXISTS (SELECT 1 FROM session \
         WHERE ({COLUMNS}) IS (?1, ?2, ?3, ?4, ?5, ?6))"
    ))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let values: Vec<Value> = (0..6).map(|at| row.get(at)).collect::<rusqlite::Result<_>>()?;
        insert.execute(rusqlite::params_from_iter(values))?;
    }
    Ok(())
}

/// Adds the rows of a store; collects those that disagree.
fn add_rows(
    target: &Transaction<'_>,
    source: &Store,
    tally: &mut Merged,
    conflicts: &mut Vec<String>,
) -> rusqlite::Result<()> {
    let mut statement = source.db.prepare("SELECT * FROM result ORDER BY configuration")?;
    let names: Vec<String> = statement.column_names().map(String::from).collect();
    let columns = names.iter().map(|name| quote_name(name)).collect::<Vec<_>>().join(", ");
    let mut find = target.prepare(&format!("SELECT {columns} FROM result WHERE configuration = ?"))?;
    let read_values =
        |row: &rusqlite::Row<'_>| -> rusqlite::Result<Vec<Value>> { (0..names.len()).map(|at| row.get(at)).collect() };
    let error = names.len() - 1;
    // Builds of one version may differ in nothing that counts.
    let Some(build_column) = names.iter().position(|name| name == "drystone") else { return Ok(()) };
    let same = |old: &[Value], new: &[Value]| (0..new.len()).all(|at| at == build_column || old[at] == new[at]);
    let again: Vec<i64> = target
        .prepare("SELECT simulation FROM again")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let new = read_values(row)?;
        if let Value::Integer(simulation) = new[1]
            && again.contains(&simulation)
            && new[error] == Value::Null
        {
            write::remove_simulation(target, simulation)?;
        }
        let old = find.query_row([&new[0]], |row| read_values(row)).optional()?;
        match old {
            Some(old) if same(&old, &new) => tally.equal += 1,
            // A failure makes way for whatever came of trying again.
            Some(old) if old[error] != Value::Null => {
                target.execute("DELETE FROM result WHERE configuration = ?", [&new[0]])?;
                write::insert_row(target, &new)?;
                tally.added += 1;
            }
            Some(_) if new[error] != Value::Null => tally.equal += 1,
            Some(old) => conflicts.push(describe_conflict(&names, &new, &old, source)),
            None => {
                write::insert_row(target, &new)?;
                tally.added += 1;
            }
        }
    }
    let mut statement = source.db.prepare("SELECT simulation, metric, sums FROM week")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        weeks::put_sums(target, row.get(0)?, &row.get::<_, String>(1)?, &row.get::<_, Vec<u8>>(2)?)?;
    }
    Ok(())
}

/// Lists the columns in which two rows of a configuration differ, with both values.
fn describe_conflict(names: &[String], new: &[Value], old: &[Value], source: &Store) -> String {
    let say = |value: &Value| match value {
        Value::Null => "nothing".to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Real(value) => value.to_string(),
        Value::Text(text) => text.clone(),
        Value::Blob(_) => "bytes".to_string(),
    };
    let differing: Vec<usize> = (0..new.len()).filter(|&at| old[at] != new[at]).collect();
    let row = |values: &[Value]| {
        let cells: Vec<String> = differing.iter().map(|&at| format!("{} {}", names[at], say(&values[at]))).collect();
        cells.join(", ")
    };
    format!(
        "configuration {} ({} on {}):\n    {} in {}\n    {} before",
        say(&new[0]),
        say(&new[10]),
        say(&new[3]),
        row(new),
        source.path.display(),
        row(old)
    )
}
