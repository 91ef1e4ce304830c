//! Hostile worlds at random: outages, holds, dependencies, a busy beginning.

use crate::case::{CaseLimits, PolicyCase, Random};
use crate::world::CaseWorld;
use drystone::model::{
    Adopted, Circumstances, DependencyEffect, DependsOn, How, JobId, JobLimit, JobLimits, LimitClaim, Machine, Outage,
    OutageHit, Outages, ProcSet, Procs, Span, Throttle, Time, Which, Withdrawal,
};

impl PolicyCase {
    /// A hostile one with a world: see [`CaseWorld`].
    #[must_use]
    pub fn random_real(random: &mut Random, limits: CaseLimits) -> PolicyCase {
        let limits = CaseLimits { jobs: limits.jobs.min(40), ..limits };
        let mut case = PolicyCase { cancel: Vec::new(), ..PolicyCase::random_case(random, limits) };
        case.world = CaseWorld::random_world(random, &case);
        case
    }
}

impl CaseWorld {
    /// A hostile one for a case.
    #[must_use]
    pub fn random_world(random: &mut Random, case: &PolicyCase) -> CaseWorld {
        let mut world = CaseWorld { feedback: random.draw_chance(25), ..CaseWorld::default() };
        let world_kind = random.draw_range(0, 9);
        if world_kind != 0 {
            world.outages = draw_outages(random, case);
        }
        if world_kind != 1 {
            world.known = draw_circumstances(random, case);
        }
        world
    }
}

/// From the first submit to when all could be over.
fn case_horizon(case: &PolicyCase) -> (i64, i64) {
    let first = case.rows.first().map_or(0, |r| r.submit);
    let last = case.rows.last().map_or(0, |r| r.submit);
    let work: i64 = case.rows.iter().map(|r| r.run.min(3_600)).sum();
    (first, last + work.min(20_000) + 60)
}

fn draw_outages(random: &mut Random, case: &PolicyCase) -> Vec<Outage> {
    let (first, last) = case_horizon(case);
    let widest = case.rows.iter().map(|r| r.procs).max().unwrap_or(1);
    let mut outage_list: Vec<Outage> = Vec::new();
    for _ in 0..random.draw_range(1, 6) {
        let most = if random.draw_chance(20) { case.procs } else { case.procs.div_ceil(2) };
        let procs = random.draw_range(1, i64::from(most)) as Procs;
        let begin = random.draw_range(first - 20, last);
        let length = random.pick_one(&[1, 5, 30, 200, 1_000, last - first + 1]);
        // What never comes back may be no part of what a job needs.
        let for_ever =
            random.draw_chance(10) && procs <= case.procs - widest && outage_list.iter().all(|o| o.end.is_some());
        let end = (!for_ever).then_some(Time(begin + length));
        let announcement =
            random.draw_chance(45).then(|| Time(begin - random.pick_one(&[0, 1, 10, 100, 1_000, 10_000])));
        let expected_end = match random.draw_range(0, 4) {
            0 => None,
            1 => Some(Time(begin + 1 + length / 2)),
            2 => Some(Time(begin + 2 * length)),
            _ => Some(Time(begin + length)),
        };
        let which = if random.draw_chance(50) {
            Which::Count(procs)
        } else {
            let from = random.draw_range(0, i64::from(case.procs - procs)) as Procs;
            Which::Named(ProcSet::from_range(from..from + procs))
        };
        let hit = random.pick_one(&OutageHit::ALL);
        let may_cut = announcement.is_some() && hit != OutageHit::Drain && random.draw_chance(25);
        let next =
            Outage { which, begin: Time(begin), end, announced: announcement, expected: expected_end, hit, may_cut };
        let together = outage_list.iter().cloned().chain([next.clone()]).collect();
        if Outages::new(Machine::new(case.procs), together).is_ok() {
            outage_list.push(next);
        }
    }
    outage_list
}

fn draw_circumstances(random: &mut Random, case: &PolicyCase) -> Circumstances {
    let mut known_facts = Circumstances::default();
    let n = case.rows.len();
    let submit = |at: usize| case.rows[at].submit;
    if random.draw_chance(40) {
        for at in 0..n {
            if random.draw_chance(25) {
                let later = random.pick_one(&[0, 1, 10, 60, 500]);
                known_facts.eligible.insert(JobId(at as u32), Time(submit(at) + later));
            }
        }
    }
    if random.draw_chance(40) {
        for at in 1..n {
            if random.draw_chance(25) {
                let count = random.draw_range(1, 2);
                let jobs = (0..count).map(|_| JobId(random.draw_range(0, at as i64 - 1) as u32)).collect();
                let think = Span(random.pick_one(&[0, 0, 1, 30]));
                let dependency_effect = random.pick_one(&[DependencyEffect::Starts, DependencyEffect::Arrives]);
                known_facts.after.insert(JobId(at as u32), DependsOn { jobs, think, then: dependency_effect });
            }
        }
    }
    if random.draw_chance(30) && n > 2 {
        let from = random.draw_range(0, n as i64 - 2) as usize;
        let jobs = (from..n.min(from + 6)).map(|at| JobId(at as u32)).collect();
        known_facts.throttles.push(Throttle { jobs, most: random.draw_range(1, 3) as u32 });
    }
    if random.draw_chance(30) {
        known_facts.limits = draw_limits(random, case);
    }
    if random.draw_chance(30) {
        let mut withdrawn: Vec<Withdrawal> = (0..random.draw_range(1, 3))
            .map(|_| {
                let at = random.draw_range(0, n as i64 - 1) as usize;
                let later = random.pick_one(&[0, 1, 10, 100]);
                Withdrawal { at: Time(submit(at) + later), job: JobId(at as u32), only_waiting: random.draw_chance(50) }
            })
            .collect();
        withdrawn.sort_by_key(|w| w.at);
        known_facts.withdrawn = withdrawn;
    }
    if random.draw_chance(30) {
        for at in 0..n {
            if random.draw_chance(30) {
                known_facts.ends.insert(JobId(at as u32), random.pick_one(&How::ALL));
            }
        }
    }
    if random.draw_chance(35) {
        draw_busy_start(random, case, &mut known_facts);
    }
    known_facts
}

/// Limits that some of the jobs share, by number or by processors.
fn draw_limits(random: &mut Random, case: &PolicyCase) -> JobLimits {
    let mut limits = JobLimits::default();
    let count = random.draw_range(1, 3);
    let sizes: Vec<u64> = (0..count).map(|_| random.draw_range(1, i64::from(case.procs)) as u64).collect();
    for (at, &most) in sizes.iter().enumerate() {
        let (reason, of, family) = (format!("limit-{at}"), format!("holder {at}"), format!("family {at}"));
        limits.add_limit(JobLimit { reason, of, family, most });
    }
    for (at, row) in case.rows.iter().enumerate() {
        let mut claims = Vec::new();
        for (limit, &most) in (0..).zip(&sizes) {
            if random.draw_chance(60) {
                let amount = if random.draw_chance(50) { 1 } else { u64::from(row.procs) };
                claims.push(LimitClaim { limit, amount, binds: amount <= most });
            }
        }
        if !claims.is_empty() {
            let set = limits.intern_claims(claims);
            limits.bind_job(JobId(at as u32), set);
        }
    }
    limits
}

/// A beginning in the middle, with jobs that run as far as there is room.
fn draw_busy_start(random: &mut Random, case: &PolicyCase, circumstances: &mut Circumstances) {
    let at = random.draw_range(0, case.rows.len() as i64 - 1) as usize;
    let begin = case.rows[at].submit + random.pick_one(&[0, 1, 10]);
    let mut free = case.procs;
    circumstances.begin = Some(Time(begin));
    for (at, row) in case.rows.iter().enumerate().filter(|(_, row)| row.submit < begin) {
        let longest = row.run.min(begin - row.submit);
        if row.procs <= free && longest > 0 && random.draw_chance(60) {
            free -= row.procs;
            let since = Time(begin - random.draw_range(1, longest));
            circumstances.here.insert(JobId(at as u32), Adopted::Running { since, on: None });
        } else if random.draw_chance(15) {
            circumstances.here.insert(JobId(at as u32), Adopted::Held);
        }
    }
}
