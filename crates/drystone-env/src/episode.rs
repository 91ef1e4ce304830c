//! Part of a log that an episode covers, and the state of the machine at its beginning.

use crate::error::EnvError;
use crate::options::EnvOptions;
use drystone::engine::{EventSource, Incoming, Schedule, Simulation, WorkloadReplay};
use drystone::model::{Job, ResourceTable, SharedSort, Time, Truth, Workload};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct EpisodeWorkload {
    pub(crate) workload: Arc<Workload>,
    /// Places of the jobs with which an episode may begin.
    starts: Vec<Range<u32>>,
    past: Option<Arc<RunPast>>,
}

/// A whole log as a policy would have run it.
#[derive(Debug)]
struct RunPast {
    spans: Vec<(Time, Time)>,
    /// For each job the oldest job that is still here when it arrives.
    oldest: Vec<u32>,
}

impl EpisodeWorkload {
    pub(crate) fn new(workload: &Arc<Workload>, options: &EnvOptions) -> Result<EpisodeWorkload, EnvError> {
        let job_range = Range { start: 0, end: workload.len() as u32 };
        let ranges = if options.split.is_empty() { std::slice::from_ref(&job_range) } else { &options.split[..] };
        let within = |range: &Range<u32>| range.start..range.end.min(workload.len() as u32);
        let longest = ranges.iter().map(|range| within(range).len() as u32).max().unwrap_or(0);
        let starts: Vec<Range<u32>> = ranges
            .iter()
            .map(within)
            .filter(|range| range.len() >= options.jobs as usize)
            .map(|range| range.start..range.end - options.jobs + 1)
            .collect();
        if starts.is_empty() {
            let name = workload.provenance.name.clone();
            return Err(EnvError::NoEpisode { workload: name, jobs: options.jobs, longest });
        }
        let past = options.warm.as_ref().map(|warm| RunPast::from_workload(workload, warm)).transpose()?.map(Arc::new);
        Ok(EpisodeWorkload { workload: Arc::clone(workload), starts, past })
    }

    /// The first job of an episode: the same for the same seed, environment and number of the
    /// episode.
    pub(crate) fn draw_start(&self, seed: u64, env: u64, episode: u64) -> u32 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // A stream of its own per environment, a place of its own in it per episode.
        random.set_stream(env);
        random.set_word_pos(u128::from(episode) * 16);
        let start_count: u64 = self.starts.iter().map(|range| range.len() as u64).sum();
        let mut at = random.random_range(0..start_count);
        for range in &self.starts {
            let length = range.len() as u64;
            if at < length {
                return range.start + at as u32;
            }
            at -= length;
        }
        self.starts[0].start
    }

    pub(crate) fn open_stream(&self, first: u32, jobs: u32) -> EpisodeStream {
        let mut stream = EpisodeStream {
            workload: Arc::clone(&self.workload),
            before: Vec::new(),
            running: 0,
            first: first as usize,
            end: (first + jobs) as usize,
            next: 0,
        };
        if let Some(past) = &self.past {
            past.add_present_jobs(&self.workload, first, &mut stream);
        }
        stream
    }
}

impl RunPast {
    fn from_workload(workload: &Workload, warm: &drystone::policy::PolicySpec) -> Result<RunPast, EnvError> {
        let mut schedule = Schedule::default();
        Simulation::new(workload.machine(), warm.build_scheduler(), WorkloadReplay::new(workload))
            .run(&mut schedule)?;
        let spans: Vec<(Time, Time)> = schedule.spans.into_iter().map(Option::unwrap_or_default).collect();
        let mut oldest = Vec::with_capacity(spans.len());
        let mut from = 0;
        for (at, job) in workload.jobs().iter().enumerate() {
            // A job that has ended by now has ended for all later jobs.
            while from < at && spans[from].1 <= job.submit {
                from += 1;
            }
            oldest.push(from as u32);
        }
        Ok(RunPast { spans, oldest })
    }

    /// The jobs that are here when this one arrives: those that run arrive when they started, those
    /// that wait when they did.
    fn add_present_jobs(&self, workload: &Workload, first: u32, stream: &mut EpisodeStream) {
        let now = workload.jobs()[first as usize].submit;
        let candidates = self.oldest[first as usize] as usize..first as usize;
        let mut waiting_jobs = Vec::new();
        for at in candidates {
            let (start, end) = self.spans[at];
            let (job, truth) = (&workload.jobs()[at], &workload.truth()[at]);
            if start < now && end > now {
                let mut started_job = job.clone();
                started_job.submit = start;
                stream.before.push((started_job, truth.clone(), true));
            } else if start >= now {
                waiting_jobs.push((job.clone(), truth.clone(), false));
            }
        }
        stream.running = stream.before.len() as u32;
        stream.before.append(&mut waiting_jobs);
        stream.before.sort_shared_by_key(|(job, ..)| job.submit);
    }
}

/// The arrivals of an episode: what was here before, then its own jobs.
#[derive(Clone, Debug)]
pub(crate) struct EpisodeStream {
    workload: Arc<Workload>,
    /// Jobs that came before, in order of time, and whether each starts as it arrives.
    before: Vec<(Job, Truth, bool)>,
    /// Number of running jobs among them.
    running: u32,
    first: usize,
    end: usize,
    next: usize,
}

impl EpisodeStream {
    /// Number of jobs that came before.
    pub(crate) fn prior_jobs(&self) -> u32 {
        self.before.len() as u32
    }

    /// Number of them that start as they arrive.
    pub(crate) fn running_jobs(&self) -> u32 {
        self.running
    }

    pub(crate) fn starts_on_arrival(&self, id: u32) -> bool {
        self.before.get(id as usize).is_some_and(|(.., starts)| *starts)
    }

    /// The truth about a job, by its id in the episode.
    pub(crate) fn job_truth(&self, id: u32) -> &Truth {
        match self.before.get(id as usize) {
            Some((_, truth, _)) => truth,
            None => &self.workload.truth()[self.first + id as usize - self.before.len()],
        }
    }

    fn job_at(&self, place: usize) -> Option<(&Job, &Truth)> {
        if let Some((job, truth, _)) = self.before.get(place) {
            return Some((job, truth));
        }
        let at = self.first + place - self.before.len();
        (at < self.end).then(|| (&self.workload.jobs()[at], &self.workload.truth()[at]))
    }
}

impl EventSource for EpisodeStream {
    #[inline]
    fn peek_time(&self) -> Option<Time> {
        self.job_at(self.next).map(|(job, _)| job.submit)
    }

    #[inline]
    fn next(&mut self) -> Option<Incoming<'_>> {
        let place = self.next;
        self.next += 1;
        self.job_at(place).map(|(job, truth)| Incoming::Submit(job, truth))
    }

    fn position(&self) -> u64 {
        self.next as u64
    }

    fn seek(&mut self, position: u64) {
        self.next = position as usize;
    }

    // They are jobs of a workload, in order.
    fn is_checked(&self) -> bool {
        true
    }

    fn resources(&self) -> Option<Arc<ResourceTable>> {
        self.workload.resources().cloned()
    }
}
