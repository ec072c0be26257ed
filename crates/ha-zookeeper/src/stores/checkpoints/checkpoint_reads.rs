use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};

use ha_core::Result;
use ha_storage::StateKind;
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{Mutex, oneshot};

use crate::client::{ZkCode, ZooKeeperClient};
use crate::fence::FencedWriter;
use crate::paths::ClusterPaths;
use crate::stores::pointers::{self, PointerNode};

/// How many folders are listed in one request.
const MAX_FOLDERS: usize = 100;

/// Reads the checkpoint pointers of many jobs in few requests: what is asked for while another reading is under way
/// waits for its end, and is read at once then. Clones share the readings.
#[derive(Clone, Default)]
pub struct CheckpointReads(Arc<Shared>);

#[derive(Default)]
struct Shared {
    wanted: StdMutex<Vec<Wanted>>,
    /// Held by whoever reads.
    turn: Mutex<()>,
}

struct Wanted {
    folder: String,
    /// Dropped where nothing can be said: the folder is to be read alone.
    answer: oneshot::Sender<Option<Vec<PointerNode>>>,
}

impl CheckpointReads {
    /// The pointers in a folder, at least as new as all that was written before the call; see
    /// [`pointers::read_whole`].
    pub(super) async fn read_whole(
        &self,
        writer: &FencedWriter,
        folder: &str,
    ) -> Result<Option<Vec<PointerNode>>> {
        let (answer, mut answered) = oneshot::channel();
        self.wanted().push(Wanted {
            folder: folder.to_owned(),
            answer,
        });
        // A call that is dropped here is answered to nobody, or leaves its turn to the next.
        let turn = self.0.turn.lock().await;
        loop {
            match answered.try_recv() {
                Ok(nodes) => return Ok(nodes),
                // Whoever read it did not come to an end, or failed for the sake of another.
                Err(TryRecvError::Closed) => break,
                Err(TryRecvError::Empty) => {}
            }
            let mut wanted = self.take();
            if wanted.len() > 1 {
                read_together(&*writer.client().await?, wanted).await;
                continue;
            }
            // Nobody waits for this one but its caller.
            wanted.clear();
            return pointers::read_whole(&writer.client().await?, folder, StateKind::Checkpoint).await;
        }
        drop(turn);
        pointers::read_whole(&writer.client().await?, folder, StateKind::Checkpoint).await
    }

    /// The oldest that somebody still waits for.
    fn take(&self) -> Vec<Wanted> {
        let mut wanted = self.wanted();
        wanted.retain(|wanted| !wanted.answer.is_closed());
        let count = wanted.len().min(MAX_FOLDERS);
        wanted.drain(..count).collect()
    }

    fn wanted(&self) -> MutexGuard<'_, Vec<Wanted>> {
        self.0.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads these folders in a sync, a listing, and a read for each 500 pointers. What fails is not answered.
async fn read_together(client: &dyn ZooKeeperClient, wanted: Vec<Wanted>) {
    let folders: Vec<_> = wanted.iter().map(|wanted| wanted.folder.clone()).collect();
    let Some(first) = folders.first() else {
        return;
    };
    // The sync goes first on the wire, and is younger than every call.
    let (synced, listed) = futures::join!(client.sync(first), client.multi_list(&folders));
    let (Ok(()), Ok(listed)) = (synced, listed) else {
        return;
    };
    let (mut open, mut paths) = (Vec::new(), Vec::new());
    for (wanted, names) in wanted.into_iter().zip(listed) {
        let mut names = match names {
            Ok(names) => names,
            Err(error) if error.code == ZkCode::NoNode => Vec::new(),
            Err(_) => continue,
        };
        names.sort_unstable();
        paths.extend(names.iter().map(|name| ClusterPaths::child(&wanted.folder, name)));
        open.push((wanted, names));
    }
    let Ok(read) = pointers::read_paths(client, &paths).await else {
        return;
    };
    let mut read = read.into_iter();
    for (wanted, names) in open {
        let listed = names.len();
        let Ok(nodes) = pointers::present(&wanted.folder, names, read.by_ref().take(listed)) else {
            // Where one of several fails, the rest of its answers is not the next one's.
            return;
        };
        let whole = (nodes.len() == listed).then(|| pointers::decoded(nodes, StateKind::Checkpoint));
        // Whoever does not wait any more needs no answer.
        let _ = wanted.answer.send(whole);
    }
}
