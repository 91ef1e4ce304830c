//! Evidence of a table: its test cases sorted by the logs that they come from, with their sums per
//! week.
//!
//! Loads, changes, slices, cleanings and measures of one log are cases of it, paired by its weeks.
//! Four or more disjoint slices or months, each simulated apart, are windows: the units of the log.
//! Files and seeds of a generator are logs of their own.

use crate::WeekSums;
use crate::store::CaseOrigin;
use drystone::inference::{Estimate, EstimateBasis, LEAST_UNITS, NoEstimate, PairedSums, PeriodSum, log_mean_ratio};
use std::collections::BTreeMap;

/// Sums per week of one candidate: by place among the table's cases, then by metric.
pub(super) type CaseSums = Vec<Vec<WeekSums>>;

/// The cases of a table, sorted by log.
#[derive(Debug)]
pub(super) struct TableEvidence {
    logs: Vec<LogCases>,
}

#[derive(Debug)]
struct LogCases {
    /// Series of cases that differ in nothing but their windows: the place of each.
    series: Vec<BTreeMap<CaseWindow, usize>>,
    /// True if windows have no jobs in common.
    disjoint: bool,
}

/// A part of a log that was simulated apart: month and slice.
type CaseWindow = (Option<String>, Option<String>);

/// Load and change of a case.
type CaseKind<'a> = (f64, Option<&'a str>);

/// An estimate, and the places of cases that took no part because they are too short.
pub(super) struct CaseEstimate {
    pub(super) estimate: Result<Estimate, NoEstimate>,
    pub(super) left_out: Vec<usize>,
    /// The only pair of sums, where there is one.
    pub(super) only: Option<PairedSums>,
}

impl TableEvidence {
    /// Sorts the cases of a table by where they come from.
    pub(super) fn from_origins(origins: &[CaseOrigin]) -> TableEvidence {
        let mut logs: Vec<(&str, LogCases, Vec<CaseKind<'_>>)> = Vec::new();
        for (place, origin) in origins.iter().enumerate() {
            let at = logs.iter().position(|(log, ..)| *log == origin.log).unwrap_or_else(|| {
                logs.push((&origin.log, LogCases { series: Vec::new(), disjoint: true }, Vec::new()));
                logs.len() - 1
            });
            let (_, log, kinds) = &mut logs[at];
            let (kind, window) =
                ((origin.load, origin.change.as_deref()), (origin.month.clone(), origin.slice.clone()));
            // The same window of the same kind twice is another cleaning: a series of its own.
            let mut series = kinds.iter().zip(&mut log.series);
            match series.find(|(other_kind, series)| **other_kind == kind && !series.contains_key(&window)) {
                Some((_, series)) => drop(series.insert(window, place)),
                None => {
                    kinds.push(kind);
                    log.series.push(BTreeMap::from([(window, place)]));
                }
            }
        }
        let logs = logs.into_iter().map(|(_, log, _)| {
            let windows: Vec<&CaseWindow> = log.series.iter().flat_map(BTreeMap::keys).collect();
            let apart = |(at, case_window): (usize, &&CaseWindow)| {
                windows[..at].iter().all(|earlier| earlier == case_window || !may_overlap(case_window, earlier))
            };
            let disjoint = windows.iter().enumerate().all(apart);
            LogCases { disjoint, ..log }
        });
        TableEvidence { logs: logs.collect() }
    }

    pub(super) fn log_count(&self) -> usize {
        self.logs.len()
    }

    /// The units of the mean of one candidate, of cases with one metric: several logs count alike,
    /// windows of one log if they lie apart, else the weeks of a log that was simulated once.
    /// `None` where windows overlap.
    pub(super) fn mean_units(&self, sums: &CaseSums) -> Option<Vec<PeriodSum>> {
        let total = |place: usize| {
            let mut period_sum = PeriodSum::default();
            sums[place].iter().flatten().for_each(|(_, sum)| period_sum.add(*sum));
            period_sum
        };
        let mean = |places: Vec<usize>| {
            let means = places.iter().map(|&place| total(place)).map(|sum| sum.sum / sum.count);
            PeriodSum { sum: means.sum::<f64>() / places.len() as f64, count: 1.0 }
        };
        match self.logs.as_slice() {
            [only] if only.case_places().count() == 1 => {
                let (first, last) = only.week_range(sums, sums);
                let places: Vec<usize> = only.case_places().collect();
                by_week(&places, (first, last), sums, sums).pop().map(|pair| pair.new)
            }
            [only] => only.disjoint.then(|| only.case_places().map(total).collect()),
            several => Some(several.iter().map(|log| mean(log.case_places().collect())).collect()),
        }
    }

    /// Estimates one candidate against another over all logs.
    pub(super) fn estimate_change(&self, old: &CaseSums, new: &CaseSums) -> CaseEstimate {
        let mut left_out = Vec::new();
        let mut estimates: Vec<(f64, Option<Estimate>, &LogCases)> = Vec::new();
        let mut only = None;
        for log in &self.logs {
            let own = log.estimate_log(old, new, &mut left_out);
            match own.logarithm.filter(|value| value.is_finite()) {
                Some(logarithm) => estimates.push((logarithm, own.estimate, log)),
                None => left_out.extend(log.case_places()),
            }
            only = if self.logs.len() == 1 { own.only } else { None };
        }
        // Two logs are joined by their own errors: one without takes no part.
        if estimates.len() == 2 && estimates.iter().any(|(_, estimate, _)| estimate.is_some()) {
            estimates.retain(|(_, estimate, log)| {
                if estimate.is_none() {
                    left_out.extend(log.case_places());
                }
                estimate.is_some()
            });
        }
        let logs: Vec<(f64, Option<Estimate>)> = estimates.iter().map(|&(own, estimate, _)| (own, estimate)).collect();
        left_out.sort_unstable();
        left_out.dedup();
        CaseEstimate { estimate: Estimate::of_logs(&logs), left_out, only }
    }
}

struct LogEstimate {
    logarithm: Option<f64>,
    estimate: Option<Estimate>,
    only: Option<PairedSums>,
}

impl LogCases {
    fn case_places(&self) -> impl Iterator<Item = usize> + '_ {
        self.series.iter().flat_map(|series| series.values().copied())
    }

    fn estimate_log(&self, old: &CaseSums, new: &CaseSums, left_out: &mut Vec<usize>) -> LogEstimate {
        let windows = self.series.first().map_or(0, BTreeMap::len);
        let alike = self.series.iter().all(|series| series.keys().eq(self.series[0].keys()));
        if windows >= LEAST_UNITS && self.disjoint && alike {
            let cases: Vec<PairedSums> = self.series.iter().flat_map(|series| by_window(series, old, new)).collect();
            return LogEstimate::from_cases(&cases, Estimate::of_windows);
        }
        let weeks = self.week_range(old, new);
        // Windows that overlap are cases, if each of them can be left out block by block.
        if !self.disjoint {
            let paired_sums: Vec<PairedSums> =
                self.case_places().flat_map(|place| by_week(&[place], weeks, old, new)).collect();
            if Estimate::of_log(&paired_sums).is_ok() {
                return LogEstimate::from_cases(&paired_sums, Estimate::of_log);
            }
        }
        let join_windows = |series: &BTreeMap<CaseWindow, usize>| {
            let places: Vec<usize> = series.values().copied().collect();
            let cases = by_week(&places, weeks, old, new);
            (places, cases)
        };
        let joined_series: Vec<(Vec<usize>, Vec<PairedSums>)> = self.series.iter().map(join_windows).collect();
        let whole: Vec<PairedSums> = joined_series.iter().flat_map(|(_, cases)| cases.iter().cloned()).collect();
        if Estimate::of_log(&whole).is_ok() || joined_series.len() < 2 {
            return LogEstimate::from_cases(&whole, Estimate::of_log);
        }
        let mut usable_cases = Vec::new();
        for (places, cases) in joined_series {
            if Estimate::of_log(&cases).is_ok() { usable_cases.extend(cases) } else { left_out.extend(places) }
        }
        LogEstimate::from_cases(&usable_cases, Estimate::of_log)
    }

    /// First and last week of any case.
    fn week_range(&self, old: &CaseSums, new: &CaseSums) -> (i64, i64) {
        let sums = || self.case_places().flat_map(|place| old[place].iter().chain(&new[place])).flatten();
        let numbers = || sums().map(|&(week, _)| week);
        (numbers().min().unwrap_or(0), numbers().max().unwrap_or(-1))
    }
}

impl LogEstimate {
    fn from_cases(cases: &[PairedSums], estimate: fn(&[PairedSums]) -> Result<Estimate, NoEstimate>) -> LogEstimate {
        let estimate = estimate(cases).ok();
        // Over windows it is the mean of their logarithms, not that of the whole.
        let of_windows = estimate.filter(|own| matches!(own.basis, EstimateBasis::Windows(_)));
        LogEstimate {
            logarithm: of_windows.map(|own| own.logarithm).or_else(|| log_mean_ratio(cases)),
            estimate,
            only: if let [only] = cases { Some(only.clone()) } else { None },
        }
    }
}

/// One case for each metric: the sums of each window, in the order of the windows.
fn by_window(series: &BTreeMap<CaseWindow, usize>, old: &CaseSums, new: &CaseSums) -> Vec<PairedSums> {
    let metrics = series.values().next().map_or(0, |&place| old[place].len());
    let total = |sums: &WeekSums| {
        let mut period_sum = PeriodSum::default();
        sums.iter().for_each(|(_, sum)| period_sum.add(*sum));
        period_sum
    };
    let of = |sums: &CaseSums, metric: usize| series.values().map(|&place| total(&sums[place][metric])).collect();
    (0..metrics).map(|metric| PairedSums { old: of(old, metric), new: of(new, metric) }).collect()
}

/// One case for each metric: the sums of these places by week, added up.
fn by_week(places: &[usize], (first, last): (i64, i64), old: &CaseSums, new: &CaseSums) -> Vec<PairedSums> {
    let metrics = places.first().map_or(0, |&place| old[place].len());
    let of = |sums: &CaseSums, metric: usize| {
        let mut weekly_totals = vec![PeriodSum::default(); usize::try_from(last - first + 1).unwrap_or(0)];
        for (week, sum) in places.iter().flat_map(|&place| &sums[place][metric]) {
            let at = usize::try_from(week - first).ok();
            at.and_then(|at| weekly_totals.get_mut(at)).into_iter().for_each(|unit| unit.add(*sum));
        }
        weekly_totals
    };
    (0..metrics).map(|metric| PairedSums { old: of(old, metric), new: of(new, metric) }).collect()
}

/// Returns whether two windows may have jobs in common.
fn may_overlap((month, slice): &CaseWindow, (other_month, other_slice): &CaseWindow) -> bool {
    let months =
        month.as_ref().zip(other_month.as_ref()).is_none_or(|(first_month, second_month)| first_month == second_month);
    months
        && slice
            .as_deref()
            .zip(other_slice.as_deref())
            .is_none_or(|(first_slice, second_slice)| slices_overlap(first_slice, second_slice))
}

/// Returns whether two slices may: seconds of the log, or places of jobs.
fn slices_overlap(first: &str, second: &str) -> bool {
    const PLACES: &str = "jobs ";
    if first.starts_with(PLACES) != second.starts_with(PLACES) {
        return true;
    }
    let ends = |text: &str| -> (i64, i64) {
        let limits = text.strip_prefix(PLACES).unwrap_or(text);
        let (from, until) = limits.split_once("..").unwrap_or_default();
        (from.trim().parse().unwrap_or(i64::MIN), until.trim().parse().unwrap_or(i64::MAX))
    };
    let ((from, until), (other_from, other_until)) = (ends(first), ends(second));
    from < other_until && other_from < until
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(log: &str, load: f64, slice: Option<&str>) -> CaseOrigin {
        CaseOrigin { log: log.to_string(), load, month: None, slice: slice.map(String::from), change: None }
    }

    fn weeks(values: &[(i64, f64)]) -> Vec<WeekSums> {
        vec![values.iter().map(|&(week, sum)| (week, PeriodSum { sum, count: 1.0 })).collect()]
    }

    fn pair(weeks_of: &[i64], new: fn(i64) -> f64) -> (Vec<WeekSums>, Vec<WeekSums>) {
        let old: Vec<(i64, f64)> = weeks_of.iter().map(|&week| (week, 10.0 + week as f64)).collect();
        let new: Vec<(i64, f64)> = weeks_of.iter().map(|&week| (week, new(week))).collect();
        (weeks(&old), weeks(&new))
    }

    const SHORTER: fn(i64) -> f64 = |week| 8.0 + (week * 7 % 5) as f64;

    /// Fifty loads, slices with the same jobs, a second file: only the last adds evidence.
    #[test]
    fn copies_of_a_log_add_nothing() {
        let units: Vec<i64> = (0..20).collect();
        let (old, new) = pair(&units, SHORTER);
        let estimate = |origins: &[CaseOrigin]| {
            let (old, new) = (vec![old.clone(); origins.len()], vec![new.clone(); origins.len()]);
            TableEvidence::from_origins(origins).estimate_change(&old, &new).estimate.expect("twenty weeks")
        };
        let single_log = estimate(&[origin("a", 1.0, None)]);
        let loads: Vec<CaseOrigin> = (0..50).map(|k| origin("a", 1.0 + f64::from(k) * 1e-5, None)).collect();
        let slices: Vec<CaseOrigin> =
            ["0..90", "0..91", "0..92", "0..93"].iter().map(|slice| origin("a", 1.0, Some(slice))).collect();
        for same in [loads, slices, vec![origin("a", 1.0, None), origin("a", 1.0, None)]] {
            let same = estimate(&same);
            assert!(
                (single_log.logarithm - same.logarithm).abs() < 1e-12 && (single_log.error - same.error).abs() < 1e-12
            );
            assert_eq!((single_log.freedom, single_log.basis), (same.freedom, same.basis));
        }
        let two = estimate(&[origin("a", 1.0, None), origin("b", 1.0, None)]);
        assert!((two.error - single_log.error / 2.0_f64.sqrt()).abs() < 1e-12 && two.basis == EstimateBasis::Logs(2));
    }

    /// Five slices of three weeks each are five windows; three of them are joined by their weeks.
    #[test]
    fn slices_are_windows() {
        let slices = ["0..3", "3..6", "6..9", "9..12", "12.."];
        let origins: Vec<CaseOrigin> = slices.iter().map(|slice| origin("a", 1.0, Some(slice))).collect();
        let (old, new): (CaseSums, CaseSums) = (0..5).map(|k| pair(&[3 * k, 3 * k + 1, 3 * k + 2], SHORTER)).unzip();
        let own = TableEvidence::from_origins(&origins).estimate_change(&old, &new).estimate.expect("five windows");
        assert_eq!((own.basis, own.freedom), (EstimateBasis::Windows(5), 4.0));
        let three = TableEvidence::from_origins(&origins[..3]).estimate_change(&old[..3].to_vec(), &new[..3].to_vec());
        assert_eq!(three.estimate.expect("nine weeks").basis, EstimateBasis::Blocks { blocks: 9, units: 9 });
    }

    /// Windows of jobs are windows if they lie apart, and cases of the log's weeks if they do not.
    #[test]
    fn windows_of_jobs_lie_apart_or_overlap() {
        let (old, new): (CaseSums, CaseSums) = (0..5).map(|k| pair(&[3 * k, 3 * k + 1, 3 * k + 2], SHORTER)).unzip();
        let of = |slices: [&str; 5]| {
            let origins: Vec<CaseOrigin> = slices.iter().map(|slice| origin("a", 1.0, Some(slice))).collect();
            TableEvidence::from_origins(&origins).estimate_change(&old, &new).estimate.expect("fifteen weeks").basis
        };
        let apart = ["jobs 0..9", "jobs 9..18", "jobs 30..39", "jobs 18..27", "jobs 50..59"];
        assert_eq!(of(apart), EstimateBasis::Windows(5));
        let overlaps = ["jobs 0..9", "jobs 8..17", "jobs 30..39", "jobs 18..27", "jobs 50..59"];
        assert_eq!(of(overlaps), EstimateBasis::Blocks { blocks: 10, units: 15 });
    }

    /// A workload of one week beside a long one is left out, of the same log and of another.
    #[test]
    fn what_is_too_short_is_left_out() {
        let units: Vec<i64> = (0..20).collect();
        let (long, short) = (pair(&units, SHORTER), pair(&[0], SHORTER));
        let (old, new) = (vec![long.0.clone(), short.0], vec![long.1.clone(), short.1]);
        for second in ["a", "b"] {
            let evidence = TableEvidence::from_origins(&[origin("a", 1.0, None), origin(second, 1.0, None)]);
            let own = evidence.estimate_change(&old, &new);
            assert_eq!(own.left_out, [1]);
            let alone = TableEvidence::from_origins(&[origin("a", 1.0, None)]);
            assert_eq!(own.estimate, alone.estimate_change(&old[..1].to_vec(), &new[..1].to_vec()).estimate);
        }
    }
}
