//! Every policy by name: its parameters, its named variants, how it is built. A new policy adds one line to [`KINDS`].

use super::text::{Call, SpecError, nearest};
use super::{Pass, Policy, backfill, conservative, goal, multiqueue, slack, suspension};
use crate::engine::Scheduler;
use crate::parts::predict;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A parameter of a policy.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its key.
    pub name: &'static str,
    /// Its value where it is not given.
    pub default: &'static str,
    /// The values it takes, for people.
    pub values: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

/// Parameters that count only where another one has, or has not, a certain value: elsewhere they change no schedule.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// Which parameters.
    pub params: &'static [&'static str],
    /// The other one; or several, separated by `|`, of which one is enough.
    pub key: &'static str,
    /// Its value, or `!` and the value that it must not have; of several each has its own.
    pub value: &'static str,
}

impl Needs {
    /// Other parameters with what each must be, of which one is enough.
    fn any(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.key.split('|').zip(self.value.split('|'))
    }

    fn met(&self, args: &Args<'_>) -> bool {
        self.any().any(|(key, wanted)| {
            let value = plain(args.text(key));
            wanted.strip_prefix('!').map_or(value == wanted, |other| value != other)
        })
    }
}

/// `bounds=auto`, `delay other than none`, `migration=no or place=contiguous`.
impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = self.any().map(|(key, wanted)| match wanted.strip_prefix('!') {
            None => format!("{key}={wanted}"),
            Some(other) => format!("{key} other than {other}"),
        });
        f.write_str(&told.collect::<Vec<_>>().join(" or "))
    }
}

/// A named variant that fixes parameters as a published study has them.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Behind `@`.
    pub name: &'static str,
    /// The parameters it sets, `key=value` separated by commas.
    pub sets: &'static str,
    /// What it reproduces.
    pub meaning: &'static str,
}

/// A family of policies.
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its own parameters; those of [`COMMON`] come with every policy.
    pub params: &'static [Param],
    /// Which of them count only beside others.
    pub needs: &'static [Needs],
    /// The parameter whose value may stand without its key, as in `goal(lexical(Tw>avgX))`, if there is one.
    pub unnamed: Option<&'static str>,
    /// Its named variants.
    pub variants: &'static [Variant],
    /// Builds it from its parameters.
    pub build: fn(&Args<'_>) -> Result<Box<dyn Policy>, SpecError>,
}

/// A short name for a policy with certain parameters.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The short name.
    pub name: &'static str,
    /// What it stands for.
    pub means: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// What it stands for besides in a variant, where the study had more choices of its own: variant and parameters.
    pub in_variant: &'static [(&'static str, &'static str)],
}

/// All families of policies. One line each.
pub static KINDS: &[&Kind] = &[
    &backfill::FCFS,
    &backfill::EASY,
    &backfill::GREEDY,
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
    Param {
        name: "predict",
        default: "estimate",
        values: predict::VALUES,
        meaning: "what plans with run times: the prediction plans, the user's estimate kills",
    },
    Param {
        name: "correct",
        default: "auto",
        values: "auto|none|estimate|gradual|exponential|steps|doubling",
        meaning: "what a running job's prediction becomes when it expires; auto: estimate where predictions come from \
                  history, else none",
    },
    Param {
        name: "pass",
        default: "instant",
        values: "instant|event|pyss",
        meaning: "one scheduling pass per instant, after all its events, or one after every event, or after arrivals and \
                  ends in the order of the simulator pyss",
    },
];

/// Short names.
pub static ALIASES: &[Alias] = &[
    alias("easy-pcor", "easy(correct=estimate)", "EASY that corrects estimates which running jobs have outlived"),
    alias("easy-sjbf", "easy(backfill=sjf)", "EASY that backfills the shortest job first"),
    Alias {
        in_variant: &[("gaussier2015", GAUSSIER_HISTORY)],
        ..alias("easy+", "easy(predict=recent(2))", "EASY with predictions from each user's last two jobs, corrected")
    },
    Alias {
        in_variant: &[("gaussier2015", GAUSSIER_PLUS_PLUS)],
        ..alias("easy++", "easy(backfill=sjf,predict=recent(2))", "EASY+ that backfills the shortest job first")
    },
    alias(
        "easy++-guarded",
        "easy(backfill=sjf,predict=recent(2),guard=estimate)",
        "EASY++ where a job overtakes only if even its estimate respects the reservation",
    ),
    alias("perfect", "easy(predict=perfect)", "EASY that knows run times"),
    Alias {
        in_variant: &[("gaussier2015", "arrive=always")],
        ..alias("perfect++", "easy(backfill=sjf,predict=perfect)", "EASY++ that knows run times")
    },
    alias("x2", "easy(predict=double(estimate))", "EASY with doubled estimates"),
    alias("x2+", "easy(predict=double(recent(2)))", "EASY+ with doubled predictions"),
    alias("x2++", "easy(backfill=sjf,predict=double(recent(2)))", "EASY++ with doubled predictions"),
    alias("x2-perfect", "easy(predict=double(perfect))", "EASY with doubled true run times"),
    alias("x2++-perfect", "easy(backfill=sjf,predict=double(perfect))", "X2++ that knows run times"),
    alias("sjf", "easy(order=sjf,backfill=sjf)", "shortest job first, with a reservation for the shortest"),
    alias("sjf+", "easy(order=sjf,backfill=sjf,predict=recent(2))", "SJF with predictions from history, corrected"),
    alias("sjf-perfect", "easy(order=sjf,backfill=sjf,predict=perfect)", "SJF that knows run times"),
];

const fn alias(name: &'static str, means: &'static str, summary: &'static str) -> Alias {
    Alias { name, means, summary, in_variant: &[] }
}

/// "Predictor tsafrir" of Gaussier et al. 2015 takes the last two terminated jobs and cuts at the estimate.
const GAUSSIER_HISTORY: &str = "predict=recent(2,recency=termination,above=clip),correct=steps";
/// Where the predictor of Gaussier et al. 2015 meets shortest-job backfilling, every arrival leads to a pass.
const GAUSSIER_PLUS_PLUS: &str = "predict=recent(2,recency=termination,above=clip),correct=steps,arrive=always";

/// The parameters of a policy being built: given ones, those of its variant, defaults.
pub struct Args<'a> {
    text: &'a str,
    params: &'static [Param],
    /// Later ones win.
    set: Vec<(String, String)>,
}

impl Args<'_> {
    /// The value of a parameter as text.
    ///
    /// # Panics
    /// If the policy does not declare such a parameter: a bug of its registry entry.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        let given = self.set.iter().rev().find(|(key, _)| key == name);
        given.map(|(_, value)| value.as_str()).unwrap_or_else(|| {
            let declared = self.params.iter().chain(COMMON).find(|p| p.name == name);
            declared.map(|p| p.default).unwrap_or_else(|| panic!("parameter {name} is not declared"))
        })
    }

    /// The value of a parameter.
    ///
    /// # Errors
    /// A value that is none of its type; the message names the parameter and what it takes.
    pub fn get<T: FromStr>(&self, name: &str) -> Result<T, SpecError> {
        let value = self.text(name);
        value.parse().map_err(|_| self.wrong(name))
    }

    /// The value of a parameter that takes one of a few words.
    ///
    /// # Errors
    /// A word that is none of them.
    pub fn choose<T: Clone>(&self, name: &str, choices: &[(&str, T)]) -> Result<T, SpecError> {
        let value = self.text(name);
        let found = choices.iter().find(|(word, _)| *word == value);
        found.map(|(_, t)| t.clone()).ok_or_else(|| self.wrong(name))
    }

    /// The error of a parameter whose value is wrong.
    #[must_use]
    pub fn wrong(&self, name: &str) -> SpecError {
        let values = self.params.iter().chain(COMMON).find(|p| p.name == name).map_or("", |p| p.values);
        self.error(format!("`{name}={}` is not possible; {name} takes {values}", self.text(name)))
    }

    /// Any other error about this policy's text.
    #[must_use]
    pub fn error(&self, problem: String) -> SpecError {
        SpecError { text: self.text.to_string(), problem }
    }
}

/// A policy with all its parameters, checked: what a text means. Prints as the shortest text that means the same.
#[derive(Clone, Debug)]
pub struct PolicySpec {
    text: String,
    kind: &'static Kind,
    /// Parameters in force that differ from the defaults, in order of declaration.
    set: Vec<(String, String)>,
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PolicySpec {
    /// What the text says, as it will be printed in results.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The family.
    #[must_use]
    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    /// Every parameter with its value in force, in order of declaration; the predictor with all of its own, and of corrections
    /// what `auto` means.
    #[must_use]
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let args = self.args();
        let value = |name: &str| match (name, args.text(name)) {
            ("predict", text) => predict::in_full(text).unwrap_or_else(|_| text.to_string()),
            ("correct", "auto") => automatic(predict::learns(args.text("predict"))).to_string(),
            (_, text) => text.to_string(),
        };
        self.kind.params.iter().chain(COMMON).map(|p| (p.name, value(p.name))).collect()
    }

    /// The parameters that the text gives and that change nothing as the others are, each with what it needs for that.
    #[must_use]
    pub fn idle(&self) -> Vec<(&'static str, &'static Needs)> {
        let given = Call::parse(&self.text).map(|call| call.args).unwrap_or_default();
        let names = self.kind.params.iter().map(|p| p.name);
        let named = names.filter(|name| given.iter().any(|(key, _)| key.as_deref() == Some(name)));
        named.filter_map(|name| Some((name, self.lacks(name)?))).collect()
    }

    /// What a parameter needs to count, and has not.
    fn lacks(&self, name: &str) -> Option<&'static Needs> {
        let args = self.args();
        self.kind.needs.iter().find(|needs| needs.params.contains(&name) && !needs.met(&args))
    }

    /// The shortest text of the same policy without variants and short names: every parameter in force that counts and is not the
    /// default, in order of declaration. Policies with equal canonical texts make equal schedules on every workload; parsing
    /// the text gives such a policy.
    #[must_use]
    pub fn canonical(&self) -> String {
        let args = self.args();
        let (predictor, learns) = predict::canonical(args.text("predict"))
            .unwrap_or_else(|problem| unreachable!("a checked predictor cannot be read: {problem}"));
        // `auto` depends on the predictor alone; said outright it meets those who say it.
        let auto = automatic(learns);
        let mut call = Call { name: self.kind.name.to_string(), ..Call::default() };
        for param in self.kind.params.iter().chain(COMMON) {
            let (value, default) = match (param.name, args.text(param.name)) {
                ("predict", _) => (predictor.as_str(), param.default),
                ("correct", "auto") => (auto, auto),
                ("correct", value) => (value, auto),
                (_, value) => (value, param.default),
            };
            let value = plain(value);
            if value != default && self.lacks(param.name).is_none() {
                call.args.push((Some(param.name.to_string()), value.to_string()));
            }
        }
        call.to_string()
    }

    /// A fresh scheduler.
    #[must_use]
    pub fn scheduler(&self) -> Scheduler {
        match self.try_build() {
            Ok(scheduler) => scheduler,
            Err(error) => unreachable!("a checked policy cannot be built: {error}"),
        }
    }

    /// The same policy in the variant of a study, where it has one and none was asked for.
    ///
    /// # Errors
    /// Never for texts that were accepted before.
    pub fn in_study(&self, study: &str) -> Result<PolicySpec, SpecError> {
        let mut call = Call::parse(&self.text)?;
        if call.variant.is_none() && self.kind.variants.iter().any(|v| v.name == study) {
            call.variant = Some(study.to_string());
        }
        call.to_string().parse()
    }

    fn args(&self) -> Args<'_> {
        Args { text: &self.text, params: self.kind.params, set: self.set.clone() }
    }

    fn try_build(&self) -> Result<Scheduler, SpecError> {
        let args = self.args();
        let policy = (self.kind.build)(&args)?;
        let forecast = predict::build(&args)?;
        let pass = args.choose("pass", &[("instant", Pass::Instant), ("event", Pass::Event), ("pyss", Pass::Pyss)])?;
        Ok(Scheduler { policy, forecast, pass })
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
        let call = Call::parse(text)?;
        let fail = |problem: String| SpecError { text: text.trim().to_string(), problem };
        let mut set = Vec::new();
        let alias = ALIASES.iter().find(|a| a.name == call.name);
        let mut name = call.name.clone();
        if let Some(alias) = alias {
            let means = Call::parse(alias.means)?;
            name = means.name;
            set.extend(means.args.into_iter().filter_map(|(k, v)| Some((k?, v))));
        }
        let Some(kind) = KINDS.iter().copied().find(|k| k.name == name) else {
            return Err(fail(unknown("policy", &name, names(), "`drystone policies` lists all")));
        };
        if let Some(variant) = &call.variant {
            let Some(found) = kind.variants.iter().find(|v| v.name == variant) else {
                let names: Vec<_> = kind.variants.iter().map(|v| v.name).collect();
                let all = if names.is_empty() { "it has none".into() } else { format!("it has {}", names.join(", ")) };
                return Err(fail(unknown(&format!("variant of {}", kind.name), variant, names, &all)));
            };
            let more = alias.and_then(|a| a.in_variant.iter().find(|(v, _)| v == variant));
            for sets in [found.sets, more.map_or("", |m| m.1)] {
                let sets = Call::parse(&format!("v({sets})"))?;
                set.extend(sets.args.into_iter().filter_map(|(k, v)| Some((k?, v))));
            }
        }
        for (key, value) in &call.args {
            let Some(key) = key.as_deref().or(kind.unnamed) else {
                return Err(fail(format!("`{value}` needs a name: write `parameter={value}`")));
            };
            if !kind.params.iter().chain(COMMON).any(|p| p.name == key) {
                let names: Vec<_> = kind.params.iter().chain(COMMON).map(|p| p.name).collect();
                let all = format!("{} takes {}", kind.name, names.join(", "));
                return Err(fail(unknown("parameter", key, names, &all)));
            }
            if call.args.iter().filter(|(k, _)| k.as_deref().or(kind.unnamed) == Some(key)).count() > 1 {
                return Err(fail(format!("`{key}` is given twice")));
            }
            set.push((key.to_string(), value.clone()));
        }
        let spec = PolicySpec { text: call.to_string(), kind, set };
        spec.try_build().map_err(|e| fail(e.problem))?;
        Ok(spec)
    }
}

/// All names that [`PolicySpec`] understands.
pub fn names() -> Vec<&'static str> {
    KINDS.iter().map(|k| k.name).chain(ALIASES.iter().map(|a| a.name)).collect()
}

/// A whole number as it is written as a rule: `1` for `01` and `+1`. Other texts as they are.
fn plain(value: &str) -> Cow<'_, str> {
    value.parse::<u64>().map_or(Cow::Borrowed(value), |number| Cow::Owned(number.to_string()))
}

/// What `correct=auto` means.
fn automatic(learns: bool) -> &'static str {
    if learns { "estimate" } else { "none" }
}

fn unknown(what: &str, name: &str, names: Vec<&str>, advice: &str) -> String {
    let near = nearest(name, names).map(|n| format!(" Did you mean `{n}`?")).unwrap_or_default();
    format!("there is no {what} `{name}`.{near} ({advice})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_and_variant_builds() {
        for kind in KINDS {
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

    /// The least number that a parameter says it takes is taken, and what is below it is not.
    #[test]
    fn numbers_are_taken_from_where_parameters_say() {
        let accepts = |kind: &Kind, name: &str, value: &str| {
            format!("{}({name}={value})", kind.name).parse::<PolicySpec>().is_ok()
        };
        let mut tried = 0;
        for kind in KINDS {
            for Param { name, values, .. } in kind.params {
                let limit = |words: &str| values.split('|').find_map(|v| v.strip_prefix(words));
                let least: Option<i64> = limit("a number from ")
                    .map(|rest| rest.split(' ').next().and_then(|n| n.parse().ok()).expect("a number"));
                if let Some(least) = least {
                    assert!(accepts(kind, name, &least.to_string()), "{}({name}={least}): {values}", kind.name);
                    assert!(!accepts(kind, name, &(least - 1).to_string()), "{}({name}={})", kind.name, least - 1);
                    tried += 1;
                }
                if limit("a number above 0").is_some() {
                    assert!(accepts(kind, name, "0.01"), "{}({name}=0.01): {values}", kind.name);
                    for value in ["0", "-0.01"] {
                        assert!(!accepts(kind, name, value), "{}({name}={value}): {values}", kind.name);
                    }
                    tried += 1;
                }
            }
        }
        assert!(tried >= 15, "{tried} parameters");
    }

    #[test]
    fn names_are_unique() {
        let mut all = names();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), names().len());
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
        assert_eq!(of("easy")[2], ("correct", "none".to_string()));
        assert_eq!(of("easy(correct=gradual)")[2], ("correct", "gradual".to_string()));
    }

    #[test]
    fn equal_policies_have_equal_canonical_texts() {
        let canonical = |text: &str| text.parse::<PolicySpec>().expect(text).canonical();
        for (text, expected) in [
            ("easy", "easy"),
            ("easy(order=fcfs,correct=auto)", "easy"),
            ("easy(correct=none)", "easy"),
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
        for name in names() {
            let spec: PolicySpec = name.parse().expect(name);
            let again: PolicySpec = spec.canonical().parse().expect("canonical texts can be read");
            assert_eq!(again.canonical(), spec.canonical());
            assert_eq!(again.kind().name, spec.kind().name);
        }
    }

    #[test]
    fn what_changes_nothing_is_known() {
        let idle = |text: &str| -> Vec<String> {
            let spec: PolicySpec = text.parse().expect(text);
            spec.idle().into_iter().map(|(name, needs)| format!("{name}: {needs}")).collect()
        };
        assert_eq!(idle("multiqueue(queues=3,record=yes)"), ["queues: bounds=auto"]);
        assert_eq!(idle("multiqueue(queues=3,bounds=auto)"), [""; 0]);
        assert_eq!(idle("multiqueue(ceiling=3)"), ["ceiling: delay other than none"]);
        assert_eq!(idle("multiqueue@lawson2002-delay(ceiling=3)"), ["ceiling: adapt=bounded"]);
        assert_eq!(idle("easy(guard=estimate)"), ["guard: predict other than estimate"]);
        assert_eq!(idle("easy++-guarded"), [""; 0]);
        let place = "migration=no or place=contiguous";
        assert_eq!(idle("tss(migration=yes,place=never)"), [format!("place: {place}")]);
        // In one piece or not is seen in charts, whoever may migrate.
        assert_eq!(idle("ss(migration=yes,place=contiguous)"), [""; 0]);
        assert_eq!(idle("ss(place=never)"), [""; 0]);
        // What a variant sets is nobody's mistake.
        assert_eq!(idle("easy@tsafrir2007(reserve=0)"), [""; 0]);
        for kind in KINDS {
            for needs in kind.needs {
                let known = |name: &str| kind.params.iter().chain(COMMON).any(|p| p.name == name);
                assert_eq!(needs.key.split('|').count(), needs.value.split('|').count(), "{}: {needs:?}", kind.name);
                assert!(
                    needs.key.split('|').all(known) && needs.params.iter().all(|name| known(name)),
                    "{}: {needs:?}",
                    kind.name
                );
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
            ("easy(sjf)", "write `parameter=sjf`"),
            ("easy(order=sjf,order=fcfs)", "given twice"),
            ("easy(reserve=-1)", "reserve takes"),
        ] {
            let error = text.parse::<PolicySpec>().expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
