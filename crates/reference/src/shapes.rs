//! EASY backfilling where jobs have several sizes and power is limited, by definition: every pass
//! looks at all of time, and everything is a plain list.

mod drops;
mod resizing;
mod room;
mod running;

use room::{NaiveSpan, earliest, fits};
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
    /// True if jobs grow.
    pub grows: bool,
    /// Rungs of the ladder.
    pub ladder: &'static str,
    /// Order of giving and getting.
    pub share: &'static str,
    /// Caps: from a time on so many watts for jobs.
    pub caps: Vec<(i64, i64)>,
    /// True if caps are known before they begin.
    pub foresees: bool,
    /// Treatment of jobs where a cap falls below the draw: `none`, `shrink` or `suspend`.
    pub drop: &'static str,
    /// True if malleable jobs that were suspended resume with the size with which they end first.
    pub migrates: bool,
    /// True if a job that shrinks gives its processors back after the cost of that.
    pub releases_late: bool,
    /// True if no job gets more than its fair share of the machine.
    pub is_fair: bool,
    /// Steps of a quantity that is to be low (time, value), and the longest wait for it.
    pub hold: Option<(Vec<(i64, i64)>, i64)>,
}

/// The machine and the queue.
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
    segments: Vec<Vec<[i64; 3]>>,
    /// Jobs that have arrived and not ended.
    here: BTreeSet<usize>,
}

/// Simulates the jobs, in order of submit. Returns for each its segments: start, end, processors.
///
/// # Panics
/// A job that can never start.
#[must_use]
pub fn simulate(procs: i64, jobs: &[NaiveSizedJob], rules: &NaiveShapeRules) -> Vec<Vec<[i64; 3]>> {
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
            "suspend" => world.suspend_above_cap(),
            _ => {}
        }
        let now = world.now;
        world.here.extend((next..jobs.len()).filter(|&at| jobs[at].submit == now));
        while jobs.get(next).is_some_and(|job| job.submit == world.now) {
            world.arrive(next);
            next += 1;
        }
        world.pass();
    }
    world.segments
}

impl NaiveShapeWorld<'_> {
    fn next_event(&self, arrival: Option<i64>) -> Option<i64> {
        let ends = self.run.iter().map(NaiveSizedRun::end);
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
        for job in self.run.iter().filter(|job| job.end() == now) {
            self.segments[job.at].push([job.since, now, job.size]);
            self.here.remove(&job.at);
        }
        self.run.retain(|job| job.end() != now);
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
        match job.gives_since.is_none_or(|since| since == self.now) && job.release(self.now, size) > self.now {
            true => {
                let job = &mut self.run[at];
                if job.since < self.now {
                    self.segments[job.at].push([job.since, self.now, job.size]);
                }
                job.begin_to_give(self.now, size);
            }
            false => self.resize(at, size),
        }
    }

    /// All changes of an instant are one: its segment ends at the first of them.
    fn resize(&mut self, at: usize, size: i64) {
        let now = self.now;
        let job = &mut self.run[at];
        if job.since < now {
            self.segments[job.at].push([job.since, now, job.size]);
        }
        job.resize(now, size);
    }

    fn hear_asks(&mut self) {
        let now = self.now;
        for job in self.run.iter_mut().filter(|job| job.next_ask() == Some(now)) {
            job.asked = Some(job.job.asks[job.heard].1);
            job.heard += 1;
        }
    }

    /// Watts for jobs at a time.
    fn cap(&self, time: i64) -> i64 {
        let known = if self.rules.foresees { time } else { time.min(self.now) };
        self.rules.caps.iter().rev().find(|cap| cap.0 <= known).map_or(i64::MAX / 4, |cap| cap.1)
    }

    fn draw(&self) -> i64 {
        self.run.iter().map(|job| job.held() * job.job.watts).sum()
    }

    fn spans(&self, without: Option<usize>) -> Vec<NaiveSpan> {
        let others = self.run.iter().filter(|job| Some(job.at) != without);
        others.flat_map(|job| job.spans(self.now)).collect()
    }

    fn fits(&self, spans: &[NaiveSpan], from: i64, until: i64, size: i64, watts: i64) -> bool {
        fits(self, spans, NaiveSpan { from, until, procs: size, watts: size * watts })
    }

    /// The start and size with the earliest end, the smaller size of equals.
    fn best(&self, at: usize, spans: &[NaiveSpan]) -> Option<(i64, i64)> {
        let job = &self.jobs[at];
        let cap = self.cap_of(at);
        let starts = job.sizes.iter().filter(|size| **size <= cap).filter_map(|&size| {
            let start = earliest(self, spans, self.now, job.known[&size], size, size * job.watts)?;
            Some((start + job.known[&size], size, start))
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
        later.map(sum).any(|other| other < sum(self.now))
    }

    fn sizes_by_rule(&self, at: usize) -> Vec<i64> {
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
                sizes.sort_by_key(|size| (job.known[size], *size));
                sizes
            }
            _ => vec![job.preferred],
        }
    }

    fn choose(&self, at: usize, spans: &[NaiveSpan]) -> Option<(i64, i64)> {
        let (job, now) = (&self.jobs[at], self.now);
        let sizes = self.sizes_by_rule(at);
        if self.rules.shape != "start" || sizes.len() == 1 {
            let fitting = sizes.iter().find(|&&size| self.fits(spans, now, now + job.known[&size], size, job.watts));
            if let Some(&size) = fitting {
                return Some((now, size));
            }
        }
        if matches!(self.rules.shape, "start" | "start-now") && sizes.len() > 1 {
            return self.best(at, spans);
        }
        let size = *sizes.last()?;
        Some((earliest(self, spans, now, job.known[&size], size, size * job.watts)?, size))
    }

    fn arrive(&mut self, at: usize) {
        if self.rules.shape == "submit" && self.jobs[at].kind != NaiveKind::Rigid {
            self.queue.push(at);
            let mut spans = self.spans(None);
            for parked in &self.parked {
                let best = self.best_resumption(parked, false, &spans);
                spans.extend(best.map(|(from, size, rest)| parked.span(from, from + rest, size)));
            }
            for &other in self.queue.iter().filter(|&&other| other != at) {
                let (job, size) = (&self.jobs[other], self.chosen[other].unwrap_or(self.jobs[other].preferred));
                let start = earliest(self, &spans, self.now, job.known[&size], size, size * job.watts);
                // One that no known cap lets start is in no plan.
                let Some(from) = start else { continue };
                spans.push(NaiveSpan { from, until: from + job.known[&size], procs: size, watts: size * job.watts });
            }
            self.chosen[at] = self.best(at, &spans).map(|(_, size)| size);
            return;
        }
        self.queue.push(at);
    }

    fn start(&mut self, at: usize, size: i64) {
        self.queue.retain(|&other| other != at);
        self.run.push(NaiveSizedRun::new(&self.jobs[at], at, self.now, size, self.rules.releases_late));
    }

    fn pass(&mut self) {
        let held: Vec<usize> = self.queue.iter().copied().filter(|&at| self.is_held(at)).collect();
        self.queue.retain(|at| !held.contains(at));
        while let Some(&head) = self.queue.first().filter(|_| self.first_parked.is_empty()) {
            match self.choose(head, &self.spans(None)) {
                Some((start, size)) if start == self.now => self.start(head, size),
                _ if self.rules.shrinks && self.shrink_for(head) => {}
                _ => break,
            }
        }
        let (mut reserved, heads) = (self.first_parked.clone(), usize::from(self.first_parked.is_empty()));
        if let Some(&head) = self.queue.first()
            && reserved.is_empty()
            && let Some((from, size)) = self.choose(head, &self.spans(None))
        {
            let job = &self.jobs[head];
            reserved.push(NaiveSpan { from, until: from + job.known[&size], procs: size, watts: size * job.watts });
        }
        for at in self.queue.iter().skip(heads).copied().collect::<Vec<_>>() {
            let (job, now) = (&self.jobs[at], self.now);
            let spans = [self.spans(None), reserved.clone()].concat();
            let sizes = self.sizes_by_rule(at).into_iter();
            let fitting =
                sizes.into_iter().find(|&size| self.fits(&spans, now, now + job.known[&size], size, job.watts));
            if let Some(size) = fitting {
                self.start(at, size);
            }
        }
        self.queue.extend(held);
        self.queue.sort_unstable();
        self.grant(&reserved);
        if self.rules.grows {
            self.grow(&reserved);
        }
    }

    /// Gives jobs the sizes that they ask for.
    fn grant(&mut self, reserved: &[NaiveSpan]) {
        for at in 0..self.run.len() {
            let (job, now) = (&self.run[at], self.now);
            let Some(size) = job.asked.filter(|_| job.resumed < now && job.gives_since.is_none()) else { continue };
            let others = [self.spans(Some(job.at)), reserved.to_vec()].concat();
            if size < job.size || self.fits(&others, now, job.end_after(now, size), size, job.job.watts) {
                self.take_effect(at, size);
                self.run[at].asked = None;
            }
        }
    }
}
