//! Values of parameters with which a policy is tried: those that their types suggest.

use crate::case::Random;
use drystone::policy::{self, COMMON, Param, PolicySpec};
use std::collections::BTreeSet;

/// Values that may suit a parameter: those that its declaration suggests, and numbers.
fn candidate_values(param: &Param) -> Vec<String> {
    let numbers = ["0", "1", "2", "3", "5", "10", "100", "0.5", "1.5", "1/4", "10/100"];
    let mut values = param.sample_values();
    values.extend(numbers.map(String::from).into_iter().filter(|number| param.accepts_text(number)));
    let mut seen_values = std::collections::BTreeSet::new();
    values.retain(|value| seen_values.insert(value.clone()));
    values
}

/// For each parameter of a family, and those that all have, every value found that the family takes
/// alone; none for which `skip` says so, by name and value.
///
/// # Panics
/// If there is no such family.
#[must_use]
pub fn list_parameters(family: &str, skip: impl Fn(&str, &str) -> bool) -> Vec<(&'static str, Vec<String>)> {
    let kind = policy::find_kind(family).unwrap_or_else(|| panic!("there is no policy `{family}`; register it first"));
    let is_taken = |name: &str, value: &str| {
        let alone = format!("{family}({name}={value})");
        // Some values need another parameter beside them.
        let together = format!("{family}({name}={value},pass=pyss)");
        !skip(name, value) && (alone.parse::<PolicySpec>().is_ok() || together.parse::<PolicySpec>().is_ok())
    };
    let values =
        |param: &Param| candidate_values(param).into_iter().filter(|value| is_taken(param.name, value)).collect();
    kind.params.iter().chain(COMMON).map(|p| (p.name, values(p))).collect()
}

/// A family alone, in each of its variants, and with each parameter at each of these values, also
/// under `pass=pyss`; texts that mean the same once.
#[must_use]
pub fn one_at_a_time(family: &str, parameters: &[(&'static str, Vec<String>)]) -> Vec<PolicySpec> {
    let variants = policy::find_kind(family).map_or(&[][..], |kind| kind.variants);
    let mut texts = vec![family.to_string()];
    texts.extend(variants.iter().map(|v| format!("{family}@{}", v.name)));
    for (name, values) in parameters {
        texts.extend(values.iter().map(|value| format!("{family}({name}={value})")));
        texts.extend(values.iter().map(|value| format!("{family}({name}={value},pass=pyss)")));
    }
    let mut specs: Vec<PolicySpec> = texts.iter().filter_map(|text| text.parse().ok()).collect();
    let mut seen_specs = BTreeSet::new();
    specs.retain(|spec| seen_specs.insert(spec.canonical_text()));
    specs
}

/// A policy with several parameters drawn, of a family.
#[must_use]
pub fn draw_policy(random: &mut Random, kind: &str, parameters: &[(&'static str, Vec<String>)]) -> PolicySpec {
    loop {
        let some = |(name, values): &(&'static str, Vec<String>), random: &mut Random| {
            (!values.is_empty() && random.draw_chance(35)).then(|| format!("{name}={}", random.pick_one(values)))
        };
        let args: Vec<String> = parameters.iter().filter_map(|p| some(p, random)).collect();
        let text = if args.is_empty() { kind.to_string() } else { format!("{kind}({})", args.join(",")) };
        if let Ok(spec) = text.parse() {
            return spec;
        }
    }
}
