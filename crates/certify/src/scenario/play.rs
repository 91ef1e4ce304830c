//! Plays a scenario.

use super::recording::write_csv_line;
use super::{Recording, Scenario, SleepingJob};
use drystone_slurm::recording::{log_events, parse_epoch};
use drystone_testbed::{PrivateSlurm, command_output};
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Additions of the recorder to the configuration: a complete log, and a memory of ended jobs.
const TELLING: [&str; 4] =
    ["SlurmctldDebug=debug2", "DebugFlags=Backfill,Priority", "MinJobAge=3600", "MaxJobCount=20000"];

/// The columns of associations: those that are shown unasked have no parent.
const ASSOC: &str = "format=Cluster,Account,User,Partition,ParentName,Share,Priority,GrpJobs,GrpTRES,GrpSubmit,GrpWall,\
GrpTRESMins,GrpTRESRunMins,MaxJobs,MaxTRES,MaxTRESMins,MaxSubmit,MaxWall,QOS,DefaultQOS";

/// The columns of a job's line.
const COLUMNS: &str = "job,slurm_id,submit,eligible,start,end,n,limit_min,run_s,partition,user,priority,nodes,state,\
account,qos,array_job,array_task,throttle,one,min_nodes,exclusive,nice,restarts,uid";

impl Scenario {
    /// Plays it on a cluster of its own, which it starts and stops. `None` where Slurm is not
    /// installed.
    ///
    /// # Panics
    /// Slurm refuses or fails a command.
    pub fn record_run(&self) -> Option<Recording> {
        let mut options = self.options.clone();
        options.lines.splice(0..0, TELLING.map(String::from));
        let cluster = PrivateSlurm::start_cluster(&options)?;
        // Everything that happens at the start is to be over.
        std::thread::sleep(Duration::from_secs(2));
        let base = self.play_jobs(&cluster);
        let jobs = self.job_lines(&cluster, base);
        let text = std::fs::read(cluster.root().join("log/slurmctld.log")).expect("slurmctld's log");
        let text = String::from_utf8_lossy(&text).into_owned();
        let conf = std::fs::read_to_string(cluster.conf_path()).expect("slurm.conf");
        let root = cluster.root().display().to_string();
        let host = command_output("hostname", &["-s"]).unwrap_or_default();
        let accounts = match self.options.accounts {
            Some(_) => {
                let assoc = cluster.command_output("sacctmgr", &["-P", "show", "assoc", ASSOC]);
                assoc + &cluster.command_output("sacctmgr", &["-P", "show", "qos"])
            }
            None => String::new(),
        };
        Some(Recording {
            name: self.name.clone(),
            conf: conf.replace(&root, "/ROOT").replace(&format!("={host}"), "=HOST"),
            jobs,
            events: format!("# base_epoch {base}\n{}", log_events(&text, base)),
            accounts,
            log: text,
        })
    }

    /// Submits everything and waits until all is over. Returns the second of the first submission.
    fn play_jobs(&self, cluster: &PrivateSlurm) -> i64 {
        let root = command_output("id", &["-u"]).is_some_and(|id| id == "0");
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // A third of a second into a second.
        let begin = Duration::from_secs(now().as_secs() + 1) + Duration::from_millis(300);
        std::thread::sleep(begin.saturating_sub(now()));
        for (k, job) in self.jobs.iter().enumerate() {
            let due = begin + Duration::from_secs_f64(job.at);
            std::thread::sleep(due.saturating_sub(now()));
            self.submit_job(cluster, k, job, root);
        }
        let until = Instant::now() + Duration::from_secs(self.patience.into());
        while Instant::now() < until && !cluster.command_output("squeue", &["-h", "-o", "%A"]).trim().is_empty() {
            std::thread::sleep(Duration::from_secs(1));
        }
        begin.as_secs() as i64
    }

    fn submit_job(&self, cluster: &PrivateSlurm, k: usize, job: &SleepingJob, root: bool) {
        let mut args = vec![format!("-Jj{k}"), "-o/dev/null".to_string(), format!("-t{}", job.limit)];
        if self.options.cpus == 1 {
            args.push(format!("-N{}", job.n));
        } else {
            args.push(format!("-n{}", job.n));
        }
        args.extend(job.one.then(|| "-N1-1".to_string()));
        args.extend(job.nodes.map(|nodes| format!("-N{nodes}-{nodes}")));
        args.extend(job.exclusive.then(|| "--exclusive".to_string()));
        args.extend(job.partition.as_ref().map(|p| format!("-p{p}")));
        args.extend(job.account.as_ref().map(|a| format!("-A{a}")));
        args.extend(job.qos.as_ref().map(|q| format!("-q{q}")));
        args.extend(job.nice.map(|nice| format!("--nice={nice}")));
        args.extend(job.array.map(|(tasks, throttle)| match throttle {
            Some(most) => format!("-a0-{}%{most}", tasks - 1),
            None => format!("-a0-{}", tasks - 1),
        }));
        if let Some(user) = job.user.as_ref().filter(|_| root) {
            args.extend([format!("--uid={user}"), format!("--gid={user}")]);
        }
        let wrap = format!("exec sleep {}", job.run);
        let mut command = cluster.slurm_command("sbatch");
        command.args(["--parsable", "--chdir=/", "--wrap", &wrap]).args(&args);
        // A submission that a limit refuses is made again, as a user would.
        for _ in 0..600 {
            let output = command.output().expect("sbatch runs");
            if output.status.success() {
                return;
            }
            let problem = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(problem.contains("policy"), "sbatch {args:?}: {problem}");
            std::thread::sleep(Duration::from_millis(500));
        }
    }

    /// A line for each job, and each task of an array.
    fn job_lines(&self, cluster: &PrivateSlurm, base: i64) -> String {
        let mut rows = BTreeMap::new();
        for line in cluster.command_output("scontrol", &["-o", "show", "job"]).lines() {
            let fields = line.split_whitespace().filter_map(|word| word.split_once('='));
            let fields: BTreeMap<&str, &str> = fields.collect();
            if let Some((id, row)) = self.job_row(&fields, base) {
                rows.insert(id, row);
            }
        }
        let mut out = format!("{COLUMNS}\n");
        rows.values().for_each(|row| write_csv_line(row, &mut out));
        out
    }

    fn job_row(&self, fields: &BTreeMap<&str, &str>, base: i64) -> Option<(u64, Vec<String>)> {
        let field = |name: &str| fields.get(name).copied().unwrap_or_default();
        let k: usize = field("JobName").strip_prefix('j')?.parse().ok()?;
        let job = self.jobs.get(k)?;
        let id: u64 = field("JobId").parse().ok()?;
        let at = |name: &str| parse_epoch(field(name)).map_or("-1".to_string(), |t| (t - base).to_string());
        let (user, uid) = field("UserId").split_once('(').unwrap_or_default();
        let number = |value: Option<u32>| value.map_or(String::new(), |value| value.to_string());
        let own = |name: &str| field(name).to_string();
        let row = vec![
            k.to_string(),
            id.to_string(),
            at("SubmitTime"),
            at("EligibleTime"),
            at("StartTime"),
            at("EndTime"),
            job.n.to_string(),
            job.limit.to_string(),
            job.run.to_string(),
            own("Partition"),
            user.to_string(),
            own("Priority"),
            own("NodeList"),
            own("JobState"),
            own("Account"),
            own("QOS"),
            own("ArrayJobId"),
            own("ArrayTaskId"),
            number(job.array.and_then(|(_, throttle)| throttle)),
            u8::from(job.one).to_string(),
            number(job.nodes),
            u8::from(job.exclusive).to_string(),
            job.nice.unwrap_or(0).to_string(),
            own("Restarts"),
            uid.trim_end_matches(')').to_string(),
        ];
        Some((id, row))
    }
}
