use std::fmt::Write as _;

/// `text` with control characters escaped, so that data cannot drive the terminal.
pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            // Marks that change the direction of what follows are as bad as control characters.
            c if c.is_control()
                || matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
            {
                // Writing to a String cannot fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    shown
}

/// Bytes as text: what is UTF-8 as it is with control characters escaped, every other byte as `\xNN`.
pub(crate) fn escaped_bytes(data: &[u8]) -> String {
    let mut shown = String::with_capacity(data.len());
    for chunk in data.utf8_chunks() {
        shown.push_str(&escaped(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// At most `length` characters; a cut is marked with `…`.
pub(crate) fn shortened(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(length.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// A number of bytes in the largest unit of which there is at least one: `17 B`, `1.5 KiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let exponent = bytes.checked_ilog2().unwrap_or(0) / 10;
    let Some(unit) = (exponent as usize)
        .checked_sub(1)
        .and_then(|place| UNITS.get(place))
    else {
        return format!("{bytes} B");
    };
    let (whole, shift) = (bytes >> (10 * exponent), 10 * (exponent - 1));
    // Cut, not rounded: 1023.9 KiB are less than a MiB.
    let tenths = ((bytes >> shift) & 1023) * 10 / 1024;
    format!("{whole}.{tenths} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_in_units() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            ((1 << 20) - 1, "1023.9 KiB"),
            (1 << 20, "1.0 MiB"),
            (5 << 30, "5.0 GiB"),
            (u64::MAX, "15.9 EiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn nothing_reaches_the_terminal_but_text() {
        assert_eq!(escaped("a\x1b[31mä\n"), "a\\u{1b}[31mä\\n");
        assert_eq!(escaped_bytes(b"a\xff\x00b"), "a\\xff\\u{0}b");
        assert_eq!(escaped_bytes("größe".as_bytes()), "größe");
    }

    #[test]
    fn a_cut_is_marked() {
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("abcd", 4), "abcd");
    }
}
