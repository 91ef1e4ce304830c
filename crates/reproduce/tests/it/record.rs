//! The published record on the real logs, which are found through `DRYSTONE_SHARED` (default:
//! beside the checkout).

use drystone_reproduce::{CellVerdict, Library, LogState, PaperStudy, TableResult, read_builtin, reproduce_study};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

fn library() -> Option<Library> {
    let root = std::env::var_os("DRYSTONE_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let logs = root.join("traces");
    if !logs.is_dir() {
        eprintln!("SKIPPED: {} is missing (set DRYSTONE_SHARED)", logs.display());
        return None;
    }
    Some(Library { directories: vec![logs] })
}

fn run(study: &PaperStudy, tables: &[String], library: &Library) -> Vec<TableResult> {
    let mut states = BTreeMap::new();
    let results =
        reproduce_study(study, tables, library, 2, &mut states, &|_| (), &AtomicBool::new(false)).expect("simulates");
    assert_eq!(results.left_out, []);
    for (file, state) in states {
        assert!(matches!(state, LogState::Found { .. }), "{file}: {state:?}");
    }
    results.tables
}

fn count(results: &[TableResult], verdict: CellVerdict) -> usize {
    results.iter().map(|table| table.count_cells(verdict)).sum()
}

#[test]
fn every_judged_cell_is_within_its_tolerance() {
    let Some(library) = library() else { return };
    let mut cell_count = 0;
    for study in read_builtin().expect("good studies") {
        let results = run(&study, &[], &library);
        for table in &results {
            for row in &table.rows {
                for (column, cell) in table.columns.iter().zip(&row.cells) {
                    let place = format!("{} {} {} {} {column}: {cell:?}", study.name, table.id, row.label, row.log);
                    assert!(!matches!(cell.verdict, CellVerdict::Out | CellVerdict::Missing), "{place}");
                }
            }
        }
        cell_count += count(&results, CellVerdict::Met) + count(&results, CellVerdict::Within);
    }
    // Nothing is green because nothing was judged.
    assert!(cell_count > 600, "{cell_count} cells");
}

/// A table with one of the policy's choices wrong: extra processors counted over all ends.
#[test]
fn a_wrong_parameter_is_found_out() {
    let Some(library) = library() else { return };
    let studies = read_builtin().expect("good studies");
    let mut study = studies.into_iter().find(|s| s.name == "tsafrir-2007").expect("comes with the program");
    let table = study.tables.iter_mut().find(|t| t.id == "2").expect("a table");
    table.rows.retain(|row| row.log == "SDSC" && row.label == "easy");
    table.rows[0].policy = Some("easy@tsafrir2007".to_string());
    let only = ["2".to_string()];
    assert_eq!(count(&run(&study, &only, &library), CellVerdict::Out), 0);
    let table = study.tables.iter_mut().find(|t| t.id == "2").expect("a table");
    table.rows[0].policy = Some("easy@tsafrir2007(extra=all)".to_string());
    assert!(count(&run(&study, &only, &library), CellVerdict::Out) > 0);
}
