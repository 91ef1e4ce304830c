//! Effects of the recorder's commands on jobs, nodes, partitions and reservations.

use super::PassReplay;
use crate::eligible::EndWay;
use crate::site_commands::{JobChange, NodeService, SiteCommand};
use drystone_slurm::model::{NodeSet, RunningModelJob};
use std::collections::BTreeMap;

impl PassReplay<'_> {
    /// The recorder has changed jobs, nodes, partitions or reservations.
    pub(super) fn apply_command(&mut self, text: &str, at: i64) {
        match SiteCommand::parse_command(text, self.golden) {
            Some(SiteCommand::Hold(jobs)) => jobs.into_iter().for_each(|id| self.hold_job(id)),
            Some(SiteCommand::Release(jobs)) => jobs.into_iter().for_each(|id| self.let_wait(id)),
            Some(SiteCommand::Cancel(jobs)) => jobs.into_iter().for_each(|id| self.cancel_job(id, at)),
            Some(SiteCommand::Change(jobs, change)) => {
                for id in jobs {
                    self.change_job(id, &change, at);
                }
            }
            Some(SiteCommand::Nodes(names, service)) => self.set_service(&names, service, at),
            Some(SiteCommand::Partition(name, is_up)) => {
                let named_parts = self.cluster.machine.parts.iter_mut().filter(|part| part.name == name);
                named_parts.for_each(|part| part.up = is_up);
            }
            None => self.change_reservation(text, at),
        }
    }

    fn hold_job(&mut self, id: u32) {
        if self.queue.iter().any(|job| job.id == id) {
            self.queue.retain(|job| job.id != id);
            self.outside.push((id, None));
            self.held.insert(id);
        } else if self.outside.iter().any(|&(job, _)| job == id) {
            self.held.insert(id);
        }
    }

    /// A job is held no more. Where priorities are those of submission, it is the last one then.
    fn let_wait(&mut self, id: u32) {
        if self.held.remove(&id) && self.makes.multifactor.is_none() && self.lowest < i64::MAX {
            self.lowest -= 1;
            self.priorities[id as usize] = self.lowest;
        }
    }

    fn cancel_job(&mut self, id: u32, at: i64) {
        let waits = self.queue.iter().any(|job| job.id == id) || self.outside.iter().any(|&(job, _)| job == id);
        self.queue.retain(|job| job.id != id);
        self.outside.retain(|&(job, _)| job != id);
        self.later.retain(|&(_, job)| job != id);
        if waits {
            self.ended.insert(id, EndWay { at, done: true });
        }
        self.complete_job(id, at, true);
    }

    fn change_job(&mut self, id: u32, change: &JobChange, at: i64) {
        let limit = change.limit.filter(|&limit| limit > 0);
        if let Some(limit) = limit {
            self.limits.insert(id, limit);
        }
        if let Some(running) = self.cluster.get(id) {
            if let Some(limit) = limit {
                let end = running.start + limit;
                self.cluster.reschedule_end(id, end);
            }
            return;
        }
        if let Some(names) = &change.partitions {
            self.moved.insert(id, self.makes.find_partitions(names));
        }
        if let Some(priority) = change.priority {
            self.priorities[id as usize] = priority;
        }
        if self.queue.iter().any(|job| job.id == id) {
            let again = self.queue.iter().find(|job| job.id == id).map(|job| job.submit);
            self.queue.retain(|job| job.id != id);
            self.outside.push((id, again));
            self.admit_jobs(at);
        }
    }

    /// Nodes go out of service, or come back.
    fn set_service(&mut self, names: &[String], service: NodeService, at: i64) {
        let returns = self.golden.conf.setting_value("ReturnToService").is_some_and(|value| value.trim() == "2");
        let nodes: Vec<usize> =
            names.iter().filter_map(|name| self.golden.conf.find_node(name)).map(|n| n as usize).collect();
        for &node in &nodes {
            match service {
                NodeService::Up if self.tells_answers => {
                    self.out.entry(node).and_modify(|returns| *returns = true);
                }
                NodeService::Up => drop(self.out.remove(&node)),
                NodeService::Draining => drop(self.out.insert(node, false)),
                NodeService::Down => drop(self.out.insert(node, returns)),
            }
        }
        self.count_out();
        if service == NodeService::Down {
            let on_them = |job: &&RunningModelJob| nodes.iter().any(|&node| job.alloc.nodes.contains(node));
            let lost_jobs: Vec<u32> = self.cluster.running_jobs().filter(on_them).map(|job| job.id).collect();
            lost_jobs.into_iter().for_each(|id| self.complete_job(id, at, true));
        }
    }

    /// A node that is to return answers: it is back.
    pub(super) fn return_node(&mut self, name: &str) {
        let node = self.golden.conf.find_node(name).map(|node| node as usize);
        if let Some(node) = node.filter(|node| self.out.get(node) == Some(&true)) {
            self.out.remove(&node);
            self.completing.retain(|&(completing, ..)| completing != node);
            self.count_out();
        }
    }

    pub(super) fn count_out(&mut self) {
        let out = NodeSet::from_members(self.cluster.machine.node_count(), self.out.keys().copied());
        self.cluster.set_out(&out);
    }

    /// A reservation is made, or deleted.
    fn change_reservation(&mut self, text: &str, at: i64) {
        let (command, answer) = text.split_once("->").unwrap_or((text, ""));
        let words: BTreeMap<String, &str> = command
            .split_whitespace()
            .filter_map(|word| word.split_once('='))
            .map(|(key, value)| (key.to_ascii_lowercase(), value))
            .collect();
        let Some(name) = words.get("reservationname").or(words.get("reservation")) else { return };
        if command.contains(" delete ") {
            let now = self.time_in_seconds(at);
            let named_reservations = self.cluster.reservations.iter_mut().filter(|own| own.name == **name);
            named_reservations.for_each(|own| own.end = own.end.min(now));
        } else if answer.contains("created") {
            self.cluster.reservations.extend(self.makes.parse_reservation(name, &words));
        }
    }
}
