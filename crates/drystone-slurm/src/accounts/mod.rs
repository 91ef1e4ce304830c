//! Accounts, their users, and QOS: limits of use, and shares.
//!
//! Read from what `sacctmgr` prints or takes: tables (`sacctmgr -P show assoc`,
//! `sacctmgr -P show qos`, one after the other in one file), a dump (`sacctmgr dump`), or a script
//! of its commands (`add account …`, `add user …`, `add qos …`).
//!
//! ```
//! use drystone_slurm::accounts::Accounts;
//!
//! let text = "Account|User|ParentName|Share|GrpTRES|MaxJobs\n\
//!             root|||1||\n\
//!             physics||root|3|cpu=64|\n\
//!             physics|ada||1||4\n\
//!             Name|Priority|MaxTRESPU\n\
//!             normal|0|cpu=32\n";
//! let accounts = Accounts::parse(text, "accounts")?;
//! let ada = &accounts.assocs[accounts.find_assoc("physics", "ada").expect("an association")];
//! assert_eq!((ada.shares, ada.limits.max_jobs), (Some(1), Some(4)));
//! assert_eq!(accounts.qos[0].max_tres_user.cpu, Some(32));
//! # Ok::<(), drystone_slurm::accounts::AccountsError>(())
//! ```

mod commands;
mod fields;
mod job_limits;
mod tables;
mod tres;

pub use job_limits::{JobLimitMaker, LimitedJob, NODE_PARTS};
pub use tables::is_accounts_header;
pub use tres::Tres;
pub(crate) use tres::{TresAmounts, TresResource};

use crate::conf::PreemptMode;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A file of accounts cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccountsError {
    #[error("{}: cannot be read: {source}", .file.display())]
    Unreadable { file: PathBuf, source: std::io::Error },
    #[error("{}:{line}: {problem}", .file.display())]
    Line {
        file: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// Description of the mistake, the expected text, and the correction.
        problem: String,
    },
    #[error(
        "{}: neither tables of `sacctmgr -P show assoc` and `show qos`, nor a `sacctmgr dump`, nor commands of sacctmgr",
        .file.display()
    )]
    Unknown { file: PathBuf },
}

/// Limits that associations and QOS have in common. `None` is no limit.
#[derive(Clone, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct AccountLimits {
    /// `GrpTRES`: what all running jobs have together.
    pub grp_tres: Tres,
    /// `GrpTRES` of devices with a type, other devices and licences, by their names.
    pub grp_named: Vec<(String, u64)>,
    /// `GrpTRESRunMins`: what all running jobs have, times the minutes that they have left.
    pub grp_run_mins: Tres,
    /// `GrpJobs`: running jobs.
    pub grp_jobs: Option<u32>,
    /// `GrpSubmitJobs`: waiting and running jobs.
    pub grp_submit: Option<u32>,
    /// `MaxTRES`: what one job has.
    pub max_tres: Tres,
    /// `MaxJobs`: running jobs of the association.
    pub max_jobs: Option<u32>,
    /// `MaxSubmitJobs`: waiting and running jobs of the association.
    pub max_submit: Option<u32>,
    /// `MaxWall`: minutes of the longest job.
    pub max_wall: Option<i64>,
}

impl AccountLimits {
    /// Returns whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == AccountLimits::default()
    }
}

/// An account, or a user of one.
#[derive(Clone, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Assoc {
    pub account: String,
    /// The user; empty for the account itself.
    pub user: String,
    /// The partition for whose jobs alone it is; empty: for those of all others.
    pub partition: String,
    /// The association above it, as an index; `None` for the root.
    pub parent: Option<usize>,
    /// Shares; `None` for those of its parent.
    pub shares: Option<u32>,
    pub priority: u32,
    /// Limits of its jobs.
    pub limits: AccountLimits,
    /// QOS of jobs that name none, as an index.
    pub default_qos: Option<usize>,
}

/// A quality of service.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Qos {
    pub name: String,
    pub priority: u32,
    /// Limits of all its jobs together.
    pub limits: AccountLimits,
    /// `MaxTRESPU`: what the running jobs of one user have.
    pub max_tres_user: Tres,
    /// `MaxTRESPU` of devices with a type, other devices and licences, by their names.
    pub max_named_user: Vec<(String, u64)>,
    /// `MaxJobsPU`.
    pub max_jobs_user: Option<u32>,
    /// `MaxSubmitPU`.
    pub max_submit_user: Option<u32>,
    /// `MaxTRESPA`: what the running jobs of one account have.
    pub max_tres_account: Tres,
    /// `MaxTRESPA` of devices with a type, other devices and licences, by their names.
    pub max_named_account: Vec<(String, u64)>,
    /// `MaxJobsPA`.
    pub max_jobs_account: Option<u32>,
    /// `MaxSubmitPA`.
    pub max_submit_account: Option<u32>,
    /// QOS whose jobs its own may replace, as indices.
    pub preempt: Vec<usize>,
    /// Fate of its jobs that are replaced; `None` for that in slurm.conf.
    pub preempt_mode: Option<PreemptMode>,
    /// Seconds that a replaced job has left.
    pub grace_seconds: i64,
    /// Factor of use.
    pub usage_factor: f64,
    /// True if its jobs get no plan (`NoReserve`).
    pub no_reserve: bool,
    /// True if its limits come before those of the partition's QOS (`OverPartQOS`).
    pub over_partition: bool,
    /// Seconds that its jobs have run before they may be replaced; `None` for those in slurm.conf.
    pub exempt_seconds: Option<i64>,
    /// True if its jobs may replace each other (`PreemptMode=WITHIN`).
    pub preempts_within: bool,
}

impl Default for Qos {
    fn default() -> Qos {
        Qos {
            name: String::new(),
            priority: 0,
            limits: AccountLimits::default(),
            max_tres_user: Tres::default(),
            max_named_user: Vec::new(),
            max_jobs_user: None,
            max_submit_user: None,
            max_tres_account: Tres::default(),
            max_named_account: Vec::new(),
            max_jobs_account: None,
            max_submit_account: None,
            preempt: Vec::new(),
            preempt_mode: None,
            grace_seconds: 0,
            usage_factor: 1.0,
            no_reserve: false,
            over_partition: false,
            exempt_seconds: None,
            preempts_within: false,
        }
    }
}

/// Accounts, users and QOS.
#[derive(Clone, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Accounts {
    /// Associations; parents before children, the root first.
    pub assocs: Vec<Assoc>,
    /// The QOS in their order.
    pub qos: Vec<Qos>,
    /// Settings that were read and are not modelled, with their places.
    pub left_out: Vec<String>,
}

impl Accounts {
    /// A root without accounts.
    pub fn new() -> Accounts {
        let root = Assoc { account: "root".to_string(), shares: Some(1), ..Assoc::default() };
        Accounts { assocs: vec![root], ..Accounts::default() }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read or is none of the three kinds; a line that cannot be understood.
    pub fn read_file(path: impl AsRef<Path>) -> Result<Accounts, AccountsError> {
        let file = path.as_ref();
        let bytes = fs::read(file).map_err(|source| AccountsError::Unreadable { file: file.to_path_buf(), source })?;
        Accounts::parse(&String::from_utf8_lossy(&bytes), file)
    }

    /// Reads a text; `name` is what errors call it.
    ///
    /// # Errors
    /// As [`Accounts::read_file`].
    pub fn parse(text: &str, name: impl AsRef<Path>) -> Result<Accounts, AccountsError> {
        let file = name.as_ref();
        let line_error = |(line, problem)| AccountsError::Line { file: file.to_path_buf(), line, problem };
        let accounts = if tables::is_table(text) {
            tables::read_tables(text).map_err(line_error)?
        } else if commands::is_dump(text) {
            commands::read_dump(text).map_err(line_error)?
        } else if commands::is_script(text) {
            commands::read_script(text).map_err(line_error)?
        } else {
            return Err(AccountsError::Unknown { file: file.to_path_buf() });
        };
        Ok(accounts)
    }

    /// Reads several texts as one, such as a table of associations and one of QOS. Errors and
    /// remarks name the text that they are about, and its line.
    ///
    /// # Errors
    /// As [`Accounts::read_file`].
    pub fn parse_all<'a>(texts: &[(&'a Path, &str)]) -> Result<Accounts, (&'a Path, AccountsError)> {
        let joined_text = join_texts(texts.iter().map(|(_, text)| *text));
        let locate_line = |line: usize| {
            let mut before = 0;
            for (path, text) in texts {
                let lines = text.trim_end().lines().count().max(1);
                if line <= before + lines {
                    return (*path, line - before);
                }
                before += lines;
            }
            texts.last().map_or((Path::new(""), line), |(path, _)| (*path, line - before))
        };
        let name = texts.first().map_or(Path::new(""), |(path, _)| *path);
        let mut accounts = Accounts::parse(&joined_text, name).map_err(|error| match error {
            AccountsError::Line { line, problem, .. } => {
                let (path, line) = locate_line(line);
                (path, AccountsError::Line { file: path.to_path_buf(), line, problem })
            }
            error => (name, error),
        })?;
        for remark in &mut accounts.left_out {
            let at = remark.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
            *remark = match at.and_then(|(line, rest)| Some((line.parse().ok()?, rest))) {
                Some((line, rest)) => {
                    let (path, line) = locate_line(line);
                    format!("{}:{line}: {rest}", path.display())
                }
                None => format!("{}: {remark}", name.display()),
            };
        }
        Ok(accounts)
    }

    /// The association of a user in an account, for jobs of all partitions that have none of
    /// their own.
    pub fn find_assoc(&self, account: &str, user: &str) -> Option<usize> {
        self.find_own(account, user, "")
    }

    /// The association of a user in an account for jobs of a partition: its own one first.
    pub fn find_in(&self, account: &str, user: &str, partition: &str) -> Option<usize> {
        self.find_own(account, user, partition).or_else(|| self.find_assoc(account, user))
    }

    fn find_own(&self, account: &str, user: &str, partition: &str) -> Option<usize> {
        let is = |assoc: &Assoc| assoc.account == account && assoc.user == user && assoc.partition == partition;
        self.assocs.iter().position(is)
    }

    /// Returns the index of a QOS. Of a list of several, as jobs may name since 24.11, the first
    /// that there is: Slurm has sorted them by priority.
    pub fn find_qos(&self, name: &str) -> Option<usize> {
        let find = |name: &str| self.qos.iter().position(|qos| qos.name.eq_ignore_ascii_case(name));
        find(name).or_else(|| name.split(',').filter(|_| name.contains(',')).find_map(|part| find(part.trim())))
    }

    /// Returns whether anything limits the running jobs.
    pub fn limits_anything(&self) -> bool {
        let qos = |q: &Qos| {
            let own = Qos { name: String::new(), priority: 0, preempt: Vec::new(), preempt_mode: None, ..q.clone() };
            let (exempt_seconds, preempts_within) = (q.exempt_seconds, q.preempts_within);
            let neutral_qos =
                Qos { exempt_seconds, preempts_within, over_partition: q.over_partition, ..Qos::default() };
            own != Qos { grace_seconds: q.grace_seconds, usage_factor: q.usage_factor, ..neutral_qos }
        };
        self.assocs.iter().any(|assoc| !assoc.limits.is_empty()) || self.qos.iter().any(qos)
    }

    /// The association of a user, made with one share where there is none: the account below the
    /// root, the user below it.
    pub fn find_or_add(&mut self, account: &str, user: &str) -> usize {
        if let Some(index) = self.find_assoc(account, user) {
            return index;
        }
        let above = self.find_assoc(account, "").unwrap_or_else(|| {
            self.assocs.push(Assoc {
                account: account.to_string(),
                parent: Some(0),
                shares: Some(1),
                ..Assoc::default()
            });
            self.assocs.len() - 1
        });
        self.assocs.push(Assoc {
            account: account.to_string(),
            user: user.to_string(),
            parent: Some(above),
            shares: Some(1),
            ..Assoc::default()
        });
        self.assocs.len() - 1
    }
}

/// Several texts as one.
pub fn join_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().map(|text| format!("{}\n", text.trim_end())).collect()
}

/// Contents of a table, a dump or a script, before names have become indices.
#[derive(Default)]
struct AccountsDraft {
    /// Lines of associations: keys in small letters and values.
    assocs: Vec<(usize, BTreeMap<String, String>)>,
    /// Lines of QOS.
    qos: Vec<(usize, BTreeMap<String, String>)>,
}

/// A line and what is wrong with it.
type Wrong = (usize, String);

impl AccountsDraft {
    /// Resolves names.
    fn resolve_names(self) -> Result<Accounts, Wrong> {
        let mut accounts = Accounts::new();
        let mut preempts: Vec<(String, Vec<String>, usize)> = Vec::new();
        for (line, keys) in &self.qos {
            let (qos, preempt) = fields::parse_qos(keys, *line, &mut accounts.left_out).map_err(|p| (*line, p))?;
            accounts.qos.retain(|earlier| earlier.name != qos.name);
            preempts.retain(|(name, ..)| *name != qos.name);
            preempts.push((qos.name.clone(), preempt, *line));
            accounts.qos.push(qos);
        }
        for (name, list, line) in preempts {
            let indices = list.iter().map(|victim| {
                accounts.find_qos(victim).ok_or((line, format!("the QOS {name} preempts {victim}, which is not there")))
            });
            let indices = indices.collect::<Result<Vec<_>, Wrong>>()?;
            if let Some(own) = accounts.find_qos(&name) {
                accounts.qos[own].preempt = indices;
            }
        }
        self.add_assocs(&mut accounts)?;
        Ok(accounts)
    }

    /// Parents may come after their children: accounts are added as soon as what is above them is
    /// there.
    fn add_assocs(self, accounts: &mut Accounts) -> Result<(), Wrong> {
        let get = |keys: &BTreeMap<String, String>, key: &str| keys.get(key).cloned().unwrap_or_default();
        let mut remaining = self.assocs;
        while !remaining.is_empty() {
            let before = remaining.len();
            let mut later = Vec::new();
            for (line, keys) in remaining {
                let (account, user) = (get(&keys, "account"), get(&keys, "user"));
                let above = if user.is_empty() { get(&keys, "parentname") } else { account.clone() };
                let above = if above.is_empty() { "root".to_string() } else { above };
                let root = account == "root" && user.is_empty();
                let parent = accounts.find_assoc(&above, "");
                if parent.is_none() && !root {
                    later.push((line, keys));
                    continue;
                }
                let mut assoc = fields::parse_assoc(&keys, line, accounts).map_err(|problem| (line, problem))?;
                assoc.parent = if root { None } else { parent };
                (assoc.account, assoc.user) = (account, user);
                assoc.partition = get(&keys, "partition");
                match accounts.find_own(&assoc.account, &assoc.user, &assoc.partition) {
                    Some(same) => accounts.assocs[same] = assoc,
                    None => accounts.assocs.push(assoc),
                }
            }
            if later.len() == before {
                let (line, keys) = &later[0];
                let above = if get(keys, "user").is_empty() { get(keys, "parentname") } else { get(keys, "account") };
                return Err((*line, format!("the account {above} is nowhere in this file")));
            }
            remaining = later;
        }
        Ok(())
    }
}
