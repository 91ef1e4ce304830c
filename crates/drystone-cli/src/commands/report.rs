//! `drystone report`: results that were written before, as a page.

use crate::args::ReportArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::InputKind;
use crate::output::file::{self, OutputFile};
use crate::output::{message, plots};
use drystone_report::{Results, render_page};
use std::io::Read;
use std::path::Path;

pub(crate) fn run_report(args: &ReportArgs) -> CommandOutcome {
    message::be_quiet(args.quiet);
    // What cannot be written is said before the work is done.
    let extension = args.out.extension().map(|e| e.to_string_lossy().to_lowercase());
    if file::file_identity(&args.out).is_some_and(|file| file != Path::new("-"))
        && !matches!(extension.as_deref(), Some("html" | "htm"))
    {
        let name = args.out.display();
        return Err(CommandFailure::usage_error(format_args!(
            "--out {name}: a page is HTML; give it a name that ends in .html"
        )));
    }
    file::check_distinct(&[Some(&args.results)], &[("--out", Some(&args.out))])?;
    InputKind::refuse_path(&args.results, &[InputKind::Results])?;
    let out = OutputFile::create(&args.out)?;
    let _folder = args.plots.as_deref().map(plots::prepare_folder).transpose()?;
    let name =
        if args.results == Path::new("-") { "standard input".to_string() } else { args.results.display().to_string() };
    let read_results = || -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if args.results == Path::new("-") {
            std::io::stdin().lock().read_to_end(&mut bytes)?;
        } else {
            bytes = std::fs::read(&args.results)?;
        }
        Ok(bytes)
    };
    let bytes = read_results().map_err(|e| CommandFailure::usage_error(format_args!("{name}: {e}")))?;
    let results = Results::read_json(&bytes).map_err(|e| CommandFailure::usage_error(format_args!("{name}: {e}")))?;
    if results.policies.iter().all(|p| p.details.is_none()) {
        message::print_note(
            "the results hold no distributions and series; `--details` makes the simulation write them",
        );
    }
    let mut files = vec![out.write_whole(render_page(&results).as_bytes())?];
    if let Some(directory) = &args.plots {
        files.extend(plots::write_plots(directory, &results)?);
    }
    file::publish_all(files)?;
    Ok(DONE)
}
