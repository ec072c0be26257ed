/// A rule of the protocol left out or replaced by a simpler one. Each makes the model break an invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weakening {
    /// The lease is anchored at the newest answered proof, not at the newest heartbeat that counts (design §3).
    LeaseAnchoredAtNewestAnswer,
    /// The leading process heartbeats by `sync` and takes its answers for proofs (design §3).
    HeartbeatsAreSync,
    /// A ping of ZooKeeper's leader may be held up for longer than half a tick right before the follower is cut
    /// off. The protocol is not weakened: this is what I1 excepts.
    PingsHeldUp,
    /// Leader writes check nothing (design §4.4).
    FenceLeftOut,
    /// Leader writes check that the latch is there, at any version (design §4.4).
    FenceIgnoresVersion,
    /// A latch with a name of this process is its own, whichever session owns it (design §4.1).
    OwnershipByName,
    /// The epoch is the zxid of the latch's creation, not of the claim (design §4.4).
    EpochIsCreation,
}
