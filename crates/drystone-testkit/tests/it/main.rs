//! Every policy of the registry on hostile random workloads: the invariants of every schedule,
//! asked of an independent checker; each policy's own guarantees; saving, restoring and going on;
//! no look into the future. A new policy is covered by being registered; it fails here until
//! `subject.rs` says what it guarantees and `metamorphic.rs` what it must follow.
//!
//! Numbers drawn are the same in every run (`.cargo/config.toml`), others with PROPTEST_RNG_SEED;
//! DRYSTONE_CASES sets how many cases are drawn per policy (default 4), DRYSTONE_POLICY tries one
//! policy alone, DRYSTONE_SHOW prints each case before it is tried, for what hangs. What fails is
//! shrunk, and printed as a log with the command that shows it.

mod broken;
mod formulas;
mod metamorphic;
mod subject;
mod trial;

use drystone::policy::{PolicySpec, built_in};
use drystone_testkit::{CaseFailure, PolicyCase, Random, Subject, attempt_real, simulate_case, try_random_case};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};

/// This many failures are shown in full, the others in a line.
const SHOWN: usize = 3;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.trim().parse().ok()
}

fn seed() -> u64 {
    number("PROPTEST_RNG_SEED").unwrap_or_else(|| RandomState::new().hash_one(0))
}

fn cases() -> u64 {
    number("DRYSTONE_CASES").unwrap_or(4)
}

/// Tries each policy on this many cases; panics with all that was found.
fn try_all(label: &str, specs: &[PolicySpec], times: u64) {
    try_all_by(label, specs, times, try_random_case);
}

fn try_all_by(
    label: &str,
    specs: &[PolicySpec],
    times: u64,
    attempt: impl Fn(&Subject, u64) -> Result<(), Box<CaseFailure>> + Sync,
) {
    let seed = seed();
    let failures = side_by_side(specs, |at, spec| {
        let subject = subject::of(spec);
        let mut random = Random::new(seed.wrapping_add(at as u64 * 1_000_003));
        (0..times)
            .find_map(|_| attempt(&subject, random.draw_bits()).err())
            .into_iter()
            .map(|failure| *failure)
            .collect()
    });
    println!("{label}: {} policies, {} cases each, seed {seed}", specs.len(), times);
    assert!(failures.is_empty(), "again with PROPTEST_RNG_SEED={seed} DRYSTONE_CASES={times}\n{failures}");
}

/// Tries policies on all processors; returns what failed, in the order of the policies. A trial
/// draws from its own random numbers, so that threads make no difference.
fn side_by_side(specs: &[PolicySpec], trial: impl Fn(usize, &PolicySpec) -> Vec<CaseFailure> + Sync) -> String {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut own_failures = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(spec) = specs.get(at) else { return own_failures };
            own_failures.extend(trial(at, spec).into_iter().map(|failure| (at, failure)));
        }
    };
    let mut failures = std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no trial panics")).collect::<Vec<_>>()
    });
    failures.sort_by_key(|(at, _)| *at);
    let render = |(place, (_, failure)): (usize, &(usize, CaseFailure))| {
        if place < SHOWN { failure.render_report() } else { failure.render_line() }
    };
    failures.iter().enumerate().map(render).collect()
}

/// The policy of DRYSTONE_POLICY, or all names by default: as many cases as one wants.
#[test]
fn one_policy_alone() {
    let specs = match std::env::var("DRYSTONE_POLICY") {
        Ok(text) => vec![text.parse().unwrap_or_else(|e| panic!("DRYSTONE_POLICY: {e}"))],
        Err(_) => subject::names().map(|name| name.parse().expect(name)).collect(),
    };
    try_all("alone", &specs, cases());
}

/// All names, all variants, every parameter at every value found for it.
#[test]
fn every_policy_holds_what_it_must() {
    let specs = subject::fixed();
    for kind in built_in() {
        let of_kind = specs.iter().filter(|s| s.kind().name == kind.name).count();
        assert!(of_kind >= 10, "only {of_kind} texts for {}", kind.name);
    }
    try_all("fixed", &specs, cases());
}

/// Every policy keeps the invariants where processors fail, come back and are announced to go, and
/// where jobs are held, depend on others, are withdrawn, or are present from the start; cut
/// anywhere and resumed.
#[test]
fn every_policy_holds_it_on_real_machines() {
    if let Ok(text) = std::env::var("DRYSTONE_POLICY") {
        let spec = text.parse().unwrap_or_else(|e| panic!("DRYSTONE_POLICY: {e}"));
        return try_all_by("real, alone", &[spec], cases(), attempt_real);
    }
    try_all_by("real", &subject::fixed(), cases(), attempt_real);
    let mut random = Random::new(seed());
    let mut specs = Vec::new();
    for kind in built_in() {
        let parameters = subject::parameters(kind.name);
        specs.extend((0..10).map(|_| subject::drawn(&mut random, kind.name, &parameters)));
    }
    try_all_by("real, combined", &specs, cases(), attempt_real);
}

/// Several parameters at once, drawn at random.
#[test]
fn combinations_of_parameters_hold_what_they_must() {
    let mut random = Random::new(seed());
    let mut specs = Vec::new();
    for kind in built_in() {
        let parameters = subject::parameters(kind.name);
        specs.extend((0..30).map(|_| subject::drawn(&mut random, kind.name, &parameters)));
    }
    try_all("combined", &specs, cases());
}

/// Parts that a canonical text leaves out make no difference: parameters that do not count beside
/// the others, defaults, equal predictors.
#[test]
fn canonical_texts_make_the_same_schedules() {
    let seed = seed();
    let mut random = Random::new(seed);
    let (mut idle, mut shorter) = (0, 0);
    for kind in built_in() {
        let parameters = subject::parameters(kind.name);
        // Families with parameters that may not count are tried more often.
        for _ in 0..if kind.needs.is_empty() { 15 } else { 60 } {
            let spec = subject::drawn(&mut random, kind.name, &parameters);
            let canonical: PolicySpec = spec.canonical_text().parse().expect("canonical texts can be read");
            idle += usize::from(!spec.idle_parameters().is_empty());
            shorter += usize::from(canonical.text() != spec.text());
            let limits = subject::of(&spec).limits;
            for _ in 0..cases() {
                let case = PolicyCase::random_case(&mut random, limits);
                let workload = case.to_workload();
                if spec.build_scheduler().check_fit(&workload).is_err() {
                    continue;
                }
                // An instant in which nothing happens is no part of a schedule.
                let schedule = |spec: &PolicySpec| {
                    simulate_case(spec.build_scheduler(), &case, &workload)
                        .map(|watch| watch.trace.into_iter().filter(|call| call.1 != "settled").collect::<Vec<_>>())
                };
                let (first, second) = (schedule(&spec), schedule(&canonical));
                assert!(first == second, "{spec} and {canonical}, seed {seed}, on\n{}", case.to_swf());
            }
        }
    }
    assert!(idle >= 20 && shorter >= 100, "{idle} with parameters that do not count, {shorter} shorter");
}
