//! Pages of a site over HTTP: they are those of the commands, for this machine alone, and nothing
//! is written.
#![cfg(unix)]

use crate::common::{Folder, Ran, send};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};

/// The address of a server that runs while this is there.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start(folder: &Folder, args: &[&str]) -> Server {
        let mut command = folder.command(&[&["serve"], args].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("begins");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("text");
        let address = line.trim().trim_end_matches('/').to_string();
        assert!(address.starts_with("http://127.0.0.1:"), "{address}");
        Server { child, address }
    }

    fn ask(&self, request: &str) -> (u16, String) {
        let host = self.address.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).expect("it listens");
        stream.write_all(request.replace("HOST", host).as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        (status, answer)
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n"))
    }

    /// Asks until the page is there, as a browser does.
    fn page(&self, path: &str) -> (u16, String) {
        loop {
            let (status, page) = self.get(path);
            if status != 202 {
                return (status, page);
            }
            assert!(page.contains("role=\"status\"") && page.contains("check now"), "{page}");
        }
    }

    fn end(mut self, signal: &str) -> Ran {
        send(&self.child, signal);
        let mut ran = Ran { code: 0, out: String::new(), err: String::new() };
        self.child.stderr.take().expect("a pipe").read_to_string(&mut ran.err).expect("text");
        self.child.stdout.take().expect("a pipe").read_to_string(&mut ran.out).expect("text");
        ran.code = self.child.wait().expect("ends").code().unwrap_or(-1);
        ran
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The site that ships, imported.
pub(crate) fn quarry() -> Folder {
    let folder = Folder::new();
    folder.run(&["import", "--example", "dump", "--quiet"]).ok();
    folder.run(&["import", "dump", "--timezone", "UTC", "--out", "site", "--quiet"]).ok();
    folder
}

/// Verdict of a page, and its plots and tables.
fn content(page: &str) -> [&str; 2] {
    let part = |from: &str, end: &str| {
        let at = page.find(from).unwrap_or_else(|| panic!("{from} is missing: {page}"));
        page[at..].split(end).next().unwrap_or_default()
    };
    [part("<section id=\"verdict\">", "</section>"), part("<section id=\"plots\">", "</main>")]
}

#[test]
fn pages_are_those_of_the_commands() {
    let folder = quarry();
    let before = folder.names_in("site");
    let server = Server::start(&folder, &["site", "--listen", "0"]);

    let (status, waits) = server.page("/");
    assert_eq!(status, 200, "{waits}");
    folder.run(&["waits", "site", "--report", "waits.html", "--quiet"]).ok();
    assert_eq!(content(&waits), content(&folder.read("waits.html")));
    // The commands of the causes are links, and the longest waits are.
    let whatif = "/whatif?qos-limit=normal%3A+MaxTRESPU%3Dcpu%3D256";
    assert!(waits.contains(&format!("<a href=\"{whatif}\">drystone whatif site --qos-limit")), "{waits}");
    let job = waits.split("href=\"/explain?job=").nth(1).and_then(|rest| rest.split('"').next()).expect("a job");

    let (status, page) = server.page(&format!("/explain?job={job}"));
    assert_eq!(status, 200, "{page}");
    let story = folder.run(&["explain", "site", "--job", job, "--quiet"]).ok();
    let headline = story.split(", submitted").next().expect("a headline").replace("\n  ", " ");
    let first = headline.lines().next().expect("a line");
    assert!(page.contains(&format!("<p class=\"headline\">{first}</p>")), "{first}\n{page}");

    let (status, page) = server.page(whatif);
    assert_eq!(status, 200, "{page}");
    let args = ["whatif", "site", "--qos-limit", "normal: MaxTRESPU=cpu=256", "--report", "whatif.html", "--quiet"];
    folder.run(&args).ok();
    let file = folder.read("whatif.html");
    assert_eq!(content(&page)[0], content(&file)[0]);
    assert!(content(&page)[1].starts_with(content(&file)[1]), "notes come last");
    assert!(page.contains("value=\"normal: MaxTRESPU=cpu=256\""), "the form is filled in");

    let (status, page) = server.page("/gantt?pool=gpu&day=3");
    assert!(status == 200 && page.contains("Days 3 to 9 of 0 to ") && page.contains("pool=main"), "{status}");
    // After all of this a signal still ends it in order, and the site is as it was.
    let ran = server.end("INT");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert!(ran.err.contains("press Ctrl-C to stop"), "{}", ran.err);
    assert_eq!(folder.names_in("site"), before);
}

#[test]
fn wrong_input_is_answered_with_the_sentence_of_the_command() {
    let folder = quarry();
    let server = Server::start(&folder, &["site", "--listen", "0", "--quiet"]);
    for (path, command) in [
        ("/whatif?nodes=many", &["whatif", "site", "--nodes=many"][..]),
        ("/whatif?nodes=gpux:%2B8", &["whatif", "site", "--nodes=gpux:+8"]),
        ("/whatif?change=qos+norml:+MaxJobsPU=3", &["whatif", "site", "--change=qos norml: MaxJobsPU=3"]),
        ("/explain?job=nosuch", &["explain", "site", "--job=nosuch"]),
        ("/?since=yesterdays", &["waits", "site", "--since=yesterdays"]),
        ("/?by=colour", &["waits", "site", "--by=colour"]),
        ("/gantt?pool=/../../other", &["gantt", "site#/../../other", "--policy=easy"]),
        ("/whatif?nodes=main:%2B50000000", &["whatif", "site", "--nodes=main:+50000000"]),
    ] {
        let (status, page) = server.page(path);
        let sentence = folder.run(&[command, &["--quiet"]].concat()).fails(2);
        let sentence = sentence.strip_prefix("error: ").expect("an error").lines().next().expect("a line");
        assert_eq!(status, 400, "{path}: {page}");
        let page_sentence =
            page.split("class=\"bad\">").nth(1).and_then(|rest| rest.split("</p>").next()).expect("a sentence");
        let page_sentence = page_sentence.replace("<code>", "`").replace("</code>", "`");
        let page_sentence =
            page_sentence.replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        assert!(page_sentence.starts_with(sentence), "{path}: {page_sentence}\n{sentence}");
    }
    let (status, page) = server.get("/gantt.html");
    assert!(status == 404 && page.contains("There is no page"), "{page}");
    // What is empty asks; options beyond the forms are none.
    for path in ["/whatif", "/whatif?nodes=&change=", "/whatif?report=out.html", "/explain?job="] {
        let (status, page) = server.get(path);
        assert!(status == 200 && page.contains("<form class=\"question\""), "{path}: {page}");
    }
    assert!(!folder.names().contains(&"out.html".to_string()));
}

#[test]
fn only_this_machine_is_served() {
    let folder = quarry();
    for (place, words) in
        [("0.0.0.0:0", "other machines can reach"), ("[::]:0", "other machines"), ("none", "without a place")]
    {
        let error = folder.run(&["serve", "site", "--listen", place]).fails(2);
        assert!(error.contains(words), "{error}");
    }
    let error = folder.run(&["serve", "dump"]).fails(2);
    assert!(error.contains("import"), "{error}");
    let error = folder.run(&["serve", "site#gpux"]).fails(2);
    assert!(error.contains("no pool is called `gpux`"), "{error}");

    let server = Server::start(&folder, &["site", "--listen", "0"]);
    let (status, _) = server.ask("GET / HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n");
    assert_eq!(status, 403);
    // What a page of another site embeds begins no work; a link of it leads here.
    let headers = "Host: HOST\r\nSec-Fetch-Site: cross-site\r\nConnection: close\r\nSec-Fetch-Dest:";
    assert_eq!(server.ask(&format!("GET /explain?job=1 HTTP/1.1\r\n{headers} image\r\n\r\n")).0, 403);
    assert_eq!(server.ask(&format!("GET /whatif HTTP/1.1\r\n{headers} document\r\n\r\n")).0, 200);
    for method in ["POST", "PUT", "DELETE"] {
        let head = "Host: HOST\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        assert_eq!(server.ask(&format!("{method} / HTTP/1.1\r\n{head}")).0, 405, "{method}");
    }
    let (_, page) = server.page("/");
    assert!(page.to_ascii_lowercase().contains("content-security-policy: default-src 'none'"), "{page}");
    assert_eq!(server.end("TERM").code, 0);
}

/// A socket is for its owner and group, and goes with the server.
#[test]
fn a_socket_is_served() {
    let folder = quarry();
    let mut command = folder.command(&["serve", "site#gpu", "--listen", "unix:own.sock", "--quiet"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("begins");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("text");
    assert_eq!(line, "unix:own.sock\n");
    let mode = std::fs::metadata(folder.path("own.sock")).expect("a socket").permissions().mode();
    assert_eq!(mode & 0o777, 0o660);
    let mut stream = UnixStream::connect(folder.path("own.sock")).expect("it listens");
    stream.write_all(b"GET /whatif HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("<form"), "{answer}");
    send(&child, "INT");
    assert_eq!(child.wait().expect("ends").code(), Some(0));
    assert!(!folder.names().contains(&"own.sock".to_string()));
}

/// Work that takes its time keeps nothing else waiting, and Ctrl-C does not wait for it.
#[test]
fn long_work_says_so() {
    let folder = quarry();
    let server = Server::start(&folder, &["site", "--listen", "0"]);
    let mut path = "/whatif?change=nodes+main:%2B1".to_string();
    // Twenty changes one after the other take longer than a request waits.
    for n in 2..=20 {
        path.push_str(&format!("&change=nodes+main:%2B{n}"));
    }
    let (status, page) = server.get(&path);
    assert!([200, 202].contains(&status), "{page}");
    assert!(status == 200 || page.contains("Computing: What if: nodes main:+1"), "{page}");
    assert_eq!(server.page("/").0, 200);
    assert_eq!(server.end("INT").code, 0);
}
