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
    pub(super) fn of(site: &SiteInput, _workload: &Workload) -> SiteWords {
        SiteWords { never: site.never() }
    }

    pub(super) fn headline(&self, _id: JobId) -> Option<String> {
        match self.never {}
    }

    pub(super) fn find(&self, _name: &str) -> Option<JobId> {
        match self.never {}
    }
}

impl StoryWords for SiteWords {
    fn moment(&self, _at: Time) -> String {
        match self.never {}
    }

    fn span(&self, _span: Span) -> String {
        match self.never {}
    }

    fn change(&self, _by: Span) -> String {
        match self.never {}
    }

    fn job(&self, _id: JobId, _number: i64) -> String {
        match self.never {}
    }

    fn beside(&self, _id: JobId) -> String {
        match self.never {}
    }
}
