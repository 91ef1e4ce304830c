//! EASY, EASY-SJBF and EASY++ as simulated by Gaussier, Glesser, Reis & Trystram (SC 2015), to the
//! printed digit.
//!
//! **Jobs.** Size is the requested number of processors, else the allocated one; records where
//! either exceeds the machine, both are missing, run or requested time is not positive, or submit
//! is negative are dropped; run := min(run, requested time). Jobs are numbered in the order of the
//! log.
//!
//! **Events** are handled one at a time, smallest (time, class, number) first. Classes: 0 a
//! prediction is over, 1 submission, 2 termination. Submissions are numbered in the order of the
//! log; the others in the order in which jobs were started (or corrected). So at equal times a pass
//! upon a submission comes *before* the terminations of that second, and simultaneous terminations
//! are learnt from in the order of the starts. A job started upon a submission on processors of a
//! job that ends at this very second gets them: starts take place after the terminations of the
//! second.
//!
//! **Predictions** are made once, at submission, before the pass. The user's history is updated at
//! each termination, before the pass, so it is in *termination* order.
//!
//! **Corrections** happen at start + prediction if the job is still to run, i.e. if prediction <
//! run time (a job with both equal is never corrected), as often as that stays so. *No pass*
//! follows a correction. Waiting jobs keep their predictions.
//!
//! **Free processors** at `now`: those of the machine without running jobs whose predicted end lies
//! *after* `now`. A running job whose predicted end is `now` or has passed holds none (it can only
//! be one that ends at this very second, because corrections come first).
//!
//! **Pass.** Start the head of the queue while it fits the free processors. The first one that does
//! not fit gets the shadow: the first predicted end at which it fits; extra is what it leaves over
//! of *all* processors free then. Behind it, in backfill order (arrival, or prediction and then
//! arrival), a job that fits starts if now + prediction <= shadow, or if its size is within extra,
//! which then shrinks. Passes follow each termination, and each submission
//! ([`NaiveGaussierScheduler`]).
//!
//! **Means.** No trimming. Flow is wait + run, bounded slowdown max(1, flow / max(run, 10)).

use crate::{JobIn, JobOut};
use std::collections::{BTreeMap, BTreeSet};

/// Order of backfilling, and whether every submission leads to a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveGaussierScheduler {
    /// "EASY" and "EASY with predictor": backfilling in order of arrival; a submission leads to a
    /// pass only if the newcomer fits the free processors.
    Easy,
    /// "EASY-SJBF": shortest prediction first; the same rule for submissions.
    Sjbf,
    /// "EASY-SJBF with predictor" (EASY++): shortest prediction first; every submission leads to a
    /// pass.
    PlusPlus,
}

/// The prediction at submission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveGaussierPredictor {
    Requested,
    /// Twice the requested time.
    DoubleRequested,
    /// The run time.
    Clairvoyant,
    /// The mean (rounded down) of the last two run times of the user in order of termination, at
    /// most the requested time; the requested time until two jobs of the user have ended.
    Tsafrir,
}

/// New value of a prediction that has expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Corrector {
    Requested,
    /// The *first* prediction plus 1, 5, 15, 30 minutes, 1, 2, 5, 10, 20, 50, 100 hours at the 1st,
    /// 2nd, ... correction, at most the requested time.
    Tsafrir,
    /// Twice the last prediction, even beyond the requested time.
    RecursiveDoubling,
}

/// Increments of [`Corrector::Tsafrir`], in seconds.
const INCREMENTS: [i64; 11] = [60, 300, 900, 1_800, 3_600, 7_200, 18_000, 36_000, 72_000, 180_000, 360_000];

/// Runs a scheduler over jobs in order of arrival, with run <= estimate and both positive.
///
/// # Panics
/// If a job is wider than the machine or outlives its estimate.
pub fn run(
    scheduler: NaiveGaussierScheduler,
    predictor: NaiveGaussierPredictor,
    corrector: Corrector,
    jobs: &[JobIn],
    machine: i64,
) -> Vec<JobOut> {
    for (i, job) in jobs.iter().enumerate() {
        assert!((1..=machine).contains(&job.procs), "job {i} does not fit the machine");
        assert!((1..=job.estimate).contains(&job.run), "job {i} outlives its estimate");
    }
    let submissions = (0..jobs.len()).map(|i| (jobs[i].submit, NaiveGaussierClass::Submission, i, i));
    let mut world = NaiveGaussierWorld {
        scheduler,
        jobs,
        machine,
        now: 0,
        events: submissions.collect(),
        numbered: jobs.len(),
        queue: Vec::new(),
        running: Vec::new(),
        first_prediction: vec![0; jobs.len()],
        prediction: vec![0; jobs.len()],
        corrections: vec![0; jobs.len()],
        history: BTreeMap::new(),
        out: vec![JobOut { start: 0, end: 0 }; jobs.len()],
    };
    while let Some((time, class, _, j)) = world.events.pop_first() {
        world.now = time;
        match class {
            NaiveGaussierClass::PredictionOver => world.correct_prediction(j, corrector),
            NaiveGaussierClass::Submission => {
                let prediction = world.predict_run(j, predictor);
                world.first_prediction[j] = prediction;
                world.prediction[j] = prediction;
                world.queue.push(j);
                if scheduler == NaiveGaussierScheduler::PlusPlus || jobs[j].procs <= world.free_processors() {
                    world.run_pass();
                }
            }
            NaiveGaussierClass::Termination => {
                world.running.retain(|&r| r != j);
                world.out[j].end = time;
                world.history.entry(jobs[j].user).or_default().push(jobs[j].run);
                world.run_pass();
            }
        }
    }
    world.out
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NaiveGaussierClass {
    PredictionOver,
    Submission,
    Termination,
}

struct NaiveGaussierWorld<'a> {
    scheduler: NaiveGaussierScheduler,
    jobs: &'a [JobIn],
    machine: i64,
    now: i64,
    /// (time, class, number, job).
    events: BTreeSet<(i64, NaiveGaussierClass, usize, usize)>,
    /// Events numbered so far.
    numbered: usize,
    queue: Vec<usize>,
    running: Vec<usize>,
    first_prediction: Vec<i64>,
    prediction: Vec<i64>,
    corrections: Vec<usize>,
    /// Run times of every user's terminated jobs.
    history: BTreeMap<i64, Vec<i64>>,
    out: Vec<JobOut>,
}

impl NaiveGaussierWorld<'_> {
    fn add_event(&mut self, time: i64, class: NaiveGaussierClass, j: usize) {
        self.events.insert((time, class, self.numbered, j));
        self.numbered += 1;
    }

    fn predict_run(&self, j: usize, predictor: NaiveGaussierPredictor) -> i64 {
        let job = &self.jobs[j];
        match predictor {
            NaiveGaussierPredictor::Requested => job.estimate,
            NaiveGaussierPredictor::DoubleRequested => 2 * job.estimate,
            NaiveGaussierPredictor::Clairvoyant => job.run,
            NaiveGaussierPredictor::Tsafrir => match self.history.get(&job.user).map(Vec::as_slice) {
                Some([.., a, b]) => job.estimate.min((a + b) / 2),
                _ => job.estimate,
            },
        }
    }

    fn correct_prediction(&mut self, j: usize, corrector: Corrector) {
        let estimate = self.jobs[j].estimate;
        self.prediction[j] = match corrector {
            Corrector::Requested => estimate,
            Corrector::RecursiveDoubling => 2 * self.prediction[j],
            Corrector::Tsafrir => {
                let i = self.corrections[j].min(INCREMENTS.len() - 1);
                estimate.min(self.first_prediction[j] + INCREMENTS[i])
            }
        };
        self.corrections[j] += 1;
        self.expect_correction(j);
    }

    fn expect_correction(&mut self, j: usize) {
        if self.prediction[j] < self.jobs[j].run {
            self.add_event(self.predicted_end(j), NaiveGaussierClass::PredictionOver, j);
        }
    }

    fn predicted_end(&self, j: usize) -> i64 {
        self.out[j].start + self.prediction[j]
    }

    /// Processors free at some time by the predictions.
    fn free_at(&self, time: i64) -> i64 {
        let holding = self.running.iter().filter(|&&r| self.predicted_end(r) > time);
        self.machine - holding.map(|&r| self.jobs[r].procs).sum::<i64>()
    }

    fn free_processors(&self) -> i64 {
        self.free_at(self.now)
    }

    fn start_job(&mut self, j: usize) {
        self.queue.retain(|&q| q != j);
        self.running.push(j);
        self.out[j].start = self.now;
        self.add_event(self.now + self.jobs[j].run, NaiveGaussierClass::Termination, j);
        self.expect_correction(j);
    }

    fn run_pass(&mut self) {
        while let Some(&head) = self.queue.first() {
            if self.jobs[head].procs > self.free_processors() {
                break;
            }
            self.start_job(head);
        }
        let [head, behind @ ..] = &self.queue[..] else {
            return;
        };
        let need = self.jobs[*head].procs;
        let ends = self.running.iter().map(|&r| self.predicted_end(r)).filter(|&end| end > self.now);
        let Some(shadow) = ends.filter(|&end| self.free_at(end) >= need).min() else {
            unreachable!("a job that fits the machine fits when all others have ended")
        };
        let (mut free, mut extra) = (self.free_processors(), self.free_at(shadow) - need);
        let mut candidates = behind.to_vec();
        if self.scheduler != NaiveGaussierScheduler::Easy {
            candidates.sort_by_key(|&j| (self.prediction[j], j));
        }
        for j in candidates {
            let procs = self.jobs[j].procs;
            let in_time = self.now + self.prediction[j] <= shadow;
            if procs <= free && (in_time || procs <= extra) {
                free -= procs;
                if !in_time {
                    extra -= procs;
                }
                self.start_job(j);
            }
        }
    }
}

/// The printed columns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NaiveSummary {
    /// Sum of flow times (wait + run), in seconds. The study's own tables print `NA` for the *mean*
    /// where this sum exceeds 2³¹ − 1.
    pub sum_flow: i64,
    /// Mean flow time, in seconds.
    pub mean_flow: f64,
    /// Largest flow time, in seconds.
    pub max_flow: i64,
    /// Mean bounded slowdown with a bound of 10 s.
    pub mean_bounded_slowdown: f64,
    pub max_bounded_slowdown: f64,
    /// Root of the mean square of the bounded slowdown.
    pub rms_bounded_slowdown: f64,
}

/// Summarises a schedule of at least one job.
pub fn summarise_schedule(jobs: &[JobIn], schedule: &[JobOut]) -> NaiveSummary {
    let n = jobs.len() as f64;
    let flows: Vec<i64> = jobs.iter().zip(schedule).map(|(job, out)| out.end - job.submit).collect();
    let slowdowns: Vec<f64> =
        jobs.iter().zip(&flows).map(|(job, &flow)| (flow as f64 / job.run.max(10) as f64).max(1.0)).collect();
    let sum_flow: i64 = flows.iter().sum();
    NaiveSummary {
        sum_flow,
        mean_flow: sum_flow as f64 / n,
        max_flow: flows.iter().copied().max().unwrap_or(0),
        mean_bounded_slowdown: slowdowns.iter().sum::<f64>() / n,
        max_bounded_slowdown: slowdowns.iter().copied().fold(0.0, f64::max),
        rms_bounded_slowdown: (slowdowns.iter().map(|s| s * s).sum::<f64>() / n).sqrt(),
    }
}
