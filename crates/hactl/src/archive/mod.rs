//! The file that `export` writes and `import` reads.
//!
//! A tar archive (ustar) of regular files only, so that anybody can look into it with `tar`:
//!
//! ```text
//! export.json        one line of JSON: format, the cluster that it is of, the program that wrote it
//! files/…            files of the cluster's folder, as they are (jobgraphs/…, jobs/…, blobs/…)
//! results/…          results, as they are
//! znodes.jsonl       one znode a line, as JSON; only of a cluster on ZooKeeper
//! manifest.jsonl     name, size and SHA-256 of each entry before it, one a line
//! ```
//!
//! Files stand before the pointers that name them, and the manifest last: what was cut off has none. Nothing is trusted
//! that is read: names, kinds, lengths and digests are verified before anything of it is used.

mod contents;
mod entry_writer;
mod format;
mod local;
mod reader;
mod writer;
mod znode;

pub(crate) use contents::{ArchivedFile, Contents};
pub(crate) use format::Head;
pub(crate) use reader::ArchiveReader;
pub(crate) use writer::ArchiveWriter;
pub(crate) use znode::Znode;

#[cfg(test)]
mod tests;
