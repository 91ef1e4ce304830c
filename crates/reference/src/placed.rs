//! EASY and conservative backfilling where jobs are placed on nodes, by definition.
//!
//! A node has amounts of several things, the first of which is cores. A job is a list of pieces,
//! the largest first; each piece is on one node, and takes its amounts there. What is free on a
//! node at a time is summed up from scratch each time it is asked for.
//!
//! - A node has room for as many pieces as it could hold of the largest; for one at most where the
//!   pieces are to be apart. A job that is alone has room only on nodes that nothing is taken of,
//!   and takes all of them. Of one that is alone and whose pieces are apart, the cores of a node
//!   may be fewer than those of a piece, where its nodes together have enough.
//! - `Pack` chooses, again and again, among nodes not chosen yet: of those with room for all that
//!   is left of the job the one with the fewest free cores; if there is none, the one with the most
//!   room, of several the one with the fewest free cores. Of equals the first.
//! - `Spread` deals pieces in rounds, one to each node that still has room, the nodes with the most
//!   free cores at the beginning first.
//! - Of whole nodes for several pieces that are apart, both choose the first, `Pack` those with the
//!   fewest cores. As few as possible of the last of these give way, until all together have enough
//!   cores: one to the first that is enough, the others to those with the most cores.
//! - EASY: jobs start from the head of the queue while they can be placed. The first that cannot
//!   has the shadow time: the first predicted end with which it could be placed on what is free
//!   then. It is placed there. Another job starts if it can be placed now and ends by the shadow
//!   time, or if it can be placed on the lesser of what is free now and what the reservation leaves
//!   over then; in that case it takes that from the reservation's remainder.
//! - Conservative backfilling: a job is planned at the first time at which it can be placed on what
//!   is free for as long as it is predicted to run. When a job ends early, all waiting jobs are
//!   planned again in the order of their planned starts; if one would start later than it was
//!   planned to, each is planned again by itself, in the same order, beside all others where they
//!   are.
//! - Nodes go and come back ([`NaiveNodeOutage`]). A plan has no free cores on a node that is known
//!   to be out then; what jobs hold there, they hold. Conservative backfilling plans all jobs again
//!   when something of that changes, and keeps their places where it may if they are still free.
//! - Several reservations: in the order of the queue each job starts if its first place is now,
//!   else it has a reservation there, up to a number of them. Other jobs start that delay none of
//!   these. A job that fits on no nodes that are known to be there in the end is in no other's way.
//! - A running job that has outlived its prediction ends now, as far as a plan goes; what it holds
//!   is not free for a start.

use crate::JobOut;
use crate::outages::NaiveHit;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NaivePlacedJob {
    /// Arrival, in seconds.
    pub submit: i64,
    /// Predicted run time, in seconds, at least 1.
    pub estimate: i64,
    /// Run time, in seconds, at least 1.
    pub run: i64,
    /// Amounts of each piece, the largest first.
    pub pieces: Vec<Vec<i64>>,
    /// True if no two pieces are on one node.
    pub apart: bool,
    /// True if no other job is on its nodes.
    pub alone: bool,
}

/// A choice of nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlacedFill {
    /// Few nodes, tightly.
    Pack,
    /// Piece by piece.
    Spread,
}

/// A policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlacedRule {
    /// EASY with these choices.
    Easy {
        /// Shortest prediction first, else first come first served: queue and backfilling.
        shortest: (bool, bool),
        /// True if other jobs start than the head of the queue.
        backfills: bool,
        /// True if the head has a reservation.
        reserves: bool,
    },
    /// Conservative backfilling. No job may outlive its prediction.
    Conservative,
    /// A plan at each pass.
    Planned {
        /// Shortest prediction first, else first come first served: queue and backfilling.
        shortest: (bool, bool),
        /// True if other jobs start than those that have reservations.
        backfills: bool,
        /// Number of reservations.
        reservations: usize,
    },
}

/// A node is out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NaiveNodeOutage {
    /// The node, with all that it has.
    pub node: usize,
    /// Time of the announcement; no later than the beginning.
    pub known: i64,
    pub begin: i64,
    pub end: i64,
    pub expected: Option<i64>,
    /// Fate of its jobs.
    pub hit: NaiveHit,
}

pub(crate) const NEVER: i64 = i64::MAX / 4;

/// Amounts by node.
pub type NaiveFloor = Vec<Vec<i64>>;

/// Amounts that a job takes on its nodes.
pub type PlacedSeat = Vec<(usize, Vec<i64>)>;

/// A schedule: starts and ends, and what each job took on which nodes.
pub type PlacedSchedule = (Vec<JobOut>, Vec<PlacedSeat>);

/// Returns the nodes for a job where so much is free; `None` where it does not fit.
pub fn place_job(job: &NaivePlacedJob, floor: &NaiveFloor, free: &NaiveFloor, fill: PlacedFill) -> Option<PlacedSeat> {
    if job.alone && job.apart && job.pieces.len() > 1 {
        return place_whole(job, floor, free, fill);
    }
    let largest = &job.pieces[0];
    let room = |node: usize| -> usize {
        if job.alone && free[node] != floor[node] {
            return 0;
        }
        let most = if job.apart { 1 } else { job.pieces.len() };
        let holds = |n: i64| free[node].iter().zip(largest).all(|(free, ask)| *free >= n * ask);
        (1..=most).rev().find(|&n| holds(n as i64)).unwrap_or(0)
    };
    let rooms: Vec<usize> = (0..floor.len()).map(room).collect();
    if rooms.iter().sum::<usize>() < job.pieces.len() {
        return None;
    }
    let mut counts: Vec<(usize, usize)> = Vec::new();
    match fill {
        PlacedFill::Pack => {
            let mut unused_nodes: Vec<usize> = (0..floor.len()).filter(|&node| rooms[node] > 0).collect();
            let mut remaining_pieces = job.pieces.len();
            while remaining_pieces > 0 {
                let roomy_nodes = unused_nodes.iter().copied().filter(|&node| rooms[node] >= remaining_pieces);
                let tightest = roomy_nodes.min_by_key(|&node| (free[node][0], node));
                let roomiest = || {
                    let most = unused_nodes.iter().map(|&node| rooms[node]).max().expect("there is enough room");
                    let roomiest_nodes = unused_nodes.iter().copied().filter(|&node| rooms[node] == most);
                    roomiest_nodes.min_by_key(|&node| (free[node][0], node)).expect("there is enough room")
                };
                let node = tightest.unwrap_or_else(roomiest);
                counts.push((node, remaining_pieces.min(rooms[node])));
                remaining_pieces -= remaining_pieces.min(rooms[node]);
                unused_nodes.retain(|&entry| entry != node);
            }
        }
        PlacedFill::Spread => {
            let mut order: Vec<usize> = (0..floor.len()).collect();
            order.sort_by_key(|&node| (-free[node][0], node));
            counts = order.into_iter().map(|node| (node, 0)).collect();
            for round in 0..job.pieces.len() {
                let mut dealt_count: usize = counts.iter().map(|count| count.1).sum();
                for (node, count) in &mut counts {
                    if dealt_count < job.pieces.len() && round < rooms[*node] {
                        *count += 1;
                        dealt_count += 1;
                    }
                }
            }
        }
    }
    let mut pieces = job.pieces.iter();
    let mut seat = Vec::new();
    for (node, count) in counts.into_iter().filter(|count| count.1 > 0) {
        let mut amounts = vec![0; floor[node].len()];
        for piece in pieces.by_ref().take(count) {
            amounts.iter_mut().zip(piece).for_each(|(sum, ask)| *sum += ask);
        }
        seat.push((node, if job.alone { floor[node].clone() } else { amounts }));
    }
    seat.sort();
    Some(seat)
}

/// Returns the whole nodes for a job, one for each piece.
fn place_whole(job: &NaivePlacedJob, floor: &NaiveFloor, free: &NaiveFloor, fill: PlacedFill) -> Option<PlacedSeat> {
    let procs: i64 = job.pieces.iter().map(|piece| piece[0]).sum();
    let serves = |node: &usize| {
        let beside_cores = floor[*node].iter().zip(&job.pieces[0]).skip(1);
        free[*node] == floor[*node] && floor[*node][0] > 0 && beside_cores.into_iter().all(|(has, ask)| has >= ask)
    };
    let mut order: Vec<usize> = (0..floor.len()).filter(serves).collect();
    let sign = if fill == PlacedFill::Pack { 1 } else { -1 };
    order.sort_by_key(|&node| (sign * floor[node][0], node));
    let sum = |nodes: &[usize]| nodes.iter().map(|&node| floor[node][0]).sum::<i64>();
    for exchanges in 0..=job.pieces.len() {
        let (first, rest) = order.split_at_checked(job.pieces.len() - exchanges)?;
        let (mut nodes, mut rest) = (first.to_vec(), rest.to_vec());
        for _ in 1..exchanges {
            let most = rest.iter().map(|&node| floor[node][0]).max()?;
            let at = rest.iter().position(|&node| floor[node][0] == most)?;
            nodes.push(rest.remove(at));
        }
        if exchanges > 0 {
            let is_enough = |&&node: &&usize| sum(&nodes) + floor[node][0] >= procs;
            let Some(&last) = rest.iter().find(is_enough) else { continue };
            nodes.push(last);
        }
        if sum(&nodes) >= procs {
            nodes.sort_unstable();
            return Some(nodes.into_iter().map(|node| (node, floor[node].clone())).collect());
        }
    }
    None
}

/// A time during which a seat is taken.
#[derive(Clone)]
pub(crate) struct NaivePlacedTaken {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) seat: PlacedSeat,
}

/// A node that is believed to be out.
#[derive(Clone, Copy)]
pub(crate) struct NaiveNodeSpell {
    node: usize,
    from: i64,
    to: i64,
}

pub(crate) fn free_at(
    floor: &NaiveFloor,
    bookings: &[NaivePlacedTaken],
    outs: &[NaiveNodeSpell],
    at: i64,
) -> NaiveFloor {
    let mut free = floor.clone();
    for booking in bookings.iter().filter(|booking| booking.from <= at && at < booking.to) {
        for (node, amounts) in &booking.seat {
            free[*node].iter_mut().zip(amounts).for_each(|(free, ask)| *free -= ask);
        }
    }
    outs.iter().filter(|out| out.from <= at && at < out.to).for_each(|out| free[out.node][0] = 0);
    free
}

pub(crate) fn lesser_floor(first: &NaiveFloor, second: &NaiveFloor) -> NaiveFloor {
    let row = |(first_row, second_row): (&Vec<i64>, &Vec<i64>)| {
        first_row.iter().zip(second_row).map(|(a, b)| *a.min(b)).collect()
    };
    first.iter().zip(second).map(row).collect()
}

struct NaivePlacedWorld<'a> {
    jobs: &'a [NaivePlacedJob],
    floor: &'a NaiveFloor,
    fill: PlacedFill,
    outages: &'a [NaiveNodeOutage],
    /// Outages that have begun and are not over.
    out: Vec<usize>,
    now: i64,
    waiting: Vec<usize>,
    running: Vec<usize>,
    /// Places of waiting jobs in the plan.
    plan: Vec<Option<NaivePlacedTaken>>,
    out_of: Vec<JobOut>,
    seats: Vec<PlacedSeat>,
}

/// Runs a policy over jobs in order of arrival, each of which fits on the nodes without others.
pub fn run(rule: PlacedRule, jobs: &[NaivePlacedJob], floor: &NaiveFloor, fill: PlacedFill) -> PlacedSchedule {
    run_among(rule, jobs, floor, fill, &[])
}

/// [`run`] while nodes go and come back. Each job has its last start and end; that of a job that
/// was lost is when its node went, and one that never starts has -1.
pub fn run_among(
    rule: PlacedRule,
    jobs: &[NaivePlacedJob],
    floor: &NaiveFloor,
    fill: PlacedFill,
    outages: &[NaiveNodeOutage],
) -> PlacedSchedule {
    let mut world = NaivePlacedWorld {
        jobs,
        floor,
        fill,
        outages,
        out: Vec::new(),
        now: i64::MIN,
        waiting: Vec::new(),
        running: Vec::new(),
        plan: vec![None; jobs.len()],
        out_of: vec![JobOut { start: -1, end: -1 }; jobs.len()],
        seats: vec![Vec::new(); jobs.len()],
    };
    let first = jobs.first().map_or(0, |job| job.submit);
    world.out.extend((0..outages.len()).filter(|&at| outages[at].begin < first && outages[at].end >= first));
    let mut arrival_count = 0;
    loop {
        let ends = world.running.iter().map(|&j| world.out_of[j].end);
        let starts = world.waiting.iter().filter_map(|&j| world.plan[j].as_ref()).map(|booking| booking.from);
        let later = |&at: &i64| at > world.now && at < NEVER && arrival_count > 0;
        let arrival = jobs.get(arrival_count).map(|job| job.submit);
        // Nothing happens at the expected end of an outage that is over by then.
        let late = |o: &NaiveNodeOutage| o.expected.filter(|&expected| expected < o.end).unwrap_or(NEVER);
        let outages = outages.iter().flat_map(|o| [o.known, o.begin, o.end, late(o)]);
        let over = arrival_count == jobs.len() && world.waiting.is_empty() && world.running.is_empty();
        let next = ends.chain(starts.filter(later)).chain(outages.filter(later)).chain(arrival).min();
        let Some(next) = next.filter(|_| !over) else {
            assert!(world.waiting.is_empty() || !world.outages.is_empty(), "jobs wait for ever");
            return (world.out_of, world.seats);
        };
        world.now = next;
        let ended_jobs: Vec<usize> = world.running.iter().copied().filter(|&j| world.out_of[j].end == next).collect();
        let early = ended_jobs.iter().any(|&j| world.predicted_end(j) > next);
        world.running.retain(|j| !ended_jobs.contains(j));
        let (has_changed, mut fresh) = world.change_nodes();
        while jobs.get(arrival_count).is_some_and(|job| job.submit == next) {
            world.waiting.push(arrival_count);
            fresh.push(arrival_count);
            arrival_count += 1;
        }
        world.waiting.sort_unstable();
        // Jobs that wait again are planned in the order of their numbers.
        fresh.sort_unstable();
        match rule {
            PlacedRule::Conservative => world.run_conservative(early || has_changed, &fresh),
            PlacedRule::Easy { shortest, backfills, reserves } => world.run_easy(shortest, backfills, reserves),
            PlacedRule::Planned { shortest, backfills, reservations } => {
                world.plan_reservations(shortest, backfills, reservations);
            }
        }
    }
}

impl NaivePlacedWorld<'_> {
    fn predicted_end(&self, j: usize) -> i64 {
        self.out_of[j].start + self.jobs[j].estimate
    }

    /// Nodes go and come back. Returns whether anything has changed, and the jobs that wait again.
    fn change_nodes(&mut self) -> (bool, Vec<usize>) {
        let (now, outages) = (self.now, self.outages);
        let mut again = Vec::new();
        let mut has_changed = outages.iter().any(|o| o.known == now || o.begin == now);
        has_changed |= self.out.iter().any(|&at| outages[at].end == now || outages[at].expected == Some(now));
        self.out.retain(|&at| outages[at].end != now);
        for (at, outage) in outages.iter().enumerate().filter(|(_, o)| o.begin == now) {
            self.out.push(at);
            if outage.hit == NaiveHit::Drain {
                continue;
            }
            let is_there = |j: &usize| self.seats[*j].iter().any(|on| on.0 == outage.node);
            let mut hit: Vec<usize> = self.running.iter().copied().filter(is_there).collect();
            hit.sort_unstable();
            self.running.retain(|j| !hit.contains(j));
            for j in hit {
                if outage.hit == NaiveHit::Requeue {
                    self.out_of[j] = JobOut { start: -1, end: -1 };
                    self.seats[j].clear();
                    self.waiting.push(j);
                    again.push(j);
                } else {
                    self.out_of[j].end = now;
                }
            }
        }
        (has_changed, again)
    }

    /// Nodes that are known to be out, now or then.
    fn node_outages(&self) -> Vec<NaiveNodeSpell> {
        let spell = |(at, o): (usize, &NaiveNodeOutage)| {
            let is_out = self.out.contains(&at);
            let is_announced = o.known <= self.now && self.now < o.begin;
            let to = o.expected.filter(|&expected| expected > self.now).unwrap_or(NEVER);
            let from = if is_out { i64::MIN } else { o.begin };
            (is_out || is_announced).then_some(NaiveNodeSpell { node: o.node, from, to })
        };
        self.outages.iter().enumerate().filter_map(spell).collect()
    }

    /// Returns whether a job fits on nodes that are known to be there in the end, without others.
    fn fits_in_the_end(&self, j: usize) -> bool {
        let gone_nodes: Vec<NaiveNodeSpell> =
            self.node_outages().into_iter().filter(|out| out.from == i64::MIN).collect();
        self.try_on(j, &free_at(self.floor, &[], &gone_nodes, NEVER - 1)).is_some()
    }

    fn plan_reservations(&mut self, shortest: (bool, bool), backfills: bool, reservations: usize) {
        let mut reserved_places: Vec<(usize, NaivePlacedTaken)> = Vec::new();
        for j in self.sort_waiting(shortest.0).into_iter().filter(|&j| self.fits_in_the_end(j)).collect::<Vec<_>>() {
            let beside: Vec<NaivePlacedTaken> =
                self.taken_seats().into_iter().chain(reserved_places.iter().map(|entry| entry.1.clone())).collect();
            if let Some(seat) = self.seat_now(j, &beside) {
                self.start_job(j, seat);
                continue;
            }
            match self.earliest_place(j, &beside) {
                Some(place) if reservations > 0 => reserved_places.push((j, place)),
                Some(_) => break,
                None => continue,
            }
            if !reserved_places.is_empty() && reserved_places.len() == reservations {
                break;
            }
        }
        if !backfills {
            return;
        }
        for j in self.sort_waiting(shortest.1).into_iter().filter(|&j| self.fits_in_the_end(j)).collect::<Vec<_>>() {
            let beside: Vec<NaivePlacedTaken> =
                self.taken_seats().into_iter().chain(reserved_places.iter().map(|entry| entry.1.clone())).collect();
            if reserved_places.iter().all(|entry| entry.0 != j)
                && let Some(seat) = self.seat_now(j, &beside)
            {
                self.start_job(j, seat);
            }
        }
    }

    /// Seats of running jobs until their predicted ends; those that are past are over now.
    fn taken_seats(&self) -> Vec<NaivePlacedTaken> {
        let of = |&j: &usize| NaivePlacedTaken {
            from: i64::MIN,
            to: self.predicted_end(j).max(self.now),
            seat: self.seats[j].clone(),
        };
        self.running.iter().map(of).collect()
    }

    /// Amounts that no running job has now, predicted or not.
    fn free_amounts(&self) -> NaiveFloor {
        let taken_seats: Vec<NaivePlacedTaken> =
            self.taken_seats().into_iter().map(|booking| NaivePlacedTaken { to: i64::MAX, ..booking }).collect();
        free_at(self.floor, &taken_seats, &self.node_outages(), self.now)
    }

    fn try_on(&self, j: usize, free: &NaiveFloor) -> Option<PlacedSeat> {
        place_job(&self.jobs[j], self.floor, free, self.fill)
    }

    fn start_job(&mut self, j: usize, seat: PlacedSeat) {
        self.waiting.retain(|&w| w != j);
        self.running.push(j);
        self.out_of[j] = JobOut { start: self.now, end: self.now + self.jobs[j].run };
        self.seats[j] = seat;
    }

    fn sort_waiting(&self, shortest: bool) -> Vec<usize> {
        let mut list = self.waiting.clone();
        list.sort_by_key(|&j| (if shortest { self.jobs[j].estimate } else { 0 }, j));
        list
    }

    fn run_easy(&mut self, shortest: (bool, bool), backfills: bool, reserves: bool) {
        for j in self.sort_waiting(shortest.0) {
            let Some(seat) = self.try_on(j, &self.free_amounts()) else { break };
            self.start_job(j, seat);
        }
        let Some(&head) = self.sort_waiting(shortest.0).first() else { return };
        if !backfills {
            return;
        }
        let mut reservation = None;
        if reserves {
            let taken_seats = self.taken_seats();
            let mut ends: Vec<i64> = taken_seats.iter().map(|booking| booking.to).collect();
            ends.sort_unstable();
            let placement = ends.into_iter().find_map(|end| {
                let mut free = free_at(self.floor, &taken_seats, &[], end);
                let seat = self.try_on(head, &free)?;
                for (node, amounts) in seat {
                    free[node].iter_mut().zip(amounts).for_each(|(free, ask)| *free -= ask);
                }
                Some((end, free))
            });
            reservation = Some(placement.expect("a job that fits the machine fits when all others have ended"));
        }
        for j in self.sort_waiting(shortest.1) {
            if j == head {
                continue;
            }
            let free = self.free_amounts();
            match &mut reservation {
                Some((shadow, over)) if self.now + self.jobs[j].estimate > *shadow => {
                    let Some(seat) = place_job(&self.jobs[j], self.floor, &lesser_floor(&free, over), self.fill) else {
                        continue;
                    };
                    for (node, amounts) in &seat {
                        over[*node].iter_mut().zip(amounts).for_each(|(free, ask)| *free -= ask);
                    }
                    self.start_job(j, seat);
                }
                _ => {
                    if let Some(seat) = self.try_on(j, &free) {
                        self.start_job(j, seat);
                    }
                }
            }
        }
    }

    /// The first place of a job beside what is taken, if it has one.
    fn earliest_place(&self, j: usize, bookings: &[NaivePlacedTaken]) -> Option<NaivePlacedTaken> {
        let outs = self.node_outages();
        let ends = bookings.iter().map(|t| t.to).chain(outs.iter().map(|out| out.to));
        let mut times: Vec<i64> = ends.filter(|&to| to > self.now && to < NEVER).collect();
        times.push(self.now);
        times.sort_unstable();
        let span = self.jobs[j].estimate;
        times.into_iter().find_map(|from| {
            let seat = self.try_on(j, &self.least_free(from, span, bookings))?;
            Some(NaivePlacedTaken { from, to: from + span, seat })
        })
    }

    /// The seat of a job that starts now, if it has one: what a job holds that has outlived its
    /// prediction is not free for a start.
    fn seat_now(&self, j: usize, bookings: &[NaivePlacedTaken]) -> Option<PlacedSeat> {
        self.try_on(j, &lesser_floor(&self.least_free(self.now, self.jobs[j].estimate, bookings), &self.free_amounts()))
    }

    /// Amounts that are free from then on for so long.
    fn least_free(&self, from: i64, span: i64, bookings: &[NaivePlacedTaken]) -> NaiveFloor {
        let outs = self.node_outages();
        let begins = bookings.iter().map(|t| t.from).chain(outs.iter().map(|out| out.from));
        let during = begins.filter(|&begin| from < begin && begin < from + span);
        let free = |at: i64| free_at(self.floor, bookings, &outs, at);
        during.fold(free(from), |least, at| lesser_floor(&least, &free(at)))
    }

    /// Returns whether all places of a plan are free beside the running jobs.
    fn is_possible(&self, plan: &[NaivePlacedTaken]) -> bool {
        let outs = self.node_outages();
        let places: Vec<NaivePlacedTaken> = self.taken_seats().into_iter().chain(plan.iter().cloned()).collect();
        let begins = plan.iter().map(|t| t.from).chain(outs.iter().map(|out| out.from));
        let times: Vec<i64> = begins.filter(|&at| at > self.now).chain([self.now]).collect();
        times.into_iter().all(|at| {
            let free_amounts = free_at(self.floor, &places, &[], at);
            let is_there = |t: &NaivePlacedTaken, out: &NaiveNodeSpell| {
                t.from <= at && at < t.to && out.from <= at && at < out.to && t.seat.iter().any(|on| on.0 == out.node)
            };
            free_amounts.iter().flatten().all(|&free| free >= 0)
                && !plan.iter().any(|t| outs.iter().any(|out| is_there(t, out)))
        })
    }

    fn run_conservative(&mut self, stale: bool, fresh: &[usize]) {
        if stale {
            let mut list: Vec<usize> = self.waiting.iter().copied().filter(|j| !fresh.contains(j)).collect();
            let start =
                |plan: &[Option<NaivePlacedTaken>], j: usize| plan[j].as_ref().map_or(NEVER, |place| place.from);
            list.sort_by_key(|&j| (start(&self.plan, j), j));
            let mut taken_seats = self.taken_seats();
            let mut new = self.plan.clone();
            for &j in &list {
                new[j] = self.earliest_place(j, &taken_seats);
                taken_seats.extend(new[j].clone());
            }
            let old: Vec<NaivePlacedTaken> = list.iter().filter_map(|&j| self.plan[j].clone()).collect();
            if list.iter().any(|&j| start(&new, j) > start(&self.plan, j)) && self.is_possible(&old) {
                new = self.plan.clone();
                for &j in &list {
                    let other_places = list.iter().filter(|&&rival| rival != j).filter_map(|&rival| new[rival].clone());
                    let beside: Vec<NaivePlacedTaken> = self.taken_seats().into_iter().chain(other_places).collect();
                    new[j] = self.earliest_place(j, &beside);
                }
            }
            self.plan = new;
        }
        for &j in fresh {
            let planned_places = self.waiting.iter().filter_map(|&rival| self.plan[rival].clone());
            let beside: Vec<NaivePlacedTaken> = self.taken_seats().into_iter().chain(planned_places).collect();
            self.plan[j] = self.earliest_place(j, &beside);
        }
        let due = |j: &usize| self.plan[*j].as_ref().is_some_and(|booking| booking.from == self.now);
        for j in self.waiting.clone().into_iter().filter(due).collect::<Vec<_>>() {
            if let Some(place) = self.plan[j].take() {
                self.start_job(j, place.seat);
            }
        }
    }
}
