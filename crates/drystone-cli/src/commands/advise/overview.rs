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
pub(super) fn render_overview(result: &Advised) -> Document {
    let sizes = [(FIGURES, CLASSES, 3), (FIGURES, 3, 2), (4, CLASSES, 2), (4, 3, 1), (4, 2, 1), (4, 0, 1), (4, 0, 0)];
    let fits = |document: &Document| document.count_lines(Some(COLUMNS)) <= LINES;
    let mut documents =
        sizes.into_iter().map(|(figures, classes, cautions)| render_sized(result, figures, classes, cautions));
    documents.find(fits).unwrap_or_else(|| render_sized(result, 2, 0, 0))
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

fn asked_ways(result: &Advised) -> Vec<AskedWay<'_>> {
    let (advice, pays) = (&result.advice, &result.pays);
    let ways = [
        (result.settings_tried, "Settings", ("set ", "leave slurm.conf as it is"), &advice.settings, &pays.settings),
        (result.limits_tried, "Limits", ("change ", "leave them as they are"), &advice.limits, &pays.limits),
        (result.live_tried, "Live policy", ("run ", "keep Slurm's own scheduler"), &advice.live, &pays.live),
    ];
    let tried_ways = ways.into_iter().filter(|(is_tried, ..)| *is_tried);
    tried_ways.map(|(_, name, words, answer, pays)| AskedWay { name, words, answer, pays }).collect()
}

fn render_sized(result: &Advised, figures: usize, most: usize, cautions: usize) -> Document {
    let mut document = Document::default();
    document.add_heading(format!("Advice for {}", result.workload.format_line()));
    let ways = asked_ways(result);
    let mut facts: Vec<(String, String)> = Vec::new();
    facts.extend(result.recent.iter().map(|part| ("Part".to_string(), part.format_sentence())));
    facts.extend(result.workload.find_setting(WORLD).map(|world| ("World".to_string(), world.to_string())));
    let recorded_note = result.waits.as_ref().and_then(|waits| recorded_limits(waits, &result.path));
    let held_note =
        recorded_note.or_else(|| result.held.as_ref().and_then(|waits| waits.format_sentence(&result.path)));
    facts.extend(held_note.map(|sentence| ("Waiting".to_string(), sentence)));
    if !result.to_look_at.is_empty() {
        let text = format!("look at {}: drystone advise {} --check", result.to_look_at.join(", "), result.path);
        facts.push(("Check".to_string(), text));
    }
    for way in &ways {
        facts.push((way.name.to_string(), describe_verdict(result, way)));
        if way.answer.is_recommended() {
            if way.name == "Settings" {
                facts.extend(
                    way.answer
                        .edits
                        .iter()
                        .map(edit_line)
                        .map(|(place, text)| (String::new(), format!("{text} ({place})"))),
                );
            }
            let beware = way.answer.contradictions.iter();
            facts.extend(beware.map(|text| ("Beware".to_string(), text.clone())));
            facts.extend(describe_payers(way.answer).map(|text| ("Price".to_string(), text)));
        }
    }
    let guards = match result.guards.is_empty() {
        true => "no guards".to_string(),
        false => format!("guards {}", result.guards.join(", ")),
    };
    facts.push(("Goal".to_string(), format!("{}; {guards}", result.goal)));
    let notes = advice_notes(result);
    let caution =
        |(at, text): (usize, &String)| (if at == 0 { "Caution".to_string() } else { String::new() }, text.clone());
    facts.extend(notes.iter().take(cautions).enumerate().map(caution));
    document.add_facts(facts);
    if let Some(table) = effects_table(&ways, figures) {
        document.add_table(table);
        document.add_text(best_names(&ways));
    }
    if let Some(way) = ways.iter().find(|way| way.answer.is_recommended() && !way.pays.is_empty())
        && most > 0
    {
        document.add_table(class_table(way.pays, most));
    }
    document.add_text("More: --details (judgements, candidates, trade-off)   --report out.html (page)");
    document
}

fn best_names(ways: &[AskedWay<'_>]) -> String {
    let policy_list =
        ways.iter().filter_map(|way| Some(format!("{}: {}", way_heading(way), way.answer.best.as_ref()?.name)));
    policy_list.collect::<Vec<_>>().join("\n")
}

fn way_heading(way: &AskedWay<'_>) -> &'static str {
    match way.name {
        "Settings" => "best settings",
        "Limits" => "best limits",
        _ => "best live policy",
    }
}

/// The figures now and with the best of each way.
fn effects_table(ways: &[AskedWay<'_>], most: usize) -> Option<DocumentTable> {
    let with: Vec<&AskedWay<'_>> = ways.iter().filter(|way| way.answer.best.is_some()).collect();
    let first = with.first()?;
    let mut table =
        DocumentTable::new(["over all periods", "now"].into_iter().chain(with.iter().map(|way| way_heading(way))));
    for figure in first.answer.figures.iter().take(most) {
        let show = |value: f64| in_unit(Some(value), figure.unit.unwrap_or(MetricUnit::Ratio));
        let mut row: Vec<TableValue> = vec![figure.name.as_str().into(), show(figure.before).into()];
        for way in &with {
            let other_figure = way.answer.figures.iter().find(|candidate| candidate.figure == figure.figure);
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

fn describe_verdict(result: &Advised, way: &AskedWay<'_>) -> String {
    let AskedWay { words: (begin, leave), answer, .. } = way;
    let judgement = &answer.judged;
    let period = result.period.name();
    let name = answer.best.as_ref().map_or("", |best| best.name.as_str());
    let actual_change = judgement.got.map_or("-".to_string(), format_change);
    let spread = format_percent(Some(result.advice.spread), 1);
    let beyond = match result.advice.spread {
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
        AdviceReason::NothingBetter if result.stopped => {
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
            result.advice.periods,
            more_periods(answer, period)
        ),
        AdviceReason::TooFewPeriods => {
            format!("nothing can be recommended from {} {period}s; four weeks are needed", result.advice.periods)
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
