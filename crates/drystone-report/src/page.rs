//! One HTML file with everything in it: verdict, plots, tables, settings, data.

use crate::html::{embed, escape};
use crate::number::{bound, change, count, duration, exact_percent, fixed, in_unit, percent, plural};
use crate::results::{PolicyResult, Results};
use crate::table::{Cell, Table};
use crate::{assets, budget, charts, settings, sheet};
use base64::Engine;
use drystone::metrics::{Change, LEAST_WEEKS, Measure, Metric, Verdict};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Most users in the table; the plot and the data have more.
const TABLE_USERS: usize = 30;

/// The page of some results: self-contained HTML that opens without any network, and shows every table without JavaScript.
///
/// Cost: a few milliseconds and the length of the data.
#[must_use]
pub fn page(results: &Results) -> String {
    let title = format!("{} – Drystone", workload_name(results));
    let mut main = String::with_capacity(1 << 16);
    let (data, left_out) = budget::fitting(&results.data, &budget::by_interest(results));
    header(results, &mut main);
    sheet::sheet(results, &mut main);
    verdict(results, &mut main);
    plots(results, &left_out, &mut main);
    tables(results, &mut main);
    sheet::glossary(results, &mut main);
    settings::settings(results, &mut main);
    shell(&title, &main, &data, &[assets::ECHARTS, charts::SCRIPT, assets::PAGE_JS])
}

/// A whole document around the body's content, with the data and scripts that nobody can add to.
pub(crate) fn shell(title: &str, main: &str, data: &Value, scripts: &[&str]) -> String {
    let hash = |script: &&str| {
        let digest = Sha256::digest(script.as_bytes());
        format!("'sha256-{}'", base64::engine::general_purpose::STANDARD.encode(digest))
    };
    let hashes: Vec<String> = scripts.iter().map(hash).collect();
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
        escape(title),
        assets::PAGE_CSS,
    );
    let _ = writeln!(out, "<script type=\"application/json\" id=\"data\">{}</script>", embed(&data.to_string()));
    for script in scripts {
        let _ = writeln!(out, "<script>{script}</script>");
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn workload_name(results: &Results) -> &str {
    &results.workload.name
}

fn header(results: &Results, out: &mut String) {
    let workload = &results.workload;
    let mut facts = vec![plural(workload.jobs, "job"), plural(u64::from(workload.procs), "processor")];
    if let (Some(first), Some(last)) = (workload.first_submit, workload.last_submit) {
        facts.push(format!("over {}", duration((last - first).as_f64())));
    }
    if workload.load.is_some() {
        facts.push(format!("load {}", percent(workload.load, 1)));
    }
    let (first, short) = match results.summary {
        Some(_) => ("summary", "<a href=\"#summary\">In short</a>"),
        None => ("verdict", ""),
    };
    let policies = results.policies.len();
    facts.push(if policies == 1 { "1 policy".to_string() } else { format!("{} policies", count(policies as u64)) });
    let _ = write!(
        out,
        "<a class=\"skip\" href=\"#{first}\">Skip to the verdict</a>\n<header><div><h1>{}</h1><p class=\"facts\">{}</p></div>\
         <button type=\"button\" id=\"theme\" hidden>Theme: automatic</button></header>\n<nav aria-label=\"Sections\">\
         {short}<a href=\"#verdict\">Verdict</a><a href=\"#plots\">Plots</a><a href=\"#tables\">Tables</a>\
         <a href=\"#glossary\">Words</a><a href=\"#settings\">Settings and data</a></nav>\n<main>\n",
        escape(workload_name(results)),
        escape(&facts.join(" · ")),
    );
}

fn verdict(results: &Results, out: &mut String) {
    out.push_str("<section id=\"verdict\"><h2>Verdict</h2>\n");
    let jobs = results.policies.first().map_or(0, |p| p.report.trimmed.kept);
    if results.policies.is_empty() {
        out.push_str("<p>There is no result.</p>");
    } else if jobs == 0 {
        out.push_str("<p>No job counts, so there is nothing to judge by.</p>");
    } else if !results.verdict.is_empty() {
        out.push_str("<ul class=\"verdict\">");
        for sentence in &results.verdict {
            let _ = write!(out, "<li><span class=\"name\">{}</span></li>", escape(sentence));
        }
        out.push_str("</ul>\n");
    } else if results.policies.len() == 1 {
        out.push_str("<p>One policy alone: there is nothing to compare it with.</p>");
    }
    let winners = winners(results);
    if !winners.is_empty() {
        winners.html(out);
    }
    out.push_str("</section>\n");
}

/// Which policy has the lowest value of each measure, and how sure that is.
fn winners(results: &Results) -> Table {
    let comparison = &results.comparison;
    let mut table = Table::new(
        "winners",
        "Which policy is best by which measure, of those that a site can choose",
        ["measure", "best policy", "its value", "baseline's value", "change", "interval", "so it is"],
    );
    let real = |name: &str| {
        let found = results.policies.iter().find(|p| p.policy.text == name);
        found.is_some_and(|p| !p.policy.clairvoyant && !p.policy.preemptive)
    };
    let metrics = [
        Metric::Mean(Measure::Wait),
        Metric::Mean(Measure::Response),
        Metric::Mean(Measure::BoundedSlowdown),
        Metric::Max(Measure::Wait),
    ];
    for metric in metrics {
        let found = comparison.policies.iter().filter(|p| real(&p.name)).filter_map(|p| {
            let change = p.changes.iter().find(|c| c.metric == metric)?;
            Some((p.name.as_str(), change, change.value?))
        });
        let Some((name, change, value)) = found.min_by(|a, b| a.2.total_cmp(&b.2)) else { continue };
        let show = shown(metric);
        let base = change.baseline;
        let mut row = vec![Cell::name(&metric.name())];
        if base.is_some_and(|base| base <= value) {
            row.extend([
                Cell::name(&comparison.baseline),
                Cell::number(base, show),
                Cell::number(base, show),
                Cell::words("–"),
                Cell::words("–"),
                Cell::words("the baseline, which no policy is below"),
            ]);
        } else {
            let (words, tone) = judged(change);
            row.extend([
                Cell::name(name),
                Cell::number(Some(value), show),
                Cell::number(base, show),
                Cell::number(change.relative, crate::number::change),
                Cell::words(change.interval.map_or_else(|| "none".to_string(), interval)),
                Cell::words(words).said(tone),
            ]);
        }
        table.row(row);
    }
    table
}

/// How people read a value.
fn shown(metric: Metric) -> impl Fn(f64) -> String + Copy {
    move |value| in_unit(Some(value), metric.unit())
}

fn interval((low, high): (f64, f64)) -> String {
    format!("{} to {}%", bound(low), bound(high))
}

/// What a change says, and in which tone.
fn judged(change: &Change) -> (&'static str, &'static str) {
    match change.verdict {
        Verdict::Better => ("clearly better", "words good"),
        Verdict::Worse => ("clearly worse", "words bad"),
        Verdict::Same => ("the same", "words faint"),
        Verdict::Unclear => ("unclear: may be noise", "words faint"),
        Verdict::InsideReplayError => ("no larger than the replay's error", "words faint"),
        Verdict::NotAMean => ("one job's value: no interval", "words faint"),
        Verdict::TooFewWeeks => ("too short a log to tell from noise", "words faint"),
        Verdict::NoRatio => ("not comparable", "words faint"),
    }
}

/// Places for the plots, which JavaScript fills.
fn plots(results: &Results, left_out: &[usize], out: &mut String) {
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
            escape(&names.join(", "))
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

fn tables(results: &Results, out: &mut String) {
    out.push_str("<section id=\"tables\"><h2>Tables</h2>\n");
    let policies = &results.policies;
    let name = |p: &PolicyResult| {
        let base = if p.policy.text == results.baseline && policies.len() > 1 { " (baseline)" } else { "" };
        let equals: String = p.equals.iter().map(|other| format!(" = {other}")).collect();
        Cell::name(&format!("{}{equals}{base}", p.policy.marked()))
    };
    figures(policies, name).html(out);
    let comparison = &results.comparison;
    if !comparison.policies.is_empty() {
        let how = if comparison.weeks < LEAST_WEEKS {
            format!("no intervals: fewer than {LEAST_WEEKS} weeks")
        } else {
            format!(
                "{} intervals from a paired bootstrap over {} weeks, {} draws, seed {}; each judged by itself, so of 20 \
                 verdicts on pure noise about one is wrong",
                exact_percent(comparison.options.confidence),
                comparison.weeks,
                count(u64::from(comparison.options.resamples)),
                comparison.options.seed
            )
        };
        let metrics = [
            Metric::Mean(Measure::Wait),
            Metric::Mean(Measure::Response),
            Metric::Mean(Measure::BoundedSlowdown),
            Metric::Max(Measure::Wait),
        ];
        let mut head = vec!["policy".to_string()];
        for metric in metrics {
            head.push(metric.name());
            if matches!(metric, Metric::Mean(_)) {
                head.push("interval".to_string());
            }
        }
        let mut table = Table::new("changes", format!("Change against {} ({how})", results.baseline), head);
        for policy in &comparison.policies {
            let marked = policies.iter().find(|p| p.policy.text == policy.name).map(&name);
            let mut row = vec![marked.unwrap_or_else(|| Cell::name(&policy.name))];
            for metric in metrics {
                let found = policy.changes.iter().find(|c| c.metric == metric);
                let tone = match found.map(|c| c.verdict) {
                    Some(Verdict::Better) => "number good",
                    Some(Verdict::Worse) => "number bad",
                    Some(Verdict::NotAMean) => "number",
                    _ => "number faint",
                };
                row.push(Cell::number(found.and_then(|c| c.relative), change).said(tone));
                if matches!(metric, Metric::Mean(_)) {
                    let text = found.and_then(|c| c.interval).map_or_else(|| "none".to_string(), interval);
                    row.push(Cell::words(text).said(if tone == "number" { "words" } else { tone }));
                }
            }
            table.row(row);
        }
        table.html(out);
    }
    promises(policies, name).html(out);
    quantiles(policies, name, out);
    pools(policies, name, out);
    categories(policies, out);
    users(results, out);
    searches(policies, name, out);
    loads(results, out);
    out.push_str("</section>\n");
}

fn figures(policies: &[PolicyResult], name: impl Fn(&PolicyResult) -> Cell) -> Table {
    let mut table = Table::new(
        "every",
        "Every policy",
        [
            "policy",
            "jobs",
            "mean wait",
            "median",
            "95th percentile",
            "longest",
            "mean response",
            "mean bounded slowdown",
            "median",
            "95th percentile",
            "largest",
            "period utilisation",
        ],
    );
    let best = |metric: Metric| policies.iter().filter_map(|p| metric.of(&p.report)).fold(f64::INFINITY, f64::min);
    let (wait, slowdown) = (Measure::Wait, Measure::BoundedSlowdown);
    let columns = [
        Metric::Mean(wait),
        Metric::Median(wait),
        Metric::P95(wait),
        Metric::Max(wait),
        Metric::Mean(Measure::Response),
        Metric::Mean(slowdown),
        Metric::Median(slowdown),
        Metric::P95(slowdown),
        Metric::Max(slowdown),
    ];
    for policy in policies {
        let report = &policy.report;
        let mut row = vec![name(policy), Cell::count(report.trimmed.kept)];
        for metric in columns {
            let value = metric.of(report);
            let tone = if policies.len() > 1 && value == Some(best(metric)) { "number best" } else { "number" };
            row.push(Cell::number(value, shown(metric)).said(tone));
        }
        row.push(Cell::number(Metric::Utilisation.of(report), shown(Metric::Utilisation)));
        table.row(row);
    }
    table
}

/// Pools that are simulated side by side, where there are several.
fn pools(policies: &[PolicyResult], name: impl Fn(&PolicyResult) -> Cell, out: &mut String) {
    if policies.iter().all(|policy| policy.pools.is_empty()) {
        return;
    }
    let metrics = [
        Metric::Mean(Measure::Wait),
        Metric::Max(Measure::Wait),
        Metric::Mean(Measure::BoundedSlowdown),
        Metric::Utilisation,
    ];
    let heads = ["policy", "pool", "processors", "jobs"].into_iter().map(String::from);
    let mut table = Table::new("pools", "By pool", heads.chain(metrics.iter().map(|metric| metric.name())));
    for policy in policies {
        for pool in &policy.pools {
            let mut row = vec![
                name(policy),
                Cell::name(&pool.name),
                Cell::number(Some(f64::from(pool.procs)), |n| count(n as u64)),
                Cell::number(Some(pool.report.trimmed.kept as f64), |n| count(n as u64)),
            ];
            row.extend(metrics.iter().map(|metric| Cell::number(metric.of(&pool.report), shown(*metric))));
            table.row(row);
        }
    }
    table.html(out);
}

fn promises(policies: &[PolicyResult], name: impl Fn(&PolicyResult) -> Cell) -> Table {
    let mut table = Table::new(
        "promises",
        "Announced starts, predictions, suspensions",
        [
            "policy",
            "starts announced",
            "not kept",
            "worst delay",
            "mean reservation error",
            "median",
            "mean prediction accuracy",
            "corrections per job",
            "suspensions",
            "mean queue length",
            "loss of capacity",
        ],
    );
    for policy in policies {
        let report = &policy.report;
        let p = report.predictability.as_ref();
        let queue = report.queue.map(|q| q.arriving);
        let promised = policy.promises.promised;
        let broken = (promised > 0).then_some(policy.promises.broken as f64);
        let tone = if broken > Some(0.0) { "number bad" } else { "number" };
        table.row(vec![
            name(policy),
            Cell::count(promised),
            Cell::number(broken, |v| count(v as u64)).said(tone),
            Cell::number(policy.promises.worst.map(|w| w.delay().as_f64()), duration),
            Cell::number(p.and_then(|p| p.difference.mean), duration),
            Cell::number(p.and_then(|p| p.difference.median), duration),
            Cell::number(p.and_then(|p| p.accuracy.mean), |v| percent(Some(v), 1)),
            Cell::number(p.and_then(|p| p.corrections.mean), |v| fixed(v, 2)),
            Cell::count(report.suspensions.total),
            Cell::number(queue.and_then(|q| q.mean_waiting_jobs), |v| fixed(v, 1)),
            Cell::number(queue.and_then(|q| q.loss_of_capacity), |v| percent(Some(v), 1)),
        ]);
    }
    table
}

/// Some points of the distributions that are plotted.
fn quantiles(policies: &[PolicyResult], name: impl Fn(&PolicyResult) -> Cell, out: &mut String) {
    let shares = [0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.999];
    if policies.iter().all(|p| p.details.is_none()) {
        return;
    }
    let head = || {
        std::iter::once("policy".to_string())
            .chain(shares.iter().map(|s| percent(Some(*s), if *s > 0.99 { 1 } else { 0 })))
    };
    let mut waits = Table::new("wait-quantiles", "Wait that so many jobs do not exceed", head());
    let mut slowdowns = Table::new("slowdown-quantiles", "Bounded slowdown that so many jobs do not exceed", head());
    for policy in policies {
        let Some(details) = &policy.details else { continue };
        let cells = |q: &crate::details::Quantiles, show: fn(f64) -> String| -> Vec<Cell> {
            let mut row = vec![name(policy)];
            row.extend(shares.iter().map(|&s| Cell::number(q.at(s), show)));
            row
        };
        waits.row(cells(&details.wait, duration));
        slowdowns.row(cells(&details.bounded_slowdown, |v| fixed(v, 2)));
    }
    waits.html(out);
    slowdowns.html(out);
}

/// One table per scheme and measure: categories down, policies across.
fn categories(policies: &[PolicyResult], out: &mut String) {
    let Some(first) = policies.first() else { return };
    let head = |what: &str| -> Vec<String> {
        [what.to_string(), "jobs".to_string()]
            .into_iter()
            .chain(policies.iter().map(|p| p.policy.text.clone()))
            .collect()
    };
    for (at, categorised) in first.report.categories.iter().enumerate() {
        let all: Vec<_> = policies.iter().filter_map(|p| p.report.categories.get(at)).collect();
        let mut keys: Vec<(i64, &str)> =
            all.iter().flat_map(|c| &c.categories).map(|c| (c.key, c.name.as_str())).collect();
        keys.sort_unstable();
        keys.dedup();
        for (measure, what) in [(Measure::Wait, "mean wait"), (Measure::BoundedSlowdown, "mean bounded slowdown")] {
            let caption = format!("By {}: {what}", categorised.scheme.name());
            let mut table = Table::new("", caption, head("category"));
            for &(key, name) in &keys {
                let jobs = all.iter().find_map(|c| c.get(key)).map_or(0, |c| c.measures.get(measure).count);
                let mut row = vec![Cell::name(name), Cell::count(jobs)];
                row.extend(all.iter().map(|c| {
                    let mean = c.get(key).and_then(|c| c.measures.get(measure).mean);
                    Cell::number(mean, |v| if measure == Measure::Wait { duration(v) } else { fixed(v, 2) })
                }));
                table.row(row);
            }
            table.html(out);
        }
    }
    let classes: Vec<_> = policies.iter().filter_map(|p| Some(&p.details.as_ref()?.classes)).collect();
    let mut keys: Vec<(i64, &str)> = classes.iter().flat_map(|c| c.iter()).map(|c| (c.key, c.name.as_str())).collect();
    keys.sort_unstable();
    keys.dedup();
    if keys.is_empty() {
        return;
    }
    for (wait, what) in [(true, "mean wait"), (false, "mean bounded slowdown")] {
        let mut table = Table::new(
            if wait { "class-wait" } else { "class-slowdown" },
            format!("By run time × processors: {what}"),
            head("run time × processors"),
        );
        for &(key, name) in &keys {
            let of = |p: &PolicyResult| p.details.as_ref()?.classes.iter().find(|c| c.key == key).cloned();
            let jobs = policies.iter().find_map(of).map_or(0, |c| c.jobs);
            let mut row = vec![Cell::name(name), Cell::count(jobs)];
            row.extend(policies.iter().map(|p| match (of(p), wait) {
                (Some(c), true) => Cell::number(c.wait, duration),
                (Some(c), false) => Cell::number(c.bounded_slowdown, |v| fixed(v, 2)),
                (None, _) => Cell::number(None, duration),
            }));
            table.row(row);
        }
        table.html(out);
    }
}

/// The users with most jobs.
fn users(results: &Results, out: &mut String) {
    let policies = &results.policies;
    let Some(base) = policies.iter().find(|p| p.policy.text == results.baseline) else { return };
    let Some(details) = &base.details else { return };
    if details.users.is_empty() {
        return;
    }
    let shown = details.users.len().min(TABLE_USERS);
    let caption =
        format!("Mean bounded slowdown of the {shown} users with most jobs, of {}", count(details.user_count as u64));
    let head: Vec<String> = ["user".to_string(), "jobs".to_string()]
        .into_iter()
        .chain(policies.iter().map(|p| p.policy.text.clone()))
        .collect();
    let mut table = Table::new("users", caption, head);
    for user in details.users.iter().take(TABLE_USERS) {
        let mut row = vec![Cell::name(&user.name), Cell::count(user.jobs)];
        row.extend(policies.iter().map(|p| {
            let found = p.details.as_ref().and_then(|d| d.users.iter().find(|u| u.key == user.key));
            Cell::number(found.and_then(|u| u.bounded_slowdown), |v| fixed(v, 2))
        }));
        table.row(row);
    }
    table.html(out);
}

fn searches(policies: &[PolicyResult], name: impl Fn(&PolicyResult) -> Cell, out: &mut String) {
    let mut table = Table::new(
        "searches",
        "What the searches did",
        ["policy", "searches", "nodes per search", "95th percentile", "paths per search", "improvements", "exhausted"],
    );
    for policy in policies {
        let Some(search) = policy.details.as_ref().and_then(|d| d.search.as_ref()) else { continue };
        let effort = search.effort;
        table.row(vec![
            name(policy),
            Cell::count(effort.searches),
            Cell::number(search.nodes.mean, |v| fixed(v, 1)),
            Cell::number(search.nodes.p95, |v| fixed(v, 0)),
            Cell::number(search.paths.mean, |v| fixed(v, 1)),
            Cell::count(effort.improvements),
            Cell::number(Some(effort.exhausted as f64 / effort.searches.max(1) as f64), |v| percent(Some(v), 1)),
        ]);
    }
    if !table.is_empty() {
        table.html(out);
    }
}

fn loads(results: &Results, out: &mut String) {
    let mut table = Table::new(
        "loads",
        "At other loads",
        ["policy", "load factor", "offered load", "mean wait", "mean bounded slowdown", "period utilisation"],
    );
    for point in &results.loads {
        table.row(vec![
            Cell::name(&point.policy),
            Cell::number(Some(point.factor), |v| fixed(v, 2)),
            Cell::number(point.load, |v| percent(Some(v), 1)),
            Cell::number(point.wait, duration),
            Cell::number(point.bounded_slowdown, |v| fixed(v, 2)),
            Cell::number(point.utilisation, |v| percent(Some(v), 1)),
        ]);
    }
    if !table.is_empty() {
        table.html(out);
    }
}
