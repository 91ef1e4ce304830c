//! The parameters of slack-based backfilling (Talby & Feitelson 1999, section 4.8) and how texts
//! give them.

use super::price::Weights;
use crate::parts::ranking;
use crate::parts::{self, formula::Formula};
use crate::policy::shaped::ShapeRule;
use crate::policy::{Args, NamedCall, Param, SpecError, Takes, ValueForm};
use crate::room::planned::{Horizon, Notice};
use serde::{Deserialize, Serialize};

/// Order in which displaced jobs are put back (rule 16; section 4.6). Ties are broken by arrival.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum ReturnOrder {
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
    /// `exhaustive(N)`: every order of up to N displaced jobs is priced, by planned start beyond: a
    /// yardstick, N! times as slow.
    Exhaustive(u8),
    /// A formula or a named order, as policies take it that order their queue.
    Formula(Formula),
}

/// AWT, the average wait by which slacks and the scheduler's priority are measured.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum AverageWait {
    /// This many seconds.
    Given(f64),
    /// Estimated from the waits of the jobs started so far.
    Auto,
    /// Estimated so for each class of planned run times by itself: up to 10 min, 1 h, 8 h, more.
    ByLength,
    /// This many seconds in each of these classes.
    GivenByLength([f64; CLASSES]),
}

/// Procedure for a job that ends before its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Removal {
    /// Rule 15: the conservative compression; slacks and priorities stay. What the tables of the
    /// paper need.
    #[default]
    Compress,
    /// Rule 20: the paper's text taken literally: the cheapest rearrangement, as if a job of no
    /// size were inserted.
    Priced,
}

/// Procedure for a job that still runs at its declared end (rule 19; section 4.7).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Tick {
    /// Nothing: the machine decides. The plan expects it to need as long again as it is overdue, at
    /// least a minute.
    #[default]
    Run,
    /// It is killed.
    Kill,
    /// It runs on until a job is due that needs its processors; then it is killed.
    Overrun,
    /// It gets a tenth of its declared time more where that costs less than killing it, again and
    /// again; else it is killed.
    Extend,
}

/// All parameters.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SlackSettings {
    /// SF: how many average waits the slack of a job of no priority is. 0 makes it conservative
    /// backfilling.
    pub slack_factor: f64,
    /// AWT.
    pub average_wait: AverageWait,
    /// Order in which displaced jobs are put back.
    pub order: ReturnOrder,
    /// α_u, α_t, α_p, α_f.
    pub weights: Weights,
    /// Notice of early ends.
    pub notice: Notice,
    /// Waiting jobs that are planned.
    pub horizon: Horizon,
    /// Procedure for a job that ends early.
    pub removal: Removal,
    /// Procedure for a job that does not end.
    pub tick: Tick,
    /// Size of a job that may have several, chosen at its arrival.
    pub shape: ShapeRule,
}

impl Default for SlackSettings {
    fn default() -> SlackSettings {
        SlackSettings {
            slack_factor: 3.0,
            average_wait: AverageWait::Auto,
            order: ReturnOrder::Start,
            weights: Weights::default(),
            notice: Notice::Immediate,
            horizon: Horizon::All,
            removal: Removal::Compress,
            tick: Tick::Run,
            shape: ShapeRule::Preferred,
        }
    }
}

/// Most displaced jobs of which all orders are priced: 8! = 40,320 per candidate.
const MOST_EXHAUSTIVE: u8 = 8;

impl SlackSettings {
    pub(super) fn from_args(args: &Args<'_>) -> Result<SlackSettings, SpecError> {
        let removals = [("compress", Removal::Compress), ("priced", Removal::Priced)];
        let ticks = [("run", Tick::Run), ("kill", Tick::Kill), ("overrun", Tick::Overrun), ("extend", Tick::Extend)];
        Ok(SlackSettings {
            slack_factor: args.get("sf")?,
            average_wait: match args.text_value("awt") {
                "length" => AverageWait::ByLength,
                text if text.contains('/') => AverageWait::GivenByLength(by_length(text).ok_or_else(|| {
                    let problem =
                        "awt: four averages in seconds, each above 0, are separated by `/`, such as 600/1200/3600/7200";
                    args.spec_error(format!("{problem}; found `{text}`"))
                })?),
                _ => args.parse_unless("auto", "awt")?.map_or(AverageWait::Auto, AverageWait::Given),
            },
            order: parse_return_order(args)?,
            weights: Weights {
                utilisation: args.get("au")?,
                time: args.get("at")?,
                priority: args.get("ap")?,
                fairness: args.get("af")?,
            },
            notice: args.choose_value("notice", Notice::NAMES)?,
            horizon: Horizon::from_args(args)?,
            removal: args.choose_value("remove", &removals)?,
            tick: args.choose_value("tick", &ticks)?,
            shape: args.choose_value("shape", SHAPES)?,
        })
    }
}

/// One average wait per class of run times.
fn by_length(text: &str) -> Option<[f64; CLASSES]> {
    let seconds = |number: &str| number.trim().parse().ok().filter(|&seconds: &f64| seconds > 0.0);
    text.split('/').map(seconds).collect::<Option<Vec<f64>>>()?.try_into().ok()
}

const SHAPES: &[(&str, ShapeRule)] = &[
    ("preferred", ShapeRule::Preferred),
    ("submit", ShapeRule::Submit),
    ("start-now", ShapeRule::StartNow),
    ("most", ShapeRule::Most),
    ("upto", ShapeRule::UpTo),
    ("min", ShapeRule::Min),
];

/// The size of a job at its arrival.
pub(super) const SHAPE: Param = Param::new(
    "shape",
    "preferred",
    &[Takes::Words(&["preferred", "submit", "start-now", "most", "upto", "min"])],
    "size of a job that may have several (--shapes), chosen at its arrival for good: the preferred one; where no other job \
     moves, the one that ends first (submit; start-now: of those that fit now, if any does), or as many processors as are free \
     (most, upto: at most the preferred size); the smallest one",
);

pub(super) const ORDER: Takes = Takes::Form(&ValueForm {
    name: "displacement",
    shape: "ast|aat|du|dc|dp|exhaustive(N) with N from 1 to 8|a formula",
    samples: &["ast", "aat", "du", "dc", "dp", "exhaustive", "exhaustive(3)", "wfp3", "r*n-60*w"],
    check: |text| parse_displaced_order(text).is_some(),
});

fn parse_return_order(args: &Args<'_>) -> Result<ReturnOrder, SpecError> {
    if let Some(order) =
        parse_displaced_order(args.text_value("order")).filter(|order| !matches!(order, ReturnOrder::Formula(_)))
    {
        return Ok(order);
    }
    match ranking::parse_order(args, "order")? {
        parts::Order::Formula(formula) => Ok(ReturnOrder::Formula(formula)),
        _ => Err(args.value_error("order")),
    }
}

fn parse_displaced_order(text: &str) -> Option<ReturnOrder> {
    let words = [
        ("ast", ReturnOrder::Start),
        ("aat", ReturnOrder::Arrival),
        ("du", ReturnOrder::Utilisation),
        ("dc", ReturnOrder::Cost),
        ("dp", ReturnOrder::Priority),
        ("exhaustive", ReturnOrder::Exhaustive(6)),
    ];
    if let Some((_, order)) = words.iter().find(|(word, _)| *word == text) {
        return Some(order.clone());
    }
    let Some(call) = NamedCall::parse(text).ok().filter(|call| call.name == "exhaustive") else {
        return text.parse().ok().map(ReturnOrder::Formula);
    };
    let [(None, most)] = call.args.as_slice() else { return None };
    most.parse().ok().filter(|most| (1..=MOST_EXHAUSTIVE).contains(most)).map(ReturnOrder::Exhaustive)
}

/// Borders of the classes of planned run times, inclusive, in seconds.
pub(super) const BORDERS: [i64; 3] = [600, 3_600, 28_800];

pub(super) const CLASSES: usize = BORDERS.len() + 1;

#[cfg(test)]
mod tests {
    use crate::policy::PolicySpec;

    #[test]
    fn averages_of_classes_are_four_above_zero() {
        assert!("slack(awt=600/1200.5/3600/7200)".parse::<PolicySpec>().is_ok());
        for text in ["600/1200", "0/1/1/1", "1h/2h/3h/4h", "1/2/3/4/5", "-1/2/3/4", "1//3/4"] {
            let error = format!("slack(awt={text})").parse::<PolicySpec>().expect_err(text).to_string();
            assert!(error.contains("four averages in seconds") && error.contains(text), "{error}");
        }
    }
}
