//! Verdicts of passes on one job; listening changes nothing.

use drystone_core::engine::{Observer, Simulation, WorkloadReplay};
use drystone_core::model::{Job, JobId, LogStatus, Machine, Procs, Provenance, Span, Time, Truth, Workload};
use drystone_core::policy::{PolicySpec, StartReason};
use drystone_slurm::policy::{PassReason, SharedVerdict, listen_to_job, register_policy};

struct Starts(Vec<i64>);

impl Observer for Starts {
    fn note_start(&mut self, now: Time, id: JobId, _why: StartReason) {
        self.0[id.index()] = now.0;
    }
}

/// Starts, and what was said of one job. Rows are submission, processors, limit, run.
fn simulate(
    policy: &str,
    procs: Procs,
    rows: &[(i64, Procs, i64, i64)],
    job: Option<u32>,
) -> (Vec<i64>, Vec<SharedVerdict>) {
    // Another test may have been first.
    let _ = register_policy();
    let jobs = rows.iter().map(|&(submit, procs, limit, _)| Job::new(Time(submit), procs, Span(limit))).collect();
    let truth =
        |(number, row): (i64, &(_, _, _, i64))| Truth { run: Span(row.3), number, status: LogStatus::Completed };
    let truth = (1..).zip(rows).map(truth).collect();
    let workload = Workload::new(Machine::new(procs), jobs, truth, Provenance::default()).expect("a workload");
    let mut starts = Starts(vec![-1; rows.len()]);
    let policy: PolicySpec = policy.parse().expect("a policy");
    let mut simulation = Simulation::new(workload.machine(), policy.build_scheduler(), WorkloadReplay::new(&workload));
    let mut run = || simulation.run(&mut starts).expect("a run");
    let verdicts = match job {
        Some(job) => listen_to_job(job, run).1,
        None => {
            run();
            Vec::new()
        }
    };
    (starts.0, verdicts)
}

/// Job 0 has one processor of two up to its limit of 600 s, job 1 needs both, job 2 one for up to
/// 900 s.
const ROWS: [(i64, Procs, i64, i64); 3] = [(0, 1, 600, 500), (1, 2, 600, 10), (2, 1, 900, 10)];

fn find<'a>(verdicts: &'a [SharedVerdict], pass: &str, verdict: PassReason) -> &'a SharedVerdict {
    let hit = verdicts.iter().find(|entry| entry.pass == pass && entry.verdict == verdict);
    hit.unwrap_or_else(|| panic!("no {pass} {verdict:?} in {verdicts:#?}"))
}

/// Job 1 is the first that does not fit; backfill plans it when job 0 has reached its limit. Job 2
/// would fit, but would still run then: it is planned when job 1 has reached its own, at 1,200 s
/// after job 0 has started or later.
#[test]
fn passes_tell_why_a_job_does_not_start() {
    let (starts, wide) = simulate("slurm", 2, &ROWS, Some(1));
    let head_verdict = find(&wide, "main", PassReason::Blocked);
    assert_eq!((head_verdict.room, head_verdict.by), (0, None));
    let plan = find(&wide, "backfill", PassReason::Planned);
    assert_eq!((plan.planned, plan.room), (Some(starts[0] + 600), 0));
    // From its arrival at 1 s to the end of job 0 at about 500 s there is a pass every 30 s.
    assert!((15..=17).contains(&plan.passes), "{plan:?}");
    assert_eq!(wide.last().map(|entry| (entry.verdict, entry.from)), Some((PassReason::Started, starts[1])));

    let (starts, long) = simulate("slurm", 2, &ROWS, Some(2));
    assert!(find(&long, "main", PassReason::BehindBlocked).room > 0);
    let long_plan = find(&long, "backfill", PassReason::Planned);
    // Both were planned for the first time in the same pass. A plan begins on the grid of 60 s.
    let first = long_plan.planned.expect("a start");
    assert!((starts[0] + 1140..=starts[0] + 1200).contains(&first), "{first}");
    assert!(long_plan.room > 0, "{long_plan:?}");
}

#[test]
fn parameters_that_keep_a_job_from_starting_are_named() {
    for (policy, job, verdict, by) in [
        ("slurm(bf_max_job_user=1)", 2, PassReason::Skipped, "bf_max_job_user"),
        ("slurm(bf_max_job_test=1)", 2, PassReason::NotReached, "bf_max_job_test"),
        ("slurm(bf_window=1)", 1, PassReason::BeyondWindow, "bf_window"),
    ] {
        let (_, verdicts) = simulate(policy, 2, &ROWS, Some(job));
        assert_eq!(find(&verdicts, "backfill", verdict).by, Some(by), "{policy}");
    }
    // With a depth of none, a quick pass looks at the first job of the queue alone.
    let (_, verdicts) = simulate("slurm(default_queue_depth=0)", 2, &ROWS, Some(2));
    assert_eq!(find(&verdicts, "main", PassReason::NotReached).by, Some("default_queue_depth"));
}

/// All passes are made for a job that is listened for, and none of them starts another job.
#[test]
fn nothing_starts_otherwise_because_of_listening() {
    let mut seed = 20_261_125_u64;
    let mut below = |n: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % n
    };
    let mut at = 0;
    let rows: Vec<(i64, Procs, i64, i64)> = (0..300)
        .map(|_| {
            at += below(50) as i64;
            let limit = 60 * (1 + below(20) as i64);
            (at, 1 + below(16) as Procs, limit, 1 + below(limit as u64) as i64)
        })
        .collect();
    for policy in ["slurm", "slurm(phase=7,bf_resolution=1)", "slurm(test-us=20000,bf_continue=yes)"] {
        let (alone, nothing) = simulate(policy, 24, &rows, None);
        assert!(nothing.is_empty());
        for job in [40, 150, 299] {
            let (starts, verdicts) = simulate(policy, 24, &rows, Some(job));
            assert_eq!(starts, alone, "{policy}, job {job}");
            assert_eq!(verdicts.last().map(|entry| entry.verdict), Some(PassReason::Started));
        }
    }
}
