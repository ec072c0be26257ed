//! The retrieval driver: who leads a component, by one watch for all retrievers of a session (design §5).

mod driver;
mod driver_factory;
mod leader_format;
mod leader_reader;
mod leader_watch;
mod leader_watches;
mod subscribers;

pub use driver::ZooKeeperLeaderRetrievalDriver;
pub use driver_factory::ZooKeeperLeaderRetrievalDriverFactory;
pub use ha_flink::Generation as FlinkGeneration;
pub use leader_watches::LeaderWatches;

#[cfg(test)]
mod flink_tests;
#[cfg(test)]
mod tests;
