//! A line of `--columns` for a table: meanings by name, tested on values. Nothing is taken where
//! values contradict it, and what two columns say equally well is a question.

use super::sample::TableSample;
use super::values::{ColumnProfile, share_of, subtract_columns};
use super::words::{ColumnRole, LengthUnit, find_roles, unit_of_name, wait_strength};
use crate::readers::sacct::{SacctColumn, ValueChange, parse_column_name};
use std::collections::BTreeMap;

/// Moment that stands for the beginning of a table whose times count from an unknown one:
/// 2020-01-01.
pub(crate) const ORIGIN: u32 = 1_577_836_800;

/// Meaning that was found for a column.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ColumnChoice {
    pub(crate) role: ColumnRole,
    /// Its name in `--columns`.
    pub(crate) name: String,
    /// Unit, of a length of time that is a number.
    pub(crate) unit: Option<LengthUnit>,
    /// True where the column has the name of sacct itself.
    pub(crate) own: bool,
}

/// A line of `--columns`, and what remains to be asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proposal {
    pub(crate) choices: BTreeMap<usize, ColumnChoice>,
    /// Columns that keep their names, which are sacct's.
    kept: Vec<usize>,
    pub(crate) questions: Vec<String>,
    columns: usize,
    names: Vec<String>,
}

impl Proposal {
    pub(crate) fn render_line(&self) -> String {
        let name = |at: usize| match self.choices.get(&at) {
            Some(choice) => choice.name.clone(),
            None if self.kept.contains(&at) => self.names[at].clone(),
            None => "-".to_string(),
        };
        (0..self.columns).map(name).collect::<Vec<_>>().join(",")
    }

    pub(crate) fn place_of(&self, role: ColumnRole) -> Option<usize> {
        self.choices.iter().find(|(_, choice)| choice.role == role).map(|(at, _)| *at)
    }

    pub(crate) fn has_any(&self, roles: &[ColumnRole]) -> bool {
        roles.iter().any(|role| self.place_of(*role).is_some())
    }

    /// Facts that a table of jobs has and this one lacks; empty where nothing is missing.
    pub(crate) fn missing_facts(&self) -> Vec<&'static str> {
        use ColumnRole::{
            Cpus, CpusAsked, Elapsed, End, Gpus, GpusAsked, NodeList, Nodes, NodesAsked, Start, Submit, Wait,
        };
        let own = |targets: &[SacctColumn]| {
            self.kept
                .iter()
                .any(|at| parse_column_name(&self.names[*at]).0.is_some_and(|column| targets.contains(&column)))
        };
        let mut lacks = Vec::new();
        let is_derivable =
            self.has_any(&[Submit]) && (self.has_any(&[Wait]) || self.has_any(&[End]) && self.has_any(&[Elapsed]));
        if !self.has_any(&[Start]) && !is_derivable {
            lacks.push("when jobs started");
        }
        if !self.has_any(&[End, Elapsed]) && !own(&[SacctColumn::Elapsed]) {
            lacks.push("when they ended or how long they ran");
        }
        let tres = own(&[SacctColumn::AllocTres, SacctColumn::ReqTres, SacctColumn::Nodes]);
        if !self.has_any(&[Cpus, CpusAsked, Nodes, NodesAsked, NodeList, Gpus, GpusAsked]) && !tres {
            lacks.push("the number of processors or nodes they had");
        }
        lacks
    }
}

pub(crate) fn propose_columns(sample: &TableSample) -> Proposal {
    let columns = sample.column_count();
    let profiles: Vec<ColumnProfile> =
        (0..columns).map(|at| ColumnProfile::from_rows(&sample.rows, at, &sample.form)).collect();
    let mut making = ProposalMaker { sample, profiles: &profiles, found: Proposal { columns, ..Proposal::default() } };
    making.found.names.clone_from(&sample.names);
    making.find_moments();
    making.find_lengths();
    making.find_wait();
    making.find_ids();
    making.find_sizes();
    making.find_names();
    making.keep_sacct_names();
    making.found
}

struct ProposalMaker<'a> {
    sample: &'a TableSample,
    profiles: &'a [ColumnProfile],
    found: Proposal,
}

impl ProposalMaker<'_> {
    fn is_free(&self, at: usize) -> bool {
        !self.found.choices.contains_key(&at)
    }

    /// The strength with which a column's name says a role: 3 for the name of sacct itself.
    fn name_strength(&self, at: usize, role: ColumnRole) -> u32 {
        let Some(name) = self.sample.names.get(at) else { return 0 };
        // A count to some and a list to others, which its reader tells apart.
        if matches!(parse_column_name(name), (Some(SacctColumn::Nodes), ValueChange::Keep)) {
            return 0;
        }
        if own_role(name) == Some(role) {
            return 3;
        }
        if role == ColumnRole::Wait {
            return wait_strength(name);
        }
        find_roles(name).iter().find(|(candidate, _)| *candidate == role).map_or(0, |(_, strength)| *strength)
    }

    /// Free columns whose names say a role, the strongest first.
    fn columns_named(&self, role: ColumnRole) -> Vec<(usize, u32)> {
        let candidates =
            (0..self.profiles.len()).filter(|&at| self.is_free(at)).map(|at| (at, self.name_strength(at, role)));
        let mut matches: Vec<(usize, u32)> = candidates.filter(|(_, strength)| *strength > 0).collect();
        matches.sort_by_key(|(at, strength)| (std::cmp::Reverse(*strength), *at));
        matches
    }

    fn assign_role(&mut self, at: usize, role: ColumnRole, unit: Option<LengthUnit>, name: Option<String>) {
        let own = self.sample.names.get(at).filter(|own| own_role(own) == Some(role) && is_plain(own));
        let keeps_name =
            own.is_some() && name.is_none() && unit.is_none_or(|unit| own_unit(&self.sample.names[at]) == unit);
        let name = match own.filter(|_| keeps_name) {
            Some(own) => own.clone(),
            None => name.unwrap_or_else(|| match (role, unit) {
                (ColumnRole::Limit, Some(LengthUnit::Minutes)) => "TimelimitRaw".to_string(),
                (role, unit) => format!("{}{}", role.name(), unit.map_or("", LengthUnit::change_suffix)),
            }),
        };
        self.found.choices.insert(at, ColumnChoice { role, name, unit, own: keeps_name });
    }

    /// Asks which of two columns it is, where both say it equally and differ.
    fn ask_between(&mut self, role: ColumnRole, fits: &[(usize, u32)]) {
        if let [(first, first_strength), (second, second_strength), ..] = fits
            && first_strength == second_strength
            && self.values_at(*first) != self.values_at(*second)
        {
            let (first, second) = (self.sample.shown_name(*first), self.sample.shown_name(*second));
            self.found.questions.push(format!("is {} {first} or {second}?", role.question_words()));
        }
    }

    fn values_at(&self, at: usize) -> Vec<&str> {
        self.sample.rows.iter().map(|row| row.get(at).map_or("", String::as_str)).collect()
    }

    fn moments_of(&self, role: ColumnRole) -> Option<&[Option<f64>]> {
        let at = self.found.place_of(role)?;
        let profile = &self.profiles[at];
        Some(if profile.is_moment() { &profile.moments } else { &profile.numbers })
    }

    fn find_moments(&mut self) {
        if self.sample.names.is_empty() {
            self.moments_by_value();
            return;
        }
        let any_date = self.profiles.iter().any(ColumnProfile::is_moment);
        for role in [ColumnRole::Start, ColumnRole::End, ColumnRole::Submit, ColumnRole::Eligible] {
            let empty = |at: usize| self.sample.rows.is_empty() || self.profiles[at].known == 0;
            // A table may count its seconds from its own beginning.
            let counts = |at: usize, strength: u32| {
                !any_date
                    && strength > 1
                    && self.profiles[at].is_number()
                    && self.profiles[at].numbers.iter().flatten().all(|value| (0.0..700_000_000.0).contains(value))
            };
            let fits: Vec<(usize, u32)> = self
                .columns_named(role)
                .into_iter()
                .filter(|&(at, strength)| {
                    self.profiles[at].is_moment() || counts(at, strength) || (empty(at) && strength > 1)
                })
                .filter(|&(at, _)| self.in_order(role, at))
                .collect();
            let Some(&(at, _)) = fits.first() else { continue };
            self.ask_between(role, &fits);
            let from_beginning = !self.profiles[at].is_moment() && self.profiles[at].known > 0;
            self.assign_role(at, role, None, from_beginning.then(|| format!("{}+{ORIGIN}", role.name())));
        }
    }

    /// Returns whether a column's moments stand to those that were chosen as they should.
    fn in_order(&self, role: ColumnRole, at: usize) -> bool {
        let profile = &self.profiles[at];
        let own = if profile.is_moment() { &profile.moments } else { &profile.numbers };
        let rank = |role: ColumnRole| match role {
            ColumnRole::Submit => 0,
            ColumnRole::Eligible => 1,
            ColumnRole::Start => 2,
            _ => 3,
        };
        let fits = |rival: ColumnRole| {
            let Some(values) = self.moments_of(rival) else { return true };
            // 0 stands for a moment that is not known.
            let known_moments = |moments: &[Option<f64>]| -> Vec<Option<f64>> {
                moments.iter().map(|moment| moment.filter(|moment| *moment != 0.0)).collect()
            };
            let (own, values) = (known_moments(own), known_moments(values));
            let (early, late) = if rank(role) < rank(rival) { (&own, &values) } else { (&values, &own) };
            share_of(early, late, |a, b| a <= b + 1.0).is_none_or(|share| share >= 0.9)
        };
        [ColumnRole::Submit, ColumnRole::Start, ColumnRole::End].into_iter().filter(|rival| *rival != role).all(fits)
    }

    /// The moments of a table without names, by their order in nearly all rows.
    fn moments_by_value(&mut self) {
        let mut places: Vec<usize> = (0..self.profiles.len()).filter(|&at| self.profiles[at].is_moment()).collect();
        let before = |a: usize, b: usize| {
            let of = |at: usize| self.profiles[at].moments.as_slice();
            let earlier = share_of(of(a), of(b), |a, b| a < b).unwrap_or(0.0);
            let later = share_of(of(a), of(b), |a, b| a > b).unwrap_or(0.0);
            later.total_cmp(&earlier).then(a.cmp(&b))
        };
        places.sort_by(|a, b| before(*a, *b));
        let moment_roles: &[ColumnRole] = match places.len() {
            0 | 1 => return,
            2 => &[ColumnRole::Start, ColumnRole::End],
            3 => &[ColumnRole::Submit, ColumnRole::Start, ColumnRole::End],
            4 => &[ColumnRole::Submit, ColumnRole::Eligible, ColumnRole::Start, ColumnRole::End],
            // The first is when the job came, the last two when it ran.
            _ => &[ColumnRole::Submit],
        };
        let mut pairs: Vec<(usize, ColumnRole)> = places.iter().copied().zip(moment_roles.iter().copied()).collect();
        if let [.., start, end] = places[..]
            && places.len() > 4
        {
            pairs.extend([(start, ColumnRole::Start), (end, ColumnRole::End)]);
        }
        for (at, role) in pairs {
            if self.in_order(role, at) {
                self.assign_role(at, role, None, None);
            }
        }
    }

    /// End less start, row by row.
    fn run_times(&self) -> Vec<Option<f64>> {
        match (self.moments_of(ColumnRole::Start), self.moments_of(ColumnRole::End)) {
            (Some(start), Some(end)) => {
                // In times since 1970 a 0 is no time; in those of a log that begins at 0 it is a
                // start.
                let is_dated = start.iter().flatten().any(|value| *value > 1e8);
                let positive_value = |value: &Option<f64>| value.filter(|value| *value > 0.0);
                let start_value =
                    |value: &Option<f64>| value.filter(|value| *value > 0.0 || *value == 0.0 && !is_dated);
                let (start, end): (Vec<_>, Vec<_>) =
                    (start.iter().map(start_value).collect(), end.iter().map(positive_value).collect());
                subtract_columns(&end, &start)
            }
            _ => vec![None; self.sample.rows.len()],
        }
    }

    /// The unit that a column's name says, or the line of units behind the names.
    fn unit_said(&self, at: usize) -> Option<LengthUnit> {
        let below = || LengthUnit::parse(self.sample.units.get(at)?.to_lowercase().trim_matches(['[', ']', '(', ')']));
        self.sample.names.get(at).and_then(|name| unit_of_name(name)).or_else(below)
    }

    /// Units that a column of lengths may have: what its name says, else all.
    fn possible_units(&self, at: usize) -> Vec<LengthUnit> {
        if self.profiles[at].is_span() {
            return vec![LengthUnit::Seconds];
        }
        match self.unit_said(at) {
            Some(unit) => vec![unit],
            None => LengthUnit::ALL.to_vec(),
        }
    }

    fn find_lengths(&mut self) {
        let ran = self.run_times();
        let is_length = |at: usize| self.profiles[at].is_number() || self.profiles[at].is_span();
        // What is as long as the job in nearly every row is its run time, whatever its name.
        let exact = |at: usize| {
            let near = |unit: LengthUnit| {
                let whole = unit.seconds_per_unit();
                share_of(&self.profiles[at].lengths_in(whole), &ran, |a, b| {
                    (a - b).abs() <= 2.0 || (a - b).abs() < whole
                })
            };
            // Rounded to hours, few values are near any run: those of a limit as well.
            let proves = |unit: LengthUnit| {
                unit.seconds_per_unit() <= 1.0
                    || self.profiles[at].distinct > 3
                    || (self.name_strength(at, ColumnRole::Elapsed) > 1
                        && self.name_strength(at, ColumnRole::Limit) < 2)
            };
            self.possible_units(at)
                .into_iter()
                .find(|&unit| near(unit).is_some_and(|share| share >= 0.9) && proves(unit))
        };
        let lacks_names = self.sample.names.is_empty();
        let lengthy = |at: &usize| {
            lacks_names
                || self.name_strength(*at, ColumnRole::Elapsed) > 0
                || self.name_strength(*at, ColumnRole::Limit) > 0
        };
        let some = ran.iter().flatten().any(|ran| *ran > 2.0);
        let mut runs: Vec<(usize, LengthUnit)> = Vec::new();
        if some {
            let candidates = (0..self.profiles.len()).filter(|&at| self.is_free(at) && is_length(at)).filter(lengthy);
            runs = candidates.filter_map(|at| Some((at, exact(at)?))).collect();
            runs.sort_by_key(|(at, _)| std::cmp::Reverse(self.name_strength(*at, ColumnRole::Elapsed)));
        }
        let has_run_times = ran.iter().any(Option::is_some);
        let mut run_column = runs.first().copied();
        if run_column.is_none() && !has_run_times {
            // Without an end the name has to do, with its unit.
            // `run` beside a wait is a run time.
            let waits = !self.columns_named(ColumnRole::Wait).is_empty();
            let least = if waits { 1 } else { 2 };
            let candidates = self
                .columns_named(ColumnRole::Elapsed)
                .into_iter()
                .filter(|&(at, strength)| strength >= least && is_length(at));
            run_column = candidates.map(|(at, _)| (at, self.possible_units(at)[0])).next();
        }
        // Where the end is known, a run time in minutes says less.
        if let Some((at, unit)) = run_column.filter(|(_, unit)| !has_run_times || unit.seconds_per_unit() <= 1.0) {
            self.assign_role(at, ColumnRole::Elapsed, self.profiles[at].is_number().then_some(unit), None);
        }
        let ran = if has_run_times {
            ran
        } else {
            run_column.map_or(ran, |(at, unit)| self.profiles[at].lengths_in(unit.seconds_per_unit()))
        };
        self.find_limit(&ran, &runs.iter().map(|(at, _)| *at).collect::<Vec<_>>());
    }

    /// The wait, where nothing else says the start. Where it would say the submission it is asked.
    fn find_wait(&mut self) {
        use ColumnRole::{Elapsed, End, Start, Submit, Wait};
        let has_end = self.found.has_any(&[End]) && self.found.has_any(&[Elapsed]);
        if self.found.has_any(&[Start]) == self.found.has_any(&[Submit]) || (self.found.has_any(&[Submit]) && has_end) {
            return;
        }
        let moment_values = |role: ColumnRole| self.moments_of(role).map_or(Vec::new(), <[Option<f64>]>::to_vec);
        let (submits, ends) = (moment_values(Submit), moment_values(End));
        let is_length = |at: usize| self.profiles[at].is_number() || self.profiles[at].is_span();
        let fit = |at: usize, unit: LengthUnit| {
            let waits = self.profiles[at].lengths_in(unit.seconds_per_unit());
            let durations = subtract_columns(&ends, &submits);
            waits.iter().flatten().all(|wait| *wait >= 0.0)
                && share_of(&waits, &durations, |wait, duration| wait <= duration + 1.0)
                    .is_none_or(|share| share >= 0.9)
        };
        // Without a unit in its name, seconds.
        let unit_of = |at: usize| {
            let unit_by_name = self.unit_said(at).unwrap_or(LengthUnit::Seconds);
            Some(if self.profiles[at].is_span() { LengthUnit::Seconds } else { unit_by_name })
                .filter(|&unit| fit(at, unit))
        };
        let mut wait_columns = self.columns_named(Wait);
        wait_columns.retain(|&(at, _)| is_length(at) && unit_of(at).is_some());
        let Some((&(at, _), unit)) = wait_columns.first().and_then(|first| Some((first, unit_of(first.0)?))) else {
            return;
        };
        if self.found.has_any(&[Start]) {
            let question = format!(
                "is {} the wait before the start in {} (WaitRaw)?",
                self.sample.shown_name(at),
                unit.unit_word()
            );
            self.found.questions.push(question);
            return;
        }
        self.ask_between(Wait, &wait_columns);
        self.assign_role(at, Wait, self.profiles[at].is_number().then_some(unit), None);
    }

    /// The limit: no shorter than the run in nearly all rows, and not the run itself.
    fn find_limit(&mut self, ran: &[Option<f64>], runs: &[usize]) {
        let is_length = |at: usize| self.profiles[at].is_number() || self.profiles[at].is_span();
        // A job that ran no time keeps any limit.
        let ran: Vec<Option<f64>> = ran.iter().map(|ran| ran.filter(|ran| *ran > 0.0)).collect();
        let covers = |at: usize, unit: LengthUnit| {
            let limits: Vec<Option<f64>> = self.profiles[at]
                .lengths_in(unit.seconds_per_unit())
                .into_iter()
                .map(|value| value.filter(|v| *v > 0.0))
                .collect();
            share_of(&ran, &limits, |ran, limit| ran <= limit * 1.05 + 120.0).is_none_or(|share| share >= 0.9)
        };
        let bare = self.sample.rows.is_empty();
        let fits: Vec<(usize, u32)> = match self.sample.names.is_empty() {
            true => (0..self.profiles.len())
                .filter(|&at| self.is_free(at) && self.profiles[at].is_span() && !runs.contains(&at))
                .filter(|&at| covers(at, LengthUnit::Seconds))
                .filter(|&at| self.profiles[at].spans.iter().flatten().any(|length| *length > 0.0))
                .map(|at| (at, 2))
                .collect(),
            false => self
                .columns_named(ColumnRole::Limit)
                .into_iter()
                .filter(|&(at, _)| (is_length(at) || bare || self.profiles[at].known == 0) && !runs.contains(&at))
                .filter(|&(at, strength)| strength > 1 || self.name_strength(at, ColumnRole::Elapsed) < 2)
                .filter(|&(at, _)| self.possible_units(at).into_iter().any(|unit| covers(at, unit)))
                .collect(),
        };
        let Some(&(at, _)) = fits.first() else { return };
        self.ask_between(ColumnRole::Limit, &fits);
        if self.sample.names.is_empty() || self.profiles[at].is_span() {
            let own = self.sample.names.get(at).is_some_and(|name| own_role(name) == Some(ColumnRole::Limit));
            self.assign_role(at, ColumnRole::Limit, None, (!own).then(|| "Timelimit".to_string()));
            return;
        }
        let own_word = self.unit_said(at);
        let own = self.sample.names.get(at).filter(|name| own_role(name) == Some(ColumnRole::Limit));
        let possible: Vec<LengthUnit> = self.possible_units(at).into_iter().filter(|&unit| covers(at, unit)).collect();
        let unit = match (own_word, own.map(|name| own_unit(name)), possible.as_slice()) {
            (Some(unit), ..) => unit,
            (None, Some(unit), [first, ..]) if possible.contains(&unit) && *first != LengthUnit::Seconds => unit,
            // It never happens that all jobs run only a twentieth of their limit: seconds, if that
            // is possible.
            (None, _, [first, ..]) => *first,
            _ => LengthUnit::Seconds,
        };
        self.assign_role(at, ColumnRole::Limit, Some(unit), None);
    }

    /// The job's number: no two rows have the same, or only with a task beside it.
    fn find_ids(&mut self) {
        let rows = self.sample.rows.len();
        let unique = |at: usize| self.profiles[at].known == rows && self.profiles[at].distinct * 100 >= rows * 95;
        let candidates: Vec<(usize, u32)> = match self.sample.names.is_empty() {
            true => (0..self.profiles.len())
                .filter(|&at| self.is_free(at) && self.profiles[at].is_count() && unique(at))
                .filter(|&at| {
                    self.values_at(at).iter().all(|text| crate::text::Id::parse_id(text.as_bytes()).is_some())
                })
                .take(1)
                .map(|at| (at, 1))
                .collect(),
            false => self.columns_named(ColumnRole::Job),
        };
        let fits: Vec<(usize, u32)> = candidates.iter().copied().filter(|(at, _)| unique(*at)).collect();
        if let Some(&(at, _)) = fits.first() {
            self.ask_between(ColumnRole::Job, &fits);
            self.give_job(at);
            return;
        }
        let tasks: Vec<usize> = self.columns_named(ColumnRole::Task).into_iter().map(|(at, _)| at).collect();
        let is_unique_pair = |job: usize, task: usize| {
            let mut pairs: Vec<(&str, &str)> = self.values_at(job).into_iter().zip(self.values_at(task)).collect();
            pairs.sort_unstable();
            pairs.dedup();
            pairs.len() * 100 >= rows * 95
        };
        for (job, _) in candidates {
            if let Some(&task) = tasks.iter().find(|&&task| task != job && is_unique_pair(job, task)) {
                self.give_job(job);
                self.assign_role(task, ColumnRole::Task, None, None);
                return;
            }
        }
        // A row for each node or hour of a job says the same of the job each time.
        let of_job = self
            .columns_named(ColumnRole::Job)
            .into_iter()
            .find(|&(at, strength)| strength > 1 && self.repeats_rows(at));
        if let Some((at, _)) = of_job {
            self.give_job(at);
        }
    }

    /// Returns whether all rows with the same number have the same start and end.
    fn repeats_rows(&self, at: usize) -> bool {
        let (Some(start), Some(end)) = (self.found.place_of(ColumnRole::Start), self.found.place_of(ColumnRole::End))
        else {
            return false;
        };
        let mut rows: Vec<[&str; 3]> =
            self.sample.rows.iter().map(|row| [at, start, end].map(|at| row[at].as_str())).collect();
        rows.sort_unstable();
        rows.dedup();
        let same = |pair: &[[&str; 3]]| pair[0][0] == pair[1][0];
        rows.len() > 1 && !rows.windows(2).any(same)
    }

    fn give_job(&mut self, at: usize) {
        use crate::text::Id;
        // `12.server` is no step where all rows have a server.
        let ids: Vec<Option<Id>> = self.values_at(at).iter().map(|text| Id::parse_id(text.as_bytes())).collect();
        let some = ids.is_empty() || ids.iter().any(|id| matches!(id, Some(Id::Job(_))));
        let all_numbered = some && ids.iter().all(Option::is_some);
        self.assign_role(at, ColumnRole::Job, None, (!all_numbered).then(|| "JobKey".to_string()));
    }

    fn find_sizes(&mut self) {
        let ran = self.run_times();
        for role in ColumnRole::ALL.into_iter().filter(|role| role.is_size()) {
            let fits: Vec<(usize, u32)> = self
                .columns_named(role)
                .into_iter()
                .filter(|&(at, strength)| self.can_count(at, role, strength, &ran))
                .collect();
            let Some(&(at, _)) = fits.first() else { continue };
            self.ask_between(role, &fits);
            self.assign_role(at, role, None, None);
        }
        if self.sample.names.is_empty() {
            let fits: Vec<usize> = (0..self.profiles.len())
                .filter(|&at| self.is_free(at) && self.can_count(at, ColumnRole::Cpus, 1, &ran))
                .filter(|&at| self.profiles[at].numbers.iter().flatten().all(|value| *value > 0.0))
                .collect();
            if let [at] = fits[..] {
                self.assign_role(at, ColumnRole::Cpus, None, None);
            }
        }
    }

    /// Returns whether a column's values may be sizes.
    fn can_count(&self, at: usize, role: ColumnRole, strength: u32, ran: &[Option<f64>]) -> bool {
        let profile = &self.profiles[at];
        if strength == 3 && self.sample.rows.is_empty() {
            return true;
        }
        if !profile.is_count() {
            return false;
        }
        // A weak sign of a size may be a use of processors: of the order of the run time.
        let use_of = share_of(&profile.numbers, ran, |a, b| b > 20.0 && a > 0.3 * b && a < 1.2 * b);
        if strength < 2 && use_of.is_some_and(|share| share > 0.5) {
            return false;
        }
        // No job has fewer processors than nodes.
        let cpu_column = match role {
            ColumnRole::Nodes => self.found.place_of(ColumnRole::Cpus),
            ColumnRole::NodesAsked => self.found.place_of(ColumnRole::CpusAsked),
            _ => None,
        };
        cpu_column.is_none_or(|cpus| {
            let fits =
                share_of(&profile.numbers, &self.profiles[cpus].numbers, |nodes, cpus| nodes <= cpus || cpus == 0.0);
            fits.is_none_or(|share| share >= 0.9)
        })
    }

    fn find_names(&mut self) {
        use ColumnRole::{Account, Cluster, Exit, Group, NodeList, Partition, Qos, State, User};
        for role in [State, NodeList, Account, Group, User, Partition, Qos, Cluster] {
            let mut fits: Vec<(usize, u32)> =
                self.columns_named(role).into_iter().filter(|&(at, _)| self.can_name(at, role)).collect();
            // A column without values says nothing where another has some.
            fits.sort_by_key(|(at, strength)| (self.profiles[*at].known == 0, std::cmp::Reverse(*strength)));
            let Some(&(at, strength)) = fits.first() else { continue };
            if strength > 1 || matches!(role, Partition | Group | NodeList) {
                self.ask_between(role, &fits);
                self.assign_role(at, role, None, None);
            }
        }
        if !self.found.has_any(&[State]) && self.found.has_any(&[ColumnRole::Wait]) {
            self.status_of_log();
        }
        if !self.found.has_any(&[State]) && !self.sample.names.is_empty() {
            let exit = self.columns_named(Exit).into_iter().find(|&(at, _)| self.profiles[at].is_count());
            if let Some((at, _)) = exit.filter(|&(at, _)| self.name_strength(at, Exit) == 2) {
                self.assign_role(at, Exit, None, None);
            }
        }
        if self.sample.names.is_empty() {
            self.words_by_value();
        }
    }

    /// The status of the Standard Workload Format, whose jobs have waits.
    fn status_of_log(&mut self) {
        let of_log = |at: usize| {
            let numbers: Vec<f64> = self.profiles[at].numbers.iter().flatten().copied().collect();
            !numbers.is_empty() && numbers.iter().all(|number| (0.0..=5.0).contains(number) && number.fract() == 0.0)
        };
        let status_column = self
            .columns_named(ColumnRole::State)
            .into_iter()
            .find(|&(at, _)| self.profiles[at].is_number() && of_log(at));
        if let Some((at, _)) = status_column {
            self.assign_role(at, ColumnRole::State, None, Some("SwfState".to_string()));
        }
    }

    /// Returns whether a column's values may be names of this kind.
    fn can_name(&self, at: usize, role: ColumnRole) -> bool {
        let profile = &self.profiles[at];
        let few = profile.distinct <= 30.max(self.sample.rows.len() / 5);
        match role {
            ColumnRole::State => profile.known == 0 || (!profile.is_number() && !profile.is_moment() && few),
            // Times that jobs waited are no places.
            ColumnRole::Partition => {
                let waits = match (self.moments_of(ColumnRole::Start), self.moments_of(ColumnRole::Submit)) {
                    (Some(start), Some(submit)) => subtract_columns(start, submit),
                    _ => Vec::new(),
                };
                let wait_share = share_of(&profile.numbers, &waits, |a, b| (a - b).abs() <= 2.0);
                let is_wait = profile.is_number() && wait_share.is_some_and(|share| share >= 0.5);
                let has_fractions = profile.numbers.iter().flatten().any(|value| value.fract() != 0.0);
                let is_time = profile.is_moment() || profile.is_span();
                few && !is_wait && !has_fractions && !is_time
            }
            // `nodes=1:ppn=4` is a request.
            ColumnRole::NodeList => {
                profile.known == 0 || (profile.is_word() && !self.values_at(at).iter().any(|text| text.contains('=')))
            }
            _ => {
                !profile.is_moment()
                    && !profile.is_span()
                    && !profile.numbers.iter().flatten().any(|v| v.fract() != 0.0)
            }
        }
    }

    /// The state and the lists of a table without names.
    fn words_by_value(&mut self) {
        let free: Vec<usize> = (0..self.profiles.len()).filter(|&at| self.is_free(at)).collect();
        let rows = self.sample.rows.len();
        let all_match =
            |at: usize, test: &dyn Fn(&str) -> bool| rows > 0 && self.values_at(at).iter().all(|text| test(text));
        let state =
            free.iter().copied().find(|&at| self.profiles[at].states * 10 >= rows * 9 && self.profiles[at].is_word());
        let tres =
            free.iter().copied().find(|&at| all_match(at, &|text| text.starts_with("cpu=") || text.contains(",cpu=")));
        let list = |text: &str| text.ends_with(']') && text.starts_with(|c: char| c.is_ascii_alphabetic());
        let nodes = free.iter().copied().find(|&at| all_match(at, &list));
        let word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_.-@".contains(c));
        let words: Vec<usize> = free
            .iter()
            .copied()
            .filter(|&at| Some(at) != state && self.profiles[at].is_word() && all_match(at, &word))
            .collect();
        if let Some(at) = state {
            self.assign_role(at, ColumnRole::State, None, None);
        }
        if let Some(at) = tres {
            self.assign_role(at, ColumnRole::Cpus, None, Some("AllocTRES".to_string()));
        }
        if let Some(at) = nodes {
            self.assign_role(at, ColumnRole::NodeList, None, None);
        }
        if let [at] = words[..] {
            self.assign_role(at, ColumnRole::User, None, None);
        }
    }

    /// Columns of sacct that no role was tried for keep their names.
    fn keep_sacct_names(&mut self) {
        let taken_columns: Vec<SacctColumn> =
            self.found.choices.values().filter_map(|choice| parse_column_name(&choice.name).0).collect();
        let mut kept_columns: Vec<SacctColumn> = Vec::new();
        for (at, name) in self.sample.names.iter().enumerate() {
            let (Some(column), ValueChange::Keep) = parse_column_name(name) else { continue };
            if self.is_free(at)
                && own_role(name).is_none()
                && is_plain(name)
                && !taken_columns.contains(&column)
                && !kept_columns.contains(&column)
            {
                kept_columns.push(column);
                self.found.kept.push(at);
            }
        }
    }
}

/// Returns whether a name can stand in a list.
fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The role that a name of sacct says.
pub(super) fn own_role(name: &str) -> Option<ColumnRole> {
    Some(match parse_column_name(name) {
        (Some(column), ValueChange::Keep) => match column {
            SacctColumn::JobId | SacctColumn::JobIdRaw => ColumnRole::Job,
            SacctColumn::Submit => ColumnRole::Submit,
            SacctColumn::Eligible => ColumnRole::Eligible,
            SacctColumn::Start => ColumnRole::Start,
            SacctColumn::End => ColumnRole::End,
            SacctColumn::Elapsed | SacctColumn::ElapsedRaw => ColumnRole::Elapsed,
            SacctColumn::WaitRaw => ColumnRole::Wait,
            SacctColumn::TimeLimit | SacctColumn::TimeLimitRaw | SacctColumn::LimitSeconds => ColumnRole::Limit,
            SacctColumn::AllocCpus => ColumnRole::Cpus,
            SacctColumn::ReqCpus => ColumnRole::CpusAsked,
            SacctColumn::AllocNodes => ColumnRole::Nodes,
            SacctColumn::ReqNodes => ColumnRole::NodesAsked,
            SacctColumn::AllocGpus => ColumnRole::Gpus,
            SacctColumn::ReqGpus => ColumnRole::GpusAsked,
            SacctColumn::User => ColumnRole::User,
            SacctColumn::Account => ColumnRole::Account,
            SacctColumn::Group => ColumnRole::Group,
            SacctColumn::Partition => ColumnRole::Partition,
            SacctColumn::Qos => ColumnRole::Qos,
            SacctColumn::Cluster => ColumnRole::Cluster,
            SacctColumn::State => ColumnRole::State,
            SacctColumn::NodeList => ColumnRole::NodeList,
            _ => return None,
        },
        _ => return None,
    })
}

/// The unit of a number in a column of sacct.
fn own_unit(name: &str) -> LengthUnit {
    match parse_column_name(name).0 {
        Some(SacctColumn::TimeLimit | SacctColumn::TimeLimitRaw) => LengthUnit::Minutes,
        _ => LengthUnit::Seconds,
    }
}
