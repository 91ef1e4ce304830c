//! Measures a simulation while it runs.

use super::calendar::Calendar;
use super::category::Scheme;
use super::classes::{self, JobClass};
use super::disruptions::DisruptionMeter;
use super::excess::ExcessWaits;
use super::fairness::Users;
use super::keyed::Keyed;
use super::machine::{MachineMeter, QueueMeter};
use super::measures::{self, MEASURES, Measure, Measures};
use super::predictability::PromiseCollector;
use super::report::{Categorised, Category, Kills, Report, Suspensions, WorstCase};
use super::resources::ResourceMeter;
use super::row::JobRow;
use super::selection::{JobSelection, Selector};
use super::summary::Distribution;
use super::weeks::{SubmitWeeks, UnitSums};
use crate::engine::{Levels, Observer};
use crate::model::{EndedJob, JobId, Machine, Procs, Provenance, ResourceTable, SharedSort, Span, Time, Workload};
use crate::policy::Priorities;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Choice of measurements.
///
/// ```
/// use drystone::metrics::{JobSelection, Measure, Metric, MetricsConfig};
///
/// // No more than this number needs: one measure, and no percentiles.
/// let config = MetricsConfig::for_metrics(&[Metric::Mean(Measure::Wait)], JobSelection::All);
/// assert_eq!(config.measures, [Measure::Wait]);
/// assert!(!config.percentiles && MetricsConfig::default().percentiles);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetricsConfig {
    /// Selection of the jobs that count.
    pub selection: JobSelection,
    /// Measures to summarise. Where it is not all and nothing is asked for by parts of the
    /// workload, the others are left out: their summaries are empty, and no job is the worst by
    /// any. That saves a good part of the work.
    pub measures: Vec<Measure>,
    /// True to find medians and percentiles, which keep up to 8 MB per measure and, at the end,
    /// cost as much again as everything else.
    pub percentiles: bool,
    /// Sort the measures by these schemes.
    pub categories: Vec<Scheme>,
    /// True to find medians and percentiles in every category as well.
    pub category_percentiles: bool,
    /// Report waits beyond these thresholds.
    pub excessive: Vec<Span>,
    /// True to observe the queue over time.
    pub queue: bool,
    /// True to report on predictions and reservations.
    pub predictability: bool,
    /// True to report the spread of slowdowns.
    pub fairness: bool,
    /// True to keep the sums per week that comparisons need.
    pub weeks: bool,
    /// True to keep the waits of classes of run time and width, for
    /// [`find_payers`](super::find_payers).
    pub classes: bool,
    /// True to report the effects of outages and circumstances. An experiment sets it where there
    /// are any.
    pub disruptions: bool,
    /// True to keep a row per job: about 120 bytes each.
    pub keep_jobs: bool,
    /// True to measure sizes of jobs and power, where jobs have several sizes or power is counted.
    /// An experiment does it.
    pub sizes: bool,
}

impl MetricsConfig {
    /// Means, deviations and extremes of all measures, the use of the machine, and the sums per
    /// week. No memory per job.
    #[must_use]
    pub fn light_config() -> MetricsConfig {
        MetricsConfig {
            selection: JobSelection::All,
            measures: Measure::ALL.to_vec(),
            percentiles: false,
            categories: Vec::new(),
            category_percentiles: false,
            excessive: Vec::new(),
            queue: true,
            predictability: false,
            fairness: false,
            weeks: true,
            classes: false,
            disruptions: false,
            keep_jobs: false,
            sizes: true,
        }
    }

    /// Everything but job rows; categories by 16 classes, months and the quality of estimates.
    #[must_use]
    pub fn full_config() -> MetricsConfig {
        MetricsConfig {
            percentiles: true,
            categories: vec![Scheme::Sixteen, Scheme::Month, Scheme::Estimate],
            category_percentiles: true,
            predictability: true,
            fairness: true,
            ..MetricsConfig::light_config()
        }
    }
}

impl Default for MetricsConfig {
    /// [`MetricsConfig::light_config`] with percentiles, predictability and fairness.
    fn default() -> Self {
        MetricsConfig { percentiles: true, predictability: true, fairness: true, ..MetricsConfig::light_config() }
    }
}

/// Facts that a collector needs before the first job ends.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The machine.
    pub machine: Machine,
    /// Number of jobs that will be simulated.
    pub jobs: u64,
    /// First and last submit; both 0 without jobs. Where jobs are here already at the first
    /// instant, this and the last submit.
    pub submits: (Time, Time),
    /// Tells weeks and months.
    pub calendar: Calendar,
    /// Weeks that comparisons pair jobs by.
    pub weeks: SubmitWeeks,
    /// Jobs that never count
    /// ([`Circumstances::uncounted`](crate::model::Circumstances::uncounted)).
    pub uncounted: BTreeSet<JobId>,
    /// Resources of the machine beyond processors.
    pub resources: Option<Arc<ResourceTable>>,
    /// Priorities by which [`Scheme::Priority`] sorts, placed on the jobs.
    pub priorities: Option<Arc<Priorities>>,
}

impl Scope {
    /// The scope of a simulation of a number of jobs submitted between two times; `provenance`
    /// tells the calendar.
    #[must_use]
    pub fn new(machine: Machine, jobs: u64, submits: (Time, Time), provenance: &Provenance) -> Scope {
        let calendar = Calendar::new(submits.0, provenance);
        let weeks = SubmitWeeks::new(provenance, submits);
        Scope { machine, jobs, submits, calendar, weeks, uncounted: BTreeSet::new(), resources: None, priorities: None }
    }

    /// With priorities to sort jobs by, for the jobs of this workload.
    #[must_use]
    pub fn with_grades(self, priorities: Option<&Priorities>, workload: &Workload) -> Scope {
        Scope { priorities: priorities.map(|priorities| Arc::new(priorities.clone().for_part(workload))), ..self }
    }

    /// With weeks counted from another time than the first submit, if there is one.
    #[must_use]
    pub fn counting_weeks_from(self, origin: Option<Time>) -> Scope {
        match origin {
            Some(origin) => Scope { weeks: self.weeks.counted_from(origin, self.submits.1), ..self },
            None => self,
        }
    }

    /// The scope of a simulation of a whole workload.
    #[must_use]
    pub fn from_workload(workload: &Workload) -> Scope {
        let submits = workload.submit_range().unwrap_or_default();
        let scope = Scope::new(workload.machine(), workload.len() as u64, submits, &workload.provenance);
        let uncounted_jobs =
            workload.circumstances().map(|circumstances| circumstances.uncounted.clone()).unwrap_or_default();
        let resources = workload.resources().cloned();
        Scope { submits: Scope::submit_span(workload), uncounted: uncounted_jobs, resources, ..scope }
    }

    /// First and last submit of a workload. Where jobs are here before its first instant, that
    /// stands for the first submit.
    #[must_use]
    pub fn submit_span(workload: &Workload) -> (Time, Time) {
        let (first, last) = workload.submit_range().unwrap_or_default();
        match workload.circumstances().and_then(|circumstances| circumstances.begin) {
            Some(begin) => (begin.max(first), begin.max(last)),
            None => (first, last),
        }
    }
}

/// Measures a simulation job by job and instant by instant, without keeping jobs unless asked to.
///
/// Call [`ended`](Collector::note_end) once per job in the order in which terminations are handled,
/// [`note_instant`](Collector::note_instant) after the decisions of every instant if the queue is
/// of interest, and [`finish`](Collector::finish) at the end.
#[derive(Clone, Debug)]
pub struct Collector {
    config: MetricsConfig,
    calendar: Calendar,
    selector: Selector,
    machine: MachineMeter,
    resources: Option<ResourceMeter>,
    queue: QueueMeter,
    overall: GroupMeasures,
    worst: Worst,
    suspensions: Suspensions,
    kills: Kills,
    disruptions: Option<DisruptionMeter>,
    promises: Option<PromiseCollector>,
    excessive: Vec<ExcessWaits>,
    users: Option<Users>,
    classes: Option<Keyed<JobClass>>,
    schemes: Vec<(Scheme, Groups)>,
    priorities: Option<Arc<Priorities>>,
    weeks: Option<UnitSums>,
    /// Sums per part that was simulated apart.
    windows: UnitSums,
    submit_weeks: SubmitWeeks,
    rows: Option<Vec<JobRow>>,
    /// The latest start that was first promised to each waiting job, where rows are kept.
    bounds: BTreeMap<JobId, Time>,
    /// Rows of jobs that outages ended for good.
    lost: Vec<JobRow>,
    few: Option<Few>,
    /// Jobs of the parts before the one at work, and its own.
    parts: (u32, u32),
    /// Parts begun.
    begun: i64,
}

impl MetricsConfig {
    /// The measures that suffice, where not all are needed.
    fn few_measures(&self) -> Option<Few> {
        let in_parts =
            self.weeks || self.classes || self.fairness || self.predictability || !self.categories.is_empty();
        let has_all = Measure::ALL.iter().all(|measure| self.measures.contains(measure));
        let few = || Few { measures: self.measures.clone(), times: [(Span::ZERO, Span::ZERO); BLOCK], size: 0 };
        (!in_parts && self.excessive.is_empty() && !has_all).then(few)
    }
}

impl Collector {
    /// A collector for one simulation.
    #[must_use]
    pub fn new(scope: Scope, config: MetricsConfig) -> Collector {
        let procs = scope.machine.procs;
        // Room for the rows at once, unless more jobs are announced than there can be.
        let room = usize::try_from(scope.jobs.min(1 << 24)).unwrap_or(0);
        Collector {
            selector: Selector::new(config.selection, scope.jobs, scope.submits).without_jobs(scope.uncounted),
            machine: MachineMeter::new(procs, scope.submits.0),
            resources: scope.resources.as_ref().map(ResourceMeter::new),
            queue: QueueMeter::new(procs, scope.submits.1),
            overall: GroupMeasures::new(config.percentiles),
            worst: Worst::default(),
            suspensions: Suspensions::default(),
            kills: Kills::default(),
            disruptions: config.disruptions.then(|| DisruptionMeter::new(config.percentiles)),
            promises: config.predictability.then(|| PromiseCollector::new(config.percentiles)),
            excessive: config.excessive.iter().copied().map(ExcessWaits::new).collect(),
            users: config.fairness.then(|| Users::new(scope.machine, scope.resources.clone())),
            schemes: config.categories.iter().map(|&scheme| (scheme, Groups::default())).collect(),
            priorities: scope.priorities,
            weeks: config.weeks.then(UnitSums::default),
            windows: UnitSums::default(),
            submit_weeks: scope.weeks,
            begun: 0,
            classes: config.classes.then(Keyed::default),
            rows: config.keep_jobs.then(|| Vec::with_capacity(room)),
            lost: Vec::new(),
            bounds: BTreeMap::new(),
            few: config.few_measures(),
            parts: (0, 0),
            calendar: scope.calendar,
            config,
        }
    }

    /// A part of the workload follows that is simulated apart, on a machine to itself, with so many
    /// jobs and its first and last submit. Ids count from 0 in every part. Each part is trimmed by
    /// itself, as if it were the workload. Parts overlap in time: the use of the machine is counted
    /// in each, and no queue is watched over time.
    pub fn begin_part(&mut self, jobs: u32, submits: (Time, Time)) {
        self.config.queue = false;
        self.begun += 1;
        self.parts = (self.parts.0 + self.parts.1, jobs);
        let jobs = u64::from(jobs);
        self.machine.begin_part(submits, self.selector.period());
        self.selector.begin_part(jobs, submits);
    }

    /// Takes a job that has ended.
    #[inline]
    pub fn note_end(&mut self, job_end: &EndedJob<'_>) {
        let whole_job = &EndedJob { id: self.whole_id(job_end.id), ..*job_end };
        let is_counted = self.selector.keeps_job(whole_job);
        self.machine.take_job(whole_job, self.selector.period());
        if let Some(resources) = &mut self.resources {
            resources.take_job(whole_job);
        }
        if let Some(rows) = &mut self.rows {
            rows.push(JobRow { promised: self.bounds.remove(&whole_job.id), ..JobRow::new(whole_job, is_counted) });
        }
        if is_counted {
            self.count_job(whole_job);
        }
        if let Some(disruptions) = &mut self.disruptions {
            if whole_job.outcome.found.is_some() {
                disruptions.note_adopted_end();
            }
            if is_counted {
                disruptions.take_job(whole_job);
            }
        }
    }

    /// The id in the whole workload of a job of the part at work.
    #[inline]
    fn whole_id(&self, id: JobId) -> JobId {
        JobId(id.0 + self.parts.0)
    }

    fn count_job(&mut self, job_end: &EndedJob<'_>) {
        match &mut self.few {
            Some(few) => few.take_job(job_end, &mut self.overall),
            None => self.count_all(job_end),
        }
        self.kills.take_job(job_end);
        let suspensions = job_end.outcome.suspensions;
        if suspensions > 0 {
            self.suspensions.total += u64::from(suspensions);
            self.suspensions.jobs += 1;
            self.suspensions.max = self.suspensions.max.max(suspensions);
        }
    }

    fn count_all(&mut self, job_end: &EndedJob<'_>) {
        let values = measures::all_measures(job_end);
        self.overall.take_values(&values);
        self.worst.take_job(job_end, &values);
        if let Some(weeks) = &mut self.weeks {
            weeks.take_values(self.submit_weeks.week_number(job_end.job.submit), &values);
            if self.begun > 0 {
                self.windows.take_values(self.begun - 1, &values);
            }
        }
        if let Some(classes) = &mut self.classes {
            let key = classes::SCHEME.category_key(job_end, &self.calendar);
            let work = job_end.outcome.ran.as_f64() * f64::from(job_end.job.procs);
            let class = classes.value_at(key, || JobClass { key, ..JobClass::default() });
            class.take_job(self.submit_weeks.week_number(job_end.job.submit), job_end.wait_time().as_f64(), work);
        }
        for excess in &mut self.excessive {
            excess.take_wait(job_end.wait_time());
        }
        if let Some(promises) = &mut self.promises {
            promises.take_job(job_end);
        }
        if let Some(users) = &mut self.users {
            let slowdown = values[Measure::BoundedSlowdown as usize];
            users.take_job(job_end.job, slowdown, job_end.wait_time(), job_end.outcome.ran);
        }
        for (scheme, groups) in &mut self.schemes {
            let table = self.resources.as_ref().map(ResourceMeter::table);
            let key = scheme.graded_key(job_end, &self.calendar, self.priorities.as_deref(), table);
            groups.value_at(key, || GroupMeasures::new(self.config.category_percentiles)).take_values(&values);
        }
    }

    /// Takes the state after the decisions of an instant: free processors, the jobs that wait to
    /// start or to resume, and the processors they ask for. Instants come in order of time. Cost: a
    /// few nanoseconds.
    #[inline]
    pub fn note_instant(&mut self, now: Time, free: Procs, waiting_jobs: u64, waiting_procs: u64) {
        if self.config.queue {
            self.queue.note_instant(now, free, waiting_jobs, Some(waiting_procs));
        }
    }

    /// The report on everything taken. Cost: O(n) for n kept values, O(n log n) with job rows.
    #[must_use]
    pub fn finish(self) -> Report {
        let trim_counts = self.selector.trim_counts();
        let mut overall = self.overall;
        if let Some(mut few) = self.few {
            few.fold_into(&mut overall);
        }
        let measures = overall.finish();
        let rows = self.rows.map(|mut rows| {
            rows.sort_shared_by_key(|row| row.id);
            rows
        });
        let mut lost_rows = self.lost;
        lost_rows.sort_shared_by_key(|row| row.id);
        let machine = self.machine.finish(self.selector.period());
        let capacity = f64::from(machine.procs) * machine.busy_time().as_f64();
        let up = (capacity > 0.0).then(|| 1.0 - machine.down / capacity);
        let (calendar, table) = (&self.calendar, self.resources.as_ref().map(ResourceMeter::table));
        let categorise = |(scheme, groups): (Scheme, Groups)| Categorised {
            scheme,
            categories: groups
                .into_sorted()
                .map(|(key, group)| Category {
                    key,
                    name: scheme.category_among(key, calendar, table),
                    measures: group.finish(),
                })
                .collect(),
        };
        Report {
            selection: self.config.selection,
            trimmed: trim_counts,
            worst: self.worst.finish(),
            resources: self.resources.as_ref().map_or_else(Vec::new, |meter| meter.finish(machine.busy_time())),
            machine,
            disruptions: self.disruptions.map(|meter| meter.finish(up, machine.down)),
            sizes: None,
            queue: self.queue.finish(),
            kills: self.kills,
            suspensions: Suspensions {
                mean: (trim_counts.kept > 0).then(|| self.suspensions.total as f64 / trim_counts.kept as f64),
                ..self.suspensions
            },
            predictability: self.promises.map(PromiseCollector::finish),
            excessive: self.excessive.into_iter().map(ExcessWaits::finish).collect(),
            fairness: self.users.map(|users| users.finish(&measures.bounded_slowdown, rows.as_deref())),
            categories: self.schemes.into_iter().map(categorise).collect(),
            weeks: self.weeks.map_or_else(Vec::new, UnitSums::into_sorted),
            windows: self.windows.into_sorted(),
            classes: self
                .classes
                .map_or_else(Vec::new, |groups| groups.into_sorted().map(|(_, class)| class).collect()),
            measures,
            jobs: rows,
            lost: lost_rows,
        }
    }
}

/// Measures ended jobs and the levels between instants.
impl Observer for Collector {
    const NOTES: bool = false;

    #[inline]
    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        Collector::note_end(self, job_end);
    }

    #[inline]
    fn note_settlement(&mut self, now: Time, levels: Levels) {
        Collector::note_instant(self, now, levels.free, levels.queued_jobs(), levels.queued_procs());
        self.machine.note_down(now, levels.down);
        self.queue.note_down(levels.down);
    }

    fn note_reservation(&mut self, _now: Time, id: JobId, _start: Time, latest: Time) {
        // A start without a bound is an outlook.
        if self.rows.is_some() && latest != Time::MAX {
            self.bounds.entry(self.whole_id(id)).or_insert(latest);
        }
    }

    fn note_requeue(&mut self, _now: Time, id: JobId, procs: Procs, ran: Span) {
        let id = self.whole_id(id);
        self.machine.forget_job(id);
        if let Some(disruptions) = &mut self.disruptions {
            disruptions.note_requeue(id, procs, ran);
        }
    }

    fn note_checkpoint(&mut self, _now: Time, _id: JobId, procs: Procs, cost: Span) {
        if let Some(disruptions) = &mut self.disruptions {
            disruptions.note_checkpoint(procs, cost);
        }
    }

    fn note_loss(&mut self, job_end: &EndedJob<'_>) {
        let whole_job = &EndedJob { id: self.whole_id(job_end.id), ..*job_end };
        self.machine.forget_job(whole_job.id);
        if self.rows.is_some() {
            self.lost.push(JobRow::new(whole_job, false));
        }
        if let Some(disruptions) = &mut self.disruptions {
            disruptions.note_loss(whole_job);
        }
    }

    fn note_size(&mut self, now: Time, id: JobId, procs: Procs) {
        self.machine.note_size(now, self.whole_id(id), procs);
    }

    fn note_resize(&mut self, now: Time, id: JobId, sizes: (Procs, Procs), _times: (Span, Span)) {
        self.machine.note_resize(now, self.whole_id(id), sizes);
    }

    #[inline]
    fn note_suspension(&mut self, now: Time, id: JobId) {
        self.machine.note_interruption(now, self.whole_id(id), true);
    }

    #[inline]
    fn note_resumption(&mut self, now: Time, id: JobId) {
        self.machine.note_interruption(now, self.whole_id(id), false);
    }
}

/// The worst job by each measure.
#[derive(Clone, Debug)]
struct Worst {
    values: [f64; MEASURES],
    jobs: [(JobId, i64); MEASURES],
}

impl Default for Worst {
    fn default() -> Self {
        Worst { values: [f64::NEG_INFINITY; MEASURES], jobs: [(JobId(0), 0); MEASURES] }
    }
}

impl Worst {
    #[inline]
    fn take_job(&mut self, job_end: &EndedJob<'_>, values: &[f64; MEASURES]) {
        // Records get rare: one test for all of them. An undefined slowdown is not larger than
        // anything.
        let record = values.iter().zip(&self.values).fold(false, |any, (value, worst)| any | (value > worst));
        if record {
            for (i, &value) in values.iter().enumerate() {
                if value > self.values[i] {
                    self.values[i] = value;
                    self.jobs[i] = (job_end.id, job_end.truth.number);
                }
            }
        }
    }

    fn finish(self) -> Vec<WorstCase> {
        let worst_values = Measure::ALL.into_iter().zip(self.values).zip(self.jobs);
        worst_values
            .filter(|((_, value), _)| value.is_finite())
            .map(|((measure, value), (id, number))| WorstCase { measure, value, id, number })
            .collect()
    }
}

/// Jobs whose measures wait to be taken together.
const BLOCK: usize = 64;

/// The distributions of all measures over a group of jobs.
#[derive(Clone, Debug)]
struct GroupMeasures {
    distributions: [Distribution; MEASURES],
    /// The measures of the last jobs, `size` of each.
    columns: [[f64; BLOCK]; MEASURES],
    size: usize,
}

impl GroupMeasures {
    fn new(percentiles: bool) -> GroupMeasures {
        GroupMeasures {
            distributions: std::array::from_fn(|_| Distribution::new(percentiles)),
            columns: [[0.0; BLOCK]; MEASURES],
            size: 0,
        }
    }

    #[inline]
    fn take_values(&mut self, values: &[f64; MEASURES]) {
        if self.size == BLOCK {
            self.fold_block();
        }
        for (column, &value) in self.columns.iter_mut().zip(values) {
            column[self.size] = value;
        }
        self.size += 1;
    }

    #[inline(never)]
    fn fold_block(&mut self) {
        for (distribution, column) in self.distributions.iter_mut().zip(&self.columns) {
            distribution.extend(&column[..self.size]);
        }
        self.size = 0;
    }

    fn finish(mut self) -> Measures {
        self.fold_block();
        Measures::from_array(self.distributions.map(Distribution::finish))
    }
}

/// The measures to compute where that is not all of them, and for how long the last jobs waited and
/// ran, of which they are still to be computed.
#[derive(Clone, Debug)]
struct Few {
    measures: Vec<Measure>,
    times: [(Span, Span); BLOCK],
    size: usize,
}

impl Few {
    #[inline]
    fn take_job(&mut self, job_end: &EndedJob<'_>, group: &mut GroupMeasures) {
        if self.size == BLOCK {
            self.fold_into(group);
        }
        self.times[self.size] = (job_end.wait_time(), job_end.outcome.ran);
        self.size += 1;
    }

    #[inline(never)]
    fn fold_into(&mut self, group: &mut GroupMeasures) {
        let times = &self.times[..self.size];
        for &measure in &self.measures {
            let mut column = [0.0; BLOCK];
            for (value, &(wait, run)) in column.iter_mut().zip(times) {
                *value = measures::one(measure, wait, run);
            }
            group.distributions[measure as usize].extend(&column[..times.len()]);
        }
        self.size = 0;
    }
}

/// The groups of one scheme.
type Groups = Keyed<GroupMeasures>;
