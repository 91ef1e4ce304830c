//! Commands by which the recorder has changed jobs, nodes and partitions.

use super::golden::Golden;
use super::recorded::Happening;
use drystone_slurm::conf::{expand_hostlist, parse_seconds};
use std::collections::{BTreeMap, BTreeSet};

/// Service of nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NodeService {
    /// In service once they answer.
    Up,
    /// Out for new jobs.
    Draining,
    /// Out, and its jobs are gone.
    Down,
}

/// Change of waiting or running jobs; what it leaves alone is `None`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct JobChange {
    /// Limit in seconds.
    pub(super) limit: Option<i64>,
    pub(super) partitions: Option<Vec<String>>,
    pub(super) priority: Option<i64>,
}

/// Command that has succeeded. Jobs are named by their places in the recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum SiteCommand {
    Hold(BTreeSet<u32>),
    Release(BTreeSet<u32>),
    Cancel(BTreeSet<u32>),
    Change(BTreeSet<u32>, JobChange),
    Nodes(Vec<String>, NodeService),
    /// Partition by its name; true if its jobs may start.
    Partition(String, bool),
}

impl SiteCommand {
    /// Reads `scontrol hold 7 9`, `scancel 7`, `scontrol update nodename=n1 state=drain` and their
    /// like; `None` for other commands and for those that were refused.
    pub(super) fn parse_command(text: &str, golden: &Golden) -> Option<SiteCommand> {
        let (command, answer) = text.split_once("->").unwrap_or((text, ""));
        if !answer.trim().is_empty() {
            return None;
        }
        let words: Vec<&str> = command.split_whitespace().collect();
        let at = words.iter().position(|word| matches!(*word, "scontrol" | "scancel"))?;
        let rest = &words[at + 1..];
        if words[at] == "scancel" {
            let is_other = |word: &&str| word.starts_with('-');
            return (!rest.iter().any(is_other)).then(|| SiteCommand::Cancel(parse_jobs(rest, golden)));
        }
        match rest {
            ["hold" | "uhold", jobs_of @ ..] => Some(SiteCommand::Hold(parse_jobs(jobs_of, golden))),
            ["release", jobs_of @ ..] => Some(SiteCommand::Release(parse_jobs(jobs_of, golden))),
            ["update", changes @ ..] => parse_update(changes, golden),
            _ => None,
        }
    }

    /// The jobs that are held or released at any time of a recording.
    pub(super) fn held_jobs(golden: &Golden) -> BTreeSet<u32> {
        let commands = golden.events.iter().filter_map(|(_, happening)| match happening {
            Happening::Action(text) => SiteCommand::parse_command(text, golden),
            _ => None,
        });
        let jobs_of_holds = commands.filter_map(|command| match command {
            SiteCommand::Hold(jobs) | SiteCommand::Release(jobs) => Some(jobs),
            _ => None,
        });
        jobs_of_holds.flatten().collect()
    }
}

/// The jobs of numbers such as `7`, `7,9` and `8_3`; the number of an array means all of its tasks.
fn parse_jobs(words: &[&str], golden: &Golden) -> BTreeSet<u32> {
    let mut jobs = BTreeSet::new();
    for text in words.iter().flat_map(|word| word.split(',')).filter(|text| !text.is_empty()) {
        let (number, task) =
            text.split_once('_').map_or((text, None), |(array, task)| (array, task.parse::<u32>().ok()));
        let Ok(number) = number.parse::<u32>() else { continue };
        for (job, place) in golden.jobs.iter().zip(0..) {
            let is_named = match (job.task, task) {
                (Some((array, own)), Some(task)) => array == number && own == task,
                (Some((array, _)), None) => array == number || job.slurm_id == number,
                (None, _) => job.slurm_id == number,
            };
            if is_named {
                jobs.insert(place);
            }
        }
    }
    jobs
}

fn parse_update(words: &[&str], golden: &Golden) -> Option<SiteCommand> {
    let pairs = words.iter().filter_map(|word| word.split_once('='));
    let pairs: BTreeMap<String, &str> = pairs.map(|(key, value)| (key.to_ascii_lowercase(), value)).collect();
    let pair = |names: &[&str]| names.iter().find_map(|name| pairs.get(*name).copied());
    let state = pair(&["state"]).unwrap_or_default().to_ascii_lowercase();
    if let Some(nodes) = pair(&["nodename", "node"]) {
        let service = match state.as_str() {
            "drain" | "fail" => NodeService::Draining,
            "down" => NodeService::Down,
            "resume" | "undrain" | "idle" => NodeService::Up,
            _ => return None,
        };
        let node_names = || golden.conf.nodes.iter().map(|node| node.name.clone()).collect();
        let nodes = if nodes.eq_ignore_ascii_case("all") { node_names() } else { expand_hostlist(nodes).ok()? };
        return Some(SiteCommand::Nodes(nodes, service));
    }
    if let Some(partition) = pair(&["partitionname", "partition"]).filter(|_| pair(&["jobid", "job"]).is_none()) {
        let is_up = matches!(state.as_str(), "up" | "drain");
        return (!state.is_empty()).then(|| SiteCommand::Partition(partition.to_string(), is_up));
    }
    let jobs_of = parse_jobs(&[pair(&["jobid", "job"])?], golden);
    let split = |text: &str| text.split(',').map(String::from).collect();
    let change = JobChange {
        limit: pair(&["timelimit"]).and_then(|text| parse_seconds(text).ok().flatten()),
        partitions: pair(&["partition"]).map(split),
        priority: pair(&["priority"]).and_then(|text| text.parse().ok()),
    };
    match change.priority {
        Some(0) => Some(SiteCommand::Hold(jobs_of)),
        _ => Some(SiteCommand::Change(jobs_of, change)),
    }
}

impl Golden {
    /// Gives jobs the partitions in which the log says that they wait, where no column has those
    /// that were asked for.
    pub(super) fn find_partitions(&mut self) {
        let default = self.conf.partitions.iter().rfind(|part| part.default).map(|part| part.name.clone());
        let jobs_to_move = |command| match command {
            SiteCommand::Change(jobs, JobChange { partitions: Some(_), .. }) => jobs,
            _ => BTreeSet::new(),
        };
        let commands = self.events.iter().filter_map(|(_, happening)| match happening {
            Happening::Action(text) => SiteCommand::parse_command(text, self),
            _ => None,
        });
        let moved_jobs: BTreeSet<u32> = commands.flat_map(jobs_to_move).collect();
        let mut tried_parts: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for (_, happening) in &self.events {
            let (Happening::Behind(name, part) | Happening::Test(name, _, Some(part))) = happening else { continue };
            for id in self.matching_jobs(*name) {
                let parts = tried_parts.entry(id).or_default();
                if !parts.contains(part) && self.conf.partitions.iter().any(|own| own.name == *part) {
                    parts.push(part.clone());
                }
            }
        }
        for (job, id) in self.jobs.iter_mut().zip(0..) {
            let parts = tried_parts.remove(&id).unwrap_or_default();
            if job.partitions.len() > 1 {
                continue;
            }
            if moved_jobs.contains(&id) {
                // It has been moved since, and the column has where to.
                let first = parts.into_iter().next().or_else(|| default.clone());
                job.partitions = first.into_iter().collect();
            } else {
                let further = parts.into_iter().filter(|part| *part != job.partition);
                let own = std::iter::once(job.partition.clone());
                job.partitions = own.chain(further).collect();
            }
        }
    }

    /// Commands of the recorder that have succeeded and are not followed.
    pub fn unread_commands(&self) -> Vec<&str> {
        let is_unread = |text: &&str| {
            let (request, answer) = text.split_once("->").unwrap_or((text, ""));
            let reserves = request.to_ascii_lowercase().contains("reservation");
            answer.trim().is_empty() && !reserves && SiteCommand::parse_command(text, self).is_none()
        };
        let texts = self.events.iter().filter_map(|(_, happening)| match happening {
            Happening::Action(text) => Some(text.as_str()),
            _ => None,
        });
        let command = |text| str::split_once(text, "->").map_or(text, |(command, _)| command).trim();
        let mut unread: Vec<&str> = texts.filter(is_unread).map(command).collect();
        unread.dedup();
        unread
    }
}

#[cfg(test)]
mod tests {
    use super::super::recorded::GoldenJob;
    use super::*;
    use drystone_slurm::accounts::Accounts;
    use drystone_slurm::conf::SlurmConf;

    fn golden() -> Golden {
        let conf = "NodeName=n[1-4] CPUs=8\nPartitionName=main Nodes=n[1-4] Default=YES\n";
        let job = |slurm_id, task| GoldenJob { slurm_id, task, ..GoldenJob::default() };
        Golden {
            name: "x.rep1".to_string(),
            conf: SlurmConf::parse(conf, std::path::Path::new("x.conf")).expect("sound"),
            accounts: Accounts::default(),
            base: 0,
            jobs: vec![job(7, None), job(8, Some((8, 1))), job(9, Some((8, 2)))],
            events: Vec::new(),
        }
    }

    #[test]
    fn commands_name_jobs_nodes_and_partitions() {
        let golden = golden();
        let parse = |text: &str| SiteCommand::parse_command(text, &golden);
        assert_eq!(parse("scontrol hold 7,8 -> "), Some(SiteCommand::Hold(BTreeSet::from([0, 1, 2]))));
        assert_eq!(parse("scancel 8_2 -> "), Some(SiteCommand::Cancel(BTreeSet::from([2]))));
        assert_eq!(parse("scancel --signal=USR1 7 -> "), None, "it goes on");
        let nodes = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let drain = parse("scontrol update nodename=n[2-3] state=DRAIN reason=x -> ");
        assert_eq!(drain, Some(SiteCommand::Nodes(nodes(&["n2", "n3"]), NodeService::Draining)));
        assert_eq!(parse("scontrol update nodename=n2 state=resume -> slurm_update error: Invalid node state"), None);
        let change = JobChange { limit: Some(240), ..JobChange::default() };
        let read_change = parse("scontrol update jobid=7 timelimit=4 -> ");
        assert_eq!(read_change, Some(SiteCommand::Change(BTreeSet::from([0]), change)));
        let down = Some(SiteCommand::Partition("main".to_string(), false));
        assert_eq!(parse("scontrol update partitionname=main state=down -> "), down);
    }
}
