//! All that knows ZooKeeper.
//!
//! Imports run one way, from the top of this table down:
//!
//! | module | what it does | design |
//! |---|---|---|
//! | `services` | all services of one cluster, on one session | |
//! | `stores` | job graphs, checkpoints, counters, results, registry: pointers in znodes, fenced | §8, §9 |
//! | `election`, `retrieval` | the drivers: who leads, and following who leads | §4, §5 |
//! | `latch` | one ephemeral sequential node a process: made, claimed, given up | §4.1 to §4.4 |
//! | `session` | the one task that owns the client, replaces it, and feeds the lease | §3 |
//! | `fence`, `identity` | every leader write is conditional on the latch of its grant; whose tree it is | §4.4, §6 |
//! | `codec`, `paths` | what stands in znodes, and where | §6 |
//! | `client` | the few ZooKeeper operations in use, as a trait, and over the crate `zookeeper-client` | |

pub mod client;
pub mod codec;
pub mod election;
pub mod fence;
pub mod identity;
pub mod latch;
pub mod paths;
pub mod retrieval;
pub mod services;
pub mod session;
pub mod stores;
