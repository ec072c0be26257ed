//! All that knows ZooKeeper.

pub mod client;
pub mod codec;
pub mod fence;
pub mod identity;
pub mod paths;
pub mod session;
