use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ha_core::environment::Clock;
use ha_core::health::BrokenEntry;
use ha_core::ids::JobId;
use ha_core::jobs::JobResultStore as _;
use ha_core::{Error, Result};
use ha_storage::{
    FileKind, FileSystemJobResultStore, ForeignFile, HaStorage, ObservedFile, StateKind, Survey,
};
use rustix::fs::{Access, access};

use super::snapshot::{FileState, Placed, RecordedEnd, Stored, Tree, Unreached};
use super::state_files::StateFiles;
use crate::cluster::millis;

/// The ending of a result's name while the clean-up is not complete.
const DIRTY: &str = "_DIRTY.json";

/// The files of a cluster as they were before its pointers were read.
pub(super) struct StorageReader<'a> {
    storage: &'a HaStorage,
    states: StateFiles,
    /// Where files lie that are state and pointer in one.
    file_backed: Vec<String>,
    stored: Stored,
}

impl<'a> StorageReader<'a> {
    /// Lists all files, and reads the results.
    pub(super) async fn read(
        storage: &'a HaStorage,
        results: &FileSystemJobResultStore,
        clock: &dyn Clock,
    ) -> Result<Self> {
        let survey = Survey::undated(storage, results).await?;
        let identity = match storage.read_identity().await {
            Ok(identity) => identity.map(Ok),
            Err(error) if error.is_retryable() => return Err(error),
            Err(error) => Some(Err(error.message().to_owned())),
        };
        let (dirty, clean) = (results.dirty_results().await?, results.clean_results().await?);
        let foreign: BTreeSet<_> = survey.foreign().iter().map(|file| file.place.as_str()).collect();
        let mut unreadable = BTreeMap::new();
        // What is foreign is told by both, and by the survey.
        for entry in dirty.broken.into_iter().chain(clean.broken) {
            if !foreign.contains(entry.path.as_str()) {
                unreadable.insert(entry.path, entry.reason);
            }
        }
        let newest = survey.files().iter().map(|file| millis(file.last_modified)).max();
        let stored = Stored {
            uri: storage.uri().to_owned(),
            identity: Placed {
                place: storage.display("identity.json"),
                what: identity,
            },
            unwritable: unwritable(storage),
            foreign: survey.foreign().to_vec(),
            unnamed: Err("without pointers every state file stands for itself".to_owned()),
            unreadable: Err("with pointers a state file is read by its pointer".to_owned()),
            results: recorded(&survey),
            unreadable_results: placed(unreadable),
            now: newest.unwrap_or(0).max(clock.wall_time_millis()),
        };
        let files = survey.into_files();
        let is_file_backed = |file: &&ObservedFile| file.kind == FileKind::FileBacked;
        Ok(Self {
            storage,
            file_backed: files
                .iter()
                .filter(is_file_backed)
                .map(|file| file.place.clone())
                .collect(),
            states: StateFiles::among(files),
            stored,
        })
    }

    /// The state files, for whoever reads what names them.
    pub(super) const fn states(&mut self) -> &mut StateFiles {
        &mut self.states
    }

    /// What there is, where the pointers in `tree` name files. It must have been read after the files, and what they name
    /// must have been noted.
    pub(super) async fn beside(mut self, tree: &Tree) -> Result<Stored> {
        let foreign = self.file_backed.drain(..).map(|place| ForeignFile {
            place,
            reason: "it is a file of the mode filesystem, in the folder of a cluster on ZooKeeper".to_owned(),
        });
        self.stored.foreign.extend(foreign);
        self.stored.unnamed = match fits(tree, &self.stored) {
            true => Ok(self.unnamed(tree).await?),
            false => Err("tree and storage are not known to be of one cluster".to_owned()),
        };
        Ok(self.stored)
    }

    /// What there is, where there are no pointers: `broken` is what reading the files told.
    pub(super) fn alone(mut self, broken: Vec<BrokenEntry>) -> Stored {
        let foreign: BTreeSet<_> = self
            .stored
            .foreign
            .iter()
            .map(|file| file.place.as_str())
            .collect();
        let unreadable = broken
            .into_iter()
            .filter(|entry| !foreign.contains(entry.path.as_str()));
        let unreadable = placed(unreadable.map(|entry| (entry.path, entry.reason)));
        self.stored.unreadable = Ok(unreadable);
        self.stored
    }

    /// The state files that no pointer names, and that are still there.
    async fn unnamed(&self, tree: &Tree) -> Result<Vec<Placed<u64>>> {
        // A pointer that cannot be read, or leads elsewhere, does not say which file of its job is needed.
        let kept: BTreeSet<_> = tree
            .pointers
            .iter()
            .filter(|pointer| {
                let named = pointer.named.as_ref();
                named.is_ok_and(|named| named.state == FileState::Misplaced) || named.is_err()
            })
            .map(|pointer| pointer.job_id)
            .collect();
        let unnamed = self.states.unnamed().filter(|file| !kept.contains(&file.owner));
        let mut unnamed: BTreeMap<_, _> = unnamed
            .map(|file| {
                let place = self.storage.display(&file.path);
                let what = file.last_modified;
                (&*file.path, Placed { place, what })
            })
            .collect();
        if unnamed.is_empty() {
            return Ok(Vec::new());
        }
        // A checkpoint that was replaced meanwhile took its file along.
        let mut still = BTreeSet::new();
        for kind in [StateKind::JobGraph, StateKind::Checkpoint] {
            let listed = self.storage.list_states(kind, None).await?;
            still.extend(listed.into_iter().map(|listed| listed.path));
        }
        unnamed.retain(|path, _| still.contains(*path));
        Ok(unnamed.into_values().collect())
    }
}

/// Why the storage could not be read.
pub(super) fn unreached(error: &Error, place: &str) -> Unreached {
    Unreached {
        place: error.subject().unwrap_or(place).to_owned(),
        reason: error.message().to_owned(),
    }
}

fn fits(tree: &Tree, stored: &Stored) -> bool {
    matches!(
        (&tree.identity.what, &stored.identity.what),
        (Some(Ok(node)), Some(Ok(file))) if node.cluster_uuid == file.cluster_uuid
            && file.tree.as_ref().is_none_or(|other| *other == tree.cluster)
    )
}

pub(super) fn recorded(survey: &Survey) -> BTreeMap<JobId, RecordedEnd> {
    let mut ends = BTreeMap::<JobId, RecordedEnd>::new();
    for file in survey.files().iter().filter(|file| file.kind == FileKind::Result) {
        if let Some(owner) = file.owner {
            let end = ends.entry(owner).or_default();
            let found = Some(Placed {
                place: file.place.clone(),
                what: millis(file.last_modified),
            });
            match file.path.ends_with(DIRTY) {
                true => end.dirty = found,
                false => end.clean = found,
            }
        }
    }
    ends
}

pub(super) fn placed(entries: impl IntoIterator<Item = (String, String)>) -> Vec<Placed<String>> {
    entries
        .into_iter()
        .map(|(place, what)| Placed { place, what })
        .collect()
}

/// The folders to which this user may not write. Asks for the permission only.
fn unwritable(storage: &HaStorage) -> std::result::Result<Vec<Placed<String>>, String> {
    let folder = storage
        .local_folder()
        .ok_or("whether a remote storage takes writes can be told by writing only")?;
    let below = std::fs::read_dir(&folder).into_iter().flatten();
    let below = below
        .filter_map(std::result::Result::ok)
        .map(|entry| entry.path());
    let mut folders: Vec<_> = below.filter(|path| path.is_dir()).collect();
    folders.push(match folder.is_dir() {
        true => folder,
        // It is to be made.
        false => folder.parent().unwrap_or(&folder).to_owned(),
    });
    folders.sort();
    Ok(folders
        .into_iter()
        .filter_map(|folder| {
            let refused = refused(&folder)?;
            Some(Placed {
                place: folder.display().to_string(),
                what: refused,
            })
        })
        .collect())
}

fn refused(folder: &Path) -> Option<String> {
    let error = access(folder, Access::WRITE_OK | Access::EXEC_OK).err()?;
    Some(std::io::Error::from(error).to_string())
}
