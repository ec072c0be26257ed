//! Deleting what was observed.

use ha_core::error::{Error, ErrorKind, Result};
use ha_core::ids::{BlobKey, JobId};

use super::observed_file::{FileKind, ObservedFile};
use crate::folder::{RelativePath, is_temporary};
use crate::results::{FileSystemJobResultStore, ResultName, parse_result_name};
use crate::state::state_path;
use crate::storage::HaStorage;

/// Deletes a file durably, if it still is the one that was observed, and the folders of its job that are empty then.
/// `false`: it was not there any more.
///
/// Nothing here knows whether it is needed: whoever calls this has found out, and may delete.
///
/// # Errors
/// `Conflict` (not applied) when another file stands in its place; `Invalid` (not applied) when the path is none of its
/// kind; `Denied`, `Unavailable`.
pub async fn delete_observed_file(
    storage: &HaStorage,
    results: &FileSystemJobResultStore,
    file: &ObservedFile,
) -> Result<bool> {
    let is_of_results = file.kind == FileKind::Result || storage.display(&file.path) != file.place;
    let folder = match is_of_results {
        true => results.folder(),
        false => storage.folder(),
    };
    let (parent, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    let parent = match parent {
        "" => RelativePath::root(),
        parent => RelativePath::parse(parent)?,
    };
    if !is_of_its_kind(file, &parent, name) {
        return Err(Error::invalid(format!("it is no path of a {:?}", file.kind)).at(file.place.clone()));
    }
    match folder.stat_entry(&parent, name).await? {
        None => return Ok(false),
        Some(now) if now.size == file.size && now.last_modified == file.last_modified => {}
        Some(_) => {
            return Err(
                Error::new(ErrorKind::Conflict, "the file changed since it was looked at")
                    .at(file.place.clone())
                    .not_applied()
                    .advise("run the command again: it looks again"),
            );
        }
    }
    let deleted = folder.delete_entry(&parent, name).await?;
    if let Some(owner) = file.owner.filter(|_| !is_of_results) {
        storage.tidy_job(owner).await;
        storage
            .folder()
            .remove_if_empty(&state_path::blob_folder(owner))
            .await;
    }
    Ok(deleted)
}

fn is_of_its_kind(file: &ObservedFile, parent: &RelativePath, name: &str) -> bool {
    match file.kind {
        FileKind::Temporary => is_temporary(name),
        FileKind::Result => matches!(parse_result_name(name), ResultName::Of(..)),
        FileKind::Blob => {
            let is_of = |owner: JobId| *parent == state_path::blob_folder(owner);
            name.parse::<BlobKey>().is_ok() && file.owner.is_some_and(is_of)
        }
        FileKind::JobGraph | FileKind::Checkpoint | FileKind::FileBacked => state_path::is_state(&file.path),
    }
}
