//! The parameters of slack-based backfilling (Talby & Feitelson 1999, section 4.8) and how texts give them.

use super::price::Weights;
use crate::policy::planned::Notice;
use crate::policy::{Args, Call, SpecError};
use serde::{Deserialize, Serialize};

/// In which order displaced jobs are put back (rule 16; section 4.6). Ties are broken by arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Order {
    /// `ast`: by planned start.
    #[default]
    Start,
    /// `aat`: by arrival.
    Arrival,
    /// `du`: by processors × planned run time, largest first.
    Utilisation,
    /// `dc`: by the price of a delay of one second, highest first.
    Cost,
    /// `dp`: by priority, highest first.
    Priority,
    /// `exhaustive(N)`: every order of up to N displaced jobs is priced, by planned start beyond: a yardstick, N! times as
    /// slow.
    Exhaustive(u8),
}

/// AWT, the average wait by which slacks and the scheduler's priority are measured.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum AverageWait {
    /// So many seconds.
    Given(f64),
    /// Estimated from the waits of the jobs started so far.
    Auto,
}

/// What happens when a job ends before its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Removal {
    /// Rule 15: the conservative compression; slacks and priorities stay. What the tables of the paper need.
    #[default]
    Compress,
    /// Rule 20: the paper's text taken literally: the cheapest rearrangement, as if a job of no size were inserted.
    Priced,
}

/// What happens to a job that still runs at its declared end (rule 19; section 4.7).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Tick {
    /// Nothing: the machine decides. The plan expects it to need as long again as it is overdue, at least a minute.
    #[default]
    Run,
    /// It is killed.
    Kill,
    /// It runs on until a job is due that needs its processors; then it is killed.
    Overrun,
    /// It gets a tenth of its declared time more where that costs less than killing it, again and again; else it is killed.
    Extend,
}

/// All parameters.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// SF: how many average waits the slack of a job of no priority is. 0 makes it conservative backfilling.
    pub slack_factor: f64,
    /// AWT.
    pub average_wait: AverageWait,
    /// In which order displaced jobs are put back.
    pub order: Order,
    /// α_u, α_t, α_p, α_f.
    pub weights: Weights,
    /// When early ends are noticed.
    pub notice: Notice,
    /// What happens when a job ends early.
    pub removal: Removal,
    /// What happens when a job does not end.
    pub tick: Tick,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            slack_factor: 3.0,
            average_wait: AverageWait::Auto,
            order: Order::Start,
            weights: Weights::default(),
            notice: Notice::Immediate,
            removal: Removal::Compress,
            tick: Tick::Run,
        }
    }
}

/// Most displaced jobs of which all orders are priced: 8! = 40,320 per candidate.
const MOST_EXHAUSTIVE: u8 = 8;

impl Settings {
    pub(super) fn build(args: &Args<'_>) -> Result<Settings, SpecError> {
        let removals = [("compress", Removal::Compress), ("priced", Removal::Priced)];
        let ticks = [("run", Tick::Run), ("kill", Tick::Kill), ("overrun", Tick::Overrun), ("extend", Tick::Extend)];
        let slack_factor = args.get::<f64>("sf")?;
        if !(slack_factor >= 0.0 && slack_factor.is_finite()) {
            return Err(args.wrong("sf"));
        }
        Ok(Settings {
            slack_factor,
            average_wait: average_wait(args)?,
            order: order(args)?,
            weights: Weights {
                utilisation: weight(args, "au")?,
                time: weight(args, "at")?,
                priority: weight(args, "ap")?,
                fairness: weight(args, "af")?,
            },
            notice: args.choose("notice", Notice::NAMES)?,
            removal: args.choose("remove", &removals)?,
            tick: args.choose("tick", &ticks)?,
        })
    }
}

fn average_wait(args: &Args<'_>) -> Result<AverageWait, SpecError> {
    if args.text("awt") == "auto" {
        return Ok(AverageWait::Auto);
    }
    let seconds = args.get::<f64>("awt")?;
    if seconds > 0.0 && seconds.is_finite() { Ok(AverageWait::Given(seconds)) } else { Err(args.wrong("awt")) }
}

fn weight(args: &Args<'_>, name: &str) -> Result<f64, SpecError> {
    let weight = args.get::<f64>(name)?;
    if (0.0..=1.0).contains(&weight) { Ok(weight) } else { Err(args.wrong(name)) }
}

fn order(args: &Args<'_>) -> Result<Order, SpecError> {
    let orders = [
        ("ast", Order::Start),
        ("aat", Order::Arrival),
        ("du", Order::Utilisation),
        ("dc", Order::Cost),
        ("dp", Order::Priority),
        ("exhaustive", Order::Exhaustive(6)),
    ];
    match Call::parse(args.text("order")) {
        Ok(call) if call.name == "exhaustive" && !call.args.is_empty() => {
            let [(None, most)] = call.args.as_slice() else { return Err(args.wrong("order")) };
            let most = most.parse().ok().filter(|most| (1..=MOST_EXHAUSTIVE).contains(most));
            most.map(Order::Exhaustive).ok_or_else(|| args.wrong("order"))
        }
        _ => args.choose("order", &orders),
    }
}
