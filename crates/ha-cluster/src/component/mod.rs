//! What the components of a process have in common: they contend, say so in the log, and publish an address.

mod component;
mod component_contender;
mod contending;

pub use component::Component;
pub use contending::Contending;
