//! Pass by pass: the model is given the real state before each pass and is asked what the pass does; then it takes over what
//! really happened. An error so stays where it is made.

use super::golden::{Golden, GoldenJob, Happening};
use crate::conf::SlurmConf;
use crate::model::{Alloc, Cluster, Machine, NodeSet, Pass, Pending, Verdict, Watch, backfill_pass, main_pass};
use std::collections::{BTreeMap, BTreeSet};

/// How far the model and one recording agree.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Agreement {
    /// Passes of both schedulers.
    pub passes: usize,
    /// Passes in which the model starts a job that Slurm did not.
    pub passes_with_extra: usize,
    /// Those among them that began within 25 ms of an end, whose nodes Slurm may still have held.
    pub extra_after_end: usize,
    /// Jobs that Slurm started.
    pub starts: usize,
    /// Those that the model started in the same pass.
    pub same_starts: usize,
    /// And on the same nodes.
    pub same_nodes: usize,
    /// Plans that Slurm made.
    pub plans: usize,
    /// Those that the model made with the same start, to the second.
    pub same_plans: usize,
    /// And with the same end on the same nodes.
    pub same_plan_nodes: usize,
    /// Plans that the model made and Slurm did not.
    pub extra_plans: usize,
}

impl Agreement {
    /// Both together.
    pub fn add(&mut self, other: &Agreement) {
        self.passes += other.passes;
        self.passes_with_extra += other.passes_with_extra;
        self.extra_after_end += other.extra_after_end;
        self.starts += other.starts;
        self.same_starts += other.same_starts;
        self.same_nodes += other.same_nodes;
        self.plans += other.plans;
        self.same_plans += other.same_plans;
        self.same_plan_nodes += other.same_plan_nodes;
        self.extra_plans += other.extra_plans;
    }

    /// Whether it is as good as the bar: every start, 99 % of the plans, an extra start in no more than 1 % of the passes that is
    /// not explained by nodes that were still completing.
    #[must_use]
    pub fn holds(&self) -> bool {
        let unexplained = self.passes_with_extra - self.extra_after_end;
        self.same_starts == self.starts && self.same_plans * 100 >= self.plans * 99 && unexplained * 100 <= self.passes
    }
}

/// A difference, for those who look for its reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// When the pass began, in milliseconds.
    pub at: i64,
    /// Slurm's number of the job.
    pub job: u32,
    /// What Slurm did.
    pub real: String,
    /// What the model did.
    pub model: String,
}

/// Milliseconds after an end within which Slurm may still wait for the nodes.
const COMPLETING: i64 = 25;

/// Compares a whole recording.
#[must_use]
pub fn pass_by_pass(golden: &Golden) -> (Agreement, Vec<Difference>) {
    let mut replay = Replay::new(golden);
    let mut index = 0;
    while index < golden.events.len() {
        let (at, happening) = &golden.events[index];
        index += 1;
        match happening {
            Happening::Submit(id, priority) => replay.submit(*id, *priority),
            Happening::Complete(id) => replay.complete(*id, *at),
            Happening::MainPass(full) => replay.pass(*at, Some(*full), &golden.events[index..]),
            Happening::BackfillPass => replay.pass(*at, None, &golden.events[index..]),
            Happening::MainStart(id, nodes) | Happening::BackfillStart(id, nodes) => replay.start(*id, *at, nodes),
            Happening::Epilog(node) | Happening::Answer(node) => replay.done(node),
            Happening::Plan(..) => {}
        }
    }
    (replay.agreement, replay.differences)
}

struct Replay<'a> {
    golden: &'a Golden,
    cluster: Cluster,
    /// In the order of the queue.
    queue: Vec<Pending>,
    last_end: i64,
    /// Whether the recording has the nodes' answers.
    tells_answers: bool,
    /// Nodes that are not done yet, and since when.
    completing: Vec<(usize, i64)>,
    agreement: Agreement,
    differences: Vec<Difference>,
}

/// What a pass did: starts and plans by job.
#[derive(Default)]
struct Deeds {
    starts: BTreeMap<u32, NodeSet>,
    plans: BTreeMap<u32, (i64, i64, NodeSet)>,
}

impl Watch for Deeds {
    fn verdict(&mut self, _: Pass, _: i64, id: u32, verdict: Verdict) {
        match verdict {
            Verdict::Started(alloc) => drop(self.starts.insert(id, alloc.nodes)),
            // Slurm tells of a plan before it sees that it is beyond the window.
            Verdict::Planned { start, end, alloc } | Verdict::BeyondWindow { start, end, alloc } => {
                drop(self.plans.insert(id, (start, end, alloc.nodes)))
            }
            _ => {}
        }
    }

    fn wants_plans(&self) -> bool {
        true
    }
}

impl<'a> Replay<'a> {
    fn new(golden: &'a Golden) -> Replay<'a> {
        let told = |h: &Happening| matches!(h, Happening::Answer(_) | Happening::Epilog(_));
        let answers = golden.events.iter().filter(|(_, h)| told(h)).count();
        let mut cluster = Cluster::new(Machine::from_conf(&golden.conf));
        cluster.kill_wait = golden.conf.ends.kill_wait;
        cluster.window_linear = golden.conf.sched.bf_window_linear;
        Replay {
            golden,
            cluster,
            queue: Vec::new(),
            last_end: i64::MIN / 2,
            tells_answers: answers > golden.jobs.len(),
            completing: Vec::new(),
            agreement: Agreement::default(),
            differences: Vec::new(),
        }
    }

    fn submit(&mut self, id: u32, priority: i64) {
        let Some(job) = self.golden.jobs.get(&id) else { return };
        let pending = pending(job, priority, self.golden);
        let machine = &self.cluster.machine;
        let at = self.queue.partition_point(|p| p.key(machine) < pending.key(machine));
        self.queue.insert(at, pending);
    }

    fn complete(&mut self, id: u32, at: i64) {
        self.last_end = at;
        if let Some(alloc) = self.cluster.end(id)
            && self.tells_answers
        {
            self.completing.extend(alloc.nodes.iter().map(|node| (node, at)));
        }
    }

    /// A node is done with what it had.
    fn done(&mut self, name: &str) {
        if let Some(node) = self.golden.conf.node(name) {
            self.completing.retain(|&(n, _)| n != node as usize);
        }
    }

    fn nodes(&self, names: &[String]) -> NodeSet {
        let index = names.iter().filter_map(|name| self.golden.conf.node(name)).map(|index| index as usize);
        NodeSet::of(self.cluster.machine.nodes(), index)
    }

    fn start(&mut self, id: u32, at: i64, nodes: &[String]) {
        let Some(place) = self.queue.iter().position(|p| p.id == id) else { return };
        let job = self.queue.remove(place);
        let nodes = self.nodes(nodes);
        let alloc = share_out(&self.cluster, &job, nodes);
        let now = at.div_euclid(1000) + self.golden.base;
        self.cluster.start(id, now + job.limit, alloc);
    }

    /// `full` is for the main scheduler alone.
    fn pass(&mut self, at: i64, full: Option<bool>, behind: &[(i64, Happening)]) {
        let real = self.real(behind);
        let now = at.div_euclid(1000) + self.golden.base;
        let (mut deeds, params) = (Deeds::default(), &self.golden.conf.sched);
        let slowest = if self.golden.conf.ends.epilog { i64::MAX } else { COMPLETING };
        // The answer may be logged later than it counts: a node on which the pass starts a job is done.
        let used = |node: usize| real.starts.values().any(|nodes| nodes.contains(node));
        self.completing.retain(|&(node, since)| at - since < slowest && !used(node));
        let nodes = self.cluster.machine.nodes();
        self.cluster.completing = NodeSet::of(nodes, self.completing.iter().map(|&(node, _)| node));
        let mut trial = self.cluster.clone();
        match full {
            Some(full) => drop(main_pass(&mut trial, &self.queue, now, full, params, &mut deeds)),
            None => drop(backfill_pass(&mut trial, &self.queue, now, params, &mut deeds)),
        }
        self.compare(at, &real, &deeds);
    }

    /// What the pass really did: everything up to the next pass.
    fn real(&self, behind: &[(i64, Happening)]) -> Deeds {
        let mut deeds = Deeds::default();
        let another = |h: &Happening| matches!(h, Happening::MainPass(_) | Happening::BackfillPass);
        for (_, happening) in behind.iter().take_while(|(_, h)| !another(h)) {
            match happening {
                Happening::MainStart(id, nodes) | Happening::BackfillStart(id, nodes) => {
                    deeds.starts.insert(*id, self.nodes(nodes));
                }
                Happening::Plan(id, start, end, nodes) => {
                    deeds.plans.insert(*id, (start + self.golden.base, end + self.golden.base, self.nodes(nodes)));
                }
                _ => {}
            }
        }
        deeds
    }

    fn compare(&mut self, at: i64, real: &Deeds, model: &Deeds) {
        let a = &mut self.agreement;
        a.passes += 1;
        a.starts += real.starts.len();
        a.plans += real.plans.len();
        let extra = model.starts.keys().filter(|id| !real.starts.contains_key(id)).count();
        a.passes_with_extra += usize::from(extra > 0);
        a.extra_after_end += usize::from(extra > 0 && at - self.last_end <= COMPLETING);
        a.extra_plans += model.plans.keys().filter(|id| !real.plans.contains_key(id)).count();
        for (id, nodes) in &real.starts {
            let found = model.starts.get(id);
            a.same_starts += usize::from(found.is_some());
            a.same_nodes += usize::from(found == Some(nodes));
        }
        for (id, plan) in &real.plans {
            let found = model.plans.get(id);
            a.same_plans += usize::from(found.is_some_and(|f| f.0 == plan.0));
            a.same_plan_nodes += usize::from(found == Some(plan));
        }
        let jobs = real.starts.keys().chain(real.plans.keys()).chain(model.starts.keys()).chain(model.plans.keys());
        let base = self.golden.base;
        for &job in &jobs.copied().collect::<BTreeSet<_>>() {
            let (real, model) = (tell(real, job, base), tell(model, job, base));
            if real != model {
                self.differences.push(Difference { at, job, real, model });
            }
        }
    }
}

fn tell(deeds: &Deeds, id: u32, base: i64) -> String {
    let list = |nodes: &NodeSet| nodes.iter().map(|node| node.to_string()).collect::<Vec<_>>().join(" ");
    if let Some(nodes) = deeds.starts.get(&id) {
        return format!("starts on {}", list(nodes));
    }
    match deeds.plans.get(&id) {
        Some((start, end, nodes)) => format!("planned {} to {} on {}", start - base, end - base, list(nodes)),
        None => "nothing".to_string(),
    }
}

/// The job as the recordings submit it: by nodes where nodes have one processor, else by processors, and on one node if it fits.
pub(super) fn pending(job: &GoldenJob, priority: i64, golden: &Golden) -> Pending {
    let widest = golden.conf.nodes.iter().map(|node| node.cpus).max().unwrap_or(1);
    let (min_nodes, max_nodes) = match widest {
        1 => (job.n, job.n),
        cpus if job.n <= cpus => (1, 1),
        _ => (1, u32::MAX),
    };
    let part = golden.conf.partitions.iter().position(|p| p.name == job.partition).unwrap_or(0);
    let limit = golden.conf.partitions[part].max_minutes.map_or(job.limit, |max| max.min(job.limit));
    Pending {
        id: job.id,
        part: part as u16,
        user: number(&job.user),
        account: 0,
        cpus: job.n,
        min_nodes,
        max_nodes,
        whole: golden.conf.partitions[part].sharing == crate::conf::Sharing::Exclusive,
        limit: limit * 60,
        priority,
        submit: job.submit + golden.base,
    }
}

/// A number for a user's name: users are only told apart.
fn number(name: &str) -> i32 {
    name.bytes().fold(7_i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte)))
}

/// The processors that the job has on each of its nodes: the log names nodes alone.
fn share_out(cluster: &Cluster, job: &Pending, nodes: NodeSet) -> Alloc {
    if let Some(alloc) = cluster.idle.place(job, &nodes).filter(|alloc| alloc.nodes == nodes) {
        return alloc;
    }
    let (mut left, mut behind) = (job.cpus, nodes.count() as u32);
    let mut cpus = Vec::new();
    for node in nodes.iter() {
        behind -= 1;
        let here = cluster.idle.on(node).min(left.saturating_sub(behind).max(1));
        left = left.saturating_sub(here);
        cpus.push(here);
    }
    Alloc { nodes, cpus }
}

/// The machine and the partitions of a configuration.
impl Machine {
    /// Nodes that are out of service belong to no partition.
    #[must_use]
    pub fn from_conf(conf: &SlurmConf) -> Machine {
        use crate::conf::{Select, Sharing};
        let nodes = conf.nodes.len();
        let part = |p: &crate::conf::Partition| crate::model::Part {
            name: p.name.clone(),
            nodes: NodeSet::of(nodes, p.nodes.iter().filter(|&&n| !conf.is_down(n)).map(|&n| n as usize)),
            tier: p.tier,
            job_factor: p.job_factor,
            max_limit: p.max_minutes.map_or(i64::MAX, |m| m.saturating_mul(60)),
            up: p.up,
            whole: conf.select == Select::Linear || p.sharing == Sharing::Exclusive,
        };
        let default = conf.partitions.iter().rposition(|p| p.default).unwrap_or(0);
        Machine {
            cpus: conf.nodes.iter().map(|node| node.cpus).collect(),
            parts: conf.partitions.iter().map(part).collect(),
            default_part: default as u16,
        }
    }
}
