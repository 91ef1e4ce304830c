//! `drystone sweep status`: how far a sweep is.

use super::tasks::ShownTasks;
use crate::args::StatusArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::interrupt;
use crate::output::document::Document;
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{format_count, format_duration, format_percent, format_speed};
use crate::output::{self, Printable};
use crate::progress::WorkProgress;
use drystone_sweep::{Store, SweepStatus};
use serde::Serialize;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Interval at which tasks are polled while they are followed. Slurm is not asked more often,
/// either.
const LOOK: Duration = Duration::from_secs(10);
/// Longest delay until a stop signal is noticed.
const HEED: Duration = Duration::from_millis(200);

pub(super) fn run_status(args: &StatusArgs) -> CommandOutcome {
    let store = Store::open_to_read(&args.store)?;
    let tasks = if args.follow { follow_tasks(&store)? } else { ShownTasks::from_store(&store)? };
    // Opened again: others may have gathered meanwhile.
    let progress = Progressed::from_store(&Store::open_to_read(&args.store)?)?.with_tasks(tasks);
    output::print_result(&progress, args.format)?;
    Ok(DONE)
}

/// Shows how far the tasks are until none waits or runs, or until it is cancelled.
fn follow_tasks(store: &Store) -> Result<Option<ShownTasks>, CommandFailure> {
    let cancel = interrupt::stop_in_order();
    let progress = WorkProgress::new("simulating", "simulations", Some(store.status()?.simulations));
    let mut seen_count = 0;
    loop {
        let shown_tasks = ShownTasks::from_store(store)?;
        let recorded_count = shown_tasks.as_ref().map_or(0, |tasks| tasks.recorded);
        progress.add_done(recorded_count.saturating_sub(seen_count) as u64);
        seen_count = seen_count.max(recorded_count);
        if cancel.load(Ordering::Relaxed) || !shown_tasks.as_ref().is_some_and(ShownTasks::goes_on) {
            return Ok(shown_tasks);
        }
        let mut pause = LOOK;
        while !pause.is_zero() && !cancel.load(Ordering::Relaxed) {
            std::thread::sleep(HEED);
            pause = pause.saturating_sub(HEED);
        }
    }
}

/// Progress of a sweep, to be printed.
#[derive(Serialize)]
pub(super) struct Progressed {
    schema: &'static str,
    store: String,
    study: String,
    file: String,
    chunk: String,
    drystone: String,
    simulated: u64,
    simulations: u64,
    recorded: u64,
    configurations: u64,
    failed: u64,
    failures: Vec<String>,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<ShownTasks>,
    #[serde(skip)]
    effort: Option<(u64, f64, u64)>,
}

impl Progressed {
    pub(super) fn from_store(store: &Store) -> Result<Progressed, CommandFailure> {
        let status: SweepStatus = store.status()?;
        Ok(Progressed {
            schema: "drystone/sweep-status/1",
            store: store.path().display().to_string(),
            // Not one, either, of those that share a simulation.
            complete: status.simulated == status.simulations && status.recorded == status.configurations,
            study: status.study,
            file: status.file,
            chunk: status.chunk,
            drystone: status.drystone,
            simulated: status.simulated,
            simulations: status.simulations,
            recorded: status.recorded,
            configurations: status.configurations,
            failed: status.failed,
            failures: status.failures,
            tasks: None,
            effort: (status.sessions > 0).then_some((status.sessions, status.seconds, status.session_jobs)),
        })
    }

    pub(super) fn with_tasks(self, tasks: Option<ShownTasks>) -> Progressed {
        Progressed { tasks, ..self }
    }

    pub(super) fn append_progress(&self, document: &mut Document) {
        let share = if self.simulations == 0 { None } else { Some(self.simulated as f64 / self.simulations as f64) };
        let mut facts = vec![
            ("study", format!("{} ({})", self.study, self.file)),
            ("store", self.store.clone()),
            ("made by", format!("drystone {}", self.drystone)),
            (
                "simulations",
                format!(
                    "{} of {} ({})",
                    format_count(self.simulated),
                    format_count(self.simulations),
                    format_percent(share, 1)
                ),
            ),
            ("configurations", format!("{} of {}", format_count(self.recorded), format_count(self.configurations))),
        ];
        if !self.chunk.is_empty() {
            facts.insert(1, ("chunk", self.chunk.clone()));
        }
        if let Some((sessions, seconds, jobs)) = self.effort {
            let rate = if seconds > 0.0 { jobs as f64 / seconds } else { 0.0 };
            let runs = if sessions == 1 { "1 run".to_string() } else { format!("{} runs", format_count(sessions)) };
            facts.push((
                "effort",
                format!("{runs} of {} together, {} jobs/s", format_duration(seconds), format_speed(rate)),
            ));
        }
        if self.failed > 0 {
            facts.push(("failed", format_count(self.failed)));
        }
        let mut facts: Vec<(String, String)> =
            facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        facts.extend(self.tasks.as_ref().map_or(Vec::new(), ShownTasks::task_facts));
        document.add_facts(facts);
        for failure in &self.failures {
            document.add_text(failure.clone());
        }
        if let Some(tasks) = &self.tasks {
            tasks.append_incomplete(document);
        }
    }
}

impl Printable for Progressed {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        self.append_progress(&mut document);
        document
    }

    fn render_rows(&self) -> FlatRows {
        let mut row = FlatRow::default();
        row.add_text("store", &self.store);
        row.add_text("study", &self.study);
        row.add_text("chunk", &self.chunk);
        row.add_text("drystone", &self.drystone);
        for (name, value) in [
            ("simulated", self.simulated),
            ("simulations", self.simulations),
            ("recorded", self.recorded),
            ("configurations", self.configurations),
            ("failed", self.failed),
        ] {
            row.add_text(name, value);
        }
        let mut rows = FlatRows::default();
        rows.push(row);
        rows
    }
}
