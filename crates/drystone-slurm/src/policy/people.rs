//! Users of jobs: the log's numbers as associations and QOS.

use crate::accounts::Accounts;
use crate::model::NONE;
use drystone_core::model::Job;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Field of the log with a job's QOS.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum QosFrom {
    /// Nowhere: the default of its association.
    Nothing,
    /// In the number of its queue.
    Queue,
    /// In the number of its partition.
    Partition,
}

/// Names behind the log's numbers. A number without a name is its own name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct LogNames {
    names: BTreeMap<(String, i32), String>,
}

impl LogNames {
    /// Reads lines of `user,12,alice`, `account,3,physics`, `qos,1,normal`, `partition,2,long`.
    ///
    /// # Errors
    /// A line that is none of these.
    pub(super) fn parse(text: &str) -> Result<LogNames, String> {
        let mut names = BTreeMap::new();
        for (line, number) in text.lines().zip(1..) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') || line.starts_with("kind,") {
                continue;
            }
            let fields: Vec<&str> = line.splitn(3, ',').map(str::trim).collect();
            let wrong = || format!("line {number}: expected `user|account|qos|partition,NUMBER,NAME`, found `{line}`");
            let [kind, id, name] = fields.as_slice() else { return Err(wrong()) };
            let kind = match kind.to_ascii_lowercase().as_str() {
                "group" => "account".to_string(),
                kind @ ("user" | "account" | "qos" | "partition") => kind.to_string(),
                _ => return Err(wrong()),
            };
            names.insert((kind, id.parse().map_err(|_| wrong())?), (*name).to_string());
        }
        Ok(LogNames { names })
    }

    pub(super) fn name_of(&self, kind: &str, number: i32) -> String {
        self.names.get(&(kind.to_string(), number)).cloned().unwrap_or_else(|| number.to_string())
    }

    /// Returns whether a number of this kind has a name.
    pub(super) fn knows_kind(&self, kind: &str) -> bool {
        self.names.keys().any(|(own, _)| own == kind)
    }
}

/// Names of users, accounts and QOS.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct People {
    accounts: Accounts,
    names: LogNames,
    qos_from: QosFrom,
    /// True if missing associations are made from the log.
    makes: bool,
    /// Association and QOS found for a user, an account, a QOS and a partition.
    known: BTreeMap<(i32, i32, i32, i32), (u32, u32)>,
}

impl People {
    pub(super) fn new(accounts: Accounts, names: LogNames, qos_from: QosFrom, makes: bool) -> People {
        People { accounts, names, qos_from, makes, known: BTreeMap::new() }
    }

    pub(super) fn log_names(&self) -> &LogNames {
        &self.names
    }

    /// The association and the QOS of a job; `make` makes associations.
    pub(super) fn assoc_and_qos(&mut self, job: &Job, make: impl FnOnce(&str, &str) -> Option<u32>) -> (u32, u32) {
        let number = match self.qos_from {
            QosFrom::Nothing => -1,
            QosFrom::Queue => job.queue,
            QosFrom::Partition => job.partition,
        };
        let key = (job.user, job.group, number, job.partition);
        if let Some(&pair) = self.known.get(&key) {
            return pair;
        }
        let (account, user) = (self.names.name_of("account", job.group), self.names.name_of("user", job.user));
        let index = |position: Option<usize>| position.map_or(NONE, |index| index as u32);
        let mut assoc = index(self.accounts.find_in(&account, &user, &self.names.name_of("partition", job.partition)));
        if assoc == NONE && self.makes {
            assoc = make(&account, &user).unwrap_or(NONE);
        }
        let default = self.accounts.assocs.get(assoc as usize).and_then(|assoc| assoc.default_qos);
        let named_qos = if number < 0 { None } else { self.accounts.find_qos(&self.names.name_of("qos", number)) };
        let qos = named_qos.or(default).or_else(|| self.accounts.find_qos("normal"));
        let entry = (assoc, index(qos));
        self.known.insert(key, entry);
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_names() {
        let names = LogNames::parse("kind,number,name\nuser,12,ada\n# a comment\ngroup,3,physics\n").expect("names");
        assert_eq!((names.name_of("user", 12).as_str(), names.name_of("user", 13).as_str()), ("ada", "13"));
        assert_eq!(names.name_of("account", 3), "physics");
        let error = LogNames::parse("user,x,ada").expect_err("no number");
        assert_eq!(error, "line 1: expected `user|account|qos|partition,NUMBER,NAME`, found `user,x,ada`");
    }
}
