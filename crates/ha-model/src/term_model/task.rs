use super::stamp::Stamp;

/// A latch as its process last wrote or read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Known {
    /// Which.
    pub created: Stamp,
    /// The version.
    pub version: u8,
}

/// A claim that is made or stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Claim {
    /// The term that it is to begin.
    pub term: Stamp,
    /// The listing that was handled before it had the latch in the lowest place.
    pub lowest: bool,
}

/// What the task of a process that stands in the election is doing. A request is a step of its own, so that what
/// was read may be out of date by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    /// Looks for its latch and makes one where there is none.
    Enter,
    /// Has a latch; is to watch it and list.
    Stand,
    /// Stands behind this one.
    Behind(Stamp),
    /// The claim is on its way to the server.
    Claiming(Claim),
    /// The reply to the claim was lost: is to read back.
    ClaimInDoubt(Claim),
    /// The claim of this term and zxid stands; waits for the lease.
    AwaitLease(Stamp, Stamp),
    /// Leads.
    Lead,
    /// The term is over and the flag false; contenders are to be revoked.
    Revoke {
        /// The latch is to be deleted then: somebody asked this process to step down.
        step_down: bool,
    },
    /// Deletes its latch.
    Leave,
}
