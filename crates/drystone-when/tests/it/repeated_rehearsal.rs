//! Answers about jobs that have waited for some time, after a rehearsal on a record.

use drystone::generate::{Params, WorkloadLength, generate};
use drystone::model::Workload;
use drystone_core::engine::{Schedule, Simulation, WorkloadReplay};
use drystone_core::model::{JobId, Span, Time};
use drystone_core::policy::PolicySpec;
use drystone_when::{ForecastScore, Forecaster, ForecasterSettings, LEVELS, Observed, ScoreMark, adopt, level};

const PATIENCE: Span = Span(60);

/// A record of what a policy made of a log.
fn record(workload: &Workload, spec: &PolicySpec) -> Vec<Observed> {
    let mut schedule = Schedule::default();
    Simulation::new(workload.machine(), spec.scheduler(), WorkloadReplay::new(workload))
        .run(&mut schedule)
        .expect("sound");
    let observed = |(job, span): (&drystone_core::model::Job, &Option<(Time, Time)>)| Observed {
        job: job.clone(),
        eligible: job.submit,
        start: span.map(|span| span.0),
        end: span.map(|span| span.1),
        rank: 0,
        on: None,
        held: false,
    };
    workload.jobs().iter().zip(&schedule.spans).map(observed).collect()
}

/// Scores of the answers about all jobs that have waited at these instants: corrected by answers at
/// arrival, and by answers about jobs that had waited.
fn scores(workload: &Workload, instants: usize, questions: usize) -> [ForecastScore; 2] {
    let spec: PolicySpec = "easy".parse().expect("valid");
    let jobs = record(workload, &spec);
    let (first, last) = (jobs[jobs.len() / 3].job.submit, jobs[jobs.len() - 1].job.submit);
    let settings = ForecasterSettings { samples: 60, rehearsed: 60, ..ForecasterSettings::default() };
    let mut marks: [Vec<ScoreMark>; 2] = Default::default();
    for instant in 0..instants {
        let now = Time(first.0 + (last - first).0 * instant as i64 / instants as i64);
        let known: Vec<Observed> = (jobs.iter().filter(|one| one.job.submit <= now))
            .map(|one| Observed {
                start: one.start.filter(|&start| start <= now),
                end: one.end.filter(|&end| end <= now),
                ..one.clone()
            })
            .collect();
        let adoption = adopt(spec.scheduler(), workload.machine(), &known, &[], now).expect("sound");
        let has_waited = |&at: &usize| known[at].start.is_none() && now - known[at].job.submit > PATIENCE;
        let waits = |id: JobId| adoption.session.view().waiting().any(|other| other == id);
        let asked: Vec<(usize, JobId)> = (adoption.jobs.iter().copied().filter(has_waited))
            .filter_map(|at| Some((at, adoption.id(at).filter(|&id| waits(id))?)))
            .collect();
        if asked.is_empty() {
            continue;
        }
        let mut forecaster = Forecaster::new(&spec, settings.clone()).expect("sound");
        forecaster.rehearse(workload.machine(), &known, now, questions, PATIENCE, &|| {}).expect("sound");
        let ids: Vec<JobId> = asked.iter().map(|&(_, id)| id).collect();
        let answers = forecaster.look(&adoption.session, &ids).expect("sound");
        let corrected = forecaster.correct_answers(&answers, now);
        for (marks, answers) in marks.iter_mut().zip([answers, corrected]) {
            for (answer, &(at, _)) in answers.iter().zip(&asked) {
                let quantiles: Vec<f64> = (0..LEVELS).map(|k| answer.quantile(level(k))).collect();
                let took = jobs[at].start.expect("it ran") - now;
                marks.push(ScoreMark::of(&quantiles, took.as_f64()));
            }
        }
    }
    marks.map(|marks| ForecastScore::of(&marks, 0))
}

#[test]
#[ignore = "evaluation"]
fn evaluate() {
    let load = |seed: u64, load: f64| {
        let params = Params { length: WorkloadLength::Jobs(6000), load: Some(load), seed, ..Params::new(128, 1) };
        generate(&params).expect("sound")
    };
    for (seed, rate) in [(3, 0.9), (4, 0.8), (5, 0.95), (6, 0.9)] {
        for score in scores(&load(seed, rate), 60, 1000) {
            println!("{seed} {rate}: n {} crps {:.1} cover {:.2?} error {:.3}", score.questions, score.crps, score.coverage, score.calibration_error);
        }
    }
}
