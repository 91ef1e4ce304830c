//! Choices about sizes, and the parameters that set them.

use crate::model::{PowerTerm, Span};
use crate::parts::ranking::{PATIENCE, parse_seconds};
use crate::policy::{Args, Param, ParamCondition, ParamNeeds, SpecError, Takes};
use serde::{Deserialize, Serialize};

/// Size with which a job starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum ShapeRule {
    /// The preferred one.
    #[default]
    Preferred,
    /// The one that is predicted to end first, as of the arrival.
    Submit,
    /// The one that is predicted to end first, as of each pass; the head may wait for a wider
    /// start.
    Start,
    /// As with [`ShapeRule::Start`], but the head never waits while any size fits.
    StartNow,
    /// As many processors as are free.
    Most,
    /// As many processors as are free, and at most the preferred size.
    UpTo,
    /// The smallest one.
    Min,
}

/// Changes of size that the policy makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum ResizeRule {
    /// None.
    #[default]
    None,
    /// Jobs shrink for the head of the queue.
    Shrink,
    /// Jobs grow into what is left.
    Grow,
    /// Both.
    Both,
}

/// Sizes for which running jobs shrink: of the head, and of those that give.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum ShrinkLadder {
    /// The head gets its smallest size, and others go down to theirs.
    #[default]
    Min,
    /// The head gets its preferred size and others keep theirs; then it gets its smallest; then
    /// others go down to theirs.
    Pref,
    /// As `Pref`, and others always keep their preferred size.
    Keep,
}

/// Order in which jobs give and get processors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum ShareRule {
    /// The job furthest above gives first, the one furthest below gets first.
    #[default]
    Surplus,
    /// One step at a time, the fullest gives and the emptiest gets.
    Equal,
    /// The last to have started gives first, the first to have started gets first.
    Fpsma,
}

/// Treatment of running jobs when power falls below what they draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum DropRule {
    /// They run on.
    #[default]
    None,
    /// Malleable ones shrink.
    Shrink,
    /// They run at slower paces; if that is too little, malleable ones shrink.
    Pace,
    /// The jobs that started last are suspended until there is power for them.
    Suspend,
    /// The last to have started wait again, with nothing left of their progress.
    Requeue,
    /// The last to have started end for good.
    Kill,
}

/// Waiting for times of low carbon intensity or prices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TermHold {
    /// Quantity that is to be low.
    pub term: PowerTerm,
    /// Longest wait for it after the arrival.
    pub most: Span,
    /// Jobs grow only where less than this share of the next day, in millionths, is lower.
    pub quantile: u32,
}

/// All choices about sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SizeChoices {
    /// Size with which a job starts.
    pub shape: ShapeRule,
    /// Changes of size.
    pub resize: ResizeRule,
    /// Sizes for which jobs shrink.
    pub ladder: ShrinkLadder,
    /// Order of giving and getting.
    pub share: ShareRule,
    /// Treatment of drops of power.
    pub drop: DropRule,
    /// True if malleable jobs that were suspended resume with the size with which they end first.
    pub migrates: bool,
    /// True if running jobs grow before others start.
    pub grows_first: bool,
    /// True if jobs may start at slower paces than the full one.
    pub any_pace: bool,
    /// True if no job gets more than its fair share of the machine.
    pub is_fair: bool,
    /// Waiting for low carbon or prices.
    pub hold: Option<TermHold>,
}

impl SizeChoices {
    pub(super) fn can_shrink(&self) -> bool {
        matches!(self.resize, ResizeRule::Shrink | ResizeRule::Both)
    }

    /// Returns whether a reserved start is promised. With `shape=start` the end is reserved: the
    /// job may wait for a wider start. With `cap=fair` the share may grow, and with `hold` the job
    /// may wait for low carbon intensity or prices.
    pub(super) fn promises_starts(&self) -> bool {
        self.shape != ShapeRule::Start && !self.is_fair && self.hold.is_none()
    }

    pub(super) fn can_grow(&self) -> bool {
        matches!(self.resize, ResizeRule::Grow | ResizeRule::Both)
    }
}

const SHAPES: &[(&str, ShapeRule)] = &[
    ("preferred", ShapeRule::Preferred),
    ("submit", ShapeRule::Submit),
    ("start", ShapeRule::Start),
    ("start-now", ShapeRule::StartNow),
    ("most", ShapeRule::Most),
    ("upto", ShapeRule::UpTo),
    ("min", ShapeRule::Min),
];

const SHARES: &[(&str, ShareRule)] =
    &[("surplus", ShareRule::Surplus), ("equal", ShareRule::Equal), ("fpsma", ShareRule::Fpsma)];

/// The size of a job at its start.
pub(in crate::policy) const SHAPE: Param = Param::new(
    "shape",
    "preferred",
    &[Takes::Words(&["preferred", "submit", "start", "start-now", "most", "upto", "min"])],
    "size of a job that may have several (--shapes): the preferred one; the one that ends first, as planned at its arrival \
     (submit) or at each pass (start; start-now never waits for a wider one while any fits); as many processors as are free \
     (most, upto: at most the preferred size); the smallest one",
);

pub(in crate::policy) const PLANNED_SHAPE: Param = Param::new(
    "shape",
    "preferred",
    &[Takes::Words(&["preferred", "submit", "start", "start-now", "most", "upto", "min"])],
    "size of a job that may have several (--shapes): the preferred one, the one that ends first in the plan, for good \
     (submit), or as long as neither start nor end gets later (start); start-now, most, upto and min as in easy, at the arrival",
);

/// Growth of running jobs beside a plan.
pub(in crate::policy) const PLANNED_RESIZE: Param = Param::new(
    "resize",
    "none",
    &[Takes::Words(&["none", "grow"])],
    "changes of malleable jobs while they run: they grow where every planned job keeps its start",
);

/// Changes of size while jobs run.
pub(in crate::policy) const RESIZE: Param = Param::new(
    "resize",
    "none",
    &[Takes::Words(&["none", "shrink", "grow", "both"])],
    "changes of malleable jobs while they run: they shrink for the head of the queue, grow into what is left, or both",
);

/// Sizes for which jobs shrink.
pub(in crate::policy) const LADDER: Param = Param::new(
    "ladder",
    "min",
    &[Takes::Words(&["min", "pref", "keep"])],
    "sizes for which jobs shrink: the smallest of the head and of those that give (min); first the preferred ones (pref); \
     no job gives below its preferred size (keep)",
);

/// Order in which jobs give and get.
pub(in crate::policy) const SHARE: Param = Param::new(
    "share",
    "surplus",
    &[Takes::Words(&["surplus", "equal", "fpsma"])],
    "order in which malleable jobs give and get processors: by what they have above or below the preferred size (surplus), \
     step by step from the fullest to the emptiest (equal), by the time of their starts (fpsma)",
);

pub(in crate::policy) const DROP: Param = Param::new(
    "drop",
    "none",
    &[Takes::Words(&["none", "shrink", "pace", "suspend", "requeue", "kill"])],
    "treatment of running jobs when the cap on power (--power) falls below what they draw: nothing happens (none), malleable \
     jobs shrink, jobs run at slower paces and malleable ones shrink if that is too little (pace), or the jobs that started \
     last are suspended until there is power, requeued, or killed",
);

pub(in crate::policy) const PACE: Param = Param::new(
    "pace",
    "any",
    &[Takes::Words(&["any", "full"])],
    "pace at which a job starts: where there is too little power (--power), a slower one of its paces (--shapes), if the job \
     then ends earlier than after the wait for a faster one (any); or always the full one",
);

/// Sizes of jobs that resume.
pub(in crate::policy) const MIGRATION: Param = Param::new(
    "migration",
    "no",
    &[Takes::NO_YES],
    "size with which a suspended malleable job resumes: its own (no), or the one with which it is predicted to end first",
);

pub(in crate::policy) const GROW: Param = Param::new(
    "grow",
    "last",
    &[Takes::Words(&["last", "first"])],
    "jobs grow into what waiting jobs leave, or before any job starts",
)
.for_experts();

/// The largest size of a job.
pub(in crate::policy) const CAP: Param = Param::new(
    "cap",
    "none",
    &[Takes::Words(&["none", "fair"])],
    "largest size of a job: none, or its share of the machine by the square root of its predicted work, over waiting and \
     running jobs (fair)",
);

/// Waiting for low carbon or prices.
pub(in crate::policy) const HOLD: Param = Param::new(
    "hold",
    "none",
    &[Takes::Words(&["none", "carbon", "price"])],
    "jobs wait for a start with lower carbon intensity or price over their predicted run, as --series says; jobs that wait \
     for it have no reservation",
);

/// The longest wait for low carbon or prices.
pub(in crate::policy) const MOST: Param =
    Param::new("most", "6h", &[PATIENCE], "longest wait for low carbon or prices after the arrival");

/// Growth at low carbon or prices.
pub(in crate::policy) const QUANTILE: Param = Param::new(
    "q",
    "1",
    &[Takes::Number { from: 0.0, to: 1.0 }],
    "jobs grow only at times when less than this share of the next day has lower carbon intensity or prices; 1: always",
);

/// Conditions under which these parameters count.
pub(in crate::policy) const RESIZE_NEEDS: &[ParamNeeds] = &[
    ParamNeeds {
        params: &["ladder"],
        any: &[ParamCondition::Is("resize", "shrink"), ParamCondition::Is("resize", "both")],
    },
    ParamNeeds { params: &["share"], any: &[ParamCondition::Not("resize", "none")] },
    ParamNeeds { params: &["most", "q"], any: &[ParamCondition::Not("hold", "none")] },
    ParamNeeds {
        params: &["grow"],
        any: &[ParamCondition::Is("resize", "grow"), ParamCondition::Is("resize", "both")],
    },
    ParamNeeds { params: &["migration"], any: &[ParamCondition::Is("drop", "suspend")] },
];

pub(in crate::policy) fn size_choices(args: &Args<'_>) -> Result<SizeChoices, SpecError> {
    use ResizeRule::{Both, Grow, None, Shrink};
    Ok(SizeChoices {
        shape: args.choose_value("shape", SHAPES)?,
        resize: args.choose_value("resize", &[("none", None), ("shrink", Shrink), ("grow", Grow), ("both", Both)])?,
        ladder: args.choose_value(
            "ladder",
            &[("min", ShrinkLadder::Min), ("pref", ShrinkLadder::Pref), ("keep", ShrinkLadder::Keep)],
        )?,
        share: args.choose_value("share", SHARES)?,
        drop: args.choose_value(
            "drop",
            &[
                ("none", DropRule::None),
                ("shrink", DropRule::Shrink),
                ("pace", DropRule::Pace),
                ("suspend", DropRule::Suspend),
                ("requeue", DropRule::Requeue),
                ("kill", DropRule::Kill),
            ],
        )?,
        migrates: args.has_value("drop", "suspend") && args.is_yes("migration")?,
        grows_first: args.has_value("grow", "first"),
        any_pace: args.has_value("pace", "any"),
        is_fair: args.has_value("cap", "fair"),
        hold: parse_hold(args)?,
    })
}

fn parse_hold(args: &Args<'_>) -> Result<Option<TermHold>, SpecError> {
    let term = args.choose_value(
        "hold",
        &[("none", None), ("carbon", Some(PowerTerm::Carbon)), ("price", Some(PowerTerm::Price))],
    )?;
    let most = parse_seconds(args.text_value("most")).ok_or_else(|| args.value_error("most"))?;
    let share = Some(args.get::<f64>("q")?).filter(|share| (0.0..=1.0).contains(share));
    let quantile = (share.ok_or_else(|| args.value_error("q"))? * 1e6).round() as u32;
    Ok(term.map(|term| TermHold { term, most, quantile }))
}

pub(in crate::policy) fn planned_choices(args: &Args<'_>) -> Result<SizeChoices, SpecError> {
    Ok(SizeChoices {
        shape: args.choose_value("shape", SHAPES)?,
        resize: args.choose_value("resize", &[("none", ResizeRule::None), ("grow", ResizeRule::Grow)])?,
        share: args.choose_value("share", SHARES)?,
        is_fair: args.has_value("cap", "fair"),
        ..SizeChoices::default()
    })
}
