//! EASY, conservative backfilling and the heuristic path of a search where the amounts of resources
//! change over time, by definition.
//!
//! Jobs are those of [`vectors`](crate::vectors). Each resource has an amount at the beginning, and
//! each change is known from some time on. Time goes from event to event. The amount at a time, as
//! far as is known, and the amount taken then are summed up from scratch whenever they are needed.
//!
//! - A running job keeps what it holds when the amount falls below that.
//! - A job that asks for more of a resource than there is and than is known to come does not wait:
//!   it comes to the queue when that changes, in its place.
//! - A job fits where, for as long as it is predicted to run, no more is taken than there is. A
//!   running job that has outlived its prediction ends now, as far as a plan goes; what it holds is
//!   not free for a start.
//! - EASY: jobs start from the head of the queue while they fit. The first that does not fit is
//!   planned at its first place, if it has one and jobs have reservations. A job without a place is
//!   in no other's way. Others start that fit beside. Several reservations: each of the first jobs
//!   of the queue starts or is planned, and others start that fit beside.
//! - Conservative backfilling: at every event all jobs are planned in the order of their planned
//!   starts, newcomers last, each at its first place.
//! - The heuristic path: at every event all jobs are planned in the order of arrival.

use crate::JobOut;
use crate::vectors::VectorJob;

/// A change in the amount of a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NaiveSupply {
    /// Place of the resource among the amounts of a job.
    pub resource: usize,
    /// Beginning.
    pub from: i64,
    /// Amount from then on.
    pub amount: i64,
    /// Time at which it is known; no later than its beginning.
    pub known: i64,
}

/// A policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SuppliedRule {
    /// EASY with these choices.
    Easy {
        /// Shortest prediction first, else first come first served: queue and backfilling.
        shortest: (bool, bool),
        /// True if jobs other than the head of the queue may start.
        backfills: bool,
        /// Number of reservations.
        reservations: usize,
    },
    /// Conservative backfilling. No job may outlive its prediction.
    Conservative,
    /// The heuristic path of a goal-oriented search. No job may outlive its prediction.
    Heuristic,
}

const NEVER: i64 = i64::MAX / 4;

#[derive(Clone, Copy)]
struct SuppliedPlace<'a> {
    from: i64,
    to: i64,
    asks: &'a [i64],
}

struct SuppliedWorld<'a> {
    jobs: &'a [VectorJob],
    machine: &'a [i64],
    supply: &'a [NaiveSupply],
    now: i64,
    /// Arrived and not started, in order of arrival.
    here: Vec<usize>,
    /// Those of them that are in the queue.
    waiting: Vec<usize>,
    running: Vec<usize>,
    /// Planned starts of waiting jobs; [`NEVER`] for one without a place.
    planned: Vec<Option<i64>>,
    out: Vec<JobOut>,
}

/// Runs a policy over jobs in order of arrival. `machine` has the amount of each resource before
/// the first change.
///
/// # Panics
/// If a job waits for ever.
pub fn run(rule: SuppliedRule, jobs: &[VectorJob], machine: &[i64], supply: &[NaiveSupply]) -> Vec<JobOut> {
    let mut world = SuppliedWorld {
        jobs,
        machine,
        supply,
        now: i64::MIN,
        here: Vec::new(),
        waiting: Vec::new(),
        running: Vec::new(),
        planned: vec![None; jobs.len()],
        out: vec![JobOut { start: -1, end: -1 }; jobs.len()],
    };
    let mut arrival_count = 0;
    loop {
        let ends = world.running.iter().map(|&j| world.out[j].end);
        let starts = world.waiting.iter().filter_map(|&j| world.planned[j]).filter(|&start| start < NEVER);
        let news = supply.iter().flat_map(|step| [step.known, step.from]);
        let later = starts.chain(news).filter(|&at| at > world.now);
        let arrival = jobs.get(arrival_count).map(|job| job.submit);
        let Some(next) = ends.chain(later).chain(arrival).min() else {
            assert!(world.here.is_empty(), "jobs wait for ever");
            return world.out;
        };
        world.now = next;
        let out = &world.out;
        world.running.retain(|&j| out[j].end != next);
        while jobs.get(arrival_count).is_some_and(|job| job.submit == next) {
            world.here.push(arrival_count);
            arrival_count += 1;
        }
        world.sift_queue();
        match rule {
            SuppliedRule::Conservative => world.plan_all(true),
            SuppliedRule::Heuristic => world.plan_all(false),
            SuppliedRule::Easy { shortest, backfills, reservations } => {
                world.run_easy(shortest, backfills, reservations);
            }
        }
    }
}

impl<'a> SuppliedWorld<'a> {
    /// Returns the amount at a time, as far as is known now.
    fn amount_at(&self, resource: usize, at: i64) -> i64 {
        let announcements = self.supply.iter().filter(|step| step.resource == resource && step.known <= self.now);
        let last = announcements.filter(|step| step.from <= at).max_by_key(|step| step.from);
        last.map_or(self.machine[resource], |step| step.amount)
    }

    /// Returns the times ahead at which amounts change, as far as is known now.
    fn change_times(&self) -> impl Iterator<Item = i64> + 'a {
        let now = self.now;
        self.supply.iter().filter(move |step| step.known <= now && step.from > now).map(|step| step.from)
    }

    /// Keeps jobs out of the queue that ask for more than there is and will be.
    fn sift_queue(&mut self) {
        let is_served = |&j: &usize| {
            let mut asks = self.jobs[j].asks.iter().enumerate();
            asks.all(|(r, &ask)| {
                std::iter::once(self.now).chain(self.change_times()).any(|at| ask <= self.amount_at(r, at))
            })
        };
        let waiting_jobs: Vec<usize> = self.here.iter().copied().filter(is_served).collect();
        for &j in self.here.iter().filter(|j| !waiting_jobs.contains(j)) {
            self.planned[j] = None;
        }
        self.waiting = waiting_jobs;
    }

    fn predicted_end(&self, j: usize) -> i64 {
        self.out[j].start + self.jobs[j].estimate
    }

    /// Returns whether everything that a job asks for is free at this moment.
    fn is_free(&self, j: usize) -> bool {
        let use_of = |r: usize| self.running.iter().map(|&j| self.jobs[j].asks[r]).sum::<i64>();
        let asks = self.jobs[j].asks.iter().enumerate();
        asks.filter(|&(_, &ask)| ask > 0).all(|(r, ask)| use_of(r) + ask <= self.amount_at(r, self.now))
    }

    fn start_job(&mut self, j: usize) {
        assert!(self.is_free(j), "job {j} does not fit");
        self.here.retain(|&w| w != j);
        self.waiting.retain(|&w| w != j);
        self.running.push(j);
        self.out[j] = JobOut { start: self.now, end: self.now + self.jobs[j].run };
    }

    /// Returns the places of the running jobs.
    fn taken_places(&self) -> Vec<SuppliedPlace<'a>> {
        let jobs = self.jobs;
        let of = |&j: &usize| SuppliedPlace { from: i64::MIN, to: self.predicted_end(j), asks: &jobs[j].asks };
        self.running.iter().map(of).collect()
    }

    fn place_at(&self, j: usize, from: i64) -> SuppliedPlace<'a> {
        let jobs = self.jobs;
        SuppliedPlace { from, to: from + jobs[j].estimate, asks: &jobs[j].asks }
    }

    fn fits_beside(&self, places: &[SuppliedPlace<'_>], place: SuppliedPlace<'_>) -> bool {
        let begins = places.iter().map(|t| t.from).chain(self.change_times());
        let mut times = begins.filter(|&at| place.from < at && at < place.to).chain([place.from]);
        times.all(|at| {
            let use_of = |r: usize| places.iter().filter(|t| t.from <= at && at < t.to).map(|t| t.asks[r]).sum::<i64>();
            let asks = place.asks.iter().enumerate().filter(|&(_, &ask)| ask > 0);
            asks.into_iter().all(|(r, ask)| use_of(r) + ask <= self.amount_at(r, at))
        })
    }

    fn earliest_place(&self, places: &[SuppliedPlace<'_>], j: usize) -> Option<SuppliedPlace<'a>> {
        let ends = places.iter().map(|t| t.to).filter(|&to| to > self.now);
        let mut times: Vec<i64> = ends.chain(self.change_times()).chain([self.now]).collect();
        times.sort_unstable();
        times.into_iter().map(|at| self.place_at(j, at)).find(|&place| self.fits_beside(places, place))
    }

    /// Starts a job if it fits now. Returns whether it does.
    fn start_if_fits(&mut self, j: usize, places: &mut Vec<SuppliedPlace<'a>>) -> bool {
        let place = self.place_at(j, self.now);
        let fits = self.is_free(j) && self.fits_beside(places, place);
        if fits {
            places.push(place);
            self.start_job(j);
        }
        fits
    }

    fn sort_waiting(&self, shortest: bool) -> Vec<usize> {
        let mut list = self.waiting.clone();
        list.sort_by_key(|&j| (if shortest { self.jobs[j].estimate } else { 0 }, j));
        list
    }

    fn run_easy(&mut self, shortest: (bool, bool), backfills: bool, reservations: usize) {
        let mut taken_places = self.taken_places();
        let mut planned_jobs: Vec<usize> = Vec::new();
        let most = reservations.max(1);
        for j in self.sort_waiting(shortest.0) {
            if planned_jobs.len() == most {
                break;
            }
            if self.start_if_fits(j, &mut taken_places) {
                continue;
            }
            let Some(place) = self.earliest_place(&taken_places, j) else { continue };
            planned_jobs.push(j);
            if backfills && reservations > 0 {
                taken_places.push(place);
            }
        }
        if backfills {
            for j in self.sort_waiting(shortest.1) {
                if !planned_jobs.contains(&j) {
                    self.start_if_fits(j, &mut taken_places);
                }
            }
        }
    }

    fn plan_all(&mut self, keeps_order: bool) {
        let mut list = self.waiting.clone();
        if keeps_order {
            list.sort_by_key(|&j| (self.planned[j].unwrap_or(NEVER), self.planned[j].is_none(), j));
        }
        let mut taken_places = self.taken_places();
        for &j in &list {
            let place = self.earliest_place(&taken_places, j);
            taken_places.extend(place);
            let start = place.map_or(NEVER, |place| place.from);
            self.planned[j] = keeps_order.then_some(start);
            if start == self.now {
                self.start_job(j);
            }
        }
    }
}
