//! Slurm's accounting: `slurmdbd` on a MariaDB of its own.

use crate::{daemons, ports};
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Time each of the two daemons may take to answer, and the polling interval.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(100);

pub(crate) const PROGRAMS: [&str; 4] = ["slurmdbd", "sacctmgr", "mariadbd", "mariadb-install-db"];

/// A database and the daemon before it, stopped by the cluster's guard: they work in its log
/// folder.
#[derive(Debug)]
pub(crate) struct Database {
    /// MariaDB and slurmdbd.
    children: Vec<Child>,
    /// Port of slurmdbd.
    port: u16,
}

impl Database {
    /// Starts both for the cluster whose files are below `root`.
    pub(crate) fn start_database(root: &Path, host: &str, user: &str) -> Result<Database, String> {
        let free = ports::free_ports(2).map_err(describe_error)?;
        let data = root.join("db");
        install_database(root, &data, user)?;
        let mut database = Database { children: Vec::new(), port: free[1] };
        database.children.push(start_mariadb(root, &data, user, free[0])?);
        wait_for_port(free[0], "mariadbd")?;
        let conf = root.join("etc/slurmdbd.conf");
        let text = format!(
            "AuthType=auth/none\nDbdHost={host}\nDbdAddr=127.0.0.1\nDbdPort={}\nSlurmUser={user}\n\
             StorageType=accounting_storage/mysql\nStorageHost=127.0.0.1\nStoragePort={}\nStorageUser=root\n\
             StorageLoc=slurm\nPidFile={root}/pid/slurmdbd.pid\nLogFile={root}/log/slurmdbd.log\n",
            free[1],
            free[0],
            root = root.display()
        );
        std::fs::write(&conf, text).map_err(describe_error)?;
        // It refuses a configuration that others can read.
        std::fs::set_permissions(&conf, Permissions::from_mode(0o600)).map_err(describe_error)?;
        database.children.push(daemons::start_daemon("slurmdbd", &["-D"], root).map_err(describe_error)?);
        wait_for_port(free[1], "slurmdbd")?;
        Ok(database)
    }

    pub(crate) fn conf_lines(&self) -> String {
        format!(
            "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\nAccountingStoragePort={}\n",
            self.port
        )
    }

    /// The daemons, to be reaped once they are dead.
    pub(crate) fn into_children(self) -> Vec<Child> {
        self.children
    }
}

fn describe_error(error: std::io::Error) -> String {
    error.to_string()
}

/// Makes an empty MariaDB.
fn install_database(root: &Path, data: &Path, user: &str) -> Result<(), String> {
    let log = File::create(root.join("log/mariadb-install-db.out")).map_err(describe_error)?;
    let program = daemons::find_program("mariadb-install-db").unwrap_or_else(|| PathBuf::from("mariadb-install-db"));
    let mut command = Command::new(program);
    command.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
    command.arg(format!("--datadir={}", data.display())).arg(format!("--user={user}"));
    let status =
        command.current_dir(root.join("log")).stdin(Stdio::null()).stdout(log.try_clone().map_err(describe_error)?);
    let status = status.stderr(log).status().map_err(describe_error)?;
    if status.success() { Ok(()) } else { Err("mariadb-install-db failed".to_string()) }
}

fn start_mariadb(root: &Path, data: &Path, user: &str, port: u16) -> Result<Child, String> {
    let own = [
        format!("--datadir={}", data.display()),
        format!("--socket={}/db/socket", root.display()),
        format!("--port={port}"),
        format!("--user={user}"),
    ];
    let mut args = vec![
        "--no-defaults",
        "--bind-address=127.0.0.1",
        "--skip-grant-tables",
        "--innodb-buffer-pool-size=32M",
        "--innodb-flush-log-at-trx-commit=0",
        "--innodb-lock-wait-timeout=900",
    ];
    args.extend(own.iter().map(String::as_str));
    daemons::start_daemon("mariadbd", &args, root).map_err(describe_error)
}

/// Waits until a daemon listens.
fn wait_for_port(port: u16, service: &str) -> Result<(), String> {
    let mut patience = PATIENCE;
    while !patience.is_zero() {
        if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Ok(());
        }
        std::thread::sleep(LOOK);
        patience = patience.saturating_sub(LOOK);
    }
    Err(format!("{service} does not listen on port {port}"))
}
