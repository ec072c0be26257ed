use std::collections::BTreeMap;
use std::future::pending;

use futures::StreamExt as _;
use futures::future::{AbortHandle, abortable};
use futures::stream::FuturesUnordered;
use ha_core::environment::BoxFuture;
use ha_zookeeper::client::NodeWatch;

use super::subject::Subject;

/// The watches that are armed: at most one a subject.
#[derive(Default)]
pub(super) struct Armed {
    /// Gives the subject, or `None` of a watch that was taken off.
    fired: FuturesUnordered<BoxFuture<Option<Subject>>>,
    handles: BTreeMap<Subject, AbortHandle>,
}

impl Armed {
    /// Takes the watch in place of the subject's earlier one.
    pub(super) fn arm(&mut self, subject: &Subject, watch: NodeWatch) {
        let (watch, handle) = abortable(watch);
        let of = subject.clone();
        // What happened is found by reading again, so each event is as good as another.
        self.fired
            .push(Box::pin(async move { watch.await.ok().map(|_event| of) }));
        if let Some(earlier) = self.handles.insert(subject.clone(), handle) {
            earlier.abort();
        }
    }

    /// Takes the subject's watch off.
    pub(super) fn disarm(&mut self, subject: &Subject) {
        if let Some(handle) = self.handles.remove(subject) {
            handle.abort();
        }
    }

    /// Waits until a watch fires. Loses nothing when it is dropped.
    pub(super) async fn next(&mut self) -> Subject {
        loop {
            match self.fired.next().await {
                Some(Some(subject)) => {
                    self.handles.remove(&subject);
                    return subject;
                }
                Some(None) => {}
                None => pending().await,
            }
        }
    }
}
