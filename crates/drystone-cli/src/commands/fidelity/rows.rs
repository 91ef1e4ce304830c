//! A row for each pool.

use crate::output::flat::{FlatRow, FlatRows};
use drystone_site::fidelity::{Errors, Fidelity, PoolFidelity};

pub(super) fn render_rows(fidelity: &Fidelity) -> FlatRows {
    let mut rows = FlatRows::default();
    for pool in &fidelity.pools {
        rows.push(pool_row(fidelity, pool));
    }
    rows
}

fn pool_row(fidelity: &Fidelity, pool: &PoolFidelity) -> FlatRow {
    let mut row = FlatRow::default();
    row.add_text("site", &fidelity.site);
    row.add_text("policy", &fidelity.policy);
    row.add_text("pool", &pool.name);
    row.add_number("over_capacity", Some(pool.as_happened.over_capacity));
    row.add_number("utilisation", Some(pool.as_happened.utilisation));
    add_error_columns(&mut row, "", &pool.errors);
    add_error_columns(&mut row, "modelled_", &pool.modelled);
    add_error_columns(&mut row, "noise_", &pool.noise.median);
    row.add_number("utilisation_rmse", pool.hour_errors.utilisation.rmse);
    row.add_number("queue_jobs_rmse", pool.hour_errors.queue_jobs.rmse);
    row.add_number("queue_work_rmse", pool.hour_errors.queue_work.rmse);
    row.add_number("backfilled_recorded", pool.mechanism.recorded);
    row.add_number("backfilled_replayed", pool.mechanism.replayed);
    row.add_number("skill_waits", pool.skill.waits);
    row.add_number("skill_jobs", pool.skill.jobs);
    row.add_number("skill_hours", pool.skill.hours);
    row
}

fn add_error_columns(row: &mut FlatRow, prefix: &str, errors: &Errors) {
    let mut number = |name: &str, value: Option<f64>| row.add_number(format!("{prefix}{name}"), value);
    number("jobs", Some(errors.jobs as f64));
    number("recorded_mean", errors.recorded_mean);
    number("replayed_mean", errors.replayed_mean);
    number("mean_distance", errors.mean_distance);
    number("median_distance", errors.median_distance);
    number("p90_distance", errors.p90_distance);
    number("signed_median", errors.signed_median);
    number("within_1m", errors.within_minute);
    number("within_10m", errors.within_ten_minutes);
    number("within_1h", errors.within_hour);
    number("within_tenth", errors.within_tenth);
    number("wasserstein", errors.wasserstein);
    number("ks", errors.kolmogorov_smirnov);
    number("spearman", errors.spearman);
    number("kendall", errors.kendall);
}
