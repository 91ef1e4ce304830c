//! Headroom: how far any schedule of some jobs is from the best possible.
//!
//! Two ends of a bracket. The [floor](ascend_prices) is a figure that no non-preemptive schedule of
//! these jobs can beat, also none by a scheduler that knows all run times: a Lagrangian dual with a
//! price for each processor-second, evaluated in whole numbers ([`Certificate`]). The
//! [`search_schedule`] starts from a schedule and improves it by ruin and recreate; what it gives
//! is feasible, so the optimum lies between the two.
//!
//! Both know jobs as numbers only: an [`Instance`] has releases, sizes, run times and costs. A
//! [`HeadroomCase`] makes one of a schedule that was simulated.
//!
//! ```
//! use drystone_headroom::{Ascent, CapacitySteps, Instance, DelayMeasure, TaskSchedule, ascend_prices};
//!
//! // Three jobs of the whole machine at once: one, then two of the others wait.
//! let tasks = (0..3).map(|_| DelayMeasure::Wait.make_task(0, 4, 100)).collect();
//! let instance = Instance::new(CapacitySteps::from_constant(4), tasks).expect("possible");
//! let schedule = TaskSchedule::in_order(&instance);
//! assert_eq!(instance.schedule_cost(&schedule), 300.0);
//! let floor = ascend_prices(&instance, &schedule, &Ascent::default(), &|_| true).certify_floor(&instance);
//! // Proven, whatever the prices: no schedule of these jobs waits less.
//! assert!(floor.floor_value() <= instance.schedule_cost(&schedule));
//! ```

mod ascent;
mod capacity;
mod case;
mod certificate;
mod evaluate;
mod first;
mod grid;
mod instance;
mod measure;
mod preemptive;
mod schedule;
mod search;

pub use ascent::{Ascended, Ascent, AscentStep, ascend_prices};
pub use capacity::CapacitySteps;
pub use case::{HeadroomCase, Refused, replay_rows};
pub use certificate::{Certificate, Relaxation, float_value};
pub use grid::Prices;
pub use instance::{Impossible, Instance};
pub use measure::{DelayMeasure, DelayWeight, HeadroomTask};
pub use schedule::{Infeasible, TaskSchedule};
pub use search::{BestFound, HeadroomSearch, Searching, TimeLimit, search_schedule};
