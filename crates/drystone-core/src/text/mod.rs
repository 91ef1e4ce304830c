//! Names of policies and predictors in text: the grammar, their parameters, and the values that
//! these take.

mod args;
mod grammar;
mod needs;
mod param;
mod register;
mod takes;

pub use args::Args;
pub(crate) use grammar::is_name;
pub use grammar::{NamedCall, SpecError, nearest};
pub(crate) use needs::plain;
pub use needs::{ParamCondition, ParamNeeds};
pub use param::{Param, ParamLevel};
pub use register::RegisterError;
pub(crate) use register::name_problem;
pub use takes::{Takes, ValueForm};
