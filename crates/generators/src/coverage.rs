//! Coverage and power of inference, as tables in Markdown, from independent logs. The true change
//! is that of the other logs of a cell.
//!
//! ```text
//! cargo run --release -p drystone-generators --features all -- coverage             # the table of docs/how-sure.md
//! … -- coverage --logs 20 --loads 0.6,0.8 --weeks 6,12,26 --seed 1 --no-planners   # a smaller one
//! … -- coverage --cells                                                             # every cell
//! ```

use drystone::generate::WorkloadModel;
use drystone_reproduce::coverage::{CoverageCell, CoverageComparison, CoverageKind, CoverageStudy, measure_coverage};
use std::process::ExitCode;

pub(crate) fn main(args: Vec<String>) -> ExitCode {
    let Some((study, cells)) = parse_study(args.into_iter()) else {
        eprintln!(
            "usage: coverage [--logs N] [--loads A,B,…] [--weeks N,N,…] [--seed N] [--procs N] [--no-planners] [--cells]"
        );
        return ExitCode::from(2);
    };
    let comparisons = study.list_comparisons();
    let cells_of_study = match measure_coverage(&study) {
        Ok(cells_of_study) => cells_of_study,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    println!(
        "{} logs at each of the loads {:?}, weeks {:?}, seed {}\n",
        study.logs, study.loads, study.weeks, study.seed
    );
    if cells {
        print_cells(&cells_of_study, &comparisons);
    }
    println!(
        "| | cells | holds | lowest tenth of cells | width | found | decided | false |\n|---|---|---|---|---|---|---|---|"
    );
    let every_cell = |_: &CoverageCell| true;
    print_row("all", &cells_of_study, &comparisons, every_cell);
    for weeks in &study.weeks {
        print_row(&format!("{weeks} weeks"), &cells_of_study, &comparisons, |cell| cell.weeks == *weeks);
    }
    for (kind, name) in
        [(CoverageKind::Compare, "compare"), (CoverageKind::WhatIf, "whatif"), (CoverageKind::Rank, "sweep rank")]
    {
        print_row(name, &cells_of_study, &comparisons, |cell| comparisons[cell.comparison].kind == kind);
    }
    for (at, comparison) in comparisons.iter().enumerate() {
        print_row(comparison.name, &cells_of_study, &comparisons, |cell| cell.comparison == at);
    }
    ExitCode::SUCCESS
}

/// The study that is asked for, and whether every cell is printed; `None` for what cannot be read.
fn parse_study(mut args: impl Iterator<Item = String>) -> Option<(CoverageStudy, bool)> {
    let mut study = CoverageStudy {
        procs: 128,
        model: WorkloadModel::default(),
        loads: vec![0.6, 0.7, 0.8, 0.9, 1.0],
        weeks: vec![6, 8, 12, 26, 52],
        logs: 60,
        seed: 7_000_000,
        planners: true,
    };
    let mut cells = false;
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--logs" => study.logs = args.next()?.parse().ok()?,
            "--loads" => study.loads = args.next()?.split(',').map(|load| load.parse().ok()).collect::<Option<_>>()?,
            "--weeks" => study.weeks = args.next()?.split(',').map(|week| week.parse().ok()).collect::<Option<_>>()?,
            "--seed" => study.seed = args.next()?.parse().ok()?,
            "--procs" => study.procs = args.next()?.parse().ok()?,
            "--no-planners" => study.planners = false,
            "--cells" => cells = true,
            _ => return None,
        }
    }
    Some((study, cells))
}

/// One row over some cells: means of logs, the lowest tenth of cells, the geometric mean of widths.
fn print_row(
    name: &str,
    grid: &[CoverageCell],
    comparisons: &[CoverageComparison],
    is_in: impl Fn(&CoverageCell) -> bool,
) {
    let cells: Vec<&CoverageCell> = grid.iter().filter(|cell| is_in(cell)).collect();
    let share =
        |part: fn(&CoverageCell) -> usize, of: fn(&CoverageCell) -> usize, filter: &dyn Fn(&CoverageCell) -> bool| {
            let sum = |count: fn(&CoverageCell) -> usize| -> usize {
                cells.iter().filter(|cell| filter(cell)).map(|cell| count(cell)).sum()
            };
            let whole = sum(of);
            if whole == 0 { "-".to_string() } else { format!("{:.3}", sum(part) as f64 / whole as f64) }
        };
    let mut shares: Vec<f64> = cells.iter().map(|cell| cell.covered_share()).collect();
    shares.sort_by(f64::total_cmp);
    let widths: Vec<f64> = cells.iter().map(|cell| cell.wider.ln()).filter(|width| width.is_finite()).collect();
    let width = (widths.iter().sum::<f64>() / widths.len().max(1) as f64).exp();
    let differs = |cell: &CoverageCell| cell.differs;
    let null = |cell: &CoverageCell| comparisons[cell.comparison].null;
    println!(
        "| {name} | {} | {} | {:.3} | {width:.2} | {} | {} | {} |",
        cells.len(),
        share(|cell| cell.holding, |cell| cell.intervals, &|_| true),
        shares.get(shares.len() / 10).copied().unwrap_or(f64::NAN),
        share(|cell| cell.telling, |cell| cell.logs, &differs),
        share(|cell| cell.decided, |cell| cell.logs, &differs),
        share(|cell| cell.decided, |cell| cell.logs, &null),
    );
}

fn print_cells(grid: &[CoverageCell], comparisons: &[CoverageComparison]) {
    println!(
        "| load | weeks | comparison | measure | change | holds | width | without 0 | decided |\n|---|---|---|---|---|---|---|---|---|"
    );
    for cell in grid {
        println!(
            "| {} | {} | {} | {} | {:+.1} % | {:.3} of {} | {:.2} | {} | {} |",
            cell.load,
            cell.weeks,
            comparisons[cell.comparison].name,
            cell.measure.name(),
            cell.change * 100.0,
            cell.covered_share(),
            cell.intervals,
            cell.wider,
            cell.telling,
            cell.decided
        );
    }
    println!();
}
