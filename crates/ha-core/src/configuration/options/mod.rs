//! The table of all options.

mod all_options;
mod checks;
mod cluster_options;
mod flink_options;
mod high_availability_options;
mod job_result_store_options;
mod not_built_options;
mod object_store_options;

pub use all_options::all_options;
pub(super) use all_options::find;
pub use cluster_options::ClusterOptions;
pub use high_availability_options::HighAvailabilityOptions;
pub use job_result_store_options::JobResultStoreOptions;
pub use object_store_options::ObjectStoreOptions;
