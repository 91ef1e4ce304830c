//! Cost of waiting.

/// A measure that sums up over jobs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DelayMeasure {
    /// Wait: time between submit and start.
    #[default]
    Wait,
    /// Bounded slowdown with a bound of 10 s. The cost is what it is above 1.
    BoundedSlowdown,
    /// Wait weighted by processors × run time.
    AreaWait,
}

/// Run times below this count as this much in bounded slowdowns, in seconds.
const BOUND: i64 = 10;

impl DelayMeasure {
    pub const ALL: [DelayMeasure; 3] = [DelayMeasure::Wait, DelayMeasure::BoundedSlowdown, DelayMeasure::AreaWait];

    pub fn option_word(self) -> &'static str {
        match self {
            DelayMeasure::Wait => "wait",
            DelayMeasure::BoundedSlowdown => "bounded-slowdown",
            DelayMeasure::AreaWait => "area-wait",
        }
    }

    /// Returns the cost of a second of delay for a job.
    pub fn delay_weight(self, procs: u32, run: i64) -> DelayWeight {
        let run = run.max(0).unsigned_abs();
        match self {
            DelayMeasure::Wait => DelayWeight { over: 1, under: 1 },
            DelayMeasure::BoundedSlowdown => DelayWeight { over: 1, under: run.max(BOUND.unsigned_abs()) },
            DelayMeasure::AreaWait => DelayWeight { over: u64::from(procs).saturating_mul(run), under: 1 },
        }
    }

    /// Seconds after the submit in which a delay costs nothing.
    pub fn grace_period(self, run: i64) -> i64 {
        match self {
            DelayMeasure::BoundedSlowdown => (BOUND - run).max(0),
            DelayMeasure::Wait | DelayMeasure::AreaWait => 0,
        }
    }

    pub fn make_task(self, submit: i64, procs: u32, run: i64) -> HeadroomTask {
        self.task_from(submit, submit, procs, run)
    }

    /// A job that may start from `release` on, while its delay counts from its submit.
    pub fn task_from(self, submit: i64, release: i64, procs: u32, run: i64) -> HeadroomTask {
        let free_until = submit + self.grace_period(run);
        HeadroomTask {
            release,
            procs,
            run,
            weight: self.delay_weight(procs, run),
            grace: (free_until - release).max(0),
            settled: (release - free_until).max(0),
            fixed: false,
        }
    }
}

/// Cost of a second of delay, as a fraction of whole numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelayWeight {
    /// Numerator.
    pub over: u64,
    /// Denominator, at least 1.
    pub under: u64,
}

impl DelayWeight {
    /// Delay costs nothing.
    pub const NONE: DelayWeight = DelayWeight { over: 0, under: 1 };

    pub fn as_f64(self) -> f64 {
        self.over as f64 / self.under as f64
    }

    /// In units of 2^−q, rounded down.
    pub(crate) fn scaled_weight(self, q: u32) -> i128 {
        ((u128::from(self.over) << q) / u128::from(self.under)) as i128
    }
}

/// A job, as a number of processors for some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeadroomTask {
    /// Its earliest start, in seconds.
    pub release: i64,
    pub procs: u32,
    /// Run time in seconds.
    pub run: i64,
    /// Cost of a second of delay.
    pub weight: DelayWeight,
    /// Seconds after the release in which a delay costs nothing.
    pub grace: i64,
    /// Delay that is past at the release already, in seconds.
    pub settled: i64,
    /// True if a search must leave it where it is.
    pub fixed: bool,
}

impl HeadroomTask {
    /// Delay that counts where it starts at this second.
    pub fn counted_delay(&self, start: i64) -> i64 {
        self.settled + (start - self.release - self.grace).max(0)
    }

    pub fn delay_cost(&self, start: i64) -> f64 {
        self.weight.as_f64() * self.counted_delay(start) as f64
    }
}
