//! Jobs that a daemon leaves or finds: none stays held for it, whatever Slurm calls the reason, and
//! what others hold stays theirs.

use super::site::{Running, Site, Tests, until, user, within};
use super::users::{as_user, as_user_submits, ordinary};
use drystone_testbed::ClusterOptions;
use std::time::Duration;

pub(crate) fn tests() -> Tests {
    vec![
        ("hand_back_releases_tasks_that_a_limit_stopped", limit_stopped),
        ("hand_back_releases_jobs_that_could_not_run_yet", could_not_run_yet),
        ("no_job_is_left_behind_at_any_end", at_any_end),
        ("a_hold_from_before_is_taken_back_by_its_owner", from_before),
        ("holds_of_operators_stay", operators),
    ]
}

/// Jobs of priority 0, by what Slurm calls them.
fn held(site: &Site) -> Vec<String> {
    site.states().into_iter().filter(|(_, state)| state == "held").map(|(name, _)| name).collect()
}

/// Ends a daemon as a signal does, and gives back the jobs of one that was killed. Returns the
/// message about that.
fn end(site: &Site, daemon: &mut Running, signal: &str) -> String {
    daemon.signal(signal);
    let code = daemon.end();
    if signal == "-KILL" {
        return site.run(&["live", "hand-back"]);
    }
    assert_eq!(code, 143, "{}", site.log_tail());
    site.log().lines().rfind(|line| line.contains("given back")).unwrap_or_default().to_string()
}

fn as_owner(site: &Site, verb: &str, name: &str) {
    let output = as_user(site, "scontrol", &[verb, name]).expect("root");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{verb} {name}: {stderr}");
}

/// Slurm shows the limit that stopped one task as the reason of the others, and later calls the
/// holds of all an administrator's.
fn limit_stopped() {
    let own = format!("add user {} account=a", user());
    let other_user = format!("add user {} account=a", ordinary());
    let class = format!("modify user {} set qos+=two", user());
    let accounts = ["add account a", "add qos two", "modify qos two set MaxJobsPerUser=2", &own, &other_user, &class];
    let lines = vec!["AccountingStorageEnforce=limits,qos".to_string()];
    let accounts = Some(accounts.map(String::from).to_vec());
    let options = ClusterOptions { nodes: 2, cpus: 8, lines, accounts, ..ClusterOptions::default() };
    let Some(site) = Site::with(options, "easy") else { return };
    for signal in ["-TERM", "-KILL"] {
        let mut daemon = site.drive();
        site.submit_with(1, 30, 1, &["--array=1-40", "--qos=two"]);
        let reasons = || site.cluster.command_output("squeue", &["-h", "-a", "-r", "-t", "pending", "-o", "%r %Q"]);
        for _ in 0..25 {
            if as_user_submits(&site, &["-n", "1", "-t", "1"], 1).is_none() {
                return;
            }
            std::thread::sleep(Duration::from_secs(1));
        }
        let hold_reasons = reasons();
        let output = end(&site, &mut daemon, signal);
        let held_jobs = held(&site);
        assert!(held_jobs.is_empty(), "{signal}: {held_jobs:?} of {hold_reasons}: {output}");
        assert!(!output.contains(" 0 jobs let go") && output.contains("jobs let go"), "{signal}: {output}");
        let show = site.cluster.command_output("scontrol", &["-o", "show", "job"]);
        let has_mark = |line: &&str| line.contains("drystone:") && line.contains("JobState=PENDING");
        assert_eq!(show.lines().filter(has_mark).count(), 0, "no mark is left");
        site.tell("scancel", &["-u", &user()]);
        site.tell("scancel", &["-u", &ordinary()]);
        site.drain(Duration::from_secs(60));
    }
}

/// Dependencies, begin times, throttles, a partition that went down, nodes that are out.
fn could_not_run_yet() {
    let lines = vec!["Licenses=matlab:1".to_string()];
    let Some(site) = Site::with(ClusterOptions { nodes: 2, cpus: 4, lines, ..ClusterOptions::default() }, "easy")
    else {
        return;
    };
    for signal in ["-KILL", "-TERM"] {
        let mut daemon = site.drive();
        let running = site.submit(4, 60, 5);
        site.await_state(running, &["R"]);
        let after = format!("afterok:{running}");
        site.submit_with(1, 1, 1, &["-d", &after]);
        site.submit_with(1, 1, 1, &["-d", "afternotok:1", "--kill-on-invalid-dep=no"]);
        site.submit_with(1, 1, 1, &["--begin=now+1hour"]);
        site.submit_with(1, 30, 1, &["--array=1-9%2"]);
        site.submit_with(8, 1, 1, &["--array=1-3"]);
        site.submit_with(1, 1, 1, &["-w", "n2"]);
        site.submit_with(1, 1, 1, &["-L", "matlab:1"]);
        until("they are known", || site.published()["jobs"]["held"].as_u64() >= Some(3));
        site.tell("scontrol", &["update", "PartitionName=main", "State=DOWN"]);
        site.tell("scontrol", &["update", "NodeName=n2", "State=DRAIN", "Reason=test"]);
        site.submit(4, 1, 1);
        std::thread::sleep(Duration::from_secs(8));
        let output = end(&site, &mut daemon, signal);
        assert!(held(&site).is_empty(), "{signal}: {}: {output}", site.told());
        site.tell("scontrol", &["update", "PartitionName=main", "State=UP"]);
        site.tell("scontrol", &["update", "NodeName=n2", "State=RESUME"]);
        site.tell("scancel", &["-u", &user()]);
        site.drain(Duration::from_secs(60));
    }
}

/// Jobs of every kind that may wait when a daemon ends, and those among them that their owner or
/// their exit code holds.
struct Waiting {
    /// Names of those that their owner holds.
    owners: Vec<String>,
    /// The one that Slurm requeued and holds for its exit code.
    special: String,
}

/// Submits them; `None` where this is not root.
fn submit_every_kind(site: &Site) -> Option<Waiting> {
    let requeue_job = site.submit_with(8, 100, 5, &["--requeue"]);
    site.await_state(requeue_job, &["R"]);
    let submit = |more: &[&str]| as_user_submits(site, &[&["-n", "1", "-t", "5"], more].concat(), 2);
    let (first, array) = (submit(&[])?, submit(&["--array=1-9%2"])?);
    let after = |kind: &str, job: u64| format!("--dependency={kind}:{job}");
    submit(&["-d", "singleton", "-J", "one"])?;
    submit(&["-d", "singleton", "-J", "one"])?;
    submit(&["--array=1-9", &after("aftercorr", array)])?;
    submit(&["--kill-on-invalid-dep=no", &after("afternotok", first)])?;
    submit(&["--begin=now+2hours"])?;
    submit(&["--begin=now+15"])?;
    submit(&["--deadline=now+1hour", "--array=1-3"])?;
    submit(&["-p", "main,other"])?;
    submit(&["-t", "120", "--array=1-20"])?;
    submit(&["-L", "matlab:1", "-n", "8"])?;
    submit(&["-w", "n2", "--exclusive"])?;
    let several = ["-o", "/dev/null", "-n2", "-t1", ":", "-n1", "-t1", "--wrap", "true"];
    assert!(as_user(site, "sbatch", &several)?.status.success());
    let (before, later, tasks) = (submit(&["--hold"])?, submit(&[])?, submit(&["--array=1-4"])?);
    until("they are known", || site.published()["jobs"]["held"].as_u64() >= Some(3));
    as_owner(site, "hold", &later.to_string());
    as_owner(site, "hold", &format!("{tasks}_3"));
    site.tell("scontrol", &["requeue", &requeue_job.to_string()]);
    let again = submit(&["--requeue"]).expect("root");
    let exits = ["-o", "/dev/null", "-n1", "-t5", "--parsable", "--requeue", "--wrap", "exit 9"];
    let special = String::from_utf8_lossy(&as_user(site, "sbatch", &exits)?.stdout).trim().to_string();
    let long = as_user_submits(site, &["-n", "1", "-t", "6", "--requeue"], 100)?;
    site.await_state(long, &["R"]);
    as_owner(site, "requeuehold", &long.to_string());
    site.await_state(again, &["CD"]);
    until("its exit code holds it", || site.states()[&special] == "SE");
    let owners = [before.to_string(), later.to_string(), format!("{tasks}_3"), long.to_string()].to_vec();
    Some(Waiting { owners, special })
}

/// Whatever waits is let go or named, whatever ends the daemon, and with both partitions closed.
fn at_any_end() {
    let lines = ["RequeueExitHold=9", "Licenses=matlab:1"].map(String::from).to_vec();
    let partition = |name: &str, more: &str| format!("PartitionName={name} Nodes=n[1-2] MaxTime=60 State=UP{more}");
    let partitions = vec![partition("main", " Default=YES"), partition("other", "")];
    let options = ClusterOptions { nodes: 2, cpus: 4, lines, partitions, ..ClusterOptions::default() };
    let options_of_both = ["--partition", "main", "--partition", "other"];
    let Some(mut site) = Site::of(options, "easy", &["main", "other"]) else { return };
    for way in ["-TERM", "-KILL", "timer", "removal"] {
        let mut daemon = site.drive_with(&options_of_both, None);
        let Some(kinds) = submit_every_kind(&site) else { return };
        site.submit_with(1, 2, 5, &["-p", "other", "--array=1-3"]);
        site.tell("scontrol", &["update", "PartitionName=other", "State=DOWN"]);
        site.tell("scontrol", &["update", "PartitionName=main", "State=INACTIVE"]);
        std::thread::sleep(Duration::from_secs(4));
        let output = match way {
            "timer" => {
                daemon.kill();
                std::thread::sleep(Duration::from_secs(3));
                site.run(&["live", "hand-back", "--if-silent", "2"])
            }
            "removal" => {
                // As docs/operate.md says.
                let output_at_end = end(&site, &mut daemon, "-TERM");
                site.run(&["live", "hand-back"]);
                remove_hook(&mut site);
                output_at_end
            }
            signal => end(&site, &mut daemon, signal),
        };
        let mut expected = kinds.owners.clone();
        expected.sort();
        assert_eq!(held(&site), expected, "{way}: {output}");
        let is_listed = |name: &String| output.split([' ', ',', ';']).any(|word| word == name);
        assert!(expected.iter().chain([&kinds.special]).all(is_listed), "{way}: {expected:?} {output}");
        assert!(output.contains("`scontrol release "), "{way}: {output}");
        let show = site.cluster.command_output("scontrol", &["-o", "show", "job"]);
        let has_mark = |line: &&str| line.contains("drystone:") && line.contains("JobState=PENDING");
        assert_eq!(show.lines().filter(has_mark).count(), 0, "{way}: no mark is left");
        for partition in ["main", "other"] {
            site.tell("scontrol", &["update", &format!("PartitionName={partition}"), "State=UP"]);
        }
        as_owner(&site, "release", &expected[0]);
        until("its owner's release starts it", || ["R", "CG", "CD"].contains(&site.states()[&expected[0]].as_str()));
        site.tell("scancel", &["-u", &user()]);
        site.tell("scancel", &["-u", &ordinary()]);
        site.drain(Duration::from_secs(60));
    }
}

/// Takes the hook out of `slurm.conf`, and its file away.
fn remove_hook(site: &mut Site) {
    let conf = site.cluster.conf_path();
    let text = std::fs::read_to_string(&conf).expect("text");
    let is_ours =
        |line: &&str| ["JobSubmitPlugins=", "JobCompType=", "JobCompLoc="].iter().any(|key| line.starts_with(key));
    let lines: Vec<&str> = text.lines().filter(|line| !is_ours(line)).collect();
    site.tell("scontrol", &["shutdown", "slurmctld"]);
    // It saves its state first.
    std::thread::sleep(Duration::from_secs(4));
    site.cluster.kill_controller();
    std::fs::write(&conf, lines.join("\n") + "\n").expect("written");
    std::fs::remove_file(conf.with_file_name("job_submit.lua")).expect("removed");
    site.cluster.start_controller();
    within(Duration::from_secs(60), "slurmctld answers", || {
        let output = site.cluster.slurm_command("scontrol").arg("ping").output().expect("scontrol runs");
        String::from_utf8_lossy(&output.stdout).contains("is UP")
    });
}

/// A job, a task and an array that their owner held before the daemon came, while nothing drove,
/// and over a restart that knows no more than the ledger.
fn from_before() {
    for adopt in ["all", "new"] {
        let Some(site) = Site::start(2, 4, "easy") else { return };
        let holds = |more: &[&str]| as_user_submits(&site, &[&["-n", "1", "-t", "1", "--hold"], more].concat(), 1);
        let Some(job) = holds(&[]) else { return };
        let array = holds(&["--array=1-4"]).expect("root");
        let early = holds(&[]).expect("root");
        let mut daemon = site.drive_with(&["--adopt", adopt], None);
        until("they are known", || site.published()["jobs"]["held"] == 6);
        as_owner(&site, "release", &job.to_string());
        as_owner(&site, "release", &format!("{array}_3"));
        site.await_state(job, &["R", "CG", "CD"]);
        let is_over = |name: String| site.states().get(&name).is_some_and(|state| state == "CD");
        until("the task runs", || is_over(format!("{array}_3")));
        assert_eq!(held(&site).len(), 4, "{:?}", site.states());
        daemon.kill();
        std::fs::remove_dir_all(site.home().journal_folder()).expect("removed");
        let mut daemon = site.drive_with(&["--adopt", adopt], None);
        until("they are known again", || site.published()["jobs"]["held"] == 4);
        as_owner(&site, "release", &format!("{array}_[1-2,4]"));
        until("its tasks run", || (1..=4).all(|task| is_over(format!("{array}_{task}"))));
        let output = end(&site, &mut daemon, "-TERM");
        assert!(output.contains(&format!("1 job stays held by its user: {early}")), "{output}");
        // One more is held while nothing drives.
        let late = holds(&[]).expect("root");
        let _daemon = site.drive_with(&["--adopt", adopt], None);
        until("both are known", || site.published()["jobs"]["held"] == 2);
        for job in [early, late] {
            as_owner(&site, "release", &job.to_string());
            site.await_state(job, &["R", "CG", "CD"]);
        }
        site.drain(Duration::from_secs(60));
        site.each_started_once(7);
        site.replays();
    }
}

/// `scontrol uhold` and `scontrol hold` by root, on waiting jobs, on a task and on a job that is
/// left to Slurm: over a restart and a hand-back. Owners take back the first, operators the second.
fn operators() {
    let node_words = "Feature=fast".to_string();
    let options = ClusterOptions { nodes: 1, cpus: 4, node_words, ..ClusterOptions::default() };
    let Some(site) = Site::with(options, "easy") else { return };
    let mut daemon = site.drive();
    let running = site.submit(4, 90, 5);
    site.await_state(running, &["R"]);
    let submit = |more: &[&str]| as_user_submits(&site, &[&["-n", "4", "-t", "1"], more].concat(), 1);
    let Some(soft) = submit(&[]) else { return };
    let (hard, array) = (submit(&[]).expect("root"), submit(&["--array=1-3"]).expect("root"));
    let (foreign, plain) = (submit(&["-C", "fast*1"]).expect("root"), submit(&[]).expect("root"));
    until("they wait", || site.published()["jobs"]["waiting"] == 6 && site.state(foreign) != "held");
    site.tell("scontrol", &["uhold", &format!("{soft},{array}_2,{foreign}")]);
    site.tell("scontrol", &["hold", &hard.to_string()]);
    site.tell("scancel", &[&running.to_string()]);
    let held_names = [soft.to_string(), hard.to_string(), format!("{array}_2"), foreign.to_string()];
    let stay = |names: &[String]| {
        let states = site.states();
        assert!(names.iter().all(|name| states[name] == "held"), "{names:?}: {states:?} {}", site.told());
    };
    until("the others run", || {
        let states = site.states();
        [plain.to_string(), format!("{array}_1"), format!("{array}_3")].iter().all(|name| states[name] == "CD")
    });
    stay(&held_names);
    daemon.kill();
    let mut daemon = site.drive();
    let next = submit(&[]).expect("root");
    site.await_state(next, &["CD"]);
    stay(&held_names);
    as_owner(&site, "release", &soft.to_string());
    site.await_state(soft, &["CD"]);
    // An owner's release does not take back what is an administrator's.
    drop(as_user(&site, "scontrol", &["release", &hard.to_string()]));
    let next = submit(&[]).expect("root");
    site.await_state(next, &["CD"]);
    stay(&held_names[1..]);
    let output = end(&site, &mut daemon, "-KILL");
    assert!(output.contains(&format!("1 job stays held by an administrator: {hard}")), "{output}");
    assert!(output.contains("2 jobs stay held by their users"), "{output}");
    stay(&held_names[1..]);
    let _daemon = site.drive();
    site.tell("scontrol", &["release", &hard.to_string()]);
    as_owner(&site, "release", &format!("{array}_2"));
    as_owner(&site, "release", &foreign.to_string());
    within(Duration::from_secs(60), "all are over", || held(&site).is_empty());
    site.drain(Duration::from_secs(60));
    site.each_started_once(10);
}
