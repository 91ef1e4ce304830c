//! Questions that are asked again while jobs wait, against a count by hand.

use drystone::generate::{Params, WorkloadLength, generate_workload};
use drystone_core::engine::{Observer, Simulation, WorkloadReplay};
use drystone_core::model::{JobId, Span, Time};
use drystone_core::policy::{PolicySpec, StartReason};
use drystone_when::{AnswerMethod, ForecasterSettings, ForeseeOptions, RepeatedMethod, score_answers};
use std::collections::BTreeMap;

#[derive(Default)]
struct Starts(BTreeMap<JobId, Time>);

impl Observer for Starts {
    fn note_start(&mut self, now: Time, id: JobId, _: StartReason) {
        self.0.entry(id).or_insert(now);
    }
}

/// Every job that came before and starts later is asked about, at the first event at or after each
/// full hour. Such answers correct the next ones.
#[test]
fn every_job_that_waits_is_asked_about_again() {
    let params = Params { load: Some(0.95), length: WorkloadLength::Jobs(1_500), ..Params::new(64, 7) };
    let workload = generate_workload(&params).expect("possible");
    let policy: PolicySpec = "easy".parse().expect("a policy");
    let mut simulation = Simulation::new(workload.machine(), policy.build_scheduler(), WorkloadReplay::new(&workload));
    let (mut starts, mut rounds, mut next) = (Starts::default(), Vec::new(), Time::MIN);
    while simulation.step(&mut starts).expect("sound") {
        let now = simulation.session().view().current_time();
        if now >= next {
            rounds.push(now);
            next = Time((now.0 / 3_600 + 1) * 3_600);
        }
    }
    let waits = |id: usize, at: Time| workload.jobs()[id].submit < at && at < starts.0[&JobId(id as u32)];
    let expected: u64 = rounds.iter().map(|&at| (0..workload.len()).filter(|&id| waits(id, at)).count() as u64).sum();
    let options = ForeseeOptions {
        settings: ForecasterSettings { samples: 20, ..ForecasterSettings::default() },
        methods: vec![AnswerMethod::Calibrated],
        again: Some(Span::HOUR),
        training: 0.0,
        ..ForeseeOptions::default()
    };
    let at_work = policy.clone();
    let foreseen =
        score_answers(&workload, &policy, move || at_work.build_scheduler(), &options, &|_| {}).expect("sound");
    let again = foreseen.and_then(|foreseen| foreseen.again).expect("asked again");
    assert!(expected > 1_000, "{expected} questions say little");
    let scores: BTreeMap<&str, _> = again.methods.iter().map(|(method, score)| (method.name(), score)).collect();
    for (name, score) in &scores {
        assert_eq!(score.questions + score.unanswered, expected, "{name}");
    }
    let own = scores[RepeatedMethod::Calibrated.name()];
    let raw = scores[RepeatedMethod::Raw.name()];
    assert!(own.calibration_error < raw.calibration_error, "{own:?} {raw:?}");
}
