//! A cluster from its start to its end.

use crate::config::{ClusterOptions, Host, slurm_conf};
use crate::database::{self, Database};
use crate::{daemons, munge, ports};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

/// Number of tries to start a cluster, each on other ports.
const TRIES: u32 = 3;
/// Time nodes may take to come up, and the polling interval.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);

/// A Slurm of its own. It ends when it is dropped, or when the process that started it dies.
#[derive(Debug)]
pub struct PrivateSlurm {
    root: PathBuf,
    options: ClusterOptions,
    controller: Option<Child>,
    nodes: BTreeMap<String, Child>,
    database: Option<Database>,
    munge: Option<Child>,
    guard: Child,
}

impl PrivateSlurm {
    /// Starts a cluster and waits until every node is idle. `None`, said on the standard error,
    /// where Slurm is not installed.
    ///
    /// # Panics
    /// Slurm is not installed and `DRYSTONE_SLURM_REQUIRED` is set, or it does not come up.
    pub fn start_cluster(options: &ClusterOptions) -> Option<PrivateSlurm> {
        let programs = ["slurmctld", "slurmd", "sbatch", "squeue"].into_iter();
        let programs = programs.chain(database::PROGRAMS.into_iter().filter(|_| options.accounts.is_some()));
        let programs = programs.chain(options.munge.then_some(munge::PROGRAM));
        let missing = programs.into_iter().find(|program| daemons::find_program(program).is_none());
        if let Some(program) = missing {
            let is_required = std::env::var_os("DRYSTONE_SLURM_REQUIRED").is_some_and(|value| value != "0");
            assert!(!is_required, "there is no {program}, and DRYSTONE_SLURM_REQUIRED is set");
            eprintln!(
                "SKIPPED: there is no {program}, so that nothing was tried on a real Slurm (install slurmctld, slurmd, slurm-client, slurmdbd and mariadb-server)"
            );
            return None;
        }
        let mut problem = String::new();
        for _ in 0..TRIES {
            match PrivateSlurm::try_start(options) {
                Ok(cluster) => return Some(cluster),
                Err(error) => problem = error,
            }
        }
        panic!("Slurm does not come up: {problem}");
    }

    fn try_start(options: &ClusterOptions) -> Result<PrivateSlurm, String> {
        let error_text = |e: std::io::Error| e.to_string();
        let root = tempfile::Builder::new().prefix("drystone-slurm-").tempdir().map_err(error_text)?.keep();
        for folder in ["etc", "log", "pid", "state"] {
            std::fs::create_dir_all(root.join(folder)).map_err(error_text)?;
        }
        let host = Host {
            name: host_name(),
            user: daemons::command_output("id", &["-un"])
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| "root".to_string()),
            ports: ports::free_ports(2 + options.nodes as usize).map_err(error_text)?,
        };
        let guard = daemons::start_guard(&root).map_err(error_text)?;
        let mut cluster = PrivateSlurm {
            root,
            options: options.clone(),
            controller: None,
            nodes: BTreeMap::new(),
            database: None,
            munge: None,
            guard,
        };
        let root = cluster.root.clone();
        if options.munge {
            cluster.munge = Some(munge::start_munge(&root)?);
        }
        if options.accounts.is_some() {
            cluster.database = Some(Database::start_database(&root, &host.name, &host.user)?);
        }
        let storage = cluster.database.as_ref().map_or(String::new(), Database::conf_lines);
        std::fs::write(root.join("etc/slurm.conf"), slurm_conf(options, &host, &root, &storage)).map_err(error_text)?;
        if let Some(text) = &options.job_submit {
            std::fs::write(root.join("etc/job_submit.lua"), text).map_err(error_text)?;
        }
        if let Some(gres) = &options.gres {
            let text = gres_conf(gres, &root.join("etc")).map_err(error_text)?;
            std::fs::write(root.join("etc/gres.conf"), text).map_err(error_text)?;
        }
        cluster.add_accounts()?;
        cluster.start_controller();
        for node in 1..=options.nodes {
            cluster.start_node(&format!("n{node}"));
        }
        if cluster.wait_until_idle() { Ok(cluster) } else { Err(cluster.log_ends()) }
    }

    /// Enters the accounts into the database, before slurmctld asks for them.
    fn add_accounts(&self) -> Result<(), String> {
        let Some(accounts) = &self.options.accounts else { return Ok(()) };
        let first = std::iter::once("add cluster drystone".to_string());
        for line in first.chain(accounts.iter().cloned()) {
            let output = self.slurm_command("sacctmgr").arg("-i").args(line.split_whitespace()).output();
            let output = output.map_err(|e| e.to_string())?;
            if !output.status.success() {
                let (stdout, stderr) =
                    (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
                return Err(format!("sacctmgr {line}: {stdout}{stderr}"));
            }
        }
        Ok(())
    }

    /// Ends slurmdbd as `kill -9` does: the accounting does not answer any more.
    pub fn kill_accounting(&self) {
        let pids: Vec<u32> = daemons::working_below(&self.root)
            .into_iter()
            .filter(|&pid| daemons::command_line(pid).contains("slurmdbd"))
            .collect();
        kill_processes(&pids);
    }

    /// The folder of its files: `etc`, `log`, `state`, and a spool of each node.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Its `slurm.conf`, which `SLURM_CONF` must name for Slurm's commands.
    pub fn conf_path(&self) -> PathBuf {
        self.root.join("etc/slurm.conf")
    }

    /// One of Slurm's commands, ready to be run on this cluster.
    pub fn slurm_command(&self, program: &str) -> Command {
        let mut command = Command::new(daemons::find_program(program).unwrap_or_else(|| PathBuf::from(program)));
        command.env("SLURM_CONF", self.conf_path()).env("TZ", "UTC");
        command
    }

    /// The standard output of a command of Slurm.
    ///
    /// # Panics
    /// It fails.
    pub fn command_output(&self, program: &str, args: &[&str]) -> String {
        let output = self.slurm_command(program).args(args).output().expect("Slurm's commands run");
        let problem = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {args:?}: {problem}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Starts `slurmctld`, from what it saved if it ran before.
    ///
    /// # Panics
    /// It cannot be started.
    pub fn start_controller(&mut self) {
        self.controller = Some(daemons::start_daemon("slurmctld", &["-D"], &self.root).expect("slurmctld starts"));
    }

    /// Kills `slurmctld` as `kill -9` does.
    pub fn kill_controller(&mut self) {
        self.controller.take().into_iter().for_each(end_child);
    }

    /// Stops `slurmctld` as SIGSTOP does, or resumes it.
    pub fn pause_controller(&self, is_pause: bool) {
        if let Some(controller) = &self.controller {
            send_signal(if is_pause { "-STOP" } else { "-CONT" }, controller.id());
        }
    }

    /// Starts the `slurmd` of a node.
    ///
    /// # Panics
    /// It cannot be started.
    pub fn start_node(&mut self, node: &str) {
        let child = daemons::start_daemon("slurmd", &["-D", "-N", node], &self.root).expect("slurmd starts");
        self.nodes.insert(node.to_string(), child);
    }

    /// Kills the `slurmd` of a node as `kill -9` does. Its jobs keep running: see
    /// [`PrivateSlurm::kill_steps`].
    pub fn kill_node(&mut self, node: &str) {
        self.nodes.remove(node).into_iter().for_each(end_child);
    }

    /// Kills every step daemon of a node and the jobs below them, as a node that loses its power
    /// does.
    pub fn kill_steps(&self, node: &str) {
        for step in self.list_steps(node) {
            kill_processes(&step);
        }
    }

    /// Returns whether a job has processes on a node: it shows as running a moment before.
    pub fn runs_steps(&self, node: &str) -> bool {
        !self.list_steps(node).is_empty()
    }

    /// Returns the step daemons of a node, each with the processes of its job behind it.
    fn list_steps(&self, node: &str) -> Vec<Vec<u32>> {
        let is_step = |pid: &u32| daemons::command_line(*pid).starts_with("slurmstepd");
        let is_of_node = |pid: &u32| {
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let name = format!("SLURMD_NODENAME={node}");
            environ.split(|byte| *byte == 0).any(|variable| variable == name.as_bytes())
        };
        let with_jobs = |step: u32| {
            let jobs = daemons::child_pids(step);
            jobs.iter().any(is_of_node).then(|| [vec![step], jobs].concat())
        };
        daemons::working_below(&self.root).into_iter().filter(is_step).filter_map(with_jobs).collect()
    }

    /// Waits until every node is idle; returns false on timeout.
    fn wait_until_idle(&mut self) -> bool {
        let mut patience = PATIENCE;
        while !patience.is_zero() {
            let states = self.slurm_command("sinfo").args(["-h", "-N", "-o", "%N %t"]).output();
            let states = states.map_or(String::new(), |o| String::from_utf8_lossy(&o.stdout).into_owned());
            let mut idle: Vec<&str> = states.lines().filter_map(|line| line.strip_suffix(" idle")).collect();
            idle.sort_unstable();
            idle.dedup();
            if idle.len() == self.options.nodes as usize {
                return true;
            }
            let has_ended = |child: &mut Child| child.try_wait().is_ok_and(|status| status.is_some());
            if self.controller.as_mut().is_some_and(has_ended) || self.nodes.values_mut().any(has_ended) {
                return false;
            }
            std::thread::sleep(LOOK);
            patience = patience.saturating_sub(LOOK);
        }
        false
    }

    /// The ends of all logs, to find out what is wrong.
    pub fn log_ends(&self) -> String {
        let Ok(entries) = std::fs::read_dir(self.root.join("log")) else { return String::new() };
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        let tail = |file: &PathBuf| {
            let text = std::fs::read(file).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let lines: Vec<&str> = text.lines().collect();
            format!("{}:\n{}\n", file.display(), lines[lines.len().saturating_sub(20)..].join("\n"))
        };
        files.iter().map(tail).collect()
    }
}

impl Drop for PrivateSlurm {
    fn drop(&mut self) {
        // The guard kills all there is and removes the folder; then the dead are reaped.
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
        let daemons = self.controller.take().into_iter().chain(std::mem::take(&mut self.nodes).into_values());
        let daemons = daemons.chain(self.munge.take());
        daemons.chain(self.database.take().into_iter().flat_map(Database::into_children)).for_each(end_child);
    }
}

/// `gres.conf` for resources such as `gpu:a100:2`. Slurm wants a file for each GPU and only looks
/// whether it is there.
fn gres_conf(gres: &str, folder: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    for (at, entry) in gres.split(',').enumerate() {
        let parts: Vec<&str> = entry.split(':').collect();
        let count: u32 = parts.last().and_then(|last| last.parse().ok()).unwrap_or(1);
        let kind = if parts.len() > 2 { format!(" Type={}", parts[1]) } else { String::new() };
        for device in 0..count {
            let file = folder.join(format!("device{at}-{device}"));
            std::fs::write(&file, "")?;
            text.push_str(&format!("Name={}{kind} File={}\n", parts[0], file.display()));
        }
    }
    Ok(text)
}

/// Ends a child and reaps it.
fn end_child(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}

fn send_signal(name: &str, pid: u32) {
    let _ = Command::new("kill").args([name, &pid.to_string()]).stderr(std::process::Stdio::null()).status();
}

/// Kills processes as `kill -9` does. Those that are gone already do not matter.
fn kill_processes(pids: &[u32]) {
    let pids = pids.iter().map(ToString::to_string);
    let _ = Command::new("kill").arg("-9").args(pids).stderr(std::process::Stdio::null()).status();
}

/// This machine's name without its domain, as Slurm compares it.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().split('.').next().unwrap_or_default().to_string()
}
