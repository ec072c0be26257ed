//! All that knows ZooKeeper.

pub mod client;
