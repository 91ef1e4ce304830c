//! Compared policies and the baseline.

use super::candidates::{candidates, everything};
use crate::args::CompareArgs;
use crate::exit::CommandFailure;
use crate::input;
use crate::output::message;
use crate::site;
use drystone::log::clean::CleaningStudy;
use drystone::model::Workload;
use drystone::policy::{PolicySpec, Priorities};

/// The policies to compare: those asked for, else every policy or the usual candidates, each
/// meaning once.
pub(crate) fn asked(args: &CompareArgs) -> Result<Vec<PolicySpec>, CommandFailure> {
    let mut specs: Vec<PolicySpec> = Vec::new();
    let asked = !args.policy.is_empty();
    let own = if args.baseline.is_none() { own(args)? } else { None };
    let study = args.common.log.study;
    let named = if asked {
        args.policy.clone()
    } else {
        let all = if args.all { everything()? } else { candidates()? };
        all.into_iter().filter(|spec| has_form(spec, study)).collect()
    };
    let given: Vec<PolicySpec> = own.into_iter().chain(named).chain(args.baseline.clone()).collect();
    for spec in given {
        let spec = input::in_study(&spec, study)?;
        // Asked for by two names it may stand there twice, but not by the same.
        let known = specs.iter().any(|other| other.text() == spec.text() || (!asked && alike(other, &spec)));
        if !known {
            specs.push(spec);
        }
    }
    Ok(specs)
}

/// Leaves out policies that are tried unasked and that the workload does not fit, and says which:
/// those that count processors only, where jobs ask for more.
pub(super) fn able(args: &CompareArgs, specs: Vec<PolicySpec>, workload: &Workload) -> Vec<PolicySpec> {
    if !args.policy.is_empty() {
        return specs;
    }
    let placed = workload.resources().is_some_and(|table| table.fill().is_some());
    let counts = |spec: &PolicySpec| {
        let policy = spec.scheduler().policy;
        policy.counts_resources() && (!placed || policy.places_on_nodes())
    };
    if workload.resources().is_none_or(|table| !table.counts()) {
        return specs;
    }
    let (able, others): (Vec<PolicySpec>, Vec<PolicySpec>) = specs.into_iter().partition(counts);
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().map(PolicySpec::text).collect();
        let why = match placed {
            true => "they place no jobs on nodes, and jobs here are placed on such",
            false => "they count processors only, and jobs here ask for memory, devices or nodes as well",
        };
        message::note(&format!("left out, since {why}: {}", names.join(", ")));
    }
    able
}

/// Returns the site's own Slurm, which is the baseline unless another is asked for.
fn own(args: &CompareArgs) -> Result<Option<PolicySpec>, CommandFailure> {
    site::own_policy(args.common.source.path())
}

/// Returns whether a policy has a form in the variant of a study; a note tells the reason where it
/// has none.
fn has_form(spec: &PolicySpec, study: Option<CleaningStudy>) -> bool {
    let Some(study) = study else { return true };
    match spec.in_study(study.name()) {
        Ok(_) => true,
        Err(error) => {
            message::note(&format!("{spec} is left out: with --as {} {}", study.name(), error.problem));
            false
        }
    }
}

/// Returns whether two texts mean one policy.
fn alike(a: &PolicySpec, b: &PolicySpec) -> bool {
    a.kind().name == b.kind().name && a.parameters() == b.parameters()
}

/// The text of the policy that the others are compared with.
pub(super) fn baseline(args: &CompareArgs, specs: &[PolicySpec]) -> Result<String, CommandFailure> {
    let study = args.common.log.study;
    let wanted = match &args.baseline {
        Some(spec) => input::in_study(spec, study)?,
        None => input::in_study(&own(args)?.map_or_else(|| "easy".parse(), Ok)?, study)?,
    };
    let by_text = specs.iter().find(|s| s.text() == wanted.text());
    let by_meaning = || specs.iter().find(|s| alike(s, &wanted));
    let found = by_text.or_else(by_meaning).or(specs.first());
    Ok(found.map(|s| s.text().to_string()).unwrap_or_default())
}

/// Says which policies have no use for priorities; some must have one.
pub(super) fn say_who_takes(
    specs: &[PolicySpec],
    priorities: &Priorities,
    workload: &Workload,
) -> Result<(), CommandFailure> {
    let without: Vec<&str> =
        specs.iter().filter(|s| input::takes(s, priorities, workload).is_err()).map(PolicySpec::text).collect();
    if without.len() == specs.len() {
        return Err(CommandFailure::usage("none of these policies has any use for --priorities; `slack` has"));
    }
    if !without.is_empty() {
        message::note(&format!("--priorities means nothing to {}", without.join(", ")));
    }
    Ok(())
}
