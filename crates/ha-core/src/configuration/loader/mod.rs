//! Filling a configuration from outside.

mod configuration_loader;
mod environment_variables;
mod yaml;

pub use configuration_loader::ConfigurationLoader;
