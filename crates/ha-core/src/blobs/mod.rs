//! Large binary objects of jobs.

mod blob_store;

pub use blob_store::BlobStore;
