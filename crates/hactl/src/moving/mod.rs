//! Moving a cluster: all that it needs to go on, into one file and out of it.

mod copying;
mod counts;
mod export;
mod export_files;
mod export_tree;
mod import;
mod import_plan;
mod import_target;
mod importing;
mod results;

pub use counts::MovedCounts;
pub use export::Export;

pub(crate) use import::import;

#[cfg(test)]
mod tests;
