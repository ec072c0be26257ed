//! Finding files that no pointer names (design §8, Orphan): the observation of a tree and its storage. What two
//! observations prove is decided by [`ha_storage::decide_orphans`]. Nothing here writes a znode or deletes anything.

mod detection;
mod tree;

pub use detection::OrphanDetection;

#[cfg(test)]
mod tests;
