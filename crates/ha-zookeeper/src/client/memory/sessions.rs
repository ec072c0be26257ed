use std::collections::BTreeMap;
use std::time::Duration;

use ha_core::environment::BootInstant;
use tokio::sync::watch;

/// How a client stands to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Connected,
    /// What is asked waits.
    Cut,
    /// The client knows that its session is over.
    Over,
}

/// A session, as the server and its client know it.
pub(super) struct Session {
    /// `None` for one that only a test ends.
    timeout: Option<Duration>,
    link: watch::Sender<Link>,
    /// The server has ended it; the client learns it when it is connected.
    pub(super) is_ended: bool,
    /// The server last heard of it then, unless it is connected.
    last_heard: BootInstant,
    /// The newest zxid that its client has heard of.
    pub(super) last_zxid: i64,
}

impl Session {
    pub(super) fn link(&self) -> Link {
        *self.link.borrow()
    }

    pub(super) fn follow(&self) -> watch::Receiver<Link> {
        self.link.subscribe()
    }

    pub(super) fn set_link(&mut self, link: Link, now: BootInstant) {
        self.last_heard = now;
        self.link.send_replace(link);
    }

    /// Servers end sessions at whole ticks, one tick later at most.
    fn is_due(&self, now: BootInstant, tick: Duration) -> bool {
        let Some(timeout) = self.timeout else {
            return false;
        };
        let silent_until = (self.last_heard + timeout).since_boot().as_nanos();
        let tick = tick.as_nanos().max(1);
        let due = (silent_until / tick + 1) * tick;
        !self.is_ended && self.link() == Link::Cut && now.since_boot().as_nanos() >= due
    }
}

/// All sessions that ever were.
#[derive(Default)]
pub(super) struct Sessions {
    sessions: BTreeMap<i64, Session>,
}

impl Sessions {
    /// The session of this id; a new one is connected.
    pub(super) fn entry(&mut self, id: i64, timeout: Option<Duration>, now: BootInstant) -> &mut Session {
        self.sessions.entry(id).or_insert_with(|| Session {
            timeout,
            link: watch::Sender::new(Link::Connected),
            is_ended: false,
            last_heard: now,
            last_zxid: 0,
        })
    }

    /// An id that no session had.
    pub(super) fn next_id(&self) -> i64 {
        /// Beyond what tests number by hand.
        const FIRST: i64 = 0x1000;
        let newest = self.sessions.keys().next_back().copied().unwrap_or(0);
        newest.saturating_add(1).max(FIRST)
    }

    /// Whether a watch event reaches its client now.
    pub(super) fn hears(&self, id: i64) -> bool {
        self.sessions
            .get(&id)
            .is_none_or(|session| session.link() == Link::Connected)
    }

    /// Those that have been silent for too long.
    pub(super) fn due(&self, now: BootInstant, tick: Duration) -> Vec<i64> {
        let due = self
            .sessions
            .iter()
            .filter(|(_, session)| session.is_due(now, tick));
        due.map(|(id, _)| *id).collect()
    }
}
