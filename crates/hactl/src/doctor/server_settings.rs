use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use ha_core::environment::Clock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::snapshot::ServerSettings;

/// The longest that one server is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest answer that is read, in bytes: some ten thousand connections.
const LONGEST: u64 = 4 << 20;

/// Asks each server (`host:port`) for its settings by `conf` and for its connections by `cons`, over a connection each. A
/// server answers only where its `4lw.commands.whitelist` holds the word.
pub(super) async fn ask(
    servers: Vec<String>,
    clock: &dyn Clock,
) -> Vec<(String, Result<ServerSettings, String>)> {
    join_all(servers.into_iter().map(|server| async move {
        let settings = async {
            let connected = word(&server, "cons", clock)
                .await
                .and_then(|text| parse_connected(&text));
            parse(&word(&server, "conf", clock).await?, connected)
        };
        let settings = settings.await;
        (server, settings)
    }))
    .await
}

/// The answer to a four-letter word; else why there is none.
async fn word(server: &str, word: &str, clock: &dyn Clock) -> Result<String, String> {
    let answer = async {
        let mut stream = TcpStream::connect(server).await?;
        stream.write_all(word.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(LONGEST).read_to_end(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    tokio::select! {
        biased;
        answer = answer => match answer {
            Ok(answer) if answer.len() as u64 == LONGEST => Err(format!("its answer to `{word}` is too long")),
            Ok(answer) => Ok(String::from_utf8_lossy(&answer).into_owned()),
            Err(error) => Err(error.to_string()),
        },
        () = clock.sleep(PATIENCE) => Err("no answer in time".to_owned()),
    }
}

/// The settings in an answer to `conf`: a line of `key=value` each.
fn parse(answer: &str, connected: Result<BTreeSet<i64>, String>) -> Result<ServerSettings, String> {
    let tick = answer.lines().find_map(|line| line.strip_prefix("tickTime="));
    match tick.and_then(|tick| tick.trim().parse().ok()) {
        Some(tick) => Ok(ServerSettings {
            tick: Duration::from_millis(tick),
            members: members(answer),
            connected,
        }),
        None if answer.contains("whitelist") => Err("`conf` is not in its 4lw.commands.whitelist".to_owned()),
        None => Err("its answer to `conf` holds no tickTime".to_owned()),
    }
}

/// How many servers the answer to `conf` names: none where the server stands alone.
fn members(answer: &str) -> usize {
    let servers = answer.lines().filter(|line| line.starts_with("server."));
    servers.count().max(1)
}

/// The sessions in an answer to `cons`: a line a connection, with `sid=0x…`.
fn parse_connected(answer: &str) -> Result<BTreeSet<i64>, String> {
    if answer.contains("whitelist") {
        return Err("`cons` is not in its 4lw.commands.whitelist".to_owned());
    }
    let sessions = answer.lines().filter_map(|line| {
        let (_, rest) = line.split_once(",sid=0x")?;
        let (digits, _) = rest.split_once(',')?;
        u64::from_str_radix(digits, 16).ok().map(u64::cast_signed)
    });
    Ok(sessions.collect())
}

#[cfg(test)]
mod tests {
    use ha_core::environment::SystemClock;
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn the_tick_is_found_and_a_refusal_understood() {
        let answer = "clientPort=2181\ndataDir=/x\ntickTime=500\nmaxClientCnxns=60\n";
        let parse = |answer| parse(answer, Ok(BTreeSet::new()));
        let settings = parse(answer).unwrap();
        assert_eq!((settings.tick, settings.members), (Duration::from_millis(500), 1));
        let members =
            "tickTime=500\nmembership: \nserver.1=a:2888:3888:participant\nserver.2=b:2888:3888:observer\n";
        assert_eq!(parse(members).unwrap().members, 2);
        let refusal = "conf is not executed because it is not in the whitelist.\n";
        assert!(parse(refusal).unwrap_err().contains("4lw.commands.whitelist"));
        for bad in ["", "tickTime=x\n", "tickTime=-1\n"] {
            assert!(parse(bad).unwrap_err().contains("no tickTime"), "{bad:?}");
        }
    }

    #[test]
    fn connected_sessions_are_found_and_a_refusal_understood() {
        let answer = "\
 /127.0.0.1:40202[0](queued=0,recved=1,sent=0)
 /127.0.0.1:40188[1](queued=0,recved=12,sent=12,sid=0x1000039e6850002,lop=PING,est=1,to=6000,lcxid=0xb)
 /127.0.0.1:40190[1](queued=0,recved=1,sent=1,sid=0xff00000000000001,lop=SESS,est=1,to=6000)

";
        let negative = 0xff00_0000_0000_0001_u64.cast_signed();
        assert_eq!(
            parse_connected(answer).unwrap(),
            BTreeSet::from([0x0100_0039_e685_0002, negative])
        );
        let refusal = "cons is not executed because it is not in the whitelist.\n";
        assert!(
            parse_connected(refusal)
                .unwrap_err()
                .contains("4lw.commands.whitelist")
        );
    }

    #[tokio::test]
    async fn a_server_is_asked_and_one_that_is_not_there_says_why() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = listener.local_addr().unwrap().to_string();
        let serve = async {
            let answers = [
                ("cons", " /h:1[1](queued=0,sid=0x7,to=1)\n"),
                ("conf", "tickTime=250\n"),
            ];
            for (expected, answer) in answers {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut word = [0; 4];
                stream.read_exact(&mut word).await.unwrap();
                assert_eq!(word, expected.as_bytes());
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        };
        let gone = "127.0.0.1:1".to_owned();
        let (answers, ()) = futures::join!(ask(vec![server, gone], &SystemClock), serve);
        assert_eq!(
            answers[0].1,
            Ok(ServerSettings {
                tick: Duration::from_millis(250),
                members: 1,
                connected: Ok(BTreeSet::from([7])),
            })
        );
        assert!(answers[1].1.is_err());
    }
}
