//! All that knows ZooKeeper.

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
