//! Sweeps on a cluster: tasks by hand and by GNU parallel. The tests `live` have those on a real
//! Slurm.

mod at_work;
mod tasks;
