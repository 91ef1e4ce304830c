//! `drystone sweep headroom`: what no schedule of a workload can beat, and the best found.

use super::work::make_plan;
use crate::args::{BracketArgs, Grid};
use crate::commands::headroom::BEGINNINGS;
use crate::commands::headroom::bracket::{
    BracketSchedule, Seek, figure_below, format_figure, seek_bracket, share_below,
};
use crate::commands::headroom::thread_count;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::interrupt;
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{NONE, format_count};
use crate::output::{self, Printable, message};
use crate::progress::WorkProgress;
use drystone::experiment::Experiment;
use drystone::metrics::{JobRow, MetricsConfig};
use drystone::policy::PolicySpec;
use drystone_headroom::{DelayMeasure, HeadroomCase as Instance, Refused, TimeLimit};
use drystone_sweep::{BracketRow, Store, SweepCase, SweepPlan};
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};

/// The metric that brackets are of.
const METRIC: &str = "wait_mean";

pub(super) fn run_headroom(args: &BracketArgs) -> CommandOutcome {
    message::be_quiet(args.work.quiet);
    let store = Store::open_to_read(&args.store)?;
    let plan = make_plan(&store.study()?.0, &args.work)?;
    let best = best_waits(&store, &plan)?;
    drop(store);
    let stop = interrupt::stop_in_order();
    let mut result = Brackets { study: plan.name.clone(), brackets: Vec::new(), best: Vec::new() };
    for (case, best) in plan.cases.iter().zip(best) {
        match find_bracket(args, case, stop)? {
            Some(Ok(bracket)) => {
                result.brackets.push(bracket);
                result.best.push(best);
            }
            None => break,
            Some(Err(reason)) => message::print_warning(&format!("{}: left out: {reason}", case.label())),
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    let is_stopped = interrupt::stop_at_once();
    Store::open_again(&args.store)?.record_brackets(&result.brackets)?;
    output::print_result(&result, args.format)?;
    Ok(if is_stopped { interrupt::exit_code() } else { DONE })
}

/// The least mean wait of the study's policies on each workload, as far as they are simulated.
fn best_waits(store: &Store, plan: &SweepPlan) -> Result<Vec<Option<f64>>, CommandFailure> {
    let mut best = vec![None; plan.cases.len()];
    let Some(metric) = plan.metrics.iter().position(|metric| metric.to_string() == METRIC) else { return Ok(best) };
    for outcome in store.outcomes(plan)? {
        let Some(value) = outcome.measured.values.get(metric).copied().flatten() else { continue };
        let of = &mut best[plan.simulations[outcome.place].case];
        *of = Some(of.map_or(value, |old: f64| old.min(value)));
    }
    Ok(best)
}

/// The bracket of one workload, or why it has none; `None` where it was stopped before there was
/// one.
fn find_bracket(
    args: &BracketArgs,
    case: &SweepCase,
    stop: &AtomicBool,
) -> Result<Option<Result<BracketRow, Refused>>, CommandFailure> {
    let progress = WorkProgress::new(&format!("simulating {}", case.label()), "jobs", None);
    let mut ran: Vec<(PolicySpec, Vec<JobRow>)> = Vec::new();
    for text in ["easy"].iter().chain(&BEGINNINGS) {
        let spec: PolicySpec = text.parse().map_err(CommandFailure::usage_error)?;
        let config = MetricsConfig { selection: case.trim, keep_jobs: true, ..MetricsConfig::default() };
        let report_jobs = |jobs| progress.add_done(jobs);
        let experiment = Experiment::new(&spec, &case.workload)
            .with_outages(Some(&case.given.outages))
            .feeding_back(case.given.feedback)
            .with_metrics(config)
            .with_progress(&report_jobs)
            .with_stop(stop);
        match experiment.run(&mut ()).map_err(|error| CommandFailure::experiment_error(spec.text(), error))? {
            Some(mut outcome) => ran.push((spec, outcome.report.take_schedule().unwrap_or_default())),
            None => break,
        }
    }
    drop(progress);
    let Some((_, first)) = ran.first() else { return Ok(None) };
    let real = (&case.given.outages, case.given.feedback);
    let instance = match Instance::from_rows(&case.workload, first, real, (DelayMeasure::Wait, case.trim)) {
        Ok(instance) => instance,
        Err(reason) => return Ok(Some(Err(reason))),
    };
    let schedules: Vec<BracketSchedule<'_>> = ran
        .iter()
        .filter(|(_, rows)| instance.count_differing(rows) == 0)
        .map(|(spec, rows)| BracketSchedule { policy: spec.text(), rows, shown: false })
        .collect();
    let seek = Seek {
        grids: Grid::Quarter.grid_steps(),
        limit: (args.trials > 0).then_some(TimeLimit::Trials(args.trials)),
        seed: args.seed,
        threads: thread_count(args.work.threads),
        stop,
    };
    let bracket = seek_bracket(&instance, &schedules, &seek)?.bracket;
    Ok(Some(Ok(BracketRow {
        workload: case.label(),
        hash: case.hash.clone(),
        metric: METRIC.to_string(),
        floor: bracket.floor.value,
        found: bracket.found.value,
        begun_from: bracket.found.begun_from,
        trials: bracket.found.trials,
        seed: args.seed,
    })))
}

#[derive(Serialize)]
struct Brackets {
    study: String,
    brackets: Vec<BracketRow>,
    /// The least mean wait of the study's policies, in seconds.
    best: Vec<Option<f64>>,
}

impl Printable for Brackets {
    fn render_document(&self) -> Document {
        let mut table = DocumentTable::new([
            "workload",
            "no schedule below",
            "best found",
            "best of the study",
            "found saves",
            "trials",
            "begun from",
        ])
        .with_text_columns(&[0, 6]);
        let minutes = |value: f64| format_figure(DelayMeasure::Wait, value);
        for (row, best) in self.brackets.iter().zip(&self.best) {
            let saves = best.filter(|&best| best > 0.0).map(|best| (1.0 - row.found / best).max(0.0));
            let cells: Vec<TableValue> = vec![
                row.workload.clone().into(),
                figure_below(DelayMeasure::Wait, row.floor).into(),
                minutes(row.found).into(),
                best.map_or_else(|| NONE.to_string(), minutes).into(),
                saves.map_or_else(|| NONE.to_string(), share_below).into(),
                format_count(row.trials).into(),
                row.begun_from.clone().into(),
            ];
            table.add_row(cells);
        }
        let mut document = Document::default();
        document.add_heading(format!("{}: mean wait in minutes, and how much of it could be saved", self.study));
        document.add_table(table);
        document
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for (bracket, best) in self.brackets.iter().zip(&self.best) {
            let mut row = FlatRow::default();
            row.add_text("workload", &bracket.workload);
            row.add_text("metric", &bracket.metric);
            row.add_number("floor", Some(bracket.floor));
            row.add_number("found", Some(bracket.found));
            row.add_number("best", *best);
            row.add_number("trials", Some(bracket.trials as f64));
            row.add_text("begun_from", &bracket.begun_from);
            row.add_text("study", &self.study);
            rows.push(row);
        }
        rows
    }
}
