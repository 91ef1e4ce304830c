//! Fate of a row's job, and the order of its times.

use super::{Kind, NOTHING};
use crate::rows::{Row, Table};
use crate::rules::Rule;
use crate::text::{State, UNKNOWN};

/// A row's times, settled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Times {
    pub(super) kind: Kind,
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
}

/// Returns the fate of a row's job: ran, never ran, waits or runs. `lists` is whether any row names
/// nodes: where none does, it proves nothing that this one does not.
pub(super) fn kind(table: &Table, row: &Row, lists: bool) -> Kind {
    let state = row.state;
    if row.end == 0 && !has_run_time(row) {
        return match (state, row.start > 0) {
            (State::Pending | State::Configuring | State::Other | State::Requeued, false) => Kind::Waiting,
            (_, true) if state.is_on() || state == State::Other => Kind::Running,
            (_, false) if state.is_on() => Kind::Running,
            (_, true) if named_or_held(table, row, lists) => Kind::Ran,
            _ => Kind::Withdrawn,
        };
    }
    if state == State::Pending || state == State::Configuring {
        return Kind::Waiting;
    }
    if row.end == 0 && (state.is_on() || state == State::Other) {
        return Kind::Running;
    }
    // What is on has no end yet, even if an expected one is printed.
    if state.is_on() && state != State::Resizing && state != State::Completing {
        return Kind::Running;
    }
    let ran = if has_run_time(row) { has_nodes(table, row, lists) } else { named_or_held(table, row, lists) };
    if ran && (row.start > 0 || has_run_time(row)) { Kind::Ran } else { Kind::Withdrawn }
}

fn has_run_time(row: &Row) -> bool {
    row.elapsed != NOTHING && row.elapsed > 0
}

/// Returns whether it had nodes: they are named or counted, or nothing is said.
fn has_nodes(table: &Table, row: &Row, lists: bool) -> bool {
    let counted = table.shape(row).held.nodes;
    let held = table.shape(row).held.cpus;
    // What held processors from a start to an end ran, whether or not its nodes are named.
    let ran = row.start > 0 && row.end > row.start && held != UNKNOWN && held > 0;
    table.has_nodes(row) || (counted != UNKNOWN && counted > 0) || (counted == UNKNOWN && (!lists || ran))
}

/// Of a job without run time: an allocation proves no start, since old versions show the request
/// there; a list of nodes does. Where no row has a list, an end behind the start or, of a job that
/// ended as it started, how it ended has to do.
fn named_or_held(table: &Table, row: &Row, lists: bool) -> bool {
    if table.has_nodes(row) {
        return true;
    }
    let held = table.shape(row).held;
    if !lists && row.start > 0 && row.end > row.start && held.nodes != 0 && held.cpus != 0 {
        return true;
    }
    let ends_run =
        !matches!(row.state, State::Cancelled | State::Deadline | State::Revoked | State::NodeFail | State::BootFail);
    !lists && ends_run && row.start > 0 && table.shape(row).held.nodes != 0
}

/// The times, each known or derived from the others.
///
/// # Errors
/// The rule that the row breaks.
pub(super) fn times(table: &Table, row: &Row, lists: bool) -> Result<Times, Rule> {
    let kind = kind(table, row, lists);
    let suspended = if row.suspended == NOTHING { 0 } else { row.suspended };
    let (mut submit, eligible) = (row.submit, row.eligible);
    let mut assumed = (false, false);
    if submit == 0 {
        submit = [eligible, row.start].into_iter().find(|&t| t > 0).ok_or(Rule::NoTimes)?;
        assumed = (eligible == 0, eligible > 0);
    }
    let late = eligible > 0 && submit > eligible;
    if late {
        submit = eligible;
    }
    let mut times = Times { kind, submit, eligible, start: 0, end: 0, run: NOTHING, late, assumed, derived: false };
    let first = submit.max(eligible);
    match kind {
        Kind::Waiting => {}
        Kind::Withdrawn => {
            times.end = row.end;
            if row.end > 0 && row.end < submit {
                return Err(Rule::TimeOrder);
            }
        }
        Kind::Running => {
            times.start = row.start;
            if row.start == 0 {
                return Err(Rule::NoStart);
            }
            if row.start < first {
                return Err(Rule::TimeOrder);
            }
        }
        Kind::Ran => {
            let length = (row.elapsed != NOTHING).then(|| row.elapsed.saturating_add(suspended));
            let (start, end) = match (row.start, row.end, length) {
                (0, _, None) => return Err(Rule::NoStart),
                (0, 0, _) => return Err(Rule::NoStart),
                (0, end, Some(length)) => (end.checked_sub(length).ok_or(Rule::NoStart)?, end),
                (start, 0, length) => (start, start.saturating_add(length.ok_or(Rule::NoEnd)?)),
                (start, end, _) => (start, end),
            };
            if end < start || start < first {
                return Err(Rule::TimeOrder);
            }
            (times.start, times.end) = (start, end);
            times.derived = row.start == 0 || row.end == 0;
            times.run = if row.elapsed == NOTHING { (end - start).saturating_sub(suspended) } else { row.elapsed };
        }
    }
    Ok(times)
}
