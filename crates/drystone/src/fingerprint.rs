//! Fingerprints: what tells two workloads apart.

use crate::log::circumstances;
use crate::metrics::Calendar;
use crate::model::{JobId, JobLimits, ResizeRules, ResourceTable, Workload};

/// BLAKE3 of the machine and of every job in order of arrival, each number as eight bytes,
/// little-endian, and of the time zone where it is another than UTC: of everything in a workload
/// that can influence a result. Names and settings do not count.
#[must_use]
pub fn compute_fingerprint(workload: &Workload) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = Vec::with_capacity(1 << 16);
    let mut hash_values = |values: &[i64]| {
        buffer.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        if buffer.len() >= (1 << 16) - 128 {
            hasher.update(&buffer);
            buffer.clear();
        }
    };
    hash_values(&[i64::from(workload.machine().procs), workload.provenance.unix_start.unwrap_or(i64::MIN)]);
    for (job, truth) in workload.jobs().iter().zip(workload.truth()) {
        hash_values(&[
            truth.number,
            job.submit.0,
            truth.run.0,
            i64::from(job.procs),
            job.estimate.0,
            job.memory_kb,
            truth.status.to_swf(),
            i64::from(job.user),
            i64::from(job.group),
            i64::from(job.executable),
            i64::from(job.queue),
            i64::from(job.partition),
        ]);
    }
    hasher.update(&buffer);
    if let Some(circumstances) = workload.circumstances() {
        let mut table = Vec::new();
        // Memory takes all.
        let _ = circumstances::write_circumstances(workload, &mut table);
        hasher.update(&table);
        if !circumstances.limits.is_empty() {
            hash_limits(workload, &circumstances.limits, &mut hasher);
        }
    }
    if let Some(table) = workload.resources() {
        hash_resources(workload, table, &mut hasher);
    }
    if let Some(shapes) = workload.shapes() {
        for place in 0..workload.len() {
            hasher.update(format!("{:?}", shapes.shape_at(place)).as_bytes());
        }
        hasher.update(format!("{:?}", shapes.power).as_bytes());
        if shapes.terms.is_some() || shapes.rules != ResizeRules::default() {
            hasher.update(format!("{:?} {}", shapes.terms, shapes.rules).as_bytes());
        }
    }
    // Whose days and months these are; most workloads that are no logs have none.
    let first = workload.submit_range().unwrap_or_default().0;
    let zone = Calendar::new(first, &workload.provenance).zone_name();
    if zone != "UTC" {
        hasher.update(zone.as_bytes());
    }
    // 128 bits are enough to tell workloads apart, and short enough to be read.
    format!("blake3:{}", &hasher.finalize().to_hex()[..32])
}

/// Limits by their reasons and holders, and what each job takes of them.
fn hash_limits(workload: &Workload, limits: &JobLimits, hasher: &mut blake3::Hasher) {
    for limit in limits.limits() {
        hasher.update(limit.reason.as_bytes());
        hasher.update(&[0]);
        hasher.update(limit.of.as_bytes());
        hasher.update(&limit.most.to_le_bytes());
    }
    for id in 0..workload.len() as u32 {
        let claims = limits.job_claims(JobId(id));
        hasher.update(&(claims.len() as u64).to_le_bytes());
        for claim in claims {
            hasher.update(&claim.limit.to_le_bytes());
            hasher.update(&claim.amount.to_le_bytes());
            hasher.update(&[u8::from(claim.binds)]);
        }
    }
}

/// Resources by name, and what each job asks for of them: the numbers of demands do not count.
fn hash_resources(workload: &Workload, table: &ResourceTable, hasher: &mut blake3::Hasher) {
    for resource in table.resources() {
        hasher.update(resource.name.as_bytes());
        hasher.update(&[0, u8::from(resource.stays)]);
        hasher.update(&resource.total.to_le_bytes());
    }
    for job in workload.jobs() {
        let totals = table.demand_totals(job.demand);
        hasher.update(&(totals.len() as u64).to_le_bytes());
        for (id, amount) in totals {
            hasher.update(&id.0.to_le_bytes());
            hasher.update(&amount.to_le_bytes());
        }
        if let Some(shape) = table.node_shape(job.demand) {
            hasher.update(format!("{shape:?}").as_bytes());
        }
    }
    for step in table.supply_steps() {
        hasher.update(&step.resource.0.to_le_bytes());
        hasher.update(&step.from.0.to_le_bytes());
        hasher.update(&step.amount.to_le_bytes());
        hasher.update(&step.announced.map_or(i64::MAX, |time| time.0).to_le_bytes());
    }
    if !table.node_classes().is_empty() {
        hasher.update(format!("{:?}", table.node_classes()).as_bytes());
    }
    if let Some(fill) = table.node_fill() {
        hasher.update(fill.name().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, LogStatus, Machine, Provenance, Span, Time, Truth};

    #[test]
    fn the_hash_tells_workloads_apart() {
        let of = |run: i64, name: &str, jobs: usize| {
            let truth = Truth { run: Span(run), number: 1, status: LogStatus::Completed };
            let provenance = Provenance { name: name.to_string(), ..Provenance::default() };
            let job = Job::new(Time(0), 1, Span(9));
            let (jobs, truth) = (vec![job; jobs], vec![truth; jobs]);
            compute_fingerprint(&Workload::new(Machine::new(4), jobs, truth, provenance).expect("valid"))
        };
        assert_eq!(of(5, "a", 3), of(5, "b", 3), "the name does not matter");
        assert_ne!(of(5, "a", 3), of(6, "a", 3));
        let at = |name: Option<&str>, utc_offset| {
            let time_zone = name.map(str::to_string);
            let provenance = Provenance { time_zone, utc_offset, unix_start: Some(1), ..Provenance::default() };
            let truth = Truth { run: Span(1), number: 1, status: LogStatus::Completed };
            let job = Job::new(Time(0), 1, Span(9));
            compute_fingerprint(&Workload::new(Machine::new(4), vec![job], vec![truth], provenance).expect("valid"))
        };
        // Months are those of the zone that is used.
        assert_ne!(at(None, None), at(None, Some(3600)));
        assert_ne!(at(Some("US/Pacific"), None), at(None, Some(-28_800)));
        assert_eq!(at(None, None), at(Some("nowhere"), Some(0)));
        // More than fits the buffer.
        assert_ne!(of(5, "a", 3000), of(5, "a", 3001));
    }
}
