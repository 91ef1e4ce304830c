//! A `sacctmgr dump`, and scripts of sacctmgr's commands.

use super::{Accounts, AccountsDraft, Wrong};
use std::collections::BTreeMap;

type CommandKeys = BTreeMap<String, String>;

/// Lines that say something, with their numbers.
fn content_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let trimmed_lines = text.lines().zip(1..).map(|(line, number)| (number, line.trim()));
    trimmed_lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

pub(super) fn is_dump(text: &str) -> bool {
    content_lines(text).next().is_some_and(|(_, line)| line.starts_with("Cluster - ") || line.starts_with("Parent - "))
}

/// `Account - 'cs':Fairshare=3:Description='a: b'`, as what it is, its name and its keys.
fn parse_dump_line(line: &str) -> Option<(String, String, CommandKeys)> {
    let (entity, rest) = line.split_once(" - ")?;
    let mut parts = Vec::new();
    let (mut part, mut in_quotes) = (String::new(), false);
    for c in rest.chars() {
        match c {
            '\'' => in_quotes = !in_quotes,
            ':' if !in_quotes => parts.push(std::mem::take(&mut part)),
            c => part.push(c),
        }
    }
    parts.push(part);
    let name = parts.remove(0);
    let keys = parts.iter().filter_map(|part| part.split_once('='));
    Some((entity.to_string(), name, keys.map(|(k, v)| (k.trim().to_ascii_lowercase(), v.to_string())).collect()))
}

pub(super) fn read_dump(text: &str) -> Result<Accounts, Wrong> {
    let (mut draft, mut parent) = (AccountsDraft::default(), "root".to_string());
    for (number, line) in content_lines(text) {
        let Some((entity, name, mut keys)) = parse_dump_line(line) else {
            return Err((number, format!("expected `Account - 'NAME':…`, found `{line}`")));
        };
        // A dump names QOS and says nothing more about them.
        keys.remove("defaultqos");
        match entity.as_str() {
            "Cluster" => continue,
            "Parent" => {
                parent = name;
                continue;
            }
            "Account" => {
                keys.insert("account".to_string(), name);
                keys.insert("parentname".to_string(), parent.clone());
            }
            "User" => {
                keys.insert("account".to_string(), parent.clone());
                keys.insert("user".to_string(), name);
            }
            _ => return Err((number, format!("`{entity}` is none of Cluster, Parent, Account, User"))),
        }
        draft.assocs.push((number, keys));
    }
    draft.resolve_names()
}

/// Commands that add or change something.
const VERBS: [&str; 6] = ["add", "create", "modify", "update", "remove", "delete"];

pub(super) fn is_script(text: &str) -> bool {
    content_lines(text).next().is_some_and(|(_, line)| {
        let verb = command_words(line).first().map(|word| word.to_ascii_lowercase()).unwrap_or_default();
        VERBS.contains(&verb.as_str())
    })
}

/// The words of a command, without `sacctmgr` and its options.
fn command_words(line: &str) -> Vec<&str> {
    let begins_command = |word: &&str| !word.starts_with('-') && !word.ends_with("sacctmgr");
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let from = words.iter().position(begins_command).unwrap_or(words.len());
    words.drain(..from);
    words
}

pub(super) fn read_script(text: &str) -> Result<Accounts, Wrong> {
    let mut script = Script::default();
    // Every database has it from the beginning.
    script.draft.qos.push((0, CommandKeys::from([("name".to_string(), "normal".to_string())])));
    for (number, line) in content_lines(text) {
        script.take_command(number, &command_words(line)).map_err(|problem| (number, problem))?;
    }
    script.draft.resolve_names()
}

#[derive(Default)]
struct Script {
    draft: AccountsDraft,
}

impl Script {
    fn take_command(&mut self, number: usize, words: &[&str]) -> Result<(), String> {
        let [verb, entity_word, rest @ ..] = words else {
            return Err("expected a command and what it is about, such as `add account physics`".to_string());
        };
        let (before, after) = match rest.iter().position(|word| word.eq_ignore_ascii_case("set")) {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, &rest[..0]),
        };
        let (which, set) = (parse_pairs(before), parse_pairs(after));
        let entity = entity_word.to_ascii_lowercase();
        match verb.to_ascii_lowercase().as_str() {
            "add" | "create" => self.add_entity(number, &entity, which),
            "modify" | "update" => self.modify_entity(&entity, &which, &set),
            "remove" | "delete" => {
                self.visit_matching(&entity, &which, |list, at| drop(list.remove(at)));
                Ok(())
            }
            verb => Err(format!("`{verb}` is none of add, modify, remove")),
        }
    }

    fn add_entity(&mut self, number: usize, entity: &str, keys: CommandKeys) -> Result<(), String> {
        let names = keys.get("name").cloned().unwrap_or_default();
        for name in names.split(',').filter(|name| !name.is_empty()) {
            let mut own = keys.clone();
            match entity {
                "qos" => {
                    own.insert("name".to_string(), name.to_string());
                    let is_it = |keys: &CommandKeys| keys.get("name").is_some_and(|own| own.eq_ignore_ascii_case(name));
                    match self.draft.qos.iter_mut().find(|(_, keys)| is_it(keys)) {
                        Some((_, entry)) => entry.extend(own),
                        None => self.draft.qos.push((number, own)),
                    }
                    continue;
                }
                "account" => {
                    own.insert("account".to_string(), name.to_string());
                    if let Some(parent) = keys.get("parent") {
                        own.insert("parentname".to_string(), parent.clone());
                    }
                    own.remove("defaultqos");
                    self.draft.assocs.push((number, own));
                }
                "user" => {
                    own.insert("user".to_string(), name.to_string());
                    let accounts = keys.get("account").or(keys.get("accounts")).or(keys.get("defaultaccount"));
                    for account in accounts.map_or("root", String::as_str).split(',') {
                        own.insert("account".to_string(), account.to_string());
                        own.remove("defaultqos");
                        // Each partition that is named has an association of its own.
                        for partition in keys.get("partition").map_or("", String::as_str).split(',') {
                            own.insert("partition".to_string(), partition.to_string());
                            self.draft.assocs.push((number, own.clone()));
                        }
                    }
                }
                "cluster" => {}
                _ => return Err(format!("`{entity}` is none of account, user, qos, cluster")),
            }
        }
        Ok(())
    }

    fn modify_entity(&mut self, entity: &str, which: &CommandKeys, set: &CommandKeys) -> Result<(), String> {
        if set.is_empty() {
            return Err("expected `set` and what to set".to_string());
        }
        let mut has_match = false;
        self.visit_matching(entity, which, |list, at| {
            has_match = true;
            for (key, value) in set.iter().filter(|(key, _)| *key != "defaultqos") {
                list[at].1.insert(key.clone(), value.clone());
            }
        });
        let name = which.get("name").filter(|name| !has_match && name.as_str() != "root");
        match name.filter(|_| ["qos", "user", "account"].contains(&entity)) {
            Some(name) => Err(format!("there is no {entity} `{name}` to modify: add it in a line before this one")),
            None => Ok(()),
        }
    }

    /// Does something to each line that is meant, from the last one on.
    fn visit_matching(
        &mut self,
        entity: &str,
        which: &CommandKeys,
        mut act: impl FnMut(&mut Vec<(usize, CommandKeys)>, usize),
    ) {
        let names = which.get("name").cloned().unwrap_or_default();
        let (list, key) = match entity {
            "qos" => (&mut self.draft.qos, "name"),
            "user" => (&mut self.draft.assocs, "user"),
            "account" => (&mut self.draft.assocs, "account"),
            _ => return,
        };
        for at in (0..list.len()).rev() {
            let keys = &list[at].1;
            let is_user = keys.get("user").is_some_and(|user| !user.is_empty());
            let is_listed =
                keys.get(key).is_some_and(|own| names.split(',').any(|name| name.eq_ignore_ascii_case(own)));
            let same = |key: &str| which.get(key).is_none_or(|value| keys.get(key) == Some(value));
            let account = same("account") && same("partition");
            if is_listed && (key == "name" || (key == "user") == is_user) && (key != "user" || account) {
                act(list, at);
            }
        }
    }
}

/// `name=x fairshare=1`, or `x fairshare=1`: a word without a key is a name. `where` is left out.
fn parse_pairs(words: &[&str]) -> CommandKeys {
    let mut keys = CommandKeys::new();
    for word in words.iter().filter(|word| !word.eq_ignore_ascii_case("where")) {
        let (key, value) = word.split_once('=').unwrap_or(("name", word));
        let key = match key.to_ascii_lowercase().as_str() {
            "names" => "name".to_string(),
            "accounts" => "account".to_string(),
            "partitions" => "partition".to_string(),
            key => key.trim_end_matches(['+', '-']).to_string(),
        };
        keys.insert(key, value.trim_matches(['\'', '"']).to_string());
    }
    keys
}
