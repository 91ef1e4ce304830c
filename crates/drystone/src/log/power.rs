//! Power of a machine over time: a table of caps.

use crate::log::series::PowerSeries;
use crate::log::shapes::{ShapesError, shapes_or_none};
use crate::model::{PowerCap, PowerSupply, Setting, Time, Workload, WorkloadShapes};
use std::sync::Arc;

const HEAD: &str =
    "expected a first line `time,cap` or `time,cap,announced`, then a line for each cap, such as `0,7000`";

/// Caps on the power of a machine, and the lines of a file that they stand in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CapTable {
    file: String,
    caps: Vec<PowerCap>,
    lines: Vec<usize>,
}

impl CapTable {
    /// Caps that are of no file, under this name.
    #[must_use]
    pub fn from_caps(name: &str, caps: Vec<PowerCap>) -> CapTable {
        CapTable { file: name.to_string(), lines: vec![1; caps.len()], caps }
    }

    fn cap_error(&self, cap: &PowerCap, problem: String) -> ShapesError {
        let at = self.caps.iter().position(|candidate| candidate == cap);
        let line = at.and_then(|at| self.lines.get(at)).copied().unwrap_or(1);
        ShapesError::Line { file: self.file.clone(), line, problem }
    }
}

/// Reads a table of caps: from `time` on, in seconds like the log's, jobs and idle processors may
/// draw `cap` watts in all; the scheduler knows of it from `announced` on, or from the beginning.
///
/// # Errors
/// Another head, no line, times that do not ascend, cells that are no whole numbers.
pub fn read_caps(file: &str, text: &str) -> Result<CapTable, ShapesError> {
    let wrong = |line: usize, problem: String| ShapesError::Line { file: file.to_string(), line, problem };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let Some((at, first)) = lines.next() else { return Err(wrong(1, format!("the table is empty; {HEAD}"))) };
    let columns: Vec<&str> = first.split(',').map(str::trim).collect();
    if columns != ["time", "cap"] && columns != ["time", "cap", "announced"] {
        return Err(wrong(at, format!("the first line is `{first}`; {HEAD}")));
    }
    let (mut caps, mut cap_lines): (Vec<PowerCap>, Vec<usize>) = (Vec::new(), Vec::new());
    for (at, line) in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != columns.len() {
            return Err(wrong(at, format!("{} cells for {} columns ({first})", cells.len(), columns.len())));
        }
        let time = |name: &str, cell: &str| -> Result<Time, ShapesError> {
            let time = cell.parse().ok().filter(|time: &i64| time.unsigned_abs() <= 1 << 40);
            time.map(Time).ok_or_else(|| wrong(at, format!("{name}: `{cell}` is no whole number of seconds")))
        };
        let from = time("time", cells[0])?;
        let watts = cells[1].parse().ok().filter(|watts: &u64| *watts <= 1 << 60);
        let watts = watts.ok_or_else(|| wrong(at, format!("cap: `{}` is no whole number of watts", cells[1])))?;
        let announcement = match cells.get(2) {
            None | Some(&"") => Time::MIN,
            Some(cell) => time("announced", cell)?,
        };
        if caps.last().is_some_and(|cap| cap.from >= from) {
            return Err(wrong(
                at,
                format!("the cap from {from} comes after a later or equal one; put the lines in order"),
            ));
        }
        caps.push(PowerCap { from, watts, announced: announcement.min(from) });
        cap_lines.push(at);
    }
    match caps.is_empty() {
        true => Err(wrong(at, format!("the table has no cap; {HEAD}"))),
        false => Ok(CapTable { file: file.to_string(), caps, lines: cap_lines }),
    }
}

/// Gives the machine of a workload power: caps, and the draw of an idle processor.
///
/// # Errors
/// A cap below the draw of the idle machine; a job that draws more than every cap at its smallest
/// size.
pub fn give_power(mut workload: Workload, table: &CapTable, idle: u64) -> Result<Workload, ShapesError> {
    let CapTable { file, caps, .. } = table;
    let procs = u64::from(workload.machine().procs);
    let whole = idle.saturating_mul(procs);
    if let Some(cap) = caps.iter().find(|cap| cap.watts < whole) {
        let problem = format!(
            "the cap from {} is {} W, and the idle machine draws {whole} W ({procs} processors of {idle} W); raise the cap, or \
             lower --idle",
            cap.from, cap.watts
        );
        return Err(table.cap_error(cap, problem));
    }
    let before = workload.shapes().cloned();
    if let (Some(shapes), Some(widest)) = (&before, caps.iter().max_by_key(|cap| cap.watts)) {
        let most = widest.watts;
        for (place, truth) in workload.truth().iter().enumerate() {
            let Some((shape, _)) = shapes.shape_at(place) else { continue };
            let draw = shape.least_watts().saturating_mul(u64::from(shape.sizes.min()));
            if draw > most - whole {
                let slowly = if shape.paces.is_empty() { "" } else { " and slowest pace" };
                let problem = format!(
                    "job {} draws {draw} W at its smallest size{slowly}, and no cap leaves more than {} W for jobs; raise a cap, or \
                     leave the job out of the log",
                    truth.number,
                    most - whole
                );
                return Err(table.cap_error(widest, problem));
            }
        }
    }
    for (name, value) in [("power", file.clone()), ("idle", format!("{idle} W"))] {
        workload.provenance.settings.retain(|setting| setting.name != name);
        workload.provenance.settings.push(Setting { name: name.to_string(), value });
    }
    let power = Some(Arc::new(PowerSupply { caps: caps.clone(), idle }));
    let shapes = WorkloadShapes { power, ..shapes_or_none(&workload) };
    Ok(workload.with_shapes(Some(Arc::new(shapes))))
}

/// Lets the policies of a workload know carbon intensity and price over time.
#[must_use]
pub fn give_terms(workload: Workload, series: &PowerSeries) -> Workload {
    let shapes = WorkloadShapes { terms: Some(Arc::new(series.power_terms())), ..shapes_or_none(&workload) };
    workload.with_shapes(Some(Arc::new(shapes)))
}
