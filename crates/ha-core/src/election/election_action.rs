use super::{LeaderGrant, LeaderInformation};
use crate::ids::{ComponentId, LeaderSessionId};

/// What the election's task has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ElectionAction {
    /// Make the driver: enter the election.
    OpenDriver,
    /// Close the driver: leave the election and give up leadership.
    CloseDriver,
    /// `has_leadership` is to be false from here on, before anybody is revoked.
    EndLeadership,
    /// Everybody was revoked: tell the driver.
    TellRevoked(LeaderSessionId),
    /// Grant the term to a contender, after its callbacks of earlier terms have returned.
    Grant(ComponentId, LeaderGrant),
    /// Revoke a contender if it was granted, and say with this number when its callbacks have returned.
    Revoke(ComponentId, u64),
    /// Callbacks did not return in time: no further one may begin.
    Silence(ComponentId),
    /// The deadline passed with callbacks of this contender outstanding.
    ReportOverdue(ComponentId),
    /// Write leader information, and say with this number how that ended.
    Publish(ComponentId, u64, LeaderInformation),
    /// Remove the leader information of one component; the others still lead.
    Withdraw(ComponentId),
    /// Remove what a contender of this component may have left behind.
    Clear(ComponentId),
    /// Somebody keeps changing the leader information of a component.
    ReportFight(ComponentId, Option<LeaderInformation>),
    /// The contender has left; nothing of it is left behind.
    Left(ComponentId),
}
