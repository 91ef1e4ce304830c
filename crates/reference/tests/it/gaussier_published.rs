//! Every row that Gaussier et al. published for KTH and CTC, to the printed digit.

use crate::common::{in_order, swf, text};
use drystone_reference::JobIn;
use drystone_reference::gaussier::{
    Corrector, NaiveGaussierPredictor, NaiveGaussierScheduler, run, summarise_schedule,
};

fn jobs(log: &str, machine: i64) -> Option<Vec<JobIn>> {
    let lines = swf(log)?;
    let job = |f: &Vec<i64>| {
        let (allocation, request) = (f[4], f[7]);
        JobIn {
            submit: f[1],
            procs: if request > 0 { request } else { allocation },
            estimate: f[8],
            run: f[3].min(f[8]),
            user: f[11],
        }
    };
    let rows = lines.iter().filter(|f| f[4] <= machine && f[7] <= machine);
    let jobs = rows.map(|f| (f[0], job(f)));
    let good = jobs.filter(|(_, j)| j.procs > 0 && j.run > 0 && j.estimate > 0 && j.submit >= 0);
    Some(in_order(good.collect()).1)
}

/// Rows for one log: the printed texts, split at commas.
fn check(log: &str, machine: i64, name: &str) {
    let Some(table) = text("published/gaussier-2015-kth-ctc.csv") else {
        return;
    };
    let Some(jobs) = jobs(log, machine) else {
        return;
    };
    let mut failures = Vec::new();
    for line in table.lines().skip(1) {
        let f: Vec<&str> = line.split(',').collect();
        if f[0] != name {
            continue;
        }
        assert_eq!(f[3], jobs.len().to_string(), "{line}");
        let scheduler = match f[4] {
            "EASY (FCFS order)" | "EASY with predictor" => NaiveGaussierScheduler::Easy,
            "EASY-SJBF (requested time)" => NaiveGaussierScheduler::Sjbf,
            "EASY-SJBF with predictor" => NaiveGaussierScheduler::PlusPlus,
            other => panic!("unknown scheduler {other}"),
        };
        let predictor = match f[5] {
            "" | "reqtime" => NaiveGaussierPredictor::Requested,
            "doublereqtime" => NaiveGaussierPredictor::DoubleRequested,
            "clairvoyant" => NaiveGaussierPredictor::Clairvoyant,
            "tsafrir" => NaiveGaussierPredictor::Tsafrir,
            other => panic!("unknown predictor {other}"),
        };
        let corrector = match f[6] {
            "" | "none" | "reqtime" => Corrector::Requested, // never needed by the first two
            "tsafrir" => Corrector::Tsafrir,
            "recursive_doubling" => Corrector::RecursiveDoubling,
            other => panic!("unknown corrector {other}"),
        };
        let summary = summarise_schedule(&jobs, &run(scheduler, predictor, corrector, &jobs, machine));
        let mut matches = true;
        let mut compare = |cell: &str, value: f64| {
            let expected: f64 = cell.parse().expect("a number");
            // 15 to 17 digits are printed, the last few of which depend on the order in which
            // doubles were added.
            matches &= (value - expected).abs() <= 1e-13 * expected;
        };
        if f[7] != "NA" {
            compare(f[7], summary.mean_flow);
        }
        compare(f[8], summary.max_flow as f64);
        compare(f[9], summary.mean_bounded_slowdown);
        compare(f[10], summary.max_bounded_slowdown);
        compare(f[11], summary.rms_bounded_slowdown);
        // NA is the overflow of the sum of flow times in 32 bits.
        matches &= (f[7] == "NA") == (summary.sum_flow > i64::from(i32::MAX));
        if !matches {
            failures.push(format!("{line}\n  found {summary:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn kth() {
    check("KTH-SP2-1996-2", 100, "KTH-SP2");
}

#[test]
fn ctc() {
    check("CTC-SP2-1996-3.1-cln", 338, "CTC-SP2");
}
