//! Selective suspension, with and without limits, and immediate service (Kettimuthu et al. 2005;
//! rules S3 to S12).
//!
//! Processors have numbers, because a suspended job resumes on the very processors it had. It
//! *owns* them while suspended; which free processors a fresh job may take is the choice that
//! decides everything ([`NaivePlace`]).

mod immediate;
mod machine;
mod selective;
mod set;

use crate::checker::NaiveSegment;
use crate::{JobIn, JobOut};
use machine::NaiveMachine;

#[derive(Clone, PartialEq, Debug)]
pub enum NaivePolicy {
    /// SS, and TSS with [`NaiveSelective::limit`].
    Selective(NaiveSelective),
    /// IS: arriving jobs start at once.
    Immediate {
        /// True if suspended jobs may suspend others to resume (rule S12, second half of (2)).
        preempting_resumption: bool,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct NaiveSelective {
    /// SF as a fraction (numerator, denominator): a job may suspend those whose priority is at most
    /// 1/SF of its own.
    pub factor: (i64, i64),
    /// Jobs whose suspension is ruled out altogether.
    pub limit: NaiveLimit,
    /// The printed formula: the limit is on the priority of the job that suspends another, by the
    /// category of that other one; else on the priority of the job that is suspended.
    pub limit_on_preemptor: bool,
    /// The limit is on the turnaround w + e instead of the priority (w + e) / e; means are of
    /// turnarounds.
    pub limit_on_turnaround: bool,
    /// Free processors that a fresh job may take.
    pub place: NaivePlace,
    /// Victims that a fresh job takes.
    pub victims: NaiveVictims,
    /// True if jobs start only at full minutes.
    pub starts_at_ticks_only: bool,
}

impl NaiveSelective {
    /// The settled semantics with a factor of 2.
    pub fn settled_rules() -> NaiveSelective {
        NaiveSelective {
            factor: (2, 1),
            limit: NaiveLimit::None,
            limit_on_preemptor: false,
            limit_on_turnaround: false,
            place: NaivePlace::Strict,
            victims: NaiveVictims::WidestFirst,
            starts_at_ticks_only: false,
        }
    }
}

/// Rule S9: a job whose priority exceeds 1.5 × the mean slowdown of its category is not suspended
/// any more (TSS).
#[derive(Clone, PartialEq, Debug)]
pub enum NaiveLimit {
    /// No limit (SS).
    None,
    /// The mean over the jobs of the category that have completed so far; none yet: no limit.
    Online,
    /// Given means, by [`job_category`].
    Given([f64; 16]),
}

/// Free processors that a fresh job may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaivePlace {
    /// Only those that no suspended job owns.
    Strict,
    /// Also those whose owner's priority it exceeds SF times.
    PrioritySf,
    /// All, those without owner first.
    Avoid,
    /// All, lowest number first.
    Lowest,
}

/// Victims that a fresh job takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveVictims {
    /// Of all eligible ones the widest first.
    WidestFirst,
    /// Eligible ones are collected in order of priority, lowest first, until they are enough; of
    /// these the widest first (the printed pseudocode, skipping ineligible jobs).
    InOrder,
    /// As above, but the first ineligible job ends the search (the printed pseudocode with its
    /// early exit).
    UntilIneligible,
}

/// Outcome of the jobs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suspended {
    /// First starts and ends, in order of arrival.
    pub schedule: Vec<JobOut>,
    /// Number of suspensions of each job.
    pub suspensions: Vec<u32>,
    /// Every run segment with its processors.
    pub segments: Vec<NaiveSegment>,
}

/// Rule S9: 4 classes of estimate × 4 of processors.
pub fn job_category(job: &JobIn) -> usize {
    let class = |value: i64, limits: [i64; 3]| limits.iter().filter(|&&limit| value > limit).count();
    4 * class(job.estimate, [600, 3_600, 28_800]) + class(job.procs, [1, 8, 32])
}

/// Rule S10: slowdown with a floor of 10 s on the run time.
pub fn bounded_slowdown(job: &JobIn, end: i64) -> f64 {
    let floor = job.run.max(10);
    (end - job.submit - job.run + floor) as f64 / floor as f64
}

/// Resources beyond processors.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NaiveAmounts {
    /// Amount of each.
    pub totals: Vec<i64>,
    /// True of those that a suspended job keeps.
    pub stay: Vec<bool>,
    /// Demand of each job for each of them.
    pub asks: Vec<Vec<i64>>,
}

/// Runs a policy over jobs that ask for processors alone; see [`run_counting`].
///
/// # Panics
/// As [`run_counting`].
pub fn run(policy: &NaivePolicy, jobs: &[JobIn], processors: i64, overhead: &[i64]) -> Suspended {
    let no_amounts = NaiveAmounts { asks: vec![Vec::new(); jobs.len()], ..NaiveAmounts::default() };
    run_counting(policy, jobs, processors, overhead, &no_amounts)
}

/// Runs a policy over jobs in order of arrival on a machine of this many processors. `overhead[j]`
/// is what each suspension adds to the remaining time of job `j` (rule S11); empty: nothing.
///
/// A job starts only if everything that it asks for is free. A suspended job keeps what stays and
/// needs the rest again to resume. A job suspends others for what it lacks as it does for
/// processors, but none that gives back nothing of it; what stays is given back by ends only.
///
/// # Panics
/// If a job is wider than the machine, or has no run time or no estimate; on machines of more than
/// 512 processors.
pub fn run_counting(
    policy: &NaivePolicy,
    jobs: &[JobIn],
    processors: i64,
    overhead: &[i64],
    amounts: &NaiveAmounts,
) -> Suspended {
    assert!(processors <= set::Set::LIMIT, "more processors than this simulation can number");
    for (i, job) in jobs.iter().enumerate() {
        assert!((1..=processors).contains(&job.procs), "job {i} does not fit the machine");
        assert!(job.run > 0 && job.estimate > 0, "job {i} has no run time or no estimate");
    }
    let mut machine = NaiveMachine::new(jobs, processors, overhead, amounts);
    let mut slowdowns = [(0.0, 0.0); 16]; // (sum, count)
    let mut arrival_count = 0;
    // Rule S4.
    loop {
        let arrival = jobs.get(arrival_count).map(|job| job.submit);
        let completion = machine.next_completion();
        let tick = machine.anyone_idle().then(|| 60 * (machine.now.div_euclid(60) + 1));
        let Some(now) = [arrival, completion, tick].into_iter().flatten().min() else { break };
        machine.now = now;
        let completed_jobs = machine.complete_jobs();
        for &j in &completed_jobs {
            let (sum, count) = &mut slowdowns[job_category(&jobs[j])];
            *sum += match policy {
                NaivePolicy::Selective(settings) if settings.limit_on_turnaround => (now - jobs[j].submit) as f64,
                _ => bounded_slowdown(&jobs[j], now),
            };
            *count += 1.0;
        }
        let mut anything = !completed_jobs.is_empty();
        while arrival_count < jobs.len() && jobs[arrival_count].submit == now {
            machine.note_arrival(arrival_count);
            arrival_count += 1;
            anything = true;
        }
        if !machine.anyone_idle() {
            continue;
        }
        match policy {
            NaivePolicy::Immediate { preempting_resumption } => {
                immediate::serve_jobs(&mut machine, *preempting_resumption);
            }
            NaivePolicy::Selective(settings) => {
                let limits = settings.priority_limits(&slowdowns);
                if now.rem_euclid(60) == 0 {
                    selective::preempt_jobs(&mut machine, settings, &limits);
                } else if anything && !settings.starts_at_ticks_only {
                    selective::dispatch_jobs(&mut machine, settings);
                }
            }
        }
    }
    machine.into_result()
}

impl NaiveSelective {
    /// The highest priority at which a job of each category may be suspended.
    fn priority_limits(&self, slowdowns: &[(f64, f64); 16]) -> [f64; 16] {
        match self.limit {
            NaiveLimit::None => [f64::INFINITY; 16],
            NaiveLimit::Given(means) => means.map(|mean| 1.5 * mean),
            NaiveLimit::Online => {
                slowdowns.map(|(sum, count)| if count > 0.0 { 1.5 * (sum / count) } else { f64::INFINITY })
            }
        }
    }
}
