use std::io::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use ha_cli::{ExitCode, OutputFormat, stop_on_signal};
use ha_core::Result;
use ha_core::configuration::Configuration;
use ha_core::environment::Environment;
use ha_core::ids::JobId;
use ha_flink::Pointer;
use tokio::sync::mpsc;

use super::follower::{Follower, Records};
use super::lines::write_lines;
use super::reader::until_unread;
use super::watched_tree::WatchedTree;
use crate::cluster::{FollowedCluster, ReadingOptions};
use crate::commands::jobs::end_status;
use crate::render;

/// How many events wait for a slow reader; then nothing is read until it has gone on.
const WAITING: usize = 256;

/// Tells what changes until it is told to stop, or until nobody reads on.
///
/// # Errors
/// As [`FollowedCluster::open`]; `Closed` when ZooKeeper does not let this program in any more; `Unavailable` when the
/// output cannot be written.
pub(crate) async fn watch(
    configuration: &Configuration,
    options: ReadingOptions,
    format: OutputFormat,
    environment: &Environment,
) -> Result<ExitCode> {
    let scope = environment.task_scope();
    let stop = stop_on_signal(&scope)?;
    let cluster = tokio::select! {
        biased;
        () = stop.cancelled() => return Ok(ExitCode::Success),
        cluster = FollowedCluster::open(configuration, options, environment) => Arc::new(cluster?),
    };
    if format == OutputFormat::Table {
        let location = render::escaped(cluster.location());
        // Nothing can be done when stderr is closed.
        let _ = writeln!(std::io::stderr(), "Watching {location}; an interrupt ends it.");
    }
    let (sender, lines) = mpsc::channel(WAITING);
    let follower = Follower::new(
        cluster.source(),
        cluster.status(),
        Arc::clone(&environment.clock),
        Arc::new(Recorded(Arc::clone(&cluster))),
        sender,
        WatchedTree::new(cluster.paths().clone(), cluster.layout()),
    );
    let watched = tokio::select! {
        biased;
        () = stop.cancelled() => Ok(()),
        () = until_unread(std::io::stdout()) => Ok(()),
        written = write_lines(lines, tokio::io::stdout(), format) => written,
        followed = Box::pin(follower.run()) => followed,
    };
    cluster.close().await;
    watched.map(|()| ExitCode::Success)
}

/// The files of the cluster.
struct Recorded(Arc<FollowedCluster>);

#[async_trait]
impl Records for Recorded {
    async fn name_of(&self, job_id: JobId, graph: Pointer) -> Option<String> {
        self.0.job_name(job_id, graph).await
    }

    async fn end_of(&self, job_id: JobId) -> Option<String> {
        match self.0.recorded_result(job_id).await {
            Ok(entry) => entry.map(|entry| end_status(&entry.result)),
            Err(error) => {
                tracing::warn!(%error, job = %job_id, "the recorded end of a job cannot be read");
                None
            }
        }
    }
}
