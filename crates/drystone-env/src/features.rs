//! Observation of an agent: a row of numbers per job, and some numbers of the machine. All are from
//! 0 to 1.

use crate::error::EnvError;
use crate::queue::{DeskJob, Fixed, MOST, QueueRows};
use drystone::model::{Job, Procs, Span, Time, Workload};
use drystone::parts::RunningSet;
use std::fmt;
use std::str::FromStr;

/// Numbers of the machine: free processors; jobs that wait; jobs that run; processors that are free
/// now or predicted to be within 10 minutes, an hour, 4 hours and a day. All as shares.
pub const MACHINE: usize = 7;

/// After this many seconds.
const AHEAD: [i64; 4] = [600, 3_600, 14_400, 86_400];
/// A time of this many seconds is in the middle between 0 and 1.
const HOUR: f32 = 3_600.0;
/// Longest wait in RLScheduler's scale, in seconds.
const LONGEST_WAIT: f32 = 43_200.0;
/// Below 1, as RLScheduler has it.
const ALMOST: f32 = 1.0 - 1e-5;

/// A number of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowFeature {
    /// 1 where there is a job in the row.
    Present,
    /// Wait so far: t / (t + 1 h).
    Wait,
    /// Predicted run time: t / (t + 1 h).
    Prediction,
    /// The user's estimate: t / (t + 1 h).
    Estimate,
    /// Share of the machine that it needs.
    Procs,
    /// 1 if it fits the free processors.
    Fits,
    /// Processors × prediction: a / (a + machine × 1 h).
    Area,
    /// User as a share of the largest number in the log, 1 where unknown.
    User,
    /// Group, likewise.
    Group,
    /// Executable, likewise.
    Executable,
    /// Queue, likewise.
    Queue,
    /// Memory per processor, likewise.
    Memory,
    /// The true run time: t / (t + 1 h). An oracle: no machine has it.
    Run,
    /// RLScheduler's wait: t / 12 h, below 1.
    ClippedWait,
    /// RLScheduler's run time: the estimate as a share of the longest run time in the log, below 1.
    ClippedEstimate,
    /// RLScheduler's size: share of the machine, below 1.
    ClippedProcs,
    /// RLScheduler's mark of a job that fits: 0.99999, else 0.00001.
    ClippedFits,
}

impl RowFeature {
    const NAMES: [(&'static str, RowFeature); 17] = [
        ("present", RowFeature::Present),
        ("wait", RowFeature::Wait),
        ("prediction", RowFeature::Prediction),
        ("estimate", RowFeature::Estimate),
        ("procs", RowFeature::Procs),
        ("fits", RowFeature::Fits),
        ("area", RowFeature::Area),
        ("user", RowFeature::User),
        ("group", RowFeature::Group),
        ("executable", RowFeature::Executable),
        ("queue", RowFeature::Queue),
        ("memory", RowFeature::Memory),
        ("run", RowFeature::Run),
        ("clipped_wait", RowFeature::ClippedWait),
        ("clipped_estimate", RowFeature::ClippedEstimate),
        ("clipped_procs", RowFeature::ClippedProcs),
        ("clipped_fits", RowFeature::ClippedFits),
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        RowFeature::NAMES.iter().find(|(_, feature)| *feature == self).map_or("", |(name, _)| name)
    }
}

impl fmt::Display for RowFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for RowFeature {
    type Err = EnvError;

    fn from_str(word: &str) -> Result<RowFeature, EnvError> {
        RowFeature::NAMES.iter().find(|(name, _)| *name == word).map(|(_, feature)| *feature).ok_or_else(|| {
            let names: Vec<&str> = RowFeature::NAMES.iter().map(|(name, _)| *name).collect();
            EnvError::Option(format!("obs: there is no `{word}`; there are {}", names.join(", ")))
        })
    }
}

/// A named set of features.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FeaturePreset {
    /// Presence of a job, wait, prediction, estimate, size, fit.
    #[default]
    Default,
    /// The eight of RLScheduler (Zhang et al. SC 2020), with its marks of empty rows.
    RlScheduler,
}

/// Numbers observed of each job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observation {
    features: Vec<RowFeature>,
    /// A row without a job.
    empty: Vec<bool>,
}

impl Default for Observation {
    fn default() -> Observation {
        Observation::from_preset(FeaturePreset::Default)
    }
}

impl Observation {
    /// A named set.
    #[must_use]
    pub fn from_preset(preset: FeaturePreset) -> Observation {
        use RowFeature::{
            ClippedEstimate, ClippedFits, ClippedProcs, ClippedWait, Estimate, Executable, Fits, Group, Memory,
            Prediction, Present, Procs, User, Wait,
        };
        match preset {
            FeaturePreset::Default => {
                Observation { features: vec![Present, Wait, Prediction, Estimate, Procs, Fits], empty: vec![false; 6] }
            }
            FeaturePreset::RlScheduler => Observation {
                features: vec![
                    ClippedWait,
                    ClippedEstimate,
                    ClippedProcs,
                    Memory,
                    User,
                    Group,
                    Executable,
                    ClippedFits,
                ],
                empty: vec![false, true, true, true, true, true, true, false],
            },
        }
    }

    /// These features, each once; empty rows are 0.
    ///
    /// # Errors
    /// No feature, too many, or one twice.
    pub fn from_features(features: &[RowFeature]) -> Result<Observation, EnvError> {
        let twice = features.iter().enumerate().find(|(at, feature)| features[..*at].contains(feature));
        if let Some((_, feature)) = twice {
            return Err(EnvError::Option(format!("obs: `{feature}` is asked for twice")));
        }
        if features.is_empty() || features.len() > MOST {
            return Err(EnvError::Option(format!(
                "obs: {} features are not possible; expected 1 to {MOST}",
                features.len()
            )));
        }
        Ok(Observation { features: features.to_vec(), empty: vec![false; features.len()] })
    }

    /// The features of a row, in order.
    #[must_use]
    pub fn features(&self) -> &[RowFeature] {
        &self.features
    }

    /// Numbers of a row.
    #[must_use]
    pub fn row_width(&self) -> usize {
        self.features.len()
    }
}

/// Contents of an observation.
#[derive(Clone, Copy, Debug)]
pub struct ObservationShape<'a> {
    /// Rows of jobs, one after the other.
    pub jobs: &'a [f32],
    /// Numbers of the machine.
    pub machine: &'a [f32],
    /// Mask of the possible actions.
    pub mask: &'a [bool],
}

/// Scale that turns jobs of a workload into rows.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    observation: Observation,
    machine: f32,
    longest_run: f32,
    largest: Largest,
    wait_at: Option<usize>,
    clipped_wait_at: Option<usize>,
    fits_at: Option<usize>,
    clipped_fits_at: Option<usize>,
    empty: Fixed,
    sees_runs: bool,
}

#[derive(Clone, Debug, Default)]
struct Largest {
    user: f32,
    group: f32,
    executable: f32,
    queue: f32,
    memory: f32,
}

fn squash_seconds(seconds: i64) -> f32 {
    let time = seconds.max(0) as f32;
    time / (time + HOUR)
}

fn below_one(share: f32) -> f32 {
    share.min(ALMOST)
}

impl Scale {
    pub(crate) fn new(workload: &Workload, observation: &Observation) -> Scale {
        let most = |of: fn(&Job) -> i64| workload.jobs().iter().map(of).max().unwrap_or(1).max(1) as f32;
        let at = |target: RowFeature| observation.features.iter().position(|feature| *feature == target);
        let mut empty = [0.0; MOST];
        for (value, flag) in empty.iter_mut().zip(&observation.empty) {
            *value = f32::from(u8::from(*flag));
        }
        Scale {
            machine: workload.machine().procs as f32,
            longest_run: workload.truth().iter().map(|truth| truth.run.0).max().unwrap_or(1).max(1) as f32,
            largest: Largest {
                user: most(|job| job.user.into()),
                group: most(|job| job.group.into()),
                executable: most(|job| job.executable.into()),
                queue: most(|job| job.queue.into()),
                memory: most(|job| job.memory_kb),
            },
            wait_at: at(RowFeature::Wait),
            clipped_wait_at: at(RowFeature::ClippedWait),
            fits_at: at(RowFeature::Fits),
            clipped_fits_at: at(RowFeature::ClippedFits),
            sees_runs: observation.features.contains(&RowFeature::Run),
            observation: observation.clone(),
            empty,
        }
    }

    pub(crate) fn sees_runs(&self) -> bool {
        self.sees_runs
    }

    pub(crate) fn row_width(&self) -> usize {
        self.observation.row_width()
    }

    /// Returns the part of a job's row that does not change while it waits.
    pub(crate) fn fixed_features(&self, job: &Job, prediction: Span, run: Option<Span>) -> Fixed {
        let mut row = [0.0; MOST];
        let attribute = |value: i64, largest: f32| if value < 0 { 1.0 } else { below_one(value as f32 / largest) };
        for (value, feature) in row.iter_mut().zip(&self.observation.features) {
            *value = match feature {
                RowFeature::Present => 1.0,
                RowFeature::Prediction => squash_seconds(prediction.0),
                RowFeature::Estimate => squash_seconds(job.estimate.0),
                RowFeature::Procs => job.procs as f32 / self.machine,
                RowFeature::Area => {
                    let area = prediction.0.max(0) as f32 * job.procs as f32;
                    area / (area + self.machine * HOUR)
                }
                RowFeature::User => attribute(job.user.into(), self.largest.user),
                RowFeature::Group => attribute(job.group.into(), self.largest.group),
                RowFeature::Executable => attribute(job.executable.into(), self.largest.executable),
                RowFeature::Queue => attribute(job.queue.into(), self.largest.queue),
                RowFeature::Memory => attribute(job.memory_kb, self.largest.memory),
                RowFeature::Run => run.map_or(0.0, |run| squash_seconds(run.0)),
                RowFeature::ClippedEstimate => below_one(job.estimate.0 as f32 / self.longest_run),
                RowFeature::ClippedProcs => below_one(job.procs as f32 / self.machine),
                RowFeature::Wait | RowFeature::ClippedWait | RowFeature::Fits | RowFeature::ClippedFits => 0.0,
            };
        }
        row
    }

    /// Writes the rows of these jobs; `before` rows were written there the last time.
    pub(crate) fn write_rows(
        &self,
        queue: &QueueRows,
        rows: &[u32],
        now: Time,
        free: Procs,
        before: usize,
        out: &mut [f32],
    ) {
        match self.row_width() {
            // A copy of known length is a few instructions; of unknown length it is a call.
            6 => self.rows_of::<6>(queue, rows, now, free, before, out),
            8 => self.rows_of::<8>(queue, rows, now, free, before, out),
            width => {
                for (out, &at) in out.chunks_exact_mut(width).zip(rows) {
                    let job = &queue.jobs[at as usize];
                    out.copy_from_slice(&queue.fixed_features(job)[..width]);
                    self.write_moving_features(job, now, free, out);
                }
                let empty_rows = out.chunks_exact_mut(width).take(before).skip(rows.len());
                empty_rows.for_each(|out| out.copy_from_slice(&self.empty[..width]));
            }
        }
    }

    fn rows_of<const F: usize>(
        &self,
        queue: &QueueRows,
        rows: &[u32],
        now: Time,
        free: Procs,
        before: usize,
        out: &mut [f32],
    ) {
        let (row_arrays, _) = out.as_chunks_mut::<F>();
        for (out, &at) in row_arrays.iter_mut().zip(rows) {
            let job = &queue.jobs[at as usize];
            if let Some(features) = queue.fixed_features(job).first_chunk::<F>() {
                *out = *features;
            }
            self.write_moving_features(job, now, free, out);
        }
        if let Some(empty) = self.empty.first_chunk::<F>() {
            row_arrays.iter_mut().take(before).skip(rows.len()).for_each(|out| *out = *empty);
        }
    }

    #[inline(always)]
    fn write_moving_features(&self, job: &DeskJob, now: Time, free: Procs, out: &mut [f32]) {
        let fits = job.procs <= free;
        if let Some(place) = self.wait_at {
            out[place] = squash_seconds(now.0 - job.submit);
        }
        if let Some(place) = self.fits_at {
            out[place] = f32::from(u8::from(fits));
        }
        if let Some(place) = self.clipped_wait_at {
            out[place] = below_one((now.0 - job.submit) as f32 / LONGEST_WAIT);
        }
        if let Some(place) = self.clipped_fits_at {
            out[place] = if fits { ALMOST } else { 1e-5 };
        }
    }

    /// Writes the numbers of the machine. `started` are processors of jobs that this pass has
    /// started, which are not in the set yet.
    pub(crate) fn write_machine(
        &self,
        waiting: usize,
        window: usize,
        now: Time,
        free: Procs,
        running: &RunningSet,
        out: &mut [f32],
    ) {
        let share = |count: usize| count as f32 / (count + window) as f32;
        let ahead = |after: i64| {
            let later_free = free + running.ending_by(Time(now.0 + after));
            (later_free as f32 / self.machine).min(1.0)
        };
        let [first, second, third, last] = AHEAD.map(ahead);
        let now_free = free as f32 / self.machine;
        out.copy_from_slice(&[now_free, share(waiting), share(running.len()), first, second, third, last]);
    }
}
