//! The family under its names: what they are called, and what their parameters mean.

use super::plain::{Parting, PlainBackfill, RunTimeBasis};
use super::{Arrive, Backfill, BackfillChoices, OverdueRule, OvertakeGuard};
use crate::parts::ranking::{STARVE, parse_order, parse_starve};
use crate::parts::{ExtraRule, Order, predict};
use crate::policy::shaped::{
    CAP, DROP, GROW, HOLD, LADDER, MIGRATION, MOST, PACE, QUANTILE, RESIZE, RESIZE_NEEDS, SHAPE, SHARE, SizeChoices,
    size_choices,
};
use crate::policy::{Args, Notice, Param, ParamCondition, ParamNeeds, PolicyKind, SpecError, Takes, Variant};

const ORDER: Param =
    Param::new("order", "fcfs", &[Order::TAKES], "the order of the queue: the first job gets a reservation");

const BACKFILL: Param = Param::new("backfill", "fcfs", &[Order::TAKES], "the order in which the others are tried");

/// Strictly in order: no job overtakes.
pub(crate) static FCFS: PolicyKind = PolicyKind {
    name: "fcfs",
    summary: "strictly in the order of the queue: no job starts before one ahead of it",
    source: "the baseline of every study",
    params: &[ORDER, STARVE],
    needs: &[],
    unnamed: None,
    variants: &[],
    build: &|args| {
        let (order, starve) = (parse_order(args, "order")?, parse_starve(args)?);
        Ok(Box::new(Backfill::new(BackfillChoices { order, starve, backfill: None, ..BackfillChoices::default() })))
    },
};

/// Every job that fits starts.
pub(crate) static GREEDY: PolicyKind = PolicyKind {
    name: "greedy",
    summary: "every job that fits starts; no reservation, so wide jobs may wait for ever",
    source: "backfilling without reservations, e.g. Feitelson et al. 2004",
    params: &[ORDER, STARVE],
    needs: &[],
    unnamed: None,
    variants: &[],
    build: &|args| {
        let (order, starve) = (parse_order(args, "order")?, parse_starve(args)?);
        let backfill = Some(order.clone());
        Ok(Box::new(Backfill::new(BackfillChoices {
            order,
            backfill,
            starve,
            reservations: 0,
            ..BackfillChoices::default()
        })))
    },
};

/// If predicted ends are put off, nothing is overdue, unless `correct=none` says that nothing puts
/// them off.
const OVERDUE: &[(&str, OverdueRule)] = &[
    ("extended", OverdueRule::Now),
    ("now", OverdueRule::Now),
    ("stale", OverdueRule::Stale),
    ("free", OverdueRule::Free),
];

/// The EASY family.
pub(crate) static EASY: PolicyKind = PolicyKind {
    name: "easy",
    summary: "the head of the queue has a reservation; others may overtake if they do not delay it",
    source: "Lifka 1995; the choices after Tsafrir, Etsion & Feitelson 2007",
    params: &[
        ORDER,
        BACKFILL,
        Param::new(
            "reserve",
            "1",
            &[Takes::Whole { from: 0, to: u32::MAX as u64 }],
            "number of jobs with a reservation: 0 is greedy; with 2 or more each pass plans again, so only the first \
                      job's promise is sure to hold",
        ),
        Param::new(
            "extra",
            "all",
            &[Takes::Words(&["all", "first"])],
            "extra processors: those free at the shadow time with all ends up to it counted, or with the walk \
                      stopped at the first sufficient end",
        )
        .for_studies(),
        Param::new(
            "overdue",
            "extended",
            &[Takes::Words(&["extended", "now", "stale", "free"])],
            "a running job past its predicted end has that end put off (by a minute, then 15, 30, 60 minutes and so on, or as \
             correct says), or counts as ending now, or keeps that end, so that a shadow time may lie in the past, or counts \
             as having given back its processors (only with pass=pyss)",
        )
        .for_studies(),
        Param::new(
            "arrive",
            "always",
            &[Takes::Words(&["always", "fits"])],
            "an arrival leads to a pass always, or only if the newcomer fits the free processors",
        )
        .for_studies(),
        Param::new(
            "guard",
            "prediction",
            &[Takes::Words(&["prediction", "estimate"])],
            "a job may overtake if its predicted end respects the reservation, or only if its estimated end does as well; \
             the reservation itself follows predictions, so jobs that outlive theirs delay it all the same",
        ),
        Param::new(
            "plan",
            "prediction",
            &[Takes::Words(&["prediction", "estimate"])],
            "the run times by which the reservation is made and jobs are admitted; with estimate, predictions only put jobs in \
             order, and the reservation is kept as long as jobs end by their estimates",
        ),
        Param::new(
            "announce",
            "plan",
            &[Takes::Words(&["plan", "estimate"])],
            "reservation announced to users: that of the plan, or that of the estimates (double booking)",
        ),
        Param::new(
            "notice",
            "immediate",
            &[Takes::Words(&["immediate", "late"])],
            "early ends are noticed at once, or at the next arrival or planned end",
        )
        .for_studies(),
        STARVE,
        SHAPE,
        RESIZE,
        LADDER,
        SHARE,
        GROW,
        CAP,
        DROP,
        MIGRATION,
        PACE,
        HOLD,
        MOST,
        QUANTILE,
    ],
    needs: &[
        RESIZE_NEEDS[0],
        RESIZE_NEEDS[1],
        RESIZE_NEEDS[2],
        RESIZE_NEEDS[3],
        RESIZE_NEEDS[4],
        ParamNeeds { params: &["extra", "arrive", "guard", "plan", "announce"], any: &[ParamCondition::Not("reserve", "0")] },
        ParamNeeds { params: &["guard", "plan", "announce"], any: &[ParamCondition::Not("predict", "estimate")] },
        ParamNeeds { params: &["guard", "announce"], any: &[ParamCondition::Is("plan", "prediction")] },
    ],
    unnamed: None,
    variants: &[
        Variant {
            name: "tsafrir2007",
            sets: "pass=event,extra=first,overdue=stale",
            meaning: "Tsafrir, Etsion & Feitelson 2007: exact per job against an independent implementation",
        },
        Variant {
            name: "gaussier2015",
            sets: "pass=pyss,overdue=free,arrive=fits",
            meaning: "Gaussier, Glesser, Reis & Trystram 2015: published averages to the last digit",
        },
        Variant {
            name: "talby1999",
            sets: "overdue=now,notice=late",
            meaning: "EASY in the simulator behind Talby & Feitelson 1999, which had conservative and priority scheduling only",
        },
        Variant {
            name: "kettimuthu2005",
            sets: "overdue=now",
            meaning: "NS of Kettimuthu et al. 2005: exact per job against an independent implementation",
        },
        Variant {
            name: "lawson2002",
            sets: "overdue=now",
            meaning: "the single queue of Lawson et al. 2002: exact per job against an independent implementation",
        },
    ],
    build: &|args| {
        let choices = BackfillChoices {
            order: parse_order(args, "order")?,
            backfill: Some(parse_order(args, "backfill")?),
            starve: parse_starve(args)?,
            reservations: args.get("reserve")?,
            extra: args.choose_value("extra", &[("all", ExtraRule::All), ("first", ExtraRule::First)])?,
            overdue: args.choose_value("overdue", OVERDUE)?,
            arrive: args.choose_value("arrive", &[("always", Arrive::Always), ("fits", Arrive::Fits)])?,
            guard: args.choose_value("guard", &[("prediction", OvertakeGuard::Prediction), ("estimate", OvertakeGuard::Estimate)])?,
        };
        if choices.overdue == OverdueRule::Free && args.text_value("pass") != "pyss" {
            return Err(args.spec_error("`overdue=free` would start jobs on taken processors; it needs `pass=pyss`".into()));
        }
        if choices.overdue == OverdueRule::Free && args.text_value("correct") == "none" && predict::is_learning(args.text_value("predict")) {
            let problem = "`overdue=free` counts a job past its prediction as gone; predictions from history need a \
                           `correct` other than none for that";
            return Err(args.spec_error(problem.into()));
        }
        if choices.reservations > 1 && (choices.overdue != OverdueRule::Now || choices.extra != ExtraRule::All) {
            return Err(
                args.spec_error("several reservations (`reserve`) go with `extra=all` and `overdue=extended` or `now` only".into())
            );
        }
        let sizes = size_choices(args)?;
        let parting = parse_parting(args)?;
        let choosy = SizeChoices { any_pace: false, ..sizes };
        if choosy != SizeChoices::default() && !(choices.know_sizes() && parting == Parting::default()) {
            let problem = "`shape`, `resize`, `cap`, `drop` and `hold` go with at most one reservation and with the defaults of extra, overdue, \
                           arrive, guard, plan, announce and notice only";
            return Err(args.spec_error(problem.into()));
        }
        if parting != Parting::default() {
            let plain = choices.arrive == Arrive::Always && choices.overdue != OverdueRule::Free;
            if choices.reservations != 1 || !plain {
                let problem = "`plan=estimate`, `announce=estimate` and `notice=late` take one reservation (`reserve=1`), and \
                               neither `arrive=fits` nor `overdue=free`";
                return Err(args.spec_error(problem.into()));
            }
            return Ok(Box::new(PlainBackfill::new(choices, parting)));
        }
        let changes = choices.backfill.as_ref().is_some_and(Order::is_dynamic);
        if choices.guard == OvertakeGuard::Estimate && (choices.reservations > 1 || changes) {
            let problem = "`guard=estimate` takes one reservation, and no `backfill=lxf` or other order that changes \
                           with time";
            return Err(args.spec_error(problem.into()));
        }
        Ok(Box::new(Backfill::new(choices).with_sizes(sizes)))
    },
};

/// Returns the choices in which plan, announcement and notice differ; nothing where nothing is to
/// be had from it.
fn parse_parting(args: &Args<'_>) -> Result<Parting, SpecError> {
    use RunTimeBasis::{Estimate, Prediction};
    let apart = !args.has_value("reserve", "0");
    let by = |name, usual| args.choose_value(name, &[(usual, Prediction), ("estimate", Estimate)]);
    let (plan, announce) = (by("plan", "prediction")?, by("announce", "plan")?);
    let notice = args.choose_value("notice", Notice::NAMES)?;
    let announce_basis = if plan == Estimate { Prediction } else { announce };
    Ok(match apart {
        true => Parting { plan, announce: announce_basis, notice },
        false => Parting { notice, ..Parting::default() },
    })
}

#[cfg(test)]
mod tests {
    use crate::policy::PolicySpec;

    #[test]
    fn a_plan_apart_takes_a_single_reservation() {
        for (text, good) in [
            ("easy(plan=estimate,predict=recent(2))", true),
            ("easy(plan=estimate,predict=recent(2),backfill=lxf,order=wfp3)", true),
            ("easy(announce=estimate,predict=recent(2),starve=2d,order=sjf)", true),
            ("easy@talby1999(notice=late)", true),
            ("easy(notice=late,reserve=0)", false),
            ("easy(plan=estimate,predict=recent(2),reserve=2)", false),
            ("easy@gaussier2015(plan=estimate,predict=recent(2),correct=steps)", false),
            ("easy(plan=truth)", false),
        ] {
            assert_eq!(text.parse::<PolicySpec>().is_ok(), good, "{text}");
        }
    }

    #[test]
    fn a_guard_needs_a_single_reservation() {
        for (text, good) in [
            ("easy(guard=estimate)", true),
            ("easy(guard=estimate,backfill=sjf,predict=recent(2))", true),
            ("easy(guard=estimate,reserve=2)", false),
            ("easy(guard=estimate,backfill=lxf)", false),
            ("easy(guard=truth)", false),
        ] {
            assert_eq!(text.parse::<PolicySpec>().is_ok(), good, "{text}");
        }
    }
}
