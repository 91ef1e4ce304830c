//! The first section of a page: what the comparison comes to, on one sheet; and the glossary.

use crate::details::DetailCell as Class;
use crate::document::{DocumentTable, TableValue};
use crate::html::{escape_html, render_prose};
use crate::number::{format_change, format_count, format_duration, format_fixed, format_percent};
use crate::results::{PolicyResult, Results};
use std::fmt::Write;

/// Least share of the jobs that a class must have to be named.
const WORTH_NAMING: f64 = 0.01;
/// Least relative change that is one.
const TELLING: f64 = 0.05;

/// Meanings of words that a page needs.
const GLOSSARY: [(&str, &str); 12] = [
    ("Wait", "The time between a job's submission and its end in which it does not run."),
    (
        "Bounded slowdown",
        "Wait plus run time, divided by the run time; run times below 10 s count as 10 s, and the least value \
      is 1. A mean of it gives short jobs as much weight as long ones.",
    ),
    (
        "Reservation",
        "A start that the scheduler keeps free for one waiting job: other jobs may start earlier only if they do not \
      delay it.",
    ),
    ("Promise", "A start, or a latest start, announced for a job. A promise is broken if the job starts later."),
    ("Backfilling", "Jobs overtake in the queue where they fill processors that would be idle otherwise."),
    ("Estimate", "The time that the user asked for. Schedulers plan with it unless they predict."),
    (
        "Prediction",
        "The run time that the scheduler plans with instead of the estimate, learned from the user's earlier jobs.",
    ),
    ("Overrun", "A job runs longer than its estimate. A site may kill it, or let it run on."),
    ("Baseline", "The policy that all others are compared with."),
    (
        "Interval",
        "Range of the change, in logs like this one, with the stated probability, judged by leaving out blocks of weeks. A policy \
      is better or worse where chance makes such a difference less often than that, counting all policies compared, or where \
      every week goes the same way.",
    ),
    (
        "Knows run times",
        "The policy knows the run time of each job in advance. No machine can do that; it shows the possible gain.",
    ),
    ("Preemptive", "The policy suspends running jobs and resumes them later."),
];

/// The sheet; nothing where the results hold none.
pub(crate) fn write_sheet(results: &Results, out: &mut String) {
    let Some(summary) = &results.summary else { return };
    out.push_str("<section id=\"summary\"><h2>In short</h2>\n");
    let _ = writeln!(out, "<p class=\"headline\">{}</p>", render_prose(&summary.headline));
    let find = |name: &str| results.policies.iter().find(|p| p.policy.text == name);
    let recommended_policy = summary.recommended.as_deref().and_then(find);
    let base = find(&results.baseline);
    // The script draws the first picture here.
    out.push_str("<div id=\"lead\"></div>\n");
    if let Some(winner) = recommended_policy {
        out.push_str("<dl class=\"sheet\">");
        write_entry(out, "Its price", &summary.price);
        if let Some(base) = base {
            write_entry(out, "Winners and losers", &list_winners(winner, base));
        }
        write_entry(out, "To run it", summary.to_run_it.as_slice());
        out.push_str("</dl>\n");
    }
    out.push_str("<details><summary>Figures side by side, assumptions, limits</summary>\n");
    if let (Some(choice), Some(base)) = (recommended_policy, base) {
        side_by_side(choice, base).write_html("The recommended policy beside the baseline", out);
    }
    out.push_str("<dl class=\"sheet\">");
    let name = recommended_policy.map_or(&results.baseline, |winner| &winner.policy.text);
    if let Some(does) = summary.does.iter().find(|does| does.policy == *name) {
        write_entry(out, &format!("About {name}"), std::slice::from_ref(&does.sentence));
    }
    write_entry(out, "Assumed", &summary.assumed);
    write_entry(out, "Limits of this comparison", &summary.open);
    out.push_str(
        "</dl></details>\n<p class=\"tools\"><button type=\"button\" id=\"print\" hidden>Print the whole page, not \
         this sheet alone</button></p></section>\n",
    );
}

/// Descriptions of policies, and meanings of words.
pub(crate) fn write_glossary(results: &Results, out: &mut String) {
    out.push_str("<section id=\"glossary\"><h2>Words</h2>\n");
    if let Some(summary) = &results.summary {
        out.push_str("<h3>Policies</h3>\n<dl class=\"sheet\">");
        for does in &summary.does {
            let source_note = (!does.how.is_empty()).then(|| format!("To be had as {}.", does.how));
            write_entry(
                out,
                &does.policy,
                &[Some(does.sentence.clone()), source_note].into_iter().flatten().collect::<Vec<_>>(),
            );
        }
        out.push_str("</dl>\n<h3>Terms</h3>\n");
    }
    out.push_str("<dl class=\"sheet\">");
    for (word, meaning) in GLOSSARY {
        write_entry(out, word, &[meaning.to_string()]);
    }
    out.push_str("</dl></section>\n");
}

/// A term with its sentences; nothing without any.
fn write_entry(out: &mut String, term: &str, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    let _ = write!(out, "<div><dt>{}</dt>", escape_html(term));
    for sentence in sentences {
        let _ = write!(out, "<dd>{}</dd>", render_prose(sentence));
    }
    out.push_str("</div>");
}

/// A line of the table: its name, the baseline's value, the chosen policy's, and how to write them.
type SheetRow<'a> = (&'a str, Option<f64>, Option<f64>, &'a dyn Fn(f64) -> String);

fn side_by_side(winner: &PolicyResult, base: &PolicyResult) -> DocumentTable {
    let mut table =
        DocumentTable::new(["", base.policy.text.as_str(), winner.policy.text.as_str(), "change"]).id("sheet");
    let (old, new) = (&base.report, &winner.report);
    let time = |v: f64| format_duration(v);
    let ratio = |v: f64| format_fixed(v, 2);
    let share = |v: f64| format_percent(Some(v), 1);
    let rows: [SheetRow<'_>; 5] = [
        ("mean wait", old.measures.wait.mean, new.measures.wait.mean, &time),
        ("95 of 100 jobs wait at most", old.measures.wait.p95, new.measures.wait.p95, &time),
        ("longest wait", old.measures.wait.max, new.measures.wait.max, &time),
        ("mean bounded slowdown", old.measures.bounded_slowdown.mean, new.measures.bounded_slowdown.mean, &ratio),
        ("utilisation", old.machine.period_utilisation, new.machine.period_utilisation, &share),
    ];
    for (name, old, new, show) in rows {
        let relative = old.zip(new).filter(|(old, _)| *old > 0.0).map(|(old, new)| new / old - 1.0);
        table.add_row(vec![
            name.into(),
            TableValue::from_number(old, show),
            TableValue::from_number(new, show),
            TableValue::from_number(relative, format_change),
        ]);
    }
    table
}

/// The classes of jobs that gain and lose most by mean wait, and the number of users that do.
fn list_winners(winner: &PolicyResult, base: &PolicyResult) -> Vec<String> {
    let (Some(new), Some(old)) = (&winner.details, &base.details) else { return Vec::new() };
    let job_count: u64 = old.classes.iter().map(|class| class.jobs).sum();
    let mut changes: Vec<(f64, &Class, f64, f64)> = Vec::new();
    for class in &old.classes {
        let new_class = new.classes.iter().find(|row| row.key == class.key);
        let (Some(after), Some(before)) = (new_class.and_then(|row| row.wait), class.wait) else { continue };
        let large = class.jobs as f64 >= WORTH_NAMING * job_count as f64;
        if large && (after - before).abs() > TELLING * before.max(1.0) {
            changes.push(((after - before) * class.jobs as f64, class, before, after));
        }
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let text = |(_, class, before, after): &(f64, &Class, f64, f64)| {
        format!(
            "jobs of {} processor{} ({} of all) wait {} instead of {}",
            class.name,
            if class.name.rsplit(' ').next() == Some("1") { "" } else { "s" },
            format_percent(Some(class.jobs as f64 / job_count.max(1) as f64), 0),
            format_duration(*after),
            format_duration(*before)
        )
    };
    let sentence_for =
        |word: &str, some: Vec<String>| (!some.is_empty()).then(|| format!("{word}: {}.", some.join("; ")));
    let gain = changes.iter().filter(|c| c.0 < 0.0).take(2).map(text).collect();
    let lose = changes.iter().rev().filter(|c| c.0 > 0.0).take(2).map(text).collect();
    let mut sentences: Vec<String> =
        [sentence_for("Gain most", gain), sentence_for("Lose most", lose)].into_iter().flatten().collect();
    sentences.extend(describe_users(&new.users, &old.users));
    sentences
}

fn describe_users(new: &[Class], old: &[Class]) -> Option<String> {
    let ratios: Vec<f64> = old
        .iter()
        .filter_map(|user| {
            let after = new.iter().find(|row| row.key == user.key)?.bounded_slowdown?;
            Some(after / user.bounded_slowdown.filter(|before| *before > 0.0)?)
        })
        .collect();
    let (better, worse) = (ratios.iter().filter(|r| **r < 0.98).count(), ratios.iter().filter(|r| **r > 1.02).count());
    (!ratios.is_empty()).then(|| {
        format!(
            "Users better off by mean bounded slowdown: {}; worse off: {}; of the {} with most jobs.",
            format_count(better as u64),
            format_count(worse as u64),
            format_count(ratios.len() as u64)
        )
    })
}
