//! Registration of policies of other crates, checked.

use super::PolicySpec;
use super::kind::{PolicyKind, Variant};
use super::kinds::{ALIASES, BUILT_IN, COMMON};
use super::registry::REGISTERED;
use crate::text::{NamedCall, Param, RegisterError, name_problem};
use std::sync::PoisonError;

impl PolicyKind {
    /// Returns the mistake in its declaration, found without building it.
    fn declaration_problem(&self) -> Option<String> {
        if let Some(problem) = name_problem(self.name) {
            return Some(problem);
        }
        if let Some(problem) = self.params.iter().find_map(Param::find_problem) {
            return Some(problem);
        }
        for (at, param) in self.params.iter().enumerate() {
            if self.params[..at].iter().chain(COMMON).any(|p| p.name == param.name) {
                return Some(format!("it declares `{}` twice, or every policy takes it anyway", param.name));
            }
        }
        let mut needed_names =
            self.needs.iter().flat_map(|n| n.params.iter().copied().chain(n.any.iter().map(|c| c.param_name())));
        if let Some(unknown) = needed_names.find(|name| !self.has_param(name)) {
            return Some(format!("`needs` names `{unknown}`, which is no parameter of it"));
        }
        if let Some(param_name) = self.unnamed.filter(|name| !self.params.iter().any(|p| p.name == *name)) {
            return Some(format!("`unnamed` is `{param_name}`, which is no parameter of it"));
        }
        self.variants.iter().find_map(|variant| self.variant_problem(variant))
    }

    fn variant_problem(&self, variant: &Variant) -> Option<String> {
        if let Some(problem) = name_problem(variant.name) {
            return Some(problem);
        }
        let sets = match NamedCall::parse(&format!("v({})", variant.sets)) {
            Ok(call) => call.args,
            Err(error) => return Some(format!("variant {}: {}", variant.name, error.problem)),
        };
        sets.iter().find(|(key, _)| !key.as_deref().is_some_and(|key| self.has_param(key))).map(|(key, value)| {
            let key = key.as_deref().unwrap_or(value);
            format!("variant {} sets `{key}`, which is no parameter of it", variant.name)
        })
    }
}

/// Makes a policy known by name, in this process and from now on: policy texts can name it, with
/// its parameters and variants, and lists and help show it after the built-in ones. Call it before
/// the first text is read, usually at the beginning of `main`.
///
/// ```
/// use drystone_core::policy::{Backfill, BackfillChoices, PolicyKind, Param, PolicySpec, RegisterError, Takes, register_policy};
///
/// static MINE: PolicyKind = PolicyKind::new("mine", "backfilling with a few reservations", &|args| {
///     Ok(Box::new(Backfill::new(BackfillChoices { reservations: args.get("held")?, ..BackfillChoices::default() })))
/// })
/// .with_params(&[Param::new("held", "3", &[Takes::Whole { from: 1, to: 100 }], "number of jobs with a reservation")]);
///
/// register_policy(&MINE)?;
/// assert!("mine(held=7,predict=recent(2))".parse::<PolicySpec>().is_ok());
/// let error = "mine(held=0)".parse::<PolicySpec>().expect_err("too few").to_string();
/// assert!(error.ends_with("`held=0` is not possible; held takes a whole number from 1 to 100"), "{error}");
/// assert!(matches!(register_policy(&MINE), Err(RegisterError::Taken { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A name that is taken, also by the policy itself; a declaration that contradicts itself; a policy
/// that cannot be built with its defaults or in one of its variants.
pub fn register_policy(kind: &'static PolicyKind) -> Result<(), RegisterError> {
    check_declaration(kind)?;
    let mut registry = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(by) = name_owner(kind.name, &registry) {
        return Err(RegisterError::Taken { name: kind.name.to_string(), by });
    }
    registry.push(kind);
    Ok(())
}

/// As [`register_policy`], but takes the place of a policy that was registered before under the
/// same name; for sessions at a prompt, where a definition is run again. Policies that were built
/// before stay what they are.
///
/// # Errors
/// As [`register_policy`]; names of this crate's own policies stay theirs.
pub fn register_anew(kind: &'static PolicyKind) -> Result<(), RegisterError> {
    check_declaration(kind)?;
    let mut registry = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(by) = name_owner(kind.name, &[]) {
        return Err(RegisterError::Taken { name: kind.name.to_string(), by });
    }
    match registry.iter_mut().find(|entry| entry.name == kind.name) {
        Some(entry) => *entry = kind,
        None => registry.push(kind),
    }
    Ok(())
}

fn name_owner(name: &str, kinds: &[&'static PolicyKind]) -> Option<String> {
    let kind = BUILT_IN.iter().chain(kinds).find(|k| k.name == name);
    let alias = ALIASES.iter().find(|a| a.name == name);
    kind.map(|k| k.summary.to_string()).or_else(|| alias.map(|a| format!("short for `{}`", a.means)))
}

fn check_declaration(kind: &'static PolicyKind) -> Result<(), RegisterError> {
    let unsound = |problem: String| RegisterError::Unsound { name: kind.name.to_string(), problem };
    if let Some(problem) = kind.declaration_problem() {
        return Err(unsound(problem));
    }
    let texts = kind.variants.iter().map(|v| format!("{}@{}", kind.name, v.name));
    for text in std::iter::once(kind.name.to_string()).chain(texts) {
        PolicySpec::from_kind(kind, &text).map_err(|error| unsound(error.to_string()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::registry::{find_kind, policy_kinds, policy_names};
    use crate::policy::{Conservative, Notice, Outside, ParamNeeds, Policy};
    use crate::text::{Args, ParamCondition, SpecError, Takes};

    fn outside(_: &Args<'_>) -> Result<Box<dyn Policy>, SpecError> {
        Ok(Box::new(Outside))
    }

    const DEPTH: Param = param("depth", "2");

    /// A parameter of this name and default that takes 1 to 9.
    const fn param(name: &'static str, default: &'static str) -> Param {
        Param::new(name, default, &[Takes::Whole { from: 1, to: 9 }], "how deep")
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        static TAKEN: PolicyKind = PolicyKind::new("easy", "another easy", &outside);
        static SHORT: PolicyKind = PolicyKind::new("easy++", "a short name", &outside);
        static NAME: PolicyKind = PolicyKind::new("My Policy", "no name", &outside);
        static TWICE: PolicyKind = PolicyKind::new("t-twice", "", &outside).with_params(&[DEPTH, DEPTH]);
        static COMMON: PolicyKind = PolicyKind::new("t-common", "", &outside).with_params(&[param("predict", "2")]);
        static DEFAULT: PolicyKind = PolicyKind::new("t-default", "", &outside).with_params(&[param("depth", "0")]);
        static NEEDS: PolicyKind = PolicyKind::new("t-needs", "", &outside)
            .with_params(&[DEPTH])
            .with_needs(&[ParamNeeds { params: &["depth"], any: &[ParamCondition::Is("width", "1")] }]);
        static UNNAMED: PolicyKind = PolicyKind::new("t-unnamed", "", &outside).with_unnamed_param("depth");
        static SETS: PolicyKind = PolicyKind::new("t-sets", "", &outside).with_variants(&[Variant {
            name: "x2020",
            sets: "width=1",
            meaning: "",
        }]);
        static VALUE: PolicyKind =
            PolicyKind::new("t-value", "", &|args| args.get::<u8>("depth").and_then(|_| outside(args)))
                .with_params(&[DEPTH])
                .with_variants(&[Variant { name: "x2020", sets: "depth=10", meaning: "" }]);
        static BUILD: PolicyKind = PolicyKind::new("t-build", "", &|args| Err(args.spec_error("it is Monday".into())));
        for (kind, part) in [
            (&TAKEN, "`easy` is registered already, as the head of the queue"),
            (&SHORT, "as short for `easy(backfill=sjf,predict=recent(2))`"),
            (&NAME, "`My Policy` is no name; use small letters"),
            (&TWICE, "declares `depth` twice"),
            (&COMMON, "every policy takes it anyway"),
            (&DEFAULT, "does not take its own default `0`; it takes a whole number from 1 to 9"),
            (&NEEDS, "names `width`, which is no parameter"),
            (&UNNAMED, "`unnamed` is `depth`"),
            (&SETS, "variant x2020 sets `width`"),
            (&VALUE, "`depth=10` is not possible"),
            (&BUILD, "it is Monday"),
        ] {
            let error = register_policy(kind).expect_err(part).to_string();
            assert!(error.contains(part), "{error}");
            assert!(!policy_names().contains(&kind.name) || ["easy", "easy++"].contains(&kind.name));
        }
    }

    #[test]
    fn a_registered_policy_is_named_as_others_are() {
        static MINE: PolicyKind = PolicyKind::new("t-mine", "conservative backfilling by another name", &|args| {
            let notice = args.choose_value("notice", &[("immediate", Notice::Immediate), ("late", Notice::Late)])?;
            Ok(Box::new(Conservative::new(notice)))
        })
        .with_source("this test")
        .with_params(
            &[Param::new("notice", "immediate", &[Takes::Words(&["immediate", "late"])], "when").for_studies()],
        )
        .with_variants(&[Variant { name: "old", sets: "notice=late", meaning: "as it was" }]);
        assert_eq!(register_policy(&MINE), Ok(()));
        let refusal = register_policy(&MINE).expect_err("twice").to_string();
        assert!(refusal.contains("registered already") && refusal.contains("register each only once"), "{refusal}");
        assert!(policy_names().contains(&"t-mine") && policy_kinds().iter().any(|k| k.name == "t-mine"));
        let spec: PolicySpec = "t-mine@old(predict=recent(2))".parse().expect("a registered policy");
        assert_eq!(spec.canonical_text(), "t-mine(notice=late,predict=recent(2))");
        for (text, part) in [
            ("t-mine(notice=never)", "notice takes immediate|late"),
            ("t-mine(notise=late)", "Did you mean `notice`?"),
            ("t-mine@odl", "Did you mean `old`?"),
            ("t-mone", "Did you mean `t-mine`?"),
        ] {
            let error = text.parse::<PolicySpec>().expect_err(text).to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_definition_that_is_run_again_takes_the_place_of_the_first() {
        static FIRST: PolicyKind = PolicyKind::new("t-again", "first", &outside);
        static SECOND: PolicyKind = PolicyKind::new("t-again", "second", &outside);
        static EASY: PolicyKind = PolicyKind::new("easy", "not this one", &outside);
        assert_eq!(register_anew(&FIRST), Ok(()));
        let before: PolicySpec = "t-again".parse().expect("known");
        assert_eq!(register_anew(&SECOND), Ok(()));
        assert_eq!(find_kind("t-again").map(|k| k.summary), Some("second"));
        assert_eq!(before.kind().summary, "first");
        assert!(matches!(register_anew(&EASY), Err(RegisterError::Taken { .. })));
    }
}
