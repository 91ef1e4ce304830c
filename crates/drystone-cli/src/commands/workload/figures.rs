//! Plots of a log: arrivals, run times and their tail, estimates, users.

use crate::output::number::format_plural;
use drystone::log::describe::WorkloadDescription;
use drystone::log::transient::{Transient, ValueMoments};
use drystone::model::Workload;
use drystone_report::{AxisReading, Figure, FigureAxis, FigureSeries, SeriesMarks};
use std::cmp::Reverse;
use std::collections::BTreeMap;

const CLASSES: [&str; 4] = ["up to 100 s", "up to 1,000 s", "up to 10,000 s", "above 10,000 s"];
/// Users whose jobs are drawn.
const USERS: usize = 4;
/// Most points of a series.
const MOST: usize = 2_000;

/// Every plot that the log has something for.
pub(super) fn log_figures(
    workload: &Workload,
    description: &WorkloadDescription,
    transient: &Transient,
) -> Vec<Figure> {
    let mut figures = vec![arrival_figure(transient)];
    figures.extend(batch_figures(transient));
    figures.push(tail_figure(workload));
    figures.push(estimate_figure(description));
    figures.extend(user_figures(workload));
    figures.retain(|figure| figure.series.iter().any(|series| series.points.iter().any(|point| point.1.is_some())));
    figures
}

fn figure_series(name: &str, points: Vec<(f64, Option<f64>)>) -> FigureSeries {
    FigureSeries::new(name, points)
}

fn arrival_figure(transient: &Transient) -> Figure {
    let weeks = transient.weeks.iter().enumerate();
    Figure {
        id: "arrivals".to_string(),
        title: "Jobs submitted per week".to_string(),
        note: "Weeks from the first submit on.".to_string(),
        marks: SeriesMarks::Bars,
        x: FigureAxis::with_categories("week", (1..=transient.weeks.len()).map(|week| week.to_string()).collect()),
        y: FigureAxis::new("jobs", AxisReading::Number),
        series: vec![figure_series("jobs", weeks.map(|(week, &jobs)| (week as f64, Some(jobs as f64))).collect())],
    }
}

/// Mean, variation and share of the classes of run times, batch by batch.
fn batch_figures(transient: &Transient) -> Vec<Figure> {
    let thousands = |batch: usize| (batch + 1) as f64 * transient.batch as f64 / 1_000.0;
    let x = || FigureAxis::new("thousands of submissions", AxisReading::Number);
    let of = |value: &dyn Fn(&ValueMoments) -> Option<f64>| {
        let overall = transient.batches.iter().enumerate().map(|(at, batch)| (thousands(at), value(&batch.all)));
        let mut curves = vec![figure_series("all", overall.collect())];
        for (class, name) in CLASSES.iter().enumerate() {
            let points = transient.batches.iter().enumerate();
            let points = points.map(|(at, batch)| (thousands(at), value(&batch.classes[class])));
            curves.push(figure_series(name, points.collect()));
        }
        curves
    };
    let note = format!("Batches of {} submissions, by run time.", transient.batch);
    let mean = Figure {
        id: "batch-mean".to_string(),
        title: "Mean run time by batch of submissions".to_string(),
        note: note.clone(),
        marks: SeriesMarks::Lines,
        x: x(),
        y: FigureAxis::new("mean run time", AxisReading::Seconds).with_log_scale(),
        series: of(&|moments| moments.mean),
    };
    let variation = Figure {
        id: "batch-variation".to_string(),
        title: "Coefficient of variation of run times by batch of submissions".to_string(),
        y: FigureAxis::new("C.V.", AxisReading::Number),
        series: of(&|moments| moments.variation),
        ..mean.clone()
    };
    let shares = CLASSES.iter().enumerate().map(|(class, name)| {
        let points = transient.batches.iter().enumerate();
        figure_series(name, points.map(|(at, batch)| (at as f64, Some(batch.class_share(class)))).collect())
    });
    let share = Figure {
        id: "batch-share".to_string(),
        title: "Share of each class of run times by batch of submissions".to_string(),
        note,
        marks: SeriesMarks::Stack,
        x: FigureAxis::with_categories("batch", (1..=transient.batches.len()).map(|batch| batch.to_string()).collect()),
        y: FigureAxis::new("share of jobs", AxisReading::Share),
        series: shares.collect(),
    };
    vec![mean, variation, share]
}

/// The complementary distribution of run times on logarithmic axes.
fn tail_figure(workload: &Workload) -> Figure {
    let mut runs: Vec<i64> = workload.truth().iter().map(|truth| truth.run.0).collect();
    runs.sort_unstable();
    let jobs = runs.len() as f64;
    let mut points: Vec<(f64, Option<f64>)> = Vec::new();
    let mut at = 0;
    while at < runs.len() {
        let run = runs[at];
        let below = runs.partition_point(|&value| value <= run);
        let longer = runs.len() - below;
        // A hundredth of a decade apart is all that a plot can show.
        let apart = points.last().is_none_or(|last| run as f64 >= last.0.max(1.0) * 1.023);
        if run > 0 && longer > 0 && (apart || longer < 100) {
            points.push((run as f64, Some(longer as f64 / jobs)));
        }
        at = below;
    }
    Figure {
        id: "tail".to_string(),
        title: "Share of jobs that run longer".to_string(),
        note: "On logarithmic axes: a straight line is a heavy tail.".to_string(),
        marks: SeriesMarks::Lines,
        x: FigureAxis::new("run time", AxisReading::Seconds).with_log_scale(),
        y: FigureAxis::new("share of jobs", AxisReading::Share).with_log_scale(),
        series: vec![figure_series("run time", points)],
    }
}

/// Part of the estimate that jobs run, by status.
fn estimate_figure(description: &WorkloadDescription) -> Figure {
    let mut names: Vec<String> = (1..=10).map(|tenth| format!("≤{}%", tenth * 10)).collect();
    names.push(">100%".to_string());
    let of = |status: &drystone::log::describe::UsedByStatus| {
        let counts = status.used.iter().copied().chain([status.outlived]).enumerate();
        let name = format!("{:?}", status.status).to_lowercase();
        figure_series(&name, counts.map(|(at, jobs)| (at as f64, Some(jobs as f64 / status.jobs as f64))).collect())
    };
    Figure {
        id: "estimates".to_string(),
        title: "Part of the estimate that jobs run, by status".to_string(),
        note: "Shares of the jobs of each status.".to_string(),
        marks: SeriesMarks::Bars,
        x: FigureAxis::with_categories("run time ÷ estimate", names),
        y: FigureAxis::new("share of jobs", AxisReading::Share),
        series: description.estimates.by_status.iter().map(of).collect(),
    }
}

/// Run times and estimates of the users with the most jobs, over time.
fn user_figures(workload: &Workload) -> Vec<Figure> {
    let mut jobs: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
    for (at, job) in workload.jobs().iter().enumerate() {
        jobs.entry(job.user).or_default().push(at);
    }
    let mut users: Vec<(i32, Vec<usize>)> = jobs.into_iter().collect();
    users.sort_by_key(|(user, jobs)| (Reverse(jobs.len()), *user));
    let first = workload.submit_range().unwrap_or_default().0;
    let figure = |(user, jobs): (i32, Vec<usize>)| {
        let step = jobs.len().div_ceil(MOST).max(1);
        let of = |value: &dyn Fn(usize) -> f64| {
            let day = |at: usize| (workload.jobs()[at].submit - first).as_f64() / 86_400.0;
            jobs.iter().step_by(step).map(|&at| (day(at), Some(value(at)))).collect()
        };
        let thinning_note = if step > 1 { format!(" One job in {step} is drawn.") } else { String::new() };
        Figure {
            id: format!("user-{user}"),
            title: format!("Run times and estimates of user {user}"),
            note: format!("{}, by submit.{thinning_note}", format_plural(jobs.len() as u64, "job")),
            marks: SeriesMarks::Points,
            x: FigureAxis::new("days since the first submit", AxisReading::Number),
            y: FigureAxis::new("length", AxisReading::Seconds).with_log_scale(),
            series: vec![
                figure_series("estimate", of(&|at| workload.jobs()[at].estimate.as_f64())),
                figure_series("run time", of(&|at| workload.truth()[at].run.as_f64())),
            ],
        }
    };
    users.into_iter().take(USERS).map(figure).collect()
}
