//! One folder of the storage: durable files under checked names, on an object store.

mod durable_folder;
mod entry;
mod entry_info;
mod fault;
pub(crate) mod local;
mod relative_path;
mod retry;
mod streams;

pub(crate) use durable_folder::{Creation, DurableFolder, LocalBase, at_most};
pub(crate) use entry::{Entry, EntryKind, FileInfo, FolderBirth, is_temporary};
pub(crate) use fault::Fault;
pub(crate) use relative_path::RelativePath;
pub(crate) use streams::TemporaryFile;
