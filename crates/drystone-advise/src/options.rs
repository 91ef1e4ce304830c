//! Candidates: single changes of settings, and policies that a live scheduler can run.

use crate::goal::AdviceGoal;
use crate::sdiag::PassCost;
use drystone_slurm::conf::{KNOBS, Knob, PriorityType, SchedParams, SlurmConf};

#[derive(Clone, Debug)]
pub struct SiteKnobs {
    /// Its `slurm.conf` with the path that policy texts name; without one, Slurm's defaults.
    pub conf: Option<(String, SlurmConf)>,
    /// Parameters of `slurm(...)` beside it, such as `cpus=16` or the names of a site.
    pub more: Vec<(String, String)>,
    /// Time that backfill takes for each job that it tests.
    pub cost: PassCost,
    /// True if passes are simulated as if they took no time: see [`SiteKnobs::passes_matter`].
    pub instantaneous: bool,
    /// The longest limit that a job of the log asks for, in minutes.
    pub longest: i64,
    /// True if its QOS differ in their priorities.
    pub ranks_qos: bool,
}

impl SiteKnobs {
    pub fn policy_text(&self, changes: &[&KnobChange], phase: u32) -> String {
        let mut words: Vec<String> = self.conf.iter().map(|(path, _)| quote_value(path)).collect();
        let own = self.more.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let new_values = changes.iter().flat_map(|change| change.set.iter()).map(|(key, value)| (*key, value.as_str()));
        let mut set: Vec<(&str, &str)> = Vec::new();
        for (key, value) in own.chain(new_values) {
            set.retain(|(set_key, _)| *set_key != key);
            set.push((key, value));
        }
        words.extend(set.into_iter().map(|(key, value)| format!("{key}={}", quote_value(value))));
        words.push(format!("test-us={}", if self.instantaneous { 0 } else { self.cost.micros }));
        words.push(format!("phase={phase}"));
        format!("slurm({})", words.join(","))
    }

    /// Returns whether the duration of passes can matter if at most this many jobs wait: a pass
    /// over all of them takes more than a tenth of `bf_interval`, or long enough to let go of the
    /// locks. Where it cannot, simulating it costs time and has no visible effect.
    pub fn passes_matter(&self, most_waiting: u64) -> bool {
        let params = self.params();
        let micros = most_waiting.saturating_mul(self.cost.micros.into());
        let least = (params.bf_interval.max(1) * 100_000).min(params.bf_yield_interval.max(1));
        micros >= least.unsigned_abs()
    }

    pub(crate) fn params(&self) -> SchedParams {
        self.conf.as_ref().map_or_else(SchedParams::default, |(_, conf)| conf.sched.clone())
    }

    fn has_backfill(&self) -> bool {
        self.conf.as_ref().is_none_or(|(_, conf)| conf.backfill)
    }
}

/// A value as a policy text has it.
pub fn quote_value(value: &str) -> String {
    let plain = !value.contains(|c: char| c.is_whitespace() || "(),=\"".contains(c));
    if plain { value.to_string() } else { format!("\"{value}\"") }
}

/// A single change: what one knob is set to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnobChange {
    /// Setting that is changed; combined changes have different ones.
    pub knob: &'static str,
    /// Parameters of `slurm(...)` with their values; a flag is `yes` or `no`.
    pub set: Vec<(&'static str, String)>,
}

impl KnobChange {
    fn for_knob(knob: &'static str, value: impl ToString) -> KnobChange {
        KnobChange { knob, set: vec![(knob, value.to_string())] }
    }

    /// Number of limits that are opened beyond one: a simpler change is as good.
    pub(crate) fn opened_besides(&self) -> usize {
        if self.knob == OPENED_TOGETHER { self.set.len() - 1 } else { 0 }
    }

    /// Returns the name for people: `bf_window=2880`.
    pub fn name(&self) -> String {
        if let [.., ("priorityweightjobsize", weight), ("priorityfavorsmall", small)] = &self.set[..] {
            return format!(
                "PriorityWeightJobSize={weight}, {} jobs first",
                if small == "yes" { "small" } else { "large" }
            );
        }
        let words: Vec<String> = self.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
        words.join(" ")
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LivePolicy {
    pub policy: String,
}

/// Minutes of a day.
const DAY: i64 = 1_440;

/// The single changes to try, and the policies to run live. They depend on the configuration and on
/// the longest limit, never on what simulations say.
pub fn list_options(site: &SiteKnobs, goal: &AdviceGoal) -> (Vec<KnobChange>, Vec<LivePolicy>) {
    let mut changes = Vec::new();
    if site.has_backfill() {
        changes.extend(backfill_changes(site));
    } else {
        changes.push(KnobChange::for_knob("bf_interval", 30));
    }
    let params = site.params();
    changes.extend(number_changes("default_queue_depth", &[20, 100, 500, 1_000], &params));
    changes.extend(priority_changes(site));
    (changes, live_policies(goal))
}

fn backfill_changes(site: &SiteKnobs) -> Vec<KnobChange> {
    let params = site.params();
    // The manual asks for a window as long as the longest limit; whole days are easier to remember.
    let longest = (site.longest.max(1) + DAY - 1) / DAY * DAY;
    let mut windows = vec![DAY / 2, DAY, 2 * DAY, 7 * DAY, longest.min(30 * DAY)];
    windows.sort_unstable();
    windows.dedup();
    let lists: [(&'static str, &[i64]); 5] = [
        ("bf_interval", &[10, 30, 60, 120, 300]),
        ("bf_window", &windows),
        ("bf_resolution", &[60, 300, 600, 1_800]),
        ("bf_max_job_test", &[100, 500, 1_000, 2_000, 5_000]),
        ("bf_max_job_user", &[0, 5, 10, 20, 50]),
    ];
    let mut changes: Vec<KnobChange> =
        lists.into_iter().flat_map(|(knob, values)| number_changes(knob, values, &params)).collect();
    changes.push(KnobChange::for_knob("bf_continue", if params.bf_continue == 0 { "yes" } else { "no" }));
    changes.extend(opened_together(&params, longest));
    changes
}

/// The knob of limits that are opened together.
const OPENED_TOGETHER: &str = "limits of backfill";

/// Limits on what backfill looks at that hide each other: opening one of them shows nothing while
/// another one binds. All that bind are opened together, and each pair of them.
fn opened_together(params: &SchedParams, longest: i64) -> Vec<KnobChange> {
    let depth = |value: i64, least: i64| value > 0 && value < least;
    let binding: Vec<(&'static str, String)> = [
        ("bf_max_job_test", depth(params.bf_max_job_test, 500), 1_000.to_string()),
        ("bf_max_job_user", depth(params.bf_max_job_user, 50), 0.to_string()),
        ("bf_max_job_part", depth(params.bf_max_job_part, 50), 0.to_string()),
        ("bf_window", params.bf_window < longest.min(DAY), longest.min(30 * DAY).to_string()),
        ("bf_interval", params.bf_interval > 120, 30.to_string()),
        ("default_queue_depth", depth(params.default_queue_depth, 100), 1_000.to_string()),
    ]
    .into_iter()
    .filter(|(_, binds, _)| *binds)
    .map(|(name, _, open)| (name, open))
    .collect();
    let mut sets: Vec<Vec<(&'static str, String)>> = Vec::new();
    if binding.len() > 2 {
        sets.push(binding.clone());
    }
    for (at, change) in binding.iter().enumerate() {
        sets.extend(binding[at + 1..].iter().map(|partner| vec![change.clone(), partner.clone()]));
    }
    sets.into_iter().map(|set| KnobChange { knob: OPENED_TOGETHER, set }).collect()
}

/// The values of a knob that it has not yet.
fn number_changes(knob: &'static str, values: &[i64], params: &SchedParams) -> Vec<KnobChange> {
    let now = Knob::find_knob(knob).map(|knob| knob.get(params));
    values.iter().filter(|&&value| Some(value) != now).map(|value| KnobChange::for_knob(knob, value)).collect()
}

/// Weight of size and age if nothing has a weight.
const WEIGHT: i64 = 1_000;

/// Weights of priorities and the half-life of past use.
fn priority_changes(site: &SiteKnobs) -> Vec<KnobChange> {
    let conf = site.conf.as_ref().map(|(_, conf)| conf);
    let own = conf.map(|conf| conf.priority.clone()).unwrap_or_default();
    if !own.multifactor {
        // From first come, first served to weights that need no database.
        let by_size = |preference: &str| KnobChange {
            knob: "priorityweightjobsize",
            set: vec![
                ("prioritytype", "multifactor".to_string()),
                ("priorityweightage", WEIGHT.to_string()),
                ("priorityweightjobsize", WEIGHT.to_string()),
                ("priorityfavorsmall", preference.to_string()),
            ],
        };
        return vec![by_size("yes"), by_size("no")];
    }
    let has_database = conf.is_some_and(SlurmConf::has_database);
    let mut changes = Vec::new();
    for (knob, weight, of) in priority_weights(&own) {
        if of == "fair share" && !has_database {
            continue;
        }
        if weight >= 1.0 {
            changes.push(KnobChange::for_knob(knob, format_weight(weight * 4.0)));
            changes.push(KnobChange::for_knob(knob, format_weight((weight / 4.0).max(1.0))));
        } else if is_worth_raising(site, of) {
            // A weight of 0 hides what it weighs: it is raised to the heaviest, and above it.
            let heaviest = priority_weights(&own).into_iter().map(|(_, weight, _)| weight).fold(0.0, f64::max);
            let heaviest = if heaviest >= 1.0 { heaviest } else { WEIGHT as f64 };
            changes.extend([1.0, 10.0].map(|times| KnobChange::for_knob(knob, format_weight(heaviest * times))));
        }
    }
    if own.size >= 1.0 {
        changes.push(KnobChange::for_knob("priorityfavorsmall", if own.favor_small { "no" } else { "yes" }));
    } else {
        let heaviest = priority_weights(&own).into_iter().map(|(_, weight, _)| weight).fold(1.0, f64::max);
        changes.extend(["yes", "no"].map(|preference| KnobChange {
            knob: "priorityweightjobsize",
            set: vec![
                ("priorityweightjobsize", format_weight((heaviest / 2.0).max(1.0))),
                ("priorityfavorsmall", preference.to_string()),
            ],
        }));
    }
    if has_database && own.half_life > 0 {
        changes.extend(
            [4, 1].map(|times| KnobChange::for_knob("prioritydecayhalflife", format_time(own.half_life / 2 * times))),
        );
    }
    changes
}

/// Returns whether a weight of 0 is worth raising: what it weighs differs between jobs. Size has
/// changes of its own.
fn is_worth_raising(site: &SiteKnobs, of: &str) -> bool {
    match of {
        "QOS" => site.ranks_qos,
        "partition" => site.conf.as_ref().is_some_and(|(_, conf)| {
            let factors: Vec<_> = conf.partitions.iter().map(|partition| partition.job_factor).collect();
            factors.windows(2).any(|pair| pair[0] != pair[1])
        }),
        "age" | "fair share" => true,
        _ => false,
    }
}

fn priority_weights(own: &PriorityType) -> [(&'static str, f64, &'static str); 5] {
    [
        ("priorityweightage", own.age, "age"),
        ("priorityweightfairshare", own.fair_share, "fair share"),
        ("priorityweightjobsize", own.size, "size"),
        ("priorityweightpartition", own.partition, "partition"),
        ("priorityweightqos", own.qos, "QOS"),
    ]
}

fn format_weight(weight: f64) -> String {
    format!("{:.0}", weight.min(f64::from(u32::MAX)))
}

/// Seconds as `slurm.conf` has them: `7-0`, `0-12:30:00`.
fn format_time(seconds: i64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    match rest {
        0 => format!("{days}-0"),
        _ => format!("{days}-{:02}:{:02}:{:02}", rest / 3_600, rest / 60 % 60, rest % 60),
    }
}

/// Policies that plan with what a scheduler may know, from the plainest to the most ambitious.
const LIVE: [&str; 10] = [
    "easy",
    "easy-sjbf",
    "easy++",
    "easy-sjbf+",
    "conservative",
    "conservative(predict=recent(2))",
    "slack",
    "easy(order=wfp3,backfill=wfp3)",
    "easy(order=unicef,backfill=unicef)",
    "easy(order=f1,backfill=f1)",
];

fn live_policies(goal: &AdviceGoal) -> Vec<LivePolicy> {
    let policy_names = LIVE.into_iter().map(String::from).chain(goal.search_policy());
    policy_names.map(|policy| LivePolicy { policy }).collect()
}

/// Slurm's own name of a parameter of the policy, and whether it belongs into
/// `SchedulerParameters`.
pub(crate) fn in_slurm(param: &str) -> (&'static str, bool) {
    const OTHERS: [(&str, &str); 9] = [
        ("prioritytype", "PriorityType"),
        ("priorityweightage", "PriorityWeightAge"),
        ("priorityweightfairshare", "PriorityWeightFairshare"),
        ("priorityweightjobsize", "PriorityWeightJobSize"),
        ("priorityweightpartition", "PriorityWeightPartition"),
        ("priorityweightqos", "PriorityWeightQOS"),
        ("priorityweightassoc", "PriorityWeightAssoc"),
        ("prioritydecayhalflife", "PriorityDecayHalfLife"),
        ("priorityfavorsmall", "PriorityFavorSmall"),
    ];
    let counterpart =
        OTHERS.iter().find(|(own_name, _)| *own_name == param).map(|(_, slurm_name)| (*slurm_name, false));
    let knob = || KNOBS.iter().find(|knob| knob.name == param).map(|knob| (knob.name, true));
    counterpart.or_else(knob).unwrap_or(("", false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(text: &str) -> SiteKnobs {
        let conf = SlurmConf::parse(
            &format!("{text}\nNodeName=n[1-4] CPUs=4\nPartitionName=a Nodes=ALL Default=YES\n"),
            "slurm.conf",
        );
        SiteKnobs {
            conf: Some(("slurm.conf".to_string(), conf.expect("valid"))),
            more: Vec::new(),
            cost: PassCost::from_micros(7),
            instantaneous: false,
            longest: 2_000,
            ranks_qos: false,
        }
    }

    fn names(site: &SiteKnobs) -> Vec<String> {
        list_options(site, &"avgX".parse().expect("valid")).0.iter().map(KnobChange::name).collect()
    }

    #[test]
    fn what_is_in_force_is_not_tried() {
        let texts = names(&site("SchedulerParameters=bf_window=2880,bf_continue"));
        assert!(texts.contains(&"bf_continue=no".to_string()) && texts.contains(&"bf_window=1440".to_string()));
        assert!(!texts.contains(&"bf_window=2880".to_string()), "{texts:?}");
        assert!(texts.contains(&"PriorityWeightJobSize=1000, small jobs first".to_string()), "{texts:?}");
        let builtin = names(&site("SchedulerType=sched/builtin"));
        assert!(
            builtin.contains(&"bf_interval=30".to_string())
                && !builtin.iter().any(|name| name.starts_with("bf_window"))
        );
    }

    /// Advice names the setting of `slurm.conf` that a change is about, and `docs/advise.md` lists
    /// those of `SchedulerParameters`.
    #[test]
    fn every_change_has_a_name_in_slurm() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/advise.md");
        let page_text = std::fs::read_to_string(page).expect("a page");
        let multifactor = "AccountingStorageType=accounting_storage/slurmdbd\nPriorityType=priority/multifactor\n\
                           PriorityWeightAge=1000\nPriorityWeightFairshare=10\nPriorityDecayHalfLife=14-0";
        for text in ["", "SchedulerType=sched/builtin", "SchedulerParameters=bf_max_job_test=1", multifactor] {
            for change in list_options(&site(text), &"avgX".parse().expect("valid")).0 {
                for (param, _) in &change.set {
                    let (name, is_parameter) = in_slurm(param);
                    assert!(!name.is_empty(), "`{param}` of {change:?} is in neither KNOBS nor OTHERS");
                    assert!(!is_parameter || page_text.contains(&format!("`{name}`")), "docs/advise.md lacks `{name}`");
                }
            }
        }
    }

    #[test]
    fn weights_that_count_are_turned_both_ways() {
        let texts = names(&site(
            "PriorityType=priority/multifactor\nPriorityWeightAge=1000\nPriorityWeightFairshare=10\nPriorityDecayHalfLife=14-0",
        ));
        assert!(
            texts.contains(&"priorityweightage=4000".to_string())
                && texts.contains(&"priorityweightage=250".to_string())
        );
        assert!(
            !texts.iter().any(|name| name.contains("fairshare")),
            "without a database there is no fair share: {texts:?}"
        );
        let texts = names(&site(
            "AccountingStorageType=accounting_storage/slurmdbd\nPriorityType=priority/multifactor\nPriorityWeightFairshare=10\n\
             PriorityDecayHalfLife=14-0\nPriorityWeightJobSize=3",
        ));
        for expected in [
            "priorityweightfairshare=40",
            "prioritydecayhalflife=28-0",
            "prioritydecayhalflife=7-0",
            "priorityfavorsmall=yes",
        ] {
            assert!(texts.contains(&expected.to_string()), "{expected}: {texts:?}");
        }
    }

    #[test]
    fn policies_of_sites_are_texts_that_say_all() {
        let mut site = site("");
        let window = KnobChange::for_knob("bf_window", 2_880);
        assert_eq!(site.policy_text(&[&window], 3), "slurm(slurm.conf,bf_window=2880,test-us=7,phase=3)");
        site.conf.as_mut().expect("there").0 = "a,b/slurm.conf".to_string();
        assert_eq!(site.policy_text(&[], 0), "slurm(\"a,b/slurm.conf\",test-us=7,phase=0)");
        assert!(!site.passes_matter(1_000) && site.passes_matter(400_000), "7 ms, and 2.8 s");
        site.instantaneous = true;
        assert!(site.policy_text(&[], 1).ends_with("test-us=0,phase=1)"));
        assert_eq!(format_time(86_400 * 3 + 1_800), "3-00:30:00");
    }

    /// One limit shows nothing while another one binds: those that bind are opened together. A
    /// weight of 0 is raised.
    #[test]
    fn what_hides_something_is_opened() {
        let texts = names(&site("SchedulerParameters=bf_max_job_test=1,bf_max_job_user=2,default_queue_depth=1"));
        for expected in [
            "bf_max_job_test=1000 bf_max_job_user=0 default_queue_depth=1000",
            "bf_max_job_test=1000 bf_max_job_user=0",
            "bf_max_job_user=0 default_queue_depth=1000",
        ] {
            assert!(texts.contains(&expected.to_string()), "{expected}: {texts:?}");
        }
        assert!(!names(&site("")).iter().any(|name| name.contains(' ') && name.starts_with("bf_")));
        let texts = names(&site(
            "AccountingStorageType=accounting_storage/slurmdbd\nPriorityType=priority/multifactor\nPriorityWeightAge=2000\n\
             PriorityWeightFairshare=0",
        ));
        for expected in ["priorityweightfairshare=2000", "priorityweightfairshare=20000"] {
            assert!(texts.contains(&expected.to_string()), "{expected}: {texts:?}");
        }
        assert!(!texts.iter().any(|name| name.contains("partition")), "one partition: {texts:?}");
        // QOS of the same priority have nothing to weigh.
        assert!(!texts.iter().any(|name| name.contains("qos")), "{texts:?}");
        let mut conf = site("PriorityType=priority/multifactor\nPriorityWeightAge=2000");
        conf.ranks_qos = true;
        let texts = names(&conf);
        for expected in ["priorityweightqos=2000", "priorityweightqos=20000"] {
            assert!(texts.contains(&expected.to_string()), "{expected}: {texts:?}");
        }
    }

    /// Nothing that knows run times or suspends jobs is ever recommended.
    #[test]
    fn what_is_tried_live_can_be_run() {
        for live in list_options(&site(""), &"tradeoff(Tw:avgX)".parse().expect("valid")).1 {
            let spec: drystone::policy::PolicySpec = live.policy.parse().expect("a policy");
            let scheduler = spec.build_scheduler();
            assert!(!scheduler.forecast.predictor.is_clairvoyant(), "{spec}");
            assert!(!spec.text().contains("perfect") && !["ss", "tss", "is"].contains(&spec.kind().name), "{spec}");
        }
    }
}
