//! Jobs of Batsim whose profiles are computations.

use super::model::{LeftOutParts, leave_out};
use super::{ElasticJob, ElasticMachine};
use crate::log::batsim::{Profiles, read_record};
use crate::log::swf::SwfDecimal;
use crate::model::Procs;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Reads all jobs. One whose computation is divided among its processors is moldable: from one
/// processor to all that there are.
pub(super) fn read_batsim_jobs(
    whole: &Value,
    jobs: &[Value],
    machine: &ElasticMachine,
    left_out: &mut LeftOutParts,
) -> Result<Vec<ElasticJob>, String> {
    let empty = Map::new();
    let profiles = whole.get("profiles").and_then(Value::as_object).unwrap_or(&empty);
    for profile in profiles.values() {
        let amount = |key: &str| profile.get(key).and_then(Value::as_f64).unwrap_or(0.0);
        if amount("com") > 0.0 || amount("communication_amount") > 0.0 {
            leave_out(left_out, "communications");
        }
    }
    let mut profiles = Profiles::new(profiles).with_flops(machine.flops);
    let width = whole.get("nb_res").and_then(Value::as_u64).and_then(|procs| Procs::try_from(procs).ok());
    let (mut list, mut used_numbers) = (Vec::new(), BTreeSet::new());
    for (at, job) in jobs.iter().enumerate() {
        let job_problem = |problem: String| format!("the job in place {} of `jobs`: {problem}", at + 1);
        let (mut record, run) = read_record(job, &mut profiles).map_err(&job_problem)?;
        if record.number < 0 || !used_numbers.insert(record.number) {
            record.number = (at as i64 + 1..).find(|number| used_numbers.insert(*number)).unwrap_or(-1);
        }
        let size =
            Procs::try_from(record.requested).map_err(|_| job_problem(format!("`res` is {}", record.requested)))?;
        let most = machine.procs.or(width).unwrap_or(size).max(size);
        let seconds = |size: Procs| run.seconds + run.spread / f64::from(size);
        let is_moldable = run.spread > 0.0;
        // Nothing but a computation that is divided: all sizes, and the speedup is linear.
        let linear = (is_moldable && run.seconds == 0.0).then_some(most);
        let sizes: BTreeSet<Procs> = match is_moldable && linear.is_none() {
            true => (0..32).map(|power| 1 << power).filter(|procs| *procs <= most).chain([size, most]).collect(),
            false => BTreeSet::from([size]),
        };
        list.push(ElasticJob {
            number: record.number,
            submit: record.submit,
            kind: if is_moldable { "moldable" } else { "rigid" },
            runs: sizes.into_iter().map(|size| (size, seconds(size))).collect(),
            linear,
            preferred: size,
            limit: if record.requested_time.round() < 0 { SwfDecimal::UNKNOWN } else { record.requested_time },
            points: 1,
        });
    }
    Ok(list)
}
