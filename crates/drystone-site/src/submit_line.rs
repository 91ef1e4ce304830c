//! Options of the command with which a job was submitted, as Slurm records it (`SubmitLine`).

/// Short options of `sbatch`, `salloc` and `srun` that have a value.
const VALUED: &[u8] = b"aAbBcCdDeFgGiJLmMnNopPqrStTwx";
/// Short options whose value, if any, follows without a blank: `-I30`.
const ATTACHED: &[u8] = b"IkK";
/// Long options that are not followed by a value, as far as they are often used.
const BARE: &[&str] = &[
    "bcast",
    "bell",
    "compress",
    "contiguous",
    "disable-status",
    "exact",
    "exclusive",
    "get-user-env",
    "help",
    "hold",
    "ignore-pbs",
    "immediate",
    "interactive",
    "kill-command",
    "kill-on-bad-exit",
    "label",
    "multi-prog",
    "nice",
    "no-allocate",
    "no-bell",
    "no-kill",
    "no-requeue",
    "no-shell",
    "overcommit",
    "overlap",
    "oversubscribe",
    "parsable",
    "preserve-env",
    "propagate",
    "pty",
    "quiet",
    "reboot",
    "requeue",
    "resv-ports",
    "send-libs",
    "spread-job",
    "test-only",
    "unbuffered",
    "use-min-nodes",
    "verbose",
    "wait",
    "whole",
    "x11",
];

/// Values of options. Of an option that is given twice, the last value holds, as in Slurm.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SubmitOptions<'a> {
    /// `-N`: a number of nodes or a range.
    pub(crate) nodes: Option<&'a str>,
    /// `-w`: nodes that the job requires.
    pub(crate) only: Option<&'a str>,
    /// `-x`: nodes that it excludes.
    pub(crate) excluded: Option<&'a str>,
    /// `-p`: a partition, or several.
    pub(crate) partitions: Option<&'a str>,
    /// `-d`: jobs that it waits for.
    pub(crate) dependencies: Option<&'a str>,
}

impl<'a> SubmitOptions<'a> {
    /// Reads a command such as `sbatch -N 2-4 -x n7 job.sh`. Words behind the program are options
    /// of the program itself, and so are those behind `--wrap`: Slurm records `--wrap="grep -w n1"`
    /// without quotes. The name of a job is recorded without them as well, and may have blanks:
    /// `name` is the name in the record, empty where there is none. Of a heterogeneous job Slurm
    /// records the options of all components with each, between colons, and nothing says to which
    /// they belong.
    pub(crate) fn read_options(line: &'a str, name: &str) -> SubmitOptions<'a> {
        let mut options = SubmitOptions::default();
        let mut rest = line;
        let program = next_word(&mut rest).unwrap_or_default();
        // `sbatch --wait` has no value, `srun --wait=30` has one.
        let is_step = program.rsplit('/').next() == Some("srun");
        while let Some(word) = next_word(&mut rest) {
            if word == ":" {
                return SubmitOptions::default();
            }
            let (option, value) = if let Some(long) = word.strip_prefix("--") {
                if long.split('=').next() == Some("wrap") {
                    break;
                }
                match long.split_once('=') {
                    Some((option, value)) => (option, Some(value)),
                    None if BARE.contains(&long) && !(is_step && long == "wait") => (long, None),
                    None => (long, next_value(&mut rest)),
                }
            } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                // Letters without a value may stand before a letter with one: `-Hn4`.
                let is_valued = |letter: u8| VALUED.contains(&letter) || (is_step && letter == b'W');
                let ends = |letter: u8| is_valued(letter) || ATTACHED.contains(&letter);
                let Some(at) = letters.bytes().position(ends) else { continue };
                if !is_valued(letters.as_bytes()[at]) {
                    continue;
                }
                let (option, value) = (&letters[at..=at], &letters[at + 1..]);
                (option, if value.is_empty() { next_word(&mut rest) } else { Some(value) })
            } else {
                break;
            };
            if let (true, Some(value)) = (["J", "job-name"].contains(&option), value) {
                skip_name(&mut rest, value, name);
            }
            options.set_option(option, value);
        }
        options
    }

    fn set_option(&mut self, name: &str, value: Option<&'a str>) {
        match name {
            "N" | "nodes" => self.nodes = value,
            "w" | "nodelist" => self.only = value,
            "x" | "exclude" => self.excluded = value,
            "p" | "partition" => self.partitions = value,
            "d" | "dependency" => self.dependencies = value,
            _ => {}
        }
    }

    /// Returns a list of nodes without its quotes; `None` for the name of a file that has the list.
    pub(crate) fn read_list(list: Option<&str>) -> Option<&str> {
        list.map(|list| list.trim_matches(['"', '\''])).filter(|list| !list.is_empty() && !list.contains('/'))
    }
}

/// Takes the next word of a command. Quotes at the beginning of a word or of a value keep blanks in
/// it, up to quotes with a blank or nothing behind them.
fn next_word<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let text = rest.trim_start();
    let blank = text.find(char::is_whitespace).unwrap_or(text.len());
    let head = &text[..blank];
    let value = match head.strip_prefix('-') {
        Some(long) if long.starts_with('-') => head.find('=').map_or(0, |at| at + 1),
        Some(_) => 2,
        None => 0,
    };
    let quote = head.get(value..).and_then(|text| text.chars().next()).filter(|first| ['"', '\''].contains(first));
    let closing = quote.and_then(|quote| {
        let closes = |&(at, _): &(usize, &str)| text[at + 1..].chars().next().is_none_or(char::is_whitespace);
        text.match_indices(quote).filter(|&(at, _)| at > value).find(closes).map(|(at, _)| at + 1)
    });
    let (word, behind) = text.split_at(closing.unwrap_or(blank));
    *rest = behind;
    Some(word).filter(|word| !word.is_empty())
}

/// Takes the next word as the value of a long option, unless it is an option itself.
fn next_value<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let mut behind = *rest;
    let word = next_word(&mut behind).filter(|word| !word.starts_with('-'))?;
    *rest = behind;
    Some(word)
}

/// Passes over the words of a job's name behind the first, which is the value of the option.
fn skip_name(rest: &mut &str, first: &str, name: &str) {
    let mut words = name.split_whitespace();
    if words.next() != Some(first) {
        return;
    }
    let mut behind = *rest;
    if words.all(|word| next_blank(&mut behind) == Some(word)) {
        *rest = behind;
    }
}

/// Takes the text up to the next blank.
fn next_blank<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let text = rest.trim_start();
    let (word, behind) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    *rest = behind;
    Some(word).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_where_slurm_takes_them() {
        for (line, only, exclusion) in [
            ("sbatch -w n1 job.sh", Some("n1"), None),
            ("sbatch -wn[1-3] -x n9 job.sh", Some("n[1-3]"), Some("n9")),
            ("sbatch --nodelist=n1,n2 --exclude n3 job.sh", Some("n1,n2"), Some("n3")),
            ("sbatch -v -Hx n4 job.sh", None, Some("n4")),
            ("sbatch job.sh -w n1", None, None),
            ("srun --exclusive -p long -x n5 ./a.out -x 3", None, Some("n5")),
            ("sbatch -x n1 -x n2 job.sh", None, Some("n2")),
            ("sbatch --wait -w n1 --wrap=hostname", Some("n1"), None),
            ("sbatch -x n1 --wrap=grep -w n2 -x n3 file", None, Some("n1")),
            ("sbatch --wrap minimap2 -x map-ont ref.fa", None, None),
            ("sbatch -N1 -w n1 : -N1 -w n2 job.sh", None, None),
            ("sbatch -w n1 job.sh : -w n2", Some("n1"), None),
            ("srun --overlap ./a -w n1", None, None),
            ("sbatch --nice job.sh -x n1", None, None),
            ("sbatch -w", None, None),
            // `-W` of srun has a value, that of sbatch has none.
            ("srun -W 30 -w n1 ./a.out", Some("n1"), None),
            ("/usr/bin/srun --wait 30 -w n1 ./a.out", Some("n1"), None),
            ("sbatch -W -w n1 job.sh", Some("n1"), None),
            ("srun -I30 -w n1 ./a.out", Some("n1"), None),
            ("salloc -Kx -w n1", Some("n1"), None),
            ("sbatch --job-name=\"my job\" -w n1 job.sh", Some("n1"), None),
            ("sbatch -J 'my job' -x 'n1 n2' job.sh", None, Some("'n1 n2'")),
            ("sbatch -J\"my job\" -w n1 job.sh -w n2", Some("n1"), None),
            ("sbatch -J it's -w n1 job.sh", Some("n1"), None),
            ("sbatch --comment \"a -w n9\" -w n1 job.sh", Some("n1"), None),
            ("", None, None),
        ] {
            let options = SubmitOptions::read_options(line, "");
            assert_eq!((options.only, options.excluded), (only, exclusion), "{line}");
        }
        assert_eq!(SubmitOptions::read_list(Some("./nodes")), None);
        assert_eq!(SubmitOptions::read_list(Some("\"n1\"")), Some("n1"));
    }

    /// Slurm joins the words of a command with blanks: what was one word in quotes is several.
    #[test]
    fn names_with_blanks_are_passed_over_where_the_record_has_them() {
        for (line, name, only) in [
            ("sbatch -J my long job -w n1 job.sh", "my long job", Some("n1")),
            ("sbatch --job-name=my long job -w n1 job.sh", "my long job", Some("n1")),
            ("sbatch --job-name my -w n1 job.sh", "my", Some("n1")),
            ("sbatch -J a -w n9 -w n1 job.sh", "a -w n9", Some("n1")),
            ("sbatch -J my job -w n1", "another job", None),
            ("sbatch -J my job -w n1", "my job of today", None),
            ("sbatch -J my job -w n1", "", None),
        ] {
            assert_eq!(SubmitOptions::read_options(line, name).only, only, "{line}");
        }
    }
}
