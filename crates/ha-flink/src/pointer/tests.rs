use super::Pointer;

/// As `ObjectOutputStream` writes it; the recordings hold the same.
fn stream(uri: &str, size: u64) -> Vec<u8> {
    let class = |name: &str, version: [u8; 8], flags: u8| {
        let mut bytes = b"\x73\x72".to_vec();
        bytes.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
        bytes.extend(name.bytes());
        bytes.extend(version);
        bytes.push(flags);
        bytes
    };
    let field = |name: &str, signature: &str| {
        let mut bytes = b"\x4c".to_vec();
        for (code, text) in [(None, name), (Some(0x74), signature)] {
            bytes.extend(code);
            bytes.extend(u16::try_from(text.len()).unwrap().to_be_bytes());
            bytes.extend(text.bytes());
        }
        bytes
    };
    let mut bytes = vec![0xac, 0xed, 0, 5];
    bytes.extend(class(
        super::RETRIEVABLE,
        [0, 1, 0x1e, 0x18, 0xf1, 0x55, 0x97, 0x2b],
        2,
    ));
    bytes.extend([0, 1]);
    bytes.extend(field(
        "wrappedStreamStateHandle",
        "Lorg/apache/flink/runtime/state/StreamStateHandle;",
    ));
    bytes.extend(b"\x78\x70");
    bytes.extend(class(
        super::FILE,
        [4, 0xdc, 0x75, 0xd8, 0x62, 0xbd, 0x1b, 0xb3],
        2,
    ));
    bytes.extend(b"\0\x02\x4a\0\x09stateSize");
    bytes.extend(field("filePath", "Lorg/apache/flink/core/fs/Path;"));
    bytes.extend(b"\x78\x70");
    bytes.extend(size.to_be_bytes());
    bytes.extend(class(super::PATH, [0, 0, 0, 0, 0, 0, 0, 1], 2));
    bytes.extend([0, 1]);
    bytes.extend(field("uri", "Ljava/net/URI;"));
    bytes.extend(b"\x78\x70");
    bytes.extend(class(
        super::URI,
        [0xac, 1, 0x78, 0x2e, 0x43, 0x9e, 0x49, 0xab],
        3,
    ));
    bytes.extend([0, 1]);
    bytes.extend(field("string", "Ljava/lang/String;"));
    bytes.extend(b"\x78\x70\x74");
    bytes.extend(u16::try_from(uri.len()).unwrap().to_be_bytes());
    bytes.extend(uri.bytes());
    bytes.push(0x78);
    bytes
}

#[test]
fn a_pointer_is_the_uri_and_the_size_of_a_file() {
    let uri = "s3://flink/ha/default/submittedJobGraphebf2820a6dec";
    let pointer = Pointer::decode(&stream(uri, 26_800)).unwrap();
    assert_eq!((pointer.file.as_str(), pointer.size), (uri, 26_800));
}

#[test]
fn what_is_cut_off_goes_on_or_has_no_size_is_refused() {
    let whole = stream("file:/ha/a", 5);
    for length in 0..whole.len() {
        assert!(Pointer::decode(&whole[..length]).is_err(), "{length}");
    }
    assert!(Pointer::decode(&[&whole[..], b"\0"].concat()).is_err());
    let negative = Pointer::decode(&stream("file:/ha/a", u64::MAX)).unwrap_err();
    assert!(negative.to_string().contains("no file"), "{negative}");
}

#[test]
fn no_bit_that_is_flipped_makes_it_panic() {
    let whole = stream("file:/ha/a", 5);
    let mut decoded = 0;
    for index in 0..whole.len() {
        for bit in 0..8 {
            let mut altered = whole.clone();
            altered[index] ^= 1 << bit;
            decoded += usize::from(Pointer::decode(&altered).is_ok());
        }
    }
    // Serial versions, sizes and characters of the path can be other ones; class and field names can not.
    assert!(
        decoded < whole.len() * 8 / 2,
        "{decoded} of {} bits",
        whole.len() * 8
    );
}

#[test]
fn other_objects_are_refused_by_their_class() {
    let mut other = stream("file:/ha/a", 5);
    other[8] = b'X';
    let error = Pointer::decode(&other).unwrap_err().to_string();
    assert!(error.contains("it is a Xrg.apache.flink"), "{error}");
}
