//! `nodes.csv` and `capacity.csv`.

use crate::capacity::{Cause, NodeLoss, PoolLoss};
use crate::manifest::{Manifest, NodeSummary};
use std::fmt::Write;

const NODES: &str = "name,pool,cpus,memory_kb,gpus,described,gres";
const NODES_OUT: &str = "pool,node,begin,end,cpus,announced,cause";
const CAPACITY: &str = "pool,begin,end,units,announced,cause";

fn quote_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}

fn split_fields(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut inside) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if inside && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' => inside = !inside,
            ',' if !inside => fields.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    fields.push(field);
    fields
}

pub(super) fn nodes_text(nodes: &[NodeSummary]) -> String {
    let mut text = format!("{NODES}\n");
    for node in nodes {
        let pool = node.pool.as_deref().map(quote_field).unwrap_or_default();
        let NodeSummary { name, cpus, memory_kb, gpus, described, gres, .. } = node;
        let (name, is_described, gres) = (quote_field(name), u8::from(*described), quote_field(gres));
        let _ = writeln!(text, "{name},{pool},{cpus},{memory_kb},{gpus},{is_described},{gres}");
    }
    text
}

pub(super) fn parse_nodes(text: &str) -> Result<Vec<NodeSummary>, String> {
    parse_rows(text, NODES, |row| {
        let number = |at: usize| row[at].parse().map_err(|_| format!("`{}` is no number", row[at]));
        Ok(NodeSummary {
            name: row[0].clone(),
            pool: (!row[1].is_empty()).then(|| row[1].clone()),
            cpus: u32::try_from(number(2)?).unwrap_or(u32::MAX),
            memory_kb: number(3)?,
            gpus: u32::try_from(number(4)?).unwrap_or(u32::MAX),
            described: row[5] == "1",
            gres: row[6].clone(),
        })
    })
}

pub(super) fn capacity_text(losses: &[PoolLoss], manifest: &Manifest) -> String {
    let mut text = format!("{CAPACITY}\n");
    let maybe = |time: Option<i64>| time.map_or(String::new(), |t| t.to_string());
    for loss in losses {
        let pool = manifest.pools.get(usize::from(loss.pool)).map_or(String::new(), |p| quote_field(&p.name));
        let PoolLoss { begin, end, units, announced, cause, .. } = *loss;
        let _ = writeln!(text, "{pool},{begin},{},{units},{},{}", maybe(end), maybe(announced), cause.name());
    }
    text
}

pub(super) fn parse_capacity(text: &str, manifest: &Manifest) -> Result<Vec<PoolLoss>, String> {
    parse_rows(text, CAPACITY, |row| {
        let number = |at: usize| row[at].parse::<i64>().map_err(|_| format!("`{}` is no number", row[at]));
        let maybe = |at: usize| if row[at].is_empty() { Ok(None) } else { number(at).map(Some) };
        let (pool, cause) = (find_pool(manifest, &row[0])?, parse_cause(&row[5])?);
        let units = u32::try_from(number(3)?).map_err(|_| format!("`{}` is no size", row[3]))?;
        Ok(PoolLoss { pool, begin: number(1)?, end: maybe(2)?, units, announced: maybe(4)?, cause })
    })
}

pub(super) fn node_losses_text(losses: &[NodeLoss], manifest: &Manifest) -> String {
    let mut text = format!("{NODES_OUT}\n");
    let maybe = |time: Option<i64>| time.map_or(String::new(), |t| t.to_string());
    for loss in losses {
        let pool = manifest.pools.get(usize::from(loss.pool)).map_or(String::new(), |p| quote_field(&p.name));
        let NodeLoss { begin, end, node, cpus, announced, cause, .. } = loss;
        let (end, announced_cell, cpus) = (maybe(*end), maybe(*announced), maybe(cpus.map(i64::from)));
        let _ = writeln!(text, "{pool},{},{begin},{end},{cpus},{announced_cell},{}", quote_field(node), cause.name());
    }
    text
}

pub(super) fn node_losses(text: &str, manifest: &Manifest) -> Result<Vec<NodeLoss>, String> {
    parse_rows(text, NODES_OUT, |row| {
        let number = |at: usize| row[at].parse::<i64>().map_err(|_| format!("`{}` is no number", row[at]));
        let maybe = |at: usize| if row[at].is_empty() { Ok(None) } else { number(at).map(Some) };
        let small = |n: i64| u32::try_from(n).map_err(|_| format!("`{n}` is no number of processors"));
        Ok(NodeLoss {
            pool: find_pool(manifest, &row[0])?,
            node: row[1].clone(),
            begin: number(2)?,
            end: maybe(3)?,
            cpus: maybe(4)?.map(small).transpose()?,
            announced: maybe(5)?,
            cause: parse_cause(&row[6])?,
        })
    })
}

fn find_pool(manifest: &Manifest, name: &str) -> Result<u16, String> {
    let at = manifest.pools.iter().position(|pool| pool.name == name);
    at.and_then(|at| u16::try_from(at).ok()).ok_or_else(|| format!("no pool is called `{name}`"))
}

fn parse_cause(word: &str) -> Result<Cause, String> {
    let cause = Cause::ALL.iter().copied().find(|cause| cause.name() == word);
    cause.ok_or_else(|| format!("`{word}` is no cause"))
}

fn parse_rows<T>(
    text: &str,
    header: &str,
    mut read: impl FnMut(&[String]) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let mut lines = text.lines().zip(1..);
    let first = lines.next().map(|(line, _)| line);
    if first != Some(header) {
        return Err(format!("line 1: expected `{header}`, found `{}`", first.unwrap_or_default()));
    }
    let column_count = header.split(',').count();
    let mut rows = Vec::new();
    for (line, number) in lines.filter(|(line, _)| !line.is_empty()) {
        let row = split_fields(line);
        if row.len() != column_count {
            return Err(format!("line {number}: {} fields, expected {column_count}", row.len()));
        }
        rows.push(read(&row).map_err(|problem| format!("line {number}: {problem}"))?);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::PoolSummary;

    #[test]
    fn tables_come_back() {
        let pool = PoolSummary { name: "a,\"b\"".into(), ..PoolSummary::default() };
        let manifest = Manifest { pools: vec![pool], ..Manifest::default() };
        let loss = PoolLoss { pool: 0, begin: 5, end: None, units: 3, announced: Some(-9), cause: Cause::Reservation };
        assert_eq!(parse_capacity(&capacity_text(&[loss], &manifest), &manifest), Ok(vec![loss]));
        let out = NodeLoss {
            pool: 0,
            begin: 5,
            end: Some(9),
            node: "n,1".into(),
            cpus: Some(3),
            announced: None,
            cause: Cause::ReservedJob,
        };
        let text = node_losses_text(std::slice::from_ref(&out), &manifest);
        assert_eq!(node_losses(&text, &manifest), Ok(vec![out]));
        let node = NodeSummary {
            name: "n1".into(),
            cpus: 4,
            memory_kb: 9,
            gpus: 1,
            gres: "gpu:a:1,nvme:2".into(),
            pool: Some("a,\"b\"".into()),
            described: true,
        };
        assert_eq!(parse_nodes(&nodes_text(std::slice::from_ref(&node))), Ok(vec![node]));
        assert!(parse_capacity("pool\n", &manifest).is_err());
        assert!(parse_capacity(&format!("{CAPACITY}\nx,1,,2,,down\n"), &manifest).is_err_and(|e| e.contains("line 2")));
    }
}
