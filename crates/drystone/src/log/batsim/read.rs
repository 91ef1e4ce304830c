//! Reads a workload.

use super::profiles::{ProfileRun, Profiles, format_value};
use super::{BatsimSource, batsim_error};
use crate::log::LogError;
use crate::log::swf::{SwfDecimal, SwfHeader, SwfRecord};
use crate::model::TIME_LIMIT;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Decimals of a second that are kept.
const DECIMALS: u8 = 6;

/// A number of seconds, as logs have it.
pub(super) fn convert_seconds(value: f64) -> Option<SwfDecimal> {
    if !value.is_finite() || value.abs() > TIME_LIMIT as f64 {
        return None;
    }
    if value.fract() == 0.0 {
        return Some((value as i64).into());
    }
    let text = format!("{value:.*}", usize::from(DECIMALS));
    let text = text.trim_end_matches('0');
    let (whole, fraction) = text.split_once('.')?;
    let digits: i64 = format!("{whole}{fraction}").parse().ok()?;
    SwfDecimal::new(digits, fraction.len() as u8)
}

/// A workload's JSON as records.
pub(super) fn read_workload(text: &[u8], name: &Arc<str>) -> Result<BatsimSource, LogError> {
    let whole: Value = serde_json::from_slice(text)
        .map_err(|e| batsim_error(name, e.line() as u64, format!("no JSON ({e}); expected a workload of Batsim")))?;
    let part = |key: &str| whole.get(key);
    let jobs = part("jobs").and_then(Value::as_array);
    let jobs = jobs.ok_or_else(|| batsim_error(name, 0, "a workload of Batsim has `jobs`, a list; here is none"))?;
    let empty = Map::new();
    let profiles = part("profiles").and_then(Value::as_object).unwrap_or(&empty);
    let mut profiles = Profiles::new(profiles);
    let mut header = SwfHeader::new();
    header.push("Version", "2.2");
    header.push("Conversion", "from a workload of Batsim");
    if let Some(procs) = part("nb_res") {
        let procs = procs.as_i64().filter(|procs| *procs > 0);
        let procs = procs.ok_or_else(|| {
            batsim_error(
                name,
                0,
                format!("`nb_res` is {}; expected a number of resources above 0", format_value(part("nb_res"))),
            )
        })?;
        header.push("MaxProcs", &procs.to_string());
    }
    if jobs.is_empty() {
        return Err(LogError::Empty { file: name.clone(), lines: text.split(|&byte| byte == b'\n').count() as u64 });
    }
    let mut used_numbers = BTreeSet::new();
    let mut records = Vec::with_capacity(jobs.len());
    for (at, job) in jobs.iter().enumerate() {
        let record =
            build_record(job, &mut profiles).map_err(|problem| batsim_error(name, 0, job_label(job, at) + &problem));
        let (mut record, _) = record?;
        // Ids are texts: those that are numbers stay what they are, others are numbered.
        if record.number < 0 || !used_numbers.insert(record.number) {
            record.number = (at as i64 + 1..).find(|number| used_numbers.insert(*number)).unwrap_or(-1);
        }
        records.push(record);
    }
    records.sort_by_key(|record: &SwfRecord| record.submit.round());
    Ok(BatsimSource { header, records })
}

/// Returns the name of a job for messages.
fn job_label(job: &Value, at: usize) -> String {
    match job.get("id") {
        Some(id) => format!("job {id}: "),
        None => format!("the job in place {} of `jobs`: ", at + 1),
    }
}

/// A job as a record, and the run of its profile.
pub(in crate::log) fn build_record(
    job: &Value,
    profiles: &mut Profiles<'_>,
) -> Result<(SwfRecord, ProfileRun), String> {
    let number = |key: &str| job.get(key).and_then(Value::as_f64);
    let submit = number("subtime").and_then(convert_seconds);
    let submit =
        submit.ok_or_else(|| format!("`subtime` is {}; expected seconds", format_value(job.get("subtime"))))?;
    let procs = job.get("res").and_then(Value::as_i64).filter(|procs| *procs > 0);
    let procs = procs.ok_or_else(|| format!("`res` is {}; expected a number above 0", format_value(job.get("res"))))?;
    let profile = match job.get("profile") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Number(name)) => name.to_string(),
        other => return Err(format!("`profile` is {}; expected the name of one", format_value(other))),
    };
    let ran = profiles.resolve_profile(&profile)?;
    let ProfileRun { seconds: run, succeeds, .. } = ran;
    let run = convert_seconds(run).ok_or_else(|| format!("profile `{profile}` runs for {run} s, which is too long"))?;
    let walltime = match job.get("walltime") {
        None | Some(Value::Null) => SwfDecimal::UNKNOWN,
        Some(value) => {
            let seconds_value = value.as_f64();
            // Older workloads say -1 for none.
            match seconds_value.filter(|time| *time < 0.0) {
                Some(_) => SwfDecimal::UNKNOWN,
                None => seconds_value
                    .and_then(convert_seconds)
                    .ok_or_else(|| format!("`walltime` is `{value}`; expected seconds"))?,
            }
        }
    };
    let attribute = |key: &str| job.get(key).and_then(Value::as_i64).unwrap_or(-1);
    let id = match job.get("id") {
        Some(Value::Number(number)) => number.as_i64(),
        // `w0!17` is job 17 of workload w0.
        Some(Value::String(text)) => text.rsplit('!').next().and_then(|text| text.parse().ok()),
        _ => None,
    };
    let record = SwfRecord {
        number: id.filter(|id| *id >= 0).unwrap_or(-1),
        submit,
        run,
        allocated: procs,
        requested: procs,
        requested_time: walltime,
        status: i64::from(succeeds),
        user: attribute("user"),
        group: attribute("group"),
        executable: attribute("executable"),
        queue: attribute("queue"),
        partition: attribute("partition"),
        ..SwfRecord::default()
    };
    Ok((record, ran))
}
