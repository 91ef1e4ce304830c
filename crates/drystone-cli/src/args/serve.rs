//! `drystone serve`.

use clap::Args;
use drystone_live::web::{Listen, ListenPlaceError};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drystone serve site/                              # http://127.0.0.1:9798/
  drystone serve site/#gpu --listen 8080            # one pool, on another port
  drystone serve site/ --listen unix:site.sock      # for the owner and group of a file

The first page is that of `drystone waits`; beside it stand explain, whatif, gantt and fidelity. Each page is made by the command of its \
    name when it is asked for, and nothing is written. Ctrl-C ends it, with exit code 0.

Every user of the machine can connect to a port. From another machine:

  ssh -L 9798:localhost:9798 HOST";

/// Arguments of `drystone serve`.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// Folder of an imported site; site/#POOL is one of its pools.
    pub(crate) site: PathBuf,

    /// Address of the pages: a port of this machine (0: any that is free), ADDRESS:PORT of
    /// loopback, or unix:FILE.
    #[arg(long, value_name = "PLACE", default_value = "9798", value_parser = parse_listen)]
    pub(crate) listen: Listen,

    /// Print only errors to stderr.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Reads the address at which pages are served.
fn parse_listen(text: &str) -> Result<Listen, ListenPlaceError> {
    Listen::parse_among(text, "a port, ADDRESS:PORT of loopback or unix:FILE")
}
