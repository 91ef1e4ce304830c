//! Sizes and run times by Lublin & Feitelson, "The workload on parallel supercomputers: modeling
//! the characteristics of rigid jobs" (JPDC 63(11), 2003; Lublin's thesis, 1999).
//!
//! Choices where the paper is silent, and deviations from it:
//! - The parameters were fitted to machines of 128 processors. For another machine the largest size
//!   moves with log₂ of the machine and the break between the two stages stays as far below it as
//!   in the table (2.5, or 2 for batch jobs), but at least 0.7 above the smallest, which is what
//!   the authors advise for a machine of 8.
//! - Where the machine is no power of two, rounding to a power of two could exceed it; the largest
//!   power that fits is taken. A machine of one processor has serial jobs only.
//! - The weight of the first gamma falls with the number of processors as in the table, whatever
//!   the machine: on machines far wider than 128 almost every wide job is a long one.
//! - Run times are also redrawn while they exceed the largest estimate: with the default of 18
//!   hours one in 500, with 48 hours none.

use super::random::RandomStream;
use crate::model::Procs;

/// Shape and scale of a gamma distribution.
pub(super) type Gamma = (f64, f64);

/// Run times are redrawn while their logarithm exceeds this: about 45 hours.
const LONGEST_LOG_RUN: f64 = 12.0;

/// The smallest distance of the break between the stages from the smallest size, in powers of two.
const LEAST_FIRST_STAGE: f64 = 0.7;

/// The parameters of one type of job.
pub(super) struct TypeClass {
    /// Probability of a serial job.
    pub(super) serial: f64,
    /// Probability of a parallel job whose size is rounded to a power of two.
    pub(super) power_of_two: f64,
    /// log₂ of the smallest parallel size.
    pub(super) low: f64,
    /// Distance of the break between the stages below the largest size, in powers of two.
    pub(super) medium_below_high: f64,
    /// Distance of the largest size below the machine, in powers of two.
    pub(super) high_below_machine: f64,
    pub(super) first_stage: f64,
    /// The two gammas of the logarithm of the run time.
    pub(super) run: [Gamma; 2],
    /// Weight of the first gamma: slope · processors + base, clipped to [0, 1].
    pub(super) run_slope: f64,
    /// See `run_slope`.
    pub(super) run_base: f64,
    /// Gamma of the logarithm of the gap between arrivals in the rush hours.
    pub(super) rush_gap: Gamma,
    /// Gamma of the daily cycle, over half-hours.
    pub(super) cycle: Gamma,
    /// All hours over rush hours; multiplies the shape of the gap.
    pub(super) all_over_rush: f64,
    /// SWF queue number: 0 for interactive jobs by the convention of the format; unset without
    /// types.
    pub(super) queue: i32,
}

/// All jobs of one type.
pub(super) const TYPELESS: TypeClass = TypeClass {
    serial: 0.244,
    power_of_two: 0.576,
    low: 0.8,
    medium_below_high: 2.5,
    high_below_machine: 0.0,
    first_stage: 0.86,
    run: [(4.2, 0.94), (312.0, 0.03)],
    run_slope: -0.0054,
    run_base: 0.78,
    rush_gap: (10.2303, 0.4871),
    cycle: (8.1737, 3.9631),
    all_over_rush: 1.0225,
    queue: crate::model::UNKNOWN,
};

/// Batch jobs of the model with types.
pub(super) const BATCH: TypeClass = TypeClass {
    serial: 0.2927,
    power_of_two: 0.6686,
    low: 1.2,
    medium_below_high: 2.0,
    high_below_machine: 0.0,
    first_stage: 0.875,
    run: [(6.57, 0.823), (639.1, 0.0156)],
    run_slope: -0.003,
    run_base: 0.6986,
    rush_gap: (6.0415, 0.8531),
    cycle: (6.1271, 5.2740),
    all_over_rush: 1.0519,
    queue: 1,
};

/// Interactive jobs of the model with types.
pub(super) const INTERACTIVE: TypeClass = TypeClass {
    serial: 0.1541,
    power_of_two: 0.625,
    low: 1.0,
    medium_below_high: 2.5,
    high_below_machine: 1.5,
    first_stage: 0.705,
    run: [(3.8351, 0.6605), (7.073, 0.6856)],
    run_slope: -0.0118,
    run_base: 0.9156,
    rush_gap: (6.5510, 0.6621),
    cycle: (8.9186, 3.6680),
    all_over_rush: 0.9797,
    queue: 0,
};

/// Draws the jobs of one type for one machine.
pub(super) struct JobSource<'a> {
    class: &'a TypeClass,
    machine: Procs,
    low: f64,
    medium: f64,
    high: f64,
    longest: u32,
    stream: RandomStream,
}

impl<'a> JobSource<'a> {
    /// Jobs of `class` for a machine of `machine` ≥ 1 processors, running `longest` seconds at
    /// most.
    pub(super) fn new(class: &'a TypeClass, machine: Procs, longest: u32, stream: RandomStream) -> JobSource<'a> {
        let whole = libm::log2(f64::from(machine));
        let low = class.low.min(whole);
        let high = (whole - class.high_below_machine).max(low);
        let medium = (high - class.medium_below_high).max((low + LEAST_FIRST_STAGE).min(high));
        JobSource { class, machine, low, medium, high, longest, stream }
    }

    /// The next job: processors and run time in seconds, both at least 1.
    pub(super) fn next(&mut self) -> (Procs, u32) {
        let procs = self.draw_procs();
        (procs, self.draw_run(procs))
    }

    fn draw_procs(&mut self) -> Procs {
        let kind = self.stream.draw_unit();
        if kind < self.class.serial {
            return 1;
        }
        let (from, to) = if self.stream.draw_unit() < self.class.first_stage {
            (self.low, self.medium)
        } else {
            (self.medium, self.high)
        };
        let power = self.stream.draw_uniform(from, to);
        if kind < self.class.serial + self.class.power_of_two {
            let whole = libm::floor(power + 0.5) as u32;
            1 << whole.min(self.machine.ilog2())
        } else {
            (libm::floor(libm::exp2(power) + 0.5) as Procs).clamp(1, self.machine)
        }
    }

    fn draw_run(&mut self, procs: Procs) -> u32 {
        let class = self.class;
        let first = class.run_slope * f64::from(procs) + class.run_base;
        loop {
            let (shape, scale) = class.run[usize::from(self.stream.draw_unit() >= first)];
            let log = self.stream.draw_gamma(shape, scale);
            if log > LONGEST_LOG_RUN {
                continue;
            }
            let run = libm::exp(log) as u32;
            if run <= self.longest {
                return run;
            }
        }
    }
}
