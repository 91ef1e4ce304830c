//! Values of changes: amounts, limits, borders, times and people, and their texts.

use super::scan::quote_name;
use drystone::log::transform::LoadFactor;
use drystone::model::Span;
use std::fmt;

/// A number that is added, taken away, or put in the place of another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NodeAmount {
    /// So many more, or fewer.
    By(i64),
    To(u32),
    /// So many percent more, or fewer.
    Percent(f64),
}

impl NodeAmount {
    /// The number that becomes of another; `None` for less than none or more than can be counted.
    pub fn apply_to(self, now: u32) -> Option<u32> {
        match self {
            NodeAmount::By(more) => u32::try_from(i64::from(now).checked_add(more)?).ok(),
            NodeAmount::To(number) => Some(number),
            NodeAmount::Percent(percent) => {
                let number = (f64::from(now) * (1.0 + percent / 100.0)).round();
                (number >= 0.0 && number <= f64::from(u32::MAX)).then_some(number as u32)
            }
        }
    }
}

/// Treatment of a job that asks for more than the longest limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Longer {
    /// Its work is split into pieces, each submitted when the one before has ended. A piece after
    /// the first begins with this overhead, in which it does no work.
    Split(Span),
    /// It is refused: its user does not submit it.
    Refused,
}

/// A rule for the limits that users give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitRule {
    Times(LoadFactor),
    /// The limit times this percentile of the run times by limits of the user's jobs that had
    /// ended.
    Percentile(u8),
    /// The run time.
    Exact,
}

/// A way in which jobs come to arrive at another load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrivalChange {
    /// Submit times are divided by the factor.
    Compressed,
    /// Days of users are drawn: more load repeats some in other weeks, less leaves some out.
    Resampled,
}

/// Quantity that a border of partitions divides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bordered {
    /// The nodes of a job, rounded up.
    Nodes,
    /// The processors of a job, as its pool counts them.
    Procs,
    /// The limit of a job, in seconds.
    Limit,
}

/// A border between partitions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Border {
    /// The partition of the jobs on this side.
    pub partition: String,
    /// Quantity compared.
    pub what: Bordered,
    /// Jobs up to the border, else those above it.
    pub at_most: bool,
    /// The border; a job on it is on the side of smaller jobs.
    pub value: i64,
    /// The partition of jobs that leave; `None`: the default one, or the largest other one.
    pub others: Option<String>,
}

/// A time that nodes are out: maintenance, or a reservation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Closure {
    /// Local time of the site, `2026-12-03T08:00`, or `@` and a second of the log.
    pub begin: String,
    pub length: Span,
    /// So many nodes; `None`: all.
    pub nodes: Option<u32>,
    /// Of this partition or pool, or these nodes as a hostlist; `None`: of the site.
    pub of: Option<String>,
}

/// Nodes from a time on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodesFrom {
    /// A partition, a pool, or nodes as a hostlist.
    pub of: String,
    /// Local time of the site, or `@` and a second of the log.
    pub begin: String,
}

/// Amount of a counted resource, for good or for some time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SupplyAmount {
    /// Name of the resource; for a licence its own name is enough.
    pub resource: String,
    /// The amount: a whole number, or a size with a unit.
    pub amount: String,
    /// Beginning, a local time of the site or `@` and a second of the log; `None`: the beginning of
    /// the log.
    pub from: Option<String>,
    /// End, in the same forms; `None`: for good.
    pub until: Option<String>,
    /// True if it is announced two weeks before.
    pub announced: bool,
}

/// Jobs that are left out: those of one user, account or QOS.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LeftOut {
    User(String),
    Account(String),
    Qos(String),
}

/// An amount of memory of a node, in megabytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MemoryAmount {
    /// So many more, or fewer.
    By(i64),
    To(u64),
    /// So many percent more, or fewer.
    Percent(f64),
}

impl MemoryAmount {
    /// The memory that becomes of another; `None` for less than one megabyte or more than can be
    /// counted.
    pub fn apply_to(self, now: u64) -> Option<u64> {
        let most = 1_u64 << 40;
        let new_memory = match self {
            MemoryAmount::By(more) => now.checked_add_signed(more)?,
            MemoryAmount::To(megabytes) => megabytes,
            MemoryAmount::Percent(percent) => (now as f64 * (1.0 + percent / 100.0)).round() as u64,
        };
        (1..=most).contains(&new_memory).then_some(new_memory)
    }
}

impl fmt::Display for NodeAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeAmount::By(more) => write!(f, "{more:+}"),
            NodeAmount::To(number) => write!(f, "{number}"),
            NodeAmount::Percent(percent) => write!(f, "{percent:+}%"),
        }
    }
}

impl fmt::Display for MemoryAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = |megabytes: u64| if megabytes.is_multiple_of(1 << 10) { (1 << 10, 'G') } else { (1, 'M') };
        match self {
            MemoryAmount::By(more) => {
                let (by, unit) = unit(more.unsigned_abs());
                write!(f, "{:+}{unit}", more / by as i64)
            }
            MemoryAmount::To(megabytes) => {
                let (by, unit) = unit(*megabytes);
                write!(f, "{}{unit}", megabytes / by)
            }
            MemoryAmount::Percent(percent) => write!(f, "{percent:+}%"),
        }
    }
}

impl fmt::Display for Border {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Border { partition, what, at_most, value, others } = self;
        let sign = if *at_most { "<=" } else { ">" };
        let (quantity, value) = match what {
            Bordered::Nodes => ("nodes", value.to_string()),
            Bordered::Procs => ("procs", value.to_string()),
            Bordered::Limit => ("limit", format_length(Span(*value))),
        };
        write!(f, "{}: {quantity}{sign}{value}", quote_name(partition))?;
        others.iter().try_for_each(|name| write!(f, " else {}", quote_name(name)))
    }
}

impl fmt::Display for Closure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.begin, format_length(self.length))?;
        self.nodes.iter().try_for_each(|nodes| write!(f, " {nodes}"))?;
        self.of.iter().try_for_each(|of| write!(f, " of {}", place_text(of)))
    }
}

/// A place as a text has it: in quotes where it holds a blank or a mark that ends it.
fn place_text(place: &str) -> String {
    let plain = !place.contains(|c: char| c.is_whitespace() || c == ';');
    if plain { place.to_string() } else { format!("\"{place}\"") }
}

impl fmt::Display for NodesFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {}", place_text(&self.of), self.begin)
    }
}

impl fmt::Display for SupplyAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.resource, self.amount)?;
        self.from.iter().try_for_each(|from| write!(f, " from {from}"))?;
        self.until.iter().try_for_each(|until| write!(f, " to {until}"))?;
        f.write_str(if self.announced { "" } else { " unannounced" })
    }
}

/// A length of time in its largest whole unit.
pub(super) fn format_length(span: Span) -> String {
    let units = [(86_400, "d"), (3_600, "h"), (60, "min")];
    let largest_unit = units.into_iter().find(|(seconds, _)| span.0 % seconds == 0 && span.0 > 0);
    largest_unit.map_or_else(|| format!("{}s", span.0), |(seconds, unit)| format!("{}{unit}", span.0 / seconds))
}
