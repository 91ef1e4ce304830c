//! `drystone serve`: the pages of a site in a browser, made when they are asked for.

mod desk;
mod fields;
mod forms;
mod pages;

use crate::args::ServeArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::InputKind;
use crate::interrupt;
use crate::output::{message, stdout};
use crate::site;
use drystone_live::web::{self, Listen};
use pages::SitePages;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A signal ends it within this time.
const LOOK: Duration = Duration::from_millis(50);

pub(crate) fn run_serve(args: &ServeArgs) -> CommandOutcome {
    message::be_quiet(args.quiet);
    InputKind::refuse_path(&args.site, &[InputKind::Site])?;
    // What is no site, and a pool that is none, is said before anything listens.
    site::open_site(&args.site)?;
    refuse_others(&args.listen)?;
    let stop = interrupt::stop_in_order();
    let pages = Arc::new(SitePages::new(&args.site)?);
    let address = web::serve_pages(&args.listen, pages).map_err(CommandFailure::usage_error)?;
    let announcement = stdout::write_bytes(format!("{}\n", address.unwrap_or_default()).as_bytes());
    if announcement.is_ok() {
        message::print_note(&format!("serving {}; press Ctrl-C to stop", args.site.display()));
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK);
        }
    }
    if let Listen::Unix(socket) = &args.listen {
        let _ = std::fs::remove_file(socket);
    }
    announcement?;
    Ok(DONE)
}

/// Refuses addresses that other machines reach.
fn refuse_others(listen: &Listen) -> Result<(), CommandFailure> {
    match listen {
        Listen::Tcp { address, .. } if !address.ip().is_loopback() => Err(CommandFailure::usage_error(format_args!(
            "--listen {address}: other machines can reach this address, and the pages are for this machine; give a port, and \
             `ssh -L PORT:localhost:PORT HOST` brings it to another machine"
        ))),
        Listen::Nowhere => Err(CommandFailure::usage_error(
            "--listen none: there is nothing to serve without a place; give a port, ADDRESS:PORT of loopback or unix:FILE",
        )),
        Listen::Tcp { .. } | Listen::Unix(_) => Ok(()),
    }
}
