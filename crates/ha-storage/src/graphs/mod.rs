//! Job graphs as files, for the modes of one process.

mod changes;
mod file_system_job_graph_store;
mod graph_file;
mod lifecycle;

pub use file_system_job_graph_store::FileSystemJobGraphStore;

#[cfg(test)]
mod tests;
