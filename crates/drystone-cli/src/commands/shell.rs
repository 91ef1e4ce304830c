//! `drystone completions` and `drystone man`: both made from the definition of the command line.

use crate::args::{Cli, CompletionsArgs, ManArgs, build_command};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::{file, stdout};
use clap::CommandFactory;
use clap_mangen::Man;

pub(crate) fn run_completions(args: &CompletionsArgs) -> CommandOutcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "drystone", &mut script);
    stdout::write_bytes(&script)?;
    Ok(DONE)
}

pub(crate) fn run_man(args: &ManArgs) -> CommandOutcome {
    if args.markdown {
        let mut command = build_command(true);
        command.build();
        stdout::write_bytes(render_markdown(command).as_bytes())?;
        return Ok(DONE);
    }
    let mut command = Cli::command();
    command.build();
    let Some(dir) = &args.dir else {
        stdout::write_bytes(&man_page(command)?)?;
        return Ok(DONE);
    };
    std::fs::create_dir_all(dir).map_err(|e| CommandFailure::write_error(&dir.display().to_string(), &e))?;
    let mut files = Vec::new();
    let mut remaining_commands = vec![("drystone".to_string(), command)];
    while let Some((name, command)) = remaining_commands.pop() {
        for sub in command.get_subcommands().filter(|s| s.get_name() != "help") {
            remaining_commands.push((format!("{name}-{}", sub.get_name()), sub.clone()));
        }
        files.push(file::write_bytes(&dir.join(format!("{name}.1")), &man_page(command)?)?);
    }
    file::publish_all(files)?;
    Ok(DONE)
}

fn man_page(command: clap::Command) -> Result<Vec<u8>, CommandFailure> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page).map_err(CommandFailure::usage_error)?;
    Ok(page)
}

/// The help of every command, a heading each, in the order of `--help`.
fn render_markdown(command: clap::Command) -> String {
    let mut text = "# Commands\n\nThis page is generated from the program.\n".to_string();
    append_section(&mut text, "drystone", command);
    text
}

fn append_section(text: &mut String, name: &str, mut command: clap::Command) {
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    text.push_str(&format!("\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end()));
    let subcommands = command.get_subcommands().filter(|s| s.get_name() != "help" && !s.is_hide_set());
    for sub in subcommands {
        append_section(text, &format!("{name} {}", sub.get_name()), sub.clone());
    }
}
