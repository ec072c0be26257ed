use std::time::Duration;

use super::*;
use crate::AdminClient;

const TIMEOUT: Duration = Duration::from_secs(30);

#[tokio::test]
async fn own_server_keeps_its_data_over_kill_and_restart() -> Result<()> {
    let mut ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    admin.create("/kept", b"data").await?;
    let transactions = ensemble.server(0)?.transactions()?;
    assert!(
        transactions
            .iter()
            .any(|transaction| transaction.action.contains("/kept")),
        "{transactions:?}"
    );
    drop(admin);
    ensemble.server(0)?.restart().await?;
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    assert_eq!(admin.get("/kept").await?.as_deref(), Some(b"data".as_slice()));
    Ok(())
}

#[tokio::test]
async fn stopped_server_answers_nothing_until_it_continues() -> Result<()> {
    let mut ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
    let server = ensemble.server(0)?;
    server.stop()?;
    assert!(server.role().is_err());
    server.cont()?;
    server.wait_until_serving().await
}

#[tokio::test]
async fn three_servers_elect_another_leader() -> Result<()> {
    let mut ensemble = Ensemble::start(EnsembleOptions::three()).await?;
    let first = ensemble.leader().await?;
    ensemble.server(first)?.kill()?;
    let second = ensemble.leader().await?;
    assert_ne!(first, second);
    ensemble.server(first)?.restart().await?;
    assert_eq!(ensemble.server(first)?.role()?, ServerRole::Follower);
    Ok(())
}

#[tokio::test]
async fn servers_end_with_their_ensemble() -> Result<()> {
    let mut ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
    let address = ensemble.server(0)?.address();
    drop(ensemble);
    assert!(ServerRole::ask(address).is_err());
    Ok(())
}

#[tokio::test]
async fn shared_server_is_one_and_cannot_be_stopped() -> Result<()> {
    let mut first = Ensemble::shared().await?;
    let second = Ensemble::shared().await?;
    assert_eq!(first.connect_string(), second.connect_string());
    assert!(first.server(0).is_err());
    crate::eventually("a client connects", TIMEOUT, async || {
        AdminClient::connect(&second.connect_string()).await.map(|_| ())
    })
    .await
}
