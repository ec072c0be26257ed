use std::time::Duration;

use futures::future::join_all;
use ha_core::environment::Clock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::snapshot::ServerSettings;

/// The longest that one server is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest answer that is read, in bytes.
const LONGEST: u64 = 16 * 1024;

/// Asks each server (`host:port`) for its settings by `conf`, over a connection of its own. A server answers it only
/// where its `4lw.commands.whitelist` holds it.
pub(super) async fn ask(
    servers: Vec<String>,
    clock: &dyn Clock,
) -> Vec<(String, Result<ServerSettings, String>)> {
    join_all(servers.into_iter().map(|server| async move {
        let settings = tokio::select! {
            biased;
            answer = conf(&server) => answer.map_err(|error| error.to_string()).and_then(|text| parse(&text)),
            () = clock.sleep(PATIENCE) => Err("no answer in time".to_owned()),
        };
        (server, settings)
    }))
    .await
}

async fn conf(server: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(server).await?;
    stream.write_all(b"conf").await?;
    let mut answer = Vec::new();
    stream.take(LONGEST).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// The settings in an answer to `conf`: a line of `key=value` each.
pub(super) fn parse(answer: &str) -> Result<ServerSettings, String> {
    let tick = answer.lines().find_map(|line| line.strip_prefix("tickTime="));
    match tick.and_then(|tick| tick.trim().parse().ok()) {
        Some(tick) => Ok(ServerSettings {
            tick: Duration::from_millis(tick),
        }),
        None if answer.contains("whitelist") => Err("`conf` is not in its 4lw.commands.whitelist".to_owned()),
        None => Err("its answer to `conf` holds no tickTime".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use ha_core::environment::SystemClock;
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn the_tick_is_found_and_a_refusal_understood() {
        let answer = "clientPort=2181\ndataDir=/x\ntickTime=500\nmaxClientCnxns=60\n";
        assert_eq!(parse(answer).unwrap().tick, Duration::from_millis(500));
        let refusal = "conf is not executed because it is not in the whitelist.\n";
        assert!(parse(refusal).unwrap_err().contains("4lw.commands.whitelist"));
        for bad in ["", "tickTime=x\n", "tickTime=-1\n"] {
            assert!(parse(bad).unwrap_err().contains("no tickTime"), "{bad:?}");
        }
    }

    #[tokio::test]
    async fn a_server_is_asked_and_one_that_is_not_there_says_why() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = listener.local_addr().unwrap().to_string();
        let serve = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut word = [0; 4];
            stream.read_exact(&mut word).await.unwrap();
            assert_eq!(&word, b"conf");
            stream.write_all(b"tickTime=250\n").await.unwrap();
        };
        let gone = "127.0.0.1:1".to_owned();
        let (answers, ()) = futures::join!(ask(vec![server, gone], &SystemClock), serve);
        assert_eq!(
            answers[0].1,
            Ok(ServerSettings {
                tick: Duration::from_millis(250)
            })
        );
        assert!(answers[1].1.is_err());
    }
}
