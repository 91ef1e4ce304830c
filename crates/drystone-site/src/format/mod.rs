//! A site as a folder: tables that others read as they are.
//!
//! | file | what |
//! |---|---|
//! | `site.json` | what was read and how, pools, partitions, window, every rule with its counts ([`Manifest`](crate::Manifest)) |
//! | `jobs.parquet` | one row for each job, in the order of arrival |
//! | `nodes.csv` | one row for each node |
//! | `capacity.csv` | what pools lacked, from when to when |
//! | `nodes-out.csv` | nodes and processors of nodes that were out, from when to when |
//! | `accounts.txt` | associations and qualities of service, where they were given |
//! | `names.csv` | the names behind the numbers of all users, accounts and qualities of service |
//! | `report.txt` | what was done, for people |
//! | `slurm.conf` | the description of the machine, where it was one, as one file |
//! | `pool-N.slurm.conf` | the same of the Nth pool alone, with its nodes as they are; a policy of `slurm.conf` takes it for that pool |
//! | `pool-N.names.csv` | the names behind the numbers of its users, accounts, qualities of service and partitions |
//!
//! Equal input gives equal bytes. Another version of the format has another `schema`.

mod cells;
mod columns;
mod encode;
mod folder;
mod loaded;
mod parquet;
mod report;
mod slurm;
mod tables;

pub use folder::{is_site, open_folder, write_folder};
pub(crate) use loaded::LoadedJobs;
pub use report::render_report;
pub(crate) use slurm::of_pool as slurm_conf_of;
