//! Fate of a row's job, and the order of its times.

use super::{NOTHING, SiteJobFate};
use crate::rows::{AccountingRow, AccountingTable};
use crate::rules::ImportRule;
use crate::text::{RecordState, UNKNOWN};

/// A row's times, settled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SettledTimes {
    pub(super) kind: SiteJobFate,
    pub(super) submit: u32,
    pub(super) eligible: u32,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Seconds that it ran; [`NOTHING`].
    pub(super) run: u32,
    /// The submission came after the eligibility.
    pub(super) late: bool,
    /// Its start stands for its submission; its eligibility does.
    pub(super) assumed: (bool, bool),
    /// Its start or its end follows from the other and the run time.
    pub(super) derived: bool,
    /// Its end less its start is not its run time, nor that and a suspension.
    pub(super) skewed: bool,
}

/// A suspension that no column says, and that is longer than this, is none: 30 days.
const SUSPENDED_MOST: u32 = 30 * 86_400;
/// Records round to seconds at both ends.
const ROUNDING: i64 = 2;

/// Returns the fate of a row's job: ran, never ran, waits or runs. `lists` is whether any row names
/// nodes: where none does, it proves nothing that this one does not.
pub(super) fn classify_fate(table: &AccountingTable, row: &AccountingRow, lists: bool) -> SiteJobFate {
    let state = row.state;
    if row.end == 0 && !has_run_time(row) {
        return match (state, row.start > 0) {
            (RecordState::Pending | RecordState::Configuring | RecordState::Other | RecordState::Requeued, false) => {
                SiteJobFate::Waiting
            }
            (_, true) if state.is_on() || state == RecordState::Other => SiteJobFate::Running,
            (_, false) if state.is_on() => SiteJobFate::Running,
            (_, true) if named_or_held(table, row, lists) => SiteJobFate::Ran,
            _ => SiteJobFate::Withdrawn,
        };
    }
    if state == RecordState::Pending || state == RecordState::Configuring {
        return SiteJobFate::Waiting;
    }
    let has_ended = state == RecordState::Other && table.endless.contains(&row.file);
    if row.end == 0 && !has_ended && (state.is_on() || state == RecordState::Other) {
        return SiteJobFate::Running;
    }
    // What is on has no end yet, even if an expected one is printed.
    if state.is_on() && state != RecordState::Resizing && state != RecordState::Completing {
        return SiteJobFate::Running;
    }
    let ran = if has_run_time(row) { has_nodes(table, row, lists) } else { named_or_held(table, row, lists) };
    if ran && (row.start > 0 || has_run_time(row)) { SiteJobFate::Ran } else { SiteJobFate::Withdrawn }
}

fn has_run_time(row: &AccountingRow) -> bool {
    row.elapsed != NOTHING && row.elapsed > 0
}

/// Returns whether it had nodes: they are named or counted, or nothing is said.
fn has_nodes(table: &AccountingTable, row: &AccountingRow, lists: bool) -> bool {
    let node_count = table.shape_of(row).held.nodes;
    let cpu_count = table.shape_of(row).held.cpus;
    // What held processors from a start to an end ran, whether or not its nodes are named.
    let ran = row.start > 0 && row.end > row.start && cpu_count != UNKNOWN && cpu_count > 0;
    table.has_nodes(row) || (node_count != UNKNOWN && node_count > 0) || (node_count == UNKNOWN && (!lists || ran))
}

/// Of a job without run time: an allocation proves no start, since old versions show the request
/// there; a list of nodes does. Where no row has a list, an end behind the start or, of a job that
/// ended as it started, how it ended has to do.
fn named_or_held(table: &AccountingTable, row: &AccountingRow, lists: bool) -> bool {
    if table.has_nodes(row) {
        return true;
    }
    let allocation = table.shape_of(row).held;
    if !lists && row.start > 0 && row.end > row.start && allocation.nodes != 0 && allocation.cpus != 0 {
        return true;
    }
    let ends_run = !matches!(
        row.state,
        RecordState::Cancelled
            | RecordState::Deadline
            | RecordState::Revoked
            | RecordState::NodeFail
            | RecordState::BootFail
    );
    !lists && ends_run && row.start > 0 && table.shape_of(row).held.nodes != 0
}

/// Returns the seconds that a job was suspended. Where the records have no such column, they are
/// what its run time lacks of its length, unless that is the hour of a change of the clocks.
pub(super) fn suspension_seconds(row: &AccountingRow) -> u32 {
    if row.suspended != NOTHING {
        return row.suspended;
    }
    if row.elapsed == NOTHING || row.start == 0 || row.end <= row.start {
        return 0;
    }
    let lacking = (row.end - row.start).saturating_sub(row.elapsed);
    let clock = lacking.abs_diff(3_600) <= 1 || lacking.abs_diff(1_800) <= 1;
    if lacking <= 1 || clock || lacking > SUSPENDED_MOST { 0 } else { lacking }
}

/// Returns whether a run time, with a suspension, is another than the time from start to end.
fn is_skewed(row: &AccountingRow, length: u32) -> bool {
    let duration = i64::from(row.end) - i64::from(row.start);
    row.start > 0 && row.end > 0 && row.elapsed > 0 && (duration - i64::from(length)).abs() > ROUNDING
}

/// The times, each known or derived from the others.
///
/// # Errors
/// The rule that the row breaks.
pub(super) fn settle_times(
    table: &AccountingTable,
    row: &AccountingRow,
    lists: bool,
) -> Result<SettledTimes, ImportRule> {
    let kind = classify_fate(table, row, lists);
    let (mut submit, eligible) = (row.submit, row.eligible);
    let mut assumptions = (false, false);
    if submit == 0 {
        submit = [eligible, row.start].into_iter().find(|&t| t > 0).ok_or(ImportRule::NoTimes)?;
        assumptions = (eligible == 0, eligible > 0);
    }
    let late = eligible > 0 && submit > eligible;
    if late {
        submit = eligible;
    }
    let mut times = SettledTimes {
        kind,
        submit,
        eligible,
        start: 0,
        end: 0,
        run: NOTHING,
        late,
        assumed: assumptions,
        derived: false,
        skewed: false,
    };
    let first = submit.max(eligible);
    match kind {
        SiteJobFate::Waiting => {}
        SiteJobFate::Withdrawn => {
            times.end = row.end;
            if row.end > 0 && row.end < submit {
                return Err(ImportRule::TimeOrder);
            }
        }
        SiteJobFate::Running => {
            times.start = row.start;
            if row.start == 0 {
                return Err(ImportRule::NoStart);
            }
            if row.start < first {
                return Err(ImportRule::TimeOrder);
            }
        }
        SiteJobFate::Ran => {
            let length = (row.elapsed != NOTHING).then(|| row.elapsed.saturating_add(suspension_seconds(row)));
            let (start, end) = match (row.start, row.end, length) {
                (0, _, None) => return Err(ImportRule::NoStart),
                (0, 0, _) => return Err(ImportRule::NoStart),
                (0, end, Some(length)) => (end.checked_sub(length).ok_or(ImportRule::NoStart)?, end),
                (start, 0, length) => (start, start.saturating_add(length.ok_or(ImportRule::NoEnd)?)),
                (start, end, _) => (start, end),
            };
            if end < start || start < first {
                return Err(ImportRule::TimeOrder);
            }
            (times.start, times.end) = (start, end);
            times.derived = row.start == 0 || row.end == 0;
            times.skewed = length.is_some_and(|length| is_skewed(row, length));
            // An end that lies months behind the run is no end of it.
            if let Some(length) =
                length.filter(|length| times.skewed && (end - start).saturating_sub(*length) > SUSPENDED_MOST)
            {
                times.end = start.saturating_add(length);
            }
            times.run = length.unwrap_or(end - start);
        }
    }
    Ok(times)
}
