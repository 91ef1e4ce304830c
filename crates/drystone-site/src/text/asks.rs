//! Demands of a job beside processors and nodes, as one text: words parted by blanks, in a fixed
//! order, so that equal jobs have equal texts.

use super::resources::MemoryRequest;
use crate::submit_line::SubmitOptions;
use drystone::model::SharedSort;
use std::io::Write;

/// Columns of a record that say what its job asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AskColumns<'a> {
    /// `ReqTRES`, for the whole job.
    pub(crate) tres: &'a [u8],
    /// `AllocTRES`, which stands in where nothing is said of what was asked for.
    pub(crate) held: &'a [u8],
    /// `ReqGRES` of old versions, for each node.
    pub(crate) gres: &'a [u8],
    /// `Licenses`.
    pub(crate) licences: &'a [u8],
    /// `ReqMem`.
    pub(crate) memory: MemoryRequest,
    /// `SubmitLine`.
    pub(crate) command: &'a [u8],
    /// `JobName`.
    pub(crate) name: &'a [u8],
    /// `Partition`: of a job that waits, all that it asks for.
    pub(crate) partition: &'a [u8],
}

/// `mem=4096n` or `mem=4096c` (kilobytes for each node or processor), `mem=all`,
/// `gres/gpu:a100=4` (in all), `gres/gpu=2n` (for each node), `license/sim=1`, `on=n1`,
/// `without=n2`, `partitions=long,short`, `depends=afterok:3`. A total of memory is a number of its
/// own and not repeated here.
pub(crate) fn format_asks(of: AskColumns<'_>) -> Vec<u8> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    let tres = if of.tres.is_empty() { of.held } else { of.tres };
    let beyond = |text: &[u8]| memchr::memmem::find(text, b"gres/").or(memchr::memmem::find(text, b"license/"));
    if beyond(tres).is_some() {
        words.extend(tres.split(|&b| b == b',').filter(|entry| beyond(entry) == Some(0)).map(<[u8]>::to_vec));
    } else {
        words.extend(of.gres.split(|&b| b == b',').filter_map(per_node));
    }
    for entry in of.licences.split(|&b| matches!(b, b',' | b';' | b'|')).map(<[u8]>::trim_ascii) {
        if entry.is_empty() || entry == b"(null)" || entry == b"None" {
            continue;
        }
        let at = entry.iter().rposition(|b| matches!(b, b':' | b'*' | b'='));
        let (name, count) = at.map_or((entry, &b"1"[..]), |at| (&entry[..at], &entry[at + 1..]));
        let word = [b"license/", name, b"=", count].concat();
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.iter_mut().for_each(|word| word.retain(|b| !b.is_ascii_whitespace()));
    words.sort_shared();
    words.dedup();
    words.extend(find_named_places(of.command, of.name, of.partition));
    let mut text = Vec::new();
    let memory = match of.memory {
        MemoryRequest::PerNode(kb) => write!(text, "mem={kb}n"),
        MemoryRequest::PerCpu(kb, _) => write!(text, "mem={kb}c"),
        MemoryRequest::All => write!(text, "mem=all"),
        MemoryRequest::Total(_) | MemoryRequest::Unknown => Ok(()),
    };
    // Nothing fails that is written into memory.
    let _ = memory;
    for word in words {
        if !text.is_empty() {
            text.push(b' ');
        }
        text.extend(word);
    }
    text
}

/// Returns the demands for nodes that the command of a job with this name has, and its partitions
/// where these are several: those of the record while it waits, else those of the command. The
/// jobs that it waits for come last.
fn find_named_places(command: &[u8], name: &[u8], partition: &[u8]) -> impl Iterator<Item = Vec<u8>> + use<> {
    let [line, name, partition] = [command, name, partition].map(String::from_utf8_lossy);
    let options = SubmitOptions::read_options(&line, &name);
    let word = |name: &str, list| SubmitOptions::read_list(list).map(|list| format!("{name}={list}").into_bytes());
    let is_list = |list: &&str| list.split(',').filter(|name| !name.is_empty()).count() > 1;
    let partitions = Some(&*partition).filter(is_list).or(options.partitions.filter(is_list));
    [
        word("on", options.only),
        word("without", options.excluded),
        word("partitions", partitions),
        word("depends", options.dependencies),
    ]
    .into_iter()
    .flatten()
}

/// The number by which Slurm knows `gpu`, its letters as bytes: some old versions print it.
pub(crate) const GPU_NUMBER: &[u8] = b"7696487";

/// `gpu:k80:4` of old versions as `gres/gpu:k80=4n`.
fn per_node(entry: &[u8]) -> Option<Vec<u8>> {
    let entry = entry.split(|&b| b == b'(').next().unwrap_or(entry).trim_ascii();
    if entry.is_empty() || entry == b"(null)" || entry == b"0" {
        return None;
    }
    let parts: Vec<&[u8]> = entry.split(|&b| matches!(b, b':' | b'=')).collect();
    let number = parts.last().filter(|last| parts.len() > 1 && !last.is_empty() && last.iter().all(u8::is_ascii_digit));
    let (name, count) = match number {
        Some(count) => (&parts[..parts.len() - 1], *count),
        None => (&parts[..], &b"1"[..]),
    };
    let name = name.join(&b':');
    let name = name.strip_prefix(GPU_NUMBER).map_or(name.clone(), |kind| [b"gpu", kind].concat());
    Some([b"gres/", name.as_slice(), b"=", count, b"n"].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(tres: &str, allocation: &str, gres: &str, licences: &str, memory: MemoryRequest) -> String {
        let of = AskColumns {
            tres: tres.as_bytes(),
            held: allocation.as_bytes(),
            gres: gres.as_bytes(),
            licences: licences.as_bytes(),
            memory,
            command: b"",
            name: b"",
            partition: b"",
        };
        String::from_utf8(format_asks(of)).expect("text")
    }

    #[test]
    fn nodes_that_a_command_names_are_asked_for() {
        let text_of = |command: &str| {
            let columns = AskColumns {
                tres: b"gres/gpu=1",
                held: b"",
                gres: b"",
                licences: b"",
                memory: MemoryRequest::Unknown,
                command: command.as_bytes(),
                name: b"big run",
                partition: b"p",
            };
            String::from_utf8(format_asks(columns)).expect("text")
        };
        assert_eq!(text_of("sbatch -x n[3,7] -w n1 job.sh"), "gres/gpu=1 on=n1 without=n[3,7]");
        assert_eq!(text_of("sbatch -w ./hosts job.sh"), "gres/gpu=1");
        assert_eq!(text_of("sbatch -J big run -w n1 job.sh"), "gres/gpu=1 on=n1");
        assert_eq!(text_of("sbatch -p p job.sh"), "gres/gpu=1");
        assert_eq!(text_of("sbatch -pp,q -x n1 job.sh"), "gres/gpu=1 without=n1 partitions=p,q");
        assert_eq!(text_of("sbatch --partition=q,p job.sh"), "gres/gpu=1 partitions=q,p");
        assert_eq!(text_of("sbatch -d afterok:3 -w n1 job.sh"), "gres/gpu=1 on=n1 depends=afterok:3");
        assert_eq!(text_of("sbatch --dependency=singleton job.sh"), "gres/gpu=1 depends=singleton");
    }

    #[test]
    fn what_was_asked_for_comes_before_what_was_given() {
        let total = MemoryRequest::Total(9);
        assert_eq!(text("cpu=4,mem=9K,gres/gpu=2", "cpu=4,gres/gpu=2,gres/gpu:a100=2", "", "", total), "gres/gpu=2");
        assert_eq!(text("", "gres/gpu:a100=2,gres/gpu=2", "", "", total), "gres/gpu:a100=2 gres/gpu=2");
        assert_eq!(text("cpu=4,node=1", "", "", "", MemoryRequest::PerCpu(1024, false)), "mem=1024c");
        assert_eq!(text("", "", "gpu:k80:4,nvme", "", MemoryRequest::All), "mem=all gres/gpu:k80=4n gres/nvme=1n");
        assert_eq!(text("", "", "7696487:4,7696487:k80:2", "", total), "gres/gpu:k80=2n gres/gpu=4n");
        assert_eq!(text("license/sim=2", "", "", "cad:3, sim:2", MemoryRequest::PerNode(5)), {
            "mem=5n license/cad=3 license/sim=2"
        });
        assert_eq!(text("cpu=4,mem=4G,node=1,billing=4", "", "(null)", "(null)", total), "");
    }
}
