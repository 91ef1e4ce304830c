//! StoryWords of a site in a build without the feature `sites`: no input is a site.

use crate::site::SiteInput;
use drystone::engine::explain::StoryWords;
use drystone::model::{JobId, Span, Time, Workload};
use std::convert::Infallible;

/// StoryWords of a site: no value exists.
pub(super) struct SiteWords {
    never: Infallible,
}

impl SiteWords {
    pub(super) fn for_site(site: &SiteInput, _workload: &Workload) -> SiteWords {
        SiteWords { never: site.prove_absent() }
    }

    pub(super) fn format_headline(&self, _id: JobId) -> Option<String> {
        match self.never {}
    }

    pub(super) fn find_job(&self, _name: &str) -> Option<JobId> {
        match self.never {}
    }
}

impl StoryWords for SiteWords {
    fn format_moment(&self, _at: Time) -> String {
        match self.never {}
    }

    fn format_span(&self, _span: Span) -> String {
        match self.never {}
    }

    fn format_change(&self, _by: Span) -> String {
        match self.never {}
    }

    fn format_job(&self, _id: JobId, _number: i64) -> String {
        match self.never {}
    }

    fn lines_beside(&self, _id: JobId) -> String {
        match self.never {}
    }
}
