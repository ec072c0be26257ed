use ha_core::health::BrokenEntry;
use ha_core::{Error, ErrorKind, Result};
use ha_storage::{CarriedFile, FileSystemJobResultStore, Survey};

use super::copying::{Archiving, Copied};
use super::export::foreign_entry;

/// How often what changes meanwhile is looked at again.
pub(super) const ROUNDS: usize = 8;

impl Archiving {
    /// The results that are there now, sorted; what is foreign there is broken.
    pub(super) async fn list_results(
        results: &FileSystemJobResultStore,
        broken: &mut Vec<BrokenEntry>,
    ) -> Result<Vec<CarriedFile>> {
        let (files, foreign) = Survey::results(results).await?;
        broken.extend(foreign.into_iter().map(foreign_entry));
        let mut found: Vec<_> = files.iter().filter_map(CarriedFile::observed).collect();
        // A result that is marked clean meanwhile is found under one of its names: the dirty one goes last.
        found.sort_by_key(ToString::to_string);
        Ok(found)
    }

    /// Copies results; `false` when one went meanwhile, as it does when it is marked clean.
    pub(super) async fn copy_results(
        &mut self,
        files: &[CarriedFile],
        broken: &mut Vec<BrokenEntry>,
    ) -> Result<bool> {
        let mut is_whole = true;
        for file in files {
            match self.copy(file, None).await? {
                Copied::Whole => {}
                Copied::Missing => is_whole = false,
                Copied::Broken(error) => broken.push(entry_of(file, self.carrier.place(file), &error)),
            }
        }
        Ok(is_whole)
    }
}

/// A file that cannot be used.
pub(super) fn entry_of(file: &CarriedFile, place: String, error: &Error) -> BrokenEntry {
    BrokenEntry::from_error(file.owner().to_string(), place, error)
}

/// The cluster changes faster than it is read.
pub(super) fn restless(place: String) -> Error {
    Error::new(ErrorKind::Conflict, "it changes faster than it can be read")
        .at(place)
        .advise("export again, or stop the cluster before")
        .not_applied()
}
