//! Golden schedules of a generated workload, which come with the source: `golden/*.csv`.
//!
//! Each was written by the naive definition of its policy, not by the product. One test holds the
//! definitions to the files and one the product, so that neither can change a schedule unseen.
//! `DRYSTONE_WRITE_GOLDEN=1` rewrites the files from the definitions.

use drystone::engine::{Schedule, Simulation, WorkloadReplay};
use drystone::log::clean::{CleaningOptions, Overrun};
use drystone::model::{Time, Workload};
use drystone::policy::PolicySpec;
use drystone_reference::committed;
use drystone_reference::easy::{self, Easy, NaiveEasyOrder};
use drystone_reference::formula::NaiveExpr;
use drystone_reference::multiqueue::{self, NaiveMultiQueue};
use drystone_reference::suspension::{self, NaiveLimit, NaivePolicy, NaiveSelective};
use drystone_reference::talby::{self, NaiveNotice, NaivePriority, NaiveRemoval, NaiveTalbyScheduler};
use drystone_reference::{JobIn, JobOut, jobs_of, tsafrir};
use std::path::PathBuf;

/// Processors of the machine.
const PROCS: i64 = 32;

/// The variants of Tsafrir et al. 2007, as the paper and as Drystone call them.
const TSAFRIR: [(&str, &str); 18] = [
    ("EASY", "easy@tsafrir2007"),
    ("EASY_PCOR", "easy-pcor@tsafrir2007"),
    ("EASY_SJBF", "easy-sjbf@tsafrir2007"),
    ("EASY+", "easy+@tsafrir2007"),
    ("EASY++", "easy++@tsafrir2007"),
    ("EASY+imm", "easy+@tsafrir2007(predict=recent(2,window=immediate))"),
    ("EASY++imm", "easy++@tsafrir2007(predict=recent(2,window=immediate))"),
    ("EASY-nocorr", "easy+@tsafrir2007(correct=none)"),
    ("PERFECT", "perfect@tsafrir2007"),
    ("PERFECT++", "perfect++@tsafrir2007"),
    ("X2", "x2@tsafrir2007"),
    ("X2+", "x2+@tsafrir2007"),
    ("X2++", "x2++@tsafrir2007"),
    ("X2perf", "x2-perfect@tsafrir2007"),
    ("X2++perf", "x2++-perfect@tsafrir2007"),
    ("SJF", "sjf@tsafrir2007"),
    ("SJF+", "sjf+@tsafrir2007"),
    ("SJFperf", "sjf-perfect@tsafrir2007"),
];

/// A schedule by definition.
type Definition = dyn Fn(&[JobIn]) -> Vec<JobOut>;

/// A policy: the name of its file, its text, and its schedule by definition.
struct Golden {
    name: &'static str,
    policy: String,
    /// Treatment of jobs that outlive their estimates.
    overrun: Overrun,
    by_definition: Box<Definition>,
}

fn golden(
    name: &'static str,
    policy: &str,
    overrun: Overrun,
    by_definition: impl Fn(&[JobIn]) -> Vec<JobOut> + 'static,
) -> Golden {
    Golden { name, policy: policy.to_string(), overrun, by_definition: Box::new(by_definition) }
}

/// WFP3: −(w/e)³·n.
fn wfp3() -> NaiveExpr {
    let two = |sign, a, b| NaiveExpr::Two(sign, Box::new(a), Box::new(b));
    let ratio = two('/', NaiveExpr::Name("w"), NaiveExpr::Name("e"));
    let cube = two('^', ratio, NaiveExpr::Number(3.0));
    two('*', NaiveExpr::Minus(Box::new(cube)), NaiveExpr::Name("n"))
}

fn all() -> Vec<Golden> {
    let mut list = vec![
        golden("fcfs", "fcfs", Overrun::RunOn, |jobs| easy::run_fcfs(jobs, PROCS)),
        golden("greedy", "greedy", Overrun::RunOn, |jobs| easy::first_fit(jobs, PROCS)),
        golden("easy", "easy(overdue=now)", Overrun::RunOn, |jobs| easy::run(&Easy::default(), jobs, PROCS).schedule()),
        golden("easy-wfp3", "easy(order=\"-(w/e)^3*n\",backfill=\"-(w/e)^3*n\",overdue=now)", Overrun::RunOn, |jobs| {
            let order = NaiveEasyOrder::Formula(Box::leak(Box::new(wfp3())));
            easy::run(&Easy { queue: order, backfill: order, ..Easy::default() }, jobs, PROCS).schedule()
        }),
        golden("conservative", "conservative@talby1999(notice=immediate)", Overrun::Kill, |jobs| {
            talby::run(NaiveTalbyScheduler::Conservative, NaiveNotice::Immediate, jobs, PROCS).schedule
        }),
        golden("slack", "slack(sf=3,order=ast,awt=2401,notice=immediate,horizon=all)", Overrun::Kill, |jobs| {
            talby::run(NaiveTalbyScheduler::Priority(&NaivePriority::default()), NaiveNotice::Immediate, jobs, PROCS)
                .schedule
        }),
        golden("multiqueue", "multiqueue", Overrun::Exact, |jobs| {
            multiqueue::run(NaiveMultiQueue::default(), jobs, PROCS).schedule
        }),
        golden("ss", "ss", Overrun::Exact, |jobs| {
            suspended(&NaivePolicy::Selective(NaiveSelective::settled_rules()), jobs)
        }),
        golden("tss", "tss", Overrun::Exact, |jobs| {
            suspended(
                &NaivePolicy::Selective(NaiveSelective {
                    limit: NaiveLimit::Online,
                    ..NaiveSelective::settled_rules()
                }),
                jobs,
            )
        }),
        golden("is", "is", Overrun::Exact, |jobs| {
            suspended(&NaivePolicy::Immediate { preempting_resumption: true }, jobs)
        }),
    ];
    list.extend(section_4());
    for (name, policy) in TSAFRIR {
        let definition = tsafrir::find_policy(name).expect("a policy of the paper");
        list.push(golden(name, policy, Overrun::RunOn, move |jobs| easy::run(&definition, jobs, PROCS).schedule()));
    }
    list
}

/// The two ways out of delays of Tsafrir et al. 2007, section 4; the EASY and the slack of Talby &
/// Feitelson 1999 with late notice, and with slack that grows as a job moves forward (section 4.1);
/// a head that is chosen once (RLScheduler).
fn section_4() -> Vec<Golden> {
    let [order_easy, booking_easy] = tsafrir::list_solutions().expect("policies of the paper");
    let as_is = |easy: Easy| Easy {
        pass: easy::NaivePass::PerInstant,
        extra: easy::NaiveExtra::All,
        overdue: easy::NaiveEasyOverdue::EndsNow,
        ..easy
    };
    let schedule = |easy: Easy| move |jobs: &[JobIn]| easy::run(&easy, jobs, PROCS).schedule();
    let late = |scheduler| move |jobs: &[JobIn]| talby::run(scheduler, NaiveNotice::Late, jobs, PROCS).schedule;
    let price_settings = NaivePriority { removal: NaiveRemoval::Priced, ..NaivePriority::default() };
    let f1 = |job: &JobIn, _| (job.estimate as f64).log10() * job.procs as f64 + 870.0 * (job.submit as f64).log10();
    vec![
        golden("easy-sjbf+", "easy-sjbf+", Overrun::RunOn, schedule(as_is(order_easy))),
        golden("easy-sjbf+.tsafrir2007", "easy-sjbf+@tsafrir2007", Overrun::RunOn, schedule(order_easy)),
        golden("easy++.booked", "easy++(announce=estimate,overdue=now)", Overrun::RunOn, schedule(as_is(booking_easy))),
        golden(
            "easy++.booked.tsafrir2007",
            "easy++@tsafrir2007(announce=estimate)",
            Overrun::RunOn,
            schedule(booking_easy),
        ),
        golden("easy.talby1999", "easy@talby1999", Overrun::Kill, late(NaiveTalbyScheduler::Easy)),
        golden(
            "conservative.talby1999",
            "conservative@talby1999",
            Overrun::Kill,
            late(NaiveTalbyScheduler::Conservative),
        ),
        golden("slack.priced", "slack(sf=3,awt=2401,remove=priced,horizon=all)", Overrun::Kill, move |jobs| {
            talby::run(NaiveTalbyScheduler::Priority(&price_settings), NaiveNotice::Immediate, jobs, PROCS).schedule
        }),
        golden("committed", "committed@rlscheduler2020(order=log10(e)*n+870*log10(s))", Overrun::Exact, move |jobs| {
            committed::run(&f1, true, jobs, PROCS)
        }),
    ]
}

/// First starts and last ends.
fn suspended(policy: &NaivePolicy, jobs: &[JobIn]) -> Vec<JobOut> {
    let segments = suspension::run(policy, jobs, PROCS, &[]).segments;
    let of = |job: usize| segments.iter().filter(move |segment| segment.job == job);
    let out = |job| JobOut {
        start: of(job).map(|s| s.start).min().expect("it starts"),
        end: of(job).map(|s| s.end).max().expect("it ends"),
    };
    (0..jobs.len()).map(out).collect()
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/golden"))
}

fn workload(overrun: Overrun) -> Workload {
    let options = CleaningOptions { overrun, ..CleaningOptions::default() };
    drystone::log::load_log(folder().join("generated.swf"), &options).expect("a log").workload
}

fn table(workload: &Workload, schedule: &[JobOut]) -> String {
    let row =
        |(truth, out): (&drystone::model::Truth, &JobOut)| format!("{},{},{}\n", truth.number, out.start, out.end);
    let rows: String = workload.truth().iter().zip(schedule).map(row).collect();
    format!("job_id,start,end\n{rows}")
}

fn file(name: &str) -> String {
    let path = folder().join(format!("{name}.csv"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The first line that differs, with both.
fn assert_same(label: &str, text: &str, expected: &str) {
    assert_eq!(text.lines().count(), expected.lines().count(), "{label}");
    if let Some((own_line, golden_line)) = text.lines().zip(expected.lines()).find(|(own, golden)| own != golden) {
        panic!("{label}: job,start,end is {own_line}, expected {golden_line}");
    }
}

#[test]
fn the_definitions_make_the_golden_schedules() {
    let write = std::env::var_os("DRYSTONE_WRITE_GOLDEN").is_some();
    for golden in all() {
        let workload = workload(golden.overrun);
        let output = table(&workload, &(golden.by_definition)(&jobs_of(&workload)));
        if write {
            std::fs::write(folder().join(format!("{}.csv", golden.name)), &output).expect("written");
        }
        assert_same(&format!("{} by definition", golden.name), &output, &file(golden.name));
    }
}

#[test]
fn the_product_makes_the_golden_schedules() {
    for golden in all() {
        let workload = workload(golden.overrun);
        let spec: PolicySpec = golden.policy.parse().unwrap_or_else(|e| panic!("{e}"));
        let mut schedule = Schedule::default();
        let mut simulation =
            Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(&workload));
        simulation.run(&mut schedule).unwrap_or_else(|e| panic!("{}: {e}", golden.policy));
        let out = |span: &Option<(Time, Time)>| span.map(|(start, end)| JobOut { start: start.0, end: end.0 });
        let spans: Vec<JobOut> = schedule.spans.iter().map(|span| out(span).expect("every job ends")).collect();
        assert_same(&golden.policy, &table(&workload, &spans), &file(golden.name));
    }
}

/// No file is left of a policy that is not tried any more, and the schedules tell policies apart.
#[test]
fn every_golden_schedule_belongs_to_a_policy_and_is_its_own() {
    let names: Vec<&str> = all().iter().map(|golden| golden.name).collect();
    let entries = std::fs::read_dir(folder()).expect("a folder").flatten();
    let files: Vec<PathBuf> = entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "csv")).collect();
    assert_eq!(files.len(), names.len(), "{files:?}");
    let mut schedules: Vec<String> = names.iter().map(|name| file(name)).collect();
    schedules.sort();
    schedules.dedup();
    assert!(schedules.len() + 2 >= names.len(), "{} schedules of {} policies", schedules.len(), names.len());
}
