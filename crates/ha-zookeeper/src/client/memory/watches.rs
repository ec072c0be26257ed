use tokio::sync::oneshot;

use super::path::parent;
use super::tree::{Change, Tree};
use crate::client::{NodeEvent, NodeWatch};

/// What a watch looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchKind {
    /// A node that was there: its data, and that it is there.
    Data,
    /// A node that was not there.
    Absence,
    /// The names of a node's children.
    Children,
}

struct Watch {
    session: i64,
    path: String,
    kind: WatchKind,
    sender: oneshot::Sender<NodeEvent>,
}

/// The one-shot watches that are armed.
#[derive(Default)]
pub(super) struct Watches {
    armed: Vec<Watch>,
}

impl Watches {
    pub(super) fn arm(&mut self, session: i64, path: &str, kind: WatchKind) -> NodeWatch {
        // One that was dropped is taken off.
        self.armed.retain(|watch| !watch.sender.is_closed());
        let (sender, receiver) = oneshot::channel();
        self.armed.push(Watch {
            session,
            path: path.to_owned(),
            kind,
            sender,
        });
        Box::pin(async move { receiver.await.unwrap_or(NodeEvent::SessionOver) })
    }

    /// The nodes of those that are armed and not dropped.
    pub(super) fn paths(&self) -> Vec<String> {
        let armed = self.armed.iter().filter(|watch| !watch.sender.is_closed());
        armed.map(|watch| watch.path.clone()).collect()
    }

    /// Fires what a change is about, where it is heard; a session that is cut off is told when it comes back.
    pub(super) fn fire(&mut self, change: &Change, hears: impl Fn(i64) -> bool) {
        self.fire_where(|watch| hears(watch.session).then(|| event(watch, change)).flatten());
    }

    /// A session is back: fires what changed after `zxid`, the newest that its client had heard of.
    pub(super) fn catch_up(&mut self, session: i64, zxid: i64, tree: &Tree) {
        self.fire_where(|watch| {
            if watch.session != session {
                return None;
            }
            let changed = match (watch.kind, tree.get(&watch.path)) {
                (WatchKind::Absence, Err(_)) => return None,
                (WatchKind::Data | WatchKind::Children, Err(_)) => return Some(NodeEvent::Deleted),
                (WatchKind::Absence, Ok(_)) => true,
                (WatchKind::Data, Ok(node)) => node.mzxid() > zxid,
                (WatchKind::Children, Ok(node)) => node.children_zxid > zxid,
            };
            changed.then_some(NodeEvent::Changed)
        });
    }

    /// A session is over.
    pub(super) fn end_session(&mut self, session: i64) {
        self.fire_where(|watch| (watch.session == session).then_some(NodeEvent::SessionOver));
    }

    fn fire_where(&mut self, event: impl Fn(&Watch) -> Option<NodeEvent>) {
        for watch in std::mem::take(&mut self.armed) {
            match event(&watch) {
                // An error is a watch that was dropped.
                Some(event) => drop(watch.sender.send(event)),
                None => self.armed.push(watch),
            }
        }
    }
}

/// What a change is to a watch.
fn event(watch: &Watch, change: &Change) -> Option<NodeEvent> {
    let (path, event, names_changed) = match change {
        Change::Created(path) => (path, NodeEvent::Changed, true),
        Change::Set(path) => (path, NodeEvent::Changed, false),
        Change::Deleted(path) => (path, NodeEvent::Deleted, true),
    };
    let is_own = watch.path == *path;
    match watch.kind {
        WatchKind::Data | WatchKind::Absence => is_own.then_some(event),
        WatchKind::Children if is_own => (event == NodeEvent::Deleted).then_some(event),
        WatchKind::Children => {
            let is_parents = names_changed && path != "/" && watch.path == parent(path);
            is_parents.then_some(NodeEvent::Changed)
        }
    }
}
