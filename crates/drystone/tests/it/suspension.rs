//! Preemption: two tasks by hand, invariants on random workloads, edge cases, and what suspension
//! costs.

use crate::common::{KTH, Outcomes, golden, golden_suspensions, owned, shared, spec, workload};
use drystone::engine::{Platform, SegmentEnd, Segments, Simulation, SimulationError, WorkloadReplay};
use drystone::log::clean::{CleaningOptions, CleaningStudy};
use drystone::model::{JobId, JobOutcome, Procs, Time, Workload};
use proptest::prelude::*;

fn run(w: &Workload, policy: &str, platform: &Platform) -> Result<(Vec<JobOutcome>, Segments), SimulationError> {
    let mut watching = (Outcomes::default(), Segments::default());
    Simulation::new(w.machine(), spec(policy).build_scheduler(), WorkloadReplay::new(w))
        .with_platform(platform)
        .run(&mut watching)?;
    let outcomes = watching.0.0.into_iter().map(|o| o.expect("every job ends")).collect();
    Ok((outcomes, watching.1))
}

fn outcomes(w: &Workload, policy: &str) -> Vec<JobOutcome> {
    run(w, policy, &Platform::default()).unwrap_or_else(|e| panic!("{policy}: {e}")).0
}

/// Section 4.1: two equal tasks that need the whole machine arrive together. With SF = 2^(1/(n+1))
/// they suspend each other at most n times. SF is rounded up in its last decimal here, and the
/// routine runs every second; the n-th suspension happens when the waiting task's expansion factor
/// has become SF^n, that is, after (SF^n − 1) of their length, as the paper derives.
#[test]
fn two_equal_tasks_suspend_each_other_as_often_as_computed() {
    const LENGTH: i64 = 1_000_000;
    let w = workload(4, &[(0, 4, LENGTH, LENGTH), (0, 4, LENGTH, LENGTH)]);
    for n in 0..6u32 {
        let exact = 2f64.powf(1.0 / f64::from(n + 1));
        let up = (exact * 1e6).ceil() / 1e6;
        let (results, segments) = run(&w, &format!("ss(sf={up:.6},every=1)"), &Platform::default()).expect("runs");
        assert_eq!(results.iter().map(|o| o.suspensions).sum::<u32>(), n, "SF = {up}");
        // A little below the bound there is one suspension more.
        let down = exact - 0.001;
        let more = outcomes(&w, &format!("ss(sf={down:.6},every=1)"));
        assert_eq!(more.iter().map(|o| o.suspensions).sum::<u32>(), n + 1, "SF = {down}");
        // A job that waits has waited all the time that the other ran: its factor is 1 + (waited) /
        // LENGTH.
        let mut starts: Vec<i64> = segments.list.iter().map(|s| s.start.0).collect();
        starts.sort_unstable();
        let mut waits = [0, 0];
        let mut tau = [1.0, 1.0f64];
        for (k, pair) in starts[1..=n as usize].iter().enumerate() {
            let (running, waiting) = (k % 2, 1 - k % 2);
            let since = starts[k];
            waits[waiting] += pair - since;
            tau[waiting] = 1.0 + waits[waiting] as f64 / LENGTH as f64;
            assert!((tau[waiting] / tau[running] - up).abs() < 5e-6, "suspension {k}: {tau:?}");
        }
    }
}

/// SF = 1: at every tick the two change places; the last seconds are whose turn it is.
#[test]
fn a_factor_of_one_alternates_with_the_granularity_of_the_routine() {
    let w = workload(4, &[(0, 4, 300, 300), (0, 4, 300, 300)]);
    let results = outcomes(&w, "ss(sf=1)");
    let total: u32 = results.iter().map(|o| o.suspensions).sum();
    // Ticks at 60, 120, …: task 0 runs
    // [0, 60), [120, 180), … Its last minute is [480, 540), and task 1 ends at 600.
    assert_eq!((total, results[0].end.0, results[1].end.0), (8, 540, 600));
}

/// Task 0 is withdrawn at 60, when it would be suspended: it ends there and then, and task 1 has
/// the machine.
#[test]
fn who_is_withdrawn_is_not_suspended_instead() {
    let w = workload(4, &[(0, 4, 300, 300), (0, 4, 300, 300)]);
    for (withdrawn, first, last) in [(59, (59, 0), 359), (60, (60, 0), 360), (61, (61, 1), 360)] {
        let cancellations = [(Time(withdrawn), JobId(0))];
        let source = WorkloadReplay::with_cancellations(&w, &cancellations);
        let mut watching = Outcomes::default();
        Simulation::new(w.machine(), spec("ss(sf=1)").build_scheduler(), source).run(&mut watching).expect("runs");
        let end_of = |id: usize| watching.0.get(id).cloned().flatten().map(|o| (o.end.0, o.suspensions));
        // At 61 it is suspended already, and withdrawn without ever going on.
        assert_eq!((end_of(0), end_of(1)), (Some(first), Some((last, 0))), "withdrawn at {withdrawn}");
    }
}

/// Task 0 has had its slice of 10 s by 10, when task 1 takes the machine, and is withdrawn at 15.
/// So no job is there to resume but task 1, which task 2 interrupts from 20 to 70.
#[test]
fn who_is_withdrawn_while_suspended_never_goes_on() {
    let w = workload(4, &[(0, 4, 1000, 1000), (5, 4, 1000, 1000), (20, 4, 50, 50)]);
    let cancellations = [(Time(15), JobId(0))];
    let mut watching = Outcomes::default();
    let source = WorkloadReplay::with_cancellations(&w, &cancellations);
    let scheduler = spec("is(slice=10,every=1,resume=free)").build_scheduler();
    Simulation::new(w.machine(), scheduler, source).run(&mut watching).expect("runs");
    let ends: Vec<_> = watching.0.iter().map(|o| o.as_ref().map(|o| o.end.0)).collect();
    assert_eq!(ends, [Some(15), Some(1060), Some(70)]);
    assert_eq!(watching.0[0].as_ref().map(|o| o.ran.0), Some(10));
}

/// A wide job arrives while a narrow one runs on 0; the narrow newcomer may not take what the
/// suspended one owns.
#[test]
fn owned_processors_are_not_taken_by_hand() {
    // 4 processors. Job 0 runs on 0-2 from 0 (estimate 6000). Job 1 (4 wide, 60 s) arrives at 0:
    // tau reaches 2 at 60. Then job 0 is suspended, job 1 runs on 0-3 from 60 to 120. At 120 job 0
    // resumes on 0-2. Job 2 (2 wide) arrives at 70: at 120 only processor 3 is not owned, so it
    // waits for job 0's end: 6060, or until its own factor suffices: (w + 600) / 600 >= 2 · (60 +
    // 6000) / 6000 = 2.02, w >= 612, from 682 on: the tick 720.
    let w = workload(4, &[(0, 3, 6_000, 6_000), (0, 4, 60, 60), (70, 2, 600, 600)]);
    let results = outcomes(&w, "ss");
    let spans: Vec<_> = results.iter().map(|o| (o.start.0, o.end.0, o.suspensions)).collect();
    // Job 2 takes 0-1 or 3 and one of 0-2; job 0 waits 720 to 1320.
    assert_eq!(spans, [(0, 6_660, 2), (60, 120, 0), (720, 1_320, 0)]);
    // Where ownership does not count, job 2, whose factor is 650/600 at 120 and that of job 0
    // 6060/6000, starts then on 0-1. Job 0, whose factor never is twice that, goes on when it has
    // ended, for its last 5,940 s.
    let lowest = outcomes(&w, "ss(place=lowest)");
    assert_eq!((lowest[2].start.0, lowest[2].end.0, lowest[0].end.0), (120, 720, 6_660));
}

/// Every job as wide as the machine: one after the other, and each gets what it is due.
#[test]
fn every_job_as_wide_as_the_machine() {
    let jobs: Vec<_> = (0..40).map(|i| (i * 20, 8, 40 + 300 * (i % 3), 40 + 300 * (i % 3))).collect();
    let w = workload(8, &jobs);
    let work: i64 = jobs.iter().map(|j| j.3).sum();
    for policy in ["ss", "ss(sf=1)", "tss", "is(slice=60)", "ss(place=contiguous)", "ss(migration=yes)"] {
        let (results, segments) = run(&w, policy, &Platform::default()).expect("runs");
        assert_eq!(results.iter().map(|o| o.end.0).max(), Some(work), "{policy}: the machine is never idle");
        sound(&w, &results, &segments, policy);
    }
}

/// No job has had its slice: none is suspended, and every job that fits the free processors starts.
#[test]
fn a_slice_longer_than_any_job() {
    let w = workload(4, &[(0, 3, 500, 500), (10, 2, 100, 100), (20, 1, 50, 50), (30, 4, 10, 10)]);
    let results = outcomes(&w, "is(slice=1000)");
    assert!(results.iter().all(|o| o.suspensions == 0));
    assert_eq!(results.iter().map(|o| o.start.0).collect::<Vec<_>>(), [0, 500, 20, 600]);
    // With the slice of the paper, job 1 suspends job 0 only when it has run for 600 s: it has
    // ended by then.
    assert_eq!(outcomes(&w, "is"), results);
}

#[test]
fn impossible_parameters_are_refused() {
    for (text, part) in [
        ("ss(sf=0.99)", "sf takes a decimal number from 1|auto"),
        ("ss(sf=-2)", "sf takes"),
        ("tss(means=1/2/3)", "16 numbers"),
        ("tss(limit=0)", "limit takes"),
        ("is(slice=0)", "slice takes seconds from 1"),
        ("ss(every=0)", "every takes"),
        ("ss(cap=0)", "cap takes"),
        ("ss(place=anywhere)", "place takes strict|priosf"),
        ("ss(place=priosf,migration=yes)", "own no processors"),
        ("tss(place=prio1,migration=yes)", "own no processors"),
        ("ss(target=much)", "target takes"),
    ] {
        let error = text.parse::<drystone::policy::PolicySpec>().expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

/// Never two jobs on one processor, run time received is run time due, and, unless told otherwise,
/// every segment of a job on the same processors.
fn sound(w: &Workload, results: &[JobOutcome], segments: &Segments, policy: &str) {
    let mut events = Vec::new();
    for (i, (outcome, truth)) in results.iter().zip(w.truth()).enumerate() {
        assert_eq!(outcome.ran, truth.run, "{policy}: job {i}");
        let mut mine: Vec<_> = segments.list.iter().filter(|s| s.job.index() == i).collect();
        mine.sort_by_key(|s| (s.start, s.end));
        assert_eq!(mine.len() as u32, outcome.suspensions + 1, "{policy}: job {i}");
        let run_sum: i64 = mine.iter().map(|s| (s.end - s.start).0).sum();
        assert_eq!(run_sum, (truth.run + outcome.overhead).0, "{policy}: job {i}");
        let set = |k: usize| mine[k].on.as_ref().expect("named");
        for (k, segment) in mine.iter().enumerate() {
            assert_eq!(set(k).len(), w.jobs()[i].procs);
            assert!(policy.contains("migration=yes") || set(k) == set(0), "{policy}: job {i} moved");
            assert_eq!(segment.then == SegmentEnd::Suspended, k + 1 < mine.len());
            for range in set(k).ranges() {
                if segment.end > segment.start {
                    events.extend(range.clone().map(|p| (p, segment.start, segment.end)));
                }
            }
        }
    }
    events.sort_unstable();
    let overlap = events.windows(2).find(|w| w[0].0 == w[1].0 && w[1].1 < w[0].2);
    assert_eq!(overlap, None, "{policy}: two jobs on one processor");
}

const POLICIES: [&str; 16] = [
    "ss(every=5)",
    "ss(sf=1,every=3)",
    "ss(sf=1.25,every=10,rule=skip)",
    "ss(every=5,rule=exit)",
    "ss(every=5,place=priosf)",
    "ss(every=5,place=prio1)",
    "ss(every=5,place=never)",
    "ss(every=5,place=avoid)",
    "ss(every=5,place=lowest)",
    "ss(every=5,place=contiguous,width=none)",
    "ss(every=5,starts=ticks)",
    "ss(sf=1.1,every=5,cap=1)",
    "ss(sf=1.1,every=5,relief=2,migration=yes)",
    "ss(sf=auto,every=5)",
    "tss(sf=1.2,every=5)",
    "is(slice=10,every=5)",
];

fn random_jobs() -> impl Strategy<Value = Workload> {
    let job = (0i64..300, prop_oneof![2 => 1u32..=3, 1 => 1u32..=8], 1i64..80, 1i64..80);
    (8u32..12, prop::collection::vec(job, 1..50)).prop_map(|(procs, jobs): (Procs, Vec<_>)| {
        let mut now = 0;
        let place = |(gap, width, estimate, run): (i64, u32, i64, i64)| {
            now += gap / 25;
            (now, width, estimate, run)
        };
        workload(procs, &jobs.into_iter().map(place).collect::<Vec<_>>())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The invariants under every choice, with and without a price.
    #[test]
    fn schedules_are_sound(w in random_jobs(), at in 0usize..16, price in 0usize..4) {
        let price = ["", "[suspension]\nlargest = 100\nrate = 50", "[suspension]\nlargest = 200\nrate = 100\npays = 'both'\nbusy = true",
            "[suspension]\nlargest = 200\nrate = 100\npays = 'read'"][price];
        // With SF = 1 and a price no job may ever end: that is an error of its own.
        let platform = if POLICIES[at].contains("sf=1,") { "" } else { price };
        let platform = Platform::from_toml(platform).expect("a platform");
        let (results, segments) = run(&w, POLICIES[at], &platform).expect("every job ends");
        sound(&w, &results, &segments, POLICIES[at]);
        prop_assert!(price.contains("rate") || results.iter().all(|o| o.overhead.0 == 0));
        if POLICIES[at].contains("cap=1") {
            prop_assert!(results.iter().all(|o| o.suspensions <= 1));
        }
    }

    /// A simulation on a machine where suspension costs something is saved and loaded again and
    /// again, and nothing changes.
    #[test]
    fn stopping_and_resuming_changes_nothing(w in random_jobs(), at in 0usize..16) {
        prop_assume!(!POLICIES[at].contains("sf=1,"));
        let platform = Platform::from_toml("[suspension]\nlargest = 200\nrate = 100\nbusy = true").expect("a platform");
        let new = || Simulation::new(w.machine(), spec(POLICIES[at]).build_scheduler(), WorkloadReplay::new(&w)).with_platform(&platform);
        let (mut whole, mut pieces) = (Outcomes::default(), Outcomes::default());
        new().run(&mut whole).expect("runs");
        let mut simulation = new();
        while simulation.step(&mut pieces).expect("runs") {
            let bytes = simulation.save().expect("saves");
            simulation = new();
            simulation.load(&bytes).expect("loads");
        }
        prop_assert_eq!(pieces.0, whole.0);
    }
}

/// If every suspension cost more than is run between two, no job would ever end: that is reported,
/// not computed for ever.
#[test]
fn endless_thrashing_is_found_out() {
    let w = workload(4, &[(0, 4, 6_000, 6_000), (0, 4, 6_000, 6_000)]);
    let platform = Platform::from_toml("[suspension]\nsmallest = 1000").expect("a platform");
    let error = run(&w, "ss(sf=1)", &platform).expect_err("never ends");
    let text = error.to_string();
    assert!(text.contains("submitted at 0 s") && text.contains("a higher sf, or cap="), "{text}");
    let (results, _) = run(&w, "ss(sf=1,cap=3)", &platform).expect("ends");
    assert!(results.iter().all(|o| o.suspensions <= 3));
}

/// The cost of suspension, by hand: job 0 is suspended at 60 and continues at 120. 200 MB at 2 MB/s
/// take 100 s.
#[test]
fn overhead_by_hand() {
    let w = workload(4, &[(0, 3, 6_000, 6_000), (0, 4, 60, 60)]);
    for (pays, busy, ends, overheads) in [
        ("write", false, [6_160, 120], [100, 0]),
        ("read", false, [6_160, 120], [100, 0]),
        ("both", false, [6_260, 120], [200, 0]),
        // Job 1 has the processors from 60 on, but begins at 160, when job 0's memory is written.
        ("write", true, [6_160, 220], [0, 100]),
        ("both", true, [6_260, 220], [100, 100]),
        ("read", true, [6_160, 120], [100, 0]),
    ] {
        let text = format!("[suspension]\nsmallest = 200\nlargest = 200\npays = '{pays}'\nbusy = {busy}");
        let (results, _) = run(&w, "ss", &Platform::from_toml(&text).expect("a platform")).expect("ends");
        assert_eq!([results[0].end.0, results[1].end.0], ends, "{text}");
        assert_eq!([results[0].overhead.0, results[1].overhead.0], overheads, "{text}");
        assert_eq!((results[0].ran.0, results[0].suspensions), (6_000, 1), "{text}");
    }
}

/// The first output of splitmix64 for 1, the number of the job in its log, leaves 605 when divided
/// by 901: 705 MB per processor (rule S11), which take 353 s at 2 MB/s. Another seed draws other
/// sizes.
#[test]
fn memory_is_drawn_by_job_and_seed() {
    let w = workload(4, &[(0, 3, 6_000, 6_000), (0, 4, 60, 60)]);
    let overhead = |seed: u64| {
        let platform = Platform::from_toml(&format!("[suspension]\nseed = {seed}")).expect("a platform");
        run(&w, "ss", &platform).expect("ends").0[0].overhead.0
    };
    assert_eq!(overhead(0), 353);
    let mut overheads: Vec<i64> = (1..6).map(overhead).collect();
    assert!(overheads.iter().all(|o| (50..=500).contains(o)), "{overheads:?}");
    overheads.push(353);
    overheads.sort_unstable();
    overheads.dedup();
    assert_eq!(overheads.len(), 6, "{overheads:?}");
}

/// The independent schedule in which every suspension is paid for by writing the job's memory (rule
/// S11).
#[test]
fn overhead_of_writing_on_kth() {
    let options = CleaningOptions { take: Some(5_000), procs: Some(100), ..CleaningStudy::Kettimuthu2005.options() };
    let Some(file) = shared(&format!("traces/{KTH}.swf.gz")) else { return };
    let kth = drystone::log::load_log(file, &options).expect("a good log").workload;
    let Some(rows) = golden("preempt/kth5000-ss2-overhead-write") else { return };
    let platform = Platform::from_toml("[suspension]").expect("the defaults are the paper's");
    let (results, _) = run(&kth, "ss", &platform).expect("runs");
    let own_rows: Vec<[i64; 4]> = (0..kth.len())
        .map(|i| [kth.truth()[i].number, kth.jobs()[i].submit.0, results[i].start.0, results[i].end.0])
        .collect();
    let wrong = own_rows.iter().zip(&rows).filter(|(own, rival)| own != rival).count();
    assert_eq!((own_rows.len(), wrong), (rows.len(), 0));
    let suspensions: Vec<i64> = results.iter().map(|o| i64::from(o.suspensions)).collect();
    assert_eq!(Some(suspensions), golden_suspensions("preempt/kth5000-ss2-overhead-write"));
}

/// Job 1 is predicted to run for 10 s, as its user's job 0 did. It runs from 10 to 14 and from 15
/// to 23: after 10 s of its own, at 21, and no later, it is corrected.
#[test]
fn what_ran_before_a_suspension_counts_for_the_prediction() {
    let w = owned(&workload(1, &[(0, 1, 100, 10), (10, 1, 100, 12), (13, 1, 1, 1)]), &[1, 1, 2]);
    let corrections: Vec<_> =
        outcomes(&w, "ss(sf=2,every=2,predict=recent(1))").iter().map(|o| o.corrections).collect();
    assert_eq!(corrections, [0, 1, 0]);
}

/// Job 0 is suspended from 4 to 5, when its user's job 2 ends. That it was not running then does
/// not make it forgotten: when job 1 ends at 40 it is predicted to run for 40 s, as job 1 did, and
/// is corrected at 41.
#[test]
fn a_job_that_was_suspended_is_predicted_anew_later() {
    let w = owned(&workload(2, &[(0, 1, 100, 50), (0, 1, 100, 40), (3, 1, 1, 1)]), &[1, 1, 1]);
    let policy = "ss(sf=2,every=2,predict=recent(1,recency=termination,propagate=running))";
    let corrections: Vec<_> = outcomes(&w, policy).iter().map(|o| o.corrections).collect();
    assert_eq!(corrections, [1, 1, 0]);
}
