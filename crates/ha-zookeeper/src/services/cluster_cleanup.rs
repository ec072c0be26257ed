//! Removing a whole cluster: exactly the names of its layout, as the granted leader, znodes before files.

use std::sync::Arc;

use ha_core::environment::steps;
use ha_core::ids::{ComponentId, JobId};
use ha_core::{Error, ErrorKind, Result};
use ha_storage::{ClusterFiles, FileSystemJobResultStore, ResultFiles};

use super::sole_contender::{children, contend_alone, named_contender, named_election};
use crate::client::{ClientSource, Operation, ZkCode};
use crate::fence::{Commit, FencedWriter, LeadershipFence, Proof, Term};
use crate::identity::IdentityGuard;
use crate::latch::{LatchNode, LeaderLatch};
use crate::paths::ClusterPaths;
use crate::stores::{StoreContext, delete_all, delete_checkpoints, delete_counter, remove_folder};

/// What a clean-up of the whole cluster works with.
pub(super) struct ClusterCleanup {
    /// The stores' context; its writer's fence is replaced by one of the clean-up's own term.
    pub context: StoreContext,
    pub clients: Arc<dyn ClientSource>,
    pub identity: Arc<IdentityGuard>,
    pub results: Arc<FileSystemJobResultStore>,
}

/// The files that are deleted once their pointers are gone: those that were there while nobody else could lead.
#[derive(Default)]
pub(super) struct Doomed {
    files: ClusterFiles,
    results: ResultFiles,
    /// Znodes that are not of the layout.
    left: Vec<String>,
}

impl ClusterCleanup {
    /// Removes the cluster. The caller has left every election of this process. `latch` is that of the attempts
    /// before, whose node may still stand.
    ///
    /// identity.json goes before the last multi, so that an interrupted clean-up leaves a tree with which nobody
    /// leads, or files without identity. Only in these two states, and with the tree whole, is anything removed:
    /// an identity.json without a tree means that the tree is elsewhere, and perhaps alive.
    ///
    /// # Errors
    /// `NotLeader` (nothing removed) when another process contends; `Conflict` when tree and storage are of two
    /// clusters, the tree is not ours or not where the storage's is, or naming what is left because it is not of
    /// the layout; else the first failure, after which a repetition goes on.
    pub(super) async fn run(&self, latch: &mut LeaderLatch) -> Result<()> {
        let doomed = self.remove_tree(latch).await?;
        self.delete_files(doomed).await
    }

    /// Removes the znodes, if there are any; gives the files that nothing names then.
    async fn remove_tree(&self, latch: &mut LeaderLatch) -> Result<Doomed> {
        if self.identity.is_removable().await? {
            return self.remove_znodes(latch).await;
        }
        // Nobody to be fenced from. Who starts makes the identity before any file, and is seen then.
        let doomed = self.list_files().await?;
        match self.identity.is_removable().await? {
            false => Ok(doomed),
            true => Err(Error::not_leader(
                "a process of this cluster started meanwhile; nothing was removed",
            )
            .at(self.paths().cluster())
            .advise("stop every process of the cluster first")),
        }
    }

    async fn list_files(&self) -> Result<Doomed> {
        Ok(Doomed {
            files: self.context.storage.cluster_files().await?,
            results: self.results.result_files().await?,
            left: Vec::new(),
        })
    }

    async fn delete_files(&self, doomed: Doomed) -> Result<()> {
        let mut left = doomed.left;
        left.extend(self.context.storage.delete_files(&doomed.files).await?);
        let results = self.results.delete_files(doomed.results).await?;
        results.none_beside(left, self.paths().cluster())
    }

    fn paths(&self) -> &ClusterPaths {
        self.context.writer.paths()
    }

    async fn remove_znodes(&self, latch: &mut LeaderLatch) -> Result<Doomed> {
        let client = self.clients.client().await?;
        let ids = &*self.context.environment.ids;
        let removed = match contend_alone(latch, client.as_ref(), self.paths(), ids).await {
            Ok((node, fence)) => self.remove_as_leader(&node, fence).await,
            Err(error) => Err(error),
        };
        if removed.is_err()
            && let Err(error) = latch.leave(client.as_ref(), &[]).await
        {
            tracing::warn!(%error, "the latch of the clean-up goes with the next attempt, or with its session");
        }
        removed
    }

    async fn remove_as_leader(&self, latch: &LatchNode, fence: LeadershipFence) -> Result<Doomed> {
        let writer = FencedWriter::new(
            Arc::clone(&self.clients),
            fence,
            self.paths().clone(),
            Arc::clone(&self.identity) as _,
        );
        let context = StoreContext {
            writer,
            ..self.context.clone()
        };
        let term = context.writer.begin().await?;
        // As long as the latch stands nobody else puts a file.
        let doomed = self.list_files().await?;
        remove_data(&context, &term).await?;
        // The check alone: the identity is given up in this term only.
        context.writer.commit(&term, Vec::new(), &Proof::Nothing).await?;
        let identity = context.storage.read_identity().await?;
        context.storage.delete_identity().await?;
        let removing = remove_rest(&context, &term, latch);
        let environment = &context.environment;
        match environment.step(steps::REMOVE_CLUSTER_LATCH, removing).await {
            Ok(Rest::Removed { left }) => Ok(Doomed { left, ..doomed }),
            Ok(Rest::Contended { by }) => {
                // The other one leads next, and needs it.
                if let Some(identity) = identity {
                    context.storage.restore_identity(&identity).await?;
                }
                Err(
                    Error::not_leader("another process contends since; the cluster's jobs were removed")
                        .at(by)
                        .advise("stop it, then repeat the clean-up"),
                )
            }
            Err(error) => {
                // The grant was over before it could be given up: whoever leads since needs the identity. Where nobody
                // does, the repetition finds a cluster that is whole.
                if let (ErrorKind::NotLeader, Some(identity)) = (error.kind(), identity) {
                    context.storage.restore_identity(&identity).await?;
                }
                Err(error)
            }
        }
    }
}

/// Removes all that jobs and elections keep, but the latch that it is done under.
async fn remove_data(context: &StoreContext, term: &Term) -> Result<()> {
    let paths = context.writer.paths();
    for job_id in jobs(context, &paths.jobs()).await? {
        delete_checkpoints(context, term, job_id).await?;
        delete_counter(context, term, job_id).await?;
        remove_folder(context, term, &paths.job(job_id)).await?;
    }
    for job_id in jobs(context, &paths.job_graphs()).await? {
        let change = context.job_graph_changes.begin(job_id, None);
        delete_znode(context, term, paths.job_graph(job_id)).await?;
        change.applied();
    }
    for job_id in jobs(context, &paths.running_jobs()).await? {
        delete_znode(context, term, paths.running_job(job_id)).await?;
    }
    for name in names(context, &paths.leader()).await? {
        if let Ok(component) = ComponentId::parse(&name) {
            delete_znode(context, term, paths.connection_info(&component)).await?;
            remove_folder(context, term, &paths.leader_of(&component)).await?;
        } else if let Some(election) = named_election(&name) {
            remove_folder(context, term, &paths.for_named_election(&election).latches()).await?;
        }
    }
    for folder in [
        paths.jobs(),
        paths.job_graphs(),
        paths.running_jobs(),
        paths.configuration(),
    ] {
        remove_folder(context, term, &folder).await?;
    }
    Ok(())
}

/// Deletes one znode of the cluster, if it is there.
async fn delete_znode(context: &StoreContext, term: &Term, path: String) -> Result<()> {
    let deleting = delete_all(context, term, vec![path]);
    context
        .environment
        .step(steps::REMOVE_CLUSTER_ZNODE, deleting)
        .await
}

/// What became of the last multi.
enum Rest {
    /// It was applied.
    Removed { left: Vec<String> },
    /// Nothing was, because of another process.
    Contended { by: String },
}

/// The last multi: the latch, and what stands above it, as far as it is empty.
async fn remove_rest(context: &StoreContext, term: &Term, latch: &LatchNode) -> Result<Rest> {
    let paths = context.writer.paths();
    let mut last = vec![
        latch.path.clone(),
        paths.latches(),
        paths.leader(),
        paths.identity(),
        paths.cluster().to_owned(),
    ];
    loop {
        let operations = last
            .iter()
            .map(|path| Operation::Delete {
                path: path.clone(),
                version: None,
            })
            .collect();
        let proof = Proof::AllGone { paths: last.clone() };
        let refusal = match context.writer.commit(term, operations, &proof).await? {
            Commit::Applied(_) => break,
            Commit::Refused(refusal) => refusal,
        };
        if refusal.code == ZkCode::NotEmpty {
            if refusal.path == paths.latches() {
                return Ok(Rest::Contended { by: refusal.path });
            }
            let client = context.writer.client().await?;
            if let Some(by) = named_contender(client.as_ref(), paths).await? {
                return Ok(Rest::Contended { by });
            }
        }
        // Gone already, or it holds what is not ours.
        last.retain(|path| *path != refusal.path);
    }
    if last.iter().any(|path| path == paths.cluster()) {
        return Ok(Rest::Removed { left: Vec::new() });
    }
    let left = names(context, paths.cluster()).await?;
    Ok(Rest::Removed {
        left: left
            .iter()
            .map(|name| ClusterPaths::child(paths.cluster(), name))
            .collect(),
    })
}

/// The jobs that have a node in `folder`; foreign names are left.
async fn jobs(context: &StoreContext, folder: &str) -> Result<Vec<JobId>> {
    Ok(names(context, folder)
        .await?
        .iter()
        .filter_map(|name| JobId::from_name(name))
        .collect())
}

async fn names(context: &StoreContext, folder: &str) -> Result<Vec<String>> {
    children(context.writer.client().await?.as_ref(), folder).await
}

#[cfg(test)]
mod tests;
