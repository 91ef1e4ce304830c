//! Windows that begin with the jobs that are here.

use crate::model::{Adopted, Circumstances, JobId, Setting, Time, Workload, WorkloadError};
use std::ops::Range;
use std::sync::Arc;

/// The part of a workload that begins at a time, with the jobs that are here then: `here` says
/// where each job is that was submitted before, `None` for one that has gone. Jobs submitted at the
/// time or later arrive as they do. Times stay; jobs no longer depend on those that have gone.
///
/// A simulation of it goes on as one of the whole does from that time, for a policy that remembers
/// nothing: `here` then says where jobs were in that simulation before anything happened at that
/// time. What a policy, or a predictor, remembers of jobs that have gone is lost: promises, plans,
/// run times of users, shares. Jobs of several sizes that have started before have the size that
/// the log gives them.
///
/// # Errors
/// Jobs that are here in a way that cannot be ([`Workload::with_circumstances`]).
///
/// Cost: O(n).
pub fn cut_window(
    workload: &Workload,
    begin: Time,
    mut adopt: impl FnMut(JobId) -> Option<Adopted>,
) -> Result<Workload, WorkloadError> {
    let mut places: Vec<Option<JobId>> = Vec::with_capacity(workload.len());
    let (mut jobs, mut truth) = (Vec::new(), Vec::new());
    let mut adopted_jobs = Vec::new();
    for (at, job) in workload.jobs().iter().enumerate() {
        let stays = if job.submit < begin { adopt(JobId(at as u32)) } else { Some(Adopted::Waiting) };
        let place = JobId(jobs.len() as u32);
        places.push(stays.is_some().then_some(place));
        let Some(stays) = stays else { continue };
        if stays != Adopted::Waiting {
            adopted_jobs.push((place, stays));
        }
        jobs.push(job.clone());
        truth.push(workload.truth()[at].clone());
    }
    let old_circumstances = workload
        .circumstances()
        .map(|circumstances| circumstances.restrict_to(|job| places[job.index()]))
        .unwrap_or_default();
    let withdrawn = old_circumstances.withdrawn.iter().filter(|withdrawal| withdrawal.at >= begin).copied().collect();
    let circumstances =
        Circumstances { begin: Some(begin), here: adopted_jobs.into_iter().collect(), withdrawn, ..old_circumstances };
    let (machine, resources) = (workload.machine(), workload.resources().cloned());
    let shapes = workload.shapes().map(|shapes| Arc::new(shapes.restrict_to(|place| places[place].is_some())));
    let window = Workload::with_resources(machine, resources, jobs, truth, workload.provenance.clone())?;
    window.with_shapes(shapes).with_circumstances(circumstances)
}

/// The jobs at these ranges of places, which follow each other, as one workload with `setting`
/// added to its provenance. Times stay.
///
/// # Errors
/// None for ranges in ascending order within the workload; places beyond are ignored.
///
/// Cost: O(n).
pub fn cut_pieces(workload: &Workload, ranges: &[Range<usize>], setting: Setting) -> Result<Workload, WorkloadError> {
    let mut places: Vec<Option<JobId>> = vec![None; workload.len()];
    let (mut jobs, mut truth) = (Vec::new(), Vec::new());
    for at in ranges.iter().cloned().flatten().filter(|&at| at < workload.len()) {
        places[at] = Some(JobId(jobs.len() as u32));
        jobs.push(workload.jobs()[at].clone());
        truth.push(workload.truth()[at].clone());
    }
    let (machine, resources) = (workload.machine(), workload.resources().cloned());
    let mut provenance = workload.provenance.clone();
    provenance.settings.push(setting);
    let shapes = workload.shapes().map(|shapes| Arc::new(shapes.restrict_to(|place| places[place].is_some())));
    let new_workload = Workload::with_resources(machine, resources, jobs, truth, provenance)?.with_shapes(shapes);
    match workload.circumstances() {
        None => Ok(new_workload),
        Some(circumstances) => new_workload.with_circumstances(circumstances.restrict_to(|job| places[job.index()])),
    }
}
