//! Pass by pass: the model is given the real state before each pass and is asked what the pass
//! does; then it takes over what really happened. An error so stays where it is made.

mod site_changes;

use super::agreement::{Agreement, Difference};
use super::deeds::Deeds;
use super::eligible::{Eligibility, EndWay};
use super::golden::Golden;
use super::pending::Makes;
use super::recorded::{GoldenShare, Happening, LineJob};
use drystone_slurm::conf::PreemptMode;
use drystone_slurm::model::{
    BackfillPass, JobVerdict, ModelCluster, NodeSet, PassInputs, Pending, WillRunScratch, backfill_pass, main_pass,
};
use std::collections::{BTreeMap, BTreeSet};

/// Milliseconds after an end within which Slurm may still wait for the nodes.
const COMPLETING: i64 = 25;

/// Milliseconds by which the recorder may be ahead of the log.
const LOOKED_BEFORE: i64 = 500;

/// Milliseconds within which the nodes of a job that has ended answer on a busy host.
const ANSWERING: i64 = 60;

/// Compares a whole recording.
pub fn pass_by_pass(golden: &Golden) -> (Agreement, Vec<Difference>) {
    let mut replay = PassReplay::new(golden);
    for (index, (at, happening)) in golden.events.iter().enumerate() {
        replay.release_jobs(*at);
        replay.take_happening(*at, happening, &golden.events[index + 1..]);
    }
    (replay.agreement, replay.differences)
}

struct PassReplay<'a> {
    golden: &'a Golden,
    makes: Makes<'a>,
    cluster: ModelCluster,
    /// In the order of the queue.
    queue: Vec<Pending>,
    /// Jobs that wait again and may not start before a time in seconds.
    later: Vec<(i64, u32)>,
    /// Submitted jobs that may not be looked at yet.
    outside: Vec<(u32, Option<i64>)>,
    /// End times of ended jobs.
    ended: BTreeMap<u32, EndWay>,
    /// Beginning of the last pass, in milliseconds.
    last_pass: i64,
    /// Suspended jobs, since when in seconds.
    suspended: BTreeMap<u32, i64>,
    eligibility: Eligibility<'a>,
    /// Jobs that are held.
    held: BTreeSet<u32>,
    /// Last reported priorities.
    priorities: Vec<i64>,
    /// The lowest priority that a job was given.
    lowest: i64,
    /// Terms of partitions in the priorities that were reported last.
    part_terms: BTreeMap<u32, i64>,
    /// Partitions of jobs that were moved, and limits in seconds that were changed.
    moved: BTreeMap<u32, Vec<u16>>,
    limits: BTreeMap<u32, i64>,
    /// Nodes that are out of service; true for those that come back by themselves.
    out: BTreeMap<usize, bool>,
    last_end: i64,
    /// True if the recording has the nodes' answers.
    tells_answers: bool,
    /// Nodes that are not done yet, since when, and whether they have to kill something.
    completing: Vec<(usize, i64, bool, u32)>,
    /// A backfill pass that lets go of the locks, with what it has told.
    stepping: Option<Stepping>,
    agreement: Agreement,
    differences: Vec<Difference>,
}

/// A backfill pass that lets go of the locks.
#[derive(Default)]
struct Stepping {
    pass: BackfillPass,
    /// The job that it looks at and its place among the entries of the job, and whether the model
    /// is done with it.
    job: Option<(u32, usize)>,
    /// Times that it has looked at each job.
    looks: BTreeMap<u32, usize>,
    done: bool,
    /// True if Slurm sleeps before it continues with the job.
    asleep: bool,
    real: Deeds,
    model: Deeds,
}

impl<'a> PassReplay<'a> {
    fn new(golden: &'a Golden) -> PassReplay<'a> {
        let is_answer = |h: &Happening| matches!(h, Happening::Answer(_) | Happening::Epilog(..));
        let answers = golden.events.iter().filter(|(_, h)| is_answer(h)).count();
        let makes = Makes::new(golden);
        let cluster = makes.make_cluster();
        PassReplay {
            golden,
            eligibility: Eligibility::new(golden),
            makes,
            cluster,
            held: BTreeSet::new(),
            queue: Vec::new(),
            later: Vec::new(),
            outside: Vec::new(),
            ended: BTreeMap::new(),
            last_pass: i64::MIN,
            suspended: BTreeMap::new(),
            priorities: vec![0; golden.jobs.len()],
            lowest: i64::MAX,
            part_terms: BTreeMap::new(),
            moved: BTreeMap::new(),
            limits: BTreeMap::new(),
            out: BTreeMap::new(),
            last_end: i64::MIN / 2,
            tells_answers: answers > golden.jobs.len(),
            completing: Vec::new(),
            stepping: None,
            agreement: Agreement::default(),
            differences: Vec::new(),
        }
    }

    fn take_happening(&mut self, at: i64, happening: &Happening, behind: &[(i64, Happening)]) {
        match happening {
            Happening::Submit(name, priority) => {
                for id in self.golden.matching_jobs(*name).collect::<Vec<_>>() {
                    self.priorities[id as usize] = *priority;
                    if *priority == 0 {
                        self.held.insert(id);
                    } else {
                        self.lowest = self.lowest.min(*priority);
                    }
                    // Of a job that was sent back later, its line has the last submission.
                    let (now, submit_time) =
                        (self.time_in_seconds(at), self.golden.jobs[id as usize].submit + self.golden.base);
                    self.submit_job(id, (submit_time != now && submit_time != now - 1).then_some(now));
                }
            }
            Happening::Complete(LineJob::Job(id)) => self.complete_job(*id, at, false),
            Happening::Timeout(LineJob::Job(id)) => self.complete_job(*id, at, true),
            Happening::MainPass(full) => self.main(at, *full, behind),
            Happening::BackfillPass => self.check_backfill(at, behind),
            Happening::Test(name, priority, part) => self.test_job(at, *name, *priority, part.as_deref()),
            Happening::Tried => self.note_wake(at),
            Happening::Yield => {
                self.note_wake(at);
                self.note_sleep();
            }
            Happening::MainStart(name, nodes) => self.start_job(*name, at, nodes),
            Happening::BackfillStart(name, nodes) => {
                self.note_wake(at);
                self.note_action(happening);
                self.start_job(*name, at, nodes);
            }
            Happening::Plan(..) => {
                self.note_wake(at);
                self.note_action(happening);
            }
            Happening::Epilog(of, node) => {
                self.return_node(node);
                self.complete_node(node, true, *of);
            }
            Happening::Answer(node) => {
                self.return_node(node);
                self.complete_node(node, false, None);
            }
            Happening::Done => {
                self.note_wake(at);
                self.compare_last_job(at);
                self.stepping = None;
            }
            Happening::Abort => {
                self.compare_last_job(at);
                self.stepping = None;
            }
            Happening::Gang(LineJob::Job(id), true) => drop(self.suspended.insert(*id, self.time_in_seconds(at))),
            Happening::Gang(LineJob::Job(id), false) => {
                if let Some(since) = self.suspended.remove(id) {
                    self.cluster.resume_job(*id, self.time_in_seconds(at) - since);
                }
            }
            Happening::Action(text) => self.apply_command(text, at),
            Happening::Priority(LineJob::Job(id), priority) => self.prioritise_job(*id, *priority),
            Happening::Factors(LineJob::Job(id), priority, of_part) => {
                if let Some(of_part) = of_part {
                    self.part_terms.insert(*id, *of_part);
                }
                self.prioritise_job(*id, *priority);
            }
            Happening::Preempted(LineJob::Job(id), by, mode) if *mode != PreemptMode::Suspend => {
                if let Some(LineJob::Job(by)) = by {
                    let now = self.time_in_seconds(at);
                    self.cluster.note_preemption(*by, now);
                }
                self.complete_job(*id, at, true);
            }
            Happening::Grace(LineJob::Job(id), seconds) => {
                let until = self.time_in_seconds(at) + seconds;
                self.cluster.begin_grace(*id, until);
            }
            Happening::Requeued(LineJob::Job(id)) => {
                self.complete_job(*id, at, true);
                let again = self.time_in_seconds(at) + self.makes.requeue_delay;
                self.later.push((again, *id));
            }
            _ => {}
        }
    }

    fn time_in_seconds(&self, at: i64) -> i64 {
        at.div_euclid(1000) + self.golden.base
    }

    /// Jobs that may start again wait again.
    fn release_jobs(&mut self, at: i64) {
        let now = self.time_in_seconds(at);
        let ripe: Vec<(i64, u32)> = self.later.iter().copied().filter(|&(due, _)| due <= now).collect();
        self.later.retain(|&(due, _)| due > now);
        for (due, id) in ripe {
            self.submit_job(id, Some(due - self.makes.requeue_delay));
        }
    }

    fn submit_job(&mut self, id: u32, again: Option<i64>) {
        self.cluster.note_arrival(id);
        self.outside.push((id, again));
        for pending in self.pending_entries(id).iter().take(1) {
            self.cluster.try_submission(pending);
            self.cluster.meet_limits(pending);
        }
    }

    /// The job as it waits in each of its partitions.
    fn pending_entries(&self, id: u32) -> Vec<Pending> {
        let machine = &self.cluster.machine;
        let ranks = (self.priorities[id as usize], self.part_terms.get(&id).copied());
        let mut entries = self.makes.pending_entries(id, ranks, self.moved.get(&id), machine);
        if let Some(&limit) = self.limits.get(&id) {
            for entry in &mut entries {
                entry.limit = limit.min(machine.parts[usize::from(entry.part)].max_limit);
            }
        }
        entries
    }

    /// Returns whether a job's limit is beyond that of all of its partitions.
    fn exceeds_all(&self, id: u32) -> bool {
        let parts = self.makes.find_partitions(&self.golden.jobs[id as usize].partitions);
        self.moved.get(&id).unwrap_or(&parts).iter().all(|&part| self.exceeds_limit(id, part))
    }

    fn exceeds_limit(&self, id: u32, part: u16) -> bool {
        let limit = self.limits.get(&id).copied().unwrap_or(self.golden.jobs[id as usize].limit * 60);
        self.makes.exceeds_partition(id, part, limit)
    }

    /// Jobs that were waiting for something else are looked at from now on.
    fn admit_jobs(&mut self, at: i64) {
        for (&id, way) in self.ended.iter_mut().filter(|(_, way)| !way.done) {
            way.done = !self.completing.iter().any(|&(_, since, _, of)| of == id && since == way.at);
        }
        let now = self.time_in_seconds(at);
        let has_freed_singleton = self.ended.iter().any(|(&id, way)| {
            way.done && way.at >= self.last_pass && self.golden.jobs[id as usize].dependency.contains("singleton")
        });
        self.last_pass = at;
        let mut ripe = Vec::new();
        let beyond: BTreeSet<u32> = self.outside.iter().map(|&(id, _)| id).filter(|&id| self.exceeds_all(id)).collect();
        let (eligibility, cluster, ended_jobs, held_jobs) = (&self.eligibility, &self.cluster, &self.ended, &self.held);
        self.outside.retain(|&(id, again)| {
            if held_jobs.contains(&id) || beyond.contains(&id) {
                return true;
            }
            let own = eligibility.reservation_index(id, &cluster.reservations);
            let begin = cluster.reservations.get(own as usize).map(|own| own.begin);
            let goes = eligibility.may_wait(id, now, begin, ended_jobs)
                && (has_freed_singleton || !eligibility.may_be_early(id, now));
            if goes {
                ripe.push((id, again));
            }
            !goes
        });
        ripe.into_iter().for_each(|(id, again)| self.enqueue_job(id, again));
        // The jobs of a reservation that is over are held.
        let over: Vec<bool> = self.cluster.reservations.iter().map(|own| own.end <= now).collect();
        self.queue.retain(|job| !over.get(job.reservation as usize).is_some_and(|&over| over));
    }

    fn enqueue_job(&mut self, id: u32, again: Option<i64>) {
        let reservation = self.eligibility.reservation_index(id, &self.cluster.reservations);
        for mut pending in self.pending_entries(id) {
            if !self.exceeds_limit(id, pending.part) {
                pending.submit = again.unwrap_or(pending.submit);
                pending.reservation = reservation;
                self.insert(pending);
            }
        }
    }

    fn insert(&mut self, pending: Pending) {
        let machine = &self.cluster.machine;
        let at = self.queue.partition_point(|p| p.queue_key(machine) <= pending.queue_key(machine));
        self.queue.insert(at, pending);
    }

    fn prioritise_job(&mut self, id: u32, priority: i64) {
        self.priorities[id as usize] = priority;
        self.lowest = self.lowest.min(priority.max(1));
        let first = self.pending_entries(id);
        self.update_priorities(id, |job| first.iter().find(|own| own.part == job.part).map(|own| own.priority));
    }

    /// Gives entries of a job other priorities. Equal entries stay in the order of its partitions.
    fn update_priorities(&mut self, id: u32, priority: impl Fn(&Pending) -> Option<i64>) {
        let order: Vec<u16> = self.pending_entries(id).iter().map(|entry| entry.part).collect();
        let mut of: Vec<Pending> = self.queue.iter().filter(|job| job.id == id).cloned().collect();
        self.queue.retain(|job| job.id != id);
        of.sort_by_key(|job| order.iter().position(|&part| part == job.part));
        for mut job in of {
            job.priority = priority(&job).unwrap_or(job.priority);
            self.insert(job);
        }
    }

    /// A backfill pass tells the priority of a job in one of its partitions: `nth` of them unless
    /// it names it.
    fn prioritise_entry(&mut self, id: u32, priority: i64, part: Option<&str>, nth: usize) {
        let parts = &self.cluster.machine.parts;
        let entries: Vec<u16> = self.queue.iter().filter(|job| job.id == id).map(|job| job.part).collect();
        let several = self.queue.iter().any(|job| job.id == id && job.several);
        if !several {
            return self.prioritise_job(id, priority);
        }
        let is_named = |own: &&u16| part.is_some_and(|part| parts[usize::from(**own)].name == part);
        let Some(&own) = entries.iter().find(is_named).or(entries.get(nth)) else { return };
        self.update_priorities(id, |job| (job.part == own).then_some(priority));
    }

    fn complete_job(&mut self, id: u32, at: i64, is_killed: bool) {
        if let Some(job) = self.cluster.end_job(id) {
            self.last_end = at;
            self.ended.insert(id, EndWay { at, done: false });
            if let Some(stepping) = &mut self.stepping {
                stepping.pass.ignore_nodes(&job.alloc.nodes);
            }
            if self.tells_answers {
                self.completing.extend(job.alloc.nodes.iter().map(|node| (node, at, is_killed, id)));
            }
        }
    }

    /// A node is done with what it had.
    fn complete_node(&mut self, name: &str, is_killed: bool, of: Option<u32>) {
        if let Some(node) = self.golden.conf.find_node(name) {
            let had = self.completing.iter().any(|&(n, ..)| n == node as usize);
            if let Some(stepping) = self.stepping.as_mut().filter(|_| had) {
                stepping.pass.ignore_nodes(&NodeSet::from_members(self.cluster.machine.node_count(), [node as usize]));
            }
            self.completing.retain(|&(n, _, kills, id)| {
                n != node as usize || (kills && !is_killed) || (kills && of.is_some_and(|of| of != id))
            });
        }
    }

    fn start_job(&mut self, name: LineJob, at: i64, nodes: &[String]) {
        let is = |job: &Pending| match name {
            LineJob::Job(id) => job.id == id,
            LineJob::Tasks(array) => self.golden.jobs[job.id as usize].task.is_some_and(|(of, _)| of == array),
        };
        let nodes = self.makes.find_nodes(nodes);
        for node in nodes.iter().collect::<Vec<_>>() {
            if self.out.remove(&node).is_some() {
                self.count_out();
            }
        }
        let Some(first) = self.queue.iter().find(|job| is(job)).map(|job| job.id) else { return };
        let parts = &self.cluster.machine.parts;
        let partition = &self.golden.jobs[first as usize].partition;
        // Of several partitions the one that the recording names, else the first with the nodes.
        let fits = |job: &&Pending| job.id == first && nodes.is_subset(&parts[usize::from(job.part)].nodes);
        let is_in_partition = |job: &&Pending| fits(job) && parts[usize::from(job.part)].name == *partition;
        let entry = self.queue.iter().find(is_in_partition).or(self.queue.iter().find(fits));
        let Some(job) = entry.or(self.queue.iter().find(|job| job.id == first)).cloned() else { return };
        self.queue.retain(|job| job.id != first);
        // The recorder may see the job before slurmctld logs its start.
        let events = &self.golden.events;
        let from = events.partition_point(|&(moment, _)| moment < at - LOOKED_BEFORE);
        let recorded_shares: Option<&[GoldenShare]> =
            events[from..].iter().find_map(|(_, happening)| match happening {
                Happening::Has(LineJob::Job(id), shares) if *id == job.id => Some(shares.as_slice()),
                _ => None,
            });
        let alloc = self.makes.share_out(&self.cluster, &job, nodes, recorded_shares);
        // The log may tell of a start in the second after it.
        let recorded_start = self.golden.jobs[job.id as usize].start + self.golden.base;
        let now = self.time_in_seconds(at);
        self.cluster.start_job(&job, if recorded_start == now - 1 { recorded_start } else { now }, alloc);
    }

    fn main(&mut self, at: i64, full: bool, behind: &[(i64, Happening)]) {
        self.admit_jobs(at);
        let pass = |h: &Happening| matches!(h, Happening::MainPass(_) | Happening::BackfillPass);
        let mut real = Deeds::default();
        for (_, happening) in behind.iter().take_while(|(_, h)| !pass(h)) {
            match happening {
                Happening::MainStart(LineJob::Job(id), nodes) => {
                    drop(real.starts.insert(*id, self.makes.find_nodes(nodes)))
                }
                Happening::Preempted(LineJob::Job(victim), Some(_), _) => drop(real.victims.insert(*victim)),
                _ => {}
            }
        }
        self.complete_nodes(at, &real);
        let (mut model, now) = (Deeds::default(), self.time_in_seconds(at));
        let mut trial = self.cluster.clone();
        let deeds = main_pass(&mut trial, &self.queue, now, full, &self.golden.conf.sched, &mut model);
        self.cluster.machine.resources.bytes.copy_from(&trial.machine.resources.bytes);
        self.cluster.take_limits(&trial);
        self.cluster.take_preemptors(&trial);
        for victim in deeds.victims.iter().flat_map(|(_, list)| list) {
            if trial.claim_place(victim, now) {
                model.victims.insert(victim.id);
            }
        }
        self.compare_deeds(at, &real, &model, true);
    }

    /// Nodes that Slurm still holds. The answer may be logged later than it counts: a node on which
    /// the pass starts a job is done.
    fn complete_nodes(&mut self, at: i64, real: &Deeds) {
        let slowest = if self.golden.conf.ends.epilog { i64::MAX } else { COMPLETING };
        let is_used = |node: usize| real.starts.values().any(|nodes| nodes.contains(node));
        self.completing.retain(|&(node, since, kills, _)| (kills || at - since < slowest) && !is_used(node));
        let nodes = self.cluster.machine.node_count();
        self.cluster.completing = NodeSet::from_members(nodes, self.completing.iter().map(|&(node, ..)| node));
    }

    fn check_backfill(&mut self, at: i64, behind: &[(i64, Happening)]) {
        self.stepping = None;
        self.admit_jobs(at);
        let over = |h: &Happening| matches!(h, Happening::BackfillPass | Happening::Done | Happening::Abort);
        let own: Vec<&(i64, Happening)> = behind.iter().take_while(|(_, h)| !over(h)).collect();
        let mut looks: BTreeMap<u32, usize> = BTreeMap::new();
        for (_, happening) in &own {
            if let Happening::Test(LineJob::Job(id), priority, part) = happening {
                let nth = looks.entry(*id).or_default();
                self.prioritise_entry(*id, *priority, part.as_deref(), *nth);
                *nth += 1;
            }
        }
        let now = self.time_in_seconds(at);
        if own.iter().any(|(_, h)| *h == Happening::Yield) {
            self.agreement.passes += 1;
            let mut pass = BackfillPass::new(&self.cluster, now, &self.golden.conf.sched);
            // Nodes that answer during the pass are ignored by it.
            let late = self.completing.iter().filter(|&&(_, since, ..)| at - since < ANSWERING);
            pass.ignore_nodes(&NodeSet::from_members(self.cluster.machine.node_count(), late.map(|&(node, ..)| node)));
            self.stepping = Some(Stepping { pass, ..Stepping::default() });
            return;
        }
        let mut real = Deeds::default();
        for (_, happening) in own {
            self.record_action(happening, &mut real);
        }
        self.complete_nodes(at, &real);
        let (mut model, mut trial) = (Deeds::default(), self.cluster.clone());
        let params = &self.golden.conf.sched;
        let seconds = self.seconds_of_tests(at, behind);
        let test_time = |job: &Pending| seconds.get(&job.id).copied();
        let victims = backfill_pass(&mut trial, &self.queue, (now, &test_time), params, &mut model);
        self.cluster.machine.resources.bytes.copy_from(&trial.machine.resources.bytes);
        self.cluster.take_limits(&trial);
        self.cluster.take_preemptors(&trial);
        model.victims.extend(victims.iter().map(|victim| victim.id));
        self.compare_deeds(at, &real, &model, true);
    }

    /// The second in which a pass looks at each of its jobs, where that is not the one in which it
    /// begins.
    fn seconds_of_tests(&self, at: i64, behind: &[(i64, Happening)]) -> BTreeMap<u32, i64> {
        let over = |h: &Happening| matches!(h, Happening::BackfillPass | Happening::Done | Happening::Abort);
        let late = behind
            .iter()
            .take_while(|(_, h)| !over(h))
            .filter(|(time, _)| self.time_in_seconds(*time) > self.time_in_seconds(at));
        let mut seconds = BTreeMap::new();
        for (time, happening) in late {
            if let Happening::Test(name, ..) = happening {
                for id in self.golden.matching_jobs(*name) {
                    seconds.entry(id).or_insert(self.time_in_seconds(*time));
                }
            }
        }
        seconds
    }

    /// Takes down what a pass that lets go of the locks really did.
    fn note_action(&mut self, happening: &Happening) {
        if let Some(mut stepping) = self.stepping.take() {
            self.record_action(happening, &mut stepping.real);
            self.stepping = Some(stepping);
        }
    }

    /// Takes down what backfill really did.
    fn record_action(&self, happening: &Happening, real: &mut Deeds) {
        match happening {
            Happening::BackfillStart(LineJob::Job(id), nodes) => {
                real.starts.insert(*id, self.makes.find_nodes(nodes));
            }
            Happening::Plan(name, start, end, nodes) => {
                let plan = (start + self.golden.base, end + self.golden.base, self.makes.find_nodes(nodes));
                let id = match name {
                    LineJob::Job(id) => Some(*id),
                    LineJob::Tasks(array) => self.next_task(*array, real),
                };
                if let Some(id) = id {
                    real.add_plan(id, plan);
                }
            }
            Happening::Preempted(LineJob::Job(victim), Some(_), _) => drop(real.victims.insert(*victim)),
            _ => {}
        }
    }

    /// The next waiting task of an array, in the next of its partitions, that has no plan yet.
    fn next_task(&self, array: u32, real: &Deeds) -> Option<u32> {
        let mut entries: BTreeMap<u32, usize> = BTreeMap::new();
        let is_open = |job: &&Pending| {
            let before = entries.entry(job.id).or_default();
            *before += 1;
            let is_task = self.golden.jobs[job.id as usize].task.is_some_and(|(of, _)| of == array);
            is_task && !real.starts.contains_key(&job.id) && real.plans_of(job.id).count() + 1 == *before
        };
        self.queue.iter().find(is_open).map(|job| job.id)
    }

    /// A pass that lets go of the locks looks at another job.
    fn test_job(&mut self, at: i64, name: LineJob, priority: i64, part: Option<&str>) {
        self.note_wake(at);
        self.compare_last_job(at);
        let (Some(stepping), LineJob::Job(id)) = (&mut self.stepping, name) else { return };
        let looks = stepping.looks.entry(id).or_default();
        let nth = *looks;
        *looks += 1;
        stepping.job = Some((id, nth));
        self.prioritise_entry(id, priority, part, nth);
        self.go_on(at);
    }

    fn note_sleep(&mut self) {
        if let Some(stepping) = &mut self.stepping {
            stepping.asleep = true;
        }
    }

    /// Slurm has slept, and has gone on.
    fn note_wake(&mut self, at: i64) {
        if self.stepping.as_mut().is_some_and(|stepping| std::mem::take(&mut stepping.asleep)) {
            self.go_on(at);
        }
    }

    /// It goes on with the job, with the state as it is now, up to the next time that it lets go of
    /// the locks.
    fn go_on(&mut self, at: i64) {
        let Some(mut stepping) = self.stepping.take() else { return };
        if let Some((id, nth)) = stepping.job.filter(|_| !stepping.done) {
            self.complete_nodes(at, &stepping.real);
            let now = self.time_in_seconds(at);
            let (mut trial, mut scratch) = (self.cluster.clone(), WillRunScratch::default());
            if let Some(job) = self.queue.iter().filter(|job| job.id == id).nth(nth) {
                let params = &self.golden.conf.sched;
                stepping.pass.resume_at(now, params);
                let mut desk = PassInputs { cluster: &mut trial, params, scratch: &mut scratch, pauses: true };
                let outcome = stepping.pass.look_at(&mut desk, job, now, &mut stepping.model);
                if let JobVerdict::Preempts(victims) = &outcome {
                    for victim in victims {
                        if trial.claim_place(victim, now) {
                            stepping.model.victims.insert(victim.id);
                        }
                    }
                    if !victims.is_empty() {
                        self.cluster.note_preemption(id, now);
                    }
                }
                stepping.done = outcome != JobVerdict::Paused;
                self.cluster.machine.resources.bytes.copy_from(&trial.machine.resources.bytes);
                self.cluster.take_limits(&trial);
            }
        }
        self.stepping = Some(stepping);
    }

    fn compare_last_job(&mut self, at: i64) {
        let Some(stepping) = &mut self.stepping else { return };
        let (real, model) = (std::mem::take(&mut stepping.real), std::mem::take(&mut stepping.model));
        (stepping.job, stepping.done, stepping.asleep) = (None, false, false);
        self.compare_deeds(at, &real, &model, false);
    }

    fn compare_deeds(&mut self, at: i64, real: &Deeds, model: &Deeds, whole: bool) {
        self.agreement.count_deeds(real, model, whole, at - self.last_end <= COMPLETING);
        let jobs: BTreeSet<u32> = real.affected_jobs().chain(model.affected_jobs()).collect();
        let (base, names) = (self.golden.base, &self.golden.conf.nodes);
        for job in jobs {
            let (real, model) = (real.describe_job(job, base, names), model.describe_job(job, base, names));
            if real != model {
                let (nodes, job) = (self.tell_nodes(), self.golden.jobs[job as usize].slurm_id);
                self.differences.push(Difference { at, job, real, model, nodes });
            }
        }
    }

    /// Describes the nodes: `n1 4, n2 0 (completing)`.
    fn tell_nodes(&self) -> String {
        let describe_node = |(node, at): (&drystone_slurm::conf::ConfNode, usize)| {
            let completing = if self.cluster.completing.contains(at) { " (completing)" } else { "" };
            format!("{} {}{completing}", node.name, self.cluster.idle.idle_on(at))
        };
        self.golden.conf.nodes.iter().zip(0..).map(describe_node).collect::<Vec<_>>().join(", ")
    }
}
