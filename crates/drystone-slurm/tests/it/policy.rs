//! `slurm(...)` among the policies.

use crate::shared::shared;
use drystone_core::engine::{Observer, Schedule, Simulation, WorkloadReplay};
use drystone_core::model::{Job, JobId, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
use drystone_core::policy::{PolicySpec, StartReason};
use drystone_slurm::policy::{SLURM, register};

fn spec(text: &str) -> Result<PolicySpec, String> {
    // Another test may have been first.
    let _ = register();
    text.parse::<PolicySpec>().map_err(|error| error.to_string())
}

/// Start of each job.
struct Starts(Vec<(u32, i64)>);

impl Observer for Starts {
    fn started(&mut self, now: Time, id: JobId, _why: StartReason) {
        self.0.push((id.0, now.0));
    }
}

/// Jobs as submit time, processors, limit and run time, in seconds.
fn workload(procs: u32, rows: &[(i64, u32, i64, i64)]) -> Workload {
    let (mut jobs, mut truth) = (Vec::new(), Vec::new());
    for (number, &(submit, procs, limit, run)) in (1..).zip(rows) {
        jobs.push(Job::new(Time(submit), procs, Span(limit)));
        truth.push(Truth { run: Span(run), number, status: LogStatus::Completed });
    }
    Workload::new(Machine::new(procs), jobs, truth, Provenance::default()).expect("a workload")
}

#[test]
fn a_file_or_parameters_make_it() {
    assert!(spec("slurm").is_ok() && spec("slurm(bf_interval=60,bf_continue=yes,predict=recent(2))").is_ok());
    let error = spec("slurm:/no/such/slurm.conf").expect_err("no file");
    assert!(error.contains("/no/such/slurm.conf: cannot be read"), "{error}");
    let error = spec("slurm(bf_resolution=0)").expect_err("out of range");
    assert!(error.ends_with("bf_resolution takes 1 to 3600 (s)"), "{error}");
    let error = spec("slurm(bf_interval=-1,sched_interval=-1)").expect_err("no scheduler");
    assert!(error.contains("neither scheduler runs"), "{error}");
    let Some(dir) = shared("golden/slurm") else { return };
    let conf = dir.join("res60.conf");
    assert!(spec(&format!("slurm:{}", conf.display())).is_ok());
    assert!(spec(&format!("slurm({},phase=3)", conf.display())).is_ok());
}

#[test]
fn every_parameter_of_the_policy_is_one_of_slurm() {
    use drystone_slurm::conf::Knob;
    let own = [
        "conf", "cpus", "whole", "pack", "epilog", "phase", "test-us", "accounts", "names", "qos", "arrays", "kill",
        "begins",
    ];
    let settings = |name: &str| name.starts_with("priority") || name == "maxtime";
    for param in SLURM.params.iter().filter(|param| !own.contains(&param.name) && !settings(param.name)) {
        assert!(Knob::named(param.name).is_some(), "{}", param.name);
    }
}

/// One job waits for both processors, a short one goes before it, a long one does not. Backfill
/// plans the wide job at the limit of the running one, 600 s, so what ends before that may start.
#[test]
fn a_short_job_is_backfilled_and_a_long_one_is_not() {
    let rows = [(0, 1, 600, 500), (1, 2, 600, 10), (2, 1, 900, 10), (3, 1, 120, 10)];
    let workload = workload(2, &rows);
    let mut starts = Starts(Vec::new());
    let policy = spec("slurm").expect("a policy");
    Simulation::new(workload.machine(), policy.scheduler(), WorkloadReplay::new(&workload))
        .run(&mut starts)
        .expect("a run");
    starts.0.sort_unstable();
    let [(_, first), (_, wide), (_, long), (_, short)] = starts.0.try_into().expect("four jobs");
    assert!(first < 60 && short < 120, "{first} {short}");
    assert!((first + 500..first + 560).contains(&wide), "{wide}");
    assert!(long > wide, "{long}");
}

/// Slurm looks at limits twice a minute and learns of an end within a second of it. Run times end
/// on every second of two such looks, so some jobs have ended, unknown to Slurm, when it looks:
/// those are not killed. The others that are too long are, at the next look, and jobs that wait
/// start in their place only when the machine has freed their processors.
#[test]
fn jobs_past_their_limits_are_killed_unless_they_have_ended() {
    let rows: Vec<_> = (0..90).map(|over| (over / 13, 1, 120, 100 + over)).collect();
    for (procs, phase) in (0..8).flat_map(|phase| [(90, phase), (20, phase)]) {
        let workload = workload(procs, &rows);
        let mut schedule = Schedule::default();
        let policy = spec(&format!("slurm(kill=yes,phase={phase})")).expect("a policy");
        let run =
            Simulation::new(workload.machine(), policy.scheduler(), WorkloadReplay::new(&workload)).run(&mut schedule);
        assert!(run.is_ok(), "{procs} processors, phase {phase}: {run:?}");
        let mut killed = 0;
        for (span, (.., run)) in schedule.spans.iter().zip(&rows) {
            let (start, end) = span.expect("it ran");
            let ran = (end - start).0;
            assert!(
                ran == *run || (120..=151).contains(&ran),
                "{procs} processors, phase {phase}: {run} s, ran {ran} s"
            );
            assert!(ran <= *run && ran <= 151, "{procs} processors, phase {phase}: {run} s, ran {ran} s");
            killed += usize::from(ran < *run);
        }
        assert!(killed > 0, "{procs} processors, phase {phase}");
    }
}
