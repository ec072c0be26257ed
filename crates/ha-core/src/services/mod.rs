//! The services as a whole: what a mode provides.

mod address_resolution;
mod high_availability_services;
mod high_availability_services_factory;

pub use crate::configuration::HighAvailabilityMode;

pub use address_resolution::AddressResolution;
pub use high_availability_services::HighAvailabilityServices;
pub use high_availability_services_factory::HighAvailabilityServicesFactory;
