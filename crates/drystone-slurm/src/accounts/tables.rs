//! Tables of `sacctmgr -P`: a line of names, then lines of values, `|` between them.

use super::{Accounts, AccountsDraft, Wrong};
use std::collections::BTreeMap;

/// The names of a header's columns in small letters; `None` for any other line.
fn parse_header(line: &str) -> Option<Vec<String>> {
    let names: Vec<String> = line.split('|').map(|name| name.trim().to_ascii_lowercase()).collect();
    let has = |name: &str| names.iter().any(|n| n == name);
    let of_qos = has("name") && names.iter().any(|name| is_qos_column(name));
    // Reservations have names as well, and times.
    let of_time = ["start", "starttime", "end", "endtime", "unusedwall"].into_iter().any(has);
    (names.len() > 1 && !of_time && ((has("account") && has("user")) || of_qos)).then_some(names)
}

/// Returns whether a name in small letters is that of a column of a QOS.
fn is_qos_column(name: &str) -> bool {
    let limits =
        ["grp", "maxtres", "maxjobs", "maxsubmit", "maxwall", "maxcpu", "maxnode", "mintres", "preempt", "usage"];
    matches!(name, "priority" | "gracetime" | "limitfactor") || limits.iter().any(|limit| name.starts_with(limit))
}

/// Returns whether a line names the columns of a table of QOS or associations.
pub fn is_accounts_header(line: &str) -> bool {
    parse_header(line).is_some()
}

pub(super) fn is_table(text: &str) -> bool {
    text.lines()
        .find(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .is_some_and(|line| parse_header(line).is_some())
}

pub(super) fn read_tables(text: &str) -> Result<Accounts, Wrong> {
    let mut draft = AccountsDraft::default();
    let mut columns: Vec<String> = Vec::new();
    let mut clusters: Vec<String> = Vec::new();
    // Accounts that are open, by their indent in a tree.
    let mut tree: Vec<(usize, String)> = Vec::new();
    // Accounts of which no column and no indent says what is above them.
    let mut flat = 0;
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(names) = parse_header(line) {
            columns = names;
            continue;
        }
        let values: Vec<&str> = line.split('|').collect();
        // `-p` ends lines with a separator, `-P` does not.
        let values = if values.len() == columns.len() + 1 { &values[..columns.len()] } else { &values[..] };
        if values.len() != columns.len() {
            return Err((number, format!("{} values for {} columns", values.len(), columns.len())));
        }
        let mut keys: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in columns.iter().zip(values) {
            keys.insert(name.clone(), value.trim().to_string());
        }
        if columns.iter().any(|name| name == "name") {
            draft.qos.push((number, keys));
            continue;
        }
        let at = columns.iter().position(|name| name == "account").unwrap_or(0);
        note_parent(values[at], &mut keys, &mut tree);
        let account = keys.get("user").is_none_or(String::is_empty) && keys.get("account").is_some_and(|a| a != "root");
        flat += usize::from(account && !columns.iter().any(|name| name == "parentname"));
        clusters.extend(keys.get("cluster").filter(|c| !c.is_empty()).cloned());
        clusters.sort();
        clusters.dedup();
        if clusters.len() > 1 {
            let problem =
                format!("associations of two clusters, {}; choose one with `cluster=`", clusters.join(" and "));
            return Err((number, problem));
        }
        draft.assocs.push((number, keys));
    }
    let is_indented = tree.iter().any(|(indent, _)| *indent > 0);
    let mut accounts = draft.resolve_names()?;
    if flat > 1 && !is_indented {
        accounts.left_out.push(format!(
            "no column ParentName: all {flat} accounts count as children of root, and what limits or shares an account above others has \
             is lost where there is one; {PARENTS} has it"
        ));
    }
    Ok(accounts)
}

/// Command that prints associations with the accounts above them.
const PARENTS: &str = "sacctmgr -P show assoc tree";

/// With `tree`, accounts are indented below their parents.
fn note_parent(account: &str, keys: &mut BTreeMap<String, String>, tree: &mut Vec<(usize, String)>) {
    let indent = account.len() - account.trim_start().len();
    let user = keys.get("user").is_some_and(|user| !user.is_empty());
    if user || keys.get("parentname").is_some_and(|parent| !parent.is_empty()) {
        return;
    }
    tree.retain(|&(at, _)| at < indent);
    if let Some((_, above)) = tree.last() {
        keys.insert("parentname".to_string(), above.clone());
    }
    tree.push((indent, account.trim().to_string()));
}
