//! Parts that policies are composed of: orders, queues, the running set, the availability profile.

pub(crate) mod by_user;
mod chunked;
pub mod formula;
mod line;
mod order;
mod pool_profile;
pub mod predict;
mod profile;
mod running;
mod tree;
mod wait_queue;

pub(crate) use chunked::{Chunked, Spot};
pub use line::Line;
pub use order::Order;
pub use pool_profile::{Amounts, PoolProfile};
pub use profile::{Mark, Profile};
pub use running::{Extra, Running, RunningSet, Shadow};
pub use wait_queue::{Fit, Place, Stairs, WaitQueue, Waiting, more_expanded};
