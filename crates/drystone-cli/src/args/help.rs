//! Help in three sizes: one screen (`-h`), the usual options (`--help`), every option
//! (`--help-all`).

use super::Cli;
use anstyle::Style;
use clap::CommandFactory;
use std::ffi::OsString;
use std::fmt::Write;

/// The option that shows everything.
const ALL: &str = "--help-all";
/// Columns of help, on every terminal and in pipes.
const COLUMNS: usize = 80;
/// Commands with more options than this show a choice of them on `-h`.
const MANY: usize = 12;
/// Examples on `-h`.
const EXAMPLES: usize = 2;

/// Commands by purpose.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Decide", &["compare", "advise", "headroom", "whatif", "explain", "report"]),
    ("Your site", &["import", "waits", "fidelity", "foresee", "when", "serve", "live"]),
    ("Research", &["run", "predict", "sweep", "reproduce", "evolve", "gantt"]),
    ("Tools", &["policies", "workload", "completions", "man"]),
];

/// Options that few people need: `--help-all` alone shows them.
const RARE: [&str; 25] = [
    "circumstances",
    "confidence",
    "duplicates",
    "excess",
    "feedback",
    "jitter",
    "knobs",
    "largest",
    "lenient",
    "negative_run",
    "negative_submit",
    "phases",
    "population",
    "search_threads",
    "seeds",
    "segments",
    "shift",
    "size",
    "splits",
    "stalls",
    "threads",
    "timing",
    "too_wide",
    "trace",
    "zero_run",
];

/// Options of commands with many that `-h` shows.
const USUAL: [&str; 26] = [
    "all",
    "ask",
    "baseline",
    "by",
    "details",
    "events",
    "format",
    "from",
    "goal",
    "guard",
    "job",
    "jobs",
    "limit",
    "machine",
    "month",
    "objective",
    "out",
    "plots",
    "policy",
    "report",
    "require",
    "slurm",
    "until",
    "why_not",
    "window",
    "within",
];

/// The command line as it is parsed and as help shows it: without rare options, unless `all`.
pub(crate) fn build_command(has_rare: bool) -> clap::Command {
    let mut command = Cli::command().max_term_width(COLUMNS);
    let groups = format_groups(&command);
    let template =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\n{{options}}{{after-help}}");
    command = command.help_template(template).mut_subcommands(|sub| size_help(sub, has_rare));
    command
}

/// Turns `--help-all` into `--help`; true if it was there.
pub(crate) fn asks_for_all(args: &mut [OsString]) -> bool {
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let help_arg = args[..end].iter_mut().find(|arg| *arg == ALL);
    help_arg.map(|arg| *arg = "--help".into()).is_some()
}

/// The commands with their short descriptions, a heading for each group.
fn format_groups(command: &clap::Command) -> String {
    let visible: Vec<&clap::Command> = command.get_subcommands().filter(|sub| !sub.is_hide_set()).collect();
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let bold = Style::new().bold().underline();
    let broadest = visible.iter().map(|sub| sub.get_name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for (at, (title, names)) in GROUPS.iter().enumerate() {
        let mut members: Vec<&clap::Command> =
            names.iter().filter_map(|name| visible.iter().copied().find(|sub| sub.get_name() == *name)).collect();
        if at + 1 == GROUPS.len() {
            members.extend(visible.iter().copied().filter(|sub| !is_grouped(sub.get_name())));
        }
        let _ = writeln!(text, "{bold}{title}:{bold:#}");
        for sub in members {
            let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {:<broadest$}  {about}", sub.get_name());
        }
        text.push('\n');
    }
    let _ = write!(text, "{bold}Options:{bold:#}");
    text
}

/// A command whose help has the three sizes, and its subcommands likewise.
fn size_help(command: clap::Command, has_rare: bool) -> clap::Command {
    let rare = |id: &str| RARE.contains(&id);
    let hides = !has_rare && command.get_arguments().any(|arg| rare(arg.get_id().as_str()));
    let optional = |arg: &clap::Arg| !arg.is_positional() && !arg.is_required_set();
    let many = command.get_arguments().filter(|arg| optional(arg)).count() > MANY;
    let long = command.get_after_long_help().or(command.get_after_help()).map(|text| refill_text(&text.to_string()));
    let mut command = command.mut_args(|arg| {
        let id = arg.get_id().as_str().to_string();
        let arg = if many { first_sentence(arg) } else { arg };
        let arg = if many && optional(&arg) && !USUAL.contains(&id.as_str()) { arg.hide_short_help(true) } else { arg };
        if rare(&id) && !has_rare { arg.hide(true) } else { arg }
    });
    if let Some(long) = long {
        let more = match (many, hides) {
            (true, true) => "\n\n--help explains every usual option, --help-all also rare ones.",
            (true, false) => "\n\n--help explains every option.",
            _ => "",
        };
        command = command.after_help(format!("{}{more}", first_examples(&long)));
        let more = if hides { format!("\n\n{ALL} also lists rare options.") } else { String::new() };
        command = command.after_long_help(long + &more);
    }
    command.mut_subcommands(|sub| size_help(sub, has_rare))
}

/// An option with the first sentence of its help for `-h`, and all of it for `--help`.
fn first_sentence(arg: clap::Arg) -> clap::Arg {
    let Some(text) = arg.get_help().map(ToString::to_string).filter(|_| arg.get_long_help().is_none()) else {
        return arg;
    };
    match end_of_sentence(&text) {
        Some(end) => arg.help(text[..end].to_string()).long_help(text),
        None => arg,
    }
}

/// The place at which the first sentence ends, or what explains it begins: never within brackets.
fn end_of_sentence(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, c) in text.char_indices() {
        let (head, rest) = text.split_at(at);
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '.' if head.ends_with("e.g") || head.ends_with("i.e") => {}
            // A word or two before a colon say nothing.
            ':' if head.split_whitespace().count() < 4 => {}
            '.' | ';' | ':' if depth == 0 && rest[1..].starts_with([' ', '\n']) => return Some(at),
            _ => {}
        }
    }
    None
}

fn first_examples(text: &str) -> String {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("Example"));
    let Some(title) = lines.next() else { return String::new() };
    let (mut kept_text, mut examples, mut goes_on) = (title.to_string(), 0, false);
    for line in lines.take_while(|line| !line.is_empty()) {
        examples += usize::from(!goes_on);
        if examples > EXAMPLES {
            break;
        }
        goes_on = line.ends_with(['\\', '|']) || line.trim_start().starts_with('#');
        kept_text.push('\n');
        kept_text.push_str(line);
    }
    kept_text
}

/// A text whose paragraphs are one line each, for clap to wrap; long examples continue on further
/// lines as a shell has them.
fn refill_text(text: &str) -> String {
    let mut paragraphs = String::new();
    let mut open = false;
    for line in text.lines() {
        let flows = !line.is_empty() && !line.starts_with(' ');
        paragraphs.push_str(match (paragraphs.is_empty(), open && flows) {
            (true, _) => "",
            (false, true) => " ",
            (false, false) => "\n",
        });
        if line.starts_with("  ") {
            fold_example(line, &mut paragraphs)
        } else {
            paragraphs.push_str(line)
        }
        open = flows && !line.ends_with(':');
    }
    paragraphs
}

/// Appends an example. One that is too long has its comment on a line of its own, and is folded
/// between words, never within quotes.
fn fold_example(line: &str, out: &mut String) {
    let mut rest = line.to_string();
    if line.chars().count() > COLUMNS
        && let Some((command, comment)) = line.split_once("  #")
    {
        let indent = line.len() - line.trim_start().len();
        let _ = writeln!(out, "{}# {}", &line[..indent], comment.trim());
        rest = command.trim_end().to_string();
    }
    while rest.chars().count() > COLUMNS
        && let Some(at) = find_fold(&rest)
    {
        let (head, tail) = rest.split_at(at);
        let sign = if head.ends_with('|') { "" } else { " \\" };
        let _ = writeln!(out, "{head}{sign}");
        rest = format!("      {}", tail.trim_start());
    }
    out.push_str(&rest);
}

/// The last place between words outside quotes that leaves room for a backslash.
fn find_fold(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start().len();
    let (mut is_quoted, mut fold_position) = (false, None);
    for (at, c) in line.char_indices().take(COLUMNS - 1) {
        is_quoted ^= c == '\'';
        if c == ' ' && !is_quoted && at > indent + 1 {
            fold_position = Some(at);
        }
    }
    fold_position
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_flow_and_examples_stay() {
        let text = "Examples:\n  one \\\n    goes on\n  two\n  three\n\nA paragraph\nof two lines.\n\nCodes: a\nb";
        assert_eq!(
            refill_text(text),
            "Examples:\n  one \\\n    goes on\n  two\n  three\n\nA paragraph of two lines.\n\nCodes: a b"
        );
        assert_eq!(first_examples(text), "Examples:\n  one \\\n    goes on\n  two");
        assert_eq!(first_examples("No example."), "");
    }

    #[test]
    fn long_examples_continue_as_a_shell_has_them() {
        let fold = |line: &str| {
            let mut out = String::new();
            fold_example(line, &mut out);
            out
        };
        let word = "w".repeat(30);
        assert_eq!(fold("  short   # comment"), "  short   # comment");
        let long = format!("  {word} {word} '{word} {word}' end");
        assert_eq!(fold(&long), format!("  {word} {word} \\\n      '{word} {word}' end"));
        let pipeline = format!("  {word} {word} | {word}");
        assert_eq!(fold(&pipeline), format!("  {word} {word} |\n      {word}"));
    }

    #[test]
    fn every_option_of_the_lists_exists() {
        let mut ids = Vec::new();
        let mut commands = vec![Cli::command()];
        while let Some(command) = commands.pop() {
            ids.extend(command.get_arguments().map(|arg| arg.get_id().to_string()));
            commands.extend(command.get_subcommands().cloned());
        }
        for id in RARE.iter().chain(&USUAL) {
            assert!(ids.iter().any(|arg_id| arg_id == id), "{id}");
        }
    }
}
