//! `drystone sweep headroom`: what no schedule of a workload can beat, and the best found.

use super::work::plan;
use crate::args::{BracketArgs, Grid};
use crate::commands::headroom::BEGINNINGS;
use crate::commands::headroom::bracket::{BracketSchedule, Seek, figure, figure_below, seek, share_below};
use crate::commands::headroom::threads;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::interrupt;
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{NONE, count};
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

pub(super) fn headroom(args: &BracketArgs) -> CommandOutcome {
    message::be_quiet(args.work.quiet);
    let store = Store::look(&args.store)?;
    let plan = plan(&store.study()?.0, &args.work)?;
    let best = best(&store, &plan)?;
    drop(store);
    let stop = interrupt::stop_in_order();
    let mut shown = Brackets { study: plan.name.clone(), brackets: Vec::new(), best: Vec::new() };
    for (case, best) in plan.cases.iter().zip(best) {
        match bracket(args, case, stop)? {
            Some(Ok(bracket)) => {
                shown.brackets.push(bracket);
                shown.best.push(best);
            }
            None => break,
            Some(Err(refused)) => message::warning(&format!("{}: left out: {refused}", case.label())),
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    let stopped = interrupt::stop_at_once();
    Store::open_again(&args.store)?.record_brackets(&shown.brackets)?;
    output::print(&shown, args.format)?;
    Ok(if stopped { interrupt::code() } else { DONE })
}

/// The least mean wait of the study's policies on each workload, as far as they are simulated.
fn best(store: &Store, plan: &SweepPlan) -> Result<Vec<Option<f64>>, CommandFailure> {
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
fn bracket(
    args: &BracketArgs,
    case: &SweepCase,
    stop: &AtomicBool,
) -> Result<Option<Result<BracketRow, Refused>>, CommandFailure> {
    let progress = WorkProgress::new(&format!("simulating {}", case.label()), "jobs", None);
    let mut ran: Vec<(PolicySpec, Vec<JobRow>)> = Vec::new();
    for text in ["easy"].iter().chain(&BEGINNINGS) {
        let spec: PolicySpec = text.parse().map_err(CommandFailure::usage)?;
        let config = MetricsConfig { selection: case.trim, keep_jobs: true, ..MetricsConfig::default() };
        let told = |jobs| progress.add(jobs);
        let experiment = Experiment::new(&spec, &case.workload)
            .losing(Some(&case.given.outages))
            .feeding_back(case.given.feedback)
            .measuring(config)
            .telling(&told)
            .until(stop);
        match experiment.run(&mut ()).map_err(|error| CommandFailure::experiment(spec.text(), error))? {
            Some(mut measured) => ran.push((spec, measured.report.take_schedule().unwrap_or_default())),
            None => break,
        }
    }
    drop(progress);
    let Some((_, first)) = ran.first() else { return Ok(None) };
    let real = (&case.given.outages, case.given.feedback);
    let instance = match Instance::of(&case.workload, first, real, (DelayMeasure::Wait, case.trim)) {
        Ok(instance) => instance,
        Err(refused) => return Ok(Some(Err(refused))),
    };
    let all: Vec<BracketSchedule<'_>> = ran
        .iter()
        .filter(|(_, rows)| instance.others(rows) == 0)
        .map(|(spec, rows)| BracketSchedule { policy: spec.text(), rows, shown: false })
        .collect();
    let how = Seek {
        grids: Grid::Quarter.steps(),
        limit: (args.trials > 0).then_some(TimeLimit::Trials(args.trials)),
        seed: args.seed,
        threads: threads(args.work.threads),
        stop,
    };
    let bracket = seek(&instance, &all, &how)?.bracket;
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

/// Brackets of all workloads.
#[derive(Serialize)]
struct Brackets {
    study: String,
    brackets: Vec<BracketRow>,
    /// The least mean wait of the study's policies, in seconds.
    best: Vec<Option<f64>>,
}

impl Printable for Brackets {
    fn document(&self) -> Document {
        let mut table = DocumentTable::new([
            "workload",
            "no schedule below",
            "best found",
            "best of the study",
            "found saves",
            "trials",
            "begun from",
        ])
        .texts(&[0, 6]);
        let minutes = |value: f64| figure(DelayMeasure::Wait, value);
        for (row, best) in self.brackets.iter().zip(&self.best) {
            let saves = best.filter(|&best| best > 0.0).map(|best| (1.0 - row.found / best).max(0.0));
            let cells: Vec<TableValue> = vec![
                row.workload.clone().into(),
                figure_below(DelayMeasure::Wait, row.floor).into(),
                minutes(row.found).into(),
                best.map_or_else(|| NONE.to_string(), minutes).into(),
                saves.map_or_else(|| NONE.to_string(), share_below).into(),
                count(row.trials).into(),
                row.begun_from.clone().into(),
            ];
            table.row(cells);
        }
        let mut document = Document::default();
        document.heading(format!("{}: mean wait in minutes, and how much of it could be saved", self.study));
        document.table(table);
        document
    }

    fn rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for (one, best) in self.brackets.iter().zip(&self.best) {
            let mut row = FlatRow::default();
            row.text("workload", &one.workload);
            row.text("metric", &one.metric);
            row.number("floor", Some(one.floor));
            row.number("found", Some(one.found));
            row.number("best", *best);
            row.number("trials", Some(one.trials as f64));
            row.text("begun_from", &one.begun_from);
            row.text("study", &self.study);
            rows.push(row);
        }
        rows
    }
}
