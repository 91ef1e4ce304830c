//! Makes tables, figures and recordings of the documentation, and measures speeds that it states.
//!
//! ```text
//! cargo run --release -p drystone-generators --features all -- NAME ARGUMENT...
//! ```

mod certify;
mod claims;
mod coverage;
mod goal_study;
mod multiqueue_study;
mod record;
mod scores;
mod search_speed;
mod slack_study;
mod slurm_speed;
mod suspension_study;
mod throughput;
mod when_speed;

use std::process::{ExitCode, Termination};

/// Result of a generator, or the reason why there is none.
pub(crate) type GeneratorResult<T> = Result<T, Box<dyn std::error::Error>>;

type Generator = fn(Vec<String>) -> ExitCode;

const GENERATORS: [(&str, Generator); 13] = [
    ("certify", |args| certify::main(args).report()),
    ("claims", |args| claims::main(args).report()),
    ("coverage", |args| coverage::main(args).report()),
    ("found", |args| search_speed::main(args).report()),
    ("goal_study", |args| goal_study::main(args).report()),
    ("multiqueue_study", |args| multiqueue_study::main(args).report()),
    ("record", |args| record::main(args).report()),
    ("scores", |args| scores::main(args).report()),
    ("slack_study", |args| slack_study::main(args).report()),
    ("slurm_speed", |args| slurm_speed::main(args).report()),
    ("suspension_study", |args| suspension_study::main(args).report()),
    ("throughput", |args| throughput::main(args).report()),
    ("when_speed", |args| when_speed::main(args).report()),
];

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    match GENERATORS.iter().find(|(candidate, _)| *candidate == name) {
        Some((_, generator)) => generator(args.collect()),
        None => {
            let names: Vec<&str> = GENERATORS.iter().map(|(name, _)| *name).collect();
            eprintln!("there is no generator `{name}`; give one of {}", names.join(", "));
            ExitCode::from(2)
        }
    }
}
