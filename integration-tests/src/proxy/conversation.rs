use std::collections::{BTreeMap, VecDeque};

use super::RequestView;
use super::record_reader::RecordReader;

/// What was asked and not answered yet on one connection. Each request carries a mark, which its reply brings back.
///
/// Replies name their request by its xid. Pings share one xid, credentials another; those of one xid are answered in
/// order. The first frame of each direction has no header.
pub(super) struct Conversation<M> {
    connect_was_asked: bool,
    /// The mark of the connect request.
    connect: Option<M>,
    connect_was_answered: bool,
    in_flight: BTreeMap<i32, VecDeque<M>>,
}

/// What a frame to the client is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply<M> {
    /// The answer to the request of this mark.
    Answer(M),
    /// A watch has fired.
    Event,
    /// The answer to nothing that was asked.
    Unasked,
}

/// The xid of what no request asked for.
const EVENT: i32 = -1;

impl<M> Default for Conversation<M> {
    fn default() -> Self {
        Self {
            connect_was_asked: false,
            connect: None,
            connect_was_answered: false,
            in_flight: BTreeMap::new(),
        }
    }
}

impl<M> Conversation<M> {
    /// A frame to the server, and how to mark it. What has no header cannot be answered, and gets no mark.
    pub(super) fn request(&mut self, body: &[u8], mark: impl FnOnce(&RequestView) -> M) {
        if !std::mem::replace(&mut self.connect_was_asked, true) {
            self.connect = Some(mark(&RequestView::connect()));
        } else if let Some(view) = RequestView::parse(body) {
            let mark = mark(&view);
            self.in_flight.entry(view.xid).or_default().push_back(mark);
        }
    }

    /// A frame to the client.
    pub(super) fn reply(&mut self, body: &[u8]) -> Reply<M> {
        let mark = if std::mem::replace(&mut self.connect_was_answered, true) {
            match RecordReader::new(body).int() {
                Some(EVENT) => return Reply::Event,
                Some(xid) => self.take_mark(xid),
                None => None,
            }
        } else {
            self.connect.take()
        };
        mark.map_or(Reply::Unasked, Reply::Answer)
    }

    fn take_mark(&mut self, xid: i32) -> Option<M> {
        let marks = self.in_flight.get_mut(&xid)?;
        let mark = marks.pop_front();
        if marks.is_empty() {
            self.in_flight.remove(&xid);
        }
        mark
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::proxy::RequestKind;

    fn request(xid: i32, code: i32) -> Vec<u8> {
        [xid.to_be_bytes(), code.to_be_bytes()].concat()
    }

    fn reply(xid: i32) -> Vec<u8> {
        [&xid.to_be_bytes()[..], &[0; 12]].concat()
    }

    fn kind(view: &RequestView) -> RequestKind {
        view.kind
    }

    #[test]
    fn replies_bring_back_the_marks_of_their_requests() {
        let mut conversation = Conversation::default();
        conversation.request(&[], kind);
        for (xid, code) in [(1, 4), (-2, 11), (2, 14), (-2, 11), (-8, 101)] {
            conversation.request(&request(xid, code), kind);
        }
        assert_eq!(conversation.reply(&[]), Reply::Answer(RequestKind::Connect));
        assert_eq!(conversation.reply(&reply(-1)), Reply::Event);
        assert_eq!(
            conversation.reply(&reply(-8)),
            Reply::Answer(RequestKind::SetWatches)
        );
        assert_eq!(conversation.reply(&reply(1)), Reply::Answer(RequestKind::GetData));
        assert_eq!(conversation.reply(&reply(-2)), Reply::Answer(RequestKind::Ping));
        assert_eq!(conversation.reply(&reply(2)), Reply::Answer(RequestKind::Multi));
        assert_eq!(conversation.reply(&reply(-2)), Reply::Answer(RequestKind::Ping));
        assert_eq!(conversation.reply(&reply(-2)), Reply::Unasked, "answered already");
        assert!(conversation.in_flight.is_empty());
    }

    #[test]
    fn what_is_no_request_has_no_mark() {
        let mut conversation = Conversation::default();
        conversation.request(&[], kind);
        conversation.request(&[0, 0, 0], kind);
        assert_eq!(conversation.reply(&[]), Reply::Answer(RequestKind::Connect));
        assert_eq!(conversation.reply(&[1, 2]), Reply::Unasked);
    }

    proptest! {
        #[test]
        fn any_frames_in_any_order_never_panic(
            frames in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 0..20)), 0..30),
        ) {
            let mut conversation = Conversation::default();
            let mut marks = 0_usize;
            for (to_server, body) in frames {
                if to_server {
                    conversation.request(&body, |_| marks += 1);
                } else if matches!(conversation.reply(&body), Reply::Answer(_)) {
                    marks = marks.checked_sub(1).unwrap();
                }
            }
        }
    }
}
