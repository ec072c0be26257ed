//! Follows the leader of a component: who leads, and when nobody does.
//!
//! Embedded by default; on ZooKeeper with options as arguments, see `elect_leader`.
#![expect(clippy::print_stdout, reason = "an example talks")]

use std::sync::Arc;

use ha_services::configuration::ConfigurationLoader;
use ha_services::ids::{ComponentId, LeaderSessionId};
use ha_services::{
    Environment, Error, LeaderContender, LeaderInformation, LeaderRetrievalListener, Result, async_trait,
    create_available_or_embedded_services,
};

struct Follower;

#[async_trait]
impl LeaderRetrievalListener for Follower {
    async fn notify_leader(&self, leader: Option<LeaderInformation>) {
        match leader {
            Some(leader) => println!(
                "the leader is at {}, epoch {}",
                leader.leader_address, leader.epoch
            ),
            None => println!("nobody is known to lead"),
        }
    }

    async fn handle_error(&self, error: Error) {
        println!("error of the retrieval: {error}");
    }
}

/// Somebody to follow.
struct Leader;

#[async_trait]
impl LeaderContender for Leader {
    async fn grant_leadership(&self, _session: LeaderSessionId) {}

    async fn revoke_leadership(&self) {}

    fn address(&self) -> String {
        "http://127.0.0.1:8081".to_owned()
    }

    async fn handle_error(&self, error: Error) {
        println!("error of the election: {error}");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let loader = std::env::args()
        .skip(1)
        .try_fold(ConfigurationLoader::new(), |loader, argument| {
            loader.define(&argument)
        })?;
    let services = create_available_or_embedded_services(&loader.load()?, Environment::system()).await?;
    let component = ComponentId::custom("scheduler")?;

    let retrieval = services.leader_retriever(component.clone());
    let mut followed = retrieval.subscribe();
    retrieval.start(Arc::new(Follower)).await?;

    let election = services.leader_election(component);
    let mut leadership = election.subscribe();
    election.start(Arc::new(Leader)).await?;
    let granted = leadership
        .wait_for(Option::is_some)
        .await
        .ok()
        .and_then(|leader| leader.clone());
    if let Some(granted) = granted {
        election
            .confirm_leadership(granted.leader_session_id, None)
            .await?;
    }

    // Wait until the follower knows the leader, then until it knows that the leader is gone.
    let _ = followed.wait_for(Option::is_some).await;
    election.stop().await?;
    let _ = followed.wait_for(Option::is_none).await;

    retrieval.stop().await?;
    services.close().await
}
