use serde::Serialize;

use super::{Change, Outcome};
use crate::render::{self, View};
use crate::report::Body;

/// What a writing command would change, or has changed.
///
/// ```json
/// {"clusterId":"one","mode":"filesystem","location":"/data/one","command":"gc","applied":false,"changes":[
///   {"action":"deleteFile","path":"/data/one/blobs/0101…/p-…","size":1536,
///    "jobId":"01010101010101010101010101010101","outcome":"planned"}],"notes":[],"broken":[]}
/// ```
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Changes {
    /// The command: `gc`, `cleanup`, `job forget`, `checkpoint restore`, `import` or `doctor --accept-empty-tree`.
    pub command: String,
    /// Whether `--apply` was given; `false` for a dry run, in which nothing is changed.
    pub applied: bool,
    /// The changes, in the order in which they are made.
    pub changes: Vec<Change>,
    /// What else is to be known.
    pub notes: Vec<String>,
}

impl Changes {
    fn summary(&self) -> String {
        let files = self.changes.iter().filter(|change| !change.is_of_znode());
        let bytes = files.clone().filter_map(|change| change.size);
        let bytes = render::size(bytes.fold(0, u64::saturating_add));
        let files = files.count();
        let znodes = self.changes.len() - files;
        let what = match (znodes, files) {
            (0, files) => format!("{} ({bytes})", counted(files, "file")),
            (znodes, 0) => counted(znodes, "znode"),
            (znodes, files) => format!(
                "{} and {} ({bytes})",
                counted(znodes, "znode"),
                counted(files, "file")
            ),
        };
        let applied = |change: &&Change| change.outcome == Outcome::Applied;
        match (self.applied, self.changes.is_empty()) {
            (false, true) => format!("{}: there is nothing to change.", self.command),
            (false, false) => format!(
                "Dry run of {}: nothing was changed. With --apply it changes {what}:",
                self.command
            ),
            (true, true) => format!("{}: there was nothing to change.", self.command),
            (true, false) => format!(
                "{}: {} of {} done; planned were {what}:",
                self.command,
                self.changes.iter().filter(applied).count(),
                counted(self.changes.len(), "change")
            ),
        }
    }
}

fn counted(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    }
}

/// For people: the changes, then the notes.
pub(crate) fn push_changes(text: &mut String, changes: &[Change], notes: &[String]) {
    for change in changes {
        change.push_to(text);
    }
    for note in notes {
        render::push_words(text, "\n", &render::escaped(note), "  ");
    }
}

impl Body for Changes {
    fn table(&self, _view: &View) -> String {
        let mut text = String::new();
        render::push_words(&mut text, "", &self.summary(), "  ");
        push_changes(&mut text, &self.changes, &self.notes);
        text
    }

    /// What is broken beside the changes is no fault of the command.
    fn is_healthy(&self) -> bool {
        true
    }
}
