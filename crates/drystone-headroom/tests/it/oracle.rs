//! Small random instances and their optima, by trying everything.

use drystone_headroom::{CapacitySteps, DelayMeasure, HeadroomTask, Instance, TaskSchedule};

/// Random numbers, the same in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, most: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as i64 % most
    }

    pub(crate) fn unit(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 30)
    }
}

/// Some jobs on a small machine, some of which take all of it, run for no time, or tie.
pub(crate) fn instance(random: &mut Random, outages: bool) -> Instance {
    let procs = [4, 7, 10, 100][random.below(4) as usize];
    let jobs = 4 + random.below(3);
    let measure = DelayMeasure::ALL[random.below(3) as usize];
    let ties = random.below(3) == 0;
    let tasks = (0..jobs).map(|_| {
        let submit = if ties { 5 * random.below(3) } else { random.below(40) };
        let width = if random.below(3) == 0 { procs } else { 1 + random.below(procs) };
        let run = match random.below(6) {
            0 => 0,
            1 => 1 + random.below(100),
            _ => 1 + random.below(20),
        };
        // Some may not start at their submit.
        let release = if random.below(4) == 0 { submit + random.below(15) } else { submit };
        let task = measure.task_from(submit, release, width as u32, run);
        HeadroomTask { grace: if random.below(8) == 0 { task.grace + random.below(6) } else { task.grace }, ..task }
    });
    let tasks = tasks.collect();
    let reductions: Vec<(i64, i64, u32)> = (0..if outages { 1 + random.below(3) } else { 0 })
        .map(|_| {
            let from = random.below(60) - 5;
            (from, from + 1 + random.below(40), (1 + random.below(procs)) as u32)
        })
        .collect();
    Instance::new(CapacitySteps::with_reductions(procs as u32, &reductions), tasks).expect("possible")
}

/// The earliest second from the release on at which a task fits beside others, one by one.
fn earliest(instance: &Instance, task: &HeadroomTask, placements: &[(HeadroomTask, i64)]) -> i64 {
    let fits = |start: i64| {
        (start..start + task.run).all(|second| {
            let neighbours = placements.iter().filter(|(neighbour, at)| (*at..at + neighbour.run).contains(&second));
            neighbours.map(|(neighbour, _)| i64::from(neighbour.procs)).sum::<i64>() + i64::from(task.procs)
                <= instance.capacity().procs_at(second)
        })
    };
    (task.release..).find(|&start| fits(start)).expect("the machine is whole in the end")
}

/// The optimum: costs never fall with a start, so that some order of earliest places is optimal.
pub(crate) fn optimum(instance: &Instance) -> (f64, TaskSchedule) {
    let mut best = (f64::INFINITY, TaskSchedule { starts: Vec::new() });
    let mut rest: Vec<usize> = (0..instance.tasks().len()).collect();
    orders(instance, &mut Vec::new(), &mut rest, 0.0, &mut best);
    best
}

fn orders(
    instance: &Instance,
    placements: &mut Vec<(HeadroomTask, i64)>,
    rest: &mut Vec<usize>,
    cost: f64,
    best: &mut (f64, TaskSchedule),
) {
    // Places of the tasks in the order of the instance stand beside the placed ones.
    fn inner(
        instance: &Instance,
        placements: &mut Vec<(HeadroomTask, i64)>,
        at: &mut Vec<usize>,
        rest: &mut Vec<usize>,
        cost: f64,
        best: &mut (f64, TaskSchedule),
    ) {
        if cost >= best.0 {
            return;
        }
        if rest.is_empty() {
            let mut starts = vec![0; at.len()];
            at.iter().zip(&*placements).for_each(|(&task, &(_, start))| starts[task] = start);
            *best = (cost, TaskSchedule { starts });
            return;
        }
        for i in 0..rest.len() {
            let task = rest.remove(i);
            let of = instance.tasks()[task];
            let start = earliest(instance, &of, placements);
            placements.push((of, start));
            at.push(task);
            inner(instance, placements, at, rest, cost + of.delay_cost(start), best);
            at.pop();
            placements.pop();
            rest.insert(i, task);
        }
    }
    inner(instance, placements, &mut Vec::new(), rest, cost, best);
}

/// The optimum by trying every start of every task up to this one's cost; for very small instances.
pub(crate) fn optimum_by_starts(instance: &Instance, at_most: f64) -> f64 {
    fn inner(instance: &Instance, at: usize, placements: &mut Vec<(HeadroomTask, i64)>, cost: f64, best: &mut f64) {
        let Some(&task) = instance.tasks().get(at) else {
            *best = best.min(cost);
            return;
        };
        let mut start = task.release;
        while cost + task.delay_cost(start) < *best - 1e-9 {
            let free = (start..start + task.run).all(|second| {
                let neighbours =
                    placements.iter().filter(|(neighbour, at)| (*at..at + neighbour.run).contains(&second));
                neighbours.map(|(neighbour, _)| i64::from(neighbour.procs)).sum::<i64>() + i64::from(task.procs)
                    <= instance.capacity().procs_at(second)
            });
            if free {
                placements.push((task, start));
                inner(instance, at + 1, placements, cost + task.delay_cost(start), best);
                placements.pop();
            }
            if task.weight.over == 0 && start > 400 {
                break;
            }
            start += 1;
        }
    }
    let mut best = at_most;
    inner(instance, 0, &mut Vec::new(), 0.0, &mut best);
    best
}
