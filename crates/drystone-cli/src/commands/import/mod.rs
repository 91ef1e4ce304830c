//! `drystone import`: a site's accounting as a workload.

mod overview;

use crate::args::{ImportArgs, ImportFormat};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::interrupt;
use crate::output::document::Document;
use crate::output::file::OutputFile;
use crate::output::{self, message, number, stdout};
use crate::progress::{CountedReader, Phases, WorkProgress};
use drystone_site::{
    AnonymousKey, Hide, ImportObserver, Manifest, MoldableTable, Site, SiteError, example_files, import_files,
    render_report, write_folder,
};
use drystone_slurm::conf::SlurmConf;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::AtomicBool;

impl From<SiteError> for CommandFailure {
    fn from(error: SiteError) -> CommandFailure {
        match error {
            SiteError::Write { file, source } => CommandFailure::write_error(&file, &source),
            SiteError::Log(error) => CommandFailure::from(error),
            other => CommandFailure::caused_by(other),
        }
    }
}

pub(crate) fn run_import(args: &ImportArgs) -> CommandOutcome {
    message::be_quiet(args.quiet);
    if args.ask {
        // Slurm has a T between date and time; a blank would part two words of the shell.
        let moment = |text: &Option<String>, unsaid: &str| text.as_deref().unwrap_or(unsaid).trim().replace(' ', "T");
        let (from, until) = (moment(&args.from, "now-180days"), moment(&args.until, "now"));
        stdout::write_bytes(format!("{}\n", drystone_site::ask_commands(&from, &until)).as_bytes())?;
        return Ok(DONE);
    }
    if let Some(folder) = &args.example {
        return write_example(folder);
    }
    let out = args.out.as_deref().ok_or_else(|| CommandFailure::usage_error("--out DIR says where the site goes"))?;
    let stop = interrupt::stop_in_order();
    let Some(manifest) = import_accounting(args, out, stop)? else { return Ok(interrupt::exit_code()) };
    if interrupt::stop_at_once() {
        return Ok(interrupt::exit_code());
    }
    match args.format {
        ImportFormat::Text if args.details => stdout::write_bytes(render_report(&manifest).as_bytes())?,
        ImportFormat::Text => output::print_overview(&overview::render_overview(&manifest, out))?,
        ImportFormat::Json => stdout::write_bytes(&output::render_json(&manifest)?)?,
    }
    Ok(DONE)
}

/// Writes the files of the made-up site. Files that are there already have to be the same.
fn write_example(folder: &Path) -> CommandOutcome {
    let fail = |path: &Path, error: &io::Error| CommandFailure::write_error(&path.display().to_string(), error);
    std::fs::create_dir_all(folder).map_err(|error| fail(folder, &error))?;
    let files = example_files();
    for (name, text) in &files {
        let path = folder.join(name);
        match std::fs::read(&path) {
            Ok(bytes) if bytes == text.as_bytes() => continue,
            Ok(_) => {
                return Err(CommandFailure::usage_error(format_args!(
                    "{}: is another file already; --example takes a folder of its own",
                    path.display()
                )));
            }
            Err(_) => std::fs::write(&path, text).map_err(|error| fail(&path, &error))?,
        }
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let mut document = Document::default();
    document.add_text(format!(
        "Two months of a made-up cluster are in {}: {}. They are what the commands of drystone import --ask would fetch there.",
        folder.display(),
        names.join(", ")
    ));
    document.add_text(format!("Next: drystone import {} --timezone UTC --out site/", folder.display()));
    output::print_overview(&document)?;
    Ok(DONE)
}

/// Imports, and writes the site; `None` on cancellation.
pub(crate) fn import_accounting(
    args: &ImportArgs,
    out: &Path,
    stop: &AtomicBool,
) -> Result<Option<Manifest>, CommandFailure> {
    let open = |path: &Path| open_counted(path);
    let phases = Phases::new();
    let watch = ImportObserver { stop: Some(stop), phase: &|phase| phases.enter_phase(phase) };
    let options = args.import_options();
    let input_paths: Vec<Option<&Path>> = args.files.iter().map(|path| Some(path.as_path())).collect();
    output::file::check_distinct(&input_paths, &[("--shapes", args.shapes.as_deref())])?;
    let mut site = match import_files(&args.files, &options, &open, watch) {
        Err(SiteError::Stopped) => return Ok(None),
        other => other?,
    };
    drop(phases);
    if let (Some(ranges), Some(file)) = (&options.node_ranges, &args.shapes) {
        let MoldableTable { table, jobs, left_out } = site.moldable_jobs(ranges);
        OutputFile::create(file)?.write_whole(table.as_bytes())?.publish()?;
        message::print_note(&format!("{} asked for a range of nodes", number::format_plural(jobs as u64, "job")));
        if left_out > 0 {
            let jobs = number::format_plural(left_out as u64, "job");
            message::print_warning(&format!(
                "{jobs} with a range of more than 10,000 nodes left out of the table of sizes"
            ));
        }
    }
    // What is said of the accounting itself is said before its names are gone.
    for warning in &site.manifest.warnings {
        message::print_warning(warning);
    }
    if let Some(conf_text) = site.slurm_conf() {
        let is_one = |path: &&std::path::PathBuf| {
            SlurmConf::read_file(path).is_ok_and(|conf| !conf.nodes.is_empty() && !conf.partitions.is_empty())
        };
        args.machine.iter().filter(is_one).for_each(|path| crate::site::remarks_at_import(path, conf_text));
    }
    if let Some(key) = &args.anonymise {
        anonymise_site(&mut site, key, args)?;
    }
    let progress = WorkProgress::new("writing", "jobs", Some(site.len() as u64));
    write_folder(&site, out, &|jobs| progress.add_done(jobs))?;
    Ok(Some(site.manifest))
}

/// Puts keyed numbers in the place of names, and says what could still identify people.
fn anonymise_site(site: &mut Site, key: &str, args: &ImportArgs) -> Result<(), CommandFailure> {
    let key = match key {
        "" => AnonymousKey::random_key()
            .map_err(|error| CommandFailure::usage_error(format_args!("--anonymise: no random key: {error}")))?,
        text => AnonymousKey::from_text(text),
    };
    let hide = Hide { partitions: args.anonymise_partitions, times: args.shift_time };
    let Some(notes) = site.anonymise_site(&key, hide) else {
        return Err(CommandFailure::usage_error(
            "--anonymise: a log in Standard Workload Format has numbers for names already, and its comments are its authors'",
        ));
    };
    notes.iter().for_each(|text| message::print_note(text));
    Ok(())
}

/// A file whose bytes are counted as they are read.
fn open_counted(path: &Path) -> io::Result<Box<dyn Read>> {
    let file = File::open(path)?;
    let total = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|m| m.len());
    let progress = WorkProgress::new(&format!("reading {}", path.display()), "bytes", total);
    Ok(Box::new(CountedReader { input: Box::new(file), progress }))
}
