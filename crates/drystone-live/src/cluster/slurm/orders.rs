//! Orders as commands. All orders of a look that follow each other go to one `scontrol`, a line for
//! each: a command of its own for each would take ten times as long.

use super::run::{CommandText, Mute, Runner};
use super::texts;
use crate::cluster::{ClusterOrder, JobKey, JobName, OrderOutcome};
use std::fmt::Write;
use std::time::Duration;

/// Jobs in one command.
const CHUNK: usize = 250;
/// Number of tries, and the pause between them, for a change that is refused while a job is cleaned
/// up.
const PATIENCE: u32 = 60;
const PAUSE: Duration = Duration::from_millis(250);

/// Carries out orders; asks `may` before each command.
pub(super) fn execute_orders(
    run: &Runner,
    orders: &[ClusterOrder],
    may: &mut dyn FnMut() -> bool,
) -> Vec<OrderOutcome> {
    let mut outcomes: Vec<OrderOutcome> = Vec::with_capacity(orders.len());
    let mut mute = false;
    while outcomes.len() < orders.len() {
        let rest = &orders[outcomes.len()..];
        let same = rest.iter().take(CHUNK).take_while(|order| is_checked(order) == is_checked(&rest[0])).count();
        let batch = &rest[..same];
        if mute || !may() {
            outcomes.extend(batch.iter().map(|_| OrderOutcome::Unknown));
            continue;
        }
        let answer = if is_checked(&batch[0]) { run_each(run, batch) } else { run_batch(run, batch) };
        // What does not answer once is not asked again now: each time costs ten seconds.
        mute |= answer.is_none();
        outcomes.extend(answer.unwrap_or_else(|| vec![OrderOutcome::Unknown; batch.len()]));
    }
    outcomes
}

/// Returns whether the number of a job is looked at before an order, which would do harm to
/// another.
fn is_checked(order: &ClusterOrder) -> bool {
    matches!(order, ClusterOrder::Requeue(_) | ClusterOrder::Cancel(_) | ClusterOrder::Shrink { .. })
}

/// Orders as lines of one command, in their order; `None` where it does not answer.
fn run_batch(run: &Runner, batch: &[ClusterOrder]) -> Option<Vec<OrderOutcome>> {
    let keys: Vec<JobKey> = batch.iter().map(ClusterOrder::job_key).collect();
    let nameless: Vec<bool> =
        batch.iter().map(|order| scontrol_verb(order) == UPDATE && update_command(order).is_none()).collect();
    let mut lines = String::new();
    // Writing to a String cannot fail.
    for same in batch.chunk_by(|order, next| scontrol_verb(order) == scontrol_verb(next)) {
        if scontrol_verb(&same[0]) == UPDATE {
            for text in same.iter().filter_map(update_command) {
                let _ = writeln!(lines, "{UPDATE} {text}");
            }
        } else {
            let keys: Vec<JobKey> = same.iter().map(ClusterOrder::job_key).collect();
            let _ = writeln!(lines, "{} {}", scontrol_verb(&same[0]), texts::join_names(&keys));
        }
    }
    let mut outcomes = read_outcomes(run.run::<&str>("scontrol", &[], Some(&lines)), &keys)?;
    for (outcome, _) in outcomes.iter_mut().zip(nameless).filter(|(_, nameless)| *nameless) {
        *outcome = OrderOutcome::Refused("its nodes have no names".into());
    }
    Some(outcomes)
}

/// The verb of a change of one job.
const UPDATE: &str = "update";

/// Returns the verb of `scontrol` for an order.
fn scontrol_verb(order: &ClusterOrder) -> &'static str {
    match order {
        ClusterOrder::Release(_) => "release",
        ClusterOrder::Hold(_) => "uhold",
        ClusterOrder::Suspend(_) => "suspend",
        ClusterOrder::Resume(_) => "resume",
        _ => UPDATE,
    }
}

/// Returns the change that binds a job to nodes, or frees it; `None` where they have no names.
fn update_command(order: &ClusterOrder) -> Option<String> {
    let name = order.job_key().name();
    let ClusterOrder::Pin { nodes, resized, .. } = order else { return Some(format!("JobId={name} ReqNodeList=")) };
    // They go through a line of text: nothing but what a host name is made of.
    let is_name =
        |node: &String| !node.is_empty() && node.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    let count = nodes.len();
    // A number of its own stays: an unpinned job would keep what is written here.
    let number = if *resized { format!(" NumNodes={count}-{count}") } else { String::new() };
    let is_sound = count > 0 && nodes.iter().all(is_name);
    is_sound.then(|| format!("JobId={name} ReqNodeList={}{number}", nodes.join(",")))
}

/// Returns the outcomes of a command about these jobs. Jobs named in its complaints were refused; a
/// complaint without a name leaves the outcome unknown.
fn read_outcomes(result: Result<CommandText, Mute>, keys: &[JobKey]) -> Option<Vec<OrderOutcome>> {
    let output = match result {
        Ok(output) => output,
        Err(Mute::TimedOut) => return None,
        Err(Mute::Missing(problem)) => return Some(vec![OrderOutcome::Refused(problem); keys.len()]),
    };
    let complaints: Vec<&str> = output.err.lines().filter(|line| !line.trim().is_empty()).collect();
    if output.status.success() && complaints.is_empty() {
        return Some(vec![OrderOutcome::Done; keys.len()]);
    }
    let about: Vec<Option<&str>> = complaints.iter().map(|line| job_of(line)).collect();
    let complaint_about = |key: &JobKey| {
        let at = about.iter().position(|name| *name == Some(key.name().as_str()))?;
        Some(complaints[at].to_string())
    };
    let is_any_named = keys.iter().any(|key| complaint_about(key).is_some());
    let silent = complaints.iter().any(|line| line.contains("Unable to contact") || line.contains("Socket timed out"));
    Some(
        keys.iter()
            .map(|key| match complaint_about(key) {
                Some(problem) => OrderOutcome::Refused(problem),
                None if is_any_named && !silent => OrderOutcome::Done,
                None if keys.len() == 1 && !silent => OrderOutcome::Refused(complaints.join("; ")),
                None => OrderOutcome::Unknown,
            })
            .collect(),
    )
}

/// Returns the job that a complaint names: behind `for job`, or a task at its beginning.
fn job_of(line: &str) -> Option<&str> {
    let is_name = |c: char| c.is_ascii_digit() || c == '_';
    let (text, is_first) = match line.rsplit_once("for job ") {
        Some((_, rest)) => (rest.trim(), false),
        None => (line.trim(), true),
    };
    let end = text.find(|c: char| !is_name(c)).unwrap_or(text.len());
    let name = &text[..end];
    let is_job = name.starts_with(|c: char| c.is_ascii_digit());
    (is_job && (!is_first || text[end..].starts_with(':'))).then_some(name)
}

/// Writes planned starts behind the hook's mark, many of them in one call. A job that has begun
/// meanwhile, or is gone, keeps the comment that it has: outcomes do not matter.
pub(super) fn write_remarks(run: &Runner, starts: &[(JobKey, String)], may: &mut dyn FnMut() -> bool) {
    let mut lines = String::new();
    for (key, start) in starts {
        let _ =
            writeln!(lines, "update JobId={} AdminComment={},planned-start={start}", key.name(), super::details::HELD);
    }
    if may() {
        let _ = run.run("scontrol", &["-Q"], Some(&lines));
    }
}

/// Clears the comments of jobs and arrays that bear the hook's mark, many of them in one call. A
/// comment that stays does no harm: outcomes do not matter.
pub(super) fn remove_marks(run: &Runner, jobs: &[JobName]) {
    for chunk in jobs.chunks(CHUNK) {
        let lines: String = chunk.iter().map(|name| format!("update JobId={name} AdminComment=\n")).collect();
        let _ = run.run("scontrol", &["-Q"], Some(&lines));
    }
}

/// Requeues, cancellations and orders to give nodes. Each is checked first: the number must still
/// be the same job, and a job that is to give nodes must run. For a job that waits, Slurm would
/// change the request instead.
fn run_each(run: &Runner, batch: &[ClusterOrder]) -> Option<Vec<OrderOutcome>> {
    let mut all_outcomes = Vec::new();
    for order in batch {
        let key = order.job_key();
        let name = key.name();
        let listing = match run.run("squeue", &["-h", "-t", "all", "-o", "%V|%t", "-j", &name], None) {
            Ok(output) => output.out,
            Err(_) => return None,
        };
        let (submit, state) = listing.lines().next().and_then(|line| line.split_once('|')).unwrap_or_default();
        if texts::parse_time(submit) != Some(key.submit) {
            all_outcomes.push(OrderOutcome::Refused("it is another job now".into()));
            continue;
        }
        let result = match order {
            ClusterOrder::Shrink { .. } if state != "R" => {
                all_outcomes.push(OrderOutcome::Refused("it does not run now".into()));
                continue;
            }
            ClusterOrder::Shrink { nodes, .. } => {
                let (job, number) = (format!("JobId={name}"), format!("NumNodes={nodes}"));
                run.run("scontrol", &[UPDATE, &job, &number], None)
            }
            ClusterOrder::Requeue(_) => run.run("scontrol", &["requeue", &name], None),
            _ => run.run("scancel", &[&name], None),
        };
        let outcome = read_outcomes(result, &[key])?;
        if matches!(order, ClusterOrder::Requeue(_)) && outcome == [OrderOutcome::Done] {
            begin_now(run, &name);
        }
        all_outcomes.extend(outcome);
    }
    Some(all_outcomes)
}

/// Lets a job that was requeued begin at once: Slurm lets it wait for two minutes otherwise, and
/// one that was suspended is held as if by an administrator. While Slurm still cleans up it takes
/// no change, or forgets it: what it shows afterwards counts.
fn begin_now(run: &Runner, name: &str) {
    let update = format!("JobId={name}");
    let mut is_ordered = false;
    for _ in 0..PATIENCE {
        let Ok(listing) = run.run("squeue", &["-h", "-t", "all", "-o", "%t|%r", "-j", name], None) else { return };
        match listing.out.trim().split_once('|') {
            Some(("CG" | "S", _)) => {}
            Some(("PD", reason)) if !is_ordered || ["BeginTime", "JobHeldAdmin"].contains(&reason) => {
                let release = run.run("scontrol", &["release", name], None);
                let begin = run.run("scontrol", &["update", &update, "StartTime=now"], None);
                is_ordered =
                    [release, begin].into_iter().all(|result| result.is_ok_and(|output| output.status.success()));
            }
            // It waits for its turn, or runs, or is gone.
            _ => return,
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn said(code: i32, err: &str) -> Result<CommandText, Mute> {
        Ok(CommandText { status: ExitStatus::from_raw(code << 8), out: String::new(), err: err.into() })
    }

    #[test]
    fn complaints_are_about_the_jobs_that_they_name() {
        let key = |id| JobKey { id, task: None, submit: 0 };
        let keys = [key(998), key(20), key(999)];
        let err = "Invalid job id specified for job 998\nInvalid job id specified for job 999\nslurm_suspend error: Invalid\n";
        let results = read_outcomes(said(1, err), &keys).expect("answered");
        assert!(
            matches!(results[..], [OrderOutcome::Refused(_), OrderOutcome::Done, OrderOutcome::Refused(_)]),
            "{results:?}"
        );
        // As 22.05 prints them of tasks, and of a job that it does not know.
        let tasks = [JobKey { task: Some(2), ..key(5) }, JobKey { task: Some(9), ..key(5) }, key(998)];
        let err = "scontrol: error: Could not load state information for job 998: Invalid job id specified\n5_9: Invalid job id specified\n";
        let results = read_outcomes(said(1, err), &tasks).expect("answered");
        assert!(
            matches!(results[..], [OrderOutcome::Done, OrderOutcome::Refused(_), OrderOutcome::Refused(_)]),
            "{results:?}"
        );
        let results = read_outcomes(said(1, "slurm_suspend error: No error\n"), &keys).expect("answered");
        assert_eq!(results, vec![OrderOutcome::Unknown; 3]);
        assert_eq!(read_outcomes(said(0, ""), &keys), Some(vec![OrderOutcome::Done; 3]));
        assert_eq!(read_outcomes(Err(Mute::TimedOut), &keys), None);
        let results = read_outcomes(said(1, "Job is not suspended for job 19\n"), &[key(19)]).expect("answered");
        assert_eq!(results, [OrderOutcome::Refused("Job is not suspended for job 19".into())]);
    }

    /// One command, whose lines keep the order; what has no name goes nowhere.
    #[test]
    fn orders_of_a_look_are_lines_of_one_command() {
        let folder = tempfile::tempdir().expect("a folder");
        let (scontrol, log) = (folder.path().join("scontrol"), folder.path().join("told"));
        let script = format!("#!/bin/sh\necho run >> {0}\ncat >> {0}\n", log.display());
        std::fs::write(&scontrol, script).expect("written");
        let status = std::process::Command::new("chmod").arg("755").arg(&scontrol).status().expect("chmod runs");
        assert!(status.success());
        let key = |id| JobKey { id, task: None, submit: 0 };
        let pin = |id, node: &str| ClusterOrder::Pin { key: key(id), nodes: vec![node.into()], resized: id == 2 };
        let orders = [
            pin(1, "n1"),
            ClusterOrder::Release(key(1)),
            pin(2, "n-2.x"),
            ClusterOrder::Release(key(2)),
            ClusterOrder::Release(JobKey { task: Some(4), ..key(3) }),
            ClusterOrder::Release(JobKey { task: Some(5), ..key(3) }),
            pin(4, "n1\nshutdown"),
            ClusterOrder::Hold(key(5)),
            ClusterOrder::Hold(key(6)),
            ClusterOrder::Unpin(key(5)),
        ];
        let outcomes = execute_orders(&Runner::new(None).with_folder(folder.path()), &orders, &mut || true);
        let refusal = outcomes.iter().position(|outcome| *outcome != OrderOutcome::Done);
        assert_eq!((refusal, outcomes.len()), (Some(6), orders.len()));
        let expected = "run\nupdate JobId=1 ReqNodeList=n1\nrelease 1\nupdate JobId=2 ReqNodeList=n-2.x NumNodes=1-1\nrelease 2,3_[4-5]\nuhold 5,6\nupdate JobId=5 ReqNodeList=\n";
        assert_eq!(std::fs::read_to_string(&log).expect("read"), expected);
    }
}
