//! Pages of a site: what each asks for, and the command that makes it.

use super::desk::{AnswerDesk, AnswerState};
use super::fields::{build_address, read_fields};
use super::forms::{CHANGES, change_form, find_value, job_form, next_links, write_notes, write_section, write_story};
use crate::args::Command;
use crate::commands::{explain, fidelity, gantt, waits, whatif};
use crate::exit::{CommandFailure, USAGE};
use crate::input::{self, WorkloadInput};
use crate::library::of_words;
use crate::output::{Printable, message};
use crate::site;
use drystone_live::web::{PageMaker, PageResponse};
use drystone_report::html::{escape_html, render_prose};
use drystone_report::{ServerParts, pending_page, section_page, served_page};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Addresses and names of the pages.
const PAGES: [(&str, &str); 5] = [
    ("/", "Waits"),
    ("/explain", "Explain a job"),
    ("/whatif", "What if"),
    ("/gantt", "Gantt"),
    ("/fidelity", "Fidelity"),
];
/// Groupings of waits that have a link.
const GROUPINGS: [&str; 5] = ["account,partition", "user", "size", "hour", "user,reason"];
/// Options of `waits` that its address may have.
const WAITS: [&str; 3] = ["by", "since", "until"];
/// Policy of a site that has a `slurm.conf`.
const SLURM: &str = "slurm";
/// Days of a Gantt chart, and seconds of a day.
const WEEK: i64 = 7;
const DAY: i64 = 86_400;

/// No answer is cancelled: the process ends, or the answer is made.
static NEVER: AtomicBool = AtomicBool::new(false);

type Fields = [(String, String)];

/// Page and section that a command and its options make.
struct PageParts {
    html: String,
    section: String,
}

pub(super) struct SitePages {
    maker: Arc<SitePageMaker>,
    desk: Arc<AnswerDesk>,
    manifest: PathBuf,
}

struct SitePageMaker {
    /// Path as the commands take it.
    path: String,
    folder: PathBuf,
    pool: Option<String>,
}

impl SitePages {
    pub(super) fn new(path: &Path) -> Result<SitePages, CommandFailure> {
        // The path is a word of commands, and no option.
        let path =
            if path.as_os_str().as_encoded_bytes().starts_with(b"-") { Path::new(".").join(path) } else { path.into() };
        let text = path.to_str().ok_or_else(|| {
            CommandFailure::usage_error(format_args!(
                "{}: a name that is no UTF-8 cannot be served; rename the folder",
                path.display()
            ))
        })?;
        let (folder, pool) = site::split_site_path(&path).unwrap_or_else(|| (path.clone(), None));
        let manifest = folder.join("site.json");
        let maker = SitePageMaker { path: text.to_string(), folder, pool };
        Ok(SitePages { maker: Arc::new(maker), desk: Arc::default(), manifest })
    }
}

impl PageMaker for SitePages {
    fn make_page(&self, path: &str, query: &str) -> PageResponse {
        let fields: Vec<(String, String)> =
            read_fields(query).into_iter().filter(|(_, value)| !value.is_empty()).collect();
        let Some(&(place, name)) = PAGES.iter().find(|(address, _)| *address == path) else {
            let text = format!("<p role=\"alert\">There is no page {}.</p>", escape_html(path));
            return finish_page(404, &section_page("No such page", &text), "");
        };
        if let Some(form) = empty_form(place, &fields) {
            return finish_page(200, &section_page(name, &form), place);
        }
        // A site that is imported again has other answers.
        let version = std::fs::metadata(&self.manifest).and_then(|data| data.modified()).ok();
        let maker = Arc::clone(&self.maker);
        let question = format!("{version:?} {path}?{query}");
        let work = move || maker.answer_page(place, name, &fields);
        let fault = move || {
            let text = "<p role=\"alert\">This page failed because of a bug; see the terminal for details.</p>";
            finish_page(500, &section_page(name, text), place)
        };
        match self.desk.find_answer(&question, work, fault) {
            AnswerState::Made(page) => page,
            AnswerState::AtWork => {
                let text = format!(
                    "<p role=\"status\">Computing: {}.</p>\n<progress aria-label=\"At work\"></progress>\n\
                     <p class=\"note\">This page updates when the answer is ready (<a href=\"{}\">check now</a>).</p>\n",
                    escape_html(&describe_question(place, &read_fields(query))),
                    escape_html(&format!("{path}?{query}"))
                );
                finish_page(202, &pending_page(name, &text), place)
            }
            AnswerState::Full => {
                let text = "<p role=\"alert\">Four other answers are still being computed; reload this page when one of them has finished.</p>";
                finish_page(503, &section_page(name, text), place)
            }
        }
    }
}

impl SitePageMaker {
    /// The page of a question, or why there is none: the sentence of the command.
    fn answer_page(&self, place: &str, name: &str, fields: &Fields) -> PageResponse {
        let (outcome, messages) = message::overhear_messages(|| match place {
            "/explain" => self.explain_page(fields),
            "/whatif" => self.whatif_page(fields),
            "/gantt" => self.gantt_page(fields),
            "/fidelity" => self.fidelity_page(),
            _ => self.waits_page(fields),
        });
        match outcome {
            Ok(PageParts { html, section }) => {
                // The page of waits has its notes.
                let notes = if place == "/" { String::new() } else { write_notes(&messages) };
                let parts = ServerParts { links: &PAGES, current: place, section: &section, notes: &notes };
                PageResponse { status: 200, html: served_page(&html, &parts).into() }
            }
            Err(failure) => {
                let status = if failure.exit_code() == USAGE { 400 } else { 500 };
                let text = format!("<p role=\"alert\" class=\"bad\">{}</p>\n", render_prose(failure.message()));
                finish_page(status, &section_page(name, &(text + &fill_form(place, fields))), place)
            }
        }
    }

    /// The words of a command with this site and options of the page's fields.
    fn command_words(&self, command: &str, fields: &Fields, options: &[&str]) -> Vec<String> {
        let chosen_fields = fields.iter().filter(|(name, _)| options.contains(&name.as_str()));
        let option_words = chosen_fields.map(|(name, value)| format!("--{name}={value}"));
        [command.to_string(), self.path.clone()].into_iter().chain(option_words).collect()
    }

    fn waits_page(&self, fields: &Fields) -> Result<PageParts, CommandFailure> {
        let Command::Waits(args) = parse_command(&self.command_words("waits", fields, &WAITS))? else {
            return Err(refuse_empty());
        };
        let waits = waits::find_waits(&args)?;
        let mut links = next_links(waits.cause_steps(), waits.longest_waits());
        links.push_str("<p>Waits by ");
        let period: Vec<(&str, &str)> = ["since", "until"]
            .map(|name| (name, find_value(fields, name)))
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .collect();
        let groupings = GROUPINGS.iter().map(|by| {
            let words = by.replace(',', " and ");
            let options: Vec<(&str, &str)> = [("by", *by)].into_iter().chain(period.iter().copied()).collect();
            format!("<a href=\"{}\">{words}</a>", escape_html(&build_address("/", &options)))
        });
        links.push_str(&groupings.collect::<Vec<_>>().join(" · "));
        links.push_str("</p>\n");
        Ok(PageParts { html: waits.render_page()?, section: write_section("next", "Next", &(links + &job_form(""))) })
    }

    /// Name of the policy that represents the site's own, which an import may change.
    fn read_own_policy(&self) -> Result<&'static str, CommandFailure> {
        Ok(site::own_policy(Some(Path::new(&self.path)))?.map_or("easy", |_| SLURM))
    }

    fn explain_page(&self, fields: &Fields) -> Result<PageParts, CommandFailure> {
        let mut words = self.command_words("explain", fields, &["job"]);
        let policy = self.read_own_policy()?;
        if policy != SLURM {
            words.push(format!("--policy={policy}"));
        }
        let Command::Explain(args) = parse_command(&words)? else { return Err(refuse_empty()) };
        let job_story = explain::tell_job(&args)?;
        let html = section_page(&format!("Job {}", args.job), &write_story(&job_story.text));
        Ok(PageParts { html, section: job_form(&args.job) })
    }

    fn whatif_page(&self, fields: &Fields) -> Result<PageParts, CommandFailure> {
        let options = CHANGES.map(|(name, ..)| name);
        let Command::Whatif(args) = parse_command(&self.command_words("whatif", fields, &options))? else {
            return Err(refuse_empty());
        };
        let result = whatif::find_result(&args, None, &NEVER)?.ok_or_else(refuse_empty)?;
        let again = format!("<details><summary>Other changes</summary>\n{}</details>\n", change_form(fields));
        Ok(PageParts { html: result.render_page()?, section: again })
    }

    /// A week of the schedule of one pool, as the site's own policy makes it.
    fn gantt_page(&self, fields: &Fields) -> Result<PageParts, CommandFailure> {
        let (site, _) = site::open_site(&self.folder)?;
        let busiest = site.manifest.pools.get(usize::from(site::busiest_pool(&site))).map(|pool| pool.name.clone());
        let pool_name = Some(find_value(fields, "pool")).filter(|pool| !pool.is_empty()).map(str::to_string);
        let pool = self.pool.clone().or(pool_name).or(busiest).ok_or_else(refuse_empty)?;
        if !site.manifest.pools.iter().any(|other_pool| other_pool.name == pool) {
            let names: Vec<&str> = site.manifest.pools.iter().map(|other_pool| other_pool.name.as_str()).collect();
            return Err(CommandFailure::usage_error(format_args!(
                "{}: no pool is called `{pool}`; the pools are {}",
                self.folder.display(),
                names.join(", ")
            )));
        }
        let path = format!("{}#{pool}", self.folder.display());
        let words = ["gantt", &path, &format!("--policy={}", self.read_own_policy()?)].map(str::to_string);
        let Command::Gantt(mut args) = parse_command(&words)? else { return Err(refuse_empty()) };
        let input =
            WorkloadInput::read_part(args.source.path(), (&args.log, &args.cut, &args.real), input::UNSEEDED, false)?;
        let days = input.workload.submit_range().map_or(0, |(_, last)| last.0.div_euclid(DAY)) + 1;
        let day = match find_value(fields, "day") {
            "" => (days - WEEK).max(0),
            text => text.parse().ok().filter(|day| (0..days).contains(day)).ok_or_else(|| {
                CommandFailure::usage_error(format_args!("day {text}: the records have days from 0 to {}", days - 1))
            })?,
        };
        args.window = Some(format!("{}..{}", day * DAY, (day + WEEK) * DAY));
        let chart = gantt::draw_schedule(&args, &input, None)?.ok_or_else(refuse_empty)?;
        let mut text = format!("<p>Days {day} to {} of 0 to {}, simulated", (day + WEEK).min(days) - 1, days - 1);
        let mut link = |pool: &str, day: i64, words: &str| {
            let day = day.clamp(0, days - 1).to_string();
            let address = build_address("/gantt", &[("pool", pool), ("day", &day)]);
            let _ = write!(text, " · <a href=\"{}\">{}</a>", escape_html(&address), escape_html(words));
        };
        if day > 0 {
            link(&pool, (day - WEEK).max(0), "a week earlier");
        }
        if day + WEEK < days {
            link(&pool, day + WEEK, "a week later");
        }
        let other_pools = site.manifest.pools.iter().filter(|other_pool| self.pool.is_none() && other_pool.jobs > 0);
        for other_pool in other_pools.filter(|other_pool| other_pool.name != pool) {
            // Its records may end on another day.
            let address = build_address("/gantt", &[("pool", &other_pool.name)]);
            let _ = write!(text, " · <a href=\"{}\">pool {}</a>", escape_html(&address), escape_html(&other_pool.name));
        }
        text.push_str("</p>\n");
        Ok(PageParts { html: chart.render_page(args.colour), section: text })
    }

    fn fidelity_page(&self) -> Result<PageParts, CommandFailure> {
        let Command::Fidelity(args) = parse_command(&self.command_words("fidelity", &[], &[]))? else {
            return Err(refuse_empty());
        };
        let result = fidelity::measure_fidelity(&args, &NEVER)?.ok_or_else(refuse_empty)?;
        Ok(PageParts { html: result.render_page()?, section: String::new() })
    }
}

fn parse_command(words: &[String]) -> Result<Command, CommandFailure> {
    of_words(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

fn refuse_empty() -> CommandFailure {
    CommandFailure::usage_error("there is nothing to show")
}

/// The form of a page, where it has one.
fn fill_form(place: &str, fields: &Fields) -> String {
    match place {
        "/explain" => job_form(find_value(fields, "job")),
        "/whatif" => change_form(fields),
        _ => String::new(),
    }
}

/// The form of a page that asks for something, where nothing is asked yet.
fn empty_form(place: &str, fields: &Fields) -> Option<String> {
    let is_asked = match place {
        "/explain" => !find_value(fields, "job").is_empty(),
        "/whatif" => CHANGES.iter().any(|(name, ..)| !find_value(fields, name).is_empty()),
        _ => true,
    };
    (!is_asked).then(|| fill_form(place, &[]))
}

fn describe_question(place: &str, fields: &Fields) -> String {
    let values: Vec<&str> = fields.iter().map(|(_, value)| value.as_str()).filter(|value| !value.is_empty()).collect();
    let name = PAGES.iter().find(|(address, _)| *address == place).map_or("", |(_, name)| name);
    if values.is_empty() { name.to_string() } else { format!("{name}: {}", values.join("; ")) }
}

/// A page of the server's own.
fn finish_page(status: u16, html: &str, current: &str) -> PageResponse {
    let parts = ServerParts { links: &PAGES, current, ..ServerParts::default() };
    PageResponse { status, html: served_page(html, &parts).into() }
}
