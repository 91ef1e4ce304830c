//! Synthetic workloads that look like real logs.
//!
//! [`generate_workload`] makes a [`Workload`] for a machine of any size from [`Params`]: jobs or
//! span, target load, seed.
//!
//! | what | model | module |
//! |---|---|---|
//! | sizes, run times | Lublin & Feitelson (JPDC 2003) | `jobs` |
//! | arrivals with a daily cycle | Lublin & Feitelson | `arrivals` |
//! | estimates | Tsafrir, Etsion & Feitelson (JSSPP 2005) | `estimates` |
//! | similar jobs in series | our own | `campaigns`, `dealing` |
//! | users and their sessions | our own | `sessions` |
//!
//! Each module says where it deviates from its source, and why. Users and campaigns only permute
//! jobs among arrivals: the distributions of sizes, run times, gaps and estimates stay those of the
//! models.
//!
//! # Accuracy of history
//! Accuracy is the mean over all jobs of min(run, prediction) / max(run, prediction), at least 1 s
//! each. *Recent two* is the mean run time of the user's last two terminated jobs, capped by the
//! estimate; the estimate itself where there are none. Measured alike on logs and synthetic
//! workloads, with every job starting when it is submitted:
//!
//! | workload | recent two | estimates |
//! |---|---|---|
//! | KTH SP2 1996 | 0.53 | 0.47 |
//! | CTC SP2 1996 | 0.56 | 0.39 |
//! | SDSC SP2 1998 | 0.59 | 0.32 |
//! | SDSC BLUE 2000 | 0.60 | 0.30 |
//! | synthetic: 256 processors, 10,000 jobs, load 0.85 | 0.57 | 0.39 |
//! | 128 processors, 100,000 jobs, load 0.85 | 0.63 | 0.38 |
//! | 128 processors, 1,000,000 jobs, load 0.85 | 0.64 | 0.39 |
//! | 1,152 processors, 200,000 jobs, load 0.76 | 0.66 | 0.45 |
//! | with types: 128 processors, 100,000 jobs, load 0.85 | 0.66 | 0.21 |
//! | `care` = 1: 128 processors, 100,000 jobs, load 0.85 | 0.62 | 0.22 |
//!
//! The shape of the activity of users (the top user 8 % of the jobs, the top tenth of the users one
//! half) is that of the same logs. On machines of more than a few hundred processors jobs get
//! longer, as the model has it, and both accuracies rise; interactive jobs of the model with types
//! mostly run for seconds, and no round estimate is accurate for them.
//!
//! The largest estimate is 18 hours by default: that of CTC and SDSC SP2, and the largest value
//! popular in all four logs. It cuts one run time in 500. With 48 hours the run times are exactly
//! those of the model.
//!
//! # Guarantees
//! Equal parameters give equal workloads on every platform and in every build of one version of
//! this crate: the random stream is ChaCha8, transcendental functions are those of the `libm` crate
//! in IEEE arithmetic, and nothing depends on threads, addresses or hash order. (The exception is
//! targets whose arithmetic has excess precision: 32-bit x86 without SSE2.) Another version may
//! give other workloads; a test pins them, so that this never happens unnoticed.
//!
//! Seed and settings are recorded in the workload's [`Provenance`]. Time zero is a midnight.

mod arrivals;
mod campaigns;
mod dealing;
mod estimates;
mod failures;
mod jobs;
mod outages;
mod params;
mod presets;
mod random;
pub mod reshape;
mod sessions;

use crate::model::{Job, LogStatus, Machine, Procs, Provenance, Setting, Span, Time, Truth, Workload};
use arrivals::{ArrivalSource, Cycle};
use campaigns::Campaigns;
use estimates::EstimatePool;
use jobs::{BATCH, INTERACTIVE, JobSource, TYPELESS, TypeClass};
use random::{RandomStream, StreamPurpose};

pub use failures::{NodeFailures, measure_failures};
pub use outages::{Maintenance, OutageParamError, OutageParams, draw_outages};
pub use params::{GenerateError, Habits, Params, WorkloadLength, WorkloadModel};
pub use presets::{deep_queue_params, default_params, default_workload, example_params};

/// No target load may spread the jobs over more seconds than this (about 17,000 years): half of
/// what a workload can hold.
const LONGEST_SPAN: f64 = (1_u64 << 39) as f64;

/// The jobs of one type, in the order drawn, and their arrivals.
struct TypeLane {
    class: &'static TypeClass,
    cycle: Cycle,
    /// Arrivals, ascending: in points; in whole seconds of the workload at the end.
    arrivals: Vec<f64>,
    procs: Vec<Procs>,
    run: Vec<u32>,
}

/// Activity of the people of one lane.
struct LanePlan {
    user: Vec<u32>,
    dealt: dealing::Dealt,
    campaigns: usize,
}

/// Generates the workload that `params` determine.
///
/// ```
/// use drystone::generate::{Params, generate_workload};
///
/// let params = Params { seed: 3, load: Some(0.8), ..Params::new(64, 1_000) };
/// let workload = generate_workload(&params)?;
/// assert_eq!((workload.len(), workload.machine().procs), (1_000, 64));
/// assert_eq!(workload, generate_workload(&params)?);
/// # Ok::<(), drystone::generate::GenerateError>(())
/// ```
///
/// # Errors
/// See [`GenerateError`].
///
/// Cost: O(n log n). Measured on 10 million jobs for 128 processors, one core of an AMD EPYC: 12 s
/// of processor time, and 107 bytes per job at the peak, 72 of them the workload itself.
pub fn generate_workload(params: &Params) -> Result<Workload, GenerateError> {
    params.check_params()?;
    let mut lanes = draw_lanes(params)?;
    let factor = gap_factor(&lanes, params)?;
    let campaigns: Vec<Campaigns> = lanes
        .iter()
        .enumerate()
        .map(|(l, lane)| {
            let mut stream = RandomStream::new(params.seed, StreamPurpose::Campaigns, l);
            Campaigns::new(lane, &params.habits, &mut stream)
        })
        .collect();
    let estimates = {
        let mut stream = RandomStream::new(params.seed, StreamPurpose::Estimates, 0);
        let runs = lanes.iter().flat_map(|l| &l.run);
        let largest = params.max_estimate.0 as u32;
        let mut pool = EstimatePool::new(estimates::draw_modes(runs, largest, &mut stream));
        campaigns::give_estimates(&lanes, &campaigns, &mut pool, params.habits.care, &mut stream)
    };
    let plans: Vec<LanePlan> = lanes
        .iter()
        .zip(campaigns)
        .enumerate()
        .map(|(l, (lane, campaigns))| plan_lane(l, lane, &campaigns, params))
        .collect();
    for lane in &mut lanes {
        for arrival in &mut lane.arrivals {
            *arrival = libm::floor(lane.cycle.seconds_at(factor * *arrival));
        }
    }
    assemble_workload(params, &lanes, &estimates, &plans)
}

/// Estimates by the model for jobs of these run times, in their order: none is below its run time.
pub(crate) fn modelled_estimates(runs: &[u32]) -> Vec<u32> {
    // Eighteen hours, as in generated workloads, or the next hour beyond the longest run time.
    let longest = runs.iter().copied().max().unwrap_or(0);
    let largest = longest.div_ceil(3_600).saturating_mul(3_600).max(64_800);
    let mut stream = RandomStream::new(1, StreamPurpose::Estimates, 0);
    let mut pool = EstimatePool::new(estimates::draw_modes(runs.iter(), largest, &mut stream));
    // The longest first: what they leave others can have.
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(runs[at]));
    let mut estimates = vec![0; runs.len()];
    for at in order {
        estimates[at] = pool.take_estimate(runs[at], 1, 1, &mut stream).0.max(runs[at]).max(1);
    }
    estimates
}

/// Estimates for jobs of these run times, in their order: uniform from the run time, at least 1 s,
/// up to it and `most` thousandths of it, in whole seconds.
pub(crate) fn uniform_estimates(runs: &[u32], most: u32) -> Vec<u32> {
    let mut stream = RandomStream::new(1, StreamPurpose::Estimates, 0);
    let estimate = |&run: &u32| {
        let run = run.max(1);
        let more = u64::from(run) * u64::from(most) / 1_000;
        u32::try_from(u64::from(run) + stream.draw_below(more + 1)).unwrap_or(u32::MAX)
    };
    runs.iter().map(estimate).collect()
}

/// Draws jobs and arrivals, type by type, until there are enough.
fn draw_lanes(params: &Params) -> Result<Vec<TypeLane>, GenerateError> {
    let classes: &[&'static TypeClass] = match params.model {
        WorkloadModel::Typeless => &[&TYPELESS],
        WorkloadModel::Typed => &[&BATCH, &INTERACTIVE],
    };
    let longest = params.max_estimate.0 as u32;
    let mut lanes = Vec::new();
    let mut sources = Vec::new();
    for (l, &class) in classes.iter().enumerate() {
        let stream = |purpose| RandomStream::new(params.seed, purpose, l);
        let jobs = JobSource::new(class, params.procs, longest, stream(StreamPurpose::Jobs));
        let mut arrivals = ArrivalSource::new(class, stream(StreamPurpose::Arrivals));
        let cycle = Cycle::new(class.cycle);
        let next = arrivals.next();
        sources.push((jobs, arrivals, next));
        lanes.push(TypeLane { class, cycle, arrivals: Vec::new(), procs: Vec::new(), run: Vec::new() });
    }
    let mut enough = Enough::new(params);
    loop {
        // The type whose next arrival comes first.
        let mut first = (0, f64::INFINITY);
        for (l, (lane, source)) in lanes.iter().zip(&sources).enumerate() {
            let time = lane.cycle.seconds_at(source.2);
            if time < first.1 {
                first = (l, time);
            }
        }
        let (l, time) = first;
        if enough.is_enough_before(time) {
            break;
        }
        let (jobs, arrivals, next) = &mut sources[l];
        let lane = &mut lanes[l];
        let (procs, run) = jobs.next();
        lane.arrivals.push(*next);
        lane.procs.push(procs);
        lane.run.push(run);
        *next = arrivals.next();
        enough.add_job(time, procs, run)?;
    }
    lanes.retain(|lane| !lane.run.is_empty());
    Ok(lanes)
}

/// Stopping rule of the draw of jobs.
struct Enough {
    length: WorkloadLength,
    /// Work to reach, in processor-seconds, where a span and a load are given.
    work_wanted: Option<f64>,
    jobs: u32,
    work: f64,
    first: f64,
}

impl Enough {
    fn new(params: &Params) -> Enough {
        let work_wanted = match (params.length, params.load) {
            (WorkloadLength::Span(span), Some(load)) => Some(span.as_f64() * load * f64::from(params.procs)),
            _ => None,
        };
        Enough { length: params.length, work_wanted, jobs: 0, work: 0.0, first: 0.0 }
    }

    /// Returns whether the jobs so far are enough without the one that arrives at `time`.
    fn is_enough_before(&self, time: f64) -> bool {
        match (self.length, self.work_wanted) {
            _ if self.jobs == 0 => false,
            (WorkloadLength::Jobs(target), _) => self.jobs >= target,
            (WorkloadLength::Span(_), Some(work)) => self.work >= work,
            (WorkloadLength::Span(span), None) => time - self.first > span.as_f64(),
        }
    }

    fn add_job(&mut self, time: f64, procs: Procs, run: u32) -> Result<(), GenerateError> {
        if self.jobs == 0 {
            self.first = time;
        }
        self.jobs = self.jobs.checked_add(1).ok_or(GenerateError::TooManyJobs)?;
        self.work += f64::from(procs) * f64::from(run);
        Ok(())
    }
}

/// The factor on all gaps between arrivals that meets the target load.
fn gap_factor(lanes: &[TypeLane], params: &Params) -> Result<f64, GenerateError> {
    let jobs: usize = lanes.iter().map(|l| l.run.len()).sum();
    match params.load {
        // One job alone has no load.
        Some(load) if jobs > 1 => {
            let work: f64 =
                lanes.iter().flat_map(|l| l.procs.iter().zip(&l.run)).map(|(&p, &r)| f64::from(p) * f64::from(r)).sum();
            let span = work / (load * f64::from(params.procs));
            if !(1.0..=LONGEST_SPAN).contains(&span) {
                return Err(GenerateError::UnreachableLoad { load, jobs, span });
            }
            let ends: Vec<_> =
                lanes.iter().map(|l| (&l.cycle, l.arrivals[0], l.arrivals[l.arrivals.len() - 1])).collect();
            Ok(arrivals::factor_for_span(&ends, span))
        }
        _ => Ok(1.0),
    }
}

fn plan_lane(l: usize, lane: &TypeLane, campaigns: &Campaigns, params: &Params) -> LanePlan {
    let habits = &params.habits;
    let mut stream = RandomStream::new(params.seed, StreamPurpose::Sessions, l);
    let users = habits.users.unwrap_or_else(|| libm::ceil(1.5 * libm::sqrt(lane.run.len() as f64)) as u32);
    // Sessions live in the natural time of the model, whatever the target load: the same people
    // submit the same jobs in the same order under every load, so that loads can be compared.
    let times = lane.arrivals.iter().map(|&points| lane.cycle.seconds_at(points));
    let user = sessions::assign_users(times, users, habits, &mut stream);
    let assignment = dealing::deal_jobs(campaigns, &user, users, habits, &mut stream);
    LanePlan { user, dealt: assignment, campaigns: campaigns.len() }
}

/// Puts the jobs of all types together in order of arrival.
fn assemble_workload(
    params: &Params,
    lanes: &[TypeLane],
    estimates: &[Vec<u32>],
    plans: &[LanePlan],
) -> Result<Workload, GenerateError> {
    let total = lanes.iter().map(|l| l.run.len()).sum();
    let mut jobs = Vec::with_capacity(total);
    let mut truth = Vec::with_capacity(total);
    let user_count = |p: &LanePlan| p.user.iter().max().map_or(0, |&u| u as usize + 1);
    let mut users = UseNumbers::new(plans.iter().map(user_count));
    let mut programs = UseNumbers::new(plans.iter().map(|p| p.campaigns));
    let groups = users.given.len().div_ceil(USERS_PER_GROUP).max(1) as i32;
    let mut at = vec![0; lanes.len()];
    // Of arrivals in the same second the earlier type comes first.
    while let Some(l) = (0..lanes.len())
        .filter(|&l| at[l] < lanes[l].arrivals.len())
        .min_by(|&a, &b| lanes[a].arrivals[at[a]].total_cmp(&lanes[b].arrivals[at[b]]))
    {
        let (lane, plan, slot) = (&lanes[l], &plans[l], at[l]);
        at[l] += 1;
        let i = plan.dealt.job[slot] as usize;
        let user = users.use_number(l, plan.user[slot]);
        let submit = Time(lane.arrivals[slot] as i64);
        let mut job = Job::new(submit, lane.procs[i], Span(i64::from(estimates[l][i]))).with_user(user);
        job.group = 1 + (user - 1) % groups;
        job.executable = programs.use_number(l, plan.dealt.campaign[slot]);
        job.queue = lane.class.queue;
        jobs.push(job);
        truth.push(Truth {
            run: Span(i64::from(lane.run[i])),
            number: jobs.len() as i64,
            status: LogStatus::Completed,
        });
    }
    let machine = Machine::new(params.procs);
    Ok(Workload::new(machine, jobs, truth, build_provenance(params))?)
}

/// A group has about this many users, as in the logs that name groups (SDSC SP2: 428 users, 158
/// groups).
const USERS_PER_GROUP: usize = 3;

/// Numbers in order of first use, from 1 on, for things that are numbered from 0 within each lane.
struct UseNumbers {
    /// First index of each lane in `given`.
    offsets: Vec<usize>,
    /// The number of each thing, 0 where it has none yet.
    given: Vec<i32>,
    last: i32,
}

impl UseNumbers {
    /// For lanes with this many things each.
    fn new(counts: impl Iterator<Item = usize>) -> UseNumbers {
        let mut total = 0;
        let mut offsets = Vec::new();
        for count in counts {
            offsets.push(total);
            total += count;
        }
        UseNumbers { offsets, given: vec![0; total], last: 0 }
    }

    fn use_number(&mut self, lane: usize, thing: u32) -> i32 {
        let number = &mut self.given[self.offsets[lane] + thing as usize];
        if *number == 0 {
            self.last += 1;
            *number = self.last;
        }
        *number
    }
}

/// Returns all facts needed to generate the workload again.
fn build_provenance(params: &Params) -> Provenance {
    let Params { procs, length, load, seed, model, max_estimate, habits } = params;
    let model = match model {
        WorkloadModel::Typeless => "typeless",
        WorkloadModel::Typed => "typed",
    };
    let (length_name, length) = match length {
        WorkloadLength::Jobs(jobs) => ("jobs", i64::from(*jobs)),
        WorkloadLength::Span(span) => ("span", span.0),
    };
    let or_default = |set: Option<String>, default: &str| set.unwrap_or_else(|| default.into());
    let settings = [
        ("generator", format!("lublin-{model}")),
        ("procs", procs.to_string()),
        (length_name, length.to_string()),
        ("load", or_default(load.map(|l| l.to_string()), "natural")),
        ("seed", seed.to_string()),
        ("max-estimate", max_estimate.to_string()),
        ("users", or_default(habits.users.map(|u| u.to_string()), "auto")),
        ("activity", habits.activity.to_string()),
        ("session-tail", habits.session_tail.to_string()),
        ("longest-session", habits.longest_session.to_string()),
        ("think-time", habits.think_time.to_string()),
        ("think-scatter", habits.think_scatter.to_string()),
        ("patience", habits.patience.to_string()),
        ("campaign-tail", habits.campaign_tail.to_string()),
        ("longest-campaign", habits.longest_campaign.to_string()),
        ("scatter", habits.scatter.to_string()),
        ("breadth", habits.breadth.to_string()),
        ("odd-jobs", habits.odd_jobs.to_string()),
        ("odd-scatter", habits.odd_scatter.to_string()),
        ("care", habits.care.to_string()),
        ("variety", habits.variety.to_string()),
    ];
    Provenance {
        name: format!("lublin-{model}-{procs}-seed{seed}"),
        settings: settings.into_iter().map(|(name, value)| Setting { name: name.to_string(), value }).collect(),
        // Time zero is a midnight, so times give hours of the day.
        unix_start: Some(0),
        utc_offset: Some(0),
        time_zone: None,
        moves: Vec::new(),
    }
}
