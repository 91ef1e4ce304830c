//! Nodes that are drained or fail: in flight, under running jobs, under suspended ones.

use super::depends::times;
use super::site::{Site, Tests, until, user, within};
use drystone::policy::Action;
use drystone_live::cluster::ClusterOrder;
use drystone_live::journal::{self, JournalRecord};
use drystone_testbed::ClusterOptions;
use std::time::{Duration, Instant};

pub(crate) fn tests() -> Tests {
    vec![
        ("node_drained_in_flight_and_running", || drained("easy by count")),
        ("node_drained_under_a_policy_on_nodes", || drained("easy")),
        ("node_down_under_a_running_job", || down("easy by count")),
        ("node_down_under_a_policy_on_nodes", || down("easy")),
        ("node_drained_under_a_suspended_job", under_suspended),
        ("jobs_without_room_on_one_node_are_decided_rarely", || in_pieces("easy by count")),
        ("jobs_without_room_under_a_policy_on_nodes", || in_pieces("easy")),
        ("a_job_for_whole_nodes_is_not_overtaken_for_ever", || overtaken("easy by count")),
        ("a_job_for_whole_nodes_has_them_reserved", || overtaken("conservative")),
        ("the_nodes_that_jobs_ask_for_are_the_policys", asked_for),
        ("what_the_system_keeps_of_a_node_is_not_the_policys", kept),
        ("jobs_keep_clear_of_a_reservation", reserved),
        ("a_node_that_comes_is_named", comes),
    ]
}

fn offline(site: &Site) -> Option<u64> {
    site.published()["machine"]["offline"].as_u64()
}

fn set(site: &Site, node: &str, state: &str) {
    let name = format!("NodeName={node}");
    let state = format!("State={state}");
    site.tell("scontrol", &["update", &name, &state, "Reason=test"]);
}

fn drained(policy: &str) {
    let Some(site) = Site::start(2, 4, policy) else { return };
    let _daemon = site.drive();
    let running = site.submit_with(2, 12, 5, &["-w", "n2"]);
    site.await_state(running, &["R"]);
    set(&site, "n2", "DRAIN");
    until("capacity falls", || offline(&site) == Some(4));
    assert_eq!(site.state(running), "R", "jobs there continue to run");
    // It wants a node that is out: it is let go, does not start, and is held again within ten
    // seconds.
    let wide = site.submit(8, 1, 5);
    let bound = site.submit_with(1, 1, 5, &["-w", "n2"]);
    let small = site.submit(2, 1, 5);
    site.await_state(small, &["R", "CG", "CD"]);
    std::thread::sleep(Duration::from_secs(12));
    // Tries go on with growing pauses: one of the two may be released at any moment.
    let both_held = || [wide, bound].iter().all(|job| site.state(*job) == "held");
    until(&format!("both wait: {}", site.log_tail()), both_held);
    set(&site, "n2", "RESUME");
    until("capacity is back", || offline(&site) == Some(0));
    site.drain(Duration::from_secs(120));
    assert!(site.states().values().all(|state| state == "CD"), "{:?}", site.states());
    site.each_started_once(4);
}

fn down(policy: &str) {
    let Some(mut site) = Site::with(
        ClusterOptions { nodes: 2, cpus: 4, lines: vec!["SlurmdTimeout=10".into()], ..ClusterOptions::default() },
        policy,
    ) else {
        return;
    };
    let _daemon = site.drive();
    let job = site.submit(8, 30, 5);
    site.await_state(job, &["R"]);
    until("it has processes", || site.cluster.runs_steps("n1"));
    site.cluster.kill_node("n1");
    site.cluster.kill_steps("n1");
    within(Duration::from_secs(60), "the node is out", || offline(&site) == Some(4));
    // What is left of it is on the node that is out: the other one is free.
    let other_job = site.submit(4, 1, 5);
    site.await_state(other_job, &["R", "CG", "CD"]);
    site.cluster.start_node("n1");
    within(Duration::from_secs(60), "the node is back", || offline(&site) == Some(0));
    // Slurm requeues it, and by default lets it begin after two minutes only, which may be over
    // already on a busy machine.
    let again = || site.cluster.command_output("scontrol", &["show", "job", &job.to_string()]).contains("Restarts=1");
    let since = std::time::Instant::now();
    while site.state(job) != "held" && !(again() && site.state(job) != "PD") {
        assert!(since.elapsed() < Duration::from_secs(60), "it waits: {}; {}", site.state(job), site.told());
        std::thread::sleep(Duration::from_millis(100));
    }
    if site.state(job) == "held" {
        site.tell("scontrol", &["update", &format!("JobId={job}"), "StartTime=now"]);
    }
    // A node that is just back may lose it once more, and Slurm has it begin two minutes later
    // again.
    within(Duration::from_secs(300), "both are over", || [job, other_job].iter().all(|job| site.state(*job) == "CD"));
}

fn under_suspended() {
    let Some(site) = Site::start(2, 4, "ss(every=2,sf=1.1,width=none)") else { return };
    let _daemon = site.drive();
    let long = site.submit(8, 20, 60);
    site.await_state(long, &["R"]);
    let short = site.submit(4, 6, 1);
    site.await_state(long, &["S"]);
    set(&site, "n2", "DRAIN");
    until("capacity falls", || offline(&site) == Some(4));
    site.await_state(short, &["CD"]);
    std::thread::sleep(Duration::from_secs(6));
    assert_eq!(site.state(long), "S", "it waits for its own processors");
    set(&site, "n2", "RESUME");
    site.drain(Duration::from_secs(120));
    assert_eq!(site.state(long), "CD");
    site.each_started_once(2);
}

/// Number of starts of a job that the policy decided.
fn decided(site: &Site, job: u64) -> usize {
    let records = journal::read_journal(&site.home().journal_folder()).expect("a journal");
    let outputs = records.into_iter().flat_map(|(_, records)| records);
    let decided =
        outputs.filter_map(|record| if let JournalRecord::Out(output) = record { Some(output.decided) } else { None });
    let start = |decision: &drystone_live::core::Decided| matches!(decision.action, Action::Start { .. });
    decided.flatten().filter(|decision| start(decision) && decision.key.is_some_and(|key| key.id == job)).count()
}

/// Processors enough, but no node with as many as a job needs together, while others come and go:
/// the policy is asked again rarely, the others start, and the job does as soon as it can.
fn in_pieces(policy: &str) {
    let Some(site) = Site::start(2, 4, policy) else { return };
    let _daemon = site.drive();
    let on = |node: &str| site.submit_with(1, 300, 10, &["-w", node]);
    let (first, second) = (on("n1"), on("n2"));
    for job in [first, second] {
        site.await_state(job, &["R"]);
    }
    // Slurm's details tell of the first that its processors belong together, not of the second.
    let whole = site.submit_with(1, 2, 5, &["-c", "4"]);
    let spread = site.submit_with(4, 2, 5, &["-N", "1"]);
    let since = Instant::now();
    let mut small = 0;
    while since.elapsed() < Duration::from_secs(60) {
        let job = site.submit(1, 1, 5);
        site.await_state(job, &["R", "CG", "CD"]);
        small += 1;
    }
    let tries = [whole, spread].map(|job| decided(&site, job));
    println!("{small} small jobs; decided {tries:?} times");
    // At the first sight, once when it is known that it has to be one piece, and after pauses. A
    // policy on nodes sees that there is no room for the first.
    let least = usize::from(policy == "easy by count");
    assert!(tries.iter().all(|tries| (least..=6).contains(tries)), "decided {tries:?} times");
    assert!(small >= 10, "{small} others: {}", site.told());
    site.tell("scancel", &[&first.to_string()]);
    let release_time = Instant::now();
    site.await_state(whole, &["R", "CG", "CD"]);
    println!("started {:.1} s after its node was free", release_time.elapsed().as_secs_f64());
    site.tell("scancel", &[&second.to_string()]);
    site.await_state(spread, &["R", "CG", "CD"]);
    assert!(release_time.elapsed() < Duration::from_secs(30), "{:?}: {}", release_time.elapsed(), site.told());
    site.settled();
    site.replays();
}

/// Small jobs come for ever, and always some run on two of three nodes: a job for two whole nodes
/// starts all the same, when those that ran before it have ended. The others go on beside it.
fn overtaken(policy: &str) {
    let Some(site) = Site::start(3, 4, policy) else { return };
    let _daemon = site.drive();
    let on = |node: &str| site.submit_with(1, 300, 10, &["-w", node]);
    let long = on("n1");
    site.await_state(long, &["R"]);
    for node in ["n2", "n3"] {
        let short = site.submit_with(1, 20, 1, &["-w", node]);
        site.await_state(short, &["R"]);
    }
    let wide = site.submit_with(8, 2, 1, &["-N", "2", "--ntasks-per-node=4"]);
    let (since, submit_time) = (Instant::now(), drystone_live::clock::unix_seconds());
    let mut small = Vec::new();
    while site.state(wide) == "held" && since.elapsed() < Duration::from_secs(100) {
        // Longer than the time that is kept, so that each would be in the way on n2 or n3.
        small.push(site.submit(1, 25, 5));
        std::thread::sleep(Duration::from_secs(6));
    }
    site.await_state(wide, &["R", "CG", "CD"]);
    // As Slurm has it: the loop looks every six seconds.
    let wait = times(&site)[&wide.to_string()].0 - submit_time;
    let tries = decided(&site, wide);
    println!("started after {wait} s, decided {tries} times; {} small jobs came meanwhile", small.len());
    let jobs = || site.cluster.command_output("squeue", &["-h", "-a", "-t", "all", "-o", "%i %t %S %e %N"]);
    assert!(wait < 45, "{wait} s: {}{}", jobs(), site.told());
    assert!(small.len() >= 3, "{}", small.len());
    let start_count = small.iter().filter(|&&job| site.state(job) != "held").count();
    assert!(start_count >= 3, "{start_count} of {} small jobs start beside it: {}", small.len(), site.told());
    site.tell("scancel", &[&long.to_string()]);
    site.drain(Duration::from_secs(120));
    site.settled();
    site.replays();
}

/// Nodes that are named, excluded, asked for by a feature, for the job alone or for their GPUs: the
/// policy knows which they are. Nothing is left to Slurm, and nothing released in vain.
fn asked_for() {
    let gres = Some("gpu:2".to_string());
    let options = ClusterOptions { nodes: 3, cpus: 4, gres, ..ClusterOptions::default() };
    let Some(site) = Site::with(options, "easy") else { return };
    for node in ["n2", "n3"] {
        let name = format!("NodeName={node}");
        site.tell("scontrol", &["update", &name, "AvailableFeatures=big", "ActiveFeatures=big"]);
    }
    let _daemon = site.drive();
    let on =
        |job: u64| site.cluster.command_output("squeue", &["-h", "-t", "all", "-j", &job.to_string(), "-o", "%N %C"]);
    let begins = |job: u64| site.await_state(job, &["R", "CG", "CD"]);
    let with_node = site.submit_with(4, 300, 10, &["-w", "n1"]);
    begins(with_node);
    let gpus = site.submit_with(2, 8, 1, &["-N", "2", "--gres=gpu:2", "-C", "big"]);
    begins(gpus);
    assert_eq!(on(gpus).trim(), "n[2-3] 2");
    // It needs a node of two: both have jobs, and processors for it.
    let alone = site.submit_with(1, 8, 1, &["--exclusive", "-C", "big"]);
    let feature = site.submit_with(1, 30, 1, &["-C", "big"]);
    let excludes = site.submit_with(1, 2, 1, &["-x", "n[2-3]"]);
    let status = site.published();
    assert_eq!(status["left_out"], serde_json::json!({}), "{}", site.told());
    begins(alone);
    assert_eq!(on(alone).trim().split(' ').next_back(), Some("4"), "a whole node");
    begins(feature);
    assert_eq!(site.state(excludes), "held", "the only node that it may have is full: {}", site.told());
    site.tell("scancel", &[&with_node.to_string()]);
    begins(excludes);
    assert_eq!(on(excludes).trim(), "n1 1");
    site.drain(Duration::from_secs(90));
    let releases = site.orders().iter().filter(|order| matches!(order, ClusterOrder::Release(_))).count();
    assert_eq!(releases, 5, "no release was in vain: {}", site.told());
    site.settled();
    site.each_started_once(5);
    site.replays();
}

/// A node of four processors and 64,000 MB, of which the system keeps one and 4,000. A job that
/// would fit into all of it waits for its turn, instead of being released in vain.
fn kept() {
    let options = ClusterOptions {
        nodes: 1,
        node_words: "CoreSpecCount=1 MemSpecLimit=4000".to_string(),
        lines: vec!["SelectTypeParameters=CR_Core_Memory".to_string()],
        ..ClusterOptions::default()
    };
    let Some(site) = Site::with(options, "easy") else { return };
    let _daemon = site.drive();
    let begins = |job: u64| site.await_state(job, &["R", "CG", "CD"]);
    let first = site.submit_with(2, 30, 1, &["--mem=1000"]);
    begins(first);
    // Two processors are two too many, and 59,500 MB are more than the first leaves.
    let wide = site.submit_with(2, 3, 1, &["--mem=1000"]);
    let large = site.submit_with(1, 3, 1, &["--mem=59500"]);
    let small = site.submit_with(1, 3, 1, &["--mem=1000"]);
    begins(small);
    assert_eq!((site.state(wide), site.state(large)), ("held".into(), "held".into()), "{}", site.told());
    assert_eq!(site.published()["machine"]["procs"], 3);
    begins(wide);
    begins(large);
    site.drain(Duration::from_secs(90));
    let releases = site.orders().iter().filter(|order| matches!(order, ClusterOrder::Release(_))).count();
    assert_eq!(releases, 4, "no release was in vain: {}", site.told());
    site.settled();
    site.each_started_once(4);
    site.replays();
}

/// Maintenance of all nodes begins before the limit of a job: it is not released. One that ends in
/// time starts at once, and the other when the reservation is taken back. Half a node that is
/// reserved is named at the start.
fn reserved() {
    for policy in ["easy", "easy by count"] {
        let Some(site) = Site::start(2, 4, policy) else { return };
        let users = format!("users={}", user());
        let create = |more: &[&str]| site.tell("scontrol", &[&["create", "reservation", &users], more].concat());
        create(&["reservationname=maint", "starttime=now+100", "duration=5", "nodes=ALL", "flags=maint,ignore_jobs"]);
        create(&["reservationname=half", "starttime=now+7days", "duration=5", "nodes=n1", "corecnt=2"]);
        let _daemon = site.drive();
        until("half a node is named", || site.log().contains("1 reservation of parts of nodes"));
        let (short, long) = (site.submit(8, 1, 1), site.submit(8, 1, 5));
        site.await_state(short, &["R", "CG", "CD"]);
        std::thread::sleep(Duration::from_secs(15));
        assert_eq!(site.state(long), "held", "{policy}: {}", site.told());
        let releases = || {
            let is_release = |order: &&ClusterOrder| matches!(order, ClusterOrder::Release(key) if key.id == long);
            site.orders().iter().filter(is_release).count()
        };
        assert_eq!(releases(), 0, "{policy}: {}", site.told());
        site.tell("scontrol", &["delete", "reservationname=maint"]);
        // Reservations are read once a minute.
        within(Duration::from_secs(90), "the long one starts", || {
            ["R", "CG", "CD"].contains(&site.state(long).as_str())
        });
        assert_eq!(releases(), 1, "{policy}: {}", site.told());
        site.replays();
    }
}

/// The machine of a daemon is that of its start.
fn comes() {
    let Some(site) = Site::start(2, 4, "easy") else { return };
    site.tell("scontrol", &["update", "PartitionName=main", "Nodes=n1"]);
    let _daemon = site.drive();
    site.tell("scontrol", &["update", "PartitionName=main", "Nodes=n1,n2"]);
    until("the new node is named", || site.published().to_string().contains("node n2 is new"));
    assert_eq!(site.published()["machine"]["procs"], 4);
}
