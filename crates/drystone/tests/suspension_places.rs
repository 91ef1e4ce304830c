//! Which free processors a newcomer may take where suspended jobs own some of them, by hand, for every rule.

mod common;

use common::{spec, workload};
use drystone::engine::{Replay, Segments, Simulation};
use drystone::model::Workload;

/// Per job its parts: start, end, processors.
fn parts(w: &Workload, policy: &str) -> Vec<Vec<(i64, i64, String)>> {
    let mut segments = Segments::default();
    Simulation::new(w.machine(), spec(policy).scheduler(), Replay::new(w)).run(&mut segments).expect("runs");
    let mut parts = vec![Vec::new(); w.len()];
    for s in &segments.list {
        let on = s.on.as_ref().map_or(String::new(), ToString::to_string);
        parts[s.job.index()].push((s.start.0, s.end.0, on));
    }
    parts
}

/// Job 0 has run on 0-2 until 60, when job 1, as long as it has waited, took all 4 processors until 119. Job 2 needs 2: its
/// expansion factor is (49 + 600) / 600 = 1.08 then and that of job 0 (59 + 6,000) / 6,000 = 1.01. It may take what job 0
/// owns where nobody cares, and where it need only be as urgent; not where it has to be twice as urgent, nor where none may
/// outside of the preemption routine, which runs every minute. There it suspends job 0 at 720: (650 + 600) / 600 is more than
/// twice 1.01, and (590 + 600) / 600 is not. Either way job 0 is off its processors for 59 and 600 s.
#[test]
fn whose_processors_a_newcomer_may_take() {
    let w = workload(4, &[(0, 3, 6_000, 6_000), (0, 4, 59, 59), (70, 2, 600, 600)]);
    for (place, start) in [
        ("strict", 720),
        ("priosf", 720),
        ("never", 720),
        ("prio1", 119),
        ("avoid", 119),
        ("lowest", 119),
        ("contiguous", 119),
    ] {
        let parts = parts(&w, &format!("ss(place={place})"));
        assert_eq!(parts[2].iter().map(|p| (p.0, p.1)).collect::<Vec<_>>(), [(start, start + 600)], "{place}");
        assert_eq!(parts[0].last().map(|p| p.1), Some(6_659), "{place}");
    }
}

/// Free are 0-1 and 3-5 at 10. In one piece 3 processors are 3-5, and 2 of them the piece that is just long enough.
#[test]
fn in_one_piece() {
    let running = [(0, 2, 10, 10), (0, 1, 100, 100), (0, 3, 10, 10), (0, 2, 100, 100)];
    for (place, procs, on) in [("contiguous", 3, "3-5"), ("lowest", 3, "0-1,3"), ("contiguous", 2, "0-1")] {
        let jobs: Vec<_> = running.into_iter().chain([(10, procs, 50, 50)]).collect();
        let parts = parts(&workload(8, &jobs), &format!("ss(place={place})"));
        assert_eq!(parts[4], [(10, 60, on.to_string())], "{place}");
    }
}
