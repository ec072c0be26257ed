use ha_core::environment::Environment;
use ha_core::error::{ErrorKind, Result};
use uuid::Uuid;

use super::decide;
use super::observation::{Backend, Observation, Protection};
use super::observed_file::FileKind;
use super::report::{OrphanReport, Refusal};
use super::rules::OrphanRules;
use super::survey::{Dating, Survey};
use crate::results::FileSystemJobResultStore;
use crate::storage::HaStorage;

/// Finds the orphans of file-backed stores: what interrupted writes left, and the blobs of jobs of which nothing
/// else is there. All other files are state and pointer in one. Takes a little longer than the interval of the
/// rules.
///
/// # Errors
/// `Denied`, `Unavailable`: not everything could be listed, so nothing is known.
pub async fn find_file_backed_orphans(
    storage: &HaStorage,
    results: &FileSystemJobResultStore,
    environment: &Environment,
    rules: &OrphanRules,
) -> Result<OrphanReport> {
    let first = observe_file_backed(Dating::Store, storage, results, environment).await?;
    environment.clock.sleep(rules.interval()).await;
    let second = observe_file_backed(Dating::Store, storage, results, environment).await?;
    Ok(decide(rules, &first, &second))
}

/// One observation of file-backed stores; two of them, as far apart as the rules say, are what [`decide`] takes.
///
/// # Errors
/// Those of [`find_file_backed_orphans`].
pub async fn observe_file_backed(
    dating: Dating,
    storage: &HaStorage,
    results: &FileSystemJobResultStore,
    environment: &Environment,
) -> Result<Observation> {
    let began = environment.clock.now();
    let (cluster_uuid, refusal) = match storage.read_identity().await {
        Ok(Some(identity)) => (identity.cluster_uuid, None),
        Ok(None) => (Uuid::nil(), Some(Refusal::no_storage(storage))),
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            (Uuid::nil(), Some(Refusal::unreadable_identity(&error)))
        }
        Err(error) => return Err(error),
    };
    let (survey, protection) = match refusal {
        // Nothing is written, not even the marker, where it is not known whose folder it is.
        Some(refusal) => (Survey::nothing(), Err(refusal)),
        None => {
            let survey = Survey::make_by(dating, storage, results).await?;
            let protection = protection(&survey);
            (survey, Ok(protection))
        }
    };
    Ok(Observation {
        backend: Backend::Files,
        began,
        ended: environment.clock.now(),
        cluster_uuid,
        survey,
        protection,
    })
}

/// Every file that is state and pointer in one makes its job known.
fn protection(survey: &Survey) -> Protection {
    let mut protection = Protection {
        known_jobs: survey.dirty_jobs.clone(),
        ..Protection::default()
    };
    for file in &survey.files {
        match file.kind {
            FileKind::FileBacked | FileKind::Checkpoint => {
                protection.pointers += 1;
                protection.known_jobs.extend(file.owner);
            }
            // Of a cluster on ZooKeeper in the same folder; no pointer here, and not to be harmed either.
            FileKind::JobGraph => protection.known_jobs.extend(file.owner),
            FileKind::Blob | FileKind::Result | FileKind::Temporary => {}
        }
    }
    protection
}
