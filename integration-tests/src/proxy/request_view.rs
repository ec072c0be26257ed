use super::RequestKind;
use super::record_reader::RecordReader;

/// A request on its way, as far as the proxy reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestView {
    /// Its kind.
    pub kind: RequestKind,
    /// The number by which its reply will name it; 0 for a connect request.
    pub xid: i32,
    /// The node that it is about; that of the first operation of a multi.
    pub path: Option<String>,
    /// Whether it arms a watch. (Those that a client re-sends after a reconnect are not shown.)
    pub watch: bool,
    /// The operations of a multi; empty for all other kinds.
    pub operations: Vec<OperationView>,
}

/// One operation of a multi.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationView {
    /// Its kind.
    pub kind: RequestKind,
    /// The node that it is about.
    pub path: String,
}

impl RequestView {
    /// The first frame of a connection.
    pub(super) fn connect() -> Self {
        Self {
            kind: RequestKind::Connect,
            xid: 0,
            path: None,
            watch: false,
            operations: Vec::new(),
        }
    }

    /// The request in the body of a frame. `None` when there is not even a header. What cannot be read behind the
    /// header is left out.
    pub(super) fn parse(body: &[u8]) -> Option<Self> {
        let mut reader = RecordReader::new(body);
        let xid = reader.int()?;
        let kind = RequestKind::from_code(reader.int()?);
        let operations = match kind {
            RequestKind::Multi | RequestKind::MultiRead => operations(&mut reader),
            _ => Vec::new(),
        };
        let path = if kind.begins_with_a_path() {
            reader.string().map(str::to_owned)
        } else {
            operations.first().map(|operation| operation.path.clone())
        };
        let watch = match kind {
            RequestKind::Exists | RequestKind::GetData | RequestKind::GetChildren => reader.byte() == Some(1),
            RequestKind::AddWatch => true,
            _ => false,
        };
        Some(Self {
            kind,
            xid,
            path,
            watch,
            operations,
        })
    }
}

/// The operations up to the end mark, or up to the first that cannot be read.
fn operations(reader: &mut RecordReader<'_>) -> Vec<OperationView> {
    let mut operations = Vec::new();
    while let Some(operation) = operation(reader) {
        operations.push(operation);
    }
    operations
}

fn operation(reader: &mut RecordReader<'_>) -> Option<OperationView> {
    let kind = RequestKind::from_code(reader.int()?);
    let is_end_mark = reader.byte()? != 0;
    let _error = reader.int()?;
    if is_end_mark {
        return None;
    }
    let path = reader.string()?.to_owned();
    match kind {
        RequestKind::Create => {
            let _data = reader.buffer()?;
            for _ in 0..reader.int()? {
                let _permissions = reader.int()?;
                let _scheme = reader.buffer()?;
                let _id = reader.buffer()?;
            }
            let _mode = reader.int()?;
        }
        RequestKind::SetData => {
            let _data = reader.buffer()?;
            let _version = reader.int()?;
        }
        RequestKind::Delete | RequestKind::Check => {
            let _version = reader.int()?;
        }
        RequestKind::GetData | RequestKind::GetChildren => {
            let _watch = reader.byte()?;
        }
        _ => return None,
    }
    Some(OperationView { kind, path })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn string(text: &str) -> Vec<u8> {
        [&(text.len() as i32).to_be_bytes()[..], text.as_bytes()].concat()
    }

    fn header(xid: i32, code: i32) -> Vec<u8> {
        [xid.to_be_bytes(), code.to_be_bytes()].concat()
    }

    fn operation_header(code: i32, end: bool) -> Vec<u8> {
        [
            &code.to_be_bytes()[..],
            &[u8::from(end)],
            &(-1_i32).to_be_bytes()[..],
        ]
        .concat()
    }

    /// A check, a create with one access list entry, a set, a delete, and the end mark.
    fn multi() -> Vec<u8> {
        let number = |value: i32| value.to_be_bytes().to_vec();
        [
            header(7, 14),
            operation_header(13, false),
            string("/latch"),
            number(3),
            operation_header(15, false),
            string("/info"),
            string("data"),
            number(1),
            number(31),
            string("world"),
            string("anyone"),
            number(1),
            operation_header(5, false),
            string("/graph"),
            string("data"),
            number(-1),
            operation_header(2, false),
            string("/old"),
            number(0),
            operation_header(-1, true),
        ]
        .concat()
    }

    #[test]
    fn the_path_of_a_simple_request_is_read() {
        let view = RequestView::parse(&[header(5, 3), string("/a/b"), vec![1]].concat()).unwrap();
        assert_eq!((view.kind, view.xid), (RequestKind::Exists, 5));
        assert_eq!((view.path.as_deref(), view.watch), (Some("/a/b"), true));
        let ping = RequestView::parse(&header(-2, 11)).unwrap();
        assert_eq!((ping.kind, ping.path), (RequestKind::Ping, None));
    }

    #[test]
    fn a_multi_shows_its_operations() {
        let view = RequestView::parse(&multi()).unwrap();
        let operations: Vec<_> = view
            .operations
            .iter()
            .map(|operation| (operation.kind, operation.path.as_str()))
            .collect();
        assert_eq!(
            operations,
            [
                (RequestKind::Check, "/latch"),
                (RequestKind::Create, "/info"),
                (RequestKind::SetData, "/graph"),
                (RequestKind::Delete, "/old"),
            ]
        );
        assert_eq!(view.path.as_deref(), Some("/latch"));
    }

    #[test]
    fn a_multi_that_ends_early_shows_what_is_whole() {
        let bytes = multi();
        let mut lengths = Vec::new();
        for end in 0..bytes.len() {
            let view = RequestView::parse(&bytes[..end]);
            assert_eq!(view.is_some(), end >= 8);
            lengths.extend(view.map(|view| view.operations.len()));
        }
        assert!(lengths.is_sorted());
        assert_eq!((lengths.first(), lengths.last()), (Some(&0), Some(&4)));
    }

    proptest! {
        #[test]
        fn garbage_never_panics(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let view = RequestView::parse(&body);
            prop_assert_eq!(view.is_some(), body.len() >= 8);
        }

        #[test]
        fn a_multi_of_garbage_never_panics(at in 0_usize..150, byte in any::<u8>()) {
            let mut bytes = multi();
            let at = 8 + at % (bytes.len() - 8);
            bytes[at] = byte;
            let view = RequestView::parse(&bytes).unwrap();
            prop_assert!(view.operations.len() <= bytes.len() / 9);
        }
    }
}
