//! Moving a cluster: all that it needs to go on, into one file and out of it.

mod copying;
mod counts;
mod export;
mod export_files;
mod export_tree;
mod results;

pub use counts::MovedCounts;
pub use export::Export;

#[cfg(test)]
mod tests;
