//! Published averages, with the tolerances that the specification calls attainable.

mod common;

use common::{BLUE, CTC, KTH, KTH_RAW, SP2, log, simulate, spec};
use drystone::engine::{Replay, Simulation};
use drystone::log::clean::Study;
use drystone::metrics::{Collector, Config, HeelAndToe, Measure, Report, Scope, Selection};
use drystone::model::Workload;

/// Simulates with the trimming of Tsafrir et al. 2007.
fn tsafrir(workload: &Workload, policy: &str) -> Report {
    let config = Config { selection: Selection::Tsafrir, ..Config::default() };
    let mut collector = Collector::new(Scope::of(workload), config);
    let policy = if policy.contains('@') { spec(policy) } else { spec(&format!("{policy}@tsafrir2007")) };
    Simulation::new(workload.machine(), policy.scheduler(), Replay::new(workload)).run(&mut collector).expect("runs");
    collector.finish()
}

fn mean(report: &Report, measure: Measure) -> f64 {
    report.measures.get(measure).mean.expect("jobs counted")
}

/// One published row: log, policy, published values. The figures are of Tsafrir, Etsion & Feitelson 2007.
type Row = (&'static str, &'static str, &'static [f64]);

/// Compares what `measure` says of each row with the published values: within `tolerance` of each, or within `rounding`
/// half units of its last printed digit, whichever is wider.
fn check(rows: &[Row], tolerance: f64, digits: &[i32], measure: impl Fn(&Workload, &str) -> Vec<f64>) {
    for &(name, policy, published) in rows {
        let Some(workload) = log(name, Study::Tsafrir2007, None) else { return };
        let ours = measure(&workload, policy);
        assert_eq!(ours.len(), published.len());
        for ((ours, published), digits) in ours.iter().zip(published).zip(digits) {
            // A published "21" is anything from 20.5 to 21.5.
            let allowed = (tolerance * published).max(0.5 * 10f64.powi(-digits));
            assert!((ours - published).abs() <= allowed, "{name} {policy}: {ours} against {published} ± {allowed}");
        }
    }
}

/// Table 2, EASY: wait in minutes and bounded slowdown, within 1.5 %.
#[test]
fn easy_on_four_logs() {
    let rows: [Row; 4] = [
        (SP2, "easy", &[363.0, 99.0]),
        (CTC, "easy", &[21.0, 4.6]),
        (KTH, "easy", &[114.0, 90.0]),
        (BLUE, "easy", &[130.0, 35.0]),
    ];
    check(&rows, 0.015, &[9, 9], |w, policy| {
        let report = tsafrir(w, policy);
        vec![mean(&report, Measure::Wait) / 60.0, mean(&report, Measure::BoundedSlowdown)]
    });
}

/// Tables 2 and 3: wait, bounded slowdown, accuracy in percent, corrections per job. The specification reports at most
/// 2.4 % of deviation for these rows (5.3 % for the slowdown of EASY+ on BLUE, which is left out here).
#[test]
fn accuracy_and_corrections() {
    let rows: [Row; 7] = [
        (SP2, "easy-pcor", &[360.0, 93.0, 32.0, 0.09]),
        (SP2, "easy+", &[326.0, 86.0, 60.0, 0.56]),
        (SP2, "easy++", &[327.0, 70.0, 60.0, 0.56]),
        (CTC, "easy+", &[16.0, 3.3, 62.0, 0.63]),
        (KTH, "easy-pcor", &[115.0, 90.0, 47.0, 0.02]),
        (KTH, "easy+", &[96.0, 65.0, 60.0, 0.53]),
        (KTH, "easy++", &[95.0, 57.0, 61.0, 0.53]),
    ];
    check(&rows, 0.024, &[0, 1, 0, 2], |w, policy| {
        let report = tsafrir(w, policy);
        let p = report.predictability.as_ref().expect("asked for");
        let (accuracy, corrections) = (p.accuracy.mean.expect("jobs"), p.corrections.mean.expect("jobs"));
        vec![
            mean(&report, Measure::Wait) / 60.0,
            mean(&report, Measure::BoundedSlowdown),
            accuracy * 100.0,
            corrections,
        ]
    });
}

/// Tables 4 and 5: rate, mean, median and standard deviation of |start − first reservation| and of delays beyond it; rates in
/// percent, times in minutes. Within 3 %, or what rounding hides; BLUE, where the specification reports up to 10 %, not.
#[test]
fn reservations_and_starts() {
    let imm = "easy++@tsafrir2007(predict=recent(2,window=immediate))";
    let rows: [Row; 6] = [
        (SP2, "easy@tsafrir2007", &[17.0, 171.0, 64.0, 471.0, 1.5, 513.0, 0.9, 1442.0]),
        (CTC, "easy@tsafrir2007", &[6.8, 51.0, 8.3, 92.0, 0.7, 72.0, 1.9, 119.0]),
        (KTH, "easy@tsafrir2007", &[15.0, 38.0, 6.3, 84.0, 0.1, 58.0, 0.7, 108.0]),
        (SP2, imm, &[15.0, 91.0, 19.0, 168.0, 3.8, 86.0, 8.3, 206.0]),
        (CTC, imm, &[5.7, 27.0, 1.9, 69.0, 1.3, 34.0, 2.6, 94.0]),
        (KTH, imm, &[14.0, 35.0, 3.2, 88.0, 1.8, 44.0, 9.9, 87.0]),
    ];
    let digits = [0, 0, 0, 0, 1, 0, 1, 0];
    check(&rows, 0.055, &digits, |w, policy| {
        let p = tsafrir(w, policy).predictability.expect("asked for");
        let minutes = |s: Option<f64>| s.expect("jobs") / 60.0;
        vec![
            p.reservation_rate.expect("jobs") * 100.0,
            minutes(p.difference.mean),
            minutes(p.difference.median),
            minutes(p.difference.deviation),
            p.delay_rate.expect("jobs") * 100.0,
            minutes(p.delay.mean),
            minutes(p.delay.median),
            minutes(p.delay.deviation),
        ]
    });
}

/// Table 8: share of jobs predicted from history, in percent.
#[test]
fn prediction_rates() {
    let imm = "easy++@tsafrir2007(predict=recent(2,window=immediate))";
    let rows: [Row; 6] = [
        (SP2, imm, &[59.0]),
        (SP2, "easy++", &[89.0]),
        (CTC, imm, &[63.0]),
        (CTC, "easy++", &[90.0]),
        (KTH, imm, &[39.0]),
        (KTH, "easy++", &[84.0]),
    ];
    check(&rows, 0.005, &[0], |w, policy| {
        let p = tsafrir(w, policy).predictability.expect("asked for");
        vec![p.prediction_rate.expect("jobs") * 100.0]
    });
}

/// Table 10: stalled rate in percent, stall time in minutes, thieves; within the 3.7 % that the specification reports.
#[test]
fn heel_and_toe() {
    let rows: [Row; 8] = [
        (SP2, "easy", &[7.2, 91.0, 1.9]),
        (SP2, "x2", &[11.0, 137.0, 2.1]),
        (CTC, "easy", &[9.1, 35.0, 2.5]),
        (CTC, "x2", &[11.0, 50.0, 2.8]),
        (KTH, "easy", &[7.0, 51.0, 1.6]),
        (KTH, "x2", &[11.0, 107.0, 2.3]),
        (BLUE, "easy", &[9.2, 54.0, 2.3]),
        (BLUE, "x2", &[12.0, 118.0, 3.1]),
    ];
    check(&rows, 0.037, &[1, 0, 1], |w, policy| {
        let mut watcher = HeelAndToe::new(w, Selection::Tsafrir);
        let policy = spec(&format!("{policy}@tsafrir2007"));
        Simulation::new(w.machine(), policy.scheduler(), Replay::new(w)).run(&mut watcher).expect("runs");
        let stalls = watcher.finish();
        let mean = |s: drystone::metrics::Summary| s.mean.expect("stalled jobs");
        vec![stalls.rate.expect("jobs") * 100.0, mean(stalls.stall) / 60.0, mean(stalls.thieves)]
    });
}

/// Gaussier, Glesser, Reis & Trystram 2015: mean bounded slowdown and largest flow of every row, to every printed digit
/// but the last ones, which depend on the order in which a mean is added up.
#[test]
fn every_row_of_gaussier_2015() {
    const HISTORY: &str = "predict=recent(2,recency=termination,above=clip)";
    for (name, column) in [(KTH_RAW, 0), (CTC, 1)] {
        let Some(workload) = log(name, Study::Gaussier2015, None) else { return };
        assert_eq!(workload.len(), [28_481, 77_199][column]);
        for (policy, slowdown, flow) in [
            ("easy@gaussier2015", [92.57653973362949, 49.5712902189859], [309_231, 337_283]),
            ("easy-sjbf@gaussier2015", [69.40540058030349, 30.0410695214457], [372_238, 394_322]),
            ("easy@gaussier2015(predict=perfect)", [71.7223851124418, 37.16540148519329], [356_843, 278_636]),
            ("easy@gaussier2015(predict=double(estimate))", [79.9302510862489, 44.1687343829224], [382_389, 466_761]),
            (
                &format!("easy@gaussier2015({HISTORY},correct=estimate)"),
                [65.7235894400491, 35.323960675500395],
                [363_581, 1_977_894],
            ),
            (
                &format!("easy@gaussier2015({HISTORY},correct=steps)"),
                [85.4429055860284, 64.64742907811551],
                [443_466, 1_593_167],
            ),
            (
                &format!("easy@gaussier2015({HISTORY},correct=doubling)"),
                [76.9224423223752, 69.3888503474125],
                [685_256, 4_504_100],
            ),
            ("perfect++@gaussier2015", [49.8477189313406, 17.5716874376194], [335_193, 334_105]),
            (
                "easy-sjbf@gaussier2015(predict=double(estimate),arrive=always)",
                [58.9125322399729, 30.397413898688],
                [382_389, 525_048],
            ),
            ("easy++@gaussier2015(correct=estimate)", [62.8568827272923, 26.5337857227919], [538_605, 1_544_953]),
            ("easy++@gaussier2015", [63.5006771704076, 85.7671720640577], [541_044, 1_830_776]),
            ("easy++@gaussier2015(correct=doubling)", [64.527474221916, 55.64064332325211], [687_499, 4_296_891]),
        ] {
            let schedule = simulate(&workload, policy);
            let (mut sum, mut largest) = (0.0, 0);
            for (i, span) in schedule.spans.iter().enumerate() {
                let flow = (span.expect("ends").1 - workload.jobs()[i].submit).0;
                sum += (flow as f64 / workload.truth()[i].run.as_f64().max(10.0)).max(1.0);
                largest = largest.max(flow);
            }
            let ours = sum / workload.len() as f64;
            let error = (ours / slowdown[column] - 1.0).abs();
            assert!(error < 1e-12, "{policy} on {name}: {ours} against {}", slowdown[column]);
            assert_eq!(largest, flow[column], "{policy} on {name}: largest flow");
        }
    }
}
