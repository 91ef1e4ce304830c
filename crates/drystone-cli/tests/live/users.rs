//! Actions of users: hold, cancel, change, try to overtake; arrays; jobs that are left to Slurm.

use super::site::{Site, Tests, until, user, within};
use drystone_testbed::ClusterOptions;
use std::process::Output;
use std::time::Duration;

pub(crate) fn tests() -> Tests {
    vec![
        ("jobs_held_and_cancelled_by_their_owners", held_and_cancelled),
        ("users_cannot_overtake", cannot_overtake),
        ("an_array_with_a_throttle", array),
        ("dependencies_begin_times_and_changes", ineligible),
        ("a_busy_cluster_is_taken_over", taken_over),
        ("what_is_not_modelled_is_left_to_slurm", foreign),
        ("a_site_that_does_not_allow_it_is_refused", refused),
        ("preemption_in_other_partitions_goes_on", preempted),
        ("a_limit_of_a_qos_is_reached", limited),
    ]
}

fn held_and_cancelled() {
    let Some(site) = Site::start(1, 4, "easy") else { return };
    let _daemon = site.drive();
    let running = site.submit(4, 60, 5);
    site.await_state(running, &["R"]);
    let (held_job, cancelled_job, plain) = (site.submit(4, 1, 5), site.submit(4, 1, 5), site.submit(4, 1, 5));
    until("they wait", || site.published()["jobs"]["waiting"] == 3);
    // For root a hold is an administrator's.
    site.tell("scontrol", &["hold", &held_job.to_string()]);
    site.tell("scancel", &[&cancelled_job.to_string()]);
    until("the books are right", || {
        let status = site.published();
        status["jobs"]["waiting"] == 1 && status["jobs"]["held"] == 1 && status["health"]["differences"] == 0
    });
    site.tell("scancel", &[&running.to_string()]);
    site.await_state(plain, &["R", "CG", "CD"]);
    assert_eq!(site.state(held_job), "held");
    // An administrator lets it go: it waits for the policy again, and starts.
    site.tell("scontrol", &["release", &held_job.to_string()]);
    site.drain(Duration::from_secs(60));
    assert_eq!((site.state(held_job), site.state(cancelled_job)), ("CD".into(), "CA".into()));
}

/// Name of the ordinary user.
pub(super) fn ordinary() -> String {
    let output = std::process::Command::new("id").args(["-un", "65534"]).output().expect("id runs");
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}

/// A command of Slurm as an ordinary user; `None` where this is not root.
pub(super) fn as_user(site: &Site, program: &str, args: &[&str]) -> Option<Output> {
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    let mut command = site.cluster.slurm_command(program);
    command.args(args).uid(NOBODY).gid(NOBODY).current_dir("/tmp");
    command.output().ok().or_else(|| {
        eprintln!("SKIPPED: only root can act as another user");
        None
    })
}

/// Submits a job that sleeps as an ordinary user; `None` where this is not root.
pub(super) fn as_user_submits(site: &Site, options: &[&str], seconds: u32) -> Option<u64> {
    let wrap = format!("sleep {seconds}");
    let args = [&["--parsable", "-o", "/dev/null"], options, &["--wrap", &wrap]].concat();
    let output = as_user(site, "sbatch", &args)?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    Some(stdout.trim().parse().unwrap_or_else(|e| panic!("{stdout} {}: {e}", String::from_utf8_lossy(&output.stderr))))
}

/// Priority and nice of the own job are refused, a release starts nothing; a hold counts, and is
/// taken back.
fn cannot_overtake() {
    let Some(site) = Site::start(1, 4, "easy") else { return };
    let _daemon = site.drive();
    let running = site.submit(4, 30, 5);
    site.await_state(running, &["R"]);
    let Some(job) = as_user_submits(&site, &["-n", "4", "-t", "5"], 1) else { return };
    until("it waits", || site.published()["jobs"]["waiting"] == 1);
    let name = format!("JobId={job}");
    for args in [
        vec!["update".to_string(), name.clone(), "Priority=1000".into()],
        vec!["update".into(), name.clone(), "Nice=-5".into()],
        vec!["update".into(), name.clone(), "Nice=5".into()],
        vec!["top".into(), job.to_string()],
    ] {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = as_user(&site, "scontrol", &args).expect("root");
        assert!(!output.status.success(), "{args:?} is refused");
        assert_eq!(site.state(job), "held", "{args:?}");
    }
    // There is no hold of its own to take back: nothing changes.
    as_user(&site, "scontrol", &["release", &job.to_string()]).expect("root");
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(site.state(job), "held");
    let output = as_user(&site, "scontrol", &["hold", &job.to_string()]).expect("root");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    until("the hold counts", || site.published()["jobs"]["held"] == 1);
    site.tell("scancel", &[&running.to_string()]);
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(site.state(job), "held", "its user holds it");
    // The user's own hold is taken back: the policy starts it.
    as_user(&site, "scontrol", &["release", &job.to_string()]).expect("root");
    site.drain(Duration::from_secs(60));
    assert_eq!(site.state(job), "CD");
}

/// Never more than the throttle run.
fn array() {
    let Some(site) = Site::start(4, 8, "easy") else { return };
    let _daemon = site.drive();
    let array = site.submit_with(1, 1, 1, &["--array=1-1000%8"]);
    let runs = || site.states().values().filter(|state| *state == "R" || *state == "CG").count();
    let over = || site.states().iter().filter(|(_, state)| *state == "CD").count();
    let mut most = 0;
    until("sixty tasks are over", || {
        most = most.max(runs());
        over() >= 60
    });
    assert!((4..=8).contains(&most), "{most} at once");
    // Everything is cancelled at once, and the books follow.
    site.tell("scancel", &[&array.to_string()]);
    site.drain(Duration::from_secs(60));
    until("the books agree", || {
        let status = site.published();
        status["jobs"]["waiting"].as_u64().unwrap_or(0) == 0 && status["health"]["differences"] == 0
    });
}

fn ineligible() {
    let Some(site) = Site::start(1, 4, "easy") else { return };
    let _daemon = site.drive();
    let first = site.submit(4, 6, 5);
    let after = site.submit_with(1, 1, 5, &["-d", &format!("afterok:{first}")]);
    let later = site.submit_with(1, 1, 5, &["--begin=now+40"]);
    let never = site.submit_with(1, 1, 5, &["-d", "afternotok:1", "--kill-on-invalid-dep=no"]);
    until("they are held back", || site.published()["jobs"]["held"].as_u64() >= Some(2));
    site.await_state(after, &["R", "CG", "CD"]);
    assert_eq!(site.state(first), "CD");
    assert_eq!(site.state(later), "held", "{}", site.told());
    site.await_state(later, &["R", "CG", "CD"]);
    assert_eq!(site.state(never), "held");
    // A limit that changes is a job that changes.
    let job = site.submit(4, 240, 5);
    site.await_state(job, &["R"]);
    site.tell("scontrol", &["update", &format!("JobId={job}"), "TimeLimit=9"]);
    until("the change is known", || {
        let status = site.published();
        let row = status["running"]
            .as_array()
            .and_then(|rows| rows.iter().find(|row| row["job"].as_str() == Some(&job.to_string())))
            .cloned();
        row.is_some_and(|row| {
            row["ends"].as_i64().zip(row["since"].as_i64()).is_some_and(|(end, since)| (end - since - 540).abs() <= 3)
        })
    });
    site.tell("scancel", &[&never.to_string(), &job.to_string()]);
    site.drain(Duration::from_secs(60));
}

/// Jobs run, are suspended and wait when the daemon comes; it takes them over, and so does the one
/// that comes after it.
fn taken_over() {
    let Some(site) = Site::start(2, 4, "easy") else { return };
    let (a, b) = (site.submit(4, 25, 5), site.submit(4, 25, 5));
    site.await_state(a, &["R"]);
    site.await_state(b, &["R"]);
    site.tell("scontrol", &["suspend", &b.to_string()]);
    let waiting: Vec<u64> = (0..6).map(|_| site.submit(8, 1, 5)).collect();
    let own = site.submit_with(1, 1, 5, &["--hold"]);
    let mut daemon = site.drive();
    until("they are taken over", || {
        let status = site.published();
        status["jobs"]["running"] == 1 && status["jobs"]["suspended by others"] == 1 && status["jobs"]["waiting"] == 6
    });
    assert!(waiting.iter().all(|job| site.state(*job) == "held"), "{:?}", site.states());
    daemon.kill();
    drop(daemon);
    std::fs::remove_dir_all(site.home().journal_folder()).expect("removed");
    let _daemon = site.drive();
    until("they are known again", || {
        site.published()["jobs"]["waiting"] == 6 && site.published()["health"]["differences"] == 0
    });
    site.tell("scontrol", &["resume", &b.to_string()]);
    until("all but the user's own are over", || {
        site.states().iter().all(|(name, state)| state == "CD" || *name == own.to_string())
    });
    assert_eq!(site.state(own), "held");
    site.each_started_once(8);
}

/// Other partitions, several partitions: said with counts, and let go.
fn foreign() {
    let partitions = ["main", "other"].map(|name| {
        let default = if name == "main" { "YES" } else { "NO" };
        format!("PartitionName={name} Nodes=n[1-2] Default={default} MaxTime=INFINITE State=UP")
    });
    let options = ClusterOptions { nodes: 2, cpus: 4, partitions: partitions.to_vec(), ..ClusterOptions::default() };
    let Some(site) = Site::with(options, "easy") else { return };
    let blocker = site.submit(8, 8, 5);
    let _daemon = site.drive();
    site.await_state(blocker, &["R"]);
    let either = site.submit_with(1, 1, 5, &["-p", "main,other"]);
    let other_job = site.submit_with(1, 1, 5, &["-p", "other"]);
    let plain = site.submit(1, 1, 5);
    until("they are let go", || site.state(either) != "held" && site.state(other_job) != "held");
    until("they are counted", || {
        let counts = site.published()["left_out"].clone();
        counts["jobs that ask for one of several partitions"] == 1 && counts["jobs of partition other"] == 1
    });
    assert_eq!(site.state(plain), "held");
    site.drain(Duration::from_secs(60));
    assert!([blocker, either, other_job, plain].iter().all(|job| site.state(*job) == "CD"), "{:?}", site.states());
    until("the books agree", || site.published()["health"]["differences"] == 0);
}

/// A site whose model requeues jobs.
const PREEMPTS: &str = "ClusterName=c\nPreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nNodeName=n1 CPUs=4\n\
                        PartitionName=low Nodes=ALL Default=YES PriorityTier=1\nPartitionName=high Nodes=ALL PriorityTier=2\n";

fn refused() {
    let lines = ["PriorityType=priority/multifactor", "MinJobAge=20"].map(String::from).to_vec();
    let Some(site) = Site::with(ClusterOptions { nodes: 1, cpus: 4, lines, ..ClusterOptions::default() }, "easy")
    else {
        return;
    };
    let output = site.command(&["live", "drive", "--policy", "easy", "--listen", "none"]).output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("PriorityType=priority/basic") && stderr.contains("MinJobAge=300"), "{stderr}");
    for (policy, part) in [
        ("ss(migration=yes)", "migration=no"),
        ("easy(predict=perfect)", "which no cluster knows"),
        ("easy(pass=event)", "leave out `pass=event`"),
    ] {
        let output = site.command(&["live", "drive", "--policy", policy, "--listen", "none"]).output().expect("runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(part), "{policy}: {stderr}");
    }
    for command in ["shadow", "drive"] {
        let args = ["live", command, "--policy", "easy", "--listen", "none", "--conf", "nowhere.conf"];
        let output = site.command(&args).output().expect("runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains("nowhere.conf: there is no such file"), "{stderr}");
    }
    std::fs::write(site.path("preempts.conf"), PREEMPTS).expect("written");
    let args = ["live", "shadow", "--policy", "slurm:preempts.conf", "--listen", "none"];
    let output = site.command(&args).output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && stderr.contains("sends running jobs back"), "{stderr}");
    // The shadow works all the same.
    let _shadow = site.shadow();
}

/// Slurm preempts on nodes that are not driven; a partition that it reaches is refused.
fn preempted() {
    let lines = ["PreemptType=preempt/partition_prio", "PreemptMode=REQUEUE"].map(String::from).to_vec();
    let partitions = [
        "PartitionName=main Nodes=n1 Default=YES MaxTime=60 State=UP PreemptMode=OFF",
        "PartitionName=low Nodes=n2 MaxTime=60 State=UP PriorityTier=1 PreemptMode=REQUEUE",
        "PartitionName=high Nodes=n2 MaxTime=60 State=UP PriorityTier=5 PreemptMode=OFF",
    ];
    let partitions = partitions.map(String::from).to_vec();
    let Some(site) =
        Site::with(ClusterOptions { nodes: 2, cpus: 4, lines, partitions, ..ClusterOptions::default() }, "easy")
    else {
        return;
    };
    for (partition, part) in [
        ("low", "PreemptMode=REQUEUE in partition low: Slurm would"),
        ("high", "partition low, which shares nodes with those that are driven"),
    ] {
        let args = ["live", "drive", "--policy", "easy", "--listen", "none", "--partition", partition];
        let output = site.command(&args).output().expect("runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(part), "{partition}: {stderr}");
    }
    let mut daemon = site.drive();
    let low = site.submit_with(4, 60, 5, &["-p", "low", "--requeue"]);
    site.await_state(low, &["R"]);
    let (first, second) = (site.submit(4, 8, 1), site.submit(4, 1, 1));
    site.await_state(first, &["R"]);
    let high = site.submit_with(4, 5, 5, &["-p", "high"]);
    site.await_state(high, &["R", "CG", "CD"]);
    assert_ne!(site.state(low), "R", "it was preempted");
    site.await_state(second, &["R", "CG", "CD"]);
    assert!(!daemon.has_ended(), "{}", site.told());
    site.tell("scancel", &[&low.to_string()]);
    site.drain(Duration::from_secs(60));
}

/// A limit of a QOS shows only once a job is let go: it is held again, others start, and it is
/// tried again when one of its user ends.
fn limited() {
    let account = format!("add user {} account=a", user());
    let accounts = ["add account a", &account, "modify qos normal set MaxJobsPerUser=2"].map(String::from);
    let lines = ["AccountingStorageEnforce=limits,qos"].map(String::from).to_vec();
    let options =
        ClusterOptions { nodes: 1, cpus: 8, lines, accounts: Some(accounts.to_vec()), ..ClusterOptions::default() };
    let Some(site) = Site::with(options, "easy") else { return };
    let _daemon = site.drive();
    let jobs: Vec<u64> = (0..6).map(|_| site.submit(1, 8, 5)).collect();
    let runs = || site.states().values().filter(|state| *state == "R").count();
    until("two run", || runs() == 2);
    until("the others are held again", || {
        let hold_count = site.states().values().filter(|state| *state == "held").count();
        hold_count == 4 && site.published()["health"]["in_flight"] == 0
    });
    let mut most = 0;
    within(Duration::from_secs(120), "all have their turn", || {
        most = most.max(runs());
        jobs.iter().all(|job| site.state(*job) == "CD")
    });
    assert_eq!(most, 2);
    site.settled();
    site.each_started_once(6);
}
