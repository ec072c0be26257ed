use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ha_core::Result;
use ha_core::environment::Clock;
use ha_core::jobs::JobResultStore as _;
use ha_storage::{FileKind, FileSystemJobResultStore, HaStorage, Survey};

use super::read_storage::{placed, recorded};
use super::snapshot::{Placed, Stored};
use crate::cluster::millis;

/// After this long a result that could not be read is read once more: Flink writes them in place, and they are empty
/// for a moment.
const PAUSE: Duration = Duration::from_millis(500);

/// What a Flink cluster recorded of jobs that ended; nothing before 1.15. Of its other files only what pointers name is
/// looked at.
pub(super) async fn read(
    storage: &HaStorage,
    results: Option<&FileSystemJobResultStore>,
    clock: &dyn Clock,
) -> Result<Stored> {
    const NOT_FLINKS: &str = "it is not checked on Flink's layout";
    let mut stored = Stored {
        uri: storage.uri().to_owned(),
        identity: Placed {
            place: storage.uri().to_owned(),
            what: None,
        },
        unwritable: Err(NOT_FLINKS.to_owned()),
        foreign: Vec::new(),
        unnamed: Err(NOT_FLINKS.to_owned()),
        unreadable: Err(NOT_FLINKS.to_owned()),
        results: BTreeMap::new(),
        unreadable_results: Vec::new(),
        now: clock.wall_time_millis(),
    };
    let Some(results) = results else {
        return Ok(stored);
    };
    let mut unreadable = add_results(storage, results, &mut stored).await?;
    if !unreadable.is_empty() {
        clock.sleep(PAUSE).await;
        let again = add_results(storage, results, &mut stored).await?;
        unreadable.retain(|place, _| again.contains_key(place));
    }
    stored.unreadable_results = placed(unreadable);
    Ok(stored)
}

/// Gives what cannot be read, with the reason.
async fn add_results(
    storage: &HaStorage,
    results: &FileSystemJobResultStore,
    stored: &mut Stored,
) -> Result<BTreeMap<String, String>> {
    let survey = Survey::undated(storage, results).await?;
    let files = survey.files().iter().filter(|file| file.kind == FileKind::Result);
    let newest = files.map(|file| millis(file.last_modified)).max();
    stored.now = stored.now.max(newest.unwrap_or(0));
    stored.results = recorded(&survey);
    let foreign: BTreeSet<_> = survey.foreign().iter().map(|file| file.place.as_str()).collect();
    let (dirty, clean) = (results.dirty_results().await?, results.clean_results().await?);
    let unreadable = dirty.broken.into_iter().chain(clean.broken);
    Ok(unreadable
        .filter(|entry| !foreign.contains(entry.path.as_str()))
        .map(|entry| (entry.path, entry.reason))
        .collect())
}
