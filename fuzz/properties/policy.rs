//! Properties of the policy grammar, for any text: an accepted text prints as text of the same
//! meaning, and can be simulated without breaking its contract.

use drystone::engine::{Schedule, Simulation, SimulationError, WorkloadReplay};
use drystone::log::clean::{CleaningStudy, Duplicates, MissingEstimate, NegativeRun, Overrun, SizeField, TooWide};
use drystone::log::transform::LoadFactor;
use drystone::metrics::{JobSelection, Measure, Scheme, Threshold};
use drystone::model::{Job, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
use drystone::parts::predict::parse_forecast;
use drystone::policy::{NamedCall, PolicySpec, Priorities};
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// Checks every property of the grammar, and of all other words of the command line, on this text.
pub(crate) fn hold(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(call) = NamedCall::parse(text) {
        assert_eq!(NamedCall::parse(&call.to_string()).as_ref(), Ok(&call), "a call prints as another");
    }
    match text.parse::<PolicySpec>() {
        Err(error) => assert!(!error.problem.is_empty(), "an error says nothing"),
        Ok(spec) => understood(&spec),
    }
    if let Err(error) = parse_forecast(text) {
        assert!(!error.problem.is_empty(), "an error says nothing");
    }
    prints::<LoadFactor>(text);
    prints::<MissingEstimate>(text);
    prints::<SizeField>(text);
    prints::<Overrun>(text);
    prints::<NegativeRun>(text);
    prints::<TooWide>(text);
    prints::<Duplicates>(text);
    prints::<CleaningStudy>(text);
    prints::<JobSelection>(text);
    let _ = (text.parse::<Scheme>(), text.parse::<Measure>(), text.parse::<Threshold>());
    let _ = Priorities::from_text(text);
}

/// Checks that an accepted text prints as text that parses to the same value.
fn prints<T: FromStr + Display + Debug + PartialEq>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        let again = value.to_string().parse::<T>();
        assert_eq!(again.ok().as_ref(), Some(&value), "{text} prints as {value}, which is something else");
    }
}

fn understood(spec: &PolicySpec) {
    let again: PolicySpec = spec.text().parse().unwrap_or_else(|e| panic!("{spec} prints as no policy: {e}"));
    assert_eq!(again.parameters(), spec.parameters(), "{spec}");
    let canonical: PolicySpec = spec.canonical_text().parse().unwrap_or_else(|e| panic!("{spec}: {e}"));
    assert_eq!(canonical.canonical_text(), spec.canonical_text(), "{spec}");
    // Not here: what takes its time, or many threads.
    let word = |name: &str| spec.parameters().into_iter().find(|p| p.0 == name).map_or(String::new(), |p| p.1);
    if word("budget") != "none" && !word("budget").is_empty() || word("threads").len() > 1 {
        return;
    }
    for workload in [small(false), small(true)] {
        let whole = simulate(spec, &workload);
        let same = simulate(&canonical, &workload);
        assert_eq!(whole, same, "{spec} and {canonical} have different schedules");
    }
}

fn simulate(spec: &PolicySpec, workload: &Workload) -> Option<Schedule> {
    let scheduler = spec.build_scheduler();
    if scheduler.check_fit(workload).is_err() {
        return None;
    }
    let mut schedule = Schedule::default();
    match Simulation::new(workload.machine(), scheduler, WorkloadReplay::new(workload)).run(&mut schedule) {
        Ok(()) => Some(schedule),
        Err(SimulationError::Thrashing { .. }) => None,
        Err(error) => panic!("{spec}: {error}"),
    }
}

/// Seven jobs of two users on four processors, which run up to their estimates or on beyond them.
fn small(overruns: bool) -> Workload {
    // (submit, processors, estimate, run, user)
    let jobs = [
        (0, 3, 50, 20, 1),
        (1, 4, 10, 10, 1),
        (1, 1, 90, 40, 2),
        (5, 2, 5, 0, 2),
        (30, 1, 7, 30, 1),
        (31, 4, 3, 9, 2),
        (31, 1, 1, 1, 1),
    ];
    let list = jobs
        .iter()
        .map(|&(submit, procs, estimate, _, user)| Job::new(Time(submit), procs, Span(estimate)).with_user(user));
    let truth = jobs.iter().enumerate().map(|(i, &(_, _, estimate, run, _))| Truth {
        run: Span(if overruns { run } else { run.min(estimate) }),
        number: i as i64 + 1,
        status: LogStatus::Completed,
    });
    match Workload::new(Machine::new(4), list.collect(), truth.collect(), Provenance::default()) {
        Ok(workload) => workload,
        Err(error) => panic!("{error}"),
    }
}
