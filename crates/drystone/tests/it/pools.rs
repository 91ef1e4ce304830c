//! Pools side by side that share limits: a schedule computed by hand.

use drystone::engine::Schedule;
use drystone::experiment::{Experiment, PoolDivision, PoolShare};
use drystone::model::{
    Circumstances, Job, JobId, JobLimit, LimitClaim, LogStatus, Machine, Provenance, Span, Time, Truth, Workload,
};
use drystone::policy::PolicySpec;

/// A user may run one job on the whole site. Job 0 runs in the first pool until 10; job 1, of the
/// second, may start then, and job 3, of the first, when that has ended. Job 2 is another user's.
#[test]
fn an_end_in_one_pool_admits_a_job_of_another() {
    let rows = [(0, 1, 10), (0, 2, 7), (3, 2, 5), (4, 1, 2)];
    let (mut jobs, mut truth) = (Vec::new(), Vec::new());
    for (number, (submit, partition, run)) in (1..).zip(rows) {
        let mut job = Job::new(Time(submit), 2, Span(20));
        job.partition = partition;
        jobs.push(job);
        truth.push(Truth { run: Span(run), number, status: LogStatus::Completed });
    }
    let mut known = Circumstances::default();
    let (reason, of) = ("QOSMaxJobsPerUserLimit".to_string(), "the QOS normal for the user ada".to_string());
    let limit = known.limits.add(JobLimit { reason, of, family: "the QOS normal".to_string(), most: 1 });
    let set = known.limits.intern(vec![LimitClaim { limit, amount: 1, binds: true }]);
    [0, 1, 3].into_iter().for_each(|job| known.limits.bind(JobId(job), set));
    let whole = Workload::new(Machine::new(8), jobs, truth, Provenance::default()).expect("possible");
    let whole = whole.with(known).expect("possible");
    let pool = |name: &str, partition: i32| PoolShare {
        name: name.to_string(),
        procs: 4,
        scale: 1,
        partitions: vec![(partition, 1)],
        outages: Vec::new(),
        classes: None,
        texts: Vec::new(),
    };
    let division = PoolDivision::new(vec![pool("a", 1), pool("b", 2)]);
    for policy in ["fcfs", "easy", "easy(pass=event)", "conservative", "slack"] {
        let spec: PolicySpec = policy.parse().expect("a policy");
        let mut schedule = Schedule::default();
        Experiment::new(&spec, &whole).divided(Some(&division)).run(&mut schedule).expect("simulated");
        let right = [(0, 10), (10, 17), (3, 8), (17, 19)].map(|(start, end)| Some((Time(start), Time(end))));
        assert_eq!(schedule.spans, right, "{policy}");
    }
}
