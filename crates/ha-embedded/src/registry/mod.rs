//! The election in one process: who contends, who leads, who follows.

mod election_registry;
mod embedded_election_driver;
mod embedded_retrieval_driver;
mod registry_state;

pub(crate) use election_registry::ElectionRegistry;
pub(crate) use embedded_election_driver::EmbeddedElectionDriverFactory;
pub(crate) use embedded_retrieval_driver::EmbeddedRetrievalDriverFactory;

#[cfg(test)]
mod tests;
