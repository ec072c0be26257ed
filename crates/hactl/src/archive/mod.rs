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

#[expect(dead_code, reason = "import reads the rest")]
mod contents;
mod entry_writer;
mod format;
mod local;
#[cfg_attr(not(test), expect(dead_code, reason = "import reads contents"))]
mod reader;
mod writer;
mod znode;

#[cfg(test)]
pub(crate) use contents::Contents;
pub(crate) use format::Head;
#[cfg(test)]
pub(crate) use reader::ArchiveReader;
pub(crate) use writer::ArchiveWriter;
pub(crate) use znode::Znode;

#[cfg(test)]
mod tests;
