//! The advice as rows: everything that was tried, with what is recommended.

use super::advised::Advised;
use crate::output::flat::{FlatRow, FlatRows};

pub(super) fn render_rows(advised: &Advised) -> FlatRows {
    let mut rows = FlatRows::default();
    let advice = &advised.advice;
    for tried in &advice.tried {
        let answer = if tried.live { &advice.live } else { &advice.settings };
        let best = answer.best.as_ref().filter(|best| best.name == tried.name);
        let mut row = FlatRow::default();
        row.add_text("drystone", advised.drystone);
        row.add_text("workload", &advised.workload.name);
        row.add_text("workload_hash", &advised.workload.hash);
        row.add_text("settings", advised.workload.settings.format_pairs());
        row.add_text("goal", &advised.goal);
        row.add_text("guards", advised.guards.join(" "));
        row.add_text("seed", advised.seed);
        row.add_text("name", &tried.name);
        row.add_text("policy", &tried.policy);
        row.add_text("live", tried.live);
        row.add_number("change", Some(tried.change));
        row.add_text("keeps_guards", tried.keeps);
        row.add_text("phases", tried.phases);
        for ((name, _, _), value) in advised.baseline.figures.iter().zip(&tried.values) {
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
