//! Seats of jobs, with what these ask for.

use super::{JobNodeNeed, NodeSeat};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// A seat, and the need of the job that it is for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NeedWithSeat {
    /// The need of the job.
    #[serde(serialize_with = "write_need", deserialize_with = "read_need")]
    pub need: Arc<JobNodeNeed>,
    /// Its seat.
    pub seat: NodeSeat,
}

fn write_need<S: Serializer>(need: &Arc<JobNodeNeed>, to: S) -> Result<S::Ok, S::Error> {
    need.as_ref().serialize(to)
}

fn read_need<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<JobNodeNeed>, D::Error> {
    JobNodeNeed::deserialize(from).map(Arc::new)
}
