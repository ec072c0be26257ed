use std::io;
use std::time::SystemTime;

use ha_core::error::Result;
use object_store::ObjectStoreExt as _;
use object_store::path::Path as ObjectPath;

use super::fault::Fault;
use super::{DurableFolder, FileInfo, RelativePath, local};

impl DurableFolder {
    /// What the store knows of a file that a listing of `folder` showed, whatever its name; `None` when it is gone, or
    /// no regular file any more. No symbolic link is followed.
    pub(crate) async fn stat_entry(&self, folder: &RelativePath, name: &str) -> Result<Option<FileInfo>> {
        let Some(path) = self.local_path_of(folder) else {
            return self.stat_object(folder, name).await;
        };
        self.retrying("look up the file", folder, || async {
            if self.guard(folder, true).await?.is_none() {
                return Err(gone());
            }
            let path = path.join(name);
            let metadata = local::blocking(move || std::fs::symlink_metadata(path)).await?;
            match metadata.is_file() {
                true => local::file_info(&metadata),
                false => Err(gone()),
            }
        })
        .await
    }

    async fn stat_object(&self, folder: &RelativePath, name: &str) -> Result<Option<FileInfo>> {
        self.retrying("look up the file", folder, || async {
            // The store's own listing gave the name, so it is written as the store writes it.
            let path = match self.key(folder).as_ref() {
                "" => ObjectPath::parse(name),
                folder => ObjectPath::parse(format!("{folder}/{name}")),
            }
            .map_err(object_store::Error::from)?;
            let meta = self.store.head(&path).await?;
            Ok(FileInfo {
                size: meta.size,
                last_modified: SystemTime::from(meta.last_modified),
                version: meta.e_tag.unwrap_or_else(|| meta.last_modified.to_string()),
            })
        })
        .await
    }
}

fn gone() -> Fault {
    Fault::Io(io::Error::from(io::ErrorKind::NotFound))
}
