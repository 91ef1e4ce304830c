//! `drystone waits`: what a site's users waited, as its accounting has it.

pub(crate) mod causes;
mod document;
mod efficiency;
mod now;
mod queue;
mod rows;

use crate::args::WaitsArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::document::Document;
use crate::output::flat::FlatRows;
use crate::output::{self, Printable, ReportFile, message};
use crate::site;
use drystone_report::{PictureSubject, StillPage};
use drystone_site::Site;
use drystone_site::waits::{
    GroupProperty, SiteWaits, WaitsOptions, efficiency as measure_efficiency, pending_jobs, waits as recorded,
};
use serde::Serialize;

/// A result, and how much of it is shown.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct ShownWaits {
    waits: SiteWaits,
    /// Commands for the causes.
    #[serde(skip)]
    steps: Vec<causes::CauseStep>,
    #[serde(skip)]
    top: Option<usize>,
    /// True prints everything, not only the overview.
    #[serde(skip)]
    whole: bool,
}

/// Groups of each property in the overview, and with all details.
const SHORT_GROUPS: usize = 5;
const DETAILED_GROUPS: usize = 20;

/// Groups of each property on a page, at least.
const PAGE_GROUPS: usize = 50;

pub(crate) fn waits(args: &WaitsArgs) -> CommandOutcome {
    message::be_quiet(args.output.quiet);
    if args.now {
        return now(args);
    }
    if args.efficiency {
        return efficiency(args);
    }
    let report = args.output.report.as_deref().map(ReportFile::open).transpose()?;
    let mut found = asked(args)?;
    if let Some(file) = report {
        found.whole = true;
        file.write(&found)?.publish()?;
    }
    found.whole = args.output.details;
    output::print(&found, args.output.format)?;
    Ok(DONE)
}

/// Shows the jobs that wait at the end of the records.
fn now(args: &WaitsArgs) -> CommandOutcome {
    let report = args.output.report.as_deref().map(ReportFile::open_plain).transpose()?;
    let (pending, notes) = if args.site.as_os_str() == "-" || args.site.is_file() && site::folder(&args.site).is_none()
    {
        let queue::QueueSnapshot { pending, notes } = queue::read_queue(&args.site)?;
        (pending, notes)
    } else {
        let (site, pool) = site::open(&args.site)?;
        (pending_jobs(&site, pool), Vec::new())
    };
    let shown = now::ShownPending { pending, notes, top: args.top, whole: args.output.details };
    if let Some(file) = report {
        file.write(&shown)?.publish()?;
    }
    output::print(&shown, args.output.format)?;
    Ok(DONE)
}

/// Shows what jobs used of what they held.
fn efficiency(args: &WaitsArgs) -> CommandOutcome {
    let report = args.output.report.as_deref().map(ReportFile::open_plain).transpose()?;
    let (site, question) = question(args, &[GroupProperty::User, GroupProperty::Account])?;
    let path = causes::shell_quoted(&args.site.display().to_string());
    let shown = efficiency::ShownEfficiency {
        efficiency: measure_efficiency(&site, &question),
        commands: vec![
            format!("drystone whatif {path} --limits exact"),
            format!("drystone whatif {path} --limits 'p90 of user'"),
        ],
        top: args.top,
        whole: args.output.details,
    };
    if let Some(file) = report {
        file.write(&shown)?.publish()?;
    }
    output::print(&shown, args.output.format)?;
    Ok(DONE)
}

/// Opens the site, and reads which of its jobs are meant and how they are grouped.
fn question(args: &WaitsArgs, usual: &[GroupProperty]) -> Result<(Site, WaitsOptions), CommandFailure> {
    let (site, pool) = site::open(&args.site)?;
    let mut by = Vec::new();
    for &property in if args.by.is_empty() { usual } else { &args.by } {
        if !by.contains(&property) {
            by.push(property);
        }
    }
    let edge = |text: &Option<String>, option| text.as_deref().map(|text| site.moment(text, option)).transpose();
    let (since, until) = (edge(&args.since, "--since")?, edge(&args.until, "--until")?);
    if let (Some(since), Some(until)) = (since, until)
        && since >= until
    {
        return Err(CommandFailure::usage("--since does not lie before --until"));
    }
    Ok((site, WaitsOptions { by, since, until, pool }))
}

/// The recorded waits, for programs.
pub(crate) fn asked(args: &WaitsArgs) -> Result<ShownWaits, CommandFailure> {
    let (site, question) = question(args, &[GroupProperty::Account, GroupProperty::Partition])?;
    let waits = recorded(&site, &question);
    if waits.from >= waits.until {
        return Err(CommandFailure::usage(format_args!(
            "--since and --until leave nothing of the records, which reach from {} to {}",
            document::local(&waits, site.manifest.window.from),
            document::local(&waits, site.manifest.window.until)
        )));
    }
    for note in &waits.notes {
        message::warning(note.trim_end_matches('.'));
    }
    let steps = causes::cause_steps(&waits, &site, &args.site);
    Ok(ShownWaits { waits, steps, top: args.top, whole: args.output.details })
}

#[cfg(all(unix, feature = "live"))]
impl ShownWaits {
    /// Returns the commands for the first causes.
    pub(crate) fn steps(&self) -> &[causes::CauseStep] {
        &self.steps
    }

    pub(crate) fn longest(&self) -> &[drystone_site::waits::LongWait] {
        &self.waits.longest
    }
}

impl Printable for ShownWaits {
    fn document(&self) -> Document {
        document::document((&self.waits, &self.steps), self.top.unwrap_or(DETAILED_GROUPS))
    }

    fn overview(&self) -> Option<Document> {
        (!self.whole).then(|| document::overview((&self.waits, &self.steps), self.top.unwrap_or(SHORT_GROUPS)))
    }

    fn rows(&self) -> FlatRows {
        rows::rows(&self.waits)
    }

    fn beyond_rows(&self) -> Option<&'static str> {
        Some("the hours of the week and the longest waits")
    }

    fn page(&self) -> Result<String, CommandFailure> {
        let data = serde_json::to_value(&self.waits).map_err(CommandFailure::usage)?;
        let page = StillPage {
            title: &format!("Recorded waits of {}", self.waits.site),
            subject: "",
            verdict: &causes::page_sentences(&self.waits),
            pictures: PictureSubject::Waits.draw(&data).map_err(CommandFailure::usage)?,
            details: &document::document((&self.waits, &self.steps), self.top.unwrap_or(0).max(PAGE_GROUPS)),
            data: &data,
        };
        Ok(page.html())
    }
}
