//! Power of a machine over time: a table of caps.

use crate::log::shapes::ShapesError;
use crate::model::{PowerCap, PowerSupply, Setting, Time, Workload, WorkloadShapes};
use std::sync::Arc;

const HEAD: &str =
    "expected a first line `time,cap` or `time,cap,announced`, then a line for each cap, such as `0,7000`";

/// Reads a table of caps: from `time` on, in seconds like the log's, jobs and idle processors may
/// draw `cap` watts in all; the scheduler knows of it from `announced` on, or from the beginning.
///
/// # Errors
/// Another head, no line, times that do not ascend, cells that are no whole numbers.
pub fn read_caps(file: &str, text: &str) -> Result<Vec<PowerCap>, ShapesError> {
    let wrong = |line: usize, problem: String| ShapesError::Line { file: file.to_string(), line, problem };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let Some((at, first)) = lines.next() else { return Err(wrong(1, format!("the table is empty; {HEAD}"))) };
    let columns: Vec<&str> = first.split(',').map(str::trim).collect();
    if columns != ["time", "cap"] && columns != ["time", "cap", "announced"] {
        return Err(wrong(at, format!("the first line is `{first}`; {HEAD}")));
    }
    let mut caps: Vec<PowerCap> = Vec::new();
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
        let announced = match cells.get(2) {
            None | Some(&"") => Time::MIN,
            Some(cell) => time("announced", cell)?,
        };
        if caps.last().is_some_and(|cap| cap.from >= from) {
            return Err(wrong(
                at,
                format!("the cap from {from} comes after a later or equal one; put the lines in order"),
            ));
        }
        caps.push(PowerCap { from, watts, announced: announced.min(from) });
    }
    match caps.is_empty() {
        true => Err(wrong(at, format!("the table has no cap; {HEAD}"))),
        false => Ok(caps),
    }
}

/// Gives the machine of a workload power: caps, as a table named `file` has them, and the draw of
/// an idle processor.
///
/// # Errors
/// A cap below the draw of the idle machine; a job that draws more than every cap at its smallest
/// size.
pub fn give_power(mut workload: Workload, file: &str, caps: Vec<PowerCap>, idle: u64) -> Result<Workload, ShapesError> {
    let wrong = |problem: String| ShapesError::Line { file: file.to_string(), line: 1, problem };
    let procs = u64::from(workload.machine().procs);
    let whole = idle.saturating_mul(procs);
    if let Some(cap) = caps.iter().find(|cap| cap.watts < whole) {
        return Err(wrong(format!(
            "the cap from {} is {} W, and the idle machine draws {whole} W ({procs} processors of {idle} W); raise the cap, or \
             lower --idle",
            cap.from, cap.watts
        )));
    }
    let before = workload.shapes().cloned();
    if let (Some(shapes), Some(most)) = (&before, caps.iter().map(|cap| cap.watts).max()) {
        for (place, truth) in workload.truth().iter().enumerate() {
            let Some((shape, _)) = shapes.shape(place) else { continue };
            let draw = shape.watts.saturating_mul(u64::from(shape.sizes.min()));
            if draw > most - whole {
                return Err(wrong(format!(
                    "job {} draws {draw} W at its smallest size, and no cap leaves more than {} W for jobs; raise a cap, or \
                     leave the job out of the log",
                    truth.number,
                    most - whole
                )));
            }
        }
    }
    for (name, value) in [("power", file.to_string()), ("idle", format!("{idle} W"))] {
        workload.provenance.settings.retain(|setting| setting.name != name);
        workload.provenance.settings.push(Setting { name: name.to_string(), value });
    }
    let power = Some(Arc::new(PowerSupply { caps, idle }));
    let of = vec![None; workload.len()];
    let shapes = before.map_or_else(
        || WorkloadShapes { of, power: power.clone(), ..WorkloadShapes::default() },
        |shapes| WorkloadShapes { power: power.clone(), ..(*shapes).clone() },
    );
    Ok(workload.shaped(Some(Arc::new(shapes))))
}
