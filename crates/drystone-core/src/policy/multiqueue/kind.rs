//! The policy by name: its parameters and their texts.

use super::MultiQueue;
use super::settings::{ClassDelay, Control, Own, Promising, QueueBorders, QueueSettings};
use crate::model::Span;
use crate::parts::Order;
use crate::parts::ranking::{STARVE, parse_order, parse_starve};
use crate::policy::{
    Args, PRIORITIES, Param, ParamCondition, ParamNeeds, PolicyKind, Priorities, SpecError, Takes, Variant,
};

/// Seconds with a fraction.
const SECONDS: Takes = Takes::Number { from: 0.0, to: 1e12 };

/// Multiple queues that adapt themselves.
pub(crate) static MULTIQUEUE: PolicyKind = PolicyKind {
    name: "multiqueue",
    summary: "a queue per class of run times, the first of each promised a start; a job that delays no promise may start",
    source: "Lawson, Smirni & Puiu 2002; borders from history, widths and the bounded delay are Drystone's",
    params: &[
        Param::new("bounds", "100/1000/10000", &[Takes::Ascending { unit: "seconds" }, Takes::Words(&["none", "auto"])], "the longest predicted run time of each queue but the last; auto: from history"),
        Param::new("queues", "4", &[Takes::Whole { from: 1, to: 8 }, Takes::Words(&["auto"])], "number of queues by run time; auto: as few as leave none with a coefficient of variation above 1"),
        Param::new("history", "1000", &[Takes::Whole { from: 10, to: 1_000_000 }], "arrivals looked back on, and between two changes").for_experts(),
        Param::new("widths", "none", &[Takes::Ascending { unit: "processors" }, Takes::Words(&["none"])], "the widest job of each queue but the last, \
              within each class of run times"),
        Param::new("own", "shared", &[Takes::Words(&["shared", "fig4", "split"])], "use of idle processors: in their own partition jobs respect all \
              promises, or only that of their own queue (figure 4 to the letter), or they borrow from other partitions \
              only processors that are idle or extra there").for_studies(),
        Param::new("promise", "pivot", &[Takes::Words(&["pivot", "eager", "arrival"])], "promises in the order of becoming pivot; or handed over at once \
              when a pivot starts; or in the order of arrival, so that older jobs displace promises").for_studies(),
        Param::new("order", "fcfs", &[Order::TAKES], "the order of each queue: its first job is promised a start, which it keeps"),
        STARVE,
        Param::new("priorities", "equal", &[PRIORITIES], "jobs that stand first in their queues, and reserved starts, \
              where no file gives them"),
        Param::new("delay", "none", &[Takes::Words(&["none"]), SECONDS], "D1, in seconds: jobs of the longest class start no sooner after their arrival"),
        Param::new("adapt", "paper", &[Takes::Words(&["paper", "fixed", "bounded"])], "response of the delay to the slowdown of the shortest jobs; bounded: \
              to its level instead of its changes, within bounds"),
        Param::new("batch", "100", &[Takes::COUNT], "completed jobs between two changes of the delay").for_experts(),
        Param::new("overdue", "extended", &[Takes::Words(&["extended", "now"])], "a running job past its predicted end has \
              that end put off (by a minute, then 15, 30, 60 minutes and so on, or as correct says), or counts as ending in the \
              next second").for_studies(),
        Param::new("count", "all", &[Takes::Words(&["all", "short"])], "completed jobs that make a batch").for_studies(),
        Param::new("tolerance", "0.25", &[Takes::Number { from: 0.0, to: 1e12 }], "changes of the slowdown up to this are ignored").for_experts(),
        Param::new("first-change", "slowdown", &[Takes::Words(&["slowdown", "zero"])], "the change that the first batch counts as").for_studies(),
        Param::new("ceiling", "2", &[Takes::Above { above: 0.0, to: 1e12 }], "the largest delay as a multiple of D1").for_experts(),
        Param::new("share", "0.1", &[Takes::Above { above: 0.0, to: 1e12 }], "a job's largest delay as a share of its predicted run time").for_experts(),
        Param::new("hold", "no", &[Takes::NO_YES], "yes: a delayed job gets no promise before its delay is over").for_experts(),
        Param::new("read", "arrival", &[Takes::Words(&["arrival", "now"])], "D of a waiting job: that of its arrival or that of the present").for_studies(),
        Param::new("wake", "yes", &[Takes::NO_YES], "yes: the end of a delay is an event of its own").for_experts(),
    ],
    needs: &[
        ParamNeeds { params: &["queues", "history"], any: &[ParamCondition::Is("bounds", "auto")] },
        ParamNeeds {
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
            any: &[ParamCondition::Not("delay", "none")],
        },
        ParamNeeds { params: &["order", "starve", "priorities"], any: &[ParamCondition::Is("own", "shared")] },
        ParamNeeds { params: &["order", "starve", "priorities"], any: &[ParamCondition::Is("promise", "pivot")] },
        ParamNeeds { params: &["starve"], any: &[ParamCondition::Not("order", "fcfs"), ParamCondition::Not("priorities", "equal")] },
        ParamNeeds { params: &["batch", "count"], any: &[ParamCondition::Not("adapt", "fixed")] },
        ParamNeeds { params: &["tolerance", "first-change"], any: &[ParamCondition::Is("adapt", "paper")] },
        ParamNeeds { params: &["ceiling", "share"], any: &[ParamCondition::Is("adapt", "bounded")] },
    ],
    unnamed: None,
    variants: &[
        Variant {
            name: "lawson2002",
            sets: "overdue=now",
            meaning: "Lawson, Smirni & Puiu 2002 without delay: exact per job against an independent implementation",
        },
        Variant {
            name: "lawson2002-delay",
            sets: "delay=2500,overdue=now",
            meaning: "the same with their adaptive delay, exact as well",
        },
        Variant {
            name: "lawson2002-figure4",
            sets: "own=fig4,overdue=now",
            meaning: "their figure 4 to the letter, which breaks promises; exact as well",
        },
    ],
    build: &|args| {
        let priorities = Priorities::from_text(args.text_value("priorities")).map_err(|e| args.spec_error(e.to_string()))?;
        let settings = parse_settings(args)?;
        // They count where the order does.
        let counts = settings.own == Own::Shared && settings.promise == Promising::Pivot;
        let priorities = if counts { priorities } else { Priorities::default() };
        Ok(Box::new(MultiQueue::new(settings, priorities)))
    },
};

fn parse_settings(args: &Args<'_>) -> Result<QueueSettings, SpecError> {
    // What becomes of predictions is the forecast's affair; a mistake in the word is found here.
    args.get::<String>("overdue")?;
    // Read whether they count or not: a mistake in a parameter is one, whatever the others say.
    let (queues, history) = (args.parse_unless("auto", "queues")?, args.get("history")?);
    let borders = match args.text_value("bounds") {
        "auto" => QueueBorders::Auto { queues, history },
        _ => QueueBorders::Fixed(args.parse_list("bounds")?.into_iter().map(Span).collect()),
    };
    let widths: Vec<u32> = args.parse_list("widths")?;
    let queues = match &borders {
        QueueBorders::Fixed(list) => list.len() + 1,
        QueueBorders::Auto { .. } => 8,
    };
    if queues * (widths.len() + 1) > 64 {
        return Err(args.spec_error("more than 64 queues; leave out some of `bounds` or `widths`".into()));
    }
    Ok(QueueSettings {
        borders,
        widths,
        own: args.choose_value("own", &[("shared", Own::Shared), ("fig4", Own::Figure4), ("split", Own::Split)])?,
        promise: args.choose_value(
            "promise",
            &[("pivot", Promising::Pivot), ("eager", Promising::Eager), ("arrival", Promising::Arrival)],
        )?,
        delay: parse_delay(args)?,
        order: Some(parse_order(args, "order")?).filter(|order| *order != Order::Fcfs),
        starve: parse_starve(args)?,
    })
}

fn parse_delay(args: &Args<'_>) -> Result<Option<ClassDelay>, SpecError> {
    let paper = Control::Paper {
        tolerance: args.get("tolerance")?,
        first_change: args.choose_value("first-change", &[("slowdown", true), ("zero", false)])?,
    };
    let bounded_control = Control::Bounded { ceiling: args.get("ceiling")?, share: args.get("share")? };
    let control =
        args.choose_value("adapt", &[("fixed", Control::Fixed), ("paper", paper), ("bounded", bounded_control)])?;
    let delay = ClassDelay {
        first: 0.0,
        control,
        batch: args.get("batch")?,
        short_only: args.choose_value("count", &[("all", false), ("short", true)])?,
        hold: args.is_yes("hold")?,
        current: args.choose_value("read", &[("arrival", false), ("now", true)])?,
        wake: args.is_yes("wake")?,
    };
    if delay.current && delay.hold {
        return Err(
            args.spec_error("`read=now` and `hold=yes` exclude each other: a hold needs a known duration".into())
        );
    }
    Ok(args.parse_unless("none", "delay")?.map(|first| ClassDelay { first, ..delay }))
}
