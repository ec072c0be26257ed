use ha_core::ids::JobId;
use ha_storage::ObservedFile;
use serde::Serialize;

use crate::render;

/// What is done to a znode or file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// A znode is made.
    CreateZnode,
    /// A znode gets other data.
    SetZnode,
    /// A znode is deleted.
    DeleteZnode,
    /// A file is written.
    WriteFile,
    /// A file is deleted.
    DeleteFile,
    /// A process of the cluster is asked over REST.
    SendRequest,
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// Nothing yet: this is a dry run.
    Planned,
    /// It was made.
    Applied,
    /// It was not made: it was made already, or something kept it from being made.
    NotApplied,
    /// Whether it was made could not be found out.
    Unknown,
}

/// One change: a znode or file, and what is done to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// `createZnode`, `setZnode`, `deleteZnode`, `writeFile`, `deleteFile` or `sendRequest`.
    pub action: Action,
    /// The znode or the file; of a request its method and URL.
    pub path: String,
    /// The size of what is written or deleted, in bytes; `null` where it is not known before.
    pub size: Option<u64>,
    /// The job that it belongs to, where it is one job's.
    pub job_id: Option<JobId>,
    /// `planned` in a dry run; else `applied`, `notApplied` or `unknown`.
    pub outcome: Outcome,
}

impl Change {
    /// A change that was not made yet.
    pub(crate) fn new(action: Action, path: impl Into<String>, size: u64, job_id: Option<JobId>) -> Self {
        Self {
            action,
            path: path.into(),
            size: Some(size),
            job_id,
            outcome: Outcome::Planned,
        }
    }

    /// The deletion of a file.
    pub(crate) fn delete_file(file: &ObservedFile) -> Self {
        Self::new(Action::DeleteFile, file.place.clone(), file.size, file.owner)
    }

    /// Whether it is about a znode.
    pub(crate) fn is_of_znode(&self) -> bool {
        matches!(
            self.action,
            Action::CreateZnode | Action::SetZnode | Action::DeleteZnode
        )
    }

    /// For people: two lines, the path on one of its own, to be copied whole.
    pub(crate) fn push_to(&self, text: &mut String) {
        let what = match self.action {
            Action::CreateZnode => "create znode",
            Action::SetZnode => "set znode",
            Action::DeleteZnode => "delete znode",
            Action::WriteFile => "write file",
            Action::DeleteFile => "delete file",
            Action::SendRequest => "send",
        };
        let outcome = match self.outcome {
            Outcome::Planned => "",
            Outcome::Applied => "done: ",
            Outcome::NotApplied => "NOT DONE: ",
            Outcome::Unknown => "UNKNOWN: ",
        };
        text.push_str(&format!("  {outcome}{what}"));
        if let Some(size) = self.size {
            text.push_str(&format!(", {}", render::size(size)));
        }
        if let Some(job_id) = self.job_id {
            text.push_str(&format!(", job {job_id}"));
        }
        text.push('\n');
        render::push_words(text, "    ", &render::escaped(&self.path), "    ");
    }
}
