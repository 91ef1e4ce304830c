//! The main scheduler: strict order, with a stop for each partition.

use super::access::Access;
use super::preempting::Victim;
use super::twins::{TwinRefusal, TwinRefusals, have_one_verdict};
use super::{ModelCluster, NONE, NodeSet, PassKind, PassVerdict, Pending, UseLedger, VerdictObserver};
use crate::conf::SchedParams;

/// Result of a pass of the main scheduler.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MainDeeds {
    /// Places in the queue of the jobs that it has started, ascending.
    pub starts: Vec<usize>,
    /// Jobs that have to go, each for the job at the place before it.
    pub victims: Vec<(usize, Vec<Victim>)>,
    /// True if it considered every job that it was to consider.
    pub whole: bool,
}

/// Slurm's reason for a job with a number of nodes that its partition does not allow.
pub(super) const BEYOND_PARTITION: &str = "PartitionNodeLimit";

/// Starts jobs in the order of `queue` until each partition has one that does not fit. A `full`
/// pass looks at all jobs.
pub fn main_pass(
    cluster: &mut ModelCluster,
    queue: &[Pending],
    now: i64,
    full: bool,
    params: &SchedParams,
    watch: &mut impl VerdictObserver,
) -> MainDeeds {
    let parts = cluster.machine.parts.len();
    let mut pass = MainPass {
        failed: vec![false; parts],
        left: parts,
        failed_reservations: Vec::new(),
        looked_at: vec![0; parts],
        blocked: NodeSet::empty(cluster.machine.node_count()),
        usable: NodeSet::empty(cluster.machine.node_count()),
        refused: None,
        twins: TwinRefusals::default(),
        deeds: MainDeeds { whole: true, ..MainDeeds::default() },
    };
    let mut depth = 0;
    for (index, job) in queue.iter().enumerate() {
        if params.sched_max_job_start > 0 && pass.deeds.starts.len() as i64 >= params.sched_max_job_start {
            pass.deeds.whole = false;
            note_unreached(&queue[index..], now, "sched_max_job_start", watch);
            break;
        }
        if job.several && cluster.get(job.id).is_some() {
            continue;
        }
        watch.turn_to_job(cluster, job);
        if pass.skips_task(cluster, job) {
            watch.note_verdict(PassKind::Main, now, job.id, PassVerdict::Array);
            continue;
        }
        let part = usize::from(job.part);
        pass.looked_at[part] += 1;
        if params.partition_job_depth > 0 && pass.looked_at[part] > params.partition_job_depth {
            watch.note_verdict(PassKind::Main, now, job.id, PassVerdict::Skipped("partition_job_depth"));
            continue;
        }
        if !full {
            // One more than the parameter says.
            if depth > params.default_queue_depth {
                pass.deeds.whole = false;
                note_unreached(&queue[index..], now, "default_queue_depth", watch);
                break;
            }
            depth += 1;
        }
        let verdict = pass.look_at(cluster, index, job, now, params);
        if params.bf_licenses != 0 && matches!(verdict, PassVerdict::Licences) {
            pass.deeds.whole = false;
            note_unreached(&queue[index..], now, "bf_licenses", watch);
            break;
        }
        watch.note_verdict(PassKind::Main, now, job.id, verdict);
        if pass.left == 0 && !watch.wants_plans() {
            break;
        }
    }
    pass.deeds
}

/// The pass ends before these jobs.
fn note_unreached(rest: &[Pending], now: i64, by: &'static str, watch: &mut impl VerdictObserver) {
    if watch.wants_plans() {
        rest.iter().for_each(|job| watch.note_verdict(PassKind::Main, now, job.id, PassVerdict::NotReached(by)));
    }
}

struct MainPass {
    /// Partitions with a job that does not fit.
    failed: Vec<bool>,
    /// Partitions without one.
    left: usize,
    /// Reservations with a job that does not fit.
    failed_reservations: Vec<u32>,
    looked_at: Vec<i64>,
    /// Nodes that such a job keeps from all others.
    blocked: NodeSet,
    /// Room.
    usable: NodeSet,
    /// The array whose task was refused last, and in which partition.
    refused: Option<(u32, u16)>,
    /// Refusals of jobs by a limit, on the nodes that are usable now.
    twins: TwinRefusals,
    deeds: MainDeeds,
}

impl MainPass {
    /// Returns whether another task of the job's array was refused, or as many run as may.
    fn skips_task(&mut self, cluster: &ModelCluster, job: &Pending) -> bool {
        if job.array == NONE {
            return false;
        }
        if self.refused == Some((job.array, job.part)) {
            return true;
        }
        self.refused = Some((job.array, job.part));
        cluster.is_throttled(job)
    }

    fn look_at(
        &mut self,
        cluster: &mut ModelCluster,
        index: usize,
        job: &Pending,
        now: i64,
        params: &SchedParams,
    ) -> PassVerdict {
        let part = usize::from(job.part);
        let own = job.reservation != NONE;
        if if own { self.failed_reservations.contains(&job.reservation) } else { self.failed[part] } {
            return PassVerdict::BehindBlocked;
        }
        if job.is_beyond_partition() {
            return PassVerdict::Limit(BEYOND_PARTITION);
        }
        if !cluster.machine.parts[part].up {
            self.block_partition(part, None);
            return PassVerdict::Blocked;
        }
        self.usable.copy_from(&cluster.machine.parts[part].nodes);
        self.usable.subtract(&self.blocked);
        if cluster.named_nodes(job).iter().any(|&node| !self.usable.contains(node as usize)) {
            // Slurm knows that nodes which it names are not there, and goes on with the next job.
            return PassVerdict::Unavailable;
        }
        let least = if job.own_nodes > 0 { job.own_nodes } else { job.min_nodes };
        if !cluster.idle.is_single()
            && self.usable.count_nodes() < least as usize
            && !self.is_held_by_limit(cluster, job)
        {
            // So many nodes are not even there: none of the rest goes to others.
            let nodes = cluster.machine.parts[part].nodes.clone();
            self.block_partition(part, Some(&nodes));
            return PassVerdict::Unavailable;
        }
        if !cluster.has_licences(job, now) {
            return PassVerdict::Licences;
        }
        let verdict = self.try_nodes(cluster, index, job, now, params);
        if !matches!(verdict, PassVerdict::Started(_)) && self.names_all(cluster, job) {
            // None but it starts on the nodes that it names.
            let named_indices = cluster.named_nodes(job).iter().map(|&node| node as usize);
            self.blocked.unite(&NodeSet::from_members(cluster.machine.node_count(), named_indices));
            self.twins.clear();
        }
        verdict
    }

    /// Returns whether the job names as many nodes as it needs: it then keeps these from others,
    /// and blocks no partition.
    fn names_all(&self, cluster: &ModelCluster, job: &Pending) -> bool {
        let node_names = cluster.named_nodes(job);
        !node_names.is_empty() && node_names.len() >= job.min_nodes as usize
    }

    /// Returns whether a limit that Slurm knows keeps the job from a try.
    fn is_held_by_limit(&self, cluster: &ModelCluster, job: &Pending) -> bool {
        let is_held = |ledger: &UseLedger| ledger.reason_before_alloc(job, &cluster.machine).is_some();
        cluster.is_limited(job.id) && cluster.ledger.as_ref().is_some_and(is_held)
    }

    /// Tries to start the job on the usable nodes.
    fn try_nodes(
        &mut self,
        cluster: &mut ModelCluster,
        index: usize,
        job: &Pending,
        now: i64,
        params: &SchedParams,
    ) -> PassVerdict {
        let part = usize::from(job.part);
        let own = job.reservation != NONE;
        match cluster.find_access(job, now, job.limit) {
            Access::Free => {}
            Access::Nodes(open_nodes, _) => self.usable.intersect(&open_nodes),
            Access::Until(_) | Access::Never => return PassVerdict::Reserved,
        }
        if let Some(entry) = cluster.machine.resources.known_demand(job.demand) {
            self.usable.intersect(&entry.suitable);
        }
        cluster.reset_bytes(job);
        let before = cluster.ledger.as_ref().and_then(|ledger| ledger.reason_before_alloc(job, &cluster.machine));
        if let Some(reason) = before {
            // Slurm does not try a job again that it knows to be limited: such a job blocks none.
            if cluster.is_limited(job.id) {
                return PassVerdict::Limit(reason);
            }
            return self.note_limit(cluster, job, reason, params);
        }
        let is_shared = params.assoc_limit_stop == 0 && have_one_verdict(cluster, job);
        if let Some(refusal) = self.twins.find_twin(job, (now, false)).filter(|_| is_shared) {
            return refusal.verdict.clone();
        }
        let without_completing = self.usable.has_common(&cluster.completing).then(|| {
            let mut ready_nodes = self.usable.clone();
            ready_nodes.subtract(&cluster.completing);
            ready_nodes
        });
        let usable = without_completing.as_ref().unwrap_or(&self.usable);
        let alloc = cluster.idle.place_job(job, usable, &cluster.machine);
        let alloc = alloc.or_else(|| cluster.place_over(job, usable, now));
        let gpus = cluster.gpus_counted(job, alloc.as_ref());
        let after = |ledger: &UseLedger| ledger.reason_after_alloc(job, alloc.as_ref(), gpus, &cluster.machine);
        let after = cluster.ledger.as_ref().and_then(after);
        if let Some(reason) = after {
            let verdict = self.note_limit(cluster, job, reason, params);
            if is_shared {
                self.twins.add_refusal(TwinRefusal::new(job, (now, false), &verdict, 0));
            }
            return verdict;
        }
        if params.assoc_limit_stop != 0 {
            cluster.note_limit(job.id, false);
        }
        if let Some(alloc) = alloc {
            if cluster.is_short(job.id) {
                return PassVerdict::Resources;
            }
            cluster.start_job(job, now, alloc.clone());
            self.deeds.starts.push(index);
            self.refused = None;
            self.twins.clear();
            return PassVerdict::Started(alloc);
        }
        if !cluster.has_preempted(job.id, now)
            && let Some((victims, _)) = cluster.preempting.find_victims(cluster, job, &self.usable, now)
        {
            cluster.note_preemption(job.id, now);
            self.deeds.victims.push((index, victims));
        }
        if own {
            self.failed_reservations.push(job.reservation);
            return PassVerdict::Blocked;
        }
        if cluster.is_out_of_reach(job, &self.usable) {
            return PassVerdict::Unavailable;
        }
        let young = now - job.submit < params.bf_min_age_reserve;
        if !young && !self.names_all(cluster, job) && job.priority >= params.bf_min_prio_reserve {
            let nodes = cluster.machine.parts[part].nodes.clone();
            self.block_partition(part, Some(&nodes));
        }
        PassVerdict::Blocked
    }

    /// A limit keeps the job from starting. It does not block others, unless the site wants that.
    fn note_limit(
        &mut self,
        cluster: &mut ModelCluster,
        job: &Pending,
        reason: &'static str,
        params: &SchedParams,
    ) -> PassVerdict {
        if params.assoc_limit_stop != 0 {
            cluster.note_limit(job.id, true);
            if self.names_all(cluster, job) {
                return PassVerdict::Limit(reason);
            }
            let part = usize::from(job.part);
            let nodes = cluster.machine.parts[part].nodes.clone();
            self.block_partition(part, Some(&nodes));
        }
        PassVerdict::Limit(reason)
    }

    /// No other job of the partition starts, nor any on the nodes.
    fn block_partition(&mut self, part: usize, nodes: Option<&NodeSet>) {
        if !std::mem::replace(&mut self.failed[part], true) {
            self.left -= 1;
        }
        if let Some(nodes) = nodes {
            self.blocked.unite(nodes);
            self.twins.clear();
        }
    }
}
