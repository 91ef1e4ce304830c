//! Columns of texts as numbers: the jobs of an import have numbers for their texts already.

use super::columns::Text;
use crate::jobs::{LimitFrom, SiteJobFate};
use crate::rows::{Symbol, Symbols};
use crate::site::{Imported, Site, SiteJobs};
use crate::site_job::SiteJob;
use crate::text::RecordState;
use std::borrow::Cow;

pub(super) const NO_TEXT: u32 = u32::MAX;

pub(super) struct SiteCells<'a> {
    site: &'a Site,
    pools: Vec<&'a str>,
}

impl<'a> SiteCells<'a> {
    pub(super) fn for_site(site: &'a Site) -> SiteCells<'a> {
        SiteCells { site, pools: site.manifest.pools.iter().map(|pool| pool.name.as_str()).collect() }
    }

    pub(super) fn group_texts(&'a self) -> GroupTexts<'a> {
        match &self.site.jobs {
            SiteJobs::Imported(import) => GroupTexts { cells: self, imported: Some(import), found: Symbols::default() },
            SiteJobs::Loaded(_) => GroupTexts { cells: self, imported: None, found: Symbols::default() },
        }
    }
}

/// Numbers for the texts of some rows.
pub(super) struct GroupTexts<'a> {
    cells: &'a SiteCells<'a>,
    imported: Option<&'a Imported>,
    /// Texts of jobs that were not imported just now.
    found: Symbols,
}

fn place_of<T: PartialEq>(values: &[T], value: &T) -> u32 {
    values.iter().position(|entry| entry == value).map_or(NO_TEXT, |at| at as u32)
}

impl<'a> GroupTexts<'a> {
    /// A job; its texts may be left out where [`GroupTexts::text_code`] does without them.
    pub(super) fn job_at(&self, at: usize) -> SiteJob<'a> {
        match self.imported {
            Some(import) => import.without_texts(at),
            None => self.cells.site.job_at(at),
        }
    }

    /// The number of a text of a job, or [`NO_TEXT`].
    pub(super) fn text_code(&mut self, at: usize, job: &SiteJob<'a>, text: Text) -> u32 {
        let symbol = |symbol: Symbol| if symbol == Symbol(0) { NO_TEXT } else { symbol.0 };
        match text {
            Text::LimitFrom => return place_of(&LimitFrom::ALL, &job.limit_from),
            Text::Kind => return place_of(&SiteJobFate::ALL, &job.kind),
            Text::Pool => {
                return if usize::from(job.pool) < self.cells.pools.len() { job.pool.into() } else { NO_TEXT };
            }
            Text::JobMarks => return job.marks.0,
            _ => {}
        }
        let Some(import) = self.imported else {
            return symbol(self.found.intern(of_job(job, text).as_bytes()));
        };
        let row = import.row_at(at);
        let table = &import.table;
        match text {
            Text::User => symbol(table.owner_of(row).user),
            Text::Account => symbol(table.owner_of(row).account),
            Text::Group => symbol(table.owner_of(row).group),
            Text::Partition => symbol(table.place_of(row).partition),
            Text::Qos => symbol(table.place_of(row).qos),
            Text::Reservation => symbol(table.place_of(row).reservation),
            Text::Constraints => symbol(table.place_of(row).constraints),
            Text::Asks => symbol(table.place_of(row).asks),
            Text::Canceller => symbol(table.note_of(row).canceller),
            Text::Reason => symbol(table.note_of(row).reason),
            Text::NodeList => symbol(row.nodes),
            // Words that are known have the numbers behind those of all texts.
            Text::State if row.state == RecordState::Other => symbol(table.note_of(row).word),
            Text::State => table.names.len() as u32 + row.state as u32,
            Text::Swf if import.swf.get(at).is_some_and(|record| !record.is_empty()) => at as u32,
            _ => NO_TEXT,
        }
    }

    pub(super) fn code_text(&self, text: Text, code: u32) -> Cow<'_, str> {
        let at = code as usize;
        match (text, self.imported) {
            (Text::LimitFrom, _) => Cow::Borrowed(LimitFrom::ALL[at].name()),
            (Text::Kind, _) => Cow::Borrowed(SiteJobFate::ALL[at].name()),
            (Text::Pool, _) => Cow::Borrowed(self.cells.pools[at]),
            (Text::JobMarks, _) => Cow::Owned(crate::jobs::JobMarks(code).format_words()),
            (_, None) => self.found.text_of(Symbol(code)),
            (Text::NodeList, Some(import)) => import.table.node_lists.text_of(Symbol(code)),
            (Text::Swf, Some(import)) => Cow::Borrowed(import.swf[at].as_str()),
            (Text::State, Some(import)) => match at.checked_sub(import.table.names.len()) {
                Some(state) => Cow::Borrowed(RecordState::ALL[state].word()),
                None => import.table.names.text_of(Symbol(code)),
            },
            (_, Some(import)) => import.table.names.text_of(Symbol(code)),
        }
    }
}

/// The text itself, of those that are no numbers of their own.
fn of_job<'a, 'b>(job: &'b SiteJob<'a>, text: Text) -> &'b str {
    match text {
        Text::User => &job.user,
        Text::Account => &job.account,
        Text::Group => &job.group,
        Text::Partition => &job.partition,
        Text::Qos => &job.qos,
        Text::Reservation => &job.reservation,
        Text::Constraints => &job.constraints,
        Text::Asks => &job.asks,
        Text::State => &job.state,
        Text::Canceller => &job.canceller,
        Text::Reason => &job.reason,
        Text::NodeList => &job.node_list,
        Text::Swf => &job.swf,
        Text::LimitFrom | Text::Kind | Text::Pool | Text::JobMarks => "",
    }
}
