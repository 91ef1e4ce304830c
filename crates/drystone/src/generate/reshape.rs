//! Shapes made up for the jobs of a log: a share of them becomes moldable or malleable.
//!
//! Each draw depends on the seed and the job's number alone: a job that is malleable at a share of
//! 20 % is so at 40 %.

use crate::log::clean::Overrun;
use crate::log::shapes::{ShapeNotes, give_shapes, read_shapes};
use crate::model::{Decimal, JobKind, Procs, Speedup, Workload};
use std::fmt::{self, Write as _};
use std::str::FromStr;

/// Rule by which sizes and speedups follow from the size that the log gives a job.
#[derive(Clone, PartialEq, Debug)]
pub enum ReshapeRule {
    /// Amdahl's law, with the parallel share of a list whose efficiency at the log's size is just
    /// above the second bound; sizes, powers of two, with an efficiency above the first (smallest)
    /// and the third bound (largest); after Posner et al. 2023.
    Efficiency([f64; 3]),
    /// Downey's model, with average parallelism and variation drawn so.
    Downey(ParameterDraw, ParameterDraw),
    /// From this many times the log's size to that many; powers of two alone, if so.
    Range(f64, f64, bool),
}

/// A number that is drawn for each job.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ParameterDraw {
    /// One number for all.
    Fixed(f64),
    /// Uniform between two.
    Uniform(f64, f64),
    /// Uniform in its logarithm between two.
    Log(f64, f64),
    /// Uniform in its logarithm between the log's size and the machine.
    FromSize,
}

/// Choices of a reshaping.
#[derive(Clone, PartialEq, Debug)]
pub struct Reshape {
    /// Kind of the jobs that are drawn.
    pub kind: JobKind,
    /// Share of the jobs that are drawn, from 0 to 1.
    pub share: f64,
    /// Sizes and speedups.
    pub rule: ReshapeRule,
    /// Speedup under [`ReshapeRule::Range`].
    pub speedup: Speedup,
    /// Seconds between points; `None`: 60 of malleable jobs under [`ReshapeRule::Efficiency`], else
    /// 0, which is at any time.
    pub every: Option<u32>,
    /// Seconds without progress when a job grows, and when it shrinks.
    pub costs: (u32, u32),
    /// Draw of a processor, uniform between two.
    pub watts: (u32, u32),
    /// Seed.
    pub seed: u64,
}

impl Default for Reshape {
    /// All jobs malleable, by efficiency.
    fn default() -> Reshape {
        Reshape {
            kind: JobKind::Malleable,
            share: 1.0,
            rule: ReshapeRule::Efficiency(EFFICIENCY),
            speedup: Speedup::Linear,
            every: None,
            costs: (0, 0),
            watts: (0, 0),
            seed: 1,
        }
    }
}

/// Efficiencies of Posner et al. 2023.
const EFFICIENCY: [f64; 3] = [0.95, 0.8, 0.5];

const EXPECTED: &str = "expected efficiency, efficiency(0.95,0.8,0.5), downey, downey(A,SIGMA) with numbers, log(LO,HI) or \
                        uniform(LO,HI), range(LO,HI) or range(LO,HI,pow2)";

/// Parts of a list in parentheses, split at the commas outside inner parentheses.
fn split_arguments(text: &str) -> Option<(&str, Vec<&str>)> {
    let Some((name, rest)) = text.split_once('(') else { return Some((text, Vec::new())) };
    let inside = rest.strip_suffix(')')?;
    let (mut depth, mut from, mut parts) = (0i32, 0, Vec::new());
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(inside[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(inside[from..].trim());
    Some((name.trim(), parts))
}

fn parse_number(text: &str, from: f64) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= from && *number <= 1e9);
    number.ok_or_else(|| format!("`{text}` is no number of {from} or more; {EXPECTED}"))
}

fn parse_draw(text: &str, from: f64) -> Result<ParameterDraw, String> {
    let wrong = || format!("`{text}` is no number and no draw; {EXPECTED}");
    let (name, parts) = split_arguments(text).ok_or_else(wrong)?;
    let pair = |parts: &[&str]| -> Result<(f64, f64), String> {
        let [low, high] = parts else { return Err(wrong()) };
        let (low, high) = (parse_number(low, from)?, parse_number(high, from)?);
        if low > high { Err(format!("`{text}`: {low} is above {high}; {EXPECTED}")) } else { Ok((low, high)) }
    };
    match (name, &parts[..]) {
        ("uniform", parts) => pair(parts).map(|(low, high)| ParameterDraw::Uniform(low, high)),
        ("log", parts) => match pair(parts)? {
            (low, _) if low <= 0.0 => Err(wrong()),
            (low, high) => Ok(ParameterDraw::Log(low, high)),
        },
        (_, []) => parse_number(text, from).map(ParameterDraw::Fixed),
        _ => Err(wrong()),
    }
}

impl FromStr for ReshapeRule {
    type Err = String;

    fn from_str(text: &str) -> Result<ReshapeRule, String> {
        let wrong = || format!("`{text}` is no rule; {EXPECTED}");
        let (name, parts) = split_arguments(text.trim()).ok_or_else(wrong)?;
        match (name, &parts[..]) {
            ("efficiency", []) => Ok(ReshapeRule::Efficiency(EFFICIENCY)),
            ("efficiency", [a, b, c]) => Ok(ReshapeRule::Efficiency([parse_number(a, 0.0)?, parse_number(b, 0.0)?, parse_number(c, 0.0)?])),
            ("downey", []) => Ok(ReshapeRule::Downey(ParameterDraw::FromSize, ParameterDraw::Uniform(0.0, 2.0))),
            ("downey", [average, sigma]) => Ok(ReshapeRule::Downey(parse_draw(average, 1.0)?, parse_draw(sigma, 0.0)?)),
            ("range", [low, high, rest @ ..]) => {
                let (low, high) = (parse_number(low, 0.0)?, parse_number(high, 0.0)?);
                let pow2 = match rest {
                    [] | ["any"] => false,
                    ["pow2"] => true,
                    _ => return Err(wrong()),
                };
                match low <= 1.0 && high >= 1.0 {
                    true => Ok(ReshapeRule::Range(low, high, pow2)),
                    false => Err(format!("`{text}`: 1 must lie between LO and HI, so that the log's size is one of them")),
                }
            }
            ("cirne2001", _) => Err(
                "cirne2001 draws from tables of Cirne & Berman 2001 that Drystone does not have; take downey, efficiency or \
                 range"
                    .into(),
            ),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for ReshapeRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReshapeRule::Efficiency(bounds) if *bounds == EFFICIENCY => f.write_str("efficiency"),
            ReshapeRule::Efficiency([min, own, max]) => write!(f, "efficiency({min},{own},{max})"),
            ReshapeRule::Downey(average, sigma) => write!(f, "downey({average},{sigma})"),
            ReshapeRule::Range(low, high, false) => write!(f, "range({low},{high})"),
            ReshapeRule::Range(low, high, true) => write!(f, "range({low},{high},pow2)"),
        }
    }
}

impl fmt::Display for ParameterDraw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterDraw::Fixed(number) => number.fmt(f),
            ParameterDraw::Uniform(low, high) => write!(f, "uniform({low},{high})"),
            ParameterDraw::Log(low, high) => write!(f, "log({low},{high})"),
            ParameterDraw::FromSize => f.write_str("size"),
        }
    }
}

impl fmt::Display for Reshape {
    /// Kind and share, and what differs from the default; without the seed: `malleable 20%`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reshape { kind, share, rule, speedup, every, costs, watts, .. } = self;
        write!(f, "{} {}%", kind.name(), (share * 1e4).round() / 1e2)?;
        if *rule != ReshapeRule::Efficiency(EFFICIENCY) {
            write!(f, " by {rule}")?;
        }
        if *speedup != Speedup::Linear {
            write!(f, " speedup {speedup}")?;
        }
        every.iter().try_for_each(|every| write!(f, " every {every}s"))?;
        if *costs != (0, 0) {
            write!(f, " costs {}s/{}s", costs.0, costs.1)?;
        }
        if *watts != (0, 0) {
            write!(f, " watts {}-{}", watts.0, watts.1)?;
        }
        Ok(())
    }
}

/// The function `mix` of splitmix64.
fn mix_bits(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// A number from 0 to 1 for a job, in one of several streams.
fn draw_share(seed: u64, stream: u64, job: i64) -> f64 {
    let bits = mix_bits(mix_bits(mix_bits(seed) ^ stream) ^ job as u64);
    bits as f64 / 18_446_744_073_709_551_616.0
}

impl ParameterDraw {
    /// The number of a job, with three digits behind the point.
    fn value_at(self, share: f64, size: Procs, machine: Procs) -> Decimal {
        let log = |low: f64, high: f64| libm::exp(libm::log(low) + share * (libm::log(high) - libm::log(low)));
        let number = match self {
            ParameterDraw::Fixed(number) => number,
            ParameterDraw::Uniform(low, high) => low + share * (high - low),
            ParameterDraw::Log(low, high) => log(low, high),
            ParameterDraw::FromSize => log(f64::from(size), f64::from(machine)).max(f64::from(size)),
        };
        Decimal::from_rounded(number, 3)
    }
}

/// The largest power of two up to a number; 0 of 0.
fn power_of_two(number: Procs) -> Procs {
    if number == 0 { 0 } else { 1 << number.ilog2() }
}

/// The parallel shares among which [`ReshapeRule::Efficiency`] chooses, in thousandths.
const SHARES: [u32; 11] = [999, 995, 990, 985, 980, 975, 970, 965, 960, 955, 950];

/// Returns whether the efficiency of a parallel share at a size is above a bound: exact.
fn is_above(share: u32, size: Procs, bound: f64) -> bool {
    let (share, size) = (f64::from(share), f64::from(size));
    // S(n)/n = 1 / ((1 − f) n + f); products of whole numbers below 2^53.
    1000.0 > bound * ((1000.0 - share) * size + share)
}

fn by_efficiency(bounds: [f64; 3], size: Procs, machine: Procs) -> (Procs, Procs, Speedup) {
    let fits = |share: &&u32| is_above(**share, size, bounds[1]);
    // Efficiency falls with the parallel share: the last that is above the bound has the least.
    let share = if size == 1 { 999 } else { SHARES.iter().rfind(fits).copied().unwrap_or(999) };
    let widest = (machine / 2).max(1);
    let largest = |bound: f64| (1..=widest).rev().find(|&n| is_above(share, n, bound)).unwrap_or(0);
    let (min, max) = (power_of_two(largest(bounds[0])), power_of_two(largest(bounds[2])));
    let speedup = Speedup::Amdahl(Decimal::from_rounded(f64::from(share) / 1000.0, 3));
    (min.clamp(1, size), max.max(size), speedup)
}

fn by_downey(average: Decimal, sigma: Decimal, size: Procs, machine: Procs) -> (Procs, Procs, Speedup) {
    let (a, s) = (average.as_f64(), sigma.as_f64());
    let most = if s <= 1.0 { 2.0 * a - 1.0 } else { a + a * s - s };
    let max = (most + 1e-9).floor().min(f64::from(machine)) as Procs;
    (1, max.max(size), Speedup::Downey(average, sigma))
}

impl Reshape {
    /// Gives the jobs of a workload the shapes of [`Reshape::render_table`]. Estimates and run
    /// times follow the rule for overruns at every size.
    ///
    /// # Errors
    /// As [`Reshape::render_table`].
    pub fn apply(&self, workload: Workload, overrun: Overrun) -> Result<(Workload, ShapeNotes), String> {
        let table = read_shapes(&format!("reshape({self} seed {})", self.seed), &self.render_table(&workload)?)
            .map_err(|e| e.to_string())?;
        give_shapes(workload, &table, overrun).map_err(|e| e.to_string())
    }

    fn resize_interval(&self) -> u32 {
        let by_efficiency = matches!(self.rule, ReshapeRule::Efficiency(_)) && self.kind == JobKind::Malleable;
        self.every.unwrap_or(if by_efficiency { 60 } else { 0 })
    }

    /// Shapes for the jobs of a workload, as the table of `--shapes`.
    ///
    /// # Errors
    /// Two jobs with the same number: a table names jobs by their numbers.
    pub fn render_table(&self, workload: &Workload) -> Result<String, String> {
        let machine = workload.machine().procs;
        let mut text = "job,kind,min,pref,max,sizes,speedup,every,grow_cost,shrink_cost,watts\n".to_string();
        let mut numbers: Vec<i64> = workload.truth().iter().map(|truth| truth.number).collect();
        numbers.sort_unstable();
        if let Some(pair) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!(
                "two jobs have the number {}, and a table names jobs by their numbers; renumber them (`drystone workload \
                 clean`)",
                pair[0]
            ));
        }
        for (job, truth) in workload.jobs().iter().zip(workload.truth()) {
            let (number, size) = (truth.number, job.procs);
            let mut list = String::new();
            let (mut min, mut max, speedup) = match &self.rule {
                ReshapeRule::Efficiency(bounds) => by_efficiency(*bounds, size, machine),
                ReshapeRule::Downey(average, sigma) => {
                    let average = average.value_at(draw_share(self.seed, 3, number), size, machine);
                    let sigma = sigma.value_at(draw_share(self.seed, 4, number), size, machine);
                    by_downey(average, sigma, size, machine)
                }
                ReshapeRule::Range(low, high, pow2) => {
                    let min = (low * f64::from(size) - 1e-9).ceil().max(1.0) as Procs;
                    let max = (high * f64::from(size) + 1e-9).floor().min(f64::from(machine)) as Procs;
                    if *pow2 {
                        let mut sizes: Vec<Procs> =
                            (0..32).map(|bit| 1 << bit).filter(|n| (min..=max).contains(n)).collect();
                        sizes.push(size);
                        sizes.sort_unstable();
                        sizes.dedup();
                        list = sizes.iter().map(Procs::to_string).collect::<Vec<_>>().join(" ");
                    }
                    (min.min(size), max.max(size), self.speedup.clone())
                }
            };
            let is_reshaped = draw_share(self.seed, 1, number) < self.share;
            let kind = if is_reshaped { self.kind } else { JobKind::Rigid };
            if !is_reshaped {
                (min, max) = (size, size);
                list.clear();
            }
            let bounds = if list.is_empty() { (min.to_string(), max.to_string()) } else { Default::default() };
            let (low, high) = (f64::from(self.watts.0), f64::from(self.watts.1));
            let watts = (low + draw_share(self.seed, 2, number) * (high - low + 1.0)).floor().min(high);
            let (every, grow, shrink) =
                if is_reshaped { (self.resize_interval(), self.costs.0, self.costs.1) } else { (0, 0, 0) };
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "{number},{},{},{size},{},{list},{speedup},{every},{grow},{shrink},{watts}",
                kind.name(),
                bounds.0,
                bounds.1
            );
        }
        Ok(text)
    }
}

/// Reads a draw of watts: a number, or two of which each job draws one between, such as `60-200`.
///
/// # Errors
/// Other text.
pub fn read_watts(text: &str) -> Result<(u32, u32), String> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    match (low.trim().parse(), high.trim().parse()) {
        (Ok(low), Ok(high)) if low <= high => Ok((low, high)),
        _ => Err(format!("`{text}` is no draw; expected whole watts, such as 120, or a range, such as 60-200")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_read_or_says_what_is_expected() {
        for (text, good) in [
            ("efficiency", true),
            ("efficiency(0.9,0.7,0.4)", true),
            ("downey", true),
            ("downey(log(1,64),uniform(0,2))", true),
            ("downey(8,0.5)", true),
            ("range(0.5,2)", true),
            ("range(0.25,4,pow2)", true),
            ("range(2,4)", false),
            ("downey(0.5,1)", false),
            ("downey(log(4,2),1)", false),
            ("cirne2001", false),
            ("efficiency(1", false),
            ("magic", false),
        ] {
            assert_eq!(text.parse::<ReshapeRule>().is_ok(), good, "{text}");
        }
    }

    #[test]
    fn efficiency_as_computed_by_hand() {
        // At size 1 the share is .999: 1/(0.001 n + 0.999) is above .95 up to 53 processors, of
        // which half a machine of 64 has 32.
        let (min, max, speedup) = by_efficiency([0.95, 0.8, 0.5], 1, 64);
        assert_eq!((min, max, speedup.to_string().as_str()), (1, 32, "amdahl:0.999"));
        // At 5 processors .95 has 1/(0.25 + 0.95) = .833, above .8: sizes above .95 end at
        // 1/(0.05 n + 0.95) with n = 2 (.952), those above .5 at 20, hence 16.
        let (min, max, speedup) = by_efficiency([0.95, 0.8, 0.5], 5, 64);
        assert_eq!((min, max, speedup.to_string().as_str()), (2, 16, "amdahl:0.95"));
    }

    #[test]
    fn jobs_of_a_smaller_share_are_among_those_of_a_larger() {
        let share_count = |share: f64| (1..2000).filter(|&job| draw_share(7, 1, job) < share).collect::<Vec<i64>>();
        let (few, many) = (share_count(0.2), share_count(0.4));
        assert!(few.iter().all(|job| many.contains(job)));
        assert!((300..500).contains(&few.len()) && (700..900).contains(&many.len()));
        // The sequence of splitmix64 with seed 0 begins so.
        assert_eq!(mix_bits(0), 0xE220_A839_7B1D_CDAF);
    }
}
