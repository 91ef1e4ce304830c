//! Properties of saved states, for any bytes: they load or are refused without a trace, and a
//! loaded state saves again.

use drystone::engine::{Simulation, WorkloadReplay};
use drystone::model::{Job, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
use drystone::policy::PolicySpec;

/// The policies whose states are loaded: the first byte of an input chooses one.
const POLICIES: [&str; 12] = [
    "fcfs",
    "easy",
    "easy++",
    "easy(reserve=3,predict=learn)",
    "greedy",
    "conservative(predict=quantile(0.5))",
    "goal",
    "multiqueue(bounds=auto,delay=20)",
    "slack",
    "ss(every=5)",
    "tss(every=5,sf=auto)",
    "is(slice=5,every=5)",
];

/// Checks every property of loading on these bytes: the first chooses a policy, the second how far
/// its simulation has come when it is saved, and the others change what was saved, three by three:
/// where, where, and what to; the last ones cut it off. After a second byte of 255 the others are
/// the state itself.
pub(crate) fn hold(bytes: &[u8]) {
    let [first, steps, edits @ ..] = bytes else { return };
    let workload = workload();
    let spec = policy(*first);
    let new = || Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(&workload));
    let mut state = edits.to_vec();
    if *steps < u8::MAX {
        let mut simulation = new();
        for _ in 0..steps % 64 {
            simulation.step(&mut ()).unwrap_or_else(|e| panic!("{spec}: {e}"));
        }
        state = simulation.save().unwrap_or_else(|e| panic!("{spec}: {e}"));
        let (edits, rest) = edits.as_chunks::<3>();
        for [high, low, new] in edits {
            let at = usize::from(u16::from_be_bytes([*high, *low])) % state.len();
            state[at] = *new;
        }
        if let Some(cut) = rest.first() {
            state.truncate(state.len() * usize::from(*cut) / 255);
        }
    }
    let mut simulation = new();
    let before = simulation.save().unwrap_or_else(|e| panic!("{spec}: {e}"));
    let loaded = simulation.load(&state).is_ok();
    // States that no simulation ever had may save otherwise than they were loaded, but they do
    // save.
    let after = simulation.save().unwrap_or_else(|e| panic!("{spec}: what was loaded does not save: {e}"));
    assert!(loaded || after == before, "{spec}: a state that is refused leaves a trace");
}

fn policy(first: u8) -> PolicySpec {
    let text = POLICIES[usize::from(first) % POLICIES.len()];
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

/// Twenty jobs of three users on eight processors: enough that some wait, some run and some have
/// ended.
fn workload() -> Workload {
    let job = |i: i64| Job::new(Time(i * 4), 1 + (i * 5 % 8) as u32, Span(20 + i * 7 % 50)).with_user((i % 3) as i32);
    let truth = |i: i64| Truth { run: Span(10 + i * 11 % 40), number: i + 1, status: LogStatus::Completed };
    let (jobs, truth) = ((0..20).map(job).collect(), (0..20).map(truth).collect());
    match Workload::new(Machine::new(8), jobs, truth, Provenance::default()) {
        Ok(workload) => workload,
        Err(error) => panic!("{error}"),
    }
}
