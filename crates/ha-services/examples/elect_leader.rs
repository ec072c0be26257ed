//! Contends for leadership of a component, leads for a moment, and gives leadership up.
//!
//! Embedded by default; on ZooKeeper with options as arguments:
//!
//! ```text
//! cargo run -p ha-services --example elect_leader -- high-availability=zookeeper \
//!     high-availability.zookeeper.quorum=127.0.0.1:2181 high-availability.storageDir=/tmp/ha
//! ```
#![expect(clippy::print_stdout, reason = "an example talks")]

use std::sync::Arc;

use ha_services::configuration::ConfigurationLoader;
use ha_services::ids::{ComponentId, LeaderSessionId};
use ha_services::{
    Environment, Error, LeaderContender, Result, async_trait, create_available_or_embedded_services,
};

struct Scheduler;

#[async_trait]
impl LeaderContender for Scheduler {
    async fn grant_leadership(&self, session: LeaderSessionId) {
        println!("granted: this process leads in the term {session}");
    }

    async fn revoke_leadership(&self) {
        println!("revoked: this process leads no more");
    }

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

    let election = services.leader_election(ComponentId::custom("scheduler")?);
    // The same as the callbacks, for those who would rather wait than be called.
    let mut leadership = election.subscribe();
    election.start(Arc::new(Scheduler)).await?;
    let term = leadership
        .wait_for(Option::is_some)
        .await
        .ok()
        .and_then(|term| term.clone());
    if let Some(term) = term {
        // From here on others learn of this leader. A term that was over meanwhile confirms nothing.
        let confirmed = election.confirm_leadership(term.leader_session_id, None).await?;
        let leads = election.has_leadership(term.leader_session_id).await;
        println!("confirmed: {confirmed}, leads: {leads}, epoch {}", term.epoch);
    }
    election.stop().await?;
    services.close().await
}
