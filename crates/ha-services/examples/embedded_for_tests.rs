//! Embedded services in a test: several contenders in one process, one of them leads, and leadership moves when it
//! stops. Nothing outside is needed.
#![expect(clippy::print_stdout, reason = "an example talks")]

use std::sync::Arc;

use ha_services::ids::{ComponentId, LeaderSessionId};
use ha_services::{
    EmbeddedHaServices, Environment, Error, HighAvailabilityServices as _, LeaderContender,
    LeaderElectionService, Result, async_trait,
};

struct Member {
    name: &'static str,
}

#[async_trait]
impl LeaderContender for Member {
    async fn grant_leadership(&self, session: LeaderSessionId) {
        println!("{} leads in the term {session}", self.name);
    }

    async fn revoke_leadership(&self) {
        println!("{} leads no more", self.name);
    }

    fn address(&self) -> String {
        format!("http://{}", self.name)
    }

    async fn handle_error(&self, error: Error) {
        println!("{}: {error}", self.name);
    }
}

/// Waits until the election's own contender leads.
async fn until_leading(election: &Arc<dyn LeaderElectionService>) -> Option<LeaderSessionId> {
    let mut leadership = election.subscribe();
    let leader = leadership.wait_for(Option::is_some).await.ok()?;
    leader.as_ref().map(|leader| leader.leader_session_id)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let services = EmbeddedHaServices::new(Environment::system())?;
    let component = ComponentId::custom("scheduler")?;
    let [first, second] = [(); 2].map(|()| services.leader_election(component.clone()));
    first.start(Arc::new(Member { name: "first" })).await?;
    let first_term = until_leading(&first).await;
    second.start(Arc::new(Member { name: "second" })).await?;

    first.stop().await?;
    let second_term = until_leading(&second).await;
    println!("the terms differ: {}", first_term != second_term);

    second.stop().await?;
    services.close().await
}
