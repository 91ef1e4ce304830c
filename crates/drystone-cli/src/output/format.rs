//! Formats of what is written: one trait, and one file for each format.

use super::file::{Complete, OutputFile};
use crate::exit::CommandFailure;
use std::path::Path;

/// A kind of thing that is written: results, schedules, logs, charts.
pub(crate) trait WrittenKind: Sized + 'static {
    /// A thing of this kind.
    type Of<'a>: ?Sized;

    /// Purpose of the file's ending, for messages: `how to write the report`.
    const HOW: &'static str;

    /// Every format of it. A new format needs a file, and a place in this list.
    fn formats() -> &'static [&'static dyn Format<Self>];
}

/// A way to write things of a kind.
pub(crate) trait Format<K: WrittenKind>: Sync {
    /// Endings of the files that are written so, in lower case; messages name the first.
    fn file_endings(&self) -> &'static [&'static str];

    /// Its word for `--format`, and what help says of it; `None` where it is for files only.
    fn format_option(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Returns the traits in which it differs from others.
    fn format_traits(&self) -> FormatTraits {
        FormatTraits::default()
    }

    /// The feature that a build needs for it and this one has not.
    fn missing_feature(&self) -> Option<&'static str> {
        None
    }

    /// Writes all of it; the file still needs its name.
    fn write_to(&self, content: &K::Of<'_>, out: &mut OutputFile) -> Result<(), CommandFailure>;
}

/// Traits that some formats have and others lack.
#[derive(Clone, Copy, Default)]
pub(crate) struct FormatTraits {
    /// People read it as it stands on the terminal.
    pub(crate) for_people: bool,
    /// It shows plots, which need more than tables do.
    pub(crate) has_plots: bool,
    /// It holds the original records of a log.
    pub(crate) has_records: bool,
    /// It has no place for what determined its content: that stands in a file beside it.
    pub(crate) needs_meta_beside: bool,
    /// The standard output gets this one where a file's ending decides.
    pub(crate) for_stdout: bool,
}

/// The format that a file's ending asks for.
pub(crate) fn by_ending<K: WrittenKind>(path: &Path) -> Result<&'static dyn Format<K>, CommandFailure> {
    let stdout = path == Path::new("-");
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let ends = |format: &&&'static dyn Format<K>| match stdout {
        true => format.format_traits().for_stdout,
        false => format.file_endings().iter().any(|ending| name.ends_with(ending)),
    };
    let output_format = K::formats().iter().find(ends).copied().ok_or_else(|| {
        let endings: Vec<&str> =
            K::formats().iter().filter_map(|format| format.file_endings().first().copied()).collect();
        let (last, first) = endings.split_last().map_or(("", &[][..]), |(last, first)| (*last, first));
        CommandFailure::usage_error(format_args!(
            "{}: the ending says {}; expected {} or {last}",
            path.display(),
            K::HOW,
            first.join(", ")
        ))
    })?;
    match output_format.missing_feature() {
        Some(feature) => Err(missing_feature_error(&path.display().to_string(), feature)),
        None => Ok(output_format),
    }
}

pub(crate) fn missing_feature_error(subject: &str, feature: &str) -> CommandFailure {
    CommandFailure::usage_error(format_args!(
        "{subject}: this build lacks the feature `{feature}`; build it with \
         `cargo build --release --features {feature}`"
    ))
}

/// A file to be written, opened before the work begins: what cannot be written is said at once.
pub(crate) struct OutputTarget<K: WrittenKind> {
    pub(crate) format: &'static dyn Format<K>,
    pub(crate) out: OutputFile,
}

impl<K: WrittenKind> OutputTarget<K> {
    /// Opens a file to write as its ending says.
    pub(crate) fn open(path: &Path) -> Result<OutputTarget<K>, CommandFailure> {
        Ok(OutputTarget { format: by_ending(path)?, out: OutputFile::create(path)? })
    }

    /// Writes it; the file still needs its name.
    pub(crate) fn write_contents(mut self, content: &K::Of<'_>) -> Result<Complete, CommandFailure> {
        self.format.write_to(content, &mut self.out)?;
        self.out.complete_writing()
    }
}

/// Writes bytes that are there already.
pub(crate) fn put_bytes(out: &mut OutputFile, bytes: &[u8]) -> Result<(), CommandFailure> {
    use std::io::Write;
    out.write_all(bytes).map_err(|e| CommandFailure::write_error(out.name(), &e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use crate::output::{charts::Charts, logs::Logs, reports::Reports, schedules::Schedules};
    use clap::CommandFactory;

    /// Every ending leads to its format, and the help of the option that takes such a file names
    /// it.
    fn endings_are_told<K: WrittenKind>(command: &[&str], option: &str) {
        let cli = Cli::command();
        let find = |at: clap::Command, name: &&str| at.find_subcommand(name).expect(name).clone();
        let command = command.iter().fold(cli, find);
        let argument = command.get_arguments().find(|a| a.get_id() == option).expect(option);
        let help = argument.get_long_help().or(argument.get_help()).expect("help").to_string();
        for format in K::formats() {
            let ending = format.file_endings().first().expect("an ending");
            assert!(help.contains(ending), "--{option} takes {ending}: {help}");
            for ending in format.file_endings() {
                let by_name = by_ending::<K>(Path::new(&format!("Name{}", ending.to_uppercase()))).expect("a format");
                assert_eq!(by_name.file_endings(), format.file_endings());
            }
        }
        assert!(by_ending::<K>(Path::new("name.odd")).is_err());
    }

    struct OddFormat;

    impl WrittenKind for OddFormat {
        type Of<'a> = ();
        const HOW: &'static str = "how to write it";
        fn formats() -> &'static [&'static dyn Format<OddFormat>] {
            &[&OddFormat]
        }
    }

    impl Format<OddFormat> for OddFormat {
        fn file_endings(&self) -> &'static [&'static str] {
            &[".odd"]
        }
        fn missing_feature(&self) -> Option<&'static str> {
            Some("oddities")
        }
        fn write_to(&self, _: &(), _: &mut OutputFile) -> Result<(), CommandFailure> {
            Ok(())
        }
    }

    #[test]
    fn what_a_build_cannot_write_is_said_before_the_work() {
        let Err(CommandFailure::Message { code, text }) = by_ending::<OddFormat>(Path::new("a.odd")) else {
            panic!("it is refused")
        };
        assert_eq!(code, crate::exit::USAGE);
        assert!(text.contains("a.odd: ") && text.contains("--features oddities"), "{text}");
    }

    #[test]
    fn help_names_every_format() {
        endings_are_told::<Reports>(&["compare"], "report");
        endings_are_told::<Reports>(&["run"], "report");
        endings_are_told::<Schedules>(&["run"], "jobs");
        endings_are_told::<Charts>(&["gantt"], "out");
        #[cfg(feature = "sweep")]
        endings_are_told::<crate::output::exports::Exports>(&["sweep", "export"], "out");
        endings_are_told::<Logs>(&["workload", "convert"], "out");
    }
}
