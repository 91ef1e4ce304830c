//! A site: a private Slurm with the hook, a state folder, and daemons that come and go.

use drystone_live::cluster::{ClusterOrder, JobKey, JobState};
use drystone_live::core::CoreInput;
use drystone_live::journal::{self, JournalRecord};
use drystone_live::state::{Beat, Home};
use drystone_testbed::{ClusterOptions, PrivateSlurm};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(crate) type Tests = Vec<(&'static str, fn())>;

/// Time limit of any action on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_drystone");

pub(crate) struct Site {
    pub(crate) cluster: PrivateSlurm,
    folder: TempDir,
    pub(crate) policy: String,
}

/// A daemon; killed when it is dropped.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    /// Sends a signal.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().expect("kill runs").success());
    }

    /// Kills it as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Waits until it has ended by itself; its exit code, -1 where a signal ended it.
    pub(crate) fn end(&mut self) -> i32 {
        let mut code = None;
        until("the daemon ends", || {
            code = self.0.try_wait().expect("asked");
            code.is_some()
        });
        code.and_then(|status| status.code()).unwrap_or(-1)
    }

    /// Processor time of the daemon and the commands that it ran.
    pub(crate) fn used(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).expect("it lives");
        let fields: Vec<u64> = stat
            .rsplit(')')
            .next()
            .into_iter()
            .flat_map(str::split_whitespace)
            .skip(11)
            .take(4)
            .flat_map(str::parse)
            .collect();
        // In ticks, of which Linux has a hundred a second for every program.
        Duration::from_millis(fields.iter().sum::<u64>() * 10)
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.try_wait().expect("asked").is_some()
    }
}

/// Returns whether runs are to be as long as those of the documents' figures.
pub(crate) fn full() -> bool {
    std::env::var_os("DRYSTONE_LIVE_FULL").is_some()
}

/// Waits until something holds.
pub(crate) fn until(condition: &str, holds: impl FnMut() -> bool) {
    within(PATIENCE, condition, holds);
}

/// Waits so long until something holds.
pub(crate) fn within(time: Duration, condition: &str, mut holds: impl FnMut() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < time, "never within {time:?}: {condition}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl Site {
    /// A site of one kind of cluster; `None`, said loudly, where there is no Slurm.
    pub(crate) fn start(nodes: u32, cpus: u32, policy: &str) -> Option<Site> {
        Site::with(ClusterOptions { nodes, cpus, ..ClusterOptions::default() }, policy)
    }

    /// Starts a site with these options.
    pub(crate) fn with(options: ClusterOptions, policy: &str) -> Option<Site> {
        Site::of(options, policy, &["main"])
    }

    /// Starts a site whose hook holds jobs of these partitions.
    pub(crate) fn of(options: ClusterOptions, policy: &str, partitions: &[&str]) -> Option<Site> {
        let folder = tempfile::Builder::new().prefix("drystone-live-").tempdir().expect("a folder");
        let home = home(&folder);
        std::fs::create_dir_all(home.run_folder()).expect("made");
        let partition_options: Vec<&str> = partitions.iter().flat_map(|name| ["--partition", name]).collect();
        let piece = |piece_name: &str| {
            let output =
                command(&folder).args(["live", "install", piece_name]).args(&partition_options).output().expect("runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            output.stdout
        };
        let wake = folder.path().join("wake.sh");
        std::fs::write(&wake, piece("wake")).expect("written");
        let status = Command::new("chmod").arg("755").arg(&wake).status().expect("chmod runs");
        assert!(status.success());
        let mut lines = options.lines.clone();
        lines.push("JobCompType=jobcomp/script".into());
        lines.push(format!("JobCompLoc={}", wake.display()));
        let hook = String::from_utf8(piece("hook")).expect("text");
        let cluster = PrivateSlurm::start_cluster(&ClusterOptions { lines, job_submit: Some(hook), ..options })?;
        Some(Site { cluster, folder, policy: policy.to_string() })
    }

    pub(crate) fn home(&self) -> Home {
        home(&self.folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program, about to run on this site.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = command(&self.folder);
        command.env("SLURM_CONF", self.cluster.conf_path()).args(args);
        command
    }

    /// Runs it to its end; the standard output of a success.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        let output = self.command(args).output().expect("runs");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    /// Begins a daemon and does not wait.
    pub(crate) fn begin(&self, mode: &str, more: &[&str], fault: Option<&str>) -> Running {
        let log = std::fs::File::options().create(true).append(true).open(self.path("daemon.log")).expect("a log");
        // `easy by count` is `easy`, and `--by-count` beside it.
        let (policy, by_count): (&str, &[&str]) = match self.policy.strip_suffix(" by count") {
            Some(policy) => (policy, &["--by-count"]),
            None => (&self.policy, &[]),
        };
        let args = [&["live", mode, "--policy", policy, "--listen", "none"], by_count, more].concat();
        let mut command = self.command(&args);
        if let Some(fault) = fault {
            command.env("DRYSTONE_LIVE_FAULT", fault);
        }
        Running(command.stdout(Stdio::null()).stderr(log).spawn().expect("begins"))
    }

    /// Drives, and waits for the next heartbeat.
    pub(crate) fn drive(&self) -> Running {
        self.drive_with(&[], None)
    }

    pub(crate) fn drive_with(&self, more: &[&str], fault: Option<&str>) -> Running {
        let before = self.instance();
        let daemon = self.begin("drive", more, fault);
        until("a daemon drives", || {
            let now = self.instance();
            now.is_some() && now != before
        });
        daemon
    }

    /// Returns the identity in the last heartbeat.
    pub(crate) fn instance(&self) -> Option<String> {
        if let Beat::At { instance, .. } = Beat::read_beat(&self.home().heartbeat_path()) {
            Some(instance)
        } else {
            None
        }
    }

    /// Returns the age of the heartbeat, in seconds.
    pub(crate) fn silence(&self) -> Option<i64> {
        if let Beat::At { second, .. } = Beat::read_beat(&self.home().heartbeat_path()) {
            return Some(drystone_live::clock::unix_seconds() - second);
        }
        None
    }

    /// Begins a shadow, and waits for its first words.
    pub(crate) fn shadow(&self) -> Running {
        let status = self.home().status_path();
        let _ = std::fs::remove_file(&status);
        let daemon = self.begin("shadow", &[], None);
        until("the shadow looks", || status.exists());
        daemon
    }

    /// Returns the daemon's last document.
    pub(crate) fn published(&self) -> Value {
        let bytes = std::fs::read(self.home().status_path()).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or(Value::Null)
    }

    /// The daemon's log.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.path("daemon.log")).unwrap_or_default()
    }

    /// Submits a job that sleeps.
    pub(crate) fn submit(&self, procs: u32, seconds: u32, minutes: u32) -> u64 {
        self.submit_with(procs, seconds, minutes, &[])
    }

    pub(crate) fn submit_with(&self, procs: u32, seconds: u32, minutes: u32, more: &[&str]) -> u64 {
        let (procs, minutes, wrap) = (procs.to_string(), minutes.to_string(), format!("sleep {seconds}"));
        let args =
            [&["--parsable", "-o", "/dev/null", "-n", &procs, "-t", &minutes], more, &["--wrap", &wrap]].concat();
        let answer = self.cluster.command_output("sbatch", &args);
        answer.trim().parse().unwrap_or_else(|e| panic!("{answer}: {e}"))
    }

    /// Runs a command of Slurm, which has to succeed.
    pub(crate) fn tell(&self, program: &str, args: &[&str]) {
        drop(self.cluster.command_output(program, args));
    }

    /// States of all jobs that Slurm lists, by what it calls them.
    pub(crate) fn states(&self) -> BTreeMap<String, String> {
        let listing = self.cluster.command_output("squeue", &["-h", "-a", "-r", "-t", "all", "-o", "%i %t %Q"]);
        listing
            .lines()
            .filter_map(|line| {
                let [name, state, priority] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
                let is_held = state == "PD" && priority == "0";
                Some((name.to_string(), if is_held { "held".into() } else { state.to_string() }))
            })
            .collect()
    }

    /// The state of a job; empty where it is not listed.
    pub(crate) fn state(&self, job: u64) -> String {
        self.states().remove(&job.to_string()).unwrap_or_default()
    }

    /// Waits until a job is in one of these states.
    pub(crate) fn await_state(&self, job: u64, states: &[&str]) {
        until(&format!("job {job} is {states:?}; it is {}", self.state(job)), || {
            states.contains(&self.state(job).as_str())
        });
    }

    /// Waits until every job is over.
    pub(crate) fn drain(&self, time: Duration) {
        let since = Instant::now();
        while !self.cluster.command_output("squeue", &["-h", "-a", "-o", "%A"]).trim().is_empty() {
            assert!(since.elapsed() < time, "jobs are left after {time:?}: {}", self.told());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits until the books are what Slurm shows.
    pub(crate) fn settled(&self) {
        until("the books agree", || self.published()["health"]["differences"] == 0);
    }

    /// Returns whether this machine has much else to do: then Slurm is late under any scheduler.
    pub(crate) fn is_strained(&self) -> bool {
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load: f64 = load.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0.0);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        load > 1.5 * cores as f64
    }

    /// Returns the diagnostics of a failed test.
    pub(crate) fn told(&self) -> String {
        let queue = self.cluster.command_output("squeue", &["-h", "-a", "-t", "all", "-o", "%i %t %r %Q %C %N"]);
        let live: Vec<&str> =
            queue.lines().filter(|line| !line.contains(" CD ") && !line.contains(" CA ")).take(20).collect();
        let status = self.published();
        format!(
            "queue {live:?}; published {} {} {}; log {}",
            status["jobs"],
            status["health"],
            status["waiting"],
            self.log_tail()
        )
    }

    pub(crate) fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(12)..].join(" | ")
    }

    /// Returns the number of starts of each job, by the controller's log.
    pub(crate) fn starts(&self) -> BTreeMap<String, usize> {
        let log = std::fs::read_to_string(self.cluster.root().join("log/slurmctld.log")).expect("a log");
        let mut starts = BTreeMap::new();
        for start in log.lines().filter_map(started) {
            let name = start.split(' ').next();
            // A task is called 21_3(24) there.
            let name = name.map(|name| name.split('(').next().unwrap_or(name).to_string());
            *starts.entry(name.unwrap_or_default()).or_insert(0) += 1;
        }
        starts
    }

    /// Returns the number of tasks of an array that run, by the controller's log.
    pub(crate) fn running_of(&self, array: u64) -> usize {
        let log = std::fs::read_to_string(self.cluster.root().join("log/slurmctld.log")).expect("a log");
        let lines = log.lines().filter(|line| line.contains(&format!("JobId={array}_")));
        let (starts, ends) = lines.fold((0, 0), |(starts, ends), line| {
            let over = line.contains("_job_complete: ") && line.ends_with(" done");
            (starts + usize::from(self::started(line).is_some()), ends + usize::from(over))
        });
        starts.saturating_sub(ends)
    }

    /// No job was started twice, and as many were started as were submitted.
    pub(crate) fn each_started_once(&self, jobs: usize) {
        let starts = self.starts();
        let twice: Vec<_> = starts.iter().filter(|(_, times)| **times > 1).collect();
        assert!(twice.is_empty(), "started twice: {twice:?}");
        assert_eq!(starts.len(), jobs);
    }

    /// Every order of the journal.
    pub(crate) fn orders(&self) -> Vec<ClusterOrder> {
        let records = journal::read_journal(&self.home().journal_folder()).expect("a journal");
        let outputs = records.into_iter().flat_map(|(_, records)| records);
        outputs
            .filter_map(|record| if let JournalRecord::Out(output) = record { Some(output.orders) } else { None })
            .flatten()
            .collect()
    }

    /// The journal replays to the same actions.
    pub(crate) fn replays(&self) {
        for (_, folder) in self.home().list_journals() {
            let outcome = journal::replay_journal(&folder).expect("replays");
            assert_eq!(outcome.mismatch, None, "something else came out");
            assert!(outcome.inputs > 0);
        }
    }

    /// For each job of the journal: seconds from the decision to start it to the start that Slurm
    /// shows, and from the end that Slurm shows to the look that saw it.
    pub(crate) fn delays(&self) -> Delays {
        let mut decisions: BTreeMap<JobKey, i64> = BTreeMap::new();
        let mut delays = Delays::default();
        for (_, records) in journal::read_journal(&self.home().journal_folder()).expect("a journal") {
            let mut time = 0;
            for record in records {
                match record {
                    JournalRecord::In(CoreInput::Facts { delta, .. }) => {
                        time = delta.time;
                        for fact in delta.changed.iter().filter(|fact| !fact.places.is_empty()) {
                            for key in fact.job_keys() {
                                if let (Some(start), Some(at)) = (fact.start, decisions.get(&key)) {
                                    delays.starts.insert(key, start - at);
                                }
                                if let (JobState::Ended(_), Some(end)) = (fact.state, fact.end) {
                                    delays.ends.entry(key).or_insert(time - end);
                                }
                            }
                        }
                    }
                    JournalRecord::Out(output) => {
                        let releases = output.orders.iter().filter(|order| matches!(order, ClusterOrder::Release(_)));
                        decisions.extend(releases.map(|order| (order.job_key(), time)));
                    }
                    _ => {}
                }
            }
        }
        delays
    }
}

/// Returns what follows the words for a start in a line of slurmctld's log, by either scheduler.
fn started(line: &str) -> Option<&str> {
    let words = [": Allocate JobId=", "_start_job: Started JobId="];
    words.iter().find_map(|words| Some(line.split_once(words)?.1))
}

/// Delays of events, in seconds.
#[derive(Default)]
pub(crate) struct Delays {
    pub(crate) starts: BTreeMap<JobKey, i64>,
    pub(crate) ends: BTreeMap<JobKey, i64>,
}

/// Returns the user of this test.
pub(crate) fn user() -> String {
    let output = Command::new("id").arg("-un").output().expect("id runs");
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}

fn home(folder: &TempDir) -> Home {
    Home::new(folder.path().join("state"), folder.path().join("run"))
}

fn command(folder: &TempDir) -> Command {
    let home = home(folder);
    let mut command = Command::new(PROGRAM);
    command
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .env("DRYSTONE_STATE", home.state_folder())
        .env("DRYSTONE_RUN", home.run_folder());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "DRYSTONE_LIVE_FAULT"] {
        command.env_remove(name);
    }
    command
}
