//! A model of the leader-election protocol (design §3 and §4), checked exhaustively with `stateright`.
//!
//! Three processes contend. A run is every order of their steps and of what may go wrong, within a bound; the
//! checker visits every state that any run reaches. Where the product has the rule as pure code, the model runs
//! that code: [`Lease`](ha_core::lease::Lease) and [`LeaseTerms`](ha_core::lease::LeaseTerms) for the lease,
//! [`decide`](ha_zookeeper::latch::decide) for the place in the queue.
//!
//! # Two models
//!
//! | model | time | checked |
//! |---|---|---|
//! | [`lease_model`] | units of half a tick, clocks that differ | I1, I9 |
//! | [`term_model`] | none: every step may be as late as it likes | I2, I3, I4, I12 of leader writes, one latch a session, and I1 given the lease |
//!
//! I1 is the conclusion of both. The lease model shows that when a process's own session and latch are gone by
//! time, its lease is over; there a latch is an entry in a queue that lives as long as its session. The term model
//! shows that no two processes are granted at once, whatever happens to latches (requests to step down, lost
//! replies, sessions that are given up, claims again), as long as a lease ends before the session that it is of.
//! Where a run breaks that assumption, or an operator deletes a latch, I1 promises nothing and is not asked; I2, I3
//! and I4 are asked in such runs too, so they hold whatever clocks do. What the term model leaves out, it leaves
//! out by allowing more: a session may expire at any moment, and a step be as late as a stopped process makes it.
//!
//! # The lease model
//!
//! *Scale.* A unit is half a tick, 1 s of servers with `tickTime` 2 s. T is 6 or 8 units (3 or 4 ticks, less than
//! is recommended, so that there is less to spare). The margin is the product's `T/20`, and clocks run a twentieth
//! too slow or too fast beside that of ZooKeeper's leader, so that all of the margin is used up. Heartbeats go out
//! each unit, the nearest to T/8. All times but the lease's end are whole units; a flag that is true at the
//! beginning of a unit counts as true until its end, and a session may expire at its beginning, so what happens
//! between two units is covered by the worst of it.
//!
//! *ZooKeeper.* Its leader expires a session T after the newest touch that it knows of, or up to two ticks later:
//! it rounds up to a tick, and may hear of the last touch late. A touch reaches a follower with the heartbeat, and
//! the leader with the follower's next answer to a ping; forwarded requests touch nothing. When between the two a
//! follower is cut off, every newest reported touch that is possible is tried ([`lease_model::Session`]).
//!
//! *The exception of I1.* A touch is reported less than a tick after it reached the follower: pings come every half
//! tick, are held up for less than another half, and are answered at once; and no request that
//! the follower forwards later overtakes the report. That is the one assumption about ZooKeeper's punctuality, and
//! [`Weakening::PingsHeldUp`] takes it away: I1 breaks then, so it is needed. Replies, requests and processes may be
//! held up for as long as they like.
//!
//! *Faults* ([`lease_model::FaultKind`]): a process stops and goes on, or crashes; its follower is cut off from
//! ZooKeeper's leader and goes on answering reads; ZooKeeper's leader is cut off and goes on answering reads and
//! `sync`, while the others have another leader at once; nothing passes between a process and its server, both ways
//! or only back; a request, or a reply, is held up; a reply is lost with its connection. A fault lasts as long as it
//! likes. The client takes a session for expired after 1.4 T of silence; it connects again at once or after the
//! longest wait that its back-off may have come to.
//!
//! *I9* is a safety property here: T + 2 ticks + 1 unit after the last fault has ended there is exactly one leader,
//! and ever after. It is asked earlier where a leader stands and nothing that happened before can end that.
//!
//! *What makes it small.* Ages instead of times, so that time has no horizon: the bound is the number of faults
//! alone. Heartbeats that a later one has made useless are forgotten. Processes are interchangeable. A run with
//! fewer faults is one with the full number in which a process is stopped for no time, so I9 is asked of those.
//! Requests that are not held up are handled and answered at once: later only means a later touch, or a lease
//! renewed later.
//!
//! # The term model
//!
//! A request is handled at one moment and acted upon later, so what was read may be out of date; that is also what
//! a server that lags would show, because it shows a client nothing older than the client's own writes. Latches
//! have versions, owners and data; claims are conditional; replies of creations, claims and writes are lost and
//! read back. A leader write, decided in one term, is sent at any later time, in a later session too. One write is
//! under way at a time: two do not meet. *Events from outside* are counted: a session expires, or is given up by
//! its client or attached to again, a lease runs out, a reply is lost, an operator deletes or sets a latch.
//! Numbers are compared by their order alone, so runs may be of any length.
//!
//! I3's session ids are fresh by construction (uuids); what is checked is that epochs grow. I4 is checked of the
//! driver: no flag while contenders are being revoked, and none of another term than the one they were told of.
//!
//! # Bounds
//!
//! | | default | `HA_TEST_FULL=1` |
//! |---|---|---|
//! | lease model | T = 6 units, 2 faults of every kind, all clocks slow or all fast | T = 8 units, 2 faults of every kind, each combination of clocks; and T = 6 units, 3 faults that stop or cut off |
//! | term model | 2 events of every kind | also 3 events, leases that run out and sessions that expire |
//!
//! The default takes 2.0 and 0.9 million states, the full form 16.2, 14.3, 0.9 and 1.9 million: some 20 s and 2.5
//! minutes of one core.
//!
//! # Not covered
//!
//! Retrieval; several components in a process; callbacks that take long (the election machine has its own tests);
//! leaving on `stop`, which deletes the same latch as stepping down; a parent that is deleted and made again; an
//! ensemble that is down as a whole; a ZooKeeper leader that takes time to be elected (it gives sessions more time);
//! a session that is given up while another is made, in the lease model (it is in the term model). Clocks keep
//! their rate.
//!
//! # Weakenings
//!
//! Each rule is needed: [`Weakening`] leaves one out, and the tests print the shortest run that breaks an invariant.

mod exploration;
pub mod lease_model;
pub mod term_model;
mod weakening;

pub use exploration::Exploration;
pub use weakening::Weakening;
