//! Shapes of the jobs of a log: a table beside it that says which sizes each job may have, and its
//! run time at each.

mod row;

use crate::log::clean::Overrun;
use crate::model::{
    JobKind, JobShape, Procs, ResizeRules, SPEEDUPS, Setting, ShapeTruth, SizeSet, Span, Speedup, Workload,
    WorkloadError, WorkloadShapes,
};
pub use row::{COLUMNS, ShapeRow};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A table of shapes, by the log's numbers of the jobs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ShapeTable {
    /// Name of the file as given.
    pub file: String,
    /// Lines.
    pub rows: BTreeMap<i64, ShapeRow>,
}

/// Shapes that the jobs of a log cannot have.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShapesError {
    /// A line that is wrong.
    #[error("{file}, line {line}: {problem}")]
    Line {
        /// Name of the file.
        file: String,
        /// Number of the line.
        line: usize,
        /// Description of the mistake, and what to do.
        problem: String,
    },
    /// The workload refuses them.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}

/// Reads a table of shapes. The first line names the columns; `job` must be among them, the others
/// may be missing, and any cell but the job's may be empty.
///
/// ```text
/// job,kind,min,pref,max,sizes,speedup,declared,every,grow_cost,shrink_cost,watts,paces,asks
/// 1,malleable,2,8,16,,amdahl:0.99,,60,10,5,120,,
/// 2,moldable,,,,1 2 4,table:1=400;2=213;4=119,,,,,,,
/// 3,,,,,,,,,,,,1:300 0.8:210 0.5:120,
/// ```
///
/// # Errors
/// No column `job`, a column that is unknown or named twice, a job that is named twice, another
/// number of cells, a cell that cannot be.
pub fn read_shapes(file: &str, text: &str) -> Result<ShapeTable, ShapesError> {
    let wrong = |line: usize, problem: String| ShapesError::Line { file: file.to_string(), line, problem };
    // Spreadsheets put a mark before the first line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let head = format!("expected a first line with `job` and any of {}", COLUMNS[1..].join(", "));
    let Some((at, first)) = lines.next() else { return Err(wrong(1, format!("the table is empty; {head}"))) };
    let columns: Vec<&str> = first.split(',').map(str::trim).collect();
    for (place, column) in columns.iter().enumerate() {
        if !COLUMNS.contains(column) {
            return Err(wrong(at, format!("column {} is `{column}`; {head}", place + 1)));
        }
        if columns[..place].contains(column) {
            return Err(wrong(at, format!("the column `{column}` is named twice; leave one out")));
        }
    }
    let Some(job) = columns.iter().position(|column| *column == "job") else {
        return Err(wrong(at, format!("there is no column `job`; {head}")));
    };
    let mut table = ShapeTable { file: file.to_string(), rows: BTreeMap::new() };
    for (at, line) in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != columns.len() {
            return Err(wrong(at, format!("{} cells for {} columns ({first})", cells.len(), columns.len())));
        }
        let number: i64 =
            cells[job].parse().map_err(|_| wrong(at, format!("`{}` is no number of a job", cells[job])))?;
        let mut row = ShapeRow { line: at, ..ShapeRow::default() };
        for (column, cell) in columns.iter().zip(&cells).filter(|(_, cell)| !cell.is_empty()) {
            row.set_cell(column, cell).map_err(|problem| wrong(at, format!("{column}: {problem}")))?;
        }
        if let Some(before) = table.rows.insert(number, row) {
            let problem = format!("job {number} is named twice, first in line {}; give each job one line", before.line);
            return Err(wrong(at, problem));
        }
    }
    Ok(table)
}

/// Treatment of a table of shapes, for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShapeNotes {
    /// Jobs that have several sizes.
    pub shaped: usize,
    /// Jobs that lost sizes wider than the machine.
    pub cut: usize,
    /// Numbers in the table that no job has.
    pub unknown: Vec<i64>,
}

/// Gives the jobs of a workload the shapes of a table, in place of those that they had, and says so
/// in the provenance. Estimates and run times follow the rule for overruns at every size.
///
/// # Errors
/// A size set that is wider than the machine or empty, a preferred size that is none of it, a
/// speedup without a run time for a size.
///
/// Cost: O(n log n), and O(sizes) where a list or a table is given.
pub fn give_shapes(
    workload: Workload,
    table: &ShapeTable,
    overrun: Overrun,
) -> Result<(Workload, ShapeNotes), ShapesError> {
    let resources = workload.resources().cloned();
    let circumstances = workload.circumstances().cloned();
    let before = workload.shapes().cloned();
    let (machine, mut jobs, mut truths, mut provenance) = workload.into_parts();
    let mut notes = ShapeNotes::default();
    let (mut known_shapes, mut facts, mut of) = (Vec::new(), Vec::new(), Vec::with_capacity(jobs.len()));
    let mut used_rows = 0;
    for (job, truth) in jobs.iter_mut().zip(&mut truths) {
        let Some(row) = table.rows.get(&truth.number) else {
            of.push(None);
            continue;
        };
        used_rows += 1;
        let wrong = |problem: String| ShapesError::Line { file: table.file.clone(), line: row.line, problem };
        let number = truth.number;
        let wrong = |problem: String| wrong(format!("job {number}: {problem}"));
        let sizes = SizesOfRow::from_row(row, job.procs, machine.procs).map_err(wrong)?;
        notes.cut += usize::from(sizes.cut);
        notes.shaped += usize::from(row.kind != JobKind::Rigid);
        let watts = watts_of(row).map_err(wrong)?;
        if row.kind == JobKind::Rigid && watts == 0 {
            of.push(None);
            continue;
        }
        let (shape, fact) = shape_of(row, sizes, job.procs, (job.estimate, truth.run), overrun).map_err(wrong)?;
        let shape = JobShape { watts, ..shape };
        job.procs = shape.preferred;
        job.estimate = shape.estimate_of_log(shape.preferred);
        truth.run = fact.run_at(shape.preferred, &shape);
        of.push(Some(known_shapes.len() as u32));
        known_shapes.push(shape);
        facts.push(fact);
    }
    if used_rows < table.rows.len() {
        let job_numbers: std::collections::BTreeSet<i64> = truths.iter().map(|truth| truth.number).collect();
        notes.unknown.extend(table.rows.keys().filter(|number| !job_numbers.contains(number)));
    }
    provenance.settings.retain(|setting| setting.name != "shapes");
    provenance.settings.push(Setting { name: "shapes".to_string(), value: table.file.clone() });
    let before = before.map_or_else(WorkloadShapes::default, |shapes| (*shapes).clone());
    let shapes = WorkloadShapes { known: Arc::new(known_shapes), truths: Arc::new(facts), of, ..before };
    let workload = Workload::with_resources(machine, resources, jobs, truths, provenance)?;
    let workload = workload.with_shapes(Some(Arc::new(shapes)));
    // Jobs that are here at the first instant have the sizes that the log gives them.
    let workload = match circumstances {
        None => workload,
        Some(circumstances) => workload.with_circumstances(circumstances)?,
    };
    Ok((workload, notes))
}

/// Gives the machine of a workload rules for changes of size.
#[must_use]
pub fn give_rules(mut workload: Workload, rules: ResizeRules) -> Workload {
    let mut shapes = shapes_or_none(&workload);
    shapes.rules = rules;
    workload.provenance.settings.retain(|setting| setting.name != "resizing");
    if rules != ResizeRules::default() {
        workload.provenance.settings.push(Setting { name: "resizing".to_string(), value: rules.to_string() });
    }
    workload.with_shapes(Some(Arc::new(shapes)))
}

/// The shapes of a workload; of one without them those of rigid jobs.
pub(crate) fn shapes_or_none(workload: &Workload) -> WorkloadShapes {
    let no_shapes = || WorkloadShapes { of: vec![None; workload.len()], ..WorkloadShapes::default() };
    workload.shapes().map_or_else(no_shapes, |shapes| (**shapes).clone())
}

/// Returns the rule for overruns by which the jobs of a workload were cleaned, as its provenance
/// has it.
#[must_use]
pub fn overrun_of(workload: &Workload) -> Overrun {
    let settings = workload.provenance.settings.iter().rev();
    let value = settings.filter(|setting| setting.name == "overrun").find_map(|setting| setting.value.parse().ok());
    value.unwrap_or_default()
}

struct SizesOfRow {
    set: SizeSet,
    preferred: Procs,
    cut: bool,
}

impl SizesOfRow {
    fn from_row(row: &ShapeRow, reference: Procs, machine: Procs) -> Result<SizesOfRow, String> {
        let [min, pref, max] = row.bounds;
        if row.kind == JobKind::Rigid {
            return Ok(SizesOfRow { set: SizeSet::Range(reference, reference), preferred: reference, cut: false });
        }
        let mut set = match &row.sizes[..] {
            [] => {
                let (min, max) = (min.unwrap_or(reference), max.unwrap_or(reference));
                if min > max {
                    return Err(format!("its smallest size is {min} and its largest {max}; set min to at most max"));
                }
                SizeSet::Range(min, max)
            }
            list if min.is_none() && max.is_none() => SizeSet::List(list.to_vec()),
            _ => return Err("it has both a list of sizes and min or max; leave one of them out".into()),
        };
        let Some(cut) = set.cut_above(machine) else {
            return Err(format!(
                "its smallest size is {}, wider than the machine of {machine} processors; give it a smaller one, or leave the \
                 job out of the log",
                set.min()
            ));
        };
        let preferred_size = match pref {
            Some(pref) if !set.contains(pref) && pref > machine => set.max(),
            Some(pref) => pref,
            None => reference,
        };
        if !set.contains(preferred_size) {
            let which = if pref.is_some() { "its preferred size" } else { "the size that the log gives it" };
            return Err(format!(
                "{which}, {preferred_size}, is none of its sizes; name one of them in the column pref"
            ));
        }
        Ok(SizesOfRow { set, preferred: preferred_size, cut })
    }
}

/// Returns the draw of a processor at the full pace.
fn watts_of(row: &ShapeRow) -> Result<u64, String> {
    let at_full_pace = row.paces.first().map(|pace| pace.watts);
    match (row.watts, at_full_pace) {
        (Some(watts), Some(at_full_pace)) if watts != at_full_pace => Err(format!(
            "watts is {watts}, and the first of its paces draws {at_full_pace} W; leave the column watts empty, or make them equal"
        )),
        (watts, at_full_pace) => Ok(watts.or(at_full_pace).unwrap_or(0)),
    }
}

/// Makes the shape of a job, with its estimate and run time at the size that the log gives it.
fn shape_of(
    row: &ShapeRow,
    sizes: SizesOfRow,
    reference: Procs,
    (estimate, run): (Span, Span),
    overrun: Overrun,
) -> Result<(JobShape, ShapeTruth), String> {
    let speedup = row.speedup.clone().unwrap_or_default();
    let declared_speedup = row.declared.clone().unwrap_or_else(|| speedup.clone());
    for (column, model) in [("speedup", &speedup), ("declared", &declared_speedup)] {
        if matches!(model, Speedup::Table(_)) {
            let missing = sizes.set.iter().find(|size| model.listed_seconds(*size).is_none());
            if let Some(size) = missing {
                return Err(format!(
                    "{column}: the table has no run time at size {size}; add it, or leave the size out (expected {SPEEDUPS})"
                ));
            }
        }
    }
    for (_, size) in &row.asks {
        if !sizes.set.contains(*size) {
            return Err(format!("asks: it asks for {size} processors, which is none of its sizes; add it to them"));
        }
    }
    if !row.asks.is_empty() && !row.kind.can_ask() {
        return Err(format!("asks: a {} job asks for nothing; make it evolving or adaptive", row.kind.name()));
    }
    if !row.asks.is_sorted_by(|a, b| a.0.share_of(Span(1_000_000)) < b.0.share_of(Span(1_000_000))) {
        return Err("asks: the shares of its work must ascend; put them in order".into());
    }
    let exact = overrun == Overrun::Exact;
    let shape = JobShape {
        kind: row.kind,
        sizes: sizes.set,
        preferred: sizes.preferred,
        reference,
        declared: if exact { speedup.clone() } else { declared_speedup },
        reference_estimate: if exact { run } else { estimate },
        least: (overrun == Overrun::Raise).then(|| (speedup.clone(), run)),
        every: row.every,
        grow_cost: row.costs[0],
        shrink_cost: row.costs[1],
        watts: 0,
        // The full pace alone is no choice.
        paces: if row.paces.len() > 1 { row.paces.clone() } else { Vec::new() },
    };
    let cut = overrun == Overrun::Kill;
    Ok((shape, ShapeTruth { speedup, reference, reference_run: run, cut, asks: row.asks.clone() }))
}
