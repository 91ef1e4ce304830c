//! Orders of published studies by name.

use super::expr::Expr;
use super::{Formula, parse};
use crate::text::FormulaError;
use std::fmt::Write;

/// A named order.
#[derive(Clone, Copy, Debug)]
pub struct NamedOrder {
    /// Its name.
    pub name: &'static str,
    /// The formula; the smallest value comes first.
    pub formula: &'static str,
    /// Run time that the paper means: that of plans (`r`), or the user's estimate (`e`).
    pub run: char,
    /// Summary.
    pub summary: &'static str,
    /// Source, with the units of the paper.
    pub source: &'static str,
}

/// Variant behind `@`: the order with another run time.
#[derive(Clone, Copy, Debug)]
pub struct NamedVariant {
    /// Behind `@`.
    pub name: &'static str,
    /// The variable that it uses.
    pub run: char,
    /// Meaning.
    pub meaning: &'static str,
}

const TANG: &str = "Tang, Lan, Desai & Buettner 2009 (Cluster): requested wall time, seconds";
const CARASTAN: &str = "Carastan-Santos & de Camargo 2017 (SC), table 3: seconds; true run times there, estimates in \
                        a second series";
const SITE: &str = "the site's own priority, as `drystone live` reads it";
const LELONG: &str = "Lelong, Reis & Trystram 2017 (JSSPP): estimates, seconds";

macro_rules! named {
    ($($name:literal $run:literal $formula:literal $source:ident $summary:literal)*) => {
        /// All named orders but `multifactor`, in the order in which they are documented. In the
        /// formulas `R` is the run time that the paper means, or that a variant chooses.
        pub const NAMED: &[NamedOrder] = &[$(
            NamedOrder { name: $name, formula: $formula, run: $run, summary: $summary, source: $source },
        )*];

        /// Notation of the values of a parameter that is an order, for people.
        pub(crate) const ORDER_SHAPE: &str = concat!(
            "fcfs|sjf|ljf|smallest|largest|narrowest|widest|lxf|",
            $($name, "|",)*
            "multifactor(age=1000,size=100)|a formula"
        );

        /// Orders of every kind, for examples and for tests of what takes an order.
        pub(crate) const ORDER_SAMPLES: &[&str] = &[
            "fcfs", "sjf", "ljf", "smallest", "largest", "narrowest", "widest", "lxf",
            $($name,)*
            "multifactor(age=1000,size=100)",
            "wfp3@prediction",
            "log10(r)*n+870*log10(s)",
            "r*n-60*w",
            "if(waiting>10,r,-x)",
        ];
    };
}

named! {
    "wfp3" 'e' "-(w/max(1,R))^3*n" TANG
        "the wait by the run time, to the power of 3, times the processors: largest first"
    "unicef" 'e' "-w/(log2(max(2,n))*max(1,R))" TANG
        "the wait by the run time and the logarithm of the processors: largest first; one processor counts as two"
    "f1" 'r' "log10(max(1,R))*n+870*log10(max(1,s))" CARASTAN
        "log10(r)*n + 870*log10(s): smallest first; a time below 1 s counts as 1 s"
    "f2" 'r' "sqrt(R)*n+25600*log10(max(1,s))" CARASTAN
        "sqrt(r)*n + 25600*log10(s): smallest first"
    "f3" 'r' "R*n+6860000*log10(max(1,s))" CARASTAN
        "r*n + 6860000*log10(s): smallest first"
    "f4" 'r' "R*sqrt(n)+530000*log10(max(1,s))" CARASTAN
        "r*sqrt(n) + 530000*log10(s): smallest first"
    "saf" 'r' "R*n" LELONG "smallest area first"
    "laf" 'r' "-(R*n)" LELONG "largest area first"
    "spf" 'r' "R" LELONG "smallest run time first"
    "lpf" 'r' "-R" LELONG "largest run time first"
    "sqf" 'r' "n" LELONG "smallest resource requirement first: fewest processors"
    "lqf" 'r' "-n" LELONG "largest resource requirement first: most processors"
    "srf" 'r' "R/n" LELONG "smallest ratio of run time to processors first"
    "lrf" 'r' "-(R/n)" LELONG "largest ratio of run time to processors first"
    "sexp" 'r' "(w+max(1,R))/max(1,R)" LELONG "smallest expansion factor first"
    "lexp" 'r' "-((w+max(1,R))/max(1,R))" LELONG "largest expansion factor first"
    "lcfs" 'r' "-s" LELONG "last come, first served"
    "site" 'r' "-priority" SITE
        "largest priority of a live site first: Slurm's fair share, age, QOS; jobs of logs have none, and keep their arrival"
}

/// The variants of every named order.
pub const VARIANTS: &[NamedVariant] = &[
    NamedVariant { name: "estimate", run: 'e', meaning: "with the user's estimate, whatever the prediction" },
    NamedVariant { name: "prediction", run: 'r', meaning: "with the run time that plans: true with predict=perfect" },
];

/// Weights of `multifactor`: key, the factor that it weighs, what that is.
pub const FACTORS: &[(&str, &str, &str)] = &[
    ("age", "min(1,w/7d)", "the wait as a part of seven days, at most 1"),
    ("size", "n/machine", "processors as a part of the machine: large jobs first"),
    ("small", "(1-n/machine)", "the contrary: small jobs first"),
    ("short", "(1-min(1,e/1d))", "the part of a day that the estimate leaves, at least 0"),
    ("fairshare", "2^(-usage(7d)/0.1)", "1 for a user without usage within seven days, a half at a tenth of all usage"),
    ("expansion", "x", "the expansion factor"),
    ("queue", "queue", "the number of the queue"),
];

/// The named order that a text names; `None` where it is a formula.
pub(super) fn parse_named(text: &str) -> Result<Option<Formula>, FormulaError> {
    let lower = text.to_ascii_lowercase();
    if let Some(rest) = lower.strip_prefix("multifactor") {
        return parse_multifactor(text, rest).map(Some);
    }
    let (name, variant) = match lower.split_once('@') {
        Some((name, variant)) => (name.trim(), Some(variant.trim())),
        None => (lower.as_str(), None),
    };
    let Some(order) = NAMED.iter().find(|order| order.name == name) else {
        return match variant {
            Some(_) => Err(unknown_name_error(text, name)),
            None => Ok(None),
        };
    };
    let run = match variant {
        None => order.run,
        Some(variant) => match VARIANTS.iter().find(|entry| entry.name == variant) {
            Some(entry) => entry.run,
            None => {
                let at = text.chars().position(|c| c == '@').map_or(0, |at| at + 1);
                let names: Vec<&str> = VARIANTS.iter().map(|entry| entry.name).collect();
                let problem = format!("`{name}` has no variant `{variant}`; it has {}", names.join(", "));
                return Err(FormulaError::new(text, at, problem));
            }
        },
    };
    let formula = parse::parse(&order.formula.replace('R', &run.to_string()))?;
    // What the paper means needs no variant.
    let label = match variant {
        Some(variant) if run != order.run => format!("{name}@{variant}"),
        _ => name.to_string(),
    };
    Ok(Some(Formula::from_expr(formula.expr, None).with_text(label)))
}

fn unknown_name_error(text: &str, name: &str) -> FormulaError {
    let near = NAMED
        .iter()
        .map(|order| (strsim::damerau_levenshtein(name, order.name), order.name))
        .filter(|&(distance, order_name)| distance <= 1 + order_name.len() / 3)
        .min_by_key(|&(distance, _)| distance);
    let hint = near.map(|(_, name)| format!("; did you mean `{name}`?")).unwrap_or_default();
    FormulaError::new(text, 0, format!("`{name}` is no named order{hint}"))
}

/// `multifactor(age=1000,size=100)`: the weighted sum of factors, largest first, as Slurm and Maui
/// have it.
fn parse_multifactor(text: &str, rest: &str) -> Result<Formula, FormulaError> {
    let fail = |at: usize, problem: String| Err(FormulaError::new(text, at, problem));
    let keys: Vec<&str> = FACTORS.iter().map(|factor| factor.0).collect();
    let keys = keys.join(", ");
    let name = "multifactor".len();
    let Some(inner) = rest.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        return fail(name, format!("write `multifactor(age=1000,size=100)`; it weighs {keys}"));
    };
    let mut weights: Vec<Option<f64>> = vec![None; FACTORS.len()];
    let mut at = name + 1 + rest.find('(').unwrap_or(0);
    for part in inner.split(',') {
        let Some((key, weight)) = part.split_once('=') else {
            return fail(at, format!("`{}` is no weight; write `age=1000`", part.trim()));
        };
        let Some(factor) = FACTORS.iter().position(|factor| factor.0 == key.trim()) else {
            return fail(at, format!("`{}` is no factor; multifactor weighs {keys}", key.trim()));
        };
        let weight = weight.trim().parse::<f64>().ok().filter(|weight| weight.is_finite());
        let Some(weight) = weight else {
            return fail(at + key.len() + 1, "a weight is a number".to_string());
        };
        if weights[factor].replace(weight).is_some() {
            return fail(at, format!("`{}` is given twice", key.trim()));
        }
        at += part.chars().count() + 1;
    }
    let (mut label, mut sum) = (String::new(), String::new());
    for ((key, factor, _), weight) in FACTORS.iter().zip(weights) {
        let Some(weight) = weight.filter(|&weight| weight != 0.0) else { continue };
        let weight = Expr::Number(weight);
        let comma = if label.is_empty() { "" } else { "," };
        // Writing into a string cannot fail.
        let _ = write!(label, "{comma}{key}={weight}");
        let _ = write!(sum, "-{factor}*({weight})");
    }
    if sum.is_empty() {
        return fail(name, format!("at least one weight must differ from 0; multifactor weighs {keys}"));
    }
    let parse_result = parse::parse(&sum)?;
    Ok(Formula::from_expr(parse_result.expr, None).with_text(format!("multifactor({label})")))
}
