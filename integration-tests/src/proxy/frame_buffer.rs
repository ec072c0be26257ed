/// The longest frame that is passed on, well above what a server or a client reads (1 MiB by default). A longer one
/// is no ZooKeeper frame: a four-letter word reads as a length of 1.9 GB.
const LONGEST: usize = 64 << 20;

/// The bytes before a frame that say its length.
const PREFIX: usize = 4;

/// Puts together the frames of one direction of a connection from the pieces in which TCP delivers them.
#[derive(Default)]
pub(super) struct FrameBuffer {
    bytes: Vec<u8>,
}

/// A whole frame, as it travels: its length, then its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame(Vec<u8>);

/// The bytes are no frames of ZooKeeper's.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoFrame;

impl Frame {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn body(&self) -> &[u8] {
        self.0.get(PREFIX..).unwrap_or_default()
    }

    pub(super) fn body_mut(&mut self) -> &mut [u8] {
        self.0.get_mut(PREFIX..).unwrap_or_default()
    }
}

impl FrameBuffer {
    pub(super) fn push(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
    }

    /// The next frame; `None` while it is not whole.
    pub(super) fn next(&mut self) -> Result<Option<Frame>, NoFrame> {
        let Some(prefix) = self.bytes.first_chunk::<PREFIX>() else {
            return Ok(None);
        };
        let length = usize::try_from(i32::from_be_bytes(*prefix))
            .ok()
            .filter(|length| *length <= LONGEST)
            .ok_or(NoFrame)?;
        if self.bytes.len() < PREFIX + length {
            return Ok(None);
        }
        let rest = self.bytes.split_off(PREFIX + length);
        Ok(Some(Frame(std::mem::replace(&mut self.bytes, rest))))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(body: &[u8]) -> Vec<u8> {
        [&(body.len() as i32).to_be_bytes()[..], body].concat()
    }

    #[test]
    fn lengths_that_no_frame_has_are_refused() {
        for prefix in [
            -1,
            i32::MIN,
            i32::MAX,
            LONGEST as i32 + 1,
            i32::from_be_bytes(*b"ruok"),
        ] {
            let mut buffer = FrameBuffer::default();
            buffer.push(&prefix.to_be_bytes());
            assert_eq!(buffer.next(), Err(NoFrame), "{prefix}");
        }
        let mut longest = FrameBuffer::default();
        longest.push(&(LONGEST as i32).to_be_bytes());
        assert_eq!(longest.next(), Ok(None));
    }

    proptest! {
        #[test]
        fn frames_come_out_as_they_went_in_however_they_are_cut(
            bodies in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..8),
            pieces in proptest::collection::vec(1_usize..20, 1..20),
        ) {
            let stream: Vec<u8> = bodies.iter().flat_map(|body| frame(body)).collect();
            let mut buffer = FrameBuffer::default();
            let mut found = Vec::new();
            let mut rest = stream.as_slice();
            for length in pieces.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, after) = rest.split_at((*length).min(rest.len()));
                rest = after;
                buffer.push(piece);
                while let Some(frame) = buffer.next().unwrap() {
                    found.push(frame);
                }
            }
            let found_bodies: Vec<&[u8]> = found.iter().map(Frame::body).collect();
            prop_assert_eq!(found_bodies, bodies);
            let passed: Vec<u8> = found.iter().flat_map(|frame| frame.bytes().to_vec()).collect();
            prop_assert_eq!(passed, stream);
        }

        #[test]
        fn garbage_never_panics(piece in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut buffer = FrameBuffer::default();
            buffer.push(&piece);
            let mut taken = 0;
            while let Ok(Some(frame)) = buffer.next() {
                taken += frame.bytes().len();
            }
            prop_assert!(taken <= piece.len());
        }
    }
}
