//! The policies by name: their parameters and texts.

use super::ratio::DecimalRatio;
use super::settings::{
    FreshPlace, LimitOf, LimitOn, Service, SuspensionFactor, SuspensionLimit, SuspensionSettings, VictimRule,
};
use super::{Immediate, SelectivePolicy};
use crate::model::Span;
use crate::policy::{Args, Param, ParamCondition, ParamNeeds, PolicyKind, SpecError, Takes, Variant};

/// From a second to a century.
const SECONDS: &[Takes] = &[Takes::Seconds { from: 1, to: 100 * 366 * Span::DAY.0 as u64 }];

const SF: Param = Param::new(
    "sf",
    "2",
    &[DecimalRatio::FROM_ONE, Takes::Words(&["auto"])],
    "suspension factor: a waiting job may suspend running ones whose expansion factor is at most 1/SF of its own; auto: \
     follows the number of suspensions",
);
const TARGET: Param =
    Param::new("target", "0.2", &[DecimalRatio::FROM_ZERO], "suspensions per completed job to aim at").for_experts();
const NARROW: ParamNeeds = ParamNeeds { params: &["relief"], any: &[ParamCondition::Not("width", "none")] };
const AUTO: ParamNeeds = ParamNeeds { params: &["target"], any: &[ParamCondition::Is("sf", "auto")] };
// A job that may resume anywhere owns nothing while suspended; in one piece or not is another
// question.
const OWNERS: ParamNeeds = ParamNeeds {
    params: &["place"],
    any: &[ParamCondition::Is("migration", "no"), ParamCondition::Is("place", "contiguous")],
};
const EVERY: Param = Param::new("every", "60", SECONDS, "the preemption routine runs at multiples of this");
const PLACE: Param = Param::new(
    "place",
    "strict",
    &[Takes::Words(&["strict", "priosf", "prio1", "never", "avoid", "lowest", "contiguous"])],
    "free processors that a fresh job may take: none that a suspended job owns, but those of its victims; or those whose \
     owner's priority it exceeds SF times, or reaches; or in the preemption routine all; or all, those without owner first; \
     or all, lowest first, or in one piece",
);
const RULE: Param = Param::new("rule", "widest", &[Takes::Words(&["widest", "skip", "exit"])], "choice among eligible victims: the widest first; or in order of priority until they are enough, skipping or ending at the \
     first ineligible one").for_studies();
const WIDTH: Param = Param::new(
    "width",
    "2",
    &[Takes::COUNT, Takes::Words(&["none"])],
    "a fresh job suspends only jobs up to this many times as wide as itself",
);
const STARTS: Param = Param::new(
    "starts",
    "events",
    &[Takes::Words(&["events", "ticks"])],
    "times at which jobs start: as soon as they can, or when the preemption routine runs",
)
.for_studies();
const CAP: Param =
    Param::new("cap", "none", &[Takes::Words(&["none"]), Takes::COUNT], "largest number of suspensions of a job");
const RELIEF: Param = Param::new(
    "relief",
    "none",
    &[Takes::Words(&["none"]), DecimalRatio::FROM_ONE],
    "from this expansion factor on the width of victims does not matter",
);
const MIGRATION: Param =
    Param::new("migration", "no", &[Takes::NO_YES], "yes: a suspended job may resume on other processors than its own");

/// Categories of the paper's table 1, in the order of [`SuspensionLimit::Given`].
const CATEGORIES: [&str; 17] = [
    "all", "VS-Seq", "VS-N", "VS-W", "VS-VW", "S-Seq", "S-N", "S-W", "S-VW", "L-Seq", "L-N", "L-W", "L-VW", "VL-Seq",
    "VL-N", "VL-W", "VL-VW",
];

const PAPER: Variant = Variant {
    name: "kettimuthu2005",
    sets: "",
    meaning: "Kettimuthu et al. 2005 as settled: exact per job against an independent implementation",
};
const SOURCE: &str = "Kettimuthu, Subramani, Srinivasan, Gopalsamy, Panda & Sadayappan 2005; sf=auto, cap, relief and \
                      migration are Drystone's";

/// Selective suspension.
pub(crate) static SS: PolicyKind = PolicyKind {
    name: "ss",
    summary: "selective suspension: a job that has waited long for its length takes the processors of jobs that have not",
    source: SOURCE,
    params: &[SF, TARGET, EVERY, PLACE, RULE, WIDTH, STARTS, CAP, RELIEF, MIGRATION],
    needs: &[AUTO, NARROW, OWNERS],
    unnamed: None,
    variants: &[PAPER],
    build: &|args| {
        Ok(Box::new(SelectivePolicy::new(parse_selection(
            args,
            SuspensionLimit::None,
            LimitOn::Victim,
            LimitOf::Slowdown,
        )?)))
    },
};

/// Tuned selective suspension.
pub(crate) static TSS: PolicyKind = PolicyKind {
    name: "tss",
    summary: "selective suspension that spares jobs whose own slowdown is above the usual one of their kind",
    source: SOURCE,
    params: &[
        SF,
        Param::new("means", "online", &[Takes::Words(&["online"]), Takes::Numbers { count: 16 }], "mean bounded slowdowns, or turnarounds, of the 16 categories (run time class by class of processors): of the jobs completed so \
             far, or given").for_studies(),
        Param::new("only", "all", &[Takes::Words(&CATEGORIES)], "category to which the limit applies, by the paper's short names: run times up to 10 min (VS), 1 h (S), 8 h (L) and more (VL), \
             processors 1 (Seq), up to 8 (N), up to 32 (W) and more (VW); jobs of the others are not spared"),
        Param::new("limit", "1.5", &[Takes::Above { above: 0.0, to: f64::MAX }], "a job above this many times the mean of its category is not suspended"),
        Param::new(
            "limits",
            "victim",
            &[Takes::Words(&["victim", "preemptor"])],
            "expansion factor that is limited: that of the job that would be suspended, as in the paper's text, or that of the \
             job that would suspend it, as in its printed formula",
        )
        .for_studies(),
        Param::new(
            "of",
            "slowdown",
            &[Takes::Words(&["slowdown", "turnaround"])],
            "quantity that is limited: the expansion factor, or the turnaround that a job has if it runs to its end now, in seconds, \
             as `means` then are",
        ),
        TARGET,
        EVERY,
        PLACE,
        RULE,
        WIDTH,
        STARTS,
        CAP,
        RELIEF,
        MIGRATION,
    ],
    needs: &[AUTO, NARROW, OWNERS],
    unnamed: None,
    variants: &[PAPER],
    build: &|args| {
        let on = args.choose_value("limits", &[("victim", LimitOn::Victim), ("preemptor", LimitOn::Preemptor)])?;
        let only = CATEGORIES.iter().skip(1).position(|name| args.has_value("only", name));
        let of = args.choose_value("of", &[("slowdown", LimitOf::Slowdown), ("turnaround", LimitOf::Turnaround)])?;
        Ok(Box::new(SelectivePolicy::new(SuspensionSettings { only, ..parse_selection(args, parse_limit(args)?, on, of)? })))
    },
};

/// Immediate service.
pub(crate) static IS: PolicyKind = PolicyKind {
    name: "is",
    summary: "immediate service: a job that arrives starts at once, in place of jobs that have had their time slice",
    source: "Chiang & Vernon 2001 as read by Kettimuthu et al. 2005; how suspended jobs resume is not in the papers",
    params: &[
        Param::new("slice", "600", SECONDS, "run time of a job before it may be suspended, in seconds"),
        EVERY,
        Param::new(
            "resume",
            "2",
            &[DecimalRatio::FROM_ONE, Takes::Words(&["free"])],
            "a suspended job may suspend those whose instantaneous expansion factor is at most this many times less than its \
             own to resume; free: it waits until its processors are free",
        ),
    ],
    needs: &[],
    unnamed: None,
    variants: &[PAPER],
    build: &|args| {
        let resume = args.parse_unless("free", "resume")?;
        let settings = Service { slice: parse_seconds(args, "slice")?, every: parse_seconds(args, "every")?, resume };
        Ok(Box::new(Immediate::new(settings)))
    },
};

fn parse_selection(
    args: &Args<'_>,
    limit: SuspensionLimit,
    limit_on: LimitOn,
    limit_of: LimitOf,
) -> Result<SuspensionSettings, SpecError> {
    // Read whether it counts or not: a mistake in a parameter is one, whatever the others say.
    let target = args.get("target")?;
    let factor = args.parse_unless("auto", "sf")?.map_or(SuspensionFactor::Auto { target }, SuspensionFactor::Fixed);
    let selection = SuspensionSettings {
        factor,
        limit,
        limit_on,
        limit_of,
        only: None,
        every: parse_seconds(args, "every")?,
        place: args.choose_value(
            "place",
            &[
                ("strict", FreshPlace::Strict),
                ("priosf", FreshPlace::PrioritySf),
                ("prio1", FreshPlace::Priority),
                ("never", FreshPlace::Never),
                ("avoid", FreshPlace::Avoid),
                ("lowest", FreshPlace::Lowest),
                ("contiguous", FreshPlace::Contiguous),
            ],
        )?,
        victims: args.choose_value(
            "rule",
            &[("widest", VictimRule::Widest), ("skip", VictimRule::Skip), ("exit", VictimRule::Exit)],
        )?,
        width: args.parse_unless("none", "width")?,
        starts_at_ticks: args.choose_value("starts", &[("events", false), ("ticks", true)])?,
        cap: args.parse_unless("none", "cap")?,
        relief: args.parse_unless("none", "relief")?,
        migrate: args.is_yes("migration")?,
    };
    // Found by random workloads: they are resumed and suspended again at one instant for ever.
    if selection.migrate && matches!(selection.place, FreshPlace::PrioritySf | FreshPlace::Priority) {
        let problem = "with `migration=yes` suspended jobs own no processors, so that `place=priosf` and `place=prio1`, which \
                       ask for the owner's priority, have no meaning; take another `place`";
        return Err(args.spec_error(problem.into()));
    }
    Ok(selection)
}

fn parse_limit(args: &Args<'_>) -> Result<SuspensionLimit, SpecError> {
    let factor = args.get("limit")?;
    if args.has_value("means", "online") {
        return Ok(SuspensionLimit::Online { factor });
    }
    let means = <[f64; 16]>::try_from(args.parse_list("means")?).map_err(|_| args.value_error("means"))?;
    Ok(SuspensionLimit::Given { factor, means: Box::new(means) })
}

fn parse_seconds(args: &Args<'_>, name: &str) -> Result<Span, SpecError> {
    args.get(name).map(Span)
}
