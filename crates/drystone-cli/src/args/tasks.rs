//! `drystone sweep slurm`, `recipe`, `gather`, `cancel` and `task`: sweeps on a cluster.

use super::values::word_parser;
use crate::output::ReportFormat;
use clap::Args;
use drystone_sweep::cluster::BatchRecipe;
use std::path::PathBuf;
use std::time::Duration;

/// The division of a study into tasks. An option that is not given is as in the submission before,
/// else as the default says.
#[derive(Args, Clone, Debug)]
pub(crate) struct DivideArgs {
    /// Number of tasks, which are made to end together.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) tasks: Option<u32>,

    /// The time limit of a task: 30m, 2h, 1h30m, 90s, 1-12:00:00. A task that is stopped continues
    /// when it is submitted again.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) time: Option<Duration>,

    /// Processors of a task, one thread on each [default: 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) cpus: Option<u32>,

    /// Most tasks that run at the same time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_running: Option<u32>,

    /// Folder in which tasks work, on the disk of their node; its shell replaces variables
    /// [default: $TMPDIR, else /tmp].
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<String>,

    /// Interval at which a task publishes its results: at most this much work is lost with its node
    /// [default: 1m].
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) publish_every: Option<Duration>,

    /// Refuse tasks that are predicted to be shorter.
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "1m")]
    pub(crate) min_task: Duration,

    /// Store of the results [default: the study's `store`, else the study file's name with .db].
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,

    /// Look for logs here first, then where the study file says; also on the nodes.
    #[arg(long, value_name = "DIR")]
    pub(crate) logs: Option<PathBuf>,

    /// Also take policies whose results depend on the speed of a node.
    #[arg(long)]
    pub(crate) not_reproducible: bool,

    /// Print only errors to stderr, and that no job counts.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Arguments of `drystone sweep slurm`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  drystone sweep slurm study.toml --tasks 64 --time 30m --cpus 4 --dry-run
  drystone sweep slurm study.toml --tasks 64 --time 30m --cpus 4 -- --partition=short --account=abc
  drystone sweep status study.db --follow      # how far all tasks are
  drystone sweep gather study.db               # merge what is there
  drystone sweep slurm study.db                # the same again submits only what is missing

Arguments behind -- go to sbatch.")]
pub(crate) struct SlurmArgs {
    /// The study file, or the store of a study that was submitted before.
    #[arg(value_name = "STUDY.toml|STORE")]
    pub(crate) study: PathBuf,

    #[command(flatten)]
    pub(crate) divide: DivideArgs,

    /// Only predict: tasks, core-hours, how long the longest task takes.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Print the script instead of submitting it; `sbatch` takes it.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) print: bool,

    /// More arguments for sbatch.
    #[arg(last = true, value_name = "SBATCH OPTION")]
    pub(crate) sbatch: Vec<String>,
}

/// Arguments of `drystone sweep recipe`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  drystone sweep recipe parallel study.toml --tasks 8 > study.sh && sh study.sh
  drystone sweep recipe pbs study.toml --tasks 64 --time 30m --cpus 4 > study.pbs
  drystone sweep recipe snakemake study.toml --tasks 64 --submit

The script runs the tasks; `drystone sweep gather study.db` merges what they have done, at any time.")]
pub(crate) struct RecipeArgs {
    /// Batch system of the script.
    #[arg(value_name = "SYSTEM", value_parser = word_parser(&BatchRecipe::ALL, BatchRecipe::name))]
    pub(crate) system: BatchRecipe,

    /// The study file, or the store of a study that was divided before.
    #[arg(value_name = "STUDY.toml|STORE")]
    pub(crate) study: PathBuf,

    #[command(flatten)]
    pub(crate) divide: DivideArgs,

    /// Run the script instead of printing it: sh, qsub, snakemake or python3.
    #[arg(long)]
    pub(crate) submit: bool,
}

/// Arguments of `drystone sweep gather`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  drystone sweep gather study.db
  until drystone sweep gather study.db --require-complete; do sleep 60; done

It may be called at any time, also while tasks run, and twice.")]
pub(crate) struct GatherArgs {
    /// The store.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,

    /// Exit with 1 while something is missing.
    #[arg(long)]
    pub(crate) require_complete: bool,

    /// Format of the printed status.
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = super::values::format_parser())]
    pub(crate) format: ReportFormat,
}

/// Arguments of `drystone sweep cancel`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  drystone sweep cancel study.db              # tasks that run publish what they have, and stop
  drystone sweep cancel study.db --waiting    # tasks that run continue")]
pub(crate) struct CancelArgs {
    /// The store whose tasks are cancelled.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,

    /// Only tasks that wait.
    #[arg(long)]
    pub(crate) waiting: bool,
}

/// Arguments of `drystone sweep task`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:
  drystone sweep task 7 study.db.tasks/1

Scripts of `slurm` and `recipe` call it. Called again, it continues; called twice at once, it loses nothing.")]
pub(crate) struct TaskArgs {
    /// Number of the task, from 1.
    #[arg(value_name = "TASK")]
    pub(crate) task: u32,

    /// The folder of the submission.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,

    /// Working folder [default: $TMPDIR, else /tmp].
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,

    /// Threads that simulate [default: the --cpus of the submission].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

/// A time in Slurm's way (`1-12:00:00`, `2:30:00`) or with units (`1d12h`, `30m`, `90s`). A bare
/// number is refused: to Slurm it is minutes, to others seconds.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let seconds = if text.contains(':') { parse_clock(text) } else { parse_units(text) };
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| "expected a time such as 30m, 2h, 1h30m, 90s or 1-12:00:00".to_string())
}

/// `D-HH:MM:SS` and `HH:MM:SS`.
fn parse_clock(text: &str) -> Option<u64> {
    let (days, rest) = text.split_once('-').unwrap_or(("0", text));
    let parts: Vec<u64> = rest.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = parts[..] else { return None };
    let days: u64 = days.parse().ok()?;
    (minutes < 60 && seconds < 60).then_some(())?;
    days.checked_mul(86_400)?.checked_add(hours.checked_mul(3600)?)?.checked_add(minutes * 60 + seconds)
}

/// `1d12h30m5s`, each unit once at most and the larger first.
fn parse_units(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut total: u64 = 0;
    let mut some = false;
    for (unit, worth) in [('d', 86_400), ('h', 3600), ('m', 60), ('s', 1)] {
        if let Some((number, after)) = rest.split_once(unit) {
            let number: u64 = number.bytes().all(|b| b.is_ascii_digit()).then(|| number.parse().ok())??;
            total = total.checked_add(number.checked_mul(worth)?)?;
            (rest, some) = (after, true);
        }
    }
    (some && rest.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, seconds) in [
            ("30m", 1800),
            ("2h", 7200),
            ("1h30m", 5400),
            ("90s", 90),
            ("0s", 0),
            ("1d12h", 129_600),
            ("1-12:00:00", 129_600),
            ("2:30:05", 9005),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for bad in
            ["", "30", "m", "1h2d", "1:2", "1:60:00", "-1m", "1.5h", "99999999999999999999d", "x-1:00:00", "30 m"]
        {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
