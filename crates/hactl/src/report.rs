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

    /// The same in pieces, for what may be long: each is made when it is asked for.
    fn pieces<'a>(&'a self, view: &'a View) -> Box<dyn Iterator<Item = String> + 'a> {
        Box::new(std::iter::once_with(|| self.table(view)))
    }

    /// In one sentence, that there is nothing to show. It goes to stderr, beside an empty table or list.
    fn emptiness(&self) -> Option<String> {
        None
    }

    /// Whether it says that nothing is wrong.
    fn is_healthy(&self) -> bool {
        true
    }
}

/// A whole answer for people, in pieces: the cluster, the table, what is broken.
pub(crate) fn pieces_of<'a, T: Body>(
    report: &'a Report<T>,
    view: &'a View,
) -> impl Iterator<Item = String> + use<'a, T> {
    let heading = || {
        let cluster = &report.cluster;
        let first = format!("Cluster {} ({}) at ", cluster.cluster_id, cluster.mode);
        let mut text = String::new();
        render::push_words(&mut text, &first, &render::escaped(&cluster.location), "  ");
        text.push('\n');
        text
    };
    std::iter::once_with(heading)
        .chain(report.body.pieces(view))
        .chain(std::iter::once_with(|| render::broken_section(&report.broken)))
}

/// The same in one.
#[cfg(test)]
pub(crate) fn text_of<T: Body>(report: &Report<T>, view: &View) -> String {
    pieces_of(report, view).collect()
}
