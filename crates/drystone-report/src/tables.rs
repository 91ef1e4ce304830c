//! The tables of a page.

use crate::disrupted;
use crate::number::{bound, change, count, duration, exact_percent, fixed, in_unit, percent};
use crate::results::{PolicyResult, Results};
use crate::table::{HtmlCell, HtmlTable};
use drystone::metrics::{LEAST_WEEKS, Measure, Metric, MetricChange, MetricVerdict};

/// Most users in the table; the plot and the data have more.
const TABLE_USERS: usize = 30;

/// All of them.
pub(crate) fn tables(results: &Results, out: &mut String) {
    out.push_str("<section id=\"tables\"><h2>Tables</h2>\n");
    let policies = &results.policies;
    let name = |p: &PolicyResult| {
        let base = if p.policy.text == results.baseline && policies.len() > 1 { " (baseline)" } else { "" };
        let equals: String = p.equals.iter().map(|other| format!(" = {other}")).collect();
        HtmlCell::name(&format!("{}{equals}{base}", p.policy.marked()))
    };
    let (main, apart): (Vec<&PolicyResult>, Vec<&PolicyResult>) =
        policies.iter().partition(|p| p.policy.text == results.baseline || results.may_lead(&p.policy.text));
    figures("every", if apart.is_empty() { "Every policy" } else { "Policies that a site can choose" }, &main, name)
        .html(out);
    if !apart.is_empty() {
        let caption = "Apart: policies that a site cannot choose, whose mean wait is clearly worse, or that let some job wait much longer";
        figures("apart", caption, &apart, name).html(out);
    }
    let comparison = &results.comparison;
    if !comparison.policies.is_empty() {
        let how = if comparison.weeks < LEAST_WEEKS {
            format!("no intervals: fewer than {LEAST_WEEKS} weeks")
        } else {
            format!(
                "{} intervals from the sums of {} weeks, paired; each judged by itself, so of 20 verdicts on pure noise about \
                 one is wrong",
                exact_percent(comparison.options.confidence),
                comparison.weeks
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
        let mut table = HtmlTable::new("changes", format!("Change against {} ({how})", results.baseline), head);
        for policy in &comparison.policies {
            let marked = policies.iter().find(|p| p.policy.text == policy.name).map(&name);
            let mut row = vec![marked.unwrap_or_else(|| HtmlCell::name(&policy.name))];
            for metric in metrics {
                let found = policy.changes.iter().find(|c| c.metric == metric);
                let tone = match found.map(|c| c.verdict) {
                    Some(MetricVerdict::Better) => "number good",
                    Some(MetricVerdict::Worse) => "number bad",
                    Some(MetricVerdict::NotAMean) => "number",
                    _ => "number faint",
                };
                row.push(HtmlCell::number(found.and_then(|c| c.relative), change).said(tone));
                if matches!(metric, Metric::Mean(_)) {
                    let text = found.and_then(|c| c.interval).map_or_else(|| "none".to_string(), interval);
                    row.push(HtmlCell::words(text).said(if tone == "number" { "words" } else { tone }));
                }
            }
            table.row(row);
        }
        table.html(out);
    }
    promises(policies, name).html(out);
    disrupted::table(policies, name, out);
    quantiles(policies, name, out);
    pools(policies, name, out);
    categories(policies, out);
    users(results, out);
    searches(policies, name, out);
    loads(results, out);
    out.push_str("</section>\n");
}

fn figures(
    id: &'static str,
    caption: &str,
    policies: &[&PolicyResult],
    name: impl Fn(&PolicyResult) -> HtmlCell,
) -> HtmlTable {
    let mut table = HtmlTable::new(
        id,
        caption,
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
        let mut row = vec![name(policy), HtmlCell::count(report.trimmed.kept)];
        for metric in columns {
            let value = metric.of(report);
            let tone = if policies.len() > 1 && value == Some(best(metric)) { "number best" } else { "number" };
            row.push(HtmlCell::number(value, shown(metric)).said(tone));
        }
        row.push(HtmlCell::number(Metric::Utilisation.of(report), shown(Metric::Utilisation)));
        table.row(row);
    }
    table
}

/// Pools that are simulated side by side, where there are several.
fn pools(policies: &[PolicyResult], name: impl Fn(&PolicyResult) -> HtmlCell, out: &mut String) {
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
    let mut table = HtmlTable::new("pools", "By pool", heads.chain(metrics.iter().map(|metric| metric.name())));
    for policy in policies {
        for pool in &policy.pools {
            let mut row = vec![
                name(policy),
                HtmlCell::name(&pool.name),
                HtmlCell::number(Some(f64::from(pool.procs)), |n| count(n as u64)),
                HtmlCell::number(Some(pool.report.trimmed.kept as f64), |n| count(n as u64)),
            ];
            row.extend(metrics.iter().map(|metric| HtmlCell::number(metric.of(&pool.report), shown(*metric))));
            table.row(row);
        }
    }
    table.html(out);
}

fn promises(policies: &[PolicyResult], name: impl Fn(&PolicyResult) -> HtmlCell) -> HtmlTable {
    let mut table = HtmlTable::new(
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
            HtmlCell::count(promised),
            HtmlCell::number(broken, |v| count(v as u64)).said(tone),
            HtmlCell::number(policy.promises.worst.map(|w| w.delay().as_f64()), duration),
            HtmlCell::number(p.and_then(|p| p.difference.mean), duration),
            HtmlCell::number(p.and_then(|p| p.difference.median), duration),
            HtmlCell::number(p.and_then(|p| p.accuracy.mean), |v| percent(Some(v), 1)),
            HtmlCell::number(p.and_then(|p| p.corrections.mean), |v| fixed(v, 2)),
            HtmlCell::count(report.suspensions.total),
            HtmlCell::number(queue.and_then(|q| q.mean_waiting_jobs), |v| fixed(v, 1)),
            HtmlCell::number(queue.and_then(|q| q.loss_of_capacity), |v| percent(Some(v), 1)),
        ]);
    }
    table
}

/// Some points of the distributions that are plotted.
fn quantiles(policies: &[PolicyResult], name: impl Fn(&PolicyResult) -> HtmlCell, out: &mut String) {
    let shares = [0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.999];
    if policies.iter().all(|p| p.details.is_none()) {
        return;
    }
    let head = || {
        std::iter::once("policy".to_string())
            .chain(shares.iter().map(|s| percent(Some(*s), if *s > 0.99 { 1 } else { 0 })))
    };
    let mut waits = HtmlTable::new("wait-quantiles", "Wait-time percentiles", head());
    let mut slowdowns = HtmlTable::new("slowdown-quantiles", "Bounded-slowdown percentiles", head());
    for policy in policies {
        let Some(details) = &policy.details else { continue };
        let cells = |q: &crate::details::Quantiles, show: fn(f64) -> String| -> Vec<HtmlCell> {
            let mut row = vec![name(policy)];
            row.extend(shares.iter().map(|&s| HtmlCell::number(q.at(s), show)));
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
            let mut table = HtmlTable::new("", caption, head("category"));
            for &(key, name) in &keys {
                let jobs = all.iter().find_map(|c| c.get(key)).map_or(0, |c| c.measures.get(measure).count);
                let mut row = vec![HtmlCell::name(name), HtmlCell::count(jobs)];
                row.extend(all.iter().map(|c| {
                    let mean = c.get(key).and_then(|c| c.measures.get(measure).mean);
                    HtmlCell::number(mean, |v| if measure == Measure::Wait { duration(v) } else { fixed(v, 2) })
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
        let mut table = HtmlTable::new(
            if wait { "class-wait" } else { "class-slowdown" },
            format!("By run time × processors: {what}"),
            head("run time × processors"),
        );
        for &(key, name) in &keys {
            let of = |p: &PolicyResult| p.details.as_ref()?.classes.iter().find(|c| c.key == key).cloned();
            let jobs = policies.iter().find_map(of).map_or(0, |c| c.jobs);
            let mut row = vec![HtmlCell::name(name), HtmlCell::count(jobs)];
            row.extend(policies.iter().map(|p| match (of(p), wait) {
                (Some(c), true) => HtmlCell::number(c.wait, duration),
                (Some(c), false) => HtmlCell::number(c.bounded_slowdown, |v| fixed(v, 2)),
                (None, _) => HtmlCell::number(None, duration),
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
    let mut table = HtmlTable::new("users", caption, head);
    for user in details.users.iter().take(TABLE_USERS) {
        let mut row = vec![HtmlCell::name(&user.name), HtmlCell::count(user.jobs)];
        row.extend(policies.iter().map(|p| {
            let found = p.details.as_ref().and_then(|d| d.users.iter().find(|u| u.key == user.key));
            HtmlCell::number(found.and_then(|u| u.bounded_slowdown), |v| fixed(v, 2))
        }));
        table.row(row);
    }
    table.html(out);
}

fn searches(policies: &[PolicyResult], name: impl Fn(&PolicyResult) -> HtmlCell, out: &mut String) {
    let mut table = HtmlTable::new(
        "searches",
        "Effort of the searches",
        ["policy", "searches", "nodes per search", "95th percentile", "paths per search", "improvements", "exhausted"],
    );
    for policy in policies {
        let Some(search) = policy.details.as_ref().and_then(|d| d.search.as_ref()) else { continue };
        let effort = search.effort;
        table.row(vec![
            name(policy),
            HtmlCell::count(effort.searches),
            HtmlCell::number(search.nodes.mean, |v| fixed(v, 1)),
            HtmlCell::number(search.nodes.p95, |v| fixed(v, 0)),
            HtmlCell::number(search.paths.mean, |v| fixed(v, 1)),
            HtmlCell::count(effort.improvements),
            HtmlCell::number(Some(effort.exhausted as f64 / effort.searches.max(1) as f64), |v| percent(Some(v), 1)),
        ]);
    }
    if !table.is_empty() {
        table.html(out);
    }
}

fn loads(results: &Results, out: &mut String) {
    let mut table = HtmlTable::new(
        "loads",
        "At other loads",
        ["policy", "load factor", "offered load", "mean wait", "mean bounded slowdown", "period utilisation"],
    );
    for point in &results.loads {
        table.row(vec![
            HtmlCell::name(&point.policy),
            HtmlCell::number(Some(point.factor), |v| fixed(v, 2)),
            HtmlCell::number(point.load, |v| percent(Some(v), 1)),
            HtmlCell::number(point.wait, duration),
            HtmlCell::number(point.bounded_slowdown, |v| fixed(v, 2)),
            HtmlCell::number(point.utilisation, |v| percent(Some(v), 1)),
        ]);
    }
    if !table.is_empty() {
        table.html(out);
    }
}

/// A value as people read it.
pub(crate) fn shown(metric: Metric) -> impl Fn(f64) -> String + Copy {
    move |value| in_unit(Some(value), metric.unit())
}

pub(crate) fn interval((low, high): (f64, f64)) -> String {
    format!("{} to {}%", bound(low), bound(high))
}

/// The conclusion of a change, and its tone.
pub(crate) fn judged(change: &MetricChange) -> (&'static str, &'static str) {
    match change.verdict {
        MetricVerdict::Better => ("clearly better", "words good"),
        MetricVerdict::Worse => ("clearly worse", "words bad"),
        MetricVerdict::Same => ("the same", "words faint"),
        MetricVerdict::Unclear => ("unclear: may be noise", "words faint"),
        MetricVerdict::InsideReplayError => ("no larger than the replay's error", "words faint"),
        MetricVerdict::NotAMean => ("one job's value: no interval", "words faint"),
        MetricVerdict::TooFewWeeks => ("too short a log to tell from noise", "words faint"),
        MetricVerdict::NoRatio => ("not comparable", "words faint"),
    }
}
