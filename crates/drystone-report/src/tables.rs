//! The tables of a page.

use crate::document::{DocumentTable, TableValue, Tone};
use crate::number::{exact_percent, format_count, format_duration, format_fixed, format_percent, in_unit};
use crate::results::{PolicyResult, Results};
use crate::shared_tables::{
    changes_table, disruptions_table, loads_table, pools_table, power_table, promises_table, sizes_table,
};
use drystone::metrics::{LEAST_WEEKS, Measure, Metric};

/// Most users in the table; the plot and the data have more.
const TABLE_USERS: usize = 30;

pub(crate) fn write_tables(results: &Results, out: &mut String) {
    out.push_str("<section id=\"tables\"><h2>Tables</h2>\n");
    let policies = &results.policies;
    let name = |p: &PolicyResult| {
        let base = if p.policy.text == results.baseline && policies.len() > 1 { " (baseline)" } else { "" };
        let equals: String = p.equals.iter().map(|twin| format!(" = {twin}")).collect();
        TableValue::from(format!("{}{equals}{base}", p.policy.marked_text()))
    };
    let (main, apart): (Vec<&PolicyResult>, Vec<&PolicyResult>) =
        policies.iter().partition(|p| p.policy.text == results.baseline || results.may_lead(&p.policy.text));
    let caption = if apart.is_empty() { "Every policy" } else { "Policies that a site can choose" };
    write_table(&figures_table(&main, name).id("every"), caption, out);
    if !apart.is_empty() {
        let caption = "Apart: policies that a site cannot choose, whose mean wait is clearly worse, or that let some job wait much longer";
        write_table(&figures_table(&apart, name).id("apart"), caption, out);
    }
    let comparison = &results.comparison;
    if !comparison.policies.is_empty() {
        let note = match comparison.basis {
            None => format!("no intervals: fewer than {LEAST_WEEKS} weeks"),
            Some(basis) => format!(
                "{} intervals from {}, of each comparison by itself; verdicts are corrected for the number of policies (Holm)",
                exact_percent(comparison.options.confidence),
                basis.describe("week")
            ),
        };
        let caption = format!("Change against {} ({note})", results.baseline);
        write_table(&changes_table(policies, comparison), &caption, out);
    }
    write_table(&promises_table(policies), "Announced starts, predictions, suspensions", out);
    write_table(&disruptions_table(policies), "Outages and holds: the machine's doing", out);
    write_table(&sizes_table(policies), "Sizes of jobs", out);
    write_table(&power_table(policies), "Power", out);
    write_quantiles(policies, name, out);
    let pools: Vec<_> = policies.iter().map(|result| (Some(result.table_label()), result.pools.as_slice())).collect();
    write_table(&pools_table(&pools).id("pools"), "By pool", out);
    write_categories(policies, out);
    write_users(results, out);
    write_searches(policies, name, out);
    write_table(&loads_table(&results.loads), "At other loads", out);
    out.push_str("</section>\n");
}

/// A table below its caption; nothing where it has no rows.
fn write_table(table: &DocumentTable, caption: &str, out: &mut String) {
    if !table.is_empty() {
        table.write_html(caption, out);
    }
}

fn figures_table(policies: &[&PolicyResult], name: impl Fn(&PolicyResult) -> TableValue) -> DocumentTable {
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
    let best =
        |metric: Metric| policies.iter().filter_map(|p| metric.value_of(&p.report)).fold(f64::INFINITY, f64::min);
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
        let mut row = vec![name(policy), TableValue::from_count(report.trimmed.kept)];
        for metric in columns {
            let value = metric.value_of(report);
            let tone = if policies.len() > 1 && value == Some(best(metric)) { Tone::Strong } else { Tone::Plain };
            row.push(TableValue::from_number(value, metric_formatter(metric)).with_tone(tone));
        }
        row.push(TableValue::from_number(Metric::Utilisation.value_of(report), metric_formatter(Metric::Utilisation)));
        let queue = report.queue.map(|queue| queue.arriving);
        row.push(TableValue::from_number(queue.and_then(|queue| queue.mean_waiting_jobs), |v| format_fixed(v, 1)));
        row.push(TableValue::from_number(queue.and_then(|queue| queue.loss_of_capacity), |v| {
            format_percent(Some(v), 1)
        }));
        table.add_row(row);
    }
    table
}

/// Some points of the distributions that are plotted.
fn write_quantiles(policies: &[PolicyResult], name: impl Fn(&PolicyResult) -> TableValue, out: &mut String) {
    let shares = [0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.999];
    if policies.iter().all(|p| p.details.is_none()) {
        return;
    }
    let head = || {
        std::iter::once("policy".to_string())
            .chain(shares.iter().map(|s| format_percent(Some(*s), if *s > 0.99 { 1 } else { 0 })))
    };
    let mut waits = DocumentTable::new(head()).id("wait-quantiles");
    let mut slowdowns = DocumentTable::new(head()).id("slowdown-quantiles");
    for policy in policies {
        let Some(details) = &policy.details else { continue };
        let cells = |q: &crate::details::Quantiles, show: fn(f64) -> String| -> Vec<TableValue> {
            let mut row = vec![name(policy)];
            row.extend(shares.iter().map(|&s| TableValue::from_number(q.value_at(s), show)));
            row
        };
        waits.add_row(cells(&details.wait, format_duration));
        slowdowns.add_row(cells(&details.bounded_slowdown, |v| format_fixed(v, 2)));
    }
    write_table(&waits, "Wait-time percentiles", out);
    write_table(&slowdowns, "Bounded-slowdown percentiles", out);
}

/// One table per scheme and measure: categories down, policies across.
fn write_categories(policies: &[PolicyResult], out: &mut String) {
    let Some(first) = policies.first() else { return };
    let head = |title: &str| -> Vec<String> {
        [title.to_string(), "jobs".to_string()]
            .into_iter()
            .chain(policies.iter().map(|p| p.policy.text.clone()))
            .collect()
    };
    for (at, breakdown) in first.report.categories.iter().enumerate() {
        let category_tables: Vec<_> = policies.iter().filter_map(|p| p.report.categories.get(at)).collect();
        let mut keys: Vec<(i64, &str)> =
            category_tables.iter().flat_map(|c| &c.categories).map(|c| (c.key, c.name.as_str())).collect();
        keys.sort_unstable();
        keys.dedup();
        for (measure, label) in [(Measure::Wait, "mean wait"), (Measure::BoundedSlowdown, "mean bounded slowdown")] {
            let caption = format!("By {}: {label}", breakdown.scheme.name());
            let mut table = DocumentTable::new(head("category"));
            for &(key, name) in &keys {
                let jobs = category_tables.iter().find_map(|c| c.get(key)).map_or(0, |c| c.measures.get(measure).count);
                let mut row = vec![name.into(), TableValue::from_count(jobs)];
                row.extend(category_tables.iter().map(|c| {
                    let mean = c.get(key).and_then(|c| c.measures.get(measure).mean);
                    TableValue::from_number(mean, |v| {
                        if measure == Measure::Wait { format_duration(v) } else { format_fixed(v, 2) }
                    })
                }));
                table.add_row(row);
            }
            write_table(&table, &caption, out);
        }
    }
    let classes: Vec<_> = policies.iter().filter_map(|p| Some(&p.details.as_ref()?.classes)).collect();
    let mut keys: Vec<(i64, &str)> = classes.iter().flat_map(|c| c.iter()).map(|c| (c.key, c.name.as_str())).collect();
    keys.sort_unstable();
    keys.dedup();
    if keys.is_empty() {
        return;
    }
    for (wait, label) in [(true, "mean wait"), (false, "mean bounded slowdown")] {
        let id = if wait { "class-wait" } else { "class-slowdown" };
        let mut table = DocumentTable::new(head("run time × processors")).id(id);
        for &(key, name) in &keys {
            let of = |p: &PolicyResult| p.details.as_ref()?.classes.iter().find(|c| c.key == key).cloned();
            let jobs = policies.iter().find_map(of).map_or(0, |c| c.jobs);
            let mut row = vec![name.into(), TableValue::from_count(jobs)];
            row.extend(policies.iter().map(|p| match (of(p), wait) {
                (Some(c), true) => TableValue::from_number(c.wait, format_duration),
                (Some(c), false) => TableValue::from_number(c.bounded_slowdown, |v| format_fixed(v, 2)),
                (None, _) => TableValue::from_number(None, format_duration),
            }));
            table.add_row(row);
        }
        write_table(&table, &format!("By run time × processors: {label}"), out);
    }
}

fn write_users(results: &Results, out: &mut String) {
    let policies = &results.policies;
    let Some(base) = policies.iter().find(|p| p.policy.text == results.baseline) else { return };
    let Some(details) = &base.details else { return };
    if details.users.is_empty() {
        return;
    }
    let shown_count = details.users.len().min(TABLE_USERS);
    let caption = format!(
        "Mean bounded slowdown of users: the {shown_count} with most jobs, of {}",
        format_count(details.user_count as u64)
    );
    let head: Vec<String> = ["user".to_string(), "jobs".to_string()]
        .into_iter()
        .chain(policies.iter().map(|p| p.policy.text.clone()))
        .collect();
    let mut table = DocumentTable::new(head).id("users");
    for user in details.users.iter().take(TABLE_USERS) {
        let mut row = vec![user.name.as_str().into(), TableValue::from_count(user.jobs)];
        row.extend(policies.iter().map(|p| {
            let user_row = p.details.as_ref().and_then(|d| d.users.iter().find(|u| u.key == user.key));
            TableValue::from_number(user_row.and_then(|u| u.bounded_slowdown), |v| format_fixed(v, 2))
        }));
        table.add_row(row);
    }
    write_table(&table, &caption, out);
}

fn write_searches(policies: &[PolicyResult], name: impl Fn(&PolicyResult) -> TableValue, out: &mut String) {
    let heads =
        ["policy", "searches", "nodes per search", "95th percentile", "paths per search", "improvements", "exhausted"];
    let mut table = DocumentTable::new(heads).id("searches");
    for policy in policies {
        let Some(search) = policy.details.as_ref().and_then(|d| d.search.as_ref()) else { continue };
        let effort = search.effort;
        table.add_row(vec![
            name(policy),
            TableValue::from_count(effort.searches),
            TableValue::from_number(search.nodes.mean, |v| format_fixed(v, 1)),
            TableValue::from_number(search.nodes.p95, |v| format_fixed(v, 0)),
            TableValue::from_number(search.paths.mean, |v| format_fixed(v, 1)),
            TableValue::from_count(effort.improvements),
            TableValue::from_number(Some(effort.exhausted as f64 / effort.searches.max(1) as f64), |v| {
                format_percent(Some(v), 1)
            }),
        ]);
    }
    write_table(&table, "Effort of the searches", out);
}

/// A value as people read it.
pub(crate) fn metric_formatter(metric: Metric) -> impl Fn(f64) -> String + Copy {
    move |value| in_unit(Some(value), metric.unit())
}
