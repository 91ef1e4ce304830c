//! Amounts of resources that change over time: the product against the naive definitions, against
//! processors that go and come back, and by hand.

use crate::resources_drystone::{IN_PLACE, MACHINE, jobs, simulate, simulate_losing, workload};
use drystone::engine::{Segments, Simulation, WorkloadReplay};
use drystone::model::{Machine, Outage, Outages, ResourceId, SupplyStep, Time, Which, Workload};
use drystone::policy::PolicySpec;
use drystone_reference::jobs_of;
use drystone_reference::supplied::{self, NaiveSupply, SuppliedRule};
use drystone_reference::vectors::VectorJob;
use proptest::prelude::*;

/// From here on there is all of everything.
const LAST: i64 = 600;

/// Changes of memory and GPUs, in the end back to what there was.
fn supply() -> impl Strategy<Value = Vec<NaiveSupply>> {
    let step = (1usize..=2, 0i64..400, 0i64..=24, prop_oneof![Just(0i64), 0i64..120, Just(1_000i64)]);
    let last = prop_oneof![Just(0i64), Just(100i64), Just(2_000i64)];
    (prop::collection::vec(step, 1..6), last).prop_map(|(steps, last)| {
        let mut changes: Vec<NaiveSupply> = Vec::new();
        for (resource, from, amount, ahead) in steps {
            let amount = if resource == 2 { amount % 5 } else { amount };
            if !changes.iter().any(|step| (step.resource, step.from) == (resource, from)) {
                changes.push(NaiveSupply { resource, from, amount, known: from - ahead });
            }
        }
        for (resource, &amount) in MACHINE.iter().enumerate().skip(1) {
            changes.push(NaiveSupply { resource, from: LAST, amount, known: LAST - last });
        }
        changes
    })
}

/// Returns the workload with these amounts of resources over time.
fn supplied(workload: Workload, supply: &[NaiveSupply]) -> Workload {
    let step = |step: &NaiveSupply| SupplyStep {
        resource: ResourceId(step.resource as u16 - 1),
        from: Time(step.from),
        amount: step.amount as u64,
        announced: (step.known < step.from).then_some(Time(step.known)),
    };
    let steps: Vec<SupplyStep> = supply.iter().map(step).collect();
    let table = workload.resources().expect("some").with_supply(&steps).expect("possible");
    workload.with_supply_of(table)
}

fn assert_same(policy: &str, rule: SuppliedRule, jobs: &[VectorJob], supply: &[NaiveSupply]) {
    let own = simulate(&supplied(workload(jobs, &MACHINE), supply), policy);
    let naive = supplied::run(rule, jobs, &MACHINE, supply);
    let different = (0..jobs.len()).filter(|&i| own[i] != naive[i]);
    if let Some(i) = different.min_by_key(|&i| own[i].start.min(naive[i].start)) {
        panic!("{policy}: job {i}: ours {:?}, by definition {:?}\n{jobs:?}\n{supply:?}", own[i], naive[i]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_024))]

    /// First come first served, greedy and EASY with 1 to 4 reservations, with jobs that outlive
    /// their predictions.
    #[test]
    fn easy_with_changing_supply(
        jobs in jobs(true), supply in supply(), shortest in any::<(bool, bool)>(), reservations in 0usize..5,
        backfills in any::<bool>(),
    ) {
        let backfills = backfills || reservations > 0;
        let name = |shortest: bool| if shortest { "sjf" } else { "fcfs" };
        let shortest = if backfills { shortest } else { (false, false) };
        let policy = match backfills {
            true => format!(
                "easy(order={},backfill={},reserve={reservations},extra=all,overdue=now)",
                name(shortest.0),
                name(shortest.1)
            ),
            false => "fcfs".to_string(),
        };
        assert_same(&policy, SuppliedRule::Easy { shortest, backfills, reservations }, &jobs, &supply);
    }

    /// Conservative backfilling.
    #[test]
    fn conservative_with_changing_supply(jobs in jobs(false), supply in supply()) {
        assert_same("conservative", SuppliedRule::Conservative, &jobs, &supply);
    }

    /// Slack-based backfilling without slack, where every job has a place at any time: it is known
    /// that there is all of everything in the end.
    #[test]
    fn slack_with_changing_supply(jobs in jobs(false), supply in supply()) {
        let announcement = |step: &NaiveSupply| if step.from == LAST { -1_000 } else { step.known };
        let supply: Vec<NaiveSupply> =
            supply.iter().map(|step| NaiveSupply { known: announcement(step), ..*step }).collect();
        assert_same("slack(sf=0,horizon=all)", SuppliedRule::Conservative, &jobs, &supply);
    }

    /// The heuristic path of a search, which is all of it where it may place no further node.
    #[test]
    fn goal_with_changing_supply(jobs in jobs(false), supply in supply()) {
        assert_same("goal(nodes=0,search=dds-fcfs,depth=all)", SuppliedRule::Heuristic, &jobs, &supply);
    }
}

/// Processors that are out for a while and come back when expected, all of it known before the
/// first job. So no job runs on them when they go. Processors of such a job would be back only when
/// that job ends, whatever other jobs give back before.
fn outages() -> impl Strategy<Value = Vec<Outage>> {
    let outage = (0i64..300, 1i64..80, 1u32..=6);
    prop::collection::vec(outage, 1..4).prop_map(|list| {
        let each = |(begin, length, procs): (i64, i64, u32)| {
            let end = Some(Time(begin + length));
            let notice = Some(Time(-1_000));
            Outage { announced: notice, expected: end, ..Outage::new_drain(Which::Count(procs), Time(begin), end) }
        };
        list.into_iter().map(each).collect()
    })
}

/// As much of resource 1 as there are processors beside these outages, which do not overlap.
fn as_supply(outages: &Outages, procs: i64) -> Vec<NaiveSupply> {
    let of = |outage: &Outage| {
        let announcement = outage.known_time().0;
        let step = |from: Time, amount| NaiveSupply { resource: 1, from: from.0, amount, known: announcement };
        [step(outage.begin, procs - i64::from(outage.procs())), step(outage.end_time(), procs)]
    };
    outages.list().iter().flat_map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Schedules are the same to the second, under every family, whether processors are out or
    /// there is less of a resource that binds in their place while processors abound. No job
    /// outlives its prediction, since a processor that goes with such a job is back only when that
    /// job ends.
    #[test]
    fn supply_changes_as_processors_do(w in crate::drawn::workloads(false, 1), list in outages()) {
        let mut apart: Vec<Outage> = Vec::new();
        let mut list = list;
        list.sort_by_key(|outage| outage.begin);
        for outage in list {
            if apart.last().is_none_or(|last| last.end_time() < outage.begin) {
                apart.push(outage);
            }
        }
        let outages = Outages::new(Machine::new(16), apart).expect("possible");
        let place = |job: &drystone_reference::JobIn| VectorJob {
            submit: job.submit, estimate: job.estimate, run: job.run, asks: vec![job.procs, job.procs],
        };
        let vectors: Vec<VectorJob> = jobs_of(&w).iter().map(place).collect();
        let bound = supplied(workload(&vectors, &[100_000, 16]), &as_supply(&outages, 16));
        // Which processors go with jobs that should have ended is a matter of processors, and the
        // reference values of version C count no processors that come back behind others that go.
        let differs = |policy: &&&str| policy.contains("tick=") || policy.contains("version=c");
        for policy in IN_PLACE.iter().filter(|policy| !differs(policy)) {
            prop_assert_eq!(simulate(&bound, policy), simulate_losing(&w, &outages, policy), "{}", policy);
        }
    }
}

/// Policies of every family, and variants of those that suspend jobs.
const EVERY: [&str; 17] = [
    "fcfs",
    "greedy",
    "easy",
    "easy(reserve=3)",
    "easy(order=lxf,backfill=sjf)",
    "committed(backfill=fcfs)",
    "conservative",
    "conservative(horizon=3)",
    "slack(awt=50)",
    "slack(awt=50,order=exhaustive(4))",
    "goal(nodes=100)",
    "goal(nodes=100,version=c)",
    "multiqueue(bounds=10/50)",
    "ss",
    "ss(migration=yes)",
    "tss",
    "is",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// No policy lets jobs run into less than they hold if predictions are right and all changes
    /// are known from the beginning. If changes come as a surprise, no job starts or resumes beyond
    /// what there is then. Every job ends.
    #[test]
    fn no_job_runs_into_less_than_it_holds(
        jobs in jobs(false), supply in supply(), surprise in any::<bool>(), policy in 0usize..EVERY.len(),
    ) {
        let policy = EVERY[policy];
        let exact: Vec<VectorJob> = jobs.iter().map(|job| VectorJob { estimate: job.run, ..job.clone() }).collect();
        let announcement = |step: &NaiveSupply| if surprise { step.from } else { -5_000 };
        let supply: Vec<NaiveSupply> =
            supply.iter().map(|step| NaiveSupply { known: announcement(step), ..*step }).collect();
        let w = supplied(workload(&exact, &MACHINE), &supply);
        let spec: PolicySpec = policy.parse().expect("a policy");
        let mut segments = Segments::default();
        let ran = Simulation::new(w.machine(), spec.build_scheduler(), WorkloadReplay::new(&w)).run(&mut segments);
        prop_assert!(ran.is_ok(), "{}: {:?}", policy, ran);
        let amount_at = |r: usize, at: i64| {
            let steps = supply.iter().filter(|step| step.resource == r && step.from <= at);
            steps.max_by_key(|step| step.from).map_or(MACHINE[r], |step| step.amount)
        };
        let use_at = |r: usize, at: i64| -> i64 {
            let runs = segments.list.iter().filter(|s| s.start.0 <= at && at < s.end.0);
            runs.map(|s| exact[s.job.index()].asks[r]).sum()
        };
        let starts = segments.list.iter().map(|s| (s.start.0, Some(s.job.index())));
        let steps = supply.iter().filter(|_| !surprise).map(|step| (step.from, None));
        for (at, job) in starts.chain(steps) {
            for r in 1..=2 {
                let asks = job.is_none_or(|job| exact[job].asks[r] > 0);
                prop_assert!(
                    !asks || use_at(r, at) <= amount_at(r, at),
                    "{}: at {} {} of resource {} are held, and there are {}", policy, at, use_at(r, at), r, amount_at(r, at)
                );
            }
        }
    }

    /// A state saved at any instant and restored goes on as if nothing had happened.
    #[test]
    fn states_keep_the_supply(jobs in jobs(false), supply in supply(), at in 0usize..60, policy in 0usize..EVERY.len()) {
        let policy = EVERY[policy];
        let w = supplied(workload(&jobs, &MACHINE), &supply);
        let spec: PolicySpec = policy.parse().expect("a policy");
        let new = || Simulation::new(w.machine(), spec.build_scheduler(), WorkloadReplay::new(&w));
        let (mut whole, mut first, mut second) = (Segments::default(), Segments::default(), Segments::default());
        new().run(&mut whole).expect("to its end");
        let mut simulation = new();
        for _ in 0..at {
            simulation.step(&mut first).expect("sound");
        }
        let bytes = simulation.save().expect("saved");
        let mut again = new();
        again.load(&bytes).expect("restored");
        prop_assert_eq!(again.save().expect("saved"), bytes);
        again.run(&mut second).expect("to its end");
        simulation.run(&mut first).expect("to its end");
        let end = |list: &[drystone::engine::Segment], job: usize| {
            list.iter().filter(|s| s.job.index() == job).map(|s| (s.start, s.end)).next_back()
        };
        for job in 0..jobs.len() {
            prop_assert_eq!(end(&first.list, job), end(&whole.list, job), "{}: job {}", policy, job);
            if let Some(last) = end(&second.list, job) {
                prop_assert_eq!(Some(last), end(&whole.list, job), "{}: job {}", policy, job);
            }
        }
    }
}

/// Jobs by hand: submit, run time (also its estimate), processors and licences.
fn by_hand(rows: &[(i64, i64, [i64; 2])]) -> Vec<VectorJob> {
    let job =
        |&(submit, run, asks): &(i64, i64, [i64; 2])| VectorJob { submit, estimate: run, run, asks: asks.to_vec() };
    rows.iter().map(job).collect()
}

fn starts(rows: &[(i64, i64, [i64; 2])], steps: &[(i64, i64, i64)], policy: &str) -> Vec<i64> {
    let step = |&(from, amount, notice): &(i64, i64, i64)| NaiveSupply { resource: 1, from, amount, known: notice };
    let supply: Vec<NaiveSupply> = steps.iter().map(step).collect();
    simulate(&supplied(workload(&by_hand(rows), &[8, 4]), &supply), policy).iter().map(|job| job.start).collect()
}

/// 8 processors and 4 licences, of which there are 2 from 100 to 200, as is known from 0 on.
///
/// Job 0 holds 2 licences until 90. Job 1 (3 licences, 60 s) would fit from 90 on, but runs into
/// 100: it has to wait until 200. Job 2 (2 licences, 50 s) runs at once, from 10 to 60, for it ends
/// before 100. Job 3 (2 licences, 120 s) comes at 20, when all are taken; from 60 on 2 are free
/// until 200 beside nothing that is planned before, so it runs from 60 to 180, through the time of
/// less: 2 are there. Job 4 (1 licence, 30 s) comes at 30: at 90 job 0 gives 2 back, and before 100
/// there is no time for it; then job 3 has both. It fits at 180, when job 3 ends, and holds up to
/// 210 what job 1 leaves over (1 of 4). Job 5 (no licence) starts as it comes.
#[test]
fn a_known_loss_of_licences_by_hand() {
    let rows =
        [(0, 90, [1, 2]), (5, 60, [1, 3]), (10, 50, [1, 2]), (20, 120, [1, 2]), (30, 30, [1, 1]), (40, 500, [1, 0])];
    let steps = [(100, 2, 0), (200, 4, 0)];
    for policy in ["easy", "conservative", "slack(sf=0)", "multiqueue(bounds=none)", "easy(reserve=2)"] {
        assert_eq!(starts(&rows, &steps, policy), [0, 200, 10, 60, 180, 40], "{policy}");
    }
    // With slack job 4 runs in the place of job 3, from 60 to 90, and gains 120 s by that. Job 3
    // waits 30 s longer, until 90, and job 1, which needs 3 of 4, until job 3 ends at 210: 40 s in
    // all, for jobs of one processor each.
    assert_eq!(starts(&rows, &steps, "slack"), [0, 210, 10, 90, 60, 40]);
    // Nothing overtakes job 1 in the queue, nor, from 260 on, job 4 while jobs 2 and 3 hold all.
    assert_eq!(starts(&rows, &steps, "fcfs"), [0, 200, 260, 260, 310, 310]);
}

/// 8 processors and 4 licences, of which there are 2 from 100 on, as is known from 0 on. No job
/// asks for any.
///
/// Jobs 0 and 1 hold 5 processors and 1. They should end at 10 and 60, but run until 200. Job 2
/// needs 6 and is planned at 10, when 7 are free: 1 is left over until 60. Job 3 (2 processors,
/// 20 s) comes at 3 and needs 2 where 1 is left over, so it waits. From 60 on job 1 counts as ended
/// as well, and 2 are left over. Nothing happens at 60; job 4 (3 processors) comes at 61 and does
/// not fit what is free, but job 3 starts then. Job 4 has to wait for job 2, from 200 until 210.
#[test]
fn a_job_starts_as_others_become_overdue_by_hand() {
    let job = |(submit, estimate, run, procs): (i64, i64, i64, i64)| VectorJob {
        submit,
        estimate,
        run,
        asks: vec![procs, 0],
    };
    let jobs = [(0, 10, 200, 5), (0, 60, 200, 1), (1, 10, 10, 6), (3, 20, 20, 2), (61, 10, 10, 3)].map(job);
    let workload = workload(&jobs, &[8, 4]);
    let less = NaiveSupply { resource: 1, from: 100, amount: 2, known: 0 };
    for workload in [&supplied(workload.clone(), &[less]), &workload] {
        let starts: Vec<i64> = simulate(workload, "easy(overdue=now)").iter().map(|job| job.start).collect();
        assert_eq!(starts, [0, 0, 200, 61, 210]);
    }
}

/// Job 1 starts at 90 and keeps its 3 licences when, unannounced, only 2 are left. No licence is
/// free before it ends at 150, when job 3 starts.
#[test]
fn an_unknown_loss_of_licences_by_hand() {
    let rows = [(0, 90, [1, 2]), (5, 60, [1, 3]), (95, 5, [1, 0]), (96, 10, [1, 1])];
    let steps = [(100, 2, 100), (200, 4, 200)];
    for policy in ["fcfs", "easy", "conservative", "slack", "multiqueue(bounds=none)", "ss", "is", "committed"] {
        assert_eq!(starts(&rows, &steps, policy), [0, 90, 95, 96], "{policy}");
    }
    // Of 4 licences 3 are held; one more starts at 96 and holds the fourth. From 100 on 2 are too
    // many, so the next waits until one is free of 2: at 150.
    let more = [&rows[..], &[(101, 10, [1, 1])]].concat();
    for policy in ["fcfs", "easy", "conservative", "slack", "multiqueue(bounds=none)", "ss", "is", "committed"] {
        assert_eq!(starts(&more, &steps, policy), [0, 90, 95, 96, 150], "{policy}");
    }
}

/// A job that asks for more than there is, and than is known to come, holds up no other, under any
/// policy: it waits outside the queue until there is enough.
#[test]
fn a_job_without_its_licences_holds_up_no_other() {
    let rows = [(0, 10, [8, 3]), (1, 10, [8, 0]), (2, 10, [8, 1])];
    let steps = [(-50, 2, -50), (500, 4, 500)];
    for policy in EVERY {
        assert_eq!(starts(&rows, &steps, policy), [500, 1, 11], "{policy}");
    }
    // Known ahead, it has a place, and no other job is in its way.
    let steps = [(-50, 2, -50), (500, 4, -50)];
    for policy in ["easy", "conservative", "slack", "multiqueue(bounds=none)", "committed(backfill=fcfs)"] {
        assert_eq!(starts(&rows, &steps, policy), [500, 1, 11], "{policy}");
    }
    // In the order of arrival all wait for it.
    assert_eq!(starts(&rows, &steps, "fcfs"), [500, 510, 520]);
}
