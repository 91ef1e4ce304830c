//! Changes of a site as values, and as texts.

use super::change_values::{
    ArrivalChange, Border, Bordered, Closure, LeftOut, LimitRule, Longer, MemoryAmount, NodeAmount, NodesFrom,
    SupplyAmount, format_length,
};
use super::limit_text::{ACCOUNT_LIMITS, QOS_LIMITS, read_limits};
use super::scan::{Scan, SiteChangeError, quote_name};
use super::setting_text;
use drystone::log::transform::LoadFactor;
use drystone::model::Span;
use drystone::text::find_nearest;
use drystone::times::{read_duration, read_moment};
use std::fmt;
use std::str::FromStr;

/// One change of a site or a log.
///
/// ```
/// use drystone_whatif::SiteChange;
///
/// let change: SiteChange = "nodes gpu:+8".parse()?;
/// assert_eq!(change.to_string(), "nodes gpu:+8");
/// # Ok::<(), drystone_whatif::SiteChangeError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub enum SiteChange {
    /// `nodes gpu:+8`: nodes of a partition or pool, each like those that are there.
    Nodes {
        /// The partition or pool; `None`: the only pool.
        of: Option<String>,
        /// Number of nodes.
        amount: NodeAmount,
        /// Time of their delivery; `None`: they are there from the beginning.
        from: Option<String>,
    },
    /// `nodes c[041-060] from 2026-12-03`: nodes of `slurm.conf` that are delivered then.
    Delivery(NodesFrom),
    /// `drain gpu from 2026-12-03`: nodes on which no job starts from then on; those that run run
    /// on.
    Drain(NodesFrom),
    /// `procs +64`: processors of a log's machine.
    Procs(NodeAmount),
    /// `memory gpu:+128G`: memory of each node of a partition or pool.
    Memory {
        /// The partition or pool; `None`: all nodes.
        of: Option<String>,
        /// Memory of a node.
        amount: MemoryAmount,
    },
    /// `limit-max 24h split`: the longest limit.
    LimitMax {
        /// In this partition; `None`: in all.
        of: Option<String>,
        /// The longest limit.
        most: Span,
        /// Treatment of longer jobs.
        longer: Longer,
    },
    /// `limits x0.5`, `limits p90 of user`, `limits exact`: the limits that users give.
    Limits(LimitRule),
    /// `load 1.2`, `load 1.2 resampled`.
    Load(LoadFactor, ArrivalChange),
    /// `border small: nodes<=4`.
    Border(Border),
    /// `short-queue 1h`: a partition of a higher tier on the same nodes, for jobs up to this limit.
    ShortQueue(Span),
    /// `qos normal: MaxJobsPU=10`: limits of a QOS, as `sacctmgr` names them.
    Qos {
        name: String,
        /// Names and values.
        limits: Vec<(String, String)>,
    },
    /// `account physics: GrpTRES=cpu=64`: limits of an account, as `sacctmgr` names them.
    Account {
        name: String,
        /// Names and values.
        limits: Vec<(String, String)>,
    },
    /// `set PriorityWeightAge=1000 bf_window=2880`: settings of `slurm.conf`.
    Set(Vec<(String, String)>),
    /// `maintenance 2026-12-03T08:00/10h`: announced two weeks before; no job may run into it.
    Maintenance(Closure),
    /// `reservation 2026-12-03T08:00/10h 16 of gpu`: nodes that other jobs do without.
    Reservation(Closure),
    /// `supply license:matlab=4 from 2026-02-20 to 2026-03-01`: amount of a counted resource.
    Supply(SupplyAmount),
    /// `remove user:ada`, `remove account:physics`, `remove qos:debug`.
    Remove(LeftOut),
    /// `sharing whole`, `sharing shared`: whether a job has its nodes for itself.
    Sharing {
        /// True if all of its nodes are meant.
        whole: bool,
    },
}

/// Several changes at once, in the order in which they are made: `nodes gpu:+8; load 1.2`.
///
/// ```
/// use drystone_whatif::ChangeList;
///
/// let scenario: ChangeList = "nodes +8;  load 1.20".parse()?;
/// assert_eq!(scenario.to_string(), "nodes +8; load 1.2");
/// let error = "nodes +8; lod 1.2".parse::<ChangeList>().expect_err("a word that is none");
/// assert_eq!(error.at, 10);
/// # Ok::<(), drystone_whatif::SiteChangeError>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ChangeList(pub Vec<SiteChange>);

/// Reader of what follows the word of a change.
type ReadChange = fn(&mut Scan<'_>) -> Result<SiteChange, SiteChangeError>;

/// Words that changes begin with, each with an example and its reader. Messages, help and tests
/// follow from this table.
const WORDS: [(&str, &str, ReadChange); 17] = [
    ("nodes", "nodes gpu:+8", read_nodes),
    ("drain", "drain gpu from 2026-12-03T08:00", read_drain),
    ("procs", "procs +64", |scan| read_amount(scan).map(SiteChange::Procs)),
    ("memory", "memory gpu:+128G", read_memory),
    ("limit-max", "limit-max 24h split", limit_max),
    ("limits", "limits x0.5", read_limit_change),
    ("load", "load 1.2", read_load),
    ("border", "border small: nodes<=4 else large", read_border),
    ("short-queue", "short-queue 1h", |scan| read_span(scan, |_| false).map(SiteChange::ShortQueue)),
    ("qos", "qos normal: MaxJobsPU=10", |scan| {
        read_limits(scan, "a QOS", &QOS_LIMITS).map(|(name, limits)| SiteChange::Qos { name, limits })
    }),
    ("account", "account physics: GrpTRES=gres/gpu=16", |scan| {
        read_limits(scan, "an account", &ACCOUNT_LIMITS).map(|(name, limits)| SiteChange::Account { name, limits })
    }),
    ("set", "set PriorityWeightAge=1000 bf_window=2880", |scan| setting_text::read_settings(scan).map(SiteChange::Set)),
    ("maintenance", "maintenance 2026-12-03T08:00/10h of gpu", |scan| {
        read_closure(scan, false).map(SiteChange::Maintenance)
    }),
    ("reservation", "reservation 2026-12-03T08:00/10h 16", |scan| {
        read_closure(scan, true).map(SiteChange::Reservation)
    }),
    ("supply", "supply license:matlab=4 from 2026-12-03 to 2026-12-10", |scan| {
        read_supply(scan).map(SiteChange::Supply)
    }),
    ("remove", "remove user:ada", remove),
    ("sharing", "sharing whole", read_sharing),
];

/// Every word that a change begins with, in the order of the documentation.
pub fn change_words() -> impl Iterator<Item = &'static str> {
    WORDS.iter().map(|(word, ..)| *word)
}

impl FromStr for ChangeList {
    type Err = SiteChangeError;

    /// Reads changes with `;` between them; `none` is no change.
    fn from_str(text: &str) -> Result<ChangeList, SiteChangeError> {
        if text.trim().eq_ignore_ascii_case("none") {
            return Ok(ChangeList::default());
        }
        let mut changes = Vec::new();
        let (mut from, mut inside) = (0, false);
        let chars: Vec<char> = text.chars().collect();
        for at in 0..=chars.len() {
            match chars.get(at) {
                Some('"') => inside = !inside,
                Some(';') | None if !inside || at == chars.len() => {
                    changes.push(read_change(&mut Scan::new(text, from, at))?);
                    from = at + 1;
                }
                _ => {}
            }
        }
        Ok(ChangeList(changes))
    }
}

impl FromStr for SiteChange {
    type Err = SiteChangeError;

    fn from_str(text: &str) -> Result<SiteChange, SiteChangeError> {
        read_change(&mut Scan::new(text, 0, text.chars().count()))
    }
}

impl SiteChange {
    /// Reads the part of a change behind its word, as an option of the command line has it.
    ///
    /// # Errors
    /// A text that is none; the place is that in the whole change.
    pub fn of_option(word: &str, value: &str) -> Result<SiteChange, SiteChangeError> {
        format!("{word} {value}").parse()
    }
}

impl fmt::Display for ChangeList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        let words: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&words.join("; "))
    }
}

impl fmt::Display for SiteChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |of: &Option<String>| of.as_ref().map_or(String::new(), |of| format!("{}:", quote_name(of)));
        match self {
            SiteChange::Nodes { of: place, amount, from } => {
                write!(f, "nodes {}{amount}", of(place))?;
                from.iter().try_for_each(|from| write!(f, " from {from}"))
            }
            SiteChange::Delivery(nodes) => write!(f, "nodes {nodes}"),
            SiteChange::Drain(nodes) => write!(f, "drain {nodes}"),
            SiteChange::Procs(amount) => write!(f, "procs {amount}"),
            SiteChange::Memory { of: place, amount } => write!(f, "memory {}{amount}", of(place)),
            SiteChange::LimitMax { of: place, most, longer } => {
                let longer = match longer {
                    Longer::Split(Span::ZERO) => "split".to_string(),
                    Longer::Split(overhead) => format!("split {}", format_length(*overhead)),
                    Longer::Refused => "refuse".to_string(),
                };
                write!(f, "limit-max {}{} {longer}", of(place), format_length(*most))
            }
            SiteChange::Limits(LimitRule::Times(factor)) => write!(f, "limits x{factor}"),
            SiteChange::Limits(LimitRule::Percentile(percent)) => write!(f, "limits p{percent} of user"),
            SiteChange::Limits(LimitRule::Exact) => f.write_str("limits exact"),
            SiteChange::Load(factor, ArrivalChange::Compressed) => write!(f, "load {factor}"),
            SiteChange::Load(factor, ArrivalChange::Resampled) => write!(f, "load {factor} resampled"),
            SiteChange::Border(border) => write!(f, "border {border}"),
            SiteChange::ShortQueue(most) => write!(f, "short-queue {}", format_length(*most)),
            SiteChange::Qos { name, limits } => {
                let limits: Vec<String> = limits.iter().map(|(key, value)| format!("{key}={value}")).collect();
                write!(f, "qos {}: {}", quote_name(name), limits.join(" "))
            }
            SiteChange::Account { name, limits } => {
                let limits: Vec<String> = limits.iter().map(|(key, value)| format!("{key}={value}")).collect();
                write!(f, "account {}: {}", quote_name(name), limits.join(" "))
            }
            SiteChange::Set(pairs) => {
                let assignments: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
                write!(f, "set {}", assignments.join(" "))
            }
            SiteChange::Maintenance(closure) => write!(f, "maintenance {closure}"),
            SiteChange::Reservation(closure) => write!(f, "reservation {closure}"),
            SiteChange::Supply(supply) => write!(f, "supply {supply}"),
            SiteChange::Remove(LeftOut::User(name)) => write!(f, "remove user:{}", quote_name(name)),
            SiteChange::Remove(LeftOut::Account(name)) => write!(f, "remove account:{}", quote_name(name)),
            SiteChange::Remove(LeftOut::Qos(name)) => write!(f, "remove qos:{}", quote_name(name)),
            SiteChange::Sharing { whole } => write!(f, "sharing {}", if *whole { "whole" } else { "shared" }),
        }
    }
}

fn read_change(scan: &mut Scan<'_>) -> Result<SiteChange, SiteChangeError> {
    let (from, word) = scan.read_word(|c| c == ';' || c == ':');
    let Some((_, _, read)) = WORDS.iter().find(|(own, ..)| own.eq_ignore_ascii_case(&word)) else {
        let near = find_nearest(&word.to_ascii_lowercase(), change_words())
            .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let words: Vec<&str> = change_words().collect();
        return Err(scan.error_at(from, format!("expected a change, one of {}{near}", words.join(", "))));
    };
    let change = read(scan)?;
    scan.expect_end("one change")?;
    Ok(change)
}

fn read_nodes(scan: &mut Scan<'_>) -> Result<SiteChange, SiteChangeError> {
    scan.skip_blanks();
    let at = scan.position();
    let (_, word) = scan.read_word(|c| c == ':');
    let is_place = scan.take_char(':');
    let behind = scan.position();
    if !is_place && !word.starts_with(['+', '-']) && scan.is_word("from") {
        scan.rewind_to(behind);
        if word.parse::<u32>().is_err() && !word.ends_with('%') {
            return Ok(SiteChange::Delivery(NodesFrom { of: word, begin: read_beginning(scan)? }));
        }
    }
    scan.rewind_to(at);
    let of = if is_place { Some(scan.read_place("a partition or pool")?) } else { None };
    let amount = read_amount(scan)?;
    let from = if scan.is_done() { None } else { read_delivery(scan)? };
    Ok(SiteChange::Nodes { of, amount, from })
}

/// The time behind `from`, where it is next.
fn read_delivery(scan: &mut Scan<'_>) -> Result<Option<String>, SiteChangeError> {
    let at = scan.position();
    if !scan.is_word("from") {
        return Ok(None);
    }
    scan.rewind_to(at);
    read_beginning(scan).map(Some)
}

fn read_drain(scan: &mut Scan<'_>) -> Result<SiteChange, SiteChangeError> {
    let of = scan.read_place_name("a partition or pool, or nodes such as c[041-048]")?;
    Ok(SiteChange::Drain(NodesFrom { of, begin: read_beginning(scan)? }))
}

/// `from` and a time.
fn read_beginning(scan: &mut Scan<'_>) -> Result<String, SiteChangeError> {
    if !scan.is_word("from") {
        scan.skip_blanks();
        return Err(scan.error_at(scan.position(), "expected `from` and a time, such as from 2026-12-03T08:00"));
    }
    moment_next(scan)
}

/// Reads the time that comes next.
fn moment_next(scan: &mut Scan<'_>) -> Result<String, SiteChangeError> {
    let (at, begin) = scan.read_word(|_| false);
    match is_moment(&begin) {
        true => Ok(begin),
        false => Err(scan.error_at(at, no_beginning(&begin))),
    }
}

/// The problem of a text that is no time at which something begins.
fn no_beginning(text: &str) -> String {
    let expectation = "expected a beginning such as 2026-12-03T08:00, tomorrow, or @86400 for a second of the log";
    match text.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("{expectation}; `{text}` is no date and time of a calendar"),
        false => expectation.to_string(),
    }
}

fn read_amount(scan: &mut Scan<'_>) -> Result<NodeAmount, SiteChangeError> {
    let (from, word) = scan.read_word(|c| c == ',');
    let wrong = || scan.error_at(from, "expected a number such as +8, -8, 64 or +10%");
    let relative = word.starts_with(['+', '-']);
    if let Some(percent) = word.strip_suffix('%') {
        let value = percent.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= -100.0);
        return value.filter(|_| relative).map(NodeAmount::Percent).ok_or_else(wrong);
    }
    match relative {
        true => word.parse().ok().filter(|by: &i64| by.unsigned_abs() <= 1 << 31).map(NodeAmount::By).ok_or_else(wrong),
        false => word.parse().map(NodeAmount::To).map_err(|_| wrong()),
    }
}

fn read_memory(scan: &mut Scan<'_>) -> Result<SiteChange, SiteChangeError> {
    scan.skip_blanks();
    let at = scan.position();
    scan.read_word(|c| c == ':');
    let has_place = scan.take_char(':');
    scan.rewind_to(at);
    let of = if has_place { Some(scan.read_place("a partition or pool")?) } else { None };
    let (from, word) = scan.read_word(|c| c == ',');
    let wrong = || scan.error_at(from, "expected memory of a node such as +128G, 512G, -64000M or +50%");
    let relative = word.starts_with(['+', '-']);
    if let Some(percent) = word.strip_suffix('%') {
        let value = percent.parse::<f64>().ok().filter(|value| value.is_finite() && *value > -100.0);
        let percent = value.filter(|_| relative).ok_or_else(wrong)?;
        return Ok(SiteChange::Memory { of, amount: MemoryAmount::Percent(percent) });
    }
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: i64 = match word[digits.len()..].to_ascii_uppercase().as_str() {
        "M" | "MB" => 1,
        "G" | "GB" => 1 << 10,
        "T" | "TB" => 1 << 20,
        _ => return Err(wrong()),
    };
    let megabytes = digits.parse::<i64>().ok().and_then(|number| number.checked_mul(unit)).ok_or_else(wrong)?;
    let amount = match relative {
        true => MemoryAmount::By(megabytes),
        false => MemoryAmount::To(u64::try_from(megabytes).ok().filter(|&mb| mb > 0).ok_or_else(wrong)?),
    };
    Ok(SiteChange::Memory { of, amount })
}

/// A length of time, with a unit or as Slurm writes it.
fn read_span(scan: &mut Scan<'_>, ends: impl Fn(char) -> bool) -> Result<Span, SiteChangeError> {
    let (from, word) = scan.read_word(ends);
    length_of(&word)
        .ok_or_else(|| scan.error_at(from, "expected a length of time such as 24h, 90min, 2d or 2-00:00:00"))
}

fn length_of(word: &str) -> Option<Span> {
    let whole = read_duration(word)?.round();
    (whole >= 1.0 && whole <= drystone::model::TIME_LIMIT as f64).then_some(Span(whole as i64))
}

fn limit_max(scan: &mut Scan<'_>) -> Result<SiteChange, SiteChangeError> {
    scan.skip_blanks();
    let at = scan.position();
    // `12:00:00` is no partition.
    let (_, first) = scan.read_word(|_| false);
    let has_place = first.contains(':') && length_of(&first).is_none() || scan.take_char(':');
    scan.rewind_to(at);
    let of = if has_place { Some(scan.read_place("a partition")?) } else { None };
    let most = read_span(scan, |_| false)?;
    let at = scan.position();
    let longer = if scan.is_word("split") {
        let overhead = if scan.is_done() { Span::ZERO } else { read_span(scan, |_| false)? };
        if overhead >= most {
            return Err(
                scan.error_at(at, "expected an overhead of pieces below the longest limit: else none does any work")
            );
        }
        Longer::Split(overhead)
    } else if scan.is_word("refuse") {
        Longer::Refused
    } else {
        scan.skip_blanks();
        return Err(
            scan.error_at(scan.position(), "expected what becomes of longer jobs: `split`, `split 10min` or `refuse`")
        );
    };
    Ok(SiteChange::LimitMax { of, most, longer })
}

fn read_limit_change(scan: &mut Scan<'_>) -> Result<SiteChange, SiteChangeError> {
    let (from, word) = scan.read_word(|_| false);
    let wrong = |scan: &Scan<'_>, at| scan.error_at(at, "expected `x0.5`, `p90 of user` or `exact`");
    if word.eq_ignore_ascii_case("exact") {
        return Ok(SiteChange::Limits(LimitRule::Exact));
    }
    if let Some(factor) = word.strip_prefix(['x', 'X']) {
        let factor = factor.parse().map_err(|_| wrong(scan, from))?;
        return Ok(SiteChange::Limits(LimitRule::Times(factor)));
    }
    let percent = word.strip_prefix(['p', 'P']).and_then(|digits| digits.parse::<u8>().ok());
    let percent = percent.filter(|percent| (1..=100).contains(percent)).ok_or_else(|| wrong(scan, from))?;
    if !(scan.is_word("of") && scan.is_word("user")) {
        scan.skip_blanks();
        return Err(scan.error_at(scan.position(), format!("expected `of user` behind `p{percent}`")));
    }
    Ok(SiteChange::Limits(LimitRule::Percentile(percent)))
}

fn read_load(scan: &mut Scan<'_>) -> Result<SiteChange, SiteChangeError> {
    let (from, word) = scan.read_word(|_| false);
    let factor: LoadFactor =
        word.parse().map_err(|_| scan.error_at(from, "expected a load factor such as 1.2, which is 20 % more"))?;
    let arrivals = match scan.is_done() {
        true => ArrivalChange::Compressed,
        false if scan.is_word("resampled") => ArrivalChange::Resampled,
        false if scan.is_word("compressed") => ArrivalChange::Compressed,
        false => return Err(scan.error_at(scan.position(), "expected `compressed` or `resampled`")),
    };
    if arrivals == ArrivalChange::Resampled && factor.as_f64() > 10.0 {
        return Err(scan.error_at(from, "expected a factor of 10 or less: every job is repeated so often"));
    }
    Ok(SiteChange::Load(factor, arrivals))
}

fn read_border(scan: &mut Scan<'_>) -> Result<SiteChange, SiteChangeError> {
    let partition = scan.read_place("a partition")?;
    let (from, quantity_word) = scan.read_word(|c| "<>=".contains(c));
    let quantity = match quantity_word.to_ascii_lowercase().as_str() {
        "nodes" => Bordered::Nodes,
        "procs" => Bordered::Procs,
        "limit" => Bordered::Limit,
        _ => return Err(scan.error_at(from, "expected `nodes`, `procs` or `limit`, such as nodes<=4")),
    };
    scan.skip_blanks();
    let place = scan.position();
    let at_most = match (scan.take_char('<'), scan.take_char('>')) {
        (true, false) if scan.take_char('=') => true,
        (false, true) => false,
        _ => {
            return Err(
                scan.error_at(place, "expected `<=` or `>`: a job on the border is on the side of smaller jobs")
            );
        }
    };
    let value = match quantity {
        Bordered::Limit => read_span(scan, |_| false)?.0,
        _ => {
            let (from, word) = scan.read_word(|_| false);
            word.parse::<u32>().map(i64::from).map_err(|_| scan.error_at(from, "expected a whole number"))?
        }
    };
    let other_partition = if scan.is_word("else") { Some(scan.read_name("a partition")?) } else { None };
    if other_partition.as_deref() == Some(&partition) {
        return Err(scan.error_at(scan.position(), "expected another partition behind `else`"));
    }
    Ok(SiteChange::Border(Border { partition, what: quantity, at_most, value, others: other_partition }))
}

fn read_closure(scan: &mut Scan<'_>, has_count: bool) -> Result<Closure, SiteChangeError> {
    let (from, begin) = scan.read_word(|c| c == '/');
    if !is_moment(&begin) {
        return Err(scan.error_at(from, no_beginning(&begin)));
    }
    if !scan.take_char('/') {
        return Err(scan.error_at(scan.position(), "expected `/` and a length, such as 2026-12-03T08:00/10h"));
    }
    let length = read_span(scan, |_| false)?;
    let mut nodes = None;
    if has_count {
        let (from, word) = scan.read_word(|_| false);
        let count = word.parse::<u32>().ok().filter(|&count| count > 0);
        nodes = Some(count.ok_or_else(|| scan.error_at(from, "expected the number of nodes"))?);
    }
    let of = if scan.is_word("of") {
        Some(scan.read_place_name("a partition or pool, or nodes such as c[041-048]")?)
    } else {
        None
    };
    Ok(Closure { begin, length, nodes, of })
}

/// Returns whether a text is a local time, also one as Slurm writes it, or a second of the log.
fn is_moment(text: &str) -> bool {
    if let Some(second) = text.strip_prefix('@') {
        return second.parse::<i64>().is_ok_and(|at| at.unsigned_abs() <= drystone::model::TIME_LIMIT.unsigned_abs());
    }
    read_moment(text, 0).is_some()
}

fn read_supply(scan: &mut Scan<'_>) -> Result<SupplyAmount, SiteChangeError> {
    let (at, resource) = scan.read_word(|c| c == '=');
    if resource.is_empty() {
        return Err(scan.error_at(at, "expected the name of a counted resource, such as license:matlab=4"));
    }
    if !scan.take_char('=') {
        return Err(
            scan.error_at(scan.position(), "expected `=` and an amount behind the name, such as license:matlab=4")
        );
    }
    let (at, amount) = scan.read_word(|_| false);
    if !amount.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(scan.error_at(at, "expected an amount such as 4 or 512GB"));
    }
    let from = read_delivery(scan)?;
    let at = scan.position();
    let until = if scan.is_word("to") { Some(moment_next(scan)?) } else { None };
    if until.is_some() && from.is_none() {
        scan.rewind_to(at);
        scan.skip_blanks();
        return Err(scan.error_at(scan.position(), "expected `from` and a time before `to`"));
    }
    let at = scan.position();
    let is_announced = !scan.is_word("unannounced");
    if !is_announced && from.is_none() {
        scan.rewind_to(at);
        scan.skip_blanks();
        return Err(scan.error_at(
            scan.position(),
            "expected `from` and a time: what is so from the beginning is announced never",
        ));
    }
    Ok(SupplyAmount { resource, amount, from, until, announced: is_announced })
}

fn remove(scan: &mut Scan<'_>) -> Result<SiteChange, SiteChangeError> {
    let (from, kind) = scan.read_word(|c| c == ':');
    let wrong = |scan: &Scan<'_>, at| scan.error_at(at, "expected `user:NAME`, `account:NAME` or `qos:NAME`");
    if !scan.take_char(':') {
        return Err(wrong(scan, from));
    }
    Ok(SiteChange::Remove(match kind.to_ascii_lowercase().as_str() {
        "user" => LeftOut::User(scan.read_name("a user")?),
        "account" => LeftOut::Account(scan.read_name("an account")?),
        "qos" => LeftOut::Qos(scan.read_name("a QOS")?),
        _ => return Err(wrong(scan, from)),
    }))
}

fn read_sharing(scan: &mut Scan<'_>) -> Result<SiteChange, SiteChangeError> {
    let (from, word) = scan.read_word(|_| false);
    match word.to_ascii_lowercase().as_str() {
        "whole" => Ok(SiteChange::Sharing { whole: true }),
        "shared" => Ok(SiteChange::Sharing { whole: false }),
        _ => Err(scan.error_at(from, "expected `whole` or `shared`")),
    }
}

#[cfg(test)]
mod tests;
