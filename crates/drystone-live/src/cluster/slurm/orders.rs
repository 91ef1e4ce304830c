//! Orders as commands. What follows each other and has the same verb is one command.

use super::run::{Mute, Runner, Said};
use super::texts;
use crate::cluster::{Key, Order, Outcome};
use std::fmt::Write;
use std::time::Duration;

/// Jobs in one command.
const CHUNK: usize = 500;
/// Number of tries, and the pause between them, for a change that is refused while a job is cleaned
/// up.
const PATIENCE: u32 = 60;
const PAUSE: Duration = Duration::from_millis(250);

/// Carries out orders; asks `may` before each command.
pub(super) fn act(run: &Runner, orders: &[Order], may: &mut dyn FnMut() -> bool) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(orders.len());
    let mut mute = false;
    while outcomes.len() < orders.len() {
        let rest = &orders[outcomes.len()..];
        let same = rest.iter().take(CHUNK).take_while(|order| kind(order) == kind(&rest[0])).count();
        let batch = &rest[..same];
        if mute || !may() {
            outcomes.extend(batch.iter().map(|_| Outcome::Unknown));
            continue;
        }
        let answer = command(run, batch);
        // What does not answer once is not asked again now: each time costs ten seconds.
        mute |= answer.is_none();
        outcomes.extend(answer.unwrap_or_else(|| vec![Outcome::Unknown; batch.len()]));
    }
    outcomes
}

/// Returns the kind of an order; orders of one kind can share a command.
fn kind(order: &Order) -> &'static str {
    match order {
        Order::Pin { .. } | Order::Unpin(_) => "update",
        other => other.verb(),
    }
}

/// One command; `None` where it does not answer.
fn command(run: &Runner, batch: &[Order]) -> Option<Vec<Outcome>> {
    let keys: Vec<Key> = batch.iter().map(Order::key).collect();
    let names = texts::names(&keys);
    let said = match &batch[0] {
        Order::Pin { .. } | Order::Unpin(_) => return updates(run, batch),
        Order::Release(_) => run.run("scontrol", &["release", &names], None),
        Order::Hold(_) => run.run("scontrol", &["uhold", &names], None),
        Order::Suspend(_) => run.run("scontrol", &["suspend", &names], None),
        Order::Resume(_) => run.run("scontrol", &["resume", &names], None),
        Order::Requeue(_) | Order::Cancel(_) => return each(run, batch),
    };
    outcomes(said, &keys)
}

/// Returns the outcomes of a command about these jobs. Jobs named in its complaints were refused; a
/// complaint without a name leaves the outcome unknown.
fn outcomes(said: Result<Said, Mute>, keys: &[Key]) -> Option<Vec<Outcome>> {
    let said = match said {
        Ok(said) => said,
        Err(Mute::TimedOut) => return None,
        Err(Mute::Missing(problem)) => return Some(vec![Outcome::Refused(problem); keys.len()]),
    };
    let complaints: Vec<&str> = said.err.lines().filter(|line| !line.trim().is_empty()).collect();
    if said.status.success() && complaints.is_empty() {
        return Some(vec![Outcome::Done; keys.len()]);
    }
    let about =
        |line: &&str, key: &Key| line.rsplit_once("for job ").is_some_and(|(_, name)| name.trim() == key.name());
    let named = |key: &Key| complaints.iter().find(|line| about(line, key)).map(|line| (*line).to_string());
    let any = keys.iter().any(|key| named(key).is_some());
    let silent = complaints.iter().any(|line| line.contains("Unable to contact") || line.contains("Socket timed out"));
    Some(
        keys.iter()
            .map(|key| match named(key) {
                Some(problem) => Outcome::Refused(problem),
                None if any && !silent => Outcome::Done,
                None if keys.len() == 1 && !silent => Outcome::Refused(complaints.join("; ")),
                None => Outcome::Unknown,
            })
            .collect(),
    )
}

/// Writes planned starts behind the hook's mark, many of them in one call. A job that has begun
/// meanwhile, or is gone, keeps the comment that it has: outcomes do not matter.
pub(super) fn remark(run: &Runner, starts: &[(Key, String)], may: &mut dyn FnMut() -> bool) {
    let mut lines = String::new();
    for (key, start) in starts {
        let _ =
            writeln!(lines, "update JobId={} AdminComment={},planned-start={start}", key.name(), super::details::HELD);
    }
    if may() {
        let _ = run.run("scontrol", &["-Q"], Some(&lines));
    }
}

/// Pins, many of them in one call.
fn updates(run: &Runner, batch: &[Order]) -> Option<Vec<Outcome>> {
    let mut lines = String::new();
    let mut sound = Vec::new();
    for order in batch {
        let name = order.key().name();
        let Order::Pin { nodes, .. } = order else {
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
            let _ = writeln!(lines, "update JobId={name} ReqNodeList={} NumNodes={count}-{count}", nodes.join(","));
        }
    }
    let said = run.run("scontrol", &["-Q"], Some(&lines));
    let keys: Vec<Key> = batch.iter().map(Order::key).collect();
    let mut found = outcomes(said, &keys)?;
    for (outcome, sound) in found.iter_mut().zip(sound) {
        if !sound {
            *outcome = Outcome::Refused("its nodes have no names".into());
        }
    }
    Some(found)
}

/// Requeues and cancellations: whether a number is still the same job is looked at before each.
fn each(run: &Runner, batch: &[Order]) -> Option<Vec<Outcome>> {
    let mut all = Vec::new();
    for order in batch {
        let key = order.key();
        let name = key.name();
        let seen = match run.run("squeue", &["-h", "-t", "all", "-o", "%V", "-j", &name], None) {
            Ok(said) => said.out.lines().next().and_then(texts::time),
            Err(_) => return None,
        };
        if seen != Some(key.submit) {
            all.push(Outcome::Refused("it is another job now".into()));
            continue;
        }
        let said = match order {
            Order::Requeue(_) => run.run("scontrol", &["requeue", &name], None),
            _ => run.run("scancel", &[&name], None),
        };
        let outcome = outcomes(said, &[key])?;
        if matches!(order, Order::Requeue(_)) && outcome == [Outcome::Done] {
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

    fn said(code: i32, err: &str) -> Result<Said, Mute> {
        Ok(Said { status: ExitStatus::from_raw(code << 8), out: String::new(), err: err.into() })
    }

    #[test]
    fn complaints_are_about_the_jobs_that_they_name() {
        let key = |id| Key { id, task: None, submit: 0 };
        let keys = [key(998), key(20), key(999)];
        let err = "Invalid job id specified for job 998\nInvalid job id specified for job 999\nslurm_suspend error: Invalid\n";
        let found = outcomes(said(1, err), &keys).expect("answered");
        assert!(matches!(found[..], [Outcome::Refused(_), Outcome::Done, Outcome::Refused(_)]), "{found:?}");
        let found = outcomes(said(1, "slurm_suspend error: No error\n"), &keys).expect("answered");
        assert_eq!(found, vec![Outcome::Unknown; 3]);
        assert_eq!(outcomes(said(0, ""), &keys), Some(vec![Outcome::Done; 3]));
        assert_eq!(outcomes(Err(Mute::TimedOut), &keys), None);
        let found = outcomes(said(1, "Job is not suspended for job 19\n"), &[key(19)]).expect("answered");
        assert_eq!(found, [Outcome::Refused("Job is not suspended for job 19".into())]);
    }
}
