use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use ha_core::environment::{BootInstant, Clock};

use super::loss::Lost;
use super::node::{Node, Stamp};
use super::sessions::{Link, Session, Sessions};
use super::tree::{Change, Tree};
use super::watches::Watches;
use crate::client::{Operation, OperationResult, ZkCode};

/// All that the server knows.
pub(super) struct State {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) tick: Duration,
    pub(super) zxid: i64,
    pub(super) tree: Tree,
    pub(super) watches: Watches,
    pub(super) sessions: Sessions,
    /// For the next writes of any client.
    pub(super) losses: VecDeque<Lost>,
    pub(super) requests: Vec<String>,
    /// Done by somebody else just before the next multi.
    pub(super) before_multi: Option<Vec<Operation>>,
    /// Nodes whose path begins so are not created, for this reason.
    pub(super) refused: Option<(String, ZkCode)>,
    /// Nobody may read this node.
    pub(super) unreadable: Option<String>,
}

impl State {
    pub(super) fn new(clock: Arc<dyn Clock>, tick: Duration) -> Self {
        Self {
            clock,
            tick,
            zxid: 0,
            tree: Tree::default(),
            watches: Watches::default(),
            sessions: Sessions::default(),
            losses: VecDeque::new(),
            requests: Vec::new(),
            before_multi: None,
            refused: None,
            unreadable: None,
        }
    }

    /// A node, to be read.
    pub(super) fn read(&self, path: &str) -> Result<&Node, ZkCode> {
        if self.unreadable.as_deref() == Some(path) {
            return Err(ZkCode::NoAuth);
        }
        self.tree.get(path)
    }

    pub(super) fn now(&self) -> BootInstant {
        self.clock.now()
    }

    pub(super) fn session(&mut self, id: i64) -> &mut Session {
        let now = self.now();
        self.sessions.entry(id, None, now)
    }

    /// A new session. Servers grant between 2 and 20 ticks.
    pub(super) fn open_session(&mut self, timeout: Duration) -> i64 {
        let id = self.sessions.next_id();
        let granted = timeout.clamp(self.tick * 2, self.tick * 20);
        let now = self.now();
        let zxid = self.transaction().zxid;
        self.sessions.entry(id, Some(granted), now).last_zxid = zxid;
        id
    }

    /// The next transaction. One that fails is one too.
    fn transaction(&mut self) -> Stamp {
        self.zxid += 1;
        Stamp {
            zxid: self.zxid,
            millis: i64::try_from(self.clock.wall_time_millis()).unwrap_or(i64::MAX),
        }
    }

    /// Applies all or nothing, and fires the watches.
    pub(super) fn apply(
        &mut self,
        session: i64,
        operations: &[Operation],
    ) -> Result<Vec<OperationResult>, (usize, ZkCode)> {
        let stamp = self.transaction();
        for (index, operation) in operations.iter().enumerate() {
            if let (Operation::Create { path, .. }, Some((prefix, code))) = (operation, &self.refused)
                && path.starts_with(prefix)
            {
                return Err((index, *code));
            }
        }
        let applied = self.tree.apply(session, operations, stamp)?;
        self.fire(&applied.changes);
        Ok(applied.results)
    }

    /// Ends a session at the server; its client knows at once if it is connected.
    pub(super) fn end_session(&mut self, id: i64) {
        if std::mem::replace(&mut self.session(id).is_ended, true) {
            return;
        }
        let stamp = self.transaction();
        let changes = self.tree.end_session(id, stamp);
        if self.session(id).link() == Link::Connected {
            self.tell_the_end(id);
        }
        self.fire(&changes);
    }

    pub(super) fn tell_the_end(&mut self, id: i64) {
        let now = self.now();
        self.session(id).set_link(Link::Over, now);
        self.watches.end_session(id);
    }

    /// Ends the sessions that have been silent for too long.
    pub(super) fn expire_due(&mut self) {
        for id in self.sessions.due(self.now(), self.tick) {
            self.end_session(id);
        }
    }

    pub(super) fn cut(&mut self, id: i64) {
        let now = self.now();
        let session = self.session(id);
        if session.link() == Link::Connected {
            session.set_link(Link::Cut, now);
        }
    }

    pub(super) fn reconnect(&mut self, id: i64) {
        let now = self.now();
        let session = self.session(id);
        if session.link() != Link::Cut {
            return;
        }
        if session.is_ended {
            return self.tell_the_end(id);
        }
        session.set_link(Link::Connected, now);
        let zxid = session.last_zxid;
        self.watches.catch_up(id, zxid, &self.tree);
    }

    fn fire(&mut self, changes: &[Change]) {
        for change in changes {
            self.watches.fire(change, |session| self.sessions.hears(session));
        }
    }
}
