//! `SchedulerParameters`: every one that changes decisions, with its default, its range and what it
//! does.

use std::collections::BTreeSet;
use std::fmt;

/// Certainty that the model treats a parameter as Slurm does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Basis {
    /// Held to schedules of a real Slurm.
    Certified,
    /// Read in Slurm's source, not compared with a running one.
    Source,
    /// Not modelled; what that may cost.
    Ignored(&'static str),
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Basis::Certified => f.pad("certified"),
            Basis::Source => f.pad("from source"),
            Basis::Ignored(_) => f.pad("not modelled"),
        }
    }
}

/// One parameter. Flags count as 0 and 1.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// Its name in `SchedulerParameters`.
    pub name: &'static str,
    /// Its value where it is not given.
    pub default: i64,
    /// The smallest value that Slurm takes.
    pub min: i64,
    pub max: i64,
    /// Unit; `flag` for those without a value.
    pub unit: &'static str,
    /// Certainty of the model.
    pub basis: Basis,
    /// Effect.
    pub meaning: &'static str,
    get: fn(&SchedParams) -> i64,
    set: fn(&mut SchedParams, i64),
}

impl Knob {
    pub fn get(&self, params: &SchedParams) -> i64 {
        (self.get)(params)
    }

    pub fn set_value(&self, params: &mut SchedParams, value: i64) {
        (self.set)(params, value);
    }

    /// Returns whether it has no value but is present or absent.
    pub fn is_flag(&self) -> bool {
        self.unit == "flag"
    }

    /// The parameter of this name.
    pub fn find_knob(name: &str) -> Option<&'static Knob> {
        KNOBS.iter().find(|knob| knob.name.eq_ignore_ascii_case(name))
    }
}

macro_rules! knobs {
    ($($name:ident = $default:expr, $min:expr, $max:expr, $unit:expr, $basis:expr, $meaning:expr;)*) => {
        /// The parameters in force. Flags count as 0 and 1.
        #[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
        pub struct SchedParams {
            $(#[doc = $meaning] pub $name: i64,)*
        }

        impl Default for SchedParams {
            fn default() -> SchedParams {
                SchedParams { $($name: $default,)* }
            }
        }

        /// Every parameter that is known, in the order of the documentation.
        pub static KNOBS: &[Knob] = &[
            $(Knob {
                name: stringify!($name),
                default: $default,
                min: $min,
                max: $max,
                unit: $unit,
                basis: $basis,
                meaning: $meaning,
                get: |p| p.$name,
                set: |p, value| p.$name = value,
            },)*
        ];
    };
}

/// No upper bound of its own: what Slurm's 32 bits hold.
const MOST: i64 = i32::MAX as i64;
const C: Basis = Basis::Certified;
const S: Basis = Basis::Source;

knobs! {
    bf_interval = 30, -1, 10_800, "s", C, "seconds between two backfill passes; -1: no backfill";
    bf_window = 1440, 1, 43_200, "min", C, "reach of plans into the future; jobs planned later are not protected";
    bf_resolution = 60, 1, 3600, "s", C, "the grid on which plans begin and end";
    bf_max_job_test = 500, 1, 1_000_000, "jobs", S, "jobs that a backfill pass tests at most";
    bf_max_job_user = 0, 0, 1_000_000, "jobs", C, "jobs of each user that a backfill pass looks at; 0: all";
    bf_max_job_part = 0, 0, 1_000_000, "jobs", S, "jobs of each partition that a backfill pass looks at; 0: all";
    bf_max_job_user_part = 0, 0, 1_000_000, "jobs", S, "jobs of each user in each partition; 0: all";
    bf_max_job_assoc = 0, 0, 1_000_000, "jobs", S, "jobs of each association that a backfill pass looks at; 0: all";
    bf_max_job_start = 0, 0, 10_000, "jobs", S, "starts of one backfill pass; 0: no limit";
    bf_max_time = 0, 0, 3600, "s", S, "longest backfill pass; 0: as bf_interval";
    bf_continue = 0, 0, 1, "flag", S, "a backfill pass goes on after a yield although jobs have changed";
    bf_yield_interval = 2_000_000, 1, 10_000_000, "us", S, "time for which a backfill pass keeps the locks";
    bf_yield_sleep = 500_000, 1, 10_000_000, "us", S, "time for which it lets go of them";
    bf_min_prio_reserve = 0, 0, MOST, "priority", S, "jobs of lower priority get no plan and block no other";
    bf_min_age_reserve = 0, 0, 2_592_000, "s", S, "jobs that have waited less get no plan and block no other";
    bf_job_part_count_reserve = 0, 0, 100_000, "plans", S, "plans of each partition; 0: no limit";
    bf_one_resv_per_job = 0, 0, 1, "flag", S, "a job of several partitions has a plan in one";
    bf_node_space_size = 0, 0, 2_000_000, "records", S, "room for plans; 0: as bf_max_job_test";
    bf_window_linear = 0, 0, MOST, "s", S, "the search for a start widens by so much each time, instead of doubling";
    bf_busy_nodes = 0, 0, 1, "flag", Basis::Ignored("the nodes that plans use, where nodes are shared"),
        "plans prefer nodes in use";
    bf_running_job_reserve = 0, 0, 1, "flag", Basis::Source,
        "running whole-node jobs are in the table of plans";
    bf_licenses = 0, 0, 1, "flag", Basis::Source, "plans for licences";
    bf_max_job_array_resv = 20, 0, 1000, "plans", S, "plans of one array";
    bf_hetjob_immediate = 0, 0, 1, "flag", Basis::Ignored("starts of heterogeneous jobs"), "starts them as soon as it can";
    sched_interval = 60, -1, MOST, "s", C, "seconds between two full passes of the main scheduler; -1: no main scheduler";
    sched_min_interval = 2, 0, MOST, "us", Basis::Ignored("passes of the main scheduler that come later"),
        "shortest time between two passes of the main scheduler";
    batch_sched_delay = 3, 0, MOST, "s", C, "delay of the main scheduler after a pass before a requested one";
    default_queue_depth = 100, 0, 1_000_000, "jobs", S, "jobs that a quick pass of the main scheduler looks at";
    partition_job_depth = 0, 0, 1_000_000, "jobs", S, "jobs of each partition that the main scheduler looks at; 0: all";
    sched_max_job_start = 0, 0, 1_000_000, "jobs", S, "starts of one pass of the main scheduler; 0: no limit";
    max_sched_time = 2, 1, 3600, "s", Basis::Ignored("main passes that are cut: here they take no time"),
        "longest pass of the main scheduler";
    defer = 0, 0, 1, "flag", S, "jobs are not tried at submission, and ends of jobs only ask for a pass";
    max_rpc_cnt = 0, 0, MOST, "RPCs", Basis::Ignored("passes that wait while many requests are open"),
        "no pass while so many requests are open; 0: no limit";
    assoc_limit_stop = 0, 0, 1, "flag", S, "a job that a limit refuses blocks its partition";
}

/// Mistake in one word of `SchedulerParameters`. Slurm goes on with the default, and so does the
/// model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KnobTrouble {
    /// Slurm may know it; the model does not, and it is in no list of those that are left out on
    /// purpose.
    Unknown(String),
    /// Known, not modelled: its name and what that may cost.
    Ignored(&'static str, &'static str),
    /// A value out of range, or none; what was said and what was expected.
    Value(String),
}

/// Words that Slurm knows and that change no decision about when a batch job starts.
const HARMLESS: &[&str] = &[
    "allow_zero_lic",
    "batch_sched_delay",
    "bf_allow_magnetic_slot",
    "bf_hetjob_prio",
    // As the model does in any case: nodes that become free while a pass sleeps are not used by it.
    "bf_ignore_newly_avail_nodes",
    "build_queue_timeout",
    "correspond_after_task_cnt",
    "default_gbytes",
    "disable_hetjob_steps",
    "disable_job_shrink",
    "disable_user_top",
    "enable_hetjob_steps",
    "enable_job_state_cache",
    "enable_user_top",
    "extra_constraints",
    "gs_only",
    "Ignore_NUMA",
    "ignore_prefer_validation",
    "kill_invalid_depend",
    "max_array_tasks",
    "max_depend_depth",
    "max_script_size",
    "max_submit_line_size",
    "no_backup_scheduling",
    "no_env_cache",
    "nohold_on_prolog_fail",
    "permit_job_expansion",
    "reduce_completing_frag",
    "requeue_delay",
    "requeue_setup_env_fail",
    "salloc_wait_nodes",
    "sbatch_wait_nodes",
    "sched_max_job_start",
    "spec_cores_first",
    "step_retry_count",
    "step_retry_time",
    "whole_hetjob",
];

/// Words that the model has from the source and that are no knobs: they say which jobs are
/// preempted.
const PREEMPTING: &[&str] = &["preempt_reorder_count", "preempt_strict_order", "preempt_youngest_first"];

/// Words that change decisions and are not modelled, with what that may cost.
const LEFT_OUT: &[(&str, &str)] = &[
    ("pack_serial_at_end", "the nodes of jobs of one processor"),
    ("preempt_send_user_signal", "the time that preempted jobs take to end"),
    ("delay_boot", "starts on nodes that have to boot"),
    ("max_switch_wait", "waits of jobs that ask for few switches"),
    ("bf_topopt_enable", "the nodes of jobs"),
    ("bf_topopt_iterations", "the nodes of jobs"),
    ("time_min_as_soft_limit", "the ends of jobs with a shortest time (`--time-min`)"),
    ("rsv", "reservations"),
];

impl SchedParams {
    /// Reads the value of `SchedulerParameters` as Slurm does, which looks for each name in the
    /// text: of a word that stands twice the first counts, a flag is set whatever stands behind it,
    /// and a number ends where its digits end.
    pub fn parse(text: &str) -> (SchedParams, Vec<KnobTrouble>) {
        let (mut params, mut troubles) = (SchedParams::default(), Vec::new());
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name.trim(), Some(value)));
            let Some(knob) = Knob::find_knob(canonical_name(name)) else {
                troubles.extend(check_unmodelled(name).err());
                continue;
            };
            if !names.insert(knob.name) {
                let text = format!("`{word}`: {} stands twice; Slurm takes the first", knob.name);
                troubles.push(KnobTrouble::Value(text));
                continue;
            }
            let accepted_digits = accepted_value(knob, value);
            if let (Some(digits), Some(value)) = (&accepted_digits, value) {
                let meant = if knob.is_flag() { "it as set" } else { digits.as_str() };
                troubles.push(KnobTrouble::Value(format!(
                    "`{word}`: `{}` is read no further; Slurm takes {meant}",
                    value.trim()
                )));
            }
            let own = match (&accepted_digits, knob.is_flag()) {
                (_, true) => knob.name.to_string(),
                (Some(read), false) => format!("{}={read}", knob.name),
                (None, false) => word.to_string(),
            };
            troubles.extend(params.apply_word(&own).err());
        }
        if params.bf_max_job_assoc > 0 && params.bf_max_job_user > 0 {
            let text =
                format!("bf_max_job_user={} stands beside bf_max_job_assoc, which Slurm takes", params.bf_max_job_user);
            troubles.push(KnobTrouble::Value(text));
            params.bf_max_job_user = 0;
        }
        (params, troubles)
    }

    /// Sets the parameter that one word says, `bf_interval=60` or `bf_continue`.
    ///
    /// # Errors
    /// See [`KnobTrouble`]; a parameter with a wrong value keeps what it had.
    pub fn apply_word(&mut self, word: &str) -> Result<(), KnobTrouble> {
        let (name, value) =
            word.split_once('=').map_or((word, None), |(name, value)| (name.trim(), Some(value.trim())));
        let Some(knob) = Knob::find_knob(canonical_name(name)) else {
            return check_unmodelled(name);
        };
        let value = match value {
            None | Some("yes" | "1") if knob.is_flag() => 1,
            Some("no" | "0") if knob.is_flag() => 0,
            Some(text) => text.parse::<i64>().map_err(|_| wrong_value(knob, word))?,
            None => return Err(wrong_value(knob, word)),
        };
        if !(knob.min..=knob.max).contains(&value) || (knob.name.ends_with("_interval") && value == 0 && knob.min < 0) {
            return Err(wrong_value(knob, word));
        }
        knob.set_value(self, value);
        match knob.basis {
            Basis::Ignored(cost) if value != knob.default => Err(KnobTrouble::Ignored(knob.name, cost)),
            _ => Ok(()),
        }
    }

    /// The longest backfill pass in seconds.
    pub fn pass_seconds(&self) -> i64 {
        if self.bf_max_time > 0 { self.bf_max_time } else { self.bf_interval.max(1) }
    }

    /// Records that the table of plans has room for.
    pub fn record_limit(&self) -> usize {
        let size = if self.bf_node_space_size > 0 { self.bf_node_space_size } else { self.bf_max_job_test };
        size.max(2) as usize
    }
}

/// The name of a parameter that has another one as well.
fn canonical_name(name: &str) -> &str {
    match name.to_ascii_lowercase().as_str() {
        "max_job_bf" => "bf_max_job_test",
        "max_rpc_count" => "max_rpc_cnt",
        // Jobs of a log are batch jobs.
        "defer_batch" => "defer",
        _ => name,
    }
}

/// Returns what Slurm reads of a value of which it reads a part alone: the leading digits of a
/// number, nothing of what stands behind a flag.
fn accepted_value(knob: &Knob, value: Option<&str>) -> Option<String> {
    let value = value?.trim();
    if knob.is_flag() {
        return (!["", "1", "yes"].contains(&value)).then(String::new);
    }
    let sign = usize::from(value.starts_with(['-', '+']));
    let end = value[sign..].find(|c: char| !c.is_ascii_digit())? + sign;
    (end > sign).then(|| value[..end].to_string())
}

fn check_unmodelled(name: &str) -> Result<(), KnobTrouble> {
    if let Some((name, cost)) = LEFT_OUT.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)) {
        return Err(KnobTrouble::Ignored(name, cost));
    }
    if HARMLESS.iter().chain(PREEMPTING).any(|n| n.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    Err(KnobTrouble::Unknown(name.to_string()))
}

fn wrong_value(knob: &Knob, word: &str) -> KnobTrouble {
    let (Knob { name, min, max, unit, default, .. }, flag) = (*knob, knob.is_flag());
    let accepted_range = if flag { "nothing behind it".to_string() } else { format!("{min} to {max} ({unit})") };
    KnobTrouble::Value(format!("`{word}`: {name} takes {accepted_range}; Slurm refuses it and uses {default}"))
}

/// Prints the differences from the defaults, in the syntax of `SchedulerParameters`.
impl fmt::Display for SchedParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |knob: &Knob| match knob.get(self) {
            value if value == knob.default => None,
            1 if knob.is_flag() => Some(knob.name.to_string()),
            value => Some(format!("{}={value}", knob.name)),
        };
        f.write_str(&KNOBS.iter().filter_map(word).collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_printed() {
        let text = "bf_interval=120,bf_window=4320,bf_max_job_test=2500,bf_max_job_user=100,bf_continue";
        let (params, troubles) = SchedParams::parse(text);
        assert!(troubles.is_empty(), "{troubles:?}");
        assert_eq!((params.bf_interval, params.bf_continue, params.pass_seconds()), (120, 1, 120));
        assert_eq!(SchedParams::parse(&params.to_string()).0, params);
    }

    /// As `strcasestr` and `atoi` read them in its backfill scheduler.
    #[test]
    fn words_are_read_as_slurm_looks_for_them() {
        let (params, troubles) = SchedParams::parse("bf_window=2880,bf_continue=0,bf_interval=60s,bf_window=1440");
        assert_eq!((params.bf_window, params.bf_continue, params.bf_interval), (2880, 1, 60));
        let messages = [
            "`bf_continue=0`: `0` is read no further; Slurm takes it as set",
            "`bf_interval=60s`: `60s` is read no further; Slurm takes 60",
            "`bf_window=1440`: bf_window stands twice; Slurm takes the first",
        ];
        assert_eq!(troubles, messages.map(|text| KnobTrouble::Value(text.into())));
        let (params, troubles) = SchedParams::parse("bf_max_job_user=5,bf_max_job_assoc=6,defer_batch,max_rpc_count=0");
        assert_eq!((params.bf_max_job_user, params.bf_max_job_assoc, params.defer), (0, 6, 1));
        assert_eq!(troubles.len(), 1, "{troubles:?}");
    }

    #[test]
    fn what_slurm_refuses_leaves_the_default() {
        let (params, troubles) = SchedParams::parse("bf_resolution=0,bf_interval=x,bf_frobnicate=3,bf_busy_nodes");
        assert_eq!(SchedParams::parse("preempt_strict_order,preempt_reorder_count=2,preempt_youngest_first").1, []);
        assert_eq!(params.bf_resolution, 60);
        let messages = [
            KnobTrouble::Value(
                "`bf_resolution=0`: bf_resolution takes 1 to 3600 (s); Slurm refuses it and uses 60".into(),
            ),
            KnobTrouble::Value(
                "`bf_interval=x`: bf_interval takes -1 to 10800 (s); Slurm refuses it and uses 30".into(),
            ),
            KnobTrouble::Unknown("bf_frobnicate".into()),
            KnobTrouble::Ignored("bf_busy_nodes", "the nodes that plans use, where nodes are shared"),
        ];
        assert_eq!(troubles, messages);
    }
}
