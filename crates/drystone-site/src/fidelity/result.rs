//! The result, as data and in words.

use super::case::PoolCase;
use super::errors::{Errors, WaitPairs};
use super::faults::{ConstantShift, QuietTime, quiet_texts, quiet_times};
use super::hours::{HourErrors, Hours};
use super::intervals::Intervals;
use super::reason::RecordedReason;
use super::stats::sort_values;
use super::{AsHappened, FidelitySettings};
use crate::jobs::SiteJobFate;
use crate::site::Site;
use crate::words::count_noun;
use drystone::model::SharedSort;
use drystone::statistics::nearest_rank_quantile;
use serde::{Deserialize, Serialize};

const SCHEMA: &str = "drystone/fidelity/1";

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Fidelity {
    pub schema: String,
    pub site: String,
    /// The policy that stands for the site's own.
    pub policy: String,
    /// Time from which waits are compared, in seconds since 1970.
    pub from: i64,
    pub until: i64,
    /// Rows of accounting, jobs, and what became of them.
    pub coverage: AccountingCoverage,
    pub pools: Vec<PoolFidelity>,
    /// All pools together, where there are several.
    pub total: Option<Errors>,
    pub verdict: Vec<String>,
    /// Requests that are not modelled.
    pub not_modelled: Vec<String>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct AccountingCoverage {
    /// Rows of jobs.
    pub rows: u64,
    /// Rows that could not be used.
    pub bad_rows: u64,
    pub jobs: u64,
    /// Jobs whose waits are compared.
    pub compared: u64,
    /// Jobs dropped by rules.
    pub dropped: u64,
    /// Jobs that never ran.
    pub withdrawn: u64,
    /// Jobs that wait or run at the end.
    pub censored: u64,
    /// Jobs that waited for something that is not modelled.
    pub unmodelled: u64,
    /// Jobs within reservations.
    pub reserved: u64,
    /// Jobs with a value that stands for an unknown one.
    pub imputed: u64,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PoolFidelity {
    pub name: String,
    pub jobs: u64,
    /// The records against the machine, without a policy.
    pub as_happened: AsHappened,
    /// Faults of the records that no policy explains.
    #[serde(default)]
    pub faults: RecordFaults,
    /// Errors of all waits that are compared.
    pub errors: Errors,
    /// Errors without jobs that waited for something that is not modelled.
    pub modelled: Errors,
    /// Intervals of some errors.
    pub intervals: Intervals,
    pub classes: Vec<ClassRow>,
    /// Recorded waits, with those that had not ended.
    pub waiting: CensoredWaits,
    /// The recorded reason for which jobs waited longest for more than a place on the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<RecordedReason>,
    /// Use and queue by the hour.
    pub hour_errors: HourErrors,
    /// The first hour of the week that is worst.
    pub worst_week: Option<usize>,
    pub mechanism: Mechanism,
    /// Models to beat.
    pub baselines: Vec<FidelityBaseline>,
    /// Distance by which it is beaten.
    pub skill: ReplaySkill,
    /// Effect of arrivals moved by seconds.
    pub noise: Noise,
    /// Other recordings of the same workload.
    pub repetitions: Vec<Repetition>,
    /// The hours, replayed.
    pub hours: Hours,
    pub recorded_hours: Hours,
    /// Uses that this replay allows, in a sentence.
    pub verdict: String,
}

/// Faults of the records that no policy explains.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RecordFaults {
    /// Difference that nearly every job has.
    pub shift: Option<ConstantShift>,
    /// Times that look like outages which are not recorded.
    pub quiet: Vec<QuietTime>,
    pub texts: Vec<String>,
}

impl RecordFaults {
    pub(super) fn find_faults(waits: &WaitPairs, site: &Site, case: &PoolCase) -> RecordFaults {
        let shift = ConstantShift::find_shift(waits);
        // Where every job is late by as much, it waits beside idle nodes as well.
        let quiet = if shift.is_some() { Vec::new() } else { quiet_times(site, case) };
        let mut texts: Vec<String> = shift.iter().map(ConstantShift::describe_shift).collect();
        texts.extend(quiet_texts(&quiet, site));
        RecordFaults { shift, quiet, texts }
    }
}

/// Waits of a class of jobs. Quantiles are those of 10, 50, 90 and 99 of 100.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClassRow {
    /// Units.
    pub size: String,
    /// Duration of their holds.
    pub length: String,
    pub jobs: u64,
    /// Recorded waits.
    pub recorded: [Option<f64>; 4],
    /// Replayed ones.
    pub replayed: [Option<f64>; 4],
    /// Distance of the distributions.
    pub wasserstein: Option<f64>,
    /// Largest distance of the distributions.
    pub kolmogorov_smirnov: Option<f64>,
}

/// Recorded waits where some had not ended (Kaplan and Meier 1958).
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CensoredWaits {
    /// Jobs that still waited, of those that arrived while waits are compared.
    pub censored: u64,
    pub share: f64,
    /// Median, and waits that 90 and 99 of 100 do not exceed, with what is known of those that had
    /// not ended; where these are more than one in a hundred. `None` where too many still waited to
    /// tell.
    pub quantiles: Option<[Option<f64>; 3]>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Mechanism {
    /// Jobs whose record says what started them.
    pub jobs_with_flags: u64,
    /// Share of these that backfill started.
    pub recorded: Option<f64>,
    /// Share of all that overtook others in the replay.
    pub replayed: Option<f64>,
    /// Share of those with a record that were started in the same way.
    pub same_way: Option<f64>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FidelityBaseline {
    pub name: String,
    pub is_policy: bool,
    pub errors: Errors,
    pub hours: HourErrors,
}

/// 1 less the error over that of the best baseline: 0 is no better than it, 1 is perfect. `None`
/// where the best baseline has no error, or the policy is a baseline itself.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ReplaySkill {
    /// Of the distributions of waits.
    pub waits: Option<f64>,
    /// Of waits job by job.
    pub jobs: Option<f64>,
    /// Of the work that waits, by the hour.
    pub hours: Option<f64>,
    /// The best baseline of each.
    pub best: [String; 3],
}

/// Name of the baseline in which no job waits.
pub(super) const NOTHING_WAITS: &str = "no job waits";
/// Share of jobs within ten minutes from which on a model stands for a site.
const FAITHFUL: f64 = 0.9;

impl ReplaySkill {
    pub(super) fn from_errors(errors: &Errors, hours: &HourErrors, baselines: &[FidelityBaseline]) -> ReplaySkill {
        let gain_over_best = |value: Option<f64>, get: &dyn Fn(&FidelityBaseline) -> Option<f64>| {
            let model_baselines = baselines.iter().filter(|b| !b.is_policy);
            let best =
                model_baselines.filter_map(|b| Some((get(b)?, b.name.clone()))).min_by(|a, b| a.0.total_cmp(&b.0));
            match (value, best) {
                (Some(error), Some((best, name))) => ((best > 0.0).then(|| 1.0 - error / best), name),
                _ => (None, String::new()),
            }
        };
        let (waits, a) = gain_over_best(errors.wasserstein, &|b| b.errors.wasserstein);
        let (jobs, b) = gain_over_best(errors.mean_distance, &|b| b.errors.mean_distance);
        let (hours, c) = gain_over_best(hours.queue_work.rmse, &|b| b.hours.queue_work.rmse);
        ReplaySkill { waits, jobs, hours, best: [a, b, c] }
    }
}

/// Effect of arrivals moved by seconds on the replay, by the measures of its errors: medians over
/// the runs, and the worst.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Noise {
    pub runs: u64,
    /// Largest shift of arrivals, in seconds.
    pub jitter: i64,
    /// Median over the runs.
    pub median: Errors,
    /// Largest distance, or smallest share, of any run.
    pub worst: Errors,
    /// Smallest and largest mean wait of the runs.
    pub mean_wait: Option<(f64, f64)>,
    /// Median errors by the hour: of use, of jobs that wait, of work that waits.
    pub hours: [Option<f64>; 3],
}

/// Makes one number of those of all runs.
type Summing<'a> = &'a dyn Fn(&dyn Fn(&Errors) -> Option<f64>) -> Option<f64>;

impl Noise {
    pub(super) fn from_runs(jitter: i64, runs: &[(Errors, HourErrors)]) -> Noise {
        let middle = |get: &dyn Fn(&Errors) -> Option<f64>| {
            nearest_rank_quantile(&sort_values(runs.iter().filter_map(|r| get(&r.0)).collect()), 0.5)
        };
        let low = |get: &dyn Fn(&Errors) -> Option<f64>| {
            nearest_rank_quantile(&sort_values(runs.iter().filter_map(|r| get(&r.0)).collect()), 0.0)
        };
        let high = |get: &dyn Fn(&Errors) -> Option<f64>| {
            nearest_rank_quantile(&sort_values(runs.iter().filter_map(|r| get(&r.0)).collect()), 1.0)
        };
        let hour = |get: &dyn Fn(&HourErrors) -> Option<f64>| {
            nearest_rank_quantile(&sort_values(runs.iter().filter_map(|r| get(&r.1)).collect()), 0.5)
        };
        let spread_of = |near: Summing<'_>, far: Summing<'_>| Errors {
            jobs: runs.first().map_or(0, |r| r.0.jobs),
            recorded_mean: middle(&|e| e.recorded_mean),
            replayed_mean: middle(&|e| e.replayed_mean),
            mean_distance: far(&|e| e.mean_distance),
            median_distance: far(&|e| e.median_distance),
            p90_distance: far(&|e| e.p90_distance),
            signed_median: far(&|e| e.signed_median.map(f64::abs)),
            within_minute: near(&|e| e.within_minute),
            within_ten_minutes: near(&|e| e.within_ten_minutes),
            within_hour: near(&|e| e.within_hour),
            within_tenth: near(&|e| e.within_tenth),
            wasserstein: far(&|e| e.wasserstein),
            kolmogorov_smirnov: far(&|e| e.kolmogorov_smirnov),
            spearman: near(&|e| e.spearman),
            kendall: near(&|e| e.kendall),
            waiting: runs.first().map_or(0, |r| r.0.waiting),
        };
        Noise {
            runs: runs.len() as u64,
            jitter,
            median: spread_of(&middle, &middle),
            worst: spread_of(&low, &high),
            mean_wait: low(&|e| e.replayed_mean).zip(high(&|e| e.replayed_mean)),
            hours: [hour(&|h| h.utilisation.rmse), hour(&|h| h.queue_jobs.rmse), hour(&|h| h.queue_work.rmse)],
        }
    }
}

/// Another recording of the same workload.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Repetition {
    pub name: String,
    /// Jobs that both have.
    pub matched: u64,
    /// Jobs that waited as long, to the second.
    pub same: u64,
    /// Lead of its clock, in seconds.
    pub clock: i64,
    /// Its distance from this recording.
    pub errors: Errors,
    pub hours: HourErrors,
}

impl CensoredWaits {
    pub(super) fn from_case(case: &PoolCase) -> CensoredWaits {
        let inside = |arrive: i64| (case.from..=case.until).contains(&arrive);
        let mut waits: Vec<(f64, bool)> = Vec::new();
        for job in case.jobs.iter().filter(|job| job.simulated && inside(job.arrive)) {
            match (job.start, job.end) {
                (Some(start), _) => waits.push(((start - job.arrive) as f64, true)),
                // Neither started nor left.
                (None, None) => waits.push(((case.until - job.arrive).max(0) as f64, false)),
                // A user who gave up: the wait was at least this long.
                (None, Some(end)) => waits.push(((end - job.arrive) as f64, false)),
            }
        }
        let censored_count = waits.iter().filter(|(_, has_end)| !has_end).count();
        let share = censored_count as f64 / waits.len().max(1) as f64;
        let quantiles = (share > 0.01).then(|| kaplan_meier(&mut waits));
        CensoredWaits { censored: censored_count as u64, share, quantiles }
    }
}

/// Quantiles of times of which some had not ended.
fn kaplan_meier(times: &mut [(f64, bool)]) -> [Option<f64>; 3] {
    // At one time ends come before those that are lost from sight.
    times.sort_shared_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let wanted_shares = [0.5, 0.9, 0.99];
    let mut quantiles = [None; 3];
    let (mut remaining_count, mut alive) = (times.len() as f64, 1.0);
    for &(time, has_end) in times.iter() {
        if has_end {
            alive *= 1.0 - 1.0 / remaining_count;
            for (quantile, part) in quantiles.iter_mut().zip(wanted_shares) {
                if quantile.is_none() && alive <= 1.0 - part + 1e-12 {
                    *quantile = Some(time);
                }
            }
        }
        remaining_count -= 1.0;
    }
    quantiles
}

impl Fidelity {
    pub(super) fn new(
        site: &Site,
        settings: &FidelitySettings<'_>,
        (from, until): (i64, i64),
        pools: Vec<PoolFidelity>,
        total: Option<Errors>,
    ) -> Fidelity {
        let name = if site.manifest.cluster.is_empty() { "site" } else { site.manifest.cluster.as_str() };
        let mut fidelity = Fidelity {
            schema: SCHEMA.to_string(),
            site: name.to_string(),
            policy: settings.policy.to_string(),
            from,
            until,
            coverage: accounting_coverage(site, &pools),
            pools,
            total,
            verdict: Vec::new(),
            not_modelled: list_gaps(site, settings).iter().map(|text| (*text).to_string()).collect(),
        };
        for pool in &mut fidelity.pools {
            pool.verdict = pool.in_one_sentence(&fidelity.policy);
        }
        fidelity.verdict = fidelity.list_sentences();
        fidelity
    }

    pub fn total_errors(&self) -> Option<&Errors> {
        self.total.as_ref().or(self.pools.first().map(|pool| &pool.errors))
    }

    fn list_sentences(&self) -> Vec<String> {
        let mut text_lines = Vec::new();
        for pool in &self.pools {
            let of = if self.pools.len() > 1 { format!("{}: ", pool.name) } else { String::new() };
            text_lines.extend(pool.list_sentences(&self.policy).into_iter().map(|sentence| format!("{of}{sentence}")));
        }
        text_lines
    }
}

/// Limits, where the site has none that are simulated.
const LIMITS: &str = "limits of QOS, accounts and users";

/// Possible reasons why a replay differs from the site.
const NOT_MODELLED: &[&str] = &[
    "fair share and other priorities, unless the policy has them",
    LIMITS,
    "preemption",
    "topology, constraints, memory and GPUs other than as dominant share",
    "users that react to waits",
];

/// Gaps under the site's own Slurm, on its nodes.
const BESIDE_SLURM: &[&str] =
    &["topology of the network", "the behaviour of jobs within reservations elsewhere", "users that react to waits"];

/// Returns possible reasons why a replay under this policy differs from the site.
fn list_gaps(site: &Site, settings: &FidelitySettings<'_>) -> Vec<&'static str> {
    let slurm = settings.policy.kind().name == drystone_slurm::policy::SLURM.name;
    let known_gaps = if slurm && site.is_on_nodes() { BESIDE_SLURM } else { NOT_MODELLED };
    let has_kept_limits = site.enforces_limits() && site.accounts().is_some_and(|accounts| accounts.limits_anything());
    known_gaps.iter().copied().filter(|gap| *gap != LIMITS || !has_kept_limits).collect()
}

fn accounting_coverage(site: &Site, pools: &[PoolFidelity]) -> AccountingCoverage {
    use crate::jobs::JobMarks;
    let m = &site.manifest;
    let mut coverage = AccountingCoverage {
        rows: m.rows,
        bad_rows: m.bad_rows,
        jobs: m.jobs,
        compared: pools.iter().map(|pool| pool.errors.jobs).sum(),
        dropped: m.rules.iter().filter(|r| r.effect == crate::rules::RuleEffect::Dropped).map(|r| r.jobs).sum(),
        ..AccountingCoverage::default()
    };
    for job in site.jobs() {
        coverage.withdrawn += u64::from(job.kind == SiteJobFate::Withdrawn);
        coverage.censored += u64::from(matches!(job.kind, SiteJobFate::Waiting | SiteJobFate::Running));
        coverage.unmodelled += u64::from(job.marks.has_mark(JobMarks::CAUSE));
        coverage.reserved += u64::from(job.marks.has_mark(JobMarks::RESERVED));
        coverage.imputed += u64::from(
            job.marks.has_mark(JobMarks::LIMIT)
                || job.marks.has_mark(JobMarks::RUN)
                || job.marks.has_mark(JobMarks::SIZE),
        );
    }
    coverage
}

/// More of the machine's time, in percent, idle while a job that fits waits tells that the records
/// are not the whole load.
const MUCH_IDLE: f64 = 20.0;

/// Part of the waiting from which on its recorded reason explains an idle machine.
const MUCH_HELD: f64 = 0.25;

impl PoolFidelity {
    fn list_sentences(&self, policy: &str) -> Vec<String> {
        let mut text_lines = Vec::new();
        let percent = |share: f64| format!("{:.1}%", share * 100.0);
        let record_fit = &self.as_happened;
        if record_fit.over_capacity > 0.001 {
            text_lines.push(format!(
                "The records do not fit on the machine: for {} of the time jobs held more than there was, by up to {} units. The machine \
                 or the sizes of jobs are wrong, and no policy can be judged before that is fixed.",
                percent(record_fit.over_capacity),
                record_fit.most_over
            ));
        }
        let e = &self.errors;
        if let (Some(minute), Some(hour), Some(recorded), Some(replayed)) =
            (e.within_minute, e.within_hour, e.recorded_mean, e.replayed_mean)
        {
            text_lines.push(format!(
                "Under {policy} {} of {} start within a minute of when they did, {} within an hour; the mean wait is {}, \
                 and {} in the records.",
                percent(minute),
                count_noun(e.jobs, "job"),
                percent(hour),
                format_length(replayed),
                format_length(recorded)
            ));
        }
        if let Some(reason) = self.reason.as_ref().filter(|reason| reason.all >= 0.1) {
            text_lines.push(format!(
                "The records name more than a place on the machine as the last reason: {}.",
                reason.describe_reason()
            ));
        }
        text_lines.extend(self.faults.texts.iter().map(|text| format!("Fault of the records: {text}.")));
        text_lines.extend(self.against_baselines(policy));
        text_lines.extend(self.against_noise());
        text_lines.push(format!("Verdict: {}", self.verdict));
        text_lines
    }

    /// Describes the uses that this replay allows.
    fn in_one_sentence(&self, policy: &str) -> String {
        let record_fit = &self.as_happened;
        let idle = record_fit.idle_beyond_replay();
        let share = |value: Option<f64>| value.map_or("-".to_string(), |v| format!("{:.0}%", v * 100.0));
        // A policy that is itself a baseline is no better than itself.
        let is_baseline = self.baselines.iter().any(|b| b.is_policy);
        let loses = !is_baseline
            && !self.is_within_noise()
            && [self.skill.waits, self.skill.jobs, self.skill.hours].iter().flatten().any(|&s| s <= 0.0);
        let within = self.errors.within_ten_minutes;
        // Where hardly any job waits, a model that knows of no queue would pass as well.
        let nothing_waits = self.baselines.iter().find(|b| b.name == NOTHING_WAITS);
        let idle_machine = nothing_waits.and_then(|b| b.errors.within_ten_minutes).filter(|&w| w >= FAITHFUL);
        if record_fit.over_capacity > 0.01 {
            format!(
                "jobs held more than the machine has {:.0}% of the time: the machine or the sizes are wrong, and no policy can be judged.",
                record_fit.over_capacity * 100.0
            )
        } else if let Some(shift) = &self.faults.shift {
            format!("{}. Set that right, then judge {policy}.", shift.describe_shift())
        } else if let (Some(base), true) = (idle_machine, within.is_some_and(|w| w >= FAITHFUL)) {
            format!(
                "most jobs do not wait here, so this judges little of {policy}: {} of the jobs start within ten minutes of when they did, \
                 and {} would if none waited; believe only differences between policies that are larger than its errors.",
                share(within),
                share(Some(base))
            )
        } else if within.is_some_and(|w| w >= FAITHFUL) && !loses {
            format!(
                "{policy} stands for this site: {} of the jobs start within ten minutes of when they did; differences between policies \
                 beyond its errors can be believed.",
                share(within)
            )
        } else if let Some(reason) = self.reason.as_ref().filter(|reason| idle > MUCH_IDLE && reason.all >= MUCH_HELD) {
            format!(
                "idle while a job that fits waits {idle:.0}% of the time, and the records say why: {}. {policy} starts {} of the jobs within \
                 ten minutes of when they did; what held the others back is not simulated, or not as it was.",
                reason.describe_reason(),
                share(within)
            )
        } else if idle > MUCH_IDLE {
            format!(
                "idle while a job that fits waits {idle:.0}% of the time: this dump is not the whole load, or something that is not \
                 simulated held jobs back."
            )
        } else if let Some(rivals) = self.as_close(within.filter(|_| loses)) {
            format!(
                "{policy} starts {} of the jobs within ten minutes of when they did, and so {rivals}: these records cannot tell \
                 which policy ran here; believe only differences between policies that are larger than its errors.",
                share(within)
            )
        } else if loses || within.is_none_or(|w| w < 0.5) {
            format!(
                "{policy} is not a model of this site: {} of the jobs start within ten minutes of when they did; compare policies with \
                 each other, not with what was recorded.",
                share(within)
            )
        } else {
            format!(
                "{policy} is a rough model of this site: {} of the jobs start within ten minutes of when they did; only differences \
                 between policies that are larger than its errors can be believed.",
                share(within)
            )
        }
    }

    /// Describes the other policies that meet the records as well as one that does so: `do fcfs and
    /// easy`.
    fn as_close(&self, within: Option<f64>) -> Option<String> {
        within.filter(|&within| within >= FAITHFUL)?;
        let policies = self.baselines.iter().filter(|b| b.name != NOTHING_WAITS && !b.is_policy);
        let close = policies.filter(|b| b.errors.within_ten_minutes.is_some_and(|own| own >= FAITHFUL));
        let names: Vec<&str> = close.map(|b| b.name.as_ref()).collect();
        match names.as_slice() {
            [] => None,
            [one] => Some(format!("does {one}")),
            several => Some(format!("do {}", several.join(" and "))),
        }
    }

    fn against_baselines(&self, policy: &str) -> Option<String> {
        if self.baselines.iter().any(|b| b.is_policy) {
            return Some(format!("{policy} is also the reference: there is no skill score."));
        }
        let loses = |skill: Option<f64>| skill.is_some_and(|s| s <= 0.0);
        let lost_measures: Vec<&str> = [
            (self.skill.waits, "distributions of waits"),
            (self.skill.jobs, "waits job by job"),
            (self.skill.hours, "the queue by the hour"),
        ]
        .into_iter()
        .filter(|(skill, _)| loses(*skill))
        .map(|(_, label)| label)
        .collect();
        Some(match lost_measures.is_empty() {
            true => format!("{policy} is closer to the site than every baseline."),
            false => {
                format!("A baseline is as close to the site as {policy}, or closer, by {}.", lost_measures.join(", "))
            }
        })
    }

    /// Returns whether waits are off by no more than moved arrivals alone cause: no baseline can be
    /// told from that.
    fn is_within_noise(&self) -> bool {
        self.errors.mean_distance.zip(self.noise.median.mean_distance).is_some_and(|(error, noise)| error <= noise)
    }

    fn against_noise(&self) -> Option<String> {
        let error = self.errors.mean_distance?;
        let repeat_distances: Vec<f64> = self.repetitions.iter().filter_map(|r| r.errors.mean_distance).collect();
        let mut floors = Vec::new();
        if let Some(most) = repeat_distances.iter().copied().reduce(f64::max) {
            floors.push((most, "Recordings of the same workload differ from each other by up to".to_string()));
        }
        if let Some(noise) = self.noise.median.mean_distance {
            floors.push((noise, format!("Arrivals moved by up to {} s alone cause", self.noise.jitter)));
        }
        let floor_texts: Vec<String> = floors
            .iter()
            .map(|(floor, cause)| {
                let place = if error <= *floor { "within" } else { "beyond" };
                format!("{cause} {}: the error is {place} this noise", format_length(*floor))
            })
            .collect();
        (!floor_texts.is_empty())
            .then(|| format!("Waits are off by {} on average. {}.", format_length(error), floor_texts.join(". ")))
    }
}

/// Returns a length of time in the unit that suits it.
fn format_length(seconds: f64) -> String {
    match seconds.abs() {
        s if s < 120.0 => format!("{seconds:.0} s"),
        s if s < 7_200.0 => format!("{:.1} min", seconds / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", seconds / 3_600.0),
        _ => format!("{:.1} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_waits_that_have_not_ended() {
        // By hand: 6 waits, the third and the fifth unfinished. S falls to 5/6, 4/6, then
        // 4/6·(2/3), then to 0 with the last.
        let mut times = [(1.0, true), (2.0, true), (2.5, false), (3.0, true), (4.0, false), (5.0, true)];
        assert_eq!(kaplan_meier(&mut times), [Some(3.0), Some(5.0), Some(5.0)]);
        let mut short_times = [(1.0, true), (2.0, false), (3.0, false), (4.0, false)];
        assert_eq!(kaplan_meier(&mut short_times), [None, None, None]);
    }
}
