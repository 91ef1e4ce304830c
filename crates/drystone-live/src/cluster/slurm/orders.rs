//! Orders as commands. What follows each other and has the same verb is one command.

use super::run::{CommandText, Mute, Runner};
use super::texts;
use crate::cluster::{ClusterOrder, JobKey, JobName, OrderOutcome};
use std::fmt::Write;
use std::time::Duration;

/// Jobs in one command.
const CHUNK: usize = 500;
/// Number of tries, and the pause between them, for a change that is refused while a job is cleaned
/// up.
const PATIENCE: u32 = 60;
const PAUSE: Duration = Duration::from_millis(250);

/// Carries out orders; asks `may` before each command.
pub(super) fn act(run: &Runner, orders: &[ClusterOrder], may: &mut dyn FnMut() -> bool) -> Vec<OrderOutcome> {
    let mut outcomes: Vec<OrderOutcome> = Vec::with_capacity(orders.len());
    let mut mute = false;
    while outcomes.len() < orders.len() {
        let rest = &orders[outcomes.len()..];
        let same = rest.iter().take(CHUNK).take_while(|order| kind(order) == kind(&rest[0])).count();
        let batch = &rest[..same];
        if mute || !may() {
            outcomes.extend(batch.iter().map(|_| OrderOutcome::Unknown));
            continue;
        }
        let answer = command(run, batch);
        // What does not answer once is not asked again now: each time costs ten seconds.
        mute |= answer.is_none();
        outcomes.extend(answer.unwrap_or_else(|| vec![OrderOutcome::Unknown; batch.len()]));
    }
    outcomes
}

/// Returns the kind of an order; orders of one kind can share a command.
fn kind(order: &ClusterOrder) -> &'static str {
    match order {
        ClusterOrder::Pin { .. } | ClusterOrder::Unpin(_) => "update",
        other => other.verb(),
    }
}

/// One command; `None` where it does not answer.
fn command(run: &Runner, batch: &[ClusterOrder]) -> Option<Vec<OrderOutcome>> {
    let keys: Vec<JobKey> = batch.iter().map(ClusterOrder::key).collect();
    let names = texts::names(&keys);
    let said = match &batch[0] {
        ClusterOrder::Pin { .. } | ClusterOrder::Unpin(_) => return updates(run, batch),
        ClusterOrder::Release(_) => run.run("scontrol", &["release", &names], None),
        ClusterOrder::Hold(_) => run.run("scontrol", &["uhold", &names], None),
        ClusterOrder::Suspend(_) => run.run("scontrol", &["suspend", &names], None),
        ClusterOrder::Resume(_) => run.run("scontrol", &["resume", &names], None),
        ClusterOrder::Requeue(_) | ClusterOrder::Cancel(_) => return each(run, batch),
    };
    outcomes(said, &keys)
}

/// Returns the outcomes of a command about these jobs. Jobs named in its complaints were refused; a
/// complaint without a name leaves the outcome unknown.
fn outcomes(said: Result<CommandText, Mute>, keys: &[JobKey]) -> Option<Vec<OrderOutcome>> {
    let said = match said {
        Ok(said) => said,
        Err(Mute::TimedOut) => return None,
        Err(Mute::Missing(problem)) => return Some(vec![OrderOutcome::Refused(problem); keys.len()]),
    };
    let complaints: Vec<&str> = said.err.lines().filter(|line| !line.trim().is_empty()).collect();
    if said.status.success() && complaints.is_empty() {
        return Some(vec![OrderOutcome::Done; keys.len()]);
    }
    let about =
        |line: &&str, key: &JobKey| line.rsplit_once("for job ").is_some_and(|(_, name)| name.trim() == key.name());
    let named = |key: &JobKey| complaints.iter().find(|line| about(line, key)).map(|line| (*line).to_string());
    let any = keys.iter().any(|key| named(key).is_some());
    let silent = complaints.iter().any(|line| line.contains("Unable to contact") || line.contains("Socket timed out"));
    Some(
        keys.iter()
            .map(|key| match named(key) {
                Some(problem) => OrderOutcome::Refused(problem),
                None if any && !silent => OrderOutcome::Done,
                None if keys.len() == 1 && !silent => OrderOutcome::Refused(complaints.join("; ")),
                None => OrderOutcome::Unknown,
            })
            .collect(),
    )
}

/// Writes planned starts behind the hook's mark, many of them in one call. A job that has begun
/// meanwhile, or is gone, keeps the comment that it has: outcomes do not matter.
pub(super) fn remark(run: &Runner, starts: &[(JobKey, String)], may: &mut dyn FnMut() -> bool) {
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
pub(super) fn unmark(run: &Runner, jobs: &[JobName]) {
    for chunk in jobs.chunks(CHUNK) {
        let lines: String = chunk.iter().map(|name| format!("update JobId={name} AdminComment=\n")).collect();
        let _ = run.run("scontrol", &["-Q"], Some(&lines));
    }
}

/// Pins, many of them in one call.
fn updates(run: &Runner, batch: &[ClusterOrder]) -> Option<Vec<OrderOutcome>> {
    let mut lines = String::new();
    let mut sound = Vec::new();
    for order in batch {
        let name = order.key().name();
        let ClusterOrder::Pin { nodes, resized, .. } = order else {
            let _ = writeln!(lines, "update JobId={name} ReqNodeList=");
            sound.push(true);
            continue;
        };
        // They go through a line of text: nothing but what a host name is made of.
        let is_name =
            |node: &String| !node.is_empty() && node.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        let all = !nodes.is_empty() && nodes.iter().all(is_name);
        sound.push(all);
        if all {
            let count = nodes.len();
            // A number of its own stays: an unpinned job would keep what is written here.
            let number = if *resized { format!(" NumNodes={count}-{count}") } else { String::new() };
            let _ = writeln!(lines, "update JobId={name} ReqNodeList={}{number}", nodes.join(","));
        }
    }
    let said = run.run("scontrol", &["-Q"], Some(&lines));
    let keys: Vec<JobKey> = batch.iter().map(ClusterOrder::key).collect();
    let mut found = outcomes(said, &keys)?;
    for (outcome, sound) in found.iter_mut().zip(sound) {
        if !sound {
            *outcome = OrderOutcome::Refused("its nodes have no names".into());
        }
    }
    Some(found)
}

/// Requeues and cancellations: whether a number is still the same job is looked at before each.
fn each(run: &Runner, batch: &[ClusterOrder]) -> Option<Vec<OrderOutcome>> {
    let mut all = Vec::new();
    for order in batch {
        let key = order.key();
        let name = key.name();
        let seen = match run.run("squeue", &["-h", "-t", "all", "-o", "%V", "-j", &name], None) {
            Ok(said) => said.out.lines().next().and_then(texts::time),
            Err(_) => return None,
        };
        if seen != Some(key.submit) {
            all.push(OrderOutcome::Refused("it is another job now".into()));
            continue;
        }
        let said = match order {
            ClusterOrder::Requeue(_) => run.run("scontrol", &["requeue", &name], None),
            _ => run.run("scancel", &[&name], None),
        };
        let outcome = outcomes(said, &[key])?;
        if matches!(order, ClusterOrder::Requeue(_)) && outcome == [OrderOutcome::Done] {
            begin_now(run, &name);
        }
        all.extend(outcome);
    }
    Some(all)
}

/// Lets a job that was requeued begin at once: Slurm lets it wait for two minutes otherwise, and
/// one that was suspended is held as if by an administrator. While Slurm still cleans up it takes
/// no change, or forgets it: what it shows afterwards counts.
fn begin_now(run: &Runner, name: &str) {
    let update = format!("JobId={name}");
    let mut told = false;
    for _ in 0..PATIENCE {
        let Ok(seen) = run.run("squeue", &["-h", "-t", "all", "-o", "%t|%r", "-j", name], None) else { return };
        match seen.out.trim().split_once('|') {
            Some(("CG" | "S", _)) => {}
            Some(("PD", reason)) if !told || ["BeginTime", "JobHeldAdmin"].contains(&reason) => {
                let release = run.run("scontrol", &["release", name], None);
                let begin = run.run("scontrol", &["update", &update, "StartTime=now"], None);
                told = [release, begin].into_iter().all(|said| said.is_ok_and(|said| said.status.success()));
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
        let found = outcomes(said(1, err), &keys).expect("answered");
        assert!(
            matches!(found[..], [OrderOutcome::Refused(_), OrderOutcome::Done, OrderOutcome::Refused(_)]),
            "{found:?}"
        );
        let found = outcomes(said(1, "slurm_suspend error: No error\n"), &keys).expect("answered");
        assert_eq!(found, vec![OrderOutcome::Unknown; 3]);
        assert_eq!(outcomes(said(0, ""), &keys), Some(vec![OrderOutcome::Done; 3]));
        assert_eq!(outcomes(Err(Mute::TimedOut), &keys), None);
        let found = outcomes(said(1, "Job is not suspended for job 19\n"), &[key(19)]).expect("answered");
        assert_eq!(found, [OrderOutcome::Refused("Job is not suspended for job 19".into())]);
    }
}
