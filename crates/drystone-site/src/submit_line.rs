//! Options of the command with which a job was submitted, as Slurm records it (`SubmitLine`).

/// Short options of `sbatch`, `salloc` and `srun` that have a value.
const VALUED: &[u8] = b"aAbBcCdDeFgGiJLmMnNopPqrStTwx";
/// Long options that are not followed by a value, as far as they are often used.
const BARE: &[&str] = &[
    "bell",
    "contiguous",
    "disable-status",
    "exact",
    "exclusive",
    "get-user-env",
    "hold",
    "ignore-pbs",
    "immediate",
    "interactive",
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
    "spread-job",
    "test-only",
    "unbuffered",
    "use-min-nodes",
    "verbose",
    "wait",
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
}

impl<'a> SubmitOptions<'a> {
    /// Reads a command such as `sbatch -N 2-4 -x n7 job.sh`. Words behind the program are options
    /// of the program itself, and so are those behind `--wrap`: Slurm records `--wrap="grep -w n1"`
    /// without quotes. Of a heterogeneous job it records the options of all components with each,
    /// between colons, and nothing says to which they belong.
    pub(crate) fn read(line: &'a str) -> SubmitOptions<'a> {
        let mut options = SubmitOptions::default();
        let mut words = line.split_whitespace().skip(1).peekable();
        while let Some(word) = words.next() {
            if word == ":" {
                return SubmitOptions::default();
            }
            if let Some(long) = word.strip_prefix("--") {
                if long.split('=').next() == Some("wrap") {
                    break;
                }
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None if BARE.contains(&long) => (long, None),
                    None => (long, words.next_if(|next| !next.starts_with('-'))),
                };
                options.set(name, value);
            } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                // Letters without a value may stand before a letter with one: `-Hn4`.
                let Some(at) = letters.bytes().position(|letter| VALUED.contains(&letter)) else { continue };
                let (name, rest) = (&letters[at..=at], &letters[at + 1..]);
                let value = if rest.is_empty() { words.next() } else { Some(rest) };
                options.set(name, value);
            } else {
                break;
            }
        }
        options
    }

    fn set(&mut self, name: &str, value: Option<&'a str>) {
        match name {
            "N" | "nodes" => self.nodes = value,
            "w" | "nodelist" => self.only = value,
            "x" | "exclude" => self.excluded = value,
            _ => {}
        }
    }

    /// Returns a list of nodes without its quotes; `None` for the name of a file that has the list.
    pub(crate) fn read_list(list: Option<&str>) -> Option<&str> {
        list.map(|list| list.trim_matches(['"', '\''])).filter(|list| !list.is_empty() && !list.contains('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_where_slurm_takes_them() {
        for (line, only, excluded) in [
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
            ("", None, None),
        ] {
            let options = SubmitOptions::read(line);
            assert_eq!((options.only, options.excluded), (only, excluded), "{line}");
        }
        assert_eq!(SubmitOptions::read_list(Some("./nodes")), None);
        assert_eq!(SubmitOptions::read_list(Some("\"n1\"")), Some("n1"));
    }
}
