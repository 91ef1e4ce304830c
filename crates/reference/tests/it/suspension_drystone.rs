//! The product's preemptive policies against the naive definitions, segment by segment, on random
//! workloads: among others, that nothing is missed at the ticks which the product sleeps through.

use drystone::engine::{Platform, Segments, Simulation, WorkloadReplay};
use drystone::model::{
    Demand, Job, LogStatus, Machine, Provenance, Resource, ResourceId, ResourceTableBuilder, ResourceUnit, Span, Time,
    Truth, Workload,
};
use drystone::policy::PolicySpec;
use drystone_reference::checker::NaiveSegment;
use drystone_reference::jobs_of;
use drystone_reference::suspension::{
    self, NaiveAmounts, NaiveLimit, NaivePlace, NaivePolicy, NaiveSelective, NaiveVictims,
};
use proptest::prelude::*;

/// Runs from seconds to hours, so that factors cross between ticks and at them; crowds; jobs as
/// wide as the machine.
fn workloads() -> impl Strategy<Value = Workload> {
    let size = prop_oneof![3 => 1u32..=4, 2 => 1u32..=16, 1 => Just(16u32)];
    let time = prop_oneof![2 => 1i64..200, 2 => 1i64..4_000, 1 => Just(600i64), 1 => Just(120i64)];
    let gap = prop_oneof![Just(0i64), 0i64..100, 0i64..1_500, Just(60i64)];
    let job = (gap, size, time.clone(), time);
    let jobs = prop_oneof![3 => prop::collection::vec(job.clone(), 1..30), 1 => prop::collection::vec(job, 30..120)];
    jobs.prop_map(|jobs| {
        let (mut list, mut truth, mut now) = (Vec::new(), Vec::new(), 0);
        for (i, (gap, procs, more, run)) in jobs.into_iter().enumerate() {
            now += gap;
            // Half of the estimates are right.
            let estimate = if more % 2 == 0 { run } else { run + more };
            list.push(Job::new(Time(now), procs, Span(estimate)));
            truth.push(Truth { run: Span(run), number: i as i64 + 1, status: LogStatus::Unknown });
        }
        Workload::new(Machine::new(16), list, truth, Provenance::default()).expect("sound")
    })
}

fn segments(w: &Workload, policy: &str, platform: &str) -> Vec<NaiveSegment> {
    let spec: PolicySpec = policy.parse().unwrap_or_else(|e| panic!("{e}"));
    let platform = Platform::from_toml(platform).expect("a platform");
    let mut segments = Segments::default();
    Simulation::new(w.machine(), spec.build_scheduler(), WorkloadReplay::new(w))
        .with_platform(&platform)
        .run(&mut segments)
        .unwrap_or_else(|e| panic!("{policy}: {e}"));
    let numbers = |s: &drystone::engine::Segment| {
        s.on.iter().flat_map(|on| on.ranges().iter().cloned().flatten()).collect::<Vec<u32>>()
    };
    let mut list: Vec<NaiveSegment> = segments
        .list
        .iter()
        .map(|s| NaiveSegment { job: s.job.index(), start: s.start.0, end: s.end.0, processors: Some(numbers(s)) })
        .collect();
    list.sort_by_key(|s| (s.start, s.job));
    list
}

/// Demands for two GPUs, which a suspended job gives back, for memory of 12 and for a third
/// resource of 5, both of which it keeps.
fn amounts() -> impl Strategy<Value = Vec<[i64; 3]>> {
    let gpus = prop_oneof![2 => Just(0i64), 2 => 1i64..=2];
    let memory = prop_oneof![2 => Just(0i64), 2 => 1i64..=4, 1 => 1i64..=12];
    let stay = prop_oneof![3 => Just(0i64), 1 => 1i64..=5];
    prop::collection::vec((gpus, memory, stay).prop_map(|(g, m, k)| [g, m, k]), 120)
}

/// The jobs with these demands, for the product and for the definitions.
fn counted(w: &Workload, asks: &[[i64; 3]]) -> (Workload, NaiveAmounts) {
    let (totals, stay) = ([2, 12, 5], [false, true, true]);
    let mut table = ResourceTableBuilder::new();
    for (at, (&total, &stays)) in totals.iter().zip(&stay).enumerate() {
        let resource = Resource::new(format!("r{at}"), ResourceUnit::Count, total as u64);
        table.add_resource(Resource { stays, ..resource }).expect("new");
    }
    let (machine, mut jobs, truth, provenance) = w.clone().into_parts();
    for (job, asks) in jobs.iter_mut().zip(asks) {
        let totals = asks.iter().enumerate().map(|(at, &amount)| (ResourceId(at as u16), amount as u64));
        job.demand = table.intern_demand(Demand::from_totals(totals)).expect("known resources");
    }
    let asks = asks.iter().take(jobs.len()).map(|asks| asks.to_vec()).collect();
    let product = Workload::with_resources(machine, Some(table.finish()), jobs, truth, provenance).expect("possible");
    (product, NaiveAmounts { totals: totals.to_vec(), stay: stay.to_vec(), asks })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn selective_suspension(
        w in workloads(), factor in 0usize..4, limit in 0usize..3, place in 0usize..4, victims in 0usize..3,
        ticks in any::<bool>(), paid in any::<bool>(), printed in any::<bool>(), turnaround in any::<bool>(),
    ) {
        let (sf, factor) = [("1", (1, 1)), ("1.5", (3, 2)), ("2", (2, 1)), ("5", (5, 1))][factor];
        // Turnarounds of the small jobs here are some minutes.
        let means = if turnaround { [400.0; 16] } else { [1.5; 16] };
        let (name, limit) = [
            ("ss(".to_string(), NaiveLimit::None),
            ("tss(".to_string(), NaiveLimit::Online),
            (format!("tss(means={},", means.map(|m| m.to_string()).join("/")), NaiveLimit::Given(means)),
        ][limit].clone();
        let (place_name, place) = [
            ("strict", NaivePlace::Strict), ("priosf", NaivePlace::PrioritySf), ("avoid", NaivePlace::Avoid), ("lowest", NaivePlace::Lowest),
        ][place];
        let (rule, victims) = [
            ("widest", NaiveVictims::WidestFirst), ("skip", NaiveVictims::InOrder), ("exit", NaiveVictims::UntilIneligible),
        ][victims];
        let starts = if ticks { "ticks" } else { "events" };
        let is_preemptor_rule = printed && limit != NaiveLimit::None;
        let limits = if is_preemptor_rule { "limits=preemptor," } else { "" };
        let turnaround = turnaround && limit != NaiveLimit::None;
        let of = if turnaround { "of=turnaround," } else { "" };
        let policy = format!("{name}{limits}{of}sf={sf},place={place_name},rule={rule},starts={starts})");
        // Ten seconds for each suspension, but not where jobs change places every minute, nor with
        // limits from running means: the policy sees time on processors, of which only the machine
        // knows what was spent on writing and reading.
        let online = matches!(limit, NaiveLimit::Online);
        let paid = paid && sf != "1" && !online;
        let platform = if paid { "[suspension]\nsmallest = 100\nlargest = 100\nrate = 10" } else { "" };
        let overhead = if paid { vec![10; w.len()] } else { Vec::new() };
        let settings = NaiveSelective { factor, limit, limit_on_preemptor: is_preemptor_rule, limit_on_turnaround: turnaround, place, victims, starts_at_ticks_only: ticks };
        let mut naive = suspension::run(&NaivePolicy::Selective(settings), &jobs_of(&w), 16, &overhead).segments;
        naive.sort_by_key(|s| (s.start, s.job));
        prop_assert_eq!(segments(&w, &policy, platform), naive, "{}", policy);
    }

    #[test]
    fn immediate_service(w in workloads(), preempting in any::<bool>()) {
        let policy = if preempting { "is" } else { "is(resume=free)" };
        let mut theirs =
            suspension::run(&NaivePolicy::Immediate { preempting_resumption: preempting }, &jobs_of(&w), 16, &[]).segments;
        theirs.sort_by_key(|s| (s.start, s.job));
        prop_assert_eq!(segments(&w, policy, ""), theirs, "{}", policy);
    }

    /// Resources beyond processors: GPUs are given back by suspensions, memory is not.
    #[test]
    fn selective_suspension_with_several_resources(
        w in workloads(), asks in amounts(), factor in 0usize..3, tuned in any::<bool>(), place in 0usize..4,
        victims in 0usize..3, ticks in any::<bool>(),
    ) {
        let (sf, factor) = [("1.5", (3, 2)), ("2", (2, 1)), ("5", (5, 1))][factor];
        let (name, limit) = if tuned { ("tss", NaiveLimit::Online) } else { ("ss", NaiveLimit::None) };
        let (place_name, place) = [
            ("strict", NaivePlace::Strict), ("priosf", NaivePlace::PrioritySf), ("avoid", NaivePlace::Avoid), ("lowest", NaivePlace::Lowest),
        ][place];
        let (rule, victims) = [
            ("widest", NaiveVictims::WidestFirst), ("skip", NaiveVictims::InOrder), ("exit", NaiveVictims::UntilIneligible),
        ][victims];
        let starts = if ticks { "ticks" } else { "events" };
        let policy = format!("{name}(sf={sf},place={place_name},rule={rule},starts={starts})");
        let settings = NaiveSelective { factor, limit, place, victims, starts_at_ticks_only: ticks, ..NaiveSelective::settled_rules() };
        let (w, amounts) = counted(&w, &asks);
        let mut theirs =
            suspension::run_counting(&NaivePolicy::Selective(settings), &jobs_of(&w), 16, &[], &amounts).segments;
        theirs.sort_by_key(|s| (s.start, s.job));
        prop_assert_eq!(segments(&w, &policy, ""), theirs, "{}", policy);
    }

    #[test]
    fn immediate_service_with_several_resources(w in workloads(), asks in amounts(), preempting in any::<bool>()) {
        let policy = if preempting { "is" } else { "is(resume=free)" };
        let (w, amounts) = counted(&w, &asks);
        let definition = NaivePolicy::Immediate { preempting_resumption: preempting };
        let mut naive = suspension::run_counting(&definition, &jobs_of(&w), 16, &[], &amounts).segments;
        naive.sort_by_key(|s| (s.start, s.job));
        prop_assert_eq!(segments(&w, policy, ""), naive, "{}", policy);
    }
}
