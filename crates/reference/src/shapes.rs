//! EASY backfilling where jobs have several sizes and power is limited, by definition: every pass
//! looks at all of time, and everything is a plain list.

mod drops;
mod resizing;
mod room;
mod running;

use room::{NaiveSpan, earliest_start, fits_beside};
use running::NaiveSizedRun;
pub use running::{NaiveKind, NaiveSizedJob};
use std::collections::BTreeSet;

/// Settings of a pass, in the words of the parameters.
#[derive(Clone, Debug)]
pub struct NaiveShapeRules {
    /// Size at the start.
    pub shape: &'static str,
    /// True if jobs shrink for the head.
    pub shrinks: bool,
    pub grows: bool,
    /// Rungs of the ladder.
    pub ladder: &'static str,
    /// Order of giving and getting.
    pub share: &'static str,
    /// Caps: from a time on so many watts for jobs.
    pub caps: Vec<(i64, i64)>,
    /// True if caps are known before they begin.
    pub foresees: bool,
    /// Treatment of jobs where a cap falls below the draw: `none`, `shrink`, `pace` or `suspend`.
    pub drop: &'static str,
    /// True if jobs may start at slower paces.
    pub any_pace: bool,
    /// True if malleable jobs that were suspended resume with the size with which they end first.
    pub migrates: bool,
    /// True if a job that shrinks gives its processors back after the cost of that.
    pub releases_late: bool,
    /// True if no job gets more than its fair share of the machine.
    pub is_fair: bool,
    /// Steps of a quantity that is to be low (time, value), and the longest wait for it.
    pub hold: Option<(Vec<(i64, i64)>, i64)>,
}

pub(crate) struct NaiveShapeWorld<'a> {
    procs: i64,
    rules: &'a NaiveShapeRules,
    now: i64,
    queue: Vec<usize>,
    run: Vec<NaiveSizedRun<'a>>,
    /// Suspended jobs.
    parked: Vec<NaiveSizedRun<'a>>,
    /// Processors and times that the first suspended job that waits for room would hold.
    first_parked: Vec<NaiveSpan>,
    jobs: &'a [NaiveSizedJob],
    /// Sizes chosen before the start.
    chosen: Vec<Option<i64>>,
    segments: Vec<Vec<[i64; 4]>>,
    /// Jobs that have arrived and not ended.
    here: BTreeSet<usize>,
}

/// Simulates the jobs, in order of submit. Returns for each its segments: start, end, processors,
/// number of the pace.
///
/// # Panics
/// A job that can never start.
#[must_use]
pub fn simulate_shapes(procs: i64, jobs: &[NaiveSizedJob], rules: &NaiveShapeRules) -> Vec<Vec<[i64; 4]>> {
    let mut world = NaiveShapeWorld {
        procs,
        rules,
        now: i64::MIN,
        queue: Vec::new(),
        run: Vec::new(),
        parked: Vec::new(),
        first_parked: Vec::new(),
        jobs,
        chosen: vec![None; jobs.len()],
        segments: vec![Vec::new(); jobs.len()],
        here: BTreeSet::new(),
    };
    let mut next = 0;
    while next < jobs.len() || !world.queue.is_empty() || !world.run.is_empty() || !world.parked.is_empty() {
        let arrival = jobs.get(next).map(|job| job.submit);
        world.now = world.next_event(arrival).expect("no event is left and jobs wait");
        world.end_and_change();
        world.hear_asks();
        match rules.drop {
            "shrink" => world.shrink_below_cap(),
            "pace" => {
                world.slow_below_cap();
                world.shrink_below_cap();
            }
            "suspend" => world.suspend_above_cap(),
            _ => {}
        }
        let now = world.now;
        world.here.extend((next..jobs.len()).filter(|&at| jobs[at].submit == now));
        while jobs.get(next).is_some_and(|job| job.submit == world.now) {
            world.note_arrival(next);
            next += 1;
        }
        world.run_pass();
    }
    world.segments
}

impl NaiveShapeWorld<'_> {
    fn next_event(&self, arrival: Option<i64>) -> Option<i64> {
        let ends = self.run.iter().map(NaiveSizedRun::run_end);
        let points = self.run.iter().filter_map(|job| job.pending.map(|(_, at)| at));
        let asks = self.run.iter().filter_map(NaiveSizedRun::next_ask);
        let caps = self.rules.caps.iter().map(|cap| cap.0);
        // A pass is made at a step if a job waits for one.
        let waits = self.now > i64::MIN && self.queue.iter().any(|&at| self.is_held(at));
        let steps = self.rules.hold.iter().filter(|_| waits).flat_map(|hold| hold.0.iter().map(|step| step.0));
        let caps = caps.chain(steps).filter(|&time| time > self.now && self.now > i64::MIN);
        arrival.into_iter().chain(ends).chain(points).chain(asks).chain(caps).min()
    }

    fn end_and_change(&mut self) {
        let now = self.now;
        for job in self.run.iter().filter(|job| job.run_end() == now) {
            self.segments[job.at].push([job.since, now, job.size, job.pace as i64]);
            self.here.remove(&job.at);
        }
        self.run.retain(|job| job.run_end() != now);
        for at in 0..self.run.len() {
            if let Some((size, _)) = self.run[at].pending.filter(|pending| pending.1 == now) {
                self.take_effect(at, size);
            }
        }
    }

    /// A change begins. Where processors are given back late, the job has its size until then, and
    /// makes no progress.
    fn take_effect(&mut self, at: usize, size: i64) {
        let job = &self.run[at];
        match job.gives_since.is_none_or(|since| since == self.now) && job.release_time(self.now, size) > self.now {
            true => {
                self.close_segment(at);
                self.run[at].begin_to_give(self.now, size);
            }
            false => self.resize_job(at, size),
        }
    }

    fn resize_job(&mut self, at: usize, size: i64) {
        self.close_segment(at);
        self.run[at].resize_to(self.now, size);
    }

    /// All changes of an instant are one: its segment ends at the first of them.
    fn close_segment(&mut self, at: usize) {
        let job = &self.run[at];
        if job.since < self.now {
            self.segments[job.at].push([job.since, self.now, job.size, job.pace as i64]);
        }
    }

    fn hear_asks(&mut self) {
        let now = self.now;
        for job in self.run.iter_mut().filter(|job| job.next_ask() == Some(now)) {
            job.asked = Some(job.job.asks[job.heard].1);
            job.heard += 1;
        }
    }

    /// Watts for jobs at a time.
    fn cap_at(&self, time: i64) -> i64 {
        let known_time = if self.rules.foresees { time } else { time.min(self.now) };
        self.rules.caps.iter().rev().find(|cap| cap.0 <= known_time).map_or(i64::MAX / 4, |cap| cap.1)
    }

    fn current_draw(&self) -> i64 {
        self.run.iter().map(|job| job.held_procs() * job.watts_per_proc()).sum()
    }

    fn job_spans(&self, without: Option<usize>) -> Vec<NaiveSpan> {
        let other_jobs = self.run.iter().filter(|job| Some(job.at) != without);
        other_jobs.flat_map(|job| job.run_spans(self.now)).collect()
    }

    fn fits_span(&self, spans: &[NaiveSpan], from: i64, until: i64, size: i64, watts: i64) -> bool {
        fits_beside(self, spans, NaiveSpan { from, until, procs: size, watts: size * watts })
    }

    /// The start and size with the earliest end at a pace, the smaller size of equals.
    fn best_start(&self, at: usize, pace: usize, spans: &[NaiveSpan]) -> Option<(i64, i64)> {
        let job = &self.jobs[at];
        let cap = self.cap_of(at);
        let starts = job.sizes.iter().filter(|size| **size <= cap).filter_map(|&size| {
            let run = job.known_at(size, pace);
            let start = earliest_start(self, spans, self.now, run, size, size * job.watts_at(pace))?;
            Some((start + run, size, start))
        });
        starts.min().map(|(_, size, start)| (start, size))
    }

    /// The largest size of a job: its share of the machine by the root of its predicted work.
    fn cap_of(&self, at: usize) -> i64 {
        if !self.rules.is_fair || self.jobs[at].kind == NaiveKind::Rigid {
            return i64::MAX;
        }
        let weight = |at: usize| {
            let job = &self.jobs[at];
            (job.known[&job.reference] as f64 * job.reference as f64).sqrt()
        };
        let sum: f64 = self.here.iter().copied().map(weight).sum();
        ((self.procs as f64 * weight(at) / sum).floor() as i64).max(self.jobs[at].sizes[0])
    }

    /// Returns whether a later step is a better start.
    fn is_held(&self, at: usize) -> bool {
        let Some((steps, most)) = &self.rules.hold else { return false };
        let job = &self.jobs[at];
        let value = |time: i64| steps.iter().rev().find(|step| step.0 <= time).map_or(steps[0].1, |step| step.1);
        let sum = |from: i64| (from..from + job.known[&job.preferred].max(1)).map(value).sum::<i64>();
        let later = steps.iter().map(|step| step.0).filter(|&time| time > self.now && time <= job.submit + most);
        later.map(sum).any(|later_sum| later_sum < sum(self.now))
    }

    /// Sizes in the order in which they are tried at a pace.
    fn sizes_by_rule(&self, at: usize, pace: usize) -> Vec<i64> {
        let job = &self.jobs[at];
        if let Some(size) = self.chosen[at] {
            return vec![size];
        }
        let cap = self.cap_of(at);
        let mut sizes = job.sizes.clone();
        sizes.retain(|&size| size <= cap);
        match self.rules.shape {
            _ if job.kind == NaiveKind::Rigid => vec![job.preferred],
            "preferred" | "submit" => {
                vec![sizes.iter().rfind(|&&size| size <= job.preferred).copied().unwrap_or(sizes[0])]
            }
            "min" => vec![job.sizes[0]],
            "most" | "upto" => {
                sizes.retain(|&size| self.rules.shape == "most" || size <= job.preferred);
                sizes.reverse();
                sizes
            }
            "start" | "start-now" => {
                sizes.sort_by_key(|&size| (job.known_at(size, pace), size));
                sizes
            }
            _ => vec![job.preferred],
        }
    }

    fn start_paces(&self, at: usize) -> std::ops::RangeInclusive<usize> {
        0..=if self.rules.any_pace { self.jobs[at].paces.len() } else { 0 }
    }

    fn fits_now(&self, at: usize, spans: &[NaiveSpan], (size, pace): (i64, usize)) -> bool {
        let (job, now) = (&self.jobs[at], self.now);
        self.fits_span(spans, now, now + job.known_at(size, pace), size, job.watts_at(pace))
    }

    /// Start, size and pace at the fastest pace at which the job ever fits.
    fn plan_job(&self, at: usize, spans: &[NaiveSpan], waits: bool) -> Option<(i64, (i64, usize))> {
        let (job, now) = (&self.jobs[at], self.now);
        self.start_paces(at).find_map(|pace| {
            let sizes = self.sizes_by_rule(at, pace);
            let fitting = sizes.iter().find(|&&size| self.fits_now(at, spans, (size, pace)));
            if let Some(&size) = fitting.filter(|_| !waits || sizes.len() == 1) {
                return Some((now, (size, pace)));
            }
            if matches!(self.rules.shape, "start" | "start-now") && sizes.len() > 1 {
                let (start, size) = self.best_start(at, pace, spans)?;
                return Some((start, (size, pace)));
            }
            let size = *sizes.last()?;
            let start = earliest_start(self, spans, now, job.known_at(size, pace), size, size * job.watts_at(pace))?;
            Some((start, (size, pace)))
        })
    }

    /// Size and pace of a start now: of the plan, or slower ones with which the job ends before the
    /// plan does.
    fn shape_now(&self, at: usize, spans: &[NaiveSpan], waits: bool) -> Option<(i64, usize)> {
        let (job, now) = (&self.jobs[at], self.now);
        let plan = self.plan_job(at, spans, waits);
        let planned_end = plan.map_or(i64::MAX, |(start, (size, pace))| start + job.known_at(size, pace));
        let slower = self.start_paces(at).skip(1).flat_map(|pace| {
            let sizes = self.sizes_by_rule(at, pace).into_iter();
            sizes.map(move |size| (now + job.known_at(size, pace), pace, size))
        });
        let able = slower.filter(|&(end, pace, size)| end < planned_end && self.fits_now(at, spans, (size, pace)));
        let planned_shape = plan.filter(|plan| plan.0 == now).map(|plan| plan.1);
        able.min().map(|(_, pace, size)| (size, pace)).or(planned_shape)
    }

    fn note_arrival(&mut self, at: usize) {
        if self.rules.shape == "submit" && self.jobs[at].kind != NaiveKind::Rigid {
            self.queue.push(at);
            let mut spans = self.job_spans(None);
            for run in &self.parked {
                let best = self.best_resumption(run, false, &spans);
                spans.extend(best.map(|(from, size, rest)| run.run_span(from, from + rest, size)));
            }
            for &rival in self.queue.iter().filter(|&&rival| rival != at) {
                let (job, size) = (&self.jobs[rival], self.chosen[rival].unwrap_or(self.jobs[rival].preferred));
                let start = earliest_start(self, &spans, self.now, job.known[&size], size, size * job.watts);
                // One that no known cap lets start is in no plan.
                let Some(from) = start else { continue };
                spans.push(NaiveSpan { from, until: from + job.known[&size], procs: size, watts: size * job.watts });
            }
            self.chosen[at] = self.best_start(at, 0, &spans).map(|(_, size)| size);
            return;
        }
        self.queue.push(at);
    }

    fn start_job(&mut self, at: usize, shape: (i64, usize)) {
        self.queue.retain(|&entry| entry != at);
        self.run.push(NaiveSizedRun::new(&self.jobs[at], at, self.now, shape, self.rules.releases_late));
    }

    fn run_pass(&mut self) {
        let held_jobs: Vec<usize> = self.queue.iter().copied().filter(|&at| self.is_held(at)).collect();
        self.queue.retain(|at| !held_jobs.contains(at));
        while let Some(&head) = self.queue.first().filter(|_| self.first_parked.is_empty()) {
            match self.shape_now(head, &self.job_spans(None), self.rules.shape == "start") {
                Some(shape) => self.start_job(head, shape),
                None if self.rules.shrinks && self.shrink_for(head) => {}
                None => break,
            }
        }
        let (mut reserved_spans, heads) = (self.first_parked.clone(), usize::from(self.first_parked.is_empty()));
        if let Some(&head) = self.queue.first()
            && reserved_spans.is_empty()
            && let Some((from, (size, pace))) = self.plan_job(head, &self.job_spans(None), self.rules.shape == "start")
        {
            let job = &self.jobs[head];
            let until = from + job.known_at(size, pace);
            reserved_spans.push(NaiveSpan { from, until, procs: size, watts: size * job.watts_at(pace) });
        }
        for at in self.queue.iter().skip(heads).copied().collect::<Vec<_>>() {
            let spans = [self.job_spans(None), reserved_spans.clone()].concat();
            if let Some(shape) = self.shape_now(at, &spans, false) {
                self.start_job(at, shape);
            }
        }
        self.queue.extend(held_jobs);
        self.queue.sort_unstable();
        self.grant_sizes(&reserved_spans);
        self.raise_paces(&reserved_spans);
        if self.rules.grows {
            self.grow_jobs(&reserved_spans);
        }
    }

    /// Gives jobs the sizes that they ask for.
    fn grant_sizes(&mut self, reservations: &[NaiveSpan]) {
        for at in 0..self.run.len() {
            let (job, now) = (&self.run[at], self.now);
            let Some(size) = job.asked.filter(|_| job.resumed < now && job.gives_since.is_none()) else { continue };
            let other_spans = [self.job_spans(Some(job.at)), reservations.to_vec()].concat();
            if size < job.size
                || self.fits_span(&other_spans, now, job.end_after(now, size), size, job.watts_per_proc())
            {
                self.take_effect(at, size);
                self.run[at].asked = None;
            }
        }
    }
}
