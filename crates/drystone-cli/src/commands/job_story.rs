//! A story of a job of a site in the site's own words: its dates, its names of jobs, and what was
//! recorded beside what is simulated.

use super::waits::causes::cause_words;
use crate::output::number::format_duration;
use crate::site::SiteInput;
use drystone::engine::explain::StoryWords;
use drystone::model::{JobId, Span, Time, Workload};
use drystone_site::clock::{self, Zone};
use drystone_site::waits::job_causes;
use drystone_site::{JobMarks, SiteJob, SiteJobFate};

/// Causes of a wait that are named.
const CAUSES: usize = 3;

pub(super) struct SiteWords<'a> {
    site: &'a SiteInput,
    workload: &'a Workload,
    zone: Zone,
    origin: i64,
}

impl<'a> SiteWords<'a> {
    pub(super) fn for_site(site: &'a SiteInput, workload: &'a Workload) -> SiteWords<'a> {
        let zone = Zone::from_name(&site.site.manifest.time_zone).unwrap_or_else(|_| Zone::utc_zone());
        SiteWords { site, workload, zone, origin: site.site.time_origin() }
    }

    fn find_record(&self, id: JobId) -> Option<SiteJob<'_>> {
        let place = *self.site.places.get(id.index())? as usize;
        (place < self.site.site.len()).then(|| self.site.site.job_at(place))
    }

    /// The job of a name such as `102_3`; of several attempts the first.
    pub(super) fn find_job(&self, name: &str) -> Option<JobId> {
        (0..self.workload.jobs().len())
            .map(|at| JobId(at as u32))
            .find(|&id| self.find_record(id).is_some_and(|job| job.display_name() == name))
    }

    /// One sentence on what the job waited for, as recorded; `None` where it did not wait.
    pub(super) fn format_headline(&self, id: JobId) -> Option<String> {
        let place = *self.site.places.get(id.index())? as usize;
        let job = self.find_record(id)?;
        let wait = job_causes(&self.site.site, place)?;
        let parts: Vec<String> = wait
            .causes
            .iter()
            .take(CAUSES)
            .map(|cause| format!("{} {}", format_duration(cause.seconds), cause_words(cause)))
            .collect();
        let source_note = if wait.has_reasons { "recorded" } else { "recorded; its causes follow from what ran" };
        Some(format!(
            "job {}: {} of waiting from {} ({source_note}): {}\n",
            job.display_name(),
            format_duration((wait.until - wait.since) as f64),
            self.format_local_time(wait.since),
            parts.join("; ")
        ))
    }

    fn format_local_time(&self, moment: i64) -> String {
        clock::format_second(self.zone.civil_time(moment))
    }
}

impl StoryWords for SiteWords<'_> {
    fn format_moment(&self, at: Time) -> String {
        self.format_local_time(self.origin.saturating_add(at.0))
    }

    fn format_span(&self, span: Span) -> String {
        format_duration(span.0 as f64)
    }

    fn format_change(&self, by: Span) -> String {
        super::log_words::format_signed(by)
    }

    fn format_job(&self, id: JobId, number: i64) -> String {
        self.find_record(id).map_or_else(|| number.to_string(), |job| job.display_name())
    }

    fn lines_beside(&self, id: JobId) -> String {
        let Some(job) = self.find_record(id) else { return String::new() };
        let mut sentence = match (job.kind, job.start, job.end) {
            (SiteJobFate::Ran | SiteJobFate::Running, Some(start), _) if job.marks.has_mark(JobMarks::NO_SUBMIT) => {
                format!("recorded: it started at {}; when it was submitted is not known", self.format_local_time(start))
            }
            (SiteJobFate::Ran | SiteJobFate::Running, Some(start), _) => {
                let wait = (start - job.arrive).max(0);
                format!(
                    "recorded: it started at {}, after {}",
                    self.format_local_time(start),
                    format_duration(wait as f64)
                )
            }
            (SiteJobFate::Withdrawn, _, Some(end)) => {
                format!("recorded: it never started, and left at {}", self.format_local_time(end))
            }
            _ => "recorded: it had not started when the records end".to_string(),
        };
        if !job.reason.is_empty() && job.reason != "None" {
            sentence.push_str(&format!("; its last reason to wait was {}", job.reason));
        }
        sentence.push_str(&format!("\nsimulated, in {}:", self.zone.name()));
        sentence
    }
}
