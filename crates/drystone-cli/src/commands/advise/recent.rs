//! The last part of a long log, of which an answer takes minutes.

use crate::args::AdviseArgs;
use crate::exit::CommandFailure;
use crate::input::WorkloadInput;
use drystone::model::{Span, Time};
use drystone_report::number::format_count;
use serde::Serialize;

/// Largest number of jobs of a log that is simulated whole.
const WHOLE: usize = 100_000;
/// Number of jobs of a longer log that are simulated: the last ones.
const RECENT: usize = 40_000;
/// Length in weeks that these jobs span at least; more jobs are simulated where they span less.
const WEEKS: i64 = 26;

/// Last part of a long log.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RecentPart {
    jobs: usize,
    /// Number of jobs of the whole log.
    of: usize,
    /// The part as `--slice` takes it.
    slice: String,
}

impl RecentPart {
    /// The part in words, with the option that takes all.
    pub(super) fn format_sentence(&self) -> String {
        let (jobs, of) = (format_count(self.jobs as u64), format_count(self.of as u64));
        format!("the last {jobs} of {of} jobs are simulated (--slice {}); --slice .. takes all", self.slice)
    }
}

/// Input of a question: of a long log, its last part.
pub(super) struct RecentInput {
    pub(super) args: AdviseArgs,
    pub(super) input: WorkloadInput,
    /// `None` for a log that is simulated whole, or of which the user names a part.
    pub(super) part: Option<RecentPart>,
}

/// Reads a log, and cuts one of very many jobs as `--slice` would, unless the user names a part.
/// The part depends on the submissions alone, never on the result of a simulation.
pub(super) fn read_recent(args: &AdviseArgs) -> Result<RecentInput, CommandFailure> {
    let read_input = |args: &AdviseArgs| {
        WorkloadInput::read_whole(args.source.path(), (&args.log, &args.cut, &args.real), args.seed)
    };
    let (mut args, mut input) = (args.clone(), read_input(args)?);
    let is_cut = args.cut.slice.is_some() || args.cut.month.is_some() || args.cut.windows.is_some();
    let submits: Vec<Time> = input.workload.jobs().iter().map(|job| job.submit).collect();
    let is_whole = !is_cut && !args.log.moves_arrivals() && args.real.warm_start.is_none();
    let Some(from) = find_recent_begin(&submits).filter(|_| is_whole) else {
        return Ok(RecentInput { args, input, part: None });
    };
    let slice = format!("{}..", from.0);
    args.cut.slice = Some(slice.clone());
    let first = submits.partition_point(|&submit| submit < from);
    input = match input.site {
        // A site also refers to jobs by their places in the records, which the cut changes.
        Some(_) => read_input(&args)?,
        None => input.cut_piece(first..submits.len(), "slice", &slice)?,
    };
    let part = RecentPart { jobs: input.workload.len(), of: submits.len(), slice };
    Ok(RecentInput { args, input, part: Some(part) })
}

/// Returns the time of the first job that is simulated; `None` for all jobs. `submits` ascend.
fn find_recent_begin(submits: &[Time]) -> Option<Time> {
    let (first, last) = (*submits.first()?, *submits.last()?);
    let enough = submits.len().checked_sub(RECENT).filter(|_| submits.len() > WHOLE)?;
    let from = submits[enough].min(last - Span(WEEKS * Span::WEEK.0));
    (from > first).then_some(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_is_cut_to_jobs_or_weeks_whichever_is_more() {
        let each = |jobs: i64, seconds: i64| -> Vec<Time> { (0..jobs).map(|at| Time(7 + at * seconds)).collect() };
        assert_eq!(find_recent_begin(&[]), None);
        assert_eq!(find_recent_begin(&each(100_000, 900)), None);
        // One job in a quarter of an hour: 40,000 jobs span 59 weeks.
        assert_eq!(find_recent_begin(&each(200_000, 900)), Some(Time(7 + 160_000 * 900)));
        // One job in a minute and a half: 40,000 jobs span 6 weeks, and 26 weeks have 174,720 jobs.
        assert_eq!(find_recent_begin(&each(200_000, 90)), Some(Time(7 + 199_999 * 90 - 26 * 7 * 86_400)));
        assert_eq!(find_recent_begin(&each(150_000, 90)), None, "less than 26 weeks in all");
    }
}
