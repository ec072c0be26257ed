//! Which jobs run, as files, for the modes of one process.

mod file_system_running_jobs_registry;

pub use file_system_running_jobs_registry::FileSystemRunningJobsRegistry;

#[cfg(test)]
mod tests;
