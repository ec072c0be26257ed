//! What stores of objects do otherwise than local folders.

use bytes::Bytes;
use futures::TryStreamExt as _;
use ha_core::error::Result;
use object_store::PutMode;

use super::fault::Fault;
use super::{ConditionalPuts, DurableFolder, Entry, EntryKind, FileInfo, RelativePath};

impl DurableFolder {
    pub(super) async fn list_objects(&self, folder: &RelativePath) -> Result<Vec<Entry>, Fault> {
        let found = self.store.list_with_delimiter(Some(&self.key(folder))).await?;
        let entry = |path: &object_store::path::Path, kind, last_modified| Entry {
            name: path.filename().unwrap_or_default().to_owned(),
            kind,
            last_modified,
        };
        let folders = found
            .common_prefixes
            .iter()
            .map(|path| entry(path, EntryKind::Folder, None));
        let files = found
            .objects
            .iter()
            .map(|meta| entry(&meta.location, EntryKind::File, Some(meta.last_modified.into())));
        Ok(folders.chain(files).collect())
    }

    /// Fails when the store does not answer for this folder: where a bucket is missing, so is every file, which
    /// would prove nothing. Costs one request, however many files there are.
    pub(super) async fn reach_objects(&self) -> Result<()> {
        let root = RelativePath::root();
        // Behind all names of ours, so that nothing is listed. (A `~` would be encoded, and stand before them.)
        let last = self.key(&root).join("zzzzzzzz");
        self.retrying("reach the store", &root, || async {
            let mut behind = self.store.list_with_offset(Some(&self.key(&root)), &last);
            Ok(behind.try_next().await.map(drop)?)
        })
        .await
        .map(drop)
    }

    /// Writes `probe` and deletes it, which proves that the folder can be written, and gives its time by the store's
    /// clock. Of a store of objects it finds out whether it creates conditionally.
    ///
    /// # Errors
    /// `Denied`, `Unavailable`.
    pub(crate) async fn try_out(&self, probe: &RelativePath) -> Result<Option<FileInfo>> {
        let content = Bytes::from_static(b"marker\n");
        match self.conditional_puts() {
            None => drop(self.create(probe, content).await?),
            Some(puts) => match self.put(probe, content.clone(), PutMode::Create).await {
                Ok(()) => match self.put(probe, content, PutMode::Create).await {
                    Ok(()) => self.note_conditional_puts(puts, false),
                    Err(fault) if fault.is_already_exists() => self.note_conditional_puts(puts, true),
                    // It is found out the next time.
                    Err(fault) => tracing::warn!(%fault, "the store was not tried out"),
                },
                Err(fault) => {
                    if fault.is_unsupported() {
                        self.note_conditional_puts(puts, false);
                    }
                    self.replace(probe, content).await?;
                }
            },
        }
        let info = self.stat(probe).await;
        self.delete(probe).await?;
        info
    }

    fn note_conditional_puts(&self, puts: &ConditionalPuts, are_honoured: bool) {
        if puts.note(are_honoured) && !are_honoured {
            tracing::warn!(
                folder = self.display(&RelativePath::root()),
                "the store does not refuse to create a file that is there: two processes that make the identity of a \
                 cluster at once are told apart by its znode only, and nothing keeps a second cluster from this folder \
                 before it leads"
            );
        }
    }
}
