//! The resource manager: gives the slots that jobs run in.

mod resource_manager;
mod slot;

pub use resource_manager::ResourceManager;
pub use slot::Slot;
