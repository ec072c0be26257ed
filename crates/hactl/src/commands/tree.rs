use ha_core::Result;
use serde::Serialize;

use crate::cluster::{Cluster, FoundFile, Node, flink_summary};
use crate::render::{self, View};
use crate::report::{Body, Report};

/// How much of a payload a table shows, in characters.
const SHOWN: usize = 400;
/// How much of a payload JSON holds, in bytes: all that the cluster itself may write.
const READ: usize = ha_zookeeper::codec::MAX_DATA;

/// Everything of the cluster, as it is stored.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tree {
    /// The nodes (mode `filesystem`: the files), parents before children, in the order of the names.
    pub nodes: Vec<TreeNode>,
}

/// A znode or a file.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TreeNode {
    /// Its whole path.
    pub path: String,
    /// Its data as text: control characters and bytes that are not UTF-8 are escaped.
    pub text: String,
    /// What its data say, where they are not text: Flink's. `null` else.
    pub decoded: Option<String>,
    /// Whether `text` is only the beginning.
    pub truncated: bool,
    /// The length of its data, in bytes.
    pub data_length: u64,
    /// When it was last changed.
    pub modified: u64,
    /// The number of times that its data was set; `null` for a file.
    pub version: Option<i32>,
    /// The transaction that last set its data; `null` for a file.
    pub mzxid: Option<i64>,
    /// The session that it goes with, as ZooKeeper shows it; `null` when it stays.
    pub ephemeral_owner: Option<String>,
}

impl Tree {
    /// Reads it.
    ///
    /// # Errors
    /// As [`Cluster::open`]; `NotFound` when there is no such cluster.
    pub async fn read(cluster: &Cluster) -> Result<Report<Self>> {
        let mut broken = Vec::new();
        let nodes = match cluster.backend().nodes().await? {
            Some((nodes, paths)) => {
                let nodes = nodes.walk(paths.cluster(), &mut broken).await?;
                let shown = |node: Node| {
                    let decoded = cluster.is_flinks().then(|| flink_summary(paths, &node)).flatten();
                    TreeNode {
                        decoded,
                        ..TreeNode::from(node)
                    }
                };
                nodes.into_iter().map(shown).collect()
            }
            None => {
                let files = cluster.stored_files(READ as u64, &mut broken).await?;
                files.into_iter().map(TreeNode::from).collect()
            }
        };
        Ok(Report {
            cluster: cluster.header(),
            body: Self { nodes },
            broken,
        })
    }
}

impl From<Node> for TreeNode {
    fn from(node: Node) -> Self {
        let owner = node.stat.ephemeral_owner;
        Self {
            text: render::escaped_bytes(node.data.get(..READ).unwrap_or(&node.data)),
            decoded: None,
            truncated: node.data.len() > READ,
            data_length: node.data.len() as u64,
            modified: u64::try_from(node.stat.mtime).unwrap_or(0),
            version: Some(node.stat.version),
            mzxid: Some(node.stat.mzxid),
            ephemeral_owner: (owner != 0).then(|| format!("{owner:#x}")),
            path: node.path,
        }
    }
}

impl From<FoundFile> for TreeNode {
    fn from(file: FoundFile) -> Self {
        Self {
            path: file.path.display().to_string(),
            text: render::escaped_bytes(&file.data),
            decoded: None,
            truncated: (file.data.len() as u64) < file.size,
            data_length: file.size,
            modified: file.modified,
            version: None,
            mzxid: None,
            ephemeral_owner: None,
        }
    }
}

impl Body for Tree {
    fn table(&self, _: &View) -> String {
        let top = self.nodes.first().map_or(0, |node| depth(&node.path));
        let mut text = String::new();
        for node in &self.nodes {
            let depth = depth(&node.path).saturating_sub(top);
            let indent = "  ".repeat(depth.min(10));
            let name = match depth {
                0 => node.path.as_str(),
                _ => node.path.rsplit('/').next().unwrap_or_default(),
            };
            let mut line = format!("{indent}{}", render::escaped(name));
            if let Some(owner) = &node.ephemeral_owner {
                line.push_str(&format!("  [ephemeral, session {owner}]"));
            }
            render::push_wrapped(&mut text, &line, &indent);
            let said = node.decoded.as_deref().map(render::escaped);
            let payload = render::shortened(said.as_deref().unwrap_or_else(|| readable(&node.text)), SHOWN);
            if !payload.is_empty() {
                render::push_wrapped(
                    &mut text,
                    &format!("{indent}    = {payload}"),
                    &format!("{indent}      "),
                );
            }
            if node.truncated || (said.is_none() && payload.len() < node.text.len()) {
                render::push_wrapped(
                    &mut text,
                    &format!("{indent}      ({} bytes in all)", node.data_length),
                    &indent,
                );
            }
        }
        text
    }
}

/// A payload's escaped text; of a binary one (a state file) the first line, where it has one.
fn readable(text: &str) -> &str {
    if !text.contains("\\u{") && !text.contains("\\x") {
        return text;
    }
    text.split_once("\\n").map_or(text, |(first, _)| first)
}

fn depth(path: &str) -> usize {
    path.matches('/').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(path: &str, text: &str) -> TreeNode {
        TreeNode {
            path: path.to_owned(),
            text: text.to_owned(),
            decoded: None,
            truncated: false,
            data_length: text.len() as u64,
            modified: 0,
            version: Some(0),
            mzxid: Some(1),
            ephemeral_owner: None,
        }
    }

    #[test]
    fn of_a_binary_payload_the_first_line_is_shown() {
        let text = format!("{}\\n\\u{{0}}\\xff", r#"{"format":1}"#);
        let table = Tree {
            nodes: vec![node("/x", &text), node("/x/y", "a\\nb")],
        }
        .table(&View::plain(0));
        assert!(
            table.contains("= {\"format\":1}\n") && table.contains("bytes in all"),
            "{table}"
        );
        assert!(!table.contains("\\u{") && table.contains("= a\\nb"), "{table}");
    }

    #[test]
    fn long_payloads_are_wrapped_and_cut_within_100_columns() {
        let tree = Tree {
            nodes: vec![
                node("/flink/default", ""),
                node("/flink/default/x", &"ä".repeat(9000)),
            ],
        };
        let text = tree.table(&View::plain(0));
        assert!(text.starts_with("/flink/default\n  x\n      = ää"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(text.contains("(18000 bytes in all)"));
    }
}
