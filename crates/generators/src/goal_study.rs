//! Makes the tables of `docs/goal.md`, in Markdown, from logs of the Parallel Workloads Archive:
//!
//! ```text
//! cargo run --release -p drystone-generators --features all -- goal_study claims LOG.swf.gz...
//! cargo run --release -p drystone-generators --features all -- goal_study curves LOG.swf.gz MONTH
//! cargo run --release -p drystone-generators --features all -- goal_study choices LOG.swf.gz...
//! cargo run --release -p drystone-generators --features all -- goal_study runtimes LOG.swf.gz...
//! cargo run --release -p drystone-generators --features all -- goal_study beyond LOG.swf.gz...
//! cargo run --release -p drystone-generators --features all -- goal_study budget MILLISECONDS
//! cargo run --release -p drystone-generators --features all -- goal_study months POLICY... LOG.swf.gz...
//! ```
//!
//! `months` takes any policies, e.g. `'goal(tradeoff(Tw:avgX),reuse=seed,predict=perfect)'`;
//! `USER=` in them stands for the user with the most jobs in the log.
//!
//! `LOG.swf.gz:3` takes the first three whole months of the log only.
//!
//! Months are simulated as in section 4 of the paper: with the week before as warm-up, and with the
//! arrivals after it; the jobs submitted within the month count. At load 0.9 all times between
//! arrivals are shrunk by the same factor; months above that load stay as they are.

#[path = "../../drystone/benches/clock/mod.rs"]
mod clock;

use crate::GeneratorResult;
use clock::processor_time;
use drystone::engine::{Notes, Observer, Simulation, WorkloadReplay};
use drystone::log::clean::CleaningOptions;
use drystone::log::transform::calendar_months;
use drystone::log::{file_title, load_log};
use drystone::metrics::SearchEffort;
use drystone::model::{EndedJob, Span, Time, Workload};
use drystone::policy::goal::{GoalCandidate, GoalObjective, GoalSearch, GoalSettings, GoalTask, Version};
use drystone::policy::{PolicySpec, Stopwatch};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

pub(crate) fn main(args: Vec<String>) -> ExitCode {
    let outcome = match args.split_first() {
        Some((command, logs)) if command == "claims" && !logs.is_empty() => print_claims(logs),
        Some((command, [log, month])) if command == "curves" => print_curves(log, month),
        Some((command, logs)) if command == "choices" && !logs.is_empty() => print_table(logs, CHOICES),
        Some((command, logs)) if command == "beyond" && !logs.is_empty() => print_table(logs, BEYOND),
        Some((command, logs)) if command == "runtimes" && !logs.is_empty() => print_table(logs, RUN_TIMES),
        Some((command, [limit])) if command == "budget" => measure_budget(limit),
        Some((command, rest)) if command == "months" => {
            let (logs, policies): (Vec<_>, Vec<_>) = rest.iter().cloned().partition(|arg| arg.contains(".swf"));
            print_table(&logs, &policies.iter().map(String::as_str).collect::<Vec<_>>())
        }
        _ => Err("usage: goal_study claims|choices|runtimes|beyond LOG... | curves LOG MONTH | budget MILLISECONDS | months POLICY... LOG...".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// A month with its surroundings.
struct StudyMonth {
    name: String,
    workload: Workload,
    /// Submits that count.
    period: (Time, Time),
    /// The user with the most jobs in it.
    busiest: i32,
    /// The users with less than the mean processor-seconds of the users in it.
    light: Vec<i32>,
}

/// Time for which arrivals continue after the month.
const COOL_DOWN: Span = Span(2 * Span::WEEK.0);

/// The name of a log without the number of months.
fn name_of(log: &str) -> String {
    file_title(Path::new(log.rsplit_once(':').map_or(log, |(log, _)| log)))
}

/// The whole months of a log but the first; `load_wanted` is the load to which their times between
/// arrivals are shrunk.
fn months_of(log: &str, load_wanted: Option<f64>) -> GeneratorResult<Vec<StudyMonth>> {
    let (log, most) = match log.rsplit_once(':') {
        Some((log, most)) => (log, most.parse()?),
        None => (log, usize::MAX),
    };
    let whole = load_log(Path::new(log), &CleaningOptions::default())?.workload;
    let mut whole_months = calendar_months(&whole)?;
    // The first and the last month of a log are not whole.
    whole_months.pop();
    let mut result = Vec::new();
    for (name, places) in whole_months.iter().skip(1).take(most) {
        let jobs = whole.jobs();
        let (begin, end) = (jobs[places.start].submit, jobs[places.end].submit);
        let area: f64 = places.clone().map(|i| f64::from(jobs[i].procs) * whole.truth()[i].run.as_f64()).sum();
        let offered_load = area / ((end - begin).as_f64() * f64::from(whole.machine().procs));
        let factor = load_wanted.map_or(1.0, |target| (offered_load / target).min(1.0));
        let first = jobs.partition_point(|job| job.submit < begin - Span::WEEK);
        let last = jobs.partition_point(|job| job.submit < end + COOL_DOWN);
        let origin = jobs[first].submit;
        let shrink = |time: Time| Time(((time - origin).as_f64() * factor) as i64);
        let mut list = jobs[first..last].to_vec();
        list.iter_mut().for_each(|job| job.submit = shrink(job.submit));
        let truth = whole.truth()[first..last].to_vec();
        let workload = Workload::new(whole.machine(), list, truth, whole.provenance.clone())?;
        let mut users: BTreeMap<i32, (u32, f64)> = BTreeMap::new();
        for i in places.clone() {
            let (count, usage) = users.entry(jobs[i].user).or_default();
            *count += 1;
            *usage += f64::from(jobs[i].procs) * whole.truth()[i].run.as_f64();
        }
        let busiest = users.iter().max_by_key(|user| user.1.0).map_or(0, |user| *user.0);
        let mean = area / users.len() as f64;
        let light = users.iter().filter(|user| user.1.1 < mean).map(|user| *user.0).collect();
        result.push(StudyMonth { name: name.clone(), workload, period: (shrink(begin), shrink(end)), busiest, light });
    }
    Ok(result)
}

/// Figures measured of the jobs of a month.
#[derive(Clone, Copy, Default)]
struct Figures {
    wait: f64,
    max_wait: f64,
    slowdown: f64,
    max_slowdown: f64,
    /// Mean wait of the busiest user's jobs, and of the light users'.
    busiest: f64,
    light: f64,
    cpu: Duration,
    searches: f64,
    nodes: f64,
    exhausted: f64,
}

struct Jobs {
    period: (Time, Time),
    waits: Vec<(i64, i64)>,
    users: Vec<(i32, i64)>,
}

impl Observer for Jobs {
    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        if self.period.0 <= job_end.job.submit && job_end.job.submit < self.period.1 {
            self.waits.push((job_end.wait_time().0, job_end.outcome.ran.0));
            self.users.push((job_end.job.user, job_end.wait_time().0));
        }
    }
}

fn simulate_month(month: &StudyMonth, policy: &str) -> GeneratorResult<Figures> {
    let mut watching = (Jobs { period: month.period, waits: Vec::new(), users: Vec::new() }, Notes::default());
    let since = processor_time();
    let policy = policy.replace("USER=", &format!("user={}", month.busiest));
    let spec: PolicySpec = policy.parse()?;
    Simulation::new(month.workload.machine(), spec.build_scheduler(), WorkloadReplay::new(&month.workload))
        .run(&mut watching)?;
    let cpu = processor_time() - since;
    let (Jobs { mut waits, users, .. }, notes) = watching;
    let mean_of = |is_member: &dyn Fn(i32) -> bool| {
        let waits: Vec<i64> = users.iter().filter(|job| is_member(job.0)).map(|job| job.1).collect();
        waits.iter().sum::<i64>() as f64 / waits.len().max(1) as f64 / 3600.0
    };
    let n = waits.len() as f64;
    let slowdown = |&(wait, run): &(i64, i64)| 1.0 + wait as f64 / run.max(60) as f64;
    let effort = SearchEffort::from_notes(&notes).unwrap_or_default();
    let searches = effort.searches.max(1) as f64;
    waits.sort_unstable();
    Ok(Figures {
        wait: waits.iter().map(|w| w.0 as f64).sum::<f64>() / n / 3600.0,
        max_wait: waits.last().map_or(0.0, |w| w.0 as f64 / 3600.0),
        slowdown: waits.iter().map(slowdown).sum::<f64>() / n,
        max_slowdown: waits.iter().map(slowdown).fold(0.0, f64::max),
        busiest: mean_of(&|user| user == month.busiest),
        light: mean_of(&|user| month.light.contains(&user)),
        cpu,
        searches: effort.searches as f64,
        nodes: effort.nodes as f64 / searches,
        exhausted: 100.0 * effort.exhausted as f64 / searches,
    })
}

/// Means over months.
fn mean_figures(figures: &[Figures]) -> Figures {
    let n = figures.len() as f64;
    let of = |get: fn(&Figures) -> f64| figures.iter().map(get).sum::<f64>() / n;
    Figures {
        wait: of(|f| f.wait),
        max_wait: of(|f| f.max_wait),
        slowdown: of(|f| f.slowdown),
        max_slowdown: of(|f| f.max_slowdown),
        busiest: of(|f| f.busiest),
        light: of(|f| f.light),
        cpu: figures.iter().map(|f| f.cpu).max().unwrap_or_default(),
        searches: of(|f| f.searches),
        nodes: of(|f| f.nodes),
        exhausted: of(|f| f.exhausted),
    }
}

const HEAD: &str = "| policy | mean wait (h) | of light users | of the busiest user | longest wait (h) | bounded slowdown | largest | nodes per search | exhausted | slowest month (processor s) |\n\
                    |---|---|---|---|---|---|---|---|---|---|";

fn print_row(name: &str, f: &Figures) {
    let search = if f.searches > 0.0 { format!("{:.0} | {:.0} %", f.nodes, f.exhausted) } else { "- | -".into() };
    println!(
        "| `{name}` | {:.2} | {:.2} | {:.2} | {:.1} | {:.2} | {:.0} | {search} | {:.2} |",
        f.wait,
        f.light,
        f.busiest,
        f.max_wait,
        f.slowdown,
        f.max_slowdown,
        f.cpu.as_secs_f64()
    );
}

/// Extensions beyond the paper, at the same limit of nodes; the first is the default.
const BEYOND: &[&str] = &[
    TRADEOFF,
    "goal(tradeoff(Tw:avgX),local=20,predict=perfect)",
    "goal(tradeoff(Tw:avgX),local=50,predict=perfect)",
    "goal(tradeoff(Tw:avgX),reuse=branch,predict=perfect)",
    "goal(tradeoff(Tw:avgX),reuse=seed,predict=perfect)",
    "goal(tradeoff(Tw:avgX),prune=beside,predict=perfect)",
    "goal(tradeoff(Tw:avgX),reuse=seed,local=20,prune=beside,predict=perfect)",
    "goal(tradeoff(Tw:avgX:fair(7d)),predict=perfect)",
    "goal(lexical(fair(7d)>Tw),predict=perfect)",
    "goal(tradeoff(Tw:avgX:special(USER=)),predict=perfect)",
    "goal(lexical(special(USER=)>Tw>avgX),predict=perfect)",
];

const FCFS: &str = "easy(predict=perfect)";
const LXF: &str = "easy(order=lxf,backfill=lxf,predict=perfect)";
const TRADEOFF: &str = "goal(tradeoff(Tw:avgX),predict=perfect)";
const LEXICAL: &str = "goal(lexical(Tw>avgX),predict=perfect)";
const MAXW: &str = "goal(tradeoff(maxW:avgX),predict=perfect)";
const ZERO: &str = "goal(lexical(Tw(0)>avgX),diff=strict,nodes=1000,predict=perfect)";
const THOUSAND: &str = "goal(tradeoff(Tw:avgX),nodes=1000,predict=perfect)";
const MANY: &str = "goal(tradeoff(Tw:avgX),nodes=64000,predict=perfect)";
const POLICIES: [&str; 8] = [FCFS, LXF, TRADEOFF, LEXICAL, MAXW, ZERO, THOUSAND, MANY];

/// A claim about the figures of the policies in the order of [`POLICIES`].
type Claim = (&'static str, fn(&[Figures]) -> bool);

/// Claims of the paper about its ten months at load 0.9.
const CLAIMS: [Claim; 11] = [
    ("Tradeoff(Tw:avgX): bounded slowdown like LXF-backfill's or better", |f| f[2].slowdown <= 1.1 * f[1].slowdown),
    ("… largest bounded slowdown like LXF-backfill's or better", |f| f[2].max_slowdown <= 1.1 * f[1].max_slowdown),
    ("… mean wait like LXF-backfill's or better", |f| f[2].wait <= 1.1 * f[1].wait),
    ("… longest wait like FCFS-backfill's or better", |f| f[2].max_wait <= 1.1 * f[0].max_wait),
    ("Lexical(Tw→avgX): bounded slowdown like LXF-backfill's or better", |f| f[3].slowdown <= 1.1 * f[1].slowdown),
    ("… longest wait like FCFS-backfill's or better", |f| f[3].max_wait <= 1.1 * f[0].max_wait),
    ("… largest bounded slowdown worse than Tradeoff(Tw:avgX)'s", |f| f[3].max_slowdown > f[2].max_slowdown),
    ("… but better than FCFS-backfill's", |f| f[3].max_slowdown < f[0].max_slowdown),
    ("Tradeoff(maxW:avgX) starves: longest wait over twice FCFS-backfill's", |f| f[4].max_wait > 2.0 * f[0].max_wait),
    ("a fixed threshold of 0 starves: the same", |f| f[5].max_wait > 2.0 * f[0].max_wait),
    ("L = 1,000 is close to 64,000: mean wait, slowdown and longest wait within 10 %", |f| {
        let close = |a: f64, b: f64| (a - b).abs() <= 0.1 * b;
        close(f[6].wait, f[7].wait) && close(f[6].slowdown, f[7].slowdown) && close(f[6].max_wait, f[7].max_wait)
    }),
];

fn print_claims(logs: &[String]) -> GeneratorResult<()> {
    let mut claim_counts = vec![[(0, 0); 2]; CLAIMS.len()];
    for log in logs {
        for (level, target_load) in [(0, None), (1, Some(0.9))] {
            let months = months_of(log, target_load)?;
            let mut by_policy = vec![Vec::new(); POLICIES.len()];
            for month in &months {
                let figures: Vec<Figures> =
                    POLICIES.iter().map(|p| simulate_month(month, p)).collect::<GeneratorResult<_>>()?;
                for (counts, claim) in claim_counts.iter_mut().zip(CLAIMS) {
                    counts[level].0 += u32::from(claim.1(&figures));
                    counts[level].1 += 1;
                }
                let line: Vec<String> = figures
                    .iter()
                    .map(|f| format!("{:.2}/{:.0}/{:.1}/{:.0}", f.wait, f.max_wait, f.slowdown, f.max_slowdown))
                    .collect();
                eprintln!("{} {} {}", name_of(log), month.name, line.join(" "));
                for (list, figures) in by_policy.iter_mut().zip(figures) {
                    list.push(figures);
                }
            }
            let load = target_load.map_or("the original load".to_string(), |w| format!("load {w}"));
            println!("\n{} at {load}: means over {} months\n\n{HEAD}", name_of(log), months.len());
            for (policy, list) in POLICIES.iter().zip(&by_policy) {
                print_row(policy, &mean_figures(list));
            }
        }
    }
    println!("\n| claim | months at load 0.9 | at the original load |\n|---|---|---|");
    for ((claim, _), [original, high]) in CLAIMS.iter().zip(claim_counts) {
        println!("| {claim} | {} of {} | {} of {} |", high.0, high.1, original.0, original.1);
    }
    Ok(())
}

/// Figures 3 to 5: each algorithm at L = 100 to 64,000.
fn print_curves(log: &str, month: &str) -> GeneratorResult<()> {
    let months = months_of(log, Some(0.9))?;
    let month = months.iter().find(|m| m.name == month).ok_or_else(|| {
        let names: Vec<_> = months.iter().map(|m| m.name.as_str()).collect();
        format!("there is no whole month {month} in {log}; there are {}", names.join(", "))
    })?;
    let limits = ["100", "400", "1000", "4000", "16000", "64000"];
    for objective in ["lexical(Tw>avgX)", "lexical(maxW>avgX)"] {
        println!(
            "\n{} {}, load 0.9, strict {objective}: bounded slowdown / longest wait (h)\n",
            name_of(log),
            month.name
        );
        println!("| algorithm | L = {} |\n|---|{}", limits.join(" | "), "---|".repeat(limits.len()));
        for search in ["dds-lxf", "dds-fcfs", "lds-lxf", "lds-fcfs"] {
            let mut cells = Vec::new();
            for nodes in limits {
                let policy = format!("goal({objective},diff=strict,search={search},nodes={nodes},predict=perfect)");
                let f = simulate_month(month, &policy)?;
                cells.push(format!("{:.2} / {:.1}", f.slowdown, f.max_wait));
            }
            println!("| {search} | {} |", cells.join(" | "));
        }
    }
    Ok(())
}

/// Choices within the policy, each against the default.
const CHOICES: &[&str] = &[
    TRADEOFF,
    "goal(tradeoff(Tw:avgX),version=b,predict=perfect)",
    "goal(tradeoff(Tw:avgX),version=c,predict=perfect)",
    "goal(tradeoff(Tw:avgX),diff=strict,predict=perfect)",
    "goal(tradeoff(Tw:avgX),prune=never,predict=perfect)",
    "goal(tradeoff(Tw:avgX),prune=placed,predict=perfect)",
    "goal(tradeoff(Tw:avgX:unused),predict=perfect)",
    "goal(tradeoff(Tw:avgX:areaW),predict=perfect)",
];

/// The paper's open question: what is left of it where run times are not known.
const RUN_TIMES: &[&str] = &[
    FCFS,
    TRADEOFF,
    "easy",
    "easy(order=lxf,backfill=lxf)",
    "goal(tradeoff(Tw:avgX))",
    "easy(predict=recent(2))",
    "easy(order=lxf,backfill=lxf,predict=recent(2))",
    "goal(tradeoff(Tw:avgX),predict=recent(2))",
    "goal(lexical(Tw>avgX),predict=recent(2))",
];

fn print_table(logs: &[String], policies: &[&str]) -> GeneratorResult<()> {
    for log in logs {
        let months = months_of(log, Some(0.9))?;
        println!("\n{} at load 0.9: means over {} months\n\n{HEAD}", name_of(log), months.len());
        for policy in policies {
            let figures: Vec<Figures> =
                months.iter().map(|month| simulate_month(month, policy)).collect::<GeneratorResult<_>>()?;
            for (month, f) in months.iter().zip(&figures) {
                let line = format!("{:.2}/{:.0}/{:.1}/{:.0}", f.wait, f.max_wait, f.slowdown, f.max_slowdown);
                eprintln!("{} {} {policy} {line}", name_of(log), month.name);
            }
            print_row(policy, &mean_figures(&figures));
        }
    }
    Ok(())
}

/// A stopwatch by the processor time of its thread.
#[derive(Debug, Default)]
struct ProcessorClock {
    until: Duration,
}

impl Stopwatch for ProcessorClock {
    fn start_timer(&mut self, limit: Duration) {
        self.until = processor_time() + limit;
    }

    fn is_up(&self) -> bool {
        processor_time() >= self.until
    }
}

/// Measures decisions limited to this many milliseconds of processor time, by queue length, for the
/// objectives with the least and the most preparation.
fn measure_budget(limit: &str) -> GeneratorResult<()> {
    let limit = Duration::from_millis(limit.parse()?);
    println!(
        "| waiting jobs | nodes | took (ms), most of 5 | of the budget | version=c | of the budget |\n|---|---|---|---|---|---|"
    );
    for waiting in [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] {
        let job = |i: i64| GoalCandidate {
            submit: Time(-i),
            procs: 1 + (i * 7 % 60) as u32,
            span: 60 + i * 37 % 5000,
            run: 60 + i * 37 % 5000,
            ..GoalCandidate::default()
        };
        let running_jobs = (0..40).map(|i| (Time(50 + 60 * i), 12)).collect();
        let waiting_jobs = (0..waiting).rev().map(job).collect();
        let task =
            GoalTask { now: Time(0), free: 32, running: running_jobs, waiting: waiting_jobs, ..GoalTask::default() };
        let mut cells = Vec::new();
        for version in [Version::A, Version::C] {
            let objective = GoalObjective { version, ..GoalObjective::default() };
            let settings = GoalSettings { objective, nodes: None, budget: Some(limit), ..GoalSettings::default() };
            let mut search = GoalSearch::default();
            let mut worst: Option<(Duration, u64, bool)> = None;
            for _ in 0..5 {
                let mut watch = ProcessorClock::default();
                let since = processor_time();
                watch.start_timer(limit);
                let result = search.run(&task, &settings, Some(&watch));
                let took = processor_time() - since;
                if worst.is_none_or(|w| took > w.0) {
                    worst = Some((took, result.effort.nodes, result.exhausted));
                }
            }
            let (took, nodes, is_exhausted) = worst.ok_or("no run")?;
            if version == Version::A {
                cells.push(nodes.to_string());
            }
            let share = 100.0 * took.as_secs_f64() / limit.as_secs_f64();
            cells.push(format!("{:.2}", took.as_secs_f64() * 1e3));
            cells.push(if is_exhausted { "exhausted".to_string() } else { format!("{share:.1} %") });
        }
        println!("| {waiting} | {} |", cells.join(" | "));
    }
    Ok(())
}
