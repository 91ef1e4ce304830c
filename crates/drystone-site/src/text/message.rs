//! Messages of programs that stand among their output, because both went to one file.

/// Levels of messages of Slurm's programs, and of shells.
const LEVELS: [&[u8]; 6] = [b"error", b"fatal", b"warning", b"info", b"debug", b"verbose"];

/// Returns whether a line is a message, such as `sacct: error: slurm_persist_conn_open: …` or
/// `slurm_load_jobs error: …`: letters up to a colon, of which a word before a colon is a level.
pub(crate) fn is_message(line: &[u8]) -> bool {
    if !line.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'/') {
        return false;
    }
    let mut parts = line[..line.len().min(80)].split(|&b| b == b':');
    let names =
        |part: &[u8]| part.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b' ' | b'/' | b'.'));
    let Some(first) = parts.next().filter(|first| first.len() < line.len().min(80) && names(first)) else {
        return false;
    };
    // No row of accounting has its first colon behind a word: times have digits there.
    let ends_in_level = |part: &[u8]| {
        let word = part.rsplit(|&b| b == b' ').next().unwrap_or_default().to_ascii_lowercase();
        LEVELS.iter().any(|level| word.strip_prefix(*level).is_some_and(|rest| rest.iter().all(u8::is_ascii_digit)))
    };
    let Some(second) = parts.next().filter(|second| second.starts_with(b" ")) else { return false };
    ends_in_level(first) || ends_in_level(second)
}

/// Returns whether a line before a table is a remark: `# made on Monday`, or the `sep=;` of Excel.
/// Behind a `#` may also stand the names of columns.
pub(crate) fn is_remark(line: &[u8]) -> bool {
    let parts = line.iter().filter(|byte| matches!(byte, b'|' | b',' | b'\t' | b';')).count();
    (line.starts_with(b"#") && parts < 2) || (line.starts_with(b"sep=") && line.len() <= 5)
}

#[cfg(test)]
mod tests {
    use super::{is_message, is_remark};

    #[test]
    fn remarks_have_no_columns() {
        for line in ["# made on Monday, by hand", "#", "sep=;", "sep=,"] {
            assert!(is_remark(line.as_bytes()), "{line}");
        }
        for line in ["#JobID|User|Start", "# id,start,end", "sep=2|3", "7|8", ""] {
            assert!(!is_remark(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn messages_have_a_level_before_a_colon() {
        for line in [
            "sacct: error: slurm_persist_conn_open: failed to send",
            "sacct: error: Problem talking to the database: Connection refused",
            "slurm_load_jobs error: Unable to contact slurm controller",
            "sacct: debug2: x",
            "error: Invalid user id",
            "sacct: fatal: Could not establish a configuration source",
            "/usr/bin/sacct: warning: x",
        ] {
            assert!(is_message(line.as_bytes()), "{line}");
        }
        for line in [
            "JobID|User|Submit|Start",
            "JobID,User,Comment: error",
            "1234|ada|2024-01-01T00:00:00|x: error: y",
            "long:n0006:grp:bob:plain:579397:sge:0:1490016700",
            "error:n0006:grp",
            "",
            "sacct",
            "name: x",
        ] {
            assert!(!is_message(line.as_bytes()), "{line}");
        }
    }
}
