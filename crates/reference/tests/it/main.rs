//! The naive definitions, held to golden schedules and to the library.
//! One binary: it links once. A new file needs its line here.

mod admission_drystone;
mod checker;
mod committed_published;
mod common;
mod differential;
mod drawn;
mod easy_golden;
mod formula_drystone;
mod gaussier_published;
mod generated;
mod multiqueue_drystone;
mod multiqueue_golden;
mod outages_drystone;
mod placed_drystone;
mod placed_outages_drystone;
mod planned_drystone;
mod resources_drystone;
mod seated_drystone;
mod shapes_drystone;
mod supplied_drystone;
mod suspension_drystone;
mod suspension_golden;
mod talby_golden;
