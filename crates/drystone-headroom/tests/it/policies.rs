//! Every policy against the floors of its jobs, on busy machines, with and without outages.

use drystone::engine::Segments;
use drystone::experiment::Experiment;
use drystone::generate::{Params, generate_workload};
use drystone::metrics::{JobRow, JobSelection, MetricsConfig};
use drystone::model::{Adopted, Circumstances, JobId, Machine, Outage, Outages, Span, Time, Which, Workload};
use drystone::policy::{PolicyKind, PolicySpec};
use drystone_headroom::{
    Ascent, DelayMeasure, HeadroomCase, HeadroomSearch, Refused, Relaxation, TimeLimit, ascend_prices, replay_rows,
    search_schedule,
};

/// A busy workload whose jobs run no longer than their estimates.
fn workload(seed: u64, load: f64) -> Workload {
    let params = Params { load: Some(load), seed, ..Params::new(64, 500) };
    generate_workload(&params).expect("possible")
}

fn rows(policy: &str, workload: &Workload, outages: &Outages) -> Vec<JobRow> {
    let spec: PolicySpec = policy.parse().expect("a policy");
    let config = MetricsConfig { keep_jobs: true, ..MetricsConfig::light_config() };
    let experiment = Experiment::new(&spec, workload).with_outages(Some(outages)).with_metrics(config);
    let mut result = experiment.run(&mut ()).expect("simulates").expect("not stopped");
    result.report.take_schedule().expect("asked for")
}

fn floors(case: &HeadroomCase, rows: &[JobRow]) -> [f64; 2] {
    let begin = case.extract_starts(rows).or_else(|| case.plain_schedule(rows)).expect("a schedule to begin with");
    [Relaxation::Windows, Relaxation::Seconds].map(|relaxation| {
        let ascent = Ascent { relaxation, grids: vec![(3600, 60), (900, 40)], threads: 1 };
        case.mean_measure(
            ascend_prices(&case.instance, &begin, &ascent, &|_| true).certify_floor(&case.instance).floor_value(),
        )
    })
}

fn kinds() -> impl Iterator<Item = &'static PolicyKind> {
    drystone::policy::policy_kinds().into_iter()
}

#[test]
fn no_policy_beats_its_floor() {
    let outages = Outages::default();
    let mut comparisons = 0;
    for seed in 1..=6 {
        for load in [0.8, 1.2] {
            let workload = workload(seed, load);
            let easy = rows("easy", &workload, &outages);
            for measure in DelayMeasure::ALL {
                let case = HeadroomCase::from_rows(&workload, &easy, (&outages, false), (measure, JobSelection::All))
                    .expect("a floor");
                let [windows, seconds] = floors(&case, &easy);
                assert!(windows > 0.0 && windows >= seconds * 0.8, "{windows} {seconds}");
                let names = kinds().map(|kind| kind.name.to_string());
                let clairvoyant = ["sjf-perfect", "easy(order=saf,backfill=saf,predict=perfect)", "perfect"];
                for policy in names.chain(clairvoyant.map(String::from)) {
                    let rows = rows(&policy, &workload, &outages);
                    assert_eq!(case.count_differing(&rows), 0, "{policy}");
                    let suspends = rows.iter().any(|row| row.suspensions > 0);
                    let floor = if suspends { seconds } else { windows };
                    let judgement = case.judge_schedule(&rows);
                    assert!(judgement >= floor, "{policy} {judgement} beats {floor} by {measure:?}");
                    comparisons += 1;
                }
            }
        }
    }
    assert!(comparisons >= 6 * 2 * 3 * 10, "{comparisons}");
}

/// Outages, a busy beginning and eligible times: floors hold for every policy that hears of them.
#[test]
fn floors_hold_where_more_happens() {
    for seed in 1..=4 {
        let plain = workload(seed, 1.0);
        let (first, last) = plain.submit_range().expect("jobs");
        let begin = Time(first.0 + (last.0 - first.0) / 4);
        let third = |n: i64| Time(first.0 + (last.0 - first.0) * n / 9);
        let outages = Outages::new(
            Machine::new(64),
            vec![
                Outage::new_failure(Which::Count(24), third(4), Some(third(5))),
                Outage::new_window(Which::Count(64), third(2), third(6), Time((third(6).0 + third(7).0) / 2)),
                Outage::new_drain(Which::Count(16), third(7), Some(third(8))),
            ],
        );
        let outages = outages.expect("possible");
        let mut circumstances = Circumstances { begin: Some(begin), ..Circumstances::default() };
        let mut busy = 0;
        for at in 0..plain.len() {
            let id = JobId(at as u32);
            let (job, truth) = (plain.job(id), &plain.truth()[at]);
            if job.submit <= begin && job.submit + truth.run > begin && busy + job.procs <= 64 {
                busy += job.procs;
                circumstances.here.insert(id, Adopted::Running { since: job.submit, on: None });
            } else if at % 5 == 0 {
                circumstances.eligible.insert(id, job.submit + Span(1_000 * (at as i64 % 13)));
            }
        }
        assert!(busy > 0);
        let workload = plain.with_circumstances(circumstances).expect("possible");
        let easy = rows("easy", &workload, &outages);
        for measure in [DelayMeasure::Wait, DelayMeasure::BoundedSlowdown] {
            let case = HeadroomCase::from_rows(&workload, &easy, (&outages, false), (measure, JobSelection::All))
                .expect("a floor");
            let [windows, seconds] = floors(&case, &easy);
            assert!(windows > 0.0);
            for policy in ["easy", "conservative", "sjf-perfect", "fcfs", "easy++", "slack", "ss"] {
                let rows = rows(policy, &workload, &outages);
                assert_eq!(case.count_differing(&rows), 0, "{policy}");
                let suspends = rows.iter().any(|row| row.suspensions > 0);
                let (judgement, floor) = (case.judge_schedule(&rows), if suspends { seconds } else { windows });
                assert!(judgement >= floor, "{policy} {judgement} beats {floor} by {measure:?}, seed {seed}");
            }
            if let Some(begin) = case.extract_starts(&easy).or_else(|| case.plain_schedule(&easy)) {
                let settings = HeadroomSearch { limit: TimeLimit::Trials(2_000), ..HeadroomSearch::default() };
                let solution = search_schedule(&case.instance, &begin, &settings, &|_| true).expect("feasible");
                let found_rows = case.schedule_rows(&easy, &solution.schedule);
                let judgement = case.judge_schedule(&found_rows);
                assert!(
                    (judgement - case.mean_measure(solution.cost)).abs() <= 1e-6 * judgement.max(1.0),
                    "{judgement} {solution:?}"
                );
                assert!(judgement >= windows);
            }
        }
    }
}

/// The schedule found, told as a simulation would: every job once, never too many at a time.
#[test]
fn a_replay_tells_what_the_rows_say() {
    let (outages, workload) = (Outages::default(), workload(3, 1.1));
    let easy = rows("easy", &workload, &outages);
    let mut sim_segments = Segments::default();
    let spec: PolicySpec = "easy".parse().expect("a policy");
    Experiment::new(&spec, &workload).run(&mut sim_segments).expect("simulates");
    let mut replay_segments = Segments::default();
    replay_rows(&workload, &easy, &outages, &mut replay_segments);
    let sort_segments = |segments: Segments| {
        let mut list: Vec<_> = segments.list.into_iter().map(|s| (s.job, s.start, s.end, s.procs)).collect();
        list.sort_unstable();
        list
    };
    assert_eq!(sort_segments(replay_segments), sort_segments(sim_segments));
}

#[test]
fn what_has_no_common_floor_is_refused() {
    let (outages, workload) = (Outages::default(), workload(1, 0.9));
    let easy = rows("easy", &workload, &outages);
    let of = |workload: &Workload, feedback, selection| {
        HeadroomCase::from_rows(workload, &easy, (&outages, feedback), (DelayMeasure::Wait, selection)).map(|_| ())
    };
    assert_eq!(of(&workload, true, JobSelection::All), Err(Refused::Feedback));
    assert_eq!(of(&workload, false, JobSelection::Tsafrir), Err(Refused::Trim(JobSelection::Tsafrir)));
    assert_eq!(of(&workload, false, JobSelection::All), Ok(()));
    // Other run times are other jobs.
    let case = HeadroomCase::from_rows(&workload, &easy, (&outages, false), (DelayMeasure::Wait, JobSelection::All))
        .expect("a floor");
    let mut longer = easy.clone();
    longer[7].ran += Span(1);
    longer[7].end += Span(1);
    assert_eq!((case.count_differing(&longer), case.extract_starts(&longer)), (1, None));
    assert_eq!(case.count_differing(&easy[1..]), easy.len());
}
