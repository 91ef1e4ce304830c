//! The nodes of a machine as they are when no job runs.

use crate::model::{NodeClass, NodeFill, Procs, ResourceTable};
use serde::{Deserialize, Serialize};

/// The nodes of a machine: their processors, and how much of what each has.
///
/// Processors are numbered node after node, in the order of the classes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NodeFloor {
    pub(super) fill: NodeFill,
    /// The first processor of each node, and one behind the last.
    pub(super) first: Vec<Procs>,
    /// The class of each node.
    pub(super) class_of: Vec<u16>,
    /// The classes, without the names of their nodes.
    pub(super) classes: Vec<NodeClass>,
    /// Names of the nodes.
    pub(super) names: Vec<String>,
    /// True if memory is given out; it is the first column behind cores.
    pub(super) memory: bool,
    /// Devices by name and type, one column each; an empty type is for all of the name.
    pub(super) devices: Vec<(String, String)>,
    /// The node when no job runs, by class: amounts by column.
    pub(super) empty: Vec<Vec<i64>>,
}

impl NodeFloor {
    /// The nodes of a table; `None` where jobs are not placed on them.
    #[must_use]
    pub fn from_table(table: &ResourceTable) -> Option<NodeFloor> {
        let fill = table.node_fill()?;
        let mut classes: Vec<NodeClass> = table.node_classes().to_vec();
        let memory = classes.iter().any(|class| class.memory_kb > 0);
        let mut devices: Vec<(String, String)> = Vec::new();
        for (name, kind, _) in classes.iter().flat_map(|class| &class.devices) {
            for column in [(name.clone(), String::new()), (name.clone(), kind.clone())] {
                if !devices.contains(&column) {
                    devices.push(column);
                }
            }
        }
        devices.sort_unstable();
        let row = |class: &NodeClass| {
            let mut row = vec![i64::from(class.cores)];
            if memory {
                row.push(class.memory_kb as i64);
            }
            for (name, kind) in &devices {
                let own = |device: &&(String, String, u32)| device.0 == *name && (kind.is_empty() || device.1 == *kind);
                row.push(class.devices.iter().filter(own).map(|device| i64::from(device.2)).sum());
            }
            row
        };
        let empty = classes.iter().map(row).collect();
        let (mut first, mut class_of, mut names) = (vec![0], Vec::new(), Vec::new());
        for (class, at) in classes.iter_mut().zip(0..) {
            for name in std::mem::take(&mut class.nodes) {
                first.push(first[first.len() - 1] + class.cores);
                class_of.push(at);
                names.push(name);
            }
        }
        Some(NodeFloor { fill, first, class_of, classes, names, memory, devices, empty })
    }

    /// Number of nodes.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.class_of.len()
    }

    /// Returns whether there is no node.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.class_of.is_empty()
    }

    /// Processors in all.
    #[inline]
    #[must_use]
    pub fn procs(&self) -> Procs {
        self.first[self.len()]
    }

    /// The processors of a node.
    #[inline]
    #[must_use]
    pub fn node_processors(&self, node: usize) -> std::ops::Range<Procs> {
        self.first[node]..self.first[node + 1]
    }

    /// The node of a processor.
    #[inline]
    #[must_use]
    pub fn node_of(&self, processor: Procs) -> usize {
        self.first.partition_point(|&first| first <= processor) - 1
    }

    /// Amounts of a node when no job runs: cores, memory where it is given out, devices.
    #[inline]
    #[must_use]
    pub fn empty_row(&self, node: usize) -> &[i64] {
        &self.empty[usize::from(self.class_of[node])]
    }

    #[inline]
    pub(super) fn node_weight(&self, node: usize) -> u64 {
        self.classes[usize::from(self.class_of[node])].weight
    }

    /// Amounts counted for each node.
    #[inline]
    #[must_use]
    pub fn width(&self) -> usize {
        1 + usize::from(self.memory) + self.devices.len()
    }
}
