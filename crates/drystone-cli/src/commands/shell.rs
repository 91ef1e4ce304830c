//! `drystone completions` and `drystone man`: both made from the definition of the command line.

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::exit::{DONE, Failure, Outcome};
use crate::output::{file, stdout};
use clap::CommandFactory;
use clap_mangen::Man;

pub(crate) fn completions(args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "drystone", &mut script);
    stdout::write(&script)?;
    Ok(DONE)
}

pub(crate) fn man(args: &ManArgs) -> Outcome {
    let mut command = Cli::command();
    command.build();
    let Some(dir) = &args.dir else {
        stdout::write(&page(command)?)?;
        return Ok(DONE);
    };
    std::fs::create_dir_all(dir).map_err(|e| Failure::write(&dir.display().to_string(), &e))?;
    let mut files = Vec::new();
    let mut left = vec![("drystone".to_string(), command)];
    while let Some((name, command)) = left.pop() {
        for sub in command.get_subcommands().filter(|s| s.get_name() != "help") {
            left.push((format!("{name}-{}", sub.get_name()), sub.clone()));
        }
        files.push(file::write(&dir.join(format!("{name}.1")), &page(command)?)?);
    }
    file::publish(files)?;
    Ok(DONE)
}

fn page(command: clap::Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page).map_err(Failure::usage)?;
    Ok(page)
}
