//! One machine from several descriptions: nodes from one, partitions from another, settings from a
//! third.

use super::SiteMachine;
use std::collections::BTreeMap;

/// Descriptions put together, in the order given: later ones say what earlier ones leave open.
#[derive(Default)]
pub(crate) struct Combined {
    machine: SiteMachine,
    any: bool,
}

impl Combined {
    pub(crate) fn add_machine(&mut self, source: SiteMachine) {
        self.any = true;
        let machine = &mut self.machine;
        let mut numbers: BTreeMap<String, u32> =
            machine.nodes.iter().zip(0..).map(|(node, number)| (node.name.clone(), number)).collect();
        let mut node_numbers = Vec::with_capacity(source.nodes.len());
        for node in source.nodes {
            let number = match numbers.get(&node.name) {
                Some(&number) => {
                    let present_node = &mut machine.nodes[number as usize];
                    if present_node.cpus == 0 {
                        *present_node = node;
                    }
                    number
                }
                None => {
                    let number = machine.nodes.len() as u32;
                    numbers.insert(node.name.clone(), number);
                    machine.nodes.push(node);
                    number
                }
            };
            node_numbers.push(number);
        }
        for mut partition in source.partitions {
            partition.nodes = partition.nodes.iter().filter_map(|&n| node_numbers.get(n as usize).copied()).collect();
            partition.nodes.sort_unstable();
            match machine.partitions.iter_mut().find(|entry| entry.name == partition.name) {
                // Which says limits says more than which nodes say they are in.
                Some(entry) if entry.max_limit.is_none() && entry.default_limit.is_none() => *entry = partition,
                Some(_) => {}
                None => machine.partitions.push(partition),
            }
        }
        machine.cluster = machine.cluster.take().or(source.cluster);
        machine.linear |= source.linear;
        machine.preempts_by_requeue |= source.preempts_by_requeue;
        machine.preempts_by_suspension |= source.preempts_by_suspension;
        machine.open_nodes |= source.open_nodes;
        machine.grace = machine.grace.max(source.grace);
        machine.evidence.extend(source.evidence);
    }

    /// The machine; `None` where nothing was said of any node.
    pub(crate) fn finish_machine(mut self) -> (SiteMachine, bool) {
        // Partitions name nodes that no description has: nothing is known of them but that they
        // are.
        let is_described = self.any && self.machine.nodes.iter().any(|node| node.cpus > 0);
        self.machine.nodes.iter_mut().for_each(|node| node.threads_per_core = node.threads_per_core.max(1));
        (self.machine, is_described)
    }
}
