//! One folder of the storage: durable files under checked names, on an object store.

mod durable_folder;
mod entry;
mod entry_info;
mod fault;
pub(crate) mod local;
mod objects;
mod place;
mod relative_path;
mod retry;
mod streams;
mod writing;

pub(crate) use durable_folder::{DurableFolder, at_most};
pub(crate) use entry::{Entry, EntryKind, FileInfo, FolderBirth, is_temporary, target_of_temporary};
pub(crate) use fault::Fault;
pub(crate) use place::{ConditionalPuts, LocalBase, Place};
pub(crate) use relative_path::RelativePath;
pub(crate) use streams::{TemporaryFile, Upload};
pub(crate) use writing::Creation;
