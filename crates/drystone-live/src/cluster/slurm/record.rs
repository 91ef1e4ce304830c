//! Recording of a test cluster: slurmctld's log with all that its schedulers can say, and looks at
//! the jobs. `drystone reproduce slurm` holds the model to it.

use super::run::Runner;
use crate::clock::{DaemonClock, MachineClock, unix_seconds, wall_millis};
use drystone_slurm::recording::{JobRecords, log_events, parse_epoch};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Flags of slurmctld that make its schedulers say what they do.
const FLAGS: [&str; 2] = ["Backfill", "Priority"];
/// Level of the log that has submissions, starts and nodes that answer.
const LEVEL: &str = "debug2";
/// Time in which slurmctld writes that its flags have changed.
const PATIENCE: Duration = Duration::from_secs(5);
/// Step of time zones, in seconds.
const QUARTER: i64 = 900;

/// Files of a recording, as text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordedFiles {
    /// `slurm.conf`, with the files that it includes.
    pub conf: String,
    /// `gres.conf`; empty where there is none.
    pub gres: String,
    /// Associations and QOS; empty where slurmctld has no database.
    pub accounts: String,
    /// A line for each job.
    pub jobs: String,
    /// A line for each happening.
    pub events: String,
}

impl RecordedFiles {
    /// Writes the files of the recording `name` into a folder.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write_files(&self, dir: &Path, name: &str) -> std::io::Result<()> {
        std::fs::create_dir_all(dir)?;
        let write = |end: &str, text: &str| match text.is_empty() {
            true => Ok(()),
            false => std::fs::write(dir.join(format!("{name}.{end}")), text),
        };
        write("conf", &self.conf)?;
        write("gres", &self.gres)?;
        write("accounts", &self.accounts)?;
        write("rep1.csv", &self.jobs)?;
        write("rep1.events", &self.events)
    }

    pub fn count_passes_and_starts(&self) -> (usize, usize) {
        let count = |words: &[&str]| {
            let of = |line: &&str| line.split(' ').nth(1).is_some_and(|event| words.contains(&event));
            self.events.lines().filter(of).count()
        };
        (count(&["bf_pass", "sched_pass"]), count(&["bf_start", "sched_start"]))
    }
}

/// A recording at work. The cluster gets its old settings back when it is dropped.
#[derive(Debug)]
pub struct ClusterRecorder {
    run: Runner,
    config: BTreeMap<String, String>,
    log: PathBuf,
    /// Length of the log when the recording began.
    from: u64,
    /// Lead of the log's clock over UTC, in seconds.
    zone: i64,
    /// Second of the beginning, since 1970.
    base: i64,
    jobs: JobRecords,
    /// Happenings that looks have seen, in milliseconds since the beginning.
    seen: Vec<(i64, String)>,
}

impl ClusterRecorder {
    /// Begins a recording: raises slurmctld's log level and debug flags. `log` is the path of its
    /// log, where that is not `SlurmctldLogFile`.
    ///
    /// # Errors
    /// Slurm does not answer, has jobs, may not be changed by this user, or has no log that can be
    /// read.
    pub fn begin_recording(conf: Option<PathBuf>, log: Option<PathBuf>) -> Result<ClusterRecorder, String> {
        let run = Runner::new(conf);
        let config = read_config(&ask_command(&run, "scontrol", &["show", "config"])?);
        let setting = |name: &str| config.get(name).map_or("", String::as_str);
        let jobs = ask_command(&run, "squeue", &["-h", "-o", "%A"])?.lines().count();
        if jobs > 0 {
            return Err(format!(
                "a recording begins on a cluster without jobs, since its log lacks the plans of earlier ones; squeue shows \
                 that {jobs} wait or run: begin when all have ended"
            ));
        }
        let format = setting("LogTimeFormat");
        if !format.is_empty() && format != "iso8601_ms" {
            return Err(format!(
                "LogTimeFormat is {format}; a recording needs milliseconds: set LogTimeFormat=iso8601_ms in slurm.conf"
            ));
        }
        let configured_log = Some(setting("SlurmctldLogFile")).filter(|file| file.starts_with('/')).map(PathBuf::from);
        let log = log.or(configured_log).ok_or("slurmctld writes no log file: set SlurmctldLogFile in slurm.conf")?;
        let length = std::fs::metadata(&log).and_then(|_| std::fs::File::open(&log)?.metadata());
        let from = length.map(|file| file.len()).map_err(|error| {
            format!("{}: {error}; run this where slurmctld runs, as a user who may read its log", log.display())
        })?;
        let mut recorder =
            ClusterRecorder { run, config, log, from, zone: 0, base: 0, jobs: JobRecords::default(), seen: Vec::new() };
        ask_command(&recorder.run, "scontrol", &["setdebug", LEVEL])?;
        for flag in FLAGS {
            ask_command(&recorder.run, "scontrol", &["setdebugflags", &format!("+{flag}")])?;
        }
        recorder.zone = recorder.find_zone()?;
        recorder.base = unix_seconds();
        Ok(recorder)
    }

    /// The zone of the log, from the line that tells of the flags.
    fn find_zone(&self) -> Result<i64, String> {
        let mut clock = MachineClock::new();
        let until = clock.steady_time() + PATIENCE;
        loop {
            let text = self.read_log()?;
            let stamp =
                text.lines().rev().find_map(|line| parse_epoch(line.strip_prefix('[')?.split(['.', ']']).next()?));
            if let Some(stamp) = stamp {
                let lead = stamp - unix_seconds();
                return Ok((lead + QUARTER / 2).div_euclid(QUARTER) * QUARTER);
            }
            if clock.steady_time() > until {
                return Err(format!(
                    "{}: slurmctld wrote nothing there after its log level was raised; give the path of its log with --log",
                    self.log.display()
                ));
            }
            clock.sleep(Duration::from_millis(50));
        }
    }

    fn read_log(&self) -> Result<String, String> {
        let read_bytes = || -> std::io::Result<Vec<u8>> {
            let mut file = std::fs::File::open(&self.log)?;
            file.seek(SeekFrom::Start(self.from))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read_bytes().map_err(|error| format!("{}: {error}", self.log.display()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Looks at the jobs. Returns how many have come, and how many of them have not ended.
    ///
    /// # Errors
    /// Slurm does not answer.
    pub fn record_look(&mut self) -> Result<(usize, usize), String> {
        let at = wall_millis() - self.base * 1000;
        let listing = ask_command(&self.run, "scontrol", &["-o", "-d", "show", "job"])?;
        let shares = self.jobs.look_at(&listing);
        self.seen.extend(shares.into_iter().map(|share| (at, share)));
        Ok(self.jobs.count_jobs())
    }

    /// Associations and QOS, where slurmctld has a database.
    fn read_accounts(&self) -> Result<String, String> {
        if self.config.get("AccountingStorageType").is_none_or(|kind| !kind.ends_with("slurmdbd")) {
            return Ok(String::new());
        }
        const COLUMNS: &str = "format=Cluster,Account,User,Partition,ParentName,Share,Priority,GrpJobs,GrpTRES,GrpSubmit,GrpWall,\
                               MaxJobs,MaxTRES,MaxSubmit,MaxWall,QOS,DefaultQOS";
        let assoc = ask_command(&self.run, "sacctmgr", &["-P", "show", "assoc", COLUMNS])?;
        Ok(assoc + &ask_command(&self.run, "sacctmgr", &["-P", "show", "qos"])?)
    }

    /// Ends the recording and restores slurmctld's settings.
    ///
    /// # Errors
    /// Slurm does not answer, or a file cannot be read.
    pub fn end_recording(mut self) -> Result<RecordedFiles, String> {
        self.record_look()?;
        let conf_path = self.config.get("SLURM_CONF").ok_or("scontrol show config names no SLURM_CONF")?;
        let conf = drystone_slurm::conf::flatten_file(conf_path).map_err(|error| error.to_string())?;
        let gres = std::fs::read_to_string(Path::new(conf_path).with_file_name("gres.conf")).unwrap_or_default();
        let accounts = self.read_accounts()?;
        let log = log_events(&self.read_log()?, self.base + self.zone);
        let mut events: Vec<(i64, String)> = std::mem::take(&mut self.seen);
        for line in log.lines() {
            let Some((at, event)) = line.split_once(' ') else { continue };
            let at = at.parse::<f64>().map_err(|_| format!("`{at}` is no time of the log"))?;
            events.push(((at * 1000.0).round() as i64, event.to_string()));
        }
        events.sort_by_key(|&(at, _)| at);
        let mut text = format!("# base_epoch {}\n", self.base);
        for (at, event) in events {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{:.3} {event}", at as f64 / 1000.0);
        }
        Ok(RecordedFiles { conf, gres, accounts, jobs: self.jobs.render_lines(self.base), events: text })
    }
}

impl Drop for ClusterRecorder {
    fn drop(&mut self) {
        let former_flags = self.config.get("DebugFlags").map_or("", String::as_str);
        for flag in FLAGS.into_iter().filter(|flag| !former_flags.split(',').any(|own| own.eq_ignore_ascii_case(flag)))
        {
            // An error is ignored: a Slurm that does not answer cannot be restored.
            let _ = ask_command(&self.run, "scontrol", &["setdebugflags", &format!("-{flag}")]);
        }
        if let Some(level) = self.config.get("SlurmctldDebug") {
            let _ = ask_command(&self.run, "scontrol", &["setdebug", level]);
        }
    }
}

fn ask_command(run: &Runner, program: &str, args: &[&str]) -> Result<String, String> {
    run.read_output(program, args).map_err(|error| error.to_string())
}

/// Lines `NAME = VALUE`.
fn read_config(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.trim().to_string(), value.trim().to_string())).collect()
}
