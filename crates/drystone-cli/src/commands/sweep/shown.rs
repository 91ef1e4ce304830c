//! A ranking as people and programs read it.

use crate::exit::CommandFailure;
use crate::output::Printable;
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{fixed_or, format_change, format_count, format_percent, format_plural};
use drystone::inference::{EstimateBasis, says_nothing};
use drystone_sweep::Store;
use drystone_sweep::analysis::{
    CandidateTable, PairedTest, PairedTests, RankDistribution, RankedCandidate, Ranking, SetQuality, StudyCandidate,
    ValueDegradation, is_clairvoyant,
};
use serde::Serialize;

/// Origin of an analysis: the store holds all inputs of its results.
pub(super) struct AnalysisOrigin {
    pub(super) study: String,
    /// The version that simulated.
    pub(super) drystone: String,
}

impl AnalysisOrigin {
    pub(super) fn from_store(store: &Store) -> Result<AnalysisOrigin, CommandFailure> {
        let status = store.status()?;
        Ok(AnalysisOrigin { study: status.study, drystone: status.drystone })
    }

    /// Its place in CSV: behind everything else.
    pub(super) fn append_columns(&self, row: &mut FlatRow) {
        row.add_text("study", &self.study);
        row.add_text("drystone", &self.drystone);
    }
}

/// Most test cases that a table lists; JSON has all.
const MOST_TESTS: usize = 40;

/// Said of policies that are bounds for others.
const KNOWS: &str = "(knows run times)";

/// A ranking with all that is said of it.
pub(super) struct ShownRanking {
    pub(super) origin: AnalysisOrigin,
    pub(super) top: usize,
    pub(super) table: CandidateTable,
    pub(super) ranking: Ranking,
    pub(super) paired: PairedTests,
    /// Set if `--against` names the baseline.
    pub(super) chosen: bool,
    pub(super) distributions: Vec<RankDistribution>,
    pub(super) against: Vec<ValueDegradation>,
    pub(super) subspaces: Vec<Within>,
}

/// The configurations of a subspace.
pub(super) struct Within {
    pub(super) text: String,
    /// Their quality; `None` where there are none.
    pub(super) spread: Option<SetQuality>,
    /// The distributions of values over their ranks among themselves (figure 11 of the paper).
    pub(super) distributions: Vec<RankDistribution>,
}

/// The value of a parameter; nothing where a policy has no such parameter.
pub(super) fn parameter_level(candidate: &StudyCandidate, at: usize) -> String {
    candidate.point[at].as_ref().map_or(String::new(), ToString::to_string)
}

impl ShownRanking {
    fn find_candidate(&self, ranking: &RankedCandidate) -> &StudyCandidate {
        &self.table.candidates[ranking.candidate]
    }

    /// Returns whether rows differ in parameters alone.
    fn one_policy(&self) -> bool {
        let mut names = self.table.candidates.iter().map(|c| c.name.as_str());
        let first = names.next();
        !self.table.parameters.is_empty() && names.all(|name| Some(name) == first)
    }

    fn top_table(&self) -> DocumentTable {
        let last = self.ranking.ranked.last().filter(|last| last.rank > self.top);
        let shown_candidates: Vec<&RankedCandidate> = self.ranking.ranked.iter().take(self.top).chain(last).collect();
        let mut columns = vec!["rank".to_string(), "degradation".to_string()];
        let is_mixed = self.table.mixes_kinds();
        if is_mixed {
            columns.extend(self.table.metrics.iter().map(|metric| format!("by {metric}")));
        }
        let first_text = columns.len();
        let by_policy = !self.one_policy();
        let has_named_candidates = by_policy && self.table.candidates.iter().any(StudyCandidate::is_named);
        let bounds = shown_candidates.iter().any(|ranking| self.find_candidate(ranking).is_clairvoyant());
        if has_named_candidates {
            columns.push("name".to_string());
        }
        if by_policy {
            columns.push("policy".to_string());
        }
        columns.extend(self.table.parameters.iter().cloned());
        let texts: Vec<usize> = (first_text..columns.len()).collect();
        let is_tested = self.paired.test_count() > 0;
        if is_tested {
            let of = if self.chosen { "baseline" } else { "first" };
            columns.extend([format!("against the {of}"), "p (Holm)".to_string()]);
        }
        if bounds {
            columns.push(String::new());
        }
        let mut grid = DocumentTable::new(columns).with_text_columns(&texts);
        for ranking in shown_candidates {
            let candidate = self.find_candidate(ranking);
            let mut row: Vec<TableValue> =
                vec![format_count(ranking.rank as u64).into(), format!("{:.2}%", ranking.average).into()];
            if is_mixed {
                row.extend(ranking.by_metric.iter().map(|&rank| TableValue::from_count(rank as u64)));
            }
            if has_named_candidates {
                row.push(candidate.name.clone().into());
            }
            if by_policy {
                row.push(candidate.policy.clone().into());
            }
            row.extend((0..self.table.parameters.len()).map(|at| TableValue::from(parameter_level(candidate, at))));
            if is_tested {
                row.extend(tested_cells(self.paired.tests[ranking.candidate].as_ref()));
            }
            if bounds {
                row.push(if candidate.is_clairvoyant() { KNOWS } else { "" }.into());
            }
            grid.add_row(row);
        }
        grid
    }

    /// Describes the tests: configurations that differ, the units of the evidence, and its gaps.
    fn told_apart(&self) -> String {
        let PairedTests { basis, logs, too_short, unused, .. } = &self.paired;
        let (tested_count, apart) = (self.paired.test_count(), self.paired.told_apart());
        let base = &self.table.candidates[self.paired.against];
        let unused_texts: Vec<String> = unused.iter().map(ToString::to_string).collect();
        let Some(basis) = basis.filter(|_| tested_count > 0) else {
            let reason = match unused_texts.len() == self.table.metrics.len() {
                true => "no metric here is a mean over jobs",
                false => "there are fewer than four weeks of jobs that wait, or no other configuration",
            };
            return format!("No configuration is tested against another: {reason}.");
        };
        let mut text = format!(
            "Of {} tested against {} ({}), {} from it at {}, corrected for the number of {} (Holm); intervals are those of single \
             tests.",
            format_plural(tested_count as u64, "configuration"),
            base.policy,
            if self.chosen { "as asked" } else { "the first" },
            if apart == 1 { "1 differs".to_string() } else { format!("{} differ", format_count(apart as u64)) },
            format_percent(Some(self.paired.confidence), 0),
            if self.chosen { "tests" } else { "pairs" }
        );
        text.push_str(&format!(" Evidence: {}", basis.describe("week")));
        text.push_str(&match (self.table.cases.len(), *logs) {
            (1, _) => " of one log.".to_string(),
            (cases, 1) => format!(" of one log; its {cases} workloads are cases of it and add no weeks."),
            (cases, logs) => format!(", {cases} workloads of {logs} logs."),
        });
        if !too_short.is_empty() {
            text.push_str(&format!(" Too short to take part: {}.", too_short.join(", ")));
        }
        if !unused_texts.is_empty() {
            let (take, are) =
                if unused_texts.len() == 1 { ("takes", "it is no mean") } else { ("take", "they are no means") };
            text.push_str(&format!(" {} {take} no part: {are} over jobs.", unused_texts.join(", ")));
        }
        text
    }

    /// The best value of each test case.
    fn best_table(&self) -> DocumentTable {
        let mut tests =
            DocumentTable::new(["workload", "metric", "best", "of the first", "policy"]).with_text_columns(&[0, 1, 4]);
        for (at, test) in self.ranking.tests.iter().enumerate() {
            let first = self.ranking.ranked.first().map(|first| format!("+{:.1}%", first.degradations[at]));
            tests.add_row(vec![
                test.workload.clone().into(),
                test.metric.clone().into(),
                fixed_or(Some(test.best), 2).into(),
                first.unwrap_or_default().into(),
                if is_clairvoyant(&test.policy) { format!("{} {KNOWS}", test.policy) } else { test.policy.clone() }
                    .into(),
            ]);
        }
        tests
    }

    /// Number of test cases in which each policy is the best, where cases are too many for a table.
    fn best_counts(&self) -> DocumentTable {
        let mut counts: Vec<(&str, u64)> = Vec::new();
        for test in &self.ranking.tests {
            match counts.iter_mut().find(|(policy, _)| *policy == test.policy) {
                Some((_, times)) => *times += 1,
                None => counts.push((&test.policy, 1)),
            }
        }
        counts.sort_by_key(|&(_, times)| std::cmp::Reverse(times));
        let test_count = format_count(self.ranking.tests.len() as u64);
        let mut table = DocumentTable::new(["policy".to_string(), format!("best of {test_count}")]);
        for (policy, times) in counts {
            table.add_row(vec![policy.into(), TableValue::from_count(times)]);
        }
        table
    }

    fn subspace_table(&self) -> DocumentTable {
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
        let whole = ("all", &self.ranking.overall_quality());
        let spreads = self.subspaces.iter().map(|within| (within.text.as_str(), &within.spread));
        for (name, spread) in spreads.chain([whole]) {
            let of = |get: &dyn Fn(&SetQuality) -> String| spread.as_ref().map_or("-".to_string(), get);
            grid.add_row(vec![
                name.to_string().into(),
                of(&|s| format_count(s.count as u64)).into(),
                of(&|s| format!("{:.1}%", s.min)).into(),
                of(&|s| format!("{:.1}%", s.max)).into(),
                of(&|s| format!("{:.1}%", s.mean)).into(),
                of(&|s| format!("{:.1}%", s.deviation)).into(),
                of(&|s| format_count(s.best_rank as u64)).into(),
                of(&|s| format_count(s.worst_rank as u64)).into(),
            ]);
        }
        grid
    }

    /// Every second twentieth would say as much, but the first is what matters: 5 %, 10 %, then
    /// tenths.
    fn distribution_table(distribution: &RankDistribution) -> DocumentTable {
        const EDGES: [usize; 13] = [0, 1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 19, 20];
        let merged_ranks = distribution.group_numbers().merge_bins(&EDGES);
        let columns = EDGES.windows(2).map(|edge| format!("{}-{}%", edge[0] * 5, edge[1] * 5));
        let mut grid = DocumentTable::new([merged_ranks.parameter].into_iter().chain(columns));
        for share in merged_ranks.shares {
            let cells = share.bins.into_iter().map(|share| TableValue::from(format_percent(share, 0)));
            grid.add_row([TableValue::from(share.value)].into_iter().chain(cells).collect());
        }
        grid
    }
}

/// The change of a configuration with its interval, and its corrected p value.
fn tested_cells(test: Option<&PairedTest>) -> [TableValue; 2] {
    let Some(test) = test else { return ["-".into(), "-".into()] };
    let (low, high) = test.interval;
    let interval = if says_nothing(test.interval) {
        " (nothing can be said of the size)".to_string()
    } else {
        format!(" ({} to {})", format_change(low), format_change(high))
    };
    let p = if test.p_holm < 0.001 { "<0.001".to_string() } else { format!("{:.3}", test.p_holm) };
    [format!("{}{interval}", format_change(test.change)).into(), p.into()]
}

impl Serialize for ShownRanking {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let metrics: Vec<String> = self.table.metrics.iter().map(ToString::to_string).collect();
        let candidates: Vec<RankedJson<'_>> = self
            .ranking
            .ranked
            .iter()
            .map(|ranking| {
                let candidate = self.find_candidate(ranking);
                let parameters = self.table.parameters.iter().enumerate();
                RankedJson {
                    rank: ranking.rank,
                    degradation: ranking.average,
                    ranks: metrics.iter().zip(&ranking.by_metric).map(|(name, &rank)| (name.as_str(), rank)).collect(),
                    name: &candidate.name,
                    policy: &candidate.policy,
                    policies: &candidate.policies,
                    clairvoyant: candidate.is_clairvoyant(),
                    parameters: parameters.map(|(at, p)| (p.clone(), parameter_level(candidate, at).into())).collect(),
                    degradations: &ranking.degradations,
                    test: self.paired.tests[ranking.candidate],
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
            tested: self.paired.test_count(),
            told_apart: self.paired.told_apart(),
            basis: self.paired.basis,
            logs: self.paired.logs,
            too_short: &self.paired.too_short,
            unused: self.paired.unused.iter().map(ToString::to_string).collect(),
        };
        let mut out = serializer.serialize_struct("ranking", 12)?;
        out.serialize_field("schema", "drystone/sweep-rank/1")?;
        out.serialize_field("study", &self.origin.study)?;
        out.serialize_field("drystone", &self.origin.drystone)?;
        out.serialize_field("configurations", &self.table.candidates.len())?;
        out.serialize_field("incomplete", &self.table.incomplete)?;
        out.serialize_field("test_cases", &self.ranking.tests)?;
        out.serialize_field("whole", &self.ranking.overall_quality())?;
        out.serialize_field("subspaces", &subspaces)?;
        out.serialize_field("distributions", &self.distributions)?;
        out.serialize_field("against", &self.against)?;
        out.serialize_field("tests", &tests)?;
        out.serialize_field("ranked", &candidates)?;
        out.end()
    }
}

impl Printable for ShownRanking {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        document.add_heading(format!(
            "{}: {} configurations by average degradation from the best of {} test cases",
            self.origin.study,
            format_count(self.table.candidates.len() as u64),
            self.table.test_count()
        ));
        document.add_table(self.top_table());
        if self.table.mixes_kinds() {
            document.add_text(
                "The degradation weighs metrics of different kinds alike, and 10% of one is no 10% of another: beside it are \
                 the ranks by each metric alone, and --metric ranks by those that it names.",
            );
        }
        document.add_text(self.told_apart());
        document.add_heading("Subspaces");
        document.add_table(self.subspace_table());
        document.add_heading("The best of each test case");
        document.add_table(if self.ranking.tests.len() > MOST_TESTS { self.best_counts() } else { self.best_table() });
        for distribution in &self.distributions {
            document.add_heading(format!("Ranks by value of {}", distribution.parameter));
            document.add_table(ShownRanking::distribution_table(distribution));
        }
        for within in &self.subspaces {
            for distribution in &within.distributions {
                document.add_heading(format!("Ranks within {} by value of {}", within.text, distribution.parameter));
                document.add_table(ShownRanking::distribution_table(distribution));
            }
        }
        for against in &self.against {
            document.add_heading(format!("Average degradation against {}", against.parameter));
            let mut grid = DocumentTable::new([
                against.parameter.as_str(),
                "configurations",
                "average",
                "deviation",
                "min",
                "max",
            ]);
            for (value, spread) in &against.values {
                grid.add_row(vec![
                    value.clone().into(),
                    format_count(spread.count as u64).into(),
                    format!("{:.1}%", spread.mean).into(),
                    format!("{:.1}%", spread.deviation).into(),
                    format!("{:.1}%", spread.min).into(),
                    format!("{:.1}%", spread.max).into(),
                ]);
            }
            document.add_table(grid);
        }
        document
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for ranking in &self.ranking.ranked {
            let candidate = self.find_candidate(ranking);
            let mut row = FlatRow::default();
            row.add_text("rank", ranking.rank);
            row.add_number("degradation", Some(ranking.average));
            let is_mixed = self.table.mixes_kinds();
            for (metric, &rank) in self.table.metrics.iter().zip(&ranking.by_metric).filter(|_| is_mixed) {
                row.add_text(format!("rank {metric}"), rank);
            }
            row.add_text("name", &candidate.name);
            row.add_text("policy", &candidate.policy);
            row.add_text("clairvoyant", candidate.is_clairvoyant());
            for (at, parameter) in self.table.parameters.iter().enumerate() {
                row.add_text(parameter.clone(), parameter_level(candidate, at));
            }
            for (test, value) in self.ranking.tests.iter().zip(&ranking.degradations) {
                row.add_number(format!("{} {}", test.workload, test.metric), Some(*value));
            }
            let test = self.paired.tests[ranking.candidate];
            row.add_number("test_change", test.map(|test| test.change));
            row.add_number("test_low", test.map(|test| test.interval.0));
            row.add_number("test_high", test.map(|test| test.interval.1));
            row.add_number("test_p", test.map(|test| test.p));
            row.add_number("test_p_holm", test.map(|test| test.p_holm));
            self.origin.append_columns(&mut row);
            rows.push(row);
        }
        rows
    }
}

#[derive(Serialize)]
struct RankedJson<'a> {
    rank: usize,
    degradation: f64,
    /// Rank by each metric alone.
    ranks: std::collections::BTreeMap<&'a str, usize>,
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

#[derive(Serialize)]
struct TestsJson<'a> {
    /// The number in the study and the policy of the configuration that the others are held
    /// against.
    against: (usize, &'a str),
    confidence: f64,
    correction: &'static str,
    tested: usize,
    told_apart: usize,
    /// Units of the evidence, and the number of logs that they come from.
    basis: Option<EstimateBasis>,
    logs: usize,
    /// Workloads that some test does not use, because they are too short.
    too_short: &'a [String],
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
