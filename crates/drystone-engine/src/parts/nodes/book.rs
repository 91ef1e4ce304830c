//! Needs of jobs, each put together once.

use super::{JobNodeNeed, NodeFloor, NodeSeat};
use crate::model::{Job, ResourceTable};
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

/// Most places of a book; each is for a demand and a number of processors.
const PLACES: usize = 1 << 20;

/// Needs of jobs by demand and processors, on which alone they depend.
#[derive(Clone, Default, Debug)]
pub struct NodeNeedBook {
    /// By demand and processors.
    known: Vec<Vec<Option<Arc<JobNodeNeed>>>>,
    places: usize,
}

impl NodeNeedBook {
    /// The need of a job.
    ///
    /// # Errors
    /// Those of [`JobNodeNeed::from_job`].
    pub fn need_of(&mut self, job: &Job, table: &ResourceTable, floor: &NodeFloor) -> Result<Arc<JobNodeNeed>, String> {
        let (demand, procs) = (job.demand.0 as usize, job.procs as usize);
        if let Some(Some(need)) = self.known.get(demand).and_then(|own| own.get(procs)) {
            return Ok(Arc::clone(need));
        }
        let need = Arc::new(JobNodeNeed::from_job(job, table, floor)?);
        let more = (procs + 1).saturating_sub(self.known.get(demand).map_or(0, Vec::len))
            + (demand + 1).saturating_sub(self.known.len());
        if self.places + more > PLACES {
            *self = NodeNeedBook::default();
        }
        if demand.max(procs) < PLACES / 2 {
            if self.known.len() <= demand {
                self.places += demand + 1 - self.known.len();
                self.known.resize_with(demand + 1, Vec::new);
            }
            let own = &mut self.known[demand];
            if own.len() <= procs {
                self.places += procs + 1 - own.len();
                own.resize(procs + 1, None);
            }
            own[procs] = Some(Arc::clone(&need));
        }
        Ok(need)
    }
}
