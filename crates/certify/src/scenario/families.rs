//! The families of scenarios: what each exercises, and how it is drawn.

use super::draw::ScenarioDraw;
use super::preempting;
use super::setup::{FAST, USERS, own_lines, scenario_on};
use super::{Scenario, SleepingJob};

type Make = fn(&mut ScenarioDraw) -> Scenario;

pub const FAMILIES: &[(&str, Make)] = &[
    ("plain", draw_plain),
    ("brief", draw_brief),
    ("parts", draw_partitions),
    ("tiers", draw_tiers),
    ("cores", draw_cores),
    ("mixed", draw_mixed_nodes),
    ("exclusive", draw_exclusive),
    ("counts", draw_job_counts),
    ("reserve", draw_plan_reserve),
    ("depth", draw_test_depth),
    ("starts", draw_start_limits),
    ("table", draw_plan_table),
    ("linear", draw_linear_search),
    ("defer", draw_deferral),
    ("quick", draw_quick_main),
    ("age", draw_age_order),
    ("fair-tree", fair_tree),
    ("classic", draw_classic_shares),
    ("factors", draw_all_factors),
    ("limits", draw_user_limits),
    ("limit-stop", limit_stop),
    ("submits", draw_submit_limits),
    ("arrays", draw_arrays),
    ("overruns", draw_overruns),
    ("yields", draw_yields),
    ("continue", goes_on),
    ("long-pass", long_pass),
    ("preempt-requeue", preempting::draw_requeue),
    ("preempt-cancel", preempting::draw_cancel),
    ("preempt-suspend", preempting::draw_suspend),
    ("preempt-qos", preempting::draw_qos),
    ("preempt-grace", preempting::draw_grace),
];
const SIZES: [u32; 13] = [1, 1, 1, 1, 2, 2, 3, 4, 4, 6, 8, 11, 16];

/// Any parameters that the recordings of others cover, in new combinations.
fn draw_plain(draw: &mut ScenarioDraw) -> Scenario {
    let jobs = draw.draw_jobs(60, 90, &SIZES);
    let interval = draw.draw_within(2, 12);
    let resolution = draw.draw_item(&[1, 7, 30, 60]);
    let window = draw.draw_item(&[1, 2, 5, 60, 1440]);
    let mut scenario =
        scenario_on(16, 1, &format!("bf_interval={interval},bf_resolution={resolution},bf_window={window}"), jobs);
    if draw.draw_chance(50) {
        scenario.options.lines = own_lines(&["Epilog=/bin/true"]);
    }
    scenario
}

/// As much of that as fits into less than a minute: for a test that is made again and again.
fn draw_brief(draw: &mut ScenarioDraw) -> Scenario {
    let mut jobs = draw.draw_jobs(22, 12, &[1, 1, 2, 2, 3, 4, 6, 9]);
    for job in &mut jobs {
        job.run = draw.draw_within(2, 7);
    }
    let interval = draw.draw_within(2, 5);
    let resolution = draw.draw_item(&[1, 7, 30, 60]);
    let window = draw.draw_item(&[1, 2, 5, 1440]);
    let parameters = format!("bf_interval={interval},bf_resolution={resolution},bf_window={window}");
    let mut scenario = scenario_on(10, 1, &parameters, jobs);
    if draw.draw_chance(50) {
        scenario.options.lines = own_lines(&["Epilog=/bin/true"]);
    }
    scenario.patience = 180;
    scenario
}

/// Disjoint partitions with limits of their own.
fn draw_partitions(draw: &mut ScenarioDraw) -> Scenario {
    let mut jobs = draw.draw_jobs(60, 90, &[1, 1, 2, 3, 4, 5, 8]);
    for job in &mut jobs {
        job.partition = Some(draw.draw_item(&["left", "right"]).to_string());
        if job.partition.as_deref() == Some("right") {
            job.limit = job.limit.min(2);
            job.n = job.n.min(6);
        }
    }
    let mut scenario = scenario_on(16, 1, FAST, jobs);
    scenario.options.partitions = own_lines(&[
        "PartitionName=left Nodes=n[1-10] Default=YES MaxTime=INFINITE State=UP",
        "PartitionName=right Nodes=n[11-16] MaxTime=2 State=UP",
    ]);
    scenario
}

/// Overlapping partitions of two tiers.
fn draw_tiers(draw: &mut ScenarioDraw) -> Scenario {
    let mut jobs = draw.draw_jobs(60, 90, &[1, 1, 2, 3, 4, 5, 8]);
    for job in &mut jobs {
        job.partition = Some(draw.draw_item(&["all", "all", "high", "half"]).to_string());
    }
    let mut scenario = scenario_on(16, 1, FAST, jobs);
    scenario.options.partitions = own_lines(&[
        "PartitionName=all Nodes=n[1-16] Default=YES MaxTime=INFINITE State=UP PriorityTier=1",
        "PartitionName=high Nodes=n[1-16] MaxTime=INFINITE State=UP PriorityTier=5",
        "PartitionName=half Nodes=n[9-16] MaxTime=INFINITE State=UP PriorityTier=2",
    ]);
    scenario
}

/// Nodes that jobs share by cores, some jobs with a number of nodes.
fn draw_cores(draw: &mut ScenarioDraw) -> Scenario {
    let mut jobs = draw.draw_jobs(60, 90, &[1, 1, 2, 2, 3, 4, 4, 6, 8, 12, 16, 20, 32]);
    for job in &mut jobs {
        job.one = job.n <= 8 && draw.draw_chance(40);
        job.nodes = (!job.one && job.n > 1 && draw.draw_chance(30))
            .then(|| draw.draw_within(1, job.n.min(4)).max(job.n.div_ceil(8)));
    }
    scenario_on(5, 8, FAST, jobs)
}

/// Nodes of different sizes.
fn draw_mixed_nodes(draw: &mut ScenarioDraw) -> Scenario {
    let mut scenario = draw_cores(draw);
    for job in &mut scenario.jobs {
        job.n = job.n.min(26);
        job.nodes = None;
    }
    scenario.options.node_cpus = vec![2, 8, 4, 8, 4];
    scenario
}

/// Whole nodes for some jobs, and for all of one partition.
fn draw_exclusive(draw: &mut ScenarioDraw) -> Scenario {
    let mut jobs = draw.draw_jobs(60, 90, &[1, 1, 2, 2, 3, 4, 4, 6, 8, 12, 16]);
    for job in &mut jobs {
        job.one = job.n <= 4 && draw.draw_chance(40);
        job.exclusive = draw.draw_chance(25);
        job.partition = Some(draw.draw_item(&["shared", "shared", "whole"]).to_string());
    }
    let mut scenario = scenario_on(6, 4, FAST, jobs);
    scenario.options.partitions = own_lines(&[
        "PartitionName=shared Nodes=n[1-6] Default=YES MaxTime=INFINITE State=UP",
        "PartitionName=whole Nodes=n[3-6] MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE",
    ]);
    scenario
}

/// Limits on the jobs of a user, a partition, both.
fn draw_job_counts(draw: &mut ScenarioDraw) -> Scenario {
    let mut jobs = draw.draw_jobs(70, 60, &SIZES);
    for job in &mut jobs {
        job.user = Some(draw.draw_item(&[USERS[0], USERS[0], USERS[0], USERS[1], USERS[2]]).to_string());
        job.partition = Some(draw.draw_item(&["a", "a", "b"]).to_string());
    }
    let (user, part, user_part) = (draw.draw_within(0, 4), draw.draw_within(0, 8), draw.draw_within(2, 5));
    let limits = format!("bf_max_job_user={user},bf_max_job_part={part},bf_max_job_user_part={user_part}");
    let mut scenario = scenario_on(16, 1, &format!("{FAST},{limits}"), jobs);
    scenario.options.partitions = own_lines(&[
        "PartitionName=a Nodes=n[1-16] Default=YES MaxTime=INFINITE State=UP",
        "PartitionName=b Nodes=n[1-16] MaxTime=INFINITE State=UP",
    ]);
    scenario
}

/// Jobs that get no plan: of low priority, young, or behind others of their partition.
fn draw_plan_reserve(draw: &mut ScenarioDraw) -> Scenario {
    let mut jobs = draw.draw_jobs(60, 90, &SIZES);
    for job in &mut jobs {
        job.nice = draw.draw_chance(40).then(|| draw.draw_item(&[100, 300, 600]));
    }
    let (plans, age, prio) = (draw.draw_within(0, 3), draw.draw_item(&[0, 10, 25]), draw.draw_item(&[0, 300, 500]));
    let limits = format!("bf_job_part_count_reserve={plans},bf_min_age_reserve={age},bf_min_prio_reserve={prio}");
    let mut scenario = scenario_on(16, 1, &format!("{FAST},{limits}"), jobs);
    scenario.options.lines =
        own_lines(&["PriorityType=priority/multifactor", "PriorityWeightJobSize=1000", "PriorityFavorSmall=NO"]);
    scenario
}

/// Few jobs are looked at.
fn draw_test_depth(draw: &mut ScenarioDraw) -> Scenario {
    let mut jobs = draw.draw_jobs(80, 60, &SIZES);
    for job in &mut jobs {
        job.partition = Some(draw.draw_item(&["a", "b"]).to_string());
    }
    let (test, quick, part) = (draw.draw_within(2, 8), draw.draw_within(1, 6), draw.draw_within(0, 4));
    let limits = format!("bf_max_job_test={test},default_queue_depth={quick},partition_job_depth={part}");
    let mut scenario = scenario_on(16, 1, &format!("{FAST},{limits}"), jobs);
    scenario.options.partitions = own_lines(&[
        "PartitionName=a Nodes=n[1-11] Default=YES MaxTime=INFINITE State=UP",
        "PartitionName=b Nodes=n[6-16] MaxTime=INFINITE State=UP",
    ]);
    scenario.jobs.iter_mut().for_each(|job| job.n = job.n.min(11));
    scenario
}

/// Few jobs start in one pass.
fn draw_start_limits(draw: &mut ScenarioDraw) -> Scenario {
    let jobs = draw.draw_jobs(70, 80, &[1, 1, 1, 2, 2, 3, 4, 8]);
    let (backfill, main) = (draw.draw_within(1, 3), draw.draw_within(1, 2));
    scenario_on(16, 1, &format!("{FAST},bf_max_job_start={backfill},sched_max_job_start={main}"), jobs)
}

fn draw_plan_table(draw: &mut ScenarioDraw) -> Scenario {
    let jobs = draw.draw_jobs(70, 70, &SIZES);
    let records = draw.draw_within(2, 12);
    scenario_on(16, 1, &format!("{FAST},bf_node_space_size={records}"), jobs)
}

/// The search for a start widens by a constant.
fn draw_linear_search(draw: &mut ScenarioDraw) -> Scenario {
    let jobs = draw.draw_jobs(60, 70, &[1, 1, 2, 3, 5, 7, 9, 12, 15]);
    let step = draw.draw_item(&[1, 10, 45]);
    scenario_on(16, 1, &format!("{FAST},bf_window_linear={step}"), jobs)
}

/// Ends only ask for a pass, although there is an Epilog.
fn draw_deferral(draw: &mut ScenarioDraw) -> Scenario {
    let jobs = draw.draw_jobs(60, 90, &SIZES);
    let delay = draw.draw_item(&[1, 3, 6]);
    let mut scenario =
        scenario_on(16, 1, &format!("bf_interval=4,bf_resolution=1,defer,batch_sched_delay={delay}"), jobs);
    scenario.options.lines = own_lines(&["Epilog=/bin/true"]);
    scenario
}

/// A main scheduler that runs often, and hardly any backfill.
fn draw_quick_main(draw: &mut ScenarioDraw) -> Scenario {
    let jobs = draw.draw_jobs(60, 90, &SIZES);
    scenario_on(16, 1, "bf_interval=15,sched_interval=2,batch_sched_delay=1", jobs)
}

/// Accounts with users: two of equal shares, one of more, one below another.
fn account_lines(enforce: &str, more: &[&str]) -> (Vec<String>, Vec<String>) {
    let mut add = own_lines(&[
        "add account physics fairshare=3",
        "add account chemistry fairshare=2",
        "add account lasers parent=physics fairshare=1",
    ]);
    for (user, account, shares) in [
        (0, "physics", 1),
        (1, "physics", 2),
        (2, "chemistry", 1),
        (3, "chemistry", 1),
        (4, "lasers", 1),
        (5, "lasers", 4),
    ] {
        add.push(format!("add user {} account={account} fairshare={shares}", USERS[user]));
    }
    // Where tests do not run as root, all jobs are those of one user.
    let own = drystone_testbed::command_output("id", &["-un"]).unwrap_or_default();
    add.extend(["physics", "chemistry", "lasers"].map(|account| format!("add user {own} account={account}")));
    add.extend(own_lines(more));
    let conf = vec!["PriorityType=priority/multifactor".to_string(), format!("AccountingStorageEnforce={enforce}")];
    (add, conf)
}

/// Gives the jobs users, and accounts of theirs.
fn assign_users(draw: &mut ScenarioDraw, jobs: &mut [SleepingJob]) {
    for job in jobs {
        let (user, account) = draw.draw_item(&[
            (0, "physics"),
            (0, "physics"),
            (0, "physics"),
            (1, "physics"),
            (2, "chemistry"),
            (3, "chemistry"),
            (4, "lasers"),
            (5, "lasers"),
        ]);
        job.user = Some(USERS[user].to_string());
        job.account = Some(account.to_string());
    }
}

fn draw_accounted(draw: &mut ScenarioDraw, parameters: &str, enforce: &str, more: &[&str], conf: &[&str]) -> Scenario {
    let mut jobs = draw.draw_jobs(55, 110, &[1, 1, 1, 1, 2, 2, 3, 4, 4, 6, 8, 12]);
    assign_users(draw, &mut jobs);
    let (add, mut own) = account_lines(enforce, more);
    own.extend(own_lines(conf));
    let mut scenario = scenario_on(16, 1, parameters, jobs);
    scenario.options.accounts = Some(add);
    scenario.options.lines = own;
    scenario
}

/// Old jobs first, more or less: large ones count as well.
fn draw_age_order(draw: &mut ScenarioDraw) -> Scenario {
    let conf =
        ["PriorityWeightAge=1000", "PriorityMaxAge=0-0:03:00", "PriorityWeightJobSize=500", "PriorityCalcPeriod=1"];
    draw_accounted(draw, FAST, "associations", &[], &conf)
}

const FAIR: [&str; 3] = ["PriorityWeightFairshare=10000", "PriorityDecayHalfLife=0-0:04:00", "PriorityCalcPeriod=1"];

fn fair_tree(draw: &mut ScenarioDraw) -> Scenario {
    draw_accounted(draw, FAST, "associations", &[], &FAIR)
}

fn draw_classic_shares(draw: &mut ScenarioDraw) -> Scenario {
    let conf = [&FAIR[..], &["PriorityFlags=NO_FAIR_TREE"]].concat();
    draw_accounted(draw, FAST, "associations", &[], &conf)
}

/// Every other factor at once.
fn draw_all_factors(draw: &mut ScenarioDraw) -> Scenario {
    let more = [
        "modify qos normal set priority=10",
        "add qos urgent priority=100",
        "modify account physics set qos=normal,urgent",
        "modify account chemistry set qos=normal,urgent priority=40",
        "modify user name=sys set priority=80",
    ];
    let conf = [
        "PriorityWeightQOS=1000",
        "PriorityWeightPartition=700",
        "PriorityWeightAssoc=500",
        "PriorityWeightTRES=CPU=800,Node=300",
        "PriorityWeightAge=300",
        "PriorityMaxAge=0-0:02:00",
        "PriorityWeightJobSize=400",
        "PriorityFavorSmall=YES",
        "PriorityCalcPeriod=1",
    ];
    let mut scenario = draw_accounted(draw, FAST, "associations,qos", &more, &conf);
    for job in &mut scenario.jobs {
        job.partition = Some(draw.draw_item(&["a", "b"]).to_string());
        job.qos = draw.draw_chance(20).then(|| "urgent".to_string());
        job.nice = draw.draw_chance(20).then(|| draw.draw_item(&[50, 200]));
    }
    scenario.options.partitions = own_lines(&[
        "PartitionName=a Nodes=n[1-16] Default=YES MaxTime=INFINITE State=UP PriorityJobFactor=5",
        "PartitionName=b Nodes=n[1-16] MaxTime=INFINITE State=UP PriorityJobFactor=20",
    ]);
    scenario
}

/// Limits of associations and QOS on what runs.
const LIMITS: [&str; 7] = [
    "modify account physics set grptres=cpu=9",
    "modify user name=daemon account=physics set maxjobs=3",
    "modify account chemistry set grpjobs=4",
    "add qos small maxtresperuser=cpu=5 maxjobsperuser=3",
    "modify qos normal set maxtresperaccount=cpu=12",
    "modify account physics set qos=normal,small",
    "modify account chemistry set qos=normal,small",
];

fn draw_user_limits(draw: &mut ScenarioDraw) -> Scenario {
    let mut scenario = draw_accounted(draw, FAST, "limits,qos", &LIMITS, &[]);
    for job in &mut scenario.jobs {
        job.qos = draw.draw_chance(30).then(|| "small".to_string());
        let most = match (job.qos.as_deref(), job.account.as_deref()) {
            (Some(_), _) => 4,
            (_, Some("chemistry")) => 12,
            _ => 9,
        };
        job.n = job.n.min(most);
    }
    scenario
}

fn limit_stop(draw: &mut ScenarioDraw) -> Scenario {
    let mut scenario = draw_user_limits(draw);
    scenario.options.parameters += ",assoc_limit_stop";
    scenario
}

/// A limit on what may be submitted, and on how long jobs may run.
fn draw_submit_limits(draw: &mut ScenarioDraw) -> Scenario {
    let more =
        ["modify user name=daemon account=physics set maxsubmit=4", "modify account chemistry set maxwall=00:02:00"];
    let mut scenario = draw_accounted(draw, FAST, "limits", &more, &[]);
    scenario.jobs.truncate(50);
    for job in &mut scenario.jobs {
        job.limit = if job.account.as_deref() == Some("chemistry") { job.limit.min(2) } else { job.limit };
    }
    scenario
}

/// Arrays, some with a throttle, some longer than what gets plans.
fn draw_arrays(draw: &mut ScenarioDraw) -> Scenario {
    let mut jobs = draw.draw_jobs(30, 80, &[1, 1, 2, 3, 4, 6, 9]);
    for job in &mut jobs {
        if draw.draw_chance(40) {
            job.array = Some((draw.draw_within(2, 12), draw.draw_chance(40).then(|| draw.draw_within(1, 3))));
            job.n = job.n.min(4);
        }
    }
    let most = draw.draw_item(&["", ",bf_max_job_array_resv=3"]);
    scenario_on(16, 1, &format!("{FAST}{most}"), jobs)
}

/// Jobs that run past their limits.
fn draw_overruns(draw: &mut ScenarioDraw) -> Scenario {
    let mut jobs = draw.draw_jobs(40, 80, &[1, 1, 2, 3, 5, 8, 12]);
    for job in &mut jobs {
        if draw.draw_chance(30) {
            job.limit = 1;
            job.run = draw.draw_within(70, 200);
        }
    }
    let mut scenario = scenario_on(16, 1, FAST, jobs);
    scenario.options.lines = own_lines(&[draw.draw_item(&["OverTimeLimit=0", "OverTimeLimit=1"]), "KillWait=5"]);
    scenario
}

/// Backfill lets go of its locks after each job, so that passes take many seconds.
fn draw_yields(draw: &mut ScenarioDraw) -> Scenario {
    let jobs = draw.draw_jobs(50, 90, &SIZES);
    scenario_on(16, 1, "bf_interval=3,bf_resolution=1,bf_yield_interval=1,bf_yield_sleep=300000,bf_max_time=60", jobs)
}

fn goes_on(draw: &mut ScenarioDraw) -> Scenario {
    let mut scenario = draw_yields(draw);
    scenario.options.parameters += ",bf_continue";
    scenario
}

/// Passes that are cut after a few seconds.
fn long_pass(draw: &mut ScenarioDraw) -> Scenario {
    let jobs = draw.draw_jobs(50, 90, &SIZES);
    scenario_on(
        16,
        1,
        "bf_interval=3,bf_resolution=1,bf_yield_interval=1,bf_yield_sleep=400000,bf_max_time=3,bf_continue",
        jobs,
    )
}
