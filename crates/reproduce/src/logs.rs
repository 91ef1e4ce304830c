//! Finding logs under their archive names, and making sure that they are the right version.

use crate::study::LogRef;
use drystone::log::source;
use std::io::Read;
use std::path::PathBuf;

/// Directories with logs.
#[derive(Clone, Debug)]
pub struct Library {
    /// Looked through in this order.
    pub directories: Vec<PathBuf>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LogState {
    Found {
        path: PathBuf,
        /// BLAKE3 of the decompressed file.
        blake3: String,
    },
    /// It is not in any of the directories.
    Absent,
    /// A file of that name is here, but it is another version, or cannot be read.
    Wrong {
        path: PathBuf,
        /// Description of the mistake.
        problem: String,
    },
}

impl Library {
    /// Looks for a log, plain or compressed, and checks its hash.
    pub fn find_log(&self, log: &LogRef) -> LogState {
        let names = ["", ".gz", ".zst"].map(|ending| format!("{}{ending}", log.file));
        let paths = self.directories.iter().flat_map(|d| names.iter().map(|name| d.join(name)));
        let Some(path) = paths.into_iter().find(|path| path.is_file()) else { return LogState::Absent };
        match hash(&path) {
            Ok(blake3) if log.blake3.is_empty() || blake3 == log.blake3 => LogState::Found { path, blake3 },
            Ok(hash) => {
                let problem = format!("it is another version: its BLAKE3 is {hash}, not {}", log.blake3);
                LogState::Wrong { path, problem }
            }
            Err(problem) => LogState::Wrong { path, problem },
        }
    }
}

fn hash(path: &std::path::Path) -> Result<String, String> {
    let mut source = source::open_log(path).map_err(|error| error.to_string())?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match source.bytes.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize().to_hex().to_string()),
            Ok(read) => hasher.update(&buffer[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(format!("it cannot be read: {error}")),
        };
    }
}
