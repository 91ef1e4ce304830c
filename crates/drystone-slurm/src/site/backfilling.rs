//! Backfill at work: passes in one go, passes that let go of the locks, and passes that need not be
//! made.

use super::futile::{FutileAsks, PartRooms};
use super::reach::PassReach;
use super::{Asleep, ModelSite, SchedulerDeed};
use crate::model::{JobVerdict, PassInputs, PassKind, PassVerdict, Pending, VerdictObserver, takes_shortcuts};
use std::collections::VecDeque;

/// Milliseconds that a pass needs beyond its sleep to go on.
const YIELD_DRIFT: i64 = 2;

impl ModelSite {
    pub(super) fn begin_backfill(
        &mut self,
        at: i64,
        to: i64,
        out: &mut Vec<SchedulerDeed>,
        watch: &mut impl VerdictObserver,
    ) {
        let now = at.div_euclid(1000);
        if now >= self.holds_until {
            self.stale_from(0);
            self.holds_until = i64::MAX;
        }
        let full = watch.wants_plans();
        let last_place = self.queue.len().checked_sub(1);
        let Some(last) = (if full { last_place } else { self.last_candidate(self.stale_from) }) else {
            self.skip_backfill(at, to);
            return;
        };
        if self.rules.test_micros == 0 {
            self.at_once(at, last, full, out, watch);
            return;
        }
        // A pass that takes time looks at all jobs, since its end depends on how many there are.
        let rest = self.queue.iter().rev().map(|job| (job.id, job.part)).collect();
        // Where plans are not asked for, they matter only as long as a job is left that could
        // start.
        let light = !full && !self.cluster.preempting.is_on() && !self.has_pauses();
        let mut rooms = PartRooms::default();
        let fit = |job: &&Pending| self.fits_idle(job, &mut rooms);
        let open = light.then(|| self.queue.iter().filter(fit).map(|job| (job.id, job.part)).collect());
        let mut pass = std::mem::take(&mut self.pass);
        pass.restart_pass(&self.cluster, now, &self.rules.params);
        let asleep = Asleep {
            pass,
            began: at,
            until: at,
            rest,
            open,
            updated: self.updated,
            changed: false,
            started: false,
            cut: false,
            yielded: false,
        };
        self.continue_pass(at, asleep, out, watch);
    }

    /// A pass that takes no time. What comes behind the last job that can still be started changes
    /// nothing, since plans are forgotten after the pass.
    fn at_once(
        &mut self,
        at: i64,
        last: usize,
        full: bool,
        out: &mut Vec<SchedulerDeed>,
        watch: &mut impl VerdictObserver,
    ) {
        let now = at.div_euclid(1000);
        let queue = std::mem::take(&mut self.queue);
        let mut pass = std::mem::take(&mut self.pass);
        pass.restart_pass(&self.cluster, now, &self.rules.params);
        if !full && takes_shortcuts() {
            pass.repeat_verdicts(&self.cluster, &self.rules.params);
        }
        let shortcut = !full && !self.cluster.preempting.is_on() && takes_shortcuts();
        // The last job that may still start and that the pass can come to before it ends.
        let mut reach = PassReach::new(&self.cluster, &queue, (now, last), &self.rules.params);
        let (mut open, mut futile) = (Some(last.min(reach.end_place() - 1)), FutileAsks::default());
        let (mut started_entries, mut count) = (Vec::new(), 0);
        for (place, job) in queue.range(..=last).enumerate() {
            if shortcut && open.is_none_or(|last| last < place) {
                break;
            }
            let ModelSite { cluster, rules, scratch, .. } = self;
            let mut desk = PassInputs { cluster, params: &rules.params, scratch, pauses: false };
            match pass.look_at(&mut desk, job, now, watch) {
                JobVerdict::Waits | JobVerdict::Paused => {}
                JobVerdict::Started => started_entries.push(place),
                JobVerdict::Preempts(victims) => self.preempt_victims(at, job.id, victims, out),
            }
            if pass.is_over() && !full {
                break;
            }
            count = place;
            let nearer = reach.note_tested(place, pass.tried_jobs());
            if shortcut && (pass.take_changed() || nearer) {
                open = open.map(|last| last.min(reach.end_place() - 1));
                while let Some(last) = open.filter(|&last| last > place) {
                    let job = &queue[last];
                    if !futile.covers_job(job) {
                        if pass.could_start(&self.cluster, job, now, &mut self.room) {
                            break;
                        }
                        futile.add_job(job);
                    }
                    open = last.checked_sub(1);
                }
            }
        }
        // Jobs that may be submitted since others had to go: the pass does not see them.
        let fresh = std::mem::replace(&mut self.queue, queue);
        let is_any_started = !started_entries.is_empty();
        for job in self.remove(&started_entries) {
            self.note_start(&job, at, PassKind::Backfill, out);
        }
        for job in fresh {
            let place = self.place_of(&job);
            self.queue.insert(place, job);
        }
        let reach_until = if shortcut && reach.end_place() <= last { reach.holds_until(count) } else { i64::MAX };
        self.finish_pass(at, at, is_any_started, pass.holds_until().min(reach_until));
        self.pass = pass;
    }

    /// This pass changes nothing, nor do those that follow until something happens.
    fn skip_backfill(&mut self, at: i64, to: i64) {
        let (params, check) = (&self.rules.params, self.check_at());
        let Some(clock) = &mut self.clock else { return };
        let news = self.news.front().map_or(to, |&(at, _)| at);
        let main = if self.main_stale { clock.next_main(at, params) } else { to };
        let calc = if self.priorities.is_some() { self.next_calc.saturating_mul(1000) } else { to };
        let check = check.map_or(to, |check| check.saturating_mul(1000));
        let quiet = news.min(main).min(calc).min(check).min(to).min(self.holds_until.saturating_mul(1000));
        let next = clock.next_backfill(quiet.max(at + 1), params);
        clock.skip_backfill(next, params);
    }

    /// A pass wakes up: it goes on, or gives up where jobs have changed.
    pub(super) fn resume_pass(&mut self, at: i64, out: &mut Vec<SchedulerDeed>, watch: &mut impl VerdictObserver) {
        let Some(mut asleep) = self.asleep.take() else { return };
        // Slurm compares seconds: what happens in the second of the last change is not seen.
        let has_changed = asleep.changed && self.updated != asleep.updated;
        if has_changed && self.rules.params.bf_continue == 0 {
            let now = at.div_euclid(1000);
            for &(id, _) in asleep.rest.iter().rev() {
                watch.note_verdict(PassKind::Backfill, now, id, PassVerdict::NotReached("bf_continue"));
            }
            self.finish_pass(at, asleep.began, true, i64::MAX);
            self.pass = asleep.pass;
            return;
        }
        asleep.pass.resume_at(at.div_euclid(1000), &self.rules.params);
        self.continue_pass(at, *asleep, out, watch);
    }

    /// Looks at jobs until the pass is over or has to let go of the locks, which it does between
    /// two jobs, and between two tries of one where hardly any time is allowed.
    fn continue_pass(
        &mut self,
        at: i64,
        mut asleep: Asleep,
        out: &mut Vec<SchedulerDeed>,
        watch: &mut impl VerdictObserver,
    ) {
        let cost = self.rules.test_micros;
        let longest = self.rules.params.pass_seconds();
        let began = asleep.began.div_euclid(1000);
        let slice = self.rules.params.bf_yield_interval.max(1);
        let pauses = self.has_pauses();
        let (mut place, tried_before) = (0, asleep.pass.tried_jobs());
        let mut work_micros = 0;
        let mut fresh = std::mem::take(&mut asleep.yielded);
        while let Some(entry) = asleep.rest.pop() {
            let id = entry.0;
            let now = (at + work_micros / 1000).div_euclid(1000);
            let Some(position) = self.find_entry(entry, &mut place) else { continue };
            if now - began >= longest {
                watch.note_verdict(PassKind::Backfill, now, id, PassVerdict::NotReached("bf_max_time"));
                asleep.cut = true;
                continue;
            }
            if work_micros.max(i64::from(pauses)) >= slice && !std::mem::take(&mut fresh) {
                asleep.yielded = true;
                return self.let_go(at + work_micros / 1000, entry, asleep);
            }
            let over = asleep.open.as_ref().is_some_and(VecDeque::is_empty);
            let ModelSite { cluster, queue, rules, scratch, .. } = self;
            let mut desk = PassInputs { cluster, params: &rules.params, scratch, pauses };
            let outcome = match over {
                true => asleep.pass.pass_over(&desk, &queue[position], now),
                false => asleep.pass.look_at(&mut desk, &queue[position], now, watch),
            };
            match outcome {
                JobVerdict::Waits => {}
                JobVerdict::Paused => {
                    // It goes on with the same job, without letting go before it again.
                    asleep.yielded = true;
                    return self.let_go(at + work_micros / 1000, entry, asleep);
                }
                JobVerdict::Started => {
                    asleep.started = true;
                    let started_jobs = self.remove(&[position]);
                    started_jobs.iter().for_each(|job| self.note_start(job, at, PassKind::Backfill, out));
                }
                JobVerdict::Preempts(victims) => {
                    asleep.cut = true;
                    self.preempt_victims(at, id, victims, out);
                }
            }
            work_micros = (asleep.pass.tried_jobs() - tried_before) * cost;
            self.close_job(&mut asleep, entry, now);
            if asleep.pass.is_over() && !watch.wants_plans() {
                break;
            }
        }
        let stale = asleep.started || asleep.cut;
        self.finish_pass(at + work_micros / 1000, asleep.began, stale, asleep.pass.holds_until());
        self.pass = asleep.pass;
    }

    /// Returns whether a pass lets go of the locks before each try of a job.
    fn has_pauses(&self) -> bool {
        self.rules.test_micros.max(1) >= self.rules.params.bf_yield_interval.max(1)
    }

    /// The pass is done with a job: those at the end of the queue that can no longer start are not
    /// worth plans. Nodes that become free while it sleeps are not for it.
    fn close_job(&mut self, asleep: &mut Asleep, entry: (u32, u16), now: i64) {
        let Some(open) = &mut asleep.open else { return };
        if open.front() == Some(&entry) {
            // The jobs of the pass come in the order of this list.
            open.pop_front();
        }
        if !asleep.pass.take_changed() {
            return;
        }
        let mut place = usize::MAX;
        while let Some(&last) = open.back() {
            let position = self.find_entry(last, &mut place);
            if position.is_some_and(|at| asleep.pass.could_start(&self.cluster, &self.queue[at], now, &mut self.room)) {
                break;
            }
            open.pop_back();
        }
    }

    /// A pass lets go of the locks before it goes on with a job.
    fn let_go(&mut self, at: i64, entry: (u32, u16), mut asleep: Asleep) {
        asleep.rest.push(entry);
        asleep.until = at + (self.rules.params.bf_yield_sleep / 1000).max(1) + YIELD_DRIFT;
        asleep.updated = self.updated;
        asleep.changed = false;
        self.asleep = Some(Box::new(asleep));
    }

    /// The place of a job and its partition in the queue, at or after `place` where it has not
    /// moved.
    fn find_entry(&self, entry: (u32, u16), place: &mut usize) -> Option<usize> {
        let is = |job: &Pending| (job.id, job.part) == entry;
        let ahead = (*place..self.queue.len()).find(|&at| is(&self.queue[at]));
        let position = ahead.or_else(|| self.queue.iter().position(is))?;
        *place = position;
        Some(position)
    }

    /// The pass is over. `stale`: it has started jobs, or not looked at every job it was to look
    /// at.
    fn finish_pass(&mut self, at: i64, began: i64, stale: bool, holds_until: i64) {
        if let Some(clock) = &mut self.clock {
            clock.backfill_made(began, at);
        }
        // What has come while it worked was not there when it began.
        self.main_stale |= self.cluster.take_limit_changes();
        if stale || (self.stale_from == 0 && at > began) {
            self.main_stale = true;
            self.stale_from = 0;
            self.holds_until = i64::MAX;
            return;
        }
        self.stale_from = usize::MAX;
        self.holds_until = holds_until;
        if let Some(ripe) = self.cluster.preempting.next_ripe(&self.cluster, at.div_euclid(1000)) {
            self.holds_until = self.holds_until.min(ripe);
        }
        // A job that is past its limit is thought to end any moment.
        if let Some(first) = self.cluster.first_end() {
            self.holds_until = self.holds_until.min(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::run_naively;
    use drystone_core::engine::{Schedule, Simulation, WorkloadReplay};
    use drystone_core::model::{Job, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};

    /// Numbers below a bound, always the same for a seed.
    fn draws(seed: u64) -> impl FnMut(u64) -> i64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % below) as i64
        }
    }

    /// Jobs on nodes of one processor, some of them at once. One in four runs to its limit.
    fn drawn_workload(seed: u64) -> Workload {
        let mut draw = draws(seed);
        let nodes = 8 + draw(90);
        let widest = 1 + draw(nodes as u64) as u64;
        let (mut jobs, mut truth, mut at) = (Vec::new(), Vec::new(), 0);
        for number in 1..=(60 + draw(60)) {
            let limit = 60 + draw(60) * draw(60) * draw(30);
            let run = if draw(4) == 0 { limit } else { draw(limit as u64 + 1) };
            at += if draw(3) == 0 { draw(900) } else { 0 };
            jobs.push(Job::new(Time(at), 1 + draw(widest) as u32, Span(limit)));
            truth.push(Truth { run: Span(run), number, status: LogStatus::Unknown });
        }
        Workload::new(Machine::new(nodes as u32), jobs, truth, Provenance::default()).expect("sound")
    }

    fn schedule(workload: &Workload, policy: &str) -> Schedule {
        let mut schedule = Schedule::default();
        let spec: drystone_core::policy::PolicySpec = policy.parse().expect("known");
        Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload))
            .run(&mut schedule)
            .expect("a sound policy");
        schedule
    }

    #[test]
    fn shortcuts_start_the_same_jobs_at_the_same_times() {
        drop(crate::policy::register_policy());
        let policies = [
            "slurm",
            "slurm(bf_max_job_test=12)",
            "slurm(bf_resolution=1,bf_interval=5)",
            "slurm(bf_window=60,bf_resolution=300)",
            "slurm(bf_window_linear=40,bf_max_job_test=25)",
        ];
        for seed in 0..40 {
            let workload = drawn_workload(seed);
            for policy in policies {
                let naive = run_naively(|| schedule(&workload, policy));
                assert_eq!(schedule(&workload, policy).spans, naive.spans, "{policy}, workload {seed}");
            }
        }
    }
}
