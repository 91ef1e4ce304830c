//! slurmctld's log as happenings: seconds, what, and about what.

use std::fmt::Write;

/// Seconds from the Unix epoch of `2026-11-25T02:02:44` in UTC; `None` for `Unknown` and the like.
pub fn parse_epoch(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('T')?;
    let numbers = |text: &str, by: char| text.split(by).map(|n| n.parse::<i64>().ok()).collect::<Option<Vec<_>>>();
    let ([year, month, day], [hour, minute, second]) =
        (numbers(date, '-')?.try_into().ok()?, numbers(time, ':')?.try_into().ok()?);
    // Days since 1970-03-01, by years that begin in March.
    let (y, m): (i64, i64) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days: i64 =
        y * 365 + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (m * 153 + 2) / 5 + day - 719_469;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Returns all happenings of a log, a line each, in seconds from `base`. Both are of one clock.
pub fn log_events(log: &str, base: i64) -> String {
    let mut out = String::new();
    for line in log.lines() {
        let Some((stamp, rest)) = line.strip_prefix('[').and_then(|line| line.split_once("] ")) else { continue };
        let Some((second, milli)) = stamp.split_once('.') else { continue };
        let (Some(second), Ok(milli)) = (parse_epoch(second), milli.parse::<i64>()) else { continue };
        if let Some(event) = format_event(rest, base) {
            let _ = writeln!(out, "{}.{milli:03} {event}", second - base);
        }
    }
    out
}

fn text_after<'a>(text: &'a str, marker: &str) -> Option<&'a str> {
    text.find(marker).map(|at| &text[at + marker.len()..])
}

/// The word behind `marker`, up to a blank, a comma or a closing bracket that it has not opened.
fn word_after<'a>(text: &'a str, marker: &str) -> Option<&'a str> {
    let rest = text_after(text, marker)?;
    let mut depth = 0;
    let end = rest.find(|c: char| {
        depth += i32::from(c == '(' || c == '[') - i32::from(c == ')' || c == ']');
        c.is_whitespace() || (c == ',' && depth == 0) || depth < 0
    });
    Some(&rest[..end.unwrap_or(rest.len())])
}

/// A job's name in the log: `7`, a task `7_3(9)`, an array's rest `7_*` or `7_[4-9]`. Returns
/// Slurm's number, and for a task `7_3` behind it.
fn parse_job(text: &str) -> Option<String> {
    let name = word_after(text, "JobId=")?;
    Some(name.to_string())
}

fn format_event(text: &str, base: i64) -> Option<String> {
    let is = |marker: &str| text.contains(marker);
    let job_line = |event: &str| Some(format!("{event} {}", parse_job(text)?));
    if is("_slurm_rpc_submit_batch_job: ") {
        return Some(format!("submit {} {}", parse_job(text)?, word_after(text, "InitPrio=")?));
    }
    if is("sched: Allocate ") {
        return Some(format!("sched_start {} {}", parse_job(text)?, word_after(text, "NodeList=")?));
    }
    if is("backfill") && is(": Started ") {
        let (part, nodes) = (word_after(text, " in ")?, word_after(text, " on ")?);
        return Some(format!("bf_start {} {part} {nodes}", parse_job(text)?));
    }
    if is("_job_complete: ") && is(" done") {
        return job_line("complete");
    }
    if is("Running job scheduler") {
        return Some(format!("sched_pass {}", text_after(text, "Running job scheduler ")?.trim_end_matches('.')));
    }
    if let Some(rest) = text_after(text, "already tested ") {
        return Some(format!("sched_depth {}", rest.split(' ').next()?));
    }
    format_backfill(text, base).or_else(|| format_ends(text)).or_else(|| format_commands(text))
}

/// Formats what backfill logs of its passes.
fn format_backfill(text: &str, base: i64) -> Option<String> {
    let is = |marker: &str| text.contains(marker);
    let job_line = |event: &str| Some(format!("{event} {}", parse_job(text)?));
    let time = |marker: &str| Some(parse_epoch(word_after(text, marker)?)? - base);
    if is("_attempt_backfill: beginning") {
        return Some("bf_pass".to_string());
    }
    if let Some(word) = word_after(text, "completed testing ") {
        return Some(format!("bf_done {}", word.split('(').next()?));
    }
    if is(" test for JobId=") {
        let partition = word_after(text, "Partition=").map_or_else(String::new, |name| format!(" {name}"));
        return Some(format!("bf_test {} {}{partition}", parse_job(text)?, word_after(text, "Prio=")?));
    }
    if is(" to start at ") {
        let nodes = word_after(text, " on nodes ")?;
        return Some(format!("bf_resv {} {} {} {nodes}", parse_job(text)?, time(" to start at ")?, time("end at ")?));
    }
    if is("bf_max_job_test: limit") {
        return Some("bf_max_job_test".to_string());
    }
    if is("; skipping") {
        return job_line("bf_user_skip");
    }
    if is("StartTime set to time after") {
        return job_line("bf_window");
    }
    if is("StartTime set but no") {
        return job_line("bf_noresv");
    }
    if is("Try later ") {
        let later: i64 = word_after(text, "later_start ")?.parse().ok()?;
        return Some(format!("bf_later {} {}", parse_job(text)?, later - base));
    }
    if is("overlaps with existing") {
        return job_line("bf_overlap");
    }
    if is("yielding locks after") {
        return Some("bf_yield".to_string());
    }
    if is("system state changed, breaking out") {
        return Some("bf_abort".to_string());
    }
    if is("reached end of job queue") {
        return Some("bf_end".to_string());
    }
    if is("bf_max_job_start limit") {
        return Some("bf_max_job_start".to_string());
    }
    if is("table size limit") {
        return Some("bf_table".to_string());
    }
    if is("acct_policy_job_runnable_post_select") {
        return job_line("bf_limit");
    }
    None
}

/// Formats what users and operators do with jobs, as the commands that do so.
fn format_commands(text: &str) -> Option<String> {
    let command = [
        ("_hold_job_rec: hold on ", "scontrol hold"),
        ("_release_job_rec: release hold on ", "scontrol release"),
        ("REQUEST_KILL_JOB JobId=", "scancel"),
    ];
    let (_, command) = command.into_iter().find(|(marker, _)| text.contains(marker))?;
    Some(format!("action {command} {} -> ", parse_job(text)?))
}

/// Formats the ends of running jobs, node states, and priorities.
fn format_ends(text: &str) -> Option<String> {
    let is = |marker: &str| text.contains(marker);
    let job_line = |event: &str| Some(format!("{event} {}", parse_job(text)?));
    if is("_slurm_rpc_epilog_complete: ") {
        return Some(format!("epilog {} {}", parse_job(text)?, word_after(text, "Node=")?));
    }
    if let Some(node) = word_after(text, "node_did_resp ") {
        return Some(format!("resp {node}"));
    }
    if is("Time limit exhausted") {
        return job_line("timeout");
    }
    if is("preempted JobId=") {
        let preemption_words = [
            ("requeued to reclaim", "preempt_requeue"),
            ("killed to reclaim", "preempt_cancel"),
            ("suspended by gang", "preempt_suspend"),
        ];
        let (_, preemption_word) = preemption_words.into_iter().find(|(marker, _)| is(marker))?;
        let by = parse_job(text_after(text, "resources for ")?)?;
        return Some(format!("{preemption_word} {} {by}", parse_job(text)?));
    }
    if is("preemption grace time") {
        return Some(format!("preempt_grace {} {}", parse_job(text)?, word_after(text, "setting ")?));
    }
    if is("gang: suspending ") || is("gang: _suspend_job") {
        return job_line("gang_suspend");
    }
    if is("gang: resuming ") || is("gang: _resume_job") {
        return job_line("gang_resume");
    }
    if is("Requeuing ") {
        return job_line("requeued");
    }
    if let Some(rest) = text_after(text, "priority for job ") {
        let id = rest.split(' ').next()?;
        return Some(format!("prio {id} {}", word_after(text, "is now ")?));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_happenings() {
        assert_eq!(parse_epoch("1970-01-01T00:00:01"), Some(1));
        // 2024-02-29 is 19,782 days after the epoch.
        assert_eq!(parse_epoch("2024-02-29T12:00:00"), Some(19_782 * 86_400 + 43_200));
        assert_eq!(parse_epoch("Unknown"), None);
        let log = "[1970-01-01T00:01:40.007] sched: Allocate JobId=7_3(9) NodeList=n[1,4-5] #CPUs=3 Partition=main\n\
                   [1970-01-01T00:01:41.250] sched/backfill: _dump_job_sched: JobId=8 to start at 1970-01-01T00:03:00, end at \
                   1970-01-01T00:04:00 on nodes n[1-3] in partition main\nno stamp\n\
                   [1970-01-01T00:01:42.000] sched/backfill: _attempt_backfill: BACKFILL: test for JobId=8 Prio=343 Partition=lim \
                   Reservation=NONE\n\
                   [1970-01-01T00:01:43.606] sched: _release_job_rec: release hold on JobId=19 by uid 0\n";
        assert_eq!(
            log_events(log, 100),
            "0.007 sched_start 7_3(9) n[1,4-5]\n1.250 bf_resv 8 80 140 n[1-3]\n2.000 bf_test 8 343 lim\n\
             3.606 action scontrol release 19 -> \n"
        );
    }
}
