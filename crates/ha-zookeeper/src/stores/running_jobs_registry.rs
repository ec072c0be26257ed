use async_trait::async_trait;
use ha_core::health::BrokenEntry;
use ha_core::ids::JobId;
use ha_core::jobs::{JobSchedulingStatus, RunningJobsRegistry};
use ha_core::{Error, ErrorKind, Result};

use super::{StoreContext, pointers};
use crate::client::{CreateMode, Operation, ZkCode};
use crate::codec::{decode_status, encode_status};
use crate::fence::{Commit, Proof};

/// How often a status that others change at the same time is read again.
const ATTEMPTS: usize = 10;

/// The running jobs registry in ZooKeeper, one znode a job.
pub struct ZooKeeperRunningJobsRegistry {
    context: StoreContext,
}

impl ZooKeeperRunningJobsRegistry {
    /// The registry of the cluster of `context`.
    pub const fn new(context: StoreContext) -> Self {
        Self { context }
    }

    async fn set(&self, job_id: JobId, status: JobSchedulingStatus) -> Result<()> {
        let path = self.context.writer.paths().running_job(job_id);
        let term = self.context.writer.begin().await?;
        let data = encode_status(status);
        let proof = Proof::Content {
            path: path.clone(),
            data: data.clone(),
        };
        for _ in 0..ATTEMPTS {
            let client = self.context.writer.client().await?;
            let operation = match pointers::read_node(&client, &path).await? {
                None => Operation::Create {
                    path: path.clone(),
                    data: data.clone(),
                    mode: CreateMode::Persistent,
                },
                Some((current, stat)) => match decode_status(&path, &current)? {
                    current if current == status => return Ok(()),
                    JobSchedulingStatus::Done => {
                        return Err(Error::new(ErrorKind::Conflict, "the job is recorded as done")
                            .at(path)
                            .not_applied()
                            .advise("clear the job before it runs again under this id"));
                    }
                    _ => Operation::Set {
                        path: path.clone(),
                        data: data.clone(),
                        version: Some(stat.version),
                    },
                },
            };
            match self.context.writer.commit(&term, vec![operation], &proof).await? {
                Commit::Applied(_) => return Ok(()),
                Commit::Refused(_) => {}
            }
        }
        Err(Error::new(
            ErrorKind::Conflict,
            "the status changes faster than it can be set",
        )
        .at(path)
        .not_applied())
    }
}

#[async_trait]
impl RunningJobsRegistry for ZooKeeperRunningJobsRegistry {
    async fn set_job_running(&self, job_id: JobId) -> Result<()> {
        self.set(job_id, JobSchedulingStatus::Running).await
    }

    async fn set_job_finished(&self, job_id: JobId) -> Result<()> {
        self.set(job_id, JobSchedulingStatus::Done).await
    }

    async fn job_scheduling_status(&self, job_id: JobId) -> Result<JobSchedulingStatus> {
        let path = self.context.writer.paths().running_job(job_id);
        let client = self.context.writer.client().await?;
        match pointers::read_node(&client, &path).await? {
            Some((data, _)) => decode_status(&path, &data),
            None => Ok(JobSchedulingStatus::Pending),
        }
    }

    async fn running_job_ids(&self) -> Result<Vec<JobId>> {
        let folder = self.context.writer.paths().running_jobs();
        let client = self.context.writer.client().await?;
        let names = pointers::names(&client, &folder).await?;
        let mut running = Vec::new();
        let nodes = pointers::nodes(&client, &folder, names).await?;
        pointers::forget_vanished(&self.context.health, &folder, nodes.iter().map(|node| &*node.1));
        for (name, path, data, _) in nodes {
            match (JobId::from_name(&name), decode_status(&path, &data)) {
                (Some(job_id), Ok(status)) => {
                    self.context.health.clear_broken(&path);
                    running.extend((status == JobSchedulingStatus::Running).then_some(job_id));
                }
                (None, _) => self.context.report(&pointers::foreign(&name, &path, "job id")),
                (_, Err(error)) => self.context.report(&BrokenEntry::from_error(name, path, &error)),
            }
        }
        Ok(running)
    }

    async fn clear_job(&self, job_id: JobId) -> Result<()> {
        let path = self.context.writer.paths().running_job(job_id);
        let term = self.context.writer.begin().await?;
        let delete = Operation::Delete {
            path: path.clone(),
            version: None,
        };
        let proof = Proof::Gone { path };
        match self.context.writer.commit(&term, vec![delete], &proof).await? {
            Commit::Applied(_) => Ok(()),
            Commit::Refused(refusal) if refusal.code == ZkCode::NoNode => Ok(()),
            Commit::Refused(refusal) => Err(refusal.into_error("the registry entry could not be removed")),
        }
    }
}
