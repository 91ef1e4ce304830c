//! Meaning of a policy's text: its family with all parameters, checked.

use super::PassRule;
use super::kind::{Alias, PolicyKind, Variant};
use super::kinds::{ALIASES, COMMON};
use super::registry::{self, policy_names};
use crate::engine::Scheduler;
use crate::parts::{Order, predict};
use crate::text::{Args, NamedCall, Param, ParamNeeds, SpecError, Takes, find_nearest, simplify_number};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A policy with all its parameters, checked: what a text means. Prints as the shortest text that
/// means the same.
///
/// ```
/// use drystone_core::policy::PolicySpec;
///
/// let policy: PolicySpec = "easy(backfill=sjf,reserve=1)".parse()?;
/// assert_eq!(policy.kind().name, "easy");
/// // One reservation is the default.
/// assert_eq!(policy.canonical_text(), "easy(backfill=sjf)");
///
/// let error = "easy(backfil=sjf)".parse::<PolicySpec>().expect_err("no such parameter");
/// assert!(error.to_string().contains("backfill"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PolicySpec {
    text: String,
    kind: &'static PolicyKind,
    /// Parameters in force that differ from the defaults, in order of declaration.
    set: Vec<(String, String)>,
}

impl PolicySpec {
    /// Returns the text as it will be printed in results.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The family.
    #[must_use]
    pub fn kind(&self) -> &'static PolicyKind {
        self.kind
    }

    /// Every parameter with its value in force, in order of declaration; the predictor with all of
    /// its own, and of corrections what `auto` means.
    #[must_use]
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let args = self.args();
        let value = |name: &str| match (name, args.text_value(name)) {
            ("predict", text) => predict::in_full(text).unwrap_or_else(|_| text.to_string()),
            ("correct", "auto") => {
                let learns = predict::is_learning(args.text_value("predict"));
                args.automatic_correction(learns).to_string()
            }
            (_, text) => text.to_string(),
        };
        self.kind.all_params().map(|p| (p.name, value(p.name))).collect()
    }

    /// The parameters that the text gives and that change nothing as the others are, each with what
    /// it needs for that.
    #[must_use]
    pub fn idle_parameters(&self) -> Vec<(&'static str, &'static ParamNeeds)> {
        let given_args = NamedCall::parse(&self.text).map(|call| call.args).unwrap_or_default();
        let names = self.kind.params.iter().map(|p| p.name);
        let given_names = names.filter(|name| given_args.iter().any(|(key, _)| key.as_deref() == Some(name)));
        given_names.filter_map(|name| Some((name, self.missing_condition(name)?))).collect()
    }

    /// Returns the missing condition under which a parameter counts.
    fn missing_condition(&self, name: &str) -> Option<&'static ParamNeeds> {
        let args = self.args();
        self.kind.needs.iter().find(|needs| needs.params.contains(&name) && !needs.is_met(&args))
    }

    /// The shortest text of the same policy without variants and short names: every parameter in
    /// force that counts and is not the default, in order of declaration. Policies with equal
    /// canonical texts make equal schedules on every workload; parsing the text gives such a
    /// policy.
    #[must_use]
    pub fn canonical_text(&self) -> String {
        let args = self.args();
        let (predictor, learns) = predict::canonical_text(args.text_value("predict"))
            .unwrap_or_else(|problem| unreachable!("a checked predictor cannot be read: {problem}"));
        // `auto` depends on other parameters; said outright it meets the texts that say it.
        let auto = args.automatic_correction(learns);
        let mut call = NamedCall { name: self.kind.name.to_string(), ..NamedCall::default() };
        for param in self.kind.all_params() {
            let (value, default) = match (param.name, args.text_value(param.name)) {
                ("predict", _) => (predictor.as_str(), param.default),
                ("correct", "auto") => (auto, auto),
                ("correct", value) => (value, auto),
                (_, value) => (value, param.default),
            };
            let value = match value.parse::<Order>() {
                Ok(order) if takes_orders(param) => Cow::Owned(order.to_string()),
                _ => simplify_number(value),
            };
            if value != default && self.missing_condition(param.name).is_none() {
                call.args.push((Some(param.name.to_string()), value.to_string()));
            }
        }
        call.to_string()
    }

    /// A fresh scheduler.
    ///
    /// # Panics
    /// If a registered policy could be built when the text was read and cannot be built now; see
    /// [`PolicySpec::try_scheduler`].
    #[must_use]
    pub fn build_scheduler(&self) -> Scheduler {
        match self.try_scheduler() {
            Ok(scheduler) => scheduler,
            Err(error) => unreachable!("a checked policy cannot be built: {error}"),
        }
    }

    /// A fresh scheduler of a policy whose building may fail at any time, because it looks at
    /// something outside.
    ///
    /// # Errors
    /// The error of the policy's constructor.
    pub fn try_scheduler(&self) -> Result<Scheduler, SpecError> {
        let args = self.args();
        let policy = (self.kind.build)(&args)?;
        let forecast = predict::build_forecast(&args)?;
        let pass = args.choose_value(
            "pass",
            &[("instant", PassRule::Instant), ("event", PassRule::Event), ("pyss", PassRule::Pyss)],
        )?;
        Ok(Scheduler { policy, forecast, pass })
    }

    /// Returns the policy in the variant of a study, where it has one and none was asked for.
    ///
    /// # Errors
    /// Never for texts that were accepted before.
    pub fn in_study(&self, study: &str) -> Result<PolicySpec, SpecError> {
        let mut call = NamedCall::parse(&self.text)?;
        if call.variant.is_none() && self.kind.variants.iter().any(|v| v.name == study) {
            call.variant = Some(study.to_string());
        }
        call.to_string().parse()
    }

    /// Returns the parameter that takes words and has none of them.
    fn refused_word(&self) -> Option<&'static Param> {
        let args = self.args();
        let is_word = |param: &Param| param.takes.iter().all(|takes| matches!(takes, Takes::Words(_)));
        self.kind.all_params().find(|param| is_word(param) && !param.accepts_text(args.text_value(param.name)))
    }

    fn args(&self) -> Args<'_> {
        Args { text: &self.text, params: [self.kind.params, COMMON], set: &self.set }
    }
}

impl fmt::Display for PolicySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl FromStr for PolicySpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<PolicySpec, SpecError> {
        let call = NamedCall::parse(text)?;
        let alias = ALIASES.iter().find(|a| a.name == call.name);
        let family = match alias {
            Some(alias) => NamedCall::parse(alias.means)?.name,
            None => call.name.clone(),
        };
        match registry::find_kind(&family) {
            Some(kind) => PolicySpec::parse_checked(kind, alias, call, text),
            None => {
                let problem = unknown_message("policy", &family, policy_names(), "`drystone policies` lists all");
                Err(SpecError { text: text.trim().to_string(), problem })
            }
        }
    }
}

impl PolicySpec {
    /// Parses a text as one of a family, known by name or not.
    pub(super) fn from_kind(kind: &'static PolicyKind, text: &str) -> Result<PolicySpec, SpecError> {
        PolicySpec::parse_checked(kind, None, NamedCall::parse(text)?, text)
    }

    fn parse_checked(
        kind: &'static PolicyKind,
        alias: Option<&Alias>,
        call: NamedCall,
        text: &str,
    ) -> Result<PolicySpec, SpecError> {
        let fail = |problem: String| SpecError { text: text.trim().to_string(), problem };
        let mut set = Vec::new();
        if let Some(alias) = alias {
            set.extend(named_settings(NamedCall::parse(alias.means)?));
        }
        if let Some(variant) = &call.variant {
            let more = alias.and_then(|a| a.in_variant.iter().find(|(v, _)| v == variant));
            for sets in [variant_of(kind, variant).map_err(fail)?.sets, more.map_or("", |m| m.1)] {
                set.extend(named_settings(NamedCall::parse(&format!("v({sets})"))?));
            }
        }
        set.extend(given_params(kind, &call).map_err(fail)?);
        let spec = PolicySpec { text: call.to_string(), kind, set };
        // A word that a policy does not ask for would be taken for another one.
        if let Some(param) = spec.refused_word() {
            return Err(fail(spec.args().value_error(param.name).problem));
        }
        spec.try_scheduler().map_err(|e| fail(e.problem))?;
        Ok(spec)
    }
}

fn named_settings(call: NamedCall) -> impl Iterator<Item = (String, String)> {
    call.args.into_iter().filter_map(|(key, value)| Some((key?, value)))
}

fn variant_of(kind: &PolicyKind, variant: &str) -> Result<&'static Variant, String> {
    if let Some(variant_entry) = kind.variants.iter().find(|v| v.name == variant) {
        return Ok(variant_entry);
    }
    let names: Vec<_> = kind.variants.iter().map(|v| v.name).collect();
    let variant_list = if names.is_empty() { "it has none".into() } else { format!("it has {}", names.join(", ")) };
    Err(unknown_message(&format!("variant of {}", kind.name), variant, names, &variant_list))
}

/// The parameters that the text gives itself: known ones, each once.
fn given_params(kind: &PolicyKind, call: &NamedCall) -> Result<Vec<(String, String)>, String> {
    let mut set: Vec<(String, String)> = Vec::new();
    for (key, value) in &call.args {
        let Some(key) = key.as_deref().or(kind.unnamed) else {
            return Err(format!("`{value}` needs a name: write `parameter={value}`"));
        };
        if !kind.has_param(key) {
            let names: Vec<_> = kind.all_params().map(|p| p.name).collect();
            let parameter_list = format!("{} takes {}", kind.name, names.join(", "));
            return Err(unknown_message("parameter", key, names, &parameter_list));
        }
        if call.args.iter().filter(|(k, _)| k.as_deref().or(kind.unnamed) == Some(key)).count() > 1 {
            return Err(format!("`{key}` is given twice"));
        }
        set.push((key.to_string(), value.clone()));
    }
    Ok(set)
}

/// Returns whether a parameter takes an order: a formula is then written in one way.
fn takes_orders(param: &Param) -> bool {
    param.takes.iter().any(|takes| takes.type_name() == "order")
}

fn unknown_message(category: &str, name: &str, names: Vec<&str>, advice: &str) -> String {
    let near = find_nearest(name, names).map(|n| format!(" Did you mean `{n}`?")).unwrap_or_default();
    format!("there is no {category} `{name}`.{near} ({advice})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::kinds::BUILT_IN;

    #[test]
    fn every_default_and_variant_builds() {
        for kind in BUILT_IN {
            let spec: PolicySpec = kind.name.parse().expect(kind.name);
            for (name, value) in spec.parameters() {
                let text = format!("{}({name}={value})", kind.name);
                assert!(text.parse::<PolicySpec>().is_ok(), "{text}");
            }
            for variant in kind.variants {
                let text = format!("{}@{}", kind.name, variant.name);
                assert_eq!(text.parse::<PolicySpec>().map(|s| s.to_string()), Ok(text));
            }
        }
        for alias in ALIASES {
            assert!(alias.name.parse::<PolicySpec>().is_ok(), "{}", alias.name);
        }
    }

    /// Parameters accept the values that they declare, alone or with those that the simulator pyss
    /// needs, and no others.
    #[test]
    fn parameters_take_what_they_say() {
        let accepts = |text: String| text.parse::<PolicySpec>().is_ok();
        let (mut accept_count, mut refusal_count) = (0, 0);
        for kind in BUILT_IN {
            for param in kind.all_params() {
                let name = param.name;
                // Slack promises starts of its own, and says so of those that jobs reserve.
                let is_other = |value: &String| kind.name == "slack" && value.contains("reserve=");
                for value in param.sample_values().into_iter().filter(|value| !is_other(value)) {
                    let alone = format!("{}({name}={value})", kind.name);
                    assert!(
                        accepts(alone.clone()) || accepts(format!("{}({name}={value},pass=pyss)", kind.name)),
                        "{alone}"
                    );
                    accept_count += 1;
                }
                for value in
                    param.takes.iter().flat_map(Takes::refused_values).filter(|value| !param.accepts_text(value))
                {
                    assert!(!accepts(format!("{}({name}={value})", kind.name)), "{}({name}={value})", kind.name);
                    refusal_count += 1;
                }
            }
        }
        assert!(accept_count >= 400 && refusal_count >= 50, "{accept_count} values taken, {refusal_count} refused");
    }

    #[test]
    fn names_are_unique() {
        let mut names = policy_names();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), policy_names().len());
    }

    #[test]
    fn explicit_parameters_win_over_the_variant() {
        let spec: PolicySpec = "easy@tsafrir2007(extra=all)".parse().expect("valid");
        let of = |name| spec.parameters().into_iter().find(|p| p.0 == name).map(|p| p.1);
        assert_eq!(of("extra").as_deref(), Some("all"));
        assert_eq!(of("pass").as_deref(), Some("event"));
        assert_eq!(of("order").as_deref(), Some("fcfs"));
    }

    #[test]
    fn parameters_are_those_in_force() {
        let of = |text: &str| -> Vec<(&'static str, String)> {
            let spec: PolicySpec = text.parse().expect(text);
            spec.parameters().into_iter().filter(|p| ["predict", "correct", "backfill"].contains(&p.0)).collect()
        };
        let recent = "recent(2,window=all,full=yes,metric=average,fallback=estimate,recency=submission,above=discard,propagate=no)";
        let expected = [("backfill", "sjf"), ("predict", recent), ("correct", "estimate")];
        assert_eq!(of("easy++"), expected.map(|(name, value)| (name, value.to_string())));
        assert_eq!(of("easy")[2], ("correct", "estimate".to_string()));
        for text in ["easy@lawson2002", "easy@tsafrir2007", "easy(overdue=now)", "conservative(overdue=again)"] {
            assert!(of(text).contains(&("correct", "none".to_string())), "{text}");
        }
        assert_eq!(of("easy(correct=gradual)")[2], ("correct", "gradual".to_string()));
    }

    #[test]
    fn equal_policies_have_equal_canonical_texts() {
        let canonical = |text: &str| text.parse::<PolicySpec>().expect(text).canonical_text();
        for (text, expected) in [
            ("easy", "easy"),
            ("easy(order=fcfs,correct=auto)", "easy"),
            ("easy(correct=none)", "easy(correct=none)"),
            ("easy(overdue=now,correct=none)", "easy(overdue=now)"),
            ("easy-pcor", "easy"),
            ("easy++", "easy(backfill=sjf,predict=recent(2))"),
            ("easy++(correct=estimate)", "easy(backfill=sjf,predict=recent(2))"),
            ("easy++(correct=gradual)", "easy(backfill=sjf,predict=recent(2),correct=gradual)"),
            ("x2@tsafrir2007", "easy(extra=first,overdue=stale,predict=times(2,estimate),pass=event)"),
            ("conservative(predict=recent(1,metric=min))", "conservative(predict=recent(1))"),
            ("easy(reserve=01)", "easy"),
            ("easy(reserve=+2)", "easy(reserve=2)"),
            ("easy(reserve=00,extra=first)", "easy(reserve=0)"),
            ("ss(target=1,cap=3)", "ss(cap=3)"),
            ("ss(sf=auto,target=1)", "ss(sf=auto,target=1)"),
            ("easy(guard=estimate)", "easy"),
            ("easy++(guard=estimate)", "easy(backfill=sjf,guard=estimate,predict=recent(2))"),
            ("ss(migration=yes,place=avoid)", "ss(migration=yes)"),
            ("multiqueue(tolerance=1,adapt=fixed)", "multiqueue"),
            ("multiqueue(tolerance=1,adapt=fixed,delay=100)", "multiqueue(delay=100,adapt=fixed)"),
        ] {
            assert_eq!(canonical(text), expected);
            assert_eq!(canonical(expected), expected);
        }
        for name in policy_names() {
            let spec: PolicySpec = name.parse().expect(name);
            let again: PolicySpec = spec.canonical_text().parse().expect("canonical texts can be read");
            assert_eq!(again.canonical_text(), spec.canonical_text());
            assert_eq!(again.kind().name, spec.kind().name);
        }
    }

    #[test]
    fn what_changes_nothing_is_known() {
        let idle = |text: &str| -> Vec<String> {
            let spec: PolicySpec = text.parse().expect(text);
            spec.idle_parameters().into_iter().map(|(name, needs)| format!("{name}: {needs}")).collect()
        };
        assert_eq!(idle("multiqueue(queues=3,wake=no,delay=9)"), ["queues: bounds=auto"]);
        assert_eq!(idle("multiqueue(queues=3,bounds=auto)"), [""; 0]);
        assert_eq!(idle("multiqueue(ceiling=3)"), ["ceiling: delay other than none"]);
        assert_eq!(idle("multiqueue@lawson2002-delay(ceiling=3)"), ["ceiling: adapt=bounded"]);
        assert_eq!(idle("easy(guard=estimate)"), ["guard: predict other than estimate"]);
        assert_eq!(idle("easy++(guard=estimate)"), [""; 0]);
        assert_eq!(idle("easy-sjbf+"), [""; 0]);
        assert_eq!(idle("easy(plan=estimate)"), ["plan: predict other than estimate"]);
        assert_eq!(idle("easy-sjbf+(announce=estimate)"), ["announce: plan=prediction"]);
        let place = "migration=no or place=contiguous";
        assert_eq!(idle("tss(migration=yes,place=never)"), [format!("place: {place}")]);
        // In one piece or not is seen in charts, whatever may migrate.
        assert_eq!(idle("ss(migration=yes,place=contiguous)"), [""; 0]);
        assert_eq!(idle("ss(place=never)"), [""; 0]);
        // What a variant sets is no mistake of the user.
        assert_eq!(idle("easy@tsafrir2007(reserve=0)"), [""; 0]);
        for kind in BUILT_IN {
            for needs in kind.needs {
                let is_param = |name: &str| kind.params.iter().chain(COMMON).any(|p| p.name == name);
                let keys = needs.any.iter().map(|condition| condition.param_name());
                assert!(keys.chain(needs.params.iter().copied()).all(is_param), "{}: {needs:?}", kind.name);
            }
        }
    }

    #[test]
    fn mistakes_get_the_nearest_match() {
        for (text, part) in [
            ("esy", "Did you mean `easy`?"),
            ("easy(ordr=sjf)", "Did you mean `order`?"),
            ("easy@tsafrir", "Did you mean `tsafrir2007`?"),
            ("easy(order=sooner)", "order takes fcfs|sjf"),
            ("easy(order=wfp4)", "did you mean `wfp3`? order takes fcfs|sjf"),
            ("easy(sjf)", "write `parameter=sjf`"),
            ("easy(order=sjf,order=fcfs)", "given twice"),
            ("easy(reserve=-1)", "reserve takes"),
        ] {
            let error = text.parse::<PolicySpec>().expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
