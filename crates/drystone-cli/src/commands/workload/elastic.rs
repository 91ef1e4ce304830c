//! `drystone workload convert --shapes`: workloads of ElastiSim and Batsim as a log and a table of
//! sizes.

use crate::args::ConvertArgs;
use crate::exit::{CommandOutcome, DONE};
use crate::output::file::{self, OutputFile};
use crate::output::format::OutputTarget;
use crate::output::logs::{Logs, WrittenLog};
use crate::output::{message, number};
use crate::real::read_text;
use drystone::log::elastic::{ElasticLog, ElasticMachine, read_elastic};
use std::path::{Path, PathBuf};

pub(super) fn convert_elastic(args: &ConvertArgs) -> CommandOutcome {
    let log = &args.rewrite.log;
    let shapes = args.shapes.as_deref();
    file::check_distinct(&[Some(log)], &[("--out", Some(&args.rewrite.out)), ("--shapes", shapes)])?;
    let target = OutputTarget::<Logs>::open(&args.rewrite.out)?;
    let (name, text) = read_text(log)?;
    let machine =
        ElasticMachine { flops: args.flops.unwrap_or_default(), gpu_flops: args.gpu_flops, procs: args.procs };
    let ElasticLog { header, records, table, sized, left_out } =
        read_elastic(&name, text.as_bytes(), &machine, &mut |file| open_beside(log, file))?;
    if let Some(shapes) = shapes {
        OutputFile::create(shapes)?.write_whole(table.as_bytes())?.publish()?;
    }
    target.write_contents(&WrittenLog { header: &header, records: &records })?.publish()?;
    message::print_note(&format!(
        "{} of {} have several sizes",
        sized,
        number::format_plural(records.len() as u64, "job")
    ));
    for (reason, count) in left_out {
        message::print_note(&format!("left out: {reason} ({count})"));
    }
    Ok(DONE)
}

/// Reads a file that a workload names, from the working directory or from the folder of the
/// workload. There it may lie without the leading folders of its name.
fn open_beside(log: &Path, file: &str) -> Result<String, String> {
    let folder = log.parent().unwrap_or(Path::new("."));
    let parts: Vec<_> = Path::new(file).components().collect();
    let tails = (0..parts.len()).map(|first| folder.join(parts[first..].iter().collect::<PathBuf>()));
    let places = std::iter::once(PathBuf::from(file)).chain(tails);
    let path = places.into_iter().find(|path| path.is_file());
    let path = path.ok_or_else(|| {
        format!("there is no `{file}`, neither here nor beside {}; put the application model there", log.display())
    })?;
    std::fs::read_to_string(&path).map_err(|error| format!("{}: cannot be read: {error}", path.display()))
}
