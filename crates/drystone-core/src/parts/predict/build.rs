//! Predictors by name.

use super::{
    Above, Branch, Correction, Fallback, Forecast, Learner, LearnerOptions, Metric, Perfect, Predictor, Propagation,
    Quantile, Recency, Recent, RecentOptions, UserEstimate, Weight, Window,
};
use crate::text::{Args, Call, Form, SpecError, Takes};

/// What `predict=` takes, for people.
pub const VALUES: &str = "estimate|perfect|recent(SIZE,window=all|immediate|extended,full=yes|no,\
    metric=average|median|min|max,fallback=estimate|relative,recency=submission|termination,above=discard|clip|keep,\
    propagate=no|waiting|running)|quantile(Q,size=20,least=2)|\
    learn(under=linear|squared,over=linear|squared,bias=1,weight=even|area|small|long|wide,rate=5000,l2=4e9)|\
    double(PREDICTOR)|times(K,PREDICTOR)";

/// What a parameter takes that is a predictor.
pub const PREDICTOR: Takes = Takes::Form(&Form {
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
        "learn",
        "learn(under=squared,weight=area)",
        "double(estimate)",
        "times(3,recent(2))",
        "double(perfect)",
    ],
    check: |text| predictor(text).is_ok(),
});

/// The forecast that the parameters `predict` and `correct` of a policy ask for.
///
/// # Errors
/// A predictor or a correction that does not exist.
pub fn build(args: &Args<'_>) -> Result<Forecast, SpecError> {
    let text = args.text("predict");
    let (predictor, factor, learns) = predictor(text).map_err(|problem| args.error(problem))?;
    let correction = match args.text("correct") {
        "auto" => args.automatic_correction(learns),
        text => text,
    };
    let correction = Correction::NAMES.iter().find(|(name, _)| *name == correction).map(|(_, correction)| *correction);
    let correction = correction.ok_or_else(|| args.wrong("correct"))?;
    Ok(Forecast { predictor, factor, correction })
}

/// The forecast of a predictor alone, e.g. `recent(2)`, with the correction that `auto` means.
///
/// # Errors
/// A predictor that does not exist.
pub fn forecast(text: &str) -> Result<Forecast, SpecError> {
    let fail = |problem| SpecError { text: text.trim().to_string(), problem };
    let (predictor, factor, learns) = predictor(text.trim()).map_err(fail)?;
    Ok(Forecast { predictor, factor, correction: automatic(learns) })
}

/// Whether a predictor learns from history; not if there is no such predictor.
pub(crate) fn learns(text: &str) -> bool {
    predictor(text).is_ok_and(|(_, _, learns)| learns)
}

fn automatic(learns: bool) -> Correction {
    if learns { Correction::Estimate } else { Correction::None }
}

/// A predictor, the factor on its predictions, and whether it learns.
fn predictor(text: &str) -> Result<(Box<dyn Predictor>, u32, bool), String> {
    let call = Call::parse(text).map_err(|e| e.problem)?;
    let plain = call.args.is_empty() && call.variant.is_none();
    match call.name.as_str() {
        "estimate" if plain => Ok((Box::new(UserEstimate), 1, false)),
        "perfect" if plain => Ok((Box::new(Perfect), 1, false)),
        "recent" => Ok((Box::new(Recent::new(recent(&call)?)), 1, true)),
        "quantile" => {
            let (q, size, least) = quantile(&call)?;
            Ok((Box::new(Quantile::new(q, size, least)), 1, true))
        }
        "learn" => Ok((Box::new(Learner::new(learner(&call)?)), 1, true)),
        "double" | "times" => {
            let inner: Vec<&str> = call.args.iter().filter(|a| a.0.is_none()).map(|a| a.1.as_str()).collect();
            let (factor, inner) = match (call.name.as_str(), inner.as_slice()) {
                ("double", [inner]) => (2, *inner),
                ("times", [factor, inner]) => {
                    let factor = factor.parse().ok().filter(|f| (1..=1000).contains(f));
                    (factor.ok_or("the factor of times(K,PREDICTOR) is a number from 1 to 1000")?, *inner)
                }
                _ => return Err("write double(PREDICTOR) or times(K,PREDICTOR)".into()),
            };
            let (predictor, more, learns) = predictor(inner)?;
            let factor =
                u32::checked_mul(factor, more).filter(|&f| f <= 1000).ok_or("the factors multiply beyond 1000")?;
            Ok((predictor, factor, learns))
        }
        _ => Err(format!("`{text}` is no predictor; predict takes {VALUES}")),
    }
}

/// The shortest text of the same predictor: texts of predictors that always predict the same ([`RecentOptions::canonical`])
/// become equal. And whether it learns.
///
/// # Errors
/// A text that names no predictor.
pub(crate) fn canonical(text: &str) -> Result<(String, bool), String> {
    let (_, factor, learns) = predictor(text)?;
    let mut call = Call::parse(text).map_err(|e| e.problem)?;
    while matches!(call.name.as_str(), "double" | "times") {
        let inner = call.args.iter().rfind(|a| a.0.is_none()).map_or("", |a| a.1.as_str());
        call = Call::parse(inner).map_err(|e| e.problem)?;
    }
    let plain = match call.name.as_str() {
        "recent" => print_recent(&recent(&call)?.canonical(), false),
        _ => call.to_string(),
    };
    Ok((if factor == 1 { plain } else { format!("times({factor},{plain})") }, learns))
}

/// The same predictor with every parameter that it has, defaults written out, as [`predictor`] reads it.
///
/// # Errors
/// A text that names no predictor.
pub(crate) fn in_full(text: &str) -> Result<String, String> {
    let call = Call::parse(text).map_err(|e| e.problem)?;
    Ok(match call.name.as_str() {
        "recent" => print_recent(&recent(&call)?, true),
        "quantile" => {
            let (q, size, least) = quantile(&call)?;
            format!("quantile({q},size={size},least={least})")
        }
        "learn" => {
            let o = learner(&call)?;
            let (under, over, weight) = (name(o.under, BRANCHES), name(o.over, BRANCHES), name(o.weight, WEIGHTS));
            format!("learn(under={under},over={over},bias={},weight={weight},rate={},l2={})", o.bias, o.rate, o.l2)
        }
        "double" | "times" => {
            let args = call.args.iter().enumerate().map(|(at, (_, arg))| match at + 1 == call.args.len() {
                true => in_full(arg),
                false => Ok(arg.clone()),
            });
            format!("{}({})", call.name, args.collect::<Result<Vec<_>, _>>()?.join(","))
        }
        _ => call.to_string(),
    })
}

const WINDOWS: &[(&str, Window)] =
    &[("all", Window::All), ("immediate", Window::Immediate), ("extended", Window::Extended)];
const METRICS: &[(&str, Metric)] =
    &[("average", Metric::Average), ("median", Metric::Median), ("min", Metric::Min), ("max", Metric::Max)];
const FALLBACKS: &[(&str, Fallback)] = &[("estimate", Fallback::Estimate), ("relative", Fallback::Relative)];
const RECENCIES: &[(&str, Recency)] = &[("submission", Recency::Submission), ("termination", Recency::Termination)];
const ABOVES: &[(&str, Above)] = &[("discard", Above::Discard), ("clip", Above::Clip), ("keep", Above::Keep)];
const PROPAGATIONS: &[(&str, Propagation)] =
    &[("no", Propagation::None), ("waiting", Propagation::Waiting), ("running", Propagation::Running)];
const BRANCHES: &[(&str, Branch)] = &[("linear", Branch::Linear), ("squared", Branch::Squared)];
const WEIGHTS: &[(&str, Weight)] = &[
    ("even", Weight::Even),
    ("area", Weight::Area),
    ("small", Weight::Small),
    ("long", Weight::Long),
    ("wide", Weight::Wide),
];

/// What [`recent`] reads back; defaults only where they are asked for.
fn print_recent(o: &RecentOptions, in_full: bool) -> String {
    let d = RecentOptions::default();
    let mut text = format!("recent({}", o.size);
    let mut put = |key: &str, differs: bool, value: &str| {
        if differs || in_full {
            text.push_str(&format!(",{key}={value}"));
        }
    };
    put("window", o.window != d.window, name(o.window, WINDOWS));
    put("full", o.full != d.full, if o.full { "yes" } else { "no" });
    put("metric", o.metric != d.metric, name(o.metric, METRICS));
    put("fallback", o.fallback != d.fallback, name(o.fallback, FALLBACKS));
    put("recency", o.recency != d.recency, name(o.recency, RECENCIES));
    put("above", o.above != d.above, name(o.above, ABOVES));
    put("propagate", o.propagation != d.propagation, name(o.propagation, PROPAGATIONS));
    text.push(')');
    text
}

/// Refuses a parameter that is given twice, once without its name.
fn given_once(call: &Call, unnamed: &str) -> Result<(), String> {
    let names = || call.args.iter().map(|(key, _)| key.as_deref().unwrap_or(unnamed));
    match names().enumerate().find(|(at, name)| names().take(*at).any(|before| before == *name)) {
        Some((_, name)) => Err(format!("`{name}` of {} is given twice", call.name)),
        None => Ok(()),
    }
}

fn recent(call: &Call) -> Result<RecentOptions, String> {
    given_once(call, "size")?;
    let mut o = RecentOptions::default();
    for (key, value) in &call.args {
        match key.as_deref().unwrap_or("size") {
            "size" => {
                let size = value.parse().ok().filter(|s| (1..=1000).contains(s));
                o.size =
                    size.ok_or_else(|| format!("the size of a window is a number from 1 to 1000, not `{value}`"))?;
            }
            "window" => o.window = word(value, WINDOWS)?,
            "full" => o.full = word(value, &[("yes", true), ("no", false)])?,
            "metric" => o.metric = word(value, METRICS)?,
            "fallback" => o.fallback = word(value, FALLBACKS)?,
            "recency" => o.recency = word(value, RECENCIES)?,
            "above" => o.above = word(value, ABOVES)?,
            "propagate" => o.propagation = word(value, PROPAGATIONS)?,
            other => return Err(format!("recent takes no `{other}`; predict takes {VALUES}")),
        }
    }
    Ok(o)
}

/// q, size, least.
fn quantile(call: &Call) -> Result<(f64, usize, usize), String> {
    given_once(call, "q")?;
    let (mut q, mut size, mut least) = (0.5, 20usize, 2usize);
    for (key, value) in &call.args {
        let count = || value.parse().ok().filter(|s| (1..=1000).contains(s));
        match key.as_deref().unwrap_or("q") {
            "q" => {
                q = value.parse().ok().filter(|q| (0.0..=1.0).contains(q)).ok_or("a quantile lies between 0 and 1")?;
            }
            "size" => size = count().ok_or("the size of a window is a number from 1 to 1000")?,
            "least" => least = count().ok_or("least is a number from 1 to 1000")?,
            other => return Err(format!("quantile takes no `{other}`; predict takes {VALUES}")),
        }
    }
    if least > size {
        return Err(format!("quantile waits for {least} jobs but remembers only {size}"));
    }
    Ok((q, size, least))
}

fn learner(call: &Call) -> Result<LearnerOptions, String> {
    let mut o = LearnerOptions::default();
    for (key, value) in &call.args {
        let positive = || value.parse().ok().filter(|v: &f64| (1e-12..=1e24).contains(v));
        match key.as_deref() {
            Some("under") => o.under = word(value, BRANCHES)?,
            Some("over") => o.over = word(value, BRANCHES)?,
            Some("weight") => o.weight = word(value, WEIGHTS)?,
            Some("bias") => o.bias = positive().ok_or("the bias of learn is a positive number")?,
            Some("rate") => o.rate = positive().ok_or("the rate of learn is a positive number")?,
            Some("l2") if value == "0" => o.l2 = 0.0,
            Some("l2") => o.l2 = positive().ok_or("l2 is 0 or a positive number")?,
            other => {
                return Err(format!("learn takes no `{}`; predict takes {VALUES}", other.unwrap_or(value)));
            }
        }
    }
    Ok(o)
}

fn word<T: Copy>(value: &str, words: &[(&str, T)]) -> Result<T, String> {
    let all: Vec<&str> = words.iter().map(|w| w.0).collect();
    let found = words.iter().find(|w| w.0 == value);
    found.map(|w| w.1).ok_or_else(|| format!("`{value}` is none of {}", all.join(", ")))
}

/// The word for a value.
fn name<T: Copy + PartialEq>(value: T, words: &[(&'static str, T)]) -> &'static str {
    words.iter().find(|w| w.1 == value).map_or("", |w| w.0)
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
            let learns = |text: &str| predictor(text).map(|(_, factor, learns)| (factor, learns));
            assert_eq!(learns(full), learns(text));
        }
        assert_eq!(canonical(&in_full("recent(5,full=no)").expect("one")), canonical("recent(5,full=no)"));
    }

    #[test]
    fn canonical_texts() {
        for (text, canonical_text) in [
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
            assert_eq!(canonical(text).map(|c| c.0), Ok(canonical_text.to_string()), "{text}");
            assert_eq!(canonical(canonical_text), canonical(text), "{text}");
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
            assert!(predictor(good).is_ok(), "{good}");
        }
        for (bad, part) in [
            ("oracle", "is no predictor"),
            ("recent(0)", "from 1 to 1000"),
            ("recent(2,window=wide)", "none of all, immediate, extended"),
            ("recent(size=x)", "from 1 to 1000"),
            ("recent(2,size=3)", "`size` of recent is given twice"),
            ("recent(2,3)", "`size` of recent is given twice"),
            ("quantile(0.5,q=0.9)", "`q` of quantile is given twice"),
            ("recent(2,depth=3)", "no `depth`"),
            ("double()", "write double"),
            ("times(0,estimate)", "from 1 to 1000"),
            ("times(100,times(100,estimate))", "beyond 1000"),
            ("quantile(1.5)", "between 0 and 1"),
            ("quantile(0.5,size=2,least=3)", "remembers only 2"),
            ("learn(weight=heavy)", "none of even, area"),
            ("learn(rate=0)", "a positive number"),
            ("learn(5)", "no `5`"),
            ("estimate(2)", "is no predictor"),
        ] {
            let error = predictor(bad).err().unwrap_or_default();
            assert!(error.contains(part), "{bad}: {error}");
        }
    }
}
