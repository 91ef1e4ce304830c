//! The scheduler at work, without a policy: what it knows ([`model`]), the contract between it and
//! its policies ([`policy`]), the structures that both share ([`parts`]), and what drives them
//! ([`engine`]).
//!
//! No policy is here. Depend on `drystone-core`, which has them and re-exports all of this.

#![warn(missing_docs)]

pub mod engine;
pub mod model;
pub mod parts;
pub mod policy;
pub mod snapshot;
pub mod statistics;
pub mod text;
mod word_enum;
