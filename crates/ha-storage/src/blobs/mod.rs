//! Large objects of jobs, named by the hash of their content.

mod content;
mod ha_blob_store;

pub(crate) use content::StoredReader;
pub use ha_blob_store::HaBlobStore;

#[cfg(test)]
mod tests;
