//! The simulation engine: a scheduler at work, and the simulated machine that drives it.

mod changes;
mod ends;
pub mod explain;
mod fitness;
mod happenings;
mod journal;
mod notes;
mod observer;
mod platform;
mod segments;
mod session;
mod simulation;
mod source;
mod stopwatch;
mod watched;

pub use crate::model::{Adopted, How};
pub use fitness::Unfit;
pub use happenings::Happenings;
pub use journal::{Entry, News, TakeError};
pub use notes::{Note, Notes};
pub use observer::{Levels, Observer, Schedule};
pub(crate) use platform::splitmix64;
pub use platform::{Memory, Pays, Platform, PlatformError, Transfer};
pub use segments::{Segment, Segments, Then};
pub use session::{ImpossibleJob, NewsError, ProposalError, Scheduler, Session, Violation};
pub use simulation::{Simulation, SimulationError};
pub use source::{Incoming, Replay, Source, Stroke, Turn};
pub use stopwatch::WallClock;
pub use watched::Watched;
