use futures::{StreamExt as _, TryStreamExt as _, stream};
use ha_core::health::BrokenEntry;
use ha_core::ids::JobId;
use ha_core::{Error, ErrorKind, Result};
use ha_storage::{HaStorage, ListedState, StateFile, owner_of_state};

use super::read_tree::{TreeReader, reason};
use super::snapshot::FileState;

/// How many state files are read, and so held in memory, at a time.
const FILES_AT_A_TIME: usize = 4;

impl TreeReader<'_> {
    /// Reads the file of each pointer that was added, and keeps the pointers that are not as they should be.
    pub(super) async fn look_at_files(&mut self) -> Result<()> {
        let mut pending = std::mem::take(&mut self.pending);
        let Some(storage) = self.storage else {
            pending.retain(|(pointer, _)| pointer.named.is_err());
            let pointers = pending.into_iter().map(|(pointer, _)| pointer);
            self.read.tree.pointers.extend(pointers);
            return Ok(());
        };
        let nodes = self.nodes;
        let mut reads = stream::iter(pending)
            .map(|(mut pointer, file)| async move {
                let (Ok(named), Some((file, mzxid))) = (&mut pointer.named, file) else {
                    return Result::Ok((Some(pointer), None));
                };
                named.place = storage.display(&named.file);
                let (state, error) = match owner_of_state(file.kind, &file.path) == Some(pointer.job_id) {
                    true => look(storage, &file, pointer.job_id).await,
                    false => (FileState::Misplaced, None),
                };
                named.state = state;
                match named.state {
                    FileState::Whole => return Ok((None, None)),
                    FileState::Misplaced => return Ok((Some(pointer), None)),
                    _ => {}
                }
                // A cluster at work replaces pointers and then their files.
                nodes.sync(&pointer.path).await?;
                let now = nodes.get(&pointer.path).await?;
                let is_same = now.is_some_and(|node| node.stat.mzxid == mzxid);
                Ok(if is_same {
                    (Some(pointer), error)
                } else {
                    (None, None)
                })
            })
            .buffered(FILES_AT_A_TIME);
        while let Some((pointer, error)) = reads.try_next().await? {
            if let (Some(pointer), Some(error)) = (&pointer, &error) {
                let entry = BrokenEntry::from_error(pointer.job_id.to_string(), &pointer.path, error);
                self.read.broken.push(entry);
            }
            self.read.tree.pointers.extend(pointer);
        }
        Ok(())
    }
}

/// What became of a file, and the error of one that could not be read.
async fn look(storage: &HaStorage, file: &StateFile, owner: JobId) -> (FileState, Option<Error>) {
    let error = match storage.get_state(file).await {
        Ok(_) => return (FileState::Whole, None),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::NotFound => (FileState::Missing, None),
        ErrorKind::Corrupt => {
            let listed = ListedState {
                kind: file.kind,
                owner,
                path: file.path.clone(),
                size: file.size,
                last_modified: std::time::UNIX_EPOCH,
            };
            // One that is whole by its own header was put there by another write.
            match storage.read_listed(&listed).await {
                Ok(Some(_)) => (FileState::Other(reason(&error)), None),
                _ => (FileState::Torn(reason(&error)), None),
            }
        }
        _ => (FileState::Unknown, Some(error)),
    }
}
