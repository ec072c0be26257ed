//! The election driver: one latch a process, shared by all its components (design §4).

mod contention;
mod driver;
mod driver_factory;
mod failures;
mod information_watch;
mod leading;
mod publication;
mod shared;
mod standing;
mod unled_components;

pub use driver::ZooKeeperLeaderElectionDriver;
pub use driver_factory::ZooKeeperLeaderElectionDriverFactory;

#[cfg(test)]
mod tests;
