//! Running Slurm's commands, each under a time-out.

use crate::cluster::ClusterError;
use nix::sys::resource::{UsageWho, getrusage};
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

/// Time limit of a command.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs commands, and knows what they cost.
#[derive(Debug)]
pub(super) struct Runner {
    conf: Option<PathBuf>,
    patience: Duration,
    /// Processor time of children when it was asked for last.
    asked: std::cell::Cell<Duration>,
    /// Folder of commands that a test has made.
    #[cfg(test)]
    folder: Option<PathBuf>,
}

#[derive(Debug)]
pub(super) struct CommandText {
    pub(super) status: ExitStatus,
    pub(super) out: String,
    pub(super) err: String,
}

/// Reason why a command gave no output.
#[derive(Debug)]
pub(super) enum Mute {
    /// It cannot be started.
    Missing(String),
    /// It took too long and was ended.
    TimedOut,
}

impl Runner {
    pub(super) fn new(conf: Option<PathBuf>) -> Runner {
        let runner = Runner {
            conf,
            patience: PATIENCE,
            asked: std::cell::Cell::new(Duration::ZERO),
            #[cfg(test)]
            folder: None,
        };
        runner.take_spent_time();
        runner
    }

    /// Finds commands in this folder alone.
    #[cfg(test)]
    pub(super) fn with_folder(self, folder: &std::path::Path) -> Runner {
        Runner { folder: Some(folder.to_path_buf()), ..self }
    }

    fn build_command(&self, program: &str) -> Command {
        #[cfg(test)]
        let program = &self.folder.as_ref().map_or(PathBuf::from(program), |folder| folder.join(program));
        let mut command = Command::new(program);
        // What a user set for his own eyes must not change what is read here.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            let sets = ["SQUEUE_", "SINFO_", "SCONTROL_", "SLURM_", "SCANCEL_", "SDIAG_", "SACCTMGR_"];
            if sets.iter().any(|set| text.starts_with(set)) && text != "SLURM_CONF" {
                command.env_remove(&name);
            }
        }
        command.env("SLURM_TIME_FORMAT", "%s").env("SLURM_BITSTR_LEN", "0").env("LC_ALL", "C");
        // Seconds since 1970 have no zone. Without one named, each time that is printed costs looks
        // at /etc/localtime.
        command.env("TZ", "UTC0");
        if let Some(conf) = &self.conf {
            command.env("SLURM_CONF", conf);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end.
    pub(super) fn run<S: AsRef<OsStr>>(
        &self,
        program: &str,
        args: &[S],
        input: Option<&str>,
    ) -> Result<CommandText, Mute> {
        let mut command = self.build_command(program);
        command.args(args);
        if input.is_some() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn().map_err(|e| Mute::Missing(format!("{program} cannot be started: {e}")))?;
        let (out, err) = (drain_stream(child.stdout.take()), drain_stream(child.stderr.take()));
        if let (Some(mut stdin), Some(text)) = (child.stdin.take(), input) {
            // A command that does not listen says why on its standard error.
            let _ = stdin.write_all(text.as_bytes());
        }
        let streams =
            out.recv_timeout(self.patience).ok().and_then(|out| Some((out, err.recv_timeout(self.patience).ok()?)));
        let Some((out, err)) = streams else {
            end_child(&mut child);
            return Err(Mute::TimedOut);
        };
        let status = child.wait().map_err(|e| Mute::Missing(format!("{program}: {e}")))?;
        Ok(CommandText { status, out, err })
    }

    /// The standard output of a command that has to succeed.
    pub(super) fn read_output(&self, program: &str, args: &[&str]) -> Result<String, ClusterError> {
        match self.run(program, args, None) {
            Ok(output) if output.status.success() => match unknown_column(&output.err) {
                // It prints all other columns, and counts that as a success.
                Some(problem) => {
                    Err(ClusterError::Broken(format!("{program} leaves out what is read here: {problem}")))
                }
                None => Ok(output.out),
            },
            Ok(output) => {
                let problem = output.err.lines().next().unwrap_or("it says nothing");
                Err(ClusterError::Silent(format!("{program} failed: {problem}")))
            }
            Err(Mute::Missing(problem)) => Err(ClusterError::Broken(format!("{problem}; is Slurm installed here?"))),
            Err(Mute::TimedOut) => {
                Err(ClusterError::Silent(format!("{program} did not answer within {} s", self.patience.as_secs())))
            }
        }
    }

    /// Processor time that commands have taken since this was asked last.
    pub(super) fn take_spent_time(&self) -> Duration {
        let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return Duration::ZERO };
        let whole = |time: nix::sys::time::TimeVal| {
            Duration::from_secs(time.tv_sec().unsigned_abs()) + Duration::from_micros(time.tv_usec().unsigned_abs())
        };
        let total_time = whole(usage.user_time()) + whole(usage.system_time());
        total_time.saturating_sub(self.asked.replace(total_time))
    }
}

/// Returns the complaint of a command about a column that its release does not know.
fn unknown_column(err: &str) -> Option<&str> {
    err.lines().find(|line| line.contains("Invalid") && line.contains("format specification"))
}

/// Reads a stream to its end, in a thread.
fn drain_stream(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (send, receive) = sync_channel(1);
    let read_stream = move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
    };
    // Where no thread is to be had nothing is sent: as if the command had not answered.
    let _ = std::thread::Builder::new().name("slurm".into()).spawn(read_stream);
    receive
}

fn end_child(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Complaint of `sinfo` 22.05, beside the status of a success and a line without the column.
    #[test]
    fn a_column_that_is_not_known_is_no_success() {
        let complaint = "sinfo: error: Invalid job format specification: FeaturesAct\n";
        assert_eq!(unknown_column(complaint), Some(complaint.trim_end()));
        assert_eq!(unknown_column("sinfo: warning: something else\n"), None);
        let folder = tempfile::tempdir().expect("a folder");
        let sinfo = folder.path().join("sinfo");
        std::fs::write(&sinfo, format!("#!/bin/sh\necho '|'\necho '{}' >&2\n", complaint.trim_end())).expect("written");
        let status = Command::new("chmod").arg("755").arg(&sinfo).status().expect("chmod runs");
        assert!(status.success());
        let run = Runner::new(None);
        let error = run.read_output(&sinfo.to_string_lossy(), &["-h"]).expect_err("its column is missing");
        assert!(matches!(&error, ClusterError::Broken(text) if text.contains(complaint.trim_end())), "{error}");
    }
}
