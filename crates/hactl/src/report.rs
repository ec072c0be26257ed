use ha_core::health::BrokenEntry;
use serde::Serialize;

use crate::cluster::ClusterHeader;
use crate::render::{self, View};

/// The answer of a command: what was read, what it is, and what could not be read.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report<T> {
    /// The cluster.
    #[serde(flatten)]
    pub cluster: ClusterHeader,
    /// The command's own fields.
    #[serde(flatten)]
    pub body: T,
    /// What is broken or foreign; it was left as it is.
    pub broken: Vec<BrokenEntry>,
}

/// The body of a command's answer.
pub(crate) trait Body: Serialize {
    /// For people.
    fn table(&self, view: &View) -> String;

    /// In one sentence, that there is nothing to show. It goes to stderr, beside an empty table or list.
    fn emptiness(&self) -> Option<String> {
        None
    }

    /// Whether it says that nothing is wrong.
    fn is_healthy(&self) -> bool {
        true
    }
}

/// A whole answer for people: the cluster, the table, what is broken.
pub(crate) fn text_of<T: Body>(report: &Report<T>, view: &View) -> String {
    let mut text = String::new();
    render::push_words(
        &mut text,
        &format!(
            "Cluster {} ({}) at ",
            report.cluster.cluster_id, report.cluster.mode
        ),
        &render::escaped(&report.cluster.location),
        "  ",
    );
    text.push('\n');
    text.push_str(&report.body.table(view));
    text.push_str(&render::broken_section(&report.broken));
    text
}
