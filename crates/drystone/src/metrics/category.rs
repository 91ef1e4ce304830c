//! Schemes that sort jobs into categories.

use super::borders::{ClassBorders, find_class};
use super::calendar::Calendar;
use super::measures::UnknownWord;
use crate::model::{EndedJob, Procs, ResourceTable, Span, UNKNOWN};
use crate::policy::Priorities;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A way to sort jobs into categories. Run times are run times received, never estimates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scheme {
    /// 16 classes of Kettimuthu et al. 2005: run up to 10 min, 1 h, 8 h, more × 1, 2–8, 9–32, more
    /// processors.
    Sixteen,
    /// 4 classes of the load study of Kettimuthu et al. 2005: run up to 1 h or more × up to 8
    /// processors or more.
    Four,
    /// 4 classes of Lawson & Smirni 2002: run up to 100, 1,000, 10,000 s, more.
    Lawson,
    /// 5 × 5 classes of run time × width after figure 12 of Chiang & Vasupongayya 2008. Their text
    /// gives the borders 1 h and 8 h, 8 and 32 processors; the figure's other borders are not in
    /// it, and 10 min, 4 h, 1 and 64 are our choice.
    Chiang,
    /// One category per user.
    User,
    /// One category per group.
    Group,
    /// One category per queue.
    Queue,
    /// Calendar month of the submit; see [`Calendar`].
    Month,
    /// Week of the submit, counted from the first submit.
    Week,
    /// Well (estimate ≤ 2 × run) or badly estimated (Kettimuthu et al. 2005).
    Estimate,
    /// [`Scheme::Sixteen`], well and badly estimated jobs apart: as in section 5 of Kettimuthu et
    /// al. 2005.
    SixteenEstimate,
    /// User's and political priority, as a file of priorities gives them.
    Priority,
    /// Resources beyond processors that the job asks for: all of them together are the category.
    Resources,
    /// Classes of run times, of processors, or of both, with borders that are given.
    Classes(ClassBorders),
}

/// Borders of the classes of [`Scheme::Sixteen`], inclusive.
const RUN_16: [i64; 3] = [600, 3_600, 28_800];
const PROCS_16: [Procs; 3] = [1, 8, 32];
/// Borders of [`Scheme::Lawson`], inclusive.
const RUN_LAWSON: [i64; 3] = [100, 1_000, 10_000];
/// Borders of [`Scheme::Chiang`], inclusive.
const RUN_CHIANG: [i64; 4] = [600, 3_600, 14_400, 28_800];
const PROCS_CHIANG: [Procs; 4] = [1, 8, 32, 64];

/// Lawson's class of a run time, 0 to 3.
pub(super) fn lawson_class(run: Span) -> usize {
    find_class(run.0, &RUN_LAWSON) as usize
}

impl Scheme {
    /// All schemes whose classes need not be given.
    pub const ALL: [Scheme; 13] = [
        Scheme::Sixteen,
        Scheme::Four,
        Scheme::Lawson,
        Scheme::Chiang,
        Scheme::User,
        Scheme::Group,
        Scheme::Queue,
        Scheme::Month,
        Scheme::Week,
        Scheme::Estimate,
        Scheme::SixteenEstimate,
        Scheme::Priority,
        Scheme::Resources,
    ];

    /// The word for it in files and on command lines.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Scheme::Sixteen => "sixteen",
            Scheme::Four => "four",
            Scheme::Lawson => "lawson",
            Scheme::Chiang => "chiang",
            Scheme::User => "user",
            Scheme::Group => "group",
            Scheme::Queue => "queue",
            Scheme::Month => "month",
            Scheme::Week => "week",
            Scheme::Estimate => "estimate",
            Scheme::SixteenEstimate => "sixteen-estimate",
            Scheme::Priority => "priority",
            Scheme::Resources => "resources",
            Scheme::Classes(_) => "classes",
        }
    }

    /// Returns the name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Sixteen => "run time × processors, 16 classes",
            Scheme::Four => "run time × processors, 4 classes",
            Scheme::Lawson => "run time, 4 classes",
            Scheme::Chiang => "run time × processors, 25 classes",
            Scheme::User => "user",
            Scheme::Group => "group",
            Scheme::Queue => "queue",
            Scheme::Month => "month of submit",
            Scheme::Week => "week of submit",
            Scheme::Estimate => "quality of the estimate",
            Scheme::SixteenEstimate => "quality of the estimate, run time × processors, 32 classes",
            Scheme::Priority => "user's and political priority",
            Scheme::Resources => "resources asked for",
            Scheme::Classes(borders) => borders.name(),
        }
    }

    /// Number of categories where it is fixed; their keys are 0, 1, …
    #[must_use]
    pub fn fixed_count(self) -> Option<usize> {
        match self {
            Scheme::Sixteen => Some(16),
            Scheme::Four | Scheme::Lawson => Some(4),
            Scheme::Chiang => Some(25),
            Scheme::Estimate => Some(2),
            Scheme::SixteenEstimate => Some(32),
            Scheme::Classes(borders) => Some(borders.class_count()),
            Scheme::User
            | Scheme::Group
            | Scheme::Queue
            | Scheme::Month
            | Scheme::Week
            | Scheme::Priority
            | Scheme::Resources => None,
        }
    }

    /// The key of a job's category. Categories are listed in ascending order of their keys.
    /// Without a file of priorities all jobs have a priority of 0, and without a table of resources
    /// all ask for processors alone; see [`Scheme::graded_key`].
    #[must_use]
    pub fn category_key(self, job_end: &EndedJob<'_>, calendar: &Calendar) -> i64 {
        let (job, run) = (job_end.job, job_end.outcome.ran);
        match self {
            Scheme::Sixteen => find_class(run.0, &RUN_16) * 4 + find_class(job.procs, &PROCS_16),
            Scheme::Four => find_class(run.0, &[3_600]) * 2 + find_class(job.procs, &[8]),
            Scheme::Lawson => find_class(run.0, &RUN_LAWSON),
            Scheme::Chiang => find_class(run.0, &RUN_CHIANG) * 5 + find_class(job.procs, &PROCS_CHIANG),
            Scheme::User => i64::from(job.user),
            Scheme::Group => i64::from(job.group),
            Scheme::Queue => i64::from(job.queue),
            Scheme::Month => calendar.month_number(job.submit),
            Scheme::Week => calendar.week_number(job.submit),
            Scheme::Estimate => i64::from(job.estimate.0 > run.0.saturating_mul(2)),
            Scheme::SixteenEstimate => {
                16 * Scheme::Estimate.category_key(job_end, calendar) + Scheme::Sixteen.category_key(job_end, calendar)
            }
            Scheme::Priority => grade_key(0.0, 0.0),
            Scheme::Resources => 0,
            Scheme::Classes(borders) => borders.class_key(run, job.procs),
        }
    }

    /// The key of a job's category, with the priorities of a file and the resources of the machine.
    #[must_use]
    pub fn graded_key(
        self,
        job_end: &EndedJob<'_>,
        calendar: &Calendar,
        priorities: Option<&Priorities>,
        resources: Option<&ResourceTable>,
    ) -> i64 {
        match (self, priorities, resources) {
            (Scheme::Priority, Some(priorities), _) => {
                let importance = priorities.job_importance(job_end.id, job_end.job);
                grade_key(importance.user, importance.political)
            }
            (Scheme::Resources, _, Some(table)) => {
                let resource_places = table.demand_totals(job_end.job.demand).iter().map(|(id, _)| id.index());
                resource_places.filter(|&at| at < MOST_RESOURCES).fold(0, |key, at| key | 1 << at)
            }
            _ => self.category_key(job_end, calendar),
        }
    }

    /// The name of the category with this key, with the resources of the machine: `gpu, mem`.
    #[must_use]
    pub fn category_among(self, key: i64, calendar: &Calendar, resources: Option<&ResourceTable>) -> String {
        match (self, resources) {
            (Scheme::Resources, Some(table)) if key > 0 => {
                let listed_resources = table.resources().iter().take(MOST_RESOURCES).enumerate();
                let resource_names =
                    listed_resources.filter(|(at, _)| key >> at & 1 == 1).map(|(_, resource)| resource.name.as_str());
                resource_names.collect::<Vec<_>>().join(", ")
            }
            _ => self.category_name(key, calendar),
        }
    }

    /// Returns the name of the category with this key.
    #[must_use]
    pub fn category_name(self, key: i64, calendar: &Calendar) -> String {
        const LENGTHS: [&str; 4] = ["very short", "short", "long", "very long"];
        const WIDTHS: [&str; 4] = ["sequential", "narrow", "wide", "very wide"];
        const RUNS: [&str; 5] = ["≤10 min", "≤1 h", "≤4 h", "≤8 h", ">8 h"];
        const SIZES: [&str; 5] = ["1", "2–8", "9–32", "33–64", ">64"];
        let pair = |first: &[&str], second: &[&str], glue: &str| {
            let width = second.len();
            let key = usize::try_from(key).ok()?;
            Some(format!("{}{glue}{}", first.get(key / width)?, second[key % width]))
        };
        let fixed_name = match self {
            Scheme::Sixteen => pair(&LENGTHS, &WIDTHS, " "),
            Scheme::Four => pair(&["short", "long"], &["narrow", "wide"], " "),
            Scheme::Lawson => pair(&["short", "medium", "long", "extra long"], &[""], ""),
            Scheme::Chiang => pair(&RUNS, &SIZES, " × "),
            Scheme::Estimate => pair(&["well", "badly"], &["estimated"], " "),
            Scheme::SixteenEstimate => {
                let name = |scheme: Scheme, key: i64| scheme.category_name(key, calendar);
                Some(format!("{}, {}", name(Scheme::Estimate, key / 16), name(Scheme::Sixteen, key % 16)))
            }
            Scheme::Priority => Some(grade_name(key)),
            Scheme::Resources => (key == 0).then(|| "processors alone".to_string()),
            Scheme::Classes(borders) => borders.class_name(key),
            Scheme::Month => Some(calendar.month_name(key)),
            Scheme::Week => Some(format!("week {}", key + 1)),
            Scheme::User | Scheme::Group | Scheme::Queue if key == i64::from(UNKNOWN) => Some("unknown".to_string()),
            Scheme::User | Scheme::Group | Scheme::Queue => Some(format!("{} {key}", self.id())),
        };
        fixed_name.unwrap_or_else(|| key.to_string())
    }
}

/// Resources that [`Scheme::Resources`] tells apart: the first of a machine.
const MOST_RESOURCES: usize = 62;

/// Parts into which priorities from 0 to 1 are divided to tell them apart.
const GRADES: f64 = 1e6;
/// Keys of political priorities: 0 for −∞, then 1 for 0 to 1,000,001 for 1.
const POLITICAL: i64 = 1_000_002;

/// The key of a priority: by what the user says, then by what the administrator says.
fn grade_key(user: f64, political: f64) -> i64 {
    let part = |value: f64| (value.clamp(0.0, 1.0) * GRADES).round() as i64;
    let political = if political == f64::NEG_INFINITY { 0 } else { 1 + part(political) };
    part(user) * POLITICAL + political
}

fn grade_name(key: i64) -> String {
    let (user, political) = (key.div_euclid(POLITICAL), key.rem_euclid(POLITICAL));
    let value = |part: i64| part as f64 / GRADES;
    let political = if political == 0 { "-inf".to_string() } else { value(political - 1).to_string() };
    format!("up {}, pp {political}", value(user))
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scheme::Classes(borders) => f.pad(&format!("classes({borders})")),
            _ => f.pad(self.id()),
        }
    }
}

impl Serialize for Scheme {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.to_string().replace('-', "_"))
    }
}

impl<'de> Deserialize<'de> for Scheme {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scheme, D::Error> {
        let word = String::deserialize(deserializer)?.replace('_', "-");
        word.parse().map_err(serde::de::Error::custom)
    }
}

impl FromStr for Scheme {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let unknown = |expected: String| UnknownWord { what: "category scheme", word: word.to_string(), expected };
        if let Some(borders) = word.trim().strip_prefix("classes(").and_then(|rest| rest.strip_suffix(')')) {
            let describe_need = |need| format!("{need}, as classes(run=10m/1h/8h,procs=1/8/32)");
            return ClassBorders::parse(borders).map(Scheme::Classes).map_err(|need| unknown(describe_need(need)));
        }
        Scheme::ALL.into_iter().find(|s| s.id() == word).ok_or_else(|| {
            unknown(format!("{}, or classes(run=10m/1h/8h,procs=1/8/32)", Scheme::ALL.map(Scheme::id).join(", ")))
        })
    }
}
