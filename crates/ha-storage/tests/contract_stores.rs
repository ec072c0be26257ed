//! The contracts of the file-backed stores, on a local folder and in memory.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

#[macro_use]
mod file_backed;
mod places;

contracts!(filesystem, crate::places::Stores::in_folder);
contracts!(memory, crate::places::Stores::in_memory);
