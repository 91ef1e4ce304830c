//! The page of a live daemon, in a real Chromium.

use super::chromium::{DESKTOP, PHONE, Screen, chromium};
use super::site::Tests;
use drystone_testbed::{ClusterOptions, PrivateSlurm};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

pub(crate) fn tests() -> Tests {
    vec![
        ("a_live_page_follows_the_cluster", a_live_page_follows_the_cluster),
        ("a_live_page_shows_each_set_of_nodes", a_live_page_shows_each_set_of_nodes),
    ]
}

/// Killed when a test fails.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Begins a shadow; answers with the address of its page.
fn shadow(cluster: &PrivateSlurm, folder: &std::path::Path, more: &[&str]) -> (Daemon, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_drystone"))
        .args(["live", "shadow", "--policy", "conservative", "--listen", "0"])
        .args(more)
        .env("SLURM_CONF", cluster.conf_path())
        .env("DRYSTONE_STATE", folder)
        .env_remove("DRYSTONE_RUN")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("begins");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let address = lines.find_map(|line| {
        let line = line.expect("text");
        line.split("the page is at ").nth(1).map(|rest| rest.split(',').next().unwrap_or(rest).to_string())
    });
    // What it says later must not block it.
    std::thread::spawn(move || lines.for_each(drop));
    (Daemon(child), address.expect("it says where its page is"))
}

/// Returns the server's response to a request, with its head.
fn ask(address: &str, request: &str) -> String {
    let host = address.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = std::net::TcpStream::connect(host).expect("it listens");
    stream.write_all(request.replace("HOST", host).as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    answer
}

/// Jobs appear and go without a reload, names of users' making are text, and nothing can be
/// changed.
fn a_live_page_follows_the_cluster() {
    let Some(mut page) = chromium() else { return };
    let options = ClusterOptions { nodes: 1, cpus: 4, scheduler: "builtin".into(), ..ClusterOptions::default() };
    let Some(cluster) = PrivateSlurm::start_cluster(&options) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (daemon, address) = shadow(&cluster, folder.path(), &[]);
    page.visit(&address, DESKTOP, true);
    let rows = |table: &str| {
        format!("[...document.querySelectorAll('#{table} tbody tr td:first-child')].map(c => c.textContent)")
    };
    let name = "<img src=x onerror=document.title=1>";
    let submit = |procs: &str, minutes: &str, seconds: u32| {
        let wrap = format!("sleep {seconds}");
        let (size, limit) = (["-n", procs], ["-t", minutes]);
        let names = ["-J", name, "--comment", name, "--wrap", &wrap];
        cluster
            .command_output("sbatch", &[&["--parsable", "-o", "/dev/null"], &size[..], &limit, &names].concat())
            .trim()
            .to_string()
    };
    // Slurm starts them in order. The policy would start the last two at once, beside the first: it
    // has told so long before they start, however rarely it looks.
    let (first, second) = (submit("3", "2", 12), submit("4", "2", 3));
    let last = [submit("1", "1", 1), submit("1", "1", 1)];
    page.until(&format!("{}.includes('{first}')", rows("running")));
    page.until(&format!("{}.includes('{second}')", rows("waiting")));
    page.picture("live-desktop-light");
    last.iter().for_each(|job| page.until(&format!("{}.includes('{job}')", rows("finished"))));
    page.until("document.querySelector('#health').className === 'good'");
    page.until("document.querySelectorAll('#plot circle').length >= 2");
    assert_eq!(page.eval("document.querySelectorAll('img').length"), 0, "a name is text");
    let own = address.trim_end_matches('/');
    assert!(page.requests().iter().all(|request| request.starts_with(own)), "{:?}", page.requests());
    for (name, screen) in [("live-desktop-dark", Screen { dark: true, ..DESKTOP }), ("live-phone-light", PHONE)] {
        page.look(screen);
        page.picture(name);
        assert_eq!(page.eval("document.documentElement.scrollWidth <= innerWidth + 1"), true, "{name}: too wide");
    }
    assert!(page.complaints().is_empty(), "{:?}", page.complaints());

    let metrics = ask(&address, "GET /metrics HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n");
    assert!(metrics.contains("text/plain; version=0.0.4") && metrics.contains("\n# TYPE drystone_live_"), "{metrics}");
    let (_, lines) = metrics.split_once("\r\n\r\n").expect("a body");
    for line in lines.lines().filter(|line| !line.starts_with('#')) {
        let (_, value) = line.rsplit_once(' ').expect("a name and a value");
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
    for method in ["POST", "PUT", "DELETE"] {
        let answer = ask(
            &address,
            &format!("{method} / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
        );
        assert!(answer.starts_with("HTTP/1.1 405"), "{method}: {answer}");
    }
    let answer = ask(&address, "GET /live.json HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");

    // A daemon that is gone does not look alive.
    drop(daemon);
    page.until("document.querySelector('#health').className === 'bad'");
}

/// Partitions without a common node: a table with a row for each, and every job says where it is.
fn a_live_page_shows_each_set_of_nodes() {
    let Some(mut page) = chromium() else { return };
    let partition = |name: &str, nodes: &str| format!("PartitionName={name} Nodes={nodes} MaxTime=60 State=UP");
    let partitions = vec![partition("main", "n[1-2]") + " Default=YES", partition("side", "n[3-4]")];
    let options =
        ClusterOptions { nodes: 4, cpus: 4, scheduler: "builtin".into(), partitions, ..ClusterOptions::default() };
    let Some(cluster) = PrivateSlurm::start_cluster(&options) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (_daemon, address) = shadow(&cluster, folder.path(), &["--partition", "main", "--partition", "side"]);
    page.visit(&address, DESKTOP, true);
    for set in ["main", "side"] {
        for (procs, seconds) in [("8", "30"), ("8", "5"), ("2", "1")] {
            let wrap = format!("sleep {seconds}");
            let args = ["--parsable", "-o", "/dev/null", "-t", "2", "-p", set, "-n", procs, "--wrap", &wrap];
            drop(cluster.command_output("sbatch", &args));
        }
    }
    let cells = |table: &str, text: &str| {
        format!("[...document.querySelectorAll('#{table} tbody td')].some(cell => cell.textContent === '{text}')")
    };
    for set in ["main", "side"] {
        for table in ["sets", "running", "waiting"] {
            page.until(&cells(table, set));
        }
    }
    page.until("document.querySelector('#health').className === 'good'");
    assert_eq!(page.eval("document.querySelectorAll('#sets tbody tr').length"), 2);
    page.picture("live-sets-desktop-light");
    let phone_dark = Screen { dark: true, ..PHONE };
    let screens =
        [("desktop-dark", Screen { dark: true, ..DESKTOP }), ("phone-light", PHONE), ("phone-dark", phone_dark)];
    for (name, screen) in screens {
        page.look(screen);
        page.picture(&format!("live-sets-{name}"));
        assert_eq!(page.eval("document.documentElement.scrollWidth <= innerWidth + 1"), true, "{name}: too wide");
    }
    assert!(page.complaints().is_empty(), "{:?}", page.complaints());
}
