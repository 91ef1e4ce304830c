//! Slurm: arrays of tasks.

use super::batch::{Array, BatchSystem, run_command};
use crate::error::SweepError;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Slurm, by its commands on `PATH`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SlurmBatch;

/// Warning time before a long time limit at which a task is asked to stop, in seconds.
const NOTICE: u64 = 90;

/// Options that the script sets itself, with what sets them.
const OURS: [(&[&str], &str); 6] = [
    (&["--array", "-a"], "--tasks and --max-running"),
    (&["--time", "-t"], "--time"),
    (&["--cpus-per-task", "-c"], "--cpus"),
    (&["--output", "-o", "--error", "-e", "--open-mode"], "the tasks' folder, where `status` looks for logs"),
    (&["--ntasks", "-n", "--nodes", "-N"], "the sweep: a task is one process"),
    (&["--wrap", "--parsable", "--test-only", "--wait", "-W"], "the sweep"),
];

impl BatchSystem for SlurmBatch {
    fn render_script(&self, array: &Array<'_>) -> String {
        let terms = array.terms;
        let running_limit = terms.max_running.map_or(String::new(), |most| format!("%{most}"));
        // %A and %a are the array and the task; a % of the folder's own is doubled.
        let log = format!("{}/log/%A_%a.log", array.folder.to_string_lossy().replace('%', "%%"));
        let mut options = vec![
            format!("--job-name={}", directive_value(array.name)),
            format!("--array=1-{}{running_limit}", array.tasks),
            format!("--nodes=1 --ntasks=1 --cpus-per-task={}", terms.cpus),
        ];
        if let Some(limit) = terms.limit {
            options.push(format!("--time={}", limit.div_ceil(60)));
            options.push(format!("--signal=B:TERM@{}", notice_seconds(limit)));
        }
        options.push("--requeue --open-mode=append".to_string());
        options.push(format!("--output={}", directive_value(&log)));
        if !terms.args.is_empty() {
            options.push(terms.args.iter().map(|arg| directive_value(arg)).collect::<Vec<_>>().join(" "));
        }
        let mut text = "#!/bin/sh\n".to_string();
        text.push_str(&array.header_comment("#", "`sbatch FILE` submits them."));
        for option in options {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "#SBATCH {option}");
        }
        // In the place of the shell, so that signals reach it.
        let _ = write!(text, "\nexec {}\n", array.task_command("\"$SLURM_ARRAY_TASK_ID\""));
        text
    }

    fn submit(&self, script: &Path) -> Result<String, SweepError> {
        let mut command = Command::new("sbatch");
        command.arg("--parsable").arg(script);
        let answer = run_command(command)?;
        // With several clusters, `number;cluster`. Plugins may say things before it.
        let last = answer.lines().last().unwrap_or_default();
        let job = last.split(';').next().unwrap_or_default().trim();
        if job.is_empty() || !job.bytes().all(|b| b.is_ascii_digit()) {
            return Err(SweepError::batch_error(format!("sbatch did not say the number of the job, but: {answer}")));
        }
        Ok(job.to_string())
    }
}

impl SlurmBatch {
    /// Returns the largest number of tasks that an array may have here.
    ///
    /// # Errors
    /// Slurm cannot be asked.
    pub fn most_tasks(&self) -> Result<u64, SweepError> {
        let mut command = Command::new("scontrol");
        command.args(["show", "config"]);
        let config = run_command(command)?;
        let value = config.lines().find_map(|line| line.strip_prefix("MaxArraySize")?.split_once('=').map(|(_, v)| v));
        let size: Option<u64> = value.and_then(|value| value.trim().parse().ok());
        // The largest index is one less, and ours begin with 1.
        size.map(|size| size.saturating_sub(1)).ok_or_else(|| {
            SweepError::batch_error("scontrol show config does not say MaxArraySize: is this Slurm?".to_string())
        })
    }

    /// Cancels jobs: those of their tasks that wait, and unless `waiting_only` those that run,
    /// which publish and stop.
    ///
    /// # Errors
    /// Slurm cannot be asked, or refuses.
    pub fn cancel_jobs(&self, jobs: &[String], waiting_only: bool) -> Result<(), SweepError> {
        let mut command = Command::new("scancel");
        command.args(waiting_only.then_some("--state=PENDING")).args(jobs);
        run_command(command).map(drop)
    }

    /// Refuses arguments of `sbatch` that would set what the sweep sets.
    ///
    /// # Errors
    /// There is such an argument.
    pub fn check_args(&self, args: &[String]) -> Result<(), SweepError> {
        let short = |arg: &str, name: &str| !name.starts_with("--") && arg.starts_with(name) && !arg.starts_with("--");
        for arg in args {
            let word = arg.split('=').next().unwrap_or_default();
            if let Some((_, by)) =
                OURS.iter().find(|(names, _)| names.iter().any(|name| word == *name || short(arg, name)))
            {
                return Err(SweepError::refusal_error(format!(
                    "`{arg}` cannot be given to sbatch here: it is set by {by}"
                )));
            }
        }
        match args.iter().find(|arg| arg.contains(['\n', '\r'])) {
            Some(arg) => Err(SweepError::refusal_error(format!("`{}` has a line end", arg.escape_debug()))),
            None => Ok(()),
        }
    }
}

/// Returns the warning time before a time limit: enough to publish, and a small part of a short
/// limit.
fn notice_seconds(limit: u64) -> u64 {
    NOTICE.min(limit / 6).max(5)
}

/// A value in a line that begins with #SBATCH.
fn directive_value(value: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && !"\"'\\#".contains(c);
    if value.chars().all(plain) {
        return value.to_string();
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Terms;

    fn terms() -> Terms {
        Terms {
            tasks: 64,
            cpus: 4,
            limit: Some(1800),
            max_running: Some(16),
            scratch: Some("/scratch/$USER".to_string()),
            publish_every: 60,
            logs: None,
            args: vec!["--partition=short".to_string(), "--comment=my sweep".to_string()],
            not_reproducible: false,
        }
    }

    #[test]
    fn the_script_is_what_a_user_of_slurm_would_write() {
        let terms = terms();
        let (folder, program) = (Path::new("/home/me/my study.db.tasks/1"), Path::new("/opt/drystone"));
        let array = Array { name: "study", folder, program, tasks: 64, simulations: 7620, terms: &terms };
        let expected = "\
#!/bin/sh
# 7620 simulations of a Drystone sweep in 64 tasks: `sbatch FILE` submits them.
# A task that is stopped, killed or run twice loses nothing; `drystone sweep gather` merges the results.
#SBATCH --job-name=study
#SBATCH --array=1-64%16
#SBATCH --nodes=1 --ntasks=1 --cpus-per-task=4
#SBATCH --time=30
#SBATCH --signal=B:TERM@90
#SBATCH --requeue --open-mode=append
#SBATCH --output=\"/home/me/my study.db.tasks/1/log/%A_%a.log\"
#SBATCH --partition=short \"--comment=my sweep\"

exec /opt/drystone sweep task \"$SLURM_ARRAY_TASK_ID\" '/home/me/my study.db.tasks/1' --scratch \"/scratch/$USER\"
";
        assert_eq!(SlurmBatch.render_script(&array), expected);
    }

    #[test]
    fn what_the_sweep_sets_is_refused() {
        let check = |args: &[&str]| SlurmBatch.check_args(&args.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert!(
            check(&["--partition=p", "-p", "p", "--account=a", "--mem=4G", "--qos=q", "-Jname", "-A", "a"]).is_ok()
        );
        for (arg, by) in
            [("--array=1-3", "--tasks"), ("-a1", "--tasks"), ("-t", "--time"), ("-c4", "--cpus"), ("-oout", "status")]
        {
            let error = check(&[arg]).expect_err(arg).to_string();
            assert!(error.contains(by), "{arg}: {error}");
        }
        assert!(check(&["--comment=a\nb"]).is_err());
        assert_eq!((notice_seconds(1800), notice_seconds(300), notice_seconds(60), notice_seconds(1)), (90, 50, 10, 5));
    }
}
