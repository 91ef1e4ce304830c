//! A Chromium that opens one page after the other and notes what goes wrong in it. It is driven by
//! its own protocol over a pipe: no port, no driver, nothing else to install.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Time limit of any action on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running browser with one tab.
pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    next: u64,
    session: String,
    /// Its profile, removed at the end.
    _profile: tempfile::TempDir,
    /// Addresses asked for, and complaints uttered, since the page was opened.
    requests: Vec<String>,
    complaints: Vec<String>,
    loaded: bool,
}

/// The browser of a test; `None`, said loudly, where there is none.
pub(crate) fn chromium() -> Option<Browser> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    let on_path =
        |name: &&str| std::env::split_paths(&std::env::var_os("PATH")?).map(|d| d.join(name)).find(|p| p.is_file());
    let browser = std::env::var_os("CHROME").map(PathBuf::from).or_else(|| names.iter().find_map(on_path));
    let Some(path) = browser else {
        let is_required = std::env::var_os("DRYSTONE_BROWSER_REQUIRED").is_some();
        assert!(!is_required, "there is no Chromium, and DRYSTONE_BROWSER_REQUIRED is set");
        eprintln!("SKIPPED: there is no Chromium (on PATH, or named by CHROME), so that pages were not looked at");
        return None;
    };
    Some(Browser::launch(&path))
}

/// Display of a page.
#[derive(Clone, Copy)]
pub(crate) struct Screen {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) dark: bool,
}

pub(crate) const DESKTOP: Screen = Screen { width: 1280, height: 900, dark: false };
pub(crate) const PHONE: Screen = Screen { width: 390, height: 844, dark: false };

impl Browser {
    fn launch(path: &Path) -> Browser {
        let profile = tempfile::tempdir().expect("a folder");
        // The pipe's ends must be the descriptors 3 and 4; a shell can see to that. Root has no
        // sandbox; pages are our own.
        let script = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .arg(path)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--no-default-browser-check",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-extensions",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Chromium starts");
        let to = child.stdin.take().expect("a pipe");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            while matches!(out.read_until(0, &mut bytes), Ok(n) if n > 0) {
                if let Ok(message) = serde_json::from_slice::<Value>(bytes.strip_suffix(&[0]).unwrap_or(&bytes))
                    && sender.send(message).is_err()
                {
                    break;
                }
                bytes.clear();
            }
        });
        let mut browser = Browser {
            child,
            to,
            from,
            next: 0,
            session: String::new(),
            _profile: profile,
            requests: Vec::new(),
            complaints: Vec::new(),
            loaded: false,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached =
            browser.call("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].as_str().expect("a session").to_string();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Asks the browser for something and waits for the answer; notes what it says meanwhile.
    fn call(&mut self, method: &str, params: Value) -> Value {
        self.try_call(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// As [`Browser::call`], with the error that the browser answers.
    fn try_call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.next += 1;
        let mut message = json!({ "id": self.next, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = Value::from(self.session.clone());
        }
        self.to.write_all(message.to_string().as_bytes()).expect("Chromium listens");
        self.to.write_all(&[0]).expect("Chromium listens");
        self.to.flush().expect("Chromium listens");
        let since = Instant::now();
        loop {
            let time_left = PATIENCE.saturating_sub(since.elapsed());
            let answer = self.from.recv_timeout(time_left).unwrap_or_else(|e| panic!("no answer to {method}: {e}"));
            if answer["id"] == self.next {
                return match answer.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(answer["result"].clone()),
                };
            }
            self.note(&answer);
        }
    }

    fn note(&mut self, event: &Value) {
        let params = &event["params"];
        match event["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                let url = params["request"]["url"].as_str().unwrap_or("?");
                // The page itself, and what it holds.
                if !url.starts_with("file:") && !url.starts_with("data:") {
                    self.requests.push(url.chars().take(200).collect());
                }
            }
            Some("Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded") => {
                self.complaints.push(params.to_string().chars().take(600).collect());
            }
            Some("Page.loadEventFired") => self.loaded = true,
            _ => {}
        }
    }

    /// Opens a file and waits until its script says that it is done, if it may run.
    pub(crate) fn open(&mut self, file: &Path, screen: Screen, scripts: bool) {
        self.visit(&url(file), screen, scripts);
    }

    pub(crate) fn visit(&mut self, address: &str, screen: Screen, scripts: bool) {
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.look(screen);
        self.call("Emulation.setScriptExecutionDisabled", json!({ "value": !scripts }));
        (self.requests, self.complaints, self.loaded) = (Vec::new(), Vec::new(), false);
        self.call("Page.navigate", json!({ "url": address }));
        let ready = if scripts {
            "document.documentElement.dataset.ready === 'true'"
        } else {
            "document.readyState === 'complete'"
        };
        self.until(&format!("location.protocol !== 'about:' && {ready}"));
    }

    /// Changes size and colours.
    pub(crate) fn look(&mut self, Screen { width, height, dark }: Screen) {
        let mobile = width < 600;
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true });
        let reply = self.call("Runtime.evaluate", params);
        assert!(reply.get("exceptionDetails").is_none(), "{expression}: {}", reply["exceptionDetails"]);
        reply["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) fn until(&mut self, expression: &str) {
        let since = Instant::now();
        loop {
            let params = json!({ "expression": format!("!!({expression})"), "returnByValue": true });
            // While a page comes and goes there is nothing to ask.
            if self.try_call("Runtime.evaluate", params).is_ok_and(|answer| answer["result"]["value"] == true) {
                return;
            }
            assert!(since.elapsed() < PATIENCE, "never true: {expression}; complaints: {:?}", self.complaints);
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Moves the mouse to a place in the window.
    pub(crate) fn point(&mut self, x: f64, y: f64) {
        self.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
    }

    /// Clicks the middle of what a selector finds, as a hand does.
    pub(crate) fn click(&mut self, selector: &str) {
        let element = format!("document.querySelector({})", Value::from(selector));
        self.until(&element);
        self.eval(&format!("{element}.scrollIntoView({{ block: 'center', behavior: 'instant' }})"));
        let at = self
            .eval(&format!("(r => [r.left + r.width / 2, r.top + r.height / 2])({element}.getBoundingClientRect())"));
        let (x, y) = (at[0].clone(), at[1].clone());
        for (kind, buttons) in [("mousePressed", 1), ("mouseReleased", 0)] {
            let params = json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", params);
        }
    }

    /// Returns the complaints of the page.
    pub(crate) fn complaints(&self) -> &[String] {
        &self.complaints
    }

    /// Returns the page's requests, its own left out.
    pub(crate) fn requests(&self) -> &[String] {
        &self.requests
    }

    /// Returns the pages of A4 that the page takes on paper.
    pub(crate) fn printed_pages(&mut self) -> usize {
        let paper = json!({ "paperWidth": 8.27, "paperHeight": 11.69, "printBackground": true });
        let reply = self.call("Page.printToPDF", paper);
        let bytes = base64_bytes(reply["data"].as_str().expect("a document"));
        let words = [&b"/Type /Page\n"[..], b"/Type /Page ", b"/Type /Page/"];
        (0..bytes.len()).filter(|&at| words.iter().any(|word| bytes[at..].starts_with(word))).count()
    }

    /// A picture of the whole page, where pictures are wanted: PNG in base64.
    pub(crate) fn picture(&mut self, name: &str) {
        let Some(directory) = std::env::var_os("DRYSTONE_SCREENSHOTS") else { return };
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png", "captureBeyondViewport": true }));
        let path = Path::new(&directory).join(format!("{name}.png.base64"));
        std::fs::write(path, shot["data"].as_str().unwrap_or_default()).expect("written");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The bytes that a text in base64 stands for.
fn base64_bytes(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> = text.bytes().filter(|letter| !b"=\n".contains(letter)).map(value).collect();
    let group = |four: &[u8]| {
        let bits = four.iter().fold(0_u32, |bits, &six| bits << 6 | u32::from(six)) << (6 * (4 - four.len()));
        bits.to_be_bytes()[1..four.len()].to_vec()
    };
    letters.chunks(4).flat_map(group).collect()
}

/// The address of a file, whatever its name holds.
fn url(file: &Path) -> String {
    let mut url = "file://".to_string();
    for byte in file.to_string_lossy().bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
}
