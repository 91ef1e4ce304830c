//! Nodes: what each has, what is free on it now and later, and where a job goes.
//!
//! A job is in equal pieces or in one share for each of its nodes ([`JobNodeNeed`]). Where it goes
//! is a function of what is free and of what it asks for ([`NodeFloor::find_seat`]), so that a plan
//! and the machine agree.

mod book;
mod floor;
mod index;
mod levels;
mod need;
mod placing;
mod profile;

pub use book::NeedWithSeat;
pub use floor::NodeFloor;
pub use index::NodeIndex;
pub use levels::{NodeLevels, NodeSeat};
pub use need::JobNodeNeed;
pub use profile::NodeProfile;
