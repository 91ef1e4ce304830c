//! Long logs: the last weeks, so that an answer takes minutes.

use crate::args::AdviseArgs;
use crate::exit::CommandFailure;
use crate::input::WorkloadInput;
use drystone::model::{Span, Time};
use drystone_report::number::count;
use serde::Serialize;

/// Jobs up to which a log is simulated whole.
const WHOLE: usize = 100_000;
/// Jobs that are simulated of a longer one, and weeks at least.
const RECENT: usize = 40_000;
const WEEKS: i64 = 26;

/// Last part of a long log.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RecentPart {
    /// Jobs that are simulated, of so many.
    jobs: usize,
    of: usize,
    /// The part as `--slice` has it.
    slice: String,
}

impl RecentPart {
    pub(super) fn sentence(&self) -> String {
        let (jobs, of) = (count(self.jobs as u64), count(self.of as u64));
        format!("the last {jobs} of {of} jobs are simulated (--slice {}); --slice .. takes all", self.slice)
    }
}

/// The input of a question, cut where it is long.
pub(super) struct RecentInput {
    pub(super) args: AdviseArgs,
    pub(super) input: WorkloadInput,
    /// `None` for a log that is taken whole, or of which a part is asked for.
    pub(super) part: Option<RecentPart>,
}

/// Reads a log, and cuts one of very many jobs as `--slice` would, unless a part of it is asked
/// for. The part depends on the submits alone, never on what a simulation says.
pub(super) fn read_recent(args: &AdviseArgs) -> Result<RecentInput, CommandFailure> {
    let read =
        |args: &AdviseArgs| WorkloadInput::whole(args.source.path(), (&args.log, &args.cut, &args.real), args.seed);
    let (mut args, mut input) = (args.clone(), read(args)?);
    let asked = args.cut.slice.is_some() || args.cut.month.is_some() || args.cut.windows.is_some();
    let submits: Vec<Time> = input.workload.jobs().iter().map(|job| job.submit).collect();
    let from = recent_from(&submits).filter(|_| !asked && !args.log.moves() && args.real.warm_start.is_none());
    let Some(from) = from else { return Ok(RecentInput { args, input, part: None }) };
    let slice = format!("{}..", from.0);
    args.cut.slice = Some(slice.clone());
    let first = submits.partition_point(|&submit| submit < from);
    input = match input.site {
        // Places of its jobs in the records change as well.
        Some(_) => read(&args)?,
        None => input.piece(first..submits.len(), "slice", &slice)?,
    };
    let part = RecentPart { jobs: input.workload.len(), of: submits.len(), slice };
    Ok(RecentInput { args, input, part: Some(part) })
}

/// The time from which on jobs are simulated; `None` for all. `submits` ascend.
fn recent_from(submits: &[Time]) -> Option<Time> {
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
        assert_eq!(recent_from(&[]), None);
        assert_eq!(recent_from(&each(100_000, 900)), None);
        // One in a quarter of an hour: 40,000 are 59 weeks.
        assert_eq!(recent_from(&each(200_000, 900)), Some(Time(7 + 160_000 * 900)));
        // One in a minute and a half: 40,000 are 6 weeks, and 26 weeks have 174,720.
        assert_eq!(recent_from(&each(200_000, 90)), Some(Time(7 + 199_999 * 90 - 26 * 7 * 86_400)));
        assert_eq!(recent_from(&each(150_000, 90)), None, "less than 26 weeks in all");
    }
}
