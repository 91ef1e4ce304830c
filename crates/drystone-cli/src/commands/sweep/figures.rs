//! Plots of a ranking, as figures 9 to 11 of Tsafrir, Etsion & Feitelson 2007 have them.

use super::shown::ShownRanking;
use drystone_report::{AxisReading, Figure, FigureAxis, FigureSeries, SeriesMarks};
use drystone_sweep::analysis::{RankDistribution, ValueDegradation};

/// Bins of a distribution: tenths of the ranks.
const EDGES: [usize; 11] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20];

/// Ranks by value, of all and within each subspace, and degradation against values.
pub(super) fn ranking_figures(ranking: &ShownRanking) -> Vec<Figure> {
    let ranks = |distributions: &[RankDistribution], id: &str, title: &str| -> Vec<Figure> {
        distributions.iter().map(|distribution| of_ranks(distribution, id, title)).collect()
    };
    let mut figures = ranks(&ranking.distributions, "ranks", "Ranks by value of");
    for (at, within) in ranking.subspaces.iter().enumerate() {
        let title = format!("Ranks within {} by value of", within.text);
        figures.extend(ranks(&within.distributions, &format!("subspace-{}", at + 1), &title));
    }
    figures.extend(ranking.against.iter().map(degradation_figure));
    figures
}

/// A parameter's name as a part of a file's name.
fn file_name(parameter: &str) -> String {
    parameter.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn of_ranks(distribution: &RankDistribution, id: &str, title: &str) -> Figure {
    let merged_ranks = distribution.group_numbers().merge_bins(&EDGES);
    let bins = EDGES.windows(2).map(|edge| format!("{}–{}%", edge[0] * 5, edge[1] * 5));
    let points = |bins: &[Option<f64>]| bins.iter().enumerate().map(|(bin, &share)| (bin as f64, share)).collect();
    let series = merged_ranks.shares.iter().map(|share| FigureSeries::new(&share.value, points(&share.bins)));
    Figure {
        id: format!("{id}-{}", file_name(&merged_ranks.parameter)),
        title: format!("{title} {}", merged_ranks.parameter),
        note: "The best ranks are on the left. No bar: no rank there.".to_string(),
        marks: SeriesMarks::Stack,
        x: FigureAxis::with_categories("ranks, best first", bins.collect()),
        y: FigureAxis::new("share of configurations", AxisReading::Share),
        series: series.collect(),
    }
}

fn degradation_figure(against: &ValueDegradation) -> Figure {
    let values = against.values.iter().enumerate();
    let of = |name: &str, value: &dyn Fn(usize) -> f64| {
        FigureSeries::new(name, values.clone().map(|(at, _)| (at as f64, Some(value(at)))).collect())
    };
    Figure {
        id: format!("degradation-{}", file_name(&against.parameter)),
        title: format!("Average degradation against {}", against.parameter),
        note: "Mean, least and most over the configurations that have the value.".to_string(),
        marks: SeriesMarks::Lines,
        x: FigureAxis::with_categories(
            &against.parameter,
            values.clone().map(|(_, (value, _))| value.clone()).collect(),
        ),
        y: FigureAxis::new("degradation from the best, in per cent", AxisReading::Number),
        series: vec![
            of("mean", &|at| against.values[at].1.mean),
            of("least", &|at| against.values[at].1.min),
            of("most", &|at| against.values[at].1.max),
        ],
    }
}
