//! Predictors by name.

use super::kinds::{FACTORS, PredictorKind, parse_recent, predictor_kinds, shortest_recent};
use super::{Correction, Forecast, Predictor};
use crate::text::{Args, NamedCall, SpecError, Takes, ValueForm};

/// Values of `predict=`, for people.
pub const VALUES: &str = "estimate|perfect|recent(SIZE,window=all|immediate|extended,full=yes|no,\
    metric=average|median|min|max,fallback=estimate|relative,recency=submission|termination,above=discard|clip|keep,\
    propagate=no|waiting|running)|quantile(Q,size=20,least=2)|\
    deviations(K,like=user|procs|executable|both,size=20,least=2)|\
    learn(under=linear|squared,over=linear|squared,bias=1,weight=even|area|small|long|wide,rate=5000,l2=4e9)|\
    random(K,seed=1)|double(PREDICTOR)|times(K,PREDICTOR)";

/// Values of a parameter that is a predictor.
pub const PREDICTOR: Takes = Takes::Form(&ValueForm {
    name: "predictor",
    shape: VALUES,
    samples: &[
        "estimate",
        "perfect",
        "recent(2)",
        "recent(1,metric=max,above=keep)",
        "recent(3,full=yes,fallback=relative)",
        "recent(3,propagate=running)",
        "recent(2,propagate=waiting,window=extended,recency=termination)",
        "quantile(0.5)",
        "quantile(1,size=3,least=1)",
        "deviations(1.5)",
        "deviations(0.5,like=both,size=4,least=1)",
        "learn",
        "learn(under=squared,weight=area)",
        "random(2)",
        "random(3,seed=7)",
        "double(estimate)",
        "times(3,recent(2))",
        "double(perfect)",
    ],
    check: |text| build_predictor(text).is_ok(),
});

/// The forecast that the parameters `predict` and `correct` of a policy ask for.
///
/// # Errors
/// A predictor or a correction that does not exist.
pub fn build_forecast(args: &Args<'_>) -> Result<Forecast, SpecError> {
    let text = args.text_value("predict");
    let (predictor, factor, learns) = build_predictor(text).map_err(|problem| args.spec_error(problem))?;
    let correction = match args.text_value("correct") {
        "auto" => args.automatic_correction(learns),
        text => text,
    };
    let correction = Correction::NAMES.iter().find(|(name, _)| *name == correction).map(|(_, correction)| *correction);
    let correction = correction.ok_or_else(|| args.value_error("correct"))?;
    Ok(Forecast { predictor, factor, correction })
}

/// The forecast of a predictor alone, e.g. `recent(2)`, with the correction that `auto` means.
///
/// # Errors
/// A predictor that does not exist.
pub fn parse_forecast(text: &str) -> Result<Forecast, SpecError> {
    let fail = |problem| SpecError { text: text.trim().to_string(), problem };
    let (predictor, factor, learns) = build_predictor(text.trim()).map_err(fail)?;
    Ok(Forecast { predictor, factor, correction: default_correction(learns) })
}

/// Returns whether a predictor learns from history; not if there is no such predictor.
pub(crate) fn is_learning(text: &str) -> bool {
    build_predictor(text).is_ok_and(|(_, _, learns)| learns)
}

fn default_correction(learns: bool) -> Correction {
    if learns { Correction::Estimate } else { Correction::None }
}

/// A predictor by name with its parameters, before it is built.
struct NamedPredictor {
    kind: &'static PredictorKind,
    set: Vec<(String, String)>,
}

impl NamedPredictor {
    /// Returns the predictor that a call names: a known one, with known parameters, each once.
    fn from_call(call: &NamedCall) -> Result<NamedPredictor, String> {
        let Some(kind) = predictor_kinds().into_iter().find(|k| k.name == call.name && call.variant.is_none()) else {
            return Err(format!("`{call}` is no predictor; predict takes {VALUES}"));
        };
        let mut set: Vec<(String, String)> = Vec::new();
        for (key, value) in &call.args {
            let key = key.as_deref().or(kind.unnamed).filter(|key| kind.params.iter().any(|p| p.name == *key));
            let Some(key) = key else {
                let unknown = call.args.iter().find(|(_, v)| v == value).and_then(|(key, _)| key.as_deref());
                return Err(format!("{} takes no `{}`; predict takes {VALUES}", kind.name, unknown.unwrap_or(value)));
            };
            if set.iter().any(|(set_key, _)| set_key == key) {
                return Err(format!("`{key}` of {} is given twice", kind.name));
            }
            set.push((key.to_string(), value.clone()));
        }
        Ok(NamedPredictor { kind, set })
    }

    fn args(&self) -> Args<'_> {
        Args { text: self.kind.name, params: [self.kind.params, &[]], set: &self.set }
    }

    /// Every parameter with its value in force, as numbers are written as a rule.
    fn in_full(&self) -> String {
        let args = self.args();
        let param_texts = self.kind.params.iter().map(|param| {
            let text = args.text_value(param.name);
            let value = text.parse::<f64>().map_or_else(|_| text.to_string(), |number| number.to_string());
            if self.kind.unnamed == Some(param.name) { value } else { format!("{}={value}", param.name) }
        });
        let param_list = param_texts.collect::<Vec<_>>().join(",");
        if param_list.is_empty() { self.kind.name.to_string() } else { format!("{}({param_list})", self.kind.name) }
    }
}

/// A predictor, the factor on its predictions, and whether it learns.
fn build_predictor(text: &str) -> Result<(Box<dyn Predictor>, u32, bool), String> {
    let call = NamedCall::parse(text).map_err(|e| e.problem)?;
    if !FACTORS.contains(&call.name.as_str()) {
        let named_predictor = NamedPredictor::from_call(&call)?;
        let predictor = (named_predictor.kind.build)(&named_predictor.args()).map_err(|e| e.problem)?;
        return Ok((predictor, 1, named_predictor.kind.learns));
    }
    let inner: Vec<&str> = call.args.iter().filter(|a| a.0.is_none()).map(|a| a.1.as_str()).collect();
    let (factor, inner) = match (call.name.as_str(), inner.as_slice()) {
        ("double", [inner]) => (2, *inner),
        ("times", [factor, inner]) => {
            let factor = factor.parse().ok().filter(|f| (1..=1000).contains(f));
            (factor.ok_or("the factor of times(K,PREDICTOR) is a number from 1 to 1000")?, *inner)
        }
        _ => return Err("write double(PREDICTOR) or times(K,PREDICTOR)".into()),
    };
    let (predictor, more, learns) = build_predictor(inner)?;
    let factor = u32::checked_mul(factor, more).filter(|&f| f <= 1000).ok_or("the factors multiply beyond 1000")?;
    Ok((predictor, factor, learns))
}

/// The shortest text of the same predictor: texts of predictors that always predict the same
/// ([`RecentOptions::into_canonical`]) become equal. And whether it learns.
///
/// # Errors
/// A text that names no predictor.
pub(crate) fn canonical_text(text: &str) -> Result<(String, bool), String> {
    let (_, factor, learns) = build_predictor(text)?;
    let mut call = NamedCall::parse(text).map_err(|e| e.problem)?;
    while FACTORS.contains(&call.name.as_str()) {
        let inner = call.args.iter().rfind(|a| a.0.is_none()).map_or("", |a| a.1.as_str());
        call = NamedCall::parse(inner).map_err(|e| e.problem)?;
    }
    let plain = match call.name.as_str() {
        "recent" => {
            let options = parse_recent(&NamedPredictor::from_call(&call)?.args()).map_err(|e| e.problem)?;
            shortest_recent(&options.into_canonical())
        }
        _ => call.to_string(),
    };
    Ok((if factor == 1 { plain } else { format!("times({factor},{plain})") }, learns))
}

/// Returns the text of the predictor with every parameter that it has, defaults written out, as
/// [`build_predictor`] reads it.
///
/// # Errors
/// A text that names no predictor.
pub(crate) fn in_full(text: &str) -> Result<String, String> {
    let call = NamedCall::parse(text).map_err(|e| e.problem)?;
    if !FACTORS.contains(&call.name.as_str()) {
        return Ok(NamedPredictor::from_call(&call)?.in_full());
    }
    let args = call.args.iter().enumerate().map(|(at, (_, arg))| match at + 1 == call.args.len() {
        true => in_full(arg),
        false => Ok(arg.clone()),
    });
    Ok(format!("{}({})", call.name, args.collect::<Result<Vec<_>, _>>()?.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In full a predictor is the same one, and nothing is left to know of it.
    #[test]
    fn texts_in_full() {
        for (text, full) in [
            ("estimate", "estimate"),
            (
                "recent",
                "recent(2,window=all,full=yes,metric=average,fallback=estimate,recency=submission,above=discard,propagate=no)",
            ),
            ("quantile(0.9)", "quantile(0.9,size=20,least=2)"),
            ("learn(bias=0.01)", "learn(under=linear,over=squared,bias=0.01,weight=area,rate=5000,l2=4000000000)"),
            ("times(3,double(quantile(1)))", "times(3,double(quantile(1,size=20,least=2)))"),
        ] {
            assert_eq!(in_full(text), Ok(full.to_string()));
            assert_eq!(in_full(full), Ok(full.to_string()));
            let learns = |text: &str| build_predictor(text).map(|(_, factor, learns)| (factor, learns));
            assert_eq!(learns(full), learns(text));
        }
        assert_eq!(canonical_text(&in_full("recent(5,full=no)").expect("one")), canonical_text("recent(5,full=no)"));
    }

    #[test]
    fn canonical_texts() {
        for (text, canonical) in [
            ("estimate", "estimate"),
            ("recent", "recent(2)"),
            ("recent(size=2,full=yes)", "recent(2)"),
            ("double(double(recent(1,metric=max,full=no)))", "times(4,recent(1))"),
            ("times(1,perfect)", "perfect"),
            ("recent(2,metric=median,window=extended)", "recent(2,window=extended)"),
            ("recent(30,full=no,fallback=relative,propagate=running)", "recent(30,full=no,propagate=running)"),
            (
                "recent(3,fallback=relative,recency=termination,above=clip,metric=min,window=immediate,propagate=waiting)",
                "recent(3,window=immediate,metric=min,fallback=relative,recency=termination,above=clip,propagate=waiting)",
            ),
        ] {
            assert_eq!(canonical_text(text).map(|c| c.0), Ok(canonical.to_string()), "{text}");
            assert_eq!(canonical_text(canonical), canonical_text(text), "{text}");
        }
    }

    /// The line for people names every predictor and every parameter of the table; policies are
    /// tried with a sample of each, and `docs/predictions.md` has all.
    #[test]
    fn people_are_told_of_all() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/predictions.md");
        let text = std::fs::read_to_string(page).expect("a page");
        let Takes::Form(form) = PREDICTOR else { panic!("predictors are a form") };
        let has_sample = |name: &str| form.samples.iter().any(|sample| sample.split('(').next() == Some(name));
        for kind in predictor_kinds() {
            assert!(VALUES.contains(kind.name), "{kind:?}");
            assert!(has_sample(kind.name), "no sample in PREDICTOR: {kind:?}");
            assert!(text.contains(&format!("`{}", kind.name)), "docs/predictions.md lacks {kind:?}");
            for param in kind.params.iter().filter(|p| kind.unnamed != Some(p.name)) {
                assert!(VALUES.contains(&format!("{}=", param.name)), "{kind:?}: {}", param.name);
            }
        }
    }

    /// Every predictor takes each of its parameters at each value that its type suggests.
    #[test]
    fn predictors_take_what_they_say() {
        for kind in predictor_kinds() {
            assert!(build_predictor(kind.name).is_ok_and(|(_, _, learns)| learns == kind.learns), "{kind:?}");
            for param in kind.params {
                for value in param.sample_values() {
                    let text = match kind.name {
                        // As many jobs are remembered as are waited for.
                        "quantile" if param.name == "least" => format!("quantile(size=1000,least={value})"),
                        "quantile" if param.name == "size" => format!("quantile(least=1,size={value})"),
                        "deviations" if param.name == "least" => format!("deviations(size=1000,least={value})"),
                        "deviations" if param.name == "size" => format!("deviations(least=1,size={value})"),
                        name => format!("{name}({}={value})", param.name),
                    };
                    assert!(build_predictor(&text).is_ok(), "{text}");
                    assert_eq!(in_full(&in_full(&text).expect("good")), in_full(&text));
                }
            }
        }
    }

    #[test]
    fn names_and_mistakes() {
        for good in [
            "estimate",
            "perfect",
            "recent",
            "recent(30,window=extended,full=no,metric=median,fallback=relative,propagate=running)",
            "double(recent(2))",
            "times(3,perfect)",
            "double(double(estimate))",
            "quantile(0.9,size=50,least=5)",
            "learn",
            "double(learn(under=squared,over=linear,bias=0.01,weight=wide,rate=100,l2=0))",
        ] {
            assert!(build_predictor(good).is_ok(), "{good}");
        }
        for (bad, part) in [
            ("oracle", "is no predictor"),
            ("recent(0)", "from 1 to 1000"),
            ("recent(2,window=wide)", "window takes all|immediate|extended"),
            ("recent(size=x)", "from 1 to 1000"),
            ("recent(2,size=3)", "`size` of recent is given twice"),
            ("recent(2,3)", "`size` of recent is given twice"),
            ("quantile(0.5,q=0.9)", "`q` of quantile is given twice"),
            ("recent(2,depth=3)", "no `depth`"),
            ("double()", "write double"),
            ("times(0,estimate)", "from 1 to 1000"),
            ("times(100,times(100,estimate))", "beyond 1000"),
            ("quantile(1.5)", "q takes a number from 0 to 1"),
            ("quantile(0.5,size=2,least=3)", "remembers only 2"),
            ("deviations(1,size=2,least=3)", "remembers only 2"),
            ("deviations(-1)", "k takes a number from 0"),
            ("deviations(1,like=queue)", "like takes user|procs|executable|both"),
            ("random(0.5)", "most takes a number from 1"),
            ("learn(weight=heavy)", "weight takes even|area|small|long|wide"),
            ("learn(rate=0)", "rate takes a number above 0"),
            ("learn(l2=1e-300)", "l2 of learn is at least 1e-12"),
            ("learn(5)", "no `5`"),
            ("estimate(2)", "estimate takes no `2`"),
            ("recent@old", "is no predictor"),
        ] {
            let error = build_predictor(bad).err().unwrap_or_default();
            assert!(error.contains(part), "{bad}: {error}");
        }
    }
}
