//! A server of the S3 protocol for tests: [moto](https://github.com/getmoto/moto) from PyPI, one for all test processes.
//!
//! What it does with conditions was measured (5.2.5): `PutObject` with `If-None-Match: *` is refused with 412 when the
//! object is there, and of 8 at once one succeeds; `CompleteMultipartUpload` with `If-None-Match: *` and `DeleteObject`
//! with another `If-Match` are refused with 412; deleting what is missing is 204; listing a missing bucket is 404.
//! It does not check signatures: that a wrong key is refused is not tested here. It keeps everything in memory.

mod installation;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use crate::sharing::{Share, Supervision};
use crate::unique_name;

pub use installation::Installation;

const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// Any key is taken; its form matters.
const CREDENTIAL: &str = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, \
                          SignedHeaders=host, Signature=0";

/// The options with the credentials, which appear in no output. The server takes any.
pub const CREDENTIALS: [(&str, &str); 2] =
    [("s3.access-key", "test-access"), ("s3.secret-key", "test-secret")];

/// A bucket of a test's own on the server that all test processes share.
#[derive(Debug)]
pub struct Bucket {
    share: Share,
    name: String,
}

impl Bucket {
    /// Makes one. Starts the server when it does not run.
    ///
    /// # Errors
    /// The server cannot be installed or does not come up.
    pub async fn create() -> Result<Self> {
        // Before the time for the start begins.
        Installation::find_or_install()?;
        let share = Share::acquire("s3-server", "supervise-s3", |address| {
            request(address, "GET", "/", b"").map(drop)
        })
        .await?;
        let bucket = Self {
            share,
            name: unique_name("bucket").replace('_', "-"),
        };
        bucket.request("PUT", "", b"")?;
        Ok(bucket)
    }

    /// `s3://BUCKET/FOLDER`.
    pub fn uri(&self, folder: &str) -> String {
        format!("s3://{}/{folder}", self.name)
    }

    /// The options by which it is found.
    pub fn options(&self) -> [(&'static str, String); 3] {
        [
            ("s3.endpoint", format!("http://{}", self.share.address())),
            ("s3.allow-http", "true".to_owned()),
            ("s3.path.style.access", "true".to_owned()),
        ]
    }

    /// The keys of all objects, sorted.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn keys(&self) -> Result<Vec<String>> {
        let answer = String::from_utf8(self.request("GET", "?list-type=2", b"")?)?;
        ensure!(
            !answer.contains("<IsTruncated>true"),
            "more objects than one answer holds"
        );
        Ok(answer
            .split("<Key>")
            .skip(1)
            .filter_map(|rest| rest.split_once("</Key>"))
            .map(|(key, _)| key.to_owned())
            .collect())
    }

    /// The content of an object.
    ///
    /// # Errors
    /// There is none.
    pub fn read(&self, key: &str) -> Result<Vec<u8>> {
        self.request("GET", &format!("/{key}"), b"")
    }

    /// Puts an object, whatever is there.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn write(&self, key: &str, content: &[u8]) -> Result<()> {
        self.request("PUT", &format!("/{key}"), content).map(drop)
    }

    /// Deletes an object.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn delete(&self, key: &str) -> Result<()> {
        self.request("DELETE", &format!("/{key}"), b"").map(drop)
    }

    /// Makes all objects this much older.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn age(&self, by: Duration) -> Result<()> {
        let target = format!("?test-age={}", by.as_secs());
        self.request("POST", &target, b"").map(drop)
    }

    /// Deletes the bucket, with all that is in it.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn delete_all(&self) -> Result<()> {
        for key in self.keys()? {
            self.delete(&key)?;
        }
        self.request("DELETE", "", b"").map(drop)
    }

    /// The uploads in parts that were begun and neither completed nor given up.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn unfinished_uploads(&self) -> Result<usize> {
        let answer = String::from_utf8(self.request("GET", "?uploads", b"")?)?;
        Ok(answer.matches("<UploadId>").count())
    }

    fn request(&self, method: &str, target: &str, body: &[u8]) -> Result<Vec<u8>> {
        request(
            self.share.address(),
            method,
            &format!("/{}{target}", self.name),
            body,
        )
    }
}

/// One request on a connection of its own; gives the body of a good answer.
fn request(address: &str, method: &str, target: &str, body: &[u8]) -> Result<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&address.parse::<SocketAddr>()?, ANSWER_TIMEOUT)?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    write!(
        stream,
        "{method} {target} HTTP/1.0\r\nHost: {address}\r\nAuthorization: {CREDENTIAL}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )?;
    stream.write_all(body)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let end = answer
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .context("no answer of HTTP")?;
    let content = answer.split_off(end + 4);
    let head = String::from_utf8_lossy(&answer);
    let status = head.split(' ').nth(1).unwrap_or_default();
    if !status.starts_with('2') {
        bail!("{method} {target}: {}", head.lines().next().unwrap_or_default());
    }
    Ok(content)
}

/// The supervisor: starts the server, publishes its address in `folder`, and ends both when nobody uses it.
///
/// # Errors
/// The server cannot be installed or does not come up.
pub async fn supervise(folder: PathBuf) -> Result<()> {
    let supervision = Supervision::begin(&folder)?;
    let mut server = Server::start(&Installation::find_or_install()?)?;
    let address = server.address.clone();
    supervision.watch(&address, || server.is_alive()).await
}

/// The server's process, which is killed with this value, and ends with this process.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(installation: &Installation) -> Result<Self> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/object_server/server.py");
        let mut child = Command::new("python3")
            .arg(script)
            .arg(installation.packages())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("python3 cannot be run")?;
        let output = child.stdout.take().context("no output")?;
        let mut port = String::new();
        BufReader::new(output).read_line(&mut port)?;
        let mut server = Self {
            child,
            address: format!("127.0.0.1:{}", port.trim()),
        };
        ensure!(
            port.trim().parse::<u16>().is_ok() && server.is_alive(),
            "the S3 server did not start: run {script} by hand"
        );
        Ok(server)
    }

    fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
