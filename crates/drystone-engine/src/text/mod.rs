//! Names of policies and predictors in text: the grammar, their parameters, and the values that
//! these take.

mod args;
mod formula_error;
mod grammar;
mod needs;
mod param;
mod register;
mod takes;

pub use args::Args;
pub use formula_error::FormulaError;
pub(crate) use grammar::is_name;
pub use grammar::{NamedCall, SpecError, find_nearest};
pub use needs::simplify_number;
pub use needs::{ParamCondition, ParamNeeds};
pub use param::{Param, ParamLevel};
pub use register::RegisterError;
pub use register::name_problem;
pub use takes::{Takes, ValueForm};
