//! Explanation of a job's start: its story under any policy, and the outcome with one thing
//! changed.

mod explanation_data;

use super::{EventSource, Happenings, Observer, Platform, Scheduler, Simulation, SimulationError, WorkloadReplay};
use crate::model::{
    Adopted, Decimal, EndedJob, Job, JobId, JobLimit, JobPace, Outages, Procs, Span, Time, Workload, WorkloadError,
};
use crate::policy::{Moved, StartReason};
use std::fmt;

/// One thing that happened to a job.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Chapter {
    /// It arrived, when this many jobs waited and ran.
    Arrived {
        /// Jobs waiting before it.
        waiting: u32,
        /// Jobs running.
        running: u32,
        /// Processors free.
        free: Procs,
    },
    /// It was here already when the simulation began.
    Adopted(Adopted),
    /// It was held back: not eligible yet, or kept from starting.
    Held,
    /// It waits for a limit that it shares with others.
    Limited {
        /// Holder of the limit, in words.
        of: String,
        /// The site's word for it.
        reason: String,
    },
    /// It asks for more of a resource than there is, and than is announced to come.
    Short {
        /// Name of the resource.
        resource: String,
        /// Amount that it asks for, with its unit.
        asks: String,
        /// Amount that there is.
        there: String,
    },
    /// It may start again, or for the first time.
    Released,
    /// An outage hit it: it waits again, with nothing left of what it had run.
    Requeued(Span),
    /// An outage ended it for good, after it had run for so long.
    Lost(Span),
    /// A planned start was announced to it, with its latest start.
    Promised {
        /// Planned start.
        start: Time,
        /// Latest start.
        latest: Time,
        /// Events of that instant: jobs that arrived and jobs that ended, this one left out.
        when: Occasion,
    },
    /// The policy says why its plan changed, and promises a latest start.
    Moved {
        /// The change.
        moved: Moved,
        /// Latest start from now on.
        latest: Option<Time>,
    },
    /// It displaced another job.
    Displaced(Moved),
    /// It started.
    Started(StartReason),
    /// It has this size from its start on, one of several.
    Sized(Procs),
    /// Its size changed from the first to the second.
    Resized(Procs, Procs),
    /// It runs at this pace from now on, instead of another.
    Paced(JobPace),
    /// It asked for this size.
    Asked(Procs),
    /// It was taken off its processors.
    Suspended,
    /// It resumed.
    Resumed,
    /// Its prediction changed.
    Repredicted(Span),
    /// It was withdrawn.
    Cancelled,
    /// It ended, after having run for so long.
    Ended(Span),
}

/// Events of an instant.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Occasion {
    /// Jobs that arrived.
    pub arrived: Vec<JobId>,
    /// Jobs that ended.
    pub ended: Vec<JobId>,
    /// True if processors or another resource went, came or were announced to.
    pub capacity: bool,
}

/// The story of one job: an observer of a simulation that writes down what happens to it.
#[derive(Clone, Debug)]
pub struct Biography {
    id: JobId,
    /// Times and events.
    chapters: Vec<(Time, Chapter)>,
    start: Option<Time>,
    now: Time,
    occasion: Occasion,
    levels: (u32, u32, Procs),
    here: bool,
}

impl Biography {
    /// Nothing has happened yet on a machine of this many processors.
    #[must_use]
    pub fn new(id: JobId, procs: Procs) -> Biography {
        Biography {
            id,
            chapters: Vec::new(),
            start: None,
            now: Time::MIN,
            occasion: Occasion::default(),
            levels: (0, 0, procs),
            here: false,
        }
    }

    /// Returns the events in order.
    #[must_use]
    pub fn chapters(&self) -> &[(Time, Chapter)] {
        &self.chapters
    }

    /// Returns its start; `None` if it never started.
    #[must_use]
    pub fn start_time(&self) -> Option<Time> {
        self.start
    }

    /// Returns whether the job has ended or was withdrawn: nothing else will happen to it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.chapters.last(), Some((_, Chapter::Ended(_) | Chapter::Cancelled | Chapter::Lost(_))))
    }

    fn write_chapter(&mut self, now: Time, id: JobId, chapter: Chapter) {
        if id == self.id {
            self.chapters.push((now, chapter));
        }
    }

    /// Takes back that the job was held, where that was at this very instant: it has cost nothing.
    /// Returns whether it was.
    fn drop_hold_at(&mut self, now: Time) -> bool {
        let is_hold =
            |(at, chapter): &(Time, Chapter)| *at == now && matches!(chapter, Chapter::Held | Chapter::Limited { .. });
        let last_holds = self.chapters.iter().rev().take_while(|entry| is_hold(entry)).count();
        self.chapters.truncate(self.chapters.len() - last_holds);
        last_holds > 0
    }

    /// Explains the promise that was made at this instant.
    fn explain_promise(&mut self, now: Time, shift: Moved) {
        let promise = self.chapters.iter().position(|(at, chapter)| {
            *at == now && matches!(chapter, Chapter::Promised { start, .. } if *start == shift.to)
        });
        match promise.map(|at| (at, self.chapters[at].1.clone())) {
            Some((at, Chapter::Promised { latest, .. })) if shift.favour != Some(self.id) => {
                self.chapters[at].1 = Chapter::Moved { moved: shift, latest: Some(latest) };
            }
            Some((at, _)) => self.chapters.insert(at, (now, Chapter::Moved { moved: shift, latest: None })),
            None => self.chapters.push((now, Chapter::Moved { moved: shift, latest: None })),
        }
    }

    /// Returns the occasion of this instant, a fresh one where a new instant begins.
    fn occasion_at(&mut self, now: Time) -> &mut Occasion {
        if now != self.now {
            self.now = now;
            self.occasion = Occasion::default();
        }
        &mut self.occasion
    }
}

impl Observer for Biography {
    const NOTES: bool = false;

    fn note_arrival(&mut self, now: Time, id: JobId) {
        if id == self.id {
            self.here = true;
            let (waiting_count, running_count, free) = self.levels;
            self.write_chapter(now, id, Chapter::Arrived { waiting: waiting_count, running: running_count, free });
        } else if self.here {
            self.occasion_at(now).arrived.push(id);
        }
    }

    fn note_adoption(&mut self, now: Time, id: JobId, adoption: &Adopted) {
        if id == self.id {
            if let Adopted::Running { since, .. } = adoption {
                self.start = Some(*since);
            }
            self.write_chapter(now, id, Chapter::Adopted(adoption.clone()));
        }
    }

    fn note_hold(&mut self, now: Time, id: JobId) {
        self.write_chapter(now, id, Chapter::Held);
    }

    fn note_limit(&mut self, now: Time, id: JobId, limit: &JobLimit) {
        let JobLimit { of, reason, .. } = limit.clone();
        self.write_chapter(now, id, Chapter::Limited { of, reason });
    }

    fn note_shortage(&mut self, now: Time, id: JobId, resource: &str, (asks, there): (&str, &str)) {
        let [resource, asks, stock] = [resource, asks, there].map(str::to_string);
        self.write_chapter(now, id, Chapter::Short { resource, asks, there: stock });
    }

    fn note_release(&mut self, now: Time, id: JobId) {
        if id == self.id && self.drop_hold_at(now) {
            return;
        }
        self.write_chapter(now, id, Chapter::Released);
    }

    fn note_requeue(&mut self, now: Time, id: JobId, _procs: Procs, ran: Span) {
        self.write_chapter(now, id, Chapter::Requeued(ran));
    }

    fn note_loss(&mut self, job: &EndedJob<'_>) {
        self.write_chapter(job.outcome.end, job.id, Chapter::Lost(job.outcome.ran));
    }

    fn note_capacity(&mut self, now: Time, _foreseen: bool) {
        if self.here {
            self.occasion_at(now).capacity = true;
        }
    }

    fn note_start(&mut self, now: Time, id: JobId, reason: StartReason) {
        if id == self.id {
            self.start = Some(now);
            self.write_chapter(now, id, Chapter::Started(reason));
        }
    }

    fn note_size(&mut self, now: Time, id: JobId, procs: Procs) {
        self.write_chapter(now, id, Chapter::Sized(procs));
    }

    fn note_resize(&mut self, now: Time, id: JobId, (from, to): (Procs, Procs), _times: (Span, Span)) {
        if id != self.id {
            return;
        }
        // All changes of one instant are one.
        let before = match self.chapters.last() {
            Some((at, Chapter::Resized(before, _))) if *at == now => Some(*before),
            _ => None,
        };
        if before.is_some() {
            self.chapters.pop();
        }
        let from = before.unwrap_or(from);
        if from != to {
            self.write_chapter(now, id, Chapter::Resized(from, to));
        }
    }

    fn note_pace(&mut self, now: Time, id: JobId, (_, to): (JobPace, JobPace)) {
        self.write_chapter(now, id, Chapter::Paced(to));
    }

    fn note_size_request(&mut self, now: Time, id: JobId, procs: Procs) {
        self.write_chapter(now, id, Chapter::Asked(procs));
    }

    fn note_suspension(&mut self, now: Time, id: JobId) {
        self.write_chapter(now, id, Chapter::Suspended);
    }

    fn note_resumption(&mut self, now: Time, id: JobId) {
        self.write_chapter(now, id, Chapter::Resumed);
    }

    fn note_reservation(&mut self, now: Time, id: JobId, start: Time, latest: Time) {
        if id == self.id {
            // A policy that plans again at each pass may repeat its announcements.
            let last_promise = self.chapters.iter().rev().find_map(|(_, chapter)| match chapter {
                Chapter::Promised { start, latest, .. } => Some(Some((*start, *latest))),
                Chapter::Moved { .. } | Chapter::Requeued(_) | Chapter::Held => Some(None),
                _ => None,
            });
            if last_promise.flatten() == Some((start, latest)) {
                return;
            }
            let occasion = self.occasion_at(now).clone();
            self.write_chapter(now, id, Chapter::Promised { start, latest, when: occasion });
        }
    }

    fn note_move(&mut self, now: Time, shift: &Moved) {
        if shift.job == self.id {
            self.explain_promise(now, *shift);
        }
        if shift.favour == Some(self.id) && shift.job != self.id {
            self.chapters.push((now, Chapter::Displaced(*shift)));
        }
    }

    fn note_prediction(&mut self, now: Time, id: JobId, prediction: Span) {
        self.write_chapter(now, id, Chapter::Repredicted(prediction));
    }

    fn note_withdrawal(&mut self, now: Time, id: JobId) {
        self.write_chapter(now, id, Chapter::Cancelled);
    }

    fn note_end(&mut self, job: &EndedJob<'_>) {
        let now = job.outcome.end;
        if job.id == self.id {
            self.here = false;
            self.write_chapter(now, job.id, Chapter::Ended(job.outcome.ran));
        } else if self.here {
            self.occasion_at(now).ended.push(job.id);
        }
    }

    fn note_settlement(&mut self, _now: Time, levels: super::Levels) {
        self.levels = (levels.waiting, levels.running, levels.free);
    }
}

/// One thing changed about a job, to see what would have been.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum JobWhatIf {
    /// It had asked for this run time.
    Estimate(Span),
    /// It had asked for this many processors and run as long.
    Procs(Procs),
}

impl JobWhatIf {
    /// Returns the changes worth trying on a job: an estimate equal to its run time and one half of
    /// its own, as far as they are shorter and not too short; half its processors, and one.
    #[must_use]
    pub fn suggest_changes(job: &Job, run: Span) -> Vec<JobWhatIf> {
        let run = run.max(Span(1));
        let mut changes = Vec::new();
        let half = Span(job.estimate.0 / 2);
        if half > run {
            changes.push(JobWhatIf::Estimate(half));
        }
        if run < job.estimate {
            changes.push(JobWhatIf::Estimate(run));
        }
        if job.procs > 1 {
            changes.push(JobWhatIf::Procs(job.procs / 2));
        }
        if job.procs > 3 {
            changes.push(JobWhatIf::Procs(1));
        }
        changes
    }

    /// The workload with this one change.
    ///
    /// # Errors
    /// A change that is impossible on the machine.
    pub fn apply(self, workload: &Workload, id: JobId) -> Result<Workload, WorkloadError> {
        let circumstances = workload.circumstances().cloned();
        let resources = workload.resources().cloned();
        let (machine, mut jobs, truth, provenance) = workload.clone().into_parts();
        if let Some(job) = jobs.get_mut(id.index()) {
            match self {
                JobWhatIf::Estimate(estimate) => job.estimate = estimate,
                JobWhatIf::Procs(procs) => job.procs = procs,
            }
        }
        let changed_workload = Workload::with_resources(machine, resources, jobs, truth, provenance)?;
        match circumstances {
            None => Ok(changed_workload),
            Some(circumstances) => changed_workload.with_circumstances(circumstances),
        }
    }
}

/// Setting of a story.
#[derive(Clone, Copy, Default, Debug)]
pub struct StoryStage<'a> {
    /// Costs of suspension.
    pub platform: Platform,
    /// Processors that are out.
    pub outages: Option<&'a Outages>,
    /// True if jobs arrive when others end.
    pub feedback: bool,
}

impl StoryStage<'_> {
    /// Simulates a workload until enough was seen.
    ///
    /// # Errors
    /// See [`SimulationError`].
    pub fn simulate<O: Observer>(
        &self,
        workload: &Workload,
        scheduler: Scheduler,
        observer: &mut O,
        enough: impl Fn(&O) -> bool,
    ) -> Result<(), SimulationError> {
        let no_outages = Outages::default();
        let outages = self.outages.unwrap_or(&no_outages);
        if outages.is_empty() && workload.circumstances().is_none() {
            return self.run(workload, scheduler, WorkloadReplay::new(workload), observer, enough);
        }
        self.run(workload, scheduler, Happenings::new(workload, outages, self.feedback), observer, enough)
    }

    fn run<O: Observer>(
        &self,
        workload: &Workload,
        scheduler: Scheduler,
        source: impl EventSource,
        observer: &mut O,
        enough: impl Fn(&O) -> bool,
    ) -> Result<(), SimulationError> {
        let mut simulation = Simulation::new(workload.machine(), scheduler, source).with_platform(&self.platform);
        while !enough(observer) && simulation.step(observer)? {}
        Ok(())
    }
}

/// A job's story with what would have been. Prints as text for people, and serialises for machines,
/// with the log's job numbers.
#[derive(Clone, Debug)]
pub struct Explanation<'a> {
    workload: &'a Workload,
    id: JobId,
    story: Biography,
    what_if: Vec<(JobWhatIf, Option<Time>)>,
}

/// A question that cannot be answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// The simulation failed.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// The change is impossible.
    #[error(transparent)]
    WhatIf(#[from] WorkloadError),
}

/// Simulates the workload on this stage and, once more each, with every change, under a fresh
/// scheduler each time, and tells the story of one job. `also` watches every simulation. They go no
/// further than the job: until it has ended, and with a change until it starts.
///
/// # Errors
/// A policy that breaks its contract, or an impossible change.
pub fn explain_job<'a>(
    workload: &'a Workload,
    id: JobId,
    scheduler: impl Fn() -> Scheduler,
    stage: &StoryStage<'_>,
    what_if: &[JobWhatIf],
    also: &mut impl Observer,
) -> Result<Explanation<'a>, ExplainError> {
    let mut simulate = |workload: &Workload, told: fn(&Biography) -> bool| -> Result<Biography, SimulationError> {
        let mut observer = (Biography::new(id, workload.machine().procs), &mut *also);
        stage.simulate(workload, scheduler(), &mut observer, |observer| told(&observer.0))?;
        Ok(observer.0)
    };
    let story = simulate(workload, Biography::is_over)?;
    let mut answers = Vec::new();
    for &change in what_if {
        let changed_workload = change.apply(workload, id)?;
        answers.push((change, simulate(&changed_workload, |story| story.start.is_some())?.start));
    }
    Ok(Explanation { workload, id, story, what_if: answers })
}

impl Explanation<'_> {
    /// Returns the story.
    #[must_use]
    pub fn story(&self) -> &Biography {
        &self.story
    }

    /// Returns the start that each change would have led to.
    #[must_use]
    pub fn what_if(&self) -> &[(JobWhatIf, Option<Time>)] {
        &self.what_if
    }

    fn job_number(&self, id: JobId) -> i64 {
        self.workload.truth().get(id.index()).map_or(i64::from(id.0), |truth| truth.number)
    }

    fn format_numbers(&self, ids: &[JobId], words: &dyn StoryWords) -> String {
        let mut list: Vec<String> = ids.iter().take(4).map(|&id| self.format_name(id, words)).collect();
        if ids.len() > 4 {
            list.push(format!("{} more", ids.len() - 4));
        }
        list.join(", ")
    }

    fn format_occasion(&self, occasion: &Occasion, words: &dyn StoryWords) -> String {
        let job_phrase = |label: &str, ids: &[JobId]| {
            (!ids.is_empty()).then(|| format!("{label} {}", self.format_numbers(ids, words)))
        };
        let capacity = occasion.capacity.then(|| "a change of capacity".to_string());
        let parts: Vec<String> =
            [job_phrase("arrival of", &occasion.arrived), job_phrase("end of", &occasion.ended), capacity]
                .into_iter()
                .flatten()
                .collect();
        if parts.is_empty() { String::new() } else { format!(" (upon {})", parts.join(", ")) }
    }

    fn tell_chapter(&self, now: Time, chapter: &Chapter, words: &dyn StoryWords) -> String {
        let (at, long) = (|time: Time| words.format_moment(time), |span: Span| words.format_span(span));
        let submit = self.workload.job(self.id).submit;
        match chapter {
            Chapter::Arrived { waiting, running, free } => {
                let jobs = if *waiting == 1 { "job" } else { "jobs" };
                let processors = if *free == 1 { "processor was" } else { "processors were" };
                format!("arrives; just before, {waiting} {jobs} waited, {running} ran, {free} {processors} free")
            }
            Chapter::Adopted(adoption) => match adoption {
                Adopted::Running { since, .. } => format!("is here already: it runs since {}", at(*since)),
                Adopted::Suspended { ran, .. } => format!("is here already, suspended after {}", long(*ran)),
                Adopted::Held => "is here already, held back".to_string(),
                Adopted::Waiting => "is here already: it waits".to_string(),
            },
            Chapter::Held => "may not start yet".to_string(),
            Chapter::Limited { of, reason } => {
                format!("waits for a limit of {of} ({reason}): jobs that it is shared with use it up")
            }
            Chapter::Short { resource, asks, there } => {
                format!("asks for {asks} of {resource}: there are {there}, and as many are not announced")
            }
            Chapter::Released => "may start from now on".to_string(),
            Chapter::Requeued(ran) => {
                format!("loses its processors and waits again: {} of what it had run is lost", long(*ran))
            }
            Chapter::Lost(ran) => format!("is ended by an outage after {}", long(*ran)),
            Chapter::Promised { start, latest, when } => {
                format!(
                    "is planned to start at {}{}{}",
                    at(*start),
                    format_bound(*start, Some(*latest), words),
                    self.format_occasion(when, words)
                )
            }
            Chapter::Moved { moved: Moved { favour: Some(by), from, to, price, .. }, .. } if *by == self.id => {
                format!(
                    "goes to {} instead of {}, where it would delay no other job: that rearrangement costs {price:.1}",
                    at(*to),
                    at(*from)
                )
            }
            Chapter::Moved { moved: Moved { favour, from, to, price, .. }, latest } => {
                let by = to.0 - from.0;
                let because = match favour {
                    Some(other) => {
                        format!("in favour of job {}, at a price of {price:.1}", self.format_name(*other, words))
                    }
                    None if by > 0 => "because a prediction proved too short".to_string(),
                    None => "into room that has come up".to_string(),
                };
                format!(
                    "is moved by {} from {} to {}{} {because}",
                    words.format_change(Span(by)),
                    at(*from),
                    at(*to),
                    format_bound(*to, *latest, words)
                )
            }
            Chapter::Displaced(Moved { job, from, to, price, .. }) => {
                format!(
                    "displaces job {} by {}, at a price of {price:.1}",
                    self.format_name(*job, words),
                    words.format_change(Span(to.0 - from.0))
                )
            }
            Chapter::Started(reason) => {
                let manner = match reason {
                    StartReason::Head => "as the first of its queue",
                    StartReason::Backfilled => "ahead of others in its queue",
                    StartReason::Planned => "as planned",
                    StartReason::Preempting => "in place of jobs that were suspended for it",
                };
                format!("starts {manner}, after {}", long(now - submit))
            }
            Chapter::Sized(procs) => format!("gets {}", self.format_size(*procs)),
            Chapter::Resized(from, to) if to < from => format!("shrinks from {from} to {}", self.format_size(*to)),
            Chapter::Resized(from, to) => format!("grows from {from} to {}", self.format_size(*to)),
            Chapter::Paced(JobPace { speed, watts }) if *speed == Decimal::ONE => {
                format!("runs at its full pace again, with {watts} W per processor")
            }
            Chapter::Paced(JobPace { speed, watts }) => {
                format!("runs at {speed} of its full pace, with {watts} W per processor")
            }
            Chapter::Asked(procs) => format!("asks for {}", self.format_size(*procs)),
            Chapter::Suspended => "is suspended".to_string(),
            Chapter::Resumed => "resumes".to_string(),
            Chapter::Repredicted(span) => format!("is predicted to run for {} in total", long(*span)),
            Chapter::Cancelled => "is withdrawn".to_string(),
            Chapter::Ended(ran) => format!("ends after running for {}", long(*ran)),
        }
    }
}

impl Explanation<'_> {
    /// A size beside the preferred one.
    fn format_size(&self, procs: Procs) -> String {
        let plural = if procs == 1 { "1 processor".to_string() } else { format!("{procs} processors") };
        match self.workload.job(self.id).procs {
            size if size == procs => format!("{plural}, its preferred size"),
            size => format!("{plural}, of a preferred {size}"),
        }
    }
}

fn format_bound(start: Time, latest: Option<Time>, words: &dyn StoryWords) -> String {
    match latest {
        Some(Time::MAX) => ", without a bound".to_string(),
        Some(latest) if latest != start => format!(", at {} at the latest", words.format_moment(latest)),
        _ => String::new(),
    }
}

impl fmt::Display for Explanation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.for_people(&LogSeconds))
    }
}

/// Names of moments, spans and jobs for people.
pub trait StoryWords {
    /// A moment.
    fn format_moment(&self, at: Time) -> String;
    /// A span.
    fn format_span(&self, span: Span) -> String;
    /// A span by which something is moved, with its sign.
    fn format_change(&self, by: Span) -> String;
    /// A job, by its number in the log.
    fn format_job(&self, id: JobId, number: i64) -> String;
    /// Lines that follow the first, of what is known beyond the simulation.
    fn lines_beside(&self, _: JobId) -> String {
        String::new()
    }
}

/// Seconds, as in the log.
struct LogSeconds;

impl StoryWords for LogSeconds {
    fn format_moment(&self, at: Time) -> String {
        at.to_string()
    }

    fn format_span(&self, span: Span) -> String {
        format!("{span} s")
    }

    fn format_change(&self, by: Span) -> String {
        format!("{:+} s", by.0)
    }

    fn format_job(&self, _: JobId, number: i64) -> String {
        number.to_string()
    }
}

impl Explanation<'_> {
    fn format_name(&self, id: JobId, words: &dyn StoryWords) -> String {
        words.format_job(id, self.job_number(id))
    }

    /// The story in these words.
    #[must_use]
    pub fn for_people(&self, words: &dyn StoryWords) -> String {
        let job = self.workload.job(self.id);
        let at = |time: Time| words.format_moment(time);
        let plural = |n: Procs| if n == 1 { "1 processor".to_string() } else { format!("{n} processors") };
        let mut lines = vec![format!(
            "job {}: {} for up to {}, submitted at {}",
            self.format_name(self.id, words),
            plural(job.procs),
            words.format_span(job.estimate),
            at(job.submit)
        )];
        lines.extend(words.lines_beside(self.id).lines().map(String::from));
        for (now, chapter) in self.story.chapters() {
            lines.push(format!("{:>12}  {}", at(*now), self.tell_chapter(*now, chapter, words)));
        }
        for (change, start) in &self.what_if {
            let had = match *change {
                JobWhatIf::Estimate(span) => format!("had it asked for {}", words.format_span(span)),
                JobWhatIf::Procs(procs) => format!("had it asked for {}", plural(procs)),
            };
            lines.push(match (start, self.story.start) {
                (Some(new), Some(old)) if *new == old => format!("{had}, it would have started at the same time"),
                (Some(new), Some(old)) if *new < old => {
                    format!("{had}, it would have started at {}, {} earlier", at(*new), words.format_span(old - *new))
                }
                (Some(new), Some(old)) => {
                    format!("{had}, it would have started at {}, {} later", at(*new), words.format_span(*new - old))
                }
                (Some(new), None) => format!("{had}, it would have started at {}", at(*new)),
                (None, _) => format!("{had}, it would never have started"),
            });
        }
        lines.join("\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_that_ends_at_its_own_instant_is_left_out() {
        let mut story = Biography::new(JobId(1), 4);
        let (reason, of, family) = ("QOSMaxCpuPerUserLimit".to_string(), "the QOS normal".to_string(), String::new());
        let limit = JobLimit { reason, of, family, most: 8 };
        story.note_arrival(Time(0), JobId(1));
        story.note_hold(Time(0), JobId(1));
        story.note_limit(Time(0), JobId(1), &limit);
        story.note_release(Time(0), JobId(1));
        assert!(matches!(story.chapters[..], [(Time(0), Chapter::Arrived { .. })]), "{:?}", story.chapters);
        // A hold that lasts has a line, and its end has one.
        story.note_hold(Time(5), JobId(1));
        story.note_release(Time(9), JobId(1));
        let last_chapters = &story.chapters[1..];
        assert!(matches!(last_chapters, [(Time(5), Chapter::Held), (Time(9), Chapter::Released)]), "{last_chapters:?}");
    }
}
