//! Policies other than EASY and conservative backfilling where jobs are placed on nodes, by
//! definition. Nodes, jobs and the choice of nodes are those of [`placed`](crate::placed). No job
//! runs longer than it is predicted to.
//!
//! - [`committed`]: the rules of [`crate::committed`]; a job fits if it can be placed.
//! - [`slack`]: the rules of [`crate::talby`]. A job is planned on nodes, and keeps them while it
//!   keeps its time: those behind a slot are put back in the order of their starts and stay where
//!   they are until one finds its nodes taken; that one has its first place from its planned start
//!   on, and each behind it its first place of all. In any other order, or where not every job is
//!   planned as early as those before it allow, each is put back at its first place. A slot at
//!   which the newcomer fits beside the whole plan is tried only then.
//! - [`multiqueue`]: the rules of [`crate::multiqueue`]. A promise is of nodes. After an early end
//!   all promises are placed again as conservative backfilling does it ([`crate::placed`]).
//! - [`goal`]: the rules of [`crate::search`]; each job of a path has its first place.
//! - [`selective`]: the rules of [`crate::suspension`]. A suspended job keeps its memory and gives
//!   back cores and devices. Victims are as many, the widest first, as it takes until the job can
//!   be placed, without those that need not go, the last first. A job that is on no node that the
//!   idle one may be on is no victim.

pub mod committed;
pub mod goal;
pub mod multiqueue;
pub mod selective;
pub mod slack;

use crate::JobOut;
use crate::placed::{
    NEVER, NaiveFloor, NaivePlacedJob, NaivePlacedTaken, PlacedFill, PlacedSchedule, PlacedSeat, free_at, lesser_floor,
    place_job,
};

/// Jobs on nodes at a moment.
struct SeatedWorld<'a> {
    jobs: &'a [NaivePlacedJob],
    floor: &'a NaiveFloor,
    fill: PlacedFill,
    now: i64,
    arrived: usize,
    /// In order of arrival.
    waiting: Vec<usize>,
    /// In order of start.
    running: Vec<usize>,
    out: Vec<JobOut>,
    seats: Vec<PlacedSeat>,
}

struct SeatedInstant {
    /// A job has ended before it was predicted to.
    early: bool,
    fresh: Vec<usize>,
}

fn count_procs(job: &NaivePlacedJob) -> i64 {
    job.pieces.iter().map(|piece| piece[0]).sum()
}

impl<'a> SeatedWorld<'a> {
    fn new(jobs: &'a [NaivePlacedJob], floor: &'a NaiveFloor, fill: PlacedFill) -> SeatedWorld<'a> {
        assert!(jobs.iter().all(|job| job.run <= job.estimate), "no job outlives its prediction");
        SeatedWorld {
            jobs,
            floor,
            fill,
            now: i64::MIN,
            arrived: 0,
            waiting: Vec::new(),
            running: Vec::new(),
            out: vec![JobOut { start: -1, end: -1 }; jobs.len()],
            seats: vec![Vec::new(); jobs.len()],
        }
    }

    /// Goes to the next arrival, end, or time of these; `None` where nothing happens any more.
    fn advance_time(&mut self, plan_times: impl Iterator<Item = i64>) -> Option<SeatedInstant> {
        let ends = self.running.iter().map(|&j| self.out[j].end);
        let arrival = self.jobs.get(self.arrived).map(|job| job.submit);
        let now = self.now;
        let next = ends.chain(plan_times.filter(|&at| at > now && at < NEVER)).chain(arrival).min()?;
        self.now = next;
        let ended_jobs: Vec<usize> = self.running.iter().copied().filter(|&j| self.out[j].end == next).collect();
        let early = ended_jobs.iter().any(|&j| self.predicted_end(j) > next);
        self.running.retain(|j| !ended_jobs.contains(j));
        let mut fresh = Vec::new();
        while self.jobs.get(self.arrived).is_some_and(|job| job.submit == next) {
            fresh.push(self.arrived);
            self.waiting.push(self.arrived);
            self.arrived += 1;
        }
        Some(SeatedInstant { early, fresh })
    }

    fn finish(self) -> PlacedSchedule {
        assert!(self.waiting.is_empty(), "jobs wait for ever");
        (self.out, self.seats)
    }

    fn predicted_end(&self, j: usize) -> i64 {
        self.out[j].start + self.jobs[j].estimate
    }

    /// Seats of running jobs until their predicted ends.
    fn taken_seats(&self) -> Vec<NaivePlacedTaken> {
        let of =
            |&j: &usize| NaivePlacedTaken { from: i64::MIN, to: self.predicted_end(j), seat: self.seats[j].clone() };
        self.running.iter().map(of).collect()
    }

    fn start_job(&mut self, j: usize, seat: PlacedSeat) {
        self.waiting.retain(|&w| w != j);
        self.running.push(j);
        self.out[j] = JobOut { start: self.now, end: self.now + self.jobs[j].run };
        self.seats[j] = seat;
    }

    /// Amounts that are free during all of a time.
    fn least_free(&self, from: i64, to: i64, bookings: &[NaivePlacedTaken]) -> NaiveFloor {
        let begins = bookings.iter().map(|t| t.from).filter(|&begin| from < begin && begin < to);
        begins.fold(free_at(self.floor, bookings, &[], from), |least, at| {
            lesser_floor(&least, &free_at(self.floor, bookings, &[], at))
        })
    }

    /// The place of a job at this very time, if it has one.
    fn place_at(&self, j: usize, from: i64, bookings: &[NaivePlacedTaken]) -> Option<NaivePlacedTaken> {
        let to = from + self.jobs[j].estimate;
        let seat = place_job(&self.jobs[j], self.floor, &self.least_free(from, to, bookings), self.fill)?;
        Some(NaivePlacedTaken { from, to, seat })
    }

    /// The first place of a job from a time on.
    fn earliest_place(&self, j: usize, from: i64, bookings: &[NaivePlacedTaken]) -> NaivePlacedTaken {
        let mut times: Vec<i64> = bookings.iter().map(|t| t.to).filter(|&to| to > from).chain([from]).collect();
        times.sort_unstable();
        let place = times.into_iter().find_map(|at| self.place_at(j, at, bookings));
        place.expect("a job that fits the machine fits when all others have ended")
    }

    fn is_free(&self, place: &NaivePlacedTaken, bookings: &[NaivePlacedTaken]) -> bool {
        let free = self.least_free(place.from, place.to, bookings);
        place.seat.iter().all(|(node, amounts)| free[*node].iter().zip(amounts).all(|(free, ask)| free >= ask))
    }

    /// Plans jobs again after an early end, in this order: each at its first place; if one would
    /// come later than it was planned, each by itself beside all others where they are.
    fn plan_again(&self, list: &[usize], plan: &mut [Option<NaivePlacedTaken>]) {
        let start = |plan: &[Option<NaivePlacedTaken>], j: usize| plan[j].as_ref().map_or(NEVER, |place| place.from);
        let (old, mut taken_seats) = (plan.to_vec(), self.taken_seats());
        for &j in list {
            let place = self.earliest_place(j, self.now, &taken_seats);
            taken_seats.push(place.clone());
            plan[j] = Some(place);
        }
        if list.iter().any(|&j| start(plan, j) > start(&old, j)) {
            // Jobs end early only: all places of the plan are free still.
            plan.clone_from_slice(&old);
            for &j in list {
                let other_places = list.iter().filter(|&&rival| rival != j).filter_map(|&rival| plan[rival].clone());
                let beside: Vec<NaivePlacedTaken> = self.taken_seats().into_iter().chain(other_places).collect();
                plan[j] = Some(self.earliest_place(j, self.now, &beside));
            }
        }
    }
}
