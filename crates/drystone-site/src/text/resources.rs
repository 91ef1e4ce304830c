//! Demand and allocation of a job: processors, nodes, memory, GPUs.

use super::number::{parse_digits, parse_kilobytes};

/// Nothing is said.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// Resources of a job, all nodes together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Amount {
    /// Processors as the scheduler counts them; [`UNKNOWN`].
    pub(crate) cpus: u32,
    /// Nodes; [`UNKNOWN`].
    pub(crate) nodes: u32,
    /// GPUs; [`UNKNOWN`] where nothing is said of resources by name.
    pub(crate) gpus: u32,
    /// Memory in kilobytes; [`Amount::NO_MEMORY`], [`Amount::ALL_MEMORY`].
    pub(crate) memory_kb: u64,
}

impl Amount {
    /// Nothing is said of memory.
    pub(crate) const NO_MEMORY: u64 = u64::MAX;
    /// All memory of each of its nodes.
    pub(crate) const ALL_MEMORY: u64 = u64::MAX - 1;
    /// Nothing is said.
    pub(crate) const UNKNOWN: Amount =
        Amount { cpus: UNKNOWN, nodes: UNKNOWN, gpus: UNKNOWN, memory_kb: Amount::NO_MEMORY };

    /// These, and what `other` says where these are silent.
    pub(crate) fn or_else(self, amount: Amount) -> Amount {
        let pick = |a: u32, b: u32| if a == UNKNOWN { b } else { a };
        Amount {
            cpus: pick(self.cpus, amount.cpus),
            nodes: pick(self.nodes, amount.nodes),
            gpus: pick(self.gpus, amount.gpus),
            memory_kb: if self.memory_kb == Amount::NO_MEMORY { amount.memory_kb } else { self.memory_kb },
        }
    }
}

/// `cpu=8,mem=24000M,node=1,billing=8,gres/gpu=2,gres/gpu:a100=2`, or with the database's numbers
/// of the first four. Entries that cannot be read are left out, and so are all others; `None` where
/// nothing can be read of a text that is not empty.
pub(crate) fn parse_tres(text: &[u8]) -> Option<Amount> {
    let mut amount = Amount::UNKNOWN;
    let (mut gpus, mut typed_gpus, mut has_entry) = (None, None::<u64>, text.is_empty());
    for entry in text.split(|&b| b == b',') {
        let Some(at) = memchr::memchr(b'=', entry) else { continue };
        let (name, value) = (&entry[..at], &entry[at + 1..]);
        let count = || parse_count(value);
        match name {
            b"cpu" | b"1" => amount.cpus = count().unwrap_or(amount.cpus),
            b"node" | b"4" => amount.nodes = count().unwrap_or(amount.nodes),
            b"mem" | b"2" => {
                let memory = parse_kilobytes(value, 1024.0).filter(|(_, rest)| rest.is_empty());
                amount.memory_kb = memory.map_or(amount.memory_kb, |(kb, _)| kb);
            }
            b"gres/gpu" => gpus = count().or(gpus),
            _ if name.starts_with(b"gres/gpu:") => {
                typed_gpus = count().map(|n| typed_gpus.unwrap_or(0) + u64::from(n)).or(typed_gpus);
            }
            // The database's numbers of what the site named itself begin here: devices, of which
            // the largest number is the total. Some versions write the name behind the number.
            _ if parse_digits(name).is_some_and(|number| number > 1_000) => {
                let value = value.rsplit(|&b| b == b':').next().unwrap_or(value);
                let number = parse_digits(value).and_then(|n| u32::try_from(n).ok()).filter(|&n| n < DEVICES);
                gpus = gpus.max(number);
            }
            _ => {}
        }
        has_entry = true;
    }
    // The total has the typed ones in it; some sites count the typed ones only.
    let typed_total = typed_gpus.and_then(|n| u32::try_from(n).ok());
    amount.gpus = gpus.or(typed_total).unwrap_or(if text.is_empty() || !has_entry { UNKNOWN } else { 0 });
    has_entry.then_some(amount)
}

/// More of a resource that the database has a number for is no device, but a licence or the like.
const DEVICES: u32 = 1 << 14;

/// A count, perhaps with a unit of thousands: `2K`.
fn parse_count(text: &[u8]) -> Option<u32> {
    if let Some(value) = parse_digits(text) {
        return u32::try_from(value).ok().filter(|&v| v < UNKNOWN - 8);
    }
    let (value, rest) = parse_kilobytes(text, 1.0 / 1024.0).map(|(kb, rest)| (kb.checked_mul(1024), rest))?;
    let value = value.filter(|_| rest.is_empty() && !text.ends_with(b"."))?;
    u32::try_from(value).ok().filter(|&v| v < UNKNOWN - 8)
}

/// Memory demand of a job, as in `ReqMem`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemoryRequest {
    /// Nothing is said.
    Unknown,
    /// All memory of each node.
    All,
    /// Kilobytes for each processor; whether a flag had leaked into the number.
    PerCpu(u64, bool),
    /// Kilobytes for each node.
    PerNode(u64),
    /// Kilobytes in all.
    Total(u64),
}

impl MemoryRequest {
    /// The total for a job that asked for and got so many processors and nodes; what it got counts
    /// where nothing says what it asked for.
    pub(crate) fn total_memory(self, request: &Amount, allocation: &Amount) -> u64 {
        let known_count =
            |request_count: u32, grant_count: u32| if request_count == UNKNOWN { grant_count } else { request_count };
        let (cpus, nodes) = (known_count(request.cpus, allocation.cpus), known_count(request.nodes, allocation.nodes));
        let times = |kb: u64, n: u32| if n == UNKNOWN { Amount::NO_MEMORY } else { kb.saturating_mul(u64::from(n)) };
        match self {
            MemoryRequest::Unknown => Amount::NO_MEMORY,
            MemoryRequest::All => Amount::ALL_MEMORY,
            MemoryRequest::PerCpu(kb, _) => times(kb, cpus),
            MemoryRequest::PerNode(kb) => times(kb, if nodes == UNKNOWN { 1 } else { nodes }),
            MemoryRequest::Total(kb) => kb,
        }
    }
}

/// More memory than this for one node is a number gone wrong: a petabyte.
const ABSURD_KB: u64 = 1 << 40;

/// `4000Mc` for each processor, `4Gn` for each node, `4G` in all, `0` for all of each node, `?`.
/// `None` for what is none of these.
///
/// Old versions of Slurm let the flag "for each processor" leak into the number: 2³¹ and 2⁶³ are
/// taken off again.
pub(crate) fn memory_request(text: &[u8]) -> Option<MemoryRequest> {
    if text.is_empty() || text == b"?" {
        return Some(MemoryRequest::Unknown);
    }
    let end = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let whole = parse_digits(&text[..end]);
    let leaked_megabytes = match (whole, text.get(end)) {
        (Some(value), _) if value >= 1 << 63 => Some(value - (1 << 63)),
        (Some(value), Some(b'M') | None) if value >= 1 << 31 => Some(value - (1 << 31)),
        _ => None,
    };
    if let Some(megabytes) = leaked_megabytes {
        return megabytes.checked_mul(1024).filter(|&kb| kb < ABSURD_KB).map(|kb| MemoryRequest::PerCpu(kb, true));
    }
    let (kb, rest) = parse_kilobytes(text, 1024.0)?;
    match rest {
        b"" | b"n" | b"c" if kb == 0 => Some(MemoryRequest::All),
        b"c" => (kb < ABSURD_KB).then_some(MemoryRequest::PerCpu(kb, false)),
        b"n" => (kb < ABSURD_KB).then_some(MemoryRequest::PerNode(kb)),
        b"" => Some(MemoryRequest::Total(kb)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_named_or_numbered() {
        let resources =
            parse_tres(b"cpu=8,mem=24000M,node=1,billing=8,gres/gpu=2,gres/gpu:a100=2,license/x=1").expect("resources");
        assert_eq!(resources, Amount { cpus: 8, nodes: 1, gpus: 2, memory_kb: 24_576_000 });
        let device_resources = parse_tres(b"billing=1,gres/gpu:a100=3,gres/gpu:v100=1,mem=62.50G").expect("resources");
        assert_eq!(
            (device_resources.gpus, device_resources.memory_kb, device_resources.cpus),
            (4, 65_536_000, UNKNOWN)
        );
        let old = parse_tres(b"1=40,2=160000,4=2").expect("resources");
        assert_eq!((old.cpus, old.memory_kb, old.nodes, old.gpus), (40, 163_840_000, 2, 0));
        assert_eq!(parse_tres(b""), Some(Amount::UNKNOWN));
        assert_eq!(parse_tres(b"nothing"), None);
        assert_eq!(parse_tres(b"cpu=x,node=2").expect("resources").cpus, UNKNOWN);
        assert_eq!(parse_tres(b"cpu=2K").expect("resources").cpus, 2048);
    }

    #[test]
    fn memory_is_for_processors_nodes_or_all() {
        use MemoryRequest::{All, PerCpu, PerNode, Total, Unknown};
        for (text, expected) in [
            ("4000Mc", Some(PerCpu(4_096_000, false))),
            ("4Gn", Some(PerNode(4_194_304))),
            ("4G", Some(Total(4_194_304))),
            ("0n", Some(All)),
            ("0", Some(All)),
            ("?", Some(Unknown)),
            ("", Some(Unknown)),
            ("2147486648Mn", Some(PerCpu(3_072_000, true))),
            ("9223372036854778808Mn", Some(PerCpu(3_072_000, true))),
            ("9223372036854778808", Some(PerCpu(3_072_000, true))),
            ("2097151.00Gc", None),
            ("18446744073709551615Mn", None),
            ("x", None),
            ("4Gx", None),
        ] {
            assert_eq!(memory_request(text.as_bytes()), expected, "{text}");
        }
        let of = |cpus, nodes| Amount { cpus, nodes, ..Amount::UNKNOWN };
        let (request, nothing) = (of(8, 2), Amount::UNKNOWN);
        // What was asked for counts more than what was given.
        for (wish, grant) in [(&request, &of(16, 4)), (&nothing, &request)] {
            assert_eq!(PerCpu(10, false).total_memory(wish, grant), 80);
            assert_eq!(PerNode(10).total_memory(wish, grant), 20);
            assert_eq!(Total(10).total_memory(wish, grant), 10);
        }
        assert_eq!(PerCpu(10, false).total_memory(&nothing, &of(UNKNOWN, 2)), Amount::NO_MEMORY);
    }
}
