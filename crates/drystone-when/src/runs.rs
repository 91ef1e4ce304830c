//! Run times learned from jobs: four nested histories, and their remainder for a job that has run
//! for some time. Jobs of the user that still run count as well: they are at least as long.

use crate::batches::{BatchSurprise, Batches};
use crate::settings::ForecasterSettings;
use drystone_core::statistics::upper_median;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// An ended job: its limit, its run time and its start, in seconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct EndedRun {
    limit: i64,
    run: i64,
    start: i64,
}

/// A job that runs: it says that jobs like it may take at least as long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sibling {
    pub(crate) kin: Kin,
    pub(crate) start: i64,
    pub(crate) ran: i64,
}

/// Ended jobs, newest first.
type Newest = VecDeque<EndedRun>;

/// Identity of a job for run times: user, limit and processors.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Kin {
    pub(crate) user: i32,
    pub(crate) limit: i64,
    pub(crate) procs: u32,
}

/// Jobs of a class of limits that are kept, and how many of them one table takes.
const KEPT_OF_CLASS: usize = 2000;
const TAKEN_OF_CLASS: usize = 64;
/// A class with fewer is replaced by all classes.
const FEW: usize = 20;
/// Equal parts of the levels, each with its first value.
const PARTS: usize = 32;
/// Values that stand for what is longer than all that has ended.
const PARTS_BEYOND: u32 = 8;
/// Users' histories that are kept before the oldest half is dropped.
const MOST_HISTORIES: usize = 200_000;
/// Tables that are kept before all are dropped.
const MOST_TABLES: usize = 4096;

/// A history, and when it was last added to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct RunHistory {
    newest: Newest,
    stamp: u64,
}

impl RunHistory {
    /// The median of its run times, where there are five or more.
    fn median_run(&self) -> Option<i64> {
        let mut runs: Vec<i64> = self.newest.iter().map(|entry| entry.run).collect();
        if runs.len() < 5 { None } else { upper_median(&mut runs) }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Runs {
    same: BTreeMap<Kin, RunHistory>,
    of_limit: BTreeMap<(i32, i64), RunHistory>,
    of_user: BTreeMap<i32, RunHistory>,
    of_class: BTreeMap<i32, RunHistory>,
    all: RunHistory,
    batches: Batches,
    ends: u64,
    /// Number of times that old histories were forgotten.
    #[serde(skip)]
    era: u64,
}

/// Histories, from the narrowest to everyone's.
const LEVELS: usize = 4;

/// Times at which the user's history and that of the class last grew, and their era.
type Stamps = (u64, u64, u64);

/// The values of one kind of job in ascending order.
#[derive(Clone, Debug)]
struct RunTable {
    /// As of which it holds.
    stamps: Stamps,
    values: Vec<RunValue>,
    /// Places of each level among the values, ascending.
    of_level: [Vec<u16>; LEVELS],
}

impl RunTable {
    fn new(stamps: Stamps, values: Vec<RunValue>) -> RunTable {
        let mut of_level: [Vec<u16>; LEVELS] = Default::default();
        for (at, value) in (0u16..).zip(&values) {
            of_level[usize::from(value.level)].push(at);
        }
        RunTable { stamps, values, of_level }
    }
}

/// Memory of a reader of run times: tables of kinds of jobs, as long as they hold,
/// and room. Several readers may read at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    of_kin: BTreeMap<Kin, RunTable>,
    desk: Desk,
}

#[derive(Clone, Copy, Debug)]
struct RunValue {
    run: i64,
    level: u8,
    weight: f64,
    /// Start of the job.
    start: i64,
}

/// The distribution of one job's run time, given what it has run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunTime {
    /// Ascending values and the probability of being no longer, in all as much as the last says.
    values: Vec<(i64, f64)>,
    /// First value that can be meant, for each of so many equal parts of the levels; empty where
    /// there is no value.
    guide: Vec<u16>,
    /// Range between the values if there is none.
    range: (i64, i64),
}

impl RunTime {
    /// The run time at this level, in seconds: longer than what has run.
    #[inline]
    pub(crate) fn run_at(&self, level: f64) -> i64 {
        match self.values.last() {
            Some(last) => {
                let target_mass = level * last.1;
                let part = (level * PARTS as f64) as usize;
                let mut place = self.guide.get(part).map_or(0, |&place| usize::from(place));
                while place + 1 < self.values.len() && self.values[place].1 < target_mass {
                    place += 1;
                }
                self.values[place].0
            }
            None => {
                let (from, to) = self.range;
                (from + ((to - from) as f64 * level).ceil() as i64).clamp(from + 1, to.max(from + 1))
            }
        }
    }

    /// Notes where the search for each level begins.
    fn build_guide(&mut self) {
        self.guide.clear();
        let Some(&(_, total)) = self.values.last() else { return };
        self.guide.reserve(PARTS);
        let mut place = 0;
        for part in 0..PARTS {
            let target_mass = part as f64 / PARTS as f64 * total;
            while place + 1 < self.values.len() && self.values[place].1 < target_mass {
                place += 1;
            }
            self.guide.push(u16::try_from(place).unwrap_or(u16::MAX));
        }
    }

    pub(crate) fn probability_beyond(&self, limit: i64) -> f64 {
        match self.values.last() {
            Some(last) => {
                let place = self.values.partition_point(|value| value.0 <= limit);
                let by = place.checked_sub(1).map_or(0.0, |before| self.values[before].1);
                1.0 - by / last.1
            }
            None => {
                let (from, to) = self.range;
                ((to - limit) as f64 / (to - from).max(1) as f64).clamp(0.0, 1.0)
            }
        }
    }
}

impl Runs {
    pub(crate) fn note_arrival(&mut self, kin: Kin, time: i64) {
        let Runs { of_limit, of_user, batches, .. } = self;
        let histories = [of_limit.get(&(kin.user, kin.limit)), of_user.get(&kin.user)];
        batches.note_arrival((kin.user, kin.limit), time, || {
            histories.into_iter().flatten().find_map(RunHistory::median_run)
        });
    }

    /// Returns the surprise that the batch of a waiting job may be.
    pub(crate) fn find_surprise(&self, kin: Kin, siblings: &[Sibling]) -> Option<BatchSurprise> {
        let of_batch = |began: i64| {
            let alike = siblings.iter().filter(|sibling| sibling.kin.limit == kin.limit && sibling.start >= began);
            alike.map(|sibling| sibling.ran).max().unwrap_or(0)
        };
        self.batches.find_surprise((kin.user, kin.limit), of_batch)
    }

    /// A job has ended.
    pub(crate) fn learn_run(&mut self, kin: Kin, start: i64, run: i64, settings: &ForecasterSettings) {
        self.ends += 1;
        self.batches.note_end((kin.user, kin.limit), start, run);
        let (ended_run, stamp) = (EndedRun { limit: kin.limit, run, start }, self.ends);
        add_run(self.same.entry(kin).or_default(), ended_run, stamp, settings.kept);
        add_run(self.of_limit.entry((kin.user, kin.limit)).or_default(), ended_run, stamp, settings.kept);
        add_run(self.of_user.entry(kin.user).or_default(), ended_run, stamp, settings.kept);
        add_run(self.of_class.entry(limit_class(kin.limit)).or_default(), ended_run, stamp, KEPT_OF_CLASS);
        add_run(&mut self.all, ended_run, stamp, KEPT_OF_CLASS);
        if self.same.len() > MOST_HISTORIES {
            self.forget_the_oldest();
        }
    }

    /// Users and kinds of jobs that have not been seen for long are forgotten.
    fn forget_the_oldest(&mut self) {
        let mut stamps: Vec<u64> = self.same.values().map(|history| history.stamp).collect();
        let middle = stamps.len() / 2;
        let bound = *stamps.select_nth_unstable(middle).1;
        self.same.retain(|_, history| history.stamp >= bound);
        self.of_limit.retain(|_, history| history.stamp >= bound);
        self.of_user.retain(|_, history| history.stamp >= bound);
        self.era += 1;
    }

    /// The distribution of a job's run time; `ran` is what it has run, −1 for a job that waits, and
    /// `siblings` are the jobs of its user that run, the newest start first.
    pub(crate) fn fill_distribution(
        &self,
        kin: Kin,
        ran: i64,
        siblings: &[Sibling],
        settings: &ForecasterSettings,
        tables: &mut Tables,
        into: &mut RunTime,
    ) {
        let class = self.of_class.get(&limit_class(kin.limit)).filter(|history| history.newest.len() >= FEW);
        let class = class.unwrap_or(&self.all);
        let stamps = (self.of_user.get(&kin.user).map_or(0, |history| history.stamp), class.stamp, self.era);
        let Tables { of_kin, desk } = tables;
        if of_kin.len() > MOST_TABLES {
            of_kin.clear();
        }
        let table = of_kin.entry(kin).or_insert_with(|| RunTable::new(stamps, self.collect_values(kin, settings)));
        if table.stamps != stamps {
            *table = RunTable::new(stamps, self.collect_values(kin, settings));
        }
        into.values.clear();
        into.range = if ran < kin.limit { (ran.max(0), kin.limit.max(1)) } else { (ran, ran + ran / 2 + 60) };
        let longer = LongerRuns::from_table(table, kin, ran);
        into.values.reserve(longer.values.len());
        if longer.is_told_by(siblings) {
            longer.sums_with(siblings, settings, desk, &mut into.values);
        } else {
            longer.collect_sums(settings, &mut into.values);
        }
        into.build_guide();
    }

    /// Values of all four histories, in ascending order.
    fn collect_values(&self, kin: Kin, settings: &ForecasterSettings) -> Vec<RunValue> {
        let mut values = Vec::with_capacity(3 * settings.kept + TAKEN_OF_CLASS);
        let levels = [self.same.get(&kin), self.of_limit.get(&(kin.user, kin.limit)), self.of_user.get(&kin.user)];
        for (level, history) in (0u8..).zip(levels) {
            let mut weight = 1.0;
            for entry in history.iter().flat_map(|history| &history.newest) {
                values.push(RunValue { run: scale_run(*entry, kin.limit), level, weight, start: entry.start });
                weight *= settings.decay;
            }
        }
        let class = self.of_class.get(&limit_class(kin.limit)).filter(|history| history.newest.len() >= FEW);
        let class = &class.unwrap_or(&self.all).newest;
        let sample_count = class.len().min(TAKEN_OF_CLASS);
        values.extend((0..sample_count).map(|at| {
            let ended_run = class[at * class.len() / sample_count];
            RunValue { run: scale_run(ended_run, kin.limit), level: 3, weight: 1.0, start: ended_run.start }
        }));
        values.sort_by_key(|value| value.run);
        values
    }

    /// The average of the user's last two ended jobs, no more than the limit; the limit where there
    /// are none, and where a job has run for longer.
    pub(crate) fn last_two(&self, kin: Kin, ran: i64) -> i64 {
        let last = self.of_user.get(&kin.user).map(|history| &history.newest);
        let runs: Vec<i64> = last.into_iter().flatten().take(2).map(|entry| entry.run).collect();
        let guess = match runs[..] {
            [a, b] => i64::midpoint(a, b),
            [a] => a,
            _ => kin.limit,
        };
        let guess = guess.min(kin.limit);
        if guess > ran { guess } else { kin.limit.max(ran + 1) }
    }

    /// Returns the average run time of the last two thousand jobs, in seconds; `None` before the
    /// first has ended.
    pub(crate) fn average_run(&self) -> Option<i64> {
        let newest = &self.all.newest;
        let sum: i128 = newest.iter().map(|entry| i128::from(entry.run)).sum();
        let average = sum.checked_div(newest.len() as i128)?;
        i64::try_from(average).ok()
    }

    /// The longest of the user's last jobs, so many at most, with how many there are.
    pub(crate) fn longest_of(&self, user: i32, last: usize) -> Option<(i64, usize)> {
        let newest = &self.of_user.get(&user)?.newest;
        let longest = newest.iter().take(last).map(|entry| entry.run).max()?;
        Some((longest, newest.len().min(last)))
    }
}

fn add_run(history: &mut RunHistory, entry: EndedRun, stamp: u64, most: usize) {
    history.stamp = stamp;
    history.newest.push_front(entry);
    history.newest.truncate(most);
}

/// Half powers of two.
fn limit_class(limit: i64) -> i32 {
    libm::round(2.0 * libm::log2(limit.max(1) as f64)) as i32
}

/// The run time of an ended job as if its limit had been this one.
fn scale_run(entry: EndedRun, limit: i64) -> i64 {
    if entry.limit == limit || entry.limit <= 0 {
        return entry.run;
    }
    let half = entry.limit / 2;
    if let Some(sum) = entry.run.checked_mul(limit).and_then(|product| product.checked_add(half)) {
        return sum / entry.limit;
    }
    let scaled_run = (i128::from(entry.run) * i128::from(limit) + i128::from(half)) / i128::from(entry.limit);
    i64::try_from(scaled_run).unwrap_or(i64::MAX / 4)
}

/// Room for one estimate, used again and again.
#[derive(Clone, Debug, Default)]
struct Desk {
    masses: Vec<(i64, f64)>,
    escapes: Vec<Escape>,
    items: Vec<LevelItem>,
    at_risk: Vec<f64>,
    running: Vec<(i64, i64)>,
    /// The decay to the power of each place.
    powers: Vec<f64>,
}

/// A table as seen by a job that has run for some time: the values that are longer.
#[derive(Clone, Copy)]
struct LongerRuns<'a> {
    values: &'a [RunValue],
    /// Places of each level among the values of the table, from the first of these on.
    of_level: [&'a [u16]; LEVELS],
    /// Place of the first value in the table.
    from: usize,
    kin: Kin,
    ran: i64,
}

impl<'a> LongerRuns<'a> {
    fn from_table(table: &'a RunTable, kin: Kin, ran: i64) -> LongerRuns<'a> {
        let from = table.values.partition_point(|value| value.run <= ran);
        let longer = |places: &'a Vec<u16>| &places[places.partition_point(|&at| usize::from(at) < from)..];
        LongerRuns { values: &table.values[from..], of_level: table.of_level.each_ref().map(longer), from, kin, ran }
    }

    /// Values of a level with their places among all, ascending.
    fn level_values(&self, level: usize) -> impl Iterator<Item = (usize, &'a RunValue)> {
        let (from, values) = (self.from, self.values);
        self.of_level[level].iter().map(move |&at| (usize::from(at) - from, &values[usize::from(at) - from]))
    }

    /// The shortest value of a level; what the job has run where there is none.
    fn shortest_value(&self, level: usize) -> i64 {
        self.level_values(level).next().map_or(self.ran, |(_, value)| value.run.max(self.ran))
    }

    /// Returns whether a job that runs is one of the level.
    fn is_like(&self, level: usize, kin: Kin) -> bool {
        level == 2 || kin.limit == self.kin.limit && (level == 1 || kin.procs == self.kin.procs)
    }

    /// Returns whether a level has anything to tell: those of the user that have not ended tell in
    /// the widest of the user's levels if nowhere else.
    fn has_evidence(&self, level: usize) -> bool {
        level == 2 || !self.of_level[level].is_empty()
    }

    /// Returns whether any job that runs tells anything: most jobs have no such sibling, which is
    /// found out without any estimate.
    fn is_told_by(&self, siblings: &[Sibling]) -> bool {
        if !siblings.iter().any(|sibling| sibling.ran > self.ran) {
            return false;
        }
        (0..LEVELS - 1).filter(|&level| self.has_evidence(level)).any(|level| {
            let shortest = self.shortest_value(level);
            siblings.iter().any(|sibling| self.is_like(level, sibling.kin) && sibling.as_if(self.kin.limit) > shortest)
        })
    }

    /// Collects the values as ascending values with sums of probabilities.
    fn collect_sums(&self, settings: &ForecasterSettings, into: &mut Vec<(i64, f64)>) {
        let mut weights = [0.0; LEVELS];
        for value in self.values {
            weights[usize::from(value.level)] += value.weight;
        }
        let (mut remaining_mass, mut factors) = (1.0, [0.0; LEVELS]);
        for level in 0..LEVELS - 1 {
            let share = remaining_mass * weights[level] / (weights[level] + settings.trust[level]);
            remaining_mass -= share;
            factors[level] = if weights[level] > 0.0 { share / weights[level] } else { 0.0 };
        }
        factors[LEVELS - 1] = if weights[LEVELS - 1] > 0.0 { remaining_mass / weights[LEVELS - 1] } else { 0.0 };
        let mut sum = 0.0;
        into.extend(self.values.iter().map(|value| {
            sum += value.weight * factors[usize::from(value.level)];
            (value.run, sum)
        }));
    }

    /// Sums where jobs of the user still run: each level is a Kaplan-Meier estimate over the
    /// jobs that have started, the newest start first, of which some are known to be longer only.
    /// What is longer than all that has ended finds longer values in the user's wider levels, or
    /// has a tail of its own.
    fn sums_with(
        &self,
        siblings: &[Sibling],
        settings: &ForecasterSettings,
        desk: &mut Desk,
        into: &mut Vec<(i64, f64)>,
    ) {
        desk.masses.clear();
        desk.masses.extend(self.values.iter().map(|value| (value.run, 0.0)));
        desk.escapes.clear();
        let (mut remaining_mass, mut user_is_known) = (1.0, false);
        for level in (0..LEVELS).filter(|&level| self.has_evidence(level)) {
            user_is_known |= level < LEVELS - 1 && !self.of_level[level].is_empty();
            desk.running.clear();
            if level < LEVELS - 1 {
                let shortest = self.shortest_value(level);
                let alike = siblings.iter().filter(|sibling| self.is_like(level, sibling.kin));
                let long = alike.map(|sibling| (sibling.start, sibling.as_if(self.kin.limit)));
                // One that has run for less than any that has ended tells nothing.
                desk.running.extend(long.filter(|&(_, ran)| ran > shortest));
            }
            desk.take_level(self, level, settings);
            let whole: f64 = desk.items.iter().map(|item| item.weight).sum();
            if whole <= 0.0 {
                continue;
            }
            let trust = settings.trust.get(level).copied();
            let share = remaining_mass * whole / (whole + trust.unwrap_or(0.0));
            remaining_mass -= share;
            desk.estimate_masses(share);
            // Where the user's own habits were outlived, those of all others tell little.
            if trust.is_some() || !user_is_known {
                desk.spread_escapes(trust.unwrap_or(0.0));
            }
        }
        for escape in &desk.escapes {
            escape.spread_to_limit(self.kin.limit, &mut desk.masses);
        }
        if !desk.escapes.is_empty() {
            desk.masses.sort_by_key(|mass| mass.0);
        }
        let mut sum = 0.0;
        into.extend(desk.masses.iter().filter(|mass| mass.1 > 0.0).map(|&(run, mass)| {
            sum += mass;
            (run, sum)
        }));
    }
}

/// A mass beyond a time that a sibling has run already.
#[derive(Clone, Copy, Debug)]
struct Escape {
    ran: i64,
    mass: f64,
}

/// A job of a level: what it took and its place among the values, or how long it has run.
#[derive(Clone, Copy, Debug)]
struct LevelItem {
    value: i64,
    at: Option<usize>,
    weight: f64,
}

impl Desk {
    /// Takes the jobs of a level, those that have ended and those that run, in the order of their
    /// times. Each weighs by its place in the order of the starts.
    fn take_level(&mut self, longer: &LongerRuns<'_>, level: usize, settings: &ForecasterSettings) {
        let Desk { items, running, powers, .. } = self;
        let most = running.len() + longer.of_level[level].len();
        if powers.is_empty() {
            powers.push(1.0);
        }
        while powers.len() <= most {
            powers.push(powers[powers.len() - 1] * settings.decay);
        }
        items.clear();
        items.extend(longer.level_values(level).map(|(at, value)| {
            // The newest start comes first.
            let newer = running.partition_point(|running| running.0 > value.start);
            LevelItem { value: value.run, at: Some(at), weight: value.weight * powers[newer] }
        }));
        if running.is_empty() {
            return;
        }
        for (place, &(start, ran)) in running.iter().enumerate() {
            let newer = longer.level_values(level).filter(|(_, value)| value.start > start).count() + place;
            items.push(LevelItem { value: ran, at: None, weight: powers[newer] });
        }
        items.sort_by_key(|item| (item.value, item.at.is_none()));
    }

    /// Shares a mass among the values of a level by Kaplan-Meier; the rest escapes.
    fn estimate_masses(&mut self, share: f64) {
        let Desk { items, at_risk, masses, escapes, .. } = self;
        // Weights of the rest, from the end on: differences of sums would lose the small ones.
        at_risk.clear();
        at_risk.extend(items.iter().map(|item| item.weight));
        for at in (0..at_risk.len().saturating_sub(1)).rev() {
            at_risk[at] += at_risk[at + 1];
        }
        let mut remaining_mass = share;
        let mut last = 0;
        for (place, item) in items.iter().enumerate() {
            if let Some(at) = item.at {
                let mass = remaining_mass * (item.weight / at_risk[place]).min(1.0);
                masses[at].1 += mass;
                remaining_mass -= mass;
                last = place + 1;
            }
        }
        let rest = items.get(last..).unwrap_or_default();
        if let Some(&total) = at_risk.get(last).filter(|_| remaining_mass > 0.0) {
            escapes
                .extend(rest.iter().map(|item| Escape { ran: item.value, mass: remaining_mass * item.weight / total }));
        }
    }

    /// Gives what has escaped from narrower levels to longer values of this one, by their weights.
    fn spread_escapes(&mut self, trust: f64) {
        let Desk { items, masses, escapes, .. } = self;
        for escape in escapes.iter_mut() {
            let longer = &items[items.partition_point(|item| item.value <= escape.ran)..];
            let ended_values = || longer.iter().filter_map(|item| Some((item.at?, item.weight)));
            let weight: f64 = ended_values().map(|item| item.1).sum();
            if weight <= 0.0 {
                continue;
            }
            let share = escape.mass * weight / (weight + trust);
            ended_values().for_each(|(at, own)| masses[at].1 += share * own / weight);
            escape.mass -= share;
        }
        escapes.retain(|escape| escape.mass > 1e-9);
    }
}

impl Escape {
    /// Nothing that has ended took so long: every time up to the limit is as likely.
    fn spread_to_limit(&self, limit: i64, masses: &mut Vec<(i64, f64)>) {
        let to = if self.ran < limit { limit } else { self.ran + self.ran / 2 + 60 };
        for part in 0..PARTS_BEYOND {
            let level = (f64::from(part) + 0.5) / f64::from(PARTS_BEYOND);
            let run = self.ran + ((to - self.ran) as f64 * level).ceil() as i64;
            let run = run.clamp(self.ran + 1, to.max(self.ran + 1));
            masses.push((run, self.mass / f64::from(PARTS_BEYOND)));
        }
    }
}

impl Sibling {
    /// Its run time so far, as if its limit had been this one.
    fn as_if(&self, limit: i64) -> i64 {
        scale_run(EndedRun { limit: self.kin.limit, run: self.ran, start: self.start }, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIN: Kin = Kin { user: 1, limit: 100, procs: 4 };

    fn of(runs: &Runs, kin: Kin, ran: i64) -> RunTime {
        let mut run = RunTime::default();
        runs.fill_distribution(kin, ran, &[], &ForecasterSettings::default(), &mut Tables::default(), &mut run);
        run
    }

    #[test]
    fn without_history_every_time_up_to_the_limit_is_as_likely() {
        let runs = Runs::default();
        let run = of(&runs, KIN, -1);
        assert_eq!([0.001, 0.25, 0.5, 0.999].map(|level| run.run_at(level)), [1, 25, 50, 100]);
        assert!((run.probability_beyond(75) - 0.25).abs() < 1e-12);
        let run = of(&runs, KIN, 60);
        assert_eq!([0.001, 0.5, 0.999].map(|level| run.run_at(level)), [61, 80, 100]);
        // Overdue: half as long again, and a minute.
        let run = of(&runs, KIN, 100);
        assert_eq!([0.001, 0.5, 0.999].map(|level| run.run_at(level)), [101, 155, 210]);
    }

    #[test]
    fn levels_are_found_as_by_a_search() {
        let (mut runs, settings) = (Runs::default(), ForecasterSettings::default());
        for at in 0..90 {
            let kin = Kin { user: at % 3, limit: [100, 1000, 5000][at as usize % 3], procs: 4 };
            runs.learn_run(kin, 0, i64::from(at * at % 97 * 10), &settings);
        }
        for ran in [-1, 0, 50, 400, 900] {
            let run = of(&runs, KIN, ran);
            let last = run.values.last().expect("some").1;
            for step in 1..2_000 {
                let level = f64::from(step) / 2_000.0;
                let place = run.values.partition_point(|value| value.1 < level * last).min(run.values.len() - 1);
                assert_eq!(run.run_at(level), run.values[place].0, "{ran} {level}");
            }
        }
    }

    #[test]
    fn levels_share_as_their_surviving_weights_say() {
        let (mut runs, settings) = (Runs::default(), ForecasterSettings::default());
        // The same job twice, newest 20; another limit of the same user; another user.
        runs.learn_run(KIN, 0, 10, &settings);
        runs.learn_run(KIN, 0, 20, &settings);
        runs.learn_run(Kin { limit: 200, ..KIN }, 0, 80, &settings);
        runs.learn_run(Kin { user: 2, ..KIN }, 0, 90, &settings);
        // Level 1 holds 20 and 10 with weights 1 and 0.85; so does level 2; level 3 holds 40 (80 of
        // 200), 20, 10 with 1, 0.85, 0.7225; level 4 all four: 90, 40, 20, 10.
        let first = 1.85 / 4.85;
        let second = (1.0 - first) * 1.85 / 4.85;
        let third = (1.0 - first - second) * 2.5725 / 4.5725;
        let fourth = 1.0 - first - second - third;
        let run = of(&runs, KIN, -1);
        assert!((run.probability_beyond(40) - fourth / 4.0).abs() < 1e-12);
        let above_20 = third / 2.5725 + fourth / 2.0;
        assert!((run.probability_beyond(20) - above_20).abs() < 1e-12, "{} {above_20}", run.probability_beyond(20));
        // Of a job that has run for 20, levels 1 and 2 are gone, level 3 has 40 alone.
        let run = of(&runs, KIN, 20);
        let third = 1.0 / 3.0;
        assert!((run.probability_beyond(40) - (1.0 - third) / 2.0).abs() < 1e-12);
        assert_eq!((run.run_at(0.001), run.run_at(0.999)), (40, 90));
        // What is learned is seen at once.
        runs.learn_run(KIN, 0, 99, &settings);
        assert_eq!(of(&runs, KIN, 90).run_at(0.5), 99);
    }

    /// Twenty short jobs of the past say 10; of ten that have started since, all run for 50 by now.
    /// Those that wait will not take 10 either.
    #[test]
    fn jobs_that_run_tell_of_those_that_wait() {
        let (mut runs, settings) = (Runs::default(), ForecasterSettings::default());
        let kin = Kin { limit: 1_000, ..KIN };
        (0..20).for_each(|start| runs.learn_run(kin, start, 10, &settings));
        let siblings: Vec<Sibling> = (0..10).map(|_| Sibling { kin, start: 100, ran: 50 }).collect();
        let (mut run, mut tables) = (RunTime::default(), Tables::default());
        // Those that have run for as long as the shortest, or less, tell nothing.
        let fresh: Vec<Sibling> = siblings.iter().map(|sibling| Sibling { ran: 10, ..*sibling }).collect();
        runs.fill_distribution(kin, -1, &fresh, &settings, &mut tables, &mut run);
        assert_eq!(run.values, of(&runs, kin, -1).values);
        runs.fill_distribution(kin, -1, &siblings, &settings, &mut tables, &mut run);
        // By hand: level 1 has ten that run, newest first, and behind them twenty that ended.
        let [newer, total] = [10, 30].map(|n| (1.0 - 0.85f64.powi(n)) / 0.15);
        let escapes = newer / total;
        let trust = total / (total + 3.0);
        assert!(
            run.probability_beyond(50) > trust * escapes && run.probability_beyond(50) < escapes,
            "{}",
            run.probability_beyond(50)
        );
        // Beyond them every time up to the limit is as likely.
        assert!(run.run_at(0.6) > 50 && run.run_at(0.6) < 525 && run.run_at(0.999) <= 1_000, "{}", run.run_at(0.6));
        // As soon as the first of them ends, the others take as long.
        runs.learn_run(kin, 100, 60, &settings);
        runs.fill_distribution(kin, -1, &siblings[1..], &settings, &mut tables, &mut run);
        assert_eq!([0.2, 0.5, 0.9].map(|level| run.run_at(level)), [60; 3]);
    }

    /// All that has ended took 10, a job of the same kind has run for 300 of 1,000: one that has
    /// run for 200 takes 650 or longer in half of the futures, as far as eight values tell.
    #[test]
    fn beyond_what_runs_every_time_up_to_the_limit_is_as_likely() {
        let (mut runs, settings) = (Runs::default(), ForecasterSettings::default());
        let kin = Kin { limit: 1_000, ..KIN };
        (0..20).for_each(|start| runs.learn_run(kin, start, 10, &settings));
        let (mut run, mut tables) = (RunTime::default(), Tables::default());
        let mut quantiles = |ran: i64, sibling: i64| {
            let siblings = [Sibling { kin, start: 100, ran: sibling }];
            runs.fill_distribution(kin, ran, &siblings, &settings, &mut tables, &mut run);
            [0.01, 0.25, 0.5, 0.75, 0.99].map(|level| run.run_at(level))
        };
        // The values lie at 300 + 700 (i + 1/2) / 8.
        for (quantile, expected) in quantiles(200, 300).into_iter().zip([344, 475, 650, 825, 956]) {
            assert!((quantile - expected).abs() <= 44, "{quantile} {expected}");
        }
        // Overdue: half as long again, and a minute.
        for (quantile, expected) in quantiles(1_100, 1_200).into_iter().zip([1_241, 1_365, 1_530, 1_695, 1_819]) {
            assert!((quantile - expected).abs() <= 42, "{quantile} {expected}");
        }
    }

    #[test]
    fn jobs_of_others_and_of_other_kinds_tell_their_levels_alone() {
        let (mut runs, settings) = (Runs::default(), ForecasterSettings::default());
        (0..20).for_each(|start| runs.learn_run(KIN, start, 10, &settings));
        let before = of(&runs, KIN, -1).probability_beyond(30);
        // Another limit of the same user: level 3 only, as if its limit had been 100.
        let second_kin = Kin { limit: 200, ..KIN };
        let siblings: Vec<Sibling> = (0..10).map(|_| Sibling { kin: second_kin, start: 100, ran: 100 }).collect();
        let (mut run, mut tables) = (RunTime::default(), Tables::default());
        runs.fill_distribution(KIN, -1, &siblings, &settings, &mut tables, &mut run);
        let weight = (1.0 - 0.85f64.powi(20)) / 0.15;
        let narrower = 1.0 - (3.0 / (weight + 3.0)).powi(2);
        assert_eq!(before, 0.0);
        assert!(
            run.probability_beyond(30) > 0.0 && run.probability_beyond(30) < 1.0 - narrower,
            "{} {narrower}",
            run.probability_beyond(30)
        );
    }

    #[test]
    fn the_last_two_plan_and_the_limit_stands_in() {
        let (mut runs, settings) = (Runs::default(), ForecasterSettings::default());
        assert_eq!(runs.last_two(KIN, -1), 100);
        runs.learn_run(KIN, 0, 10, &settings);
        assert_eq!(runs.last_two(KIN, -1), 10);
        runs.learn_run(KIN, 0, 30, &settings);
        assert_eq!([-1, 19, 20, 100].map(|ran| runs.last_two(KIN, ran)), [20, 20, 100, 101]);
    }
}
