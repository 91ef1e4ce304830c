//! Charts, predictors alone, imports, fidelity: what commands do beyond runs and comparisons.

use super::{Failure, Input, Told, command, one_machine, overheard};
use crate::args::Command;
use crate::commands::fidelity::held;
use crate::commands::foresee::scores;
use crate::commands::gantt::drawn;
use crate::commands::headroom::answer;
use crate::commands::import::imported;
use crate::commands::predict::judged;
use crate::commands::when::answers;
use crate::output::{Printable, ReportFile, file};
use drystone_report::Gantt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a command has to say, in every form it is printed and written in.
pub struct Said(Box<dyn Printable + Send + Sync>);

impl Said {
    /// As the command prints it.
    #[must_use]
    pub fn text(&self) -> String {
        self.0.document().plain()
    }

    /// As JSON.
    ///
    /// # Errors
    /// A result that is no JSON.
    pub fn json(&self) -> Result<String, Failure> {
        Ok(String::from_utf8_lossy(&self.0.json()?).into_owned())
    }

    /// As rows: names of columns and a value each, empty where there is none.
    #[must_use]
    pub fn rows(&self) -> Vec<Vec<(String, String)>> {
        self.0.rows().into_rows()
    }

    /// As a page with plots.
    ///
    /// # Errors
    /// There is no page of it.
    pub fn page(&self) -> Result<String, Failure> {
        self.0.page()
    }

    /// Writes it, as the ending says: .json, .csv, .md or .txt, and .html where there is a page.
    ///
    /// # Errors
    /// An ending that says nothing, a place that cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        file::publish(vec![ReportFile::open(path)?.write(&*self.0)?])
    }
}

/// A schedule as a chart; `None` where it was told to stop. `options` are those of
/// `drystone gantt`.
///
/// # Errors
/// Options that are wrong; a policy that does not fit or breaks its contract; a site with several
/// pools.
pub fn gantt(input: &Input, options: &[String], stop: &AtomicBool) -> Result<Option<Told<Gantt>>, Failure> {
    let Command::Gantt(args) = command("gantt", &[], options)? else {
        return Err(Failure::usage("no options of a chart"));
    };
    one_machine(input, "a chart")?;
    let told = overheard(|| drawn(&args, input, Some(stop)))?;
    Ok(told.what.map(|what| Told { what, messages: told.messages }))
}

/// The bracket of a log: what no schedule beats, and the best schedule found; writes the files that
/// the options name. `None` where it was told to stop before it was done. `options` are those of
/// `drystone headroom`.
///
/// # Errors
/// Options that are wrong; policies under which jobs differ; a site with several pools; a place that
/// cannot be written.
pub fn headroom(input: &Input, options: &[String], stop: &AtomicBool) -> Result<Option<Told<Said>>, Failure> {
    let Command::Headroom(args) = command("headroom", &[], options)? else {
        return Err(Failure::usage("no options of a bracket"));
    };
    one_machine(input, "a bracket")?;
    let told = overheard(|| {
        let answer = answer(&args, input, stop)?.filter(|_| !stop.load(Ordering::Relaxed));
        answer.iter().try_for_each(|answer| answer.write(&args, input))?;
        Ok(answer)
    })?;
    Ok(told.what.map(|answer| Told { what: Said(Box::new(answer.result)), messages: told.messages }))
}

/// Predictors alone on a log; `options` are those of `drystone predict`.
///
/// # Errors
/// Options that are wrong.
pub fn predict(input: &Input, options: &[String]) -> Result<Told<Said>, Failure> {
    let Command::Predict(args) = command("predict", &[], options)? else {
        return Err(Failure::usage("no options of a judgement of predictors"));
    };
    overheard(|| Ok(Said(Box::new(judged(&args, input)?))))
}

/// Answers to "when will my job start?" scored on a log; `None` where it was told to stop.
/// `options` are those of `drystone foresee`.
///
/// # Errors
/// Options that are wrong, a policy that knows true run times.
pub fn foresee(input: &Input, options: &[String], stop: &AtomicBool) -> Result<Option<Told<Said>>, Failure> {
    let Command::Foresee(args) = command("foresee", &[], options)? else {
        return Err(Failure::usage("no options of a score of answers"));
    };
    let told = overheard(|| scores(&args, input, stop))?;
    Ok(told.what.map(|found| Told { what: Said(Box::new(found)), messages: told.messages }))
}

/// When waiting jobs of a cluster will start, as text and as JSON; `options` are those of
/// `drystone when`.
///
/// # Errors
/// A folder that holds no state, a job that does not wait, options that are wrong.
pub fn when(state: &Path, options: &[String]) -> Result<Told<(String, String)>, Failure> {
    let Command::When(mut args) = command("when", &["--state", "."], options)? else {
        return Err(Failure::usage("no options of an answer"));
    };
    args.state = Some(state.to_path_buf());
    overheard(|| answers(&args).map(|(text, json)| (text, String::from_utf8_lossy(&json).into_owned())))
}

/// A simulation of a site held against what happened there; `None` where it was told to stop.
/// `options` are those of `drystone fidelity`.
///
/// # Errors
/// A folder that is no site, options that are wrong, nothing to compare.
pub fn fidelity(site: &Path, options: &[String], stop: &AtomicBool) -> Result<Option<Told<Said>>, Failure> {
    let Command::Fidelity(mut args) = command("fidelity", &["."], options)? else {
        return Err(Failure::usage("no options of fidelity"));
    };
    args.site = site.to_path_buf();
    let told = overheard(|| held(&args, stop))?;
    Ok(told.what.map(|found| Told { what: Said(Box::new(found)), messages: told.messages }))
}

/// Makes a site of accounting, in a folder; answers the account of it, as text and as JSON, or
/// `None` where it was told to stop. `options` are those of `drystone import`.
///
/// # Errors
/// Files that are no accounting, options that are wrong, a folder that is there and no site.
pub fn import(
    files: &[PathBuf],
    out: &Path,
    options: &[String],
    stop: &AtomicBool,
) -> Result<Option<Told<(String, String)>>, Failure> {
    let Command::Import(mut args) = command("import", &["--out=.", "."], options)? else {
        return Err(Failure::usage("no options of an import"));
    };
    args.files = files.to_vec();
    let told = overheard(|| imported(&args, out, stop))?;
    let Some(manifest) = told.what else { return Ok(None) };
    let json = String::from_utf8_lossy(&crate::output::json(&manifest)?).into_owned();
    Ok(Some(Told { what: (drystone_site::report(&manifest), json), messages: told.messages }))
}
