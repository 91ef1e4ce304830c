//! Metrics of a simulated schedule, by category, with trimming, and comparisons that know noise
//! from improvement.
//!
//! A [`Collector`] watches a simulation and makes a [`Report`]; [`compare_reports`] sets several
//! reports against a baseline. [`measures`] defines what is measured of a job, [`Metric`] is the
//! catalogue of every number that a report holds, [`Summary`] what is said of many,
//! [`JobSelection`] which jobs count, and [`Scheme`] how they are sorted.

mod blocks;
mod borders;
mod calendar;
mod catalogue;
mod category;
mod classes;
mod collector;
mod compare;
mod disruptions;
mod efforts;
mod excess;
mod fairness;
mod foresight;
mod histogram;
mod keyed;
mod machine;
pub mod measures;
mod objective;
mod payers;
mod power;
mod predictability;
mod promises;
mod ratio;
mod report;
mod resources;
mod row;
mod selection;
mod sizes;
mod stall;
mod summary;
mod threshold;
mod weekly;
mod weeks;

pub use blocks::{LEAST_BLOCKS, PairedMeans, paired_means};
pub use borders::ClassBorders;
pub use calendar::Calendar;
pub use catalogue::{Better, Metric, MetricNeeds, MetricSource};
pub use category::Scheme;
pub use classes::JobClass;
pub use collector::{Collector, MetricsConfig, Scope};
pub use compare::{
    ChangeEvidence, CompareError, ComparedPolicy, Comparison, IntervalOptions, LEAST_WEEKS, MetricChange,
    MetricVerdict, compare_reports,
};
pub use disruptions::Disruptions;
pub use efforts::SearchEffort;
pub use excess::ExcessiveWait;
pub use fairness::{Fairness, jain_index, overtaken_share};
pub use foresight::{Foresight, judge_predictor};
pub use machine::{MachineUse, QueueStats, QueueUse};
pub use measures::{Defined, Measure, Measures, MetricUnit, UnknownWord};
pub use objective::MeasureObjective;
pub use payers::{Payer, find_payers};
pub use power::{PowerTimeline, PowerUse};
pub use predictability::Predictability;
pub use promises::{BrokenPromise, PromiseAudit, PromisesKept};
pub use ratio::{BATCH, RatioError, SlowdownRatios, slowdown_ratios};
pub use report::{Categorised, Category, Kills, MeasuredWeek, Report, Suspensions, WorstCase};
pub use resources::ResourceUse;
pub use row::JobRow;
pub use selection::{JobSelection, Trimmed};
pub use sizes::{KindWaits, PACE_COLUMNS, PacedRun, SIZE_COLUMNS, SizeAsks, SizeMeter, SizeReport, SizedJob};
pub use stall::{HeelAndToe, Stalls};
pub use summary::{Distribution, EXACT_LIMIT, Precision, Summary};
pub use threshold::Threshold;
pub use weekly::{ClassWeek, MANY_WEEKS, weekly_classes};
pub use weeks::SubmitWeeks;
