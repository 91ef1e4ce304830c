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
pub(super) fn parse_names(text: &str) -> PoolNames {
    let mut pool_names = PoolNames::default();
    for line in text.lines() {
        let mut fields = line.splitn(3, ',');
        let (Some(kind), Some(number), Some(name)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let Ok(number) = number.parse::<i32>() else { continue };
        match kind {
            "user" => drop(pool_names.users.insert(name.to_string(), number)),
            "account" | "group" => drop(pool_names.accounts.insert(name.to_string(), number)),
            "qos" => drop(pool_names.qos.insert(name.to_string(), number)),
            "partition" => pool_names.partitions.push((name.to_string(), number)),
            _ => {}
        }
    }
    pool_names
}
