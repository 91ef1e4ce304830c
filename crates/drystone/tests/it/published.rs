//! Published averages, with the tolerances that the specification calls attainable.

use crate::common::{BLUE, CTC, KTH, KTH_RAW, SP2, log, simulate, spec};
use drystone::engine::{Simulation, WorkloadReplay};
use drystone::log::clean::CleaningStudy;
use drystone::metrics::{Collector, HeelAndToe, JobSelection, Measure, MetricsConfig, Report, Scope};
use drystone::model::Workload;

/// Simulates with the trimming of Tsafrir et al. 2007.
fn tsafrir(workload: &Workload, policy: &str) -> Report {
    let config = MetricsConfig { selection: JobSelection::Tsafrir, ..MetricsConfig::default() };
    let mut collector = Collector::new(Scope::from_workload(workload), config);
    let policy = if policy.contains('@') { spec(policy) } else { spec(&format!("{policy}@tsafrir2007")) };
    Simulation::new(workload.machine(), policy.build_scheduler(), WorkloadReplay::new(workload))
        .run(&mut collector)
        .expect("runs");
    collector.finish()
}

fn mean(report: &Report, measure: Measure) -> f64 {
    report.measures.get(measure).mean.expect("jobs counted")
}

/// One published row: log, policy, published values. The figures are of Tsafrir, Etsion & Feitelson
/// 2007.
type Row = (&'static str, &'static str, &'static [f64]);

/// Compares what `measure` says of each row with the published values: within `tolerance` of each,
/// or within `rounding` half units of its last printed digit, whichever is wider.
fn check(rows: &[Row], tolerance: f64, digits: &[i32], measure: impl Fn(&Workload, &str) -> Vec<f64>) {
    for &(name, policy, averages) in rows {
        let Some(workload) = log(name, CleaningStudy::Tsafrir2007, None) else { return };
        let values = measure(&workload, policy);
        assert_eq!(values.len(), averages.len());
        for ((value, average), digits) in values.iter().zip(averages).zip(digits) {
            // A published "21" is anything from 20.5 to 21.5.
            let allowance = (tolerance * average).max(0.5 * 10f64.powi(-digits));
            assert!((value - average).abs() <= allowance, "{name} {policy}: {value} against {average} ± {allowance}");
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

/// Tables 2 and 3: wait, bounded slowdown, accuracy in percent, corrections per job. The
/// specification reports at most 2.4 % of deviation for these rows (5.3 % for the slowdown of EASY+
/// on BLUE, which is left out here).
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

/// Tables 4 and 5: rate, mean, median and standard deviation of |start − first reservation| and of
/// delays beyond it; rates in percent, times in minutes. Within 3 %, or what rounding hides; BLUE,
/// where the specification reports up to 10 %, not.
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

/// Table 10: stalled rate in percent, stall time in minutes, thieves; within the 3.7 % that the
/// specification reports.
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
        let mut watcher = HeelAndToe::new(w, JobSelection::Tsafrir);
        let policy = spec(&format!("{policy}@tsafrir2007"));
        Simulation::new(w.machine(), policy.build_scheduler(), WorkloadReplay::new(w)).run(&mut watcher).expect("runs");
        let stalls = watcher.finish();
        let mean = |s: drystone::metrics::Summary| s.mean.expect("stalled jobs");
        vec![stalls.rate.expect("jobs") * 100.0, mean(stalls.stall) / 60.0, mean(stalls.thieves)]
    });
}

/// Results of another implementation of the same semantics, per log ([`SP2`], [`CTC`], [`KTH`],
/// [`BLUE`]): wait in minutes and bounded slowdown; and the printed values of the paper, of tables
/// 2, 3, 6, 7, 8 and 9.
type Averages = (&'static str, [[f64; 2]; 4], [[f64; 2]; 4]);

const AVERAGES: [Averages; 16] = [
    (
        "easy",
        [[363.1, 99.06], [21.2, 4.56], [115.1, 90.16], [129.6, 35.08]],
        [[363.0, 99.0], [21.0, 4.6], [114.0, 90.0], [130.0, 35.0]],
    ),
    (
        "easy-pcor",
        [[360.0, 93.16], [21.3, 4.48], [115.7, 90.58], [128.5, 35.82]],
        [[360.0, 93.0], [21.0, 4.5], [115.0, 90.0], [128.0, 36.0]],
    ),
    (
        "easy+",
        [[325.2, 85.59], [15.7, 3.34], [95.7, 64.92], [103.3, 27.38]],
        [[326.0, 86.0], [16.0, 3.3], [96.0, 65.0], [102.0, 26.0]],
    ),
    (
        "easy-sjbf",
        [[362.0, 88.87], [19.2, 3.97], [101.8, 72.99], [104.0, 20.98]],
        [[361.0, 87.0], [19.0, 3.9], [102.0, 73.0], [102.0, 21.0]],
    ),
    (
        "easy++",
        [[327.2, 70.23], [14.2, 2.85], [93.4, 57.68], [90.1, 19.34]],
        [[327.0, 70.0], [14.0, 2.9], [95.0, 57.0], [87.0, 19.0]],
    ),
    (
        "perfect++",
        [[278.1, 57.53], [19.2, 2.80], [91.1, 49.79], [87.7, 12.87]],
        [[278.0, 58.0], [19.0, 2.8], [91.0, 50.0], [87.0, 13.0]],
    ),
    (
        "x2",
        [[332.2, 87.94], [19.5, 4.10], [102.9, 81.40], [116.4, 30.25]],
        [[333.0, 89.0], [20.0, 4.1], [102.0, 80.0], [115.0, 30.0]],
    ),
    (
        "x2-perfect",
        [[293.1, 77.43], [18.0, 3.24], [95.7, 71.52], [108.0, 28.21]],
        [[293.0, 77.0], [18.0, 3.2], [95.0, 70.0], [107.0, 28.0]],
    ),
    (
        "x2++-perfect",
        [[270.1, 58.49], [16.3, 2.52], [82.9, 49.15], [80.7, 12.58]],
        [[270.0, 58.0], [16.0, 2.5], [84.0, 50.0], [80.0, 12.0]],
    ),
    (
        "easy+ predict=recent(2,window=immediate)",
        [[342.8, 91.75], [18.3, 3.74], [107.7, 77.57], [122.7, 31.51]],
        [[343.0, 92.0], [18.0, 3.7], [108.0, 79.0], [121.0, 31.0]],
    ),
    (
        "easy++ predict=recent(2,window=immediate)",
        [[363.5, 80.55], [17.0, 3.58], [98.1, 66.83], [101.4, 19.18]],
        [[363.0, 81.0], [17.0, 3.6], [98.0, 67.0], [100.0, 19.0]],
    ),
    // The paper's own figures of these five are met by no policy; see the deviations that the test
    // prints.
    (
        "x2+",
        [[359.3, 88.64], [16.5, 3.58], [99.3, 71.98], [107.7, 30.06]],
        [[357.0, 94.0], [16.0, 3.6], [98.0, 66.0], [105.0, 33.0]],
    ),
    (
        "x2++",
        [[358.9, 74.09], [15.8, 3.15], [90.9, 56.42], [99.7, 20.16]],
        [[333.0, 67.0], [15.0, 3.0], [93.0, 53.0], [86.0, 21.0]],
    ),
    (
        "sjf",
        [[537.3, 69.94], [13.0, 2.76], [80.2, 44.93], [92.8, 30.57]],
        [[535.0, 69.0], [13.0, 2.8], [79.0, 45.0], [81.0, 25.0]],
    ),
    (
        "sjf+",
        [[316.1, 41.43], [11.6, 2.45], [84.7, 46.17], [76.1, 21.09]],
        [[308.0, 34.0], [12.0, 2.4], [87.0, 44.0], [90.0, 37.0]],
    ),
    (
        "sjf-perfect",
        [[244.4, 20.58], [11.3, 1.76], [65.7, 22.90], [51.8, 5.45]],
        [[270.0, 19.0], [12.0, 1.8], [67.0, 24.0], [50.0, 5.4]],
    ),
];

/// Results of tables 4 and 5: rate in percent, mean, median and deviation in minutes of |start −
/// first reservation|, then of delays beyond it.
const RESERVATIONS: [(&str, [[f64; 8]; 4]); 3] = [
    (
        "easy",
        [
            [17.47, 170.9, 64.02, 470.7, 1.53, 513.0, 0.87, 1441.9],
            [6.76, 50.6, 8.28, 92.3, 0.72, 72.3, 1.83, 119.1],
            [15.04, 38.3, 6.27, 84.7, 0.11, 58.7, 0.65, 108.2],
            [9.66, 69.8, 15.23, 221.1, 0.92, 48.7, 0.80, 318.5],
        ],
    ),
    (
        "easy+ predict=recent(2,window=immediate)",
        [
            [14.31, 92.4, 19.70, 173.5, 3.81, 92.5, 8.63, 222.9],
            [5.44, 28.9, 2.22, 74.1, 1.30, 36.7, 3.00, 102.1],
            [13.78, 35.9, 3.19, 91.3, 1.79, 51.8, 10.82, 106.8],
            [7.51, 44.9, 3.15, 190.1, 1.82, 34.5, 2.12, 153.6],
        ],
    ),
    (
        "easy++ predict=recent(2,window=immediate)",
        [
            [14.78, 90.7, 19.43, 167.9, 3.81, 86.1, 8.32, 206.4],
            [5.65, 27.3, 1.93, 69.5, 1.31, 33.7, 2.68, 94.3],
            [13.82, 35.2, 3.22, 88.7, 1.78, 43.9, 9.38, 86.1],
            [7.78, 45.5, 3.75, 184.7, 1.85, 32.0, 2.28, 135.4],
        ],
    ),
];

/// Results of tables 2, 3 and 8: accuracy and share of jobs predicted from history, in percent.
const PREDICTIONS: [(&str, [[f64; 2]; 4]); 2] = [
    ("easy++ predict=recent(2,window=immediate)", [[55.6, 58.9], [58.5, 62.7], [57.8, 39.0], [59.3, 69.8]]),
    ("easy++", [[60.2, 89.4], [62.3, 90.2], [60.6, 83.8], [61.9, 90.3]]),
];

/// Every policy of the paper on its four logs: to the digit what another implementation found, and
/// therefore with its deviations from the paper, which are printed.
#[test]
fn every_table_as_another_implementation_found_it() {
    let mut wrong = Vec::new();
    for (at, name) in [SP2, CTC, KTH, BLUE].into_iter().enumerate() {
        let Some(workload) = log(name, CleaningStudy::Tsafrir2007, None) else { return };
        for (policy, peer_values, paper_values) in AVERAGES {
            let text = match policy.split_once(' ') {
                Some((policy, args)) => format!("{policy}@tsafrir2007({args})"),
                None => format!("{policy}@tsafrir2007"),
            };
            let report = tsafrir(&workload, &text);
            let mut close = |label: &str, value: f64, target: f64, digits: i32| {
                // Theirs were rounded twice, to one more digit first: 325.254 became 325.25 and
                // then 325.2.
                let half = 0.55 * 10f64.powi(-digits);
                if (value - target).abs() > half {
                    wrong.push(format!("{name} {policy}: {label} {value}, expected {target}"));
                }
            };
            let own_means = [mean(&report, Measure::Wait) / 60.0, mean(&report, Measure::BoundedSlowdown)];
            close("wait", own_means[0], peer_values[at][0], 1);
            close("bounded slowdown", own_means[1], peer_values[at][1], 2);
            let deviation = |k: usize| 100.0 * (own_means[k] / paper_values[at][k] - 1.0);
            eprintln!("{name} {policy}: wait {:+.1} %, slowdown {:+.1} % off the paper", deviation(0), deviation(1));
            let p = report.predictability.as_ref().expect("asked for");
            let minutes = |s: Option<f64>| s.expect("jobs") / 60.0;
            for (_, rows) in RESERVATIONS.iter().filter(|r| r.0 == policy) {
                for (k, (value, digits)) in [
                    (100.0 * p.reservation_rate.expect("jobs"), 2),
                    (minutes(p.difference.mean), 1),
                    (minutes(p.difference.median), 2),
                    (minutes(p.difference.deviation), 1),
                    (100.0 * p.delay_rate.expect("jobs"), 2),
                    (minutes(p.delay.mean), 1),
                    (minutes(p.delay.median), 2),
                    (minutes(p.delay.deviation), 1),
                ]
                .into_iter()
                .enumerate()
                {
                    close("tables 4 and 5", value, rows[at][k], digits);
                }
            }
            for (_, rows) in PREDICTIONS.iter().filter(|r| r.0 == policy) {
                close("accuracy", 100.0 * p.accuracy.mean.expect("jobs"), rows[at][0], 1);
                close("prediction rate", 100.0 * p.prediction_rate.expect("jobs"), rows[at][1], 1);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Gaussier, Glesser, Reis & Trystram 2015: mean bounded slowdown and largest flow of every row, to
/// every printed digit but the last ones, which depend on the order in which a mean is added up.
#[test]
fn every_row_of_gaussier_2015() {
    const HISTORY: &str = "predict=recent(2,recency=termination,above=clip)";
    for (name, column) in [(KTH_RAW, 0), (CTC, 1)] {
        let Some(workload) = log(name, CleaningStudy::Gaussier2015, None) else { return };
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
            let own_mean = sum / workload.len() as f64;
            let error = (own_mean / slowdown[column] - 1.0).abs();
            assert!(error < 1e-12, "{policy} on {name}: {own_mean} against {}", slowdown[column]);
            assert_eq!(largest, flow[column], "{policy} on {name}: largest flow");
        }
    }
}
