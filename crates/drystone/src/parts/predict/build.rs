//! Predictors by name.

use super::{
    Above, Correction, Fallback, Forecast, Metric, Perfect, Predictor, Propagation, Quantile, Recency, Recent,
    RecentOptions, UserEstimate, Window,
};
use crate::policy::{Args, Call, SpecError};

/// What `predict=` takes, for people.
pub const VALUES: &str = "estimate|perfect|recent(SIZE,window=all|immediate|extended,full=yes|no,\
    metric=average|median|min|max,fallback=estimate|relative,recency=submission|termination,above=discard|clip|keep,\
    propagate=no|waiting|running)|quantile(Q,size=20,least=2)|double(PREDICTOR)|times(K,PREDICTOR)";

/// The forecast that the parameters `predict` and `correct` of a policy ask for.
///
/// # Errors
/// A predictor or a correction that does not exist.
pub fn build(args: &Args<'_>) -> Result<Forecast, SpecError> {
    let text = args.text("predict");
    let (predictor, factor, learns) = predictor(text).map_err(|problem| args.error(problem))?;
    let correction = match args.text("correct") {
        "auto" if learns => Correction::Estimate,
        "auto" => Correction::None,
        _ => args.choose("correct", &Correction::NAMES)?,
    };
    Ok(Forecast { predictor, factor, correction })
}

/// A predictor, the factor on its predictions, and whether it learns.
fn predictor(text: &str) -> Result<(Box<dyn Predictor>, u32, bool), String> {
    let call = Call::parse(text).map_err(|e| e.problem)?;
    let plain = call.args.is_empty() && call.variant.is_none();
    match call.name.as_str() {
        "estimate" if plain => Ok((Box::new(UserEstimate), 1, false)),
        "perfect" if plain => Ok((Box::new(Perfect), 1, false)),
        "recent" => Ok((Box::new(Recent::new(recent(&call)?)), 1, true)),
        "quantile" => Ok((Box::new(quantile(&call)?), 1, true)),
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

fn recent(call: &Call) -> Result<RecentOptions, String> {
    let mut o = RecentOptions::default();
    for (key, value) in &call.args {
        match key.as_deref().unwrap_or("size") {
            "size" => {
                let size = value.parse().ok().filter(|s| (1..=1000).contains(s));
                o.size =
                    size.ok_or_else(|| format!("the size of a window is a number from 1 to 1000, not `{value}`"))?;
            }
            "window" => {
                o.window = word(
                    value,
                    &[("all", Window::All), ("immediate", Window::Immediate), ("extended", Window::Extended)],
                )?;
            }
            "full" => o.full = word(value, &[("yes", true), ("no", false)])?,
            "metric" => {
                o.metric = word(
                    value,
                    &[
                        ("average", Metric::Average),
                        ("median", Metric::Median),
                        ("min", Metric::Min),
                        ("max", Metric::Max),
                    ],
                )?;
            }
            "fallback" => {
                o.fallback = word(value, &[("estimate", Fallback::Estimate), ("relative", Fallback::Relative)])?;
            }
            "recency" => {
                o.recency = word(value, &[("submission", Recency::Submission), ("termination", Recency::Termination)])?;
            }
            "above" => {
                o.above = word(value, &[("discard", Above::Discard), ("clip", Above::Clip), ("keep", Above::Keep)])?;
            }
            "propagate" => {
                o.propagation = word(
                    value,
                    &[("no", Propagation::None), ("waiting", Propagation::Waiting), ("running", Propagation::Running)],
                )?;
            }
            other => return Err(format!("recent takes no `{other}`; predict takes {VALUES}")),
        }
    }
    Ok(o)
}

fn quantile(call: &Call) -> Result<Quantile, String> {
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
    Ok(Quantile::new(q, size, least))
}

fn word<T: Copy>(value: &str, words: &[(&str, T)]) -> Result<T, String> {
    let all: Vec<&str> = words.iter().map(|w| w.0).collect();
    let found = words.iter().find(|w| w.0 == value);
    found.map(|w| w.1).ok_or_else(|| format!("`{value}` is none of {}", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            assert!(predictor(good).is_ok(), "{good}");
        }
        for (bad, part) in [
            ("oracle", "is no predictor"),
            ("recent(0)", "from 1 to 1000"),
            ("recent(2,window=wide)", "none of all, immediate, extended"),
            ("recent(2,size=x)", "from 1 to 1000"),
            ("recent(2,depth=3)", "no `depth`"),
            ("double()", "write double"),
            ("times(0,estimate)", "from 1 to 1000"),
            ("times(100,times(100,estimate))", "beyond 1000"),
            ("quantile(1.5)", "between 0 and 1"),
            ("quantile(0.5,size=2,least=3)", "remembers only 2"),
            ("estimate(2)", "is no predictor"),
        ] {
            let error = predictor(bad).err().unwrap_or_default();
            assert!(error.contains(part), "{bad}: {error}");
        }
    }
}
