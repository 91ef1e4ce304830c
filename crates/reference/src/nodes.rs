//! Nodes with processors, memory and devices, and whether jobs that are somewhere fit there: by
//! definition, looking at every node at every instant at which something begins.

#[derive(Clone, Debug, Default)]
pub struct NaiveNode {
    pub cpus: u32,
    /// Megabytes; `None` where memory is not given out.
    pub memory: Option<u64>,
    pub devices: Vec<(String, u32)>,
}

#[derive(Clone, Debug, Default)]
pub struct NaiveShare {
    /// The node, by its place.
    pub node: usize,
    pub cpus: u32,
    /// Megabytes.
    pub memory: u64,
    /// Devices of a type; without one of any type.
    pub devices: Option<(Option<String>, u32)>,
}

/// The time of a job on its nodes, without its end.
#[derive(Clone, Debug, Default)]
pub struct Stay {
    pub job: u64,
    /// Beginning, in seconds.
    pub from: i64,
    /// End, in seconds.
    pub until: i64,
    /// True if no other job is on its nodes.
    pub alone: bool,
    /// Its nodes.
    pub shares: Vec<NaiveShare>,
}

/// Returns the first node that is given out beyond what it has, in words; `None` if there is none.
pub fn find_overfull(nodes: &[NaiveNode], stays: &[Stay]) -> Option<String> {
    for begin in stays.iter().filter(|stay| stay.from < stay.until).map(|stay| stay.from) {
        let current_stays: Vec<&Stay> = stays.iter().filter(|stay| stay.from <= begin && begin < stay.until).collect();
        for (place, node) in nodes.iter().enumerate() {
            let node_shares: Vec<(&Stay, &NaiveShare)> = (current_stays.iter())
                .flat_map(|stay| stay.shares.iter().map(move |share| (*stay, share)))
                .filter(|(_, share)| share.node == place)
                .collect();
            if let Some(problem) = too_much(node, &node_shares) {
                let jobs: Vec<u64> = node_shares.iter().map(|(stay, _)| stay.job).collect();
                return Some(format!("at {begin} node {place} of {node:?} has jobs {jobs:?}: {problem}"));
            }
        }
    }
    None
}

fn too_much(node: &NaiveNode, stays: &[(&Stay, &NaiveShare)]) -> Option<String> {
    if stays.len() > 1 && stays.iter().any(|(stay, _)| stay.alone) {
        return Some("one of them is to be alone".to_string());
    }
    let cpus: u32 = stays.iter().map(|(_, share)| share.cpus).sum();
    if cpus > node.cpus {
        return Some(format!("{cpus} processors"));
    }
    let memory: u64 = stays.iter().map(|(_, share)| share.memory).sum();
    if node.memory.is_some_and(|has| memory > has) {
        return Some(format!("{memory} MB"));
    }
    let devices: u32 = stays.iter().filter_map(|(_, share)| share.devices.as_ref()).map(|(_, count)| count).sum();
    if devices > node.devices.iter().map(|(_, count)| count).sum() {
        return Some(format!("{devices} devices"));
    }
    node.devices.iter().find_map(|(kind, has)| {
        let of_kind = stays.iter().filter_map(|(_, share)| share.devices.as_ref());
        let count: u32 = of_kind.filter(|(own, _)| own.as_ref() == Some(kind)).map(|(_, count)| count).sum();
        (count > *has).then(|| format!("{count} devices of type {kind}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resource_is_counted() {
        let node = NaiveNode { cpus: 4, memory: Some(100), devices: vec![("a".into(), 1), ("b".into(), 1)] };
        let share = |cpus, memory, devices| NaiveShare { node: 0, cpus, memory, devices };
        let stay = |job, from, until, share| Stay { job, from, until, alone: false, shares: vec![share] };
        let any = |count| Some((None, count));
        let of_type = |kind: &str, count| Some((Some(kind.to_string()), count));
        let overfull_of = |stays: &[Stay]| find_overfull(std::slice::from_ref(&node), stays);
        assert_eq!(overfull_of(&[stay(1, 0, 10, share(3, 50, any(2))), stay(2, 10, 20, share(4, 100, None))]), None);
        for (second_share, word) in [
            (share(2, 10, None), "5 processors"),
            (share(1, 51, None), "101 MB"),
            (share(1, 10, any(2)), "3 devices"),
            (share(1, 10, of_type("a", 1)), "2 devices of type a"),
        ] {
            let message = overfull_of(&[stay(1, 0, 10, share(3, 50, of_type("a", 1))), stay(2, 9, 20, second_share)]);
            assert!(message.as_ref().is_some_and(|text| text.ends_with(word)), "{word}: {message:?}");
        }
        let alone = Stay { alone: true, ..stay(3, 5, 6, share(1, 1, None)) };
        assert!(overfull_of(&[stay(1, 0, 10, share(1, 1, None)), alone]).is_some_and(|text| text.contains("alone")));
    }
}
