use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::LeaderInformation;
use crate::followed::Followed;

/// What the followers of one contender shall see of its leadership: the latest, shown by a task of its own, so that
/// the election never waits for a follower.
pub(super) struct Announcements {
    /// Numbered. Nobody else borrows from these two, so sending waits for nobody.
    wanted: watch::Sender<(u64, Option<LeaderInformation>)>,
    /// The number up to which followers have been shown what was wanted.
    shown: watch::Sender<u64>,
    followers: Arc<Followed<Option<LeaderInformation>>>,
}

impl Announcements {
    pub(super) fn new(followers: Arc<Followed<Option<LeaderInformation>>>) -> Self {
        Self {
            wanted: watch::Sender::new((0, None)),
            shown: watch::Sender::new(0),
            followers,
        }
    }

    /// What followers shall see from now on.
    pub(super) fn announce(&self, leader: Option<LeaderInformation>) {
        self.wanted.send_modify(|(number, wanted)| {
            *number += 1;
            *wanted = leader;
        });
    }

    /// Completes when followers can see what was wanted by now, or something later. May be dropped at any time.
    pub(super) async fn seen(&self) {
        let (number, _) = *self.wanted.borrow();
        // The sender is here.
        let _ = self.shown.subscribe().wait_for(|shown| *shown >= number).await;
    }

    /// Shows what is wanted until `ended`, and what was wanted by then.
    pub(super) async fn run(&self, ended: CancellationToken) {
        let mut wanted = self.wanted.subscribe();
        let mut shown = 0;
        loop {
            let is_last = ended.is_cancelled();
            let (number, leader) = wanted.borrow_and_update().clone();
            if shown < number {
                self.followers.show(leader).await;
                shown = number;
                self.shown.send_replace(number);
            } else if is_last {
                // Nobody shows what is wanted from now on.
                self.shown.send_replace(u64::MAX);
                return;
            }
            tokio::select! {
                () = ended.cancelled() => {}
                // The sender is here.
                _ = wanted.changed() => {}
            }
        }
    }
}
