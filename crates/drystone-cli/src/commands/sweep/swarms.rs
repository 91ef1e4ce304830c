//! Plots of `drystone sweep table`: curves over loads, swarms and boxes over windows and seeds.

use drystone::metrics::MetricUnit;
use drystone_report::{AxisReading, Figure, FigureAxis, FigureSeries, SeriesMarks};
use drystone_sweep::SweepMetric;
use drystone_sweep::analysis::{ReplicatedColumn, ReplicatedTable, ReplicationGroup};

/// Ratio of the largest value to the least from which an axis is logarithmic.
const WIDE: f64 = 20.0;

/// Values to plot, and a short name for each candidate.
#[derive(Clone, Copy)]
pub(super) struct PlottedTable<'a> {
    pub(super) names: &'a [String],
    pub(super) replicated: &'a ReplicatedTable,
}

/// A curve for each metric of each workload with several loads, and a swarm for each column with
/// several replications.
pub(super) fn table_figures(table: PlottedTable<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    let columns = &table.replicated.columns;
    let is_curve = |left: &ReplicatedColumn, right: &ReplicatedColumn| {
        let (a, b) = (column_group(table, left), column_group(table, right));
        (&a.workload, &a.change, &left.metric) == (&b.workload, &b.change, &right.metric)
    };
    for (at, column) in columns.iter().enumerate() {
        let mut same: Vec<&ReplicatedColumn> = columns.iter().filter(|candidate| is_curve(column, candidate)).collect();
        let is_first = !columns[..at].iter().any(|predecessor| is_curve(column, predecessor));
        if is_first && same.len() > 1 {
            same.sort_by(|a, b| column_group(table, a).load.total_cmp(&column_group(table, b).load));
            figures.push(curve_figure(table, &same));
        }
    }
    let several = |column: &&ReplicatedColumn| column.cells.first().is_some_and(|cell| cell.values.len() > 1);
    figures.extend(columns.iter().filter(several).map(|column| swarm_figure(table, column)));
    figures
}

fn column_group<'a>(table: PlottedTable<'a>, column: &ReplicatedColumn) -> &'a ReplicationGroup {
    &table.replicated.groups[column.group]
}

/// Parts of a file's name: letters, digits, dots and hyphens.
fn file_name(parts: &[&str]) -> String {
    let replace_odd = |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '_' { c } else { '-' };
    parts
        .iter()
        .filter(|part| !part.is_empty())
        .map(|part| part.chars().map(replace_odd).collect::<String>())
        .collect::<Vec<_>>()
        .join("-")
}

fn curve_figure(table: PlottedTable<'_>, columns: &[&ReplicatedColumn]) -> Figure {
    let (metric, first) = (&columns[0].metric, column_group(table, columns[0]));
    let load = |column: &ReplicatedColumn| column_group(table, column).load;
    let series = table.names.iter().enumerate().map(|(at, name)| FigureSeries {
        name: name.clone(),
        points: columns.iter().map(|column| (load(column), Some(column.cells[at].mean))).collect(),
        whiskers: columns
            .iter()
            .filter_map(|column| column.cells[at].interval.map(|(low, high)| (load(column), low, high)))
            .collect(),
    });
    let series: Vec<FigureSeries> = series.collect();
    let change = first.change.as_deref().unwrap_or_default();
    Figure {
        id: file_name(&["curve", &metric.to_string(), &first.workload, change]),
        title: format!("{metric} against load, {}", group_name(first)),
        note: "Means over windows or seeds, with their intervals.".to_string(),
        marks: SeriesMarks::Lines,
        x: FigureAxis::new("load factor", AxisReading::Number),
        y: metric_axis(metric, &series),
        series,
    }
}

fn swarm_figure(table: PlottedTable<'_>, column: &ReplicatedColumn) -> Figure {
    let own = column_group(table, column);
    let series = table.names.iter().enumerate().map(|(at, name)| {
        let values = column.cells[at].values.iter().map(|&value| (at as f64, Some(value)));
        FigureSeries::new(name, values.collect())
    });
    let series: Vec<FigureSeries> = series.collect();
    let change = own.change.as_deref().unwrap_or_default();
    let load = if own.load == 1.0 { String::new() } else { format!("load{}", own.load) };
    let at_load = if own.load == 1.0 { String::new() } else { format!(" at load {}", own.load) };
    Figure {
        id: file_name(&["swarm", &column.metric.to_string(), &own.workload, &load, change]),
        title: format!("{}, {}{at_load}", column.metric, group_name(own)),
        note: "A point is a window or seed; a box reaches from quartile to quartile, with the median.".to_string(),
        marks: SeriesMarks::Swarm,
        x: FigureAxis::with_categories("", table.names.to_vec()),
        y: metric_axis(&column.metric, &series),
        series,
    }
}

fn group_name(group: &ReplicationGroup) -> String {
    match &group.change {
        Some(change) => format!("{} with {change}", group.workload),
        None => group.workload.clone(),
    }
}

/// The axis of a metric: logarithmic where values differ much and all are above 0.
fn metric_axis(metric: &SweepMetric, series: &[FigureSeries]) -> FigureAxis {
    let reading = match metric.unit() {
        MetricUnit::Seconds => AxisReading::Seconds,
        MetricUnit::Share => AxisReading::Share,
        MetricUnit::Ratio | MetricUnit::Count => AxisReading::Number,
    };
    let axis = FigureAxis::new(&metric.to_string(), reading);
    let values = || series.iter().flat_map(|curve| &curve.points).filter_map(|point| point.1);
    let (low, high) = values().fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let is_wide = low > 0.0 && high > WIDE * low && reading != AxisReading::Share;
    if is_wide { axis.with_log_scale() } else { axis }
}
