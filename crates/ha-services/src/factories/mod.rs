//! Services by mode.

mod create;
mod embedded;
mod factory_registry;
mod named;
mod process_description;
mod zookeeper;

pub use create::{
    create_available_or_embedded_services, create_available_or_embedded_services_for,
    create_high_availability_services,
};
pub use factory_registry::FactoryRegistry;
pub use named::{create_leader_election_service, create_leader_retrieval_service};
pub use process_description::ProcessDescription;
