//! Outages made up: nodes that fail and are repaired, and days of maintenance.

use super::random::{RandomStream, StreamPurpose};
use crate::model::{Machine, Outage, OutageError, OutageHit, Outages, ProcSet, Procs, Span, Time, Which};

/// Parameters of random outages.
///
/// Each node fails by itself: the times between a repair and the next failure are exponential, or
/// have a Weibull distribution, and repairs are exponential, with means such that nodes are out for
/// the share of time that is asked for. At the first instant all this has gone on for long.
/// During maintenance no node fails: all of them are out.
#[derive(Clone, Debug)]
pub struct OutageParams {
    /// The machine.
    pub machine: Machine,
    /// The first instant.
    pub from: Time,
    /// No outage begins later.
    pub until: Time,
    /// Processors of a node; where the machine is no multiple of it, the last node is smaller.
    pub node: Procs,
    /// Share of the time in which a node is out by a failure: 0 for no failures.
    pub unavailable: f64,
    /// Mean length of a repair.
    pub repair: Span,
    /// Shape of the Weibull distribution of the times to a failure: 1 is exponential, and with less
    /// failures come in groups, as on real machines (0.7 to 0.8: Schroeder & Gibson 2006).
    pub shape: f64,
    /// Fate of jobs on a node that fails.
    pub hit: OutageHit,
    /// Days of maintenance, if there are any.
    pub maintenance: Option<Maintenance>,
    /// Seed; equal seeds give equal outages.
    pub seed: u64,
}

/// The whole machine is out at regular times, announced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Maintenance {
    /// Duration.
    pub length: Span,
    /// Time from one beginning to the next, and from the first instant to the first.
    pub every: Span,
    /// Time of the announcement before the beginning.
    pub notice: Span,
}

impl OutageParams {
    /// A machine whose processors fail one by one, 1 % of the time for a day on average, with a day
    /// of maintenance every 30 days, announced two weeks ahead.
    #[must_use]
    pub fn new(machine: Machine, from: Time, until: Time, seed: u64) -> OutageParams {
        let maintenance =
            Maintenance { length: Span::DAY, every: Span(30 * Span::DAY.0), notice: Span(14 * Span::DAY.0) };
        OutageParams {
            machine,
            from,
            until,
            node: 1,
            unavailable: 0.01,
            repair: Span::DAY,
            shape: 1.0,
            hit: OutageHit::Requeue,
            maintenance: Some(maintenance),
            seed,
        }
    }
}

/// Reason why no outages can be drawn.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutageParamError {
    /// A share that is none, or would leave nothing.
    #[error("nodes cannot be out {0} of the time: expected a share from 0 to 0.5")]
    Share(f64),
    /// A repair that takes no time.
    #[error("a repair cannot take {0} s on average: expected 1 s or more")]
    Repair(Span),
    /// A shape that no distribution of failures has.
    #[error("a Weibull distribution of failures cannot have the shape {0}: expected 0.2 to 10; 1 is exponential")]
    Shape(f64),
    /// A node without processors, or larger than the machine.
    #[error("a node of {node} processors is impossible on a machine of {procs}")]
    Node {
        /// Processors of the node.
        node: Procs,
        /// Of the machine.
        procs: Procs,
    },
    /// Maintenance without an end.
    #[error("maintenance of {length} s every {every} s is impossible: it would not be over when the next begins")]
    Maintenance {
        /// Duration.
        length: Span,
        /// Interval.
        every: Span,
    },
    /// More failures than can be simulated.
    #[error("about {0:.0} failures are too many: longer repairs, larger nodes or a smaller share make fewer")]
    TooMany(f64),
    /// The outages contradict each other.
    #[error(transparent)]
    Outages(#[from] OutageError),
}

/// This many failures are drawn at most.
const MOST: f64 = 5e6;

/// Draws outages.
///
/// ```
/// use drystone::generate::{OutageParams, draw_outages};
/// use drystone::model::{Machine, Time};
///
/// let year = Time(365 * 86_400);
/// let outages = draw_outages(&OutageParams { node: 8, ..OutageParams::new(Machine::new(1_024), Time(0), year, 7) })?;
/// // Twelve days of maintenance, and 1 % of what is left.
/// let share = outages.out_between(Time(0), year) / (1_024.0 * 365.0 * 86_400.0);
/// assert!((0.04..0.046).contains(&share), "{share}");
/// # Ok::<(), drystone::generate::OutageParamError>(())
/// ```
///
/// # Errors
/// See [`OutageParamError`].
pub fn draw_outages(params: &OutageParams) -> Result<Outages, OutageParamError> {
    check_params(params)?;
    let windows = maintenance_windows(params);
    let mut outages: Vec<Outage> = windows
        .iter()
        .map(|&(begin, end)| {
            let whole = Which::Named(ProcSet::from_range(0..params.machine.procs));
            let notice = params.maintenance.map_or(Span::ZERO, |maintenance| maintenance.notice);
            Outage::new_window(whole, (begin - notice).max(params.from).min(begin), begin, end)
        })
        .collect();
    if params.unavailable > 0.0 {
        let nodes = params.machine.procs.div_ceil(params.node);
        for node in 0..nodes {
            let first = node * params.node;
            let procs = first..(first.saturating_add(params.node)).min(params.machine.procs);
            for (begin, end) in draw_failures(params, node, &windows) {
                let which = Which::Named(ProcSet::from_range(procs.clone()));
                outages.push(Outage::new_failure(which, begin, Some(end)).with_hit(params.hit));
            }
        }
    }
    Ok(Outages::new(params.machine, outages)?)
}

fn check_params(params: &OutageParams) -> Result<(), OutageParamError> {
    let OutageParams { unavailable, repair, node, machine, maintenance, .. } = params;
    if !(0.0..=0.5).contains(unavailable) {
        return Err(OutageParamError::Share(*unavailable));
    }
    if *repair < Span(1) {
        return Err(OutageParamError::Repair(*repair));
    }
    if !(0.2..=10.0).contains(&params.shape) {
        return Err(OutageParamError::Shape(params.shape));
    }
    if *node == 0 || *node > machine.procs {
        return Err(OutageParamError::Node { node: *node, procs: machine.procs });
    }
    if let Some(Maintenance { length, every, .. }) = *maintenance
        && (length < Span(1) || every <= length)
    {
        return Err(OutageParamError::Maintenance { length, every });
    }
    let time = (params.until - params.from).as_f64().max(0.0);
    let failures = f64::from(machine.procs.div_ceil(*node)) * time * unavailable / repair.as_f64();
    if failures > MOST {
        return Err(OutageParamError::TooMany(failures));
    }
    Ok(())
}

/// Beginning and end of each maintenance.
fn maintenance_windows(params: &OutageParams) -> Vec<(Time, Time)> {
    let Some(Maintenance { length, every, .. }) = params.maintenance else { return Vec::new() };
    let begin = |k: i64| params.from + Span(every.0.saturating_mul(k));
    (1..).map(begin).take_while(|&begin| begin < params.until).map(|begin| (begin, begin + length)).collect()
}

/// Beginning and end of each failure of a node. What is broken when maintenance begins is repaired
/// then.
fn draw_failures(params: &OutageParams, node: Procs, windows: &[(Time, Time)]) -> Vec<(Time, Time)> {
    let mut stream = RandomStream::new(params.seed, StreamPurpose::Outages, node as usize);
    let repair = params.repair.as_f64();
    let between = repair * (1.0 - params.unavailable) / params.unavailable;
    let length = (params.until - params.from).as_f64();
    // It may be out when all begins.
    let is_broken = stream.draw_unit() < params.unavailable;
    let (mut at, mut out, mut outages) = (0.0, is_broken, Vec::new());
    let mut is_first = true;
    while at < length {
        let span = match out {
            true => stream.draw_exponential(repair),
            false if params.shape == 1.0 => stream.draw_exponential(between),
            // The first failure comes at the end of a time that has begun before.
            false if is_first => stream.weibull_rest(between, params.shape),
            false => stream.draw_weibull(between, params.shape),
        };
        is_first = false;
        if out {
            let (begin, end) = (params.from + Span(at as i64), params.from + Span((at + span) as i64));
            let ahead = windows.partition_point(|window| window.1 <= begin);
            let end = windows.get(ahead).map_or(end, |window| end.min(window.0));
            if end > begin {
                outages.push((begin, end));
            }
        }
        at += span.max(1.0);
        out = !out;
    }
    outages
}
