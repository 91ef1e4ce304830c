//! `drystone sweep rank`: configurations by their degradation from the best of each test case,
//! averaged.

use super::figures;
use crate::args::RankArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{change, count, fixed_or, percent, plural};
use crate::output::{self, Printable, message, plots};
use drystone_sweep::Store;
use drystone_sweep::analysis::{
    CandidateTable, CaseSelection, PairedTest, PairedTests, RankDistribution, RankedCandidate, Ranking, SetQuality,
    StudyCandidate, Subspace, ValueDegradation, clairvoyant,
};
use serde::Serialize;
use std::path::Path;

pub(super) fn rank(args: &RankArgs) -> CommandOutcome {
    let store = whole(&args.store)?;
    let choice = CaseSelection { metrics: args.metric.clone(), workloads: args.workload.clone() };
    let table = CandidateTable::of(&store, &choice)?;
    let ranking = Ranking::of(&table);
    tell_of_zeros(&table);
    let against = baseline(args.against.as_deref(), &table, &ranking)?;
    let paired = PairedTests::of(&store, &table, against, args.confidence)?;
    let mut subspaces = Vec::new();
    for text in &args.subspace {
        let subspace = Subspace::parse(text, &table.parameters)?;
        for (parameter, value, levels) in subspace.strangers(&table) {
            message::warning(&format!(
                "--subspace {text}: no configuration has {parameter}={value}; there is {}",
                some(&levels)
            ));
        }
        let spread = ranking.subspace(&table, &subspace);
        if spread.is_none() && subspace.strangers(&table).is_empty() {
            message::warning(&format!("--subspace {text}: no configuration meets all of this"));
        }
        let distributions = ranking.within(&table, &subspace).distributions(&table);
        subspaces.push(Within { text: subspace.text.clone(), spread, distributions });
    }
    tell_left_out(&table);
    let shown = ShownRanking {
        distributions: ranking.distributions(&table),
        against: ranking.against(&table),
        origin: AnalysisOrigin::of(&store)?,
        top: args.top,
        table,
        ranking,
        paired,
        chosen: args.against.is_some(),
        subspaces,
    };
    if let Some(directory) = &args.plots {
        let about = serde_json::json!({
            "study": shown.origin.study,
            "simulated by": shown.origin.drystone,
            "configurations": shown.table.candidates.len(),
        });
        plots::write_figures(directory, &figures::figures(&shown), &about)?;
    }
    output::print(&shown, args.format)?;
    Ok(DONE)
}

/// Place of the candidate that the others are tested against.
fn baseline(given: Option<&str>, table: &CandidateTable, ranking: &Ranking) -> Result<usize, CommandFailure> {
    let Some(wanted) = given else {
        return Ok(ranking.ranked.first().map_or(0, |first| first.candidate));
    };
    let number = wanted.parse::<usize>().ok();
    let is = |candidate: &StudyCandidate| match number {
        Some(number) => candidate.number == number,
        None => candidate.policy == wanted || candidate.name == wanted,
    };
    let found: Vec<usize> = (0..table.candidates.len()).filter(|&at| is(&table.candidates[at])).collect();
    match found[..] {
        [one] => Ok(one),
        [] => {
            let all: Vec<String> = table.candidates.iter().map(|c| format!("{} {}", c.number, c.policy)).collect();
            Err(CommandFailure::usage(format_args!(
                "--against {wanted}: no configuration that is ranked has this number, name or policy; there is {}",
                some(&all)
            )))
        }
        _ => {
            let some: Vec<String> = found.iter().map(|&at| table.candidates[at].number.to_string()).collect();
            Err(CommandFailure::usage(format_args!(
                "--against {wanted}: {} configurations are called so; give a number of the study: {}",
                found.len(),
                self::some(&some)
            )))
        }
    }
}

/// Notes test cases in which 0 has no multiple.
fn tell_of_zeros(table: &CandidateTable) {
    let zeros: Vec<String> =
        table.zeros().into_iter().map(|test| format!("{} of {}", table.metric_of(test), table.case_of(test))).collect();
    if !zeros.is_empty() {
        message::note(&format!(
            "{} is 0 for some configurations: degradations there are in percent of the smallest value above 0",
            some(&zeros)
        ));
    }
}

/// The first of many values, in words.
fn some(values: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = values.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if values.len() > SHOWN { format!("{shown}, … ({} values)", values.len()) } else { shown }
}

/// A store to be looked at whole; one that holds a part of its study by itself says so.
pub(super) fn whole(path: &Path) -> Result<Store, CommandFailure> {
    let store = Store::look(path)?;
    let chunk = store.status()?.chunk;
    if !chunk.is_empty() {
        let name = path.display();
        message::warning(&format!(
            "{name} holds chunk {chunk} of its study alone; `drystone sweep merge` makes one of all"
        ));
    }
    Ok(store)
}

/// Says how many configurations are left out, and for want of what.
pub(super) fn tell_left_out(table: &CandidateTable) {
    if table.incomplete > 0 {
        let left = plural(table.incomplete as u64, "configuration");
        message::warning(&format!("left out: {left} without {}", table.want()));
    }
}

/// Origin of an analysis: the store holds all inputs of its results.
pub(super) struct AnalysisOrigin {
    pub(super) study: String,
    /// The version that simulated.
    pub(super) drystone: String,
}

impl AnalysisOrigin {
    pub(super) fn of(store: &Store) -> Result<AnalysisOrigin, CommandFailure> {
        let status = store.status()?;
        Ok(AnalysisOrigin { study: status.study, drystone: status.drystone })
    }

    /// Its place in CSV: behind everything else.
    pub(super) fn close(&self, row: &mut FlatRow) {
        row.text("study", &self.study);
        row.text("drystone", &self.drystone);
    }
}

/// Said of policies that are bounds for others.
const KNOWS: &str = "(knows run times)";

/// A ranking with all that is said of it.
pub(super) struct ShownRanking {
    origin: AnalysisOrigin,
    top: usize,
    table: CandidateTable,
    ranking: Ranking,
    paired: PairedTests,
    /// Set if `--against` names the baseline.
    chosen: bool,
    pub(super) distributions: Vec<RankDistribution>,
    pub(super) against: Vec<ValueDegradation>,
    pub(super) subspaces: Vec<Within>,
}

/// The configurations of a subspace.
pub(super) struct Within {
    /// Its conditions.
    pub(super) text: String,
    /// Their quality; `None` where there are none.
    spread: Option<SetQuality>,
    /// The distributions of values over their ranks among themselves (figure 11 of the paper).
    pub(super) distributions: Vec<RankDistribution>,
}

/// The value of a parameter; nothing where a policy has no such parameter.
pub(super) fn level(candidate: &StudyCandidate, at: usize) -> String {
    candidate.point[at].as_ref().map_or(String::new(), ToString::to_string)
}

impl ShownRanking {
    fn candidate(&self, ranked: &RankedCandidate) -> &StudyCandidate {
        &self.table.candidates[ranked.candidate]
    }

    /// Returns whether rows differ in parameters alone.
    fn one_policy(&self) -> bool {
        let mut names = self.table.candidates.iter().map(|c| c.name.as_str());
        let first = names.next();
        !self.table.parameters.is_empty() && names.all(|name| Some(name) == first)
    }

    fn top(&self) -> DocumentTable {
        let last = self.ranking.ranked.last().filter(|last| last.rank > self.top);
        let shown: Vec<&RankedCandidate> = self.ranking.ranked.iter().take(self.top).chain(last).collect();
        let mut columns = vec!["rank".to_string(), "degradation".to_string()];
        let by_policy = !self.one_policy();
        let named = by_policy && self.table.candidates.iter().any(StudyCandidate::is_named);
        let bounds = shown.iter().any(|ranked| self.candidate(ranked).clairvoyant());
        if named {
            columns.push("name".to_string());
        }
        if by_policy {
            columns.push("policy".to_string());
        }
        columns.extend(self.table.parameters.iter().cloned());
        let texts: Vec<usize> = (2..columns.len()).collect();
        let tested = self.paired.tested() > 0;
        if tested {
            let of = if self.chosen { "baseline" } else { "first" };
            columns.extend([format!("against the {of}"), "p (Holm)".to_string()]);
        }
        if bounds {
            columns.push(String::new());
        }
        let mut grid = DocumentTable::new(columns).texts(&texts);
        for ranked in shown {
            let candidate = self.candidate(ranked);
            let mut row: Vec<TableValue> =
                vec![count(ranked.rank as u64).into(), format!("{:.2}%", ranked.average).into()];
            if named {
                row.push(candidate.name.clone().into());
            }
            if by_policy {
                row.push(candidate.policy.clone().into());
            }
            row.extend((0..self.table.parameters.len()).map(|at| TableValue::from(level(candidate, at))));
            if tested {
                row.extend(tested_cells(self.paired.tests[ranked.candidate].as_ref()));
            }
            if bounds {
                row.push(if candidate.clairvoyant() { KNOWS } else { "" }.into());
            }
            grid.row(row);
        }
        grid
    }

    /// Number of configurations that differ from the one that they are tested against.
    fn told_apart(&self) -> String {
        let (tested, apart) = (self.paired.tested(), self.paired.told_apart());
        let base = &self.table.candidates[self.paired.against];
        let unused: Vec<String> = self.paired.unused.iter().map(ToString::to_string).collect();
        if tested == 0 {
            let why = match unused.len() == self.table.metrics.len() {
                true => "no metric here is a mean over jobs",
                false => "there are fewer than four weeks of jobs that wait, or no other configuration",
            };
            return format!("No configuration is tested against another: {why}.");
        }
        let left_out = match unused.as_slice() {
            [] => String::new(),
            names => format!(" {} take no part: they are no means over jobs.", names.join(", ")),
        };
        format!(
            "Of {} tested against {} ({}), {} differ from it at {}, corrected for their number (Holm).{left_out}",
            plural(tested as u64, "configuration"),
            base.policy,
            if self.chosen { "as asked" } else { "the first" },
            count(apart as u64),
            percent(Some(self.paired.confidence), 0)
        )
    }

    fn subspaces(&self) -> DocumentTable {
        let mut grid = DocumentTable::new([
            "subspace",
            "configurations",
            "min",
            "max",
            "average",
            "deviation",
            "best rank",
            "worst rank",
        ]);
        let whole = ("all", &self.ranking.whole());
        let all = self.subspaces.iter().map(|within| (within.text.as_str(), &within.spread));
        for (name, spread) in all.chain([whole]) {
            let of = |get: &dyn Fn(&SetQuality) -> String| spread.as_ref().map_or("-".to_string(), get);
            grid.row(vec![
                name.to_string().into(),
                of(&|s| count(s.count as u64)).into(),
                of(&|s| format!("{:.1}%", s.min)).into(),
                of(&|s| format!("{:.1}%", s.max)).into(),
                of(&|s| format!("{:.1}%", s.mean)).into(),
                of(&|s| format!("{:.1}%", s.deviation)).into(),
                of(&|s| count(s.best_rank as u64)).into(),
                of(&|s| count(s.worst_rank as u64)).into(),
            ]);
        }
        grid
    }

    /// Every second twentieth would say as much, but the first is what matters: 5 %, 10 %, then
    /// tenths.
    fn distribution(distribution: &RankDistribution) -> DocumentTable {
        const EDGES: [usize; 13] = [0, 1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 19, 20];
        let shown = distribution.grouped().merged(&EDGES);
        let columns = EDGES.windows(2).map(|edge| format!("{}-{}%", edge[0] * 5, edge[1] * 5));
        let mut grid = DocumentTable::new([shown.parameter].into_iter().chain(columns));
        for share in shown.shares {
            let cells = share.bins.into_iter().map(|share| TableValue::from(percent(share, 0)));
            grid.row([TableValue::from(share.value)].into_iter().chain(cells).collect());
        }
        grid
    }
}

/// The change of a configuration with its interval, and its corrected p value.
fn tested_cells(test: Option<&PairedTest>) -> [TableValue; 2] {
    let Some(test) = test else { return ["-".into(), "-".into()] };
    let interval = match test.interval {
        Some((low, high)) => format!(" ({} to {})", change(low), change(high)),
        None => " (too short to tell)".to_string(),
    };
    let p = if test.p_holm < 0.001 { "<0.001".to_string() } else { format!("{:.3}", test.p_holm) };
    [format!("{}{interval}", change(test.change)).into(), p.into()]
}

#[derive(Serialize)]
struct RankedJson<'a> {
    rank: usize,
    degradation: f64,
    /// Of its entry in the study.
    name: &'a str,
    policy: &'a str,
    /// On each workload, where they differ.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    policies: &'a [String],
    /// True if it knows true run times.
    clairvoyant: bool,
    parameters: serde_json::Map<String, serde_json::Value>,
    degradations: &'a [f64],
    /// Against the configuration named in `tests`.
    test: Option<PairedTest>,
}

/// Terms of the tests.
#[derive(Serialize)]
struct TestsJson<'a> {
    /// The number in the study and the policy of the configuration that the others are held
    /// against.
    against: (usize, &'a str),
    confidence: f64,
    correction: &'static str,
    tested: usize,
    told_apart: usize,
    /// Metrics that are no means over jobs, and take no part.
    unused: Vec<String>,
}

#[derive(Serialize)]
struct SubspaceJson<'a> {
    subspace: &'a str,
    spread: Option<SetQuality>,
    /// Within it, ranks counted from 1 again.
    distributions: &'a [RankDistribution],
}

impl Serialize for ShownRanking {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let ranked: Vec<RankedJson<'_>> = self
            .ranking
            .ranked
            .iter()
            .map(|ranked| {
                let candidate = self.candidate(ranked);
                let parameters = self.table.parameters.iter().enumerate();
                RankedJson {
                    rank: ranked.rank,
                    degradation: ranked.average,
                    name: &candidate.name,
                    policy: &candidate.policy,
                    policies: &candidate.policies,
                    clairvoyant: candidate.clairvoyant(),
                    parameters: parameters.map(|(at, p)| (p.clone(), level(candidate, at).into())).collect(),
                    degradations: &ranked.degradations,
                    test: self.paired.tests[ranked.candidate],
                }
            })
            .collect();
        let subspaces = self.subspaces.iter().map(|within| SubspaceJson {
            subspace: &within.text,
            spread: within.spread,
            distributions: &within.distributions,
        });
        let subspaces: Vec<SubspaceJson<'_>> = subspaces.collect();
        let base = &self.table.candidates[self.paired.against];
        let tests = TestsJson {
            against: (base.number, &base.policy),
            confidence: self.paired.confidence,
            correction: "holm",
            tested: self.paired.tested(),
            told_apart: self.paired.told_apart(),
            unused: self.paired.unused.iter().map(ToString::to_string).collect(),
        };
        let mut out = serializer.serialize_struct("ranking", 12)?;
        out.serialize_field("schema", "drystone/sweep-rank/1")?;
        out.serialize_field("study", &self.origin.study)?;
        out.serialize_field("drystone", &self.origin.drystone)?;
        out.serialize_field("configurations", &self.table.candidates.len())?;
        out.serialize_field("incomplete", &self.table.incomplete)?;
        out.serialize_field("test_cases", &self.ranking.tests)?;
        out.serialize_field("whole", &self.ranking.whole())?;
        out.serialize_field("subspaces", &subspaces)?;
        out.serialize_field("distributions", &self.distributions)?;
        out.serialize_field("against", &self.against)?;
        out.serialize_field("tests", &tests)?;
        out.serialize_field("ranked", &ranked)?;
        out.end()
    }
}

impl Printable for ShownRanking {
    fn document(&self) -> Document {
        let mut document = Document::default();
        document.heading(format!(
            "{}: {} configurations by average degradation from the best of {} test cases",
            self.origin.study,
            count(self.table.candidates.len() as u64),
            self.table.tests()
        ));
        document.table(self.top());
        document.text(self.told_apart());
        document.heading("Subspaces");
        document.table(self.subspaces());
        document.heading("The best of each test case");
        let mut tests = DocumentTable::new(["workload", "metric", "best", "of the first", "policy"]).texts(&[0, 1, 4]);
        for (at, test) in self.ranking.tests.iter().enumerate() {
            let first = self.ranking.ranked.first().map(|first| format!("+{:.1}%", first.degradations[at]));
            tests.row(vec![
                test.workload.clone().into(),
                test.metric.clone().into(),
                fixed_or(Some(test.best), 2).into(),
                first.unwrap_or_default().into(),
                if clairvoyant(&test.policy) { format!("{} {KNOWS}", test.policy) } else { test.policy.clone() }.into(),
            ]);
        }
        document.table(tests);
        for distribution in &self.distributions {
            document.heading(format!("Ranks by value of {}", distribution.parameter));
            document.table(ShownRanking::distribution(distribution));
        }
        for within in &self.subspaces {
            for distribution in &within.distributions {
                document.heading(format!("Ranks within {} by value of {}", within.text, distribution.parameter));
                document.table(ShownRanking::distribution(distribution));
            }
        }
        for against in &self.against {
            document.heading(format!("Average degradation against {}", against.parameter));
            let mut grid = DocumentTable::new([
                against.parameter.as_str(),
                "configurations",
                "average",
                "deviation",
                "min",
                "max",
            ]);
            for (value, spread) in &against.values {
                grid.row(vec![
                    value.clone().into(),
                    count(spread.count as u64).into(),
                    format!("{:.1}%", spread.mean).into(),
                    format!("{:.1}%", spread.deviation).into(),
                    format!("{:.1}%", spread.min).into(),
                    format!("{:.1}%", spread.max).into(),
                ]);
            }
            document.table(grid);
        }
        document
    }

    fn rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for ranked in &self.ranking.ranked {
            let candidate = self.candidate(ranked);
            let mut row = FlatRow::default();
            row.text("rank", ranked.rank);
            row.number("degradation", Some(ranked.average));
            row.text("name", &candidate.name);
            row.text("policy", &candidate.policy);
            row.text("clairvoyant", candidate.clairvoyant());
            for (at, parameter) in self.table.parameters.iter().enumerate() {
                row.text(parameter.clone(), level(candidate, at));
            }
            for (test, value) in self.ranking.tests.iter().zip(&ranked.degradations) {
                row.number(format!("{} {}", test.workload, test.metric), Some(*value));
            }
            let test = self.paired.tests[ranked.candidate];
            row.number("test_change", test.map(|test| test.change));
            row.number("test_low", test.and_then(|test| Some(test.interval?.0)));
            row.number("test_high", test.and_then(|test| Some(test.interval?.1)));
            row.number("test_p", test.map(|test| test.p));
            row.number("test_p_holm", test.map(|test| test.p_holm));
            self.origin.close(&mut row);
            rows.push(row);
        }
        rows
    }
}
