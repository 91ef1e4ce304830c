//! The best schedule that a search finds on a log, and how fast: `found LOG SECONDS [PROCS]
//! [MEASURE] [HEAT] [MOST]`.

use drystone::experiment::Experiment;
use drystone::log::clean::CleaningOptions as Cleaning;
use drystone::log::load_log;
use drystone::metrics::{JobSelection, MetricsConfig};
use drystone::model::Outages;
use drystone::policy::PolicySpec;
use drystone_headroom::{DelayMeasure, HeadroomCase, HeadroomSearch, TimeLimit, search_schedule};
use std::process::ExitCode;
use std::time::Duration;

const BEGINNINGS: [&str; 3] =
    ["sjf-perfect", "easy(order=saf,backfill=saf,predict=perfect)", "easy(order=lxf,backfill=lxf,predict=perfect)"];

pub(crate) fn main(args: Vec<String>) -> ExitCode {
    match report_search(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn report_search(args: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [log, seconds, rest @ ..] = args else {
        return Err("found LOG SECONDS [PROCS] [MEASURE] [HEAT] [MOST]".into());
    };
    let mut cleaning = Cleaning::default();
    if let Some(procs) = rest.first().filter(|procs| *procs != "-") {
        cleaning.procs = Some(procs.parse()?);
    }
    let word = rest.get(1).map_or("wait", String::as_str);
    let measure =
        DelayMeasure::ALL.into_iter().find(|measure| measure.option_word() == word).ok_or("no such measure")?;
    let workload = load_log(log, &cleaning)?.workload;
    let mut how =
        HeadroomSearch { limit: TimeLimit::Time(Duration::from_secs(seconds.parse()?)), ..HeadroomSearch::default() };
    if let Some(heat) = rest.get(2).filter(|heat| *heat != "-") {
        how.heat = heat.parse()?;
    }
    if let Some(most) = rest.get(3) {
        how.most = most.parse()?;
    }
    let mut best = None;
    for text in BEGINNINGS {
        let spec: PolicySpec = text.parse()?;
        let config = MetricsConfig { selection: JobSelection::All, keep_jobs: true, ..MetricsConfig::default() };
        let Some(mut run) = Experiment::new(&spec, &workload).with_metrics(config).run(&mut ())? else { continue };
        let rows = run.report.take_schedule().unwrap_or_default();
        let case =
            HeadroomCase::from_rows(&workload, &rows, (&Outages::default(), false), (measure, JobSelection::All))?;
        let Some(begin) = case.extract_starts(&rows) else { continue };
        let cost = case.instance.schedule_cost(&begin);
        if best.as_ref().is_none_or(|(_, _, lowest, _)| cost < *lowest) {
            best = Some((case, begin, cost, text));
        }
    }
    let (case, begin, cost, text) = best.ok_or("no beginning")?;
    let unit = if measure == DelayMeasure::BoundedSlowdown { 1.0 } else { 60.0 };
    println!("begun at {:.3} from {text}", case.mean_measure(cost) / unit);
    let reported_tenth = std::cell::Cell::new(0);
    let solution = search_schedule(&case.instance, &begin, &how, &|step| {
        let tenth = (step.done * 10.0) as u64;
        if tenth > reported_tenth.replace(tenth) {
            eprintln!("{tenth} tenths: at hand {:.3}", case.mean_measure(step.cost) / unit);
        }
        true
    })?;
    println!(
        "found {:.3}, {} trials in {:.1?}",
        case.mean_measure(solution.cost) / unit,
        solution.trials,
        solution.took
    );
    Ok(())
}
