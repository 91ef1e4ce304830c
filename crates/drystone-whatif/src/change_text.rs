//! Texts of changes, as they are read.

use super::change::{
    ArrivalChange, Border, Bordered, ChangeList, Closure, LeftOut, LimitRule, Longer, MemoryAmount, NodeAmount,
    NodesFrom, SiteChange, SupplyAmount, format_length,
};
use super::scan::quote_name;
use drystone::model::Span;
use std::fmt;

impl fmt::Display for ChangeList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        let words: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&words.join("; "))
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
        others.iter().try_for_each(|others| write!(f, " else {}", quote_name(others)))
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
            SiteChange::Set(all) => {
                let assignments: Vec<String> = all.iter().map(|(key, value)| format!("{key}={value}")).collect();
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
