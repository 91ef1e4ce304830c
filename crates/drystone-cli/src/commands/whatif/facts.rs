//! Names behind numbers.

use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct PoolNames {
    pub(super) users: BTreeMap<String, i32>,
    pub(super) accounts: BTreeMap<String, i32>,
    pub(super) qos: BTreeMap<String, i32>,
    pub(super) partitions: Vec<(String, i32)>,
}

/// Reads lines of `user,12,alice`, as a site writes them.
pub(super) fn names(text: &str) -> PoolNames {
    let mut named = PoolNames::default();
    for line in text.lines() {
        let mut fields = line.splitn(3, ',');
        let (Some(kind), Some(number), Some(name)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let Ok(number) = number.parse::<i32>() else { continue };
        match kind {
            "user" => drop(named.users.insert(name.to_string(), number)),
            "account" | "group" => drop(named.accounts.insert(name.to_string(), number)),
            "qos" => drop(named.qos.insert(name.to_string(), number)),
            "partition" => named.partitions.push((name.to_string(), number)),
            _ => {}
        }
    }
    named
}
