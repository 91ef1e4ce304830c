//! Cost of a node of goal-oriented scheduling: nodes per second of the search, and of a naive loop
//! that copies the whole profile for every node and looks for a place from its front.
//!
//! Millions of nodes per second of processor time on one core: of the fastest of ten batches, so
//! that neither what else the machine does nor its hiccups count. `search` is the search as it is
//! used; `unpruned` visits every path to its end, so that both loops do the same.

mod clock;

use clock::processor_time;
use drystone::model::Time;
use drystone::policy::goal::{GoalCandidate, GoalObjective, GoalSearch, GoalSettings, GoalTask, Prune};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;

const PROCS: u32 = 512;

/// A busy machine: waiting jobs of many sizes, run times over three orders of magnitude, waits of
/// up to a day.
fn task(waiting: usize, running: usize) -> GoalTask {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut span = || f64::exp(rng.random_range(4.0..11.0)) as i64;
    let spans: Vec<i64> = (0..waiting + running).map(|_| span()).collect();
    let mut ends: Vec<(Time, u32)> = spans[..running].iter().map(|&s| (Time(s), PROCS / running as u32)).collect();
    ends.sort_unstable();
    let mut candidates: Vec<GoalCandidate> = spans[running..]
        .iter()
        .map(|&span| GoalCandidate {
            submit: Time(-rng.random_range(0..86_400)),
            procs: 1 << rng.random_range(0..8_u32),
            span,
            run: span,
            ..GoalCandidate::default()
        })
        .collect();
    candidates.sort_by_key(|job| job.submit);
    let busy_procs: u32 = ends.iter().map(|e| e.1).sum();
    GoalTask { now: Time::ZERO, free: PROCS - busy_procs, running: ends, waiting: candidates, ..GoalTask::default() }
}

/// The obvious loop: DDS down to its second iteration, the profile copied for every node.
struct Naive {
    jobs: Vec<GoalCandidate>,
    nodes: u64,
    limit: u64,
    best: (i64, i64),
    threshold: i64,
}

#[derive(Clone)]
struct Copied {
    steps: Vec<(i64, u32)>,
    excess: i64,
    slowdown: f64,
}

impl Copied {
    fn place(&self, job: &GoalCandidate, threshold: i64) -> Copied {
        let mut new = self.clone();
        let steps = &mut new.steps;
        // From the front, and on behind whatever is in the way.
        let mut at = 0;
        let find_block =
            |at: usize, end: i64| steps[at..].iter().take_while(|s| s.0 < end).position(|s| s.1 < job.procs);
        while let Some(by) = find_block(at, steps[at].0 + job.span) {
            at += by + 1;
        }
        let (start, end) = (steps[at].0, steps[at].0 + job.span);
        let to = at + steps[at..].iter().take_while(|step| step.0 < end).count();
        if steps.get(to).is_none_or(|step| step.0 != end) {
            steps.insert(to, (end, steps[to - 1].1));
        }
        steps[at..to].iter_mut().for_each(|step| step.1 -= job.procs);
        let wait = start - job.submit.0;
        new.excess += (wait - threshold).max(0);
        new.slowdown += 1.0 + wait as f64 / job.span.max(60) as f64;
        new
    }
}

impl Naive {
    fn visit(&mut self, above: &Copied, queue: &[usize], depth: usize, iteration: usize) {
        if queue.is_empty() {
            let value = (above.excess, (above.slowdown * 1e3) as i64);
            self.best = self.best.min(value);
            return;
        }
        let branches = match depth.cmp(&iteration) {
            std::cmp::Ordering::Less => 0..queue.len(),
            std::cmp::Ordering::Equal => 1..queue.len(),
            std::cmp::Ordering::Greater => 0..1,
        };
        for branch in branches {
            if self.nodes >= self.limit {
                return;
            }
            self.nodes += 1;
            let below = above.place(&self.jobs[queue[branch]], self.threshold);
            let mut rest = queue.to_vec();
            rest.remove(branch);
            self.visit(&below, &rest, depth + 1, iteration);
        }
    }
}

fn naive(task: &GoalTask, limit: u64) -> u64 {
    let mut jobs = task.waiting.clone();
    // Largest slowdown first.
    let slowdown = |job: &GoalCandidate| -(task.now - job.submit).as_f64() / job.span as f64;
    jobs.sort_by(|a, b| slowdown(a).total_cmp(&slowdown(b)));
    let mut steps = vec![(0, task.free)];
    for &(end, procs) in &task.running {
        let free = steps[steps.len() - 1].1 + procs;
        if steps[steps.len() - 1].0 == end.0 {
            steps.pop();
        }
        steps.push((end.0, free));
    }
    let root = Copied { steps, excess: 0, slowdown: 0.0 };
    let indices: Vec<usize> = (0..jobs.len()).collect();
    let mut naive = Naive { jobs, nodes: 0, limit, best: (i64::MAX, i64::MAX), threshold: task.oldest_wait() };
    for iteration in 0..indices.len() {
        naive.visit(&root, &indices, 1, iteration);
    }
    black_box(naive.best);
    naive.nodes
}

/// Nodes per search.
const NODES: u64 = 64_000;
/// Searches per batch.
const SEARCHES: u32 = 20;

/// Millions of nodes per second of processor time, of the fastest batch.
fn speed(mut search: impl FnMut() -> u64) -> f64 {
    assert_eq!(search(), NODES, "it is exhausted early");
    let batch = |_| {
        let since = processor_time();
        (0..SEARCHES).for_each(|_| {
            black_box(search());
        });
        processor_time() - since
    };
    let least = (0..10).map(batch).min().unwrap_or_default();
    NODES as f64 * f64::from(SEARCHES) / least.as_secs_f64() / 1e6
}

fn main() {
    println!("| waiting/running | objective | search | unpruned | naive loop |\n|---|---|---|---|---|");
    for (waiting, running) in [(10, 20), (30, 40), (100, 80)] {
        let task = task(waiting, running);
        let naive = speed(|| naive(black_box(&task), NODES));
        for text in ["lexical(Tw>avgX)", "tradeoff(Tw:avgX)"] {
            let objective = GoalObjective::parse(text).expect("good");
            let of = |prune| {
                let settings =
                    GoalSettings { objective: objective.clone(), nodes: Some(NODES), prune, ..GoalSettings::default() };
                let mut searcher = GoalSearch::default();
                speed(|| searcher.run(black_box(&task), &settings, None).effort.nodes)
            };
            let (search, full_search) = (of(Prune::Earliest), of(Prune::Never));
            println!("| {waiting}/{running} | `{text}` | {search:.1} | {full_search:.1} | {naive:.1} |");
        }
    }
}
