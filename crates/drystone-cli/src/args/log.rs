//! Options of every command that reads a log: rules by which records become jobs.

use super::values::{parse_take, parse_value, word_parser};
use crate::exit::CommandFailure;
use clap::Args;
use drystone::log::clean::{
    CleaningOptions, CleaningStudy, Duplicates, Keep, MissingEstimate, NegativeRun, Overrun, SizeField, TooWide,
};
use drystone::log::resources::ResourceSpec;
use drystone::log::transform::{self, LoadFactor};
use drystone::model::{NodeFill, Procs, Workload};
use std::path::PathBuf;
use std::str::FromStr;

/// Rules by which records become jobs. An option that is not given is the study's, else Drystone's
/// own.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct LogArgs {
    /// Processors of the machine; else the study's, else the log's MaxProcs or MaxNodes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Cleaning")]
    pub(crate) procs: Option<Procs>,

    /// Set cleaning, overrun, trimming, machine and policy variants as a published study had them,
    /// for all jobs of the log (some studies took a part: see `drystone reproduce`). Options given
    /// explicitly win.
    #[arg(long = "as", value_name = "STUDY", value_parser = word_parser(&CleaningStudy::ALL, CleaningStudy::name), help_heading = "Cleaning")]
    pub(crate) study: Option<CleaningStudy>,

    /// Treatment of a job that runs past its estimate: it runs on, is killed, has its estimate
    /// raised; exact: every estimate is the run time [default: run-on].
    #[arg(long, value_name = "MODE", value_parser = word_parser(&Overrun::ALL, Overrun::name), help_heading = "Cleaning")]
    pub(crate) overrun: Option<Overrun>,

    /// Field that gives a job's size [default: requested, else allocated].
    #[arg(long, value_name = "FIELD", value_parser = word_parser(&SizeField::ALL, SizeField::name), help_heading = "Cleaning")]
    pub(crate) size: Option<SizeField>,

    /// Stand-in for a missing estimate, or one of 0: run, run-min-1, drop, a number of seconds, or
    /// a model: tsafrir (few round values, none below the run time), factor(2), uniform(2) (from
    /// the run time to three times that), user-mean (of the user's jobs that had ended) [default:
    /// run].
    #[arg(long, visible_alias = "estimates", alias = "estimate", value_name = "RULE", value_parser = parse_value::<MissingEstimate>, help_heading = "Cleaning")]
    pub(crate) missing_estimate: Option<MissingEstimate>,

    /// Take every estimate for missing, so that --estimates replaces all of them.
    #[arg(long, requires = "missing_estimate", help_heading = "Cleaning")]
    pub(crate) replace_estimates: bool,

    /// Keep or drop records with run time 0 [default: keep].
    #[arg(long, value_name = "RULE", value_parser = word_parser(&Keep::ALL, Keep::name), help_heading = "Cleaning")]
    pub(crate) zero_run: Option<Keep>,

    /// Treatment of records with a negative run time [default: drop].
    #[arg(long, value_name = "RULE", value_parser = word_parser(&NegativeRun::ALL, NegativeRun::name), help_heading = "Cleaning")]
    pub(crate) negative_run: Option<NegativeRun>,

    /// Keep or drop records with a negative submit [default: keep].
    #[arg(long, value_name = "RULE", value_parser = word_parser(&Keep::ALL, Keep::name), help_heading = "Cleaning")]
    pub(crate) negative_submit: Option<Keep>,

    /// Treatment of jobs wider than the machine; drop-either: also if the other size field is
    /// [default: drop].
    #[arg(long, value_name = "RULE", value_parser = word_parser(&TooWide::ALL, TooWide::name), help_heading = "Cleaning")]
    pub(crate) too_wide: Option<TooWide>,

    /// Treatment of records that repeat a job number [default: keep].
    #[arg(long, value_name = "RULE", value_parser = word_parser(&Duplicates::ALL, Duplicates::name), help_heading = "Cleaning")]
    pub(crate) duplicates: Option<Duplicates>,

    /// Only the first N jobs of the log, in order of arrival, before any other cut; or all
    /// [default: all; with --as kettimuthu2005 5000, with --as talby1999 and months those that
    /// ended in the month of their submit].
    #[arg(long, value_name = "N|all", help_heading = "Cleaning", value_parser = parse_take)]
    pub(crate) take: Option<usize>,

    /// Divide submit times by this factor: 1.1 is 10 % more load.
    #[arg(long, value_name = "FACTOR", value_parser = parse_value::<LoadFactor>, help_heading = "Cleaning")]
    pub(crate) load: Option<LoadFactor>,

    /// Divide submit times so that the offered load becomes this: 0.9 or 90%.
    #[arg(long, value_name = "LOAD", value_parser = parse_offered_load, conflicts_with = "load", help_heading = "Cleaning")]
    pub(crate) load_to: Option<f64>,

    /// True if a load to aim at shortens the times between arrivals, and never stretches them.
    #[arg(skip)]
    pub(crate) shrinks: bool,

    /// True if jobs count that ended in the month of their submit, where no number is taken.
    #[arg(skip)]
    pub(crate) same_month: bool,

    /// Shift times so that the first submit is 0.
    #[arg(long, help_heading = "Cleaning")]
    pub(crate) shift: bool,

    /// Resources beyond processors, which every job holds while it runs: mem=SIZE or mem=SIZE/proc
    /// (the log's memory per processor), partition:N=PROCS, queue:N=PROCS, a table FILE.csv with
    /// any resource, site (memory and GPUs of a site's folder), none. Sizes have a unit: 32GB,
    /// 512MB.
    #[arg(long, value_name = "SPEC,...", value_delimiter = ',', value_parser = ResourceSpec::from_str, help_heading = "Cleaning")]
    pub(crate) resources: Vec<ResourceSpec>,

    /// Nodes on which jobs are placed: a table FILE.csv of classes with the columns nodes, cores,
    /// mem and devices, such as gpu; site (a site's slurm.conf, the default where it has one); none
    /// (counts of processors and resources).
    #[arg(long, value_name = "FILE.csv|site|none", value_parser = NodeSource::from_str, help_heading = "Cleaning")]
    pub(crate) on_nodes: Option<NodeSource>,

    /// Choice of nodes for a job: as few as possible (pack), piece by piece (spread), or nodes to
    /// itself (whole) [default: pack].
    #[arg(long, value_name = "RULE", requires = "on_nodes", value_parser = word_parser(&NodeFill::ALL, NodeFill::name), help_heading = "Cleaning")]
    pub(crate) placement: Option<NodeFill>,

    /// World of a site: its own, in which the limits of QOS, accounts and users hold for every
    /// policy (site), or a machine of equal processors without them (counts) [default: site].
    #[arg(long, value_name = "WORLD", value_parser = word_parser(&SiteWorld::ALL, SiteWorld::name), help_heading = "Cleaning")]
    pub(crate) world: Option<SiteWorld>,

    /// Skip and count malformed lines instead of failing.
    #[arg(long, help_heading = "Cleaning")]
    pub(crate) lenient: bool,

    /// List every record that cleaning dropped or changed in this CSV file.
    #[arg(long, value_name = "FILE", help_heading = "Cleaning")]
    pub(crate) audit: Option<PathBuf>,
}

drystone::word_enum! {
    /// World in which the jobs of a site are simulated.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub(crate) enum SiteWorld {
        /// Its own.
        #[default]
        Site = "site",
        /// A machine of equal processors.
        Counts = "counts",
    }
}

/// Source of nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum NodeSource {
    /// A table of classes.
    File(PathBuf),
    /// The `slurm.conf` of a site.
    Site,
    /// None: amounts in all are counted.
    None,
}

impl FromStr for NodeSource {
    type Err = String;

    fn from_str(text: &str) -> Result<NodeSource, String> {
        match text.trim() {
            "site" => Ok(NodeSource::Site),
            "none" => Ok(NodeSource::None),
            text if text.ends_with(".csv") => Ok(NodeSource::File(PathBuf::from(text))),
            _ => Err(format!("`{text}` names no nodes; expected a table FILE.csv, site or none")),
        }
    }
}

/// An offered load, as a fraction or in percent.
fn parse_offered_load(text: &str) -> Result<f64, String> {
    let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    match number.trim().parse::<f64>() {
        Ok(load) if load / scale > 0.0 && load / scale <= 10.0 => Ok(load / scale),
        Ok(_) => {
            Err(format!("`{text}` is out of range; expected an offered load above 0 and up to 10, such as 0.9 or 90%"))
        }
        Err(_) => Err(format!("`{text}` is no offered load; expected a fraction or percent, such as 0.9 or 90%")),
    }
}

impl LogArgs {
    /// Returns whether jobs arrive at other times than in the log.
    pub(crate) fn moves_arrivals(&self) -> bool {
        self.load_to.is_some() || self.load.is_some_and(|load| load.as_f64() != 1.0)
    }

    /// Scales the load of a workload, which is `now`, to the one that is asked for, if any.
    pub(crate) fn scale_to_target(&self, workload: Workload, now: Option<f64>) -> Result<Workload, CommandFailure> {
        let Some(target) = self.load_to else { return Ok(workload) };
        let Some(now) = now.filter(|&load| load > 0.0) else {
            return Err(CommandFailure::usage_error(
                "--load-to: these jobs have no offered load: they all arrive at once, or none runs",
            ));
        };
        if self.shrinks && now >= target {
            return Ok(workload);
        }
        let factor = format!("{:.9}", target / now).parse::<LoadFactor>().map_err(|_| {
            CommandFailure::usage_error(format_args!(
                "--load-to {target}: it is too far from the offered load of the log, {now:.3}"
            ))
        })?;
        transform::scale_load(workload, factor).map_err(CommandFailure::usage_error)
    }

    /// The options, those of the study filled in.
    pub(crate) fn cleaning_options(&self) -> CleaningOptions {
        let mut options = self.study.map(CleaningStudy::options).unwrap_or_default();
        let LogArgs { procs, overrun, size, missing_estimate, zero_run, negative_run, .. } = self.clone();
        let LogArgs { negative_submit, too_wide, duplicates, take, load, .. } = self.clone();
        fn set_option<T>(option: &mut T, choice: Option<T>) {
            if let Some(value) = choice {
                *option = value;
            }
        }
        options.procs = procs.or(options.procs);
        options.take = match take {
            Some(usize::MAX) => None,
            Some(jobs) => Some(jobs),
            None => options.take.or(self.study.and_then(CleaningStudy::job_count)),
        };
        options.same_month = self.same_month && take.is_none();
        options.load = load.or(options.load);
        options.replace_estimates |= self.replace_estimates;
        set_option(&mut options.overrun, overrun);
        set_option(&mut options.size, size);
        set_option(&mut options.missing_estimate, missing_estimate);
        set_option(&mut options.zero_run, zero_run);
        set_option(&mut options.negative_run, negative_run);
        set_option(&mut options.negative_submit, negative_submit);
        set_option(&mut options.too_wide, too_wide);
        set_option(&mut options.duplicates, duplicates);
        options.shift |= self.shift;
        options.lenient |= self.lenient;
        options.list = self.audit.is_some();
        options
    }
}
