//! The advice as rows: everything that was tried, with what is recommended.

use super::advised::Advised;
use crate::output::flat::{FlatRow, FlatRows};

pub(super) fn render_rows(result: &Advised) -> FlatRows {
    let mut rows = FlatRows::default();
    let advice = &result.advice;
    for trial in &advice.tried {
        let answer = if trial.live { &advice.live } else { &advice.settings };
        let best = answer.best.as_ref().filter(|best| best.name == trial.name);
        let mut row = FlatRow::default();
        row.add_text("drystone", result.drystone);
        row.add_text("workload", &result.workload.name);
        row.add_text("workload_hash", &result.workload.hash);
        row.add_text("settings", result.workload.settings.format_pairs());
        row.add_text("goal", &result.goal);
        row.add_text("guards", result.guards.join(" "));
        row.add_text("seed", result.seed);
        row.add_text("name", &trial.name);
        row.add_text("policy", &trial.policy);
        row.add_text("live", trial.live);
        row.add_number("change", Some(trial.change));
        row.add_text("keeps_guards", trial.keeps);
        row.add_text("phases", trial.phases);
        for ((name, _, _), value) in result.baseline.figures.iter().zip(&trial.values) {
            row.add_number(name.clone(), Some(*value));
        }
        row.add_text("recommended", best.is_some() && answer.is_recommended());
        let interval = best.and(answer.interval);
        row.add_number("change_low", interval.map(|i| i.0));
        row.add_number("change_high", interval.map(|i| i.1));
        row.add_number("judged", best.map(|_| answer.judged.of as f64));
        row.add_number("judged_better", best.map(|_| answer.judged.better as f64));
        row.add_number("unseen_change", best.and(answer.judged.got));
        row.add_number("unseen_p", best.and(answer.unseen.p));
        rows.push(row);
    }
    rows
}
