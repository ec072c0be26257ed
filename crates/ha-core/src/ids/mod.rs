//! Validated ids. Nothing that comes from a znode, a file name or an option becomes a path without one.

mod blob_key;
mod checkpoint_id;
mod cluster_id;
mod component_id;
mod epoch;
mod hex;
mod job_id;
mod leader_session_id;
mod name_grammar;

pub use blob_key::BlobKey;
pub use checkpoint_id::CheckpointId;
pub use cluster_id::ClusterId;
pub use component_id::ComponentId;
pub use epoch::Epoch;
pub use job_id::JobId;
pub use leader_session_id::LeaderSessionId;
