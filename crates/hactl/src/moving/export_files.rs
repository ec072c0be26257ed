use ha_core::Result;
use ha_core::health::BrokenEntry;
use ha_storage::{CarriedFile, CarriedKind, FileSystemJobResultStore, HaStorage, StateKind, Survey};

use super::copying::{Archiving, Copied};
use super::export::foreign_entry;
use super::results::{ROUNDS, entry_of, restless};

impl Archiving {
    /// Adds a cluster of the mode `filesystem`, whose files are state and pointer in one. It may be at work: what goes
    /// while it is read has been replaced, so everything is listed again until nothing goes. Counters come after the
    /// checkpoints, results after the job graphs, since a job ends between the two.
    pub(super) async fn add_all_files(
        &mut self,
        storage: &HaStorage,
        results: &FileSystemJobResultStore,
        broken: &mut Vec<BrokenEntry>,
    ) -> Result<()> {
        let mut is_whole = false;
        for _ in 0..ROUNDS {
            let mut found_broken = Vec::new();
            is_whole = self.add_files(storage, results, &mut found_broken).await?;
            if is_whole {
                broken.append(&mut found_broken);
                break;
            }
        }
        for _ in 0..ROUNDS {
            let mut found_broken = Vec::new();
            let found = Self::list_results(results, &mut found_broken).await?;
            if is_whole && self.copy_results(&found, &mut found_broken).await? {
                broken.append(&mut found_broken);
                return Ok(());
            }
        }
        Err(restless(storage.display("")))
    }

    /// `false` when something went meanwhile.
    async fn add_files(
        &mut self,
        storage: &HaStorage,
        results: &FileSystemJobResultStore,
        broken: &mut Vec<BrokenEntry>,
    ) -> Result<bool> {
        let survey = Survey::undated(storage, results).await?;
        broken.extend(survey.foreign().iter().cloned().map(foreign_entry));
        let mut files: Vec<_> = survey.files().iter().filter_map(CarriedFile::observed).collect();
        files.retain(|file| !is_result(file));
        files.sort_by_key(|file| (is_last(file), file.to_string()));
        for file in &files {
            match self.copy(file, None).await? {
                Copied::Whole => {}
                Copied::Missing => return Ok(false),
                Copied::Broken(error) => broken.push(entry_of(file, self.carrier.place(file), &error)),
            }
        }
        Ok(true)
    }
}

fn is_result(file: &CarriedFile) -> bool {
    matches!(file.kind(), CarriedKind::CleanResult | CarriedKind::DirtyResult)
}

/// What is replaced in place: it is read once, when all else is there.
fn is_last(file: &CarriedFile) -> bool {
    matches!(
        file.kind(),
        CarriedKind::State(StateKind::CheckpointIdCounter | StateKind::RunningJob)
    )
}
