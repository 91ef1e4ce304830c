//! Slack-based and conservative backfilling against golden schedules, job by job.

use crate::slack_support::{by_number, golden, kth, months, paper_months};
use drystone::log::clean::Overrun;
use drystone::model::Workload;
use std::collections::BTreeMap;

/// Every job of the golden schedule and no other, with exactly its start and end.
fn assert_golden(name: &str, spans: BTreeMap<i64, (i64, i64)>) {
    let Some(golden) = golden(name) else { return };
    assert_eq!(golden.len(), spans.len(), "{name}: other jobs");
    let differing: Vec<_> = spans.iter().filter(|(number, span)| golden.get(number) != Some(span)).collect();
    let first: Vec<_> = differing.iter().take(5).map(|(n, span)| (n, span, golden.get(n))).collect();
    assert!(differing.is_empty(), "{name}: {} jobs differ: {first:?}", differing.len());
}

/// One run over the year, and the months apart, on machines of 100 and 128 processors.
fn check_events(name: &str, policy: &str) {
    for procs in [100, 128] {
        let Some(year) = kth(procs) else { return };
        assert_golden(&format!("event.{name}.p{procs}.year"), by_number(policy, &year));
        let apart = months(&year).iter().flat_map(|month| by_number(policy, month)).collect();
        assert_golden(&format!("event.{name}.p{procs}.month"), apart);
    }
}

fn check_paper(name: &str, policy: &str) {
    let Some(months) = paper_months(Overrun::Kill) else { return };
    let of_month = |(_, month): &(String, Workload)| by_number(policy, month);
    assert_golden(name, months.iter().flat_map(of_month).collect());
}

#[test]
fn conservative_backfilling() {
    check_events("cons", "conservative");
}

#[test]
fn slack_with_compression_after_early_ends() {
    check_events("prio", "slack(sf=3,order=ast,awt=2401,notice=immediate,horizon=all)");
}

#[test]
fn slack_as_the_text_of_the_paper_says() {
    check_events("priotext", "slack(sf=3,awt=2401,remove=priced,horizon=all)");
}

#[test]
fn the_jobs_of_the_paper() {
    check_paper("paper.cons", "conservative@talby1999");
    check_paper("paper.prio-ast", "slack@talby1999");
    check_paper("paper.prio-ast-fifth", "slack@talby1999(priorities=every(5,first=1))");
}
