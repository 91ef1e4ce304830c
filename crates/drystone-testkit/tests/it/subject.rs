//! Subjects of the trials: every policy of the registry, with every parameter, and its guarantees
//! beyond the invariants.

use crate::formulas;
use drystone::policy::{ALIASES, PolicySpec, built_in};
use drystone_testkit::{CaseLimits, Guarantee, Random, Subject, YEAR, parameter_value};

/// A policy with what is known of its family.
pub(crate) fn of(spec: &PolicySpec) -> Subject {
    Subject::from_spec(spec).with_guarantees(guarantees(spec)).with_limits(limits(spec))
}

/// Returns the guarantees of a policy. Every family must be here: a new one is tried only when it
/// is stated what it promises.
pub(crate) fn guarantees(spec: &PolicySpec) -> Vec<Guarantee> {
    use Guarantee::*;
    let is = |name: &str, value: &str| parameter_value(spec, name) == value;
    let mut list = Vec::new();
    if forgets(spec) {
        list.push(Forgets);
    }
    // With a pass in the middle of a second, what is still to be given back in it looks overdue to
    // a plan.
    let plans_whole_seconds = is("pass", "instant");
    match spec.kind().name {
        "fcfs" => {
            list.push(Uninterrupted);
            if is("order", "fcfs") {
                list.push(InOrder);
            }
        }
        "greedy" => list.extend([Uninterrupted, WorkConserving]),
        "easy" => {
            list.push(Uninterrupted);
            let on_time = is("overdue", "extended") || is("overdue", "now");
            if is("reserve", "0") && on_time && is("arrive", "always") && is("guard", "prediction") {
                list.push(WorkConserving);
            }
            // Several reservations are planned again at each pass, and in another order a newcomer
            // may take the head's place. Where estimates are doubled, a job may keep its prediction
            // and outlive the estimate by which others are promised their starts.
            let by_estimates = is("announce", "estimate") || is("plan", "estimate");
            let is_doubled = parameter_value(spec, "predict").starts_with("double");
            if is("order", "fcfs") && is("reserve", "1") && !(by_estimates && is_doubled) {
                list.push(KeepsPromises);
                // A pass in the middle of an instant may reserve before all ends of the instant are
                // known, and what it reserves may then come earlier.
                if is("pass", "instant") {
                    list.push(ExactPromises);
                }
            }
        }
        "committed" => list.push(Uninterrupted),
        "conservative" => {
            list.push(Uninterrupted);
            if plans_whole_seconds {
                list.push(KeepsPromises);
            }
        }
        "multiqueue" => {
            list.push(Uninterrupted);
            // Where each pass places the pivots again, they may lose their promises. Where the end
            // of a delay is no event, so do the jobs that were promised it (docs/multiqueue.md).
            let is_prompt = is("delay", "none") || is("wake", "yes");
            if is("own", "shared") && !is("promise", "arrival") && plans_whole_seconds && is_prompt {
                list.push(KeepsPromises);
            }
        }
        "slack" => {
            list.push(Uninterrupted);
            if plans_whole_seconds {
                list.push(KeepsPromises);
            }
            if !is("tick", "run") {
                list.push(MayKill);
            }
        }
        "goal" => {
            list.push(Uninterrupted);
            list.push(AnyThreads);
        }
        "ss" | "tss" => {
            if is("migration", "no") {
                list.push(GoesOnInPlace);
            }
            if let Ok(cap) = parameter_value(spec, "cap").parse() {
                list.push(SuspendsAtMost(cap));
            }
        }
        "is" => list.push(GoesOnInPlace),
        other => {
            panic!("no guarantees are declared for `{other}`: add them to crates/drystone-testkit/tests/it/subject.rs")
        }
    }
    list
}

/// Returns whether a policy's decisions follow from the waiting and running jobs alone: no plan, no
/// promise, no history, no order that depends on the last pass.
fn forgets(spec: &PolicySpec) -> bool {
    let is = |name: &str, values: &[&str]| values.contains(&parameter_value(spec, name).as_str());
    let orders = ["fcfs", "sjf", "ljf", "smallest", "largest", "narrowest", "widest", ""];
    matches!(spec.kind().name, "fcfs" | "greedy" | "easy")
        && is("predict", &["estimate"])
        && is("pass", &["instant"])
        && is("order", &orders)
        && is("backfill", &orders)
        && is("arrive", &["always", ""])
        && is("overdue", &["now", "extended", ""])
        && is("extra", &["all", ""])
        && is("starve", &["none", ""])
        && is("notice", &["immediate", ""])
}

/// Policies that look at the clock every few seconds, plan every job at each pass, or search, are
/// tried on smaller cases.
fn limits(spec: &PolicySpec) -> CaseLimits {
    let on_any = CaseLimits::default();
    match spec.kind().name {
        "ss" | "tss" | "is" => CaseLimits { jobs: 150, run: 300, ..on_any },
        // A place on nodes costs a search of all nodes, and a decision thousands of places.
        "goal" => CaseLimits { jobs: 60, run: YEAR, jobs_on_nodes: 6 },
        // A second more of a job that was to run for one is priced every second.
        "slack" if parameter_value(spec, "tick") == "extend" => CaseLimits { jobs: 250, run: 3_600, ..on_any },
        "slack" => CaseLimits { jobs: 250, run: YEAR, ..on_any },
        "conservative" => CaseLimits { jobs: 600, run: YEAR, ..on_any },
        _ => CaseLimits { jobs: 2_500, run: YEAR, ..on_any },
    }
}

/// Parameters and values that would be tried on the time of day or on hours of computing.
fn endless(name: &str, value: &str) -> bool {
    match name {
        "budget" => value != "none",
        "nodes" => matches!(value, "all" | "auto"),
        _ => false,
    }
}

/// For each parameter of a family, and those that all have, the values that are tried.
pub(crate) fn parameters(kind: &str) -> Vec<(&'static str, Vec<String>)> {
    drystone_testkit::list_parameters(kind, endless)
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
    "committed(order=wfp3,backfill=sjf)",
    "committed@rlscheduler2020(order=usage(1h)*1000-w,backfill=lxf,predict=recent(2),pass=event)",
    "conservative(predict=recent(2))",
    "conservative(notice=late)",
    "conservative(predict=perfect)",
    "goal(tradeoff(Tw:avgX),version=c,predict=recent(2,propagate=running),nodes=500)",
    "goal(lexical(maxW>avgX>unused),search=lds-fcfs,diff=strict,nodes=500,pass=event)",
    "goal(tradeoff(Tw(30):areaW:late(60)),version=b,predict=perfect,nodes=20000)",
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

/// All names of the library itself; other tests here register policies of their own.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    built_in().iter().map(|k| k.name).chain(ALIASES.iter().map(|a| a.name))
}

/// Policies tried whatever is drawn: all names, all variants, and each parameter of each family at
/// each of its values.
pub(crate) fn fixed() -> Vec<PolicySpec> {
    /// Parameters of sizes, and names that set them.
    const SIZED: [&str; 14] = [
        "shape=",
        "resize=",
        "ladder=",
        "share=",
        "grow=",
        "drop=",
        "cap=fair",
        "hold=",
        "most=",
        "(q=",
        "easy-min",
        "easy-pref",
        "easy-average",
        "easy-keep",
    ];

    let mut specs: Vec<PolicySpec> = TOGETHER.iter().map(|text| text.parse().expect(text)).collect();
    let mut texts: Vec<String> = names().map(String::from).collect();
    for kind in built_in() {
        specs.extend(drystone_testkit::one_at_a_time(kind.name, &parameters(kind.name)));
    }
    for alias in ALIASES {
        texts.extend(alias.in_variant.iter().map(|(variant, _)| format!("{}@{variant}", alias.name)));
    }
    specs.extend(texts.iter().filter_map(|text| text.parse().ok()));
    let mut canonical_texts = std::collections::BTreeSet::new();
    specs.retain(|spec| canonical_texts.insert(spec.canonical_text()));
    // Last, so that the cases of the others stay theirs.
    let is_sized = |spec: &PolicySpec| SIZED.iter().any(|word| spec.to_string().contains(word));
    specs.sort_by_key(is_sized);
    specs
}

/// A policy with several parameters drawn, of a family.
pub(crate) fn drawn(random: &mut Random, kind: &str, parameters: &[(&'static str, Vec<String>)]) -> PolicySpec {
    loop {
        let some = |(name, values): &(&'static str, Vec<String>), random: &mut Random| {
            let formula = values.iter().any(|value| value == "wfp3") && random.draw_chance(30);
            if formula {
                return Some(format!("{name}={}", formulas::number(random, 3)));
            }
            (!values.is_empty() && random.draw_chance(35)).then(|| format!("{name}={}", random.pick_one(values)))
        };
        let args: Vec<String> = parameters.iter().filter_map(|p| some(p, random)).collect();
        let text = if args.is_empty() { kind.to_string() } else { format!("{kind}({})", args.join(",")) };
        if let Ok(spec) = text.parse() {
            return spec;
        }
    }
}
