use super::{MOST_DEPTH, Reader};
use crate::java::{Object, Value};

fn read(bytes: &[u8]) -> Result<Object, String> {
    let stream = [b"\xac\xed\x00\x05", bytes].concat();
    let mut reader = Reader::new(&stream).map_err(|error| error.to_string())?;
    let object = reader.object().map_err(|error| error.to_string())?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(object)
}

/// A class description with fields of these kinds, named by letters.
fn class(name: &str, flags: u8, fields: &[(u8, &str)], parent: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x72];
    bytes.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
    bytes.extend(name.bytes());
    bytes.extend([0; 8]);
    bytes.push(flags);
    bytes.extend(u16::try_from(fields.len()).unwrap().to_be_bytes());
    for (code, name) in fields {
        bytes.push(*code);
        bytes.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
        bytes.extend(name.bytes());
        if matches!(code, b'L' | b'[') {
            bytes.extend(b"\x74\x00\x01X");
        }
    }
    bytes.push(0x78);
    bytes.extend(parent);
    bytes
}

fn object(class: &[u8], data: &[u8]) -> Vec<u8> {
    [b"\x73", class, data].concat()
}

#[test]
fn every_kind_of_number_is_read_with_its_sign() {
    let kinds = [
        (b'B', "b"),
        (b'C', "c"),
        (b'D', "d"),
        (b'F', "f"),
        (b'I', "i"),
        (b'J', "j"),
        (b'S', "s"),
        (b'Z', "z"),
    ];
    let mut data = vec![0xff, 0xff, 0xfe];
    data.extend((-1.5_f64).to_bits().to_be_bytes());
    data.extend(2.5_f32.to_bits().to_be_bytes());
    data.extend((-3_i32).to_be_bytes());
    data.extend((-4_i64).to_be_bytes());
    data.extend((-5_i16).to_be_bytes());
    data.push(1);
    let read = read(&object(&class("N", 2, &kinds, b"\x70"), &data)).unwrap();
    let expected = [
        Value::Integer(-1),
        Value::Integer(0xfffe),
        Value::Float(-1.5),
        Value::Float(2.5),
        Value::Integer(-3),
        Value::Integer(-4),
        Value::Integer(-5),
        Value::Integer(1),
    ];
    assert!(read.fields.into_values().eq(expected));
}

#[test]
fn fields_of_the_class_above_come_first_and_references_name_what_was_there() {
    let parent = class("Above", 2, &[(b'L', "first")], b"\x70");
    let child = class("Below", 2, &[(b'L', "second")], &parent);
    // Handles: Below, the signature X, Above, the signature X, the object, the string.
    let read = read(&object(&child, b"\x74\x00\x02hi\x71\x00\x7e\x00\x05")).unwrap();
    assert_eq!(
        (read.text("first"), read.text("second")),
        (Some("hi"), Some("hi"))
    );
}

#[test]
fn what_a_class_writes_by_itself_is_passed_over() {
    let written = class("Own", 3, &[(b'I', "i")], b"\x70");
    let data = b"\0\0\0\x07\x77\x02\xff\xff\x74\x00\x01a\x7a\0\0\0\x01\xff\x78";
    assert_eq!(read(&object(&written, data)).unwrap().integer("i"), Some(7));
    let external = class("Own", 0x0c, &[], b"\x70");
    assert!(read(&object(&external, b"\x77\x01\xff\x78")).is_ok());
    // Without blocks nobody but the class knows where it ends.
    let error = read(&object(&class("Own", 4, &[], b"\x70"), b"\xff")).unwrap_err();
    assert!(error.contains("Own has a form of its own"), "{error}");
}

#[test]
fn arrays_constants_and_classes_are_passed_over() {
    let holder = class("Holder", 2, &[(b'[', "a"), (b'L', "e"), (b'L', "k")], b"\x70");
    let numbers = [
        &b"\x75"[..],
        &class("[I", 2, &[], b"\x70"),
        b"\0\0\0\x02\0\0\0\x01\0\0\0\x02",
    ]
    .concat();
    let constant = [&b"\x7e"[..], &class("E", 0x12, &[], b"\x70"), b"\x74\x00\x03ONE"].concat();
    let of_class = [&b"\x76"[..], &class("K", 2, &[], b"\x70")].concat();
    let read = read(&object(&holder, &[numbers, constant, of_class].concat())).unwrap();
    assert!(read.fields.into_values().all(|value| value == Value::Other));
}

#[test]
fn lengths_are_not_believed() {
    let holder = class("Holder", 2, &[(b'[', "a")], b"\x70");
    for (name, length) in [
        ("[J", i32::MAX),
        ("[Ljava.lang.Object;", i32::MAX),
        ("[B", -1),
        ("B", 1),
        ("[Q", 1),
    ] {
        let mut array = [&b"\x75"[..], &class(name, 2, &[], b"\x70")].concat();
        array.extend(length.to_be_bytes());
        array.extend([0x70; 64]);
        assert!(read(&object(&holder, &array)).is_err(), "{name} {length}");
    }
    let text = class("Holder", 2, &[(b'L', "a")], b"\x70");
    for length in [i64::MAX, i64::MIN, 5] {
        let data = [&b"\x7c"[..], &length.to_be_bytes(), b"1234"].concat();
        assert!(read(&object(&text, &data)).is_err(), "{length}");
    }
}

#[test]
fn nesting_and_numbers_have_an_end() {
    let holder = class("H", 2, &[(b'L', "a")], b"\x70");
    let nested = |depth: usize| [object(&holder, b"").repeat(depth), b"\x70".to_vec()].concat();
    assert!(read(&nested(MOST_DEPTH)).is_ok());
    let error = read(&nested(MOST_DEPTH + 1)).unwrap_err();
    assert!(error.contains("nested too deeply"), "{error}");
    // Of a class above a class too, and of objects in a long array.
    let mut above = b"\x70".to_vec();
    for _ in 0..=MOST_DEPTH {
        above = class("C", 2, &[], &above);
    }
    assert!(read(&object(&above, b"")).is_err());
    let mut many = [&b"\x75"[..], &class("[LX;", 2, &[], b"\x70")].concat();
    many.extend(1_000_000_i32.to_be_bytes());
    many.resize(many.len() + 1_000_000, 0x70);
    let error = read(&object(&holder, &many)).unwrap_err();
    assert!(error.contains("too many values"), "{error}");
}

#[test]
fn no_stream_of_random_bytes_after_the_header_makes_it_panic() {
    // A fixed sequence (Knuth's MMIX constants): the same bytes at every run.
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    for _ in 0..20_000 {
        // Codes of the grammar more often than chance would have it.
        let bytes: Vec<u8> = (0..64)
            .map(|_| match next() {
                low if low < 128 => 0x70 + low % 15,
                other => other,
            })
            .collect();
        let _ = read(&bytes);
    }
}
