//! Needs of jobs, each put together once.

use super::{JobNodeNeed, NodeFloor, NodeSeat};
use crate::model::{DemandId, Job, Procs, ResourceTable};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A seat, and the need of the job that it is for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct NeedWithSeat {
    /// The need of the job.
    #[serde(serialize_with = "write_need", deserialize_with = "read_need")]
    pub(crate) need: Arc<JobNodeNeed>,
    /// Its seat.
    pub(crate) seat: NodeSeat,
}

fn write_need<S: Serializer>(need: &Arc<JobNodeNeed>, to: S) -> Result<S::Ok, S::Error> {
    need.as_ref().serialize(to)
}

fn read_need<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<JobNodeNeed>, D::Error> {
    JobNodeNeed::deserialize(from).map(Arc::new)
}

/// Kinds of jobs that are remembered.
const KINDS: usize = 1 << 16;

/// Needs of jobs by demand and processors, on which alone they depend.
#[derive(Clone, Default, Debug)]
pub(crate) struct NodeNeedBook {
    known: BTreeMap<(DemandId, Procs), Arc<JobNodeNeed>>,
}

impl NodeNeedBook {
    /// The need of a job.
    ///
    /// # Errors
    /// Those of [`JobNodeNeed::of`].
    pub(crate) fn of(
        &mut self,
        job: &Job,
        table: &ResourceTable,
        floor: &NodeFloor,
    ) -> Result<Arc<JobNodeNeed>, String> {
        let kind = (job.demand, job.procs);
        if let Some(need) = self.known.get(&kind) {
            return Ok(Arc::clone(need));
        }
        if self.known.len() == KINDS {
            self.known.clear();
        }
        let need = Arc::new(JobNodeNeed::of(job, table, floor)?);
        self.known.insert(kind, Arc::clone(&need));
        Ok(need)
    }
}
