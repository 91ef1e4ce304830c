//! The simulation engine: a scheduler at work, and the simulated machine that drives it.

mod admission;
mod changes;
mod checkpoint;
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

pub use crate::model::{Adopted, How};
pub use admission::Admission;
pub use checkpoint::{CheckpointError, CheckpointRule, Checkpoints, read_length};
pub use fitness::Unfit;
pub use happenings::{AdmissionDesk, Happenings, SiteAdmission};
pub use journal::{JournalEntry, SessionNews, TakeError};
pub use notes::{GaugeNote, Notes};
pub use observer::{AnyObserver, Levels, Observer, Schedule};
pub use platform::step_splitmix64;
pub use platform::{MemorySource, Platform, PlatformError, Transfer, TransferCost};
pub use segments::{Segment, SegmentEnd, Segments, SizeRequest};
pub use session::{ImpossibleJob, NewsError, PolicyViolation, ProposalError, Scheduler, Session};
pub use simulation::{Simulation, SimulationError, SupplyLack};
pub use source::{EventSource, Incoming, OutageTurn, Stroke, WorkloadReplay};
pub use stopwatch::WallClock;
