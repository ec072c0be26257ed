//! What stands in ZooKeeper and in the storage directory while no process runs, read without the product's code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use integration_tests::{AdminClient, TestCluster};
use serde_json::Value;

/// What is there of one job.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobState {
    /// Its graph can be recovered.
    pub(crate) has_graph: bool,
    /// The ids of the checkpoints that can be recovered, ascending.
    pub(crate) checkpoints: Vec<u64>,
    /// How it has ended, once that is recorded.
    pub(crate) end: Option<String>,
    /// Its clean-up is complete.
    pub(crate) is_clean: bool,
}

/// The data of a cluster at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    jobs: BTreeMap<String, JobState>,
    /// State files that no pointer names; none in the modes of one process, where a file is its own pointer.
    pub(crate) unnamed: BTreeSet<String>,
    /// Jobs of which anything but a result that is clean is left.
    pub(crate) left: BTreeSet<String>,
}

impl Snapshot {
    /// Reads all there is. Without `admin` the cluster has no znodes.
    ///
    /// # Errors
    /// A pointer names a missing, torn or foreign file; a state file or a result is torn.
    pub(crate) async fn read(cluster: &TestCluster, admin: Option<&AdminClient>) -> Result<Self> {
        let mut snapshot = Self::default();
        let mut results = BTreeMap::new();
        for file in cluster.files()? {
            let Some((folder, name)) = file.rsplit_once('/') else {
                continue;
            };
            // What an interrupted write left is nobody's file yet.
            if name.contains('#') || name.starts_with('.') {
                continue;
            }
            let path = cluster.storage().join(&file);
            if folder == format!("job-results-store/{}", cluster.cluster_id()) {
                let document: Value = serde_json::from_slice(&std::fs::read(&path)?)
                    .with_context(|| format!("the result {file} is torn"))?;
                results.insert(name.to_owned(), end_of(&document)?);
            } else if folder.ends_with("/jobgraphs") || folder.ends_with("/checkpoints") {
                expect_whole(&path)?;
                let below = file.split_once('/').context("a cluster's folder")?.1;
                snapshot.unnamed.insert(below.to_owned());
            }
            if let Some(job) = job_in(&file)
                && !folder.starts_with("job-results-store/")
            {
                snapshot.left.insert(job);
            }
        }
        let running = match admin {
            Some(admin) => snapshot.follow_pointers(cluster, admin).await?,
            None => snapshot.take_files_for_pointers()?,
        };
        for (name, end) in results {
            let (job, is_clean) = match name.strip_suffix("_DIRTY.json") {
                Some(job) => (job, false),
                None => (name.strip_suffix(".json").context("a foreign result")?, true),
            };
            // Beside a pointer without an end a dirty file says nothing.
            if is_clean || !running.contains(job) {
                let state = snapshot.jobs.entry(job.to_owned()).or_default();
                state.end.get_or_insert(end);
                state.is_clean |= is_clean;
            }
        }
        Ok(snapshot)
    }

    /// What is there of a job.
    pub(crate) fn job(&self, id: &str) -> JobState {
        self.jobs.get(id).cloned().unwrap_or_default()
    }

    /// Gives the jobs whose pointers have no end.
    async fn follow_pointers(
        &mut self,
        cluster: &TestCluster,
        admin: &AdminClient,
    ) -> Result<BTreeSet<String>> {
        let mut running = BTreeSet::new();
        for job in admin.children(&cluster.znode("jobgraphs")).await? {
            let pointer = self.follow(cluster, admin, &format!("jobgraphs/{job}")).await?;
            let state = self.jobs.entry(job.clone()).or_default();
            state.has_graph = true;
            match pointer.get("terminal") {
                Some(terminal) => state.end = Some(end_of(terminal)?),
                None => drop(running.insert(job.clone())),
            }
            self.left.insert(job);
        }
        for job in admin.children(&cluster.znode("jobs")).await? {
            for checkpoint in admin
                .children(&cluster.znode(&format!("jobs/{job}/checkpoints")))
                .await?
            {
                self.follow(cluster, admin, &format!("jobs/{job}/checkpoints/{checkpoint}"))
                    .await?;
                let state = self.jobs.entry(job.clone()).or_default();
                state.checkpoints.push(checkpoint.parse()?);
            }
            self.left.insert(job);
        }
        for job in admin.children(&cluster.znode("running_job_registry")).await? {
            self.left.insert(job);
        }
        Ok(running)
    }

    /// Reads a pointer and its file.
    async fn follow(&mut self, cluster: &TestCluster, admin: &AdminClient, below: &str) -> Result<Value> {
        let text = admin.text(&cluster.znode(below)).await?.context("it has gone")?;
        let pointer: Value = serde_json::from_str(&text).with_context(|| format!("{below}: {text}"))?;
        let path = pointer.get("path").and_then(Value::as_str).context("no path")?;
        let content = std::fs::read(cluster.storage().join(cluster.cluster_id()).join(path))
            .with_context(|| format!("{below} names the missing file {path}"))?;
        let number = |field: &str| pointer.get(field).and_then(Value::as_u64).context("no number");
        ensure!(
            content.len() as u64 == number("size")?
                && u64::from(crc32c::crc32c(&content)) == number("crc32c")?,
            "{below} names the torn file {path}: {} bytes, {pointer}",
            content.len()
        );
        self.unnamed.remove(path);
        Ok(pointer)
    }

    fn take_files_for_pointers(&mut self) -> Result<BTreeSet<String>> {
        for file in std::mem::take(&mut self.unnamed) {
            let job = job_in(&file).with_context(|| format!("{file} is of no job"))?;
            let state = self.jobs.entry(job).or_default();
            match file.rsplit_once("/checkpoints/") {
                Some((_, name)) => state
                    .checkpoints
                    .push(name.split('-').next().unwrap_or_default().parse()?),
                None => state.has_graph = true,
            }
        }
        for state in self.jobs.values_mut() {
            state.checkpoints.sort_unstable();
        }
        Ok(BTreeSet::new())
    }
}

fn end_of(document: &Value) -> Result<String> {
    let end = document.pointer("/result/application-status");
    let end = end.and_then(Value::as_str);
    end.map(str::to_owned)
        .with_context(|| format!("{document} has no end"))
}

/// The job id in a path.
fn job_in(file: &str) -> Option<String> {
    file.split(['/', '.', '-', '_'])
        .find(|part| part.len() == 32 && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .map(str::to_owned)
}

/// A state file holds the size and the checksum of its payload in its first line.
fn expect_whole(path: &Path) -> Result<()> {
    let content = std::fs::read(path)?;
    let end = content.iter().position(|byte| *byte == b'\n');
    let (header, payload) = content.split_at(end.with_context(|| format!("{} is torn", path.display()))?);
    let header: Value = serde_json::from_slice(header)?;
    let payload = payload.get(1..).unwrap_or_default();
    let says = |field: &str, value: u64| header.get(field).and_then(Value::as_u64) == Some(value);
    ensure!(
        says("size", payload.len() as u64) && says("crc32c", u64::from(crc32c::crc32c(payload))),
        "{} is torn: {} bytes after {header}",
        path.display(),
        payload.len()
    );
    Ok(())
}
