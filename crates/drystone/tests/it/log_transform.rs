//! More load, on cases small enough to be done by hand.

use drystone::log::transform::{LoadFactor, scale_load};
use drystone::model::{Job, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};

fn workload(submits: &[i64], provenance: Provenance) -> Workload {
    let jobs = submits.iter().map(|submit| Job::new(Time(*submit), 2, Span(100))).collect();
    let truth =
        (1..).zip(submits).map(|(number, _)| Truth { run: Span(50), number, status: LogStatus::Completed }).collect();
    Workload::new(Machine::new(8), jobs, truth, provenance).expect("good jobs")
}

fn settings(workload: &Workload) -> Vec<String> {
    workload.provenance.settings.iter().map(|s| format!("{}={}", s.name, s.value)).collect()
}

#[test]
fn more_load_brings_submits_together_exactly() {
    let factor: LoadFactor = "1.1".parse().expect("1.1");
    let w = scale_load(workload(&[0, 11, 22, 33, 34], Provenance::default()), factor).expect("times in range");
    let submits: Vec<_> = w.jobs().iter().map(|j| j.submit.0).collect();
    assert_eq!(submits, [0, 10, 20, 30, 30]);
    assert_eq!(settings(&w), ["load=1.1"]);
    // Work 5 × 2 × 50 over 30 s on 8 processors.
    assert_eq!(w.load(), Some(500.0 / 240.0));
}
