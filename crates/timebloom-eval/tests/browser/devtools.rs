//! Just enough of the DevTools protocol to open a page in Chromium, ask it questions and take its picture.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use serde_json::{Value, json};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

/// How long anything may take before the test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser of our own, with one page.
pub struct Browser {
    process: Child,
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    session: String,
    sent: u64,
    /// What the page tried to fetch.
    pub requests: Vec<String>,
    /// What went wrong in the page.
    pub complaints: Vec<String>,
}

impl Browser {
    /// Starts Chromium with an empty profile in `profile`.
    pub fn start(profile: &Path) -> Self {
        let mut process = Command::new("chromium")
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"])
            .args(["--disable-component-update", "--disable-sync", "--no-first-run", "--hide-scrollbars"])
            .args(["--remote-debugging-port=0", "--remote-allow-origins=*"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("chromium is installed; on Debian: apt install chromium");
        let stderr = BufReader::new(process.stderr.take().expect("piped"));
        let address = stderr
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("DevTools listening on ").map(str::to_owned))
            .expect("Chromium says where it listens");
        let (socket, _) = tungstenite::connect(&address).expect("it listens there");
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        }
        let mut browser =
            Browser { process, socket, session: String::new(), sent: 0, requests: Vec::new(), complaints: Vec::new() };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attached =
            browser.call("Target.attachToTarget", &json!({ "targetId": target["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page.enable", "Network.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, &json!({}));
        }
        browser
    }

    /// Calls a method and waits for its result.
    pub fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.sent += 1;
        let id = self.sent;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.socket.send(Message::text(message.to_string())).expect("the browser is there");
        let began = Instant::now();
        loop {
            assert!(began.elapsed() < PATIENCE, "{method} takes too long");
            let Message::Text(text) = self.socket.read().expect("the browser answers") else { continue };
            let answer: Value = serde_json::from_str(&text).expect("JSON");
            if answer["id"] == json!(id) {
                assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.note(&answer);
        }
    }

    fn note(&mut self, event: &Value) {
        let parameters = &event["params"];
        match event["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                self.requests.push(parameters["request"]["url"].as_str().unwrap_or_default().to_owned());
            }
            Some("Runtime.exceptionThrown") => self.complaints.push(parameters["exceptionDetails"].to_string()),
            Some("Log.entryAdded") => self.complaints.push(parameters["entry"].to_string()),
            _ => (),
        }
    }

    /// Opens a file, as wide as a screen of this many pixels, light or dark.
    pub fn open(&mut self, file: &Path, width: u32, scheme: &str) {
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 2, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", &media);
        self.call("Page.navigate", &json!({ "url": format!("file://{}", file.display()) }));
        let began = Instant::now();
        while self.evaluate("document.readyState + ' ' + location.protocol") != json!("complete file:") {
            assert!(began.elapsed() < PATIENCE, "the page does not load");
        }
    }

    /// The value of an expression in the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let result = self.call("Runtime.evaluate", &json!({ "expression": expression, "returnByValue": true }));
        assert!(result.get("exceptionDetails").is_none(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    /// A picture of the whole page.
    pub fn screenshot(&mut self, into: &Path) {
        let height = self.evaluate("document.documentElement.scrollHeight").as_f64().expect("a number");
        let width = self.evaluate("document.documentElement.clientWidth").as_f64().expect("a number");
        let clip = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
        let parameters = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let picture = self.call("Page.captureScreenshot", &parameters);
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(picture["data"].as_str().expect("base64"))
            .expect("base64");
        std::fs::write(into, bytes).expect("the folder is ours");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
