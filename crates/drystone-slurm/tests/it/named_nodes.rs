//! Jobs that name nodes, and jobs that wait in several partitions, by hand.

use drystone_slurm::accounts::Accounts;
use drystone_slurm::conf::{SchedParams, SlurmConf};
use drystone_slurm::model::{
    JobDemand, ModelCluster, PassKind, PassVerdict, Pending, VerdictObserver, backfill_pass, main_pass,
};

const CONF: &str = "ClusterName=hand\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
                    NodeName=n[1-3] CPUs=4\nPartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE\n\
                    PartitionName=last Nodes=n3 MaxTime=INFINITE\n";

fn cluster() -> ModelCluster {
    ModelCluster::from_conf(&SlurmConf::parse(CONF, "slurm.conf").expect("a configuration"), &Accounts::default())
}

/// A job of 600 s that names these nodes and not those.
fn job(cluster: &mut ModelCluster, id: u32, cpus: u32, demand_nodes: &[u32], exclusions: &[u32]) -> Pending {
    let sizes = cluster.machine.cpus.clone();
    let node_lists = (demand_nodes.to_vec(), exclusions.to_vec());
    let demand = cluster
        .machine
        .resources
        .intern_demand(JobDemand { tasks: cpus, named: node_lists, ..JobDemand::default() }, &sizes);
    Pending { demand, ..Pending::new(id, cpus, 600) }
}

#[derive(Default)]
struct Verdicts(Vec<(u32, PassVerdict)>);

impl VerdictObserver for Verdicts {
    fn note_verdict(&mut self, _: PassKind, _: i64, id: u32, verdict: PassVerdict) {
        self.0.push((id, verdict));
    }

    fn wants_plans(&self) -> bool {
        true
    }
}

impl Verdicts {
    /// Starts as job and nodes.
    fn starts(&self) -> Vec<(u32, Vec<usize>)> {
        let of = |(id, verdict): &(u32, PassVerdict)| match verdict {
            PassVerdict::Started(alloc) => Some((*id, alloc.nodes.iter().collect())),
            _ => None,
        };
        self.0.iter().filter_map(of).collect()
    }

    /// Plans as job, start and nodes.
    fn plans(&self) -> Vec<(u32, i64, Vec<usize>)> {
        let of = |(id, verdict): &(u32, PassVerdict)| match verdict {
            PassVerdict::Planned { start, alloc, .. } => Some((*id, *start, alloc.nodes.iter().collect())),
            _ => None,
        };
        self.0.iter().filter_map(of).collect()
    }
}

#[test]
fn a_job_that_names_its_nodes_keeps_these_alone() {
    let mut cluster = cluster();
    let first = job(&mut cluster, 0, 3, &[0], &[]);
    let waits = Pending { max_nodes: 1, ..job(&mut cluster, 1, 2, &[0], &[]) };
    // n1 has a processor left, n2 and n3 are free.
    let small = job(&mut cluster, 2, 1, &[], &[]);
    let not_there = job(&mut cluster, 3, 1, &[], &[1]);
    let mut verdicts = Verdicts::default();
    let params = SchedParams::default();
    main_pass(&mut cluster, &[first, waits, small, not_there], 0, true, &params, &mut verdicts);
    // The tightest idle node is n1, which the second job keeps from the others.
    assert_eq!(verdicts.starts(), [(0, vec![0]), (2, vec![1]), (3, vec![2])]);
}

#[test]
fn named_nodes_are_among_those_of_a_wider_job() {
    let mut cluster = cluster();
    let wide = job(&mut cluster, 0, 6, &[1], &[]);
    let mut verdicts = Verdicts::default();
    main_pass(&mut cluster, &[wide], 0, true, &SchedParams::default(), &mut verdicts);
    // From the named node upwards, then downwards.
    assert_eq!(verdicts.starts(), [(0, vec![1, 2])]);
}

#[test]
fn a_job_that_names_a_node_which_is_out_is_passed_over() {
    let mut cluster = cluster();
    cluster.set_out(&drystone_slurm::model::NodeSet::from_members(3, [1]));
    let base_job = job(&mut cluster, 0, 1, &[0, 1], &[]);
    let pair_job = Pending { min_nodes: 2, max_nodes: 2, cpus: 2, ..base_job };
    let single_job = job(&mut cluster, 1, 4, &[0], &[]);
    let mut verdicts = Verdicts::default();
    main_pass(&mut cluster, &[pair_job, single_job], 0, true, &SchedParams::default(), &mut verdicts);
    assert_eq!(verdicts.starts(), [(1, vec![0])]);
}

#[test]
fn a_job_of_two_partitions_starts_once_and_has_a_plan_in_each() {
    let queue = |cluster: &mut ModelCluster| {
        let entries = |job: Pending| {
            let first = Pending { several: true, ..job };
            [first.clone(), Pending { part: 1, ..first }]
        };
        let (wide_job, two) = (job(cluster, 0, 12, &[], &[]), job(cluster, 1, 4, &[], &[]));
        [entries(wide_job), entries(two)].concat()
    };
    let mut idle = cluster();
    let jobs = queue(&mut idle);
    let mut verdicts = Verdicts::default();
    main_pass(&mut idle, &jobs, 0, true, &SchedParams::default(), &mut verdicts);
    assert_eq!(verdicts.starts(), [(0, vec![0, 1, 2])], "once, though it waits twice");
    let resolution = SchedParams { bf_resolution: 1, ..SchedParams::default() };
    let mut verdicts = Verdicts::default();
    backfill_pass(&mut idle, &jobs, (0, &|_| None), &resolution, &mut verdicts);
    assert_eq!(verdicts.plans(), [(1, 600, vec![0]), (1, 600, vec![2])]);
    let single_plan = SchedParams { bf_one_resv_per_job: 1, ..resolution };
    let mut verdicts = Verdicts::default();
    backfill_pass(&mut idle, &jobs, (0, &|_| None), &single_plan, &mut verdicts);
    assert_eq!(verdicts.plans(), [(1, 600, vec![0])]);
}
