//! Remarks on a site's configuration, with each line that must change before driving.

use super::reservations::NodeReservations;
use super::run::Runner;
use crate::clock::unix_seconds;
use crate::cluster::{ClusterError, DrivenSet, SiteRemark};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Releases that were tried.
const TESTED: [&str; 1] = ["22.05"];

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlurmPartition {
    pub name: String,
    /// Its nodes, as Slurm writes them.
    pub nodes: String,
    /// Sharing of nodes, `OverSubscribe`: jobs share processors or get whole nodes.
    pub sharing: String,
    /// Factor of its jobs' priorities, `PriorityJobFactor`.
    pub factor: u32,
    /// Fate of its jobs where others preempt them, `PreemptMode`.
    pub preempted: String,
    /// Limits that only Slurm knows, as it writes them: `MaxCPUsPerNode`, `ExclusiveUser`.
    pub limits: Vec<String>,
}

/// Processors and megabytes that jobs may have of a node, where the system keeps some of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct UsableShare {
    pub(super) procs: u32,
    pub(super) memory: u64,
}

/// Rights of the daemon in Slurm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rights {
    /// Root, `SlurmUser`, or an operator by the accounting.
    Operator,
    /// An ordinary user.
    User,
    /// The accounting, which knows the operators, does not answer.
    Unknown,
}

#[derive(Clone, Debug)]
pub struct SlurmSite {
    settings: BTreeMap<String, String>,
    /// Slurm's release, as `22.05.8`.
    pub release: String,
    pub partitions: Vec<SlurmPartition>,
    /// The one that jobs go to which name none.
    pub default_partition: Option<String>,
    /// Threads per core and processors of nodes, by name.
    nodes: BTreeMap<String, (u32, u32)>,
    /// Shares of jobs on nodes with `CoreSpecCount`, `CpuSpecList` or `MemSpecLimit`.
    usable: BTreeMap<String, UsableShare>,
    /// Number of reservations that no plan knows.
    unplanned: usize,
    /// Rights of the daemon's user.
    pub rights: Rights,
    host: String,
}

impl SlurmSite {
    pub(super) fn read_site(run: &Runner) -> Result<SlurmSite, ClusterError> {
        let settings: BTreeMap<String, String> = run
            .read_output("scontrol", &["show", "config"])?
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.trim().to_string(), value.trim().to_string()))
            .collect();
        let mut site = SlurmSite {
            release: settings.get("SLURM_VERSION").cloned().unwrap_or_default(),
            settings,
            partitions: Vec::new(),
            default_partition: None,
            nodes: BTreeMap::new(),
            usable: BTreeMap::new(),
            unplanned: 0,
            rights: Rights::User,
            host: nix::unistd::gethostname().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        };
        for line in run.read_output("scontrol", &["-o", "show", "partition"])?.lines() {
            site.add_partition(line);
        }
        let nodes = match run.read_output("sinfo", &["-h", "-N", "-o", "%N|%Z|%c"]) {
            // `PrivateData=nodes`: the remarks on the site say so.
            Err(ClusterError::Silent(problem)) if problem.contains("denied") => String::new(),
            other => other?,
        };
        for line in nodes.lines() {
            if let [name, threads, procs] = line.split('|').collect::<Vec<_>>()[..] {
                let number = |text: &str| text.trim_end_matches('+').parse().unwrap_or(1);
                site.nodes.insert(name.to_string(), (number(threads), number(procs)));
            }
        }
        if !site.nodes.is_empty() {
            site.usable =
                run.read_output("scontrol", &["-o", "show", "node"])?.lines().filter_map(parse_usable).collect();
        }
        for (name, share) in &site.usable {
            if let Some((_, procs)) = site.nodes.get_mut(name) {
                *procs = share.procs.min(*procs);
            }
        }
        site.unplanned = NodeReservations::read_reservations(run, &site.procs_by_node(), unix_seconds())?.unplanned;
        site.rights = site.find_rights(run);
        Ok(site)
    }

    fn add_partition(&mut self, line: &str) {
        let fields: BTreeMap<&str, &str> = line.split(' ').filter_map(|word| word.split_once('=')).collect();
        let field = |name: &str| fields.get(name).map(ToString::to_string).unwrap_or_default();
        let name = field("PartitionName");
        if name.is_empty() {
            return;
        }
        if field("Default") == "YES" {
            self.default_partition = Some(name.clone());
        }
        let factor = field("PriorityJobFactor").parse().unwrap_or(1);
        let (nodes, sharing, preempt_mode) = (field("Nodes"), field("OverSubscribe"), field("PreemptMode"));
        let unlimited_words = ["", "UNLIMITED", "NO"];
        let keys = ["MaxCPUsPerNode", "MaxCPUsPerSocket", "ExclusiveUser"];
        let limited_keys =
            keys.iter().map(|key| (key, field(key))).filter(|(_, value)| !unlimited_words.contains(&value.as_str()));
        let limits = limited_keys.map(|(key, value)| format!("{key}={value}")).collect();
        self.partitions.push(SlurmPartition { name, nodes, sharing, factor, preempted: preempt_mode, limits });
    }

    fn find_rights(&self, run: &Runner) -> Rights {
        let uid = nix::unistd::geteuid().as_raw();
        if uid == 0 || self.slurm_user() == Some(uid) {
            return Rights::Operator;
        }
        let name = nix::unistd::User::from_uid(nix::unistd::geteuid()).ok().flatten().map(|user| user.name);
        let Some(name) = name.filter(|_| self.get("AccountingStorageType").contains("slurmdbd")) else {
            return Rights::User;
        };
        let level = run.run("sacctmgr", &["-nP", "show", "user", &name, "format=AdminLevel"], None);
        match level {
            Ok(output) if output.out.contains("Operator") || output.out.contains("Administrator") => Rights::Operator,
            Ok(output) if output.status.success() => Rights::User,
            _ => Rights::Unknown,
        }
    }

    /// The user that slurmctld runs as, and its hook with it.
    pub fn slurmctld_user(&self) -> Option<u32> {
        self.slurm_user()
    }

    /// Returns the change that is needed so that the hook can write its file, if any.
    pub fn about_wake_file(&self, wake: &Path) -> Option<SiteRemark> {
        use std::os::unix::fs::MetadataExt;
        let (me, hook) = (nix::unistd::geteuid(), self.slurm_user()?);
        let is_hooks = std::fs::metadata(wake).is_ok_and(|metadata| metadata.uid() == hook);
        (!me.is_root() && me.as_raw() != hook && !is_hooks).then(|| {
            forbidding_remark(
                format!(
                    "slurmctld's hook cannot write {}: users' holds of waiting jobs would not be known",
                    wake.display()
                ),
                format!(
                    "as root: install -o {} -m 0644 /dev/null {}",
                    self.get("SlurmUser").split('(').next().unwrap_or_default(),
                    wake.display()
                ),
            )
        })
    }

    fn slurm_user(&self) -> Option<u32> {
        self.get("SlurmUser").split_once('(')?.1.strip_suffix(')')?.parse().ok()
    }

    /// A setting; empty where there is none.
    pub fn get(&self, name: &str) -> &str {
        self.settings.get(name).map_or("", String::as_str)
    }

    pub(super) fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(super) fn procs_by_node(&self) -> BTreeMap<String, u32> {
        self.nodes.iter().map(|(name, &(_, procs))| (name.clone(), procs)).collect()
    }

    /// Processors and nodes of the cluster.
    pub(super) fn cluster_size(&self) -> (f64, f64) {
        let procs: u32 = self.nodes.values().map(|&(_, procs)| procs).sum();
        (f64::from(procs.max(1)), self.nodes.len().max(1) as f64)
    }

    pub fn cluster_name(&self) -> &str {
        self.get("ClusterName")
    }

    pub fn conf_path(&self) -> PathBuf {
        PathBuf::from(self.get("SLURM_CONF"))
    }

    pub fn hook_path(&self) -> PathBuf {
        self.conf_path().parent().unwrap_or(Path::new("/etc/slurm")).join("job_submit.lua")
    }

    /// Returns the time for which ended jobs stay listed, in seconds.
    pub fn keeps_ended(&self) -> u64 {
        self.get("MinJobAge").split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(300)
    }

    /// Returns whether a plain user sees nothing of others' jobs.
    pub fn hides_from_users(&self, subject: &str) -> bool {
        self.get("PrivateData").split(',').any(|private| private == subject)
    }

    /// Processors come in multiples of this: whole cores, where cores are given out.
    pub(super) fn allocation_unit(&self, partitions: &[String]) -> u32 {
        if !self.get("SelectTypeParameters").to_ascii_uppercase().contains("CR_CORE") {
            return 1;
        }
        self.nodes_of(partitions)
            .iter()
            .filter_map(|name| self.nodes.get(name))
            .map(|&(threads, _)| threads)
            .max()
            .unwrap_or(1)
    }

    /// Returns what jobs may have of nodes of which the system keeps a part, by name.
    pub(super) fn usable_shares(&self) -> &BTreeMap<String, UsableShare> {
        &self.usable
    }

    /// Returns whether nodes run out of memory as they do of processors.
    pub(super) fn counts_memory(&self) -> bool {
        self.get("SelectTypeParameters").to_ascii_uppercase().contains("MEMORY")
    }

    pub(super) fn gives_whole_nodes(&self, partitions: &[String]) -> bool {
        let linear = self.get("SelectType").contains("linear");
        let of = |partition: &&SlurmPartition| partitions.contains(&partition.name);
        let exclusive = self.partitions.iter().filter(of).any(|partition| partition.sharing == "EXCLUSIVE");
        linear || exclusive
    }

    /// Processors of the smallest and of the largest node.
    pub(super) fn node_sizes(&self, partitions: &[String]) -> (u32, u32) {
        let names = self.nodes_of(partitions);
        let sizes = || names.iter().filter_map(|name| self.nodes.get(name)).map(|&(_, procs)| procs);
        (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0))
    }

    fn nodes_of(&self, partitions: &[String]) -> BTreeSet<String> {
        let of = |partition: &&SlurmPartition| partitions.contains(&partition.name);
        let lists = self.partitions.iter().filter(of).map(|partition| partition.nodes.as_str());
        lists.filter_map(|list| drystone_slurm::conf::expand_hostlist(list).ok()).flatten().collect()
    }

    /// Returns these partitions by their nodes. These are disjoint unless two partitions have some
    /// nodes in common and others not, which is refused.
    pub fn driven_sets(&self, partitions: &[String]) -> Vec<DrivenSet> {
        let mut sets: Vec<DrivenSet> = Vec::new();
        for name in partitions {
            let nodes = self.nodes_of(std::slice::from_ref(name));
            match sets.iter_mut().find(|set| set.nodes == nodes) {
                Some(set) if set.partitions.contains(name) => {}
                Some(set) => set.partitions.push(name.clone()),
                None => sets.push(DrivenSet { partitions: vec![name.clone()], nodes }),
            }
        }
        sets
    }

    /// Returns remarks on shadow mode, and obstacles even to that.
    pub fn for_shadow(&self, partitions: &[String]) -> Vec<SiteRemark> {
        let mut remarks = self.about_partitions(partitions);
        // It touches nothing: what is not known only makes it less like the cluster.
        remarks
            .extend(self.about_release(partitions).into_iter().map(|remark| SiteRemark { forbids: false, ..remark }));
        for (subject, sees) in [("jobs", "jobs of other users"), ("nodes", "nodes")] {
            if self.rights == Rights::User && self.hides_from_users(subject) {
                remarks.push(forbidding_remark(
                    format!("PrivateData={} hides {sees} from this user", self.get("PrivateData")),
                    "run as an operator (`sacctmgr modify user NAME set AdminLevel=Operator`), as SlurmUser or as root",
                ));
            }
        }
        remarks
    }

    /// Returns remarks on driving, and obstacles to it. `hook`: text of the installed
    /// `job_submit.lua`; `heartbeat`: file that it must read; `suspends`: true if the policy
    /// suspends jobs; `ranks`: true if it reads the site's priorities (`order=site`).
    pub fn for_drive(
        &self,
        partitions: &[String],
        hook: Option<&str>,
        heartbeat: &Path,
        suspends: bool,
        ranks: bool,
    ) -> Vec<SiteRemark> {
        let mut remarks = self.about_partitions(partitions);
        remarks.extend(self.about_release(partitions));
        remarks.extend(self.about_rights());
        remarks.extend(self.about_hook(hook, heartbeat));
        remarks.extend(self.about_preemption(partitions));
        remarks.extend(self.about_scheduling(ranks));
        if suspends && self.get("SelectTypeParameters").to_ascii_uppercase().contains("MEMORY") {
            remarks.push(forbidding_remark(
                format!(
                    "SelectTypeParameters={} gives out memory, which a suspended job keeps: nothing could start in its place",
                    self.get("SelectTypeParameters")
                ),
                "in slurm.conf: SelectTypeParameters=CR_Core",
            ));
        }
        if suspends {
            remarks.push(advising_remark(
                "suspended jobs keep their memory: the memory of the jobs on a node has to hold all that were suspended there",
                "swap space on the nodes, or a policy that does not suspend",
            ));
        }
        remarks
    }

    fn about_partitions(&self, partitions: &[String]) -> Vec<SiteRemark> {
        let mut remarks = Vec::new();
        if partitions.is_empty() {
            remarks.push(forbidding_remark("no partition is the default one", "name those to drive: --partition NAME"));
        }
        let mut known_names = Vec::new();
        for name in partitions {
            if self.partitions.iter().any(|partition| partition.name == *name) {
                known_names.push(name.clone());
                continue;
            }
            let partition_names: Vec<&str> = self.partitions.iter().map(|partition| partition.name.as_str()).collect();
            remarks.push(forbidding_remark(
                format!("there is no partition {name}"),
                format!("there are: {}", partition_names.join(", ")),
            ));
        }
        let sets = self.driven_sets(&known_names);
        for (at, set) in sets.iter().enumerate() {
            let Some(rival) = sets[..at].iter().find(|rival| !rival.nodes.is_disjoint(&set.nodes)) else { continue };
            remarks.push(forbidding_remark(
                format!(
                    "partitions {} and {} have some nodes in common and others not: jobs of both would compete for these, and \
                     neither plan would hold",
                    rival.name(),
                    set.name()
                ),
                "name partitions with the same nodes, or with none in common",
            ));
        }
        remarks
    }

    fn about_release(&self, partitions: &[String]) -> Vec<SiteRemark> {
        let mut remarks = Vec::new();
        for partition in self.partitions.iter().filter(|partition| partitions.contains(&partition.name)) {
            let (name, sharing) = (&partition.name, &partition.sharing);
            if sharing.starts_with("FORCE") || sharing.starts_with("YES") {
                remarks.push(forbidding_remark(
                    format!("partition {name} lets jobs share processors (OverSubscribe={sharing})"),
                    format!("in slurm.conf: PartitionName={name} … OverSubscribe=NO"),
                ));
            }
        }
        for partition in self.partitions.iter().filter(|partition| partitions.contains(&partition.name)) {
            if !partition.limits.is_empty() {
                let (name, limits) = (&partition.name, partition.limits.join(", "));
                remarks.push(advising_remark(
                    format!(
                        "partition {name} has {limits}, which the policy does not know: Slurm refuses some of its starts, and such jobs \
                         are held again and tried later"
                    ),
                    "a partition without it, or jobs that seldom reach it",
                ));
            }
        }
        if self.unplanned > 0 {
            let (count, s) = (self.unplanned, if self.unplanned == 1 { "" } else { "s" });
            remarks.push(advising_remark(
                format!(
                    "{count} reservation{s} of parts of nodes, or whose time floats: no plan knows them; Slurm refuses starts in their \
                     way, and such jobs are held again and tried later"
                ),
                "reservations of whole nodes, at fixed times",
            ));
        }
        let select_type = self.get("SelectType");
        if !select_type.contains("cons_tres") && !select_type.contains("cons_res") && !select_type.contains("linear") {
            remarks.push(forbidding_remark(
                format!("SelectType={select_type} is not known"),
                "in slurm.conf: SelectType=select/cons_tres",
            ));
        }
        if !TESTED.iter().any(|version| self.release.starts_with(version)) {
            let finding = format!("Slurm {} was not tried; {} was", self.release, TESTED.join(", "));
            remarks.push(untested_remark(finding));
        }
        remarks
    }

    fn about_rights(&self) -> Option<SiteRemark> {
        if self.rights == Rights::Unknown {
            return Some(forbidding_remark(
                "slurmdbd does not answer (sacctmgr fails), so that it is not known whether this user is an operator",
                "start slurmdbd, or run as SlurmUser or root",
            ));
        }
        (self.rights == Rights::User).then(|| {
            let accounting = self.get("AccountingStorageType").contains("slurmdbd");
            let change = if accounting {
                "`sacctmgr modify user NAME set AdminLevel=Operator` is enough".to_string()
            } else {
                format!("without slurmdbd: run as {} or as root", self.get("SlurmUser"))
            };
            forbidding_remark("this user may not release, hold and suspend jobs of others", change)
        })
    }

    fn about_hook(&self, hook: Option<&str>, heartbeat: &Path) -> Vec<SiteRemark> {
        let mut remarks = Vec::new();
        let plugins = self.get("JobSubmitPlugins");
        if !plugins.split(',').any(|plugin| plugin == "lua" || plugin == "job_submit/lua") {
            remarks.push(forbidding_remark(
                format!("JobSubmitPlugins={plugins}: jobs do not come in held"),
                "in slurm.conf: JobSubmitPlugins=lua, after `drystone live install hook` has written job_submit.lua beside it (without \
                 that file slurmctld does not start)",
            ));
        }
        match hook {
            Some(text) if !super::hook::reads_heartbeat(text, heartbeat) => {
                let finding = match super::hook::settings_of(text) {
                    Some(line) => format!("{} has `{line}`", self.hook_path().display()),
                    None => format!("{} is not Drystone's hook", self.hook_path().display()),
                };
                let change = format!(
                    "it has to read {}: `drystone live install hook`, then `scontrol reconfigure`",
                    heartbeat.display()
                );
                remarks.push(forbidding_remark(finding, change));
            }
            Some(text) if !super::hook::is_current(text) => remarks.push(forbidding_remark(
                format!("{} is the hook of another version, which tells of other things", self.hook_path().display()),
                "write it once more: `drystone live install hook`, then `scontrol reconfigure`",
            )),
            Some(_) => {}
            None => remarks.push(forbidding_remark(
                format!("{} is not there", self.hook_path().display()),
                "`drystone live install hook` writes it",
            )),
        }
        let hosts: Vec<&String> = self
            .settings
            .iter()
            .filter(|(name, _)| name.starts_with("SlurmctldHost"))
            .map(|(_, value)| value)
            .collect();
        let short = |name: &str| name.split(['(', '.']).next().unwrap_or_default().to_string();
        if !hosts.is_empty() && !hosts.iter().any(|host| short(host) == short(&self.host)) {
            let hosts: Vec<&str> = hosts.iter().map(|host| host.as_str()).collect();
            remarks.push(forbidding_remark(
                format!(
                    "slurmctld runs on {}, this is {}: its hook could not read the heartbeat",
                    hosts.join(", "),
                    self.host
                ),
                "run the daemon on slurmctld's host",
            ));
        }
        if hosts.len() > 1 {
            remarks.push(advising_remark(
                format!(
                    "slurmctld has {} hosts ({}): after a takeover its hook finds no heartbeat on the other host, and jobs pass untouched",
                    hosts.len(),
                    hosts.iter().map(|host| host.as_str()).collect::<Vec<_>>().join(", ")
                ),
                "state and run folder on storage that both hosts mount, and the unit installed on both, started where slurmctld runs",
            ));
        }
        remarks
    }

    fn about_scheduling(&self, ranks: bool) -> Vec<SiteRemark> {
        let mut remarks = Vec::new();
        let mut must = |name: &str, good: &[&str], line: &str, reason: &str| {
            let value = self.get(name);
            if !good.iter().any(|good| value.eq_ignore_ascii_case(good)) {
                remarks.push(forbidding_remark(format!("{name}={value}: {reason}"), format!("in slurm.conf: {line}")));
            }
        };
        must(
            "SchedulerType",
            &["sched/backfill"],
            "SchedulerType=sched/backfill",
            "released jobs behind one that is left to Slurm and waits for room would not start, and heterogeneous jobs are refused",
        );
        if !ranks {
            must(
                "PriorityType",
                &["priority/basic"],
                "PriorityType=priority/basic, or --policy 'easy(order=site)', which keeps the site's priorities",
                "Slurm would start released jobs in its own order (with priority/basic fair share, age and QOS priorities do not \
                 count: the policy alone orders jobs)",
            );
        }
        remarks.extend(ranks.then(|| self.about_priorities()).flatten());
        if self.keeps_ended() < 60 {
            remarks.push(forbidding_remark(
                format!("MinJobAge={}: jobs that have ended are forgotten before they are seen", self.get("MinJobAge")),
                "in slurm.conf: MinJobAge=300",
            ));
        } else if self.keeps_ended() < 300 {
            remarks.push(advising_remark(
                format!("MinJobAge={}: ends are lost when the daemon is away for longer", self.get("MinJobAge")),
                "in slurm.conf: MinJobAge=300",
            ));
        }
        let parameters = self.get("SchedulerParameters");
        if !parameters.contains("batch_sched_delay=0") {
            remarks.push(advising_remark(
                "jobs start 2 to 4 s after their release",
                "in slurm.conf: SchedulerParameters=sched_interval=1,sched_min_interval=20000,batch_sched_delay=0,bf_interval=1 (then 0.5 s)",
            ));
        }
        if !parameters.contains("bf_interval=") {
            remarks.push(advising_remark(
                "jobs that are released while one that is left to Slurm waits start up to 30 s later (bf_interval)",
                "in slurm.conf: SchedulerParameters=…,bf_interval=1",
            ));
        }
        if !self.get("JobCompType").contains("script") {
            remarks.push(advising_remark(
                "ends of jobs are seen at the next look only",
                "in slurm.conf: JobCompType=jobcomp/script and JobCompLoc=FILE; `drystone live install wake` writes the file",
            ));
        }
        remarks
    }

    /// Preemption is Slurm's own affair where it reaches no job of a driven partition and a driven
    /// job sets none off.
    fn about_preemption(&self, partitions: &[String]) -> Option<SiteRemark> {
        let mode = self.get("PreemptMode");
        if mode.eq_ignore_ascii_case("OFF") {
            return None;
        }
        if self.get("PreemptType") != "preempt/partition_prio" {
            let finding = format!(
                "PreemptMode={mode}: Slurm would suspend or end jobs by itself, in any partition (PreemptType={})",
                self.get("PreemptType")
            );
            return Some(forbidding_remark(finding, "in slurm.conf: PreemptMode=OFF"));
        }
        let nodes = self.nodes_of(partitions);
        let mut preempted_partitions =
            self.partitions.iter().filter(|partition| !partition.preempted.eq_ignore_ascii_case("OFF"));
        let partition = preempted_partitions
            .find(|partition| !self.nodes_of(std::slice::from_ref(&partition.name)).is_disjoint(&nodes))?;
        let (name, mode) = (&partition.name, &partition.preempted);
        let shares = if partitions.contains(name) { "" } else { ", which shares nodes with those that are driven" };
        Some(forbidding_remark(
            format!("PreemptMode={mode} in partition {name}{shares}: Slurm would suspend or end jobs by itself"),
            format!("in slurm.conf: PartitionName={name} … PreemptMode=OFF"),
        ))
    }

    /// Priorities for `order=site`: where they come from, and what of them is not counted.
    fn about_priorities(&self) -> Option<SiteRemark> {
        if !self.get("PriorityType").eq_ignore_ascii_case("priority/multifactor") {
            return Some(forbidding_remark(
                format!("PriorityType={}: there are no priorities for order=site to read", self.get("PriorityType")),
                "in slurm.conf: PriorityType=priority/multifactor and its weights, or a policy with another order",
            ));
        }
        let weights = |name: &str| !matches!(self.get(name), "" | "0" | "(null)");
        let names: Vec<&str> =
            ["PriorityWeightTRES", "PriorityWeightAssoc"].into_iter().filter(|name| weights(name)).collect();
        let site = ["PrioritySiteFactorPlugin"].into_iter().filter(|name| weights(name));
        let names: Vec<&str> = names.into_iter().chain(site).collect();
        (!names.is_empty()).then(|| {
            advising_remark(
                format!("order=site leaves out {} and users' nice values", names.join(", ")),
                "weights of age, fair share, QOS, partition and size alone",
            )
        })
    }
}

fn forbidding_remark(finding: impl Into<String>, change: impl Into<String>) -> SiteRemark {
    SiteRemark { forbids: true, found: finding.into(), change: change.into() }
}

fn advising_remark(finding: impl Into<String>, change: impl Into<String>) -> SiteRemark {
    SiteRemark { forbids: false, found: finding.into(), change: change.into() }
}

/// `drive` refuses it unless forced.
fn untested_remark(finding: String) -> SiteRemark {
    forbidding_remark(finding, "--force drives it all the same")
}

/// Share of jobs on a node, by a line of `scontrol -o show node`; `None` where it is all of it.
fn parse_usable(line: &str) -> Option<(String, UsableShare)> {
    let value = |key: &str| line.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    let number = |key: &str| value(key).and_then(|text| text.parse::<u64>().ok());
    let (total_cpus, cores, system_memory) =
        (number("CPUTot")?, number("CoreSpecCount").unwrap_or(0), number("MemSpecLimit"));
    // Before 22.05 there is no CPUEfctv.
    let of_cores = total_cpus.saturating_sub(cores * number("ThreadsPerCore").unwrap_or(1));
    let procs = number("CPUEfctv").filter(|&procs| procs > 0).unwrap_or(of_cores).min(total_cpus);
    if procs == total_cpus && system_memory.unwrap_or(0) == 0 {
        return None;
    }
    let memory = number("RealMemory").unwrap_or(0).saturating_sub(system_memory.unwrap_or(0));
    Some((value("NodeName")?.to_string(), UsableShare { procs: u32::try_from(procs).ok()?, memory }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(changes: &[(&str, &str)]) -> SlurmSite {
        let mut settings: BTreeMap<String, String> = [
            ("SLURM_VERSION", "22.05.8"),
            ("JobSubmitPlugins", "lua"),
            ("SchedulerType", "sched/backfill"),
            ("SchedulerParameters", "batch_sched_delay=0"),
            ("PreemptMode", "OFF"),
            ("PriorityType", "priority/basic"),
            ("SelectType", "select/cons_tres"),
            ("SelectTypeParameters", "CR_CORE"),
            ("MinJobAge", "300 sec"),
            ("JobCompType", "jobcomp/script"),
            ("SlurmUser", "slurm(64030)"),
            ("SlurmctldHost[0]", "head(10.0.0.1)"),
            ("SLURM_CONF", "/etc/slurm/slurm.conf"),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
        settings.extend(changes.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())));
        let partition = |name: &str, nodes: &str| SlurmPartition {
            name: name.into(),
            nodes: nodes.into(),
            sharing: "NO".into(),
            factor: 1,
            preempted: "OFF".into(),
            limits: Vec::new(),
        };
        SlurmSite {
            release: settings["SLURM_VERSION"].clone(),
            settings,
            partitions: vec![partition("main", "n[1-2]"), partition("long", "n[1-2]"), partition("gpu", "g1")],
            default_partition: Some("main".into()),
            nodes: [("n1", (2, 8)), ("n2", (2, 8))].into_iter().map(|(n, v)| (n.to_string(), v)).collect(),
            usable: BTreeMap::new(),
            unplanned: 0,
            rights: Rights::Operator,
            host: "head.site.example".into(),
        }
    }

    fn hook() -> String {
        super::super::hook::job_submit(&super::super::hook::HookSettings {
            heartbeat: Path::new("/run/drystone/heartbeat"),
            wake: Path::new("/run/drystone/wake"),
            daemon: 0,
            partitions: &["main".to_string()],
            silence: 60,
        })
    }

    fn refused(site: &SlurmSite, partitions: &[&str], hook: Option<&str>, suspends: bool) -> Vec<String> {
        let partitions: Vec<String> = partitions.iter().map(ToString::to_string).collect();
        let remarks = site.for_drive(&partitions, hook, Path::new("/run/drystone/heartbeat"), suspends, false);
        remarks.into_iter().filter(|remark| remark.forbids).map(|remark| remark.to_string()).collect()
    }

    #[test]
    fn a_sound_site_is_not_refused() {
        let hook = hook();
        assert_eq!(refused(&site(&[]), &["main", "long"], Some(&hook), true), [] as [String; 0]);
        assert_eq!(site(&[]).allocation_unit(&["main".into()]), 2);
        assert_eq!(site(&[("SelectTypeParameters", "CR_CPU")]).allocation_unit(&["main".into()]), 1);
    }

    #[test]
    fn what_the_system_keeps_of_a_node_is_not_for_jobs() {
        let line = |efctv: &str, more: &str| {
            parse_usable(&format!(
                "NodeName=n1 CoresPerSocket=8 CPUAlloc=0 {efctv}CPUTot=16 CPULoad=N/A RealMemory=64000 AllocMem=0 {more}State=IDLE \
                 ThreadsPerCore=2 Comment=x CPUTot=3"
            ))
        };
        let share = |procs, memory| Some(("n1".to_string(), UsableShare { procs, memory }));
        assert_eq!(line("CPUEfctv=12 ", "CoreSpecCount=2 CPUSpecList=12-15 MemSpecLimit=4000 "), share(12, 60_000));
        assert_eq!(line("", "CoreSpecCount=2 "), share(12, 64_000));
        assert_eq!(line("CPUEfctv=16 ", "MemSpecLimit=1000 "), share(16, 63_000));
        assert_eq!((line("CPUEfctv=16 ", ""), line("", "MemSpecLimit=0 ")), (None, None));
    }

    #[test]
    fn limits_of_a_partition_that_the_policy_does_not_know_are_remarked() {
        let mut site = site(&[]);
        site.add_partition("PartitionName=capped Nodes=n[1-2] MaxCPUsPerNode=3 MaxCPUsPerSocket=UNLIMITED ExclusiveUser=NO OverSubscribe=NO");
        let remarks = site.about_release(&["capped".to_string()]);
        assert!(
            remarks.iter().any(|remark| !remark.forbids && remark.to_string().contains("capped has MaxCPUsPerNode=3"))
        );
        assert!(!site.about_release(&["main".to_string()]).iter().any(|remark| remark.to_string().contains("CPUsPer")));
    }

    #[test]
    fn partitions_with_the_same_nodes_are_one_set() {
        let names = |partitions: &[&str]| {
            let partitions: Vec<String> = partitions.iter().map(ToString::to_string).collect();
            site(&[]).driven_sets(&partitions).iter().map(DrivenSet::name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["main", "gpu", "long", "main"]), ["main,long", "gpu"]);
        assert_eq!(names(&["gpu"]), ["gpu"]);
    }

    #[test]
    fn each_refusal_names_the_line_to_change() {
        let hook = hook();
        for (name, value, line) in [
            ("JobSubmitPlugins", "(null)", "JobSubmitPlugins=lua"),
            ("SchedulerType", "sched/hold", "SchedulerType=sched/backfill"),
            ("SchedulerType", "sched/builtin", "SchedulerType=sched/backfill"),
            ("PreemptMode", "GANG,SUSPEND", "PreemptMode=OFF"),
            ("PriorityType", "priority/multifactor", "PriorityType=priority/basic"),
            ("MinJobAge", "2 sec", "MinJobAge=300"),
            ("SelectTypeParameters", "CR_CORE_MEMORY", "SelectTypeParameters=CR_Core"),
            ("SLURM_VERSION", "24.11.1", "--force"),
            ("SlurmctldHost[0]", "other", "slurmctld's host"),
        ] {
            let refusals = refused(&site(&[(name, value)]), &["main"], Some(&hook), true);
            assert_eq!(refusals.len(), 1, "{name}: {refusals:?}");
            assert!(refusals[0].contains(line), "{name}: {refusals:?}");
        }
        let refusals = refused(&site(&[]), &["main"], None, false);
        assert!(refusals[0].contains("/etc/slurm/job_submit.lua is not there"), "{refusals:?}");
        let old = hook.replace("wake(\"change \"", "wake(\"look \"");
        let refusals = refused(&site(&[]), &["main"], Some(&old), false);
        assert!(refusals.len() == 1 && refusals[0].contains("the hook of another version"), "{refusals:?}");
        let refusals = refused(&site(&[]), &["main"], Some("return 0\n"), false);
        assert!(refusals[0].contains("not Drystone's hook"), "{refusals:?}");
        assert_eq!(refused(&site(&[]), &["main", "gpu"], Some(&hook), false), [] as [String; 0], "two sets");
        let mut wide = site(&[]);
        wide.partitions[1].nodes = "n[1-3]".into();
        let refusals = refused(&wide, &["main", "long"], Some(&hook), false);
        assert!(refusals.len() == 1 && refusals[0].contains("main and long have some nodes in common"), "{refusals:?}");
        let refusals = refused(&site(&[]), &["mian"], Some(&hook), false);
        assert!(refusals[0].contains("there are: main, long, gpu"), "{refusals:?}");
    }

    /// Preemption that reaches no driven job is left to Slurm.
    #[test]
    fn preemption_outside_driven_partitions_is_tolerated() {
        let hook = hook();
        let refusals = |kind: &str, at: usize| {
            let mut site = site(&[("PreemptMode", "REQUEUE"), ("PreemptType", kind)]);
            site.partitions[at].preempted = "REQUEUE".into();
            refused(&site, &["main"], Some(&hook), false)
        };
        assert_eq!(refusals("preempt/partition_prio", 2), [] as [String; 0], "other nodes");
        let same = refusals("preempt/partition_prio", 0);
        assert!(same.len() == 1 && same[0].contains("PartitionName=main … PreemptMode=OFF"), "{same:?}");
        let overlap = refusals("preempt/partition_prio", 1);
        assert!(overlap.len() == 1 && overlap[0].contains("partition long, which shares nodes"), "{overlap:?}");
        let by_qos = refusals("preempt/qos", 2);
        assert!(by_qos.len() == 1 && by_qos[0].contains("in any partition (PreemptType=preempt/qos)"), "{by_qos:?}");
    }

    #[test]
    fn who_cannot_see_is_told_which_right_is_missing() {
        let mut blind = site(&[("PrivateData", "jobs,usage")]);
        assert!(blind.for_shadow(&["main".into()]).is_empty());
        blind.rights = Rights::User;
        let remarks = blind.for_shadow(&["main".into()]);
        assert!(remarks[0].forbids && remarks[0].change.contains("AdminLevel=Operator"), "{remarks:?}");
    }
}
