//! Names that are no names: people, accounts and nodes become keyed numbers, and texts go.

use crate::jobs::FoundJob;
use crate::manifest::Manifest;
use crate::rows::{AccountingTable, RowNote, Symbol, Symbols, Where, Who};
use crate::site::{Imported, Site, SiteJobs};
use drystone::model::SharedSort;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Key of the numbers that replace names. The same key gives the same numbers, so that months
/// anonymised apart fit together. It is never written.
pub struct AnonymousKey {
    bytes: [u8; 32],
    given: bool,
}

const WEEK: i64 = 7 * 86_400;
/// A shift is so many weeks at most, and at least a twentieth of it.
const MOST_WEEKS: u64 = 1_040;
/// Number of an administrator.
const ROOT: u32 = 0;

impl AnonymousKey {
    pub fn from_text(text: &str) -> AnonymousKey {
        AnonymousKey { bytes: blake3::derive_key("drystone 2026 anonymised accounting", text.as_bytes()), given: true }
    }

    /// From the randomness of the system; it is not kept.
    ///
    /// # Errors
    /// The system gives none.
    pub fn random_key() -> std::io::Result<AnonymousKey> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
        Ok(AnonymousKey { bytes, given: false })
    }

    fn hash_number(&self, kind: &str, name: &[u8]) -> u64 {
        let mut hasher = blake3::Hasher::new_keyed(&self.bytes);
        hasher.update(kind.as_bytes()).update(&[0]).update(name);
        let bytes = hasher.finalize();
        let mut first = [0; 8];
        first.copy_from_slice(&bytes.as_bytes()[..8]);
        u64::from_le_bytes(first)
    }

    /// Returns the pseudonym of a name: a letter for its kind and twelve digits.
    fn mask_name(&self, kind: &str, name: &[u8]) -> String {
        format!("{}{:012x}", &kind[..1], self.hash_number(kind, name) >> 16)
    }

    /// A number of weeks, back in time.
    fn week_shift(&self, earliest: i64) -> i64 {
        let least = MOST_WEEKS / 20;
        let weeks = (least + self.hash_number("shift", b"") % (MOST_WEEKS - least)) as i64;
        // Times stay behind 1970.
        if earliest - weeks * WEEK > WEEK { -weeks * WEEK } else { weeks * WEEK }
    }
}

/// Names that become numbers, beyond those that always do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hide {
    /// Partitions, and with them pools.
    pub partitions: bool,
    /// Times: moved by a secret number of weeks, so that hours and days of the week stay.
    pub times: bool,
}

impl Site {
    /// Puts keyed numbers in the place of users, groups, accounts, nodes, reservations and
    /// qualities of service, and drops the name of the cluster, names of jobs and files, reasons,
    /// examples of rows, the description of the machine and what was said of it. The user `root`
    /// stays. Returns what could still identify people, in sentences.
    ///
    /// A site that was read from a folder, or made of a log in Standard Workload Format, stays as
    /// it is, and `None` is the answer.
    pub fn anonymise_site(&mut self, key: &AnonymousKey, hide: Hide) -> Option<Vec<String>> {
        let SiteJobs::Imported(imported) = &mut self.jobs else { return None };
        if self.manifest.swf.is_some() {
            return None;
        }
        mask_people(imported, key);
        mask_places(imported, key, hide);
        mask_lists(&mut imported.table, key);
        self.nodes.iter_mut().for_each(|node| node.name = key.mask_name("node", node.name.as_bytes()));
        self.nodes.sort_shared_by(|a, b| a.name.cmp(&b.name));
        // Only a configuration makes use of them, and there is none any more.
        self.node_losses.clear();
        self.slurm_conf = None;
        self.accounts = None;
        self.mask_manifest(key, hide);
        if hide.times {
            self.shift_times(key);
        }
        let identifying_facts = self.what_identifies(hide, key.given);
        self.manifest.warnings.clone_from(&identifying_facts);
        Some(identifying_facts)
    }

    fn mask_manifest(&mut self, key: &AnonymousKey, hide: Hide) {
        let Manifest {
            cluster,
            files,
            options,
            evidence,
            pools: manifest_pools,
            partitions,
            rules,
            on_nodes,
            limits,
            anonymous,
            // Counts, spans, and words of the format. The caller replaces the warnings, and a
            // manifest with comments of a log is none that comes here.
            schema: _,
            time_zone: _,
            slurm_versions: _,
            ignored_columns: _,
            rows: _,
            bad_rows: _,
            jobs: _,
            users: _,
            window: _,
            grace: _,
            warnings: _,
            swf: _,
        } = &mut self.manifest;
        (*anonymous, *on_nodes, *limits) = (true, false, 0);
        *cluster = String::new();
        for (file, number) in files.iter_mut().zip(1..) {
            file.name = format!("file {number}");
        }
        options.retain(|setting| !["cluster", "columns"].contains(&setting.name.as_str()));
        rules.iter_mut().for_each(|rule| rule.examples.clear());
        *evidence = vec!["the facts of the machine are left out, since they name nodes".to_string()];
        if !hide.partitions {
            return;
        }
        let mut pools = BTreeMap::new();
        for (pool, number) in manifest_pools.iter_mut().zip(1..) {
            pools.insert(pool.name.clone(), format!("pool-{number}"));
            pool.name = format!("pool-{number}");
            pool.partitions.iter_mut().for_each(|name| *name = key.mask_name("partition", name.as_bytes()));
        }
        let mask_pool_name = |pool: &mut Option<String>| {
            if let Some(name) = pool {
                *pool = pools.get(name).cloned();
            }
        };
        for partition in partitions {
            partition.name = key.mask_name("partition", partition.name.as_bytes());
            mask_pool_name(&mut partition.pool);
        }
        self.nodes.iter_mut().for_each(|node| mask_pool_name(&mut node.pool));
    }

    fn shift_times(&mut self, key: &AnonymousKey) {
        let SiteJobs::Imported(imported) = &mut self.jobs else { return };
        let earliest = imported.jobs.iter().map(earliest_time).min().unwrap_or(0);
        let by = key.week_shift(earliest.min(self.manifest.window.from));
        let move_stamp = |stamp: &mut u32| {
            if *stamp > 0 {
                *stamp = u32::try_from(i64::from(*stamp) + by).unwrap_or(*stamp);
            }
        };
        for job in &mut imported.jobs {
            for stamp in [&mut job.submit, &mut job.eligible, &mut job.arrive, &mut job.start, &mut job.end] {
                move_stamp(stamp);
            }
        }
        for loss in &mut self.losses {
            loss.begin += by;
            loss.end = loss.end.map(|end| end + by);
            loss.announced = loss.announced.map(|at| at + by);
        }
        let manifest = &mut self.manifest;
        let window = &mut manifest.window;
        for moment in [&mut window.from, &mut window.until, &mut window.measure_from, &mut window.measure_until] {
            *moment += by;
        }
        manifest.options.retain(|setting| !["from", "until", "time-zone"].contains(&setting.name.as_str()));
        manifest.time_zone = "UTC".to_string();
    }

    /// Texts that stay as they were written, of each kind.
    fn kept_texts(&self, hide: Hide) -> Vec<String> {
        /// More are counted.
        const SHOWN: usize = 20;
        let SiteJobs::Imported(imported) = &self.jobs else { return Vec::new() };
        let (names, places) = (&imported.table.names, imported.table.at.items());
        let of = |pick: &dyn Fn(&crate::rows::Where) -> Symbol| -> BTreeSet<String> {
            places
                .iter()
                .map(pick)
                .filter(|symbol| *symbol != Symbol(0))
                .map(|symbol| strip_dependencies(&names.text_of(symbol)))
                .filter(|text| !text.is_empty())
                .collect()
        };
        let mut kinds = vec![("constraints", of(&|at| at.constraints)), ("demands", of(&|at| at.asks))];
        if !hide.partitions {
            let mut partitions = of(&|at| at.partition);
            partitions.extend(self.manifest.partitions.iter().map(|partition| partition.name.clone()));
            kinds.push(("partitions", partitions));
        }
        let line = |(kind, texts): (&str, BTreeSet<String>)| {
            let shown_texts: Vec<&str> = texts.iter().take(SHOWN).map(String::as_str).collect();
            let more = texts.len().saturating_sub(SHOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            (!shown_texts.is_empty()).then(|| format!("kept as written, {kind}: {}{more}", shown_texts.join(", ")))
        };
        kinds.into_iter().filter_map(line).collect()
    }

    /// Lists data that could still identify people, or the site.
    fn what_identifies(&self, hide: Hide, has_key: bool) -> Vec<String> {
        let mut sentences = vec!["names of people, accounts and nodes are keyed numbers".to_string()];
        let mut sizes: HashMap<(u32, Option<u32>), BTreeSet<String>> = HashMap::new();
        let (mut partitions, mut accounts): (BTreeMap<String, BTreeSet<String>>, BTreeMap<String, BTreeSet<String>>) =
            Default::default();
        for job in self.jobs().filter(|job| !job.user.is_empty()) {
            let user = || job.user.to_string();
            sizes.entry((job.units, job.nodes)).or_default().insert(user());
            partitions.entry(job.partition.to_string()).or_default().insert(user());
            accounts.entry(job.account.to_string()).or_default().insert(user());
        }
        let alone = |of: &BTreeMap<String, BTreeSet<String>>| -> Vec<String> {
            of.iter()
                .filter(|(name, users)| !name.is_empty() && users.len() == 1)
                .map(|(name, _)| name.clone())
                .collect()
        };
        let unique = sizes.values().filter(|users| users.len() == 1).count();
        if unique > 0 {
            sentences.push(format!(
                "sizes of jobs of one user alone: {unique}; a person who knows such a job knows the user"
            ));
        }
        let own = alone(&partitions);
        if !own.is_empty() {
            sentences.push(format!("partitions of one user each: {}", own.join(", ")));
        }
        let own = alone(&accounts).len();
        if own > 0 {
            sentences.push(format!("accounts of one user each: {own}"));
        }
        if !hide.partitions {
            sentences.push("names of partitions are as they were (--anonymise-partitions hides them)".to_string());
        }
        if !hide.times {
            sentences.push("times are as they were (--shift-time moves them by a secret number of weeks)".to_string());
        }
        sentences
            .push("numbers of jobs, constraints, sizes, limits and the kinds of nodes are as they were".to_string());
        sentences.extend(self.kept_texts(hide));
        if has_key {
            sentences.push("a person who knows the key can find names again by trying them".to_string());
        }
        sentences
    }
}

/// Returns demands without the numbers of the jobs that one waits for, which stay as others do.
fn strip_dependencies(demands: &str) -> String {
    demands.split(' ').filter(|word| !word.starts_with("depends=")).collect::<Vec<_>>().join(" ")
}

fn earliest_time(job: &FoundJob) -> i64 {
    let known_times = [job.submit, job.eligible, job.arrive, job.start].into_iter().filter(|&stamp| stamp > 0);
    known_times.min().map_or(i64::MAX, i64::from)
}

/// Replaces the names of users, groups, accounts, and of people who cancelled jobs.
fn mask_people(import: &mut Imported, key: &AnonymousKey) {
    let table = &mut import.table;
    // Jobs are cancelled by numbers of users, which have names elsewhere.
    let mut by_number: HashMap<u32, Vec<u8>> = HashMap::new();
    for person in table.who.items().iter().filter(|person| person.user != Symbol(0)) {
        by_number.entry(person.uid).or_insert_with(|| table.names.bytes_of(person.user).to_vec());
    }
    let names = &mut table.names;
    // Patterns name every field, so that a new one is no secret that stays.
    for Who { user, account, group, uid } in table.who.items_mut() {
        let root = *uid == ROOT || names.bytes_of(*user) == b"root";
        if !root {
            *user = mask_symbol(names, *user, key, "user");
            *uid = u32::MAX;
        }
        // The administrator may be in a group of people.
        if names.bytes_of(*group) != b"root" {
            *group = mask_symbol(names, *group, key, "group");
        }
        *account = mask_symbol(names, *account, key, "account");
    }
    for RowNote { reason, canceller, word, flags: _, exit: _ } in table.notes.items_mut() {
        *canceller = mask_canceller(names, *canceller, key, &by_number);
        // Reasons and words for states may be written by people.
        (*reason, *word) = (Symbol(0), Symbol(0));
    }
    table.rows.each_mut(|row| {
        if row.name > 0 {
            row.name = (key.hash_number("job", &row.name.to_le_bytes()) as u32 & 0x7fff_ffff).max(1);
        }
    });
}

fn mask_canceller(
    names: &mut Symbols,
    symbol: Symbol,
    key: &AnonymousKey,
    by_number: &HashMap<u32, Vec<u8>>,
) -> Symbol {
    let text = names.text_of(symbol).into_owned();
    if text.is_empty() || text == "root" || text == "0" {
        return symbol;
    }
    let name = match text.parse::<u32>() {
        Ok(number) => by_number.get(&number).cloned().unwrap_or_else(|| text.clone().into_bytes()),
        Err(_) => text.split('@').next().unwrap_or_default().as_bytes().to_vec(),
    };
    names.intern(key.mask_name("user", &name).as_bytes())
}

fn mask_symbol(names: &mut Symbols, symbol: Symbol, key: &AnonymousKey, kind: &str) -> Symbol {
    if symbol == Symbol(0) {
        return symbol;
    }
    let mask = key.mask_name(kind, names.bytes_of(symbol));
    names.intern(mask.as_bytes())
}

/// Clusters, partitions, qualities of service and reservations.
fn mask_places(import: &mut Imported, key: &AnonymousKey, hide: Hide) {
    let table = &mut import.table;
    let names = &mut table.names;
    // Constraints are kept: `kept_texts` lists them.
    for Where { cluster, partition, qos, reservation, constraints: _, asks } in table.at.items_mut() {
        *cluster = Symbol(0);
        *qos = mask_symbol(names, *qos, key, "qos");
        *asks = mask_asked_places(names, *asks, key, hide);
        *reservation = mask_symbol(names, *reservation, key, "reservation");
        if hide.partitions {
            *partition = mask_symbol(names, *partition, key, "partition");
        }
    }
}

/// Returns demands without the nodes that they name: an anonymised configuration has none of these.
/// Names of partitions are masked where others are.
fn mask_asked_places(names: &mut Symbols, asks: Symbol, key: &AnonymousKey, hide: Hide) -> Symbol {
    let text = names.text_of(asks).into_owned();
    let is_kept = |word: &&str| !word.starts_with("on=") && !word.starts_with("without=");
    let mask = |word: &str| match word.strip_prefix("partitions=").filter(|_| hide.partitions) {
        Some(list) => {
            let masks: Vec<String> = list.split(',').map(|name| key.mask_name("partition", name.as_bytes())).collect();
            format!("partitions={}", masks.join(","))
        }
        None => word.to_string(),
    };
    let words: Vec<String> = text.split_ascii_whitespace().filter(is_kept).map(mask).collect();
    let nameless = words.join(" ");
    if nameless == text { asks } else { names.intern(nameless.as_bytes()) }
}

/// Lists of nodes, each node by itself.
fn mask_lists(table: &mut AccountingTable, key: &AnonymousKey) {
    let mut lists = Symbols::default();
    let mut masked_lists: HashMap<String, String> = HashMap::new();
    let moved_symbols: Vec<Symbol> = (table.node_lists.all_symbols())
        .map(|symbol| {
            let text = table.node_lists.text_of(symbol);
            if text.is_empty() {
                return Symbol(0);
            }
            let names = drystone_slurm::conf::expand_hostlist(&text).unwrap_or_else(|_| vec![text.to_string()]);
            let mut masks: Vec<String> = names
                .into_iter()
                .map(|name| {
                    masked_lists.entry(name).or_insert_with_key(|name| key.mask_name("node", name.as_bytes())).clone()
                })
                .collect();
            masks.sort_unstable();
            lists.intern(masks.join(",").as_bytes())
        })
        .collect();
    table.rows.each_mut(|row| row.nodes = moved_symbols.get(row.nodes.0 as usize).copied().unwrap_or_default());
    table.node_lists = lists;
}
