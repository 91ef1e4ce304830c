//! Small runs of a real Slurm 22.05, written down by hand: configuration, accounts, jobs, and the
//! seconds at which it started them.
//!
//! Slurm's clocks stand anywhere when the first job comes, so a start is within three seconds of
//! the recorded one, and behind what it waited for.

use drystone_slurm::accounts::Accounts;
use drystone_slurm::conf::SlurmConf;
use drystone_slurm::model::{JobDemand, MemoryDemand, ModelCluster, NONE, Pending};
use drystone_slurm::site::{JobPriorities, ModelSite, Multifactor, SchedulerDeed, SchedulerRules};

/// Lines of all of these configurations.
const COMMON: &str = "SchedulerType=sched/backfill\nSchedulerParameters=bf_interval=2,bf_resolution=1\nKillWait=2\n\
    SelectType=select/cons_tres\n";

/// With a database and limits.
const DATABASE: &str = "AccountingStorageType=accounting_storage/slurmdbd\n\
    AccountingStorageEnforce=associations,limits,qos\n";

const USERS: &str = "Account|User|Partition|ParentName|Share|MaxJobs\nroot||||1|\ngen|||root|1|\ngen|ada|||1|\ngen|bob|||1|\n\
    gen|eve|||1|\n";

/// A job: submission, partition, user, QOS, processors, nodes (0: any), megabytes for each
/// processor, minutes of its limit, seconds that it runs, and the start.
type Row = (i64, &'static str, &'static str, &'static str, u32, u32, u64, i64, i64, i64);

/// Starts with the clocks at `phase`.
fn starts(conf: &str, accounts: &str, rows: &[Row], phase: u64) -> Vec<Option<i64>> {
    let conf = SlurmConf::parse(&format!("{COMMON}{conf}"), "slurm.conf").expect("a configuration");
    let accounts = Accounts::parse(&format!("{USERS}{accounts}"), "accounts").expect("accounts");
    let mut cluster = ModelCluster::from_conf(&conf, &accounts);
    let cores = cluster.machine.cpus.clone();
    let mut jobs = Vec::new();
    for (id, &(submit, part, user, qos, cpus, nodes, memory, minutes, ..)) in (0..).zip(rows) {
        let demand = if memory == 0 { MemoryDemand::None } else { MemoryDemand::PerCpu(memory) };
        let demand = JobDemand { tasks: cpus, memory: demand, ..JobDemand::default() };
        let index = |position: Option<usize>| position.map_or(NONE, |index| index as u32);
        let place = cluster.machine.parts.iter().position(|own| own.name == part).expect("a partition");
        let mut job = Pending {
            part: place as u16,
            user: i32::from(user.as_bytes()[0]),
            submit,
            accrue: submit,
            assoc: index(accounts.find_in("gen", user, part)),
            qos: index(accounts.find_qos(qos)),
            demand: cluster.machine.resources.intern_demand(demand, &cores),
            ..Pending::new(id, cpus, minutes * 60)
        };
        if nodes > 0 {
            (job.min_nodes, job.max_nodes) = (nodes, nodes);
        }
        job.bind_nodes(&cluster.machine);
        jobs.push(job);
    }
    let runs: Vec<i64> = rows.iter().map(|row| row.8).collect();
    let rules = SchedulerRules { phase, kills: true, ..SchedulerRules::from_conf(&conf) };
    let priorities = Multifactor::from_conf(&conf).map(|rules| JobPriorities::new(rules, accounts));
    run(ModelSite::new(cluster, rules, priorities), &jobs, &runs)
}

/// Runs a site for some minutes; returns the last start of each job.
fn run(mut site: ModelSite, jobs: &[Pending], runs: &[i64]) -> Vec<Option<i64>> {
    let (mut starts, mut out) = (vec![None; jobs.len()], Vec::new());
    let mut ends: Vec<(i64, u32)> = Vec::new();
    for now in 0..400 {
        ends.iter().filter(|&&(end, _)| end == now).for_each(|&(_, id)| site.end_job(now, id));
        ends.retain(|&(end, _)| end != now);
        jobs.iter().filter(|job| job.submit == now).for_each(|job| site.submit(now, job.clone()));
        site.advance_to(now, &mut out, &mut ());
        for deed in out.drain(..) {
            match deed {
                SchedulerDeed::Start { id, .. } => {
                    starts[id as usize] = Some(now);
                    ends.push((now + runs[id as usize], id));
                }
                SchedulerDeed::Requeue(id) | SchedulerDeed::Kill(id) => {
                    ends.retain(|&(_, own)| own != id);
                    site.note_eviction(id);
                }
            }
        }
    }
    starts
}

/// Compares with the recorded starts, whatever the clocks. Equal jobs of one second may come in
/// either order.
fn assert_as_recorded(conf: &str, accounts: &str, rows: &[Row]) {
    for phase in 0..8 {
        let starts = starts(conf, accounts, rows, phase);
        for row in rows {
            let request = |row: &Row| (row.0, row.1, row.2, row.3, row.4, row.5, row.6, row.7, row.8);
            let same = |second_row: &Row| request(second_row) == request(row);
            let of = |list: Vec<Option<i64>>| {
                let mut list: Vec<Option<i64>> =
                    list.into_iter().zip(rows).filter(|(_, own)| same(own)).map(|(start, _)| start).collect();
                list.sort_unstable();
                list
            };
            let real_starts = of(rows.iter().map(|own| (own.9 >= 0).then_some(own.9)).collect());
            let near = |(own, real): (&Option<i64>, &Option<i64>)| match (own, real) {
                (Some(own), Some(real)) => (own - real).abs() <= 3,
                (own, real) => own == real,
            };
            let model_starts = of(starts.clone());
            assert!(model_starts.iter().zip(&real_starts).all(near), "phase {phase}: {starts:?}, recorded {rows:?}");
        }
    }
}

/// Four processors at 5 are 20, all that the QOS may be billed.
#[test]
fn what_a_job_is_billed_follows_the_weights_of_its_partition() {
    let conf = format!(
        "{DATABASE}SelectTypeParameters=CR_Core_Memory\nNodeName=n1 CPUs=8 RealMemory=8000\n\
         PartitionName=pg Nodes=n1 Default=YES MaxTime=INFINITE TRESBillingWeights=CPU=5.0\n"
    );
    let qos = "Name|Priority|GrpTRES\nnormal|0|\nbl|0|billing=20\n";
    let rows = [(0, "pg", "ada", "bl", 4, 0, 100, 5, 40, 1), (0, "pg", "ada", "bl", 4, 0, 100, 5, 40, 41)];
    assert_as_recorded(&conf, qos, &rows);
    // Beside a limit on processors that alone would let both run.
    assert_as_recorded(&conf, &qos.replace("billing=20", "cpu=8,billing=20"), &rows);
    // The most expensive resource alone: 4 processors cost 4, their 400 MB 400 × 10/1024 = 3.9.
    let most = format!("PriorityFlags=MAX_TRES\n{conf}").replace("CPU=5.0", "CPU=1,Mem=10G");
    let together = [(0, "pg", "ada", "bl", 4, 0, 100, 5, 40, 1), (0, "pg", "ada", "bl", 4, 0, 100, 5, 40, 1)];
    assert_as_recorded(&most, &qos.replace("billing=20", "billing=8"), &together);
    let sum = most.replace("PriorityFlags=MAX_TRES\n", "");
    let one_by_one = [(0, "pg", "ada", "bl", 4, 0, 100, 5, 40, 1), (0, "pg", "ada", "bl", 4, 0, 100, 5, 40, 41)];
    assert_as_recorded(&sum, &qos.replace("billing=20", "billing=8"), &one_by_one);
}

/// Two users have used as many processors, one of them much more memory: the other one's next job
/// comes first.
#[test]
fn use_is_what_was_billed() {
    let conf = format!(
        "{DATABASE}PriorityType=priority/multifactor\nPriorityWeightFairshare=100000\nPriorityCalcPeriod=1\n\
         PriorityDecayHalfLife=1-0\nSelectTypeParameters=CR_Core_Memory\nNodeName=n1 CPUs=8 RealMemory=8000\n\
         PartitionName=pb Nodes=n1 Default=YES MaxTime=INFINITE TRESBillingWeights=\"CPU=1.0,Mem=10.0G\"\n"
    );
    let rows = [
        (0, "pb", "ada", "normal", 4, 0, 1500, 5, 75, 1),
        (0, "pb", "bob", "normal", 4, 0, 100, 5, 75, 1),
        (5, "pb", "ada", "normal", 8, 0, 100, 5, 10, 87),
        (5, "pb", "bob", "normal", 8, 0, 100, 5, 10, 76),
    ];
    assert_as_recorded(&conf, "Name|Priority\nnormal|0\n", &rows);
}

/// A job of one processor has two nodes of a partition with `MinNodes=2`, so that a job for a whole
/// node waits. One that wants fewer than that, or needs more than `MaxNodes`, is not tried, and
/// those behind it are.
#[test]
fn partitions_have_fewest_and_most_nodes() {
    let conf = "PriorityType=priority/basic\nSelectTypeParameters=CR_Core\nNodeName=n[1-2] CPUs=8\n\
        PartitionName=c Nodes=n[1-2] Default=YES MaxTime=INFINITE MinNodes=2\nPartitionName=d Nodes=n[1-2] MaxTime=INFINITE\n";
    let rows = [(0, "c", "ada", "", 1, 0, 0, 2, 30, 0), (3, "d", "ada", "", 8, 1, 0, 2, 10, 30)];
    assert_as_recorded(conf, "", &rows);
    let conf = "PriorityType=priority/basic\nSelectTypeParameters=CR_Core\nNodeName=n[1-3] CPUs=8\n\
        PartitionName=c Nodes=n[1-3] Default=YES MaxTime=INFINITE MaxNodes=2\nPartitionName=d Nodes=n[1-3] MaxTime=INFINITE\n";
    // Six processors on one node as soon as one is free: `MaxNodes` is no wish. Of three nodes two
    // have room for one and the third for two.
    let rows = [
        (0, "d", "ada", "", 6, 1, 0, 2, 30, 0),
        (0, "d", "ada", "", 6, 1, 0, 2, 30, 0),
        (0, "d", "ada", "", 6, 1, 0, 2, 40, 1),
        (3, "c", "ada", "", 6, 0, 0, 2, 10, 30),
    ];
    assert_as_recorded(conf, "", &rows);
    // A job of the partition that wants two nodes, of which one is left, stops its partition and
    // keeps that one from a job of another partition.
    let tiers = "PriorityType=priority/basic\nSelectTypeParameters=CR_Core\nSchedulerParameters=bf_interval=-1\n\
        NodeName=n[1-4] CPUs=8\nPartitionName=a Nodes=n[1-4] Default=YES MaxTime=INFINITE\n\
        PartitionName=b Nodes=n[1-3] MaxTime=INFINITE PriorityTier=5\nPartitionName=c Nodes=n[2-4] MaxTime=INFINITE MinNodes=2\n";
    let rows = [
        (0, "b", "ada", "", 24, 3, 0, 2, 60, 0),
        (5, "b", "bob", "", 8, 1, 0, 2, 10, 60),
        (6, "c", "ada", "", 8, 0, 0, 2, 20, 60),
        (7, "a", "eve", "", 1, 1, 0, 2, 10, 60),
    ];
    assert_as_recorded(tiers, "", &rows);
    let rows = [(0, "c", "ada", "", 3, 3, 0, 2, 10, -1), (1, "c", "ada", "", 8, 0, 0, 2, 10, 1)];
    assert_as_recorded(conf, "", &rows);
}

/// The QOS of the partition allows 4 processors, the one of the jobs 12.
#[test]
fn a_qos_may_come_before_that_of_the_partition() {
    let conf = format!(
        "{DATABASE}SelectTypeParameters=CR_Core_Memory\nNodeName=n[1-2] CPUs=8 RealMemory=8000\n\
         PartitionName=po Nodes=n[1-2] Default=YES MaxTime=INFINITE QOS=pq\n"
    );
    let rows: Vec<Row> = [0, 0, 1, 40].map(|start| (0, "po", "ada", "big", 4, 0, 100, 5, 40, start)).to_vec();
    let qos = |flags: &str| format!("Name|Priority|Flags|GrpTRES\nnormal|0||\npq|0||cpu=4\nbig|0|{flags}|cpu=12\n");
    assert_as_recorded(&conf, &qos("DenyOnLimit,OverPartQOS"), &rows);
    // Without the flag one job runs at a time.
    let rows: Vec<Row> = [0, 40, 80, 120].map(|start| (0, "po", "ada", "big", 4, 0, 100, 5, 40, start)).to_vec();
    let in_turn: Vec<Option<i64>> = starts(&conf, &qos(""), &rows, 0);
    assert!(in_turn.windows(2).all(|pair| pair[1] >= pair[0].map(|start| start + 40)), "{in_turn:?}");
}

fn preempting(mode: &str, more: &str) -> String {
    format!(
        "{DATABASE}PreemptType=preempt/qos\nPreemptMode={mode}\n{more}SelectTypeParameters=CR_Core_Memory\n\
         NodeName=n1 CPUs=8 RealMemory=8000\nPartitionName=pe Nodes=n1 Default=YES MaxTime=INFINITE\n"
    )
}

#[test]
fn a_qos_protects_its_jobs_for_a_while() {
    let qos = "Name|Priority|Preempt|PreemptExemptTime\nnormal|0||\nbulk|1||00:01:00\nurgent|100|bulk|\n";
    let rows = [(0, "pe", "ada", "bulk", 8, 0, 100, 3, 120, 202), (5, "pe", "bob", "urgent", 8, 0, 100, 2, 20, 61)];
    for phase in 0..8 {
        let starts = starts(&preempting("REQUEUE", ""), qos, &rows, phase);
        // The first job starts at the latest at 2 s, and is replaced a minute later.
        assert!(starts[1].is_some_and(|start| (60..=66).contains(&start)), "{starts:?}");
        assert!(starts[0].is_some_and(|start| start >= 180), "it starts again: {starts:?}");
    }
}

/// A job of the same QOS and higher priority replaces another where `WITHIN` lets it.
#[test]
fn jobs_of_one_qos_replace_each_other_where_they_may() {
    let weights = "PriorityType=priority/multifactor\nPriorityWeightJobSize=1000\n";
    let rows = [(0, "pe", "ada", "normal", 7, 0, 100, 3, 90, 0), (5, "pe", "bob", "normal", 8, 0, 100, 2, 20, 6)];
    let second = |mode: &str, qos: &str| starts(&preempting(mode, weights), qos, &rows, 0)[1].expect("it starts");
    let plain = "Name|Priority|PreemptMode\nnormal|0|cluster\n";
    assert!(second("REQUEUE,WITHIN", plain) <= 10);
    assert!(second("REQUEUE", plain) >= 90);
    assert!(second("REQUEUE", "Name|Priority|PreemptMode\nnormal|0|within\n") <= 10);
    // The smaller job has the lower priority, and waits.
    let rows = [(0, "pe", "ada", "normal", 8, 0, 100, 3, 90, 0), (5, "pe", "bob", "normal", 7, 0, 100, 2, 20, 90)];
    assert!(starts(&preempting("REQUEUE,WITHIN", weights), plain, &rows, 0)[1] >= Some(90));
}

/// `PRIORITY` holds back jobs of lower priority although their QOS may preempt, and
/// `min_exempt_priority` protects jobs from a priority on.
#[test]
fn priorities_may_forbid_preemption() {
    let qos = "Name|Priority|Preempt\nnormal|0|\nbulk|0|\nurgent|0|bulk\n";
    let weights = "PriorityType=priority/multifactor\nPriorityWeightJobSize=1000\n";
    let rows = [(0, "pe", "ada", "bulk", 8, 0, 100, 3, 90, 0), (5, "pe", "bob", "urgent", 7, 0, 100, 2, 20, 6)];
    let second = |mode: &str, more: &str| starts(&preempting(mode, more), qos, &rows, 0)[1].expect("it starts");
    assert!(second("CANCEL", weights) <= 10);
    assert!(second("CANCEL,PRIORITY", weights) >= 90);
    // The wide job has the whole machine, so its priority is 1,000.
    assert!(second("CANCEL", &format!("{weights}PreemptParameters=min_exempt_priority=1000\n")) >= 90);
    assert!(second("CANCEL", &format!("{weights}PreemptParameters=min_exempt_priority=1001\n")) <= 10);
}

/// Without `JobRequeue` the job that is replaced ends for good: it has started once.
#[test]
fn jobs_that_may_not_start_again_end() {
    let qos = "Name|Priority|Preempt\nnormal|0|\nbulk|0|\nurgent|9|bulk\n";
    let rows = [(0, "pe", "ada", "bulk", 8, 0, 100, 9, 500, 0), (12, "pe", "bob", "urgent", 4, 0, 100, 2, 30, 12)];
    assert_as_recorded(&preempting("REQUEUE", "JobRequeue=0\n"), qos, &rows);
}

/// Four jobs of one processor go to four idle nodes, so that a job for a whole node waits.
#[test]
fn the_least_loaded_nodes_come_first() {
    for (flags, part) in [("CR_Core_Memory,CR_LLN", ""), ("CR_Core_Memory", " LLN=YES")] {
        let conf = format!(
            "PriorityType=priority/basic\nSelectTypeParameters={flags}\nNodeName=n[1-4] CPUs=8 RealMemory=8000\n\
             PartitionName=main Nodes=n[1-4] Default=YES MaxTime=INFINITE{part}\n"
        );
        let mut rows: Vec<Row> = [0, 0, 2, 2].map(|start| (0, "main", "ada", "", 1, 1, 100, 3, 60, start)).to_vec();
        rows.push((3, "main", "ada", "", 8, 1, 100, 2, 20, 61));
        assert_as_recorded(&conf, "", &rows);
    }
}

/// Of two nodes with eight processors one has two threads on each core: four jobs of one processor
/// fill it, and eight fill the other.
#[test]
fn threads_are_those_of_the_node() {
    let conf = "PriorityType=priority/basic\nSelectTypeParameters=CR_Core\n\
        NodeName=n1 CPUs=8 Sockets=1 CoresPerSocket=4 ThreadsPerCore=2\nNodeName=n2 CPUs=8 Sockets=1 CoresPerSocket=8\n\
        PartitionName=s Nodes=n1 Default=YES MaxTime=INFINITE\nPartitionName=t Nodes=n2 MaxTime=INFINITE\n";
    let rows: Vec<Row> = [1, 1, 1, 1, 21, 21].map(|start| (0, "s", "ada", "", 1, 1, 0, 2, 20, start)).to_vec();
    assert_as_recorded(conf, "", &rows);
    let rows: Vec<Row> = [1; 8].map(|start| (0, "t", "ada", "", 1, 1, 0, 2, 20, start)).to_vec();
    assert_as_recorded(conf, "", &rows);
}

/// Without `SelectTypeParameters` memory is given out: 6,000 of 8,000 MB let no second job start.
#[test]
fn memory_is_given_out_unless_the_parameters_name_a_unit_alone() {
    let conf = |select: &str| {
        format!(
            "PriorityType=priority/basic\n{select}NodeName=n1 CPUs=8 RealMemory=8000\n\
             PartitionName=main Nodes=n1 Default=YES MaxTime=INFINITE\n"
        )
    };
    let rows: Vec<Row> = [0, 20, 40].map(|start| (0, "main", "ada", "", 2, 1, 3000, 2, 20, start)).to_vec();
    assert_as_recorded(&conf(""), "", &rows);
    assert_as_recorded(&conf("SelectTypeParameters=CR_LLN\n"), "", &rows);
    for unit in ["CR_Core", "CR_CPU", "CR_Socket", "CR_CORE,CR_LLN"] {
        let conf =
            SlurmConf::parse(&format!("{COMMON}{}", conf(&format!("SelectTypeParameters={unit}\n"))), "slurm.conf");
        assert!(!conf.expect("a configuration").counts_memory, "{unit}");
    }
}

/// The association of a partition has limits of its own, and leaves the user's other one alone,
/// in tables, dumps and scripts.
#[test]
fn associations_of_a_partition_stand_beside_the_others() {
    let conf = format!(
        "{DATABASE}SelectTypeParameters=CR_Core_Memory\nNodeName=n[1-2] CPUs=8 RealMemory=8000\n\
         PartitionName=pt Nodes=n1 Default=YES MaxTime=INFINITE\nPartitionName=px Nodes=n2 MaxTime=INFINITE\n"
    );
    let rows = [
        (0, "pt", "eve", "normal", 2, 0, 100, 5, 40, 1),
        (0, "pt", "eve", "normal", 2, 0, 100, 5, 40, 43),
        (0, "px", "eve", "normal", 2, 0, 100, 5, 40, 1),
        (0, "px", "eve", "normal", 2, 0, 100, 5, 40, 1),
    ];
    assert_as_recorded(&conf, "gen|eve|pt||1|1\nName|Priority\nnormal|0\n", &rows);
    let dump = "Cluster - 'c':Fairshare=1\nParent - 'root'\nAccount - 'gen':Fairshare=1\nParent - 'gen'\n\
        User - 'bob':DefaultAccount='gen':Fairshare=1\nUser - 'bob':Partition='gpu':Fairshare=1:MaxJobs=1\n";
    let script = "add account gen\nadd user bob account=gen\nadd user bob account=gen partition=gpu,big maxjobs=3\n\
        modify user bob where account=gen partition=gpu set maxjobs=1\n";
    for text in [dump, script] {
        let accounts = Accounts::parse(text, "accounts").expect("accounts");
        let most = |partition| {
            let assoc = accounts.find_in("gen", "bob", partition).expect("an association");
            accounts.assocs[assoc].limits.max_jobs
        };
        assert_eq!((most("gpu"), most("batch")), (Some(1), None), "{text}");
    }
}

/// With `assoc_limit_stop`, a job that Slurm knows to be over its longest limit stops no other job;
/// one whose processors a limit forbids does.
#[test]
fn a_job_that_is_known_to_be_limited_stops_no_other() {
    let conf = format!(
        "{DATABASE}PriorityType=priority/basic\nSelectTypeParameters=CR_Core_Memory\nNodeName=n1 CPUs=8 RealMemory=8000\n\
         PartitionName=main Nodes=n1 Default=YES MaxTime=INFINITE\n"
    )
    .replace("AccountingStorageEnforce", "SchedulerParameters=bf_interval=60,sched_interval=3,assoc_limit_stop\nAccountingStorageEnforce");
    let qos = "Name|Priority|MaxWall|MaxTRES\nnormal|0||\nshort|0|00:01:00|\nsmall|0||cpu=2\n";
    let rows = [(0, "main", "ada", "short", 1, 0, 100, 2, 15, -1), (1, "main", "ada", "normal", 1, 0, 100, 2, 15, 3)];
    for phase in 0..8 {
        let starts = starts(&conf, qos, &rows, phase);
        assert!(starts[0].is_none() && starts[1].is_some_and(|start| start < 10), "{starts:?}");
    }
    let rows = [(0, "main", "ada", "small", 3, 0, 100, 2, 15, -1), (1, "main", "ada", "normal", 1, 0, 100, 2, 15, -1)];
    let has_stop = (0..8).any(|phase| starts(&conf, qos, &rows, phase)[1].is_none_or(|start| start > 10));
    assert!(has_stop, "a limit on processors stops the partition");
}

/// Memory has a weight of 20,000 for the whole partition: the job with more of it comes first,
/// although it was submitted behind the other.
#[test]
fn memory_and_devices_count_in_priorities() {
    let conf = "PriorityType=priority/multifactor\nPriorityWeightTRES=Mem=20000\nSelectTypeParameters=CR_Core_Memory\n\
        NodeName=n1 CPUs=8 RealMemory=8000\nPartitionName=pm Nodes=n1 Default=YES MaxTime=INFINITE\n";
    let rows = [
        (0, "pm", "ada", "", 8, 0, 100, 5, 48, 1),
        (1, "pm", "ada", "", 8, 0, 100, 5, 10, 62),
        (1, "pm", "ada", "", 8, 0, 900, 5, 10, 51),
    ];
    assert_as_recorded(conf, "", &rows);
}
