//! Capacity over time: nodes that were down, drained or reserved, and jobs that start when they
//! started.

mod events;
mod reservations;
mod timeline;

pub(crate) use events::{NodeEvent, read_events};
pub(crate) use reservations::{SiteReservation, of_pbs, read_reservations, read_scontrol};
pub(crate) use timeline::{Closures, TimelineInputs, build_timeline, nodes_out};

use crate::clock::{Local, Zone};
use crate::error::SiteError;
use crate::text::{TimeForm, When};
use serde::{Deserialize, Serialize};

drystone::word_enum! {
    /// Reason why a part of a pool was out.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Cause {
        /// Nodes failed or were drained.
        Down = "down",
        /// Nodes were reserved, for maintenance or for others.
        Reservation = "reservation",
        /// A job ran within a reservation of which nothing else is known.
        ReservedJob = "reserved-job",
        /// The cluster counted fewer processors.
        Cluster = "cluster",
        /// A node that the description lacks was not there yet, or no longer.
        NewNode = "new-node",
    }
}

/// Units of a pool that were out for some time. Times are seconds since 1970.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PoolLoss {
    pub pool: u16,
    pub begin: i64,
    /// End; `None` beyond the records.
    pub end: Option<i64>,
    pub units: u32,
    /// Time at which the scheduler knew; `None`: when it began.
    pub announced: Option<i64>,
    pub cause: Cause,
}

/// A node, or processors of it, that were out for some time. Times are seconds since 1970.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NodeLoss {
    pub pool: u16,
    pub begin: i64,
    /// End; `None` beyond the records.
    pub end: Option<i64>,
    /// The node; empty where the records do not say which.
    pub node: String,
    /// Number of its processors; `None` for all.
    pub cpus: Option<u32>,
    /// Time at which the scheduler knew; `None`: when it began.
    pub announced: Option<i64>,
    pub cause: Cause,
}

/// Time for which a reservation is known ahead, in seconds: its creation is not recorded.
pub(crate) const AHEAD: i64 = 14 * 86_400;

/// The times of tables beside the jobs.
pub(crate) struct SheetTimes<'a> {
    pub(crate) form: &'a TimeForm,
    pub(crate) zone: Option<&'a Zone>,
}

impl SheetTimes<'_> {
    /// A moment; `None` for "not yet" and what is none.
    ///
    /// # Errors
    /// It has no zone, and none was given.
    pub(crate) fn parse_moment(&self, text: &str, place: &str) -> Result<Option<i64>, SiteError> {
        match (self.form.read_time(text.trim().as_bytes()), self.zone) {
            (Ok(When::Epoch(moment)), _) => Ok(Some(moment)),
            (Ok(When::Civil(civil)), Some(zone)) => Ok(Some(match zone.resolve_local(civil) {
                Local::Once(at) | Local::Twice(at, _) | Local::Skipped(at) => at,
            })),
            (Ok(When::Civil(civil)), None) => {
                Err(SiteError::NoZone { place: place.to_string(), time: crate::clock::format_moment(civil) })
            }
            (Ok(When::Unknown) | Err(_), _) => Ok(None),
        }
    }
}

/// A table with a header line: names in small letters without blanks, and rows with their lines.
pub(crate) struct TextSheet<'a> {
    names: Vec<String>,
    rows: Vec<(usize, Vec<&'a str>)>,
}

impl<'a> TextSheet<'a> {
    pub(crate) fn read_sheet(text: &'a str) -> TextSheet<'a> {
        let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let header = lines.next().map_or("", |(line, _)| line);
        let delimiter = ['|', '\t', ',', ';'].into_iter().find(|d| header.contains(*d)).unwrap_or('|');
        let plain =
            |name: &str| name.chars().filter(char::is_ascii_alphanumeric).flat_map(char::to_lowercase).collect();
        let names = header.split(delimiter).map(plain).collect();
        TextSheet { names, rows: lines.map(|(line, number)| (number, line.split(delimiter).collect())).collect() }
    }

    /// The rows, each as a function from names of a column to its value; of several names the first
    /// that is there.
    pub(crate) fn named_rows(&self) -> impl Iterator<Item = (usize, impl Fn(&[&str]) -> &'a str + '_)> + '_ {
        self.rows.iter().map(move |(line, values)| {
            let get = move |names: &[&str]| {
                let at = names.iter().find_map(|name| self.names.iter().position(|column| column == name));
                at.and_then(|at| values.get(at).copied()).unwrap_or_default().trim()
            };
            (*line, get)
        })
    }
}
