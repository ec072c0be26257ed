//! A cluster of many jobs at work, made by hand: as the leader leaves it, without the time that a leader needs for it.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use ha_core::election::LeaderInformation;
use ha_core::environment::Environment;
use ha_core::ids::{CheckpointId, ClusterId, ComponentId, Epoch, JobId, LeaderSessionId};
use ha_storage::{HaStorage, StateFile, StateKind};
use ha_zookeeper::codec::{ConnectionInfo, IdentityData, LatchData, Pointer};
use ha_zookeeper::paths::ClusterPaths;
use integration_tests::{AdminClient, TestCluster};
use uuid::Uuid;
use zookeeper_client::{Acls, CreateMode};

/// Longer than reading takes: no session of a command may end before it has read all.
const SESSION_TIMEOUT: Duration = Duration::from_secs(30);
/// How many nodes one request makes.
const BATCH: usize = 400;
/// The bytes of each job graph and each checkpoint. Whoever kept them all would be seen.
pub(crate) const PAYLOAD: usize = 4096;
const TERM: LeaderSessionId = LeaderSessionId::from_bits(0, 7);

/// A cluster whose leader is this value's session.
pub(crate) struct Crowd {
    pub(crate) cluster: TestCluster,
    paths: ClusterPaths,
    admin: AdminClient,
    batch: Vec<(String, Bytes, CreateMode)>,
}

impl Crowd {
    /// Makes a cluster of so many jobs at work, each with so many checkpoints.
    pub(crate) async fn gather(connect_string: &str, jobs: u64, checkpoints: u64) -> Result<Self> {
        let cluster = TestCluster::new(connect_string, SESSION_TIMEOUT)?;
        let id: ClusterId = cluster.cluster_id().parse()?;
        let mut crowd = Self {
            paths: ClusterPaths::new("", "/flink", &id)?,
            admin: AdminClient::connect(connect_string).await?,
            batch: Vec::new(),
            cluster,
        };
        let folder = crowd.begin(&id).await?;
        for number in 1..=jobs {
            crowd.add_job(&folder, number, checkpoints).await?;
        }
        crowd.flush().await?;
        Ok(crowd)
    }

    /// Makes all that is there once for a cluster; gives the folder of its files.
    async fn begin(&mut self, id: &ClusterId) -> Result<std::path::PathBuf> {
        let directory = self.cluster.storage().display().to_string();
        let storage = HaStorage::open(&directory, id, &Environment::system()).await?;
        let identity = storage.identity_of_tree(Some(self.paths.cluster())).await?;
        let identity = IdentityData {
            cluster_uuid: identity.cluster_uuid,
            storage_dir: identity.storage_dir,
            created_by: identity.created_by,
            tree_lost: false,
        };
        let place = self.paths.identity();
        self.admin.create(&place, &identity.encode(&place)?).await?;
        let folders = [
            self.paths.leader(),
            self.paths.latches(),
            self.paths.job_graphs(),
            self.paths.jobs(),
            self.paths.running_jobs(),
        ];
        for folder in folders {
            self.add(folder, Bytes::new(), CreateMode::Persistent).await?;
        }
        let latch = LatchData {
            process: "crowded".to_owned(),
            host: "here".to_owned(),
            pid: 1,
            tool: None,
            leader_session_id: Some(TERM),
        };
        let place = format!("{}0000000001", self.paths.latch_prefix(Uuid::from_u128(5)));
        let data = latch.encode(&place)?;
        self.add(place, data, CreateMode::Ephemeral).await?;
        self.lead(&ComponentId::dispatcher()).await?;
        storage.local_folder().context("a local storage")
    }

    async fn lead(&mut self, component: &ComponentId) -> Result<()> {
        let information = LeaderInformation {
            leader_address: "http://127.0.0.1:8081".to_owned(),
            leader_session_id: TERM,
            epoch: Epoch::new(1),
        };
        let place = self.paths.connection_info(component);
        let data = ConnectionInfo::encode(&place, &information)?;
        let parent = self.paths.leader_of(component);
        self.add(parent, Bytes::new(), CreateMode::Persistent).await?;
        self.add(place, data, CreateMode::Ephemeral).await
    }

    async fn add_job(&mut self, folder: &Path, number: u64, checkpoints: u64) -> Result<()> {
        let job = JobId::from_bytes(u128::from(number).to_be_bytes());
        let place = self.paths.job_graph(job);
        self.point(
            folder,
            place,
            StateKind::JobGraph,
            job,
            format!("jobgraphs/{job}"),
        )
        .await?;
        for parent in [self.paths.job(job), self.paths.checkpoints(job)] {
            self.add(parent, Bytes::new(), CreateMode::Persistent).await?;
        }
        for id in 1..=checkpoints {
            let id = CheckpointId::new(id)?;
            let name = format!("jobs/{job}/checkpoints/{}", id.to_name());
            let place = self.paths.checkpoint(job, id);
            self.point(folder, place, StateKind::Checkpoint, job, name)
                .await?;
        }
        let next = (checkpoints + 1).to_string();
        let place = self.paths.checkpoint_id_counter(job);
        self.add(place, next.into(), CreateMode::Persistent).await?;
        let place = self.paths.running_job(job);
        self.add(place, "RUNNING".into(), CreateMode::Persistent).await?;
        self.lead(&ComponentId::job_manager(job)).await
    }

    /// Adds a pointer and its file, which is not synced to the disk.
    async fn point(
        &mut self,
        folder: &Path,
        place: String,
        kind: StateKind,
        job: JobId,
        name: String,
    ) -> Result<()> {
        let name = format!("{name}-{}", Uuid::from_u128(9));
        let payload = vec![b'p'; PAYLOAD];
        let header = serde_json::json!({
            "format": 1, "kind": kind, "owner": job, "attributes": {"name": job_name(job)},
            "size": PAYLOAD, "crc32c": crc32c::crc32c(&payload),
        });
        let content = [header.to_string().as_bytes(), b"\n", &payload].concat();
        let path = folder.join(&name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&path, &content)?;
        let pointer = Pointer {
            file: StateFile {
                kind,
                path: name,
                size: content.len() as u64,
                crc32c: crc32c::crc32c(&content),
            },
            write_id: Uuid::from_u128(9),
            name: Some(job_name(job)),
            terminal: None,
        };
        let data = pointer.encode(&place)?;
        self.add(place, data, CreateMode::Persistent).await
    }

    async fn add(&mut self, path: String, data: Bytes, mode: CreateMode) -> Result<()> {
        self.batch.push((path, data, mode));
        if self.batch.len() >= BATCH {
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<()> {
        let mut writer = self.admin.client().new_multi_writer();
        for (path, data, mode) in self.batch.drain(..) {
            writer.add_create(&path, &data, &mode.with_acls(Acls::anyone_all()))?;
        }
        writer.commit().await?;
        Ok(())
    }
}

fn job_name(job: JobId) -> String {
    format!("the nightly aggregation of the tenant {}", &job.to_string()[24..])
}
