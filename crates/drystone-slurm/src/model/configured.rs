//! The machine, its limits and its preemption as a configuration and the accounts say.

use super::{ModelCluster, ModelMachine, ModelPartition, NONE, NodeSet, Preempting, QosPreempt, Resources, UseLedger};
use crate::accounts::Accounts;
use crate::conf::{BillingSum, PreemptWords, SelectUnit, Sharing, SlurmConf};

impl ModelMachine {
    /// The machine and the partitions of a configuration. Nodes that are out of service belong to
    /// no partition.
    pub fn from_conf(conf: &SlurmConf) -> ModelMachine {
        let nodes = conf.nodes.len();
        let part = |p: &crate::conf::ConfPartition| ModelPartition {
            name: p.name.clone(),
            nodes: NodeSet::from_members(nodes, p.nodes.iter().filter(|&&n| !conf.is_down(n)).map(|&n| n as usize)),
            tier: p.tier,
            job_factor: p.job_factor,
            max_limit: p.max_minutes.map_or(i64::MAX, |m| m.saturating_mul(60)),
            up: p.up,
            whole: conf.select == SelectUnit::Linear || p.sharing == Sharing::Exclusive,
            exclusive: p.sharing == Sharing::Exclusive,
            exclusive_user: p.exclusive_user,
            qos: NONE,
            overtime: p.over_minutes.or(conf.ends.over_minutes).map(|minutes| minutes * 60),
            preempt_mode: p.preempt_mode.as_deref().and_then(|mode| PreemptWords::parse_words(mode).ok()?.job_fate()),
            grace: p.grace_seconds,
            node_range: (p.min_nodes, p.max_nodes.unwrap_or(u32::MAX)),
            least_loaded: conf.select != SelectUnit::Linear && (p.least_loaded || conf.least_loaded),
            billing: p.billing.clone(),
        };
        let default = conf.partitions.iter().rposition(|p| p.default).unwrap_or(0);
        let shares_cores = matches!(conf.select, SelectUnit::Core | SelectUnit::Socket);
        let threads: Vec<u32> = conf.nodes.iter().map(|n| if shares_cores { n.cpus_per_core() } else { 1 }).collect();
        let least = threads.iter().copied().min().unwrap_or(1);
        let linear = conf.select == SelectUnit::Linear;
        let is_new_line = |pair: &[crate::conf::ConfNode]| pair[0].place != pair[1].place;
        let mut line = 0;
        let mut lines = vec![0; usize::from(linear && nodes > 0)];
        for pair in conf.nodes.windows(2).filter(|_| linear) {
            line += u32::from(is_new_line(pair));
            lines.push(line);
        }
        ModelMachine {
            cpus: conf.nodes.iter().map(|node| node.cpus).collect(),
            threads: least,
            mixed_threads: if threads.iter().all(|&own| own == least) { Vec::new() } else { threads },
            bills: BillingSum::from_priority(&conf.priority),
            linear,
            lines,
            parts: conf.partitions.iter().map(part).collect(),
            default_part: default as u16,
            resources: Resources::from_conf(conf),
        }
    }
}

impl Preempting {
    /// The rules of a configuration and of the QOS.
    pub fn from_conf(conf: &SlurmConf, accounts: &Accounts) -> Preempting {
        let qos = |q: &crate::accounts::Qos| QosPreempt {
            over: q.preempt.iter().map(|&index| index as u32).collect(),
            mode: q.preempt_mode,
            grace: q.grace_seconds,
            priority: q.priority,
            no_reserve: q.no_reserve,
            exempt: q.exempt_seconds,
            over_partition: q.over_partition,
            within: q.preempts_within,
        };
        let seconds =
            |key: &str, default: i64| conf.setting_value(key).and_then(|text| text.parse().ok()).unwrap_or(default);
        let words = conf.setting_value("SchedulerParameters").unwrap_or_default().to_ascii_lowercase();
        // Newer releases have these words in PreemptParameters, without `preempt_`.
        let newer = conf.setting_value("PreemptParameters").unwrap_or_default().to_ascii_lowercase();
        let newer = newer.split(',').map(|word| format!("preempt_{}", word.trim()));
        let words: Vec<String> = words.split(',').map(|word| word.trim().to_string()).chain(newer).collect();
        let has = |name: &str| words.iter().any(|word| word == name);
        let count = |name: &str| words.iter().filter_map(|word| word.split_once('=')).find(|(key, _)| *key == name);
        Preempting {
            by: conf.preempt.by,
            mode: conf.preempt.mode,
            exempt: conf.preempt.exempt_seconds,
            exempt_priority: conf.preempt.exempt_priority,
            within: conf.preempt.within,
            by_priority: conf.preempt.by_priority,
            ends_requeued: !conf.preempt.requeues,
            qos: accounts.qos.iter().map(qos).collect(),
            pause: conf.ends.kill_wait + seconds("MessageTimeout", 10),
            youngest_first: has("preempt_youngest_first"),
            reorder: count("preempt_reorder_count").and_then(|(_, n)| n.parse().ok()).unwrap_or(1),
            strict_order: has("preempt_strict_order"),
            suspends: false,
        }
    }
}

impl ModelCluster {
    /// The cluster of a configuration, without jobs.
    pub fn from_conf(conf: &SlurmConf, accounts: &Accounts) -> ModelCluster {
        let mut machine = ModelMachine::from_conf(conf);
        for (part, read) in machine.parts.iter_mut().zip(&conf.partitions) {
            let qos = read.qos.as_deref().and_then(|name| accounts.find_qos(name));
            part.qos = qos.map_or(NONE, |index| index as u32);
        }
        let mut cluster = ModelCluster::new(machine);
        cluster.kill_wait = conf.ends.kill_wait;
        cluster.window_linear = conf.sched.bf_window_linear;
        cluster.preempting = Preempting::from_conf(conf, accounts);
        if conf.enforces_limits() && accounts.limits_anything() {
            cluster.ledger = Some(UseLedger::new(accounts.clone()));
        }
        cluster
    }
}
