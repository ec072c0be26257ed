use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream;
use ha_core::health::BrokenEntry;
use ha_core::{ErrorKind, Result};
use ha_zookeeper::client::{Stat, ZkCode, ZkError, ZkResult, ZooKeeperClient};
use ha_zookeeper::paths::ClusterPaths;

use crate::progress::Progress;

/// How many requests are under way at a time.
const CONCURRENCY: usize = 64;
/// How many nodes are read, and so held in memory, at a time where there may be many thousand.
const PART: usize = 256;
/// The deepest tree that is walked: ours has 4 levels, and a foreign one must not be endless.
const MAX_DEPTH: usize = 32;

/// A znode as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) path: String,
    pub(crate) data: Bytes,
    pub(crate) stat: Stat,
}

impl Node {
    /// The last segment of its path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// Reads znodes. Never writes.
#[derive(Clone)]
pub(crate) struct Nodes {
    client: Arc<dyn ZooKeeperClient>,
    progress: Progress,
}

impl Nodes {
    pub(crate) fn new(client: Arc<dyn ZooKeeperClient>) -> Self {
        Self {
            client,
            progress: Progress::hidden(),
        }
    }

    /// The same, which shows how far it is.
    pub(crate) const fn showing(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self
    }

    /// What there may be many thousand of, in the parts in which it is read: so many are held in memory at a time. Shows
    /// how far it is, where there is more than one part.
    pub(crate) fn parts<'a, T>(
        &self,
        what: &'static str,
        all: &'a [T],
    ) -> impl Iterator<Item = &'a [T]> + use<'a, T> {
        let bar = (all.len() > PART).then(|| self.progress.bar(what, all.len() as u64));
        let mut done = 0;
        all.chunks(PART).inspect(move |part| {
            if let Some(bar) = &bar {
                bar.at(done);
            }
            done += part.len() as u64;
        })
    }

    /// Waits until the server that is asked has seen all that its leader has.
    pub(crate) async fn sync(&self, path: &str) -> Result<()> {
        self.client
            .sync(path)
            .await
            .map_err(|error| unavailable(error, path))
    }

    /// One node; `None` when it is not there.
    pub(crate) async fn get(&self, path: &str) -> Result<Option<Node>> {
        found(self.client.get(path).await, path).map(|found| {
            found.map(|(data, stat)| Node {
                path: path.to_owned(),
                data,
                stat,
            })
        })
    }

    /// The names of the children, sorted; `None` when the node is not there.
    pub(crate) async fn names(&self, path: &str) -> Result<Option<Vec<String>>> {
        found(self.client.list(path).await, path).map(|found| {
            found.map(|(mut names, _)| {
                names.sort();
                names
            })
        })
    }

    /// The children that are still there when they are read, sorted by name. One that may not be read becomes a
    /// broken entry.
    pub(crate) async fn children(&self, path: &str, broken: &mut Vec<BrokenEntry>) -> Result<Vec<Node>> {
        let names = self.names(path).await?.unwrap_or_default();
        self.some_children(path, &names, broken).await
    }

    /// The same of some of the children: those of these names.
    pub(crate) async fn some_children(
        &self,
        path: &str,
        names: &[String],
        broken: &mut Vec<BrokenEntry>,
    ) -> Result<Vec<Node>> {
        let paths = names.iter().map(|name| ClusterPaths::child(path, name)).collect();
        self.get_all(paths, broken).await
    }

    async fn get_all(&self, paths: Vec<String>, broken: &mut Vec<BrokenEntry>) -> Result<Vec<Node>> {
        let mut reads = stream::iter(paths)
            .map(|path| async move {
                let read = self.get(&path).await;
                (path, read)
            })
            .buffered(CONCURRENCY);
        let mut nodes = Vec::new();
        while let Some((path, read)) = reads.next().await {
            match read {
                Ok(node) => nodes.extend(node),
                // The connection is gone: nothing that follows can be read either.
                Err(error) if error.kind() == ErrorKind::Unavailable => return Err(error),
                Err(error) => broken.push(BrokenEntry::from_error(name_of(&path), path.clone(), &error)),
            }
        }
        Ok(nodes)
    }

    /// A node and everything below it, each level in the order of the names, parents before children.
    pub(crate) async fn walk(&self, path: &str, broken: &mut Vec<BrokenEntry>) -> Result<Vec<Node>> {
        let mut nodes: Vec<Node> = self.get(path).await?.into_iter().collect();
        let mut level = nodes.clone();
        for _ in 0..MAX_DEPTH {
            let parents: Vec<_> = level.iter().filter(|node| node.stat.num_children > 0).collect();
            let mut listings = stream::iter(parents)
                .map(|node| async move { (node.path.clone(), self.names(&node.path).await) })
                .buffered(CONCURRENCY);
            let mut below = Vec::new();
            while let Some((parent, listing)) = listings.next().await {
                match listing {
                    Ok(names) => {
                        let names = names.unwrap_or_default();
                        below.extend(names.iter().map(|name| ClusterPaths::child(&parent, name)));
                    }
                    Err(error) if error.kind() == ErrorKind::Unavailable => return Err(error),
                    Err(error) => {
                        broken.push(BrokenEntry::from_error(name_of(&parent), parent.clone(), &error));
                    }
                }
            }
            drop(listings);
            if below.is_empty() {
                break;
            }
            level = self.get_all(below, broken).await?;
            nodes.extend(level.iter().cloned());
        }
        // `/` sorts before every character of a name, so a parent's children follow it at once.
        nodes.sort_by(|a, b| a.path.split('/').cmp(b.path.split('/')));
        Ok(nodes)
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn found<T>(result: ZkResult<T>, path: &str) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.code == ZkCode::NoNode => Ok(None),
        Err(error) => Err(unavailable(error, path)),
    }
}

fn unavailable(error: ZkError, path: &str) -> ha_core::Error {
    // Reading changes nothing, whatever became of the answer.
    error.at(path).not_applied()
}
