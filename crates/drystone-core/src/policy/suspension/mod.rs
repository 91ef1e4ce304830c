//! Preemption with local restart: selective suspension and immediate service (Kettimuthu et al.
//! 2005).
//!
//! Processors have numbers here, because a suspended job resumes on the processors it had. It
//! *owns* them meanwhile, and which free processors a fresh job may take is the choice that decides
//! everything ([`FreshPlace`]). Rules S3 to S9 ([`SelectivePolicy`]) and S12 ([`Immediate`]) of the
//! specification.

mod amounts;
mod immediate;
mod kind;
mod means;
mod news;
mod parts;
mod pool;
mod processors;
mod ratio;
mod seats;
mod selective;
mod settings;
mod task;
mod tuner;

pub use immediate::Immediate;
pub(crate) use kind::{IS, SS, TSS};
pub use ratio::DecimalRatio;
pub use selective::SelectivePolicy;
pub use settings::{FreshPlace, Service, SuspensionFactor, SuspensionLimit, SuspensionSettings, VictimRule};
