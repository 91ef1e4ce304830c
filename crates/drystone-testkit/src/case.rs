//! Cases: a machine, jobs, withdrawals; hostile random ones, and how one is shown to people.

use crate::world::CaseWorld;
use drystone::log::swf::{SwfHeader, SwfRecord, SwfWriter};
use drystone::model::{Job, JobId, LogStatus, Machine, Procs, Provenance, Span, Time, Truth, Workload};

/// SplitMix64: the same numbers everywhere, from any seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number, any of 64 bits.
    pub fn draw_bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `from` up to and with `to`.
    pub fn draw_range(&mut self, from: i64, to: i64) -> i64 {
        from + (self.draw_bits() % (to - from + 1) as u64) as i64
    }

    /// True in so many of 100 cases.
    pub fn draw_chance(&mut self, percent: u64) -> bool {
        self.draw_bits() % 100 < percent
    }

    /// One of these.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick_one<T: Clone>(&mut self, from: &[T]) -> T {
        from[(self.draw_bits() % from.len() as u64) as usize].clone()
    }
}

/// A job: seconds, processors, a user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CaseRow {
    /// Arrival time.
    pub submit: i64,
    /// Processors.
    pub procs: Procs,
    /// User's estimate.
    pub estimate: i64,
    /// True run time.
    pub run: i64,
    /// Its user.
    pub user: i32,
}

/// Case on which a policy is tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyCase {
    /// Processors of the machine.
    pub procs: Procs,
    /// In order of arrival.
    pub rows: Vec<CaseRow>,
    /// Jobs that are withdrawn, and the time from their arrival to the withdrawal.
    pub cancel: Vec<(usize, i64)>,
    /// After how many steps the state is saved and restored elsewhere.
    pub stop: usize,
    /// Events besides arrivals and ends; only [`check_real`](crate::check_real) looks at it.
    pub world: CaseWorld,
}

/// Treatment of jobs that outlive their estimates, as in experiments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Overrun {
    RunOn,
    Kill,
    Raise,
    Exact,
}

/// Size limits of cases for a policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CaseLimits {
    /// Most jobs.
    pub jobs: i64,
    /// Longest run time, in seconds.
    pub run: i64,
    /// Most jobs where they are placed on nodes.
    pub jobs_on_nodes: usize,
}

impl Default for CaseLimits {
    /// 600 jobs of at most a year.
    fn default() -> CaseLimits {
        CaseLimits { jobs: 600, run: YEAR, jobs_on_nodes: usize::MAX }
    }
}

/// Seconds.
pub const YEAR: i64 = 365 * 86_400;

impl PolicyCase {
    #[must_use]
    pub(crate) fn take_first(&self, jobs: usize) -> PolicyCase {
        let jobs = jobs.min(self.rows.len());
        let cancel = self.cancel.iter().copied().filter(|(at, _)| *at < jobs).collect();
        PolicyCase { rows: self.rows[..jobs].to_vec(), cancel, ..self.clone() }
    }

    /// A hostile one: each property of the jobs is drawn from a mix that is itself drawn.
    #[must_use]
    pub fn random_case(random: &mut Random, limits: CaseLimits) -> PolicyCase {
        let procs = random.pick_one(&[1u32, 2, 3, 7, 8, 16, 16, 100, 1024]);
        let jobs = match random.draw_range(0, 99) {
            0..75 => random.draw_range(1, 25.min(limits.jobs)),
            75..97 => random.draw_range(1, 120.min(limits.jobs)),
            _ => random.draw_range(1, limits.jobs),
        };
        let (gaps, widths, runs, estimates) =
            (random.draw_range(0, 4), random.draw_range(0, 4), random.draw_range(0, 4), random.draw_range(0, 5));
        let overrun = random.pick_one(&[Overrun::RunOn, Overrun::RunOn, Overrun::Kill, Overrun::Raise, Overrun::Exact]);
        let users = random.draw_range(1, 4);
        let mut now = if random.draw_chance(80) { 0 } else { random.draw_range(-1_000, 1_000_000) };
        let mut rows = Vec::new();
        for _ in 0..jobs {
            now += match gaps {
                0 => 0,
                1 => random.draw_range(0, 3),
                2 => random.draw_range(0, 60),
                3 if random.draw_chance(90) => 0,
                3 => random.draw_range(0, 2_000),
                _ => random.pick_one(&[0, 0, 1, 5, 30]),
            };
            let width = match widths {
                0 => procs,
                1 => 1,
                2 => 1 << random.draw_range(0, i64::from(procs.ilog2())),
                3 if random.draw_chance(80) => random.draw_range(1, i64::from(procs.div_ceil(4))) as Procs,
                _ => random.draw_range(1, i64::from(procs)) as Procs,
            };
            let run = match runs {
                0 => 0,
                1 => random.draw_range(1, 40),
                2 => random.pick_one(&[0, 0, 1, 1, 2, limits.run]),
                3 => random.pick_one(&[10, 10, 20, limits.run.min(600)]),
                _ => random.draw_range(0, limits.run.min(300)),
            };
            let estimate = match estimates {
                0 => 1,
                1 => YEAR,
                2 => run.max(1),
                3 => random.draw_range(1, 60),
                4 => run + random.draw_range(0, 3) * run.max(10) / 2,
                _ => random.pick_one(&[1, 10, 60, 3_600, YEAR, run, run / 2]),
            };
            // An estimate of nothing cannot be said in a log, except of a job that runs for no
            // time.
            let estimate = estimate.max(1);
            let (estimate, run) = match overrun {
                Overrun::RunOn => (estimate, run),
                Overrun::Kill => (estimate, run.min(estimate)),
                Overrun::Raise => (estimate.max(run), run),
                Overrun::Exact => (run, run),
            };
            rows.push(CaseRow { submit: now, procs: width, estimate, run, user: random.draw_range(1, users) as i32 });
        }
        let withdrawn = if random.draw_chance(30) { random.draw_range(1, 1 + jobs / 3) } else { 0 };
        let cancel = (0..withdrawn)
            .map(|_| (random.draw_range(0, jobs - 1) as usize, random.pick_one(&[0, 0, 1, 10, 100, 1_000])))
            .collect();
        PolicyCase {
            procs,
            rows,
            cancel,
            stop: random.draw_range(0, 2 * jobs + 2) as usize,
            world: CaseWorld::default(),
        }
    }

    /// Its jobs on its machine.
    ///
    /// # Panics
    /// If a row is impossible: cases that are drawn are sound.
    #[must_use]
    pub fn to_workload(&self) -> Workload {
        let job = |r: &CaseRow| Job::new(Time(r.submit), r.procs, Span(r.estimate)).with_user(r.user);
        let truth =
            |(i, r): (usize, &CaseRow)| Truth { run: Span(r.run), number: i as i64 + 1, status: LogStatus::Completed };
        let (jobs, truth) = (self.rows.iter().map(job).collect(), self.rows.iter().enumerate().map(truth).collect());
        Workload::new(Machine::new(self.procs), jobs, truth, Provenance::default()).expect("a sound case")
    }

    /// Its jobs in its world; `None` where they are impossible together.
    #[must_use]
    pub fn real_workload(&self) -> Option<Workload> {
        self.to_workload().with_circumstances(self.world.known.clone()).ok()
    }

    /// Its withdrawals, in the order in which they are handled.
    #[must_use]
    pub fn cancellations(&self) -> Vec<(Time, JobId)> {
        let at = |&(job, after): &(usize, i64)| (Time(self.rows[job].submit + after), JobId(job as u32));
        let mut list: Vec<_> = self.cancel.iter().map(at).collect();
        list.sort();
        list
    }

    /// As a log in the Standard Workload Format.
    ///
    /// # Panics
    /// Never: memory takes all.
    #[must_use]
    pub fn to_swf(&self) -> String {
        let workload = self.to_workload();
        let mut header = SwfHeader::new();
        header.set_field("MaxProcs", &self.procs.to_string());
        let records: Vec<SwfRecord> =
            workload.jobs().iter().zip(workload.truth()).map(|(job, truth)| SwfRecord::from_job(job, truth)).collect();
        let mut writer = SwfWriter::new(Vec::new());
        writer.write_log(&header, &records).expect("memory takes all");
        String::from_utf8(writer.into_inner()).expect("text")
    }
}
