//! Drystone on machines that lose processors against the naive definition, start by start, on
//! random jobs and outages, with and without checkpoints.

use drystone::engine::{CheckpointRule, Checkpoints, Happenings, Observer, Platform, Simulation, SimulationError};
use drystone::model::{
    EndedJob, Job, JobId, LogStatus, Machine, Outage, OutageHit, Outages, ProcSet, Procs, Provenance, Span, Time,
    Truth, Which, Workload,
};
use drystone::policy::PolicySpec;
use drystone_reference::checkpoints::NaiveCheckpoints;
use drystone_reference::jobs_of;
use drystone_reference::outages::{self, NaiveOutcome, NaiveRule, NaiveWaste, OutageIn};
use proptest::prelude::*;

const PROCS: u32 = 8;

/// Jobs by gap, width, estimate and the part of it that they run.
type Row = (i64, u32, i64, f64);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let share = prop_oneof![2 => Just(1.0), 1 => 0.0..1.0f64];
    let estimate = prop_oneof![4 => 1i64..60, 1 => 100i64..3_000];
    prop::collection::vec((prop_oneof![Just(0i64), 0i64..40], 1..=PROCS, estimate, share), 1..25)
}

fn workload(rows: &[Row], exact: bool) -> Workload {
    let (mut jobs, mut truth, mut now) = (Vec::new(), Vec::new(), 0);
    for (number, &(gap, procs, estimate, share)) in (1..).zip(rows) {
        now += gap;
        jobs.push(Job::new(Time(now), procs, Span(estimate)));
        let run = if exact { estimate } else { (estimate as f64 * share) as i64 };
        truth.push(Truth { run: Span(run), number, status: LogStatus::Completed });
    }
    Workload::new(Machine::new(PROCS), jobs, truth, Provenance::default()).expect("sound")
}

/// Outages by first processor, count, beginning, length, notice, what is expected, what becomes of
/// jobs.
type Lost = (u32, u32, i64, i64, i64, u8, u8);

fn lost() -> impl Strategy<Value = Vec<Lost>> {
    let notice = prop_oneof![1 => Just(0i64), 1 => 1i64..100];
    let one = (0..PROCS, 1u32..=4, 0i64..300, 1i64..150, notice, 0u8..4, 0u8..3);
    prop::collection::vec(one, 0..5)
}

/// As many of them as go together, with what the definition makes of each.
fn possible(lost: &[Lost]) -> (Outages, Vec<OutageIn>) {
    let mut kept: Vec<Outage> = Vec::new();
    for &(first, count, begin, length, notice, expect, hit) in lost {
        let end = Time(begin + length);
        let expected = match expect {
            0 => None,
            1 => Some(end),
            2 => Some(Time(begin + 1 + length / 2)),
            _ => Some(Time(begin + 2 * length)),
        };
        let hit = OutageHit::ALL[usize::from(hit)];
        let which = Which::Named(ProcSet::range(first..(first + count).min(PROCS)));
        let announced = (notice > 0).then_some(Time(begin - notice));
        let end = Some(end);
        let next = Outage { which, begin: Time(begin), end, announced, expected, hit, may_cut: false };
        if Outages::new(Machine::new(PROCS), kept.iter().cloned().chain([next.clone()]).collect()).is_ok() {
            kept.push(next);
        }
    }
    let outages = Outages::new(Machine::new(PROCS), kept).expect("tried");
    let naive = outages.list().iter().enumerate().map(|(at, o)| OutageIn {
        first: i64::from(outages.on(at).ranges()[0].start),
        procs: i64::from(o.procs()),
        known: o.known().0,
        begin: o.begin.0,
        end: o.end.map(|end| end.0),
        expected: o.expected.map(|end| end.0),
        hit: match o.hit {
            OutageHit::Drain => outages::NaiveHit::Drain,
            OutageHit::Requeue => outages::NaiveHit::Requeue,
            OutageHit::Lose => outages::NaiveHit::Lose,
        },
    });
    let naive = naive.collect();
    (outages, naive)
}

#[derive(Default)]
struct Seen {
    outcomes: Vec<Option<NaiveOutcome>>,
    waste: NaiveWaste,
}

impl Seen {
    fn put(&mut self, ended: &EndedJob<'_>, lost: bool) {
        let at = ended.id.index();
        self.outcomes.resize(self.outcomes.len().max(at + 1), None);
        self.outcomes[at] = Some(NaiveOutcome { start: ended.outcome.start.0, end: ended.outcome.end.0, lost });
    }
}

impl Observer for Seen {
    fn ended(&mut self, ended: &EndedJob<'_>) {
        self.put(ended, false);
        let outcome = ended.outcome;
        assert_eq!(outcome.ran, ended.truth.run);
        assert_eq!(outcome.suspended(), Span::ZERO, "no job is suspended");
    }
    fn requeued(&mut self, _: Time, _: JobId, procs: Procs, lost: Span) {
        self.waste.lost += i64::from(procs) * lost.0;
    }
    fn checkpointed(&mut self, _: Time, _: JobId, procs: Procs, spent: Span) {
        self.waste.checkpoints += i64::from(procs) * spent.0;
    }
    fn lost(&mut self, ended: &EndedJob<'_>) {
        self.put(ended, true);
        self.waste.lost += i64::from(ended.job.procs) * ended.outcome.ran.0;
    }
}

fn seen(
    policy: &str,
    workload: &Workload,
    outages: &Outages,
    saving: Option<NaiveCheckpoints>,
) -> Result<Seen, SimulationError> {
    let spec: PolicySpec = policy.parse().expect(policy);
    let mut seen = Seen::default();
    let source = Happenings::new(workload, outages, false);
    let checkpoints = saving.map(|saving| Checkpoints {
        rule: CheckpointRule::Every(Span(saving.interval)),
        cost: Span(saving.cost),
        restart: Span(saving.restart),
        mtbf: None,
        node: None,
    });
    let platform = Platform { checkpoints, ..Platform::default() };
    Simulation::new(workload.machine(), spec.scheduler(), source).on(&platform).run(&mut seen)?;
    seen.outcomes.resize(workload.len(), None);
    Ok(seen)
}

fn compare(policy: &str, rule: NaiveRule, workload: &Workload, lost: &[Lost]) {
    compare_saving(policy, rule, workload, lost, None);
}

fn compare_saving(policy: &str, rule: NaiveRule, workload: &Workload, lost: &[Lost], saving: Option<NaiveCheckpoints>) {
    let (outages, naive) = possible(lost);
    let jobs = jobs_of(workload);
    let ours =
        seen(policy, workload, &outages, saving).unwrap_or_else(|e| panic!("{policy}: {e}\n{jobs:?}\n{naive:?}"));
    let (theirs, waste) = outages::run_saving(rule, &jobs, i64::from(PROCS), &naive, saving);
    let (ours, our_waste) = (ours.outcomes, ours.waste);
    let first = (0..jobs.len()).filter(|&j| ours[j] != theirs[j]).min_by_key(|&j| theirs[j].map(|out| out.start));
    if let Some(j) = first {
        let shown: String = jobs.iter().map(|job| format!("\n{job:?}")).collect();
        let shown_outages: String = naive.iter().map(|outage| format!("\n{outage:?}")).collect();
        let both: String = ours.iter().zip(&theirs).map(|(ours, theirs)| format!("\n{ours:?} {theirs:?}")).collect();
        panic!(
            "{policy}, {saving:?}: job {j}: ours {:?}, by definition {:?}{shown}{shown_outages}{both}",
            ours[j], theirs[j]
        );
    }
    assert_eq!(our_waste, waste, "{policy}, {saving:?}: {jobs:?} {naive:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn the_easy_family(rows in rows(), lost in lost()) {
        let workload = workload(&rows, false);
        for (policy, rule) in [("fcfs", NaiveRule::Fcfs), ("greedy", NaiveRule::Greedy), ("easy", NaiveRule::Easy)] {
            compare(policy, rule, &workload, &lost);
        }
    }

    #[test]
    fn jobs_that_write_checkpoints(
        rows in rows(), lost in lost(), interval in 1i64..80, cost in 0i64..12, restart in 0.0..1.0f64,
    ) {
        let workload = workload(&rows, false);
        let restart = (restart * (interval + cost) as f64) as i64;
        let saving = Some(NaiveCheckpoints { interval, cost, restart });
        for (policy, rule) in [
            ("fcfs", NaiveRule::Fcfs), ("greedy", NaiveRule::Greedy), ("easy", NaiveRule::Easy),
            ("conservative", NaiveRule::Conservative),
        ] {
            compare_saving(policy, rule, &workload, &lost, saving);
        }
    }

    #[test]
    fn conservative(rows in rows(), lost in lost()) {
        compare("conservative", NaiveRule::Conservative, &workload(&rows, false), &lost);
    }

    #[test]
    fn multiple_queues(rows in rows(), lost in lost()) {
        compare("multiqueue", NaiveRule::MultiQueue, &workload(&rows, true), &lost);
    }
}
