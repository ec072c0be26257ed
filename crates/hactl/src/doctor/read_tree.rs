use std::collections::BTreeMap;

use futures::{StreamExt as _, stream};
use ha_core::environment::Clock;
use ha_core::health::BrokenEntry;
use ha_core::ids::JobId;
use ha_core::{Error, ErrorKind, Result};
use ha_storage::{HaStorage, StateFile};
use ha_zookeeper::client::{WireClient, ZkCode};
use ha_zookeeper::codec::IdentityData;
use ha_zookeeper::paths::ClusterPaths;

use super::sizes::Sizes;
use super::snapshot::{JobFacts, Placed, Pointed, Tree};
use super::state_files::StateFiles;
use crate::cluster::{Node, Nodes};

/// How many ACLs are asked for at a time.
const ACLS_AT_A_TIME: usize = 64;

/// What was read of the znodes, beside what cannot be read.
pub(super) struct ReadTree {
    pub(super) tree: Tree,
    pub(super) jobs: BTreeMap<JobId, JobFacts>,
    pub(super) broken: Vec<BrokenEntry>,
}

/// Reads the znodes of a cluster, and the files that pointers name.
pub(super) struct TreeReader<'a> {
    pub(super) nodes: &'a Nodes,
    pub(super) paths: &'a ClusterPaths,
    /// Who is asked for ACLs, where somebody can be.
    acls: Option<&'a WireClient>,
    pub(super) read: ReadTree,
    /// Where the files lie that pointers name.
    pub(super) storage: Option<&'a HaStorage>,
    /// The files that were listed before.
    pub(super) listed: Option<&'a mut StateFiles>,
    /// Pointers whose files are to be looked at, each with what it names and the transaction that wrote it.
    pub(super) pending: Vec<(Pointed, Option<(StateFile, i64)>)>,
    /// Nodes that have children and should have none.
    parents: Vec<String>,
}

impl<'a> TreeReader<'a> {
    pub(super) fn new(nodes: &'a Nodes, paths: &'a ClusterPaths, acls: Option<&'a WireClient>) -> Self {
        const UNREAD: &str = "it was not read";
        let tree = Tree {
            cluster: paths.cluster().to_owned(),
            identity: Placed {
                place: paths.identity(),
                what: None,
            },
            children: Vec::new(),
            elections: Vec::new(),
            leaders: Vec::new(),
            pointers: Vec::new(),
            unreadable_counters: Vec::new(),
            unreadable_registry: Vec::new(),
            foreign: Vec::new(),
            sizes: Sizes::default(),
            acls: match acls {
                Some(_) => Ok(BTreeMap::new()),
                None => Err(UNREAD.to_owned()),
            },
            session: Err(UNREAD.to_owned()),
            servers: Vec::new(),
            configured_tick: None,
        };
        let (jobs, broken) = (BTreeMap::new(), Vec::new());
        Self {
            nodes,
            paths,
            acls,
            read: ReadTree { tree, jobs, broken },
            storage: None,
            listed: None,
            pending: Vec::new(),
            parents: Vec::new(),
        }
    }

    /// The same, which looks at the files that pointers name, and notes them among those that were listed.
    pub(super) fn with_files(
        mut self,
        storage: Option<&'a HaStorage>,
        listed: Option<&'a mut StateFiles>,
    ) -> Self {
        self.storage = storage;
        self.listed = listed;
        self
    }

    /// Reads the znodes, and looks at the files. One that may not be read becomes a broken entry.
    pub(super) async fn read_nodes(&mut self, clock: &dyn Clock) -> Result<()> {
        let cluster = self.paths.cluster();
        self.get(&self.paths.configuration()).await?;
        let children = self.names(cluster).await?;
        let of_layout = [
            "identity",
            "leader",
            "jobgraphs",
            "jobs",
            "running_job_registry",
            "configuration",
        ];
        for name in children.iter().filter(|name| !of_layout.contains(&name.as_str())) {
            self.foreign(ClusterPaths::child(cluster, name), "a node of the layout");
        }
        self.read.tree.children = children;
        let identity = self.paths.identity();
        if let Some(node) = self.get(&identity).await? {
            let decoded = IdentityData::decode(&identity, &node.data);
            self.read.tree.identity.what = Some(decoded.map_err(|error| reason(&error)));
        }
        self.read_leadership(clock).await?;
        self.read_graphs().await?;
        self.read_jobs().await?;
        self.read_registry().await?;
        for parent in std::mem::take(&mut self.parents) {
            self.expect_children(&parent, &[], "nothing").await?;
        }
        Ok(())
    }

    /// All that was read.
    pub(super) fn into_read(self) -> ReadTree {
        self.read
    }

    pub(super) async fn get(&mut self, path: &str) -> Result<Option<Node>> {
        let node = allowed(self.nodes.get(path).await, path, &mut self.read.broken)?;
        self.note(&node).await?;
        Ok(node)
    }

    /// The names of a node's children; the node itself is noted.
    pub(super) async fn names(&mut self, path: &str) -> Result<Vec<String>> {
        self.get(path).await?;
        let names = allowed(self.nodes.names(path).await, path, &mut self.read.broken)?;
        let names = names.unwrap_or_default();
        self.read.tree.sizes.add_children(path, &names);
        Ok(names)
    }

    /// A node's children; the node itself is noted too.
    pub(super) async fn children(&mut self, path: &str) -> Result<Vec<Node>> {
        let names = self.names(path).await?;
        self.some_children(path, &names).await
    }

    /// The children of these names.
    pub(super) async fn some_children(&mut self, path: &str, names: &[String]) -> Result<Vec<Node>> {
        let broken = &mut self.read.broken;
        let children = self.nodes.some_children(path, names, broken).await?;
        self.note(&children).await?;
        Ok(children)
    }

    pub(super) async fn expect_children(
        &mut self,
        path: &str,
        names: &[&str],
        expected: &'static str,
    ) -> Result<()> {
        for name in self.names(path).await? {
            if !names.contains(&name.as_str()) {
                self.foreign(ClusterPaths::child(path, &name), expected);
            }
        }
        Ok(())
    }

    pub(super) fn expect_leaf(&mut self, node: &Node) {
        if node.stat.num_children > 0 {
            self.parents.push(node.path.clone());
        }
    }

    /// Notes the sizes and the ACLs of nodes that were read.
    pub(super) async fn note<'n>(&mut self, nodes: impl IntoIterator<Item = &'n Node>) -> Result<()> {
        let mut paths = Vec::new();
        for node in nodes {
            self.read.tree.sizes.add_data(&node.path, &node.stat);
            paths.push(node.path.clone());
        }
        let (Some(client), Ok(acls)) = (self.acls, &mut self.read.tree.acls) else {
            return Ok(());
        };
        let mut reads = stream::iter(paths)
            .map(|path| async move {
                let acl = client.acl(&path).await;
                (path, acl)
            })
            .buffered(ACLS_AT_A_TIME);
        while let Some((path, acl)) = reads.next().await {
            match acl {
                Ok(acl) => acls.entry(acl).or_insert((0, path)).0 += 1,
                Err(error) if error.code == ZkCode::NoNode => {}
                Err(error) => {
                    let error = error.at(&path).not_applied();
                    if error.kind() == ErrorKind::Unavailable {
                        return Err(error);
                    }
                    self.read
                        .broken
                        .push(BrokenEntry::from_error("acl", path, &error));
                }
            }
        }
        Ok(())
    }

    pub(super) fn foreign(&mut self, path: String, expected: &'static str) {
        self.read.tree.foreign.push(Placed {
            place: path,
            what: expected,
        });
    }
}

/// What was read. What may not be read is a broken entry, and as if it were not there.
pub(super) fn allowed<T>(
    read: Result<Option<T>>,
    path: &str,
    broken: &mut Vec<BrokenEntry>,
) -> Result<Option<T>> {
    match read {
        Err(error) if error.kind() != ErrorKind::Unavailable => {
            broken.push(BrokenEntry::from_error(path, path, &error));
            Ok(None)
        }
        read => read,
    }
}

pub(super) fn reason(error: &Error) -> String {
    error.message().to_owned()
}
