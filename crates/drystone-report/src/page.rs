//! One HTML file with everything in it: verdict, plots, tables, settings, data.

use crate::document::{DocumentTable, TableValue, Tone};
use crate::html::{embed_json, escape_html, render_prose};
use crate::number::{NONE, format_bound, format_count, format_duration, format_percent, format_plural};
use crate::results::Results;
use crate::tables::metric_formatter;
use crate::{assets, budget, charts, settings, sheet, tables};
use base64::Engine;
use drystone::inference::says_nothing;
use drystone::metrics::{Measure, Metric, MetricChange, MetricVerdict};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The page of some results: self-contained HTML that opens without any network, and shows every
/// table without JavaScript.
///
/// Cost: a few milliseconds and the length of the data.
pub fn render_page(results: &Results) -> String {
    let title = format!("{}: scheduling policies – Drystone", workload_name(results));
    let scripts = [assets::ECHARTS, charts::SCRIPT, assets::PAGE_JS];
    let whole = render_content(results, &[]);
    let drawing: usize = scripts.iter().map(|script| script.len()).sum::<usize>() + assets::PAGE_CSS.len();
    let (data, left_out) = budget::fit_data(&results.data, &budget::by_interest(results), drawing + whole.len());
    let main = if left_out.is_empty() { whole } else { render_content(results, &left_out) };
    render_shell(&title, &main, &data, &scripts)
}

/// The body, where the details of some policies are left out.
fn render_content(results: &Results, left_out: &[usize]) -> String {
    let mut main = String::with_capacity(1 << 16);
    write_header(results, &mut main);
    sheet::write_sheet(results, &mut main);
    write_verdict(results, &mut main);
    write_plots(results, left_out, &mut main);
    tables::write_tables(results, &mut main);
    sheet::write_glossary(results, &mut main);
    settings::write_settings(results, &mut main);
    main
}

/// The word by which a page allows a script.
pub(crate) fn script_hash(script: &str) -> String {
    let digest = Sha256::digest(script.as_bytes());
    format!("'sha256-{}'", base64::engine::general_purpose::STANDARD.encode(digest))
}

/// A whole document around the body's content, with the data and scripts, to which no other can be
/// added.
pub(crate) fn render_shell(title: &str, main: &str, data: &Value, scripts: &[&str]) -> String {
    let hashes: Vec<String> = scripts.iter().map(|script| script_hash(script)).collect();
    let mut out = String::with_capacity(main.len() + (3 << 20));
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; img-src data: blob:; \
         script-src {}\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" \
         content=\"light dark\">\n<meta name=\"generator\" content=\"drystone {}\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{main}",
        hashes.join(" "),
        env!("CARGO_PKG_VERSION"),
        escape_html(title),
        assets::PAGE_CSS,
    );
    let _ = writeln!(out, "<script type=\"application/json\" id=\"data\">{}</script>", embed_json(&data.to_string()));
    for script in scripts {
        let _ = writeln!(out, "<script>{script}</script>");
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn workload_name(results: &Results) -> &str {
    &results.workload.name
}

fn write_header(results: &Results, out: &mut String) {
    let workload = &results.workload;
    let mut facts = vec![format_plural(workload.jobs, "job"), format_plural(u64::from(workload.procs), "processor")];
    if workload.first_submit.is_some() {
        facts.push(format!("over {}", format_duration(workload.load_span().as_f64())));
    }
    if workload.load.is_some() {
        facts.push(format!("load {}", format_percent(workload.load, 1)));
    }
    // Where there is a sheet, it has the verdict; the section below folds what it says of measures.
    let (first, sections) = match results.summary {
        Some(_) => ("summary", "<a href=\"#summary\">In short</a><a href=\"#verdict\">By measure</a>"),
        None => ("verdict", "<a href=\"#verdict\">Verdict</a>"),
    };
    let policies = results.policies.len();
    facts.push(if policies == 1 {
        "1 policy".to_string()
    } else {
        format!("{} policies", format_count(policies as u64))
    });
    let _ = write!(
        out,
        "<a class=\"skip\" href=\"#{first}\">Skip to the verdict</a>\n<header><div><h1>{}</h1><p class=\"facts\">{}</p></div>\
         <button type=\"button\" id=\"theme\" hidden>Theme: automatic</button></header>\n<nav aria-label=\"Sections\">\
         {sections}<a href=\"#plots\">Plots</a><a href=\"#tables\">Tables</a>\
         <a href=\"#glossary\">Words</a><a href=\"#settings\">Settings and data</a></nav>\n<main>\n",
        escape_html(workload_name(results)),
        escape_html(&facts.join(" · ")),
    );
}

fn write_verdict(results: &Results, out: &mut String) {
    let is_folded = results.summary.is_some() && !results.verdict.is_empty();
    out.push_str(match is_folded {
        true => {
            "<section id=\"verdict\"><h2>Verdict by measure</h2>\n<details><summary>The best policy by each measure, and what is not decided</summary>\n"
        }
        false => "<section id=\"verdict\"><h2>Verdict</h2>\n",
    });
    let jobs = results.policies.first().map_or(0, |p| p.report.trimmed.kept);
    if results.policies.is_empty() {
        out.push_str("<p>There is no result.</p>");
    } else if jobs == 0 {
        out.push_str("<p>No job counts, so there is nothing to judge by.</p>");
    } else if !results.verdict.is_empty() {
        out.push_str("<ul class=\"verdict\">");
        for sentence in &results.verdict {
            let _ = write!(out, "<li><span class=\"name\">{}</span></li>", render_prose(sentence));
        }
        out.push_str("</ul>\n");
    } else if results.policies.len() == 1 {
        out.push_str("<p>One policy alone: there is nothing to compare it with.</p>");
    }
    let winners = winners_table(results);
    if !winners.is_empty() {
        winners.write_html("Best policy by each measure, of those that a site can choose", out);
    }
    out.push_str(if is_folded { "</details></section>\n" } else { "</section>\n" });
}

/// The policy with the lowest value of each measure, with its interval.
fn winners_table(results: &Results) -> DocumentTable {
    let comparison = &results.comparison;
    let heads = ["measure", "best policy", "its value", "baseline's value", "change", "interval", "conclusion"];
    let mut table = DocumentTable::new(heads).with_text_columns(&[0, 1, 5, 6]).id("winners");
    let metrics = [
        Metric::Mean(Measure::Wait),
        Metric::Mean(Measure::Response),
        Metric::Mean(Measure::BoundedSlowdown),
        Metric::Max(Measure::Wait),
    ];
    for metric in metrics {
        let candidates = comparison.policies.iter().filter(|p| results.may_lead(&p.name)).filter_map(|p| {
            let change = p.changes.iter().find(|c| c.metric == metric)?;
            Some((p.name.as_str(), change, change.value?))
        });
        let Some((name, change, value)) = candidates.min_by(|a, b| a.2.total_cmp(&b.2)) else { continue };
        let show = metric_formatter(metric);
        let base = change.baseline;
        let mut row = vec![metric.name().into()];
        if base.is_some_and(|base| base <= value) {
            row.extend([
                comparison.baseline.as_str().into(),
                TableValue::from_number(base, show),
                TableValue::from_number(base, show),
                NONE.into(),
                NONE.into(),
                "the baseline is the best".into(),
            ]);
        } else {
            let (words, tone) = judge_change(change);
            row.extend([
                name.into(),
                TableValue::from_number(Some(value), show),
                TableValue::from_number(base, show),
                TableValue::from_number(change.relative, crate::number::format_change),
                change.interval.map_or_else(|| "none".to_string(), format_interval).into(),
                TableValue::toned_text(words, tone),
            ]);
        }
        table.add_row(row);
    }
    table
}

/// Places for the plots, which JavaScript fills.
fn write_plots(results: &Results, left_out: &[usize], out: &mut String) {
    out.push_str("<section id=\"plots\"><h2>Plots</h2>\n");
    if results.policies.is_empty() || results.policies.iter().all(|p| p.report.trimmed.kept == 0) {
        out.push_str("<p>Nothing to plot.</p></section>\n");
        return;
    }
    if results.policies.iter().all(|p| p.details.is_none()) {
        out.push_str(
            "<p class=\"note\">These results hold no distributions and series: simulate with <code>--details</code> or \
             <code>--report FILE.html</code> for all plots.</p>",
        );
    }
    if !left_out.is_empty() {
        let names: Vec<&str> = left_out.iter().map(|&at| results.policies[at].policy.text.as_str()).collect();
        let _ = write!(
            out,
            "<p class=\"note\">To keep the page small, distributions and series of these policies are left out: {}. <code>--format \
             json</code> has them.</p>",
            escape_html(&names.join(", "))
        );
    }
    out.push_str(
        "<noscript><p class=\"note\">Plots need JavaScript. Every table below does without.</p></noscript>\n<fieldset \
         id=\"policies\" hidden><legend>Policies in the plots</legend><div class=\"chips\"></div><div class=\"tools\">\
         <button type=\"button\" data-pick=\"some\">Baseline and best</button><button type=\"button\" data-pick=\"all\">All\
         </button><button type=\"button\" data-pick=\"none\">Baseline only</button></div></fieldset>\n<div id=\"figures\">\
         </div></section>\n",
    );
}

fn format_interval((low, high): (f64, f64)) -> String {
    if says_nothing((low, high)) {
        return "nothing can be said of the size".to_string();
    }
    format!("{} to {}%", format_bound(low), format_bound(high))
}

/// The conclusion of a change, and its tone.
fn judge_change(change: &MetricChange) -> (&'static str, Tone) {
    match change.verdict {
        MetricVerdict::Better => ("clearly better", Tone::Good),
        MetricVerdict::Worse => ("clearly worse", Tone::Bad),
        MetricVerdict::Same => ("the same", Tone::Faint),
        MetricVerdict::Alike => ("no difference worth the name", Tone::Faint),
        MetricVerdict::Unclear => ("not decided: may be noise", Tone::Faint),
        MetricVerdict::InsideReplayError => ("no larger than the replay's error", Tone::Faint),
        MetricVerdict::NotAMean => ("one job's value: no interval", Tone::Faint),
        MetricVerdict::TooFewWeeks => ("too uncertain to tell from noise", Tone::Faint),
        MetricVerdict::NoRatio => ("not comparable", Tone::Faint),
    }
}
