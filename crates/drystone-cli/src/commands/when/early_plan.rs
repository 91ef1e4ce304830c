//! Plan by time limits. It is ready at once, to be read while answers are rehearsed.

use super::clock::TimeRounding::Up;
use super::clock::ZoneClock;
use super::scene::WhenScene;
use crate::args::{StoryFormat, WhenArgs};
use crate::output::number::format_plural;
use crate::progress;
use drystone::model::JobId;
use drystone_when::{Forecaster, FutureError, RunTimes};

/// Largest number of jobs of the plan that are shown.
const MOST: usize = 12;

/// Returns the planned starts of the first waiting jobs, a line each. Returns `None` if the output
/// is not a watched terminal, no job waits for room, or the job asked about is not submitted yet.
///
/// # Errors
/// A policy that cannot be simulated forward.
pub(super) fn early_plan(
    args: &WhenArgs,
    scene: &WhenScene,
    forecaster: &mut Forecaster,
    clock: &ZoneClock,
) -> Result<Option<String>, FutureError> {
    let is_read = args.format == StoryFormat::Text && args.text.is_none() && args.procs.is_none();
    if !is_read || progress::nobody_watches() {
        return Ok(None);
    }
    let adoption = scene.adopt_jobs()?;
    let describe = |&id: &JobId| {
        let job = *adoption.jobs.get(id.0 as usize)?;
        Some((id, job, scene.job_name(job).0))
    };
    let is_asked = |job: usize, name: &str| {
        args.job.as_ref().is_none_or(|job_name| job_name == name) && scene.is_of(job, args.partition.as_deref())
    };
    let waiting_jobs: Vec<JobId> = adoption.session.view().waiting_jobs().collect();
    let rows: Vec<(JobId, String)> = (waiting_jobs.iter().filter_map(describe))
        .filter(|(_, job, name)| is_asked(*job, name))
        .map(|(id, _, name)| (id, name))
        .collect();
    let ids: Vec<JobId> = rows.iter().take(MOST).map(|(id, _)| *id).collect();
    if ids.is_empty() {
        return Ok(None);
    }
    let starts = forecaster.point_starts(&adoption.session, &ids, RunTimes::Limits)?;
    let mut text = "planned starts if every job ran to its limit and no other job came (forecasts follow):".to_string();
    for ((_, name), start) in rows.iter().zip(starts) {
        let start = start.map_or("not within 14 days".to_string(), |start| clock.day_and_hour(scene.now, start, Up));
        text += &format!("\n  job {name}  {start}");
    }
    if rows.len() > MOST {
        text += &format!("\n  and {}", format_plural((rows.len() - MOST) as u64, "more job"));
    }
    Ok(Some(text))
}
