//! Scores of start-time answers on a log:
//! `scores LOG POLICY [STUDY] [EVERY] [PROCESSORS|-] [METHODS|-] [BELIEVED]`. The forecaster
//! believes in the last policy, if one is given, while the log runs under the first.

use drystone::log::clean::CleaningOptions as Cleaning;
use drystone::log::load_log;
use drystone::policy::PolicySpec;
use drystone_when::{ForecasterSettings, ForeseeOptions, score_answers};
use std::process::ExitCode;

pub(crate) fn main(args: Vec<String>) -> ExitCode {
    match print_scores(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn print_scores(args: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [log, policy, rest @ ..] = args else {
        return Err("scores LOG POLICY [STUDY] [EVERY] [PROCESSORS|-] [METHODS|-] [BELIEVED]".into());
    };
    let mut cleaning = match rest.first().filter(|study| *study != "-") {
        Some(study) => drystone::log::clean::CleaningStudy::options(study.parse()?),
        None => Cleaning::default(),
    };
    if let Some(procs) = rest.get(2).filter(|procs| *procs != "-") {
        cleaning.procs = Some(procs.parse()?);
    }
    let workload = load_log(log, &cleaning)?.workload;
    let spec: PolicySpec = policy.parse()?;
    let settings = ForecasterSettings { monday: find_monday(&workload), ..ForecasterSettings::default() };
    let every = rest.get(1).map_or(Ok(1), |every| every.parse())?;
    let mut options = ForeseeOptions { settings, every, ..ForeseeOptions::default() };
    if let Some(names) = rest.get(3).filter(|names| *names != "-") {
        options.methods.retain(|method| names.split(',').any(|name| name == method.name()));
    }
    let fresh = spec.clone();
    let believed_policy: PolicySpec = rest.get(4).map_or(Ok(spec), |text| text.parse())?;
    let Some(report) = score_answers(&workload, &believed_policy, move || fresh.build_scheduler(), &options, &|_| {})?
    else {
        return Ok(());
    };
    println!(
        "{} jobs, {} asked, {} unsettled, wait {:.0?} min",
        report.jobs, report.asked, report.unsettled, report.wait
    );
    for score in &report.methods {
        let overall = &score.all;
        println!(
            "{:16} {:6} crps {:7.1} log {:.3} mad {:6.1} cover {:.1}/{:.1} width {:6.0} p95 {:.1} caldev {:.4} skill {:.3?}",
            score.method.name(),
            overall.questions,
            overall.crps,
            overall.log_crps,
            overall.error[1],
            100.0 * overall.coverage[0],
            100.0 * overall.coverage[1],
            overall.width[1],
            100.0 * overall.by_95,
            overall.calibration_error,
            score.skill.map(|s| [s.skill, s.low, s.high]),
        );
    }
    for (state, score) in report.methods.last().map(|m| m.by_state.clone()).unwrap_or_default() {
        println!(
            "{:20} {} crps {:.1} {:.0}/{:.0}",
            state.name(),
            score.questions,
            score.crps,
            100.0 * score.coverage[0],
            100.0 * score.coverage[1]
        );
    }
    println!("before plan {:?}, beyond {:.4}, promises {:?}", report.before_plan, report.beyond, report.promises);
    Ok(())
}

/// A midnight before a Monday in the log's time.
fn find_monday(workload: &drystone::model::Workload) -> i64 {
    let unix = workload.provenance.unix_start.unwrap_or(0);
    let offset = i64::from(workload.provenance.utc_offset.unwrap_or(0));
    // 1970-01-05 was a Monday.
    4 * 86_400 - unix - offset
}
