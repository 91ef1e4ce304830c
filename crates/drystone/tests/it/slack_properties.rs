//! Slack-based backfilling on random workloads: against the naive definition, against conservative
//! backfilling, and its promises.

use crate::slack_support::{run_with, schedule, watch};
use drystone::engine::{Observer, Schedule, Simulation, WorkloadReplay};
use drystone::metrics::PromiseAudit;
use drystone::model::{Job, JobId, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
use drystone::policy::{PolicySpec, Priorities};
use drystone_reference::jobs_of;
use drystone_reference::talby::{
    self, Exponents, Heuristic, NaiveImportance, NaiveNotice, NaivePriority, NaiveRemoval, NaiveTalbyScheduler,
};
use proptest::prelude::*;

const PROCS: u32 = 8;

/// Jobs as (gap to the one before, processors, estimate, run).
type Raw = (i64, u32, i64, i64);

fn workload(raw: &[Raw]) -> Workload {
    let mut submit = 0;
    let jobs = raw.iter().map(|&(gap, procs, estimate, _)| {
        submit += gap;
        Job::new(Time(submit), procs, Span(estimate))
    });
    let truth = raw.iter().zip(100..).map(|(r, number)| Truth { run: Span(r.3), number, status: LogStatus::Unknown });
    Workload::new(Machine::new(PROCS), jobs.collect(), truth.collect(), Provenance::default()).expect("good jobs")
}

/// Jobs that never outlive their estimate; many arrive together, some run for 0 s.
fn punctual() -> impl Strategy<Value = Vec<Raw>> {
    let gap = prop_oneof![2 => Just(0i64), 3 => 0i64..30, 1 => 0i64..300];
    let job = (gap, 1..=PROCS, 1i64..200, prop_oneof![Just(0.0), Just(1.0), 0.0..1.0]);
    let cut = |(gap, procs, estimate, share): (i64, u32, i64, f64)| {
        (gap, procs, estimate, (estimate as f64 * share).floor() as i64)
    };
    prop::collection::vec(job.prop_map(cut), 1..40)
}

/// Jobs of which many outlive their estimate.
fn unruly() -> impl Strategy<Value = Vec<Raw>> {
    let job = (prop_oneof![Just(0i64), 0i64..40], 1..=PROCS, 1i64..200, 0i64..300);
    prop::collection::vec(job, 1..40)
}

fn importance() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let unit = || prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0];
    let political = prop_oneof![5 => unit(), 1 => Just(f64::NEG_INFINITY)];
    prop_oneof![Just(vec![(0.0, 0.0); 40]), prop::collection::vec((unit(), political), 40)]
}

/// Returns the priorities as a file.
fn priorities(importance: &[(f64, f64)], workload: &Workload) -> Priorities {
    let rule = |(truth, (up, pp)): (&Truth, &(f64, f64))| {
        format!("[[job]]\nnumber = {}\nup = {up:?}\npp = {pp:?}\n", truth.number)
    };
    let text: String = workload.truth().iter().zip(importance).map(rule).collect();
    Priorities::from_toml(&text).and_then(|p| p.for_workload(workload)).expect("good priorities")
}

fn cancellations(raw: &[(usize, i64)], workload: &Workload) -> Vec<(Time, JobId)> {
    let mut list: Vec<_> = raw
        .iter()
        .map(|&(at, after)| {
            let id = JobId((at % workload.len()) as u32);
            (workload.job(id).submit + Span(after), id)
        })
        .collect();
    list.sort_unstable();
    list
}

/// Names of the product and of the naive definition.
const ORDERS: [(&str, Heuristic); 5] = [
    ("ast", Heuristic::StartTime),
    ("aat", Heuristic::Arrival),
    ("du", Heuristic::Area),
    ("dc", Heuristic::Cost),
    ("dp", Heuristic::Priority),
];

/// Start of every job; `None` for one that was withdrawn.
fn starts(
    policy: &str,
    priorities: Option<Priorities>,
    workload: &Workload,
    withdrawals: &[(Time, JobId)],
) -> (Vec<Option<Time>>, PromiseAudit) {
    struct Starts(Vec<Option<Time>>);
    impl Observer for Starts {
        const ENDS: bool = false;
        fn note_start(&mut self, now: Time, id: JobId, _: drystone::policy::StartReason) {
            self.0[id.index()] = Some(now);
        }
    }
    let mut observer = (Starts(vec![None; workload.len()]), PromiseAudit::default());
    run_with(policy, priorities, workload, withdrawals, &mut observer);
    (observer.0.0, observer.1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Start by start the naive definition, with every parameter it has.
    #[test]
    fn agrees_with_the_naive_definition(
        raw in punctual(),
        importance in importance(),
        order in 0usize..5,
        slack_factor in prop_oneof![Just(0.0), Just(3.0), 0.0..10.0f64],
        average_wait in prop_oneof![Just(30.0), 1.0..400.0f64],
        weights in prop_oneof![3 => Just([1.0; 4]), 1 => prop::array::uniform4(0.0..=1.0f64), 1 => Just([0.0; 4])],
        (late, priced) in (any::<bool>(), any::<bool>()),
    ) {
        let workload = workload(&raw);
        let (name, heuristic) = ORDERS[order];
        let [au, at, ap, af] = weights;
        let policy = format!(
            "slack(sf={slack_factor:?},awt={average_wait:?},order={name},au={au:?},at={at:?},ap={ap:?},af={af:?},\
             notice={},remove={})",
            if late { "late" } else { "immediate" },
            if priced { "priced" } else { "compress" },
        );
        let naive = NaivePriority {
            slack_factor,
            average_wait,
            exponents: Exponents { procs: au, time: at, priority: ap, fairness: af },
            heuristic,
            removal: if priced { NaiveRemoval::Priced } else { NaiveRemoval::Compress },
            importance: importance.iter().map(|&(user, political)| NaiveImportance { user, political }).collect(),
        };
        let notice = if late { NaiveNotice::Late } else { NaiveNotice::Immediate };
        let expected = talby::run(NaiveTalbyScheduler::Priority(&naive), notice, &jobs_of(&workload), i64::from(PROCS));
        let (start_times, audit) = starts(&policy, Some(priorities(&importance, &workload)), &workload, &[]);
        let times: Vec<i64> = start_times.iter().map(|s| s.expect("every job starts").0).collect();
        let expected: Vec<i64> = expected.schedule.iter().map(|out| out.start).collect();
        prop_assert_eq!(times, expected, "{}", policy);
        prop_assert_eq!(audit.kept_promises().broken, 0);
    }

    /// No job starts after its bound where none outlives its estimate, whatever is withdrawn.
    #[test]
    fn promises_are_kept(
        raw in punctual(),
        importance in importance(),
        withdrawn in prop::collection::vec((0usize..40, 0i64..200), 0..10),
        policy in prop::sample::select(vec![
            "slack(awt=100)", "slack(awt=30,sf=9,order=dc)", "slack", "slack(order=exhaustive(4),awt=100)",
            "slack(awt=100,remove=priced,order=dp)", "slack@talby1999(awt=50,order=aat)", "slack(sf=0)",
        ]),
    ) {
        let workload = workload(&raw);
        let withdrawals = cancellations(&withdrawn, &workload);
        let (_, audit) = starts(policy, Some(priorities(&importance, &workload)), &workload, &withdrawals);
        prop_assert_eq!(audit.kept_promises().broken, 0, "{}: {:?}", policy, audit.kept_promises());
    }

    /// Even a machine that kills or prices extensions keeps them, where jobs outlive their
    /// estimates.
    #[test]
    fn a_tick_strategy_keeps_promises(
        raw in unruly(),
        withdrawn in prop::collection::vec((0usize..40, 0i64..200), 0..5),
        tick in prop::sample::select(vec!["kill", "overrun", "extend"]),
        order in 0usize..5,
        notice in prop::sample::select(vec!["immediate", "late"]),
    ) {
        let workload = workload(&raw);
        let policy = format!("slack(awt=100,tick={tick},order={},notice={notice},priorities=every(3,up=0.5))", ORDERS[order].0);
        let (_, audit) = starts(&policy, None, &workload, &cancellations(&withdrawn, &workload));
        prop_assert_eq!(audit.kept_promises().broken, 0, "{}: {:?}", policy, audit.kept_promises());
    }

    /// Without slack it is conservative backfilling, start by start, whatever happens.
    #[test]
    fn without_slack_it_is_conservative(
        raw in unruly(),
        withdrawn in prop::collection::vec((0usize..40, 0i64..200), 0..10),
        order in 0usize..5,
        rest in prop::sample::select(vec![
            "notice=immediate", "notice=late", "predict=recent(2)", "predict=recent(2),notice=late",
            "predict=double(estimate)", "predict=recent(2,propagate=running)",
        ]),
    ) {
        let workload = workload(&raw);
        let withdrawals = cancellations(&withdrawn, &workload);
        let conservative = starts(&format!("conservative({rest})"), None, &workload, &withdrawals).0;
        let slack = format!("slack(sf=0,awt=100,order={},{rest},priorities=every(2))", ORDERS[order].0);
        prop_assert_eq!(starts(&slack, None, &workload, &withdrawals).0, conservative);
    }

    /// A policy that kills at the estimate does what a log does whose jobs were killed there;
    /// corrections give no job more.
    #[test]
    fn killing_is_as_if_the_log_had_been_cut(
        raw in unruly(),
        rest in prop::sample::select(vec![
            "order=ast", "order=du", "notice=late", "remove=priced", "notice=late,order=dp", "correct=estimate",
            "notice=late,correct=steps", "remove=priced,correct=exponential",
        ]),
    ) {
        let policy = format!("slack(awt=100,tick=kill,{rest})");
        let cut: Vec<Raw> = raw.iter().map(|&(gap, procs, estimate, run)| (gap, procs, estimate, run.min(estimate))).collect();
        prop_assert_eq!(schedule(&policy, &workload(&raw)), schedule(&policy, &workload(&cut)));
    }

    /// Stopped and resumed anywhere, it decides the same.
    #[test]
    fn goes_on_from_a_saved_state(
        raw in unruly(),
        stop in 1usize..60,
        policy in prop::sample::select(vec![
            "slack", "slack@talby1999(awt=50)", "slack(awt=50,tick=extend)", "slack(awt=50,tick=overrun,remove=priced)",
            "slack(awt=50,order=dc,tick=kill,priorities=every(3))",
        ]),
    ) {
        let workload = workload(&raw);
        let spec: PolicySpec = policy.parse().expect("a good policy");
        let new = || Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(&workload));
        let mut record = Schedule::default();
        let mut first = new();
        for _ in 0..stop {
            if !first.step(&mut record).expect("sound") { break; }
        }
        let mut second = new();
        second.load(&first.save().expect("saved")).expect("loaded");
        second.run(&mut record).expect("sound");
        let mut whole = Schedule::default();
        watch(policy, &workload, &[], &mut whole);
        prop_assert_eq!(record, whole);
    }

    /// Running on until a job needs the processors delays none: every job starts when it would with
    /// killing, and a job that is alone runs to its end.
    #[test]
    fn guests_leave_when_they_are_in_the_way(raw in unruly()) {
        let alone: Vec<Raw> = raw.iter().take(1).copied().collect();
        let runs = schedule("slack(awt=50,tick=overrun)", &workload(&alone));
        prop_assert_eq!(runs[0].1 - runs[0].0, alone[0].3, "no other job is there");
        let kill_runs = schedule("slack(awt=50,tick=kill)", &workload(&raw));
        let guests = schedule("slack(awt=50,tick=overrun)", &workload(&raw));
        let starts = |s: &[(i64, i64)]| s.iter().map(|span| span.0).collect::<Vec<_>>();
        prop_assert_eq!(starts(&kill_runs), starts(&guests));
    }
}
