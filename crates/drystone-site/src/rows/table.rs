//! The table of rows: one small record each, and what they share.

use super::Place;
use super::places::Files;
use super::symbols::{Interner, Symbol, Symbols};
use crate::text::{Amount, Flags, Limit, State, TaskSet};

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
pub(crate) struct Shape {
    pub(crate) asked: Amount,
    pub(crate) held: Amount,
    /// True if it asked for whole nodes.
    pub(crate) exclusive: bool,
}

/// Further facts of a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Note {
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
pub(crate) struct Row {
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
    /// Text of the list of nodes.
    pub(crate) nodes: Symbol,
    pub(crate) priority: u32,
    /// A number for the job's name; 0 where unknown.
    pub(crate) name: u32,
    pub(crate) line: u32,
    pub(crate) file: u16,
    pub(crate) state: State,
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
    /// This task.
    Task(u32),
    /// A set of tasks, by number.
    Tasks(u32),
    /// This component.
    Component(u32),
}

const LIMIT_UNKNOWN: u32 = u32::MAX;
const LIMIT_PARTITION: u32 = u32::MAX - 1;
const LIMIT_UNLIMITED: u32 = u32::MAX - 2;

impl Row {
    /// A row of which nothing is known.
    pub(crate) fn empty() -> Row {
        Row {
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
            line: 0,
            file: 0,
            state: State::Other,
            kind: PartKind::Whole,
        }
    }

    pub(crate) fn set_limit(&mut self, limit: Limit) {
        self.limit = match limit {
            Limit::Unknown => LIMIT_UNKNOWN,
            Limit::Partition => LIMIT_PARTITION,
            Limit::Unlimited => LIMIT_UNLIMITED,
            Limit::Seconds(seconds) => seconds.min(LIMIT_UNLIMITED - 1),
        };
    }

    pub(crate) fn limit(&self) -> Limit {
        match self.limit {
            LIMIT_UNKNOWN => Limit::Unknown,
            LIMIT_PARTITION => Limit::Partition,
            LIMIT_UNLIMITED => Limit::Unlimited,
            seconds => Limit::Seconds(seconds),
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

    pub(crate) fn place(&self) -> Place {
        Place { file: self.file, line: self.line }
    }
}

/// Rows per piece: pieces are not moved when the table grows.
const PIECE: usize = 1 << 16;

/// Rows in the order in which they were read.
#[derive(Default)]
pub(crate) struct Rows {
    pieces: Vec<Vec<Row>>,
    len: usize,
}

impl Rows {
    pub(crate) fn push(&mut self, row: Row) {
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
    pub(crate) fn get(&self, at: u32) -> &Row {
        let at = at as usize;
        &self.pieces[at / PIECE][at % PIECE]
    }

    pub(crate) fn get_mut(&mut self, at: u32) -> &mut Row {
        let at = at as usize;
        &mut self.pieces[at / PIECE][at % PIECE]
    }

    pub(crate) fn each_mut(&mut self, change: impl FnMut(&mut Row)) {
        self.pieces.iter_mut().flatten().for_each(change);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Row> {
        self.pieces.iter().flatten()
    }
}

/// The rows with all they refer to.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) rows: Rows,
    pub(crate) names: Symbols,
    pub(crate) node_lists: Symbols,
    pub(crate) who: Interner<Who>,
    pub(crate) at: Interner<Where>,
    pub(crate) shapes: Interner<Shape>,
    pub(crate) notes: Interner<Note>,
    /// Sets of tasks that rows stand for.
    pub(crate) sets: Vec<TaskSet>,
    pub(crate) files: Files,
}

impl Table {
    pub(crate) fn shape(&self, row: &Row) -> &Shape {
        self.shapes.get(row.shape)
    }

    pub(crate) fn at(&self, row: &Row) -> &Where {
        self.at.get(row.at)
    }

    pub(crate) fn who(&self, row: &Row) -> &Who {
        self.who.get(row.who)
    }

    pub(crate) fn note(&self, row: &Row) -> &Note {
        self.notes.get(row.note)
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
    }

    /// Takes the rows of another table behind its own. Returns what its names are called here, by
    /// their numbers there.
    pub(crate) fn absorb(&mut self, other: &Table) -> Vec<Symbol> {
        let names: Vec<Symbol> = other.names.all().map(|name| self.names.intern(other.names.bytes(name))).collect();
        let lists: Vec<Symbol> =
            other.node_lists.all().map(|list| self.node_lists.intern(other.node_lists.bytes(list))).collect();
        let named = |symbol: Symbol| names[symbol.0 as usize];
        let who = other.who.items().iter().map(|who| {
            let Who { user, account, group, uid } = *who;
            self.who.intern(Who { user: named(user), account: named(account), group: named(group), uid })
        });
        let who: Vec<u32> = who.collect();
        let at = other.at.items().iter().map(|at| {
            self.at.intern(Where {
                cluster: named(at.cluster),
                partition: named(at.partition),
                qos: named(at.qos),
                reservation: named(at.reservation),
                constraints: named(at.constraints),
                asks: named(at.asks),
            })
        });
        let at: Vec<u32> = at.collect();
        let shapes: Vec<u32> = other.shapes.items().iter().map(|&shape| self.shapes.intern(shape)).collect();
        let notes = other.notes.items().iter().map(|note| {
            let Note { reason, canceller, word, flags, exit } = *note;
            self.notes.intern(Note {
                reason: named(reason),
                canceller: named(canceller),
                word: named(word),
                flags,
                exit,
            })
        });
        let notes: Vec<u32> = notes.collect();
        let sets = self.sets.len() as u32;
        self.sets.extend(other.sets.iter().cloned());
        for row in other.rows.iter() {
            let mut row = *row;
            row.who = who[row.who as usize];
            row.at = at[row.at as usize];
            row.shape = shapes[row.shape as usize];
            row.note = notes[row.note as usize];
            row.nodes = lists[row.nodes.0 as usize];
            if let RowPart::Tasks(set) = row.part() {
                row.set_part(RowPart::Tasks(sets + set));
            }
            self.rows.push(row);
        }
        names
    }

    /// Returns whether the row names nodes, and not that none were assigned.
    pub(crate) fn has_nodes(&self, row: &Row) -> bool {
        row.nodes != Symbol(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_small() {
        assert_eq!(size_of::<Row>(), 88);
    }

    #[test]
    fn limits_and_parts_come_back() {
        let mut row = Row::empty();
        for limit in [Limit::Unknown, Limit::Partition, Limit::Unlimited, Limit::Seconds(0), Limit::Seconds(86_400)] {
            row.set_limit(limit);
            assert_eq!(row.limit(), limit);
        }
        for part in [RowPart::Whole, RowPart::Task(7), RowPart::Tasks(3), RowPart::Component(1)] {
            row.set_part(part);
            assert_eq!(row.part(), part);
        }
    }
}
