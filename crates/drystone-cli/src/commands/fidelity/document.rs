//! The result for people.

use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::number::{NONE, count, duration, fixed, percent, plural};
use drystone_site::fidelity::{Errors, Fidelity, PoolFidelity};

pub(super) fn document(fidelity: &Fidelity) -> Document {
    let mut document = Document::default();
    document.heading(format!("{} replayed under {}", fidelity.site, fidelity.policy));
    let c = &fidelity.coverage;
    document.facts(vec![
        ("rows".to_string(), format!("{}, {} of them unusable", count(c.rows), count(c.bad_rows))),
        (
            "jobs".to_string(),
            format!(
                "{}; {} compared, {} never ran, {} unfinished at the end, {} within reservations, {} dropped",
                count(c.jobs),
                count(c.compared),
                count(c.withdrawn),
                count(c.censored),
                count(c.reserved),
                count(c.dropped)
            ),
        ),
        (
            "guesses".to_string(),
            format!(
                "{} with an imputed limit, size or run time; {} waited for something that is not modelled",
                plural(c.imputed, "job"),
                count(c.unmodelled)
            ),
        ),
    ]);
    fidelity.verdict.iter().for_each(|sentence| document.text(sentence.clone()));
    for pool in &fidelity.pools {
        pool_blocks(&mut document, pool, fidelity.pools.len() > 1);
    }
    if let Some(total) = &fidelity.total {
        document.heading("All pools together");
        let mut table = error_table();
        error_row(&mut table, "replayed", total);
        document.table(table);
    }
    document.text(format!("Not modelled: {}.", fidelity.not_modelled.join("; ")));
    document
}

fn pool_blocks(document: &mut Document, pool: &PoolFidelity, several: bool) {
    if several {
        document.heading(format!("Pool {}", pool.name));
    }
    let h = &pool.as_happened;
    let share = |value: f64| percent(Some(value), 2);
    let twice = h.nodes_twice.map_or(String::new(), |t| format!("; nodes booked twice {} of their time", share(t)));
    document.facts(vec![
        (
            "as it happened".to_string(),
            format!(
                "over capacity {} of the time (by up to {} units){twice}; utilisation {}; idle while a job that fits waits {:.2}%, and {:.2}% in the replay",
                share(h.over_capacity),
                count(h.most_over),
                share(h.utilisation),
                h.idle_while_queued,
                h.idle_in_replay
            ),
        ),
        ("backfill".to_string(), mechanism(pool)),
        ("skill".to_string(), skill(pool)),
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
    document.table(table);
    document.text(intervals(pool));
    document.table(hours(pool));
    document.table(classes(pool));
}

fn mechanism(pool: &PoolFidelity) -> String {
    let m = &pool.mechanism;
    let replayed = percent(m.replayed, 1);
    match m.jobs_with_flags {
        0 => format!("{replayed} of the jobs replayed; the records do not name the scheduler that started them"),
        jobs => format!(
            "{replayed} of the jobs replayed, {} of {} recorded; {} of these started in the same way",
            percent(m.recorded, 1),
            count(jobs),
            percent(m.same_way, 1)
        ),
    }
}

fn skill(pool: &PoolFidelity) -> String {
    let one = |what: &str, value: Option<f64>, best: &str| match value {
        Some(value) => format!("{what} {} (against {best})", fixed(value, 2)),
        None => format!("{what} {NONE}"),
    };
    let s = &pool.skill;
    [one("distributions", s.waits, &s.best[0]), one("jobs", s.jobs, &s.best[1]), one("queue", s.hours, &s.best[2])]
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
    let seconds = |value: Option<f64>| value.map_or(NONE.to_string(), duration);
    let number = |value: Option<f64>| value.map_or(NONE.to_string(), |v| fixed(v, 3));
    let row: Vec<TableValue> = vec![
        name.into(),
        count(e.jobs).into(),
        seconds(e.recorded_mean).into(),
        seconds(e.replayed_mean).into(),
        seconds(e.mean_distance).into(),
        seconds(e.median_distance).into(),
        seconds(e.p90_distance).into(),
        e.signed_median
            .map_or(NONE.to_string(), |v| format!("{}{}", if v < 0.0 { "−" } else { "" }, duration(v.abs())))
            .into(),
        percent(e.within_minute, 1).into(),
        percent(e.within_ten_minutes, 1).into(),
        percent(e.within_hour, 1).into(),
        percent(e.within_tenth, 1).into(),
        number(e.wasserstein).into(),
        number(e.kolmogorov_smirnov).into(),
        number(e.spearman).into(),
        number(e.kendall).into(),
    ];
    table.row(row);
}

fn intervals(pool: &PoolFidelity) -> String {
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
            percent(Some(minute.0), 1),
            percent(Some(minute.1), 1)
        ),
        _ => format!("{} {blocks} are too few for intervals.", i.blocks),
    }
}

fn hours(pool: &PoolFidelity) -> DocumentTable {
    let mut table = DocumentTable::new(["by the hour", "recorded mean", "mean error", "RMSE", "noise", "correlation"]);
    let e = &pool.hour_errors;
    let rows = [
        ("utilisation", e.utilisation, pool.noise.hours[0]),
        ("jobs that wait", e.queue_jobs, pool.noise.hours[1]),
        ("work that waits, unit-seconds", e.queue_work, pool.noise.hours[2]),
    ];
    for (name, series, noise) in rows {
        let number = |value: Option<f64>| {
            value.map_or(NONE.to_string(), |v| if v.abs() >= 1e5 { format!("{v:.3e}") } else { fixed(v, 3) })
        };
        table.row(vec![
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

fn classes(pool: &PoolFidelity) -> DocumentTable {
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
    .texts(&[0, 1]);
    for class in &pool.classes {
        let seconds = |value: &Option<f64>| TableValue::from(value.map_or(NONE.to_string(), duration));
        let number = |value: Option<f64>| TableValue::from(value.map_or(NONE.to_string(), |v| fixed(v, 3)));
        let mut row: Vec<TableValue> =
            vec![class.size.clone().into(), class.length.clone().into(), count(class.jobs).into()];
        row.extend(class.recorded.iter().map(seconds));
        row.extend(class.replayed.iter().map(seconds));
        row.extend([number(class.wasserstein), number(class.kolmogorov_smirnov)]);
        table.row(row);
    }
    table
}
