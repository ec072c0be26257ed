//! Leader retrieval: who leads a component, followed by watches.

mod leader_retrieval_driver;
mod leader_retrieval_listener;
mod leader_retrieval_service;

pub use leader_retrieval_driver::{
    LeaderObservation, LeaderRetrievalDriver, LeaderRetrievalDriverFactory, LeaderRetrievalEvent,
    LeaderRetrievalEvents,
};
pub use leader_retrieval_listener::LeaderRetrievalListener;
pub use leader_retrieval_service::LeaderRetrievalService;
