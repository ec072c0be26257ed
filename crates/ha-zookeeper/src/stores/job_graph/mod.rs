//! Job graphs: pointers in `jobgraphs/`, and the watch that tells of other processes' changes.

mod change_log;
mod change_watcher;
mod holdings;
mod job_graph_changes;
mod job_graph_store;
mod pointer_writer;

pub use job_graph_changes::JobGraphChanges;
pub use job_graph_store::ZooKeeperJobGraphStore;
