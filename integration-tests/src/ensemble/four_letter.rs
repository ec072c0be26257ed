use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

/// A server that runs answers at once, unless the machine stalls.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// What a server is in its ensemble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerRole {
    /// It is alone.
    Standalone,
    /// It leads.
    Leader,
    /// It follows.
    Follower,
}

impl ServerRole {
    /// Asks a server; an answer means that it serves.
    ///
    /// # Errors
    /// It does not answer within 5 s, or does not serve.
    pub fn ask(server: SocketAddr) -> Result<Self> {
        let answer = four_letter_word(server, "srvr")?;
        match answer.lines().find_map(|line| line.strip_prefix("Mode: ")) {
            Some("standalone") => Ok(Self::Standalone),
            Some("leader") => Ok(Self::Leader),
            Some("follower") => Ok(Self::Follower),
            _ => bail!("{server} does not serve: {}", answer.trim()),
        }
    }
}

/// Sends a four-letter word and returns the answer.
///
/// # Errors
/// The server does not answer within 5 s.
pub fn four_letter_word(server: SocketAddr, word: &str) -> Result<String> {
    let mut stream = TcpStream::connect_timeout(&server, ANSWER_TIMEOUT)
        .with_context(|| format!("cannot connect to {server}"))?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    stream.write_all(word.as_bytes())?;
    let mut answer = Vec::new();
    stream
        .read_to_end(&mut answer)
        .with_context(|| format!("{server} does not answer `{word}`"))?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
