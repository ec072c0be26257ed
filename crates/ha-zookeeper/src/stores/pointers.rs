//! Reading pointers: one listing and one multi-read for many.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use ha_core::Result;
use ha_core::health::{BrokenEntry, HealthMonitor};
use ha_storage::StateKind;

use crate::client::{Stat, ZkCode, ZkResult, ZooKeeperClient};
use crate::codec::Pointer;
use crate::paths::ClusterPaths;

/// How many nodes one multi-read asks for: the reply stays below what clients and servers take.
const CHUNK: usize = 500;

/// A node below a folder of pointers, as it was read.
pub(super) struct PointerNode {
    /// Its name in the folder.
    pub name: String,
    /// Its path.
    pub path: String,
    /// Its Stat.
    pub stat: Stat,
    /// Its data; `Corrupt` when it is no pointer of the kind.
    pub pointer: Result<Pointer>,
}

/// The names in a folder, sorted, at least as new as all that was written before the call. None when the folder
/// is not there.
pub(super) async fn names(client: &Arc<dyn ZooKeeperClient>, folder: &str) -> Result<Vec<String>> {
    let (synced, listed) = futures::join!(client.sync(folder), client.list(folder));
    synced.map_err(|error| error.at(folder).not_applied())?;
    match listed {
        Ok((mut names, _)) => {
            names.sort_unstable();
            Ok(names)
        }
        Err(error) if error.code == ZkCode::NoNode => Ok(Vec::new()),
        Err(error) => Err(error.at(folder).not_applied()),
    }
}

/// The nodes of these names. One that is not there any more is left out.
pub(super) async fn nodes(
    client: &Arc<dyn ZooKeeperClient>,
    folder: &str,
    names: Vec<String>,
) -> Result<Vec<(String, String, Bytes, Stat)>> {
    let paths: Vec<_> = names
        .iter()
        .map(|name| ClusterPaths::child(folder, name))
        .collect();
    let read = read_paths(client.as_ref(), &paths).await;
    present(
        folder,
        names,
        read.map_err(|error| error.at(folder).not_applied())?,
    )
}

/// Reads these nodes, one result a path.
pub(super) async fn read_paths(
    client: &dyn ZooKeeperClient,
    paths: &[String],
) -> ZkResult<Vec<ZkResult<(Bytes, Stat)>>> {
    let mut read = Vec::with_capacity(paths.len());
    for chunk in paths.chunks(CHUNK) {
        read.extend(client.multi_get(chunk).await?);
    }
    Ok(read)
}

/// What was read of these names. One that is not there any more is left out.
pub(super) fn present(
    folder: &str,
    names: Vec<String>,
    read: impl IntoIterator<Item = ZkResult<(Bytes, Stat)>>,
) -> Result<Vec<(String, String, Bytes, Stat)>> {
    let mut nodes = Vec::with_capacity(names.len());
    for (name, read) in names.into_iter().zip(read) {
        let path = ClusterPaths::child(folder, &name);
        match read {
            Ok((data, stat)) => nodes.push((name, path, data, stat)),
            Err(error) if error.code == ZkCode::NoNode => {}
            Err(error) => return Err(error.at(&path).not_applied()),
        }
    }
    Ok(nodes)
}

/// All pointers of a folder, sorted by name, foreign and broken ones too.
pub(super) async fn read_all(
    client: &Arc<dyn ZooKeeperClient>,
    folder: &str,
    kind: StateKind,
) -> Result<Vec<PointerNode>> {
    let names = names(client, folder).await?;
    let nodes = nodes(client, folder, names).await?;
    Ok(decoded(nodes, kind))
}

/// The same, `None` when one that was listed was gone before it was read.
pub(super) async fn read_whole(
    client: &Arc<dyn ZooKeeperClient>,
    folder: &str,
    kind: StateKind,
) -> Result<Option<Vec<PointerNode>>> {
    let names = names(client, folder).await?;
    let listed = names.len();
    let nodes = nodes(client, folder, names).await?;
    Ok((nodes.len() == listed).then(|| decoded(nodes, kind)))
}

/// The pointers in these nodes.
pub(super) fn decoded(nodes: Vec<(String, String, Bytes, Stat)>, kind: StateKind) -> Vec<PointerNode> {
    nodes
        .into_iter()
        .map(|(name, path, data, stat)| PointerNode {
            pointer: Pointer::decode(&path, kind, &data),
            name,
            path,
            stat,
        })
        .collect()
}

/// One node, at least as new as all that was written before the call. `None` when it is not there.
pub(super) async fn read_node(
    client: &Arc<dyn ZooKeeperClient>,
    path: &str,
) -> Result<Option<(Bytes, Stat)>> {
    let (synced, read) = futures::join!(client.sync(path), client.get(path));
    synced.map_err(|error| error.at(path).not_applied())?;
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.code == ZkCode::NoNode => Ok(None),
        Err(error) => Err(error.at(path).not_applied()),
    }
}

/// One pointer; see [`read_node`].
///
/// # Errors
/// `Corrupt` when it is no pointer of the kind.
pub(super) async fn read_one(
    client: &Arc<dyn ZooKeeperClient>,
    path: &str,
    kind: StateKind,
) -> Result<Option<(Pointer, Stat)>> {
    match read_node(client, path).await? {
        Some((data, stat)) => Ok(Some((Pointer::decode(path, kind, &data)?, stat))),
        None => Ok(None),
    }
}

/// A node whose name is not one of the layout: listed, never parsed or touched.
pub(super) fn foreign(name: &str, path: &str, expected: &str) -> BrokenEntry {
    BrokenEntry {
        name: name.to_owned(),
        path: path.to_owned(),
        reason: format!("the name is no {expected}: foreign, left as it is"),
        candidates: Vec::new(),
    }
}

/// Takes back the reports of entries of `folder` that are not there any more; `present` are the paths that are.
pub(super) fn forget_vanished<'a>(
    health: &HealthMonitor,
    folder: &str,
    present: impl Iterator<Item = &'a str>,
) {
    let present: HashSet<_> = present.collect();
    for path in health.snapshot().broken.keys() {
        let inside = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
        if inside.is_some_and(|name| !name.contains('/')) && !present.contains(path.as_str()) {
            health.clear_broken(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reports_of_entries_that_are_gone_are_taken_back() {
        let health = HealthMonitor::default();
        for path in ["/a/1", "/a/2", "/a/2/x", "/ab/1", "/file"] {
            health.report_broken(foreign("x", path, "job id"));
        }
        forget_vanished(&health, "/a", ["/a/2"].into_iter());
        let left: Vec<_> = health.snapshot().broken.into_keys().collect();
        assert_eq!(left, ["/a/2", "/a/2/x", "/ab/1", "/file"]);
    }
}
