//! Leader retrieval: who leads a component, followed by watches.

mod default_leader_retrieval_service;
mod leader_retrieval_driver;
mod leader_retrieval_listener;
mod leader_retrieval_service;
mod listener_slot;
mod retrieval_machine;
mod retrieval_task;

pub use default_leader_retrieval_service::DefaultLeaderRetrievalService;
pub use leader_retrieval_driver::{
    LeaderObservation, LeaderRetrievalDriver, LeaderRetrievalDriverFactory, LeaderRetrievalEvent,
    LeaderRetrievalEvents,
};
pub use leader_retrieval_listener::LeaderRetrievalListener;
pub use leader_retrieval_service::LeaderRetrievalService;
