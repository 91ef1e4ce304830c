//! Workloads as bytes, and their origin as text that tables carry.

use crate::error;
use crate::names::WorkloadNames;
use drystone::log::clean::Audit;
use drystone::log::series::PowerSeries;
use drystone::log::swf::{SwfHeader, SwfReader, SwfRecord};
use drystone::model::{
    Circumstances, Job, JobShape, Machine, PowerSupply, PowerTerms, Provenance, ResizeRules, ResourceTable, Setting,
    ShapeTruth, Span, TimeMove, Truth, Workload, WorkloadShapes,
};
use drystone::policy::Snapshot;
use drystone_cli::library::WorkloadInput;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// Key of the origin in the metadata of tables.
pub(crate) const ORIGIN: &str = "drystone";

/// Origin of a workload: everything but its jobs.
pub(crate) struct LogOrigin {
    pub(crate) procs: Option<u32>,
    pub(crate) hash: String,
    pub(crate) provenance: Provenance,
    pub(crate) header: SwfHeader,
    pub(crate) names: WorkloadNames,
}

/// The lines of a header that stand before the first record.
fn header_lines(header: &SwfHeader) -> String {
    let lines = header.comments().iter().filter(|comment| comment.after == 0);
    lines.map(|comment| comment.text.iter().map(|&byte| char::from(byte)).collect::<String>() + "\n").collect()
}

/// A header of its lines, each byte a character.
fn header_of(lines: &str) -> SwfHeader {
    let mut log: Vec<u8> = lines.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect();
    log.extend_from_slice(b"1 0 0 0 1 -1 -1 1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n");
    match SwfReader::new(log.as_slice(), "header") {
        Ok(mut reader) => {
            // The reader has the header once it has come to the first record.
            let _ = reader.read_record();
            reader.into_header().0
        }
        Err(_) => SwfHeader::new(),
    }
}

/// The origin of a workload as text.
pub(crate) fn origin_text(input: &WorkloadInput, names: &WorkloadNames, hash: &str) -> String {
    let provenance = &input.workload().provenance;
    let settings: Vec<[&str; 2]> =
        provenance.settings.iter().map(|setting| [&*setting.name, &*setting.value]).collect();
    json!({
        "name": provenance.name,
        "hash": hash,
        "procs": input.workload().machine().procs,
        "unix_start": provenance.unix_start,
        "utc_offset": provenance.utc_offset,
        "time_zone": provenance.time_zone,
        "settings": settings,
        "header": header_lines(input.header()),
        "names": names.to_json(),
    })
    .to_string()
}

/// The origin that a text tells of; `None` where it is none.
pub(crate) fn read_origin(text: &str) -> Option<LogOrigin> {
    let value: Value = serde_json::from_str(text).ok()?;
    let settings: Vec<(String, String)> = serde_json::from_value(value["settings"].clone()).ok()?;
    let provenance = Provenance {
        name: value["name"].as_str()?.to_string(),
        settings: settings.into_iter().map(|(name, value)| Setting { name, value }).collect(),
        unix_start: value["unix_start"].as_i64(),
        utc_offset: value["utc_offset"].as_i64().and_then(|offset| i32::try_from(offset).ok()),
        time_zone: value["time_zone"].as_str().map(ToString::to_string),
        moves: Vec::new(),
    };
    Some(LogOrigin {
        procs: value["procs"].as_u64().and_then(|procs| u32::try_from(procs).ok()),
        hash: value["hash"].as_str()?.to_string(),
        provenance,
        header: header_of(value["header"].as_str().unwrap_or_default()),
        names: WorkloadNames::from_json(&value["names"]),
    })
}

/// A move of times as numbers: whether it divides, seconds, digits, decimals.
type MoveNumbers = (bool, i64, u64, u32);

fn move_numbers(time_move: &TimeMove) -> MoveNumbers {
    match *time_move {
        TimeMove::Earlier(by) => (false, by.0, 0, 0),
        TimeMove::Divided { digits, decimals } => (true, 0, digits, decimals),
    }
}

fn move_of((divides, by, digits, decimals): MoveNumbers) -> TimeMove {
    if divides { TimeMove::Divided { digits, decimals } } else { TimeMove::Earlier(Span(by)) }
}

/// Shapes of jobs: known facts, true facts, the place of each job's, power.
type SavedShapes =
    (Vec<JobShape>, Vec<ShapeTruth>, Vec<Option<u32>>, Option<PowerSupply>, Option<PowerTerms>, ResizeRules);

/// Everything of a workload that is no site.
type SavedLog = (
    String,
    String,
    Vec<Job>,
    Vec<Truth>,
    Vec<MoveNumbers>,
    Option<Circumstances>,
    Option<ResourceTable>,
    Option<Vec<SwfRecord>>,
    Option<SavedShapes>,
    Option<PowerSeries>,
);

/// The whole workload as bytes; `None` for a site, which is more than its jobs.
pub(crate) fn save_log(input: &WorkloadInput, names: &WorkloadNames, hash: &str) -> PyResult<Option<Vec<u8>>> {
    if input.is_site() {
        return Ok(None);
    }
    let workload = input.workload();
    let saved_log: SavedLog = (
        origin_text(input, names, hash),
        serde_json::to_string(input.audit()).map_err(error::internal_error)?,
        workload.jobs().to_vec(),
        workload.truth().to_vec(),
        workload.provenance.moves.iter().map(move_numbers).collect(),
        workload.circumstances().cloned(),
        workload.resources().map(|table| (**table).clone()),
        input.records().map(<[SwfRecord]>::to_vec),
        workload.shapes().map(|shapes| saved_shapes(shapes)),
        input.power_series().cloned(),
    );
    saved_log.save().map(Some).map_err(|e| error::snapshot_error(&e))
}

fn saved_shapes(shapes: &WorkloadShapes) -> SavedShapes {
    let WorkloadShapes { known, truths, of, power, terms, rules } = shapes;
    let (power, terms) = (power.as_deref().cloned(), terms.as_deref().cloned());
    (known.to_vec(), truths.to_vec(), of.clone(), power, terms, *rules)
}

fn shapes_of((known, truths, of, power, terms, rules): SavedShapes) -> Arc<WorkloadShapes> {
    let (shared_known, truths) = (Arc::new(known), Arc::new(truths));
    Arc::new(WorkloadShapes {
        known: shared_known,
        truths,
        of,
        power: power.map(Arc::new),
        terms: terms.map(Arc::new),
        rules,
    })
}

/// A workload of its bytes.
pub(crate) fn load_log(bytes: &[u8]) -> PyResult<(WorkloadInput, WorkloadNames)> {
    let mut saved_log = SavedLog::default();
    saved_log.load(bytes).map_err(|e| error::snapshot_error(&e))?;
    let (origin, audit, jobs, truth, moves, circumstances, resources, records, shapes, series) = saved_log;
    let damage_error = || error::wrong_error("these bytes are no workload that this version has saved");
    let LogOrigin { procs, provenance, header, names, .. } = read_origin(&origin).ok_or_else(damage_error)?;
    let audit: Audit = serde_json::from_str(&audit).map_err(|_| damage_error())?;
    let provenance = Provenance { moves: moves.into_iter().map(move_of).collect(), ..provenance };
    let machine = Machine::new(procs.ok_or_else(damage_error)?);
    let mut workload = Workload::with_resources(machine, resources.map(Arc::new), jobs, truth, provenance)
        .map_err(error::internal_error)?;
    if let Some(circumstances) = circumstances {
        workload = workload.with_circumstances(circumstances).map_err(error::internal_error)?;
    }
    workload = workload.with_shapes(shapes.map(shapes_of));
    Ok((WorkloadInput::of_parts(workload, audit, header, records).with_series(series), names))
}
