//! The result for people.

use super::curve::{WORTH, in_words};
use super::result::{AlternativeVerdict, NodeAlternative, WhatIfResult};
use super::simulate::ScenarioFigures;
use crate::output::document::{Document, DocumentTable, TableValue, Tone};
use crate::output::number::{
    TimeColumn, TimeUnit, bound, change, count, duration, exact_percent, fixed, percent, plural,
};
use drystone_report::meta::WORLD;
use drystone_whatif::{ClassChange, PairedChange};

/// Lines of the overview.
const LINES: usize = 30;
/// Columns of the overview.
const COLUMNS: usize = 80;
/// A class with less of the work and of the jobs is not named unasked.
const WORTH_NAMING: f64 = 0.005;
/// A mean wait that changes by less, in seconds, is not named unasked.
const NOTICEABLE: f64 = 60.0;

/// The result in thirty lines.
pub(super) fn overview(result: &WhatIfResult) -> Document {
    let most = if result.alternatives.len() == 1 { 12 } else { 6 };
    let sizes = (0..=most).rev().flat_map(|classes| (0..=3).rev().map(move |notes| (classes, notes)));
    let made = sizes.map(|(classes, notes)| document(result, classes, notes));
    let fits = |document: &Document| document.lines(Some(COLUMNS)) <= LINES;
    let mut made = made;
    made.find(fits).unwrap_or_else(|| document(result, 0, 0))
}

pub(super) fn whole(result: &WhatIfResult) -> Document {
    let mut document = head(result);
    for alternative in &result.alternatives {
        document.heading(format!("{}: who gains and who pays", alternative.change));
        match alternative.classes.is_empty() {
            true => document.text("All jobs are of one class."),
            false => by_kind(result, alternative, &mut document),
        }
        for note in alternative.notes.iter().chain(&alternative.warnings) {
            document.text(note.clone());
        }
    }
    notes(result).into_iter().for_each(|note| document.text(note));
    document
}

fn document(result: &WhatIfResult, most: usize, told: usize) -> Document {
    let mut document = head(result);
    if let [alternative] = result.alternatives.as_slice() {
        document.text(format!("{}.", size(alternative, result)));
        document.text(format!(
            "In all {} job-hours and {} {} of waiting{}.",
            plus(alternative.wait.job_hours),
            plus(alternative.wait.node_hours),
            hours_of(result),
            if is_in_doubt(result, alternative) { ", which may be chance" } else { "" }
        ));
        let named: Vec<&ClassChange> =
            alternative.classes.iter().filter(|class| is_worth_naming(class)).take(most).collect();
        if !named.is_empty() {
            document.heading(format!("Winners and losers, most {}-hours of waiting first", result.unit));
            document.table(classes(result, named.into_iter()));
            chance(result, alternative).into_iter().for_each(|text| document.text(text));
        }
    } else if most > 0 {
        let sizes = result.alternatives.iter().take(most * 2);
        document.facts(sizes.map(|one| (format!("{}{}", one.change, mark(one)), size(one, result))).collect());
        let facts: Vec<(String, String)> = result
            .alternatives
            .iter()
            .take(most * 2)
            .filter_map(|one| Some((format!("{}{}", one.change, mark(one)), who(result, one)?)))
            .collect();
        if !facts.is_empty() {
            document.facts(facts);
        }
    }
    let mut all: Vec<String> = result.alternatives.iter().flat_map(|one| one.warnings.clone()).collect();
    if result.alternatives.len() == 1 {
        all.extend(result.alternatives.iter().flat_map(|one| one.notes.clone()).take(told));
    }
    all.extend(notes(result).into_iter().take(told.max(1)));
    if result.example {
        all.push("This is the built-in example. Your own: drystone whatif site/ --nodes +8".to_string());
    }
    all.push("More: --details (every class and note)   --report out.html (page with plots)".to_string());
    document.text(all.join("\n"));
    document
}

fn head(result: &WhatIfResult) -> Document {
    let mut document = Document::default();
    let meta = &result.workload;
    let span = meta.span();
    document.heading(format!(
        "{}: {}, {}, {} days, load {}",
        meta.name,
        plural(meta.jobs, "job"),
        plural(u64::from(meta.procs), "processor"),
        fixed(span.as_f64() / 86_400.0, 0),
        percent(meta.load, 0)
    ));
    let units = result.basis.map_or_else(
        || format!("{}: too few weeks to judge", plural(result.periods as u64, result.period.name())),
        |basis| basis.describe(result.period.name()),
    );
    let world = meta.setting(WORLD).map(|world| ("World".to_string(), world.to_string()));
    let mut facts: Vec<(String, String)> = world.into_iter().collect();
    facts.extend([
        ("Before and after".to_string(), format!("simulated under {}", result.policy)),
        ("Judged by".to_string(), format!("the same jobs before and after, {units}")),
    ]);
    if let Some(noise) = result.clock_noise {
        facts.push(("Slurm's clocks alone".to_string(), format!("move the mean wait by {}", duration(noise))));
    }
    document.facts(facts);
    document.table(alternatives(result));
    if let Some(text) = left_out(result) {
        document.text(format!("* {text}"));
    }
    if let Some(curve) = &result.curve {
        document.text(curve.sentence.clone());
    }
    if !result.not_done.is_empty() {
        document.text(format!("Not simulated to the end: {}.", result.not_done.join(", ")));
    }
    document
}

/// Before, and every alternative.
fn alternatives(result: &WhatIfResult) -> DocumentTable {
    let before = &result.before;
    let longest = |of: fn(&ScenarioFigures) -> f64| {
        let all = result.alternatives.iter().map(|one| of(&one.after));
        TimeUnit::of(all.fold(of(before), f64::max))
    };
    let (within, most) = (longest(|figures| figures.wait_p95), longest(|figures| figures.wait_max));
    let means: Vec<f64> = result.alternatives.iter().map(|one| one.after.wait_mean).chain([before.wait_mean]).collect();
    let mean = TimeColumn::of(&means);
    let column = column(mean.unit, result.alternatives.iter().map(|one| &one.wait));
    let mut table = DocumentTable::new([
        "change".to_string(),
        format!("mean wait, {}", mean.unit.name()),
        difference_header(result, column),
        String::new(),
        format!("95% within, {}", within.name()),
        format!("longest, {}", most.name()),
    ])
    .texts(&[0, 2, 3])
    .beside(&[3]);
    table.row(vec![
        "as it is".into(),
        mean.text(before.wait_mean).into(),
        "".into(),
        "".into(),
        within.text(Some(before.wait_p95)).into(),
        most.text(Some(before.wait_max)).into(),
    ]);
    for one in &result.alternatives {
        let (word, tone) = said(one.verdict);
        table.row(vec![
            format!("{}{}", one.change, mark(one)).into(),
            mean.text(one.after.wait_mean).into(),
            TableValue::toned(difference(&one.wait, column), tone),
            TableValue::toned(word, tone),
            within.text(Some(one.after.wait_p95)).into(),
            most.text(Some(one.after.wait_max)).into(),
        ]);
    }
    table
}

/// Mark of an alternative whose figures are without some of the jobs.
fn mark(one: &NodeAlternative) -> &'static str {
    if one.left_out.jobs > 0 { "*" } else { "" }
}

fn said(verdict: AlternativeVerdict) -> (&'static str, Tone) {
    match verdict {
        AlternativeVerdict::Less => ("less", Tone::Good),
        AlternativeVerdict::More => ("more", Tone::Bad),
        AlternativeVerdict::Same => ("same", Tone::Faint),
        AlternativeVerdict::Alike => ("alike", Tone::Faint),
        AlternativeVerdict::Unclear => ("unclear", Tone::Faint),
        AlternativeVerdict::Uncertain => ("uncertain", Tone::Faint),
        AlternativeVerdict::WithinClocks => ("within clocks", Tone::Faint),
    }
}

/// A whole number with its sign.
fn plus(value: f64) -> String {
    let text = fixed(value, 0);
    if value > 0.0 && text != "0" { format!("+{text}") } else { text }
}

/// The decimals of differences and their intervals, in the unit of the waits beside them.
fn column<'a>(unit: TimeUnit, changes: impl Iterator<Item = &'a PairedChange>) -> TimeColumn {
    let of = |change: &PairedChange| (change.difference, change.interval.filter(|_| change.tells_size()));
    TimeColumn::of_intervals(unit, &changes.map(of).collect::<Vec<_>>())
}

/// The header of a column of differences.
fn difference_header(result: &WhatIfResult, column: TimeColumn) -> String {
    format!("difference, {} ({} interval)", column.unit.name(), exact_percent(result.confidence))
}

/// A difference with its interval.
fn difference(change: &PairedChange, column: TimeColumn) -> String {
    let text = column.signed(change.difference);
    match change.interval.filter(|_| change.tells_size()) {
        Some((low, high)) => format!("{text} ({} to {})", column.signed(low), column.signed(high)),
        None => text,
    }
}

/// Relative change above which a ratio is easier to read: 57 times.
const MANY: f64 = 9.0;

/// A relative change that further weeks are to tell from none.
const TELLING: f64 = 0.1;

fn why_uncertain(result: &WhatIfResult) -> &'static str {
    match result.basis {
        None => "too few weeks to tell",
        Some(_) => "one block of weeks holds all of the wait: too little to tell",
    }
}

/// Describes a change in per cent, the weeks that go its way, and what would decide it.
fn size(one: &NodeAlternative, result: &WhatIfResult) -> String {
    let wait = &one.wait;
    if one.verdict == AlternativeVerdict::Same {
        return "no job waits longer or shorter".to_string();
    }
    let mut parts = Vec::new();
    match (wait.change, wait.change_interval.filter(|_| wait.tells_size())) {
        (Some(relative), Some((low, high))) if relative > MANY => parts.push(format!(
            "mean wait {} times as long ({}: {} to {})",
            fixed(1.0 + relative, 1),
            exact_percent(result.confidence),
            fixed(1.0 + low, 1),
            fixed(1.0 + high, 1)
        )),
        (Some(relative), Some((low, high))) => parts.push(format!(
            "mean wait {} ({}: {} to {})",
            change(relative),
            exact_percent(result.confidence),
            bound(low),
            bound(high)
        )),
        (Some(relative), None) => parts.push(format!("mean wait {}", change(relative))),
        (None, _) => parts.push("nothing waits as it is".to_string()),
    }
    parts.extend(wait.signs.describe(result.period.name()));
    let more = wait.more_weeks(TELLING, result.confidence).filter(|&more| more > 0);
    match (one.verdict, more) {
        (AlternativeVerdict::Uncertain, _) => parts.push(why_uncertain(result).to_string()),
        _ if wait.change_interval.is_some() && !wait.tells_size() => {
            parts.push("nothing can be said of the size".to_string());
        }
        (AlternativeVerdict::Unclear, Some(more)) => {
            parts.push(format!("about {} like these would tell 10%", plural(more as u64, "more week")));
        }
        (AlternativeVerdict::Alike, _) => parts.push("no difference worth the name".to_string()),
        _ => {}
    }
    parts.join("; ")
}

fn is_worth_naming(class: &ClassChange) -> bool {
    let change = &class.change;
    class.work >= WORTH_NAMING && change.difference.abs() >= NOTICEABLE && change.sign() != 0
}

/// Classes with their waits.
fn classes<'a>(result: &WhatIfResult, all: impl Iterator<Item = &'a ClassChange>) -> DocumentTable {
    let all: Vec<&ClassChange> = all.collect();
    let befores: Vec<f64> = all.iter().map(|class| class.change.before).collect();
    let longest = all.iter().map(|class| class.change.before.max(class.change.after)).fold(0.0, f64::max);
    let waits = TimeColumn::in_unit(TimeUnit::of(longest), &befores);
    let column = column(waits.unit, all.iter().map(|class| &class.change));
    let mut table = DocumentTable::new([
        "class".to_string(),
        "of work".to_string(),
        format!("wait before, {}", waits.unit.name()),
        difference_header(result, column),
        format!("change in {} waited", hours_of(result)),
    ])
    .texts(&[0, 3]);
    for class in all {
        let change = &class.change;
        let tone = match change.sign() {
            1 => Tone::Bad,
            -1 => Tone::Good,
            _ => Tone::Plain,
        };
        let hours = plus(change.node_hours);
        table.row(vec![
            named(class).into(),
            if class.work > 0.0 && class.work < 0.005 { "<1%".into() } else { percent(Some(class.work), 0).into() },
            waits.text(change.before).into(),
            TableValue::toned(difference(change, column), tone),
            TableValue::toned(hours, tone),
        ]);
    }
    table
}

fn named(class: &ClassChange) -> String {
    match class.by.as_str() {
        "partition" | "account" => format!("{} {}", class.by, class.class),
        _ => class.class.clone(),
    }
}

/// The class that pays most and the one that gains most.
fn who(result: &WhatIfResult, one: &NodeAlternative) -> Option<String> {
    let told = |sign: i8, word: &str| {
        let class = one.classes.iter().find(|class| is_worth_naming(class) && class.change.sign() == sign)?;
        Some(format!(
            "{word} most: {} ({} per job, {} {})",
            named(class),
            one_difference(class.change.difference),
            plus(class.change.node_hours),
            hours_of(result)
        ))
    };
    let parts: Vec<String> = [told(-1, "gains"), told(1, "pays")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The unit of waits that are weighted by nodes.
fn hours_of(result: &WhatIfResult) -> &'static str {
    if result.unit == "node" { "node-h" } else { "proc-h" }
}

/// A difference with its sign and unit.
fn one_difference(seconds: f64) -> String {
    let column = TimeColumn::of(&[seconds]);
    format!("{} {}", column.signed(seconds), column.unit.name())
}

/// Describes the jobs that are in no figure of an alternative.
fn left_out(result: &WhatIfResult) -> Option<String> {
    let gone: Vec<String> = result
        .alternatives
        .iter()
        .filter(|one| one.left_out.jobs > 0)
        .map(|one| {
            let refused = match one.refused {
                0 => String::new(),
                all if all == one.left_out.jobs => ", which can never run then".to_string(),
                some => format!(", of which {} can never run then", count(some)),
            };
            format!(
                "`{}` {} ({} node-hours{refused}; the others wait {} on average as it is)",
                one.change,
                plural(one.left_out.jobs, "job"),
                count(one.left_out.node_hours.round() as u64),
                duration(one.wait.before)
            )
        })
        .collect();
    (!gone.is_empty())
        .then(|| format!("Left out of the mean after the change and of the difference: {}.", gone.join(", ")))
}

/// Returns the notes on all alternatives.
fn notes(result: &WhatIfResult) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(without) = result.without {
        all.insert(0, without.to_string());
    }
    if result.basis.is_none() {
        all.push("An interval takes four weeks at least; of fewer only the count of days is said.".to_string());
    }
    all.extend(result.replay.map(|replay| replay.sentence()));
    all.extend(result.machine.clone());
    all
}

/// The result in sentences, for pages.
pub(super) fn sentences(result: &WhatIfResult) -> Vec<String> {
    let mut all = vec![format!(
        "Before: mean wait {}, 95% of the jobs within {}, longest {}, under {}.",
        duration(result.before.wait_mean),
        duration(result.before.wait_p95),
        duration(result.before.wait_max),
        result.policy
    )];
    for one in &result.alternatives {
        let verdict = match one.verdict {
            AlternativeVerdict::Less => "jobs wait less".to_string(),
            AlternativeVerdict::More => "jobs wait longer".to_string(),
            AlternativeVerdict::Same => "no job waits longer or shorter".to_string(),
            AlternativeVerdict::Alike => "no difference worth the name".to_string(),
            AlternativeVerdict::Uncertain => "not decided".to_string(),
            AlternativeVerdict::Unclear => "not decided".to_string(),
            AlternativeVerdict::WithinClocks => "no more than Slurm's clocks make".to_string(),
        };
        let who = who(result, one).map_or(String::new(), |who| {
            let (first, rest) = who.split_at(1);
            format!(" {}{}.", first.to_ascii_uppercase(), rest.replacen("; pays", ". Pays", 1))
        });
        let hours = match one.verdict {
            AlternativeVerdict::Same => String::new(),
            _ => format!(
                " In all {} job-hours and {} {} of waiting.",
                plus(one.wait.job_hours),
                plus(one.wait.node_hours),
                hours_of(result)
            ),
        };
        all.push(format!(
            "`{}`: mean wait {}, {}: {verdict} ({}).{hours}{who}",
            one.change,
            duration(one.after.wait_mean),
            in_words((one.wait.difference, one.wait.interval.filter(|_| one.wait.tells_size())), result.confidence),
            size(one, result),
        ));
        all.extend(one.warnings.iter().cloned());
    }
    all.extend(result.curve.iter().map(|curve| curve.sentence.clone()));
    all.extend(result.alternatives.iter().filter_map(|one| chance(result, one)).max_by_key(String::len));
    all.extend(left_out(result));
    all.extend(notes(result));
    all
}

/// Returns whether a difference is one that would matter, and is not clear.
fn is_in_doubt(result: &WhatIfResult, one: &NodeAlternative) -> bool {
    matches!(one.verdict, AlternativeVerdict::Unclear | AlternativeVerdict::Uncertain)
        && one.wait.difference.abs() > WORTH * result.before.wait_mean
}

/// A warning about reading many classes, and about adding them up.
fn chance(result: &WhatIfResult, one: &NodeAlternative) -> Option<String> {
    let compared =
        one.classes.iter().filter(|class| class.change.interval.is_some_and(|(low, high)| low < high)).count();
    let expected = compared as f64 * (1.0 - result.confidence);
    (compared > 0).then(|| {
        format!(
            "A job is in one class of each kind: partition, account, size and run time, GPUs. Of {compared} classes compared, about {} \
             would look clear by chance.",
            fixed(expected.ceil(), 0)
        )
    })
}

/// One table for each kind of class, whose rows add up to all jobs.
fn by_kind(result: &WhatIfResult, one: &NodeAlternative, document: &mut Document) {
    let mut kinds: Vec<&str> = Vec::new();
    for class in &one.classes {
        if !kinds.contains(&class.by.as_str()) {
            kinds.push(&class.by);
        }
    }
    for kind in kinds {
        document.heading(format!("By {kind}"));
        document.table(classes(result, one.classes.iter().filter(|class| class.by == kind)));
    }
    chance(result, one).into_iter().for_each(|text| document.text(text));
}
