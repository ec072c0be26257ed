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

    /// A frame to the client: the mark of the request that it answers. `None` for a notification.
    pub(super) fn reply(&mut self, body: &[u8]) -> Option<M> {
        if !std::mem::replace(&mut self.connect_was_answered, true) {
            return self.connect.take();
        }
        let xid = RecordReader::new(body).int()?;
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
        assert_eq!(conversation.reply(&[]), Some(RequestKind::Connect));
        assert_eq!(conversation.reply(&reply(-1)), None, "a notification");
        assert_eq!(conversation.reply(&reply(-8)), Some(RequestKind::SetWatches));
        assert_eq!(conversation.reply(&reply(1)), Some(RequestKind::GetData));
        assert_eq!(conversation.reply(&reply(-2)), Some(RequestKind::Ping));
        assert_eq!(conversation.reply(&reply(2)), Some(RequestKind::Multi));
        assert_eq!(conversation.reply(&reply(-2)), Some(RequestKind::Ping));
        assert_eq!(conversation.reply(&reply(-2)), None, "answered already");
        assert!(conversation.in_flight.is_empty());
    }

    #[test]
    fn what_is_no_request_has_no_mark() {
        let mut conversation = Conversation::default();
        conversation.request(&[], kind);
        conversation.request(&[0, 0, 0], kind);
        assert_eq!(conversation.reply(&[]), Some(RequestKind::Connect));
        assert_eq!(conversation.reply(&[1, 2]), None);
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
                } else if conversation.reply(&body).is_some() {
                    marks = marks.checked_sub(1).unwrap();
                }
            }
        }
    }
}
