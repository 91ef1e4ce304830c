//! The policy by name: its parameters and their texts.

use super::MultiQueue;
use super::settings::{Borders, Control, Delay, Own, Promising, QueueSettings};
use crate::model::Span;
use crate::policy::registry::{Args, Kind, Needs, Param, Variant};
use crate::policy::text::SpecError;
use std::str::FromStr;

const fn param(name: &'static str, default: &'static str, values: &'static str, meaning: &'static str) -> Param {
    Param { name, default, values, meaning }
}

/// Multiple queues that adapt themselves.
pub(crate) static MULTIQUEUE: Kind = Kind {
    name: "multiqueue",
    summary: "a queue per class of run times, the first of each promised a start; whoever disturbs no promise may start",
    source: "Lawson, Smirni & Puiu 2002; borders from history, widths and the bounded delay are Drystone's",
    params: &[
        param(
            "bounds",
            "100/1000/10000",
            "strictly ascending seconds from 1 separated by `/`|none|auto",
            "the longest predicted run time of each queue but the last; auto: from history",
        ),
        param(
            "queues",
            "4",
            "1 to 8|auto",
            "how many queues by run time; auto: as few as leave none with a coefficient of variation above 1",
        ),
        param("history", "1000", "a number from 10", "arrivals looked back on, and between two changes"),
        param(
            "widths",
            "none",
            "strictly ascending processors from 1 separated by `/`|none",
            "the widest job of each queue but the last, \
              within each class of run times",
        ),
        param(
            "own",
            "shared",
            "shared|fig4|split",
            "whether jobs on idle processors of their own partition respect all \
              promises or only that of their own queue (figure 4 to the letter), or borrow from other partitions only what \
              is idle or extra there",
        ),
        param(
            "promise",
            "pivot",
            "pivot|eager|arrival",
            "promises in the order of becoming pivot; or handed over at once \
              when a pivot starts; or in the order of arrival, so that older jobs displace promises",
        ),
        param(
            "delay",
            "none",
            "none|seconds from 0 to 1e12",
            "D1: jobs of the longest class start no sooner after their arrival",
        ),
        param(
            "adapt",
            "paper",
            "paper|fixed|bounded",
            "how the delay follows the slowdown of the shortest jobs; bounded: \
              its level instead of its changes, within bounds",
        ),
        param("batch", "100", "a number from 1", "completed jobs between two changes of the delay"),
        param("count", "all", "all|short", "which completed jobs make a batch"),
        param("tolerance", "0.25", "a number from 0", "changes of the slowdown up to this are ignored"),
        param("first-change", "slowdown", "slowdown|zero", "the change that the first batch counts as"),
        param("ceiling", "2", "a number above 0", "the largest delay as a multiple of D1"),
        param("share", "0.1", "a number above 0", "a job's largest delay as a share of its predicted run time"),
        param("hold", "no", "no|yes", "whether a delayed job cannot be promised a start before its delay is over"),
        param(
            "read",
            "arrival",
            "arrival|now",
            "which D counts for a waiting job: that of its arrival or that of the present",
        ),
        param("wake", "yes", "yes|no", "whether the end of a delay is an event of its own"),
        param("record", "no", "no|yes", "whether partitions, delay and borders are reported as they change"),
    ],
    needs: &[
        Needs { params: &["queues", "history"], key: "bounds", value: "auto" },
        Needs {
            params: &[
                "adapt",
                "batch",
                "count",
                "tolerance",
                "first-change",
                "ceiling",
                "share",
                "hold",
                "read",
                "wake",
            ],
            key: "delay",
            value: "!none",
        },
        Needs { params: &["batch", "count"], key: "adapt", value: "!fixed" },
        Needs { params: &["tolerance", "first-change"], key: "adapt", value: "paper" },
        Needs { params: &["ceiling", "share"], key: "adapt", value: "bounded" },
    ],
    unnamed: None,
    variants: &[
        Variant {
            name: "lawson2002",
            sets: "",
            meaning: "Lawson, Smirni & Puiu 2002 without delay: exact per job against an independent implementation",
        },
        Variant {
            name: "lawson2002-delay",
            sets: "delay=2500",
            meaning: "the same with their adaptive delay, exact as well",
        },
        Variant {
            name: "lawson2002-figure4",
            sets: "own=fig4",
            meaning: "their figure 4 to the letter, which breaks promises; exact as well",
        },
    ],
    build: |args| Ok(Box::new(MultiQueue::new(settings(args)?))),
};

fn settings(args: &Args<'_>) -> Result<QueueSettings, SpecError> {
    // Read whether they count or not: a mistake in a parameter is one, whatever the others say.
    let queues = match args.text("queues") {
        "auto" => None,
        _ => Some(within(args, "queues", 1, 8)?),
    };
    let history = within(args, "history", 10, 1_000_000)?;
    let borders = match args.text("bounds") {
        "auto" => Borders::Auto { queues, history },
        _ => Borders::Fixed(list(args, "bounds")?.into_iter().map(Span).collect()),
    };
    let widths: Vec<u32> = list(args, "widths")?;
    let queues = match &borders {
        Borders::Fixed(list) => list.len() + 1,
        Borders::Auto { .. } => 8,
    };
    if queues * (widths.len() + 1) > 64 {
        return Err(args.error("more than 64 queues; leave out some of `bounds` or `widths`".into()));
    }
    Ok(QueueSettings {
        borders,
        widths,
        own: args.choose("own", &[("shared", Own::Shared), ("fig4", Own::Figure4), ("split", Own::Split)])?,
        promise: args.choose(
            "promise",
            &[("pivot", Promising::Pivot), ("eager", Promising::Eager), ("arrival", Promising::Arrival)],
        )?,
        delay: delay(args)?,
        record: yes(args, "record")?,
    })
}

fn delay(args: &Args<'_>) -> Result<Option<Delay>, SpecError> {
    let paper = Control::Paper {
        tolerance: real(args, "tolerance", 0.0)?,
        first_change: args.choose("first-change", &[("slowdown", true), ("zero", false)])?,
    };
    let bounded = Control::Bounded { ceiling: above_zero(args, "ceiling")?, share: above_zero(args, "share")? };
    let control = args.choose("adapt", &[("fixed", Control::Fixed), ("paper", paper), ("bounded", bounded)])?;
    let delay = Delay {
        first: 0.0,
        control,
        batch: within(args, "batch", 1, u32::MAX)?,
        short_only: args.choose("count", &[("all", false), ("short", true)])?,
        hold: yes(args, "hold")?,
        current: args.choose("read", &[("arrival", false), ("now", true)])?,
        wake: yes(args, "wake")?,
    };
    if delay.current && delay.hold {
        return Err(
            args.error("`read=now` and `hold=yes` exclude each other: what is held is held for a time known".into())
        );
    }
    match args.text("delay") {
        "none" => Ok(None),
        _ => Ok(Some(Delay { first: real(args, "delay", 0.0)?, ..delay })),
    }
}

fn yes(args: &Args<'_>, name: &str) -> Result<bool, SpecError> {
    args.choose(name, &[("no", false), ("yes", true)])
}

fn within(args: &Args<'_>, name: &str, least: u32, most: u32) -> Result<u32, SpecError> {
    let value: u32 = args.get(name)?;
    if (least..=most).contains(&value) { Ok(value) } else { Err(args.wrong(name)) }
}

fn real(args: &Args<'_>, name: &str, least: f64) -> Result<f64, SpecError> {
    let value: f64 = args.get(name)?;
    if value >= least && value <= 1e12 { Ok(value) } else { Err(args.wrong(name)) }
}

fn above_zero(args: &Args<'_>, name: &str) -> Result<f64, SpecError> {
    let value = real(args, name, 0.0)?;
    if value > 0.0 { Ok(value) } else { Err(args.wrong(name)) }
}

/// Ascending numbers above 0 separated by `/`, or `none`.
fn list<T: FromStr + PartialOrd + Default>(args: &Args<'_>, name: &str) -> Result<Vec<T>, SpecError> {
    let text = args.text(name);
    if text == "none" {
        return Ok(Vec::new());
    }
    let numbers: Result<Vec<T>, _> = text.split('/').map(|n| n.trim().parse::<T>()).collect();
    let numbers = numbers.map_err(|_| args.wrong(name))?;
    let ascending = numbers.iter().is_sorted_by(|a, b| a < b);
    if ascending && numbers.first().is_some_and(|n| *n > T::default()) { Ok(numbers) } else { Err(args.wrong(name)) }
}
