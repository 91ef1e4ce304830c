//! Limits of QOS under arrays, memory and GPUs that the policy counts, and the site's own
//! priorities.

use super::site::{Site, Tests, until, user, within};
use super::users::{as_user, as_user_submits, ordinary};
use drystone_live::cluster::ClusterOrder;
use drystone_testbed::ClusterOptions;
use std::time::Duration;

pub(crate) fn tests() -> Tests {
    vec![
        ("an_array_under_a_limit_of_a_qos_blocks_no_other_user", array_under_a_limit),
        ("memory_and_gpus_are_counted_by_the_policy", counted),
        ("licences_are_counted_by_the_policy", licences),
        ("the_sites_own_priorities_order_jobs", site_order),
        ("a_job_that_no_nodes_can_hold_freezes_nothing", never),
    ]
}

const RUNS: [&str; 3] = ["R", "CG", "CD"];

fn array_under_a_limit() {
    let account = format!("add user {} account=a", user());
    let other_user = format!("add user {} account=a", ordinary());
    let accounts = ["add account a", &account, &other_user, "modify qos normal set MaxJobsPerUser=2"];
    let lines = ["AccountingStorageEnforce=limits,qos"].map(String::from).to_vec();
    let accounts = Some(accounts.map(String::from).to_vec());
    let Some(site) =
        Site::with(ClusterOptions { nodes: 1, cpus: 8, lines, accounts, ..ClusterOptions::default() }, "easy")
    else {
        return;
    };
    let _daemon = site.drive();
    let array = site.submit_with(1, 5, 5, &["--array=1-12"]);
    let tasks = format!("{array}_");
    let runs = || site.states().iter().filter(|(name, state)| *state == "R" && name.starts_with(&tasks)).count();
    within(Duration::from_secs(60), "two tasks run", || runs() == 2);
    let Some(small) = as_user_submits(&site, &["-n", "1", "-t", "1"], 1) else { return };
    within(Duration::from_secs(20), &format!("the other user's job starts: {}", site.told()), || {
        RUNS.contains(&site.state(small).as_str())
    });
    let mut most = 0;
    within(Duration::from_secs(150), "all tasks have their turn", || {
        most = most.max(runs());
        site.states().values().filter(|state| *state == "CD").count() == 13
    });
    assert_eq!(most, 2);
    let releases = site.orders().iter().filter(|order| matches!(order, ClusterOrder::Release(_))).count();
    println!("{releases} releases of 13 jobs");
    assert!(releases <= 12 * 4 + 8, "{releases} releases of 13 jobs");
    site.settled();
    site.each_started_once(13);
}

/// Its owner reduces a job of all processors to one task: Slurm keeps its processors on one node,
/// which has only half of them, and takes its priority each time that it is released. The others go
/// on, also under the next daemon.
fn never() {
    for policy in ["easy", "conservative", "easy by count"] {
        let Some(site) = Site::start(2, 4, policy) else { return };
        let mut daemon = site.drive();
        let running = site.submit(8, 30, 5);
        site.await_state(running, &["R"]);
        let Some(job) = as_user_submits(&site, &["-n", "8", "-t", "5"], 1) else { return };
        until("it waits", || site.published()["jobs"]["waiting"] == 1);
        let update = as_user(&site, "scontrol", &["update", &format!("JobId={job}"), "NumTasks=1"]).expect("root");
        assert!(update.status.success(), "{}", String::from_utf8_lossy(&update.stderr));
        let small = site.submit(1, 1, 1);
        let wide = site.submit(8, 1, 1);
        site.tell("scancel", &[&running.to_string()]);
        within(Duration::from_secs(30), &format!("{policy}: the others run: {}", site.told()), || {
            [small, wide].iter().all(|&job| site.state(job) == "CD")
        });
        daemon.kill();
        let _daemon = site.drive();
        let wide = site.submit(8, 1, 1);
        within(Duration::from_secs(20), &format!("{policy}: and after a restart: {}", site.told()), || {
            site.state(wide) == "CD"
        });
        let is_try = |order: &&ClusterOrder| matches!(order, ClusterOrder::Release(key) if key.id == job);
        let tries = site.orders().iter().filter(is_try).count();
        // Pauses begin with a minute.
        assert!((1..=3).contains(&tries), "{policy}: {tries} releases");
        let status = site.published().to_string();
        assert!(status.contains("no nodes of its partition meet its request"), "{policy}: {status}");
        assert_eq!(site.state(job), "held");
    }
}

/// Of two licences a job of a partition that is not driven has one. Of two jobs that ask for one
/// each, the policy releases one, and the other when the site has a third licence; a job without
/// licences does not wait.
fn licences() {
    let partitions = ["main", "other"].map(|name| {
        let default = if name == "main" { "YES" } else { "NO" };
        format!("PartitionName={name} Nodes=n1 Default={default} MaxTime=60 State=UP")
    });
    let (lines, partitions) = (vec!["Licenses=matlab:2".into()], partitions.to_vec());
    let options = ClusterOptions { nodes: 1, cpus: 8, lines, partitions, ..ClusterOptions::default() };
    let Some(site) = Site::with(options, "easy") else { return };
    let _daemon = site.drive();
    let other_job = site.submit_with(1, 60, 5, &["-p", "other", "-L", "matlab:1"]);
    site.await_state(other_job, &["R"]);
    let pair: Vec<u64> = (0..2).map(|_| site.submit_with(1, 60, 5, &["-L", "matlab:1"])).collect();
    site.await_state(pair[0], &["R"]);
    let plain = site.submit(1, 1, 5);
    site.await_state(plain, &["CD"]);
    let is_release = |order: &&ClusterOrder| matches!(order, ClusterOrder::Release(key) if key.id == pair[1]);
    assert_eq!((site.state(pair[1]), site.orders().iter().filter(is_release).count()), ("held".to_string(), 0));
    let conf = site.cluster.conf_path();
    let text = std::fs::read_to_string(&conf).expect("there");
    std::fs::write(&conf, text.replace("matlab:2", "matlab:3")).expect("written");
    site.tell("scontrol", &["reconfigure"]);
    site.await_state(pair[1], &["R"]);
    assert_eq!(site.orders().iter().filter(is_release).count(), 1);
    site.settled();
    site.each_started_once(4);
    site.replays();
}

/// The policy starts no job whose memory or GPU is taken: nothing is released in vain, a job behind
/// starts in the place of one that has to wait, and GPU jobs are the policy's.
fn counted() {
    let lines = vec!["SelectTypeParameters=CR_Core_Memory".into()];
    let gres = Some("gpu:2".to_string());
    let options = ClusterOptions { nodes: 1, cpus: 8, memory: 8_000, gres, lines, ..ClusterOptions::default() };
    let Some(site) = Site::with(options, "easy") else { return };
    let _daemon = site.drive();
    let gpus: Vec<u64> = (0..3).map(|_| site.submit_with(1, 8, 1, &["--mem=100", "--gres=gpu:1"])).collect();
    within(Duration::from_secs(30), "two GPU jobs run", || gpus[..2].iter().all(|&job| site.state(job) == "R"));
    let wide = site.submit_with(1, 8, 1, &["--mem=6000"]);
    within(Duration::from_secs(30), "the one with much memory runs", || site.state(wide) == "R");
    let more = site.submit_with(1, 1, 1, &["--mem=6000"]);
    let small = site.submit_with(1, 1, 1, &["--mem=100"]);
    within(Duration::from_secs(8), "the small one starts at once", || RUNS.contains(&site.state(small).as_str()));
    let status = site.published();
    assert_eq!((site.state(gpus[2]).as_str(), site.state(more).as_str()), ("held", "held"), "{}", site.told());
    assert_eq!(status["left_out"], serde_json::json!({}), "nothing is left to Slurm");
    site.drain(Duration::from_secs(60));
    let releases = site.orders().iter().filter(|order| matches!(order, ClusterOrder::Release(_))).count();
    assert_eq!(releases, 6, "no release was in vain");
    site.settled();
    site.each_started_once(6);
    site.replays();
}

/// Fair share and QOS under `easy(order=site)`: the later job of a higher QOS leads, and the user
/// with less use leads.
fn site_order() {
    let me = user();
    let own = format!("add user {me} account=a");
    let classes = format!("modify user {me} set qos=normal,high");
    let other_user = format!("add user {} account=b", ordinary());
    let accounts = [
        "add account a",
        "add account b",
        &own,
        &other_user,
        "add qos high",
        "modify qos high set priority=100",
        &classes,
    ];
    let lines = [
        "AccountingStorageEnforce=associations,qos",
        "PriorityType=priority/multifactor",
        "PriorityWeightQOS=100000",
        "PriorityWeightFairshare=1000",
        "PriorityWeightAge=1",
        "PriorityCalcPeriod=1",
    ];
    let options = ClusterOptions {
        nodes: 1,
        cpus: 4,
        lines: lines.map(String::from).to_vec(),
        accounts: Some(accounts.map(String::from).to_vec()),
        ..ClusterOptions::default()
    };
    let Some(site) = Site::with(options, "easy(order=site)") else { return };
    // Without that order priorities of the site forbid to drive.
    let output = site.command(&["live", "drive", "--policy", "easy", "--check"]).output().expect("runs");
    assert!(String::from_utf8_lossy(&output.stderr).contains("order=site"), "{output:?}");
    let _daemon = site.drive();
    // Four processors for more than a minute are all the use there is: it is the first user's.
    let blocker = site.submit(4, 140, 10);
    site.await_state(blocker, &["R"]);
    let root_job = site.submit(4, 3, 1);
    let Some(user_job) = as_user_submits(&site, &["-n", "4", "-t", "1"], 3) else { return };
    let high = site.submit_with(4, 3, 1, &["--qos=high"]);
    site.drain(Duration::from_secs(240));
    let times = super::depends::times(&site);
    let start = |job: u64| times[&job.to_string()].0;
    let starts: Vec<(u64, i64)> = [high, user_job, root_job].iter().map(|&job| (job, start(job))).collect();
    assert!(starts.is_sorted_by_key(|&(_, start)| start), "QOS first, then the user without use: {starts:?}");
    site.each_started_once(4);
    site.replays();
}
