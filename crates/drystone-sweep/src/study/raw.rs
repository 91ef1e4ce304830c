//! A study's file as it is written, before anything in it is looked at.

use super::FileEntry;
use drystone::generate::WorkloadModel;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use toml::{Spanned, Value};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawStudy {
    pub(super) name: Option<String>,
    pub(super) store: Option<PathBuf>,
    pub(super) metrics: Option<Vec<Spanned<String>>>,
    pub(super) trim: Option<Spanned<String>>,
    pub(super) excess: Option<Spanned<Value>>,
    pub(super) platform: Option<FileEntry>,
    pub(super) priorities: Option<FileEntry>,
    pub(super) resources: Option<Spanned<Value>>,
    pub(super) on_nodes: Option<FileEntry>,
    pub(super) placement: Option<Spanned<String>>,
    pub(super) windows: Option<Spanned<Value>>,
    pub(super) seed: Option<Spanned<u64>>,
    pub(super) repetitions: Option<Spanned<u32>>,
    pub(super) seeds: Option<Spanned<Vec<u64>>>,
    #[serde(default)]
    pub(super) workload: Vec<Spanned<RawWorkload>>,
    #[serde(default)]
    pub(super) policy: Vec<Spanned<RawPolicy>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawWorkload {
    pub(super) name: Option<String>,
    pub(super) file: Option<Spanned<PathBuf>>,
    pub(super) generate: Option<Spanned<RawGenerate>>,
    #[serde(rename = "as")]
    pub(super) published: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) clean: BTreeMap<Spanned<String>, Spanned<Value>>,
    pub(super) trim: Option<Spanned<String>>,
    pub(super) excess: Option<Spanned<Value>>,
    pub(super) platform: Option<FileEntry>,
    pub(super) priorities: Option<FileEntry>,
    pub(super) outages: Option<FileEntry>,
    pub(super) supply: Option<FileEntry>,
    pub(super) resources: Option<Spanned<Value>>,
    pub(super) on_nodes: Option<FileEntry>,
    pub(super) placement: Option<Spanned<String>>,
    pub(super) circumstances: Option<FileEntry>,
    pub(super) warm_start: Option<Spanned<i64>>,
    #[serde(default)]
    pub(super) feedback: bool,
    pub(super) load: Option<Spanned<Value>>,
    pub(super) month: Option<Spanned<Value>>,
    pub(super) slice: Option<Spanned<Value>>,
    pub(super) windows: Option<Spanned<Value>>,
    pub(super) change: Option<Spanned<Value>>,
    pub(super) failures: Option<Spanned<Value>>,
    pub(super) checkpoints: Option<Spanned<Value>>,
    pub(super) shapes: Option<FileEntry>,
    pub(super) reshape: Option<Spanned<Value>>,
    pub(super) power: Option<FileEntry>,
    pub(super) idle: Option<Spanned<u64>>,
    pub(super) series: Option<FileEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawGenerate {
    pub(super) procs: u32,
    pub(super) jobs: Option<u32>,
    pub(super) days: Option<u32>,
    pub(super) load: Option<f64>,
    pub(super) users: Option<u32>,
    pub(super) max_estimate: Option<i64>,
    pub(super) model: Option<WorkloadModel>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawPolicy {
    pub(super) name: Option<String>,
    pub(super) policy: Spanned<String>,
    pub(super) design: Option<Spanned<String>>,
    pub(super) samples: Option<Spanned<usize>>,
    pub(super) seed: Option<u64>,
    #[serde(default)]
    pub(super) parameters: BTreeMap<Spanned<String>, Spanned<Value>>,
    pub(super) points: Option<Vec<BTreeMap<Spanned<String>, Spanned<Value>>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawRange {
    pub(super) from: Value,
    pub(super) to: Value,
    pub(super) step: Option<Value>,
    #[serde(default)]
    pub(super) log: bool,
}
