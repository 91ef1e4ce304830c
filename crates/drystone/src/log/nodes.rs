//! Nodes for the jobs of a log: a table of classes, and jobs placed on them.

use super::resources::{ResourcesError, parse_kilobytes};
use crate::model::{
    Demand, DemandId, DeviceDemand, DevicePer, NodeClass, NodeFill, NodeMemory, NodeShape, Resource, ResourceTable,
    ResourceTableBuilder, ResourceUnit, Setting, Workload,
};
use std::collections::BTreeMap;

/// A table of nodes, one line for each class of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NodeTable {
    /// Name of the file.
    pub file: String,
    /// The classes in the order of their lines.
    pub classes: Vec<NodeClass>,
}

/// The shape of such a table.
const HEAD: &str =
    "expected a head such as `nodes,cores,mem,gpu`, then a line for each class of nodes, such as `96,64,256GB,4`";

/// Reads a table of nodes. The first line names the columns: `nodes`, how many nodes of the class
/// there are, `cores` of each, and if wanted `mem` of each with a unit, `weight` (nodes of a lower
/// one are given out first), `features` (separated by spaces), and any other name for devices of
/// each, such as `gpu` or `gpu:a100`. An empty cell is 0.
///
/// ```text
/// nodes,cores,mem,gpu:a100,features
/// 96,64,256GB,,
/// 4,64,1TB,4,fast
/// ```
///
/// # Errors
/// Another head, a column that is named twice, another number of columns, amounts that are none.
pub fn read_nodes(file: &str, text: &str) -> Result<NodeTable, ResourcesError> {
    let wrong = |line: usize, problem: String| ResourcesError::Table { file: file.to_string(), line, problem };
    // Spreadsheets put a mark before the first line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let Some((at, head)) = lines.next() else { return Err(wrong(1, format!("the table is empty; {HEAD}"))) };
    let columns: Vec<&str> = head.split(',').map(str::trim).collect();
    for name in ["nodes", "cores"] {
        if !columns.contains(&name) {
            return Err(wrong(at, format!("there is no column `{name}`; {HEAD}")));
        }
    }
    for (place, column) in columns.iter().enumerate() {
        if column.is_empty() || columns[..place].contains(column) {
            let fault = if column.is_empty() { "without a name" } else { "named twice" };
            return Err(wrong(at, format!("column {} (`{column}`) is {fault}; {HEAD}", place + 1)));
        }
    }
    let mut table = NodeTable { file: file.to_string(), classes: Vec::new() };
    for (at, line) in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != columns.len() {
            return Err(wrong(at, format!("{} cells for {} columns ({head})", cells.len(), columns.len())));
        }
        let number = table.classes.len() + 1;
        let mut class = NodeClass::default();
        for (column, cell) in columns.iter().zip(&cells) {
            set_cell(&mut class, number, column, cell).map_err(|problem| wrong(at, format!("{column}: {problem}")))?;
        }
        if class.nodes.is_empty() || class.cores == 0 {
            return Err(wrong(at, "a class has at least one node, and a node at least one core".into()));
        }
        table.classes.push(class);
    }
    if table.classes.is_empty() {
        return Err(wrong(at, format!("the table has no nodes; {HEAD}")));
    }
    Ok(table)
}

/// Most nodes of one class: more are no machine, but a slip of the pen.
const MOST_NODES: u32 = 1_000_000;

fn set_cell(class: &mut NodeClass, number: usize, column: &str, cell: &str) -> Result<(), String> {
    let count = || match cell {
        "" => Ok(0),
        _ => cell.parse::<u32>().map_err(|_| format!("`{cell}` is no whole number")),
    };
    match column {
        "nodes" => {
            let count = count()?;
            if count > MOST_NODES {
                return Err(format!("{count} nodes are more than the {MOST_NODES} that a class may have"));
            }
            class.nodes = (1..=count).map(|node| format!("{number}-{node}")).collect();
        }
        "cores" => class.cores = count()?,
        "mem" if cell.is_empty() || cell == "0" => {}
        "mem" => class.memory_kb = parse_kilobytes(cell)?,
        "weight" => class.weight = u64::from(count()?),
        "features" => class.features = cell.split_whitespace().map(str::to_string).collect(),
        device => {
            let count = count()?;
            let (name, kind) = device.split_once(':').unwrap_or((device, ""));
            if count > 0 {
                class.devices.push((name.to_string(), kind.to_string(), count));
            }
        }
    }
    Ok(())
}

/// Nodes that cannot be given to the jobs of a log.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodesError {
    /// A resource of which jobs and nodes say different totals.
    #[error(
        "the jobs' resources have {said} of `{name}` in all, and the nodes have {has}; leave it to the nodes, or correct one of them"
    )]
    OtherTotal {
        /// Name of the resource.
        name: String,
        /// Total of the jobs' resources.
        said: String,
        /// Total of the nodes.
        has: String,
    },
    /// Jobs that do not fit on the nodes.
    #[error(transparent)]
    Resources(#[from] ResourcesError),
}

/// Amounts of a machine of nodes by resource name: `mem`, devices by name, and by name and type.
#[must_use]
pub fn resource_totals(classes: &[NodeClass]) -> Vec<Resource> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut memory = 0_u64;
    for class in classes {
        let nodes = class.nodes.len() as u64;
        memory = memory.saturating_add(nodes.saturating_mul(class.memory_kb));
        for (name, kind, count) in &class.devices {
            let device_count = nodes * u64::from(*count);
            *counts.entry(name.clone()).or_default() += device_count;
            if !kind.is_empty() {
                *counts.entry(format!("{name}:{kind}")).or_default() += device_count;
            }
        }
    }
    let memory = (memory > 0).then(|| Resource::new("mem", ResourceUnit::Kilobytes, memory));
    let devices = counts.into_iter().map(|(name, count)| Resource::new(name, ResourceUnit::Count, count));
    memory.into_iter().chain(devices).collect()
}

/// Places the jobs of a workload on nodes, and says so in the provenance.
///
/// Jobs keep the resources that they have. Memory of a job that says nothing of its nodes is as
/// much for each of its cores, and its devices are wherever there is room, each with its part of
/// the cores. Where jobs have no resource `mem`, memory per processor is what the log says.
///
/// # Errors
/// Nodes with other processors than the machine, totals that differ, jobs that fit on no nodes.
///
/// Cost: O(n log n), and a look at every node for each demand that differs.
pub fn place_on(workload: Workload, classes: &[NodeClass], fill: NodeFill, from: &str) -> Result<Workload, NodesError> {
    let circumstances = workload.circumstances().cloned();
    let known_resources = workload.resources().cloned();
    let (machine, mut jobs, truth, mut provenance) = workload.into_parts();
    let mut builder = known_resources.as_deref().map_or_else(ResourceTableBuilder::new, ResourceTableBuilder::from);
    let wrong = |error: crate::model::ResourceError| NodesError::Resources(error.into());
    let mut own_memory = None;
    let has_memory = jobs.iter().any(|job| job.memory_kb > 0);
    for resource in resource_totals(classes) {
        let known_resource =
            builder.table().find_id(&resource.name).and_then(|id| builder.table().find_resource(id)).cloned();
        match known_resource {
            Some(log_resource) if log_resource.total != resource.total => {
                let (known_total, has) =
                    (log_resource.unit.format_amount(log_resource.total), resource.unit.format_amount(resource.total));
                return Err(NodesError::OtherTotal { name: resource.name, said: known_total, has });
            }
            Some(_) => {}
            None if resource.name == "mem" && has_memory => {
                own_memory = Some(builder.add_resource(resource).map_err(wrong)?)
            }
            None => _ = builder.add_resource(resource).map_err(wrong)?,
        }
    }
    classes.iter().for_each(|class| builder.add_class(class.clone()));
    builder.set_fill(fill);
    for job in &mut jobs {
        let mut demand = builder.table().find_demand(job.demand).cloned().unwrap_or_default();
        let memory_kb = u64::try_from(job.memory_kb).unwrap_or(0);
        if let Some(memory) = own_memory.filter(|_| memory_kb > 0) {
            demand.totals.push((memory, memory_kb.saturating_mul(u64::from(job.procs))));
        }
        if demand.shape.is_none() {
            demand.shape = node_shape(&demand, job.procs, builder.table());
        }
        job.demand = builder.intern_demand(demand).map_err(wrong)?;
    }
    provenance.settings.retain(|setting| setting.name != "nodes");
    let value = format!("{from} ({})", fill.name());
    provenance.settings.push(Setting { name: "nodes".to_string(), value });
    let beyond = |error: crate::model::WorkloadError| NodesError::Resources(error.into());
    let new_workload =
        Workload::with_resources(machine, Some(builder.finish()), jobs, truth, provenance).map_err(beyond)?;
    match circumstances {
        None => Ok(new_workload),
        Some(circumstances) => new_workload.with_circumstances(circumstances).map_err(beyond),
    }
}

/// Returns the shape of a job whose amounts are known in all.
fn node_shape(demand: &Demand, procs: u32, table: &ResourceTable) -> Option<NodeShape> {
    let mut shape = NodeShape::default();
    let typed_names: Vec<&str> = (demand.totals.iter())
        .filter_map(|&(id, _)| table.find_resource(id)?.name.split_once(':'))
        .map(|(name, _)| name)
        .collect();
    for &(id, amount) in &demand.totals {
        let Some(resource) = table.find_resource(id) else { continue };
        if resource.name == "mem" {
            shape.memory = NodeMemory::PerCore(amount.div_ceil(u64::from(procs.max(1))));
            continue;
        }
        let (name, kind) = resource.name.split_once(':').unwrap_or((&resource.name, ""));
        let device = table
            .node_classes()
            .iter()
            .flat_map(|class| &class.devices)
            .any(|own| own.0 == name && (kind.is_empty() || own.1 == kind));
        // What is counted by type is not counted once more.
        if device && !(kind.is_empty() && typed_names.contains(&name)) {
            let count = u32::try_from(amount).unwrap_or(u32::MAX);
            let (name, kind) = (name.to_string(), kind.to_string());
            shape.devices.push(DeviceDemand { name, kind, count, per: DevicePer::Job, cores_each: 0 });
        }
    }
    (shape != NodeShape::default()).then_some(shape)
}

/// Takes the nodes away again: amounts in all are counted.
///
/// # Errors
/// None where the workload is one.
pub fn take_off(workload: Workload) -> Result<Workload, NodesError> {
    let Some(table) = workload.resources().filter(|table| table.node_fill().is_some()).cloned() else {
        return Ok(workload);
    };
    let circumstances = workload.circumstances().cloned();
    let (machine, mut jobs, truth, provenance) = workload.into_parts();
    let mut builder = ResourceTableBuilder::new();
    let wrong = |error: crate::model::ResourceError| NodesError::Resources(error.into());
    for resource in table.resources() {
        builder.add_resource(resource.clone()).map_err(wrong)?;
    }
    for job in &mut jobs {
        let demand = table.find_demand(job.demand).cloned().unwrap_or_default();
        job.demand = builder.intern_demand(demand).map_err(wrong)?;
    }
    let has_no_demands = jobs.iter().all(|job| job.demand == DemandId::NONE);
    let resources = (!has_no_demands).then(|| builder.finish());
    let beyond = |error: crate::model::WorkloadError| NodesError::Resources(error.into());
    let new_workload = Workload::with_resources(machine, resources, jobs, truth, provenance).map_err(beyond)?;
    match circumstances {
        None => Ok(new_workload),
        Some(circumstances) => new_workload.with_circumstances(circumstances).map_err(beyond),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, LogStatus, Machine, Provenance, Span, Time, Truth};

    fn workload(jobs: &[(u32, i64)]) -> Workload {
        let job = |&(procs, memory_kb): &(u32, i64)| {
            let mut job = Job::new(Time(0), procs, Span(10));
            job.memory_kb = memory_kb;
            job
        };
        let truth =
            (0..jobs.len()).map(|at| Truth { run: Span(5), number: at as i64 + 1, status: LogStatus::Completed });
        let (list, truth) = (jobs.iter().map(job).collect(), truth.collect());
        Workload::new(Machine::new(24), list, truth, Provenance::default()).expect("possible")
    }

    const TABLE: &str =
        "\u{feff}nodes,cores,mem,gpu:a100,features,weight\n# two classes\n2,4,8GB,,,\n1,16,64GB,2,fast big,5\n";

    #[test]
    fn classes_are_read() {
        let table = read_nodes("n.csv", TABLE).expect("sound");
        let [small, large] = &table.classes[..] else { panic!("{table:?}") };
        assert_eq!((small.nodes.len(), small.cores, small.memory_kb), (2, 4, 8 << 20));
        assert_eq!(large.devices, [("gpu".to_string(), "a100".to_string(), 2)]);
        assert_eq!((large.features.len(), large.weight), (2, 5));
        let names: Vec<(String, u64)> =
            resource_totals(&table.classes).into_iter().map(|resource| (resource.name, resource.total)).collect();
        assert_eq!(names, [("mem".into(), 80 << 20), ("gpu".into(), 2), ("gpu:a100".into(), 2)]);
    }

    #[test]
    fn memory_of_the_log_is_placed() {
        let table = read_nodes("n.csv", TABLE).expect("sound");
        let placed =
            place_on(workload(&[(4, 1 << 20), (1, -1)]), &table.classes, NodeFill::Spread, "n.csv").expect("fits");
        let resources = placed.resources().expect("there");
        assert_eq!(resources.node_fill(), Some(NodeFill::Spread));
        let shape = resources.node_shape(placed.jobs()[0].demand).expect("memory");
        assert_eq!(shape.memory, NodeMemory::PerCore(1 << 20));
        assert_eq!(placed.jobs()[1].demand, DemandId::NONE);
        assert_eq!(placed.provenance.settings[0].value, "n.csv (spread)");
        let result = take_off(placed).expect("a workload");
        assert!(result.resources().is_some_and(|table| table.node_fill().is_none() && table.node_classes().is_empty()));
    }

    #[test]
    fn jobs_beyond_the_nodes_are_told() {
        let table = read_nodes("n.csv", TABLE).expect("sound");
        let error = place_on(workload(&[(1, 65 << 20)]), &table.classes, NodeFill::Pack, "n").expect_err("too much");
        let text = error.to_string();
        assert!(
            text.contains("job 1: asks for 1 core, 65 GB on one node; 2-1, the largest, has 16 cores, 64 GB"),
            "{text}"
        );
        let small = read_nodes("n.csv", "nodes,cores\n2,4\n").expect("sound");
        let error = place_on(workload(&[(1, -1)]), &small.classes, NodeFill::Pack, "n").expect_err("8 are not 24");
        assert!(error.to_string().contains("the nodes have 8 processors in all, and the machine has 24"), "{error}");
    }

    #[test]
    fn mistakes_are_told() {
        for (text, line, message) in [
            ("", 1, "the table is empty"),
            ("cores\n4\n", 1, "no column `nodes`"),
            ("nodes,mem\n4,4GB\n", 1, "no column `cores`"),
            ("nodes,cores,cores\n1,1,1\n", 1, "column 3 (`cores`) is named twice"),
            ("nodes,cores,\n1,1,1\n", 1, "is without a name"),
            ("nodes,cores\n", 1, "has no nodes"),
            ("nodes,cores\n1,2,3\n", 2, "3 cells for 2 columns"),
            ("nodes,cores\n0,4\n", 2, "at least one node"),
            ("nodes,cores\n4,x\n", 2, "cores: `x` is no whole number"),
            ("nodes,cores,mem\n4,4,16\n", 2, "mem: `16` has no unit"),
            ("nodes,cores,mem\n4,4,16QB\n", 2, "mem: `QB` in `16QB`"),
            ("nodes,cores,gpu\n4,4,-1\n", 2, "gpu: `-1` is no whole number"),
            ("nodes,cores\n4000000,4\n", 2, "more than the 1000000"),
        ] {
            let ResourcesError::Table { line: at, problem, .. } = read_nodes("t", text).expect_err(text) else {
                panic!("another error: {text}")
            };
            assert!(at == line && problem.contains(message), "{text}: line {at}: {problem}");
        }
    }
}
