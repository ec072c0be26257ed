use std::sync::Arc;

use tokio::sync::watch;

use super::{RequestFilter, RequestView};

/// Replies that are lost by chance, for as long as this handle lives.
#[derive(Debug)]
pub struct Losses {
    lost: watch::Receiver<usize>,
}

impl Losses {
    /// How many were lost.
    pub fn count(&self) -> usize {
        *self.lost.borrow()
    }
}

/// A loss that may meet any of these requests.
pub(super) struct Chance {
    filter: RequestFilter,
    one_in: u64,
    /// The state of the generator; never 0.
    random: u64,
    lost: Arc<watch::Sender<usize>>,
}

impl Chance {
    pub(super) fn new(filter: RequestFilter, one_in: u64, seed: u64) -> (Self, Losses) {
        let (sender, lost) = watch::channel(0);
        let chance = Self {
            filter,
            one_in: one_in.max(1),
            random: seed | 1,
            lost: Arc::new(sender),
        };
        (chance, Losses { lost })
    }

    /// Whether somebody still wants it.
    pub(super) fn is_wanted(&self) -> bool {
        !self.lost.is_closed()
    }

    /// Where to count, when it meets this request.
    pub(super) fn meets(&mut self, request: &RequestView) -> Option<Arc<watch::Sender<usize>>> {
        if !self.filter.matches(request) {
            return None;
        }
        // xorshift64
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
            .is_multiple_of(self.one_in)
            .then(|| Arc::clone(&self.lost))
    }
}
