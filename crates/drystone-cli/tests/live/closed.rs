//! The playground is closed to all but its user: no address but loopback, a key of its own, and
//! nothing of it is left.

use super::site::{PROGRAM, Tests, until, within};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub(crate) fn tests() -> Tests {
    vec![("the_playground_is_closed_to_others", closed)]
}

struct Playground(Child);

impl Drop for Playground {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
        let _ = self.0.wait();
    }
}

/// Ports and addresses of sockets that listen, by the kernel's tables.
fn listening() -> Vec<(u16, String)> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| std::fs::read_to_string(path).unwrap_or_default());
    let lines = tables.iter().flat_map(|table| table.lines().skip(1));
    let listens = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (address, port) = fields.get(1)?.split_once(':')?;
        (fields.get(3) == Some(&"0A")).then(|| Some((u16::from_str_radix(port, 16).ok()?, address.to_string())))?
    };
    lines.filter_map(listens).collect()
}

/// The values of a key in a configuration, wherever it stands in a line.
fn values(conf: &str, key: &str) -> Vec<String> {
    let words = conf.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    words.filter_map(|word| word.strip_prefix(key)?.strip_prefix('=').map(str::to_string)).collect()
}

fn said(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A network of its own beside this machine's, from where it can be reached at [`Beside::HERE`].
struct Beside(String);

impl Beside {
    const HERE: &str = "198.18.77.1";

    fn new() -> Option<Beside> {
        let name = format!("drystone-{}", std::process::id());
        let (near_end, far_end) = (format!("dh{}", std::process::id()), format!("dt{}", std::process::id()));
        said("ip", &["netns", "add", &name])?;
        let beside = Beside(name.clone());
        said("ip", &["link", "add", &near_end, "type", "veth", "peer", "name", &far_end, "netns", &name])?;
        said("ip", &["addr", "add", &format!("{}/30", Beside::HERE), "dev", &near_end])?;
        said("ip", &["link", "set", &near_end, "up"])?;
        said("ip", &["-n", &name, "addr", "add", "198.18.77.2/30", "dev", &far_end])?;
        said("ip", &["-n", &name, "link", "set", &far_end, "up"])?;
        Some(beside)
    }

    /// Returns whether a connection to a port of this machine is accepted.
    fn reaches(&self, port: u16) -> bool {
        let dial = format!("exec 3<>/dev/tcp/{}/{port}", Beside::HERE);
        said("ip", &["netns", "exec", &self.0, "timeout", "5", "bash", "-c", &dial]).is_some()
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = said("ip", &["netns", "del", &self.0]);
    }
}

fn closed() {
    if drystone_testbed::find_program("slurmctld").is_none() || drystone_testbed::find_program("munged").is_none() {
        assert!(std::env::var_os("DRYSTONE_SLURM_REQUIRED").is_none(), "there is no Slurm or no munged");
        eprintln!("SKIPPED: there is no Slurm or no munged");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(PROGRAM);
    command.args(["live", "playground", "--dir", "play", "--nodes", "2", "--jobs", "3"]);
    let child = command.current_dir(folder.path()).stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("begins");
    let playground = Playground(child);
    let link = folder.path().join("play/slurm.conf");
    until("it is up", || link.exists());
    let conf = std::fs::read_to_string(&link).expect("read");
    assert_eq!(values(&conf, "AuthType"), ["auth/munge"]);
    let ports: BTreeSet<u16> = ["SlurmctldPort", "Port"]
        .iter()
        .flat_map(|key| values(&conf, key))
        .map(|port| port.parse().expect("a port"))
        .collect();
    assert_eq!(ports.len(), 3, "a controller and two nodes: {conf}");
    let listeners: Vec<(u16, String)> = listening().into_iter().filter(|(port, _)| ports.contains(port)).collect();
    let addresses: BTreeSet<&str> = listeners.iter().map(|(_, address)| address.as_str()).collect();
    assert_eq!(addresses, ["0100007F"].into(), "127.0.0.1 alone: {listeners:?}");
    assert_eq!(listeners.iter().map(|(port, _)| *port).collect::<BTreeSet<u16>>(), ports);
    match Beside::new() {
        Some(beside) => {
            let open = std::net::TcpListener::bind((Beside::HERE, 0)).expect("listens");
            assert!(beside.reaches(open.local_addr().expect("bound").port()), "what listens there is reached");
            assert!(ports.iter().all(|&port| !beside.reaches(port)), "a port is open to other addresses");
        }
        None => eprintln!("SKIPPED: no other network could be made, so that only the kernel's tables were read"),
    }
    let root = values(&conf, "StateSaveLocation").remove(0);
    let root = Path::new(&root).parent().map(PathBuf::from).expect("a folder");
    let key = root.join("etc/munge.key");
    assert_eq!(std::fs::metadata(&key).expect("a key").len(), 128);
    is_closed_to_another_user(&root, &link);
    let mut queue = Command::new("squeue");
    let is_visible = || queue.env("SLURM_CONF", &link).arg("-h").output().is_ok_and(|output| output.status.success());
    within(Duration::from_secs(30), "its user sees its jobs", is_visible);
    drop(playground);
    assert!(!root.exists() && !folder.path().join("play").exists(), "nothing is left");
}

/// Another user of this machine has neither the configuration nor the key.
fn is_closed_to_another_user(root: &Path, link: &Path) {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let mode = std::fs::metadata(root).expect("there").permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
    let copy = tempfile::NamedTempFile::new().expect("a file");
    std::fs::copy(link, copy.path()).expect("copied");
    std::fs::set_permissions(copy.path(), std::fs::Permissions::from_mode(0o644)).expect("readable");
    let mut command = Command::new("sbatch");
    command.args(["-o", "/dev/null", "--wrap", "id"]).env("SLURM_CONF", copy.path()).current_dir("/tmp");
    match command.uid(65_534).gid(65_534).output() {
        Ok(output) => assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
        Err(_) => eprintln!("SKIPPED: only root can act as another user"),
    }
}
