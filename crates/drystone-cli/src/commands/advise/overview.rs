//! The advice as it is printed by default: what to do, what it changes and who pays, in thirty
//! lines of eighty columns.

use super::advised::Advised;
use super::document::{advice_notes, class_table, describe_payers, edit_line, more_periods};
use crate::commands::waits::causes::cause_words;
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::number::{format_change, format_percent, in_unit};
use crate::output::reports::COLUMNS;
use drystone::metrics::MetricUnit;
use drystone_advise::{AdviceReason, AdvisedWay};
use drystone_report::meta::WORLD;
use drystone_site::waits::{SiteWaits, WaitCause, WaitCauseKind};
use drystone_whatif::ClassChange;

/// Lines of the whole overview.
const LINES: usize = 30;
/// Most figures and classes of jobs.
const FIGURES: usize = 9;
const CLASSES: usize = 5;

/// A way in which the site can change, with its answer.
struct AskedWay<'a> {
    name: &'static str,
    /// Beginning of a recommendation, and the advice to change nothing.
    words: (&'static str, &'static str),
    answer: &'a AdvisedWay,
    pays: &'a [ClassChange],
}

/// Returns the longest form that fits.
pub(super) fn render_overview(advised: &Advised) -> Document {
    let sizes = [(FIGURES, CLASSES, 3), (FIGURES, 3, 2), (4, CLASSES, 2), (4, 3, 1), (4, 2, 1), (4, 0, 1), (4, 0, 0)];
    let fits = |document: &Document| document.count_lines(Some(COLUMNS)) <= LINES;
    let mut documents =
        sizes.into_iter().map(|(figures, classes, cautions)| render_sized(advised, figures, classes, cautions));
    documents.find(fits).unwrap_or_else(|| render_sized(advised, 2, 0, 0))
}

/// Least share of all waiting at which a limit is named.
const WORTH_NAMING: f64 = 0.1;

/// Most limits that are named.
const NAMED: usize = 2;

/// The sentence on the limits that recorded waits name; `None` where no reasons are recorded or
/// hardly any waiting is of this kind.
fn recorded_limits(waits: &SiteWaits, site: &str) -> Option<String> {
    let is_limit = |cause: &&WaitCause| matches!(cause.kind, WaitCauseKind::QosLimit | WaitCauseKind::AssocLimit);
    let causes = waits.causes.iter().filter(is_limit).filter(|cause| cause.share >= WORTH_NAMING).take(NAMED);
    let parts: Vec<String> =
        causes.map(|cause| format!("{} {}", format_percent(Some(cause.share), 0), cause_words(cause))).collect();
    (waits.has_reasons && !parts.is_empty()).then(|| {
        let limits = parts.join("; ");
        format!("{limits}, which no policy changes: `drystone waits {site}` names a command for each")
    })
}

fn asked_ways(advised: &Advised) -> Vec<AskedWay<'_>> {
    let (advice, pays) = (&advised.advice, &advised.pays);
    let ways = [
        (advised.settings_tried, "Settings", ("set ", "leave slurm.conf as it is"), &advice.settings, &pays.settings),
        (advised.limits_tried, "Limits", ("change ", "leave them as they are"), &advice.limits, &pays.limits),
        (advised.live_tried, "Live policy", ("run ", "keep Slurm's own scheduler"), &advice.live, &pays.live),
    ];
    let tried_ways = ways.into_iter().filter(|(tried, ..)| *tried);
    tried_ways.map(|(_, name, words, answer, pays)| AskedWay { name, words, answer, pays }).collect()
}

fn render_sized(advised: &Advised, figures: usize, most: usize, cautions: usize) -> Document {
    let mut document = Document::default();
    document.add_heading(format!("Advice for {}", advised.workload.format_line()));
    let ways = asked_ways(advised);
    let mut facts: Vec<(String, String)> = Vec::new();
    facts.extend(advised.recent.iter().map(|part| ("Part".to_string(), part.format_sentence())));
    facts.extend(advised.workload.find_setting(WORLD).map(|world| ("World".to_string(), world.to_string())));
    let recorded_note = advised.waits.as_ref().and_then(|waits| recorded_limits(waits, &advised.path));
    let held_note =
        recorded_note.or_else(|| advised.held.as_ref().and_then(|held| held.format_sentence(&advised.path)));
    facts.extend(held_note.map(|held| ("Waiting".to_string(), held)));
    if !advised.to_look_at.is_empty() {
        let text = format!("look at {}: drystone advise {} --check", advised.to_look_at.join(", "), advised.path);
        facts.push(("Check".to_string(), text));
    }
    for one in &ways {
        facts.push((one.name.to_string(), describe_verdict(advised, one)));
        if one.answer.is_recommended() {
            if one.name == "Settings" {
                facts.extend(
                    one.answer
                        .edits
                        .iter()
                        .map(edit_line)
                        .map(|(place, text)| (String::new(), format!("{text} ({place})"))),
                );
            }
            let beware = one.answer.contradictions.iter();
            facts.extend(beware.map(|text| ("Beware".to_string(), text.clone())));
            facts.extend(describe_payers(one.answer).map(|text| ("Price".to_string(), text)));
        }
    }
    let guards = match advised.guards.is_empty() {
        true => "no guards".to_string(),
        false => format!("guards {}", advised.guards.join(", ")),
    };
    facts.push(("Goal".to_string(), format!("{}; {guards}", advised.goal)));
    let notes = advice_notes(advised);
    let caution =
        |(at, text): (usize, &String)| (if at == 0 { "Caution".to_string() } else { String::new() }, text.clone());
    facts.extend(notes.iter().take(cautions).enumerate().map(caution));
    document.add_facts(facts);
    if let Some(table) = effects_table(&ways, figures) {
        document.add_table(table);
        document.add_text(best_names(&ways));
    }
    if let Some(one) = ways.iter().find(|one| one.answer.is_recommended() && !one.pays.is_empty())
        && most > 0
    {
        document.add_table(class_table(one.pays, most));
    }
    document.add_text("More: --details (judgements, candidates, trade-off)   --report out.html (page)");
    document
}

fn best_names(asked: &[AskedWay<'_>]) -> String {
    let policy_list =
        asked.iter().filter_map(|one| Some(format!("{}: {}", way_heading(one), one.answer.best.as_ref()?.name)));
    policy_list.collect::<Vec<_>>().join("\n")
}

fn way_heading(asked: &AskedWay<'_>) -> &'static str {
    match asked.name {
        "Settings" => "best settings",
        "Limits" => "best limits",
        _ => "best live policy",
    }
}

/// The figures now and with the best of each way.
fn effects_table(asked: &[AskedWay<'_>], most: usize) -> Option<DocumentTable> {
    let with: Vec<&AskedWay<'_>> = asked.iter().filter(|one| one.answer.best.is_some()).collect();
    let first = with.first()?;
    let mut table =
        DocumentTable::new(["over all periods", "now"].into_iter().chain(with.iter().map(|one| way_heading(one))));
    for figure in first.answer.figures.iter().take(most) {
        let show = |value: f64| in_unit(Some(value), figure.unit.unwrap_or(MetricUnit::Ratio));
        let mut row: Vec<TableValue> = vec![figure.name.as_str().into(), show(figure.before).into()];
        for one in &with {
            let other_figure = one.answer.figures.iter().find(|other| other.figure == figure.figure);
            row.push(
                other_figure.map_or("-".to_string(), |f| format_after(&show(f.before), show(f.after), f.change)).into(),
            );
        }
        table.add_row(row);
    }
    Some(table)
}

/// A value with its change, where it differs as it is printed.
fn format_after(before: &str, after: String, relative: f64) -> String {
    if before == after { after } else { format!("{after} ({})", format_change(relative)) }
}

fn describe_verdict(advised: &Advised, asked: &AskedWay<'_>) -> String {
    let AskedWay { words: (begin, leave), answer, .. } = asked;
    let judgement = &answer.judged;
    let period = advised.period.name();
    let name = answer.best.as_ref().map_or("", |best| best.name.as_str());
    let actual_change = judgement.got.map_or("-".to_string(), format_change);
    let spread = format_percent(Some(advised.advice.spread), 1);
    let beyond = match advised.advice.spread {
        spread if spread < 0.0005 => String::new(),
        _ => format!(" by more than the {spread} that Slurm's timing alone causes"),
    };
    match answer.reason {
        AdviceReason::Recommended => format!(
            "{begin}{name}: the goal changes by {actual_change} on {period}s not used to choose; better in {} of {} judgements, and in {} of {} \
             {period}s",
            judgement.better,
            judgement.of,
            answer.unseen.signs.shorter,
            answer.unseen.signs.week_count()
        ),
        AdviceReason::NothingBetter if advised.stopped => {
            format!("{leave}: nothing tried so far is better, and it was stopped before all was tried")
        }
        AdviceReason::NothingBetter => {
            format!("{leave}: nothing tried improves on the present{beyond}")
        }
        AdviceReason::NotHeld => format!(
            "{leave}: settings chosen on some {period}s won on the others in only {} of {} trials",
            judgement.better, judgement.of
        ),
        AdviceReason::WithinSpread => {
            format!(
                "{leave}: choices are worth {actual_change} on unseen {period}s, no more than the {spread} that Slurm's timing alone causes"
            )
        }
        AdviceReason::Unclear => format!(
            "{} {period}s cannot tell: {name} changes the goal by {actual_change} on {period}s not used to choose{}",
            advised.advice.periods,
            more_periods(answer, period)
        ),
        AdviceReason::TooFewPeriods => {
            format!("nothing can be recommended from {} {period}s; four weeks are needed", advised.advice.periods)
        }
        AdviceReason::Unfinished => "nothing is recommended yet: it was stopped before this was judged".to_string(),
        AdviceReason::Unnoticed => {
            format!("{leave}: the best, {name}, changes the goal by less than a user notices")
        }
        AdviceReason::InsideReplayError => {
            format!("{leave}: the best, {name}, changes the goal by less than the replay is off")
        }
    }
}
