//! What is tried: every policy of the registry, with every parameter, and what each guarantees beyond the invariants.

use super::case::{Limits, Random, YEAR};
use super::formulas;
use drystone::engine::Scheduler;
use drystone::policy::{ALIASES, COMMON, Param, PolicySpec, kinds, names};

/// What a policy promises beyond what every schedule must keep.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Guarantee {
    /// Jobs start in the order of their arrival.
    InOrder,
    /// No job waits while it fits the free processors.
    WorkConserving,
    /// Where no job outlives its first prediction, none starts later than first promised.
    KeepsPromises,
    /// Where moreover run times are as predicted and nobody is withdrawn, each starts when first promised, to the second.
    ExactPromises,
    /// No job is suspended, so each has one segment.
    Uninterrupted,
    /// Suspended jobs go on where they were.
    GoesOnInPlace,
    /// No job is suspended more often.
    SuspendsAtMost(u32),
    /// A job that outlives its estimate may be killed, once its estimate is over.
    MayKill,
    /// The same schedule as another text.
    SameAs(String),
}

/// A policy that is tried.
pub(crate) struct Subject {
    /// Its text, or a name.
    pub(crate) name: String,
    pub(crate) make: Box<dyn Fn() -> Scheduler>,
    pub(crate) guarantees: Vec<Guarantee>,
    pub(crate) limits: Limits,
    /// The text of its predictor.
    pub(crate) predictor: String,
}

impl Subject {
    pub(crate) fn of(spec: &PolicySpec) -> Subject {
        let made = spec.clone();
        Subject {
            name: spec.text().to_string(),
            make: Box::new(move || made.scheduler()),
            guarantees: guarantees(spec),
            limits: limits(spec),
            predictor: value(spec, "predict"),
        }
    }
}

/// The value of a parameter in force.
pub(crate) fn value(spec: &PolicySpec, name: &str) -> String {
    spec.parameters().into_iter().find(|p| p.0 == name).map(|p| p.1).unwrap_or_default()
}

/// What a policy guarantees. Every family must be here: a new one is tried only when somebody has said what it promises.
pub(crate) fn guarantees(spec: &PolicySpec) -> Vec<Guarantee> {
    use Guarantee::*;
    let is = |name: &str, wanted: &str| value(spec, name) == wanted;
    let mut all = Vec::new();
    // With a pass in the middle of a second, what is still to be given back in it looks overdue to a plan.
    let plans_whole_seconds = is("pass", "instant");
    match spec.kind().name {
        "fcfs" => {
            all.push(Uninterrupted);
            if is("order", "fcfs") {
                all.push(InOrder);
            }
        }
        "greedy" => all.extend([Uninterrupted, WorkConserving]),
        "easy" => {
            all.push(Uninterrupted);
            if is("reserve", "0") && is("overdue", "now") && is("arrive", "always") && is("guard", "prediction") {
                all.push(WorkConserving);
            }
            // Several reservations are planned anew at each pass, and in another order a newcomer may take the head's place.
            if is("order", "fcfs") && is("reserve", "1") {
                all.push(KeepsPromises);
                // A pass in the middle of an instant may reserve before all ends of the instant are known, and what it
                // reserves may then come earlier.
                if is("pass", "instant") {
                    all.push(ExactPromises);
                }
            }
        }
        "conservative" => {
            all.push(Uninterrupted);
            if plans_whole_seconds {
                all.push(KeepsPromises);
            }
        }
        "multiqueue" => {
            all.push(Uninterrupted);
            // Where pivots are placed anew at each pass, they may lose what they were promised, and where the end of a delay is
            // no event, so do those that were promised it (docs/multiqueue.md).
            let seen = is("delay", "none") || is("wake", "yes");
            if is("own", "shared") && !is("promise", "arrival") && plans_whole_seconds && seen {
                all.push(KeepsPromises);
            }
        }
        "slack" => {
            all.push(Uninterrupted);
            if plans_whole_seconds {
                all.push(KeepsPromises);
            }
            if !is("tick", "run") {
                all.push(MayKill);
            }
        }
        "goal" => {
            all.push(Uninterrupted);
            if is("threads", "1") {
                all.push(SameAs(with(spec, "threads", "2")));
            }
        }
        "ss" | "tss" => {
            if is("migration", "no") {
                all.push(GoesOnInPlace);
            }
            if let Ok(cap) = value(spec, "cap").parse() {
                all.push(SuspendsAtMost(cap));
            }
        }
        "is" => all.push(GoesOnInPlace),
        other => panic!("nobody has said what `{other}` guarantees: add it to tests/it/every_policy/subject.rs"),
    }
    all
}

/// The text of a policy with one parameter changed.
fn with(spec: &PolicySpec, name: &str, value: &str) -> String {
    let mut args: Vec<String> =
        spec.parameters().into_iter().filter(|p| p.0 != name).map(|(name, value)| format!("{name}={value}")).collect();
    args.push(format!("{name}={value}"));
    format!("{}({})", spec.kind().name, args.join(","))
}

/// Those that look at the clock every few seconds, plan every job anew, or search, are tried on less.
fn limits(spec: &PolicySpec) -> Limits {
    match spec.kind().name {
        "ss" | "tss" | "is" => Limits { jobs: 150, run: 300 },
        "goal" => Limits { jobs: 60, run: YEAR },
        // A second more of a job that was to run for one is priced every second.
        "slack" if value(spec, "tick") == "extend" => Limits { jobs: 250, run: 3_600 },
        "slack" => Limits { jobs: 250, run: YEAR },
        "conservative" => Limits { jobs: 600, run: YEAR },
        _ => Limits { jobs: 2_500, run: YEAR },
    }
}

/// Values that may suit a parameter: those that its declaration suggests, and numbers.
fn candidates(param: &Param) -> Vec<String> {
    let numbers = ["0", "1", "2", "3", "5", "10", "100", "0.5", "1.5", "1/4", "10/100"];
    let mut values = param.samples();
    values.extend(numbers.map(String::from).into_iter().filter(|number| param.accepts(number)));
    values.dedup();
    values
}

/// Parameters and values that would be tried on the time of day or on hours of computing.
fn endless(name: &str, value: &str) -> bool {
    match name {
        "budget" => value != "none",
        "threads" => !matches!(value, "1" | "2"),
        "nodes" => matches!(value, "all" | "auto"),
        _ => false,
    }
}

/// For each parameter of a family, and those that all have, every value found that the family takes alone.
pub(crate) fn parameters(kind: &str) -> Vec<(&'static str, Vec<String>)> {
    let of_kind = drystone::policy::kind(kind).expect("a family").params;
    let values = |param: &Param| -> Vec<String> {
        let (name, all) = (param.name, candidates(param));
        let taken = |value: &String| {
            let alone = format!("{kind}({name}={value})");
            // Some values need another parameter beside them.
            let together = format!("{kind}({name}={value},pass=pyss)");
            !endless(name, value) && (alone.parse::<PolicySpec>().is_ok() || together.parse::<PolicySpec>().is_ok())
        };
        all.into_iter().filter(taken).collect()
    };
    of_kind.iter().chain(COMMON).map(|p| (p.name, values(p))).collect()
}

/// Several parameters at once that have something to do with each other.
const TOGETHER: &[&str] = &[
    "easy@tsafrir2007",
    "easy++@tsafrir2007",
    "easy(predict=learn)",
    "conservative(predict=learn(under=squared))",
    "easy(predict=recent(3,propagate=running))",
    "easy(reserve=3)",
    "easy(order=lxf,backfill=sjf)",
    "easy(backfill=lxf)",
    "easy(predict=recent(3,full=no,propagate=running),correct=gradual)",
    "easy(order=sjf,backfill=sjf,predict=recent(2,propagate=waiting),correct=exponential)",
    "easy(order=f1,backfill=f1)",
    "easy(order=wfp3,starve=2m,predict=recent(2))",
    "easy(order=wfp3,backfill=unicef,reserve=3)",
    "easy(order=unicef,backfill=sjf,overdue=stale,extra=first)",
    "easy(order=log10(r)*n+870*log10(s),predict=recent(2,propagate=waiting))",
    "easy(order=r*n-60*w,backfill=x)",
    "easy(order=usage(1h)*1000-w,backfill=if(waiting>5,r,-x),pass=event)",
    "easy(order=sjf,backfill=sjf,starve=1m)",
    "fcfs(order=actual,predict=perfect,starve=30s)",
    "greedy(order=multifactor(age=10,fairshare=100))",
    "conservative(predict=recent(2))",
    "conservative(notice=late)",
    "conservative(predict=perfect)",
    "goal(tradeoff(Tw:avgX),version=c,predict=recent(2,propagate=running),nodes=500)",
    "goal(lexical(maxW>avgX>unused),search=lds-fcfs,diff=strict,nodes=500,pass=event)",
    "goal(tradeoff(Tw(30):areaW:late(60)),version=b,predict=perfect,nodes=20000,threads=2)",
    "goal(tradeoff(fair(100):avgX),reuse=branch,local=20,nodes=300)",
    "goal(lexical(special(user=1)>Tw),reuse=seed,prune=beside,nodes=300)",
    "goal(plan=estimate,predict=recent(2,propagate=running),nodes=300)",
    "ss(sf=1,every=7)",
    "ss(sf=1.5,every=3,predict=recent(2))",
    "ss(place=priosf,every=5)",
    "ss(place=avoid,rule=skip,every=5)",
    "ss(migration=yes,every=5,cap=2)",
    "ss(sf=auto,relief=3,every=5,place=contiguous)",
    "tss(sf=1.2,every=5)",
    "is(slice=5,every=5)",
];

/// Policies tried whatever is drawn: all names, all variants, and each parameter of each family at each of its values.
pub(crate) fn fixed() -> Vec<PolicySpec> {
    let mut texts: Vec<String> = names().into_iter().map(String::from).collect();
    for kind in kinds() {
        texts.extend(kind.variants.iter().map(|v| format!("{}@{}", kind.name, v.name)));
        for (name, values) in parameters(kind.name) {
            texts.extend(values.iter().map(|value| format!("{}({name}={value})", kind.name)));
            texts.extend(values.iter().map(|value| format!("{}({name}={value},pass=pyss)", kind.name)));
        }
    }
    for alias in ALIASES {
        texts.extend(alias.in_variant.iter().map(|(variant, _)| format!("{}@{variant}", alias.name)));
    }
    let mut specs: Vec<PolicySpec> = TOGETHER.iter().map(|text| text.parse().expect(text)).collect();
    specs.extend(texts.iter().filter_map(|text| text.parse().ok()));
    let mut seen = std::collections::BTreeSet::new();
    specs.retain(|spec| seen.insert(spec.canonical()));
    specs
}

/// A policy with several parameters drawn, of a family.
pub(crate) fn drawn(random: &mut Random, kind: &str, parameters: &[(&'static str, Vec<String>)]) -> PolicySpec {
    loop {
        let some = |(name, values): &(&'static str, Vec<String>), random: &mut Random| {
            let formula = values.iter().any(|value| value == "wfp3") && random.chance(30);
            if formula {
                return Some(format!("{name}={}", formulas::number(random, 3)));
            }
            (!values.is_empty() && random.chance(35)).then(|| format!("{name}={}", random.pick(values)))
        };
        let args: Vec<String> = parameters.iter().filter_map(|p| some(p, random)).collect();
        let text = if args.is_empty() { kind.to_string() } else { format!("{kind}({})", args.join(",")) };
        if let Ok(spec) = text.parse() {
            return spec;
        }
    }
}
