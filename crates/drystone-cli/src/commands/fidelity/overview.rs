//! The result as it is printed by default: a verdict, its figures and one table, in thirty lines of
//! eighty columns.

use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::number::{NONE, TimeUnit, format_count, format_duration, format_percent};
use drystone_site::fidelity::{Errors, Fidelity, PoolFidelity};

/// Pools in the table; more of them are left to `--details`.
const MOST_POOLS: usize = 12;

pub(super) fn render_overview(fidelity: &Fidelity) -> Document {
    let mut document = Document::default();
    document.add_heading(format!("{} replayed under {}", fidelity.site, fidelity.policy));
    let mut facts = Vec::new();
    for pool in fidelity.pools.iter().take(MOST_POOLS) {
        facts.extend(pool_facts(pool, fidelity.pools.len() > 1));
    }
    let c = &fidelity.coverage;
    let mut jobs = format!("{} compared of {} in the records", format_count(c.compared), format_count(c.jobs));
    let apart = [
        (c.withdrawn, "never ran"),
        (c.censored, "not finished at the end"),
        (c.reserved, "in reservations"),
        (c.dropped, "dropped by the import"),
        (c.imputed, "with an assumed limit, size or run time"),
    ];
    for (jobs_of, label) in apart.into_iter().filter(|(n, _)| *n > 0) {
        jobs.push_str(&format!("; {} {label}", format_count(jobs_of)));
    }
    facts.push(("Jobs".to_string(), jobs));
    if c.bad_rows > 0 {
        facts.push(("Rows".to_string(), format!("{} of {} unusable", format_count(c.bad_rows), format_count(c.rows))));
    }
    document.add_facts(facts);
    document.add_table(match fidelity.pools.as_slice() {
        [only] => of_one(fidelity, only),
        pools => of_several(fidelity, pools),
    });
    let mut lines = Vec::new();
    match fidelity.pools.len().saturating_sub(MOST_POOLS) {
        0 => {}
        1 => lines.push("One more pool: --details".to_string()),
        more => lines.push(format!("{more} more pools: --details")),
    }
    lines.push("More: --details (classes, hours)   --report out.html (page with plots)".to_string());
    document.add_text(lines.join("\n"));
    document
}

/// The verdict on a pool, and the reasons for it.
fn pool_facts(pool: &PoolFidelity, several: bool) -> Vec<(String, String)> {
    let verdict = match several {
        true => format!("{}: {}", pool.name, pool.verdict),
        false => pool.verdict.clone(),
    };
    let mut facts = vec![("Verdict".to_string(), verdict)];
    let mut cautions = pool.faults.texts.clone();
    cautions.retain(|caution| !pool.verdict.starts_with(caution.as_str()));
    if several {
        cautions.iter_mut().for_each(|caution| *caution = format!("{}: {caution}", pool.name));
        facts.extend(caution_facts(cautions));
        return facts;
    }
    let e = &pool.errors;
    if let (Some(recorded_mean), Some(replayed_mean), Some(distance)) =
        (e.recorded_mean, e.replayed_mean, e.mean_distance)
    {
        let waits = format!(
            "{} on average in the records, {} replayed; a job's wait is off by {} on average",
            format_duration(recorded_mean),
            format_duration(replayed_mean),
            format_duration(distance)
        );
        facts.push(("Waits".to_string(), waits));
    }
    if pool.as_happened.over_capacity > 0.0 {
        cautions.push(format!(
            "jobs held more than the machine has {} of the time, by up to {} units",
            format_percent(Some(pool.as_happened.over_capacity), 2),
            format_count(pool.as_happened.most_over)
        ));
    }
    if pool.as_happened.idle_beyond_replay() > 1.0 {
        cautions.push(format!(
            "a job that fits waits beside idle processors {:.1}% of the time, and {:.1}% in the replay",
            pool.as_happened.idle_while_queued, pool.as_happened.idle_in_replay
        ));
    }
    if pool.intervals.within_minute.is_none() {
        cautions.push("the window is too short for intervals".to_string());
    }
    facts.extend(caution_facts(cautions));
    facts
}

fn caution_facts(cautions: Vec<String>) -> impl Iterator<Item = (String, String)> {
    let name = |at: usize| if at == 0 { "Caution".to_string() } else { String::new() };
    cautions.into_iter().enumerate().map(move |(at, caution)| (name(at), caution))
}

/// Columns of both tables, whose times share a unit each.
fn error_table(first: &str, units: [TimeUnit; 2]) -> DocumentTable {
    DocumentTable::new([
        first.to_string(),
        format!("mean wait, {}", units[0].name()),
        format!("off by, {}", units[1].name()),
        "within 1 min".to_string(),
        "within 10 min".to_string(),
        "within 1 h".to_string(),
    ])
}

/// Units that suit the waits and distances of a replay.
fn choose_units(e: &Errors) -> [TimeUnit; 2] {
    let unit = |value: Option<f64>| TimeUnit::for_seconds(value.unwrap_or(0.0));
    [unit(e.recorded_mean.or(e.replayed_mean)), unit(e.mean_distance)]
}

fn add_error_row(table: &mut DocumentTable, units: [TimeUnit; 2], name: String, e: &Errors) {
    let row: Vec<TableValue> = vec![
        name.into(),
        units[0].format_seconds(e.replayed_mean).into(),
        units[1].format_seconds(e.mean_distance).into(),
        format_percent(e.within_minute, 1).into(),
        format_percent(e.within_ten_minutes, 1).into(),
        format_percent(e.within_hour, 1).into(),
    ];
    table.add_row(row);
}

/// The replay of one pool beside the record, the noise and the baselines.
fn of_one(fidelity: &Fidelity, pool: &PoolFidelity) -> DocumentTable {
    let units = choose_units(&pool.errors);
    let mut table = error_table("waits", units);
    let mut recorded_row: Vec<TableValue> =
        vec!["recorded".into(), units[0].format_seconds(pool.errors.recorded_mean).into()];
    recorded_row.resize(6, NONE.into());
    table.add_row(recorded_row);
    add_error_row(&mut table, units, fidelity.policy.clone(), &pool.errors);
    if pool.noise.runs > 0 {
        add_error_row(&mut table, units, format!("noise: arrivals ±{} s", pool.noise.jitter), &pool.noise.median);
    }
    for repetition in &pool.repetitions {
        add_error_row(&mut table, units, format!("recorded again: {}", repetition.name), &repetition.errors);
    }
    for baseline in pool.baselines.iter().filter(|b| !b.is_policy) {
        add_error_row(&mut table, units, format!("baseline: {}", baseline.name), &baseline.errors);
    }
    table
}

/// The replay of each pool beside the record: mean waits, and distances job by job.
fn of_several(fidelity: &Fidelity, pools: &[PoolFidelity]) -> DocumentTable {
    let shown_pools = &pools[..pools.len().min(MOST_POOLS)];
    let whole_errors = fidelity.total_errors().or(pools.first().map(|pool| &pool.errors));
    let units = whole_errors.map_or([TimeUnit::Seconds; 2], choose_units);
    let mut table = DocumentTable::new([
        "pool".to_string(),
        format!("recorded, {}", units[0].name()),
        format!("replayed, {}", units[0].name()),
        format!("off by, {}", units[1].name()),
        "within 1 min".to_string(),
        "within 10 min".to_string(),
        "within 1 h".to_string(),
    ]);
    let rows = shown_pools.iter().map(|pool| (pool.name.as_str(), &pool.errors));
    for (name, e) in rows.chain(fidelity.total.iter().map(|total| ("all together", total))) {
        table.add_row(vec![
            name.into(),
            units[0].format_seconds(e.recorded_mean).into(),
            units[0].format_seconds(e.replayed_mean).into(),
            units[1].format_seconds(e.mean_distance).into(),
            format_percent(e.within_minute, 1).into(),
            format_percent(e.within_ten_minutes, 1).into(),
            format_percent(e.within_hour, 1).into(),
        ]);
    }
    table
}
