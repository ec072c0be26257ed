use std::fmt;

use anyhow::{Context as _, Result, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::record_reader::RecordReader;

/// The number of the request that ends a session, and the xid that it is sent under.
const CLOSE: i32 = -11;
const XID: i32 = 1;
/// No answer of a server to what is sent here is longer.
const LONGEST: usize = 4096;

/// A session as a server has accepted it, with what a client proves by that it is its own.
#[derive(Clone)]
pub(super) struct Accepted {
    session: i64,
    timeout: i32,
    password: Vec<u8>,
}

impl Accepted {
    /// The answer to a connect request; `None` where the server says that there is no session.
    pub(super) fn read(answer: &[u8]) -> Option<Self> {
        let mut reader = RecordReader::new(answer);
        let _version = reader.int()?;
        let timeout = reader.int()?;
        let session = reader.long()?;
        let password = reader.buffer()?.to_vec();
        (timeout > 0).then_some(Self {
            session,
            timeout,
            password,
        })
    }

    pub(super) fn session(&self) -> i64 {
        self.session
    }

    /// Ends the session by another connection to `server`.
    pub(super) async fn close(&self, server: &str) -> Result<()> {
        let mut stream = TcpStream::connect(server)
            .await
            .with_context(|| format!("cannot connect to {server}"))?;
        let connect = [
            &0_i32.to_be_bytes()[..],
            &0_i64.to_be_bytes(),
            &self.timeout.to_be_bytes(),
            &self.session.to_be_bytes(),
            &i32::try_from(self.password.len())?.to_be_bytes(),
            &self.password,
            &[0],
        ]
        .concat();
        let accepted = Self::read(&exchange(&mut stream, &connect).await?);
        ensure!(
            accepted.is_some_and(|accepted| accepted.session == self.session),
            "{server} takes the connection for another session's"
        );
        send(&mut stream, &[XID.to_be_bytes(), CLOSE.to_be_bytes()].concat()).await?;
        // The server ends the connection with the session, with an answer or without.
        stream
            .read_to_end(&mut Vec::new())
            .await
            .context("the end of the session was not answered")?;
        Ok(())
    }
}

/// The password is no one's to read.
impl fmt::Debug for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accepted")
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

async fn send(stream: &mut TcpStream, body: &[u8]) -> Result<()> {
    stream.write_i32(i32::try_from(body.len())?).await?;
    stream.write_all(body).await?;
    Ok(())
}

/// Sends one frame and takes the next one.
async fn exchange(stream: &mut TcpStream, body: &[u8]) -> Result<Vec<u8>> {
    send(stream, body).await?;
    let length = usize::try_from(stream.read_i32().await?)?;
    ensure!(length <= LONGEST, "an answer of {length} bytes");
    let mut answer = vec![0; length];
    stream.read_exact(&mut answer).await?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(timeout: i32) -> Vec<u8> {
        [
            &[0; 4][..],
            &timeout.to_be_bytes(),
            &7_i64.to_be_bytes(),
            &2_i32.to_be_bytes(),
            b"pw",
        ]
        .concat()
    }

    #[test]
    fn a_session_is_accepted_with_a_timeout() {
        let accepted = Accepted::read(&answer(4000)).unwrap();
        assert_eq!((accepted.session(), accepted.timeout), (7, 4000));
        assert_eq!(accepted.password, b"pw");
        assert!(!format!("{accepted:?}").contains("112"), "{accepted:?}");
        assert!(Accepted::read(&answer(0)).is_none());
        assert!(Accepted::read(&answer(4000)[..12]).is_none());
    }
}
