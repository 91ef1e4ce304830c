//! `drystone sweep export`: results for other programs.

use crate::args::ExportArgs;
use crate::exit::{CommandOutcome, DONE};
use crate::output::exports::{Export, Exports};
use crate::output::file;
use crate::output::format::{OutputTarget, by_ending};
use drystone_sweep::{Store, query_store};

pub(super) fn run_export(args: &ExportArgs) -> CommandOutcome {
    by_ending::<Exports>(&args.out)?;
    let store = &args.store;
    file::check_distinct(&[Some(store)], &[("--out", Some(&args.out))])?;
    // As `status` and `rank` do: other programs cannot see that rows are not what their numbers
    // say.
    Store::open_to_read(store)?.status()?;
    let answer = query_store(store, "SELECT * FROM result ORDER BY configuration")?;
    let types = query_store(store, "SELECT type FROM pragma_table_info('result') ORDER BY cid")?;
    let target = OutputTarget::<Exports>::open(&args.out)?;
    target.write_contents(&Export { answer: &answer, types: &types, store })?.publish()?;
    Ok(DONE)
}
