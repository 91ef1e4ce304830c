//! Compared policies and the baseline.

use super::candidates::{default_candidates, every_policy};
use crate::args::CompareArgs;
use crate::exit::CommandFailure;
use crate::input;
use crate::output::message;
use crate::site;
use drystone::log::clean::CleaningStudy;
use drystone::model::{JobKind, Workload};
use drystone::policy::{PolicySpec, Priorities};

/// The policies to compare: those asked for, else every policy or the usual candidates, each
/// meaning once.
pub(crate) fn policies_to_compare(args: &CompareArgs) -> Result<Vec<PolicySpec>, CommandFailure> {
    let mut specs: Vec<PolicySpec> = Vec::new();
    let is_asked = !args.policy.is_empty();
    let own = if args.baseline.is_none() { site_policy(args)? } else { None };
    let study = args.common.log.study;
    let policy_texts = if is_asked {
        args.policy.clone()
    } else {
        let candidates = if args.all { every_policy()? } else { default_candidates()? };
        candidates.into_iter().filter(|spec| has_form(spec, study)).collect()
    };
    let given_specs: Vec<PolicySpec> = own.into_iter().chain(policy_texts).chain(args.baseline.clone()).collect();
    for spec in given_specs {
        let spec = input::in_study(&spec, study)?;
        // Asked for by two names it may stand there twice, but not by the same.
        let is_known =
            specs.iter().any(|candidate| candidate.text() == spec.text() || (!is_asked && is_alike(candidate, &spec)));
        if !is_known {
            specs.push(spec);
        }
    }
    Ok(specs)
}

/// Leaves out policies that are tried unasked and that the workload does not fit, and says which:
/// those that count processors only, where jobs ask for more. Adds those that change the sizes of
/// jobs, where jobs have several.
pub(super) fn keep_able(
    args: &CompareArgs,
    specs: Vec<PolicySpec>,
    workload: &Workload,
) -> Result<Vec<PolicySpec>, CommandFailure> {
    if !args.policy.is_empty() {
        return Ok(specs);
    }
    let specs = with_resizing(args, specs, workload)?;
    if workload.shapes().is_some_and(|shapes| shapes.power.as_ref().is_some_and(|power| !power.caps.is_empty())) {
        let knows = |spec: &PolicySpec| spec.build_scheduler().policy.knows_shapes();
        let (able, unable_specs): (Vec<PolicySpec>, Vec<PolicySpec>) = specs.into_iter().partition(knows);
        say_what_is_left_out(&unable_specs, "they do not count power, which is limited here");
        return Ok(able);
    }
    let has_placement = workload.resources().is_some_and(|table| table.node_fill().is_some());
    let counts = |spec: &PolicySpec| {
        let policy = spec.build_scheduler().policy;
        policy.counts_resources() && (!has_placement || policy.places_on_nodes())
    };
    if workload.resources().is_none_or(|table| !table.has_resources()) {
        return Ok(specs);
    }
    let (able, unable_specs): (Vec<PolicySpec>, Vec<PolicySpec>) = specs.into_iter().partition(counts);
    let reason = match has_placement {
        true => "they place no jobs on nodes, and jobs here are placed on such",
        false => "they count processors only, and jobs here ask for memory, devices or nodes as well",
    };
    say_what_is_left_out(&unable_specs, reason);
    Ok(able)
}

fn say_what_is_left_out(specs: &[PolicySpec], reason: &str) {
    if !specs.is_empty() {
        let names: Vec<&str> = specs.iter().map(PolicySpec::text).collect();
        message::print_note(&format!("left out, since {reason}: {}", names.join(", ")));
    }
}

/// Policies that choose sizes at the start, and those that change them.
const SIZING: [&str; 5] = ["easy(shape=start-now)", "easy-min", "easy-pref", "easy-average", "easy-keep"];

/// The policies with those that make use of the sizes that the jobs have.
fn with_resizing(
    args: &CompareArgs,
    mut specs: Vec<PolicySpec>,
    workload: &Workload,
) -> Result<Vec<PolicySpec>, CommandFailure> {
    let Some(shapes) = workload.shapes().filter(|_| args.common.log.study.is_none()) else { return Ok(specs) };
    let malleable = shapes.known.iter().any(|shape| shape.kind.is_malleable());
    let moldable = shapes.known.iter().any(|shape| shape.kind != JobKind::Rigid);
    let useful = if malleable { &SIZING[..] } else { &SIZING[..usize::from(moldable)] };
    for name in useful {
        let spec: PolicySpec = name.parse()?;
        if !specs.iter().any(|candidate| is_alike(candidate, &spec)) {
            specs.push(spec);
        }
    }
    Ok(specs)
}

/// Returns the site's own Slurm, which is the baseline unless another is asked for.
fn site_policy(args: &CompareArgs) -> Result<Option<PolicySpec>, CommandFailure> {
    site::own_policy(args.common.source.path())
}

/// Returns whether a policy has a form in the variant of a study; a note tells the reason where it
/// has none.
fn has_form(spec: &PolicySpec, study: Option<CleaningStudy>) -> bool {
    let Some(study) = study else { return true };
    match spec.in_study(study.name()) {
        Ok(_) => true,
        Err(error) => {
            message::print_note(&format!("{spec} is left out: with --as {} {}", study.name(), error.problem));
            false
        }
    }
}

/// Returns whether two texts mean one policy.
fn is_alike(a: &PolicySpec, b: &PolicySpec) -> bool {
    a.kind().name == b.kind().name && a.parameters() == b.parameters()
}

/// The text of the policy that the others are compared with.
pub(super) fn baseline_text(args: &CompareArgs, specs: &[PolicySpec]) -> Result<String, CommandFailure> {
    let study = args.common.log.study;
    let wanted_spec = match &args.baseline {
        Some(spec) => input::in_study(spec, study)?,
        None => input::in_study(&site_policy(args)?.map_or_else(|| "easy".parse(), Ok)?, study)?,
    };
    let by_text = specs.iter().find(|s| s.text() == wanted_spec.text());
    let by_meaning = || specs.iter().find(|s| is_alike(s, &wanted_spec));
    let baseline_spec = by_text.or_else(by_meaning).or(specs.first());
    Ok(baseline_spec.map(|s| s.text().to_string()).unwrap_or_default())
}

/// Says which policies have no use for priorities; some must have one.
pub(super) fn say_who_takes(
    specs: &[PolicySpec],
    priorities: &Priorities,
    workload: &Workload,
) -> Result<(), CommandFailure> {
    let without: Vec<&str> = specs
        .iter()
        .filter(|s| input::check_priorities(s, priorities, workload).is_err())
        .map(PolicySpec::text)
        .collect();
    if without.len() == specs.len() {
        return Err(CommandFailure::usage_error("none of these policies has any use for --priorities; `slack` has"));
    }
    if !without.is_empty() {
        message::print_note(&format!("--priorities means nothing to {}", without.join(", ")));
    }
    Ok(())
}
