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
    GroupProperty, SiteWaits, WaitsOptions, measure_efficiency, measure_waits as recorded, pending_jobs,
};
use serde::Serialize;

/// A result, and how much of it is shown.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct ShownWaits {
    waits: SiteWaits,
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

pub(crate) fn run_waits(args: &WaitsArgs) -> CommandOutcome {
    message::be_quiet(args.output.quiet);
    if args.now {
        return show_pending(args);
    }
    if args.efficiency {
        return show_efficiency(args);
    }
    let report = args.output.report.as_deref().map(ReportFile::create_file).transpose()?;
    let mut shown_waits = find_waits(args)?;
    if let Some(file) = report {
        shown_waits.whole = true;
        file.write_result(&shown_waits)?.publish()?;
    }
    shown_waits.whole = args.output.details;
    output::print_result(&shown_waits, args.output.format)?;
    Ok(DONE)
}

/// Shows the jobs that wait at the end of the records.
fn show_pending(args: &WaitsArgs) -> CommandOutcome {
    let report = args.output.report.as_deref().map(ReportFile::open_plain).transpose()?;
    let (pending, notes) =
        if args.site.as_os_str() == "-" || args.site.is_file() && site::split_site_path(&args.site).is_none() {
            let queue::QueueSnapshot { pending, notes } = queue::read_queue(&args.site)?;
            (pending, notes)
        } else {
            let (site, pool) = site::open_site(&args.site)?;
            (pending_jobs(&site, pool), Vec::new())
        };
    let shown_pending = now::ShownPending { pending, notes, top: args.top, whole: args.output.details };
    if let Some(file) = report {
        file.write_result(&shown_pending)?.publish()?;
    }
    output::print_result(&shown_pending, args.output.format)?;
    Ok(DONE)
}

/// Shows what jobs used of what they held.
fn show_efficiency(args: &WaitsArgs) -> CommandOutcome {
    let report = args.output.report.as_deref().map(ReportFile::open_plain).transpose()?;
    let (site, question) = read_question(args, &[GroupProperty::User, GroupProperty::Account])?;
    let path = causes::shell_quoted(&args.site.display().to_string());
    let shown_efficiency = efficiency::ShownEfficiency {
        efficiency: measure_efficiency(&site, &question),
        commands: vec![
            format!("drystone whatif {path} --limits exact"),
            format!("drystone whatif {path} --limits 'p90 of user'"),
        ],
        top: args.top,
        whole: args.output.details,
    };
    if let Some(file) = report {
        file.write_result(&shown_efficiency)?.publish()?;
    }
    output::print_result(&shown_efficiency, args.output.format)?;
    Ok(DONE)
}

/// Opens the site, and reads which of its jobs are meant and how they are grouped.
fn read_question(args: &WaitsArgs, usual: &[GroupProperty]) -> Result<(Site, WaitsOptions), CommandFailure> {
    let (site, pool) = site::open_site(&args.site)?;
    let mut by = Vec::new();
    for &property in if args.by.is_empty() { usual } else { &args.by } {
        if !by.contains(&property) {
            by.push(property);
        }
    }
    let edge = |text: &Option<String>, option| text.as_deref().map(|text| site.parse_moment(text, option)).transpose();
    let (since, until) = (edge(&args.since, "--since")?, edge(&args.until, "--until")?);
    if let (Some(since), Some(until)) = (since, until)
        && since >= until
    {
        return Err(CommandFailure::usage_error("--since does not lie before --until"));
    }
    Ok((site, WaitsOptions { by, since, until, pool }))
}

/// The recorded waits, for programs.
pub(crate) fn find_waits(args: &WaitsArgs) -> Result<ShownWaits, CommandFailure> {
    let (site, question) = read_question(args, &[GroupProperty::Account, GroupProperty::Partition])?;
    let waits = recorded(&site, &question);
    if waits.from >= waits.until {
        return Err(CommandFailure::usage_error(format_args!(
            "--since and --until leave nothing of the records, which reach from {} to {}",
            document::format_local_time(&waits, site.manifest.window.from),
            document::format_local_time(&waits, site.manifest.window.until)
        )));
    }
    for note in &waits.notes {
        message::print_warning(note.trim_end_matches('.'));
    }
    let steps = causes::cause_steps(&waits, &site, &args.site);
    Ok(ShownWaits { waits, steps, top: args.top, whole: args.output.details })
}

#[cfg(all(unix, feature = "live"))]
impl ShownWaits {
    pub(crate) fn cause_steps(&self) -> &[causes::CauseStep] {
        &self.steps
    }

    pub(crate) fn longest_waits(&self) -> &[drystone_site::waits::LongWait] {
        &self.waits.longest
    }
}

impl Printable for ShownWaits {
    fn render_document(&self) -> Document {
        document::render_document((&self.waits, &self.steps), self.top.unwrap_or(DETAILED_GROUPS))
    }

    fn render_overview(&self) -> Option<Document> {
        (!self.whole).then(|| document::render_overview((&self.waits, &self.steps), self.top.unwrap_or(SHORT_GROUPS)))
    }

    fn render_rows(&self) -> FlatRows {
        rows::render_rows(&self.waits)
    }

    fn beyond_rows(&self) -> Option<&'static str> {
        Some("the hours of the week and the longest waits")
    }

    fn render_page(&self) -> Result<String, CommandFailure> {
        let data = serde_json::to_value(&self.waits).map_err(CommandFailure::usage_error)?;
        let page = StillPage {
            title: &format!("Recorded waits of {}", self.waits.site),
            subject: "",
            verdict: &causes::page_sentences(&self.waits),
            pictures: PictureSubject::Waits.draw_pictures(&data).map_err(CommandFailure::usage_error)?,
            details: &document::render_document((&self.waits, &self.steps), self.top.unwrap_or(0).max(PAGE_GROUPS)),
            data: &data,
        };
        Ok(page.render_html())
    }
}
