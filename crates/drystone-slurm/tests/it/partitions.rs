//! Jobs that wait in several partitions until they start in one, by hand. Slurm's clocks stand
//! anywhere, so a start is within some seconds of what it waits for.

use drystone_slurm::accounts::Accounts;
use drystone_slurm::conf::SlurmConf;
use drystone_slurm::model::{ModelCluster, ModelMachine, NONE, Pending};
use drystone_slurm::site::{JobPriorities, ModelSite, Multifactor, SchedulerRules, replay_jobs};

const COMMON: &str = "SchedulerParameters=bf_interval=2,bf_resolution=1\nSelectType=select/cons_tres\n";

const ACCOUNTS: &str = "Account|User|ParentName|Share\nroot|||1\ngen||root|1\ngen|ada||1\n\
                        Name|Priority|GrpTRES|GrpSubmit\nnormal|0||\nfew|0|cpu=1|\nshut|0||2\n";

/// Submission, partitions in the order of the request, nodes, minutes of the limit, seconds that it
/// runs.
type Row = (i64, &'static [&'static str], u32, i64, i64);

fn site(conf: &str, phase: u64) -> ModelSite {
    let conf = SlurmConf::parse(&format!("{COMMON}{conf}"), "slurm.conf").expect("a configuration");
    let accounts = Accounts::parse(ACCOUNTS, "accounts").expect("accounts");
    let cluster = ModelCluster::from_conf(&conf, &accounts);
    let rules = SchedulerRules { phase, ..SchedulerRules::from_conf(&conf) };
    let priorities = Multifactor::from_conf(&conf).map(|rules| JobPriorities::new(rules, accounts));
    ModelSite::new(cluster, rules, priorities)
}

fn entries(machine: &ModelMachine, rows: &[Row]) -> Vec<Vec<Pending>> {
    let accounts = Accounts::parse(ACCOUNTS, "accounts").expect("accounts");
    let assoc = accounts.find_assoc("gen", "ada").map_or(NONE, |index| index as u32);
    let entry = |id: u32, &(submit, parts, nodes, minutes, _): &Row, part: &str| {
        let part = machine.parts.iter().position(|own| own.name == part).expect("a partition") as u16;
        let several = parts.len() > 1;
        let bounds = Pending { min_nodes: nodes, max_nodes: nodes, ..Pending::new(id, nodes, minutes * 60) };
        // First come, first served is the order of submission.
        Pending { part, several, submit, accrue: submit, assoc, user: 1, ..bounds }
    };
    (0..).zip(rows).map(|(id, row)| row.1.iter().map(|part| entry(id, row, part)).collect()).collect()
}

/// Starts are these, or up to four seconds later, wherever the clocks stand.
fn assert_starts(conf: &str, rows: &[Row], expected: &[i64]) {
    let runs: Vec<i64> = rows.iter().map(|row| row.4).collect();
    for phase in 0..8 {
        let mut site = site(conf, phase);
        let jobs = entries(&site.model_cluster().machine.clone(), rows);
        let starts = replay_jobs(&mut site, &jobs, &runs, &mut ());
        let near = |(start, expected): (&Option<i64>, &i64)| start.is_some_and(|at| (0..=4).contains(&(at - expected)));
        assert!(starts.iter().zip(expected).all(near), "phase {phase}: {starts:?}, expected {expected:?}");
        assert_eq!(site.model_cluster().running_count(), 0, "no job runs twice");
    }
}

const TWO: &str = "NodeName=n[1-4] CPUs=1\nPartitionName=long Nodes=n[1-2] Default=YES MaxTime=INFINITE\n\
                   PartitionName=short Nodes=n[3-4] MaxTime=INFINITE PriorityTier=5\n";

/// The second job wants two nodes of either partition. One of the first is taken for 600 s, so it
/// has the other at once. The third, of that partition alone, waits for it.
#[test]
fn a_job_starts_in_the_first_partition_with_room() {
    let rows: [Row; 3] = [(0, &["long"], 1, 10, 600), (10, &["long", "short"], 2, 5, 100), (20, &["short"], 1, 5, 100)];
    assert_starts(TWO, &rows, &[0, 10, 110]);
}

/// Job 2 wants two nodes of either. Its plan in `short`, behind job 0, keeps the idle node there
/// from job 3. At 100 s it starts in `long`, behind job 1, and no longer stands before job 3. A job
/// of `short` alone would keep it until 600 s.
#[test]
fn a_job_that_has_started_waits_in_no_other_partition() {
    let rows: [Row; 4] = [
        (0, &["short"], 1, 10, 600),
        (0, &["long"], 1, 10, 100),
        (10, &["short", "long"], 2, 5, 300),
        (12, &["short"], 1, 15, 60),
    ];
    assert_starts(TWO, &rows, &[0, 0, 100, 100]);
    let mut alone = rows;
    alone[2].1 = &["short"];
    assert_starts(TWO, &alone, &[0, 0, 600, 900]);
}

const LIMITED: &str = "AccountingStorageType=accounting_storage/slurmdbd\n\
    AccountingStorageEnforce=associations,limits,qos\nNodeName=n[1-3] CPUs=1\n\
    PartitionName=lim Nodes=n[1-3] Default=YES MaxTime=INFINITE PriorityTier=2 QOS=few\n\
    PartitionName=free Nodes=n[1-3] MaxTime=INFINITE\n";

/// The limit of a partition's QOS holds there alone: the second job starts in the other partition,
/// and counts for no limit of the first. The third has to wait for the first job's processor.
#[test]
fn a_limit_of_one_partition_leaves_the_other() {
    let rows: [Row; 3] = [(0, &["lim"], 1, 10, 300), (10, &["lim", "free"], 1, 10, 600), (20, &["lim"], 1, 10, 60)];
    assert_starts(LIMITED, &rows, &[0, 10, 300]);
}

/// `GrpSubmit=2` of the QOS of `shut`, as a real 22.05 was seen to count it. Job 1 has started in
/// `free` and counts there, so job 2 is the second of `shut`. Job 3 names `free` first, and is
/// refused for `shut` all the same until job 2 ends.
#[test]
fn a_submission_counts_where_the_job_starts_and_is_refused_by_any_partition() {
    let conf = "AccountingStorageType=accounting_storage/slurmdbd\n\
        AccountingStorageEnforce=associations,limits,qos\nNodeName=n[1-4] CPUs=1\n\
        PartitionName=shut Nodes=n[1-2] Default=YES MaxTime=INFINITE QOS=shut\n\
        PartitionName=free Nodes=n[3-4] MaxTime=INFINITE\n";
    let rows: [Row; 4] = [
        (0, &["shut"], 1, 10, 300),
        (4, &["shut", "free"], 2, 10, 100),
        (14, &["shut"], 1, 10, 200),
        (16, &["free", "shut"], 1, 10, 50),
    ];
    assert_starts(conf, &rows, &[0, 4, 14, 214]);
}

/// A factor of partitions gives each entry a priority of its own: the job is ahead of the other in
/// one partition and behind it in the other. One node is free at 300 s, and both could have it.
#[test]
fn each_partition_has_its_own_priority() {
    let conf = "PriorityType=priority/multifactor\nPriorityWeightPartition=1000\nNodeName=n1 CPUs=1\n\
                PartitionName=low Nodes=n1 Default=YES MaxTime=INFINITE PriorityJobFactor=1\n\
                PartitionName=mid Nodes=n1 MaxTime=INFINITE PriorityJobFactor=5\n\
                PartitionName=top Nodes=n1 MaxTime=INFINITE PriorityJobFactor=10\n";
    let rows: [Row; 3] = [(0, &["low"], 1, 10, 300), (10, &["mid"], 1, 10, 60), (20, &["low", "top"], 1, 10, 60)];
    assert_starts(conf, &rows, &[0, 360, 300]);
    let mut alone = rows;
    alone[2].1 = &["low"];
    assert_starts(conf, &alone, &[0, 300, 360]);
}

/// A job that is withdrawn, or whose limit no longer suits a partition, leaves all entries, or that
/// one.
#[test]
fn withdrawn_jobs_wait_nowhere() {
    let rows: [Row; 3] = [(0, &["long"], 2, 10, 600), (0, &["short"], 2, 10, 300), (10, &["long", "short"], 2, 5, 100)];
    let mut site = site(TWO, 0);
    let jobs = entries(&site.model_cluster().machine.clone(), &rows);
    let mut deeds = Vec::new();
    for job in &jobs {
        site.advance_to(job[0].submit, &mut deeds, &mut ());
        site.submit(job[0].submit, job);
    }
    site.advance_to(20, &mut deeds, &mut ());
    assert_eq!(site.model_cluster().running_count(), 2);
    let mut copy = site.clone();
    site.cancel_job(30, 2);
    site.end_job(300, 1);
    site.advance_to(400, &mut deeds, &mut ());
    assert_eq!(site.model_cluster().running_count(), 1, "nothing has started in its place");
    // Only the first partition allows the new limit.
    copy.change_limit(&[Pending { limit: 6_000, ..jobs[2][0].clone() }]);
    copy.end_job(300, 1);
    copy.advance_to(400, &mut deeds, &mut ());
    assert_eq!(copy.model_cluster().running_count(), 1);
    copy.end_job(600, 0);
    copy.advance_to(700, &mut deeds, &mut ());
    assert_eq!(copy.model_cluster().get(2).map(|job| (job.job.part, job.job.limit)), Some((0, 6_000)));
}
