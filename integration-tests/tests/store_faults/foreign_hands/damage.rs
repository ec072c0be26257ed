//! What somebody does to an entry.

/// How an entry is spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    Empty,
    /// This many bytes of noise.
    Random(u64),
    Truncated,
    /// One bit, at this part of the whole (of a thousand), and this one of the byte.
    Bit(usize, u8),
    OtherKind,
    OtherJob,
    Newer,
}

pub(super) fn all_damages() -> Vec<Damage> {
    let mut damages = vec![
        Damage::Empty,
        Damage::Random(7),
        Damage::Random(300),
        Damage::Truncated,
        Damage::OtherKind,
        Damage::OtherJob,
        Damage::Newer,
    ];
    damages.extend((0..1000).step_by(53).map(|at| Damage::Bit(at, (at % 7) as u8)));
    damages
}

/// Noise of this length, always the same.
pub(super) fn noise(length: u64) -> Vec<u8> {
    let mut state = length | 1;
    (0..length)
        .map(|_| {
            // xorshift64
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // Never a digit, of which a counter is made.
            state.to_le_bytes()[0] | 0x80
        })
        .collect()
}

pub(super) fn with_bit_flipped(original: &[u8], at: usize, bit: u8) -> Vec<u8> {
    let mut flipped = original.to_vec();
    let index = original.len() * at / 1000;
    if let Some(byte) = flipped.get_mut(index) {
        *byte ^= 1 << bit;
    }
    flipped
}
