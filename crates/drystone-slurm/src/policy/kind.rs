//! The policy by name: its parameters are Slurm's own.

use super::people::{LogNames, People, QosFrom};
use super::{RequestShape, SlurmPolicy, priority};
use crate::accounts::Accounts;
use crate::conf::{KNOBS, SlurmConf};
use crate::site::{JobPriorities, Multifactor, ResetPeriod, SchedulerRules, UsageReset, read_date};
use drystone_core::policy::{Args, Param, Policy, PolicyKind, PolicySpec, RegisterError, SpecError, Takes, ValueForm};
use std::path::{Path, PathBuf};

/// The path of a file.
static PATH: ValueForm = ValueForm { name: "path", shape: "a file", samples: &[], check: |text| !text.is_empty() };
/// Values of a parameter of Slurm.
static VALUE: ValueForm = ValueForm {
    name: "slurm-value",
    shape: "a value that Slurm takes",
    samples: &["1", "30"],
    check: |text| text.parse::<i64>().is_ok() || ["yes", "no"].contains(&text),
};

/// Nothing said: the configuration's value, else Slurm's default.
const AUTO: &str = "auto";

const fn own_parameter(
    name: &'static str,
    default: &'static str,
    takes: &'static [Takes],
    meaning: &'static str,
) -> Param {
    Param::new(name, default, takes, meaning)
}

static KNOB: [Takes; 2] = [Takes::Words(&[AUTO]), Takes::Form(&VALUE)];

const fn knob_parameter(name: &'static str, meaning: &'static str) -> Param {
    Param::new(name, AUTO, &KNOB, meaning).for_experts()
}

static MINUTES: [Takes; 2] = [Takes::Words(&[AUTO]), Takes::Whole { from: 1, to: 10_000_000 }];
static WEIGHT: [Takes; 2] = [Takes::Words(&[AUTO]), Takes::Whole { from: 0, to: u32::MAX as u64 }];
/// A time as slurm.conf has it.
static TIME: ValueForm = ValueForm {
    name: "slurm-time",
    shape: "a time such as 7-0",
    samples: &["7-0", "30"],
    check: priority::is_duration,
};
/// A date, and perhaps a time.
static DATE: ValueForm = ValueForm {
    name: "date",
    shape: "a date such as 2026-11-30 or 2026-11-30T08:15",
    samples: &["2026-11-30", "2026-11-30T08:15"],
    check: |text| read_date(text).is_some(),
};
static TIMES: [Takes; 2] = [Takes::Words(&[AUTO]), Takes::Form(&TIME)];

const fn weight_parameter(name: &'static str, meaning: &'static str) -> Param {
    Param::new(name, AUTO, &WEIGHT, meaning).for_experts()
}

const fn time_parameter(name: &'static str, meaning: &'static str) -> Param {
    Param::new(name, AUTO, &TIMES, meaning).for_experts()
}

/// Slurm's main scheduler and backfill.
pub static SLURM: PolicyKind =
    PolicyKind::new("slurm", "Slurm's main scheduler and sched/backfill, from a slurm.conf or parameters", &build_from_args)
        .with_source("Slurm 22.05.8, read and run; docs/slurm.md says what is certified and what is from source")
        .with_unnamed_param("conf")
        .with_params(&[
            own_parameter(
                "conf",
                "none",
                &[Takes::Words(&["none"]), Takes::Form(&PATH)],
                "slurm.conf of the site: machine, partitions, settings",
            ),
            own_parameter("cpus", "1", &[Takes::Whole { from: 1, to: 4096 }], "processors of each node, without a slurm.conf"),
            own_parameter("whole", "no", &[Takes::NO_YES], "jobs get whole nodes, without a slurm.conf (from source)"),
            own_parameter("pack", "yes", &[Takes::NO_YES], "a job that fits on one node asks for one").for_studies(),
            own_parameter(
                "epilog",
                AUTO,
                &[Takes::Words(&[AUTO, "yes", "no"])],
                "each end calls the main scheduler at once, as with an Epilog; auto: as slurm.conf has it, else yes",
            ),
            own_parameter(
                "phase",
                "0",
                &[Takes::Whole { from: 0, to: u32::MAX as u64 }],
                "picks where Slurm's clocks stand within a second; single jobs depend on it",
            )
            .for_studies(),
            own_parameter(
                "test-us",
                "0",
                &[Takes::Whole { from: 0, to: 10_000_000 }],
                "microseconds that backfill takes for each job it tests, as sdiag shows them (from source)",
            ),
            own_parameter(
                "accounts",
                AUTO,
                &[Takes::Words(&[AUTO, "none"]), Takes::Form(&PATH)],
                "associations and QOS: tables of sacctmgr -P, a dump, or its commands; auto: those of the site (from source)",
            ),
            own_parameter(
                "names",
                AUTO,
                &[Takes::Words(&[AUTO, "none"]), Takes::Form(&PATH)],
                "names behind the log's numbers: lines user|account|qos|partition,NUMBER,NAME; auto: those of the site (from source)",
            ),
            own_parameter(
                "qos",
                AUTO,
                &[Takes::Words(&[AUTO, "none", "queue", "partition"])],
                "field of the log with the QOS; auto: the queue, if accounts have any (from source)",
            ),
            own_parameter(
                "arrays",
                "no",
                &[Takes::NO_YES],
                "equal jobs of a user in the same second are tasks of one array (from source)",
            ),
            own_parameter(
                "kill",
                "no",
                &[Takes::NO_YES],
                "jobs that run past their limits are killed, as Slurm does (from source)",
            ),
            own_parameter(
                "begins",
                AUTO,
                &[Takes::Words(&[AUTO]), Takes::Form(&DATE)],
                "local date and time at which the simulation begins, needed for PriorityUsageResetPeriod; auto: no use is forgotten",
            )
            .for_experts(),
            own_parameter("maxtime", AUTO, &MINUTES, "minutes of the longest limit, in every partition").for_experts(),
            own_parameter("prioritytype", AUTO, &[Takes::Words(&[AUTO, "basic", "multifactor"])], "as in slurm.conf").for_experts(),
            weight_parameter("priorityweightage", "weight of the age (from source)"),
            weight_parameter("priorityweightfairshare", "weight of the fair share (from source)"),
            weight_parameter("priorityweightjobsize", "weight of the size"),
            weight_parameter("priorityweightpartition", "weight of the partition (from source)"),
            weight_parameter("priorityweightqos", "weight of the QOS (from source)"),
            weight_parameter("priorityweightassoc", "weight of the association (from source)"),
            time_parameter("prioritymaxage", "age that counts in full; Slurm: 7-0 (from source)"),
            time_parameter("prioritydecayhalflife", "after which use counts half; Slurm: 7-0 (from source)"),
            time_parameter("prioritycalcperiod", "between two calculations; Slurm: 5 (from source)"),
            own_parameter(
                "priorityfavorsmall",
                AUTO,
                &[Takes::Words(&[AUTO, "yes", "no"])],
                "small jobs are favoured (from source)",
            )
            .for_experts(),
            knob_parameter("bf_interval", "seconds between two backfill passes; -1: no backfill; Slurm: 30"),
            knob_parameter("bf_window", "minutes that plans reach ahead; Slurm: 1440"),
            knob_parameter("bf_resolution", "seconds of the grid of plans; Slurm: 60"),
            knob_parameter("bf_max_job_test", "jobs that a backfill pass tests at most; Slurm: 500 (from source)"),
            knob_parameter("bf_max_job_user", "jobs of each user that a pass looks at, 0: all; Slurm: 0"),
            knob_parameter("bf_max_job_part", "jobs of each partition that a pass looks at, 0: all; Slurm: 0 (from source)"),
            knob_parameter("bf_max_job_user_part", "jobs of each user in each partition, 0: all; Slurm: 0 (from source)"),
            knob_parameter("bf_max_job_assoc", "jobs of each account, 0: all; Slurm: 0 (from source)"),
            knob_parameter("bf_max_job_start", "starts of one backfill pass, 0: no limit; Slurm: 0 (from source)"),
            knob_parameter("bf_max_time", "seconds of the longest pass, 0: as bf_interval; Slurm: 0 (from source)"),
            knob_parameter("bf_continue", "a pass goes on after a yield although jobs changed; Slurm: no (from source)"),
            knob_parameter("bf_yield_interval", "microseconds that a pass keeps the locks; Slurm: 2000000 (from source)"),
            knob_parameter("bf_yield_sleep", "microseconds that it lets go of them; Slurm: 500000 (from source)"),
            knob_parameter("bf_min_prio_reserve", "jobs of lower priority get no plan; Slurm: 0 (from source)"),
            knob_parameter("bf_min_age_reserve", "jobs that have waited fewer seconds get no plan; Slurm: 0 (from source)"),
            knob_parameter("bf_job_part_count_reserve", "plans of each partition, 0: no limit; Slurm: 0 (from source)"),
            knob_parameter("bf_one_resv_per_job", "a job of several partitions has a plan in one; Slurm: no (from source)"),
            knob_parameter("bf_node_space_size", "room for plans, 0: as bf_max_job_test; Slurm: 0 (from source)"),
            knob_parameter(
                "bf_window_linear",
                "seconds by which the search for a start widens, 0: doubles; Slurm: 0 (from source)",
            ),
            knob_parameter("sched_interval", "seconds between full passes of the main scheduler; -1: none; Slurm: 60"),
            knob_parameter("batch_sched_delay", "seconds between a pass and one that is asked for; Slurm: 3"),
            knob_parameter("default_queue_depth", "jobs that a quick main pass looks at; Slurm: 100 (from source)"),
            knob_parameter("partition_job_depth", "jobs of each partition in a main pass, 0: all; Slurm: 0 (from source)"),
            knob_parameter("sched_max_job_start", "starts of one main pass, 0: no limit; Slurm: 0 (from source)"),
            knob_parameter("defer", "ends of jobs only ask for a main pass; Slurm: no (from source)"),
        ]);

/// Makes the policy known by name.
///
/// # Errors
/// A name that is taken: it was registered before.
pub fn register_policy() -> Result<(), RegisterError> {
    drystone_core::policy::register_policy(&SLURM)
}

fn build_from_args(args: &Args<'_>) -> Result<Box<dyn Policy>, SpecError> {
    build_policy(args, None)
}

/// Builds the policy among people that are known from elsewhere: accounts in the place of a file of
/// them, and names behind the numbers of jobs, in the lines of `names`.
///
/// # Errors
/// As reading the policy's text; names that are no such lines.
pub fn build_among(spec: &PolicySpec, accounts: Accounts, names: &str) -> Result<Box<dyn Policy>, SpecError> {
    let set: Vec<(String, String)> = spec.parameters().into_iter().map(|(name, is)| (name.to_string(), is)).collect();
    let args = Args { text: spec.text(), params: [spec.kind().params, &[]], set: &set };
    let names = LogNames::parse(names).map_err(|problem| args.spec_error(problem))?;
    build_policy(&args, Some((accounts, names)))
}

fn build_policy(args: &Args<'_>, own: Option<(Accounts, LogNames)>) -> Result<Box<dyn Policy>, SpecError> {
    let conf = match args.text_value("conf") {
        "none" => None,
        path => Some(SlurmConf::read_file(path).map_err(|error| args.spec_error(error.to_string()))?),
    };
    if let Some(conf) = &conf
        && (conf.nodes.is_empty() || conf.partitions.is_empty())
    {
        return Err(args.spec_error(format!("{}: no nodes or no partitions, so no machine", args.text_value("conf"))));
    }
    let pack = args.is_yes("pack")?;
    let (accounts, names) = match own {
        Some(own) => own,
        None => (read_accounts(args)?, read_names(args)?),
    };
    let mut shape = match &conf {
        Some(conf) => RequestShape::from_conf(conf, &accounts, pack),
        None => RequestShape::with_equal_nodes(args.get("cpus")?, args.is_yes("whole")?, pack),
    };
    shape.arrays = args.is_yes("arrays")?;
    if args.text_value("maxtime") != AUTO {
        shape.longest = args.get::<i64>("maxtime")? * 60;
    }
    let (people, priorities) = build_people(args, conf.as_ref(), accounts, names)?;
    let rules = build_rules(args, conf.as_ref())?;
    Ok(Box::new(SlurmPolicy::new(shape, rules, people, priorities)))
}

/// The file that a parameter names or, where it says `auto`, the one of this name that the folder
/// of an imported site has beside its `slurm.conf`; of the `slurm.conf` of a pool,
/// `pool-1.slurm.conf`, that of the pool comes before that of the site.
fn find_beside(args: &Args<'_>, parameter: &str, name: &str) -> Option<PathBuf> {
    match args.text_value(parameter) {
        "none" => return None,
        AUTO => {}
        path => return Some(PathBuf::from(path)),
    }
    let conf = Path::new(args.text_value("conf"));
    let prefix = conf.file_name()?.to_str()?.strip_suffix("slurm.conf")?;
    if !conf.with_file_name("site.json").is_file() {
        return None;
    }
    [format!("{prefix}{name}"), name.to_string()].iter().map(|file| conf.with_file_name(file)).find(|f| f.is_file())
}

fn read_accounts(args: &Args<'_>) -> Result<Accounts, SpecError> {
    let path = find_beside(args, "accounts", "accounts.txt");
    path.map_or_else(
        || Ok(Accounts::new()),
        |path| Accounts::read_file(path).map_err(|error| args.spec_error(error.to_string())),
    )
}

fn read_names(args: &Args<'_>) -> Result<LogNames, SpecError> {
    let Some(path) = find_beside(args, "names", "names.csv") else { return Ok(LogNames::default()) };
    let fail = |problem: String| args.spec_error(format!("{}: {problem}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| fail(format!("cannot be read: {error}")))?;
    LogNames::parse(&text).map_err(fail)
}

/// Returns the users of jobs, and the weights of their priorities.
fn build_people(
    args: &Args<'_>,
    conf: Option<&SlurmConf>,
    accounts: Accounts,
    names: LogNames,
) -> Result<(People, Option<JobPriorities>), SpecError> {
    let qos_from = match args.text_value("qos") {
        "none" => QosFrom::Nothing,
        "partition" => QosFrom::Partition,
        AUTO if accounts.qos.is_empty() => QosFrom::Nothing,
        _ => QosFrom::Queue,
    };
    let mut priority = conf.map_or_else(Default::default, |conf| conf.priority.clone());
    let has_weights = priority::apply_parameters(args, &mut priority)?;
    // Where weights are given and there is no configuration, there is a database.
    let database = conf.map_or(has_weights, SlurmConf::has_database);
    let charges_ends = conf.is_none_or(SlurmConf::enforces_limits);
    let begins = match args.text_value("begins") {
        AUTO => None,
        date => Some(read_date(date).ok_or_else(|| args.value_error("begins"))?),
    };
    let reset =
        ResetPeriod::parse_word(&priority.usage_reset).zip(begins).map(|(period, at)| UsageReset::new(period, at));
    let rules = Multifactor::new(&priority, database).map(|rules| Multifactor { charges_ends, reset, ..rules });
    let priorities = rules.map(|rules| JobPriorities::new(rules, accounts.clone()));
    let makes = database && priorities.is_some();
    Ok((People::new(accounts, names, qos_from, makes), priorities))
}

fn build_rules(args: &Args<'_>, conf: Option<&SlurmConf>) -> Result<SchedulerRules, SpecError> {
    let mut rules = conf.map_or_else(SchedulerRules::default, SchedulerRules::from_conf);
    for knob in KNOBS.iter().filter(|knob| SLURM.params.iter().any(|param| param.name == knob.name)) {
        let value = match args.text_value(knob.name) {
            AUTO => continue,
            "yes" if knob.is_flag() => 1,
            "no" if knob.is_flag() => 0,
            text => text.parse::<i64>().map_err(|_| args.value_error(knob.name))?,
        };
        if !(knob.min..=knob.max).contains(&value) || (value == 0 && knob.min == -1) {
            let range_text = format!("{} takes {} to {} ({})", knob.name, knob.min, knob.max, knob.unit);
            return Err(args.spec_error(format!("`{}={value}` is not possible; {range_text}", knob.name)));
        }
        knob.set_value(&mut rules.params, value);
    }
    rules.epilog = match args.text_value("epilog") {
        AUTO => rules.epilog,
        word => word == "yes",
    };
    rules.test_micros = args.get("test-us")?;
    rules.phase = args.get("phase")?;
    rules.kills = args.is_yes("kill")?;
    if rules.params.bf_interval < 0 && rules.params.sched_interval < 0 {
        return Err(args.spec_error("neither scheduler runs: bf_interval and sched_interval are both -1".to_string()));
    }
    Ok(rules)
}
