//! Registrations of the library itself: families, common parameters, short names. A policy of this
//! crate adds one line to [`BUILT_IN`].

use super::kind::{Alias, PolicyKind};
use super::{backfill, committed, conservative, goal, multiqueue, slack, suspension};
use crate::parts::predict;
use crate::text::{Param, Takes};

/// The families of policies of this crate. One line each.
pub(super) static BUILT_IN: &[&PolicyKind] = &[
    &backfill::FCFS,
    &backfill::EASY,
    &backfill::GREEDY,
    &committed::COMMITTED,
    &conservative::CONSERVATIVE,
    &goal::GOAL,
    &multiqueue::MULTIQUEUE,
    &slack::SLACK,
    &suspension::SS,
    &suspension::TSS,
    &suspension::IS,
];

/// Parameters that every policy takes.
pub static COMMON: &[Param] = &[
    Param::new(
        "predict",
        "estimate",
        &[predict::PREDICTOR],
        "predictor of run times: the prediction plans, the user's estimate kills",
    ),
    Param::new(
        "correct",
        "auto",
        &[Takes::Words(&["auto", "none", "estimate", "gradual", "exponential", "steps", "doubling"])],
        "new value of a running job's expired prediction; auto: estimate where predictions come from history \
         or overdue=extended, else none",
    )
    .for_experts(),
    Param::new(
        "pass",
        "instant",
        &[Takes::Words(&["instant", "event", "pyss"])],
        "one scheduling pass per instant, after all its events, or one after every event, or after arrivals and ends in \
         the order of the simulator pyss",
    )
    .for_studies(),
];

/// Short names.
pub static ALIASES: &[Alias] = &[
    declare_alias(
        "easy-pcor",
        "easy(correct=estimate)",
        "EASY that corrects estimates which running jobs have outlived, as easy does",
    ),
    declare_alias("easy-sjbf", "easy(backfill=sjf)", "EASY that backfills the shortest job first"),
    Alias {
        in_variant: &[("gaussier2015", GAUSSIER_HISTORY)],
        ..declare_alias(
            "easy+",
            "easy(predict=recent(2))",
            "EASY with predictions from each user's last two jobs, corrected",
        )
    },
    Alias {
        in_variant: &[("gaussier2015", GAUSSIER_PLUS_PLUS)],
        ..declare_alias("easy++", "easy(backfill=sjf,predict=recent(2))", "EASY+ that backfills the shortest job first")
    },
    declare_alias(
        "easy-sjbf+",
        "easy(backfill=sjf,predict=recent(2,window=immediate),plan=estimate)",
        "EASY-SJBF in the order of predictions; reservations and admission by estimates, so promises are EASY's",
    ),
    declare_alias(
        "easy-min",
        "easy(shape=min,resize=both,ladder=min)",
        "EASY whose malleable jobs start small, give way down to their smallest size and grow again; after Posner et al. 2023",
    ),
    declare_alias(
        "easy-pref",
        "easy(shape=upto,resize=both,ladder=pref)",
        "EASY whose malleable jobs give way to their preferred size first, then further; after Posner et al. 2023",
    ),
    declare_alias(
        "easy-average",
        "easy(shape=min,resize=both,ladder=min,share=equal)",
        "EASY whose malleable jobs are kept equally full; after Posner et al. 2023",
    ),
    declare_alias(
        "easy-keep",
        "easy(shape=upto,resize=both,ladder=keep)",
        "EASY whose malleable jobs give what they have above their preferred size; after Zojer et al. 2026",
    ),
    declare_alias("perfect", "easy(predict=perfect)", "EASY that knows run times"),
    Alias {
        in_variant: &[("gaussier2015", "arrive=always")],
        ..declare_alias("perfect++", "easy(backfill=sjf,predict=perfect)", "EASY++ that knows run times")
    },
    declare_alias("x2", "easy(predict=double(estimate))", "EASY with doubled estimates"),
    declare_alias("x2+", "easy(predict=double(recent(2)))", "EASY+ with doubled predictions"),
    declare_alias("x2++", "easy(backfill=sjf,predict=double(recent(2)))", "EASY++ with doubled predictions"),
    declare_alias("x2-perfect", "easy(predict=double(perfect))", "EASY with doubled true run times"),
    declare_alias("x2++-perfect", "easy(backfill=sjf,predict=double(perfect))", "X2++ that knows run times"),
    declare_alias("sjf", "easy(order=sjf,backfill=sjf)", "shortest job first, with a reservation for the shortest"),
    declare_alias(
        "sjf+",
        "easy(order=sjf,backfill=sjf,predict=recent(2))",
        "SJF with predictions from history, corrected",
    ),
    declare_alias("sjf-perfect", "easy(order=sjf,backfill=sjf,predict=perfect)", "SJF that knows run times"),
];

const fn declare_alias(name: &'static str, means: &'static str, summary: &'static str) -> Alias {
    Alias { name, means, summary, in_variant: &[] }
}

/// "Predictor tsafrir" of Gaussier et al. 2015 takes the last two terminated jobs and cuts at the
/// estimate.
const GAUSSIER_HISTORY: &str = "predict=recent(2,recency=termination,above=clip),correct=steps";
/// If the predictor of Gaussier et al. 2015 meets shortest-job backfilling, every arrival leads to
/// a pass.
const GAUSSIER_PLUS_PLUS: &str = "predict=recent(2,recency=termination,above=clip),correct=steps,arrive=always";
