//! The result for people.

use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::number::{NONE, format_count, format_duration, format_fixed, format_percent, format_plural};
use drystone_site::fidelity::{Errors, Fidelity, PoolFidelity};

pub(super) fn render_document(fidelity: &Fidelity) -> Document {
    let mut document = Document::default();
    document.add_heading(format!("{} replayed under {}", fidelity.site, fidelity.policy));
    let c = &fidelity.coverage;
    document.add_facts(vec![
        ("rows".to_string(), format!("{}, {} of them unusable", format_count(c.rows), format_count(c.bad_rows))),
        (
            "jobs".to_string(),
            format!(
                "{}; {} compared, {} never ran, {} unfinished at the end, {} within reservations, {} dropped",
                format_count(c.jobs),
                format_count(c.compared),
                format_count(c.withdrawn),
                format_count(c.censored),
                format_count(c.reserved),
                format_count(c.dropped)
            ),
        ),
        (
            "guesses".to_string(),
            format!(
                "{} with an imputed limit, size or run time; {} waited for something that is not modelled",
                format_plural(c.imputed, "job"),
                format_count(c.unmodelled)
            ),
        ),
    ]);
    fidelity.verdict.iter().for_each(|sentence| document.add_text(sentence.clone()));
    for pool in &fidelity.pools {
        pool_blocks(&mut document, pool, fidelity.pools.len() > 1);
    }
    if let Some(total) = &fidelity.total {
        document.add_heading("All pools together");
        let mut table = error_table();
        error_row(&mut table, "replayed", total);
        document.add_table(table);
    }
    document.add_text(format!("Not modelled: {}.", fidelity.not_modelled.join("; ")));
    document
}

fn pool_blocks(document: &mut Document, pool: &PoolFidelity, several: bool) {
    if several {
        document.add_heading(format!("Pool {}", pool.name));
    }
    let h = &pool.as_happened;
    let share = |value: f64| format_percent(Some(value), 2);
    let twice = h.nodes_twice.map_or(String::new(), |t| format!("; nodes booked twice {} of their time", share(t)));
    document.add_facts(vec![
        (
            "as it happened".to_string(),
            format!(
                "over capacity {} of the time (by up to {} units){twice}; utilisation {}; idle while a job that fits waits {:.2}%, and {:.2}% in the replay",
                share(h.over_capacity),
                format_count(h.most_over),
                share(h.utilisation),
                h.idle_while_queued,
                h.idle_in_replay
            ),
        ),
        ("backfill".to_string(), describe_mechanism(pool)),
        ("skill".to_string(), describe_skill(pool)),
    ]);
    let mut table = error_table();
    error_row(&mut table, "replayed", &pool.errors);
    error_row(&mut table, "… without unmodelled waits", &pool.modelled);
    if pool.noise.runs > 0 {
        error_row(
            &mut table,
            &format!("noise: arrivals ±{} s, median of {}", pool.noise.jitter, pool.noise.runs),
            &pool.noise.median,
        );
    }
    for repetition in &pool.repetitions {
        error_row(&mut table, &format!("recorded again: {}", repetition.name), &repetition.errors);
    }
    for baseline in &pool.baselines {
        error_row(&mut table, &format!("baseline: {}", baseline.name), &baseline.errors);
    }
    document.add_table(table);
    document.add_text(describe_intervals(pool));
    document.add_table(hour_table(pool));
    document.add_table(class_table(pool));
}

fn describe_mechanism(pool: &PoolFidelity) -> String {
    let m = &pool.mechanism;
    let replayed_share = format_percent(m.replayed, 1);
    match m.jobs_with_flags {
        0 => format!("{replayed_share} of the jobs replayed; the records do not name the scheduler that started them"),
        jobs => format!(
            "{replayed_share} of the jobs replayed, {} of {} recorded; {} of these started in the same way",
            format_percent(m.recorded, 1),
            format_count(jobs),
            format_percent(m.same_way, 1)
        ),
    }
}

fn describe_skill(pool: &PoolFidelity) -> String {
    let describe_score = |label: &str, value: Option<f64>, best: &str| match value {
        Some(value) => format!("{label} {} (against {best})", format_fixed(value, 2)),
        None => format!("{label} {NONE}"),
    };
    let s = &pool.skill;
    [
        describe_score("distributions", s.waits, &s.best[0]),
        describe_score("jobs", s.jobs, &s.best[1]),
        describe_score("queue", s.hours, &s.best[2]),
    ]
    .join("; ")
}

fn error_table() -> DocumentTable {
    DocumentTable::new([
        "waits",
        "jobs",
        "recorded",
        "replayed",
        "mean distance",
        "median",
        "90%",
        "signed",
        "≤ 1 min",
        "≤ 10 min",
        "≤ 1 h",
        "≤ 10%",
        "W1 log10",
        "KS",
        "Spearman",
        "Kendall",
    ])
}

fn error_row(table: &mut DocumentTable, name: &str, e: &Errors) {
    let seconds = |value: Option<f64>| value.map_or(NONE.to_string(), format_duration);
    let number = |value: Option<f64>| value.map_or(NONE.to_string(), |v| format_fixed(v, 3));
    let row: Vec<TableValue> = vec![
        name.into(),
        format_count(e.jobs).into(),
        seconds(e.recorded_mean).into(),
        seconds(e.replayed_mean).into(),
        seconds(e.mean_distance).into(),
        seconds(e.median_distance).into(),
        seconds(e.p90_distance).into(),
        e.signed_median
            .map_or(NONE.to_string(), |v| format!("{}{}", if v < 0.0 { "−" } else { "" }, format_duration(v.abs())))
            .into(),
        format_percent(e.within_minute, 1).into(),
        format_percent(e.within_ten_minutes, 1).into(),
        format_percent(e.within_hour, 1).into(),
        format_percent(e.within_tenth, 1).into(),
        number(e.wasserstein).into(),
        number(e.kolmogorov_smirnov).into(),
        number(e.spearman).into(),
        number(e.kendall).into(),
    ];
    table.add_row(row);
}

fn describe_intervals(pool: &PoolFidelity) -> String {
    let i = &pool.intervals;
    let blocks = if i.block > 86_400 { "weeks" } else { "days" };
    match (i.mean_error, i.mean_distance, i.within_minute) {
        (Some(error), Some(distance), Some(minute)) => format!(
            "95% intervals from {} {blocks}: error of the mean wait {:.0} to {:.0} s, mean distance {:.0} to {:.0} s, within a minute {} to {}.",
            i.blocks,
            error.0,
            error.1,
            distance.0,
            distance.1,
            format_percent(Some(minute.0), 1),
            format_percent(Some(minute.1), 1)
        ),
        _ => format!("{} {blocks} are too few for intervals.", i.blocks),
    }
}

fn hour_table(pool: &PoolFidelity) -> DocumentTable {
    let mut table = DocumentTable::new(["by the hour", "recorded mean", "mean error", "RMSE", "noise", "correlation"]);
    let e = &pool.hour_errors;
    let rows = [
        ("utilisation", e.utilisation, pool.noise.hours[0]),
        ("jobs that wait", e.queue_jobs, pool.noise.hours[1]),
        ("work that waits, unit-seconds", e.queue_work, pool.noise.hours[2]),
    ];
    for (name, series, noise) in rows {
        let number = |value: Option<f64>| {
            value.map_or(NONE.to_string(), |v| if v.abs() >= 1e5 { format!("{v:.3e}") } else { format_fixed(v, 3) })
        };
        table.add_row(vec![
            name.into(),
            number(series.recorded_mean).into(),
            number(series.mean_error).into(),
            number(series.rmse).into(),
            number(noise).into(),
            number(series.correlation).into(),
        ]);
    }
    table
}

fn class_table(pool: &PoolFidelity) -> DocumentTable {
    let mut table = DocumentTable::new([
        "units",
        "held",
        "jobs",
        "recorded 10%",
        "50%",
        "90%",
        "99%",
        "replayed 10%",
        "50%",
        "90%",
        "99%",
        "W1 log10",
        "KS",
    ])
    .with_text_columns(&[0, 1]);
    for class in &pool.classes {
        let seconds = |value: &Option<f64>| TableValue::from(value.map_or(NONE.to_string(), format_duration));
        let number = |value: Option<f64>| TableValue::from(value.map_or(NONE.to_string(), |v| format_fixed(v, 3)));
        let mut row: Vec<TableValue> =
            vec![class.size.clone().into(), class.length.clone().into(), format_count(class.jobs).into()];
        row.extend(class.recorded.iter().map(seconds));
        row.extend(class.replayed.iter().map(seconds));
        row.extend([number(class.wasserstein), number(class.kolmogorov_smirnov)]);
        table.add_row(row);
    }
    table
}
