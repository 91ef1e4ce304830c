//! The policies by name: their parameters and texts.

use super::ratio::Decimal;
use super::settings::{Factor, Limit, Place, Selection, Service, Victims};
use super::{Immediate, Selective};
use crate::model::Span;
use crate::policy::registry::{Args, Kind, Needs, Param, Variant};
use crate::policy::text::SpecError;

const fn param(name: &'static str, default: &'static str, values: &'static str, meaning: &'static str) -> Param {
    Param { name, default, values, meaning }
}

const SF: Param = param(
    "sf",
    "2",
    "a decimal number from 1|auto",
    "suspension factor: a waiting job may suspend running ones whose expansion factor is at most 1/SF of its own; auto: \
     follows the number of suspensions",
);
const TARGET: Param = param("target", "0.2", "a decimal number", "suspensions per completed job to aim at");
const NARROW: Needs = Needs { params: &["relief"], key: "width", value: "!none" };
const AUTO: Needs = Needs { params: &["target"], key: "sf", value: "auto" };
// Who may go on anywhere owns nothing while suspended; in one piece or not is another question.
const OWNERS: Needs = Needs { params: &["place"], key: "migration|place", value: "no|contiguous" };
const EVERY: Param = param("every", "60", "seconds from 1", "the preemption routine runs at multiples of this");
const PLACE: Param = param(
    "place",
    "strict",
    "strict|priosf|prio1|never|avoid|lowest|contiguous",
    "which free processors a fresh job may take: none that a suspended job owns, but those of its victims; or those whose \
     owner's priority it exceeds SF times, or reaches; or in the preemption routine all; or all, those without owner first; \
     or all, lowest first, or in one piece",
);
const RULE: Param = param(
    "rule",
    "widest",
    "widest|skip|exit",
    "which eligible victims: the widest first; or in order of priority until they are enough, skipping or ending at the \
     first ineligible one",
);
const WIDTH: Param =
    param("width", "2", "a number from 1|none", "a fresh job suspends only jobs up to so many times as wide as itself");
const STARTS: Param = param(
    "starts",
    "events",
    "events|ticks",
    "whether jobs start as soon as they can or when the preemption routine runs",
);
const CAP: Param = param("cap", "none", "none|a number from 1", "how often a job may be suspended");
const RELIEF: Param = param(
    "relief",
    "none",
    "none|a decimal number from 1",
    "from this expansion factor on the width of victims does not matter",
);
const MIGRATION: Param =
    param("migration", "no", "no|yes", "whether a suspended job may go on on other processors than its own");

const PAPER: Variant = Variant {
    name: "kettimuthu2005",
    sets: "",
    meaning: "Kettimuthu et al. 2005 as settled: exact per job against an independent implementation",
};
const SOURCE: &str = "Kettimuthu, Subramani, Srinivasan, Gopalsamy, Panda & Sadayappan 2005; sf=auto, cap, relief and \
                      migration are Drystone's";

/// Selective suspension.
pub(crate) static SS: Kind = Kind {
    name: "ss",
    summary: "selective suspension: who has waited long for its length takes the processors of those who have not",
    source: SOURCE,
    params: &[SF, TARGET, EVERY, PLACE, RULE, WIDTH, STARTS, CAP, RELIEF, MIGRATION],
    needs: &[AUTO, NARROW, OWNERS],
    unnamed: None,
    variants: &[PAPER],
    build: |args| Ok(Box::new(Selective::new(selection(args, Limit::None)?))),
};

/// Tuned selective suspension.
pub(crate) static TSS: Kind = Kind {
    name: "tss",
    summary: "selective suspension that spares jobs whose own slowdown is above what is usual for their kind",
    source: SOURCE,
    params: &[
        SF,
        param(
            "means",
            "online",
            "online|16 numbers separated by `/`",
            "mean bounded slowdowns of the 16 categories (run time class by class of processors): of the jobs completed so \
             far, or given",
        ),
        param(
            "limit",
            "1.5",
            "a number above 0",
            "a job above so many times the mean of its category is not suspended",
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
    build: |args| Ok(Box::new(Selective::new(selection(args, limit(args)?)?))),
};

/// Immediate service.
pub(crate) static IS: Kind = Kind {
    name: "is",
    summary: "immediate service: who arrives starts at once, in place of those who have had their time slice",
    source: "Chiang & Vernon 2001 as read by Kettimuthu et al. 2005; how suspended jobs go on is not in the papers",
    params: &[
        param("slice", "600", "seconds from 1", "how long a job runs before it may be suspended"),
        EVERY,
        param(
            "resume",
            "2",
            "a decimal number from 1|free",
            "a suspended job may suspend those whose instantaneous expansion factor is at most so many times less than its \
             own to go on; free: it waits until its processors are free",
        ),
    ],
    needs: &[],
    unnamed: None,
    variants: &[PAPER],
    build: |args| {
        let resume = match args.text("resume") {
            "free" => None,
            _ => Some(from_one(args, "resume")?),
        };
        let settings = Service { slice: seconds(args, "slice")?, every: seconds(args, "every")?, resume };
        Ok(Box::new(Immediate::new(settings)))
    },
};

fn selection(args: &Args<'_>, limit: Limit) -> Result<Selection, SpecError> {
    // Read whether it counts or not: a mistake in a parameter is one, whatever the others say.
    let target = decimal(args, "target")?;
    let factor = match args.text("sf") {
        "auto" => Factor::Auto { target },
        _ => Factor::Fixed(from_one(args, "sf")?),
    };
    let relief = match args.text("relief") {
        "none" => None,
        _ => Some(from_one(args, "relief")?),
    };
    let selection = Selection {
        factor,
        limit,
        every: seconds(args, "every")?,
        place: args.choose(
            "place",
            &[
                ("strict", Place::Strict),
                ("priosf", Place::PrioritySf),
                ("prio1", Place::Priority),
                ("never", Place::Never),
                ("avoid", Place::Avoid),
                ("lowest", Place::Lowest),
                ("contiguous", Place::Contiguous),
            ],
        )?,
        victims: args
            .choose("rule", &[("widest", Victims::Widest), ("skip", Victims::Skip), ("exit", Victims::Exit)])?,
        width: number(args, "width")?,
        starts_at_ticks: args.choose("starts", &[("events", false), ("ticks", true)])?,
        cap: number(args, "cap")?,
        relief,
        migrate: args.choose("migration", &[("no", false), ("yes", true)])?,
    };
    // Found by random workloads: they are resumed and suspended again at one instant for ever.
    if selection.migrate && matches!(selection.place, Place::PrioritySf | Place::Priority) {
        let problem = "with `migration=yes` suspended jobs own no processors, so that `place=priosf` and `place=prio1`, which \
                       ask for the owner's priority, have no meaning; take another `place`";
        return Err(args.error(problem.into()));
    }
    Ok(selection)
}

fn limit(args: &Args<'_>) -> Result<Limit, SpecError> {
    let factor: f64 = args.get("limit")?;
    if !(factor > 0.0 && factor.is_finite()) {
        return Err(args.wrong("limit"));
    }
    let text = args.text("means");
    if text == "online" {
        return Ok(Limit::Online { factor });
    }
    let means: Result<Vec<f64>, _> = text.split('/').map(|n| n.trim().parse()).collect();
    let means = means.map_err(|_| args.wrong("means"))?;
    let means = <[f64; 16]>::try_from(means).map_err(|_| args.wrong("means"))?;
    if means.iter().any(|m| !m.is_finite() || *m < 0.0) {
        return Err(args.wrong("means"));
    }
    Ok(Limit::Given { factor, means: Box::new(means) })
}

fn decimal(args: &Args<'_>, name: &str) -> Result<Decimal, SpecError> {
    args.text(name).parse().map_err(|()| args.wrong(name))
}

fn from_one(args: &Args<'_>, name: &str) -> Result<Decimal, SpecError> {
    let number = decimal(args, name)?;
    if number.is_at_least_one() { Ok(number) } else { Err(args.wrong(name)) }
}

/// A number from 1, or none.
fn number(args: &Args<'_>, name: &str) -> Result<Option<u32>, SpecError> {
    if args.text(name) == "none" {
        return Ok(None);
    }
    let number: u32 = args.get(name)?;
    if number > 0 { Ok(Some(number)) } else { Err(args.wrong(name)) }
}

/// From a second to a century.
fn seconds(args: &Args<'_>, name: &str) -> Result<Span, SpecError> {
    let seconds: i64 = args.get(name)?;
    if (1..=100 * 366 * Span::DAY.0).contains(&seconds) { Ok(Span(seconds)) } else { Err(args.wrong(name)) }
}
