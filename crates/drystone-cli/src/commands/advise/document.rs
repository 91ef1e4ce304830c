//! The advice for people.

use super::advised::Advised;
use crate::output::document::{Document, DocumentTable, TableValue, Tone};
use crate::output::number::{TimeColumn, TimeUnit, bound, change, count, duration, fixed, in_unit, percent, plural};
use drystone::inference::{NoEstimate, says_nothing};
use drystone::metrics::MetricUnit;
use drystone_advise::{AdviceReason, AdvisedWay, Figured, GoalFigure, Tried, UnseenTest};
use drystone_whatif::ClassChange;

/// Ways in which a site can change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SiteWay {
    Settings,
    Live,
    Limits,
}

/// Most classes that are listed as gaining or paying.
const PAYERS: usize = 8;
/// Most of what was tried that is listed.
pub(super) const LISTED: usize = 12;

/// Everything, with so many of the candidates.
pub(super) fn document(advised: &Advised, listed: usize) -> Document {
    let mut document = Document::default();
    document.heading(advised.workload.line());
    document.facts(facts(advised));
    let advice = &advised.advice;
    if advised.settings_tried {
        document.heading("Settings of Slurm");
        answer(&mut document, advised, (&advice.settings, &advised.pays.settings), SiteWay::Settings);
    }
    if advised.live_tried {
        document.heading("Another policy, with `drystone live`");
        answer(&mut document, advised, (&advice.live, &advised.pays.live), SiteWay::Live);
    }
    if advised.limits_tried {
        document.heading("Limits of partitions and QOS");
        answer(&mut document, advised, (&advice.limits, &advised.pays.limits), SiteWay::Limits);
    }
    if !advice.tried.is_empty() {
        document.heading("Candidates over all periods, best first");
        document.table(tried(advised, listed));
    }
    if let [first, .., last] = advice.front.as_slice() {
        document.heading(format!("The trade-off, from the best goal ({first}) to the shortest longest wait ({last})"));
        document.table(front(advised));
    }
    notes(advised).into_iter().for_each(|note| document.text(note));
    let hidden = advice.tried.len().saturating_sub(listed.saturating_add(3));
    if hidden > 0 {
        document.text(format!(
            "{} more were tried; --format csv lists them. `goal` is the change of the goal.",
            fixed(hidden as f64, 0)
        ));
    }
    document
}

/// The trade-off between the goal and the longest wait.
fn front(advised: &Advised) -> DocumentTable {
    let figures = &advised.baseline.figures;
    let place = |id: &str| figures.iter().position(|(name, ..)| name == id);
    let mut table = DocumentTable::new(["what", "goal", "mean wait", "longest wait"]);
    for name in &advised.advice.front {
        let Some(one) = advised.advice.tried.iter().find(|one| one.name == *name) else { continue };
        let value =
            |id: &str| place(id).and_then(|at| one.values.get(at)).map_or("-".to_string(), |&value| duration(value));
        let what = if one.live { format!("live: {name}") } else { name.clone() };
        table.row(vec![what.into(), change(one.change).into(), value("avgW").into(), value("maxW").into()]);
    }
    table
}

fn facts(advised: &Advised) -> Vec<(String, String)> {
    let advice = &advised.advice;
    let guards = if advised.guards.is_empty() { "none".to_string() } else { advised.guards.join(", ") };
    let beyond = advised.excess_beyond.map_or(String::new(), |seconds| {
        format!(" (Tw: waits beyond {}, which 98% of the jobs do not wait now)", duration(seconds))
    });
    let periods = plural(advice.periods as u64, advised.period.name());
    let edges = if advised.edges_left_out { ", without the first and the last" } else { "" };
    let conf = advised.slurm.clone().unwrap_or_else(|| "none; Slurm's defaults".to_string());
    let facts = [
        ("drystone", advised.drystone.to_string()),
        ("workload hash", advised.workload.hash.clone()),
        ("goal", format!("{}{beyond}", advised.goal)),
        ("guards", guards),
        ("slurm.conf", conf),
        ("passes", passes(advised)),
        (
            "judged by",
            format!(
                "{periods}{edges}; {} judgements; {} clock phases; seed {}",
                advice.settings.judged.of, advice.phases, advised.seed
            ),
        ),
        ("clock phases alone", format!("change the goal by up to {}", percent(Some(advice.spread), 1))),
        ("simulations", count(advice.simulations as u64)),
    ];
    let part = advised.recent.iter().map(|part| ("part", part.sentence()));
    part.chain(facts).map(|(name, value)| (name.to_string(), value)).collect()
}

/// Returns the duration of passes, in words.
fn passes(advised: &Advised) -> String {
    let cost = format!("{} µs for each job tested ({})", advised.cost.micros, advised.cost.source);
    match advised.instantaneous {
        false => cost,
        true => format!("{cost}; at most {} jobs wait, so that does not matter here", count(advised.most_waiting)),
    }
}

fn answer(document: &mut Document, advised: &Advised, (answer, pays): (&AdvisedWay, &[ClassChange]), way: SiteWay) {
    for (at, sentence) in verdict(advised, answer, way).into_iter().enumerate() {
        document.text(sentence);
        // What to write stands right behind what to do.
        if at == 0 && answer.is_recommended() && way == SiteWay::Settings {
            document.facts(answer.edits.iter().map(line).collect());
        }
    }
    if answer.best.is_some() {
        let mut table = DocumentTable::new(["over all periods", "now", "then", "change", "95% interval"]);
        for figure in &answer.figures {
            let show = |value| in_unit(Some(value), figure.unit.unwrap_or(MetricUnit::Ratio));
            let tone = match figure.interval {
                Some((_, high)) if high < 0.0 => Tone::Good,
                Some((low, _)) if low > 0.0 => Tone::Bad,
                _ => Tone::Plain,
            };
            table.row(vec![
                format!("{} ({})", figure.name, figure.figure).into(),
                show(figure.before).into(),
                show(figure.after).into(),
                TableValue::toned(change(figure.change), tone),
                certainty(figure).into(),
            ]);
        }
        document.table(table);
    }
    if !pays.is_empty() {
        document.table(classes(pays, PAYERS));
    }
}

/// Classes of jobs that gain or pay, with their waits.
pub(super) fn classes(pays: &[ClassChange], most: usize) -> DocumentTable {
    let shown: Vec<&ClassChange> = pays.iter().filter(|class| class.change.sign() != 0).take(most).collect();
    let longest = shown.iter().map(|class| class.change.before.max(class.change.after)).fold(0.0, f64::max);
    let unit = TimeUnit::of(longest);
    let column = TimeColumn::in_unit(unit, &shown.iter().map(|class| class.change.difference).collect::<Vec<_>>());
    let mut table = DocumentTable::new([
        "who gains and who pays".to_string(),
        "of work".to_string(),
        format!("wait now, {}", unit.name()),
        "difference".to_string(),
        "node-h waited".to_string(),
    ]);
    for class in shown {
        let tone = if class.change.sign() > 0 { Tone::Bad } else { Tone::Good };
        let name = match class.by.as_str() {
            "partition" | "account" => format!("{} {}", class.by, class.class),
            _ => class.class.clone(),
        };
        let hours = fixed(class.change.node_hours, 0);
        let hours = if class.change.node_hours > 0.0 { format!("+{hours}") } else { hours };
        table.row(vec![
            name.into(),
            percent(Some(class.work), 0).into(),
            unit.text(Some(class.change.before)).into(),
            TableValue::toned(column.signed(class.change.difference), tone),
            hours.into(),
        ]);
    }
    table
}

/// Returns the position of a line, and the line.
pub(super) fn line(edit: &drystone_advise::ConfEdit) -> (String, String) {
    let place = edit.replaces.as_ref().map_or("add".to_string(), |place| format!("in place of {place}"));
    (place, edit.line.clone())
}

fn interval((low, high): (f64, f64)) -> String {
    format!("{} to {}%", bound(low), bound(high))
}

/// The interval of a figure, or the reason for none.
fn certainty(figure: &Figured) -> String {
    match (figure.interval, figure.no_interval) {
        (Some(ends), _) if says_nothing(ends) => "nothing can be said".to_string(),
        (Some(ends), _) => interval(ends),
        (None, Some(NoEstimate::OneBlock)) => "one block holds all".to_string(),
        (None, Some(NoEstimate::TooFew)) => "too few weeks".to_string(),
        (None, Some(NoEstimate::NoRatio)) => "0 before".to_string(),
        (None, None) => "one job's value".to_string(),
    }
}

/// Describes what choices are worth on blocks of periods that they were not made on.
pub(super) fn unseen(answer: &AdvisedWay, period: &str) -> Option<String> {
    let UnseenTest { change: relative, interval: ends, signs, .. } = &answer.unseen;
    let ends = match ends {
        Some(ends) if says_nothing(*ends) => String::new(),
        Some(ends) => format!(" ({})", interval(*ends)),
        None => String::new(),
    };
    let better = format!("better in {} of {} {period}s", signs.shorter, signs.weeks());
    Some(format!("judged on {period}s that it was not chosen by: {}{ends}, {better}", change((*relative)?)))
}

/// Describes the further periods that would tell a change of 10 %.
pub(super) fn more_periods(answer: &AdvisedWay, period: &str) -> String {
    match answer.unseen.more_periods {
        Some(more) if more > 0 => {
            let more = plural(more as u64, &format!("more {period}"));
            format!("; about {more} like these would tell a change of 10%")
        }
        _ => String::new(),
    }
}

/// The recommendation in words.
fn describe_action(way: SiteWay, name: &str) -> String {
    match way {
        SiteWay::Live => format!("Run {name}"),
        SiteWay::Settings => format!("Set {name}"),
        SiteWay::Limits => format!("Change `{name}`"),
    }
}

/// Returns the advice, its reason, and its certainty.
fn verdict(advised: &Advised, answer: &AdvisedWay, way: SiteWay) -> Vec<String> {
    let judged = &answer.judged;
    let period = advised.period.name();
    let mut all = Vec::new();
    let name = answer.best.as_ref().map_or(String::new(), |best| best.name.clone());
    let best = answer.best.as_ref().map_or(String::new(), |best| {
        let interval =
            answer.interval.filter(|i| !says_nothing(*i)).map_or(String::new(), |i| format!(" ({})", interval(i)));
        format!("Best over all {period}s: {name}, {}{interval}.", change(best.change))
    });
    let leave = if way == SiteWay::Live { "Keep Slurm's own scheduler." } else { "Leave it as it is." };
    let sure = format!("better on unseen {period}s in {} of {} judgements", judged.better, judged.of);
    let got = judged.got.map_or(String::new(), change);
    let spread = percent(Some(advised.advice.spread), 1);
    match answer.reason {
        AdviceReason::Recommended => {
            let what = describe_action(way, &name);
            let between = judged.between.map_or(String::new(), |b| format!(", mostly {}", interval(b)));
            all.push(format!("{what}: the goal changes by {got} on {period}s that were not used to choose{between}."));
            let unseen = unseen(answer, period).map_or(String::new(), |text| format!(" {}.", capitalised(&text)));
            all.push(format!("Certainty: {sure}.{unseen} {best}"));
            let contradicts = |text: &String| {
                format!(
                    "Beware: {text}. The simulation finds that it pays all the same; a job that needs such a plan may wait longer."
                )
            };
            all.extend(answer.contradictions.iter().map(contradicts));
        }
        AdviceReason::NothingBetter => {
            let of = match way {
                SiteWay::Live => "Nothing".to_string(),
                _ => format!("Of the candidates tried in all {} clock phases none", advised.advice.phases),
            };
            all.push(format!(
                "{leave} {of} that keeps the guards improves on the present by more than the {spread} that Slurm's timing alone causes."
            ));
        }
        AdviceReason::NotHeld => {
            all.push(format!(
                "{leave} What was chosen on some {period}s did not hold on the others: {sure}, {got} on average. {best}"
            ));
        }
        AdviceReason::WithinSpread => {
            all.push(format!(
                "{leave} What was chosen on some {period}s is worth {got} on the others, no more than the {spread} that Slurm's timing alone causes. {best}"
            ));
        }
        AdviceReason::Unclear => {
            let unseen = unseen(answer, period).map_or(String::new(), |text| format!(" {}.", capitalised(&text)));
            all.push(format!(
                "{} cannot tell{}.{unseen} {best} It was {sure}.",
                plural(advised.advice.periods as u64, period),
                more_periods(answer, period)
            ));
        }
        AdviceReason::TooFewPeriods => {
            all.push(format!(
                "Nothing can be recommended: the log has {}, and to choose on some and judge on others takes four weeks at least. {best}",
                plural(advised.advice.periods as u64, period)
            ));
        }
        AdviceReason::Unfinished => {
            all.push(format!("Nothing is recommended yet: it was stopped before this was judged. {best}"));
        }
        AdviceReason::Unnoticed => {
            all.push(format!("{leave} The best changes the goal by less than a user notices. {best} It was {sure}."));
        }
        AdviceReason::InsideReplayError => {
            all.push(format!(
                "{leave} The best changes the goal by less than the simulation's error against the site's records. \
                 {best} It was {sure}."
            ));
        }
    }
    all.extend(payers(answer));
    if judged.pairs.len() > 1 && judged.promised.is_some() {
        let promised = judged.promised.map_or(String::new(), change);
        let guards = match advised.guards.is_empty() {
            true => String::new(),
            false => format!(" The guards held there in {} of {}.", judged.kept, judged.pairs.len()),
        };
        let left = match judged.left {
            0 => String::new(),
            left => format!(" In {left} of {} nothing was chosen.", judged.of),
        };
        all.push(format!(
            "Promise and what came of it: choices promised {promised} on the {period}s they were made on; in {} of {} they were worth at \
             least half of that on the others.{guards}{left}",
            judged.half,
            judged.pairs.len()
        ));
    }
    let chosen: Vec<String> =
        judged.chosen.iter().take(3).map(|(name, times)| format!("{name} {times} times")).collect();
    if judged.of > 0 && !chosen.is_empty() && answer.best.is_some() {
        all.push(format!("Chosen most often: {}.", chosen.join("; ")));
    }
    all
}

/// Returns the classes of jobs that pay for the best suggestion: their wait becomes clearly longer.
pub(super) fn payers(answer: &AdvisedWay) -> Option<String> {
    let pays = |f: &&drystone_advise::Figured| {
        f.name.contains(" wait of jobs of ")
            && f.after - f.before >= 60.0
            && f.interval.is_some_and(|(low, _)| low > 0.0)
    };
    let text = |f: &drystone_advise::Figured| {
        let (after, before) = (duration(f.after), duration(f.before));
        format!("{} {after} instead of {before} ({})", f.name, change(f.change))
    };
    let named: Vec<String> = answer.figures.iter().filter(pays).map(text).collect();
    (!named.is_empty()).then(|| {
        format!("Longer waits: {}. A guard can bound that, such as --guard 'avgW(>64)<+10%'.", named.join("; "))
    })
}

fn tried(advised: &Advised, listed: usize) -> DocumentTable {
    let figures = &advised.baseline.figures;
    let mut columns = vec!["what".to_string(), "goal".to_string()];
    let mut shown: Vec<usize> = Vec::new();
    for (at, (name, of, _)) in figures.iter().enumerate() {
        let unasked =
            matches!(of, GoalFigure::Widths { .. }) && !advised.guards.iter().any(|guard| guard.starts_with(name));
        if !columns.contains(name) && !unasked {
            columns.push(name.clone());
            shown.push(at);
        }
    }
    columns.extend(["guards".to_string(), "phases".to_string()]);
    let mut table = DocumentTable::new(columns);
    let all = &advised.advice.tried;
    let baseline = all.iter().position(|tried| tried.name == "as it is");
    let list = (0..all.len()).filter(|&at| at < listed || Some(at) == baseline || at + 2 >= all.len());
    for at in list {
        let one: &Tried = &all[at];
        let mut row: Vec<TableValue> = vec![one.name.as_str().into(), change(one.change).into()];
        row.extend(shown.iter().map(|&at| in_unit(Some(one.values[at]), figures[at].1.unit()).into()));
        row.push(if one.keeps { "kept".into() } else { TableValue::toned("broken", Tone::Bad) });
        // A live policy has no clock of Slurm.
        row.push(if one.live { "-".into() } else { count(one.phases as u64).into() });
        table.row(row);
    }
    table
}

/// Returns the assumptions of the advice.
pub(super) fn notes(advised: &Advised) -> Vec<String> {
    let mut notes = Vec::new();
    if advised.stopped {
        notes.push("It was stopped before all candidates were tried: a better one may be missing.".to_string());
    }
    if !advised.cost.measured_here && !advised.instantaneous && advised.settings_tried {
        notes.push(
            "The speed of the site's passes is not known: depths (bf_max_job_test, bf_interval, bf_continue) are judged with a usual cost. \
             --sdiag FILE takes the site's own."
                .to_string(),
        );
    }
    if advised.period == drystone_advise::PeriodLength::Day {
        notes.push(
            "There are fewer than four weeks. Days follow each other too closely to judge by: nothing is recommended."
                .to_string(),
        );
    }
    if let Some(replay) = &advised.replay {
        notes.push(replay.sentence());
    }
    if advised.live_tried && advised.counts_processors {
        notes.push(
            "Live policies count processors here, while Slurm finds places on nodes: part of their gain is that."
                .to_string(),
        );
    }
    if !advised.not_tried.is_empty() {
        notes.push(format!(
            "Not tried, because it takes long on this log or does not fit it: {}.",
            advised.not_tried.join(", ")
        ));
    }
    notes
}

/// The verdicts as sentences, for pages.
pub(super) fn sentences(advised: &Advised) -> Vec<String> {
    let mut all = Vec::new();
    if advised.settings_tried {
        all.extend(prefixed("Settings of Slurm: ", verdict(advised, &advised.advice.settings, SiteWay::Settings)));
    }
    if advised.live_tried {
        all.extend(prefixed("With drystone live: ", verdict(advised, &advised.advice.live, SiteWay::Live)));
    }
    if advised.limits_tried {
        all.extend(prefixed("Limits: ", verdict(advised, &advised.advice.limits, SiteWay::Limits)));
    }
    all.extend(notes(advised));
    all
}

/// The text with a capital letter.
fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

fn prefixed(prefix: &str, sentences: Vec<String>) -> Vec<String> {
    let first = |(at, sentence): (usize, String)| if at == 0 { format!("{prefix}{sentence}") } else { sentence };
    sentences.into_iter().enumerate().map(first).collect()
}
