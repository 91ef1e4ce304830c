//! The jobs that users of the made-up site submit.

use super::{BEGIN, DAY, HOUR};

/// A job as it is submitted, and what comes of it once it runs.
#[derive(Clone, Debug)]
pub(super) struct ExampleJob {
    pub(super) user: &'static str,
    pub(super) account: &'static str,
    /// Number of its partition in [`PARTITIONS`](super::schedule::PARTITIONS).
    pub(super) partition: usize,
    pub(super) submit: i64,
    pub(super) cpus: u32,
    pub(super) gpus: u32,
    pub(super) memory_mb: u32,
    /// Seconds.
    pub(super) limit: i64,
    /// Seconds that it would run without a limit.
    pub(super) run: i64,
    /// Parts of what it holds that it uses, in percent.
    pub(super) use_of: [u32; 3],
    /// The job that has to end before, by its place.
    pub(super) after: Option<usize>,
    /// Place of the first task of its array, and its own number there.
    pub(super) task: Option<(usize, u32)>,
    pub(super) fails: bool,
}

impl ExampleJob {
    /// Whole nodes of 32 processors; one that it shares for fewer.
    pub(super) fn node_count(&self) -> u32 {
        self.cpus.div_ceil(32)
    }
}

/// Random numbers of SplitMix64 (Steele, Lea, Flood 2014).
pub(super) struct ExampleDice(u64);

impl ExampleDice {
    fn roll_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn random_between(&mut self, (low, high): (i64, i64)) -> i64 {
        low + (self.roll_number() % (high - low + 1).unsigned_abs()) as i64
    }
}

/// Arrangement of the jobs that a user submits together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Together {
    Apart,
    Array,
    /// Each after the one before.
    Chain,
}

/// A user's way of working.
struct Habit {
    user: &'static str,
    account: &'static str,
    partition: usize,
    /// Times of a weekday at which jobs are submitted, and how many each time.
    times: i64,
    jobs: (i64, i64),
    together: Together,
    cpus: &'static [u32],
    gpus: &'static [u32],
    memory_per_cpu: u32,
    /// Limits in minutes.
    limits: &'static [i64],
    /// Parts in percent: of the limit that jobs run, and of processors, memory and GPUs in use.
    runs: (i64, i64),
    uses: [(i64, i64); 3],
}

const HABITS: [Habit; 9] = [
    Habit {
        user: "ada",
        account: "physics",
        partition: 0,
        times: 2,
        jobs: (10, 18),
        together: Together::Apart,
        cpus: &[32, 32, 16],
        gpus: &[0],
        memory_per_cpu: 2_000,
        limits: &[240, 480],
        runs: (40, 95),
        uses: [(85, 99), (40, 80), (0, 0)],
    },
    Habit {
        user: "bela",
        account: "physics",
        partition: 0,
        times: 1,
        jobs: (1, 2),
        together: Together::Apart,
        cpus: &[64, 96],
        gpus: &[0],
        memory_per_cpu: 3_000,
        limits: &[720, 1_440],
        runs: (50, 104),
        uses: [(80, 97), (50, 90), (0, 0)],
    },
    Habit {
        user: "chen",
        account: "biology",
        partition: 0,
        times: 2,
        jobs: (10, 24),
        together: Together::Array,
        cpus: &[2],
        gpus: &[0],
        memory_per_cpu: 7_500,
        limits: &[1_440],
        runs: (4, 25),
        uses: [(45, 98), (5, 20), (0, 0)],
    },
    Habit {
        user: "dara",
        account: "biology",
        partition: 0,
        times: 4,
        jobs: (1, 4),
        together: Together::Apart,
        cpus: &[8],
        gpus: &[0],
        memory_per_cpu: 2_000,
        limits: &[720, 2_880],
        runs: (5, 60),
        uses: [(11, 26), (20, 60), (0, 0)],
    },
    Habit {
        user: "eke",
        account: "climate",
        partition: 0,
        times: 1,
        jobs: (1, 2),
        together: Together::Apart,
        cpus: &[128, 128, 96],
        gpus: &[0],
        memory_per_cpu: 3_500,
        limits: &[360],
        runs: (60, 98),
        uses: [(90, 98), (60, 95), (0, 0)],
    },
    Habit {
        user: "finn",
        account: "climate",
        partition: 1,
        times: 3,
        jobs: (1, 3),
        together: Together::Apart,
        cpus: &[8, 16],
        gpus: &[1, 2, 4],
        memory_per_cpu: 6_000,
        limits: &[720, 1_440],
        runs: (20, 90),
        uses: [(30, 70), (30, 70), (55, 95)],
    },
    Habit {
        user: "gita",
        account: "physics",
        partition: 1,
        times: 2,
        jobs: (1, 3),
        together: Together::Apart,
        cpus: &[8],
        gpus: &[2, 4],
        memory_per_cpu: 8_000,
        limits: &[1_440, 2_880],
        runs: (10, 50),
        uses: [(10, 25), (10, 30), (8, 25)],
    },
    Habit {
        user: "hugo",
        account: "biology",
        partition: 2,
        times: 6,
        jobs: (1, 4),
        together: Together::Apart,
        cpus: &[4, 8],
        gpus: &[0],
        memory_per_cpu: 1_500,
        limits: &[30, 60],
        runs: (2, 90),
        uses: [(20, 90), (10, 50), (0, 0)],
    },
    Habit {
        user: "ivo",
        account: "climate",
        partition: 0,
        times: 1,
        jobs: (3, 5),
        together: Together::Chain,
        cpus: &[32],
        gpus: &[0],
        memory_per_cpu: 2_000,
        limits: &[180],
        runs: (30, 80),
        uses: [(85, 99), (40, 70), (0, 0)],
    },
];

/// Returns the jobs of all days in the order of their submission.
pub(super) fn submitted_jobs() -> Vec<ExampleJob> {
    let mut dice = ExampleDice(20_260_302);
    // Jobs that belong together, with the time of the first.
    let mut groups: Vec<(i64, Vec<ExampleJob>, Together)> = Vec::new();
    for day in 0..61 {
        let weekend = day % 7 >= 5;
        for habit in &HABITS {
            let times = if weekend { dice.random_between((0, 1)) * habit.times.min(1) } else { habit.times };
            for _ in 0..times {
                let submit = BEGIN + day * DAY + dice.random_between((7 * HOUR, 19 * HOUR));
                groups.push((submit, submit_together(habit, submit, &mut dice), habit.together));
            }
        }
    }
    groups.sort_by_key(|(submit, ..)| *submit);
    let mut submissions: Vec<ExampleJob> = Vec::new();
    for (_, jobs, together) in groups {
        let first = submissions.len();
        for (at, mut job) in jobs.into_iter().enumerate() {
            match together {
                Together::Apart => {}
                Together::Array => job.task = Some((first, at as u32)),
                Together::Chain => job.after = (at > 0).then(|| first + at - 1),
            }
            submissions.push(job);
        }
    }
    submissions
}

fn submit_together(habit: &Habit, submit: i64, dice: &mut ExampleDice) -> Vec<ExampleJob> {
    let pick =
        |dice: &mut ExampleDice, choices: &'static [u32]| choices[(dice.roll_number() % choices.len() as u64) as usize];
    let cpus = pick(dice, habit.cpus);
    let gpus = pick(dice, habit.gpus);
    let limit = habit.limits[(dice.roll_number() % habit.limits.len() as u64) as usize] * 60;
    let percent = |dice: &mut ExampleDice, range: (i64, i64)| dice.random_between(range) as u32;
    (0..dice.random_between(habit.jobs))
        .map(|at| ExampleJob {
            user: habit.user,
            account: habit.account,
            partition: habit.partition,
            submit: if habit.together == Together::Array { submit } else { submit + at * 2 },
            cpus,
            gpus,
            memory_mb: habit.memory_per_cpu * cpus,
            limit,
            run: (limit * dice.random_between(habit.runs) / 100 + dice.random_between((-29, 29))).max(5),
            use_of: habit.uses.map(|range| percent(dice, range)),
            after: None,
            task: None,
            fails: dice.random_between((1, 100)) <= 4,
        })
        .collect()
}
