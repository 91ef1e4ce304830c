//! Demand of a job for nodes.

use super::NodeFloor;
use crate::model::{
    DevicePer, Job, NodeFill, NodeMemory, NodeShape, Procs, Resource, ResourceTable, ResourceUnit, SharedSort,
};
use serde::{Deserialize, Serialize};

/// Demand of a job for nodes: pieces, each of which is on one node.
///
/// A job that names a number of nodes has a share on each of them: its processors in parts that
/// differ by one at most, or, where its nodes are whole, as large as these permit. One that says
/// something of each node, or of devices, but names no number of nodes has as few nodes as can hold
/// it. Any other job has pieces of one task each, as many on a node as there is room for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobNodeNeed {
    procs: Procs,
    pub(super) pieces: u32,
    /// Most pieces on one node: 1, or no bound.
    per_node: u32,
    /// Cores of the largest piece.
    pub(super) cores: u32,
    /// Amounts of a piece by column, without cores.
    each: Vec<(u16, i64)>,
    /// Kilobytes for each core.
    per_core: i64,
    /// True if it takes all memory of its nodes.
    whole_memory: bool,
    /// True if it has its nodes to itself.
    whole: bool,
    /// True if its nodes are whole and some are too small for an equal part: each has what it can.
    uneven: bool,
    /// Cores that its nodes have in all at least; 0 where any of them have as many.
    pub(super) in_all: i64,
    /// True if its pieces fill whole nodes, and those of a node share what is said of each node.
    by_node: bool,
    /// True if it is on one node whatever its size.
    one_node: bool,
    /// By class, whether it may be there; `None` for all.
    suits: Option<Vec<bool>>,
    /// By node, whether it may be there; `None` for all.
    named: Option<Vec<bool>>,
}

impl JobNodeNeed {
    /// The need of a job on these nodes.
    ///
    /// # Errors
    /// Something that no node has, in words that follow the job's name.
    pub fn from_job(job: &Job, table: &ResourceTable, floor: &NodeFloor) -> Result<JobNodeNeed, String> {
        let default_shape = NodeShape::default();
        let shape = table.node_shape(job.demand).unwrap_or(&default_shape);
        let mut need = JobNodeNeed {
            procs: job.procs,
            pieces: 0,
            per_node: 1,
            cores: 1,
            each: Vec::new(),
            per_core: 0,
            whole_memory: floor.memory && shape.memory == NodeMemory::Whole,
            whole: shape.exclusive || floor.fill == NodeFill::Whole,
            uneven: false,
            in_all: 0,
            by_node: false,
            one_node: shape.nodes.1 == 1,
            suits: suitable_classes(shape, table, job, floor),
            named: permitted_nodes(shape, floor),
        };
        let each_node = matches!(shape.memory, NodeMemory::PerNode(_) | NodeMemory::Whole)
            || shape.exclusive
            || shape.devices.iter().any(|device| device.per == DevicePer::Node);
        let (least, most) = shape.nodes;
        if least > 1 || most == 1 {
            need.on_nodes(shape, least.max(1).min(job.procs), floor)?;
            return Ok(need);
        }
        if !each_node {
            need.divide_pieces(shape, floor)?;
            if need.fits_a_node(floor) {
                return Ok(need);
            }
        }
        if need.whole && shape.devices.iter().all(|device| device.per == DevicePer::Node) {
            need.fill_whole_nodes(shape, floor)?;
            return Ok(need);
        }
        // As few nodes as can hold it.
        let widest = floor.classes.iter().map(|class| class.cores).max().unwrap_or(1).max(1);
        let fewest = job.procs.div_ceil(widest).max(1);
        let most = job.procs.min(floor.len() as u32).max(fewest);
        for nodes in fewest..=most {
            need.on_nodes(shape, nodes, floor)?;
            if need.fits_a_node(floor) {
                return Ok(need);
            }
        }
        need.on_nodes(shape, fewest, floor)?;
        Ok(need)
    }

    fn on_nodes(&mut self, shape: &NodeShape, nodes: u32, floor: &NodeFloor) -> Result<(), String> {
        (self.pieces, self.per_node, self.cores) = (nodes, 1, self.procs.div_ceil(nodes));
        self.each.clear();
        let mut devices = 0;
        for (column, count, per) in device_columns(shape, floor)? {
            let share =
                if per == DevicePer::Node { count } else { in_all(shape, count, per).div_ceil(u64::from(nodes)) };
            devices += share;
            self.each.push((column, share as i64));
        }
        self.set_memory(shape, devices, floor);
        if self.whole && nodes > 1 {
            self.permit_small_nodes(floor);
        }
        Ok(())
    }

    /// Whole nodes, as many as have all processors.
    fn fill_whole_nodes(&mut self, shape: &NodeShape, floor: &NodeFloor) -> Result<(), String> {
        self.on_nodes(shape, 1, floor)?;
        (self.pieces, self.per_node, self.cores, self.by_node) = (self.procs, u32::MAX, 1, true);
        Ok(())
    }

    /// Whole nodes are what a job has of them, whatever their size: those that are too small for an
    /// equal part serve as well where all together have enough.
    fn permit_small_nodes(&mut self, floor: &NodeFloor) {
        let share = std::mem::replace(&mut self.cores, 1);
        self.uneven = true;
        let mut sizes: Vec<i64> = (0..floor.len())
            .filter(|&node| self.room_on_node(floor, floor.empty_row(node), node) > 0)
            .map(|node| floor.empty_row(node)[0])
            .collect();
        sizes.sort_unstable();
        let smallest = sizes.first().copied().unwrap_or(i64::MAX);
        self.uneven = smallest < i64::from(share);
        self.cores = u32::try_from(smallest).unwrap_or(share).min(share);
        let least: i64 = sizes.iter().take(self.pieces as usize).sum();
        self.in_all = if self.uneven && least < i64::from(self.procs) { i64::from(self.procs) } else { 0 };
    }

    /// Equal pieces wherever there is room: one for each task, or for each device with its part of
    /// the processors.
    fn divide_pieces(&mut self, shape: &NodeShape, floor: &NodeFloor) -> Result<(), String> {
        let columns = device_columns(shape, floor)?;
        self.per_node = u32::MAX;
        self.each.clear();
        let task = shape.cores_per_task.max(shape.least_cores).max(1);
        if columns.is_empty() {
            let task = if self.procs.is_multiple_of(task) { task } else { 1 };
            (self.pieces, self.cores) = (self.procs / task, task);
        } else {
            let total_count = |&(_, count, per): &(u16, u64, DevicePer)| in_all(shape, count, per);
            let pieces = columns.iter().map(total_count).fold(u64::from(self.procs), common_divisor);
            (self.pieces, self.cores) = (pieces as u32, self.procs / pieces as u32);
            self.each.extend(columns.iter().map(|column| (column.0, (total_count(column) / pieces) as i64)));
        }
        let devices = self.each.iter().map(|&(_, count)| count as u64).sum();
        self.set_memory(shape, devices, floor);
        Ok(())
    }

    fn set_memory(&mut self, shape: &NodeShape, devices: u64, floor: &NodeFloor) {
        self.per_core = 0;
        if !floor.memory {
            return;
        }
        match shape.memory {
            NodeMemory::PerNode(kb) => self.each.push((1, kb as i64)),
            NodeMemory::PerDevice(kb) => self.each.push((1, kb.saturating_mul(devices) as i64)),
            NodeMemory::PerCore(kb) => self.per_core = kb as i64,
            NodeMemory::Whole | NodeMemory::None => {}
        }
    }

    /// Returns whether a piece fits on some node without jobs.
    fn fits_a_node(&self, floor: &NodeFloor) -> bool {
        let fits_class = |(class, row): (usize, &Vec<i64>)| self.may_be_in(class) && self.room_in(row, row) > 0;
        floor.empty.iter().enumerate().any(fits_class)
    }

    /// Returns whether jobs of the same demand with more processors never fit before it.
    #[inline]
    pub fn is_monotone(&self) -> bool {
        self.one_node || (self.per_node > 1 && self.cores == 1)
    }

    /// Processors in all.
    #[inline]
    #[must_use]
    pub fn procs(&self) -> Procs {
        self.procs
    }

    /// Returns whether a node has one piece at most.
    #[inline]
    pub(super) fn is_apart(&self) -> bool {
        self.per_node == 1
    }

    /// Returns whether some of its nodes together may be too small, so that sizes decide.
    #[inline]
    #[must_use]
    pub fn depends_on_sizes(&self) -> bool {
        self.in_all > 0
    }

    /// Returns whether some of the nodes with so many cores are enough, as many as it has.
    pub(super) fn is_met_by(&self, mut sizes: Vec<i64>) -> bool {
        let count = self.pieces as usize;
        if sizes.len() > count {
            sizes.select_nth_unstable_by(count - 1, |a, b| b.cmp(a));
        }
        sizes.len() >= count && sizes.iter().take(count).sum::<i64>() >= self.in_all
    }

    /// Returns whether its pieces fill whole nodes, one after the other, whatever the choice of
    /// nodes is.
    #[inline]
    pub(super) fn fills_nodes(&self) -> bool {
        self.by_node
    }

    /// Cores on each of its nodes, where these have so many.
    pub(super) fn cores_by_size(&self, taken: &mut [(u32, u32)], floor: &NodeFloor) {
        if !self.uneven {
            return;
        }
        let size = |node: u32| floor.empty_row(node as usize)[0] as u32;
        let mut order: Vec<usize> = (0..taken.len()).collect();
        order.sort_shared_by_key(|&at| size(taken[at].0));
        let (mut procs_left, mut nodes_left) = (self.procs, taken.len() as u32);
        for at in order {
            taken[at].1 = procs_left.div_ceil(nodes_left).min(size(taken[at].0));
            (procs_left, nodes_left) = (procs_left - taken[at].1, nodes_left - 1);
        }
    }

    /// Number of pieces.
    #[inline]
    #[must_use]
    pub fn pieces(&self) -> u32 {
        self.pieces
    }

    /// Cores of so many pieces from one on: the first ones have one more where they are not equal.
    #[inline]
    pub(super) fn cores_from(&self, piece: u32, count: u32) -> u32 {
        let (piece_cores, more) = (self.procs / self.pieces, self.procs % self.pieces);
        piece_cores * count + more.saturating_sub(piece).min(count)
    }

    /// Pieces on a node where the job has so many cores.
    #[inline]
    fn pieces_in(&self, cores: u32) -> u32 {
        if self.per_node == 1 { 1 } else { cores / self.cores }
    }

    #[inline]
    fn may_be_in(&self, class: usize) -> bool {
        self.suits.as_ref().is_none_or(|suits| suits[class])
    }

    /// Returns the number of pieces that a node has room for where this much of it is free, by
    /// column.
    #[inline]
    #[must_use]
    pub fn room_on_node(&self, floor: &NodeFloor, row: &[i64], node: usize) -> u32 {
        if row[0] < i64::from(self.cores) {
            return 0;
        }
        if !self.may_be_on(node, floor) {
            return 0;
        }
        self.room_in(row, floor.empty_row(node))
    }

    /// Returns whether a node has the job's features, and is of its partition.
    #[inline]
    pub fn may_be_on(&self, node: usize, floor: &NodeFloor) -> bool {
        self.may_be_in(usize::from(floor.class_of[node])) && self.named.as_ref().is_none_or(|nodes| nodes[node])
    }

    /// Cores of a piece and kilobytes for them; `None` where a piece asks for anything else.
    #[inline]
    pub(super) fn least_of_piece(&self) -> Option<(i64, i64)> {
        let plain = self.each.is_empty() && !self.whole && !self.whole_memory;
        let cores = i64::from(self.cores);
        plain.then_some((cores, self.per_core * cores))
    }

    /// Returns whether free cores alone say how many pieces a node has room for.
    #[inline]
    pub(super) fn is_by_cores(&self) -> bool {
        self.least_of_piece().is_some_and(|least| least.1 == 0)
    }

    /// Returns the number of pieces for which so many cores do.
    #[inline]
    pub(super) fn pieces_in_cores(&self, cores: i64) -> u32 {
        let pieces = if self.cores == 1 { cores } else { cores / i64::from(self.cores) };
        pieces.clamp(0, i64::from(u32::MAX)) as u32
    }

    /// Returns whether [`JobNodeNeed::room_in`] is above 0.
    #[inline]
    pub(super) fn has_room_in(&self, row: &[i64], empty: &[i64]) -> bool {
        let cores = i64::from(self.cores);
        row[0] >= cores
            && (self.per_core == 0 || row[1] >= self.per_core * self.share_of(row[0]))
            && self.each.iter().all(|&(column, amount)| row[usize::from(column)] >= amount)
            && (!self.whole || row == empty)
            && (!self.whole_memory || row[1] == empty[1])
    }

    /// Returns the number of pieces that a node with these amounts has room for, if it may be
    /// there; `empty` is the node without jobs.
    #[inline]
    pub(super) fn room_in(&self, row: &[i64], empty: &[i64]) -> u32 {
        if self.whole && row != empty {
            return 0;
        }
        let cores = i64::from(self.cores);
        if self.per_node == 1 {
            let fits = row[0] >= cores
                && (self.per_core == 0 || row[1] >= self.per_core * self.share_of(row[0]))
                && (!self.whole_memory || row[1] == empty[1])
                && self.each.iter().all(|&(column, amount)| row[usize::from(column)] >= amount);
            return u32::from(fits);
        }
        let mut room = if cores == 1 { row[0] } else { row[0] / cores };
        if self.per_core > 0 {
            room = room.min(row[1] / (self.per_core * cores));
        }
        if self.by_node && !self.has_room_in(row, empty) {
            return 0;
        }
        for &(column, amount) in &self.each {
            if amount > 0 && !self.by_node {
                room = room.min(row[usize::from(column)] / amount);
            }
        }
        room.clamp(0, i64::from(u32::MAX)) as u32
    }

    /// Cores that the job has at most on a node with so many, of what is counted for each core.
    #[inline]
    fn share_of(&self, size: i64) -> i64 {
        if self.uneven { size.min(i64::from(self.procs.div_ceil(self.pieces))) } else { i64::from(self.cores) }
    }

    /// Passes on what the job takes of a node where it has so many cores, by column.
    #[inline]
    pub(super) fn each_amount(&self, empty: &[i64], cores: u32, mut take: impl FnMut(usize, i64)) {
        if self.whole {
            return empty.iter().enumerate().for_each(|(column, &amount)| take(column, amount));
        }
        take(0, i64::from(cores));
        if self.per_core > 0 {
            take(1, self.per_core * i64::from(cores));
        }
        if self.whole_memory {
            take(1, empty[1]);
        }
        let pieces = i64::from(self.pieces_in(cores));
        self.each.iter().for_each(|&(column, amount)| take(usize::from(column), amount * pieces));
    }

    /// Returns the cores that no other job has where the job has so many on a node.
    #[inline]
    pub(super) fn cores_taken(&self, empty: &[i64], cores: u32) -> i64 {
        if self.whole { empty[0] } else { i64::from(cores) }
    }

    /// Says why the job does not fit on the machine without jobs.
    pub(super) fn explain_misfit(&self, floor: &NodeFloor) -> String {
        let suitable_nodes: Vec<usize> = (0..floor.len()).filter(|&node| self.may_be_on(node, floor)).collect();
        if suitable_nodes.is_empty() {
            return "asks for nodes that the machine does not have: no node has its features, or is in its partition"
                .into();
        }
        let piece_count: u64 =
            suitable_nodes.iter().map(|&node| u64::from(self.room_on_node(floor, floor.empty_row(node), node))).sum();
        if piece_count > 0 {
            if self.in_all > 0 && piece_count >= u64::from(self.pieces) {
                let mut sizes: Vec<i64> = suitable_nodes.iter().map(|&node| floor.empty_row(node)[0]).collect();
                sizes.sort_shared_by_key(|&size| std::cmp::Reverse(size));
                let most: i64 = sizes.iter().take(self.pieces as usize).sum();
                return format!(
                    "asks for {} whole nodes with {} cores in all; the largest of the machine have {most}",
                    self.pieces, self.procs
                );
            }
            let (room, places) = if self.per_node == 1 { ("nodes", "such nodes") } else { ("pieces", "of them") };
            return format!(
                "asks for {} {room} of {}; the machine without jobs has room for {piece_count} {places}",
                self.pieces,
                self.describe_piece(floor)
            );
        }
        let best = suitable_nodes
            .iter()
            .max_by_key(|&&node| (floor.empty_row(node)[0], floor.empty_row(node).get(1).copied()));
        let node = best.map_or(0, |&node| node);
        let has = format_amounts(floor, |column| floor.empty_row(node)[column]);
        format!("asks for {} on one node; {}, the largest, has {has}", self.describe_piece(floor), floor.names[node])
    }

    fn describe_piece(&self, floor: &NodeFloor) -> String {
        let mut row = vec![0; floor.width()];
        let own = JobNodeNeed { whole: false, whole_memory: false, ..self.clone() };
        own.each_amount(&row.clone(), self.cores, |column, amount| row[column] += amount);
        format_amounts(floor, |column| row[column])
    }
}

/// Amounts by column, in words; those of 0 are left out.
fn format_amounts(floor: &NodeFloor, of: impl Fn(usize) -> i64) -> String {
    let show = |amount: i64, unit: ResourceUnit| unit.format_amount(amount.max(0) as u64);
    let cores = of(0);
    let mut words = vec![format!("{cores} {}", if cores == 1 { "core" } else { "cores" })];
    if floor.memory && of(1) > 0 {
        words.push(show(of(1), ResourceUnit::Kilobytes));
    }
    for (at, (name, kind)) in floor.devices.iter().enumerate() {
        let count = of(1 + usize::from(floor.memory) + at);
        // Where all devices of a name have a type, the total says nothing more.
        let has_types = kind.is_empty() && floor.devices.iter().any(|device| device.0 == *name && !device.1.is_empty());
        if count > 0 && !has_types {
            let colon = if kind.is_empty() { "" } else { ":" };
            words.push(format!("{} {name}{colon}{kind}", show(count, ResourceUnit::Count)));
        }
    }
    words.join(", ")
}

/// Devices of a shape as columns: a typed one counts for its type and for all of its name.
fn device_columns(shape: &NodeShape, floor: &NodeFloor) -> Result<Vec<(u16, u64, DevicePer)>, String> {
    let mut columns: Vec<(u16, u64, DevicePer)> = Vec::new();
    for device in shape.devices.iter().filter(|device| device.count > 0) {
        let kinds: &[&str] = if device.kind.is_empty() { &[""] } else { &["", &device.kind] };
        for kind in kinds {
            let is = |(name, own): &(String, String)| *name == device.name && own == kind;
            let Some(at) = floor.devices.iter().position(is) else {
                let colon = if kind.is_empty() { "" } else { ":" };
                return Err(format!("asks for `{}{colon}{kind}`, which no node has", device.name));
            };
            let column = (1 + usize::from(floor.memory) + at) as u16;
            match columns.iter_mut().find(|entry| entry.0 == column && entry.2 == device.per) {
                Some(entry) => entry.1 += u64::from(device.count),
                None => columns.push((column, u64::from(device.count), device.per)),
            }
        }
    }
    Ok(columns)
}

/// Devices of the whole job.
fn in_all(shape: &NodeShape, count: u64, per: DevicePer) -> u64 {
    if per == DevicePer::Task { count * u64::from(shape.tasks.max(1)) } else { count }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { common_divisor(b, a % b) }
}

/// Classes in which a job may be: those with its features and of its partition. A resource that has
/// the name of a feature, such as `partition:gpu`, asks for nodes with it.
fn suitable_classes(shape: &NodeShape, table: &ResourceTable, job: &Job, floor: &NodeFloor) -> Option<Vec<bool>> {
    let pools: Vec<&Resource> = (table.demand_totals(job.demand).iter())
        .filter_map(|&(id, _)| table.find_resource(id))
        .filter(|resource| floor.classes.iter().any(|class| class.features.contains(&resource.name)))
        .collect();
    if pools.is_empty() && shape.features.is_empty() {
        return None;
    }
    let of = |features: &[String]| {
        pools.iter().all(|resource| features.contains(&resource.name)) && has_features(features, &shape.features)
    };
    Some(floor.classes.iter().map(|class| of(&class.features)).collect())
}

/// Returns whether features satisfy an expression of Slurm, from left to right; a count (`a*2`)
/// leaves all nodes.
fn has_features(features: &[String], text: &str) -> bool {
    let (mut is_satisfied, mut rest, mut and) = (true, text.trim(), true);
    while !rest.is_empty() {
        let end = rest.find(['&', '|', ',']).unwrap_or(rest.len());
        let name = rest[..end].trim_matches(['(', ')', '[', ']', ' ']);
        let own = name.contains('*') || name.is_empty() || features.iter().any(|feature| feature == name);
        is_satisfied = if and { is_satisfied && own } else { is_satisfied || own };
        and = rest.as_bytes().get(end) != Some(&b'|');
        rest = rest.get(end + 1..).unwrap_or("");
    }
    is_satisfied
}

fn permitted_nodes(shape: &NodeShape, floor: &NodeFloor) -> Option<Vec<bool>> {
    if shape.only.is_empty() && shape.excluded.is_empty() {
        return None;
    }
    let may = |name: &String| (shape.only.is_empty() || shape.only.contains(name)) && !shape.excluded.contains(name);
    Some(floor.names.iter().map(may).collect())
}
