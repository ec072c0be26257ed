//! Configuration: a map of keys as written, typed options over it, and the ways to fill it.

mod configuration;

pub use configuration::Configuration;
