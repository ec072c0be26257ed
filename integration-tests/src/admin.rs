//! A raw client for tests: it reads and changes any znode, past all rules of the product.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use futures::future::BoxFuture;
use zookeeper_client::{Acls, Client, CreateMode, Error, Stat};

/// Longer than any fault: the test looks on while servers are away, and elect for long on a busy machine.
const SESSION_TIMEOUT: Duration = Duration::from_secs(60);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// A session of the test's own.
#[derive(Debug, Clone)]
pub struct AdminClient {
    client: Client,
}

/// A znode as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSnapshot {
    /// Its whole path.
    pub path: String,
    /// Its data.
    pub data: Vec<u8>,
    /// What the server knows of it.
    pub stat: Stat,
}

impl AdminClient {
    /// Connects, waiting for a server that comes up.
    ///
    /// # Errors
    /// No server answers in time.
    pub async fn connect(connect_string: &str) -> Result<Self> {
        let what = format!("a session at {connect_string}");
        crate::eventually(&what, CONNECT_TIMEOUT, async || {
            let connector = Client::connector().with_session_timeout(SESSION_TIMEOUT);
            Ok(Self {
                client: connector.connect(connect_string).await?,
            })
        })
        .await
    }

    /// The client itself.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// A node's data; `None` when it is not there.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn get(&self, path: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.node(path).await?.map(|node| node.data))
    }

    /// A node's data as text; `None` when it is not there.
    ///
    /// # Errors
    /// The server does not answer, or the data is not UTF-8.
    pub async fn text(&self, path: &str) -> Result<Option<String>> {
        self.get(path)
            .await?
            .map(String::from_utf8)
            .transpose()
            .with_context(|| format!("{path} is not UTF-8"))
    }

    /// A node; `None` when it is not there.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn node(&self, path: &str) -> Result<Option<NodeSnapshot>> {
        match self.client.get_data(path).await {
            Ok((data, stat)) => Ok(Some(NodeSnapshot {
                path: path.to_owned(),
                data,
                stat,
            })),
            Err(Error::NoNode) => Ok(None),
            Err(error) => Err(error).with_context(|| path.to_owned()),
        }
    }

    /// The names of a node's children, sorted; empty when the node is not there.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn children(&self, path: &str) -> Result<Vec<String>> {
        match self.client.list_children(path).await {
            Ok(mut children) => {
                children.sort();
                Ok(children)
            }
            Err(Error::NoNode) => Ok(Vec::new()),
            Err(error) => Err(error).with_context(|| path.to_owned()),
        }
    }

    /// Creates a persistent node, and the parents that are missing.
    ///
    /// # Errors
    /// It is there already, or the server does not answer.
    pub async fn create(&self, path: &str, data: &[u8]) -> Result<()> {
        let options = CreateMode::Persistent.with_acls(Acls::anyone_all());
        if let Some((parent, _)) = path.rsplit_once('/')
            && !parent.is_empty()
        {
            self.client
                .mkdir(parent, &options)
                .await
                .with_context(|| parent.to_owned())?;
        }
        self.client
            .create(path, data, &options)
            .await
            .with_context(|| path.to_owned())?;
        Ok(())
    }

    /// Sets a node's data at whatever version it is.
    ///
    /// # Errors
    /// It is not there, or the server does not answer.
    pub async fn set(&self, path: &str, data: &[u8]) -> Result<()> {
        self.client
            .set_data(path, data, None)
            .await
            .with_context(|| path.to_owned())?;
        Ok(())
    }

    /// Deletes a node that has no children, at whatever version it is.
    ///
    /// # Errors
    /// It is not there or has children, or the server does not answer.
    pub async fn delete(&self, path: &str) -> Result<()> {
        self.client
            .delete(path, None)
            .await
            .with_context(|| path.to_owned())
    }

    /// Deletes a node and everything below it, if it is there.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn delete_tree(&self, path: &str) -> Result<()> {
        let mut nodes = self.walk(path).await?;
        nodes.reverse();
        for node in nodes {
            match self.client.delete(&node.path, None).await {
                Ok(()) | Err(Error::NoNode) => {}
                Err(error) => return Err(error).with_context(|| node.path),
            }
        }
        Ok(())
    }

    /// A node and everything below it, parents first; empty when it is not there.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn walk(&self, path: &str) -> Result<Vec<NodeSnapshot>> {
        let mut nodes = Vec::new();
        self.walk_into(path.to_owned(), &mut nodes).await?;
        Ok(nodes)
    }

    fn walk_into<'a>(&'a self, path: String, nodes: &'a mut Vec<NodeSnapshot>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let Some(node) = self.node(&path).await? else {
                return Ok(());
            };
            let has_children = node.stat.num_children > 0;
            nodes.push(node);
            if has_children {
                for child in self.children(&path).await? {
                    let separator = if path.ends_with('/') { "" } else { "/" };
                    self.walk_into(format!("{path}{separator}{child}"), nodes).await?;
                }
            }
            Ok(())
        })
    }

    /// Fails unless nothing changed between two walks: no node came, went or was set.
    ///
    /// # Errors
    /// The first difference.
    pub fn expect_unchanged(before: &[NodeSnapshot], after: &[NodeSnapshot]) -> Result<()> {
        for (left, right) in before.iter().zip(after) {
            if left != right {
                bail!("changed: {left:?} became {right:?}");
            }
        }
        if before.len() != after.len() {
            bail!("{} nodes became {}", before.len(), after.len());
        }
        Ok(())
    }
}
