use std::sync::{Mutex, MutexGuard, PoisonError};

use ha_core::environment::BootInstant;

use super::record_reader::RecordReader;
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

/// The session in the answer to a connect request; `None` where the server says that there is none.
pub(super) fn accepted_session(answer: &[u8]) -> Option<i64> {
    let mut reader = RecordReader::new(answer);
    let _version = reader.int()?;
    let timeout = reader.int()?;
    let session = reader.long()?;
    (timeout > 0).then_some(session)
}

#[test]
fn a_session_is_accepted_with_a_timeout() {
    let answer = |timeout: i32| [&[0; 4][..], &timeout.to_be_bytes(), &7_i64.to_be_bytes(), &[0; 4]].concat();
    assert_eq!(accepted_session(&answer(4000)), Some(7));
    assert_eq!(accepted_session(&answer(0)), None);
    assert_eq!(accepted_session(&answer(4000)[..12]), None);
}
