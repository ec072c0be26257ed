//! Finding files that nothing names any more (design §8, Orphan). Finding deletes nothing: [`delete_observed_file`] is for whoever may.
//!
//! # What implies what
//!
//! A file is called an orphan only if in *two* observations, far enough apart, no pointer named it, it was the same
//! file, and it was old by the store's own clock. An observation lists the files first, and only then, after a
//! `sync`, reads what names them: a pointer that was published before the file was listed is seen. One that is
//! published later is of a file that is young, because no pointer is published for a file of half the orphan age;
//! and whoever had begun to publish it has done so, or leads no more, by the second observation.
//!
//! Blobs have no pointers. They are kept as long as their job is known, and before anything of it is, as long as
//! anything that was written of it is young: the last of several uploads, one under way, a graph that is not published
//! yet, the sign that an upload of more than a minute leaves in a store of objects, where the blob itself may be dated
//! by the beginning of its upload. Whoever uploads for long is therefore not overtaken, but whoever lets the orphan age pass between the last
//! upload and the job graph is. And a job graph may be published right after the second observation: blobs are to be
//! deleted by nobody but a leader that was one before that observation began.
//!
//! What cannot be told is kept: a pointer that cannot be read keeps all files of its job, and a tree that looks as if
//! it had been lost, or belongs to somebody else, keeps everything.

mod decision;
mod file_backed;
mod observation;
mod observed_file;
mod removal;
mod report;
mod restored_tree;
mod rules;
mod survey;

pub use decision::decide;
pub use file_backed::{find_file_backed_orphans, observe_file_backed};
pub use observation::{Observation, Protection};
pub use observed_file::{FileKind, ForeignFile, ObservedFile};
pub use removal::delete_observed_file;
pub use report::{Orphan, OrphanReport, Refusal};
pub use rules::OrphanRules;
pub use survey::{Dating, Survey};

#[cfg(test)]
mod tests;
