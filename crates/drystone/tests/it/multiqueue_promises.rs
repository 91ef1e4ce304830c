//! Guarantees of multiple queues, on made-up workloads: promises are kept, partitions sum to the
//! machine, no job starves, whatever the predictions.

use crate::common::{spec, starts, workload};
use drystone::engine::{Levels, Observer, Simulation, WorkloadReplay};
use drystone::metrics::PromiseAudit;
use drystone::model::{EndedJob, JobId, Procs, Span, Time, Workload};
use drystone::policy::{Gauge, StartReason};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const PROCS: Procs = 16;

/// (Time since the last submit, processors, run time, what the estimate adds).
type Raw = Vec<(i64, Procs, i64, i64)>;

fn raw() -> impl Strategy<Value = Raw> {
    let run = prop_oneof![0i64..=100, 101i64..=1_000, 1_001i64..=10_000, 10_001i64..=40_000];
    let procs = prop_oneof![4 => 1u32..=4, 2 => 1u32..=PROCS, 1 => Just(PROCS)];
    prop::collection::vec(
        (prop_oneof![Just(0i64), 0i64..=2_000], procs, run, prop_oneof![Just(0i64), 0i64..=20_000]),
        1..70,
    )
}

/// A workload with exact estimates, or with those given; `outlived` lets every third job outlive
/// its estimate.
fn made(raw: &Raw, exact: bool, has_overruns: bool) -> Workload {
    let mut submit = 0;
    let jobs = raw.iter().enumerate().map(|(i, &(gap, procs, run, more))| {
        submit += gap;
        match (exact, has_overruns && i % 3 == 0) {
            (true, _) => (submit, procs, run.max(1), run.max(1)),
            (_, true) => (submit, procs, run / 2, run),
            (_, false) => (submit, procs, run + more, run),
        }
    });
    workload(PROCS, &jobs.collect::<Vec<_>>())
}

/// Partition sizes and every promise ever made, as the policy tells them.
#[derive(Default)]
struct Watch {
    partitions: BTreeMap<u32, i64>,
    promised: BTreeMap<JobId, Vec<Time>>,
    started: BTreeMap<JobId, Time>,
    wrong: Vec<String>,
    waiting: BTreeSet<JobId>,
    /// Jobs that waited, the oldest of all, when they had not been promised anything.
    unpromised: BTreeSet<JobId>,
}

impl Observer for Watch {
    fn note_arrival(&mut self, _: Time, id: JobId) {
        self.waiting.insert(id);
    }

    fn note_gauge(&mut self, now: Time, gauge: Gauge, value: i64) {
        if let Gauge::Partition(number) = gauge {
            self.partitions.insert(number, value);
        }
        if value < 0 {
            self.wrong.push(format!("{gauge} is {value} at {now}"));
        }
    }

    fn note_reservation(&mut self, _: Time, id: JobId, start: Time, _: Time) {
        self.promised.entry(id).or_default().push(start);
    }

    fn note_start(&mut self, now: Time, id: JobId, _: StartReason) {
        self.started.insert(id, now);
        self.waiting.remove(&id);
    }

    fn note_end(&mut self, _: &EndedJob<'_>) {}

    fn note_settlement(&mut self, now: Time, _: Levels) {
        let sum: i64 = self.partitions.values().sum();
        if !self.partitions.is_empty() && sum != i64::from(PROCS) {
            self.wrong.push(format!("partitions sum to {sum} at {now}"));
        }
        self.unpromised.extend(self.waiting.first().filter(|id| !self.promised.contains_key(id)));
    }
}

fn watch(workload: &Workload, policy: &str) -> Watch {
    let mut observer = (Watch::default(), PromiseAudit::default());
    observe(workload, policy, &mut observer);
    observer.0
}

fn observe(workload: &Workload, policy: &str, observer: &mut impl Observer) {
    let mut simulation =
        Simulation::new(workload.machine(), spec(policy).build_scheduler(), WorkloadReplay::new(workload));
    simulation.run(observer).unwrap_or_else(|e| panic!("{policy}: {e}"));
}

/// Jobs that could start beside all that run and all that have a promise, and wait.
struct Overlooked<'a> {
    workload: &'a Workload,
    waiting: BTreeSet<JobId>,
    /// Jobs that wait and have a promise.
    promised: BTreeMap<JobId, Time>,
    running: BTreeMap<JobId, Time>,
    found: Option<(Time, JobId)>,
    /// True if the end of a job that outlives its estimate is put off, by a minute, then 15, 30
    /// minutes and so on; otherwise it is taken to end in the next second.
    extended: bool,
}

impl Overlooked<'_> {
    fn find(workload: &Workload, policy: &str) -> Option<(Time, JobId)> {
        let mut observer = Overlooked {
            workload,
            waiting: BTreeSet::new(),
            promised: BTreeMap::new(),
            running: BTreeMap::new(),
            found: None,
            extended: !policy.contains("overdue=now"),
        };
        observe(workload, policy, &mut observer);
        observer.found
    }

    /// Free processors at a time, as estimates say, or what becomes of them when they are outlived.
    fn free(&self, now: Time, at: Time) -> Procs {
        let until = |(&id, &start): (&JobId, &Time)| {
            let job = self.workload.job(id);
            let mut end = start + job.estimate;
            let mut more = [60].into_iter().chain((0..).map(|k| 900 << k));
            while self.extended && start < now && end <= now && self.running.contains_key(&id) {
                end += Span(more.next().unwrap_or(i64::MAX));
            }
            (start, end.max(start + Span(1)), job.procs)
        };
        let running = self.running.iter().map(until).map(|(start, end, procs)| (start, end.max(now + Span(1)), procs));
        let uses = running.chain(self.promised.iter().map(until)).filter(|&(start, end, _)| start <= at && at < end);
        PROCS - uses.map(|t| t.2).sum::<Procs>()
    }
}

impl Observer for Overlooked<'_> {
    fn note_arrival(&mut self, _: Time, id: JobId) {
        self.waiting.insert(id);
    }

    fn note_reservation(&mut self, _: Time, id: JobId, start: Time, _: Time) {
        self.promised.insert(id, start);
    }

    fn note_start(&mut self, now: Time, id: JobId, _: StartReason) {
        self.waiting.remove(&id);
        self.promised.remove(&id);
        self.running.insert(id, now);
    }

    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        self.running.remove(&job_end.id);
    }

    fn note_settlement(&mut self, now: Time, _: Levels) {
        // Free processors become less only where a promise begins.
        let begins = std::iter::once(now).chain(self.promised.values().copied());
        let free: Vec<(Time, Procs)> = begins.map(|at| (at, self.free(now, at))).collect();
        let fits = |id: &&JobId| {
            let (procs, end) = (self.workload.job(**id).procs, now + self.workload.job(**id).estimate.max(Span(1)));
            free.iter().all(|&(at, free)| at >= end || procs <= free)
        };
        let hit = self.waiting.iter().filter(|id| !self.promised.contains_key(id)).find(fits);
        self.found = self.found.or(hit.map(|&id| (now, id)));
    }
}

const EVERY: [&str; 14] = [
    "promise=pivot",
    "promise=eager",
    "promise=arrival",
    "own=fig4",
    "own=split",
    "delay=2500",
    "delay=300,adapt=bounded,batch=5",
    "delay=2500,hold=yes,promise=eager,batch=3",
    "delay=2500,read=now,batch=2",
    "delay=2500,wake=no",
    "bounds=auto,history=10",
    "bounds=auto,queues=auto,history=10,widths=4",
    "widths=1/8,own=fig4,delay=100",
    "bounds=none",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// With exact estimates a promise is never moved and is kept to the second. The job that has
    /// waited longest is the first of its queue and has one; the last job has to wait for another.
    #[test]
    fn exact_estimates_keep_every_promise(raw in raw()) {
        let wide = [(0, PROCS, 500, 0); 2];
        let workload = made(&raw.into_iter().chain(wide).collect(), true, false);
        for choice in ["promise=pivot", "promise=eager", "delay=2500,batch=4", "widths=2/8", "bounds=20/300/4000/20000"] {
            let record = watch(&workload, &format!("multiqueue({choice})"));
            prop_assert!(record.wrong.is_empty(), "{choice}: {:?}", record.wrong);
            prop_assert!(record.unpromised.is_empty(), "{choice}: {:?}", record.unpromised);
            prop_assert!(!record.promised.is_empty(), "{choice}");
            for (job, promises) in record.promised {
                prop_assert_eq!(promises, [record.started[&job]], "{}: {}", choice, job);
            }
        }
    }

    /// With one queue there is one promise: that of EASY.
    #[test]
    fn one_queue_is_easy(raw in raw()) {
        let workload = made(&raw, true, false);
        prop_assert_eq!(starts(&workload, "multiqueue(bounds=none)"), starts(&workload, "easy"));
    }

    /// Promises only become better when jobs end early, and borders or not move.
    #[test]
    fn early_ends_keep_every_promise(raw in raw()) {
        let workload = made(&raw, false, false);
        for choice in ["promise=pivot", "promise=eager", "delay=2500,batch=4", "bounds=auto,history=10"] {
            let record = watch(&workload, &format!("multiqueue({choice})"));
            prop_assert!(record.wrong.is_empty(), "{choice}: {:?}", record.wrong);
            for (job, mut promises) in record.promised {
                promises.push(record.started[&job]);
                prop_assert!(promises.is_sorted_by(|a, b| a >= b), "{}: {}: {:?}", choice, job, promises);
            }
        }
    }

    /// No job waits behind a pivot that would delay no promise, however wrong estimates are, and
    /// whenever jobs come.
    #[test]
    fn no_job_is_overlooked(raw in raw(), outlived in any::<bool>()) {
        let workload = made(&raw, false, outlived);
        for choice in
            ["promise=pivot", "promise=eager", "overdue=now", "overdue=now,promise=eager", "widths=2/8", "bounds=auto,history=10"]
        {
            prop_assert_eq!(Overlooked::find(&workload, &format!("multiqueue({choice})")), None, "{}", choice);
        }
    }

    /// Every variant brings every job to its end, whatever is predicted, and partitions stay
    /// partitions.
    #[test]
    fn every_variant_is_sound(raw in raw(), pass in prop::sample::select(vec!["instant", "event"])) {
        let workload = made(&raw, false, true);
        for choice in EVERY {
            for predict in ["", ",predict=recent(2)", ",predict=recent(2,window=immediate)", ",predict=perfect", ",correct=gradual"] {
                let record = watch(&workload, &format!("multiqueue({choice}{predict},pass={pass})"));
                prop_assert!(record.wrong.is_empty(), "{choice}{predict}: {:?}", record.wrong);
                prop_assert_eq!(record.started.len(), workload.len());
            }
        }
    }

    /// Stopped after any instant and resumed in a fresh program, it goes on as if nothing had
    /// happened. Some jobs are withdrawn.
    #[test]
    fn a_restored_policy_goes_on(raw in raw(), stop in 0usize..80, withdrawn in prop::collection::vec((0i64..30_000, 0u32..70), 0..6)) {
        let workload = made(&raw, false, true);
        let mut withdrawn: Vec<_> = withdrawn.into_iter()
            .filter(|w| w.1 < workload.len() as u32)
            .map(|(after, id)| (workload.job(JobId(id)).submit + drystone::model::Span(after), JobId(id)))
            .collect();
        withdrawn.sort();
        for choice in EVERY {
            let policy = spec(&format!("multiqueue({choice})"));
            let source = || WorkloadReplay::with_cancellations(&workload, &withdrawn);
            let whole = {
                let mut schedule = drystone::engine::Schedule::default();
                Simulation::new(workload.machine(), policy.build_scheduler(), source()).run(&mut schedule).expect(choice);
                schedule
            };
            let mut schedule = drystone::engine::Schedule::default();
            let mut first = Simulation::new(workload.machine(), policy.build_scheduler(), source());
            for _ in 0..stop {
                first.step(&mut schedule).expect(choice);
            }
            let bytes = first.save().expect("saves");
            let mut second = Simulation::new(workload.machine(), policy.build_scheduler(), source());
            second.load(&bytes).expect("loads");
            second.run(&mut schedule).expect(choice);
            prop_assert_eq!(&schedule, &whole, "{}", choice);
        }
    }
}

/// Short narrow jobs arrive for ever and would keep the machine busy; a job as wide as the machine
/// starts when those end that were there before it was promised its start.
#[test]
fn a_job_as_wide_as_the_machine_does_not_starve() {
    let stream = (0..4_000i64).map(|i| (i * 3, 1, 48, 48));
    for (run, least, most) in [(100, 0, 48), (5_000, 0, 48), (20_000, 0, 48)] {
        let mut jobs: Vec<_> = stream.clone().chain([(1_000, PROCS, run, run)]).collect();
        jobs.sort_by_key(|j| j.0);
        let wide = jobs.iter().position(|j| j.1 == PROCS).expect("there");
        let workload = workload(PROCS, &jobs);
        for policy in ["multiqueue", "multiqueue(promise=eager)", "multiqueue(bounds=none)"] {
            // In the queue of the short jobs it is not the pivot at once: up to 16 may be before
            // it.
            let wait = starts(&workload, policy)[wide] - 1_000;
            let before = if run == 100 || policy.contains("none") { 48 } else { 0 };
            assert!((least..=most + before).contains(&wait), "{policy}, {run} s: waits {wait} s");
        }
        // The oldest job comes first where promises follow arrival. (Figure 4 to the letter lets
        // jobs of its own queue overtake it as long as the stream lasts.)
        let wait = starts(&workload, "multiqueue(promise=arrival)")[wide] - 1_000;
        assert!((0..=96).contains(&wait), "promise=arrival, {run} s: waits {wait} s");
        // A delay comes on top, and is over at some time.
        for (policy, delay) in
            [("multiqueue(delay=600,adapt=fixed)", 600), ("multiqueue(delay=600,adapt=bounded)", 1_200)]
        {
            let wait = starts(&workload, policy)[wide] - 1_000;
            assert!(wait <= delay + 96, "{policy}, {run} s: waits {wait} s");
        }
    }
}

/// Four processors, by hand. The wide job of class 2 is promised 60, when the first ends. The short
/// job that would still run then may not start; the one that ends by 60 may. The long one of class
/// 4 may not use what class 2 was promised.
#[test]
fn a_schedule_by_hand() {
    let jobs = [(0, 3, 60, 60), (10, 4, 200, 200), (20, 1, 50, 50), (20, 1, 40, 40), (25, 1, 20_000, 20_000)];
    let workload = workload(4, &jobs);
    // Job 2 is the pivot of class 1, promised 260; job 3 overtakes it; job 4 is also promised 260.
    assert_eq!(starts(&workload, "multiqueue"), [0, 60, 260, 20, 260]);
    let promises = [(1, 60), (2, 260), (4, 260)].map(|(id, at)| (JobId(id), vec![Time(at)]));
    assert_eq!(watch(&workload, "multiqueue").promised, BTreeMap::from(promises));
}
