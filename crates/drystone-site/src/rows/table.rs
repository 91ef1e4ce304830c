//! The table of rows: one small record each, and what they share.

use super::FilePlace;
use super::places::FileNames;
use super::symbols::{Interner, Symbol, Symbols};
use super::usage::RowUsage;
use crate::text::{Amount, Flags, RecordLimit, RecordState, TaskSet};

/// No number: of an array, a task, a component.
pub(crate) const NONE: u64 = u64::MAX;

/// Submitter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Who {
    pub(crate) user: Symbol,
    pub(crate) account: Symbol,
    pub(crate) group: Symbol,
    /// Number of the user; `u32::MAX` where unknown.
    pub(crate) uid: u32,
}

/// Requested cluster, partition, QOS, reservation and constraints.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Where {
    pub(crate) cluster: Symbol,
    pub(crate) partition: Symbol,
    pub(crate) qos: Symbol,
    pub(crate) reservation: Symbol,
    pub(crate) constraints: Symbol,
    /// Demands beside processors.
    pub(crate) asks: Symbol,
}

/// Demand and allocation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct RowShape {
    pub(crate) asked: Amount,
    pub(crate) held: Amount,
    /// True if it asked for whole nodes.
    pub(crate) exclusive: bool,
}

/// Further facts of a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct RowNote {
    pub(crate) reason: Symbol,
    /// User who cancelled it.
    pub(crate) canceller: Symbol,
    /// The word for its state, where it is none that is known.
    pub(crate) word: Symbol,
    pub(crate) flags: Flags,
    /// Exit code and signal.
    pub(crate) exit: Option<(i16, i16)>,
}

/// One row. Times are seconds since 1970, 0 for unknown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccountingRow {
    /// Raw number of the job; [`NONE`].
    pub(crate) id: u64,
    /// Number of the array, or of the heterogeneous job it is part of; [`NONE`].
    pub(crate) of: u64,
    /// Task, component, or number of a set of tasks.
    pub(crate) part: u32,
    pub(crate) submit: u32,
    pub(crate) eligible: u32,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Seconds; `u32::MAX` where unknown.
    pub(crate) elapsed: u32,
    pub(crate) suspended: u32,
    /// Seconds, or one of the codes below.
    limit: u32,
    pub(crate) who: u32,
    pub(crate) at: u32,
    pub(crate) shape: u32,
    pub(crate) note: u32,
    pub(crate) nodes: Symbol,
    pub(crate) priority: u32,
    /// A number for the job's name; 0 where unknown.
    pub(crate) name: u32,
    /// Number of what it used, from 1; 0 where nothing is recorded.
    usage: u32,
    pub(crate) line: u32,
    pub(crate) file: u16,
    pub(crate) state: RecordState,
    kind: PartKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PartKind {
    Whole,
    Task,
    Tasks,
    Component,
}

/// Part of an array or a heterogeneous job that a row is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowPart {
    /// A job by itself.
    Whole,
    Task(u32),
    /// A set of tasks, by number.
    Tasks(u32),
    Component(u32),
}

const LIMIT_UNKNOWN: u32 = u32::MAX;
const LIMIT_PARTITION: u32 = u32::MAX - 1;
const LIMIT_UNLIMITED: u32 = u32::MAX - 2;

impl AccountingRow {
    /// A row of which nothing is known.
    pub(crate) fn empty_row() -> AccountingRow {
        AccountingRow {
            id: NONE,
            of: NONE,
            part: 0,
            submit: 0,
            eligible: 0,
            start: 0,
            end: 0,
            elapsed: u32::MAX,
            suspended: u32::MAX,
            limit: LIMIT_UNKNOWN,
            who: 0,
            at: 0,
            shape: 0,
            note: 0,
            nodes: Symbol(0),
            priority: u32::MAX,
            name: 0,
            usage: 0,
            line: 0,
            file: 0,
            state: RecordState::Other,
            kind: PartKind::Whole,
        }
    }

    pub(crate) fn set_limit(&mut self, limit: RecordLimit) {
        self.limit = match limit {
            RecordLimit::Unknown => LIMIT_UNKNOWN,
            RecordLimit::Partition => LIMIT_PARTITION,
            RecordLimit::Unlimited => LIMIT_UNLIMITED,
            RecordLimit::Seconds(seconds) => seconds.min(LIMIT_UNLIMITED - 1),
        };
    }

    pub(crate) fn limit(&self) -> RecordLimit {
        match self.limit {
            LIMIT_UNKNOWN => RecordLimit::Unknown,
            LIMIT_PARTITION => RecordLimit::Partition,
            LIMIT_UNLIMITED => RecordLimit::Unlimited,
            seconds => RecordLimit::Seconds(seconds),
        }
    }

    pub(crate) fn set_part(&mut self, part: RowPart) {
        (self.kind, self.part) = match part {
            RowPart::Whole => (PartKind::Whole, 0),
            RowPart::Task(task) => (PartKind::Task, task),
            RowPart::Tasks(set) => (PartKind::Tasks, set),
            RowPart::Component(offset) => (PartKind::Component, offset),
        };
    }

    pub(crate) fn part(&self) -> RowPart {
        match self.kind {
            PartKind::Whole => RowPart::Whole,
            PartKind::Task => RowPart::Task(self.part),
            PartKind::Tasks => RowPart::Tasks(self.part),
            PartKind::Component => RowPart::Component(self.part),
        }
    }

    pub(crate) fn place(&self) -> FilePlace {
        FilePlace { file: self.file, line: self.line }
    }
}

/// Rows per piece: pieces are not moved when the table grows.
const PIECE: usize = 1 << 16;

/// Rows in the order in which they were read.
#[derive(Default)]
pub(crate) struct AccountingRows {
    pieces: Vec<Vec<AccountingRow>>,
    len: usize,
}

impl AccountingRows {
    pub(crate) fn push(&mut self, row: AccountingRow) {
        if self.len == self.pieces.len() * PIECE {
            self.pieces.push(Vec::with_capacity(PIECE));
        }
        if let Some(piece) = self.pieces.last_mut() {
            piece.push(row);
            self.len += 1;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Drops all; a piece of memory stays.
    fn clear(&mut self) {
        self.pieces.truncate(1);
        self.pieces.iter_mut().for_each(Vec::clear);
        self.len = 0;
    }

    #[inline]
    pub(crate) fn get(&self, at: u32) -> &AccountingRow {
        let at = at as usize;
        &self.pieces[at / PIECE][at % PIECE]
    }

    pub(crate) fn get_mut(&mut self, at: u32) -> &mut AccountingRow {
        let at = at as usize;
        &mut self.pieces[at / PIECE][at % PIECE]
    }

    pub(crate) fn each_mut(&mut self, change: impl FnMut(&mut AccountingRow)) {
        self.pieces.iter_mut().flatten().for_each(change);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &AccountingRow> {
        self.pieces.iter().flatten()
    }
}

/// The rows with all they refer to.
#[derive(Default)]
pub(crate) struct AccountingTable {
    pub(crate) rows: AccountingRows,
    pub(crate) names: Symbols,
    pub(crate) node_lists: Symbols,
    pub(crate) who: Interner<Who>,
    pub(crate) at: Interner<Where>,
    pub(crate) shapes: Interner<RowShape>,
    pub(crate) notes: Interner<RowNote>,
    /// Sets of tasks that rows stand for.
    pub(crate) sets: Vec<TaskSet>,
    /// Use by jobs of what they held.
    usages: Vec<RowUsage>,
    pub(crate) files: FileNames,
    /// Files whose job numbers may be those of several jobs: no output of sacct.
    pub(crate) unkeyed: std::collections::BTreeSet<u16>,
    /// Files without a column for ends: what has a run time and no state has ended.
    pub(crate) endless: std::collections::BTreeSet<u16>,
}

impl AccountingTable {
    pub(crate) fn shape_of(&self, row: &AccountingRow) -> &RowShape {
        self.shapes.get(row.shape)
    }

    pub(crate) fn place_of(&self, row: &AccountingRow) -> &Where {
        self.at.get(row.at)
    }

    pub(crate) fn owner_of(&self, row: &AccountingRow) -> &Who {
        self.who.get(row.who)
    }

    pub(crate) fn note_of(&self, row: &AccountingRow) -> &RowNote {
        self.notes.get(row.note)
    }

    /// Returns the use that the row's job made of what it held.
    #[inline]
    pub(crate) fn usage_of(&self, row: &AccountingRow) -> RowUsage {
        if row.usage == 0 {
            return RowUsage::UNKNOWN;
        }
        let at = (row.usage as usize).checked_sub(1);
        at.and_then(|at| self.usages.get(at)).copied().unwrap_or(RowUsage::UNKNOWN)
    }

    /// Changes what the job of a row used.
    pub(crate) fn change_usage(&mut self, at: u32, change: impl FnOnce(&mut RowUsage)) {
        let row = self.rows.get_mut(at);
        if row.usage == 0 {
            self.usages.push(RowUsage::UNKNOWN);
            row.usage = self.usages.len() as u32;
        }
        if let Some(usage) = self.usages.get_mut(row.usage as usize - 1) {
            change(usage);
        }
    }

    /// Drops all but the names of files; the memory stays.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.names.clear();
        self.node_lists.clear();
        self.who.clear();
        self.at.clear();
        self.shapes.clear();
        self.notes.clear();
        self.sets.clear();
        self.usages.clear();
    }

    /// Takes the rows of another table behind its own. Returns what its names are called here, by
    /// their numbers there.
    pub(crate) fn absorb_rows(&mut self, table: &AccountingTable) -> Vec<Symbol> {
        let names: Vec<Symbol> =
            table.names.all_symbols().map(|name| self.names.intern(table.names.bytes_of(name))).collect();
        let lists: Vec<Symbol> = table
            .node_lists
            .all_symbols()
            .map(|list| self.node_lists.intern(table.node_lists.bytes_of(list)))
            .collect();
        let new_symbol = |symbol: Symbol| names[symbol.0 as usize];
        let owners = table.who.items().iter().map(|person| {
            let Who { user, account, group, uid } = *person;
            self.who.intern(Who { user: new_symbol(user), account: new_symbol(account), group: new_symbol(group), uid })
        });
        let owner_numbers: Vec<u32> = owners.collect();
        let at = table.at.items().iter().map(|at| {
            self.at.intern(Where {
                cluster: new_symbol(at.cluster),
                partition: new_symbol(at.partition),
                qos: new_symbol(at.qos),
                reservation: new_symbol(at.reservation),
                constraints: new_symbol(at.constraints),
                asks: new_symbol(at.asks),
            })
        });
        let at: Vec<u32> = at.collect();
        let shapes: Vec<u32> = table.shapes.items().iter().map(|&shape| self.shapes.intern(shape)).collect();
        let notes = table.notes.items().iter().map(|note| {
            let RowNote { reason, canceller, word, flags, exit } = *note;
            self.notes.intern(RowNote {
                reason: new_symbol(reason),
                canceller: new_symbol(canceller),
                word: new_symbol(word),
                flags,
                exit,
            })
        });
        let notes: Vec<u32> = notes.collect();
        let sets = self.sets.len() as u32;
        self.sets.extend(table.sets.iter().cloned());
        let usages = self.usages.len() as u32;
        self.usages.extend_from_slice(&table.usages);
        for row in table.rows.iter() {
            let mut row = *row;
            row.who = owner_numbers[row.who as usize];
            row.at = at[row.at as usize];
            row.shape = shapes[row.shape as usize];
            row.note = notes[row.note as usize];
            row.nodes = lists[row.nodes.0 as usize];
            row.usage = if row.usage == 0 { 0 } else { usages + row.usage };
            if let RowPart::Tasks(set) = row.part() {
                row.set_part(RowPart::Tasks(sets + set));
            }
            self.rows.push(row);
        }
        names
    }

    /// Returns whether the row names nodes, and not that none were assigned.
    pub(crate) fn has_nodes(&self, row: &AccountingRow) -> bool {
        row.nodes != Symbol(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_small() {
        assert_eq!(size_of::<AccountingRow>(), 88);
    }

    #[test]
    fn limits_and_parts_come_back() {
        let mut row = AccountingRow::empty_row();
        for limit in [
            RecordLimit::Unknown,
            RecordLimit::Partition,
            RecordLimit::Unlimited,
            RecordLimit::Seconds(0),
            RecordLimit::Seconds(86_400),
        ] {
            row.set_limit(limit);
            assert_eq!(row.limit(), limit);
        }
        for part in [RowPart::Whole, RowPart::Task(7), RowPart::Tasks(3), RowPart::Component(1)] {
            row.set_part(part);
            assert_eq!(row.part(), part);
        }
    }
}
