use std::sync::Mutex;

use ha_core::error::{Error, ErrorKind, Result};
use ha_core::health::HealthMonitor;

use crate::folder::{DurableFolder, FolderBirth, RelativePath};
use crate::shared::lock;

/// Notices that the folder vanished while the process runs. On a fresh start a missing folder means that
/// nothing is recorded; later it means that nothing is known, and a finished job must not run again by accident.
pub(super) struct FolderWatch {
    folder: DurableFolder,
    health: HealthMonitor,
    seen: Mutex<Option<FolderBirth>>,
}

impl FolderWatch {
    pub(super) fn new(folder: DurableFolder, health: HealthMonitor) -> Self {
        Self {
            folder,
            health,
            seen: Mutex::new(None),
        }
    }

    /// Fails when the folder is not the one that was seen before, so that the absence of a file in it proves
    /// nothing.
    pub(super) async fn check(&self) -> Result<()> {
        let now = self.folder.birth().await?;
        let is_same = {
            let mut seen = lock(&self.seen);
            match (*seen, now) {
                (Some(seen), now) => now == Some(seen),
                (None, now) => {
                    *seen = now;
                    true
                }
            }
        };
        let place = self.folder.display(&RelativePath::root());
        if is_same {
            self.health.set_condition(&place, None);
            return Ok(());
        }
        let reason = "the folder of the job results vanished while the process ran";
        self.health.set_condition(&place, Some(reason.to_owned()));
        Err(Error::new(ErrorKind::Unavailable, reason)
            .at(place)
            .advise("put it back; or restart the process to accept that earlier results are lost")
            .not_applied())
    }
}
