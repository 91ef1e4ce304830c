//! Reasons that administrators read, and figures of shadows: rights, slurmdbd, units, metrics.

use super::site::{PROGRAM, Site, Tests, until, within};
use drystone_testbed::ClusterOptions;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};
use std::time::Duration;

pub(crate) fn tests() -> Tests {
    vec![
        ("a_user_who_may_not_see_is_told_which_right_is_missing", hidden),
        ("slurmdbd_down_is_the_reason_that_is_given", accounting_down),
        ("a_plain_stop_is_a_success_for_systemd", stops),
        ("a_shadow_counts_each_start_once", counted_once),
        ("planned_starts_are_written_into_comments", planned_starts),
        ("what_the_message_of_the_day_says_is_true", motd),
        ("a_daemon_drives_again_after_a_silent_controller", re_armed),
    ]
}

const NOBODY: u32 = 65_534;

/// The program as an ordinary user; `None` where this is not root.
fn as_nobody(site: &Site, args: &[&str]) -> Option<Output> {
    let mut command = Command::new(PROGRAM);
    command.args(args).env("SLURM_CONF", site.cluster.conf_path()).env("DRYSTONE_STATE", "/tmp/drystone-ordinary");
    let output = command.uid(NOBODY).gid(NOBODY).current_dir("/tmp").output().ok();
    if output.is_none() {
        eprintln!("SKIPPED: only root can act as another user");
    }
    output
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn hidden() {
    for (private, thing) in [("nodes", "nodes"), ("jobs", "jobs of other users")] {
        let lines = vec![format!("PrivateData={private}")];
        let options = ClusterOptions { nodes: 1, cpus: 4, lines, ..ClusterOptions::default() };
        let Some(site) = Site::with(options, "easy") else { return };
        let Some(output) = as_nobody(&site, &["live", "shadow", "--policy", "easy", "--listen", "none"]) else {
            return;
        };
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(&format!("PrivateData={private} hides {thing}")), "{text}");
        assert!(text.contains("AdminLevel=Operator"), "{text}");
    }
}

fn accounting_down() {
    let operator = format!("add user {} account=a AdminLevel=Operator", super::users::ordinary());
    let accounts = vec!["add account a".to_string(), operator];
    let options = ClusterOptions { nodes: 1, cpus: 4, accounts: Some(accounts), ..ClusterOptions::default() };
    let Some(site) = Site::with(options, "easy") else { return };
    let check = ["live", "drive", "--policy", "easy", "--check"];
    let Some(output) = as_nobody(&site, &check) else { return };
    assert!(!said(&output).contains("may not release"), "an operator may: {}", said(&output));
    site.cluster.kill_accounting();
    let output = as_nobody(&site, &check).expect("root");
    assert!(said(&output).contains("slurmdbd does not answer"), "{}", said(&output));
    assert!(!said(&output).contains("may not release"), "{}", said(&output));
    // Root needs no accounting to drive.
    let _daemon = site.drive();
    let job = site.submit(1, 1, 1);
    site.await_state(job, &["R", "CG", "CD"]);
}

/// Users see the reason that the lines name, and the commands in them do what they say.
fn motd() {
    let Some(site) = Site::start(1, 2, "easy") else { return };
    let lines = site.run(&["live", "install", "motd"]);
    let file = site.path("motd");
    let output_with_file = site.command(&["live", "install", "motd", "--out"]).arg(&file).output().expect("runs");
    assert!(output_with_file.status.success(), "{}", said(&output_with_file));
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), lines);
    let _daemon = site.drive_with(&["--comments"], None);
    let first = site.submit(2, 100, 30);
    site.await_state(first, &["R"]);
    let second = site.submit(2, 1, 1);
    let reason =
        || site.cluster.command_output("squeue", &["-h", "-j", &second.to_string(), "-o", "%r"]).trim().to_string();
    until("the waiting job is held", || reason() == "JobHeldUser");
    assert!(lines.contains("JobHeldUser"), "{lines}");
    // The planned start, by the command of the lines themselves.
    let command = lines.lines().find_map(|line| line.split_once("written: ")).expect("a command").1;
    let words: Vec<&str> = command.split(' ').collect();
    assert_eq!(words[0], "squeue", "{command}");
    within(Duration::from_secs(90), "the planned start shows", || {
        site.cluster.command_output(words[0], &words[1..]).contains("planned-start=")
    });
    for order in ["hold", "release"] {
        assert!(lines.contains(&format!("`scontrol {order} JOB`")), "{lines}");
        site.tell("scontrol", &[order, &second.to_string()]);
    }
    site.tell("scancel", &[&first.to_string()]);
    site.await_state(second, &["R", "CG", "CD"]);
}

/// Every signal that systemd or a terminal sends ends a daemon with a code that the unit knows.
fn stops() {
    let Some(site) = Site::start(1, 2, "easy") else { return };
    let unit = site.run(&["live", "install", "unit", "--policy", "easy", "--user", "root"]);
    let codes: Vec<i32> = unit
        .lines()
        .find_map(|line| line.strip_prefix("SuccessExitStatus="))
        .expect("the unit says so")
        .split(' ')
        .map(|code| code.parse().expect("a code"))
        .collect();
    // Under `nohup` the daemon does not hear of SIGHUP, as is right.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    let hup = mask.is_some_and(|mask| mask & 1 == 0).then_some("-HUP");
    for signal in ["-TERM", "-INT"].into_iter().chain(hup) {
        let mut daemon = site.drive();
        daemon.signal(signal);
        let code = daemon.end();
        assert!(codes.contains(&code), "{signal}: {code} is none of {codes:?}: {}", site.log_tail());
        assert!(site.log().contains("given back"), "{}", site.log_tail());
    }
    // Where systemd is, it reads the unit without a complaint about these lines.
    let path = site.path("drystone-live.service");
    std::fs::write(&path, unit).expect("written");
    if let Ok(output) = Command::new("systemd-analyze").arg("verify").arg(&path).output() {
        let text = said(&output);
        assert!(!text.contains("SuccessExitStatus") && !text.contains("Unknown"), "{text}");
    }
}

/// The comment names the start that the policy plans, to the minute; the job stays the policy's.
fn planned_starts() {
    let Some(site) = Site::start(1, 4, "conservative") else { return };
    let mut daemon = site.drive_with(&["--comments"], None);
    let blocker = site.submit(4, 100, 30);
    site.await_state(blocker, &["R"]);
    let waiting = site.submit(4, 1, 1);
    let array = site.submit_with(4, 1, 1, &["--array=1-5"]);
    let comment = |job: u64| {
        let listing =
            site.cluster.command_output("squeue", &["-h", "-a", "-j", &job.to_string(), "-O", "admin_comment:80"]);
        listing.lines().next().unwrap_or_default().trim().to_string()
    };
    within(Duration::from_secs(90), "the comment is there", || comment(waiting).contains("planned-start="));
    let whole = comment(waiting);
    let (mark, start_text) = whole.split_once(",planned-start=").expect("both");
    assert_eq!(mark, "drystone:held");
    let output = Command::new("date").args(["-u", "-d", start_text, "+%s"]).output().expect("date runs");
    let start_time: i64 = String::from_utf8_lossy(&output.stdout).trim().parse().expect("a moment");
    let limit = super::depends::times(&site)[&blocker.to_string()].0 + 30 * 60;
    assert!((start_time - limit).abs() <= 60, "{start_time} is not the end of the limit, {limit}");
    assert!(!comment(array).contains("planned-start"), "a comment would split the array");
    // Another daemon knows the job as held by the hook still.
    daemon.kill();
    std::fs::remove_dir_all(site.home().journal_folder()).expect("removed");
    let _daemon = site.drive();
    site.tell("scancel", &[&blocker.to_string()]);
    site.drain(Duration::from_secs(60));
    site.each_started_once(7);
}

/// The timer gives back because nothing beats, and the daemon drives again; never after a hand-back
/// by hand.
fn re_armed() {
    let Some(site) = Site::start(1, 2, "easy") else { return };
    let daemon = site.drive_with(&["--re-arm"], None);
    let first = site.instance();
    daemon.signal("-STOP");
    std::thread::sleep(Duration::from_secs(10));
    let output = site.run(&["live", "hand-back", "--if-silent", "8"]);
    assert!(!output.contains("nothing was done"), "{output}");
    assert_eq!(site.instance(), None);
    daemon.signal("-CONT");
    within(Duration::from_secs(70), &format!("it drives again: {}", site.log_tail()), || {
        site.instance().is_some_and(|now| Some(now) != first)
    });
    let job = site.submit(1, 1, 1);
    site.await_state(job, &["R", "CG", "CD"]);
    // What an administrator gives back stays so.
    site.run(&["live", "hand-back"]);
    std::thread::sleep(Duration::from_secs(40));
    assert_eq!(site.instance(), None, "{}", site.log_tail());
}

/// A page over a socket: its body, once there is a server.
fn page(socket: &std::path::Path, path: &str) -> Option<String> {
    let mut stream = UnixStream::connect(socket).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    text.split_once("\r\n\r\n").map(|(_, body)| body.to_string())
}

fn counted_once() {
    let options = ClusterOptions { nodes: 1, cpus: 4, scheduler: "backfill".into(), ..ClusterOptions::default() };
    let Some(site) = Site::with(options, "easy") else { return };
    let socket = site.path("page.sock");
    let listen = format!("unix:{}", socket.display());
    let log = std::fs::File::create(site.path("daemon.log")).expect("a log");
    let mut command = site.command(&["live", "shadow", "--policy", "easy", "--listen", &listen]);
    let _daemon = super::site::Running(command.stderr(log).spawn().expect("begins"));
    // From the first connection on there are metrics.
    let mut first = None;
    until("the page is there", || {
        first = page(&socket, "/metrics");
        first.is_some()
    });
    assert!(first.is_some_and(|text| text.contains("drystone_live_ready")));
    until("the shadow looks", || page(&socket, "/metrics").is_some_and(|text| text.contains("drystone_live_ready 1")));
    let jobs: Vec<u64> = (0..24).map(|k| site.submit(1 + k % 4, 1 + k % 3, 1)).collect();
    site.drain(Duration::from_secs(120));
    until("all is seen", || {
        let status = site.published();
        status["jobs"]["done"].as_u64() >= Some(24) && status["health"]["differences"] == 0
    });
    let starts = site.published()["health"]["counters"]["starts"].as_u64().expect("a count");
    assert!(starts <= 24, "{starts} starts of 24 jobs");
    let log = site.log();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("would start")).collect();
    let named: BTreeSet<&str> =
        lines.iter().filter_map(|line| line.split("job=").nth(1)?.split_whitespace().next()).collect();
    assert_eq!(lines.len(), named.len(), "each start is written once: {lines:?}");
    assert_eq!(lines.len() as u64, starts);
    assert!(named.len() <= jobs.len());
    // The log is the cluster's, and the report's baseline is its own scheduler.
    site.run(&["live", "journal", "export", "--out", "site.swf"]);
    let swf = std::fs::read_to_string(site.path("site.swf")).expect("written");
    assert!(swf.lines().any(|line| line.starts_with("; Computer: drystone")), "{}", &swf[..400.min(swf.len())]);
    let report: serde_json::Value =
        serde_json::from_str(&site.run(&["live", "report", "--format", "json"])).expect("JSON");
    let baseline = report["baseline"].as_str().expect("a policy");
    assert!(baseline.contains(&site.cluster.conf_path().display().to_string()), "{baseline}");
}
