/// A string in Java's modified UTF-8 (*Java Virtual Machine Specification*, 4.4.7): NUL takes two bytes, and what is
/// beyond 16 bits is a pair of surrogates of three bytes each. `None` for anything else, lone surrogates too.
pub(super) fn decode(bytes: &[u8]) -> Option<String> {
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter().copied();
    let continuation = |byte: Option<u8>| {
        byte.filter(|byte| byte & 0xC0 == 0x80)
            .map(|byte| u16::from(byte & 0x3F))
    };
    while let Some(byte) = rest.next() {
        units.push(match byte {
            0x01..=0x7F => u16::from(byte),
            0xC0..=0xDF => u16::from(byte & 0x1F) << 6 | continuation(rest.next())?,
            0xE0..=0xEF => {
                let high = u16::from(byte & 0x0F) << 12 | continuation(rest.next())? << 6;
                high | continuation(rest.next())?
            }
            _ => return None,
        });
    }
    String::from_utf16(&units).ok()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn strings_come_back_as_java_wrote_them() {
        for (bytes, text) in [
            (&b""[..], Some("")),
            (b"akka.tcp://flink", Some("akka.tcp://flink")),
            (b"\xc0\x80", Some("\0")),
            ("\u{e4}\u{20ac}".as_bytes(), Some("\u{e4}\u{20ac}")),
            // U+1F600 as Java writes it, and as UTF-8 does.
            (b"\xed\xa0\xbd\xed\xb8\x80", Some("\u{1f600}")),
            ("\u{1f600}".as_bytes(), None),
            (b"\xed\xa0\xbd", None),
            (b"\0", None),
            (b"\xc3", None),
            (b"\xe2\x82", None),
            (b"\xc3\x41", None),
            (b"\x80", None),
        ] {
            assert_eq!(decode(bytes).as_deref(), text, "{bytes:02x?}");
        }
    }
}
