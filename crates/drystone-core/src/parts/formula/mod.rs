//! Formulas by which waiting jobs are put in order, such as `log10(r)*n + 870*log10(s)`: the
//! smallest value first, ties by arrival, NaN last.
//!
//! A formula is read ([`Formula::from_str`]), checked, and written again in one canonical way. What
//! it means is defined to the last bit (see `arithmetic.rs`), and constants are computed
//! beforehand. An analysis finds out whether places in the queue change with time ([`Motion`]): a
//! fixed value is a key of the indexed queue; where all values change alike, as in `r*n - 60*w`,
//! the order stays, and the formula counts as `r*n + 60*s`; only values that overtake each other
//! are computed again at each pass, for all jobs at once ([`QueueBoard`]).

mod arithmetic;
mod board;
mod expr;
mod fold;
mod lex;
mod named;
mod parse;
mod print;
mod program;
mod shares;
#[cfg(test)]
mod tests;
mod value;

pub use crate::text::FormulaError;
pub use board::QueueBoard;
pub use drystone_engine::policy::BeyondProcessors;
pub use expr::{Expr, FUNCTIONS, Function, FunctionInfo, Operator, VARIABLES, Variable, VariableInfo};
pub use named::{FACTORS, NAMED, NamedOrder, NamedVariant, VARIANTS};
pub(crate) use named::{ORDER_SAMPLES, ORDER_SHAPE};
pub use shares::{RunUsage, Shares};
pub use value::{Moment, WaitingFacts};

use program::Program;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Change of waiting jobs' values with time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Motion {
    /// Not at all, or all alike: no job overtakes another.
    Still,
    /// With the clock: jobs may overtake each other while they wait.
    Clock,
    /// Also with the fates of other jobs: with the load, the number of waiting jobs, or the recent
    /// usage of users.
    State,
}

/// A formula that has been checked. Copies share it.
///
/// ```
/// use drystone_core::parts::formula::{Formula, Moment, WaitingFacts};
///
/// // Of a job with 4 processors that is predicted to run 10 s.
/// let facts = WaitingFacts { run: 10.0, procs: 4.0, ..WaitingFacts::default() };
/// let area: Formula = "r*n".parse()?;
/// assert_eq!(area.compute_value(&facts, &Moment::default()), 40.0);
/// assert!("r*processors".parse::<Formula>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Formula(Arc<CheckedFormula>);

#[derive(Clone, Debug)]
struct CheckedFormula {
    /// As it is written: the canonical text, or the name of a named order.
    text: String,
    expr: Expr,
    motion: Motion,
    /// Key of the order where nothing overtakes.
    still: Expr,
    /// Key of the order otherwise.
    program: Program,
    /// Position of the true run time in it, known to perfect predictions only.
    clairvoyant: Option<usize>,
}

impl Formula {
    /// Checks a tree that was made by a program.
    ///
    /// # Errors
    /// A tree whose types are wrong, or that is too large.
    pub fn new(expr: &Expr) -> Result<Formula, FormulaError> {
        expr.to_string().parse()
    }

    /// From a tree whose types are right.
    fn from_expr(expr: Expr, clairvoyant: Option<usize>) -> Formula {
        let expr = fold::fold_constants(expr);
        let depends = fold::find_dependencies(&expr);
        let line = fold::find_line(&expr);
        let motion = match &line {
            Some(_) => Motion::Still,
            None if depends.state => Motion::State,
            None => Motion::Clock,
        };
        let still = line.map_or_else(|| Expr::Number(0.0), still_key);
        let program = Program::new(&expr);
        Formula(Arc::new(CheckedFormula { text: expr.to_string(), expr, motion, still, program, clairvoyant }))
    }

    /// Sets the name.
    fn with_text(self, text: String) -> Formula {
        let checked_formula = Arc::unwrap_or_clone(self.0);
        Formula(Arc::new(CheckedFormula { text, ..checked_formula }))
    }

    /// The name of a named order, or the canonical text of a formula.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The tree, with constants computed.
    #[must_use]
    pub fn expr(&self) -> &Expr {
        &self.0.expr
    }

    /// Returns the change of values with time.
    #[must_use]
    pub fn motion(&self) -> Motion {
        self.0.motion
    }

    /// Returns the reason why a policy without knowledge of true run times may not use it; `None`
    /// where it may.
    #[must_use]
    pub fn peek_problem(&self) -> Option<FormulaError> {
        let problem = "this is the true run time, which a scheduler cannot know; write `r` for the predicted one, or add \
                       `predict=perfect` for a policy that is clairvoyant";
        self.0.clairvoyant.map(|at| FormulaError::new(&self.0.text, at, problem))
    }

    /// Returns whether a job's place depends on its prediction.
    #[must_use]
    pub fn heeds_predictions(&self) -> bool {
        fn needs_prediction(expr: &Expr) -> bool {
            matches!(expr, Expr::Variable(Variable::Run | Variable::Area | Variable::Expansion))
                || expr.direct_parts().into_iter().any(needs_prediction)
        }
        needs_prediction(&self.0.expr)
    }

    /// The windows of `usage` in seconds.
    #[must_use]
    pub fn usage_windows(&self) -> &[f64] {
        &self.0.program.windows
    }

    /// A job's place in a queue where nothing overtakes ([`Motion::Still`]): smallest first.
    #[inline]
    #[must_use]
    pub fn static_key(&self, facts: &WaitingFacts) -> i64 {
        arithmetic::queue_place(value::compute_value(&self.0.still, facts, &Moment::default()))
    }

    /// A job's place at a moment, whatever the motion: smallest first.
    #[must_use]
    pub fn key_at_moment(&self, facts: &WaitingFacts, moment: &Moment<'_>) -> i64 {
        match self.0.motion {
            Motion::Still => self.static_key(facts),
            _ => arithmetic::queue_place(self.compute_value(facts, moment)),
        }
    }

    /// The value for a job at a moment.
    #[must_use]
    pub fn compute_value(&self, facts: &WaitingFacts, moment: &Moment<'_>) -> f64 {
        value::compute_value(&self.0.expr, facts, moment)
    }
}

/// Returns the key that orders jobs as `fixed + slope·w` does at any moment: with the submit time
/// for the wait.
fn still_key(line: fold::LinearFormula) -> Expr {
    if line.slope == 0.0 {
        return line.fixed;
    }
    let submit = Expr::from_binary(Operator::Multiply, Expr::Number(-line.slope), Expr::Variable(Variable::Submit));
    Expr::from_binary(Operator::Add, line.fixed, submit)
}

impl FromStr for Formula {
    type Err = FormulaError;

    /// Reads a formula, which may stand in quotes, or the name of a named order.
    fn from_str(text: &str) -> Result<Formula, FormulaError> {
        let text = text.trim();
        let is_quoted = text.len() >= 2 && text.starts_with('"') && text.ends_with('"');
        let text = if is_quoted { &text[1..text.len() - 1] } else { text };
        if let Some(order) = named::parse_named(text)? {
            return Ok(order);
        }
        let parse_result = parse::parse(text)?;
        let formula = Formula::from_expr(parse_result.expr, parse_result.clairvoyant);
        // The tree does not show that it asks for the true run time.
        Ok(if formula.0.clairvoyant.is_some() { formula.with_text(text.to_string()) } else { formula })
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.text)
    }
}

impl PartialEq for Formula {
    fn eq(&self, other: &Formula) -> bool {
        self.0.text == other.0.text
    }
}

impl Eq for Formula {}

impl std::hash::Hash for Formula {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.text.hash(state);
    }
}

impl Serialize for Formula {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Formula {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Formula, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
