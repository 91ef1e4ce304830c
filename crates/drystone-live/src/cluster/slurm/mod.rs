//! A private Slurm
