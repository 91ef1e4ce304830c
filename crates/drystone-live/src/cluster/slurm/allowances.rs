//! Nodes that running jobs may give: `--comment=drystone:min-nodes=2`.
//!
//! A comment may contain anything, even text that looks like the records of other jobs. Therefore
//! it is the last field of a record, and records end with a word that is drawn for each reading.

use super::run::Runner;
use super::{SlurmSite, texts};
use crate::cluster::{ClusterError, JobFact, JobState, RecordId, SiteRemark};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

/// Word in a comment, before the number.
const WORD: &str = "drystone:min-nodes=";
/// Width of a comment: a comment that fills it may be cut.
const WIDTH: usize = 250;
const SEPARATOR: char = '\x1f';
/// Age from which comments are read again, in seconds: users may change them.
const AGE: i64 = 60;

#[derive(Debug, Default)]
pub(super) struct ShrinkAllowances {
    /// Fewest nodes of every job that was listed.
    least: BTreeMap<RecordId, Option<u32>>,
    /// Time of the last reading.
    read: i64,
}

impl ShrinkAllowances {
    pub(super) fn add_to(&mut self, run: &Runner, facts: &mut [JobFact], time: i64) -> Result<(), ClusterError> {
        let may_give = |fact: &JobFact| fact.state == JobState::Running && !fact.leaving && fact.nodes > 1;
        let mut able: Vec<&mut JobFact> = facts.iter_mut().filter(|fact| may_give(fact)).collect();
        let is_new = able.iter().any(|fact| !self.least.contains_key(&fact.record_id()));
        if is_new || (!able.is_empty() && (time - self.read).abs() >= AGE) {
            self.least = read_allowances(run)?;
            self.read = time;
        }
        for fact in &mut able {
            // A job that is not listed as running yet allows nothing until the next reading.
            fact.least_nodes = *self.least.entry(fact.record_id()).or_default();
        }
        Ok(())
    }
}

impl SlurmSite {
    /// Returns what a site that lets nodes be taken from running jobs has to know or to change.
    /// `takes`: this policy takes nodes.
    pub fn about_shrinking(&self, policy: &str, takes: bool) -> Option<SiteRemark> {
        if !takes {
            return Some(SiteRemark {
                forbids: false,
                found: format!("--shrink has no effect: policy {policy} takes no nodes from running jobs"),
                change: "leave it out, or choose a policy with resize=shrink".into(),
            });
        }
        let parameters = self.get("SchedulerParameters").to_ascii_lowercase();
        let is_off = parameters.split(',').any(|word| word.trim() == "disable_job_shrink");
        is_off.then(|| SiteRemark {
            forbids: true,
            found: "SchedulerParameters has disable_job_shrink: Slurm takes no nodes from running jobs".into(),
            change: "remove it from slurm.conf, or drive without --shrink".into(),
        })
    }
}

/// Reads the allowances of all running jobs.
fn read_allowances(run: &Runner) -> Result<BTreeMap<RecordId, Option<u32>>, ClusterError> {
    let end = format!("{SEPARATOR}{:016x}", RandomState::new().hash_one(WORD));
    let fields = ["ArrayJobID:20", "ArrayTaskID:20", "SubmitTime:30"].map(|field| format!("{field}{SEPARATOR}"));
    let format = format!("{},comment:{WIDTH}{end}", fields.join(","));
    Ok(parse_listing(&run.read_output("squeue", &["-h", "-a", "-t", "running", "-O", &format])?, &end))
}

/// Returns the records of a listing. A record that cannot be read allows nothing.
fn parse_listing(listing: &str, end: &str) -> BTreeMap<RecordId, Option<u32>> {
    let record = |text: &str| {
        let mut fields = text.strip_prefix('\n').unwrap_or(text).splitn(4, SEPARATOR);
        let mut next = || fields.next();
        let (id, task, submit, comment) = (next()?.trim(), next()?.trim(), next()?.trim(), next()?);
        let record = RecordId { id: id.parse().ok()?, task: task.parse().ok(), submit: texts::parse_time(submit)? };
        Some((record, find_least_nodes(comment)))
    };
    listing.split(end).filter_map(record).collect()
}

/// Returns the number of nodes in a comment, if the comment has exactly one.
fn find_least_nodes(comment: &str) -> Option<u32> {
    let is_cut = comment.len() >= WIDTH && !comment.ends_with(' ');
    let mut words: Vec<&str> = comment.split([',', ';', ' ']).collect();
    if is_cut {
        words.pop();
    }
    let mut numbers = words.into_iter().filter_map(|word| word.strip_prefix(WORD));
    let (number, extra_number) = (numbers.next()?, numbers.next());
    number.parse().ok().filter(|&least| least >= 1 && extra_number.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_says_how_many_nodes_stay() {
        assert_eq!(find_least_nodes("drystone:min-nodes=2      "), Some(2));
        assert_eq!(find_least_nodes("project 7, drystone:min-nodes=12 "), Some(12));
        for silent in
            ["", "(null)", "min-nodes=2", "drystone:min-nodes=", "drystone:min-nodes=0", "drystone:min-nodes=-1"]
        {
            assert_eq!(find_least_nodes(silent), None, "{silent}");
        }
        assert_eq!(find_least_nodes("drystone:min-nodes=2 drystone:min-nodes=1"), None, "which of them?");
        let cut = format!("{}drystone:min-nodes=1", " ".repeat(WIDTH - 20));
        assert_eq!((cut.len(), find_least_nodes(&cut)), (WIDTH, None), "the number may have been 12");
    }

    /// A comment that looks like the record of another job allows nothing for that job.
    #[test]
    fn what_users_write_gives_no_nodes_of_others() {
        let forgery = "x\x1f\n7\x1f\x1f1795571646\x1fdrystone:min-nodes=1 ";
        let listing = format!(
            "5\x1f3\x1f1795571646\x1fdrystone:min-nodes=3 \x1fe\n6\x1fN/A\x1f1795571646\x1f{forgery}\x1fe\n7\x1fN/A\x1f1795571646\x1f(null) \x1fe\n"
        );
        let records = parse_listing(&listing, "\x1fe");
        let record = |id, task| RecordId { id, task, submit: 1_795_571_646 };
        assert_eq!(records.get(&record(5, Some(3))), Some(&Some(3)));
        assert_eq!(records.get(&record(7, None)), Some(&None));
        assert_eq!(records.len(), 3);
    }
}
