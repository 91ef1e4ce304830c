//! The result for people.

use super::curve::{WORTH, in_words};
use super::result::{AlternativeVerdict, NodeAlternative, WhatIfResult};
use super::simulate::ScenarioFigures;
use crate::output::document::{Document, DocumentTable, TableValue, Tone};
use crate::output::number::{
    TimeColumn, TimeUnit, exact_percent, format_bound, format_change, format_count, format_duration, format_fixed,
    format_percent, format_plural,
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
pub(super) fn render_overview(result: &WhatIfResult) -> Document {
    let most = if result.alternatives.len() == 1 { 12 } else { 6 };
    let sizes = (0..=most).rev().flat_map(|classes| (0..=3).rev().map(move |notes| (classes, notes)));
    let documents = sizes.map(|(classes, notes)| render_document(result, classes, notes));
    let fits = |document: &Document| document.count_lines(Some(COLUMNS)) <= LINES;
    let mut documents = documents;
    documents.find(fits).unwrap_or_else(|| render_document(result, 0, 0))
}

pub(super) fn render_whole(result: &WhatIfResult) -> Document {
    let mut document = render_head(result);
    for alternative in &result.alternatives {
        document.add_heading(format!("{}: who gains and who pays", alternative.change));
        match alternative.classes.is_empty() {
            true => document.add_text("All jobs are of one class."),
            false => by_kind(result, alternative, &mut document),
        }
        for note in alternative.notes.iter().chain(&alternative.warnings) {
            document.add_text(note.clone());
        }
    }
    list_notes(result).into_iter().for_each(|note| document.add_text(note));
    document
}

fn render_document(result: &WhatIfResult, most: usize, caution_limit: usize) -> Document {
    let mut document = render_head(result);
    if let [alternative] = result.alternatives.as_slice() {
        document.add_text(format!("{}.", describe_change(alternative, result)));
        document.add_text(format!(
            "In all {} job-hours and {} {} of waiting{}.",
            format_signed(alternative.wait.job_hours),
            format_signed(alternative.wait.node_hours),
            hours_of(result),
            if is_in_doubt(result, alternative) { ", which may be chance" } else { "" }
        ));
        let named_classes: Vec<&ClassChange> =
            alternative.classes.iter().filter(|class| is_worth_naming(class)).take(most).collect();
        if !named_classes.is_empty() {
            document.add_heading(format!("Winners and losers, most {}-hours of waiting first", result.unit));
            document.add_table(class_table(result, named_classes.into_iter()));
            chance_warning(result, alternative).into_iter().for_each(|text| document.add_text(text));
        }
    } else if most > 0 {
        let sizes = result.alternatives.iter().take(most * 2);
        document.add_facts(
            sizes
                .map(|alternative| {
                    (
                        format!("{}{}", alternative.change, alternative_mark(alternative)),
                        describe_change(alternative, result),
                    )
                })
                .collect(),
        );
        let facts: Vec<(String, String)> = result
            .alternatives
            .iter()
            .take(most * 2)
            .filter_map(|alternative| {
                Some((
                    format!("{}{}", alternative.change, alternative_mark(alternative)),
                    payer_and_gainer(result, alternative)?,
                ))
            })
            .collect();
        if !facts.is_empty() {
            document.add_facts(facts);
        }
    }
    let mut warnings: Vec<String> =
        result.alternatives.iter().flat_map(|alternative| alternative.warnings.clone()).collect();
    if result.alternatives.len() == 1 {
        warnings
            .extend(result.alternatives.iter().flat_map(|alternative| alternative.notes.clone()).take(caution_limit));
    }
    warnings.extend(list_notes(result).into_iter().take(caution_limit.max(1)));
    if result.example {
        warnings.push("This is the built-in example. Your own: drystone whatif site/ --nodes +8".to_string());
    }
    warnings.push("More: --details (every class and note)   --report out.html (page with plots)".to_string());
    document.add_text(warnings.join("\n"));
    document
}

fn render_head(result: &WhatIfResult) -> Document {
    let mut document = Document::default();
    let meta = &result.workload;
    let span = meta.load_span();
    document.add_heading(format!(
        "{}: {}, {}, {} days, load {}",
        meta.name,
        format_plural(meta.jobs, "job"),
        format_plural(u64::from(meta.procs), "processor"),
        format_fixed(span.as_f64() / 86_400.0, 0),
        format_percent(meta.load, 0)
    ));
    let units = result.basis.map_or_else(
        || format!("{}: too few weeks to judge", format_plural(result.periods as u64, result.period.name())),
        |basis| basis.describe(result.period.name()),
    );
    let world = meta.find_setting(WORLD).map(|world| ("World".to_string(), world.to_string()));
    let mut facts: Vec<(String, String)> = world.into_iter().collect();
    facts.extend([
        ("Before and after".to_string(), format!("simulated under {}", result.policy)),
        ("Judged by".to_string(), format!("the same jobs before and after, {units}")),
    ]);
    if let Some(noise) = result.clock_noise {
        facts.push(("Slurm's clocks alone".to_string(), format!("move the mean wait by {}", format_duration(noise))));
    }
    document.add_facts(facts);
    document.add_table(alternative_table(result));
    if let Some(text) = left_out(result) {
        document.add_text(format!("* {text}"));
    }
    if let Some(curve) = &result.curve {
        document.add_text(curve.sentence.clone());
    }
    if !result.not_done.is_empty() {
        document.add_text(format!("Not simulated to the end: {}.", result.not_done.join(", ")));
    }
    document
}

/// Before, and every alternative.
fn alternative_table(result: &WhatIfResult) -> DocumentTable {
    let before = &result.before;
    let longest = |of: fn(&ScenarioFigures) -> f64| {
        let values = result.alternatives.iter().map(|alternative| of(&alternative.after));
        TimeUnit::for_seconds(values.fold(of(before), f64::max))
    };
    let (within, most) = (longest(|figures| figures.wait_p95), longest(|figures| figures.wait_max));
    let means: Vec<f64> =
        result.alternatives.iter().map(|alternative| alternative.after.wait_mean).chain([before.wait_mean]).collect();
    let mean = TimeColumn::for_values(&means);
    let column = time_column(mean.unit, result.alternatives.iter().map(|alternative| &alternative.wait));
    let mut table = DocumentTable::new([
        "change".to_string(),
        format!("mean wait, {}", mean.unit.name()),
        difference_header(result, column),
        String::new(),
        format!("95% within, {}", within.name()),
        format!("longest, {}", most.name()),
    ])
    .with_text_columns(&[0, 2, 3])
    .with_beside_columns(&[3]);
    table.add_row(vec![
        "as it is".into(),
        mean.format_seconds(before.wait_mean).into(),
        "".into(),
        "".into(),
        within.format_seconds(Some(before.wait_p95)).into(),
        most.format_seconds(Some(before.wait_max)).into(),
    ]);
    for alternative in &result.alternatives {
        let (word, tone) = verdict_style(alternative.verdict);
        table.add_row(vec![
            format!("{}{}", alternative.change, alternative_mark(alternative)).into(),
            mean.format_seconds(alternative.after.wait_mean).into(),
            TableValue::toned_text(format_difference(&alternative.wait, column), tone),
            TableValue::toned_text(word, tone),
            within.format_seconds(Some(alternative.after.wait_p95)).into(),
            most.format_seconds(Some(alternative.after.wait_max)).into(),
        ]);
    }
    table
}

/// Mark of an alternative whose figures are without some of the jobs.
fn alternative_mark(alternative: &NodeAlternative) -> &'static str {
    if alternative.left_out.jobs > 0 { "*" } else { "" }
}

fn verdict_style(verdict: AlternativeVerdict) -> (&'static str, Tone) {
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
fn format_signed(value: f64) -> String {
    let text = format_fixed(value, 0);
    if value > 0.0 && text != "0" { format!("+{text}") } else { text }
}

/// The decimals of differences and their intervals, in the unit of the waits beside them.
fn time_column<'a>(unit: TimeUnit, changes: impl Iterator<Item = &'a PairedChange>) -> TimeColumn {
    let of = |change: &PairedChange| (change.difference, change.interval.filter(|_| change.tells_size()));
    TimeColumn::of_intervals(unit, &changes.map(of).collect::<Vec<_>>())
}

fn difference_header(result: &WhatIfResult, column: TimeColumn) -> String {
    format!("difference, {} ({} interval)", column.unit.name(), exact_percent(result.confidence))
}

/// A difference with its interval.
fn format_difference(change: &PairedChange, column: TimeColumn) -> String {
    let text = column.format_difference(change.difference);
    match change.interval.filter(|_| change.tells_size()) {
        Some((low, high)) => {
            format!("{text} ({} to {})", column.format_difference(low), column.format_difference(high))
        }
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
fn describe_change(alternative: &NodeAlternative, result: &WhatIfResult) -> String {
    let wait = &alternative.wait;
    if alternative.verdict == AlternativeVerdict::Same {
        return "no job waits longer or shorter".to_string();
    }
    let mut parts = Vec::new();
    match (wait.change, wait.change_interval.filter(|_| wait.tells_size())) {
        (Some(relative), Some((low, high))) if relative > MANY => parts.push(format!(
            "mean wait {} times as long ({}: {} to {})",
            format_fixed(1.0 + relative, 1),
            exact_percent(result.confidence),
            format_fixed(1.0 + low, 1),
            format_fixed(1.0 + high, 1)
        )),
        (Some(relative), Some((low, high))) => parts.push(format!(
            "mean wait {} ({}: {} to {})",
            format_change(relative),
            exact_percent(result.confidence),
            format_bound(low),
            format_bound(high)
        )),
        (Some(relative), None) => parts.push(format!("mean wait {}", format_change(relative))),
        (None, _) => parts.push("nothing waits as it is".to_string()),
    }
    parts.extend(wait.signs.describe(result.period.name()));
    let more = wait.more_weeks(TELLING, result.confidence).filter(|&more| more > 0);
    match (alternative.verdict, more) {
        (AlternativeVerdict::Uncertain, _) => parts.push(why_uncertain(result).to_string()),
        _ if wait.change_interval.is_some() && !wait.tells_size() => {
            parts.push("nothing can be said of the size".to_string());
        }
        (AlternativeVerdict::Unclear, Some(more)) => {
            parts.push(format!("about {} like these would tell 10%", format_plural(more as u64, "more week")));
        }
        (AlternativeVerdict::Alike, _) => parts.push("no difference worth the name".to_string()),
        _ => {}
    }
    parts.join("; ")
}

fn is_worth_naming(class: &ClassChange) -> bool {
    let change = &class.change;
    class.work >= WORTH_NAMING && change.difference.abs() >= NOTICEABLE && change.change_sign() != 0
}

fn class_table<'a>(result: &WhatIfResult, classes: impl Iterator<Item = &'a ClassChange>) -> DocumentTable {
    let changes: Vec<&ClassChange> = classes.collect();
    let befores: Vec<f64> = changes.iter().map(|class| class.change.before).collect();
    let longest = changes.iter().map(|class| class.change.before.max(class.change.after)).fold(0.0, f64::max);
    let waits = TimeColumn::in_unit(TimeUnit::for_seconds(longest), &befores);
    let column = time_column(waits.unit, changes.iter().map(|class| &class.change));
    let mut table = DocumentTable::new([
        "class".to_string(),
        "of work".to_string(),
        format!("wait before, {}", waits.unit.name()),
        difference_header(result, column),
        format!("change in {} waited", hours_of(result)),
    ])
    .with_text_columns(&[0, 3]);
    for class in changes {
        let change = &class.change;
        let tone = match change.change_sign() {
            1 => Tone::Bad,
            -1 => Tone::Good,
            _ => Tone::Plain,
        };
        let hours = format_signed(change.node_hours);
        table.add_row(vec![
            class_name(class).into(),
            if class.work > 0.0 && class.work < 0.005 {
                "<1%".into()
            } else {
                format_percent(Some(class.work), 0).into()
            },
            waits.format_seconds(change.before).into(),
            TableValue::toned_text(format_difference(change, column), tone),
            TableValue::toned_text(hours, tone),
        ]);
    }
    table
}

fn class_name(class: &ClassChange) -> String {
    match class.by.as_str() {
        "partition" | "account" => format!("{} {}", class.by, class.class),
        _ => class.class.clone(),
    }
}

/// The class that pays most and the one that gains most.
fn payer_and_gainer(result: &WhatIfResult, alternative: &NodeAlternative) -> Option<String> {
    let describe_class = |sign: i8, word: &str| {
        let class =
            alternative.classes.iter().find(|class| is_worth_naming(class) && class.change.change_sign() == sign)?;
        Some(format!(
            "{word} most: {} ({} per job, {} {})",
            class_name(class),
            one_difference(class.change.difference),
            format_signed(class.change.node_hours),
            hours_of(result)
        ))
    };
    let parts: Vec<String> = [describe_class(-1, "gains"), describe_class(1, "pays")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The unit of waits that are weighted by nodes.
fn hours_of(result: &WhatIfResult) -> &'static str {
    if result.unit == "node" { "node-h" } else { "proc-h" }
}

fn one_difference(seconds: f64) -> String {
    let column = TimeColumn::for_values(&[seconds]);
    format!("{} {}", column.format_difference(seconds), column.unit.name())
}

/// Describes the jobs that are in no figure of an alternative.
fn left_out(result: &WhatIfResult) -> Option<String> {
    let left_out_texts: Vec<String> = result
        .alternatives
        .iter()
        .filter(|alternative| alternative.left_out.jobs > 0)
        .map(|alternative| {
            let refused_text = match alternative.refused {
                0 => String::new(),
                count if count == alternative.left_out.jobs => ", which can never run then".to_string(),
                some => format!(", of which {} can never run then", format_count(some)),
            };
            format!(
                "`{}` {} ({} node-hours{refused_text}; the others wait {} on average as it is)",
                alternative.change,
                format_plural(alternative.left_out.jobs, "job"),
                format_count(alternative.left_out.node_hours.round() as u64),
                format_duration(alternative.wait.before)
            )
        })
        .collect();
    (!left_out_texts.is_empty())
        .then(|| format!("Left out of the mean after the change and of the difference: {}.", left_out_texts.join(", ")))
}

fn list_notes(result: &WhatIfResult) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(without) = result.without {
        notes.insert(0, without.to_string());
    }
    if result.basis.is_none() {
        notes.push("An interval takes four weeks at least; of fewer only the count of days is said.".to_string());
    }
    notes.extend(result.replay.map(|replay| replay.format_sentence()));
    notes.extend(result.machine.clone());
    notes
}

/// The result in sentences, for pages.
pub(super) fn result_sentences(result: &WhatIfResult) -> Vec<String> {
    let mut sentences = vec![format!(
        "Before: mean wait {}, 95% of the jobs within {}, longest {}, under {}.",
        format_duration(result.before.wait_mean),
        format_duration(result.before.wait_p95),
        format_duration(result.before.wait_max),
        result.policy
    )];
    for alternative in &result.alternatives {
        let verdict = match alternative.verdict {
            AlternativeVerdict::Less => "jobs wait less".to_string(),
            AlternativeVerdict::More => "jobs wait longer".to_string(),
            AlternativeVerdict::Same => "no job waits longer or shorter".to_string(),
            AlternativeVerdict::Alike => "no difference worth the name".to_string(),
            AlternativeVerdict::Uncertain => "not decided".to_string(),
            AlternativeVerdict::Unclear => "not decided".to_string(),
            AlternativeVerdict::WithinClocks => "no more than Slurm's clocks make".to_string(),
        };
        let payer_text = payer_and_gainer(result, alternative).map_or(String::new(), |sentence| {
            let (first, rest) = sentence.split_at(1);
            format!(" {}{}.", first.to_ascii_uppercase(), rest.replacen("; pays", ". Pays", 1))
        });
        let hours = match alternative.verdict {
            AlternativeVerdict::Same => String::new(),
            _ => format!(
                " In all {} job-hours and {} {} of waiting.",
                format_signed(alternative.wait.job_hours),
                format_signed(alternative.wait.node_hours),
                hours_of(result)
            ),
        };
        sentences.push(format!(
            "`{}`: mean wait {}, {}: {verdict} ({}).{hours}{payer_text}",
            alternative.change,
            format_duration(alternative.after.wait_mean),
            in_words(
                (alternative.wait.difference, alternative.wait.interval.filter(|_| alternative.wait.tells_size())),
                result.confidence
            ),
            describe_change(alternative, result),
        ));
        sentences.extend(alternative.warnings.iter().cloned());
    }
    sentences.extend(result.curve.iter().map(|curve| curve.sentence.clone()));
    sentences.extend(
        result
            .alternatives
            .iter()
            .filter_map(|alternative| chance_warning(result, alternative))
            .max_by_key(String::len),
    );
    sentences.extend(left_out(result));
    sentences.extend(list_notes(result));
    sentences
}

/// Returns whether a difference is one that would matter, and is not clear.
fn is_in_doubt(result: &WhatIfResult, alternative: &NodeAlternative) -> bool {
    matches!(alternative.verdict, AlternativeVerdict::Unclear | AlternativeVerdict::Uncertain)
        && alternative.wait.difference.abs() > WORTH * result.before.wait_mean
}

/// A warning about reading many classes, and about adding them up.
fn chance_warning(result: &WhatIfResult, alternative: &NodeAlternative) -> Option<String> {
    let compared_count =
        alternative.classes.iter().filter(|class| class.change.interval.is_some_and(|(low, high)| low < high)).count();
    let expected_count = compared_count as f64 * (1.0 - result.confidence);
    (compared_count > 0).then(|| {
        format!(
            "A job is in one class of each kind: partition, account, size and run time, GPUs. Of {compared_count} classes compared, about {} \
             would look clear by chance.",
            format_fixed(expected_count.ceil(), 0)
        )
    })
}

/// One table for each kind of class, whose rows add up to all jobs.
fn by_kind(result: &WhatIfResult, alternative: &NodeAlternative, document: &mut Document) {
    let mut kinds: Vec<&str> = Vec::new();
    for class in &alternative.classes {
        if !kinds.contains(&class.by.as_str()) {
            kinds.push(&class.by);
        }
    }
    for kind in kinds {
        document.add_heading(format!("By {kind}"));
        document.add_table(class_table(result, alternative.classes.iter().filter(|class| class.by == kind)));
    }
    chance_warning(result, alternative).into_iter().for_each(|text| document.add_text(text));
}
