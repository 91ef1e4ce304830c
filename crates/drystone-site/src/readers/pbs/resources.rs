//! Demand and allocation of a PBS job, in the many ways in which records give them.

use super::pairs::RecordPairs;
use crate::text::{Amount, UNKNOWN, parse_digits, split_leading};
use std::collections::BTreeSet;

/// Returns the demand and the allocation, each where the record gives it.
pub(super) fn read_sizes(pairs: &RecordPairs<'_>) -> (Option<Amount>, Option<Amount>) {
    let list = |name: &str| pairs.get(&format!("Resource_List.{name}"));
    let count =
        |value: Option<&[u8]>| value.and_then(parse_digits).and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
    let mut demand = Amount::UNKNOWN;
    if let Some(select) = list("select") {
        demand = sum_chunks(select, 1);
    } else if let Some(nodes) = list("nodes").or_else(|| list("neednodes")) {
        demand = sum_chunks(nodes, 1);
    }
    // `nodect=1:ppn=24:gpu=4`, as some sites write it.
    if demand.cpus == UNKNOWN
        && let Some(nodes) = list("nodect").filter(|n| memchr::memchr(b':', n).is_some())
    {
        demand = sum_chunks(nodes, 1);
    }
    let or = |value: u32, fallback: Option<u32>| {
        if value == UNKNOWN || value == 0 { fallback.unwrap_or(value) } else { value }
    };
    let ncpus = count(list("ncpus"));
    // `ncpus` beside `nodes=N:ppn=M` is that of one node, and often just 1.
    demand.cpus = or(demand.cpus, ncpus.or_else(|| count(list("procs"))));
    demand.nodes = or(demand.nodes, list("nodect").and_then(split_leading).and_then(|(n, _)| u32::try_from(n).ok()));
    let gpus = count(list("ngpus")).or_else(|| count(list("gpus"))).or_else(|| count(list("gpu")));
    demand.gpus = or(demand.gpus, gpus);
    if let Some(memory) = list("mem").and_then(parse_kilobytes) {
        demand.memory_kb = memory;
    } else if demand.memory_kb == Amount::NO_MEMORY
        && let Some(each) = list("pmem").and_then(parse_kilobytes)
        && demand.cpus != UNKNOWN
    {
        // Torque: of each process, one for each processor.
        demand.memory_kb = each.saturating_mul(u64::from(demand.cpus));
    }
    let is_stated = |amount: &Amount| amount.cpus != UNKNOWN || amount.nodes != UNKNOWN;
    let allocation = read_allocation(pairs, &demand);
    (Some(demand).filter(is_stated), allocation.filter(is_stated))
}

fn read_allocation(pairs: &RecordPairs<'_>, request: &Amount) -> Option<Amount> {
    let slots = pairs.get("total_execution_slots").and_then(parse_digits).and_then(|n| u32::try_from(n).ok());
    let vnodes = pairs.get("exec_vnode").map(|text| sum_chunks(text, 0));
    let hosts = pairs.get("exec_host").map(count_hosts);
    if slots.is_none() && vnodes.is_none() && hosts.is_none() {
        return None;
    }
    let positive_count = |n: u32| (n != UNKNOWN && n > 0).then_some(n);
    let in_vnodes = vnodes.and_then(|v| positive_count(v.cpus));
    // Places of Cobalt are whole nodes, and say nothing of processors.
    let block = is_block(pairs);
    let places = block || pairs.get("exec_host").is_some_and(|text| parse_node_numbers(text).is_some());
    let in_hosts =
        hosts.as_ref().filter(|_| !places || request.cpus == UNKNOWN).and_then(|(cpus, _)| positive_count(*cpus));
    let cpus = slots.or(in_vnodes).or(in_hosts).unwrap_or(request.cpus);
    let names = pairs.get("exec_host").or_else(|| pairs.get("exec_vnode")).map(exec_nodes).unwrap_or_default();
    let nodes = match names.is_empty() {
        _ if block => request.nodes,
        true => UNKNOWN,
        false => names.split(|&b| b == b',').count() as u32,
    };
    let gpus = vnodes.and_then(|v| positive_count(v.gpus)).unwrap_or(request.gpus);
    let memory = vnodes.map(|v| v.memory_kb).filter(|&kb| kb != Amount::NO_MEMORY);
    Some(Amount { cpus, nodes, gpus, memory_kb: memory.unwrap_or(request.memory_kb) })
}

/// `4:ppn=8:gpus=1+1:ppn=2`, `2:ncpus=36:mpiprocs=36`, `(n1:ncpus=8:mem=1gb:ngpus=1)+(n2:ncpus=8)`:
/// the sum. What is no number before the first colon is the name of a node; `each` is how many
/// processors a chunk has that does not say.
fn sum_chunks(text: &[u8], each: u32) -> Amount {
    let mut sum = Amount { cpus: 0, nodes: 0, gpus: 0, memory_kb: 0 };
    let mut memory = false;
    for chunk in text.split(|&b| b == b'+') {
        let chunk = chunk.trim_ascii();
        let chunk = chunk.strip_prefix(b"(").unwrap_or(chunk);
        let chunk = chunk.strip_suffix(b")").unwrap_or(chunk);
        let mut parts = chunk.split(|&b| b == b':');
        let first = parts.next().unwrap_or_default();
        let count = parse_digits(first).and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
        let (mut cpus, mut gpus) = (each, 0);
        for part in parts {
            let Some(equals) = memchr::memchr(b'=', part) else { continue };
            let value = &part[equals + 1..];
            let number = || parse_digits(value).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
            match &part[..equals] {
                b"ppn" | b"ncpus" => cpus = number(),
                b"gpus" | b"ngpus" | b"gpu" => gpus = number(),
                b"mem" => {
                    memory = true;
                    let kb = parse_kilobytes(value).unwrap_or(0).saturating_mul(u64::from(count));
                    sum.memory_kb = sum.memory_kb.saturating_add(kb);
                }
                _ => {}
            }
        }
        sum.nodes = sum.nodes.saturating_add(count);
        sum.cpus = sum.cpus.saturating_add(cpus.saturating_mul(count));
        sum.gpus = sum.gpus.saturating_add(gpus.saturating_mul(count));
    }
    if !memory {
        sum.memory_kb = Amount::NO_MEMORY;
    }
    sum.cpus = sum.cpus.min(UNKNOWN - 9);
    sum
}

/// The processors and the terms of `n1/0+n1/1`, `n1/0-31`, `n1/0*8`, `n1/0,2,4-7`.
fn count_hosts(text: &[u8]) -> (u32, usize) {
    let mut cpus: u64 = 0;
    let mut terms = 0;
    for term in text.split(|&b| b == b'+') {
        terms += 1;
        let Some(slash) = term.iter().rposition(|&b| b == b'/') else {
            cpus += 1;
            continue;
        };
        let index = &term[slash + 1..];
        if let Some(star) = memchr::memchr(b'*', index) {
            cpus += parse_digits(&index[star + 1..]).unwrap_or(0);
            continue;
        }
        for range in index.split(|&b| b == b',') {
            let mut ends = range.split(|&b| b == b'-').map(parse_digits);
            let (from, to) = (ends.next().flatten(), ends.next().flatten());
            cpus += match (from, to) {
                (Some(from), Some(to)) if to >= from => to - from + 1,
                _ => 1,
            };
        }
    }
    (u32::try_from(cpus).unwrap_or(UNKNOWN), terms)
}

/// Returns whether a job had a block of nodes with a name of its own, as Cobalt calls those of Blue
/// Gene: `MIR-00000-33331-512`.
pub(super) fn is_block(pairs: &RecordPairs<'_>) -> bool {
    let several = pairs.get("Resource_List.nodect").and_then(parse_digits).is_some_and(|nodes| nodes > 1);
    let is_single_name =
        |text: &[u8]| !text.iter().any(|b| b"/+,:(*".contains(b)) && parse_node_numbers(text).is_none();
    several && pairs.get("exec_host").is_some_and(is_single_name)
}

/// Nodes of a machine without names for them, as Cobalt writes their numbers: `0-4,6-128`.
fn parse_node_numbers(text: &[u8]) -> Option<Vec<u64>> {
    /// No machine has more nodes; more are a number gone wrong.
    const MOST: usize = 1 << 20;
    let mut numbers = Vec::new();
    for range in text.split(|&b| b == b',') {
        let (first, last) = range.split_at(memchr::memchr(b'-', range).unwrap_or(range.len()));
        let first = parse_digits(first)?;
        let last = last.strip_prefix(b"-").map_or(Some(first), parse_digits).filter(|&last| last >= first)?;
        if last - first >= MOST as u64 || numbers.len() > MOST {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// The distinct hosts of `exec_host` or `exec_vnode`, parted by commas. A vnode of a host, `n1[0]`,
/// is that host.
pub(super) fn exec_nodes(text: &[u8]) -> Vec<u8> {
    if let Some(numbers) = parse_node_numbers(text) {
        return numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",").into_bytes();
    }
    let mut seen_names = BTreeSet::new();
    let mut names = Vec::new();
    for term in text.split(|&b| b == b'+') {
        let term = term.trim_ascii();
        let term = term.strip_prefix(b"(").unwrap_or(term);
        let end = term.iter().position(|&b| matches!(b, b'/' | b':' | b')')).unwrap_or(term.len());
        let name = &term[..end];
        // Hosts in brackets are those of records made anonymous.
        let bracket = name.iter().skip(1).position(|&b| b == b'[').map(|at| at + 1);
        let name = bracket.map_or(name, |at| &name[..at]);
        if !name.is_empty() && seen_names.insert(name) {
            names.push(name);
        }
    }
    names.join(&b',')
}

/// `10gb`, `1993mb`, `10485760kb`, `664b`, words of 8 bytes (`4kw`), in kilobytes.
pub(super) fn parse_kilobytes(text: &[u8]) -> Option<u64> {
    let (number, unit) = split_leading(text)?;
    let unit = unit.to_ascii_lowercase();
    let (scale, word) = match unit.as_slice() {
        b"" | b"b" => return Some(number.div_ceil(1024)),
        b"w" => return Some(number.saturating_mul(8).div_ceil(1024)),
        b"kb" => (1_u64, 1),
        b"mb" => (1 << 10, 1),
        b"gb" => (1 << 20, 1),
        b"tb" => (1 << 30, 1),
        b"pb" => (1 << 40, 1),
        b"kw" => (1, 8),
        b"mw" => (1 << 10, 8),
        b"gw" => (1 << 20, 8),
        _ => return None,
    };
    number.checked_mul(scale)?.checked_mul(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (u32, u32, u32) {
        let sizes = read_sizes(&RecordPairs::split_pairs(text.as_bytes())).1.expect("held");
        (sizes.cpus, sizes.nodes, sizes.gpus)
    }

    #[test]
    fn processors_are_counted_in_every_form() {
        assert_eq!(of("exec_host=n1/0+n1/1+n2/0 Resource_List.nodect=2"), (3, 2, UNKNOWN));
        assert_eq!(of("exec_host=26742/0-31+26743/0-31 total_execution_slots=64"), (64, 2, UNKNOWN));
        assert_eq!(of("exec_host=c1/0*13+c2/0*13"), (26, 2, UNKNOWN));
        // Places of Cobalt, with a gap; one node alone.
        assert_eq!(
            of("exec_host=\"0-4,6-128\" Resource_List.ncpus=8192 Resource_List.nodect=128"),
            (8_192, 128, UNKNOWN)
        );
        assert_eq!(of("exec_host=17 Resource_List.ncpus=64"), (64, 1, UNKNOWN));
        // A block of Blue Gene, by its name.
        let block = "exec_host=\"MIR-00000-33331-512\" Resource_List.ncpus=8192 Resource_List.nodect=512";
        assert_eq!(of(block), (8_192, 512, UNKNOWN));
        assert_eq!(of("exec_host=n1/0,2,4-7"), (6, 1, UNKNOWN));
        assert_eq!(of("exec_host=c/3 exec_vnode=(c:ncpus=1:ngpus=1:mem=10485760kb)"), (1, 1, 1));
        assert_eq!(of("exec_host=h/0*0 exec_vnode=(h[1]:mem=1kb:ngpus=2:ncpus=24+h[0]:ngpus=2:ncpus=24)"), (48, 1, 4));
    }

    #[test]
    fn requests_are_summed_over_their_chunks() {
        let request_of = |text: &str| read_sizes(&RecordPairs::split_pairs(text.as_bytes())).0.expect("asked");
        let torque = request_of("Resource_List.nodes=4:ppn=8:gpus=1+1:ppn=2 Resource_List.ncpus=1");
        assert_eq!((torque.cpus, torque.nodes, torque.gpus), (34, 5, 4));
        let pbs = request_of("Resource_List.select=2:ncpus=36:mem=4gb Resource_List.ncpus=72");
        assert_eq!((pbs.cpus, pbs.nodes, pbs.memory_kb), (72, 2, 8 << 20));
        let plain = request_of("Resource_List.ncpus=12 Resource_List.nodect=2 Resource_List.mem=1993mb");
        assert_eq!((plain.cpus, plain.nodes, plain.memory_kb), (12, 2, 1_993 << 10));
    }

    #[test]
    fn memory_has_units_of_bytes_and_words() {
        assert_eq!(parse_kilobytes(b"10gb"), Some(10 << 20));
        assert_eq!(parse_kilobytes(b"664b"), Some(1));
        assert_eq!(parse_kilobytes(b"4kw"), Some(32));
        assert_eq!(parse_kilobytes(b"4xb"), None);
    }
}
