//! `drystone completions` and `drystone man`: both made from the definition of the command line.

use crate::args::{Cli, CompletionsArgs, ManArgs, command};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::{file, stdout};
use clap::CommandFactory;
use clap_mangen::Man;

pub(crate) fn completions(args: &CompletionsArgs) -> CommandOutcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "drystone", &mut script);
    stdout::write(&script)?;
    Ok(DONE)
}

pub(crate) fn man(args: &ManArgs) -> CommandOutcome {
    if args.markdown {
        let mut command = command(true);
        command.build();
        stdout::write(markdown(command).as_bytes())?;
        return Ok(DONE);
    }
    let mut command = Cli::command();
    command.build();
    let Some(dir) = &args.dir else {
        stdout::write(&page(command)?)?;
        return Ok(DONE);
    };
    std::fs::create_dir_all(dir).map_err(|e| CommandFailure::write(&dir.display().to_string(), &e))?;
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

fn page(command: clap::Command) -> Result<Vec<u8>, CommandFailure> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page).map_err(CommandFailure::usage)?;
    Ok(page)
}

/// The help of every command, a heading each, in the order of `--help`.
fn markdown(command: clap::Command) -> String {
    let mut text = "# Commands\n\nThis page is generated from the program.\n".to_string();
    section(&mut text, "drystone", command);
    text
}

fn section(text: &mut String, name: &str, mut command: clap::Command) {
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    text.push_str(&format!("\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end()));
    let subcommands = command.get_subcommands().filter(|s| s.get_name() != "help" && !s.is_hide_set());
    for sub in subcommands {
        section(text, &format!("{name} {}", sub.get_name()), sub.clone());
    }
}
