//! The tables of a page.

use crate::document::{DocumentTable, TableValue, Tone};
use crate::number::{count, duration, exact_percent, fixed, in_unit, percent};
use crate::results::{PolicyResult, Results};
use crate::shared_tables::{
    changes_table, disruptions_table, loads_table, pools_table, power_table, promises_table, sizes_table,
};
use drystone::metrics::{LEAST_WEEKS, Measure, Metric};

/// Most users in the table; the plot and the data have more.
const TABLE_USERS: usize = 30;

pub(crate) fn tables(results: &Results, out: &mut String) {
    out.push_str("<section id=\"tables\"><h2>Tables</h2>\n");
    let policies = &results.policies;
    let name = |p: &PolicyResult| {
        let base = if p.policy.text == results.baseline && policies.len() > 1 { " (baseline)" } else { "" };
        let equals: String = p.equals.iter().map(|other| format!(" = {other}")).collect();
        TableValue::from(format!("{}{equals}{base}", p.policy.marked()))
    };
    let (main, apart): (Vec<&PolicyResult>, Vec<&PolicyResult>) =
        policies.iter().partition(|p| p.policy.text == results.baseline || results.may_lead(&p.policy.text));
    let caption = if apart.is_empty() { "Every policy" } else { "Policies that a site can choose" };
    put(&figures(&main, name).id("every"), caption, out);
    if !apart.is_empty() {
        let caption = "Apart: policies that a site cannot choose, whose mean wait is clearly worse, or that let some job wait much longer";
        put(&figures(&apart, name).id("apart"), caption, out);
    }
    let comparison = &results.comparison;
    if !comparison.policies.is_empty() {
        let how = match comparison.basis {
            None => format!("no intervals: fewer than {LEAST_WEEKS} weeks"),
            Some(basis) => format!(
                "{} intervals from {}, of each comparison by itself; verdicts are corrected for the number of policies (Holm)",
                exact_percent(comparison.options.confidence),
                basis.describe("week")
            ),
        };
        let caption = format!("Change against {} ({how})", results.baseline);
        put(&changes_table(policies, comparison), &caption, out);
    }
    put(&promises_table(policies), "Announced starts, predictions, suspensions", out);
    put(&disruptions_table(policies), "Outages and holds: the machine's doing", out);
    put(&sizes_table(policies), "Sizes of jobs", out);
    put(&power_table(policies), "Power", out);
    quantiles(policies, name, out);
    let pools: Vec<_> = policies.iter().map(|one| (Some(one.name()), one.pools.as_slice())).collect();
    put(&pools_table(&pools).id("pools"), "By pool", out);
    categories(policies, out);
    users(results, out);
    searches(policies, name, out);
    put(&loads_table(&results.loads), "At other loads", out);
    out.push_str("</section>\n");
}

/// A table below its caption; nothing where it has no rows.
fn put(table: &DocumentTable, caption: &str, out: &mut String) {
    if !table.is_empty() {
        table.html(caption, out);
    }
}

fn figures(policies: &[&PolicyResult], name: impl Fn(&PolicyResult) -> TableValue) -> DocumentTable {
    let mut table = DocumentTable::new([
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
        "mean queue length",
        "loss of capacity",
    ]);
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
        let mut row = vec![name(policy), TableValue::count(report.trimmed.kept)];
        for metric in columns {
            let value = metric.of(report);
            let tone = if policies.len() > 1 && value == Some(best(metric)) { Tone::Strong } else { Tone::Plain };
            row.push(TableValue::number(value, shown(metric)).with_tone(tone));
        }
        row.push(TableValue::number(Metric::Utilisation.of(report), shown(Metric::Utilisation)));
        let queue = report.queue.map(|queue| queue.arriving);
        row.push(TableValue::number(queue.and_then(|queue| queue.mean_waiting_jobs), |v| fixed(v, 1)));
        row.push(TableValue::number(queue.and_then(|queue| queue.loss_of_capacity), |v| percent(Some(v), 1)));
        table.row(row);
    }
    table
}

/// Some points of the distributions that are plotted.
fn quantiles(policies: &[PolicyResult], name: impl Fn(&PolicyResult) -> TableValue, out: &mut String) {
    let shares = [0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.999];
    if policies.iter().all(|p| p.details.is_none()) {
        return;
    }
    let head = || {
        std::iter::once("policy".to_string())
            .chain(shares.iter().map(|s| percent(Some(*s), if *s > 0.99 { 1 } else { 0 })))
    };
    let mut waits = DocumentTable::new(head()).id("wait-quantiles");
    let mut slowdowns = DocumentTable::new(head()).id("slowdown-quantiles");
    for policy in policies {
        let Some(details) = &policy.details else { continue };
        let cells = |q: &crate::details::Quantiles, show: fn(f64) -> String| -> Vec<TableValue> {
            let mut row = vec![name(policy)];
            row.extend(shares.iter().map(|&s| TableValue::number(q.at(s), show)));
            row
        };
        waits.row(cells(&details.wait, duration));
        slowdowns.row(cells(&details.bounded_slowdown, |v| fixed(v, 2)));
    }
    put(&waits, "Wait-time percentiles", out);
    put(&slowdowns, "Bounded-slowdown percentiles", out);
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
            let mut table = DocumentTable::new(head("category"));
            for &(key, name) in &keys {
                let jobs = all.iter().find_map(|c| c.get(key)).map_or(0, |c| c.measures.get(measure).count);
                let mut row = vec![name.into(), TableValue::count(jobs)];
                row.extend(all.iter().map(|c| {
                    let mean = c.get(key).and_then(|c| c.measures.get(measure).mean);
                    TableValue::number(mean, |v| if measure == Measure::Wait { duration(v) } else { fixed(v, 2) })
                }));
                table.row(row);
            }
            put(&table, &caption, out);
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
        let id = if wait { "class-wait" } else { "class-slowdown" };
        let mut table = DocumentTable::new(head("run time × processors")).id(id);
        for &(key, name) in &keys {
            let of = |p: &PolicyResult| p.details.as_ref()?.classes.iter().find(|c| c.key == key).cloned();
            let jobs = policies.iter().find_map(of).map_or(0, |c| c.jobs);
            let mut row = vec![name.into(), TableValue::count(jobs)];
            row.extend(policies.iter().map(|p| match (of(p), wait) {
                (Some(c), true) => TableValue::number(c.wait, duration),
                (Some(c), false) => TableValue::number(c.bounded_slowdown, |v| fixed(v, 2)),
                (None, _) => TableValue::number(None, duration),
            }));
            table.row(row);
        }
        put(&table, &format!("By run time × processors: {what}"), out);
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
        format!("Mean bounded slowdown of users: the {shown} with most jobs, of {}", count(details.user_count as u64));
    let head: Vec<String> = ["user".to_string(), "jobs".to_string()]
        .into_iter()
        .chain(policies.iter().map(|p| p.policy.text.clone()))
        .collect();
    let mut table = DocumentTable::new(head).id("users");
    for user in details.users.iter().take(TABLE_USERS) {
        let mut row = vec![user.name.as_str().into(), TableValue::count(user.jobs)];
        row.extend(policies.iter().map(|p| {
            let found = p.details.as_ref().and_then(|d| d.users.iter().find(|u| u.key == user.key));
            TableValue::number(found.and_then(|u| u.bounded_slowdown), |v| fixed(v, 2))
        }));
        table.row(row);
    }
    put(&table, &caption, out);
}

fn searches(policies: &[PolicyResult], name: impl Fn(&PolicyResult) -> TableValue, out: &mut String) {
    let heads =
        ["policy", "searches", "nodes per search", "95th percentile", "paths per search", "improvements", "exhausted"];
    let mut table = DocumentTable::new(heads).id("searches");
    for policy in policies {
        let Some(search) = policy.details.as_ref().and_then(|d| d.search.as_ref()) else { continue };
        let effort = search.effort;
        table.row(vec![
            name(policy),
            TableValue::count(effort.searches),
            TableValue::number(search.nodes.mean, |v| fixed(v, 1)),
            TableValue::number(search.nodes.p95, |v| fixed(v, 0)),
            TableValue::number(search.paths.mean, |v| fixed(v, 1)),
            TableValue::count(effort.improvements),
            TableValue::number(Some(effort.exhausted as f64 / effort.searches.max(1) as f64), |v| percent(Some(v), 1)),
        ]);
    }
    put(&table, "Effort of the searches", out);
}

/// A value as people read it.
pub(crate) fn shown(metric: Metric) -> impl Fn(f64) -> String + Copy {
    move |value| in_unit(Some(value), metric.unit())
}
