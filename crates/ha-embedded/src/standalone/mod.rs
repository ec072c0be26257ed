//! Standalone services: nobody is elected, addresses are fixed.

mod fixed_leader;
mod standalone_addresses;
mod standalone_election_driver;
mod standalone_ha_services;
mod void_blob_store;

pub use standalone_addresses::StandaloneAddresses;
pub use standalone_ha_services::StandaloneHaServices;
