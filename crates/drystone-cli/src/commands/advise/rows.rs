//! The advice as rows: everything that was tried, with what is recommended.

use super::advised::Advised;
use crate::output::flat::{FlatRow, FlatRows};

pub(super) fn rows(advised: &Advised) -> FlatRows {
    let mut rows = FlatRows::default();
    let advice = &advised.advice;
    for tried in &advice.tried {
        let answer = if tried.live { &advice.live } else { &advice.settings };
        let best = answer.best.as_ref().filter(|best| best.name == tried.name);
        let mut row = FlatRow::default();
        row.text("drystone", advised.drystone);
        row.text("workload", &advised.workload.name);
        row.text("workload_hash", &advised.workload.hash);
        row.text("settings", advised.workload.settings.text());
        row.text("goal", &advised.goal);
        row.text("guards", advised.guards.join(" "));
        row.text("seed", advised.seed);
        row.text("name", &tried.name);
        row.text("policy", &tried.policy);
        row.text("live", tried.live);
        row.number("change", Some(tried.change));
        row.text("keeps_guards", tried.keeps);
        row.text("phases", tried.phases);
        for ((name, _, _), value) in advised.baseline.figures.iter().zip(&tried.values) {
            row.number(name.clone(), Some(*value));
        }
        row.text("recommended", best.is_some() && answer.is_recommended());
        let interval = best.and(answer.interval);
        row.number("change_low", interval.map(|i| i.0));
        row.number("change_high", interval.map(|i| i.1));
        row.number("judged", best.map(|_| answer.judged.of as f64));
        row.number("judged_better", best.map(|_| answer.judged.better as f64));
        row.number("unseen_change", best.and(answer.judged.got));
        row.number("unseen_p", best.and(answer.unseen.p));
        rows.push(row);
    }
    rows
}
