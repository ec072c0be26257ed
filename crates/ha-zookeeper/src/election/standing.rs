use std::sync::Arc;

use ha_core::ids::LeaderSessionId;
use ha_core::{Error, ErrorKind, Result};
use tokio::sync::watch;

use super::contention::{Contention, Next};
use crate::client::ZooKeeperClient;
use crate::latch::{Claim, Gone, LatchDecision, OwnNode, OwnNodeChange, decide, wait_until_gone};
use crate::session::{SessionClient, SessionStatus};

/// Why waiting ended.
enum Waited {
    /// What is known may be out of date.
    ListAgain,
    /// The next lower latch is gone.
    PredecessorGone,
    /// The own latch was deleted or set by somebody, or went with the session.
    OwnChanged,
    Leave,
}

impl Contention {
    /// Stands in the election with one client, until there is another, the latch is lost, or the driver closes.
    pub(super) async fn stand(&mut self, present: &SessionClient) -> Result<Next> {
        if self.make_ready(present).await? == Next::Leave {
            return Ok(Next::Leave);
        }
        let client = &present.client;
        let node = self.latch.enter(client.as_ref()).await?;
        // Another one stands elsewhere.
        self.lowest.take_if(|(lowest, _)| *lowest != node.name);
        self.shared
            .session
            .set_session_check(self.shared.paths.session_check());
        let mut own = OwnNode::new(Arc::clone(client), Arc::clone(self.shared.clock()), node);
        let mut status = self.shared.session.watch_status();
        loop {
            let connects = status.borrow_and_update().connects;
            let Some(names) = self.look(client.as_ref(), &mut own).await? else {
                return Ok(Next::Again);
            };
            let waited = match decide(&names, &own.node.name) {
                LatchDecision::Absent => return Ok(Next::Again),
                LatchDecision::Lowest => {
                    self.note_lowest(&own.node.name);
                    let claim = self
                        .latch
                        .claim(client.as_ref(), &own.node, self.new_term())
                        .await?;
                    return self.lead_if(present, own, claim).await;
                }
                LatchDecision::Foreign(names) => {
                    self.report_foreign(&names);
                    self.wait_for_change(client.as_ref(), &mut own, &mut status, connects)
                        .await?
                }
                LatchDecision::Behind(predecessor) => {
                    self.wait_behind(client.as_ref(), &mut own, &predecessor, &mut status, connects)
                        .await
                }
            };
            match waited {
                Waited::ListAgain => {}
                Waited::OwnChanged => return Ok(Next::Again),
                Waited::Leave => return Ok(Next::Leave),
                Waited::PredecessorGone => {
                    if let Some(claim) = self.take_over(client.as_ref(), &mut own).await? {
                        return self.lead_if(present, own, claim).await;
                    }
                }
            }
        }
    }

    /// Asks the precondition. A latch of this process that stands meanwhile keeps everybody behind it from leading
    /// and is no use as long as the answer is no, or late: it goes then, and the others are next (I9).
    async fn make_ready(&mut self, present: &SessionClient) -> Result<Next> {
        let client = present.client.as_ref();
        let standing = self.latch.may_stand(client);
        let connection = present.connection();
        let bound = present.terms.session_timeout() / 4;
        let answer = tokio::select! {
            biased;
            () = self.closing.cancelled() => return Ok(Next::Leave),
            answer = self.precondition.ensure() => answer,
            () = self.shared.clock().sleep(bound), if standing => Err(Error::new(
                ErrorKind::Unavailable,
                format!("whether this process may lead was not known within {} ms", bound.as_millis()),
            )
            .at(self.shared.paths.latches())
            .advise("check that the storage answers")),
        };
        let Err(error) = answer else {
            return Ok(Next::Again);
        };
        // Without a connection it is not known whether this process may lead; the place in the queue is kept. That it
        // was lost meanwhile is sure to be known only once something sent later has been answered.
        let latches = self.shared.paths.latches();
        let asked = standing
            && tokio::select! {
                biased;
                () = self.closing.cancelled() => return Ok(Next::Leave),
                synced = client.sync(&latches) => synced.is_ok(),
            };
        if asked && connection.is_some() && present.connection() == connection {
            tracing::warn!(%error, "leaving the election, as this process may not lead now");
            let infos = self.shared.published_paths();
            self.latch.leave(client, &infos).await?;
        }
        Err(error)
    }

    /// Watches the own latch, then lists, at least as new as everything written before. `None`: the own latch is
    /// not as this process left it.
    async fn look(&self, client: &dyn ZooKeeperClient, own: &mut OwnNode) -> Result<Option<Vec<String>>> {
        let parent = self.shared.paths.latches();
        let path = own.node.path.clone();
        // Sent in this order, and handled in it.
        let (synced, change, listed) = futures::join!(client.sync(&parent), own.read(), client.list(&parent));
        synced.map_err(|error| error.at(&parent))?;
        match change.map_err(|error| error.at(&path))? {
            Some(OwnNodeChange::OfAnotherSession) => {
                self.shared.session.give_up(client.session_id());
                Err(Error::new(
                    ErrorKind::Conflict,
                    "the server has put another session in the place of this one, without saying so",
                )
                .at(path)
                .advise("use servers that keep a session over a reconnect, as Apache ZooKeeper does"))
            }
            Some(change) => {
                tracing::info!(path, ?change, "the own latch was changed by another");
                Ok(None)
            }
            None => Ok(Some(listed.map_err(|error| error.at(&parent))?.0)),
        }
    }

    /// Lists and claims in one round trip, the listing first. The outer `None`: not the lowest after all.
    async fn take_over(
        &mut self,
        client: &dyn ZooKeeperClient,
        own: &mut OwnNode,
    ) -> Result<Option<Option<Claim>>> {
        let parent = self.shared.paths.latches();
        let term = self.new_term();
        let (listed, claim) = futures::join!(client.list(&parent), self.latch.claim(client, &own.node, term));
        let Some(claim) = claim? else {
            return Ok(Some(None));
        };
        // A claim without the lowest place grants nothing, but it is an own write.
        own.node.version = claim.version;
        let names = listed.map_err(|error| error.at(&parent))?.0;
        if decide(&names, &own.node.name) != LatchDecision::Lowest {
            return Ok(None);
        }
        self.note_lowest(&own.node.name);
        Ok(Some(Some(claim)))
    }

    /// Leads by a claim, or contends anew if it was lost.
    async fn lead_if(
        &mut self,
        present: &SessionClient,
        mut own: OwnNode,
        claim: Option<Claim>,
    ) -> Result<Next> {
        let Some(claim) = claim else {
            return Ok(Next::Again);
        };
        own.node.version = claim.version;
        Box::pin(self.lead(present, own, claim)).await
    }

    async fn wait_behind(
        &self,
        client: &dyn ZooKeeperClient,
        own: &mut OwnNode,
        predecessor: &str,
        status: &mut watch::Receiver<SessionStatus>,
        connects: u64,
    ) -> Waited {
        let path = self.shared.paths.latch(predecessor);
        let clock = self.shared.clock();
        let report = |error| self.shared.report(error);
        tokio::select! {
            biased;
            () = self.closing.cancelled() => Waited::Leave,
            change = own.changed() => self.own_changed(own, change),
            gone = wait_until_gone(client, &path, clock.as_ref(), &report) => match gone {
                Gone::Node => Waited::PredecessorGone,
                Gone::SessionOver => Waited::OwnChanged,
            },
            () = reconnected(status, connects) => Waited::ListAgain,
            // Whatever was missed is made good within one period.
            () = clock.sleep(self.shared.session.session_timeout()) => Waited::ListAgain,
        }
    }

    async fn wait_for_change(
        &self,
        client: &dyn ZooKeeperClient,
        own: &mut OwnNode,
        status: &mut watch::Receiver<SessionStatus>,
        connects: u64,
    ) -> Result<Waited> {
        let parent = self.shared.paths.latches();
        let (_, _, children) = client
            .list_and_watch(&parent)
            .await
            .map_err(|error| error.at(&parent))?;
        let clock = self.shared.clock();
        Ok(tokio::select! {
            biased;
            () = self.closing.cancelled() => Waited::Leave,
            change = own.changed() => self.own_changed(own, change),
            _ = children => Waited::ListAgain,
            () = reconnected(status, connects) => Waited::ListAgain,
            () = clock.sleep(self.shared.session.session_timeout()) => Waited::ListAgain,
        })
    }

    fn own_changed(&self, own: &OwnNode, change: OwnNodeChange) -> Waited {
        tracing::info!(
            path = own.node.path,
            ?change,
            "contending anew with another latch"
        );
        Waited::OwnChanged
    }

    fn report_foreign(&self, names: &[String]) {
        self.shared.report(
            Error::new(
                ErrorKind::Corrupt,
                format!(
                    "refusing to lead: children that are no latches of this system: {}",
                    names.join(", ")
                ),
            )
            .at(self.shared.paths.latches())
            .advise("find out who made them, and give each system a root or cluster id of its own"),
        );
    }

    fn new_term(&self) -> LeaderSessionId {
        LeaderSessionId::from_uuid(self.shared.environment.ids.uuid())
    }
}

/// Completes when the connection was made again since `connects`, or never will be.
pub(super) async fn reconnected(status: &mut watch::Receiver<SessionStatus>, connects: u64) {
    // An error means that the session's owner is gone, and with it the session.
    let _ = status
        .wait_for(|status| status.closed || status.connects != connects)
        .await;
}
