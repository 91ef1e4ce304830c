//! Memory, GPUs, weights, features, licences and reservations by hand, and the general choice of
//! nodes beside the one for processors alone.

use drystone_slurm::accounts::Accounts;
use drystone_slurm::conf::{SchedParams, SlurmConf};
use drystone_slurm::model::{
    AdvanceReservation, Alloc, GpuDemand, IdleNodes, JobDemand, MemoryDemand, ModelCluster, ModelMachine, NodeSet,
    PassKind, PassVerdict, Pending, VerdictObserver, backfill_pass, main_pass,
};
use std::collections::BTreeMap;

fn machine(lines: &str) -> ModelMachine {
    ModelMachine::from_conf(&conf(lines))
}

fn conf(lines: &str) -> SlurmConf {
    let text = format!(
        "ClusterName=hand\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nGresTypes=gpu\n{lines}\n\
         PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE\n"
    );
    SlurmConf::parse(&text, "slurm.conf").expect("a configuration")
}

/// A job with so many tasks of one processor.
fn job(machine: &mut ModelMachine, id: u32, tasks: u32, demand: JobDemand) -> Pending {
    let cpus = machine.cpus.clone();
    let demand = machine.resources.intern_demand(JobDemand { tasks, ..demand }, &cpus);
    Pending { demand, ..Pending::new(id, tasks, 600) }
}

fn place(machine: &ModelMachine, idle: &IdleNodes, job: &Pending) -> Option<(Vec<usize>, Alloc)> {
    let alloc = idle.place_job(job, &NodeSet::full(machine.node_count()), machine)?;
    Some((alloc.nodes.iter().collect(), alloc))
}

#[test]
fn memory_decides_where_processors_are_free() {
    let mut machine = machine("NodeName=n[1-2] CPUs=8 RealMemory=8000");
    let mut idle = IdleNodes::new(&machine);
    let of_node = |mb| JobDemand { memory: MemoryDemand::PerNode(mb), ..JobDemand::default() };
    let (large, small) = (job(&mut machine, 0, 2, of_node(6000)), job(&mut machine, 1, 2, of_node(3000)));
    let (nodes, alloc) = place(&machine, &idle, &large).expect("room");
    assert_eq!(nodes, [0]);
    idle.take_alloc(&alloc, &machine);
    // The first node has 6 cores and 2,000 MB left: without memory it would be the tighter one.
    assert_eq!(place(&machine, &idle, &small).expect("room").0, [1]);
    // 1,500 MB for each of 6 processors are 9,000 MB, more than a node has: 1 on the first, the
    // rest on the second, where 5 processors have 7,500 MB.
    let wide = job(&mut machine, 2, 6, JobDemand { memory: MemoryDemand::PerCpu(1500), ..JobDemand::default() });
    let (nodes, alloc) = place(&machine, &idle, &wide).expect("room");
    assert_eq!((nodes, alloc.cpus.clone()), (vec![0, 1], vec![1, 5]));
    assert_eq!(alloc.more.expect("memory").memory, [1500, 7500]);
    // All of a node's memory: only where no job has any.
    let whole_node_job = job(&mut machine, 3, 1, JobDemand { memory: MemoryDemand::WholeNode, ..JobDemand::default() });
    assert_eq!(place(&machine, &idle, &whole_node_job).expect("room").0, [1]);
}

#[test]
fn gpus_have_types_and_are_counted_for_nodes_jobs_and_tasks() {
    let mut machine =
        machine("NodeName=n1 CPUs=8 RealMemory=8000 Gres=gpu:a:2\nNodeName=n2 CPUs=8 RealMemory=8000 Gres=gpu:b:4");
    let mut idle = IdleNodes::new(&machine);
    let (b, any) = (machine.resources.kinds_of("gpu", "b"), machine.resources.kinds_of("gpu", ""));
    let ask = |gpus: GpuDemand| JobDemand { gpus: Some(gpus), ..JobDemand::default() };
    let gpu_job = job(&mut machine, 0, 1, ask(GpuDemand { kinds: b, per_node: 3, ..GpuDemand::default() }));
    let (nodes, alloc) = place(&machine, &idle, &gpu_job).expect("room");
    assert_eq!(nodes, [1]);
    idle.take_alloc(&alloc, &machine);
    assert_eq!(place(&machine, &idle, &Pending { id: 1, ..gpu_job }), None);
    // Three GPUs of any type in all, wherever they are: two are left on one node, one on the other.
    let mut spread = job(&mut machine, 2, 2, ask(GpuDemand { kinds: any, per_job: 3, ..GpuDemand::default() }));
    spread.max_nodes = 2;
    let (nodes, alloc) = place(&machine, &idle, &spread).expect("room");
    assert_eq!((nodes, alloc.more.expect("devices").device_count()), (vec![0, 1], 3));
    // Two for each of two tasks are more than there are.
    let tasks = job(&mut machine, 3, 2, ask(GpuDemand { kinds: any, per_task: 2, ..GpuDemand::default() }));
    assert_eq!(place(&machine, &idle, &tasks), None);
    // Five processors for each GPU: a node of 8 can serve one.
    let fed = job(&mut machine, 4, 1, ask(GpuDemand { kinds: any, per_node: 2, cpus_each: 5, ..GpuDemand::default() }));
    assert_eq!(place(&machine, &idle, &fed), None);
}

#[test]
fn light_nodes_come_first_and_features_rule_nodes_out() {
    let mut machine = machine(
        "NodeName=n1 CPUs=8 RealMemory=8000 Weight=5 Feature=fast\nNodeName=n2 CPUs=8 RealMemory=8000 Feature=old\n\
         NodeName=n3 CPUs=4 RealMemory=8000 Weight=5 Feature=fast,big",
    );
    let idle = IdleNodes::new(&machine);
    let with = |features: &str| JobDemand { features: features.to_string(), ..JobDemand::default() };
    for (features, expected) in
        [("", Some(vec![1])), ("fast", Some(vec![2])), ("fast&big", Some(vec![2])), ("slow", None), ("old&big", None)]
    {
        let wants = job(&mut machine, 0, 2, with(features));
        assert_eq!(place(&machine, &idle, &wants).map(|pair| pair.0), expected, "{features}");
    }
}

#[test]
fn a_range_of_nodes_asks_for_its_upper_end() {
    let mut machine = machine("NodeName=n[1-3] CPUs=8 RealMemory=8000");
    let idle = IdleNodes::new(&machine);
    let range = Pending { max_nodes: 2, ..job(&mut machine, 0, 4, JobDemand::default()) };
    assert_eq!(place(&machine, &idle, &range).expect("room").0, [0, 1]);
}

/// Verdicts of a backfill pass.
#[derive(Default)]
struct Heard(BTreeMap<u32, PassVerdict>);

impl VerdictObserver for Heard {
    fn note_verdict(&mut self, _: PassKind, _: i64, id: u32, verdict: PassVerdict) {
        self.0.insert(id, verdict);
    }
}

fn cluster(lines: &str) -> ModelCluster {
    ModelCluster::from_conf(&conf(lines), &Accounts::new())
}

#[test]
fn a_job_without_its_licence_is_passed_over_and_has_no_plan() {
    let mut cluster = cluster("Licenses=sim:2\nNodeName=n1 CPUs=8 RealMemory=8000");
    let licence_demand = |count| JobDemand { licences: vec![(0, count)], ..JobDemand::default() };
    let (first, second) = (licence_demand(2), licence_demand(1));
    let mut queue = vec![job(&mut cluster.machine, 0, 2, first), job(&mut cluster.machine, 1, 2, second)];
    queue.push(job(&mut cluster.machine, 2, 2, JobDemand::default()));
    let mut verdicts = Heard::default();
    let deeds = main_pass(&mut cluster, &queue, 0, true, &SchedParams::default(), &mut verdicts);
    assert_eq!((deeds.starts, &verdicts.0[&1]), (vec![0, 2], &PassVerdict::Licences));
    // With plans for licences it is planned for the end of the one that has them, 600 s.
    let (params, _) = SchedParams::parse("bf_licenses,bf_resolution=1");
    backfill_pass(&mut cluster, &queue[1..2], (10, &|_| None), &params, &mut verdicts);
    assert!(matches!(verdicts.0[&1], PassVerdict::Planned { start: 600, .. }), "{:?}", verdicts.0[&1]);
    cluster.end_job(0);
    backfill_pass(&mut cluster, &queue[1..2], (20, &|_| None), &SchedParams::default(), &mut verdicts);
    assert!(matches!(verdicts.0[&1], PassVerdict::Started(_)));
}

/// A maintenance of the whole machine from 1,000 s to 2,000 s.
#[test]
fn the_machine_drains_before_a_maintenance() {
    let mut cluster = cluster("NodeName=n[1-2] CPUs=8 RealMemory=8000");
    cluster.reservations.push(AdvanceReservation {
        name: "works".to_string(),
        begin: 1000,
        end: 2000,
        nodes: NodeSet::full(2),
        all: true,
        maint: true,
        part: u32::MAX,
        ..AdvanceReservation::default()
    });
    let (params, _) = SchedParams::parse("bf_resolution=1");
    let long = Pending { limit: 1200, ..Pending::new(0, 2, 600) };
    let queue = [long, Pending::new(1, 2, 600)];
    let mut verdicts = Heard::default();
    let deeds = main_pass(&mut cluster, &queue, 0, true, &params, &mut verdicts);
    assert_eq!((deeds.starts, &verdicts.0[&0]), (vec![1], &PassVerdict::Reserved));
    backfill_pass(&mut cluster, &queue[..1], (0, &|_| None), &params, &mut verdicts);
    assert!(matches!(verdicts.0[&0], PassVerdict::Planned { start: 2000, end: 3200, .. }), "{:?}", verdicts.0[&0]);
}

/// If memory is plenty, the general choice is that for processors alone.
#[test]
fn plenty_of_memory_changes_nothing() {
    let plain = ModelMachine::with_equal_nodes(12, 8);
    let rich = machine("NodeName=n[1-12] CPUs=8 RealMemory=1000000");
    let (mut seed, mut comparisons) = (1_u64, 0);
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..2000 {
        let (mut alone, mut general) = (IdleNodes::new(&plain), IdleNodes::new(&rich));
        for node in 0..12 {
            let cpus = draw(9) as u32;
            if cpus > 0 {
                let alloc = Alloc { nodes: NodeSet::from_members(12, [node]), cpus: vec![cpus], more: None };
                alone.take_alloc(&alloc, &plain);
                general.take_alloc(&alloc, &rich);
            }
        }
        let min_nodes = 1 + draw(3) as u32;
        let cpus = min_nodes + draw(24) as u32;
        let max_nodes = if draw(2) == 0 { min_nodes } else { u32::MAX };
        let wants = Pending { min_nodes, max_nodes, whole: draw(4) == 0, ..Pending::new(0, cpus, 600) };
        let node_set = NodeSet::from_members(12, (0..12).filter(|_| draw(5) > 0));
        let (general_place, expected) =
            (general.place_job(&wants, &node_set, &rich), alone.place_job(&wants, &node_set, &plain));
        let bare = |alloc: Alloc| (alloc.nodes, alloc.cpus);
        comparisons += usize::from(expected.is_some());
        assert_eq!(general_place.map(bare), expected.map(bare), "{wants:?}");
    }
    assert!(comparisons > 500, "{comparisons}");
}

/// 16 processors, of which jobs of the partition `capped` have 8 together.
#[test]
fn a_partition_has_so_many_processors_of_a_node() {
    let partition_line = "PartitionName=capped Nodes=ALL MaxCPUsPerNode=8";
    let mut cluster = cluster(&format!("NodeName=n[1-2] CPUs=16 RealMemory=8000\n{partition_line}"));
    let of = |part, id, cpus| Pending { part, ..Pending::new(id, cpus, 600) };
    // The first takes a whole share of one node, so that the second is on the other and the third
    // waits.
    let queue = [of(0, 0, 8), of(0, 1, 8), of(0, 2, 1), of(1, 3, 16)];
    let (params, _) = SchedParams::parse("bf_resolution=1");
    let mut verdicts = Heard::default();
    let deeds = main_pass(&mut cluster, &queue, 0, true, &params, &mut verdicts);
    assert_eq!(deeds.starts, [0, 1]);
    // The other partition is not capped: 8 processors are left on each node.
    backfill_pass(&mut cluster, &queue[3..], (0, &|_| None), &params, &mut verdicts);
    assert!(matches!(&verdicts.0[&3], PassVerdict::Started(alloc) if alloc.cpus == [8, 8]), "{:?}", verdicts.0[&3]);
    backfill_pass(&mut cluster, &queue[2..3], (0, &|_| None), &params, &mut verdicts);
    assert!(matches!(verdicts.0[&2], PassVerdict::Planned { start: 600, .. }), "{:?}", verdicts.0[&2]);
    [3, 0].into_iter().for_each(|id| drop(cluster.end_job(id)));
    assert_eq!(main_pass(&mut cluster, &queue[2..3], 700, true, &params, &mut verdicts).starts, [0]);
    // More than two shares fit on no two nodes.
    assert_eq!(place(&cluster.machine, &IdleNodes::new(&cluster.machine), &of(0, 9, 17)), None);
    assert_eq!(place(&cluster.machine, &IdleNodes::new(&cluster.machine), &of(0, 9, 16)).expect("room").0, [0, 1]);
}

#[test]
fn nodes_of_exclusive_users_have_jobs_of_one_user() {
    let alone = "PartitionName=alone Nodes=ALL ExclusiveUser=YES";
    let mut cluster = cluster(&format!("NodeName=n[1-2] CPUs=16 RealMemory=8000\n{alone}"));
    let of = |part, id, user| Pending { part, user, ..Pending::new(id, 4, 600) };
    let (params, mut verdicts) = (SchedParams::default(), Heard::default());
    let queue = [of(0, 0, 1), of(0, 1, 1), of(0, 2, 2), of(1, 3, 3)];
    // Two jobs of one user share a node; another user's gets the other one; a job of the open
    // partition finds none.
    let deeds = main_pass(&mut cluster, &queue, 0, true, &params, &mut verdicts);
    assert_eq!(deeds.starts, [0, 1, 2]);
    let on = |cluster: &ModelCluster, id| cluster.get(id).map(|job| job.alloc.nodes.iter().collect::<Vec<_>>());
    assert_eq!([0, 1, 2].map(|id| on(&cluster, id)), [Some(vec![0]), Some(vec![0]), Some(vec![1])]);
    drop(cluster.end_job(2));
    assert_eq!(main_pass(&mut cluster, &queue[3..], 10, true, &params, &mut verdicts).starts, [0]);
    assert_eq!(on(&cluster, 3), Some(vec![1]));
    // A job of the exclusive partition does not go to a node of an open one's other user.
    assert_eq!(main_pass(&mut cluster, &[of(0, 4, 4)], 20, true, &params, &mut verdicts).starts, [0_usize; 0]);
}

/// Three tasks with a GPU each on two nodes of two: Slurm counts all four that are idle there
/// ("requested 4", recorded), which is over the limit of the user. The job blocks no other, and
/// starts where one node has three.
#[test]
fn idle_gpus_of_the_chosen_nodes_count_for_a_job_with_gpus_for_each_task() {
    let text = "ClusterName=hand\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nGresTypes=gpu\n\
                AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations,limits,qos\n\
                NodeName=n[1-2] CPUs=8 Gres=gpu:2\nNodeName=n3 CPUs=8 Gres=gpu:3\n\
                PartitionName=small Nodes=n[1-2] Default=YES\nPartitionName=large Nodes=n3\n";
    let conf = SlurmConf::parse(text, "slurm.conf").expect("a configuration");
    let accounts =
        "add account lab\nadd qos few MaxTRESPerUser=gres/gpu=3\nadd user ada account=lab qos=few defaultqos=few\n";
    let accounts = Accounts::parse(accounts, "accounts").expect("accounts");
    let assoc = accounts.find_in("lab", "ada", "small").expect("an association") as u32;
    let qos = accounts.find_qos("few").expect("a QOS") as u32;
    let mut cluster = ModelCluster::from_conf(&conf, &accounts);
    let kinds = cluster.machine.resources.kinds_of("gpu", "");
    let each =
        JobDemand { gpus: Some(GpuDemand { kinds, per_task: 1, ..GpuDemand::default() }), ..JobDemand::default() };
    let of = |cluster: &mut ModelCluster, id, part| Pending {
        part,
        assoc,
        qos,
        ..job(&mut cluster.machine, id, 3, each.clone())
    };
    let mut queue = vec![of(&mut cluster, 0, 0), Pending::new(1, 4, 600), of(&mut cluster, 2, 1)];
    let (mut verdicts, params) = (Heard::default(), SchedParams::default());
    let deeds = main_pass(&mut cluster, &queue, 0, true, &params, &mut verdicts);
    assert_eq!(verdicts.0[&0], PassVerdict::Limit("QOSMaxGRESPerUser"));
    assert_eq!(deeds.starts, [1, 2]);
    // Planned, the three that it asks for count, and the user has as many: no plan.
    queue.truncate(1);
    backfill_pass(&mut cluster, &queue, (0, &|_| None), &params, &mut verdicts);
    assert_eq!(verdicts.0[&0], PassVerdict::Limit("QOSMaxGRESPerUser"));
}

/// A job with a grace receives one warning, and keeps its nodes until the grace is over.
///
/// It then goes for the next job that wants its nodes, if that job has not preempted others within
/// `KillWait` and `MessageTimeout`.
#[test]
fn a_job_with_a_grace_goes_when_that_is_over() {
    let text = "ClusterName=hand\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nKillWait=2\nMessageTimeout=20\n\
                PreemptType=preempt/qos\nPreemptMode=CANCEL\nAccountingStorageType=accounting_storage/slurmdbd\n\
                NodeName=n1 CPUs=8\nPartitionName=main Nodes=n1 Default=YES\n";
    let conf = SlurmConf::parse(text, "slurm.conf").expect("a configuration");
    let accounts = "add qos bulk GraceTime=6\nadd qos urgent Preempt=bulk\nadd account lab\n";
    let accounts = Accounts::parse(accounts, "accounts").expect("accounts");
    let qos = |name| accounts.find_qos(name).expect("a QOS") as u32;
    let mut cluster = ModelCluster::from_conf(&conf, &accounts);
    cluster.start_job(
        &Pending { qos: qos("bulk"), ..Pending::new(0, 8, 600) },
        0,
        Alloc { nodes: NodeSet::from_members(1, [0]), cpus: vec![8], more: None },
    );
    let urgent = |id| Pending { qos: qos("urgent"), ..Pending::new(id, 8, 600) };
    let (params, _) = SchedParams::parse("bf_resolution=1");
    let mut pass = |queue: &[Pending], now: i64| {
        backfill_pass(&mut cluster, queue, (now, &|_| None), &params, &mut ())
            .into_iter()
            .map(|victim| victim.id)
            .collect::<Vec<u32>>()
    };
    let no_ids: Vec<u32> = Vec::new();
    assert_eq!(pass(&[urgent(1)], 10), no_ids, "its grace begins");
    assert_eq!(pass(&[urgent(1), urgent(2)], 15), no_ids, "it has six seconds");
    // The first two have begun to preempt not long ago.
    assert_eq!(pass(&[urgent(1), urgent(2)], 16), no_ids);
    assert_eq!(pass(&[urgent(3)], 16), [0]);
}
