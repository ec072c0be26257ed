use std::sync::{Mutex, MutexGuard, PoisonError};

use ha_core::environment::BootInstant;

use crate::waiting::now;

/// A connection of a client to a server that accepted it: what either of them calls "connected".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The session.
    pub session: i64,
    /// When the server's acceptance was handed to the client.
    pub since: BootInstant,
    /// Its end, taken before the client could know; `None` while it stands.
    pub until: Option<BootInstant>,
}

/// All links of a proxy.
pub(super) type Links = Mutex<Vec<Link>>;

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records one connection among the links of its proxy, once its server has accepted it.
pub(super) struct LinkRecord<'a> {
    links: &'a Links,
    index: Mutex<Option<usize>>,
}

impl<'a> LinkRecord<'a> {
    pub(super) fn new(links: &'a Links) -> Self {
        Self {
            links,
            index: Mutex::new(None),
        }
    }

    pub(super) fn begin(&self, session: i64) {
        let mut links = lock(self.links);
        *lock(&self.index) = Some(links.len());
        links.push(Link {
            session,
            since: now(),
            until: None,
        });
    }

    /// To be called before either side is told.
    pub(super) fn end(&self) {
        let Some(index) = lock(&self.index).take() else {
            return;
        };
        if let Some(link) = lock(self.links).get_mut(index) {
            link.until = Some(now());
        }
    }
}

impl Drop for LinkRecord<'_> {
    fn drop(&mut self) {
        self.end();
    }
}
