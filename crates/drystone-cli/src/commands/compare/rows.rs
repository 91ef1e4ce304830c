//! A comparison as rows: one per policy, one for each of its categories, and the same at every
//! other load.

use super::classes;
use super::result::CompareResult;
use super::verdict;
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::report;
use drystone::metrics::{Measure, Metric};

pub(super) fn render_rows(result: &CompareResult) -> FlatRows {
    let mut rows = FlatRows::default();
    for policy_result in &result.results {
        let mut row = FlatRow::default();
        row.add_text("baseline", &result.baseline);
        row.add_number("confidence", Some(result.comparison.options.confidence));
        report::append_figures(&mut row, &policy_result.report, policy_result.promises);
        for change in result.policy_changes(&policy_result.policy.text).unwrap_or(&[]) {
            let Metric::Mean(measure) = change.metric else { continue };
            row.add_number(format!("{}_change", measure.id()), change.relative);
            row.add_number(format!("{}_change_low", measure.id()), change.interval.map(|i| i.0));
            row.add_number(format!("{}_change_high", measure.id()), change.interval.map(|i| i.1));
            row.add_text(format!("{}_verdict", measure.id()), verdict::verdict_word(change.verdict));
        }
        // Only where the rows of jobs were kept.
        if !result.ratios.is_empty() {
            let ratios = result.ratios_of(&policy_result.policy.text);
            row.add_number("ratio", ratios.and_then(|ratios| ratios.overall));
            for (at, class) in classes::LAWSON.iter().enumerate() {
                row.add_number(format!("ratio_{class}"), ratios.and_then(|ratios| ratios.classes[at]));
            }
            row.add_number("ratio_bounded", ratios.and_then(|ratios| ratios.bounded));
            for (at, class) in classes::LAWSON.iter().enumerate() {
                row.add_number(format!("ratio_bounded_{class}"), ratios.and_then(|ratios| ratios.bounded_classes[at]));
            }
        }
        if let Some(bracket) = &result.headroom {
            let against = bracket.policies.iter().find(|against| against.policy == policy_result.policy.text);
            row.add_number("headroom_found", Some(bracket.found.value));
            row.add_number("headroom_floor", Some(bracket.floor.value));
            row.add_number("headroom_saved", against.and_then(|against| against.saved));
            row.add_number("headroom_at_most", against.and_then(|against| against.at_most));
        }
        if let Some(timing) = policy_result.timing {
            row.add_number("jobs_per_second", Some(timing.jobs_per_second));
        }
        // Only where other loads were asked for.
        if !result.loads.is_empty() {
            row.add_number("load_factor", Some(1.0));
            row.add_number("offered_load", result.workload.load);
        }
        rows.push(report::input_columns(&result.workload, &policy_result.policy, &result.experiment).followed_by(row));
        for pool in &policy_result.pools {
            let columns = report::input_columns(&result.workload, &policy_result.policy, &result.experiment);
            rows.push(columns.followed_by(report::pool_columns(pool)));
        }
        for category in report::categories_as_rows(&policy_result.report.categories) {
            rows.push(
                report::input_columns(&result.workload, &policy_result.policy, &result.experiment)
                    .followed_by(category),
            );
        }
    }
    // The rows above are those of factor 1.
    for point in result.loads.iter().filter(|point| point.factor != 1.0) {
        let Some(policy_result) = result.results.iter().find(|r| r.policy.text == point.policy) else { continue };
        let mut row = FlatRow::default();
        row.add_number("load_factor", Some(point.factor));
        row.add_number("offered_load", point.load);
        let figures = [
            (Metric::Mean(Measure::Wait), point.wait),
            (Metric::Mean(Measure::Response), point.response),
            (Metric::Mean(Measure::BoundedSlowdown), point.bounded_slowdown),
            (Metric::Utilisation, point.utilisation),
        ];
        for (metric, value) in figures {
            row.add_number(metric.column_name().unwrap_or_default(), value);
        }
        rows.push(report::input_columns(&result.workload, &policy_result.policy, &result.experiment).followed_by(row));
        for category in report::categories_as_rows(&point.categories) {
            let mut at = FlatRow::default();
            at.add_number("load_factor", Some(point.factor));
            let columns = report::input_columns(&result.workload, &policy_result.policy, &result.experiment);
            rows.push(columns.followed_by(category).followed_by(at));
        }
    }
    rows
}
