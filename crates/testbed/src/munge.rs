//! A munge of the cluster's own: Slurm answers no request without its key.

use crate::daemons;
use std::fs::{DirBuilder, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

pub(crate) const PROGRAM: &str = "munged";

/// Bytes of the key.
const KEY: usize = 128;
/// Time in which it begins to answer, and the interval of looks.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(20);

/// The socket of the munge of the cluster whose files are below `root`.
pub(crate) fn socket_path(root: &Path) -> PathBuf {
    root.join("munge/socket")
}

/// Starts it with a new key. Its user alone enters the cluster's folder from then on.
pub(crate) fn start_munge(root: &Path) -> Result<Child, String> {
    let error_text = |error: std::io::Error| error.to_string();
    std::fs::set_permissions(root, Permissions::from_mode(0o700)).map_err(error_text)?;
    DirBuilder::new().mode(0o755).create(root.join("munge")).map_err(error_text)?;
    let key = root.join("etc/munge.key");
    let mut bytes = [0; KEY];
    File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes)).map_err(error_text)?;
    let file = File::options().write(true).create_new(true).mode(0o600).open(&key);
    file.and_then(|mut file| file.write_all(&bytes)).map_err(error_text)?;
    let own = |option: &str, path: PathBuf| format!("--{option}={}", path.display());
    let args = [
        "--foreground".to_string(),
        // It wants a socket that every user reaches; here its user alone is to.
        "--force".to_string(),
        "--num-threads=2".to_string(),
        own("key-file", key),
        own("socket", socket_path(root)),
        own("pid-file", root.join("munge/pid")),
        own("log-file", root.join("munge/log")),
        own("seed-file", root.join("munge/seed")),
    ];
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut child = daemons::start_daemon(PROGRAM, &args, root).map_err(error_text)?;
    let mut patience = PATIENCE;
    while std::os::unix::net::UnixStream::connect(socket_path(root)).is_err() {
        if patience.is_zero() || child.try_wait().map_err(error_text)?.is_some() {
            let output = std::fs::read_to_string(root.join("log/munged.out")).unwrap_or_default();
            return Err(format!("munged does not answer: {output}"));
        }
        std::thread::sleep(LOOK);
        patience = patience.saturating_sub(LOOK);
    }
    Ok(child)
}
