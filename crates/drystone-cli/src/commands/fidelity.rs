//! `drystone fidelity`: a simulation of a site held against what happened there.

mod document;
mod overview;
mod rows;

use crate::args::FidelityArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE, FINDING};
use crate::input::InputKind;
use crate::interrupt;
use crate::output::document::Document;
use crate::output::flat::FlatRows;
use crate::output::{self, Printable, ReportFile, message};
use crate::progress::WorkProgress;
use crate::site;
use drystone_report::{PictureSubject, StillPage};
use drystone_site::fidelity::{Fidelity, FidelitySettings, ReplayError, measure_fidelity as measure};
use serde::Serialize;
use std::sync::atomic::AtomicBool;

/// A result with where it comes from.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct FoundFidelity {
    fidelity: Fidelity,
    /// True prints everything, not only the overview.
    #[serde(skip)]
    whole: bool,
}

pub(crate) fn run_fidelity(args: &FidelityArgs) -> CommandOutcome {
    message::be_quiet(args.output.quiet);
    let report = args.output.report.as_deref().map(ReportFile::create_file).transpose()?;
    let stop = interrupt::stop_in_order();
    let Some(mut fidelity) = measure_fidelity(args, stop)? else { return Ok(interrupt::exit_code()) };
    if interrupt::stop_at_once() {
        return Ok(interrupt::exit_code());
    }
    if let Some(file) = report {
        // A file has room for everything.
        fidelity.whole = true;
        file.write_result(&fidelity)?.publish()?;
    }
    fidelity.whole = args.output.details;
    output::print_result(&fidelity, args.output.format)?;
    let unmet: Vec<String> =
        args.require.iter().flat_map(|r| r.find_unmet(&fidelity.fidelity)).map(|unmet| unmet.to_string()).collect();
    unmet.iter().for_each(|text| message::print_error(text));
    Ok(if unmet.is_empty() { DONE } else { FINDING })
}

/// Simulates and measures; `None` on cancellation.
pub(crate) fn measure_fidelity(
    args: &FidelityArgs,
    stop: &AtomicBool,
) -> Result<Option<FoundFidelity>, CommandFailure> {
    InputKind::refuse_path(&args.site, &[InputKind::Site])?;
    let (mut site, pool) = site::open_site(&args.site)?;
    if let Some(unknown) =
        site.manifest.rule_count(drystone_site::ImportRule::NoSubmit).filter(|_| site.manifest.waits_half_known())
    {
        message::print_note(&format!(
            "of {} jobs the submission of {} is unknown: they are simulated from their starts on, and judged are the others",
            site.manifest.jobs, unknown.jobs
        ));
    }
    site.take_nodes();
    if !site.place_jobs(args.placement.unwrap_or_default()) && args.placement.is_some() {
        return Err(CommandFailure::usage_error(format_args!(
            "--placement: {} has no slurm.conf that says its nodes; import it with one",
            args.site.display()
        )));
    }
    let policy = match &args.policy {
        Some(policy) => site::meant_policy(&args.site, policy)?,
        None => match site::own_policy(Some(&args.site))? {
            Some(own) => own,
            None => "easy".parse()?,
        },
    };
    site::tell_remarks([&policy]);
    let repetitions = args
        .repetition
        .iter()
        .map(|path| Ok((path.display().to_string(), site::open_site(path)?.0)))
        .collect::<Result<Vec<_>, CommandFailure>>()?;
    let progress = WorkProgress::new("simulating", "jobs", Some(count_work(site.len(), args.seeds)));
    let settings = FidelitySettings {
        policy,
        seeds: args.seeds,
        jitter: args.jitter,
        seed: args.seed,
        warm_up: args.warm_up.map(|span| span.0),
        repetitions: repetitions.iter().map(|(name, site)| (name.clone(), site)).collect(),
        pool,
        threads: args.threads.map_or_else(site::thread_count, usize::from),
        stop: Some(stop),
        told: &|jobs| progress.add_done(jobs),
    };
    let fidelity = match measure(&site, &settings) {
        Err(ReplayError::Stopped) => return Ok(None),
        Err(ReplayError::Experiment { policy, source }) => {
            return Err(CommandFailure::experiment_error(&policy, source));
        }
        other => other.map_err(CommandFailure::usage_error)?,
    };
    Ok(Some(FoundFidelity { fidelity, whole: args.output.details }))
}

/// Jobs that are simulated: the policy, two baselines, and the runs for the noise.
fn count_work(jobs: usize, seeds: u32) -> u64 {
    jobs as u64 * (3 + u64::from(seeds))
}

impl Printable for FoundFidelity {
    fn render_document(&self) -> Document {
        document::render_document(&self.fidelity)
    }

    fn render_overview(&self) -> Option<Document> {
        (!self.whole).then(|| overview::render_overview(&self.fidelity))
    }

    fn render_rows(&self) -> FlatRows {
        rows::render_rows(&self.fidelity)
    }

    fn beyond_rows(&self) -> Option<&'static str> {
        Some("classes, hours and baselines")
    }

    fn render_page(&self) -> Result<String, CommandFailure> {
        let data = serde_json::to_value(&self.fidelity).map_err(CommandFailure::usage_error)?;
        let page = StillPage {
            title: &format!("{} replayed under {}", self.fidelity.site, self.fidelity.policy),
            subject: "",
            verdict: &self.fidelity.verdict,
            pictures: PictureSubject::Fidelity.draw_pictures(&data).map_err(CommandFailure::usage_error)?,
            details: &self.render_document(),
            data: &data,
        };
        Ok(page.render_html())
    }
}
