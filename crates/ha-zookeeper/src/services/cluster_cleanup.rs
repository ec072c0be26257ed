//! Removing a whole cluster: exactly the names of its layout, as the granted leader, znodes before files.

use std::sync::Arc;

use ha_core::ids::{ComponentId, JobId};
use ha_core::{Error, ErrorKind, Result};
use ha_storage::FileSystemJobResultStore;

use crate::client::{ClientSource, Operation, ZkCode, ZooKeeperClient};
use crate::codec::LatchData;
use crate::fence::{Commit, FencedWriter, LeadershipFence, Proof, Term};
use crate::identity::IdentityGuard;
use crate::latch::{LatchDecision, LatchNode, LeaderLatch, decide};
use crate::paths::ClusterPaths;
use crate::stores::{StoreContext, delete_all, delete_checkpoints, delete_counter, remove_folder};

/// What a clean-up of the whole cluster works with.
pub(super) struct ClusterCleanup {
    /// The stores' context; its writer's fence is replaced by one of the clean-up's own term.
    pub context: StoreContext,
    pub clients: Arc<dyn ClientSource>,
    pub identity: Arc<IdentityGuard>,
    pub results: Arc<FileSystemJobResultStore>,
    pub contender: LatchData,
}

impl ClusterCleanup {
    /// Removes the cluster. The caller has left every election of this process.
    ///
    /// # Errors
    /// `NotLeader` (nothing removed) when another process contends; `Conflict` when tree and storage are of two
    /// clusters or the tree is not ours, or naming what is left because it is not of the layout; else the first
    /// failure, after which a repetition goes on.
    pub(super) async fn run(self) -> Result<()> {
        let mut left = Vec::new();
        // Without a tree there is nobody to be fenced from, and files only.
        if self.identity.check().await?.is_some() {
            left = self.remove_znodes().await?;
        }
        left.extend(self.context.storage.delete_cluster_files().await?);
        left.extend(self.results.delete_all_results().await?);
        if left.is_empty() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Conflict,
            format!(
                "all of the cluster was removed but what is not of its layout: {}",
                left.join(", ")
            ),
        )
        .at(self.paths().cluster())
        .advise("remove it by hand if it is not needed"))
    }

    fn paths(&self) -> &ClusterPaths {
        self.context.writer.paths()
    }

    async fn remove_znodes(&self) -> Result<Vec<String>> {
        let client = self.clients.client().await?;
        let mut latch = LeaderLatch::new(
            self.paths().clone(),
            self.contender.clone(),
            Arc::clone(&self.context.environment.ids),
        );
        let removed = match self.stand(&mut latch, client.as_ref()).await {
            Ok((node, fence)) => self.remove_as_leader(&node, fence).await,
            Err(error) => Err(error),
        };
        if removed.is_err()
            && let Err(error) = latch.leave(client.as_ref(), &[]).await
        {
            tracing::warn!(%error, "the latch of the clean-up goes with its session");
        }
        removed
    }

    /// Contends, and claims at once or not at all.
    async fn stand(
        &self,
        latch: &mut LeaderLatch,
        client: &dyn ZooKeeperClient,
    ) -> Result<(LatchNode, LeadershipFence)> {
        let node = latch.enter(client).await?;
        let latches = self.paths().latches();
        let (names, _) = client
            .list(&latches)
            .await
            .map_err(|error| error.at(&latches).not_applied())?;
        let other = names.iter().find(|name| **name != node.name);
        if let (LatchDecision::Lowest, None) = (decide(&names, &node.name), other) {
            let session = ha_core::ids::LeaderSessionId::random(&*self.context.environment.ids);
            if let Some(claim) = latch.claim(client, &node, session).await? {
                let fence = LeadershipFence::new();
                fence.granted(claim.fence(&node));
                latch.note_granted();
                let version = claim.version;
                return Ok((LatchNode { version, ..node }, fence));
            }
        }
        Err(Error::not_leader("another process contends for this cluster; nothing was removed")
            .at(other.map_or(latches, |name| self.paths().latch(name)))
            .advise("stop every process of the cluster first; the latch of one that was killed stays for a session timeout"))
    }

    async fn remove_as_leader(&self, latch: &LatchNode, fence: LeadershipFence) -> Result<Vec<String>> {
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
        let paths = context.writer.paths();
        for job_id in jobs(&context, &paths.jobs()).await? {
            delete_checkpoints(&context, &term, job_id).await?;
            delete_counter(&context, &term, job_id).await?;
            remove_folder(&context, &term, &paths.job(job_id)).await?;
        }
        for job_id in jobs(&context, &paths.job_graphs()).await? {
            let change = context.job_graph_changes.begin(job_id, None);
            delete_all(&context, &term, vec![paths.job_graph(job_id)]).await?;
            change.applied();
        }
        for job_id in jobs(&context, &paths.running_jobs()).await? {
            delete_all(&context, &term, vec![paths.running_job(job_id)]).await?;
        }
        for name in names(&context, &paths.leader()).await? {
            if let Ok(component) = ComponentId::parse(&name) {
                delete_all(&context, &term, vec![paths.connection_info(&component)]).await?;
                remove_folder(&context, &term, &paths.leader_of(&component)).await?;
            } else if let Some(election) = name.strip_prefix("latch-")
                && let Ok(component) = ComponentId::custom(election)
            {
                remove_folder(&context, &term, &paths.for_named_election(&component).latches()).await?;
            }
        }
        for folder in [
            paths.jobs(),
            paths.job_graphs(),
            paths.running_jobs(),
            paths.configuration(),
        ] {
            remove_folder(&context, &term, &folder).await?;
        }
        remove_tree(&context, &term, latch).await
    }
}

/// The last multi: the latch, and what stands above it, as far as it is empty.
async fn remove_tree(context: &StoreContext, term: &Term, latch: &LatchNode) -> Result<Vec<String>> {
    let paths = context.writer.paths();
    let mut last = vec![
        latch.path.clone(),
        paths.latches(),
        paths.leader(),
        paths.identity(),
        paths.cluster().to_owned(),
    ];
    let proof = Proof::Gone {
        path: latch.path.clone(),
    };
    loop {
        let operations = last
            .iter()
            .map(|path| Operation::Delete {
                path: path.clone(),
                version: None,
            })
            .collect();
        match context.writer.commit(term, operations, &proof).await? {
            Commit::Applied(_) => break,
            Commit::Refused(refusal)
                if refusal.path == paths.latches() && refusal.code == ZkCode::NotEmpty =>
            {
                return Err(Error::not_leader(
                    "another process contends since; the cluster's jobs were removed",
                )
                .at(refusal.path)
                .advise("stop it, then repeat the clean-up"));
            }
            // Gone already, or it holds what is not ours.
            Commit::Refused(refusal) => last.retain(|path| *path != refusal.path),
        }
    }
    if last.iter().any(|path| path == paths.cluster()) {
        return Ok(Vec::new());
    }
    let left = names(context, paths.cluster()).await?;
    Ok(left
        .iter()
        .map(|name| ClusterPaths::child(paths.cluster(), name))
        .collect())
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
    let client = context.writer.client().await?;
    match client.list(folder).await {
        Ok((names, _)) => Ok(names),
        Err(error) if error.code == ZkCode::NoNode => Ok(Vec::new()),
        Err(error) => Err(error.at(folder).not_applied()),
    }
}
