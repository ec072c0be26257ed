use std::collections::BTreeMap;

use super::node::{Node, Stamp};
use super::path::{name, parent};
use crate::client::{CreateMode, Operation, OperationResult, ZkCode};

/// What watches may be about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Created(String),
    Set(String),
    Deleted(String),
}

/// What applied operations did.
pub(super) struct Applied {
    pub(super) results: Vec<OperationResult>,
    pub(super) changes: Vec<Change>,
}

/// The nodes.
pub(super) struct Tree {
    nodes: BTreeMap<String, Node>,
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            nodes: BTreeMap::from([("/".to_owned(), Node::default())]),
        }
    }
}

impl Tree {
    pub(super) fn get(&self, path: &str) -> Result<&Node, ZkCode> {
        self.nodes.get(path).ok_or(ZkCode::NoNode)
    }

    /// The paths of all nodes but the root.
    pub(super) fn paths(&self) -> impl Iterator<Item = &String> {
        self.nodes.keys().filter(|path| *path != "/")
    }

    /// Applies all operations, or none: then the index of the first that refused, and why.
    pub(super) fn apply(
        &mut self,
        session: i64,
        operations: &[Operation],
        stamp: Stamp,
    ) -> Result<Applied, (usize, ZkCode)> {
        let mut applied = Applied {
            results: Vec::new(),
            changes: Vec::new(),
        };
        // What the touched nodes were before.
        let mut before = Vec::new();
        for (index, operation) in operations.iter().enumerate() {
            match self.apply_one(session, operation, stamp, &mut before) {
                Ok((result, change)) => {
                    applied.results.push(result);
                    applied.changes.extend(change);
                }
                Err(code) => {
                    for (path, node) in before.into_iter().rev() {
                        match node {
                            Some(node) => self.nodes.insert(path, node),
                            None => self.nodes.remove(&path),
                        };
                    }
                    return Err((index, code));
                }
            }
        }
        Ok(applied)
    }

    /// Deletes the ephemeral nodes of a session.
    pub(super) fn end_session(&mut self, session: i64, stamp: Stamp) -> Vec<Change> {
        let owned: Vec<_> = self
            .nodes
            .iter()
            .filter(|(_, node)| session != 0 && node.owner == session)
            .map(|(path, _)| path.clone())
            .collect();
        for path in &owned {
            self.remove(path, stamp);
        }
        owned.into_iter().map(Change::Deleted).collect()
    }

    fn apply_one(
        &mut self,
        session: i64,
        operation: &Operation,
        stamp: Stamp,
        before: &mut Vec<(String, Option<Node>)>,
    ) -> Result<(OperationResult, Option<Change>), ZkCode> {
        match operation {
            Operation::Check { path, version } => {
                self.at_version(path, Some(*version))?;
                Ok((OperationResult::Checked, None))
            }
            Operation::Create { path, data, mode } => {
                let above = self.get(parent(path))?;
                let path = match mode {
                    CreateMode::EphemeralSequential => format!("{path}{:010}", above.creations),
                    CreateMode::Persistent | CreateMode::Ephemeral => path.clone(),
                };
                // The client lets these through, unless something follows.
                if matches!(name(&path), "." | "..") {
                    return Err(ZkCode::BadArguments);
                }
                if self.nodes.contains_key(&path) {
                    return Err(ZkCode::NodeExists);
                }
                if above.owner != 0 {
                    return Err(ZkCode::NoChildrenForEphemerals);
                }
                before.push((parent(&path).to_owned(), Some(above.clone())));
                before.push((path.clone(), None));
                if let Some(above) = self.nodes.get_mut(parent(&path)) {
                    above.creations = above.creations.wrapping_add(1);
                    above.children.insert(name(&path).to_owned());
                    above.children_zxid = stamp.zxid;
                }
                let owner = match mode {
                    CreateMode::Persistent => 0,
                    CreateMode::Ephemeral | CreateMode::EphemeralSequential => session,
                };
                self.nodes
                    .insert(path.clone(), Node::new(data.clone(), owner, stamp));
                let change = Change::Created(path.clone());
                Ok((OperationResult::Created { path }, Some(change)))
            }
            Operation::Set { path, data, version } => {
                before.push((path.clone(), Some(self.at_version(path, *version)?.clone())));
                let node = self.nodes.get_mut(path).ok_or(ZkCode::NoNode)?;
                node.data = data.clone();
                node.version = node.version.wrapping_add(1);
                node.set = Some(stamp);
                let result = OperationResult::Set { stat: node.stat() };
                Ok((result, Some(Change::Set(path.clone()))))
            }
            Operation::Delete { path, version } => {
                let node = self.at_version(path, *version)?;
                if !node.children.is_empty() {
                    return Err(ZkCode::NotEmpty);
                }
                let above = self.get(parent(path))?;
                before.push((parent(path).to_owned(), Some(above.clone())));
                before.push((path.clone(), Some(node.clone())));
                self.remove(path, stamp);
                Ok((OperationResult::Deleted, Some(Change::Deleted(path.clone()))))
            }
        }
    }

    /// The node, if it is at this version; −1 and `None` mean any.
    fn at_version(&self, path: &str, version: Option<i32>) -> Result<&Node, ZkCode> {
        let node = self.get(path)?;
        match version {
            Some(version) if version != -1 && version != node.version => Err(ZkCode::BadVersion),
            _ => Ok(node),
        }
    }

    fn remove(&mut self, path: &str, stamp: Stamp) {
        self.nodes.remove(path);
        if let Some(above) = self.nodes.get_mut(parent(path)) {
            above.children.remove(name(path));
            above.children_zxid = stamp.zxid;
        }
    }
}
