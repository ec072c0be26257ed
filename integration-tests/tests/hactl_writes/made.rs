use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use ha_core::environment::Environment;
use ha_core::ids::{ClusterId, JobId};
use ha_storage::{HaStorage, StateFile, StateKind};
use integration_tests::{AdminClient, ClusterProcess, Ensemble, TestCluster};
use serde_json::{Value, json};

pub(super) const JOB: JobId = JobId::from_bytes([1; 16]);
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);

/// A cluster of which no process runs, made by hand: a job and its checkpoints.
pub(super) struct Made {
    pub(super) cluster: TestCluster,
    pub(super) admin: AdminClient,
    pub(super) storage: std::sync::Arc<HaStorage>,
    _ensemble: Ensemble,
}

impl Made {
    pub(super) async fn new(session_timeout: Duration, checkpoints: u64) -> Result<Self> {
        let ensemble = Ensemble::shared().await?;
        let admin = AdminClient::connect(&ensemble.connect_string()).await?;
        let cluster = TestCluster::new(&ensemble.connect_string(), session_timeout)?;
        let id: ClusterId = cluster.cluster_id().parse()?;
        let uri = cluster.storage().display().to_string();
        let storage = HaStorage::open(&uri, &id, &Environment::system()).await?;
        let made = Self {
            cluster,
            admin,
            storage,
            _ensemble: ensemble,
        };
        made.write_identity(false).await?;
        made.put(StateKind::JobGraph, &JOB.to_string(), &format!("jobgraphs/{JOB}"))
            .await?;
        for number in 1..=checkpoints {
            let name = format!("{number:019}");
            let znode = format!("jobs/{JOB}/checkpoints/{name}");
            made.put(StateKind::Checkpoint, &name, &znode).await?;
        }
        let counter = made.cluster.znode(&format!("jobs/{JOB}/checkpoint_id_counter"));
        let next = (checkpoints + 1).to_string();
        made.admin.create(&counter, next.as_bytes()).await?;
        Ok(made)
    }

    pub(super) async fn write_identity(&self, tree_lost: bool) -> Result<()> {
        let path = self.cluster.znode("identity");
        let file = self
            .storage
            .identity_of_tree(Some(&self.cluster.znode("")))
            .await?;
        let mut data = json!({
            "format": 1,
            "clusterUuid": file.cluster_uuid,
            "storageDir": file.storage_dir,
            "createdBy": file.created_by,
        });
        if tree_lost {
            data["treeLost"] = true.into();
        }
        match self.admin.node(&path).await? {
            None => self.admin.create(&path, data.to_string().as_bytes()).await,
            Some(_) => self.admin.set(&path, data.to_string().as_bytes()).await,
        }
    }

    async fn put(&self, kind: StateKind, name: &str, znode: &str) -> Result<StateFile> {
        let payload = Bytes::copy_from_slice(name.as_bytes());
        let file = self
            .storage
            .put_state(kind, JOB, name, Default::default(), payload)
            .await?;
        let pointer = json!({
            "format": 1,
            "kind": file.kind,
            "path": file.path,
            "size": file.size,
            "crc32c": file.crc32c,
            "writeId": "99999999-2222-3333-4444-555555555555",
        });
        let znode = self.cluster.znode(znode);
        self.admin.create(&znode, pointer.to_string().as_bytes()).await?;
        Ok(file)
    }

    /// Starts `hactl` and lets it run.
    pub(super) fn spawn(&self, arguments: &[&str]) -> Result<ClusterProcess> {
        let definitions = self.cluster.arguments();
        let definitions = definitions.iter().map(String::as_str);
        let all: Vec<_> = arguments.iter().copied().chain(definitions).collect();
        ClusterProcess::spawn_binary("hactl", "hactl", &all, |_| {})
    }

    /// Fails if a pointer names a file that is not there.
    pub(super) async fn expect_no_dangling_pointer(&self) -> Result<usize> {
        let folder = self.storage.local_folder().context("the storage is local")?;
        let mut pointers = 0;
        for node in self.admin.walk(&self.cluster.znode("")).await? {
            let Ok(data) = serde_json::from_slice::<Value>(&node.data) else {
                continue;
            };
            if let Some(path) = data["path"].as_str() {
                pointers += 1;
                ensure!(
                    folder.join(path).is_file(),
                    "{} names {path}, which is missing",
                    node.path
                );
            }
        }
        Ok(pointers)
    }
}
