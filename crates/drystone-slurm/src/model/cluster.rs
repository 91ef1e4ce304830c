//! State of the machine: running jobs and their nodes.

use super::{
    AdvanceReservation, Alloc, IdleNodes, ModelMachine, NodeSet, Pending, Preempting, RunningModelJob, UseLedger,
    Victim,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The machine with its running jobs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ModelCluster {
    /// Nodes and partitions.
    pub machine: ModelMachine,
    /// Idle processors.
    pub idle: IdleNodes,
    /// The machine without jobs.
    empty: IdleNodes,
    /// Nodes that are not yet done with a job that has ended.
    pub completing: NodeSet,
    /// Processors that are out of nodes of which others are in service.
    lame: Alloc,
    /// Nodes in service.
    up: NodeSet,
    /// Processors of the largest node.
    widest: u32,
    /// The nodes of the partitions with those that are out of service, once some were.
    members: Vec<NodeSet>,
    /// Seconds that a job past its limit is thought to need to die.
    pub kill_wait: i64,
    /// Widens the search for a start by so many seconds each time; 0: doubles it.
    pub window_linear: i64,
    /// Limits on what associations and QOS have; `None` for no limits.
    pub ledger: Option<UseLedger>,
    /// Rules of preemption.
    pub preempting: Preempting,
    /// Times at which waiting jobs have begun to preempt others, in seconds.
    preempted: BTreeMap<u32, i64>,
    /// Running jobs whose grace has begun.
    graced: BTreeSet<u32>,
    /// Waiting jobs that a limit kept from running when Slurm looked at their limits last.
    limited: BTreeSet<u32>,
    /// True if these have changed.
    limits_changed: bool,
    /// Running jobs, in places that are used again.
    slots: Vec<Option<RunningModelJob>>,
    free: Vec<u32>,
    /// End of the limit, rank and place of each running job, ascending.
    order: Vec<(i64, u64, u32)>,
    /// The end of the limit and the rank of each running job.
    end_of: BTreeMap<u32, (i64, u64)>,
    /// Running tasks of each array.
    tasks: BTreeMap<u32, u32>,
    /// The rank of what waits of an array.
    rest_of: BTreeMap<u32, u64>,
    /// The job that was submitted last, and arrays parted since.
    latest: (u32, u32),
    /// Licences in use.
    licences: Vec<u32>,
    /// Waiting jobs that ask for more of a resource than the machine has left, where neither nodes
    /// nor licences of the configuration stand for it.
    short: BTreeSet<u32>,
    pub reservations: Vec<AdvanceReservation>,
    /// Number of changes of what runs, where, and until when.
    state: u64,
}

impl ModelCluster {
    /// A machine without jobs.
    pub fn new(machine: ModelMachine) -> ModelCluster {
        let (idle, completing) = (IdleNodes::new(&machine), NodeSet::empty(machine.node_count()));
        let up = NodeSet::full(machine.node_count());
        let widest = machine.cpus.iter().copied().max().unwrap_or(1);
        ModelCluster {
            machine,
            empty: idle.clone(),
            idle,
            completing,
            lame: Alloc::default(),
            up,
            widest,
            members: Vec::new(),
            kill_wait: 30,
            window_linear: 0,
            ledger: None,
            preempting: Preempting::default(),
            preempted: BTreeMap::new(),
            graced: BTreeSet::new(),
            limited: BTreeSet::new(),
            limits_changed: false,
            slots: Vec::new(),
            free: Vec::new(),
            order: Vec::new(),
            end_of: BTreeMap::new(),
            tasks: BTreeMap::new(),
            rest_of: BTreeMap::new(),
            latest: (0, 0),
            licences: Vec::new(),
            short: BTreeSet::new(),
            reservations: Vec::new(),
            state: 0,
        }
    }

    /// Returns the number of changes so far of what runs, where, and until when.
    pub(super) fn change_count(&self) -> u64 {
        self.state
    }

    /// Returns the GPUs that Slurm counts against limits, where these are not those the job gets.
    ///
    /// For a job with GPUs for each task, Slurm counts all GPUs that are idle on each of these
    /// nodes, up to those of the whole job.
    pub(super) fn gpus_counted(&self, job: &Pending, alloc: Option<&Alloc>) -> Option<u64> {
        let (demand, alloc) = (&self.machine.resources.known_demand(job.demand)?.demand, alloc?);
        let gpus = demand.gpus.as_ref().filter(|gpus| gpus.per_task > 0 && gpus.per_node == 0 && gpus.per_job == 0)?;
        let total_gpus = i64::from(gpus.in_all(demand.tasks.max(1)));
        let idle = self.idle.more_resources()?;
        let of = |node| idle.idle_devices(gpus.kinds, node).min(total_gpus);
        Some(alloc.nodes.iter().map(of).sum::<i64>().unsigned_abs())
    }

    /// Returns the fewest nodes on which a job could have its processors.
    pub(super) fn fewest_nodes(&self, job: &Pending) -> u32 {
        job.min_nodes.max(job.cpus.div_ceil(self.widest.max(1)))
    }

    /// Returns whether a job that does not fit on the usable nodes would not fit there either if no
    /// job ran, and nothing says that these nodes are busy: for Slurm's main scheduler its nodes
    /// are then not available, and it does not block others.
    pub(super) fn is_out_of_reach(&self, job: &Pending, usable: &NodeSet) -> bool {
        if self.idle.is_single() || self.empty.place_job(job, usable, &self.machine).is_some() {
            return false;
        }
        // Slurm asks with the number of nodes of the job, not that of its partition.
        if job.own_nodes > 0 {
            let own = Pending { min_nodes: job.own_nodes, own_nodes: 0, ..job.clone() };
            return self.is_out_of_reach(&own, usable);
        }
        let busy = if self.preempting.is_on() {
            false
        } else if job.exclusive || self.machine.linear {
            !usable.is_subset(self.idle.usable_nodes(true))
        } else {
            self.running_jobs().any(|running| running.job.exclusive && running.alloc.nodes.has_common(usable))
        };
        !busy && !self.completing.has_common(usable)
    }

    /// The low bytes of the scheduling weights of the nodes that the job may use are set back.
    pub(super) fn reset_bytes(&self, job: &Pending) {
        let resources = &self.machine.resources;
        if resources.gres.is_empty() {
            return;
        }
        let mut nodes = self.machine.parts[usize::from(job.part)].nodes.clone();
        if let Some(entry) = resources.known_demand(job.demand) {
            nodes.intersect(&entry.suitable);
        }
        resources.bytes.reset_nodes(&nodes);
    }

    /// A job is submitted, and Slurm tests whether it could run if nothing did: that is seen in the
    /// weights of the nodes.
    pub fn try_submission(&self, job: &Pending) {
        if self.machine.resources.gres.is_empty() {
            return;
        }
        self.reset_bytes(job);
        let part = &self.machine.parts[usize::from(job.part)].nodes;
        drop(self.empty.place_job(job, part, &self.machine));
    }

    /// A job is submitted, and Slurm looks at its limits.
    pub fn meet_limits(&mut self, job: &Pending) {
        let is_limited =
            self.ledger.as_ref().is_some_and(|ledger| ledger.reason_before_alloc(job, &self.machine).is_some());
        self.note_limit(job.id, is_limited);
    }

    /// Notes whether a limit keeps a job from running.
    pub(super) fn note_limit(&mut self, id: u32, is_limited: bool) {
        self.limits_changed |= if is_limited { self.limited.insert(id) } else { self.limited.remove(&id) };
    }

    /// Returns whether a limit kept the job from running when Slurm looked at its limits last.
    pub(super) fn is_limited(&self, id: u32) -> bool {
        self.limited.contains(&id)
    }

    /// Returns and clears the flag that a limit has come or gone.
    pub(crate) fn take_limit_changes(&mut self) -> bool {
        std::mem::take(&mut self.limits_changed)
    }

    /// A job waits no more.
    pub(crate) fn forget_limit(&mut self, id: u32) {
        self.limited.remove(&id);
    }

    /// Takes over what a pass on a copy has found of limits.
    pub fn take_limits(&mut self, source: &ModelCluster) {
        self.limited.clone_from(&source.limited);
    }

    /// Returns whether enough licences are free for the job.
    pub fn has_licences(&self, job: &Pending, now: i64) -> bool {
        let Some(entry) = self.machine.resources.known_demand(job.demand) else { return true };
        let free = |&(licence, count): &(u16, u32)| {
            let total_licences =
                self.machine.resources.licences.get(usize::from(licence)).map_or(0, |&(_, total)| total);
            let usage = self.licences.get(usize::from(licence)).copied().unwrap_or(0);
            let reserved_count = if self.reservations.is_empty() { 0 } else { self.held_licences(licence, job, now) };
            total_licences.saturating_sub(usage).saturating_sub(reserved_count) >= count
        };
        entry.demand.licences.iter().all(free)
    }

    /// Returns whether the machine has too little left of a resource that a job asks for, beside
    /// nodes and licences.
    pub(crate) fn is_short(&self, id: u32) -> bool {
        !self.short.is_empty() && self.short.contains(&id)
    }

    /// Returns the jobs that the machine has too little left for.
    pub(crate) fn short_jobs(&self) -> &BTreeSet<u32> {
        &self.short
    }

    /// Sets the jobs that the machine has too little left for.
    pub(crate) fn set_short(&mut self, short: BTreeSet<u32>) {
        self.short = short;
    }

    /// Sets the number of each licence from now on. Jobs keep those that they hold.
    pub(crate) fn set_licences(&mut self, counts: &[u32]) {
        for (licence, &count) in self.machine.resources.licences.iter_mut().zip(counts) {
            licence.1 = count;
        }
    }

    /// The licences that a job asks for.
    pub(super) fn licences_of(&self, job: &Pending) -> &[(u16, u32)] {
        self.machine.resources.known_demand(job.demand).map_or(&[], |entry| &entry.demand.licences)
    }

    /// The nodes that a job asks for by name.
    pub(super) fn named_nodes(&self, job: &Pending) -> &[u32] {
        self.machine.resources.known_demand(job.demand).map_or(&[], |entry| &entry.demand.named.0)
    }

    fn use_licences(&mut self, job: &Pending, more: bool) {
        let Some(entry) = self.machine.resources.known_demand(job.demand) else { return };
        for &(licence, count) in &entry.demand.licences {
            let at = usize::from(licence);
            if self.licences.len() <= at {
                self.licences.resize(at + 1, 0);
            }
            let usage = &mut self.licences[at];
            *usage = if more { *usage + count } else { usage.saturating_sub(count) };
        }
    }

    /// A suspended job goes on: its limit did not run for so many seconds.
    pub fn resume_job(&mut self, id: u32, seconds: i64) {
        if let Some(end) = self.get(id).map(|running| running.end) {
            self.reschedule_end(id, end.saturating_add(seconds));
        }
    }

    /// Nodes in service.
    pub fn nodes_in_service(&self) -> &NodeSet {
        &self.up
    }

    /// From now on these nodes are out of service, and no others. What runs on them runs on.
    pub fn set_out(&mut self, nodes: &NodeSet) {
        let part_nodes = self.machine.parts.iter().map(|part| part.nodes.clone());
        let members: Vec<NodeSet> =
            if self.members.is_empty() { part_nodes.collect() } else { std::mem::take(&mut self.members) };
        for (part, own) in self.machine.parts.iter_mut().zip(&members) {
            part.nodes.copy_from(own);
            part.nodes.subtract(nodes);
        }
        self.members = members;
        self.up = NodeSet::full(self.machine.node_count());
        self.up.subtract(nodes);
    }

    /// From now on these processors are out of nodes that are in service, and no others.
    pub fn set_lame(&mut self, lame: Alloc) {
        self.state += 1;
        self.idle.give_back(&self.lame, &self.machine);
        self.idle.take_anyway(&lame, &self.machine);
        self.lame = lame;
    }

    /// Returns a request that can be met if the job is for nodes and partitions that could not have
    /// it if no job ran: any nodes of its partition, else of another one.
    pub(crate) fn within_reach(&self, job: &Pending) -> Option<Pending> {
        let fits = |job: &Pending| {
            let part = &self.machine.parts[usize::from(job.part)];
            part.up && self.idle.place_job(job, &part.nodes, &self.machine).is_some()
        };
        if fits(job) {
            return None;
        }
        let count = self.machine.parts.len() as u16;
        let loose =
            |part| Pending { part, min_nodes: 1, max_nodes: u32::MAX, whole: false, exclusive: false, ..job.clone() };
        std::iter::once(job.part).chain(0..count).map(loose).find(fits)
    }

    /// Returns whether the job's QOS keeps plans from it. Slurm heeds that only where jobs may be
    /// preempted.
    pub fn no_reserve(&self, job: &Pending) -> bool {
        self.preempting.is_on() && self.preempting.qos.get(job.qos as usize).is_some_and(|qos| qos.no_reserve)
    }

    /// The running jobs by the end of their limits, then number.
    pub fn running_jobs(&self) -> impl Iterator<Item = &RunningModelJob> {
        self.order.iter().filter_map(|&(.., slot)| self.slots[slot as usize].as_ref())
    }

    pub fn get(&self, id: u32) -> Option<&RunningModelJob> {
        let slot = self.slot_of(id)?;
        self.slots[slot as usize].as_ref()
    }

    /// Returns the number of running jobs.
    pub fn running_count(&self) -> usize {
        self.order.len()
    }

    /// Returns the time at which the first limit of a running job is over, in seconds.
    pub fn first_end(&self) -> Option<i64> {
        self.order.first().map(|&(end, ..)| end)
    }

    /// A waiting job has begun to preempt others.
    pub fn note_preemption(&mut self, id: u32, now: i64) {
        self.preempted.insert(id, now);
    }

    /// Takes over which jobs a pass on a copy has let preempt others.
    pub fn take_preemptors(&mut self, source: &ModelCluster) {
        for (&id, &then) in &source.preempted {
            let own = self.preempted.entry(id).or_insert(then);
            *own = then.max(*own);
        }
    }

    /// The grace of a running job has begun.
    pub fn begin_grace(&mut self, id: u32, until: i64) {
        if let Some(end) = self.get(id).map(|running| running.end) {
            self.graced.insert(id);
            if until < end {
                self.reschedule_end(id, until);
            }
        }
    }

    /// A waiting job wants the place of a running one. Returns whether that one has to go now: one
    /// with a grace has until that is over.
    pub fn claim_place(&mut self, victim: &Victim, now: i64) -> bool {
        let Some(end) = self.get(victim.id).map(|running| running.end) else { return false };
        if self.graced.contains(&victim.id) {
            return end <= now;
        }
        if victim.grace > 0 {
            self.begin_grace(victim.id, now + victim.grace);
        }
        victim.grace <= 0
    }

    /// Returns whether a job has begun to preempt others not long ago: it then preempts no more.
    pub(super) fn has_preempted(&self, id: u32, now: i64) -> bool {
        self.preempted.get(&id).is_some_and(|&then| then > now - self.preempting.pause)
    }

    /// A job starts at `now` seconds.
    pub fn start_job(&mut self, job: &Pending, now: i64, mut alloc: Alloc) {
        self.choose_cores(job, &mut alloc, now);
        self.idle.take_alloc(&alloc, &self.machine);
        self.enter_job(job, now, alloc);
    }

    /// A job runs since `since` seconds that no scheduler of this site has started, there. What
    /// others have as well counts as in use until both have ended.
    pub fn adopt_job(&mut self, job: &Pending, since: i64, mut alloc: Alloc) {
        self.choose_cores(job, &mut alloc, since);
        self.idle.take_anyway(&alloc, &self.machine);
        self.enter_job(job, since, alloc);
    }

    /// A running job is somewhere else than was thought.
    pub fn relocate_job(&mut self, id: u32, mut alloc: Alloc) {
        let Some(slot) = self.slot_of(id) else { return };
        let Some(running) = self.slots[slot as usize].as_mut() else { return };
        self.state += 1;
        self.idle.give_back(&running.alloc, &self.machine);
        if alloc.more.is_none() {
            alloc.more = self.idle.held_share(&running.job, &alloc, &self.machine);
        }
        self.idle.take_anyway(&alloc, &self.machine);
        if let Some(ledger) = &mut self.ledger {
            ledger.end_job(&running.job, &running.alloc, &self.machine);
            ledger.begin_job(&running.job, &alloc, &self.machine);
        }
        (running.words, running.alloc) = (alloc.nodes.nonzero_words(), alloc);
    }

    /// A job is among the running ones.
    fn enter_job(&mut self, job: &Pending, now: i64, alloc: Alloc) {
        self.state += 1;
        self.preempted.remove(&job.id);
        self.limited.remove(&job.id);
        let end = now.saturating_add(job.limit);
        self.use_licences(job, true);
        if let Some(ledger) = &mut self.ledger {
            ledger.begin_job(job, &alloc, &self.machine);
        }
        if job.array != super::NONE {
            *self.tasks.entry(job.array).or_default() += 1;
        }
        let rank = self.rank_of(job);
        let words = alloc.nodes.nonzero_words();
        let running_job = RunningModelJob { id: job.id, end, alloc, words, job: job.clone(), start: now };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(running_job);
                slot
            }
            None => {
                self.slots.push(Some(running_job));
                self.slots.len() as u32 - 1
            }
        };
        self.order.insert(self.order.partition_point(|&(e, r, _)| (e, r) < (end, rank)), (end, rank, slot));
        self.end_of.insert(job.id, (end, rank));
        self.recount_all();
    }

    /// Recounts idle processors as those that no job has, where processors are distinguished.
    fn recount_all(&mut self) {
        if self.tells_cores() {
            let mut idle = self.idle.clone();
            self.recount_idle(&mut idle, &[]);
            self.idle = idle;
        }
    }

    /// A job is submitted.
    pub fn note_arrival(&mut self, id: u32) {
        if id > self.latest.0 {
            self.latest = (id, 0);
        }
    }

    /// Returns the rank of a job that starts in Slurm's list of jobs, which decides between equal
    /// ends: in the order of submission. What is left of an array when a task starts goes to the
    /// end of the list.
    fn rank_of(&mut self, job: &Pending) -> u64 {
        if job.array == super::NONE {
            return u64::from(job.id) << 32;
        }
        let rank = self.rest_of.get(&job.array).copied().unwrap_or(u64::from(job.array) << 32);
        self.latest.1 += 1;
        self.rest_of.insert(job.array, u64::from(self.latest.0) << 32 | u64::from(self.latest.1));
        rank
    }

    /// A job ends. Returns what it was, or `None` if it does not run.
    pub fn end_job(&mut self, id: u32) -> Option<RunningModelJob> {
        self.state += 1;
        let key = self.end_of.remove(&id)?;
        self.graced.remove(&id);
        let at = self.order.partition_point(|&(e, rank, _)| (e, rank) < key);
        let (.., slot) = self.order.remove(at);
        self.free.push(slot);
        let ended_job = self.slots[slot as usize].take()?;
        self.idle.give_back(&ended_job.alloc, &self.machine);
        self.use_licences(&ended_job.job, false);
        if let Some(ledger) = &mut self.ledger {
            ledger.end_job(&ended_job.job, &ended_job.alloc, &self.machine);
        }
        if let Some(tasks) = self.tasks.get_mut(&ended_job.job.array) {
            *tasks -= 1;
            if *tasks == 0 {
                self.tasks.remove(&ended_job.job.array);
            }
        }
        self.recount_all();
        Some(ended_job)
    }

    /// A running job has to go. Its processors are free for plans, but nothing starts on its nodes
    /// before they are done with it.
    pub fn evict_job(&mut self, id: u32) -> Option<RunningModelJob> {
        let evicted_job = self.end_job(id)?;
        self.completing.unite(&evicted_job.alloc.nodes);
        Some(evicted_job)
    }

    /// The end of a running job's limit has changed.
    pub fn reschedule_end(&mut self, id: u32, end: i64) {
        self.state += 1;
        let Some(key) = self.end_of.get_mut(&id) else { return };
        let (old, rank) = *key;
        key.0 = end;
        let at = self.order.partition_point(|&(e, r, _)| (e, r) < (old, rank));
        let (.., slot) = self.order.remove(at);
        if let Some(running) = &mut self.slots[slot as usize] {
            running.end = end;
        }
        self.order.insert(self.order.partition_point(|&(e, r, _)| (e, r) < (end, rank)), (end, rank, slot));
    }

    /// Returns whether as many tasks of the job's array run as may.
    pub fn is_throttled(&self, job: &Pending) -> bool {
        job.throttle > 0 && self.tasks.get(&job.array).is_some_and(|&tasks| tasks >= job.throttle)
    }

    /// Running tasks of an array.
    pub fn running_tasks(&self, array: u32) -> u32 {
        self.tasks.get(&array).copied().unwrap_or(0)
    }

    /// End, rank and place of each running job, ascending.
    pub(crate) fn end_order(&self) -> &[(i64, u64, u32)] {
        &self.order
    }

    pub(crate) fn job_at(&self, slot: u32) -> Option<&RunningModelJob> {
        self.slots[slot as usize].as_ref()
    }

    fn slot_of(&self, id: u32) -> Option<u32> {
        let key = *self.end_of.get(&id)?;
        let at = self.order.partition_point(|&(e, rank, _)| (e, rank) < key);
        self.order.get(at).map(|&(.., slot)| slot)
    }

    /// Returns the time at which a running job is thought to leave its nodes.
    pub(super) fn freed_at(&self, slot: u32, now: i64) -> i64 {
        match self.job_at(slot) {
            Some(running) if running.end <= now => self.guess_end(running, now),
            Some(running) => running.end,
            None => now + 1,
        }
    }

    /// Returns Slurm's guess of the end of a job that is past its limit.
    pub(crate) fn guess_end(&self, running: &RunningModelJob, now: i64) -> i64 {
        let end = match self.machine.parts[usize::from(running.job.part)].overtime {
            Some(overtime) => running.end + self.kill_wait + overtime,
            None => now.saturating_add(running.job.limit),
        };
        end.max(now + 1)
    }
}
