//! The product's engine against the naive definitions, start by start, on random workloads.

use crate::drawn::{learned, recent, with_few_estimates, words, workloads};
use drystone::engine::{Observer, Schedule, Simulation, WorkloadReplay};
use drystone::model::{EndedJob, Span, Time, Workload};
use drystone::policy::PolicySpec;
use drystone_reference::committed::{self, Rank};
use drystone_reference::easy::{
    self, Easy, NaiveEasyOrder, NaiveEasyOverdue, NaiveExtra, NaiveGrowth, NaiveLearnerPredictor, NaivePass,
    NaiveRecent, Reservations,
};
use drystone_reference::gaussier;
use drystone_reference::talby::{self, NaiveNotice};
use drystone_reference::{JobIn, JobOut, jobs_of};
use proptest::prelude::*;

fn simulate(workload: &Workload, policy: &str) -> Vec<JobOut> {
    let spec: PolicySpec = policy.parse().unwrap_or_else(|e| panic!("{e}"));
    let mut schedule = Schedule::default();
    Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload))
        .run(&mut schedule)
        .unwrap_or_else(|e| panic!("{policy}: {e}"));
    let out = |s: &Option<(Time, Time)>| s.map(|(start, end)| JobOut { start: start.0, end: end.0 });
    schedule.spans.iter().map(|s| out(s).expect("every job ends")).collect()
}

/// Both schedules are the same; if not, the difference that comes first in time is shown with all
/// jobs.
fn assert_same(policy: &str, jobs: &[JobIn], own: &[JobOut], naive: &[JobOut]) {
    assert_eq!(own.len(), naive.len());
    let different = (0..jobs.len()).filter(|&i| own[i] != naive[i]);
    if let Some(i) = different.min_by_key(|&i| own[i].start.min(naive[i].start)) {
        panic!("{policy}: job {i}: ours {:?}, by definition {:?}\n{jobs:?}", own[i], naive[i]);
    }
}

/// First start announced to each job.
struct FirstAnnounced(Vec<Option<i64>>);

impl Observer for FirstAnnounced {
    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        let at = job_end.id.0 as usize;
        self.0.resize(self.0.len().max(at + 1), None);
        self.0[at] = job_end.outcome.first_reservation.map(|time| time.0);
    }
}

/// Every job was announced the same start first, if any.
fn assert_same_announced(policy: &str, w: &Workload, naive: &[easy::NaiveRecord]) {
    let spec: PolicySpec = policy.parse().unwrap_or_else(|e| panic!("{e}"));
    let mut own = FirstAnnounced(vec![None; naive.len()]);
    Simulation::new(w.machine(), spec.build_scheduler(), WorkloadReplay::new(w))
        .run(&mut own)
        .unwrap_or_else(|e| panic!("{e}"));
    for (i, record) in naive.iter().enumerate() {
        assert_eq!(own.0[i], record.first_reservation, "{policy}: job {i} of {:?}", jobs_of(w));
    }
}

/// Returns the workload with estimates of at least a second.
fn with_estimates(w: Workload) -> Workload {
    let (machine, mut jobs, truth, provenance) = w.into_parts();
    jobs.iter_mut().for_each(|j| j.estimate = j.estimate.max(Span(1)));
    Workload::new(machine, jobs, truth, provenance).expect("sound")
}

const ORDERS: [(&str, NaiveEasyOrder); 8] = [
    ("fcfs", NaiveEasyOrder::Fcfs),
    ("sjf", NaiveEasyOrder::Shortest),
    ("ljf", NaiveEasyOrder::Longest),
    ("smallest", NaiveEasyOrder::SmallestArea),
    ("largest", NaiveEasyOrder::LargestArea),
    ("narrowest", NaiveEasyOrder::Narrowest),
    ("widest", NaiveEasyOrder::Widest),
    ("lxf", NaiveEasyOrder::LargestExpansion),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// The EASY family: every order of queue and backfilling, every reading of extra processors and
    /// overdue jobs, one pass or many, 0 to 5 reservations or no backfilling at all.
    #[test]
    fn the_easy_family(
        w in workloads(true, 0),
        queue in 0usize..8, backfill in 0usize..8, reserve in 0usize..7,
        first in any::<bool>(), stale in any::<bool>(), per_event in any::<bool>(),
    ) {
        let (queue_name, queue) = ORDERS[queue];
        let (backfill_name, backfill) = ORDERS[backfill];
        let (pass_name, pass) = if per_event { ("event", NaivePass::PerEvent) } else { ("instant", NaivePass::PerInstant) };
        let is_single = reserve == 1;
        let (extra_name, extra) = if first && is_single { ("first", NaiveExtra::FirstSufficient) } else { ("all", NaiveExtra::All) };
        let (overdue_name, overdue) = if stale && is_single { ("stale", NaiveEasyOverdue::Stale) } else { ("now", NaiveEasyOverdue::EndsNow) };
        let (policy, reservations) = if reserve == 6 {
            (format!("fcfs(order={queue_name},pass={pass_name})"), Reservations::NoOvertaking)
        } else {
            let text = format!("easy(order={queue_name},backfill={backfill_name},reserve={reserve},extra={extra_name},\
                overdue={overdue_name},pass={pass_name})");
            (text, Reservations::First(reserve))
        };
        let definition = Easy { pass, extra, overdue, queue, backfill, reservations, ..Easy::default() };
        // For how long a job that is predicted to run for no time holds its processors in a plan is
        // a matter of taste.
        let w = if (2..=5).contains(&reserve) { with_estimates(w) } else { w };
        let jobs = jobs_of(&w);
        let naive = easy::run(&definition, &jobs, 16).schedule();
        assert_same(&policy, &jobs, &simulate(&w, &policy), &naive);
    }

    /// The predictors and corrections of Tsafrir et al. 2007 with every parameter of section 7,
    /// quantiles, and guarded backfilling, in every order.
    #[test]
    fn predictions_from_history(
        w in prop_oneof![workloads(true, 0), workloads(true, 0).prop_map(with_few_estimates)],
        (kind, recent) in (0usize..8, recent()), doubled in any::<bool>(), correction in 0usize..6,
        sjf_queue in any::<bool>(), sjbf in any::<bool>(), paper in any::<bool>(), apart in 0usize..4,
    ) {
        let (name, predictor) = match kind {
            0 => ("estimate".to_string(), NaiveLearnerPredictor::Estimate),
            1 => ("perfect".to_string(), NaiveLearnerPredictor::Actual),
            2 => ("quantile(0.75,size=7,least=3)".to_string(), NaiveLearnerPredictor::Quantile { percent: 75, size: 7, least: 3 }),
            3 => ("recent(2)".to_string(), NaiveLearnerPredictor::Recent(NaiveRecent::default())),
            _ => (words(&recent), NaiveLearnerPredictor::Recent(recent)),
        };
        let name = if doubled { format!("double({name})") } else { name };
        let order = |shortest: bool| if shortest { ("sjf", NaiveEasyOrder::Shortest) } else { ("fcfs", NaiveEasyOrder::Fcfs) };
        let ((queue_name, queue), (backfill_name, backfill)) = (order(sjf_queue), order(sjbf || sjf_queue));
        let variant = if paper { "@tsafrir2007" } else { "" };
        let (correct, growth) = [
            ("none", NaiveGrowth::AtOnce),
            ("estimate", NaiveGrowth::AtOnce),
            ("gradual", NaiveGrowth::Gradual),
            ("exponential", NaiveGrowth::Exponential),
            ("steps", NaiveGrowth::Steps),
            ("doubling", NaiveGrowth::Doubling),
        ][correction];
        let choice = ["guard=prediction", "guard=estimate", "plan=estimate", "announce=estimate"][apart];
        let policy =
            format!("easy{variant}(order={queue_name},backfill={backfill_name},predict={name},correct={correct},{choice})");
        let definition = if paper {
            Easy { pass: NaivePass::PerEvent, extra: NaiveExtra::FirstSufficient, overdue: NaiveEasyOverdue::Stale, ..Easy::default() }
        } else {
            Easy::default()
        };
        let has_correction = correct != "none";
        let definition = Easy {
            guarded: apart == 1,
            plan_by_estimates: apart == 2,
            announce_by_estimates: apart == 3,
            ..definition
        };
        let definition = Easy { queue, backfill, predictor, doubled, corrected: has_correction, growth, ..definition };
        let jobs = jobs_of(&w);
        let naive = easy::run(&definition, &jobs, 16);
        assert_same(&policy, &jobs, &simulate(&w, &policy), &naive.schedule());
        assert_same_announced(&policy, &w, &naive.jobs);
    }

    /// The learned model, whose predictions are equal to the bit.
    #[test]
    fn predictions_that_are_learned(
        w in workloads(true, 0), (words, learned) in learned(), doubled in any::<bool>(), correct in any::<bool>(),
    ) {
        let name = if doubled { format!("double({words})") } else { words };
        let policy = format!("easy(backfill=sjf,predict={name},correct={})", if correct { "estimate" } else { "none" });
        let definition = Easy {
            backfill: NaiveEasyOrder::Shortest,
            predictor: NaiveLearnerPredictor::Learned(learned),
            doubled,
            corrected: correct,
            ..Easy::default()
        };
        let jobs = jobs_of(&w);
        let naive = easy::run(&definition, &jobs, 16).schedule();
        assert_same(&policy, &jobs, &simulate(&w, &policy), &naive);
    }

    /// Conservative backfilling with early and late notice, and the EASY of the same study.
    #[test]
    fn plans_of_talby_1999(w in workloads(false, 1)) {
        let jobs = jobs_of(&w);
        for (policy, scheduler, notice) in [
            ("conservative", talby::NaiveTalbyScheduler::Conservative, NaiveNotice::Immediate),
            ("conservative@talby1999", talby::NaiveTalbyScheduler::Conservative, NaiveNotice::Late),
            ("easy@talby1999", talby::NaiveTalbyScheduler::Easy, NaiveNotice::Late),
            ("easy@talby1999(notice=immediate)", talby::NaiveTalbyScheduler::Easy, NaiveNotice::Immediate),
        ] {
            let naive = talby::run(scheduler, notice, &jobs, 16).schedule;
            assert_same(policy, &jobs, &simulate(&w, policy), &naive);
        }
    }

    /// The simulator of RLScheduler: arrivals and ends of an instant one by one, a head that stays.
    #[test]
    fn a_head_that_is_chosen_once(w in workloads(true, 1), order in 0usize..5, backfilling in any::<bool>()) {
        let orders: [(&str, Rank<'_>); 5] = [
            ("fcfs", &|job, _| job.submit as f64),
            ("sjf", &|job, _| job.estimate as f64),
            ("widest", &|job, _| -job.procs as f64),
            ("((1+s)/e)^3*n", &|job, _| ((1.0 + job.submit as f64) / job.estimate as f64).powi(3) * job.procs as f64),
            ("-(w/e)*n", &|job, now| -((now - job.submit) as f64 / job.estimate as f64) * job.procs as f64),
        ];
        let (order, rank) = orders[order];
        let backfill = if backfilling { "fcfs" } else { "none" };
        let policy = format!("committed@rlscheduler2020(order={order},backfill={backfill})");
        let jobs = jobs_of(&w);
        assert_same(&policy, &jobs, &simulate(&w, &policy), &committed::run(rank, backfilling, &jobs, 16));
    }

    /// The simulator of Gaussier et al. 2015: schedulers, predictors, correctors.
    #[test]
    fn the_simulator_of_gaussier_2015(
        w in workloads(false, 1), scheduler in 0usize..3, predictor in 0usize..4, corrector in 0usize..3,
    ) {
        use gaussier::{Corrector, NaiveGaussierScheduler};
        let (backfill, arrive, scheduler) =
            [("fcfs", "fits", NaiveGaussierScheduler::Easy), ("sjf", "fits", NaiveGaussierScheduler::Sjbf), ("sjf", "always", NaiveGaussierScheduler::PlusPlus)][scheduler];
        let (predict, predictor) = [
            ("estimate", gaussier::NaiveGaussierPredictor::Requested),
            ("double(estimate)", gaussier::NaiveGaussierPredictor::DoubleRequested),
            ("perfect", gaussier::NaiveGaussierPredictor::Clairvoyant),
            ("recent(2,recency=termination,above=clip)", gaussier::NaiveGaussierPredictor::Tsafrir),
        ][predictor];
        let (correct, corrector) = [
            ("estimate", Corrector::Requested),
            ("steps", Corrector::Tsafrir),
            ("doubling", Corrector::RecursiveDoubling),
        ][corrector];
        // A prediction of 0 doubled stays 0 in the study's simulator, which would correct it for
        // ever.
        let zero_for_ever = correct == "doubling" && predict.starts_with("recent");
        let policy = format!("easy@gaussier2015(backfill={backfill},arrive={arrive},predict={predict},correct={correct})");
        let jobs = jobs_of(&w);
        if !zero_for_ever || jobs.iter().all(|j| j.run > 0) {
            let naive = gaussier::run(scheduler, predictor, corrector, &jobs, 16);
            assert_same(&policy, &jobs, &simulate(&w, &policy), &naive);
        }
    }
}
